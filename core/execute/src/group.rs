//! Control groups, version 1 and 2: found, tried, made for runs, read, removed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use serde::{Deserialize, Serialize};

use crate::launcher;

/// The controllers of version 1 that are of use here.
const WANTED: [&str; 4] = ["memory", "cpuacct", "pids", "cpuset"];

/// What the machine offers in control groups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// Version 1: for each usable controller the group to make groups in.
    pub v1: BTreeMap<String, PathBuf>,
    /// Version 1: why a controller is not usable.
    pub v1_missing: BTreeMap<String, String>,
    /// Version 2, if usable.
    pub v2: Option<V2>,
    /// Version 2: why it is not usable.
    pub v2_missing: Option<String>,
}

/// A usable place in the hierarchy of version 2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct V2 {
    /// The group to make groups in.
    pub parent: PathBuf,
    /// The controllers it can give.
    pub controllers: Vec<String>,
    /// Whether this process must first move to a group of its own below `parent`, since a group that gives
    /// controllers may hold no process itself.
    pub move_first: bool,
}

/// One line of `/proc/self/mountinfo` that is a control-group hierarchy.
struct Mounted {
    root: PathBuf,
    at: PathBuf,
    version: u8,
    options: Vec<String>,
}

fn unescape(text: &str) -> PathBuf {
    PathBuf::from(text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\"))
}

fn mounted() -> Vec<Mounted> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let left: Vec<&str> = left.split(' ').collect();
            let right: Vec<&str> = right.split(' ').collect();
            let version = match *right.first()? {
                "cgroup" => 1,
                "cgroup2" => 2,
                _ => return None,
            };
            Some(Mounted {
                root: unescape(left.get(3)?),
                at: unescape(left.get(4)?),
                version,
                options: right.get(2)?.split(',').map(str::to_string).collect(),
            })
        })
        .collect()
}

/// This process's group in each hierarchy: by controller, and the empty name for version 2.
fn own() -> BTreeMap<String, PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut own = BTreeMap::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        if let (Some(names), Some(path)) = (parts.next(), parts.next()) {
            for name in names.split(',') {
                own.insert(name.to_string(), PathBuf::from(path));
            }
        }
    }
    own
}

fn place(mount: &Mounted, own: &Path) -> PathBuf {
    let below = own.strip_prefix(&mount.root).unwrap_or(own);
    mount.at.join(below.strip_prefix("/").unwrap_or(below))
}

/// A name for a group that only tries something.
fn trial() -> String {
    format!("agon-trial-{}", std::process::id())
}

impl Groups {
    /// Looks, and tries by making a group and removing it.
    #[must_use]
    pub fn probe() -> Groups {
        let mounts = mounted();
        let own = own();
        let mut groups = Groups::default();
        for name in WANTED {
            let found = mounts.iter().find(|mount| mount.version == 1 && mount.options.iter().any(|o| o == name));
            let verdict = match (found, own.get(name)) {
                (Some(mount), Some(path)) => try_v1(&place(mount, path)),
                _ => Err("no hierarchy of version 1 is mounted with it".to_string()),
            };
            match verdict {
                Ok(path) => {
                    groups.v1.insert(name.to_string(), path);
                }
                Err(reason) => {
                    groups.v1_missing.insert(name.to_string(), reason);
                }
            }
        }
        let found = mounts.iter().find(|mount| mount.version == 2);
        match (found, own.get("")) {
            (Some(mount), Some(path)) => match try_v2(&mount.at, &place(mount, path)) {
                Ok(v2) => groups.v2 = Some(v2),
                Err(reason) => groups.v2_missing = Some(reason),
            },
            _ => groups.v2_missing = Some("no hierarchy of version 2 is mounted".to_string()),
        }
        groups
    }
}

fn try_v1(parent: &Path) -> Result<PathBuf, String> {
    let path = parent.join(trial());
    fs::create_dir(&path).map_err(|error| format!("no group can be made in {}: {error}", parent.display()))?;
    let _ = fs::remove_dir(&path);
    Ok(parent.to_path_buf())
}

fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().split_ascii_whitespace().map(str::to_string).collect()
}

