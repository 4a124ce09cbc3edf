//! The trait that a plugin implements, and the functions of the ABI that stand before it: they check pointers, sizes
//! and text, catch panics, and turn faults into statuses.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

use agon_abi::{
    self as abi, AgonConformance, AgonDoc, AgonHost, AgonInput, AgonJob, AgonJudgement, AgonObservation, AgonPlugin,
    AgonReader, AgonSink, AgonStepLog, AgonStr, AgonTrackTable, AgonValidation, field,
};

use crate::describe::Description;
use crate::input::{
    Benchmark, Doc, Input, Job, Judgement, Observation, Participant, Raw, Reader, StepLog, Validation, optional,
};
use crate::output::{Columns, Explanation, Findings, Plan, Sink, Verdict};
use crate::values::{
    Blame, Condition, Fault, Fidelity, FollowUpKind, Level, Limit, Limits, Soundness, Status, StepKind, StepOutcome,
    ValidationStatus,
};

/// A track: how its benchmarks are prepared and its answers judged.
///
/// One value is opened for each track of an edition and used by all threads; it does not change. Everything emitted is
/// a function of what was given: the same call years later emits the same.
pub trait Track: Sized + Send + Sync + 'static {
    /// The name by which editions refer to it: lower-case letters, digits, `-` and `.`.
    const ID: &'static str;
    /// Its version: it changes whenever any judgement could change. Usually `env!("CARGO_PKG_VERSION")`.
    const VERSION: &'static str;
    /// Who made it.
    const VENDOR: &'static str = "";
    /// What the host may rely on (`AGON_CAP_*` of the ABI).
    const CAPABILITIES: u32 = abi::AGON_CAP_PURE;
    /// The parameters, as they are read after they were checked against the declared ones and defaults filled in.
    type Params: serde::de::DeserializeOwned;

    /// Declares parameters, columns and operations. Always the same.
    fn describe() -> Description;

    /// Makes a track for these parameters. A fault names the bad one with [`Fault::at`].
    fn open(parameters: Self::Params) -> Result<Self, Fault>;

    /// Says how the benchmark is prepared and what is run. The default is the participant's command with the
    /// benchmark's path.
    fn prepare(&self, job: &Job<'_>, plan: &Plan<'_>) -> Result<(), Fault> {
        let _ = (job, plan);
        Ok(())
    }

    /// Judges an observation: one verdict, the columns, and what must still be checked.
    fn judge(&self, job: &Job<'_>, observation: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault>;

    /// Performs an operation that a follow-up asked for. It is only called in a worker with limits.
    fn run_internal(
        &self,
        operation: &str,
        job: &Job<'_>,
        inputs: &[Input<'_>],
        out: &Findings<'_>,
    ) -> Result<(), Fault> {
        let _ = (job, inputs, out);
        Err(Fault::new(Status::Unsupported, format!("there is no operation `{operation}`")))
    }

    /// Says the final verdict, given what came of the follow-ups. What is not emitted stays as `judge` had it.
    fn conclude(
        &self,
        job: &Job<'_>,
        judgement: &Judgement<'_>,
        validations: &[Validation<'_>],
        out: &Verdict<'_>,
    ) -> Result<(), Fault> {
        let _ = (job, judgement, validations, out);
        Ok(())
    }

    /// Says why.
    fn explain(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        judgement: &Judgement<'_>,
        validations: &[Validation<'_>],
        out: &Explanation<'_>,
    ) -> Result<(), Fault> {
        let _ = (job, observation, judgement, validations, out);
        Ok(())
    }
}

impl Condition {
    /// The condition of a run whose output is not looked at: by its limit, its signal, or else finished. The limits on
    /// output, disk and processes count as a crash. A kill by SIGKILL or SIGTERM without a known limit is taken for
    /// the wall-clock limit, which is how runs end where the harness says no more.
    pub fn of(run: &Observation<'_>) -> Condition {
        match (run.limit, run.signal) {
            (Limit::Wall, _) | (Limit::None, Some(9 | 15)) => Condition::WallLimit,
            (Limit::Cpu, _) => Condition::CpuLimit,
            (Limit::Memory, _) => Condition::MemoryLimit,
            (Limit::Output | Limit::Disk | Limit::Processes, _) | (Limit::None, Some(_)) => Condition::Crashed,
            (Limit::None, None) => Condition::Finished,
        }
    }
}

impl Blame {
    /// Who is to blame for how a run ended, if its output is not looked at: nobody, or the participant.
    pub fn of(run: &Observation<'_>) -> Blame {
        if Condition::of(run) == Condition::Finished { Blame::None } else { Blame::Entrant }
    }
}

// --- panics -----------------------------------------------------------------------------------------------------

thread_local! {
    /// How many guarded calls this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The sink of the guarded call that this thread is in.
    static SINK: Cell<*const AgonSink> = const { Cell::new(std::ptr::null()) };
    /// What the last panic in a guarded call said.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The host table that `open` got last; the host keeps it until the process ends.
static HOST: AtomicPtr<AgonHost> = AtomicPtr::new(std::ptr::null_mut());

/// Writes a line to the host's log.
pub fn log(level: Level, message: &str) {
    let host = HOST.load(Ordering::Acquire);
    // SAFETY: the host table lives until the process ends.
    unsafe {
        if let (Some(Some(log)), Some(ctx)) = (field!(host, AgonHost, log), field!(host, AgonHost, ctx)) {
            log(ctx, level.code(), AgonStr::new(message));
        }
    }
}

/// From now on a panic within a guarded call goes to the host and is not printed. This copy of the standard library
/// may be the host's own: panics elsewhere are left to the hook that was there.
fn hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 {
                before(info);
                return;
            }
            let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
            let message = format!("panic{place}: {}", said(info.payload()));
            log(Level::Error, &message);
            let _ = PANIC.try_with(|p| {
                if let Ok(mut p) = p.try_borrow_mut() {
                    *p = message;
                }
            });
        }));
    });
}

