//! Runners: sandboxes kept ready, one per run at the same time.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::group::{Maker, SlotGroup};
use crate::job::{CancelToken, Job};
use crate::layout::Base;
use crate::machine::Machine;
use crate::observation::{Fault, Mechanisms, Observation, Tried};
use crate::scratch::{self, Scratch};
use crate::wire::{self, Isolation, Reply, Request};

/// How a runner is to work.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder for temporary things, made if absent; runners of the same user share it. What killed runners
    /// left in it is removed.
    pub scratch: PathBuf,
    /// The program that serves as sandbox process.
    pub helper: Helper,
    /// Which control groups to use.
    pub groups: GroupChoice,
    /// Namespaces not to use, by name (`user`, `mount`, `pid`, `net`, `ipc`, `uts`).
    pub without: Vec<String>,
    /// Where working folders are.
    pub work: WorkFolder,
    /// Bytes of a stream kept in memory; longer ones go to a file in the scratch folder.
    pub spool: usize,
    /// Whether runs may share cores with others; only noted.
    pub oversubscribed: bool,
}

impl Options {
    /// The best the machine offers, with temporary things in this folder.
    #[must_use]
    pub fn new(scratch: impl Into<PathBuf>, helper: Helper) -> Options {
        Options {
            scratch: scratch.into(),
            helper,
            groups: GroupChoice::Auto,
            without: Vec::new(),
            work: WorkFolder::Memory,
            spool: 8 << 20,
            oversubscribed: false,
        }
    }
}

/// A program that calls [`crate::supervisor::main`] when started with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// A program without arguments.
    #[must_use]
    pub fn program(program: impl Into<PathBuf>) -> Helper {
        Helper { program: program.into(), arguments: Vec::new() }
    }

    /// The program that runs now, with a hidden subcommand.
    #[must_use]
    pub fn this_program(subcommand: &str) -> Helper {
        Helper { program: PathBuf::from("/proc/self/exe"), arguments: vec![OsString::from(subcommand)] }
    }
}

/// Which control groups to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupChoice {
    /// Version 2 if it has what is needed, else version 1, else none.
    Auto,
    /// Version 1 or nothing.
    V1,
    /// Version 2 or nothing.
    V2,
    /// None.
    Off,
}

/// Where the working folders of runs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkFolder {
    /// In memory (tmpfs), where mount namespaces can be had: quick, and counted as memory of the run.
    Memory,
    /// In the scratch folder.
    Disk,
}

/// Runs jobs. May be used by several threads at once; each run has a sandbox to itself.
#[derive(Debug)]
pub struct Runner {
    idle: Mutex<Vec<Slot>>,
    context: Context,
}

/// What all slots of a runner have in common.
#[derive(Debug)]
pub(crate) struct Context {
    pub options: Options,
    pub isolation: Isolation,
    pub base: Base,
    pub maker: Maker,
    pub mechanisms: Mechanisms,
    pub memory: u64,
    pub root: bool,
    pub core_count: usize,
    notes: Vec<String>,
    next: AtomicU64,
    discarded: Discard,
    // Last: removed after everything else.
    pub scratch: Scratch,
}

