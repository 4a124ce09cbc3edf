//! The two competition-wide rankings of section 7.3, in both readings.

use super::{Scored, T, is_competitive};
use crate::{Ns, RBig, RankingRow, SECOND, Standing, entrant_order};
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What the rankings need to know of a division in one view.
pub(super) struct Division<'a> {
    pub name: &'a str,
    pub scores: Vec<Scored<'a>>,
    pub table: Vec<Standing>,
}

/// An exact fraction. The denominator must not be 0.
fn fraction(numerator: Ns, denominator: Ns) -> RBig {
    RBig::from_parts_signed(IBig::from(numerator), IBig::from(denominator))
}

/// One minus an exact fraction, and 0 if the denominator is 0.
///
/// Section 7.3.2: "numbers between 0 and 1 with 0 indicating that s made no impact on the vbss". If the virtual best
/// solver has nothing to lose, nobody made an impact on it.
fn impact(part: Ns, whole: Ns) -> RBig {
    if whole == 0 { RBig::ZERO } else { RBig::ONE - fraction(part, whole) }
}

/// The time that the time rank of a view compares: CPU time for sequential, wall-clock time for parallel scoring.
fn time_of(cpu: Ns, wall: Ns, view: &str) -> Ns {
    if view == "sequential" { cpu } else { wall }
}

/// Section 7.3.1: the rank of the lead that the first of two solvers has over the second.
fn lead(first: &Standing, second: &Standing, view: &str) -> (RBig, RBig) {
    // "The correctness rank of division D is given as (n_1 + 1) / (n_2 + 1)."
    let correctness = fraction(Ns::from(first.correct) + 1, Ns::from(second.correct) + 1);
    // "The CPU time rank (wall-clock time rank) of division D is given as (c_2 + 1) / (c_1 + 1)", with c in seconds.
    let t1 = time_of(first.cpu, first.wall, view);
    let t2 = time_of(second.cpu, second.wall, view);
    (correctness, fraction(t2 + SECOND, t1 + SECOND))
}

/// Sorts a ranking: the greatest correctness rank first, then the greatest time rank, then by the division's name.
fn sort(rows: &mut [RankingRow]) {
    rows.sort_by(|a, b| {
        let by_score = b.correctness.cmp(&a.correctness).then_with(|| b.time.cmp(&a.time));
        by_score.then_with(|| a.division.cmp(&b.division))
    });
    let mut position = 0;
    for row in rows {
        position += 1;
        row.position = position;
    }
}

/// By the rules, all rows with the best two values win.
fn all_best_win(rows: &mut [RankingRow]) {
    let Some(best) = rows.first().cloned() else { return };
    for row in rows {
        row.winner = row.correctness == best.correctness && row.time == best.time;
    }
}

/// Section 7.3.1 by the text.
pub(super) fn rules_biggest_lead(divisions: &[Division], view: &'static str) -> Vec<RankingRow> {
    let mut rows = Vec::new();
    for division in divisions {
        // "... the solver that won by the most in some competitive division."
        if !is_competitive(&division.scores) {
            continue;
        }
        // "The winners of each division are ranked by the distance between them and the next competitive solver in
        // that division." The table is in order; of equal winners the one that is listed first is taken.
        let mut competing = Vec::new();
        for standing in &division.table {
            if standing.competing {
                competing.push(standing);
            }
        }
        let (first, second) = (competing[0], competing[1]);
        if !first.winner {
            continue;
        }
        let (correctness, time) = lead(first, second, view);
        rows.push(RankingRow {
            table: "biggest-lead",
            view,
            position: 0,
            division: division.name.to_owned(),
            solver: first.solver.clone(),
            entrant: first.entrant.clone(),
            second: Some(second.solver.clone()),
            correctness,
            time,
            winner: false,
        });
    }
    sort(&mut rows);
    all_best_win(&mut rows);
    rows
}

/// The biggest lead as published: unsound solvers take part, and a division is skipped if its competing solvers have
/// fewer than two names or the first of them solved nothing.
pub(super) fn published_biggest_lead(divisions: &[Division], view: &'static str) -> Vec<RankingRow> {
    let mut rows = Vec::new();
    for division in divisions {
        let mut competing = Vec::new();
        let mut names = BTreeSet::new();
        for standing in &division.table {
            if standing.competing {
                competing.push(standing);
                names.insert(&standing.solver);
            }
        }
        if names.len() < 2 || competing[0].correct == 0 {
            continue;
        }
        let (correctness, time) = lead(competing[0], competing[1], view);
        rows.push(RankingRow {
            table: "biggest-lead",
            view,
            position: 0,
            division: division.name.to_owned(),
            solver: competing[0].solver.clone(),
            entrant: competing[0].entrant.clone(),
            second: Some(competing[1].solver.clone()),
            correctness,
            time,
            winner: false,
        });
    }
    sort(&mut rows);
    if let Some(row) = rows.first_mut() {
        row.winner = true;
    }
    rows
}

