//! The plugin ABI of Agon, version 1: the tables that cross between the host and a track plugin, and nothing else.
//!
//! Only integers of fixed width, pointers, strings with a length, and tables of function pointers cross. Every table
//! begins with its size in bytes and only ever grows at its end; who reads a table reads the fields within
//! `struct_size` and takes the documented default for the rest. No memory changes hands: an input is borrowed until
//! the call returns, an output is handed to a function of the sink, which copies. Errors are values, and nothing
//! unwinds across a call.
//!
//! The words in brackets at a function say from which thread it may be called: `[any]`, one call at a time on a given
//! object; `[concurrent]`, several calls at once on the same object; `[worker]`, in a worker process of the host with
//! limits on memory and time; `[call]`, only by the plugin while the call that it was handed to lasts, on that call's
//! thread.
//!
//! The C header `schemas/agon_plugin.h` is generated from this file.

#![allow(unsafe_code)]
#![no_std]

use core::ffi::c_void;

/// The major version of the ABI. It is part of the descriptor's symbol, `agon_plugin_v1`.
pub const AGON_ABI_MAJOR: u32 = 1;
/// The minor version of the ABI: it counts additions at the end of tables.
pub const AGON_ABI_MINOR: u32 = 0;
/// The first word of a descriptor after its size: the bytes `AGONPLUG`, read as a little-endian number.
pub const AGON_MAGIC: u64 = 0x4755_4c50_4e4f_4741;

/// Status: done.
pub const AGON_OK: i32 = 0;
/// Status: an argument is null, too small, or not what the table says.
pub const AGON_INVALID_ARGUMENT: i32 = 1;
/// Status: a parameter is missing, unknown, or out of its range; `fail` names it by its JSON pointer.
pub const AGON_BAD_PARAMETER: i32 = 2;
/// Status: the plugin does not do this.
pub const AGON_UNSUPPORTED: i32 = 3;
/// Status: given up because `cancelled` said so.
pub const AGON_CANCELLED: i32 = 4;
/// Status: the benchmark cannot be used.
pub const AGON_BAD_BENCHMARK: i32 = 5;
/// Status: a bound of the plugin's own (size, depth) was met.
pub const AGON_LIMIT: i32 = 6;
/// Status: a reader failed.
pub const AGON_READ_FAILED: i32 = 7;
/// Status: the host refused what was emitted. Returned by the functions of a sink, and passed on by the plugin.
pub const AGON_CONTRACT: i32 = 8;
/// Status: a fault in the plugin. The track is closed and not used again.
pub const AGON_INTERNAL: i32 = 9;
/// Status: a panic was caught in the plugin. The track is closed and not used again.
pub const AGON_PANIC: i32 = 10;

/// Optional capability: same inputs, same outputs, whenever and wherever; results may be cached.
pub const AGON_CAP_PURE: u32 = 1;
/// Optional capability: `prepare` does more than run the participant's command on the benchmark.
pub const AGON_CAP_PREPARE: u32 = 1 << 1;
/// Optional capability: `prepare` may emit an interaction script.
pub const AGON_CAP_SCRIPT: u32 = 1 << 2;
/// Optional capability: `judge` may ask for follow-ups, and `conclude` uses what came of them.
pub const AGON_CAP_FOLLOW_UPS: u32 = 1 << 3;
/// Optional capability: `run_internal` has operations.
pub const AGON_CAP_INTERNAL: u32 = 1 << 4;
/// Optional capability: `explain` says more than the host knows already.
pub const AGON_CAP_EXPLAIN: u32 = 1 << 5;
/// All capabilities that a host of this version knows. Unknown bits in `caps_required` refuse the plugin, unknown
/// bits in `caps_optional` are ignored.
pub const AGON_CAP_KNOWN: u32 = 0x3f;

/// Soundness: nothing is known, or nothing was claimed that could be checked.
pub const AGON_SOUNDNESS_NOT_APPLICABLE: u32 = 0;
/// Soundness: the answer agrees with what is known.
pub const AGON_SOUNDNESS_AGREES: u32 = 1;
/// Soundness: the answer contradicts what is known.
pub const AGON_SOUNDNESS_CONTRADICTS: u32 = 2;
/// Soundness: the answer could be checked and was not, or not yet.
pub const AGON_SOUNDNESS_UNVERIFIED: u32 = 3;

/// Condition: the run ended by itself, and its output is well-formed.
pub const AGON_CONDITION_FINISHED: u32 = 0;
/// Condition: ended by the limit on CPU time.
pub const AGON_CONDITION_CPU_LIMIT: u32 = 1;
/// Condition: ended by the limit on wall-clock time.
pub const AGON_CONDITION_WALL_LIMIT: u32 = 2;
/// Condition: ended by the limit on memory.
pub const AGON_CONDITION_MEMORY_LIMIT: u32 = 3;
/// Condition: ended by a signal or an exit code that means a crash.
pub const AGON_CONDITION_CRASHED: u32 = 4;
/// Condition: the output breaks the rules on its form.
pub const AGON_CONDITION_MALFORMED: u32 = 5;
/// Condition: the harness failed; counts for nobody and against nobody.
pub const AGON_CONDITION_HARNESS_FAULT: u32 = 6;

