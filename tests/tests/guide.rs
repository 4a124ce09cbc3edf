//! What `editions/README.md` shows is what the command does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agon_tests::{agon, workspace};
use regex::Regex;

fn guide() -> String {
    fs::read_to_string(workspace().join("editions/README.md")).expect("the guide can be read")
}

/// The first fenced block of a language that contains some text.
fn block<'a>(guide: &'a str, language: &str, holds: &str) -> &'a str {
    let opening = format!("```{language}\n");
    let blocks = guide.split(opening.as_str()).skip(1);
    let mut bodies = blocks.filter_map(|rest| rest.split("```").next());
    bodies.find(|body| body.contains(holds)).unwrap_or_else(|| panic!("the guide has a block with {holds}"))
}

/// Writes the guide's first edition, the one laid on it, and its results into a folder.
fn write_example(folder: &Path) {
    let guide = guide();
    for (language, holds, file) in [
        ("yaml", "edition: village-cup\n", "village-cup.yaml"),
        ("yaml", "edition: village-cup-2\n", "village-cup-2.yaml"),
        ("csv", "Ada,QF_LIA", "runs.csv"),
    ] {
        fs::write(folder.join(file), block(&guide, language, holds)).expect("the example can be written");
    }
}

#[test]
fn first_edition() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    write_example(folder.path());
    let path = |file: &str| folder.path().join(file).display().to_string();
    let shown = guide();
    let session = block(&shown, "", "$ agon edition check");
    let (_, check) = session.split_once('\n').expect("the session has an answer");
    let (check, score) = check.split_once("$ agon score village-cup.yaml --results runs.csv\n").expect("and another");

    let edition = path("village-cup.yaml");
    let checked = agon(&["edition", "check", &edition]).success();
    assert_eq!(checked.replace(&edition, "village-cup.yaml"), check);
    assert_eq!(agon(&["score", &edition, "--results", &path("runs.csv")]).success(), score);

    let lines = block(&shown, "yaml", "edition: village-cup\n").lines().count();
    assert!(lines <= 40, "the first edition has {lines} lines");
}

#[test]
fn edition_laid_on_it() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    write_example(folder.path());
    let edition = folder.path().join("village-cup-2.yaml").display().to_string();
    agon(&["edition", "check", &edition]).success();
    let text = agon(&["edition", "show", &edition]).success();
    assert!(text.contains("cpu: 30 s") && !text.contains("memory:"), "{text}");
    let late = text.find("late:").expect("the new column is there");
    assert!(late < text.find("solved_run:").expect("the old one, too"), "{text}");
}

/// The guide explains codes that exist, and shows them as they are printed.
#[test]
fn codes_exist() {
    let said = fs::read_to_string(workspace().join("core/edition/tests/diagnostics.txt")).expect("it is committed");
    let guide = guide();
    let pattern = Regex::new("`((?:edition|yaml|formula)/[a-z-]+)`").expect("the pattern is one");
    let codes: BTreeSet<&str> = pattern.captures_iter(&guide).filter_map(|c| c.get(1)).map(|m| m.as_str()).collect();
    assert!(codes.len() > 20, "{codes:?}");
    for code in codes {
        assert!(said.contains(&format!("[{code}]")), "the guide explains {code}, which nothing says");
    }
}

#[test]
fn excerpt_of_a_mistake() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let guide = guide();
    let good = block(&guide, "yaml", "edition: village-cup\n");
    let bad = good.replace(
        "          let:\n            solved_run:",
        "          let:\n            late: wall_time > 60\n            solved_run:",
    );
    assert_ne!(good, bad);
    let path = folder.path().join("village-cup.yaml");
    fs::write(&path, bad).expect("the example can be written");
    let path = path.display().to_string();
    let found = agon(&["edition", "check", &path]);
    assert_ne!(found.status, 0);
    let shown = block(&guide, "", "error[formula/dimension]");
    assert!(found.stderr.replace(&path, "village-cup.yaml").contains(shown), "{}\nis not\n{shown}", found.stderr);
}
