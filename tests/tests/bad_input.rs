//! Bad input: every error names the file, the row and what to do, in one paragraph with exit code 2, and leaves
//! nothing behind.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use agon_tests::summer::{Folder, cup, edition, joined, refused, results};
use agon_tests::{Output, agon, binary};

fn score(edition: &str, results: &str, further: &[&str]) -> Output {
    agon(&[&["score", edition, "--results", results][..], further].concat())
}

/// What fits no division, or contradicts another row, is found by its file and row.
#[test]
fn contradictions_name_both_places() {
    let folder = Folder::new();
    let rows = results();
    let row = |solver: &str, benchmark: &str| {
        let start = format!("{solver},");
        rows.iter().position(|r| r.starts_with(&start) && r.contains(benchmark)).expect("there is such a run")
    };
    let (first, second) = (row("Albatross", "QF_BV/hull/a.smt2"), row("Bittern", "QF_BV/hull/a.smt2"));
    let refused_with = |at: usize, from: &str, to: &str| {
        let mut changed = rows.clone();
        assert!(changed[at].contains(from), "{}", changed[at]);
        changed[at] = changed[at].replacen(from, to, 1);
        let file = folder.write("r.csv", &joined(&changed));
        refused(&folder, &["score", &cup("edition.yaml"), "--results", &file])
    };
    let (one, two) = (first + 1, second + 1);
    let text = refused_with(second, ",sat,60.05", ",unsat,60.05");
    assert!(text.starts_with(&format!("r.csv, row {two}: the benchmark QF_BV/hull/a.smt2")), "{text}");
    assert!(text.contains(&format!("two statuses: unsat here, but sat in r.csv, row {one}.")), "{text}");
    let text = refused_with(second, "Bittern,yes", "Bittern,no");
    assert!(text.contains("`competing` of the entrant Bittern") && text.contains("--solvers FILE"), "{text}");
    assert_eq!(text.matches("r.csv, row ").count(), 2, "{text}");
    let text = refused_with(second, "QF_BV/", "QF_BVV/");
    assert!(text.starts_with(&format!("r.csv, row {two}: the logic QF_BVV belongs to no division")), "{text}");
    assert!(text.contains("did you mean QF_BV?") && text.contains("the edition summer-cup"), "{text}");
    // The remedy that the message names helps: a division of an extending edition has the logic.
    let own = edition().replace("Boats: [QF_BV]", "Boats: [QF_BV, QF_BVV]");
    let output = score(&folder.write("own.yaml", &own), &folder.path("r.csv"), &["--format", "csv"]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    // The header alone is no result.
    let file = folder.write("head.csv", &joined(&rows[..1]));
    let text = refused(&folder, &["score", &cup("edition.yaml"), "--results", &file]);
    assert!(text.starts_with("head.csv: there is no run of the track main"), "{text}");
}

/// What a formula lacks is a column of a file.
#[test]
fn missing_measures_name_the_file() {
    let folder = Folder::new();
    let text = "entrant,solver,competing,benchmark,logic,answer,wall_time\na,Auk,yes,x,QF_BV,sat,1\n";
    let file = folder.write("r.csv", text);
    let text = refused(&folder, &["score", &cup("edition.yaml"), "--results", &file]);
    assert!(text.starts_with("r.csv: ") && text.contains("needs the column `status`"), "{text}");
    assert!(text.contains("Give results that have it"), "{text}");
}

/// The remedies against contradictions work: a status can be decided, a benchmark removed.
#[test]
fn contradictions_can_be_decided() {
    let folder = Folder::new();
    let mut rows = results();
    let at = rows.iter().position(|r| r.starts_with("Bittern,") && r.contains("QF_BV/hull/a.smt2")).expect("a run");
    rows[at] = rows[at].replace(",sat,60.05", ",unsat,60.05");
    let file = folder.write("r.csv", &joined(&rows));
    for decision in ["status: sat", "remove: true"] {
        let decisions = folder.write(
            "d.yaml",
            &format!(
                "adjudication: summer-cup\ndecisions:\n  - {{ date: 2026-01-02, reason: r, {decision}, benchmarks: [QF_BV/hull/a.smt2] }}\n"
            ),
        );
        let output = score(&cup("edition.yaml"), &file, &["--adjudication", &decisions]);
        assert_eq!(output.status, 0, "{}", output.stderr);
    }
}

/// The columns of a joined file are blamed on that file, entrants on their list.
#[test]
fn joined_files_and_lists_are_named() {
    let folder = Folder::new();
    // Benchmarks by number in the results, with their names and statuses in a file beside them.
    let form = "\
results:
  runs:
    track: main
    recognise: { columns: [key, number, answer, wall, cpu] }
    columns:
      entrant: key
      benchmark: number
      answer: { from: answer, words: { sat: sat, unsat: unsat, \"-\": unknown } }
      wall_time: wall
      cpu_time: cpu
    join:
      benchmarks:
        file: benchmarks.csv
        recognise: { columns: [number, logic, expected] }
        on: { number: number }
        columns:
          logic: logic
          status: { from: expected, words: { sat: sat, unsat: unsat, \"?\": unknown } }
entrants:
  forms:
    list:
      recognise: { columns: [id, name, competes] }
      columns:
        entrant: id
        solver: { from: name, empty: \"\" }
        competing: { from: competes, words: { \"yes\": \"true\", \"no\": \"false\" } }
";
    let text = edition();
    let own = format!("{}{form}", &text[..text.find("results:").expect("the edition has forms")]);
    let own = folder.write("own.yaml", &own);
    let runs =
        folder.write("runs.csv", "key,number,answer,wall,cpu\n1,1,sat,1,1\n2,1,sat,2,2\n1,2,sat,1,1\n2,2,-,2,2\n");
    let write = |benchmarks: &str, list: &str| {
        folder.write("benchmarks.csv", &format!("number,logic,expected\n{benchmarks}"));
        folder.write("list.csv", &format!("id,name,competes\n{list}"))
    };
    let solvers = write("1,QF_BV,sat\n2,QF_LIA,sat\n", "1,Auk,yes\n2,Booby,yes\n");
    let call = ["score", &own, "--results", &runs, "--solvers", &solvers];
    assert_eq!(agon(&call).status, 0, "{}", agon(&call).stderr);
    write("1,QF_BV,sat\n2,LIAR,sat\n", "1,Auk,yes\n2,Booby,yes\n");
    let text = refused(&folder, &call);
    assert!(text.starts_with("benchmarks.csv, row 3: the logic LIAR belongs to no division"), "{text}");
    write("1,QF_BV,sat\n2,QF_LIA,sat\n", "1,Auk,yes\n");
    let text = refused(&folder, &call);
    assert!(text.starts_with("runs.csv, row 3: the entrant 2 of the track main is not in the list list.csv"), "{text}");
    assert!(text.contains("(column `id`)"), "{text}");
    write("1,QF_BV,sat\n2,QF_LIA,sat\n", "1,Auk,yes\n2,,yes\n");
    let text = refused(&folder, &call);
    assert!(text.starts_with("list.csv, row 3: the row of the entrant 2 has no `solver`"), "{text}");
    write("1,QF_BV,sat\n2,QF_LIA,sat\n", "1,Auk,yes\n2,Auk,yes\n");
    let text = refused(&folder, &call);
    assert!(text.starts_with("list.csv, row 3: the entrant 2 of the track main has the name Auk"), "{text}");
    assert!(text.contains("the entrant 1 has too (list.csv, row 2)"), "{text}");
    write("1,QF_BV,sat\n2,QF_LIA,sat\n", "1,Auk,yes\n2,Booby,yes\n1,Crane,no\n");
    let text = refused(&folder, &call);
    assert!(text.contains("list.csv, row 2") && text.contains("list.csv, row 4"), "{text}");
    // Without a list the edition's own counts, which lists nobody here.
    let text = refused(&folder, &call[..4]);
    assert!(text.starts_with("runs.csv, row 2: the results name the entrant 1 by a key"), "{text}");
    assert!(text.contains("--solvers FILE"), "{text}");
    // What the edition's list lacks stands in the edition.
    let listed = fs::read_to_string(&own).expect("the edition can be read").replace(
        "\nentrants:\n",
        "\nentrants:\n  list:\n    - { entrant: '1', solver: Auk, competing: true }\n    - { entrant: '2', competing: true }\n",
    );
    let line = listed.lines().position(|l| l.contains("'2'")).expect("the second entrant") + 1;
    let listed = folder.write("listed.yaml", &listed);
    let text = refused(&folder, &["score", &listed, "--results", &runs]);
    assert!(text.starts_with(&format!("listed.yaml, line {line}: the row of the entrant 2 has no `solver`")), "{text}");
}

/// A Parquet file has rows, not lines.
#[test]
fn rows_of_parquet_files() {
    let folder = Folder::new();
    let mut rows = results();
    rows[8] = rows[8].replacen("/", "X/", 1);
    let raw = folder.write("r.csv", &joined(&rows));
    let parquet = folder.path("r.parquet");
    agon(&["import", &cup("edition.yaml"), &raw, "-o", &parquet]).success();
    let text = refused(&folder, &["score", &cup("edition.yaml"), "--results", &parquet]);
    assert!(text.starts_with("r.parquet, row 8: the logic"), "{text}");
}

const A: &str = "QF_BV/hull/a.smt2";
const B: &str = "QF_BV/hull/b.smt2";

/// Decisions that cannot be meant are errors at their line.
#[test]
fn wrong_decisions() {
    let folder = Folder::new();
    folder.write("ok.csv", &format!("benchmark,status\n{B},unsat\n{A},unsat\n"));
    folder.write("word.csv", &format!("benchmark,status\n{A},sta\n"));
    folder.write("hole.csv", &format!("benchmark,status\n{B},unsat\n{A},\n"));
    folder.write("other.csv", "name,status\nx,sat\n");
    let date = "  - date: 2026-01-02\n";
    let body = |rest: &str| format!("{date}    reason: r\n{rest}");
    for (decisions, place, says) in [
        (
            "  - date: yesterday\n    reason: r\n    remove: true\n    benchmarks: [x]\n".to_string(),
            "line 3",
            "`yesterday` is no date",
        ),
        ("  - date: 2026-02-30\n    reason: r\n    disqualify: [x]\n".into(), "line 3", "is no date"),
        (format!("{date}    disqualify: [Albatross]\n"), "line 3", "no reason"),
        (format!("{date}    reason: ''\n    disqualify: [Albatross]\n"), "line 4", "no reason"),
        ("  - reason: r\n    disqualify: [Albatross]\n".into(), "line 3", "no date"),
        (body("    disqualfy: [Albatross]\n"), "line 5", "did you mean `disqualify`?"),
        (body("    disqualify: Albatross\n"), "line 5", "Write a list"),
        (body("    disqualify: []\n"), "line 5", "lists nothing"),
        (body("    remove: yes\n"), "line 5", "neither `true` nor `false`"),
        (body("    remove: true\n"), "line 3", "not to which"),
        (body(&format!("    benchmarks: [{A}]\n")), "line 3", "not what happens"),
        (
            body(&format!("    track: mian\n    remove: true\n    benchmarks: [{A}]\n")),
            "line 3",
            "no track `mian` (it has: main)",
        ),
        (body(&format!("    status: sta\n    benchmarks:\n      - {A}\n")), "line 7", "`sta` is not a status (known: "),
        (
            body("    remove: true\n    benchmarks:\n      - QF_BV/hull/aa.smt2\n"),
            "line 7",
            "did you mean `QF_BV/hull/a.smt2`?",
        ),
        (body("    disqualify:\n      - Albatros\n"), "line 6", "did you mean `Albatross`?"),
        (body("    file: other.csv\n"), "line 5", "no column `benchmark`"),
        (
            body(&format!("    status: sat\n    benchmarks: [{A}]\n"))
                + &body(&format!("    status: unsat\n    benchmarks:\n    - {A}\n")),
            "line 11",
            "is unsat here and sat in d.yaml, line 6",
        ),
        (
            body("    file: ok.csv\n") + &body(&format!("    status: sat\n    benchmarks:\n    - {A}\n")),
            "line 10",
            "is sat here and unsat in ok.csv, row 3",
        ),
        ("  - {date: 2022\n".into(), "line 4", "this is not YAML"),
        ("  - &x {date: 2022-01-01}\n".into(), "line 3", "anchors"),
    ] {
        let file = folder.write("d.yaml", &format!("adjudication: summer-cup\ndecisions:\n{decisions}"));
        let results = cup("results.csv");
        let text = refused(&folder, &["score", &cup("edition.yaml"), "--results", &results, "--adjudication", &file]);
        assert!(text.starts_with(&format!("d.yaml, {place}: ")) && text.contains(says), "{decisions}{text}");
    }
    for (file, place) in [("word.csv", "word.csv, row 2: "), ("hole.csv", "hole.csv, row 3: ")] {
        let text = format!("adjudication: summer-cup\ndecisions:\n{}", body(&format!("    file: {file}\n")));
        let decisions = folder.write("d.yaml", &text);
        let results = cup("results.csv");
        let text =
            refused(&folder, &["score", &cup("edition.yaml"), "--results", &results, "--adjudication", &decisions]);
        assert!(text.starts_with(place), "{text}");
    }
}

/// Decisions against the results' own statuses, and those without effect, are allowed and said.
#[test]
fn remarkable_decisions() {
    let folder = Folder::new();
    let reason = "    reason: r\n";
    let decision = |rest: &str| format!("  - date: 2026-01-02\n{reason}{rest}");
    for (decisions, says) in [
        (
            decision(&format!("    status: unsat\n    benchmarks: [{A}]\n")),
            "d.yaml, line 6: QF_BV/hull/a.smt2 has the status sat in ",
        ),
        (
            decision(&format!("    status: sat\n    benchmarks: [{A}]\n")),
            "1 of its benchmarks has the decided status in the results already",
        ),
        (
            decision(&format!("    remove: true\n    benchmarks: [{A}]\n"))
                + &decision(&format!("    remove: true\n    benchmarks: [{A}, {B}]\n")),
            "d.yaml, line 10: QF_BV/hull/a.smt2 is removed already by d.yaml, line 6",
        ),
        (
            decision(&format!("    remove: true\n    benchmarks: [{A}]\n"))
                + &decision(&format!("    status: sat\n    benchmarks: [{A}]\n")),
            "d.yaml, line 10: QF_BV/hull/a.smt2 is removed already by d.yaml, line 6, so that its status has no effect",
        ),
        (
            decision("    withdraw: [Albatross]\n") + &decision("    disqualify: [Albatross]\n"),
            "d.yaml, line 8: Albatross has no results left",
        ),
    ] {
        let file = folder.write("d.yaml", &format!("adjudication: summer-cup\ndecisions:\n{decisions}"));
        let output = score(&cup("edition.yaml"), &cup("results.csv"), &["--adjudication", &file]);
        assert_eq!(output.status, 0, "{}", output.stderr);
        let said = output.stderr.replace(&folder.path(""), "");
        assert!(said.lines().any(|l| l.starts_with("note: ") && l.contains(says)), "{says}: {said}");
    }
}

/// A second track, whose results lack what a decision is about, does not make it wrong.
#[test]
fn decisions_hold_for_the_tracks_that_they_fit() {
    let folder = Folder::new();
    // A second track like the first.
    let text = edition();
    let track = &text[text.find("  main:").expect("a track")..text.find("results:").expect("forms")];
    let second = track.replacen("  main:", "  other:", 1);
    let own = text.replacen("results:\n", &format!("{second}results:\n"), 1);
    let own = folder.write("own.yaml", &own);
    let header = "track,entrant,solver,competing,benchmark,logic,answer,status,wall_time,cpu_time\n";
    let rows = [
        "main,a,Auk,yes,x,QF_BV,sat,sat,1,1\nmain,b,Booby,yes,x,QF_BV,unknown,sat,1,1\nmain,a,Auk,yes,w,QF_BV,sat,sat,1,1\n",
        "other,a,Auk,yes,y,QF_BV,sat,sat,1,1\nother,c,Crane,yes,y,QF_BV,sat,sat,2,2\nother,a,Auk,yes,v,QF_BV,sat,sat,1,1\n",
    ];
    let file = folder.write("r.csv", &format!("{header}{}", rows.concat()));
    let call = |decision: &str, file: &str| {
        let text = format!("adjudication: summer-cup\ndecisions:\n  - {{ date: 2026-01-02, reason: r, {decision} }}\n");
        let decisions = folder.write("d.yaml", &text);
        agon(&["score", &own, "--results", file, "--adjudication", &decisions, "--format", "csv"])
    };
    for decision in
        ["remove: true, benchmarks: [x]", "status: unsat, benchmarks: [y]", "disqualify: [Booby]", "withdraw: [c]"]
    {
        let output = call(decision, &file);
        assert_eq!(output.status, 0, "{decision}: {}", output.stderr);
        assert!(output.stderr.contains("adjudication, track "), "{decision}: {}", output.stderr);
    }
    // What neither track has, or only the other one, is an error still.
    for decision in
        ["remove: true, benchmarks: [z]", "track: other, remove: true, benchmarks: [x]", "disqualify: [Crow]"]
    {
        let output = call(decision, &file);
        assert!(output.status == 2 && output.stderr.contains("the results have no "), "{decision}: {}", output.stderr);
    }
    // Of the other track there may be no results; then the decision waits.
    let file = folder.write("one.csv", &format!("{header}{}", rows[0]));
    let output = call("track: other, remove: true, benchmarks: [y]", &file);
    assert!(output.status == 0 && output.stderr.contains("of which there are no results here"), "{}", output.stderr);
    // A row about a track that there is not.
    let file = folder.write("three.csv", &format!("{header}{}{}", rows[0], rows[1].replacen("other", "third", 1)));
    let text = refused(&folder, &["score", &own, "--results", &file]);
    assert!(text.starts_with("three.csv, row 5: the column `track` says third"), "{text}");
}

/// What cannot be written is said before anything is read, and nothing is left behind.
#[test]
fn targets() {
    let folder = Folder::new();
    let edition = folder.write("edition.yaml", &edition());
    let results = folder.write("r.csv", &joined(&results()));
    fs::create_dir(folder.path("d.csv")).expect("a folder can be made");
    let before = folder.content();
    for (target, says) in [
        ("d.csv", "d.csv is a directory; give the name of a file"),
        ("none/x.csv", "there is no directory none"),
        ("r.csv/x.csv", "r.csv is not a directory"),
        ("r.csv", "r.csv is one of the files that are read"),
    ] {
        let target = folder.path(target);
        for call in [
            vec!["score", &edition, "--results", &results, "-o", &target],
            vec!["import", &edition, &results, "-o", &target],
            // What the file holds does not matter.
            vec!["import", &edition, "no-such-file", "-o", &target],
        ] {
            if call[2] == "no-such-file" && says.contains("that are read") {
                continue;
            }
            let text = refused(&folder, &call);
            assert!(text.contains(says), "{call:?}: {text}");
        }
    }
    let text = refused(&folder, &["score", &edition, "--results", &results, "-o", &edition]);
    assert!(text.contains("edition.yaml is one of the files that are read"), "{text}");
    let text = refused(&folder, &["import", &edition, &results, "-o", &folder.path("x.txt")]);
    assert!(text.contains("must end in .parquet or .csv"), "{text}");
    assert_eq!(folder.content(), before);
    assert_eq!(fs::read_to_string(&results).expect("the results are there"), joined(&self::results()));
}

/// A file that does not fit leaves nothing behind, and the message says so and not something about columns. (A limit
/// of the shell on the size of files stands in for a full disk.)
#[cfg(unix)]
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    for target in ["x.parquet", "x.csv"] {
        let command = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", command, "sh"])
            .arg(binary())
            .args(["import", &cup("edition.yaml"), &cup("results.csv"), "-o", &folder.path(target)])
            .output()
            .expect("there is a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("nothing was left behind") && said.contains("ulimit -f"), "{said}");
        assert_eq!(folder.content(), [""; 0], "{said}");
    }
}

/// A choice that leaves nothing is an error that names what there is.
#[test]
fn empty_selections() {
    let folder = Folder::new();
    let (edition, results) = (cup("edition.yaml"), cup("results.csv"));
    for (choice, says) in [
        (
            vec!["--division", "Boats", "--logic", "QF_LIA"],
            "the division Boats of the edition summer-cup has no logic QF_LIA (it has: QF_BV), which belongs to Sails",
        ),
        (vec!["--division", "Boots"], "no division `Boots` (it has: Boats, Sails)"),
        (vec!["--logic", "QF_BVV"], "no logic `QF_BVV`"),
        (vec!["--view", "none"], "no view `none` (it has: score)"),
        (vec!["--table", "none"], "no table `none` (it has: all, all-round, division, recognitions)"),
        (vec!["--table", "division", "--logic", "QF_BV"], "--logic QF_BV leaves none"),
        (vec!["--table", "all-round", "--division", "Boats"], "belong to the tables all-round and the views score"),
        (vec!["--track", "none"], "no track `none` (it has: main)"),
    ] {
        for format in ["csv", "table"] {
            let call = [&["score", &edition, "--results", &results, "--format", format][..], &choice].concat();
            let text = refused(&folder, &call);
            assert!(text.contains(says), "{choice:?}: {text}");
        }
        let call = [&["verify", &edition, "--results", &results, "--published", &results][..], &choice].concat();
        assert_ne!(agon(&call).status, 0, "{choice:?}");
    }
    // A division that exists, of which there are no results.
    let rows: Vec<String> = self::results().into_iter().filter(|r| !r.contains("QF_BV/")).collect();
    let file = folder.write("r.csv", &joined(&rows));
    let text = refused(&folder, &["score", &edition, "--results", &file, "--division", "Boats"]);
    assert!(text.contains("there is none for --division Boats, but for Sails"), "{text}");
}

/// An imported file is what a form made of the raw files; if the form is another one now, it is stale.
#[test]
fn stale_imports() {
    let folder = Folder::new();
    let parquet = folder.path("r.parquet");
    agon(&["import", &cup("edition.yaml"), &cup("results.csv"), "-o", &parquet]).success();
    let expected = score(&cup("edition.yaml"), &cup("results.csv"), &["--format", "csv"]).success();
    assert_eq!(score(&cup("edition.yaml"), &parquet, &["--format", "csv"]).success(), expected);
    let text = edition();
    let changed = text.replace("\"?\": unknown", "\"?\": unknown, \"!\": unknown");
    assert_ne!(changed, text);
    for (edition, says) in [
        (changed.clone(), "imported by an older state of the edition summer-cup"),
        (
            changed.replace("edition: summer-cup", "edition: winter-cup"),
            "imported for the edition summer-cup, but is given for the edition winter-cup",
        ),
    ] {
        let edition = folder.write("own.yaml", &edition);
        for call in [
            vec!["score", &edition, "--results", &parquet],
            vec!["import", &edition, &parquet, "-o", "/no/such/folder.csv"],
        ] {
            if call[0] == "import" {
                let target = folder.path("again.parquet");
                let text = refused(&folder, &["import", &edition, &parquet, "-o", &target]);
                assert!(text.contains(says), "{text}");
                continue;
            }
            let text = refused(&folder, &call);
            assert!(text.starts_with("r.parquet: ") && text.contains(says), "{text}");
            assert!(text.contains("agon import "), "{text}");
        }
    }
    // An edition that takes the form over reads the same, so the file is as good for it.
    let heir = text.replace("edition: summer-cup", "edition: winter-cup");
    let heir = folder.write("heir.yaml", &heir);
    assert_eq!(score(&heir, &parquet, &["--format", "csv"]).success(), expected.replace("summer-cup,", "winter-cup,"));
    // Damage is the better message, also where it hits the name of the edition.
    let mut bytes = fs::read(&parquet).expect("the file can be read");
    let at = bytes.windows(10).rposition(|w| w == b"summer-cup").expect("the file names its edition");
    bytes[at] = b'S';
    fs::write(&parquet, bytes).expect("the file can be written");
    let text = refused(&folder, &["score", &cup("edition.yaml"), "--results", &parquet]);
    assert!(text.contains("damaged") && !text.contains("panicked"), "{text}");
}

/// A table that is by further columns prints them, and they tell its groups apart.
#[test]
fn tables_by_other_columns() {
    let folder = Folder::new();
    let text = edition();
    let own = text
        .replace("    scoring:\n", "    scoring:\n      tables:\n        division: { by: [division] }\n        family: { by: [division, family] }\n")
        .replace("      answer: {", "      family: { from: benchmark, part: \"^[^/]+/([^/]+)\" }\n      answer: {");
    let own = folder.write("own.yaml", &own);
    let csv = score(&own, &cup("results.csv"), &["--table", "family", "--format", "csv"]).success();
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    assert_eq!(header[..7], ["edition", "track", "table", "division", "logic", "family", "view"]);
    let mut groups: Vec<(String, String)> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let group = (cells[3].to_string(), cells[5].to_string());
        if groups.last() != Some(&group) {
            assert_eq!(cells[7], "1", "positions start anew: {line}");
            groups.push(group);
        }
    }
    assert!(groups.len() > 2 && groups.iter().all(|(_, family)| !family.is_empty()), "{groups:?}");
    let mut once = groups.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), groups.len(), "each group stands in one place: {groups:?}");
    let shown = score(&own, &cup("results.csv"), &["--table", "family"]).success();
    for (division, family) in &groups {
        assert!(shown.contains(&format!("main · {division} · family {family} · family · score")), "{shown}");
    }
    let json = score(&own, &cup("results.csv"), &["--table", "family", "--format", "json"]).success();
    let json: serde_json::Value = serde_json::from_str(&json).expect("the scores are JSON");
    assert_eq!(json[0]["family"], groups[0].1.as_str());
    // Printed figures are found again, each in its own group; and a changed one is noticed.
    let both = score(&own, &cup("results.csv"), &["--format", "csv"]).success();
    let verify = |text: &str| {
        let published = folder.write("published.csv", text);
        agon(&["verify", &own, "--results", &cup("results.csv"), "--published", &published])
    };
    let right = verify(&both);
    assert!(right.status == 0 && right.stdout.contains(" 0 unexplained"), "{}", right.stdout);
    let last = both.lines().rfind(|l| l.contains(",family,")).expect("a row of a family");
    let changed = both.replace(last, &last.replace(",no", ",yes"));
    assert_ne!(changed, both);
    let wrong = verify(&changed);
    assert!(wrong.status == 1 && wrong.stdout.contains(" 1 unexplained"), "{}", wrong.stdout);
    // A track that the edition does not have is no comparison, and not silence either.
    let wrong = verify(&both.replacen(",main,", ",mian,", 1));
    assert_eq!(wrong.status, 1);
    assert!(wrong.stdout.contains("track: published mian, computed no such track in the edition"), "{}", wrong.stdout);
}

/// A damaged Parquet file of another program is called damaged, without a word of the decoder's own troubles.
#[test]
fn damaged_foreign_parquet() {
    let folder = Folder::new();
    // A file of ours without its metadata is a foreign one: the keys are renamed. Its times are nanoseconds then, which
    // would be taken for seconds; nothing took no time, so that this does not matter here.
    let timeless = |row: &String| match row.rsplitn(3, ',').nth(2) {
        Some(rest) if !row.starts_with("solver,") => format!("{rest},0,0"),
        _ => row.clone(),
    };
    let raw = folder.write("r.csv", &joined(&results().iter().map(timeless).collect::<Vec<_>>()));
    let parquet = folder.path("r.parquet");
    agon(&["import", &cup("edition.yaml"), &raw, "-o", &parquet]).success();
    let mut bytes = fs::read(&parquet).expect("the file can be read");
    for at in 0..bytes.len() - 5 {
        if &bytes[at..at + 5] == b"agon." {
            bytes[at] = b'o';
        }
    }
    // Its columns have the names of the canonical form.
    let path: PathBuf = folder.write("foreign.parquet", "").into();
    fs::write(&path, &bytes).expect("the file can be written");
    let file = path.display().to_string();
    let output = score(&cup("edition.yaml"), &file, &["--format", "csv"]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stderr.contains("no checksum over the whole file"), "{}", output.stderr);
    let step = bytes.len() / 60;
    let mut refused = 0;
    for at in (4..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        fs::write(&path, &damaged).expect("the file can be written");
        let output = score(&cup("edition.yaml"), &file, &["--format", "csv"]);
        assert!(!output.stderr.contains("panicked"), "byte {at}: {}", output.stderr);
        match output.status {
            0 => assert!(output.stderr.contains("damage could go unnoticed"), "{}", output.stderr),
            code => {
                assert_eq!((code, output.stderr.matches('\n').count()), (2, 1), "{}", output.stderr);
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "only {refused} of 60 damaged files were refused");
}