/// Blame: nobody.
pub const AGON_BLAME_NONE: u32 = 0;
/// Blame: the participant.
pub const AGON_BLAME_ENTRANT: u32 = 1;
/// Blame: the benchmark.
pub const AGON_BLAME_BENCHMARK: u32 = 2;
/// Blame: the host.
pub const AGON_BLAME_HOST: u32 = 3;
/// Blame: the plugin.
pub const AGON_BLAME_PLUGIN: u32 = 4;

/// Fidelity: only the columns of a result are known.
pub const AGON_FIDELITY_COLUMNS: u32 = 0;
/// Fidelity: how the run ended, and its times and memory.
pub const AGON_FIDELITY_SUMMARY: u32 = 1;
/// Fidelity: the outputs too.
pub const AGON_FIDELITY_STREAMS: u32 = 2;

/// Limit that ended a run: none.
pub const AGON_LIMIT_NONE: u32 = 0;
/// Limit that ended a run: wall-clock time.
pub const AGON_LIMIT_WALL: u32 = 1;
/// Limit that ended a run: CPU time.
pub const AGON_LIMIT_CPU: u32 = 2;
/// Limit that ended a run: memory.
pub const AGON_LIMIT_MEMORY: u32 = 3;
/// Limit that ended a run: bytes of output.
pub const AGON_LIMIT_OUTPUT: u32 = 4;
/// Limit that ended a run: disk space.
pub const AGON_LIMIT_DISK: u32 = 5;
/// Limit that ended a run: number of processes.
pub const AGON_LIMIT_PROCESSES: u32 = 6;

/// A 64-bit field that has no value: not measured, not limited, not known.
pub const AGON_NO_VALUE: u64 = 0xffff_ffff_ffff_ffff;
/// A 32-bit field that has no value: no exit code, no signal.
pub const AGON_NO_CODE: i32 = -0x7fff_ffff - 1;

/// Flag of a reader: the host kept only the first part.
pub const AGON_READER_TRUNCATED: u64 = 1;

/// Log level: an error.
pub const AGON_LOG_ERROR: u32 = 1;
/// Log level: a warning.
pub const AGON_LOG_WARNING: u32 = 2;
/// Log level: a note.
pub const AGON_LOG_NOTE: u32 = 3;
/// Log level: for the plugin's author.
pub const AGON_LOG_DEBUG: u32 = 4;

/// Argument: the bytes in `text`.
pub const AGON_ARG_TEXT: u32 = 0;
/// Argument: the path of the prepared benchmark.
pub const AGON_ARG_BENCHMARK: u32 = 1;
/// Argument: the participant's command, all its words; only as the first of a list.
pub const AGON_ARG_COMMAND: u32 = 2;
/// Argument: the path of a file with the standard output of the step named in `text`.
pub const AGON_ARG_OUTPUT_OF: u32 = 3;
/// Argument: the command of the tool whose role is named in `text`; only as the first of a list.
pub const AGON_ARG_TOOL: u32 = 4;
/// Argument: the path of the file that `collect` named in `text`.
pub const AGON_ARG_COLLECTED: u32 = 5;
/// Argument: the artifact named in `text`.
pub const AGON_ARG_ARTIFACT: u32 = 6;
/// Argument: nothing: an empty standard input.
pub const AGON_ARG_NOTHING: u32 = 7;
/// Argument: the benchmark as it was before `prepare`.
pub const AGON_ARG_ORIGINAL: u32 = 8;

/// A step runs when all the steps that it names in `after` ended by themselves with exit code 0.
pub const AGON_WHEN_SUCCEEDED: u32 = 0;
/// A step runs when all the steps that it names in `after` ended, however.
pub const AGON_WHEN_ENDED: u32 = 1;

/// Framing of a response: a line.
pub const AGON_EXPECT_LINE: u32 = 0;
/// Framing of a response: an atom or a balanced s-expression, as SMT-LIB has them.
pub const AGON_EXPECT_SEXPR: u32 = 1;
/// Framing of a response: everything until the end of the output.
pub const AGON_EXPECT_EOF: u32 = 2;

/// Flag of an expectation: the time until the response is recorded as a result.
pub const AGON_EXPECT_TIMED: u32 = 1;
/// Flag of an expectation: a response that is not in `accept` ends the script.
pub const AGON_EXPECT_STOP_UNLESS: u32 = 1 << 1;
/// Flag of an expectation: lines without a character other than blanks are no responses.
pub const AGON_EXPECT_SKIP_BLANK: u32 = 1 << 2;

