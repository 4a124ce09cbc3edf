//! The host's sinks: they copy what a call emits and check it against what the plugin declared.
//!
//! A sink outlives its call for a while, so that a plugin which emits after its call has returned is found out rather
//! than writing into memory that is used for something else.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::hash::Hasher as _;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use agon_abi::{
    self as abi, AGON_NO_VALUE, AgonArg, AgonBytes, AgonExchange, AgonExpect, AgonFollowUp, AgonRange, AgonSink,
    AgonStep, AgonStr, field,
};

use crate::describe::{self, Description};
use crate::values::{
    Accepted, Arg, Artifact, Blame, Collect, Condition, Diagnostic, Evidence, Exchange, Expect, Fault, FollowUp,
    FollowUpKind, Framing, Level, Piece, Place, ScriptEntry, Soundness, Status, Step, Stream, Transform, Value, When,
};

/// Which call a sink belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `describe`
    Describe,
    /// `open`
    Open,
    /// `prepare`
    Prepare,
    /// `judge`
    Judge,
    /// `run_internal`
    RunInternal,
    /// `conclude`
    Conclude,
    /// `explain`
    Explain,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Call::Describe => "describe",
            Call::Open => "open",
            Call::Prepare => "prepare",
            Call::Judge => "judge",
            Call::RunInternal => "run_internal",
            Call::Conclude => "conclude",
            Call::Explain => "explain",
        }
    }
}

/// The most bytes that one call may emit in process.
const MOST_BYTES: usize = 2 << 30;
/// The most remarks, columns, artifacts, steps and so on of one call.
const MOST_ITEMS: usize = 1 << 20;

/// What a call emitted.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub text: Vec<u8>,
    pub has_text: bool,
    pub verdict: Option<(String, Soundness, Condition, Blame)>,
    pub columns: BTreeMap<String, Value>,
    pub artifacts: Vec<Artifact>,
    pub steps: Vec<Step>,
    pub transforms: Vec<Transform>,
    pub collect: Vec<Collect>,
    pub follow_ups: Vec<FollowUp>,
    pub diagnostics: Vec<Diagnostic>,
    pub evidence: Vec<Evidence>,
}

struct State {
    call: Call,
    operation: Option<String>,
    description: *const Description,
    cancel: *const AtomicBool,
    out: Collected,
    artifact: Option<Artifact>,
    failed: Option<Fault>,
    violation: Option<Fault>,
    bytes: usize,
    items: usize,
    hash: std::hash::DefaultHasher,
}

struct Slot {
    sink: AgonSink,
    /// Whether the call is under way.
    open: AtomicBool,
    /// On which thread.
    thread: AtomicU64,
    /// Emits from another thread during the call.
    foreign: AtomicU32,
    state: UnsafeCell<Option<State>>,
}

/// How many emits came after their call had returned, in this process.
static LATE: AtomicU32 = AtomicU32::new(0);

/// How many emits came after their call had returned, in this process.
pub fn late_emits() -> u32 {
    LATE.load(Ordering::Acquire)
}

/// How many sinks rest after their call before one is used again, for each thread.
const REST: usize = 64;

struct Resting(VecDeque<*mut Slot>);

impl Drop for Resting {
    fn drop(&mut self) {
        // Their memory stays: a plugin may still point to it. Threads of a host are few.
    }
}

thread_local! {
    static HERE: Cell<u8> = const { Cell::new(0) };
    static RESTING: RefCell<Resting> = const { RefCell::new(Resting(VecDeque::new())) };
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// A number for this thread.
fn here() -> u64 {
    HERE.with(|h| h.as_ptr() as u64)
}

/// A number for all that the last call on this thread emitted, in its order: equal emits have equal numbers within one
/// build of the host.
pub fn last_emits() -> u64 {
    LAST.with(Cell::get)
}

/// A call was left to its default, which emits nothing.
pub(super) fn nothing_emitted() {
    LAST.with(|l| l.set(0));
}

/// The sink of one call.
pub(super) struct Collector<'a> {
    slot: *mut Slot,
    _borrowed: PhantomData<&'a ()>,
}

impl<'a> Collector<'a> {
    pub fn new(call: Call, description: &'a Description, cancel: &'a AtomicBool) -> Self {
        let rested = RESTING.with(|r| {
            let mut r = r.borrow_mut();
            if r.0.len() >= REST { r.0.pop_front() } else { None }
        });
        let slot = rested.unwrap_or_else(|| {
            let slot = Box::into_raw(Box::new(Slot {
                sink: SINK,
                open: AtomicBool::new(false),
                thread: AtomicU64::new(0),
                foreign: AtomicU32::new(0),
                state: UnsafeCell::new(None),
            }));
            // SAFETY: it was just made, and nobody else has it.
            unsafe { (*slot).sink.ctx = slot.cast() };
            slot
        });
        // SAFETY: the slot is closed, so that only this thread uses its state.
        unsafe {
            *(*slot).state.get() = Some(State {
                call,
                operation: None,
                description,
                cancel,
                out: Collected::default(),
                artifact: None,
                failed: None,
                violation: None,
                bytes: 0,
                items: 0,
                hash: std::hash::DefaultHasher::new(),
            });
            (*slot).foreign.store(0, Ordering::Relaxed);
            (*slot).thread.store(here(), Ordering::Relaxed);
            (*slot).open.store(true, Ordering::Release);
        }
        Self { slot, _borrowed: PhantomData }
    }

