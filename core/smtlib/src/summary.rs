//! What a script says of itself, found by looking at its tokens: fast, and possible for scripts that are not well-sorted
//! or in a solver's own language.

use crate::lexer::{Kind, LexProblem, Lexer, Strings, Token};
use crate::position::Position;
use crate::problem::{Class, Problem};

/// What an index of benchmarks says of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The argument of the first `set-logic`.
    pub logic: Option<String>,
    /// The expected answer of each check: the last `:status` before it and after the check before, else `unknown`. A
    /// script without a check has the one status that it states, if any.
    pub statuses: Vec<String>,
    /// The value of `:category`.
    pub category: Option<String>,
    /// `assert` commands.
    pub assertions: u64,
    /// `check-sat` and `check-sat-assuming` commands.
    pub check_sats: u64,
    /// Terms with `:named`.
    pub named: u64,
    /// `:pattern` annotations.
    pub patterns: u64,
    /// Sorts that are declared, defined, or datatypes.
    pub sorts: u64,
    /// The first thing that is no token, or not balanced. All else was counted as if it were not there.
    pub problem: Option<Problem>,
}

impl Summary {
    /// Looks at a script.
    pub fn of(text: &[u8]) -> Self {
        let mut found = Self::default();
        let mut lexer = Lexer::new(text, Strings::Doubled);
        let mut status: Option<String> = None;
        let mut depth = 0_u64;
        let mut start = 0;
        // The first tokens of a command.
        let mut command: [Option<Token>; 3] = [None; 3];
        let mut count = 0;
        let problem = |at: usize, message: String| {
            Some(Problem { class: Class::Syntax, at, position: Position::of(text, at), message })
        };
        loop {
            let token = match lexer.next_token() {
                Ok(Some(token)) => token,
                Ok(None) => break,
                Err(error) => {
                    if found.problem.is_none() {
                        found.problem = problem(error.at, error.problem.to_string());
                    }
                    let open = matches!(error.problem, LexProblem::OpenString | LexProblem::OpenQuoted);
                    lexer.set_offset(if open { text.len() } else { error.at.max(lexer.offset()) + 1 });
                    continue;
                }
            };
            match token.kind {
                Kind::Open => {
                    depth += 1;
                    if depth == 1 {
                        start = token.start;
                        command = [None; 3];
                        count = 0;
                    } else if depth == 2 && count < 3 {
                        command[count] = Some(token);
                        count += 1;
                    }
                }
                Kind::Close if depth == 0 => {
                    if found.problem.is_none() {
                        found.problem = problem(token.start, "this `)` closes nothing".into());
                    }
                }
                Kind::Close => {
                    depth -= 1;
                    if depth == 0 {
                        found.command(text, &mut lexer, command, &mut status);
                    }
                }
                kind => {
                    if depth == 1 && count < 3 {
                        command[count] = Some(token);
                        count += 1;
                    } else if kind == Kind::Keyword {
                        match token.bytes(text) {
                            b":named" => found.named += 1,
                            b":pattern" => found.patterns += 1,
                            _ => {}
                        }
                    }
                }
            }
        }
        if depth > 0 && found.problem.is_none() {
            found.problem = problem(start, "this command has no end: a `)` is missing".into());
        }
        if found.statuses.is_empty() {
            found.statuses.extend(status);
        }
        found
    }

    fn command(
        &mut self,
        text: &[u8],
        lexer: &mut Lexer<'_>,
        command: [Option<Token>; 3],
        status: &mut Option<String>,
    ) {
        let [name, first, second] = command;
        let word = |token: Option<Token>| token.map_or(&b""[..], |t| t.name(text));
        let owned = |token: Option<Token>| token.map(|t| String::from_utf8_lossy(t.name(text)).into_owned());
        match word(name) {
            b"assert" => self.assertions += 1,
            b"check-sat" | b"check-sat-assuming" => {
                self.check_sats += 1;
                self.statuses.push(status.take().unwrap_or_else(|| "unknown".into()));
            }
            b"set-logic" if self.logic.is_none() => self.logic = owned(first),
            b"declare-sort" | b"define-sort" | b"declare-datatype" => self.sorts += 1,
            // `((name arity) ...)`: the parentheses of the second list, which lie between two offsets.
            b"declare-datatypes" => {
                let (Some(from), Some(to)) = (first, second) else { return };
                let mut inner = Lexer::new(text.get(from.start..to.start).unwrap_or_default(), lexer.strings());
                let opened = inner.by_ref().filter_map(Result::ok).filter(|t| t.kind == Kind::Open).count() as u64;
                self.sorts += opened.saturating_sub(1);
            }
            b"set-info" => match word(first) {
                // What is neither sat nor unsat is as good as unknown; anything else would be taken for a claim.
                b":status" => {
                    let known = owned(second).filter(|s| s == "sat" || s == "unsat");
                    *status = Some(known.unwrap_or_else(|| "unknown".into()));
                }
                b":category" => {
                    self.category = second.map(|t| {
                        let value = t.string(text, lexer.strings());
                        let value = if t.kind == Kind::String { &value } else { t.name(text) };
                        String::from_utf8_lossy(value).into_owned()
                    });
                }
                b":smt-lib-version" => {
                    let old = word(second) == b"2.0";
                    lexer.set_strings(if old { Strings::Backslash } else { Strings::Doubled });
                }
                _ => {}
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_says() {
        let text = "(set-info :smt-lib-version 2.6)(set-logic |QF_BV|)\n(set-info :category \"a \"\"b\"\"\")(declare-sort S 0)\n\
                    (declare-datatypes ((A 0) (B 0)) (((a)) ((b))))(set-info :status sat)(assert (! true :named n))\n\
                    (check-sat)(assert (forall ((x S)) (! (= x x) :pattern (x) :pattern ((f x)))))(check-sat-assuming ())\n\
                    (set-info :status unsat)(push 1)(check-sat)(echo \"(assert \"); (assert\n";
        let found = Summary::of(text.as_bytes());
        let expected = Summary {
            logic: Some("QF_BV".into()),
            statuses: vec!["sat".into(), "unknown".into(), "unsat".into()],
            category: Some("a \"b\"".into()),
            assertions: 2,
            check_sats: 3,
            named: 1,
            patterns: 2,
            sorts: 3,
            problem: None,
        };
        assert_eq!(found, expected);
        assert_eq!(Summary::of(b"(set-info :status unsat)").statuses, ["unsat"]);
    }

    #[test]
    fn what_is_damaged_is_counted_all_the_same() {
        let found = Summary::of(b"(assert 1.)) (assert {true}) (check-sat");
        assert_eq!((found.assertions, found.check_sats), (2, 0));
        assert_eq!(found.problem.unwrap().at, 8);
        assert_eq!(Summary::of(b"(assert \"").problem.unwrap().at, 8);
        assert_eq!(Summary::of(b" (assert").problem.unwrap().at, 1);
        assert_eq!(Summary::of(b"a )").problem.unwrap().at, 2);
        assert_eq!(Summary::of(b""), Summary::default());
    }
}
