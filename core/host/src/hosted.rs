//! A plugin as the rest of the program uses it, wherever its code runs: in this process, or in workers that come and
//! go. A worker that dies costs the call that it was on, which is tried once more on a fresh one.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon_sdk::describe::Description;
use agon_sdk::hosting::{Identity, Instance, Plugin};
use agon_sdk::values::{
    Blame, Explanation, Fault, Findings, Input, Job, Judgement, Level, Observation, Plan, Source, Status, Validation,
};
use serde::{Deserialize, Serialize};

use crate::discover::{Entry, Origin, Registry};
use crate::load::Candidate;
use crate::wire::{
    Blob, Code, FEATURES, Forbidden, FromWorker, INLINE, PROTOCOL, Reply, Restrictions, ToWorker, receive, send,
};
use crate::{Error, worker};

/// What runs in workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Isolation {
    /// Of the shipped plugins their operations; of others everything.
    #[default]
    #[serde(rename = "default")]
    Default,
    /// Everything.
    #[serde(rename = "all")]
    All,
    /// The operations.
    #[serde(rename = "heavy")]
    Heavy,
    /// Nothing.
    #[serde(rename = "none")]
    None,
}

/// How workers are started and limited.
#[derive(Debug, Clone)]
pub struct Workers {
    /// The program with the hidden subcommand: usually its own path.
    pub program: PathBuf,
    /// Memory in bytes, of the address space.
    pub memory_bytes: u64,
    /// Wall-clock time of one call.
    pub call: Duration,
    /// After so many calls a worker is replaced.
    pub calls: u32,
    /// When its resident memory has grown by so many bytes, it is replaced.
    pub growth_bytes: u64,
    /// Who gets the lines that a plugin logs in a worker.
    pub logger: Option<fn(&str, Level, &str)>,
}

impl Workers {
    /// Workers of this program, with 4 GiB of memory and a minute for a call.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            memory_bytes: 4 << 30,
            call: Duration::from_secs(60),
            calls: 10_000,
            growth_bytes: 512 << 20,
            logger: None,
        }
    }
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The plugin, or the host's checks of what it emitted, said so.
    #[serde(rename = "fault")]
    Fault(Fault),
    /// The worker died.
    #[serde(rename = "crashed")]
    Crashed {
        /// By this signal.
        signal: Option<i32>,
        /// With this exit code.
        exit: Option<i32>,
        /// The last that it wrote.
        last: String,
    },
    /// The worker was ended when the time for a call was over.
    #[serde(rename = "overdue")]
    Overdue {
        /// The time, in nanoseconds.
        limit_ns: u64,
    },
    /// There is no worker, for a reason that is not the plugin's.
    #[serde(rename = "no-worker")]
    NoWorker(String),
}

