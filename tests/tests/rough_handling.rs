//! Files that are almost right: cut off, listed twice, spelled with characters that nobody sees. What could give a wrong
//! number without a word is an error or a note, and nothing of a file is obeyed by a terminal.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use agon_tests::summer::{Folder, cup, edition, joined, refused, results};
use agon_tests::{Output, agon, binary};

fn score(folder: &Folder, rows: &str, further: &[&str]) -> Output {
    let file = folder.write("r.csv", rows);
    let mut output = agon(&[&["score", &cup("edition.yaml"), "--results", &file][..], further].concat());
    output.stderr = output.stderr.replace(&folder.path(""), "");
    output
}

/// A text that is cut off inside its last number looks like any other.
#[test]
fn an_open_end() {
    let folder = Folder::new();
    let whole = joined(&results());
    assert!(!score(&folder, &whole, &[]).stderr.contains("no line end"));
    let rows = whole.lines().count();
    let cut = &whole[..whole.len() - 2];
    let output = score(&folder, cut, &[]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    let note = format!("note: r.csv, row {rows}: no line end follows the last row: ");
    assert!(output.stderr.lines().any(|l| l.starts_with(&note)), "{}", output.stderr);
    // A quoted text with a line feed takes two lines of the file.
    let output =
        score(&folder, &format!("{whole}\"Auk\ntwo\",yes,QF_BV/hull/a.smt2,sat,sat,1,1"), &["--format", "csv"]);
    assert!(output.stderr.contains(&format!("r.csv, row {}: no line end", rows + 1)), "{}", output.stderr);
    // Decisions and published figures too.
    folder.write("b.csv", "benchmark,status\nQF_BV/hull/a.smt2,sat");
    let decisions = folder
        .write("d.yaml", "adjudication: summer-cup\ndecisions:\n  - { date: 2026-01-02, reason: r, file: b.csv }\n");
    let output = score(&folder, &whole, &["--adjudication", &decisions]);
    assert!(output.stderr.contains("note: b.csv, row 2: no line end"), "{}", output.stderr);
    let published = score(&folder, &whole, &["--format", "csv"]).success();
    let published = folder.write("p.csv", published.trim_end());
    let results = folder.write("r.csv", &whole);
    let output = agon(&["verify", &cup("edition.yaml"), "--results", &results, "--published", &published]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stderr.contains("p.csv, row ") && output.stderr.contains("no line end"), "{}", output.stderr);
}

/// Decisions that say two things are errors; those that say nothing are said.
#[test]
fn decisions_against_themselves() {
    let folder = Folder::new();
    let results = cup("results.csv");
    let call = |decision: &str, csv: &str| {
        folder.write("b.csv", csv);
        let text = format!("adjudication: summer-cup\ndecisions:\n  - date: 2026-01-02\n    reason: r\n{decision}");
        let file = folder.write("d.yaml", &text);
        agon(&["score", &cup("edition.yaml"), "--results", &results, "--adjudication", &file])
    };
    for (decision, csv, says) in [
        (
            "    status: sat\n    file: b.csv\n",
            "benchmark,status\nQF_BV/hull/a.smt2,sat\nQF_BV/hull/b.smt2,unsat\n",
            "b.csv, row 3: the status of QF_BV/hull/b.smt2 is unsat here, but sat by `status:` in d.yaml, line 6",
        ),
        (
            "    remove: true\n    file: b.csv\n",
            "benchmark,status\nQF_BV/hull/a.smt2,sat\n",
            "d.yaml, line 6: the decision removes the benchmarks of b.csv, which has a column `status`",
        ),
        ("    remove: true\n    file: b.csv\n", "benchmark\n", "d.yaml, line 6: b.csv has a header line, but names no"),
    ] {
        let output = call(decision, csv);
        let said = output.stderr.replace(&folder.path(""), "");
        assert!(output.status == 2 && said.contains(says), "{decision}: {said}");
    }
    // An agreeing column, or an empty cell of one, does no harm.
    let csv = "benchmark,status\nQF_BV/hull/a.smt2,sat\nQF_BV/keel/c.smt2,\n";
    assert_eq!(call("    status: sat\n    file: b.csv\n", csv).status, 0);
    let file = folder.write("d.yaml", "adjudication: summer-cup\ndecisions: []\n");
    let output = agon(&["score", &cup("edition.yaml"), "--results", &results, "--adjudication", &file]);
    assert!(output.status == 0 && output.stderr.contains("there is no decision in this file"), "{}", output.stderr);
}

/// The edition with a form for published figures.
fn with_published() -> String {
    edition()
        + "
published:
  page:
    recognise: { columns: [page_division, name] }
    columns:
      table: { value: division }
      view: { value: score }
      division: page_division
      solver: name
      error: wrong
      correct: right
      cpu_time: { from: seconds, tolerance: 0.01 s }
    key: [table, view, division, solver]
"
}

/// What is not in the published file cannot be equal, and a row that stands there twice proves nothing twice.
#[test]
fn published_files_that_lie() {
    let folder = Folder::new();
    let own = folder.write("own.yaml", &with_published());
    let results = cup("results.csv");
    let scores = agon(&["score", &own, "--results", &results, "--format", "csv", "--table", "division"]).success();
    let mut lines = scores.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = |name: &str| header.iter().position(|h| *h == name).expect("a column");
    let places = ["division", "solver", "error", "correct", "cpu_time"].map(at);
    let rows: Vec<String> = lines.map(|line| places.map(|at| line[at]).join(",")).collect();
    let page = |header: &str, rows: &[String]| {
        let published = folder.write("p.csv", &format!("{header}\n{}\n", rows.join("\n")));
        agon(&["verify", &own, "--results", &results, "--published", &published])
    };
    let good = "page_division,name,wrong,right,seconds";
    let output = page(good, &rows);
    assert_eq!(output.status, 0, "{}{}", output.stdout, output.stderr);
    let compared = format!("figures: {} compared, {0} equal", rows.len() * 3);
    assert!(output.stdout.contains(&compared), "{}", output.stdout);
    let with = |row: usize, cell: usize, text: &str| {
        let mut rows = rows.clone();
        let mut cells: Vec<&str> = rows[row].split(',').collect();
        cells[cell] = text;
        rows[row] = cells.join(",");
        rows
    };
    let twice = [&rows[..], &rows[1..2]].concat();
    let contradicting = [&rows[..], &with(1, 3, "0")[1..2]].concat();
    let end = rows.len() + 2;
    for (header, rows, says) in [
        (
            "page_division,name,wrong,rihgt,seconds",
            rows.clone(),
            "there is no column `right`, from which the form `page`",
        ),
        ("page_division,name,wrong,rihgt,seconds", rows.clone(), "(did you mean `rihgt`?)"),
        (good, twice, &*format!("p.csv, row {end}: the row is about the same standing as row 3 (table division")),
        (good, contradicting, &*format!("p.csv, row {end}: the row is about the same standing as row 3")),
        (good, with(0, 3, "NaN"), "p.csv, row 2, column `right`: the figure `correct` is `NaN`, which is not a number"),
        (good, with(2, 4, "many"), "p.csv, row 4, column `seconds`: the figure `cpu_time` is `many`"),
        (good, with(2, 4, "-1"), "p.csv, row 4, column `seconds`: the figure `cpu_time` is `-1`, which is negative"),
    ] {
        let output = page(header, &rows);
        let said = output.stderr.replace(&folder.path(""), "");
        assert!(output.status == 2 && said.contains(says), "{says}: {}{said}", output.stdout);
    }
    // Another number is a difference.
    let output = page(good, &with(0, 3, "99"));
    assert!(output.status == 1 && output.stdout.contains("1 unexplained"), "{}", output.stdout);
}

/// A list that says something else than the results goes before them, and that is said.
#[test]
fn lists_against_results() {
    let folder = Folder::new();
    let own = edition()
        + "
entrants:
  forms:
    list:
      recognise: { columns: [key, name, competes] }
      columns: { entrant: key, solver: name, competing: competes }
";
    let own = folder.write("own.yaml", &own);
    let results = cup("results.csv");
    let listed = |list: &str| {
        let solvers = folder.write("list.csv", &format!("key,name,competes\n{list}"));
        let mut output = agon(&["score", &own, "--results", &results, "--solvers", &solvers]);
        output.stderr = output.stderr.replace(&folder.path(""), "");
        output
    };
    let mut names: Vec<(String, String)> = Vec::new();
    for row in self::results().iter().skip(1) {
        let mut cells = row.split(',').map(str::to_string);
        let pair = (cells.next().expect("a name"), cells.next().expect("a word"));
        if !names.contains(&pair) {
            names.push(pair);
        }
    }
    let text = |names: &[(String, String)]| names.iter().map(|(n, c)| format!("{n},{n},{c}\n")).collect::<String>();
    let output = listed(&text(&names));
    assert!(output.status == 0 && !output.stderr.contains("by the list"), "{}", output.stderr);
    let other = if names[0].1 == "yes" { "no" } else { "yes" };
    let mut changed = names.clone();
    changed[0].1 = other.into();
    let output = listed(&text(&changed));
    assert_eq!(output.status, 0, "{}", output.stderr);
    let says = format!("note: list.csv, row 2: `competing` of the entrant {} is ", names[0].0);
    assert!(output.stderr.contains(&says) && output.stderr.contains("the list holds"), "{}", output.stderr);
    let renamed = text(&names).replacen(&format!("{0},{0}", names[0].0), &format!("{},Auk", names[0].0), 1);
    let output = listed(&renamed);
    assert!(output.status == 0 && output.stderr.contains("is Auk by the list, but "), "{}", output.stderr);
    // Two keys with one name, also if one of them has no results.
    let output = listed(&format!("{}Extra,{},yes\n", text(&names), names[0].0));
    let says =
        format!("the entrant Extra of the track main has the name {0}, which the entrant {0} has too", names[0].0);
    assert!(output.status == 2 && output.stderr.contains(&says), "{}", output.stderr);
    // A key that only looks like one of the results.
    let output = listed(&text(&names).replacen(&format!("{},", names[0].0), &format!("{} ,", names[0].0), 1));
    assert!(output.status == 2 && output.stderr.contains(&format!("`{}\\u{{20}}`", names[0].0)), "{}", output.stderr);
}

/// Names with characters that nobody sees are spelled out: an error if another one looks the same, else a note.
#[test]
fn hidden_characters() {
    let folder = Folder::new();
    let rows = results();
    let at = rows.iter().position(|r| r.starts_with("Bittern,")).expect("a run");
    for (odd, spelled) in [
        ("Bittern ", "Bittern\\u{20}"),
        ("\u{feff}Bittern", "\\u{feff}Bittern"),
        ("Bit\u{200b}tern", "Bit\\u{200b}tern"),
        ("\u{202e}Bittern", "\\u{202e}Bittern"),
        ("Bittern\u{1b}", "Bittern\\u{1b}"),
    ] {
        let mut one = rows.clone();
        one[at] = one[at].replacen("Bittern", odd, 1);
        let output = score(&folder, &joined(&one), &[]);
        let says =
            format!("r.csv, row {}: the entrant `{spelled}` of the track main looks like `Bittern` in r.csv", at + 1);
        assert!(output.status == 2 && output.stderr.contains(&says), "{}", output.stderr);
        // All of its rows: another name for sure.
        let all: Vec<String> = rows.iter().map(|r| r.replacen("Bittern", odd, 1)).collect();
        let output = score(&folder, &joined(&all), &[]);
        assert!(
            output.status == 0 && output.stderr.contains(&format!("the solver `{spelled}` has")),
            "{}",
            output.stderr
        );
    }
    // A benchmark that is there twice.
    let mut twice = rows.clone();
    twice[at] = twice[at].replacen(".smt2", ".smt2\u{a0}", 1);
    let output = score(&folder, &joined(&twice), &[]);
    assert!(
        output.status == 2 && output.stderr.contains(".smt2\\u{a0}` of the track main looks like"),
        "{}",
        output.stderr
    );
}

/// Whether a text has anything in it that a terminal obeys.
fn commands(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c))
}

