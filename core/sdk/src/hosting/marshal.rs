//! Owned values as the tables of the ABI, for the duration of a closure.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;

use agon_abi::{
    self as abi, AGON_NO_CODE, AGON_NO_VALUE, AgonBenchmark, AgonBytes, AgonDoc, AgonInput, AgonJob, AgonJudgement,
    AgonLimits, AgonObservation, AgonParticipant, AgonReader, AgonStepLog, AgonStr, AgonValidation,
};
use serde_json::Value as Json;

use super::collect::borrowed;
use crate::values::{Fault, Input, Job, Judgement, Limits, Observation, Output, Source, Status, StepLog, Validation};

/// How large the tables say they are: the conformance test plays older and newer hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// As large as they are.
    #[default]
    Exact,
    /// Larger by this many bytes: a newer host.
    Larger(u64),
    /// No larger than this; the rest is filled with what no pointer can be.
    AtMost(u64),
}

thread_local! {
    static SHAPE: Cell<Shape> = const { Cell::new(Shape::Exact) };
}

/// Calls from within `f` on this thread get tables of this shape.
pub fn with_shape<R>(shape: Shape, f: impl FnOnce() -> R) -> R {
    let before = SHAPE.with(|s| s.replace(shape));
    let result = f();
    SHAPE.with(|s| s.set(before));
    result
}

/// Copies of what calls were given: those of the present call, and those of earlier ones, which are overwritten.
#[derive(Default)]
struct Lent {
    present: Vec<*mut [u8]>,
    earlier: Vec<*mut [u8]>,
}

thread_local! {
    static LENT: RefCell<Option<Lent>> = const { RefCell::new(None) };
}

/// Calls from within `f` on this thread get texts and bytes that are overwritten when the call has returned, and stay
/// where they are until `f` has: so does a plugin show that kept a pointer.
pub fn with_lent<R>(f: impl FnOnce() -> R) -> R {
    LENT.with(|l| *l.borrow_mut() = Some(Lent::default()));
    let result = f();
    let lent = LENT.with(RefCell::take).unwrap_or_default();
    for bytes in lent.present.into_iter().chain(lent.earlier) {
        // SAFETY: it was made by `lend`, and is in one list once.
        drop(unsafe { Box::from_raw(bytes) });
    }
    result
}

/// The call has returned.
pub(super) fn overwrite_lent() {
    LENT.with(|l| {
        if let Some(lent) = &mut *l.borrow_mut() {
            for bytes in std::mem::take(&mut lent.present) {
                // SAFETY: it was made by `lend`; only a plugin that kept a pointer still looks at it.
                unsafe { (*bytes).fill(b'#') };
                lent.earlier.push(bytes);
            }
        }
    });
}

/// Where the plugin is to find these bytes.
fn lend(bytes: &[u8]) -> *const u8 {
    LENT.with(|l| match &mut *l.borrow_mut() {
        Some(lent) if !bytes.is_empty() => {
            let copy = Box::into_raw(Box::<[u8]>::from(bytes));
            lent.present.push(copy);
            copy.cast::<u8>().cast_const()
        }
        _ => bytes.as_ptr(),
    })
}

/// Gives a table the shape that was asked for.
fn shaped<T: Copy>(mut table: T) -> T {
    let size = size_of::<T>() as u64;
    let place = &raw mut table;
    // SAFETY: every table begins with its size, a 64-bit number; what is overwritten lies within the table, whose
    // fields are integers and pointers.
    unsafe {
        match SHAPE.with(Cell::get) {
            Shape::Exact => place.cast::<u64>().write(size),
            Shape::Larger(by) => place.cast::<u64>().write(size + by),
            Shape::AtMost(most) if most < size => {
                place.cast::<u64>().write(most);
                // Nullable function pointers and integers take any value; they are not read as such on this side.
                let keep = usize::try_from(most.max(8)).unwrap_or(usize::MAX);
                place.cast::<u8>().add(keep).write_bytes(0xa5, size_of::<T>().saturating_sub(keep));
            }
            Shape::AtMost(_) => place.cast::<u64>().write(size),
        }
    }
    table
}

