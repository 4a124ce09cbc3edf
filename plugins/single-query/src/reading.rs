//! The output of a solver as a sequence of SMT-LIB responses.
//!
//! A line is a response, unless it opens an s-expression or a string: then the response goes on to its end, so that
//! a word inside a message of several lines is never taken for an answer. Blank lines and comments are no responses.
//! A response is compared as a whole with the words of the language; nothing is searched for inside a line.
//!
//! The reader takes the output in pieces of any size and keeps a constant amount of memory, whatever the length of a
//! line or the depth of an expression.

use agon_judging::Answer;
use serde::{Deserialize, Serialize};

/// How exactly a line has to be an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Syntax {
    /// White space around the answer, and a comment after it.
    pub spaces: Spaces,
    /// Other text on the answer's line.
    pub line_rest: LineRest,
    /// Upper-case letters.
    pub letters: Letters,
    /// A UTF-8 byte-order mark at the start of the output.
    pub byte_order_mark: ByteOrderMark,
}

impl Default for Syntax {
    fn default() -> Self {
        Self {
            spaces: Spaces::Tolerate,
            line_rest: LineRest::Refuse,
            letters: Letters::Lower,
            byte_order_mark: ByteOrderMark::Refuse,
        }
    }
}

/// What white space around an answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spaces {
    /// Spaces, tabs, carriage returns, vertical tabs and form feeds around it are passed over.
    Tolerate,
    /// The line consists of the word and its line end.
    Strict,
}

/// What other text after an answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineRest {
    /// The line is no answer.
    Refuse,
    /// The first run of lower-case letters, if it ends at a word boundary, is the answer.
    Ignore,
}

/// What upper-case letters do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Letters {
    /// Only the lower-case words are answers.
    Lower,
    /// Letters of either case are the same.
    Any,
}

/// What a byte-order mark does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteOrderMark {
    /// It is part of the first line.
    Refuse,
    /// It is passed over.
    Skip,
}

/// A place in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte, counted from 0.
    pub from: u64,
    /// The byte after the last one.
    pub to: u64,
    /// The line, counted from 1.
    pub line: u64,
}

/// What a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `sat`, `unsat` or `unknown`.
    Answer(Answer),
    /// `success`.
    Success,
    /// `(error …)`.
    Error,
    /// Anything else.
    Other,
}

/// A response and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// What it is.
    pub kind: Kind,
    /// Where it stands, without white space around it.
    pub at: Span,
    /// Whether the output ended before the response did: inside an expression or a string, or without a line end.
    pub open: bool,
}

/// As many bytes of a line as are needed to compare it with any word.
const HEAD: usize = 32;

/// Where the reader stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// In a line.
    Line,
    /// In a comment outside any expression, up to the line end.
    Comment,
    /// In a string outside any expression. Set at a quote that may close it or be doubled.
    Text { quote: bool },
    /// In an expression.
    Expression(Inside),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Plain,
    Comment,
    Text,
    Symbol,
}

/// Reads an output piece by piece.
#[derive(Debug)]
pub struct Reader {
    syntax: Syntax,
    mode: Mode,
    /// Bytes read.
    offset: u64,
    line: u64,
    /// The start of the output, while it may yet be a byte-order mark.
    mark: usize,
    /// The response being read.
    from: u64,
    to: u64,
    at_line: u64,
    /// Its first bytes, runs of white space as one space.
    head: [u8; HEAD],
    length: usize,
    cut: bool,
    /// White space was seen before the response, or since its last byte.
    before: bool,
    pending: bool,
    /// A response ended earlier on this line, or a comment follows on it.
    continued: bool,
    comment: bool,
    depth: u64,
}

