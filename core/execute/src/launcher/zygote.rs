//! The sandbox process: prepares what runs share, then starts runs on request.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::init::{self, Ends, Prepared};
use super::{c_path, check, clock, close, mount, mount_attributes, nanoseconds, seccomp, tree, unshare};
use crate::wire::{self, Entry, Isolation, Launch, Reply, Request};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// The IDs that programs see as theirs, whoever the runner is.
const SOLVER_ID: u32 = 1000;

struct Zygote {
    socket: UnixStream,
    isolation: Isolation,
    stage: PathBuf,
    /// The mount namespace that still shows the host's files, to build file trees from.
    host: Option<fs::File>,
    built: bool,
    proc_works: bool,
    /// The host's `/proc`, which the file tree shows read-only if at all.
    proc: Option<fs::File>,
    /// Both ends of a pipe: a run's first process sees by it whether this process still lives.
    life: (RawFd, RawFd),
}

/// A step that failed: what it was for and what the kernel said.
type Step<T> = Result<T, (String, io::Error)>;

trait Stage<T> {
    fn stage(self, what: &str) -> Step<T>;
}

impl<T> Stage<T> for io::Result<T> {
    fn stage(self, what: &str) -> Step<T> {
        self.map_err(|error| (what.to_string(), error))
    }
}

/// The whole life of a sandbox process. Its standard input is the socket to the runner.
pub(crate) fn main() -> ExitCode {
    let Ok(mut zygote) = Zygote::begin() else {
        return ExitCode::FAILURE;
    };
    loop {
        let (request, fds) = match wire::receive::<Request>(&zygote.socket) {
            Ok(Some(message)) => message,
            // The runner is gone (or speaks another language): no run is in progress, so just end.
            Ok(None) => return ExitCode::SUCCESS,
            Err(_) => return ExitCode::FAILURE,
        };
        let outcome = match request {
            Request::Setup { isolation, stage, protect } => zygote.setup(isolation, stage, protect).map(Some),
            Request::Layout(entries) => zygote.layout(&entries).map(Some),
            Request::Launch(launch) => zygote.launch(&launch, fds),
            Request::Kill => Ok(None),
        };
        let reply = match outcome {
            Ok(Some(reply)) => reply,
            Ok(None) => continue,
            Err((stage, error)) => Reply::Failed { stage, errno: error.raw_os_error().unwrap_or(libc::EIO) },
        };
        if wire::send(&zygote.socket, &reply, &[]).is_err() {
            return ExitCode::FAILURE;
        }
    }
}

