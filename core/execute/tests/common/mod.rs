//! What the tests of the runner share.
#![allow(dead_code)]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use agon_execute::{CancelToken, GroupChoice, Helper, Job, Machine, Observation, Options, Runner, WorkFolder};

pub fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::probe().expect("the machine can be looked at"))
}

/// The kinds of runner that are tested: what the machine has, and what is left when parts are taken away.
/// `AGON_EXECUTE_KIND` picks one by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The best the machine has.
    Best,
    /// Working folders on disk.
    Disk,
    /// No control groups.
    NoGroups,
    /// No control groups and no PID namespace.
    NoPid,
    /// Nothing but what every Linux has.
    Bare,
}

pub const KINDS: [Kind; 5] = [Kind::Best, Kind::Disk, Kind::NoGroups, Kind::NoPid, Kind::Bare];

impl Kind {
    pub fn options(self, scratch: PathBuf) -> Options {
        let mut options = Options::new(scratch, Helper::program(env!("CARGO_BIN_EXE_agon-sandbox")));
        let without = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        match self {
            Kind::Best => {}
            Kind::Disk => options.work = WorkFolder::Disk,
            Kind::NoGroups => options.groups = GroupChoice::Off,
            Kind::NoPid => {
                options.groups = GroupChoice::Off;
                options.without = without(&["pid"]);
            }
            Kind::Bare => {
                options.groups = GroupChoice::Off;
                options.without = without(&["user", "mount", "pid", "net", "ipc", "uts"]);
            }
        }
        options
    }

    pub fn isolated(self) -> bool {
        self != Kind::Bare
    }
}

/// A runner with a scratch folder of its own.
pub struct Bench {
    pub runner: Runner,
    pub folder: tempfile::TempDir,
    pub kind: Kind,
}

impl Bench {
    pub fn new(kind: Kind) -> Bench {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runner = Runner::new(machine(), kind.options(folder.path().join("scratch"))).expect("a runner can be made");
        assert_eq!(runner.notes(), [] as [String; 0], "{kind:?}");
        Bench { runner, folder, kind }
    }

    pub fn run(&self, job: &Job) -> Observation {
        let cancel = CancelToken::new().expect("a token");
        self.runner.run(job, &cancel).expect("the host is well")
    }
}

/// A job for the shell, with a wall limit of ten seconds.
pub fn shell(script: &str) -> Job {
    let mut job = Job::new("/bin/sh");
    job.arguments = vec!["-c".into(), script.into()];
    job.limits.wall = Some(Duration::from_secs(10));
    job
}

pub fn text(captured: &agon_execute::Captured) -> String {
    String::from_utf8_lossy(&captured.bytes().expect("the output can be read")).into_owned()
}
