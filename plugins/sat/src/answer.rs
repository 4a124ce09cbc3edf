//! The output of a SAT solver: `s`, `v` and `c` lines.
//!
//! Every line of standard output starts with `c `, `s ` or `v `; there is exactly one `s` line, in any place, with
//! `SATISFIABLE`, `UNSATISFIABLE` or `UNKNOWN`; the `v` lines together hold the true literals and a closing 0 (solver
//! requirements of the SAT Competition 2004, to which the rules of SAT-Race 2008 refer).
//!
//! The reader takes the output in pieces of any size; besides the literals it keeps a constant amount of memory.

use agon_judging::Answer;
use serde::{Deserialize, Serialize};

/// What other white space than one space after the letter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spaces {
    /// The two first characters of a line decide what it is, and an `s` line ends with its word.
    Strict,
    /// White space before the letter and around the word, tabs and carriage returns are passed over.
    Tolerate,
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

/// What the `s` lines say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// There is none.
    None,
    /// There is one, with this word.
    One(Answer),
    /// There is one with another text.
    Invalid,
    /// There are several.
    Several,
}

/// A fault of the `v` lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub at: Span,
    /// What it is, as a sentence.
    pub what: String,
}

/// What an output says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The `s` lines.
    pub claim: Claim,
    /// The first `s` line.
    pub claim_at: Option<Span>,
    /// The second `s` line.
    pub again_at: Option<Span>,
    /// The literals of the `v` lines, up to the first fault.
    pub literals: Vec<i32>,
    /// The 0 that ends the literals.
    pub closed_at: Option<Span>,
    /// The first `v` line.
    pub values_at: Option<Span>,
    /// The first fault of the `v` lines.
    pub fault: Option<Fault>,
    /// Lines that are none of the three kinds, blank ones apart.
    pub others: u64,
    /// The first of these.
    pub other_at: Option<Span>,
}

impl Reading {
    /// The literals, if the `v` lines are complete and free of faults.
    pub fn model(&self) -> Option<&[i32]> {
        (self.closed_at.is_some() && self.fault.is_none()).then_some(self.literals.as_slice())
    }
}

/// More than the longest `s` line.
const HEAD: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Before the letter of a line.
    Start,
    /// After a letter that may begin a line of its kind.
    Letter(u8),
    /// In an `s` line.
    Status,
    /// In a `v` line.
    Values,
    /// In a line that says nothing.
    Comment,
    /// In a line of no kind.
    Other,
}

/// Reads an output piece by piece.
#[derive(Debug)]
pub struct Reader {
    spaces: Spaces,
    mode: Mode,
    offset: u64,
    line: u64,
    line_start: u64,
    /// The first bytes of an `s` line's text: enough to tell it from every longer one.
    head: [u8; HEAD],
    length: usize,
    /// White space since the last byte of the text.
    pending: bool,
    token: Token,
    reading: Reading,
}

/// The number being read in a `v` line.
#[derive(Debug, Clone, Copy, Default)]
struct Token {
    from: u64,
    bytes: u64,
    negative: bool,
    digits: u64,
    value: i64,
    bad: bool,
}

impl Reader {
    /// At the start of an output.
    pub fn new(spaces: Spaces) -> Self {
        Self {
            spaces,
            mode: Mode::Start,
            offset: 0,
            line: 1,
            line_start: 0,
            head: [0; HEAD],
            length: 0,
            pending: false,
            token: Token::default(),
            reading: Reading {
                claim: Claim::None,
                claim_at: None,
                again_at: None,
                literals: Vec::new(),
                closed_at: None,
                values_at: None,
                fault: None,
                others: 0,
                other_at: None,
            },
        }
    }

    /// Reads on.
    pub fn read(&mut self, piece: &[u8]) {
        for &byte in piece {
            if byte == b'\n' {
                self.end_of_line(false);
                self.line += 1;
                self.line_start = self.offset + 1;
            } else {
                self.byte(byte);
            }
            self.offset += 1;
        }
    }

    /// The output has ended; `cut` says that it went on, but what followed was not kept.
    pub fn finish(mut self, cut: bool) -> Reading {
        self.end_of_line(cut);
        self.reading
    }

