//! What this machine can enforce and measure, why not the rest, and how to enable it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::group::Groups;
use crate::launcher;

/// The facts of a machine that matter for running programs and measuring them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: String,
    /// The processor's name, as the kernel gives it.
    pub processor: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of swap.
    pub swap: u64,
    /// Whether this process runs as root.
    pub root: bool,
    /// The cores this process may use, with their physical cores.
    pub cores: Vec<Core>,
    /// For each kind of namespace, nothing if it can be had, else why not.
    pub namespaces: BTreeMap<String, Option<String>>,
    /// Control groups.
    pub groups: Groups,
    /// Whether mounts can be made read-only as a tree (Linux 5.12).
    pub mount_attributes: bool,
}

/// A core as the scheduler sees it (a logical CPU).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Core {
    /// Its number.
    pub cpu: u32,
    /// The lowest number among those that share its physical core.
    pub physical: u32,
    /// Its memory node.
    pub node: u32,
}

/// Whether something can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It works.
    Yes,
    /// Something weaker takes its place.
    Partly,
    /// It does not work.
    No,
}

/// One line of [`Machine::describe`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What it is about.
    pub item: String,
    /// Whether it works.
    pub state: State,
    /// How it works here, or what takes its place.
    pub detail: String,
    /// How to have the rest, if anything is missing.
    pub enable: Option<String>,
}

const KINDS: [(&str, i32); 6] = [
    ("user", libc::CLONE_NEWUSER),
    ("mount", libc::CLONE_NEWNS),
    ("pid", libc::CLONE_NEWPID),
    ("net", libc::CLONE_NEWNET),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
];

impl Machine {
    /// Looks and tries. Makes and removes control groups and ends a few processes; takes milliseconds.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn probe() -> io::Result<Machine> {
        let memory = fs::read_to_string("/proc/meminfo")?;
        let kibibytes = |name: &str| -> u64 {
            memory
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix(" kB")?.parse().ok())
                .map_or(0, |number: u64| number * 1024)
        };
        let processor = fs::read_to_string("/proc/cpuinfo")
            .unwrap_or_default()
            .lines()
            .find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == "model name").then(|| value.trim().to_string())
            })
            .unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let root = rustix::process::geteuid().is_root();
        let namespaces: BTreeMap<String, Option<String>> = KINDS
            .iter()
            .map(|&(name, flag)| {
                // With a user namespace the others come along, without root or not.
                let alone = launcher::try_unshare(flag);
                let tried = match alone {
                    Err(_) if flag != libc::CLONE_NEWUSER => launcher::try_unshare(flag | libc::CLONE_NEWUSER),
                    other => other,
                };
                (name.to_string(), tried.err().map(|error| error.to_string()))
            })
            .collect();
        Ok(Machine {
            kernel: format!("Linux {}", release.trim()),
            processor,
            memory: kibibytes("MemTotal"),
            swap: kibibytes("SwapTotal"),
            root,
            cores: cores(),
            namespaces,
            groups: Groups::probe(),
            mount_attributes: at_least(release.trim(), 5, 12),
        })
    }

    /// Whether a kind of namespace can be had.
    #[must_use]
    pub fn namespace(&self, kind: &str) -> bool {
        matches!(self.namespaces.get(kind), Some(None))
    }

    /// What works, what takes its place where it does not, and how to enable it.
    #[must_use]
    pub fn describe(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut row = |item: &str, state: State, detail: String, enable: Option<&str>| {
            rows.push(Row { item: item.to_string(), state, detail, enable: enable.map(str::to_string) });
        };
        let groups = &self.groups;
        let v2 = groups.v2.as_ref();
        let delegate = "run as root, or in a group of your own: systemd-run --user --scope -p Delegate=yes agon …";
        match v2 {
            Some(v2) => row(
                "control groups, version 2",
                State::Yes,
                format!("{} ({})", v2.parent.display(), v2.controllers.join(", ")),
                None,
            ),
            None => row(
                "control groups, version 2",
                if groups.v1.is_empty() { State::No } else { State::Partly },
                groups.v2_missing.clone().unwrap_or_default(),
                groups.v1.is_empty().then_some(delegate),
            ),
        }
        let v1: Vec<&str> = groups.v1.keys().map(String::as_str).collect();
        if v2.is_none() {
            let missing: Vec<String> =
                groups.v1_missing.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
            row(
                "control groups, version 1",
                match (v1.is_empty(), missing.is_empty()) {
                    (true, _) => State::No,
                    (false, true) => State::Yes,
                    (false, false) => State::Partly,
                },
                if missing.is_empty() {
                    v1.join(", ")
                } else {
                    format!("{}; not {}", v1.join(", "), missing.join("; "))
                },
                None,
            );
        }
        let has = |name: &str, old: &str| {
            v2.is_some_and(|v2| name.is_empty() || v2.controllers.iter().any(|c| c == name))
                || v2.is_none() && groups.v1.contains_key(old)
        };
        if has("memory", "memory") {
            row(
                "memory limit and peak of the whole tree",
                State::Yes,
                "enforced and counted by the control group".to_string(),
                None,
            );
        } else {
            row(
                "memory limit and peak of the whole tree",
                State::Partly,
                "an address-space limit per process and a look every 20 ms; short peaks go unseen".to_string(),
                Some(delegate),
            );
        }
        if has("", "cpuacct") {
            row("CPU time of the whole tree", State::Yes, "counted by the control group".to_string(), None);
        } else {
            row(
                "CPU time of the whole tree",
                State::Partly,
                "times of processes that were waited for; a child nobody waits for is missed".to_string(),
                Some(delegate),
            );
        }
        if has("pids", "pids") {
            row("limit of processes and threads", State::Yes, "enforced by the control group".to_string(), None);
        } else {
            row(
                "limit of processes and threads",
                State::Partly,
                "a look every 20 ms; for other users than root also a limit of processes of the user".to_string(),
                Some(delegate),
            );
        }
        if has("cpuset", "cpuset") {
            row("pinning to cores", State::Yes, "a cpuset the run cannot leave".to_string(), None);
        } else {
            row(
                "pinning to cores",
                State::Partly,
                "affinity, which a program could change itself".to_string(),
                Some("give the group the cpuset controller (systemd: Delegate=cpuset cpu memory pids)"),
            );
        }
        let user_hint = "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
                         kernel.apparmor_restrict_unprivileged_userns=0; in a container: its security profile)";
        for (kind, effect, weaker) in [
            ("user", "runs have no capabilities and cannot get any", "runs have the rights of the invoking user"),
            (
                "mount",
                "runs see the system and what the job names, read-only, and their own folder",
                "runs see all files the invoking user can see, and may write what that user may",
            ),
            (
                "pid",
                "runs do not see other processes; the tree ends with its first process",
                "the tree is found by walking /proc; runs can signal other processes of the invoking user",
            ),
            ("net", "no network, not even loopback", "runs can use the network"),
            ("ipc", "shared memory and message queues end with the run", "shared memory segments outlive the run"),
            ("uts", "the host's name is hidden", "the host's name shows"),
        ] {
            let reason = match self.namespaces.get(kind) {
                Some(None) => {
                    row(&format!("{kind} namespace"), State::Yes, effect.to_string(), None);
                    continue;
                }
                Some(Some(reason)) => reason.as_str(),
                None => "not tried",
            };
            row(&format!("{kind} namespace"), State::No, format!("{weaker} ({reason})"), Some(user_hint));
        }
        if !self.mount_attributes {
            row(
                "read-only file tree",
                State::No,
                format!("{} is older than Linux 5.12", self.kernel),
                Some("a newer kernel"),
            );
        }
        let physical = {
            let mut physical: Vec<u32> = self.cores.iter().map(|core| core.physical).collect();
            physical.dedup();
            physical.len()
        };
        row(
            "cores",
            State::Yes,
            format!("{} usable, {physical} physical; runs get whole physical ones", self.cores.len()),
            None,
        );
        if self.swap > 0 {
            row(
                "swap",
                State::Partly,
                "there is swap: times of runs near their memory limit may vary".to_string(),
                Some("swapoff -a while the competition runs"),
            );
        }
        rows
    }
}