fn text(text: &str) -> AgonStr {
    // An empty text is no null pointer: that would be none.
    AgonStr { ptr: lend(text.as_bytes()), len: text.len() as u64 }
}

fn optional(value: Option<&String>) -> AgonStr {
    value.map_or(AgonStr::NONE, |t| text(t))
}

fn texts(texts: &[String]) -> Vec<AgonStr> {
    texts.iter().map(|t| text(t)).collect()
}

/// A pointer to the elements; null without any.
fn pointer<T>(items: &[T]) -> *const T {
    if items.is_empty() { std::ptr::null() } else { items.as_ptr() }
}

fn pointers<T>(items: &[T]) -> Vec<*const T> {
    items.iter().map(|item| &raw const *item).collect()
}

unsafe extern "C" fn read_at(ctx: *mut c_void, offset: u64, buffer: *mut u8, len: u64) -> i64 {
    // SAFETY: the context is the source, which lives as long as the call.
    let Some(source) = (unsafe { ctx.cast::<Source>().cast_const().as_ref() }) else { return -1 };
    if buffer.is_null() {
        return if len == 0 { 0 } else { -1 };
    }
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(1 << 30);
    // SAFETY: the plugin vouches for its buffer. The bytes are written before they are read.
    let buffer = unsafe {
        buffer.write_bytes(0, len);
        std::slice::from_raw_parts_mut(buffer, len)
    };
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| source.read_at(offset, buffer)));
    match read {
        Ok(Ok(n)) => i64::try_from(n).unwrap_or(-1),
        _ => -1,
    }
}

fn opened(source: &Source) -> Result<Cow<'_, Source>, Fault> {
    match source {
        Source::File(path) => source.open().map(Cow::Owned).map_err(|e| {
            Fault::new(Status::ReadFailed, format!("{} cannot be opened: {e}", path.display()))
                .hint("check that the file is there and readable")
        }),
        other => Ok(Cow::Borrowed(other)),
    }
}

/// The table for a source, which must stay where it is.
fn reader(source: &Source, truncated: bool) -> AgonReader {
    shaped(AgonReader {
        struct_size: 0,
        flags: if truncated { abi::AGON_READER_TRUNCATED } else { 0 },
        size: source.size().unwrap_or(AGON_NO_VALUE),
        whole: source.whole().map_or(AgonBytes::NONE, |b| AgonBytes { ptr: lend(b), len: b.len() as u64 }),
        ctx: (&raw const *source).cast_mut().cast(),
        read_at: Some(read_at),
    })
}

fn with_output<R>(output: Option<&Output>, f: impl FnOnce(*const AgonReader) -> R) -> Result<R, Fault> {
    match output {
        None => Ok(f(std::ptr::null())),
        Some(output) => {
            let source = opened(&output.source)?;
            let table = reader(&source, output.truncated);
            Ok(f(&raw const table))
        }
    }
}

fn number(value: Option<u64>) -> u64 {
    value.unwrap_or(AGON_NO_VALUE)
}

fn code(value: Option<i32>) -> i32 {
    value.unwrap_or(AGON_NO_CODE)
}

fn limits(limits: &Limits) -> AgonLimits {
    shaped(AgonLimits {
        struct_size: 0,
        wall_ns: number(limits.wall_ns),
        cpu_ns: number(limits.cpu_ns),
        memory_bytes: number(limits.memory_bytes),
        cores: number(limits.cores.map(u64::from)),
    })
}

