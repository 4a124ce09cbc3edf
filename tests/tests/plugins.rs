//! Track plugins as their authors and users meet them: the way of `plugins/README.md`, the conformance test as a
//! command, and editions that name a plugin from elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_tests::cup::{Cup, edition_text, finish};
use agon_tests::{Output, agon, binary, workspace};
use serde_json::Value;

/// The folder of this test's libraries.
fn beside_this() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    test.parent().expect("it is in a folder").to_path_buf()
}

/// The fenced blocks of a section of a text: language and content.
fn blocks(text: &str, from: &str, to: &str) -> Vec<(String, String)> {
    let begin = text.find(from).unwrap_or_else(|| panic!("there is no `{from}`"));
    let section = &text[begin..begin + text[begin..].find(to).unwrap_or_else(|| panic!("there is no `{to}`"))];
    let mut blocks = Vec::new();
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let content: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            blocks.push((language.to_string(), content.join("\n") + "\n"));
        }
    }
    blocks
}

/// Commands in a folder, by a shell that stops at the first one that fails; `agon` is on its path and nothing of plugins
/// is in its environment.
fn shell(folder: &Path, commands: &str) -> Output {
    let mut path = vec![binary().parent().expect("it is in a folder").to_path_buf()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-e", "-c", commands]).current_dir(folder).env("PATH", std::env::join_paths(path).expect("it was one"));
    shell.env("HOME", folder.join("home")).env("NO_COLOR", "1").env("CARGO_NET_OFFLINE", "true");
    for (real, of_home) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if std::env::var_os(real).is_none() {
            shell.env(real, Path::new(&std::env::var_os("HOME").expect("there is one")).join(of_home));
        }
    }
    for name in ["CARGO_TARGET_DIR", "AGON_PLUGIN_PATH", "XDG_DATA_HOME", "CARGO_MANIFEST_DIR"] {
        shell.env_remove(name);
    }
    finish(&mut shell)
}

/// What the columns of `agon score --format csv` say of each solver.
fn standings(csv: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows = reader.deserialize().map(|row| {
        let row: std::collections::BTreeMap<String, String> = row.expect("it is CSV");
        format!("{} {} {} {}", row["rank"], row["solver"], row["error"], row["correct"])
    });
    rows.collect()
}

#[test]
fn the_guide_leads_from_nothing_to_a_scored_run() {
    let guide = fs::read_to_string(workspace().join("plugins/README.md")).expect("the guide is there");
    let blocks = blocks(&guide, "## From nothing to a scored run", "## In C, or another language");
    let languages: Vec<&str> = blocks.iter().map(|(language, _)| language.as_str()).collect();
    assert_eq!(languages, ["sh", "yaml", "sh", "yaml", "sh", "sh"]);
    let folder = tempfile::Builder::new().prefix("agon-guide-").tempdir().expect("there is room");
    let place = folder.path();
    fs::set_permissions(place, fs::Permissions::from_mode(0o700)).expect("it is ours");

    // Each block of commands is given to the same shell as those before it; the files are there when it is their turn.
    fs::write(place.join("my-cup.yaml"), &blocks[1].1).expect("it is ours");
    fs::write(place.join("entrants.yaml"), &blocks[3].1).expect("it is ours");
    // What was built of Agon's sources by another test run is built already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    fs::create_dir_all(&target).expect("it can be made");
    let linked = format!("ln -s '{}' my-track/target", target.display());
    let begin = blocks[0].1.replace("cd my-track\n", &format!("{linked}\ncd my-track\n"));
    assert_ne!(begin, blocks[0].1);
    let begun = shell(place, &begin).success();
    assert!(begun.contains("all rules are kept"), "{begun}");
    let rest = [&blocks[2].1[..], &blocks[4].1, &blocks[5].1].concat();
    let done = shell(place, &rest).success();
    assert!(done.contains("my-cup.yaml: good"), "{done}");
    assert!(done.contains("count-after-limit false"), "{done}");
    assert!(done.contains("track main: 0 runs judged, 0 verdicts changed"), "{done}");
    let expected = ["1 Reader 0 2", "2 Optimist 1 1"];

    // The plugin is not needed any more to score, and is needed to judge.
    let score = "agon score my-cup.yaml --store store --format csv";
    assert_eq!(standings(&shell(place, score).success()), expected);
    let without = shell(place, "agon judge my-cup.yaml --store store");
    assert_eq!(without.status, 2);
    assert!(without.stderr.contains("there is no plugin `my-track`"), "{}", without.stderr);
    let records = fs::read_to_string(place.join("store/journal.jsonl")).expect("there is a journal");
    let session = records.lines().map(|l| serde_json::from_str::<Value>(l).expect("it is JSON"));
    let session = session.into_iter().find(|r| r["kind"] == "session").expect("there was one");
    assert_eq!(session["descriptions"][0]["plugin"], "my-track");
    let library = fs::read(place.join("my-track/target/release/libagon_my_track.so")).expect("it was built");
    assert_eq!(session["plugins"][0]["hash"].as_str().map(str::len), Some(64));
    assert!(session["extra"]["plugin"]["hashes"]["blake3"] == session["plugins"][0]["hash"] && !library.is_empty());

    // A change: the answer `unsat` is no more taken for one.
    let change = "cd my-track && sed -i 's/b\"unsat\" => \"unsat\",//' src/lib.rs && \
                  sed -i 's/^version = \"0.1.0\"/version = \"0.2.0\"/' Cargo.toml && cargo build -q --release && cd .. && \
                  export AGON_PLUGIN_PATH=$PWD/my-track/target/release && ";
    let judged = shell(place, &format!("{change}agon judge my-cup.yaml --store store")).success();
    assert!(judged.contains("4 runs judged, 1 verdicts changed"), "{judged}");
    assert!(judged.contains("Reader on false.smt2: answer unsat \u{2192} unknown"), "{judged}");
    assert_eq!(standings(&shell(place, score).success()), ["1 Reader 0 1", "2 Optimist 1 1"]);
}

