//! What is to be run, and how a run may be called off.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use serde::{Deserialize, Serialize};

use crate::script::Script;

/// One program to run once.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The program's path. With a slash in it, it is taken from the current folder of the runner if
    /// relative; without one, it is looked for along `PATH` of [`Job::environment`].
    pub program: PathBuf,
    /// The arguments after the program's own name.
    pub arguments: Vec<OsString>,
    /// The environment, whole: nothing is inherited. `PATH`, `HOME`, `TMPDIR` and `LANG` are set where not
    /// given (`HOME` and `TMPDIR` to the working folder).
    pub environment: Vec<(OsString, OsString)>,
    /// What the program reads on its standard input.
    pub stdin: Stdin,
    /// Files that the program finds in its working folder, read-only.
    pub files: Vec<JobFile>,
    /// Files that the program may leave in its working folder and that are to be kept: relative paths without
    /// `..`. See [`crate::Observation::collected`].
    pub collect: Vec<OsString>,
    /// Files and folders of the host that the program may read, at the paths they have here: its own
    /// folder, the benchmark. The system's programs and libraries (`/usr`, `/lib`, `/opt`, …) are readable
    /// in any case, the program itself too; nothing else is.
    pub readable: Vec<PathBuf>,
    /// What the run may use.
    pub limits: Limits,
    /// The cores the run is pinned to; all that this process may use if empty.
    pub cpus: Vec<u32>,
    /// A dialogue to hold with the program; replaces [`Job::stdin`].
    pub script: Option<Script>,
}

impl Job {
    /// A program with nothing else said.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Job {
        Job {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: Stdin::Null,
            files: Vec::new(),
            collect: Vec::new(),
            readable: Vec::new(),
            limits: Limits::default(),
            cpus: Vec::new(),
            script: None,
        }
    }
}

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    Null,
    /// A file of the host.
    File(PathBuf),
    /// These bytes, as a file that cannot be changed.
    Bytes(Vec<u8>),
}

/// A file placed in the working folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// Its name there: one path component.
    pub name: OsString,
    /// What is in it.
    pub content: FileContent,
}

/// The content of a placed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// That of a file of the host.
    Path(PathBuf),
    /// These bytes.
    Bytes(Vec<u8>),
}

/// What a run may use. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time by the clock, from the start of the program.
    pub wall: Option<Duration>,
    /// CPU time of all its processes together, user and system.
    pub cpu: Option<Duration>,
    /// Bytes of memory of all its processes together. What it writes to a working folder in memory counts.
    pub memory: Option<u64>,
    /// Processes and threads at one time.
    pub processes: Option<u64>,
    /// Bytes of any one file it writes.
    pub file_size: Option<u64>,
    /// Bytes of the working folder, and of all files together that are collected from it.
    pub disk: Option<u64>,
    /// Bytes of standard output and standard error together.
    pub output: Option<u64>,
}

impl Default for Limits {
    /// No limit of time and memory; 4096 processes, 1 GiB in the working folder, 64 MiB of output.
    fn default() -> Limits {
        Limits {
            wall: None,
            cpu: None,
            memory: None,
            processes: Some(4096),
            file_size: None,
            disk: Some(1 << 30),
            output: Some(64 << 20),
        }
    }
}

/// Calls off runs: those in progress that were given this token, and those to come.
#[derive(Debug, Clone)]
pub struct CancelToken(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    set: AtomicBool,
    wake: OwnedFd,
}

impl CancelToken {
    /// A token that is not set.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn new() -> io::Result<CancelToken> {
        Ok(CancelToken(Arc::new(Inner {
            set: AtomicBool::new(false),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })))
    }

    /// Sets it, for good.
    pub fn cancel(&self) {
        self.0.set.store(true, Ordering::Release);
        // Never read, so readable from now on: all who wait wake up. A full counter is readable too.
        let _ = rustix::io::write(&self.0.wake, &1_u64.to_ne_bytes());
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.set.load(Ordering::Acquire)
    }
}

impl AsFd for CancelToken {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }
}
