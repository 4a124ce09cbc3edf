//! SMT-COMP 2014, main track: sequential and parallel mode, and the medals.
//!
//! Citations are to the rules document of 2014-5-8: section 4.2 (timeouts and aborts), 6.1 (scoring) and 6.3 (medals,
//! whose criteria the document leaves open; they are those that the organisers' journal report states).

use crate::placing::place;
use crate::{Answer, Condition, Ns, Reading, Row, SECOND, Standing, entrant_order};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The time limit T, for CPU time and for wall-clock time. The rules anticipate 1500 seconds and let the organisers
/// adjust it (section 4.2, Timeouts); the competition ran with 2400.
pub const T: Ns = 2400 * SECOND;

/// The number C of cores of a computation node (section 6.1, parallel mode).
pub const C: Ns = 4;

/// The kinds of score.
pub const VIEWS: [&str; 2] = ["sequential", "parallel"];

/// One row of a medal metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Medal {
    /// `A`, `B`, or `bronze` for the one row that names the winner of QF_BV.
    pub metric: &'static str,
    /// The row of the metric, from 1.
    pub position: u64,
    /// The solver's name.
    pub solver: String,
    /// The key of the competitor.
    pub entrant: String,
    /// Metric A: the sum of e * w. Absent in metric B, where errors lessen the score instead.
    pub errors: Option<f64>,
    /// Metric A: the sum of w * (c/N)^2. Metric B: the sum of the same where e = 0, and of -e * w elsewhere.
    pub score: f64,
    /// Metric A: the sum of t * w, in seconds.
    pub time: Option<f64>,
    /// `gold` and `silver` for the first two rows of metric A, `bronze` for the winner of QF_BV.
    pub medal: Option<&'static str>,
}

/// The score of one run in one mode: the triple of section 6.1, and both times as the mode counts them.
struct Scored<'a> {
    row: &'a Row,
    /// The answer that counts.
    answer: Answer,
    e: u64,
    n: u64,
    cpu: Ns,
    wall: Ns,
}

/// Scores the main track of 2014.
///
/// The standings come by view, then division. Divisions are logics in 2014, so there are no logic tables. In a
/// sequential standing `cpu` is the m of the rules and `wall` is the wall-clock time summed in the same way; in a
/// parallel one it is the other way round. The medals are computed from the sequential standings of the same reading.
///
/// Only the sequential tables were published. The parallel ones are computed from the rules in both readings.
#[must_use]
pub fn smt_comp_2014(rows: &[Row], reading: Reading) -> (Vec<Standing>, Vec<Medal>) {
    let mut divisions: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        divisions.entry(&row.division).or_default().push(row);
    }
    let mut standings = Vec::new();
    for view in VIEWS {
        for (division, division_rows) in &divisions {
            let mut scores = Vec::new();
            for &row in division_rows {
                scores.push(match (view, reading) {
                    ("parallel", _) => parallel(row),
                    (_, Reading::Rules) => sequential(row),
                    (_, Reading::Published) => published_sequential(row),
                });
            }
            standings.extend(table(&scores, division, view, reading));
        }
    }
    let medals = medals(rows, &standings);
    (standings, medals)
}

/// Section 6.1: the numbers e and n of a result.
fn judge(answer: Answer, expected: Answer) -> (u64, u64) {
    if answer == Answer::Unknown {
        // "e = 0, n = 0 if the result is unknown".
        (0, 0)
    } else if expected == Answer::Unknown {
        // A benchmark of unknown status was never run. An answer on one could be called neither correct nor
        // incorrect.
        (0, 0)
    } else if answer == expected {
        // "e = 0, n = 1 if the result of the check-sat command is correct".
        (0, 1)
    } else {
        // "e = 1, n = 0 if the result is incorrect".
        (1, 0)
    }
}

/// The answer that a run counts with, given the limits of the mode.
///
/// Section 4.2: "A timeout scores the same as if the output is unknown", and so does an abort, for example by
/// "exhausting memory". What the solver had printed before does not matter.
fn counted_answer(row: &Row, cpu_limit: Ns, wall_limit: Ns) -> Answer {
    let ended = row.condition == Condition::Complete;
    if ended && row.cpu <= cpu_limit && row.wall <= wall_limit { row.answer } else { Answer::Unknown }
}

