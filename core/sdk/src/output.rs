//! What a plugin emits, typed by the call that it emits in.
//!
//! Each function hands its arguments to the host, which copies them and checks them against what the plugin declared.
//! A fault from here is to be passed on with `?`.

use std::marker::PhantomData;
use std::ops::Deref;

use agon_abi::{
    self as abi, AGON_NO_VALUE, AgonArg, AgonBytes, AgonExchange, AgonExpect, AgonFollowUp, AgonRange, AgonSink,
    AgonStep, AgonStr, field,
};

use crate::values::{
    Arg, Blame, Condition, Evidence, Expect, Fault, FollowUp, FollowUpKind, Level, Piece, ScriptEntry, Soundness,
    Status, Step, Stream,
};

/// Calls a function of the sink, if the host has it.
macro_rules! emit {
    ($sink:expr, $name:ident $(, $argument:expr)*) => {{
        let sink: &Sink<'_> = $sink;
        // SAFETY: the sink was valid when the call began, and lives as long as the call.
        match unsafe { field!(sink.raw, AgonSink, $name) }.flatten() {
            Some(function) => {
                // SAFETY: as above; what the arguments point to lives until the function returns.
                let status = unsafe { function(sink.ctx() $(, $argument)*) };
                if status == abi::AGON_OK { Ok(()) } else { Err(sink.refused(stringify!($name), status)) }
            }
            None => Err(Fault::new(
                Status::Unsupported,
                concat!("the host has no function `", stringify!($name), "` in its sinks"),
            )),
        }
    }};
}

/// What every call may do.
#[derive(Debug)]
pub struct Sink<'a> {
    raw: *const AgonSink,
    _call: PhantomData<&'a ()>,
}

impl Sink<'_> {
    /// # Safety
    /// The sink is valid until the call that it belongs to returns.
    pub(crate) unsafe fn new(raw: *const AgonSink) -> Self {
        Self { raw, _call: PhantomData }
    }

    fn ctx(&self) -> *mut std::ffi::c_void {
        // SAFETY: as in `emit!`.
        unsafe { field!(self.raw, AgonSink, ctx) }.unwrap_or(std::ptr::null_mut())
    }

    fn refused(&self, function: &str, status: i32) -> Fault {
        let status = Status::from_code(status).unwrap_or(Status::Contract);
        Fault::new(status, format!("the host refused a call of `{function}`"))
    }

    /// Whether the call should return soon. Cheap.
    pub fn is_cancelled(&self) -> bool {
        // SAFETY: as in `emit!`.
        match unsafe { field!(self.raw, AgonSink, cancelled) }.flatten() {
            // SAFETY: as in `emit!`.
            Some(cancelled) => unsafe { cancelled(self.ctx()) != 0 },
            None => false,
        }
    }

    /// A fault when the call should return soon: to be asked every few milliseconds in anything long.
    pub fn check_cancelled(&self) -> Result<(), Fault> {
        if self.is_cancelled() { Err(Fault::new(Status::Cancelled, "cancelled by the host")) } else { Ok(()) }
    }

    /// A remark that is kept with the result.
    pub fn diagnostic(&self, level: Level, code: &str, message: &str) -> Result<(), Fault> {
        emit!(self, diagnostic, level.code(), AgonStr::new(code), AgonStr::new(message))
    }

    pub(crate) fn fail(&self, fault: &Fault) {
        let pointer = fault.pointer.as_deref().map_or(AgonStr::NONE, AgonStr::new);
        let hint = fault.hint.as_deref().map_or(AgonStr::NONE, AgonStr::new);
        let message = AgonStr::new(&fault.message);
        let _ = emit!(self, fail, fault.status.code(), fault.blame.code(), message, pointer, hint);
    }

    pub(crate) fn emit_text(&self, bytes: &[u8]) -> Result<(), Fault> {
        emit!(self, text, AgonBytes::new(bytes))
    }
}

/// What `prepare` may emit.
#[derive(Debug)]
pub struct Plan<'a>(pub(crate) Sink<'a>);

