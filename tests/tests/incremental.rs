//! The incremental track from the command line: traces with programs that play solvers, by the rules of three years.

// What a test found out beside its result, with --nocapture.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use agon_tests::cup::Cup;
use agon_tests::{archive, workspace};

/// The application track of 2012: sections 3.3 and 5 of its rules, in a twentieth of the example's time.
const RULES_2012: &str = r#"
edition: applications
title: Application track by the rules of 2012
tracks:
  application:
    plugin: incremental
    parameters: { unknown-status: stop }
    input: trace
    divisions: { QF_LIA: [QF_LIA] }
    limits: { wall: 5 s, memory: 1 GB, cores: 1 }
    scoring:
      cite: "§5 Main and application tracks"
      runs:
        answers:
          cite: "§5"
          let:
            wrong: { is: wrong_answers > 0, says: "An incorrect answer ends the run, whose score is (1, 0, 0)." }
            solved: { is: "if(wrong, 0, correct_answers)" }
            taken: { is: "if(wrong, 0 s, correct_time)", says: "From each check-sat to its correct answer." }
      measures:
        error: count(wrong)
        correct: sum(solved)
        seconds: sum(taken)
      views:
        application: { order: [error asc, correct desc, seconds asc] }
"#;

/// A program that answers every command, the checks by what it has in its list, each after a time in seconds.
fn solver(answers: &[(&str, &str)]) -> String {
    let mut cases = String::new();
    for (n, (time, answer)) in answers.iter().enumerate() {
        cases.push_str(&format!("{}) sleep {time}; {answer};; ", n + 1));
    }
    format!(
        "n=0\nwhile read -r line; do case \"$line\" in *check-sat*) n=$((n+1)); case $n in {cases} esac;; \
         *exit*) exit 0;; *) echo success;; esac; done"
    )
}

/// A script with these right answers.
fn script(statuses: &[&str]) -> String {
    let mut text = String::from("(set-logic QF_LIA)\n(declare-fun |a ; (b| () Int)\n");
    for status in statuses {
        text.push_str(&format!(
            "(push 1)\n(assert (> |a ; (b| 0))\n(set-info :status {status})\n(check-sat)\n(pop 1)\n"
        ));
    }
    text + "(exit)\n"
}

fn cup(edition: &str, track: &str) -> Cup {
    let mut cup = Cup::new(edition, track);
    cup.write("benchmarks/trace.smt2", script(&["sat"; 5]).as_bytes());
    cup.options(&["--jobs", "2", "--seed", "7"]);
    cup
}

/// The rows of the scores, by solver.
fn rows(cup: &Cup, store: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = cup.of_store("score", store, &["--format", "csv", "--table", "division"]).success();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .map(|row| {
            let row: BTreeMap<String, String> = row.expect("it is CSV");
            (row["solver"].clone(), row)
        })
        .collect()
}

fn seconds(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{row:?}"))
}

#[test]
fn the_example_of_2012() {
    let mut cup = Cup::new("", "application");
    let path = cup.write("applications.yaml", RULES_2012.as_bytes()).display().to_string();
    cup = cup.of(&path);
    cup.write("benchmarks/trace.smt2", script(&["sat"; 5]).as_bytes());
    let four = |fifth: (&'static str, &'static str), time: &'static str| {
        let mut answers = vec![(time, "echo sat"); 4];
        answers.push(fifth);
        solver(&answers)
    };
    cup.enter("times-out", &four(("60", "echo sat"), "0.5"));
    cup.enter("solves", &four(("2", "echo sat"), "0.5"));
    cup.enter("errs", &four(("0", "echo unsat"), "0.1"));
    cup.options(&["--jobs", "2"]);
    cup.run("store", &[]).success();
    let rows = rows(&cup, "store");
    let score = |name: &str| (rows[name]["error"].as_str(), rows[name]["correct"].as_str());
    assert_eq!((score("times-out"), score("solves"), score("errs")), (("0", "4"), ("0", "5"), ("1", "0")), "{rows:?}");
    // Four times half a second, and two more: no less, and without what came before the limit and led to nothing.
    let time = |name: &str| seconds(&rows[name], "seconds");
    assert!((2.0..4.9).contains(&time("times-out")), "{rows:?}");
    assert!((4.0..5.0).contains(&time("solves")), "{rows:?}");
    assert!(time("errs") == 0.0, "{rows:?}");
    let places: Vec<_> = ["solves", "times-out", "errs"].iter().map(|name| rows[*name]["rank"].as_str()).collect();
    assert_eq!(places, ["1", "2", "3"]);
}

