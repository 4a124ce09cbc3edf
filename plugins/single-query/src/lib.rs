//! The single-query track (main track, parallel and cloud tracks): one check-sat a benchmark; the answer on standard
//! output is compared with the benchmark's status.
//!
//! [`reading`] turns an output into responses; [`judging`] says what a run is worth under an edition's parameters.
//! Both are functions of what was observed, so that an archived run is judged again to the same verdict.

pub mod judging;
pub mod reading;
mod track;

pub use judging::{Parameters, Verdict, explain, judge, read};
pub use track::{AGON_PLUGIN, SingleQuery};