impl Runner {
    /// Makes the scratch folder and a first sandbox, to see that it works; weaker kinds of isolation are tried
    /// in turn if the strongest cannot be had ([`Runner::notes`]).
    ///
    /// # Errors
    /// The scratch folder or the helper program cannot be used, or chosen control groups cannot be had.
    pub fn new(machine: &Machine, options: Options) -> Result<Runner, Fault> {
        let scratch =
            Scratch::new(&options.scratch).tried(|| format!("use the folder {}", options.scratch.display()))?;
        let mut notes = Vec::new();
        let maker = choose_groups(machine, &options, &scratch, &mut notes)?;
        let wanted = |kind: &str| machine.namespace(kind) && !options.without.iter().any(|name| name == kind);
        let user = wanted("user");
        // Without root, the others come with a user namespace only.
        let can = |kind: &str| wanted(kind) && (user || machine.root);
        let mount = can("mount") && machine.mount_attributes;
        let best = Isolation { user, mount, pid: can("pid"), net: can("net"), ipc: can("ipc"), uts: can("uts") };
        // A PID namespace needs a /proc of its own, thus a mount namespace.
        let best = Isolation { pid: best.pid && mount, ..best };
        let without_pid = Isolation { pid: false, ..best };
        let without_files = Isolation { mount: false, ..without_pid };
        let none = Isolation { user: false, mount: false, pid: false, net: false, ipc: false, uts: false };
        let mut candidates = vec![best, without_pid, without_files, none];
        candidates.dedup();

        let mut context = Context {
            isolation: best,
            base: Base::new(),
            mechanisms: Mechanisms {
                groups: match &maker {
                    Maker::None => "none",
                    Maker::V1(_) => "v1",
                    Maker::V2 { .. } => "v2",
                }
                .to_string(),
                controllers: maker.controllers(),
                namespaces: Vec::new(),
                cpu: String::new(),
                memory: String::new(),
                kill: String::new(),
                work: String::new(),
                pinning: String::new(),
                oversubscribed: options.oversubscribed,
            },
            maker,
            memory: machine.memory,
            root: machine.root,
            core_count: machine.cores.len().max(1),
            notes,
            next: AtomicU64::new(0),
            discarded: Discard::start(),
            scratch,
            options,
        };
        let mut last = None;
        for candidate in candidates {
            context.isolation = candidate;
            match Slot::new(&context).and_then(|mut slot| {
                slot.show(&context, &[])?;
                Ok(slot)
            }) {
                Ok(slot) => {
                    context.name_mechanisms();
                    return Ok(Runner { idle: Mutex::new(vec![slot]), context });
                }
                Err(fault @ Fault::Sandbox { .. }) => {
                    context.notes.push(fault.to_string());
                    last = Some(fault);
                }
                Err(fault) => return Err(fault),
            }
        }
        Err(last.unwrap_or_else(|| Fault::Job("no kind of isolation was tried".to_string())))
    }

    /// What was expected of the machine and did not work; empty if all did.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.context.notes
    }

    /// What enforces, isolates and measures. A run that is not pinned to cores says `none` for the pinning.
    #[must_use]
    pub fn mechanisms(&self) -> &Mechanisms {
        &self.context.mechanisms
    }

    /// Runs a job to its end.
    ///
    /// # Errors
    /// The host, not the program, is to blame (see [`Fault`]), or the run was called off.
    pub fn run(&self, job: &Job, cancel: &CancelToken) -> Result<Observation, Fault> {
        if cancel.is_cancelled() {
            return Err(Fault::Cancelled);
        }
        let mut slot = match self.take(&job.readable) {
            Some(slot) => slot,
            None => Slot::new(&self.context)?,
        };
        let result = crate::run::run(&mut slot, &self.context, job, cancel);
        if slot.sound {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
        }
        result
    }

    /// An idle sandbox, if possible one that shows the right files already.
    fn take(&self, readable: &[PathBuf]) -> Option<Slot> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let index = idle.iter().rposition(|slot| slot.asked == readable).or_else(|| idle.len().checked_sub(1))?;
        Some(idle.swap_remove(index))
    }
}

fn choose_groups(
    machine: &Machine,
    options: &Options,
    scratch: &Scratch,
    notes: &mut Vec<String>,
) -> Result<Maker, Fault> {
    let groups = &machine.groups;
    let missing = |what: &str| {
        Fault::Job(format!("control groups of version {what} were asked for, but this machine has none to use"))
    };
    let v1 = || Maker::V1(groups.v1.clone());
    match (options.groups, &groups.v2) {
        (GroupChoice::Off, _) => Ok(Maker::None),
        (GroupChoice::V1, _) if groups.v1.is_empty() => Err(missing("1")),
        (GroupChoice::V1, _) => Ok(v1()),
        (GroupChoice::V2, None) => Err(missing("2")),
        (GroupChoice::Auto | GroupChoice::V2, Some(v2)) => {
            let name = scratch.name();
            let mut paths = vec![v2.parent.join(&name)];
            if v2.move_first {
                paths.push(v2.parent.join(format!("{name}-runner")));
            }
            scratch.note_groups(&paths).tried(|| "note the control groups".to_string())?;
            match Maker::v2(v2, &name) {
                Ok(maker) => Ok(maker),
                Err(error) if options.groups == GroupChoice::Auto => {
                    notes.push(format!("no control group can be made in {}: {error}", v2.parent.display()));
                    Ok(if groups.v1.is_empty() { Maker::None } else { v1() })
                }
                Err(source) => {
                    Err(Fault::Host { what: format!("make a control group in {}", v2.parent.display()), source })
                }
            }
        }
        (GroupChoice::Auto, None) if groups.v1.is_empty() => Ok(Maker::None),
        (GroupChoice::Auto, None) => Ok(v1()),
    }
}

