//! Splits a formula into tokens.
//!
//! Spellings of other languages (`&&`, `=`, `<>` …) are reported and then read as what they stand for, so that the rest
//! of the formula is still checked.

use std::ops::Range;

use crate::error::FormulaError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'a> {
    Number(&'a str),
    Word(&'a str),
    Text(&'a str),
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token<'a> {
    pub tok: Tok<'a>,
    pub span: Range<usize>,
}

/// The words that cannot name a column.
pub(crate) const RESERVED: [&str; 13] =
    ["and", "or", "not", "in", "mod", "true", "false", "where", "of", "once", "by", "per", "else"];

/// The spellings of other languages: what was written, what it is read as, and how to write it.
const SLIPS: &[(&str, Tok<'static>, &str)] = &[
    ("&&", Tok::Word("and"), "and"),
    ("||", Tok::Word("or"), "or"),
    ("===", Tok::Eq, "=="),
    ("!==", Tok::Ne, "!="),
    ("<>", Tok::Ne, "!="),
    ("=<", Tok::Le, "<="),
    ("=>", Tok::Ge, ">="),
    ("**", Tok::Caret, "^"),
    ("≤", Tok::Le, "<="),
    ("≥", Tok::Ge, ">="),
    ("≠", Tok::Ne, "!="),
    ("∧", Tok::Word("and"), "and"),
    ("∨", Tok::Word("or"), "or"),
    ("¬", Tok::Word("not"), "not"),
    ("×", Tok::Star, "*"),
    ("·", Tok::Star, "*"),
    ("÷", Tok::Slash, "/"),
    ("−", Tok::Minus, "-"),
    ("–", Tok::Minus, "-"),
    ("&", Tok::Word("and"), "and"),
    ("|", Tok::Word("or"), "or"),
    ("%", Tok::Word("mod"), "mod"),
    ("{", Tok::OpenList, "["),
    ("}", Tok::CloseList, "]"),
    (";", Tok::Comma, ","),
];

/// The operators, longest first where one begins another.
const OPERATORS: &[(&str, Tok<'static>)] = &[
    ("==", Tok::Eq),
    ("!=", Tok::Ne),
    ("<=", Tok::Le),
    (">=", Tok::Ge),
    ("<", Tok::Lt),
    (">", Tok::Gt),
    ("(", Tok::Open),
    (")", Tok::Close),
    ("[", Tok::OpenList),
    ("]", Tok::CloseList),
    (",", Tok::Comma),
    ("+", Tok::Plus),
    ("-", Tok::Minus),
    ("*", Tok::Star),
    ("/", Tok::Slash),
    ("^", Tok::Caret),
];

fn word_end(bytes: &[u8], start: usize) -> usize {
    let body = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut at = start;
    loop {
        while body(at) {
            at += 1;
        }
        // A hyphen joins two words only if a letter follows it at once: `n-1` is a subtraction. So does a point.
        if matches!(bytes.get(at), Some(b'-' | b'.')) && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
        } else {
            return at;
        }
    }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start;
    while digit(at) {
        at += 1;
    }
    if bytes.get(at) == Some(&b'.') && digit(at + 1) {
        at += 1;
        while digit(at) {
            at += 1;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        if digit(at + 1 + sign) {
            at += 1 + sign;
            while digit(at) {
                at += 1;
            }
        }
    }
    at
}

/// All tokens, closed by [`Tok::End`].
pub(crate) fn lex<'a>(source: &'a str, errors: &mut Vec<FormulaError>) -> Vec<Token<'a>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &source[at..];
        let (tok, end) = if c.is_ascii_alphabetic() || c == '_' {
            let end = word_end(bytes, at);
            (Tok::Word(&source[at..end]), end)
        } else if c.is_ascii_digit() {
            let end = number_end(bytes, at);
            (Tok::Number(&source[at..end]), end)
        } else if c == '\'' || c == '"' {
            match source[at + 1..].find(c) {
                Some(length) => (Tok::Text(&source[at + 1..at + 1 + length]), at + length + 2),
                None => {
                    errors.push(
                        FormulaError::new("formula/syntax", at..source.len(), "this text does not end")
                            .help(format!("close it with {c}")),
                    );
                    (Tok::Text(&source[at + 1..]), source.len())
                }
            }
        } else if let Some((text, tok, right)) = SLIPS.iter().find(|(text, ..)| rest.starts_with(text)) {
            errors.push(
                FormulaError::new("formula/operator", at..at + text.len(), format!("`{text}` is not an operator here"))
                    .help(format!("write `{right}`")),
            );
            (*tok, at + text.len())
        } else if let Some((text, tok)) = OPERATORS.iter().find(|(text, _)| rest.starts_with(text)) {
            (*tok, at + text.len())
        } else {
            let end = at + c.len_utf8();
            let error = |message: String| FormulaError::new("formula/operator", at..end, message);
            match c {
                '=' => {
                    errors.push(error("`=` is not an operator here".into()).help("write `==` to compare"));
                    (Tok::Eq, end)
                }
                '!' => {
                    errors.push(error("`!` is not an operator here".into()).help("write `not`"));
                    (Tok::Word("not"), end)
                }
                '.' if bytes.get(end).is_some_and(u8::is_ascii_digit) => {
                    let end = number_end(bytes, end);
                    errors.push(
                        FormulaError::new("formula/syntax", at..end, "a number begins with a digit")
                            .help(format!("write `0{}`", &source[at..end])),
                    );
                    (Tok::Number("1"), end)
                }
                '‘' | '’' | '“' | '”' | '`' => {
                    errors.push(
                        error(format!("`{c}` does not open a text")).help("texts stand in straight quotes: 'text'"),
                    );
                    at = end;
                    continue;
                }
                '?' | ':' => {
                    errors.push(
                        error(format!("`{c}` is not an operator here"))
                            .help("a choice is written `if(condition, value, other)`"),
                    );
                    at = end;
                    continue;
                }
                _ => {
                    errors.push(FormulaError::new("formula/syntax", at..end, format!("unexpected character {c:?}")));
                    at = end;
                    continue;
                }
            }
        };
        tokens.push(Token { tok, span: at..end });
        at = end;
    }
    tokens.push(Token { tok: Tok::End, span: source.len()..source.len() });
    tokens
}