/// Flag of a transformation: `prepare` is called once more, with the transformed benchmark.
pub const AGON_TRANSFORM_THEN_AGAIN: u32 = 1;

/// Log of a step: a command that was run.
pub const AGON_STEP_COMMAND: u32 = 0;
/// Log of a step: an expectation of its script.
pub const AGON_STEP_EXPECT: u32 = 1;

/// Outcome of a step: it ended, or the response came.
pub const AGON_OUTCOME_DONE: u32 = 0;
/// Outcome of a step: the output ended before the response did.
pub const AGON_OUTCOME_EOF: u32 = 1;
/// Outcome of a step: a limit ended it.
pub const AGON_OUTCOME_LIMIT: u32 = 2;
/// Outcome of a step: the response was not accepted, and the script ended; of a command, the host ended it because it went
/// on after its script.
pub const AGON_OUTCOME_STOPPED: u32 = 3;
/// Outcome of a step: it was not reached.
pub const AGON_OUTCOME_NOT_RUN: u32 = 4;

/// Follow-up: an operation of the plugin, run in a worker.
pub const AGON_FOLLOW_UP_INTERNAL: u32 = 0;
/// Follow-up: a run of the tools that the edition names for a role.
pub const AGON_FOLLOW_UP_EXTERNAL: u32 = 1;

/// Validation: there is an observation.
pub const AGON_VALIDATION_DONE: u32 = 0;
/// Validation: the validator met its own limit of time or memory.
pub const AGON_VALIDATION_LIMIT: u32 = 1;
/// Validation: the validator crashed.
pub const AGON_VALIDATION_CRASHED: u32 = 2;
/// Validation: not run: no tool has the role, or it was left out.
pub const AGON_VALIDATION_NOT_RUN: u32 = 3;

/// Evidence in the standard output.
pub const AGON_STREAM_STDOUT: u32 = 0;
/// Evidence in the standard error output.
pub const AGON_STREAM_STDERR: u32 = 1;
/// Evidence in the benchmark.
pub const AGON_STREAM_BENCHMARK: u32 = 2;
/// Evidence in the response of the step at the position `step` of the log.
pub const AGON_STREAM_STEP: u32 = 3;

/// Text: UTF-8, with a length, without a terminating NUL. `ptr` is null only if `len` is 0; a null `ptr` in an
/// optional field means that there is no text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonStr {
    /// The first byte.
    pub ptr: *const u8,
    /// How many bytes.
    pub len: u64,
}

/// Bytes of any kind: what a solver wrote is never assumed to be text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonBytes {
    /// The first byte; null only if `len` is 0.
    pub ptr: *const u8,
    /// How many.
    pub len: u64,
}

/// Bytes that are read in parts, since they may be gigabytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonReader {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_READER_*`.
    pub flags: u64,
    /// How many bytes there are, or `AGON_NO_VALUE`.
    pub size: u64,
    /// All of them, if the host has them in memory; else null, and `read_at` must be used.
    pub whole: AgonBytes,
    /// Passed to `read_at`.
    pub ctx: *mut c_void,
    /// Copies up to `len` bytes from `offset` to `buffer`; returns how many, 0 at the end, -1 for a failure. `[call]`
    pub read_at: Option<unsafe extern "C" fn(ctx: *mut c_void, offset: u64, buffer: *mut u8, len: u64) -> i64>,
}

/// A JSON document with getters, so that a plugin in C needs no JSON parser. `pointer` is a JSON pointer (RFC 6901).
/// The getters return 1 and set `out`, or return 0 if there is no such value or it is of another kind.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonDoc {
    /// Bytes of this table.
    pub struct_size: u64,
    /// The document as text.
    pub text: AgonStr,
    /// Passed to the getters.
    pub ctx: *mut c_void,
    /// An integer. `[call]`
    pub get_i64: Option<unsafe extern "C" fn(ctx: *mut c_void, pointer: AgonStr, out: *mut i64) -> u32>,
    /// A string; it lives as long as the document. `[call]`
    pub get_str: Option<unsafe extern "C" fn(ctx: *mut c_void, pointer: AgonStr, out: *mut AgonStr) -> u32>,
    /// A truth value: 0 or 1. `[call]`
    pub get_flag: Option<unsafe extern "C" fn(ctx: *mut c_void, pointer: AgonStr, out: *mut u32) -> u32>,
    /// The number of elements of an array or an object. `[call]`
    pub get_len: Option<unsafe extern "C" fn(ctx: *mut c_void, pointer: AgonStr, out: *mut u64) -> u32>,
    /// The name of the element at a position of an object. `[call]`
    pub get_key: Option<unsafe extern "C" fn(ctx: *mut c_void, pointer: AgonStr, index: u64, out: *mut AgonStr) -> u32>,
}

/// A named sequence of bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonInput {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Its name.
    pub name: AgonStr,
    /// What it holds: a word that the plugin chose.
    pub kind: AgonStr,
    /// The bytes.
    pub content: *const AgonReader,
}

