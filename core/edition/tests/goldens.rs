//! Texts that people read, held against committed ones: what is said about broken editions, and an edition explained.
//!
//! `AGON_BLESS=1 cargo test -p agon-edition --test goldens` writes them anew; read the difference before committing it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use agon_edition::diag::SHOWN;
use agon_edition::explain::explain;
use agon_edition::{Reading, check, load};

fn golden(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    if env::var_os("AGON_BLESS").is_some_and(|v| v == "1") {
        fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let line = expected.lines().zip(actual.lines()).take_while(|(e, a)| e == a).count();
    assert!(
        expected == actual,
        "{}, line {}: expected `{}`, found `{}`. If the new text is right, run the test with AGON_BLESS=1.",
        path.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("the end"),
        actual.lines().nth(line).unwrap_or("the end"),
    );
}

/// The broken editions, by the paths that their messages show: tests run in the folder of their package.
fn broken() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir("tests/broken")
        .expect("the broken editions can be listed")
        .map(|entry| entry.expect("a file has a name").path())
        .collect();
    files.sort();
    files
}

/// Everything that is wrong in a file is said in one go, with its place; and always in the same words.
#[test]
fn diagnostics() {
    let mut text = String::new();
    for path in broken() {
        let name = path.display().to_string();
        let _ = writeln!(text, "════ {name}\n");
        match check(&name) {
            Ok((_, diagnostics)) => {
                let (errors, warnings) = diagnostics.counts();
                assert!(errors + warnings > 0, "{name} is not broken");
                let _ = writeln!(text, "{}{errors} errors, {warnings} warnings\n", diagnostics.render(false));
            }
            Err(error) => {
                let _ = writeln!(text, "{error}\n");
            }
        }
    }
    golden("diagnostics.txt", &text);
}

/// No edition comes out of a file with an error, in any reading.
#[test]
fn broken_editions_are_refused() {
    for path in broken() {
        let name = path.display().to_string();
        let bad = check(&name).map_or(true, |(_, diagnostics)| diagnostics.has_errors());
        let loaded = [Reading::Rules, Reading::Published].map(|reading| load(&name, reading).is_ok());
        assert!(!bad || loaded != [true, true], "{name}");
    }
}

/// Places are those of the file: the line and column of a finding show the excerpt's first character.
#[test]
fn places_are_within_the_file() {
    for path in broken() {
        let Ok((_, diagnostics)) = check(&path.display().to_string()) else { continue };
        for d in diagnostics.iter() {
            assert!(d.span.start <= d.span.end && d.span.end <= d.source.text.len(), "{}", d.line());
            assert!(d.source.text.get(d.span.clone()).is_some(), "{}", d.line());
            let (line, column) = d.source.line_column(d.span.start);
            let before: String = d.source.text.lines().nth(line - 1).unwrap_or("").chars().take(column - 1).collect();
            assert_eq!(before.chars().count(), column - 1, "{}", d.line());
        }
    }
}

#[test]
fn explained() {
    let path = "../../tests/competitions/summer-cup/edition.yaml";
    let (edition, _) = load(path, Reading::Rules).expect("the edition is right");
    golden("explain-summer-cup.txt", &explain(&edition, None));
}

/// Several views, of which one has steps of its own; and deviations, marked where they stand in the place of a rule.
#[test]
fn explained_with_views_and_deviations() {
    for (reading, file) in [
        (Reading::Rules, "explained/regatta-rules.txt"),
        (Reading::Published, "explained/regatta-published.txt"),
        (Reading::With(["guests".to_string()].into()), "explained/regatta-guests.txt"),
    ] {
        let (edition, _) = load("tests/explained/regatta.yaml", reading.clone()).expect("the edition is right");
        let text = explain(&edition, None);
        for deviation in &edition.deviations {
            let marked = text.contains(&format!("(deviation: {})", deviation.name));
            assert_eq!(marked, reading.includes(&deviation.name), "{}", deviation.name);
        }
        assert!(!text.contains("for which true"), "{text}");
        golden(file, &text);
    }
}

