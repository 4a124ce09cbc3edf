//! Lines and columns, computed from offsets when somebody wants to read them.

use std::fmt;

/// A place in a text, for people: lines and columns count from 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The character of the line, from 1.
    pub column: u64,
}

impl Position {
    /// The place of the byte at `offset`; an offset behind the end is taken for the end. Lines end with a line feed.
    ///
    /// A byte that continues a character of UTF-8 does not count for the column; in other encodings every byte is a
    /// character.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let column = before[start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() as u64 + 1;
        Self { line, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let text = "ab\né(\r\n\n".as_bytes();
        let of = |offset| {
            let p = Position::of(text, offset);
            (p.line, p.column)
        };
        assert_eq!([of(0), of(1), of(2), of(3)], [(1, 1), (1, 2), (1, 3), (2, 1)]);
        assert_eq!([of(5), of(7), of(8), of(9), of(99)], [(2, 2), (2, 4), (3, 1), (4, 1), (4, 1)]);
    }
}
