//! The shipped editions and those of the test competitions: they check clean in every reading, leave no section of
//! their rules unlisted, and say what the archived rules and tables say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agon_edition::coverage::{Coverage, coverage};
use agon_edition::{Edition, Reading, check, load, shipped_editions};
use agon_tests::{agon, archive, test_editions};
use regex::Regex;

fn all() -> Vec<String> {
    let shipped = shipped_editions().map(|(name, _)| name.to_string());
    shipped.chain(test_editions().iter().map(|path| path.display().to_string())).collect()
}

fn by_rules(name: &str) -> Edition {
    load(name, Reading::Rules).expect("a shipped edition can be loaded").0
}

/// By the rules, as published, and with each deviation alone.
#[test]
fn every_reading_is_clean() {
    for name in all() {
        let (edition, diagnostics) = check(&name).expect("the edition can be read");
        assert!(diagnostics.is_empty(), "{name}:\n{}", diagnostics.render(false));
        let edition = edition.expect("an edition without errors is returned");
        for reading in [Reading::Rules, Reading::Published] {
            assert!(load(&name, reading.clone()).is_ok(), "{name}, {reading:?}");
        }
        for deviation in &edition.deviations {
            let reading = Reading::With([deviation.name.clone()].into());
            assert!(load(&name, reading).is_ok(), "{name}, {}", deviation.name);
        }
    }
}

/// All deviations but one: the engine switches single ones off, too.
#[test]
fn every_deviation_can_be_left_out() {
    for (name, _) in shipped_editions() {
        let deviations: BTreeSet<String> = by_rules(name).deviations.iter().map(|d| d.name.clone()).collect();
        for left_out in &deviations {
            let others = deviations.iter().filter(|d| *d != left_out).cloned().collect();
            let loaded = load(name, Reading::With(others));
            assert!(loaded.is_ok(), "{name} without {left_out}: {:?}", loaded.err());
        }
    }
}

#[test]
fn no_section_is_unlisted() {
    for name in all() {
        for (section, heading, what) in coverage(&by_rules(&name)) {
            assert_ne!(what, Coverage::Unlisted, "{name}: {section} {heading}");
        }
    }
    for (name, _) in shipped_editions() {
        assert!(!coverage(&by_rules(name)).is_empty(), "{name} lists the sections of its rules");
    }
}

/// What is said to be not modelled must not be cited all the same: one of the two would be wrong.
#[test]
fn coverage_does_not_contradict_itself() {
    for name in all() {
        let edition = by_rules(&name);
        for (section, _, what) in coverage(&edition) {
            let both = matches!(what, Coverage::Cited(_)) && edition.coverage.contains_key(&section);
            assert!(!both, "{name}: {section} is cited, and listed under `coverage`");
        }
    }
}

/// Merged with what it extends and laid under its deviations, an edition is an edition again.
#[test]
fn shown_editions_can_be_read() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for name in all() {
        for reading in ["rules", "published"] {
            let text = agon(&["edition", "show", &name, "--as", reading]).success();
            let path = folder.path().join("edition.yaml");
            fs::write(&path, text).expect("the text can be written");
            let (_, diagnostics) = check(&path.display().to_string()).expect("the text can be read");
            assert!(!diagnostics.has_errors(), "{name}, {reading}:\n{}", diagnostics.render(false));
        }
    }
}

#[test]
fn listed_and_explained() {
    let list = agon(&["edition", "list", "--format", "json"]).success();
    for (name, _) in shipped_editions() {
        assert!(list.contains(&format!("\"{name}\"")), "{name}: {list}");
        let text = agon(&["edition", "explain", name]).success();
        for track in by_rules(name).tracks.keys() {
            assert!(text.contains(&format!("## Track `{track}`")), "{name}: {track}");
        }
        let covered = agon(&["edition", "coverage", name]).success();
        assert!(covered.trim_end().ends_with(", 0 unlisted"), "{name}: {covered}");
    }
}

/// Whatever a deviation puts in the place of a rule is marked with its name.
#[test]
fn deviations_are_marked() {
    for (name, _) in shipped_editions() {
        let published = agon(&["edition", "explain", name, "--as", "published"]).success();
        let rules = agon(&["edition", "explain", name]).success();
        for deviation in by_rules(name).deviations {
            let mark = format!("(deviation: {})", deviation.name);
            assert!(published.contains(&mark) && !rules.contains(&mark), "{name}: {}", deviation.name);
        }
        assert!(!published.contains("for which true") && !rules.contains("for which true"), "{name}");
    }
}

/// The numbered headings of a rules text: number and heading.
fn headings(text: &str) -> BTreeMap<String, String> {
    let pattern = Regex::new(r"(?m)^([1-9](?:\.[0-9]+)*) (\**)([A-Z0-9].*?)\**$").expect("the pattern is one");
    pattern.captures_iter(text).map(|c| (format!("§{}", &c[1]), c[3].to_string())).collect()
}

