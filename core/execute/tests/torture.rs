//! Programs that misbehave. Each is ended within its limit and half a second, nothing of it is left, what is
//! said of it is right, and a run beside it is not disturbed.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use agon_execute::{CancelToken, Job, Limit, Observation};
use common::{Bench, Kind, left_in, patience, processes_with, shell, text, torture, wall};

/// A torture: its arguments, what changes in the job, and what is to be seen.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
    limit: Option<Limit>,
    check: fn(&Observation),
}

fn nothing(_: &Observation) {}

fn ends_itself(seen: &Observation) {
    assert_eq!(seen.exit, Some(0), "{seen:?}");
}

const fn case(
    name: &'static str,
    arguments: &'static [&'static str],
    limit: Option<Limit>,
    check: fn(&Observation),
) -> Case {
    Case { name, arguments, limit, check }
}

const CASES: &[Case] = &[
    case("double-fork daemon", &["daemon"], None, |seen| {
        ends_itself(seen);
        assert!(seen.stragglers);
        assert_eq!(text(&seen.stdout), "sat\n");
    }),
    case("setsid escape", &["setsid"], Some(Limit::Wall), nothing),
    case("ignores all signals", &["stubborn"], Some(Limit::Wall), |seen| {
        assert_eq!(seen.signal, Some(9));
    }),
    case("100 GB allocator", &["allocate"], Some(Limit::Memory), nothing),
    case("map and touch", &["map"], Some(Limit::Memory), nothing),
    case("flood of output", &["flood"], Some(Limit::Output), |seen| {
        assert_eq!(seen.stdout.len(), 2 << 20);
        assert!(seen.stdout.is_truncated());
        assert!(seen.stdout.bytes().unwrap().iter().all(|&byte| byte == b'x'));
    }),
    case("flood of both streams", &["flood", "1"], Some(Limit::Output), |seen| {
        assert_eq!(seen.stdout.len() + seen.stderr.len(), 2 << 20);
    }),
    case("no newline", &["no-newline"], None, |seen| {
        assert_eq!(text(&seen.stdout), "unsat");
    }),
    case("closed streams, stays", &["closed"], Some(Limit::Wall), nothing),
    case("closed streams, ends", &["closed-quick"], None, |seen| {
        assert_eq!(seen.exit, Some(7));
    }),
    case("stderr only", &["stderr"], None, |seen| {
        assert_eq!(text(&seen.stdout), "");
        assert_eq!(text(&seen.stderr), "sat\n");
    }),
    case("zombie maker", &["zombies"], Some(Limit::Wall), |seen| {
        assert_eq!(text(&seen.stdout), "made\n");
    }),
    case("disk filler", &["disk"], Some(Limit::Disk), nothing),
    case("stopped children", &["stopped"], Some(Limit::Wall), nothing),
    case("binary garbage", &["binary"], None, |seen| {
        let bytes = seen.stdout.bytes().unwrap();
        assert_eq!(bytes.len(), 256_000);
        assert!(bytes.iter().enumerate().all(|(i, &byte)| byte == (i & 255) as u8));
    }),
    case("a line of 1 MB", &["long-line"], None, |seen| {
        assert_eq!(seen.stdout.len(), (1 << 20) + 1);
        assert!(!seen.stdout.is_truncated());
    }),
    case("hostile tree", &["hostile-tree"], None, ends_itself),
];

/// Runs a job with another beside it, and checks what must hold for all.
fn run_beside(bench: &Bench, name: &str, mut job: Job, within: f64) -> Observation {
    let mark = format!("AGON_TEST_MARK={}-{:?}-{name}", std::process::id(), bench.kind);
    let (key, value) = mark.split_once('=').unwrap();
    job.environment.push((key.into(), value.into()));
    let seen = std::thread::scope(|scope| {
        let neighbour = scope.spawn(|| {
            let mut job = shell("echo a; sleep 0.4; cat note; echo b");
            job.files.push(agon_execute::JobFile {
                name: "note".into(),
                content: agon_execute::FileContent::Bytes(b"mine\n".to_vec()),
            });
            bench.run(&job)
        });
        let start = Instant::now();
        let seen = bench.run(&job);
        let took = start.elapsed();
        let allowed = Duration::from_secs_f64(within) + patience();
        assert!(took <= allowed, "{name}: took {took:?}, allowed {allowed:?}");
        let neighbour = neighbour.join().unwrap();
        assert_eq!(neighbour.exit, Some(0), "{name}: {neighbour:?}");
        assert_eq!(neighbour.limit, None, "{name}");
        assert_eq!(text(&neighbour.stdout), "a\nmine\nb\n", "{name}");
        seen
    });
    assert_eq!(processes_with(&mark), [] as [String; 0], "{name}: processes are left");
    let scratch = bench.folder.path().join("scratch");
    for path in left_in(&scratch) {
        let inside = path.to_string_lossy().contains("/box/");
        assert!(!inside, "{name}: {} is left", path.display());
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains("agon"), "{name}: a mount is left");
    seen
}