/// A benchmark.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonBenchmark {
    /// Bytes of this table.
    pub struct_size: u64,
    /// What identifies it in results.
    pub id: AgonStr,
    /// Its path or name, for display and for its extension; not to be opened.
    pub name: AgonStr,
    /// Its logic; null if it has none.
    pub logic: AgonStr,
    /// Its division; null if it has none.
    pub division: AgonStr,
    /// Its family; null if it has none.
    pub family: AgonStr,
    /// The expected answers, one for each check, in their order.
    pub statuses: *const AgonStr,
    /// How many.
    pub n_statuses: u64,
    /// Its text; in `judge` and later, the prepared one.
    pub content: *const AgonReader,
    /// Its text before `prepare`; null if it is the same.
    pub original: *const AgonReader,
    /// The names of the transformations that were applied to it.
    pub applied: *const AgonStr,
    /// How many.
    pub n_applied: u64,
    /// What else is known of it, as a JSON object; may be null.
    pub properties: *const AgonDoc,
}

/// A participant: a solver and its configuration.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonParticipant {
    /// Bytes of this table.
    pub struct_size: u64,
    /// What identifies it in results.
    pub id: AgonStr,
    /// The words of its configuration.
    pub configuration: *const AgonStr,
    /// How many.
    pub n_configuration: u64,
}

/// The limits of a run. `AGON_NO_VALUE` is no limit.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonLimits {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Wall-clock time in nanoseconds.
    pub wall_ns: u64,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Cores.
    pub cores: u64,
}

/// What is run: a benchmark, who runs on it, and within which limits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonJob {
    /// Bytes of this table.
    pub struct_size: u64,
    /// The benchmark.
    pub benchmark: *const AgonBenchmark,
    /// The participant; may be null in `prepare`, if the preparation is shared by all.
    pub participant: *const AgonParticipant,
    /// The limits.
    pub limits: *const AgonLimits,
}

/// What was recorded of a step of a run: a command, or an expectation of its script.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonStepLog {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_STEP_*`.
    pub kind: u32,
    /// `AGON_OUTCOME_*`.
    pub outcome: u32,
    /// The name of the command step.
    pub step: AgonStr,
    /// The label of the expectation; null for a command.
    pub label: AgonStr,
    /// When the command was started, or the last byte before the expectation was written: nanoseconds from the start
    /// of the run.
    pub sent_ns: u64,
    /// When it ended, or the last byte of the response was read.
    pub answered_ns: u64,
    /// CPU time in nanoseconds, or `AGON_NO_VALUE`.
    pub cpu_ns: u64,
    /// The exit code of a command, or `AGON_NO_CODE`.
    pub exit: i32,
    /// The signal that ended a command, or `AGON_NO_CODE`.
    pub signal: i32,
    /// `AGON_LIMIT_*`: what ended it.
    pub limit: u32,
    /// Zero.
    pub reserved: u32,
    /// The response, or the command's standard output.
    pub response: *const AgonReader,
    /// The command's standard error output; may be null.
    pub errors: *const AgonReader,
    /// Of an expectation: how many responses came. An exchange has one for each piece.
    pub answers: u64,
    /// How many of them were not accepted, with output that was there before anything was asked.
    pub refused: u64,
    /// Time between the last byte of a piece and its response, in nanoseconds, added up over the pieces.
    pub waited_ns: u64,
    /// Which response `response` is, counted from 0: the first that was not accepted, else the last.
    pub kept: u64,
}

/// What was observed of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonObservation {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_FIDELITY_*`: how much of the rest is known.
    pub fidelity: u32,
    /// `AGON_LIMIT_*`: what ended the run.
    pub limit: u32,
    /// The exit code, or `AGON_NO_CODE`.
    pub exit: i32,
    /// The signal that ended it, or `AGON_NO_CODE`.
    pub signal: i32,
    /// Wall-clock time in nanoseconds, or `AGON_NO_VALUE`.
    pub wall_ns: u64,
    /// CPU time of the whole process tree in nanoseconds, or `AGON_NO_VALUE`.
    pub cpu_ns: u64,
    /// Peak memory in bytes, or `AGON_NO_VALUE`.
    pub peak_memory: u64,
    /// The standard output of the last step; null below fidelity `streams`.
    pub out: *const AgonReader,
    /// The standard error output of the last step; null below fidelity `streams`.
    pub errors: *const AgonReader,
    /// The log of the steps, in the order in which they ended.
    pub steps: *const *const AgonStepLog,
    /// How many.
    pub n_steps: u64,
    /// The files that `collect` named and that were there.
    pub collected: *const *const AgonInput,
    /// How many.
    pub n_collected: u64,
    /// The columns of an archived result as a JSON object; may be null.
    pub columns: *const AgonDoc,
}

