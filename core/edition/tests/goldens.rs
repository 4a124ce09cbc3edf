//! Texts that people read, held against committed ones: what is said about broken editions, and an edition explained.
//!
//! `AGON_BLESS=1 cargo test -p agon-edition --test goldens` writes them anew; read the difference before committing it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

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
