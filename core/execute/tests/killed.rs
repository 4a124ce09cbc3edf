//! What is left when the runner is killed.

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agon_execute::{CancelToken, Runner};
use common::{Kind, machine, patience, processes_with, torture};

/// Waits until something is so; for a few seconds.
fn soon(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < patience() * 10, "{what}; {}", all_processes());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn all_processes() -> String {
    let output = Command::new("ps").args(["axo", "pid,ppid,stat,wchan:20,args"]).output();
    output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn groups(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path().join("groups")) {
            found.extend(text.lines().map(str::to_string));
        }
    }
    found
}

/// The runner that is killed; started by the test below.
#[test]
#[ignore = "started by another test, which kills it"]
fn victim() {
    // Alone, without the test that starts it, there is nothing to do.
    let Some(scratch) = std::env::var_os("AGON_TEST_SCRATCH") else { return };
    let mark = std::env::var("AGON_TEST_KEY").expect("started by another test");
    let kind =
        common::KINDS.into_iter().find(|kind| format!("{kind:?}") == std::env::var("AGON_TEST_KIND").unwrap()).unwrap();
    let runner = Runner::new(machine(), kind.options(scratch.into())).unwrap();
    std::thread::scope(|scope| {
        for arguments in [&["setsid"][..], &["daemon"], &["stubborn"]] {
            let mut job = torture(arguments);
            job.environment.push(("MARK".into(), mark.clone().into()));
            job.limits.wall = Some(Duration::from_secs(100));
            let runner = &runner;
            scope.spawn(move || {
                loop {
                    runner.run(&job, &CancelToken::new().unwrap()).unwrap();
                }
            });
        }
    });
}

#[test]
fn runs_die_with_their_runner() {
    // Where a version of control groups is expected, only what depends on it is of interest.
    let kinds = if std::env::var_os("AGON_EXPECT_GROUPS").is_some() { &common::KINDS[..1] } else { &common::KINDS[..] };
    for &kind in kinds {
        let folder = tempfile::tempdir().unwrap();
        let scratch = folder.path().join("scratch");
        let mark = format!("{}-{kind:?}", std::process::id());
        for delay in [0, 3, 40] {
            let mut victim = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "victim", "--ignored"])
                .env("AGON_TEST_SCRATCH", &scratch)
                .env("AGON_TEST_KEY", &mark)
                .env("AGON_TEST_KIND", format!("{kind:?}"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let value = format!("MARK={mark}");
            soon("the victim runs something", || !processes_with(&value).is_empty());
            std::thread::sleep(Duration::from_millis(delay));
            victim.kill().unwrap();
            victim.wait().unwrap();
            soon(&format!("{kind:?}: all processes of the runs are gone"), || processes_with(&value).is_empty());
        }
        let left = groups(&scratch);
        assert_eq!(left.is_empty(), matches!(kind, Kind::NoGroups | Kind::NoPid | Kind::Bare));
        // The next runner removes what the killed ones left, and no more.
        let next = Runner::new(machine(), kind.options(scratch.clone())).unwrap();
        for group in left {
            assert!(!std::path::Path::new(&group).exists(), "{kind:?}: {group} is left");
        }
        let folders = std::fs::read_dir(&scratch).unwrap().flatten();
        assert_eq!(folders.filter(|entry| entry.path().is_dir()).count(), 1);
        drop(next);
        let folders = std::fs::read_dir(&scratch).unwrap().flatten();
        assert_eq!(folders.filter(|entry| entry.path().is_dir()).count(), 0);
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn under_control_groups_of_version_2() {
    common::under_version_2(&["runs_die_with_their_runner"]);
}
