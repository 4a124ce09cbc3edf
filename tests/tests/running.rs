//! Competitions that are run: interrupted, refused, on full disks, with faulty plugins and with names from hell.

// What a test found out beside its result, with --nocapture.
#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use agon_tests::cup::{Cup, Dice, edition_text, finish, signal, start, until};
use agon_tests::{Output, agon, archive, binary, workspace};

/// Enough for all that does not run into limits.
const LIMITS: &str = "wall=20s,cores=1,memory=200MB";

/// A call that is refused as bad input.
#[track_caller]
fn refused(output: &Output) -> &str {
    assert_eq!(output.status, 2, "{}{}", output.stdout, output.stderr);
    &output.stderr
}

/// Five programs whose verdicts do not depend on time, and benchmarks of all statuses.
fn five(benchmarks: usize, pause: &str) -> Cup {
    let mut cup = Cup::new("smt-comp-2022", "single-query");
    let answer = "if grep -q ':status unsat' \"$1\"; then echo unsat; else echo sat; fi";
    cup.enter("right", &format!("sleep {pause}\n{answer}"));
    cup.enter("always-sat", &format!("sleep {pause}\necho sat"));
    // Middling outputs, different for each benchmark, and long ones.
    let words = "for i in 1 2 3 4 5 6 7 8 9 10; do cat \"$1\"; done";
    cup.enter("talks", &format!("sleep {pause}\n{answer}\n{words} >&2"));
    cup.enter("floods", &format!("sleep {pause}\n{answer}\nhead -c 1500000 /dev/zero"));
    cup.enter("crashes", &format!("sleep {pause}\ngrep -q '7\\.' \"$1\" && kill -SEGV $$\n{answer}"));
    for n in 0..benchmarks {
        cup.benchmark(&format!("{n}.smt2"), ["sat", "unsat", "unknown", ""][n % 4]);
    }
    cup.options(&["--limit", LIMITS, "--seed", "7", "--jobs", "2"]);
    cup
}

