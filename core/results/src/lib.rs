//! Result files: reading, mapping to the columns of an edition, and writing.
//!
//! [`read`] takes the result files of a competition, recognises the form of each by its first line, and turns them
//! into columnar tables as a declared [`Mapping`] says. [`write_csv`] and [`write_parquet`] write tables;
//! what they wrote can be given to [`read`] again, and [`read_parquet`] returns a table exactly as it was.
//!
//! # What holds
//!
//! * A read that fails yields no table, and the error names the file, the row and the column. Nothing is guessed: a
//!   missing column, an empty cell or an unknown word is an error unless the mapping says what it means.
//! * Damage is noticed where it can be: checksums are verified, and compressed streams and archives must be complete.
//!   Where nothing inside a file vouches for its bytes, [`ReadReport::notes`] says so.
//! * Every value can be traced to its file and row: [`Origins`] keeps the ranges of rows beside a table.
//! * Text is processed in blocks; the unpacked text is never held as a whole, and no archive is unpacked to the disk.
//! * A rule is applied once for each distinct text of a column, so the cost of patterns and words does not depend on the
//!   number of rows.
//! * A file is written completely or not at all.
//!
//! This crate knows no competition, no formula and no score.

mod arrow_schema;
mod assemble;
mod duplicates;
mod error;
mod input;
mod join;
mod mapping;
mod origin;
mod parquet_file;
mod read;
mod split;
mod stamp;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use error::{ErrorKind, ResultsError};
pub use mapping::{ColumnRule, Duplicates, Header, Join, JoinFile, Kind, Mapping, Recognise, Source};
pub use origin::{Origins, Place};
pub use parquet_file::{decoding, read_parquet, write_parquet};
pub use read::{
    CsvRow, CsvRows, FileReport, FileRole, ReadOutcome, ReadReport, Skipped, column_names, read, read_csv_rows,
};
pub use stamp::parquet_metadata;
pub use write::{abandon, write_csv, write_csv_to, write_problem, write_text};
