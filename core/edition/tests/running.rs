//! What a runner reads from an edition.

use std::fs;

use agon_edition::model::{Edition, Input, ParameterValue, RunOrder, Scrambling};
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
  old:
    plugin: sat
    run: { scramble: { mode: main, annotations: keep, cite: page 4 } }
    divisions:
      with: [L]
      without: { logics: [M], scramble: { annotations: strip } }
      other: { logics: [N], scramble: plain }
      as-is: { logics: [O], scramble: none }
";

#[test]
fn run_rules() {
    let edition = edition(TRACKS);
    let main = &edition.tracks["main"];
    assert_eq!(main.input, Some(Input::Stdin));
    assert_eq!(main.run.order, RunOrder::Shuffled);
    assert_eq!(mode(&main.run.scramble), "single-query patterns");
    assert_eq!(main.run.doc.cite, ["page 3"]);
    let told = |track: &str| {
        let track = &edition.tracks[track];
        let text = |name: &str| track.run.environment.get(name).and_then(|v| v.text(&track.limits));
        ["WALL", "MINUTES", "MEMORY", "CORES", "YEAR"].map(|name| text(name).unwrap_or_default())
    };
    assert_eq!(told("main"), ["90", "3", "953", "4", "2025"]);
    // A track that is like it says what differs.
    let other = &edition.tracks["other"];
    assert_eq!((other.input, other.run.order), (Some(Input::Trace), RunOrder::Listed));
    assert_eq!(mode(&other.run.scramble), "none");
    assert_eq!(told("other"), ["90", "3", "953", "", "2025"]);
    let bare = &edition.tracks["bare"];
    assert_eq!((bare.input, bare.run.order, mode(&bare.run.scramble)), (None, RunOrder::Listed, "none".into()));
    assert!(bare.run.environment.is_empty());
}

fn mode(scrambling: &Option<Scrambling>) -> String {
    scrambling.as_ref().map_or("none".into(), |s| format!("{} {}", s.mode.word(), s.annotations.word()))
}

#[test]
fn divisions_that_are_scrambled_in_their_own_ways() {
    let edition = edition(TRACKS);
    let old = &edition.tracks["old"];
    assert_eq!(old.run.scramble.as_ref().unwrap().doc.cite, ["page 4"]);
    let of = |division: Option<&str>| mode(&old.scrambling(division).cloned());
    assert_eq!(of(None), "main keep");
    assert_eq!(of(Some("with")), "main keep");
    assert_eq!(of(Some("without")), "main strip");
    // Another mode keeps the annotations that it usually keeps.
    assert_eq!(of(Some("other")), "plain keep");
    assert_eq!(of(Some("as-is")), "none");
    let text = agon_edition::explain::explain_track(old);
    assert!(text.contains("in the mode `main` [page 4]"), "{text}");
    assert!(
        text.contains("without: M; its benchmarks are scrambled in the mode `main`, with all annotations removed"),
        "{text}"
    );
    assert!(text.contains("as-is: O; its benchmarks are not scrambled"), "{text}");
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
