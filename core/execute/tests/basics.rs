//! What a run can do, sees and gets, with the isolation this machine has and with less.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use agon_execute::{CancelToken, Fault, FileContent, Job, JobFile, Stdin};
use common::{Bench, KINDS, Kind, machine, shell, text};

#[test]
fn a_program_runs() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let seen = bench.run(&shell("echo out; echo err >&2; exit 3"));
        assert_eq!(seen.exit, Some(3), "{kind:?} {seen:?}");
        assert_eq!(text(&seen.stdout), "out\n");
        assert_eq!(text(&seen.stderr), "err\n");
        assert_eq!(seen.limit, None);
    }
}

#[test]
fn a_program_gets_what_the_job_says_and_nothing_else() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let mut job = shell("env | grep -v ^PWD= | sort; cat; cat given; echo $0 $1");
        job.arguments.push("zero".into());
        job.arguments.push("a b".into());
        job.environment = vec![("STAREXEC_CPU_LIMIT".into(), "1200".into()), ("HOME".into(), "/nowhere".into())];
        job.stdin = Stdin::Bytes(b"(check-sat)\n".to_vec());
        job.files = vec![JobFile { name: "given".into(), content: FileContent::Bytes(b"text\n".to_vec()) }];
        let seen = bench.run(&job);
        let out = text(&seen.stdout);
        let work = if kind.isolated() {
            "/run/agon/work".to_string()
        } else {
            out.lines().find_map(|line| line.strip_prefix("TMPDIR=")).unwrap().to_string()
        };
        assert_eq!(
            out,
            format!(
                "HOME=/nowhere\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nSTAREXEC_CPU_LIMIT=1200\n\
                 TMPDIR={work}\n(check-sat)\ntext\nzero a b\n"
            ),
            "{kind:?}"
        );
    }
}

#[test]
fn standard_input_comes_from_a_file_or_nowhere() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let file = bench.folder.path().join("benchmark");
        std::fs::write(&file, "p cnf 0 0\n").unwrap();
        let mut job = shell("cat; echo end");
        assert_eq!(text(&bench.run(&job).stdout), "end\n");
        job.stdin = Stdin::File(file.clone());
        assert_eq!(text(&bench.run(&job).stdout), "p cnf 0 0\nend\n", "{kind:?}");
        job.readable = vec![bench.folder.path().to_path_buf()];
        assert_eq!(text(&bench.run(&job).stdout), "p cnf 0 0\nend\n", "{kind:?}");
    }
}

#[test]
fn large_input_and_output_go_through() {
    let bench = Bench::new(Kind::Best);
    let mut job = shell("cat; cat <&0 >&2; head -c 20000000 /dev/zero >&2");
    let input: Vec<u8> = (0..30_000_000_u32).map(|i| (i % 251) as u8).collect();
    job.stdin = Stdin::Bytes(input.clone());
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(0), None), "{seen:?}");
    assert!(seen.stdout.bytes().unwrap() == input);
    assert_eq!(seen.stderr.len(), 20_000_000);
}

#[test]
fn what_cannot_be_executed_is_not_the_programs_fault() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let cancel = CancelToken::new().unwrap();
        let script = bench.folder.path().join("script");
        std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
        let plain = bench.folder.path().join("plain");
        std::fs::write(&plain, "text").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        for (program, code) in [
            (Path::new("/no/such/program"), libc::ENOENT),
            (Path::new("no-such-program"), libc::ENOENT),
            (&script, libc::ENOENT),
            (&plain, libc::EACCES),
        ] {
            let fault = bench.runner.run(&Job::new(program), &cancel).unwrap_err();
            let Fault::Exec { path, source } = &fault else {
                panic!("{fault}");
            };
            assert_eq!(path, program);
            assert!(source.raw_os_error() == Some(code) || source.kind() == std::io::ErrorKind::NotFound, "{fault}");
            assert!(fault.to_string().contains(&*program.to_string_lossy()));
        }
        let mut job = shell("true");
        job.readable = vec!["/no/such/folder".into()];
        if kind.isolated() {
            assert!(matches!(bench.runner.run(&job, &cancel), Err(Fault::Job(_))));
        }
        job.readable.clear();
        job.arguments.push("a\0b".into());
        assert!(matches!(bench.runner.run(&job, &cancel), Err(Fault::Job(_))));
        // A fault leaves the runner usable.
        assert_eq!(bench.run(&shell("exit 5")).exit, Some(5));
    }
}