/// What `judge` came to, as `conclude` and `explain` get it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonJudgement {
    /// Bytes of this table.
    pub struct_size: u64,
    /// What was answered: a declared word.
    pub answer: AgonStr,
    /// `AGON_SOUNDNESS_*`.
    pub soundness: u32,
    /// `AGON_CONDITION_*`.
    pub condition: u32,
    /// `AGON_BLAME_*`.
    pub blame: u32,
    /// Zero.
    pub reserved: u32,
    /// The columns as a JSON object. A number that is no 64-bit integer, and a ratio, are strings.
    pub columns: *const AgonDoc,
    /// The artifacts.
    pub artifacts: *const *const AgonInput,
    /// How many.
    pub n_artifacts: u64,
}

/// What came of a follow-up.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonValidation {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_FOLLOW_UP_*`.
    pub kind: u32,
    /// `AGON_VALIDATION_*`.
    pub status: u32,
    /// The role, or the name of the operation.
    pub role: AgonStr,
    /// The key of the follow-up.
    pub dedup_key: AgonStr,
    /// The tool that was run; null for an operation of the plugin.
    pub tool: AgonStr,
    /// What was observed; null if it was not run. Of an operation: its text as `out`, its columns as `columns`.
    pub observation: *const AgonObservation,
}

/// A word of a command, or where the standard input comes from. Its size never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonArg {
    /// `AGON_ARG_*`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// What `kind` says.
    pub text: AgonBytes,
}

/// A command to run.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonStep {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Its name: later steps and the log refer to it.
    pub name: AgonStr,
    /// The names of the steps that must have ended before.
    pub after: *const AgonStr,
    /// How many.
    pub n_after: u64,
    /// `AGON_WHEN_*`.
    pub when: u32,
    /// Zero.
    pub reserved: u32,
    /// The words of the command.
    pub argv: *const AgonArg,
    /// How many.
    pub n_argv: u64,
    /// The standard input; ignored if the step has a script.
    pub input: AgonArg,
    /// The name of the edition's limits that this step has for itself; null: it shares the limits of the run.
    pub limits: AgonStr,
    /// How long the program may go on after its script has ended, in nanoseconds; then the host ends it, which is no
    /// limit: the outcome of the command is `AGON_OUTCOME_STOPPED`. `AGON_NO_VALUE`: to its own end, or a limit.
    pub patience_ns: u64,
}

/// A response that the script waits for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonExpect {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_EXPECT_LINE`, `AGON_EXPECT_SEXPR` or `AGON_EXPECT_EOF`.
    pub framing: u32,
    /// `AGON_EXPECT_TIMED` and the other flags.
    pub flags: u32,
    /// Its name in the log.
    pub label: AgonStr,
    /// The responses that are accepted, compared without the blanks around them.
    pub accept: *const AgonBytes,
    /// How many.
    pub n_accept: u64,
}

/// Bytes of the benchmark.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonRange {
    /// The first.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// Pieces of the benchmark that the script sends one by one, each with a line feed behind it and when the one before has
/// been answered. The log has one entry for all of them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonExchange {
    /// Bytes of this table.
    pub struct_size: u64,
    /// The pieces, of the benchmark as the run gets it.
    pub pieces: *const AgonRange,
    /// How many.
    pub n_pieces: u64,
    /// The response to each.
    pub expect: *const AgonExpect,
}

/// Something that must be checked before the verdict is final.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonFollowUp {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_FOLLOW_UP_*`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// The role of the tools, or the name of the operation.
    pub role: AgonStr,
    /// Two follow-ups with the same role and key are run once.
    pub dedup_key: AgonStr,
    /// The names of the inputs.
    pub names: *const AgonStr,
    /// Where each comes from.
    pub inputs: *const AgonArg,
    /// How many.
    pub n_inputs: u64,
    /// The name of the edition's limits for it; null: those of the role.
    pub limits: AgonStr,
}

