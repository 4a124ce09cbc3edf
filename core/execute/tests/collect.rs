//! Files that a run leaves: what is kept of them, and what never is.

mod common;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use agon_execute::{CancelToken, Fault, FileContent, Job, JobFile, Limit, Observation};
use common::{Bench, KINDS, Kind, shell, torture};

fn collecting(script: &str, names: &[&str]) -> Job {
    let mut job = shell(script);
    job.collect = names.iter().map(OsString::from).collect();
    job
}

/// Name, bytes and whether there was more, of each file.
fn files(seen: &Observation) -> Vec<(String, Vec<u8>, bool)> {
    let files = seen.collected.iter();
    files
        .map(|(name, file)| {
            let bytes = file.bytes().expect("it can be read back");
            assert_eq!(bytes.len() as u64, file.len());
            (name.to_string_lossy().into_owned(), bytes, file.is_truncated())
        })
        .collect()
}

fn whole(name: &str, bytes: &[u8]) -> (String, Vec<u8>, bool) {
    (name.to_string(), bytes.to_vec(), false)
}

#[test]
fn regular_files_are_kept_and_missing_ones_are_not() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let names = ["proof", "./a/b/c", "none", "a/none", "proof/below", "empty"];
        let mut job =
            collecting("printf 'd 1 0\\n0\\n' >proof; mkdir -p a/b; echo x >a/b/c; : >empty; exit 20", &names);
        let odd = OsString::from_vec(b"\xff\n ".to_vec());
        job.collect.push(odd.clone());
        let seen = bench.run(&job);
        assert_eq!((seen.exit, seen.limit), (Some(20), None), "{kind:?}");
        let expected = [whole("proof", b"d 1 0\n0\n"), whole("./a/b/c", b"x\n"), whole("empty", b"")];
        assert_eq!(files(&seen), expected, "{kind:?}");
        // A name that is no text.
        job.arguments[1] = "printf x >\"$(printf '\\377\\n ')\"".into();
        let seen = bench.run(&job);
        assert_eq!(seen.collected.len(), 1, "{kind:?} {seen:?}");
        assert_eq!((&seen.collected[0].0, seen.collected[0].1.len()), (&odd, 1));
        // The next run of the same sandbox has none of it, and nothing is collected that is not asked for.
        assert_eq!(files(&bench.run(&collecting("", &["proof", "empty"]))), [], "{kind:?}");
        assert_eq!(files(&bench.run(&shell("echo x >proof"))), [], "{kind:?}");
    }
}

#[test]
fn nothing_but_regular_files_and_nothing_outside() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let outside = bench.folder.path().join("secret");
        std::fs::write(&outside, "secret").expect("the file can be written");
        let script = format!(
            "ln -s /etc/passwd passwd; ln -s {} secret; ln -s {} out; ln -s real link; mkdir folder in; ln -s ../in in/up; \
             echo y >in/y; mkfifo fifo; ln -s loop loop; ln -s . here; echo x >real; echo z >closed; chmod 0 closed; \
             mkdir shut; echo w >shut/w; chmod 0 shut",
            outside.display(),
            bench.folder.path().display()
        );
        let names = [
            "passwd",
            "secret",
            "out/secret",
            "link",
            "folder",
            "fifo",
            "fifo/x",
            "loop",
            "here/real",
            "in/up/y",
            "in/y",
            "real",
        ];
        let seen = bench.run(&collecting(&script, &names));
        assert_eq!((seen.exit, seen.limit), (Some(0), None), "{kind:?} {seen:?}");
        assert_eq!(files(&seen), [whole("in/y", b"y\n"), whole("real", b"x\n")], "{kind:?}");
        // What its owner may not read is kept if the runner may (root), and never a fault.
        let seen = bench.run(&collecting(&script, &["closed", "shut/w", "real"]));
        assert!(files(&seen).contains(&whole("real", b"x\n")), "{kind:?}");
        // A working folder that cannot be looked into.
        let seen = bench.run(&collecting("echo x >real; chmod 0 .", &["real"]));
        assert!(seen.collected.len() <= 1, "{kind:?}");
    }
}

#[test]
fn no_more_is_kept_than_the_folder_may_hold() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let mut job = collecting("printf start >huge; truncate -s 8E huge || truncate -s 1T huge; echo x >after", &[]);
        job.collect = ["huge", "after"].map(OsString::from).into();
        job.limits.disk = Some(3 << 20);
        let seen = bench.run(&job);
        assert_eq!((seen.exit, seen.limit), (Some(0), None), "{kind:?} {seen:?}");
        let found = files(&seen);
        assert_eq!(found.len(), 2, "{kind:?}");
        assert!(found[0].1.starts_with(b"start\0") && found[0].1.len() == 3 << 20 && found[0].2, "{kind:?}");
        assert_eq!((found[1].1.len(), found[1].2), (0, true), "all is used up");
        // Exactly what fits is whole.
        let mut job = collecting("head -c 1048576 /dev/zero >a; cp a b", &["a", "b"]);
        job.limits.disk = Some(2 << 20);
        let seen = bench.run(&job);
        assert_eq!(files(&seen).iter().map(|file| (file.1.len(), file.2)).collect::<Vec<_>>(), [(1 << 20, false); 2]);
    }
}

#[test]
fn what_was_left_before_a_limit_is_kept() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let mut job = collecting("echo part >proof; (while :; do echo more >>proof; done) & sleep 60", &["proof"]);
        job.limits.wall = Some(std::time::Duration::from_millis(500));
        let seen = bench.run(&job);
        assert_eq!(seen.limit, Some(Limit::Wall), "{kind:?}");
        let found = files(&seen);
        assert!(found[0].1.starts_with(b"part\nmore\n") && !found[0].2, "{kind:?}");
    }
    // Of what ran out of memory nothing is kept, whether or not its folder was in memory.
    for kind in KINDS {
        let bench = Bench::new(kind);
        let mut job = torture(&["allocate"]);
        let program = job.program.clone();
        job.program = "/bin/sh".into();
        job.arguments = vec!["-c".into(), "echo x >proof; exec \"$0\" allocate".into(), program.into_os_string()];
        job.collect = vec!["proof".into()];
        job.limits.wall = Some(std::time::Duration::from_secs(20));
        let seen = bench.run(&job);
        assert_eq!((seen.limit, seen.collected.len()), (Some(Limit::Memory), 0), "{kind:?}");
    }
}

#[test]
fn only_paths_below_the_folder_can_be_asked_for() {
    let bench = Bench::new(Kind::Best);
    let cancel = CancelToken::new().expect("a token");
    for name in ["", ".", "..", "/etc/passwd", "a/../b", "../x", "a/..", "a\0b", "placed", "./placed"] {
        let mut job = collecting("true", &[name]);
        job.files = vec![JobFile { name: "placed".into(), content: FileContent::Bytes(b"x".to_vec()) }];
        let fault = bench.runner.run(&job, &cancel).expect_err(name);
        assert!(matches!(fault, Fault::Job(_)), "{name}: {fault}");
    }
}
