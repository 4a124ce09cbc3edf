//! The entrants file where a list of entrants is wanted.

use std::fs;

use agon_tests::agon;

const EDITION: &str = "tests/competitions/seeds/hundredfold.yaml";

/// The list of 2022 as an entrants file; one solver has two configurations, but gives one number.
const ENTRANTS: &str = "\
entrants:
  - { name: Auk, command: [auk], seed: 42, fields: { organiser: false } }
  - { name: Brant, command: [brant], seed: 93, fields: { organiser: false } }
  - name: Crake
    command: [crake]
    seed: 592682483
    fields: { organiser: false }
    configurations: { quick: { arguments: [-q] }, slow: { arguments: [-s] } }
  - { name: Dipper, command: [dipper], seed: 5831768608, fields: { organiser: false } }
  - { name: Egret, command: [egret], seed: 455824010, fields: { organiser: true } }
  - { name: Fulmar, command: [fulmar], seed: 0, fields: { organiser: false } }
";

#[test]
fn gives_the_seed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("entrants.yaml");
    fs::write(&file, ENTRANTS).expect("it can be written");
    let file = file.to_str().expect("UTF-8");
    let seed = agon(&["seed", EDITION, "--entrants", file, "--market", "14636.7563"]).success();
    assert_eq!(seed.trim(), "1057205781");
    // A field of another name is a mistake that must not change the seed.
    fs::write(file, ENTRANTS.replace("organiser: true", "organizer: true")).expect("it can be written");
    let output = agon(&["seed", EDITION, "--entrants", file, "--market", "14636.7563"]);
    assert_eq!(output.status, 2, "{output:?}");
    assert!(output.stderr.contains("entrants.yaml:10:65"), "{}", output.stderr);
    assert!(output.stderr.contains("did you mean `organiser`?"), "{}", output.stderr);
}

#[test]
fn says_who_competes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("entrants.yaml");
    let list = |bittern: &str| {
        let text = format!(
            "entrants:\n  - {{ name: Albatross, command: [a] }}\n  - {{ name: Bittern, command: [b]{bittern} }}\n  - {{ \
             name: Cormorant, command: [c] }}\n  - {{ name: Dunlin 2024, command: [d], competing: false }}\n"
        );
        fs::write(&file, text).expect("it can be written");
        let cup = "tests/competitions/summer-cup";
        let (edition, results) = (format!("{cup}/edition.yaml"), format!("{cup}/results.csv"));
        let file = file.to_str().expect("UTF-8");
        agon(&["score", &edition, "--results", &results, "--format", "csv", "--solvers", file])
    };
    let without = agon(&[
        "score",
        "tests/competitions/summer-cup/edition.yaml",
        "--results",
        "tests/competitions/summer-cup/results.csv",
        "--format",
        "csv",
    ]);
    assert_eq!(list("").success(), without.success());
    let out = list(", competing: false").success();
    assert!(out.lines().filter(|l| l.contains(",Bittern,")).all(|l| l.contains(",Bittern,no,")), "{out}");
    assert!(out.contains(",Bittern,no,"), "{out}");
    let wrong = list(", tracks: [mian]");
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("did you mean `main`?"), "{}", wrong.stderr);
}