/// A job as a table.
pub fn with_job<R>(job: &Job, f: impl FnOnce(*const AgonJob) -> R) -> Result<R, Fault> {
    let b = &job.benchmark;
    let (statuses, applied) = (texts(&b.statuses), texts(&b.applied));
    let configuration = texts(&job.participant.configuration);
    let content_source = opened(&b.content)?;
    let content = reader(&content_source, false);
    let original_source = b.original.as_ref().map(opened).transpose()?;
    let original = original_source.as_ref().map(|source| reader(source, false));
    let limits = limits(&job.limits);
    Ok(with_doc(b.properties.as_deref(), |properties| {
        let benchmark = shaped(AgonBenchmark {
            struct_size: 0,
            id: text(&b.id),
            name: text(&b.name),
            logic: optional(b.logic.as_ref()),
            division: optional(b.division.as_ref()),
            family: optional(b.family.as_ref()),
            statuses: pointer(&statuses),
            n_statuses: statuses.len() as u64,
            content: &raw const content,
            original: original.as_ref().map_or(std::ptr::null(), |r| &raw const *r),
            applied: pointer(&applied),
            n_applied: applied.len() as u64,
            properties,
        });
        let participant = shaped(AgonParticipant {
            struct_size: 0,
            id: text(&job.participant.id),
            configuration: pointer(&configuration),
            n_configuration: configuration.len() as u64,
        });
        let job = shaped(AgonJob {
            struct_size: 0,
            benchmark: &raw const benchmark,
            participant: &raw const participant,
            limits: &raw const limits,
        });
        f(&raw const job)
    }))
}

/// Named bytes as tables.
pub(super) fn with_inputs<R>(inputs: &[Input], f: impl FnOnce(*const *const AgonInput, u64) -> R) -> Result<R, Fault> {
    let sources = inputs.iter().map(|i| opened(&i.content)).collect::<Result<Vec<_>, _>>()?;
    let readers: Vec<AgonReader> = sources.iter().map(|s| reader(s, false)).collect();
    let tables: Vec<AgonInput> = inputs
        .iter()
        .zip(&readers)
        .map(|(input, reader)| {
            shaped(AgonInput {
                struct_size: 0,
                name: text(&input.name),
                kind: text(&input.kind),
                content: &raw const *reader,
            })
        })
        .collect();
    let list = pointers(&tables);
    Ok(f(pointer(&list), list.len() as u64))
}

fn with_steps<R>(steps: &[StepLog], f: impl FnOnce(*const *const AgonStepLog, u64) -> R) -> Result<R, Fault> {
    if steps.is_empty() {
        return Ok(f(std::ptr::null(), 0));
    }
    let responses = steps.iter().map(|s| opened(&s.response.source)).collect::<Result<Vec<_>, _>>()?;
    let errors = steps
        .iter()
        .map(|s| s.errors.as_ref().map(|e| opened(&e.source)).transpose())
        .collect::<Result<Vec<_>, _>>()?;
    let response_readers: Vec<AgonReader> =
        steps.iter().zip(&responses).map(|(s, r)| reader(r, s.response.truncated)).collect();
    let error_readers: Vec<Option<AgonReader>> = steps
        .iter()
        .zip(&errors)
        .map(|(s, e)| e.as_ref().map(|e| reader(e, s.errors.as_ref().is_some_and(|o| o.truncated))))
        .collect();
    let tables: Vec<AgonStepLog> = steps
        .iter()
        .zip(response_readers.iter().zip(&error_readers))
        .map(|(s, (response, errors))| {
            shaped(AgonStepLog {
                struct_size: 0,
                kind: s.kind.code(),
                outcome: s.outcome.code(),
                step: text(&s.step),
                label: optional(s.label.as_ref()),
                sent_ns: s.sent_ns,
                answered_ns: s.answered_ns,
                cpu_ns: number(s.cpu_ns),
                exit: code(s.exit),
                signal: code(s.signal),
                limit: s.limit.code(),
                reserved: 0,
                response: &raw const *response,
                errors: errors.as_ref().map_or(std::ptr::null(), |e| &raw const *e),
                answers: s.answers,
                refused: s.refused,
                waited_ns: s.waited_ns,
                kept: s.kept,
            })
        })
        .collect();
    let list = pointers(&tables);
    Ok(f(pointer(&list), list.len() as u64))
}