/// Section 6.1, sequential mode: m is "the CPU time it takes to process the benchmark, that is, until the solver
/// process terminates", in `[0, T]`, for every run, solved or not.
fn sequential(row: &Row) -> Scored<'_> {
    let answer = counted_answer(row, T, T);
    let (e, n) = judge(answer, row.expected);
    Scored { row, answer, e, n, cpu: row.cpu.min(T), wall: row.wall.min(T) }
}

/// Section 6.1, parallel mode: "we can simulate a competition that had a time out of T CPU seconds and T/C wall-clock
/// seconds by simply declaring that any solver taking more than T/C wall-clock time has timed out for the parallel
/// competition. We then recompute the scoring as above but using wall-clock time and a timeout value of T/C."
fn parallel(row: &Row) -> Scored<'_> {
    let answer = counted_answer(row, T, T / C);
    let (e, n) = judge(answer, row.expected);
    Scored { row, answer, e, n, cpu: row.cpu.min(T), wall: row.wall.min(T / C) }
}

/// The sequential score as published: times were summed over the correct and the erroneous runs only.
fn published_sequential(row: &Row) -> Scored<'_> {
    let answer = if row.condition == Condition::Complete { row.answer } else { Answer::Unknown };
    let (e, n) = judge(answer, row.expected);
    let counts = e + n > 0;
    Scored { row, answer, e, n, cpu: if counts { row.cpu } else { 0 }, wall: if counts { row.wall } else { 0 } }
}

/// Section 6.1, Competition scoring: "Benchmarks' scores are summed component-wise to form a solver's total score for
/// that division of the competition. Total scores are compared lexicographically."
fn table(scores: &[Scored], division: &str, view: &'static str, reading: Reading) -> Vec<Standing> {
    let mut benchmarks = BTreeSet::new();
    for s in scores {
        benchmarks.insert(&s.row.benchmark);
    }
    let size = benchmarks.len() as u64;

    let mut sums: BTreeMap<&str, Standing> = BTreeMap::new();
    for s in scores {
        let sum = sums.entry(&s.row.entrant).or_insert_with(|| Standing {
            table: "division",
            division: division.to_owned(),
            logic: String::new(),
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
            timeout: Some(0),
            memout: Some(0),
            winner: false,
            size,
        });
        sum.error += s.e;
        sum.correct += s.n;
        sum.cpu += s.cpu;
        sum.wall += s.wall;
        if s.n == 1 {
            sum.solved += 1;
            if s.answer == Answer::Sat {
                sum.solved_sat += 1;
            } else {
                sum.solved_unsat += 1;
            }
        }
        // The published column "not solved": neither correct nor erroneous.
        if s.e == 0 && s.n == 0 {
            sum.unsolved += 1;
        }
        let timed_out = match s.row.condition {
            Condition::TimeoutCpu | Condition::TimeoutWall => true,
            // "any solver taking more than T/C wall-clock time has timed out for the parallel competition", also one
            // that later ran out of memory.
            Condition::Complete | Condition::Memout => view == "parallel" && s.row.wall > T / C,
        };
        if timed_out {
            sum.timeout = sum.timeout.map(|count| count + 1);
        }
        if s.row.condition == Condition::Memout {
            sum.memout = sum.memout.map(|count| count + 1);
        }
    }
    let mut rows: Vec<Standing> = sums.into_values().collect();
    for row in &mut rows {
        row.abstained = size - row.error - row.correct - row.unsolved;
    }
    // The pages number all rows, whether they compete or not, and no two of them were equal. So nothing published says
    // how equal scores are ranked, and both readings share ranks as the text does.
    place(&mut rows, Reading::Rules, if view == "parallel" { parallel_order } else { sequential_order });

    // Section 4: "All divisions with at least two solver entrants are competition divisions, i.e., a winner will be
    // announced." Section 2: "only solvers that are explicitly submitted by their authors are eligible to be
    // designated as winners." The text speaks of solvers, not of teams, and asks for no solved benchmark.
    let mut entrants = 0;
    for row in &rows {
        if row.competing {
            entrants += 1;
        }
    }
    match (view, reading) {
        ("sequential", Reading::Published) => {
            // Published: a winner was printed wherever there were data.
            for row in &mut rows {
                if row.competing {
                    row.winner = true;
                    break;
                }
            }
        }
        _ => {
            for row in &mut rows {
                row.winner = entrants >= 2 && row.competing && row.rank == 1;
            }
        }
    }
    rows
}

/// Section 6.1: fewer errors, then more correct solutions, then less CPU time.
fn sequential_order(a: &Standing, b: &Standing) -> Ordering {
    if a.error != b.error {
        return a.error.cmp(&b.error);
    }
    if a.correct != b.correct {
        return b.correct.cmp(&a.correct);
    }
    a.cpu.cmp(&b.cpu)
}

