//! Strings: the theory UnicodeStrings, its functions without regular expressions.

use std::fmt;
use std::sync::Arc;

use dashu_base::Signed;
use dashu_int::IBig;

use crate::{NoValue, Work};

/// The greatest code point of the theory.
pub const MAX_CODE: u32 = 0x2FFFF;

/// A string: a sequence of code points from 0 to [`MAX_CODE`]. `Ord` is the lexicographic order, `str.<` and `str.<=`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Arc<[u32]>);

impl Default for Text {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

/// The escape sequence at the beginning of these characters: its code point and its length.
fn escape(characters: &[u32]) -> Option<(u32, usize)> {
    let digit = |c: &u32| char::from_u32(*c).and_then(|c| c.to_digit(16));
    let number = |digits: &[u32]| digits.iter().try_fold(0, |n, c| Some(n * 16 + digit(c)?));
    let rest = characters.strip_prefix(&['\\' as u32, 'u' as u32])?;
    if let Some(inner) = rest.strip_prefix(&['{' as u32]) {
        let length = inner.iter().take(6).position(|c| *c == '}' as u32)?;
        if length == 0 {
            return None;
        }
        let code = number(&inner[..length])?;
        return (code <= MAX_CODE).then_some((code, length + 4));
    }
    Some((number(rest.get(..4)?)?, 6))
}

impl Text {
    /// A string of code points; `None` if one exceeds [`MAX_CODE`].
    pub fn new(codes: &[u32]) -> Option<Self> {
        codes.iter().all(|c| *c <= MAX_CODE).then(|| Self(codes.into()))
    }

    /// The string that a literal denotes: what stands between its quotation marks, with `""` already read as one mark.
    ///
    /// Escape sequences are `\u{d}` to `\u{ddddd}` up to 2FFFF and `\udddd`; any other backslash stands for itself. A
    /// character beyond [`MAX_CODE`] makes it `None`.
    pub fn from_literal(literal: &str) -> Option<Self> {
        if !literal.contains('\\') {
            return Self::new(&literal.chars().map(u32::from).collect::<Vec<_>>());
        }
        let characters: Vec<u32> = literal.chars().map(u32::from).collect();
        let mut codes = Vec::with_capacity(characters.len());
        let mut position = 0;
        while position < characters.len() {
            if let Some((code, length)) = escape(&characters[position..]) {
                codes.push(code);
                position += length;
            } else {
                codes.push(characters[position]);
                position += 1;
            }
        }
        Self::new(&codes)
    }

    /// The code points.
    pub fn codes(&self) -> &[u32] {
        &self.0
    }

    fn slice(&self, from: usize, to: usize) -> Self {
        if from == 0 && to == self.0.len() { self.clone() } else { Self(self.0[from..to].into()) }
    }

    /// `str.len`.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no character.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `str.++`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if the result is too long; so wherever a string may grow.
    pub fn concat(parts: &[&Self], work: &mut Work) -> Result<Self, NoValue> {
        if let [only] = parts {
            return Ok((*only).clone());
        }
        work.spend(parts.iter().map(|p| 1 + p.len() as u64).sum())?;
        let mut codes = Vec::with_capacity(parts.iter().map(|p| p.len()).sum());
        for part in parts {
            codes.extend_from_slice(&part.0);
        }
        Ok(Self(codes.into()))
    }

    /// A position from 0 to the length less one.
    fn position(&self, number: &IBig) -> Option<usize> {
        usize::try_from(number).ok().filter(|n| *n < self.0.len())
    }

    /// `str.at`: empty out of range.
    pub fn at(&self, position: &IBig) -> Self {
        self.position(position).map_or_else(Self::default, |p| self.slice(p, p + 1))
    }

    /// `str.substr`: at most so many characters from a position on; empty if the position is out of range or the number not
    /// positive.
    pub fn substr(&self, position: &IBig, length: &IBig) -> Self {
        let Some(from) = self.position(position) else { return Self::default() };
        if length.is_negative() {
            return Self::default();
        }
        let rest = self.0.len() - from;
        let length = usize::try_from(length).map_or(rest, |n| n.min(rest));
        self.slice(from, from + length)
    }

    /// `str.prefixof`: whether the other string begins with this one.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// `str.suffixof`: whether the other string ends with this one.
    pub fn is_suffix_of(&self, other: &Self) -> bool {
        other.0.ends_with(&self.0)
    }

    /// The first occurrence from a position within the string on, in linear time (Knuth, Morris and Pratt).
    fn find(&self, pattern: &Self, from: usize, table: &[usize], work: &mut Work) -> Result<Option<usize>, NoValue> {
        let mut matched = 0;
        if pattern.is_empty() {
            return Ok(Some(from));
        }
        for (i, code) in self.0.iter().enumerate().skip(from) {
            work.spend(1)?;
            while matched > 0 && pattern.0[matched] != *code {
                matched = table[matched - 1];
            }
            if pattern.0[matched] == *code {
                matched += 1;
            }
            if matched == pattern.len() {
                return Ok(Some(i + 1 - matched));
            }
        }
        Ok(None)
    }

