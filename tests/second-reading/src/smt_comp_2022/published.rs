//! Benchmark scores as the organisers' script computed them.

use super::{Scored, T, T24};
use crate::{Answer, Condition, Row, Standing};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The scores of all runs of one logic in one view.
pub(super) fn benchmark_scores<'a>(rows: &[&'a Row], view: &str) -> Vec<Scored<'a>> {
    let limit = if view == "24s" { T24 } else { T };

    // First the limits. A run out of memory is charged the limit in both times and keeps its answer. Then a run whose
    // time (CPU time in the sequential view, wall-clock time in all others) is over the limit is charged the limit
    // in both times and loses its answer. So no answer after the limit counts, right or wrong, against section 7.1.2;
    // CPU time is not limited otherwise; and in the sequential view wall-clock time is not limited otherwise.
    let mut scores = Vec::new();
    for &row in rows {
        let mut s = Scored { row, considered: true, answer: row.answer, e: 0, n: 0, w: row.wall, c: row.cpu };
        if row.condition == Condition::Memout {
            s.w = limit;
            s.c = limit;
        }
        let time = if view == "sequential" { s.c } else { s.w };
        if time > limit {
            s.w = limit;
            s.c = limit;
            s.answer = Answer::Unknown;
        }
        scores.push(s);
    }

    // Then the sat and unsat views. A benchmark belongs to the view if its status says so, or its status is unknown
    // and some solver answered so within the limit.
    let filter = match view {
        "sat" => Some((Answer::Sat, Answer::Unsat)),
        "unsat" => Some((Answer::Unsat, Answer::Sat)),
        _ => None,
    };
    if let Some((kind, opposite)) = filter {
        let mut instances: BTreeSet<&str> = BTreeSet::new();
        for s in &scores {
            if s.row.expected == kind || (s.row.expected == Answer::Unknown && s.answer == kind) {
                instances.insert(&s.row.benchmark);
            }
        }
        for s in &mut scores {
            s.considered = instances.contains(s.row.benchmark.as_str());
            // Outside the view, everything but an answer of the view's kind is forgotten. So a wrong sat on an
            // unsatisfiable benchmark is an error of the sat score, with its time, ...
            if !s.considered && s.answer != kind {
                s.w = 0;
                s.c = 0;
                s.answer = Answer::Unknown;
            }
            // ... and an answer of the other kind is forgotten everywhere: a wrong unsat on a satisfiable benchmark
            // is no error of the sat score.
            if s.answer == opposite {
                s.w = 0;
                s.c = 0;
                s.answer = Answer::Unknown;
            }
        }
    }

    // Then the answers that are left are judged.
    for s in &mut scores {
        if s.answer != Answer::Unknown {
            if s.row.expected == Answer::Unknown || s.row.expected == s.answer {
                s.n = 1;
            } else {
                s.e = 1;
            }
        }
    }
    scores
}

/// The order of the sequential tables: as section 7.2.2, and then less wall-clock time.
pub(super) fn sequential_order(a: &Standing, b: &Standing) -> Ordering {
    if a.error != b.error {
        return a.error.cmp(&b.error);
    }
    if a.correct != b.correct {
        return b.correct.cmp(&a.correct);
    }
    if a.cpu != b.cpu {
        return a.cpu.cmp(&b.cpu);
    }
    a.wall.cmp(&b.wall)
}