/// Section 7.3.2: the virtual best solver scores (correctness and time) of a set of solvers on a division.
fn rules_vbss(scores: &[Scored], solvers: &BTreeSet<&str>, view: &str) -> (Ns, Ns) {
    // The benchmarks of the division, each with the best n and the least time among the solvers with n > 0.
    let mut best: BTreeMap<&str, Option<(u64, Ns)>> = BTreeMap::new();
    for s in scores {
        if !s.considered {
            continue;
        }
        let entry = best.entry(&s.row.benchmark).or_insert(None);
        if s.n > 0 && solvers.contains(s.row.entrant.as_str()) {
            let time = time_of(s.c, s.w, view);
            *entry = match *entry {
                None => Some((s.n, time)),
                Some((n, t)) => Some((n.max(s.n), t.min(time))),
            };
        }
    }
    let mut correct = 0;
    let mut total = 0;
    for found in best.values() {
        match found {
            Some((n, time)) => {
                correct += Ns::from(*n);
                total += time;
            }
            // "the maximum of an empty set is 0 (i.e., no contribution if a benchmark is unsolved)", and "the minimum
            // of an empty set is 1200 seconds (no solver was able to solve the benchmark)".
            None => total += T,
        }
    }
    (correct, total)
}

/// Section 7.3.2 by the text.
pub(super) fn rules_largest_contribution(divisions: &[Division], view: &'static str) -> Vec<RankingRow> {
    // "N being the overall number of competitive solver/benchmark pairs of this track."
    let mut pairs_of_track: Ns = 0;
    for division in divisions {
        pairs_of_track += competing_pairs(&division.scores);
    }

    let mut rows = Vec::new();
    for division in divisions {
        // Section 6: a division that is not competitive is not part of the competition.
        if !is_competitive(&division.scores) {
            continue;
        }
        // "If the division error score e > 0, then solver s is considered unsound and excluded from the ranking. If
        // the number of sound competitive solvers S in a division D is |S| <= 2, the division is excluded."
        let mut sound: Vec<&Standing> = Vec::new();
        for standing in &division.table {
            if standing.competing && standing.error == 0 {
                sound.push(standing);
            }
        }
        if sound.len() <= 2 {
            continue;
        }
        let mut everybody = BTreeSet::new();
        for standing in &sound {
            everybody.insert(standing.entrant.as_str());
        }
        let (n_all, t_all) = rules_vbss(&division.scores, &everybody, view);

        // Of the division, the solver with the greatest ranks; of equal ones the one with the least key.
        let mut selected: Option<(RBig, RBig, &Standing)> = None;
        for solver in &sound {
            let mut others = everybody.clone();
            others.remove(solver.entrant.as_str());
            let (n_without, t_without) = rules_vbss(&division.scores, &others, view);
            // "1 - vbss_n(D, S - s) / vbss_n(D, S)" and "1 - vbss_c(D, S) / vbss_c(D, S - s)".
            let n_rank = impact(n_without, n_all);
            let t_rank = impact(t_all, t_without);
            let greater = match &selected {
                None => true,
                Some((n, t, other)) => {
                    let order = n_rank.cmp(n).then_with(|| t_rank.cmp(t));
                    order == Ordering::Greater
                        || (order == Ordering::Equal
                            && entrant_order(&solver.entrant, &other.entrant) == Ordering::Less)
                }
            };
            if greater {
                selected = Some((n_rank, t_rank, solver));
            }
        }
        let Some((n_rank, t_rank, solver)) = selected else { continue };

        // "The ranks for a division D in a given track will be normalized by multiplying with n_D / N, where n_D
        // corresponds to the number of competitive solver/benchmark pairs in division D."
        let weight = fraction(competing_pairs(&division.scores), pairs_of_track);
        rows.push(RankingRow {
            table: "largest-contribution",
            view,
            position: 0,
            division: division.name.to_owned(),
            solver: solver.solver.clone(),
            entrant: solver.entrant.clone(),
            second: None,
            correctness: &n_rank * &weight,
            time: &t_rank * &weight,
            winner: false,
        });
    }
    sort(&mut rows);
    all_best_win(&mut rows);
    rows
}