/// The same solvers on the same trace: one is wrong at the third check, one says unknown there, one keeps silent, one dies,
/// one reports an error before it.
fn five(edition: &str, track: &str, limits: &str) -> (Cup, BTreeMap<String, BTreeMap<String, String>>) {
    let mut cup = cup(edition, track);
    let third = |what: &'static str| {
        let mut answers = vec![("0", "echo sat"); 5];
        answers[2].1 = what;
        solver(&answers)
    };
    cup.enter("right", &third("echo sat"));
    cup.enter("wrong", &third("echo unsat"));
    cup.enter("unknown", &third("echo unknown"));
    cup.enter("silent", &third("sleep 60"));
    cup.enter("dies", &third("exit 3"));
    cup.enter("errors", &third("echo '(error \"no ) model\")'"));
    cup.run("store", &["--limit", limits]).success();
    let rows = rows(&cup, "store");
    (cup, rows)
}

#[test]
fn wrong_answers_and_limits_in_2014_and_2022() {
    let scores = |rows: &BTreeMap<String, BTreeMap<String, String>>| {
        rows.iter()
            .map(|(name, row)| format!("{name} {} {} {}", row["error"], row["correct"], row["unsolved"]))
            .collect::<Vec<_>>()
    };
    let (cup, in_2014) = five("smt-comp-2014", "application", "wall=3s,cpu=3s,memory=1GB,cores=1");
    // A wrong answer is one erroneous response, so is an error; the run goes on.
    let expected = ["dies 0 2 3", "errors 1 4 1", "right 0 5 0", "silent 0 2 3", "unknown 0 4 1", "wrong 1 4 1"];
    assert_eq!(scores(&in_2014), expected);
    // Who times out has the timeout as time, though it slept: the one that the runs had.
    assert_eq!(in_2014["silent"]["cpu_time"], "3", "{in_2014:?}");
    assert!(seconds(&in_2014["dies"], "cpu_time") < 3.0);
    // As the year's programs did it: the same outputs, judged again.
    let published = cup.of_store("score", "store", &["--format", "csv", "--table", "division", "--as", "published"]);
    assert!(published.success().contains("wrong"));

    let (cup, in_2022) = five("smt-comp-2022", "incremental", "wall=3s,memory=1GB,cores=1");
    // A wrong answer leaves nothing of the run; an erroneous response ends it.
    let expected = ["dies 0 2 3", "errors 0 2 3", "right 0 5 0", "silent 0 2 3", "unknown 0 4 1", "wrong 1 0 5"];
    assert_eq!(scores(&in_2022), expected);
    let said = cup.said("store");
    let reason = |name: &str| said[&(name.to_string(), "trace.smt2".to_string())].reason.clone();
    let names = ["right", "wrong", "unknown", "silent", "dies", "errors"];
    let reasons = ["completed", "wrong-answer", "completed", "limit", "no-answer", "erroneous-response"];
    assert_eq!(names.map(reason), reasons);
    // It used its wall-clock time, and next to no CPU time.
    assert!(seconds(&in_2022["silent"], "wall_time") >= 3.0 && seconds(&in_2022["silent"], "cpu_time") < 3.0);
}

