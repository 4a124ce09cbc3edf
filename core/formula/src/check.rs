//! Resolves names, checks types and units, folds constants: from the tree to the nodes of [`ir`](crate::ir).
//!
//! Every mistake is reported once. A part that has one gives no node, and whatever uses it is not checked further, but
//! its siblings are.

use std::ops::Range;
use std::sync::Arc;

use agon_table::{Dim, Exact, Type, parse_quantity};

use crate::Scope;
use crate::ast::{BinOp, Clause, ClauseKind, Expr, Ident, Kind};
use crate::error::{FormulaError, closest, listed, suggest};
use crate::eval::fold_constant;
use crate::ir::{Aggregate, Arithmetic, Compare, Const, Fold, Graph, Id, Node, Op, RealFunction, Rounding};

/// The functions of the language.
const FUNCTIONS: [&str; 24] = [
    "if",
    "case",
    "min",
    "max",
    "abs",
    "floor",
    "ceil",
    "round",
    "sqrt",
    "ln",
    "log10",
    "log2",
    "sum",
    "count",
    "any",
    "all",
    "mean",
    "median",
    "trimmed_mean",
    "distinct",
    "first",
    "nth",
    "only",
    "place",
];

const FUNCTION_SLIPS: &[(&str, &str)] = &[
    ("avg", "mean"),
    ("average", "mean"),
    ("exists", "any"),
    ("some", "any"),
    ("forall", "all"),
    ("every", "all"),
    ("rank", "place"),
    ("position", "place"),
    ("log", "ln"),
    ("ceiling", "ceil"),
    ("ite", "if"),
    ("iif", "if"),
    ("switch", "case"),
    ("unique", "distinct"),
    ("count_distinct", "distinct"),
    ("minimum", "min"),
    ("least", "min"),
    ("maximum", "max"),
    ("greatest", "max"),
    ("trunc", "floor"),
    ("total", "sum"),
    ("number", "count"),
    ("argmin", "first"),
    ("argmax", "first"),
];

/// An exact number of a formula may need this many bits; the estimate behind the limit is generous. It stops towers of
/// powers, not formulas.
const MAX_BITS: u64 = 1 << 17;

pub(crate) struct Checker<'a> {
    scope: &'a Scope,
    pub graph: Graph,
    pub errors: Vec<FormulaError>,
}

/// The type in a message.
fn shown(ty: &Type) -> String {
    match ty {
        Type::Symbol(Some(words)) if words.len() > 6 => format!("one of {}, …", words[..6].join(", ")),
        other => other.to_string(),
    }
}

/// Whether values of the two types can be equal texts.
fn overlap(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Symbol(Some(a)), Type::Symbol(Some(b))) => a.iter().any(|word| b.contains(word)),
        _ => true,
    }
}

impl<'a> Checker<'a> {
    pub fn new(scope: &'a Scope) -> Self {
        Self { scope, graph: Graph::default(), errors: Vec::new() }
    }

    fn error(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.errors.push(FormulaError::new(code, span.clone(), message).maybe_help(help));
    }

    fn ty(&self, id: Id) -> &Type {
        &self.graph.nodes[id].ty
    }

    fn constant(&self, id: Id) -> Option<&Const> {
        self.graph.nodes[id].constant()
    }

    fn exact_constant(&self, id: Id) -> Option<&Exact> {
        match self.constant(id) {
            Some(Const::Exact(e)) => Some(e),
            _ => None,
        }
    }

    /// The dimension and realness of a number.
    fn number(&self, id: Id) -> Option<(Dim, bool)> {
        match self.ty(id) {
            Type::Number { dim, real } => Some((*dim, *real)),
            _ => None,
        }
    }

    fn bits(&self, id: Id) -> u64 {
        self.graph.nodes[id].bits
    }

    /// Adds a constant.
    fn literal(&mut self, value: Const, ty: Type, span: &Range<usize>, estimate: u64) -> Id {
        let bits = match &value {
            Const::Exact(e) if e.as_i64().is_some() => 64,
            Const::Exact(e) if e.as_small().is_some() => 256,
            Const::Exact(_) => estimate.max(256),
            _ => 0,
        };
        self.graph.add(Node { op: Op::Const(value), ty, span: span.clone(), bits })
    }

    fn symbol(&mut self, text: &str, span: &Range<usize>) -> Id {
        self.literal(Const::Symbol(text.into()), Type::words([text]), span, 0)
    }

    /// Adds a node, or the constant that it is.
    fn node(&mut self, op: Op, ty: Type, span: &Range<usize>) -> Option<Id> {
        let mut folds = !matches!(op, Op::Column(_) | Op::Aggregate(_));
        op.operands(|id| folds &= self.constant(id).is_some());
        let bits = match ty {
            Type::Number { real: false, .. } => self.estimate(&op),
            _ => 0,
        };
        if bits > MAX_BITS {
            let help = Some("a tower of powers or products is too high".to_string());
            self.error("formula/too-large", span, "the numbers that this makes can become too large", help);
            return None;
        }
        let node = Node { op, ty, span: span.clone(), bits };
        if !folds {
            return Some(self.graph.add(node));
        }
        let ty = node.ty.clone();
        match fold_constant(&self.graph.nodes, node) {
            Ok(value) => {
                let value = Const::of(&value);
                let ty = match &value {
                    Const::Symbol(text) => Type::words([&**text]),
                    _ => ty,
                };
                Some(self.literal(value, ty, span, bits))
            }
            Err(message) => {
                self.error("formula/overflow", span, message, None);
                None
            }
        }
    }

    /// An upper estimate of the bits that an exact result has.
    fn estimate(&self, op: &Op) -> u64 {
        let of = |id: &Id| self.bits(*id);
        match op {
            Op::Column(_) => 128,
            Op::If(_, a, b) | Op::Arithmetic(Arithmetic::Min | Arithmetic::Max, a, b) => of(a).max(of(b)),
            Op::Arithmetic(_, a, b) => of(a) + of(b),
            Op::Div(a, b, c) | Op::Mod(a, b, c) => (of(a) + of(b)).max(c.as_ref().map_or(0, of)),
            Op::Power(a, e, c) => (of(a) * u64::from(e.unsigned_abs())).max(c.as_ref().map_or(0, of)),
            Op::RoundDiv(_, a, _) => of(a) + 256,
            // A real has at most 1024 bits before its point.
            Op::Round(_, a) => of(a).max(1024),
            Op::Neg(a) | Op::Abs(a) => of(a),
            Op::Aggregate(a) => a.value.map_or(64, |v| of(&v) + 64).max(a.otherwise.as_ref().map_or(0, of)),
            _ => 64,
        }
    }

    /// The same number as a real.
    fn as_real_node(&mut self, id: Id) -> Option<Id> {
        match self.number(id) {
            Some((dim, false)) => {
                let span = self.graph.nodes[id].span.clone();
                self.node(Op::ToReal(id), Type::Number { dim, real: true }, &span)
            }
            _ => Some(id),
        }
    }

    /// Makes both real if one is.
    fn same_kind(&mut self, a: Id, b: Id) -> Option<(Id, Id)> {
        if self.graph.nodes[a].is_real() || self.graph.nodes[b].is_real() {
            return Some((self.as_real_node(a)?, self.as_real_node(b)?));
        }
        Some((a, b))
    }

