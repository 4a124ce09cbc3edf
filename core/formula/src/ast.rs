//! The tree of a formula as it is written, and its printed form.
//!
//! The tree keeps what the author chose (the unit of a number, the order of clauses) and drops what carries no meaning
//! (white space, needless parentheses). Printing puts in exactly the parentheses that parsing needs, so that parsing a
//! printed tree gives the same tree. Comparing two trees ignores where they stand in their sources.

use std::fmt::{self, Display, Formatter, Write};
use std::ops::Range;

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub span: Range<usize>,
    pub kind: Kind,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub span: Range<usize>,
    pub name: String,
}

impl PartialEq for Ident {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Something that did not parse. It has been reported, and nothing is said about it any more.
    Error,
    /// A decimal number with the unit that it carries.
    Number {
        text: String,
        unit: Option<String>,
    },
    /// A quoted text.
    Text(String),
    Bool(bool),
    /// A column, a constant or a bare word.
    Name(String),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Binary {
        op: BinOp,
        left: Box<Expr>,
        right: Box<Expr>,
        otherwise: Option<Box<Expr>>,
    },
    Power {
        base: Box<Expr>,
        exponent: i32,
        otherwise: Option<Box<Expr>>,
    },
    In {
        negated: bool,
        item: Box<Expr>,
        list: Vec<Expr>,
    },
    Call {
        name: Ident,
        args: Vec<Expr>,
        clauses: Vec<Clause>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl BinOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "mod",
        }
    }

    /// How tightly it binds: see [`level`].
    pub fn level(self) -> u8 {
        match self {
            Self::Or => level::OR,
            Self::And => level::AND,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => level::COMPARE,
            Self::Add | Self::Sub => level::ADD,
            Self::Mul | Self::Div | Self::Mod => level::MUL,
        }
    }
}

/// How tightly operators bind, loosest first.
pub(crate) mod level {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const ADD: u8 = 5;
    pub const MUL: u8 = 6;
    pub const NEG: u8 = 7;
    pub const POWER: u8 = 8;
    pub const PRIMARY: u8 = 9;
}

/// A clause of a call and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub span: Range<usize>,
    pub kind: ClauseKind,
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClauseKind {
    Where(Expr),
    Other(Ident),
    Once(Vec<Ident>),
    By(Vec<Key>),
    /// Columns; none of them stands for `per all`.
    Per(Vec<Ident>),
    Else(Expr),
}

impl ClauseKind {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Where(_) => "where",
            Self::Other(_) => "of other",
            Self::Once(_) => "once",
            Self::By(_) => "by",
            Self::Per(_) => "per",
            Self::Else(_) => "else",
        }
    }
}

/// One key of a `by` clause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub expr: Expr,
    /// The direction, if it is written.
    pub descending: Option<bool>,
}

impl Expr {
    /// How tightly the outermost operator binds.
    pub fn level(&self) -> u8 {
        match &self.kind {
            Kind::Not(_) => level::NOT,
            Kind::In { .. } => level::COMPARE,
            Kind::Neg(_) => level::NEG,
            Kind::Power { .. } => level::POWER,
            Kind::Binary { op, .. } => op.level(),
            _ => level::PRIMARY,
        }
    }

    /// Whether this is a number other than zero by its looks alone. A division by such takes no `else`, which leaves
    /// an `else` that follows to the call around it.
    pub fn nonzero_literal(&self) -> bool {
        match &self.kind {
            Kind::Number { text, .. } => {
                let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
                mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'))
            }
            Kind::Neg(inner) => inner.nonzero_literal(),
            Kind::Power { base, otherwise: None, .. } => base.nonzero_literal(),
            _ => false,
        }
    }
}

/// Whether an `else` right behind the printed expression would be read as a part of it.
fn takes_else(e: &Expr) -> bool {
    // In parentheses nothing is open.
    let inside = |e: &Expr, least: u8| e.level() >= least && takes_else(e);
    match &e.kind {
        Kind::Binary { op: BinOp::Div | BinOp::Mod, right, otherwise: None, .. } => {
            !right.nonzero_literal() || inside(right, level::NEG)
        }
        Kind::Binary { op, right, otherwise: None, .. } => inside(right, op.level() + 1),
        Kind::Power { base, exponent, otherwise: None } => *exponent < 0 && !base.nonzero_literal(),
        Kind::Neg(inner) => inside(inner, level::NEG),
        Kind::Not(inner) => inside(inner, level::NOT),
        _ => false,
    }
}

