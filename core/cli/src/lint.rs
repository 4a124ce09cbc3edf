//! `agon bench lint`: whether scripts are what a track asks for.

use std::fmt::Write as _;
use std::path::PathBuf;

use agon_edition::Reading;
use agon_edition::model::ScriptRule;
use agon_smtlib::Version;
use agon_smtlib::lint::{Finding, Place, Rule, TermRule, lint};
use anyhow::{Context as _, anyhow, bail};
use rayon::prelude::*;
use serde_json::json;

use crate::args::Format;
use crate::compete::track_of;
use crate::edition::open;
use crate::known::Plugins;
use crate::{Outcome, bench, print};

/// What is asked of scripts, and where the rules say it.
struct Language {
    version: Option<Version>,
    rules: Vec<Rule>,
    /// Of the rules, in their order; and of the language as a whole.
    cites: Vec<String>,
    cite: String,
}

pub fn run(
    paths: &[PathBuf],
    track: Option<(&str, &str)>,
    plugins: &Plugins<'_>,
    format: Format,
) -> anyhow::Result<Outcome> {
    let language = match track {
        Some((edition, track)) => of_track(edition, track, plugins)?,
        None => standard(),
    };
    let files = bench::scripts(paths)?;
    let bar = bench::progress(files.len(), "lint");
    let found: Vec<(PathBuf, Vec<Finding>)> = files
        .into_par_iter()
        .map(|path| {
            let text = std::fs::read(&path)
                .with_context(|| format!("{} cannot be read; allow it, or move it elsewhere", path.display()))?;
            bar.inc(1);
            Ok((path, lint(&text, language.version, &language.rules)))
        })
        .collect::<anyhow::Result<_>>()?;
    bar.finish_and_clear();
    print::out(&written(&found, &language, format)?);
    let refused = found.iter().filter(|(_, findings)| !findings.is_empty()).count();
    if refused == 0 {
        return Ok(Outcome::Done);
    }
    print::err(&format!("{refused} of {} scripts are refused\n", found.len()));
    Ok(Outcome::Short)
}

/// What is asked of any script.
fn standard() -> Language {
    let rules = [("logic", TermRule::InLogic), ("declarations", TermRule::Declared)];
    let rules = rules.map(|(name, terms)| Rule { name: name.into(), terms: Some(terms), ..Rule::default() });
    Language { version: None, rules: rules.into(), cites: vec![String::new(); 2], cite: String::new() }
}

fn of_track(edition: &str, name: &str, plugins: &Plugins<'_>) -> anyhow::Result<Language> {
    let (edition, _) = open(edition, Reading::Rules, plugins)?;
    let track = track_of(&edition, name)?;
    let Some(scripts) = &track.scripts else {
        bail!(
            "the edition {} does not say what the scripts of the track {name} are; add `scripts:` to the track",
            edition.name
        );
    };
    let version = match scripts.version.as_deref() {
        Some("2.0") => Some(Version::V2_0),
        Some("2.5") => Some(Version::V2_5),
        Some("2.6") => Some(Version::V2_6),
        Some("2.7") => Some(Version::V2_7),
        _ => None,
    };
    Ok(Language {
        version,
        rules: scripts.rules.iter().map(|(name, rule)| rule_of(name, rule)).collect(),
        cites: scripts.rules.values().map(|r| r.doc.cite.join(", ")).collect(),
        cite: scripts.doc.cite.join(", "),
    })
}

fn rule_of(name: &str, rule: &ScriptRule) -> Rule {
    Rule {
        name: name.to_string(),
        only: rule.only.clone(),
        commands: rule.commands.clone(),
        beginning: rule.beginning.clone(),
        exactly: rule.exactly,
        at_least: rule.at_least,
        at_most: rule.at_most,
        arguments: rule.arguments.clone(),
        place: match rule.place.as_deref() {
            Some("first") => Some(Place::First),
            Some("second") => Some(Place::Second),
            Some("last") => Some(Place::Last),
            _ => None,
        },
        only_behind: rule.only_behind.clone(),
        after: rule.after.clone(),
        not_after: rule.not_after.clone(),
        followed_by: rule.followed_by.clone(),
        arity: rule.arity,
        needs_datatypes: rule.needs_datatypes,
        terms: match rule.terms.as_deref() {
            Some("in-logic") => Some(TermRule::InLogic),
            Some("declared") => Some(TermRule::Declared),
            Some("unnamed") => Some(TermRule::Unnamed),
            Some("named-assertions") => Some(TermRule::NamedAssertions),
            _ => None,
        },
    }
}

fn written(found: &[(PathBuf, Vec<Finding>)], language: &Language, format: Format) -> anyhow::Result<String> {
    let cite = |finding: &Finding| match &finding.rule {
        Some(rule) => {
            let at = language.rules.iter().position(|r| r.name == *rule);
            at.map_or("", |at| language.cites[at].as_str())
        }
        None => &language.cite,
    };
    let rows = found.iter().flat_map(|(path, findings)| findings.iter().map(move |f| (path, f)));
    Ok(match format {
        Format::Table => {
            let mut out = String::new();
            for (path, finding) in rows {
                let place = finding.problem.position;
                let rule = finding.rule.as_deref().unwrap_or(finding.problem.class.word());
                let cite = cite(finding);
                let by = if cite.is_empty() { rule.to_string() } else { format!("{rule}, {cite}") };
                let path: String =
                    path.display().to_string().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
                let _ = writeln!(out, "{path}:{}:{}: {} [{by}]", place.line, place.column, finding.problem.message);
            }
            out
        }
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["path", "line", "column", "class", "rule", "cite", "message"])?;
            for (path, finding) in rows {
                let place = finding.problem.position;
                writer.write_record([
                    &path.display().to_string(),
                    &place.line.to_string(),
                    &place.column.to_string(),
                    finding.problem.class.word(),
                    finding.rule.as_deref().unwrap_or_default(),
                    cite(finding),
                    &finding.problem.message,
                ])?;
            }
            String::from_utf8(writer.into_inner().map_err(|e| anyhow!("{e}"))?)?
        }
        Format::Json => {
            let rows: Vec<_> = rows
                .map(|(path, finding)| {
                    json!({
                        "path": path.display().to_string(),
                        "line": finding.problem.position.line,
                        "column": finding.problem.position.column,
                        "class": finding.problem.class.word(),
                        "rule": finding.rule,
                        "cite": cite(finding),
                        "message": finding.problem.message,
                    })
                })
                .collect();
            format!("{}\n", serde_json::to_string_pretty(&rows)?)
        }
    })
}
