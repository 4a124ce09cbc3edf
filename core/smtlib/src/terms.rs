//! Terms as a graph in which equal terms are one node.
//!
//! A [`Terms`] holds columns: of each term its operator, its sort and where its arguments lie in one common list. Arguments
//! come before what they are arguments of, so that going over all terms in order of their numbers visits the parts of
//! every term before it: evaluation and printing need no recursion. `let` does not occur: a bound name *is* its term.
//!
//! A bound variable is a term of its own, [`Head::Variable`]: name, sort and how many variables of the same name are bound
//! around it. Two quantifiers that differ in nothing are one node, and no substitution can capture a variable.

use rustc_hash::FxHashMap;

use crate::builtin::Builtin;
use crate::intern::{Index, Symbol, mix};
use crate::script::Fun;
use crate::sorts::Sort;

/// A term of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// Its number: less than that of every term it is a part of, and less than [`Terms::len`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The operator of a term, packed; [`Terms::head`] tells what it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op(pub(crate) u32);

/// What an operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// A function of a theory, see [`Builtin`].
    Builtin(Builtin),
    /// A function of a theory with indices and, if it was written with `as`, a sort.
    Indexed(&'a Qualified),
    /// A function or constant of the script.
    Function(Fun),
    /// A function of the script, written with `as` because its arguments do not tell its sort: `(as nil (List Int))`.
    FunctionAs(Fun, Sort),
    /// A function of the script that stands for a map (2.7), without arguments.
    FunctionValue(Fun),
    /// A bound variable.
    Variable(Variable),
    /// Digits. Its sort is `Int`, or `Real` where the logic has no integers.
    Numeral(Symbol),
    /// `1.50`, as it was written.
    Decimal(Symbol),
    /// The digits behind `#x`.
    Hex(Symbol),
    /// The digits behind `#b`.
    Binary(Symbol),
    /// The characters of a string literal: quotes undone, Unicode escapes as they were written.
    String(Symbol),
    /// A quantifier or `lambda`: the arguments are the variables, then the body.
    Binder(Binder),
    /// `(! term ...)`: the first argument is the term, the others are the terms of its patterns, in order.
    Annotated(&'a [Attribute]),
    /// `match`: the first argument is the value, the others are its cases.
    Match,
    /// A case of a `match`: the arguments are the variables, then the term. No constructor: the pattern is a variable, or
    /// (without arguments beside the term) `_`.
    Case(Option<Fun>),
}

/// What binds variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binder {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
    /// `lambda`
    Lambda,
}

/// A function of a theory with indices or with a sort.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Qualified {
    /// The function.
    pub base: Builtin,
    /// The indices. Of [`Builtin::BvLiteral`], [`Builtin::AbstractValue`] and [`Builtin::Char`] the first is the number of
    /// a symbol, of [`Builtin::AsArray`] and [`Builtin::Is`] that of a function.
    pub indices: Box<[u32]>,
    /// The sort of the term, if it was written with `as`.
    pub sort: Option<Sort>,
}

impl Qualified {
    /// The symbol that is its first index: the decimal digits of a bit-vector's value, the hexadecimal ones of a
    /// character's code, the name of an abstract value.
    pub fn symbol(&self) -> Option<Symbol> {
        let named = matches!(self.base, Builtin::BvLiteral | Builtin::AbstractValue | Builtin::Char);
        self.indices.first().filter(|_| named).map(|n| Symbol(*n))
    }

    /// The function that is its index: the constructor of a test, the function that stands for an array.
    pub fn function(&self) -> Option<Fun> {
        let named = matches!(self.base, Builtin::AsArray | Builtin::Is);
        self.indices.first().filter(|_| named).map(|n| Fun(*n))
    }
}

/// A bound variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name.
    pub name: Symbol,
    /// Its sort.
    pub sort: Sort,
    /// How many variables of that name are bound around its binder.
    pub level: u32,
}

/// An annotation of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// `:named`
    Named(Symbol),
    /// `:pattern` with so many terms.
    Pattern(u32),
    /// `:no-pattern` and a term.
    NoPattern,
    /// Another keyword with its value, as it was written.
    Other(Symbol, Option<Symbol>),
}

const KIND: u32 = 28;
const PAYLOAD: u32 = (1 << KIND) - 1;

impl Op {
    #[inline]
    const fn new(kind: u32, payload: u32) -> Self {
        Self(kind << KIND | payload)
    }

    #[inline]
    pub(crate) const fn builtin(builtin: Builtin) -> Self {
        Self::new(0, builtin as u32)
    }

