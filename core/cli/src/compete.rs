//! `agon run`, `judge` and `doctor`: a competition on this machine.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_compete::judging::{Judge as _, NoTools, Opened, Tools};
use agon_compete::race::{Event, Race};
use agon_compete::scrambled::Scrambler;
use agon_compete::setup::{Given, Ready};
use agon_compete::tools::{Kit, Tool};
use agon_compete::{again, benchmarks, order, setup};
use agon_edition::Edition;
use agon_edition::model::{RunOrder, Track};
use agon_edition::plugins::Descriptions as _;
use agon_execute::{CancelToken, Helper, Machine, Options, Runner, Slots, State};
use agon_host::{Isolation, Registry, Workers};
use agon_score::input::EntrantList;
use agon_store::entrants::Entrants;
use agon_store::record::{EditionText, FORMAT, Meta, Plan, Record, Session};
use agon_store::{Reader, Store};
use anyhow::{Context as _, anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::Outcome;
use crate::args::{DoctorArgs, Format, HostingArgs, JudgeArgs, RunArgs};
use crate::edition::{open, plain};
use crate::entrants;
use crate::known::Plugins;
use crate::plugin::search;
use crate::print;

/// Serves as a sandbox process; the hidden subcommand `__sandbox`.
pub fn sandbox() -> std::process::ExitCode {
    agon_execute::supervisor::main()
}

/// The track of an edition, by name.
pub fn track_of<'a>(edition: &'a Edition, name: &str) -> anyhow::Result<&'a Track> {
    edition.tracks.get(name).ok_or_else(|| {
        let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
        anyhow!("the edition {} has no track `{name}` (it has: {})", edition.name, known.join(", "))
    })
}

/// The plugin of a track, opened with the edition's parameters.
fn opened(track: &Track, plugins: &Plugins<'_>, hosting: &HostingArgs) -> anyhow::Result<Opened> {
    let name = track.plugin.as_deref().ok_or_else(|| {
        anyhow!("the track {} names no plugin, so nobody can judge its runs; add `plugin:` to it", track.name)
    })?;
    let registry = Registry::discover(&search(plugins.places()))?;
    let entry = registry.get(name)?;
    let program =
        std::env::current_exe().context("the path of agon itself cannot be told, which starts its workers")?;
    let workers = Workers { call: hosting.plugin_limit, ..Workers::new(program) };
    let hosted = Arc::new(registry.host(entry, isolation(&hosting.isolate), &workers)?);
    let parameters: serde_json::Map<String, serde_json::Value> =
        track.parameters.iter().map(|(name, value)| (name.clone(), value.json())).collect();
    let text = serde_json::Value::Object(parameters).to_string();
    let opened = hosted.open(&text).map_err(|failure| {
        anyhow!("the plugin {name} does not take the parameters {text} of the track {}: {failure}", track.name)
    })?;
    let opened = Opened::new(opened);
    // The edition was checked with what was declared then.
    if plugins.description(name).and_then(Result::ok) != Some(opened.description()?) {
        bail!(
            "the plugin {name} {} declares other parameters or columns than when the edition was read: was its library \
             replaced just now? Start again",
            entry.version
        );
    }
    Ok(opened)
}

fn isolation(name: &str) -> Isolation {
    match name {
        "all" => Isolation::All,
        "heavy" => Isolation::Heavy,
        "none" => Isolation::None,
        _ => Isolation::Default,
    }
}

/// The seed of the run: the one that was given, else the edition's, from the entrants file.
fn seed_of(args: &RunArgs, edition: &Edition, list: &Entrants) -> anyhow::Result<Option<i64>> {
    if args.seed.is_some() {
        return Ok(args.seed);
    }
    let Some(rule) = &edition.seed else { return Ok(None) };
    if args.market.is_none() && rule.formula.columns().iter().any(|c| c == "market") {
        bail!(
            "the edition's seed needs the opening value of {}; give it with --market X, or give the seed itself with --seed N",
            rule.market.as_ref().map_or("its index", |m| m.name.as_str())
        );
    }
    let rows = EntrantList { rows: list.seed_rows(), origin: list.file.clone(), ..EntrantList::default() };
    let list = crate::scoring::seed_list(edition, &rows)?;
    let seed = agon_select::seed::seed(rule, &list, args.market.as_deref())?.seed;
    Ok(Some(i64::try_from(seed).context("the seed is beyond 2^63; give one with --seed N")?))
}