impl<'a> Deref for Plan<'a> {
    type Target = Sink<'a>;

    fn deref(&self) -> &Sink<'a> {
        &self.0
    }
}

/// A word of a command for the ABI.
fn arg(arg: &Arg) -> AgonArg {
    let (kind, text) = match arg {
        Arg::Text(bytes) => (abi::AGON_ARG_TEXT, AgonBytes::new(bytes)),
        Arg::Benchmark => (abi::AGON_ARG_BENCHMARK, AgonBytes::NONE),
        Arg::Command => (abi::AGON_ARG_COMMAND, AgonBytes::NONE),
        Arg::OutputOf(name) => (abi::AGON_ARG_OUTPUT_OF, AgonBytes::new(name.as_bytes())),
        Arg::Tool(name) => (abi::AGON_ARG_TOOL, AgonBytes::new(name.as_bytes())),
        Arg::Collected(name) => (abi::AGON_ARG_COLLECTED, AgonBytes::new(name.as_bytes())),
        Arg::Artifact(name) => (abi::AGON_ARG_ARTIFACT, AgonBytes::new(name.as_bytes())),
        Arg::Nothing => (abi::AGON_ARG_NOTHING, AgonBytes::NONE),
        Arg::Original => (abi::AGON_ARG_ORIGINAL, AgonBytes::NONE),
    };
    AgonArg { kind, reserved: 0, text }
}

/// An expectation for the ABI.
fn with_expect<R>(expect: &Expect, f: impl FnOnce(&AgonExpect) -> R) -> R {
    let accept: Vec<AgonBytes> = expect.accept.iter().map(|a| AgonBytes::new(&a.0)).collect();
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    f(&AgonExpect {
        struct_size: size_of::<AgonExpect>() as u64,
        framing: expect.framing.code(),
        flags: flag(expect.timed, abi::AGON_EXPECT_TIMED)
            | flag(expect.stop_unless_accepted, abi::AGON_EXPECT_STOP_UNLESS)
            | flag(expect.skip_blank, abi::AGON_EXPECT_SKIP_BLANK),
        label: AgonStr::new(&expect.label),
        accept: accept.as_ptr(),
        n_accept: accept.len() as u64,
    })
}

impl Plan<'_> {
    /// Appends to the text of the prepared benchmark. Without any, the benchmark is run as it is.
    pub fn text(&self, bytes: impl AsRef<[u8]>) -> Result<(), Fault> {
        self.emit_text(bytes.as_ref())
    }

    /// Adds a command with its script. Without any, the participant's command is run with the benchmark's path.
    pub fn step(&self, step: &Step) -> Result<(), Fault> {
        let after: Vec<AgonStr> = step.after.iter().map(|name| AgonStr::new(name)).collect();
        let argv: Vec<AgonArg> = step.argv.iter().map(arg).collect();
        let raw = AgonStep {
            struct_size: size_of::<AgonStep>() as u64,
            name: AgonStr::new(&step.name),
            after: after.as_ptr(),
            n_after: after.len() as u64,
            when: step.when.code(),
            reserved: 0,
            argv: argv.as_ptr(),
            n_argv: argv.len() as u64,
            input: arg(&step.input),
            limits: step.limits.as_deref().map_or(AgonStr::NONE, AgonStr::new),
            patience_ns: step.patience_ns.unwrap_or(AGON_NO_VALUE),
        };
        emit!(self, step, &raw const raw)?;
        step.script.iter().try_for_each(|entry| self.script(entry))
    }

    /// Appends to the script of the last command: for long scripts, which need not be in memory at once.
    pub fn script(&self, entry: &ScriptEntry) -> Result<(), Fault> {
        match entry {
            ScriptEntry::Send(bytes) => emit!(self, script_send, AgonBytes::new(bytes)),
            ScriptEntry::Expect(expect) => with_expect(expect, |raw| emit!(self, script_expect, &raw const *raw)),
            ScriptEntry::Exchange(exchange) => {
                let pieces: Vec<AgonRange> =
                    exchange.pieces.iter().map(|piece| AgonRange { from: piece.from, to: piece.to }).collect();
                with_expect(&exchange.expect, |expect| {
                    let raw = AgonExchange {
                        struct_size: size_of::<AgonExchange>() as u64,
                        pieces: pieces.as_ptr(),
                        n_pieces: pieces.len() as u64,
                        expect,
                    };
                    emit!(self, script_exchange, &raw const raw)
                })
            }
        }
    }

    /// Asks the host to transform the benchmark before the run.
    pub fn transform(&self, name: &str, mode: &str) -> Result<(), Fault> {
        emit!(self, transform, AgonStr::new(name), AgonStr::new(mode), 0)
    }

    /// Asks the host to transform the benchmark and to call `prepare` again with it; then its name is in
    /// [`Benchmark::applied`](crate::input::Benchmark::applied).
    pub fn transform_then_again(&self, name: &str, mode: &str) -> Result<(), Fault> {
        emit!(self, transform, AgonStr::new(name), AgonStr::new(mode), abi::AGON_TRANSFORM_THEN_AGAIN)
    }

    /// Asks for a file that the run leaves in its working folder.
    pub fn collect(&self, name: &str, path: &str) -> Result<(), Fault> {
        emit!(self, collect, AgonStr::new(name), AgonStr::new(path))
    }
}

