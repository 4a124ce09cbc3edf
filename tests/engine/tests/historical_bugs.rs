//! Errors that competitions made in judging and scoring, each of which changed published results, as tests.
//!
//! Every test is named after what went wrong, not after what is right, and its comment says when and where.

use std::path::PathBuf;

use Answer::{Sat, Unknown, Unsat};
use SecondReading::{Published, Rules};
use agon_edition::Reading;
use agon_engine_tests::{
    Folder, Place, SMT_COMP_2014, SMT_COMP_2022, SecondReading, csv_of, edition, edition_file, edition_of_text,
    entrants_2022, everything, load, other_tracks_of_2022, place_of, run, runs_of, scores_of, scores_of_files,
    scores_of_text, table,
};
use agon_score::adjudication::Adjudication;
use agon_score::engine::{TrackScores, score};
use agon_score::input::{EntrantList, runs};
use agon_second_reading::archive::{write_archive_2014, write_archive_2022};
use agon_second_reading::random::{Shape, competition_2022};
use agon_second_reading::{Answer, Row, SECOND};

/// Scores of the single-query track of 2022 by the rules.
fn rules(rows: &[Row]) -> TrackScores {
    scores_of(edition(SMT_COMP_2022, Rules), rows).expect("the rows can be scored")
}

/// The same as published.
fn published(rows: &[Row]) -> TrackScores {
    scores_of(edition(SMT_COMP_2022, Published), rows).expect("the rows can be scored")
}

/// Error, correct, CPU and wall-clock time in seconds of a solver.
fn score_of(scores: &TrackScores, view: &str, solver: &str) -> (i128, i128, i128, i128) {
    let place = place_of(scores, view, solver);
    (place.int("error"), place.int("correct"), place.int("cpu_time") / SECOND, place.int("wall_time") / SECOND)
}

fn solvers(places: &[Place]) -> Vec<&str> {
    places.iter().map(|p| p.text("solver")).collect()
}

/// The decisions of a file, about the edition of 2022.
fn decisions(folder: &Folder, text: &str) -> Adjudication {
    let path = folder.write("decisions.yaml", &format!("adjudication: smt-comp-2022\ndecisions:\n{text}"));
    Adjudication::read(&path).expect("the decisions can be read")
}

fn with(rows: &[Row], adjudication: &Adjudication, second: SecondReading) -> TrackScores {
    let edition = edition(SMT_COMP_2022, second);
    let runs = runs_of(edition, rows, Some(adjudication)).expect("the rows can be read");
    score(edition, &runs, &everything()).expect("the rows can be scored")
}

// Order, places and winners.

/// SMT-COMP 2024, found by an entrant: all keys were sorted descending, so that more time ranked better.
#[test]
fn more_time_ranked_better() {
    let rows = [
        run("slow", "a", Sat, Sat, 30_000, 30_000),
        run("fast", "a", Sat, Sat, 2_000, 2_000),
        run("idle", "a", Sat, Unknown, 1_000, 1_000),
        run("wrong", "a", Sat, Unsat, 500, 500),
    ];
    for scores in [rules(&rows), published(&rows)] {
        for view in ["sequential", "parallel", "sat"] {
            let places = table(&scores, view, "division");
            if view == "sat" && places.iter().any(|p| p.text("solver") == "wrong" && p.int("error") == 0) {
                // As published, the sat score knows no wrong unsat; the next test but one is about that.
                continue;
            }
            assert_eq!(solvers(&places), ["fast", "slow", "idle", "wrong"], "{view}");
            assert_eq!(places.iter().map(|p| p.int("rank")).collect::<Vec<_>>(), [1, 2, 3, 4]);
        }
    }
}

/// Each key of the order decides only where all keys before it are equal.
#[test]
fn the_order_is_lexicographic() {
    let rows = [
        // One error outweighs any number of solved benchmarks.
        run("wrong", "a", Sat, Sat, 0, 0),
        run("wrong", "b", Sat, Sat, 0, 0),
        run("wrong", "c", Sat, Unsat, 0, 0),
        // One more solved benchmark outweighs any time.
        run("two", "a", Sat, Sat, 1_100_000, 1_100_000),
        run("two", "b", Sat, Sat, 1_100_000, 1_100_000),
        run("two", "c", Sat, Unknown, 1_100_000, 1_100_000),
        run("one", "a", Sat, Sat, 1, 1),
        run("one", "b", Sat, Unknown, 1, 1),
        run("one", "c", Sat, Unknown, 1, 1),
    ];
    for scores in [rules(&rows), published(&rows)] {
        for view in ["sequential", "parallel"] {
            assert_eq!(solvers(&table(&scores, view, "division")), ["two", "one", "wrong"], "{view}");
        }
    }
}

/// SMT-COMP 2019: a solver that solved nothing was declared the winner.
#[test]
fn a_solver_with_score_0_won() {
    let rows = [run("x", "a", Sat, Unknown, 1_000, 1_000), run("y", "a", Sat, Unknown, 2_000, 2_000)];
    for scores in [rules(&rows), published(&rows)] {
        for view in ["sequential", "parallel", "sat", "unsat", "24s"] {
            for name in ["division", "logic"] {
                assert!(table(&scores, view, name).iter().all(|p| !p.yes("winner")), "{view}");
            }
            assert!(table(&scores, view, "biggest-lead").is_empty(), "{view}");
        }
    }
}

/// SMT-COMP 2025: the runner-up of the biggest lead was a solver that does not compete, and competitors were told
/// apart by the beginning of their names.
#[test]
fn the_runner_up_did_not_compete() {
    let mut guest = run("solver-guest", "a", Sat, Sat, 2_000, 2_000);
    guest.competing = false;
    let rows = [run("solver-one", "a", Sat, Sat, 1_000, 1_000), guest, run("solver-two", "a", Sat, Sat, 9_000, 9_000)];
    for scores in [rules(&rows), published(&rows)] {
        let lead = table(&scores, "parallel", "biggest-lead");
        assert_eq!(lead.len(), 1);
        assert_eq!((lead[0].text("solver"), lead[0].text("second")), ("solver-one", "solver-two"));
        // (9 + 1) / (1 + 1), with times in seconds.
        assert_eq!(lead[0].exact("time_rank").to_string(), "5");
        // The guest is listed where it belongs, and does not move the others.
        let places = table(&scores, "parallel", "division");
        assert_eq!(solvers(&places), ["solver-one", "solver-guest", "solver-two"]);
        assert_eq!(places.iter().map(|p| p.int("rank")).collect::<Vec<_>>(), [1, 2, 2]);
        assert!(places[0].yes("winner") && !places[1].yes("winner") && !places[2].yes("winner"));
    }
}

/// The same: a division with one competing team has no winner by the rules, whoever else was run.
#[test]
fn variants_of_one_solver_competed_with_each_other() {
    let mut rows = [
        run("base", "a", Sat, Sat, 1_000, 1_000),
        run("variant", "a", Sat, Sat, 2_000, 2_000),
        run("guest", "a", Sat, Sat, 3_000, 3_000),
    ];
    rows[1].team = rows[0].team.clone();
    rows[2].competing = false;
    let scores = rules(&rows);
    assert!(table(&scores, "parallel", "division").iter().all(|p| !p.yes("winner")));
    assert!(table(&scores, "parallel", "biggest-lead").is_empty());
    // The scripts of 2022 looked at names only.
    assert!(place_of(&published(&rows), "parallel", "base").yes("winner"));
}

// Limits and clocks.

