//! Tokens, as the scanners of the official scramblers find them: always the longest, and a character that begins none is
//! printed at once.

use std::io::{self, Write};

use crate::source::Source;
use crate::symbols::{Symbol, Symbols, TooMany};

/// What kind of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The end of the input.
    End,
    /// `(`
    Open,
    /// `)`
    Close,
    /// A symbol that is no reserved word, quoted or not.
    Symbol,
    /// A reserved word or keyword: its number among the words of the dialect.
    Reserved(Symbol),
    /// A keyword.
    Keyword,
    Numeral,
    Decimal,
    /// A hexadecimal or binary constant.
    Bits,
    /// `bv` and digits, where they are no symbol.
    BitVectorName,
    Text,
}

/// In what the scanners of the two kinds of scrambler differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// Symbols and keywords below this number are reserved.
    pub(crate) reserved: Symbol,
    /// The scanner of SMT-LIB 2.0: string literals have `\"` for a quotation mark and lose their own ones, a keyword has no
    /// slash, and `bv1` is no symbol.
    pub(crate) old: bool,
}

const SPACE: u8 = 1;
const SYMBOL: u8 = 2;

const CLASSES: [u8; 256] = {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        all[at] = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => SYMBOL,
            b'.' | b'_' | b'+' | b'-' | b'*' | b'=' | b'%' | b'/' | b'?' | b'!' | b'$' | b'~' | b'&' | b'^' | b'<'
            | b'>' | b'@' => SYMBOL,
            _ => 0,
        };
        at += 1;
    }
    all
};

/// Why there is no token.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The script cannot be read.
    Read(io::Error),
    /// The result cannot be written.
    Write(io::Error),
    TooMany,
}

impl From<TooMany> for Stop {
    fn from(_: TooMany) -> Self {
        Self::TooMany
    }
}