const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Reader {
    /// At the start of an output.
    pub fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            mode: Mode::Line,
            offset: 0,
            line: 1,
            mark: 0,
            from: 0,
            to: 0,
            at_line: 1,
            head: [0; HEAD],
            length: 0,
            cut: false,
            before: false,
            pending: false,
            continued: false,
            comment: false,
            depth: 0,
        }
    }

    /// Reads on. Each response that ends in this piece is handed over.
    pub fn read(&mut self, piece: &[u8], mut take: impl FnMut(Response)) {
        for &byte in piece {
            self.byte(byte, &mut take);
        }
    }

    /// The output has ended.
    pub fn finish(mut self, mut take: impl FnMut(Response)) {
        match self.mode {
            Mode::Line | Mode::Comment => self.end_of_line(true, &mut take),
            Mode::Text { quote: true } => self.end_of_text(true, &mut take),
            Mode::Text { quote: false } => {
                self.to = self.offset;
                take(self.response(Kind::Other, true));
            }
            Mode::Expression(_) => {
                self.to = self.offset;
                let kind = self.expression();
                take(self.response(kind, true));
            }
        }
    }

    fn byte(&mut self, byte: u8, take: &mut impl FnMut(Response)) {
        if self.syntax.byte_order_mark == ByteOrderMark::Skip
            && self.mark < MARK.len()
            && self.offset == self.mark as u64
        {
            if byte == MARK[self.mark] {
                self.mark += 1;
                self.offset += 1;
                if self.mark == MARK.len() {
                    self.forget();
                } else {
                    self.keep(byte);
                }
                return;
            }
            self.mark = MARK.len();
        }
        match self.mode {
            Mode::Line => self.in_line(byte, take),
            Mode::Comment => {
                if byte == b'\n' {
                    self.end_of_line(false, take);
                }
            }
            Mode::Text { quote: false } => {
                if byte == b'"' {
                    self.mode = Mode::Text { quote: true };
                }
            }
            Mode::Text { quote: true } => {
                if byte == b'"' {
                    self.mode = Mode::Text { quote: false };
                } else {
                    self.end_of_text(false, take);
                    self.in_line(byte, take);
                }
            }
            Mode::Expression(inside) => self.in_expression(inside, byte, take),
        }
        self.offset += 1;
        if byte == b'\n' {
            self.line += 1;
        }
    }

    fn in_line(&mut self, byte: u8, take: &mut impl FnMut(Response)) {
        match byte {
            b'\n' => self.end_of_line(false, take),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                if self.length == 0 {
                    self.before = true;
                } else {
                    self.pending = true;
                }
            }
            b';' => {
                self.comment = true;
                self.mode = Mode::Comment;
            }
            b'(' if self.length == 0 => {
                self.start();
                self.depth = 1;
                self.mode = Mode::Expression(Inside::Plain);
            }
            b'"' if self.length == 0 => {
                self.start();
                self.mode = Mode::Text { quote: false };
            }
            _ => self.keep(byte),
        }
    }

    fn in_expression(&mut self, inside: Inside, byte: u8, take: &mut impl FnMut(Response)) {
        match (inside, byte) {
            (Inside::Plain, b'(') => self.depth = self.depth.saturating_add(1),
            (Inside::Plain, b')') => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.to = self.offset + 1;
                    let kind = self.expression();
                    take(self.response(kind, false));
                    self.forget();
                    self.continued = true;
                    self.mode = Mode::Line;
                    return;
                }
            }
            (Inside::Plain, b'"') => self.mode = Mode::Expression(Inside::Text),
            (Inside::Plain, b'|') => self.mode = Mode::Expression(Inside::Symbol),
            (Inside::Plain, b';') => self.mode = Mode::Expression(Inside::Comment),
            (Inside::Comment, b'\n') | (Inside::Text, b'"') | (Inside::Symbol, b'|') => {
                self.mode = Mode::Expression(Inside::Plain);
            }
            _ => {}
        }
        // The first symbol says whether it is an error. A doubled quote closes and opens a text, which comes to the same.
        if !self.cut {
            if self.length < HEAD {
                let white = byte.is_ascii_whitespace() || byte == 0x0b;
                if !(white && self.length == 0) {
                    self.head[self.length] = if white { b' ' } else { byte };
                    self.length += 1;
                }
            } else {
                self.cut = true;
            }
        }
    }

    /// Starts a response at the current byte.
    fn start(&mut self) {
        self.from = self.offset;
        self.at_line = self.line;
        self.length = 0;
        self.cut = false;
    }

    /// Takes a byte of a line's text.
    fn keep(&mut self, byte: u8) {
        if self.length == 0 {
            self.start();
        }
        if self.pending {
            self.push(b' ');
            self.pending = false;
        }
        self.push(byte);
        self.to = self.offset + 1;
    }

    fn push(&mut self, byte: u8) {
        if self.length < HEAD {
            self.head[self.length] = byte;
            self.length += 1;
        } else {
            self.cut = true;
        }
    }

    fn forget(&mut self) {
        self.length = 0;
        self.cut = false;
        self.before = false;
        self.pending = false;
        self.comment = false;
    }

    fn end_of_line(&mut self, open: bool, take: &mut impl FnMut(Response)) {
        if self.length > 0 {
            let kind = self.line();
            take(self.response(kind, open));
        }
        self.forget();
        self.continued = false;
        self.mode = Mode::Line;
    }

    fn end_of_text(&mut self, open: bool, take: &mut impl FnMut(Response)) {
        self.to = self.offset;
        take(self.response(Kind::Other, open));
        self.forget();
        self.continued = true;
        self.mode = Mode::Line;
    }

    fn response(&self, kind: Kind, open: bool) -> Response {
        Response { kind, at: Span { from: self.from, to: self.to, line: self.at_line }, open }
    }

    fn expression(&self) -> Kind {
        let head = &self.head[..self.length];
        let rest = head.strip_prefix(b"error");
        match rest.and_then(<[u8]>::first) {
            Some(b' ' | b'"' | b'(' | b')' | b'|' | b';') => Kind::Error,
            None if rest.is_some() && !self.cut => Kind::Error,
            _ => Kind::Other,
        }
    }

    fn line(&self) -> Kind {
        if self.continued {
            return Kind::Other;
        }
        let spaced = self.before || self.pending || self.comment;
        if self.syntax.spaces == Spaces::Strict && spaced {
            return Kind::Other;
        }
        let text = &self.head[..self.length];
        let lower: [u8; HEAD];
        let text = if self.syntax.letters == Letters::Any {
            lower = self.head.map(|b| b.to_ascii_lowercase());
            &lower[..self.length]
        } else {
            text
        };
        let word = match self.syntax.line_rest {
            LineRest::Refuse if self.cut => return self.with_reason(text),
            LineRest::Refuse => text,
            LineRest::Ignore => {
                let end = text.iter().position(|b| !b.is_ascii_lowercase()).unwrap_or(text.len());
                let boundary = match text.get(end) {
                    Some(b) => !(b.is_ascii_alphanumeric() || *b == b'_'),
                    None => !self.cut,
                };
                if boundary { &text[..end] } else { return Kind::Other }
            }
        };
        match word {
            b"sat" => Kind::Answer(Answer::Sat),
            b"unsat" => Kind::Answer(Answer::Unsat),
            b"unknown" => Kind::Answer(Answer::Unknown),
            // `success` alone is passed over; with other text it is a line like any other.
            b"success" if text == b"success" => Kind::Success,
            _ => self.with_reason(text),
        }
    }

    /// `unknown (reason)`: a reason does not make it a claim.
    fn with_reason(&self, text: &[u8]) -> Kind {
        match text.strip_prefix(b"unknown") {
            Some([b' ' | b'(', ..]) if self.syntax.spaces == Spaces::Tolerate => Kind::Answer(Answer::Unknown),
            _ => Kind::Other,
        }
    }
}

/// All responses of an output that is at hand as a whole.
pub fn responses(output: &[u8], syntax: Syntax) -> Vec<Response> {
    let mut all = Vec::new();
    let mut reader = Reader::new(syntax);
    reader.read(output, |r| all.push(r));
    reader.finish(|r| all.push(r));
    all
}
