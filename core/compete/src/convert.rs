//! Between the values of plugins, the observations of the runner, and the records of the store.

use std::collections::HashMap;

use agon_sdk::values::{self, Fidelity, Judgement, Limit, Output, Source, StepKind, StepLog, StepOutcome, Value};
use agon_store::record::{
    self, Asked, Blame, Cell, Condition, Evidence, LimitKind, PluginId, Run, Soundness, Stage, Stream, Verdict,
};
use agon_store::{Digest, Store, StoreError};

use crate::benchmarks::Benchmark;
use crate::judging::{Columns, Pair};

/// What the plugin is told of a pair.
pub fn job(benchmark: &Benchmark, participant: values::Participant, limits: values::Limits) -> values::Job {
    values::Job {
        benchmark: values::Benchmark {
            id: benchmark.id.clone(),
            name: benchmark.id.clone(),
            logic: benchmark.logic.clone(),
            division: benchmark.division.clone(),
            family: benchmark.family.clone(),
            statuses: benchmark.statuses.clone(),
            content: Source::file(&benchmark.path),
            original: None,
            applied: Vec::new(),
            properties: None,
        },
        participant,
        limits,
    }
}

/// A limit, as plugins know it.
pub fn limit(kind: LimitKind) -> Limit {
    match kind {
        LimitKind::None => Limit::None,
        LimitKind::Wall => Limit::Wall,
        LimitKind::Cpu => Limit::Cpu,
        LimitKind::Memory => Limit::Memory,
        LimitKind::Output => Limit::Output,
        LimitKind::Disk => Limit::Disk,
        LimitKind::Processes => Limit::Processes,
    }
}

fn stored(store: &Store, stream: &Stream) -> Result<Output, StoreError> {
    let bytes = if stream.bytes == 0 { Vec::new() } else { store.output(&stream.digest)? };
    Ok(Output { source: Source::Bytes(bytes.into()), truncated: stream.truncated })
}

/// Tells a plugin what a stored run was given, if that was not the benchmark itself.
///
/// # Errors
/// If it cannot be read.
pub fn given(store: &Store, run: &Run, job: &mut values::Job) -> Result<(), StoreError> {
    if let Some(prepared) = &run.prepared {
        let text = Source::Bytes(store.output(prepared)?.into());
        job.benchmark.original = Some(std::mem::replace(&mut job.benchmark.content, text));
    }
    if run.extra.get("scrambled").is_some() {
        job.benchmark.applied.push(crate::race::SCRAMBLE.into());
    }
    Ok(())
}

/// What a plugin sees of a stored run.
///
/// # Errors
/// If an output cannot be read.
pub fn observation(store: &Store, run: &Run) -> Result<values::Observation, StoreError> {
    let mut steps = Vec::with_capacity(run.steps.len());
    // Responses are mostly the same few words.
    let mut words: HashMap<Digest, Output> = HashMap::new();
    for step in &run.steps {
        let response = match words.get(&step.response.digest).filter(|_| !step.response.truncated) {
            Some(output) => output.clone(),
            None => stored(store, &step.response)?,
        };
        if step.label.is_some() && !step.response.truncated {
            words.entry(step.response.digest).or_insert_with(|| response.clone());
        }
        let answered = u64::from(matches!(step.outcome.as_str(), "done" | "stopped") && step.label.is_some());
        let one = record::Exchanged {
            answers: answered,
            refused: u64::from(step.outcome == "stopped" && step.label.is_some()),
            waited_ns: step.answered_ns.map_or(0, |at| at.saturating_sub(step.sent_ns)),
            kept: 0,
        };
        let came = step.exchange.unwrap_or(one);
        let errors = step.errors.as_ref().map(|s| stored(store, s)).transpose()?;
        steps.push(StepLog {
            kind: if step.label.is_some() { StepKind::Expect } else { StepKind::Command },
            outcome: StepOutcome::from_word(&step.outcome).unwrap_or(StepOutcome::Done),
            step: step.name.clone(),
            label: step.label.clone(),
            sent_ns: step.sent_ns,
            answered_ns: step.answered_ns.unwrap_or(step.sent_ns),
            cpu_ns: step.cpu_ns,
            exit: step.exit,
            signal: step.signal,
            limit: limit(step.limit),
            response,
            errors,
            answers: came.answers,
            refused: came.refused,
            waited_ns: came.waited_ns,
            kept: came.kept,
        });
    }
    let mut collected = Vec::with_capacity(run.collected.len());
    // A plugin is not told that a file is cut off, and would take a part of a proof for a faulty proof.
    for file in run.collected.iter().filter(|file| !file.content.truncated) {
        let content = stored(store, &file.content)?.source;
        collected.push(values::Input { name: file.name.clone(), kind: "file".into(), content });
    }
    Ok(values::Observation {
        fidelity: match run.fidelity {
            record::Fidelity::Columns => Fidelity::Columns,
            record::Fidelity::Summary => Fidelity::Summary,
            record::Fidelity::Streams => Fidelity::Streams,
        },
        exit: run.exit,
        signal: run.signal,
        limit: limit(run.limit),
        wall_ns: Some(run.wall_ns),
        cpu_ns: Some(run.cpu_ns),
        peak_memory: run.peak_memory,
        stdout: Some(stored(store, &run.stdout)?),
        stderr: Some(stored(store, &run.stderr)?),
        steps,
        collected,
        columns: run.extra.get("columns").map(ToString::to_string),
    })
}