/// A file with thousands of mistakes is answered like any other: the time does not grow with their square, and what is
/// printed ends with a line that counts the rest.
#[test]
fn thousands_of_mistakes() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("edition.yaml");
    let many = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<String>();
    let track = "edition: edition\ntracks:\n  main:\n    plugin: single-query\n    scoring:\n";
    for (text, expected) in [
        (format!("edition: edition\n{}", many(&|i| format!("wrong{i}: 1\n"))), 20_000),
        (format!("edition: edition\n{}", many(&|i| format!("twice{}: 1\n", i / 2))), 20_000),
        (format!("edition: edition\ntracks:\n{}", many(&|i| format!("  t{i}: {{ like: nobody{i} }}\n"))), 20_000),
        (
            format!(
                "{track}      measures:\n{}      order: [m1 asc]\n      views: {{ v: {{}} }}\n",
                many(&|i| format!("        m{i}: count(answr{i})\n"))
            ),
            20_000,
        ),
    ] {
        fs::write(&path, text).expect("the edition can be written");
        let (_, diagnostics) = check(&path.display().to_string()).expect("the file can be read");
        let (errors, warnings) = diagnostics.counts();
        assert!((expected..=expected + expected / 2).contains(&errors), "{errors} errors");
        let text = diagnostics.render(false);
        assert!(text.len() < 200_000, "{} bytes", text.len());
        let rest = text.trim_end().lines().last().unwrap_or_default();
        assert_eq!(rest, format!("… and {} more errors", errors - SHOWN), "{warnings} warnings");
    }
}

/// Brackets beyond the depth that an edition can have are refused at once, however many there are.
#[test]
fn deep_nesting() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("edition.yaml");
    for open in ["[", "{ a: ", "[\n  ", "[a, ", "- ", "? "] {
        let lead = if open.len() == 2 { "edition: e\ncoverage:\n  " } else { "edition: e\ncoverage: " };
        fs::write(&path, format!("{lead}{}", open.repeat(500_000))).expect("the edition can be written");
        let (_, diagnostics) = check(&path.display().to_string()).expect("the file can be read");
        let found: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, [if open == "? " { "yaml/key" } else { "yaml/depth" }], "{open:?}");
        assert!(diagnostics.render(false).len() < 2000, "{open:?}");
    }
}

/// Editions that build on each other in a row are no circle, however long the row; a row without end is refused.
#[test]
fn long_rows() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = |n: usize| folder.path().join(format!("e{n}.yaml"));
    fs::write(file(0), "edition: e0\ntracks: { t0: { plugin: sat } }\n").expect("the edition can be written");
    for n in 1..=100 {
        let text = format!("edition: e{n}\nextends: e{}.yaml\ntracks: {{ t{n}: {{ like: t{} }} }}\n", n - 1, n - 1);
        fs::write(file(n), text).expect("the edition can be written");
    }
    let found = |n: usize| {
        let (edition, diagnostics) = check(&file(n).display().to_string()).expect("the file can be read");
        (edition.map(|e| e.tracks.len()), diagnostics.iter().map(|d| d.code).collect::<Vec<_>>())
    };
    assert_eq!(found(40), (Some(41), vec!["edition/nothing-to-score"]));
    assert_eq!(found(100), (None, vec!["edition/too-long"]));
    let rows = |n: usize| (1..n).map(|i| format!("  t{i}: {{ like: t{} }}\n", i - 1)).collect::<String>();
    let like = |n: usize| {
        let text = format!("edition: like\ntracks:\n  t0: {{ plugin: sat }}\n{}", rows(n));
        let path = folder.path().join("like.yaml");
        fs::write(&path, text).expect("the edition can be written");
        let (_, diagnostics) = check(&path.display().to_string()).expect("the file can be read");
        diagnostics.iter().map(|d| d.code).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(like(64), ["edition/nothing-to-score"].into());
    assert_eq!(like(66), ["edition/too-long"].into());
    assert_eq!(like(10_000), ["edition/too-long"].into());
}