pub fn run(args: &RunArgs) -> anyhow::Result<Outcome> {
    let plugins = Plugins::new(&args.places);
    let (edition, _) = open(&args.edition, plain(args.reading), &plugins)?;
    let track = track_of(&edition, &args.track)?;
    let list = entrants::open(&edition, &args.entrants)?;
    let seed = seed_of(args, &edition, &list)?;
    let chosen = benchmarks::read(&args.benchmarks, track)?;
    let judge = opened(track, &plugins, &args.hosting)?;
    let path = std::env::var_os("PATH");
    let given = Given {
        entrants: &list,
        limits: &setup::overrides(&args.limit)?,
        path: path.as_deref(),
        hidden: &[absolute(&args.store), absolute(&args.benchmarks)],
        plugin: judge.identity(),
        seed,
    };
    let mut notes: Vec<String> = chosen
        .left_out
        .iter()
        .map(|(logic, n)| format!("{n} files of {} are left out: the track has no division for them", shown(logic)))
        .collect();
    let mut ready = setup::ready(track, chosen.list, &given)?;
    notes.append(&mut ready.notes);

    let machine = Machine::probe().context("this machine cannot be looked at")?;
    let cores = ready.rules.cores as usize;
    let slots = Slots::new(&machine, args.jobs, cores, args.oversubscribe)
        .map_err(|e| anyhow!("{e}; --jobs and --limit cores=N say how many"))?;
    let mut options = Options::new(absolute(&scratch(args.scratch.as_ref())), Helper::this_program("__sandbox"));
    options.oversubscribed = slots.oversubscribed();
    let runner = Runner::new(&machine, options)?;
    notes.extend(runner.notes().iter().cloned());

    let cancel = CancelToken::new().context("no file descriptor is left")?;
    on_interrupt(&cancel)?;
    ask_versions(&mut ready, &runner, &cancel);
    let meta = Meta {
        format: FORMAT,
        agon: env!("CARGO_PKG_VERSION").into(),
        created: agon_compete::now(),
        edition: EditionText::new(&edition.name, reading_name(args), agon_edition::show(&edition)?),
        seed,
        extra: serde_json::Value::Null,
    };
    let store = Store::open_or_create(&args.store, &meta)?;
    if !store.recovery().is_empty() {
        print::err(&format!("note: the last run was interrupted: {}\n", store.recovery()));
    }
    store.plan(&ready.plan)?;
    let Some(plan) = store.plan_of(&track.name) else { bail!("the plan of {} is not in the store", track.name) };
    ready.in_order_of(&plan);
    let session = store.append(&Record::Session(Session {
        when: agon_compete::now(),
        agon: env!("CARGO_PKG_VERSION").into(),
        host: json!({ "machine": machine, "mechanisms": runner.mechanisms(), "jobs": slots.jobs() }),
        plugins: vec![judge.identity()],
        descriptions: vec![judge.description()?],
        tools: Some(ready.tools.iter().map(Tool::recorded).collect()),
        extra: json!({ "plugin": judge.entry(), "isolate": args.hosting.isolate }),
    }))?;

    introduce(&edition, track, &ready, &plan, &store, &slots);
    for note in &notes {
        print::err(&format!("note: {note}\n"));
    }
    let unobserved: BTreeSet<(usize, usize)> = store.unobserved(&track.name).into_iter().collect();
    let unjudged: BTreeSet<(usize, usize)> = store.unjudged(&track.name, None).into_iter().collect();
    let order = match track.run.order {
        RunOrder::Shuffled => order::pairs(seed_number(seed), ready.entrants.len(), ready.benchmarks.len()),
        RunOrder::Listed => order::listed(seed_number(seed), ready.entrants.len(), ready.benchmarks.len()),
    };
    let pairs: Vec<(usize, usize)> =
        order.into_iter().filter(|pair| unobserved.contains(pair) || unjudged.contains(pair)).collect();

    let scrambler = Scrambler::new(ready.scramble, &absolute(&scratch(args.scratch.as_ref())))
        .context("there is no room for scrambled benchmarks")?;
    let race = Race {
        scrambler: Some(&scrambler),
        rules: &ready.rules,
        entrants: &ready.entrants,
        benchmarks: &ready.benchmarks,
        judge: &judge,
        tools: &ready.tools,
        runner: &runner,
        slots: &slots,
        store: &store,
        session,
        cancel: &cancel,
    };
    let bar = Progress::new(pairs.len() as u64);
    let outcome = race.run(&pairs, &|event| bar.tell(&event));
    bar.end();
    let outcome = outcome?;
    let progress = store.progress(&track.name);
    store.close()?;
    let (planned, judged) = progress.map_or((0, 0), |p| (p.planned, p.judged));
    let mut summary = format!("{} runs now, {judged} of {planned} in all", outcome.judged);
    if outcome.not_run + outcome.not_judged > 0 {
        let _ = write!(
            summary,
            "; {} could not be run and {} not judged, see the notes above",
            outcome.not_run, outcome.not_judged
        );
    }
    print::err(&format!("{summary}\n"));
    if outcome.cancelled {
        bail!("interrupted; nothing that was done is lost, and the same command goes on");
    }
    if judged > 0 {
        print::out(&crate::scoring::standings_of_store(args)?);
    }
    Ok(if outcome.not_run + outcome.not_judged > 0 { Outcome::Short } else { Outcome::Done })
}