impl Zygote {
    fn begin() -> io::Result<Zygote> {
        // SAFETY: plain system calls on numbers. Descriptor 0 is the socket the runner gave; everything
        // above the standard streams that came along by mistake is closed before anything else
        // is opened, so no descriptor of this process is in use twice.
        let (socket, life) = unsafe {
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
            let socket = check(libc::c_long::from(libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3)))?;
            let null =
                check(libc::c_long::from(libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC)))? as RawFd;
            for fd in 0..3 {
                check(libc::c_long::from(libc::dup2(null, fd)))?;
            }
            close(null);
            libc::setsid();
            libc::prctl(libc::PR_SET_NAME, c"agon-sandbox".as_ptr());
            let mut life = [0; 2];
            check(libc::c_long::from(libc::pipe2(life.as_mut_ptr(), libc::O_CLOEXEC)))?;
            (UnixStream::from_raw_fd(socket as RawFd), (life[0], life[1]))
        };
        Ok(Zygote {
            socket,
            isolation: Isolation { user: false, mount: false, pid: false, net: false, ipc: false, uts: false },
            stage: PathBuf::new(),
            host: None,
            built: false,
            proc_works: false,
            proc: fs::File::open("/proc").ok(),
            life,
        })
    }

    fn setup(&mut self, isolation: Isolation, stage: PathBuf, protect: bool) -> Step<Reply> {
        if protect {
            // Only root may; where it fails the sandbox process may fall with its run.
            let _ = fs::write("/proc/self/oom_score_adj", "-1000");
        }
        if !isolation.pid {
            // SAFETY: takes no pointers.
            check(libc::c_long::from(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) }))
                .stage("become a subreaper")?;
        }
        // SAFETY: take no pointers (the group list is empty).
        let (uid, gid) = unsafe {
            libc::setgroups(0, std::ptr::null());
            (libc::geteuid(), libc::getegid())
        };
        if isolation.user {
            unshare(libc::CLONE_NEWUSER).stage("make a user namespace")?;
            fs::write("/proc/self/setgroups", "deny").stage("deny setgroups")?;
            fs::write("/proc/self/uid_map", format!("{SOLVER_ID} {uid} 1")).stage("map the user")?;
            fs::write("/proc/self/gid_map", format!("{SOLVER_ID} {gid} 1")).stage("map the group")?;
        }
        let mut flags = 0;
        for (wanted, flag) in [
            (isolation.mount, libc::CLONE_NEWNS),
            (isolation.net, libc::CLONE_NEWNET),
            (isolation.ipc, libc::CLONE_NEWIPC),
            (isolation.uts, libc::CLONE_NEWUTS),
        ] {
            if wanted {
                flags |= flag;
            }
        }
        if flags != 0 {
            unshare(flags).stage("make namespaces")?;
        }
        if isolation.uts {
            // SAFETY: the name is four bytes long.
            unsafe { libc::sethostname(c"agon".as_ptr(), 4) };
        }
        if isolation.mount {
            let flags = libc::MS_REC | libc::MS_SLAVE;
            mount(None, c"/", None, flags, None).stage("keep mounts to the sandbox")?;
            self.host = Some(fs::File::open("/proc/self/ns/mnt").stage("open the mount namespace")?);
        }
        if isolation.user {
            // A run that could make user namespaces would have capabilities there. Where this cannot be
            // written, it still has none here.
            let _ = fs::write("/proc/sys/user/max_user_namespaces", "0");
        }
        // SAFETY: take no pointers.
        unsafe {
            for capability in 0..64 {
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
            // NOROOT and its lock: executing a program as user 0 gives no capabilities either.
            libc::prctl(libc::PR_SET_SECUREBITS, 0x3, 0, 0, 0);
            check(libc::c_long::from(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))).stage("set no_new_privs")?;
        }
        // Kernels without seccomp exist; the key rings are a small hole, not worth refusing to run.
        let _ = seccomp::forbid_key_rings();
        // SAFETY: takes no pointers. Keeps runs from looking at this process and its copies.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
        self.isolation = isolation;
        self.stage = stage;
        Ok(Reply::Ready { proc: false })
    }

    /// Builds the file tree that the following runs see.
    fn layout(&mut self, entries: &[Entry]) -> Step<Reply> {
        if let Some(host) = &self.host {
            if self.built {
                // SAFETY: the descriptor is open; this process has one thread.
                check(libc::c_long::from(unsafe { libc::setns(host.as_raw_fd(), libc::CLONE_NEWNS) }))
                    .stage("go back to the host's file tree")?;
            }
            unshare(libc::CLONE_NEWNS).stage("make a mount namespace")?;
            self.built = true;
            build(&self.stage, entries)?;
            if self.isolation.pid && !self.proc_works {
                self.proc_works = proc_works();
                if !self.proc_works {
                    return Err(("mount a fresh /proc".to_string(), io::Error::from_raw_os_error(libc::EPERM)));
                }
            }
        }
        Ok(Reply::Ready { proc: self.proc_works })
    }

    fn launch(&mut self, launch: &Launch, mut fds: Vec<OwnedFd>) -> Step<Option<Reply>> {
        let cpu_before = clock(libc::CLOCK_PROCESS_CPUTIME_ID);
        let prepared = Prepared::new(launch).stage("prepare the program's arguments")?;
        let group = if launch.into_group { fds.pop() } else { None };
        let missing = || io::Error::from_raw_os_error(libc::EBADF);
        let mut ends = fds.drain(..);
        let mut end = || ends.next().ok_or_else(missing);
        let (output, error, report) = (
            end().stage("take standard output")?,
            end().stage("take standard error")?,
            end().stage("take the report socket")?,
        );
        let input = ends.next();

        // SAFETY: an all-zero `clone_args` is valid.
        let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
        let mut pidfd: RawFd = -1;
        let mut flags = libc::CLONE_PIDFD as u64;
        for (wanted, flag) in [
            (self.isolation.pid, libc::CLONE_NEWPID),
            (self.isolation.mount, libc::CLONE_NEWNS),
            (self.isolation.ipc, libc::CLONE_NEWIPC),
        ] {
            if wanted {
                flags |= flag as u64;
            }
        }
        if let Some(group) = &group {
            flags |= super::CLONE_INTO_CGROUP;
            arguments.cgroup = group.as_raw_fd() as u64;
        }
        arguments.flags = flags;
        arguments.pidfd = &raw mut pidfd as u64;
        arguments.exit_signal = libc::SIGCHLD as u64;
        // SAFETY: like `fork`, of a process with one thread; the structure and the place for the pidfd
        // outlive the call.
        let child = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments)) };
        if child == 0 {
            close(self.life.1);
            close(self.socket.as_raw_fd());
            let ends = Ends {
                output: output.into_raw_fd(),
                error: error.into_raw_fd(),
                report: report.into_raw_fd(),
                input: input.map(IntoRawFd::into_raw_fd),
                life: self.life.0,
                proc: self.proc.as_ref().map(AsRawFd::as_raw_fd),
            };
            init::run(launch, &prepared, self.isolation, &ends);
        }
        let child = check(child).stage("start the run's first process")? as libc::pid_t;
        // SAFETY: the kernel gave the descriptor to this process just now.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let words = [wire::FIRST, child as u64, 0, 0, 0, 0, 0, 0];
        init::report(report.as_raw_fd(), &words, Some(pidfd.as_raw_fd()));
        drop((report, input, group));
        let output = launch.hold_output.then_some((output, error));
        let (status, usage) = self.wait(child, &pidfd);
        let reply = Reply::Ended {
            status,
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            largest_resident: usage.ru_maxrss as u64 * 1024,
            own_cpu_ns: clock(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(cpu_before),
        };
        wire::send(&self.socket, &reply, &[]).stage("tell the runner")?;
        drop(output);
        Ok(None)
    }

    /// Waits until the run's first process is gone and with it everything; kills it when the runner says
    /// so or is itself gone.
    fn wait(&self, child: libc::pid_t, pidfd: &OwnedFd) -> (i32, libc::rusage) {
        let mut watch_socket = true;
        let mut killing = false;
        loop {
            let mut polls = [
                libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 },
                libc::pollfd {
                    fd: if watch_socket { self.socket.as_raw_fd() } else { -1 },
                    events: libc::POLLIN,
                    revents: 0,
                },
            ];
            // SAFETY: two structures, ours.
            unsafe { libc::poll(polls.as_mut_ptr(), 2, if killing { 10 } else { -1 }) };
            if polls[0].revents != 0 {
                break;
            }
            if polls[1].revents != 0 {
                killing = true;
                watch_socket = matches!(wire::receive::<Request>(&self.socket), Ok(Some((Request::Kill, _))));
            }
            if killing {
                // Again and again: the first process may be about to start the program.
                self.kill(child, watch_socket);
            }
        }
        // SAFETY: an all-zero `rusage` is valid; waits for our own child.
        let result = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let mut status = 0;
            while libc::wait4(child, &raw mut status, 0, &raw mut usage) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            (status, usage)
        };
        if !self.isolation.pid {
            // What the first process left (it was killed, say) is ours now.
            tree::kill_descendants(me());
            tree::reap();
        }
        result
    }

    /// Kills the run. Without a PID namespace the first process is spared if somebody waits for its report.
    fn kill(&self, child: libc::pid_t, report: bool) {
        if self.isolation.pid || !report {
            // SAFETY: our own child, not yet waited for, so the number is still its.
            unsafe { libc::kill(child, libc::SIGKILL) };
        } else {
            tree::kill_descendants_but(me(), child);
        }
    }
}

