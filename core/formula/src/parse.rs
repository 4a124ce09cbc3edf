//! Parses a formula.
//!
//! Recursive descent over the levels of [`level`]. A part that does not parse is reported and becomes
//! [`Kind::Error`], and parsing goes on behind it, so that one run finds as many mistakes as can be told apart.

use std::ops::Range;

use crate::ast::{BinOp, Clause, ClauseKind, Expr, Ident, Key, Kind, level};
use crate::error::{FormulaError, closest};
use crate::lex::{RESERVED, Tok, Token, lex};

/// A formula may nest this deep, counting every operator of a chain; far beyond anything that people write, and far
/// below what would exhaust a thread's stack.
pub(crate) const MAX_DEPTH: usize = 200;

/// A formula may be this long, in bytes.
pub(crate) const MAX_LENGTH: usize = 64 * 1024;

/// The greatest exponent of `^`.
pub(crate) const MAX_EXPONENT: i32 = 1024;

const CLAUSES: [&str; 6] = ["where", "of", "once", "by", "per", "else"];

/// What people write for a clause, and the clause.
const CLAUSE_SLIPS: &[(&str, &str)] = &[
    ("over", "per"),
    ("group", "per"),
    ("groupby", "per"),
    ("partition", "per"),
    ("each", "per"),
    ("within", "per"),
    ("for", "per"),
    ("when", "where"),
    ("if", "where"),
    ("filter", "where"),
    ("with", "where"),
    ("unique", "once"),
    ("distinct", "once"),
    ("order", "by"),
    ("sort", "by"),
    ("sorted", "by"),
    ("default", "else"),
    ("otherwise", "else"),
    ("other", "of other"),
    ("except", "of other"),
];

pub(crate) struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    too_deep: bool,
    errors: Vec<FormulaError>,
}

/// The height of a tree is kept beside it while it grows, so that no later pass can meet a deeper one.
struct Tree {
    expr: Expr,
    height: usize,
}

/// Parses a formula. The tree is there even if there are errors.
pub(crate) fn parse(source: &str) -> (Expr, Vec<FormulaError>) {
    let (expr, _, errors) = parse_with(source, false);
    (expr, errors)
}

/// Parses a formula with a direction after it. Gives the end of the formula proper with the direction.
pub(crate) fn parse_order(source: &str) -> (Expr, (usize, bool), Vec<FormulaError>) {
    parse_with(source, true)
}