    #[inline]
    pub(crate) fn function(fun: Fun) -> Self {
        Self::new(2, fun.0)
    }

    pub(crate) fn function_value(fun: Fun) -> Self {
        Self::new(14, fun.0)
    }

    pub(crate) fn int(digits: Symbol) -> Self {
        Self::new(4, digits.0)
    }

    pub(crate) fn real(digits: Symbol) -> Self {
        Self::new(5, digits.0)
    }

    pub(crate) fn decimal(digits: Symbol) -> Self {
        Self::new(6, digits.0)
    }

    pub(crate) fn hex(digits: Symbol) -> Self {
        Self::new(7, digits.0)
    }

    pub(crate) fn binary(digits: Symbol) -> Self {
        Self::new(8, digits.0)
    }

    pub(crate) fn string(text: Symbol) -> Self {
        Self::new(9, text.0)
    }

    pub(crate) fn binder(binder: Binder) -> Self {
        Self::new(10, binder as u32)
    }

    pub(crate) const MATCH: Self = Self::new(12, 0);

    pub(crate) fn case(constructor: Option<Fun>) -> Self {
        Self::new(13, constructor.map_or(0, |f| f.0 + 1))
    }

    fn kind(self) -> u32 {
        self.0 >> KIND
    }

    fn payload(self) -> u32 {
        self.0 & PAYLOAD
    }
}

/// All terms of a script.
#[derive(Clone, Debug)]
pub struct Terms {
    ops: Vec<Op>,
    sorts: Vec<Sort>,
    /// Where each term's arguments begin in `arguments`, and one more at the end.
    starts: Vec<u32>,
    arguments: Vec<Term>,
    index: Index,
    qualified: Vec<Qualified>,
    qualified_ids: FxHashMap<Qualified, u32>,
    /// The operators of what has one or two indices and no sort, which is what scripts are full of.
    indexed: FxHashMap<(Builtin, u32, u32), Op>,
    function_as: Vec<(Fun, Sort)>,
    function_as_ids: FxHashMap<(Fun, Sort), u32>,
    variables: Vec<Variable>,
    variable_ids: FxHashMap<Variable, u32>,
    annotations: Vec<Box<[Attribute]>>,
    annotation_ids: FxHashMap<Box<[Attribute]>, u32>,
}

/// A term that is not there yet.
pub(crate) struct Vacant {
    hash: u64,
    slot: usize,
}

impl Terms {
    pub(crate) fn new() -> Self {
        Self {
            ops: Vec::new(),
            sorts: Vec::new(),
            starts: vec![0],
            arguments: Vec::new(),
            index: Index::new(),
            qualified: Vec::new(),
            qualified_ids: FxHashMap::default(),
            indexed: FxHashMap::default(),
            function_as: Vec::new(),
            function_as_ids: FxHashMap::default(),
            variables: Vec::new(),
            variable_ids: FxHashMap::default(),
            annotations: Vec::new(),
            annotation_ids: FxHashMap::default(),
        }
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// All terms, parts before wholes.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Term> + use<> {
        (0..self.ops.len() as u32).map(Term)
    }

    /// The operator.
    #[inline]
    pub fn op(&self, term: Term) -> Op {
        self.ops[term.index()]
    }

    /// The sort.
    #[inline]
    pub fn sort(&self, term: Term) -> Sort {
        self.sorts[term.index()]
    }

    /// The arguments.
    #[inline]
    pub fn arguments(&self, term: Term) -> &[Term] {
        let at = term.index();
        &self.arguments[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// What the operator of a term is.
    #[inline]
    pub fn head(&self, term: Term) -> Head<'_> {
        self.head_of(self.op(term))
    }

    /// What an operator is.
    pub fn head_of(&self, op: Op) -> Head<'_> {
        let payload = op.payload();
        let at = payload as usize;
        match op.kind() {
            0 => Head::Builtin(Builtin::from_number(payload).unwrap_or(Builtin::True)),
            1 => Head::Indexed(&self.qualified[at]),
            2 => Head::Function(Fun(payload)),
            3 => Head::FunctionAs(self.function_as[at].0, self.function_as[at].1),
            4 | 5 => Head::Numeral(Symbol(payload)),
            6 => Head::Decimal(Symbol(payload)),
            7 => Head::Hex(Symbol(payload)),
            8 => Head::Binary(Symbol(payload)),
            9 => Head::String(Symbol(payload)),
            10 => Head::Binder(match payload {
                0 => Binder::Forall,
                1 => Binder::Exists,
                _ => Binder::Lambda,
            }),
            11 => Head::Annotated(&self.annotations[at]),
            12 => Head::Match,
            13 => Head::Case(payload.checked_sub(1).map(Fun)),
            14 => Head::FunctionValue(Fun(payload)),
            _ => Head::Variable(self.variables[at]),
        }
    }

