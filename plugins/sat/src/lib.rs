//! The SAT track: `s` and `v` lines and exit codes, and models checked against the formula or circuit.
//!
//! [`answer`] reads an output, [`dimacs`] and [`aiger`] read benchmarks, [`model`] checks one against the other, and
//! [`judging`] says what a run is worth under an edition's parameters. [`checker`] reads what an external proof checker
//! says. All of it is a function of what was observed, so that an archived run is judged again to the same verdict.

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
