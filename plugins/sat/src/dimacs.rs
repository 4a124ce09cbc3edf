//! DIMACS CNF: a formula as a stream of clauses.
//!
//! The format is that of the SAT competitions: comment lines that start with `c`, one line `p cnf VARIABLES CLAUSES`,
//! and clauses of literals that end with 0. Accepted beyond it, because files in use need it: more than one space or
//! tab wherever there may be one, CR LF line ends, blank lines, comment lines among the clauses, a last line without a
//! line end, and the `%` line after the last clause that ends the files of SATLIB. A header that does not fit the
//! clauses is an error: who reads on would judge another formula than the solver read.

use crate::input::{Bytes, InputError};

/// The largest variable, as for the solver kissat: twice its number and a sign fit a signed 32-bit word.
pub const MAX_VARIABLE: u32 = (1 << 30) - 1;

/// The numbers of the `p` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Variables are 1 to this.
    pub variables: u32,
    /// Clauses.
    pub clauses: u64,
}

/// What takes a formula as it is read.
pub trait Sink {
    /// The header, before all literals.
    fn header(&mut self, header: Header) {
        let _ = header;
    }
    /// A literal of the current clause: not 0, at most the header's variables in magnitude.
    fn literal(&mut self, literal: i32);
    /// The current clause ends on this line.
    fn end(&mut self, line: u64);
}

/// Reads a formula into a sink.
///
/// # Errors
/// If the file is not of the format, with line and column; if it cannot be read; if the host asked to stop. The sink
/// has then seen a part of the formula.
pub fn read(bytes: &mut Bytes<'_>, sink: &mut impl Sink) -> Result<Header, InputError> {
    let header = header(bytes)?;
    sink.header(header);
    clauses(bytes, header, sink)?;
    Ok(header)
}

