/*
 * The plugin ABI of Agon, version 1. Generated from core/abi; do not edit.
 *
 * A track plugin is a shared library that exports one constant, `agon_plugin_v1`, and holds a manifest with the same
 * facts in its section `.agon`:
 *
 *     AGON_MANIFEST("my-track", "1.0.0", "Me");
 *     const agon_plugin agon_plugin_v1 = { ... };
 *
 * The plugin decides, the host acts: a plugin starts no process and no thread that outlives a call, opens no file,
 * reads no clock and draws no randomness. What it emits is a function of what it is given.
 *
 * - Inputs are borrowed until the call returns; outputs are handed to the sink, which copies them. Nobody frees what the
 *   other has allocated.
 * - Every table begins with its size. Read only fields within it: AGON_HAS(table, field).
 * - Text is UTF-8 with a length; what a solver wrote is bytes.
 * - On any status but AGON_OK, call `fail` of the sink once. Never let a C++ exception or a longjmp leave a function.
 * - Functions are reentrant; in brackets stands from which thread they may be called:
 *   [any]         any thread, one call at a time on a given track
 *   [concurrent]  any thread, several calls at once on the same track
 *   [worker]      any thread of a worker process with limits on memory and time
 *   [call]        only by the plugin, during the call that it was handed to, on that call's thread
 */

#ifndef AGON_PLUGIN_H
#define AGON_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

// The major version of the ABI. It is part of the descriptor's symbol, `agon_plugin_v1`.
#define AGON_ABI_MAJOR 1

// The minor version of the ABI: it counts additions at the end of tables.
#define AGON_ABI_MINOR 0

// The first word of a descriptor after its size: the bytes `AGONPLUG`, read as a little-endian number.
#define AGON_MAGIC 5140098457508202305

// Status: done.
#define AGON_OK 0

// Status: an argument is null, too small, or not what the table says.
#define AGON_INVALID_ARGUMENT 1

// Status: a parameter is missing, unknown, or out of its range; `fail` names it by its JSON pointer.
#define AGON_BAD_PARAMETER 2

// Status: the plugin does not do this.
#define AGON_UNSUPPORTED 3

// Status: given up because `cancelled` said so.
#define AGON_CANCELLED 4

// Status: the benchmark cannot be used.
#define AGON_BAD_BENCHMARK 5

// Status: a bound of the plugin's own (size, depth) was met.
#define AGON_LIMIT 6

// Status: a reader failed.
#define AGON_READ_FAILED 7

// Status: the host refused what was emitted. Returned by the functions of a sink, and passed on by the plugin.
#define AGON_CONTRACT 8

// Status: a fault in the plugin. The track is closed and not used again.
#define AGON_INTERNAL 9

// Status: a panic was caught in the plugin. The track is closed and not used again.
#define AGON_PANIC 10

// Optional capability: same inputs, same outputs, whenever and wherever; results may be cached.
#define AGON_CAP_PURE 1

// Optional capability: `prepare` does more than run the participant's command on the benchmark.
#define AGON_CAP_PREPARE (1 << 1)

// Optional capability: `prepare` may emit an interaction script.
#define AGON_CAP_SCRIPT (1 << 2)

// Optional capability: `judge` may ask for follow-ups, and `conclude` uses what came of them.
#define AGON_CAP_FOLLOW_UPS (1 << 3)

// Optional capability: `run_internal` has operations.
#define AGON_CAP_INTERNAL (1 << 4)

// Optional capability: `explain` says more than the host knows already.
#define AGON_CAP_EXPLAIN (1 << 5)

// All capabilities that a host of this version knows. Unknown bits in `caps_required` refuse the plugin, unknown
// bits in `caps_optional` are ignored.
#define AGON_CAP_KNOWN 63

// Soundness: nothing is known, or nothing was claimed that could be checked.
#define AGON_SOUNDNESS_NOT_APPLICABLE 0

// Soundness: the answer agrees with what is known.
#define AGON_SOUNDNESS_AGREES 1

// Soundness: the answer contradicts what is known.
#define AGON_SOUNDNESS_CONTRADICTS 2

// Soundness: the answer could be checked and was not, or not yet.
#define AGON_SOUNDNESS_UNVERIFIED 3

// Condition: the run ended by itself, and its output is well-formed.
#define AGON_CONDITION_FINISHED 0

// Condition: ended by the limit on CPU time.
#define AGON_CONDITION_CPU_LIMIT 1

