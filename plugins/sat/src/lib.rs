//! The SAT track: `s` and `v` lines and exit codes, and models checked against the formula or circuit.
//!
//! [`answer`] reads an output, [`dimacs`] and [`aiger`] read benchmarks, [`model`] checks one against the other, and
//! [`judging`] says what a run is worth under an edition's parameters. [`checker`] reads what an external proof checker
//! says. All of it is a function of what was observed, so that an archived run is judged again to the same verdict.
//!
//! # What the rules of SAT-Race 2008 say, as parameters
//!
//! The defaults are those of its CNF tracks: format and certificates as for the SAT Competitions ("Input and Output
//! Format"), that is, one `s ` line, `v ` lines with distinct literals that do not contradict each other, partial models
//! allowed; exit codes 10 and 20 as in its qualification rounds. An `s ` line that is missing or invalid is UNKNOWN;
//! nothing counts after the time limit. For the AIG track, `input: aiger` and `model: optional`: the AIGER format is
//! mandatory, "no 'witness' is required". A witness that is given all the same is checked: its `v ` lines give the
//! variables of the file, half the AIGER literals, inputs at least.
//!
//! Later SAT Competitions: `proof: required` with a checker in the role `proof-checker`.

pub mod aiger;
pub mod answer;
pub mod checker;
pub mod dimacs;
pub mod input;
pub mod judging;
pub mod model;
mod track;

pub use judging::{Parameters, Verdict, conclude, explain, judge};
pub use track::{AGON_PLUGIN, Sat};