    /// Whether nothing binds a variable.
    pub(crate) fn has_no_variables(&self) -> bool {
        self.variables.is_empty()
    }

    /// The names of all bound variables.
    pub(crate) fn variable_names(&self) -> impl Iterator<Item = Symbol> {
        self.variables.iter().map(|v| v.name)
    }

    /// The term below its annotations.
    pub fn bare(&self, mut term: Term) -> Term {
        while self.op(term).kind() == 11 {
            term = self.arguments(term)[0];
        }
        term
    }

    pub(crate) fn qualified(&mut self, head: Qualified) -> Op {
        if let Some(&id) = self.qualified_ids.get(&head) {
            return Op::new(1, id);
        }
        let id = self.qualified.len() as u32;
        self.qualified.push(head.clone());
        self.qualified_ids.insert(head, id);
        Op::new(1, id)
    }

    /// A builtin with one or two indices (the second is 0 if there is none).
    pub(crate) fn indexed(&mut self, base: Builtin, indices: &[u32]) -> Op {
        let key = (base, indices.first().copied().unwrap_or(0), indices.get(1).copied().unwrap_or(0));
        if indices.len() > 2 {
            return self.qualified(Qualified { base, indices: indices.into(), sort: None });
        }
        // Only `re.loop` may have one index or two: it is looked up by all of it.
        let cached = base != Builtin::ReLoop;
        if let Some(&op) = self.indexed.get(&key).filter(|_| cached) {
            return op;
        }
        let op = self.qualified(Qualified { base, indices: indices.into(), sort: None });
        if cached {
            self.indexed.insert(key, op);
        }
        op
    }

    pub(crate) fn function_as(&mut self, fun: Fun, sort: Sort) -> Op {
        let next = self.function_as.len() as u32;
        let id = *self.function_as_ids.entry((fun, sort)).or_insert(next);
        if id == next {
            self.function_as.push((fun, sort));
        }
        Op::new(3, id)
    }

    pub(crate) fn annotated(&mut self, attributes: Vec<Attribute>) -> Op {
        let attributes = attributes.into_boxed_slice();
        if let Some(&id) = self.annotation_ids.get(&attributes) {
            return Op::new(11, id);
        }
        let id = self.annotations.len() as u32;
        self.annotations.push(attributes.clone());
        self.annotation_ids.insert(attributes, id);
        Op::new(11, id)
    }

    pub(crate) fn variable(&mut self, variable: Variable) -> Term {
        let next = self.variables.len() as u32;
        let id = *self.variable_ids.entry(variable).or_insert(next);
        if id == next {
            self.variables.push(variable);
        }
        self.leaf(Op::new(15, id), variable.sort)
    }

    /// The term with this operator and these arguments, if it is there.
    #[inline]
    pub(crate) fn find(&self, op: Op, arguments: &[Term]) -> Result<Term, Vacant> {
        let mut hash = mix(arguments.len() as u64, u64::from(op.0));
        let mut pairs = arguments.chunks_exact(2);
        for pair in &mut pairs {
            hash = mix(hash, u64::from(pair[0].0) | u64::from(pair[1].0) << 32);
        }
        if let [last] = pairs.remainder() {
            hash = mix(hash, u64::from(last.0));
        }
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let found = self.index.find(hash, |id| {
            let at = id as usize;
            self.ops[at] == op && self.arguments[self.starts[at] as usize..self.starts[at + 1] as usize] == *arguments
        });
        match found {
            Ok(id) => Ok(Term(id)),
            Err(slot) => Err(Vacant { hash, slot }),
        }
    }

    /// Adds the term that was not found.
    #[inline]
    pub(crate) fn add(&mut self, vacant: Vacant, op: Op, arguments: &[Term], sort: Sort) -> Term {
        let id = self.ops.len() as u32;
        self.ops.push(op);
        self.sorts.push(sort);
        self.arguments.extend_from_slice(arguments);
        self.starts.push(self.arguments.len() as u32);
        self.index.insert(vacant.hash, vacant.slot, id);
        Term(id)
    }

    pub(crate) fn make(&mut self, op: Op, arguments: &[Term], sort: Sort) -> Term {
        self.find(op, arguments).unwrap_or_else(|vacant| self.add(vacant, op, arguments, sort))
    }

    #[inline]
    pub(crate) fn leaf(&mut self, op: Op, sort: Sort) -> Term {
        self.make(op, &[], sort)
    }
}