/// Prints an expression that an `else` of something else may follow.
fn before(f: &mut Formatter<'_>, expr: &Expr, followed: bool) -> fmt::Result {
    if followed && takes_else(expr) { write!(f, "({expr})") } else { write!(f, "{expr}") }
}

/// Prints an operand, in parentheses if it binds looser than its place needs.
fn operand(f: &mut Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    if expr.level() < least { write!(f, "({expr})") } else { write!(f, "{expr}") }
}

/// Prints the value after the `else` of an operator, which is a primary expression or the negative of one.
fn fallback(f: &mut Formatter<'_>, otherwise: Option<&Expr>) -> fmt::Result {
    let Some(expr) = otherwise else { return Ok(()) };
    let mut inner = expr;
    while let Kind::Neg(next) = &inner.kind {
        inner = next;
    }
    if inner.level() == level::PRIMARY { write!(f, " else {expr}") } else { write!(f, " else ({expr})") }
}

fn comma_separated<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Error => f.write_str("<error>"),
            Kind::Number { text, unit: None } => f.write_str(text),
            Kind::Number { text, unit: Some(unit) } => write!(f, "{text} {unit}"),
            Kind::Text(text) => {
                let quote = if text.contains('\'') { '"' } else { '\'' };
                write!(f, "{quote}{text}{quote}")
            }
            Kind::Bool(b) => write!(f, "{b}"),
            Kind::Name(name) => f.write_str(name),
            Kind::Not(inner) => {
                f.write_str("not ")?;
                operand(f, inner, level::NOT)
            }
            Kind::Neg(inner) => {
                f.write_char('-')?;
                operand(f, inner, level::NEG)
            }
            Kind::Binary { op, left, right, otherwise } => {
                let level = op.level();
                // Comparisons do not associate; the others do to the left.
                operand(f, left, if level == level::COMPARE { level + 1 } else { level })?;
                write!(f, " {} ", op.symbol())?;
                if otherwise.is_some() && takes_else(right) {
                    write!(f, "({right})")?;
                } else {
                    operand(f, right, level + 1)?;
                }
                fallback(f, otherwise.as_deref())
            }
            Kind::Power { base, exponent, otherwise } => {
                operand(f, base, level::PRIMARY)?;
                write!(f, "^{exponent}")?;
                fallback(f, otherwise.as_deref())
            }
            Kind::In { negated, item, list } => {
                operand(f, item, level::COMPARE + 1)?;
                f.write_str(if *negated { " not in [" } else { " in [" })?;
                comma_separated(f, list)?;
                f.write_char(']')
            }
            Kind::Call { name, args, clauses } => {
                write!(f, "{}(", name.name)?;
                let else_at = |at: usize| clauses.get(at).is_some_and(|c| matches!(c.kind, ClauseKind::Else(_)));
                for (at, arg) in args.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    before(f, arg, at + 1 == args.len() && else_at(0))?;
                }
                for (at, clause) in clauses.iter().enumerate() {
                    if at > 0 || !args.is_empty() {
                        f.write_char(' ')?;
                    }
                    clause.print(f, else_at(at + 1))?;
                }
                f.write_char(')')
            }
        }
    }
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Key {
    fn print(&self, f: &mut Formatter<'_>, followed: bool) -> fmt::Result {
        before(f, &self.expr, followed && self.descending.is_none())?;
        match self.descending {
            None => Ok(()),
            Some(false) => f.write_str(" asc"),
            Some(true) => f.write_str(" desc"),
        }
    }
}

impl Clause {
    /// Prints the clause; `followed` says that an `else` clause comes next.
    fn print(&self, f: &mut Formatter<'_>, followed: bool) -> fmt::Result {
        write!(f, "{} ", self.kind.word())?;
        match &self.kind {
            ClauseKind::Where(expr) => before(f, expr, followed),
            ClauseKind::Else(expr) => write!(f, "{expr}"),
            ClauseKind::Other(column) => write!(f, "{column}"),
            ClauseKind::Per(columns) if columns.is_empty() => f.write_str("all"),
            ClauseKind::Once(columns) | ClauseKind::Per(columns) => comma_separated(f, columns),
            ClauseKind::By(keys) => {
                for (at, key) in keys.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    key.print(f, followed && at + 1 == keys.len())?;
                }
                Ok(())
            }
        }
    }
}
