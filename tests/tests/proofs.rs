//! Proofs from the solver's file to the standings: collected from the run, checked by a tool, concluded, scored, and
//! judged again from the store alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_tests::agon;

const EDITION: &str = r#"
edition: proof-cup
title: Proof Cup
says: An unsatisfiable formula is solved only with a proof.

tracks:
  main:
    title: Main track
    plugin: sat
    input: argument
    parameters: { proof: required, proof-file: claim.drat, proof-limits: proofs }
    limits: { wall: 10 s, memory: 1 GB, disk: 4 MB, cores: 1 }
    checks:
      proofs: { title: Check of proofs, limits: { wall: 5 s, memory: 1 GB } }
    divisions: { all: [] }
    scoring:
      runs:
        verdicts:
          let:
            solved_run: answer != unknown and certificate == verified
      measures:
        correct: { is: count(solved_run), title: Solved }
      counts:
        refuted: count(certificate == refuted)
        uncertified: count(certificate == none)
        unsat: count(answer == unsat)
      order: [correct desc]
      winner: competing and rank == 1
      views:
        score: { title: Score }
"#;

/// Says of every formula that it is unsatisfiable, unless it is the satisfiable one; what it leaves as a proof is up to
/// its first argument.
const SOLVER: &str = r#"#!/bin/sh
case $2 in *.cnf) ;; *) exit 1;; esac
if grep -q '^-1 2 0' "$2"; then echo 's SATISFIABLE'; echo 'v 2 0'; exit 10; fi
case $1 in
right) printf '0\n' >"$3" ;;
wrong) printf '1 0\n' >"$3" ;;
none) ;;
link) ln -s /usr/bin/env "$3" ;;
pipe) mkfifo "$3" ;;
long) printf '0\n' >"$3"; truncate -s 1G "$3" ;;
slow) printf 'slow\n' >"$3" ;;
esac
echo 's UNSATISFIABLE'
exit 20
"#;

/// Accepts one proof. The formula is the last argument, whatever the order of the inputs.
const CHECKER: &str = r#"#!/bin/sh
[ "$1" = --proof ] && grep -q '^p cnf' "$3" || { echo 's BROKEN'; exit 2; }
case $(cat "$2") in
0) echo 's VERIFIED'; exit 0 ;;
slow) sleep 60 ;;
*) echo 's NOT VERIFIED'; exit 1 ;;
esac
"#;

struct Cup {
    folder: tempfile::TempDir,
}

impl Cup {
    fn new(tools: &str) -> Self {
        let cup = Self { folder: tempfile::tempdir().expect("there is room for a folder") };
        cup.write("edition.yaml", EDITION);
        cup.program("solver/solver", SOLVER);
        cup.program("checker/checker", CHECKER);
        cup.write("benchmarks/unsat.cnf", "p cnf 2 2\n1 0\n-1 0\n");
        cup.write("benchmarks/sat.cnf", "p cnf 2 1\n-1 2 0\n");
        let mut entrants = String::from("entrants:\n");
        for way in ["right", "wrong", "none", "link", "pipe", "long", "slow"] {
            entrants += &format!("  - {{ name: {way}, command: [./solver/solver, {way}] }}\n");
        }
        cup.write("entrants.yaml", &format!("{entrants}{tools}"));
        cup
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    }

    fn text(path: &Path) -> String {
        path.display().to_string()
    }

    fn run(&self) -> agon_tests::Output {
        let path = |name: &str| Self::text(&self.path(name));
        let (edition, entrants, benchmarks) = (path("edition.yaml"), path("entrants.yaml"), path("benchmarks"));
        let (store, scratch) = (path("store"), path("scratch"));
        agon(&[
            "run",
            &edition,
            "--track",
            "main",
            "--entrants",
            &entrants,
            "--benchmarks",
            &benchmarks,
            "--store",
            &store,
            "--scratch",
            &scratch,
            "--oversubscribe",
            "--seed",
            "1",
        ])
    }

    fn judge(&self, further: &[&str]) -> agon_tests::Output {
        let (edition, store) = (Self::text(&self.path("edition.yaml")), Self::text(&self.path("store")));
        agon(&[&["judge", edition.as_str(), "--store", store.as_str()], further].concat())
    }

    /// Solver, solved, and the three counts, by the names of the solvers.
    fn scores(&self) -> Vec<[String; 5]> {
        let (edition, store) = (Self::text(&self.path("edition.yaml")), Self::text(&self.path("store")));
        let text = agon(&["score", &edition, "--store", &store, "--format", "csv"]).success();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().expect("the scores have a header line").clone();
        let at = |name: &str| header.iter().position(|h| h == name).unwrap_or_else(|| panic!("{name}: {text}"));
        let columns = ["solver", "correct", "refuted", "uncertified", "unsat"].map(at);
        let mut rows: Vec<[String; 5]> = reader
            .records()
            .map(|row| {
                let row = row.expect("the scores are CSV");
                columns.map(|column| row[column].to_string())
            })
            .collect();
        rows.sort();
        rows.dedup();
        rows
    }
}

const TOOLS: &str =
    "tools:\n  proof-checker: { name: checker, command: [./checker/checker, --proof, '{proof}', '{formula}'] }\n";