/// Each as it is shipped: the one in C as a library, the others in the program. Their libraries are checked where they are
/// built.
#[test]
fn every_shipped_plugin_passes_the_check() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = exit_code(folder.path());
    let listed = agon(&["plugin", "list", "--format", "json", "--plugin", library.to_str().expect("UTF-8")]).success();
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("it is JSON");
    assert!(listed.len() >= 3, "{listed:?}");
    for entry in &listed {
        let id = entry["id"].as_str().expect("it has one");
        let which = if entry["origin"] == "linked" { Path::new(id) } else { &library };
        let text = agon(&["plugin".as_ref(), "check".as_ref(), which.as_os_str()]).success();
        assert!(text.starts_with(&format!("{id} ")), "{text}");
        assert!(text.ends_with("all rules are kept, as far as a test can see\n"), "{id}: {text}");
        assert!(text.lines().filter(|l| l.ends_with("kept") && l.contains(" rule ")).count() > 10, "{text}");
    }
}

#[test]
fn the_check_says_what_is_wrong_and_sets_the_exit_code() {
    let check = |which: &Path| agon(&["plugin".as_ref(), "check".as_ref(), which.as_os_str()]);
    let folder = tempfile::tempdir().expect("there is room");
    let gone = check(&folder.path().join("libagon_none.so"));
    assert_eq!(gone.status, 2);
    assert!(gone.stderr.contains("is not there"), "{}", gone.stderr);
    // Something else under a plugin's name is a plugin that keeps no rule.
    let other = folder.path().join("libagon_other.so");
    fs::write(&other, "no library").expect("it is ours");
    let output = check(&other);
    assert_eq!(output.status, 1, "{}", output.stderr);
    assert!(output.stdout.contains("BROKEN") && output.stdout.contains("ELF"), "{}", output.stdout);
}

/// The library of the plugin in C, in a folder of this test's own.
fn exit_code(folder: &Path) -> PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let library = folder.join("libagon_exit_code.so");
    fs::copy(agon_plugin_exit_code::LIBRARY, &library).expect("it can be copied");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o755)).expect("it is ours");
    library
}

#[test]
fn the_library_in_c_lies_where_it_is_said_to_be() {
    let profile = beside_this().parent().expect("deps is in a folder").to_path_buf();
    let library = fs::read(profile.join("libagon_exit_code.so")).expect("it is in target/PROFILE");
    assert!(library == fs::read(agon_plugin_exit_code::LIBRARY).expect("it was built"));
}

/// A library says what it declares without being loaded: one whose code cannot run serves to check an edition.
#[test]
fn what_a_library_declares_is_read_without_running_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = exit_code(folder.path());
    let name = library.to_str().expect("it is UTF-8");
    let described = agon(&["plugin", "describe", name]).success();
    let committed = fs::read_to_string(workspace().join("schemas/plugins/exit-code.json")).expect("it is committed");
    assert_eq!(described, committed);

    // The same library with another name for its descriptor, and a parameter renamed: it cannot be loaded any more.
    let mut bytes = fs::read(&library).expect("it is ours");
    let replace = |bytes: &mut Vec<u8>, from: &[u8], to: &[u8]| {
        assert_eq!(from.len(), to.len());
        let places: Vec<usize> =
            bytes.windows(from.len()).enumerate().filter(|(_, w)| *w == from).map(|(at, _)| at).collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    };
    replace(&mut bytes, b"\0agon_plugin_v1\0", b"\0agon_plugin_vX\0");
    replace(&mut bytes, b"\"unsat-status\"", b"\"wrong-status\"");
    fs::write(&library, bytes).expect("it is ours");
    let cup = Cup::plain("exit-code");
    let text =
        edition_text("cup", "exit-code").replace("    limits:", "    parameters: { wrong-status: x }\n    limits:");
    cup.write("cup.yaml", text.as_bytes());
    let good = agon(&["edition", "check", cup.edition(), "--plugin", name]);
    assert_eq!(good.status, 0, "{}", good.stderr);
    let shipped = agon(&["edition", "check", cup.edition()]);
    assert_eq!(shipped.status, 1, "{}", shipped.stdout);
    assert!(shipped.stderr.contains("no parameter `wrong-status`"), "{}", shipped.stderr);
    let check = agon(&["plugin", "check", name]);
    assert_eq!(check.status, 1, "{}", check.stdout);
    assert!(check.stdout.contains("agon_plugin_v1"), "{}", check.stdout);
}

