//! Properties of both readings on random competitions.

use agon_second_reading::archive::{
    format_time, parse_time, read_archive_2014, read_archive_2022, write_archive_2014, write_archive_2022,
    write_solvers_2022,
};
use agon_second_reading::random::{competitions_2014, competitions_2022, each_entrant_its_own_team};
use agon_second_reading::smt_comp_2022::{M, T, disagreements};
use agon_second_reading::{RBig, Reading, Row, smt_comp_2014, smt_comp_2022};
use proptest::prelude::*;
use std::collections::BTreeSet;

const READINGS: [Reading; 2] = [Reading::Rules, Reading::Published];

proptest! {
    #[test]
    fn times_are_read_as_they_are_written(time in 0_i128..10_000_000_000_000) {
        prop_assert_eq!(parse_time(&format_time(time)).unwrap(), time);
    }

    #[test]
    fn the_archive_of_2022_keeps_everything_but_teams(mut rows in competitions_2022()) {
        let folder = tempfile::tempdir().unwrap();
        let (results, solvers) = (folder.path().join("results.csv"), folder.path().join("solvers.csv"));
        write_archive_2022(&rows, &results).unwrap();
        write_solvers_2022(&rows, &solvers).unwrap();
        // With the registration, the same entrants are of the same team, though the team has another name.
        let read = read_archive_2022(&results, Some(&solvers)).unwrap();
        prop_assert_eq!(smt_comp_2022(&read, Reading::Rules, &[]), smt_comp_2022(&rows, Reading::Rules, &[]));
        // Without it, every entrant is a team of its own.
        each_entrant_its_own_team(&mut rows);
        prop_assert_eq!(read_archive_2022(&results, None).unwrap(), rows);
    }

    #[test]
    fn the_archive_of_2014_keeps_everything(rows in competitions_2014()) {
        let folder = tempfile::tempdir().unwrap();
        let (results, solvers) = (folder.path().join("results.csv"), folder.path().join("solvers.csv"));
        write_archive_2014(&rows, &results, &solvers).unwrap();
        prop_assert_eq!(read_archive_2014(&results, &solvers).unwrap(), rows);
    }

    #[test]
    fn the_order_of_the_rows_does_not_matter(rows in competitions_2022(), rows_2014 in competitions_2014()) {
        let backwards: Vec<Row> = rows.iter().rev().cloned().collect();
        let backwards_2014: Vec<Row> = rows_2014.iter().rev().cloned().collect();
        for reading in READINGS {
            prop_assert_eq!(smt_comp_2022(&rows, reading, &[]), smt_comp_2022(&backwards, reading, &[]));
            prop_assert_eq!(smt_comp_2014(&rows_2014, reading), smt_comp_2014(&backwards_2014, reading));
        }
    }

    #[test]
    fn ranks_winners_and_counts_agree_with_each_other(rows in competitions_2022()) {
        for reading in READINGS {
            let (standings, _) = smt_comp_2022(&rows, reading, &[]);
            for s in &standings {
                prop_assert!(s.rank >= 1 && s.rank <= s.position);
                prop_assert!(!s.winner || (s.competing && s.rank == 1 && s.correct > 0));
                prop_assert_eq!(s.correct, s.solved);
                prop_assert_eq!(s.solved, s.solved_sat + s.solved_unsat);
                prop_assert_eq!(s.size, s.solved + s.unsolved + s.abstained);
            }
        }
    }

    #[test]
    fn a_contribution_is_between_0_and_1_by_the_rules(rows in competitions_2022()) {
        let (_, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
        for r in rankings.iter().filter(|r| r.table == "largest-contribution") {
            prop_assert!(r.correctness >= RBig::ZERO && r.correctness <= RBig::ONE, "{:?}", r);
            prop_assert!(r.time >= RBig::ZERO && r.time <= RBig::ONE, "{:?}", r);
        }
    }

    #[test]
    fn the_readings_agree_on_parallel_scores_where_no_limit_is_exceeded(rows in competitions_2022()) {
        let within: BTreeSet<&str> = {
            let over: BTreeSet<&str> =
                rows.iter().filter(|r| r.wall > T || r.cpu > M * T).map(|r| r.benchmark.as_str()).collect();
            rows.iter().map(|r| r.benchmark.as_str()).filter(|b| !over.contains(b)).collect()
        };
        let rows: Vec<Row> = rows.iter().filter(|r| within.contains(r.benchmark.as_str())).cloned().collect();
        // Take out the removal of disagreements, which differs, by taking out what either reading removes.
        let mut removed = disagreements(&rows, Reading::Rules, &[]);
        removed.extend(disagreements(&rows, Reading::Published, &[]));
        let rules = smt_comp_2022(&rows, Reading::Rules, &removed).0;
        let published = smt_comp_2022(&rows, Reading::Published, &removed).0;
        for (a, b) in rules.iter().zip(&published).filter(|(a, _)| a.view == "parallel") {
            prop_assert_eq!((&a.entrant, a.error, a.correct, a.cpu, a.wall), (&b.entrant, b.error, b.correct, b.cpu, b.wall));
        }
    }

    #[test]
    fn the_triples_of_2014_stay_within_their_limits(rows in competitions_2014()) {
        for reading in READINGS {
            let (standings, medals) = smt_comp_2014(&rows, reading);
            for s in &standings {
                let size = i128::from(s.size);
                prop_assert_eq!(s.size, s.error + s.correct + s.unsolved + s.abstained);
                prop_assert!(s.cpu <= size * smt_comp_2014::T);
                prop_assert!(s.view == "sequential" || s.wall <= size * smt_comp_2014::T / smt_comp_2014::C);
            }
            prop_assert!(medals.iter().all(|m| m.score.is_finite()));
        }
    }
}

/// The generator makes what it promises: over a few hundred competitions, each special case is there.
#[test]
fn the_special_cases_occur() {
    use agon_second_reading::random::{Shape, competition_2014, competition_2022};
    let shape = Shape { divisions: 3, logics: 3, benchmarks: 8, entrants: 5 };
    let (mut namesakes, mut disagreement, mut shared_rank, mut removal_differs, mut memout, mut late) =
        (0, 0, 0, 0, 0, 0);
    for seed in 0..200 {
        let rows = competition_2022(shape, seed);
        let paths: BTreeSet<&str> = rows.iter().map(Row::path_without_logic).collect();
        let benchmarks: BTreeSet<&str> = rows.iter().map(|r| r.benchmark.as_str()).collect();
        namesakes += usize::from(paths.len() < benchmarks.len());
        let (a, b) = (disagreements(&rows, Reading::Rules, &[]), disagreements(&rows, Reading::Published, &[]));
        disagreement += usize::from(!a.is_empty());
        removal_differs += usize::from(a != b);
        let (standings, _) = smt_comp_2022(&rows, Reading::Rules, &[]);
        shared_rank +=
            usize::from(standings.windows(2).any(|w| {
                w[0].competing && w[1].competing && w[0].rank == w[1].rank && w[1].position == w[0].position + 1
            }));
        let rows = competition_2014(shape, seed);
        memout += usize::from(rows.iter().any(|r| r.condition == agon_second_reading::Condition::Memout));
        late += usize::from(
            rows.iter().any(|r| r.condition != agon_second_reading::Condition::Complete && r.answer == r.expected),
        );
    }
    for count in [namesakes, disagreement, shared_rank, removal_differs, memout, late] {
        assert!(count > 20, "{namesakes} {disagreement} {shared_rank} {removal_differs} {memout} {late}");
    }
}
