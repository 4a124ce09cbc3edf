//! A competition on this machine: which pairs are run in which order, how a track plugin and the sandboxed runner work
//! together on each, and what goes into the store.

pub mod again;
pub mod benchmarks;
pub mod convert;
pub mod dialogue;
pub mod judging;
pub mod order;
pub mod race;
pub mod scrambled;
pub mod setup;
pub mod smt_header;
pub mod tools;

use std::io;
use std::path::Path;

/// Why a competition cannot be run or judged.
#[derive(Debug, thiserror::Error)]
pub enum CompeteError {
    /// What was given does not fit: a whole sentence with place, cause and remedy.
    #[error("{0}")]
    Input(String),
}

impl CompeteError {
    fn io(path: &Path, what: &str, error: &io::Error) -> Self {
        Self::Input(format!("{}: it {what}: {error}.", path.display()))
    }
}

/// The time, as RFC 3339 says it.
pub fn now() -> String {
    jiff::Timestamp::now().to_string()
}
