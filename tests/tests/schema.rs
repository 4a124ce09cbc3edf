//! The JSON Schema of edition files: committed as it is generated, true of every edition, and strict.

use std::fs;

use agon_edition::{json_schema, shipped_editions};
use agon_tests::{agon, golden, test_editions, workspace};
use serde_json::Value as Json;

fn generated() -> String {
    format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON"))
}

/// Texts stay texts and numbers numbers, as an editor's YAML reader sees them.
fn json(yaml: &str) -> Json {
    serde_yaml::from_str(yaml).expect("the edition is YAML")
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&json_schema()).expect("the schema is one")
}

#[test]
fn committed_as_generated() {
    golden(&workspace().join("schemas/edition.schema.json"), &generated());
}

#[test]
fn printed_as_committed() {
    assert_eq!(agon(&["edition", "schema"]).success(), generated());
}

#[test]
fn is_a_schema() {
    assert!(jsonschema::draft202012::meta::is_valid(&json_schema()));
}

#[test]
fn editions_are_valid() {
    let validator = validator();
    let mut texts: Vec<(String, String)> =
        shipped_editions().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    for path in test_editions() {
        let text = fs::read_to_string(&path).expect("the edition can be read");
        texts.push((path.display().to_string(), text));
    }
    for (name, text) in texts {
        let document = json(&text);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// Editors find the schema by the first line of a file: it has to lead there from the file's place.
#[test]
fn editors_find_it() {
    let schema = workspace().join("schemas/edition.schema.json").canonicalize().expect("the schema is committed");
    let shipped = shipped_editions().map(|(name, _)| workspace().join(format!("editions/{name}.yaml")));
    for path in shipped.chain(test_editions()) {
        let text = fs::read_to_string(&path).expect("the edition can be read");
        let first = text.lines().next().unwrap_or_default();
        let place =
            first.strip_prefix("# yaml-language-server: $schema=").unwrap_or_else(|| panic!("{}", path.display()));
        let target = path.parent().expect("a file lies in a folder").join(place);
        assert_eq!(target.canonicalize().ok().as_ref(), Some(&schema), "{}", path.display());
    }
}

/// What an editor can see without knowing formulas.
#[test]
fn broken_editions_are_invalid() {
    let validator = validator();
    let good =
        "edition: good\ntitle: T\ntracks: { main: { plugin: single-query, limits: { wall: 20 min, cores: 4 } } }\n";
    assert!(validator.is_valid(&json(good)));
    for broken in [
        "title: It has no name\n",
        "[]\n",
        "edition\n",
        "edition: [a]\n",
        "edition: e\ntitel: T\n",
        "edition: e\ntracks: []\n",
        "edition: e\ntracks: { main: single-query }\n",
        "edition: e\ntracks: { main: { pluging: single-query } }\n",
        "edition: e\ntracks: { main: { status: exibition } }\n",
        "edition: e\ntracks: { main: { input: pipe } }\n",
        "edition: e\ntracks: { main: { limits: { wall: 1200 } } }\n",
        "edition: e\ntracks: { main: { limits: { cores: four } } }\n",
        "edition: e\ntracks: { main: { limits: { cores: 1.5 } } }\n",
        "edition: e\ntracks: { main: { fields: { path: string } } }\n",
        "edition: e\ntracks: { main: { fields: { path: { type: text, optional: maybe } } } }\n",
        "edition: e\ntracks: { main: { scoring: { measures: [correct] } } }\n",
        "edition: e\ntracks: { main: { scoring: { measures: { correct: { formula: count() } } } } }\n",
        "edition: e\ntracks: { main: { scoring: { runs: { s: { keeep: true } } } } }\n",
        "edition: e\ntracks: { main: { scoring: { views: { v: { order: { by: correct } } } } } }\n",
        "edition: e\ntimeline: [{ date: 5 July 2022, what: Seed }]\n",
        "edition: e\ndivisions: { main: { Boats: { logic: [QF_BV] } } }\n",
        "edition: e\nseed: { generator: dice, formula: sum(seed) }\n",
        "edition: e\nseed: { formula: sum(seed), published: a lot }\n",
        "edition: e\nentrants: { list: [solver] }\n",
        "edition: e\nresults: { r: { duplicates: newest } }\n",
        "edition: e\nresults: { r: { columns: { answer: { form: result } } } }\n",
        "edition: e\nledger: { l: { couse: It was so } }\n",
        "edition: e\nrules: { document: R, sections: [1, 2] }\n",
    ] {
        assert!(!validator.is_valid(&json(broken)), "valid, but should not be:\n{broken}");
    }
}
