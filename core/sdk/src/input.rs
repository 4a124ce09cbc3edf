//! What a plugin is given, borrowed for the duration of the call.

use std::io;

use crate::values::{
    Blame, Condition, Fault, Fidelity, FollowUpKind, Limit, Limits, Soundness, Status, StepKind, StepOutcome,
    ValidationStatus, copy_from,
};
use agon_abi::{AGON_NO_VALUE, AgonReader};

/// Bytes to read: all at once where the host has them in memory, else in parts.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(crate) whole: Option<&'a [u8]>,
    pub(crate) raw: Option<Raw<'a>>,
    pub(crate) size: Option<u64>,
    pub(crate) truncated: bool,
}

/// The host's reading function, which may be called while the call lasts.
#[derive(Clone, Copy)]
pub(crate) struct Raw<'a> {
    table: AgonReader,
    _call: std::marker::PhantomData<&'a ()>,
}

impl<'a> Raw<'a> {
    /// # Safety
    /// `read_at` and `ctx` of the table may be used during `'a`.
    pub(crate) unsafe fn new(table: AgonReader) -> Self {
        Self { table, _call: std::marker::PhantomData }
    }
}

impl<'a> From<&'a [u8]> for Reader<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { whole: Some(bytes), raw: None, size: Some(bytes.len() as u64), truncated: false }
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "reader of {:?} bytes", self.size)
    }
}

impl<'a> Reader<'a> {
    /// No bytes.
    pub const EMPTY: Reader<'static> = Reader { whole: Some(&[]), raw: None, size: Some(0), truncated: false };

    /// How many bytes there are, if that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether only the first part was kept.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// All bytes, if they are in memory already.
    pub fn whole(&self) -> Option<&'a [u8]> {
        self.whole
    }

    /// Reads up to `buffer.len()` bytes from `offset`; 0 at the end. A fault when the call should return soon: whoever
    /// reads in parts need not ask for it.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Fault> {
        if let Some(whole) = self.whole {
            return Ok(copy_from(whole, offset, buffer));
        }
        let Some(Raw { table, .. }) = &self.raw else { return Ok(0) };
        let Some(read_at) = table.read_at else { return Ok(0) };
        crate::export::check_cancelled()?;
        // SAFETY: the table was valid when the call began, and `'a` ends with the call.
        let n = unsafe { read_at(table.ctx, offset, buffer.as_mut_ptr(), buffer.len() as u64) };
        match usize::try_from(n) {
            Ok(n) if n <= buffer.len() => Ok(n),
            _ => Err(Fault::new(Status::ReadFailed, format!("reading at byte {offset} failed"))),
        }
    }

    /// All bytes; a fault if there are more than `limit`.
    pub fn read_all(&self, limit: u64) -> Result<std::borrow::Cow<'a, [u8]>, Fault> {
        let too_many = || Fault::new(Status::Limit, format!("there are more than {limit} bytes to read"));
        if let Some(whole) = self.whole {
            return if whole.len() as u64 > limit { Err(too_many()) } else { Ok(whole.into()) };
        }
        let mut all = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let n = self.read_at(all.len() as u64, &mut buffer)?;
            if n == 0 {
                return Ok(all.into());
            }
            all.extend_from_slice(&buffer[..n]);
            if all.len() as u64 > limit {
                return Err(too_many());
            }
        }
    }

    /// The lines, in bounded memory.
    pub fn lines(&self) -> crate::read::Lines<'a> {
        crate::read::Lines::new(*self)
    }

    /// The atoms and s-expressions, in bounded memory.
    pub fn forms(&self) -> crate::read::Forms<'a> {
        crate::read::Forms::new(*self)
    }

    /// For what takes [`io::Read`]; wrap it in a [`io::BufReader`] of your size.
    pub fn stream(&self) -> impl io::Read + 'a {
        Position { reader: *self, at: 0 }
    }
}

struct Position<'a> {
    reader: Reader<'a>,
    at: u64,
}

impl io::Read for Position<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read_at(self.at, buffer).map_err(io::Error::other)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// A number that the host has left out is none.
pub(crate) fn optional(value: u64) -> Option<u64> {
    (value != AGON_NO_VALUE).then_some(value)
}

/// A JSON document.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    /// The text.
    pub text: &'a str,
}

impl Doc<'_> {
    /// The parsed document.
    pub fn json(&self) -> Result<serde_json::Value, Fault> {
        serde_json::from_str(self.text)
            .map_err(|e| Fault::new(Status::InvalidArgument, format!("the host's document is not JSON: {e}")))
    }
}

