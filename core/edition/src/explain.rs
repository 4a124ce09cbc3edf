//! The rules of an edition in plain English, with their citations, so that they can be held against the document.
//!
//! What all views of a track share is said once; a view says what is its own. What a deviation of the reading has put
//! in the place of a rule is marked.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agon_formula::{Formula, SortKey, Voice};
use agon_scramble::Annotations;
use agon_table::{Dim, Exact, Type, Value};
use indexmap::IndexMap;

use crate::model::{
    Action, Constant, Doc, Edition, Input, Let, Limits, Ranking, Reading, Recognition, RunOrder, RunRules, Scoring,
    Scrambling, Scripts, Status, Step, Track, Variable, View,
};

/// Citation, and the deviation that put the element there.
fn cite(doc: &Doc) -> String {
    let cite = if doc.cite.is_empty() { String::new() } else { format!(" [{}]", doc.cite.join(", ")) };
    format!("{cite}{}", by(doc.deviation.as_deref()))
}

fn by(deviation: Option<&str>) -> String {
    deviation.map(|name| format!(" (deviation: {name})")).unwrap_or_default()
}

/// A sentence of the author, with its full stop.
fn said(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', ':', ')']) { text.into() } else { format!("{text}.") }
}

fn titled(doc: &Doc, name: &str) -> String {
    doc.title.clone().unwrap_or_else(|| name.into())
}

/// A line for the author's sentence, if there is one. It is about the rule: where a deviation has changed something of
/// it, that is said.
fn paragraph(out: &mut String, doc: &Doc, deviated: bool) {
    if let Some(says) = &doc.says {
        let _ = writeln!(out, "{}\n", text_of(says, deviated));
    }
}

fn text_of(says: &str, deviated: bool) -> String {
    if deviated { format!("By the text: {}", said(says)) } else { said(says) }
}

/// Whether a deviation has changed something of a step.
fn step_deviates(step: &Step) -> bool {
    let deviates = |l: &Let| l.doc.deviation.is_some();
    step.doc.deviation.is_some()
        || step.constants.values().any(|c| c.doc.deviation.is_some())
        || match &step.action {
            Action::Let(lets) | Action::Group(_, lets) => lets.iter().any(deviates),
            Action::Keep(l) | Action::Drop(l) => deviates(l),
        }
}

/// What rows are called where a formula stands.
#[derive(Clone, Copy)]
enum Subject {
    Runs,
    Entrants,
    Rows,
}

/// Says the formulas of one track.
struct Speaker<'a> {
    limits: &'a Limits,
}

