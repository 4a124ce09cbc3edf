//! The conformance test finds what deliberately broken plugins do, by the number of the rule, and finds nothing in the
//! shipped ones. Workers are processes of this very program, so it has its own `main`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_host::conformance::{Options, Report, check};
use agon_host::{Failure, Isolation, Registry, Search, Workers, worker};
use agon_sdk::values::{Benchmark, Blame, Job, Observation, Output, ReadAt, Source, Status};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some(worker::SUBCOMMAND) {
        return match worker::serve(&[]) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        };
    }
    if first.as_deref() == Some("--list") {
        for (name, _) in TESTS {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let wanted = first.filter(|f| !f.starts_with('-'));
    let mut failed = 0;
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted.as_deref().is_none_or(|w| name.contains(w))) {
        let begin = Instant::now();
        let well = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {} ({:.1?})", if well { "ok" } else { "FAILED" }, begin.elapsed());
        failed += u32::from(!well);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const TESTS: &[(&str, fn())] = &[
    ("the_plugin_in_c_keeps_all_rules", the_plugin_in_c_keeps_all_rules),
    ("what_is_not_broken_passes", what_is_not_broken_passes),
    ("every_broken_plugin_is_found", every_broken_plugin_is_found),
    ("a_worker_judges_as_this_process_does", a_worker_judges_as_this_process_does),
    ("a_crash_costs_one_call", a_crash_costs_one_call),
    ("an_endless_loop_ends_by_its_limit", an_endless_loop_ends_by_its_limit),
    ("a_leak_ends_by_its_limit", a_leak_ends_by_its_limit),
    ("the_template_builds_and_keeps_all_rules", the_template_builds_and_keeps_all_rules),
    ("large_inputs_reach_a_worker_in_parts", large_inputs_reach_a_worker_in_parts),
];

fn this() -> PathBuf {
    std::env::current_exe().expect("there is one")
}

fn options() -> Options {
    let mut options = Options::new(this());
    options.workers.call = Duration::from_secs(45);
    options
}

/// Compiles `broken.c` with a macro.
fn compile(macro_name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    std::fs::create_dir_all(&folder).expect("it can be made");
    let library = folder.join(format!("libagon_{}.so", macro_name.to_lowercase()));
    let _ = std::fs::remove_file(&library);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-w", "-fno-optimize-sibling-calls", "-fPIC", "-shared", "-pthread"])
        .arg(format!("-D{macro_name}"))
        .arg("-I")
        .arg(here.join("../../schemas"))
        .arg("-o")
        .arg(&library)
        .arg(here.join("tests/broken/broken.c"))
        .arg("-lm")
        .output()
        .expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

fn told(report: &Report) -> String {
    report
        .findings
        .iter()
        .filter(|f| !f.kept)
        .map(|f| format!("rule {} in {}: {}", f.rule, f.check, f.detail))
        .collect::<Vec<_>>()
        .join("\n")
}

fn the_plugin_in_c_keeps_all_rules() {
    let report = check(Path::new(agon_plugin_exit_code::LIBRARY), &options());
    assert!(report.passed(), "{}", told(&report));
    assert!(report.findings.len() > 15, "{report:?}");
}

fn what_is_not_broken_passes() {
    let report = check(&compile("NOTHING"), &options());
    assert!(report.passed(), "{}", told(&report));
}

/// The macros of `broken.c`, and the rule that each breaks.
const BROKEN: &[(&str, u32)] = &[
    ("NO_MANIFEST", 3),
    ("MANIFEST_DIFFERS", 3),
    ("SHORT_TABLE", 3),
    ("SHORT_DESCRIPTOR", 3),
    ("NO_JUDGE", 3),
    ("WRONG_MAGIC", 3),
    ("OTHER_MAJOR", 3),
    ("NEEDS_NEWER", 3),
    ("REQUIRES_UNKNOWN", 3),
    ("RESERVED", 4),
    ("TRUSTS_POINTERS", 3),
    ("TRUSTS_SIZES", 3),
    ("UNKNOWN_STATUS", 3),
    ("UNKNOWN_SOUNDNESS", 3),
    ("KEEPS_A_POINTER", 1),
    ("LEAKS", 1),
    ("WRONG_TEXT", 2),
    ("OVERFLOWS", 5),
    ("TRUSTS_WHOLE", 5),
    ("EXITS", 5),
    ("ABORTS", 5),
    ("CRASHES_WHEN_LOADED", 5),
    ("NOT_REENTRANT", 7),
    ("EMITS_LATER", 7),
    ("EMITS_FROM_THREAD", 7),
    ("LEAVES_A_THREAD", 8),
    ("LEAVES_A_DESCRIPTOR", 8),
    ("OPENS_A_FILE", 8),
    ("STARTS_A_PROCESS", 8),
    ("OPENS_A_SOCKET", 8),
    ("CHANGES_FOLDER", 9),
    ("CHANGES_FOLDER_WHEN_LOADED", 9),
    ("CHANGES_LOCALE", 9),
    ("CHANGES_ENVIRONMENT", 9),
    ("CHANGES_ROUNDING", 9),
    ("CHANGES_UMASK", 9),
    ("HANDLES_SIGNALS", 9),
    ("COUNTS", 10),
    ("DEPENDS_ON_ADDRESSES", 10),
    ("DEPENDS_ON_THE_TRACK", 10),
    ("DESCRIPTION_CHANGES", 10),
    ("RECURSES", 11),
    ("IGNORES_CANCEL", 12),
    ("ACCEPTS_ALL_PARAMETERS", 13),
    ("NO_POINTER", 13),
    ("FAILS_SILENTLY", 13),
    ("FAILS_TWICE", 13),
    ("FAILS_AND_SUCCEEDS", 13),
    ("WRONG_STATUS", 13),
    ("PRINTS", 14),
    ("INEXACT", 15),
    ("UNDECLARED_COLUMN", 16),
    ("WRONG_TYPE", 16),
    ("UNDECLARED_ANSWER", 16),
    ("UNDECLARED_ARTIFACT", 16),
    ("OPEN_ARTIFACT", 16),
    ("PREPARES_IN_JUDGE", 16),
    ("NO_VERDICT", 16),
    ("MISSING_COLUMN", 16),
];

fn every_broken_plugin_is_found() {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((macro_name, rule)) = BROKEN.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut options = options();
            // What has no end is ended sooner.
            if *macro_name == "IGNORES_CANCEL" {
                options.workers.call = Duration::from_secs(10);
            }
            let report = check(&compile(macro_name), &options);
            println!("  {macro_name}: {:?}", report.broken());
            if !report.broken().contains(rule) {
                let what = format!("{macro_name} breaks rule {rule}; found:\n{}", told(&report));
                missed.lock().expect("no thread panics with it").push(what);
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..std::thread::available_parallelism().map_or(2, |n| n.get().max(2)))
            .map(|_| scope.spawn(work))
            .collect();
        work();
        others.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    });
    let missed = missed.into_inner().expect("no thread panics with it");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

fn registry(library: &Path) -> Registry {
    let search = Search { files: vec![library.to_path_buf()], ..Search::default() };
    Registry::discover(&search).expect("it is found")
}

fn job() -> Job {
    Job::new(Benchmark::new("b", "(check-sat)").expecting(["sat"]))
}

fn a_worker_judges_as_this_process_does() {
    let registry = registry(Path::new(agon_plugin_exit_code::LIBRARY));
    let entry = registry.get("exit-code").expect("it is there");
    let tracks = [Isolation::None, Isolation::All, Isolation::Default].map(|isolation| {
        let hosted = Arc::new(registry.host(entry, isolation, &Workers::new(this())).expect("it is hosted"));
        assert_eq!(hosted.is_isolated(), isolation != Isolation::None);
        hosted.open("{}").expect("it opens")
    });
    for exit in [0, 10, 20] {
        let run = Observation::finished(exit, "x");
        let judgements = tracks.each_ref().map(|t| t.judge(&job(), &run).expect("it judges"));
        assert_eq!(judgements[0], judgements[1]);
        assert_eq!(judgements[0], judgements[2]);
        let last = tracks.each_ref().map(|t| t.conclude(&job(), &run, &judgements[0], &[]).expect("it concludes"));
        assert_eq!(last[0], last[1]);
    }
    let faults = [Isolation::None, Isolation::All].map(|isolation| {
        let hosted = Arc::new(registry.host(entry, isolation, &Workers::new(this())).expect("it is hosted"));
        hosted.open("{\"x\": 1}").expect_err("there is no such parameter")
    });
    assert_eq!(faults[0], faults[1]);
    let Failure::Fault(fault) = &faults[0] else { panic!("{faults:?}") };
    assert_eq!((fault.status, fault.pointer.as_deref()), (Status::BadParameter, Some("/x")));
    // Many threads, each with a worker of its own.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for exit in [0, 10, 20, 30] {
                    tracks[1].judge(&job(), &Observation::finished(exit, "")).expect("it judges");
                }
            });
        }
    });
}

