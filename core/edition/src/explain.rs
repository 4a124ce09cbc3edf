//! The rules of an edition in plain English, with their citations, so that they can be held against the document.

use std::fmt::Write as _;

use agon_table::{Dim, Exact, Type, Value};

use crate::model::{Action, Doc, Edition, Input, Let, Limits, RunOrder, RunRules, Status, Step, Track, Variable, View};

fn cite(doc: &Doc) -> String {
    if doc.cite.is_empty() { String::new() } else { format!(" [{}]", doc.cite.join(", ")) }
}

/// A sentence: what the author says, or what the formula says.
fn sentence(named: &Let, verb: &str) -> String {
    let formula = named.formula.english();
    match &named.doc.says {
        Some(says) => format!("{} ({verb}{formula})", says.trim().trim_end_matches('.')),
        None => format!("{verb}{formula}"),
    }
}

fn heading(out: &mut String, level: usize, text: &str) {
    let _ = writeln!(out, "\n{} {text}\n", "#".repeat(level));
}

/// An amount as people write it: the largest unit that makes it a whole number.
pub fn amount(value: &Exact, dim: Dim) -> String {
    let units: &[(&str, i128)] = if dim == Dim::TIME {
        &[("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("ns", 1)]
    } else {
        &[("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)]
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

/// What a runner does before a run.
fn run_rules(out: &mut String, run: &RunRules, limits: &Limits) {
    let mut parts: Vec<String> = Vec::new();
    match run.order {
        RunOrder::Shuffled => {
            parts.push("The benchmarks are run in an order that the competition's seed decides".into());
        }
        RunOrder::Listed => {}
    }
    if let Some(mode) = &run.scramble {
        parts.push(format!("Benchmarks are scrambled with the competition's seed (mode `{mode}`)"));
    }
    let told: Vec<String> = run
        .environment
        .iter()
        .map(|(name, variable)| match variable {
            Variable::Text(text) => format!("`{name}` (always “{text}”)"),
            Variable::Limit { limit, unit, .. } => {
                let unit = unit.as_ref().map(|u| format!(" in {u}")).unwrap_or_default();
                let value = variable.text(limits).unwrap_or_default();
                format!("`{name}` (the limit `{limit}`{unit}: {value})")
            }
        })
        .collect();
    if !told.is_empty() {
        parts.push(format!("The solver finds its limits in the environment variables {}", listed(&told, "and")));
    }
    if parts.is_empty() && run.doc.says.is_none() {
        return;
    }
    let _ = writeln!(out, "{}{}{}.", parts.join(". "), if parts.is_empty() { "Runs" } else { "" }, cite(&run.doc));
    if let Some(says) = &run.doc.says {
        let _ = writeln!(out, "  {}", says.trim());
    }
}

fn limits(out: &mut String, limits: &Limits) {
    let parts: Vec<String> = limits.all().map(|(name, value, dim)| limit_phrase(name, &value, dim)).collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "A run may use {}{}.", listed(&parts, "and"), cite(&limits.doc));
    }
    if let Some(says) = &limits.doc.says {
        let _ = writeln!(out, "  {}", says.trim());
    }
}

fn steps(out: &mut String, list: &[Step]) {
    for (number, step) in list.iter().enumerate() {
        let said = step.doc.says.as_deref().map(|s| format!(": {}", s.trim())).unwrap_or_default();
        let _ = writeln!(out, "{}. {}{said}{}", number + 1, step.name, cite(&step.doc));
        match &step.action {
            Action::Let(lets) => {
                for l in lets {
                    let _ = writeln!(out, "   - {}: {}{}", l.name, sentence(l, ""), cite(&l.doc));
                }
            }
            Action::Keep(l) => {
                let _ = writeln!(out, "   - only rows for which {} stay", l.formula.english());
            }
            Action::Drop(l) => {
                let _ = writeln!(out, "   - rows for which {} are removed", l.formula.english());
            }
            Action::Group(by, lets) => {
                let _ = writeln!(out, "   - one row for each {}, with", by.join(" and "));
                for l in lets {
                    let _ = writeln!(out, "     - {}: {}{}", l.name, sentence(l, ""), cite(&l.doc));
                }
            }
        }
    }
}

fn named(out: &mut String, list: &[Let]) {
    for l in list {
        let title = l.doc.title.as_deref().map(|t| format!(" ({t})")).unwrap_or_default();
        let _ = writeln!(out, "- {}{title}: {}{}", l.name, sentence(l, ""), cite(&l.doc));
    }
}

fn view(out: &mut String, view: &View) {
    let title = view.doc.title.as_deref().unwrap_or(&view.name);
    heading(out, 4, &format!("View `{}`: {title}{}", view.name, cite(&view.doc)));
    if let Some(says) = &view.doc.says {
        let _ = writeln!(out, "{}\n", says.trim());
    }
    let own = view.constants.iter().filter(|(name, _)| *name != "track" && *name != "view");
    for (name, (ty, value)) in own {
        let value = match (value, ty) {
            (Value::Exact(n), Type::Number { dim, .. }) if *dim != Dim::NONE => amount(n, *dim),
            (Value::Exact(n), _) => n.to_short_decimal(9),
            (Value::Bool(b), _) => b.to_string(),
            (Value::Symbol(word), _) => format!("“{word}”"),
            (Value::Real(r), _) => r.to_string(),
        };
        let _ = writeln!(out, "- {name}: always {value}");
    }
    named(out, &view.lets);
    if view.constants.len() > 2 || !view.lets.is_empty() {
        out.push('\n');
    }
    steps(out, &view.steps);
    let order: Vec<String> = view
        .order
        .iter()
        .map(|k| {
            format!("{} {}", k.formula.english(), if k.descending { "(more is better)" } else { "(less is better)" })
        })
        .collect();
    let _ = writeln!(out, "\nStandings are compared by {}.", order.join(", then "));
    if let Some(winner) = &view.winner {
        let _ = writeln!(out, "Winner: {}{}.", sentence(winner, "an entrant for which "), cite(&winner.doc));
    }
}

/// One track.
pub fn explain_track(track: &Track) -> String {
    let mut out = String::new();
    let title = track.doc.title.as_deref().unwrap_or(&track.name);
    heading(&mut out, 2, &format!("Track `{}`: {title}{}", track.name, cite(&track.doc)));
    if let Some(says) = &track.doc.says {
        let _ = writeln!(out, "{}\n", says.trim());
    }
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
        let _ = writeln!(out, "Answers are judged by the plugin `{plugin}`.");
    }
    limits(&mut out, &track.limits);
    run_rules(&mut out, &track.run, &track.limits);
    for (name, (doc, check_limits)) in &track.checks {
        let _ = writeln!(out, "\nCheck `{name}`{}: {}", cite(doc), doc.says.as_deref().unwrap_or("").trim());
        limits(&mut out, check_limits);
    }
    if !track.divisions.is_empty() {
        heading(&mut out, 3, "Divisions");
        for (name, division) in &track.divisions {
            let mark = if division.experimental { " (experimental)" } else { "" };
            let logics = if division.logics.as_slice() == [name.clone()] {
                String::new()
            } else {
                format!(": {}", division.logics.join(", "))
            };
            let _ = writeln!(out, "- {name}{mark}{logics}{}", cite(&division.doc));
        }
    }
    let Some(scoring) = &track.scoring else { return out };
    heading(&mut out, 3, &format!("Scoring{}", cite(&scoring.doc)));
    if let Some(says) = &scoring.doc.says {
        let _ = writeln!(out, "{}\n", says.trim());
    }
    if !scoring.prepare.is_empty() {
        out.push_str("Before any view:\n\n");
        steps(&mut out, &scoring.prepare);
    }
    if let Some(first) = scoring.views.values().next() {
        out.push_str("\nThe score of an entrant in a group of benchmarks (by table: ");
        let tables: Vec<String> = scoring
            .tables
            .iter()
            .map(|(name, t)| {
                if t.by.is_empty() {
                    format!("`{name}`: the whole track")
                } else {
                    format!("`{name}`: {}", t.by.join(" and "))
                }
            })
            .collect();
        let _ = writeln!(out, "{}):\n", tables.join("; "));
        named(&mut out, &first.measures);
        if !first.counts.is_empty() {
            out.push_str("\nPrinted beside it:\n\n");
            named(&mut out, &first.counts);
        }
        if !first.standings.is_empty() {
            out.push_str("\nAnd, of the standings:\n\n");
            named(&mut out, &first.standings);
        }
    }
    for v in scoring.views.values() {
        view(&mut out, v);
    }
    let mut seen: Vec<&str> = Vec::new();
    for v in scoring.views.values() {
        for ranking in v.rankings.values() {
            if seen.contains(&ranking.name.as_str()) {
                continue;
            }
            seen.push(&ranking.name);
            let title = ranking.doc.title.as_deref().unwrap_or(&ranking.name);
            heading(&mut out, 4, &format!("Ranking `{}`: {title}{}", ranking.name, cite(&ranking.doc)));
            if let Some(says) = &ranking.doc.says {
                let _ = writeln!(out, "{}\n", says.trim());
            }
            let from =
                if ranking.from == "runs" { "the runs".to_string() } else { format!("the table `{}`", ranking.from) };
            let views: Vec<&str> = scoring
                .views
                .values()
                .filter(|v| v.rankings.contains_key(&ranking.name))
                .map(|v| v.name.as_str())
                .collect();
            let of = if views.len() == scoring.views.len() {
                "each view".to_string()
            } else {
                format!("the view {}", views.join(", "))
            };
            let _ = writeln!(out, "From {from} of {of}:\n");
            steps(&mut out, &ranking.steps);
            let order: Vec<String> = ranking
                .order
                .iter()
                .map(|k| {
                    format!("{} {}", k.formula.english(), if k.descending { "(more first)" } else { "(less first)" })
                })
                .collect();
            let _ = writeln!(out, "\nRows are ordered by {}. Printed are:\n", order.join(", then "));
            named(&mut out, &ranking.values);
            if let Some(winner) = &ranking.winner {
                let _ = writeln!(out, "\nWinner: {}{}.", sentence(winner, "a row for which "), cite(&winner.doc));
            }
        }
    }
    out
}

/// The whole edition, or one of its tracks.
pub fn explain(edition: &Edition, track: Option<&Track>) -> String {
    let mut out = String::new();
    let title = edition.doc.title.as_deref().unwrap_or(&edition.name);
    let _ = writeln!(out, "# {title}\n");
    if let Some(says) = &edition.doc.says {
        let _ = writeln!(out, "{}\n", says.trim());
    }
    let revision = edition.rules.revision.as_deref().map(|r| format!(", revision {r}")).unwrap_or_default();
    if !edition.rules.document.is_empty() {
        let document = &edition.rules.document;
        let _ = writeln!(out, "Rules: {document}{revision}. Citations in brackets are sections of that text.");
    }
    if let Some(track) = track {
        out.push_str(&explain_track(track));
    } else {
        if !edition.timeline.is_empty() {
            heading(&mut out, 2, "Timeline");
            for (date, what, cites) in &edition.timeline {
                let _ = writeln!(out, "- {date}: {what}{}", cite(&Doc { cite: cites.clone(), ..Doc::default() }));
            }
        }
        if let Some(says) = &edition.entrants.doc.says {
            heading(&mut out, 2, &format!("Entrants{}", cite(&edition.entrants.doc)));
            let _ = writeln!(out, "{}", says.trim());
        }
        if let Some(seed) = &edition.seed {
            heading(&mut out, 2, &format!("Seed{}", cite(&seed.doc)));
            if let Some(says) = &seed.doc.says {
                let _ = writeln!(out, "{}", says.trim());
            }
            let _ = writeln!(out, "The seed is {}.", seed.formula.english());
            if let Some(market) = &seed.market {
                let value =
                    market.opening.as_ref().map(|o| format!(" ({})", o.to_short_decimal(9))).unwrap_or_default();
                let _ = writeln!(out, "`market` is {}{value}.", market.name);
            }
        }
        for track in edition.tracks.values() {
            out.push_str(&explain_track(track));
        }
        if !edition.recognitions.is_empty() {
            heading(&mut out, 2, "Recognitions");
            for r in edition.recognitions.values() {
                let title = r.doc.title.as_deref().unwrap_or(&r.name);
                let who = r.filter.values().next().map(agon_formula::Formula::english).unwrap_or_default();
                let _ = writeln!(out, "- {title}: from `{}` of {}, where {who}{}", r.from, r.track, cite(&r.doc));
            }
        }
    }
    if !edition.deviations.is_empty() {
        heading(&mut out, 2, "Deviations: what the year's own tools did instead");
        for d in &edition.deviations {
            let on = if edition.reading.includes(&d.name) { "on" } else { "off" };
            let title = d.doc.title.as_deref().unwrap_or(&d.name);
            let _ = writeln!(
                out,
                "- `{}` ({on}): {title}{}\n  {}\n  Seen in: {}",
                d.name,
                cite(&d.doc),
                d.because.trim(),
                d.reference.trim()
            );
        }
    }
    if !edition.ledger.is_empty() && track.is_none() {
        heading(&mut out, 2, "Ledger of known differences");
        for entry in &edition.ledger {
            let _ = writeln!(out, "- `{}`: {}\n  Seen in: {}", entry.name, entry.cause.trim(), entry.reference.trim());
        }
    }
    out
}
