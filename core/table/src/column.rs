//! Columns: one typed vector for each field, texts through a dictionary.

use std::cmp::Ordering;
use std::hash::Hasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::Exact;

/// A single value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A word or a text.
    Symbol(Arc<str>),
    /// An exact number in base units.
    Exact(Exact),
    /// A real number in base units.
    Real(f64),
}

impl Value {
    /// The number, if it is an exact one.
    pub fn as_exact(&self) -> Option<&Exact> {
        match self {
            Self::Exact(n) => Some(n),
            _ => None,
        }
    }

    /// The total order within one type: false before true, texts by bytes, numbers by size.
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Symbol(a), Self::Symbol(b)) => a.cmp(b),
            (Self::Exact(a), Self::Exact(b)) => a.cmp(b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(b),
            (Self::Real(a), Self::Exact(b)) => a.total_cmp(&b.to_f64()),
            (Self::Exact(a), Self::Real(b)) => a.to_f64().total_cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// An immutable list of distinct texts, numbered from 0.
#[derive(Default)]
pub struct Dict {
    bytes: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    // The low bits of this hash are weak, and the table takes the high ones for its tags.
    let h = hasher.finish();
    h ^ (h >> 29)
}

impl Dict {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text with this number.
    ///
    /// # Panics
    /// If there is no such number; codes come from the column that owns the dictionary.
    pub fn get(&self, code: u32) -> &str {
        let at = code as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    /// The number of this text, if it is there.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text.as_bytes()), |&code| self.get(code) == text).copied()
    }

    /// All texts, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|code| self.get(code))
    }

    /// For every code its place in the order of the texts by bytes: comparing places compares texts.
    pub fn sort_keys(&self) -> Vec<u32> {
        let mut codes: Vec<u32> = (0..self.len() as u32).collect();
        codes.sort_unstable_by(|&a, &b| self.get(a).cmp(self.get(b)));
        let mut keys = vec![0; codes.len()];
        for (place, code) in codes.into_iter().enumerate() {
            keys[code as usize] = place as u32;
        }
        keys
    }
}

impl std::fmt::Debug for Dict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().take(20)).finish()
    }
}

/// Collects distinct texts.
#[derive(Default, Debug)]
pub struct DictBuilder(Dict);

impl DictBuilder {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for this many more texts with this many bytes together, which saves the work of growing.
    pub fn reserve(&mut self, texts: usize, bytes: usize) {
        let Dict { bytes: all, ends, table } = &mut self.0;
        all.reserve(bytes);
        ends.reserve(texts);
        let text_of = |code: u32| {
            let at = code as usize;
            let start = if at == 0 { 0 } else { ends[at - 1] as usize };
            &all.as_bytes()[start..ends[at] as usize]
        };
        table.reserve(texts, |&code| hash(text_of(code)));
    }

    /// The number of this text, new or old.
    ///
    /// # Panics
    /// If the distinct texts together exceed 4 GiB.
    pub fn intern(&mut self, text: &str) -> u32 {
        let h = hash(text.as_bytes());
        if let Some(&code) = self.0.table.find(h, |&code| self.0.get(code) == text) {
            return code;
        }
        let code = u32::try_from(self.0.ends.len()).expect("fewer than 2^32 distinct texts");
        self.0.bytes.push_str(text);
        self.0.ends.push(u32::try_from(self.0.bytes.len()).expect("less than 4 GiB of distinct texts"));
        let Dict { bytes, ends, table } = &mut self.0;
        let text_of = |code: u32| {
            let at = code as usize;
            let start = if at == 0 { 0 } else { ends[at - 1] as usize };
            &bytes.as_bytes()[start..ends[at] as usize]
        };
        table.insert_unique(h, code, |&code| hash(text_of(code)));
        code
    }

    /// The text with this number.
    pub fn get(&self, code: u32) -> &str {
        self.0.get(code)
    }

    /// The number of this text, if it is there.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.0.code(text)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The finished dictionary.
    pub fn finish(self) -> Arc<Dict> {
        Arc::new(self.0)
    }
}

/// A dictionary-encoded text column.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// One code a row.
    pub codes: Vec<u32>,
    /// What the codes mean.
    pub dict: Arc<Dict>,
}