// Condition: ended by the limit on wall-clock time.
#define AGON_CONDITION_WALL_LIMIT 2

// Condition: ended by the limit on memory.
#define AGON_CONDITION_MEMORY_LIMIT 3

// Condition: ended by a signal or an exit code that means a crash.
#define AGON_CONDITION_CRASHED 4

// Condition: the output breaks the rules on its form.
#define AGON_CONDITION_MALFORMED 5

// Condition: the harness failed; counts for nobody and against nobody.
#define AGON_CONDITION_HARNESS_FAULT 6

// Blame: nobody.
#define AGON_BLAME_NONE 0

// Blame: the participant.
#define AGON_BLAME_ENTRANT 1

// Blame: the benchmark.
#define AGON_BLAME_BENCHMARK 2

// Blame: the host.
#define AGON_BLAME_HOST 3

// Blame: the plugin.
#define AGON_BLAME_PLUGIN 4

// Fidelity: only the columns of a result are known.
#define AGON_FIDELITY_COLUMNS 0

// Fidelity: how the run ended, and its times and memory.
#define AGON_FIDELITY_SUMMARY 1

// Fidelity: the outputs too.
#define AGON_FIDELITY_STREAMS 2

// Limit that ended a run: none.
#define AGON_LIMIT_NONE 0

// Limit that ended a run: wall-clock time.
#define AGON_LIMIT_WALL 1

// Limit that ended a run: CPU time.
#define AGON_LIMIT_CPU 2

// Limit that ended a run: memory.
#define AGON_LIMIT_MEMORY 3

// Limit that ended a run: bytes of output.
#define AGON_LIMIT_OUTPUT 4

// Limit that ended a run: disk space.
#define AGON_LIMIT_DISK 5

// Limit that ended a run: number of processes.
#define AGON_LIMIT_PROCESSES 6

// A 64-bit field that has no value: not measured, not limited, not known.
#define AGON_NO_VALUE 18446744073709551615ull

// A 32-bit field that has no value: no exit code, no signal.
#define AGON_NO_CODE (-2147483647 - 1)

// Flag of a reader: the host kept only the first part.
#define AGON_READER_TRUNCATED 1

// Log level: an error.
#define AGON_LOG_ERROR 1

// Log level: a warning.
#define AGON_LOG_WARNING 2

// Log level: a note.
#define AGON_LOG_NOTE 3

// Log level: for the plugin's author.
#define AGON_LOG_DEBUG 4

// Argument: the bytes in `text`.
#define AGON_ARG_TEXT 0

// Argument: the path of the prepared benchmark.
#define AGON_ARG_BENCHMARK 1

// Argument: the participant's command, all its words; only as the first of a list.
#define AGON_ARG_COMMAND 2

// Argument: the path of a file with the standard output of the step named in `text`.
#define AGON_ARG_OUTPUT_OF 3

// Argument: the command of the tool whose role is named in `text`; only as the first of a list.
#define AGON_ARG_TOOL 4

// Argument: the path of the file that `collect` named in `text`.
#define AGON_ARG_COLLECTED 5

// Argument: the artifact named in `text`.
#define AGON_ARG_ARTIFACT 6

// Argument: nothing: an empty standard input.
#define AGON_ARG_NOTHING 7

// Argument: the benchmark as it was before `prepare`.
#define AGON_ARG_ORIGINAL 8

// A step runs when all the steps that it names in `after` ended by themselves with exit code 0.
#define AGON_WHEN_SUCCEEDED 0

// A step runs when all the steps that it names in `after` ended, however.
#define AGON_WHEN_ENDED 1

// Framing of a response: a line.
#define AGON_EXPECT_LINE 0

// Framing of a response: an atom or a balanced s-expression, as SMT-LIB has them.
#define AGON_EXPECT_SEXPR 1

// Framing of a response: everything until the end of the output.
#define AGON_EXPECT_EOF 2

// Flag of an expectation: the time until the response is recorded as a result.
#define AGON_EXPECT_TIMED 1

// Flag of an expectation: a response that is not in `accept` ends the script.
#define AGON_EXPECT_STOP_UNLESS (1 << 1)

// Flag of an expectation: lines without a character other than blanks are no responses.
#define AGON_EXPECT_SKIP_BLANK (1 << 2)

// Flag of a transformation: `prepare` is called once more, with the transformed benchmark.
#define AGON_TRANSFORM_THEN_AGAIN 1

// Log of a step: a command that was run.
#define AGON_STEP_COMMAND 0

