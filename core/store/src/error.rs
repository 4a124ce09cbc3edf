//! What can go wrong with a store.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be done with a store. The text of each says what to do about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no store in this folder.
    #[error("{folder}: there is no store here (no store.json). Give the folder that a run was told with --store.")]
    NotAStore {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds something else.
    #[error(
        "{folder}: this folder is not empty and not a store (it has {found}). Give an empty folder, or one that does not \
         exist yet."
    )]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of its files.
        found: String,
    },
    /// Somebody else writes.
    #[error(
        "{folder}: another program is writing to this store{holder}. Wait until it is done, or stop it; reading is \
         possible meanwhile."
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// What is known of the other program.
        holder: String,
    },
    /// A newer program wrote it.
    #[error("{path}: {what}; this program reads format {known} at most. Use the newer program that wrote it.")]
    TooNew {
        /// The file.
        path: PathBuf,
        /// What is unknown.
        what: String,
        /// The newest known format.
        known: u32,
    },
    /// The journal does not belong to this `store.json`.
    #[error(
        "{path}: its content is not the one that the journal was begun with: it was changed, or comes from another \
         store. Put the original file back."
    )]
    MetaChanged {
        /// The file.
        path: PathBuf,
    },
    /// A file is damaged.
    #[error("{path}, byte {offset}: {cause}. {remedy}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What is wrong.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// The store belongs to another competition.
    #[error(
        "{folder}: this store belongs to another run: {}. Use another folder for --store, or give what the store was \
         begun with.",
        .differences.join("; ")
    )]
    Differs {
        /// The folder.
        folder: PathBuf,
        /// What differs, one sentence each.
        differences: Vec<String>,
    },
    /// A record cannot be kept because it contradicts what is there.
    #[error("{folder}: this record cannot be kept: {cause}")]
    Refused {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: String,
    },
    /// No output has this hash.
    #[error("{folder}: there is no output with the hash {digest} in this store.")]
    NoOutput {
        /// The folder.
        folder: PathBuf,
        /// The hash.
        digest: crate::Digest,
    },
    /// The disk is full.
    #[error(
        "{path}: {doing}: there is no space left ({cause}). What was recorded before is safe. Make room and give the same \
         command again; it goes on from there."
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        cause: String,
    },
    /// The system refused.
    #[error("{path}: {doing}: {cause}. {remedy}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
}

impl StoreError {
    /// Whether the disk, the quota or the limit on the size of a file is used up.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }

    pub(crate) fn io(path: &Path, doing: &'static str, error: &io::Error) -> Self {
        use io::ErrorKind as K;
        let (path, cause) = (path.to_path_buf(), error.to_string());
        let remedy = match error.kind() {
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => return Self::Full { path, doing, cause },
            K::PermissionDenied => "Check who owns it and its permissions.",
            K::ReadOnlyFilesystem => "Use a folder on a file system that can be written.",
            K::AlreadyExists | K::NotADirectory => {
                "There is a file where a folder is meant: give another path, or move the file away."
            }
            K::NotFound => "Check the path; if the file was removed, put it back from a backup.",
            _ => {
                "What was recorded before is safe. Check the disk and the system's log, then give the same command again."
            }
        };
        Self::Io { path, doing, cause, remedy }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), offset, cause: cause.into(), remedy: remedy.into() }
    }
}
