//! Where an answer begins and ends in what a program has printed so far.

use super::Answer;

/// Reads on where it stopped, so that an answer that comes in many pieces is looked at once.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    at: usize,
    from: Option<usize>,
    depth: usize,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Comment,
    Atom,
    Symbol,
    String,
    /// After a quotation mark inside a string: the end, unless another one follows.
    Quote,
}

impl Scanner {
    /// Where the first complete answer begins and ends in what came so far. `ended`: no more will come.
    pub(super) fn complete(&mut self, bytes: &[u8], answer: Answer, ended: bool) -> Option<(usize, usize)> {
        match answer {
            Answer::Line => self.line(bytes, false, ended),
            Answer::AnyLine => self.line(bytes, true, ended),
            Answer::Expression => self.expression(bytes, ended),
            Answer::Rest => ended.then_some((0, bytes.len())),
        }
    }

    /// Whether something of an answer has come that is not complete, after [`Scanner::complete`] found none.
    pub(super) fn begun(&self) -> bool {
        self.from.is_some()
    }

    /// `from` is where the line begins that is looked at, once something of it came.
    fn line(&mut self, bytes: &[u8], blank: bool, ended: bool) -> Option<(usize, usize)> {
        let whole = |from: usize, to: usize| blank || !trimmed(&bytes[from..to]).is_empty();
        while let Some(&byte) = bytes.get(self.at) {
            let from = *self.from.get_or_insert(self.at);
            if byte == b'\n' {
                if whole(from, self.at) {
                    return Some((from, self.at + 1));
                }
                self.from = None;
            }
            self.at += 1;
        }
        self.from.filter(|&from| ended && whole(from, bytes.len())).map(|from| (from, bytes.len()))
    }

    /// The first s-expression, by the lexical rules of SMT-LIB 2.6 (section 3.1).
    fn expression(&mut self, bytes: &[u8], ended: bool) -> Option<(usize, usize)> {
        while let Some(&byte) = bytes.get(self.at) {
            let mut over = false;
            match self.state {
                State::Comment => {
                    if byte == b'\n' {
                        self.state = State::Between;
                    }
                }
                State::Symbol => {
                    if byte == b'|' {
                        self.state = State::Between;
                        over = true;
                    }
                }
                State::String => {
                    if byte == b'"' {
                        self.state = State::Quote;
                    }
                }
                State::Quote if byte == b'"' => self.state = State::String,
                State::Atom if !delimits(byte) => {}
                State::Quote | State::Atom => {
                    self.state = State::Between;
                    if self.depth == 0 {
                        return Some((self.from?, self.at));
                    }
                    // The byte itself is still to be looked at.
                    continue;
                }
                State::Between => {
                    if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';') {
                        self.from.get_or_insert(self.at);
                    }
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' => {}
                        b';' => self.state = State::Comment,
                        b'(' => self.depth += 1,
                        b')' => {
                            // A closing parenthesis alone is no expression; it is given as it is.
                            self.depth = self.depth.saturating_sub(1);
                            over = true;
                        }
                        b'|' => self.state = State::Symbol,
                        b'"' => self.state = State::String,
                        _ => self.state = State::Atom,
                    }
                }
            }
            self.at += 1;
            if over && self.depth == 0 {
                return Some((self.from?, self.at));
            }
        }
        let whole = self.depth == 0 && matches!(self.state, State::Atom | State::Quote);
        self.from.filter(|_| ended && whole).map(|from| (from, bytes.len()))
    }
}

/// Bytes without the blanks around them.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

/// Whether a byte ends an atom.
fn delimits(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b'"' | b'|' | b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, ended: bool) -> Option<&str> {
        let whole = Scanner::default().expression(text.as_bytes(), ended);
        // In pieces of any size it is the same.
        let mut scanner = Scanner::default();
        let pieces =
            (0..=text.len()).find_map(|end| scanner.expression(&text.as_bytes()[..end], ended && end == text.len()));
        assert_eq!(whole, pieces, "{text}");
        whole.map(|(from, to)| &text[from..to])
    }

    #[test]
    fn expressions_end_where_they_balance() {
        assert_eq!(first("sat\n", false), Some("sat"));
        assert_eq!(first(" ; said (\n unsat ", false), Some("unsat"));
        assert_eq!(first("sat", false), None);
        assert_eq!(first("sat", true), Some("sat"));
        assert_eq!(first("(a (b) c) d", false), Some("(a (b) c)"));
        assert_eq!(first("(error \"a \"\" ) ( b\")\n", false), Some("(error \"a \"\" ) ( b\")"));
        assert_eq!(first("(|)| x)", false), Some("(|)| x)"));
        assert_eq!(first("((a)", false), None);
        assert_eq!(first("((a)", true), None);
        assert_eq!(first("\"a\"\"", false), None);
        assert_eq!(first("\"a\" ", false), Some("\"a\""));
        assert_eq!(first(") x", false), Some(")"));
        assert_eq!(first("(a ; )\n)", false), Some("(a ; )\n)"));
        assert_eq!(first("", true), None);
    }

    #[test]
    fn lines_are_whole() {
        fn first(text: &str, answer: Answer, ended: bool) -> Option<&str> {
            let found = Scanner::default().complete(text.as_bytes(), answer, ended);
            // In pieces of any size it is the same.
            let mut scanner = Scanner::default();
            let pieces = (0..=text.len())
                .find_map(|end| scanner.complete(&text.as_bytes()[..end], answer, ended && end == text.len()));
            assert_eq!(found, pieces, "{text}");
            found.map(|(from, to)| &text[from..to])
        }
        for (text, line, any) in [
            ("\n \r\nsat\nunsat", Some("sat\n"), Some("\n")),
            (" \tsat \n", Some(" \tsat \n"), Some(" \tsat \n")),
            ("sat", None, None),
            ("\n\n", None, Some("\n")),
            ("", None, None),
        ] {
            assert_eq!((first(text, Answer::Line, false), first(text, Answer::AnyLine, false)), (line, any), "{text}");
        }
        for answer in [Answer::Line, Answer::AnyLine] {
            assert_eq!(first("sat", answer, true), Some("sat"));
            assert_eq!(first("", answer, true), None);
        }
        assert_eq!(first(" ", Answer::Line, true), None);
        assert_eq!((first("a\nb", Answer::Rest, false), first("a\nb", Answer::Rest, true)), (None, Some("a\nb")));
        assert_eq!(first("", Answer::Rest, true), Some(""));
    }
}
