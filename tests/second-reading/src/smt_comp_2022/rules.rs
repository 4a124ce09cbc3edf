//! Benchmark scores by the text of the rules: section 7.1, and what 7.2.3 to 7.2.5 make of them.

use super::{M, Scored, T, T24};
use crate::{Answer, Ns, Row, Standing};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Section 7.1.2: "e = 1 and n = 0 if the result of the check-sat command is incorrect", that is, if it contradicts a
/// known status.
pub(super) fn is_wrong(row: &Row) -> bool {
    row.answer != Answer::Unknown && row.expected != Answer::Unknown && row.answer != row.expected
}

/// The scores of all runs of one logic in one view.
pub(super) fn benchmark_scores<'a>(rows: &[&'a Row], view: &str) -> Vec<Scored<'a>> {
    let mut scores = Vec::new();
    match view {
        "parallel" => {
            for row in rows {
                scores.push(parallel(row, T));
            }
        }
        "sequential" => {
            for row in rows {
                scores.push(sequential(row));
            }
        }
        "24s" => {
            for row in rows {
                scores.push(within_24_seconds(row));
            }
        }
        "sat" => scores = only_instances(rows, Answer::Sat),
        "unsat" => scores = only_instances(rows, Answer::Unsat),
        _ => unreachable!("there are five views"),
    }
    scores
}

/// Sections 7.1 and 7.1.2: the parallel benchmark score, for the wall-clock time limit `t`.
fn parallel(row: &Row, t: Ns) -> Scored<'_> {
    let (e, n) = if row.answer == Answer::Unknown {
        // "e = 0 and n = 0 if the solver aborts without a response, or the result of the check-sat command is
        // unknown".
        (0, 0)
    } else if row.expected == Answer::Unknown || row.answer == row.expected {
        // "e = 0 and n = 1 if the result of the check-sat command is sat or unsat and either agrees with the
        // benchmark status, or the benchmark status is unknown".
        (0, 1)
    } else {
        // "e = 1 and n = 0 if the result of the check-sat command is incorrect".
        (1, 0)
    };
    // "Note that a (correct or incorrect) response is taken into consideration even when the solver process
    // terminates abnormally, or does not terminate within the time limit." So neither the condition nor the times
    // of the run matter for e and n.
    Scored {
        row,
        considered: true,
        answer: row.answer,
        e,
        n,
        // "The (real-valued) wall-clock time in seconds, until time limit T or the solver process terminates."
        w: row.wall.min(t),
        // "The (real-valued) CPU time in seconds, measured across all m cores until time limit mT is reached or the
        // solver process terminates."
        c: row.cpu.min(M * t),
    }
}

/// Section 7.1.1: the sequential benchmark score, with "a virtual CPU time limit equal to the wall-clock time limit T".
fn sequential(row: &Row) -> Scored<'_> {
    let mut s = parallel(row, T);
    // "e_S = 0 and n_S = 0 if c > T, and e_S = e and n_S = n otherwise".
    if s.c > T {
        s.e = 0;
        s.n = 0;
        s.answer = Answer::Unknown;
    }
    // "c_S = min {c, T}". The wall-clock time stays that of the parallel score, as section 7.2.2 sums it.
    s.c = s.c.min(T);
    s
}

/// Section 7.2.3: "the parallel division score with a wall-clock time limit T of 24 seconds".
///
/// The competition was not run again, so the limit is a virtual one. As for the virtual limit of section 7.1.1, an
/// answer counts only if the solver terminates within it.
fn within_24_seconds(row: &Row) -> Scored<'_> {
    let mut s = parallel(row, T24);
    if row.wall > T24 {
        s.e = 0;
        s.n = 0;
        s.answer = Answer::Unknown;
    }
    s
}

/// Sections 7.2.4 and 7.2.5: "the parallel division score when only satisfiable (unsatisfiable) instances are
/// considered".
///
/// An instance is one of them if its status says so, or if its status is unknown and some solver's parallel score
/// rests on that answer. All other benchmarks add nothing, neither errors nor times.
fn only_instances<'a>(rows: &[&'a Row], kind: Answer) -> Vec<Scored<'a>> {
    let mut instances: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        if row.expected == kind || (row.expected == Answer::Unknown && row.answer == kind) {
            instances.insert(&row.benchmark);
        }
    }
    let mut scores = Vec::new();
    for row in rows {
        let mut s = parallel(row, T);
        if !instances.contains(row.benchmark.as_str()) {
            s = Scored { row, considered: false, answer: Answer::Unknown, e: 0, n: 0, w: 0, c: 0 };
        }
        scores.push(s);
    }
    scores
}

/// Section 7.2.2: fewer errors, then more correct solutions, then less CPU time. Wall-clock time is not compared.
pub(super) fn sequential_order(a: &Standing, b: &Standing) -> Ordering {
    if a.error != b.error {
        return a.error.cmp(&b.error);
    }
    if a.correct != b.correct {
        return b.correct.cmp(&a.correct);
    }
    a.cpu.cmp(&b.cpu)
}
