//! Reading outputs in bounded memory: lines, and atoms and s-expressions as SMT-LIB has them.

use crate::input::Reader;
use crate::values::Fault;

/// A part of the bytes that moves forward over a reader.
struct Window<'a> {
    reader: Reader<'a>,
    buffer: Vec<u8>,
    /// Where the unread bytes begin in the buffer.
    at: usize,
    /// The position of the buffer's end in the whole.
    end: u64,
    done: bool,
}

impl<'a> Window<'a> {
    const STEP: usize = 64 * 1024;

    fn new(reader: Reader<'a>) -> Self {
        Self { reader, buffer: Vec::new(), at: 0, end: 0, done: false }
    }

    fn unread(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// The position of the first unread byte.
    fn position(&self) -> u64 {
        self.end - (self.buffer.len() - self.at) as u64
    }

    /// Reads more behind the unread bytes; false at the end.
    fn more(&mut self) -> Result<bool, Fault> {
        if self.done {
            return Ok(false);
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let filled = self.buffer.len();
        // No more memory than there are bytes, and one, to see the end; the size may be wrong.
        let step = match self.reader.size() {
            Some(size) => usize::try_from(size.saturating_sub(self.end).saturating_add(1)).unwrap_or(Self::STEP),
            None => Self::STEP,
        };
        self.buffer.resize(filled + step.min(Self::STEP), 0);
        let n = self.reader.read_at(self.end, &mut self.buffer[filled..]);
        self.buffer.truncate(filled + *n.as_ref().unwrap_or(&0));
        let n = n?;
        self.end += n as u64;
        self.done = n == 0;
        Ok(n > 0)
    }

    fn next(&mut self) -> Result<Option<u8>, Fault> {
        if self.at == self.buffer.len() && !self.more()? {
            return Ok(None);
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(Some(byte))
    }

    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if self.at == self.buffer.len() && !self.more()? {
            return Ok(None);
        }
        Ok(Some(self.buffer[self.at]))
    }
}

/// A line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'l> {
    /// Its bytes without the line feed; only the first ones, if it is longer than asked for. A carriage return before
    /// the line feed and a byte-order mark are among them: whether they count is for the plugin to say.
    pub bytes: &'l [u8],
    /// Where it begins.
    pub from: u64,
    /// Where it ends, without the line feed.
    pub to: u64,
    /// Whether a line feed ends it.
    pub terminated: bool,
}

impl Line<'_> {
    /// Whether it is longer than what was asked for.
    pub fn cut(&self) -> bool {
        (self.bytes.len() as u64) < self.to - self.from
    }
}

/// The lines of an output.
pub struct Lines<'a> {
    window: Window<'a>,
    line: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(reader: Reader<'a>) -> Self {
        Self { window: Window::new(reader), line: Vec::new() }
    }

    /// The next line, of which at most `limit` bytes are kept; none at the end.
    pub fn next(&mut self, limit: usize) -> Result<Option<Line<'_>>, Fault> {
        self.line.clear();
        let from = self.window.position();
        loop {
            if self.window.unread().is_empty() && !self.window.more()? {
                let to = self.window.position();
                return Ok((to > from).then_some(Line { bytes: &self.line, from, to, terminated: false }));
            }
            let unread = self.window.unread();
            let (part, found) = match unread.iter().position(|&b| b == b'\n') {
                Some(n) => (n, true),
                None => (unread.len(), false),
            };
            let keep = part.min(limit - self.line.len());
            self.line.extend_from_slice(&unread[..keep]);
            self.window.at += part + usize::from(found);
            if found {
                let to = self.window.position() - 1;
                return Ok(Some(Line { bytes: &self.line, from, to, terminated: true }));
            }
        }
    }
}

/// What a form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormKind {
    /// A word: everything up to a blank, a parenthesis, a quote or a comment.
    Atom,
    /// A string in double quotes; two of them stand for one.
    String,
    /// A symbol between bars.
    Quoted,
    /// A balanced list.
    List,
    /// A closing parenthesis that nothing opened.
    Stray,
}

/// An atom or a balanced s-expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form<'l> {
    /// What it is.
    pub kind: FormKind,
    /// Its bytes; only the first ones, if it is longer than asked for.
    pub bytes: &'l [u8],
    /// Where it begins.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
    /// Whether it is complete: the output did not end within it.
    pub complete: bool,
}

/// The atoms and s-expressions of an output; comments (`;` to the end of the line) and blanks are skipped. The depth
/// of lists is not limited: it costs no stack.
pub struct Forms<'a> {
    window: Window<'a>,
    form: Vec<u8>,
}

impl<'a> Forms<'a> {
    pub(crate) fn new(reader: Reader<'a>) -> Self {
        Self { window: Window::new(reader), form: Vec::new() }
    }

