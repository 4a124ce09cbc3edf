//! Evaluation over the columns of a table.
//!
//! Aggregates are computed first, each as a whole column from the whole columns of its inputs. What lies between them
//! is scalar, and is computed block by block: every node of it has one buffer that is reused for all blocks, and a
//! block of all buffers stays in the fast memory of a core. Constants stay scalars.
//!
//! Exact numbers are `i64` as long as a block of them fits; the operation that leaves that range is repeated with
//! [`Exact`]. Nothing wraps, and nothing depends on the order of rows or on the size of a block.

use std::borrow::Cow;
use std::sync::Arc;

use agon_table::{Column, Dict, DictBuilder, Exact, Symbols, Table, Type, Value};

use crate::aggregate;
use crate::error::EvalError;
use crate::ir::{Arithmetic, Compare, Const, Id, Node, Op, RealFunction, Rounding, normal};
use crate::real;
use crate::reduce::{merge, reduce};

/// Rows a block.
const BLOCK: usize = 2048;

/// A mistake at a node.
pub(crate) type Fault = (Id, String);

const NOT_FINITE: &str = "a real number left the range that can be represented";

/// The constant that a node of constant operands is.
pub(crate) fn fold_constant(nodes: &[Node], node: Node) -> Result<Value, String> {
    let mut few = Vec::with_capacity(4);
    let op = node.op.with_operands(|id| {
        few.push(nodes[id].clone());
        few.len() - 1
    });
    let root = few.len();
    few.push(Node { op, ..node });
    let table = Table::new(1);
    match Run::new(&few, &table).root(root) {
        Ok(column) => Ok(column.value(0)),
        Err((_, message)) => Err(message),
    }
}

/// The column of a formula.
pub(crate) fn evaluate(nodes: &[Node], root: Id, table: &Table, source: &str) -> Result<Arc<Column>, EvalError> {
    let reduced = reduce(nodes, root, table);
    let (nodes, root) = reduced.as_ref().map_or((nodes, root), |(nodes, root)| (nodes, *root));
    Run::new(nodes, table).root(root).map_err(|(id, message)| EvalError {
        source: source.into(),
        span: nodes[id].span.clone(),
        message,
    })
}

/// The value at some rows only. What lies inside aggregates is computed on all rows; what stands around them, and the
/// last step of an aggregate, only for these.
pub(crate) fn evaluate_at(
    nodes: &[Node],
    root: Id,
    table: &Table,
    rows: &[u32],
    source: &str,
) -> Result<Arc<Column>, EvalError> {
    let reduced = reduce(nodes, root, table);
    let (nodes, root) = reduced.as_ref().map_or((nodes, root), |(nodes, root)| (nodes, *root));
    let column = Run::new(nodes, table).roots_at(&[root], rows).map(|mut columns| columns.remove(0));
    column.map_err(|(id, message)| EvalError { source: source.into(), span: nodes[id].span.clone(), message })
}

/// The values of several formulas at some rows, each part that they share computed once. `None` if one of them has a
/// mistake, without saying which.
pub(crate) fn evaluate_all_at(formulas: &[(&[Node], Id)], table: &Table, rows: &[u32]) -> Option<Vec<Arc<Column>>> {
    let reduced: Vec<Option<(Vec<Node>, Id)>> = formulas.iter().map(|(n, root)| reduce(n, *root, table)).collect();
    let parts: Vec<(&[Node], Id)> =
        reduced.iter().zip(formulas).map(|(r, whole)| r.as_ref().map_or(*whole, |(n, root)| (n, *root))).collect();
    let (nodes, roots) = merge(&parts);
    Run::new(&nodes, table).roots_at(&roots, rows).ok()
}

/// One evaluation: the columns that are there as a whole.
pub(crate) struct Run<'a> {
    pub nodes: &'a [Node],
    pub table: &'a Table,
    whole: Vec<Option<Arc<Column>>>,
}

impl<'a> Run<'a> {
    fn new(nodes: &'a [Node], table: &'a Table) -> Self {
        Self { nodes, table, whole: vec![None; nodes.len()] }
    }

    fn root(&mut self, root: Id) -> Result<Arc<Column>, Fault> {
        let mut wanted = vec![false; self.nodes.len()];
        wanted[root] = true;
        self.compute(wanted, root)?;
        Ok(self.whole[root].clone().expect("the root is wanted"))
    }