#[test]
fn proofs_are_collected_checked_and_scored() {
    let cup = Cup::new(TOOLS);
    let ran = cup.run();
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("14 runs now, 14 of 14 in all"), "{}", ran.stderr);
    // All solve the satisfiable formula with its model. A refuted proof is no proof, but it is an answer; what was not
    // left as a file, is cut off, or was not checked in time, is none.
    let expected = [
        ["link", "1", "0", "1", "0"],
        ["long", "1", "0", "1", "0"],
        ["none", "1", "0", "1", "0"],
        ["pipe", "1", "0", "1", "0"],
        ["right", "2", "0", "0", "1"],
        ["slow", "1", "0", "1", "0"],
        ["wrong", "1", "1", "0", "1"],
    ];
    let scores = cup.scores();
    assert_eq!(scores, expected);

    // A second call has nothing to do; judging again needs no tools, and comes to the same.
    let again = cup.run();
    assert!(again.stderr.contains("0 runs now, 14 of 14 in all"), "{}", again.stderr);
    fs::remove_dir_all(cup.path("checker")).expect("the checker can be removed");
    let judged = cup.judge(&["--all"]).success();
    assert!(judged.contains("14 runs judged, 0 verdicts changed"), "{judged}");
    assert_eq!(cup.scores(), scores);
}

#[test]
fn without_a_checker_no_proof_counts() {
    let cup = Cup::new("");
    let ran = cup.run();
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    let said = "3 verdicts were given without the check proof-checker";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // Judged again they are what they were, which is said again.
    let judged = cup.judge(&["--all"]);
    assert!(judged.stderr.contains(said), "{}", judged.stderr);
    assert!(judged.success().contains("14 runs judged, 0 verdicts changed"));
    for row in cup.scores() {
        assert_eq!(row[1..], ["1", "0", "1", "0"], "{}", row[0]);
    }
}

#[test]
fn a_checker_that_is_called_wrongly_is_not_the_entrants_fault() {
    let cup = Cup::new(&TOOLS.replace("{formula}", "{benchmark}"));
    let ran = cup.run();
    assert_ne!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    // Those with a proof are not judged; the same command judges them once the entrants file is right.
    assert!(ran.stderr.contains("has the word {benchmark}"), "{}", ran.stderr);
    assert!(ran.stderr.contains("11 of 14 in all; 0 could not be run and 3 not judged"), "{}", ran.stderr);
    let entrants = fs::read_to_string(cup.path("entrants.yaml")).expect("it can be read");
    cup.write("entrants.yaml", &entrants.replace("{benchmark}", "{formula}"));
    let ran = cup.run();
    assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("3 runs now, 14 of 14 in all"), "{}", ran.stderr);
    assert!(cup.scores().contains(&["right", "2", "0", "0", "1"].map(String::from)));
}

#[test]
fn what_was_not_checked_is_checked_when_it_is_judged_again() {
    let cup = Cup::new(&TOOLS.replace("{formula}", "{benchmark}"));
    let ran = cup.run();
    assert_eq!(ran.status, 1, "{}{}", ran.stdout, ran.stderr);
    // The store's own tools are those that were called wrongly: nothing is decided.
    let judged = cup.judge(&[]);
    assert_eq!(judged.status, 1, "{}", judged.stdout);
    assert!(judged.stderr.contains("has the word {benchmark}"), "{}", judged.stderr);
    assert!(judged.stdout.contains("0 runs judged"), "{}", judged.stdout);
    // With those of a corrected file, and a checker that says yes to all, everything is.
    let entrants = fs::read_to_string(cup.path("entrants.yaml")).expect("it can be read");
    cup.write("right.yaml", &entrants.replace("{benchmark}", "{formula}"));
    let right = Cup::text(&cup.path("right.yaml"));
    let scratch = Cup::text(&cup.path("scratch"));
    let judged = cup.judge(&["--entrants", &right, "--scratch", &scratch]).success();
    assert!(judged.contains("3 runs judged"), "{judged}");
    let scores = cup.scores();
    assert!(scores.contains(&["right", "2", "0", "0", "1"].map(String::from)), "{scores:?}");
    assert!(scores.contains(&["wrong", "1", "1", "0", "1"].map(String::from)), "{scores:?}");
    // These tools are remembered now, by the content of their programs; they are not needed for what is known.
    fs::write(cup.path("checker/checker"), "#!/bin/sh\necho 's VERIFIED'\n").expect("it can be written");
    assert!(cup.judge(&["--all"]).success().contains("14 runs judged, 0 verdicts changed"));
    assert_eq!(cup.scores(), scores);
}

#[test]
fn a_tool_that_was_replaced_decides_nothing() {
    let cup = Cup::new(&TOOLS.replace("{formula}", "{benchmark}"));
    assert_eq!(cup.run().status, 1);
    fs::write(cup.path("checker/checker"), "#!/bin/sh\necho 's VERIFIED'\n").expect("it can be written");
    let judged = cup.judge(&["--all"]);
    assert_eq!(judged.status, 1, "{}", judged.stdout);
    assert!(judged.stderr.contains("is another program than when the store was written"), "{}", judged.stderr);
    assert!(judged.stdout.contains("11 runs judged, 0 verdicts changed"), "{}", judged.stdout);
}
