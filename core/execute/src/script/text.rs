//! The text that a dialogue sends pieces of, of which a window is in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::job::FileContent;

/// Bytes that are read at a time.
const WINDOW: usize = 1 << 18;

/// A text, open for reading.
#[derive(Debug)]
pub(super) enum Text<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// A file, and the part of it that was read last.
    File { file: File, window: Vec<u8>, from: u64 },
}

impl<'a> Text<'a> {
    /// Opens a text.
    pub(super) fn open(content: &'a FileContent) -> io::Result<Text<'a>> {
        Ok(match content {
            FileContent::Bytes(bytes) => Text::Bytes(bytes),
            FileContent::Path(path) => Text::File { file: File::open(path)?, window: Vec::new(), from: 0 },
        })
    }

    /// The first bytes of a range, at least one unless it is empty.
    pub(super) fn bytes(&mut self, range: &Range<u64>) -> io::Result<&[u8]> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        if length == 0 {
            return Ok(&[]);
        }
        let short = || {
            let what = format!("the text of the dialogue ends before byte {}: it has changed", range.end);
            io::Error::new(io::ErrorKind::UnexpectedEof, what)
        };
        match self {
            Text::Bytes(bytes) => {
                let from = usize::try_from(range.start).ok();
                let rest = from.and_then(|from| bytes.get(from..)).filter(|rest| !rest.is_empty()).ok_or_else(short)?;
                Ok(&rest[..length.min(rest.len())])
            }
            Text::File { file, window, from } => {
                let inside = |from: u64, window: &[u8]| {
                    let at = usize::try_from(range.start.checked_sub(from)?).ok()?;
                    // A short piece is given whole, so that it is sent at once.
                    (at + length.min(WINDOW / 2) <= window.len()).then_some(at)
                };
                let at = match inside(*from, window) {
                    Some(at) => at,
                    None => {
                        window.resize(WINDOW, 0);
                        let mut filled = 0;
                        while filled < WINDOW {
                            match file.read_at(&mut window[filled..], range.start + filled as u64) {
                                Ok(0) => break,
                                Ok(count) => filled += count,
                                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                                Err(error) => return Err(error),
                            }
                        }
                        window.truncate(filled);
                        *from = range.start;
                        if filled < length.min(WINDOW / 2) {
                            return Err(short());
                        }
                        0
                    }
                };
                Ok(&window[at..window.len().min(at.saturating_add(length))])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_read_in_windows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let whole: Vec<u8> = (0..3 * WINDOW + 7).map(|i| (i * 31 % 251) as u8).collect();
        std::fs::write(&path, &whole).unwrap();
        let (file, bytes) = (FileContent::Path(path), FileContent::Bytes(whole.clone()));
        for content in [file, bytes] {
            let mut text = Text::open(&content).unwrap();
            for range in [0..5, 3..3, 5..WINDOW + 9, WINDOW - 1..WINDOW + 1, 2 * WINDOW..3 * WINDOW + 7, 1..2] {
                let (mut at, end) = (range.start as u64, range.end as u64);
                let mut got = Vec::new();
                while at < end {
                    let part = text.bytes(&(at..end)).unwrap();
                    assert!(!part.is_empty());
                    got.extend_from_slice(part);
                    at = range.start as u64 + got.len() as u64;
                }
                assert_eq!(got, whole[range]);
            }
            let end = whole.len() as u64;
            assert!(text.bytes(&(end..end + 1)).is_err());
            assert!(text.bytes(&(u64::MAX - 1..u64::MAX)).is_err());
        }
    }
}
