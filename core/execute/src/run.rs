//! One run: started, watched, ended, measured.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{MemfdFlags, OFlags, SealFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::thread::CpuSet;

use crate::group::GroupLimits;
use crate::job::{CancelToken, FileContent, Job, Stdin};
use crate::launcher::{self, monotonic};
use crate::observation::{Captured, Fault, Limit, MemoryUse, Observation, Tried};
use crate::runner::{Context, Slot, WorkFolder};
use crate::scratch;
use crate::script::{Dialogue, Next};
use crate::wire::{self, FILES, Input, Launch, Reply, Report, Request, WORK, Work};

/// How long a killed run may take to be gone before it is given up.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long a sandbox may take to start a program.
const SETUP: Duration = Duration::from_secs(20);
/// When a run is first looked at, in nanoseconds; most short ones are over before.
const FIRST_LOOK: u64 = 20_000_000;
/// How long answers are waited for, one after the other, before all else is looked at again: nanoseconds.
const ATTENTION: u64 = 5_000_000;
/// How long one of them is waited for meanwhile: nanoseconds.
const PAUSE: u64 = 1_000_000;
/// How long a working folder on disk is walked at a time.
const WALK: Duration = Duration::from_millis(100);
/// What a tmpfs holds beyond the limit, so that passing the limit can be seen.
const SLACK: u64 = 1 << 20;

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Runs a job in a slot. Leaves [`Slot::sound`] unset where the slot cannot be used again.
pub(crate) fn run(slot: &mut Slot, context: &Context, job: &Job, cancel: &CancelToken) -> Result<Observation, Fault> {
    let result = prepare(slot, context, job).and_then(|prepared| {
        slot.sound = false;
        slot.group
            .begin(&GroupLimits { memory: job.limits.memory, processes: job.limits.processes, cpus: job.cpus.clone() })
            .tried(|| "set up the control group".to_string())?;
        let observation = Watch::start(slot, context, job, prepared)?.run(cancel);
        // A program that cannot be executed leaves the sandbox as it was.
        slot.sound = matches!(observation, Ok(_) | Err(Fault::Exec { .. })) && !slot.lost.get();
        observation
    });
    // Unless it is known that it was not, the limit of memory is taken for raised.
    slot.group.end(!matches!(&result, Ok(seen) if seen.limit != Some(Limit::Memory)));
    let boxed = run_folder(slot);
    if boxed.symlink_metadata().is_ok()
        && let Err(source) = scratch::remove_tree(&boxed)
    {
        slot.sound = false;
        return Err(Fault::Host { what: format!("remove {}", boxed.display()), source });
    }
    slot.runs += 1;
    result
}

/// Bytes that a working folder in memory may hold, and that are collected at most.
fn room(context: &Context, job: &Job) -> u64 {
    job.limits.disk.or(job.limits.memory).unwrap_or(context.memory / 2)
}

/// The working folder of the slot's present run, if on disk.
fn run_folder(slot: &Slot) -> PathBuf {
    slot.boxed.join(format!("run-{}", slot.runs))
}

/// What must be known and made before a run.
struct Prepared {
    program: PathBuf,
    launch: Launch,
    input: Option<OwnedFd>,
    /// The other end of standard input, for a dialogue.
    feed: Option<OwnedFd>,
}