fn all_cases(kind: Kind) {
    let bench = Bench::new(kind);
    for case in CASES {
        let mut job = torture(case.arguments);
        let mut within = wall();
        if within > 1.0 && !matches!(case.limit, None | Some(Limit::Wall)) {
            // Where everything is slow, passing another limit takes its time.
            within = 30.0;
            job.limits.wall = Some(Duration::from_secs(30));
        }
        let seen = run_beside(&bench, case.name, job, within);
        assert_eq!(seen.limit, case.limit, "{kind:?} {}: {seen:?}", case.name);
        (case.check)(&seen);
        if let Some(limit) = seen.limit {
            assert_ne!(limit, Limit::Cpu);
        }
        if seen.limit == Some(Limit::Wall) {
            assert!(seen.wall_ns >= 1_000_000_000 * wall() as u64, "{}", case.name);
        }
    }
    fork_bomb(&bench);
    one_file(&bench);
    many_files(&bench);
    cpu_limit(&bench);
}

fn fork_bomb(bench: &Bench) {
    // Where nothing bounds the processes at once, the bomb bounds itself a little above the limit.
    let bounded = bench.kind != Kind::Best && bench.kind != Kind::Disk;
    let job = torture(if bounded { &["fork-bomb", "120"] } else { &["fork-bomb"] });
    let seen = run_beside(bench, "fork bomb", job, wall());
    assert_eq!(seen.limit, Some(Limit::Processes), "{:?} {seen:?}", bench.kind);
}

fn one_file(bench: &Bench) {
    let mut job = torture(&["one-file"]);
    job.limits.file_size = Some(1 << 20);
    let seen = run_beside(bench, "file size", job, wall());
    assert_eq!(seen.limit, Some(Limit::Disk));
    assert_eq!(seen.signal, Some(25));
}

fn many_files(bench: &Bench) {
    let mut job = torture(&["many-files"]);
    job.limits.disk = Some(1 << 20);
    job.limits.wall = Some(Duration::from_secs(20));
    let seen = run_beside(bench, "many files", job, 20.0);
    assert_eq!(seen.limit, Some(Limit::Disk), "{:?} {seen:?}", bench.kind);
}

fn cpu_limit(bench: &Bench) {
    let mut job = torture(&["setsid"]);
    job.limits.wall = Some(Duration::from_secs(20));
    job.limits.cpu = Some(Duration::from_millis(400));
    let seen = run_beside(bench, "CPU limit", job, 5.0);
    assert_eq!(seen.limit, Some(Limit::Cpu), "{:?} {seen:?}", bench.kind);
    assert!(seen.cpu_ns >= 350_000_000, "{seen:?}");
}

#[test]
fn with_all_that_the_machine_has() {
    all_cases(Kind::Best);
}

#[test]
fn with_working_folders_on_disk() {
    all_cases(Kind::Disk);
}

#[test]
fn without_control_groups() {
    all_cases(Kind::NoGroups);
}

#[test]
fn without_control_groups_and_pid_namespaces() {
    all_cases(Kind::NoPid);
}

#[test]
fn with_nothing_but_processes() {
    all_cases(Kind::Bare);
}

