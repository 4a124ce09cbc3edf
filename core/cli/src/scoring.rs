//! `agon seed`, `score` and `verify`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agon_edition::{Edition, Reading, load_with};
use agon_score::adjudication::Adjudication;
use agon_score::engine::{self, Selection, TrackScores};
use agon_score::input::{EntrantList, Results, TrackRuns, entrant_table, join, read_forms, read_results};
use agon_score::output::{self, Filter, Row};
use agon_score::verify::{Report, Wanted, explain_by_deviations, verify as compare};
use agon_select::seed::{Entrants as SeedList, SeedError, seed as compute_seed};
use agon_store::Reader;
use anyhow::{anyhow, bail};
use serde_json::json;

use crate::Outcome;
use crate::args::{As, Format, InputArgs, ReadingArgs, RunArgs, ScoreArgs, SeedArgs, VerifyArgs};
use crate::edition::{open, plain, reading};
use crate::entrants;
use crate::known::Plugins;
use crate::print;

/// A list of entrants as the seed's formula reads it.
pub fn seed_list(edition: &Edition, entrants: &EntrantList) -> anyhow::Result<SeedList> {
    let read = entrant_table(edition, entrants)?;
    Ok(SeedList { table: read.table, places: read.places, missing: read.missing })
}

pub fn seed(args: &SeedArgs) -> anyhow::Result<Outcome> {
    let wanted = ReadingArgs { reading: args.reading, deviation: args.deviation.clone() };
    let plugins = Plugins::new(&args.places);
    let (edition, _) = open(&args.edition, reading(&wanted, &args.edition, &plugins)?, &plugins)?;
    let rule = edition.seed.as_ref().ok_or_else(|| SeedError::NoRule(edition.name.clone()))?;
    let list = match &args.entrants {
        Some(file) if entrants::is_entrants_file(file) => seed_list(&edition, &entrants::for_seed(&edition, file)?)?,
        Some(file) => {
            let mut outcome = read_forms(&edition, std::slice::from_ref(file), &edition.entrants.forms)?;
            notes(&outcome.notes);
            let read = outcome.tables.pop().ok_or_else(|| anyhow!("{} has no entrants", file.display()))?;
            let places = (0..read.table.rows()).map(|row| read.origins.place(row, "").to_string()).collect();
            // What an empty cell means is said by the form.
            SeedList { table: read.table, places, missing: Vec::new() }
        }
        None => seed_list(&edition, &EntrantList::of_edition(&edition))?,
    };
    let explained = compute_seed(rule, &list, args.market.as_deref())?;
    notes(&explained.notes);
    let mut out = format!("{}\n", explained.seed);
    if args.explain {
        let _ = writeln!(out, "\nformula: {}", explained.formula);
        for (part, value) in &explained.parts {
            let _ = writeln!(out, "  {part} = {value}");
        }
        if let Some(market) = &explained.market {
            let name = rule.market.as_ref().map_or("market", |m| m.name.as_str());
            let _ = writeln!(out, "  market = {market} ({name})");
        }
        let _ = writeln!(out, "entrants:");
        for row in &explained.entrants {
            let cells: Vec<String> = row.iter().map(|(n, v)| format!("{n} {v}")).collect();
            let _ = writeln!(out, "  {}", cells.join(", "));
        }
        if let Some(published) = rule.published {
            let same = i128::from(published) == explained.seed;
            let _ = writeln!(out, "published: {published}{}", if same { "" } else { " (differs)" });
        }
    }
    print::say(&out);
    Ok(Outcome::Done)
}

fn selection(args: &InputArgs) -> Selection {
    let all = args.table.iter().any(|t| t == "all");
    let recognitions = args.table.iter().any(|t| t == "recognitions");
    Selection {
        views: args.view.clone(),
        tables: if all || recognitions { Vec::new() } else { args.table.clone() },
        rankings: all || recognitions,
    }
}

fn notes(notes: &[String]) {
    for note in notes {
        print::note(note);
    }
}

/// What was read of the result files, and how the edition read them.
struct Raw {
    results: Results,
    how: String,
}