impl Speaker<'_> {
    fn formula(&self, formula: &Formula, rows: Subject) -> String {
        let names = |name: &str| {
            let limit = name.strip_prefix("limits.")?;
            let (value, dim) = self.limits.get(limit)?;
            let value = if dim == Dim::NONE { value.to_short_decimal(0) } else { amount(&value, dim) };
            Some(match limit {
                "wall" => format!("the wall-clock limit ({value})"),
                "cpu" => format!("the CPU time limit ({value})"),
                "memory" => format!("the memory limit ({value})"),
                "cores" => format!("the number of cores ({value})"),
                other => format!("the limit `{other}` ({value})"),
            })
        };
        let (one, many) = match rows {
            Subject::Runs => ("run", "runs"),
            Subject::Entrants => ("entrant", "entrants"),
            Subject::Rows => ("row", "rows"),
        };
        formula.english_as(&Voice { one, many, names: &names })
    }

    /// A name with its title, what the author says of it, and what its formula says.
    fn named(&self, l: &Let, rows: Subject) -> String {
        let title = l.doc.title.as_deref().map(|t| format!(" ({t})")).unwrap_or_default();
        let english = self.formula(&l.formula, rows);
        let what = match &l.doc.says {
            Some(says) => format!(": {} ({english})", says.trim().trim_end_matches('.')),
            None if english == l.name => String::new(),
            None => format!(": {english}"),
        };
        format!("{}{title}{what}{}", l.name, cite(&l.doc))
    }

    fn list(&self, out: &mut String, list: &[Let], rows: Subject) {
        for l in list {
            let _ = writeln!(out, "- {}", self.named(l, rows));
        }
    }

    /// Who wins, as a sentence; `who` is what a row is about.
    fn winner(&self, winner: &Let, who: &str, rows: Subject) -> String {
        let says = winner.doc.says.as_deref().map(|s| format!(" {}", said(s))).unwrap_or_default();
        let rule = match winner.formula.constant() {
            Some(Value::Bool(true)) => format!("Every {who} wins"),
            Some(Value::Bool(false)) => "Nobody wins".into(),
            _ => format!("{} {who} wins if {}", capital(article(who)), self.formula(&winner.formula, rows)),
        };
        format!("Winner:{says} {rule}{}.", cite(&winner.doc))
    }

    fn order(&self, order: &[SortKey], rows: Subject) -> String {
        let keys: Vec<String> = order
            .iter()
            .map(|k| {
                let text = !k.formula.ty().is_number();
                let better = match (k.descending, text) {
                    (true, false) => "more is better",
                    (false, false) => "less is better",
                    (true, true) => "last first",
                    (false, true) => "alphabetically",
                };
                format!("{} ({better})", self.formula(&k.formula, rows))
            })
            .collect();
        keys.join(", then by ")
    }

    /// A step without its number, and what rows are called behind it.
    fn step(&self, step: &Step, rows: &mut Subject) -> String {
        let mut out = String::new();
        let says =
            step.doc.says.as_deref().map(|s| format!(": {}", text_of(s, step_deviates(step)))).unwrap_or_default();
        let _ = writeln!(out, "{}{says}{}", step.name, cite(&step.doc));
        let many = match rows {
            Subject::Runs => "runs",
            Subject::Entrants => "entrants",
            Subject::Rows => "rows",
        };
        match &step.action {
            Action::Let(lets) => {
                for text in constants(&step.constants).values() {
                    let _ = writeln!(out, "   - {text}");
                }
                for l in lets {
                    let _ = writeln!(out, "   - {}", self.named(l, *rows));
                }
            }
            Action::Keep(l) => {
                let mark = by(l.doc.deviation.as_deref().filter(|_| step.doc.deviation.is_none()));
                let _ = writeln!(out, "   - Kept are the {many} for which {}{mark}.", self.formula(&l.formula, *rows));
            }
            Action::Drop(l) => {
                let mark = by(l.doc.deviation.as_deref().filter(|_| step.doc.deviation.is_none()));
                let _ =
                    writeln!(out, "   - Removed are the {many} for which {}{mark}.", self.formula(&l.formula, *rows));
            }
            Action::Group(by, lets) => {
                let with = if lets.is_empty() { "" } else { ", with" };
                let _ = writeln!(out, "   - One row is left for each {}{with}", listed(by, "and"));
                for l in lets {
                    let _ = writeln!(out, "     - {}", self.named(l, *rows));
                }
                *rows = Subject::Rows;
            }
        }
        out
    }

    fn steps(&self, out: &mut String, steps: &[Step], mut rows: Subject) {
        for (number, step) in steps.iter().enumerate() {
            let _ = write!(out, "{}. {}", number + 1, self.step(step, &mut rows));
        }
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn heading(out: &mut String, level: usize, text: &str) {
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    let _ = writeln!(out, "{} {text}\n", "#".repeat(level));
}

/// An amount as people write it: the largest unit that makes it a whole number.
pub fn amount(value: &Exact, dim: Dim) -> String {
    let units: &[(&str, i128)] = if dim == Dim::TIME {
        &[("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("ns", 1)]
    } else {
        &[
            ("TiB", 1 << 40),
            ("TB", 1_000_000_000_000),
            ("GiB", 1 << 30),
            ("GB", 1_000_000_000),
            ("MiB", 1 << 20),
            ("MB", 1_000_000),
            ("KiB", 1 << 10),
            ("kB", 1_000),
            ("B", 1),
        ]
    };
    for (name, size) in units {
        if let Some(n) = Exact::int(*size).div(&Exact::ONE).and_then(|s| value.div(&s)).and_then(|n| n.as_i128())
            && n != 0
        {
            return format!("{n} {name}");
        }
    }
    value.to_string()
}

/// A limit in words.
fn limit_phrase(name: &str, value: &Exact, dim: Dim) -> String {
    let amount = if dim == Dim::NONE { value.to_short_decimal(0) } else { amount(value, dim) };
    match name {
        "wall" => format!("{amount} of wall-clock time"),
        "cpu" => format!("{amount} of CPU time"),
        "memory" => format!("{amount} of memory"),
        "disk" => format!("{amount} in its temporary folder"),
        "file-size" => format!("{amount} a file"),
        "output" => format!("{amount} of output"),
        "cores" if amount == "1" => "1 core".into(),
        "processes" if amount == "1" => "1 process".into(),
        other => format!("{amount} {other}"),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// The mode of the scrambler, and what differs from what the mode stands for.
fn scrambled(scrambling: &Scrambling) -> String {
    let usual = agon_scramble::Options::new(scrambling.mode, 0).annotations;
    let annotations = match scrambling.annotations {
        same if same == usual => "",
        Annotations::Keep => ", with all annotations kept",
        Annotations::Patterns => ", with patterns kept of all annotations",
        Annotations::Strip => ", with all annotations removed",
    };
    format!("`{}`{annotations}{}", scrambling.mode.word(), cite(&scrambling.doc))
}

/// What is asked of benchmark scripts.
fn script_rules(out: &mut String, scripts: &Scripts) {
    let version = scripts.version.as_ref().map(|v| format!(" in SMT-LIB {v}")).unwrap_or_default();
    let _ = writeln!(
        out,
        "\nBenchmarks are scripts{version} of which the following is asked (`agon bench lint` checks it):"
    );
    for (name, rule) in &scripts.rules {
        let cites = rule.doc.cite.join(", ");
        let says = rule.doc.says.as_ref().map(|s| format!(": {s}")).unwrap_or_default();
        let _ = writeln!(out, "- {name}{says} ({cites})");
    }
}

/// What a runner does before a run.
fn run_rules(out: &mut String, run: &RunRules, limits: &Limits) {
    let mut parts: Vec<String> = Vec::new();
    if run.order == RunOrder::Shuffled {
        parts.push("The benchmarks are run in an order that the competition's seed decides.".into());
    }
    if let Some(scrambling) = &run.scramble {
        parts.push(format!("They are scrambled with the competition's seed, in the mode {}.", scrambled(scrambling)));
        parts.extend(scrambling.doc.says.as_deref().map(said));
    }
    let told: Vec<String> = run
        .environment
        .iter()
        .map(|(name, variable)| match variable {
            Variable::Text(text) => format!("`{name}` (always “{text}”)"),
            Variable::Limit { limit, unit, .. } => {
                let unit = unit.as_ref().map(|u| format!(" {u}")).unwrap_or_default();
                format!("`{name}` (`{limit}`: {}{unit})", variable.text(limits).unwrap_or_default())
            }
        })
        .collect();
    if !told.is_empty() {
        parts.push(format!("The solver finds its limits in the environment variables {}.", listed(&told, "and")));
    }
    parts.extend(run.doc.says.as_deref().map(said));
    if !parts.is_empty() {
        let _ = writeln!(out, "{}{}", parts.join(" "), cite(&run.doc));
    }
}

fn limits(out: &mut String, limits: &Limits, what: &str) {
    let parts: Vec<String> = limits.all().map(|(name, value, dim)| limit_phrase(name, &value, dim)).collect();
    let says = limits.doc.says.as_deref().map(|s| format!(" {}", said(s))).unwrap_or_default();
    if !parts.is_empty() {
        let _ = writeln!(out, "{what} may use {}.{says}{}", listed(&parts, "and"), cite(&limits.doc));
    } else if !says.is_empty() {
        let _ = writeln!(out, "Limits:{says}{}", cite(&limits.doc));
    }
}

/// A constant in words.
fn constant(value: &Value, ty: &Type) -> String {
    match (value, ty) {
        (Value::Exact(n), Type::Number { dim, .. }) if *dim != Dim::NONE => amount(n, *dim),
        (Value::Exact(n), _) => n.to_short_decimal(9),
        (Value::Bool(b), _) => b.to_string(),
        (Value::Symbol(word), _) => format!("“{word}”"),
        (Value::Real(r), _) => r.to_string(),
    }
}

/// The constants that a view or step defines, as they are said.
fn constants(list: &IndexMap<String, Constant>) -> IndexMap<&str, String> {
    list.iter()
        .map(|(name, c)| {
            let value = constant(&c.value, &c.ty);
            let what = match &c.doc.says {
                Some(says) => format!("{} ({value})", says.trim().trim_end_matches('.')),
                None => format!("always {value}"),
            };
            (name.as_str(), format!("{name}: {what}{}", cite(&c.doc)))
        })
        .collect()
}

/// What is the same in all views of a scoring.
struct Shared {
    constants: BTreeSet<String>,
    /// Steps, as they are said.
    steps: Vec<String>,
    order: bool,
    winner: bool,
}

impl Shared {
    fn of(scoring: &Scoring, speaker: &Speaker<'_>) -> Self {
        let views: Vec<&View> = scoring.views.values().collect();
        let steps: Vec<Vec<String>> = views.iter().map(|v| said_steps(v, speaker)).collect();
        let same = |f: &dyn Fn(&View) -> String| views.windows(2).all(|pair| f(pair[0]) == f(pair[1]));
        let everywhere = |step: &String| steps.iter().all(|of_view| of_view.contains(step));
        let lists: Vec<IndexMap<&str, String>> = views.iter().map(|v| constants(&v.defined)).collect();
        let in_all = |(_, text): &(&&str, &String)| lists.iter().all(|l| l.values().any(|t| t == *text));
        Self {
            constants: lists.first().into_iter().flatten().filter(in_all).map(|(_, text)| text.clone()).collect(),
            steps: steps.first().into_iter().flatten().filter(|s| everywhere(s)).cloned().collect(),
            order: same(&|v| format!("{}{:?}", speaker.order(&v.order, Subject::Entrants), v.order_deviation)),
            winner: same(&|v| {
                v.winner.as_ref().map(|w| speaker.winner(w, "entrant", Subject::Entrants)).unwrap_or_default()
            }),
        }
    }
}

fn said_steps(view: &View, speaker: &Speaker<'_>) -> Vec<String> {
    let mut rows = Subject::Runs;
    view.steps.iter().map(|step| speaker.step(step, &mut rows)).collect()
}

fn compared(view: &View, speaker: &Speaker<'_>) -> String {
    let order = speaker.order(&view.order, Subject::Entrants);
    format!("Entrants are compared by {order}{}.", by(view.order_deviation.as_deref()))
}

/// Whether a deviation has changed something that the view says itself.
fn view_deviates(view: &View) -> bool {
    view.doc.deviation.is_some()
        || view.defined.values().any(|c| c.doc.deviation.is_some())
        || view.lets.iter().any(|l| l.doc.deviation.is_some())
        || view.order_deviation.is_some()
}

/// What a view says itself.
fn own_part(out: &mut String, view: &View, shared: &Shared, speaker: &Speaker<'_>, alone: bool) {
    if !alone {
        heading(out, 4, &format!("View `{}`: {}{}", view.name, titled(&view.doc, &view.name), cite(&view.doc)));
        paragraph(out, &view.doc, view_deviates(view));
    }
    let constants = constants(&view.defined);
    for text in constants.values().filter(|text| !shared.constants.contains(*text)) {
        let _ = writeln!(out, "- {text}");
    }
    speaker.list(out, &view.lets, Subject::Runs);
    let steps = said_steps(view, speaker);
    if steps.iter().any(|step| !shared.steps.contains(step)) {
        out.push_str("\nIts steps:\n\n");
        for (number, (step, text)) in view.steps.iter().zip(&steps).enumerate() {
            match shared.steps.contains(text) {
                true => {
                    let _ = writeln!(out, "{}. {}: as in every view", number + 1, step.name);
                }
                false => {
                    let _ = write!(out, "{}. {text}", number + 1);
                }
            }
        }
    }
    if !shared.order {
        let _ = writeln!(out, "\n{}", compared(view, speaker));
    }
    if let Some(winner) = view.winner.as_ref().filter(|_| !shared.winner) {
        let _ = writeln!(out, "\n{}", speaker.winner(winner, "entrant", Subject::Entrants));
    }
}

fn scoring(out: &mut String, scoring: &Scoring, track: &Track) {
    let speaker = Speaker { limits: &track.limits };
    heading(out, 3, &format!("Scoring{}", cite(&scoring.doc)));
    paragraph(out, &scoring.doc, false);
    let Some(first) = scoring.views.values().next() else { return };
    let alone = scoring.views.len() == 1;
    let shared = Shared::of(scoring, &speaker);
    if !scoring.prepare.is_empty() {
        heading(out, 4, "All runs, before any view");
        speaker.steps(out, &scoring.prepare, Subject::Runs);
    }
    if alone {
        let view = titled(&first.doc, &first.name);
        heading(out, 4, &format!("The runs, in the only view `{}`: {view}{}", first.name, cite(&first.doc)));
        paragraph(out, &first.doc, view_deviates(first));
    } else {
        heading(out, 4, "The runs, in every view");
    }
    let mut defined: Vec<String> = Vec::new();
    for view in scoring.views.values() {
        let constants = constants(&view.defined);
        let own = constants.iter().filter(|(_, text)| !shared.constants.contains(*text)).map(|(name, _)| *name);
        for name in own.chain(view.lets.iter().map(|l| l.name.as_str())) {
            let name = format!("`{name}`");
            if !defined.contains(&name) {
                defined.push(name);
            }
        }
    }
    if !alone && !defined.is_empty() {
        let _ = writeln!(out, "Each view defines {}.\n", listed(&defined, "and"));
    }
    for text in constants(&first.defined).values().filter(|text| shared.constants.contains(*text)) {
        let _ = writeln!(out, "- {text}");
    }
    if alone {
        speaker.list(out, &first.lets, Subject::Runs);
    }
    if !(out.ends_with("\n\n") || shared.steps.is_empty()) {
        out.push('\n');
    }
    for (number, step) in shared.steps.iter().enumerate() {
        let _ = write!(out, "{}. {step}", number + 1);
    }
    score(out, scoring, first, &shared, &speaker);
    if !alone {
        for view in scoring.views.values() {
            own_part(out, view, &shared, &speaker, alone);
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for ranking in scoring.views.values().flat_map(|v| v.rankings.values()) {
        if !seen.contains(&ranking.name.as_str()) {
            seen.push(&ranking.name);
            explain_ranking(out, ranking, scoring, &speaker);
        }
    }
}

/// From the runs of a group to its standings.
fn score(out: &mut String, scoring: &Scoring, first: &View, shared: &Shared, speaker: &Speaker<'_>) {
    heading(out, 4, "The score");
    let tables: Vec<String> = scoring
        .tables
        .iter()
        .map(|(name, t)| match t.by.as_slice() {
            [] => format!("in the table `{name}`, all runs of the track{}", cite(&t.doc)),
            by => format!("in the table `{name}`, the runs with the same {}{}", listed(by, "and"), cite(&t.doc)),
        })
        .collect();
    let _ = writeln!(
        out,
        "Entrants are compared in groups. A group is: {}. The score of an entrant is computed from its runs in the group:\n",
        tables.join("; ")
    );
    speaker.list(out, &first.measures, Subject::Runs);
    if !first.counts.is_empty() {
        out.push_str("\nAlso counted, over the same runs:\n\n");
        speaker.list(out, &first.counts, Subject::Runs);
    }
    if !first.standings.is_empty() {
        out.push_str("\nFrom the scores of all entrants of the group follow:\n\n");
        speaker.list(out, &first.standings, Subject::Entrants);
    }
    if shared.order {
        let _ = writeln!(out, "\n{}", compared(first, speaker));
    }
    if let Some(winner) = first.winner.as_ref().filter(|_| shared.winner) {
        let _ = writeln!(out, "\n{}", speaker.winner(winner, "entrant", Subject::Entrants));
    }
}

fn explain_ranking(out: &mut String, ranking: &Ranking, scoring: &Scoring, speaker: &Speaker<'_>) {
    let title = titled(&ranking.doc, &ranking.name);
    heading(out, 4, &format!("Ranking `{}`: {title}{}", ranking.name, cite(&ranking.doc)));
    let deviates = ranking.steps.iter().any(step_deviates)
        || ranking.order_deviation.is_some()
        || ranking.values.iter().chain(&ranking.winner).any(|l| l.doc.deviation.is_some());
    paragraph(out, &ranking.doc, deviates);
    let having: Vec<&View> = scoring.views.values().filter(|v| v.rankings.contains_key(&ranking.name)).collect();
    let views = if having.len() == scoring.views.len() {
        if having.len() == 1 { String::new() } else { ", in each view".to_string() }
    } else {
        let names: Vec<String> = having.iter().map(|v| format!("“{}”", titled(&v.doc, &v.name))).collect();
        format!(", in the view{} {}", if names.len() == 1 { "" } else { "s" }, listed(&names, "and"))
    };
    let (from, rows) = match ranking.from.as_str() {
        "runs" => ("the runs".to_string(), Subject::Runs),
        table => (format!("the rows of the table `{table}`, one for each entrant of each group"), Subject::Rows),
    };
    let _ = writeln!(out, "It starts from {from}{views}.\n");
    speaker.steps(out, &ranking.steps, rows);
    let order = speaker.order(&ranking.order, Subject::Rows);
    let lead = if ranking.steps.is_empty() { "" } else { "\n" };
    let _ = writeln!(
        out,
        "{lead}What is left is ordered by {order}{}, and shows:\n",
        by(ranking.order_deviation.as_deref())
    );
    speaker.list(out, &ranking.values, Subject::Rows);
    if let Some(winner) = &ranking.winner {
        let _ = writeln!(out, "\n{}", speaker.winner(winner, "row", Subject::Rows));
    }
}

/// One track.
pub fn explain_track(track: &Track) -> String {
    let mut out = String::new();
    heading(&mut out, 2, &format!("Track `{}`: {}{}", track.name, titled(&track.doc, &track.name), cite(&track.doc)));
    paragraph(&mut out, &track.doc, false);
    match track.status {
        Status::Competitive => {}
        Status::Exhibition => out.push_str("An exhibition: results are listed, nothing is won.\n"),
        Status::Experimental => out.push_str("Experimental: results are listed, nothing is won.\n"),
    }
    match track.input {
        Some(Input::Argument) => out.push_str("The benchmark file is the solver's first argument.\n"),
        Some(Input::Stdin) => out.push_str("The benchmark is the solver's standard input.\n"),
        Some(Input::Trace) => out.push_str("A trace executor sends the benchmark's commands one by one.\n"),
        None => {}
    }
    if let Some(plugin) = &track.plugin {
        let told: Vec<String> =
            track.parameters.iter().map(|(name, value)| format!("{name} {}", parameter(value))).collect();
        let with = if told.is_empty() { String::new() } else { format!(", with {}", listed(&told, "and")) };
        let _ = writeln!(out, "Answers are judged by the plugin `{plugin}`{with}.");
    }
    limits(&mut out, &track.limits, "A run");
    run_rules(&mut out, &track.run, &track.limits);
    if let Some(scripts) = &track.scripts {
        script_rules(&mut out, scripts);
    }
    for (name, (doc, check_limits)) in &track.checks {
        let says = doc.says.as_deref().map(|s| format!(" {}", said(s))).unwrap_or_default();
        let _ = writeln!(out, "\n{} (`{name}`):{says}{}", titled(doc, "Check"), cite(doc));
        limits(&mut out, check_limits, "A check");
    }
    if !track.divisions.is_empty() {
        heading(&mut out, 3, "Divisions");
        // A division that is one logic of the same name says nothing more than that.
        let plain: Vec<String> = track
            .divisions
            .iter()
            .filter(|(name, d)| {
                d.logics == [(*name).clone()] && !d.experimental && d.scramble.is_none() && cite(&d.doc).is_empty()
            })
            .map(|(name, _)| name.clone())
            .collect();
        match plain.as_slice() {
            [] => {}
            [one] => {
                let _ = writeln!(out, "- {one}: the logic of that name");
            }
            many => {
                let _ = writeln!(out, "- Each of these logics is a division: {}", many.join(", "));
            }
        }
        for (name, division) in track.divisions.iter().filter(|(name, _)| !plain.contains(name)) {
            let mark = if division.experimental { " (experimental)" } else { "" };
            let logics = match division.logics.as_slice() {
                [] => "every benchmark".into(),
                logics => logics.join(", "),
            };
            let says = division.doc.says.as_deref().map(|s| format!(". {}", said(s))).unwrap_or_default();
            let scramble = match &division.scramble {
                None => String::new(),
                Some(None) => "; its benchmarks are not scrambled".into(),
                Some(Some(own)) => format!("; its benchmarks are scrambled in the mode {}", scrambled(own)),
            };
            let _ = writeln!(out, "- {name}{mark}: {logics}{scramble}{says}{}", cite(&division.doc));
        }
    }
    if let Some(rules) = &track.scoring {
        scoring(&mut out, rules, track);
    }
    out
}

fn parameter(value: &crate::model::ParameterValue) -> String {
    use crate::model::ParameterValue as P;
    match value {
        P::Text(text) => format!("“{text}”"),
        P::Flag(flag) => flag.to_string(),
        P::Number(n) => n.to_short_decimal(9),
        P::Time(n) => amount(n, Dim::TIME),
        P::Memory(n) => amount(n, Dim::MEMORY),
        P::Texts(texts) => texts.iter().map(|t| format!("“{t}”")).collect::<Vec<_>>().join(", "),
    }
}

fn recognition(out: &mut String, r: &Recognition, edition: &Edition) {
    let track = edition.tracks.get(&r.track);
    let scoring = track.and_then(|t| t.scoring.as_ref());
    let quoted = |title: String| format!("“{title}”");
    let view = r.view.as_ref().map(|name| {
        let doc = scoring.and_then(|s| s.views.get(name)).map(|v| &v.doc);
        format!(", view {}", quoted(doc.map_or_else(|| name.clone(), |d| titled(d, name))))
    });
    let ranking = scoring.and_then(|s| s.views.values().find_map(|v| v.rankings.get(&r.from)));
    let table = scoring.and_then(|s| s.tables.get(&r.from));
    let (from, who) = match (ranking, table) {
        (Some(ranking), _) => (format!("the ranking {}", quoted(titled(&ranking.doc, &r.from))), Subject::Rows),
        (None, Some(t)) if t.by.is_empty() => ("the standings of the whole track".to_string(), Subject::Entrants),
        (None, Some(t)) => (format!("the standings of each {}", t.by.join(" and ")), Subject::Entrants),
        (None, None) => (format!("`{}`", r.from), Subject::Rows),
    };
    let of = track.map_or_else(|| r.track.clone(), |t| titled(&t.doc, &t.name));
    let speaker = track.map(|t| Speaker { limits: &t.limits });
    let rule = match (r.filter.values().next(), speaker) {
        (Some(filter), Some(speaker)) => match filter.constant() {
            Some(Value::Bool(true)) => "all that are listed".to_string(),
            _ if filter.source().trim() == "winner" => "the winners".to_string(),
            _ => format!("those for which {}", speaker.formula(filter, who)),
        },
        _ => String::new(),
    };
    let says = r.doc.says.as_deref().map(|s| format!(" {}", said(s))).unwrap_or_default();
    let _ = writeln!(
        out,
        "- {}:{says} Of {from} ({}{}), {rule}{}.",
        titled(&r.doc, &r.name),
        quoted(of),
        view.unwrap_or_default(),
        cite(&r.doc)
    );
}

/// By which reading the text is, as a sentence.
fn reading(edition: &Edition) -> Option<String> {
    let on: Vec<String> = edition
        .deviations
        .iter()
        .filter(|d| edition.reading.includes(&d.name))
        .map(|d| format!("`{}`", d.name))
        .collect();
    let mark = "What they put in the place of a rule is marked with their names";
    match (&edition.reading, on.as_slice()) {
        (_, []) if edition.deviations.is_empty() => None,
        (Reading::Rules, _) | (_, []) => Some("This is the reading by the rules: no deviation is on.".into()),
        (Reading::Published, _) => Some(format!("This is the reading as published: all deviations are on. {mark}.")),
        (Reading::With(_), [one]) => Some(format!(
            "In this reading the deviation {one} is on. What it puts in the place of a rule is marked with its name."
        )),
        (Reading::With(_), many) => {
            Some(format!("In this reading the deviations {} are on. {mark}.", listed(many, "and")))
        }
    }
}

/// The whole edition, or one of its tracks.
pub fn explain(edition: &Edition, track: Option<&Track>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", titled(&edition.doc, &edition.name));
    paragraph(&mut out, &edition.doc, false);
    let revision = edition.rules.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    if !edition.rules.document.is_empty() {
        let document = &edition.rules.document;
        let _ = writeln!(out, "Rules: {document}{revision}. Citations in brackets are sections of that text.");
    }
    if let Some(reading) = reading(edition) {
        let _ = writeln!(out, "{reading}");
    }
    if let Some(track) = track {
        out.push_str(&explain_track(track));
    } else {
        if !edition.organisers.is_empty() {
            let _ = writeln!(out, "Organisers: {}.", edition.organisers.join(", "));
        }
        if !edition.timeline.is_empty() {
            heading(&mut out, 2, "Timeline");
            for (date, what, cites) in &edition.timeline {
                let _ = writeln!(out, "- {date}: {what}{}", cite(&Doc { cite: cites.clone(), ..Doc::default() }));
            }
        }
        if let Some(says) = &edition.entrants.doc.says {
            heading(&mut out, 2, &format!("Entrants{}", cite(&edition.entrants.doc)));
            let _ = writeln!(out, "{}", said(says));
        }
        if let Some(seed) = &edition.seed {
            heading(&mut out, 2, &format!("Seed{}", cite(&seed.doc)));
            paragraph(&mut out, &seed.doc, seed.doc.deviation.is_some());
            let voice = Voice { one: "entrant", many: "entrants", ..Voice::default() };
            let _ = writeln!(out, "The seed is {}.", seed.formula.english_as(&voice));
            if let Some(market) = &seed.market {
                let value = market.opening.as_ref().map(|o| format!(", {}", o.to_short_decimal(9))).unwrap_or_default();
                let day = market.date.as_ref().map(|d| format!(" on {d}")).unwrap_or_default();
                let _ = writeln!(out, "Here `market` is the opening value of the {}{day}{value}.", market.name);
            }
            match seed.generator.as_deref() {
                Some("c-random") => out.push_str("It starts the C library's random().\n"),
                Some("python") => out.push_str("It starts Python's generator (Mersenne Twister).\n"),
                Some("scrambler") => out.push_str("It starts the scrambler's own generator.\n"),
                Some("agon") => out.push_str("It starts Agon's portable generator.\n"),
                _ => {}
            }
        }
        for track in edition.tracks.values() {
            out.push_str(&explain_track(track));
        }
        if !edition.recognitions.is_empty() {
            heading(&mut out, 2, "Recognitions");
            for r in edition.recognitions.values() {
                recognition(&mut out, r, edition);
            }
        }
    }
    if !edition.deviations.is_empty() {
        heading(&mut out, 2, "Deviations: what the year's own tools did instead");
        for d in &edition.deviations {
            let on = if edition.reading.includes(&d.name) { "on" } else { "off" };
            let _ = writeln!(out, "- `{}` ({on}): {}{}", d.name, titled(&d.doc, &d.name), cite(&d.doc));
            let _ = writeln!(out, "  {}\n  Seen in: {}", said(&d.because), said(&d.reference));
            let tracks = |paths: &[String]| -> Vec<String> {
                let of = |path: &&String| track.is_none_or(|t| path.starts_with(&format!("tracks.{}.", t.name)));
                paths.iter().filter(of).map(|p| format!("`{p}`")).collect()
            };
            for (verb, paths) in [("Replaces or adds", tracks(&d.changes)), ("Removes", tracks(&d.removes))] {
                if !paths.is_empty() {
                    let _ = writeln!(out, "  {verb}: {}", paths.join(", "));
                }
            }
        }
    }
    if !edition.ledger.is_empty() && track.is_none() {
        heading(&mut out, 2, "Ledger of known differences");
        for entry in &edition.ledger {
            let _ = writeln!(out, "- `{}`: {}\n  Seen in: {}", entry.name, said(&entry.cause), said(&entry.reference));
        }
    }
    out
}