/// Looks for a group to make groups in: the own one, else one above that already gives controllers.
fn try_v2(top: &Path, own: &Path) -> Result<V2, String> {
    let mut reasons = Vec::new();
    let mut candidate = own;
    loop {
        match try_v2_at(top, candidate, candidate == own) {
            Ok(v2) => return Ok(v2),
            Err(reason) => reasons.push(format!("{}: {reason}", candidate.display())),
        }
        if candidate == top {
            break;
        }
        match candidate.parent() {
            Some(parent) if parent.starts_with(top) => candidate = parent,
            _ => break,
        }
    }
    Err(reasons.join("; "))
}

fn try_v2_at(top: &Path, parent: &Path, own: bool) -> Result<V2, String> {
    let offered = words(&parent.join("cgroup.controllers"));
    let given = words(&parent.join("cgroup.subtree_control"));
    let useful = ["memory", "pids", "cpuset", "cpu"];
    if !offered.iter().any(|name| name == "memory") {
        return Err("it has no memory controller".to_string());
    }
    let mut move_first = false;
    if !given.iter().any(|name| name == "memory") {
        let here = words(&parent.join("cgroup.procs"));
        let me = std::process::id().to_string();
        if parent == top || here.is_empty() {
            // Controllers can be given at once.
        } else if own && here == [me] {
            move_first = true;
        } else {
            return Err("it holds other processes, and a group with processes cannot give controllers".to_string());
        }
    }
    let controllers: Vec<String> =
        useful.iter().filter(|name| offered.iter().any(|other| other == *name)).map(ToString::to_string).collect();
    let path = parent.join(trial());
    fs::create_dir(&path).map_err(|error| format!("no group can be made: {error}"))?;
    let verdict = File::open(&path)
        .and_then(|folder| launcher::try_clone_into(folder.as_raw_fd()))
        .map_err(|error| format!("no process can be started in a group made there: {error}"));
    remove_group(&path, Duration::from_secs(1));
    verdict?;
    Ok(V2 { parent: parent.to_path_buf(), controllers, move_first })
}

/// What a run's group has counted; `None` where it cannot tell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count {
    pub cpu_ns: Option<u64>,
    pub user_ns: u64,
    pub system_ns: u64,
}

/// The limits and cores a run's group enforces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GroupLimits {
    pub memory: Option<u64>,
    /// Processes and threads, the launcher's own not counted.
    pub processes: Option<u64>,
    pub cpus: Vec<u32>,
}

/// How a runner makes groups.
#[derive(Debug, Clone)]
pub(crate) enum Maker {
    None,
    V1(BTreeMap<String, PathBuf>),
    V2 {
        /// The runner's own group, holding no process.
        folder: PathBuf,
        controllers: Vec<String>,
    },
}

impl Maker {
    /// Makes the runner's group of version 2. `name` is its name.
    pub(crate) fn v2(v2: &V2, name: &str) -> io::Result<Maker> {
        if v2.move_first {
            let leaf = v2.parent.join(format!("{name}-runner"));
            fs::create_dir(&leaf)?;
            fs::write(leaf.join("cgroup.procs"), std::process::id().to_string())?;
        }
        let mut controllers = Vec::new();
        let give = |parent: &Path, controller: &str| {
            fs::write(parent.join("cgroup.subtree_control"), format!("+{controller}"))
        };
        for controller in &v2.controllers {
            let already = words(&v2.parent.join("cgroup.subtree_control"));
            if already.contains(controller) || give(&v2.parent, controller).is_ok() {
                controllers.push(controller.clone());
            }
        }
        let folder = v2.parent.join(name);
        fs::create_dir(&folder)?;
        controllers.retain(|controller| give(&folder, controller).is_ok());
        Ok(Maker::V2 { folder, controllers })
    }

    pub(crate) fn controllers(&self) -> Vec<String> {
        match self {
            Maker::None => Vec::new(),
            Maker::V1(places) => places.keys().cloned().collect(),
            Maker::V2 { controllers, .. } => controllers.clone(),
        }
    }

    /// The groups a slot of this name will have, to be noted before they are made.
    pub(crate) fn paths(&self, name: &str) -> Vec<PathBuf> {
        match self {
            Maker::None => Vec::new(),
            Maker::V1(places) => {
                let mut paths: Vec<PathBuf> = places.values().map(|place| place.join(name)).collect();
                paths.sort();
                paths.dedup();
                paths
            }
            Maker::V2 { folder, .. } => vec![folder.clone()],
        }
    }

