//! Sorts, each of which exists once and is known by its number.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::intern::{Symbol, Symbols};

/// A sort of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sort(pub(crate) u32);

impl Sort {
    /// `Bool`
    pub const BOOL: Self = Self(0);
    /// `Int`
    pub const INT: Self = Self(1);
    /// `Real`
    pub const REAL: Self = Self(2);
    /// `String`
    pub const STRING: Self = Self(3);
    /// `RegLan`
    pub const REGLAN: Self = Self(4);
    /// `RoundingMode`
    pub const ROUNDING_MODE: Self = Self(5);

    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sort({})", self.0)
    }
}

/// A sort constructor that the script declares: by `declare-sort`, or as a datatype.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SortName(pub(crate) u32);

/// How a sort is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortKind {
    /// `Bool`
    Bool,
    /// `Int`
    Int,
    /// `Real`
    Real,
    /// `String`
    String,
    /// `RegLan`
    RegLan,
    /// `RoundingMode`
    RoundingMode,
    /// `(_ BitVec n)`
    BitVec(u32),
    /// `(_ FloatingPoint eb sb)`
    FloatingPoint(u32, u32),
    /// `(Array index element)`
    Array(Sort, Sort),
    /// `(-> from to)`; maps of several arguments are maps to maps.
    Map(Sort, Sort),
    /// A declared sort with its arguments, see [`Sorts::arguments`].
    Declared(SortName, SortArguments),
    /// A sort parameter of a declaration.
    Parameter(Symbol),
}

/// The arguments of a declared sort, to be looked up with [`Sorts::arguments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortArguments {
    start: u32,
    length: u32,
}

/// All sorts of a script.
#[derive(Clone, Debug)]
pub struct Sorts {
    kinds: Vec<SortKind>,
    arguments: Vec<Sort>,
    /// Whether a sort has a parameter in it.
    open: Vec<bool>,
    known: FxHashMap<SortKind, Sort>,
    declared: FxHashMap<(SortName, Box<[Sort]>), Sort>,
    /// Bit-vector sorts by width, because they are looked up all the time.
    widths: Vec<u32>,
    names: Vec<Symbol>,
}

impl Sorts {
    pub(crate) fn new() -> Self {
        let mut this = Self {
            kinds: Vec::new(),
            arguments: Vec::new(),
            open: Vec::new(),
            known: FxHashMap::default(),
            declared: FxHashMap::default(),
            widths: vec![u32::MAX; 1025],
            names: Vec::new(),
        };
        use SortKind::{Bool, Int, Real, RegLan, RoundingMode, String};
        for kind in [Bool, Int, Real, String, RegLan, RoundingMode] {
            this.intern(kind);
        }
        this
    }

    /// How the sort is made.
    #[inline]
    pub fn kind(&self, sort: Sort) -> SortKind {
        self.kinds[sort.0 as usize]
    }

    /// The arguments of a declared sort.
    pub fn arguments(&self, arguments: SortArguments) -> &[Sort] {
        &self.arguments[arguments.start as usize..][..arguments.length as usize]
    }

    /// The name of a declared sort constructor.
    pub fn name(&self, name: SortName) -> Symbol {
        self.names[name.0 as usize]
    }

    /// How many sorts there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none; there always are the six without arguments.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether a sort parameter occurs in it.
    pub fn is_open(&self, sort: Sort) -> bool {
        self.open[sort.0 as usize]
    }

    pub(crate) fn intern(&mut self, kind: SortKind) -> Sort {
        if let Some(&sort) = self.known.get(&kind) {
            return sort;
        }
        let open = match kind {
            SortKind::Array(a, b) | SortKind::Map(a, b) => self.is_open(a) || self.is_open(b),
            SortKind::Declared(_, arguments) => self.arguments(arguments).iter().any(|&s| self.is_open(s)),
            SortKind::Parameter(_) => true,
            _ => false,
        };
        let sort = Sort(self.kinds.len() as u32);
        self.kinds.push(kind);
        self.open.push(open);
        self.known.insert(kind, sort);
        sort
    }

    #[inline]
    pub(crate) fn bit_vector(&mut self, width: u32) -> Sort {
        match self.widths.get(width as usize) {
            Some(&known) if known != u32::MAX => Sort(known),
            slot => {
                let keep = slot.is_some();
                let sort = self.intern(SortKind::BitVec(width));
                if keep {
                    self.widths[width as usize] = sort.0;
                }
                sort
            }
        }
    }

    pub(crate) fn declare(&mut self, name: Symbol) -> SortName {
        self.names.push(name);
        SortName(self.names.len() as u32 - 1)
    }

    pub(crate) fn apply(&mut self, name: SortName, arguments: &[Sort]) -> Sort {
        if let Some(&sort) = self.declared.get(&(name, Box::from(arguments))) {
            return sort;
        }
        let start = self.arguments.len() as u32;
        self.arguments.extend_from_slice(arguments);
        let kind = SortKind::Declared(name, SortArguments { start, length: arguments.len() as u32 });
        let sort = self.intern(kind);
        self.declared.insert((name, Box::from(arguments)), sort);
        sort
    }

    /// The parts of a sort, in order.
    pub(crate) fn parts(&self, sort: Sort) -> Vec<Sort> {
        match self.kind(sort) {
            SortKind::Array(a, b) | SortKind::Map(a, b) => vec![a, b],
            SortKind::Declared(_, arguments) => self.arguments(arguments).to_vec(),
            _ => Vec::new(),
        }
    }

