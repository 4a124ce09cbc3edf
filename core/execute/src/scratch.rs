//! The folder a runner keeps its temporary things in, and what is left of runners that were killed.
//!
//! Below the base folder, which runners of one user share, each has a folder of its own with a locked file:
//! the kernel takes the lock away when the runner ends, however it ends, so a folder whose file can
//! be locked is abandoned. The file `groups` names the control groups made, one per line, each noted before
//! it is made.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::group;

/// A runner's folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
    groups: File,
    _lock: File,
}

fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Makes a folder only its owner may enter.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    private().create(path)
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

impl Scratch {
    /// Makes a folder below `base` (made if absent), after removing what dead runners left there.
    pub(crate) fn new(base: &Path) -> io::Result<Scratch> {
        private().recursive(true).create(base)?;
        let base = base.canonicalize()?;
        let whole = lock_file(&base.join("lock"))?;
        // Held only while folders are made or removed, so that nobody takes a new folder for an
        // abandoned one.
        whole.lock()?;
        clean(&base);
        let folder = tempfile::Builder::new().prefix(&format!("agon-{}-", std::process::id())).tempdir_in(&base)?;
        let lock = lock_file(&folder.path().join("lock"))?;
        lock.lock()?;
        let groups = OpenOptions::new().create(true).append(true).mode(0o600).open(folder.path().join("groups"))?;
        let path = folder.keep();
        drop(whole);
        Ok(Scratch { path, groups, _lock: lock })
    }

    /// The folder's name, which no other runner of this machine has at the time.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Notes control groups about to be made.
    pub(crate) fn note_groups(&self, paths: &[PathBuf]) -> io::Result<()> {
        let mut lines = Vec::new();
        for path in paths {
            lines.extend_from_slice(path.as_os_str().as_bytes());
            lines.push(b'\n');
        }
        (&self.groups).write_all(&lines)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

/// Removes what dead runners left below `base`.
fn clean(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let ours = entry.file_name().as_bytes().starts_with(b"agon-");
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(lock) = lock_file(&path.join("lock")) else {
            continue;
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => continue,
        }
        let groups = fs::read(path.join("groups")).unwrap_or_default();
        let mut gone = true;
        for line in groups.split(|&byte| byte == b'\n') {
            if !line.is_empty() {
                gone &= group::remove_abandoned(Path::new(OsStr::from_bytes(line)));
            }
        }
        // While a group is left, so is the note of it.
        if gone {
            let _ = remove_tree(&path);
        }
    }
}

/// Removes a folder and all below it, whatever a program made there: folders without any permission, names
/// that are not text, trees deeper than any path can be. Symbolic links are not followed.
///
/// # Errors
/// What could not be removed.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if fs::symlink_metadata(path)?.is_dir() {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    let top = rustix::fs::open(path, flags, Mode::empty())?;
    empty(&top)?;
    fs::remove_dir(path)
}