    fn byte(&mut self, byte: u8) {
        let white = matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
        let tolerant = self.spaces == Spaces::Tolerate;
        match self.mode {
            Mode::Start => match byte {
                b's' | b'v' | b'c' => self.mode = Mode::Letter(byte),
                _ if white && tolerant => {}
                _ => self.mode = Mode::Other,
            },
            Mode::Letter(letter) => {
                self.mode = match (letter, byte == b' ' || (white && tolerant)) {
                    (b's', true) => {
                        (self.length, self.pending) = (0, false);
                        Mode::Status
                    }
                    (b'v', true) => {
                        let here = self.span(self.line_start, self.offset + 1);
                        self.reading.values_at.get_or_insert(here);
                        Mode::Values
                    }
                    (b'c', true) => Mode::Comment,
                    _ => Mode::Other,
                }
            }
            Mode::Status if white && tolerant => self.pending |= self.length > 0,
            Mode::Status => {
                if self.pending {
                    self.push(b' ');
                    self.pending = false;
                }
                self.push(byte);
            }
            Mode::Values => {
                if byte == b' ' || byte == b'\t' || (white && tolerant) {
                    self.end_of_token(false);
                } else {
                    self.digit(byte);
                }
            }
            Mode::Comment | Mode::Other => {}
        }
    }

    fn push(&mut self, byte: u8) {
        if self.length < HEAD {
            self.head[self.length] = byte;
            self.length += 1;
        }
    }

    fn digit(&mut self, byte: u8) {
        let token = &mut self.token;
        if token.bytes == 0 {
            token.from = self.offset;
        }
        match byte {
            b'-' if token.bytes == 0 => token.negative = true,
            b'0'..=b'9' => {
                token.digits += 1;
                token.value = token.value.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
            }
            _ => token.bad = true,
        }
        token.bytes += 1;
    }

    fn span(&self, from: u64, to: u64) -> Span {
        Span { from, to, line: self.line }
    }

    fn end_of_token(&mut self, cut: bool) {
        let token = std::mem::take(&mut self.token);
        if token.bytes == 0 || self.reading.fault.is_some() {
            return;
        }
        let at = self.span(token.from, self.offset);
        let value = if token.negative { -token.value } else { token.value };
        let what = if cut {
            "The output was cut within or after this number.".to_string()
        } else if token.bad || token.digits == 0 || (token.negative && token.value == 0) {
            "This is no literal.".to_string()
        } else if self.reading.closed_at.is_some() {
            "The `v` lines go on after the 0 that ends them.".to_string()
        } else if let Ok(value) = i32::try_from(value)
            && value != i32::MIN
        {
            if value == 0 {
                self.reading.closed_at = Some(at);
            } else {
                self.reading.literals.push(value);
            }
            return;
        } else {
            "The literal is larger than any variable can be.".to_string()
        };
        self.reading.fault = Some(Fault { at, what });
    }

    fn end_of_line(&mut self, cut: bool) {
        let here = self.span(self.line_start, self.offset);
        match self.mode {
            Mode::Start | Mode::Comment | Mode::Letter(b'c') => {}
            Mode::Values => self.end_of_token(cut),
            Mode::Status => {
                let text = &self.head[..self.length];
                let claim = match text {
                    b"SATISFIABLE" if !cut => Claim::One(Answer::Sat),
                    b"UNSATISFIABLE" if !cut => Claim::One(Answer::Unsat),
                    b"UNKNOWN" => Claim::One(Answer::Unknown),
                    _ => Claim::Invalid,
                };
                if self.reading.claim == Claim::None {
                    self.reading.claim = claim;
                    self.reading.claim_at = Some(here);
                } else {
                    self.reading.claim = Claim::Several;
                    self.reading.again_at.get_or_insert(here);
                }
            }
            Mode::Letter(_) | Mode::Other => {
                self.reading.others += 1;
                self.reading.other_at.get_or_insert(here);
            }
        }
        self.mode = Mode::Start;
    }
}

/// Reads an output that is at hand as a whole.
pub fn read(output: &[u8], cut: bool, spaces: Spaces) -> Reading {
    let mut reader = Reader::new(spaces);
    reader.read(output);
    reader.finish(cut)
}

/// A model as `v` lines, with at most `width` characters a line.
pub fn to_lines(literals: &[i32], width: usize) -> String {
    let mut text = String::new();
    let mut line = "v".to_string();
    for number in literals.iter().chain(std::iter::once(&0)) {
        let number = number.to_string();
        if line.len() + 1 + number.len() > width && line.len() > 1 {
            text.push_str(&line);
            text.push('\n');
            line = "v".to_string();
        }
        line.push(' ');
        line.push_str(&number);
    }
    text.push_str(&line);
    text.push('\n');
    text
}