/// What a file says never reaches a terminal raw; programs get the data as they are.
#[test]
fn nothing_is_obeyed() {
    let folder = Folder::new();
    let evil = "\u{1b}[2J\u{9b}31mBit\u{202e}tern";
    let all: Vec<String> = results().iter().map(|r| r.replacen("Bittern", evil, 1)).collect();
    let output = score(&folder, &joined(&all), &[]);
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stdout.contains("\\u{1b}[2J") && output.stderr.contains("\\u{1b}[2J"), "{output:?}");
    assert!(!commands(&output.stdout) && !commands(&output.stderr), "{output:?}");
    let csv = score(&folder, &joined(&all), &["--format", "csv"]).success();
    assert!(csv.contains(evil), "{csv:?}");
    let json = score(&folder, &joined(&all), &["--format", "json"]).success();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json.as_array().expect("rows").iter().any(|row| row["solver"] == evil), "{json}");
    // A line feed in a name stays in its cell.
    let lines: Vec<String> = results().iter().map(|r| r.replacen("Bittern", "\"Bit\ntern\"", 1)).collect();
    let output = score(&folder, &joined(&lines), &[]);
    assert!(output.status == 0 && output.stdout.contains("Bit\\ntern"), "{}", output.stdout);
    let csv = score(&folder, &joined(&lines), &["--format", "csv"]).success();
    assert!(csv.contains(",\"Bit\ntern\","), "{csv}");
    // Errors: of results, of verification, of editions.
    let mut wrong = results();
    wrong[1] = wrong[1].replacen("QF_BV/", &format!("{evil}/"), 1);
    let output = score(&folder, &joined(&wrong), &[]);
    assert!(output.status == 2 && !commands(&output.stderr), "{}", output.stderr);
    let published = score(&folder, &joined(&all), &["--format", "csv"]).success();
    let published = folder.write("p.csv", &published.replacen(",no\n", ",\u{1b}[2J\n", 1));
    let output = agon(&["verify", &cup("edition.yaml"), "--results", &folder.path("r.csv"), "--published", &published]);
    assert!(!commands(&output.stdout) && !commands(&output.stderr), "{output:?}");
    for text in [
        edition().replace("title: Main track", "title: \"\\e[2J\\x9b31m\""),
        edition().replace("    title: Main track", "    \"ti\\etle\": Main track"),
        edition().replace("edition: summer-cup", "edition: \"\\e[2J\""),
        edition().replace("count(wrong_run)", "\"count(wrong\\e[2J_run)\""),
    ] {
        let own = folder.write("own.yaml", &text);
        for call in [
            vec!["edition", "check", &own],
            vec!["edition", "check", "--short", &own],
            vec!["edition", "explain", &own],
            vec!["score", &own, "--results", &folder.path("r.csv")],
        ] {
            let output = agon(&call);
            assert!(!commands(&output.stdout) && !commands(&output.stderr), "{call:?}: {output:?}");
        }
    }
    // What is typed may be a file's name.
    let output = agon(&["score", "no\u{1b}[2Jsuch", "--results", "x", "--form\u{1b}"]);
    assert!(output.status == 2 && !commands(&output.stderr), "{output:?}");
}