/// The edition of a reading with the runs of the results. `known` is what another reading of the edition read; if this
/// one reads files in the same way, they are not read again, and nothing is said of them again. `target` is the file
/// that will be written, which is none of those that are read.
fn prepared(
    args: &InputArgs,
    reading: Reading,
    plugins: &Plugins<'_>,
    known: Option<&Raw>,
    keep: bool,
    target: Option<&Path>,
) -> anyhow::Result<(Edition, Vec<TrackRuns>, Option<Raw>)> {
    // What is to be said of the edition was said for the first reading.
    let edition = match known.and_then(|_| load_with(&args.edition, reading.clone(), &plugins.known()).ok()) {
        Some((edition, _)) => edition,
        None => open(&args.edition, reading, plugins)?.0,
    };
    if let Some(track) = &args.track
        && !edition.tracks.contains_key(track)
    {
        let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
        bail!("the edition {} has no track `{track}` (it has: {})", edition.name, known.join(", "));
    }
    let quiet = known.is_some();
    let stored = match &args.store {
        Some(store) => Some(crate::compete::export(store, &edition, args.track.as_deref())?),
        None => None,
    };
    let entrants = match (&args.solvers, &stored) {
        (Some(file), _) if entrants::is_entrants_file(file) => entrants::for_scores(&edition, file)?,
        (Some(file), _) => EntrantList::read(&edition, file)?,
        (None, Some(stored)) => stored.entrants.clone(),
        (None, None) => EntrantList::of_edition(&edition),
    };
    let adjudication = args.adjudication.as_deref().map(Adjudication::read).transpose()?;
    if let Some(adjudication) = &adjudication {
        if !quiet {
            notes(&adjudication.notes);
        }
        adjudication.check(&edition)?;
    }
    check_names(&edition, args)?;
    let how = if keep || quiet {
        format!(
            "{:?} {:?} {:?}",
            edition.results,
            edition.tracks.values().map(|t| (&t.name, &t.fields)).collect::<Vec<_>>(),
            edition.entrants.fields
        )
    } else {
        String::new()
    };
    if let Some(stored) = &stored {
        let mut runs = Vec::new();
        for (track, file) in &stored.files {
            let results = read_results(&edition, std::slice::from_ref(file), Some(track))?;
            runs.extend(join(&edition, results, &entrants, adjudication.as_ref())?);
        }
        return Ok((edition, runs, None));
    }
    let results = match known.filter(|raw| raw.how == how) {
        Some(raw) => raw.results.again()?,
        None => read_results(&edition, &args.results, args.track.as_deref())?,
    };
    if let Some(target) = target {
        print::not_read(target, results.files.iter().chain(adjudication.iter().flat_map(|a| &a.files)))?;
    }
    if !quiet {
        notes(&entrants.notes);
        notes(&results.notes);
    }
    let raw = if keep { Some(Raw { results: results.again()?, how }) } else { None };
    let mut runs = join(&edition, results, &entrants, adjudication.as_ref())?;
    for track in runs.iter().filter(|_| !quiet) {
        notes(&track.notes);
        notes(&track.effect.notes);
    }
    runs.retain(|track| args.track.as_ref().is_none_or(|t| *t == track.track));
    for track in runs.iter().filter(|_| !quiet) {
        let e = &track.effect;
        if !e.statuses.is_empty() || !e.removed.is_empty() || !e.entrants.is_empty() {
            print::err(&format!(
                "adjudication, track {}: {} statuses changed, {} benchmarks removed, {} entrants disqualified or withdrawn\n",
                track.track,
                e.statuses.len(),
                e.removed.len(),
                e.entrants.len()
            ));
        }
    }
    if runs.is_empty() {
        let what = args.track.as_ref().map_or("any track".into(), |t| format!("the track {t}"));
        let files: Vec<String> = args.results.iter().map(|f| f.display().to_string()).collect();
        bail!(
            "{}: the given files hold no results of {what} of the edition {}; give files that do",
            files.join(", "),
            edition.name
        );
    }
    Ok((edition, runs, raw))
}