impl Failure {
    /// Who is to blame: such a result is a harness fault, and counts for nobody and against nobody.
    pub fn blame(&self) -> Blame {
        match self {
            Failure::Fault(fault) => fault.blame,
            Failure::Crashed { .. } | Failure::Overdue { .. } => Blame::Plugin,
            Failure::NoWorker(_) => Blame::Host,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Fault(fault) => fault.fmt(f),
            Failure::Crashed { signal: Some(signal), last, .. } => {
                write!(f, "crashed: the plugin's worker died of signal {signal} ({})", signal_name(*signal))?;
                if last.is_empty() { Ok(()) } else { write!(f, "; it last wrote: {last}") }
            }
            Failure::Crashed { exit, last, .. } => {
                write!(f, "crashed: the plugin's worker ended with exit code {}", exit.unwrap_or(-1))?;
                if last.is_empty() { Ok(()) } else { write!(f, "; it last wrote: {last}") }
            }
            Failure::Overdue { limit_ns } => {
                write!(
                    f,
                    "overdue: the plugin's call took more than {:?} and was ended",
                    Duration::from_nanos(*limit_ns)
                )
            }
            Failure::NoWorker(why) => write!(f, "there is no worker for the plugin: {why}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

/// The name of a signal that ends processes.
pub fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSYS => "SIGSYS, a forbidden call of the system",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXFSZ => "SIGXFSZ, a file that grew",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        _ => "a signal",
    }
}

// --- a worker, seen from the host ----------------------------------------------------------------------------------

/// A process that serves one plugin.
pub(crate) struct Worker {
    child: Child,
    stream: UnixStream,
    printed: Arc<Mutex<Printed>>,
    reading: Option<std::thread::JoinHandle<()>>,
    calls: u32,
    resident: Option<u64>,
    pub identity: Identity,
    pub description: String,
    logger: Option<fn(&str, Level, &str)>,
}

/// What a worker wrote to its standard output and standard error output.
#[derive(Debug, Default, Clone)]
pub(crate) struct Printed {
    pub bytes: u64,
    pub last: Vec<u8>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    pub fn start(workers: &Workers, code: &Code, forbidden: Forbidden) -> Result<Self, Failure> {
        let no_worker =
            |what: &str, e: io::Error| Failure::NoWorker(format!("{}: {what}: {e}", workers.program.display()));
        let (ours, theirs) = UnixStream::pair().map_err(|e| no_worker("no socket", e))?;
        let (mut reader, writer) = io::pipe().map_err(|e| no_worker("no pipe", e))?;
        let again = writer.try_clone().map_err(|e| no_worker("no pipe", e))?;
        let child = Command::new(&workers.program)
            .arg(worker::SUBCOMMAND)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(OwnedFd::from(again)))
            .stderr(Stdio::from(OwnedFd::from(writer)))
            .process_group(0)
            .spawn()
            .map_err(|e| no_worker("it cannot be started", e))?;
        let printed = Arc::new(Mutex::new(Printed::default()));
        let kept = Arc::clone(&printed);
        let reading = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.bytes += n as u64;
                kept.last.extend_from_slice(&buffer[..n]);
                let surplus = kept.last.len().saturating_sub(2048);
                kept.last.drain(..surplus);
            }
        });
        let mut out = Self {
            child,
            stream: ours,
            printed,
            reading: None,
            calls: 0,
            resident: None,
            identity: Identity {
                id: String::new(),
                version: String::new(),
                vendor: String::new(),
                abi: (0, 0),
                min_host_minor: 0,
                caps_required: 0,
                caps_optional: 0,
            },
            description: String::new(),
            logger: workers.logger,
        };
        out.reading = Some(reading.map_err(|e| no_worker("no thread", e))?);
        let restrictions = Restrictions { memory_bytes: workers.memory_bytes, files: 256, forbidden };
        let features = FEATURES.iter().map(|f| (*f).to_string()).collect();
        let hello = ToWorker::Hello { protocol: PROTOCOL, features, restrictions };
        let deadline = Instant::now() + workers.call;
        match out.ask(hello, deadline, workers.call)? {
            FromWorker::Hello { protocol, .. } if protocol == PROTOCOL => {}
            FromWorker::Hello { protocol, .. } => {
                return Err(Failure::NoWorker(format!(
                    "{} speaks protocol {protocol}, and this host {PROTOCOL}",
                    workers.program.display()
                )));
            }
            _ => return Err(Failure::NoWorker(format!("{} sent no hello", workers.program.display()))),
        }
        match out.ask(ToWorker::Load(code.clone()), deadline, workers.call)? {
            FromWorker::Loaded(identity, description) => {
                out.identity = identity;
                out.description = description;
                Ok(out)
            }
            FromWorker::Refused(why) => Err(Failure::NoWorker(why)),
            _ => Err(Failure::NoWorker(format!("{} did not say what it loaded", workers.program.display()))),
        }
    }

    /// Sends a message and waits for its answer, serving reads and the log meanwhile. After a failure the worker is
    /// dead.
    pub fn ask(&mut self, mut message: ToWorker, deadline: Instant, limit: Duration) -> Result<FromWorker, Failure> {
        let mut sources: Vec<Source> = Vec::new();
        let mut unreadable = None;
        message.each(&mut |source| match source.size() {
            Some(size) if size <= INLINE => {
                if !matches!(source, Source::Bytes(_)) {
                    match source.read_all(INLINE) {
                        Ok(bytes) => *source = Source::bytes(bytes),
                        Err(e) => unreadable = Some(format!("{source:?} cannot be read: {e}")),
                    }
                }
            }
            size => match source.open() {
                Ok(open) => {
                    let number = u32::try_from(sources.len()).unwrap_or(u32::MAX);
                    sources.push(open);
                    *source = Source::Remote(number, size);
                }
                Err(e) => unreadable = Some(format!("{source:?} cannot be opened: {e}")),
            },
        });
        if let Some(why) = unreadable {
            return Err(Fault::new(Status::ReadFailed, why).hint("check that the file is there and readable").into());
        }
        self.send(&message, deadline, limit)?;
        loop {
            match self.receive(deadline, limit)? {
                FromWorker::Log(level, line) => {
                    if let Some(logger) = self.logger {
                        logger(&self.identity.id, level, &line);
                    }
                }
                FromWorker::Read(number, offset, len) => {
                    let mut buffer = vec![0; len.min(4 << 20) as usize];
                    let read = sources.get(number as usize).map(|s| s.read_at(offset, &mut buffer));
                    let bytes = match read {
                        Some(Ok(n)) => {
                            buffer.truncate(n);
                            Some(Blob(buffer))
                        }
                        _ => None,
                    };
                    self.send(&ToWorker::Bytes(bytes), deadline, limit)?;
                }
                other => return Ok(other),
            }
        }
    }

    fn time(&self, deadline: Instant) -> Option<Duration> {
        deadline.checked_duration_since(Instant::now()).filter(|d| !d.is_zero())
    }

    fn send(&mut self, message: &ToWorker, deadline: Instant, limit: Duration) -> Result<(), Failure> {
        let Some(time) = self.time(deadline) else { return Err(self.overdue(limit)) };
        let sent = self.stream.set_write_timeout(Some(time)).and_then(|()| send(&mut self.stream, message));
        sent.map_err(|e| self.broken(&e, limit))
    }

    fn receive(&mut self, deadline: Instant, limit: Duration) -> Result<FromWorker, Failure> {
        let Some(time) = self.time(deadline) else { return Err(self.overdue(limit)) };
        let received = self.stream.set_read_timeout(Some(time)).and_then(|()| receive(&mut self.stream));
        received.map_err(|e| self.broken(&e, limit))
    }

    fn overdue(&mut self, limit: Duration) -> Failure {
        let _ = self.child.kill();
        let _ = self.child.wait();
        Failure::Overdue { limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX) }
    }

    /// Says of what the worker died.
    fn broken(&mut self, error: &io::Error, limit: Duration) -> Failure {
        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            return self.overdue(limit);
        }
        // What is not understood is sent by a process that goes on: it is ended. One that has closed the connection is
        // on its way.
        let gone = matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        );
        let patience = Instant::now() + Duration::from_secs(5);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if gone && Instant::now() < patience => std::thread::sleep(Duration::from_millis(2)),
                _ => break None,
            }
        };
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let printed = self.printed_at_end();
        let last = String::from_utf8_lossy(&printed.last).trim().to_string();
        match status {
            Some(status) => Failure::Crashed { signal: status.signal(), exit: status.code(), last },
            None => Failure::Crashed { signal: None, exit: None, last: format!("a broken message: {error}") },
        }
    }

    /// What it wrote in all; only once it is dead.
    fn printed_at_end(&mut self) -> Printed {
        if let Some(reading) = self.reading.take() {
            let _ = reading.join();
        }
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it, and says what it wrote.
    pub fn end(mut self) -> Printed {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.printed_at_end()
    }

    fn call(&mut self, message: ToWorker, workers: &Workers) -> Result<Reply, Failure> {
        self.calls += 1;
        match self.ask(message, Instant::now() + workers.call, workers.call)? {
            FromWorker::Done(result, resident) => {
                let first = *self.resident.get_or_insert(resident);
                if resident.saturating_sub(first) > workers.growth_bytes {
                    self.calls = u32::MAX;
                }
                (*result).map_err(Failure::Fault)
            }
            _ => Err(Failure::NoWorker("the worker answered something else".into())),
        }
    }
}