/// The scanner.
pub(crate) struct Lexer<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) symbols: Symbols,
    dialect: Dialect,
    /// Where the last token stands in the buffer.
    start: usize,
    end: usize,
    /// What the last token says, if that is not what stands there.
    said: Option<Vec<u8>>,
    /// The number of the last symbol or keyword, if it was looked up.
    number: Option<Symbol>,
    /// Whether words that are new are kept.
    keep: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: Source<'a>, symbols: Symbols, dialect: Dialect) -> Self {
        Self { source, symbols, dialect, start: 0, end: 0, said: None, number: None, keep: true }
    }

    /// From here on, words are not kept: what follows is not printed.
    pub(crate) fn forget(&mut self, forget: bool) {
        self.keep = !forget;
    }

    /// Where the last token begins.
    pub(crate) fn position(&self) -> (u64, u64) {
        self.source.position(self.start)
    }

    /// What the last token says.
    pub(crate) fn text(&self) -> &[u8] {
        match &self.said {
            Some(said) => said,
            None => self.source.between(self.start, self.end),
        }
    }

    /// The last token's number as a word.
    #[inline]
    pub(crate) fn symbol(&mut self) -> Result<Symbol, Stop> {
        if let Some(known) = self.number {
            return Ok(known);
        }
        let text = match &self.said {
            Some(said) => said,
            None => self.source.between(self.start, self.end),
        };
        let number = self.symbols.intern(text)?;
        self.number = Some(number);
        Ok(number)
    }

    /// Whether the official tools have noticed the end of the input by now.
    pub(crate) fn ended(&mut self) -> bool {
        self.source.ended()
    }

    /// The next token.
    #[inline]
    pub(crate) fn next(&mut self, out: &mut dyn Write) -> Result<Token, Stop> {
        self.said = None;
        self.number = None;
        loop {
            let rest = self.source.rest();
            let mut at = 0;
            while at < rest.len() && CLASSES[usize::from(rest[at])] == SPACE {
                at += 1;
            }
            let first = rest.get(at).copied();
            self.source.at += at;
            self.start = self.source.at;
            let Some(first) = first else {
                if self.source.more(self.source.at) {
                    continue;
                }
                self.start = self.source.at;
                return match self.source.failure() {
                    Some(error) => Err(Stop::Read(error)),
                    None => Ok(Token::End),
                };
            };
            match first {
                b'(' => {
                    self.source.at += 1;
                    return Ok(Token::Open);
                }
                b')' => {
                    self.source.at += 1;
                    return Ok(Token::Close);
                }
                _ if CLASSES[usize::from(first)] == SYMBOL => return self.word(),
                b':' => {
                    let length = self.run(1, self.dialect.old);
                    if length > 1 {
                        self.take(length);
                        return self.known(Token::Keyword);
                    }
                    self.echo(out)?;
                }
                b'#' => match self.constant() {
                    Some(length) => {
                        self.take(length);
                        return Ok(Token::Bits);
                    }
                    None => self.echo(out)?,
                },
                b'|' => {
                    let Some(length) = self.until(b'|', 1) else {
                        return self.unended();
                    };
                    self.take(length + 1);
                    self.cut();
                    return self.known(Token::Symbol);
                }
                b'"' => return self.string(),
                b';' => match self.until(b'\n', 1) {
                    Some(length) => self.source.at += length + 1,
                    // A comment needs an end of line. Without one, only the semicolon is no token.
                    None => self.echo(out)?,
                },
                _ => self.echo(out)?,
            }
        }
    }

    /// The length of the run of symbol characters that begins `from` characters after the current place.
    #[inline]
    fn run(&mut self, from: usize, no_slash: bool) -> usize {
        let mut length = from;
        loop {
            let rest = self.source.rest();
            while let Some(&byte) = rest.get(length)
                && CLASSES[usize::from(byte)] == SYMBOL
                && !(no_slash && byte == b'/')
            {
                length += 1;
            }
            if length < rest.len() || !self.source.more(self.source.at) {
                return length;
            }
        }
    }

    /// How far a character is from the current place, looked for from `from` on.
    fn until(&mut self, byte: u8, mut from: usize) -> Option<usize> {
        loop {
            let rest = self.source.rest();
            if let Some(found) = memchr::memchr(byte, &rest[from.min(rest.len())..]) {
                return Some(from + found);
            }
            from = from.max(rest.len());
            if !self.source.more(self.source.at) {
                return None;
            }
        }
    }

    fn take(&mut self, length: usize) {
        self.start = self.source.at;
        self.source.at += length;
        self.end = self.source.at;
    }

    fn word(&mut self) -> Result<Token, Stop> {
        let length = self.run(1, false);
        self.take(length);
        let text = self.source.between(self.start, self.end);
        if text[0].is_ascii_digit() {
            let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == length {
                return Ok(Token::Numeral);
            }
            if text[digits] == b'.' && digits + 1 < length && text[digits + 1..].iter().all(u8::is_ascii_digit) {
                return Ok(Token::Decimal);
            }
        } else if self.dialect.old && length > 2 && text.starts_with(b"bv") && text[2..].iter().all(u8::is_ascii_digit)
        {
            return Ok(Token::BitVectorName);
        }
        self.known(Token::Symbol)
    }

    /// The token, or the reserved word that it is.
    #[inline]
    fn known(&mut self, token: Token) -> Result<Token, Stop> {
        let number = if self.keep {
            self.symbol()?
        } else {
            match self.symbols.find(self.text()) {
                Some(number) => number,
                None => return Ok(token),
            }
        };
        self.number = Some(number);
        Ok(if number < self.dialect.reserved { Token::Reserved(number) } else { token })
    }

    fn constant(&mut self) -> Option<usize> {
        while self.source.rest().len() < 3 && self.source.more(self.source.at) {}
        let digit: fn(&u8) -> bool = match self.source.rest().get(1)? {
            b'x' => u8::is_ascii_hexdigit,
            b'b' => |b: &u8| matches!(b, b'0' | b'1'),
            _ => return None,
        };
        let mut length = 2;
        loop {
            let rest = self.source.rest();
            while rest.get(length).is_some_and(digit) {
                length += 1;
            }
            if length < rest.len() || !self.source.more(self.source.at) {
                return (length > 2).then_some(length);
            }
        }
    }

    /// A string literal, a quotation mark being next.
    fn string(&mut self) -> Result<Token, Stop> {
        let mut from = 1;
        loop {
            let Some(quote) = self.until(b'"', from) else {
                return self.unended();
            };
            if self.dialect.old {
                let rest = self.source.rest();
                // A backslash before it makes it a part of the literal, whether or not there is another one before.
                if rest[quote - 1] == b'\\' {
                    from = quote + 1;
                    continue;
                }
                self.take(quote + 1);
                let inner = self.source.between(self.start + 1, self.end - 1);
                let mut said = Vec::with_capacity(inner.len());
                for (at, &byte) in inner.iter().enumerate() {
                    if byte != b'\\' || inner.get(at + 1) != Some(&b'"') {
                        said.push(byte);
                    }
                }
                self.said = Some(said);
                self.cut();
                return Ok(Token::Text);
            }
            while self.source.rest().len() <= quote + 1 && self.source.more(self.source.at) {}
            if self.source.rest().get(quote + 1) == Some(&b'"') {
                from = quote + 2;
                continue;
            }
            self.take(quote + 1);
            self.cut();
            return Ok(Token::Text);
        }
    }

    /// A literal or quoted symbol without an end takes the rest of the script.
    fn unended(&mut self) -> Result<Token, Stop> {
        self.start = self.source.at;
        self.source.at += self.source.rest().len();
        match self.source.failure() {
            Some(error) => Err(Stop::Read(error)),
            None => Ok(Token::End),
        }
    }

    /// The official tools keep literals and quoted symbols as text that ends at a zero byte.
    fn cut(&mut self) {
        let text = self.text();
        if let Some(zero) = memchr::memchr(0, text) {
            self.said = Some(text[..zero].to_vec());
        }
    }

    fn echo(&mut self, out: &mut dyn Write) -> Result<(), Stop> {
        let byte = self.source.rest()[0];
        out.write_all(&[byte]).map_err(Stop::Write)?;
        self.source.at += 1;
        Ok(())
    }
}
