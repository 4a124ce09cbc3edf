//! Cases small enough to be scored by hand from the text of the rules.

use Answer::{Sat, Unknown, Unsat};
use agon_second_reading::{
    Answer, Condition, Ns, RBig, RankingRow, Reading, Row, SECOND, Standing, smt_comp_2014, smt_comp_2022,
};

/// A run of entrant `key` (whose name and team follow from it) on a benchmark of the logic LIA in Arith.
fn run(benchmark: &str, key: u64, expected: Answer, answer: Answer, cpu: Ns, wall: Ns) -> Row {
    Row {
        benchmark: format!("LIA/{benchmark}.smt2"),
        division: "Arith".into(),
        logic: "LIA".into(),
        solver: format!("solver-{key}"),
        entrant: key.to_string(),
        team: format!("team-{key}"),
        competing: true,
        answer,
        expected,
        condition: Condition::Complete,
        cpu: cpu * SECOND,
        wall: wall * SECOND,
    }
}

fn in_logic(mut row: Row, logic: &str) -> Row {
    row.benchmark = format!("{logic}/{}", row.path_without_logic());
    row.logic = logic.into();
    row
}

/// (entrant, rank, error, correct, cpu seconds, wall seconds, winner) of one division table of 2022.
type Short<'a> = (&'a str, u64, u64, u64, Ns, Ns, bool);

fn short<'a>(standings: &'a [Standing], view: &str) -> Vec<Short<'a>> {
    standings
        .iter()
        .filter(|s| s.table == "division" && s.view == view)
        .map(|s| (&*s.entrant, s.rank, s.error, s.correct, s.cpu / SECOND, s.wall / SECOND, s.winner))
        .collect()
}

fn find<'a>(rankings: &'a [RankingRow], table: &str, view: &str) -> Vec<&'a RankingRow> {
    rankings.iter().filter(|r| r.table == table && r.view == view).collect()
}

fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

#[test]
fn an_answer_after_the_wall_clock_limit_counts_by_the_rules_only() {
    // Section 7.1.2 takes the late answer into consideration; the script did not.
    let rows = [run("a", 1, Sat, Sat, 1300, 1300), run("a", 2, Sat, Unknown, 5000, 10)];
    let (rules, _) = smt_comp_2022(&rows, Reading::Rules, &[]);
    assert_eq!(short(&rules, "parallel"), [("1", 1, 0, 1, 1300, 1200, true), ("2", 2, 0, 0, 4800, 10, false)]);
    // More than T of CPU time: no result in the sequential score (7.1.1), which then is a tie at 1200 seconds.
    assert_eq!(short(&rules, "sequential"), [("1", 1, 0, 0, 1200, 1200, false), ("2", 1, 0, 0, 1200, 10, false)]);
    assert_eq!(short(&rules, "24s"), [("2", 1, 0, 0, 96, 10, false), ("1", 2, 0, 0, 96, 24, false)]);
    let (published, _) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert_eq!(short(&published, "parallel"), [("2", 1, 0, 0, 5000, 10, false), ("1", 2, 0, 0, 1200, 1200, false)]);
    assert_eq!(short(&published, "sequential"), [("1", 1, 0, 0, 1200, 1200, false), ("2", 2, 0, 0, 1200, 1200, false)]);
}

#[test]
fn a_limit_is_reached_only_when_exceeded() {
    let rows = [run("a", 1, Sat, Sat, 1200, 24), run("a", 2, Sat, Sat, 1200, 24)];
    for reading in [Reading::Rules, Reading::Published] {
        let (standings, _) = smt_comp_2022(&rows, reading, &[]);
        for view in ["sequential", "24s"] {
            assert!(standings.iter().filter(|s| s.view == view).all(|s| s.correct == 1), "{reading:?} {view}");
        }
    }
}

#[test]
fn a_non_competing_entrant_is_listed_but_advances_no_rank_and_never_wins() {
    let mut rows = vec![
        run("a", 1, Sat, Sat, 1, 1),
        run("a", 2, Sat, Sat, 2, 2),
        run("a", 3, Sat, Sat, 2, 2),
        run("a", 4, Sat, Sat, 3, 3),
    ];
    rows[0].competing = false;
    let (rules, _) = smt_comp_2022(&rows, Reading::Rules, &[]);
    let ranks: Vec<_> = short(&rules, "parallel").iter().map(|s| (s.0, s.1, s.6)).collect();
    assert_eq!(ranks, [("1", 1, false), ("2", 1, true), ("3", 1, true), ("4", 3, false)]);
    let (published, _) = smt_comp_2022(&rows, Reading::Published, &[]);
    let ranks: Vec<_> = short(&published, "parallel").iter().map(|s| (s.0, s.1, s.6)).collect();
    assert_eq!(ranks, [("1", 1, false), ("2", 1, true), ("3", 2, false), ("4", 3, false)]);
}

