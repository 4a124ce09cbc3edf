//! Tokens of SMT-LIB (standard 2.7, section 3.1), as places in a text that nobody copies.
//!
//! A [`Lexer`] goes over a byte slice and gives [`Token`]s: a kind and two offsets. What a token spells is looked at only
//! when asked for ([`Token::name`], [`Token::string`]). The lexer knows no keywords and no reserved words: those are
//! symbols here.

use std::borrow::Cow;

use thiserror::Error;

/// How a string literal writes the character `"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strings {
    /// Twice (2.5 and later); a backslash has no meaning for the lexer.
    #[default]
    Doubled,
    /// `\"` (2.0); a backslash itself is `\\`.
    Backslash,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A simple symbol; reserved words such as `let` and `_` are among them.
    Symbol,
    /// `|a symbol|`, with its bars.
    Quoted,
    /// `:keyword`, with its colon.
    Keyword,
    /// A string literal, with its quotes.
    String,
    /// `0` or digits that begin with none.
    Numeral,
    /// `1.50`
    Decimal,
    /// `#x1F`
    Hex,
    /// `#b01`
    Binary,
}

/// A token's place: `text[start..end]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
}

impl Token {
    /// All its bytes, or none if `text` is not the text that it was read from.
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Its name: a quoted symbol without its bars (`|a|` and `a` are the same symbol), everything else as it stands.
    pub fn name<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let bytes = self.bytes(text);
        match self.kind {
            Kind::Quoted => bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default(),
            _ => bytes,
        }
    }

    /// Whether it is a symbol, quoted or not.
    pub fn is_symbol(&self) -> bool {
        matches!(self.kind, Kind::Symbol | Kind::Quoted)
    }

    /// The characters of a string literal, without quotes and with `""` (or the escapes of 2.0) undone. Unicode escapes
    /// (`\u{2a}`) are a matter of the theory of strings and stay.
    pub fn string<'a>(&self, text: &'a [u8], strings: Strings) -> Cow<'a, [u8]> {
        let bytes = self.bytes(text);
        unescape(bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default(), strings)
    }
}

/// Undoes the escapes of a string literal's inside.
pub fn unescape(inside: &[u8], strings: Strings) -> Cow<'_, [u8]> {
    let mark = match strings {
        Strings::Doubled => b'"',
        Strings::Backslash => b'\\',
    };
    if memchr::memchr(mark, inside).is_none() {
        return Cow::Borrowed(inside);
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == mark && bytes.peek().is_some_and(|&b| b == b'"' || (mark == b'\\' && b == b'\\')) {
            out.extend(bytes.next());
        } else {
            out.push(byte);
        }
    }
    Cow::Owned(out)
}

/// Why there is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LexProblem {
    /// The text ends inside a string literal.
    #[error("the string literal that begins here has no end: a `\"` is missing")]
    OpenString,
    /// The text ends inside a quoted symbol.
    #[error("the quoted symbol that begins here has no end: a `|` is missing")]
    OpenQuoted,
    /// A backslash in a quoted symbol.
    #[error("a quoted symbol cannot contain a backslash")]
    Backslash,
    /// `#x` without a digit, `#b` without a bit, or `#` and something else.
    #[error("`#` must be followed by `b` and bits or by `x` and hexadecimal digits")]
    Hash,
    /// `00` or `01`.
    #[error("a numeral cannot begin with a superfluous 0")]
    LeadingZero,
    /// `1.` and no digit.
    #[error("a decimal needs a digit behind the point")]
    Decimal,
    /// A literal that is followed by a character of a symbol, as in `12ab`.
    #[error("a literal must be followed by a space or a parenthesis")]
    Glued,
    /// `:` and no character of a symbol.
    #[error("a keyword needs a name behind the colon")]
    Keyword,
    /// A character that no token begins with.
    #[error("this character cannot stand here")]
    Character,
    /// A control character in a string literal or quoted symbol.
    #[error("a string literal or quoted symbol cannot contain this control character")]
    Control,
}

/// A text that is not made of tokens, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct LexError {
    /// Why.
    pub problem: LexProblem,
    /// Offset of the byte that is wrong (of what has no end: of its first byte).
    pub at: usize,
}

/// What a token is by its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glance {
    Open,
    Close,
    /// A simple symbol or a reserved word.
    Symbol,
    /// Anything else, a comment, or the end of the text.
    Other,
}