fn said(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not text".into())
}

/// A fault when the call that this thread is in should return soon.
pub(crate) fn check_cancelled() -> Result<(), Fault> {
    let sink = SINK.with(Cell::get);
    // SAFETY: the sink is that of the call that is under way, or null, which has no fields.
    unsafe { Sink::new(sink) }.check_cancelled()
}

/// Runs a call: nothing unwinds out of it, and a fault is told to the sink.
fn guard(sink: *const AgonSink, call: impl FnOnce(Sink<'_>) -> Result<(), Fault>) -> i32 {
    if sink.is_null() || !sink.is_aligned() {
        return abi::AGON_INVALID_ARGUMENT;
    }
    hook();
    DEPTH.with(|d| d.set(d.get() + 1));
    let outer = SINK.with(|s| s.replace(sink));
    // SAFETY: the host vouches for the sink until this call returns.
    let result = catch_unwind(AssertUnwindSafe(|| call(unsafe { Sink::new(sink) })));
    SINK.with(|s| s.set(outer));
    let fault = match result {
        Ok(Ok(())) => None,
        Ok(Err(fault)) => Some(fault),
        Err(payload) => {
            // Dropping a payload may panic in its turn.
            std::mem::forget(payload);
            let message = PANIC.with(RefCell::take);
            Some(Fault::new(Status::Panic, message))
        }
    };
    DEPTH.with(|d| d.set(d.get() - 1));
    match fault {
        None => abi::AGON_OK,
        Some(fault) => {
            // SAFETY: as above.
            unsafe { Sink::new(sink) }.fail(&fault);
            fault.status.code()
        }
    }
}

// --- inputs -----------------------------------------------------------------------------------------------------

fn invalid(what: &str) -> Fault {
    Fault::new(Status::InvalidArgument, what)
}

/// # Safety
/// The bytes live during `'a`.
unsafe fn bytes<'a>(ptr: *const u8, len: u64, what: &str) -> Result<Option<&'a [u8]>, Fault> {
    if ptr.is_null() {
        return if len == 0 { Ok(None) } else { Err(invalid(&format!("{what} is null, with a length of {len}"))) };
    }
    match usize::try_from(len) {
        // SAFETY: by the contract of this function.
        Ok(len) if isize::try_from(len).is_ok() => Ok(Some(unsafe { std::slice::from_raw_parts(ptr, len) })),
        _ => Err(invalid(&format!("{what} has the impossible length {len}"))),
    }
}

/// # Safety
/// The text lives during `'a`.
unsafe fn text<'a>(text: Option<AgonStr>, what: &str) -> Result<Option<&'a str>, Fault> {
    let Some(text) = text else { return Ok(None) };
    // SAFETY: passed on.
    match unsafe { bytes(text.ptr, text.len, what) }? {
        None => Ok(None),
        Some(bytes) => std::str::from_utf8(bytes)
            .map(Some)
            .map_err(|_| invalid(&format!("{what} is not UTF-8; text that crosses the boundary must be"))),
    }
}

/// # Safety
/// The array and what it points to live during `'a`.
unsafe fn array<'a, T: Copy>(items: Option<*const T>, n: Option<u64>, what: &str) -> Result<&'a [T], Fault> {
    let (items, n) = (items.unwrap_or(std::ptr::null()), n.unwrap_or(0));
    if n == 0 {
        return Ok(&[]);
    }
    let fits =
        usize::try_from(n).ok().filter(|n| n.checked_mul(size_of::<T>()).is_some_and(|b| isize::try_from(b).is_ok()));
    match fits {
        // SAFETY: by the contract of this function.
        Some(n) if !items.is_null() && items.is_aligned() => Ok(unsafe { std::slice::from_raw_parts(items, n) }),
        Some(_) => Err(invalid(&format!("the array of {what} is null or misaligned, with {n} elements"))),
        None => Err(invalid(&format!("the array of {what} has the impossible length {n}"))),
    }
}

/// # Safety
/// As for [`array`].
unsafe fn texts<'a>(items: Option<*const AgonStr>, n: Option<u64>, what: &str) -> Result<Vec<&'a str>, Fault> {
    // SAFETY: passed on.
    unsafe { array(items, n, what)?.iter().map(|s| Ok(text(Some(*s), what)?.unwrap_or_default())).collect() }
}

/// A table must be there and have at least its size.
fn table_at<T>(pointer: *const T, what: &str) -> Result<*const T, Fault> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(invalid(&format!("the table of the {what} is null or misaligned")));
    }
    // SAFETY: the host vouches for tables that are not null; each begins with its size.
    if unsafe { pointer.cast::<u64>().read() } < size_of::<u64>() as u64 {
        return Err(invalid(&format!("the table of the {what} says that it has not even a size")));
    }
    Ok(pointer)
}