// Log of a step: an expectation of its script.
#define AGON_STEP_EXPECT 1

// Outcome of a step: it ended, or the response came.
#define AGON_OUTCOME_DONE 0

// Outcome of a step: the output ended before the response did.
#define AGON_OUTCOME_EOF 1

// Outcome of a step: a limit ended it.
#define AGON_OUTCOME_LIMIT 2

// Outcome of a step: the response was not accepted, and the script ended.
#define AGON_OUTCOME_STOPPED 3

// Outcome of a step: it was not reached.
#define AGON_OUTCOME_NOT_RUN 4

// Follow-up: an operation of the plugin, run in a worker.
#define AGON_FOLLOW_UP_INTERNAL 0

// Follow-up: a run of the tools that the edition names for a role.
#define AGON_FOLLOW_UP_EXTERNAL 1

// Validation: there is an observation.
#define AGON_VALIDATION_DONE 0

// Validation: the validator met its own limit of time or memory.
#define AGON_VALIDATION_LIMIT 1

// Validation: the validator crashed.
#define AGON_VALIDATION_CRASHED 2

// Validation: not run: no tool has the role, or it was left out.
#define AGON_VALIDATION_NOT_RUN 3

// Evidence in the standard output.
#define AGON_STREAM_STDOUT 0

// Evidence in the standard error output.
#define AGON_STREAM_STDERR 1

// Evidence in the benchmark.
#define AGON_STREAM_BENCHMARK 2

// Evidence in the response of the step at the position `step` of the log.
#define AGON_STREAM_STEP 3

// Text: UTF-8, with a length, without a terminating NUL. `ptr` is null only if `len` is 0; a null `ptr` in an
// optional field means that there is no text.
typedef struct agon_str {
  // The first byte.
  const uint8_t *ptr;
  // How many bytes.
  uint64_t len;
} agon_str;

// Bytes of any kind: what a solver wrote is never assumed to be text.
typedef struct agon_bytes {
  // The first byte; null only if `len` is 0.
  const uint8_t *ptr;
  // How many.
  uint64_t len;
} agon_bytes;

