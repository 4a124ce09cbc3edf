//! What a run did, and what can keep one from being a run at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::script::StepLog;

/// What was seen of one run.
#[derive(Debug)]
pub struct Observation {
    /// The program's exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// The signal it died of, if it did.
    pub signal: Option<i32>,
    /// The limit that was passed first, if any.
    pub limit: Option<Limit>,
    /// Nanoseconds by the clock, from the program's start to its end.
    pub wall_ns: u64,
    /// Nanoseconds of CPU time of all processes.
    pub cpu_ns: u64,
    /// The part of [`Observation::cpu_ns`] in user mode.
    pub cpu_user_ns: u64,
    /// The part of [`Observation::cpu_ns`] in the kernel.
    pub cpu_system_ns: u64,
    /// Bytes of memory at the highest point; see [`MemoryUse`].
    pub peak_memory: u64,
    /// Where [`Observation::peak_memory`] comes from.
    pub memory: MemoryUse,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Whether processes were left when the program ended (they were killed).
    pub stragglers: bool,
    /// Whether the program was ended because it went on after its dialogue for longer than
    /// [`Script::patience`](crate::Script::patience); that is no limit.
    pub dismissed: bool,
    /// The cores the run was pinned to.
    pub cpus: Vec<u32>,
    /// What enforced the limits and measured.
    pub mechanisms: Mechanisms,
    /// The steps of the dialogue, if there was one.
    pub steps: Vec<StepLog>,
    /// The files of [`crate::Job::collect`] that are there after all processes are dead, in that order. Only
    /// regular files that their owner may read are; symbolic links are not followed, neither at the end of a path nor
    /// on the way. Of all of them together no more is kept than the limit of the working folder: a file with holes
    /// can be longer than that, and is then truncated. Nothing is kept of a run that passed its limit of memory.
    pub collected: Vec<(OsString, Captured)>,
}

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Time by the clock.
    Wall,
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
    /// Bytes of output.
    Output,
    /// Bytes of the working folder, or of one file.
    Disk,
    /// Processes and threads.
    Processes,
}

/// The peak of memory, as the different counters tell it; bytes.
///
/// The control group counts everything its processes caused: anonymous memory, files in memory, kernel
/// memory, and the cache of files they were the first to read. The last is not use of memory in the sense
/// of a competition, so what is left of it at the end is taken off. A program's shared libraries are often
/// in the cache already and then not counted by the group at all, but they are in its resident set. So the
/// peak is the larger of the group's peak without the cache, and the largest resident set of any one
/// process (what `/usr/bin/time` shows).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The control group's peak, if there is one.
    pub group_peak: Option<u64>,
    /// The cache of files left in the control group at the end, if it was looked at.
    pub file_cache: Option<u64>,
    /// The largest resident set of any one process, if larger than that of the launcher.
    pub largest_process: Option<u64>,
    /// The largest sum of resident sets seen when looking now and then; only without a control group.
    pub sampled: Option<u64>,
}

/// What enforced the limits of a run, isolated it and measured it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mechanisms {
    /// Control groups: `v1`, `v2` or `none`.
    pub groups: String,
    /// The controllers in use.
    pub controllers: Vec<String>,
    /// The namespaces the run had to itself or shared with no other run at the time.
    pub namespaces: Vec<String>,
    /// What measured CPU time: `control group` or `wait` (times of processes that were waited for).
    pub cpu: String,
    /// What enforced the memory limit: `control group`, or `polling` (with an address-space limit per process).
    pub memory: String,
    /// What killed the tree: `pid namespace` or `tree walk`.
    pub kill: String,
    /// The working folder: `tmpfs` (in memory, counted as such) or `folder`.
    pub work: String,
    /// Core pinning: `cpuset` (the run cannot leave its cores), `affinity` (it could) or `none`.
    pub pinning: String,
    /// Whether other runs may use the same cores, because the caller wanted so.
    pub oversubscribed: bool,
}

/// What came on one stream: in memory if short, else in a file that has no name and goes with this value.
#[derive(Default)]
pub struct Captured {
    head: Vec<u8>,
    file: Option<File>,
    length: u64,
    truncated: bool,
}

impl std::fmt::Debug for Captured {
    /// The beginning, as text: there may be gigabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = &self.head[..self.head.len().min(80)];
        f.debug_struct("Captured")
            .field("length", &self.length)
            .field("truncated", &self.truncated)
            .field("begins", &String::from_utf8_lossy(shown))
            .finish_non_exhaustive()
    }
}

impl Captured {
    /// Bytes kept.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing was kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether more came than was kept.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// All bytes kept.
    ///
    /// # Errors
    /// The file that holds them cannot be read.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.length).unwrap_or(0));
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes kept, from the beginning. One reader at a time.
    ///
    /// # Errors
    /// The file that holds them cannot be read.
    pub fn reader(&self) -> io::Result<impl Read + '_> {
        let tail: Box<dyn Read + '_> = match &self.file {
            None => Box::new(io::empty()),
            Some(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
        };
        Ok(self.head.as_slice().chain(tail))
    }

    pub(crate) fn push(&mut self, bytes: &[u8], spool: usize, folder: &Path) -> io::Result<()> {
        if self.file.is_none() && self.head.len() + bytes.len() > spool {
            self.file = Some(tempfile::tempfile_in(folder)?);
        }
        match &mut self.file {
            None => self.head.extend_from_slice(bytes),
            Some(file) => file.write_all(bytes)?,
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn truncate(&mut self) {
        self.truncated = true;
    }
}

/// Why there is no observation. Nothing of this counts against the program, save that a program that is
/// not there cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program cannot be executed.
    #[error(
        "{} cannot be executed: {source}. Check that the file exists, is executable, and is built for this \
         machine; for a script, that the interpreter named in its first line exists; and that all it \
         needs is among the readable paths.",
        path.display()
    )]
    Exec {
        /// The program.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The job asks for something that cannot be.
    #[error("the job cannot be run: {0}")]
    Job(String),
    /// The sandbox process cannot be started or said nothing.
    #[error("the sandbox process {}: {what}", program.display())]
    Helper {
        /// The helper program.
        program: PathBuf,
        /// What went wrong.
        what: String,
    },
    /// A step of the isolation failed.
    #[error("the sandbox could not {stage}: {source}. `agon doctor` tells what this machine allows.")]
    Sandbox {
        /// The step.
        stage: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The run's processes do not end though killed (they hang in the kernel, say, on a dead disk).
    #[error("a run did not end within {seconds} s of being killed; its processes hang in the kernel")]
    Stuck {
        /// How long was waited.
        seconds: u64,
    },
    /// Something else of the host.
    #[error("{what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The cancel token was set.
    #[error("the run was called off")]
    Cancelled,
}

/// Adds to a host's error what was tried.
pub(crate) trait Tried<T> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Fault>;
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, Fault> {
        self.map_err(|error| Fault::Host { what: what(), source: error.into() })
    }
}
