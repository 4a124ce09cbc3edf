//! From an observation to a verdict: the plugin judges, what it asks for is done, and it concludes. The same way is taken
//! right after a run and years later, from the store alone.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

use agon_host::Failure;
use agon_sdk::values::{
    Arg, Findings, FollowUp, FollowUpKind, Input, Job, Judgement, Observation, Output, Plan, Source, StepLog,
    StepOutcome, Validation, ValidationStatus,
};
use agon_store::record::{self, PluginId, Record, Stage, Verdict};
use agon_store::{Store, StoreError};

use crate::convert;

/// A plugin's track, wherever its code is: in this program, in a library, or in a process of its own. Every fault is a
/// value; a plugin that dies is one, too.
pub trait Judge: Send + Sync {
    /// Who judges.
    fn identity(&self) -> PluginId;
    /// Decides how a benchmark is prepared and what is run.
    fn prepare(&self, job: &Job) -> Result<Plan, Failure>;
    /// Judges an observation.
    fn judge(&self, job: &Job, observation: &Observation) -> Result<Judgement, Failure>;
    /// Performs an operation that a follow-up asked for.
    fn run_internal(&self, operation: &str, job: &Job, inputs: &[Input]) -> Result<Findings, Failure>;
    /// Says the final verdict.
    fn conclude(
        &self,
        job: &Job,
        observation: &Observation,
        judgement: &Judgement,
        validations: &[Validation],
    ) -> Result<Judgement, Failure>;
}

/// A track that a plugin has opened, with what results record of the plugin.
#[derive(Debug)]
pub struct Opened {
    track: agon_host::Track,
    identity: PluginId,
}

impl Opened {
    /// A track of the host's.
    pub fn new(track: agon_host::Track) -> Self {
        let entry = track.hosted().entry();
        let identity =
            PluginId { id: entry.id.clone(), version: entry.version.clone(), hash: entry.hashes.blake3.clone() };
        Self { track, identity }
    }

    /// What is recorded of the plugin and where it was found.
    pub fn entry(&self) -> &agon_host::Entry {
        self.track.hosted().entry()
    }

    /// What the plugin declares of itself.
    ///
    /// # Errors
    /// If that is no JSON, which the host has made sure it is.
    pub fn description(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::from_str(self.track.hosted().description_json())
    }
}

impl Judge for Opened {
    fn identity(&self) -> PluginId {
        self.identity.clone()
    }

    fn prepare(&self, job: &Job) -> Result<Plan, Failure> {
        self.track.prepare(job)
    }

    fn judge(&self, job: &Job, observation: &Observation) -> Result<Judgement, Failure> {
        self.track.judge(job, observation)
    }

    fn run_internal(&self, operation: &str, job: &Job, inputs: &[Input]) -> Result<Findings, Failure> {
        self.track.run_internal(operation, job, inputs)
    }

    fn conclude(
        &self,
        job: &Job,
        observation: &Observation,
        judgement: &Judgement,
        validations: &[Validation],
    ) -> Result<Judgement, Failure> {
        self.track.conclude(job, observation, judgement, validations)
    }
}

/// Runs a tool that a follow-up asks for.
pub trait Tools: Sync {
    /// The names of the tools that have a role; empty if nobody has it.
    fn of_role(&self, role: &str) -> Vec<String>;
    /// Runs one of them on inputs, in files whose names begin with those of the inputs.
    fn run(&self, role: &str, tool: &str, inputs: &[Input], limits: Option<&str>) -> Result<record::Run, ToolFault>;
}

/// Why a tool gave nothing.
#[derive(Debug)]
pub enum ToolFault {
    /// It cannot be run: a sentence.
    Host(String),
    /// Whatever is said of it can no longer be written down.
    Store(StoreError),
}

/// Nobody has any role.
#[derive(Debug)]
pub struct NoTools;

impl Tools for NoTools {
    fn of_role(&self, _role: &str) -> Vec<String> {
        Vec::new()
    }

    fn run(&self, role: &str, _: &str, _: &[Input], _: Option<&str>) -> Result<record::Run, ToolFault> {
        Err(ToolFault::Host(format!("there is no tool for the role {role}")))
    }
}

/// Why a run has no verdict.
#[derive(Debug)]
pub enum Unjudged {
    /// The plugin failed. It counts against nobody.
    Plugin(Failure),
    /// The machine did: a sentence.
    Host(String),
    /// Nothing more can be written down.
    Store(StoreError),
}

impl From<StoreError> for Unjudged {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<StoreError> for ToolFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ToolFault> for Unjudged {
    fn from(fault: ToolFault) -> Self {
        match fault {
            ToolFault::Host(text) => Self::Host(text),
            ToolFault::Store(error) => Self::Store(error),
        }
    }
}

/// Which run is judged.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The track.
    pub track: &'a str,
    /// The entrant's id.
    pub entrant: &'a str,
    /// The benchmark's id.
    pub benchmark: &'a str,
    /// The number of the observation's record.
    pub observation: u64,
}

