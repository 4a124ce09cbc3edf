//! The file tree that runs see: the system's programs and libraries, a few devices and files of `/etc`, and
//! what the job names. Nothing else is there: no home folder, no store, no other run's files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::observation::Fault;
use crate::wire::{BOX, Entry, FILES, WORK};

/// Shown where they exist.
const SYSTEM: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"];

/// Devices without state.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The system's part of a file tree, looked up once per runner.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    entries: Vec<Entry>,
    shown: Vec<PathBuf>,
}

impl Base {
    pub(crate) fn new() -> Base {
        let mut entries = vec![Entry::Folder(PathBuf::from(WORK))];
        let mut shown = Vec::new();
        for path in SYSTEM.map(Path::new) {
            let Ok(metadata) = fs::symlink_metadata(path) else {
                continue;
            };
            if metadata.is_symlink() {
                if let Ok(to) = fs::read_link(path) {
                    entries.push(Entry::Link { at: path.to_path_buf(), to });
                }
            } else if metadata.is_dir()
                && let Ok(source) = path.canonicalize()
            {
                entries.push(Entry::Bind { source, target: path.to_path_buf() });
                shown.push(path.to_path_buf());
            }
        }
        for device in DEVICES.map(Path::new) {
            if device.exists() {
                entries.push(Entry::Device(device.to_path_buf()));
            }
        }
        // Processor and memory topology, which parallel programs and their libraries read.
        let topology = Path::new("/sys/devices/system");
        if topology.is_dir() {
            entries.push(Entry::Bind { source: topology.to_path_buf(), target: topology.to_path_buf() });
        }
        for (at, to) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
        ] {
            entries.push(Entry::Link { at: PathBuf::from(at), to: PathBuf::from(to) });
        }
        entries.extend(etc());
        Base { entries, shown }
    }

    /// The whole tree for these readable paths. `files` is the slot's folder for files of jobs, `boxed` its
    /// folder for working folders on disk.
    pub(crate) fn plan(&self, readable: &[PathBuf], files: &Path, boxed: Option<&Path>) -> Result<Plan, Fault> {
        let mut entries = self.entries.clone();
        let mut shown = self.shown.clone();
        entries.push(Entry::Bind { source: files.to_path_buf(), target: PathBuf::from(FILES) });
        if let Some(boxed) = boxed {
            entries.push(Entry::Writable { source: boxed.to_path_buf(), target: PathBuf::from(BOX) });
        }
        let mut wanted = Vec::new();
        for path in readable {
            let path =
                std::path::absolute(path).map_err(|error| Fault::Job(format!("path {}: {error}", path.display())))?;
            let source = path.canonicalize().map_err(|error| {
                Fault::Job(format!("{} is to be readable, but it cannot be found: {error}", path.display()))
            })?;
            let special = ["/proc", "/sys", "/dev", "/run/agon"];
            if source.parent().is_none() || special.iter().any(|place| source.starts_with(place)) {
                return Err(Fault::Job(format!(
                    "{} cannot be shown to runs: name the folder that holds what the program needs",
                    path.display()
                )));
            }
            wanted.push((source, path));
        }
        wanted.sort();
        let covered = |shown: &[PathBuf], path: &Path| shown.iter().any(|top| path.starts_with(top));
        for (source, path) in wanted {
            if !covered(&shown, &source) {
                entries.push(Entry::Bind { source: source.clone(), target: source.clone() });
                shown.push(source.clone());
            }
            if path != source && !covered(&shown, &path) {
                entries.push(Entry::Link { at: path, to: source });
            }
        }
        // Programs that ask nobody where to put temporary files put them into the working folder; a place
        // that holds something readable is left as it is.
        for at in ["/tmp", "/var/tmp", "/dev/shm"] {
            entries.push(Entry::Link { at: PathBuf::from(at), to: PathBuf::from(WORK) });
        }
        Ok(Plan { entries, shown })
    }

    /// Whether a path is shown in any case.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.shown.iter().any(|top| path.starts_with(top))
    }
}

/// A file tree and the places of the host it shows.
#[derive(Debug)]
pub(crate) struct Plan {
    pub entries: Vec<Entry>,
    pub shown: Vec<PathBuf>,
}

/// What programs need of `/etc`: the linker's cache, the time zone, and folders of links; and a user of
/// their own.
fn etc() -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut file = |at: &str, bytes: Vec<u8>| {
        entries.push(Entry::File { at: PathBuf::from(at), bytes });
    };
    file("/etc/passwd", format!("solver:x:1000:1000::{WORK}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n").into());
    file("/etc/group", b"solver:x:1000:\nnogroup:x:65534:\n".to_vec());
    file("/etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files\n".to_vec());
    file("/etc/hosts", b"127.0.0.1 localhost\n".to_vec());
    for path in ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/timezone"] {
        if let Ok(bytes) = fs::read(path)
            && bytes.len() < 4 << 20
        {
            file(path, bytes);
        }
    }
    let mut folders: Vec<PathBuf> = fs::read_dir("/etc")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            path.is_dir() && (name == "alternatives" || name.starts_with("java"))
        })
        .collect();
    folders.sort();
    for path in folders {
        if let Ok(source) = path.canonicalize() {
            entries.push(Entry::Bind { source, target: path });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_once_and_the_whole_host_never() {
        let base = Base::new();
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        std::os::unix::fs::symlink(top.join("a"), top.join("link")).unwrap();
        let plan = base
            .plan(&[top.join("a/b"), top.join("a"), top.join("link"), PathBuf::from("/usr/bin")], &top, None)
            .unwrap();
        let binds = |path: &Path| {
            plan.entries.iter().filter(|entry| matches!(entry, Entry::Bind { target, .. } if target == path)).count()
        };
        assert_eq!(binds(&top.join("a")), 1);
        assert_eq!(binds(&top.join("a/b")), 0);
        assert_eq!(binds(Path::new("/usr/bin")), 0);
        assert!(plan.entries.contains(&Entry::Link { at: top.join("link"), to: top.join("a") }));
        for refused in ["/", "/proc/self", "/dev/shm", "/no/such/path"] {
            assert!(base.plan(&[PathBuf::from(refused)], &top, None).is_err(), "{refused}");
        }
    }
}
