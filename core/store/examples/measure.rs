//! Writes a store of many runs, opens it and reads it, and says how long that takes and how much room it needs.
//!
//! Usage: measure FOLDER RUNS OUTPUT waiting|together, where OUTPUT is `same` (two answers), `short` (different texts of
//! 40 bytes), `middling` (different texts of 2 kB), and `waiting` waits for the disk after each run.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use agon_store::record::{
    Blame, Cell, Condition, EditionText, Fidelity, LimitKind, Meta, Observation, Plan, PlanBenchmark, PlanEntrant,
    PluginId, Run, Soundness, Stage, Stream, Verdict,
};
use agon_store::{Digest, Reader, Record, Store};
use serde_json::Value as Json;

fn plan(runs: usize) -> Plan {
    let entrants = 10;
    Plan {
        track: "single-query".into(),
        plugin: plugin(),
        parameters: Json::Null,
        limits: Json::Null,
        overrides: Default::default(),
        entrants: (0..entrants).map(|n| PlanEntrant { id: format!("solver {n}"), ..PlanEntrant::default() }).collect(),
        benchmarks: (0..runs / entrants)
            .map(|n| PlanBenchmark {
                id: format!("QF_BV/20221214-family-{}/benchmark-{n}.smt2", n % 97),
                path: format!("/benchmarks/non-incremental/QF_BV/20221214-family-{}/benchmark-{n}.smt2", n % 97),
                logic: Some("QF_BV".into()),
                division: None,
                family: None,
                statuses: vec!["sat".into()],
                hash: Digest::of(&n.to_le_bytes()),
                bytes: 1000,
            })
            .collect(),
        extra: Json::Null,
    }
}

fn plugin() -> PluginId {
    PluginId { id: "single-query".into(), version: "1.0.0".into(), hash: Digest::of(b"plugin").to_string() }
}

fn printed(kind: &str, number: usize) -> String {
    match kind {
        "same" => if number.is_multiple_of(2) { "sat\n" } else { "unsat\n" }.into(),
        "short" => format!("sat\n; conflicts {} time {}.{:03}\n", number * 7919, number % 1000, number % 997),
        _ => {
            let mut text = String::from("sat\n(model\n");
            while text.len() < 2000 {
                let value = (number * 1_000_003 + text.len() * 7919) % 4_294_967_291;
                text.push_str(&format!("  (define-fun x{} () (_ BitVec 32) #x{value:08x})\n", text.len()));
            }
            text
        }
    }
}

fn size(folder: &Path) -> std::io::Result<(u64, u64)> {
    let (mut bytes, mut files) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let inner = size(&entry.path())?;
            bytes += inner.0;
            files += inner.1;
        } else {
            bytes += entry.metadata()?.len();
            files += 1;
        }
    }
    Ok((bytes, files))
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, runs, kind, how] = args.as_slice() else {
        return Err("usage: measure FOLDER RUNS same|short|middling waiting|together".into());
    };
    let (folder, runs): (&Path, usize) = (Path::new(folder), runs.parse()?);
    let meta = Meta {
        format: 0,
        agon: String::new(),
        created: String::new(),
        edition: EditionText::new("measure", "rules", ""),
        seed: None,
        extra: Json::Null,
    };
    let start = Instant::now();
    let store = Store::create(folder, &meta)?;
    let plan = plan(runs);
    store.plan(&plan)?;
    for (number, (e, b)) in store.unobserved("single-query").into_iter().enumerate() {
        let stdout = store.put(printed(kind, number).as_bytes())?;
        let run = Run {
            fidelity: Fidelity::Streams,
            command: Vec::new(),
            exit: Some(0),
            signal: None,
            limit: LimitKind::None,
            wall_ns: 1_234_567_890 + number as u64,
            cpu_ns: 1_234_567_890 + number as u64,
            peak_memory: Some(12_345_678),
            stdout,
            stderr: Stream::empty(),
            steps: Vec::new(),
            collected: Vec::new(),
            prepared: None,
            started: None,
            session: None,
            extra: Json::Null,
        };
        let (track, entrant, benchmark) = (&plan.track, &plan.entrants[e].id, &plan.benchmarks[b].id);
        let seen = Observation { track: track.clone(), entrant: entrant.clone(), benchmark: benchmark.clone(), run };
        let observation = store.enqueue(&Record::Observation(seen))?;
        let verdict = Verdict {
            track: track.clone(),
            entrant: entrant.clone(),
            benchmark: benchmark.clone(),
            observation,
            stage: Stage::Judged,
            plugin: plugin(),
            answer: "sat".into(),
            soundness: Soundness::Agrees,
            condition: Condition::Finished,
            blame: Blame::None,
            columns: [("status".to_string(), Cell::Word("sat".into()))].into_iter().collect(),
            artifacts: Vec::new(),
            follow_ups: Vec::new(),
            diagnostics: Vec::new(),
            evidence: Vec::new(),
            extra: Json::Null,
        };
        let seq = store.enqueue(&Record::Result(verdict))?;
        if how == "waiting" {
            store.wait(seq)?;
        }
    }
    store.close()?;
    let written = start.elapsed();
    let (bytes, files) = size(folder)?;
    let start = Instant::now();
    let reader = Reader::open(folder)?;
    let opened = start.elapsed();
    let start = Instant::now();
    let rows = reader.results("single-query").filter(Result::is_ok).count();
    let read = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default().replace("VmHWM:", "");
    println!(
        "{runs} runs, {kind}, {how}: written in {written:.2?}, {:.1} MB in {files} files; opened in {opened:.2?}, {rows} \
         rows read in {read:.2?}; peak memory {}",
        bytes as f64 / 1e6,
        peak.trim()
    );
    Ok(())
}