/// Whether a release `MAJOR.MINOR…` is at least the one given.
fn at_least(release: &str, major: u32, minor: u32) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|text| text.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    found >= (major, minor)
}

/// The cores this process may use.
fn cores() -> Vec<Core> {
    let mut cores: Vec<Core> = allowed()
        .into_iter()
        .map(|cpu| {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            let siblings = fs::read_to_string(format!("{folder}/topology/thread_siblings_list")).unwrap_or_default();
            Core {
                cpu,
                physical: parse_list(&siblings).first().copied().unwrap_or(cpu),
                node: node(Path::new(&folder)),
            }
        })
        .collect();
    cores.sort_by_key(|core| (core.node, core.physical, core.cpu));
    cores
}

fn node(folder: &Path) -> u32 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries.flatten().find_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()).unwrap_or(0)
}

fn allowed() -> Vec<u32> {
    fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:").map(parse_list))
        .unwrap_or_default()
}

/// A list such as `0-3,8`, in order.
fn parse_list(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>())
            && first <= last
            && last < 1 << 16
        {
            numbers.extend(first..=last);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read() {
        assert_eq!(parse_list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_list(""), [] as [u32; 0]);
        assert_eq!(parse_list("3-1,x"), [] as [u32; 0]);
    }

    #[test]
    fn releases_are_compared_as_numbers() {
        assert!(at_least("6.1.0-13-amd64", 5, 12));
        assert!(at_least("5.12", 5, 12));
        assert!(!at_least("5.4.0", 5, 12));
    }

    #[test]
    fn the_facts_survive_being_stored() {
        let machine = Machine::probe().unwrap();
        assert!(!machine.cores.is_empty());
        let text = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
        assert!(machine.describe().iter().any(|row| row.item == "cores"));
    }
}
