//! A vector in pieces: it grows without copying and gives memory back as it shrinks.
//!
//! A vector in one piece holds old and new content while it grows, half of it perhaps empty. What is promised of the
//! scrambler's memory leaves no room for that.

use std::ops::{Index, IndexMut};

const BITS: usize = 13;
const SIZE: usize = 1 << BITS;

/// Elements by number, in boxes of the same size.
#[derive(Debug)]
pub(crate) struct Chunked<T> {
    chunks: Vec<Box<[T]>>,
    length: usize,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), length: 0 }
    }
}

impl<T: Copy + Default> Chunked<T> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        let at = self.length;
        if at >> BITS == self.chunks.len() {
            self.chunks.push(vec![T::default(); SIZE].into_boxed_slice());
        }
        self.chunks[at >> BITS][at & (SIZE - 1)] = value;
        self.length = at + 1;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.length.checked_sub(1)?;
        let value = self[last];
        self.truncate(last);
        Some(value)
    }

    /// Forgets all from a place on. One box beyond it stays, so that a length that swings about the end of a box does not
    /// ask for memory again and again.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = length;
        let needed = (length >> BITS) + 2;
        if self.chunks.len() > needed {
            self.chunks.truncate(needed);
        }
    }

    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        let kept = self[a];
        self[a] = self[b];
        self[b] = kept;
    }

    pub(crate) fn reverse(&mut self, from: usize, to: usize) {
        let (mut low, mut high) = (from, to);
        while low + 1 < high {
            high -= 1;
            self.swap(low, high);
            low += 1;
        }
    }
}

impl<T> Index<usize> for Chunked<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at >> BITS][at & (SIZE - 1)]
    }
}

impl<T> IndexMut<usize> for Chunked<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at >> BITS][at & (SIZE - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_vector() {
        let mut all = Chunked::default();
        for n in 0..3 * SIZE as u32 + 5 {
            all.push(n);
        }
        assert_eq!((all.len(), all[SIZE], all[3 * SIZE + 4]), (3 * SIZE + 5, SIZE as u32, 3 * SIZE as u32 + 4));
        all.reverse(SIZE - 1, SIZE + 2);
        assert_eq!([all[SIZE - 1], all[SIZE], all[SIZE + 1]], [SIZE as u32 + 1, SIZE as u32, SIZE as u32 - 1]);
        assert_eq!(all.pop(), Some(3 * SIZE as u32 + 4));
        all.truncate(1);
        assert_eq!((all.len(), all.chunks.len(), all.pop(), all.pop()), (1, 2, Some(0), None));
        all.push(9);
        assert_eq!(all[0], 9);
    }
}
