//! The checked form of a formula: a list of typed nodes, each after the nodes that it uses.
//!
//! Equal subexpressions are one node. Names are resolved, implicit conversions are nodes, and `case`, `in` and calls of
//! several arguments are taken apart, so that evaluation knows few operations.

use std::sync::Arc;

use agon_table::{Exact, Type, Value};
use rustc_hash::FxHashMap;

/// The number of a node.
pub(crate) type Id = usize;

/// A constant, comparable by what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Const {
    Bool(bool),
    Symbol(Arc<str>),
    Exact(Exact),
    /// The bits of a finite `f64`.
    Real(u64),
}

impl Const {
    pub fn real(value: f64) -> Self {
        Self::Real(normal(value).to_bits())
    }

    pub fn value(&self) -> Value {
        match self {
            Self::Bool(b) => Value::Bool(*b),
            Self::Symbol(s) => Value::Symbol(s.clone()),
            Self::Exact(e) => Value::Exact(e.clone()),
            Self::Real(bits) => Value::Real(f64::from_bits(*bits)),
        }
    }

    pub fn of(value: &Value) -> Self {
        match value {
            Value::Bool(b) => Self::Bool(*b),
            Value::Symbol(s) => Self::Symbol(s.clone()),
            Value::Exact(e) => Self::Exact(e.clone()),
            Value::Real(r) => Self::real(*r),
        }
    }
}

/// The same number with one zero instead of two.
pub(crate) fn normal(value: f64) -> f64 {
    value + 0.0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    Floor,
    Ceil,
    HalfEven,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RealFunction {
    Sqrt,
    Ln,
    Log2,
    Log10,
}

/// What a node computes. Operands of arithmetic are both exact or both real.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Const(Const),
    Column(Arc<str>),
    Aggregate(Box<Aggregate>),
    Not(Id),
    And(Id, Id),
    Or(Id, Id),
    /// Numbers.
    Compare(Compare, Id, Id),
    /// Truth values; the flag negates.
    BoolEq(bool, Id, Id),
    /// Symbols; the flag negates.
    SymbolEq(bool, Id, Id),
    /// Whether a symbol is one of these.
    SymbolIn(Id, Vec<Arc<str>>),
    If(Id, Id, Id),
    Neg(Id),
    Abs(Id),
    Arithmetic(Arithmetic, Id, Id),
    /// The last is the value where the divisor is zero. It is there unless the divisor is a constant.
    Div(Id, Id, Option<Id>),
    Mod(Id, Id, Option<Id>),
    Power(Id, i32, Option<Id>),
    /// To whole numbers; the result is exact also for a real.
    Round(Rounding, Id),
    /// The rounded quotient by an exact constant other than zero.
    RoundDiv(Rounding, Id, Exact),
    ToReal(Id),
    Real(RealFunction, Id, Option<Id>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fold {
    Sum,
    Count,
    Any,
    All,
    Min,
    Max,
    Mean,
    Median,
    /// Without this many at either end.
    TrimmedMean(usize),
    Distinct,
    /// The value at this place, from 0.
    Nth(usize),
    Only,
    Place,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Aggregate {
    pub fold: Fold,
    /// What is folded; `count` and `place` have none.
    pub value: Option<Id>,
    pub filter: Option<Id>,
    pub other: Option<Arc<str>>,
    pub once: Vec<Arc<str>>,
    /// Keys; the flag is for descending.
    pub by: Vec<(Id, bool)>,
    pub per: Vec<Arc<str>>,
    pub otherwise: Option<Id>,
}

impl Aggregate {
    /// The nodes that it looks at row by row, and so needs as whole columns.
    pub fn inputs(&self) -> impl Iterator<Item = Id> {
        self.value.into_iter().chain(self.filter).chain(self.by.iter().map(|(id, _)| *id))
    }
}

impl Op {
    /// Calls `f` with each operand.
    pub fn operands(&self, mut f: impl FnMut(Id)) {
        match self {
            Self::Const(_) | Self::Column(_) => {}
            Self::Aggregate(a) => a.inputs().chain(a.otherwise).for_each(f),
            Self::Not(a) | Self::SymbolIn(a, _) | Self::Neg(a) | Self::Abs(a) => f(*a),
            Self::Round(_, a) | Self::RoundDiv(_, a, _) | Self::ToReal(a) => f(*a),
            Self::And(a, b) | Self::Or(a, b) | Self::Compare(_, a, b) | Self::BoolEq(_, a, b) => {
                f(*a);
                f(*b);
            }
            Self::SymbolEq(_, a, b) | Self::Arithmetic(_, a, b) => {
                f(*a);
                f(*b);
            }
            Self::If(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Self::Div(a, b, c) | Self::Mod(a, b, c) => {
                f(*a);
                f(*b);
                c.iter().for_each(|c| f(*c));
            }
            Self::Power(a, _, c) | Self::Real(_, a, c) => {
                f(*a);
                c.iter().for_each(|c| f(*c));
            }
        }
    }
}

impl Op {
    /// The same operation on other operands: the constants of a fold, renumbered.
    #[must_use]
    pub fn with_operands(&self, mut f: impl FnMut(Id) -> Id) -> Self {
        let mut op = self.clone();
        match &mut op {
            Self::Const(_) | Self::Column(_) | Self::Aggregate(_) => {}
            Self::Not(a) | Self::SymbolIn(a, _) | Self::Neg(a) | Self::Abs(a) => *a = f(*a),
            Self::Round(_, a) | Self::RoundDiv(_, a, _) | Self::ToReal(a) => *a = f(*a),
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Compare(_, a, b)
            | Self::BoolEq(_, a, b)
            | Self::SymbolEq(_, a, b)
            | Self::Arithmetic(_, a, b) => {
                *a = f(*a);
                *b = f(*b);
            }
            Self::If(a, b, c) => {
                *a = f(*a);
                *b = f(*b);
                *c = f(*c);
            }
            Self::Div(a, b, c) | Self::Mod(a, b, c) => {
                *a = f(*a);
                *b = f(*b);
                *c = c.map(&mut f);
            }
            Self::Power(a, _, c) | Self::Real(_, a, c) => {
                *a = f(*a);
                *c = c.map(&mut f);
            }
        }
        op
    }
}

/// A node of a checked formula.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub op: Op,
    pub ty: Type,
    /// Where the first expression that became this node stands.
    pub span: std::ops::Range<usize>,
    /// An upper estimate of the bits of an exact number, for the limit on growth.
    pub bits: u64,
}

impl Node {
    pub fn constant(&self) -> Option<&Const> {
        match &self.op {
            Op::Const(c) => Some(c),
            _ => None,
        }
    }

    pub fn is_real(&self) -> bool {
        matches!(self.ty, Type::Number { real: true, .. })
    }
}

/// The nodes of one formula, with equal ones shared.
#[derive(Default, Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    known: FxHashMap<(Op, String), Id>,
}

impl Graph {
    /// The node that computes this, new or old.
    pub fn add(&mut self, node: Node) -> Id {
        // Only constants can be equal as operations and differ in type, by their unit or vocabulary.
        let ty = if matches!(node.op, Op::Const(_)) { node.ty.to_string() } else { String::new() };
        *self.known.entry((node.op.clone(), ty)).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        })
    }
}
