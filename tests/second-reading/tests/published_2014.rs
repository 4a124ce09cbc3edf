//! The published reading of 2014 against every published figure of the main track.

use agon_second_reading::archive::{Line, parse_time, read_archive_2014, read_csv};
use agon_second_reading::smt_comp_2014::{medal_divisions, medal_score, medal_weight};
use agon_second_reading::{Reading, Standing, smt_comp_2014};
use std::path::PathBuf;

fn archive() -> PathBuf {
    std::env::var_os("AGON_ARCHIVE")
        .map_or_else(|| "../../../shared".into(), PathBuf::from)
        .join("archive/smt-comp-2014")
}

/// The gold and silver medal standings of the page `2014/results/gold.html`: weighted errors, weighted solved.
const METRIC_A: [(&str, f64, f64); 18] = [
    ("veriT", 0.0, 25.325),
    ("SMTInterpol", 0.0, 22.831),
    ("CVC3", 0.0, 9.618),
    ("SONOLAR", 0.0, 5.978),
    ("AProVE", 0.0, 3.776),
    ("Boolector (justification)", 0.0, 3.758),
    ("Boolector (dual propagation)", 0.0, 3.755),
    ("OpenSMT2", 0.0, 3.582),
    ("Boolector", 0.0, 3.058),
    ("STP-CryptoMiniSat4", 0.0, 2.859),
    ("4Simp", 0.0, 2.468),
    ("raSAT", 0.0, 0.0),
    ("Yices2", 3.810, 38.624),
    ("CVC4", 7.283, 54.152),
    ("abziz_min_features", 30.563, 2.548),
    ("abziz_all_features", 30.563, 2.403),
    ("Kleaver-STP", 213.362, 3.103),
    ("Kleaver-portfolio", 346.713, 3.073),
];

/// The alternate metric of the same page.
const METRIC_B: [(&str, f64, f64); 18] = [
    ("CVC4", 0.0, 43.509),
    ("Yices2", 0.0, 31.059),
    ("veriT", 0.0, 25.325),
    ("SMTInterpol", 0.0, 22.831),
    ("CVC3", 0.0, 9.618),
    ("SONOLAR", 0.0, 5.978),
    ("AProVE", 0.0, 3.776),
    ("Boolector (justification)", 0.0, 3.758),
    ("Boolector (dual propagation)", 0.0, 3.755),
    ("OpenSMT2", 0.0, 3.582),
    ("Boolector", 0.0, 3.058),
    ("STP-CryptoMiniSat4", 0.0, 2.859),
    ("4Simp", 0.0, 2.468),
    ("raSAT", 0.0, 0.0),
    ("abziz_min_features", 0.0, -30.563),
    ("abziz_all_features", 0.0, -30.563),
    ("Kleaver-STP", 0.0, -213.362),
    ("Kleaver-portfolio", 0.0, -346.713),
];

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn main_track() {
    let folder = archive();
    let rows = read_archive_2014(&folder.join("results-main.csv.xz"), &folder.join("solvers.csv")).unwrap();
    assert_eq!(rows.len(), 347_147);
    let (standings, medals) = smt_comp_2014(&rows, Reading::Published);
    let with_medals = medal_divisions(&rows);
    assert_eq!(with_medals.len(), 25);

    let published: Vec<Line> = read_csv(&folder.join("published.csv")).unwrap();
    let divisions: Vec<Line> = read_csv(&folder.join("published-divisions.csv")).unwrap();
    let mut compared = 0;
    for division in &divisions {
        let name = &division["division"];
        if division["track"] != "main" {
            continue;
        }
        let mine: Vec<&Standing> = standings.iter().filter(|s| s.view == "sequential" && &s.division == name).collect();
        let theirs: Vec<&Line> = published.iter().filter(|l| l["track"] == "main" && &l["division"] == name).collect();

        // The header of the page.
        let size: u64 = division["competition_benchmarks"].parse().unwrap();
        assert_eq!(mine.first().map_or(0, |s| s.size), size, "{name}: benchmarks");
        assert_eq!(with_medals.contains(name), !division["weight"].is_empty(), "{name}: counts for the medals");
        if !division["weight"].is_empty() {
            let weight: f64 = division["weight"].parse().unwrap();
            assert!((medal_weight(size) - weight).abs() < 0.001, "{name}: weight");
        }
        let winners: Vec<&str> = mine.iter().filter(|s| s.winner).map(|s| s.solver.as_str()).collect();
        let expected: Vec<&str> = [division["winner"].as_str()].into_iter().filter(|w| !w.is_empty()).collect();
        assert_eq!(winners, expected, "{name}: winner");

        // The rows of the page.
        assert_eq!(mine.len(), theirs.len(), "{name}: rows");
        for (mine, line) in mine.into_iter().zip(theirs) {
            let place = format!("{name}, row {}", mine.position);
            assert_eq!(mine.solver, line["solver"], "{place}");
            assert_eq!(mine.position.to_string(), line["rank"], "{place}");
            assert_eq!(mine.competing, line["competing"] == "yes", "{place}");
            assert_eq!(mine.error.to_string(), line["error"], "{place}");
            assert_eq!(mine.correct.to_string(), line["correct"], "{place}");
            assert_eq!(mine.unsolved.to_string(), line["not_solved"], "{place}");
            let cpu = parse_time(&line["cpu_time"]).unwrap();
            assert!((mine.cpu - cpu).abs() <= 10_000_000, "{place}: {} {cpu}", mine.cpu);
            if !line["weighted_medal_score"].is_empty() {
                let score: f64 = line["weighted_medal_score"].parse().unwrap();
                assert!((medal_score(mine) - score).abs() <= 0.001, "{place}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, published.iter().filter(|l| l["track"] == "main").count());

    // The page of the medal standings.
    for (metric, page) in [("A", &METRIC_A[..]), ("B", &METRIC_B[..])] {
        let mine: Vec<_> = medals.iter().filter(|m| m.metric == metric).collect();
        assert_eq!(mine.len(), page.len());
        for (mine, (solver, errors, score)) in mine.into_iter().zip(page) {
            assert_eq!(mine.solver, *solver);
            assert!((mine.errors.unwrap_or(0.0) - errors).abs() < 0.001, "{mine:?}");
            assert!((mine.score - score).abs() < 0.001, "{mine:?}");
        }
    }
    let awarded: Vec<_> = medals.iter().filter_map(|m| Some((m.medal?, m.solver.as_str()))).collect();
    assert_eq!(awarded, [("gold", "veriT"), ("silver", "SMTInterpol"), ("bronze", "Boolector")]);
    assert_eq!(standings.iter().filter(|s| s.view == "sequential").map(|s| s.error).sum::<u64>(), 172);
}