// --- a plugin and its tracks ---------------------------------------------------------------------------------------

enum Mode {
    InProcess(Plugin),
    Workers,
}

/// A plugin that is ready to open tracks.
pub struct Hosted {
    entry: Entry,
    mode: Mode,
    operations_in_worker: bool,
    code: Code,
    workers: Workers,
    description: Arc<Description>,
    text: String,
}

impl std::fmt::Debug for Hosted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosted").field("entry", &self.entry).finish_non_exhaustive()
    }
}

impl Entry {
    pub(crate) fn code(&self) -> Code {
        match &self.origin {
            Origin::Linked => Code::Linked(self.id.clone()),
            Origin::Installed(path) | Origin::File(path) => Code::File {
                path: path.clone(),
                blake3: self.hashes.blake3.clone(),
                trust_permissions: self.trusted_permissions,
            },
        }
    }
}

impl Registry {
    /// Makes a plugin ready.
    pub fn host(&self, entry: &Entry, isolation: Isolation, workers: &Workers) -> Result<Hosted, Error> {
        let shipped = !matches!(entry.origin, Origin::File(_));
        let (all, operations) = match isolation {
            Isolation::Default => (!shipped, true),
            Isolation::All => (true, true),
            Isolation::Heavy => (false, true),
            Isolation::None => (false, false),
        };
        let code = entry.code();
        let wrong = |why: String| Error(format!("the plugin `{}` cannot be used: {why}", entry.id));
        let (mode, text) = if all {
            let worker = Worker::start(workers, &code, Forbidden::Fails).map_err(|f| wrong(f.to_string()))?;
            (Mode::Workers, worker.description.clone())
        } else {
            let plugin = self.load(entry)?;
            let text = plugin.description_json().to_string();
            (Mode::InProcess(plugin), text)
        };
        let description = Description::from_json(&text).map_err(wrong)?;
        Ok(Hosted {
            entry: entry.clone(),
            mode,
            operations_in_worker: operations,
            code,
            workers: workers.clone(),
            description: Arc::new(description),
            text,
        })
    }
}

