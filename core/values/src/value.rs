//! All values as one type, and those that are made of others: arrays, datatypes, elements of declared sorts.
//!
//! A [`Value`] is small and can be a key of a map. What consists of other values lives in a [`Heap`], where equal things are
//! one: so equality, hashing and dropping never walk through a value, however deep it is.
//!
//! # Arrays
//!
//! An array is a decision diagram over the bits of its index's number: a node asks one bit, and no node has two equal
//! successors. Equal functions are then equal nodes, whatever stores made them, and a store copies one path.
//! For a finite index sort the number is the index's position among all, so that a constant array whose every place was
//! overwritten is what its places say. For an infinite one it is the number that the heap gave the index; always some indices
//! have none, so that the default is part of the function.

use std::fmt;
use std::hash::{Hash, Hasher};

use dashu_int::IBig;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::bits::Bits;
use crate::float::{Float, Format, Rounding};
use crate::real::Real;
use crate::regex::Regex;
use crate::text::Text;
use crate::{NoValue, Work, integer};

/// A value of any sort. Equal values of one heap are equal as SMT-LIB's `=` has it, regular expressions excepted, of which
/// equal ones may differ here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Of `Bool`.
    Bool(bool),
    /// Of `Int`.
    Int(IBig),
    /// Of `Real`.
    Real(Real),
    /// Of `(_ BitVec n)`.
    Bits(Bits),
    /// Of `(_ FloatingPoint eb sb)`.
    Float(Float),
    /// Of `RoundingMode`.
    Rounding(Rounding),
    /// Of `String`.
    Text(Text),
    /// Of `RegLan`.
    Regex(Regex),
    /// Of `(Array I E)`.
    Array(Array),
    /// Of a datatype.
    Data(Data),
    /// Of a declared sort.
    Element(Element),
}

/// The number of a value in a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

/// An array in a heap: its sort, and its diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Array {
    sort: ArraySort,
    root: Node,
}

/// The sort of an array in a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArraySort(u32);

/// A constructor application in a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Data(u32);

/// An element of a declared sort: both numbers are the caller's, and elements of different numbers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element {
    /// The sort.
    pub sort: u32,
    /// The element.
    pub number: u32,
}

/// The values that an array's index can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Without end, or with more values than arrays in memory can have places: `Int`, `String`, `(_ BitVec 65)`.
    Infinite,
    /// `Bool`.
    Bool,
    /// `RoundingMode`.
    Rounding,
    /// Bit-vectors of a width. One above 64 is treated as [`Domain::Infinite`].
    Bits(u32),
    /// Numbers of a format. One of more than 64 bits is treated as [`Domain::Infinite`].
    Float(Format),
    /// These values and no others: of a finite datatype, of a declared sort with a finite universe, of arrays of such.
    Listed(Vec<Value>),
}

impl Domain {
    /// Whether an index goes by the number that the heap gave it.
    fn is_infinite(&self) -> bool {
        match self {
            Self::Infinite => true,
            Self::Bits(width) => *width > 64,
            Self::Float(format) => format.width() > 64,
            Self::Bool | Self::Rounding | Self::Listed(_) => false,
        }
    }
}

/// The value of an array that most indices have, and the indices with others.
pub type Entries<'a> = (&'a Value, Vec<(Value, &'a Value)>);

/// An inner node or, with the highest bit set, a leaf: the number of the value there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Node(u32);

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.leaf() {
            Some(value) => write!(f, "leaf {}", value.0),
            None => write!(f, "node {}", self.0),
        }
    }
}

const LEAF: u32 = 1 << 31;

impl Node {
    fn of(value: ValueId) -> Self {
        Self(value.0 | LEAF)
    }

    fn leaf(self) -> Option<ValueId> {
        (self.0 & LEAF != 0).then_some(ValueId(self.0 & !LEAF))
    }
}

/// Asks one bit of the index's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Inner {
    bit: u8,
    zero: Node,
    one: Node,
}