/// The number of runs of competing solvers.
fn competing_pairs(scores: &[Scored]) -> Ns {
    let mut pairs = 0;
    for s in scores {
        if s.row.competing {
            pairs += 1;
        }
    }
    pairs
}

/// The virtual best solver as published, of the competing sound solvers of a division without one of them.
///
/// A benchmark is known by its path without the logic, so namesakes in two logics of the division are one. For each,
/// the run with the best correctness and then the least time counts; a benchmark that nobody else ran is left out.
fn published_vbss(scores: &[Scored], solvers: &BTreeSet<&str>, without: Option<&str>, view: &str) -> (Ns, Ns) {
    let mut best: BTreeMap<&str, (u64, Ns)> = BTreeMap::new();
    for s in scores {
        let entrant = s.row.entrant.as_str();
        if !solvers.contains(entrant) || without == Some(entrant) {
            continue;
        }
        // A run that solved nothing costs 1200 seconds, in every view, also in the 24-seconds one, and in the sat and
        // unsat views for the benchmarks outside the view as well.
        let time = if s.n == 0 { T } else { time_of(s.c, s.w, view) };
        let run = (s.n, time);
        let entry = best.entry(s.row.path_without_logic()).or_insert(run);
        if run.0 > entry.0 || (run.0 == entry.0 && run.1 < entry.1) {
            *entry = run;
        }
    }
    let mut correct = 0;
    let mut total = 0;
    for (n, time) in best.values() {
        correct += Ns::from(*n);
        total += time;
    }
    (correct, total)
}

/// The largest contribution as published.
pub(super) fn published_largest_contribution(divisions: &[Division], view: &'static str) -> Vec<RankingRow> {
    struct Selected<'a> {
        division: &'a str,
        solver: &'a Standing,
        n_rank: RBig,
        t_rank: RBig,
        weight: Ns,
    }
    let mut selection: Vec<Selected> = Vec::new();
    let mut all_weights: Ns = 0;
    for division in divisions {
        // Competing solvers, without those that have an error in this division and view; at least three of them. Teams
        // were not looked at.
        let mut competing = 0;
        let mut sound: Vec<&Standing> = Vec::new();
        for standing in &division.table {
            if standing.competing {
                competing += 1;
                if standing.error == 0 {
                    sound.push(standing);
                }
            }
        }
        if sound.len() < 3 {
            continue;
        }
        // The weight is the size of the division times its competing solvers, the unsound ones included, whether or
        // not they ran on all logics. The sum is over the divisions that come this far, not over the whole track.
        let weight = Ns::from(division.table[0].size) * competing;
        all_weights += weight;

        let mut solvers = BTreeSet::new();
        for standing in &sound {
            solvers.insert(standing.entrant.as_str());
        }
        let (n_all, t_all) = published_vbss(&division.scores, &solvers, None, view);
        if n_all == 0 {
            continue;
        }
        let mut best: Option<Selected> = None;
        for solver in sound {
            let (n_without, t_without) = published_vbss(&division.scores, &solvers, Some(&solver.entrant), view);
            let n_rank = impact(n_without, n_all);
            let t_rank = impact(t_all, t_without);
            // Of equal ranks, the last name in the alphabet was taken.
            let greater = match &best {
                None => true,
                Some(b) => {
                    let order = n_rank.cmp(&b.n_rank).then_with(|| t_rank.cmp(&b.t_rank));
                    order.then_with(|| solver.solver.cmp(&b.solver.solver)) == Ordering::Greater
                }
            };
            if greater {
                best = Some(Selected { division: division.name, solver, n_rank, t_rank, weight });
            }
        }
        selection.extend(best);
    }

    let mut rows = Vec::new();
    for s in selection {
        let weight = fraction(s.weight, all_weights);
        rows.push(RankingRow {
            table: "largest-contribution",
            view,
            position: 0,
            division: s.division.to_owned(),
            solver: s.solver.solver.clone(),
            entrant: s.solver.entrant.clone(),
            second: None,
            correctness: &s.n_rank * &weight,
            time: &s.t_rank * &weight,
            winner: false,
        });
    }
    sort(&mut rows);
    if let Some(row) = rows.first_mut() {
        row.winner = true;
    }
    rows
}