/// A measure that is not folded would show whichever run comes first.
#[test]
fn measures_fold() {
    let folder = Folder::new();
    for (measure, says) in [
        ("answer == status", "the measure `correct` is not one value"),
        ("cpu_time", "the measure `correct` is not one value: it differs with the `cpu_time` of the runs"),
        ("count(solved_run) + cpu_time / 1 s", "the measure `correct` is not one value"),
        ("max(cpu_time per benchmark) / 1 s", "differs with the `benchmark`"),
        // By way of another column.
        ("if(solved_run, 1, 0)", "differs with the `answer`"),
    ] {
        let text =
            edition().replace("is: count(solved_run), title: Solved", &format!("is: \"{measure}\", title: Solved"));
        let output = agon(&["edition", "check", &folder.write("own.yaml", &text)]);
        assert!(output.status == 1 && output.stderr.contains(says), "{measure}: {}{}", output.stdout, output.stderr);
        assert!(
            output.stderr.contains("edition/not-folded") && output.stderr.contains("fold the runs"),
            "{}",
            output.stderr
        );
    }
    // What is the same for all runs of an entrant in a division may stand bare.
    for measure in ["count(solved_run) / size", "if(competing, count(solved_run), 0)", "sum(1 per division) + 0"] {
        let text = edition()
            .replace("is: count(solved_run), title: Solved", &format!("is: \"{measure}\", title: Solved"))
            .replace("            late:", "            size: count(once benchmark per division)\n            late:");
        let text = text
            .replace(" / size", " / size else 0")
            .replace("count(once benchmark per division)", "distinct(benchmark per division)");
        let output = agon(&["edition", "check", &folder.write("own.yaml", &text)]);
        assert!(!output.stderr.contains("not-folded"), "{measure}: {}", output.stderr);
    }
    // A column of a group step likewise.
    let text = edition().replace("let: { total: sum(points) }", "let: { total: points }");
    let output = agon(&["edition", "check", &folder.write("own.yaml", &text)]);
    assert!(output.status == 1 && output.stderr.contains("the column `total` is not one value"), "{}", output.stderr);
}