    /// The values of the roots at some rows.
    fn roots_at(&mut self, roots: &[Id], rows: &[u32]) -> Result<Vec<Arc<Column>>, Fault> {
        let Some(last) = roots.iter().copied().max() else { return Ok(Vec::new()) };
        // The nodes around the outermost aggregates, and these themselves.
        let mut outer = vec![false; self.nodes.len()];
        let mut wanted = vec![false; self.nodes.len()];
        roots.iter().for_each(|&root| outer[root] = true);
        for id in (0..=last).rev() {
            if !outer[id] {
                continue;
            }
            match &self.nodes[id].op {
                Op::Aggregate(spec) => {
                    spec.inputs().for_each(|input| wanted[input] = true);
                    if let Some(id) = spec.otherwise {
                        wanted[id] |= self.nodes[id].constant().is_none();
                    }
                }
                op => op.operands(|operand| outer[operand] = true),
            }
        }
        self.compute(wanted, last)?;
        let mut mini = Table::new(rows.len());
        let mut whole: Vec<Option<Arc<Column>>> = vec![None; self.nodes.len()];
        for id in (0..=last).filter(|id| outer[*id]) {
            match &self.nodes[id].op {
                Op::Column(name) => {
                    let column = Arc::new(self.bind(id, name)?.gather(rows));
                    mini.set(name, self.nodes[id].ty.clone(), column.clone())
                        .map_err(|error| (id, error.to_string()))?;
                    whole[id] = Some(column);
                }
                Op::Aggregate(spec) => whole[id] = Some(Arc::new(aggregate::column_at(self, id, spec, rows)?)),
                _ => {}
            }
        }
        let mut few = Run { nodes: self.nodes, table: &mini, whole };
        for &root in roots {
            if few.whole[root].is_none() {
                few.whole[root] = Some(few.column(root)?);
            }
        }
        Ok(roots.iter().filter_map(|root| few.whole[*root].clone()).collect())
    }

    /// Computes the wanted nodes, none above `last`, on all rows, and whatever they need.
    fn compute(&mut self, mut wanted: Vec<bool>, last: Id) -> Result<(), Fault> {
        let mut reached = wanted.clone();
        // Operands come before their users, so one pass backwards finds what is needed, and one forwards computes it.
        for id in (0..=last).rev() {
            if !reached[id] {
                continue;
            }
            self.nodes[id].op.operands(|operand| reached[operand] = true);
            if let Op::Aggregate(aggregate) = &self.nodes[id].op {
                wanted[id] = true;
                aggregate.inputs().for_each(|input| wanted[input] = true);
                // The value after `else` may stay a constant.
                if let Some(id) = aggregate.otherwise {
                    wanted[id] |= self.nodes[id].constant().is_none();
                }
            }
        }
        for (id, wanted) in wanted.into_iter().enumerate() {
            if wanted {
                let column = self.column(id)?;
                self.whole[id] = Some(column);
            }
        }
        Ok(())
    }

    /// The whole column of a node that an aggregate needs.
    ///
    /// # Panics
    /// If it was not computed; inputs of aggregates are computed before them.
    pub fn input(&self, id: Id) -> &Arc<Column> {
        self.whole[id].as_ref().expect("inputs of aggregates are computed before them")
    }

    /// The column or the constant of a fallback.
    pub fn fallback(&self, id: Id) -> Fallback<'_> {
        match (&self.whole[id], &self.nodes[id].op) {
            (Some(column), _) => Fallback::Column(column),
            (None, Op::Const(value)) => Fallback::Constant(value.value()),
            _ => Fallback::Column(self.input(id)),
        }
    }

    fn column(&self, id: Id) -> Result<Arc<Column>, Fault> {
        let node = &self.nodes[id];
        match &node.op {
            Op::Column(name) => self.bind(id, name),
            Op::Const(value) => Ok(Arc::new(Column::constant(&value.value(), self.table.rows()))),
            Op::Aggregate(spec) => aggregate::column(self, id, spec),
            _ => Machine::new(self, id)?.run(id).map(Arc::new),
        }
    }

    /// The table's own column of this name, if it holds what its type promises.
    fn bind(&self, id: Id, name: &str) -> Result<Arc<Column>, Fault> {
        if let Some(column) = &self.whole[id] {
            return Ok(column.clone());
        }
        let column = self.table.column(name).map_err(|error| (id, error.to_string()))?;
        match (&self.nodes[id].ty, &**column) {
            (Type::Bool, Column::Bool(_)) | (Type::Symbol(_), Column::Symbol(_)) => Ok(column.clone()),
            (Type::Number { real: true, .. }, Column::Real(v)) => {
                if v.iter().all(|x| x.is_finite()) {
                    Ok(column.clone())
                } else {
                    Err((id, format!("the column `{name}` holds a number that is not finite")))
                }
            }
            (Type::Number { real: true, .. }, Column::Int(v)) => {
                Ok(Arc::new(Column::Real(v.iter().map(|x| *x as f64).collect())))
            }
            (Type::Number { real: true, .. }, Column::Exact(v)) => {
                Ok(Arc::new(Column::Real(v.iter().map(Exact::to_f64).collect())))
            }
            (Type::Number { real: false, .. }, Column::Int(_) | Column::Exact(_)) => Ok(column.clone()),
            (ty, _) => Err((id, format!("the column `{name}` does not hold what the formula was made for, {ty}"))),
        }
    }
}

/// What stands where an aggregate has no value.
pub(crate) enum Fallback<'a> {
    Column(&'a Column),
    Constant(Value),
}

impl Fallback<'_> {
    pub fn value(&self, row: usize) -> Value {
        match self {
            Self::Column(column) => column.value(row),
            Self::Constant(value) => value.clone(),
        }
    }
}

