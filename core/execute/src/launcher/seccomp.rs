//! A small system-call filter: the kernel's key rings are shared by all processes of a user, so one run
//! could leave something there for a later one. Programs are told that there are none (`ENOSYS`).

use std::io;

use super::check;

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xC000_00B7;

/// The key-ring calls of the 32-bit programs that the same kernel runs.
#[cfg(target_arch = "x86_64")]
const COMPAT: [u32; 3] = [286, 287, 288];
#[cfg(target_arch = "aarch64")]
const COMPAT: [u32; 3] = [309, 310, 311];

fn statement(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt, jf, k }
}

/// Installs the filter for this process and all it starts. Needs `no_new_privs`.
pub(super) fn forbid_key_rings() -> io::Result<()> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let native = [libc::SYS_add_key as u32, libc::SYS_request_key as u32, libc::SYS_keyctl as u32];
    let mut filter = vec![
        statement(load, 4),
        jump(ARCH, 0, 5),
        statement(load, 0),
        // Bit 30 marks the x32 calls, whose numbers are the same for these.
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xBFFF_FFFF),
        jump(native[0], 7, 0),
        jump(native[1], 6, 0),
        jump(native[2], 5, 4),
        statement(load, 0),
        jump(COMPAT[0], 3, 0),
        jump(COMPAT[1], 2, 0),
        jump(COMPAT[2], 1, 0),
    ];
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its instructions outlive the call.
    check(libc::c_long::from(unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    }))?;
    Ok(())
}