    /// Says which operation runs: its columns are declared apart.
    pub fn operation(self, name: &str) -> Self {
        // SAFETY: the call has not begun; only this thread has the slot.
        if let Some(state) = unsafe { &mut *(*self.slot).state.get() } {
            state.operation = Some(name.to_string());
        }
        self
    }

    pub fn sink(&self) -> *const AgonSink {
        // SAFETY: slots are never freed.
        unsafe { &raw const (*self.slot).sink }
    }

    /// Ends the call: what was emitted, or why it came to nothing.
    pub fn finish(self, status: i32) -> Result<Collected, Fault> {
        // SAFETY: slots are never freed, and the state is used by this thread alone.
        let (state, foreign) = unsafe {
            (*self.slot).open.store(false, Ordering::Release);
            ((*(*self.slot).state.get()).take(), (*self.slot).foreign.load(Ordering::Acquire))
        };
        drop(self);
        super::marshal::overwrite_lent();
        let Some(mut state) = state else {
            return Err(Fault::new(Status::Internal, "the state of a call is gone"));
        };
        LAST.with(|l| l.set(state.hash.finish()));
        let call = state.call.name();
        let contract = |why: String| Err(Fault::new(Status::Contract, why));
        if let Some(violation) = state.violation {
            return Err(violation);
        }
        if foreign > 0 {
            return contract(format!("`{call}` emitted from another thread than the one it was called on (rule 7)"));
        }
        if let Some(artifact) = state.artifact {
            return contract(format!("`{call}` did not end the artifact `{}` (rule 16)", artifact.name));
        }
        match (status, Status::from_code(status), state.failed.take()) {
            (abi::AGON_OK, _, None) => Ok(state.out),
            (abi::AGON_OK, _, Some(fault)) => {
                contract(format!("`{call}` called `fail` and returned that all is well (rule 13): {fault}"))
            }
            (_, Some(status), Some(fault)) if fault.status == status => Err(fault),
            (_, Some(status), Some(fault)) => contract(format!(
                "`{call}` returned the status {status} and told `fail` the status {} (rule 13): {fault}",
                fault.status
            )),
            (_, Some(status), None) => {
                let mut fault = Fault::new(status, format!("`{call}` failed and did not say why (rule 13)"));
                if !matches!(status, Status::Panic | Status::Internal | Status::InvalidArgument) {
                    fault.status = Status::Contract;
                    fault.message = format!("`{call}` returned the status {status} without a call of `fail` (rule 13)");
                }
                Err(fault.blame(Blame::Plugin))
            }
            (other, None, _) => contract(format!("`{call}` returned {other}, which is no known status (rule 3)")),
        }
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        // SAFETY: slots are never freed.
        unsafe { (*self.slot).open.store(false, Ordering::Release) };
        RESTING.with(|r| r.borrow_mut().0.push_back(self.slot));
    }
}