#[test]
fn a_program_is_found_on_the_path_and_at_the_end_of_links() {
    let bench = Bench::new(Kind::Best);
    let mut job = Job::new("echo");
    job.arguments = vec!["found".into()];
    assert_eq!(text(&bench.run(&job).stdout), "found\n");
    let link = bench.folder.path().join("link");
    std::os::unix::fs::symlink("/bin/echo", &link).unwrap();
    job.program = link;
    assert_eq!(text(&bench.run(&job).stdout), "found\n");
}

#[test]
fn a_run_stays_on_its_cores() {
    let bench = Bench::new(Kind::Best);
    for core in &machine().cores {
        let mut job = shell(
            "grep Cpus_allowed_list /proc/self/status; taskset -pc 0-63 $$ >/dev/null 2>&1; grep Cpus_allowed_list /proc/self/status",
        );
        job.cpus = vec![core.cpu];
        let seen = bench.run(&job);
        let lines: Vec<String> = text(&seen.stdout).lines().map(str::to_string).collect();
        assert_eq!(lines[0], format!("Cpus_allowed_list:\t{}", core.cpu));
        if seen.mechanisms.pinning == "cpuset" {
            assert_eq!(lines[1], lines[0]);
        }
        // The next run has all cores again if it asks for none.
        let seen = bench.run(&shell("nproc"));
        assert_eq!(text(&seen.stdout), format!("{}\n", machine().cores.len()));
        assert_eq!(seen.mechanisms.pinning, "none");
    }
}

#[test]
fn signals_and_codes_are_told_apart() {
    let bench = Bench::new(Kind::Best);
    let seen = bench.run(&shell("kill -SEGV $$"));
    assert_eq!((seen.exit, seen.signal, seen.limit), (None, Some(11), None));
    let seen = bench.run(&shell("exit 137"));
    assert_eq!((seen.exit, seen.signal, seen.limit), (Some(137), None, None));
    let seen = bench.run(&shell("kill -ABRT $$"));
    assert_eq!(seen.signal, Some(6));
}

#[test]
fn runs_at_the_same_time_do_not_mix() {
    let bench = Bench::new(Kind::Best);
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let bench = &bench;
            scope.spawn(move || {
                for run in 0..10 {
                    let seen = bench.run(&shell(&format!("echo {thread} {run} >mine; ls; cat mine; exit {run}")));
                    assert_eq!(text(&seen.stdout), format!("mine\n{thread} {run}\n"));
                    assert_eq!(seen.exit, Some(run));
                }
            });
        }
    });
}

#[test]
fn many_runs_leave_nothing_in_the_runner() {
    let bench = Bench::new(Kind::Best);
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let job = shell("echo $$");
    bench.run(&job);
    let before = open();
    for _ in 0..200 {
        // Also the pid is that of a fresh namespace.
        assert_eq!(text(&bench.run(&job).stdout), "2\n");
    }
    // Descriptors of finished runs are closed beside the work.
    let start = std::time::Instant::now();
    while open() > before + 2 {
        assert!(start.elapsed().as_secs() < 5, "{} of {before}", open());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn the_kernels_settings_are_out_of_reach() {
    // With a /proc of its own and with that of the host; a setting is written as it is, so no harm is done.
    for kind in [Kind::Best, Kind::NoPid] {
        let bench = Bench::new(kind);
        let script = "cat /proc/self/oom_score_adj; f=/proc/sys/kernel/threads-max; v=$(cat $f); \
                      (echo $v >$f) 2>/dev/null && echo WROTE; \
                      (echo 5 >/proc/self/oom_score_adj) 2>/dev/null && echo WROTE; true";
        assert_eq!(text(&bench.run(&shell(script)).stdout), "1000\n", "{kind:?}");
    }
}