// Bytes that are read in parts, since they may be gigabytes.
typedef struct agon_reader {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_READER_*`.
  uint64_t flags;
  // How many bytes there are, or `AGON_NO_VALUE`.
  uint64_t size;
  // All of them, if the host has them in memory; else null, and `read_at` must be used.
  struct agon_bytes whole;
  // Passed to `read_at`.
  void *ctx;
  // Copies up to `len` bytes from `offset` to `buffer`; returns how many, 0 at the end, -1 for a failure. `[call]`
  int64_t (*read_at)(void *ctx, uint64_t offset, uint8_t *buffer, uint64_t len);
} agon_reader;

// A JSON document with getters, so that a plugin in C needs no JSON parser. `pointer` is a JSON pointer (RFC 6901).
// The getters return 1 and set `out`, or return 0 if there is no such value or it is of another kind.
typedef struct agon_doc {
  // Bytes of this table.
  uint64_t struct_size;
  // The document as text.
  struct agon_str text;
  // Passed to the getters.
  void *ctx;
  // An integer. `[call]`
  uint32_t (*get_i64)(void *ctx, struct agon_str pointer, int64_t *out);
  // A string; it lives as long as the document. `[call]`
  uint32_t (*get_str)(void *ctx, struct agon_str pointer, struct agon_str *out);
  // A truth value: 0 or 1. `[call]`
  uint32_t (*get_flag)(void *ctx, struct agon_str pointer, uint32_t *out);
  // The number of elements of an array or an object. `[call]`
  uint32_t (*get_len)(void *ctx, struct agon_str pointer, uint64_t *out);
  // The name of the element at a position of an object. `[call]`
  uint32_t (*get_key)(void *ctx, struct agon_str pointer, uint64_t index, struct agon_str *out);
} agon_doc;

// A named sequence of bytes.
typedef struct agon_input {
  // Bytes of this table.
  uint64_t struct_size;
  // Its name.
  struct agon_str name;
  // What it holds: a word that the plugin chose.
  struct agon_str kind;
  // The bytes.
  const struct agon_reader *content;
} agon_input;

// A benchmark.
typedef struct agon_benchmark {
  // Bytes of this table.
  uint64_t struct_size;
  // What identifies it in results.
  struct agon_str id;
  // Its path or name, for display and for its extension; not to be opened.
  struct agon_str name;
  // Its logic; null if it has none.
  struct agon_str logic;
  // Its division; null if it has none.
  struct agon_str division;
  // Its family; null if it has none.
  struct agon_str family;
  // The expected answers, one for each check, in their order.
  const struct agon_str *statuses;
  // How many.
  uint64_t n_statuses;
  // Its text; in `judge` and later, the prepared one.
  const struct agon_reader *content;
  // Its text before `prepare`; null if it is the same.
  const struct agon_reader *original;
  // The names of the transformations that were applied to it.
  const struct agon_str *applied;
  // How many.
  uint64_t n_applied;
  // What else is known of it, as a JSON object; may be null.
  const struct agon_doc *properties;
} agon_benchmark;

// A participant: a solver and its configuration.
typedef struct agon_participant {
  // Bytes of this table.
  uint64_t struct_size;
  // What identifies it in results.
  struct agon_str id;
  // The words of its configuration.
  const struct agon_str *configuration;
  // How many.
  uint64_t n_configuration;
} agon_participant;

// The limits of a run. `AGON_NO_VALUE` is no limit.
typedef struct agon_limits {
  // Bytes of this table.
  uint64_t struct_size;
  // Wall-clock time in nanoseconds.
  uint64_t wall_ns;
  // CPU time in nanoseconds.
  uint64_t cpu_ns;
  // Memory in bytes.
  uint64_t memory_bytes;
  // Cores.
  uint64_t cores;
} agon_limits;

// What is run: a benchmark, who runs on it, and within which limits.
typedef struct agon_job {
  // Bytes of this table.
  uint64_t struct_size;
  // The benchmark.
  const struct agon_benchmark *benchmark;
  // The participant; may be null in `prepare`, if the preparation is shared by all.
  const struct agon_participant *participant;
  // The limits.
  const struct agon_limits *limits;
} agon_job;

// What was recorded of a step of a run: a command, or an expectation of its script.
typedef struct agon_step_log {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_STEP_*`.
  uint32_t kind;
  // `AGON_OUTCOME_*`.
  uint32_t outcome;
  // The name of the command step.
  struct agon_str step;
  // The label of the expectation; null for a command.
  struct agon_str label;
  // When the command was started, or the last byte before the expectation was written: nanoseconds from the start
  // of the run.
  uint64_t sent_ns;
  // When it ended, or the last byte of the response was read.
  uint64_t answered_ns;
  // CPU time in nanoseconds, or `AGON_NO_VALUE`.
  uint64_t cpu_ns;
  // The exit code of a command, or `AGON_NO_CODE`.
  int32_t exit;
  // The signal that ended a command, or `AGON_NO_CODE`.
  int32_t signal;
  // `AGON_LIMIT_*`: what ended it.
  uint32_t limit;
  // Zero.
  uint32_t reserved;
  // The response, or the command's standard output.
  const struct agon_reader *response;
  // The command's standard error output; may be null.
  const struct agon_reader *errors;
} agon_step_log;

// What was observed of a run.
typedef struct agon_observation {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_FIDELITY_*`: how much of the rest is known.
  uint32_t fidelity;
  // `AGON_LIMIT_*`: what ended the run.
  uint32_t limit;
  // The exit code, or `AGON_NO_CODE`.
  int32_t exit;
  // The signal that ended it, or `AGON_NO_CODE`.
  int32_t signal;
  // Wall-clock time in nanoseconds, or `AGON_NO_VALUE`.
  uint64_t wall_ns;
  // CPU time of the whole process tree in nanoseconds, or `AGON_NO_VALUE`.
  uint64_t cpu_ns;
  // Peak memory in bytes, or `AGON_NO_VALUE`.
  uint64_t peak_memory;
  // The standard output of the last step; null below fidelity `streams`.
  const struct agon_reader *out;
  // The standard error output of the last step; null below fidelity `streams`.
  const struct agon_reader *errors;
  // The log of the steps, in the order in which they ended.
  const struct agon_step_log *const *steps;
  // How many.
  uint64_t n_steps;
  // The files that `collect` named and that were there.
  const struct agon_input *const *collected;
  // How many.
  uint64_t n_collected;
  // The columns of an archived result as a JSON object; may be null.
  const struct agon_doc *columns;
} agon_observation;

// What `judge` came to, as `conclude` and `explain` get it.
typedef struct agon_judgement {
  // Bytes of this table.
  uint64_t struct_size;
  // What was answered: a declared word.
  struct agon_str answer;
  // `AGON_SOUNDNESS_*`.
  uint32_t soundness;
  // `AGON_CONDITION_*`.
  uint32_t condition;
  // `AGON_BLAME_*`.
  uint32_t blame;
  // Zero.
  uint32_t reserved;
  // The columns as a JSON object. A number that is no 64-bit integer, and a ratio, are strings.
  const struct agon_doc *columns;
  // The artifacts.
  const struct agon_input *const *artifacts;
  // How many.
  uint64_t n_artifacts;
} agon_judgement;

// What came of a follow-up.
typedef struct agon_validation {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_FOLLOW_UP_*`.
  uint32_t kind;
  // `AGON_VALIDATION_*`.
  uint32_t status;
  // The role, or the name of the operation.
  struct agon_str role;
  // The key of the follow-up.
  struct agon_str dedup_key;
  // The tool that was run; null for an operation of the plugin.
  struct agon_str tool;
  // What was observed; null if it was not run. Of an operation: its text as `out`, its columns as `columns`.
  const struct agon_observation *observation;
} agon_validation;