/// SMT-COMP 2019: the sat, unsat and 24-seconds scores kept times over the limit, and the sequential score used
/// wall-clock time. Every kind of score against every limit and both clocks.
#[test]
fn times_over_the_limit_were_kept() {
    // CPU and wall-clock time in milliseconds; the views of rules, then of the published reading, in which the run
    // counts as solved, with both times in seconds.
    type Expected = [(i128, i128, i128); 5];
    let views = ["sequential", "parallel", "sat", "unsat", "24s"];
    let cases: [(i128, i128, Expected, Expected); 6] = [
        // Exactly at the limits: it counts everywhere but in the 24 seconds.
        (
            1_200_000,
            1_200_000,
            [(1, 1200, 1200), (1, 1200, 1200), (1, 1200, 1200), (0, 0, 0), (0, 96, 24)],
            [(1, 1200, 1200), (1, 1200, 1200), (1, 1200, 1200), (0, 0, 0), (0, 24, 24)],
        ),
        // Over the CPU limit only: the sequential score does not count it, whatever the wall clock says.
        (
            1_201_000,
            400_000,
            [(0, 1200, 400), (1, 1201, 400), (1, 1201, 400), (0, 0, 0), (0, 96, 24)],
            [(0, 1200, 1200), (1, 1201, 400), (1, 1201, 400), (0, 0, 0), (0, 24, 24)],
        ),
        // Over the wall-clock limit only: by the text of 2022 the answer counts, with T as its time.
        (
            600_000,
            1_201_000,
            [(1, 600, 1200), (1, 600, 1200), (1, 600, 1200), (0, 0, 0), (0, 96, 24)],
            [(1, 600, 1201), (0, 1200, 1200), (0, 1200, 1200), (0, 0, 0), (0, 24, 24)],
        ),
        // CPU time is bounded by mT = 4800 s.
        (
            5_000_000,
            1_100_000,
            [(0, 1200, 1100), (1, 4800, 1100), (1, 4800, 1100), (0, 0, 0), (0, 96, 24)],
            [(0, 1200, 1200), (1, 5000, 1100), (1, 5000, 1100), (0, 0, 0), (0, 24, 24)],
        ),
        // Exactly 24 s of wall-clock time are within 24 seconds.
        (
            90_000,
            24_000,
            [(1, 90, 24), (1, 90, 24), (1, 90, 24), (0, 0, 0), (1, 90, 24)],
            [(1, 90, 24), (1, 90, 24), (1, 90, 24), (0, 0, 0), (1, 90, 24)],
        ),
        // The 24 seconds are of wall-clock time, and CPU time is bounded by 96 s beside them.
        (
            100_000,
            23_000,
            [(1, 100, 23), (1, 100, 23), (1, 100, 23), (0, 0, 0), (1, 96, 23)],
            [(1, 100, 23), (1, 100, 23), (1, 100, 23), (0, 0, 0), (1, 100, 23)],
        ),
    ];
    for (cpu, wall, by_rules, as_published) in cases {
        let rows = [run("x", "a", Sat, Sat, cpu, wall), run("y", "a", Sat, Unknown, 0, 0)];
        for (scores, expected) in [(rules(&rows), by_rules), (published(&rows), as_published)] {
            for (view, expected) in views.iter().zip(expected) {
                let (error, correct, cpu_s, wall_s) = score_of(&scores, view, "x");
                assert_eq!(
                    (error, correct, cpu_s, wall_s),
                    (0, expected.0, expected.1, expected.2),
                    "{cpu} {wall} {view}"
                );
            }
        }
    }
}

/// One nanosecond over 24 s is over 24 s: limits are compared exactly.
#[test]
fn limits_were_compared_after_rounding() {
    for (wall, solved) in [(24 * SECOND - 1, 1), (24 * SECOND, 1), (24 * SECOND + 1, 0)] {
        let mut row = run("x", "a", Sat, Sat, 0, 0);
        row.wall = wall;
        assert_eq!(score_of(&rules(&[row]), "24s", "x").1, solved, "{wall} ns");
    }
}

/// SMT-COMP 2014: an answer of a run that was stopped at a limit does not count, and in parallel mode 600 s of
/// wall-clock time are the limit.
#[test]
fn answers_of_stopped_runs_counted() {
    use agon_second_reading::Condition::{Complete, Memout, TimeoutCpu, TimeoutWall};
    let cases = [
        (Complete, 599_000, 600_000, [1, 1]),
        (Complete, 599_000, 600_001, [1, 0]),
        (Complete, 2_400_000, 600_000, [1, 1]),
        (TimeoutCpu, 100, 100, [0, 0]),
        (TimeoutWall, 100, 100, [0, 0]),
        (Memout, 100, 100, [0, 0]),
    ];
    for (condition, cpu, wall, solved) in cases {
        let mut row = run("x", "a", Sat, Sat, cpu, wall);
        row.condition = condition;
        row.division = "LIA".into();
        for second in [Rules, Published] {
            let scores = scores_of(edition(SMT_COMP_2014, second), &[row.clone()]).expect("the row can be scored");
            for (view, solved) in ["sequential", "parallel"].iter().zip(solved) {
                assert_eq!(score_of(&scores, view, "x").1, solved, "{condition:?} {cpu} {wall} {view} {second:?}");
            }
        }
    }
}

/// SAT Competition 2020 and 2021: the cloud track was evaluated with another track's time limit, which changed PAR-2
/// fivefold and, the year after, third place. The penalty follows from the limit of the view, stated once.
#[test]
fn par_2_took_its_limit_from_another_track() {
    let text = |limit: &str| {
        format!(
            "edition: par\ntracks:\n  main:\n    plugin: single-query\n    divisions: {{ all: [] }}\n    scoring:\n      \
             runs:\n        costs:\n          let:\n            solved_run: answer != unknown and wall_time <= limit\n            \
             cost: if(solved_run, wall_time, 2 * limit)\n      measures:\n        par2: {{ is: sum(cost), decimals: 0 }}\n        \
             correct: count(solved_run)\n      order: [par2 asc]\n      winner: competing and rank == 1\n      views:\n        \
             cloud: {{ let: {{ limit: {limit} }} }}\nresults:\n  runs:\n    track: main\n    recognise: {{ columns: [solver, \
             benchmark, answer, wall] }}\n    columns:\n      entrant: solver\n      solver: solver\n      competing: {{ value: \
             \"true\" }}\n      benchmark: benchmark\n      answer: answer\n      status: {{ value: unknown }}\n      cpu_time: \
             wall\n      wall_time: wall\n"
        )
    };
    let csv = "solver,benchmark,answer,wall\nmany,a,sat,900\nmany,b,sat,1500\nmany,c,sat,1600\nquick,a,sat,10\nquick,b,sat,20\n\
               quick,c,unknown,5000\n";
    let of = |limit: &str| {
        let scores =
            scores_of_text(&edition_of_text(&text(limit), Reading::Rules), csv).expect("the runs can be scored");
        let places = table(&scores, "cloud", "division");
        places
            .iter()
            .map(|p| (p.text("solver").to_owned(), p.int("par2") / SECOND, p.int("correct")))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("5000 s"), [("many".into(), 4000, 3), ("quick".into(), 10_030, 2)]);
    assert_eq!(of("1000 s"), [("quick".into(), 2030, 2), ("many".into(), 4900, 1)]);
}

// Wrong answers, statuses and disagreements.