/// Requires that two stores say the same, apart from times and the places that these decide.
#[track_caller]
fn same(cup: &Cup, store: &str, other: &str) {
    let (found, expected) = (cup.said(store), cup.said(other));
    let keys: BTreeSet<_> = found.keys().chain(expected.keys()).collect();
    let differ: Vec<String> = keys
        .into_iter()
        .filter(|pair| found.get(pair) != expected.get(pair))
        .map(|pair| format!("{pair:?}: {:?} and {:?}", found.get(pair), expected.get(pair)))
        .collect();
    assert!(differ.is_empty(), "{store} and {other}: {}", differ.join("\n"));
    let rows = |store: &str| {
        let mut rows = cup.scores(store);
        for row in &mut rows {
            row.retain(|name, _| !["position", "rank", "winner"].contains(&name.as_str()));
        }
        rows.sort();
        rows
    };
    let (found, expected) = (rows(store), rows(other));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

/// Runs a job undisturbed, and the same with the runner killed at random instants and started anew each time.
fn killed_and_started_anew(benchmarks: usize, kills: u32, pause: &str) {
    let cup = five(benchmarks, pause);
    let begin = Instant::now();
    cup.run("calm", &[]).success();
    let whole = begin.elapsed();
    assert_eq!(cup.said("calm").len(), 5 * benchmarks);
    let begin = Instant::now();
    cup.run("calm", &[]).success();
    let nothing = begin.elapsed();

    // Each life is on average so long that half of the job is done in all of them.
    let life = nothing + whole.saturating_sub(nothing) / kills;
    let mut dice = Dice(2022);
    let (mut runners, mut killed, mut middles) = (Vec::new(), 0, 0);
    let lines = |kind: &str| {
        let journal = fs::read_to_string(cup.at("torn").join("journal.jsonl")).unwrap_or_default();
        journal.matches(&format!("\"kind\":\"{kind}\"")).count()
    };
    for kill in 0..kills {
        // Some end before they have read anything.
        let most = if kill % 5 == 4 { 5000 } else { u64::try_from(life.as_micros()).expect("it is short") };
        let delay = Duration::from_micros(dice.below(most));
        let mut runner = start(&mut cup.command("torn"));
        runners.push(runner.id());
        std::thread::sleep(delay);
        killed += u32::from(runner.try_wait().expect("it is ours").is_none());
        runner.kill().expect("it is ours");
        runner.wait().expect("it is ours");
        let done = lines("observation");
        middles += u32::from(0 < done && done < 5 * benchmarks);
    }
    println!("{killed} of {kills} killed, {middles} of them between the first and the last run");
    assert!(killed >= kills * 9 / 10, "only {killed} of {kills} were killed");
    assert!(middles >= kills / 5, "only {middles} of {kills} were killed between runs");
    until("the runs of the last runner have ended", || cup.left(&runners).iter().all(|l| !l.starts_with("process")));
    let last = start(&mut cup.command("torn"));
    runners.push(last.id());
    assert!(last.wait_with_output().expect("it is ours").status.success());
    assert!(lines("session") > 2);
    same(&cup, "torn", "calm");
    assert_eq!(cup.left(&runners), Vec::<String>::new());
}

#[test]
fn a_runner_that_is_killed_ten_times_goes_on() {
    killed_and_started_anew(12, 10, "0.1");
}

#[test]
fn a_runner_that_is_killed_fifty_times_goes_on() {
    killed_and_started_anew(100, 50, "0.02");
}

#[test]
fn an_interrupt_leaves_a_store_that_goes_on() {
    let cup = five(6, "0.2");
    cup.run("calm", &[]).success();
    for name in ["INT", "TERM"] {
        let mut command = cup.command(name);
        let log = fs::File::create(cup.at("log")).expect("there is room");
        let runner = command.stdout(std::process::Stdio::null()).stderr(log).spawn().expect("it can be started");
        let pid = runner.id();
        cup.wait_for(name, "result");
        signal(&runner, name);
        let status = runner.wait_with_output().expect("it is ours").status;
        let log = fs::read_to_string(cup.at("log")).expect("it is ours");
        assert_eq!(status.code(), Some(2), "SIG{name}: {log}");
        assert!(log.contains("the same command goes on"), "SIG{name}: {log}");
        assert_eq!(cup.left(&[pid]), Vec::<String>::new());
        let done = cup.said(name).len();
        assert!(0 < done && done < 30, "{done}");
        let output = cup.run(name, &[]);
        assert!(output.stderr.contains(&format!("{done} of them done")), "{}", output.stderr);
        assert!(output.stderr.contains(&format!("{} runs now, 30 of 30 in all", 30 - done)), "{}", output.stderr);
        output.success();
        same(&cup, name, "calm");
    }
}

#[test]
fn of_two_runners_one_is_refused() {
    let mut cup = Cup::plain("single-query");
    // It is slow as long as there is no other one.
    cup.enter("slow", "sleep 18; echo sat");
    cup.benchmark("a.smt2", "sat");
    let first = start(&mut cup.command("store"));
    let pid = first.id();
    cup.wait_for("store", "session");
    let second = cup.run("store", &[]);
    let said = refused(&second);
    assert!(said.contains("another program is writing") && said.contains(&pid.to_string()), "{pid}: {said}");
    // Nor is it judged meanwhile.
    let judge = cup.of_store("judge", "store", &[]);
    assert!(refused(&judge).contains(&pid.to_string()), "{}", judge.stderr);
    // The first one has lost nothing.
    assert!(cup.left(&[pid]).iter().any(|l| l.contains("solvers/slow")), "{:?}", cup.left(&[pid]));
    signal(&first, "INT");
    assert_eq!(first.wait_with_output().expect("it is ours").status.code(), Some(2));
    assert_eq!(cup.left(&[pid]), Vec::<String>::new());
    assert_eq!(cup.records("store").iter().filter(|r| r["kind"] == "session").count(), 1);
}

#[test]
fn a_store_is_of_one_competition() {
    let mut cup = Cup::plain("single-query");
    cup.enter("one", "echo sat");
    cup.enter("two", "echo unsat");
    cup.benchmark("a.smt2", "sat");
    cup.benchmark("b.smt2", "unsat");
    cup.options(&["--limit", LIMITS, "--seed", "7"]);
    cup.run("store", &[]).success();
    let before = cup.files("store");

    let check = |what: &str, output: &Output, names: &[&str]| {
        let said = refused(output);
        for name in names {
            assert!(said.contains(name), "{what}: no `{name}` in: {said}");
        }
        assert_eq!(cup.files("store"), before, "{what}");
    };
    let edition = cup.at("cup.yaml");
    let as_before = fs::read_to_string(&edition).expect("it is ours");
    for (what, text, names) in [
        ("another edition", edition_text("saucer", "single-query"), ["the edition is", "cup", "saucer"]),
        (
            "a changed edition",
            as_before.replace("correct desc", "correct asc"),
            ["was changed", "correct desc", "line"],
        ),
    ] {
        fs::write(&edition, text).expect("it is ours");
        check(what, &cup.run("store", &[]), &names);
    }
    fs::write(&edition, as_before).expect("it is ours");

    let of = |limit: &str, seed: &str| {
        let mut command = cup.command("store");
        // The first of two values would win, or be refused as such.
        let words: Vec<_> = command.get_args().map(std::ffi::OsStr::to_os_string).collect();
        let at = words.iter().position(|w| w == "--limit").expect("there is a limit");
        let mut changed = words.clone();
        (changed[at + 1], changed[at + 3]) = (limit.into(), seed.into());
        command = Command::new(binary());
        finish(command.current_dir(workspace()).args(changed))
    };
    check("another seed", &of(LIMITS, "8"), &["the seed is 7 in the store, but 8 is given"]);
    check("another limit", &of("wall=21s,cores=1,memory=200MB", "7"), &["wall=20s", "wall=21s"]);
    check("no limit of memory", &of("wall=20s,cores=1", "7"), &["the limits", "memory=200MB"]);

    cup.program("one", "echo unknown");
    check("another program", &cup.run("store", &[]), &["one", "has another program", "solvers/one"]);
    cup.program("one", "echo sat");

    cup.benchmark("b.smt2", "sat");
    check("another content", &cup.run("store", &[]), &["b.smt2", "another content"]);
    cup.benchmark("b.smt2", "unsat");
    cup.benchmark("c.smt2", "sat");
    check("one more benchmark", &cup.run("store", &[]), &["c.smt2"]);
    fs::remove_file(cup.at("benchmarks/c.smt2")).expect("it is ours");

    // All is as it was: nothing to do, and nothing refused.
    let output = cup.run("store", &[]);
    assert!(output.stderr.contains("0 runs now, 4 of 4 in all"), "{}", output.stderr);
    output.success();
    assert_eq!(cup.said("store").len(), 4);
}

#[test]
fn a_full_disk_stops_the_runs_and_no_more() {
    let mut cup = Cup::plain("single-query");
    cup.enter("one", "echo sat; cat \"$1\" \"$1\" \"$1\" \"$1\" >&2");
    cup.enter("two", "echo unsat");
    for n in 0..30 {
        cup.benchmark(&format!("{n}.smt2"), ["sat", "unsat"][n % 2]);
    }
    cup.options(&["--limit", LIMITS, "--jobs", "2"]);
    cup.run("calm", &[]).success();
    let whole: usize = cup.files("calm").values().map(Vec::len).sum();
    fs::create_dir(cup.at("disk")).expect("it is ours");
    // In a mount namespace of its own: a small disk, a run, room, a run; then all is copied to where it can be seen.
    let script = r#"
        set -u
        disk=$1 size=$2 out=$3
        shift 3
        mount -t tmpfs -o size="$size" none "$disk" || exit 77
        mkdir -p "$out"
        "$@" 2>"$out/first"; echo $? >"$out/first-code"
        cp -r "$disk/store" "$out/half"
        mount -o remount,size=64m "$disk" || exit 77
        "$@" 2>"$out/second"; echo $? >"$out/second-code"
        cp -r "$disk/store" "$out/store"
    "#;
    // Pages of 4 KiB: too few for the plan, for a few runs, for many.
    let mut stopped = 0;
    for size in [8 << 10, 40 << 10, whole / 2, whole * 4 / 5] {
        let out = format!("size-{size}");
        let run = cup.command("disk/store");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script, "sh"]).current_dir(workspace());
        command.arg(cup.at("disk")).arg(size.to_string()).arg(cup.at(&out)).arg(run.get_program()).args(run.get_args());
        let output = finish(&mut command);
        if output.status == 77 || output.stderr.contains("unshare failed") {
            println!("not tested: this user may not mount a small disk: {}", output.stderr);
            return;
        }
        assert_eq!(output.status, 0, "{}", output.stderr);
        let read = |name: &str| fs::read_to_string(cup.at(&out).join(name)).expect("it was written");
        assert_eq!(read("first-code").trim(), "2", "{size}: {}", read("first"));
        let said = read("first");
        assert!(said.contains("there is no space left") && said.contains("disk/store"), "{size}: {said}");
        assert_eq!(read("second-code").trim(), "0", "{size}: {}", read("second"));
        same(&cup, &format!("{out}/store"), "calm");
        let half = fs::read_to_string(cup.at(&out).join("half/journal.jsonl")).unwrap_or_default();
        stopped += usize::from(half.contains("\"kind\":\"observation\""));
    }
    assert!(stopped >= 2, "only {stopped} disks were full in the middle");
}