struct SortEntry {
    domain: Domain,
    /// The values of a listed domain, and the places of these.
    listed: Vec<ValueId>,
    places: FxHashMap<ValueId, u64>,
    /// Bits of a number.
    bits: u8,
    /// The greatest number.
    last: u64,
}

/// Values by number and numbers by value, and what composed values consist of.
#[derive(Default)]
pub struct Heap {
    values: Vec<Value>,
    numbers: HashTable<u32>,
    inner: Vec<Inner>,
    inner_numbers: HashTable<u32>,
    data: Vec<(u32, Box<[ValueId]>)>,
    data_numbers: FxHashMap<(u32, Box<[ValueId]>), u32>,
    sorts: Vec<SortEntry>,
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The index number that stands for all that have none, in infinite domains.
const ELSE: u64 = LEAF as u64 - 1;

impl Heap {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of values and nodes, as a measure of memory.
    pub fn len(&self) -> usize {
        self.values.len() + self.inner.len() + self.data.len()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a value.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if there are 2^31 - 1 values; so wherever something is put into the heap.
    pub fn number(&mut self, value: &Value) -> Result<ValueId, NoValue> {
        let hash = hash_of(value);
        if let Some(number) = self.numbers.find(hash, |n| self.values[*n as usize] == *value) {
            return Ok(ValueId(*number));
        }
        let number = new_number(self.values.len())?;
        self.values.push(value.clone());
        let values = &self.values;
        self.numbers.insert_unique(hash, number, |n| hash_of(&values[*n as usize]));
        Ok(ValueId(number))
    }

    /// The value of a number.
    pub fn value(&self, number: ValueId) -> &Value {
        &self.values[number.0 as usize]
    }

    /// The application of a constructor, whose number is the caller's.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn data(&mut self, constructor: u32, arguments: &[Value]) -> Result<Value, NoValue> {
        let arguments = arguments.iter().map(|a| self.number(a)).collect::<Result<Box<[_]>, _>>()?;
        let key = (constructor, arguments);
        if let Some(number) = self.data_numbers.get(&key) {
            return Ok(Value::Data(Data(*number)));
        }
        let number = new_number(self.data.len())?;
        self.data.push(key.clone());
        self.data_numbers.insert(key, number);
        Ok(Value::Data(Data(number)))
    }

    /// The constructor of a datatype's value.
    pub fn constructor(&self, data: Data) -> u32 {
        self.data[data.0 as usize].0
    }

    /// The arguments of its constructor.
    pub fn arguments(&self, data: Data) -> &[ValueId] {
        &self.data[data.0 as usize].1
    }

    /// One of the arguments of its constructor: what a selector gives.
    pub fn argument(&self, data: Data, position: usize) -> Option<&Value> {
        Some(self.value(*self.arguments(data).get(position)?))
    }

    /// Declares a sort of arrays by what their index can be. Arrays can be compared if they were made for the same sort.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn array_sort(&mut self, domain: Domain) -> Result<ArraySort, NoValue> {
        let mut listed = Vec::new();
        let mut places = FxHashMap::default();
        let last = match &domain {
            Domain::Bool => 1,
            Domain::Rounding => Rounding::ALL.len() as u64 - 1,
            Domain::Bits(width @ 0..=64) => Bits::ones(*width).to_u64().unwrap_or(u64::MAX),
            // Both signs of all up to infinity, and NaN.
            Domain::Float(format) if format.width() <= 64 => 2 * infinity(*format) + 2,
            Domain::Listed(values) => {
                for value in values {
                    let number = self.number(value)?;
                    places.entry(number).or_insert_with(|| {
                        listed.push(number);
                        listed.len() as u64 - 1
                    });
                }
                (listed.len() as u64).saturating_sub(1)
            }
            Domain::Infinite | Domain::Bits(_) | Domain::Float(_) => ELSE,
        };
        let bits = (u64::BITS - last.leading_zeros()) as u8;
        let sort = ArraySort(new_number(self.sorts.len())?);
        self.sorts.push(SortEntry { domain, listed, places, bits, last });
        Ok(sort)
    }

