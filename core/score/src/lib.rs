//! Scoring: from results to standings, rankings and recognitions, and the comparison with published figures.
//!
//! The way of the data: results of a track → joined with the entrants' list, the divisions and the adjudications
//! ([`input`]) → the steps, measures and orders of the edition ([`engine`]) → tables of standings and rankings → text
//! ([`output`]) or a comparison with a published file ([`verify`]).
//!
//! Everything here is a function of its input: no order of rows, files or threads shows in a result. Nothing here
//! knows a competition, a year or a solver.

pub mod adjudication;
mod common;
pub mod engine;
pub mod error;
pub mod input;
pub mod output;
pub mod verify;

pub use error::ScoreError;
