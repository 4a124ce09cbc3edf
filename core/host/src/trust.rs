//! Who could have written a library. The checks keep accidents and other users out; they do not protect from the
//! author of a plugin, whose code is run.

use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::Error;

fn effective_user() -> u32 {
    // SAFETY: it has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether the process runs with the privileges of somebody else than who started it: then what its environment says
/// is not followed.
pub fn elevated() -> bool {
    // SAFETY: these have no preconditions and cannot fail.
    unsafe {
        libc::getauxval(libc::AT_SECURE) != 0 || libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid()
    }
}

/// Why somebody else could change what has this metadata; none if only root and this user can. In a folder with the
/// sticky bit others can add names, and cannot replace those of this user: as a way to a file it may be passed.
fn fault(meta: &Metadata, user: u32, sticky_passes: bool) -> Option<String> {
    let owner = meta.uid();
    if owner != 0 && owner != user {
        return Some(format!("belongs to user {owner}, who is neither root nor user {user}, who runs this"));
    }
    let mode = meta.mode();
    if mode & 0o022 != 0 && !(sticky_passes && meta.is_dir() && mode & 0o1000 != 0) {
        let who = if mode & 0o002 != 0 { "everybody" } else { "its group" };
        return Some(format!("can be written by {who} (mode {:o})", mode & 0o7777));
    }
    None
}

/// Whether all components of an absolute path without links belong to root or this user, and nobody else can write
/// them.
fn components(path: &Path) -> Result<(), Error> {
    let user = effective_user();
    let mut so_far = PathBuf::new();
    for component in path.components() {
        so_far.push(component);
        if matches!(component, Component::CurDir | Component::ParentDir) {
            return Err(Error(format!("{} is not a canonical path", path.display())));
        }
        let meta = fs::symlink_metadata(&so_far)
            .map_err(|e| Error(format!("{} cannot be looked at: {e}", so_far.display())))?;
        if let Some(why) = fault(&meta, user, so_far != path) {
            return Err(Error(format!(
                "{} is not used, because {} {why}; others could put their code there: change its owner and mode \
                 (`chmod go-w`), or give --trust-permissions",
                path.display(),
                so_far.display()
            )));
        }
    }
    Ok(())
}

/// Checks a folder that is searched for plugins: absolute, and writable by nobody else.
pub fn folder(path: &Path) -> Result<PathBuf, Error> {
    if !path.is_absolute() {
        return Err(Error(format!(
            "the plugin folder {:?} is not searched, because it is relative to the current folder; give its absolute path",
            path.display().to_string()
        )));
    }
    let canonical = path
        .canonicalize()
        .map_err(|e| Error(format!("the plugin folder {} cannot be searched: {e}", path.display())))?;
    components(&canonical)?;
    Ok(canonical)
}

/// A library that was opened once: what is hashed, read and loaded is the same file.
#[derive(Debug)]
pub struct Opened {
    /// Where it is, without links.
    pub path: PathBuf,
    /// The open file.
    pub file: File,
}

/// Opens a library after the checks; with `trust_permissions` the owners and modes are not looked at.
pub fn open(path: &Path, trust_permissions: bool) -> Result<Opened, Error> {
    let wrong = |why: String| Error(format!("the plugin {} {why}", path.display()));
    let canonical = path.canonicalize().map_err(|e| wrong(format!("cannot be opened: {e}; check the path")))?;
    if !trust_permissions {
        components(&canonical)?;
    }
    // Not blocking, since it may be a pipe.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(&canonical)
        .map_err(|e| wrong(format!("cannot be opened: {e}")))?;
    let meta = file.metadata().map_err(|e| wrong(format!("cannot be looked at: {e}")))?;
    if !meta.is_file() {
        return Err(wrong("is not a regular file".into()));
    }
    if meta.mode() & 0o6000 != 0 {
        return Err(wrong(format!("is setuid or setgid (mode {:o}); clear these bits", meta.mode() & 0o7777)));
    }
    if !trust_permissions && let Some(why) = fault(&meta, effective_user(), false) {
        return Err(wrong(format!("{why}; change its owner and mode (`chmod go-w`), or give --trust-permissions")));
    }
    Ok(Opened { path: canonical, file })
}
