//! Runs the pairs of a track that were not run yet: one thread a place, each with cores of its own.
//!
//! What a run leaves is recorded before it is judged, and a pair counts as run once its observation is on the disk; so a
//! program that is killed at any instant has lost at most the runs that were under way, and the next one begins with
//! exactly those.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_execute::{CancelToken, Captured, FileContent, Job as Run, JobFile, Limits, Runner, Slots, Stdin};
use agon_sdk::values::{self, Arg, Collect, Job, Plan, Source, Step, StepOutcome, When};
use agon_store::record::{self, LimitKind, Note, Record};
use agon_store::{Digest, Store, StoreError};

use crate::benchmarks::Benchmark;
use crate::convert;
use crate::dialogue;
use crate::judging::{Bench, Judge, Pair, ToolFault, Unjudged};
use crate::scrambled::{Scrambled, Scrambler, Unscrambled, scrambling_json};
use crate::tools::{Kit, Tool, limits_of, record};

/// An entrant that is ready to run.
#[derive(Clone, Debug)]
pub struct Runnable {
    /// Its id in results.
    pub id: String,
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments, before those that the track adds.
    pub arguments: Vec<OsString>,
    /// The words of its configuration, for the plugin.
    pub configuration: Vec<String>,
    /// Folders and files beside the program's own that it reads.
    pub readable: Vec<PathBuf>,
}

/// How a track is run.
#[derive(Debug)]
pub struct Rules {
    /// The track's name.
    pub track: String,
    /// Whether the benchmark is the solver's standard input; else it is the first argument after its own.
    pub on_stdin: bool,
    /// The solver's environment.
    pub environment: Vec<(String, String)>,
    /// What a run may use.
    pub limits: Limits,
    /// The cores of a run.
    pub cores: u32,
    /// What a tool may use, by the name of the check; the run's own limits if it has none.
    pub check_limits: Vec<(String, Limits)>,
}

impl Rules {
    /// The limits that the plugin is told.
    fn told(&self) -> values::Limits {
        let ns = |t: Option<Duration>| t.and_then(|t| u64::try_from(t.as_nanos()).ok());
        values::Limits {
            wall_ns: ns(self.limits.wall),
            cpu_ns: ns(self.limits.cpu),
            memory_bytes: self.limits.memory,
            cores: Some(self.cores),
        }
    }
}

/// What has happened to a pair.
#[derive(Debug)]
pub enum Event<'a> {
    /// It was run and judged.
    Judged(&'a record::Verdict, &'a record::Run),
    /// It was not run, for a reason that is not the entrant's; it will be tried again by the next run.
    NotRun(&'a str),
    /// It was run, but not judged, for a reason that is not the entrant's; it can be judged again.
    NotJudged(&'a str),
    /// Not about a pair, but about the race: what an organiser should know.
    Remark(&'a str),
}

/// Everything that is needed to run a track.
pub struct Race<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// What scrambles benchmarks, if anything does.
    pub scrambler: Option<&'a Scrambler>,
    /// The entrants.
    pub entrants: &'a [Runnable],
    /// The benchmarks.
    pub benchmarks: &'a [Benchmark],
    /// The plugin.
    pub judge: &'a dyn Judge,
    /// Tools for follow-ups.
    pub tools: &'a [Tool],
    /// The sandbox.
    pub runner: &'a Runner,
    /// The places.
    pub slots: &'a Slots,
    /// Where everything goes.
    pub store: &'a Store,
    /// The number of the session's record.
    pub session: u64,
    /// Ends all runs.
    pub cancel: &'a CancelToken,
}

/// How a race ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Pairs that were run and judged now.
    pub judged: u64,
    /// Pairs that could not be run.
    pub not_run: u64,
    /// Pairs that could not be judged.
    pub not_judged: u64,
    /// Whether it was called off before the end.
    pub cancelled: bool,
}