/// Judges runs, several at a time.
pub struct Bench<'a> {
    /// The plugin.
    pub judge: &'a dyn Judge,
    /// Where follow-ups and verdicts go.
    pub store: &'a Store,
    /// What follow-ups are done with.
    pub tools: &'a dyn Tools,
    /// Whether runs are judged again: then a check that nobody can make, and that was not asked for before, leaves the
    /// run without a new verdict. Right after a run it is the organiser's choice to have no tool for a role.
    again: bool,
    /// How many checks nobody made, by role.
    unmade: Mutex<BTreeMap<String, u64>>,
    under_way: Mutex<HashSet<(String, String, String)>>,
    finished: Condvar,
}

impl<'a> Bench<'a> {
    /// A plugin, a store and tools.
    pub fn new(judge: &'a dyn Judge, store: &'a Store, tools: &'a dyn Tools) -> Self {
        Self {
            judge,
            store,
            tools,
            again: false,
            unmade: Mutex::default(),
            under_way: Mutex::default(),
            finished: Condvar::new(),
        }
    }

    /// The same, to judge what was judged before.
    pub fn again(judge: &'a dyn Judge, store: &'a Store, tools: &'a dyn Tools) -> Self {
        Self { again: true, ..Self::new(judge, store, tools) }
    }