fn prepare(slot: &mut Slot, context: &Context, job: &Job) -> Result<Prepared, Fault> {
    let search = variable(&job.environment, "PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
    let program = find_program(&job.program, search)?;
    let isolated = context.isolation.mount;
    let mut paths = job.readable.clone();
    if !context.base.shows(&program) && !paths.iter().any(|path| program.starts_with(path)) {
        paths.push(program.clone());
    }
    slot.show(context, &paths)?;
    slot.asked.clone_from(&job.readable);

    let work = if isolated && context.options.work == WorkFolder::Memory {
        let bytes = room(context, job).saturating_add(SLACK);
        Work::Tmpfs { bytes, files: (bytes / 4096).clamp(1024, 1 << 20) }
    } else {
        let folder = run_folder(slot);
        scratch::create_private(&folder).tried(|| format!("make {}", folder.display()))?;
        if isolated { Work::Boxed(PathBuf::from(format!("run-{}", slot.runs))) } else { Work::Folder(folder) }
    };
    let work_path = match &work {
        Work::Folder(folder) => folder.clone(),
        _ => PathBuf::from(WORK),
    };

    for path in &job.collect {
        let parts = || Path::new(path).components().filter(|part| *part != Component::CurDir);
        if parts().next().is_none()
            || !parts().all(|part| matches!(part, Component::Normal(_)))
            || path.as_bytes().contains(&0)
        {
            return Err(Fault::Job(format!(
                "{} cannot be collected: a path below the working folder is needed, without `..`",
                Path::new(path).display()
            )));
        }
        if job.files.iter().any(|file| parts().eq(Path::new(&file.name).components())) {
            return Err(Fault::Job(format!("{} is both placed and collected", Path::new(path).display())));
        }
    }

    clear_files(slot)?;
    let mut links = Vec::new();
    for file in &job.files {
        let name = Path::new(&file.name);
        let mut parts = name.components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Err(Fault::Job(format!("a file cannot be placed as {}: a plain name is needed", name.display())));
        }
        if isolated {
            place(&slot.files.join(name), &file.content, true)?;
            links.push((name.to_path_buf(), Path::new(FILES).join(name)));
        } else {
            place(&work_path.join(name), &file.content, false)?;
        }
    }
    let mut feed = None;
    let (input, passed) = if job.script.is_some() {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).tried(|| "make a pipe".to_string())?;
        rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK).tried(|| "make a pipe".to_string())?;
        // Long commands then need fewer turns; where it is not allowed, they need more.
        let _ = rustix::pipe::fcntl_setpipe_size(&write, FEED);
        feed = Some(write);
        (Input::Passed, Some(read))
    } else {
        input(slot, job, isolated)?
    };

    let mut environment = job.environment.clone();
    for (name, value) in [
        ("PATH", OsStr::new(DEFAULT_PATH)),
        ("HOME", work_path.as_os_str()),
        ("TMPDIR", work_path.as_os_str()),
        ("LANG", OsStr::new("C.UTF-8")),
    ] {
        if variable(&environment, name).is_none() {
            environment.push((OsString::from(name), value.to_os_string()));
        }
    }
    let mut argv = vec![program.as_os_str().as_bytes().to_vec()];
    argv.extend(job.arguments.iter().map(|text| text.as_bytes().to_vec()));
    let env: Vec<Vec<u8>> =
        environment.iter().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
    if argv.iter().chain(&env).any(|text| text.contains(&0)) {
        return Err(Fault::Job("an argument or environment variable holds a zero byte".to_string()));
    }
    Ok(Prepared {
        launch: Launch {
            program: program.as_os_str().as_bytes().to_vec(),
            argv,
            env,
            work,
            links,
            input,
            rlimits: rlimits(context, job),
            cpus: job.cpus.clone(),
            into_group: false,
            hold_output: job.script.is_none(),
        },
        program,
        input: passed,
        feed,
    })
}

/// Bytes that the pipe of a dialogue holds.
const FEED: usize = 1 << 20;

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn variable<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_os_str())
}

fn find_program(program: &Path, search: &OsStr) -> Result<PathBuf, Fault> {
    let missing = |source: io::Error| Fault::Exec { path: program.to_path_buf(), source };
    if program.as_os_str().as_bytes().contains(&b'/') {
        let path = std::path::absolute(program).map_err(missing)?;
        // Found missing here, it is told apart from a missing interpreter.
        path.metadata().map_err(missing)?;
        return Ok(path);
    }
    std::env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .ok_or_else(|| missing(io::Error::from(io::ErrorKind::NotFound)))
}

/// Removes the files of the slot's last job.
fn clear_files(slot: &Slot) -> Result<(), Fault> {
    let clear = || -> io::Result<()> {
        for entry in fs::read_dir(&slot.files)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    };
    clear().tried(|| format!("empty {}", slot.files.display()))
}

/// Puts a file where a run can see it. Where it is seen through a read-only mount it may share the original's
/// storage; otherwise it is a copy.
fn place(at: &Path, content: &FileContent, shared: bool) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt;
    let put = || -> io::Result<()> {
        match content {
            FileContent::Bytes(bytes) => fs::write(at, bytes)?,
            FileContent::Path(path) => {
                let path = path.canonicalize()?;
                if !path.is_file() {
                    return Err(io::Error::other("it is not a regular file"));
                }
                if shared && fs::hard_link(&path, at).is_ok() {
                    return Ok(());
                }
                fs::copy(&path, at)?;
            }
        }
        fs::set_permissions(at, fs::Permissions::from_mode(0o444))
    };
    put().tried(|| match content {
        FileContent::Path(path) => format!("place {} for a run", path.display()),
        FileContent::Bytes(_) => format!("write {} for a run", at.display()),
    })
}

/// Standard input. A file is opened inside the sandbox, through a read-only mount: a descriptor of the
/// host's file could be opened again for writing.
fn input(slot: &Slot, job: &Job, isolated: bool) -> Result<(Input, Option<OwnedFd>), Fault> {
    match &job.stdin {
        Stdin::Null => Ok((Input::Path(PathBuf::from("/dev/null")), None)),
        Stdin::File(path) => {
            let source = path.canonicalize().tried(|| format!("find {}", path.display()))?;
            if !isolated || slot.shows(&source) {
                return Ok((Input::Path(source), None));
            }
            let name = "agon-stdin";
            place(&slot.files.join(name), &FileContent::Path(source), true)?;
            Ok((Input::Path(Path::new(FILES).join(name)), None))
        }
        Stdin::Bytes(bytes) => {
            let memory = || -> io::Result<OwnedFd> {
                let fd = rustix::fs::memfd_create("agon-stdin", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
                let file = File::from(fd);
                std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0)?;
                rustix::fs::fcntl_add_seals(
                    &file,
                    SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
                )?;
                Ok(file.into())
            };
            Ok((Input::Passed, Some(memory().tried(|| "hold the standard input".to_string())?)))
        }
    }
}