    fn resolves(&self, name: &str) -> bool {
        self.scope.columns.contains_key(name) || self.scope.constants.contains_key(name) || self.unknown(name)
    }

    /// Whether nothing can be said about the name.
    fn unknown(&self, name: &str) -> bool {
        self.scope.unknown.contains(name) || (self.scope.open && !self.vocabulary(name))
    }

    /// Whether the name is a word of some column, so that an open scope does not swallow it.
    fn vocabulary(&self, name: &str) -> bool {
        self.scope.columns.values().any(|ty| matches!(ty, Type::Symbol(Some(words)) if words.iter().any(|w| w == name)))
    }

    /// Whether the expression is made of words whose meaning depends on what they are compared with.
    fn contextual(&self, e: &Expr) -> bool {
        match &e.kind {
            Kind::Name(name) => !self.resolves(name),
            Kind::Text(_) => true,
            Kind::Call { name, args, .. } if matches!(&*name.name, "if" | "case") && !args.is_empty() => {
                self.branches(args).all(|b| self.contextual(b))
            }
            _ => false,
        }
    }

    /// The values among the arguments of `if` and `case`.
    fn branches<'e>(&self, args: &'e [Expr]) -> impl Iterator<Item = &'e Expr> {
        let last = args.len() - 1;
        args.iter().enumerate().filter(move |(at, _)| at % 2 == 1 || *at == last).map(|(_, e)| e)
    }

    /// The node of an expression; `want` is the type that bare words belong to.
    pub fn check(&mut self, e: &Expr, want: Option<&Type>) -> Option<Id> {
        let span = &e.span;
        match &e.kind {
            Kind::Error => None,
            Kind::Number { text, unit } => {
                let text = match unit {
                    Some(unit) => format!("{text} {unit}"),
                    None => text.clone(),
                };
                // The parser has tried it already.
                let (value, dim) = parse_quantity(&text).ok()?;
                let estimate = text.len() as u64 * 4 + 2048;
                Some(self.literal(Const::Exact(value), Type::Number { dim, real: false }, span, estimate))
            }
            Kind::Bool(b) => Some(self.literal(Const::Bool(*b), Type::Bool, span, 0)),
            Kind::Text(text) => {
                if let Some(Type::Symbol(Some(words))) = want
                    && !words.contains(text)
                {
                    self.not_a_word(text, words, span);
                    return None;
                }
                Some(self.symbol(text, span))
            }
            Kind::Name(name) => self.name(name, want, span),
            Kind::Not(inner) => {
                let a = self.condition(inner, "`not`")?;
                self.node(Op::Not(a), Type::Bool, span)
            }
            Kind::Neg(inner) => {
                let a = self.check(inner, None);
                let a = self.a_number(a?, "`-`")?;
                self.node(Op::Neg(a), self.ty(a).clone(), span)
            }
            Kind::Binary { op: BinOp::And | BinOp::Or, .. } => self.logic(e),
            Kind::Binary { op: op @ (BinOp::Add | BinOp::Sub), left, right, .. } => {
                let (a, b) = self.numbers(left, right, op.symbol())?;
                let (a_dim, b_dim) = (self.number(a)?.0, self.number(b)?.0);
                if a_dim != b_dim {
                    let verb = if *op == BinOp::Add { "add" } else { "subtract" };
                    self.dimensions(span, verb, a, b);
                    return None;
                }
                let (a, b) = self.same_kind(a, b)?;
                let arithmetic = if *op == BinOp::Add { Arithmetic::Add } else { Arithmetic::Sub };
                self.node(Op::Arithmetic(arithmetic, a, b), self.ty(a).clone(), span)
            }
            Kind::Binary { op: BinOp::Mul, left, right, .. } => {
                let (a, b) = self.numbers(left, right, "*")?;
                let (a, b) = self.same_kind(a, b)?;
                let ((a_dim, real), (b_dim, _)) = (self.number(a)?, self.number(b)?);
                let dim = self.dimension(a_dim, b_dim, 1, span)?;
                self.node(Op::Arithmetic(Arithmetic::Mul, a, b), Type::Number { dim, real }, span)
            }
            Kind::Binary { op: op @ (BinOp::Div | BinOp::Mod), left, right, otherwise } => {
                self.quotient(*op, left, right, otherwise.as_deref(), span)
            }
            Kind::Binary { op, left, right, .. } => self.comparison(*op, left, right, span),
            Kind::Power { base, exponent, otherwise } => self.power(base, *exponent, otherwise.as_deref(), span),
            Kind::In { negated, item, list } => self.membership(*negated, item, list, span),
            Kind::Call { name, args, clauses } => self.call(name, args, clauses, want, span),
        }
    }

    fn not_a_word(&mut self, text: &str, words: &[String], span: &Range<usize>) {
        let known = words.iter().map(String::as_str);
        let help = suggest(text, "words here", known);
        self.error("formula/unknown-word", span, format!("`{text}` is not a word that can stand here"), help);
    }

    fn name(&mut self, name: &str, want: Option<&Type>, span: &Range<usize>) -> Option<Id> {
        if let Some(ty) = self.scope.columns.get(name) {
            return self.node(Op::Column(name.into()), ty.clone(), span);
        }
        if let Some((ty, value)) = self.scope.constants.get(name) {
            let mut value = Const::of(value);
            let ty = match (&value, ty) {
                (Const::Bool(_), Type::Bool) => Type::Bool,
                (Const::Symbol(_), Type::Symbol(_)) => ty.clone(),
                (Const::Exact(_), Type::Number { real: false, .. }) => ty.clone(),
                (Const::Exact(e), Type::Number { .. }) => {
                    value = Const::real(e.to_f64());
                    ty.clone()
                }
                (Const::Real(_), Type::Number { dim, .. }) => Type::Number { dim: *dim, real: true },
                _ => {
                    let message = format!("the constant `{name}` has a value that is not {}", shown(ty));
                    self.error("formula/constant", span, message, None);
                    return None;
                }
            };
            if let Const::Real(bits) = value
                && !f64::from_bits(bits).is_finite()
            {
                let message = format!("the constant `{name}` is not finite");
                self.error("formula/constant", span, message, None);
                return None;
            }
            return Some(self.literal(value, ty, span, 4096));
        }
        if self.scope.unknown.contains(name) {
            return None;
        }
        match want {
            Some(Type::Symbol(None)) => return Some(self.symbol(name, span)),
            Some(Type::Symbol(Some(words))) => {
                if words.iter().any(|w| w == name) {
                    return Some(self.symbol(name, span));
                }
                let known = words.iter().map(String::as_str);
                let columns: Vec<&str> = self.names().collect();
                let help = match (closest(name, known.clone()), closest(name, columns)) {
                    (None, Some(column)) => Some(format!("did you mean the column `{column}`?")),
                    _ => suggest(name, "words here", known),
                };
                self.error("formula/unknown-word", span, format!("`{name}` is not a word that can stand here"), help);
                return None;
            }
            _ => {}
        }
        if !self.scope.open {
            self.unknown_name(name, span);
        }
        None
    }

    fn names(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.scope.columns.keys().chain(self.scope.constants.keys()).chain(&self.scope.unknown).map(String::as_str)
    }

    fn unknown_name(&mut self, name: &str, span: &Range<usize>) {
        let parts: Vec<&str> = name.split('-').collect();
        let lower = name.to_lowercase();
        let help = if parts.len() > 1 && parts.iter().all(|p| self.resolves(p)) {
            Some(format!("a minus has spaces around it: `{}`", parts.join(" - ")))
        } else if matches!(&*lower, "true" | "false") {
            Some(format!("did you mean `{lower}`?"))
        } else if matches!(&*lower, "null" | "none" | "nil" | "nan") {
            Some("every value is there; what stands for a missing one is said by the column".into())
        } else {
            match closest(name, self.names()) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None if FUNCTIONS.contains(&name) => {
                    Some(format!("`{name}` is a function and is called with parentheses: `{name}(…)`"))
                }
                None => suggest(name, "names", self.names()),
            }
        };
        self.error("formula/unknown-name", span, format!("there is no column or constant `{name}`"), help);
    }

    /// Something that must be true or false.
    fn condition(&mut self, e: &Expr, place: &str) -> Option<Id> {
        let id = self.check(e, None)?;
        if *self.ty(id) == Type::Bool {
            return Some(id);
        }
        let ty = shown(self.ty(id));
        let help = match self.ty(id) {
            Type::Symbol(_) => Some(format!("compare it with something: `{e} == …`")),
            _ => Some(format!("compare it with something: `{e} > 0`")),
        };
        self.error("formula/type", &e.span, format!("{place} takes a condition, and this is {ty}"), help);
        None
    }

    fn a_number(&mut self, id: Id, place: &str) -> Option<Id> {
        if self.number(id).is_some() {
            return Some(id);
        }
        let span = self.graph.nodes[id].span.clone();
        let help = match self.ty(id) {
            Type::Bool => Some("turn a condition into a number with `if(condition, 1, 0)`".to_string()),
            _ => None,
        };
        let ty = shown(self.ty(id));
        self.error("formula/type", &span, format!("{place} takes numbers, and this is {ty}"), help);
        None
    }

    /// Both sides of an arithmetic operator.
    fn numbers(&mut self, left: &Expr, right: &Expr, symbol: &str) -> Option<(Id, Id)> {
        let place = format!("`{symbol}`");
        let a = self.check(left, None).and_then(|id| self.number_at(id, &left.span, &place));
        let b = self.check(right, None).and_then(|id| self.number_at(id, &right.span, &place));
        Some((a?, b?))
    }

    /// Like `a_number`, where the same node may stand in several places.
    fn number_at(&mut self, id: Id, span: &Range<usize>, place: &str) -> Option<Id> {
        let before = self.errors.len();
        let result = self.a_number(id, place);
        if let Some(error) = self.errors.get_mut(before) {
            error.span = span.clone();
        }
        result
    }

    fn dimensions(&mut self, span: &Range<usize>, verb: &str, a: Id, b: Id) {
        let (ta, tb) = (self.ty(a).clone(), self.ty(b).clone());
        let (joint, order) = match verb {
            "subtract" => ("from", [&tb, &ta]),
            "add" => ("to", [&tb, &ta]),
            _ => ("with", [&ta, &tb]),
        };
        let message = format!("cannot {verb} {} {joint} {}", order[0], order[1]);
        let units = |ty: &Type| match ty {
            Type::Number { dim, .. } if *dim == Dim::TIME => Some("s"),
            Type::Number { dim, .. } if *dim == Dim::MEMORY => Some("B"),
            _ => None,
        };
        let pure = |ty: &Type| matches!(ty, Type::Number { dim, .. } if *dim == Dim::NONE);
        let help = match (units(&ta), units(&tb)) {
            (Some(unit), None) if pure(&tb) => Some((unit, b)),
            (None, Some(unit)) if pure(&ta) => Some((unit, a)),
            _ => None,
        }
        .map(|(unit, id)| match self.exact_constant(id) {
            Some(number) => format!("give the number a unit: `{} {unit}`", number.to_short_decimal(9)),
            None => format!("give the pure number a unit by multiplying it with `1 {unit}`"),
        });
        self.error("formula/dimension", span, message, help);
    }

    fn dimension(&mut self, a: Dim, b: Dim, times: i32, span: &Range<usize>) -> Option<Dim> {
        let power = |x: i8, y: i8| i8::try_from(i32::from(x) + times * i32::from(y)).ok().filter(|p| p.abs() <= 16);
        let dim = power(a.time, b.time).zip(power(a.memory, b.memory)).map(|(time, memory)| Dim { time, memory });
        if dim.is_none() {
            self.error(
                "formula/dimension",
                span,
                "the power of the unit is beyond anything that means something",
                None,
            );
        }
        dim
    }

    fn logic(&mut self, e: &Expr) -> Option<Id> {
        let Kind::Binary { op, left, right, .. } = &e.kind else { return None };
        let place = format!("`{}`", op.symbol());
        let a = self.condition(left, &place);
        let b = self.condition(right, &place);
        let names = self.names();
        if let (Some(word), Kind::Binary { op: BinOp::Eq, left: subject, .. }) = (self.errors.last_mut(), &left.kind)
            && word.span == right.span
            && word.code == "formula/unknown-name"
            && let Kind::Name(name) = &right.kind
            && closest(name, names).is_none()
        {
            // `x == a or b`, the commonest slip of all.
            word.help = Some(format!("write the comparison again: `{left} {} {subject} == {right}`", op.symbol()));
        }
        let (a, b) = (a?, b?);
        self.node(if *op == BinOp::And { Op::And(a, b) } else { Op::Or(a, b) }, Type::Bool, &e.span)
    }

    fn quotient(
        &mut self,
        op: BinOp,
        left: &Expr,
        right: &Expr,
        otherwise: Option<&Expr>,
        span: &Range<usize>,
    ) -> Option<Id> {
        let operands = self.numbers(left, right, op.symbol());
        let fallback = otherwise.map(|e| {
            let id = self.check(e, None);
            id.and_then(|id| self.number_at(id, &e.span, "the `else` of a division"))
        });
        let (a, b) = operands?;
        let ((a_dim, _), (b_dim, _)) = (self.number(a)?, self.number(b)?);
        let zero = match self.constant(b) {
            Some(Const::Exact(e)) => Some(e.is_zero()),
            Some(Const::Real(bits)) => Some(*bits == 0),
            _ => None,
        };
        match (zero, &fallback) {
            (Some(true), None) => {
                self.error("formula/zero", span, "this divides by zero", None);
                return None;
            }
            (None, None) => {
                let what = if op == BinOp::Div { "division" } else { "remainder" };
                let value = match (op, self.ty(a), self.ty(b)) {
                    (BinOp::Div, ta, tb) if ta != tb && matches!(ta, Type::Number { dim: Dim::TIME, .. }) => "0 s",
                    (BinOp::Mod, Type::Number { dim: Dim::TIME, .. }, _) => "0 s",
                    _ => "0",
                };
                let symbol = op.symbol();
                let right_text =
                    if right.level() < crate::ast::level::NEG { format!("({right})") } else { right.to_string() };
                self.error(
                    "formula/missing-else",
                    span,
                    format!("this {what} has no value where `{right}` is 0, so it needs an `else`"),
                    Some(format!("say what it is worth there: `{left} {symbol} {right_text} else {value}`")),
                );
                return None;
            }
            _ => {}
        }
        let dim = if op == BinOp::Div {
            self.dimension(a_dim, b_dim, -1, span)?
        } else {
            if a_dim != b_dim {
                self.dimensions(span, "take the remainder of", a, b);
                return None;
            }
            a_dim
        };
        let fallback = match fallback {
            None => None,
            Some(id) => Some(self.fallback(id?, dim, otherwise.map_or(span.clone(), |e| e.span.clone()))?),
        };
        let (mut a, mut b) = self.same_kind(a, b)?;
        let mut fallback = fallback;
        if let Some(f) = fallback
            && (self.graph.nodes[f].is_real() || self.graph.nodes[a].is_real())
        {
            (a, b) = (self.as_real_node(a)?, self.as_real_node(b)?);
            fallback = Some(self.as_real_node(f)?);
        }
        if zero == Some(true) {
            return fallback;
        }
        if zero == Some(false) {
            // The fallback of a division that always has a value only decides whether the result is real.
            fallback = None;
        }
        let ty = Type::Number { dim, real: self.graph.nodes[a].is_real() };
        self.node(if op == BinOp::Div { Op::Div(a, b, fallback) } else { Op::Mod(a, b, fallback) }, ty, span)
    }

    /// Checks that a fallback has the dimension of what it stands in for.
    fn fallback(&mut self, id: Id, dim: Dim, span: Range<usize>) -> Option<Id> {
        let (own, _) = self.number(id)?;
        if own == dim {
            return Some(id);
        }
        let expected = Type::Number { dim, real: false };
        let help = match (dim, self.exact_constant(id)) {
            (Dim::TIME, Some(n)) if own == Dim::NONE => Some(format!("write `{} s`", n.to_short_decimal(9))),
            (Dim::MEMORY, Some(n)) if own == Dim::NONE => Some(format!("write `{} B`", n.to_short_decimal(9))),
            _ => Some(
                "an `else` belongs to the operator right before it; put that in parentheses if the call around is meant"
                    .to_string(),
            ),
        };
        let message = format!("the value after `else` is {}, and what it stands in for is {expected}", self.ty(id));
        self.error("formula/dimension", &span, message, help);
        None
    }

    fn power(&mut self, base: &Expr, exponent: i32, otherwise: Option<&Expr>, span: &Range<usize>) -> Option<Id> {
        let a = self.check(base, None).and_then(|id| self.number_at(id, &base.span, "`^`"));
        let fallback = otherwise.map(|e| (e, self.check(e, None)));
        let a = a?;
        let (a_dim, _) = self.number(a)?;
        let zero = match self.constant(a) {
            Some(Const::Exact(e)) => Some(e.is_zero()),
            Some(Const::Real(bits)) => Some(*bits == 0),
            _ => None,
        };
        if exponent < 0 && fallback.is_none() && zero != Some(false) {
            self.error(
                "formula/missing-else",
                span,
                format!("a negative power has no value where `{base}` is 0, so it needs an `else`"),
                Some(format!("say what it is worth there: `{base}^{exponent} else 0`")),
            );
            return None;
        }
        let dim = self.dimension(Dim::NONE, a_dim, exponent, span)?;
        let mut a = a;
        let mut fallback = match fallback {
            None => None,
            Some((e, id)) => {
                let id = self.number_at(id?, &e.span, "the `else` of a power")?;
                let id = self.fallback(id, dim, e.span.clone())?;
                let (x, y) = self.same_kind(a, id)?;
                a = x;
                Some(y)
            }
        };
        if exponent < 0 && zero == Some(true) {
            return fallback;
        }
        if exponent >= 0 || zero == Some(false) {
            fallback = None;
        }
        let ty = Type::Number { dim, real: self.graph.nodes[a].is_real() };
        self.node(Op::Power(a, exponent, fallback), ty, span)
    }

    fn comparison(&mut self, op: BinOp, left: &Expr, right: &Expr, span: &Range<usize>) -> Option<Id> {
        // The side that knows its type goes first and says what the words of the other one are.
        let (a, b) = if self.contextual(left) && !self.contextual(right) {
            let b = self.check(right, None);
            let want = b.map(|b| self.ty(b).clone());
            // Without a type to go by, a word would be reported for want of the other side's correction.
            let a = if b.is_some() { self.check(left, want.as_ref()) } else { None };
            (a, b)
        } else {
            // Of two words that nothing is known about, the one that looks like a name is the misspelt one.
            let near = |e: &Expr| matches!(&e.kind, Kind::Name(name) if closest(name, self.names()).is_some());
            if self.contextual(left) && near(right) && !near(left) {
                self.check(right, None);
                return None;
            }
            let a = self.check(left, None);
            let want = a.map(|a| self.ty(a).clone());
            let b = if a.is_none() && self.contextual(right) { None } else { self.check(right, want.as_ref()) };
            (a, b)
        };
        self.compare(op, a?, b?, span)
    }

    fn compare(&mut self, op: BinOp, a: Id, b: Id, span: &Range<usize>) -> Option<Id> {
        let (ta, tb) = (self.ty(a).clone(), self.ty(b).clone());
        let compare = match op {
            BinOp::Eq => Compare::Eq,
            BinOp::Ne => Compare::Ne,
            BinOp::Lt => Compare::Lt,
            BinOp::Le => Compare::Le,
            BinOp::Gt => Compare::Gt,
            _ => Compare::Ge,
        };
        let negated = compare == Compare::Ne;
        let equality = matches!(compare, Compare::Eq | Compare::Ne);
        match (&ta, &tb) {
            (Type::Number { dim: x, .. }, Type::Number { dim: y, .. }) => {
                if x != y {
                    self.dimensions(span, "compare", a, b);
                    return None;
                }
                let (a, b) = self.same_kind(a, b)?;
                self.node(Op::Compare(compare, a, b), Type::Bool, span)
            }
            (Type::Bool, Type::Bool) | (Type::Symbol(_), Type::Symbol(_)) if !equality => {
                let what = if ta == Type::Bool { "conditions" } else { "texts" };
                self.error(
                    "formula/type",
                    span,
                    format!("{what} have no order, so `{}` does not compare them", op.symbol()),
                    Some("compare them with `==` or `!=`".into()),
                );
                None
            }
            (Type::Bool, Type::Bool) => self.node(Op::BoolEq(negated, a, b), Type::Bool, span),
            (Type::Symbol(_), Type::Symbol(_)) => {
                if !overlap(&ta, &tb) {
                    let message = format!("these are never equal: one is {}, the other {}", shown(&ta), shown(&tb));
                    self.error("formula/unknown-word", span, message, None);
                    return None;
                }
                // The constant goes to the right.
                let (a, b) = if self.constant(a).is_some() { (b, a) } else { (a, b) };
                self.node(Op::SymbolEq(negated, a, b), Type::Bool, span)
            }
            _ => {
                let message = format!("cannot compare {} with {}", shown(&ta), shown(&tb));
                self.error("formula/type", span, message, None);
                None
            }
        }
    }

    fn membership(&mut self, negated: bool, item: &Expr, list: &[Expr], span: &Range<usize>) -> Option<Id> {
        // A word asks the list what it is.
        let context = match list.iter().find(|e| !self.contextual(e)) {
            Some(known) if self.contextual(item) => self.check(known, None).map(|id| self.ty(id).clone()),
            _ => None,
        };
        let subject = self.check(item, context.as_ref());
        let want = context.or_else(|| subject.map(|id| self.ty(id).clone()));
        let mut members = Vec::with_capacity(list.len());
        for e in list {
            if subject.is_none() && self.contextual(e) {
                continue;
            }
            members.push(self.check(e, want.as_ref()).map(|id| (id, e)));
        }
        let subject = subject?;
        let members: Vec<(Id, &Expr)> = members.into_iter().collect::<Option<_>>()?;
        let words: Option<Vec<Arc<str>>> = members
            .iter()
            .map(|(id, _)| match self.constant(*id) {
                Some(Const::Symbol(text)) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let mut found = None;
        match words {
            Some(mut words) if matches!(self.ty(subject), Type::Symbol(_)) && words.len() > 1 => {
                words.sort();
                words.dedup();
                found = self.node(Op::SymbolIn(subject, words), Type::Bool, span);
            }
            _ => {
                for (id, e) in members {
                    let one = self.compare(BinOp::Eq, subject, id, &e.span)?;
                    found = Some(match found {
                        None => one,
                        Some(so_far) => self.node(Op::Or(so_far, one), Type::Bool, span)?,
                    });
                }
            }
        }
        let found = found?;
        if negated { self.node(Op::Not(found), Type::Bool, span) } else { Some(found) }
    }

    /// The common type of two values of which one is chosen, with the values converted to it.
    fn unify(&mut self, a: Id, b: Id, what: &str, span: &Range<usize>) -> Option<(Id, Id, Type)> {
        let (ta, tb) = (self.ty(a).clone(), self.ty(b).clone());
        match (&ta, &tb) {
            (Type::Bool, Type::Bool) => Some((a, b, Type::Bool)),
            (Type::Symbol(x), Type::Symbol(y)) => {
                let ty = match (x, y) {
                    (Some(x), Some(y)) => Type::words(x.iter().chain(y.iter()).cloned()),
                    _ => Type::TEXT,
                };
                Some((a, b, ty))
            }
            (Type::Number { dim: x, .. }, Type::Number { dim: y, .. }) if x == y => {
                let (a, b) = self.same_kind(a, b)?;
                Some((a, b, self.ty(a).clone()))
            }
            _ => {
                let help = match (&ta, &tb) {
                    (Type::Number { dim: Dim::NONE, .. }, Type::Number { dim, .. })
                    | (Type::Number { dim, .. }, Type::Number { dim: Dim::NONE, .. }) => match *dim {
                        Dim::TIME => Some("give the pure number a unit, for instance `0 s`".to_string()),
                        Dim::MEMORY => Some("give the pure number a unit, for instance `0 B`".to_string()),
                        _ => None,
                    },
                    _ => None,
                };
                let code = if ta.is_number() && tb.is_number() { "formula/dimension" } else { "formula/type" };
                let message =
                    format!("{what} must be of one type, but one is {} and one is {}", shown(&ta), shown(&tb));
                self.error(code, span, message, help);
                None
            }
        }
    }

    fn choice(&mut self, name: &str, args: &[Expr], want: Option<&Type>, span: &Range<usize>) -> Option<Id> {
        let wrong = match name {
            "if" => args.len() != 3,
            _ => args.len() < 3 || args.len().is_multiple_of(2),
        };
        if wrong {
            let help = if name == "if" {
                "write `if(condition, value, other value)`"
            } else {
                "write `case(condition, value, condition, value, …, other value)`"
            };
            let count = args.len();
            self.error(
                "formula/arguments",
                span,
                format!("`{name}` does not take {count} arguments"),
                Some(help.into()),
            );
            for arg in args {
                if !self.contextual(arg) {
                    self.check(arg, None);
                }
            }
            return None;
        }
        let conditions: Vec<Option<Id>> =
            args[..args.len() - 1].iter().step_by(2).map(|e| self.condition(e, &format!("`{name}`"))).collect();
        let branches: Vec<&Expr> = self.branches(args).collect();
        let mut values: Vec<Option<Id>> = vec![None; branches.len()];
        let mut failed = false;
        // Branches that know their type say what the words of the others are.
        let mut context: Option<Type> = want.cloned();
        let mut known: Option<Type> = None;
        for (value, e) in values.iter_mut().zip(&branches) {
            if !self.contextual(e) || matches!(e.kind, Kind::Text(_)) {
                *value = self.check(e, want);
                failed |= value.is_none();
                let ty = value.map(|id| self.ty(id).clone());
                known = match (known, ty) {
                    (Some(Type::Symbol(Some(x))), Some(Type::Symbol(Some(y)))) => {
                        Some(Type::words(x.iter().chain(y.iter()).cloned()))
                    }
                    (Some(Type::Symbol(_)), Some(Type::Symbol(_))) => Some(Type::TEXT),
                    (None, ty) => ty,
                    (known, _) => known,
                };
            }
        }
        if context.is_none() {
            context = known;
        }
        // Of words that nothing is known about, those that look like names are the misspelt ones.
        let near = |e: &Expr| matches!(&e.kind, Kind::Name(name) if closest(name, self.names()).is_some());
        let misspelt = context.is_none() && branches.iter().any(|e| self.contextual(e) && near(e));
        let doubtful: Vec<bool> = branches.iter().map(|e| !misspelt || near(e)).collect();
        for ((value, e), doubtful) in values.iter_mut().zip(&branches).zip(doubtful) {
            if self.contextual(e) && !matches!(e.kind, Kind::Text(_)) && doubtful && !(failed && context.is_none()) {
                *value = self.check(e, context.as_ref());
            }
        }
        let values: Vec<Id> = values.into_iter().collect::<Option<_>>()?;
        let mut result = *values.last()?;
        for at in (0..values.len() - 1).rev() {
            let (a, b, ty) = self.unify(values[at], result, &format!("the values of `{name}`"), span)?;
            result = match conditions[at] {
                Some(condition) => self.node(Op::If(condition, a, b), ty, span)?,
                // The types are still compared, a wrong condition says nothing about them.
                None => b,
            };
        }
        conditions.iter().all(Option::is_some).then_some(result)
    }

    fn call(
        &mut self,
        name: &Ident,
        args: &[Expr],
        clauses: &[Clause],
        want: Option<&Type>,
        span: &Range<usize>,
    ) -> Option<Id> {
        let function = &*name.name;
        let is_fold = match function {
            "min" | "max" => args.len() < 2,
            "sum" | "count" | "any" | "all" | "mean" | "median" | "trimmed_mean" | "distinct" | "first" | "nth"
            | "only" | "place" => true,
            _ => false,
        };
        if is_fold {
            return self.aggregate(name, args, clauses, span);
        }
        if !FUNCTIONS.contains(&function) {
            self.unknown_function(name, args, clauses);
            return None;
        }
        let takes_else = matches!(function, "sqrt" | "ln" | "log10" | "log2");
        let mut otherwise = None;
        for clause in clauses {
            match &clause.kind {
                ClauseKind::Else(e) if takes_else => otherwise = Some(e),
                kind => {
                    let word = kind.word();
                    let help = match function {
                        "min" | "max" => Some(format!(
                            "with several arguments `{function}` compares values of one row; over rows it has one argument"
                        )),
                        _ => Some(format!("`{function}` looks at one row; clauses belong to aggregates such as `sum`")),
                    };
                    self.error("formula/clause", &clause.span, format!("`{function}` takes no `{word}`"), help);
                }
            }
        }
        match function {
            "if" | "case" => self.choice(function, args, want, span),
            "min" | "max" => {
                let ids: Vec<Option<Id>> = args
                    .iter()
                    .map(|e| {
                        let id = self.check(e, None)?;
                        self.number_at(id, &e.span, &format!("`{function}`"))
                    })
                    .collect();
                let ids: Vec<Id> = ids.into_iter().collect::<Option<_>>()?;
                let arithmetic = if function == "min" { Arithmetic::Min } else { Arithmetic::Max };
                let mut result = ids[0];
                for id in &ids[1..] {
                    let (a, b, ty) = self.unify(result, *id, &format!("the arguments of `{function}`"), span)?;
                    result = self.node(Op::Arithmetic(arithmetic, a, b), ty, span)?;
                }
                Some(result)
            }
            "round" if args.len() == 2 => self.round_to_step(&args[0], &args[1], span),
            _ => {
                let [arg] = args else {
                    let expected = if function == "round" { "one or two arguments" } else { "one argument" };
                    let message = format!("`{function}` takes {expected}, not {}", args.len());
                    self.error("formula/arguments", span, message, None);
                    return None;
                };
                let id = self.check(arg, None);
                let fallback = otherwise.map(|e| (e, self.check(e, None)));
                let id = self.number_at(id?, &arg.span, &format!("`{function}`"))?;
                let (dim, _) = self.number(id)?;
                if function == "abs" {
                    return self.node(Op::Abs(id), self.ty(id).clone(), span);
                }
                if dim != Dim::NONE {
                    let unit = match dim {
                        Dim::TIME => "1 s".to_string(),
                        Dim::MEMORY => "1 MB".to_string(),
                        dim => format!("a value in {dim}"),
                    };
                    let arg_text =
                        if arg.level() < crate::ast::level::MUL { format!("({arg})") } else { arg.to_string() };
                    let mut help = format!("divide by a unit: `{function}({arg_text} / {unit})`");
                    if function == "round" {
                        help += &format!(", or round to a step: `round({arg}, {unit})`");
                    }
                    let message = format!("`{function}` takes a pure number, and this is {}", self.ty(id));
                    self.error("formula/dimension", &arg.span, message, Some(help));
                    return None;
                }
                match function {
                    "floor" => self.round(Rounding::Floor, id, span),
                    "ceil" => self.round(Rounding::Ceil, id, span),
                    "round" => self.round(Rounding::HalfEven, id, span),
                    _ => self.real_function(function, id, fallback, span),
                }
            }
        }
    }

    fn round(&mut self, rounding: Rounding, id: Id, span: &Range<usize>) -> Option<Id> {
        // The commonest form by far, `floor(time / 1 s)`, needs no fraction in between.
        if let Op::Div(a, b, None) = self.graph.nodes[id].op
            && let Some(step) = self.exact_constant(b)
            && !self.graph.nodes[a].is_real()
        {
            return self.node(Op::RoundDiv(rounding, a, step.clone()), Type::NUMBER, span);
        }
        self.node(Op::Round(rounding, id), Type::NUMBER, span)
    }

    fn round_to_step(&mut self, value: &Expr, step: &Expr, span: &Range<usize>) -> Option<Id> {
        let x = self.check(value, None).and_then(|id| self.number_at(id, &value.span, "`round`"));
        let step_id = self.check(step, None).and_then(|id| self.number_at(id, &step.span, "`round`"));
        let (x, step_id) = (x?, step_id?);
        let Some(size) = self.exact_constant(step_id).filter(|e| e.signum() > 0).cloned() else {
            let message = "the step of `round` is a constant above zero";
            self.error("formula/not-constant", &step.span, message, Some("for instance `round(cpu, 0.01 s)`".into()));
            return None;
        };
        let (dim, _) = self.number(x)?;
        if dim != self.number(step_id)?.0 {
            self.dimensions(span, "round", x, step_id);
            return None;
        }
        let steps = self.node(Op::RoundDiv(Rounding::HalfEven, x, size), Type::NUMBER, span)?;
        let ty = Type::Number { dim, real: false };
        self.node(Op::Arithmetic(Arithmetic::Mul, steps, step_id), ty, span)
    }

    fn real_function(
        &mut self,
        function: &str,
        id: Id,
        fallback: Option<(&Expr, Option<Id>)>,
        span: &Range<usize>,
    ) -> Option<Id> {
        let (real, zero_allowed) = match function {
            "sqrt" => (RealFunction::Sqrt, true),
            "ln" => (RealFunction::Ln, false),
            "log2" => (RealFunction::Log2, false),
            _ => (RealFunction::Log10, false),
        };
        let a = self.as_real_node(id)?;
        let inside = match self.constant(a) {
            Some(Const::Real(bits)) => {
                let x = f64::from_bits(*bits);
                Some(x > 0.0 || (zero_allowed && x >= 0.0))
            }
            _ => None,
        };
        let ty = Type::Number { dim: Dim::NONE, real: true };
        let fallback = match fallback {
            None => None,
            Some((e, id)) => {
                let id = self.number_at(id?, &e.span, &format!("the `else` of `{function}`"))?;
                let id = self.fallback(id, Dim::NONE, e.span.clone())?;
                Some(self.as_real_node(id)?)
            }
        };
        match (inside, fallback) {
            (Some(true), _) => self.node(Op::Real(real, a, None), ty, span),
            (_, Some(fallback)) => self.node(Op::Real(real, a, Some(fallback)), ty, span),
            (_, None) => {
                let outside = if zero_allowed { "below 0" } else { "0 or less" };
                self.error(
                    "formula/missing-else",
                    span,
                    format!("`{function}` has no value where its argument is {outside}, so it needs an `else`"),
                    Some(format!("say what it is worth there, inside the parentheses: `{function}(… else 0)`")),
                );
                None
            }
        }
    }

    fn unknown_function(&mut self, name: &Ident, args: &[Expr], clauses: &[Clause]) {
        let lower = name.name.to_lowercase();
        let help = match FUNCTION_SLIPS.iter().find(|(from, _)| *from == lower) {
            Some((_, to)) => Some(format!("did you mean `{to}`?")),
            None => match &*lower {
                "last" => Some("take the `first` in the opposite order: `first(x by key desc)`".into()),
                "pow" | "power" => Some("a power is written `x^2`".into()),
                "mod" | "rem" => Some("a remainder is written `a mod b`".into()),
                "exp" => Some("there is no exponential function".into()),
                _ if self.resolves(&name.name) => {
                    Some(format!("`{}` is a column; a product is written with `*`", name.name))
                }
                _ => suggest(&lower, "functions", FUNCTIONS),
            },
        };
        self.error("formula/unknown-function", &name.span, format!("there is no function `{}`", name.name), help);
        // What can be checked without knowing the function still is.
        for arg in args {
            if !self.contextual(arg) {
                self.check(arg, None);
            }
        }
        for clause in clauses {
            match &clause.kind {
                ClauseKind::Where(e) => {
                    self.condition(e, "`where`");
                }
                ClauseKind::By(keys) => keys.iter().for_each(|k| {
                    self.check(&k.expr, None);
                }),
                ClauseKind::Per(columns) | ClauseKind::Once(columns) => {
                    self.columns(columns);
                }
                ClauseKind::Other(column) => {
                    self.columns(std::slice::from_ref(column));
                }
                ClauseKind::Else(_) => {}
            }
        }
    }

    /// The names of columns, sorted and without repetitions.
    fn columns(&mut self, idents: &[Ident]) -> Option<Vec<Arc<str>>> {
        let mut names = Vec::with_capacity(idents.len());
        let mut failed = false;
        for ident in idents {
            let name = &*ident.name;
            if self.scope.columns.contains_key(name) {
                names.push(Arc::from(name));
                continue;
            }
            failed = true;
            if self.scope.unknown.contains(name) || self.scope.open {
                continue;
            }
            if self.scope.constants.contains_key(name) {
                let message = format!("`{name}` is a constant, and a column must stand here");
                self.error("formula/type", &ident.span, message, None);
            } else {
                let help = suggest(name, "columns", self.scope.columns.keys().map(String::as_str));
                self.error("formula/unknown-name", &ident.span, format!("there is no column `{name}`"), help);
            }
        }
        names.sort();
        names.dedup();
        (!failed).then_some(names)
    }

    /// A count that is written out.
    fn count_argument(&mut self, e: &Expr, least: usize, what: &str) -> Option<usize> {
        let id = self.check(e, None)?;
        let count = self.exact_constant(id).and_then(Exact::as_i64).and_then(|n| usize::try_from(n).ok());
        let pure = matches!(self.number(id), Some((Dim::NONE, _)));
        match count {
            Some(n) if n >= least && pure && n < 1 << 32 => Some(n),
            _ => {
                let message = format!("{what} is a whole number from {least} that is written out");
                self.error("formula/not-constant", &e.span, message, None);
                None
            }
        }
    }

    fn aggregate(&mut self, name: &Ident, args: &[Expr], clauses: &[Clause], span: &Range<usize>) -> Option<Id> {
        let function = &*name.name;
        let mut failed = false;
        let (mut filter, mut other, mut once, mut by, mut per, mut otherwise) =
            (None, None, Vec::new(), None, None, None);
        for clause in clauses {
            match &clause.kind {
                ClauseKind::Where(e) => {
                    filter = self.condition(e, "`where`");
                    failed |= filter.is_none();
                }
                ClauseKind::Other(column) => match self.columns(std::slice::from_ref(column)) {
                    Some(names) => other = names.into_iter().next().map(|n| (n, clause)),
                    None => failed = true,
                },
                ClauseKind::Once(columns) => match self.columns(columns) {
                    Some(names) => once = names,
                    None => failed = true,
                },
                ClauseKind::Per(columns) => match self.columns(columns) {
                    Some(names) => per = Some(names),
                    None => failed = true,
                },
                ClauseKind::By(keys) => {
                    if matches!(function, "first" | "nth" | "place") {
                        let mut ids = Vec::with_capacity(keys.len());
                        for key in keys {
                            match self.check(&key.expr, None) {
                                Some(id) => ids.push((id, key.descending == Some(true))),
                                None => failed = true,
                            }
                        }
                        by = Some(ids);
                    } else {
                        failed = true;
                        let plain: Vec<&str> = keys
                            .iter()
                            .filter_map(|k| match &k.expr.kind {
                                Kind::Name(name) if k.descending.is_none() => Some(name.as_str()),
                                _ => None,
                            })
                            .collect();
                        let help = if plain.len() == keys.len() {
                            format!("groups are formed with `per`: `per {}`", plain.join(", "))
                        } else {
                            "an order matters only to `first`, `nth` and `place`".into()
                        };
                        self.error("formula/clause", &clause.span, format!("`{function}` takes no order"), Some(help));
                    }
                }
                ClauseKind::Else(e) => {
                    if matches!(function, "sum" | "count" | "any" | "all" | "distinct" | "place") {
                        failed = true;
                        let empty = match function {
                            "any" => "false",
                            "all" => "true",
                            "place" => "1",
                            _ => "0",
                        };
                        let message = format!("`{function}` takes no `else`");
                        let help = format!("over no rows it is {empty}");
                        self.error("formula/clause", &clause.span, message, Some(help));
                    } else {
                        otherwise = Some(e);
                    }
                }
            }
        }
        let per = match per {
            Some(per) => per,
            None => self.default_per(span)?,
        };
        if let Some((column, clause)) = &other
            && per.contains(column)
        {
            failed = true;
            self.error(
                "formula/clause",
                &clause.span,
                format!("no other row of the group has another `{column}`, because the rows are grouped by it"),
                Some(format!("leave `{column}` out of `per`")),
            );
        }
        let takes_by = matches!(function, "first" | "nth" | "place");
        if takes_by && by.is_none() {
            failed = true;
            let example = match function {
                "first" => "first(x by key)",
                "nth" => "nth(2, x by key)",
                _ => "place(by key desc)",
            };
            let message = format!("`{function}` needs an order");
            self.error("formula/clause", span, message, Some(format!("say by what: `{example}`")));
        }

        let folded = self.folded(function, args, span, &mut filter);
        if folded.as_ref().is_none_or(|(_, value)| value.is_none())
            && let Some(e) = otherwise
            && !self.contextual(e)
        {
            // Its type cannot be compared with anything, but it may have mistakes of its own.
            self.check(e, None);
        }
        let (fold, value) = folded?;
        let needs_else = match fold {
            Fold::Min | Fold::Max | Fold::Mean | Fold::Median => filter.is_some() || other.is_some(),
            Fold::Nth(0) if function == "first" => filter.is_some() || other.is_some(),
            Fold::TrimmedMean(_) | Fold::Nth(_) | Fold::Only => true,
            _ => false,
        };
        let mut value = value;
        let mut fallback = None;
        if let Some(e) = otherwise {
            let v = value?;
            let want = self.ty(v).clone();
            // A quoted text may be a new word, as in the branches of a choice.
            let id = self.check(e, (!matches!(e.kind, Kind::Text(_))).then_some(&want))?;
            let (a, b, _) = self.unify(v, id, &format!("the value of `{function}` and its `else`"), &e.span)?;
            value = Some(a);
            fallback = Some(b);
        } else if needs_else {
            let reason = match fold {
                Fold::TrimmedMean(_) => "where too few rows are left",
                Fold::Nth(_) if function == "nth" => "where there are fewer rows",
                Fold::Only => "where the rows do not agree",
                _ if other.is_some() => "where there is no other row",
                _ => "where no row satisfies the condition",
            };
            let zero = match value.map(|v| self.ty(v)) {
                Some(Type::Bool) => "false",
                Some(Type::Symbol(Some(words))) if !words.is_empty() => &words[0].clone(),
                Some(Type::Symbol(_)) => "''",
                Some(Type::Number { dim: Dim::TIME, .. }) => "0 s",
                Some(Type::Number { dim: Dim::MEMORY, .. }) => "0 B",
                _ => "0",
            };
            self.error(
                "formula/missing-else",
                span,
                format!("`{function}` has no value {reason}, so it needs an `else`"),
                Some(format!("say what it is worth there, inside the parentheses: `{function}(… else {zero})`")),
            );
            failed = true;
        }
        if failed {
            return None;
        }
        let ty = match fold {
            Fold::Count | Fold::Distinct | Fold::Place => Type::NUMBER,
            Fold::Any | Fold::All => Type::Bool,
            _ => match (value, fallback) {
                (Some(v), Some(f)) => self.unify(v, f, "the value and its `else`", span)?.2,
                (Some(v), None) => self.ty(v).clone(),
                _ => return None,
            },
        };
        let aggregate = Aggregate {
            fold,
            value,
            filter,
            other: other.map(|(name, _)| name),
            once,
            by: by.unwrap_or_default(),
            per,
            otherwise: fallback,
        };
        self.node(Op::Aggregate(Box::new(aggregate)), ty, span)
    }

    /// The grouping of an aggregate without `per`.
    fn default_per(&mut self, span: &Range<usize>) -> Option<Vec<Arc<str>>> {
        let mut per: Vec<Arc<str>> = self.scope.per.iter().flatten().map(|n| Arc::from(n.as_str())).collect();
        for name in &per {
            if !self.scope.columns.contains_key(&**name) {
                let message = format!("without `per` this groups by `{name}`, which is not a column here");
                let help = Some("say how to group: `per column`, or `per all`".to_string());
                self.error("formula/clause", span, message, help);
                return None;
            }
        }
        per.sort();
        per.dedup();
        Some(per)
    }

    /// What an aggregate folds, from its arguments.
    fn folded(
        &mut self,
        function: &str,
        args: &[Expr],
        span: &Range<usize>,
        filter: &mut Option<Id>,
    ) -> Option<(Fold, Option<Id>)> {
        let expected = match function {
            "count" => 0..=1,
            "place" => 0..=0,
            "nth" | "trimmed_mean" => 2..=2,
            _ => 1..=1,
        };
        if !expected.contains(&args.len()) {
            let columns: Vec<&str> = args
                .iter()
                .skip(1)
                .filter_map(|e| match &e.kind {
                    Kind::Name(name) if self.scope.columns.contains_key(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            let help = match function {
                "nth" => Some("write `nth(2, x by key else 0)`".to_string()),
                "trimmed_mean" => Some("write `trimmed_mean(x, 1 else 0)`: without the least and the greatest".into()),
                "place" => Some("only an order: `place(by x desc)`".into()),
                _ if args.is_empty() => Some(format!("say what to take: `{function}(x)`")),
                _ if columns.len() + 1 == args.len() => {
                    Some(format!("groups are formed with `per`: `{function}({} per {})`", args[0], columns.join(", ")))
                }
                _ => None,
            };
            let numbers = ["no argument", "one argument", "two arguments"];
            let takes = if function == "count" { "at most one argument" } else { numbers[*expected.end()] };
            let message = format!("`{function}` takes {takes}, not {}", args.len());
            self.error("formula/arguments", span, message, help);
            return None;
        }
        match function {
            "count" => {
                if let [condition] = args {
                    let condition = self.condition(condition, "`count`")?;
                    *filter = Some(match *filter {
                        None => condition,
                        Some(f) => self.node(Op::And(condition, f), Type::Bool, span)?,
                    });
                }
                return Some((Fold::Count, None));
            }
            "place" => return Some((Fold::Place, None)),
            "any" | "all" => {
                let id = self.condition(&args[0], &format!("`{function}`"))?;
                return Some((if function == "any" { Fold::Any } else { Fold::All }, Some(id)));
            }
            _ => {}
        }
        let (k, arg) = match function {
            "nth" => (Some(self.count_argument(&args[0], 1, "the place of `nth`")), &args[1]),
            "trimmed_mean" => (Some(self.count_argument(&args[1], 0, "the number to trim")), &args[0]),
            _ => (None, &args[0]),
        };
        let id = self.check(arg, None)?;
        let k = match k {
            Some(k) => k?,
            None => 0,
        };
        let fold = match function {
            "sum" => Fold::Sum,
            "min" => Fold::Min,
            "max" => Fold::Max,
            "mean" => Fold::Mean,
            "median" => Fold::Median,
            "trimmed_mean" => Fold::TrimmedMean(k),
            "distinct" => Fold::Distinct,
            "first" => Fold::Nth(0),
            "nth" => Fold::Nth(k - 1),
            _ => Fold::Only,
        };
        match fold {
            Fold::Sum if *self.ty(id) == Type::Bool => {
                let help = format!("count the rows where it holds: `count({arg})`");
                self.error("formula/type", &arg.span, "`sum` takes numbers, and this is true or false", Some(help));
                None
            }
            Fold::Sum | Fold::Mean | Fold::Median | Fold::TrimmedMean(_) => {
                let id = self.number_at(id, &arg.span, &format!("`{function}`"))?;
                Some((fold, Some(id)))
            }
            Fold::Min | Fold::Max if *self.ty(id) == Type::Bool => {
                let message = format!("`{function}` takes numbers or texts, and this is true or false");
                let help = Some("of conditions take `any` or `all`".to_string());
                self.error("formula/type", &arg.span, message, help);
                None
            }
            _ => Some((fold, Some(id))),
        }
    }

    /// Checks the whole formula against the type that its place expects.
    pub fn expected(&mut self, root: Id, want: &Type, span: &Range<usize>) {
        let ty = self.ty(root).clone();
        let fits = match (&ty, want) {
            (Type::Bool, Type::Bool) => true,
            (Type::Number { dim: a, .. }, Type::Number { dim: b, .. }) => a == b,
            (Type::Symbol(_), Type::Symbol(None)) => true,
            (Type::Symbol(Some(a)), Type::Symbol(Some(b))) => a.iter().all(|word| b.contains(word)),
            _ => false,
        };
        if fits {
            return;
        }
        let help = match (&ty, want) {
            (Type::Bool, Type::Number { .. }) => {
                Some("turn a condition into a number with `if(condition, 1, 0)`".into())
            }
            (Type::Number { .. }, Type::Bool) => Some("compare it with something, for instance `> 0`".to_string()),
            (Type::Symbol(None), Type::Symbol(Some(_))) => {
                Some("say for each text what it means: `case(x == 'a', word, x == 'b', word, other)`".into())
            }
            (Type::Symbol(Some(a)), Type::Symbol(Some(b))) => {
                let strange: Vec<String> =
                    a.iter().filter(|word| !b.contains(word)).take(4).map(|w| format!("`{w}`")).collect();
                Some(format!("it can be {}, which has no meaning here", listed(&strange, "or")))
            }
            _ => None,
        };
        let code = if ty.is_number() && want.is_number() { "formula/dimension" } else { "formula/type" };
        self.error(code, span, format!("expected {}, and this is {}", shown(want), shown(&ty)), help);
    }
}