/// An operand of a kernel: a block of values or one for all rows.
#[derive(Clone, Copy)]
enum Arg<'a, T> {
    Many(&'a [T]),
    One(T),
}

impl<T: Copy> Arg<'_, T> {
    fn get(self, at: usize) -> T {
        match self {
            Self::Many(v) => v[at],
            Self::One(x) => x,
        }
    }
}

/// Exact numbers in either form.
#[derive(Clone, Copy)]
enum Num<'a> {
    Int(Arg<'a, i64>),
    Exact(&'a [Exact]),
    OneExact(&'a Exact),
}

impl<'a> Num<'a> {
    fn get(self, at: usize) -> Cow<'a, Exact> {
        match self {
            Self::Int(v) => Cow::Owned(Exact::from(v.get(at))),
            Self::Exact(v) => Cow::Borrowed(&v[at]),
            Self::OneExact(x) => Cow::Borrowed(x),
        }
    }

    fn is_zero(self, at: usize) -> bool {
        match self {
            Self::Int(v) => v.get(at) == 0,
            Self::Exact(v) => v[at].is_zero(),
            Self::OneExact(x) => x.is_zero(),
        }
    }
}

fn map<A: Copy, R: Clone>(out: &mut Vec<R>, n: usize, a: Arg<'_, A>, mut f: impl FnMut(A) -> R) {
    out.clear();
    match a {
        Arg::Many(a) => out.extend(a.iter().map(|x| f(*x))),
        Arg::One(x) => out.resize(n, f(x)),
    }
}

fn zip<A: Copy, B: Copy, R: Clone>(
    out: &mut Vec<R>,
    n: usize,
    a: Arg<'_, A>,
    b: Arg<'_, B>,
    mut f: impl FnMut(A, B) -> R,
) {
    out.clear();
    match (a, b) {
        (Arg::Many(a), Arg::Many(b)) => out.extend(a.iter().zip(b).map(|(x, y)| f(*x, *y))),
        (Arg::Many(a), Arg::One(y)) => out.extend(a.iter().map(|x| f(*x, y))),
        (Arg::One(x), Arg::Many(b)) => out.extend(b.iter().map(|y| f(x, *y))),
        (Arg::One(x), Arg::One(y)) => out.resize(n, f(x, y)),
    }
}

/// Values of which one can be chosen by masking. A jump would be mispredicted on every other row.
trait Blend: Copy {
    fn blend(condition: bool, yes: Self, no: Self) -> Self;
}

impl Blend for i64 {
    fn blend(condition: bool, yes: Self, no: Self) -> Self {
        no ^ ((yes ^ no) & -Self::from(condition))
    }
}

impl Blend for u32 {
    fn blend(condition: bool, yes: Self, no: Self) -> Self {
        no ^ ((yes ^ no) & Self::from(condition).wrapping_neg())
    }
}

impl Blend for f64 {
    fn blend(condition: bool, yes: Self, no: Self) -> Self {
        Self::from_bits(i64::blend(condition, yes.to_bits() as i64, no.to_bits() as i64) as u64)
    }
}

impl Blend for bool {
    fn blend(condition: bool, yes: Self, no: Self) -> Self {
        (condition & yes) | (!condition & no)
    }
}

fn select<T: Blend>(out: &mut Vec<T>, n: usize, c: Arg<'_, bool>, a: Arg<'_, T>, b: Arg<'_, T>) {
    out.clear();
    match c {
        Arg::One(c) => map(out, n, if c { a } else { b }, |x| x),
        Arg::Many(c) => match (a, b) {
            (Arg::Many(a), Arg::Many(b)) => {
                out.extend(c.iter().zip(a).zip(b).map(|((c, x), y)| T::blend(*c, *x, *y)));
            }
            (Arg::Many(a), Arg::One(y)) => out.extend(c.iter().zip(a).map(|(c, x)| T::blend(*c, *x, y))),
            (Arg::One(x), Arg::Many(b)) => out.extend(c.iter().zip(b).map(|(c, y)| T::blend(*c, x, *y))),
            (Arg::One(x), Arg::One(y)) => out.extend(c.iter().map(|c| T::blend(*c, x, y))),
        },
    }
}

fn compare<T: Copy + PartialOrd>(out: &mut Vec<bool>, n: usize, how: Compare, a: Arg<'_, T>, b: Arg<'_, T>) {
    match how {
        Compare::Eq => zip(out, n, a, b, |x, y| x == y),
        Compare::Ne => zip(out, n, a, b, |x, y| x != y),
        Compare::Lt => zip(out, n, a, b, |x, y| x < y),
        Compare::Le => zip(out, n, a, b, |x, y| x <= y),
        Compare::Gt => zip(out, n, a, b, |x, y| x > y),
        Compare::Ge => zip(out, n, a, b, |x, y| x >= y),
    }
}

/// The buffer of a node. Only the vector of its type is ever filled.
#[derive(Default)]
struct Slot {
    bools: Vec<bool>,
    codes: Vec<u32>,
    ints: Vec<i64>,
    exacts: Vec<Exact>,
    reals: Vec<f64>,
    /// Which of the two forms the exact numbers of this block have.
    is_exact: bool,
}

/// Where the values of a node come from.
enum Source {
    Bool(bool),
    Int(i64),
    Exact(Exact),
    Real(f64),
    /// The only text of its dictionary.
    Symbol,
    Column(Arc<Column>),
    Computed,
}

/// What a node on symbols knows about their numbers before the first block.
#[derive(Default)]
struct Words {
    /// What the numbers of the node itself mean.
    dict: Option<Arc<Dict>>,
    /// The second operand's numbers as numbers of the first (of the node, in a choice). `u32::MAX` stands for none.
    map: Option<Vec<u32>>,
    /// For each number of the operand, whether it is in the list.
    member: Vec<bool>,
}

/// The scalar part between a root and the columns below it.
struct Machine<'a> {
    nodes: &'a [Node],
    /// The nodes of the part, operands first.
    order: Vec<Id>,
    /// The place of a node in `order`.
    index: Vec<u32>,
    sources: Vec<Source>,
    words: Vec<Words>,
    slots: Vec<Slot>,
    rows: usize,
    /// The present block.
    from: usize,
    n: usize,
}

