//! Bytes from a file: decompression, archives, and the difference between a damaged file and a failing disk.
//!
//! Forms are told apart by their first bytes, never by their names. Every decoder verifies the checksums that its
//! form has, and a stream that stops early is an error: the bytes that came before are never taken for the whole.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::{ErrorKind, ResultsError};
use crate::read::Skipped;

/// The most bytes that one given file may unpack to.
const MOST_BYTES: u64 = 64 << 30;
/// The most members of one archive.
const MOST_ENTRIES: u64 = 100_000;
/// How much is asked of the operating system at a time.
const CHUNK: usize = 128 << 10;
/// The size of a tar header.
const TAR_BLOCK: usize = 512;

/// Compressed forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Gzip,
    Xz,
    Zstd,
}

impl Layer {
    fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&[0x1f, 0x8b]) {
            Some(Self::Gzip)
        } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
            Some(Self::Xz)
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
            || (head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18])
        {
            Some(Self::Zstd)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }
}

/// The bytes below a decoder. Errors of the operating system are kept aside, because decoders wrap them.
struct Raw<R> {
    inner: R,
    failure: Rc<RefCell<Option<io::Error>>>,
}

impl<R: Read> Read for Raw<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buf) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                let copy = io::Error::new(e.kind(), e.to_string());
                self.failure.borrow_mut().get_or_insert(e);
                Err(copy)
            }
            other => other,
        }
    }
}

