//! The published reading of 2022 against the output of the official scorer and the published figures.

use agon_second_reading::archive::{Line, parse_time, read_archive_2022, read_csv};
use agon_second_reading::{Answer, RBig, RankingRow, Reading, Row, Standing, smt_comp_2022};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn archive() -> PathBuf {
    std::env::var_os("AGON_ARCHIVE")
        .map_or_else(|| "../../../shared".into(), PathBuf::from)
        .join("archive/smt-comp-2022")
}

fn rows() -> Vec<Row> {
    let folder = archive();
    let results = folder.join("results-single-query.csv.zst");
    let rows = read_archive_2022(&results, Some(&folder.join("solvers.csv"))).unwrap();
    assert_eq!(rows.len(), 658_873);
    rows
}

/// Compares a column that a published file has and, for this table, fills in.
fn same(line: &Line, column: &str, mine: &str, place: &str) {
    if let Some(theirs) = line.get(column) {
        assert_eq!(mine, theirs, "{place}: {column}");
    }
}

fn same_if_given(line: &Line, column: &str, mine: &str, place: &str) {
    if line.get(column).is_some_and(|v| !v.is_empty()) {
        same(line, column, mine, place);
    }
}

fn close(mine: &RBig, theirs: &str, place: &str) {
    let theirs: f64 = theirs.parse().unwrap();
    let mine = mine.to_f64().value();
    assert!((mine - theirs).abs() <= 1e-8 + 1e-12, "{place}: {mine} {theirs}");
}

fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

fn compare_standings(lines: &[Line], standings: &[Standing]) -> usize {
    let mut tables: BTreeMap<[&str; 4], Vec<&Line>> = BTreeMap::new();
    for line in lines {
        if line["table"] == "division" || line["table"] == "logic" {
            let key = [&line["table"], &line["division"], &line["logic"], &line["score_kind"]].map(String::as_str);
            tables.entry(key).or_default().push(line);
        }
    }
    let mut mine: BTreeMap<[&str; 4], Vec<&Standing>> = BTreeMap::new();
    for s in standings {
        mine.entry([s.table, &s.division, &s.logic, s.view]).or_default().push(s);
    }
    let mut compared = 0;
    for (key, theirs) in tables {
        let mine = &mine[&key];
        assert_eq!(mine.len(), theirs.len(), "{key:?}: rows");
        for (mine, line) in mine.iter().zip(theirs) {
            let place = format!("{key:?}, row {}", mine.position);
            same(line, "solver", &mine.solver, &place);
            same(line, "position", &mine.position.to_string(), &place);
            same(line, "rank", &mine.rank.to_string(), &place);
            same(line, "competitive", yes(mine.competing), &place);
            same(line, "error", &mine.error.to_string(), &place);
            same(line, "correct", &mine.correct.to_string(), &place);
            same(line, "solved", &mine.solved.to_string(), &place);
            same(line, "solved_sat", &mine.solved_sat.to_string(), &place);
            same(line, "solved_unsat", &mine.solved_unsat.to_string(), &place);
            same(line, "unsolved", &mine.unsolved.to_string(), &place);
            same_if_given(line, "abstained", &mine.abstained.to_string(), &place);
            same(line, "winner", yes(mine.winner), &place);
            let cpu = parse_time(&line["cpu_time"]).unwrap();
            let wall = parse_time(&line["wall_time"]).unwrap();
            assert!((mine.cpu - cpu).abs() <= 1_000_000, "{place}: cpu {} {cpu}", mine.cpu);
            assert!((mine.wall - wall).abs() <= 1_000_000, "{place}: wall {} {wall}", mine.wall);
            compared += 1;
        }
    }
    compared
}

fn compare_rankings(lines: &[Line], rankings: &[RankingRow]) -> usize {
    let mut compared = 0;
    for line in lines {
        if line["table"] == "division" || line["table"] == "logic" {
            continue;
        }
        let mut found = rankings.iter().filter(|r| {
            r.table == line["table"] && r.view == line["score_kind"] && r.position.to_string() == line["position"]
        });
        let place = format!("{} {} {}", line["table"], line["score_kind"], line["position"]);
        let mine = found.next().unwrap_or_else(|| panic!("{place} is missing"));
        assert_eq!(mine.division, line["division"], "{place}");
        assert_eq!(mine.solver, line["solver"], "{place}");
        same(line, "second", mine.second.as_deref().unwrap_or(""), &place);
        close(&mine.correctness, &line["correct"], &place);
        close(&mine.time, &line["time_rank"], &place);
        assert_eq!(yes(mine.winner), line["winner"], "{place}");
        compared += 1;
    }
    compared
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn single_query() {
    let rows = rows();
    let (standings, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);

    let reference = read_csv(&archive().join("reference-score-single-query.csv")).unwrap();
    let compared = compare_standings(&reference, &standings) + compare_rankings(&reference, &rankings);
    assert_eq!(compared, reference.len());

    let published: Vec<Line> = read_csv(&archive().join("published-figures.csv"))
        .unwrap()
        .into_iter()
        .filter(|l| l["track"] == "single-query" && l["score_kind"] != "sequential")
        .collect();
    let compared = compare_standings(&published, &standings) + compare_rankings(&published, &rankings);
    assert_eq!(compared, published.len());
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn single_query_with_the_decisions_undone() {
    let mut rows = rows();
    let mut decided = BTreeSet::new();
    for line in read_csv(&archive().join("benchmarks-single-query.csv.zst")).unwrap() {
        if line["decided"] == "yes" {
            decided.insert(line["benchmark"].clone());
        }
    }
    assert_eq!(decided.len(), 18);
    for row in &mut rows {
        if decided.contains(&row.benchmark) {
            row.expected = Answer::Unknown;
        }
    }
    let removed = smt_comp_2022::disagreements(&rows, Reading::Published, &[]);
    assert_eq!(removed.len(), 1, "{removed:?}");
    assert!(removed[0].starts_with("AUFDTLIA/"));
    assert_eq!(smt_comp_2022::disagreements(&rows, Reading::Rules, &[]), removed);

    let (standings, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);
    let reference = read_csv(&archive().join("reference-score-single-query-undecided.csv")).unwrap();
    let compared = compare_standings(&reference, &standings) + compare_rankings(&reference, &rankings);
    assert_eq!(compared, reference.len());
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn the_text_of_the_rules_on_the_real_results() {
    let rows = rows();
    let (standings, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    let (published, _) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert_eq!(standings.len(), published.len());
    for ranking in rankings {
        if ranking.table == "largest-contribution" {
            assert!(ranking.correctness >= RBig::ZERO && ranking.correctness <= RBig::ONE, "{ranking:?}");
            assert!(ranking.time >= RBig::ZERO && ranking.time <= RBig::ONE, "{ranking:?}");
        }
    }
}