fn shown(logic: &str) -> String {
    if logic.is_empty() { "no stated logic".into() } else { format!("the logic {logic}") }
}

fn reading_name(args: &RunArgs) -> &'static str {
    match args.reading {
        crate::args::As::Rules => "rules",
        crate::args::As::Published => "published",
    }
}

/// The number that starts the generator of the order; any seed is one.
fn seed_number(seed: Option<i64>) -> u64 {
    u64::from_ne_bytes(seed.unwrap_or(0).to_ne_bytes())
}

/// A folder for temporary things: beside the store's records, so that a full disk is noticed in one place.
fn scratch(given: Option<&PathBuf>) -> PathBuf {
    given.cloned().unwrap_or_else(|| std::env::temp_dir().join("agon-scratch"))
}

/// The first interrupt ends the runs and closes the store, the second one the program.
fn on_interrupt(cancel: &CancelToken) -> anyhow::Result<()> {
    let cancel = cancel.clone();
    let again = std::sync::atomic::AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if again.swap(true, Ordering::AcqRel) {
            #[allow(clippy::exit)]
            std::process::exit(130);
        }
        cancel.cancel();
    })
    .context("interrupts cannot be handled")
}

/// Asks every entrant that has a version command, in the sandbox; the first line that it prints is kept.
fn ask_versions(ready: &mut Ready, runner: &Runner, cancel: &CancelToken) {
    for at in 0..ready.entrants.len() {
        let Some((program, arguments)) = &ready.versions[at] else { continue };
        let mut job = agon_execute::Job::new(program);
        job.arguments = arguments.iter().map(Into::into).collect();
        job.readable.clone_from(&ready.entrants[at].readable);
        job.limits.wall = Some(Duration::from_secs(20));
        let version = match runner.run(&job, cancel) {
            Ok(seen) => {
                let out = seen.stdout.bytes().unwrap_or_default();
                let out = if out.is_empty() { seen.stderr.bytes().unwrap_or_default() } else { out };
                let text = String::from_utf8_lossy(&out).into_owned();
                text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("(printed nothing)").to_string()
            }
            Err(fault) => format!("(not to be had: {fault})"),
        };
        ready.plan.entrants[at].version = Some(version);
    }
}

