//! Rounding: the one place where precision is lost.

use dashu_base::BitTest;
use dashu_int::UBig;

use super::{Finite, Float, Format, Rounding, all_ones};

/// A number cut to an integer, and what was cut off: the bit after it, and whether anything follows that.
pub(super) struct Cut {
    pub(super) kept: UBig,
    half: bool,
    rest: bool,
}

/// Cuts off the lowest `count` bits of a magnitude to which `sticky` adds something below one.
pub(super) fn cut(magnitude: &UBig, count: u64, sticky: bool) -> Cut {
    if count == 0 {
        return Cut { kept: magnitude.clone(), half: false, rest: sticky };
    }
    if count > magnitude.bit_len() as u64 {
        return Cut { kept: UBig::ZERO, half: false, rest: sticky || !magnitude.is_zero() };
    }
    let count = count as usize;
    Cut {
        kept: magnitude >> count,
        half: magnitude.bit(count - 1),
        rest: sticky || magnitude.trailing_zeros().is_some_and(|zeros| zeros < count - 1),
    }
}

impl Cut {
    /// The integer nearest in the sense of the mode.
    pub(super) fn round(self, mode: Rounding, negative: bool) -> UBig {
        let inexact = self.half || self.rest;
        let up = match mode {
            Rounding::NearestEven => self.half && (self.rest || self.kept.bit(0)),
            Rounding::NearestAway => self.half,
            Rounding::Positive => inexact && !negative,
            Rounding::Negative => inexact && negative,
            Rounding::Zero => false,
        };
        if up { self.kept + UBig::ONE } else { self.kept }
    }
}

impl Float {
    /// The number of a format nearest to a finite one in the sense of the mode.
    ///
    /// `sticky` says that the number is a little greater in magnitude, by less than one unit of `magnitude`. That must then
    /// have two bits more than the format's significand.
    pub(super) fn round(format: Format, mode: Rounding, number: &Finite, sticky: bool) -> Self {
        let Finite { negative, ref magnitude, exponent } = *number;
        let precision = i64::from(format.sb);
        // The exponent of the last place: that of the format, unless the number is subnormal.
        let mut last = (exponent + magnitude.bit_len() as i64 - precision).max(format.least_exponent());
        let mut kept = match u64::try_from(last - exponent) {
            Ok(count) => cut(magnitude, count, sticky).round(mode, negative),
            Err(_) => magnitude << (exponent - last) as usize,
        };
        if kept.bit_len() > format.sb as usize {
            kept >>= 1;
            last += 1;
        }
        if kept.bit_len() < format.sb as usize {
            return Self::assemble(format, negative, 0, kept);
        }
        let stored = last - format.least_exponent() + 1;
        if stored as u64 >= all_ones(format) {
            let away = match mode {
                Rounding::NearestEven | Rounding::NearestAway => true,
                Rounding::Positive => !negative,
                Rounding::Negative => negative,
                Rounding::Zero => false,
            };
            return if away { Self::infinite(format, negative) } else { Self::greatest(format, negative) };
        }
        Self::assemble(format, negative, stored as u64, kept)
    }
}