fn isolated(macro_name: &str, workers: &Workers) -> agon_host::Track {
    let registry = registry(&compile(macro_name));
    let entry = registry.get("broken").expect("it is there");
    Arc::new(registry.host(entry, Isolation::Default, workers).expect("it is hosted")).open("{}").expect("it opens")
}

fn a_crash_costs_one_call() {
    let track = isolated("ABORTS", &Workers::new(this()));
    for _ in 0..3 {
        let failure = track.judge(&job(), &Observation::finished(0, "\"")).expect_err("it aborts");
        let Failure::Crashed { signal: Some(6), .. } = &failure else { panic!("{failure:?}") };
        assert_eq!(failure.blame(), Blame::Plugin);
        assert!(failure.to_string().contains("SIGABRT"), "{failure}");
        assert_eq!(track.judge(&job(), &Observation::finished(0, "sat")).expect("it goes on").answer, "sat");
    }
    let track = isolated("EXITS", &Workers::new(this()));
    let failure = track.judge(&job(), &Observation::finished(0, b"\xff")).expect_err("it exits");
    assert!(matches!(failure, Failure::Crashed { exit: Some(0), .. }), "{failure:?}");
    // What is forbidden fails in a worker, and the plugin may go on.
    for forbidden in ["STARTS_A_PROCESS", "CHANGES_FOLDER"] {
        let track = isolated(forbidden, &Workers::new(this()));
        match track.judge(&job(), &Observation::finished(0, "sat")) {
            Ok(judgement) => assert_eq!(judgement.columns["size"].to_string(), "2", "there was no process"),
            Err(Failure::Fault(fault)) => assert_eq!(fault.message, "no folder"),
            Err(other) => panic!("{other}"),
        }
    }
}