// A word of a command, or where the standard input comes from. Its size never changes.
typedef struct agon_arg {
  // `AGON_ARG_*`.
  uint32_t kind;
  // Zero.
  uint32_t reserved;
  // What `kind` says.
  struct agon_bytes text;
} agon_arg;

// A command to run.
typedef struct agon_step {
  // Bytes of this table.
  uint64_t struct_size;
  // Its name: later steps and the log refer to it.
  struct agon_str name;
  // The names of the steps that must have ended before.
  const struct agon_str *after;
  // How many.
  uint64_t n_after;
  // `AGON_WHEN_*`.
  uint32_t when;
  // Zero.
  uint32_t reserved;
  // The words of the command.
  const struct agon_arg *argv;
  // How many.
  uint64_t n_argv;
  // The standard input; ignored if the step has a script.
  struct agon_arg input;
  // The name of the edition's limits that this step has for itself; null: it shares the limits of the run.
  struct agon_str limits;
} agon_step;

// A response that the script waits for.
typedef struct agon_expect {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_EXPECT_LINE`, `AGON_EXPECT_SEXPR` or `AGON_EXPECT_EOF`.
  uint32_t framing;
  // `AGON_EXPECT_TIMED` and the other flags.
  uint32_t flags;
  // Its name in the log.
  struct agon_str label;
  // The responses that are accepted, compared without the blanks around them.
  const struct agon_bytes *accept;
  // How many.
  uint64_t n_accept;
} agon_expect;

// Something that must be checked before the verdict is final.
typedef struct agon_follow_up {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_FOLLOW_UP_*`.
  uint32_t kind;
  // Zero.
  uint32_t reserved;
  // The role of the tools, or the name of the operation.
  struct agon_str role;
  // Two follow-ups with the same role and key are run once.
  struct agon_str dedup_key;
  // The names of the inputs.
  const struct agon_str *names;
  // Where each comes from.
  const struct agon_arg *inputs;
  // How many.
  uint64_t n_inputs;
  // The name of the edition's limits for it; null: those of the role.
  struct agon_str limits;
} agon_follow_up;

