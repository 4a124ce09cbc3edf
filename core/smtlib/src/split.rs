//! Commands of a script and responses of a solver, as balanced s-expressions, without looking at what they say.
//!
//! Parentheses inside comments, string literals and quoted symbols are none. [`items`] goes over a text that is in memory;
//! a [`Splitter`] is fed with pieces as they arrive from a pipe; a [`Reader`] feeds one from any [`std::io::Read`]. Memory
//! is bounded by the largest item (and a limit on it, if one is given).
//!
//! An item is a list, or an atom that stands outside every list: a script has no such atoms, but a solver's responses
//! have (`sat`, `success`).

use std::io::{self, Read};

use thiserror::Error;

use crate::lexer::Strings;

/// A balanced s-expression: `text[start..end]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
}

impl Span {
    /// Its bytes, or none if `text` is another text.
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Why a text does not fall into items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SplitProblem {
    /// A `)` outside every list.
    #[error("this `)` closes nothing")]
    Close,
    /// The text ends inside a list.
    #[error("the list that begins here has no end: a `)` is missing")]
    Open,
    /// The text ends inside a string literal outside every list.
    #[error("the string literal that begins here has no end: a `\"` is missing")]
    OpenString,
    /// The text ends inside a quoted symbol outside every list.
    #[error("the quoted symbol that begins here has no end: a `|` is missing")]
    OpenQuoted,
    /// The item is larger than the limit.
    #[error("what begins here is larger than the limit")]
    TooLarge,
}

/// A text that does not fall into items, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct SplitError {
    /// Why.
    pub problem: SplitProblem,
    /// Offset, from the beginning of the text or stream: of the `)`, or of the first byte of what has no end.
    pub at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    /// Between items.
    Space,
    /// In a list, outside of everything below.
    List,
    Comment,
    /// A simple atom outside every list.
    Atom,
    String,
    /// Behind a `"` that may be the first half of `""`.
    StringQuote,
    /// Behind the backslash of 2.0.
    StringEscape,
    Quoted,
}

const ENDS_ATOM: u8 = 1;
const IN_LIST: u8 = 2;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut bytes: &[u8] = b" \t\n\r()|\";";
    while let [first, rest @ ..] = bytes {
        table[*first as usize] |= ENDS_ATOM;
        bytes = rest;
    }
    let mut bytes: &[u8] = b"()|\";";
    while let [first, rest @ ..] = bytes {
        table[*first as usize] |= IN_LIST;
        bytes = rest;
    }
    table
};

/// The scanner: knows where it is between two pieces of a text.
#[derive(Clone, Debug)]
struct Scan {
    place: In,
    depth: u64,
    strings: Strings,
}

/// What the scanner met.
enum Met {
    /// An item begins at this offset.
    Start(usize),
    /// The item ends before this offset.
    End(usize),
    /// A `)` too many at this offset.
    Close(usize),
    /// The piece is over.
    More,
}

impl Scan {
    fn new(strings: Strings) -> Self {
        Self { place: In::Space, depth: 0, strings }
    }