impl<'a> Machine<'a> {
    fn new(run: &Run<'a>, root: Id) -> Result<Self, Fault> {
        let nodes = run.nodes;
        let mut reached = vec![false; root + 1];
        reached[root] = true;
        let mut order = Vec::new();
        for id in (0..=root).rev() {
            if !reached[id] {
                continue;
            }
            order.push(id);
            if run.whole[id].is_none() {
                nodes[id].op.operands(|operand| reached[operand] = true);
            }
        }
        order.reverse();
        let mut index = vec![u32::MAX; root + 1];
        let mut sources = Vec::with_capacity(order.len());
        for (at, &id) in order.iter().enumerate() {
            index[id] = at as u32;
            sources.push(match (&run.whole[id], &nodes[id].op) {
                (Some(column), _) => Source::Column(column.clone()),
                (None, Op::Column(name)) => Source::Column(run.bind(id, name)?),
                (None, Op::Const(value)) => match value {
                    Const::Bool(b) => Source::Bool(*b),
                    Const::Symbol(_) => Source::Symbol,
                    Const::Real(bits) => Source::Real(f64::from_bits(*bits)),
                    Const::Exact(e) => e.as_i64().map_or_else(|| Source::Exact(e.clone()), Source::Int),
                },
                _ => Source::Computed,
            });
        }
        let slots = order.iter().map(|_| Slot::default()).collect();
        let mut machine =
            Self { nodes, order, index, sources, words: Vec::new(), slots, rows: run.table.rows(), from: 0, n: 0 };
        for at in 0..machine.order.len() {
            let words = machine.prepare(at);
            machine.words.push(words);
        }
        Ok(machine)
    }

    fn at(&self, id: Id) -> usize {
        self.index[id] as usize
    }

    fn dict(&self, id: Id) -> Arc<Dict> {
        self.words[self.at(id)].dict.clone().unwrap_or_default()
    }

    /// What the node at this place must know about symbols.
    fn prepare(&self, at: usize) -> Words {
        let op = &self.nodes[self.order[at]].op;
        if let Source::Column(column) = &self.sources[at] {
            return match &**column {
                Column::Symbol(symbols) => Words { dict: Some(symbols.dict.clone()), ..Words::default() },
                _ => Words::default(),
            };
        }
        match op {
            Op::Const(Const::Symbol(text)) => {
                let mut dict = DictBuilder::new();
                dict.intern(text);
                Words { dict: Some(dict.finish()), ..Words::default() }
            }
            Op::SymbolEq(_, a, b) => {
                let (a, b) = (self.dict(*a), self.dict(*b));
                let map =
                    (!Arc::ptr_eq(&a, &b)).then(|| b.iter().map(|text| a.code(text).unwrap_or(u32::MAX)).collect());
                Words { map, ..Words::default() }
            }
            Op::SymbolIn(a, list) => {
                let a = self.dict(*a);
                let mut member = vec![false; a.len()];
                for code in list.iter().filter_map(|text| a.code(text)) {
                    member[code as usize] = true;
                }
                Words { member, ..Words::default() }
            }
            Op::If(_, a, b) if matches!(self.nodes[self.order[at]].ty, Type::Symbol(_)) => {
                let (dict, map) = join(&self.dict(*a), &self.dict(*b));
                Words { dict: Some(dict), map, ..Words::default() }
            }
            _ => Words::default(),
        }
    }