    /// The number of an index.
    fn place(&mut self, sort: ArraySort, index: &Value) -> Result<u64, NoValue> {
        let entry = &self.sorts[sort.0 as usize];
        let place = match (&entry.domain, index) {
            (Domain::Bool, Value::Bool(bit)) => Some(u64::from(*bit)),
            (Domain::Rounding, Value::Rounding(mode)) => Rounding::ALL.iter().position(|m| m == mode).map(|p| p as u64),
            (Domain::Bits(..=64), Value::Bits(bits)) => bits.to_u64(),
            (Domain::Float(format), Value::Float(float)) if format.width() <= 64 => {
                let infinity = infinity(*format);
                if float.is_nan() {
                    Some(2 * infinity + 2)
                } else {
                    let magnitude = float.abs().to_bits().to_u64();
                    magnitude.map(|m| m + if float.is_negative() { infinity + 1 } else { 0 })
                }
            }
            (Domain::Listed(_), _) => {
                let number = self.number(index)?;
                return self.sorts[sort.0 as usize].places.get(&number).copied().ok_or(NoValue::Unspecified);
            }
            (domain, _) if domain.is_infinite() => Some(self.number(index)?.0.into()),
            // Another sort than the array was made for.
            _ => None,
        };
        let last = self.sorts[sort.0 as usize].last;
        place.filter(|p| *p <= last).ok_or(NoValue::Unspecified)
    }

    /// The index of a number.
    fn index(&self, sort: ArraySort, place: u64) -> Option<Value> {
        match &self.sorts[sort.0 as usize].domain {
            Domain::Bool => Some(Value::Bool(place == 1)),
            Domain::Rounding => Rounding::ALL.get(place as usize).copied().map(Value::Rounding),
            Domain::Bits(width @ 0..=64) => Some(Value::Bits(Bits::from_u64(*width, place))),
            Domain::Float(format) if format.width() <= 64 => {
                let infinity = infinity(*format);
                let float = match place.checked_sub(infinity + 1) {
                    None => Float::from_bits(*format, &Bits::from_u64(format.width(), place)),
                    Some(magnitude) if magnitude <= infinity => {
                        Float::from_bits(*format, &Bits::from_u64(format.width(), magnitude)).neg()
                    }
                    Some(_) => Float::nan(*format),
                };
                Some(Value::Float(float))
            }
            Domain::Listed(_) => {
                let number = self.sorts[sort.0 as usize].listed.get(place as usize)?;
                Some(self.value(*number).clone())
            }
            Domain::Infinite | Domain::Bits(_) | Domain::Float(_) => self.values.get(place as usize).cloned(),
        }
    }