    pub(crate) fn slot(&self, name: &str) -> io::Result<SlotGroup> {
        match self {
            Maker::None => Ok(SlotGroup::None),
            Maker::V1(places) => SlotV1::new(places, name).map(SlotGroup::V1),
            Maker::V2 { folder, controllers } => Ok(SlotGroup::V2(SlotV2 {
                folder: folder.clone(),
                controllers: controllers.clone(),
                name: name.to_string(),
                next: 0,
                run: None,
            })),
        }
    }
}

/// The groups of one sandbox process, one run at a time.
#[derive(Debug)]
pub(crate) enum SlotGroup {
    None,
    V1(SlotV1),
    V2(SlotV2),
}

/// Version 1: the sandbox process lives in the groups, since moving a process costs milliseconds, and its
/// runs are born there. What is there before a run is noted and taken off.
#[derive(Debug)]
pub(crate) struct SlotV1 {
    folders: BTreeMap<String, PathBuf>,
    usage: Option<File>,
    user: Option<File>,
    system: Option<File>,
    out_of_memory: Option<OwnedFd>,
    set: Option<GroupLimits>,
    /// The cores of the group above, as a list.
    all_cpus: String,
    memory_set: Option<Option<u64>>,
    base_memory: u64,
    base_cache: u64,
    base_cpu: Count,
    base_denied: u64,
    base_kills: u64,
}

/// Version 2: a fresh group for each run, which is born in it.
#[derive(Debug)]
pub(crate) struct SlotV2 {
    folder: PathBuf,
    controllers: Vec<String>,
    name: String,
    next: u64,
    run: Option<RunV2>,
}

#[derive(Debug)]
struct RunV2 {
    path: PathBuf,
    folder: File,
    stat: File,
}

fn number(path: &Path) -> io::Result<u64> {
    fs::read_to_string(path)?
        .trim()
        .parse()
        .map_err(|_| io::Error::other(format!("{} holds no number", path.display())))
}

/// A number by name in a file of lines `name number`.
fn field(path: &Path, name: &str) -> Option<u64> {
    field_in(&fs::read_to_string(path).ok()?, name)
}

