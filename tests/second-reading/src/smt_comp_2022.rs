//! SMT-COMP 2022, single query track: the five scores, the division and logic tables, and the two competition-wide
//! rankings.
//!
//! Citations are to the rules document of 2022-6-23: section 5 (a solver that does not support all logics), 5.2 (the
//! time limit), 6 (divisions, competitive divisions), 7.1 (benchmark scores), 7.2 (division scores) and 7.3
//! (competition-wide recognitions). "Published" in a comment means what the organisers' script did instead.

mod published;
mod rankings;
mod rules;

use crate::placing::place;
use crate::{Answer, Ns, RankingRow, Reading, Row, SECOND, Standing};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The wall-clock time limit T: 20 minutes (section 5.2, Time Limit).
pub const T: Ns = 1200 * SECOND;

/// The number m of cores of a processor (section 5.1, Time and Memory Limits).
pub const M: Ns = 4;

/// The time limit of the 24-seconds score (section 7.2.3).
pub const T24: Ns = 24 * SECOND;

/// The kinds of score, in the order of the published tables (section 7.2).
pub const VIEWS: [&str; 5] = ["sequential", "parallel", "sat", "unsat", "24s"];

/// The score of one run in one view: the quadruple of section 7.1, and what the tables count beside it.
#[derive(Clone)]
struct Scored<'a> {
    row: &'a Row,
    /// Whether the benchmark belongs to the view at all: always, except in the sat and unsat views.
    considered: bool,
    /// The answer that counts in this view.
    answer: Answer,
    e: u64,
    n: u64,
    w: Ns,
    c: Ns,
}

/// Scores the single query track of 2022.
///
/// `removed` are benchmarks that the organisers took out of the results (section 8); they are left out before
/// anything else. The standings come by view, then division: its logics first, then the division itself. The rankings
/// come by view, first the biggest lead and then the largest contribution.
#[must_use]
pub fn smt_comp_2022(rows: &[Row], reading: Reading, removed: &[String]) -> (Vec<Standing>, Vec<RankingRow>) {
    let kept = kept_rows(rows, removed);

    // Section 7.2, Removal of Disagreements: "Only the remaining benchmarks are used in the following computation."
    let disagreements = find_disagreements(&kept, reading);
    let mut remaining = Vec::new();
    for row in kept {
        let key = match reading {
            Reading::Rules => row.benchmark.as_str(),
            // Published: a benchmark was dropped by its path without the logic, and its namesakes with it.
            Reading::Published => row.path_without_logic(),
        };
        if !disagreements.contains(key) {
            remaining.push(row);
        }
    }

    // Section 6, Divisions: a division is a group of logics.
    let mut divisions: BTreeMap<&str, BTreeMap<&str, Vec<&Row>>> = BTreeMap::new();
    for row in &remaining {
        divisions.entry(&row.division).or_default().entry(&row.logic).or_default().push(row);
    }

    let mut standings = Vec::new();
    let mut ranking_rows = Vec::new();
    for view in VIEWS {
        let mut entries = Vec::new();
        for (division, logics) in &divisions {
            let mut division_scores: Vec<Scored> = Vec::new();
            for (logic, logic_rows) in logics {
                let scores = match reading {
                    Reading::Rules => rules::benchmark_scores(logic_rows, view),
                    Reading::Published => published::benchmark_scores(logic_rows, view),
                };
                // Section 7.2: the scores are presented for each logic composing the division, too.
                standings.extend(table(&scores, "logic", division, logic, view, reading));
                division_scores.extend(scores);
            }
            let division_table = table(&division_scores, "division", division, "", view, reading);
            standings.extend(division_table.iter().cloned());
            entries.push(rankings::Division { name: division, scores: division_scores, table: division_table });
        }
        match reading {
            Reading::Rules => {
                ranking_rows.extend(rankings::rules_biggest_lead(&entries, view));
                ranking_rows.extend(rankings::rules_largest_contribution(&entries, view));
            }
            Reading::Published => {
                ranking_rows.extend(rankings::published_biggest_lead(&entries, view));
                ranking_rows.extend(rankings::published_largest_contribution(&entries, view));
            }
        }
    }
    (standings, ranking_rows)
}

/// The benchmarks that the removal of disagreements takes out, each by its full path, in order.
#[must_use]
pub fn disagreements(rows: &[Row], reading: Reading, removed: &[String]) -> Vec<String> {
    let kept = kept_rows(rows, removed);
    let keys = find_disagreements(&kept, reading);
    let mut gone = BTreeSet::new();
    for row in kept {
        let key = match reading {
            Reading::Rules => row.benchmark.as_str(),
            Reading::Published => row.path_without_logic(),
        };
        if keys.contains(key) {
            gone.insert(row.benchmark.clone());
        }
    }
    gone.into_iter().collect()
}

fn kept_rows<'a>(rows: &'a [Row], removed: &[String]) -> Vec<&'a Row> {
    let mut kept = Vec::new();
    for row in rows {
        if !removed.contains(&row.benchmark) {
            kept.push(row);
        }
    }
    kept
}