    /// How many checks verdicts were given without, since no tool has the role: by role.
    pub fn unmade(&self) -> BTreeMap<String, u64> {
        self.unmade.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The final verdict on an observation, recorded.
    ///
    /// # Errors
    /// If the plugin or the machine fails, or the store.
    pub fn verdict(&self, pair: Pair<'_>, job: &Job, observation: &Observation) -> Result<Verdict, Unjudged> {
        let judged = self.judge.judge(job, observation).map_err(Unjudged::Plugin)?;
        let mut stage = Stage::Judged;
        let mut last = judged.clone();
        if !judged.follow_ups.is_empty() {
            let mut validations = Vec::new();
            for follow_up in &judged.follow_ups {
                self.follow(pair, follow_up, job, observation, &judged, &mut validations)?;
            }
            last = self.judge.conclude(job, observation, &judged, &validations).map_err(Unjudged::Plugin)?;
            stage = Stage::Concluded;
        }
        let mut artifacts = Vec::new();
        for artifact in &last.artifacts {
            let bytes = artifact
                .bytes(job, observation)
                .map_err(|e| Unjudged::Host(format!("the artifact {} cannot be read: {e}", artifact.name)))?;
            let kept = self.store.put(&bytes)?;
            artifacts.push(record::Artifact {
                name: artifact.name.clone(),
                kind: artifact.kind.clone(),
                digest: kept.digest,
                bytes: kept.bytes,
            });
        }
        let verdict = convert::verdict(pair, stage, self.judge.identity(), &last, &judged.follow_ups, artifacts);
        self.store.enqueue(&Record::Result(verdict.clone()))?;
        Ok(verdict)
    }

    /// What came of a follow-up: from the store, if it was done before, else done now.
    fn follow(
        &self,
        pair: Pair<'_>,
        asked: &FollowUp,
        job: &Job,
        observation: &Observation,
        judged: &Judgement,
        validations: &mut Vec<Validation>,
    ) -> Result<(), Unjudged> {
        let track = pair.track;
        let mut tools = match asked.kind {
            FollowUpKind::Internal => vec![String::new()],
            FollowUpKind::External => self.tools.of_role(&asked.role),
        };
        if tools.is_empty() {
            // Nobody has the role now, but what was said before is in the store.
            let done = self.store.follow_ups(track, &asked.role, &asked.dedup_key)?;
            tools = done.into_iter().map(|f| f.tool).collect();
        }
        let validation = |tool: &str, status, observation| Validation {
            kind: asked.kind,
            status,
            role: asked.role.clone(),
            dedup_key: asked.dedup_key.clone(),
            tool: (!tool.is_empty()).then(|| tool.to_string()),
            observation,
        };
        if tools.is_empty() {
            if self.again && !self.was_asked(pair, asked)? {
                return Err(Unjudged::Host(format!(
                    "the plugin asks for the check {}, which was never made, and no tool of the store is for it; its \
                     verdict stays as it was. Name a tool for this role with --entrants FILE",
                    asked.role
                )));
            }
            *self.unmade.lock().unwrap_or_else(PoisonError::into_inner).entry(asked.role.clone()).or_default() += 1;
            validations.push(validation("", ValidationStatus::NotRun, None));
        }
        for tool in &tools {
            let run = self.once(track, asked, tool, job, observation, judged)?;
            let seen = convert::observation(self.store, &run).map_err(Unjudged::Store)?;
            let status = match (run.limit, run.signal) {
                (record::LimitKind::None, None) => ValidationStatus::Done,
                (record::LimitKind::None, Some(_)) => ValidationStatus::Crashed,
                _ => ValidationStatus::Limit,
            };
            validations.push(validation(tool, status, Some(seen)));
        }
        Ok(())
    }

    /// Whether the verdict that a run has already was given with the same question left open.
    fn was_asked(&self, pair: Pair<'_>, asked: &FollowUp) -> Result<bool, StoreError> {
        let before = self.store.verdict(pair.track, pair.entrant, pair.benchmark)?;
        Ok(before.is_some_and(|(_, verdict)| {
            verdict.follow_ups.iter().any(|f| f.role == asked.role && f.dedup_key == asked.dedup_key)
        }))
    }

    fn once(
        &self,
        track: &str,
        asked: &FollowUp,
        tool: &str,
        job: &Job,
        observation: &Observation,
        judged: &Judgement,
    ) -> Result<record::Run, Unjudged> {
        let key = (asked.role.clone(), asked.dedup_key.clone(), tool.to_string());
        {
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            while under_way.contains(&key) {
                under_way = self.finished.wait(under_way).unwrap_or_else(PoisonError::into_inner);
            }
            if let Some(done) = self.store.follow_up(track, &asked.role, &asked.dedup_key, tool)? {
                return Ok(done.run);
            }
            under_way.insert(key.clone());
        }
        let run = self.perform(track, asked, tool, job, observation, judged);
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        self.finished.notify_all();
        run
    }

    fn perform(
        &self,
        track: &str,
        asked: &FollowUp,
        tool: &str,
        job: &Job,
        observation: &Observation,
        judged: &Judgement,
    ) -> Result<record::Run, Unjudged> {
        let mut inputs = Vec::new();
        for (name, arg) in &asked.inputs {
            let content = input(arg, job, observation, judged).map_err(|what| {
                Unjudged::Host(format!("the follow-up {} asks for an input {name} {what}", asked.role))
            })?;
            inputs.push(Input { name: name.clone(), kind: String::new(), content });
        }
        let run = match asked.kind {
            FollowUpKind::External => self.tools.run(&asked.role, tool, &inputs, asked.limits.as_deref())?,
            FollowUpKind::Internal => {
                let found = self.judge.run_internal(&asked.role, job, &inputs).map_err(Unjudged::Plugin)?;
                convert::findings(self.store, &found)?
            }
        };
        self.store.append(&Record::FollowUp(record::FollowUp {
            track: track.to_string(),
            role: asked.role.clone(),
            dedup_key: asked.dedup_key.clone(),
            tool: tool.to_string(),
            run: run.clone(),
            extra: serde_json::Value::Null,
        }))?;
        Ok(run)
    }
}

/// The bytes that a word of a plan or an input of a follow-up names.
fn input(arg: &Arg, job: &Job, observation: &Observation, judged: &Judgement) -> Result<Source, String> {
    Ok(match arg {
        Arg::Text(text) => Source::bytes(text),
        Arg::Benchmark => job.benchmark.content.clone(),
        Arg::Original => job.benchmark.original.clone().unwrap_or_else(|| job.benchmark.content.clone()),
        Arg::Nothing => Source::bytes(""),
        Arg::OutputOf(step) => {
            let run = |s: &&StepLog| s.label.is_none() && s.outcome != StepOutcome::NotRun;
            let entry = observation.steps.iter().filter(run).find(|s| s.step == *step);
            match (entry, &observation.stdout) {
                (Some(entry), _) => entry.response.source.clone(),
                (None, Some(Output { source, .. })) if observation.steps.is_empty() => source.clone(),
                _ => return Err(format!("from the output of the step {step}, which was not run")),
            }
        }
        Arg::Collected(name) => match observation.collected.iter().find(|c| c.name == *name) {
            Some(file) => file.content.clone(),
            None => return Err(format!("from the file {name}, which the run did not leave")),
        },
        Arg::Artifact(name) => match judged.artifacts.iter().find(|a| a.name == *name) {
            Some(artifact) => Source::bytes(
                artifact.bytes(job, observation).map_err(|e: io::Error| format!("from the artifact {name}: {e}"))?,
            ),
            None => return Err(format!("from the artifact {name}, which the verdict does not have")),
        },
        Arg::Command | Arg::Tool(_) => return Err("from a command, which has no content".into()),
    })
}

/// Columns by name, in the order of the names.
pub(crate) type Columns = BTreeMap<String, agon_sdk::values::Value>;
