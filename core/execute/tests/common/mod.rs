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
        if let Ok(groups) = std::env::var("AGON_EXPECT_GROUPS")
            && matches!(kind, Kind::Best | Kind::Disk)
        {
            assert_eq!(runner.mechanisms().groups, groups);
        }
        Bench { runner, folder, kind }
    }

    pub fn run(&self, job: &Job) -> Observation {
        let cancel = CancelToken::new().expect("a token");
        self.runner.run(job, &cancel).expect("the host is well")
    }

    /// Why a job is no run.
    pub fn fault(&self, job: &Job) -> String {
        let cancel = CancelToken::new().expect("a token");
        self.runner.run(job, &cancel).expect_err("the host is not well").to_string()
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

/// The folder with the program that misbehaves, built once per test program.
pub fn torture_folder() -> &'static std::path::Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("torture");
        std::fs::create_dir_all(&folder).expect("a folder for the program");
        // Other test programs may be building or running it: it is put in place whole.
        let new = folder.join(format!("new-{}", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/torture.c");
        let status = std::process::Command::new("cc")
            .args(["-O1", "-w", "-o"])
            .args([new.as_path(), source.as_ref()])
            .status()
            .expect("a C compiler");
        assert!(status.success());
        std::fs::rename(&new, folder.join("torture")).expect("the program can be put in place");
        folder
    })
}

/// A misbehaving program, with tight limits.
pub fn torture(arguments: &[&str]) -> Job {
    let folder = torture_folder();
    let mut job = Job::new(folder.join("torture"));
    job.arguments = arguments.iter().map(Into::into).collect();
    job.readable = vec![folder.to_path_buf()];
    job.limits.wall = Some(Duration::from_secs_f64(wall()));
    job.limits.memory = Some(48 << 20);
    job.limits.processes = Some(48);
    job.limits.disk = Some(16 << 20);
    job.limits.output = Some(2 << 20);
    job
}

/// The wall limit of misbehaving programs, in seconds: 1, or 3 where everything is slow.
pub fn wall() -> f64 {
    if time_factor() > 2.0 { 3.0 } else { 1.0 }
}

fn time_factor() -> f64 {
    std::env::var("AGON_TIME_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

/// How much longer than half a second a run may take to be ended: 1 unless `AGON_TIME_FACTOR` says more,
/// for machines that are busy with other work or emulated.
pub fn patience() -> Duration {
    Duration::from_millis(500).mul_f64(time_factor())
}

/// Processes of this machine whose environment holds a mark.
pub fn processes_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        if environment.windows(mark.len()).any(|window| window == mark.as_bytes()) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

/// Files and folders below a folder, apart from the runner's own.
pub fn left_in(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

/// Runs tests of this very program, by the names they contain, in a virtual machine that has control groups
/// of version 2. It emulates, so it is slow.
#[expect(clippy::print_stdout, reason = "whoever runs the tests should know what was not run")]
pub fn under_version_2(names: &[&str]) {
    let archive = std::env::var_os("AGON_ARCHIVE").expect("AGON_ARCHIVE names the archive");
    let machine = std::path::Path::new(&archive).join("tools/cgroup2-vm");
    // User-mode Linux panics at once on processors whose registers are wider than it knows.
    let probe = std::process::Command::new(&machine).arg("true").output().expect("the archive has its tool");
    if !probe.status.success() {
        let why = String::from_utf8_lossy(&probe.stderr);
        println!("NOT RUN: control groups of version 2, as no virtual machine starts here: {}", why.trim());
        return;
    }
    let output = std::process::Command::new(machine)
        .args(["--mem", "1G", "--seconds", "500"])
        .args(["env", "AGON_TIME_FACTOR=10", "AGON_EXPECT_GROUPS=v2"])
        .arg(std::env::current_exe().expect("the test program"))
        .arg("--test-threads=1")
        .args(names)
        .output()
        .expect("the virtual machine starts");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert!(out.contains("test result: ok. ") && !out.contains("ok. 0 passed"), "{out}");
}