fn an_endless_loop_ends_by_its_limit() {
    let workers = Workers { call: Duration::from_millis(400), ..Workers::new(this()) };
    let track = isolated("LOOPS", &workers);
    let failure = track.judge(&job(), &Observation::finished(0, "\"")).expect_err("it has no end");
    assert!(matches!(failure, Failure::Overdue { limit_ns: 400_000_000 }), "{failure:?}");
    assert_eq!(track.judge(&job(), &Observation::finished(0, "sat")).expect("it goes on").answer, "sat");
}

fn a_leak_ends_by_its_limit() {
    // It does not look whether it gets memory: when there is no more, it crashes.
    let workers = Workers { memory_bytes: 512 << 20, growth_bytes: u64::MAX, calls: u32::MAX, ..Workers::new(this()) };
    let track = isolated("LEAKS", &workers);
    for _ in 0..2000 {
        track.judge(&job(), &Observation::finished(0, "sat")).expect("it judges");
    }
    // A worker that has grown is replaced.
    let workers = Workers { growth_bytes: 1 << 20, ..Workers::new(this()) };
    let track = isolated("COUNTS", &workers);
    let first = track.judge(&job(), &Observation::finished(0, "sat")).expect("it judges");
    assert_eq!(first.columns["size"].to_string(), "1");
    let workers = Workers { calls: 3, ..workers };
    let track = isolated("COUNTS", &workers);
    let counts: Vec<String> = (0..6)
        .map(|_| track.judge(&job(), &Observation::finished(0, "sat")).expect("it judges").columns["size"].to_string())
        .collect();
    // To open the track was the first call of three.
    assert_eq!(counts, ["1", "2", "1", "2", "1", "2"]);
}