/// # Safety
/// The reader lives during `'a`.
unsafe fn reader<'a>(pointer: Option<*const AgonReader>, what: &str) -> Result<Option<Reader<'a>>, Fault> {
    let Some(pointer) = pointer.filter(|p| !p.is_null()) else { return Ok(None) };
    let pointer = table_at(pointer, what)?;
    // SAFETY: by the contract of this function.
    unsafe {
        let whole = match field!(pointer, AgonReader, whole) {
            Some(whole) => bytes(whole.ptr, whole.len, what)?,
            None => None,
        };
        let read_at = field!(pointer, AgonReader, read_at).flatten();
        let size = field!(pointer, AgonReader, size).and_then(optional);
        if whole.is_none() && read_at.is_none() && size != Some(0) {
            return Err(invalid(&format!("the reader of the {what} has neither bytes nor a function")));
        }
        let table = AgonReader {
            struct_size: size_of::<AgonReader>() as u64,
            flags: 0,
            size: 0,
            whole: abi::AgonBytes::NONE,
            ctx: field!(pointer, AgonReader, ctx).unwrap_or(std::ptr::null_mut()),
            read_at,
        };
        Ok(Some(Reader {
            whole,
            raw: Some(Raw::new(table)),
            size: size.or(whole.map(|w| w.len() as u64)),
            truncated: field!(pointer, AgonReader, flags).unwrap_or(0) & abi::AGON_READER_TRUNCATED != 0,
        }))
    }
}