/// The bytes that a plugin lends; none if they are null with a length.
///
/// # Safety
/// The plugin vouches for them during the call.
pub(super) unsafe fn borrowed<'a>(ptr: *const u8, len: u64) -> Option<&'a [u8]> {
    if ptr.is_null() {
        return (len == 0).then_some(&[]);
    }
    let len = usize::try_from(len).ok().filter(|l| isize::try_from(*l).is_ok())?;
    // SAFETY: by the contract of this function.
    Some(unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// What a function of the sink does with the state; an error is a violation.
type Done = Result<(), String>;

impl State {
    fn only_in(&self, function: &str, calls: &[Call]) -> Done {
        if calls.contains(&self.call) {
            return Ok(());
        }
        Err(format!("`{}` called `{function}`, which does not belong there (rule 16)", self.call.name()))
    }

    fn text_of(&mut self, text: AgonStr, what: &str) -> Result<String, String> {
        // SAFETY: the plugin vouches for its text during the call.
        let bytes = unsafe { borrowed(text.ptr, text.len) }
            .ok_or_else(|| format!("`{}` gave {what} as null, with a length of {}", self.call.name(), text.len))?;
        self.count(bytes.len())?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| format!("`{}` gave {what} that is not UTF-8 (rule 2)", self.call.name()))?;
        Ok(text.to_string())
    }

    fn optional_text(&mut self, text: AgonStr, what: &str) -> Result<Option<String>, String> {
        if text.ptr.is_null() && text.len == 0 { Ok(None) } else { self.text_of(text, what).map(Some) }
    }

    fn bytes_of(&mut self, bytes: AgonBytes, what: &str) -> Result<Vec<u8>, String> {
        // SAFETY: the plugin vouches for its bytes during the call.
        let bytes = unsafe { borrowed(bytes.ptr, bytes.len) }
            .ok_or_else(|| format!("`{}` gave {what} as null, with a length of {}", self.call.name(), bytes.len))?;
        self.count(bytes.len())?;
        Ok(bytes.to_vec())
    }

    fn count(&mut self, bytes: usize) -> Done {
        self.bytes = self.bytes.saturating_add(bytes);
        self.count_many(1)
    }

    fn count_many(&mut self, items: usize) -> Done {
        self.items = self.items.saturating_add(items);
        if self.bytes > MOST_BYTES || self.items > MOST_ITEMS * 16 {
            return Err(format!(
                "`{}` emitted more than {MOST_BYTES} bytes or {} items",
                self.call.name(),
                MOST_ITEMS * 16
            ));
        }
        Ok(())
    }

    fn description(&self) -> &Description {
        // SAFETY: the collector borrows it as long as the call lasts.
        unsafe { &*self.description }
    }

    fn column(&mut self, name: AgonStr, value: Value) -> Done {
        self.only_in("column_…", &[Call::Judge, Call::Conclude, Call::RunInternal])?;
        let name = self.text_of(name, "the name of a column")?;
        let call = self.call.name();
        let description = self.description();
        let fields = match &self.operation {
            None => &description.fields,
            Some(operation) => match description.operations.iter().find(|o| o.name == *operation) {
                Some(operation) => &operation.fields,
                None => return Err(format!("the operation `{operation}` is not declared (rule 16)")),
            },
        };
        let Some(field) = describe::find(fields, &name) else {
            let declared = fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "`{call}` emitted the column `{name}`, which is not declared (rule 16); declared are: {declared}"
            ));
        };
        field
            .ty
            .accepts(&value)
            .map_err(|why| format!("`{call}` emitted the column `{name}`, which {why} (rule 16)"))?;
        if let Value::Ratio(text) = &value
            && !is_ratio(text)
        {
            return Err(format!(
                "`{call}` emitted {text:?} for the column `{name}`, which is no exact number (rule 15)"
            ));
        }
        let value = match (value, &field.ty) {
            (Value::Text(word), describe::FieldType::Words(_)) => Value::Word(word),
            (other, _) => other,
        };
        self.hash.write(name.as_bytes());
        self.hash.write(format!("{value:?}").as_bytes());
        self.out.columns.insert(name, value);
        Ok(())
    }

    fn args(&mut self, args: *const AgonArg, n: u64, what: &str) -> Result<Vec<Arg>, String> {
        if n == 0 {
            return Ok(Vec::new());
        }
        if args.is_null() || n > MOST_ITEMS as u64 {
            return Err(format!("`{}` gave {n} {what}, at null or too many", self.call.name()));
        }
        (0..usize::try_from(n).unwrap_or(0))
            // SAFETY: the plugin vouches for its array during the call.
            .map(|i| self.arg(unsafe { args.add(i).read() }, what))
            .collect()
    }

    fn arg(&mut self, arg: AgonArg, what: &str) -> Result<Arg, String> {
        let bytes = self.bytes_of(arg.text, what)?;
        let call = self.call.name();
        let name = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .map_err(|_| format!("`{call}` gave a name among {what} that is not UTF-8 (rule 2)"))
        };
        Ok(match arg.kind {
            abi::AGON_ARG_TEXT => Arg::Text(bytes),
            abi::AGON_ARG_BENCHMARK => Arg::Benchmark,
            abi::AGON_ARG_COMMAND => Arg::Command,
            abi::AGON_ARG_OUTPUT_OF => Arg::OutputOf(name(bytes)?),
            abi::AGON_ARG_TOOL => Arg::Tool(name(bytes)?),
            abi::AGON_ARG_COLLECTED => Arg::Collected(name(bytes)?),
            abi::AGON_ARG_ARTIFACT => Arg::Artifact(name(bytes)?),
            abi::AGON_ARG_NOTHING => Arg::Nothing,
            abi::AGON_ARG_ORIGINAL => Arg::Original,
            other => return Err(format!("`{call}` gave {other} among {what}, which is no known kind (rule 3)")),
        })
    }

    fn texts(&mut self, texts: *const AgonStr, n: u64, what: &str) -> Result<Vec<String>, String> {
        if n == 0 {
            return Ok(Vec::new());
        }
        if texts.is_null() || n > MOST_ITEMS as u64 {
            return Err(format!("`{}` gave {n} {what}, at null or too many", self.call.name()));
        }
        (0..usize::try_from(n).unwrap_or(0))
            // SAFETY: the plugin vouches for its array during the call.
            .map(|i| self.text_of(unsafe { texts.add(i).read() }, what))
            .collect()
    }

    /// # Safety
    /// The plugin vouches for its table during the call.
    unsafe fn expect(&mut self, raw: *const AgonExpect) -> Result<Expect, String> {
        // SAFETY: as above.
        unsafe {
            let Some(framing) = field!(raw, AgonExpect, framing) else {
                return Err("`prepare` gave an expectation without a table".into());
            };
            let framing = self.coded(Framing::from_code(framing), framing, "framing")?;
            let flags = field!(raw, AgonExpect, flags).unwrap_or(0);
            let known = abi::AGON_EXPECT_TIMED | abi::AGON_EXPECT_STOP_UNLESS | abi::AGON_EXPECT_SKIP_BLANK;
            if flags & !known != 0 {
                return Err(format!(
                    "`prepare` gave the flags {flags:#x} for an expectation; known are {known:#x} (rule 3)"
                ));
            }
            let label = self.text_of(field!(raw, AgonExpect, label).unwrap_or(AgonStr::NONE), "a label")?;
            let accept = field!(raw, AgonExpect, accept).unwrap_or(std::ptr::null());
            let n = field!(raw, AgonExpect, n_accept).unwrap_or(0);
            if n > MOST_ITEMS as u64 || (n > 0 && accept.is_null()) {
                return Err(format!("`prepare` gave {n} accepted responses, at null or too many"));
            }
            let accept = (0..usize::try_from(n).unwrap_or(0))
                .map(|i| self.bytes_of(accept.add(i).read(), "an accepted response").map(Accepted))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Expect {
                framing,
                label,
                timed: flags & abi::AGON_EXPECT_TIMED != 0,
                skip_blank: flags & abi::AGON_EXPECT_SKIP_BLANK != 0,
                accept,
                stop_unless_accepted: flags & abi::AGON_EXPECT_STOP_UNLESS != 0,
            })
        }
    }

    fn coded<T: Copy + std::fmt::Display>(&self, value: Option<T>, code: u32, what: &str) -> Result<T, String> {
        value.ok_or_else(|| format!("`{}` gave {code}, which is no known {what} (rule 3)", self.call.name()))
    }

    fn artifact(&mut self, function: &str) -> Result<&mut Artifact, String> {
        let call = self.call.name();
        self.artifact.as_mut().ok_or_else(|| format!("`{call}` called `{function}` without an artifact (rule 16)"))
    }

    fn last_step(&mut self, function: &str) -> Result<&mut Step, String> {
        let call = self.call.name();
        self.out.steps.last_mut().ok_or_else(|| format!("`{call}` called `{function}` before the first step (rule 16)"))
    }

    fn role(&self, role: &str) -> Done {
        let description = self.description();
        if description.roles.iter().any(|(name, _)| name == role) {
            return Ok(());
        }
        Err(format!("`{}` named the role `{role}`, which is not declared (rule 16)", self.call.name()))
    }
}