/// A benchmark.
#[derive(Debug, Clone)]
pub struct Benchmark<'a> {
    /// What identifies it in results.
    pub id: &'a str,
    /// Its path or name, for display and for its extension.
    pub name: &'a str,
    /// Its logic.
    pub logic: Option<&'a str>,
    /// Its division.
    pub division: Option<&'a str>,
    /// Its family.
    pub family: Option<&'a str>,
    /// The expected answers, one for each check.
    pub statuses: Vec<&'a str>,
    /// Its text: the prepared one, after `prepare`.
    pub content: Reader<'a>,
    /// Its text before `prepare`, if that is another.
    pub original: Option<Reader<'a>>,
    /// The transformations that were applied.
    pub applied: Vec<&'a str>,
    /// What else is known of it: a JSON object.
    pub properties: Option<Doc<'a>>,
}

/// A participant.
#[derive(Debug, Clone, Default)]
pub struct Participant<'a> {
    /// What identifies it in results.
    pub id: &'a str,
    /// The words of its configuration.
    pub configuration: Vec<&'a str>,
}

/// What is run.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The benchmark.
    pub benchmark: Benchmark<'a>,
    /// Who runs on it.
    pub participant: Participant<'a>,
    /// Within which limits.
    pub limits: Limits,
}

/// An entry in the log of a run's steps.
#[derive(Debug, Clone)]
pub struct StepLog<'a> {
    /// A command or an expectation.
    pub kind: StepKind,
    /// How it ended.
    pub outcome: StepOutcome,
    /// The name of the command step.
    pub step: &'a str,
    /// The label of the expectation.
    pub label: Option<&'a str>,
    /// When the command was started, or the last byte before the expectation was written: ns from the start.
    pub sent_ns: u64,
    /// When the command ended, or the last byte of the response was read.
    pub answered_ns: u64,
    /// CPU time.
    pub cpu_ns: Option<u64>,
    /// A command's exit code.
    pub exit: Option<i32>,
    /// The signal that ended a command.
    pub signal: Option<i32>,
    /// The limit that ended it.
    pub limit: Limit,
    /// The response, or the command's standard output.
    pub response: Reader<'a>,
    /// The command's standard error output.
    pub errors: Option<Reader<'a>>,
    /// Of an expectation: how many responses came. An exchange has one for each piece.
    pub answers: u64,
    /// How many of them were not accepted, with output that was there before anything was asked.
    pub refused: u64,
    /// Time between the last byte of a piece and its response, in ns, added up over the pieces.
    pub waited_ns: u64,
    /// Which response is kept, counted from 0: the first that was not accepted, else the last.
    pub kept: u64,
}

/// Named bytes.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The name.
    pub name: &'a str,
    /// What it holds.
    pub kind: &'a str,
    /// The bytes.
    pub content: Reader<'a>,
}

/// What was observed of a run.
#[derive(Debug, Clone)]
pub struct Observation<'a> {
    /// How much of the rest is known.
    pub fidelity: Fidelity,
    /// The exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit that ended it.
    pub limit: Limit,
    /// Wall-clock time in ns.
    pub wall_ns: Option<u64>,
    /// CPU time of the process tree in ns.
    pub cpu_ns: Option<u64>,
    /// Peak memory in bytes.
    pub peak_memory: Option<u64>,
    /// Standard output; none below fidelity [`Fidelity::Streams`].
    pub stdout: Option<Reader<'a>>,
    /// Standard error output.
    pub stderr: Option<Reader<'a>>,
    /// The steps.
    pub steps: Vec<StepLog<'a>>,
    /// Files that the run left and `prepare` asked for.
    pub collected: Vec<Input<'a>>,
    /// The columns of an archived result: a JSON object.
    pub columns: Option<Doc<'a>>,
}

/// What `judge` came to.
#[derive(Debug, Clone)]
pub struct Judgement<'a> {
    /// What was answered.
    pub answer: &'a str,
    /// Whether it is right.
    pub soundness: Soundness,
    /// How the run ended.
    pub condition: Condition,
    /// Who is to blame for that.
    pub blame: Blame,
    /// The columns: a JSON object.
    pub columns: Option<Doc<'a>>,
    /// The artifacts.
    pub artifacts: Vec<Input<'a>>,
}

/// What came of a follow-up.
#[derive(Debug, Clone)]
pub struct Validation<'a> {
    /// By whom.
    pub kind: FollowUpKind,
    /// Whether there is an observation.
    pub status: ValidationStatus,
    /// The role, or the operation.
    pub role: &'a str,
    /// The key of the follow-up.
    pub dedup_key: &'a str,
    /// The tool that was run.
    pub tool: Option<&'a str>,
    /// What was observed.
    pub observation: Option<Observation<'a>>,
}