/// # Safety
/// The document lives during `'a`.
unsafe fn doc<'a>(pointer: Option<*const AgonDoc>, what: &str) -> Result<Option<Doc<'a>>, Fault> {
    let Some(pointer) = pointer.filter(|p| !p.is_null()) else { return Ok(None) };
    let pointer = table_at(pointer, what)?;
    // SAFETY: by the contract of this function.
    let found = unsafe { text(field!(pointer, AgonDoc, text), what) }?;
    Ok(found.map(|text| Doc { text }))
}

fn known<T>(value: Option<T>, what: &str, code: impl std::fmt::Display) -> Result<T, Fault> {
    value.ok_or_else(|| invalid(&format!("{code} is no known {what}")))
}

fn code(value: Option<i32>) -> Option<i32> {
    value.filter(|v| *v != abi::AGON_NO_CODE)
}

/// # Safety
/// The inputs live during `'a`.
unsafe fn inputs<'a>(
    items: Option<*const *const AgonInput>,
    n: Option<u64>,
    what: &str,
) -> Result<Vec<Input<'a>>, Fault> {
    // SAFETY: by the contract of this function.
    unsafe {
        array(items, n, what)?
            .iter()
            .map(|&item| {
                let item = table_at(item, what)?;
                Ok(Input {
                    name: text(field!(item, AgonInput, name), what)?.unwrap_or_default(),
                    kind: text(field!(item, AgonInput, kind), what)?.unwrap_or_default(),
                    content: reader(field!(item, AgonInput, content), what)?.unwrap_or(Reader::EMPTY),
                })
            })
            .collect()
    }
}

/// # Safety
/// The job lives during `'a`.
unsafe fn job<'a>(job: *const AgonJob) -> Result<Job<'a>, Fault> {
    let job = table_at(job, "job")?;
    // SAFETY: by the contract of this function.
    unsafe {
        let b = table_at(field!(job, AgonJob, benchmark).unwrap_or(std::ptr::null()), "benchmark")?;
        let benchmark = Benchmark {
            id: text(field!(b, AgonBenchmark, id), "the benchmark's id")?.unwrap_or_default(),
            name: text(field!(b, AgonBenchmark, name), "the benchmark's name")?.unwrap_or_default(),
            logic: text(field!(b, AgonBenchmark, logic), "the benchmark's logic")?,
            division: text(field!(b, AgonBenchmark, division), "the benchmark's division")?,
            family: text(field!(b, AgonBenchmark, family), "the benchmark's family")?,
            statuses: texts(
                field!(b, AgonBenchmark, statuses),
                field!(b, AgonBenchmark, n_statuses),
                "the benchmark's statuses",
            )?,
            content: reader(field!(b, AgonBenchmark, content), "benchmark")?.unwrap_or(Reader::EMPTY),
            original: reader(field!(b, AgonBenchmark, original), "original benchmark")?,
            applied: texts(
                field!(b, AgonBenchmark, applied),
                field!(b, AgonBenchmark, n_applied),
                "the benchmark's transformations",
            )?,
            properties: doc(field!(b, AgonBenchmark, properties), "benchmark's properties")?,
        };
        let p = field!(job, AgonJob, participant).unwrap_or(std::ptr::null());
        let participant = if p.is_null() {
            Participant::default()
        } else {
            let p = table_at(p, "participant")?;
            Participant {
                id: text(field!(p, AgonParticipant, id), "the participant's id")?.unwrap_or_default(),
                configuration: texts(
                    field!(p, AgonParticipant, configuration),
                    field!(p, AgonParticipant, n_configuration),
                    "the participant's configuration",
                )?,
            }
        };
        let l = field!(job, AgonJob, limits).unwrap_or(std::ptr::null());
        let limits = if l.is_null() {
            Limits::default()
        } else {
            let l = table_at(l, "limits")?;
            Limits {
                wall_ns: field!(l, AgonLimits, wall_ns).and_then(optional),
                cpu_ns: field!(l, AgonLimits, cpu_ns).and_then(optional),
                memory_bytes: field!(l, AgonLimits, memory_bytes).and_then(optional),
                cores: field!(l, AgonLimits, cores).and_then(optional).and_then(|n| u32::try_from(n).ok()),
            }
        };
        Ok(Job { benchmark, participant, limits })
    }
}