/// SMT-COMP 2021: wrong answers were charged to the wrong one of the sat and unsat scores. The rule itself differs: by
/// the text an instance belongs to a score by its status, in the scripts of 2022 a wrong answer counts by what it says.
#[test]
fn wrong_answers_were_charged_to_the_wrong_score() {
    let rows = [
        run("says-sat", "u", Unsat, Sat, 5_000, 5_000),
        run("says-unsat", "s", Sat, Unsat, 7_000, 7_000),
        run("right", "u", Unsat, Unsat, 1_000, 1_000),
        run("right", "s", Sat, Sat, 1_000, 1_000),
    ];
    let scores = rules(&rows);
    assert_eq!(score_of(&scores, "sat", "says-sat"), (0, 0, 0, 0));
    assert_eq!(score_of(&scores, "unsat", "says-sat"), (1, 0, 5, 5));
    assert_eq!(score_of(&scores, "sat", "says-unsat"), (1, 0, 7, 7));
    assert_eq!(score_of(&scores, "unsat", "says-unsat"), (0, 0, 0, 0));
    let scores = published(&rows);
    assert_eq!(score_of(&scores, "sat", "says-sat"), (1, 0, 5, 5));
    assert_eq!(score_of(&scores, "unsat", "says-sat"), (0, 0, 0, 0));
    assert_eq!(score_of(&scores, "sat", "says-unsat"), (0, 0, 0, 0));
    assert_eq!(score_of(&scores, "unsat", "says-unsat"), (1, 0, 7, 7));
    // The switch is one deviation, and can be thrown alone.
    let alone = Reading::With(["errors-by-answer".to_owned()].into());
    let edition = load(&edition_file(SMT_COMP_2022), alone);
    let scores = scores_of(&edition, &rows).expect("the rows can be scored");
    assert_eq!(score_of(&scores, "sat", "says-sat"), (1, 0, 5, 5));
    for view in ["sequential", "parallel", "24s"] {
        assert_eq!(score_of(&scores, view, "says-sat").0, 1, "{view}");
        assert_eq!(score_of(&scores, view, "says-unsat").0, 1, "{view}");
    }
}

/// SMT-COMP 2024: one benchmark had a wrong status, and two right solvers lost by it. Every changed score is found by
/// scoring again with one status changed.
#[test]
fn a_wrong_status_cost_two_right_solvers_their_places() {
    let rows = [
        run("p", "a", Sat, Sat, 1_000, 1_000),
        run("p", "b", Sat, Unsat, 1_000, 1_000),
        run("q", "a", Sat, Sat, 2_000, 2_000),
        run("q", "b", Sat, Unsat, 2_000, 2_000),
        run("r", "a", Sat, Sat, 3_000, 3_000),
        run("r", "b", Sat, Unknown, 3_000, 3_000),
    ];
    let folder = Folder::new();
    let flip = decisions(
        &folder,
        "  - { date: 2022-08-01, reason: a counterexample was found, status: unsat, benchmarks: [LIA/family/b.smt2] }\n",
    );
    let (before, after) = (rules(&rows), with(&rows, &flip, Rules));
    assert_eq!(solvers(&table(&before, "parallel", "division")), ["r", "p", "q"]);
    assert_eq!(solvers(&table(&after, "parallel", "division")), ["p", "q", "r"]);
    let changed = |solver| score_of(&before, "parallel", solver) != score_of(&after, "parallel", solver);
    assert!(changed("p") && changed("q") && !changed("r"));
    assert_eq!(score_of(&after, "parallel", "p"), (0, 2, 2, 2));
    // What the decision did is on record, and a wrong name in it is an error.
    let edition = edition(SMT_COMP_2022, Rules);
    let effect = runs_of(edition, &rows, Some(&flip)).expect("the rows can be read").effect;
    assert_eq!(effect.statuses, [("LIA/family/b.smt2".into(), "sat".into(), "unsat".into())]);
    let typo =
        decisions(&folder, "  - { date: 2022-08-01, reason: r, status: unsat, benchmarks: [LIA/family/bb.smt2] }\n");
    let error = runs_of(edition, &rows, Some(&typo)).expect_err("there is no such benchmark").to_string();
    assert!(error.contains("LIA/family/bb.smt2") && error.contains("decision 1"), "{error}");
    let word =
        decisions(&folder, "  - { date: 2022-08-01, reason: r, status: saat, benchmarks: [LIA/family/b.smt2] }\n");
    let error = runs_of(edition, &rows, Some(&word)).expect_err("there is no such status").to_string();
    assert!(error.contains("saat"), "{error}");
}

/// SMT-COMP 2016, 2017 and 2021: benchmarks were removed after the runs. A removal is dated and reasoned data; the
/// raw results stay as they are (CHC-COMP rewrote them).
#[test]
fn benchmarks_were_removed_without_a_trace() {
    let rows = [
        run("p", "a", Sat, Sat, 1_000, 1_000),
        run("p", "b", Sat, Unsat, 1_000, 1_000),
        run("q", "a", Sat, Sat, 2_000, 2_000),
        run("q", "b", Sat, Sat, 2_000, 2_000),
    ];
    let folder = Folder::new();
    let results = folder.path("results.csv");
    write_archive_2022(&rows, &results).expect("the results can be written");
    let raw = std::fs::read(&results).expect("the results can be read");
    let remove = decisions(
        &folder,
        "  - { date: 2022-08-01, reason: not in its logic, remove: true, benchmarks: [LIA/family/b.smt2] }\n",
    );
    let edition = edition(SMT_COMP_2022, Rules);
    let tracks = runs(edition, std::slice::from_ref(&results), &entrants_2022(&rows), Some(&remove));
    let tracks = tracks.expect("the results can be read");
    assert_eq!(tracks[0].effect.removed, ["LIA/family/b.smt2"]);
    let scores = score(edition, &tracks[0], &everything()).expect("the results can be scored");
    assert_eq!(score_of(&scores, "parallel", "p"), (0, 1, 1, 1));
    assert_eq!(place_of(&scores, "parallel", "p").int("benchmarks"), 1);
    assert_eq!(solvers(&table(&scores, "parallel", "division")), ["p", "q"]);
    assert_eq!(solvers(&table(&rules(&rows), "parallel", "division")), ["q", "p"]);
    assert_eq!(std::fs::read(&results).expect("the results can be read"), raw);
    for bad in [
        "  - { date: 2022-08-01, reason: ' ', remove: true, benchmarks: [LIA/family/b.smt2] }\n",
        "  - { date: '', reason: r, remove: true, benchmarks: [LIA/family/b.smt2] }\n",
        "  - { date: 2022-08-01, reason: r, remove: true }\n",
        "  - { date: 2022-08-01, reason: r, benchmarks: [LIA/family/b.smt2] }\n",
        "  - { date: 2022-08-01, reason: r }\n",
        "  - { date: 2022-08-01, reason: r, remove: true, status: sat, benchmarks: [LIA/family/b.smt2] }\n",
        "  - { date: 2022-08-01, remove: true, benchmarks: [LIA/family/b.smt2] }\n",
    ] {
        let path = folder.write("bad.yaml", &format!("adjudication: smt-comp-2022\ndecisions:\n{bad}"));
        assert!(Adjudication::read(&path).is_err(), "{bad}");
    }
}