    fn rebuild(&mut self, sort: Sort, parts: &[Sort]) -> Sort {
        match (self.kind(sort), parts) {
            (SortKind::Array(..), &[a, b]) => self.intern(SortKind::Array(a, b)),
            (SortKind::Map(..), &[a, b]) => self.intern(SortKind::Map(a, b)),
            (SortKind::Declared(name, _), parts) => self.apply(name, parts),
            _ => sort,
        }
    }

    /// The sort with its parameters replaced; those that `given` does not know stay.
    pub(crate) fn instantiate(&mut self, sort: Sort, given: &[(Sort, Sort)]) -> Sort {
        if !self.is_open(sort) {
            return sort;
        }
        // Bottom-up over the open parts: numbers of parts are smaller than the number of what they are parts of.
        let mut done: FxHashMap<Sort, Sort> = given.iter().copied().collect();
        let mut waiting = vec![sort];
        while let Some(&next) = waiting.last() {
            if done.contains_key(&next) || !self.is_open(next) {
                waiting.pop();
                continue;
            }
            let parts = self.parts(next);
            let missing: Vec<Sort> =
                parts.iter().copied().filter(|p| self.is_open(*p) && !done.contains_key(p)).collect();
            if missing.is_empty() {
                let parts: Vec<Sort> = parts.iter().map(|p| done.get(p).copied().unwrap_or(*p)).collect();
                let built = if parts.is_empty() { next } else { self.rebuild(next, &parts) };
                done.insert(next, built);
                waiting.pop();
            } else {
                waiting.extend(missing);
            }
        }
        done.get(&sort).copied().unwrap_or(sort)
    }

    /// Finds what the parameters of `pattern` must stand for so that it is `sort`: adds to `given`, or says that it cannot.
    pub(crate) fn matches(&self, pattern: Sort, sort: Sort, given: &mut Vec<(Sort, Sort)>) -> bool {
        let mut waiting = vec![(pattern, sort)];
        while let Some((pattern, sort)) = waiting.pop() {
            if !self.is_open(pattern) {
                if pattern != sort {
                    return false;
                }
                continue;
            }
            match (self.kind(pattern), self.kind(sort)) {
                (SortKind::Parameter(_), _) => match given.iter().find(|(p, _)| *p == pattern) {
                    Some((_, known)) if *known != sort => return false,
                    Some(_) => {}
                    None => given.push((pattern, sort)),
                },
                (SortKind::Array(a, b), SortKind::Array(c, d)) | (SortKind::Map(a, b), SortKind::Map(c, d)) => {
                    waiting.extend([(b, d), (a, c)]);
                }
                (SortKind::Declared(n, a), SortKind::Declared(m, b)) if n == m && a.length == b.length => {
                    waiting.extend(self.arguments(a).iter().copied().zip(self.arguments(b).iter().copied()).rev());
                }
                _ => return false,
            }
        }
        true
    }

    /// Writes a sort in the concrete syntax.
    pub fn write(&self, sort: Sort, symbols: &Symbols, out: &mut Vec<u8>) {
        enum Step {
            Sort(Sort),
            Text(&'static [u8]),
        }
        let mut steps = vec![Step::Sort(sort)];
        while let Some(step) = steps.pop() {
            let sort = match step {
                Step::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Step::Sort(sort) => sort,
            };
            let head: &[u8] = match self.kind(sort) {
                SortKind::Bool => b"Bool",
                SortKind::Int => b"Int",
                SortKind::Real => b"Real",
                SortKind::String => b"String",
                SortKind::RegLan => b"RegLan",
                SortKind::RoundingMode => b"RoundingMode",
                SortKind::BitVec(n) => {
                    out.extend_from_slice(format!("(_ BitVec {n})").as_bytes());
                    continue;
                }
                SortKind::FloatingPoint(e, s) => {
                    out.extend_from_slice(format!("(_ FloatingPoint {e} {s})").as_bytes());
                    continue;
                }
                SortKind::Parameter(name) => {
                    crate::print::write_symbol(symbols.bytes(name), out);
                    continue;
                }
                SortKind::Declared(name, _) => {
                    let parts = self.parts(sort);
                    if !parts.is_empty() {
                        out.push(b'(');
                    }
                    crate::print::write_symbol(symbols.bytes(self.name(name)), out);
                    if !parts.is_empty() {
                        steps.push(Step::Text(b")"));
                        for part in parts.into_iter().rev() {
                            steps.extend([Step::Sort(part), Step::Text(b" ")]);
                        }
                    }
                    continue;
                }
                SortKind::Array(a, b) => {
                    out.extend_from_slice(b"(Array");
                    steps.extend([Step::Text(b")"), Step::Sort(b), Step::Text(b" "), Step::Sort(a), Step::Text(b" ")]);
                    continue;
                }
                SortKind::Map(a, b) => {
                    out.extend_from_slice(b"(->");
                    steps.extend([Step::Text(b")"), Step::Sort(b), Step::Text(b" "), Step::Sort(a), Step::Text(b" ")]);
                    continue;
                }
            };
            out.extend_from_slice(head);
        }
    }

    /// The sort in the concrete syntax, for messages.
    pub fn text(&self, sort: Sort, symbols: &Symbols) -> String {
        let mut out = Vec::new();
        self.write(sort, symbols, &mut out);
        // A sort may be long; a message is not.
        let text = String::from_utf8_lossy(&out);
        if text.chars().count() > 200 {
            text.chars().take(200).chain(" ...".chars()).collect()
        } else {
            text.into_owned()
        }
    }
}
