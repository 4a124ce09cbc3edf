//! `agon edition`: list, show, check, explain, coverage, schema.

use std::fmt::Write as _;

use agon_edition::coverage::{Coverage, coverage};
use agon_edition::diag::{Diagnostics, closest};
use agon_edition::{Edition, LoadError, Reading, check_with, explain, json_schema, load_with, shipped_editions};
use anyhow::{anyhow, bail};
use serde_json::json;

use crate::Outcome;
use crate::args::{As, EditionCommand, Format, PlaceArgs, ReadingArgs};
use crate::known::Plugins;
use crate::print;

/// The reading that was asked for, with single deviations switched.
pub fn reading(args: &ReadingArgs, edition: &str, plugins: &Plugins<'_>) -> anyhow::Result<Reading> {
    if args.deviation.is_empty() {
        return Ok(plain(args.reading));
    }
    // Its warnings are printed when it is opened in the reading that was asked for.
    let all = match load_with(edition, Reading::Rules, &plugins.known()) {
        Ok((all, _)) => all,
        Err(_) => open(edition, Reading::Rules, plugins)?.0,
    };
    let known: Vec<&str> = all.deviations.iter().map(|d| d.name.as_str()).collect();
    if let Some(unknown) = args.deviation.iter().find(|d| !known.contains(&d.as_str())) {
        let hint =
            closest(unknown, known.iter().copied()).map(|n| format!(". Did you mean `{n}`?")).unwrap_or_default();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        bail!("the edition {edition} has no deviation `{unknown}` (it has: {known}){hint}");
    }
    let switched = |name: &str| args.deviation.iter().any(|d| d == name);
    let names = match args.reading {
        As::Rules => known.iter().copied().filter(|n| switched(n)).map(str::to_string).collect(),
        As::Published => known.iter().copied().filter(|n| !switched(n)).map(str::to_string).collect(),
    };
    Ok(Reading::With(names))
}

/// A reading without switches.
pub fn plain(reading: As) -> Reading {
    match reading {
        As::Rules => Reading::Rules,
        As::Published => Reading::Published,
    }
}

/// Loads an edition; its warnings go to standard error, its errors are the error.
pub fn open(name: &str, reading: Reading, plugins: &Plugins<'_>) -> anyhow::Result<(Edition, Diagnostics)> {
    match load_with(name, reading, &plugins.known()) {
        Ok((edition, warnings)) => {
            print::styled(&warnings.render(print::colour_err()));
            Ok((edition, warnings))
        }
        Err(LoadError::Invalid(diagnostics)) => {
            print::styled(&diagnostics.render(print::colour_err()));
            let (errors, _) = diagnostics.counts();
            Err(anyhow!("the edition {name} has {errors} {}; correct the places shown above", plural(errors, "error")))
        }
        Err(other) => Err(other.into()),
    }
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { word.into() } else { format!("{word}s") }
}

pub fn run(command: EditionCommand) -> anyhow::Result<Outcome> {
    match command {
        EditionCommand::List { format } => list(format),
        EditionCommand::Show { edition, reading, places } => {
            let plugins = Plugins::new(&places);
            let (edition, _) = open(&edition, self::reading(&reading, &edition, &plugins)?, &plugins)?;
            print::out(&agon_edition::show(&edition)?);
            Ok(Outcome::Done)
        }
        EditionCommand::Check { editions, short, places } => check_all(&editions, short, &Plugins::new(&places)),
        EditionCommand::Explain { edition, track, reading, places } => {
            let plugins = Plugins::new(&places);
            let (edition, _) = open(&edition, self::reading(&reading, &edition, &plugins)?, &plugins)?;
            let track = match &track {
                None => None,
                Some(name) => Some(edition.tracks.get(name).ok_or_else(|| {
                    let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
                    anyhow!("the edition {} has no track `{name}` (it has: {})", edition.name, known.join(", "))
                })?),
            };
            print::say(&explain::explain(&edition, track));
            Ok(Outcome::Done)
        }
        EditionCommand::Coverage { edition, places, format } => cover(&edition, format, &Plugins::new(&places)),
        EditionCommand::Schema => {
            print::out(&format!("{}\n", serde_json::to_string_pretty(&json_schema())?));
            Ok(Outcome::Done)
        }
    }
}

