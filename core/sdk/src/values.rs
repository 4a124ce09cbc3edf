//! What goes into a plugin and what comes out of it, as owned values. The host keeps and stores these; a plugin's tests
//! are written with them.
//!
//! Times are nanoseconds, sizes are bytes. `None` means not measured, not limited or not known.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use agon_abi as abi;

/// An enumeration whose members have a number in the ABI and a word in files.
macro_rules! coded {
    ($(#[$doc:meta])* $name:ident: $integer:ty { $($(#[$member_doc:meta])* $member:ident = $code:path, $word:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$member_doc])* #[serde(rename = $word)] $member,)*
        }

        impl $name {
            /// All members, in the order of their numbers.
            pub const ALL: &[$name] = &[$($name::$member),*];

            /// The number in the ABI.
            pub const fn code(self) -> $integer {
                match self { $($name::$member => $code,)* }
            }

            /// The member with this number in the ABI.
            pub const fn from_code(code: $integer) -> Option<Self> {
                $(if code == $code { return Some($name::$member); })*
                None
            }

            /// The word for it in files and tables.
            pub const fn word(self) -> &'static str {
                match self { $($name::$member => $word,)* }
            }

            /// The member with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|m| m.word() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

coded! {
    /// How much is known of a run.
    Fidelity: u32 {
        /// Only the columns of an archived result.
        Columns = abi::AGON_FIDELITY_COLUMNS, "columns";
        /// How the run ended, its times and its memory.
        Summary = abi::AGON_FIDELITY_SUMMARY, "summary";
        /// The outputs too.
        Streams = abi::AGON_FIDELITY_STREAMS, "streams";
    }
}

coded! {
    /// Which limit ended a run.
    Limit: u32 {
        /// None did.
        None = abi::AGON_LIMIT_NONE, "none";
        /// Wall-clock time.
        Wall = abi::AGON_LIMIT_WALL, "wall";
        /// CPU time.
        Cpu = abi::AGON_LIMIT_CPU, "cpu";
        /// Memory.
        Memory = abi::AGON_LIMIT_MEMORY, "memory";
        /// Bytes of output.
        Output = abi::AGON_LIMIT_OUTPUT, "output";
        /// Disk space.
        Disk = abi::AGON_LIMIT_DISK, "disk";
        /// Number of processes.
        Processes = abi::AGON_LIMIT_PROCESSES, "processes";
    }
}

coded! {
    /// Whether an answer is right, apart from how the run ended.
    Soundness: u32 {
        /// Nothing is known, or nothing was claimed that could be checked.
        NotApplicable = abi::AGON_SOUNDNESS_NOT_APPLICABLE, "not-applicable";
        /// It agrees with what is known.
        Agrees = abi::AGON_SOUNDNESS_AGREES, "agrees";
        /// It contradicts what is known.
        Contradicts = abi::AGON_SOUNDNESS_CONTRADICTS, "contradicts";
        /// It could be checked and was not, or not yet.
        Unverified = abi::AGON_SOUNDNESS_UNVERIFIED, "unverified";
    }
}

coded! {
    /// How a run ended, apart from what was answered.
    Condition: u32 {
        /// By itself, with well-formed output.
        Finished = abi::AGON_CONDITION_FINISHED, "finished";
        /// By the limit on CPU time.
        CpuLimit = abi::AGON_CONDITION_CPU_LIMIT, "cpu-limit";
        /// By the limit on wall-clock time.
        WallLimit = abi::AGON_CONDITION_WALL_LIMIT, "wall-limit";
        /// By the limit on memory.
        MemoryLimit = abi::AGON_CONDITION_MEMORY_LIMIT, "memory-limit";
        /// By a signal, or an exit code that means a crash.
        Crashed = abi::AGON_CONDITION_CRASHED, "crashed";
        /// With output that breaks the rules on its form.
        MalformedOutput = abi::AGON_CONDITION_MALFORMED, "malformed-output";
        /// By a fault of the harness: it counts for nobody and against nobody.
        HarnessFault = abi::AGON_CONDITION_HARNESS_FAULT, "harness-fault";
    }
}

coded! {
    /// Who is to blame for a condition other than `finished`, or for a fault.
    Blame: u32 {
        /// Nobody.
        None = abi::AGON_BLAME_NONE, "none";
        /// The participant.
        Entrant = abi::AGON_BLAME_ENTRANT, "entrant";
        /// The benchmark.
        Benchmark = abi::AGON_BLAME_BENCHMARK, "benchmark";
        /// The host.
        Host = abi::AGON_BLAME_HOST, "host";
        /// The plugin.
        Plugin = abi::AGON_BLAME_PLUGIN, "plugin";
    }
}

coded! {
    /// Why a call failed.
    Status: i32 {
        /// An argument is not what its table says.
        InvalidArgument = abi::AGON_INVALID_ARGUMENT, "invalid-argument";
        /// A parameter is missing, unknown or out of range.
        BadParameter = abi::AGON_BAD_PARAMETER, "bad-parameter";
        /// The plugin does not do this.
        Unsupported = abi::AGON_UNSUPPORTED, "unsupported";
        /// Given up when asked to.
        Cancelled = abi::AGON_CANCELLED, "cancelled";
        /// The benchmark cannot be used.
        BadBenchmark = abi::AGON_BAD_BENCHMARK, "bad-benchmark";
        /// A bound of the plugin's own was met.
        Limit = abi::AGON_LIMIT, "limit";
        /// Something could not be read.
        ReadFailed = abi::AGON_READ_FAILED, "read-failed";
        /// What was emitted was not declared, or not allowed here.
        Contract = abi::AGON_CONTRACT, "contract";
        /// A fault in the plugin.
        Internal = abi::AGON_INTERNAL, "internal";
        /// A panic in the plugin.
        Panic = abi::AGON_PANIC, "panic";
    }
}

coded! {
    /// How a response of a script is cut out of the output.
    Framing: u32 {
        /// A line.
        Line = abi::AGON_EXPECT_LINE, "line";
        /// An atom or a balanced s-expression.
        SExpression = abi::AGON_EXPECT_SEXPR, "s-expression";
        /// All until the end.
        Eof = abi::AGON_EXPECT_EOF, "eof";
    }
}

coded! {
    /// When a step runs that comes after others.
    When: u32 {
        /// When those ended by themselves with exit code 0.
        Succeeded = abi::AGON_WHEN_SUCCEEDED, "succeeded";
        /// When those ended, however.
        Ended = abi::AGON_WHEN_ENDED, "ended";
    }
}

coded! {
    /// What a log entry is about.
    StepKind: u32 {
        /// A command.
        Command = abi::AGON_STEP_COMMAND, "command";
        /// An expectation of a command's script.
        Expect = abi::AGON_STEP_EXPECT, "expect";
    }
}

coded! {
    /// How a step or an expectation ended.
    StepOutcome: u32 {
        /// It ended; the response came.
        Done = abi::AGON_OUTCOME_DONE, "done";
        /// The output ended before.
        Eof = abi::AGON_OUTCOME_EOF, "eof";
        /// A limit ended it.
        Limit = abi::AGON_OUTCOME_LIMIT, "limit";
        /// The response was not accepted, and the script ended; of a command, the host ended it because it went on after
        /// its script.
        Stopped = abi::AGON_OUTCOME_STOPPED, "stopped";
        /// It was not reached.
        NotRun = abi::AGON_OUTCOME_NOT_RUN, "not-run";
    }
}

coded! {
    /// Who performs a follow-up.
    FollowUpKind: u32 {
        /// The plugin, in a worker.
        Internal = abi::AGON_FOLLOW_UP_INTERNAL, "internal";
        /// Tools that the edition names.
        External = abi::AGON_FOLLOW_UP_EXTERNAL, "external";
    }
}

coded! {
    /// What came of a follow-up.
    ValidationStatus: u32 {
        /// There is an observation.
        Done = abi::AGON_VALIDATION_DONE, "done";
        /// The validator met its own limit.
        Limit = abi::AGON_VALIDATION_LIMIT, "limit";
        /// The validator crashed.
        Crashed = abi::AGON_VALIDATION_CRASHED, "crashed";
        /// It was not run.
        NotRun = abi::AGON_VALIDATION_NOT_RUN, "not-run";
    }
}

coded! {
    /// Which bytes a piece of evidence is in.
    Stream: u32 {
        /// The standard output.
        Out = abi::AGON_STREAM_STDOUT, "stdout";
        /// The standard error output.
        Errors = abi::AGON_STREAM_STDERR, "stderr";
        /// The benchmark.
        Benchmark = abi::AGON_STREAM_BENCHMARK, "benchmark";
        /// The response in an entry of the step log.
        Step = abi::AGON_STREAM_STEP, "step";
    }
}

coded! {
    /// How important a remark is.
    Level: u32 {
        /// An error.
        Error = abi::AGON_LOG_ERROR, "error";
        /// A warning.
        Warning = abi::AGON_LOG_WARNING, "warning";
        /// A note.
        Note = abi::AGON_LOG_NOTE, "note";
        /// For the plugin's author.
        Debug = abi::AGON_LOG_DEBUG, "debug";
    }
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind.
    pub status: Status,
    /// Who is to blame.
    pub blame: Blame,
    /// What happened, as a sentence.
    pub message: String,
    /// The JSON pointer to a bad parameter.
    pub pointer: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault of this kind; the blame follows from it, and can be set with [`Fault::blame`].
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        let blame = match status {
            Status::BadBenchmark => Blame::Benchmark,
            Status::Cancelled | Status::ReadFailed | Status::InvalidArgument | Status::BadParameter => Blame::Host,
            Status::Unsupported | Status::Limit | Status::Contract | Status::Internal | Status::Panic => Blame::Plugin,
        };
        Self { status, blame, message: message.into(), pointer: None, hint: None }
    }

    /// Says who is to blame.
    #[must_use]
    pub fn blame(mut self, blame: Blame) -> Self {
        self.blame = blame;
        self
    }

    /// Says which parameter is bad: a JSON pointer such as `/after-error`.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.message)?;
        if let Some(pointer) = &self.pointer {
            write!(f, " (at {pointer})")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Bytes that can be read at any place.
pub trait ReadAt: Send + Sync {
    /// How many there are, if that is known.
    fn size(&self) -> Option<u64>;
    /// Reads up to `buffer.len()` bytes from `offset`; 0 at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// Where bytes come from that may be too many for memory.
#[derive(Clone)]
pub enum Source {
    /// Memory.
    Bytes(Arc<[u8]>),
    /// A file.
    File(Arc<PathBuf>),
    /// Anything else.
    Reader(Arc<dyn ReadAt>),
    /// Bytes that the other end of a worker's connection has: its number there, and the size.
    Remote(u32, Option<u64>),
}

impl Source {
    /// Bytes in memory.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Source::Bytes(bytes.as_ref().into())
    }

    /// A file, which must not change while it is used.
    pub fn file(path: impl AsRef<Path>) -> Self {
        Source::File(Arc::new(path.as_ref().to_path_buf()))
    }

    /// How many bytes there are, if that is known.
    pub fn size(&self) -> Option<u64> {
        match self {
            Source::Bytes(bytes) => Some(bytes.len() as u64),
            Source::File(path) => std::fs::metadata(path.as_path()).ok().map(|m| m.len()),
            Source::Reader(reader) => reader.size(),
            Source::Remote(_, size) => *size,
        }
    }

    /// All bytes, if they are in memory.
    pub fn whole(&self) -> Option<&[u8]> {
        match self {
            Source::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Reads up to `buffer.len()` bytes from `offset`; 0 at the end. To read a file in parts, use [`Source::open`].
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Bytes(bytes) => Ok(copy_from(bytes, offset, buffer)),
            Source::File(path) => {
                let file = std::fs::File::open(path.as_path())?;
                std::os::unix::fs::FileExt::read_at(&file, buffer, offset)
            }
            Source::Reader(reader) => reader.read_at(offset, buffer),
            Source::Remote(..) => Err(io::Error::other("the bytes are at the other end of a connection")),
        }
    }

    /// The same bytes behind an open file.
    pub fn open(&self) -> io::Result<Source> {
        match self {
            Source::File(path) => Ok(Source::Reader(Arc::new(OpenFile(std::fs::File::open(path.as_path())?)))),
            other => Ok(other.clone()),
        }
    }

    /// All bytes; an error if there are more than `limit`.
    pub fn read_all(&self, limit: u64) -> io::Result<Vec<u8>> {
        let source = self.open()?;
        let mut all = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let n = source.read_at(all.len() as u64, &mut buffer)?;
            if n == 0 {
                return Ok(all);
            }
            all.extend_from_slice(&buffer[..n]);
            if all.len() as u64 > limit {
                return Err(io::Error::other(format!("more than {limit} bytes")));
            }
        }
    }
}

/// Copies what lies at `offset` of `bytes`.
pub(crate) fn copy_from(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|o| bytes.get(o..)).unwrap_or_default();
    let n = rest.len().min(buffer.len());
    buffer[..n].copy_from_slice(&rest[..n]);
    n
}

struct OpenFile(std::fs::File);

impl ReadAt for OpenFile {
    fn size(&self) -> Option<u64> {
        self.0.metadata().ok().map(|m| m.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Bytes(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Source::File(path) => write!(f, "file {}", path.display()),
            Source::Reader(reader) => write!(f, "reader of {:?} bytes", reader.size()),
            Source::Remote(number, size) => write!(f, "remote {number} of {size:?} bytes"),
        }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Source::Bytes(a), Source::Bytes(b)) => a == b,
            (Source::File(a), Source::File(b)) => a == b,
            (Source::Reader(a), Source::Reader(b)) => Arc::ptr_eq(a, b),
            (Source::Remote(a, n), Source::Remote(b, m)) => a == b && n == m,
            _ => false,
        }
    }
}