fn introduce(edition: &Edition, track: &Track, ready: &Ready, plan: &Plan, store: &Store, slots: &Slots) {
    let title = edition.doc.title.as_deref().unwrap_or(&edition.name);
    let mut text = format!("{title} \u{b7} {}\n", track.doc.title.as_deref().unwrap_or(&track.name));
    let width = plan.entrants.iter().map(|e| e.id.chars().count()).max().unwrap_or(0);
    for entrant in &ready.plan.entrants {
        let pad = width - entrant.id.chars().count().min(width);
        let version: String = entrant.version.as_deref().unwrap_or("").chars().take(90).collect();
        let mark = if entrant.competing { "" } else { " [not competing]" };
        let _ = writeln!(text, "  {}{}  {version}{mark}", entrant.id, " ".repeat(pad));
    }
    let limits: Vec<String> = match plan.limits.as_object() {
        Some(all) => all.iter().map(|(name, value)| limit_text(name, value.as_u64().unwrap_or(0))).collect(),
        None => Vec::new(),
    };
    let progress = store.progress(&track.name);
    let (planned, observed) = progress.map_or((0, 0), |p| (p.planned, p.observed));
    let _ = writeln!(
        text,
        "{} benchmarks, {} entrants, {planned} runs, {observed} of them done; {} at a time; limits: {}",
        plan.benchmarks.len(),
        plan.entrants.len(),
        slots.jobs(),
        limits.join(", ")
    );
    print::err(&text);
}

fn limit_text(name: &str, value: u64) -> String {
    match name {
        "wall" | "cpu" => format!(
            "{name} {} s",
            agon_table::format_seconds(i128::from(value)).trim_end_matches('0').trim_end_matches('.')
        ),
        "cores" | "processes" => format!("{name} {value}"),
        _ => format!("{name} {} MB", value / 1_000_000),
    }
}

/// Tells how far the runs are: a bar on a terminal, now and then a line otherwise.
struct Progress {
    bar: ProgressBar,
    plain: bool,
    began: Instant,
    said: AtomicU64,
    total: u64,
}

impl Progress {
    fn new(total: u64) -> Self {
        use std::io::IsTerminal as _;
        let plain = !std::io::stderr().is_terminal();
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {per_sec}, {eta} left \u{b7} {wide_msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, plain, began: Instant::now(), said: AtomicU64::new(0), total }
    }