/// Section 6.1, parallel mode: the same "but using wall-clock time".
fn parallel_order(a: &Standing, b: &Standing) -> Ordering {
    if a.error != b.error {
        return a.error.cmp(&b.error);
    }
    if a.correct != b.correct {
        return b.correct.cmp(&a.correct);
    }
    a.wall.cmp(&b.wall)
}

/// The divisions that count for the medals: those with competing entrants of at least two teams.
#[must_use]
pub fn medal_divisions(rows: &[Row]) -> BTreeSet<String> {
    let mut teams: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        if row.competing {
            teams.entry(&row.division).or_default().insert(&row.team);
        }
    }
    let mut divisions = BTreeSet::new();
    for (division, teams) in teams {
        if teams.len() >= 2 {
            divisions.insert(division.to_owned());
        }
    }
    divisions
}

/// The weight w = log10(N) of a division of N benchmarks.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a division has far fewer than 2^53 benchmarks")]
pub fn medal_weight(size: u64) -> f64 {
    (size as f64).log10()
}

/// A solver's medal score w * (c/N)^2 in one division.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a division has far fewer than 2^53 benchmarks")]
pub fn medal_score(standing: &Standing) -> f64 {
    let part = standing.correct as f64 / standing.size as f64;
    medal_weight(standing.size) * (part * part)
}

/// The medals, from the sequential standings of the competing entrants, summed in the order of the divisions' names.
#[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds of a competition are far below 2^53")]
fn medals(rows: &[Row], standings: &[Standing]) -> Vec<Medal> {
    let divisions = medal_divisions(rows);
    let mut a: BTreeMap<&str, Medal> = BTreeMap::new();
    let mut b: BTreeMap<&str, Medal> = BTreeMap::new();
    for standing in standings {
        if standing.view != "sequential" || !standing.competing || !divisions.contains(&standing.division) {
            continue;
        }
        let weight = medal_weight(standing.size);
        let errors = standing.error as f64 * weight;
        let score = medal_score(standing);
        let time = standing.cpu as f64 / SECOND as f64 * weight;

        let empty = Medal {
            metric: "",
            position: 0,
            solver: standing.solver.clone(),
            entrant: standing.entrant.clone(),
            errors: None,
            score: 0.0,
            time: None,
            medal: None,
        };
        let row = a.entry(&standing.entrant).or_insert_with(|| Medal { metric: "A", ..empty.clone() });
        row.errors = Some(row.errors.unwrap_or(0.0) + errors);
        row.score += score;
        row.time = Some(row.time.unwrap_or(0.0) + time);

        let row = b.entry(&standing.entrant).or_insert_with(|| Medal { metric: "B", ..empty });
        row.score += if standing.error == 0 { score } else { -errors };
    }

    // Metric A: the least sum of e * w, then the greatest sum of w * (c/N)^2, then the least sum of t * w.
    let mut a: Vec<Medal> = a.into_values().collect();
    a.sort_by(|x, y| {
        let errors = x.errors.unwrap_or(0.0).total_cmp(&y.errors.unwrap_or(0.0));
        let score = y.score.total_cmp(&x.score);
        let time = x.time.unwrap_or(0.0).total_cmp(&y.time.unwrap_or(0.0));
        errors.then(score).then(time).then_with(|| entrant_order(&x.entrant, &y.entrant))
    });
    // Metric B: the greatest sum.
    let mut b: Vec<Medal> = b.into_values().collect();
    b.sort_by(|x, y| y.score.total_cmp(&x.score).then_with(|| entrant_order(&x.entrant, &y.entrant)));

    let mut position = 0;
    for row in &mut a {
        position += 1;
        row.position = position;
        row.medal = match position {
            1 => Some("gold"),
            2 => Some("silver"),
            _ => None,
        };
    }
    position = 0;
    for row in &mut b {
        position += 1;
        row.position = position;
    }

    let mut medals = a;
    medals.extend(b);
    // The bronze medal went to the winner of QF_BV.
    for standing in standings {
        if standing.view == "sequential" && standing.division == "QF_BV" && standing.winner {
            medals.push(Medal {
                metric: "bronze",
                position: standing.position,
                solver: standing.solver.clone(),
                entrant: standing.entrant.clone(),
                errors: None,
                score: medal_score(standing),
                time: None,
                medal: Some("bronze"),
            });
        }
    }
    medals
}
