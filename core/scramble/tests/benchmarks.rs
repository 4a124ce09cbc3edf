//! All modes on all scripts of the archive's benchmarks, and what the official scrambler is known to say of each.

use std::path::PathBuf;

use agon_scramble::{Error, Mode, Naming, Options, scramble};

fn folder() -> PathBuf {
    let root = std::env::var_os("AGON_ARCHIVE").map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    root.join("benchmarks/smt2")
}

/// The cells of a line of a CSV file without line breaks in its cells.
fn cells(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

/// The paths and verdicts of the index.
fn index() -> Vec<(PathBuf, String)> {
    let text = std::fs::read_to_string(folder().join("index.csv")).expect("the archive has an index");
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap());
    let column = |name: &str| header.iter().position(|h| h == name).unwrap();
    let (path, verdict) = (column("path"), column("scrambler"));
    lines.map(cells).map(|row| (folder().join(&row[path]), row[verdict].clone())).collect()
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn the_same_scripts_are_refused_for_the_same_reasons() {
    let mut wrong = Vec::new();
    let index = index();
    assert!(index.len() > 800);
    for (path, verdict) in index {
        let mut out = Vec::new();
        let said = match scramble(path.as_path(), &Options::new(Mode::Plain, 1), &mut out) {
            Ok(_) => "ok".to_string(),
            Err(Error::Refused(refusal)) => format!("exit 1: {}", refusal.message),
            Err(other) => other.to_string(),
        };
        // The index keeps the beginning of a message.
        if !said.starts_with(&verdict) || verdict == "ok" && said != "ok" {
            wrong.push(format!("{}: {said}, not {verdict}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn every_mode_takes_every_script_and_its_own_result() {
    let mut accepted = 0;
    for (path, _) in index() {
        for (word, mode) in Mode::ALL {
            for seed in [0, 1, 1234] {
                if mode == Mode::Unfold {
                    continue;
                }
                let mut out = Vec::new();
                let options = Options::new(mode, seed);
                match scramble(path.as_path(), &options, &mut out) {
                    Ok(_) => {}
                    Err(Error::Refused(refusal)) => {
                        assert!(refusal.line > 0 && refusal.column > 0, "{}", path.display());
                        continue;
                    }
                    Err(Error::Beyond(_)) => continue,
                    Err(other) => panic!("{}: {other}", path.display()),
                }
                accepted += 1;
                let start = b"--- BENCHMARK BEGINS HERE ---\n";
                let script = match memchr::memmem::find(&out, start) {
                    Some(at) if matches!(mode, Mode::Incremental | Mode::Application) => &out[at + start.len()..],
                    _ => &out[..],
                };
                // Commands that a mode adds are none that the competitions' scripts may have.
                let asked: &[u8] = match mode {
                    Mode::ModelValidation => b"(get-model)\n",
                    Mode::Proof => b"(get-proof)\n",
                    Mode::UnsatCore => b"(get-unsat-core)\n",
                    _ => b"",
                };
                let mut own = Vec::new();
                for line in script.split_inclusive(|b| *b == b'\n') {
                    if asked.is_empty() || line != asked {
                        own.extend_from_slice(line);
                    }
                }
                let mut again = options.clone();
                again.non_smtcomp = !matches!(mode, Mode::Main | Mode::Application);
                // The scrambler that numbers names prints undeclared quoted symbols and string literals without their marks.
                let original = std::fs::read(&path).unwrap();
                let loses = mode.naming() == Naming::Numbering && memchr::memchr2(b'|', b'"', &original).is_some();
                if let Err(error) = scramble(&own[..], &again, &mut Vec::new()) {
                    assert!(loses, "{} {word} {seed}: {error}", path.display());
                }
            }
        }
    }
    assert!(accepted > 10_000, "{accepted}");
}
