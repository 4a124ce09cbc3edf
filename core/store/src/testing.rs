//! What the crate's own tests share: small competitions.

use indexmap::IndexMap;
use serde_json::json;

use crate::Digest;
use crate::record::{
    Blame, Cell, Condition, EditionText, Fidelity, LimitKind, Meta, Observation, Plan, PlanBenchmark, PlanEntrant,
    PluginId, Run, Soundness, Stage, Stream, Verdict,
};

pub fn meta() -> Meta {
    Meta {
        format: 0,
        agon: "0.1.0".into(),
        created: "2026-07-01T12:00:00Z".into(),
        edition: EditionText::new("summer-cup", "rules", "edition: summer-cup\ntracks: {}\n"),
        seed: Some(1_057_205_781),
        extra: json!({"organiser": "Jané"}),
    }
}

pub fn plugin(version: &str) -> PluginId {
    PluginId { id: "single-query".into(), version: version.into(), hash: format!("hash-of-{version}") }
}

pub fn plan(track: &str, entrants: usize, benchmarks: usize) -> Plan {
    let entrant = |n: usize| PlanEntrant {
        id: format!("solvér-{n}"),
        solver: format!("solvér-{n}"),
        competing: n > 0,
        command: vec![format!("./solver{n}")],
        ..PlanEntrant::default()
    };
    let benchmark = |n: usize| PlanBenchmark {
        id: format!("QF_BV/β{n}.smt2"),
        path: format!("/b/β{n}.smt2"),
        logic: Some("QF_BV".into()),
        division: None,
        family: None,
        statuses: vec!["sat".into()],
        hash: Digest::of(format!("benchmark {n}").as_bytes()),
        bytes: 11,
    };
    Plan {
        track: track.into(),
        plugin: plugin("1"),
        parameters: json!({}),
        limits: json!({"wall": "20 min"}),
        overrides: IndexMap::new(),
        entrants: (0..entrants).map(entrant).collect(),
        benchmarks: (0..benchmarks).map(benchmark).collect(),
        extra: json!(null),
    }
}

pub fn run(stdout: Stream) -> Run {
    Run {
        fidelity: Fidelity::Streams,
        command: vec!["./solver".into()],
        exit: Some(0),
        signal: None,
        limit: LimitKind::None,
        wall_ns: 1_500_000_000,
        cpu_ns: 1_400_000_000,
        peak_memory: Some(4096),
        stdout,
        stderr: Stream::empty(),
        steps: Vec::new(),
        collected: Vec::new(),
        prepared: None,
        started: None,
        session: None,
        extra: json!(null),
    }
}

pub fn observation(plan: &Plan, entrant: usize, benchmark: usize, stdout: Stream) -> Observation {
    Observation {
        track: plan.track.clone(),
        entrant: plan.entrants[entrant].id.clone(),
        benchmark: plan.benchmarks[benchmark].id.clone(),
        run: run(stdout),
    }
}

pub fn verdict(of: &Observation, seq: u64, answer: &str, version: &str) -> Verdict {
    Verdict {
        track: of.track.clone(),
        entrant: of.entrant.clone(),
        benchmark: of.benchmark.clone(),
        observation: seq,
        stage: Stage::Judged,
        plugin: plugin(version),
        answer: answer.into(),
        soundness: Soundness::Agrees,
        condition: Condition::Finished,
        blame: Blame::None,
        columns: IndexMap::from([("status".to_string(), Cell::Word("sat".into()))]),
        artifacts: Vec::new(),
        follow_ups: Vec::new(),
        diagnostics: Vec::new(),
        evidence: Vec::new(),
        extra: json!(null),
    }
}
