//! Small random competitions.
//!
//! They are small enough to be read by eye when a test fails, and full of the cases on which two scorers are likely
//! to differ: namesakes in two logics, entrants of one team, entrants that do not compete, logics that an entrant did
//! not enter, unknown statuses on which solvers disagree, unsound solvers, equal scores, and times of zero and
//! exactly at, just under and just over every limit.

use crate::{Answer, Condition, Ns, Row, SECOND, smt_comp_2014, smt_comp_2022};
use proptest::prelude::*;

/// How large a competition is. Its details follow from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of divisions, 1 to 4.
    pub divisions: usize,
    /// The greatest number of logics of a division, 1 to 3. In 2014 a division is one logic.
    pub logics: usize,
    /// The greatest number of benchmarks of a logic, at least 1.
    pub benchmarks: usize,
    /// The number of entrants, at least 1.
    pub entrants: usize,
}

/// Divisions of 2022 with the logics to take from them.
const DIVISIONS_2022: [(&str, [&str; 3]); 4] = [
    ("Arith", ["LIA", "NIA", "NRA"]),
    ("Equality+LinearArith", ["ALIA", "AUFLIA", "UFLRA"]),
    ("FPArith", ["BVFP", "FP", "FPLRA"]),
    ("QF_Equality+LinearArith", ["QF_ALIA", "QF_UFLIA", "QF_UFLRA"]),
];

/// Divisions of 2014.
const DIVISIONS_2014: [&str; 4] = ["AUFLIA", "QF_BV", "QF_LRA", "UF"];

/// A small deterministic generator (splitmix64): the same seed gives the same competition, everywhere and always.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True `times` in `of` times.
    fn chance(&mut self, times: u64, of: u64) -> bool {
        self.below(of) < times
    }

    /// A number from 1 to `most`.
    fn up_to(&mut self, most: usize) -> usize {
        let most = most.max(1);
        1 + usize::try_from(self.below(most as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }

    /// A time: often on or around one of the limits, often a round one, sometimes anything.
    fn time(&mut self, limits: &[Ns]) -> Ns {
        /// Six decimals, as most archived times have.
        const STEP: Ns = 1_000;
        match self.below(10) {
            0 => 0,
            1 | 2 => *self.pick(limits),
            3 => *self.pick(limits) - STEP,
            4 => *self.pick(limits) + STEP,
            5 | 6 => *self.pick(&[1, 5, 10, 20]) * SECOND,
            7 => Ns::from(self.below(30_000_000)) * STEP,
            8 => Ns::from(self.below(700_000_000)) * STEP,
            _ => Ns::from(self.below(5_000_000_000)) * STEP,
        }
    }
}

struct Entrant {
    solver: String,
    key: String,
    team: String,
    competing: bool,
    /// How many of 10 answers are wrong.
    wrong: u64,
    /// The entrant before this one gives the same answers in the same times.
    copies_previous: bool,
}

fn entrants(random: &mut Random, count: usize) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    // The identifiers all have six digits, so that their order as numbers is also their order as text.
    let mut key = 659_000 + random.below(300);
    let mut team = 0;
    for i in 0..count {
        key += 1 + random.below(9);
        // One entrant in four is of the same team as the one before.
        if i == 0 || !random.chance(1, 4) {
            team += 1;
        }
        entrants.push(Entrant {
            // The order of the names is unrelated to the order of the identifiers.
            solver: format!("{}-{i}", random.pick(&["alpha", "beta", "gamma", "omega"])),
            key: key.to_string(),
            team: format!("team-{team}"),
            competing: random.chance(4, 5),
            wrong: *random.pick(&[0, 0, 0, 1, 2]),
            copies_previous: i > 0 && random.chance(1, 6),
        });
    }
    entrants
}