/// Where the outputs of one call go. All functions copy what they are given and return `AGON_OK`, or `AGON_CONTRACT`
/// for what the plugin did not declare or may not emit in this call; the plugin then returns. None may be called after
/// the call has returned.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonSink {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Passed to every function.
    pub ctx: *mut c_void,
    /// Why the status is not `AGON_OK`: exactly one for each failed call. `blame` is `AGON_BLAME_*`; `pointer` is the
    /// JSON pointer to a bad parameter, else null; `hint` says what to do, and may be null. `[call]`
    pub fail: Option<
        unsafe extern "C" fn(
            ctx: *mut c_void,
            status: i32,
            blame: u32,
            message: AgonStr,
            pointer: AgonStr,
            hint: AgonStr,
        ) -> i32,
    >,
    /// Not 0 when the call should return `AGON_CANCELLED` soon. Cheap; to be asked every few milliseconds. `[call]`
    pub cancelled: Option<unsafe extern "C" fn(ctx: *mut c_void) -> u32>,
    /// A remark that is kept with the result. `level` is `AGON_LOG_*`, `code` a short word. `[call]`
    pub diagnostic: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, code: AgonStr, message: AgonStr) -> i32>,
    /// Appends to the text of the call: the description (`describe`), the prepared benchmark (`prepare`), the output
    /// of an operation (`run_internal`), the explanation (`explain`). `[call]`
    pub text: Option<unsafe extern "C" fn(ctx: *mut c_void, bytes: AgonBytes) -> i32>,
    /// The verdict: its parts are never merged. The last one counts. In `judge` and `conclude`. `[call]`
    pub verdict: Option<
        unsafe extern "C" fn(ctx: *mut c_void, answer: AgonStr, soundness: u32, condition: u32, blame: u32) -> i32,
    >,
    /// A column of numbers. Columns: in `judge`, `conclude` and `run_internal`; the last value counts. `[call]`
    pub column_i64: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, value: i64) -> i32>,
    /// A column of numbers. `[call]`
    pub column_u64: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, value: u64) -> i32>,
    /// A column of numbers, exactly: `-12`, `3.25`, or `1/3`. `[call]`
    pub column_ratio: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, value: AgonStr) -> i32>,
    /// A column of words or text. `[call]`
    pub column_str: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, value: AgonStr) -> i32>,
    /// A column of truth values: 0 or 1. `[call]`
    pub column_flag: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, value: u32) -> i32>,
    /// A column of times, in nanoseconds. `[call]`
    pub column_time: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, nanoseconds: u64) -> i32>,
    /// A column of sizes, in bytes. `[call]`
    pub column_memory: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, bytes: u64) -> i32>,
    /// Begins an artifact: bytes that are kept with the result. In `judge`, `run_internal` and `conclude`. `[call]`
    pub artifact_begin: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, kind: AgonStr) -> i32>,
    /// Appends to the artifact. `[call]`
    pub artifact_write: Option<unsafe extern "C" fn(ctx: *mut c_void, bytes: AgonBytes) -> i32>,
    /// Ends the artifact. `[call]`
    pub artifact_end: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i32>,
    /// A part of the artifact that is copied from an output by the host: `stream` is `AGON_STREAM_*`, `step` the
    /// position in the log, `from` and `to` byte offsets. For what may be gigabytes. `[call]`
    pub artifact_copy:
        Option<unsafe extern "C" fn(ctx: *mut c_void, stream: u32, step: u32, from: u64, to: u64) -> i32>,
    /// A command step. In `prepare`. Without any, the participant's command is run with the benchmark's path. `[call]`
    pub step: Option<unsafe extern "C" fn(ctx: *mut c_void, step: *const AgonStep) -> i32>,
    /// Bytes that the script of the last step sends. In `prepare`. `[call]`
    pub script_send: Option<unsafe extern "C" fn(ctx: *mut c_void, bytes: AgonBytes) -> i32>,
    /// A response that the script of the last step waits for. In `prepare`. `[call]`
    pub script_expect: Option<unsafe extern "C" fn(ctx: *mut c_void, expect: *const AgonExpect) -> i32>,
    /// Asks for a transformation of the benchmark by the host, such as `scramble`, before the run. `mode` is a word of
    /// that transformation, `flags` are `AGON_TRANSFORM_*`. In `prepare`. `[call]`
    pub transform: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, mode: AgonStr, flags: u32) -> i32>,
    /// Asks for a file that the run leaves in its working folder; `path` is relative to it. In `prepare`. `[call]`
    pub collect: Option<unsafe extern "C" fn(ctx: *mut c_void, name: AgonStr, path: AgonStr) -> i32>,
    /// Asks for a follow-up. In `judge`. `[call]`
    pub follow_up: Option<unsafe extern "C" fn(ctx: *mut c_void, follow_up: *const AgonFollowUp) -> i32>,
    /// Points to the bytes that a verdict or an explanation rests on. In `judge`, `conclude` and `explain`. `[call]`
    pub evidence: Option<
        unsafe extern "C" fn(ctx: *mut c_void, stream: u32, step: u32, from: u64, to: u64, note: AgonStr) -> i32,
    >,
    /// Pieces of the benchmark that the script of the last step sends, each with its response. In `prepare`. `[call]`
    pub script_exchange: Option<unsafe extern "C" fn(ctx: *mut c_void, exchange: *const AgonExchange) -> i32>,
}

/// What the host offers beside the sinks. It lives until the process ends.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonHost {
    /// Bytes of this table.
    pub struct_size: u64,
    /// The host's `AGON_ABI_MAJOR`.
    pub abi_major: u32,
    /// The host's `AGON_ABI_MINOR`.
    pub abi_minor: u32,
    /// Passed to every function.
    pub ctx: *mut c_void,
    /// A line for the log. `level` is `AGON_LOG_*`. `[concurrent]`
    pub log: Option<unsafe extern "C" fn(ctx: *mut c_void, level: u32, message: AgonStr)>,
    /// An optional interface of the host by its name with a version, or null. `[concurrent]`
    pub interface: Option<unsafe extern "C" fn(ctx: *mut c_void, id: AgonStr) -> *const c_void>,
}