    fn tell(&self, event: &Event<'_>) {
        if !matches!(event, Event::Remark(_)) {
            self.bar.inc(1);
        }
        match event {
            Event::Judged(verdict, run) => self.bar.set_message(format!(
                "{} {} {} ({} s)",
                verdict.entrant,
                verdict.benchmark,
                verdict.answer,
                run.wall_ns / 1_000_000_000
            )),
            Event::NotRun(why) | Event::NotJudged(why) | Event::Remark(why) => {
                self.bar.suspend(|| print::err(&format!("note: {why}\n")));
            }
        }
        let (seconds, done) = (self.began.elapsed().as_secs(), self.bar.position());
        let last = self.said.load(Ordering::Relaxed);
        if self.plain
            && seconds >= last + 10
            && self.said.compare_exchange(last, seconds, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            let rate = done as f64 / self.began.elapsed().as_secs_f64();
            let left = (self.total.saturating_sub(done)) as f64 / rate.max(1e-9);
            print::err(&format!("{done}/{} runs, {rate:.1} a second, {left:.0} s left\n", self.total));
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

pub fn judge(args: &JudgeArgs) -> anyhow::Result<Outcome> {
    let plugins = Plugins::new(&args.places);
    let (edition, _) = open(&args.edition, plain(args.reading), &plugins)?;
    let store = Store::open(&args.store)?;
    if store.meta().edition.name != edition.name {
        bail!(
            "{} is a store of the edition {}, not of {}; name that edition",
            args.store.display(),
            store.meta().edition.name,
            edition.name
        );
    }
    let tools = tools_of(args, &edition, &store)?;
    let cancel = CancelToken::new().context("no file descriptor is left")?;
    let sandbox = if tools.is_empty() { None } else { Some(Sandbox::new(args)?) };
    if sandbox.is_some() {
        on_interrupt(&cancel)?;
    }
    let mut short = false;
    let mut out = String::new();
    for name in store.tracks() {
        if args.track.as_ref().is_some_and(|t| *t != name) {
            continue;
        }
        let track = track_of(&edition, &name)?;
        let Some(plan) = store.plan_of(&name) else { continue };
        let judge = opened(track, &plugins, &args.hosting)?;
        store.append(&Record::Session(Session {
            when: agon_compete::now(),
            agon: env!("CARGO_PKG_VERSION").into(),
            host: serde_json::Value::Null,
            plugins: vec![judge.identity()],
            descriptions: vec![judge.description()?],
            tools: args.entrants.is_some().then(|| tools.iter().map(Tool::recorded).collect()),
            extra: json!({ "judged again": name, "plugin": judge.entry() }),
        }))?;
        let check_limits = setup::check_limits(track);
        let kit = sandbox.as_ref().map(|sandbox| Kit {
            tools: &tools,
            limits: setup::stored_limits(track, &plan),
            check_limits: &check_limits,
            runner: &sandbox.runner,
            slots: &sandbox.slots,
            store: &store,
            cancel: &cancel,
        });
        let kit: &dyn Tools = match &kit {
            Some(kit) => kit,
            None => &NoTools,
        };
        let again = again::judge(&store, &plan, &judge, kit, args.all)?;
        let _ = writeln!(out, "track {name}: {} runs judged, {} verdicts changed", again.judged, again.changed.len());
        for (before, now, differences) in &again.changed {
            let texts: Vec<String> = differences.iter().map(|d| change(d, before, now)).collect();
            let _ = writeln!(out, "  {} on {}: {}", now.entrant, now.benchmark, texts.join(", "));
        }
        for note in again.failed.iter().chain(&again.remarks) {
            print::err(&format!("note: {note}\n"));
        }
        short |= !again.failed.is_empty();
    }
    if out.is_empty() {
        bail!("{} has no runs of {}", args.store.display(), args.track.as_deref().unwrap_or("any track"));
    }
    store.close()?;
    print::say(&out);
    Ok(if short { Outcome::Short } else { Outcome::Done })
}

/// The tools for what was not checked before: of an entrants file, or those of the last session that had any.
fn tools_of(args: &JudgeArgs, edition: &Edition, store: &Store) -> anyhow::Result<Vec<Tool>> {
    let Some(file) = &args.entrants else {
        let last = store.sessions()?.into_iter().rev().find_map(|(_, session)| session.tools);
        return Ok(last.unwrap_or_default().iter().map(Tool::of_record).collect());
    };
    let list = entrants::open(edition, file)?;
    let path = std::env::var_os("PATH");
    Ok(setup::tools(&list, path.as_deref(), &[absolute(&args.store)])?)
}

/// What tools are run in.
struct Sandbox {
    runner: Runner,
    slots: Slots,
}

impl Sandbox {
    fn new(args: &JudgeArgs) -> anyhow::Result<Self> {
        let machine = Machine::probe().context("this machine cannot be looked at")?;
        let slots = Slots::new(&machine, 1, 1, true).map_err(|e| anyhow!("{e}"))?;
        let mut options = Options::new(absolute(&scratch(args.scratch.as_ref())), Helper::this_program("__sandbox"));
        options.oversubscribed = slots.oversubscribed();
        Ok(Self { runner: Runner::new(&machine, options)?, slots })
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn change(name: &str, before: &agon_store::record::Verdict, now: &agon_store::record::Verdict) -> String {
    let text = |v: &agon_store::record::Verdict| match name {
        "answer" => v.answer.clone(),
        "soundness" => v.soundness.word().to_string(),
        "condition" => v.condition.word().to_string(),
        "blame" => v.blame.word().to_string(),
        _ => v.columns.get(name).map_or("none".into(), |c| c.text().into_owned()),
    };
    format!("{name} {} \u{2192} {}", text(before), text(now))
}

pub fn doctor(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let machine = Machine::probe().context("this machine cannot be looked at")?;
    let mut rows = machine.describe();
    rows.extend(plugin_rows(args)?);
    match args.format {
        Format::Json => {
            print::out(&format!("{}\n", serde_json::to_string_pretty(&json!({ "machine": machine, "rows": rows }))?));
        }
        Format::Csv => {
            let mut out = String::from("item,state,detail,enable\n");
            let quote = |t: &str| format!("\"{}\"", t.replace('"', "\"\""));
            for row in &rows {
                let _ = writeln!(
                    out,
                    "{},{},{},{}",
                    quote(&row.item),
                    state(row.state),
                    quote(&row.detail),
                    quote(row.enable.as_deref().unwrap_or(""))
                );
            }
            print::out(&out);
        }
        Format::Table => {
            let width = rows.iter().map(|r| r.item.chars().count()).max().unwrap_or(0);
            let mut out = String::new();
            for row in &rows {
                let pad = width - row.item.chars().count();
                let _ = writeln!(out, "{:6}  {}{}  {}", state(row.state), row.item, " ".repeat(pad), row.detail);
                if let Some(enable) = &row.enable {
                    let _ = writeln!(out, "        {}  \u{2192} {enable}", " ".repeat(width));
                }
            }
            print::out(&out);
        }
    }
    Ok(if rows.iter().all(|r| r.state != State::No) { Outcome::Done } else { Outcome::Short })
}

/// Whether the plugins that are not linked can be used here: each is started in a worker.
fn plugin_rows(args: &DoctorArgs) -> anyhow::Result<Vec<agon_execute::Row>> {
    let program =
        std::env::current_exe().context("the path of agon itself cannot be told, which starts its workers")?;
    let registry = Registry::discover(&search(&args.places))?;
    let workers = Workers::new(program);
    let mut rows = Vec::new();
    for entry in &registry.entries {
        let Some(path) = entry.origin.path() else { continue };
        let works = registry.host(entry, Isolation::All, &workers);
        rows.push(agon_execute::Row {
            item: format!("plugin {}", entry.id),
            state: if works.is_ok() { State::Yes } else { State::No },
            detail: match works {
                Ok(_) => format!("{} in {}, which runs in a worker", entry.version, path.display()),
                Err(error) => error.to_string(),
            },
            enable: None,
        });
    }
    for passed in &registry.passed {
        rows.push(agon_execute::Row {
            item: format!("file {}", passed.path.display()),
            state: State::Partly,
            detail: format!("it is passed over: {}", passed.why),
            enable: None,
        });
    }
    Ok(rows)
}

fn state(state: State) -> &'static str {
    match state {
        State::Yes => "yes",
        State::Partly => "partly",
        State::No => "no",
    }
}

/// The runs of a store as files.
#[derive(Debug)]
pub struct Exported {
    /// The tracks with their files.
    pub files: Vec<(String, PathBuf)>,
    /// Who took part.
    pub entrants: EntrantList,
    _folder: tempfile::TempDir,
}

/// The runs of a store as files in the canonical form, one a track, and the list of entrants that goes with it.
pub fn export(folder: &Path, edition: &Edition, track: Option<&str>) -> anyhow::Result<Exported> {
    let reader = Reader::open(folder)?;
    if reader.meta().edition.name != edition.name {
        bail!(
            "{} is a store of the edition {}, not of {}; name that edition",
            folder.display(),
            reader.meta().edition.name,
            edition.name
        );
    }
    let place = tempfile::tempdir().context("there is no room for a temporary folder")?;
    let mut files = Vec::new();
    let mut list: Vec<indexmap::IndexMap<String, String>> = Vec::new();
    for name in reader.tracks() {
        if track.is_some_and(|t| t != name.as_str()) {
            continue;
        }
        let (rules, Some(plan)) = (track_of(edition, &name)?, reader.plan_of(&name)) else { continue };
        let progress = reader.progress(&name);
        let (planned, judged) = progress.map_or((0, 0), |p| (p.planned, p.judged));
        if judged == 0 {
            continue;
        }
        if judged < planned {
            print::err(&format!(
                "note: only {judged} of {planned} runs of the track {name} have a verdict; these standings are not final\n"
            ));
        }
        let columns: Vec<&str> = rules
            .fields
            .keys()
            .map(String::as_str)
            .filter(|c| {
                !matches!(*c, "entrant" | "benchmark" | "solver" | "competing" | "disqualified" | "experimental")
            })
            .collect();
        if !rules.instead.is_empty() {
            let limits = rules.instead.iter().map(|(limit, text, had)| match text {
                Some(text) => format!("{} instead of {}", limit_text(limit, *had), limit_text(limit, *text)),
                None => limit_text(limit, *had),
            });
            print::err(&format!(
                "note: the track {name} was run with other limits than the edition's text says ({}); its scores are \
                 computed with the limits that the runs had\n",
                limits.collect::<Vec<_>>().join(", ")
            ));
        }
        let path = place.path().join(format!("{name}.csv"));
        table(&reader, rules, &columns, &path)?;
        files.push((name.clone(), path));
        for entrant in &plan.entrants {
            let mut row = indexmap::IndexMap::new();
            row.insert("entrant".to_string(), entrant.id.clone());
            row.insert("solver".to_string(), entrant.id.clone());
            row.insert("competing".to_string(), entrant.competing.to_string());
            row.extend(entrant.fields.clone());
            row.insert(rules.entrant_key.clone(), entrant.id.clone());
            match list.iter_mut().find(|r| r.get("entrant") == row.get("entrant")) {
                Some(old) => old.extend(row),
                None => list.push(row),
            }
        }
    }
    if files.is_empty() {
        bail!("{} has no verdicts yet of {}", folder.display(), track.unwrap_or("any track"));
    }
    let origin = format!("the store {}", folder.display());
    let entrants = EntrantList { rows: list, origin, strict: true, ..EntrantList::default() };
    Ok(Exported { files, entrants, _folder: place })
}

/// Writes the runs of a track in the canonical form. A column is written if the runs have it: what no run says must not
/// look like an empty value. What only some runs say is written with what the edition takes for the others; else it is
/// left out, as if no run said it.
fn table(reader: &Reader, rules: &Track, columns: &[&str], path: &Path) -> anyhow::Result<()> {
    let mut runs = 0_u64;
    let mut having = vec![0_u64; columns.len()];
    for row in reader.results(&rules.name) {
        let row = row?;
        runs += 1;
        for (n, column) in having.iter_mut().zip(columns) {
            *n += u64::from(row.text(column).is_some());
        }
    }
    let reads = rules.scoring.as_ref().map(agon_edition::model::Scoring::reads).unwrap_or_default();
    let mut names = vec![("entrant", None), ("benchmark", None)];
    for (&column, &n) in columns.iter().zip(&having) {
        let field = rules.fields.get(column);
        let empty = field.and_then(|f| f.empty.as_deref());
        let text = field.is_some_and(|f| f.ty == agon_table::Type::TEXT);
        if n == runs || (n > 0 && text) || empty.is_some() {
            names.push((column, empty));
        } else if n > 0 && reads.contains(column) {
            print::err(&format!(
                "note: the column {column} is left out: {} of {runs} runs of the track {} have no value in it; under \
                 `fields` of the track, `{column}: {{ type: …, empty: VALUE }}` says what is taken for them\n",
                runs - n,
                rules.name
            ));
        }
    }
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    agon_store::write_csv(reader.results(&rules.name), &names, &mut file)?;
    std::io::Write::flush(&mut file)?;
    Ok(())
}