    /// Goes on from `*at` to the next event; `*at` is then behind what was looked at.
    fn step(&mut self, bytes: &[u8], at: &mut usize) -> Met {
        let enclosing = |depth| if depth == 0 { In::Space } else { In::List };
        while let Some(&byte) = bytes.get(*at) {
            match self.place {
                In::Space => match byte {
                    b' ' | b'\t' | b'\n' | b'\r' => *at += 1,
                    b';' => self.place = In::Comment,
                    b')' => {
                        *at += 1;
                        return Met::Close(*at - 1);
                    }
                    _ => {
                        self.place = match byte {
                            b'(' => In::List,
                            b'"' => In::String,
                            b'|' => In::Quoted,
                            _ => In::Atom,
                        };
                        self.depth = u64::from(byte == b'(');
                        *at += 1;
                        return Met::Start(*at - 1);
                    }
                },
                In::List => {
                    let rest = &bytes[*at..];
                    let Some(skip) = rest.iter().position(|&b| CLASS[b as usize] & IN_LIST != 0) else {
                        *at = bytes.len();
                        return Met::More;
                    };
                    *at += skip + 1;
                    match rest[skip] {
                        b'(' => self.depth += 1,
                        b')' => {
                            self.depth -= 1;
                            if self.depth == 0 {
                                self.place = In::Space;
                                return Met::End(*at);
                            }
                        }
                        b'"' => self.place = In::String,
                        b'|' => self.place = In::Quoted,
                        _ => self.place = In::Comment,
                    }
                }
                In::Comment => match memchr::memchr2(b'\n', b'\r', &bytes[*at..]) {
                    Some(skip) => {
                        *at += skip + 1;
                        self.place = enclosing(self.depth);
                    }
                    None => *at = bytes.len(),
                },
                In::Atom => {
                    let rest = &bytes[*at..];
                    match rest.iter().position(|&b| CLASS[b as usize] & ENDS_ATOM != 0) {
                        Some(skip) => {
                            *at += skip;
                            self.place = In::Space;
                            return Met::End(*at);
                        }
                        None => *at = bytes.len(),
                    }
                }
                In::String if self.strings == Strings::Doubled => match memchr::memchr(b'"', &bytes[*at..]) {
                    Some(skip) => {
                        *at += skip + 1;
                        self.place = In::StringQuote;
                    }
                    None => *at = bytes.len(),
                },
                In::String => match memchr::memchr2(b'"', b'\\', &bytes[*at..]) {
                    Some(skip) => {
                        let escape = bytes[*at + skip] == b'\\';
                        *at += skip + 1;
                        if escape {
                            self.place = In::StringEscape;
                        } else {
                            self.place = enclosing(self.depth);
                            if self.depth == 0 {
                                return Met::End(*at);
                            }
                        }
                    }
                    None => *at = bytes.len(),
                },
                In::StringQuote if byte == b'"' => {
                    *at += 1;
                    self.place = In::String;
                }
                In::StringQuote => {
                    self.place = enclosing(self.depth);
                    if self.depth == 0 {
                        return Met::End(*at);
                    }
                }
                In::StringEscape => {
                    *at += 1;
                    self.place = In::String;
                }
                In::Quoted => match memchr::memchr(b'|', &bytes[*at..]) {
                    Some(skip) => {
                        *at += skip + 1;
                        self.place = enclosing(self.depth);
                        if self.depth == 0 {
                            return Met::End(*at);
                        }
                    }
                    None => *at = bytes.len(),
                },
            }
        }
        Met::More
    }

    /// At the end of the text: an item that ends with it, or what lacks its end; `None` between items.
    fn finish(&mut self) -> Option<Result<(), SplitProblem>> {
        let place = std::mem::replace(&mut self.place, In::Space);
        let depth = std::mem::take(&mut self.depth);
        match place {
            _ if depth > 0 => Some(Err(SplitProblem::Open)),
            In::Space | In::Comment => None,
            In::List => Some(Err(SplitProblem::Open)),
            In::Atom | In::StringQuote => Some(Ok(())),
            In::String | In::StringEscape => Some(Err(SplitProblem::OpenString)),
            In::Quoted => Some(Err(SplitProblem::OpenQuoted)),
        }
    }
}

/// The items of a text that is in memory.
pub fn items(text: &[u8], strings: Strings) -> Items<'_> {
    Items { text, at: 0, scan: Scan::new(strings) }
}

/// Goes over the items of a text; see [`items`]. After a `)` too many it goes on behind it; what has no end is the last.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    text: &'a [u8],
    at: usize,
    scan: Scan,
}

impl Iterator for Items<'_> {
    type Item = Result<Span, SplitError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = self.at;
        loop {
            match self.scan.step(self.text, &mut self.at) {
                Met::Start(at) => start = at,
                Met::End(end) => return Some(Ok(Span { start, end })),
                Met::Close(at) => return Some(Err(SplitError { problem: SplitProblem::Close, at: at as u64 })),
                Met::More => {
                    let end = self.text.len();
                    return self.scan.finish().map(|ended| match ended {
                        Ok(()) => Ok(Span { start, end }),
                        Err(problem) => Err(SplitError { problem, at: start as u64 }),
                    });
                }
            }
        }
    }
}

/// An item of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Offset of its first byte from the beginning of the stream.
    pub offset: u64,
    /// The line it begins on, from 1.
    pub line: u64,
}

impl Item<'_> {
    /// Whether it is a list, not an atom.
    pub fn is_list(&self) -> bool {
        self.bytes.first() == Some(&b'(')
    }
}

/// Splits what arrives in pieces. Feed it, then take items until there is none, and so on:
///
/// ```
/// use agon_smtlib::{Splitter, Strings};
///
/// let mut splitter = Splitter::new(Strings::Doubled);
/// splitter.feed(b"(echo \")\")(che");
/// assert_eq!(splitter.next_item().unwrap().unwrap().bytes, b"(echo \")\")");
/// assert!(splitter.next_item().is_none());
/// splitter.feed(b"ck-sat)");
/// assert_eq!(splitter.next_item().unwrap().unwrap().bytes, b"(check-sat)");
/// splitter.finish();
/// assert!(splitter.next_item().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Splitter {
    scan: Scan,
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte from the beginning of the stream.
    base: u64,
    /// Lines begun before the buffer's byte `counted`.
    line: u64,
    counted: usize,
    /// Where the item that is being read begins, if one is.
    start: Option<usize>,
    at: usize,
    finished: bool,
    limit: usize,
}