/// Reads until the buffer is full or there is no more.
pub(crate) fn read_full(reader: &mut (impl Read + ?Sized), buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match reader.read(&mut buf[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// A stream of plain text, whatever it was wrapped in.
pub(crate) struct Input<'a> {
    /// The given file.
    pub file: PathBuf,
    /// The member of the archive.
    pub member: Option<String>,
    /// The base name without the suffix of a compressed form.
    pub base: String,
    /// Whether damage to the bytes would be noticed: a compressed form with a checksum.
    pub checked: bool,
    /// What was read ahead to recognise the form.
    head: Vec<u8>,
    head_at: usize,
    reader: Box<dyn Read + 'a>,
    layer: Option<Layer>,
    /// The failure of the file itself, whose text is better than what a decoder makes of it.
    failure: Rc<RefCell<Option<io::Error>>>,
    /// How many bytes came out.
    pub bytes: u64,
    /// Whether the text ends without a line end.
    pub open_end: bool,
    limit: u64,
}

/// What a given file turned out to be.
pub(crate) enum Opened {
    /// One stream of text.
    Text(Input<'static>),
    /// An archive.
    Tar(Input<'static>),
    /// A Parquet file.
    Parquet,
}

/// Opens a file and finds out what it is.
pub(crate) fn open(path: &Path) -> Result<Opened, ResultsError> {
    let fail = |e: &io::Error| ResultsError::opening(path, e);
    let metadata = std::fs::metadata(path).map_err(|e| fail(&e))?;
    if metadata.is_dir() {
        return Err(ResultsError::new(path, ErrorKind::Directory));
    }
    // A pipe can be read once only and may never begin; a device may never end.
    if !metadata.is_file() {
        return Err(ResultsError::new(path, ErrorKind::Special));
    }
    let mut file = File::open(path).map_err(|e| fail(&e))?;
    let mut head = vec![0; 8];
    let n = read_full(&mut file, &mut head).map_err(|e| fail(&e))?;
    head.truncate(n);
    if head.is_empty() {
        return Err(ResultsError::new(path, ErrorKind::Empty));
    }
    if head.starts_with(b"PAR1") {
        return Ok(Opened::Parquet);
    }
    let base = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut input = Input::over(path.to_path_buf(), None, &base, head, Box::new(file), MOST_BYTES)?;
    input.peek(TAR_BLOCK)?;
    if input.is_tar() { Ok(Opened::Tar(input)) } else { Ok(Opened::Text(input)) }
}

/// Whether the first frame of a zstd stream has a checksum. Parallel compressors put a small frame without content
/// before it; what has to be read to get past that is added to `head`.
fn zstd_checksum(head: &mut Vec<u8>, rest: &mut dyn Read) -> io::Result<bool> {
    const MOST: usize = 4096;
    let mut at = 0;
    while let Some(&[low, 0x2a, 0x4d, 0x18, a, b, c, d]) = head.get(at..at + 8)
        && low & 0xf0 == 0x50
    {
        at += 8 + u32::from_le_bytes([a, b, c, d]) as usize;
        if at > MOST {
            return Ok(false);
        }
        let had = head.len();
        head.resize((at + 8).max(had), 0);
        let got = read_full(rest, &mut head[had..])?;
        head.truncate(had + got);
    }
    Ok(head.get(at + 4).is_some_and(|descriptor| descriptor & 4 != 0))
}

/// The name without the suffix of a compressed form.
fn plain_name(base: &str) -> &str {
    [".gz", ".xz", ".zst"].iter().find_map(|s| base.strip_suffix(s)).unwrap_or(base)
}

impl<'a> Input<'a> {
    fn over(
        file: PathBuf,
        member: Option<String>,
        base: &str,
        mut head: Vec<u8>,
        mut rest: Box<dyn Read + 'a>,
        limit: u64,
    ) -> Result<Self, ResultsError> {
        let failure = Rc::new(RefCell::new(None));
        let layer = Layer::of(&head);
        let mut checked = false;
        let mut text_head = Vec::new();
        let reader: Box<dyn Read + 'a> = match layer {
            None => {
                text_head = head;
                Box::new(Raw { inner: rest, failure: failure.clone() })
            }
            Some(layer) => {
                // The frame header of zstd and the stream header of xz say whether there is a checksum.
                checked = match layer {
                    Layer::Gzip => true,
                    Layer::Zstd => {
                        zstd_checksum(&mut head, &mut *rest).map_err(|e| ResultsError::opening(&file, &e))?
                    }
                    Layer::Xz => head.get(7).is_some_and(|check| check & 0xf != 0),
                };
                let raw = Raw { inner: io::Cursor::new(head).chain(rest), failure: failure.clone() };
                let raw = BufReader::with_capacity(CHUNK, raw);
                match layer {
                    Layer::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
                    Layer::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
                    Layer::Zstd => Box::new(
                        zstd::stream::read::Decoder::with_buffer(raw)
                            .map_err(|e| ResultsError::new(&file, ErrorKind::Io(e.to_string())))?,
                    ),
                }
            }
        };
        let base = plain_name(base).to_string();
        Ok(Self {
            file,
            member,
            base,
            checked,
            head: text_head,
            head_at: 0,
            reader,
            layer,
            failure,
            bytes: 0,
            open_end: false,
            limit,
        })
    }

    /// An input over bytes in memory, for what was written by ourselves and for tests.
    #[cfg(test)]
    pub(crate) fn over_bytes(bytes: &'a [u8]) -> Self {
        Self::over(PathBuf::from("memory"), None, "memory", bytes.to_vec(), Box::new(io::empty()), MOST_BYTES)
            .expect("a decoder can be made")
    }

    fn is_tar(&self) -> bool {
        let Some(block) = self.head.get(..TAR_BLOCK) else { return false };
        // The header's own checksum: the sum of its bytes with the checksum field taken as blanks. This recognises
        // the oldest archives too, which have no magic word.
        let field = String::from_utf8_lossy(&block[148..156]);
        let Ok(stated) = u32::from_str_radix(field.trim_matches(['\0', ' ']), 8) else { return false };
        let sum: u32 =
            block.iter().enumerate().map(|(at, &b)| if (148..156).contains(&at) { 32 } else { u32::from(b) }).sum();
        sum == stated
    }

    /// Makes the first `n` bytes, or all if there are fewer, part of `head`.
    fn peek(&mut self, n: usize) -> Result<(), ResultsError> {
        let had = self.head.len();
        if had < n {
            self.head.resize(n, 0);
            let got = read_full(&mut *self.reader, &mut self.head[had..]).map_err(|e| self.failed(&e))?;
            self.head.truncate(had + got);
        }
        Ok(())
    }

    /// The error for a failure of the reader.
    fn failed(&self, error: &io::Error) -> ResultsError {
        let kind = if let Some(e) = self.failure.borrow_mut().take() {
            match e.get_ref().and_then(|inner| inner.downcast_ref::<Passed>()) {
                Some(Passed(kind)) => kind.clone(),
                None => ErrorKind::Io(e.to_string()),
            }
        } else {
            match self.layer {
                None => ErrorKind::Io(error.to_string()),
                Some(layer) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    ErrorKind::Truncated { layer: layer.name() }
                }
                Some(layer) => ErrorKind::Corrupt { layer: layer.name(), detail: error.to_string() },
            }
        };
        self.error(kind)
    }

    /// An error in this file.
    pub(crate) fn error(&self, kind: ErrorKind) -> ResultsError {
        ResultsError::new(&self.file, kind).member(self.member.as_deref())
    }

    /// Fills the buffer as far as there are bytes.
    pub(crate) fn fill(&mut self, buf: &mut [u8]) -> Result<usize, ResultsError> {
        let from_head = (self.head.len() - self.head_at).min(buf.len());
        buf[..from_head].copy_from_slice(&self.head[self.head_at..self.head_at + from_head]);
        self.head_at += from_head;
        let rest = read_full(&mut *self.reader, &mut buf[from_head..]).map_err(|e| self.failed(&e))?;
        let n = from_head + rest;
        self.bytes += n as u64;
        if self.bytes > self.limit {
            return Err(self.error(ErrorKind::Limit { what: "unpacked bytes", limit: MOST_BYTES }));
        }
        Ok(n)
    }

    /// What the text is wrapped in.
    pub(crate) fn container(&self) -> Option<&'static str> {
        if self.member.is_some() { Some("tar") } else { self.layer.map(Layer::name) }
    }

    /// Reads the rest, only to learn whether the checksums hold. A wrong byte is often noticed as a wrong word first,
    /// and then the damage to the file is the better message.
    pub(crate) fn verify_rest(&mut self) -> Result<(), ResultsError> {
        if self.layer.is_none() && self.member.is_none() {
            return Ok(());
        }
        let mut buf = vec![0; CHUNK];
        while self.fill(&mut buf)? > 0 {}
        Ok(())
    }
}

/// An error that passes through the `tar` crate.
#[derive(Debug)]
struct Passed(ErrorKind);

impl std::fmt::Display for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Passed {}

/// The unpacked archive below the `tar` crate, which takes an end of file for an end of the archive. A complete
/// archive ends with blocks of zeros, so whoever sees the end of the file has an incomplete one.
struct ArchiveBytes<'a> {
    input: Rc<RefCell<Input<'a>>>,
    ended: Rc<RefCell<bool>>,
}

