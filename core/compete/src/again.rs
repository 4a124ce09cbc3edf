//! Judges again what a store holds: by a newer plugin, or because something was left without a verdict.

use agon_sdk::values::{Job, Limits, Participant};
use agon_store::record::{Plan, PlanBenchmark, PlanEntrant, Record, Verdict};
use agon_store::{Store, StoreError};

use crate::CompeteError;
use crate::benchmarks::Benchmark;
use crate::convert;
use crate::judging::{Bench, Judge, Pair, Tools, Unjudged};

/// What judging again came to.
#[derive(Debug, Default)]
pub struct Again {
    /// Runs that were judged now.
    pub judged: u64,
    /// Runs whose verdict says something else than before, with the names of what differs.
    pub changed: Vec<(Verdict, Verdict, Vec<String>)>,
    /// Runs that could not be judged: whose, and why.
    pub failed: Vec<String>,
    /// What an organiser should know.
    pub remarks: Vec<String>,
}

/// Judges all runs of a track that have no verdict of this plugin, or all of them. What the plugin wants checked and was
/// not checked before, these tools check; where there is none for it, the run is left without a new verdict.
///
/// # Errors
/// If the store cannot be read or written, or a benchmark is not what it was.
pub fn judge(
    store: &Store,
    plan: &Plan,
    judge: &dyn Judge,
    tools: &dyn Tools,
    all: bool,
) -> Result<Again, CompeteError> {
    let identity = judge.identity();
    let bench = Bench::again(judge, store, tools);
    let pairs = store.unjudged(&plan.track, if all { None } else { Some(&identity.hash) });
    let pairs = if all { observed(store, plan) } else { pairs };
    let mut out = Again::default();
    let mut same = vec![false; plan.benchmarks.len()];
    for (entrant, benchmark) in pairs {
        let checked = std::mem::replace(&mut same[benchmark], true);
        let (entrant, benchmark) = (&plan.entrants[entrant], &plan.benchmarks[benchmark]);
        let read = |e: StoreError| CompeteError::Input(e.to_string());
        let Some((number, stored)) = store.observation(&plan.track, &entrant.id, &benchmark.id).map_err(read)? else {
            continue;
        };
        let path = std::path::Path::new(&benchmark.path);
        if !checked
            && convert::hash_file(path).map_err(|e| CompeteError::io(path, "cannot be read", &e))?.0 != benchmark.hash
        {
            return Err(CompeteError::Input(format!(
                "{}: the benchmark has another content than when it was run. Put the file back that the runs are about.",
                benchmark.path
            )));
        }
        let mut job = job(plan, entrant, benchmark);
        convert::given(store, &stored.run, &mut job).map_err(read)?;
        let before = store.verdict(&plan.track, &entrant.id, &benchmark.id).map_err(read)?;
        let seen = convert::observation(store, &stored.run).map_err(read)?;
        let pair = Pair { track: &plan.track, entrant: &entrant.id, benchmark: &benchmark.id, observation: number };
        match bench.verdict(pair, &job, &seen) {
            Ok(now) => {
                out.judged += 1;
                if let Some((_, before)) = before {
                    let differences = before.differences(&now);
                    if !differences.is_empty() {
                        out.changed.push((before, now, differences));
                    }
                }
            }
            Err(Unjudged::Store(error)) => return Err(read(error)),
            Err(Unjudged::Plugin(failure)) => {
                note(store, plan, &entrant.id, &benchmark.id, "plugin-fault", &failure.to_string()).map_err(read)?;
                out.failed.push(format!("{} on {}: {failure}", entrant.id, benchmark.id));
            }
            Err(Unjudged::Host(text)) => {
                note(store, plan, &entrant.id, &benchmark.id, "harness-fault", &text).map_err(read)?;
                out.failed.push(format!("{} on {}: {text}", entrant.id, benchmark.id));
            }
        }
    }
    out.remarks = crate::race::unmade(&bench);
    store.flush().map_err(|e| CompeteError::Input(e.to_string()))?;
    Ok(out)
}

fn observed(store: &Store, plan: &Plan) -> Vec<(usize, usize)> {
    let pairs = (0..plan.entrants.len()).flat_map(|e| (0..plan.benchmarks.len()).map(move |b| (e, b)));
    pairs.filter(|&(e, b)| store.is_observed(&plan.track, &plan.entrants[e].id, &plan.benchmarks[b].id)).collect()
}

fn note(store: &Store, plan: &Plan, entrant: &str, benchmark: &str, about: &str, text: &str) -> Result<(), StoreError> {
    let note = agon_store::record::Note {
        when: crate::now(),
        about: about.to_string(),
        text: text.to_string(),
        track: Some(plan.track.clone()),
        entrant: Some(entrant.to_string()),
        benchmark: Some(benchmark.to_string()),
        extra: serde_json::Value::Null,
    };
    store.enqueue(&Record::Note(note)).map(|_| ())
}

/// What the plugin is told of a pair of a stored plan.
fn job(plan: &Plan, entrant: &PlanEntrant, benchmark: &PlanBenchmark) -> Job {
    let limit = |name: &str| plan.limits.get(name).and_then(serde_json::Value::as_u64);
    let benchmark = Benchmark {
        id: benchmark.id.clone(),
        path: benchmark.path.clone().into(),
        logic: benchmark.logic.clone(),
        division: benchmark.division.clone(),
        family: benchmark.family.clone(),
        statuses: benchmark.statuses.clone(),
    };
    let participant =
        Participant { id: entrant.id.clone(), configuration: entrant.configuration.iter().cloned().collect() };
    let limits = Limits {
        wall_ns: limit("wall"),
        cpu_ns: limit("cpu"),
        memory_bytes: limit("memory"),
        cores: limit("cores").and_then(|n| u32::try_from(n).ok()).or(Some(1)),
    };
    convert::job(&benchmark, participant, limits)
}