/// # Safety
/// The observation lives during `'a`.
unsafe fn observation<'a>(o: *const AgonObservation) -> Result<Observation<'a>, Fault> {
    let o = table_at(o, "observation")?;
    // SAFETY: by the contract of this function.
    unsafe {
        let fidelity = field!(o, AgonObservation, fidelity).unwrap_or(abi::AGON_FIDELITY_COLUMNS);
        let limit = field!(o, AgonObservation, limit).unwrap_or(abi::AGON_LIMIT_NONE);
        let steps = array(field!(o, AgonObservation, steps), field!(o, AgonObservation, n_steps), "steps")?
            .iter()
            .map(|&s| step_log(s))
            .collect::<Result<_, Fault>>()?;
        Ok(Observation {
            fidelity: known(Fidelity::from_code(fidelity), "fidelity", fidelity)?,
            limit: known(Limit::from_code(limit), "limit", limit)?,
            exit: code(field!(o, AgonObservation, exit)),
            signal: code(field!(o, AgonObservation, signal)),
            wall_ns: field!(o, AgonObservation, wall_ns).and_then(optional),
            cpu_ns: field!(o, AgonObservation, cpu_ns).and_then(optional),
            peak_memory: field!(o, AgonObservation, peak_memory).and_then(optional),
            stdout: reader(field!(o, AgonObservation, out), "standard output")?,
            stderr: reader(field!(o, AgonObservation, errors), "standard error output")?,
            steps,
            collected: inputs(
                field!(o, AgonObservation, collected),
                field!(o, AgonObservation, n_collected),
                "collected files",
            )?,
            columns: doc(field!(o, AgonObservation, columns), "columns")?,
        })
    }
}

/// # Safety
/// The entry lives during `'a`.
unsafe fn step_log<'a>(s: *const AgonStepLog) -> Result<StepLog<'a>, Fault> {
    let s = table_at(s, "step")?;
    // SAFETY: by the contract of this function.
    unsafe {
        let kind = field!(s, AgonStepLog, kind).unwrap_or(abi::AGON_STEP_COMMAND);
        let outcome = field!(s, AgonStepLog, outcome).unwrap_or(abi::AGON_OUTCOME_DONE);
        let limit = field!(s, AgonStepLog, limit).unwrap_or(abi::AGON_LIMIT_NONE);
        Ok(StepLog {
            kind: known(StepKind::from_code(kind), "kind of step", kind)?,
            outcome: known(StepOutcome::from_code(outcome), "outcome of a step", outcome)?,
            step: text(field!(s, AgonStepLog, step), "the step's name")?.unwrap_or_default(),
            label: text(field!(s, AgonStepLog, label), "the step's label")?,
            sent_ns: field!(s, AgonStepLog, sent_ns).unwrap_or(0),
            answered_ns: field!(s, AgonStepLog, answered_ns).unwrap_or(0),
            cpu_ns: field!(s, AgonStepLog, cpu_ns).and_then(optional),
            exit: code(field!(s, AgonStepLog, exit)),
            signal: code(field!(s, AgonStepLog, signal)),
            limit: known(Limit::from_code(limit), "limit", limit)?,
            response: reader(field!(s, AgonStepLog, response), "response")?.unwrap_or(Reader::EMPTY),
            errors: reader(field!(s, AgonStepLog, errors), "step's error output")?,
            answers: field!(s, AgonStepLog, answers).unwrap_or(0),
            refused: field!(s, AgonStepLog, refused).unwrap_or(0),
            waited_ns: field!(s, AgonStepLog, waited_ns).unwrap_or(0),
            kept: field!(s, AgonStepLog, kept).unwrap_or(0),
        })
    }
}