/// Why a single pair has no observation.
enum Stop {
    /// Called off.
    Cancelled,
    /// The store cannot be written.
    Store(StoreError),
    /// Not this pair, but others: a sentence, and what kind of fault it is.
    Pair(&'static str, String),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ToolFault> for Stop {
    fn from(fault: ToolFault) -> Self {
        match fault {
            ToolFault::Host(text) => Self::Pair("harness-fault", text),
            ToolFault::Store(error) => Self::Store(error),
        }
    }
}

impl From<Unscrambled> for Stop {
    fn from(fault: Unscrambled) -> Self {
        match fault {
            Unscrambled::Fault(text) => Self::Pair("harness-fault", text),
            Unscrambled::Store(error) => Self::Store(error),
        }
    }
}

/// The transformation that plugins know by this name.
pub(crate) const SCRAMBLE: &str = "scramble";

/// Tells the plugin of a scrambled benchmark.
fn give(scrambled: Arc<Scrambled>, job: &mut Job) -> Arc<Scrambled> {
    job.benchmark.original = Some(std::mem::replace(&mut job.benchmark.content, Source::file(scrambled.path())));
    job.benchmark.applied.push(SCRAMBLE.into());
    scrambled
}

impl Race<'_> {
    /// Runs and judges what is missing of `pairs`, in this order. `tell` is told of every pair, from several threads.
    ///
    /// # Errors
    /// If the store cannot be written any more; what was recorded stays.
    pub fn run(&self, pairs: &[(usize, usize)], tell: &(dyn Fn(Event<'_>) + Sync)) -> Result<Outcome, StoreError> {
        let next = Mutex::new(pairs.iter());
        let outcome = Mutex::new(Outcome::default());
        let failed: Mutex<Option<StoreError>> = Mutex::new(None);
        let over = AtomicBool::new(false);
        let kit = Kit {
            tools: self.tools,
            limits: self.rules.limits,
            check_limits: &self.rules.check_limits,
            runner: self.runner,
            slots: self.slots,
            store: self.store,
            cancel: self.cancel,
        };
        let bench = Bench::new(self.judge, self.store, &kit);
        let unchanged = Unchanged::of(self.store, &self.rules.track);
        std::thread::scope(|scope| {
            for _ in 0..self.slots.jobs() {
                let work = || {
                    while !over.load(Ordering::Acquire) && !self.cancel.is_cancelled() {
                        let Some(&pair) = next.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
                        let result = self.pair(&bench, &unchanged, pair, tell);
                        let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                        match result {
                            Ok(Done::Judged) => outcome.judged += 1,
                            Ok(Done::NotRun) => outcome.not_run += 1,
                            Ok(Done::NotJudged) => outcome.not_judged += 1,
                            Ok(Done::Cancelled) => outcome.cancelled = true,
                            Err(error) => {
                                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                                over.store(true, Ordering::Release);
                                self.cancel.cancel();
                            }
                        }
                    }
                };
                scope.spawn(work);
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for remark in unmade(&bench) {
            tell(Event::Remark(&remark));
        }
        self.store.flush()?;
        let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.cancelled |= self.cancel.is_cancelled();
        Ok(outcome)
    }

    fn pair(
        &self,
        bench: &Bench<'_>,
        unchanged: &Unchanged,
        (entrant, benchmark_at): (usize, usize),
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Done, StoreError> {
        let (entrant, benchmark) = (&self.entrants[entrant], &self.benchmarks[benchmark_at]);
        let track = &self.rules.track;
        let mut job = convert::job(
            benchmark,
            values::Participant { id: entrant.id.clone(), configuration: entrant.configuration.clone() },
            self.rules.told(),
        );
        // The file of a scrambled benchmark is there until the run is judged.
        let mut scrambled = None;
        // A program that was killed between a run and its verdict has left the one without the other.
        let (number, run) = match self.store.observation(track, &entrant.id, &benchmark.id)? {
            Some((number, stored)) => {
                convert::given(self.store, &stored.run, &mut job)?;
                (number, stored.run)
            }
            None => match unchanged
                .during(benchmark_at, benchmark, || self.observe(entrant, benchmark, &mut job, &mut scrambled))
            {
                Ok(run) => {
                    let observation = record::Observation {
                        track: track.clone(),
                        entrant: entrant.id.clone(),
                        benchmark: benchmark.id.clone(),
                        run: run.clone(),
                    };
                    (self.store.append(&Record::Observation(observation))?, run)
                }
                Err(Stop::Cancelled) => return Ok(Done::Cancelled),
                Err(Stop::Store(error)) => return Err(error),
                Err(Stop::Pair(about, text)) => {
                    self.note(about, &text, entrant, benchmark)?;
                    tell(Event::NotRun(&format!("{} on {}: {text}", entrant.id, benchmark.id)));
                    return Ok(Done::NotRun);
                }
            },
        };
        let pair = Pair { track, entrant: &entrant.id, benchmark: &benchmark.id, observation: number };
        let seen = convert::observation(self.store, &run)?;
        match bench.verdict(pair, &job, &seen) {
            Ok(verdict) => {
                tell(Event::Judged(&verdict, &run));
                Ok(Done::Judged)
            }
            Err(Unjudged::Store(error)) => Err(error),
            Err(Unjudged::Plugin(fault)) => self.unjudged("plugin-fault", &fault.to_string(), entrant, benchmark, tell),
            Err(Unjudged::Host(text)) => self.unjudged("harness-fault", &text, entrant, benchmark, tell),
        }
    }

    fn unjudged(
        &self,
        about: &str,
        text: &str,
        entrant: &Runnable,
        benchmark: &Benchmark,
        tell: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Done, StoreError> {
        self.note(about, text, entrant, benchmark)?;
        tell(Event::NotJudged(&format!("{} on {}: {text}", entrant.id, benchmark.id)));
        Ok(Done::NotJudged)
    }

    fn note(&self, about: &str, text: &str, entrant: &Runnable, benchmark: &Benchmark) -> Result<(), StoreError> {
        self.store.enqueue(&Record::Note(Note {
            when: crate::now(),
            about: about.to_string(),
            text: text.to_string(),
            track: Some(self.rules.track.clone()),
            entrant: Some(entrant.id.clone()),
            benchmark: Some(benchmark.id.clone()),
            extra: serde_json::Value::Null,
        }))?;
        Ok(())
    }

    /// Prepares and runs a pair.
    fn observe(
        &self,
        entrant: &Runnable,
        benchmark: &Benchmark,
        job: &mut Job,
        scrambled: &mut Option<Arc<Scrambled>>,
    ) -> Result<record::Run, Stop> {
        if let Some(scrambler) = self.scrambler
            && let Some(one) = scrambler.by_rules(benchmark, self.store)?
        {
            *scrambled = Some(give(one, job));
        }
        let prepare =
            |job: &Job| self.judge.prepare(job).map_err(|fault| Stop::Pair("plugin-fault", fault.to_string()));
        let mut plan = prepare(job)?;
        if let Some(transform) = plan.transforms.first() {
            let again = transform.then_again;
            match self.scrambler {
                Some(scrambler) if transform.name == SCRAMBLE && plan.transforms.len() == 1 => {
                    // What the edition scrambles is not scrambled twice.
                    if scrambled.is_none() {
                        *scrambled = Some(give(scrambler.by_mode(&transform.mode, benchmark, self.store)?, job));
                    }
                }
                _ => {
                    let text = format!("the plugin asks for the transformation {}, which there is not", transform.name);
                    return Err(Stop::Pair("harness-fault", text));
                }
            }
            if again {
                plan = prepare(job)?;
                if !plan.transforms.is_empty() {
                    return Err(Stop::Pair("plugin-fault", "the plugin asks for the same transformation again".into()));
                }
            }
        }
        let mut prepared = scrambled.as_ref().map(|one| one.content.digest);
        if let Some(text) = &plan.text {
            prepared = Some(self.store.put(text)?.digest);
            let before = std::mem::replace(&mut job.benchmark.content, Source::bytes(text));
            job.benchmark.original.get_or_insert(before);
        }
        let path = scrambled.as_ref().map_or(benchmark.path.as_path(), |one| one.path());
        let started = crate::now();
        let mut run = self.steps(entrant, benchmark, path, &plan)?;
        run.prepared = prepared;
        run.started = Some(started);
        run.session = Some(self.session);
        if let (Some(one), serde_json::Value::Object(extra)) = (&*scrambled, &mut run.extra) {
            extra.insert("scrambled".into(), scrambling_json(&one.options));
        }
        Ok(run)
    }

    /// Runs the steps of a plan one after the other, within the limits of one run. Every command has an entry in the log,
    /// followed by those of its dialogue; a plan of one command without a dialogue needs no log.
    fn steps(&self, entrant: &Runnable, benchmark: &Benchmark, path: &Path, plan: &Plan) -> Result<record::Run, Stop> {
        let usual = [Step::solve()];
        let steps = if plan.steps.is_empty() { &usual[..] } else { &plan.steps };
        let place = self.slots.acquire();
        let ending = benchmark.path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
        let file = JobFile {
            name: format!("benchmark{ending}").into(),
            content: match &plan.text {
                Some(text) => FileContent::Bytes(text.clone()),
                None => FileContent::Path(path.to_path_buf()),
            },
        };
        let mut paths: Vec<&str> = plan.collect.iter().map(|c| c.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut left = self.rules.limits;
        let mut total: Option<record::Run> = None;
        let mut log: Vec<record::Step> = Vec::new();
        let mut before = Before::default();
        for step in steps {
            let at = total.as_ref().map_or(0, |t| t.wall_ns);
            if !before.reaches(step, &plan.collect) {
                log.push(dialogue::not_run(&step.name, None, at));
                log.extend(dialogue::log(self.store, step, &[], None, at)?);
                continue;
            }
            let limits = match &step.limits {
                Some(name) => limits_of(&self.rules.limits, &self.rules.check_limits, name),
                None => left,
            };
            let mut run = Run::new(&entrant.program);
            run.environment =
                self.rules.environment.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))).collect();
            run.readable.clone_from(&entrant.readable);
            run.limits = limits;
            run.cpus = place.cpus().to_vec();
            run.collect = paths.iter().map(OsString::from).collect();
            run.script = (!step.script.is_empty()).then(|| dialogue::script(step, &file.content));
            self.words(&mut run, step, plan.steps.is_empty(), entrant, benchmark, &file, &before, &plan.collect)?;
            let seen = match self.runner.run(&run, self.cancel) {
                Ok(seen) => seen,
                Err(agon_execute::Fault::Cancelled) => return Err(Stop::Cancelled),
                Err(fault) => return Err(Stop::Pair("harness-fault", fault.to_string())),
            };
            let out = seen.stdout.bytes().map_err(|e| Stop::Pair("harness-fault", e.to_string()))?;
            let one = record(self.store, &run, &seen, &out)?;
            if step.limits.is_none() {
                left.wall = left.wall.map(|t| t.saturating_sub(Duration::from_nanos(seen.wall_ns)));
                left.cpu = left.cpu.map(|t| t.saturating_sub(Duration::from_nanos(seen.cpu_ns)));
            }
            log.push(command(&one, seen.dismissed, &step.name, at));
            log.extend(dialogue::log(self.store, step, &seen.steps, Some(&seen), at)?);
            before.ended.push((step.name.clone(), seen.limit.is_none() && seen.exit == Some(0), out));
            for (path, file) in seen.collected {
                let mut bytes = file.reader().map_err(|e| Stop::Pair("harness-fault", e.to_string()))?;
                let content = record::Stream { truncated: file.is_truncated(), ..self.store.put_from(&mut bytes)? };
                drop(bytes);
                before.keep(path, file, content);
            }
            total = Some(match total {
                None => one,
                Some(sum) => joined(sum, one),
            });
        }
        let mut run = total.ok_or_else(|| Stop::Pair("plugin-fault", "the plugin's plan has no first step".into()))?;
        if steps.len() > 1 || steps.iter().any(|step| !step.script.is_empty()) {
            run.steps = log;
        }
        for wanted in &plan.collect {
            if let Some((_, content)) = before.file(&wanted.path) {
                run.collected.push(record::Collected { name: wanted.name.clone(), content });
            }
        }
        Ok(run)
    }

    #[allow(clippy::too_many_arguments)]
    fn words(
        &self,
        run: &mut Run,
        step: &Step,
        usual: bool,
        entrant: &Runnable,
        benchmark: &Benchmark,
        file: &JobFile,
        before: &Before,
        wanted: &[Collect],
    ) -> Result<(), Stop> {
        let unknown = |what: String| Stop::Pair("plugin-fault", format!("the step {} asks for {what}", step.name));
        let output_of = |name: &str| -> Result<Vec<u8>, Stop> {
            let found = before.ended.iter().find(|(n, ..)| *n == name);
            found
                .map(|(_, _, out)| out.clone())
                .ok_or_else(|| unknown(format!("the output of {name}, which was not run")))
        };
        let collected = |name: &str| -> Result<Vec<u8>, Stop> {
            let file = wanted.iter().find(|c| c.name == name).and_then(|c| before.file(&c.path));
            let (file, _) = file.ok_or_else(|| unknown(format!("the file {name}, which is not collected")))?;
            file.bytes().map_err(|e| Stop::Pair("harness-fault", e.to_string()))
        };
        // The track's usual way: the edition says how the benchmark reaches the solver.
        let on_stdin = usual && self.rules.on_stdin;
        let mut words: Vec<OsString> = Vec::new();
        let mut program: Option<PathBuf> = None;
        for arg in &step.argv {
            match arg {
                Arg::Text(text) => {
                    use std::os::unix::ffi::OsStringExt as _;
                    words.push(OsString::from_vec(text.clone()));
                }
                Arg::Command => {
                    program.get_or_insert_with(|| entrant.program.clone());
                    words.extend(entrant.arguments.iter().cloned());
                }
                Arg::Benchmark if on_stdin => {}
                Arg::Benchmark => {
                    run.files.push(file.clone());
                    words.push(file.name.clone());
                }
                Arg::Original => {
                    let name: OsString = "original".into();
                    run.files.push(JobFile { name: name.clone(), content: FileContent::Path(benchmark.path.clone()) });
                    words.push(name);
                }
                Arg::OutputOf(before) => {
                    let name: OsString = format!("output-of-{before}").into();
                    run.files.push(JobFile { name: name.clone(), content: FileContent::Bytes(output_of(before)?) });
                    words.push(name);
                }
                Arg::Tool(role) => {
                    let tool = self.tools.iter().find(|t| t.role == *role);
                    let tool = tool.ok_or_else(|| unknown(format!("the tool {role}, which was not given")))?;
                    program.get_or_insert_with(|| tool.program.clone());
                    run.readable.extend(tool.readable.iter().cloned());
                    words.extend(tool.arguments.iter().map(OsString::from));
                }
                Arg::Nothing => {}
                Arg::Collected(kept) => {
                    let name: OsString = format!("collected-{kept}").into();
                    run.files.push(JobFile { name: name.clone(), content: FileContent::Bytes(collected(kept)?) });
                    words.push(name);
                }
                Arg::Artifact(name) => {
                    return Err(unknown(format!("the artifact {name}, which there is not before a verdict")));
                }
            }
        }
        if let Some(program) = program {
            run.program = program;
        } else if !words.is_empty() {
            run.program = PathBuf::from(words.remove(0));
        }
        run.arguments = words;
        if run.script.is_some() {
            // What is sent is the input, whatever else the plugin says.
            return Ok(());
        }
        run.stdin = match &step.input {
            _ if on_stdin => match &file.content {
                FileContent::Path(path) => Stdin::File(path.clone()),
                FileContent::Bytes(bytes) => Stdin::Bytes(bytes.clone()),
            },
            Arg::Nothing => Stdin::Null,
            Arg::Benchmark => match &file.content {
                FileContent::Path(path) => Stdin::File(path.clone()),
                FileContent::Bytes(bytes) => Stdin::Bytes(bytes.clone()),
            },
            Arg::Original => Stdin::File(benchmark.path.clone()),
            Arg::OutputOf(before) => Stdin::Bytes(output_of(before)?),
            Arg::Collected(kept) => Stdin::Bytes(collected(kept)?),
            Arg::Text(text) => Stdin::Bytes(text.clone()),
            other => return Err(unknown(format!("{other:?} as its input"))),
        };
        Ok(())
    }
}

/// A run with another step added that came after it. What it printed is in the log of the steps.
fn joined(mut all: record::Run, one: record::Run) -> record::Run {
    all.exit = one.exit;
    all.signal = one.signal;
    all.limit = one.limit;
    all.wall_ns += one.wall_ns;
    all.cpu_ns += one.cpu_ns;
    all.peak_memory = all.peak_memory.max(one.peak_memory);
    all
}

/// The entry of a command in the log of a run's steps.
fn command(one: &record::Run, dismissed: bool, name: &str, sent_ns: u64) -> record::Step {
    let outcome = match one.limit {
        LimitKind::None if dismissed => StepOutcome::Stopped,
        LimitKind::None => StepOutcome::Done,
        _ => StepOutcome::Limit,
    };
    record::Step {
        name: name.to_string(),
        label: None,
        outcome: outcome.word().to_string(),
        sent_ns,
        answered_ns: Some(sent_ns + one.wall_ns),
        cpu_ns: Some(one.cpu_ns),
        exit: one.exit,
        signal: one.signal,
        limit: one.limit,
        response: one.stdout,
        errors: Some(one.stderr),
        exchange: None,
    }
}

/// What the steps of a plan have left for those after them.
#[derive(Default)]
struct Before {
    /// Name, whether it ended well, and standard output.
    ended: Vec<(String, bool, Vec<u8>)>,
    /// The newest file of each path that was collected.
    files: Vec<(OsString, Captured, record::Stream)>,
}

impl Before {
    /// Whether a step is reached: those before it ended as it asks, and it asks for no file that was not left.
    fn reaches(&self, step: &Step, wanted: &[Collect]) -> bool {
        let args = step.argv.iter().chain(step.script.is_empty().then_some(&step.input));
        step.after
            .iter()
            .all(|name| self.ended.iter().any(|(n, well, _)| n == name && (*well || step.when == When::Ended)))
            && args.into_iter().all(|arg| match arg {
                Arg::Collected(name) => wanted
                    .iter()
                    .find(|c| c.name == *name)
                    .is_none_or(|c| self.file(&c.path).is_some_and(|(_, kept)| !kept.truncated)),
                _ => true,
            })
    }

    fn file(&self, path: &str) -> Option<(&Captured, record::Stream)> {
        self.files.iter().find(|(p, ..)| p == path).map(|(_, file, kept)| (file, *kept))
    }

    fn keep(&mut self, path: OsString, file: Captured, content: record::Stream) {
        self.files.retain(|(p, ..)| *p != path);
        self.files.push((path, file, content));
    }
}

/// Sees to it that benchmarks are what the plan says while they are run: a run on another text would be judged as one on
/// the benchmark.
struct Unchanged {
    hashes: Vec<Digest>,
    /// By benchmark: what the file looked like when its content was that of the plan.
    stamps: Mutex<Vec<Option<Stamp>>>,
}

/// By which a change of a file shows without reading it: device, number, size, and when its content changed. Its metadata
/// change with every run, which has another link to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp([i64; 5]);

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let m = std::fs::metadata(path)?;
        let (device, number) = (m.dev().cast_signed(), m.ino().cast_signed());
        Ok(Self([device, number, m.size().cast_signed(), m.mtime(), m.mtime_nsec()]))
    }
}

impl Unchanged {
    fn of(store: &Store, track: &str) -> Self {
        let plan = store.plan_of(track);
        let hashes: Vec<Digest> = plan.iter().flat_map(|plan| &plan.benchmarks).map(|b| b.hash).collect();
        Self { stamps: Mutex::new(vec![None; hashes.len()]), hashes }
    }

    /// Runs a benchmark if its file has the content of the plan, and requires that it has not been changed meanwhile.
    fn during<T>(&self, at: usize, benchmark: &Benchmark, run: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
        let path = &benchmark.path;
        let fault = |why: &str| {
            let text = format!("{}: the benchmark {why}. Put the file back that the plan is about", path.display());
            Stop::Pair("harness-fault", text)
        };
        let stamp = || Stamp::of(path).map_err(|e| fault(&format!("cannot be read: {e}")));
        let before = stamp()?;
        let known = self.stamps.lock().unwrap_or_else(PoisonError::into_inner).get(at).copied().flatten();
        if known != Some(before) {
            let (hash, _) = convert::hash_file(path).map_err(|e| fault(&format!("cannot be read: {e}")))?;
            if self.hashes.get(at).is_none_or(|planned| *planned != hash) {
                return Err(fault("has another content than when the run was planned"));
            }
            if let Some(stamp) = self.stamps.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
                *stamp = Some(before);
            }
        }
        let done = run()?;
        if stamp()? == before { Ok(done) } else { Err(fault("was changed while it was run")) }
    }
}

/// What is to be said of verdicts that were given without a check.
pub(crate) fn unmade(bench: &Bench<'_>) -> Vec<String> {
    let remark = |(role, n): (String, u64)| {
        format!(
            "{n} {} given without the check {role} that the plugin asked for: no tool has this role; tools are named under \
             `tools` of the entrants file",
            if n == 1 { "verdict was" } else { "verdicts were" }
        )
    };
    bench.unmade().into_iter().map(remark).collect()
}

enum Done {
    Judged,
    NotRun,
    NotJudged,
    Cancelled,
}

/// A limit as it is written down.
pub(crate) fn limit(limit: agon_execute::Limit) -> LimitKind {
    match limit {
        agon_execute::Limit::Wall => LimitKind::Wall,
        agon_execute::Limit::Cpu => LimitKind::Cpu,
        agon_execute::Limit::Memory => LimitKind::Memory,
        agon_execute::Limit::Output => LimitKind::Output,
        agon_execute::Limit::Disk => LimitKind::Disk,
        agon_execute::Limit::Processes => LimitKind::Processes,
    }
}
