//! The arithmetic of one format.

use std::cmp::Ordering;

use dashu_base::{BitTest, DivRem, SquareRootRem};
use dashu_int::UBig;

use super::round::cut;
use super::{Finite, Float, Format, Parts, Rounding};

impl Finite {
    /// The exponent of the first power of two above the number.
    fn top(&self) -> i64 {
        self.exponent + self.magnitude.bit_len() as i64
    }

    /// The magnitude in units of a smaller power of two.
    fn scaled(&self, exponent: i64) -> UBig {
        &self.magnitude << (self.exponent - exponent) as usize
    }

    fn times(&self, other: &Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            magnitude: &self.magnitude * &other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum, and whether the exact one is a little greater in magnitude; `None` for zero.
    fn plus(&self, other: &Self, format: Format) -> Option<(Self, bool)> {
        let (high, low) = if self.top() >= other.top() { (self, other) } else { (other, self) };
        let spare = i64::from(format.sb) + 4;
        if high.exponent - spare > low.top() {
            // So far apart that the smaller number can only be sticky: the greater one less something below a unit is a
            // unit less and something more.
            let exponent = high.exponent - spare;
            let magnitude = high.scaled(exponent);
            let magnitude = if high.negative == low.negative { magnitude } else { magnitude - UBig::ONE };
            return Some((Self { negative: high.negative, magnitude, exponent }, true));
        }
        let exponent = high.exponent.min(low.exponent);
        let (a, b) = (high.scaled(exponent), low.scaled(exponent));
        let (negative, magnitude) = if high.negative == low.negative {
            (high.negative, a + b)
        } else {
            match a.cmp(&b) {
                Ordering::Greater => (high.negative, a - b),
                Ordering::Less => (low.negative, b - a),
                Ordering::Equal => return None,
            }
        };
        Some((Self { negative, magnitude, exponent }, false))
    }
}

/// The zero that a sum of opposite numbers is.
fn cancelled(format: Format, mode: Rounding) -> Float {
    Float::zero(format, mode == Rounding::Negative)
}

/// A sum of which no summand is `NaN`.
fn sum(format: Format, mode: Rounding, a: &Parts, b: &Parts) -> Float {
    match (a, b) {
        (Parts::NaN, _) | (_, Parts::NaN) => Float::nan(format),
        (Parts::Infinite(x), Parts::Infinite(y)) if x != y => Float::nan(format),
        (Parts::Infinite(negative), _) | (_, Parts::Infinite(negative)) => Float::infinite(format, *negative),
        (Parts::Zero(x), Parts::Zero(y)) if x == y => Float::zero(format, *x),
        (Parts::Zero(_), Parts::Zero(_)) => cancelled(format, mode),
        (Parts::Finite(x), Parts::Zero(_)) | (Parts::Zero(_), Parts::Finite(x)) => Float::round(format, mode, x, false),
        (Parts::Finite(x), Parts::Finite(y)) => match x.plus(y, format) {
            Some((number, sticky)) => Float::round(format, mode, &number, sticky),
            None => cancelled(format, mode),
        },
    }
}

/// A product, not rounded.
fn product(a: &Parts, b: &Parts) -> Parts {
    let negative = a.is_negative() != b.is_negative();
    match (a, b) {
        (Parts::NaN, _)
        | (_, Parts::NaN)
        | (Parts::Infinite(_), Parts::Zero(_))
        | (Parts::Zero(_), Parts::Infinite(_)) => Parts::NaN,
        (Parts::Infinite(_), _) | (_, Parts::Infinite(_)) => Parts::Infinite(negative),
        (Parts::Zero(_), _) | (_, Parts::Zero(_)) => Parts::Zero(negative),
        (Parts::Finite(x), Parts::Finite(y)) => Parts::Finite(x.times(y)),
    }
}

impl Parts {
    fn is_negative(&self) -> bool {
        match self {
            Self::NaN => false,
            Self::Infinite(negative) | Self::Zero(negative) => *negative,
            Self::Finite(number) => number.negative,
        }
    }
}

impl Float {
    /// `fp.add`.
    pub fn add(&self, mode: Rounding, other: &Self) -> Self {
        sum(self.format, mode, &self.parts(), &other.parts())
    }

    /// `fp.sub`.
    pub fn sub(&self, mode: Rounding, other: &Self) -> Self {
        self.add(mode, &other.neg())
    }

    /// `fp.mul`.
    pub fn mul(&self, mode: Rounding, other: &Self) -> Self {
        match product(&self.parts(), &other.parts()) {
            Parts::NaN => Self::nan(self.format),
            Parts::Infinite(negative) => Self::infinite(self.format, negative),
            Parts::Zero(negative) => Self::zero(self.format, negative),
            Parts::Finite(number) => Self::round(self.format, mode, &number, false),
        }
    }

    /// `fp.fma`: this number times the second plus the third, rounded once.
    pub fn fma(&self, mode: Rounding, factor: &Self, summand: &Self) -> Self {
        sum(self.format, mode, &product(&self.parts(), &factor.parts()), &summand.parts())
    }