fn field_in(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Reads a control file from its beginning through an open descriptor.
fn reread(file: &File) -> io::Result<String> {
    let mut buffer = [0; 1024];
    let length = file.read_at(&mut buffer, 0)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

fn reread_number(file: Option<&File>) -> Option<u64> {
    reread(file?).ok()?.trim().parse().ok()
}

/// What a v1 group gets in addition when its run was killed for want of memory: bytes.
const RELAXED: u64 = 16 << 20;
/// What a v1 group may hold from before without being cleaned: bytes.
const RESIDUE: u64 = 4 << 20;

impl SlotV1 {
    fn new(places: &BTreeMap<String, PathBuf>, name: &str) -> io::Result<SlotV1> {
        let mut folders = BTreeMap::new();
        for (controller, place) in places {
            let folder = place.join(name);
            match fs::create_dir(&folder) {
                // Controllers mounted together share a folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
            if controller == "cpuset" {
                for file in ["cpuset.mems", "cpuset.cpus"] {
                    fs::write(folder.join(file), fs::read(place.join(file))?)?;
                }
            }
            folders.insert(controller.clone(), folder);
        }
        let all_cpus = match places.get("cpuset") {
            Some(place) => fs::read_to_string(place.join("cpuset.cpus"))?,
            None => String::new(),
        };
        let open = |controller: &str, file: &str| {
            folders.get(controller).and_then(|folder| File::open(folder.join(file)).ok())
        };
        let mut slot = SlotV1 {
            usage: open("cpuacct", "cpuacct.usage"),
            user: open("cpuacct", "cpuacct.usage_user"),
            system: open("cpuacct", "cpuacct.usage_sys"),
            out_of_memory: None,
            set: None,
            all_cpus,
            memory_set: None,
            base_memory: 0,
            base_cache: 0,
            base_cpu: Count::default(),
            base_denied: 0,
            base_kills: 0,
            folders,
        };
        slot.out_of_memory = slot.watch_memory().ok();
        Ok(slot)
    }

    /// An event descriptor that becomes readable when the group runs out of memory.
    fn watch_memory(&self) -> io::Result<OwnedFd> {
        let folder = self.folders.get("memory").ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let control = File::open(folder.join("memory.oom_control"))?;
        fs::write(folder.join("cgroup.event_control"), format!("{} {}", event.as_raw_fd(), control.as_raw_fd()))?;
        Ok(event)
    }

    fn count(&self) -> Count {
        Count {
            cpu_ns: reread_number(self.usage.as_ref()),
            user_ns: reread_number(self.user.as_ref()).unwrap_or(0),
            system_ns: reread_number(self.system.as_ref()).unwrap_or(0),
        }
    }

    fn begin(&mut self, limits: &GroupLimits) -> io::Result<()> {
        if let Some(folder) = self.folders.get("memory") {
            let mut usage = number(&folder.join("memory.usage_in_bytes"))?;
            if usage > RESIDUE {
                // Drops the cache of files that earlier runs read.
                let _ = fs::write(folder.join("memory.force_empty"), "0");
                usage = number(&folder.join("memory.usage_in_bytes"))?;
            }
            self.base_cache = if usage > RESIDUE / 2 { file_cache_v1(folder).unwrap_or(0) } else { 0 };
            // In whole mebibytes, so that it is seldom written.
            let wanted = limits.memory.map(|limit| limit.saturating_add(usage.next_multiple_of(1 << 20)) & !0xfff);
            if self.memory_set != Some(wanted) {
                let text = wanted.map_or("-1".to_string(), |bytes| bytes.to_string());
                let both = folder.join("memory.memsw.limit_in_bytes");
                let swap = both.exists();
                if swap {
                    fs::write(&both, "-1")?;
                }
                fs::write(folder.join("memory.limit_in_bytes"), &text)?;
                if swap {
                    fs::write(&both, &text)?;
                }
                self.memory_set = Some(wanted);
            }
            fs::write(folder.join("memory.max_usage_in_bytes"), "0")?;
            self.base_memory = usage;
            self.base_kills = field(&folder.join("memory.oom_control"), "oom_kill").unwrap_or(0);
        }
        if let Some(event) = &self.out_of_memory {
            // Empties the counter; nothing is there most of the time.
            let _ = rustix::io::read(event, &mut [0_u8; 8]);
        }
        if self.set.as_ref() != Some(limits) {
            if let Some(folder) = self.folders.get("pids") {
                // Two more: the sandbox process and the run's first process.
                let text = limits.processes.map_or("max".to_string(), |count| count.saturating_add(2).to_string());
                fs::write(folder.join("pids.max"), text)?;
            }
            if let Some(folder) = self.folders.get("cpuset") {
                let cpus = if limits.cpus.is_empty() { self.all_cpus.clone() } else { list(&limits.cpus) };
                fs::write(folder.join("cpuset.cpus"), cpus)?;
            }
            self.set = Some(limits.clone());
        }
        self.base_denied = self.denied();
        self.base_cpu = self.count();
        Ok(())
    }

    fn denied(&self) -> u64 {
        self.folders.get("pids").and_then(|folder| field(&folder.join("pids.events"), "max")).unwrap_or(0)
    }
}

fn file_cache_v1(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("memory.stat")).ok()?;
    Some(field_in(&text, "cache")?.saturating_sub(field_in(&text, "shmem").unwrap_or(0)))
}

/// A list of cores as control files want it.
fn list(cpus: &[u32]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl SlotGroup {
    /// Puts the sandbox process where it belongs.
    pub(crate) fn attach(&self, pid: u32) -> io::Result<()> {
        if let SlotGroup::V1(slot) = self {
            let mut done: Vec<&PathBuf> = Vec::new();
            for folder in slot.folders.values() {
                if !done.contains(&folder) {
                    fs::write(folder.join("cgroup.procs"), pid.to_string())?;
                    done.push(folder);
                }
            }
        }
        Ok(())
    }

    /// Makes ready for a run.
    pub(crate) fn begin(&mut self, limits: &GroupLimits) -> io::Result<()> {
        match self {
            SlotGroup::None => Ok(()),
            SlotGroup::V1(slot) => slot.begin(limits),
            SlotGroup::V2(slot) => {
                let path = slot.folder.join(format!("{}-{}", slot.name, slot.next));
                slot.next += 1;
                fs::create_dir(&path)?;
                let has = |name: &str| slot.controllers.iter().any(|other| other == name);
                if has("memory") {
                    if let Some(limit) = limits.memory {
                        fs::write(path.join("memory.max"), (limit & !0xfff).to_string())?;
                        // Absent where the kernel cannot swap.
                        let _ = fs::write(path.join("memory.swap.max"), "0");
                    }
                    fs::write(path.join("memory.oom.group"), "1")?;
                }
                if has("pids")
                    && let Some(count) = limits.processes
                {
                    // One more: the run's first process.
                    fs::write(path.join("pids.max"), count.saturating_add(1).to_string())?;
                }
                if has("cpuset") && !limits.cpus.is_empty() {
                    fs::write(path.join("cpuset.cpus"), list(&limits.cpus))?;
                }
                slot.run = Some(RunV2 { folder: File::open(&path)?, stat: File::open(path.join("cpu.stat"))?, path });
                Ok(())
            }
        }
    }

    /// The descriptor of the group a run is to be born in.
    pub(crate) fn folder(&self) -> Option<&File> {
        match self {
            SlotGroup::V2(slot) => slot.run.as_ref().map(|run| &run.folder),
            _ => None,
        }
    }

    /// Readable when memory ran out.
    pub(crate) fn out_of_memory(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match self {
            SlotGroup::V1(slot) => slot.out_of_memory.as_ref().map(AsFd::as_fd),
            _ => None,
        }
    }

    /// CPU time since the run began.
    pub(crate) fn cpu(&self) -> Count {
        match self {
            SlotGroup::None => Count::default(),
            SlotGroup::V1(slot) => {
                let now = slot.count();
                Count {
                    cpu_ns: now.cpu_ns.zip(slot.base_cpu.cpu_ns).map(|(now, base)| now.saturating_sub(base)),
                    user_ns: now.user_ns.saturating_sub(slot.base_cpu.user_ns),
                    system_ns: now.system_ns.saturating_sub(slot.base_cpu.system_ns),
                }
            }
            SlotGroup::V2(slot) => {
                let text = slot.run.as_ref().and_then(|run| reread(&run.stat).ok()).unwrap_or_default();
                let micro = |name: &str| field_in(&text, name).map(|micro| micro * 1000);
                Count {
                    cpu_ns: micro("usage_usec"),
                    user_ns: micro("user_usec").unwrap_or(0),
                    system_ns: micro("system_usec").unwrap_or(0),
                }
            }
        }
    }

    /// CPU time of the run so far, in nanoseconds; [`SlotGroup::cpu`] tells more, and takes longer.
    pub(crate) fn cpu_time(&self) -> Option<u64> {
        match self {
            SlotGroup::V1(slot) => {
                let now = reread_number(slot.usage.as_ref());
                now.zip(slot.base_cpu.cpu_ns).map(|(now, base)| now.saturating_sub(base))
            }
            other => other.cpu().cpu_ns,
        }
    }

    /// Whether the run was refused a process.
    pub(crate) fn process_refused(&self) -> bool {
        match self {
            SlotGroup::None => false,
            SlotGroup::V1(slot) => slot.denied() > slot.base_denied,
            SlotGroup::V2(slot) => slot
                .run
                .as_ref()
                .and_then(|run| field(&run.path.join("pids.events"), "max"))
                .is_some_and(|count| count > 0),
        }
    }

    /// Whether the run ran out of memory.
    pub(crate) fn memory_exceeded(&self) -> bool {
        match self {
            SlotGroup::None => false,
            SlotGroup::V1(slot) => slot
                .folders
                .get("memory")
                .and_then(|folder| field(&folder.join("memory.oom_control"), "oom_kill"))
                .is_some_and(|kills| kills > slot.base_kills),
            SlotGroup::V2(slot) => slot.run.as_ref().is_some_and(|run| {
                let text = fs::read_to_string(run.path.join("memory.events")).unwrap_or_default();
                field_in(&text, "oom_kill").unwrap_or(0) > 0 || field_in(&text, "oom").unwrap_or(0) > 0
            }),
        }
    }

    /// The highest use of memory of the run; bytes.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        match self {
            SlotGroup::None => None,
            SlotGroup::V1(slot) => {
                let folder = slot.folders.get("memory")?;
                let peak = number(&folder.join("memory.max_usage_in_bytes")).ok()?;
                Some(peak.saturating_sub(slot.base_memory))
            }
            SlotGroup::V2(slot) => number(&slot.run.as_ref()?.path.join("memory.peak")).ok(),
        }
    }

    /// The cache of files that the run caused and that is still there; bytes.
    pub(crate) fn file_cache(&self) -> Option<u64> {
        match self {
            SlotGroup::None => None,
            SlotGroup::V1(slot) => {
                let cache = file_cache_v1(slot.folders.get("memory")?)?;
                Some(cache.saturating_sub(slot.base_cache))
            }
            SlotGroup::V2(slot) => {
                let text = fs::read_to_string(slot.run.as_ref()?.path.join("memory.stat")).ok()?;
                Some(field_in(&text, "file")?.saturating_sub(field_in(&text, "shmem").unwrap_or(0)))
            }
        }
    }

    /// Kills all of the run at once, where the group can.
    pub(crate) fn kill(&self) {
        if let SlotGroup::V2(slot) = self
            && let Some(run) = &slot.run
        {
            let _ = fs::write(run.path.join("cgroup.kill"), "1");
        }
    }

    /// Gives a killed run's group room again: the sandbox process lives in it (version 1) and could not tell
    /// the end if nothing were left.
    pub(crate) fn relax(&self) {
        if let SlotGroup::V1(slot) = self
            && let (Some(folder), Some(Some(limit))) = (slot.folders.get("memory"), slot.memory_set)
        {
            let more = (limit + RELAXED).to_string();
            let _ = fs::write(folder.join("memory.memsw.limit_in_bytes"), &more);
            let _ = fs::write(folder.join("memory.limit_in_bytes"), &more);
        }
    }

    /// After the run is gone. `relaxed`: its limit was raised.
    pub(crate) fn end(&mut self, relaxed: bool) {
        if let (SlotGroup::V1(slot), true) = (&mut *self, relaxed) {
            slot.memory_set = None;
        }
        if let SlotGroup::V2(slot) = self
            && let Some(run) = slot.run.take()
        {
            drop((run.folder, run.stat));
            remove_group(&run.path, Duration::from_secs(2));
        }
    }

    /// Removes the groups, after the sandbox process is gone.
    pub(crate) fn remove(&mut self) {
        self.end(false);
        if let SlotGroup::V1(slot) = self {
            for folder in slot.folders.values() {
                remove_group(folder, Duration::from_secs(2));
            }
        }
    }
}

/// Removes a group; processes that are about to be gone are waited for.
pub(crate) fn remove_group(path: &Path, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        match fs::remove_dir(path) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            Err(_) if start.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return false,
        }
    }
}