/// Whether this is an exact number: an integer, a decimal, or a quotient of integers whose divisor is not 0.
fn is_ratio(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    match (text.split_once('/'), text.split_once('.')) {
        (Some((n, d)), None) => digits(n) && digits(d) && d.bytes().any(|b| b != b'0'),
        (None, Some((whole, part))) => digits(whole) && digits(part),
        (None, None) => digits(text),
        _ => false,
    }
}

/// Runs what a function of the sink does: only while its call is under way, on its thread, and once nothing has been
/// refused yet.
///
/// # Safety
/// `ctx` came from a sink of this module.
unsafe fn on(ctx: *mut c_void, mark: &str, f: impl FnOnce(&mut State) -> Done) -> i32 {
    let slot = ctx.cast::<Slot>();
    if slot.is_null() {
        return abi::AGON_CONTRACT;
    }
    // SAFETY: slots are never freed. The state is used only by the thread that the call is on, which is this one.
    unsafe {
        if !(*slot).open.load(Ordering::Acquire) {
            LATE.fetch_add(1, Ordering::AcqRel);
            return abi::AGON_CONTRACT;
        }
        if (*slot).thread.load(Ordering::Relaxed) != here() {
            (*slot).foreign.fetch_add(1, Ordering::AcqRel);
            return abi::AGON_CONTRACT;
        }
        let Some(state) = &mut *(*slot).state.get() else { return abi::AGON_CONTRACT };
        if state.violation.is_some() {
            return abi::AGON_CONTRACT;
        }
        state.hash.write(mark.as_bytes());
        match f(state) {
            Ok(()) => abi::AGON_OK,
            Err(why) => {
                state.violation = Some(Fault::new(Status::Contract, why));
                abi::AGON_CONTRACT
            }
        }
    }
}