/// The plugin `exit-code`, compiled with one thing changed and a version of its own.
fn compiled(cup: &Cup, name: &str, version: &str, at: &str, change: &str) -> String {
    let source = fs::read_to_string(workspace().join("plugins/exit-code/exit_code.c")).expect("it is shipped");
    let number = "#define VERSION \"1.0.0\"";
    assert_eq!((source.matches(at).count(), source.matches(number).count()), (1, 1));
    let source =
        source.replace(number, &format!("#define VERSION \"{version}\"")).replace(at, &format!("{at}{change}"));
    let file = cup.write(format!("{name}.c"), source.as_bytes());
    let library = cup.at(format!("libagon_{name}.so"));
    let status = Command::new("cc")
        .args(["-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(workspace().join("schemas"))
        .arg(&file)
        .status();
    assert!(status.expect("there is a C compiler").success());
    fs::set_permissions(&library, fs::Permissions::from_mode(0o755)).expect("it is ours");
    library.display().to_string()
}

const CODE: &str = "  const int32_t exit_code = GET(run, exit, AGON_NO_CODE);\n";

/// A plugin that does something bad on one kind of run costs these runs, and a mended one judges them.
fn a_faulty_plugin(bad: &str, word: &str) {
    let mut cup = Cup::plain("exit-code");
    cup.enter("ten", "exit 10");
    cup.enter("odd", "grep -q '2\\.smt2' \"$1\" && exit 66\nexit 20");
    for n in 0..4 {
        cup.benchmark(&format!("{n}.smt2"), ["sat", "unsat"][n % 2]);
    }
    cup.options(&["--limit", LIMITS, "--jobs", "2"]);
    let faulty = compiled(&cup, "faulty", "1.0.1", CODE, &format!("  if (exit_code == 66) {{ {bad} }}\n"));
    let output = cup.run("store", &["--plugin", &faulty]);
    assert_eq!(output.status, 1, "{}", output.stderr);
    assert!(output.stderr.contains("odd on 2.smt2"), "{}", output.stderr);
    assert!(output.stderr.contains("0 could not be run and 1 not judged"), "{}", output.stderr);

    let (records, pair) = (cup.records("store"), ("odd".to_string(), "2.smt2".to_string()));
    let notes: Vec<_> = records.iter().filter(|r| r["kind"] == "note").collect();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!(
        (&note["about"], &note["entrant"], &note["benchmark"]),
        (&"plugin-fault".into(), &"odd".into(), &"2.smt2".into())
    );
    assert!(note["text"].as_str().is_some_and(|t| t.contains(word)), "{note}");
    let judged = |kind: &str| records.iter().filter(|r| r["kind"] == kind).count();
    assert_eq!((judged("observation"), judged("result")), (8, 7));

    // The same plugin again has the same fault; the run is not run again.
    if word == "SIGSEGV" {
        let output = cup.run("store", &["--plugin", &faulty]);
        assert_eq!(output.status, 1, "{}", output.stderr);
        let output = cup.of_store("judge", "store", &["--plugin", &faulty]);
        assert_eq!(output.status, 1, "{}", output.stderr);
        assert!(output.stdout.contains("0 runs judged, 0 verdicts changed"), "{}", output.stdout);
    }

    // A mended one judges all, since it is another; no verdict that there was changes, so none is listed.
    let mended = compiled(&cup, "mended", "1.0.2", CODE, "");
    let output = cup.of_store("judge", "store", &["--plugin", &mended]);
    let out = output.success();
    assert_eq!(out, "track main: 8 runs judged, 0 verdicts changed\n");
    let said = cup.said("store");
    assert_eq!(said.len(), 8);
    assert_eq!(said[&pair].verdict, ["unknown", "not-applicable", "finished", "none"]);
    assert_eq!(said[&pair].end, (Some(66), None, "none".into()));

    // A newer one that takes 66 for sat changes one verdict.
    let newer = compiled(&cup, "newer", "1.1.0", "exit_code == 10", " || exit_code == 66");
    let out = cup.of_store("judge", "store", &["--plugin", &newer]).success();
    let changed: Vec<&str> = out.lines().collect();
    assert_eq!(changed.len(), 2, "{out}");
    assert_eq!(changed[0], "track main: 8 runs judged, 1 verdicts changed");
    assert!(changed[1].contains("odd on 2.smt2: answer unknown \u{2192} sat"), "{out}");
    assert_eq!(cup.said("store")[&pair].verdict, ["sat", "agrees", "finished", "none"]);
    // Once judged by it, there is nothing left to judge.
    let out = cup.of_store("judge", "store", &["--plugin", &newer]).success();
    assert_eq!(out, "track main: 0 runs judged, 0 verdicts changed\n");
    let scores = cup.scores("store");
    let figures = |name: &str| {
        let row = scores.iter().find(|r| r["solver"] == name).expect("it is listed");
        (row["error"].clone(), row["correct"].clone())
    };
    assert_eq!(figures("ten"), ("2".into(), "2".into()));
    assert_eq!(figures("odd"), ("1".into(), "3".into()));
}

#[test]
fn a_plugin_that_crashes_costs_its_own_runs() {
    a_faulty_plugin("volatile int *p = NULL; *p = 1;", "SIGSEGV");
}

#[test]
fn a_plugin_that_leaks_costs_its_own_runs() {
    // It does not look whether it gets memory.
    a_faulty_plugin("for (;;) { volatile char *p = malloc(64 << 20); *p = 1; }", "SIGSEGV");
}

#[test]
#[ignore = "slow: a call of a plugin may take a minute"]
fn a_plugin_that_loops_costs_its_own_runs() {
    a_faulty_plugin("for (volatile int i = 0;; i++) { }", "more than 60s");
}

/// What a program prints or does, and what is to be said of it on a benchmark of status sat: answer, soundness,
/// condition, blame, the limit that was reached, the plugin's reason.
const WAYS: &[(&str, &str, &str)] = &[
    ("right", "echo sat", "sat agrees finished none none given"),
    ("wrong", "echo unsat", "unsat contradicts finished none none given"),
    ("gives-up", "echo unknown", "unknown not-applicable finished none none given"),
    ("silent", "true", "unknown not-applicable finished none none no-answer"),
    ("fails", "exit 3", "unknown not-applicable crashed entrant none no-answer"),
    ("answers-and-fails", "echo sat; exit 3", "sat agrees finished none none given"),
    ("crashes", "kill -SEGV $$", "unknown not-applicable crashed entrant none no-answer"),
    ("crashes-late", "echo sat; kill -ABRT $$", "sat agrees crashed entrant none given"),
    ("sleeps", "sleep 30", "unknown not-applicable wall-limit entrant wall no-answer"),
    ("spins", "while :; do :; done", "unknown not-applicable wall-limit entrant wall no-answer"),
    // §7.1.2: an answer counts even if the solver does not end within the time.
    ("answers-and-sleeps", "echo sat; sleep 30", "sat agrees wall-limit entrant wall given"),
    ("forks", "sleep 30 & exit 0", "unknown not-applicable finished none none no-answer"),
    (
        "eats",
        "head -c 1000000000 /dev/zero | tail -c 900000000",
        "unknown not-applicable memory-limit entrant memory no-answer",
    ),
    (
        "eats-late",
        "echo sat; head -c 1000000000 /dev/zero | tail -c 900000000",
        "sat agrees memory-limit entrant memory given",
    ),
    ("floods", "yes no", "unknown not-applicable malformed-output entrant output other-output"),
    ("on-stderr", "echo sat >&2", "unknown not-applicable finished none none no-answer"),
    ("blanks", "echo ' sat  '", "sat agrees finished none none given"),
    ("returns", r"printf 'sat\r\n'", "sat agrees finished none none given"),
    ("no-newline", "printf sat", "sat agrees finished none none given"),
    ("mark", r"printf '\357\273\277sat\n'", "unknown not-applicable malformed-output entrant none other-output"),
    ("capitals", "echo SAT", "unknown not-applicable malformed-output entrant none other-output"),
    ("longer", "echo satisfiable", "unknown not-applicable malformed-output entrant none other-output"),
    ("quotes", r#"echo '(error "expected unsat")'"#, "unknown not-applicable malformed-output entrant none no-answer"),
    (
        "goes-on",
        r#"echo '(error "no")'; echo unsat"#,
        "unknown not-applicable malformed-output entrant none after-error",
    ),
    ("twice", "echo sat; echo unsat", "sat agrees finished none none given"),
    ("success", "echo success; echo sat", "sat agrees finished none none given"),
    ("noise", r"printf '\000\377\033\200'", "unknown not-applicable malformed-output entrant none other-output"),
];

#[test]
fn all_ways_to_end() {
    let mut cup = Cup::new("smt-comp-2022", "single-query");
    for (name, script, _) in WAYS {
        cup.enter(name, script);
    }
    cup.benchmark("a.smt2", "sat");
    cup.options(&["--limit", "wall=2s,cores=1,memory=200MB,output=1MB", "--seed", "7", "--jobs", "2"]);
    let runner = start(&mut cup.command("store"));
    let pid = runner.id();
    assert!(runner.wait_with_output().expect("it is ours").status.success());
    assert_eq!(cup.left(&[pid]), Vec::<String>::new());
    let said = cup.said("store");
    assert_eq!(said.len(), WAYS.len());
    let mut wrong = Vec::new();
    for (name, _, expected) in WAYS {
        let one = &said[&((*name).to_string(), "a.smt2".to_string())];
        let found = format!("{} {} {}", one.verdict.join(" "), one.end.2, one.reason);
        if found != *expected {
            wrong.push(format!("{name}: {found}, and not {expected}; {:?}", one.end));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // The figures of §7.1.2 and §7.2, counted from the table above.
    let scores = cup.scores("store");
    for (name, _, expected) in WAYS {
        let row = scores.iter().find(|r| r["solver"] == *name && r["view"] == "parallel" && r["table"] == "division");
        let row = row.unwrap_or_else(|| panic!("{name} is not listed"));
        let count = |word: &str| expected.split(' ').filter(|w| *w == word).count().to_string();
        let right = count("agrees");
        let unsolved = if right == "1" { "0" } else { "1" };
        let figures = [
            ("error", count("contradicts")),
            ("correct", right),
            ("unsolved", unsolved.into()),
            ("timeout", count("wall-limit")),
            ("memout", count("memory-limit")),
        ];
        for (column, value) in figures {
            assert_eq!(row[column], value, "{name}: {column} in {row:?}");
        }
        // With the only error comes the last place.
        assert_eq!(row["position"] == WAYS.len().to_string(), *name == "wrong", "{row:?}");
    }
}

#[test]
fn names_reach_no_shell() {
    let mut cup = Cup::new("smt-comp-2022", "single-query");
    let trap = cup.at("trap");
    let touch = format!("touch {}", trap.display());
    let program = "answer $(touch trap);`touch trap`' \"\n&.sh";
    // The program says its arguments back, one a line, on the other channel.
    cup.program(program, "echo sat\nfor word; do echo \"<$word>\"; done >&2");
    let command = format!("solvers/{program}");
    let names = [
        "a b",
        "it's",
        "say \"x\"",
        "a,b;c",
        &format!("$({touch})"),
        &format!("`{touch}`"),
        &format!("; {touch} #"),
        "-rf",
        "--store=/",
        "čeština 数 🦀",
        "=1+1",
        "..",
        "\\",
        "%s%n",
    ];
    for name in &names {
        cup.enter_as(name, &[&command, name, &format!("--{name}"), "*", "$HOME"]);
    }
    let long = "long".repeat(50);
    let benchmarks: Vec<String> = names
        .iter()
        .filter(|n| !n.contains('/'))
        .map(ToString::to_string)
        .chain([long, "two\nlines\r".into()])
        .map(|n| format!("{n}.smt2"))
        .collect();
    for benchmark in &benchmarks {
        cup.benchmark(benchmark, "sat");
    }
    cup.options(&["--limit", LIMITS, "--seed", "7", "--jobs", "2"]);
    cup.run("store", &[]).success();
    let said = cup.said("store");
    assert_eq!(said.len(), names.len() * benchmarks.len());
    for name in &names {
        for benchmark in &benchmarks {
            assert_eq!(said[&((*name).to_string(), benchmark.clone())].verdict[1], "agrees", "{name} on {benchmark}");
        }
    }
    // What the program was given is what the file says, word by word, and a neutral name for the benchmark.
    let records = cup.records("store");
    for record in records.iter().filter(|r| r["kind"] == "observation") {
        let name = record["entrant"].as_str().expect("it has a name");
        let words: Vec<&str> =
            record["run"]["command"].as_array().expect("it is a list").iter().filter_map(|w| w.as_str()).collect();
        assert_eq!(&words[1..], [name, &format!("--{name}"), "*", "$HOME", "benchmark.smt2"]);
        let digest = &record["run"]["stderr"]["digest"];
        let output = records.iter().find(|r| r["kind"] == "output" && r["digest"] == *digest).expect("it was kept");
        if let Some(text) = output["place"]["text"].as_str() {
            assert_eq!(text, format!("<{name}>\n<--{name}>\n<*>\n<$HOME>\n<benchmark.smt2>\n"));
        }
    }
    for place in [trap, cup.at("solvers/trap"), workspace().join("trap")] {
        assert!(!place.exists(), "{}", place.display());
    }
    let scores = cup.scores("store");
    for name in &names {
        let rows: Vec<_> = scores.iter().filter(|r| r["solver"] == *name && r["table"] == "division").collect();
        assert_eq!(rows.len(), 5, "{name}");
        let correct = benchmarks.len().to_string();
        assert!(
            rows.iter().filter(|r| r["view"] != "unsat").all(|r| r["correct"] == correct && r["error"] == "0"),
            "{name}"
        );
    }

    // A name of several lines would break tables, and is refused.
    let mut cup = Cup::plain("single-query");
    cup.enter_as("two\nlines", &["/bin/true"]);
    cup.benchmark("a.smt2", "sat");
    assert!(refused(&cup.run("store", &[])).contains("one line"));
    assert!(!cup.at("store").exists());
}

#[test]
fn judging_does_not_depend_on_where_one_is() {
    let mut cup = Cup::plain("single-query");
    cup.enter("one", "echo sat");
    cup.benchmark("a.smt2", "sat");
    cup.write("list", b"benchmarks/a.smt2\n");
    let here = |args: &[&str], folder: &Path| {
        let mut command = Command::new(binary());
        finish(command.current_dir(folder).args(args))
    };
    cup.command("store");
    let run = "run cup.yaml --track main --entrants entrants.yaml --benchmarks list --store store --scratch scratch --oversubscribe";
    here(&run.split(' ').collect::<Vec<_>>(), &cup.at("")).success();
    let (edition, store) = (cup.at("cup.yaml").display().to_string(), cup.at("store").display().to_string());
    let out = here(&["judge", &edition, "--store", &store, "--all"], Path::new("/")).success();
    assert_eq!(out, "track main: 1 runs judged, 0 verdicts changed\n");
}

#[test]
fn the_doctor_says_what_the_machine_can_do() {
    let table = agon(&["doctor"]);
    let json = agon(&["doctor", "--format", "json"]);
    let list = agon(&["doctor", "--format", "csv"]);
    assert!([0, 1].contains(&table.status), "{}", table.stderr);
    assert_eq!((json.status, list.status), (table.status, table.status));
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    let rows = value["rows"].as_array().expect("there are rows");
    assert!(rows.len() >= 8, "{rows:?}");
    let mut reader = csv::Reader::from_reader(list.stdout.as_bytes());
    let lines: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("it is CSV")).collect();
    assert_eq!(lines.len(), rows.len());
    for (row, line) in rows.iter().zip(&lines) {
        let item = row["item"].as_str().expect("it has a name");
        assert_eq!(&line[0], item);
        assert!(["yes", "partly", "no"].contains(&&line[1]), "{line:?}");
        assert!(table.stdout.lines().any(|l| l.starts_with(&line[1]) && l.contains(item)), "{item}");
        // What is missing says how to get it, or that nothing is lost by it.
        assert!(row["detail"].as_str().is_some_and(|d| !d.is_empty()), "{row}");
    }
    assert_eq!(table.status == 1, lines.iter().any(|l| &l[1] == "no"));
}

/// Where `.ci/solvers` puts programs.
fn solver(name: &str) -> String {
    let path = workspace().join(".solvers/bin").join(name);
    assert!(path.exists(), "{} is not there: run .ci/solvers", path.display());
    path.display().to_string()
}

/// The rows of an index.
fn index(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    reader.deserialize().map(|row| row.expect("it is CSV")).collect()
}

/// Circuits: an answer needs no witness, but one that is given has to be right.
#[test]
fn circuits_need_no_witness() {
    let mut cup = Cup::new("sat-race-2008", "aig");
    let circuits = workspace().join("tests/race/aig");
    // Satisfiable and not; a circuit that is no formula reaches the solver as it is.
    let list =
        format!("benchmark,path,status\na,{0}/adders-8-wrong.aag,sat\nb,{0}/adders-8.aag,unsat\n", circuits.display());
    cup.write("list.csv", list.as_bytes());
    let list = cup.at("list.csv").display().to_string();
    cup.options(&["--benchmarks", &list, "--limit", "wall=10s,cpu=10s,memory=200MB", "--seed", "1"]);
    let looks = "grep -q '^aag ' \"$1\" || exit 3\necho 's SATISFIABLE'";
    cup.enter("silent", &format!("{looks}\nexit 10"));
    cup.enter("liar", &format!("{looks}\necho 'v -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 0'\nexit 10"));
    cup.run("store", &[]).success();
    let said = cup.said("store");
    let verdict = |solver: &str, benchmark: &str| {
        let found = &said[&(solver.to_string(), benchmark.to_string())];
        (found.verdict[0].clone(), found.verdict[1].clone())
    };
    let text = |answer: &str, soundness: &str| (answer.to_string(), soundness.to_string());
    assert_eq!(verdict("silent", "a"), text("sat", "agrees"));
    assert_eq!(verdict("silent", "b"), text("sat", "contradicts"));
    assert_eq!(cup.scores("store").iter().filter(|row| row["solver"] == "silent" && row["wrong"] == "1").count(), 3);
    // Zeros add up to zero in both circuits: the outputs do not differ.
    let refuted = |row: &&BTreeMap<String, String>| row["solver"] == "liar" && row["solved"] == "0";
    assert_eq!(cup.scores("store").iter().filter(refuted).count(), 3, "{said:?}");
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn real_solvers_of_circuits_agree_with_the_index() {
    let race = workspace().join("tests/race");
    let mut cup = Cup::new("sat-race-2008", "aig");
    let list = race.join("aig.csv").display().to_string();
    cup.options(&["--benchmarks", &list, "--limit", "wall=20s,cpu=20s,memory=2GB", "--seed", "7"]);
    for name in ["aiger-cadical", "aiger-picosat"] {
        cup.enter_as(name, &[&solver(name)]);
    }
    cup.run("store", &[]).success();
    let said = cup.said("store");
    assert_eq!(said.len(), 2 * index(&race.join("aig.csv")).len());
    for (pair, found) in said {
        assert_eq!(found.verdict[1], "agrees", "{pair:?}: {found:?}");
    }
}

/// Runs real solvers on listed files, and counts answers by solver; none may contradict the index.
fn real(
    mut cup: Cup,
    files: &[(PathBuf, String, String)],
    solvers: &[(&str, &[&str])],
) -> BTreeMap<String, [usize; 2]> {
    let mut list = csv::Writer::from_path(cup.at("list.csv")).expect("there is room");
    list.write_record(["benchmark", "path", "logic", "status"]).expect("there is room");
    for (path, logic, status) in files {
        let name = path.strip_prefix(archive().join("benchmarks")).expect("it is there").display().to_string();
        list.write_record([name, path.display().to_string(), logic.clone(), status.clone()]).expect("there is room");
    }
    list.flush().expect("there is room");
    for (name, arguments) in solvers {
        let program = solver(name);
        let command: Vec<&str> = [program.as_str()].into_iter().chain(arguments.iter().copied()).collect();
        cup.enter_as(name, &command);
    }
    let list = cup.at("list.csv").display().to_string();
    let wall = if files.iter().any(|(_, logic, _)| logic.is_empty()) { "wall=10s" } else { "wall=5s" };
    cup.options(&[
        "--benchmarks",
        &list,
        "--limit",
        &format!("{wall},cores=1,memory=2GB"),
        "--seed",
        "7",
        "--jobs",
        "2",
    ]);
    cup.run("store", &[]).success();
    let said = cup.said("store");
    assert_eq!(said.len(), files.len() * solvers.len());
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut contradictions = Vec::new();
    for ((entrant, benchmark), found) in &said {
        let count = counts.entry(entrant.clone()).or_default();
        match found.verdict[1].as_str() {
            "agrees" => count[0] += 1,
            "not-applicable" => count[1] += 1,
            _ => contradictions.push(format!("{entrant} on {benchmark}: {found:?}")),
        }
    }
    println!("right and none: {counts:?}");
    let mut reasons: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for ((entrant, benchmark), found) in said.iter().filter(|(_, found)| found.verdict[1] == "not-applicable") {
        reasons.entry((entrant, &found.verdict[2], &found.reason)).or_default().push(benchmark);
    }
    for ((entrant, condition, reason), benchmarks) in reasons {
        println!("{entrant}: {condition}, {reason}: {} runs, such as {}", benchmarks.len(), benchmarks[0]);
    }
    assert!(contradictions.is_empty(), "{}", contradictions.join("\n"));
    counts
}

#[test]
#[ignore = "needs the archive and solvers: set AGON_ARCHIVE, run .ci/solvers"]
fn real_sat_solvers_agree_with_the_index() {
    let folder = archive().join("benchmarks/cnf");
    let files: Vec<_> = index(&folder.join("index.csv"))
        .iter()
        .filter(|row| ["sat", "unsat"].contains(&row["status"].as_str()))
        .map(|row| (folder.join(&row["file"]), String::new(), row["status"].clone()))
        .collect();
    assert!(files.len() >= 100, "{}", files.len());
    let cup = Cup::new("sat-race-2008", "main");
    let counts = real(cup, &files, &[("cadical", &["-q"]), ("minisat", &[]), ("picosat", &[])]);
    for (name, [right, none]) in counts {
        assert!(right >= files.len() * 9 / 10, "{name}: {right} answers, {none} times none");
    }
}

#[test]
#[ignore = "needs the archive and solvers: set AGON_ARCHIVE, run .ci/solvers"]
fn real_smt_solvers_agree_with_the_index() {
    let folder = archive().join("benchmarks/smt2");
    let mut rows = index(&folder.join("index.csv"));
    rows.retain(|row| row["kind"] == "single" && ["sat", "unsat"].contains(&row["status"].as_str()));
    // The edition's divisions do not have every logic.
    let edition = fs::read_to_string(workspace().join("editions/smt-comp-2022.yaml")).expect("it is shipped");
    let edition: serde_json::Value = serde_yaml::from_str(&edition).expect("it is YAML");
    let divisions = edition["divisions"]["single-query"].as_object().expect("it has divisions");
    let known: BTreeSet<&str> = divisions
        .values()
        .flat_map(|d| d.as_array().or_else(|| d["logics"].as_array()).into_iter().flatten())
        .filter_map(|logic| logic.as_str())
        .collect();
    rows.retain(|row| known.contains(row["logic"].as_str()));
    rows.sort_by_key(|row| (row["bytes"].parse::<u64>().expect("it is a number"), row["path"].clone()));
    // Of the smallest of each logic, so that all logics are there.
    let mut of_logic: BTreeMap<&str, usize> = BTreeMap::new();
    let mut chosen: Vec<(usize, &BTreeMap<String, String>)> = rows
        .iter()
        .map(|row| {
            let n = of_logic.entry(&row["logic"]).or_default();
            *n += 1;
            (*n, row)
        })
        .collect();
    chosen.sort_by_key(|(n, row)| (*n, row["path"].clone()));
    let files: Vec<_> = chosen
        .iter()
        .take(300)
        .map(|(_, row)| (folder.join(&row["path"]), row["logic"].clone(), row["status"].clone()))
        .collect();
    assert_eq!(files.len(), 300);
    // Some of the files have commands that the scrambler refuses: all are run as they are.
    let scratch = Cup::new("smt-comp-2022", "single-query");
    let edition =
        "edition: as-they-are\nextends: smt-comp-2022\ntracks:\n  single-query:\n    run: { scramble: none }\n";
    let edition = scratch.write("as-they-are.yaml", edition.as_bytes()).display().to_string();
    let cup = Cup::new(&edition, "single-query");
    let counts = real(cup, &files, &[("z3", &[]), ("yices-smt2", &[]), ("cvc5", &[])]);
    // Yices has no quantifiers to speak of, and neither strings nor floating-point numbers; z3 answers after errors, which
    // does not count. Some of the small files are hard.
    for (name, least) in [("z3", 200), ("yices-smt2", 90), ("cvc5", 180)] {
        assert!(counts[name][0] >= least, "{name}: {:?}", counts[name]);
    }
}
