//! What the scrambler needs of memory, measured in a process of its own.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use agon_scramble::{Mode, Options, scramble};

const FILE: &str = "AGON_SCRAMBLE_FILE";
const MODE: &str = "AGON_SCRAMBLE_MODE";

/// Bytes of a line of this process's status.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Does the work in a process of its own; nothing when all tests are run.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let mode = Mode::from_word(&std::env::var(MODE).unwrap()).unwrap();
    let before = status("VmRSS");
    scramble(Path::new(&file), &Options::new(mode, 1234), &mut std::io::sink()).unwrap();
    let _ = std::fs::write(Path::new(&file).with_extension("peak"), (status("VmHWM") - before).to_string());
}

/// The most memory that was used in scrambling a script, beyond what the process had before.
fn peak(script: &str, mode: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.smt2");
    std::fs::write(&file, script).unwrap();
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(FILE, &file)
        .env(MODE, mode)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    std::fs::read_to_string(file.with_extension("peak")).unwrap().parse().unwrap()
}

/// Assertions over some names, up to a length.
fn assertions(length: usize, names: usize) -> String {
    let mut out = String::new();
    let mut n = 0;
    while out.len() < length {
        n += 7919;
        let name = |k: usize| format!("v{}", (n * 31 + k * 17) % names);
        let _ =
            writeln!(out, "(assert (or (not {}) (and {} (= {} {})) {}))", name(1), name(2), name(3), name(4), name(5));
    }
    out
}

#[test]
fn at_most_four_times_the_script() {
    let names = 20_000;
    let mut script = String::from("(set-logic QF_UF)\n");
    for n in 0..names {
        let _ = writeln!(script, "(declare-fun v{n} () Bool)");
    }
    script += &assertions(4_000_000, names);
    script += "(check-sat)\n";
    let deep =
        format!("(set-logic QF_UF)(assert {}a{})(check-sat)\n", "(not ".repeat(1_000_000), ")".repeat(1_000_000));
    let declarations: String = (0..200_000).map(|n| format!("(declare-fun v{n} () Bool)\n")).collect();
    for (what, script) in [("assertions", &script), ("deep", &deep), ("declarations", &declarations)] {
        for mode in ["single-query", "main"] {
            let (peak, length) = (peak(script, mode), script.len() as u64);
            assert!(peak <= 4 * length, "{what}, {mode}: {peak} bytes for a script of {length}");
        }
    }
}

#[test]
fn at_most_four_times_the_longest_stretch_between_two_checks() {
    let stretch = 1_000_000;
    let mut script = String::from("(set-logic QF_UF)\n");
    for n in 0..500 {
        let _ = writeln!(script, "(declare-fun v{n} () Bool)");
    }
    for _ in 0..30 {
        script += "(push 1)\n";
        script += &assertions(stretch, 500);
        script += "(check-sat)\n(pop 1)\n";
    }
    for mode in ["incremental", "application"] {
        let peak = peak(&script, mode);
        assert!(peak <= 4 * stretch as u64, "{mode}: {peak} bytes for stretches of {stretch}");
    }
}