/// What of a [`Source`] is written down.
#[derive(Serialize, Deserialize)]
enum SourceForm {
    #[serde(rename = "bytes")]
    Bytes(#[serde(with = "bytes")] Vec<u8>),
    #[serde(rename = "file")]
    File(PathBuf),
    #[serde(rename = "remote")]
    Remote(u32, Option<u64>),
}

impl Serialize for Source {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Source::Bytes(bytes) => SourceForm::Bytes(bytes.to_vec()),
            Source::File(path) => SourceForm::File(path.as_ref().clone()),
            Source::Remote(number, size) => SourceForm::Remote(*number, *size),
            Source::Reader(_) => SourceForm::Bytes(self.read_all(u64::MAX).map_err(serde::ser::Error::custom)?),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match SourceForm::deserialize(deserializer)? {
            SourceForm::Bytes(bytes) => Source::Bytes(bytes.into()),
            SourceForm::File(path) => Source::File(Arc::new(path)),
            SourceForm::Remote(number, size) => Source::Remote(number, size),
        })
    }
}

impl<T: AsRef<[u8]>> From<T> for Source {
    fn from(bytes: T) -> Self {
        Source::bytes(bytes)
    }
}

/// Bytes in files: text where they are UTF-8, else hexadecimal digits.
pub mod bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    enum Form {
        #[serde(rename = "text")]
        Text(String),
        #[serde(rename = "hex")]
        Hex(String),
    }

    struct Visitor;

    impl serde::de::Visitor<'_> for Visitor {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }

    /// Writes them.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(bytes);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Form::Text(text.to_string()),
            Err(_) => Form::Hex(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        }
        .serialize(serializer)
    }

    /// Reads them.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_byte_buf(Visitor);
        }
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(text.into_bytes()),
            Form::Hex(digits) => digits
                .as_bytes()
                .chunks(2)
                .map(|pair| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok()))
                .collect::<Option<Vec<u8>>>()
                .ok_or_else(|| serde::de::Error::custom("these are no hexadecimal digits")),
        }
    }
}