/// The table that all sinks share, but for the context.
const SINK: AgonSink = AgonSink {
    struct_size: size_of::<AgonSink>() as u64,
    ctx: std::ptr::null_mut(),
    fail: Some(fail),
    cancelled: Some(cancelled),
    diagnostic: Some(diagnostic),
    text: Some(text),
    verdict: Some(verdict),
    column_i64: Some(column_i64),
    column_u64: Some(column_u64),
    column_ratio: Some(column_ratio),
    column_str: Some(column_str),
    column_flag: Some(column_flag),
    column_time: Some(column_time),
    column_memory: Some(column_memory),
    artifact_begin: Some(artifact_begin),
    artifact_write: Some(artifact_write),
    artifact_end: Some(artifact_end),
    artifact_copy: Some(artifact_copy),
    step: Some(step),
    script_send: Some(script_send),
    script_expect: Some(script_expect),
    transform: Some(transform),
    collect: Some(collect),
    follow_up: Some(follow_up),
    evidence: Some(evidence),
    script_exchange: Some(script_exchange),
};

const VERDICTS: [Call; 2] = [Call::Judge, Call::Conclude];
const ARTIFACTS: [Call; 3] = [Call::Judge, Call::Conclude, Call::RunInternal];

unsafe extern "C" fn fail(
    ctx: *mut c_void,
    status: i32,
    blame: u32,
    message: AgonStr,
    pointer: AgonStr,
    hint: AgonStr,
) -> i32 {
    // A failure is told even after a refusal: it is the refusal that counts then.
    let slot = ctx.cast::<Slot>();
    // SAFETY: as in `on`.
    unsafe {
        if !slot.is_null()
            && (*slot).open.load(Ordering::Acquire)
            && (*slot).thread.load(Ordering::Relaxed) == here()
            && (*(*slot).state.get()).as_ref().is_some_and(|s| s.violation.is_some())
        {
            return abi::AGON_OK;
        }
        on(ctx, "fail", |s| {
            if s.failed.is_some() {
                return Err(format!("`{}` called `fail` twice (rule 13)", s.call.name()));
            }
            let known = Status::from_code(status).ok_or_else(|| {
                format!("`{}` told `fail` {status}, which is no known status (rule 3)", s.call.name())
            })?;
            let mut fault = Fault::new(known, s.text_of(message, "a message")?);
            fault.blame = s.coded(Blame::from_code(blame), blame, "blame")?;
            fault.pointer = s.optional_text(pointer, "a pointer")?;
            fault.hint = s.optional_text(hint, "a hint")?;
            s.failed = Some(fault);
            Ok(())
        })
    }
}

unsafe extern "C" fn cancelled(ctx: *mut c_void) -> u32 {
    let slot = ctx.cast::<Slot>();
    if slot.is_null() {
        return 1;
    }
    // SAFETY: slots are never freed; while the call is under way, the state is there. A thread of the plugin's own may
    // ask, too: the flag is atomic and lives as long as the call.
    unsafe {
        if !(*slot).open.load(Ordering::Acquire) {
            LATE.fetch_add(1, Ordering::AcqRel);
            return 1;
        }
        match &*(*slot).state.get() {
            Some(state) => u32::from((*state.cancel).load(Ordering::Acquire)),
            None => 1,
        }
    }
}

unsafe extern "C" fn diagnostic(ctx: *mut c_void, level: u32, code: AgonStr, message: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "diagnostic", |s| {
            let level = s.coded(Level::from_code(level), level, "level")?;
            let code = s.text_of(code, "a code")?;
            let message = s.text_of(message, "a remark")?;
            s.hash.write(message.as_bytes());
            s.out.diagnostics.push(Diagnostic { level, code, message });
            Ok(())
        })
    }
}

unsafe extern "C" fn text(ctx: *mut c_void, bytes: AgonBytes) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "", |s| {
            s.only_in("text", &[Call::Describe, Call::Prepare, Call::RunInternal, Call::Explain])?;
            let bytes = s.bytes_of(bytes, "text")?;
            s.hash.write(&bytes);
            s.out.has_text = true;
            s.out.text.extend_from_slice(&bytes);
            Ok(())
        })
    }
}

unsafe extern "C" fn verdict(ctx: *mut c_void, answer: AgonStr, soundness: u32, condition: u32, blame: u32) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "verdict", |s| {
            s.only_in("verdict", &VERDICTS)?;
            let answer = s.text_of(answer, "an answer")?;
            if !s.description().answers.contains(&answer) {
                let declared = s.description().answers.join(", ");
                let call = s.call.name();
                return Err(format!(
                    "`{call}` gave the answer {answer:?}, which is not declared (rule 16); declared are: {declared}"
                ));
            }
            let soundness = s.coded(Soundness::from_code(soundness), soundness, "soundness")?;
            let condition = s.coded(Condition::from_code(condition), condition, "condition")?;
            let blame = s.coded(Blame::from_code(blame), blame, "blame")?;
            s.hash.write(answer.as_bytes());
            s.hash.write_u32(soundness.code() << 16 | condition.code() << 8 | blame.code());
            if s.description().fields.iter().any(|f| f.name == "answer") {
                s.out.columns.insert("answer".into(), Value::Word(answer.clone()));
            }
            s.out.verdict = Some((answer, soundness, condition, blame));
            Ok(())
        })
    }
}