/// The numbers that a seed is made from.
#[test]
fn seeds() {
    let folder = Folder::new();
    let hundredfold = "tests/competitions/seeds/hundredfold.yaml";
    let seed = |list: &str, market: &str| {
        let file = folder.write("list.csv", &format!("solver,competing,seed,organiser\n{list}"));
        let market = format!("--market={market}");
        let mut output = agon(&["seed", hundredfold, "--entrants", &file, &market]);
        output.stderr = output.stderr.replace(&folder.path(""), "");
        output
    };
    let output = seed("Auk,yes,42,no\nBrant,yes,1,no\n", "10.5");
    assert_eq!((output.status, output.stdout.as_str()), (0, "1093\n"), "{}", output.stderr);
    let output = seed("Auk,yes,42,no\nBrant,yes,-1,no\n", "10.5");
    let says = "list.csv, row 3: `seed` of the entrant Brant is -1";
    assert!(output.status == 2 && output.stderr.contains(says), "{}", output.stderr);
    let output = seed("Auk,yes,42,no\n", "-10.5");
    assert!(output.status == 2 && output.stderr.contains("NYSE Composite Index is -10.5"), "{}", output.stderr);
    // An empty cell is 0 by that edition's form; whom it counts for is said.
    let output = seed("Auk,yes,42,no\nBrant,yes,,no\nCrake,yes,,yes\n", "10.5");
    assert_eq!((output.status, output.stdout.as_str()), (0, "1092\n"), "{}", output.stderr);
    assert!(
        output.stderr.contains("note: list.csv, row 3: the entrant Brant counts for the seed with 0"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("Crake"), "{}", output.stderr);
    // In a list without such a rule, a number that counts has to be there.
    let list = |who: &str| {
        let text = format!(
            "edition: own\nextends: {}\nentrants:\n  list:\n    - {{ solver: Auk, competing: true, seed: 42, organiser: false }}\n    - {{ solver: Brant, competing: true, organiser: {who} }}\n",
            std::path::absolute(agon_tests::workspace().join(hundredfold)).expect("a path").display()
        );
        agon(&["seed", &folder.write("own.yaml", &text), "--market", "10.5"])
    };
    let output = list("false");
    let says = "own.yaml, line 6: the entrant Brant counts for the seed, but has no `seed`";
    assert!(output.status == 2 && output.stderr.contains(says), "{}", output.stderr);
    assert_eq!(list("true").success(), "1092\n");
}

/// A file that is read is not written, however it came to be read.
#[test]
fn indirect_targets() {
    let folder = Folder::new();
    let base = folder.write("base.yaml", &edition());
    let own = folder.write("own.yaml", "edition: own\nextends: base.yaml\n");
    let results = folder.write("r.csv", &joined(&results()));
    let list = folder.write("b.csv", "benchmark,status\nQF_BV/hull/a.smt2,sat\n");
    let decisions =
        folder.write("d.yaml", "adjudication: own\ndecisions:\n  - { date: 2026-01-02, reason: r, file: b.csv }\n");
    let link = folder.path("link.csv");
    fs::hard_link(&results, &link).expect("a link can be made");
    for (target, call) in [
        (&base, vec!["score", &own, "--results", &results]),
        (&list, vec!["score", &own, "--results", &results, "--adjudication", &decisions]),
        (&link, vec!["score", &own, "--results", &results]),
        (&link, vec!["import", &own, &results]),
    ] {
        let before = fs::read(target).expect("the file is there");
        let text = refused(&folder, &[&call[..], &["-o", target]].concat());
        assert!(text.contains("is one of the files that are read"), "{text}");
        assert_eq!(fs::read(target).expect("the file is there"), before);
    }
    // A link is followed to where the file will be, a protected file is left alone.
    fs::create_dir(folder.path("there")).expect("a folder can be made");
    symlink("there/out.csv", folder.path("out.csv")).expect("a link can be made");
    for call in [vec!["score", &own, "--results", &results, "--format", "csv"], vec!["import", &own, &results]] {
        agon(&[&call[..], &["-o", &folder.path("out.csv")]].concat()).success();
        assert!(fs::symlink_metadata(folder.path("out.csv")).expect("the link is there").is_symlink());
        let target = folder.path("there/out.csv");
        let written = fs::read_to_string(&target).expect("the file was written");
        assert!(written.lines().count() > 2, "{written}");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).expect("it can be protected");
        let text = refused(&folder, &[&call[..], &["-o", &target]].concat());
        assert!(text.contains("there/out.csv is write-protected"), "{text}");
        assert_eq!(fs::read_to_string(&target).expect("it is there still"), written);
        fs::remove_file(&target).expect("it can be removed");
    }
}