    /// The array that has one value everywhere.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn constant(&mut self, sort: ArraySort, value: &Value) -> Result<Array, NoValue> {
        Ok(Array { sort, root: Node::of(self.number(value)?) })
    }

    fn at(&self, array: Array, place: u64) -> ValueId {
        let mut node = array.root;
        loop {
            if let Some(value) = node.leaf() {
                return value;
            }
            let inner = &self.inner[node.0 as usize];
            node = if place >> inner.bit & 1 == 1 { inner.one } else { inner.zero };
        }
    }

    /// `select`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] if the index is none of the sort's, [`NoValue::GaveUp`] at the limit.
    pub fn select(&mut self, array: Array, index: &Value) -> Result<Value, NoValue> {
        let place = self.place(array.sort, index)?;
        Ok(self.value(self.at(array, place)).clone())
    }

    /// `store`.
    ///
    /// # Errors
    ///
    /// As for [`Heap::select`].
    pub fn store(&mut self, array: Array, index: &Value, value: &Value) -> Result<Array, NoValue> {
        let place = self.place(array.sort, index)?;
        let leaf = Node::of(self.number(value)?);
        let SortEntry { bits, last, .. } = self.sorts[array.sort.0 as usize];
        // Down to the place, keeping what stands beside the path, and up again.
        let mut beside = [array.root; 64];
        let mut node = array.root;
        for bit in (0..bits).rev() {
            let (zero, one) = match node.leaf() {
                None if self.inner[node.0 as usize].bit == bit => {
                    let inner = &self.inner[node.0 as usize];
                    (inner.zero, inner.one)
                }
                _ => (node, node),
            };
            let set = place >> bit & 1 == 1;
            node = if set { one } else { zero };
            beside[usize::from(bit)] = if set { zero } else { one };
        }
        if node == leaf {
            return Ok(array);
        }
        let mut node = leaf;
        for bit in 0..bits {
            let other = beside[usize::from(bit)];
            let set = place >> bit & 1 == 1;
            // The first number of the half where the bit is set may be beyond the last: then nothing is asked.
            let upper = (place >> bit | 1) << bit;
            if upper > last {
                continue;
            }
            let (zero, one) = if set { (other, node) } else { (node, other) };
            node = self.inner(bit, zero, one)?;
        }
        Ok(Array { sort: array.sort, root: node })
    }

    fn inner(&mut self, bit: u8, zero: Node, one: Node) -> Result<Node, NoValue> {
        if zero == one {
            return Ok(zero);
        }
        let inner = Inner { bit, zero, one };
        let hash = hash_of(&inner);
        if let Some(number) = self.inner_numbers.find(hash, |n| self.inner[*n as usize] == inner) {
            return Ok(Node(*number));
        }
        let number = new_number(self.inner.len())?;
        self.inner.push(inner);
        let nodes = &self.inner;
        self.inner_numbers.insert_unique(hash, number, |n| hash_of(&nodes[*n as usize]));
        Ok(Node(number))
    }

    /// The value that most indices have (that of all unnamed ones, if the index sort is infinite), and the indices that
    /// have others, in an order that is the same for the same heap.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if there are too many.
    pub fn entries(&self, array: Array, work: &mut Work) -> Result<Entries<'_>, NoValue> {
        let entry = &self.sorts[array.sort.0 as usize];
        // Blocks of places with one value: first place, number of places, value.
        let mut blocks: Vec<(u64, u128, ValueId)> = Vec::new();
        let mut stack = vec![(array.root, entry.bits, 0u64)];
        while let Some((node, bits, first)) = stack.pop() {
            work.spend(1)?;
            if first > entry.last {
                continue;
            }
            match node.leaf() {
                Some(value) => {
                    let size = (1u128 << bits).min(u128::from(entry.last - first) + 1);
                    blocks.push((first, size, value));
                }
                None => {
                    let inner = &self.inner[node.0 as usize];
                    // A bit that is not asked has the same on both sides.
                    let bit = bits - 1;
                    let (zero, one) = if inner.bit == bit { (inner.zero, inner.one) } else { (node, node) };
                    stack.push((one, bit, first | 1 << bit));
                    stack.push((zero, bit, first));
                }
            }
        }
        let default = if entry.domain.is_infinite() {
            self.at(array, ELSE)
        } else {
            let mut sizes: FxHashMap<ValueId, u128> = FxHashMap::default();
            for (_, size, value) in &blocks {
                *sizes.entry(*value).or_default() += size;
            }
            let mut sizes: Vec<(ValueId, u128)> = sizes.into_iter().collect();
            sizes.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            sizes.first().map_or(ValueId(0), |(value, _)| *value)
        };
        let mut entries = Vec::new();
        for (first, size, value) in blocks {
            if value == default {
                continue;
            }
            work.spend(u64::try_from(size).unwrap_or(u64::MAX))?;
            for place in first..=first + (size - 1) as u64 {
                if let Some(index) = self.index(array.sort, place) {
                    entries.push((index, self.value(value)));
                }
            }
        }
        Ok((self.value(default), entries))
    }
}

