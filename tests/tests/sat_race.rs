//! The SAT-Race edition against scores that were computed with fractions by somebody else.

use std::fs;

use agon_tests::{agon, archive};

/// Both tables of the archive in all readings of x, to the last digit: the figures are quotients.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn scores_are_exact_in_all_readings() {
    let folder = archive().join("archive/sat-race-2008");
    for (runs, scores, figures) in [
        ("race2008-instances-runs.csv", "race2008-instances-scores.csv", 465),
        ("synthetic-dev-runs.csv", "synthetic-dev-scores-limit-inclusive.csv", 75),
    ] {
        compare("sat-race-2008", &folder.join(runs), &folder.join(scores), figures);
    }
}

/// An answer at exactly the limit is worth nothing in the other reading of the text.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn an_answer_at_the_limit() {
    let folder = archive().join("archive/sat-race-2008");
    let place = tempfile::tempdir().expect("there is room for a folder");
    let edition = place.path().join("exclusive.yaml");
    let text = "edition: exclusive\nextends: sat-race-2008\ntracks:\n  main:\n    scoring:\n      runs:\n        threshold:\n          \
                let: { at_limit: \"'unsolved'\" }\n";
    fs::write(&edition, text).expect("the folder is writable");
    compare(
        &edition.display().to_string(),
        &folder.join("synthetic-dev-runs.csv"),
        &folder.join("synthetic-dev-scores-limit-exclusive.csv"),
        75,
    );
}

fn compare(edition: &str, runs: &std::path::Path, scores: &std::path::Path, figures: usize) {
    let out = agon(&[
        "verify",
        edition,
        "--results",
        &runs.display().to_string(),
        "--published",
        &scores.display().to_string(),
    ])
    .success();
    let last = out.lines().last().unwrap_or_default();
    assert_eq!(last, format!("figures: {figures} compared, {figures} equal, 0 explained, 0 unexplained"), "{out}");
}
