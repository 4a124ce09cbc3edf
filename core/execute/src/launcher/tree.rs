//! Process trees read from `/proc`, for where no PID namespace keeps a run together.

use std::collections::{HashMap, HashSet};
use std::fs;

/// A process as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub pid: i32,
    pub zombie: bool,
    pub stopped: bool,
    /// CPU ticks: user, system, and those of the children waited for.
    pub ticks: u64,
    /// Resident pages.
    pub resident: u64,
    pub threads: u64,
}

/// All processes below `root` (not itself) in the tree of parents, as seen in one pass over `/proc`.
pub(crate) fn descendants(root: i32) -> Vec<Seen> {
    let mut children: HashMap<i32, Vec<Seen>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read(entry.path().join("stat")) else {
            continue;
        };
        if let Some((parent, seen)) = parse(pid, &stat) {
            children.entry(parent).or_default().push(seen);
        }
    }
    let mut found = Vec::new();
    let mut known = HashSet::from([root]);
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for seen in children.remove(&parent).unwrap_or_default() {
            if known.insert(seen.pid) {
                open.push(seen.pid);
                found.push(seen);
            }
        }
    }
    found
}

/// Reads one `/proc/PID/stat` line: the parent, and the process. The program's name, in parentheses, may
/// hold anything, so the fields are counted from the last closing one.
fn parse(pid: i32, stat: &[u8]) -> Option<(i32, Seen)> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let text = std::str::from_utf8(stat.get(end + 2..)?).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let number = |index: usize| -> Option<u64> { fields.get(index)?.parse().ok() };
    let state = *fields.first()?;
    let parent = fields.get(1)?.parse().ok()?;
    Some((
        parent,
        Seen {
            pid,
            zombie: state == "Z" || state == "X",
            stopped: state == "T",
            ticks: number(11)? + number(12)? + number(13)? + number(14)?,
            resident: number(21)?,
            threads: number(17)?,
        },
    ))
}

/// Kills all that is below `root`, and comes back when nothing but zombies is left there or it does not
/// get fewer. Everything is stopped first: what is stopped forks no more.
pub(super) fn kill_descendants(root: i32) {
    kill_descendants_but(root, 0);
}

/// The same, sparing one process (and not what is below it).
pub(super) fn kill_descendants_but(root: i32, spared: i32) {
    let list =
        || descendants(root).into_iter().filter(|seen| !seen.zombie && seen.pid != spared).collect::<Vec<Seen>>();
    for _ in 0..200 {
        let living = list();
        if living.is_empty() {
            return;
        }
        let running: Vec<&Seen> = living.iter().filter(|seen| !seen.stopped).collect();
        if running.len() > 1 {
            for seen in &running {
                signal(seen.pid, libc::SIGSTOP);
            }
            // Those that were born while the list was read are found in the next pass.
            if list().iter().any(|seen| !seen.stopped && !running.iter().any(|other| other.pid == seen.pid)) {
                continue;
            }
        }
        for seen in list() {
            signal(seen.pid, libc::SIGKILL);
        }
        if spared == 0 {
            reap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Collects the children of this process that have ended.
pub(super) fn reap() {
    // SAFETY: waits for children of this process without blocking; no pointer is kept.
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: takes no pointers. The process is a descendant of ours that nobody but us (or an ancestor
    // between) can have waited for, so the number is hardly another's.
    unsafe { libc::kill(pid, signal) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let line = b"42 (a) S (b)) R 7 42 42 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 3 0 99 1000 555 0";
        let (parent, seen) = parse(42, line).unwrap();
        assert_eq!(parent, 7);
        assert!(!seen.zombie);
        assert_eq!(seen.ticks, 100);
        assert_eq!(seen.threads, 3);
        assert_eq!(seen.resident, 555);
        assert!(parse(42, b"42 (cut").is_none());
    }

    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(descendants(std::process::id() as i32).iter().any(|seen| seen.pid == pid));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
