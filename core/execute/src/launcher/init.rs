//! The first process of a run: sets up what is the run's own, starts the program, collects orphans,
//! reports, and ends, with which everything else in its PID namespace ends.
//!
//! It is a plain copy of the sandbox process, which has one thread, so it may allocate. The program's
//! process shares this one's memory until it executes the program, and does system calls only.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use super::{check, clock, close, monotonic, mount, nanoseconds, resources, tree, unshare};
use crate::wire::{self, Input, Isolation, Launch, Report, Work};

/// The descriptors a run is started with.
pub(super) struct Ends {
    pub output: RawFd,
    pub error: RawFd,
    pub report: RawFd,
    pub input: Option<RawFd>,
    /// The host's `/proc`.
    pub proc: Option<RawFd>,
    /// Ends when the sandbox process ends.
    pub life: RawFd,
}

/// A launch with everything in the shape the kernel wants.
pub(super) struct Prepared {
    program: CString,
    _strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    rlimits: Vec<(u32, libc::rlimit)>,
    cpus: Option<libc::cpu_set_t>,
}

impl Prepared {
    pub(super) fn new(launch: &Launch) -> io::Result<Prepared> {
        let program = CString::new(launch.program.clone()).map_err(io::Error::other)?;
        let mut strings = Vec::with_capacity(launch.argv.len() + launch.env.len());
        for text in launch.argv.iter().chain(&launch.env) {
            strings.push(CString::new(text.clone()).map_err(io::Error::other)?);
        }
        let pointers: Vec<*const libc::c_char> = strings.iter().map(|text| text.as_ptr()).collect();
        let (argv, env) = pointers.split_at(launch.argv.len());
        let ended = |list: &[*const libc::c_char]| {
            let mut list = list.to_vec();
            list.push(std::ptr::null());
            list
        };
        let cpus = (!launch.cpus.is_empty()).then(|| {
            // SAFETY: an all-zero CPU set is the empty one.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            for &cpu in &launch.cpus {
                // SAFETY: sets a bit in our own set; numbers beyond it are left out by the macro's
                // bounds check.
                unsafe { libc::CPU_SET(cpu as usize, &mut set) };
            }
            set
        });
        Ok(Prepared {
            argv: ended(argv),
            env: ended(env),
            program,
            rlimits: launch
                .rlimits
                .iter()
                .map(|&(resource, limit)| (resource, libc::rlimit { rlim_cur: limit, rlim_max: limit }))
                .collect(),
            cpus,
            _strings: strings,
        })
    }
}

/// What the program's process needs and what it tells; shared with it until it executes the program.
struct Start<'a> {
    prepared: &'a Prepared,
    input: RawFd,
    output: RawFd,
    error: RawFd,
    exec_time: u64,
    stage: u64,
    errno: i32,
}

/// Runs the first process. Never comes back.
pub(super) fn run(launch: &Launch, prepared: &Prepared, isolation: Isolation, ends: &Ends) -> ! {
    let code = match inner(launch, prepared, isolation, ends) {
        Ok(()) => 0,
        Err((stage, error)) => {
            let errno = error.raw_os_error().unwrap_or(libc::EIO) as u64;
            report(ends.report, &[wire::NO_SETUP, stage, errno, 0, 0, 0, 0, 0], None);
            1
        }
    };
    // SAFETY: ends the process without running destructors of the copied sandbox process.
    unsafe { libc::_exit(code) }
}

type Staged<T> = Result<T, (u64, io::Error)>;

fn at<T>(stage: u64, result: io::Result<T>) -> Staged<T> {
    result.map_err(|error| (stage, error))
}