/// # Safety
/// The judgement lives during `'a`.
unsafe fn judgement<'a>(j: *const AgonJudgement) -> Result<Judgement<'a>, Fault> {
    let j = table_at(j, "judgement")?;
    // SAFETY: by the contract of this function.
    unsafe {
        let soundness = field!(j, AgonJudgement, soundness).unwrap_or(abi::AGON_SOUNDNESS_NOT_APPLICABLE);
        let condition = field!(j, AgonJudgement, condition).unwrap_or(abi::AGON_CONDITION_FINISHED);
        let blame = field!(j, AgonJudgement, blame).unwrap_or(abi::AGON_BLAME_NONE);
        Ok(Judgement {
            answer: text(field!(j, AgonJudgement, answer), "the answer")?.unwrap_or_default(),
            soundness: known(Soundness::from_code(soundness), "soundness", soundness)?,
            condition: known(Condition::from_code(condition), "condition", condition)?,
            blame: known(Blame::from_code(blame), "blame", blame)?,
            columns: doc(field!(j, AgonJudgement, columns), "columns")?,
            artifacts: inputs(field!(j, AgonJudgement, artifacts), field!(j, AgonJudgement, n_artifacts), "artifacts")?,
        })
    }
}

/// # Safety
/// The validations live during `'a`.
unsafe fn validations<'a>(items: *const *const AgonValidation, n: u64) -> Result<Vec<Validation<'a>>, Fault> {
    // SAFETY: by the contract of this function.
    unsafe {
        array(Some(items), Some(n), "validations")?
            .iter()
            .map(|&v| {
                let v = table_at(v, "validation")?;
                let kind = field!(v, AgonValidation, kind).unwrap_or(abi::AGON_FOLLOW_UP_INTERNAL);
                let status = field!(v, AgonValidation, status).unwrap_or(abi::AGON_VALIDATION_NOT_RUN);
                let seen = field!(v, AgonValidation, observation).unwrap_or(std::ptr::null());
                Ok(Validation {
                    kind: known(FollowUpKind::from_code(kind), "kind of follow-up", kind)?,
                    status: known(ValidationStatus::from_code(status), "status of a validation", status)?,
                    role: text(field!(v, AgonValidation, role), "the role")?.unwrap_or_default(),
                    dedup_key: text(field!(v, AgonValidation, dedup_key), "the key")?.unwrap_or_default(),
                    tool: text(field!(v, AgonValidation, tool), "the tool")?,
                    observation: if seen.is_null() { None } else { Some(observation(seen)?) },
                })
            })
            .collect()
    }
}

// --- the functions of the table -----------------------------------------------------------------------------------

/// The track behind the pointer that `open` gave out.
///
/// # Safety
/// The pointer is null, or came from `open::<T>` and was not closed.
unsafe fn track<'a, T: Track>(pointer: *mut c_void) -> Result<&'a T, Fault> {
    // SAFETY: by the contract of this function.
    unsafe { pointer.cast::<T>().cast_const().as_ref() }.ok_or_else(|| invalid("the track is null"))
}

/// The description with id and version filled in.
pub(crate) fn description<T: Track>() -> Description {
    let mut description = T::describe();
    description.plugin = T::ID.into();
    description.version = T::VERSION.into();
    description
}

unsafe extern "C" fn describe<T: Track>(sink: *const AgonSink) -> i32 {
    guard(sink, |sink| sink.emit_text(description::<T>().to_json().as_bytes()))
}

unsafe extern "C" fn open<T: Track>(
    host: *const AgonHost,
    parameters: *const AgonDoc,
    sink: *const AgonSink,
    out: *mut *mut c_void,
) -> i32 {
    guard(sink, |_| {
        if out.is_null() || !out.is_aligned() {
            return Err(invalid("there is no place for the track"));
        }
        if !host.is_null() {
            HOST.store(table_at(host, "host")?.cast_mut(), Ordering::Release);
        }
        // SAFETY: the host vouches for its arguments during the call.
        let given = unsafe { doc(Some(parameters), "parameters") }?.map_or("", |d| d.text);
        let map = description::<T>().parameters_with_defaults(given)?;
        let value = serde_json::Value::Object(map);
        // A type without members is read from nothing.
        let parsed = serde_json::from_value(value.clone()).or_else(|e| {
            if value.as_object().is_some_and(serde_json::Map::is_empty) {
                serde_json::from_value(serde_json::Value::Null).map_err(|_| e)
            } else {
                Err(e)
            }
        });
        let parsed =
            parsed.map_err(|e| Fault::new(Status::BadParameter, format!("the parameters do not fit: {e}")).at(""))?;
        let track = Box::new(T::open(parsed)?);
        // SAFETY: checked above; the host gets the track until it closes it.
        unsafe { out.write(Box::into_raw(track).cast()) };
        Ok(())
    })
}