/// Closes descriptors beside the work: the last one of a tmpfs is its end, and the kernel takes more than a
/// millisecond for it, mostly waiting.
#[derive(Debug)]
struct Discard {
    sender: Option<mpsc::SyncSender<OwnedFd>>,
    thread: Option<JoinHandle<()>>,
}

impl Discard {
    fn start() -> Discard {
        // Few at a time, so that memory is not filled by folders whose runs are over.
        let (sender, receiver) = mpsc::sync_channel(4);
        let thread = std::thread::Builder::new()
            .name("agon-discard".to_string())
            .spawn(move || receiver.into_iter().for_each(drop::<OwnedFd>))
            .ok();
        Discard {
            // Without a thread, the channel is broken and descriptors are closed where they are.
            sender: Some(sender),
            thread,
        }
    }
}

impl Drop for Discard {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Context {
    /// Closes a descriptor, soon.
    pub(crate) fn discard(&self, fd: OwnedFd) {
        if let Some(sender) = &self.discarded.sender {
            // A broken channel gives it back, and it is closed here.
            let _ = sender.send(fd);
        }
    }

    /// Whether a controller is at work.
    pub(crate) fn has(&self, controller: &str) -> bool {
        self.mechanisms.controllers.iter().any(|name| name == controller)
    }

    fn name_mechanisms(&mut self) {
        let isolation = self.isolation;
        let counted = match &self.maker {
            Maker::None => false,
            Maker::V1(places) => places.contains_key("cpuacct"),
            Maker::V2 { .. } => true,
        };
        let memory = self.has("memory");
        let pinning = if self.has("cpuset") { "cpuset" } else { "affinity" };
        let text = |yes: bool, one: &str, other: &str| (if yes { one } else { other }).to_string();
        let mechanisms = &mut self.mechanisms;
        mechanisms.namespaces = [
            ("user", isolation.user),
            ("mount", isolation.mount),
            ("pid", isolation.pid),
            ("net", isolation.net),
            ("ipc", isolation.ipc),
            ("uts", isolation.uts),
        ]
        .into_iter()
        .filter(|(_, had)| *had)
        .map(|(name, _)| name.to_string())
        .collect();
        mechanisms.cpu = text(counted, "control group", "wait");
        mechanisms.memory = text(memory, "control group", "polling");
        mechanisms.kill = text(isolation.pid, "pid namespace", "tree walk");
        mechanisms.work = text(isolation.mount && self.options.work == WorkFolder::Memory, "tmpfs", "folder");
        mechanisms.pinning = pinning.to_string();
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        if let Maker::V2 { folder, .. } = &self.context.maker {
            crate::group::remove_group(folder, Duration::from_secs(2));
        }
    }
}

/// A sandbox process with its groups and folders.
#[derive(Debug)]
pub(crate) struct Slot {
    pub socket: UnixStream,
    pub child: Child,
    pub group: SlotGroup,
    /// Files of jobs are put here; the sandbox sees it read-only.
    pub files: PathBuf,
    /// Working folders on disk are made here.
    pub boxed: PathBuf,
    folder: PathBuf,
    /// The readable paths of the last job.
    pub asked: Vec<PathBuf>,
    laid: bool,
    /// The paths the file tree in place was made for: those asked for, and programs.
    pub paths: Vec<PathBuf>,
    /// The places of the host that the tree shows.
    pub shown: Vec<PathBuf>,
    /// Counts the runs, to name their folders.
    pub runs: u64,
    /// Whether the last run left it fit for another.
    pub sound: bool,
    /// Whether the sandbox process is gone.
    pub lost: Cell<bool>,
}

impl Slot {
    fn new(context: &Context) -> Result<Slot, Fault> {
        let number = context.next.fetch_add(1, Ordering::Relaxed);
        let folder = context.scratch.path.join(format!("slot-{number}"));
        let name = format!("{}-{number}", context.scratch.name());
        let files = folder.join("files");
        let boxed = folder.join("box");
        for path in [&folder, &files, &boxed] {
            scratch::create_private(path).tried(|| format!("make {}", path.display()))?;
        }
        context.scratch.note_groups(&context.maker.paths(&name)).tried(|| "note the control groups".to_string())?;
        let mut group = context.maker.slot(&name).tried(|| "make control groups".to_string())?;
        let helper = &context.options.helper;
        let started = start_helper(helper).and_then(|(socket, mut child)| match group.attach(child.id()) {
            Ok(()) => Ok((socket, child)),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        });
        let (socket, child) = match started {
            Ok(started) => started,
            Err(error) => {
                group.remove();
                return Err(Fault::Helper {
                    program: helper.program.clone(),
                    what: format!("cannot be started: {error}"),
                });
            }
        };
        let slot = Slot {
            socket,
            child,
            group,
            files,
            boxed,
            asked: Vec::new(),
            laid: false,
            paths: Vec::new(),
            shown: Vec::new(),
            runs: 0,
            sound: true,
            lost: Cell::new(false),
            folder,
        };
        slot.ask(context, &Request::Setup { isolation: context.isolation, stage: slot.folder.clone(), protect: true })?;
        Ok(slot)
    }

