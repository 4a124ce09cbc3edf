//! A script as a stream: only a window of it is in memory.

use std::io::{self, Read};

/// How much is read at a time.
const STEP: usize = 1 << 16;

/// The window.
pub(crate) struct Source<'a> {
    input: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// Where the input's unread part begins in the buffer.
    pub(crate) at: usize,
    /// Where what was read ends in the buffer.
    end: usize,
    /// Bytes and ends of lines before the buffer.
    before: u64,
    lines: u64,
    /// The last end of a line before the buffer, as a number of bytes from the input's beginning; 0 if there is none.
    line_start: u64,
    finished: bool,
    failure: Option<io::Error>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(input: Box<dyn Read + 'a>) -> Self {
        Self {
            input,
            buffer: vec![0; STEP],
            at: 0,
            end: 0,
            before: 0,
            lines: 0,
            line_start: 0,
            finished: false,
            failure: None,
        }
    }

    /// What was read and not yet used.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Reads on, keeping what was not yet used from `keep` on, a place in the buffer that becomes the beginning. Whether
    /// anything came.
    pub(crate) fn more(&mut self, keep: usize) -> bool {
        if self.finished {
            return false;
        }
        if keep > 0 {
            let gone = &self.buffer[..keep];
            for line in memchr::memchr_iter(b'\n', gone) {
                self.lines += 1;
                self.line_start = self.before + line as u64 + 1;
            }
            self.before += keep as u64;
            self.buffer.copy_within(keep..self.end, 0);
            self.end -= keep;
            self.at -= keep;
        }
        if self.end == self.buffer.len() {
            // A long word. It grows by halves, as what is promised of memory counts the spare part too.
            let more = (self.buffer.len() / 2).max(STEP);
            self.buffer.reserve_exact(more);
            self.buffer.resize(self.end + more, 0);
        } else if self.buffer.len() > STEP && self.end < STEP / 2 {
            self.buffer.truncate(STEP);
            self.buffer.shrink_to_fit();
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.finished = true,
                Ok(length) => {
                    self.end += length;
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failure = Some(error);
                    self.finished = true;
                }
            }
            return false;
        }
    }

    /// The failure that ended the input early.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// A part of the buffer.
    #[inline]
    pub(crate) fn between(&self, start: usize, end: usize) -> &[u8] {
        &self.buffer[start..end]
    }

    /// Whether the official tools have noticed the end of the input when they have looked at everything before the
    /// current place, and what is before that is no closing parenthesis: they read up to the next one, or as much as they
    /// read at a time.
    pub(crate) fn ended(&mut self) -> bool {
        const AT_A_TIME: usize = 8192;
        while self.rest().len() < AT_A_TIME && self.more(self.at) {}
        let rest = self.rest();
        rest.len() < AT_A_TIME && memchr::memchr(b')', rest).is_none()
    }

    /// Line and column, from 1, of a place in the buffer.
    pub(crate) fn position(&self, at: usize) -> (u64, u64) {
        let (mut line, mut start) = (self.lines, self.line_start);
        for end in memchr::memchr_iter(b'\n', &self.buffer[..at.min(self.end)]) {
            line += 1;
            start = self.before + end as u64 + 1;
        }
        (line + 1, self.before + at as u64 - start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            out[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lines_and_columns_whatever_was_forgotten() {
        let mut source = Source::new(Box::new(Drops(b"ab\ncd\n\nef")));
        while source.more(0) {}
        assert_eq!(source.rest().len(), 9);
        assert_eq!([0, 2, 3, 7, 8].map(|at| source.position(at)), [(1, 1), (1, 3), (2, 1), (4, 1), (4, 2)]);
        let mut source = Source::new(Box::new(Drops(b"ab\ncd\n\nef")));
        for _ in 0..8 {
            assert!(source.more(source.at));
            source.at += 1;
        }
        assert_eq!(source.position(source.at), (4, 2));
    }

    #[test]
    fn the_end_is_noticed_with_the_last_parenthesis_behind() {
        let mut source = Source::new(Box::new(&b"foo ) bar"[..]));
        assert!(!source.ended());
        source.at += 5;
        assert!(source.ended());
        let long = vec![b' '; 10_000];
        let mut source = Source::new(Box::new(&long[..]));
        assert!(!source.ended());
        source.at += 2_000;
        assert!(source.ended());
    }
}