/// SMT-COMP 2021 to 2023: decisions on disagreements were kept in a file of benchmarks and statuses. Such a file is
/// read as part of a decision; a status that the decision itself gives goes before.
#[test]
fn decisions_in_a_file_had_no_date_and_no_reason() {
    let mut rows = vec![
        run("p", "a", Unknown, Sat, 1_000, 1_000),
        run("p", "b", Unknown, Sat, 1_000, 1_000),
        run("q", "a", Unknown, Unknown, 2_000, 2_000),
        run("q", "b", Unknown, Unknown, 2_000, 2_000),
    ];
    let folder = Folder::new();
    let _ = folder.write("statuses.csv", "status,benchmark\nunsat,LIA/family/a.smt2\nsat,LIA/family/b.smt2\n");
    let own = decisions(&folder, "  - { date: 2022-08-01, reason: r, file: statuses.csv }\n");
    assert_eq!(score_of(&with(&rows, &own, Rules), "parallel", "p"), (1, 1, 2, 2));
    let _ = folder.write("names.csv", "benchmark\nLIA/family/a.smt2\nLIA/family/b.smt2\n");
    let given = decisions(&folder, "  - { date: 2022-08-01, reason: r, status: unsat, file: names.csv }\n");
    assert_eq!(score_of(&with(&rows, &given, Rules), "parallel", "p"), (2, 0, 2, 2));
    let removed = decisions(&folder, "  - { date: 2022-08-01, reason: r, remove: true, file: names.csv }\n");
    let edition = edition(SMT_COMP_2022, Rules);
    rows.push(run("p", "c", Sat, Sat, 1_000, 1_000));
    let runs = runs_of(edition, &rows, Some(&removed)).expect("the rows can be read");
    assert_eq!((runs.effect.removed.len(), runs.table.rows()), (2, 1));
}

/// SMT-COMP 2025: the removal of results was switched off in the code because an empty list was not valid input.
#[test]
fn an_empty_list_of_decisions_was_refused() {
    let rows = [run("p", "a", Sat, Sat, 1_000, 1_000), run("q", "a", Sat, Sat, 2_000, 2_000)];
    let folder = Folder::new();
    let path = folder.write("none.yaml", "adjudication: smt-comp-2022\ndecisions: []\n");
    let none = Adjudication::read(&path).expect("an empty list is a list");
    let edition = edition(SMT_COMP_2022, Rules);
    assert_eq!(csv_of(edition, with(&rows, &none, Rules)), csv_of(edition, rules(&rows)));
}

/// Unknown statuses: a benchmark on which sound solvers disagree is removed, one on which an unsound solver disagrees
/// with the others is not, and by the rules soundness is a matter of the division.
#[test]
fn an_unsound_solver_removed_benchmarks() {
    let other_division = |mut row: Row| {
        row.benchmark = row.benchmark.replace("LIA/", "ALIA/");
        row.logic = "ALIA".into();
        row.division = "Equality+LinearArith".into();
        row
    };
    let disputed = [run("p", "a", Unknown, Sat, 1_000, 1_000), run("q", "a", Unknown, Unsat, 1_000, 1_000)];
    let also = [run("p", "c", Sat, Sat, 0, 0), run("q", "c", Sat, Sat, 0, 0)];
    let sound: Vec<Row> = disputed.iter().chain(&also).cloned().collect();
    for scores in [rules(&sound), published(&sound)] {
        assert_eq!(place_of(&scores, "parallel", "p").int("benchmarks"), 1);
    }
    let mut unsound_here = sound.clone();
    unsound_here.push(run("q", "b", Sat, Unsat, 0, 0));
    for scores in [rules(&unsound_here), published(&unsound_here)] {
        assert_eq!(place_of(&scores, "parallel", "p").int("benchmarks"), 3);
        assert_eq!(score_of(&scores, "parallel", "q"), (1, 2, 1, 1));
    }
    let mut unsound_elsewhere = sound;
    unsound_elsewhere.push(other_division(run("q", "b", Sat, Unsat, 0, 0)));
    assert_eq!(place_of(&rules(&unsound_elsewhere), "parallel", "p").int("benchmarks"), 1);
    assert_eq!(place_of(&published(&unsound_elsewhere), "parallel", "p").int("benchmarks"), 2);
}

// The virtual best solver.

/// SMT-COMP 2024 and 2025: the virtual best solver dropped unsolved benchmarks instead of charging T, and 223 negative
/// ranks were published. By the text a contribution lies between 0 and 1.
#[test]
fn the_virtual_best_forgot_unsolved_benchmarks() {
    let mut rows = Vec::new();
    for (solver, time) in [("p", 100_000), ("q", 300_000), ("r", 500_000)] {
        rows.push(run(solver, "both", Sat, Sat, time, time));
        // Only p solves this one, in 1000 s; without p it costs 1200 s.
        let answer = if solver == "p" { Sat } else { Unknown };
        rows.push(run(solver, "only-p", Sat, answer, 1_000_000, 1_000_000));
        // Nobody solves this one: 1200 s with and without p.
        rows.push(run(solver, "nobody", Sat, Unknown, 7_000, 7_000));
    }
    let contribution = table(&rules(&rows), "parallel", "largest-contribution");
    assert_eq!(contribution.len(), 1);
    assert_eq!(contribution[0].text("solver"), "p");
    // 1 - 1/2 and 1 - (100 + 1000 + 1200) / (300 + 1200 + 1200), all pairs being in this division.
    assert_eq!(contribution[0].exact("correct").to_string(), "1/2");
    assert_eq!(contribution[0].exact("time_rank").to_string(), "4/27");
    assert!(contribution[0].yes("winner"));
}

/// The same for a benchmark that only a guest ran: nobody of the virtual best solved it, so it costs 1200 s, by the
/// rules whether or not anybody of them was run on it.
#[test]
fn the_virtual_best_forgot_benchmarks_that_only_guests_ran() {
    let mut rows = Vec::new();
    for (solver, time) in [("p", 100_000), ("q", 300_000), ("r", 500_000)] {
        rows.push(run(solver, "a", Sat, Sat, time, time));
    }
    let mut guest = run("guest", "b", Sat, Sat, 1_000, 1_000);
    guest.competing = false;
    rows.push(guest);
    // 1 - (100 + 1200) / (300 + 1200) by the text; the scripts had 1 - 100 / 300.
    for (scores, rank) in [(rules(&rows), "2/15"), (published(&rows), "2/3")] {
        let contribution = table(&scores, "parallel", "largest-contribution");
        assert_eq!(contribution[0].exact("time_rank").to_string(), rank);
    }
}

/// SMT-COMP 2019 and SAT Competition 2021: the virtual best included unsound and disqualified solvers. Its members are
/// explicit: competing, sound in the division, and not disqualified.
#[test]
fn the_virtual_best_included_unsound_and_disqualified_solvers() {
    let mut rows = Vec::new();
    for (solver, time) in [("p", 100_000), ("q", 300_000), ("r", 500_000), ("s", 900_000)] {
        rows.push(run(solver, "a", Sat, Sat, time, time));
        rows.push(run(solver, "b", Sat, if solver == "p" { Unsat } else { Sat }, time, time));
    }
    // p is fastest, but unsound. Of the others q contributes most, as if p were not there.
    let contribution = table(&rules(&rows), "parallel", "largest-contribution");
    assert_eq!(contribution[0].text("solver"), "q");
    assert_eq!(contribution[0].exact("time_rank").to_string(), "2/5");
    // q disqualified, two are left: too few for the ranking.
    let folder = Folder::new();
    let out = decisions(&folder, "  - { date: 2022-08-07, reason: reads files of earlier runs, disqualify: [q] }\n");
    assert!(table(&with(&rows, &out, Rules), "parallel", "largest-contribution").is_empty());
    // With three sound ones left, the disqualified one is no part of the virtual best.
    rows.push(run("t", "a", Sat, Sat, 1_000_000, 1_000_000));
    rows.push(run("t", "b", Sat, Sat, 1_000_000, 1_000_000));
    let contribution = table(&with(&rows, &out, Rules), "parallel", "largest-contribution");
    assert_eq!(contribution[0].text("solver"), "r");
    assert_eq!(contribution[0].exact("time_rank").to_string(), "4/9");
}

