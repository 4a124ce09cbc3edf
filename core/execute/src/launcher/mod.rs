//! The part that starts processes: the only module with `unsafe` code.
//!
//! A sandbox process is this program started anew (see [`crate::supervisor`]), so it has one thread and
//! may fork freely. It prepares what runs can share without meeting each other (a user namespace, a
//! network namespace without any interface up, a file tree), then starts each run in a PID, mount and IPC
//! namespace of its own. The first process of a run ([`init`]) mounts the working folder, starts the
//! program, collects orphans and reports; when it ends, the kernel kills whatever is left.

mod init;
mod seccomp;
mod tree;
mod zygote;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;
use std::path::Path;

pub(crate) use tree::descendants;
pub(crate) use zygote::main;

/// The flag of `clone3`; the constant of `libc` has a type too small for it.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// The kernel's answer as a result.
fn check(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    data: Option<&CStr>,
) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: every pointer is null or a C string that outlives the call.
    check(libc::c_long::from(unsafe {
        libc::mount(pointer(source), target.as_ptr(), pointer(kind), flags, pointer(data).cast())
    }))?;
    Ok(())
}

/// Sets mount attributes; recursively if asked.
fn mount_attributes(target: &CStr, attributes: u64, recursive: bool) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the structure outlive the call, and the size given is the structure's.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            target.as_ptr(),
            flags,
            &raw const attr,
            size_of_val(&attr),
        )
    })?;
    Ok(())
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: takes no pointers; callers have one thread.
    check(libc::c_long::from(unsafe { libc::unshare(flags) }))?;
    Ok(())
}

fn close(fd: RawFd) {
    // SAFETY: closing a number is sound; callers pass descriptors they own and no longer use.
    unsafe { libc::close(fd) };
}

/// Nanoseconds of a clock.
fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours and lives through the call.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn nanoseconds(time: libc::timeval) -> u64 {
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add((time.tv_usec as u64).saturating_mul(1000))
}

fn resources(who: libc::c_int) -> libc::rusage {
    // SAFETY: an all-zero `rusage` is valid, and the kernel fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}

/// Tries whether this process may make a namespace, in a child that ends at once.
///
/// # Errors
/// What the kernel answered.
pub(crate) fn try_unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the child calls nothing but `unshare` and `_exit`, which is allowed in the copy of a
    // process with several threads.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe {
            let answer = libc::unshare(flags);
            let code = if answer == 0 { 0 } else { *libc::__errno_location() };
            libc::_exit(code);
        }
    }
    check(libc::c_long::from(child))?;
    let mut status = 0;
    loop {
        // SAFETY: waits for our own child; the status is ours.
        let got = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if got == child {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match (libc::WIFEXITED(status), libc::WEXITSTATUS(status)) {
        (true, 0) => Ok(()),
        (true, code) => Err(io::Error::from_raw_os_error(code)),
        _ => Err(io::Error::other("the process that tried it was killed")),
    }
}

/// Tries whether this process may start a child in the control group (version 2) of this descriptor.
///
/// # Errors
/// What the kernel answered.
pub(crate) fn try_clone_into(group: RawFd) -> io::Result<()> {
    // SAFETY: an all-zero `clone_args` is valid.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.cgroup = group as u64;
    // SAFETY: the child, a copy of this process, calls nothing but `_exit`.
    let child = unsafe {
        let child = libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments));
        if child == 0 {
            libc::_exit(0);
        }
        child
    };
    check(child)?;
    let mut status = 0;
    // SAFETY: waits for our own child.
    unsafe { libc::waitpid(child as libc::pid_t, &raw mut status, 0) };
    Ok(())
}