fn inner(launch: &Launch, prepared: &Prepared, isolation: Isolation, ends: &Ends) -> Staged<()> {
    // SAFETY: takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    at(0, alive(ends.life))?;
    if !isolation.pid {
        // SAFETY: takes no pointers.
        at(10, check(libc::c_long::from(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) })))?;
    }
    if isolation.user || isolation.mount {
        // Hides the names of control groups; no harm where it cannot be had.
        let _ = unshare(libc::CLONE_NEWCGROUP);
    }
    let mut folder = None;
    if isolation.mount {
        if isolation.pid {
            let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            at(1, mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, None))?;
        }
        let target = at(2, CString::new(wire::WORK).map_err(io::Error::other))?;
        match &launch.work {
            Work::Tmpfs { bytes, files } => {
                let options = format!("size={},nr_inodes={},mode=0755", (*bytes).max(4096), files);
                let options = at(2, CString::new(options).map_err(io::Error::other))?;
                at(2, mount(Some(c"agon"), &target, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(&options)))?;
            }
            Work::Boxed(name) => {
                let source = at(2, super::c_path(&Path::new(wire::BOX).join(name)))?;
                at(2, mount(Some(&source), &target, None, libc::MS_BIND, None))?;
                let whole = at(2, CString::new(wire::BOX).map_err(io::Error::other))?;
                // SAFETY: the path outlives the call.
                at(2, check(libc::c_long::from(unsafe { libc::umount2(whole.as_ptr(), libc::MNT_DETACH) })))?;
            }
            Work::Folder(_) => {}
        }
    }
    let folder_path = match &launch.work {
        Work::Folder(path) => path.as_path(),
        _ => Path::new(wire::WORK),
    };
    at(3, std::env::set_current_dir(folder_path))?;
    if matches!(launch.work, Work::Tmpfs { .. }) {
        // SAFETY: the path is a C string.
        let fd = unsafe { libc::open(c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) };
        folder = Some(at(3, check(libc::c_long::from(fd)))? as RawFd);
    }
    for (name, target) in &launch.links {
        at(4, std::os::unix::fs::symlink(target, name))?;
    }
    let input = match (&launch.input, ends.input) {
        (Input::Passed, Some(fd)) => fd,
        (Input::Passed, None) => return Err((5, io::Error::from_raw_os_error(libc::EBADF))),
        (Input::Path(path), _) => {
            let path = at(5, super::c_path(path))?;
            // SAFETY: the path is a C string.
            let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
            at(5, check(libc::c_long::from(fd)))? as RawFd
        }
    };

    let mut start = Start { prepared, input, output: ends.output, error: ends.error, exec_time: 0, stage: 0, errno: 0 };
    // Memory that runs out is to end the program, not those who watch it. The program inherits the value and
    // cannot change it, for it sees /proc read-only.
    set_out_of_memory_score(ends.proc, c"1000");
    let before = resources(libc::RUSAGE_SELF).ru_maxrss as u64 * 1024;
    let child = at(6, spawn(&mut start))?;
    set_out_of_memory_score(ends.proc, c"0");
    // The program's process has executed the program or ended by now: what it wrote is complete.
    let (exec_time, stage, errno) = (start.exec_time, start.stage, start.errno);
    if errno != 0 {
        // SAFETY: waits for our own child; no pointer is kept.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        if stage == 0 {
            report(ends.report, &[wire::NO_EXEC, errno as u64, 0, 0, 0, 0, 0, 0], None);
            return Ok(());
        }
        return Err((stage, io::Error::from_raw_os_error(errno)));
    }
    if !launch.hold_output {
        close(ends.output);
        close(ends.error);
    }
    close(input);
    let own = clock(libc::CLOCK_PROCESS_CPUTIME_ID);
    report(ends.report, &[wire::STARTED, exec_time, own, before, 0, 0, 0, 0], folder);
    if let Some(fd) = folder {
        close(fd);
    }

    let mut status = 0;
    let ended = loop {
        // SAFETY: waits for any child; the status is ours.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if pid == child {
            break monotonic();
        }
        if pid < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            // Cannot be: the child is ours and not yet waited for.
            break monotonic();
        }
    };
    tree::reap();
    let stragglers = if isolation.pid {
        // SAFETY: asks whether there is any other process in this PID namespace.
        unsafe { libc::kill(-1, 0) == 0 }
    } else {
        // SAFETY: takes no pointers.
        let me = unsafe { libc::getpid() };
        let left = tree::descendants(me).iter().any(|seen| !seen.zombie);
        if left {
            tree::kill_descendants(me);
            tree::reap();
        }
        left
    };
    let children = resources(libc::RUSAGE_CHILDREN);
    report(
        ends.report,
        &[
            wire::ENDED,
            ended,
            status as u32 as u64,
            clock(libc::CLOCK_PROCESS_CPUTIME_ID),
            children.ru_maxrss as u64 * 1024,
            u64::from(stragglers),
            nanoseconds(children.ru_utime),
            nanoseconds(children.ru_stime),
        ],
        None,
    );
    Ok(())
}