unsafe extern "C" fn column_i64(ctx: *mut c_void, name: AgonStr, value: i64) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe { on(ctx, "i64", |s| s.column(name, Value::Int(value))) }
}

unsafe extern "C" fn column_u64(ctx: *mut c_void, name: AgonStr, value: u64) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe { on(ctx, "u64", |s| s.column(name, Value::UInt(value))) }
}

unsafe extern "C" fn column_ratio(ctx: *mut c_void, name: AgonStr, value: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "ratio", |s| {
            let value = s.text_of(value, "the value of a column")?;
            s.column(name, Value::Ratio(value))
        })
    }
}

unsafe extern "C" fn column_str(ctx: *mut c_void, name: AgonStr, value: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "str", |s| {
            let value = s.text_of(value, "the value of a column")?;
            s.column(name, Value::Text(value))
        })
    }
}

unsafe extern "C" fn column_flag(ctx: *mut c_void, name: AgonStr, value: u32) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "flag", |s| {
            if value > 1 {
                return Err(format!("`{}` gave {value} as a truth value (rule 3)", s.call.name()));
            }
            s.column(name, Value::Flag(value == 1))
        })
    }
}

unsafe extern "C" fn column_time(ctx: *mut c_void, name: AgonStr, nanoseconds: u64) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe { on(ctx, "time", |s| s.column(name, Value::Time(nanoseconds))) }
}

unsafe extern "C" fn column_memory(ctx: *mut c_void, name: AgonStr, bytes: u64) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe { on(ctx, "memory", |s| s.column(name, Value::Memory(bytes))) }
}

unsafe extern "C" fn artifact_begin(ctx: *mut c_void, name: AgonStr, kind: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "artifact", |s| {
            s.only_in("artifact_begin", &ARTIFACTS)?;
            let name = s.text_of(name, "the name of an artifact")?;
            let kind = s.text_of(kind, "the kind of an artifact")?;
            let call = s.call.name();
            if !s.description().artifacts.iter().any(|(declared, _)| *declared == name) {
                return Err(format!("`{call}` emitted the artifact `{name}`, which is not declared (rule 16)"));
            }
            if s.artifact.is_some() {
                return Err(format!("`{call}` began the artifact `{name}` within another (rule 16)"));
            }
            s.hash.write(name.as_bytes());
            s.hash.write(kind.as_bytes());
            s.artifact = Some(Artifact { name, kind, pieces: Vec::new() });
            Ok(())
        })
    }
}

unsafe extern "C" fn artifact_write(ctx: *mut c_void, bytes: AgonBytes) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "", |s| {
            let bytes = s.bytes_of(bytes, "an artifact")?;
            s.hash.write(&bytes);
            let artifact = s.artifact("artifact_write")?;
            match artifact.pieces.last_mut() {
                Some(Piece::Bytes(before)) => before.extend_from_slice(&bytes),
                _ => artifact.pieces.push(Piece::Bytes(bytes)),
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn artifact_end(ctx: *mut c_void) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "end", |s| {
            s.artifact("artifact_end")?;
            s.out.artifacts.extend(s.artifact.take());
            Ok(())
        })
    }
}

unsafe extern "C" fn artifact_copy(ctx: *mut c_void, stream: u32, step: u32, from: u64, to: u64) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "copy", |s| {
            let stream = s.coded(Stream::from_code(stream), stream, "stream")?;
            if from > to {
                return Err(format!("`{}` gave a range of bytes that ends before it begins", s.call.name()));
            }
            s.count(0)?;
            s.hash.write_u64(from);
            s.hash.write_u64(to);
            s.artifact("artifact_copy")?.pieces.push(Piece::Copy { stream, step, from, to });
            Ok(())
        })
    }
}