/// What only isolation can prevent, where there is isolation.
fn attacks(kind: Kind) {
    let bench = Bench::new(kind);
    let secret = bench.folder.path().join("secret");
    std::fs::write(&secret, "the others' results").unwrap();

    // The network: a listener of this machine hears nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let name = format!("agon-test-{}-{kind:?}", std::process::id());
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name).unwrap();
    let local = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    local.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let seen = run_beside(&bench, "network", torture(&["connect", &port, &name]), wall());
    assert_eq!(text(&seen.stdout), "0\n", "{kind:?}");
    assert!(listener.accept().is_err());
    assert!(local.accept().is_err());

    // Other runs' files, the home of the user, what is not this run's business.
    let script = format!(
        "cat {0} 2>/dev/null && echo READ; ls {1} 2>/dev/null && echo LISTED; \
         for f in /root /home /etc/shadow /sys/fs/cgroup /proc/1/root/root /proc/1/cwd/. /proc/1/environ; do \
         [ -e $f ] && ls $f/* >/dev/null 2>&1 && echo SEES $f; done; true",
        secret.display(),
        bench.folder.path().join("scratch").display()
    );
    let seen = run_beside(&bench, "reader", shell(&script), 10.0);
    assert_eq!(text(&seen.stdout), "", "{kind:?}");

    // Writing anywhere but into the working folder.
    let script = "for d in / /usr /usr/bin /etc /proc /proc/sys/kernel /opt /run /run/agon /run/agon/files /dev; do \
                  (echo x >$d/agon-test-x) 2>/dev/null && echo WROTE $d; done; \
                  echo x >/tmp/here && echo x >$HOME/there && echo x >$TMPDIR/tmp && ls | tr '\\n' ' '; \
                  (echo 1 >/proc/sys/kernel/pid_max) 2>/dev/null && echo SYSCTL; pwd";
    let seen = run_beside(&bench, "writer", shell(script), 10.0);
    assert_eq!(text(&seen.stdout), "here there tmp /run/agon/work\n", "{kind:?}");
    assert!(!Path::new("/tmp/here").exists());
    // Nothing of it is there for the next run.
    let seen = run_beside(&bench, "next", shell("ls -A /tmp $HOME"), 10.0);
    assert!(!text(&seen.stdout).contains("here"), "{kind:?}");

    // No capability, no way to get one, a name and a user of its own.
    let seen = run_beside(
        &bench,
        "rights",
        shell(
            "grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status; id -u; hostname; unshare -Ur true 2>/dev/null && echo NEST",
        ),
        10.0,
    );
    assert_eq!(
        text(&seen.stdout),
        "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n\
         CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n1000\nagon\n",
        "{kind:?}"
    );

    // Key rings and shared memory would outlive the run.
    let seen = run_beside(&bench, "keys", torture(&["keys"]), wall());
    assert_eq!(text(&seen.stdout), "0\n");
    run_beside(&bench, "leave shared memory", shell("ipcmk -M 1000 >/dev/null; echo x >/dev/shm/agon-x"), 10.0);
    let seen = run_beside(&bench, "find shared memory", shell("ipcs -m | grep -c 1000; ls /dev/shm"), 10.0);
    assert_eq!(text(&seen.stdout), "0\n", "{kind:?}");

    // Descriptors of the runner.
    let seen = run_beside(&bench, "descriptors", shell("ls /proc/self/fd | wc -l"), 10.0);
    assert_eq!(text(&seen.stdout), "4\n", "{kind:?}");
}

#[test]
fn attacks_with_all_that_the_machine_has() {
    attacks(Kind::Best);
}

#[test]
fn attacks_with_working_folders_on_disk() {
    attacks(Kind::Disk);
}

#[test]
fn attacks_on_other_processes() {
    let bench = Bench::new(Kind::Best);
    let mut job = torture(&["attack"]);
    job.limits.wall = Some(Duration::from_secs(20));
    let seen = run_beside(&bench, "attack", job, 20.0);
    assert_eq!(text(&seen.stdout), "0\n", "{seen:?}");
}

