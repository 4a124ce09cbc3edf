//! What passes between the host and a worker: frames of a length (32 bits, little-endian) and a message.
//!
//! The host asks, the worker answers; while it works on a question the worker may ask for bytes that the host has
//! ([`FromWorker::Read`]) and send lines of the log. The protocol has its own number, apart from the ABI's; what is
//! new within it is a feature, and unknown features are ignored.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use agon_sdk::hosting::Identity;
use agon_sdk::values::{
    Explanation, Fault, Findings, Input, Job, Judgement, Level, Observation, Output, Plan, Source, Validation,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The number of the protocol.
pub const PROTOCOL: u32 = 1;
/// What this side can do beside the protocol's first form.
pub const FEATURES: &[&str] = &["read", "log", "check"];
/// The largest frame.
const MOST: usize = 1 << 30;
/// Bytes up to this many are sent with a question; more are asked for when they are needed.
pub const INLINE: u64 = 256 * 1024;

/// What holds for a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restrictions {
    /// Memory in bytes: of the address space.
    pub memory_bytes: u64,
    /// Open files.
    pub files: u64,
    /// What happens to a call of the system that is not allowed.
    pub forbidden: Forbidden,
}

/// What happens to a call of the system that is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forbidden {
    /// Nothing: all is allowed.
    Allowed,
    /// It fails.
    Fails,
}

/// Whose code a worker runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Code {
    /// A track that is linked into the program.
    Linked(String),
    /// A library, whose content has this BLAKE3 hash.
    File {
        /// Where it is.
        path: PathBuf,
        /// Its hash.
        blake3: String,
        /// Whether owners and modes are not looked at.
        trust_permissions: bool,
    },
}

/// From the host.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToWorker {
    /// The first message.
    Hello {
        /// The host's protocol.
        protocol: u32,
        /// The host's features.
        features: Vec<String>,
        /// What holds from now on.
        restrictions: Restrictions,
    },
    /// Which plugin to serve.
    Load(Code),
    /// Makes the track that later calls use.
    Open(String),
    /// A call.
    Prepare(Box<Job>),
    /// A call.
    Judge(Box<Job>, Box<Observation>),
    /// A call.
    RunInternal(String, Box<Job>, Vec<Input>),
    /// A call.
    Conclude(Box<Job>, Box<Observation>, Box<Judgement>, Vec<Validation>),
    /// A call.
    Explain(Box<Job>, Box<Observation>, Box<Judgement>, Vec<Validation>),
    /// Performs a check of the conformance test.
    Check(String),
    /// The bytes that were asked for; none if they cannot be read.
    Bytes(Option<Blob>),
}

/// Bytes in a message.
#[derive(Debug, Serialize, Deserialize)]
pub struct Blob(#[serde(with = "agon_sdk::values::bytes")] pub Vec<u8>);

/// From the worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWorker {
    /// The answer to the first message.
    Hello {
        /// The worker's protocol.
        protocol: u32,
        /// The worker's features.
        features: Vec<String>,
    },
    /// The plugin is loaded.
    Loaded(Identity, String),
    /// It is not.
    Refused(String),
    /// A line for the log.
    Log(Level, String),
    /// Wants up to so many bytes from an offset of what the host has under a number.
    Read(u32, u64, u32),
    /// The answer to a call, and the resident memory of the worker in bytes.
    Done(Box<Result<Reply, Fault>>, u64),
    /// What a check found.
    Checked(Vec<crate::conformance::Finding>),
}

/// What a call came to.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The track is open.
    Opened,
    /// Of `prepare`.
    Plan(Plan),
    /// Of `judge` and `conclude`.
    Judgement(Judgement),
    /// Of `run_internal`.
    Findings(Findings),
    /// Of `explain`.
    Explanation(Explanation),
}

/// Writes a frame.
pub fn send<T: Serialize>(out: &mut impl Write, message: &T) -> io::Result<()> {
    let mut frame = vec![0; 4];
    frame = postcard::to_extend(message, frame).map_err(io::Error::other)?;
    let len = frame.len() - 4;
    if len > MOST {
        return Err(io::Error::other(format!("a message of {len} bytes is too long")));
    }
    let len = u32::try_from(len).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&len.to_le_bytes());
    out.write_all(&frame)?;
    out.flush()
}

/// Reads a frame.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {len} bytes is too long")));
    }
    // The other side may be broken: memory is taken as the bytes come.
    let mut frame = Vec::new();
    from.take(len as u64).read_to_end(&mut frame)?;
    if frame.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    postcard::from_bytes(&frame).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// Visits every source of a value.
pub trait Sources {
    /// Calls `f` for each.
    fn each(&mut self, f: &mut dyn FnMut(&mut Source));
}

impl Sources for Output {
    fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        f(&mut self.source);
    }
}

impl Sources for Job {
    fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        f(&mut self.benchmark.content);
        self.benchmark.original.iter_mut().for_each(f);
    }
}

impl Sources for Observation {
    fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        for output in [&mut self.stdout, &mut self.stderr].into_iter().flatten() {
            output.each(f);
        }
        for step in &mut self.steps {
            step.response.each(f);
            if let Some(errors) = &mut step.errors {
                errors.each(f);
            }
        }
        for input in &mut self.collected {
            f(&mut input.content);
        }
    }
}

impl Sources for Vec<Input> {
    fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        for input in self {
            f(&mut input.content);
        }
    }
}

impl Sources for Vec<Validation> {
    fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        for observation in self.iter_mut().filter_map(|v| v.observation.as_mut()) {
            observation.each(f);
        }
    }
}

impl ToWorker {
    /// Visits every source of the message.
    pub fn each(&mut self, f: &mut dyn FnMut(&mut Source)) {
        match self {
            ToWorker::Prepare(job) => job.each(f),
            ToWorker::Judge(job, observation) => {
                job.each(f);
                observation.each(f);
            }
            ToWorker::RunInternal(_, job, inputs) => {
                job.each(f);
                inputs.each(f);
            }
            ToWorker::Conclude(job, observation, _, validations)
            | ToWorker::Explain(job, observation, _, validations) => {
                job.each(f);
                observation.each(f);
                validations.each(f);
            }
            ToWorker::Hello { .. }
            | ToWorker::Load(_)
            | ToWorker::Open(_)
            | ToWorker::Check(_)
            | ToWorker::Bytes(_) => {}
        }
    }
}