unsafe extern "C" fn close<T: Track>(pointer: *mut c_void) {
    if pointer.is_null() {
        return;
    }
    hook();
    DEPTH.with(|d| d.set(d.get() + 1));
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the pointer came from `open::<T>`, and no other call is under way.
        drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
    }));
    DEPTH.with(|d| d.set(d.get() - 1));
    if let Err(payload) = result {
        std::mem::forget(payload);
    }
}

unsafe extern "C" fn prepare<T: Track>(pointer: *mut c_void, j: *const AgonJob, sink: *const AgonSink) -> i32 {
    // SAFETY: the host vouches for its arguments during the call.
    guard(sink, |sink| unsafe { track::<T>(pointer)?.prepare(&job(j)?, &Plan(sink)) })
}

unsafe extern "C" fn judge<T: Track>(
    pointer: *mut c_void,
    j: *const AgonJob,
    seen: *const AgonObservation,
    sink: *const AgonSink,
) -> i32 {
    // SAFETY: the host vouches for its arguments during the call.
    guard(sink, |sink| unsafe { track::<T>(pointer)?.judge(&job(j)?, &observation(seen)?, &Verdict(Columns(sink))) })
}

unsafe extern "C" fn run_internal<T: Track>(
    pointer: *mut c_void,
    operation: AgonStr,
    j: *const AgonJob,
    items: *const *const AgonInput,
    n: u64,
    sink: *const AgonSink,
) -> i32 {
    // SAFETY: the host vouches for its arguments during the call.
    guard(sink, |sink| unsafe {
        let operation = text(Some(operation), "the operation")?.unwrap_or_default();
        let given = inputs(Some(items), Some(n), "inputs")?;
        track::<T>(pointer)?.run_internal(operation, &job(j)?, &given, &Findings(Columns(sink)))
    })
}

unsafe extern "C" fn conclude<T: Track>(
    pointer: *mut c_void,
    j: *const AgonJob,
    before: *const AgonJudgement,
    items: *const *const AgonValidation,
    n: u64,
    sink: *const AgonSink,
) -> i32 {
    // SAFETY: the host vouches for its arguments during the call.
    guard(sink, |sink| unsafe {
        let checked = validations(items, n)?;
        track::<T>(pointer)?.conclude(&job(j)?, &judgement(before)?, &checked, &Verdict(Columns(sink)))
    })
}

unsafe extern "C" fn explain<T: Track>(
    pointer: *mut c_void,
    j: *const AgonJob,
    seen: *const AgonObservation,
    before: *const AgonJudgement,
    items: *const *const AgonValidation,
    n: u64,
    sink: *const AgonSink,
) -> i32 {
    // SAFETY: the host vouches for its arguments during the call.
    guard(sink, |sink| unsafe {
        let checked = validations(items, n)?;
        let out = Explanation(Columns(sink));
        track::<T>(pointer)?.explain(&job(j)?, &observation(seen)?, &judgement(before)?, &checked, &out)
    })
}

unsafe extern "C" fn panic_on_purpose(sink: *const AgonSink) -> i32 {
    guard(sink, |_| panic!("a panic that the conformance test asked for"))
}