// Where the outputs of one call go. All functions copy what they are given and return `AGON_OK`, or `AGON_CONTRACT`
// for what the plugin did not declare or may not emit in this call; the plugin then returns. None may be called after
// the call has returned.
typedef struct agon_sink {
  // Bytes of this table.
  uint64_t struct_size;
  // Passed to every function.
  void *ctx;
  // Why the status is not `AGON_OK`: exactly one for each failed call. `blame` is `AGON_BLAME_*`; `pointer` is the
  // JSON pointer to a bad parameter, else null; `hint` says what to do, and may be null. `[call]`
  int32_t (*fail)(void *ctx,
                  int32_t status,
                  uint32_t blame,
                  struct agon_str message,
                  struct agon_str pointer,
                  struct agon_str hint);
  // Not 0 when the call should return `AGON_CANCELLED` soon. Cheap; to be asked every few milliseconds. `[call]`
  uint32_t (*cancelled)(void *ctx);
  // A remark that is kept with the result. `level` is `AGON_LOG_*`, `code` a short word. `[call]`
  int32_t (*diagnostic)(void *ctx, uint32_t level, struct agon_str code, struct agon_str message);
  // Appends to the text of the call: the description (`describe`), the prepared benchmark (`prepare`), the output
  // of an operation (`run_internal`), the explanation (`explain`). `[call]`
  int32_t (*text)(void *ctx, struct agon_bytes bytes);
  // The verdict: its parts are never merged. The last one counts. In `judge` and `conclude`. `[call]`
  int32_t (*verdict)(void *ctx, struct agon_str answer, uint32_t soundness, uint32_t condition, uint32_t blame);
  // A column of numbers. Columns: in `judge`, `conclude` and `run_internal`; the last value counts. `[call]`
  int32_t (*column_i64)(void *ctx, struct agon_str name, int64_t value);
  // A column of numbers. `[call]`
  int32_t (*column_u64)(void *ctx, struct agon_str name, uint64_t value);
  // A column of numbers, exactly: `-12`, `3.25`, or `1/3`. `[call]`
  int32_t (*column_ratio)(void *ctx, struct agon_str name, struct agon_str value);
  // A column of words or text. `[call]`
  int32_t (*column_str)(void *ctx, struct agon_str name, struct agon_str value);
  // A column of truth values: 0 or 1. `[call]`
  int32_t (*column_flag)(void *ctx, struct agon_str name, uint32_t value);
  // A column of times, in nanoseconds. `[call]`
  int32_t (*column_time)(void *ctx, struct agon_str name, uint64_t nanoseconds);
  // A column of sizes, in bytes. `[call]`
  int32_t (*column_memory)(void *ctx, struct agon_str name, uint64_t bytes);
  // Begins an artifact: bytes that are kept with the result. In `judge`, `run_internal` and `conclude`. `[call]`
  int32_t (*artifact_begin)(void *ctx, struct agon_str name, struct agon_str kind);
  // Appends to the artifact. `[call]`
  int32_t (*artifact_write)(void *ctx, struct agon_bytes bytes);
  // Ends the artifact. `[call]`
  int32_t (*artifact_end)(void *ctx);
  // A part of the artifact that is copied from an output by the host: `stream` is `AGON_STREAM_*`, `step` the
  // position in the log, `from` and `to` byte offsets. For what may be gigabytes. `[call]`
  int32_t (*artifact_copy)(void *ctx, uint32_t stream, uint32_t step, uint64_t from, uint64_t to);
  // A command step. In `prepare`. Without any, the participant's command is run with the benchmark's path. `[call]`
  int32_t (*step)(void *ctx, const struct agon_step *step);
  // Bytes that the script of the last step sends. In `prepare`. `[call]`
  int32_t (*script_send)(void *ctx, struct agon_bytes bytes);
  // A response that the script of the last step waits for. In `prepare`. `[call]`
  int32_t (*script_expect)(void *ctx, const struct agon_expect *expect);
  // Asks for a transformation of the benchmark by the host, such as `scramble`, before the run. `mode` is a word of
  // that transformation, `flags` are `AGON_TRANSFORM_*`. In `prepare`. `[call]`
  int32_t (*transform)(void *ctx, struct agon_str name, struct agon_str mode, uint32_t flags);
  // Asks for a file that the run leaves in its working folder; `path` is relative to it. In `prepare`. `[call]`
  int32_t (*collect)(void *ctx, struct agon_str name, struct agon_str path);
  // Asks for a follow-up. In `judge`. `[call]`
  int32_t (*follow_up)(void *ctx, const struct agon_follow_up *follow_up);
  // Points to the bytes that a verdict or an explanation rests on. In `judge`, `conclude` and `explain`. `[call]`
  int32_t (*evidence)(void *ctx, uint32_t stream, uint32_t step, uint64_t from, uint64_t to, struct agon_str note);
} agon_sink;

// What the host offers beside the sinks. It lives until the process ends.
typedef struct agon_host {
  // Bytes of this table.
  uint64_t struct_size;
  // The host's `AGON_ABI_MAJOR`.
  uint32_t abi_major;
  // The host's `AGON_ABI_MINOR`.
  uint32_t abi_minor;
  // Passed to every function.
  void *ctx;
  // A line for the log. `level` is `AGON_LOG_*`. `[concurrent]`
  void (*log)(void *ctx, uint32_t level, struct agon_str message);
  // An optional interface of the host by its name with a version, or null. `[concurrent]`
  const void *(*interface)(void *ctx, struct agon_str id);
} agon_host;