/// Columns, artifacts and evidence.
#[derive(Debug)]
pub struct Columns<'a>(pub(crate) Sink<'a>);

impl<'a> Deref for Columns<'a> {
    type Target = Sink<'a>;

    fn deref(&self) -> &Sink<'a> {
        &self.0
    }
}

impl Columns<'_> {
    /// A number.
    pub fn number(&self, column: &str, value: i64) -> Result<(), Fault> {
        emit!(self, column_i64, AgonStr::new(column), value)
    }

    /// A count.
    pub fn count(&self, column: &str, value: u64) -> Result<(), Fault> {
        emit!(self, column_u64, AgonStr::new(column), value)
    }

    /// An exact number: `-12`, `3.25` or `1/3`.
    pub fn ratio(&self, column: &str, value: &str) -> Result<(), Fault> {
        emit!(self, column_ratio, AgonStr::new(column), AgonStr::new(value))
    }

    /// A word of those declared.
    pub fn word(&self, column: &str, value: &str) -> Result<(), Fault> {
        emit!(self, column_str, AgonStr::new(column), AgonStr::new(value))
    }

    /// Free text.
    pub fn string(&self, column: &str, value: &str) -> Result<(), Fault> {
        emit!(self, column_str, AgonStr::new(column), AgonStr::new(value))
    }

    /// A truth value.
    pub fn flag(&self, column: &str, value: bool) -> Result<(), Fault> {
        emit!(self, column_flag, AgonStr::new(column), u32::from(value))
    }

    /// A time in nanoseconds.
    pub fn time(&self, column: &str, nanoseconds: u64) -> Result<(), Fault> {
        emit!(self, column_time, AgonStr::new(column), nanoseconds)
    }

    /// A size in bytes.
    pub fn memory(&self, column: &str, bytes: u64) -> Result<(), Fault> {
        emit!(self, column_memory, AgonStr::new(column), bytes)
    }

    /// An artifact in one go.
    pub fn artifact(&self, name: &str, kind: &str, bytes: impl AsRef<[u8]>) -> Result<(), Fault> {
        self.artifact_of(name, kind, &[Piece::Bytes(bytes.as_ref().to_vec())])
    }

    /// An artifact in parts, of which some may be copied by the host from an output.
    pub fn artifact_of(&self, name: &str, kind: &str, pieces: &[Piece]) -> Result<(), Fault> {
        emit!(self, artifact_begin, AgonStr::new(name), AgonStr::new(kind))?;
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => emit!(self, artifact_write, AgonBytes::new(bytes))?,
                Piece::Copy { stream, step, from, to } => {
                    emit!(self, artifact_copy, stream.code(), *step, *from, *to)?;
                }
            }
        }
        emit!(self, artifact_end)
    }

    /// Points to bytes of an output.
    pub fn evidence(&self, stream: Stream, from: u64, to: u64, note: &str) -> Result<(), Fault> {
        emit!(self, evidence, stream.code(), 0, from, to, AgonStr::new(note))
    }

    /// Points to bytes of any output.
    pub fn evidence_of(&self, e: &Evidence) -> Result<(), Fault> {
        emit!(self, evidence, e.stream.code(), e.step, e.from, e.to, AgonStr::new(&e.note))
    }
}