impl Splitter {
    /// A splitter at the beginning of a stream.
    pub fn new(strings: Strings) -> Self {
        Self {
            scan: Scan::new(strings),
            buffer: Vec::new(),
            base: 0,
            line: 1,
            counted: 0,
            start: None,
            at: 0,
            finished: false,
            limit: usize::MAX,
        }
    }

    /// Refuses items of more than `bytes` bytes (and keeps none of them): for input that is not trusted.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads string literals in another way from the next item on.
    pub fn set_strings(&mut self, strings: Strings) {
        self.scan.strings = strings;
    }

    /// Adds a piece of the stream. What [`next_item`](Self::next_item) gave before is dropped.
    pub fn feed(&mut self, piece: &[u8]) {
        self.drop_read();
        self.buffer.extend_from_slice(piece);
    }

    /// Says that the stream is over, which ends an atom.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Whether something has begun that has not ended: part of an item.
    pub fn is_inside(&self) -> bool {
        self.start.is_some()
    }

    fn drop_read(&mut self) {
        let keep = self.start.unwrap_or(self.at);
        self.count_to(keep);
        self.buffer.drain(..keep);
        self.base += keep as u64;
        self.counted -= keep;
        self.at -= keep;
        self.start = self.start.map(|_| 0);
    }

    fn count_to(&mut self, offset: usize) {
        if offset > self.counted {
            self.line += memchr::memchr_iter(b'\n', &self.buffer[self.counted..offset]).count() as u64;
            self.counted = offset;
        }
    }

    /// The next whole item of what was fed. `None`: more must be fed (or, after [`finish`](Self::finish), all is read).
    ///
    /// # Errors
    /// At a `)` too many (it is skipped, and one may go on), at the end of the stream inside an item, and for an item that
    /// is larger than the limit (the rest of it is skipped).
    pub fn next_item(&mut self) -> Option<Result<Item<'_>, SplitError>> {
        let span = match self.advance()? {
            Ok(span) => span,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(self.item(span)))
    }

    fn item(&mut self, span: Span) -> Item<'_> {
        self.count_to(span.start);
        Item { bytes: span.bytes(&self.buffer), offset: self.base + span.start as u64, line: self.line }
    }

    fn advance(&mut self) -> Option<Result<Span, SplitError>> {
        loop {
            let end = match self.scan.step(&self.buffer, &mut self.at) {
                Met::Start(at) => {
                    self.start = Some(at);
                    continue;
                }
                Met::Close(at) => {
                    return Some(Err(SplitError { problem: SplitProblem::Close, at: self.base + at as u64 }));
                }
                Met::End(end) => end,
                Met::More => {
                    if let Some(start) = self.start
                        && self.at - start > self.limit
                    {
                        return Some(Err(self.too_large(start)));
                    }
                    if !self.finished {
                        return None;
                    }
                    match self.scan.finish()? {
                        Ok(()) => self.at,
                        Err(problem) => {
                            let start = self.start.take();
                            return start.map(|at| Err(SplitError { problem, at: self.base + at as u64 }));
                        }
                    }
                }
            };
            // Of an item that was too large, only the end arrives here.
            let Some(start) = self.start.take() else { continue };
            if end - start > self.limit {
                return Some(Err(SplitError { problem: SplitProblem::TooLarge, at: self.base + start as u64 }));
            }
            return Some(Ok(Span { start, end }));
        }
    }

    /// Gives up what was read of an item; its end will be met without a beginning.
    fn too_large(&mut self, start: usize) -> SplitError {
        let error = SplitError { problem: SplitProblem::TooLarge, at: self.base + start as u64 };
        self.start = None;
        self.drop_read();
        error
    }
}

/// Reads items from a reader, in pieces of 64 KiB.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    splitter: Splitter,
    piece: Box<[u8]>,
}

/// Why a [`Reader`] stops.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The text does not fall into items.
    #[error(transparent)]
    Split(#[from] SplitError),
}

impl<R: Read> Reader<R> {
    /// Reads from `input`.
    pub fn new(input: R, splitter: Splitter) -> Self {
        Self { input, splitter, piece: vec![0; 1 << 16].into() }
    }

    /// Reads string literals in another way from the next item on.
    pub fn set_strings(&mut self, strings: Strings) {
        self.splitter.set_strings(strings);
    }

