//! What a runner reads from an edition.

use std::fs;

use agon_edition::model::{Edition, Input, ParameterValue, RunOrder};
use agon_edition::{Reading, load};

fn edition(text: &str) -> Edition {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("edition.yaml");
    fs::write(&path, text).expect("the edition can be written");
    match load(&path.display().to_string(), Reading::Rules) {
        Ok((edition, _)) => edition,
        Err(error) => panic!("{error}"),
    }
}

const TRACKS: &str = "
edition: e
tracks:
  main:
    plugin: own
    fields: { points: number }
    parameters: { framing: line, rounds: 3 }
    input: stdin
    limits: { wall: 90500 ms, cpu: 3 min, memory: 1 GB, cores: 4, processes: 64, file-size: 1 MB, disk: 2 GB, output: 10 MiB }
    run:
      cite: page 3
      environment:
        WALL: limits.wall in s
        MINUTES: limits.cpu in min
        MEMORY: limits.memory in MiB
        CORES: limits.cores
        YEAR: { value: 2025 }
      order: shuffled
      scramble: single-query
  other:
    like: main
    input: trace
    run: { order: listed, scramble: none, environment: { CORES: null } }
  bare: { plugin: sat }
";

#[test]
fn run_rules() {
    let edition = edition(TRACKS);
    let main = &edition.tracks["main"];
    assert_eq!(main.input, Some(Input::Stdin));
    assert_eq!(main.run.order, RunOrder::Shuffled);
    assert_eq!(main.run.scramble.as_deref(), Some("single-query"));
    assert_eq!(main.run.doc.cite, ["page 3"]);
    let told = |track: &str| {
        let track = &edition.tracks[track];
        let text = |name: &str| track.run.environment.get(name).and_then(|v| v.text(&track.limits));
        ["WALL", "MINUTES", "MEMORY", "CORES", "YEAR"].map(|name| text(name).unwrap_or_default())
    };
    assert_eq!(told("main"), ["90", "3", "953", "4", "2025"]);
    // A track that is like it says what differs.
    let other = &edition.tracks["other"];
    assert_eq!((other.input, other.run.order, &other.run.scramble), (Some(Input::Trace), RunOrder::Listed, &None));
    assert_eq!(told("other"), ["90", "3", "953", "", "2025"]);
    let bare = &edition.tracks["bare"];
    assert_eq!((bare.input, bare.run.order, &bare.run.scramble), (None, RunOrder::Listed, &None));
    assert!(bare.run.environment.is_empty());
}

#[test]
fn limits() {
    let edition = edition(TRACKS);
    let limits = &edition.tracks["main"].limits;
    let all: Vec<(&str, Option<u64>)> = limits.all().map(|(name, ..)| (name, limits.whole(name))).collect();
    let expected = [
        ("wall", Some(90_500_000_000)),
        ("cpu", Some(180_000_000_000)),
        ("memory", Some(1_000_000_000)),
        ("cores", Some(4)),
        ("processes", Some(64)),
        ("file-size", Some(1_000_000)),
        ("disk", Some(2_000_000_000)),
        ("output", Some(10 << 20)),
    ];
    assert_eq!(all, expected);
    assert_eq!(edition.tracks["bare"].limits.all().count(), 0);
    assert_eq!(limits.whole("patience"), None);
}

/// The plugin is none that declares parameters: they stay texts.
#[test]
fn parameters() {
    let edition = edition(TRACKS);
    let parameters = &edition.tracks["main"].parameters;
    assert_eq!(parameters["framing"], ParameterValue::Text("line".into()));
    assert_eq!(parameters["rounds"].json(), serde_json::json!("3"));
}