fn cargo(folder: &Path, command: &[&str]) {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(command)
        .args(["--offline", "--quiet"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn the_template_builds_and_keeps_all_rules() {
    let sdk = agon_host::template::own_sdk().expect("the sources are here");
    let parent = tempfile::tempdir().expect("there is a temporary folder");
    let folder = parent.path().join("new-track");
    agon_host::template::write("new-track", &folder, &sdk).expect("it is written");
    assert!(agon_host::template::write("new-track", &folder, &sdk).expect_err("it is there").0.contains("already"));
    for name in ["", "New", "a/b", "../x", "1a", "a b", "a-"] {
        let refused = agon_host::template::write(name, &parent.path().join("x"), &sdk).expect_err(name);
        assert!(refused.0.contains("no name"), "{refused}");
    }
    let left: Vec<_> =
        std::fs::read_dir(parent.path()).expect("it is there").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["new-track"]);
    cargo(&folder, &["test"]);
    cargo(&folder, &["build"]);
    let library = folder.join("target/debug/libagon_new_track.so");
    let report = check(&library, &options());
    assert!(report.passed(), "{}", told(&report));

    // The same in Rust, broken in four ways that the compiler does not see.
    let source = std::fs::read_to_string(folder.join("src/lib.rs")).expect("it is there");
    let at = "        let condition = Condition::of(run);\n";
    for (change, rule) in [
        ("let _ = std::str::from_utf8(run.stdout.unwrap_or(Reader::EMPTY).whole().unwrap_or_default()).unwrap();", 5),
        (
            "let set: std::collections::HashSet<u32> = (0..40).collect(); out.number(\"answer_at\", i64::from(*set.iter().next().unwrap()))?;",
            10,
        ),
        (
            "fn level(n: u64) -> u64 { if n == 0 { 0 } else { std::hint::black_box(level(n - 1)) + 1 } } level(run.stdout.unwrap_or(Reader::EMPTY).size().unwrap_or(0));",
            11,
        ),
        ("println!(\"judging\");", 14),
    ] {
        assert_eq!(source.matches(at).count(), 1);
        std::fs::write(folder.join("src/lib.rs"), source.replace(at, &format!("{at}{change}\n"))).expect("it is ours");
        cargo(&folder, &["build"]);
        let report = check(&library, &options());
        assert!(report.broken().contains(&rule), "{change} breaks rule {rule}; found:\n{}", told(&report));
    }
}

/// Gigabytes that nobody has.
struct Long(u64);

impl ReadAt for Long {
    fn size(&self) -> Option<u64> {
        Some(self.0)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = usize::try_from(self.0.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        buffer[..n].fill(b's');
        Ok(n)
    }
}

fn large_inputs_reach_a_worker_in_parts() {
    let workers = Workers { memory_bytes: 512 << 20, ..Workers::new(this()) };
    let track = isolated("IGNORES_CANCEL", &workers);
    let stdout = Some(Output { source: Source::Reader(Arc::new(Long(1 << 30))), truncated: false });
    let run = Observation { stdout, ..Observation::finished(0, "") };
    assert_eq!(track.judge(&job(), &run).expect("it reads all").answer, "sat");
}
