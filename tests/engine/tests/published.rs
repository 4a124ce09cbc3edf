//! Every published figure of the archived editions, through the comparison that users have.
//!
//! The numbers of figures are golden: a figure that silently drops out of the comparison is a failure too. By the text
//! of the rules many figures differ from the published ones; each of these must be explained, by a deviation that the
//! edition declares or by an entry of its ledger.

use std::path::PathBuf;

use agon_engine_tests::{Folder, SMT_COMP_2014, SMT_COMP_2022, archive, edition, everything, table};
use agon_score::adjudication::Adjudication;
use agon_score::engine::{TrackScores, score};
use agon_score::input::{EntrantList, runs};
use agon_score::verify::{Report, Wanted, explain_by_deviations, verify};
use agon_second_reading::Reading::{self, Published, Rules};

/// The scores of an archived edition in one reading.
fn scores(name: &str, second: Reading, results: &str, adjudication: Option<&Adjudication>) -> TrackScores {
    let edition = edition(name, second);
    let list = EntrantList::of_edition(edition);
    let files = [archive().join(name).join(results)];
    let tracks = runs(edition, &files, &list, adjudication).expect("the archive can be read");
    assert_eq!(tracks.len(), 1);
    score(edition, &tracks[0], &everything()).expect("the archive can be scored")
}

/// Compared, equal, explained and unexplained figures by the rules and as published.
type Golden = [(usize, usize, usize, usize); 2];

fn counts(report: &Report) -> (usize, usize, usize, usize) {
    (report.compared, report.equal, report.explained(), report.unexplained())
}

fn check(name: &str, files: &[(&str, Golden)], by_rules: TrackScores, as_published: TrackScores) {
    let (by_rules, as_published) = ([by_rules], [as_published]);
    for (file, golden) in files {
        let path: PathBuf = archive().join(name).join(file);
        let compare = |second, scores: &[TrackScores]| {
            verify(edition(name, second), scores, &path, &Wanted::default()).expect("the file can be compared")
        };
        let published = compare(Published, &as_published);
        let mut rules = compare(Rules, &by_rules);
        explain_by_deviations(&mut rules, &published, &[]);
        assert_eq!([counts(&rules), counts(&published)], *golden, "{name}/{file}");
        for difference in rules.differences.iter().chain(&published.differences) {
            assert!(difference.explained.is_some(), "{name}/{file}: {difference:?}");
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn smt_comp_2014() {
    let of = |second| scores(SMT_COMP_2014, second, "results-main.csv.xz", None);
    let files = [
        ("published.csv", [(917, 823, 94, 0), (917, 917, 0, 0)]),
        // Two divisions have pages but no benchmarks.
        ("published-divisions.csv", [(74, 70, 4, 0), (74, 72, 2, 0)]),
    ];
    check(SMT_COMP_2014, &files, of(Rules), of(Published));
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn smt_comp_2022() {
    let of = |second| scores(SMT_COMP_2022, second, "results-single-query.csv.zst", None);
    let files = [
        ("reference-score-single-query.csv", [(30543, 29714, 829, 0), (30565, 30565, 0, 0)]),
        // The archive was exported after the parallel limit, which lost some sequential times.
        ("published-figures.csv", [(29490, 28103, 1387, 0), (29510, 28944, 566, 0)]),
        ("published-pages.csv", [(640, 636, 4, 0), (640, 640, 0, 0)]),
    ];
    check(SMT_COMP_2022, &files, of(Rules), of(Published));
}

/// The number of benchmarks of all divisions.
fn size(scores: &TrackScores) -> i128 {
    let rows = table(scores, "parallel", "division");
    rows.iter().filter(|p| p.int("position") == 1).map(|p| p.int("benchmarks")).sum()
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn smt_comp_2022_with_its_decisions_undone() {
    // The file says what was decided of each benchmark; what is undone are all of them, by name.
    let decisions = archive().join(SMT_COMP_2022).join("disagreement-decisions.csv");
    let text = std::fs::read_to_string(decisions).expect("the decisions can be read");
    let names: Vec<&str> =
        text.lines().map(|line| line.split(',').next().expect("a line has a first column")).collect();
    let folder = Folder::new();
    let decided = folder.write("decided.csv", &format!("{}\n", names.join("\n")));
    let file = folder.write(
        "undo.yaml",
        &format!(
            "adjudication: smt-comp-2022\ndecisions:\n  - date: 2022-08-01\n    reason: as if nothing had been decided\n    \
             status: unknown\n    file: {}\n",
            decided.display()
        ),
    );
    let undo = Adjudication::read(&file).expect("the decisions can be read");
    let results = "results-single-query.csv.zst";
    let of = |second| scores(SMT_COMP_2022, second, results, Some(&undo));
    let (by_rules, as_published) = (of(Rules), of(Published));
    // With the decisions undone, sound solvers disagree on exactly one benchmark, which is removed.
    let whole = size(&scores(SMT_COMP_2022, Published, results, None));
    assert_eq!((size(&by_rules), size(&as_published)), (whole - 1, whole - 1));
    let tracks = runs(
        edition(SMT_COMP_2022, Rules),
        &[archive().join(SMT_COMP_2022).join(results)],
        &EntrantList::of_edition(edition(SMT_COMP_2022, Rules)),
        Some(&undo),
    );
    let tracks = tracks.expect("the archive can be read");
    assert_eq!(tracks[0].effect.statuses.len(), 18);
    assert!(tracks[0].effect.removed.is_empty() && tracks[0].effect.entrants.is_empty());

    let files = [("reference-score-single-query-undecided.csv", [(1050, 1027, 23, 0), (1050, 1050, 0, 0)])];
    check(SMT_COMP_2022, &files, by_rules, as_published);
}