impl Symbols {
    /// From texts.
    pub fn from_texts<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut dict = DictBuilder::new();
        let codes = texts.into_iter().map(|t| dict.intern(t.as_ref())).collect();
        Self { codes, dict: dict.finish() }
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> &str {
        self.dict.get(self.codes[row])
    }

    /// A column over the same rows with every text replaced. `f` is called once for each distinct text.
    pub fn map(&self, mut f: impl FnMut(&str) -> String) -> Self {
        let mut dict = DictBuilder::new();
        let codes: Vec<u32> = self.dict.iter().map(|text| dict.intern(&f(text))).collect();
        Self { codes: self.codes.iter().map(|&c| codes[c as usize]).collect(), dict: dict.finish() }
    }
}

/// One typed vector. Numbers are in base units (nanoseconds, bytes).
#[derive(Clone, Debug)]
pub enum Column {
    /// Truth values.
    Bool(Vec<bool>),
    /// Words and texts.
    Symbol(Symbols),
    /// Whole numbers that fit 64 bits: the fast form of exact numbers.
    Int(Vec<i64>),
    /// Exact numbers in general.
    Exact(Vec<Exact>),
    /// Real numbers, each correctly rounded.
    Real(Vec<f64>),
}

/// A column without rows.
impl Default for Column {
    fn default() -> Self {
        Self::Bool(Vec::new())
    }
}

impl Column {
    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(v) => v.len(),
            Self::Symbol(s) => s.codes.len(),
            Self::Int(v) => v.len(),
            Self::Exact(v) => v.len(),
            Self::Real(v) => v.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        match self {
            Self::Bool(v) => Value::Bool(v[row]),
            Self::Symbol(s) => Value::Symbol(s.get(row).into()),
            Self::Int(v) => Value::Exact(Exact::from(v[row])),
            Self::Exact(v) => Value::Exact(v[row].clone()),
            Self::Real(v) => Value::Real(v[row]),
        }
    }

    /// The rows with these numbers, in this order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        fn pick<T: Clone>(v: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&r| v[r as usize].clone()).collect()
        }
        match self {
            Self::Bool(v) => Self::Bool(pick(v, rows)),
            Self::Symbol(s) => Self::Symbol(Symbols { codes: pick(&s.codes, rows), dict: s.dict.clone() }),
            Self::Int(v) => Self::Int(pick(v, rows)),
            Self::Exact(v) => Self::Exact(pick(v, rows)),
            Self::Real(v) => Self::Real(pick(v, rows)),
        }
    }

    /// The truth values, if it holds such.
    pub fn as_bool(&self) -> Option<&[bool]> {
        match self {
            Self::Bool(v) => Some(v),
            _ => None,
        }
    }

    /// The texts, if it holds such.
    pub fn as_symbols(&self) -> Option<&Symbols> {
        match self {
            Self::Symbol(s) => Some(s),
            _ => None,
        }
    }

    /// The whole numbers, if it holds such.
    pub fn as_int(&self) -> Option<&[i64]> {
        match self {
            Self::Int(v) => Some(v),
            _ => None,
        }
    }

    /// A column of exact numbers, in the fast form if all fit it.
    pub fn from_exact(values: Vec<Exact>) -> Self {
        match values.iter().map(Exact::as_i64).collect::<Option<Vec<i64>>>() {
            Some(ints) => Self::Int(ints),
            None => Self::Exact(values),
        }
    }

    /// `n` times the same value.
    pub fn constant(value: &Value, n: usize) -> Self {
        match value {
            Value::Bool(b) => Self::Bool(vec![*b; n]),
            Value::Symbol(text) => {
                let mut dict = DictBuilder::new();
                let code = dict.intern(text);
                Self::Symbol(Symbols { codes: vec![code; n], dict: dict.finish() })
            }
            Value::Exact(e) => match e.as_i64() {
                Some(i) => Self::Int(vec![i; n]),
                None => Self::Exact(vec![e.clone(); n]),
            },
            Value::Real(r) => Self::Real(vec![*r; n]),
        }
    }
}