/// What `judge` and `conclude` may emit.
#[derive(Debug)]
pub struct Verdict<'a>(pub(crate) Columns<'a>);

impl<'a> Deref for Verdict<'a> {
    type Target = Columns<'a>;

    fn deref(&self) -> &Columns<'a> {
        &self.0
    }
}

impl Verdict<'_> {
    /// The verdict. If it is given more than once, the last counts. The column `answer`, if it is declared, follows.
    pub fn verdict(&self, answer: &str, soundness: Soundness, condition: Condition, blame: Blame) -> Result<(), Fault> {
        emit!(self, verdict, AgonStr::new(answer), soundness.code(), condition.code(), blame.code())
    }

    /// Asks for something that must be checked before the verdict is final; only in `judge`.
    pub fn follow_up(&self, follow_up: &FollowUp) -> Result<(), Fault> {
        let names: Vec<AgonStr> = follow_up.inputs.iter().map(|(name, _)| AgonStr::new(name)).collect();
        let inputs: Vec<AgonArg> = follow_up.inputs.iter().map(|(_, input)| arg(input)).collect();
        let raw = AgonFollowUp {
            struct_size: size_of::<AgonFollowUp>() as u64,
            kind: follow_up.kind.code(),
            reserved: 0,
            role: AgonStr::new(&follow_up.role),
            dedup_key: AgonStr::new(&follow_up.dedup_key),
            names: names.as_ptr(),
            inputs: inputs.as_ptr(),
            n_inputs: names.len() as u64,
            limits: follow_up.limits.as_deref().map_or(AgonStr::NONE, AgonStr::new),
        };
        emit!(self, follow_up, &raw const raw)
    }

    /// Asks for an operation of the plugin itself, by its name.
    pub fn internal<'i>(
        &self,
        operation: &str,
        dedup_key: &str,
        inputs: impl IntoIterator<Item = (&'i str, Arg)>,
    ) -> Result<(), Fault> {
        self.follow_up(&FollowUp {
            kind: FollowUpKind::Internal,
            role: operation.into(),
            dedup_key: dedup_key.into(),
            inputs: inputs.into_iter().map(|(name, input)| (name.to_string(), input)).collect(),
            limits: None,
        })
    }
}

/// What `run_internal` may emit.
#[derive(Debug)]
pub struct Findings<'a>(pub(crate) Columns<'a>);

impl<'a> Deref for Findings<'a> {
    type Target = Columns<'a>;

    fn deref(&self) -> &Columns<'a> {
        &self.0
    }
}

impl Findings<'_> {
    /// Appends to the output of the operation.
    pub fn text(&self, bytes: impl AsRef<[u8]>) -> Result<(), Fault> {
        self.emit_text(bytes.as_ref())
    }
}

/// What `explain` may emit.
#[derive(Debug)]
pub struct Explanation<'a>(pub(crate) Columns<'a>);

impl<'a> Deref for Explanation<'a> {
    type Target = Sink<'a>;

    fn deref(&self) -> &Sink<'a> {
        &self.0.0
    }
}

impl Explanation<'_> {
    /// Appends to the explanation.
    pub fn text(&self, text: &str) -> Result<(), Fault> {
        self.emit_text(text.as_bytes())
    }

    /// Points to bytes of an output.
    pub fn evidence(&self, stream: Stream, from: u64, to: u64, note: &str) -> Result<(), Fault> {
        self.0.evidence(stream, from, to, note)
    }
}