/// Limits of the kernel for each process: some as such, some behind the limits of the whole tree.
fn rlimits(context: &Context, job: &Job) -> Vec<(u32, u64)> {
    let limits = &job.limits;
    let mut list = vec![(libc::RLIMIT_CORE, 0)];
    if let Some(bytes) = limits.file_size {
        list.push((libc::RLIMIT_FSIZE, bytes));
    }
    if let Some(cpu) = limits.cpu {
        list.push((libc::RLIMIT_CPU, cpu.as_secs().saturating_add(3)));
    }
    if !context.has("memory")
        && let Some(bytes) = limits.memory
    {
        // Programs reserve more than they use; what they use is looked at now and then.
        list.push((libc::RLIMIT_AS, bytes.saturating_mul(2).saturating_add(256 << 20)));
    }
    if !context.has("pids")
        && context.isolation.user
        && !context.root
        && let Some(count) = limits.processes
    {
        // Counted in the slot's user namespace: the sandbox process, the run's first, and one more so that
        // passing the limit can be seen.
        list.push((libc::RLIMIT_NPROC, count.saturating_add(3)));
    }
    list
}

/// A run in progress.
struct Watch<'a> {
    slot: &'a Slot,
    context: &'a Context,
    job: &'a Job,
    program: PathBuf,
    report: OwnedFd,
    /// Whether nothing more comes there.
    reported: bool,
    streams: [Stream; 2],
    /// What was read last.
    buffer: Vec<u8>,
    dialogue: Option<Dialogue<'a>>,
    /// Whether its answers are mostly there at once: not negative.
    prompt: i32,
    /// Whether the run was ended because it went on after its dialogue.
    dismissed: bool,
    launched: u64,
    /// Reports of the run's first process.
    started: Option<Report>,
    ended: Option<Report>,
    failed: Option<Fault>,
    /// The tmpfs the run works in.
    folder: Option<OwnedFd>,
    first: Option<First>,
    gone: Option<Gone>,
    limit: Option<Limit>,
    killed: Option<u64>,
    kill_sent: bool,
    /// The highest sum of resident sets seen, without control groups.
    sampled: u64,
    /// The CPU time seen last, without control groups.
    sampled_cpu: u64,
    next_cpu: u64,
    next_tick: u64,
    next_disk: u64,
}

/// This thread, on the cores of a run; it goes back to its own when this is dropped.
struct Near(CpuSet);

impl Near {
    /// Nothing if no cores are named, or the thread may not choose.
    fn new(cpus: &[u32]) -> Option<Near> {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            let cpu = usize::try_from(cpu).ok().filter(|cpu| *cpu < CpuSet::MAX_CPU)?;
            set.set(cpu);
        }
        let own = rustix::thread::sched_getaffinity(None).ok()?;
        (!cpus.is_empty() && rustix::thread::sched_setaffinity(None, &set).is_ok()).then_some(Near(own))
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        // If this fails the thread stays where it is, and runs as before.
        let _ = rustix::thread::sched_setaffinity(None, &self.0);
    }
}

struct Stream {
    pipe: Option<OwnedFd>,
    captured: Captured,
}

/// The run's first process.
struct First {
    pid: i32,
    pidfd: Option<OwnedFd>,
}

/// What the sandbox process tells at the end, in nanoseconds and bytes.
struct Gone {
    at: u64,
    status: i32,
    user: u64,
    system: u64,
    resident: u64,
    sandbox_cpu: u64,
}

impl<'a> Watch<'a> {
    fn start(slot: &'a Slot, context: &'a Context, job: &'a Job, prepared: Prepared) -> Result<Watch<'a>, Fault> {
        let descriptor = || "make a pipe".to_string();
        let pipe = || -> Result<(OwnedFd, OwnedFd), Fault> {
            let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).tried(descriptor)?;
            rustix::fs::fcntl_setfl(&read, OFlags::NONBLOCK).tried(descriptor)?;
            Ok((read, write))
        };
        let (output, output_end) = pipe()?;
        let (error, error_end) = pipe()?;
        let (report, report_end) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .tried(descriptor)?;
        let mut launch = prepared.launch;
        let mut fds: Vec<BorrowedFd<'_>> = vec![output_end.as_fd(), error_end.as_fd(), report_end.as_fd()];
        if let Some(input) = &prepared.input {
            fds.push(input.as_fd());
        }
        if let Some(group) = slot.group.folder() {
            fds.push(group.as_fd());
            launch.into_group = true;
        }
        let lost = |error: io::Error| Fault::Helper {
            program: context.options.helper.program.clone(),
            what: format!("does not listen: {error}"),
        };
        slot.socket.set_read_timeout(Some(SETUP)).map_err(lost)?;
        let dialogue = match job.script.as_ref().zip(prepared.feed) {
            Some((script, feed)) => {
                Some(Dialogue::new(script, feed).tried(|| "open the text of a dialogue".to_string())?)
            }
            None => None,
        };
        let launched = monotonic();
        wire::send(&slot.socket, &Request::Launch(Box::new(launch)), &fds).map_err(lost)?;
        let stream = |pipe| Stream { pipe: Some(pipe), captured: Captured::default() };
        Ok(Watch {
            slot,
            context,
            job,
            program: prepared.program,
            report,
            reported: false,
            streams: [stream(output), stream(error)],
            buffer: vec![0; 1 << 16],
            dialogue,
            prompt: 0,
            dismissed: false,
            launched,
            started: None,
            ended: None,
            failed: None,
            folder: None,
            first: None,
            gone: None,
            limit: None,
            killed: None,
            kill_sent: false,
            sampled: 0,
            sampled_cpu: 0,
            next_cpu: 0,
            next_tick: launched + FIRST_LOOK,
            next_disk: 0,
        })
    }