    /// For each prefix, the length of its longest proper prefix that is also a suffix of it.
    fn borders(&self, work: &mut Work) -> Result<Vec<usize>, NoValue> {
        work.spend(self.len() as u64)?;
        let mut table = vec![0; self.len()];
        let mut matched = 0;
        for i in 1..self.len() {
            while matched > 0 && self.0[matched] != self.0[i] {
                matched = table[matched - 1];
            }
            if self.0[matched] == self.0[i] {
                matched += 1;
            }
            table[i] = matched;
        }
        Ok(table)
    }

    /// `str.contains`: whether the other string occurs in this one.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn contains(&self, other: &Self, work: &mut Work) -> Result<bool, NoValue> {
        Ok(self.find(other, 0, &other.borders(work)?, work)?.is_some())
    }

    /// `str.indexof`: the first occurrence of another string from a position on; -1 if there is none or the position is
    /// negative or beyond the length.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn index_of(&self, other: &Self, from: &IBig, work: &mut Work) -> Result<IBig, NoValue> {
        let Some(from) = usize::try_from(from).ok().filter(|n| *n <= self.len()) else { return Ok(IBig::NEG_ONE) };
        Ok(self.find(other, from, &other.borders(work)?, work)?.map_or(IBig::NEG_ONE, IBig::from))
    }

    /// `str.replace`: the first occurrence of a string by another; the empty string occurs at the beginning.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn replace(&self, pattern: &Self, by: &Self, work: &mut Work) -> Result<Self, NoValue> {
        match self.find(pattern, 0, &pattern.borders(work)?, work)? {
            Some(at) => self.splice(&[(at, at + pattern.len())], by, work),
            None => Ok(self.clone()),
        }
    }

    /// `str.replace_all`: all occurrences, from the left, of a string by another; the string itself if the pattern is empty.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn replace_all(&self, pattern: &Self, by: &Self, work: &mut Work) -> Result<Self, NoValue> {
        if pattern.is_empty() {
            return Ok(self.clone());
        }
        let table = pattern.borders(work)?;
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(at) = self.find(pattern, from, &table, work)? {
            from = at + pattern.len();
            places.push((at, from));
        }
        self.splice(&places, by, work)
    }

    /// Puts a string in place of parts that are given in ascending order.
    pub(crate) fn splice(&self, parts: &[(usize, usize)], by: &Self, work: &mut Work) -> Result<Self, NoValue> {
        if parts.is_empty() {
            return Ok(self.clone());
        }
        work.spend((self.len() as u64).saturating_add((by.len() as u64 + 1).saturating_mul(parts.len() as u64)))?;
        let mut codes = Vec::with_capacity(self.len() + by.len() * parts.len());
        let mut done = 0;
        for (from, to) in parts {
            codes.extend_from_slice(&self.0[done..*from]);
            codes.extend_from_slice(&by.0);
            done = *to;
        }
        codes.extend_from_slice(&self.0[done..]);
        Ok(Self(codes.into()))
    }

    /// `str.is_digit`: whether this is one character from `0` to `9`.
    pub fn is_digit(&self) -> bool {
        matches!(*self.0, [code] if (0x30..=0x39).contains(&code))
    }

    /// `str.to_code`: the code point of a string of length one; else -1.
    pub fn to_code(&self) -> IBig {
        if let [code] = *self.0 { code.into() } else { IBig::NEG_ONE }
    }

    /// `str.from_code`: empty if the number is no code point.
    pub fn from_code(code: &IBig) -> Self {
        u32::try_from(code).ok().and_then(|c| Self::new(&[c])).unwrap_or_default()
    }

    /// `str.to_int`: the number whose decimal digits these are; -1 if there are none or other characters.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn to_int(&self, work: &mut Work) -> Result<IBig, NoValue> {
        if self.is_empty() {
            return Ok(IBig::NEG_ONE);
        }
        work.spend(self.len() as u64)?;
        let mut digits = String::with_capacity(self.len());
        for code in &*self.0 {
            match char::from_u32(*code).filter(char::is_ascii_digit) {
                Some(digit) => digits.push(digit),
                None => return Ok(IBig::NEG_ONE),
            }
        }
        Ok(IBig::from_str_radix(&digits, 10).unwrap_or(IBig::NEG_ONE))
    }

    /// `str.from_int`: the decimal digits; empty for negative numbers.
    pub fn from_int(number: &IBig) -> Self {
        if number.is_negative() {
            return Self::default();
        }
        Self(number.to_string().bytes().map(u32::from).collect())
    }
}

/// As a literal of SMT-LIB, with its quotation marks. What is not printable ASCII is escaped, and so is a backslash, so that
/// it begins no escape sequence.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for code in &*self.0 {
            match char::from_u32(*code) {
                Some('"') => f.write_str("\"\"")?,
                Some(c @ ' '..='~') if c != '\\' => write!(f, "{c}")?,
                _ => write!(f, "\\u{{{code:x}}}")?,
            }
        }
        f.write_str("\"")
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