fn me() -> i32 {
    // SAFETY: takes no pointers.
    unsafe { libc::getpid() }
}

/// Whether a process in a fresh PID namespace may mount `/proc`; containers often forbid it.
fn proc_works() -> bool {
    let flags = (libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::SIGCHLD) as libc::c_ulong;
    // SAFETY: like `fork`, of a process with one thread.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    if child == 0 {
        let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let works = mount(Some(c"proc"), c"/proc", Some(c"proc"), flags, None).is_ok();
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!works)) };
    }
    let mut status = 0;
    // SAFETY: waits for our own child.
    child > 0 && unsafe { libc::waitpid(child as libc::pid_t, &raw mut status, 0) } > 0 && status == 0
}

/// Builds the tree on `stage` and makes it the root of this mount namespace.
fn build(stage: &Path, entries: &[Entry]) -> Step<()> {
    let c_stage = c_path(stage).stage("name the stage")?;
    mount(Some(c"agon-root"), &c_stage, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(c"mode=0755,size=64m"))
        .stage("mount the root of the sandbox")?;
    fs::create_dir(stage.join(".host")).stage("make the place for the host's files")?;
    let c_old = c_path(&stage.join(".host")).stage("name the place for the host's files")?;
    // SAFETY: both paths are C strings.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, c_stage.as_ptr(), c_old.as_ptr()) }).stage("change the root")?;
    std::env::set_current_dir("/").stage("enter the new root")?;
    for entry in entries {
        place(entry)?;
    }
    // A mounted /proc must be in sight for fresh ones to be allowed; each run mounts its own over it.
    fs::create_dir_all("/proc").stage("make /proc")?;
    mount(Some(c"/.host/proc"), c"/proc", None, libc::MS_BIND | libc::MS_REC, None).stage("bind /proc")?;
    mount_attributes(c"/proc", READ_ONLY | libc::MOUNT_ATTR_NOEXEC, true).stage("make /proc read-only")?;
    // SAFETY: the path is a C string.
    check(libc::c_long::from(unsafe { libc::umount2(c"/.host".as_ptr(), libc::MNT_DETACH) }))
        .stage("leave the host's files")?;
    fs::remove_dir("/.host").stage("remove the place of the host's files")?;
    mount_attributes(c"/", READ_ONLY, false).stage("make the root read-only")
}

