//! Regular expressions of the theory UnicodeStrings, matched by derivatives.
//!
//! Expressions live in a [`Languages`], where equal ones are one node, and are simplified as they are made: so the
//! derivatives of an expression stay few. The derivative by a character is the expression of what may follow it (Brzozowski;
//! Owens, Reppy and Turon). All walks have their own stack, so that an expression may be as deep as memory allows.

use rustc_hash::FxHashMap;

use crate::text::{MAX_CODE, Text};
use crate::{NoValue, Work};

/// A regular expression in a [`Languages`]. Equal numbers mean equal languages, but not the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Regex(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    None,
    Empty,
    /// One character between two, both included.
    Range(u32, u32),
    /// The first is no concatenation.
    Concat(Regex, Regex),
    /// Sorted, without repetitions, at least two, none of them a union.
    Union(Box<[Regex]>),
    /// Sorted, without repetitions, at least two, none of them an intersection.
    Inter(Box<[Regex]>),
    Complement(Regex),
    Star(Regex),
    /// At least and at most so many times; the last is not below the first.
    Loop(Regex, u64, u64),
}

/// All regular expressions of an evaluation.
#[derive(Clone, Debug)]
pub struct Languages {
    nodes: Vec<Node>,
    /// Whether the empty string is in the language.
    nullable: Vec<bool>,
    numbers: FxHashMap<Node, Regex>,
    derivatives: FxHashMap<(Regex, u32), Regex>,
}

impl Default for Languages {
    fn default() -> Self {
        Self::new()
    }
}

impl Languages {
    /// `re.none`.
    pub const NONE: Regex = Regex(0);
    /// The language of the empty string only.
    pub const EMPTY: Regex = Regex(1);
    /// `re.allchar`.
    pub const ALL_CHAR: Regex = Regex(2);
    /// `re.all`.
    pub const ALL: Regex = Regex(3);

    /// With the constants only.
    pub fn new() -> Self {
        let mut languages = Self {
            nodes: Vec::new(),
            nullable: Vec::new(),
            numbers: FxHashMap::default(),
            derivatives: FxHashMap::default(),
        };
        languages.node(Node::None);
        languages.node(Node::Empty);
        let all_char = languages.node(Node::Range(0, MAX_CODE));
        languages.node(Node::Star(all_char));
        languages
    }