    fn run(mut self, cancel: &CancelToken) -> Result<Observation, Fault> {
        // Who is answered at once waits on the core that the answer comes from: waking another one takes many times as
        // long as a short answer. While the program works, this thread sleeps.
        let _near = self.dialogue.as_ref().and_then(|_| Near::new(&self.job.cpus));
        while self.gone.is_none() {
            self.turn(cancel)?;
        }
        let outcome = self.finish();
        if let Some(folder) = self.folder.take() {
            self.context.discard(folder);
        }
        outcome
    }

    fn finish(&mut self) -> Result<Observation, Fault> {
        self.read_reports()?;
        for index in 0..2 {
            while self.read(index)? {}
        }
        if let Some(fault) = self.failed.take() {
            return Err(fault);
        }
        if self.killed.is_none() {
            // The last answer may have come with the end.
            self.advance_dialogue()?;
        }
        let mut seen = self.observation()?;
        // After all is measured. What ran out of memory has lost its working folder, if that was in memory.
        if seen.limit != Some(Limit::Memory) && !self.job.collect.is_empty() {
            seen.collected = self.collect()?;
        }
        Ok(seen)
    }

    /// Reads what the program left. Nobody else is there any more, so nothing changes meanwhile.
    fn collect(&self) -> Result<Vec<(OsString, Captured)>, Fault> {
        let on_disk = match &self.folder {
            Some(_) => None,
            // Killed before its folder was told.
            None if self.context.mechanisms.work == "tmpfs" => return Ok(Vec::new()),
            None => scratch::open_folder(&run_folder(self.slot)).tried(|| "open a working folder".to_string())?,
        };
        let Some(folder) = self.folder.as_ref().or(on_disk.as_ref()) else {
            return Ok(Vec::new());
        };
        let options = &self.context.options;
        let mut left = room(self.context, self.job);
        let mut found = Vec::new();
        for path in &self.job.collect {
            let doing = || format!("keep the file {} of a run", Path::new(path).display());
            let Some(mut file) = scratch::open_left(folder, Path::new(path)).tried(doing)? else {
                continue;
            };
            let mut captured = Captured::default();
            let mut buffer = vec![0; 1 << 16];
            loop {
                let got = match io::Read::read(&mut file, &mut buffer) {
                    Ok(0) => break,
                    Ok(got) => got,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error).tried(doing),
                };
                let keep = usize::try_from(left).unwrap_or(usize::MAX).min(got);
                captured.push(&buffer[..keep], options.spool, &self.context.scratch.path).tried(doing)?;
                left -= keep as u64;
                if keep < got {
                    captured.truncate();
                    break;
                }
            }
            found.push((path.clone(), captured));
        }
        Ok(found)
    }

    /// Waits for something to happen, and deals with it.
    fn turn(&mut self, cancel: &CancelToken) -> Result<(), Fault> {
        let cancelling = matches!(self.failed, Some(Fault::Cancelled));
        let timeout = self.timeout();
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (timeout % 1_000_000_000) as _,
        };
        let mut polls = vec![PollFd::new(&self.slot.socket, PollFlags::IN)];
        let out_of_memory = self.slot.group.out_of_memory();
        let killing = self.killed.is_some();
        if !self.reported && (killing || self.dialogue.is_some()) {
            // Otherwise reports are read when there is something else to do: on a busy machine, being
            // woken for each would cost more than a short run takes.
            polls.push(PollFd::new(&self.report, PollFlags::IN));
        }
        // Once readable, these stay so, and there is nothing more to do about them.
        let cancel_at = (!cancelling).then(|| {
            polls.push(PollFd::new(cancel, PollFlags::IN));
            polls.len() - 1
        });
        let memory_at = out_of_memory.as_ref().filter(|_| !killing).map(|event| {
            polls.push(PollFd::new(event, PollFlags::IN));
            polls.len() - 1
        });
        let stream_at = [0, 1].map(|index| {
            self.streams[index].pipe.as_ref().map(|pipe| {
                polls.push(PollFd::new(pipe, PollFlags::IN));
                polls.len() - 1
            })
        });
        if let Some(pipe) = self.dialogue.as_ref().and_then(Dialogue::wants_to_write) {
            polls.push(PollFd::new(pipe, PollFlags::OUT));
        }
        match rustix::event::poll(&mut polls, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).tried(|| "wait for a run".to_string()),
        }
        let ready = |at: Option<usize>| at.is_some_and(|at| !polls[at].revents().is_empty());
        let socket = ready(Some(0));
        let (cancelled, memory) = (ready(cancel_at), ready(memory_at));
        let streams = stream_at.map(ready);
        drop(polls);

        // A report comes before the end it leads to, so the other order could miss it.
        self.read_reports()?;
        if memory {
            self.end_for(Limit::Memory);
        }
        for (index, readable) in streams.into_iter().enumerate() {
            if readable {
                self.read(index)?;
            }
        }
        if socket {
            self.read_reply()?;
        }
        if self.started.is_some() && self.killed.is_none() && !cancelled {
            self.advance_dialogue()?;
            if self.dialogue.as_ref().is_some_and(Dialogue::listens) {
                self.listen()?;
            }
        }
        if cancelled {
            self.failed = Some(Fault::Cancelled);
            self.kill();
        }
        self.check_limits()
    }

    /// Nanoseconds until something has to be looked at.
    fn timeout(&self) -> u64 {
        let now = monotonic();
        let mut until = match self.killed {
            Some(at) => at + nanos(PATIENCE),
            // Not known to have started: look soon.
            None if self.started.is_none() => self.next_tick,
            None => u64::MAX,
        };
        if self.killed.is_none()
            && let Some(started) = &self.started
        {
            if let Some(wall) = self.job.limits.wall {
                until = until.min(started[1].saturating_add(nanos(wall)));
            }
            if self.job.limits.cpu.is_some() {
                until = until.min(self.next_cpu);
            }
            until = until.min(self.next_tick);
            if self.ended.is_none()
                && let Some(deadline) = self.dialogue.as_ref().and_then(Dialogue::deadline)
            {
                until = until.min(deadline);
            }
        }
        // Not longer than an hour: no need to care for how much a time can hold.
        until.saturating_sub(now).min(3_600_000_000_000)
    }

    fn check_limits(&mut self) -> Result<(), Fault> {
        let now = monotonic();
        if let Some(killed) = self.killed {
            if self.gone.is_none() && now > killed + nanos(PATIENCE) {
                return Err(Fault::Stuck { seconds: PATIENCE.as_secs() });
            }
            return Ok(());
        }
        let Some(started) = self.started else {
            if self.gone.is_none() && now > self.launched + nanos(SETUP) {
                return Err(Fault::Helper {
                    program: self.context.options.helper.program.clone(),
                    what: format!("started nothing within {} s", SETUP.as_secs()),
                });
            }
            if now >= self.next_tick {
                self.next_tick = now + FIRST_LOOK;
            }
            return Ok(());
        };
        if self.ended.is_some() {
            return Ok(());
        }
        if let Some(wall) = self.job.limits.wall
            && now >= started[1].saturating_add(nanos(wall))
        {
            self.end_for(Limit::Wall);
            return Ok(());
        }
        if self.job.limits.cpu.is_some() && now >= self.next_cpu {
            self.check_cpu(now, started[2]);
        }
        if now >= self.next_tick {
            self.tick(now);
        }
        Ok(())
    }

    fn check_cpu(&mut self, now: u64, own: u64) {
        let Some(limit) = self.job.limits.cpu.map(nanos) else {
            return;
        };
        let Some(used) = self.slot.group.cpu().cpu_ns else {
            // Without a group, the look at all processes tells.
            self.next_cpu = u64::MAX;
            return;
        };
        let used = used.saturating_sub(own);
        if used >= limit {
            self.end_for(Limit::Cpu);
            return;
        }
        // Not before the limit can be reached on all cores at once.
        let cores = match self.job.cpus.len() {
            0 => self.context.core_count,
            pinned if self.context.has("cpuset") => pinned,
            _ => self.context.core_count,
        } as u64;
        self.next_cpu = now + ((limit - used) / cores).clamp(1_000_000, 1_000_000_000);
    }

    /// Looks at what tells nobody when it is passed.
    fn tick(&mut self, now: u64) {
        let watched = self.watched();
        let period = if watched { 20_000_000 } else { 50_000_000 };
        self.next_tick = now + period;
        if watched && let Some(limit) = self.look_at_tree() {
            self.end_for(limit);
            return;
        }
        if self.slot.group.process_refused() {
            self.end_for(Limit::Processes);
            return;
        }
        if self.slot.group.out_of_memory().is_none() && self.slot.group.memory_exceeded() {
            self.end_for(Limit::Memory);
            return;
        }
        if now >= self.next_disk {
            if self.disk_exceeded() {
                self.end_for(Limit::Disk);
            }
            // Large trees are walked seldom: a twentieth of the time at most.
            self.next_disk = now + 20 * (monotonic() - now);
        }
    }

    /// Whether something is only known by looking at all processes.
    fn watched(&self) -> bool {
        !self.context.has("memory") || !self.context.has("pids") || self.context.mechanisms.cpu == "wait"
    }

    /// Adds up what the run's processes use, as `/proc` shows it; the limit passed, if any.
    fn look_at_tree(&mut self) -> Option<Limit> {
        let first = self.first.as_ref()?;
        let mut seen = launcher::descendants(first.pid);
        seen.retain(|process| !process.zombie);
        let resident: u64 = seen.iter().map(|process| process.resident).sum();
        let resident = resident * rustix::param::page_size() as u64;
        let tasks: u64 = seen.iter().map(|process| process.threads).sum();
        let ticks: u64 = launcher::descendants(self.slot.child.id() as i32).iter().map(|process| process.ticks).sum();
        self.sampled = self.sampled.max(resident);
        let cpu = ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1));
        self.sampled_cpu = self.sampled_cpu.max(cpu);
        let limits = &self.job.limits;
        let counted = self.context.mechanisms.cpu == "wait";
        if limits.memory.is_some_and(|limit| resident > limit) {
            Some(Limit::Memory)
        } else if limits.processes.is_some_and(|limit| tasks > limit) {
            Some(Limit::Processes)
        } else if counted && limits.cpu.is_some_and(|limit| cpu >= nanos(limit)) {
            Some(Limit::Cpu)
        } else {
            None
        }
    }

    /// Whether the working folder holds more than allowed. Where it is on disk, it is walked.
    fn disk_exceeded(&self) -> bool {
        let Some(limit) = self.job.limits.disk else {
            return false;
        };
        if let Some(folder) = &self.folder {
            return rustix::fs::fstatfs(folder).is_ok_and(|stat| {
                let used = (stat.f_blocks - stat.f_bfree).saturating_mul(stat.f_bsize as u64);
                used > limit || stat.f_files > 0 && stat.f_ffree == 0
            });
        }
        if self.context.mechanisms.work == "tmpfs" {
            return false;
        }
        scratch::used(&run_folder(self.slot), limit, WALK) > limit
    }

    fn advance_dialogue(&mut self) -> Result<(), Fault> {
        let group = &self.slot.group;
        let Some(dialogue) = &mut self.dialogue else {
            return Ok(());
        };
        let next = dialogue.advance(|| group.cpu_time());
        if let Some(error) = dialogue.take_failure() {
            return Err(error).tried(|| "read the text of a dialogue".to_string());
        }
        match next {
            Next::Wait => {}
            Next::Late => self.end_for(Limit::Wall),
            // A program that has ended by itself already is left in peace.
            Next::Dismiss if self.killed.is_none() && self.ended.is_none() && self.gone.is_none() => {
                self.dismissed = true;
                self.kill();
            }
            Next::Dismiss => {}
        }
        Ok(())
    }

    /// Waits for answers alone, as long as they come soon: what else can happen is looked at every few milliseconds.
    fn listen(&mut self) -> Result<(), Fault> {
        let until = monotonic().saturating_add(self.timeout().min(ATTENTION));
        let pause = Timespec { tv_sec: 0, tv_nsec: PAUSE as _ };
        let mut count = 0_u32;
        loop {
            // A program on the same core may have answered before this thread runs again. Where it mostly has not, asking
            // is for nothing.
            let mut got = false;
            if self.prompt >= 0 || count.is_multiple_of(64) {
                got = self.read(0)?;
                self.prompt = (self.prompt + if got { 1 } else { -1 }).clamp(-8, 8);
            }
            if !got && let Some(pipe) = &self.streams[0].pipe {
                match rustix::event::poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&pause)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
                    Ok(_) => {}
                    Err(error) => return Err(error).tried(|| "wait for an answer".to_string()),
                }
                self.read(0)?;
            }
            if self.killed.is_some() {
                return Ok(());
            }
            self.advance_dialogue()?;
            count += 1;
            if !self.dialogue.as_ref().is_some_and(Dialogue::listens)
                || self.killed.is_some()
                || (count.is_multiple_of(16) && monotonic() >= until)
            {
                return Ok(());
            }
        }
    }

    fn end_for(&mut self, limit: Limit) {
        self.limit.get_or_insert(limit);
        if limit == Limit::Memory {
            self.slot.group.relax();
        }
        self.kill();
        if limit == Limit::Memory {
            // A working folder in memory is part of what fills it, and goes when nobody holds it.
            if let Some(folder) = self.folder.take() {
                self.context.discard(folder);
            }
        }
    }

    fn kill(&mut self) {
        if self.killed.is_none() {
            self.killed = Some(monotonic());
        }
        if self.first.is_none() || self.kill_sent {
            // If it is not known yet, as soon as it is.
            return;
        }
        self.kill_sent = true;
        if self.watched() {
            // The times of processes that are killed with their tree are not in anybody's account.
            self.look_at_tree();
        }
        let pidfd = self.first.as_ref().and_then(|first| first.pidfd.as_ref());
        let by_pidfd = self.context.isolation.pid
            && pidfd
                .is_some_and(|pidfd| rustix::process::pidfd_send_signal(pidfd, rustix::process::Signal::KILL).is_ok());
        if !by_pidfd {
            self.slot.group.kill();
            // If this fails the sandbox process is gone, which ends the wait as well.
            let _ = wire::send(&self.slot.socket, &Request::Kill, &[]);
        }
    }

    fn read_reply(&mut self) -> Result<(), Fault> {
        let lost = |what: String| Fault::Helper { program: self.context.options.helper.program.clone(), what };
        let (reply, _) = match wire::receive::<Reply>(&self.slot.socket) {
            Ok(Some(message)) => message,
            Ok(None) if self.limit == Some(Limit::Memory) || self.slot.group.memory_exceeded() => {
                // It lives in the group that ran out of memory and fell with the run.
                self.slot.lost.set(true);
                self.limit = Some(Limit::Memory);
                self.gone = Some(Gone {
                    at: monotonic(),
                    status: libc::SIGKILL,
                    user: 0,
                    system: 0,
                    resident: 0,
                    sandbox_cpu: 0,
                });
                return Ok(());
            }
            Ok(None) => return Err(lost("ended during a run".to_string())),
            Err(error) => return Err(lost(format!("broke off during a run: {error}"))),
        };
        match reply {
            Reply::Ended { status, user_ns, system_ns, largest_resident, own_cpu_ns } => {
                self.gone = Some(Gone {
                    at: monotonic(),
                    status,
                    user: user_ns,
                    system: system_ns,
                    resident: largest_resident,
                    sandbox_cpu: own_cpu_ns,
                });
                Ok(())
            }
            Reply::Failed { stage, errno } => {
                Err(Fault::Sandbox { stage, source: io::Error::from_raw_os_error(errno) })
            }
            Reply::Ready { .. } => Err(lost("spoke out of turn".to_string())),
        }
    }

    fn read_reports(&mut self) -> Result<(), Fault> {
        loop {
            let mut bytes = [0; wire::REPORT_BYTES];
            let mut fds = Vec::new();
            let got = match wire::receive_fds(self.report.as_fd(), &mut bytes, &mut fds) {
                Ok(0) => {
                    self.reported = true;
                    return Ok(());
                }
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(source) => {
                    return Err(Fault::Host { what: "read a run's report".to_string(), source });
                }
            };
            let Some(report) = wire::decode(&bytes[..got]) else {
                continue;
            };
            let errno = |word: u64| io::Error::from_raw_os_error(word as i32);
            match report[0] {
                wire::STARTED => {
                    self.started = Some(report);
                    self.folder = fds.pop();
                }
                wire::FIRST => {
                    self.first = Some(First { pid: report[1] as i32, pidfd: fds.pop() });
                    if self.killed.is_some() {
                        self.kill();
                    }
                }
                wire::ENDED => self.ended = Some(report),
                wire::NO_EXEC => {
                    self.failed.get_or_insert(Fault::Exec { path: self.program.clone(), source: errno(report[1]) });
                }
                wire::NO_SETUP => {
                    let stage = usize::try_from(report[1])
                        .ok()
                        .and_then(|index| wire::STAGES.get(index))
                        .unwrap_or(&"set up the run");
                    self.failed.get_or_insert(Fault::Sandbox { stage: (*stage).to_string(), source: errno(report[2]) });
                }
                _ => {}
            }
        }
    }

    /// Reads what is there on a stream; whether there may be more.
    fn read(&mut self, index: usize) -> Result<bool, Fault> {
        let kept: u64 = self.streams.iter().map(|stream| stream.captured.len()).sum();
        let stream = &mut self.streams[index];
        let Some(pipe) = &stream.pipe else {
            return Ok(false);
        };
        let buffer = &mut self.buffer;
        let got = match rustix::io::read(pipe, &mut buffer[..]) {
            Ok(0) => {
                stream.pipe = None;
                if let (0, Some(dialogue)) = (index, &mut self.dialogue) {
                    dialogue.output_ended();
                }
                return Ok(false);
            }
            Ok(got) => got,
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(error) => return Err(error).tried(|| "read a run's output".to_string()),
        };
        let room = self.job.limits.output.map_or(u64::MAX, |limit| limit.saturating_sub(kept));
        let keep = usize::try_from(room).unwrap_or(usize::MAX).min(got);
        let options = &self.context.options;
        stream
            .captured
            .push(&buffer[..keep], options.spool, &self.context.scratch.path)
            .tried(|| "keep a run's output".to_string())?;
        if let (0, Some(dialogue)) = (index, &mut self.dialogue) {
            dialogue.output(&buffer[..keep]);
        }
        if keep < got {
            stream.captured.truncate();
            stream.pipe = None;
            self.end_for(Limit::Output);
            return Ok(false);
        }
        Ok(true)
    }

    fn observation(&mut self) -> Result<Observation, Fault> {
        let lost =
            |what: &str| Fault::Helper { program: self.context.options.helper.program.clone(), what: what.to_string() };
        let Some(gone) = self.gone.take() else {
            return Err(lost("lost a run"));
        };
        let group = &self.slot.group;
        let limits = &self.job.limits;
        let memory_exceeded = group.memory_exceeded();
        let started = match self.started {
            Some(started) => started,
            // A run may pass a limit and be killed before its start is reported.
            None if self.limit.is_some() || memory_exceeded => [wire::STARTED, self.launched, 0, 0, 0, 0, 0, 0],
            None => return Err(lost("ended a run that never started")),
        };
        let status = match self.ended {
            Some(ended) => ended[2] as i32,
            // Killed whole: by us, or by the kernel for want of memory.
            None if self.killed.is_some() || memory_exceeded => libc::SIGKILL,
            None => {
                return Err(Fault::Host {
                    what: format!(
                        "a run was killed from outside (its first process ended with status {})",
                        gone.status
                    ),
                    source: io::Error::other("not by this runner"),
                });
            }
        };
        let exit = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        let wall_ns = self.ended.map_or(gone.at, |ended| ended[1]).saturating_sub(started[1]);

        // The first process's own time: all it and those it waited for used, less the latter; or what it
        // said last, where those it left were added after.
        let own = match self.ended {
            Some(ended) if ended[5] == 0 => (gone.user + gone.system).saturating_sub(ended[6] + ended[7]),
            Some(ended) => ended[3],
            None => started[2],
        };
        let count = group.cpu();
        let waited = match self.ended {
            Some(ended) if !self.context.isolation.pid => (ended[6], ended[7]),
            _ => (gone.user, gone.system),
        };
        let cpu_ns = match (&count.cpu_ns, self.ended) {
            (Some(total), _) => {
                let in_group = match group {
                    crate::group::SlotGroup::V1(_) => gone.sandbox_cpu,
                    _ => 0,
                };
                total.saturating_sub(own + in_group)
            }
            (None, Some(ended)) if !self.context.isolation.pid => self.sampled_cpu.max(ended[6] + ended[7]),
            (None, _) => self.sampled_cpu.max((gone.user + gone.system).saturating_sub(own)),
        };
        let (user, system) = match (count.user_ns, count.system_ns) {
            (0, 0) => waited,
            counted => counted,
        };
        let whole = u128::from(user) + u128::from(system);
        let cpu_user_ns = (u128::from(cpu_ns) * u128::from(user)).checked_div(whole).map_or(cpu_ns, |part| part as u64);

        // Before it executes the program a process has the first one's memory, which counts for its
        // largest resident set; below that nothing is known.
        let floor = started[3];
        let largest = self.ended.map_or(gone.resident, |ended| ended[4].max(gone.resident));
        let largest_process = (largest > floor + floor / 8).then_some(largest);
        let group_peak = group.peak_memory();
        let mut memory = MemoryUse {
            group_peak,
            file_cache: None,
            largest_process,
            sampled: (self.sampled > 0 && group_peak.is_none()).then_some(self.sampled),
        };
        let known = largest_process.unwrap_or(0).max(memory.sampled.unwrap_or(0));
        let peak_memory = match group_peak {
            Some(peak) if peak > known => {
                memory.file_cache = group.file_cache();
                peak.saturating_sub(memory.file_cache.unwrap_or(0)).max(known)
            }
            _ => known,
        };

        let truncated = self.streams.iter().any(|stream| stream.captured.is_truncated());
        let over = |limit: Option<Duration>, used: u64| limit.is_some_and(|l| used > nanos(l));
        let limit = self.limit.or_else(|| {
            if memory_exceeded {
                Some(Limit::Memory)
            } else if truncated {
                Some(Limit::Output)
            } else if over(limits.wall, wall_ns) {
                Some(Limit::Wall)
            } else if over(limits.cpu, cpu_ns) || signal == Some(libc::SIGXCPU) {
                Some(Limit::Cpu)
            } else if group.process_refused() {
                Some(Limit::Processes)
            } else if signal == Some(libc::SIGXFSZ) || self.disk_exceeded() {
                Some(Limit::Disk)
            } else {
                None
            }
        });
        let mut mechanisms = self.context.mechanisms.clone();
        if self.job.cpus.is_empty() {
            mechanisms.pinning = "none".to_string();
        }
        let ended = started[1].saturating_add(wall_ns);
        let steps = self
            .dialogue
            .take()
            .map(|dialogue| dialogue.finish(started[1], started[2], ended, count.cpu_ns))
            .unwrap_or_default();
        let [output, error] = &mut self.streams;
        Ok(Observation {
            exit,
            signal,
            limit,
            wall_ns,
            cpu_ns,
            cpu_user_ns,
            cpu_system_ns: cpu_ns - cpu_user_ns,
            peak_memory,
            memory,
            stdout: std::mem::take(&mut output.captured),
            stderr: std::mem::take(&mut error.captured),
            stragglers: self.ended.is_some_and(|ended| ended[5] != 0),
            dismissed: self.dismissed,
            cpus: self.job.cpus.clone(),
            mechanisms,
            steps,
            collected: Vec::new(),
        })
    }
}
