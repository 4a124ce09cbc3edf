//! The JSON Schemas of what a store has in its files, and of the entrants file: committed under `schemas/`, true of real
//! files, and strict. With `AGON_BLESS=1` in the environment the generated ones are written.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use crate::Store;
use crate::entrants::Entrants;
use crate::record::{Meta, Record};
use crate::testing::{meta, observation, plan, verdict};

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn with_head(id: &str, title: &str, schema: Json) -> Json {
    let mut all = Map::new();
    all.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    all.insert("$id".into(), json!(id));
    all.insert("title".into(), json!(title));
    if let Json::Object(object) = schema {
        all.extend(object.into_iter().filter(|(key, _)| key != "$schema" && key != "title"));
    }
    Json::Object(all)
}

fn of_meta() -> Json {
    let schema = generator().into_root_schema_for::<Meta>().to_value();
    with_head("store-meta.schema.json", "store.json of a store", schema)
}

/// A line of the journal: the frame and the record in one object.
fn of_record() -> Json {
    let mut schema = generator().into_root_schema_for::<Record>().to_value();
    let frame = json!({
        "check": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "The first 16 bytes of the BLAKE3 hash of the rest of the line, keyed by the hash of store.json."
        },
        "seq": { "type": "integer", "minimum": 0, "description": "The number of the line, from 0." },
        "after": {
            "type": "integer",
            "minimum": 0,
            "description": "The last record that was on the disk for certain when this line was written."
        }
    });
    let Json::Object(frame) = frame else { return Json::Null };
    let definitions = schema["$defs"].clone();
    let mut kinds = Vec::new();
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let mut kind = variant.clone();
        // The record's own keys and the frame's are one object.
        let name = variant["$ref"].as_str().and_then(|r| r.rsplit('/').next()).unwrap_or_default();
        let own = definitions[name].clone();
        let mut properties = frame.clone();
        let mut required: Vec<Json> = frame.keys().map(|k| json!(k)).collect();
        for part in [variant, &own] {
            properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
            required.extend(part["required"].as_array().cloned().unwrap_or_default());
        }
        kind["properties"] = Json::Object(properties);
        kind["required"] = Json::Array(required);
        kind["additionalProperties"] = json!(false);
        if let Json::Object(object) = &mut kind {
            object.shift_remove("$ref");
            object.shift_remove("unevaluatedProperties");
        }
        kinds.push(kind);
    }
    schema["oneOf"] = Json::Array(kinds);
    with_head("store-record.schema.json", "A line of the journal of a store", schema)
}

fn committed(name: &str, generated: Option<&Json>) -> Json {
    let file = schemas().join(name);
    if let Some(generated) = generated {
        let text = format!("{}\n", serde_json::to_string_pretty(generated).unwrap());
        if std::env::var_os("AGON_BLESS").is_some_and(|v| v == "1") {
            fs::write(&file, &text).unwrap();
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "{} is not as generated: run this test with AGON_BLESS=1", file.display());
    }
    serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap()
}