/// A stream of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The bytes.
    pub source: Source,
    /// Whether only the first part was kept.
    pub truncated: bool,
}

impl<T: AsRef<[u8]>> From<T> for Output {
    fn from(bytes: T) -> Self {
        Self { source: Source::bytes(bytes), truncated: false }
    }
}

/// A benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// What identifies it in results.
    pub id: String,
    /// Its path or name, for display.
    pub name: String,
    /// Its logic.
    pub logic: Option<String>,
    /// Its division.
    pub division: Option<String>,
    /// Its family.
    pub family: Option<String>,
    /// The expected answers, one for each check.
    pub statuses: Vec<String>,
    /// Its text: the prepared one, after `prepare`.
    pub content: Source,
    /// Its text before `prepare`, if that is another.
    pub original: Option<Source>,
    /// The names of the transformations that were applied.
    pub applied: Vec<String>,
    /// What else is known of it: the text of a JSON object.
    pub properties: Option<String>,
}

impl Benchmark {
    /// A benchmark of which only the text is known.
    pub fn new(id: impl Into<String>, content: impl Into<Source>) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            logic: None,
            division: None,
            family: None,
            statuses: Vec::new(),
            content: content.into(),
            original: None,
            applied: Vec::new(),
            properties: None,
        }
    }

    /// States the expected answers.
    #[must_use]
    pub fn expecting<T: Into<String>>(mut self, statuses: impl IntoIterator<Item = T>) -> Self {
        self.statuses = statuses.into_iter().map(Into::into).collect();
        self
    }
}