/// The paths of the benchmarks of one logic. A quarter of them have the same path in other logics.
fn benchmarks(random: &mut Random, logic: &str, most: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for i in 0..random.up_to(most).max(most.min(3)) {
        let path = if random.chance(1, 4) {
            format!("{logic}/common/case-{}.smt2", i % 4)
        } else {
            format!("{logic}/family-{}/{}-{i}.smt2", i % 2, logic.to_lowercase())
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn opposite(answer: Answer) -> Answer {
    match answer {
        Answer::Sat => Answer::Unsat,
        Answer::Unsat => Answer::Sat,
        Answer::Unknown => Answer::Unknown,
    }
}

struct Edition<'a> {
    limits: &'a [Ns],
    unknown_statuses: bool,
    conditions: bool,
}

/// The runs of one logic.
fn runs(
    random: &mut Random,
    edition: &Edition,
    division: &str,
    logic: &str,
    most_benchmarks: usize,
    entrants: &[Entrant],
) -> Vec<Row> {
    // Who takes part: an entrant runs on all benchmarks of a logic or on none. At least one takes part.
    let mut takes_part: Vec<bool> = Vec::new();
    for _ in entrants {
        takes_part.push(random.chance(5, 6));
    }
    if !takes_part.contains(&true) {
        takes_part[0] = true;
    }

    let mut rows: Vec<Row> = Vec::new();
    for benchmark in benchmarks(random, logic, most_benchmarks) {
        let truth = *random.pick(&[Answer::Sat, Answer::Unsat]);
        let expected = if edition.unknown_statuses && random.chance(1, 3) { Answer::Unknown } else { truth };
        // Some benchmarks are too hard for everybody.
        let solvable = random.chance(9, 10);
        let mut previous: Option<(Answer, Condition, Ns, Ns)> = None;
        for (entrant, takes_part) in entrants.iter().zip(&takes_part) {
            let run = match previous {
                Some(run) if entrant.copies_previous => run,
                _ => run(random, edition, truth, solvable, entrant.wrong),
            };
            previous = Some(run);
            if !takes_part {
                continue;
            }
            let (answer, condition, cpu, wall) = run;
            rows.push(Row {
                benchmark: benchmark.clone(),
                division: division.to_owned(),
                logic: logic.to_owned(),
                solver: entrant.solver.clone(),
                entrant: entrant.key.clone(),
                team: entrant.team.clone(),
                competing: entrant.competing,
                answer,
                expected,
                condition,
                cpu,
                wall,
            });
        }
    }
    rows
}

/// What one run gave.
fn run(
    random: &mut Random,
    edition: &Edition,
    truth: Answer,
    solvable: bool,
    wrong: u64,
) -> (Answer, Condition, Ns, Ns) {
    let mut answer = Answer::Unknown;
    if solvable && random.chance(7, 10) {
        answer = if random.chance(wrong, 10) { opposite(truth) } else { truth };
    }
    let cpu = random.time(edition.limits);
    let wall = if random.chance(1, 2) { cpu } else { random.time(edition.limits) };
    let mut condition = Condition::Complete;
    if edition.conditions {
        let limit = smt_comp_2014::T;
        if cpu > limit || (cpu == limit && random.chance(1, 2)) {
            condition = Condition::TimeoutCpu;
        } else if wall > limit || (wall == limit && random.chance(1, 2)) {
            condition = Condition::TimeoutWall;
        } else if random.chance(1, 12) {
            condition = Condition::Memout;
        } else if cpu + SECOND > limit && random.chance(1, 2) {
            // The limit was sometimes enforced a little early.
            condition = Condition::TimeoutCpu;
        }
    }
    (answer, condition, cpu, wall)
}

/// A competition in the form of the single query track of 2022.
#[must_use]
pub fn competition_2022(shape: Shape, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let t = smt_comp_2022::T;
    let limits = [smt_comp_2022::T24, 96 * SECOND, 600 * SECOND, t, t, 2400 * SECOND, 4 * t];
    let edition = Edition { limits: &limits, unknown_statuses: true, conditions: false };
    let entrants = entrants(&mut random, shape.entrants.max(1));
    let mut rows = Vec::new();
    for (division, logics) in DIVISIONS_2022.iter().take(shape.divisions.clamp(1, 4)) {
        let count = random.up_to(shape.logics.min(3));
        for logic in &logics[..count] {
            rows.extend(runs(&mut random, &edition, division, logic, shape.benchmarks, &entrants));
        }
    }
    rows
}

/// A competition in the form of the main track of 2014: every status is known, and the condition of a run agrees with
/// its times: a complete run is never over the limit, a run over the limit is never complete.
#[must_use]
pub fn competition_2014(shape: Shape, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let t = smt_comp_2014::T;
    let limits = [24 * SECOND, t / smt_comp_2014::C, t / smt_comp_2014::C, 1200 * SECOND, t];
    let edition = Edition { limits: &limits, unknown_statuses: false, conditions: true };
    let entrants = entrants(&mut random, shape.entrants.max(1));
    let mut rows = Vec::new();
    for division in DIVISIONS_2014.iter().take(shape.divisions.clamp(1, 4)) {
        rows.extend(runs(&mut random, &edition, division, division, shape.benchmarks, &entrants));
    }
    rows
}

/// Makes every entrant a team of its own, for a scorer that is not told of teams.
pub fn each_entrant_its_own_team(rows: &mut [Row]) {
    for row in rows {
        row.team.clone_from(&row.solver);
    }
}

/// The usual shapes: 2 to 4 divisions of 1 to 3 logics with 3 to 12 benchmarks each, and 2 to 6 entrants. A failing
/// case shrinks to a smaller shape.
pub fn shapes() -> impl Strategy<Value = Shape> {
    (2_usize..=4, 1_usize..=3, 3_usize..=12, 2_usize..=6).prop_map(|(divisions, logics, benchmarks, entrants)| Shape {
        divisions,
        logics,
        benchmarks,
        entrants,
    })
}

/// Competitions in the form of 2022.
pub fn competitions_2022() -> impl Strategy<Value = Vec<Row>> {
    (shapes(), any::<u64>().no_shrink()).prop_map(|(shape, seed)| competition_2022(shape, seed))
}

/// Competitions in the form of 2014.
pub fn competitions_2014() -> impl Strategy<Value = Vec<Row>> {
    (shapes(), any::<u64>().no_shrink()).prop_map(|(shape, seed)| competition_2014(shape, seed))
}