unsafe extern "C" fn step(ctx: *mut c_void, raw: *const AgonStep) -> i32 {
    // SAFETY: the context is the host's own; the plugin vouches for its table during the call.
    unsafe {
        on(ctx, "step", |s| {
            s.only_in("step", &[Call::Prepare])?;
            let Some(name) = field!(raw, AgonStep, name) else {
                return Err("`prepare` gave a step without a table".into());
            };
            let name = s.text_of(name, "the name of a step")?;
            let after = s.texts(
                field!(raw, AgonStep, after).unwrap_or(std::ptr::null()),
                field!(raw, AgonStep, n_after).unwrap_or(0),
                "the names of steps",
            )?;
            let when = field!(raw, AgonStep, when).unwrap_or(abi::AGON_WHEN_SUCCEEDED);
            let when = s.coded(When::from_code(when), when, "condition of a step")?;
            let argv = s.args(
                field!(raw, AgonStep, argv).unwrap_or(std::ptr::null()),
                field!(raw, AgonStep, n_argv).unwrap_or(0),
                "words of a command",
            )?;
            let input = match field!(raw, AgonStep, input) {
                Some(input) => s.arg(input, "an input")?,
                None => Arg::Nothing,
            };
            let limits = s.optional_text(field!(raw, AgonStep, limits).unwrap_or(AgonStr::NONE), "limits")?;
            let earlier = |wanted: &str| s.out.steps.iter().any(|step| step.name == wanted);
            if name.is_empty() || earlier(&name) {
                return Err(format!("`prepare` gave two steps the name {name:?}, or none (rule 16)"));
            }
            let outputs = argv.iter().chain([&input]).filter_map(|arg| match arg {
                Arg::OutputOf(step) => Some(step),
                _ => None,
            });
            if let Some(missing) = after.iter().chain(outputs).find(|step| !earlier(step)) {
                return Err(format!("the step `{name}` refers to `{missing}`, which is no earlier step (rule 16)"));
            }
            if argv.is_empty() {
                return Err(format!("the step `{name}` has no command (rule 16)"));
            }
            for arg in argv.iter().chain([&input]) {
                if let Arg::Tool(role) = arg {
                    s.role(role)?;
                }
            }
            if argv.iter().skip(1).any(|arg| matches!(arg, Arg::Command | Arg::Tool(_) | Arg::Nothing)) {
                return Err(format!("the step `{name}` has a command among the arguments of a command (rule 16)"));
            }
            s.hash.write(format!("{name}{after:?}{argv:?}{input:?}{limits:?}{when}").as_bytes());
            let patience_ns = field!(raw, AgonStep, patience_ns).filter(|time| *time != AGON_NO_VALUE);
            s.hash.write(format!("{patience_ns:?}").as_bytes());
            s.out.steps.push(Step { name, after, when, argv, input, limits, script: Vec::new(), patience_ns });
            Ok(())
        })
    }
}

unsafe extern "C" fn script_send(ctx: *mut c_void, bytes: AgonBytes) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "send", |s| {
            s.only_in("script_send", &[Call::Prepare])?;
            let bytes = s.bytes_of(bytes, "bytes to send")?;
            s.hash.write(&bytes);
            s.last_step("script_send")?.script.push(ScriptEntry::Send(bytes));
            Ok(())
        })
    }
}

unsafe extern "C" fn script_expect(ctx: *mut c_void, raw: *const AgonExpect) -> i32 {
    // SAFETY: the context is the host's own; the plugin vouches for its table during the call.
    unsafe {
        on(ctx, "expect", |s| {
            s.only_in("script_expect", &[Call::Prepare])?;
            let expect = s.expect(raw)?;
            s.hash.write(format!("{expect:?}").as_bytes());
            s.last_step("script_expect")?.script.push(ScriptEntry::Expect(expect));
            Ok(())
        })
    }
}

unsafe extern "C" fn script_exchange(ctx: *mut c_void, raw: *const AgonExchange) -> i32 {
    // SAFETY: the context is the host's own; the plugin vouches for its tables during the call.
    unsafe {
        on(ctx, "exchange", |s| {
            s.only_in("script_exchange", &[Call::Prepare])?;
            let (pieces, n) = (field!(raw, AgonExchange, pieces), field!(raw, AgonExchange, n_pieces));
            let (Some(pieces), Some(n), Some(expect)) = (pieces, n, field!(raw, AgonExchange, expect)) else {
                return Err("`prepare` gave an exchange without a table".into());
            };
            let expect = s.expect(expect)?;
            if expect.framing == Framing::Eof {
                return Err(
                    "`prepare` gave an exchange whose responses go on to the end of the output (rule 16)".into()
                );
            }
            if n > MOST_ITEMS as u64 || (n > 0 && (pieces.is_null() || !pieces.is_aligned())) {
                return Err(format!("`prepare` gave {n} pieces of an exchange, at null, misaligned or too many"));
            }
            let n = usize::try_from(n).unwrap_or(0);
            s.count_many(n)?;
            s.hash.write(format!("{expect:?}").as_bytes());
            let mut copied = Vec::with_capacity(n);
            for i in 0..n {
                let AgonRange { from, to } = pieces.add(i).read();
                if from > to {
                    return Err(format!(
                        "`prepare` gave a piece of an exchange from byte {from} to byte {to} (rule 16)"
                    ));
                }
                s.hash.write_u64(from);
                s.hash.write_u64(to);
                copied.push(Place { from, to });
            }
            let pieces = copied.into();
            s.last_step("script_exchange")?.script.push(ScriptEntry::Exchange(Exchange { pieces, expect }));
            Ok(())
        })
    }
}