/// A participant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Participant {
    /// What identifies it in results.
    pub id: String,
    /// The words of its configuration.
    pub configuration: Vec<String>,
}

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time.
    pub wall_ns: Option<u64>,
    /// CPU time.
    pub cpu_ns: Option<u64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Cores.
    pub cores: Option<u32>,
}

/// What is run: a benchmark, by whom, within which limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// Who runs on it.
    pub participant: Participant,
    /// Within which limits.
    pub limits: Limits,
}

impl Job {
    /// A job for a benchmark, without a participant's name and without limits.
    pub fn new(benchmark: Benchmark) -> Self {
        Self { benchmark, participant: Participant::default(), limits: Limits::default() }
    }
}

/// An entry in the log of a run's steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepLog {
    /// A command or an expectation.
    pub kind: StepKind,
    /// How it ended.
    pub outcome: StepOutcome,
    /// The name of the command step.
    pub step: String,
    /// The label of the expectation.
    pub label: Option<String>,
    /// When the command was started or the last byte before the expectation was written, from the start of the run.
    pub sent_ns: u64,
    /// When the command ended or the last byte of the response was read.
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
    pub response: Output,
    /// The command's standard error output.
    pub errors: Option<Output>,
    /// Of an expectation: how many responses came. An exchange has one for each piece.
    pub answers: u64,
    /// How many of them were not accepted, with output that was there before anything was asked.
    pub refused: u64,
    /// Time between the last byte of a piece and its response, added up over the pieces.
    pub waited_ns: u64,
    /// Which response is kept, counted from 0: the first that was not accepted, else the last.
    pub kept: u64,
}

