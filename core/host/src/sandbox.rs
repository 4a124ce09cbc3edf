//! What a worker may not do: it limits itself before it loads a plugin. Memory, open files and core dumps by resource
//! limits; other programs, processes, sockets and changes to files by a filter on calls of the system. Reading files is
//! not prevented.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// Sets both the soft and the hard limit.
fn limit(resource: libc::__rlimit_resource_t, to: u64) -> Result<(), String> {
    let limit = libc::rlimit { rlim_cur: to, rlim_max: to };
    // SAFETY: the pointer is to a table on the stack.
    if unsafe { libc::setrlimit(resource, &raw const limit) } == 0 {
        Ok(())
    } else {
        Err(format!("a resource limit cannot be set to {to}: {}", std::io::Error::last_os_error()))
    }
}

/// Limits the memory (of the address space, in bytes) and the open files of this process, and forbids core dumps and,
/// unless it is `writing`, files that grow.
pub fn limits(memory_bytes: u64, files: u64, writing: bool) -> Result<(), String> {
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_NOFILE, files)?;
    if !writing {
        limit(libc::RLIMIT_FSIZE, 0)?;
    }
    limit(libc::RLIMIT_AS, memory_bytes)
}

/// What happens to a call of the system that is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// It fails with `EPERM`.
    Fails,
    /// It ends the process with SIGSYS: the conformance test wants to know.
    Kills,
}

fn condition(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
        .and_then(|c| SeccompRule::new(vec![c]))
        .map_err(|e| e.to_string())
}

/// Denies, from now on and for all threads to come: other programs, other processes, sockets, signals to others,
/// changes to files and to the process's place among them. With `reading`, opening files at all.
pub fn filter(denied: Denied, reading: bool) -> Result<(), String> {
    let mut always = vec![
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_kill,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_chroot,
        libc::SYS_pivot_root,
        libc::SYS_chdir,
        libc::SYS_fchdir,
        libc::SYS_umask,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_mkdirat,
        libc::SYS_mknodat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_truncate,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
    ];
    #[cfg(target_arch = "x86_64")]
    always.extend([
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_mknod,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_creat,
    ]);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = always.into_iter().map(|call| (call, Vec::new())).collect();
    let thread = u64::try_from(libc::CLONE_THREAD).map_err(|e| e.to_string())?;
    rules.insert(libc::SYS_clone, vec![condition(0, thread, 0)?]);
    let mut opening = vec![(libc::SYS_openat, 2_u8)];
    #[cfg(target_arch = "x86_64")]
    opening.push((libc::SYS_open, 1));
    for (call, flags) in opening {
        let writing = [libc::O_WRONLY, libc::O_RDWR];
        let mut conditions = Vec::new();
        for mode in writing {
            let mode = u64::try_from(mode).map_err(|e| e.to_string())?;
            conditions.push(condition(flags, 3, mode)?);
        }
        for flag in [libc::O_CREAT, libc::O_TRUNC] {
            let flag = u64::try_from(flag).map_err(|e| e.to_string())?;
            conditions.push(condition(flags, flag, flag)?);
        }
        rules.insert(call, if reading { Vec::new() } else { conditions });
    }
    let action = match denied {
        Denied::Fails => SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        Denied::Kills => SeccompAction::KillProcess,
    };
    apply(rules, action)?;
    // The C library falls back to `clone` and `openat`, whose arguments can be looked at.
    let newer = [libc::SYS_clone3, libc::SYS_openat2].into_iter().map(|call| (call, Vec::new())).collect();
    apply(newer, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))
}

fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<(), String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|e| format!("no filter for this machine: {e}"))?;
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)
        .and_then(TryInto::try_into)
        .map_err(|e| format!("the filter cannot be made: {e}"))?;
    // This also sets that no new privileges can be got.
    apply_filter(&program).map_err(|e| format!("the filter cannot be set: {e}"))
}
