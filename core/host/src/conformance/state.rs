//! What of a process a plugin must leave as it was.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsString};
use std::path::PathBuf;

/// The state of this process.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    folder: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
    locale: Vec<u8>,
    handlers: Vec<usize>,
    mask: String,
    rounding: u32,
    limits: Vec<(u64, u64)>,
    /// What is open, without this library's own file.
    open: BTreeMap<String, usize>,
    threads: usize,
}

impl State {
    /// As it is now.
    pub fn now() -> Self {
        Self {
            folder: std::env::current_dir().ok(),
            environment: std::env::vars_os().collect(),
            locale: locale(),
            handlers: handlers(),
            mask: mask(),
            rounding: rounding(),
            limits: limits(),
            open: open(),
            threads: threads(),
        }
    }

    /// What differs afterwards, in words.
    pub fn changes(&self, after: &State) -> Vec<String> {
        let mut out = Vec::new();
        let mut compare = |what: &str, same: bool| {
            if !same {
                out.push(what.to_string());
            }
        };
        compare("the current folder", self.folder == after.folder);
        compare("the environment", self.environment == after.environment);
        compare("the locale", self.locale == after.locale);
        compare("the handling of signals", self.handlers == after.handlers);
        compare("the mode mask of new files (umask)", self.mask == after.mask);
        compare("the rounding of floating-point numbers", self.rounding == after.rounding);
        compare("the resource limits", self.limits == after.limits);
        out
    }

    /// What is open or running afterwards that was not before, in words.
    pub fn left(&self, after: &State) -> Vec<String> {
        let mut out: Vec<String> = after
            .open
            .iter()
            .filter(|(name, n)| **n > self.open.get(*name).copied().unwrap_or(0) && !name.ends_with(".so"))
            .map(|(name, _)| format!("a descriptor of {name}"))
            .collect();
        if after.threads > self.threads {
            out.push(format!("{} threads", after.threads - self.threads));
        }
        out
    }
}

fn locale() -> Vec<u8> {
    // SAFETY: a null name asks for the present locale; the answer is text that lives until the next call.
    unsafe {
        let name = libc::setlocale(libc::LC_ALL, std::ptr::null());
        if name.is_null() { Vec::new() } else { CStr::from_ptr(name).to_bytes().to_vec() }
    }
}

fn handlers() -> Vec<usize> {
    (1..=64)
        .map(|signal| {
            // SAFETY: zeroes are a value of this table; a null action only asks.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 { action.sa_sigaction } else { 0 }
            }
        })
        .collect()
}

fn mask() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|l| l.starts_with("Umask:")).unwrap_or_default().to_string()
}

/// The control word of the floating-point unit, without the flags that say what has happened.
#[cfg(target_arch = "x86_64")]
fn rounding() -> u32 {
    let mut word = 0_u32;
    // SAFETY: it writes four bytes to the place that it is given.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack)) };
    word & !0x3f
}

#[cfg(not(target_arch = "x86_64"))]
fn rounding() -> u32 {
    0
}

fn limits() -> Vec<(u64, u64)> {
    [libc::RLIMIT_AS, libc::RLIMIT_CORE, libc::RLIMIT_NOFILE, libc::RLIMIT_STACK, libc::RLIMIT_CPU]
        .into_iter()
        .map(|resource| {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the pointer is to a table on the stack.
            unsafe { libc::getrlimit(resource, &raw mut limit) };
            (limit.rlim_cur, limit.rlim_max)
        })
        .collect()
}

fn open() -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten() {
        if let Ok(target) = std::fs::read_link(entry.path()) {
            let name = target.display().to_string();
            // The folder that is being read.
            if !name.ends_with("/fd") {
                *out.entry(name).or_insert(0) += 1;
            }
        }
    }
    out
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
