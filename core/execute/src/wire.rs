//! The messages between a runner and its sandbox process, and how they travel.
//!
//! A message is a length (four bytes, little endian) with which file descriptors may travel, then that
//! many bytes of [`postcard`].

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a sandbox process is to isolate; each can be had or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Isolation {
    pub user: bool,
    pub mount: bool,
    pub pid: bool,
    pub net: bool,
    pub ipc: bool,
    pub uts: bool,
}

/// One thing a sandbox's file tree is built of. Sources are canonical paths of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// A folder or file of the host, with all below it, read-only.
    Bind { source: PathBuf, target: PathBuf },
    /// A folder of the host that runs may write to.
    Writable { source: PathBuf, target: PathBuf },
    /// A device node of the host.
    Device(PathBuf),
    /// A symbolic link.
    Link { at: PathBuf, to: PathBuf },
    /// A small file, made afresh.
    File { at: PathBuf, bytes: Vec<u8> },
    /// An empty folder.
    Folder(PathBuf),
}

/// Where a run works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// A fresh tmpfs of this many bytes and files, on [`WORK`].
    Tmpfs { bytes: u64, files: u64 },
    /// This sub-folder of [`BOX`], bound on [`WORK`].
    Boxed(PathBuf),
    /// A folder of the host, used where it is.
    Folder(PathBuf),
}

/// Where a run's standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Input {
    /// A descriptor that comes with the message.
    Passed,
    /// A path inside the sandbox.
    Path(PathBuf),
}

/// The private working folder inside a sandbox.
pub(crate) const WORK: &str = "/run/agon/work";
/// The files of the job inside a sandbox.
pub(crate) const FILES: &str = "/run/agon/files";
/// Where the slot's disk folder is, until a run's own part of it is bound on [`WORK`].
pub(crate) const BOX: &str = "/run/agon/box";

/// One run, as the sandbox process needs to know it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub program: Vec<u8>,
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    pub work: Work,
    /// Links made in the working folder: name and target.
    pub links: Vec<(PathBuf, PathBuf)>,
    pub input: Input,
    /// Resource and limit, for `setrlimit`.
    pub rlimits: Vec<(u32, u64)>,
    pub cpus: Vec<u32>,
    /// Whether a control group (version 2) to start in comes with the message, as last descriptor.
    pub into_group: bool,
    /// Whether to keep the output pipes open until the end is told, so that the runner is not woken for the
    /// end of the output alone. A dialogue needs to know that the program has closed its output.
    pub hold_output: bool,
}

/// From the runner to the sandbox process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Isolate yourself; first message. `stage` is a folder to build the file tree on.
    Setup { isolation: Isolation, stage: PathBuf, protect: bool },
    /// Build this file tree; the runs that follow see it.
    Layout(Vec<Entry>),
    /// Start a run. Descriptors: standard output, standard error, report socket, then standard input
    /// if passed, then the control group if any.
    Launch(Box<Launch>),
    /// Kill the run in progress.
    Kill,
}

/// From the sandbox process to the runner.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// Setup or layout is done.
    Ready {
        /// Whether a fresh `/proc` can be mounted for each run.
        proc: bool,
    },
    /// The run's tree is gone.
    Ended {
        status: i32,
        user_ns: u64,
        system_ns: u64,
        largest_resident: u64,
        /// CPU time of the sandbox process itself since the request came.
        own_cpu_ns: u64,
    },
    /// Something of the host did not work.
    Failed { stage: String, errno: i32 },
}

/// What is reported of a run while it lasts, in a fixed shape: a tag and seven numbers.
pub(crate) type Report = [u64; 8];
pub(crate) const REPORT_BYTES: usize = size_of::<Report>();
/// From the sandbox process: `[tag, process number]`; with the run's first process's pidfd.
pub(crate) const FIRST: u64 = 5;
/// `[tag, time of exec, own CPU, own largest resident set, …]`; the working folder comes along if it is a tmpfs.
pub(crate) const STARTED: u64 = 1;
/// `[tag, time of exit, wait status, own CPU, children's largest resident set, stragglers, children's user, children's system]`
pub(crate) const ENDED: u64 = 2;
/// `[tag, errno]`
pub(crate) const NO_EXEC: u64 = 3;
/// `[tag, stage, errno]`
pub(crate) const NO_SETUP: u64 = 4;

/// What went wrong before the program started, by the number in a [`NO_SETUP`] report.
pub(crate) const STAGES: [&str; 12] = [
    "the sandbox process ended",
    "mount /proc",
    "mount the working folder",
    "enter the working folder",
    "place the files of the job",
    "open standard input",
    "start the program's process",
    "set resource limits",
    "pin to cores",
    "make a cgroup namespace",
    "become a subreaper",
    "redirect the standard streams",
];

pub(crate) fn encode(report: &Report) -> [u8; REPORT_BYTES] {
    let mut bytes = [0; REPORT_BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(report) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

pub(crate) fn decode(bytes: &[u8]) -> Option<Report> {
    if bytes.len() != REPORT_BYTES {
        return None;
    }
    let mut report = [0; 8];
    for (chunk, word) in bytes.chunks_exact(8).zip(&mut report) {
        *word = u64::from_le_bytes(chunk.try_into().ok()?);
    }
    Some(report)
}

/// Sends one message.
pub(crate) fn send<T: Serialize>(socket: &UnixStream, message: &T, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // In one piece: the receiver is not woken for the length alone.
    // The sandbox process may share a control group with a run that has filled it and is being killed.
    let start = Instant::now();
    let sent = loop {
        // In one piece: the receiver is not woken for the length alone.
        let slices = [IoSlice::new(&length), IoSlice::new(&body)];
        match sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL) {
            Err(Errno::NOMEM | Errno::NOBUFS) if start.elapsed() < Duration::from_secs(5) => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    let mut rest = socket;
    rest.write_all(&length[sent.min(length.len())..])?;
    rest.write_all(&body[sent.saturating_sub(length.len())..])
}

/// Receives one message; `None` at the end of the stream.
pub(crate) fn receive<T: DeserializeOwned>(socket: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut fds = Vec::new();
    let got = receive_fds(socket.as_fd(), &mut length, &mut fds)?;
    if got == 0 {
        return Ok(None);
    }
    let mut rest = socket;
    rest.read_exact(&mut length[got..])?;
    let length = u32::from_le_bytes(length) as usize;
    // What a message may hold is bounded by what the kernel passes to a program (arguments and
    // environment: 6 MiB) and the file tree.
    if length > 64 << 20 {
        return Err(io::Error::other("a message of impossible length"));
    }
    let mut body = vec![0; length];
    rest.read_exact(&mut body)?;
    let message = postcard::from_bytes(&body).map_err(io::Error::other)?;
    Ok(Some((message, fds)))
}

/// Receives bytes and the descriptors that come with them.
pub(crate) fn receive_fds(socket: BorrowedFd<'_>, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    Ok(received.bytes)
}
