//! Outputs: every distinct sequence of printed bytes is kept once, found by its hash, and checked when it is read.
//!
//! Short texts stand in the journal itself, outputs of a middling size are zstd frames one behind the other in
//! `outputs.zst`, long ones are files. The journal says where; what it does not mention is what an interrupted program
//! left, and is cut off or overwritten.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use crate::files::{Growing, part, sync_folder};
use crate::record::{Output, Place};
use crate::{Digest, StoreError};

/// A text shorter than this stands in the journal.
pub const INLINE_BYTES: usize = 256;
/// An output longer than this is a file of its own.
pub const OBJECT_BYTES: usize = 1 << 20;

const LEVEL: i32 = 3;

fn compressor() -> io::Result<Compressor<'static>> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::ChecksumFlag(true))?;
    Ok(compressor)
}

/// One zstd frame with its checksum and the size of its content.
pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    thread_local! {
        // Setting up takes longer than compressing a few kilobytes.
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    }
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(c) => c,
            None => slot.insert(compressor()?),
        };
        compressor.compress(bytes)
    })
}

/// The text, if it is short enough to stand in the journal.
pub(crate) fn inline(bytes: &[u8]) -> Option<&str> {
    if bytes.len() >= INLINE_BYTES {
        return None;
    }
    // Escaped control characters would make the text longer than its frame.
    std::str::from_utf8(bytes).ok().filter(|t| t.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')))
}

/// Where the object with this hash lies.
pub(crate) fn object_path(folder: &Path, digest: &Digest) -> PathBuf {
    let name = digest.to_string();
    folder.join("objects").join(&name[..2]).join(format!("{}.zst", &name[2..]))
}

/// An object that is being written.
pub(crate) struct NewObject {
    encoder: zstd::Encoder<'static, tempfile::NamedTempFile>,
    hasher: blake3::Hasher,
    bytes: u64,
    folder: PathBuf,
}

impl NewObject {
    pub fn new(store: &Path) -> Result<Self, StoreError> {
        let folder = store.join("objects");
        let open = || {
            let mut encoder = zstd::Encoder::new(part(&folder)?, LEVEL)?;
            encoder.include_checksum(true)?;
            Ok(encoder)
        };
        let encoder = open().map_err(|e: io::Error| StoreError::io(&folder, "an output cannot be written", &e))?;
        Ok(Self { encoder, hasher: blake3::Hasher::new(), bytes: 0, folder })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.encoder.write_all(bytes).map_err(|e| StoreError::io(&self.folder, "an output cannot be written", &e))
    }

    /// Moves it to its place, from where it can be read for ever.
    pub fn finish(self, known: impl Fn(&Digest) -> Option<Output>) -> Result<Output, StoreError> {
        let digest = Digest(*self.hasher.finalize().as_bytes());
        if let Some(output) = known(&digest) {
            return Ok(output);
        }
        let fail = |e: &io::Error| StoreError::io(&self.folder, "an output cannot be written", e);
        let file = self.encoder.finish().map_err(|e| fail(&e))?;
        file.as_file().sync_all().map_err(|e| fail(&e))?;
        let length = file.as_file().metadata().map_err(|e| fail(&e))?.len();
        let store = self.folder.parent().unwrap_or(&self.folder);
        let path = object_path(store, &digest);
        let folder = path.parent().unwrap_or(&self.folder);
        match fs::create_dir(folder) {
            Ok(()) => sync_folder(&self.folder)?,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(fail(&e)),
        }
        file.persist(&path).map_err(|e| fail(&e.error))?;
        sync_folder(folder)?;
        Ok(Output { digest, bytes: self.bytes, place: Place::Object { length } })
    }
}

const RESTORE: &str =
    "Put the file back from a backup; without it the runs that printed this output cannot be judged again.";

/// Writes an output to `out`, checking it on the way; returns its size.
pub(crate) fn read(folder: &Path, pack: &Growing, output: &Output, out: &mut dyn Write) -> Result<u64, StoreError> {
    let (path, offset) = match &output.place {
        Place::Text(_) => (folder.join("journal.jsonl"), 0),
        Place::Pack { offset, .. } => (pack.path().to_path_buf(), *offset),
        Place::Object { .. } => (object_path(folder, &output.digest), 0),
    };
    let bad = |cause: String| StoreError::damaged(&path, offset, cause, RESTORE);
    let mut out = Checked { out, hasher: blake3::Hasher::new(), bytes: 0, failed: None };
    match &output.place {
        Place::Text(text) => drop(out.write_all(text.as_bytes())),
        Place::Pack { offset, length } => {
            let frame = pack.read(*offset, *length)?;
            let size = usize::try_from(output.bytes).map_err(|_| bad("it is too long for this machine".into()))?;
            // The size was recorded: a frame that would become longer is not the one that was written.
            let bytes = (size <= OBJECT_BYTES).then(|| zstd::bulk::decompress(&frame, size));
            let bytes = bytes.unwrap_or_else(|| Err(io::Error::other("it is longer than outputs here are")));
            let bytes = bytes.map_err(|e| bad(format!("the output {} cannot be unpacked ({e})", output.digest)))?;
            drop(out.write_all(&bytes));
        }
        Place::Object { .. } => {
            let file = File::open(&path).map_err(|e| StoreError::io(&path, "an output cannot be read", &e))?;
            let mut decoder =
                zstd::Decoder::new(file).map_err(|e| StoreError::io(&path, "an output cannot be read", &e))?;
            let copied = io::copy(&mut decoder.by_ref().take(output.bytes.saturating_add(1)), &mut out);
            if let Err(e) = copied
                && out.failed.is_none()
            {
                return Err(bad(format!("the output cannot be unpacked ({e})")));
            }
        }
    }
    if let Some(error) = out.failed {
        return Err(StoreError::io(&path, "what was read from it cannot be passed on", &error));
    }
    let found = Digest(*out.hasher.finalize().as_bytes());
    if out.bytes != output.bytes || found != output.digest {
        return Err(bad(format!(
            "the output {} of {} bytes should be here, but these are {} bytes with the hash {found}",
            output.digest, output.bytes, out.bytes
        )));
    }
    Ok(out.bytes)
}

/// Hashes what passes through.
struct Checked<'a> {
    out: &'a mut dyn Write,
    hasher: blake3::Hasher,
    bytes: u64,
    failed: Option<io::Error>,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.out.write_all(bytes) {
            let kind = error.kind();
            self.failed = Some(error);
            return Err(kind.into());
        }
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
