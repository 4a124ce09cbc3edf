//! Finds, checks, loads and hosts track plugins.
//!
//! A plugin is the same table of functions however it is hosted: linked into the program, loaded from a library, or in
//! a worker process of the program's own binary ([`worker`]), so that a plugin which crashes, loops or leaks costs one
//! run. Editions name plugins by id; where their code comes from is decided by [`discover`], which executes nothing:
//! it checks who could have written a file, and reads the manifest within it.

#![allow(unsafe_code)]

pub mod conformance;
pub mod discover;
pub mod hosted;
pub mod load;
pub mod manifest;
mod sandbox;
pub mod template;
pub mod trust;
mod wire;
pub mod worker;

pub use agon_sdk::hosting::Plugin;
pub use discover::{Entry, Origin, Registry, Search};
pub use hosted::{Failure, Hosted, Isolation, Track, Workers};

/// What went wrong, in one paragraph with the file, the cause and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