impl Registry {
    /// What a plugin declares of itself, as JSON: read from its library where it is written there; else the plugin is
    /// asked in a worker.
    pub fn description(&self, entry: &Entry, workers: &Workers) -> Result<String, Error> {
        if let Some(path) = entry.origin.path() {
            let candidate = Candidate::examine(path, entry.trusted_permissions)?;
            if candidate.hashes == entry.hashes
                && let Some(text) = candidate.description
            {
                return Ok(text);
            }
        }
        let isolation = if entry.origin == Origin::Linked { Isolation::None } else { Isolation::All };
        Ok(self.host(entry, isolation, workers)?.text)
    }
}

impl Hosted {
    /// What results record of it.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What it declares of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The same, as the JSON text that it emitted.
    pub fn description_json(&self) -> &str {
        &self.text
    }

    /// Whether all its calls run in workers.
    pub fn is_isolated(&self) -> bool {
        matches!(self.mode, Mode::Workers)
    }

    /// Makes a track for these parameters: a JSON object.
    pub fn open(self: &Arc<Self>, parameters: &str) -> Result<Track, Failure> {
        let instance = match &self.mode {
            Mode::InProcess(plugin) => Some(Arc::new(plugin.open(parameters)?)),
            Mode::Workers => None,
        };
        let track = Track {
            hosted: Arc::clone(self),
            parameters: parameters.to_string(),
            instance: Mutex::new(instance),
            idle: Mutex::new(Vec::new()),
        };
        if matches!(self.mode, Mode::Workers) {
            let worker = track.worker()?;
            track.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
        Ok(track)
    }
}

/// A track that is open. All functions may be called from several threads at once; each then has its own worker.
pub struct Track {
    hosted: Arc<Hosted>,
    parameters: String,
    instance: Mutex<Option<Arc<Instance>>>,
    idle: Mutex<Vec<Worker>>,
}

impl std::fmt::Debug for Track {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Track").field("hosted", &self.hosted).finish_non_exhaustive()
    }
}

impl Track {
    /// The plugin.
    pub fn hosted(&self) -> &Arc<Hosted> {
        &self.hosted
    }

    /// The track in this process; it is opened anew after a panic. None, if all calls run in workers.
    fn instance(&self) -> Result<Option<Arc<Instance>>, Failure> {
        let Mode::InProcess(plugin) = &self.hosted.mode else { return Ok(None) };
        let mut place = self.instance.lock().unwrap_or_else(PoisonError::into_inner);
        match &*place {
            Some(instance) if !instance.is_poisoned() => Ok(Some(Arc::clone(instance))),
            _ => {
                let new = Arc::new(plugin.open(&self.parameters)?);
                *place = Some(Arc::clone(&new));
                Ok(Some(new))
            }
        }
    }