/// The pattern of positive infinity: also the number of positive values below it.
fn infinity(format: Format) -> u64 {
    Float::infinite(format, false).to_bits().to_u64().unwrap_or(0)
}

fn new_number(length: usize) -> Result<u32, NoValue> {
    u32::try_from(length).ok().filter(|n| u64::from(*n) < ELSE).ok_or(NoValue::GaveUp)
}

impl Array {
    /// The sort that it was made for.
    pub const fn sort(self) -> ArraySort {
        self.sort
    }
}

/// The names that writing a value as a term needs.
pub trait Names {
    /// A constructor, quoted if need be; with its sort, `(as nil (List Int))`, where it would be ambiguous.
    fn constructor(&self, constructor: u32) -> String;
    /// An element of a declared sort, such as `(as @u0 U)`.
    fn element(&self, element: Element) -> String;
    /// A sort of arrays, such as `(Array Int Bool)`.
    fn array_sort(&self, sort: ArraySort) -> String;
    /// A regular expression, as a term.
    fn regex(&self, regex: Regex) -> String;
}

/// A step of writing: a value to come, or text.
enum Piece {
    Value(Value),
    Text(String),
}

impl Heap {
    /// A value as a term of SMT-LIB.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if the term is too long.
    pub fn write(&self, value: &Value, names: &impl Names, work: &mut Work) -> Result<String, NoValue> {
        let mut text = String::new();
        let mut stack = vec![Piece::Value(value.clone())];
        while let Some(piece) = stack.pop() {
            let before = text.len();
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Value(Value::Int(number)) => {
                    // A string takes all that is written to it.
                    let _ = integer::write(&number, &mut text);
                }
                Piece::Value(Value::Bool(bit)) => text.push_str(if bit { "true" } else { "false" }),
                Piece::Value(Value::Real(number)) => text.push_str(&number.to_string()),
                Piece::Value(Value::Bits(bits)) => text.push_str(&bits.to_string()),
                Piece::Value(Value::Float(number)) => text.push_str(&number.to_string()),
                Piece::Value(Value::Rounding(mode)) => text.push_str(&mode.to_string()),
                Piece::Value(Value::Text(string)) => text.push_str(&string.to_string()),
                Piece::Value(Value::Regex(regex)) => text.push_str(&names.regex(regex)),
                Piece::Value(Value::Element(element)) => text.push_str(&names.element(element)),
                Piece::Value(Value::Data(data)) => {
                    let constructor = names.constructor(self.constructor(data));
                    let arguments = self.arguments(data);
                    if arguments.is_empty() {
                        text.push_str(&constructor);
                    } else {
                        text.push('(');
                        text.push_str(&constructor);
                        stack.push(Piece::Text(")".into()));
                        for argument in arguments.iter().rev() {
                            stack.push(Piece::Value(self.value(*argument).clone()));
                            stack.push(Piece::Text(" ".into()));
                        }
                    }
                }
                Piece::Value(Value::Array(array)) => {
                    let (default, entries) = self.entries(array, work)?;
                    for (index, value) in entries.iter().rev() {
                        stack.push(Piece::Text(")".into()));
                        stack.push(Piece::Value((*value).clone()));
                        stack.push(Piece::Text(" ".into()));
                        stack.push(Piece::Value(index.clone()));
                        stack.push(Piece::Text(" ".into()));
                    }
                    stack.push(Piece::Text(")".into()));
                    stack.push(Piece::Value(default.clone()));
                    let sort = names.array_sort(array.sort);
                    text.push_str(&"(store ".repeat(entries.len()));
                    text.push_str(&format!("((as const {sort}) "));
                }
            }
            work.spend(1 + (text.len() - before) as u64 / 8)?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