fn parse_with(source: &str, direction: bool) -> (Expr, (usize, bool), Vec<FormulaError>) {
    if source.len() > MAX_LENGTH {
        let error = FormulaError::new(
            "formula/too-long",
            0..source.len(),
            format!("the formula has {} bytes, more than the limit of {MAX_LENGTH}", source.len()),
        );
        return (Expr { span: 0..source.len(), kind: Kind::Error }, (source.len(), false), vec![error]);
    }
    let mut errors = Vec::new();
    let tokens = lex(source, &mut errors);
    let mut p = Parser { source, tokens, at: 0, depth: 0, too_deep: false, errors };
    let tree = p.expression();
    let end = tree.expr.span.end;
    let mut descending = false;
    if direction {
        if p.word("desc") {
            descending = true;
        } else if !p.word("asc")
            && let Tok::Word(word) = p.peek()
            && p.peek_second() == Tok::End
            && !RESERVED.contains(&word)
        {
            let span = p.bump();
            let help = match word.to_lowercase().as_str() {
                "down" | "downward" | "downwards" | "decreasing" | "falling" | "greatest" | "highest" | "most"
                | "reverse" | "descending" => "did you mean `desc` (greatest first)?",
                "up" | "upward" | "upwards" | "increasing" | "rising" | "least" | "lowest" | "fewest" | "ascending" => {
                    "did you mean `asc` (least first)?"
                }
                _ => "write `asc` (least first) or `desc` (greatest first)",
            };
            p.errors.push(FormulaError::new("formula/syntax", span, format!("`{word}` is no direction")).help(help));
        }
    }
    if p.peek() != Tok::End {
        p.trailing();
    }
    p.errors.sort_by_key(|e| (e.span.start, e.span.end));
    (tree.expr, (end, descending), p.errors)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Tok<'a> {
        self.tokens[self.at].tok
    }

    fn peek_second(&self) -> Tok<'a> {
        self.tokens.get(self.at + 1).map_or(Tok::End, |t| t.tok)
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    /// The end of the token before the present one.
    fn last_end(&self) -> usize {
        if self.at == 0 { 0 } else { self.tokens[self.at - 1].span.end }
    }

    fn bump(&mut self) -> Range<usize> {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn eat(&mut self, tok: Tok<'_>) -> bool {
        let found = self.peek() == tok;
        if found {
            self.bump();
        }
        found
    }

    fn word(&mut self, word: &str) -> bool {
        self.eat(Tok::Word(word))
    }

    /// The present token as it is written.
    fn found(&self) -> String {
        match self.peek() {
            Tok::End => "the end".into(),
            _ => format!("`{}`", &self.source[self.span()]),
        }
    }

    fn error(&mut self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        // Past the limit of depth everything fails, once is enough.
        if !self.too_deep {
            self.errors.push(FormulaError::new("formula/syntax", span, message).maybe_help(help));
        }
    }

    /// Reports what stands where the formula should end.
    fn trailing(&mut self) {
        let span = self.span();
        let found = self.found();
        let (message, help) = match self.peek() {
            Tok::Close => ("this parenthesis was never opened".to_string(), None),
            Tok::CloseList => ("this bracket was never opened".to_string(), None),
            Tok::Comma => (
                "a formula has one value, but a comma follows it".to_string(),
                Some("choose with `if(condition, value, other)`, or write two formulas".to_string()),
            ),
            Tok::Word("else") => (
                "this `else` belongs to nothing".to_string(),
                Some(
                    "a division by a number other than zero always has a value and takes no `else`; the fallback of a \
                     call stands inside its parentheses: `min(x where c else 0)`"
                        .to_string(),
                ),
            ),
            Tok::Word(word) if CLAUSES.contains(&word) => (
                format!("`{word}` stands outside of a call"),
                Some("the clauses of an aggregate stand inside its parentheses: `sum(x where c per a)`".to_string()),
            ),
            Tok::Word(word @ ("asc" | "desc")) => {
                (format!("`{word}` has no meaning here"), Some("directions stand in `by` and in an `order`".into()))
            }
            Tok::Word(word) => {
                let help = match word.to_lowercase().as_str() {
                    lower @ ("and" | "or" | "not" | "in" | "mod") => {
                        Some(format!("operators are lower-case: `{lower}`"))
                    }
                    "is" => Some("write `==` to compare".into()),
                    "div" => Some("write `floor(a / b)`".into()),
                    "xor" => Some("write `!=` between two conditions".into()),
                    "then" => Some("a choice is written `if(condition, value, other)`".into()),
                    _ => closest(word, ["and", "or", "not", "in", "mod"])
                        .map(|near| format!("did you mean the operator `{near}`?")),
                };
                (format!("expected an operator or the end, found {found}"), help)
            }
            Tok::Open => (
                "expected an operator or the end, found `(`".to_string(),
                Some("a product is written with `*`".to_string()),
            ),
            _ => (format!("expected an operator or the end, found {found}"), None),
        };
        self.error(span, message, help);
    }

    /// Skips to the next `,`, `)` or `]` of the present nesting, or to a clause.
    fn recover(&mut self) {
        let mut open = 0usize;
        loop {
            match self.peek() {
                Tok::End => return,
                Tok::Open | Tok::OpenList => open += 1,
                Tok::Close | Tok::CloseList if open == 0 => return,
                Tok::Close | Tok::CloseList => open -= 1,
                Tok::Comma if open == 0 => return,
                Tok::Word(word) if open == 0 && CLAUSES.contains(&word) => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn failed(&self, span: Range<usize>) -> Tree {
        Tree { expr: Expr { span, kind: Kind::Error }, height: 1 }
    }

    /// Runs `inner` one level deeper, or gives up on the whole rest if that is too deep.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Tree) -> Tree {
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let tree = inner(self);
        self.depth -= 1;
        tree
    }

    fn give_up(&mut self) -> Tree {
        let span = self.span();
        if !self.too_deep {
            self.errors.push(
                FormulaError::new(
                    "formula/too-deep",
                    span.clone(),
                    format!("the formula nests deeper than {MAX_DEPTH} operators and calls"),
                )
                .help("give a part of it a name of its own"),
            );
        }
        self.too_deep = true;
        self.at = self.tokens.len() - 1;
        self.failed(span)
    }

    fn node(&mut self, span: Range<usize>, kind: Kind, below: usize) -> Tree {
        let height = below + 1;
        if height > MAX_DEPTH {
            return self.give_up();
        }
        Tree { expr: Expr { span, kind }, height }
    }

    fn expression(&mut self) -> Tree {
        self.nested(|p| p.binary(level::OR))
    }

    /// A chain of operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Tree {
        match least {
            level::NOT => return self.negation(),
            level::NEG.. => return self.unary(),
            _ => {}
        }
        let mut left = self.binary(least + 1);
        let mut compared = false;
        while let Some((op, words)) = self.operator(least) {
            if compared && least == level::COMPARE {
                let span = self.span();
                self.error(
                    span,
                    "comparisons do not chain",
                    Some("write `a < b and b < c`, or put one of them in parentheses".into()),
                );
            }
            let chained = compared && least == level::COMPARE;
            compared = true;
            for _ in 0..words {
                self.bump();
            }
            let start = left.expr.span.start;
            left = match op {
                Operator::Binary(op) => {
                    let right = self.binary(least + 1);
                    let mut below = left.height.max(right.height);
                    let mut otherwise = None;
                    if matches!(op, BinOp::Div | BinOp::Mod)
                        && !right.expr.nonzero_literal()
                        && self.peek() == Tok::Word("else")
                    {
                        self.bump();
                        let tree = self.fallback();
                        below = below.max(tree.height);
                        otherwise = Some(Box::new(tree.expr));
                    }
                    let span = start..self.last_end().max(start);
                    let kind = Kind::Binary { op, left: Box::new(left.expr), right: Box::new(right.expr), otherwise };
                    self.node(span, kind, below)
                }
                Operator::In { negated } => self.membership(left, negated),
            };
            if chained {
                left = self.failed(left.expr.span);
            }
        }
        left
    }

    /// The operator of this level that stands here, and how many tokens it has.
    fn operator(&mut self, least: u8) -> Option<(Operator, usize)> {
        use Operator::{Binary, In};
        let op = match self.peek() {
            Tok::Word(word) => match word {
                "or" => BinOp::Or,
                "and" => BinOp::And,
                "mod" => BinOp::Mod,
                "in" if least == level::COMPARE => return Some((In { negated: false }, 1)),
                "not" if least == level::COMPARE && self.peek_second() == Tok::Word("in") => {
                    return Some((In { negated: true }, 2));
                }
                "AND" | "And" | "OR" | "Or" | "MOD" | "Mod" => {
                    let (op, right) = match word {
                        "AND" | "And" => (BinOp::And, "and"),
                        "OR" | "Or" => (BinOp::Or, "or"),
                        _ => (BinOp::Mod, "mod"),
                    };
                    if op.level() == least {
                        let span = self.span();
                        self.errors.push(
                            FormulaError::new("formula/operator", span, format!("`{word}` is not an operator"))
                                .help(format!("operators are lower-case: `{right}`")),
                        );
                    }
                    op
                }
                _ => return None,
            },
            Tok::Eq => BinOp::Eq,
            Tok::Ne => BinOp::Ne,
            Tok::Lt => BinOp::Lt,
            Tok::Le => BinOp::Le,
            Tok::Gt => BinOp::Gt,
            Tok::Ge => BinOp::Ge,
            Tok::Plus => BinOp::Add,
            Tok::Minus => BinOp::Sub,
            Tok::Star => BinOp::Mul,
            Tok::Slash => BinOp::Div,
            _ => return None,
        };
        (op.level() == least).then_some((Binary(op), 1))
    }

    fn membership(&mut self, item: Tree, negated: bool) -> Tree {
        let start = item.expr.span.start;
        let mut below = item.height;
        let mut list = Vec::new();
        let span = self.span();
        if !self.eat(Tok::OpenList) {
            self.error(span.clone(), "expected a list", Some("write the values in brackets: `x in [a, b]`".into()));
            if self.eat(Tok::Open) {
                self.items(&mut list, &mut below, Tok::Close);
            } else {
                return self.failed(start..span.end);
            }
        } else {
            self.items(&mut list, &mut below, Tok::CloseList);
        }
        let span = start..self.last_end();
        self.node(span, Kind::In { negated, item: Box::new(item.expr), list }, below)
    }

    fn items(&mut self, list: &mut Vec<Expr>, below: &mut usize, close: Tok<'static>) {
        if self.peek() == close {
            let span = self.span();
            self.error(span, "a list has at least one value", None);
        } else {
            loop {
                let tree = self.expression();
                *below = (*below).max(tree.height);
                list.push(tree.expr);
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        self.close(close, "this list");
    }

    /// Expects a closing token, and looks for it further on if something else stands here.
    fn close(&mut self, close: Tok<'static>, what: &str) {
        if self.eat(close) {
            return;
        }
        let shown = if close == Tok::Close { "`)`" } else { "`]`" };
        let span = self.span();
        let message = format!("expected `,` or {shown} to close {what}, found {}", self.found());
        self.error(span, message, None);
        while self.peek() != Tok::End {
            self.recover();
            match self.peek() {
                Tok::Close | Tok::CloseList => {
                    self.bump();
                    return;
                }
                _ => {
                    self.bump();
                }
            }
        }
    }

    fn negation(&mut self) -> Tree {
        let span = self.span();
        match self.peek() {
            Tok::Word("not") => {}
            Tok::Word(word @ ("NOT" | "Not")) if self.peek_second() != Tok::End => {
                self.errors.push(
                    FormulaError::new("formula/operator", span.clone(), format!("`{word}` is not an operator"))
                        .help("operators are lower-case: `not`"),
                );
            }
            _ => return self.binary(level::COMPARE),
        }
        self.bump();
        let inner = self.nested(Self::negation);
        let span = span.start..self.last_end();
        self.node(span, Kind::Not(Box::new(inner.expr)), inner.height)
    }

    fn unary(&mut self) -> Tree {
        let start = self.span().start;
        if self.eat(Tok::Minus) {
            let inner = self.nested(Self::unary);
            let span = start..self.last_end().max(start);
            return self.node(span, Kind::Neg(Box::new(inner.expr)), inner.height);
        }
        let base = self.primary();
        if self.peek() == Tok::Caret { self.power(base) } else { base }
    }

    fn power(&mut self, base: Tree) -> Tree {
        self.bump();
        let start = base.expr.span.start;
        let mut below = base.height;
        let at = self.span();
        let negative = self.eat(Tok::Minus);
        let digits = match self.peek() {
            Tok::Number(digits) => {
                self.bump();
                Some(digits)
            }
            _ => {
                let primary = self.primary();
                below = below.max(primary.height);
                None
            }
        };
        let span = at.start..self.last_end().max(at.start);
        let exponent = digits.and_then(|d| d.parse::<i32>().ok()).filter(|e| *e <= MAX_EXPONENT);
        let Some(exponent) = exponent else {
            self.error(
                span.clone(),
                "an exponent is a whole number that is written out",
                Some(format!("for instance `x^2` or `x^-1`; at most {MAX_EXPONENT}")),
            );
            return self.failed(start..span.end);
        };
        let exponent = if negative { -exponent } else { exponent };
        let mut otherwise = None;
        if exponent < 0 && !base.expr.nonzero_literal() && self.peek() == Tok::Word("else") {
            self.bump();
            let tree = self.fallback();
            below = below.max(tree.height);
            otherwise = Some(Box::new(tree.expr));
        }
        if self.peek() == Tok::Caret {
            let span = self.span();
            self.error(span, "powers do not chain", Some("put one of them in parentheses".into()));
            self.recover();
        }
        let span = start..self.last_end();
        self.node(span, Kind::Power { base: Box::new(base.expr), exponent, otherwise }, below)
    }

    /// The value after the `else` of an operator.
    fn fallback(&mut self) -> Tree {
        let start = self.span().start;
        if self.eat(Tok::Minus) {
            let inner = self.nested(Self::fallback);
            let span = start..self.last_end().max(start);
            return self.node(span, Kind::Neg(Box::new(inner.expr)), inner.height);
        }
        self.primary()
    }

    fn primary(&mut self) -> Tree {
        let span = self.span();
        match self.peek() {
            Tok::Number(text) => {
                self.bump();
                self.number(text, span)
            }
            Tok::Text(text) => {
                self.bump();
                self.node(span, Kind::Text(text.into()), 0)
            }
            Tok::Open => {
                self.bump();
                let mut tree = self.expression();
                if self.peek() == Tok::Comma {
                    let span = self.span();
                    self.error(span, "parentheses hold one value", Some("a list stands in brackets: `[a, b]`".into()));
                }
                self.close(Tok::Close, "the parenthesis");
                // The parentheses are part of what a message points at.
                tree.expr.span = span.start..self.last_end();
                tree
            }
            Tok::OpenList => {
                self.error(span.clone(), "a list stands only behind `in`", Some("write `x in [a, b]`".into()));
                self.bump();
                let (mut list, mut below) = (Vec::new(), 0);
                self.items(&mut list, &mut below, Tok::CloseList);
                self.failed(span.start..self.last_end())
            }
            Tok::Word("true") => {
                self.bump();
                self.node(span, Kind::Bool(true), 0)
            }
            Tok::Word("false") => {
                self.bump();
                self.node(span, Kind::Bool(false), 0)
            }
            Tok::Word("not") => {
                self.error(
                    span.clone(),
                    "`not` binds looser than what stands before it",
                    Some("put it in parentheses: `(not x)`".into()),
                );
                self.nested(Self::negation)
            }
            Tok::Word(word) if !RESERVED.contains(&word) => {
                self.bump();
                if self.peek() == Tok::Open {
                    return self.call(Ident { span, name: word.into() });
                }
                self.node(span, Kind::Name(word.into()), 0)
            }
            Tok::Word(word) => {
                let message = format!("expected a value, found the word `{word}` of the language");
                self.error(span.clone(), message, Some(format!("quote it if the text is meant: '{word}'")));
                // A clause is left to the call around; an operator without its left side is stepped over.
                if !CLAUSES.contains(&word) {
                    self.bump();
                    self.recover();
                }
                self.failed(span)
            }
            tok => {
                let help = match tok {
                    Tok::Plus => Some("a number needs no `+`".to_string()),
                    Tok::Eq => Some("`==` is one operator; something is missing before it".to_string()),
                    _ => None,
                };
                let message = format!("expected a value, found {}", self.found());
                self.error(span.clone(), message, help);
                self.recover();
                self.failed(span)
            }
        }
    }

    fn number(&mut self, text: &str, span: Range<usize>) -> Tree {
        let mut unit = None;
        let mut end = span.end;
        if let Tok::Word(word) = self.peek()
            && !RESERVED.contains(&word)
            && !matches!(word, "asc" | "desc" | "AND" | "OR" | "And" | "Or" | "MOD")
        {
            let here = self.bump();
            end = here.end;
            if agon_table::parse_quantity(&format!("1 {word}")).is_ok() {
                unit = Some(word.to_string());
            } else {
                self.bad_unit(text, word, here);
                return self.failed(span.start..end);
            }
        }
        let span = span.start..end;
        if let Err(error) = agon_table::parse_decimal(text) {
            self.errors.push(FormulaError::new("formula/number", span.clone(), format!("`{text}` {error}")));
            return self.failed(span);
        }
        self.node(span, Kind::Number { text: text.into(), unit }, 0)
    }

    fn bad_unit(&mut self, number: &str, word: &str, span: Range<usize>) {
        const UNITS: [&str; 16] =
            ["ns", "us", "ms", "s", "min", "h", "d", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
        const SLIPS: &[(&[&str], &str)] = &[
            (&["sec", "secs", "second", "seconds", "S"], "s"),
            (&["m", "mins", "minute", "minutes", "Min"], "min"),
            (&["hr", "hrs", "hour", "hours", "H"], "h"),
            (&["day", "days"], "d"),
            (&["msec", "msecs", "millis", "milliseconds"], "ms"),
            (&["usec", "µs", "microseconds"], "us"),
            (&["nsec", "nanoseconds"], "ns"),
            (&["byte", "bytes", "b"], "B"),
            (&["KB", "kb", "K", "k"], "kB"),
            (&["mb", "M", "Mb", "megabytes"], "MB"),
            (&["gb", "G", "Gb", "gigabytes"], "GB"),
            (&["tb", "T"], "TB"),
        ];
        let slip = SLIPS.iter().find(|(from, _)| from.contains(&word)).map(|(_, to)| *to);
        let help = match slip.or_else(|| UNITS.into_iter().find(|u| u.eq_ignore_ascii_case(word))) {
            Some(unit) => format!("did you mean `{number} {unit}`?"),
            None if word.starts_with('_') && word[1..].bytes().all(|b| b.is_ascii_digit()) => {
                format!("digits are not grouped: `{number}{}`", &word[1..])
            }
            None if word.contains('-') => "put spaces around a minus".into(),
            None => format!("the units are: {}; a product is written with `*`", UNITS.join(", ")),
        };
        let (code, message) = ("formula/unit", format!("`{word}` is not a unit"));
        self.errors.push(FormulaError::new(code, span, message).help(help));
    }

    fn call(&mut self, name: Ident) -> Tree {
        let start = name.span.start;
        self.bump();
        let mut below = 0;
        let mut args = Vec::new();
        let mut clauses: Vec<Clause> = Vec::new();
        let at_clause = |p: &Self| matches!(p.peek(), Tok::Word(word) if CLAUSES.contains(&word));
        if self.peek() != Tok::Close && !at_clause(self) {
            loop {
                let tree = self.expression();
                below = below.max(tree.height);
                args.push(tree.expr);
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        loop {
            if at_clause(self) {
                let (clause, height) = self.clause();
                below = below.max(height);
                if let Some(clause) = clause {
                    if let Some(twice) =
                        clauses.iter().find(|c| std::mem::discriminant(&c.kind) == std::mem::discriminant(&clause.kind))
                    {
                        let message = format!("a second `{}` in the same call", twice.kind.word());
                        let help = match &clause.kind {
                            ClauseKind::Where(_) => Some("join the conditions with `and`".to_string()),
                            ClauseKind::Else(_) => None,
                            _ => Some("list everything behind the first, separated by commas".to_string()),
                        };
                        self.error(clause.span.clone(), message, help);
                    } else {
                        clauses.push(clause);
                    }
                }
                continue;
            }
            if let Tok::Word(word) = self.peek()
                && !RESERVED.contains(&word)
            {
                self.clause_slip(word);
                continue;
            }
            break;
        }
        self.close(Tok::Close, &format!("`{}(`", name.name));
        let span = start..self.last_end();
        self.node(span, Kind::Call { name, args, clauses }, below)
    }

    /// Reports a word that stands where a clause could, and steps behind what belongs to it.
    fn clause_slip(&mut self, word: &str) {
        let span = self.bump();
        let lower = word.to_lowercase();
        let slip = CLAUSE_SLIPS.iter().find(|(from, _)| *from == lower).map(|(_, to)| *to);
        let near = slip.or_else(|| closest(&lower, ["where", "once", "by", "per", "else", "and", "or", "in", "mod"]));
        let help = match near {
            Some(clause) => format!("did you mean `{clause}`?"),
            None => format!(
                "an aggregate groups by a column with `per {word}`; the other clauses are `where`, `of other`, `once`, \
                 `by` and `else`"
            ),
        };
        self.error(span, format!("expected a clause or `)`, found `{word}`"), Some(help));
        self.recover();
        while self.eat(Tok::Comma) {
            self.recover();
        }
    }

    fn clause(&mut self) -> (Option<Clause>, usize) {
        let start = self.span().start;
        let Tok::Word(word) = self.peek() else { return (None, 0) };
        self.bump();
        let mut below = 0;
        let kind = match word {
            "where" | "else" => {
                let tree = self.expression();
                below = tree.height;
                Some(if word == "where" { ClauseKind::Where(tree.expr) } else { ClauseKind::Else(tree.expr) })
            }
            "of" => {
                if !self.word("other") {
                    let span = self.span();
                    let message = format!("expected `other` behind `of`, found {}", self.found());
                    self.error(span, message, Some("write `of other column`".into()));
                }
                self.column("of other").map(ClauseKind::Other)
            }
            "once" => self.column_list("once").map(ClauseKind::Once),
            "per" if self.peek() == Tok::Word("all") => {
                self.bump();
                if self.peek() == Tok::Comma {
                    let span = self.span();
                    self.error(span, "`per all` takes all rows together", Some("name columns, or `all`".into()));
                    self.bump();
                    let _ = self.column_list("per");
                }
                Some(ClauseKind::Per(Vec::new()))
            }
            "per" => self.column_list("per").map(ClauseKind::Per),
            _ => {
                let mut keys = Vec::new();
                loop {
                    let tree = self.expression();
                    below = below.max(tree.height);
                    let descending = if self.word("desc") {
                        Some(true)
                    } else if self.word("asc") {
                        Some(false)
                    } else {
                        None
                    };
                    keys.push(Key { expr: tree.expr, descending });
                    if !self.eat(Tok::Comma) {
                        break;
                    }
                }
                Some(ClauseKind::By(keys))
            }
        };
        let span = start..self.last_end();
        (kind.map(|kind| Clause { span, kind }), below)
    }

    fn column_list(&mut self, clause: &str) -> Option<Vec<Ident>> {
        let mut columns = Vec::new();
        loop {
            columns.push(self.column(clause)?);
            if !self.eat(Tok::Comma) {
                return Some(columns);
            }
        }
    }

    fn column(&mut self, clause: &str) -> Option<Ident> {
        let span = self.span();
        if let Tok::Word(word) = self.peek()
            && !RESERVED.contains(&word)
            && self.peek_second() != Tok::Open
        {
            self.bump();
            return Some(Ident { span, name: word.into() });
        }
        let message = format!("expected the name of a column behind `{clause}`, found {}", self.found());
        self.error(span, message, None);
        self.recover();
        while self.eat(Tok::Comma) {
            self.recover();
        }
        None
    }
}

enum Operator {
    Binary(BinOp),
    In { negated: bool },
}
