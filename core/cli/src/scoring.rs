//! `agon seed`, `score` and `verify`.

use std::fmt::Write as _;

use agon_edition::{Edition, Reading};
use agon_score::adjudication::Adjudication;
use agon_score::engine::{self, Selection, TrackScores};
use agon_score::input::{EntrantList, entrant_table_of, read_forms, runs_of};
use agon_score::output::{self, Filter, Row};
use agon_score::verify::{Report, Wanted, explain_by_deviations, verify as compare};
use agon_select::seed::{SeedError, seed as compute_seed};
use anyhow::{anyhow, bail};
use serde_json::json;

use crate::Outcome;
use crate::args::{As, Format, InputArgs, ScoreArgs, SeedArgs, VerifyArgs};
use crate::edition::{open, plain, reading};
use crate::entrants;
use crate::print;

pub fn seed(args: &SeedArgs) -> anyhow::Result<Outcome> {
    let (edition, _) = open(&args.edition, plain(args.reading))?;
    let rule = edition.seed.as_ref().ok_or_else(|| SeedError::NoRule(edition.name.clone()))?;
    let table = match &args.entrants {
        Some(file) if entrants::is_entrants_file(file) => {
            entrant_table_of(&edition, &entrants::for_seed(&edition, file)?)?
        }
        Some(file) => {
            let mut tables = read_forms(std::slice::from_ref(file), &edition.entrants.forms)?;
            let (_, table) = tables.pop().ok_or_else(|| anyhow!("{} has no entrants", file.display()))?;
            table
        }
        None => agon_score::input::entrant_table(&edition)?,
    };
    let explained = compute_seed(rule, &table, args.market.as_deref())?;
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
    print::out(&out);
    Ok(Outcome::Done)
}

struct Scored {
    edition: Edition,
    scores: Vec<TrackScores>,
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

/// Everything from the files to the scores. `wanted` overrides which tables are computed.
fn scored(args: &InputArgs, reading: Reading, wanted: &Selection, quiet: bool) -> anyhow::Result<Scored> {
    let (edition, _) = open(&args.edition, reading)?;
    if let Some(track) = &args.track
        && !edition.tracks.contains_key(track)
    {
        let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
        bail!("the edition {} has no track `{track}` (it has: {})", edition.name, known.join(", "));
    }
    let entrants = match &args.solvers {
        Some(file) if entrants::is_entrants_file(file) => entrants::for_scores(&edition, file)?,
        Some(file) => EntrantList::read(&edition, file)?,
        None => EntrantList::of_edition(&edition),
    };
    let adjudication = args.adjudication.as_deref().map(Adjudication::read).transpose()?;
    if let Some(a) = &adjudication
        && a.adjudication != edition.name
    {
        bail!("the adjudication is about the edition {}, not {}", a.adjudication, edition.name);
    }
    for decision in adjudication.iter().flat_map(|a| &a.decisions) {
        if let Some(track) = decision.track.as_ref().filter(|t| !edition.tracks.contains_key(*t)) {
            let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
            bail!(
                "a decision of {} is about the track `{track}`, which the edition does not have (it has: {})",
                decision.date,
                known.join(", ")
            );
        }
    }
    check_names(&edition, args)?;
    let mut scores = Vec::new();
    for track in runs_of(&edition, &args.results, &entrants, adjudication.as_ref(), args.track.as_deref())? {
        if args.track.as_ref().is_some_and(|t| *t != track.track) {
            continue;
        }
        if quiet {
            // The same was said for the other reading.
        } else if !track.effect.statuses.is_empty()
            || !track.effect.removed.is_empty()
            || !track.effect.entrants.is_empty()
        {
            let e = &track.effect;
            print::err(&format!(
                "adjudication, track {}: {} statuses changed, {} benchmarks removed, {} entrants disqualified or withdrawn\n",
                track.track,
                e.statuses.len(),
                e.removed.len(),
                e.entrants.len()
            ));
        }
        scores.push(engine::score(&edition, &track, wanted)?);
    }
    if scores.is_empty() {
        let what = args.track.as_ref().map_or("any track".into(), |t| format!("the track {t}"));
        bail!("the given files hold no results of {what} of the edition {}", edition.name);
    }
    Ok(Scored { edition, scores })
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
    }
    Ok(())
}

pub fn score(args: &ScoreArgs) -> anyhow::Result<Outcome> {
    let input = &args.input;
    if let Some(output) = &args.output {
        print::not_an_input(output, input.results.iter().chain(&input.solvers).chain(&input.adjudication))?;
    }
    let scored = scored(input, reading(&input.reading, &input.edition)?, &selection(input), false)?;
    // Left out counts matter where counts are printed.
    let mut notes: Vec<&String> = scored.scores.iter().flat_map(|t| t.views.iter().flat_map(|v| &v.notes)).collect();
    notes.sort();
    notes.dedup();
    if scored.scores.iter().all(|t| t.views.iter().all(|v| v.tables.is_empty())) {
        notes.clear();
    }
    for note in notes {
        print::err(&format!("note: {note}\n"));
    }
    let filter = Filter { division: input.division.clone(), logic: input.logic.clone() };
    let recognitions = input.table.iter().any(|t| t == "recognitions");
    let mut rows: Vec<Row> = Vec::new();
    if !recognitions || input.table.len() > 1 {
        rows = output::rows(&scored.scores, &filter)?;
        if recognitions && !input.table.iter().any(|t| t == "all") {
            rows.retain(|r| input.table.contains(&r.table));
        }
    }
    if recognitions {
        rows.extend(output::recognitions(&scored.edition, &scored.scores)?);
    }
    if rows.is_empty() {
        print::err(
            "note: nothing is left to print: no standing has this combination of track, table, view, division and logic\n",
        );
    }
    let name = &scored.edition.name;
    let text = match args.format {
        Format::Csv => output::csv(name, &rows),
        Format::Json => output::json(name, &rows),
        Format::Table => {
            let title = scored.edition.doc.title.as_deref().unwrap_or(name);
            let how = match scored.edition.reading {
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
    let reading = reading(&input.reading, &input.edition)?;
    let by_rules = input.reading.reading == As::Rules;
    let main = scored(input, reading, &everything, false)?;
    let mut report = compare(&main.edition, &main.scores, &args.published, &wanted)?;
    if by_rules && report.differences.iter().any(|d| d.explained.is_none()) {
        // What vanishes when the deviations are on is explained by them: that is what they say.
        let other = scored(input, Reading::Published, &everything, true)?;
        let published = compare(&other.edition, &other.scores, &args.published, &wanted)?;
        explain_by_deviations(&mut report, &published);
    }
    print::out(&describe(&report, &main.edition, args.format)?);
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
                    d.column,
                    quote(&d.published),
                    quote(d.computed.as_deref().unwrap_or("")),
                    d.explained.as_deref().unwrap_or("")
                );
            }
        }
        Format::Table => {
            for d in &report.differences {
                let key: Vec<&str> = d.key.values().map(String::as_str).filter(|v| !v.is_empty()).collect();
                let computed = d.computed.as_deref().unwrap_or("no such standing");
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
                let cause = edition.ledger.iter().find(|e| e.name == name).map_or(
                    "equal to the published figure when the edition's deviations are on (--as published)",
                    |e| e.cause.trim(),
                );
                let _ = writeln!(out, "{count} explained by {name}: {cause}");
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
