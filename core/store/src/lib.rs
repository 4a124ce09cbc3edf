//! The store of a competition run: what was planned, what happened, what was judged, and every printed byte.
//!
//! A store is a folder:
//!
//! ```text
//! store.json      what the store is about; never changes
//! journal.jsonl   the records, one JSON object a line, only ever longer (form and recovery: [`journal`])
//! outputs.zst     short outputs, one zstd frame each (`zstdcat` prints them all)
//! objects/ab/cd…  long outputs, one zstd file each, named by the BLAKE3 hash of their content
//! lock            held by the one program that writes
//! ```
//!
//! Nothing is ever edited: a run that is judged again gets a newer record. A record counts once it is on the disk, after
//! which no crash of the program, the system or the power takes it away. [`Store`] writes and reads, [`Reader`] only
//! reads and needs no lock, also while a run goes on.
//!
//! The crate knows neither editions nor plugins: what they say is kept as text or JSON.

mod compare;
#[cfg(test)]
mod crash;
mod digest;
pub mod entrants;
mod error;
mod files;
mod index;
pub mod journal;
mod outputs;
mod reader;
pub mod record;
mod rows;
#[cfg(test)]
mod schema;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use digest::Digest;
pub use error::StoreError;
pub use outputs::{INLINE_BYTES, OBJECT_BYTES};
pub use reader::{Change, Progress, Reader};
pub use record::Record;
pub use rows::{Row, Rows, write_csv};
pub use store::{Recovery, Store};