fn blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Passes over a line end, if there is one: LF or CR LF.
fn line_end(bytes: &mut Bytes<'_>) -> Result<bool, InputError> {
    match bytes.peek()? {
        Some(b'\n') => {
            bytes.skip();
            Ok(true)
        }
        Some(b'\r') => {
            bytes.skip();
            if bytes.peek()? != Some(b'\n') {
                return Err(bytes.expected("a line end after a carriage return"));
            }
            bytes.skip();
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn skip_blanks(bytes: &mut Bytes<'_>) -> Result<bool, InputError> {
    let mut any = false;
    while bytes.peek()?.is_some_and(blank) {
        bytes.skip();
        any = true;
    }
    Ok(any)
}

fn header(bytes: &mut Bytes<'_>) -> Result<Header, InputError> {
    loop {
        match bytes.peek()? {
            Some(b'c') => bytes.skip_line()?,
            Some(b'p') => break,
            Some(b' ' | b'\t') => {
                skip_blanks(bytes)?;
                if !line_end(bytes)? {
                    return Err(bytes.expected("a comment or the line `p cnf VARIABLES CLAUSES`"));
                }
            }
            _ => {
                if !line_end(bytes)? {
                    return Err(bytes.expected("a comment or the line `p cnf VARIABLES CLAUSES`"));
                }
            }
        }
    }
    bytes.skip();
    if !skip_blanks(bytes)? {
        return Err(bytes.expected("a space after `p`"));
    }
    for letter in b"cnf" {
        if bytes.peek()? != Some(*letter) {
            return Err(bytes.expected("the word `cnf`"));
        }
        bytes.skip();
    }
    if !skip_blanks(bytes)? {
        return Err(bytes.expected("a space after `cnf`"));
    }
    let variables = number(bytes, "the number of variables")?;
    let Some(variables) = u32::try_from(variables).ok().filter(|v| *v <= MAX_VARIABLE) else {
        return Err(bytes.wrong(format!("there are {variables} variables; at most {MAX_VARIABLE} can be handled")));
    };
    if !skip_blanks(bytes)? {
        return Err(bytes.expected("a space after the number of variables"));
    }
    let clauses = number(bytes, "the number of clauses")?;
    skip_blanks(bytes)?;
    if !line_end(bytes)? && bytes.peek()?.is_some() {
        return Err(bytes.expected("a line end after the number of clauses"));
    }
    Ok(Header { variables, clauses })
}

fn number(bytes: &mut Bytes<'_>, what: &str) -> Result<u64, InputError> {
    let mut value: Option<u64> = None;
    while let Some(digit) = bytes.peek()?.filter(u8::is_ascii_digit) {
        let next = value.unwrap_or(0).checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
        let Some(next) = next else { return Err(bytes.wrong(format!("{what} is too large"))) };
        value = Some(next);
        bytes.skip();
    }
    match value {
        Some(value) => Ok(value),
        None => Err(bytes.expected(what)),
    }
}

fn clauses(bytes: &mut Bytes<'_>, header: Header, sink: &mut impl Sink) -> Result<(), InputError> {
    let (mut done, mut open, mut fresh) = (0_u64, false, true);
    while let Some(byte) = bytes.peek()? {
        match byte {
            b' ' | b'\t' => bytes.skip(),
            b'\n' => {
                bytes.skip();
                fresh = true;
            }
            b'\r' => {
                line_end(bytes)?;
                fresh = true;
            }
            b'c' if fresh => bytes.skip_line()?,
            b'%' if fresh && !open && done == header.clauses => return Ok(()),
            b'0'..=b'9' | b'-' => {
                fresh = false;
                if done == header.clauses {
                    let text = format!("the header promises {} clauses, and there are more", header.clauses);
                    return Err(bytes.wrong(text));
                }
                let literal = literal(bytes, header.variables)?;
                if literal == 0 {
                    sink.end(bytes.line());
                    (done, open) = (done + 1, false);
                } else {
                    sink.literal(literal);
                    open = true;
                }
            }
            _ => return Err(bytes.expected("a literal")),
        }
    }
    if open {
        return Err(bytes.wrong("the file ends within a clause; the 0 is missing"));
    }
    if done < header.clauses {
        return Err(bytes.wrong(format!("the header promises {} clauses, and there are {done}", header.clauses)));
    }
    Ok(())
}

#[inline]
fn literal(bytes: &mut Bytes<'_>, variables: u32) -> Result<i32, InputError> {
    let negative = bytes.peek()? == Some(b'-');
    if negative {
        bytes.skip();
        if !bytes.peek()?.is_some_and(|b| matches!(b, b'1'..=b'9')) {
            return Err(bytes.expected("a digit from 1 to 9 after the minus sign"));
        }
    }
    let mut value: u64 = 0;
    while let Some(byte) = bytes.peek()? {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + u64::from(digit);
        if value > u64::from(variables) {
            let text = format!("the literal is beyond the {variables} variables of the header");
            return Err(bytes.wrong(text));
        }
        bytes.skip();
    }
    if !matches!(bytes.peek()?, None | Some(b' ' | b'\t' | b'\n' | b'\r')) {
        return Err(bytes.expected("a space after a literal"));
    }
    // At most MAX_VARIABLE, so that it fits.
    let value = value as i32;
    Ok(if negative { -value } else { value })
}

/// A formula in memory, for small ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Formula {
    /// The number of variables.
    pub variables: u32,
    /// The clauses.
    pub clauses: Vec<Vec<i32>>,
    current: Vec<i32>,
}

impl Formula {
    /// A formula of these clauses.
    pub fn new(variables: u32, clauses: Vec<Vec<i32>>) -> Self {
        Self { variables, clauses, current: Vec::new() }
    }

    /// Reads a formula from memory.
    ///
    /// # Errors
    /// If it is not of the format.
    pub fn parse(text: &[u8]) -> Result<Self, InputError> {
        let mut formula = Self::default();
        read(&mut Bytes::new(text)?, &mut formula)?;
        Ok(formula)
    }

    /// The formula in the format, one clause a line.
    pub fn to_dimacs(&self) -> String {
        use std::fmt::Write as _;
        let mut text = format!("p cnf {} {}\n", self.variables, self.clauses.len());
        for clause in &self.clauses {
            for literal in clause {
                // Writing to a string cannot fail.
                let _ = write!(text, "{literal} ");
            }
            text.push_str("0\n");
        }
        text
    }
}

impl Sink for Formula {
    fn header(&mut self, header: Header) {
        self.variables = header.variables;
    }

    fn literal(&mut self, literal: i32) {
        self.current.push(literal);
    }

    fn end(&mut self, _line: u64) {
        self.clauses.push(std::mem::take(&mut self.current));
    }
}