    fn bools(&self, id: Id) -> Arg<'_, bool> {
        let at = self.at(id);
        match &self.sources[at] {
            Source::Bool(b) => Arg::One(*b),
            Source::Column(column) => match &**column {
                Column::Bool(v) => Arg::Many(&v[self.from..self.from + self.n]),
                _ => Arg::One(false),
            },
            _ => Arg::Many(&self.slots[at].bools),
        }
    }

    fn codes(&self, id: Id) -> Arg<'_, u32> {
        let at = self.at(id);
        match &self.sources[at] {
            Source::Symbol => Arg::One(0),
            Source::Column(column) => match &**column {
                Column::Symbol(s) => Arg::Many(&s.codes[self.from..self.from + self.n]),
                _ => Arg::One(0),
            },
            _ => Arg::Many(&self.slots[at].codes),
        }
    }

    fn reals(&self, id: Id) -> Arg<'_, f64> {
        let at = self.at(id);
        match &self.sources[at] {
            Source::Real(x) => Arg::One(*x),
            Source::Column(column) => match &**column {
                Column::Real(v) => Arg::Many(&v[self.from..self.from + self.n]),
                _ => Arg::One(0.0),
            },
            _ => Arg::Many(&self.slots[at].reals),
        }
    }

    fn exact(&self, id: Id) -> Num<'_> {
        let at = self.at(id);
        let block = self.from..self.from + self.n;
        match &self.sources[at] {
            Source::Int(x) => Num::Int(Arg::One(*x)),
            Source::Exact(x) => Num::OneExact(x),
            Source::Column(column) => match &**column {
                Column::Int(v) => Num::Int(Arg::Many(&v[block])),
                Column::Exact(v) => Num::Exact(&v[block]),
                _ => Num::Int(Arg::One(0)),
            },
            _ if self.slots[at].is_exact => Num::Exact(&self.slots[at].exacts),
            _ => Num::Int(Arg::Many(&self.slots[at].ints)),
        }
    }

    fn is_real(&self, id: Id) -> bool {
        self.nodes[id].is_real()
    }

    /// Computes the node at this place for the present block.
    fn step(&self, at: usize, out: &mut Slot) -> Result<(), Fault> {
        let id = self.order[at];
        let n = self.n;
        match &self.nodes[id].op {
            Op::Const(_) | Op::Column(_) | Op::Aggregate(_) => {}
            Op::Not(a) => map(&mut out.bools, n, self.bools(*a), |x| !x),
            Op::And(a, b) => zip(&mut out.bools, n, self.bools(*a), self.bools(*b), |x, y| x & y),
            Op::Or(a, b) => zip(&mut out.bools, n, self.bools(*a), self.bools(*b), |x, y| x | y),
            Op::BoolEq(negated, a, b) => {
                let negated = *negated;
                zip(&mut out.bools, n, self.bools(*a), self.bools(*b), |x, y| (x == y) ^ negated);
            }
            Op::SymbolEq(negated, a, b) => {
                let (negated, codes) = (*negated, self.codes(*a));
                match (self.codes(*b), &self.words[at].map) {
                    (b, None) => zip(&mut out.bools, n, codes, b, |x, y| (x == y) ^ negated),
                    (Arg::One(y), Some(map)) => {
                        let y = map[y as usize];
                        self::map(&mut out.bools, n, codes, |x| (x == y) ^ negated);
                    }
                    (b, Some(map)) => zip(&mut out.bools, n, codes, b, |x, y| (x == map[y as usize]) ^ negated),
                }
            }
            Op::SymbolIn(a, _) => {
                let member = &self.words[at].member;
                map(&mut out.bools, n, self.codes(*a), |x| member[x as usize]);
            }
            Op::Compare(how, a, b) if self.is_real(*a) => {
                compare(&mut out.bools, n, *how, self.reals(*a), self.reals(*b));
            }
            Op::Compare(how, a, b) => match (self.exact(*a), self.exact(*b)) {
                (Num::Int(a), Num::Int(b)) => compare(&mut out.bools, n, *how, a, b),
                (a, b) => {
                    out.bools.clear();
                    out.bools.extend((0..n).map(|i| {
                        let order = a.get(i).cmp(&b.get(i));
                        match how {
                            Compare::Eq => order.is_eq(),
                            Compare::Ne => order.is_ne(),
                            Compare::Lt => order.is_lt(),
                            Compare::Le => order.is_le(),
                            Compare::Gt => order.is_gt(),
                            Compare::Ge => order.is_ge(),
                        }
                    }));
                }
            },
            Op::If(c, a, b) => self.choose(at, *c, *a, *b, out),
            Op::ToReal(a) => {
                match self.exact(*a) {
                    Num::Int(a) => map(&mut out.reals, n, a, |x| x as f64),
                    a => {
                        out.reals.clear();
                        out.reals.extend((0..n).map(|i| a.get(i).to_f64()));
                    }
                }
                finite(id, &out.reals)?;
            }
            Op::Real(function, a, otherwise) => {
                let inside: fn(f64) -> bool = match function {
                    RealFunction::Sqrt => |x| x >= 0.0,
                    _ => |x| x > 0.0,
                };
                let f: fn(f64) -> f64 = match function {
                    RealFunction::Sqrt => f64::sqrt,
                    RealFunction::Ln => real::ln,
                    RealFunction::Log2 => real::log2,
                    RealFunction::Log10 => real::log10,
                };
                // Without a fallback the argument is a constant of the domain.
                let otherwise = otherwise.map_or(Arg::One(0.0), |o| self.reals(o));
                // Arguments are mostly counts that repeat from row to row.
                let mut known = [(0u64, 0.0); 64];
                let mut f = |x: f64| {
                    let bits = x.to_bits();
                    let slot = &mut known[(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize];
                    if slot.0 != bits {
                        *slot = (bits, normal(f(x)));
                    }
                    slot.1
                };
                zip(&mut out.reals, n, self.reals(*a), otherwise, |x, o| if inside(x) { f(x) } else { o });
            }
            Op::Round(rounding, a) => self.round(*rounding, *a, out),
            Op::RoundDiv(rounding, a, step) => self.round_div(*rounding, *a, step, out),
            _ if self.is_real(id) => {
                self.real_arithmetic(id, out);
                finite(id, &out.reals)?;
            }
            _ => self.exact_arithmetic(id, out),
        }
        Ok(())
    }

    fn choose(&self, at: usize, c: Id, a: Id, b: Id, out: &mut Slot) {
        let (n, c) = (self.n, self.bools(c));
        match self.nodes[self.order[at]].ty {
            Type::Bool => select(&mut out.bools, n, c, self.bools(a), self.bools(b)),
            Type::Number { real: true, .. } => select(&mut out.reals, n, c, self.reals(a), self.reals(b)),
            Type::Symbol(_) => {
                let (a, b) = (self.codes(a), self.codes(b));
                match &self.words[at].map {
                    None => select(&mut out.codes, n, c, a, b),
                    Some(map) => {
                        if let Arg::One(y) = b {
                            select(&mut out.codes, n, c, a, Arg::One(map[y as usize]));
                        } else {
                            out.codes.clear();
                            out.codes.extend((0..n).map(|i| if c.get(i) { a.get(i) } else { map[b.get(i) as usize] }));
                        }
                    }
                }
            }
            Type::Number { .. } => match (self.exact(a), self.exact(b)) {
                (Num::Int(a), Num::Int(b)) => {
                    out.is_exact = false;
                    select(&mut out.ints, n, c, a, b);
                }
                (a, b) => exacts(out, n, |i| if c.get(i) { a.get(i).into_owned() } else { b.get(i).into_owned() }),
            },
        }
    }

    fn real_arithmetic(&self, id: Id, out: &mut Slot) {
        let n = self.n;
        let out = &mut out.reals;
        match &self.nodes[id].op {
            Op::Neg(a) => map(out, n, self.reals(*a), |x| normal(-x)),
            Op::Abs(a) => map(out, n, self.reals(*a), f64::abs),
            Op::Arithmetic(how, a, b) => {
                let (a, b) = (self.reals(*a), self.reals(*b));
                match how {
                    Arithmetic::Add => zip(out, n, a, b, |x, y| normal(x + y)),
                    Arithmetic::Sub => zip(out, n, a, b, |x, y| normal(x - y)),
                    Arithmetic::Mul => zip(out, n, a, b, |x, y| normal(x * y)),
                    Arithmetic::Min => zip(out, n, a, b, |x, y| if y < x { y } else { x }),
                    Arithmetic::Max => zip(out, n, a, b, |x, y| if y > x { y } else { x }),
                }
            }
            Op::Div(a, b, o) | Op::Mod(a, b, o) => {
                let division = matches!(self.nodes[id].op, Op::Div(..));
                let (a, b) = (self.reals(*a), self.reals(*b));
                let o = o.map_or(Arg::One(0.0), |o| self.reals(o));
                out.clear();
                out.extend((0..n).map(|i| match (a.get(i), b.get(i)) {
                    (_, 0.0) => o.get(i),
                    (x, y) if division => normal(x / y),
                    (x, y) => real::modulo(x, y),
                }));
            }
            Op::Power(a, exponent, o) => {
                let o = o.map_or(Arg::One(0.0), |o| self.reals(o));
                let exponent = *exponent;
                zip(out, n, self.reals(*a), o, |x, o| {
                    if exponent < 0 && x == 0.0 { o } else { normal(real::power(x, exponent)) }
                });
            }
            _ => {}
        }
    }

    fn exact_arithmetic(&self, id: Id, out: &mut Slot) {
        let n = self.n;
        match &self.nodes[id].op {
            Op::Neg(a) => {
                let a = self.exact(*a);
                unary(out, n, a, i64::overflowing_neg, Exact::neg);
            }
            Op::Abs(a) => {
                let a = self.exact(*a);
                unary(out, n, a, i64::overflowing_abs, |x| if x.signum() < 0 { x.neg() } else { x.clone() });
            }
            Op::Arithmetic(how, a, b) => {
                let (a, b) = (self.exact(*a), self.exact(*b));
                if let (Num::Int(a), Num::Int(b)) = (a, b) {
                    let ints = &mut out.ints;
                    let mut over = 0i64;
                    match how {
                        Arithmetic::Add => zip(ints, n, a, b, |x, y| {
                            let sum = x.wrapping_add(y);
                            over |= (x ^ sum) & (y ^ sum);
                            sum
                        }),
                        Arithmetic::Sub => zip(ints, n, a, b, |x, y| {
                            let difference = x.wrapping_sub(y);
                            over |= (x ^ y) & (x ^ difference);
                            difference
                        }),
                        Arithmetic::Mul => zip(ints, n, a, b, |x, y| {
                            let (product, overflows) = x.overflowing_mul(y);
                            over |= -i64::from(overflows);
                            product
                        }),
                        Arithmetic::Min => zip(ints, n, a, b, i64::min),
                        Arithmetic::Max => zip(ints, n, a, b, i64::max),
                    }
                    // The sign bit tells whether any row overflowed.
                    if over >= 0 {
                        out.is_exact = false;
                        return;
                    }
                }
                exacts(out, n, |i| {
                    let (x, y) = (a.get(i), b.get(i));
                    match how {
                        Arithmetic::Add => x.add(&y),
                        Arithmetic::Sub => x.sub(&y),
                        Arithmetic::Mul => x.mul(&y),
                        Arithmetic::Min => x.min(y).into_owned(),
                        Arithmetic::Max => x.max(y).into_owned(),
                    }
                });
            }
            Op::Div(a, b, o) => {
                let (a, b) = (self.exact(*a), self.exact(*b));
                let o = o.map(|o| self.exact(o));
                // A fallback is there wherever the divisor can be zero.
                let o = |i: usize| o.map_or(Exact::ZERO, |o| o.get(i).into_owned());
                exacts(out, n, |i| a.get(i).div(&b.get(i)).unwrap_or_else(|| o(i)));
            }
            Op::Mod(a, b, o) => {
                let (a, b) = (self.exact(*a), self.exact(*b));
                let o = o.map(|o| self.exact(o));
                if let (Num::Int(a), Num::Int(Arg::One(m))) = (a, b)
                    && m > 0
                {
                    out.is_exact = false;
                    map(&mut out.ints, n, a, |x| x.rem_euclid(m));
                    return;
                }
                let o = |i: usize| o.map_or(Exact::ZERO, |o| o.get(i).into_owned());
                exacts(out, n, |i| a.get(i).modulo(&b.get(i)).unwrap_or_else(|| o(i)));
            }
            Op::Power(a, exponent, o) => {
                let a = self.exact(*a);
                let o = o.map(|o| self.exact(o));
                let exponent = *exponent;
                if let Num::Int(ints) = a
                    && exponent >= 0
                {
                    let mut over = false;
                    map(&mut out.ints, n, ints, |x| {
                        let (power, overflows) = x.overflowing_pow(exponent.unsigned_abs());
                        over |= overflows;
                        power
                    });
                    if !over {
                        out.is_exact = false;
                        return;
                    }
                }
                exacts(out, n, |i| {
                    if exponent < 0 && a.is_zero(i) {
                        return o.map_or(Exact::ZERO, |o| o.get(i).into_owned());
                    }
                    a.get(i).pow(exponent).unwrap_or(Exact::ZERO)
                });
            }
            _ => {}
        }
    }

    fn round(&self, rounding: Rounding, a: Id, out: &mut Slot) {
        let n = self.n;
        if !self.is_real(a) {
            match self.exact(a) {
                Num::Int(a) => {
                    out.is_exact = false;
                    map(&mut out.ints, n, a, |x| x);
                }
                a => exacts(out, n, |i| rounded(rounding, &a.get(i))),
            }
            return;
        }
        let a = self.reals(a);
        let whole = |x: f64| match rounding {
            Rounding::Floor => x.floor(),
            Rounding::Ceil => x.ceil(),
            Rounding::HalfEven => x.round_ties_even(),
        };
        let mut fits = true;
        map(&mut out.ints, n, a, |x| {
            let whole = whole(x);
            // Below this every whole number is a `f64`.
            fits &= whole.abs() <= 9_007_199_254_740_992.0;
            whole as i64
        });
        out.is_exact = false;
        if !fits {
            exacts(out, n, |i| Exact::from_f64(whole(a.get(i))).unwrap_or(Exact::ZERO));
        }
    }

    fn round_div(&self, rounding: Rounding, a: Id, step: &Exact, out: &mut Slot) {
        let n = self.n;
        if self.is_real(a) {
            let a = self.reals(a);
            let quotient = |x: f64| Exact::from_f64(x).and_then(|x| x.div(step)).unwrap_or(Exact::ZERO);
            exacts(out, n, |i| rounded(rounding, &quotient(a.get(i))));
            return;
        }
        let a = self.exact(a);
        if let Num::Int(ints) = a
            && let Some(step) = step.as_i64().filter(|s| *s > 0)
        {
            out.is_exact = false;
            match rounding {
                Rounding::Floor => map(&mut out.ints, n, ints, |x| x.div_euclid(step)),
                Rounding::Ceil => {
                    map(&mut out.ints, n, ints, |x| x.div_euclid(step) + i64::from(x.rem_euclid(step) != 0));
                }
                Rounding::HalfEven => map(&mut out.ints, n, ints, |x| {
                    let (floor, rest) = (x.div_euclid(step), x.rem_euclid(step));
                    // Twice the rest could overflow; what is missing to the next step cannot.
                    let up = match rest.cmp(&(step - rest)) {
                        std::cmp::Ordering::Less => false,
                        std::cmp::Ordering::Greater => true,
                        std::cmp::Ordering::Equal => floor & 1 == 1,
                    };
                    floor + i64::from(up)
                }),
            }
            return;
        }
        exacts(out, n, |i| rounded(rounding, &a.get(i).div(step).unwrap_or(Exact::ZERO)));
    }

    fn run(mut self, root: Id) -> Result<Column, Fault> {
        let mut result = Collector::default();
        while self.from < self.rows {
            self.n = BLOCK.min(self.rows - self.from);
            for at in 0..self.order.len() {
                if matches!(self.sources[at], Source::Computed) {
                    let mut out = std::mem::take(&mut self.slots[at]);
                    self.step(at, &mut out)?;
                    self.slots[at] = out;
                }
            }
            result.append(&self.slots[self.at(root)], &self.nodes[root].ty, self.rows);
            self.from += self.n;
        }
        let dict = self.dict(root);
        Ok(result.finish(&self.nodes[root].ty, dict))
    }
}

