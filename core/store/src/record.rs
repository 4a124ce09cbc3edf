//! What a store holds: the description of the competition, and the kinds of records of the journal.
//!
//! Times are in nanoseconds, sizes in bytes. Whatever the rest of the engine wants to keep beside these fields goes into
//! `extra`, which the store neither reads nor changes.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::Digest;

/// The version of the format that this crate writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

fn no(value: &bool) -> bool {
    !*value
}

/// What a store is about, in `store.json`; it never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The version of the store's format.
    pub format: u32,
    /// The version of the program that made the store.
    pub agon: String,
    /// When the store was made, as RFC 3339 says it.
    pub created: String,
    /// The rules.
    pub edition: EditionText,
    /// The competition's seed.
    pub seed: Option<i64>,
    /// Whatever else belongs to the whole competition.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

/// An edition as it was used: resolved, with all that it extends and the deviations of its reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EditionText {
    /// Its name.
    pub name: String,
    /// By which reading it was resolved.
    pub reading: String,
    /// The hash of the text.
    pub hash: Digest,
    /// The resolved text.
    pub text: String,
}

impl EditionText {
    /// An edition's text with its hash.
    pub fn new(name: impl Into<String>, reading: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { name: name.into(), reading: reading.into(), hash: Digest::of(text.as_bytes()), text }
    }
}

/// A track plugin, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PluginId {
    /// Its id, as editions name it.
    pub id: String,
    /// Its version.
    pub version: String,
    /// The hash of its file; for a plugin that is linked in, that of the program.
    pub hash: String,
}

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// The first record: which `store.json` the journal belongs to.
    Store(Belongs),
    /// A program started to write.
    Session(Session),
    /// What is to be run in one track.
    Plan(Plan),
    /// Where an output is kept; written by the store itself.
    Output(Output),
    /// What happened in a run.
    Observation(Observation),
    /// A verdict on an observation.
    Result(Verdict),
    /// What happened in a job that a verdict asked for.
    FollowUp(FollowUp),
    /// Something that went wrong and is nobody's result.
    Note(Note),
}

/// Which `store.json` a journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Belongs {
    /// The hash of the bytes of `store.json`.
    pub meta: Digest,
}

/// A program started to write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// When, as RFC 3339 says it.
    pub when: String,
    /// The program's version.
    pub agon: String,
    /// The machine and what it can enforce and measure.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub host: Json,
    /// The plugins in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<PluginId>,
    /// What these plugins declare of themselves, in the same order: the columns of their results can be understood without
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptions: Vec<Json>,
    /// What can check answers, for whoever judges later; absent if this session could run nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<SessionTool>>,
    /// Whatever else belongs to the session.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

/// A tool that checks answers, as it was when a session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionTool {
    /// What it is for.
    pub role: String,
    /// Its name.
    pub name: String,
    /// The file that it runs.
    pub program: Program,
    /// Its arguments; `{NAME}` stands for the input of that name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Folders and files that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
}

/// What is to be run in one track: every entrant on every benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The track.
    pub track: String,
    /// The plugin that prepares and judges.
    pub plugin: PluginId,
    /// The plugin's parameters.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub parameters: Json,
    /// The limits of a run, by name.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub limits: Json,
    /// Those of the limits that were given on the command line instead of by the edition.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub overrides: IndexMap<String, String>,
    /// The entrants, in the order of their file.
    pub entrants: Vec<PlanEntrant>,
    /// The benchmarks, in the order of their list.
    pub benchmarks: Vec<PlanBenchmark>,
    /// Whatever else belongs to the track.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

/// An entrant: one solver with one configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanEntrant {
    /// What names it in the records.
    pub id: String,
    /// The solver's name.
    pub solver: String,
    /// The solver's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Whether it can win.
    pub competing: bool,
    /// The command line as given, program first.
    pub command: Vec<String>,
    /// The files that the command runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// What the version command printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The benchmarks that it is not run on, by their places in the plan's list: those of logics that it does not support.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u32>,
    /// Everything else that the entrants file says of it, as texts by column.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub fields: IndexMap<String, String>,
}

/// A file that an entrant runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where it was found.
    pub path: String,
    /// The hash of its content.
    pub hash: Digest,
    /// Its size.
    pub bytes: u64,
}

/// A benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanBenchmark {
    /// What names it in the records.
    pub id: String,
    /// Where it was read from.
    pub path: String,
    /// Its logic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<String>,
    /// Its division.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<String>,
    /// Its family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The expected answers, one for each check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<String>,
    /// The hash of its content.
    pub hash: Digest,
    /// Its size.
    pub bytes: u64,
}

