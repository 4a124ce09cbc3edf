//! A store's journal with mutated bytes. Half of the inputs get new check values, so that what is behind them is reached
//! as well.

use std::fs;
use std::path::Path;

use agon_store::journal::write_line;
use agon_store::record::{EditionText, Fidelity, LimitKind, Meta, Observation, Plan, PlanBenchmark, PlanEntrant};
use agon_store::record::{PluginId, Run, Stream};
use agon_store::{Digest, Reader, Record, Store};
use serde_json::Value as Json;

/// Makes a small store and returns its journal.
pub fn make(folder: &Path) -> Vec<u8> {
    let edition = EditionText::new("fuzz", "rules", "edition: fuzz");
    let meta = Meta { format: 0, agon: "0".into(), created: "0".into(), edition, seed: Some(1), extra: Json::Null };
    let store = Store::create(folder, &meta).expect("the temporary folder is writable");
    let plan = Plan {
        track: "main".into(),
        plugin: PluginId { id: "p".into(), version: "1".into(), hash: "h".into() },
        parameters: Json::Null,
        limits: Json::Null,
        overrides: Default::default(),
        entrants: vec![PlanEntrant { id: "e".into(), ..PlanEntrant::default() }],
        benchmarks: (0..3)
            .map(|n| PlanBenchmark {
                id: format!("b{n}"),
                path: "b".into(),
                logic: None,
                division: None,
                family: None,
                statuses: Vec::new(),
                hash: Digest::of(b"b"),
                bytes: 1,
            })
            .collect(),
        extra: Json::Null,
    };
    store.plan(&plan).expect("the temporary folder is writable");
    for (number, benchmark) in plan.benchmarks.iter().enumerate() {
        let stdout = store.put(&vec![b'x'; 100 + 200 * number]).expect("the temporary folder is writable");
        let run = Run {
            fidelity: Fidelity::Streams,
            command: vec!["x".into()],
            exit: Some(0),
            signal: None,
            limit: LimitKind::None,
            wall_ns: 1,
            cpu_ns: 1,
            peak_memory: None,
            stdout,
            stderr: Stream::empty(),
            steps: Vec::new(),
            collected: Vec::new(),
            prepared: None,
            started: None,
            session: None,
            extra: Json::Null,
        };
        let seen = Observation { track: "main".into(), entrant: "e".into(), benchmark: benchmark.id.clone(), run };
        store.append(&Record::Observation(seen)).expect("the temporary folder is writable");
    }
    drop(store);
    fs::read(folder.join("journal.jsonl")).expect("it was written")
}

/// All that a store says, as texts.
pub fn records(folder: &Path) -> Result<Vec<String>, String> {
    let reader = Reader::open(folder).map_err(|e| e.to_string())?;
    let mut list = Vec::new();
    for number in 0..3 {
        let found = reader.observation("main", "e", &format!("b{number}")).map_err(|e| e.to_string())?;
        let Some((_, seen)) = found else { continue };
        let printed = reader.output(&seen.run.stdout.digest).map_err(|e| e.to_string())?;
        list.push(format!("{seen:?} {}", Digest::of(&printed)));
    }
    Ok(list)
}

/// Reads a store with this journal.
pub fn one(folder: &Path, input: &[u8], whole: &[String]) -> Result<(), String> {
    let path = folder.join("journal.jsonl");
    let write = |bytes: &[u8]| fs::write(&path, bytes).expect("the temporary folder is writable");
    write(input);
    match records(folder) {
        // What was cut short has fewer; nothing else may be read.
        Ok(found) if whole.starts_with(&found) => {}
        Ok(found) => return Err(format!("a damaged journal says something else: {found:?}")),
        Err(message) if message.trim().is_empty() => return Err("an error says nothing".into()),
        Err(_) => {}
    }
    // As if somebody had written it so.
    let about = fs::read(folder.join("store.json")).expect("it was written");
    let key = blake3::hash(&about);
    let mut forged = Vec::new();
    for (seq, line) in input.split(|&b| b == b'\n').filter(|l| !l.is_empty()).enumerate() {
        let rest = line.windows(8).position(|w| w == b"\"kind\":\"").map_or(line, |at| &line[at..]);
        let body = [b"{", rest].concat();
        write_line(&mut forged, &key, seq as u64, (seq as u64).saturating_sub(1), &body);
    }
    write(&forged);
    let said =
        |message: &str| if message.trim().is_empty() { Err("an error says nothing".to_string()) } else { Ok(()) };
    if let Err(message) = records(folder) {
        said(&message)?;
    }
    // Waits for the disk, so not every time; and the outputs are cut to what such a journal mentions.
    if input.len().is_multiple_of(16) {
        let pack = folder.join("outputs.zst");
        let outputs = fs::read(&pack).expect("it was written");
        if let Err(error) = Store::open(folder) {
            said(&error.to_string())?;
        }
        fs::write(&pack, outputs).expect("the temporary folder is writable");
    }
    Ok(())
}