impl Read for ArchiveBytes<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.input.borrow_mut().fill(buf) {
            Ok(0) if !buf.is_empty() => {
                *self.ended.borrow_mut() = true;
                Ok(0)
            }
            Ok(n) => Ok(n),
            Err(e) => Err(io::Error::other(Passed(*e.kind))),
        }
    }
}

/// A member of an archive: it must be as long as its header says.
struct Member<'a, R: Read> {
    entry: tar::Entry<'a, R>,
    left: u64,
}

impl<R: Read> Read for Member<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.entry.read(buf)?;
        if n == 0 && self.left > 0 && !buf.is_empty() {
            return Err(io::Error::other(Passed(ErrorKind::Truncated { layer: "tar" })));
        }
        self.left = self.left.saturating_sub(n as u64);
        Ok(n)
    }
}

/// Calls `each` for every regular file of an archive; it returns whether it took the file. Returns the members that
/// were not taken. Nothing is written to the disk, and an archive inside an archive is not opened.
pub(crate) fn members(
    archive: Input<'static>,
    mut each: impl FnMut(&mut Input<'_>) -> Result<bool, ResultsError>,
) -> Result<Skipped, ResultsError> {
    let file = archive.file.clone();
    let outer_checked = archive.checked;
    let fail = |e: &io::Error| {
        let kind = match e.get_ref().and_then(|inner| inner.downcast_ref::<Passed>()) {
            Some(Passed(kind)) => kind.clone(),
            None if e.kind() == io::ErrorKind::UnexpectedEof => ErrorKind::Truncated { layer: "tar" },
            None => passed_text(e),
        };
        ResultsError::new(&file, kind)
    };
    let input = Rc::new(RefCell::new(archive));
    let ended = Rc::new(RefCell::new(false));
    let mut tar = tar::Archive::new(ArchiveBytes { input: input.clone(), ended: ended.clone() });
    let mut count = 0;
    let mut skipped = Skipped::default();
    // What members that are compressed themselves unpacked to, all together.
    let mut unpacked = 0;
    let mut outcome = Ok(());
    for entry in tar.entries().map_err(|e| fail(&e))? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(_) if *ended.borrow() => {
                outcome = Err(ResultsError::new(&file, ErrorKind::Truncated { layer: "tar" }));
                break;
            }
            Err(e) => {
                outcome = Err(fail(&e));
                break;
            }
        };
        count += 1;
        if count > MOST_ENTRIES {
            return Err(ResultsError::new(&file, ErrorKind::Limit { what: "members", limit: MOST_ENTRIES }));
        }
        let regular = matches!(entry.header().entry_type(), tar::EntryType::Regular | tar::EntryType::Continuous);
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let base = name.rsplit('/').next().unwrap_or_default().to_string();
        if !regular || entry.size() == 0 {
            // A file of results that lost its content is not the same as none.
            if regular && plain_name(&base).ends_with(".csv") {
                outcome = Err(ResultsError::new(&file, ErrorKind::Empty).member(Some(&name)));
                break;
            }
            // Directories do not count as skipped: they hold nothing.
            if !entry.header().entry_type().is_dir() {
                skipped.add(&name);
            }
            continue;
        }
        let left = entry.size();
        let mut member = Member { entry, left };
        let mut head = vec![0; 8];
        let taken = match read_full(&mut member, &mut head) {
            Err(e) => Err(fail(&e)),
            Ok(n) => {
                head.truncate(n);
                let budget = MOST_BYTES - unpacked;
                Input::over(file.clone(), Some(name.clone()), &base, head, Box::new(member), budget).and_then(
                    |mut input| {
                        input.checked |= outer_checked;
                        input.peek(TAR_BLOCK)?;
                        let taken = if input.is_tar() { Ok(false) } else { each(&mut input) };
                        if input.layer.is_some() {
                            unpacked = (unpacked + input.bytes).min(MOST_BYTES);
                        }
                        taken
                    },
                )
            }
        };
        match taken {
            Ok(true) => {}
            Ok(false) => skipped.add(&name),
            Err(e) => {
                outcome = Err(e);
                break;
            }
        }
    }
    drop(tar);
    if outcome.is_ok() && *ended.borrow() {
        outcome = Err(ResultsError::new(&file, ErrorKind::Truncated { layer: "tar" }));
    }
    // What follows the archive is read too: only then are the checksums of the compressed form known to hold.
    let truncated = matches!(&outcome, Err(e) if matches!(*e.kind, ErrorKind::Truncated { .. } | ErrorKind::Corrupt { .. } | ErrorKind::Io(_)));
    if !truncated {
        let mut input = input.borrow_mut();
        let mut buf = vec![0; CHUNK];
        let mut after = 0;
        loop {
            let n = input.fill(&mut buf)?;
            after += n;
            if n == 0 {
                // The end is two blocks of zeros, of which one was seen.
                if outcome.is_ok() && after < TAR_BLOCK {
                    outcome = Err(ResultsError::new(&file, ErrorKind::Truncated { layer: "tar" }));
                }
                break;
            }
            if outcome.is_ok() && buf[..n].iter().any(|&b| b != 0) {
                outcome = Err(ResultsError::new(
                    &file,
                    ErrorKind::Corrupt { layer: "tar", detail: "something follows the end of the archive".into() },
                ));
            }
        }
    }
    outcome.map(|()| skipped)
}

/// The `tar` crate wraps errors of the reader below it in its own type and keeps only their text, so one of ours can
/// arrive as a text; what is left is about the archive itself.
fn passed_text(error: &io::Error) -> ErrorKind {
    let mut source: Option<&dyn std::error::Error> = error.get_ref().map(|e| e as &dyn std::error::Error);
    while let Some(e) = source {
        if let Some(Passed(kind)) = e.downcast_ref::<Passed>() {
            return kind.clone();
        }
        if let Some(io) = e.downcast_ref::<io::Error>()
            && let Some(Passed(kind)) = io.get_ref().and_then(|inner| inner.downcast_ref::<Passed>())
        {
            return kind.clone();
        }
        source = e.source();
    }
    ErrorKind::Corrupt { layer: "tar", detail: error.to_string() }
}