/// An observation as a table.
pub fn with_observation<R>(o: &Observation, f: impl FnOnce(*const AgonObservation) -> R) -> Result<R, Fault> {
    with_output(o.stdout.as_ref(), |out| {
        with_output(o.stderr.as_ref(), |errors| {
            with_steps(&o.steps, |steps, n_steps| {
                with_inputs(&o.collected, |collected, n_collected| {
                    with_doc(o.columns.as_deref(), |columns| {
                        let table = shaped(AgonObservation {
                            struct_size: 0,
                            fidelity: o.fidelity.code(),
                            limit: o.limit.code(),
                            exit: code(o.exit),
                            signal: code(o.signal),
                            wall_ns: number(o.wall_ns),
                            cpu_ns: number(o.cpu_ns),
                            peak_memory: number(o.peak_memory),
                            out,
                            errors,
                            steps,
                            n_steps,
                            collected,
                            n_collected,
                            columns,
                        });
                        f(&raw const table)
                    })
                })
            })
        })
    })???
}

/// A judgement as a table; its artifacts are read from the job and the observation where they are ranges of these.
pub fn with_judgement<R>(
    j: &Judgement,
    job: &Job,
    observation: &Observation,
    f: impl FnOnce(*const AgonJudgement) -> R,
) -> Result<R, Fault> {
    let artifacts = j
        .artifacts
        .iter()
        .map(|artifact| {
            let bytes = artifact.bytes(job, observation).map_err(|e| {
                Fault::new(Status::ReadFailed, format!("the artifact `{}` cannot be read: {e}", artifact.name))
            })?;
            Ok(Input { name: artifact.name.clone(), kind: artifact.kind.clone(), content: Source::bytes(bytes) })
        })
        .collect::<Result<Vec<_>, Fault>>()?;
    let columns = j.columns_json();
    with_inputs(&artifacts, |items, n_artifacts| {
        with_doc(Some(&columns), |columns| {
            let table = shaped(AgonJudgement {
                struct_size: 0,
                answer: text(&j.answer),
                soundness: j.soundness.code(),
                condition: j.condition.code(),
                blame: j.blame.code(),
                reserved: 0,
                columns,
                artifacts: items,
                n_artifacts,
            });
            f(&raw const table)
        })
    })
}

/// Validations as tables.
pub(super) fn with_validations<R>(
    validations: &[Validation],
    f: impl FnOnce(*const *const AgonValidation, u64) -> R,
) -> Result<R, Fault> {
    let mut tables = Vec::with_capacity(validations.len());
    nested(validations, &mut tables, |tables| {
        let list = pointers(tables);
        f(pointer(&list), list.len() as u64)
    })
}

/// Builds the tables one within the other: each observation lives on the stack of its call. There are as many as an
/// edition has validators, which is few.
fn nested<R>(
    rest: &[Validation],
    tables: &mut Vec<AgonValidation>,
    f: impl FnOnce(&[AgonValidation]) -> R,
) -> Result<R, Fault> {
    let Some((v, rest)) = rest.split_first() else { return Ok(f(tables)) };
    let table = |observation: *const AgonObservation| {
        shaped(AgonValidation {
            struct_size: 0,
            kind: v.kind.code(),
            status: v.status.code(),
            role: text(&v.role),
            dedup_key: text(&v.dedup_key),
            tool: optional(v.tool.as_ref()),
            observation,
        })
    };
    // The closure is passed on as an object, so that the recursion has one type.
    let mut f = Some(f);
    let mut result = None;
    let mut inner = |observation, tables: &mut Vec<AgonValidation>| {
        tables.push(table(observation));
        let mut last = |all: &[AgonValidation]| result = f.take().map(|f| f(all));
        let last: &mut dyn FnMut(&[AgonValidation]) = &mut last;
        nested(rest, tables, last)
    };
    match &v.observation {
        None => inner(std::ptr::null(), tables)?,
        Some(o) => with_observation(o, |observation| inner(observation, tables))??,
    }
    result.ok_or_else(|| Fault::new(Status::Internal, "the tables were not used"))
}