/// What a track plugin does. A function that is null or beyond `struct_size` has the default that its comment states;
/// `describe`, `open`, `close` and `judge` are required. The functions return a status; on any but `AGON_OK` they
/// have called `fail` of the sink once.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonTrackTable {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Emits the description as JSON text: parameters, columns, answers, operations. Always the same. `[concurrent]`
    pub describe: Option<unsafe extern "C" fn(sink: *const AgonSink) -> i32>,
    /// Makes a track for these parameters, a JSON object. The track does not change afterwards. `[concurrent]`
    pub open: Option<
        unsafe extern "C" fn(
            host: *const AgonHost,
            parameters: *const AgonDoc,
            sink: *const AgonSink,
            track: *mut *mut c_void,
        ) -> i32,
    >,
    /// Ends a track. No other call is under way or follows. `[any]`
    pub close: Option<unsafe extern "C" fn(track: *mut c_void)>,
    /// Says how the benchmark is prepared and what is run. Default: the participant's command with the benchmark's
    /// path. `[concurrent]`
    pub prepare: Option<unsafe extern "C" fn(track: *mut c_void, job: *const AgonJob, sink: *const AgonSink) -> i32>,
    /// Judges an observation: emits one verdict, the columns, artifacts, follow-ups. `[concurrent]`
    pub judge: Option<
        unsafe extern "C" fn(
            track: *mut c_void,
            job: *const AgonJob,
            observation: *const AgonObservation,
            sink: *const AgonSink,
        ) -> i32,
    >,
    /// Performs an operation that a follow-up asked for. Default: `AGON_UNSUPPORTED`. `[worker]`
    pub run_internal: Option<
        unsafe extern "C" fn(
            track: *mut c_void,
            operation: AgonStr,
            job: *const AgonJob,
            inputs: *const *const AgonInput,
            n_inputs: u64,
            sink: *const AgonSink,
        ) -> i32,
    >,
    /// Says the final verdict, given what came of the follow-ups in the order in which they were asked for. What is
    /// not emitted stays as `judge` had it. Default: all stays. `[concurrent]`
    pub conclude: Option<
        unsafe extern "C" fn(
            track: *mut c_void,
            job: *const AgonJob,
            judgement: *const AgonJudgement,
            validations: *const *const AgonValidation,
            n_validations: u64,
            sink: *const AgonSink,
        ) -> i32,
    >,
    /// Says why, as text and evidence. Default: nothing. `[concurrent]`
    pub explain: Option<
        unsafe extern "C" fn(
            track: *mut c_void,
            job: *const AgonJob,
            observation: *const AgonObservation,
            judgement: *const AgonJudgement,
            validations: *const *const AgonValidation,
            n_validations: u64,
            sink: *const AgonSink,
        ) -> i32,
    >,
    /// An optional interface of the plugin by its name with a version, or null. Default: null. `[concurrent]`
    pub interface: Option<unsafe extern "C" fn(id: AgonStr) -> *const c_void>,
}

/// The descriptor: the one constant that a plugin exports, as `agon_plugin_v1` (or as the symbol that the manifest
/// names). Nothing of the plugin's is run to read it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonPlugin {
    /// Bytes of this table.
    pub struct_size: u64,
    /// `AGON_MAGIC`.
    pub magic: u64,
    /// The `AGON_ABI_MAJOR` that it was built with.
    pub abi_major: u32,
    /// The `AGON_ABI_MINOR` that it was built with.
    pub abi_minor: u32,
    /// The least minor version of the host that it needs.
    pub min_host_minor: u32,
    /// Zero.
    pub reserved: u32,
    /// `AGON_CAP_*` that the host must know.
    pub caps_required: u32,
    /// `AGON_CAP_*` that the host may ignore.
    pub caps_optional: u32,
    /// Who made it.
    pub vendor: AgonStr,
    /// The name by which editions refer to it: lower-case letters, digits, `-` and `.`.
    pub id: AgonStr,
    /// Its version. It changes whenever any judgement could change.
    pub version: AgonStr,
    /// What it does.
    pub track: *const AgonTrackTable,
}

/// The name of the interface by which the conformance test makes a plugin panic, to see that the panic stays inside.
/// Plugins that cannot panic do not have it.
pub const AGON_INTERFACE_CONFORMANCE: &str = "agon.conformance/1";

/// The interface `agon.conformance/1`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AgonConformance {
    /// Bytes of this table.
    pub struct_size: u64,
    /// Panics inside the guard that all functions have, and returns what they would. `[any]`
    pub panic: Option<unsafe extern "C" fn(sink: *const AgonSink) -> i32>,
}

// SAFETY: the descriptor and what it points to are constants; nobody writes to them.
unsafe impl Sync for AgonPlugin {}
// SAFETY: as above.
unsafe impl Sync for AgonTrackTable {}