fn scores(edition: &Edition, runs: Vec<TrackRuns>, wanted: &Selection) -> anyhow::Result<Vec<TrackScores>> {
    // A track's runs are gone when its scores are there.
    runs.into_iter()
        .map(|track| {
            engine::score(edition, &track, wanted).map_err(|error| {
                // One that names its row already says it all.
                if track.files.iter().any(|file| error.to_string().starts_with(&format!("{file}, row "))) {
                    return anyhow!("{error}");
                }
                // The formulas know columns only; somebody who has to correct them needs the files.
                let files = match &track.files[..] {
                    [first, _, .., _] => format!("{first} and {} other files", track.files.len() - 1),
                    few => few.join(", "),
                };
                anyhow!("{files}: {error}")
            })
        })
        .collect()
}

/// Names that no track of the edition knows are errors, not empty answers.
fn check_names(edition: &Edition, args: &InputArgs) -> anyhow::Result<()> {
    let tracks = || edition.tracks.values().filter(|t| args.track.as_ref().is_none_or(|n| *n == t.name));
    let scorings = || tracks().filter_map(|t| t.scoring.as_ref());
    let complain = |what: &str, name: &str, mut known: Vec<String>| {
        known.sort();
        known.dedup();
        anyhow!("the edition {} has no {what} `{name}` (it has: {})", edition.name, known.join(", "))
    };
    for name in &args.table {
        let mut known: Vec<String> = scorings().flat_map(|s| s.tables.keys().cloned()).collect();
        known.extend(scorings().flat_map(|s| s.views.values()).flat_map(|v| v.rankings.keys().cloned()));
        known.extend(["all".into(), "recognitions".into()]);
        if !known.contains(name) {
            return Err(complain("table", name, known));
        }
    }
    for name in &args.view {
        let known: Vec<String> = scorings().flat_map(|s| s.views.keys().cloned()).collect();
        if !known.contains(name) {
            return Err(complain("view", name, known));
        }
    }
    if let Some(name) = &args.division {
        let known: Vec<String> = tracks().flat_map(|t| t.divisions.keys().cloned()).collect();
        if !known.is_empty() && !known.contains(name) {
            return Err(complain("division", name, known));
        }
    }
    if let Some(name) = &args.logic {
        let known: Vec<String> = tracks().flat_map(|t| t.divisions.values()).flat_map(|d| d.logics.clone()).collect();
        if !known.is_empty() && !known.contains(name) {
            return Err(complain("logic", name, known));
        }
        // Each exists, but perhaps not the one in the other.
        if let Some(division) = &args.division {
            let all = || tracks().filter_map(|t| t.divisions.get(division));
            let mut inside: Vec<String> = all().flat_map(|d| d.logics.clone()).collect();
            inside.sort();
            inside.dedup();
            if all().all(|d| !d.logics.is_empty()) && !inside.is_empty() && !inside.contains(name) {
                let owner = |t: &&agon_edition::model::Track| t.divisions.values().any(|d| d.logics.contains(name));
                let owners: Vec<&str> = tracks()
                    .filter(owner)
                    .flat_map(|t| t.divisions.iter().filter(|(_, d)| d.logics.contains(name)).map(|(n, _)| n.as_str()))
                    .collect();
                bail!(
                    "the division {division} of the edition {} has no logic {name} (it has: {}), which belongs to {}; \
                     correct --division or --logic, or leave one out",
                    edition.name,
                    inside.join(", "),
                    owners.first().copied().unwrap_or("none")
                );
            }
        }
    }
    Ok(())
}

