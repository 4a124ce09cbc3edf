//! A small competition in a folder of its own: programs that play solvers, benchmarks, a store, and what is left of runs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Output, binary, workspace};

/// How long something may take that takes no time on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A competition and its folder, which goes when it is dropped.
#[derive(Debug)]
pub struct Cup {
    folder: tempfile::TempDir,
    edition: String,
    track: String,
    entrants: Vec<Value>,
    options: Vec<String>,
}

/// What the store says of a pair: the columns of its newest verdict, and the number of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The answer, its soundness, how the run ended and who is to blame.
    pub verdict: [String; 4],
    /// Exit code and signal, and the limit that was reached.
    pub end: (Option<i64>, Option<i64>, String),
    /// The plugin's `reason`, if it has such a column.
    pub reason: String,
}

impl Cup {
    /// A competition by an edition's name.
    ///
    /// # Panics
    /// If there is no room for its folder.
    pub fn new(edition: &str, track: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("agon-cup-").tempdir().expect("there is room");
        for name in ["solvers", "benchmarks"] {
            fs::create_dir(folder.path().join(name)).expect("it is ours");
        }
        let (edition, track) = (edition.to_string(), track.to_string());
        Self { folder, edition, track, entrants: Vec::new(), options: Vec::new() }
    }

    /// The same competition by the edition of a file.
    #[must_use]
    pub fn of(self, edition: &str) -> Self {
        Self { edition: edition.to_string(), ..self }
    }

    /// A competition with a plugin and the simplest of scorings, in the track `main`.
    ///
    /// # Panics
    /// If there is no room for its folder.
    pub fn plain(plugin: &str) -> Self {
        let mut cup = Self::new("", "main");
        cup.edition = cup.write("cup.yaml", edition_text("cup", plugin).as_bytes()).display().to_string();
        cup
    }