unsafe extern "C" fn interface(id: AgonStr) -> *const c_void {
    static CONFORMANCE: AgonConformance =
        AgonConformance { struct_size: size_of::<AgonConformance>() as u64, panic: Some(panic_on_purpose) };
    // SAFETY: the host vouches for the text during the call.
    match unsafe { text(Some(id), "the interface") } {
        Ok(Some(abi::AGON_INTERFACE_CONFORMANCE)) => (&raw const CONFORMANCE).cast(),
        _ => std::ptr::null(),
    }
}

/// The table of a track.
#[must_use]
pub const fn table<T: Track>() -> AgonTrackTable {
    AgonTrackTable {
        struct_size: size_of::<AgonTrackTable>() as u64,
        describe: Some(describe::<T>),
        open: Some(open::<T>),
        close: Some(close::<T>),
        prepare: Some(prepare::<T>),
        judge: Some(judge::<T>),
        run_internal: Some(run_internal::<T>),
        conclude: Some(conclude::<T>),
        explain: Some(explain::<T>),
        interface: Some(interface),
    }
}

/// The descriptor of a track.
#[must_use]
pub const fn descriptor<T: Track>(table: &'static AgonTrackTable) -> AgonPlugin {
    assert!(is_id(T::ID), "an id has lower-case letters, digits, `-` and `.`, and begins with a letter");
    AgonPlugin {
        struct_size: size_of::<AgonPlugin>() as u64,
        magic: abi::AGON_MAGIC,
        abi_major: abi::AGON_ABI_MAJOR,
        abi_minor: abi::AGON_ABI_MINOR,
        min_host_minor: 0,
        reserved: 0,
        caps_required: 0,
        caps_optional: T::CAPABILITIES,
        vendor: AgonStr::new(T::VENDOR),
        id: AgonStr::new(T::ID),
        version: AgonStr::new(T::VERSION),
        track: table,
    }
}

/// Whether this is the name of a plugin: lower-case letters, digits, `-` and `.`, a letter first.
#[must_use]
pub const fn is_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !matches!(bytes[i], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.') {
            return false;
        }
        i += 1;
    }
    i > 0 && i <= 64 && bytes[0].is_ascii_lowercase()
}

/// The parts of a manifest. It is JSON; the parts must not need escapes.
const fn parts<T: Track>(symbol: &'static str) -> [&'static str; 11] {
    const MAJOR_MINOR: &str = "\",\"abi\":\"1.0\",\"min-host-minor\":0";
    const _: () = assert!(abi::AGON_ABI_MAJOR == 1 && abi::AGON_ABI_MINOR == 0);
    [
        "{\"agon-plugin\":1,\"id\":\"",
        T::ID,
        "\",\"version\":\"",
        T::VERSION,
        "\",\"vendor\":\"",
        T::VENDOR,
        "\",\"symbol\":\"",
        symbol,
        MAJOR_MINOR,
        "}",
        "\0",
    ]
}

/// The length of the manifest in bytes.
#[must_use]
pub const fn manifest_len<T: Track>(symbol: &'static str) -> usize {
    let parts = parts::<T>(symbol);
    let (mut i, mut n) = (0, 0);
    while i < parts.len() {
        n += parts[i].len();
        i += 1;
    }
    n
}

/// The manifest.
#[must_use]
pub const fn manifest<T: Track, const N: usize>(symbol: &'static str) -> [u8; N] {
    let parts = parts::<T>(symbol);
    let mut out = [0; N];
    let (mut i, mut at) = (0, 0);
    while i < parts.len() {
        let bytes = parts[i].as_bytes();
        let mut k = 0;
        while k < bytes.len() {
            let inner = matches!(i, 1 | 3 | 5 | 7);
            assert!(
                !inner || (bytes[k] >= b' ' && bytes[k] != b'"' && bytes[k] != b'\\'),
                "id, version and vendor have no quotes, backslashes or control characters"
            );
            out[at] = bytes[k];
            at += 1;
            k += 1;
        }
        i += 1;
    }
    out
}

/// A text with a null after it; `N` is its length and one.
#[must_use]
pub const fn with_null<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() + 1 == N, "a null is one byte");
    let mut out = [0; N];
    let mut at = 0;
    while at < text.len() {
        out[at] = text.as_bytes()[at];
        at += 1;
    }
    out
}
