//! Commands and terms as trees of numbers, four bytes for a word and eight for a pair of parentheses.

use crate::chunked::Chunked;
use crate::symbols::{Symbol, TooMany};

/// A word or a node of the tree: two bits say what, the rest is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref(u32);

/// What a [`Ref`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A word that is printed as it is.
    Word(Symbol),
    /// A symbol in a place where a declared name may stand: it is renamed when it is printed.
    Name(Symbol),
    /// A word made of a letter and a number.
    Numbered(Numbered),
    /// A node.
    Node(usize),
}

/// A word made of a letter and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// `x1` and so on: declared names.
    X(u32),
    /// `y1` and so on: names of annotations.
    Y(u32),
}

const SHIFT: u32 = 30;
const LOW: u32 = (1 << SHIFT) - 1;

impl Ref {
    /// The empty list.
    pub(crate) const EMPTY: Self = Self(3 << SHIFT);

    #[inline]
    pub(crate) fn word(symbol: Symbol) -> Self {
        Self(symbol)
    }

    #[inline]
    pub(crate) fn name(symbol: Symbol) -> Self {
        Self(1 << SHIFT | symbol)
    }

    pub(crate) fn numbered(what: Numbered) -> Result<Self, TooMany> {
        let (number, y) = match what {
            Numbered::X(number) => (number, 0),
            Numbered::Y(number) => (number, 1),
        };
        if number >= 1 << (SHIFT - 1) { Err(TooMany) } else { Ok(Self(2 << SHIFT | number << 1 | y)) }
    }

    #[inline]
    fn node(at: usize) -> Self {
        Self(3 << SHIFT | at as u32)
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        let low = self.0 & LOW;
        match self.0 >> SHIFT {
            0 => What::Word(low),
            1 => What::Name(low),
            2 if low & 1 == 0 => What::Numbered(Numbered::X(low >> 1)),
            2 => What::Numbered(Numbered::Y(low >> 1)),
            _ => What::Node(low as usize),
        }
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// How a node is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// In parentheses.
    List,
    /// Without parentheses: a keyword and its value.
    Bare,
    /// A term with annotations: `(! first rest...)`, or the first alone.
    Annotated,
}

const SHAPE_SHIFT: u32 = 30;

/// The nodes of the commands that were not printed yet: a header and then the parts.
#[derive(Debug)]
pub(crate) struct Tree {
    words: Chunked<u32>,
}

/// What is being read: parts of nodes that are not complete.
pub(crate) type Stack = Chunked<u32>;

impl Tree {
    pub(crate) fn new() -> Self {
        let mut tree = Self { words: Chunked::default() };
        tree.clear();
        tree
    }

    /// Forgets all nodes.
    pub(crate) fn clear(&mut self) {
        self.words.truncate(0);
        // The empty list is always there.
        self.words.push(0);
    }

    /// A node of parts.
    pub(crate) fn add(&mut self, shape: Shape, parts: &[Ref]) -> Result<Ref, TooMany> {
        let at = self.header(shape, parts.len())?;
        for part in parts {
            self.words.push(part.0);
        }
        Ok(Ref::node(at))
    }

    /// A node of what is on a stack from a place on, which is taken away.
    #[inline]
    pub(crate) fn collect(&mut self, shape: Shape, stack: &mut Stack, from: usize) -> Result<Ref, TooMany> {
        let to = stack.len();
        let at = self.header(shape, to - from)?;
        for place in from..to {
            self.words.push(stack[place]);
        }
        stack.truncate(from);
        Ok(Ref::node(at))
    }

    #[inline]
    fn header(&mut self, shape: Shape, parts: usize) -> Result<usize, TooMany> {
        let at = self.words.len();
        if at + parts + 1 > LOW as usize {
            return Err(TooMany);
        }
        self.words.push((shape as u32) << SHAPE_SHIFT | parts as u32);
        Ok(at)
    }

    /// The shape of a node and where its parts begin and end.
    #[inline]
    pub(crate) fn open(&self, node: usize) -> (Shape, usize, usize) {
        let header = self.words[node];
        let shape = match header >> SHAPE_SHIFT {
            0 => Shape::List,
            1 => Shape::Bare,
            _ => Shape::Annotated,
        };
        (shape, node + 1, node + 1 + (header & LOW) as usize)
    }

    /// What stands at a place.
    #[inline]
    pub(crate) fn part(&self, at: usize) -> Ref {
        Ref(self.words[at])
    }

    /// The first part of a node.
    pub(crate) fn first(&self, node: usize) -> Option<Ref> {
        let (_, from, to) = self.open(node);
        (from < to).then(|| self.part(from))
    }

    /// Puts something else at a place.
    pub(crate) fn replace(&mut self, at: usize, part: Ref) {
        self.words[at] = part.0;
    }

    /// Takes one part out of a node.
    pub(crate) fn remove(&mut self, node: usize, place: usize) {
        let (_, from, to) = self.open(node);
        for at in place..to - 1 {
            self.words[at] = self.words[at + 1];
        }
        if from < to {
            self.words[node] -= 1;
        }
    }
}