    /// Sends a request that is answered at once.
    fn ask(&self, context: &Context, request: &Request) -> Result<(), Fault> {
        let lost = |what: String| Fault::Helper { program: context.options.helper.program.clone(), what };
        wire::send(&self.socket, request, &[]).map_err(|error| lost(format!("does not listen: {error}")))?;
        self.socket.set_read_timeout(Some(Duration::from_secs(20))).tried(|| "set a timeout".to_string())?;
        let reply = wire::receive::<Reply>(&self.socket).map_err(|error| lost(format!("does not answer: {error}")))?;
        match reply {
            Some((Reply::Ready { .. }, _)) => Ok(()),
            Some((Reply::Failed { stage, errno }, _)) => {
                Err(Fault::Sandbox { stage, source: io::Error::from_raw_os_error(errno) })
            }
            Some(_) => Err(lost("answered something else than was asked".to_string())),
            None => Err(lost("ended at once; is it a program that calls `supervisor::main`?".to_string())),
        }
    }

    /// Has the file tree show these paths.
    pub(crate) fn show(&mut self, context: &Context, paths: &[PathBuf]) -> Result<(), Fault> {
        if !context.isolation.mount || self.laid && self.paths == paths {
            return Ok(());
        }
        let boxed = (context.options.work == WorkFolder::Disk).then_some(self.boxed.as_path());
        let plan = context.base.plan(paths, &self.files, boxed)?;
        self.laid = false;
        self.sound = false;
        self.ask(context, &Request::Layout(plan.entries))?;
        self.sound = true;
        self.laid = true;
        self.paths = paths.to_vec();
        self.shown = plan.shown;
        Ok(())
    }

    /// Whether the file tree in place shows a path of the host at the same path.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.shown.iter().any(|top| path.starts_with(top))
    }
}

fn start_helper(helper: &Helper) -> io::Result<(UnixStream, Child)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = Command::new(&helper.program)
        .args(&helper.arguments)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_clear()
        .current_dir("/")
        .spawn()?;
    Ok((ours, child))
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The end of the stream tells the sandbox process to kill its run, if any, and to end.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if start.elapsed() < Duration::from_secs(5) => {
                    std::thread::sleep(Duration::from_micros(500));
                }
                Ok(None) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    break;
                }
                _ => break,
            }
        }
        self.group.remove();
        if fs::symlink_metadata(&self.folder).is_ok() {
            let _ = scratch::remove_tree(&self.folder);
        }
    }
}
