//! Scrambles SMT-LIB scripts as SMT-COMP's own scramblers do, byte by byte.
//!
//! There are two of them. The older one ([`Naming::Numbering`]) numbers names as they are declared; the newer one
//! ([`Naming::Permuting`]) permutes the numbers before it prints them, knows more of SMT-LIB and less of what competitions
//! do not use. Both draw their random numbers while they parse, from the inside of terms to the outside, so that what is
//! published can only be had again with their grammars, their tokens and their peculiarities. Where the official tools
//! print something and then refuse a script, so does this: with the same words, to the same places.
//!
//! A script is read once and kept up to the next check-sat, as a tree of numbers without recursion: neither its length nor
//! its depth matters.

mod chunked;
mod core;
pub mod enumerate;
mod expected;
mod lexer;
mod numbering;
mod options;
mod permuting;
mod random;
mod reader;
mod small;
mod source;
mod symbols;
mod tree;
mod unfold;
mod words;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub use options::{Annotations, Core, LARGEST_SEED, Mode, Naming, Options};

use crate::lexer::Stop;
use crate::numbering::Numbering;
use crate::permuting::Permuting;
use crate::reader::Halt;
use crate::source::Source;

/// A script that can be read from its beginning, more than once.
pub trait Script {
    /// Opens it.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}

impl Script for [u8] {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self))
    }
}

impl Script for Path {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self)?))
    }
}

/// Where the scripts go that a script is unfolded to.
pub trait Files {
    /// Begins a file.
    ///
    /// # Errors
    /// If there cannot be such a file.
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>>;

    /// The file that was begun last is complete.
    ///
    /// # Errors
    /// If it cannot be put in its place.
    fn finish(&mut self, name: &str) -> io::Result<()>;
}

/// Nowhere.
struct NoFiles;

impl Files for NoFiles {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write>> {
        Err(io::Error::other(format!("there is no place for {name}")))
    }

    fn finish(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// A place in a script where it was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong. Of what the official tool refuses: its own message, without an end of line.
    pub message: String,
    /// The line, from 1.
    pub line: u64,
    /// The column in bytes, from 1: where the token begins that was read last.
    pub column: u64,
}

/// Why a script was not scrambled to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The options do not go together: a sentence.
    #[error("{0}")]
    Options(String),
    /// The official tool refuses the script. What it prints before is written.
    #[error("line {}, column {}: {}", .0.line, .0.column, .0.message)]
    Refused(Refusal),
    /// The official tool does something with the script that is not worth doing again, such as a crash.
    #[error("line {}, column {}: {}", .0.line, .0.column, .0.message)]
    Beyond(Refusal),
    /// The script cannot be read.
    #[error("it cannot be read: {0}")]
    Read(io::Error),
    /// The result cannot be written.
    #[error("the result cannot be written: {0}")]
    Write(io::Error),
}

/// Scrambles a script. What the official tool says to the errors when all is well, if anything, is returned.
///
/// # Errors
/// If the script is refused, it or the result fails, or the options do not go together. What the official tool prints
/// before it refuses a script is written.
pub fn scramble(
    script: &(impl Script + ?Sized),
    options: &Options,
    out: &mut dyn Write,
) -> Result<Option<String>, Error> {
    if options.mode == Mode::Unfold {
        return Err(Error::Options("the mode unfold writes files, which need names".into()));
    }
    work(script, options, out, "", &mut NoFiles)
}

/// Makes a script of every check-sat, in files called `PREFIX.N.smt2`, and tells of them.
///
/// # Errors
/// As for [`scramble`].
pub fn unfold(
    script: &(impl Script + ?Sized),
    options: &Options,
    prefix: &str,
    files: &mut dyn Files,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if options.mode != Mode::Unfold {
        return Err(Error::Options(format!("the mode {} makes a single script", options.mode.word())));
    }
    work(script, options, out, prefix, files).map(|_| ())
}

fn work(
    script: &(impl Script + ?Sized),
    options: &Options,
    out: &mut dyn Write,
    prefix: &str,
    files: &mut dyn Files,
) -> Result<Option<String>, Error> {
    if let Some(conflict) = options.conflict() {
        return Err(Error::Options(conflict));
    }
    let open = || script.open().map_err(Error::Read);
    // Errors of reading and writing are not told apart here; those of a file that was just opened are rare.
    match options.mode {
        _ if !options.answers => {}
        Mode::Incremental => expected::alone(open()?, out).map_err(Error::Read)?,
        Mode::Application => expected::lines(open()?, out).map_err(Error::Read)?,
        _ => {}
    }
    if options.answers && matches!(options.mode, Mode::Incremental | Mode::Application) {
        out.write_all(expected::SEPARATOR).map_err(Error::Write)?;
    }
    let source = Source::new(open()?);
    match options.mode.naming() {
        Naming::Permuting => {
            let mut work = Permuting::new(source, out, options);
            let result = work.run();
            finish(result, &mut work.reader)
        }
        Naming::Numbering => {
            let mut work = Numbering::new(source, out, options);
            let mut result = work.run();
            if result.is_ok() && options.mode == Mode::Unfold {
                result = unfold::unfold(&mut work, options.queries, prefix, files);
                if result.is_err() {
                    // Half a file is nobody's.
                    let _ = work.reader.out.redirect(None);
                }
            }
            finish(result.map(|()| None), &mut work.reader)
        }
    }
}

/// Writes what is left to write, and says where and why reading ended.
fn finish(result: Result<Option<String>, Halt>, reader: &mut reader::Reader<'_>) -> Result<Option<String>, Error> {
    let written = reader.out.flush();
    let refusal = |message: String| {
        let (line, column) = reader.lexer.position();
        Refusal { message, line, column }
    };
    let said = result.map_err(|halt| match halt {
        Halt::Refused(message) => Error::Refused(refusal(message)),
        Halt::Beyond(message) => Error::Beyond(refusal(message)),
        Halt::Stop(Stop::TooMany) => Error::Beyond(refusal("the script is too large".into())),
        Halt::Stop(Stop::Read(error)) => Error::Read(error),
        Halt::Stop(Stop::Write(error)) => Error::Write(error),
    })?;
    written.map_err(Error::Write)?;
    Ok(said)
}