/// Named bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The name.
    pub name: String,
    /// What it holds.
    pub kind: String,
    /// The bytes.
    pub content: Source,
}

/// What was observed of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// How much of the rest is known.
    pub fidelity: Fidelity,
    /// The exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit that ended it.
    pub limit: Limit,
    /// Wall-clock time.
    pub wall_ns: Option<u64>,
    /// CPU time of the process tree.
    pub cpu_ns: Option<u64>,
    /// Peak memory.
    pub peak_memory: Option<u64>,
    /// Standard output.
    pub stdout: Option<Output>,
    /// Standard error output.
    pub stderr: Option<Output>,
    /// The steps.
    pub steps: Vec<StepLog>,
    /// Files that the run left and the plugin asked for.
    pub collected: Vec<Input>,
    /// The columns of an archived result: the text of a JSON object.
    pub columns: Option<String>,
}

impl Observation {
    /// A run that ended by itself with this exit code and this output.
    pub fn finished(exit: i32, stdout: impl Into<Output>) -> Self {
        Self {
            fidelity: Fidelity::Streams,
            exit: Some(exit),
            signal: None,
            limit: Limit::None,
            wall_ns: Some(0),
            cpu_ns: Some(0),
            peak_memory: Some(0),
            stdout: Some(stdout.into()),
            stderr: Some(Output::from("")),
            steps: Vec::new(),
            collected: Vec::new(),
            columns: None,
        }
    }
}