    /// A path below the folder.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below the folder.
    ///
    /// # Panics
    /// If it cannot.
    pub fn write(&self, name: impl AsRef<Path>, content: &[u8]) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        path
    }

    /// Writes a program in the language of the shell.
    ///
    /// # Panics
    /// If it cannot.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.write(Path::new("solvers").join(name), format!("#!/bin/sh\n{script}\n").as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    /// Enters a program, under its file's name.
    pub fn enter(&mut self, name: &str, script: &str) {
        self.program(name, script);
        self.enter_as(name, &[&format!("solvers/{name}")]);
    }

    /// Enters a command line.
    pub fn enter_as(&mut self, name: &str, command: &[&str]) {
        let seed = self.entrants.len() + 1;
        let entrant = json!({ "name": name, "team": name, "competing": true, "seed": seed, "command": command });
        self.entrants.push(entrant);
    }

    /// Writes an SMT-LIB benchmark of QF_UF with a status; without one if it is empty.
    pub fn benchmark(&self, name: &str, status: &str) {
        let line = if status.is_empty() { String::new() } else { format!("(set-info :status {status})\n") };
        let text = format!("(set-logic QF_UF)\n{line}; {name:?}\n(check-sat)\n");
        self.write(Path::new("benchmarks").join(name), text.as_bytes());
    }

    /// Options for every run.
    pub fn options(&mut self, options: &[&str]) {
        self.options = options.iter().map(ToString::to_string).collect();
    }

    /// The edition, as it is named on the command line.
    pub fn edition(&self) -> &str {
        &self.edition
    }

    /// `agon run` into the store of this name, not yet started. Where other runners have the cores, runs share them.
    pub fn command(&self, store: &str) -> Command {
        let list = json!({ "entrants": self.entrants });
        // JSON is YAML.
        self.write("entrants.yaml", serde_json::to_string_pretty(&list).expect("it is JSON").as_bytes());
        let mut command = Command::new(binary());
        command.current_dir(workspace()).env("NO_COLOR", "1").args(["run", &self.edition, "--track", &self.track]);
        for (option, name) in [("--entrants", "entrants.yaml"), ("--store", store), ("--scratch", "scratch")] {
            command.arg(option).arg(self.at(name));
        }
        if !self.options.iter().any(|o| o == "--benchmarks") {
            command.arg("--benchmarks").arg(self.at("benchmarks"));
        }
        command.arg("--oversubscribe").args(&self.options);
        command
    }

    /// Runs it, with more options.
    pub fn run(&self, store: &str, more: &[&str]) -> Output {
        finish(self.command(store).args(more))
    }

    /// Another command on the store: `judge` or `score`, with more options.
    pub fn of_store(&self, subcommand: &str, store: &str, more: &[&str]) -> Output {
        let mut command = Command::new(binary());
        command.current_dir(workspace()).env("NO_COLOR", "1").args([subcommand, &self.edition, "--store"]);
        finish(command.arg(self.at(store)).args(more))
    }

    /// The rows of `agon score --format csv`, without the times.
    ///
    /// # Panics
    /// If the store cannot be scored.
    pub fn scores(&self, store: &str) -> Vec<BTreeMap<String, String>> {
        let text = self.of_store("score", store, &["--format", "csv"]).success();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader
            .deserialize()
            .map(|row| {
                let mut row: BTreeMap<String, String> = row.expect("it is CSV");
                row.retain(|name, _| !name.ends_with("_time"));
                row
            })
            .collect()
    }

    /// All records of a store, from its text.
    ///
    /// # Panics
    /// If a line is no JSON.
    pub fn records(&self, store: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.at(store).join("journal.jsonl")).expect("there is a journal");
        text.lines().map(|line| serde_json::from_str(line).expect("a whole line is JSON")).collect()
    }

    /// What the store says of every pair: of exactly one observation and its newest verdict each.
    ///
    /// # Panics
    /// If a pair was run twice, or run and not judged, or judged and not run.
    pub fn said(&self, store: &str) -> BTreeMap<(String, String), Said> {
        let mut runs: BTreeMap<(String, String), Value> = BTreeMap::new();
        let mut said = BTreeMap::new();
        for record in self.records(store) {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let pair = (text(&record["entrant"]), text(&record["benchmark"]));
            match record["kind"].as_str() {
                Some("observation") => {
                    assert!(runs.insert(pair.clone(), record.clone()).is_none(), "{pair:?} was run twice");
                }
                Some("result") => {
                    let run = runs.get(&pair).unwrap_or_else(|| panic!("{pair:?} was judged and not run"));
                    assert_eq!(record["observation"], run["seq"], "{pair:?}");
                    let run = &run["run"];
                    let end = (run["exit"].as_i64(), run["signal"].as_i64(), text(&run["limit"]));
                    let verdict = ["answer", "soundness", "condition", "blame"].map(|c| text(&record[c]));
                    let reason = text(&record["columns"]["reason"]["word"]);
                    said.insert(pair, Said { verdict, end, reason });
                }
                _ => {}
            }
        }
        let pending: Vec<_> = runs.keys().filter(|pair| !said.contains_key(*pair)).collect();
        assert!(pending.is_empty(), "run and not judged: {pending:?}");
        said
    }

    /// All files of a store but its lock, by their paths.
    pub fn files(&self, store: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.at(store)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("it can be listed") {
                let path = entry.expect("a file has a name").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name() != Some(OsStr::new("lock")) {
                    let content = fs::read(&path).expect("it is ours");
                    files.insert(path, content);
                }
            }
        }
        files
    }

    /// Waits until a store has a record of a kind.
    ///
    /// # Panics
    /// If it has none in a minute.
    pub fn wait_for(&self, store: &str, kind: &str) {
        let journal = self.at(store).join("journal.jsonl");
        let mark = format!("\"kind\":\"{kind}\"");
        until(&format!("there is a record {kind}"), || fs::read_to_string(&journal).is_ok_and(|t| t.contains(&mark)));
    }

    /// What runners with these process numbers have left behind: processes, control groups, temporary folders.
    pub fn left(&self, runners: &[u32]) -> Vec<String> {
        let mut left = Vec::new();
        let marks: Vec<String> = runners.iter().map(|pid| format!("agon-{pid}-")).collect();
        let marked = |text: &str| marks.iter().any(|mark| text.contains(mark.as_str()));
        let own = self.at("solvers").display().to_string();
        for entry in fs::read_dir("/proc").expect("there is one").flatten() {
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            // What has ended is a zombie until its parent asks, who may be nobody of ours.
            let state = String::from_utf8_lossy(&read("stat")).rsplit(") ").next().unwrap_or_default().to_string();
            if state.is_empty() || state.starts_with(['Z', 'X']) {
                continue;
            }
            let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            if marked(&String::from_utf8_lossy(&read("cgroup"))) || command.contains(&own) {
                left.push(format!("process {}: {command}", entry.file_name().display()));
            }
        }
        let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|t| t.is_dir()) {
                    if marked(&entry.file_name().to_string_lossy()) {
                        left.push(entry.path().display().to_string());
                    }
                    folders.push(entry.path());
                }
            }
        }
        for entry in fs::read_dir(self.at("scratch")).into_iter().flatten().flatten() {
            if entry.file_name() != "lock" {
                left.push(entry.path().display().to_string());
            }
        }
        left
    }
}

/// An edition with one track, `main`, one division, and error and correct runs counted.
pub fn edition_text(name: &str, plugin: &str) -> String {
    format!(
        "edition: {name}
title: Cup
tracks:
  main:
    plugin: {plugin}
    divisions: {{ all: [QF_UF] }}
    limits: {{ wall: 20 s, memory: 1 GB, cores: 1 }}
    scoring:
      measures:
        error:   count(answer != unknown and status != unknown and answer != status)
        correct: count(answer != unknown and (status == unknown or answer == status))
      views:
        sequential: {{ order: [error asc, correct desc] }}
"
    )
}

/// Runs a command to its end.
///
/// # Panics
/// If it cannot be started, or prints something that is not UTF-8.
pub fn finish(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().expect("the command can be started");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("it prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("it prints UTF-8"),
    }
}

/// Starts a command whose output nobody reads.
///
/// # Panics
/// If it cannot be started.
pub fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be started")
}

/// Sends a signal, by its name without `SIG`, to one process.
///
/// # Panics
/// If it cannot be sent.
pub fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args(["-s", name, "--", &child.id().to_string()]).status();
    assert!(done.expect("there is a kill").success(), "no SIG{name} for {}", child.id());
}

/// Waits until something is so.
///
/// # Panics
/// If it is not so in a minute.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is() {
        assert!(begin.elapsed() < PATIENCE, "not in a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Numbers that look random and are the same in every run of a test (a multiplicative congruential generator).
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
