//! In which order pairs are run.
//!
//! The benchmarks are shuffled by the seed, and all entrants run on one benchmark before the next one begins, in an
//! order that is drawn anew for each: a machine that becomes slower or hotter during the run then treats all alike. The
//! draws are specified here, so that the order is the same for ever: ChaCha20 with the seed as the first
//! eight bytes of its key (little-endian, the others 0) and nonce and counter 0, numbers below n by rejection from its 64-bit outputs, shuffles from the last place downwards.

use rand::rngs::ChaCha20Rng;
use rand::{Rng as _, SeedableRng as _};

/// The generator of an order.
pub struct Draws(ChaCha20Rng);

impl Draws {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha20Rng::from_seed(key))
    }

    /// A number below `n`, each with the same probability. `n` must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Outputs at or above the greatest multiple of n would favour small numbers.
        let bound = u64::MAX - (u64::MAX % n + 1) % n;
        loop {
            let draw = self.0.next_u64();
            if draw <= bound {
                return draw % n;
            }
        }
    }

    /// Shuffles in place.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The order of all pairs: (entrant, benchmark) by their places in the lists.
pub fn pairs(seed: u64, entrants: usize, benchmarks: usize) -> Vec<(usize, usize)> {
    let mut draws = Draws::new(seed);
    let mut order: Vec<usize> = (0..benchmarks).collect();
    draws.shuffle(&mut order);
    let mut pairs = Vec::with_capacity(entrants * benchmarks);
    let mut group: Vec<usize> = (0..entrants).collect();
    for benchmark in order {
        draws.shuffle(&mut group);
        pairs.extend(group.iter().map(|&entrant| (entrant, benchmark)));
    }
    pairs
}

/// The order of all pairs where benchmarks are run as they are listed; the entrants are shuffled for each of them.
pub fn listed(seed: u64, entrants: usize, benchmarks: usize) -> Vec<(usize, usize)> {
    let mut draws = Draws::new(seed);
    let mut group: Vec<usize> = (0..entrants).collect();
    let mut pairs = Vec::with_capacity(entrants * benchmarks);
    for benchmark in 0..benchmarks {
        draws.shuffle(&mut group);
        pairs.extend(group.iter().map(|&entrant| (entrant, benchmark)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Worked out with another implementation of ChaCha20; a change would make the orders of old stores irreproducible.
    #[test]
    fn the_draws_never_change() {
        let mut draws = Draws::new(42);
        let numbers: Vec<u64> = (0..8).map(|_| draws.below(1000)).collect();
        assert_eq!(numbers, GOLDEN);
    }

    const GOLDEN: [u64; 8] = [55, 562, 54, 292, 659, 252, 70, 63];

    proptest! {
        #[test]
        fn every_pair_once_and_benchmarks_together(seed: u64, entrants in 1usize..6, benchmarks in 1usize..30) {
            let order = pairs(seed, entrants, benchmarks);
            for chunk in order.chunks(entrants) {
                prop_assert!(chunk.iter().all(|(_, b)| *b == chunk[0].1));
            }
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(sorted.len(), entrants * benchmarks);
            prop_assert_eq!(order, pairs(seed, entrants, benchmarks));
        }
    }
}