#[test]
fn no_fault_of_the_protocol_holds_up_the_race() {
    let mut cup = cup("smt-comp-2022", "incremental");
    let with = |word: &str, what: &str| {
        format!(
            "while read -r line; do case \"$line\" in *{word}*) {what};; *check-sat*) echo sat;; *exit*) exit 0;; \
             *) echo success;; esac; done"
        )
    };
    // Name, program, right answers, how it ended.
    let faults = [
        ("late", with("check-sat", "sleep 0.3; echo sat"), 5, "completed"),
        ("spaces", with("check-sat", "printf '\\n  sat\\t\\r\\n\\n'"), 5, "completed"),
        ("pieces", with("check-sat", "printf s; sleep 0.1; printf 'at\\n'"), 5, "completed"),
        ("twice", with("check-sat", "printf 'sat\\nsat\\n'"), 1, "erroneous-response"),
        ("banner", format!("echo welcome; {}", with("nothing", ":")), 0, "erroneous-response"),
        ("garbage", with("check-sat", "head -c 100 /dev/zero; echo"), 0, "erroneous-response"),
        ("no-success", with("assert", "echo '(error \"what\")'"), 0, "erroneous-response"),
        ("unsupported", with("set-logic", "echo unsupported"), 0, "erroneous-response"),
        ("dies-first", "exit 1".to_string(), 0, "no-answer"),
        ("dies-in-setup", with("declare", "kill -SEGV $$"), 0, "no-answer"),
        ("dies-at-exit", with("exit", "kill -ABRT $$"), 5, "completed"),
        ("closes-output", with("pop", "exec >&-; sleep 60"), 1, "no-answer"),
        ("ignores-exit", with("exit", "trap '' TERM HUP; sleep 60"), 5, "completed"),
        ("answers-exit", with("exit", "echo success; sleep 60"), 5, "completed"),
        ("never-reads", "sleep 60".to_string(), 0, "limit"),
        ("half-a-line", with("check-sat", "printf sa; sleep 60"), 0, "limit"),
        ("on-stderr", with("set-logic", "echo success >&2"), 0, "limit"),
        ("floods", with("check-sat", "exec cat /dev/zero"), 0, "limit"),
        ("floods-stderr", with("pop", "yes >&2"), 1, "limit"),
    ];
    for (name, program, ..) in &faults {
        cup.enter(name, program);
    }
    cup.run("store", &["--limit", "wall=3s,memory=1GB,cores=1,output=1MB"]).success();
    let said = cup.said("store");
    let rows = rows(&cup, "store");
    for (name, _, correct, reason) in &faults {
        let said = &said[&(name.to_string(), "trace.smt2".to_string())];
        assert_eq!(
            (rows[*name]["correct"].as_str(), said.reason.as_str()),
            (correct.to_string().as_str(), *reason),
            "{name}"
        );
        assert_eq!(rows[*name]["error"], "0", "{name}");
        let blame = &said.verdict[3];
        assert_eq!(*blame == "none", *reason == "completed" && *name != "dies-at-exit", "{name}: {said:?}");
    }
    // Judged again from the store alone, all is the same.
    cup.of_store("judge", "store", &[]).success();
    assert_eq!(cup.said("store"), said);
    // Every run has its table of checks.
    let results = cup.records("store").into_iter().filter(|record| record["kind"] == "result");
    for record in results {
        assert_eq!(record["artifacts"][0]["name"], "checks", "{record}");
    }
}