/// The error for a choice that leaves no row, with what there is to choose from.
fn nothing_left(args: &InputArgs, edition: &Edition, all: &[Row]) -> anyhow::Error {
    let cell = |row: &Row, name: &str| row.cells.get(name).map(output::Cell::exact_text).unwrap_or_default();
    // What one option could be if all others stay.
    let fits = |row: &Row, but: &str| {
        (but == "--view" || args.view.is_empty() || args.view.contains(&row.view))
            && (but == "--division" || args.division.as_ref().is_none_or(|d| *d == cell(row, "division")))
            && (but == "--logic" || args.logic.as_ref().is_none_or(|l| *l == cell(row, "logic")))
    };
    let mut choices = Vec::new();
    for (option, given) in [("--division", &args.division), ("--logic", &args.logic)] {
        let Some(given) = given else { continue };
        let mut values: Vec<String> = all
            .iter()
            .filter(|row| fits(row, option))
            .map(|row| cell(row, &option[2..]))
            .filter(|v| !v.is_empty())
            .collect();
        values.sort();
        values.dedup();
        let what = &option[2..];
        choices.push(if values.is_empty() {
            format!("no row of these tables and views is about a single {what}, so {option} {given} leaves none")
        } else {
            format!("there is none for {option} {given}, but for {}", values.join(", "))
        });
    }
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    };
    let scorings = || edition.tracks.values().filter_map(|t| t.scoring.as_ref());
    if all.is_empty() {
        for table in &args.table {
            let views = scorings().flat_map(|s| s.views.values()).filter(|v| v.rankings.contains_key(table));
            let views = sorted(views.map(|v| v.name.as_str()).collect());
            if !views.is_empty() {
                choices.push(format!("the table {table} belongs to the views {views}"));
            }
        }
        if choices.is_empty() {
            choices.push("these results have no row for this table and view".into());
        }
    } else {
        let tables = sorted(all.iter().map(|r| r.table.as_str()).collect());
        let views = sorted(all.iter().map(|r| r.view.as_str()).collect());
        choices.push(format!("the rows that there are belong to the tables {tables} and the views {views}"));
    }
    let tables = sorted(scorings().flat_map(|s| s.tables.keys()).map(String::as_str).collect());
    anyhow!(
        "nothing to print: no standing has this combination of track, table, view, division and logic: {}. Choose among \
         these, or another table (the edition's tables of standings are {tables})",
        choices.join("; ")
    )
}

/// The plugins that the edition may name: those of the store, if one is scored.
fn plugins(args: &InputArgs) -> anyhow::Result<Plugins<'_>> {
    match &args.store {
        Some(store) => Plugins::of_store(&args.places, &Reader::open(store)?),
        None => Ok(Plugins::new(&args.places)),
    }
}

/// The first table of a track of a store in its first view, as it is printed at the end of a run.
pub fn standings_of_store(args: &RunArgs) -> anyhow::Result<String> {
    let (store, track) = (&args.store, &args.track);
    let plugins = Plugins::of_store(&args.places, &Reader::open(store)?)?;
    // What there is to say of the edition was said before the run.
    let (edition, _) = load_with(&args.edition, plain(args.reading), &plugins.known())?;
    let edition = &edition;
    let stored = crate::compete::export(store, edition, Some(track))?;
    let files: Vec<PathBuf> = stored.files.iter().map(|(_, file)| file.clone()).collect();
    let results = read_results(edition, &files, Some(track))?;
    let runs = join(edition, results, &stored.entrants, None)?;
    let scoring = edition.tracks.get(track).and_then(|t| t.scoring.as_ref());
    let Some(scoring) = scoring else { return Ok(String::new()) };
    let first = |names: Option<&String>| names.cloned().into_iter().collect::<Vec<String>>();
    let wanted = Selection {
        views: first(scoring.views.keys().next()),
        tables: first(scoring.tables.keys().next()),
        rankings: false,
    };
    let scores = scores(edition, runs, &wanted)?;
    let rows = output::rows(&scores, &Filter::default())?;
    let title = edition.doc.title.as_deref().unwrap_or(&edition.name);
    let mut text = output::table(&rows, title, print::colour_out());
    let more: Vec<&str> = scoring.views.keys().skip(1).map(String::as_str).collect();
    if !more.is_empty() {
        let _ = writeln!(
            text,
            "other views ({}): agon score {} --store {}",
            more.join(", "),
            args.edition,
            store.display()
        );
    }
    Ok(text)
}