fn validator(schema: &Json) -> jsonschema::Validator {
    assert!(jsonschema::draft202012::meta::is_valid(schema));
    jsonschema::draft202012::new(schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, document: &Json) {
    let errors: Vec<String> = validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

/// Every way to take one key away, or to add one, in any object of a document whose keys are fixed.
fn spoiled(document: &Json) -> Vec<Json> {
    let mut list = Vec::new();
    let Json::Object(object) = document else { return list };
    let mut more = object.clone();
    more.insert("surplus".into(), json!(1));
    list.push(Json::Object(more));
    for key in object.keys() {
        let mut wrong = object.clone();
        wrong.insert(key.clone(), json!([[{}]]));
        if !matches!(key.as_str(), "extra" | "host" | "parameters" | "limits" | "inputs" | "descriptions") {
            list.push(Json::Object(wrong));
        }
        for inner in spoiled(&object[key]) {
            if !matches!(
                key.as_str(),
                "extra"
                    | "host"
                    | "parameters"
                    | "limits"
                    | "inputs"
                    | "columns"
                    | "fields"
                    | "overrides"
                    | "descriptions"
            ) {
                let mut outer = object.clone();
                outer.insert(key.clone(), inner);
                list.push(Json::Object(outer));
            }
        }
    }
    list
}

#[test]
fn of_real_stores() {
    let meta_schema = of_meta();
    let record_schema = of_record();
    committed("store-meta.schema.json", Some(&meta_schema));
    committed("store-record.schema.json", Some(&record_schema));
    let (metas, records) = (validator(&meta_schema), validator(&record_schema));
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &meta()).unwrap();
    fill(&store);
    store.close().unwrap();
    let about: Json = serde_json::from_slice(&fs::read(folder.path().join("store.json")).unwrap()).unwrap();
    assert_valid(&metas, &about);
    for wrong in spoiled(&about) {
        assert!(!metas.is_valid(&wrong), "valid, but should not be: {wrong}");
        assert!(serde_json::from_value::<Meta>(wrong).is_err());
    }
    let journal = fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    let mut kinds = Vec::new();
    for line in journal.lines() {
        let document: Json = serde_json::from_str(line).unwrap();
        assert_valid(&records, &document);
        kinds.push(document["kind"].as_str().unwrap().to_string());
        for wrong in spoiled(&document) {
            assert!(!records.is_valid(&wrong), "valid, but should not be: {wrong}");
        }
        for key in ["check", "seq", "after", "kind"] {
            let mut less = document.clone();
            less.as_object_mut().unwrap().shift_remove(key);
            assert!(!records.is_valid(&less), "valid without {key}");
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["follow-up", "note", "observation", "output", "plan", "result", "session", "store"]);
}

/// One record of each kind, with every field set in one of them.
fn fill(store: &Store) {
    use crate::record::*;
    let mut plan = plan("main", 1, 2);
    plan.overrides.insert("wall".into(), "5 s".into());
    plan.entrants[0].programs.push(Program { path: "/p".into(), hash: crate::Digest::of(b"p"), bytes: 1 });
    plan.entrants[0].version = Some("1.0".into());
    plan.entrants[0].configuration = Some("fast".into());
    plan.entrants[0].fields.insert("team".into(), "t".into());
    plan.benchmarks[0].division = Some("QF_Bitvec".into());
    plan.benchmarks[0].family = Some("f".into());
    plan.extra = json!({"heat": 1});
    store.plan(&plan).unwrap();
    let session = Session {
        when: "2026-07-01T12:00:00Z".into(),
        agon: "0.1.0".into(),
        host: json!({"cpus": 2}),
        plugins: vec![crate::testing::plugin("1")],
        descriptions: vec![json!({"plugin": "single-query"})],
        tools: Some(vec![SessionTool {
            role: "checker".into(),
            name: "check".into(),
            program: Program { path: "/c".into(), hash: crate::Digest::of(b"c"), bytes: 1 },
            arguments: vec!["{proof}".into()],
            readable: vec!["/usr".into()],
        }]),
        extra: json!([1]),
    };
    let session = store.append(&Record::Session(session)).unwrap();
    let mut seen = observation(&plan, 0, 0, store.put(&[7; 3000]).unwrap());
    seen.run.stdout.truncated = true;
    seen.run.signal = Some(9);
    seen.run.exit = None;
    seen.run.limit = LimitKind::Memory;
    seen.run.prepared = Some(crate::Digest::of(b"prepared"));
    seen.run.started = Some("2026-07-01T12:00:01Z".into());
    seen.run.session = Some(session);
    seen.run.extra = json!({"cores": [0, 1]});
    let response = store.put(b"success\n").unwrap();
    seen.run.collected.push(Collected { name: "proof".into(), content: response });
    seen.run.steps.push(Step {
        name: "1".into(),
        sent_ns: 1,
        answered_ns: Some(2),
        cpu_ns: None,
        label: Some("first".into()),
        outcome: "done".into(),
        exit: None,
        signal: None,
        limit: LimitKind::None,
        response,
        errors: Some(response),
        exchange: Some(Exchanged { answers: 3, refused: 1, waited_ns: 1, kept: 2 }),
    });
    let seq = store.append(&Record::Observation(seen.clone())).unwrap();
    let mut said = verdict(&seen, seq, "unsat", "1");
    said.columns.extend([
        ("a".to_string(), Cell::Int(-1)),
        ("b".to_string(), Cell::Uint(1)),
        ("c".to_string(), Cell::Ratio("1/3".into())),
        ("d".to_string(), Cell::Text("t".into())),
        ("e".to_string(), Cell::Bool(true)),
        ("f".to_string(), Cell::Time(1)),
        ("g".to_string(), Cell::Memory(1)),
    ]);
    said.artifacts.push(Artifact { name: "core".into(), kind: "core".into(), digest: response.digest, bytes: 8 });
    said.follow_ups.push(Asked {
        kind: "external".into(),
        role: "core".into(),
        dedup_key: "k".into(),
        inputs: json!({"artifact": "core"}),
    });
    said.diagnostics.push("two answers".into());
    said.evidence.push(Evidence { stream: "stdout".into(), start: 0, end: 5, note: "n".into() });
    said.extra = json!({"validators": []});
    store.append(&Record::Result(said)).unwrap();
    // And one with nothing but what is required.
    store.append(&Record::Observation(observation(&plan, 0, 1, Stream::empty()))).unwrap();
    let note = Note {
        when: "2026-07-01T12:01:00Z".into(),
        about: "harness-fault".into(),
        text: "no space".into(),
        track: Some("main".into()),
        entrant: Some("e".into()),
        benchmark: Some("b".into()),
        extra: json!({"errno": 28}),
    };
    store.append(&Record::Note(note)).unwrap();
    let follow_up = FollowUp {
        track: "main".into(),
        role: "core".into(),
        dedup_key: "k".into(),
        tool: "z3".into(),
        run: seen.run,
        extra: json!({"verdict": "unsat"}),
    };
    store.append(&Record::FollowUp(follow_up)).unwrap();
}

/// What the reader accepts, an editor accepts; of what the reader refuses, an editor sees what needs no other file or
/// element.
#[test]
fn of_entrants() {
    let entrants = validator(&committed("entrants.schema.json", None));
    let json = |yaml: &str| serde_yaml::from_str::<Json>(yaml).unwrap();
    let read = |yaml: &str| Entrants::parse("e.yaml", yaml, Path::new("."));
    let one = "entrants:\n  - name: A\n    command: [a]\n";
    for good in [
        one.to_string(),
        format!(
            "{one}    team: T\n    description: d\n    competing: false\n    seed: 0\n    version: [a, -V, 3, true]\n"
        ),
        format!("{one}    fields: {{ a: 1, b: true, c: text, d: 1.5 }}\n"),
        format!("{one}    team:\n    seed:\n    version:\n    configurations:\n    fields:\n"),
        format!("{one}    configurations: {{ b: , c: {{ arguments: [x], competing: false, fields: {{ d: 1 }} }} }}\n"),
        format!("{one}    configurations: {{ b: {{ command: [b], description: d }} }}\n"),
        format!("{one}    tracks: [main, parallel]\n"),
        format!("{one}    tracks: {{ main: , parallel: {{ command: [b] }} }}\n"),
        format!("{one}    configurations: {{ b: }}\n    tracks: {{ main: {{ configuration: b }} }}\n"),
        format!("{one}    configurations: {{ b: }}\n    tracks: {{ main: {{ configuration: [b] }} }}\n"),
    ] {
        assert_valid(&entrants, &json(&good));
        assert!(read(&good).is_ok(), "{good}{:?}", read(&good).err().map(|e| e.to_string()));
    }
    for bad in [
        "entrants: []\n".to_string(),
        "{}\n".into(),
        "[]\n".into(),
        "solvers: []\n".into(),
        "entrants:\n  - command: [a]\n".into(),
        "entrants:\n  - name: ''\n    command: [a]\n".into(),
        "entrants:\n  - name: A\n    command: a\n".into(),
        "entrants:\n  - name: A\n    command: []\n".into(),
        "entrants:\n  - name: A\n    command: [[a]]\n".into(),
        "entrants:\n  - name: A\n    command: [a, ~]\n".into(),
        format!("{one}    competing: 1\n"),
        format!("{one}    seed: -1\n"),
        format!("{one}    seed: 1.5\n"),
        format!("{one}    version: '1.2'\n"),
        format!("{one}    licence: MIT\n"),
        format!("{one}    fields: {{ a: [1] }}\n"),
        format!("{one}    fields: {{ seed: 1 }}\n"),
        format!("{one}    configurations: [fast]\n"),
        format!("{one}    configurations: {{ fast: {{ options: [x] }} }}\n"),
        format!("{one}    tracks: main\n"),
        format!("{one}    tracks: []\n"),
        format!("{one}    tracks: {{ main: {{ cmd: [x] }} }}\n"),
    ] {
        assert!(!entrants.is_valid(&json(&bad)), "valid, but should not be:\n{bad}");
        assert!(read(&bad).is_err(), "accepted:\n{bad}");
    }
}