/// The value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// An integer.
    #[serde(rename = "int")]
    Int(i64),
    /// An integer that is not negative.
    #[serde(rename = "uint")]
    UInt(u64),
    /// An exact number: `-12`, `3.25` or `1/3`.
    #[serde(rename = "ratio")]
    Ratio(String),
    /// Free text.
    #[serde(rename = "text")]
    Text(String),
    /// One of the declared words.
    #[serde(rename = "word")]
    Word(String),
    /// A truth value.
    #[serde(rename = "flag")]
    Flag(bool),
    /// A time in nanoseconds.
    #[serde(rename = "time")]
    Time(u64),
    /// A size in bytes.
    #[serde(rename = "memory")]
    Memory(u64),
}

impl Value {
    /// The value for [`Judgement::columns_json`]: integers as numbers, ratios as strings.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Int(n) => (*n).into(),
            Value::UInt(n) | Value::Time(n) | Value::Memory(n) => (*n).into(),
            Value::Ratio(text) | Value::Text(text) | Value::Word(text) => text.as_str().into(),
            Value::Flag(flag) => (*flag).into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => n.fmt(f),
            Value::UInt(n) | Value::Time(n) | Value::Memory(n) => n.fmt(f),
            Value::Ratio(text) | Value::Text(text) | Value::Word(text) => f.write_str(text),
            Value::Flag(flag) => flag.fmt(f),
        }
    }
}

/// A part of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// These bytes.
    #[serde(rename = "bytes")]
    Bytes(#[serde(with = "bytes")] Vec<u8>),
    /// A range of an output: what may be gigabytes is not copied by the plugin.
    #[serde(rename = "copy")]
    Copy {
        /// Which output.
        stream: Stream,
        /// The position in the step log, for [`Stream::Step`].
        step: u32,
        /// The first byte.
        from: u64,
        /// The byte after the last.
        to: u64,
    },
}

/// Bytes that are kept with a result: a model, a core, a table of times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its declared name.
    pub name: String,
    /// What it holds.
    pub kind: String,
    /// Its parts.
    pub pieces: Vec<Piece>,
}

impl Artifact {
    /// Writes the bytes; ranges of outputs are read from the job and the observation that were judged.
    pub fn write_to(&self, job: &Job, observation: &Observation, out: &mut dyn Write) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.write_all(bytes)?,
                Piece::Copy { stream, step, from, to } => {
                    let source = source_of(job, observation, *stream, *step)
                        .ok_or_else(|| io::Error::other(format!("there is no {stream} to copy from")))?
                        .open()?;
                    let (mut at, mut buffer) = (*from, vec![0; 64 * 1024]);
                    while at < *to {
                        let want = buffer.len().min(usize::try_from(to - at).unwrap_or(usize::MAX));
                        let n = source.read_at(at, &mut buffer[..want])?;
                        if n == 0 {
                            return Err(io::Error::other(format!("{stream} ends before byte {to}")));
                        }
                        out.write_all(&buffer[..n])?;
                        at += n as u64;
                    }
                }
            }
        }
        Ok(())
    }

    /// All bytes.
    pub fn bytes(&self, job: &Job, observation: &Observation) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.write_to(job, observation, &mut all)?;
        Ok(all)
    }
}