    /// A fresh worker with the track open.
    fn worker(&self) -> Result<Worker, Failure> {
        let workers = &self.hosted.workers;
        let mut worker = Worker::start(workers, &self.hosted.code, Forbidden::Fails)?;
        match worker.call(ToWorker::Open(self.parameters.clone()), workers)? {
            Reply::Opened => Ok(worker),
            _ => Err(Failure::NoWorker("the worker did not open the track".into())),
        }
    }

    /// Calls in a worker: one that is idle, or a fresh one. If it dies, once more in a fresh one.
    fn call(&self, message: impl Fn() -> ToWorker) -> Result<Reply, Failure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut first = match idle {
            Some(worker) => worker,
            None => self.worker()?,
        };
        let result = first.call(message(), &self.hosted.workers);
        match result {
            Err(Failure::Crashed { .. }) => {
                drop(first);
                let mut second = self.worker()?;
                let result = second.call(message(), &self.hosted.workers);
                self.rest(second, &result);
                result
            }
            result => {
                self.rest(first, &result);
                result
            }
        }
    }

    /// Keeps a worker for the next call, unless it has failed or served long enough.
    fn rest(&self, worker: Worker, result: &Result<Reply, Failure>) {
        let well = match result {
            Ok(_) => true,
            Err(Failure::Fault(fault)) => !matches!(fault.status, Status::Panic | Status::Internal),
            Err(_) => false,
        };
        if well && worker.calls < self.hosted.workers.calls {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }

    /// Asks how a benchmark is prepared and what is run.
    pub fn prepare(&self, job: &Job) -> Result<Plan, Failure> {
        if let Some(instance) = self.instance()? {
            return Ok(instance.prepare(job)?);
        }
        match self.call(|| ToWorker::Prepare(Box::new(job.clone())))? {
            Reply::Plan(plan) => Ok(plan),
            _ => Err(other()),
        }
    }

    /// Judges an observation.
    pub fn judge(&self, job: &Job, observation: &Observation) -> Result<Judgement, Failure> {
        if let Some(instance) = self.instance()? {
            return Ok(instance.judge(job, observation)?);
        }
        match self.call(|| ToWorker::Judge(Box::new(job.clone()), Box::new(observation.clone())))? {
            Reply::Judgement(judgement) => Ok(judgement),
            _ => Err(other()),
        }
    }

    /// Performs an operation.
    pub fn run_internal(&self, operation: &str, job: &Job, inputs: &[Input]) -> Result<Findings, Failure> {
        if !self.hosted.operations_in_worker
            && let Some(instance) = self.instance()?
        {
            return Ok(instance.run_internal(operation, job, inputs)?);
        }
        let message = || ToWorker::RunInternal(operation.to_string(), Box::new(job.clone()), inputs.to_vec());
        match self.call(message)? {
            Reply::Findings(findings) => Ok(findings),
            _ => Err(other()),
        }
    }

    /// Asks for the final verdict; `before` is what `judge` came to on this observation.
    pub fn conclude(
        &self,
        job: &Job,
        observation: &Observation,
        before: &Judgement,
        validations: &[Validation],
    ) -> Result<Judgement, Failure> {
        if let Some(instance) = self.instance()? {
            return Ok(instance.conclude(job, observation, before, validations)?);
        }
        let message = || {
            ToWorker::Conclude(
                Box::new(job.clone()),
                Box::new(observation.clone()),
                Box::new(before.clone()),
                validations.to_vec(),
            )
        };
        match self.call(message)? {
            Reply::Judgement(judgement) => Ok(judgement),
            _ => Err(other()),
        }
    }

    /// Asks why.
    pub fn explain(
        &self,
        job: &Job,
        observation: &Observation,
        judgement: &Judgement,
        validations: &[Validation],
    ) -> Result<Explanation, Failure> {
        if let Some(instance) = self.instance()? {
            return Ok(instance.explain(job, observation, judgement, validations)?);
        }
        let message = || {
            ToWorker::Explain(
                Box::new(job.clone()),
                Box::new(observation.clone()),
                Box::new(judgement.clone()),
                validations.to_vec(),
            )
        };
        match self.call(message)? {
            Reply::Explanation(explanation) => Ok(explanation),
            _ => Err(other()),
        }
    }
}

fn other() -> Failure {
    Failure::NoWorker("the worker answered another call".into())
}