unsafe extern "C" fn transform(ctx: *mut c_void, name: AgonStr, mode: AgonStr, flags: u32) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "transform", |s| {
            s.only_in("transform", &[Call::Prepare])?;
            let name = s.text_of(name, "a transformation")?;
            let mode = s.text_of(mode, "a mode")?;
            if flags & !abi::AGON_TRANSFORM_THEN_AGAIN != 0 {
                return Err(format!("`prepare` gave the flags {flags:#x} for a transformation (rule 3)"));
            }
            if !s.description().transforms.contains(&name) {
                return Err(format!(
                    "`prepare` asked for the transformation `{name}`, which is not declared (rule 16)"
                ));
            }
            s.hash.write(format!("{name} {mode} {flags}").as_bytes());
            s.out.transforms.push(Transform { name, mode, then_again: flags & abi::AGON_TRANSFORM_THEN_AGAIN != 0 });
            Ok(())
        })
    }
}

unsafe extern "C" fn collect(ctx: *mut c_void, name: AgonStr, path: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "collect", |s| {
            s.only_in("collect", &[Call::Prepare])?;
            let name = s.text_of(name, "the name of a file")?;
            let path = s.text_of(path, "a path")?;
            let inside = !path.is_empty()
                && std::path::Path::new(&path).components().all(|c| matches!(c, std::path::Component::Normal(_)));
            if !inside {
                return Err(format!(
                    "`prepare` asked for the file {path:?}, which is not within the run's folder (rule 8)"
                ));
            }
            s.hash.write(format!("{name} {path}").as_bytes());
            s.out.collect.push(Collect { name, path });
            Ok(())
        })
    }
}

unsafe extern "C" fn follow_up(ctx: *mut c_void, raw: *const AgonFollowUp) -> i32 {
    // SAFETY: the context is the host's own; the plugin vouches for its table during the call.
    unsafe {
        on(ctx, "follow-up", |s| {
            s.only_in("follow_up", &[Call::Judge])?;
            let Some(kind) = field!(raw, AgonFollowUp, kind) else {
                return Err("`judge` gave a follow-up without a table".into());
            };
            let kind = s.coded(FollowUpKind::from_code(kind), kind, "kind of follow-up")?;
            let role = s.text_of(field!(raw, AgonFollowUp, role).unwrap_or(AgonStr::NONE), "a role")?;
            let key = s.text_of(field!(raw, AgonFollowUp, dedup_key).unwrap_or(AgonStr::NONE), "a key")?;
            let n = field!(raw, AgonFollowUp, n_inputs).unwrap_or(0);
            let names = s.texts(field!(raw, AgonFollowUp, names).unwrap_or(std::ptr::null()), n, "names of inputs")?;
            let inputs = s.args(field!(raw, AgonFollowUp, inputs).unwrap_or(std::ptr::null()), n, "inputs")?;
            let limits = s.optional_text(field!(raw, AgonFollowUp, limits).unwrap_or(AgonStr::NONE), "limits")?;
            match kind {
                FollowUpKind::External => s.role(&role)?,
                FollowUpKind::Internal => {
                    if !s.description().operations.iter().any(|o| o.name == role) {
                        return Err(format!(
                            "`judge` asked for the operation `{role}`, which is not declared (rule 16)"
                        ));
                    }
                }
            }
            for input in &inputs {
                let wrong = match input {
                    Arg::Artifact(name) if !s.out.artifacts.iter().any(|a| a.name == *name) => {
                        format!("the artifact `{name}`, which was not emitted before")
                    }
                    Arg::Command | Arg::Tool(_) | Arg::Nothing => "a command".to_string(),
                    _ => continue,
                };
                return Err(format!("`judge` gave a follow-up for `{role}` {wrong} as an input (rule 16)"));
            }
            let inputs: Vec<(String, Arg)> = names.into_iter().zip(inputs).collect();
            s.hash.write(format!("{kind} {role} {key} {inputs:?} {limits:?}").as_bytes());
            s.out.follow_ups.push(FollowUp { kind, role, dedup_key: key, inputs, limits });
            Ok(())
        })
    }
}

unsafe extern "C" fn evidence(ctx: *mut c_void, stream: u32, step: u32, from: u64, to: u64, note: AgonStr) -> i32 {
    // SAFETY: the context is the host's own.
    unsafe {
        on(ctx, "evidence", |s| {
            s.only_in("evidence", &[Call::Judge, Call::Conclude, Call::Explain, Call::RunInternal])?;
            let stream = s.coded(Stream::from_code(stream), stream, "stream")?;
            let note = s.text_of(note, "a note")?;
            if from > to {
                return Err(format!("`{}` gave a range of bytes that ends before it begins", s.call.name()));
            }
            s.hash.write(format!("{stream} {step} {from} {to} {note}").as_bytes());
            s.out.evidence.push(Evidence { stream, step, from, to, note });
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ratios() {
        for good in ["0", "-12", "3.25", "1/3", "-10/4"] {
            assert!(super::is_ratio(good), "{good}");
        }
        for bad in ["", "-", "1/0", "1.", ".5", "1e3", "1/-3", "NaN", "+1", "1/2.5", "--1", " 1"] {
            assert!(!super::is_ratio(bad), "{bad}");
        }
    }
}