const SYMBOL: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
const HEX: u8 = 8;
/// What cannot stand in a quoted symbol or a string: control characters other than white space.
const CONTROL: u8 = 16;

/// What each byte may be, as a set of the bits above.
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let mut class = 0;
        if b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'~' | b'!'
                    | b'@'
                    | b'$'
                    | b'%'
                    | b'^'
                    | b'&'
                    | b'*'
                    | b'_'
                    | b'-'
                    | b'+'
                    | b'='
                    | b'<'
                    | b'>'
                    | b'.'
                    | b'?'
                    | b'/'
            )
        {
            class |= SYMBOL;
        }
        if b.is_ascii_digit() {
            class |= DIGIT;
        }
        if b.is_ascii_hexdigit() {
            class |= HEX;
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            class |= SPACE;
        } else if b < 32 || b == 127 {
            class |= CONTROL;
        }
        table[byte] = class;
        byte += 1;
    }
    table
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Whether `name` can be written as a simple symbol, as far as its characters go (it may be a reserved word).
pub fn is_simple(name: &[u8]) -> bool {
    name.first().is_some_and(|&b| !is(b, DIGIT)) && name.iter().all(|&b| is(b, SYMBOL))
}

/// Goes over the tokens of a text.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    strings: Strings,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of `text`.
    pub fn new(text: &'a [u8], strings: Strings) -> Self {
        Self { text, at: 0, strings }
    }

    /// The text.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Where the next token is looked for.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Goes on at another place, which must not lie inside a token.
    pub fn set_offset(&mut self, at: usize) {
        self.at = at;
    }

    /// How string literals are read.
    pub fn strings(&self) -> Strings {
        self.strings
    }

    /// Reads string literals in another way from here on (a script states its version in its own header).
    pub fn set_strings(&mut self, strings: Strings) {
        self.strings = strings;
    }

    /// Skips white space and comments; gives the first comment's span instead if `stop` is set.
    #[inline]
    fn skip(&mut self, stop: bool) -> Option<(usize, usize)> {
        let text = self.text;
        let mut at = self.at;
        while let Some(&byte) = text.get(at) {
            if is(byte, SPACE) {
                at += 1;
            } else if byte == b';' {
                let end = memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |n| at + n);
                if stop {
                    self.at = end;
                    return Some((at, end));
                }
                at = end;
            } else {
                break;
            }
        }
        self.at = at;
        None
    }

    /// The next comment before the next token, from `;` to the end of the line without it; `None` if a token is next.
    pub fn next_comment(&mut self) -> Option<(usize, usize)> {
        self.skip(true)
    }

    /// The next token, `None` at the end of the text. After an error the lexer stands where it stood.
    ///
    /// # Errors
    /// If what comes next is no token.
    #[inline]
    pub fn next_token(&mut self) -> Result<Option<Token>, LexError> {
        self.skip(false);
        let text = self.text;
        let start = self.at;
        let Some(&first) = text.get(start) else { return Ok(None) };
        let (kind, end) = if is(first, SYMBOL) {
            if is(first, DIGIT) { self.number(start)? } else { (Kind::Symbol, self.run(start + 1, SYMBOL)) }
        } else {
            match first {
                b'(' => (Kind::Open, start + 1),
                b')' => (Kind::Close, start + 1),
                _ => self.rare(start, first)?,
            }
        };
        self.at = end;
        Ok(Some(Token { kind, start, end }))
    }

    /// What comes next, as far as the first byte says it, and where; white space before it is skipped.
    #[inline(always)]
    pub(crate) fn glance(&mut self) -> (Glance, usize) {
        let text = self.text;
        let mut at = self.at;
        while let Some(&byte) = text.get(at) {
            let class = CLASS[byte as usize];
            if class & SPACE != 0 {
                at += 1;
                continue;
            }
            self.at = at;
            let glance = match byte {
                b'(' => Glance::Open,
                b')' => Glance::Close,
                _ if class & (SYMBOL | DIGIT) == SYMBOL => Glance::Symbol,
                _ => Glance::Other,
            };
            return (glance, at);
        }
        self.at = at;
        (Glance::Other, at)
    }

    /// Takes the simple symbol that begins at `at`.
    #[inline(always)]
    pub(crate) fn take_symbol(&mut self, at: usize) -> &'a [u8] {
        let end = self.run(at + 1, SYMBOL);
        self.at = end;
        &self.text[at..end]
    }

    /// The end of the run of bytes of a class that begins at `at`.
    #[inline]
    fn run(&self, at: usize, class: u8) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.iter().position(|&b| !is(b, class)).unwrap_or(rest.len())
    }

    fn number(&self, start: usize) -> Result<(Kind, usize), LexError> {
        let text = self.text;
        let mut end = self.run(start, DIGIT);
        if text[start] == b'0' && end > start + 1 {
            return Err(LexError { problem: LexProblem::LeadingZero, at: start });
        }
        let mut kind = Kind::Numeral;
        if text.get(end) == Some(&b'.') {
            let fraction = end + 1;
            end = self.run(fraction, DIGIT);
            if end == fraction {
                return Err(LexError { problem: LexProblem::Decimal, at: start });
            }
            kind = Kind::Decimal;
        }
        self.separate(start, kind, end)
    }

    /// A literal ends where no symbol can go on.
    fn separate(&self, start: usize, kind: Kind, end: usize) -> Result<(Kind, usize), LexError> {
        match self.text.get(end) {
            Some(&b) if is(b, SYMBOL) => Err(LexError { problem: LexProblem::Glued, at: start }),
            _ => Ok((kind, end)),
        }
    }

    fn rare(&self, start: usize, first: u8) -> Result<(Kind, usize), LexError> {
        let text = self.text;
        let error = |problem, at| Err(LexError { problem, at });
        match first {
            b':' => match self.run(start + 1, SYMBOL) {
                end if end == start + 1 => error(LexProblem::Keyword, start),
                end => Ok((Kind::Keyword, end)),
            },
            b'#' => {
                let body = start + 2;
                let (kind, end) = match text.get(start + 1) {
                    Some(b'x') => (Kind::Hex, self.run(body, HEX)),
                    Some(b'b') => {
                        let rest = text.get(body..).unwrap_or_default();
                        let bits = rest.iter().position(|b| !matches!(b, b'0' | b'1')).unwrap_or(rest.len());
                        (Kind::Binary, body + bits)
                    }
                    _ => return error(LexProblem::Hash, start),
                };
                if end == body { error(LexProblem::Hash, start) } else { self.separate(start, kind, end) }
            }
            b'"' => {
                let end = self.string_end(start)?;
                self.printable(start, end)?;
                Ok((Kind::String, end))
            }
            b'|' => {
                let Some(length) = memchr::memchr(b'|', &text[start + 1..]) else {
                    return error(LexProblem::OpenQuoted, start);
                };
                let end = start + length + 2;
                if let Some(at) = memchr::memchr(b'\\', &text[start..end]) {
                    return error(LexProblem::Backslash, start + at);
                }
                self.printable(start, end)?;
                Ok((Kind::Quoted, end))
            }
            _ => error(LexProblem::Character, start),
        }
    }

    fn string_end(&self, start: usize) -> Result<usize, LexError> {
        let text = self.text;
        let open = LexError { problem: LexProblem::OpenString, at: start };
        let mut at = start + 1;
        loop {
            let rest = text.get(at..).ok_or(open)?;
            match self.strings {
                Strings::Doubled => {
                    at += memchr::memchr(b'"', rest).ok_or(open)? + 1;
                    if text.get(at) != Some(&b'"') {
                        return Ok(at);
                    }
                    at += 1;
                }
                Strings::Backslash => {
                    at += memchr::memchr2(b'"', b'\\', rest).ok_or(open)? + 1;
                    if text[at - 1] == b'"' {
                        return Ok(at);
                    }
                    at += 1;
                }
            }
        }
    }

    fn printable(&self, start: usize, end: usize) -> Result<(), LexError> {
        match self.text[start..end].iter().position(|&b| is(b, CONTROL)) {
            Some(at) => Err(LexError { problem: LexProblem::Control, at: start + at }),
            None => Ok(()),
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Token, LexError>;

    /// The next token; after an error the text is over.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_token().transpose();
        if let Some(Err(_)) = next {
            self.at = self.text.len();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, strings: Strings) -> Vec<(Kind, &str)> {
        let bytes = text.as_bytes();
        Lexer::new(bytes, strings).map(|t| t.unwrap()).map(|t| (t.kind, &text[t.start..t.end])).collect()
    }

    fn problem(text: &str) -> (LexProblem, usize) {
        let error = Lexer::new(text.as_bytes(), Strings::Doubled).find_map(Result::err).unwrap();
        (error.problem, error.at)
    }

    #[test]
    fn every_kind_of_token() {
        use Kind::*;
        let found = kinds(
            "(a|b c|:k; (no\n\"s\"\"t\"0 12 1.50#x1fA #b01 <=)~!@$%^&*_-+=<>.?/ \r\n\t_ let é"
                .split(" é")
                .next()
                .unwrap(),
            Strings::Doubled,
        );
        let expected = [
            (Open, "("),
            (Symbol, "a"),
            (Quoted, "|b c|"),
            (Keyword, ":k"),
            (String, "\"s\"\"t\""),
            (Numeral, "0"),
            (Numeral, "12"),
            (Decimal, "1.50"),
            (Hex, "#x1fA"),
            (Binary, "#b01"),
            (Symbol, "<="),
            (Close, ")"),
            (Symbol, "~!@$%^&*_-+=<>.?/"),
            (Symbol, "_"),
            (Symbol, "let"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn strings_of_both_versions() {
        let text = r#""a\" " "b""#;
        assert_eq!(kinds(text, Strings::Backslash).len(), 2);
        assert!(Lexer::new(text.as_bytes(), Strings::Doubled).any(|t| t.is_err()));
        let lexed = |text: &str, strings| {
            let token = Lexer::new(text.as_bytes(), strings).next().unwrap().unwrap();
            String::from_utf8(token.string(text.as_bytes(), strings).into_owned()).unwrap()
        };
        assert_eq!(lexed(r#""a\"\\\n""#, Strings::Backslash), r#"a"\\n"#);
        assert_eq!(lexed(r#""a""\u{2a}""#, Strings::Doubled), r#"a"\u{2a}"#);
        assert_eq!(lexed(r#""""#, Strings::Doubled), "");
    }

    #[test]
    fn names_and_comments() {
        let text = b"|a b| ; one\n;two\n x";
        let mut lexer = Lexer::new(text, Strings::Doubled);
        assert_eq!(lexer.next_token().unwrap().unwrap().name(text), b"a b");
        let comments: Vec<&[u8]> = std::iter::from_fn(|| lexer.next_comment()).map(|(a, b)| &text[a..b]).collect();
        assert_eq!(comments, [&b"; one"[..], b";two"]);
        assert_eq!(lexer.next_token().unwrap().unwrap().name(text), b"x");
        assert_eq!(lexer.next_token(), Ok(None));
        assert!(is_simple(b"a1") && !is_simple(b"1a") && !is_simple(b"") && !is_simple(b"a b"));
    }

    #[test]
    fn every_problem_has_its_place() {
        use LexProblem::*;
        assert_eq!(problem("a \"bc"), (OpenString, 2));
        assert_eq!(problem("a \"bc\"\""), (OpenString, 2));
        assert_eq!(problem("(|bc"), (OpenQuoted, 1));
        assert_eq!(problem("|b\\c|"), (Backslash, 2));
        assert_eq!(problem("#"), (Hash, 0));
        assert_eq!(problem("#x"), (Hash, 0));
        assert_eq!(problem("#b2"), (Hash, 0));
        assert_eq!(problem("007"), (LeadingZero, 0));
        assert_eq!(problem("1."), (Decimal, 0));
        assert_eq!(problem("1.a"), (Decimal, 0));
        assert_eq!(problem("12ab"), (Glued, 0));
        assert_eq!(problem("#b012"), (Glued, 0));
        assert_eq!(problem("( : a)"), (Keyword, 2));
        assert_eq!(problem("a {"), (Character, 2));
        assert_eq!(problem("é"), (Character, 0));
        assert_eq!(problem("\"a\u{1}\""), (Control, 2));
        assert_eq!(problem("|a\0|"), (Control, 2));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            for strings in [Strings::Doubled, Strings::Backslash] {
                let mut last = 0;
                for token in Lexer::new(&bytes, strings) {
                    let Ok(token) = token else { break };
                    assert!(token.start >= last && token.end > token.start && token.end <= bytes.len());
                    last = token.end;
                }
            }
        }
    }
}