/// The headings of a rules text that numbers none: short lines of their own after the first, which is the title. One that
/// is a sentence or a formula ends in a mark or has one inside.
fn unnumbered_headings(text: &str) -> BTreeMap<String, String> {
    let pattern = Regex::new(r"^[A-Z][A-Za-z ]{2,39}$").expect("the pattern is one");
    let lines = text.lines().skip(1).filter(|line| pattern.is_match(line));
    lines.map(|line| (format!("§{line}"), line.to_string())).collect()
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn numbered_sections_are_those_of_the_text() {
    let numbered = Regex::new(r"^§[0-9.]+$").expect("the pattern is one");
    for (name, _) in shipped_editions() {
        let file = archive().join("rules").join(format!("{name}-rules.txt"));
        let text = fs::read_to_string(&file).expect("the archive has the rules of every shipped edition");
        let mut found = headings(&text);
        if found.is_empty() {
            found = unnumbered_headings(&text);
            let listed: BTreeMap<String, String> = by_rules(name).rules.sections.into_iter().collect();
            assert_eq!(listed, found, "{name}");
            continue;
        }
        assert!(found.len() > 10, "{name}: only {} headings found in {}", found.len(), file.display());
        let listed: BTreeMap<String, String> =
            by_rules(name).rules.sections.into_iter().filter(|(section, _)| numbered.is_match(section)).collect();
        assert_eq!(listed, found, "{name}");
    }
}

/// Sections without a number are named after the paragraph that they are: it begins with these words, in the section
/// that they say.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn paragraphs_are_those_of_the_text() {
    let number = Regex::new(r"^([1-9](?:\.[0-9]+)*) \**[A-Z0-9]").expect("the pattern is one");
    let named = Regex::new(r"^(§[0-9.]+) (.+)$").expect("the pattern is one");
    for (name, _) in shipped_editions() {
        let file = archive().join("rules").join(format!("{name}-rules.txt"));
        let text = fs::read_to_string(&file).expect("the archive has the rules of every shipped edition");
        // The beginnings of lines, by section; bold face and list marks are the text file's. A paragraph that the file
        // runs on in the line of another is in bold face.
        let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut section = String::new();
        for line in text.lines() {
            if let Some(found) = number.captures(line) {
                section = format!("§{}", &found[1]);
            }
            let begins = line.trim_start_matches(['-', '*', ' ', '#', '•']);
            let parts = std::iter::once(begins).chain(line.split(". **").skip(1));
            lines.entry(section.clone()).or_default().extend(parts.map(|part| part.replace('*', "")));
        }
        for listed in by_rules(name).rules.sections.keys() {
            let Some(parts) = named.captures(listed) else { continue };
            let there = lines.get(&parts[1]).is_some_and(|lines| lines.iter().any(|l| l.starts_with(&parts[2])));
            assert!(there, "{name}: no paragraph of {} begins with `{}`", &parts[1], &parts[2]);
        }
    }
}

/// Track, division and logic, one triple a row.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn divisions_of_2022() {
    let file = archive().join("archive/smt-comp-2022/divisions.csv");
    let mut archived: BTreeSet<(String, String, String)> = BTreeSet::new();
    let mut reader = csv::Reader::from_path(&file).expect("the archive has the divisions");
    for row in reader.records() {
        let row = row.expect("the file is CSV");
        archived.insert((row[0].into(), row[1].into(), row[2].into()));
    }
    let edition = by_rules("smt-comp-2022");
    let tracks: BTreeSet<&String> = archived.iter().map(|(track, ..)| track).collect();
    assert_eq!(tracks, edition.tracks.keys().collect(), "the tracks");
    for (track, rules) in &edition.tracks {
        let ours: BTreeSet<(String, String, String)> = rules
            .divisions
            .iter()
            .flat_map(|(name, d)| d.logics.iter().map(|logic| (track.clone(), name.clone(), logic.clone())))
            .collect();
        let theirs: BTreeSet<(String, String, String)> =
            archived.iter().filter(|(t, ..)| t == track).cloned().collect();
        let missing: Vec<_> = theirs.difference(&ours).collect();
        let further: Vec<_> = ours.difference(&theirs).collect();
        assert!(missing.is_empty() && further.is_empty(), "{track}: missing {missing:?}, further {further:?}");
    }
}

/// Every published figure of 2014 is about a division of the edition. The archive leaves some divisions out, so that
/// the edition may have more.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn divisions_of_2014() {
    let edition = by_rules("smt-comp-2014");
    for file in ["published.csv", "published-divisions.csv"] {
        let file = archive().join("archive/smt-comp-2014").join(file);
        let mut reader = csv::Reader::from_path(&file).expect("the archive has the figures");
        for row in reader.records() {
            let row = row.expect("the file is CSV");
            let known = edition.tracks.get(&row[1]).is_some_and(|track| track.divisions.contains_key(&row[2]));
            assert!(known, "{}: {} {}", file.display(), &row[1], &row[2]);
        }
    }
}