pub fn score(args: &ScoreArgs) -> anyhow::Result<Outcome> {
    let input = &args.input;
    if let Some(output) = &args.output {
        let editions = agon_edition::files(&input.edition);
        let read = input.results.iter().chain(&input.solvers).chain(&input.adjudication);
        print::writable(output, read.chain(&editions))?;
        crate::signals::leave_nothing()?;
    }
    let plugins = plugins(input)?;
    let reading = reading(&input.reading, &input.edition, &plugins)?;
    let (edition, runs, _) = prepared(input, reading, &plugins, None, false, args.output.as_deref())?;
    let scores = scores(&edition, runs, &selection(input))?;
    // Left out counts matter where counts are printed.
    let mut remarks: Vec<String> = scores.iter().flat_map(|t| t.views.iter().flat_map(|v| v.notes.clone())).collect();
    remarks.sort();
    remarks.dedup();
    if scores.iter().all(|t| t.views.iter().all(|v| v.tables.is_empty())) {
        remarks.clear();
    }
    notes(&remarks);
    let filter = Filter { division: input.division.clone(), logic: input.logic.clone() };
    let recognitions = input.table.iter().any(|t| t == "recognitions");
    let mut rows: Vec<Row> = Vec::new();
    if !recognitions || input.table.len() > 1 {
        rows = output::rows(&scores, &filter)?;
        if recognitions && !input.table.iter().any(|t| t == "all") {
            rows.retain(|r| input.table.contains(&r.table));
        }
    }
    if recognitions {
        rows.extend(output::recognitions(&edition, &scores)?);
    }
    if rows.is_empty() && recognitions {
        print::err("note: nothing is left to print: no row receives a recognition\n");
    } else if rows.is_empty() {
        return Err(nothing_left(input, &edition, &output::rows(&scores, &Filter::default())?));
    }
    let name = &edition.name;
    let text = match args.format {
        Format::Csv => output::csv(name, &rows),
        Format::Json => output::json(name, &rows),
        Format::Table => {
            let title = edition.doc.title.as_deref().unwrap_or(name);
            let how = match edition.reading {
                Reading::Rules => "by the rules".to_string(),
                Reading::Published => "as published".to_string(),
                Reading::With(ref names) if names.is_empty() => "by the rules".to_string(),
                Reading::With(ref names) => format!("with {}", names.iter().cloned().collect::<Vec<_>>().join(", ")),
            };
            output::table(&rows, &format!("{title} ({how})"), args.output.is_none() && print::colour_out())
        }
    };
    print::to(args.output.as_deref(), &text)?;
    Ok(Outcome::Done)
}

pub fn verify(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let input = &args.input;
    let everything = Selection { rankings: true, ..Selection::default() };
    let mut wanted = Wanted::default();
    let mut want = |column: &str, value: &Option<String>| {
        if let Some(value) = value {
            wanted.columns.push((column.into(), value.clone()));
        }
    };
    want("track", &input.track);
    want("division", &input.division);
    want("logic", &input.logic);
    if let [view] = input.view.as_slice() {
        want("view", &Some(view.clone()));
    }
    if let [table] = input.table.as_slice()
        && table != "all"
    {
        want("table", &Some(table.clone()));
    }
    let plugins = plugins(input)?;
    let reading = reading(&input.reading, &input.edition, &plugins)?;
    let by_rules = input.reading.reading == As::Rules;
    let (edition, runs, raw) = prepared(input, reading, &plugins, None, by_rules, None)?;
    let computed = scores(&edition, runs, &everything)?;
    let mut report = compare(&edition, &computed, &args.published, &wanted)?;
    notes(&report.notes);
    if by_rules && report.differences.iter().any(|d| d.explained.is_none()) {
        // What vanishes when the deviations are on is explained by them: that is what they say.
        let with = |reading: Reading| -> anyhow::Result<Report> {
            let (other, runs, _) = prepared(input, reading, &plugins, raw.as_ref(), false, None)?;
            Ok(compare(&other, &scores(&other, runs, &everything)?, &args.published, &wanted)?)
        };
        let published = with(Reading::Published)?;
        // What of an edition shows in the scores of these tracks.
        let shows = |edition: &Edition| {
            let tracks: Vec<_> = computed.iter().filter_map(|t| edition.tracks.get(&t.track)).collect();
            format!("{tracks:?} {:?} {:?} {:?}", edition.entrants, edition.results, edition.published)
        };
        let rules = shows(&edition);
        // Some deviations make no sense without another one; then they explain nothing alone. Nor do those about other
        // tracks.
        let alone = |name: &String| {
            let reading = Reading::With(std::iter::once(name.clone()).collect());
            let (other, _) = load_with(&input.edition, reading.clone(), &plugins.known()).ok()?;
            if shows(&other) == rules { None } else { Some((name.clone(), with(reading).ok()?)) }
        };
        let names: Vec<String> = edition.deviations.iter().map(|d| d.name.clone()).collect();
        let vanished = |d: &agon_score::verify::Difference| {
            d.explained.is_none()
                && !published.differences.iter().any(|p| p.line == d.line && p.column == d.column && p.key == d.key)
        };
        let alone: Vec<(String, Report)> =
            if report.differences.iter().any(vanished) { names.iter().filter_map(alone).collect() } else { Vec::new() };
        explain_by_deviations(&mut report, &published, &alone);
    }
    let text = describe(&report, &edition, args.format)?;
    if args.format == Format::Table {
        print::say(&text);
    } else {
        print::out(&text);
    }
    if report.compared == 0 {
        print::err(
            "nothing was compared: no row of the published file is about these results, or the filters leave none\n",
        );
    }
    Ok(if report.unexplained() == 0 && report.compared > 0 { Outcome::Done } else { Outcome::Short })
}