/// Where an output is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The hash of the output.
    pub digest: Digest,
    /// The size of the output.
    pub bytes: u64,
    /// Where.
    pub place: Place,
}

/// Where an output is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// Here: a short text.
    Text(String),
    /// In `outputs.zst`: a frame from this byte on, of so many bytes.
    Pack {
        /// The first byte of the frame.
        offset: u64,
        /// The bytes of the frame.
        length: u64,
    },
    /// In a file of its own under `objects/`.
    Object {
        /// The bytes of the file.
        length: u64,
    },
}

/// What happened in a run, before anybody interprets it. There is one for each entrant and benchmark of a track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The track.
    pub track: String,
    /// The entrant's id.
    pub entrant: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// What happened.
    pub run: Run,
}

/// What happened when a program was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// How much is known.
    pub fidelity: Fidelity,
    /// The command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The exit code, if the program exited.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The limit that ended it.
    pub limit: LimitKind,
    /// Wall-clock time, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time over all processes, in nanoseconds.
    pub cpu_ns: u64,
    /// Peak memory over all processes, in bytes; absent if it was not measured.
    pub peak_memory: Option<u64>,
    /// What it printed on standard output.
    pub stdout: Stream,
    /// What it printed on standard error.
    pub stderr: Stream,
    /// The steps of a conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Files that it left and that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collected: Vec<Collected>,
    /// The hash of what the program was given, if that was not the benchmark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Digest>,
    /// When it began, as RFC 3339 says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The number of the session's record, which has the facts about the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// Whatever else was measured, and by what.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

impl Run {
    /// The outputs that it refers to.
    pub fn outputs(&self) -> impl Iterator<Item = Digest> {
        let steps = self.steps.iter().flat_map(|s| std::iter::once(&s.response).chain(&s.errors));
        let files = self.collected.iter().map(|f| &f.content);
        [&self.stdout, &self.stderr].into_iter().chain(steps).chain(files).map(|s| s.digest)
    }
}

/// How much is known of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Values of columns only.
    Columns,
    /// How it ended, times, and an answer.
    Summary,
    /// Everything that was printed.
    Streams,
}

/// The limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// None did.
    None,
    /// Wall-clock time.
    Wall,
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
    /// Printed bytes.
    Output,
    /// Bytes in the folder for temporary files.
    Disk,
    /// Processes.
    Processes,
}

/// Printed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The hash of the kept bytes.
    pub digest: Digest,
    /// How many are kept.
    pub bytes: u64,
    /// Whether more were printed than are kept.
    #[serde(default, skip_serializing_if = "no")]
    pub truncated: bool,
}

impl Stream {
    /// A stream on which nothing was printed.
    pub fn empty() -> Self {
        Self { digest: Digest::of(b""), bytes: 0, truncated: false }
    }
}

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What the script calls it.
    pub name: String,
    /// When its text was sent, in nanoseconds since the start of the run.
    pub sent_ns: u64,
    /// When the answer was complete, in nanoseconds since the start of the run; absent if it never was.
    pub answered_ns: Option<u64>,
    /// CPU time spent in it, in nanoseconds; absent if it was not measured.
    pub cpu_ns: Option<u64>,
    /// The name of the answer that was waited for; absent if the step is a command of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How it ended: `done`, `eof`, `limit`, `stopped` or `not-run`.
    pub outcome: String,
    /// A command's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal that ended a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The limit that ended it.
    pub limit: LimitKind,
    /// The answer, or what a command printed on standard output.
    pub response: Stream,
    /// What a command printed on standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Stream>,
    /// What came of several commands that were sent one by one; absent if one answer was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchanged>,
}

/// What came of commands that were sent one by one, each when the one before had been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Exchanged {
    /// How many were answered.
    pub answers: u64,
    /// How many answers were not accepted, with output that was there before a command was sent.
    pub refused: u64,
    /// The time between a command and its answer, in nanoseconds, added up.
    pub waited_ns: u64,
    /// Which answer is kept, counted from 0: the first that was not accepted, else the last.
    pub kept: u64,
}

/// A file that a run left and that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Collected {
    /// The name by which it was asked for.
    pub name: String,
    /// Its content.
    pub content: Stream,
}