/// What a plugin's own operation found, as a run.
///
/// # Errors
/// If its output cannot be kept.
pub fn findings(store: &Store, found: &values::Findings) -> Result<Run, StoreError> {
    let columns: serde_json::Value =
        serde_json::from_str(&values::columns_json(&found.columns)).unwrap_or(serde_json::Value::Null);
    Ok(Run {
        fidelity: record::Fidelity::Streams,
        command: Vec::new(),
        exit: Some(0),
        signal: None,
        limit: LimitKind::None,
        wall_ns: 0,
        cpu_ns: 0,
        peak_memory: None,
        stdout: store.put(&found.text)?,
        stderr: Stream::empty(),
        steps: Vec::new(),
        collected: Vec::new(),
        prepared: None,
        started: None,
        session: None,
        extra: serde_json::json!({ "columns": columns }),
    })
}

/// A verdict as it is written down.
pub fn verdict(
    pair: Pair<'_>,
    stage: Stage,
    plugin: PluginId,
    judged: &Judgement,
    asked: &[values::FollowUp],
    artifacts: Vec<record::Artifact>,
) -> Verdict {
    Verdict {
        track: pair.track.to_string(),
        entrant: pair.entrant.to_string(),
        benchmark: pair.benchmark.to_string(),
        observation: pair.observation,
        stage,
        plugin,
        answer: judged.answer.clone(),
        soundness: match judged.soundness {
            values::Soundness::Agrees => Soundness::Agrees,
            values::Soundness::Contradicts => Soundness::Contradicts,
            values::Soundness::Unverified => Soundness::Unverified,
            values::Soundness::NotApplicable => Soundness::NotApplicable,
        },
        condition: match judged.condition {
            values::Condition::Finished => Condition::Finished,
            values::Condition::CpuLimit => Condition::CpuLimit,
            values::Condition::WallLimit => Condition::WallLimit,
            values::Condition::MemoryLimit => Condition::MemoryLimit,
            values::Condition::Crashed => Condition::Crashed,
            values::Condition::MalformedOutput => Condition::MalformedOutput,
            values::Condition::HarnessFault => Condition::HarnessFault,
        },
        blame: match judged.blame {
            values::Blame::None => Blame::None,
            values::Blame::Entrant => Blame::Entrant,
            values::Blame::Benchmark => Blame::Benchmark,
            values::Blame::Host => Blame::Host,
            values::Blame::Plugin => Blame::Plugin,
        },
        columns: cells(&judged.columns),
        artifacts,
        follow_ups: asked
            .iter()
            .map(|f| Asked {
                kind: f.kind.word().to_string(),
                role: f.role.clone(),
                dedup_key: f.dedup_key.clone(),
                inputs: serde_json::Value::Null,
            })
            .collect(),
        diagnostics: judged.diagnostics.iter().map(|d| format!("{}: {}", d.level, d.message)).collect(),
        evidence: judged
            .evidence
            .iter()
            .map(|e| Evidence {
                stream: match e.stream {
                    values::Stream::Step => format!("step {}", e.step),
                    other => other.word().to_string(),
                },
                start: e.from,
                end: e.to,
                note: e.note.clone(),
            })
            .collect(),
        extra: serde_json::Value::Null,
    }
}

fn cells(columns: &Columns) -> indexmap::IndexMap<String, Cell> {
    let cell = |value: &Value| match value {
        Value::Int(n) => Cell::Int(*n),
        Value::UInt(n) => Cell::Uint(*n),
        Value::Ratio(text) => Cell::Ratio(text.clone()),
        Value::Text(text) => Cell::Text(text.clone()),
        Value::Word(word) => Cell::Word(word.clone()),
        Value::Flag(flag) => Cell::Bool(*flag),
        Value::Time(ns) => Cell::Time(*ns),
        Value::Memory(bytes) => Cell::Memory(*bytes),
    };
    columns.iter().map(|(name, value)| (name.clone(), cell(value))).collect()
}

/// The hash of a file's content, and its size.
///
/// # Errors
/// If it cannot be read.
pub fn hash_file(path: &std::path::Path) -> std::io::Result<(Digest, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut file = std::fs::File::open(path)?;
    let bytes = std::io::copy(&mut file, &mut hasher)?;
    Ok((Digest(*hasher.finalize().as_bytes()), bytes))
}