/// A dictionary for the texts of both, with the second one's numbers in it. The first one's stay what they are.
pub(crate) fn join(a: &Arc<Dict>, b: &Arc<Dict>) -> (Arc<Dict>, Option<Vec<u32>>) {
    if Arc::ptr_eq(a, b) {
        return (a.clone(), None);
    }
    if let Some(map) = b.iter().map(|text| a.code(text)).collect() {
        return (a.clone(), Some(map));
    }
    let mut dict = DictBuilder::new();
    for text in a.iter() {
        dict.intern(text);
    }
    let map = b.iter().map(|text| dict.intern(text)).collect();
    (dict.finish(), Some(map))
}

fn finite(id: Id, values: &[f64]) -> Result<(), Fault> {
    if values.iter().fold(true, |all, x| all & x.is_finite()) { Ok(()) } else { Err((id, NOT_FINITE.into())) }
}

fn rounded(rounding: Rounding, x: &Exact) -> Exact {
    match rounding {
        Rounding::Floor => x.floor(),
        Rounding::Ceil => x.ceil(),
        Rounding::HalfEven => x.round(),
    }
}

fn exacts(out: &mut Slot, n: usize, f: impl FnMut(usize) -> Exact) {
    out.is_exact = true;
    out.exacts.clear();
    out.exacts.extend((0..n).map(f));
}