// --- documents ------------------------------------------------------------------------------------------------------

struct Document<'a> {
    text: &'a str,
    json: OnceCell<Option<Json>>,
}

impl Document<'_> {
    fn at(&self, pointer: &str) -> Option<&Json> {
        self.json.get_or_init(|| serde_json::from_str(self.text).ok()).as_ref()?.pointer(pointer)
    }
}

/// A JSON document as a table; null without one.
pub fn with_doc<R>(source: Option<&str>, f: impl FnOnce(*const AgonDoc) -> R) -> R {
    let Some(source) = source else { return f(std::ptr::null()) };
    let document = Document { text: source, json: OnceCell::new() };
    let table = shaped(AgonDoc {
        struct_size: 0,
        text: text(source),
        ctx: (&raw const document).cast_mut().cast(),
        get_i64: Some(get_i64),
        get_str: Some(get_str),
        get_flag: Some(get_flag),
        get_len: Some(get_len),
        get_key: Some(get_key),
    });
    f(&raw const table)
}

/// Looks a value up and writes what `f` makes of it.
///
/// # Safety
/// `ctx` is the document of the table, which is alive; the others are what the plugin vouches for.
unsafe fn get<T>(ctx: *mut c_void, pointer: AgonStr, out: *mut T, f: impl FnOnce(&Json) -> Option<T>) -> u32 {
    // SAFETY: by the contract of this function.
    unsafe {
        let document = ctx.cast::<Document<'static>>().cast_const().as_ref();
        let pointer = borrowed(pointer.ptr, pointer.len).and_then(|p| std::str::from_utf8(p).ok());
        match (document, pointer) {
            (Some(document), Some(pointer)) if !out.is_null() => match document.at(pointer).and_then(f) {
                Some(value) => {
                    out.write(value);
                    1
                }
                None => 0,
            },
            _ => 0,
        }
    }
}

unsafe extern "C" fn get_i64(ctx: *mut c_void, pointer: AgonStr, out: *mut i64) -> u32 {
    // SAFETY: passed on.
    unsafe { get(ctx, pointer, out, Json::as_i64) }
}

unsafe extern "C" fn get_str(ctx: *mut c_void, pointer: AgonStr, out: *mut AgonStr) -> u32 {
    // SAFETY: passed on.
    unsafe { get(ctx, pointer, out, |v| v.as_str().map(AgonStr::new)) }
}

unsafe extern "C" fn get_flag(ctx: *mut c_void, pointer: AgonStr, out: *mut u32) -> u32 {
    // SAFETY: passed on.
    unsafe { get(ctx, pointer, out, |v| v.as_bool().map(u32::from)) }
}

unsafe extern "C" fn get_len(ctx: *mut c_void, pointer: AgonStr, out: *mut u64) -> u32 {
    let len = |v: &Json| match v {
        Json::Array(items) => Some(items.len() as u64),
        Json::Object(members) => Some(members.len() as u64),
        _ => None,
    };
    // SAFETY: passed on.
    unsafe { get(ctx, pointer, out, len) }
}

unsafe extern "C" fn get_key(ctx: *mut c_void, pointer: AgonStr, index: u64, out: *mut AgonStr) -> u32 {
    let key = |v: &Json| {
        let index = usize::try_from(index).ok()?;
        v.as_object()?.keys().nth(index).map(|k| AgonStr::new(k))
    };
    // SAFETY: passed on.
    unsafe { get(ctx, pointer, out, key) }
}