fn place(entry: &Entry) -> Step<()> {
    let what = |path: &Path| format!("show {}", path.display());
    let parents = |path: &Path| match path.parent() {
        Some(parent) => fs::create_dir_all(parent).stage(&what(path)),
        None => Ok(()),
    };
    match entry {
        Entry::Bind { source, target } => bind(source, target, READ_ONLY),
        Entry::Writable { source, target } => bind(source, target, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV),
        Entry::Device(path) => bind(path, path, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC),
        Entry::Link { at, to } => {
            parents(at)?;
            if at.symlink_metadata().is_ok() {
                return Ok(());
            }
            std::os::unix::fs::symlink(to, at).stage(&what(at))
        }
        Entry::File { at, bytes } => {
            parents(at)?;
            fs::write(at, bytes).stage(&what(at))
        }
        Entry::Folder(path) => fs::create_dir_all(path).stage(&what(path)),
    }
}

fn bind(source: &Path, target: &Path, attributes: u64) -> Step<()> {
    let what = format!("show {}", target.display());
    let below: PathBuf = Path::new("/.host").join(source.strip_prefix("/").unwrap_or(source));
    let metadata = fs::metadata(&below).stage(&what)?;
    if metadata.is_dir() {
        fs::create_dir_all(target).stage(&what)?;
    } else if !target.exists() {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).stage(&what)?;
        }
        fs::write(target, b"").stage(&what)?;
    }
    let c_source = c_path(&below).stage(&what)?;
    let c_target = c_path(target).stage(&what)?;
    mount(Some(&c_source), &c_target, None, libc::MS_BIND | libc::MS_REC, None).stage(&what)?;
    mount_attributes(&c_target, attributes, true).stage(&what)
}