    /// The next item, `None` at the end of the input.
    ///
    /// # Errors
    /// If reading fails, or as [`Splitter::next_item`].
    pub fn next_item(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        let span = loop {
            if let Some(met) = self.splitter.advance() {
                break met?;
            }
            if self.splitter.finished {
                return Ok(None);
            }
            match self.input.read(&mut self.piece) {
                Ok(0) => self.splitter.finish(),
                Ok(n) => self.splitter.feed(&self.piece[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        };
        Ok(Some(self.splitter.item(span)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &[u8], strings: Strings) -> Vec<Result<(u64, Vec<u8>), SplitError>> {
        items(text, strings).map(|i| i.map(|s| (s.start as u64, s.bytes(text).to_vec()))).collect()
    }

    fn pieces(text: &[u8], strings: Strings, size: usize) -> Vec<Result<(u64, Vec<u8>), SplitError>> {
        let mut splitter = Splitter::new(strings);
        let mut found = Vec::new();
        let mut take = |splitter: &mut Splitter| {
            while let Some(item) = splitter.next_item() {
                found.push(item.map(|i| {
                    assert_eq!(i.line, Position::of(text, i.offset as usize).line);
                    (i.offset, i.bytes.to_vec())
                }));
            }
        };
        for piece in text.chunks(size) {
            splitter.feed(piece);
            take(&mut splitter);
        }
        splitter.finish();
        take(&mut splitter);
        found
    }

    use crate::position::Position;

    fn texts(text: &str) -> Vec<String> {
        let found = whole(text.as_bytes(), Strings::Doubled);
        found.into_iter().map(|i| i.map_or_else(|e| format!("{e:?}"), |(_, b)| String::from_utf8(b).unwrap())).collect()
    }

    #[test]
    fn parentheses_that_are_none() {
        assert_eq!(
            texts("; (\n(a \")\" |)| ; )\n b)(c \"x\"\")\")\nsat \"a\"\"b\"|q r|success;(\n(x)"),
            ["(a \")\" |)| ; )\n b)", "(c \"x\"\")\")", "sat", "\"a\"\"b\"", "|q r|", "success", "(x)"]
        );
        let old = br#"(a "\")")(b "\\")"#;
        assert_eq!(items(old, Strings::Backslash).filter_map(Result::ok).count(), 2);
    }

    #[test]
    fn what_is_not_balanced_has_a_place() {
        let errors = |text: &str| {
            let all = whole(text.as_bytes(), Strings::Doubled);
            all.into_iter().filter_map(Result::err).map(|e| (e.problem, e.at)).collect::<Vec<_>>()
        };
        assert_eq!(errors("(a)) (b) )"), [(SplitProblem::Close, 3), (SplitProblem::Close, 9)]);
        assert_eq!(errors("(a) ((b)"), [(SplitProblem::Open, 4)]);
        assert_eq!(errors("(a \"b)"), [(SplitProblem::Open, 0)]);
        assert_eq!(errors(" \"b)"), [(SplitProblem::OpenString, 1)]);
        assert_eq!(errors(" |b)"), [(SplitProblem::OpenQuoted, 1)]);
        assert_eq!(errors("(a) ; (b"), []);
    }

    #[test]
    fn a_limit_keeps_no_more_than_it_says() {
        let mut splitter = Splitter::new(Strings::Doubled).with_limit(100);
        splitter.feed(b"(a)(");
        assert_eq!(splitter.next_item().unwrap().unwrap().bytes, b"(a)");
        let mut errors = 0;
        for _ in 0..1000 {
            splitter.feed(b"0123456789 ");
            while let Some(item) = splitter.next_item() {
                assert_eq!(item, Err(SplitError { problem: SplitProblem::TooLarge, at: 3 }));
                errors += 1;
            }
            assert!(splitter.buffer.len() <= 120);
        }
        splitter.feed(b") (b)");
        assert_eq!((splitter.next_item().unwrap().unwrap().bytes, errors), (&b"(b)"[..], 1));
    }

    #[test]
    fn a_reader_gives_all_items() {
        let mut text = Vec::new();
        for n in 0..20_000 {
            text.extend_from_slice(format!("(assert (= x{n} \")\"))\n").as_bytes());
        }
        let mut reader = Reader::new(&text[..], Splitter::new(Strings::Doubled));
        let mut count = 0;
        while let Some(item) = reader.next_item().unwrap() {
            count += 1;
            assert_eq!((item.line, item.is_list()), (count, true));
        }
        assert_eq!(count, 20_000);
        assert!(matches!(
            Reader::new(&b"(a"[..], Splitter::new(Strings::Doubled)).next_item(),
            Err(ReadError::Split(SplitError { problem: SplitProblem::Open, at: 0 }))
        ));
    }

    proptest! {
        #[test]
        fn pieces_come_to_the_same(text in "[(()a\"|\\\\; \n)]{0,60}", size in 1_usize..9) {
            for strings in [Strings::Doubled, Strings::Backslash] {
                prop_assert_eq!(whole(text.as_bytes(), strings), pieces(text.as_bytes(), strings, size));
            }
        }
    }
}