fn unary(out: &mut Slot, n: usize, a: Num<'_>, ints: impl Fn(i64) -> (i64, bool), exact: impl Fn(&Exact) -> Exact) {
    if let Num::Int(a) = a {
        let mut over = false;
        map(&mut out.ints, n, a, |x| {
            let (result, overflows) = ints(x);
            over |= overflows;
            result
        });
        if !over {
            out.is_exact = false;
            return;
        }
    }
    exacts(out, n, |i| exact(&a.get(i)));
}

/// The result, block after block.
#[derive(Default)]
struct Collector {
    all: Slot,
}

impl Collector {
    fn append(&mut self, block: &Slot, ty: &Type, rows: usize) {
        let all = &mut self.all;
        match ty {
            Type::Bool => {
                all.bools.reserve_exact(rows - all.bools.len());
                all.bools.extend_from_slice(&block.bools);
            }
            Type::Symbol(_) => {
                all.codes.reserve_exact(rows - all.codes.len());
                all.codes.extend_from_slice(&block.codes);
            }
            Type::Number { real: true, .. } => {
                all.reals.reserve_exact(rows - all.reals.len());
                all.reals.extend_from_slice(&block.reals);
            }
            Type::Number { .. } => {
                if block.is_exact && !all.is_exact {
                    all.is_exact = true;
                    all.exacts.reserve_exact(rows);
                    all.exacts.extend(std::mem::take(&mut all.ints).into_iter().map(Exact::from));
                }
                match (all.is_exact, block.is_exact) {
                    (true, true) => all.exacts.extend_from_slice(&block.exacts),
                    (true, false) => all.exacts.extend(block.ints.iter().map(|x| Exact::from(*x))),
                    (false, _) => {
                        all.ints.reserve_exact(rows - all.ints.len());
                        all.ints.extend_from_slice(&block.ints);
                    }
                }
            }
        }
    }

    fn finish(self, ty: &Type, dict: Arc<Dict>) -> Column {
        let all = self.all;
        match ty {
            Type::Bool => Column::Bool(all.bools),
            Type::Symbol(_) => Column::Symbol(Symbols { codes: all.codes, dict }),
            Type::Number { real: true, .. } => Column::Real(all.reals),
            Type::Number { .. } if all.is_exact => Column::from_exact(all.exacts),
            Type::Number { .. } => Column::Int(all.ints),
        }
    }
}
