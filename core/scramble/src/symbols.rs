//! Words by number: what stands in a script is kept once.

use crate::chunked::Chunked;

/// The number of a word.
pub(crate) type Symbol = u32;

/// Bytes of words are kept in blocks of this size; a longer word has a block of its own.
const BLOCK: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    block: u16,
    start: u16,
    length: u32,
    hash: u32,
    /// The word without the bars of a quoted symbol, which SMT-LIB takes for the same symbol.
    plain: Symbol,
    /// Whatever the grammar keeps of the name that the word stands for; 0 at first.
    name: u32,
}

/// All words that were seen.
#[derive(Debug)]
pub(crate) struct Symbols {
    blocks: Vec<Vec<u8>>,
    /// The block that short words go to.
    open: usize,
    entries: Chunked<Entry>,
    /// Number + 1 of the entry; 0 if free. The size is a power of two.
    table: Vec<u32>,
}

/// There are more words than numbers for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let mut sum = bytes.len() as u64;
    let mut rest = bytes;
    while let Some((eight, after)) = rest.split_first_chunk::<8>() {
        sum = (sum.rotate_left(5) ^ u64::from_le_bytes(*eight)).wrapping_mul(FACTOR);
        rest = after;
    }
    let mut last = 0;
    for &byte in rest {
        last = last << 8 | u64::from(byte);
    }
    sum = (sum.rotate_left(5) ^ last).wrapping_mul(FACTOR);
    (sum ^ sum >> 29).wrapping_mul(FACTOR).wrapping_shr(32) as u32
}

impl Symbols {
    /// A table that knows `first` under the numbers from 0 on. They are all different.
    pub(crate) fn new(first: &[&str]) -> Self {
        let mut all = Self {
            blocks: vec![Vec::with_capacity(BLOCK / 16)],
            open: 0,
            entries: Chunked::default(),
            table: vec![0; 1024],
        };
        for word in first {
            // They are few.
            let _ = all.intern(word.as_bytes());
        }
        all
    }

    /// The number of a word if it was seen.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<Symbol> {
        self.slot(bytes, hash(bytes)).ok()
    }

    /// The number of a word, or the free slot where it belongs.
    #[inline]
    fn slot(&self, bytes: &[u8], hash: u32) -> Result<Symbol, usize> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.table[at] {
                0 => return Err(at),
                number => {
                    let entry = &self.entries[number as usize - 1];
                    if entry.hash == hash && self.bytes(entry) == bytes {
                        return Ok(number - 1);
                    }
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a word; a new one if it was not seen before.
    #[inline]
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Result<Symbol, TooMany> {
        let hash = hash(bytes);
        match self.slot(bytes, hash) {
            Ok(known) => Ok(known),
            Err(slot) => self.insert(bytes, hash, slot),
        }
    }

    #[cold]
    fn insert(&mut self, bytes: &[u8], hash: u32, mut slot: usize) -> Result<Symbol, TooMany> {
        let number = self.entries.len();
        // The numbers share a word with two bits of something else.
        if number >= 1 << 29 || bytes.len() > 1 << 30 {
            return Err(TooMany);
        }
        let (block, start) = if bytes.len() > BLOCK {
            self.blocks.push(bytes.to_vec());
            (self.blocks.len() - 1, 0)
        } else {
            if self.blocks[self.open].len() + bytes.len() > BLOCK {
                self.blocks.push(Vec::new());
                self.open = self.blocks.len() - 1;
            }
            let block = &mut self.blocks[self.open];
            if block.capacity() < block.len() + bytes.len() {
                block.reserve_exact(bytes.len().max(BLOCK / 16).max(block.len().min(BLOCK / 2)));
            }
            let start = block.len();
            block.extend_from_slice(bytes);
            (self.open, start)
        };
        let block = u16::try_from(block).map_err(|_| TooMany)?;
        // A word that begins where a block ends is empty.
        let start = u16::try_from(start).unwrap_or(0);
        let plain = number as u32;
        self.entries.push(Entry { block, start, length: bytes.len() as u32, hash, plain, name: 0 });
        self.table[slot] = number as u32 + 1;
        if (number + 1) * 2 > self.table.len() {
            let mut table = vec![0; self.table.len() * 2];
            let mask = table.len() - 1;
            for at in 0..self.entries.len() {
                slot = self.entries[at].hash as usize & mask;
                while table[slot] != 0 {
                    slot = (slot + 1) & mask;
                }
                table[slot] = at as u32 + 1;
            }
            self.table = table;
        }
        if let [b'|', inner @ .., b'|'] = bytes {
            let plain = self.intern(inner)?;
            self.entries[number].plain = plain;
        }
        Ok(number as u32)
    }

    fn bytes(&self, entry: &Entry) -> &[u8] {
        let start = usize::from(entry.start);
        &self.blocks[usize::from(entry.block)][start..start + entry.length as usize]
    }

    /// The word.
    #[inline]
    pub(crate) fn text(&self, symbol: Symbol) -> &[u8] {
        self.bytes(&self.entries[symbol as usize])
    }

    /// The same symbol without bars.
    #[inline]
    pub(crate) fn plain(&self, symbol: Symbol) -> Symbol {
        self.entries[symbol as usize].plain
    }

    /// What is kept of the name.
    #[inline]
    pub(crate) fn name(&self, symbol: Symbol) -> u32 {
        self.entries[symbol as usize].name
    }

    /// Keeps something of the name.
    pub(crate) fn set_name(&mut self, symbol: Symbol, name: u32) {
        self.entries[symbol as usize].name = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_numbers() {
        let mut all = Symbols::new(&["a", "b"]);
        assert_eq!((all.find(b"a"), all.find(b"b"), all.find(b"c")), (Some(0), Some(1), None));
        let quoted = all.intern(b"|b|").unwrap();
        assert_eq!((all.plain(quoted), all.text(quoted)), (1, &b"|b|"[..]));
        let empty = all.intern(b"||").unwrap();
        assert_eq!(all.text(all.plain(empty)), b"");
        let bar = all.intern(b"|").unwrap();
        assert_eq!(all.plain(bar), bar);
        let long = vec![b'y'; BLOCK + 1];
        let n = all.intern(&long).unwrap();
        for k in 0..100_000 {
            let word = format!("word{k}");
            let number = all.intern(word.as_bytes()).unwrap();
            assert_eq!(all.intern(word.as_bytes()), Ok(number));
            assert_eq!(all.text(number), word.as_bytes());
        }
        assert_eq!((all.text(n), all.find(&long)), (&long[..], Some(n)));
        all.set_name(n, 7);
        assert_eq!((all.name(n), all.name(0)), (7, 0));
    }
}
