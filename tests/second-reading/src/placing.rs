//! How the rows of one table are put in order and numbered, in both editions.

use crate::{Reading, Standing};
use std::cmp::Ordering;

/// The order of entrant keys: as numbers if both are numbers, otherwise as text.
#[must_use]
pub fn entrant_order(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(x), Ok(y)) if x != y => x.cmp(&y),
        _ => a.cmp(b),
    }
}

/// Sorts the rows of one table with `better`, best first, and fills in `position` and `rank`.
///
/// By the rules, solvers with equal scores share a rank: a rank is one more than the number of competing entrants
/// whose score is strictly better. The published tables of 2022 had no shared ranks: there a rank is one more than the
/// number of competing entrants in the rows above. In both, entrants with equal scores are listed in the order of their
/// keys, and a solver that does not compete has the rank that it would have, without advancing the rank of anybody.
pub(crate) fn place(standings: &mut [Standing], reading: Reading, better: fn(&Standing, &Standing) -> Ordering) {
    standings.sort_by(|a, b| better(a, b).then_with(|| entrant_order(&a.entrant, &b.entrant)));
    let mut ranks = Vec::new();
    for (i, row) in standings.iter().enumerate() {
        let mut rank = 1;
        for (j, other) in standings.iter().enumerate() {
            let above = match reading {
                Reading::Rules => better(other, row) == Ordering::Less,
                Reading::Published => j < i,
            };
            if other.competing && above {
                rank += 1;
            }
        }
        ranks.push(rank);
    }
    let mut position = 0;
    for (row, rank) in standings.iter_mut().zip(ranks) {
        position += 1;
        row.position = position;
        row.rank = rank;
    }
}