/// Sets how gladly the kernel ends this process when memory runs out. Raising is always allowed, and going back
/// too; where it cannot be set, the largest process is chosen, which is the program most of the time.
fn set_out_of_memory_score(proc: Option<RawFd>, score: &CStr) {
    let Some(proc) = proc else {
        return;
    };
    // SAFETY: path and score are C strings that outlive the calls, and the descriptor is this function's own.
    unsafe {
        let fd = libc::openat(proc, c"self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd >= 0 {
            libc::write(fd, score.as_ptr().cast(), score.count_bytes());
            libc::close(fd);
        }
    }
}

/// Whether the sandbox process still lives: its end of the pipe is open.
fn alive(life: RawFd) -> io::Result<()> {
    let mut poll = libc::pollfd { fd: life, events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, ours.
    unsafe { libc::poll(&raw mut poll, 1, 0) };
    if poll.revents == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

pub(super) fn report(socket: RawFd, words: &Report, fd: Option<RawFd>) {
    // SAFETY: both descriptors are open in this process for as long as this function runs.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let bytes = wire::encode(words);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    // SAFETY: as above.
    let fds = fd.map(|fd| [unsafe { BorrowedFd::borrow_raw(fd) }]);
    if let Some(fds) = &fds {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    // Nobody to tell means that nobody waits: the runner is gone, and this process is about to go too.
    let _ = rustix::net::sendmsg(socket, &[io::IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL);
}

/// Starts the program's process: shares memory and halts this one until the program is executed, so a
/// large sandbox process costs nothing.
fn spawn(start: &mut Start<'_>) -> io::Result<libc::pid_t> {
    const STACK: usize = 64 * 1024;
    let mut stack: Vec<MaybeUninit<u128>> = Vec::with_capacity(STACK / 16);
    // SAFETY: `become_program` gets the one pointer it expects, which outlives the child's use of it since
    // this process is halted (CLONE_VFORK) until the child executes or ends; the stack is large
    // enough for its few system calls, aligned to 16 bytes, grows downwards from its top, and is
    // freed only after the child has left this memory.
    let child = unsafe {
        let top = stack.as_mut_ptr().add(STACK / 16);
        libc::clone(
            become_program,
            top.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            std::ptr::from_mut(start).cast(),
        )
    };
    Ok(check(libc::c_long::from(child))? as libc::pid_t)
}

/// The program's process up to `execve`. System calls only: it shares memory with its parent.
extern "C" fn become_program(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the pointer is the `Start` that `spawn` passed; its parent does not touch it meanwhile.
    // Everything below are system calls on values prepared before.
    unsafe {
        let start = &mut *argument.cast::<Start<'_>>();
        let fail = |start: &mut Start<'_>, stage: u64| {
            start.stage = stage;
            start.errno = *libc::__errno_location();
            libc::_exit(127)
        };
        libc::setsid();
        if libc::dup2(start.input, 0) < 0 || libc::dup2(start.output, 1) < 0 || libc::dup2(start.error, 2) < 0 {
            fail(start, 11);
        }
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        libc::umask(0o022);
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        let prepared = start.prepared;
        if let Some(cpus) = &prepared.cpus
            && libc::sched_setaffinity(0, size_of_val(cpus), cpus) < 0
        {
            fail(start, 8);
        }
        for (resource, limit) in &prepared.rlimits {
            if libc::setrlimit(*resource as _, limit) < 0 {
                fail(start, 7);
            }
        }
        start.exec_time = monotonic();
        libc::execve(prepared.program.as_ptr(), prepared.argv.as_ptr(), prepared.env.as_ptr());
        fail(start, 0)
    }
}