impl AgonStr {
    /// No text.
    pub const NONE: AgonStr = AgonStr { ptr: core::ptr::null(), len: 0 };

    /// Borrows text.
    pub const fn new(text: &str) -> Self {
        Self { ptr: text.as_ptr(), len: text.len() as u64 }
    }
}

impl AgonBytes {
    /// No bytes.
    pub const NONE: AgonBytes = AgonBytes { ptr: core::ptr::null(), len: 0 };

    /// Borrows bytes.
    pub const fn new(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len() as u64 }
    }
}

/// Asserts the size of a table, that it begins with its size, and where its last field is.
macro_rules! layout {
    ($($name:ident: $size:literal, $last:ident at $offset:literal;)*) => {
        /// The size of each table in bytes, for the header's own assertions.
        pub const SIZES: &[(&str, usize)] = &[$((stringify!($name), $size),)*];
        $(const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == 8);
            assert!(core::mem::offset_of!($name, $last) == $offset);
        };)*
    };
}

layout! {
    AgonStr: 16, len at 8;
    AgonBytes: 16, len at 8;
    AgonReader: 56, read_at at 48;
    AgonDoc: 72, get_key at 64;
    AgonInput: 48, content at 40;
    AgonBenchmark: 144, properties at 136;
    AgonParticipant: 40, n_configuration at 32;
    AgonLimits: 40, cores at 32;
    AgonJob: 32, limits at 24;
    AgonStepLog: 136, kept at 128;
    AgonObservation: 104, columns at 96;
    AgonJudgement: 64, n_artifacts at 56;
    AgonValidation: 72, observation at 64;
    AgonArg: 24, text at 8;
    AgonStep: 112, patience_ns at 104;
    AgonExpect: 48, n_accept at 40;
    AgonRange: 16, to at 8;
    AgonExchange: 32, expect at 24;
    AgonFollowUp: 88, limits at 72;
    AgonSink: 208, script_exchange at 200;
    AgonHost: 40, interface at 32;
    AgonTrackTable: 80, interface at 72;
    AgonPlugin: 96, track at 88;
    AgonConformance: 16, panic at 8;
}

/// The tables that begin with their size do so at offset 0.
macro_rules! sized {
    ($($name:ident)*) => { $(const _: () = assert!(core::mem::offset_of!($name, struct_size) == 0);)* };
}

sized! {
    AgonReader AgonDoc AgonInput AgonBenchmark AgonParticipant AgonLimits AgonJob AgonStepLog AgonObservation
    AgonJudgement AgonValidation AgonStep AgonExpect AgonExchange AgonFollowUp AgonSink AgonHost AgonTrackTable AgonPlugin
    AgonConformance
}

/// Reads the field at `offset` of the table that `pointer` points to, if the table is large enough to have it. `_shape`
/// only says which type the field has. Use [`field!`].
///
/// # Safety
/// `pointer` is null, or points to a table that begins with its size and has that many bytes.
pub unsafe fn field_at<T, F: Copy>(pointer: *const T, offset: usize, _shape: fn(&T) -> &F) -> Option<F> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: every table begins with its size, a 64-bit number; the caller vouches for the pointer.
    let struct_size = unsafe { pointer.cast::<u64>().read() };
    if struct_size < (offset + size_of::<F>()) as u64 {
        return None;
    }
    // SAFETY: the field lies within the size that the table states.
    Some(unsafe { pointer.cast::<u8>().add(offset).cast::<F>().read() })
}

/// Reads a field of a table behind a pointer, if the table is large enough to have it: `field!(pointer, Table, name)`
/// is an `Option`. A null pointer has no fields. To be used within `unsafe`, as [`field_at`].
#[macro_export]
macro_rules! field {
    ($pointer:expr, $table:ident, $name:ident) => {
        $crate::field_at($pointer, core::mem::offset_of!($crate::$table, $name), |table: &$crate::$table| &table.$name)
    };
}

const _: () = assert!(AGON_MAGIC == u64::from_le_bytes(*b"AGONPLUG") && AGON_NO_CODE == i32::MIN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_table_has_no_later_fields() {
        let whole = AgonLimits { struct_size: 40, wall_ns: 1, cpu_ns: 2, memory_bytes: 3, cores: 4 };
        let short = AgonLimits { struct_size: 24, ..whole };
        let split = AgonLimits { struct_size: 28, ..whole };
        // SAFETY: the tables are as large as they say, or larger.
        unsafe {
            assert_eq!(field!(&raw const whole, AgonLimits, cores), Some(4));
            assert_eq!(field!(&raw const short, AgonLimits, cpu_ns), Some(2));
            assert_eq!(field!(&raw const short, AgonLimits, memory_bytes), None);
            assert_eq!(field!(&raw const split, AgonLimits, memory_bytes), None);
            assert_eq!(field!(core::ptr::null(), AgonLimits, wall_ns), None);
        }
    }
}