    /// `fp.div`.
    pub fn div(&self, mode: Rounding, other: &Self) -> Self {
        let format = self.format;
        let (a, b) = (self.parts(), other.parts());
        let negative = a.is_negative() != b.is_negative();
        match (a, b) {
            (Parts::NaN, _)
            | (_, Parts::NaN)
            | (Parts::Infinite(_), Parts::Infinite(_))
            | (Parts::Zero(_), Parts::Zero(_)) => Self::nan(format),
            (Parts::Infinite(_), _) | (_, Parts::Zero(_)) => Self::infinite(format, negative),
            (Parts::Zero(_), _) | (_, Parts::Infinite(_)) => Self::zero(format, negative),
            (Parts::Finite(x), Parts::Finite(y)) => {
                Self::quotient(format, mode, negative, &x.magnitude, &y.magnitude, x.exponent - y.exponent)
            }
        }
    }

    /// A quotient of positive integers, times two to the power of `exponent`, rounded.
    pub(super) fn quotient(
        format: Format,
        mode: Rounding,
        negative: bool,
        dividend: &UBig,
        divisor: &UBig,
        exponent: i64,
    ) -> Self {
        // As many bits as make the integer quotient longer than the significand by two.
        let shift = (format.sb as usize + 3 + divisor.bit_len()).saturating_sub(dividend.bit_len());
        let (magnitude, rest) = (dividend << shift).div_rem(divisor);
        let number = Finite { negative, magnitude, exponent: exponent - shift as i64 };
        Self::round(format, mode, &number, !rest.is_zero())
    }

    /// `fp.sqrt`.
    pub fn sqrt(&self, mode: Rounding) -> Self {
        let format = self.format;
        match self.parts() {
            Parts::NaN => Self::nan(format),
            Parts::Zero(negative) => Self::zero(format, negative),
            Parts::Infinite(false) => self.clone(),
            Parts::Infinite(true) => Self::nan(format),
            Parts::Finite(number) if number.negative => Self::nan(format),
            Parts::Finite(Finite { magnitude, exponent, .. }) => {
                let mut shift = (2 * (format.sb as usize + 2)).saturating_sub(magnitude.bit_len());
                if (exponent - shift as i64) % 2 != 0 {
                    shift += 1;
                }
                let (root, rest) = (magnitude << shift).sqrt_rem();
                let number = Finite { negative: false, magnitude: root, exponent: (exponent - shift as i64) / 2 };
                Self::round(format, mode, &number, !rest.is_zero())
            }
        }
    }

    /// `fp.rem`: this number less the second times the integer nearest to their quotient, ties to even. It is exact.
    pub fn rem(&self, other: &Self) -> Self {
        let format = self.format;
        match (self.parts(), other.parts()) {
            (Parts::NaN | Parts::Infinite(_), _) | (_, Parts::NaN | Parts::Zero(_)) => Self::nan(format),
            (Parts::Zero(_), _) | (_, Parts::Infinite(_)) => self.clone(),
            (Parts::Finite(x), Parts::Finite(y)) => {
                if x.top() < y.top() - 1 {
                    // Less than half of the divisor.
                    return self.clone();
                }
                let exponent = x.exponent.min(y.exponent);
                let divisor = y.scaled(exponent);
                // Modulo twice the divisor, so that the quotient's last bit remains.
                let double = &divisor << 1;
                let rest = shifted_modulo(&x.magnitude, (x.exponent - exponent) as u64, &double);
                let (odd, rest) = if rest >= divisor { (true, rest - &divisor) } else { (false, rest) };
                let up = match (&rest << 1).cmp(&divisor) {
                    Ordering::Less => false,
                    Ordering::Equal => odd,
                    Ordering::Greater => true,
                };
                let (negative, magnitude) = if up { (!x.negative, divisor - rest) } else { (x.negative, rest) };
                if magnitude.is_zero() {
                    return Self::zero(format, x.negative);
                }
                Self::round(format, Rounding::NearestEven, &Finite { negative, magnitude, exponent }, false)
            }
        }
    }

    /// `fp.roundToIntegral`. An integer beyond the format's range is rounded as any other result is.
    pub fn round_to_integral(&self, mode: Rounding) -> Self {
        match self.parts() {
            Parts::Finite(number) if number.exponent < 0 => {
                let magnitude = number.to_integer(mode);
                if magnitude.is_zero() {
                    return Self::zero(self.format, number.negative);
                }
                let number = Finite { negative: number.negative, magnitude, exponent: 0 };
                Self::round(self.format, mode, &number, false)
            }
            _ => self.clone(),
        }
    }
}

impl Finite {
    /// The magnitude rounded to an integer. The caller sees to it that it is not too large.
    pub(super) fn to_integer(&self, mode: Rounding) -> UBig {
        if self.exponent >= 0 {
            return self.scaled(0);
        }
        cut(&self.magnitude, self.exponent.unsigned_abs(), false).round(mode, self.negative)
    }
}

/// `number` times two to the power of `shift`, modulo `modulus`, in time that grows with the logarithm of `shift`.
fn shifted_modulo(number: &UBig, shift: u64, modulus: &UBig) -> UBig {
    if shift <= 256 {
        return (number << shift as usize).div_rem(modulus).1;
    }
    // Square and multiply from the exponent's highest bit on.
    let mut power = UBig::ONE.div_rem(modulus).1;
    for position in (0..u64::BITS - shift.leading_zeros()).rev() {
        power = power.sqr();
        if shift >> position & 1 == 1 {
            power <<= 1;
        }
        power = power.div_rem(modulus).1;
    }
    (number * power).div_rem(modulus).1
}