/// SAT Competition 2020: a disqualification changed slides by hand. It is data: the solver stays listed, ranks no one
/// down, wins nothing, and the next one moves up.
#[test]
fn a_disqualification_was_drawn_onto_slides() {
    let rows = [
        run("first", "a", Sat, Sat, 1_000, 1_000),
        run("second", "a", Sat, Sat, 2_000, 2_000),
        run("third", "a", Sat, Sat, 3_000, 3_000),
    ];
    let folder = Folder::new();
    let out = decisions(&folder, "  - { date: 2022-08-07, reason: r, disqualify: [first] }\n");
    let scores = with(&rows, &out, Rules);
    let places = table(&scores, "parallel", "division");
    assert_eq!(solvers(&places), ["first", "second", "third"]);
    assert_eq!(places.iter().map(|p| p.int("rank")).collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(places.iter().map(|p| p.yes("winner")).collect::<Vec<_>>(), [false, true, false]);
    assert!(places[0].yes("disqualified") && !places[0].yes("competing"));
    // A second decision adds to the first.
    let both = decisions(
        &folder,
        "  - { date: 2022-08-07, reason: r, disqualify: [first] }\n  - { date: 2022-08-08, reason: r, disqualify: [second] }\n",
    );
    let places = table(&with(&rows, &both, Rules), "parallel", "division");
    assert_eq!(places.iter().map(|p| p.yes("disqualified")).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(places.iter().map(|p| p.yes("competing")).collect::<Vec<_>>(), [false, false, true]);
    // One about another track changes nothing here.
    let elsewhere =
        decisions(&folder, "  - { date: 2022-08-07, reason: r, track: incremental, disqualify: [first] }\n");
    let places = table(&with(&rows, &elsewhere, Rules), "parallel", "division");
    assert!(places[0].yes("winner") && places[0].text("solver") == "first");
    let here = decisions(&folder, "  - { date: 2022-08-07, reason: r, track: single-query, disqualify: [first] }\n");
    assert!(!table(&with(&rows, &here, Rules), "parallel", "division")[0].yes("winner"));
    // Withdrawn, its results are gone.
    let gone = decisions(&folder, "  - { date: 2022-08-07, reason: r, withdraw: [first] }\n");
    let places = table(&with(&rows, &gone, Rules), "parallel", "division");
    assert_eq!(solvers(&places), ["second", "third"]);
    // Somebody who is not there cannot be disqualified.
    let nobody = decisions(&folder, "  - { date: 2022-08-07, reason: r, disqualify: [frist] }\n");
    let error = runs_of(edition(SMT_COMP_2022, Rules), &rows, Some(&nobody)).expect_err("no such entrant");
    assert!(error.to_string().contains("frist"), "{error}");
}

// Reading results.

/// Writes rows as the archive of 2022 has them and gives the text.
fn archive_text(rows: &[Row]) -> String {
    let folder = Folder::new();
    let path = folder.path("results.csv");
    write_archive_2022(rows, &path).expect("the results can be written");
    std::fs::read_to_string(path).expect("the results can be read")
}

/// The text with its columns in another order, or without some.
fn columns(text: &str, wanted: impl Fn(&[&str]) -> Vec<usize>) -> String {
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let order = wanted(&header);
    let mut out = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        out.push_str(&order.iter().map(|&at| cells[at]).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}

fn small_competition() -> Vec<Row> {
    competition_2022(Shape { divisions: 2, logics: 2, benchmarks: 5, entrants: 4 }, 7)
}

/// SMT-COMP 2020: the execution service lost a column, and time-outs became errors. A missing column is an error that
/// names it, never a default.
#[test]
fn a_lost_column_became_a_default() {
    let rows = small_competition();
    let text = archive_text(&rows);
    let edition_2022 = edition(SMT_COMP_2022, Rules);
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    assert_eq!(header.len(), 13);
    let folder = Folder::new();
    for (at, name) in header.iter().enumerate() {
        let without = columns(&text, |h| (0..h.len()).filter(|&c| c != at).collect());
        let file = folder.write("results.csv", &without);
        let outcome = runs(edition_2022, &[file], &entrants_2022(&rows), None);
        if *name == "solver_id" {
            // The one column that nothing is made of: entrants are known by their configuration.
            assert!(outcome.is_ok());
            continue;
        }
        let error = outcome.expect_err("a column is missing").to_string();
        assert!(error.contains(name), "without {name}: {error}");
    }

    // The same for 2014.
    let rows = [run("p", "a", Sat, Sat, 1_000, 1_000), run("q", "a", Sat, Sat, 2_000, 2_000)];
    let (results, solvers) = (folder.path("results-main.csv"), folder.path("solvers.csv"));
    write_archive_2014(&rows, &results, &solvers).expect("the results can be written");
    let edition_2014 = edition(SMT_COMP_2014, Rules);
    let list = EntrantList::read(edition_2014, &solvers).expect("the list can be read");
    let text = std::fs::read_to_string(&results).expect("the results can be read");
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    assert!(runs(edition_2014, &[results], &list, None).is_ok());
    // What the edition does not use may be missing: numbers of pairs and benchmarks, names beside keys, the logic,
    // which the path says.
    let unused = ["benchmark_id", "logic", "solver", "solver_id", "configuration"];
    for (at, name) in header.iter().enumerate().filter(|(_, name)| !unused.contains(name)) {
        let without = columns(&text, |h| (0..h.len()).filter(|&c| c != at).collect());
        let outcome = runs(edition_2014, &[folder.write("without.csv", &without)], &list, None);
        let error = outcome.expect_err("a column is missing").to_string();
        assert!(error.contains(name), "without {name}: {error}");
    }
}

/// SMT-COMP 2023: the finder of disagreements used column numbers. Columns are known by name: in any order they give
/// the same scores, to the last byte.
#[test]
fn columns_were_known_by_number() {
    let rows = small_competition();
    let text = archive_text(&rows);
    let edition = edition(SMT_COMP_2022, Rules);
    let of = |text: &str| {
        let folder = Folder::new();
        let tracks = runs(edition, &[folder.write("results.csv", text)], &entrants_2022(&rows), None);
        let scores = score(edition, &tracks.expect("the results can be read")[0], &everything());
        csv_of(edition, scores.expect("the results can be scored"))
    };
    let expected = of(&text);
    assert_eq!(of(&columns(&text, |h| (0..h.len()).rev().collect())), expected);
    assert_eq!(of(&columns(&text, |h| (0..h.len()).map(|c| (c * 5 + 3) % h.len()).collect())), expected);
}

/// VNN-COMP 2026: time limits were looked up by row number. Files are joined by the identity of a benchmark.
#[test]
fn files_were_joined_by_row_number() {
    let folder = Folder::new();
    let pairs = |order: &[&str]| {
        let mut text = String::from("benchmark_id,cpu_time,wallclock_time,result\n");
        for line in order {
            text.push_str(line);
        }
        text
    };
    let (one, two) = ("1,3.0,3.0,sat\n", "2,5.0,5.0,unsat\n");
    let benchmarks = |lines: &str| format!("benchmark_id,logic,division,expected\n{lines}");
    let edition = edition(SMT_COMP_2022, Rules);
    let of = |results: &str, beside: &str| {
        let file = folder.write("solver_659700_sq.csv", results);
        let _ = folder.write("benchmarks.csv", beside);
        let scores = scores_of_files(edition, &[file]).expect("the results can be scored");
        csv_of(edition, scores.into_iter().next().expect("one track"))
    };
    let right = benchmarks("1,LIA,Arith,sat\n2,LRA,Arith,unsat\n");
    let expected = of(&pairs(&[one, two]), &right);
    assert!(expected.contains(",Yices2,"), "{expected}");
    assert_eq!(of(&pairs(&[two, one]), &right), expected);
    assert_eq!(of(&pairs(&[one, two]), &benchmarks("2,LRA,Arith,unsat\n3,BV,Bitvec,sat\n1,LIA,Arith,sat\n")), expected);
    // A benchmark that the other file does not have is an error.
    let file = folder.write("solver_659700_sq.csv", &pairs(&[one, two]));
    let _ = folder.write("benchmarks.csv", &benchmarks("1,LIA,Arith,sat\n"));
    assert!(scores_of_files(edition, &[file]).is_err());
}

/// SMT-COMP 2022: answers with a blank before them were not recognised; SMT-COMP 2024: an expression without brackets
/// took `satisfiable?` for an answer. Blanks around an answer do not matter, and any other word is an error that shows
/// it, never a silent default.
#[test]
fn blanks_and_unknown_words_were_judged() {
    let text = |answer: &str| {
        format!(
            "benchmark,millisecond,result,configuration id,expected,solver,cpu time,wallclock time\n\
             LIA/a.smt2,1,\"{answer}\",1,sat,cvc5-cloud,1.0,1.0\n"
        )
    };
    let edition = edition(SMT_COMP_2022, Rules);
    let folder = Folder::new();
    let of = |answer: &str| scores_of_files(edition, &[folder.write("raw-results-cloud.csv", &text(answer))]);
    for answer in ["sat", " sat", "sat ", "\tsat", "sat\r", " \tsat \r"] {
        let scores = of(answer).unwrap_or_else(|e| panic!("{answer:?}: {e}"));
        assert_eq!(score_of(&scores[0], "parallel", "cvc5-cloud").1, 1, "{answer:?}");
    }
    assert_eq!(score_of(&of(" unsat").expect("an answer")[0], "parallel", "cvc5-cloud").0, 1);
    for word in ["timeout", "unknown", "error", "failure"] {
        assert_eq!(score_of(&of(word).expect("no answer")[0], "parallel", "cvc5-cloud").0, 0, "{word}");
    }
    for odd in ["satisfiable?", "(error expected unsat", "SAT", "sat unsat", "unsatt", "s at"] {
        let error = of(odd).expect_err("this is no answer").to_string();
        assert!(error.contains(odd), "{odd:?}: {error}");
    }
}

/// TermCOMP 2026: penalties were keyed by solver, not by configuration. An entrant is a configuration: two of one
/// solver are judged apart, and two rows of one configuration on one benchmark are an error.
#[test]
fn configurations_of_one_solver_were_mixed() {
    let mut rows = vec![
        run("tool-a", "a", Sat, Unsat, 1_000, 1_000),
        run("tool-b", "a", Sat, Sat, 1_000, 1_000),
        run("rival", "a", Sat, Sat, 9_000, 9_000),
    ];
    // In the archive of 2014 entrants of one team share the identifier of the solver.
    rows[1].team = rows[0].team.clone();
    for row in &mut rows {
        row.division = "LIA".into();
    }
    let edition_2014 = edition(SMT_COMP_2014, Rules);
    let places = table(&scores_of(edition_2014, &rows).expect("the rows can be scored"), "sequential", "division");
    assert_eq!(solvers(&places), ["tool-b", "rival", "tool-a"]);
    assert_eq!(places.iter().map(|p| p.int("error")).collect::<Vec<_>>(), [0, 0, 1]);
    rows.push(rows[0].clone());
    let error = scores_of(edition_2014, &rows).expect_err("a run was given twice").to_string();
    assert!(error.contains(&rows[0].benchmark), "{error}");
}

/// SAT Competition 2022: an entry to a track was declared in a document only, and its winner announced late. What is
/// said of an entrant is in the list; a list that lacks an entrant, names one twice or does not say whether it competes
/// is an error.
#[test]
fn entrants_were_declared_somewhere_else() {
    let rows = [run("p", "a", Sat, Sat, 1_000, 1_000), run("q", "a", Sat, Sat, 2_000, 2_000)];
    let edition = edition(SMT_COMP_2022, Rules);
    let folder = Folder::new();
    let results = [folder.write("results.csv", &archive_text(&rows))];
    let complete = entrants_2022(&rows);
    assert!(runs(edition, &results, &complete, None).is_ok());
    let mut list = complete.clone();
    let gone = list.rows.pop().expect("two entrants");
    let error = runs(edition, &results, &list, None).expect_err("an entrant is missing").to_string();
    assert!(error.contains(&gone["config_single_query"]), "{error}");
    let mut list = complete.clone();
    list.rows.push(gone.clone());
    let error = runs(edition, &results, &list, None).expect_err("an entrant is there twice").to_string();
    assert!(error.contains(&gone["config_single_query"]) && error.contains("twice"), "{error}");
    let mut list = complete.clone();
    list.rows[0].insert("competing".into(), "maybe".into());
    let error = runs(edition, &results, &list, None).expect_err("`maybe` is no flag").to_string();
    assert!(error.contains("maybe"), "{error}");
    let mut list = complete;
    let name = list.rows[0]["solver"].clone();
    list.rows[1].insert("solver".into(), name.clone());
    let error = runs(edition, &results, &list, None).expect_err("two entrants have one name").to_string();
    assert!(error.contains(&name), "{error}");
}

/// An entrant of which the list names no team is a team of its own.
#[test]
fn entrants_without_a_team_were_one_team() {
    let rows = [run("p", "a", Sat, Sat, 1_000, 1_000), run("q", "a", Sat, Sat, 2_000, 2_000)];
    let edition = edition(SMT_COMP_2022, Rules);
    let folder = Folder::new();
    let results = [folder.write("results.csv", &archive_text(&rows))];
    let winners = |list: &EntrantList| {
        let tracks = runs(edition, &results, list, None).expect("the rows can be read");
        let scores = score(edition, &tracks[0], &everything()).expect("the rows can be scored");
        table(&scores, "parallel", "division").iter().filter(|p| p.yes("winner")).count()
    };
    let mut list = entrants_2022(&rows);
    assert_eq!(winners(&list), 1);
    for entrant in &mut list.rows {
        entrant.insert("team".into(), String::new());
    }
    assert_eq!(winners(&list), 1);
    for entrant in &mut list.rows {
        entrant.insert("team".into(), "one".into());
    }
    assert_eq!(winners(&list), 0);
}

/// A benchmark that two rows put into two divisions, or give two statuses, would count for one and be judged by the
/// other.
#[test]
fn rows_contradicted_each_other() {
    let edition = edition(SMT_COMP_2022, Rules);
    let rows = [run("p", "a", Sat, Sat, 0, 0), run("q", "a", Unsat, Sat, 0, 0)];
    let error = scores_of(edition, &rows).expect_err("a has two statuses").to_string();
    assert!(error.contains("LIA/family/a.smt2") && error.contains("status"), "{error}");
    let mut rows = [run("p", "a", Sat, Sat, 0, 0), run("q", "a", Sat, Sat, 0, 0)];
    rows[1].logic = "NIA".into();
    let error = scores_of(edition, &rows).expect_err("a is in two logics").to_string();
    assert!(error.contains("LIA/family/a.smt2") && error.contains("logic"), "{error}");
    rows[1].logic = "BV".into();
    rows[1].division = "Bitvec".into();
    let error = scores_of(edition, &rows).expect_err("a is in two divisions").to_string();
    assert!(error.contains("LIA/family/a.smt2"), "{error}");
    rows[1].logic = "QF_UNHEARD".into();
    let error = scores_of(edition, &rows).expect_err("there is no such logic").to_string();
    assert!(error.contains("QF_UNHEARD") && error.contains("no division"), "{error}");
    rows[1].logic = "LIA".into();
    let error = scores_of(edition, &rows).expect_err("LIA is not in Bitvec").to_string();
    assert!(error.contains("Bitvec") && error.contains("Arith"), "{error}");
}

// The other tracks of 2022.

const CORES: &str =
    "solver,competing,benchmark,cpu_time,wall_time,answer,asserted,core_size,core,votes_sat,votes_unsat\n";

/// Error and reduction of one run of the unsat-core track of 2022, in the parallel and the sequential score.
fn core(cells: &str, times: &str) -> [(i128, i128); 2] {
    let csv = format!("{CORES}x,yes,QF_BV/a.smt2,{times},{cells}\n");
    let scores = scores_of_text(&other_tracks_of_2022(Rules), &csv).expect("the run can be scored");
    ["parallel", "sequential"].map(|view| {
        let (error, reduction, _, _) = score_of(&scores, view, "x");
        (error, reduction)
    })
}

/// SMT-COMP 2024, which "changed completely the results of this track": a time-out earned the full reduction, the
/// number of assertions less 0. Only unsat earns a reduction.
#[test]
fn a_time_out_earned_the_full_reduction() {
    assert_eq!(core("unknown,50,0,none,0,0", "1200,1200"), [(0, 0); 2]);
    // Even if the columns of a core say something.
    assert_eq!(core("unknown,50,0,given,0,0", "1200,1200"), [(0, 0); 2]);
    // Nor can a core be refuted that belongs to no unsat.
    assert_eq!(core("unknown,50,8,given,2,0", "100,100"), [(0, 0); 2]);
    assert_eq!(core("unsat,50,8,given,0,3", "100,100"), [(0, 42); 2]);
    assert_eq!(core("unsat,50,50,given,0,3", "100,100"), [(0, 0); 2]);
    // After the virtual limit of CPU time of the sequential score there is neither reduction nor error.
    assert_eq!(core("unsat,50,8,given,0,3", "1201,400"), [(0, 42), (0, 0)]);
    assert_eq!(core("sat,50,0,none,0,0", "1201,400"), [(1, 0), (0, 0)]);
    assert_eq!(core("sat,50,0,none,0,0", "1,1"), [(1, 0); 2]);
}

/// SMT-COMP 2019: unsat without any core earned the largest reduction. SMT-COMP 2021: an error message after unsat was
/// taken for a core.
#[test]
fn unsat_without_a_core_earned_the_full_reduction() {
    assert_eq!(core("unsat,50,0,none,0,0", "1,1"), [(0, 0); 2]);
    // A malformed core is no core and no error: it shows nothing about the solver's soundness (2020, 2023).
    assert_eq!(core("unsat,50,0,malformed,0,0", "1,1"), [(0, 0); 2]);
    assert_eq!(core("unsat,50,0,malformed,3,0", "1,1"), [(0, 0); 2]);
}

/// SMT-COMP 2024: the votes of the validators were counted by rows where they had to be summed, so that sat never
/// outweighed unsat and 296 refuted cores became 0. A core is refuted if more validators say sat than say unsat.
#[test]
fn no_core_was_ever_refuted() {
    for (sat, unsat, refuted) in
        [(2, 1, true), (1, 1, false), (0, 0, false), (1, 0, true), (0, 1, false), (1, 2, false)]
    {
        let expected = if refuted { (1, 0) } else { (0, 42) };
        assert_eq!(core(&format!("unsat,50,8,given,{sat},{unsat}"), "1,1"), [expected; 2], "{sat} sat, {unsat} unsat");
    }
}

/// Reductions are summed in the division, and an erroneous core ranks behind no core at all.
#[test]
fn reductions_and_errors_of_a_division() {
    let csv = format!(
        "{CORES}x,yes,QF_BV/a.smt2,1,1,unsat,50,8,given,0,3\nx,yes,QF_BV/b.smt2,1,1,unsat,9,9,given,0,3\n\
         y,yes,QF_BV/a.smt2,1,1,unsat,50,7,given,0,3\ny,yes,QF_BV/b.smt2,1,1,unsat,9,1,given,2,1\n\
         z,yes,QF_BV/a.smt2,1,1,unknown,50,0,none,0,0\nz,yes,QF_BV/b.smt2,1,1,unknown,9,0,none,0,0\n"
    );
    let scores = scores_of_text(&other_tracks_of_2022(Rules), &csv).expect("the runs can be scored");
    let places = table(&scores, "parallel", "division");
    assert_eq!(solvers(&places), ["x", "z", "y"]);
    assert_eq!(
        places.iter().map(|p| (p.int("error"), p.int("correct"))).collect::<Vec<_>>(),
        [(0, 42), (0, 0), (1, 43)]
    );
    assert!(places[0].yes("winner"));
}

const MODELS: &str = "solver,competing,benchmark,cpu_time,wall_time,answer,status,model\n";

/// SMT-COMP 2020 and 2023: footnotes had to say that an error score did not mean unsoundness, because models that
/// could not be read counted as errors. SMT-COMP 2025: invalid models scored as solved, since the verdict was written
/// to another object. VNN-COMP 2023: one valid counterexample validated everyone's.
#[test]
fn a_model_that_could_not_be_read_was_an_error() {
    for second in [Rules, Published] {
        let csv = format!(
            "{MODELS}valid,yes,QF_BV/a.smt2,1,1,sat,sat,valid\nunreadable,yes,QF_BV/a.smt2,1,1,sat,sat,unknown\n\
             invalid,yes,QF_BV/a.smt2,1,1,sat,sat,invalid\nsilent,yes,QF_BV/a.smt2,2,2,unknown,sat,unknown\n"
        );
        let scores = scores_of_text(&other_tracks_of_2022(second), &csv).expect("the runs can be scored");
        let places = table(&scores, "parallel", "division");
        assert_eq!(solvers(&places), ["valid", "unreadable", "silent", "invalid"]);
        let scores: Vec<_> = places.iter().map(|p| (p.int("error"), p.int("correct"), p.int("unsolved"))).collect();
        assert_eq!(scores, [(0, 1, 0), (0, 0, 1), (0, 0, 1), (1, 0, 1)]);
    }
}

/// A division that is only tried out is listed and has no winner.
#[test]
fn an_experimental_division_had_a_winner() {
    let csv = format!(
        "{MODELS}p,yes,QF_FP/a.smt2,1,1,sat,sat,valid\nq,yes,QF_FP/a.smt2,2,2,sat,sat,valid\n\
         p,yes,QF_BV/b.smt2,1,1,sat,sat,valid\nq,yes,QF_BV/b.smt2,2,2,sat,sat,valid\n"
    );
    for second in [Rules, Published] {
        let scores = scores_of_text(&other_tracks_of_2022(second), &csv).expect("the runs can be scored");
        for place in table(&scores, "parallel", "division") {
            let experimental = place.text("division") == "QF_FPArith";
            assert_eq!(place.yes("experimental"), experimental);
            assert_eq!(place.yes("winner"), place.text("solver") == "p" && !experimental, "{second:?}");
        }
    }
}

/// SAT Competition 2022 to 2024: what a rejected or missing certificate meant changed every year. For the proofs of
/// 2022: by the text sat and invalid are erroneous, in the scripts nothing was; holey and unknown are neither.
#[test]
fn the_meaning_of_a_certificate_changed() {
    let verdicts = ["valid", "invalid", "holey", "sat", "unknown"];
    for (second, errors) in [(Rules, [0, 1, 0, 1, 0]), (Published, [0, 0, 0, 0, 0])] {
        let edition = other_tracks_of_2022(second);
        for (verdict, error) in verdicts.iter().zip(errors) {
            let csv = format!(
                "solver,competing,benchmark,cpu_time,wall_time,answer,status,proof\nx,yes,QF_BV/a.smt2,1,1,unsat,unsat,{verdict}\n"
            );
            let scores = scores_of_text(&edition, &csv).expect("the run can be scored");
            let (found, correct, _, _) = score_of(&scores, "parallel", "x");
            assert_eq!((found, correct), (error, i128::from(*verdict == "valid")), "{verdict} {second:?}");
        }
    }
}

const INCREMENTAL: &str = "solver,competing,benchmark,cpu_time,wall_time,check_sats,correct_answers,wrong_answers\n";

/// SMT-COMP 2024 and 2025: the CPU time of an incremental run was overwritten by the time of its last answer.
#[test]
fn incremental_cpu_time_was_overwritten() {
    let csv = format!("{INCREMENTAL}x,yes,QF_BV/a.smt2,400,150,5,5,0\nx,yes,QF_BV/b.smt2,70,80,5,3,0\n");
    for second in [Rules, Published] {
        let scores = scores_of_text(&other_tracks_of_2022(second), &csv).expect("the runs can be scored");
        assert_eq!(score_of(&scores, "parallel", "x"), (0, 8, 470, 230));
    }
}

/// SMT-COMP 2021: abstentions were wrong in the incremental track. What an entrant was run on and did not answer is
/// unsolved; what it was not run on is abstained.
#[test]
fn incremental_abstentions_were_wrong() {
    let csv = format!(
        "{INCREMENTAL}x,yes,QF_LIA/a.smt2,1,1,5,3,0\nx,yes,QF_LIA/b.smt2,1,1,4,2,1\ny,yes,QF_LIA/a.smt2,1,1,5,5,0\n"
    );
    // By the text a run with a wrong answer has one error and no right answers; the scripts summed both.
    for (second, x) in [(Rules, (1, 3, 6, 0)), (Published, (1, 5, 4, 0))] {
        let scores = scores_of_text(&other_tracks_of_2022(second), &csv).expect("the runs can be scored");
        let of = |solver| {
            let p = place_of(&scores, "parallel", solver);
            (p.int("error"), p.int("correct"), p.int("unsolved"), p.int("abstained"))
        };
        assert_eq!(of("x"), x, "{second:?}");
        assert_eq!(of("y"), (0, 5, 0, 4), "{second:?}");
    }
}

/// SMT-COMP 2019: the time rank of the largest contribution became negative in the incremental track, where a
/// solver may have answered more in more time.
#[test]
fn the_contribution_of_an_incremental_run_was_negative() {
    let mut csv = INCREMENTAL.to_owned();
    for (solver, seconds, answers) in [("p", 1000, 9), ("q", 10, 5), ("r", 20, 5)] {
        csv.push_str(&format!("{solver},yes,QF_LIA/a.smt2,{seconds},{seconds},10,{answers},0\n"));
        // A run without any right answer is none of the virtual best, however short it is.
        csv.push_str(&format!("{solver},yes,QF_LIA/b.smt2,5,5,10,0,0\n"));
    }
    let scores = scores_of_text(&other_tracks_of_2022(Rules), &csv).expect("the runs can be scored");
    let contribution = table(&scores, "parallel", "largest-contribution");
    assert_eq!(contribution.len(), 1);
    assert_eq!(contribution[0].text("solver"), "p");
    // 1 - 5/9.
    assert_eq!(contribution[0].exact("correct").to_string(), "4/9");
    // 1 - (10 + 1200) / (10 + 1200): the least times are not those of p.
    assert_eq!(contribution[0].exact("time_rank").to_string(), "0");
}

/// SV-COMP 2016: a wrong false cost 32 points instead of 16. Each cell of a score table is a test.
#[test]
fn a_cell_of_the_score_table_was_wrong() {
    let text = "edition: points\ntracks:\n  main:\n    plugin: single-query\n    divisions: { all: [] }\n    scoring:\n      runs:\n        \
                points:\n          let:\n            points: case(answer == unknown or status == unknown, 0, answer == status and \
                answer == unsat, 2, answer == status, 1, answer == unsat, -32, -16)\n      measures: { points: sum(points) }\n      \
                order: [points desc]\n      winner: competing and rank == 1\n      views: { all: {} }\nresults:\n  runs:\n    track: main\n    \
                recognise: { columns: [tool, task, answer, expected] }\n    columns:\n      entrant: tool\n      solver: tool\n      \
                competing: { value: \"true\" }\n      benchmark: task\n      answer: { from: answer, words: { \"true\": unsat, \"false\": \
                sat, \"\": unknown }, empty: unknown }\n      status: { from: expected, words: { \"true\": unsat, \"false\": sat }, empty: \
                unknown }\n      cpu_time: { value: \"0\" }\n      wall_time: { value: \"0\" }\n";
    let edition = edition_of_text(text, Reading::Rules);
    let cells = [
        ("true", "true", 2),
        ("false", "false", 1),
        ("true", "false", -32),
        ("false", "true", -16),
        ("", "true", 0),
        ("", "false", 0),
        ("true", "", 0),
    ];
    for (answer, expected, points) in cells {
        let csv = format!("tool,task,answer,expected\nx,t.c,{answer},{expected}\n");
        let scores = scores_of_text(&edition, &csv).expect("the run can be scored");
        assert_eq!(place_of(&scores, "all", "x").int("points"), points, "{answer:?} of {expected:?}");
    }
}

/// A column that a step computes anew from something that the results lack is gone. Its old values under the same name
/// would pass for the new ones.
#[test]
fn an_old_column_stood_in_for_a_new_one() {
    let text = |runs: &str| {
        format!(
            "edition: anew\ntracks:\n  main:\n    plugin: single-query\n    divisions: {{ all: [] }}\n    scoring:\n      runs: {runs}\n      \
             measures: {{ cost: sum(price) }}\n      order: [cost asc]\n      views: {{ all: {{}} }}\nresults:\n  runs:\n    track: \
             main\n    recognise: {{ columns: [tool, task] }}\n    columns:\n      entrant: tool\n      solver: tool\n      competing: {{ \
             value: \"true\" }}\n      benchmark: task\n      answer: {{ value: unknown }}\n      status: {{ value: unknown }}\n      cpu_time: \
             {{ value: \"3\" }}\n      wall_time: {{ value: \"5\" }}\n"
        )
    };
    let of = |runs: &str| scores_of_text(&edition_of_text(&text(runs), Reading::Rules), "tool,task\nx,t\n");
    let scores = of("{ old: { let: { price: cpu_time } } }").expect("the run can be scored");
    assert_eq!(place_of(&scores, "all", "x").int("cost") / SECOND, 3);
    let scores = of("{ old: { let: { price: cpu_time } }, new: { let: { price: wall_time } } }").expect("a score");
    assert_eq!(place_of(&scores, "all", "x").int("cost") / SECOND, 5);
    // These results do not say how much memory a run took.
    let error = of("{ old: { let: { price: cpu_time } }, new: { let: { price: memory / 1 GB * 1 s } } }");
    let error = error.expect_err("the price is not known").to_string();
    assert!(error.contains("memory"), "{error}");
}

/// Results of one track in two forms at once could count a run twice.
#[test]
fn results_were_given_in_two_forms() {
    let rows = [run("p", "a", Sat, Sat, 1_000, 1_000)];
    let folder = Folder::new();
    let one = folder.write("results.csv", &archive_text(&rows));
    let _ = folder.write("benchmarks.csv", "benchmark_id,logic,division,expected\n1,LIA,Arith,sat\n");
    let two: PathBuf =
        folder.write("solver_659700_sq.csv", "benchmark_id,cpu_time,wallclock_time,result\n1,3.0,3.0,sat\n");
    let list = EntrantList::of_edition(edition(SMT_COMP_2022, Rules));
    let error = runs(edition(SMT_COMP_2022, Rules), &[one, two], &list, None).expect_err("two forms").to_string();
    assert!(error.contains("two forms"), "{error}");
}