#[test]
fn a_benchmark_cannot_be_changed_through_standard_input() {
    let bench = Bench::new(Kind::Best);
    let file = bench.folder.path().join("benchmark.smt2");
    std::fs::write(&file, "(check-sat)\n").unwrap();
    let mut job = shell("cat; echo bad >/proc/self/fd/0; echo bad >>given; rm -f given; echo $?");
    job.stdin = agon_execute::Stdin::File(file.clone());
    job.files
        .push(agon_execute::JobFile { name: "given".into(), content: agon_execute::FileContent::Path(file.clone()) });
    let seen = bench.run(&job);
    assert_eq!(text(&seen.stdout), "(check-sat)\n0\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "(check-sat)\n");
}

#[test]
fn a_run_can_be_called_off() {
    for kind in common::KINDS {
        let bench = Bench::new(kind);
        let cancel = CancelToken::new().unwrap();
        let start = Instant::now();
        let fault = std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                let mut job = torture(&["setsid"]);
                job.limits.wall = Some(Duration::from_secs(60));
                bench.runner.run(&job, &cancel)
            });
            std::thread::sleep(Duration::from_millis(200));
            cancel.cancel();
            run.join().unwrap().unwrap_err()
        });
        assert!(matches!(fault, agon_execute::Fault::Cancelled), "{fault}");
        assert!(start.elapsed() < Duration::from_millis(200) + patience() * 2);
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn under_control_groups_of_version_2() {
    common::under_version_2(&[
        "with_all_that_the_machine_has",
        "with_working_folders_on_disk",
        "attacks",
        "a_benchmark",
        "a_run",
        "a_sandbox_process",
        "memory_that",
    ]);
}

#[test]
fn memory_that_runs_out_in_a_child_ends_the_whole_run() {
    let bench = Bench::new(Kind::Best);
    let folder = common::torture_folder();
    let mut job = shell(&format!("{0}/torture allocate & wait $!; echo went on; exit 0", folder.display()));
    job.readable = vec![folder.to_path_buf()];
    job.limits.memory = Some(48 << 20);
    job.limits.wall = Some(Duration::from_secs(30));
    let seen = bench.run(&job);
    assert_eq!(seen.limit, Some(Limit::Memory), "{seen:?}");
    // So does a working folder in memory that outgrows it.
    job = shell("head -c 100000000 /dev/zero >file; echo went on");
    job.limits.memory = Some(48 << 20);
    for _ in 0..10 {
        let seen = bench.run(&job);
        assert_eq!(seen.limit, Some(Limit::Memory), "{seen:?}");
    }
    // The next run has its memory to itself.
    let mut job = torture(&["touch", "30"]);
    job.limits.wall = Some(Duration::from_secs(30));
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(0), None), "{seen:?}");
}

#[test]
fn output_up_to_the_limit_is_not_over_it() {
    let bench = Bench::new(Kind::Best);
    for (bytes, limit) in [(1_000_000, None), (1_000_001, Some(Limit::Output))] {
        let mut job = shell(&format!("head -c {bytes} /dev/zero; echo x >&2"));
        job.limits.output = Some(1_000_002);
        let seen = bench.run(&job);
        assert_eq!(seen.limit, limit, "{seen:?}");
        assert_eq!(seen.stdout.is_truncated() || seen.stderr.is_truncated(), limit.is_some());
    }
}

#[test]
fn a_sandbox_process_that_is_killed_takes_its_run_along() {
    let bench = Bench::new(Kind::Best);
    let mut job = torture(&["stubborn"]);
    job.limits.wall = Some(Duration::from_secs(60));
    let mark = format!("{}-sandbox-killed", std::process::id());
    job.environment.push(("MARK".into(), mark.clone().into()));
    let value = format!("MARK={mark}");
    let fault = std::thread::scope(|scope| {
        let run = scope.spawn(|| bench.runner.run(&job, &CancelToken::new().unwrap()));
        let program = loop {
            if let Some(pid) = processes_with(&value).pop() {
                break pid;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        // The program's parent is the run's first process, and that one's is the sandbox process.
        let parent = |pid: &str| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
            line.trim().to_string()
        };
        let sandbox = parent(&parent(&program));
        let name = std::fs::read_to_string(format!("/proc/{sandbox}/comm")).unwrap();
        assert_eq!(name, "agon-sandbox\n");
        let pid = rustix::process::Pid::from_raw(sandbox.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        run.join().unwrap().unwrap_err()
    });
    assert!(matches!(fault, agon_execute::Fault::Helper { .. }), "{fault}");
    let start = Instant::now();
    while !processes_with(&value).is_empty() {
        assert!(start.elapsed() < patience() * 4, "the run goes on");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(bench.run(&shell("exit 6")).exit, Some(6));
}