/// Kills what is in a group that a runner left behind, and removes it and the groups below. Only groups
/// with the names that runners give are touched.
pub(crate) fn remove_abandoned(path: &Path) -> bool {
    let ours = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("agon-"));
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !ours || !plain || !path.join("cgroup.procs").exists() {
        return !path.exists();
    }
    for _ in 0..100 {
        let mut groups = vec![path.to_path_buf()];
        let mut index = 0;
        while let Some(group) = groups.get(index).cloned() {
            index += 1;
            if let Ok(entries) = fs::read_dir(&group) {
                groups.extend(
                    entries
                        .flatten()
                        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                        .map(|entry| entry.path()),
                );
            }
        }
        for group in groups.iter().rev() {
            let _ = fs::write(group.join("cgroup.kill"), "1");
            for pid in words(&group.join("cgroup.procs")) {
                if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
            let _ = fs::remove_dir(group);
        }
        if !path.exists() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_whole_names() {
        let text = "total_cache 9\ncache 4096\nshmem 1\noom_kill_disable 0\noom_kill 3\n";
        assert_eq!(field_in(text, "cache"), Some(4096));
        assert_eq!(field_in(text, "oom_kill"), Some(3));
        assert_eq!(field_in(text, "absent"), None);
    }

    #[test]
    fn a_group_is_found_below_a_mounted_subtree() {
        let mount = Mounted {
            root: PathBuf::from("/docker/x"),
            at: PathBuf::from("/sys/fs/cgroup/memory"),
            version: 1,
            options: Vec::new(),
        };
        assert_eq!(place(&mount, Path::new("/docker/x/y")), PathBuf::from("/sys/fs/cgroup/memory/y"));
        assert_eq!(unescape("/a\\040b"), PathBuf::from("/a b"));
    }

    #[test]
    fn a_group_of_another_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("precious");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("cgroup.procs"), "").unwrap();
        assert!(!remove_abandoned(&other));
        assert!(other.exists());
    }
}