#[test]
fn a_division_of_one_team_has_no_winner_by_the_rules() {
    let mut rows = vec![run("a", 1, Sat, Sat, 1, 1), run("a", 2, Sat, Sat, 2, 2)];
    rows[1].team = "team-1".into();
    let (rules, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    assert!(rules.iter().all(|s| !s.winner));
    assert!(rankings.is_empty());
    let (published, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert!(short(&published, "parallel")[0].6);
    assert_eq!(find(&rankings, "biggest-lead", "parallel").len(), 1);
}

#[test]
fn soundness_is_judged_by_division_or_over_the_whole_track() {
    // Entrant 1 errs in another division, so it is sound in Arith by the rules, and unsound by the script.
    let mut elsewhere = run("x", 1, Sat, Unsat, 1, 1);
    elsewhere.division = "Equality".into();
    let elsewhere = in_logic(elsewhere, "UF");
    let rows = [elsewhere, run("a", 1, Unknown, Sat, 1, 1), run("a", 2, Unknown, Unsat, 1, 1)];
    assert_eq!(smt_comp_2022::disagreements(&rows, Reading::Rules, &[]), ["LIA/a.smt2"]);
    assert!(smt_comp_2022::disagreements(&rows, Reading::Published, &[]).is_empty());
}

#[test]
fn a_removed_benchmark_took_its_namesakes_with_it() {
    let rows = [
        run("a", 1, Unknown, Sat, 1, 1),
        run("a", 2, Unknown, Unsat, 1, 1),
        in_logic(run("a", 1, Sat, Sat, 1, 1), "NIA"),
        // Opposite answers on two namesakes are no disagreement.
        in_logic(run("b", 1, Unknown, Sat, 1, 1), "NIA"),
        run("b", 2, Unknown, Unsat, 1, 1),
    ];
    assert_eq!(smt_comp_2022::disagreements(&rows, Reading::Rules, &[]), ["LIA/a.smt2"]);
    assert_eq!(smt_comp_2022::disagreements(&rows, Reading::Published, &[]), ["LIA/a.smt2", "NIA/a.smt2"]);
}

#[test]
fn wrong_answers_in_the_sat_and_unsat_scores() {
    let rows = [
        run("unsat", 1, Unsat, Sat, 5, 5),
        run("unsat", 2, Unsat, Unsat, 7, 7),
        run("sat", 1, Sat, Unsat, 11, 11),
        run("sat", 2, Sat, Unknown, 13, 13),
    ];
    // By the text, an error counts where the benchmark counts.
    let (rules, _) = smt_comp_2022(&rows, Reading::Rules, &[]);
    assert_eq!(short(&rules, "sat"), [("2", 1, 0, 0, 13, 13, false), ("1", 2, 1, 0, 11, 11, false)]);
    assert_eq!(short(&rules, "unsat"), [("2", 1, 0, 1, 7, 7, true), ("1", 2, 1, 0, 5, 5, false)]);
    // By the script, it counts where the answer counts.
    let (published, _) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert_eq!(short(&published, "sat"), [("2", 1, 0, 0, 13, 13, false), ("1", 2, 1, 0, 5, 5, false)]);
    let unsat = published.iter().find(|s| s.table == "division" && s.view == "unsat" && s.entrant == "1").unwrap();
    assert_eq!((unsat.error, unsat.unsolved, unsat.abstained), (1, 1, 1));
}

#[test]
fn the_biggest_lead() {
    let rows = [
        run("a", 1, Sat, Sat, 3, 4),
        run("b", 1, Sat, Sat, 0, 0),
        run("a", 2, Sat, Sat, 1, 2),
        run("b", 2, Sat, Unknown, 6, 7),
    ];
    let (_, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    let sequential = find(&rankings, "biggest-lead", "sequential")[0];
    assert_eq!((sequential.solver.as_str(), sequential.second.as_deref()), ("solver-1", Some("solver-2")));
    // (2 + 1) / (1 + 1), and (7 + 1) / (3 + 1) in CPU time or (9 + 1) / (4 + 1) in wall-clock time.
    assert_eq!((&sequential.correctness, &sequential.time), (&ratio(3, 2), &ratio(2, 1)));
    assert_eq!(find(&rankings, "biggest-lead", "parallel")[0].time, ratio(2, 1));
    assert!(sequential.winner);
}

#[test]
fn the_largest_contribution() {
    let rows = [
        run("a", 1, Sat, Sat, 100, 100),
        run("a", 2, Sat, Sat, 200, 200),
        run("a", 3, Sat, Unknown, 1, 1),
        // Only entrant 3 solves this one.
        run("b", 1, Sat, Unknown, 1, 1),
        run("b", 2, Sat, Unknown, 1, 1),
        run("b", 3, Sat, Sat, 10, 10),
        // Nobody solves this one: 1200 seconds, with and without anybody.
        run("c", 1, Sat, Unknown, 1, 1),
        run("c", 2, Sat, Unknown, 1, 1),
        run("c", 3, Sat, Unknown, 1, 1),
    ];
    for reading in [Reading::Rules, Reading::Published] {
        let (_, rankings) = smt_comp_2022(&rows, reading, &[]);
        let found = find(&rankings, "largest-contribution", "parallel")[0];
        assert_eq!(found.solver, "solver-3");
        // 1 - 1/2 of the benchmarks; 1 - (100 + 10 + 1200) / (100 + 1200 + 1200) of the time; the weight is 1.
        assert_eq!(found.correctness, ratio(1, 2), "{reading:?}");
        assert_eq!(found.time, ratio(1190, 2500), "{reading:?}");
        // The sat score is the same, the unsat score has nothing to contribute to.
        assert_eq!(find(&rankings, "largest-contribution", "sat")[0].time, ratio(1190, 2500));
    }
    let (_, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    let unsat = find(&rankings, "largest-contribution", "unsat");
    assert_eq!((&unsat[0].correctness, &unsat[0].time), (&RBig::ZERO, &RBig::ZERO));
    let (_, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert!(find(&rankings, "largest-contribution", "unsat").is_empty());
}

#[test]
fn a_benchmark_that_only_one_solver_ran_is_charged_by_the_rules_only() {
    let rows = [
        run("a", 1, Sat, Sat, 100, 100),
        run("a", 2, Sat, Sat, 200, 200),
        run("a", 3, Sat, Sat, 300, 300),
        in_logic(run("b", 1, Sat, Sat, 300, 300), "NIA"),
    ];
    let (_, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    let found = find(&rankings, "largest-contribution", "parallel")[0];
    // 1 - (100 + 300) / (200 + 1200).
    assert_eq!((&found.correctness, &found.time), (&ratio(1, 2), &ratio(1000, 1400)));
    let (_, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);
    let found = find(&rankings, "largest-contribution", "parallel")[0];
    // 1 - (100 + 300) / 200: a negative rank, as some that were published.
    assert_eq!((&found.correctness, &found.time), (&ratio(1, 2), &ratio(-1, 1)));
}

#[test]
fn the_weights_of_the_largest_contribution() {
    // Arith: three solvers on two benchmarks, of which entrant 3 ran only one. Equality: two solvers on one.
    let mut rows = vec![
        run("a", 1, Sat, Sat, 1, 1),
        run("a", 2, Sat, Unknown, 1, 1),
        run("a", 3, Sat, Unknown, 1, 1),
        in_logic(run("b", 1, Sat, Unknown, 1, 1), "NIA"),
        in_logic(run("b", 2, Sat, Unknown, 1, 1), "NIA"),
    ];
    for key in [1, 2] {
        let mut row = in_logic(run("x", key, Sat, Sat, 1, 1), "UF");
        row.division = "Equality".into();
        rows.push(row);
    }
    // By the text: pairs that were run, over those of the whole track.
    let (_, rankings) = smt_comp_2022(&rows, Reading::Rules, &[]);
    assert_eq!(find(&rankings, "largest-contribution", "parallel")[0].correctness, ratio(5, 7));
    // By the script: size times solvers, over the divisions that are ranked.
    let (_, rankings) = smt_comp_2022(&rows, Reading::Published, &[]);
    assert_eq!(find(&rankings, "largest-contribution", "parallel")[0].correctness, RBig::ONE);
}

#[test]
fn the_modes_of_2014() {
    let mut rows = vec![
        run("a", 1, Sat, Sat, 700, 700),
        run("b", 1, Sat, Sat, 2500, 500),
        run("a", 2, Sat, Sat, 600, 600),
        run("b", 2, Sat, Unsat, 10, 10),
    ];
    rows[1].condition = Condition::TimeoutCpu;
    let list = |reading, view: &str| -> Vec<(String, u64, u64, Ns, Ns, u64)> {
        let (standings, _) = smt_comp_2014(&rows, reading);
        let rows = standings.iter().filter(|s| s.view == view);
        rows.map(|s| (s.entrant.clone(), s.error, s.correct, s.cpu / SECOND, s.wall / SECOND, s.unsolved)).collect()
    };
    // The time of the timeout counts in full by the rules and not at all in the published table.
    assert_eq!(list(Reading::Rules, "sequential")[0], ("1".into(), 0, 1, 3100, 1200, 1));
    assert_eq!(list(Reading::Published, "sequential")[0], ("1".into(), 0, 1, 700, 700, 1));
    assert_eq!(list(Reading::Published, "sequential")[1], ("2".into(), 1, 1, 610, 610, 0));
    // In parallel mode, 700 seconds are over the limit of 600, and 600 are not.
    assert_eq!(list(Reading::Rules, "parallel")[0], ("1".into(), 0, 0, 3100, 1100, 2));
    assert_eq!(list(Reading::Rules, "parallel")[1], ("2".into(), 1, 1, 610, 610, 0));
}
