//! Measurements against others: the times a program takes itself, and the kernel's own account of a single
//! process (what `/usr/bin/time` shows).

mod common;

use common::{Bench, Kind, shell, text, torture};
use std::os::unix::process::ExitStatusExt;

/// CPU time is right within 1 % and 5 ms.
fn cpu_is(seen: u64, expected_ms: u64, what: &str) {
    let expected = expected_ms as f64 * 1e6;
    let error = (seen as f64 - expected).abs();
    assert!(error <= expected * 0.01 + 5e6, "{what}: {seen} ns, expected {expected_ms} ms");
}

fn burn(bench: &Bench, arguments: &[&str], expected_ms: u64) {
    let mut job = torture(arguments);
    job.limits.wall = Some(std::time::Duration::from_secs(60));
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(0), None), "{seen:?}");
    cpu_is(seen.cpu_ns, expected_ms, arguments[0]);
    assert_eq!(seen.cpu_ns, seen.cpu_user_ns + seen.cpu_system_ns);
    assert!(seen.wall_ns > 0);
}

#[test]
fn cpu_time_of_a_process() {
    for kind in [Kind::Best, Kind::Disk, Kind::NoGroups, Kind::Bare] {
        let bench = Bench::new(kind);
        burn(&bench, &["burn", "1000"], 1000);
        burn(&bench, &["burn-system", "600"], 600);
        burn(&bench, &["burn", "0"], 0);
    }
}

#[test]
fn cpu_time_of_a_tree() {
    let bench = Bench::new(Kind::Best);
    // Of a child, of a grandchild waited for by its parent, and of one nobody waits for.
    burn(&bench, &["burn-tree", "300"], 900);
}

#[test]
fn cpu_time_is_that_of_the_run_only() {
    // A slot is used again; what went before is not counted.
    let bench = Bench::new(Kind::Best);
    for _ in 0..20 {
        burn(&bench, &["burn", "20"], 20);
    }
}

/// Bytes of the largest resident set of a program run without a sandbox.
fn resident(program: &std::path::Path, arguments: &[&str]) -> u64 {
    let output = std::process::Command::new("/usr/bin/env")
        .args(["python3", "-c", "import os,sys,resource\np=os.fork()\nif p==0: os.execv(sys.argv[1], sys.argv[1:])\nos.wait()\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"])
        .arg(program)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.signal().is_none());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().last().unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn peak_memory_of_a_process() {
    for kind in [Kind::Best, Kind::NoGroups, Kind::Bare] {
        let bench = Bench::new(kind);
        for size in ["50", "200", "700"] {
            let mut job = torture(&["touch", size]);
            job.limits.wall = Some(std::time::Duration::from_secs(60));
            job.limits.memory = Some(1 << 30);
            let seen = bench.run(&job);
            assert_eq!((seen.exit, seen.limit), (Some(0), None), "{seen:?}");
            let expected = resident(&job.program, &["touch", size]) as f64;
            let error = (seen.peak_memory as f64 - expected).abs();
            assert!(error <= expected * 0.02, "{kind:?} {size}: {seen:?}, alone {expected}");
        }
    }
}

#[test]
fn peak_memory_of_a_tree_is_that_of_all_together() {
    let bench = Bench::new(Kind::Best);
    let mut job = torture(&["memory-tree", "400"]);
    job.limits.wall = Some(std::time::Duration::from_secs(60));
    job.limits.memory = Some(1 << 30);
    let seen = bench.run(&job);
    let expected = 400.0 * 1048576.0;
    let error = (seen.peak_memory as f64 - expected).abs();
    assert!(error <= expected * 0.02, "{seen:?}");
}

#[test]
fn files_that_are_read_are_not_memory() {
    let bench = Bench::new(Kind::Best);
    let file = bench.folder.path().join("large");
    std::fs::write(&file, vec![b'x'; 150 << 20]).unwrap();
    let mut job = shell(&format!("cat {} >/dev/null; echo read", file.display()));
    job.readable = vec![file.clone()];
    job.limits.wall = Some(std::time::Duration::from_secs(60));
    // Not all of it fits at once: the cache makes room, and the run is not blamed.
    job.limits.memory = Some(64 << 20);
    let evict = || {
        let opened = std::fs::File::open(&file).unwrap();
        opened.sync_all().unwrap();
        rustix::fs::fadvise(&opened, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    };
    evict();
    let seen = bench.run(&job);
    assert_eq!((text(&seen.stdout).as_str(), seen.limit), ("read\n", None), "{seen:?}");
    job.limits.memory = Some(1 << 30);
    evict();
    let seen = bench.run(&job);
    assert_eq!(seen.limit, None);
    assert!(seen.memory.group_peak.unwrap() > 100 << 20, "{seen:?}");
    assert!(seen.peak_memory < 8 << 20, "{seen:?}");
}

#[test]
fn a_working_folder_in_memory_is_memory() {
    let bench = Bench::new(Kind::Best);
    let job = shell("head -c 30000000 /dev/zero >file; rm file");
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(0), None), "{seen:?}");
    assert!(seen.peak_memory > 29_000_000 && seen.peak_memory < 36_000_000, "{seen:?}");
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn under_control_groups_of_version_2() {
    // CPU time is counted in ticks of 10 ms there, and files are in memory anyway.
    common::under_version_2(&["peak_memory_of_a_tree", "a_working_folder"]);
}