    /// The number of expressions, derivatives among them.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the constants are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn get(&self, regex: Regex) -> &Node {
        &self.nodes[regex.0 as usize]
    }

    /// Whether the empty string matches.
    pub fn is_nullable(&self, regex: Regex) -> bool {
        self.nullable[regex.0 as usize]
    }

    fn node(&mut self, node: Node) -> Regex {
        if let Some(regex) = self.numbers.get(&node) {
            return *regex;
        }
        let nullable = match &node {
            Node::None | Node::Range(..) => false,
            Node::Empty | Node::Star(_) => true,
            Node::Concat(a, b) => self.is_nullable(*a) && self.is_nullable(*b),
            Node::Union(parts) => parts.iter().any(|p| self.is_nullable(*p)),
            Node::Inter(parts) => parts.iter().all(|p| self.is_nullable(*p)),
            Node::Complement(inner) => !self.is_nullable(*inner),
            Node::Loop(inner, least, _) => *least == 0 || self.is_nullable(*inner),
        };
        // Each node takes more memory than a word, so numbers do not run out before that does.
        let regex = Regex(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.nullable.push(nullable);
        self.numbers.insert(node, regex);
        regex
    }

    /// `re.range`: the characters from the one string to the other; none if one has not length one or they are reversed.
    pub fn range(&mut self, from: &Text, to: &Text) -> Regex {
        match (from.codes(), to.codes()) {
            ([from], [to]) if from <= to => self.node(Node::Range(*from, *to)),
            _ => Self::NONE,
        }
    }

    /// `str.to_re`.
    pub fn literal(&mut self, text: &Text) -> Regex {
        let mut regex = Self::EMPTY;
        for code in text.codes().iter().rev() {
            let first = self.node(Node::Range(*code, *code));
            regex = self.pair(first, regex);
        }
        regex
    }

    /// A concatenation whose first part is none.
    fn pair(&mut self, first: Regex, second: Regex) -> Regex {
        match (first, second) {
            (Self::NONE, _) | (_, Self::NONE) => Self::NONE,
            (Self::EMPTY, other) | (other, Self::EMPTY) => other,
            (Self::ALL, Self::ALL) => Self::ALL,
            _ => self.node(Node::Concat(first, second)),
        }
    }

    /// `re.++` of two.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] at the limit; so for all that may take long.
    pub fn concat(&mut self, first: Regex, second: Regex, work: &mut Work) -> Result<Regex, NoValue> {
        let mut parts = Vec::new();
        let mut rest = first;
        while let Node::Concat(head, tail) = self.get(rest) {
            work.spend(1)?;
            parts.push(*head);
            rest = *tail;
        }
        let mut regex = self.pair(rest, second);
        for part in parts.into_iter().rev() {
            regex = self.pair(part, regex);
        }
        Ok(regex)
    }

    /// `re.union`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn union(&mut self, parts: &[Regex], work: &mut Work) -> Result<Regex, NoValue> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match self.get(*part) {
                Node::Union(inner) => flat.extend_from_slice(inner),
                Node::None => {}
                _ => flat.push(*part),
            }
        }
        work.spend(1 + flat.len() as u64)?;
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&Self::ALL) || self.has_opposites(&flat) {
            return Ok(Self::ALL);
        }
        Ok(match flat.as_slice() {
            [] => Self::NONE,
            [only] => *only,
            _ => self.node(Node::Union(flat.into())),
        })
    }

    /// `re.inter`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn inter(&mut self, parts: &[Regex], work: &mut Work) -> Result<Regex, NoValue> {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match self.get(*part) {
                Node::Inter(inner) => flat.extend_from_slice(inner),
                _ if *part == Self::ALL => {}
                _ => flat.push(*part),
            }
        }
        work.spend(1 + flat.len() as u64)?;
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&Self::NONE) || self.has_opposites(&flat) {
            return Ok(Self::NONE);
        }
        if flat.contains(&Self::EMPTY) {
            return Ok(if flat.iter().all(|p| self.is_nullable(*p)) { Self::EMPTY } else { Self::NONE });
        }
        Ok(match flat.as_slice() {
            [] => Self::ALL,
            [only] => *only,
            _ => self.node(Node::Inter(flat.into())),
        })
    }

    /// Whether an expression and its complement are among sorted ones.
    fn has_opposites(&self, sorted: &[Regex]) -> bool {
        sorted.iter().any(|p| matches!(self.get(*p), Node::Complement(inner) if sorted.binary_search(inner).is_ok()))
    }

    /// `re.comp`.
    pub fn complement(&mut self, regex: Regex) -> Regex {
        match self.get(regex) {
            Node::Complement(inner) => *inner,
            Node::None => Self::ALL,
            _ if regex == Self::ALL => Self::NONE,
            _ => self.node(Node::Complement(regex)),
        }
    }

    /// `re.diff` of two.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn difference(&mut self, a: Regex, b: Regex, work: &mut Work) -> Result<Regex, NoValue> {
        let not = self.complement(b);
        self.inter(&[a, not], work)
    }

    /// `re.*`.
    pub fn star(&mut self, regex: Regex) -> Regex {
        match self.get(regex) {
            Node::Star(_) => regex,
            Node::None | Node::Empty => Self::EMPTY,
            _ => self.node(Node::Star(regex)),
        }
    }

    /// `re.+`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn plus(&mut self, regex: Regex, work: &mut Work) -> Result<Regex, NoValue> {
        let star = self.star(regex);
        self.concat(regex, star, work)
    }

    /// `re.opt`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn optional(&mut self, regex: Regex, work: &mut Work) -> Result<Regex, NoValue> {
        self.union(&[regex, Self::EMPTY], work)
    }

    /// `(_ re.^ count)`.
    pub fn power(&mut self, regex: Regex, count: u64) -> Regex {
        self.repeat(regex, count, count)
    }

    /// `(_ re.loop least most)`: none if the first exceeds the second.
    pub fn repeat(&mut self, regex: Regex, least: u64, most: u64) -> Regex {
        if least > most {
            return Self::NONE;
        }
        // Of what may be empty, fewer are as good as more.
        let least = if self.is_nullable(regex) { 0 } else { least };
        match self.get(regex) {
            _ if most == 0 => Self::EMPTY,
            Node::Empty => Self::EMPTY,
            Node::None if least > 0 => Self::NONE,
            Node::None => Self::EMPTY,
            Node::Star(_) => regex,
            _ if (least, most) == (1, 1) => regex,
            _ => self.node(Node::Loop(regex, least, most)),
        }
    }

    /// The derivative by a character.
    fn derivative(&mut self, regex: Regex, code: u32, work: &mut Work) -> Result<Regex, NoValue> {
        if let Some(known) = self.known(regex, code) {
            return Ok(known);
        }
        let mut stack = vec![regex];
        while let Some(top) = stack.last().copied() {
            work.spend(1)?;
            if self.known(top, code).is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let needed: &[Regex] = match self.get(top) {
                Node::None | Node::Empty | Node::Range(..) => &[],
                Node::Concat(first, second) => {
                    let nullable = self.is_nullable(*first);
                    let wanted: &[Regex] = if nullable { &[*first, *second] } else { &[*first] };
                    let missing: Vec<Regex> =
                        wanted.iter().copied().filter(|r| self.known(*r, code).is_none()).collect();
                    stack.extend(missing);
                    &[]
                }
                Node::Union(parts) | Node::Inter(parts) => parts,
                Node::Complement(inner) | Node::Star(inner) | Node::Loop(inner, ..) => std::slice::from_ref(inner),
            };
            work.spend(needed.len() as u64)?;
            stack.extend(needed.iter().copied().filter(|r| self.known(*r, code).is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let result = self.combine(top, code, work)?;
            self.derivatives.insert((top, code), result);
        }
        self.known(regex, code).ok_or(NoValue::GaveUp)
    }

    /// A derivative that needs no computing any more.
    fn known(&self, regex: Regex, code: u32) -> Option<Regex> {
        match self.get(regex) {
            Node::None | Node::Empty => Some(Self::NONE),
            Node::Range(from, to) => Some(if (*from..=*to).contains(&code) { Self::EMPTY } else { Self::NONE }),
            _ if regex == Self::ALL => Some(Self::ALL),
            _ => self.derivatives.get(&(regex, code)).copied(),
        }
    }

    /// The derivative from those of the parts.
    fn combine(&mut self, regex: Regex, code: u32, work: &mut Work) -> Result<Regex, NoValue> {
        let part = |this: &Self, part: Regex| this.known(part, code).ok_or(NoValue::GaveUp);
        match self.get(regex).clone() {
            Node::None | Node::Empty | Node::Range(..) => part(self, regex),
            Node::Concat(first, second) => {
                let left = part(self, first)?;
                let left = self.concat(left, second, work)?;
                if !self.is_nullable(first) {
                    return Ok(left);
                }
                let right = part(self, second)?;
                self.union(&[left, right], work)
            }
            Node::Union(parts) => {
                let parts = parts.iter().map(|p| part(self, *p)).collect::<Result<Vec<_>, _>>()?;
                self.union(&parts, work)
            }
            Node::Inter(parts) => {
                let parts = parts.iter().map(|p| part(self, *p)).collect::<Result<Vec<_>, _>>()?;
                self.inter(&parts, work)
            }
            Node::Complement(inner) => {
                let inner = part(self, inner)?;
                Ok(self.complement(inner))
            }
            Node::Star(inner) => {
                let first = part(self, inner)?;
                self.concat(first, regex, work)
            }
            Node::Loop(inner, least, most) => {
                let first = part(self, inner)?;
                let rest = self.repeat(inner, least.saturating_sub(1), most - 1);
                self.concat(first, rest, work)
            }
        }
    }

    /// `str.in_re`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn matches(&mut self, regex: Regex, text: &Text, work: &mut Work) -> Result<bool, NoValue> {
        let mut state = regex;
        for code in text.codes() {
            work.spend(1)?;
            state = self.derivative(state, *code, work)?;
            if state == Self::NONE || state == Self::ALL {
                break;
            }
        }
        Ok(self.is_nullable(state))
    }

    /// The shortest leftmost match from a position on, perhaps among those that are not empty.
    fn find(
        &mut self,
        regex: Regex,
        codes: &[u32],
        from: usize,
        empty: bool,
        work: &mut Work,
    ) -> Result<Option<(usize, usize)>, NoValue> {
        for start in from..=codes.len() {
            if empty && self.is_nullable(regex) {
                return Ok(Some((start, start)));
            }
            let mut state = regex;
            for (i, code) in codes.iter().enumerate().skip(start) {
                work.spend(1)?;
                state = self.derivative(state, *code, work)?;
                if self.is_nullable(state) {
                    return Ok(Some((start, i + 1)));
                }
                if state == Self::NONE {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// `str.replace_re`: the shortest leftmost match, which may be empty, by a string.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn replace(&mut self, text: &Text, regex: Regex, by: &Text, work: &mut Work) -> Result<Text, NoValue> {
        match self.find(regex, text.codes(), 0, true, work)? {
            Some(place) => text.splice(&[place], by, work),
            None => Ok(text.clone()),
        }
    }

    /// `str.replace_re_all`: from the left, each shortest match that is not empty, by a string.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn replace_all(&mut self, text: &Text, regex: Regex, by: &Text, work: &mut Work) -> Result<Text, NoValue> {
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(place) = self.find(regex, text.codes(), from, false, work)? {
            from = place.1;
            places.push(place);
        }
        text.splice(&places, by, work)
    }
}

#[cfg(test)]
mod tests;
