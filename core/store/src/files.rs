//! The few operations on files that the store's safety rests on.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// A file that grows.
#[derive(Debug)]
pub(crate) struct Growing {
    file: File,
    path: PathBuf,
}

impl Growing {
    /// Opens a file, for writing if asked for.
    pub fn open(path: PathBuf, write: bool) -> Result<Self, StoreError> {
        let file = OpenOptions::new().read(true).write(write).open(&path);
        let file = file.map_err(|e| StoreError::io(&path, "it cannot be opened", &e))?;
        Ok(Self { file, path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn reader(&self) -> Result<File, StoreError> {
        File::open(&self.path).map_err(|e| StoreError::io(&self.path, "it cannot be opened", &e))
    }

    pub fn len(&self) -> Result<u64, StoreError> {
        let meta = self.file.metadata().map_err(|e| StoreError::io(&self.path, "it cannot be read", &e))?;
        Ok(meta.len())
    }

    /// Reads exactly these bytes.
    pub fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, StoreError> {
        let gone = || {
            StoreError::damaged(
                &self.path,
                offset,
                format!("{length} bytes should be here, but the file ends before"),
                "If a run was stopped meanwhile, try again; else put the file back from a backup.",
            )
        };
        // A wrong length must not ask for more memory than the file has.
        if offset.checked_add(length).is_none_or(|end| self.len().is_ok_and(|len| end > len)) {
            return Err(gone());
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| gone())?];
        self.file.read_exact_at(&mut bytes, offset).map_err(|e| StoreError::io(&self.path, "it cannot be read", &e))?;
        Ok(bytes)
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
        #[cfg(test)]
        let (bytes, outcome) = trace::write(&self.path, offset, bytes);
        let written = self.file.write_all_at(bytes, offset);
        #[cfg(test)]
        let written = written.and(outcome);
        written.map_err(|e| StoreError::io(&self.path, "it cannot be written", &e))
    }

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        let synced = self.file.sync_data();
        #[cfg(test)]
        trace::sync(&self.path);
        synced.map_err(|e| StoreError::io(&self.path, "it cannot be written to the disk", &e))
    }

    /// Drops everything from this byte on.
    pub fn cut(&self, length: u64) -> Result<(), StoreError> {
        #[cfg(test)]
        trace::cut(&self.path, length);
        self.file
            .set_len(length)
            .and_then(|()| self.file.sync_all())
            .map_err(|e| StoreError::io(&self.path, "it cannot be shortened", &e))
    }
}

/// Makes what was created, renamed or removed in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)
        .and_then(|f| f.sync_all())
        .map_err(|e| StoreError::io(folder, "the folder cannot be written to the disk", &e))
}

/// Writes a file that appears as a whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let fail = |e: &std::io::Error| StoreError::io(path, "it cannot be written", e);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = part(folder).map_err(|e| fail(&e))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(|e| fail(&e))?;
    file.persist(path).map_err(|e| fail(&e.error))?;
    sync_folder(folder)
}

const PART: &str = ".part-";

/// A file that does not count yet.
pub(crate) fn part(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    // An ordinary file, as far as the user's mask allows.
    tempfile::Builder::new().prefix(PART).permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Whether a file is one that an interrupted program left.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with(PART)
}

/// What is done to files, in order, so that tests can stop anywhere; and disks that are full.
#[cfg(test)]
pub(crate) mod trace {
    use std::collections::HashMap;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    #[derive(Clone, Debug)]
    pub enum Op {
        Write {
            file: String,
            offset: u64,
            bytes: Vec<u8>,
        },
        Sync {
            file: String,
        },
        Cut {
            file: String,
            length: u64,
        },
        /// The test's own mark: from here on, so many records count.
        Mark(u64),
    }

    #[derive(Default)]
    pub struct Log {
        pub ops: Vec<Op>,
        /// How many bytes the disk still takes.
        pub room: Option<u64>,
    }

    static LOGS: Mutex<Option<HashMap<PathBuf, Log>>> = Mutex::new(None);

    fn logs() -> MutexGuard<'static, Option<HashMap<PathBuf, Log>>> {
        LOGS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches the files of a folder.
    pub fn watch(folder: &Path, room: Option<u64>) {
        logs().get_or_insert_default().insert(folder.to_path_buf(), Log { ops: Vec::new(), room });
    }

    pub fn with<T>(folder: &Path, what: impl FnOnce(&mut Log) -> T) -> Option<T> {
        logs().as_mut().and_then(|all| all.get_mut(folder)).map(what)
    }

    fn of(path: &Path) -> Option<(PathBuf, String)> {
        Some((path.parent()?.to_path_buf(), path.file_name()?.to_str()?.to_string()))
    }

    pub fn write<'a>(path: &Path, offset: u64, bytes: &'a [u8]) -> (&'a [u8], io::Result<()>) {
        let Some((folder, file)) = of(path) else { return (bytes, Ok(())) };
        with(&folder, |log| {
            let fits = log.room.map_or(bytes.len(), |room| bytes.len().min(room as usize));
            if let Some(room) = &mut log.room {
                *room -= fits as u64;
            }
            log.ops.push(Op::Write { file, offset, bytes: bytes[..fits].to_vec() });
            let full = io::Error::from(io::ErrorKind::StorageFull);
            (&bytes[..fits], if fits < bytes.len() { Err(full) } else { Ok(()) })
        })
        .unwrap_or((bytes, Ok(())))
    }

    pub fn sync(path: &Path) {
        if let Some((folder, file)) = of(path) {
            with(&folder, |log| log.ops.push(Op::Sync { file }));
        }
    }

    pub fn cut(path: &Path, length: u64) {
        if let Some((folder, file)) = of(path) {
            with(&folder, |log| log.ops.push(Op::Cut { file, length }));
        }
    }
}