/// The bytes that a stream names.
pub fn source_of<'a>(job: &'a Job, observation: &'a Observation, stream: Stream, step: u32) -> Option<&'a Source> {
    match stream {
        Stream::Out => observation.stdout.as_ref().map(|o| &o.source),
        Stream::Errors => observation.stderr.as_ref().map(|o| &o.source),
        Stream::Benchmark => Some(&job.benchmark.content),
        Stream::Step => observation.steps.get(step as usize).map(|s| &s.response.source),
    }
}

/// A word of a command, or where an input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arg {
    /// These bytes.
    #[serde(rename = "text")]
    Text(#[serde(with = "bytes")] Vec<u8>),
    /// The path of the prepared benchmark.
    #[serde(rename = "benchmark")]
    Benchmark,
    /// The participant's command.
    #[serde(rename = "command")]
    Command,
    /// The standard output of a step.
    #[serde(rename = "output-of")]
    OutputOf(String),
    /// The command of the tool with this role.
    #[serde(rename = "tool")]
    Tool(String),
    /// A collected file.
    #[serde(rename = "collected")]
    Collected(String),
    /// An artifact.
    #[serde(rename = "artifact")]
    Artifact(String),
    /// Nothing.
    #[serde(rename = "nothing")]
    Nothing,
    /// The benchmark as it was before `prepare`.
    #[serde(rename = "original")]
    Original,
}

impl Arg {
    /// A plain word.
    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Arg::Text(text.as_ref().to_vec())
    }
}

/// An entry of an interaction script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptEntry {
    /// Bytes to send.
    #[serde(rename = "send")]
    Send(#[serde(with = "bytes")] Vec<u8>),
    /// A response to wait for.
    #[serde(rename = "expect")]
    Expect(Expect),
    /// Pieces of the benchmark to send, each of which is answered before the next.
    #[serde(rename = "exchange")]
    Exchange(Exchange),
}

/// Bytes of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The first.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// Pieces of the benchmark as the run gets it, which are sent one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The pieces. They can be many.
    #[serde(with = "places")]
    pub pieces: Arc<[Place]>,
    /// The response to each. The log has one entry of this label for all of them.
    pub expect: Expect,
}

mod places {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Place;

    pub fn serialize<S: Serializer>(places: &[Place], serializer: S) -> Result<S::Ok, S::Error> {
        places.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[Place]>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into())
    }
}

/// A response that a script waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// How it is cut out of the output.
    pub framing: Framing,
    /// Its name in the log.
    pub label: String,
    /// Whether the time until it comes is a result.
    pub timed: bool,
    /// Whether blank lines are skipped.
    pub skip_blank: bool,
    /// The responses that are accepted, without the blanks around them.
    pub accept: Vec<Accepted>,
    /// Whether a response that is not accepted ends the script.
    pub stop_unless_accepted: bool,
}

/// The bytes of an accepted response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted(#[serde(with = "bytes")] pub Vec<u8>);

impl Expect {
    /// Waits for a response; any is accepted.
    pub fn new(framing: Framing, label: impl Into<String>) -> Self {
        Self {
            framing,
            label: label.into(),
            timed: false,
            skip_blank: false,
            accept: Vec::new(),
            stop_unless_accepted: false,
        }
    }
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// The steps that must have ended before.
    pub after: Vec<String>,
    /// How they must have ended.
    pub when: When,
    /// The words of the command.
    pub argv: Vec<Arg>,
    /// The standard input.
    pub input: Arg,
    /// The name of the edition's limits that it has for itself; else it shares those of the run.
    pub limits: Option<String>,
    /// What is sent and expected; instead of `input`.
    pub script: Vec<ScriptEntry>,
    /// How long the program may go on after its script has ended, in nanoseconds; then the host ends it, which is no limit.
    /// None: to its own end, or a limit.
    pub patience_ns: Option<u64>,
}

impl Step {
    /// A command without input.
    pub fn new(name: impl Into<String>, argv: impl IntoIterator<Item = Arg>) -> Self {
        Self {
            name: name.into(),
            after: Vec::new(),
            when: When::Succeeded,
            argv: argv.into_iter().collect(),
            input: Arg::Nothing,
            limits: None,
            script: Vec::new(),
            patience_ns: None,
        }
    }