/// Section 7.2, Sound Solver, Disagreeing Solvers and Removal of Disagreements: the keys of the benchmarks to remove.
fn find_disagreements<'a>(rows: &[&'a Row], reading: Reading) -> BTreeSet<&'a str> {
    // "A solver is sound on benchmarks with known status for a division if its parallel performance is of the form
    // (0, n, w, c) for each benchmark in the division, i.e., if it did not produce any erroneous results." So the
    // unsound are pairs of a division and a solver.
    // Published: a solver is unsound in the whole track at once, and known by its name.
    let mut unsound: BTreeSet<(&str, &str)> = BTreeSet::new();
    for row in rows {
        if rules::is_wrong(row) {
            unsound.insert(soundness_key(row, reading));
        }
    }

    // "Two solvers disagree on a benchmark if one of them reported sat and the other reported unsat."
    // Published: the same, found within each logic.
    let mut said_sat: BTreeSet<&str> = BTreeSet::new();
    let mut said_unsat: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        if row.expected == Answer::Unknown && !unsound.contains(&soundness_key(row, reading)) {
            match row.answer {
                Answer::Sat => said_sat.insert(&row.benchmark),
                Answer::Unsat => said_unsat.insert(&row.benchmark),
                Answer::Unknown => false,
            };
        }
    }

    // "... benchmarks with unknown status are removed from the competition results if two (or more) solvers that are
    // sound on benchmarks with known status disagree on their result."
    let mut keys = BTreeSet::new();
    for row in rows {
        let benchmark = row.benchmark.as_str();
        if said_sat.contains(benchmark) && said_unsat.contains(benchmark) {
            keys.insert(match reading {
                Reading::Rules => benchmark,
                Reading::Published => row.path_without_logic(),
            });
        }
    }
    keys
}

/// What a solver's soundness is recorded under.
fn soundness_key(row: &Row, reading: Reading) -> (&str, &str) {
    match reading {
        Reading::Rules => (&row.division, &row.entrant),
        Reading::Published => ("", &row.solver),
    }
}

/// One table: the scores summed for each entrant (sections 7.2.1 and 7.2.2), put in order, ranked, with its winners.
fn table(
    scores: &[Scored],
    table: &'static str,
    division: &str,
    logic: &str,
    view: &'static str,
    reading: Reading,
) -> Vec<Standing> {
    let mut benchmarks = BTreeSet::new();
    for s in scores {
        benchmarks.insert(&s.row.benchmark);
    }
    let size = benchmarks.len() as u64;

    // "It is defined for a participating solver in a division with M benchmarks as the sum of all the individual
    // benchmark scores." A solver has no rows for a logic that it does not support, and section 5 scores it there
    // "as if it returned the result unknown within zero time": it adds nothing.
    let mut sums: BTreeMap<&str, Standing> = BTreeMap::new();
    for s in scores {
        let sum = sums.entry(&s.row.entrant).or_insert_with(|| Standing {
            table,
            division: division.to_owned(),
            logic: logic.to_owned(),
            view,
            position: 0,
            rank: 0,
            solver: s.row.solver.clone(),
            entrant: s.row.entrant.clone(),
            competing: s.row.competing,
            error: 0,
            correct: 0,
            cpu: 0,
            wall: 0,
            solved: 0,
            solved_sat: 0,
            solved_unsat: 0,
            unsolved: 0,
            abstained: 0,
            // The archive has lost how a run ended.
            timeout: None,
            memout: None,
            winner: false,
            size,
        });
        sum.error += s.e;
        sum.correct += s.n;
        sum.wall += s.w;
        sum.cpu += s.c;
        // The rules do not define the other columns. A benchmark is solved if n = 1, and a considered benchmark that
        // was run and not solved, wrong answers included, is unsolved.
        if s.n == 1 {
            sum.solved += 1;
            match s.answer {
                Answer::Sat => sum.solved_sat += 1,
                Answer::Unsat => sum.solved_unsat += 1,
                Answer::Unknown => unreachable!("an answer of unknown is never correct"),
            }
        } else if s.considered {
            sum.unsolved += 1;
        }
    }
    let mut rows: Vec<Standing> = sums.into_values().collect();
    for row in &mut rows {
        row.abstained = size - row.correct - row.unsolved;
    }

    let better = match (view, reading) {
        ("sequential", Reading::Rules) => rules::sequential_order,
        ("sequential", Reading::Published) => published::sequential_order,
        _ => parallel_order,
    };
    place(&mut rows, reading, better);

    match reading {
        Reading::Rules => {
            // Section 6: only a competitive division has winners, and only solvers submitted by their authors can
            // win. A solver that solved nothing is no winner. Equal scores win together.
            let competitive = is_competitive(scores);
            for row in &mut rows {
                row.winner = competitive && row.competing && row.rank == 1 && row.correct > 0;
            }
        }
        Reading::Published => {
            // Published: the first competing row, if its correct score is not 0; nothing else was tested.
            for row in &mut rows {
                if row.competing {
                    row.winner = row.correct > 0;
                    break;
                }
            }
        }
    }
    rows
}

/// Section 6, Competitive Divisions: "at least two substantially different solvers (i.e., solvers from two different
/// teams)", of those that were submitted by their authors.
fn is_competitive(scores: &[Scored]) -> bool {
    let mut teams = BTreeSet::new();
    for s in scores {
        if s.row.competing {
            teams.insert(&s.row.team);
        }
    }
    teams.len() >= 2
}

/// Section 7.2.1: fewer errors, then more correct solutions, then less wall-clock time, then less CPU time.
fn parallel_order(a: &Standing, b: &Standing) -> Ordering {
    if a.error != b.error {
        return a.error.cmp(&b.error);
    }
    if a.correct != b.correct {
        return b.correct.cmp(&a.correct);
    }
    if a.wall != b.wall {
        return a.wall.cmp(&b.wall);
    }
    a.cpu.cmp(&b.cpu)
}