fn list(format: Format) -> anyhow::Result<Outcome> {
    let mut rows = Vec::new();
    let places = PlaceArgs::default();
    for (name, _) in shipped_editions() {
        let (edition, _) = open(name, Reading::Rules, &Plugins::new(&places))?;
        let tracks: Vec<String> = edition.tracks.keys().cloned().collect();
        rows.push((name, edition.doc.title.unwrap_or_default(), tracks));
    }
    match format {
        Format::Json => {
            let list: Vec<_> = rows.iter().map(|(n, t, k)| json!({"edition": n, "title": t, "tracks": k})).collect();
            print::out(&format!("{}\n", serde_json::to_string_pretty(&list)?));
        }
        Format::Csv => {
            let mut out = String::from("edition,title,tracks\n");
            for (name, title, tracks) in rows {
                let _ = writeln!(out, "{name},\"{}\",{}", title.replace('"', "\"\""), tracks.join(" "));
            }
            print::out(&out);
        }
        Format::Table => {
            let mut out = String::new();
            for (name, title, tracks) in rows {
                let _ = writeln!(out, "{name}  {title}\n  tracks: {}", tracks.join(", "));
            }
            print::say(&out);
        }
    }
    Ok(Outcome::Done)
}

fn check_all(editions: &[String], short: bool, plugins: &Plugins<'_>) -> anyhow::Result<Outcome> {
    let (mut bad, mut unreadable) = (0, 0);
    for name in editions {
        match check_with(name, &plugins.known()) {
            Ok((edition, diagnostics)) => {
                if short {
                    // Who wants one line a finding reads them with a program: all are there.
                    for d in diagnostics.iter() {
                        print::err(&format!("{}\n", d.line()));
                    }
                } else {
                    print::styled(&diagnostics.render(print::colour_err()));
                }
                let (errors, warnings) = diagnostics.counts();
                if errors > 0 {
                    bad += 1;
                    print::say(&format!(
                        "{name}: {errors} {}, {warnings} {}\n",
                        plural(errors, "error"),
                        plural(warnings, "warning")
                    ));
                } else if let Some(edition) = edition {
                    let views: usize =
                        edition.tracks.values().filter_map(|t| t.scoring.as_ref()).map(|s| s.views.len()).sum();
                    print::say(&format!(
                        "{name}: good ({} {}, {views} {}, {} {}, {warnings} {})\n",
                        edition.tracks.len(),
                        plural(edition.tracks.len(), "track"),
                        plural(views, "view"),
                        edition.deviations.len(),
                        plural(edition.deviations.len(), "deviation"),
                        plural(warnings, "warning"),
                    ));
                }
            }
            Err(error) => {
                unreadable += 1;
                print::error(&error.into());
            }
        }
    }
    if unreadable > 0 {
        bail!("{unreadable} of {} files cannot be read as an edition", editions.len());
    }
    Ok(if bad == 0 { Outcome::Done } else { Outcome::Short })
}

fn cover(name: &str, format: Format, plugins: &Plugins<'_>) -> anyhow::Result<Outcome> {
    let (edition, _) = open(name, Reading::Rules, plugins)?;
    let rows = coverage(&edition);
    if rows.is_empty() {
        bail!("the edition {name} lists no sections; add the rules text's headings under `rules.sections`");
    }
    let state = |c: &Coverage| match c {
        Coverage::Cited(elements) => ("cited", elements.join(" ")),
        Coverage::NotModelled(reason) => ("not modelled", reason.trim().to_string()),
        Coverage::Unlisted => ("unlisted", "cite it from an element, or say under `coverage` why not".to_string()),
    };
    let unlisted = rows.iter().filter(|(_, _, c)| *c == Coverage::Unlisted).count();
    let mut out = String::new();
    match format {
        Format::Json => {
            let list: Vec<_> = rows
                .iter()
                .map(|(section, heading, c)| {
                    let (state, detail) = state(c);
                    json!({"section": section, "heading": heading, "state": state, "detail": detail})
                })
                .collect();
            let _ = writeln!(out, "{}", serde_json::to_string_pretty(&list)?);
        }
        Format::Csv => {
            out.push_str("section,heading,state,detail\n");
            for (section, heading, c) in &rows {
                let (state, detail) = state(c);
                let quote = |t: &str| format!("\"{}\"", t.replace('"', "\"\""));
                let _ = writeln!(out, "{},{},{state},{}", quote(section), quote(heading), quote(&detail));
            }
        }
        Format::Table => {
            for (section, heading, c) in &rows {
                let (state, detail) = state(c);
                // The paragraphs of a section are named by their own heading.
                let title =
                    if section.ends_with(heading.as_str()) { section.clone() } else { format!("{section} {heading}") };
                let _ = writeln!(out, "{title}\n    {state}: {detail}");
            }
            let _ = writeln!(out, "\n{} sections, {unlisted} unlisted", rows.len());
        }
    }
    if format == Format::Table {
        print::say(&out);
    } else {
        print::out(&out);
    }
    Ok(if unlisted == 0 { Outcome::Done } else { Outcome::Short })
}