    /// The next form, of which at most `limit` bytes are kept; none at the end.
    pub fn next(&mut self, limit: usize) -> Result<Option<Form<'_>>, Fault> {
        self.form.clear();
        let first = loop {
            match self.window.next()? {
                None => return Ok(None),
                Some(b' ' | b'\t' | b'\r' | b'\n') => {}
                Some(b';') => self.comment()?,
                Some(byte) => break byte,
            }
        };
        let from = self.window.position() - 1;
        self.keep(first, limit);
        let (kind, complete) = match first {
            b'"' => (FormKind::String, self.string(limit)?),
            b'|' => (FormKind::Quoted, self.quoted(limit)?),
            b'(' => (FormKind::List, self.list(limit)?),
            b')' => (FormKind::Stray, true),
            _ => {
                while let Some(byte) = self.window.peek()? {
                    if matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b'"' | b'|' | b';') {
                        break;
                    }
                    self.window.at += 1;
                    self.keep(byte, limit);
                }
                (FormKind::Atom, true)
            }
        };
        Ok(Some(Form { kind, bytes: &self.form, from, to: self.window.position(), complete }))
    }

    fn keep(&mut self, byte: u8, limit: usize) {
        if self.form.len() < limit {
            self.form.push(byte);
        }
    }

    fn comment(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.window.next()? {
            if byte == b'\n' {
                break;
            }
        }
        Ok(())
    }

    fn string(&mut self, limit: usize) -> Result<bool, Fault> {
        while let Some(byte) = self.window.next()? {
            self.keep(byte, limit);
            if byte == b'"' {
                if self.window.peek()? != Some(b'"') {
                    return Ok(true);
                }
                self.window.at += 1;
                self.keep(b'"', limit);
            }
        }
        Ok(false)
    }

    fn quoted(&mut self, limit: usize) -> Result<bool, Fault> {
        while let Some(byte) = self.window.next()? {
            self.keep(byte, limit);
            if byte == b'|' {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn list(&mut self, limit: usize) -> Result<bool, Fault> {
        let mut depth = 1_u64;
        while let Some(byte) = self.window.next()? {
            self.keep(byte, limit);
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(true);
                    }
                }
                b'"' if !self.string(limit)? => return Ok(false),
                b'|' if !self.quoted(limit)? => return Ok(false),
                b';' => {
                    self.comment()?;
                    self.keep(b'\n', limit);
                }
                _ => {}
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut lines = Reader::from(text).lines();
        let mut out = Vec::new();
        while let Some(line) = lines.next(limit).expect("memory can be read") {
            out.push((line.bytes.to_vec(), line.from, line.to, line.terminated));
        }
        out
    }

    fn forms(text: &[u8]) -> Vec<(FormKind, String, u64, u64, bool)> {
        let mut forms = Reader::from(text).forms();
        let mut out = Vec::new();
        while let Some(f) = forms.next(1 << 20).expect("memory can be read") {
            out.push((f.kind, String::from_utf8_lossy(f.bytes).into_owned(), f.from, f.to, f.complete));
        }
        out
    }

    #[test]
    fn lines_with_and_without_an_end() {
        assert_eq!(
            lines(b"sat\r\n\nmodel", 4),
            [(b"sat\r".to_vec(), 0, 4, true), (Vec::new(), 5, 5, true), (b"mode".to_vec(), 6, 11, false),]
        );
        assert_eq!(lines(b"", 9), []);
        assert_eq!(lines(b"a\n", 9), [(b"a".to_vec(), 0, 1, true)]);
    }

    #[test]
    fn a_line_over_many_windows_is_cut() {
        let mut text = vec![b'x'; 300_000];
        text.extend_from_slice(b"\nsat\n");
        let found = lines(&text, 10);
        assert_eq!(found[0], (vec![b'x'; 10], 0, 300_000, true));
        assert_eq!(found[1], (b"sat".to_vec(), 300_001, 300_004, true));
    }

    #[test]
    fn forms_of_every_kind() {
        use FormKind::{Atom, List, Quoted, Stray, String};
        assert_eq!(
            forms(b"sat ; unsat\n(error \"a \"\"(\"\" b\") |x y| ) (a"),
            [
                (Atom, "sat".into(), 0, 3, true),
                (List, "(error \"a \"\"(\"\" b\")".into(), 12, 31, true),
                (Quoted, "|x y|".into(), 32, 37, true),
                (Stray, ")".into(), 38, 39, true),
                (List, "(a".into(), 40, 42, false),
            ]
        );
        assert_eq!(forms(b"\"open")[0], (String, "\"open".into(), 0, 5, false));
    }

    #[test]
    fn a_million_levels_need_no_stack() {
        let deep = [vec![b'('; 1_000_000], vec![b')'; 1_000_000]].concat();
        let mut forms = Reader::from(&deep[..]).forms();
        let form = forms.next(5).expect("memory can be read").expect("there is one");
        assert_eq!((form.kind, form.bytes, form.to, form.complete), (FormKind::List, &b"((((("[..], 2_000_000, true));
    }
}