// What a track plugin does. A function that is null or beyond `struct_size` has the default that its comment states;
// `describe`, `open`, `close` and `judge` are required. The functions return a status; on any but `AGON_OK` they
// have called `fail` of the sink once.
typedef struct agon_track_table {
  // Bytes of this table.
  uint64_t struct_size;
  // Emits the description as JSON text: parameters, columns, answers, operations. Always the same. `[concurrent]`
  int32_t (*describe)(const struct agon_sink *sink);
  // Makes a track for these parameters, a JSON object. The track does not change afterwards. `[concurrent]`
  int32_t (*open)(const struct agon_host *host,
                  const struct agon_doc *parameters,
                  const struct agon_sink *sink,
                  void **track);
  // Ends a track. No other call is under way or follows. `[any]`
  void (*close)(void *track);
  // Says how the benchmark is prepared and what is run. Default: the participant's command with the benchmark's
  // path. `[concurrent]`
  int32_t (*prepare)(void *track, const struct agon_job *job, const struct agon_sink *sink);
  // Judges an observation: emits one verdict, the columns, artifacts, follow-ups. `[concurrent]`
  int32_t (*judge)(void *track,
                   const struct agon_job *job,
                   const struct agon_observation *observation,
                   const struct agon_sink *sink);
  // Performs an operation that a follow-up asked for. Default: `AGON_UNSUPPORTED`. `[worker]`
  int32_t (*run_internal)(void *track,
                          struct agon_str operation,
                          const struct agon_job *job,
                          const struct agon_input *const *inputs,
                          uint64_t n_inputs,
                          const struct agon_sink *sink);
  // Says the final verdict, given what came of the follow-ups in the order in which they were asked for. What is
  // not emitted stays as `judge` had it. Default: all stays. `[concurrent]`
  int32_t (*conclude)(void *track,
                      const struct agon_job *job,
                      const struct agon_judgement *judgement,
                      const struct agon_validation *const *validations,
                      uint64_t n_validations,
                      const struct agon_sink *sink);
  // Says why, as text and evidence. Default: nothing. `[concurrent]`
  int32_t (*explain)(void *track,
                     const struct agon_job *job,
                     const struct agon_observation *observation,
                     const struct agon_judgement *judgement,
                     const struct agon_validation *const *validations,
                     uint64_t n_validations,
                     const struct agon_sink *sink);
  // An optional interface of the plugin by its name with a version, or null. Default: null. `[concurrent]`
  const void *(*interface)(struct agon_str id);
} agon_track_table;

// The descriptor: the one constant that a plugin exports, as `agon_plugin_v1` (or as the symbol that the manifest
// names). Nothing of the plugin's is run to read it.
typedef struct agon_plugin {
  // Bytes of this table.
  uint64_t struct_size;
  // `AGON_MAGIC`.
  uint64_t magic;
  // The `AGON_ABI_MAJOR` that it was built with.
  uint32_t abi_major;
  // The `AGON_ABI_MINOR` that it was built with.
  uint32_t abi_minor;
  // The least minor version of the host that it needs.
  uint32_t min_host_minor;
  // Zero.
  uint32_t reserved;
  // `AGON_CAP_*` that the host must know.
  uint32_t caps_required;
  // `AGON_CAP_*` that the host may ignore.
  uint32_t caps_optional;
  // Who made it.
  struct agon_str vendor;
  // The name by which editions refer to it: lower-case letters, digits, `-` and `.`.
  struct agon_str id;
  // Its version. It changes whenever any judgement could change.
  struct agon_str version;
  // What it does.
  const struct agon_track_table *track;
} agon_plugin;

// The interface `agon.conformance/1`.
typedef struct agon_conformance {
  // Bytes of this table.
  uint64_t struct_size;
  // Panics inside the guard that all functions have, and returns what they would. `[any]`
  int32_t (*panic)(const struct agon_sink *sink);
} agon_conformance;

#endif  /* AGON_PLUGIN_H */


/* Text from a string literal. */
#ifdef __cplusplus
#define AGON_STR(literal) (agon_str{(const uint8_t *)("" literal), sizeof(literal) - 1})
#else
#define AGON_STR(literal) ((agon_str){(const uint8_t *)("" literal), sizeof(literal) - 1})
#endif

/* The same in the initializer of a constant. */
#define AGON_STR_INIT(literal) {(const uint8_t *)("" literal), sizeof(literal) - 1}

/* Whether a table (a pointer that is not null) is large enough to have a field. */
#define AGON_HAS(table, field) \
  ((table)->struct_size >= (uint64_t)((const char *)&(table)->field - (const char *)(table)) + sizeof((table)->field))