fn describe(report: &Report, edition: &Edition, format: Format) -> anyhow::Result<String> {
    let mut out = String::new();
    match format {
        Format::Json => {
            let list: Vec<_> = report
                .differences
                .iter()
                .map(|d| {
                    json!({"line": d.line, "key": d.key, "column": d.column, "published": d.published,
                        "computed": d.computed, "explained": d.explained})
                })
                .collect();
            let whole = json!({
                "figures": {"compared": report.compared, "equal": report.equal, "explained": report.explained(),
                    "unexplained": report.unexplained()},
                "differences": list,
            });
            let _ = writeln!(out, "{}", serde_json::to_string_pretty(&whole)?);
            // The output stays one JSON value; the closing line goes beside it.
            print::err(&format!("{}\n", report.summary()));
            return Ok(out);
        }
        Format::Csv => {
            out.push_str("line,standing,column,published,computed,explained\n");
            for d in &report.differences {
                let key: Vec<&str> = d.key.values().map(String::as_str).filter(|v| !v.is_empty()).collect();
                let quote = |t: &str| format!("\"{}\"", t.replace('"', "\"\""));
                let _ = writeln!(
                    out,
                    "{},{},{},{},{},{}",
                    d.line,
                    quote(&key.join(" / ")),
                    output::quoted(&d.column),
                    quote(&d.published),
                    quote(d.computed.as_deref().unwrap_or("")),
                    output::quoted(d.explained.as_deref().unwrap_or(""))
                );
            }
        }
        Format::Table => {
            for d in &report.differences {
                let key: Vec<&str> = d.key.values().map(String::as_str).filter(|v| !v.is_empty()).collect();
                let computed = match (&d.computed, d.column.as_str()) {
                    (Some(computed), _) => computed.as_str(),
                    (None, "track") => "no such track in the edition",
                    (None, _) => "no such standing",
                };
                let why = match &d.explained {
                    Some(name) => format!("explained: {name}"),
                    None => "unexplained".into(),
                };
                let _ = writeln!(
                    out,
                    "line {}: {}: {}: published {}, computed {computed} ({why})",
                    d.line,
                    key.join(" / "),
                    d.column,
                    d.published
                );
            }
            let mut used: Vec<&str> = report.differences.iter().filter_map(|d| d.explained.as_deref()).collect();
            used.sort_unstable();
            used.dedup();
            for name in used {
                let count = report.differences.iter().filter(|d| d.explained.as_deref() == Some(name)).count();
                let cause = match edition.ledger.iter().find(|e| e.name == name) {
                    Some(entry) => entry.cause.trim().to_string(),
                    None => {
                        let causes: Vec<&str> = edition
                            .deviations
                            .iter()
                            .filter(|d| name.split([' ', ':', '+']).any(|word| word == d.name))
                            .map(|d| d.because.trim())
                            .collect();
                        format!("equal to the published figure with these on. {}", causes.join(" "))
                    }
                };
                let _ = writeln!(out, "{count} explained by {name}: {}", cause.trim());
            }
            for (track, rows) in &report.without_results {
                let _ =
                    writeln!(out, "not compared: {rows} rows about the track {track}, of which there are no results");
            }
            if !report.not_computed.is_empty() {
                let _ = writeln!(
                    out,
                    "not compared: {} (published, but not computed from these results)",
                    report.not_computed.join(", ")
                );
            }
        }
    }
    let _ = writeln!(out, "{}", report.summary());
    Ok(out)
}