#[test]
fn a_script_that_is_none_is_the_machines_fault_to_tell() {
    let mut cup = cup("smt-comp-2022", "incremental");
    cup.enter("right", &solver(&[("0", "echo sat"); 5]));
    cup.write("benchmarks/bad.smt2", b"(set-logic QF_LIA)\n(check-sat)\n(assert");
    let output = cup.run("store", &["--limit", "wall=3s,memory=1GB,cores=1"]);
    assert_eq!(output.status, 1, "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("bad.smt2, line 3, column 8: the official scrambler refuses"), "{}", output.stderr);
    assert_eq!(rows(&cup, "store")["right"]["correct"], "5");
}

/// A cup of real solvers as they read commands one by one.
fn real(edition: &str, track: &str, list: &Path, entrants: &[(&str, &[&str])]) -> Cup {
    let mut cup = Cup::new(edition, track);
    for (name, arguments) in entrants {
        let program = workspace().join(".solvers/bin").join(name);
        assert!(program.exists(), "{} is not there: run .ci/solvers", program.display());
        let program = program.display().to_string();
        let command: Vec<&str> = [program.as_str()].into_iter().chain(arguments.iter().copied()).collect();
        cup.enter_as(name, &command);
    }
    let limits = "wall=10s,cores=1,memory=2GB";
    let list = list.display().to_string();
    cup.options(&["--benchmarks", &list, "--limit", limits, "--seed", "7", "--jobs", "2"]);
    cup
}

/// What the runs came to, by solver and reason, with nobody contradicted.
fn came_to(cup: &Cup) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for record in cup.records("store").into_iter().filter(|record| record["kind"] == "result") {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        assert_ne!(record["soundness"], "contradicts", "{record}");
        *counts.entry((text(&record["entrant"]), text(&record["columns"]["reason"]["word"]))).or_insert(0) += 1;
    }
    counts
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn real_solvers_answer_the_traces_of_the_race() {
    let list = workspace().join("tests/race/traces.csv");
    for (edition, track) in [("smt-comp-2022", "incremental"), ("smt-comp-2014", "application")] {
        // The application track of 2014 has no QF_UF.
        let scratch = Cup::new(edition, track);
        let kept: String = std::fs::read_to_string(&list)
            .expect("it is shipped")
            .lines()
            .filter(|line| track == "incremental" || !line.starts_with("QF_UF"))
            .map(|line| {
                line.replace(",traces/", &format!(",{}/", workspace().join("tests/race/traces").display())) + "\n"
            })
            .collect();
        let path = scratch.write("list.csv", kept.as_bytes());
        let small = real(
            edition,
            track,
            &path,
            &[("z3", &[]), ("cvc5", &["--incremental"]), ("yices-smt2", &["--incremental"])],
        );
        small.run("store", &[]).success();
        let traces = kept.lines().count() - 1;
        let checks: usize = kept.lines().skip(1).map(|l| l.matches("sat ").count() + l.matches("sat,").count()).sum();
        let expected: BTreeMap<_, _> =
            ["cvc5", "yices-smt2", "z3"].map(|name| ((name.to_string(), "completed".to_string()), traces)).into();
        assert_eq!(came_to(&small), expected);
        let text = small.of_store("score", "store", &["--format", "csv", "--table", "division"]).success();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut solved: BTreeMap<String, usize> = BTreeMap::new();
        for row in reader.deserialize() {
            let row: BTreeMap<String, String> = row.expect("it is CSV");
            assert_eq!(row["error"], "0");
            *solved.entry(row["solver"].clone()).or_default() += row["correct"].parse::<usize>().expect("a number");
        }
        assert_eq!(solved.values().copied().collect::<Vec<_>>(), [checks; 3], "{solved:?}");
    }
}

#[test]
#[ignore = "needs the archive and solvers: set AGON_ARCHIVE, run .ci/solvers"]
fn real_solvers_agree_with_the_index() {
    let folder = archive().join("benchmarks/smt2");
    let mut reader = csv::Reader::from_path(folder.join("index.csv")).expect("it is there");
    let edition = std::fs::read_to_string(workspace().join("editions/smt-comp-2022.yaml")).expect("it is shipped");
    let edition: serde_json::Value = serde_yaml::from_str(&edition).expect("it is YAML");
    let divisions = edition["divisions"]["incremental"].as_object().expect("it has divisions");
    let known: Vec<&str> =
        divisions.values().flat_map(|d| d.as_array().into_iter().flatten()).filter_map(|l| l.as_str()).collect();
    let mut list = String::from("benchmark,path,logic,status\n");
    let mut traces = 0;
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.expect("it is CSV");
        if row["kind"] != "incremental" || !known.contains(&row["logic"].as_str()) {
            continue;
        }
        let statuses: Vec<&str> = row["status"]
            .split(',')
            .flat_map(|part| {
                let (word, count) = part.split_once('*').unwrap_or((part, "1"));
                std::iter::repeat_n(word, count.parse().expect("it is a number"))
            })
            .collect();
        let path = folder.join(&row["path"]);
        // The index counts checks behind an exit, which nobody is asked.
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("it is there")).into_owned();
        if text.split_once("(exit)").is_some_and(|(_, rest)| rest.contains("(check-sat")) {
            continue;
        }
        list += &format!("{},{},{},{}\n", row["path"], path.display(), row["logic"], statuses.join(" "));
        traces += 1;
    }
    assert!(traces > 60, "{traces}");
    let scratch = Cup::new("smt-comp-2022", "incremental");
    let path = scratch.write("list.csv", list.as_bytes());
    let solvers: [(&str, &[&str]); 3] = [("z3", &[]), ("cvc5", &["--incremental"]), ("yices-smt2", &["--incremental"])];
    // Many of the files have commands that the scrambler refuses: they are run as they are.
    let edition =
        "edition: as-they-are\nextends: smt-comp-2022\ntracks:\n  incremental:\n    run: { scramble: none }\n";
    let edition = scratch.write("as-they-are.yaml", edition.as_bytes()).display().to_string();
    let cup = real(&edition, "incremental", &path, &solvers);
    let output = cup.run("store", &[]);
    let counts = came_to(&cup);
    println!("{traces} traces: {counts:?}\n{}", output.stderr);
    output.success();
    // Many of the files use options and commands that only one solver has, which ends the others.
    for (name, least) in [("z3", traces / 2), ("cvc5", traces / 3), ("yices-smt2", traces / 5)] {
        let completed = |word: &str| counts.get(&(name.to_string(), word.to_string())).copied().unwrap_or(0);
        let done = completed("completed") + completed("unknown-status");
        assert!(done >= least, "{name}: {counts:?}");
    }
}