/* The manifest: what the host reads before it loads the library. No quotes or backslashes in the texts. */
#define AGON_MANIFEST(id, version, vendor) \
  __attribute__((used, section(".agon"))) static const char agon_manifest[] = \
      "{\"agon-plugin\":1,\"id\":\"" id "\",\"version\":\"" version "\",\"vendor\":\"" vendor \
      "\",\"symbol\":\"agon_plugin_v1\",\"abi\":\"1.0\",\"min-host-minor\":0}"

/* The sizes of the tables in this version. */
#ifdef __cplusplus
static_assert(sizeof(agon_str) == 16, "agon_str has 16 bytes");
static_assert(sizeof(agon_bytes) == 16, "agon_bytes has 16 bytes");
static_assert(sizeof(agon_reader) == 56, "agon_reader has 56 bytes");
static_assert(sizeof(agon_doc) == 72, "agon_doc has 72 bytes");
static_assert(sizeof(agon_input) == 48, "agon_input has 48 bytes");
static_assert(sizeof(agon_benchmark) == 144, "agon_benchmark has 144 bytes");
static_assert(sizeof(agon_participant) == 40, "agon_participant has 40 bytes");
static_assert(sizeof(agon_limits) == 40, "agon_limits has 40 bytes");
static_assert(sizeof(agon_job) == 32, "agon_job has 32 bytes");
static_assert(sizeof(agon_step_log) == 104, "agon_step_log has 104 bytes");
static_assert(sizeof(agon_observation) == 104, "agon_observation has 104 bytes");
static_assert(sizeof(agon_judgement) == 64, "agon_judgement has 64 bytes");
static_assert(sizeof(agon_validation) == 72, "agon_validation has 72 bytes");
static_assert(sizeof(agon_arg) == 24, "agon_arg has 24 bytes");
static_assert(sizeof(agon_step) == 104, "agon_step has 104 bytes");
static_assert(sizeof(agon_expect) == 48, "agon_expect has 48 bytes");
static_assert(sizeof(agon_follow_up) == 88, "agon_follow_up has 88 bytes");
static_assert(sizeof(agon_sink) == 200, "agon_sink has 200 bytes");
static_assert(sizeof(agon_host) == 40, "agon_host has 40 bytes");
static_assert(sizeof(agon_track_table) == 80, "agon_track_table has 80 bytes");
static_assert(sizeof(agon_plugin) == 96, "agon_plugin has 96 bytes");
static_assert(sizeof(agon_conformance) == 16, "agon_conformance has 16 bytes");
#else
_Static_assert(sizeof(agon_str) == 16, "agon_str has 16 bytes");
_Static_assert(sizeof(agon_bytes) == 16, "agon_bytes has 16 bytes");
_Static_assert(sizeof(agon_reader) == 56, "agon_reader has 56 bytes");
_Static_assert(sizeof(agon_doc) == 72, "agon_doc has 72 bytes");
_Static_assert(sizeof(agon_input) == 48, "agon_input has 48 bytes");
_Static_assert(sizeof(agon_benchmark) == 144, "agon_benchmark has 144 bytes");
_Static_assert(sizeof(agon_participant) == 40, "agon_participant has 40 bytes");
_Static_assert(sizeof(agon_limits) == 40, "agon_limits has 40 bytes");
_Static_assert(sizeof(agon_job) == 32, "agon_job has 32 bytes");
_Static_assert(sizeof(agon_step_log) == 104, "agon_step_log has 104 bytes");
_Static_assert(sizeof(agon_observation) == 104, "agon_observation has 104 bytes");
_Static_assert(sizeof(agon_judgement) == 64, "agon_judgement has 64 bytes");
_Static_assert(sizeof(agon_validation) == 72, "agon_validation has 72 bytes");
_Static_assert(sizeof(agon_arg) == 24, "agon_arg has 24 bytes");
_Static_assert(sizeof(agon_step) == 104, "agon_step has 104 bytes");
_Static_assert(sizeof(agon_expect) == 48, "agon_expect has 48 bytes");
_Static_assert(sizeof(agon_follow_up) == 88, "agon_follow_up has 88 bytes");
_Static_assert(sizeof(agon_sink) == 200, "agon_sink has 200 bytes");
_Static_assert(sizeof(agon_host) == 40, "agon_host has 40 bytes");
_Static_assert(sizeof(agon_track_table) == 80, "agon_track_table has 80 bytes");
_Static_assert(sizeof(agon_plugin) == 96, "agon_plugin has 96 bytes");
_Static_assert(sizeof(agon_conformance) == 16, "agon_conformance has 16 bytes");
#endif
