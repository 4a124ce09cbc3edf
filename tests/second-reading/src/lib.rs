//! The second reading: the scoring rules of two editions, written a second time, slowly and literally.
//!
//! The engine scores every edition from the formulas of an edition file. This package scores two editions from
//! nothing but the text of their rules, with plain loops over plain rows, and shares no code with the engine. Tests
//! score the same data with both and compare, so an error has to be made twice, in two different ways of thinking,
//! to go unseen. Speed does not matter here; that each step can be held against its sentence in the rules does.
//!
//! | module | rules document | sections |
//! | --- | --- | --- |
//! | [`mod@smt_comp_2014`] | SMT-COMP 2014: Rules and Procedures (revised 2014-5-8) | 4.2 Timeouts, 6.1, 6.3 |
//! | [`mod@smt_comp_2022`] | SMT-COMP 2022: Rules and Procedures (revised 2022-6-23) | 5, 5.2, 6 Divisions, 7.1 to 7.3 |
//!
//! Each edition is read in two ways, see [`Reading`]: by the text, and as the organisers' own scripts computed the
//! figures that were published. Where the two differ, the code of the published reading says how.
//!
//! All times are integer nanoseconds and all ranking values are exact fractions, so that no order of summation can
//! decide a rank. The one exception are the medals of 2014, which are defined with a logarithm.
//!
//! [`archive`] reads and writes result files in the form of the archived editions, and [`random`] makes small
//! competitions whose times sit on and around the limits.

pub mod archive;
mod placing;
pub mod random;
pub mod smt_comp_2014;
pub mod smt_comp_2022;

pub use dashu_ratio::RBig;
pub use placing::entrant_order;
pub use smt_comp_2014::smt_comp_2014;
pub use smt_comp_2022::smt_comp_2022;

/// A time in nanoseconds.
pub type Ns = i128;

/// The nanoseconds of one second.
pub const SECOND: Ns = 1_000_000_000;

/// What a solver answered, or what the status of a benchmark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// No answer, or no known status.
    Unknown,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// The solver process ended by itself.
    Complete,
    /// The solver was killed at the CPU time limit.
    TimeoutCpu,
    /// The solver was killed at the wall-clock time limit.
    TimeoutWall,
    /// The solver was killed at the memory limit.
    Memout,
}

/// Which of the two readings of an edition is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// By the text of the rules.
    Rules,
    /// As the organisers' scripts computed the published figures.
    Published,
}

/// One run: one solver on one benchmark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The benchmark: its path, beginning with its logic. This is the key of a benchmark.
    pub benchmark: String,
    /// The division that the logic belongs to. In 2014 it is the logic itself.
    pub division: String,
    /// The logic.
    pub logic: String,
    /// The solver's name, as the tables print it.
    pub solver: String,
    /// The key of the competitor: the identifier of its configuration.
    pub entrant: String,
    /// The team that submitted the solver.
    pub team: String,
    /// Whether the solver competes, or only runs for comparison.
    pub competing: bool,
    /// What the solver answered.
    pub answer: Answer,
    /// The status of the benchmark.
    pub expected: Answer,
    /// How the run ended.
    pub condition: Condition,
    /// CPU time.
    pub cpu: Ns,
    /// Wall-clock time.
    pub wall: Ns,
}

impl Row {
    /// The benchmark's path without its logic, by which the script of 2022 knew a benchmark within a division.
    ///
    /// Two benchmarks of different logics may share it: they are *namesakes*.
    #[must_use]
    pub fn path_without_logic(&self) -> &str {
        match self.benchmark.split_once('/') {
            Some((_, path)) => path,
            None => &self.benchmark,
        }
    }
}

/// The place of one entrant in one view of one table, with its score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `division` or `logic`.
    pub table: &'static str,
    /// The division.
    pub division: String,
    /// The logic, empty in a division table.
    pub logic: String,
    /// The kind of score: `sequential`, `parallel`, and in 2022 `sat`, `unsat` and `24s`.
    pub view: &'static str,
    /// The row of the table, from 1.
    pub position: u64,
    /// One more than the number of competing entrants that are strictly better. In the published reading of 2022,
    /// which knew no shared ranks: that are in the rows above.
    pub rank: u64,
    /// The solver's name.
    pub solver: String,
    /// The key of the competitor.
    pub entrant: String,
    /// Whether the solver competes.
    pub competing: bool,
    /// The error score.
    pub error: u64,
    /// The correctly solved score.
    pub correct: u64,
    /// The CPU time score.
    pub cpu: Ns,
    /// The wall-clock time score.
    pub wall: Ns,
    /// Benchmarks solved.
    pub solved: u64,
    /// Benchmarks solved with the answer sat.
    pub solved_sat: u64,
    /// Benchmarks solved with the answer unsat.
    pub solved_unsat: u64,
    /// Benchmarks run and not solved. In 2022 a wrong answer is among them, in 2014 it is not.
    pub unsolved: u64,
    /// Benchmarks of the table that are counted nowhere else in the row.
    pub abstained: u64,
    /// Runs that ended at a time limit, where the data say so.
    pub timeout: Option<u64>,
    /// Runs that ended at the memory limit, where the data say so.
    pub memout: Option<u64>,
    /// Whether the entrant is named as a winner of this table and view.
    pub winner: bool,
    /// The number of benchmarks of the table.
    pub size: u64,
}

/// One row of a competition-wide ranking: the solver that a division sends into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingRow {
    /// `biggest-lead` or `largest-contribution`.
    pub table: &'static str,
    /// The kind of score.
    pub view: &'static str,
    /// The row of the table, from 1.
    pub position: u64,
    /// The division.
    pub division: String,
    /// The name of the solver selected in the division.
    pub solver: String,
    /// The key of that competitor.
    pub entrant: String,
    /// The name of the next solver, in the biggest lead ranking.
    pub second: Option<String>,
    /// The correctness rank, for the largest contribution already normalised.
    pub correctness: RBig,
    /// The time rank that breaks ties: of CPU time in the sequential view, of wall-clock time in all others.
    pub time: RBig,
    /// Whether the solver wins the ranking.
    pub winner: bool,
}