#[test]
fn doctor_and_list_know_a_plugin_from_elsewhere() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = exit_code(folder.path());
    let name = library.to_str().expect("it is UTF-8");
    let listed = agon(&["plugin", "list", "--plugin", name]).success();
    assert!(listed.contains("exit-code") && listed.contains(name), "{listed}");
    let doctor = agon(&["doctor", "--plugin", name]);
    assert!(doctor.stdout.contains("plugin exit-code"), "{}{}", doctor.stdout, doctor.stderr);
    let missing = agon(&["doctor", "--plugin", "/nowhere/libagon_x.so"]);
    assert_eq!(missing.status, 2, "{}", missing.stdout);
}

/// A store knows the columns of the plugin that judged it, and the limits that its runs had.
#[test]
fn a_store_is_scored_with_what_it_remembers() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = exit_code(folder.path());
    let name = library.to_str().expect("it is UTF-8");
    let mut cup = Cup::plain("exit-code");
    let text = edition_text("cup", "exit-code").replace(
        "        correct:",
        "        codes: sum(exit_code)\n        limit: max(limits.wall)\n        correct:",
    );
    cup.write("cup.yaml", text.as_bytes());
    cup.enter("ten", "exit 10");
    cup.benchmark("a.smt2", "sat");
    let run = cup.run("store", &["--plugin", name, "--limit", "wall=3s"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    fs::remove_file(&library).expect("it is ours");
    let score = cup.of_store("score", "store", &["--format", "csv"]);
    assert!(score.stderr.contains("wall 3 s instead of wall 20 s"), "{}", score.stderr);
    let text = score.success();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let row: std::collections::BTreeMap<String, String> =
        reader.deserialize().next().expect("there is a row").expect("it is CSV");
    assert_eq!((row["codes"].as_str(), row["limit"].as_str()), ("10", "3"), "{text}");
    // Without an override, the limits are the text's and nothing is said.
    let run = cup.run("other", &["--plugin", "/nowhere/libagon_exit_code.so"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    let library = exit_code(folder.path());
    let run = cup.run("other", &["--plugin", library.to_str().expect("it is UTF-8")]);
    assert!(!run.stderr.contains("other limits"), "{}", run.stderr);
    assert!(run.success().contains("20"));
}

/// The exit code of a run that a signal ended is not there, and no number stands for it unless the edition says which.
#[test]
fn what_a_plugin_says_of_some_runs_only_is_not_made_up() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = exit_code(folder.path());
    let name = library.to_str().expect("it is UTF-8");
    let mut cup = Cup::plain("exit-code");
    let plain = edition_text("cup", "exit-code");
    let codes = plain.replace("        correct:", "        codes: sum(exit_code)\n        correct:");
    let zero = codes
        .replace("    scoring:", "    fields: { exit_code: { type: number, optional: true, empty: 7 } }\n    scoring:");
    cup.write("cup.yaml", plain.as_bytes());
    cup.enter("ten", "case $1 in *a.smt2) exit 10;; esac\ngrep -q '\"a' \"$1\" && exit 10\nkill -SEGV $$");
    cup.benchmark("a.smt2", "sat");
    cup.benchmark("b.smt2", "sat");
    let run = cup.run("store", &["--plugin", name]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let sum = |edition: &str, column: &str| {
        cup.write("cup.yaml", edition.as_bytes());
        let output = cup.of_store("score", "store", &["--format", "csv"]);
        let mut reader = csv::Reader::from_reader(output.stdout.as_bytes());
        let row: Option<Result<std::collections::BTreeMap<String, String>, _>> = reader.deserialize().next();
        (row.map(|row| row.expect("it is CSV")[column].clone()), output)
    };
    assert_eq!(sum(&plain, "correct").0.as_deref(), Some("1"));
    let (row, output) = sum(&codes, "codes");
    assert_ne!(output.status, 0, "{row:?}");
    assert!(output.stderr.contains("1 of 2 runs of the track main have no value in it"), "{}", output.stderr);
    assert_eq!(sum(&zero, "codes").0.as_deref(), Some("17"));
}
