//! The official scramblers' pseudo-random numbers.

/// A linear congruential generator with the multiplier of `drand48`. The official scramblers mean to keep 48 bits and
/// clear bit 49 alone instead; what is published was made that way.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u32) -> Self {
        Self(u64::from(seed))
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(25_214_903_917).wrapping_add(11) & !(2 << 48);
        ((self.0 >> 16) % bound as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_by_hand() {
        // 1 * 25214903917 + 11 = 25214903928; shifted by 16 that is 384748.
        let mut random = Random::new(1);
        assert_eq!(random.below(usize::MAX), 384_748);
        // Bit 49 is cleared, not all from 48 on: 25214903928 * 25214903917 + 11 has higher bits that stay.
        let next = 25_214_903_928_u64.wrapping_mul(25_214_903_917).wrapping_add(11) & !(2 << 48);
        assert_eq!(random.below(1000) as u64, (next >> 16) % 1000);
        assert!(next >> 50 != 0);
    }
}