    /// The participant's command with the benchmark's path.
    pub fn solve() -> Self {
        Self::new("solve", [Arg::Command, Arg::Benchmark])
    }
}

/// A transformation of the benchmark that the host performs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transform {
    /// Which: `scramble`.
    pub name: String,
    /// A word of that transformation.
    pub mode: String,
    /// Whether `prepare` is called again, with the transformed benchmark.
    pub then_again: bool,
}

/// A file that the run leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collect {
    /// The name by which the plugin knows it.
    pub name: String,
    /// Its path in the run's working folder.
    pub path: String,
}

/// A remark that is kept with a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How important it is.
    pub level: Level,
    /// A short word.
    pub code: String,
    /// The remark.
    pub message: String,
}

/// Bytes that a verdict or an explanation rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Where they are.
    pub stream: Stream,
    /// The position in the step log, for [`Stream::Step`].
    pub step: u32,
    /// The first byte.
    pub from: u64,
    /// The byte after the last.
    pub to: u64,
    /// What they show.
    pub note: String,
}

/// What `prepare` decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The text of the prepared benchmark; none: as it was.
    #[serde(with = "optional_bytes")]
    pub text: Option<Vec<u8>>,
    /// The commands; none: the participant's command with the benchmark's path ([`Plan::steps_or_default`]).
    pub steps: Vec<Step>,
    /// Transformations of the benchmark, in this order.
    pub transforms: Vec<Transform>,
    /// Files to collect.
    pub collect: Vec<Collect>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// The commands to run.
    pub fn steps_or_default(&self) -> Vec<Step> {
        if self.steps.is_empty() { vec![Step::solve()] } else { self.steps.clone() }
    }
}

mod optional_bytes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super::bytes")] Vec<u8>);

    pub fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        bytes.clone().map(Wrapped).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|w| w.0))
    }
}

/// Something to check before a verdict is final.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// By whom.
    pub kind: FollowUpKind,
    /// The role of the tools, or the name of the operation.
    pub role: String,
    /// Follow-ups with the same role and key are run once.
    pub dedup_key: String,
    /// The inputs by name.
    pub inputs: Vec<(String, Arg)>,
    /// The name of the edition's limits for it.
    pub limits: Option<String>,
}

/// What `judge` or `conclude` decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// What was answered: a declared word.
    pub answer: String,
    /// Whether it is right.
    pub soundness: Soundness,
    /// How the run ended.
    pub condition: Condition,
    /// Who is to blame for that.
    pub blame: Blame,
    /// The columns.
    pub columns: BTreeMap<String, Value>,
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// What must still be checked.
    pub follow_ups: Vec<FollowUp>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
}

impl Judgement {
    /// The columns as a JSON object.
    pub fn columns_json(&self) -> String {
        columns_json(&self.columns)
    }
}

/// Columns as a JSON object.
pub fn columns_json(columns: &BTreeMap<String, Value>) -> String {
    serde_json::Value::Object(columns.iter().map(|(name, value)| (name.clone(), value.to_json())).collect()).to_string()
}

/// What an operation found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// Its output.
    #[serde(with = "bytes")]
    pub text: Vec<u8>,
    /// Its columns.
    pub columns: BTreeMap<String, Value>,
    /// Its artifacts.
    pub artifacts: Vec<Artifact>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

impl Findings {
    /// The observation that `conclude` gets of it.
    pub fn observation(&self) -> Observation {
        Observation { columns: Some(columns_json(&self.columns)), ..Observation::finished(0, &self.text) }
    }
}

/// What came of a follow-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// By whom.
    pub kind: FollowUpKind,
    /// Whether there is an observation.
    pub status: ValidationStatus,
    /// The role, or the operation.
    pub role: String,
    /// The key of the follow-up.
    pub dedup_key: String,
    /// The tool that was run.
    pub tool: Option<String>,
    /// What was observed.
    pub observation: Option<Observation>,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// In words.
    pub text: String,
    /// The bytes that it rests on.
    pub evidence: Vec<Evidence>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}