/// A verdict on an observation. The newest one counts; older ones stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The track.
    pub track: String,
    /// The entrant's id.
    pub entrant: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The number of the observation's record.
    pub observation: u64,
    /// Whether the plugin only looked at the run, or concluded from the follow-ups as well.
    pub stage: Stage,
    /// Who judged.
    pub plugin: PluginId,
    /// What the entrant claimed.
    pub answer: String,
    /// Whether the claim holds.
    pub soundness: Soundness,
    /// How the run ended.
    pub condition: Condition,
    /// Whose fault it is, if it did not end well.
    pub blame: Blame,
    /// The plugin's columns.
    pub columns: IndexMap<String, Cell>,
    /// What the plugin took from the outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What must be run before a conclusion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follow_ups: Vec<Asked>,
    /// What the plugin said about it, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
    /// Where in the outputs its reasons stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Whatever else belongs to the verdict.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

impl Verdict {
    /// The names of everything in which two verdicts say something different about the run, who judged and when apart.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut names = Vec::new();
        let mut note = |name: &str, differs: bool| {
            if differs {
                names.push(name.to_string());
            }
        };
        note("answer", self.answer != other.answer);
        note("soundness", self.soundness != other.soundness);
        note("condition", self.condition != other.condition);
        note("blame", self.blame != other.blame);
        let columns = self.columns.keys().chain(other.columns.keys().filter(|k| !self.columns.contains_key(*k)));
        for name in columns {
            note(name, self.columns.get(name) != other.columns.get(name));
        }
        names
    }
}

/// How far a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// From the run alone.
    Judged,
    /// From the run and all follow-ups.
    Concluded,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Soundness {
    /// It agrees with what is known.
    Agrees,
    /// It contradicts what is known.
    Contradicts,
    /// Nothing is known, or not yet.
    Unverified,
    /// Nothing was claimed.
    NotApplicable,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// By itself.
    Finished,
    /// By the limit on CPU time.
    CpuLimit,
    /// By the limit on wall-clock time.
    WallLimit,
    /// By the limit on memory.
    MemoryLimit,
    /// By a crash.
    Crashed,
    /// It printed what it must not.
    MalformedOutput,
    /// The competition's own machinery failed.
    HarnessFault,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// Nobody's.
    None,
    /// The entrant's.
    Entrant,
    /// The benchmark's.
    Benchmark,
    /// The machine's.
    Host,
    /// The plugin's.
    Plugin,
}

macro_rules! words {
    ($($name:ident { $($variant:ident => $word:literal),+ })+) => { $(
        impl $name {
            /// The word that files have for it.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    )+ };
}

words! {
    Soundness {
        Agrees => "agrees", Contradicts => "contradicts", Unverified => "unverified", NotApplicable => "not-applicable"
    }
    Condition {
        Finished => "finished", CpuLimit => "cpu-limit", WallLimit => "wall-limit", MemoryLimit => "memory-limit",
        Crashed => "crashed", MalformedOutput => "malformed-output", HarnessFault => "harness-fault"
    }
    Blame { None => "none", Entrant => "entrant", Benchmark => "benchmark", Host => "host", Plugin => "plugin" }
}

/// A value of a plugin's column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// A whole number.
    Int(i64),
    /// A whole number that is not negative.
    Uint(u64),
    /// An exact number as text: `-12`, `3.25` or `1/3`.
    Ratio(String),
    /// One of the words that the column declares.
    Word(String),
    /// Any text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A time, in nanoseconds.
    Time(u64),
    /// An amount of memory, in bytes.
    Memory(u64),
}

/// What a plugin took from the outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Its name.
    pub name: String,
    /// What kind of thing it is.
    pub kind: String,
    /// The hash of its bytes, which are kept as an output.
    pub digest: Digest,
    /// Its size.
    pub bytes: u64,
}

/// A job that a verdict asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// `internal`: the plugin does it in a worker; `external`: a tool of the edition does it.
    pub kind: String,
    /// What it is for.
    pub role: String,
    /// Equal for equal jobs, which are done once.
    pub dedup_key: String,
    /// What the job is given.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub inputs: Json,
}

/// Where a reason stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// In which output: `stdout`, `stderr`, or the name of a step or artifact.
    pub stream: String,
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What happened in a job that a verdict asked for. Equal jobs are done once for each tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FollowUp {
    /// The track.
    pub track: String,
    /// What it is for.
    pub role: String,
    /// Equal for equal jobs.
    pub dedup_key: String,
    /// Which tool did it; empty if the plugin did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What happened.
    pub run: Run,
    /// Whatever else the job brought.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

/// Something that went wrong and is nobody's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// When, as RFC 3339 says it.
    pub when: String,
    /// What kind of thing it is: `harness-fault`, `plugin-crash`, …
    pub about: String,
    /// What happened, for people.
    pub text: String,
    /// The track, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
    /// The entrant, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrant: Option<String>,
    /// The benchmark, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// Whatever else is known.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}
