//! Bytes of a benchmark, read in blocks, with the place of each for error messages.

use std::fmt;
use std::io::{self, Read};

/// Why an input was not read.
#[derive(Debug)]
pub enum InputError {
    /// It is not well-formed.
    Malformed(Malformed),
    /// It could not be read.
    Io(io::Error),
    /// The host asked to stop.
    Cancelled,
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        // A damaged gzip stream is a fault of the file, not of the machine.
        match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                Self::Malformed(Malformed { line: 0, column: 0, what: format!("its gzip stream is damaged ({error})") })
            }
            io::ErrorKind::UnexpectedEof => {
                Self::Malformed(Malformed { line: 0, column: 0, what: "its gzip stream is cut off".into() })
            }
            _ => Self::Io(error),
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(m) => m.fmt(f),
            Self::Io(error) => write!(f, "it cannot be read: {error}"),
            Self::Cancelled => f.write_str("the check was cancelled"),
        }
    }
}

impl std::error::Error for InputError {}

/// What is not as the format demands, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The line, counted from 1; 0 if the fault is in the compressed stream.
    pub line: u64,
    /// The byte within the line, counted from 1.
    pub column: u64,
    /// What is wrong, as a clause that begins with a small letter.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}, column {}: {}", self.column, self.what),
        }
    }
}

const BLOCK: usize = 1 << 16;

/// A source of bytes. Gzip is unpacked on the way.
pub struct Bytes<'a> {
    reader: Box<dyn Read + 'a>,
    /// Asked once a block whether to stop.
    cancelled: &'a dyn Fn() -> bool,
    block: Vec<u8>,
    at: usize,
    end: usize,
    /// Bytes before the block.
    before: u64,
    line: u64,
    /// Offset of the line's first byte.
    line_start: u64,
}

fn never() -> bool {
    false
}

impl<'a> Bytes<'a> {
    /// Reads from a source, which may be compressed with gzip.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn new(source: impl Read + 'a) -> Result<Self, InputError> {
        Self::with_cancel(source, &never)
    }

    /// The same, asking once a block whether to stop.
    ///
    /// # Errors
    /// If the source cannot be read.
    pub fn with_cancel(source: impl Read + 'a, cancelled: &'a dyn Fn() -> bool) -> Result<Self, InputError> {
        let mut source = source;
        let (mut start, mut n) = ([0; 2], 0);
        while n < start.len() {
            match source.read(&mut start[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let packed = start == [0x1f, 0x8b];
        let source = io::Cursor::new(start).take(n as u64).chain(source);
        let reader: Box<dyn Read + 'a> =
            if packed { Box::new(flate2::read::MultiGzDecoder::new(source)) } else { Box::new(source) };
        Ok(Self { reader, cancelled, block: vec![0; BLOCK], at: 0, end: 0, before: 0, line: 1, line_start: 0 })
    }

    #[cold]
    fn refill(&mut self) -> Result<bool, InputError> {
        if (self.cancelled)() {
            return Err(InputError::Cancelled);
        }
        self.before += self.end as u64;
        (self.at, self.end) = (0, 0);
        loop {
            match self.reader.read(&mut self.block) {
                Ok(n) => {
                    self.end = n;
                    return Ok(n > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next byte, which stays in place.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, InputError> {
        if self.at == self.end && !self.refill()? {
            return Ok(None);
        }
        Ok(Some(self.block[self.at]))
    }

    /// Passes over the byte that was peeked at.
    #[inline]
    pub(crate) fn skip(&mut self) {
        if self.block[self.at] == b'\n' {
            self.line += 1;
            self.line_start = self.before + self.at as u64 + 1;
        }
        self.at += 1;
    }

    /// The next byte.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<u8>, InputError> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.skip();
        }
        Ok(byte)
    }

    /// Passes over everything before the next line end.
    pub(crate) fn skip_line(&mut self) -> Result<(), InputError> {
        while self.peek()?.is_some() {
            match self.block[self.at..self.end].iter().position(|b| *b == b'\n') {
                Some(n) => {
                    self.at += n;
                    return Ok(());
                }
                None => self.at = self.end,
            }
        }
        Ok(())
    }

    /// The line of the next byte, counted from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// An error at the next byte.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> InputError {
        let column = self.before + self.at as u64 - self.line_start + 1;
        InputError::Malformed(Malformed { line: self.line, column, what: what.into() })
    }

    /// An error at the next byte that says what is there in place of what should be.
    pub(crate) fn expected(&mut self, what: &str) -> InputError {
        match self.peek() {
            Ok(found) => self.wrong(format!("{what} is expected, and there is {}", name(found))),
            Err(error) => error,
        }
    }
}

/// A byte in words.
pub(crate) fn name(byte: Option<u8>) -> String {
    match byte {
        None => "the end of the file".into(),
        Some(b'\n') => "a line end".into(),
        Some(b'\r') => "a carriage return".into(),
        Some(b'\t') => "a tab".into(),
        Some(b' ') => "a space".into(),
        Some(b) if b.is_ascii_graphic() => format!("`{}`", char::from(b)),
        Some(b) => format!("the byte {b}"),
    }
}

/// Sends the bytes of a callback that reads at an offset, as plugins get them, through [`Read`].
pub struct At<F> {
    read_at: F,
    offset: u64,
}

impl<F: FnMut(u64, &mut [u8]) -> io::Result<usize>> At<F> {
    /// From the first byte on.
    pub fn new(read_at: F) -> Self {
        Self { read_at, offset: 0 }
    }
}

impl<F: FnMut(u64, &mut [u8]) -> io::Result<usize>> Read for At<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = (self.read_at)(self.offset, buffer)?;
        self.offset += n as u64;
        Ok(n)
    }
}