/// Removes all in an open folder. What lies two levels down is first moved up to one, so no more than two
/// folders are open, however deep the tree.
fn empty(top: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut fresh: u64 = 0;
    loop {
        let entries = names(top)?;
        if entries.is_empty() {
            return Ok(());
        }
        for (name, folder) in entries {
            if !folder {
                unlinkat(top, &name, AtFlags::empty())?;
                continue;
            }
            let inner = match openat(top, &name, flags, Mode::empty()) {
                Err(Errno::ACCESS) => {
                    // A folder its owner may not read; the name was just seen to be a folder, and
                    // nobody else is here any more.
                    rustix::fs::chmodat(top, &name, Mode::RWXU, AtFlags::empty())?;
                    openat(top, &name, flags, Mode::empty())?
                }
                other => other?,
            };
            fchmod(&inner, Mode::RWXU)?;
            for (child, child_folder) in names(&inner)? {
                if !child_folder {
                    unlinkat(&inner, &child, AtFlags::empty())?;
                } else if unlinkat(&inner, &child, AtFlags::REMOVEDIR).is_err() {
                    // A folder without write permission cannot be moved: its own `..` would change.
                    let _ = rustix::fs::chmodat(&inner, &child, Mode::RWXU, AtFlags::empty());
                    loop {
                        let new = format!("agon-{fresh}");
                        fresh += 1;
                        if rustix::fs::statat(top, &new, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                            renameat(&inner, &child, top, &new)?;
                            break;
                        }
                    }
                }
            }
            unlinkat(top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Opens a working folder to look into it; nothing if the program has left it so that it cannot be.
pub(crate) fn open_folder(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(Some).or_else(unless_left_so)
}

/// Nothing, for an error that a program can bring about by what it leaves; all else is the host's fault.
fn unless_left_so<T>(errno: Errno) -> io::Result<Option<T>> {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG => Ok(None),
        errno => Err(errno.into()),
    }
}

/// Opens a regular file below an open folder that a program has left as it liked; nothing if there is none, or one
/// that cannot be read. The path is relative and has no `..`; it is gone one name at a time, since no kernel follows a
/// symbolic link then, where `openat2` needs a kernel that has it.
pub(crate) fn open_left(folder: &OwnedFd, path: &Path) -> io::Result<Option<File>> {
    let mut here: Option<OwnedFd> = None;
    let mut names = path.components().peekable();
    while let Some(part) = names.next() {
        let name = match part {
            Component::CurDir => continue,
            Component::Normal(name) => name,
            _ => return Ok(None),
        };
        let inside = here.as_ref().unwrap_or(folder);
        let last = names.peek().is_none();
        // Opening a device or a pipe can do something, so it is looked at first.
        let kind = match rustix::fs::statat(inside, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(errno) => return unless_left_so(errno),
        };
        if kind != if last { FileType::RegularFile } else { FileType::Directory } {
            return Ok(None);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = if last { flags } else { flags | OFlags::DIRECTORY };
        let opened = match openat(inside, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(errno) => return unless_left_so(errno),
        };
        if last {
            return Ok(Some(File::from(opened)));
        }
        here = Some(opened);
    }
    Ok(None)
}

/// The names in an open folder, and which are folders.
fn names(folder: &OwnedFd) -> io::Result<Vec<(OsString, bool)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsString::from_vec(name.to_vec());
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            kind => kind,
        };
        found.push((name, kind == FileType::Directory));
    }
    Ok(found)
}

/// Bytes of the blocks of all files below a folder, as far as they can be seen; each file and folder counts
/// for a block at least, or files without content would be free. Stops once `enough`, or out of time.
pub(crate) fn used(path: &Path, enough: u64, patience: Duration) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let start = Instant::now();
    let mut total = 0;
    let mut open = vec![path.to_path_buf()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for (index, entry) in entries.flatten().enumerate() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            total += (metadata.blocks() * 512).max(4096);
            if total > enough || index % 256 == 255 && start.elapsed() > patience {
                return total;
            }
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_tree_is_removed() {
        use std::os::unix::fs::PermissionsExt;
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("tree");
        fs::create_dir(&path).unwrap();
        // Deeper than a path can be long.
        let mut here = rustix::fs::open(&path, OFlags::DIRECTORY, Mode::empty()).unwrap();
        for level in 0..300 {
            let name = "d".repeat(200);
            rustix::fs::mkdirat(&here, &name, Mode::RWXU).unwrap();
            let next = openat(&here, &name, OFlags::DIRECTORY, Mode::empty()).unwrap();
            if level % 100 == 0 {
                openat(&here, "file", OFlags::CREATE | OFlags::WRONLY, Mode::empty()).unwrap();
            }
            here = next;
        }
        fs::create_dir(path.join("agon-0")).unwrap();
        fs::create_dir_all(path.join("closed/inner")).unwrap();
        fs::write(path.join("closed/inner/file"), "x").unwrap();
        for closed in ["closed/inner", "closed"] {
            fs::set_permissions(path.join(closed), fs::Permissions::from_mode(0o0)).unwrap();
        }
        let outside = base.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "x").unwrap();
        std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
        fs::write(path.join(OsStr::from_bytes(b"\xff\n")), "x").unwrap();
        remove_tree(&path).unwrap();
        assert!(!path.exists());
        assert!(outside.join("kept").exists());
    }

    #[test]
    fn an_abandoned_folder_is_removed_and_a_live_one_is_not() {
        let base = tempfile::tempdir().unwrap();
        let live = Scratch::new(base.path()).unwrap();
        let dead = base.path().join("agon-1-dead");
        fs::create_dir_all(dead.join("slot/box")).unwrap();
        fs::write(dead.join("groups"), "").unwrap();
        let other = Scratch::new(base.path()).unwrap();
        assert!(!dead.exists());
        assert!(live.path.exists() && other.path.exists());
        let gone = other.path.clone();
        drop(other);
        assert!(!gone.exists() && live.path.exists());
    }
}
