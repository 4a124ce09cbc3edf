//! A hash index from contents to ids, and the table of symbols.
//!
//! [`Index`] keeps hashes and ids only; contents stay where they are (columns of a table), so that nothing is stored twice
//! and growing touches no content.

use std::fmt;

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes one more word into a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(MIX)
}

/// Open addressing over pairs of hash and id.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// The hash's upper half and the id plus 1; 0 is free.
    slots: Vec<u64>,
    used: usize,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { slots: vec![0; 1024], used: 0 }
    }

    /// The id whose content is equal by `same`, or the free slot where it belongs.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let tag = hash >> 32;
        let mut at = tag as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot >> 32 == tag {
                let id = (slot as u32) - 1;
                if same(id) {
                    return Ok(id);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts an id into the free slot that [`find`](Self::find) gave.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, slot: usize, id: u32) {
        self.slots[slot] = (hash >> 32 << 32) | (u64::from(id) + 1);
        self.used += 1;
        if self.used * 3 > self.slots.len() * 2 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![0; size];
        for &slot in &self.slots {
            if slot != 0 {
                let mut at = (slot >> 32) as usize & (size - 1);
                while slots[at] != 0 {
                    at = (at + 1) & (size - 1);
                }
                slots[at] = slot;
            }
        }
        self.slots = slots;
    }
}

/// A name (without the bars of a quoted symbol) or the text of a literal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// Its number in the order of first use; the symbols of the language and the theories come first.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Symbol({})", self.0)
    }
}

/// All symbols of a script.
#[derive(Clone, Debug)]
pub struct Symbols {
    bytes: Vec<u8>,
    /// Where each symbol ends in `bytes`.
    ends: Vec<u32>,
    index: Index,
}

#[inline]
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    let rest = chunks.remainder();
    // The rest is at most seven bytes: two or three loads that may overlap.
    let word = match rest.len() {
        0 => 0,
        n @ 1..=3 => u64::from(rest[0]) | u64::from(rest[n / 2]) << 8 | u64::from(rest[n - 1]) << 16,
        n => {
            let four = |at: usize| u64::from(u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]));
            four(0) | four(n - 4) << 32
        }
    };
    let hash = mix(hash, word);
    hash ^ (hash >> 29).wrapping_mul(MIX)
}

impl Symbols {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::with_capacity(1 << 14), ends: Vec::with_capacity(1 << 10), index: Index::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a symbol; none if it is of another script.
    #[inline]
    pub fn bytes(&self, symbol: Symbol) -> &[u8] {
        slice(&self.bytes, &self.ends, symbol.0)
    }

    /// The symbol as text, with what is not UTF-8 replaced.
    pub fn text(&self, symbol: Symbol) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(symbol))
    }

    /// The symbol with these bytes, if the script has it.
    pub fn find(&self, bytes: &[u8]) -> Option<Symbol> {
        let hash = hash_bytes(bytes);
        self.index.find(hash, |id| same(slice(&self.bytes, &self.ends, id), bytes)).ok().map(Symbol)
    }

    #[inline]
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Symbol {
        let hash = hash_bytes(bytes);
        match self.index.find(hash, |id| same(slice(&self.bytes, &self.ends, id), bytes)) {
            Ok(id) => Symbol(id),
            Err(slot) => {
                let id = self.ends.len() as u32;
                self.bytes.extend_from_slice(bytes);
                self.ends.push(self.bytes.len() as u32);
                self.index.insert(hash, slot, id);
                Symbol(id)
            }
        }
    }
}

/// Equality without a call: names are short.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    let length = a.len();
    if length != b.len() {
        return false;
    }
    let eight = |x: &[u8], at: usize| -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&x[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let four = |x: &[u8], at: usize| -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&x[at..at + 4]);
        u32::from_le_bytes(word)
    };
    if length >= 8 {
        let mut at = 0;
        while at + 8 <= length {
            if eight(a, at) != eight(b, at) {
                return false;
            }
            at += 8;
        }
        // The rest, with bytes that were compared already.
        return eight(a, length - 8) == eight(b, length - 8);
    }
    if length >= 4 {
        return four(a, 0) == four(b, 0) && four(a, length - 4) == four(b, length - 4);
    }
    a.iter().zip(b).all(|(x, y)| x == y)
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let id = id as usize;
    let Some(&end) = ends.get(id) else { return &[] };
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start as usize..end as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_one_symbol() {
        let mut symbols = Symbols::new();
        let names: Vec<Vec<u8>> = (0..5000_u32).map(|n| format!("x{}", n * 7919 % 4001).into_bytes()).collect();
        let ids: Vec<Symbol> = names.iter().map(|n| symbols.intern(n)).collect();
        assert_eq!(symbols.len(), 4001);
        for (name, id) in names.iter().zip(&ids) {
            assert_eq!(symbols.bytes(*id), &name[..]);
            assert_eq!(symbols.find(name), Some(*id));
        }
        assert_eq!(symbols.find(b"y"), None);
        let empty = symbols.intern(b"");
        assert_eq!((symbols.bytes(empty), symbols.bytes(Symbol(99_999))), (&b""[..], &b""[..]));
    }
}