/// An interrupt leaves nothing of a file that was being written.
#[test]
fn interrupts() {
    let folder = Folder::new();
    // Many rows, so that writing takes a while.
    let many: String = (0..400_000).map(|n| format!("Auk,yes,QF_BV/x/{n}.smt2,sat,sat,1.5,1.25\n")).collect();
    let big = folder.write("big.csv", &format!("{}\n{many}", results()[0]));
    for signal in ["INT", "TERM"] {
        let mut child = Command::new(binary())
            .args(["import", &cup("edition.yaml"), &big, "-o", &folder.path("x.csv")])
            .stderr(Stdio::null())
            .spawn()
            .expect("the command can be started");
        // As soon as there is a part, or the whole.
        while !folder.content().iter().any(|name| name.starts_with(".agon-") || name == "x.csv") {
            assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it wrote anything");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        kill.expect("there is kill");
        let status = child.wait().expect("it ends");
        let left: Vec<String> = folder.content().into_iter().filter(|name| name.starts_with(".agon-")).collect();
        assert_eq!(left, [""; 0], "{signal}: {status}");
        let _ = fs::remove_file(folder.path("x.csv"));
    }
}

/// Devices and pipes are no editions, lists or results.
#[test]
fn no_files() {
    let folder = Folder::new();
    let pipe = folder.path("pipe.yaml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo");
    assert!(made.success());
    let results = cup("results.csv");
    let edition = cup("edition.yaml");
    for file in [&*pipe, "/dev/zero"] {
        for call in [
            vec!["edition", "explain", file],
            vec!["score", file, "--results", &results],
            vec!["score", &edition, "--results", file],
            vec!["score", &edition, "--results", &results, "--solvers", file],
            vec!["score", &edition, "--results", &results, "--adjudication", file],
            vec!["verify", &edition, "--results", &results, "--published", file],
            vec!["seed", "smt-comp-2022", "--entrants", file],
        ] {
            let text = refused(&folder, &call);
            assert!(text.contains("pipe") && text.contains("device"), "{call:?}: {text}");
        }
    }
}

/// Standard output that takes nothing is an error, a reader that went away is none.
#[test]
fn standard_output() {
    for call in [vec!["--help"], vec!["score", "--help"], vec!["--version"], vec!["edition", "list"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("there is such a device");
        let output = Command::new(binary()).args(&call).stdout(full).output().expect("the command can be started");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains("standard output cannot be written"),
            "{call:?}: {said}"
        );
        let mut child =
            Command::new(binary()).args(&call).stdout(Stdio::piped()).spawn().expect("the command can be started");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{call:?}");
    }
}

/// A file that grows beyond the shell's limit is an error of the write, also where the shell did not ask for that.
#[test]
fn a_limit_on_files() {
    let folder = Folder::new();
    let target = folder.path("x.csv");
    let call = ["import", &cup("edition.yaml"), &cup("results.csv"), "-o", &target];
    let output = Command::new("sh").args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]).arg(binary()).args(call).output();
    let output = output.expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was left behind") && said.contains("ulimit -f"), "{said}");
    assert_eq!(folder.content(), [""; 0], "{said}");
}
