//! Floating-point numbers of any format: the theory FloatingPoint.
//!
//! A number is kept as its IEEE 754 bit pattern, with one pattern for `NaN`. Operations take it apart into a sign, an
//! integer magnitude and an exponent, compute exactly on these (with a sticky bit for quotients, roots and far apart
//! summands), and round once.

mod arithmetic;
mod convert;
mod round;

use std::cmp::Ordering;
use std::fmt;

use dashu_int::UBig;

use crate::NoValue;
use crate::bits::{Bits, Pattern};

/// A format: the bits of the exponent, and those of the significand with the hidden one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format {
    eb: u32,
    sb: u32,
}

impl Format {
    /// `Float16`.
    pub const HALF: Self = Self { eb: 5, sb: 11 };
    /// `Float32`.
    pub const SINGLE: Self = Self { eb: 8, sb: 24 };
    /// `Float64`.
    pub const DOUBLE: Self = Self { eb: 11, sb: 53 };
    /// `Float128`.
    pub const QUADRUPLE: Self = Self { eb: 15, sb: 113 };

    /// The most bits that an exponent may have here, so that exponents and their sums fit a machine word.
    pub const MAX_EXPONENT_BITS: u32 = 60;

    /// A format, if both numbers exceed 1 as the standard asks, the exponent has at most
    /// [`Format::MAX_EXPONENT_BITS`] bits and a number at most 2^32 - 1.
    pub const fn new(eb: u32, sb: u32) -> Option<Self> {
        if eb < 2 || sb < 2 || eb > Self::MAX_EXPONENT_BITS || sb > u32::MAX - eb {
            return None;
        }
        Some(Self { eb, sb })
    }

    /// Bits of the exponent.
    pub const fn eb(self) -> u32 {
        self.eb
    }

    /// Bits of the significand, the hidden one counted.
    pub const fn sb(self) -> u32 {
        self.sb
    }

    /// Bits of a number.
    pub const fn width(self) -> u32 {
        self.eb + self.sb
    }

    /// What is added to an exponent to store it; also the greatest exponent of a finite number.
    const fn bias(self) -> i64 {
        (1 << (self.eb - 1)) - 1
    }

    /// The exponent of the least subnormal number, of which all finite numbers are multiples.
    const fn least_exponent(self) -> i64 {
        2 - self.bias() - self.sb as i64
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.eb, self.sb)
    }
}

/// The sort, as SMT-LIB writes it.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(_ FloatingPoint {} {})", self.eb, self.sb)
    }
}

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    /// `RNE`, `roundNearestTiesToEven`.
    NearestEven,
    /// `RNA`, `roundNearestTiesToAway`.
    NearestAway,
    /// `RTP`, `roundTowardPositive`.
    Positive,
    /// `RTN`, `roundTowardNegative`.
    Negative,
    /// `RTZ`, `roundTowardZero`.
    Zero,
}

impl Rounding {
    /// All five.
    pub const ALL: [Self; 5] = [Self::NearestEven, Self::NearestAway, Self::Positive, Self::Negative, Self::Zero];

    /// The mode of a short or long name of the standard.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RNE" | "roundNearestTiesToEven" => Self::NearestEven,
            "RNA" | "roundNearestTiesToAway" => Self::NearestAway,
            "RTP" | "roundTowardPositive" => Self::Positive,
            "RTN" | "roundTowardNegative" => Self::Negative,
            "RTZ" | "roundTowardZero" => Self::Zero,
            _ => return None,
        })
    }
}

/// The short name.
impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NearestEven => "RNE",
            Self::NearestAway => "RNA",
            Self::Positive => "RTP",
            Self::Negative => "RTN",
            Self::Zero => "RTZ",
        })
    }
}

/// A floating-point number.
///
/// `Eq` is SMT-LIB's `=`: `NaN` equals itself, the two zeros differ. `Ord` is some total order for use in maps; the
/// theory's comparisons are [`Float::leq`] and so on. Formats of up to 64 bits allocate nothing.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Float {
    format: Format,
    /// The IEEE 754 bits; `NaN` has the sign 0 and of its significand only the most significant bit.
    pattern: Pattern,
}

/// A number taken apart.
enum Parts {
    NaN,
    Infinite(bool),
    Zero(bool),
    Finite(Finite),
}

/// A number other than zero: `magnitude` times two to the power of `exponent`.
#[derive(Clone)]
struct Finite {
    negative: bool,
    magnitude: UBig,
    exponent: i64,
}

impl Float {
    /// The number of an IEEE 754 bit pattern, `((_ to_fp eb sb) b)`; every pattern of a `NaN` is the one `NaN`.
    ///
    /// Bits beyond the format's width are not looked at.
    pub fn from_bits(format: Format, bits: &Bits) -> Self {
        let bits = if bits.width() == format.width() { bits.clone() } else { bits.extract(format.width() - 1, 0) };
        let float = Self { format, pattern: bits.into_pattern() };
        if float.is_above_infinity() { Self::nan(format) } else { float }
    }

    /// `(fp sign exponent significand)`. `None` if the widths make no [`Format`].
    pub fn from_fields(sign: &Bits, exponent: &Bits, significand: &Bits) -> Option<Self> {
        let format = Format::new(exponent.width(), significand.width().checked_add(1)?)?;
        if sign.width() != 1 {
            return None;
        }
        Some(Self::from_bits(format, &sign.concat(exponent)?.concat(significand)?))
    }

    /// `(_ NaN eb sb)`.
    pub fn nan(format: Format) -> Self {
        Self::assemble(format, false, all_ones(format), UBig::ONE << (format.sb as usize - 2))
    }

    /// `(_ +oo eb sb)` or `(_ -oo eb sb)`.
    pub fn infinite(format: Format, negative: bool) -> Self {
        Self::assemble(format, negative, all_ones(format), UBig::ZERO)
    }

    /// `(_ +zero eb sb)` or `(_ -zero eb sb)`.
    pub fn zero(format: Format, negative: bool) -> Self {
        Self::assemble(format, negative, 0, UBig::ZERO)
    }

    /// The finite number of the greatest magnitude.
    pub fn greatest(format: Format, negative: bool) -> Self {
        Self::assemble(format, negative, all_ones(format) - 1, UBig::ones(format.sb as usize - 1))
    }

    /// From the stored fields; of the fraction the lowest `sb - 1` bits.
    fn assemble(format: Format, negative: bool, exponent: u64, mut fraction: UBig) -> Self {
        let stored = format.sb - 1;
        let head = exponent | u64::from(negative) << format.eb;
        if format.width() <= 64 {
            let low = fraction.as_words().first().copied().unwrap_or(0) & ((1 << stored) - 1);
            return Self { format, pattern: Pattern::Small(head << stored | low) };
        }
        fraction.clear_high_bits(stored as usize);
        Self { format, pattern: Pattern::Large((UBig::from_u64(head) << stored as usize) | fraction) }
    }

    /// The format.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The IEEE 754 bits; for `NaN` the pattern with sign 0 and only the first bit of the fraction.
    pub fn to_bits(&self) -> Bits {
        Bits::from_pattern(self.format.width(), self.pattern.clone())
    }

    /// `fp.to_ieee_bv`, an extension of several solvers.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for `NaN`, of which each pattern may be meant.
    pub fn to_ieee_bv(&self) -> Result<Bits, NoValue> {
        if self.is_nan() { Err(NoValue::Unspecified) } else { Ok(self.to_bits()) }
    }

    /// Sign and stored exponent in one number.
    fn head(&self) -> u64 {
        let stored = self.format.sb - 1;
        match &self.pattern {
            Pattern::Small(bits) => bits >> stored,
            // At most 61 bits.
            Pattern::Large(bits) => (bits >> stored as usize).as_words().first().copied().unwrap_or(0),
        }
    }

    fn stored_exponent(&self) -> u64 {
        self.head() & all_ones(self.format)
    }

    fn has_fraction(&self) -> bool {
        let stored = self.format.sb - 1;
        match &self.pattern {
            Pattern::Small(bits) => bits & ((1 << stored) - 1) != 0,
            Pattern::Large(bits) => bits.trailing_zeros().is_some_and(|zeros| zeros < stored as usize),
        }
    }

    fn is_above_infinity(&self) -> bool {
        self.stored_exponent() == all_ones(self.format) && self.has_fraction()
    }

    /// Whether the sign bit is set; not for `NaN`.
    fn sign(&self) -> bool {
        self.head() >> self.format.eb == 1
    }

    /// `fp.isNaN`.
    pub fn is_nan(&self) -> bool {
        self.is_above_infinity()
    }

    /// `fp.isInfinite`.
    pub fn is_infinite(&self) -> bool {
        self.stored_exponent() == all_ones(self.format) && !self.has_fraction()
    }

    /// `fp.isZero`.
    pub fn is_zero(&self) -> bool {
        self.stored_exponent() == 0 && !self.has_fraction()
    }

    /// `fp.isNormal`.
    pub fn is_normal(&self) -> bool {
        let exponent = self.stored_exponent();
        exponent != 0 && exponent != all_ones(self.format)
    }

    /// `fp.isSubnormal`.
    pub fn is_subnormal(&self) -> bool {
        self.stored_exponent() == 0 && self.has_fraction()
    }

    /// `fp.isNegative`: false for `NaN`, true for `-0`.
    pub fn is_negative(&self) -> bool {
        self.sign()
    }

    /// `fp.isPositive`: false for `NaN`, true for `+0`.
    pub fn is_positive(&self) -> bool {
        !self.sign() && !self.is_nan()
    }

    fn with_sign(&self, negative: bool) -> Self {
        if self.is_nan() || self.sign() == negative {
            return self.clone();
        }
        let top = self.format.width() - 1;
        let pattern = match &self.pattern {
            Pattern::Small(bits) => Pattern::Small(bits ^ 1 << top),
            Pattern::Large(bits) => Pattern::Large(bits ^ (UBig::ONE << top as usize)),
        };
        Self { format: self.format, pattern }
    }

    /// `fp.abs`.
    pub fn abs(&self) -> Self {
        self.with_sign(false)
    }

    /// `fp.neg`.
    pub fn neg(&self) -> Self {
        self.with_sign(!self.sign())
    }

    /// The order of numbers; `None` if one is `NaN`.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        if self.is_zero() && other.is_zero() {
            return Some(Ordering::Equal);
        }
        Some(match (self.sign(), other.sign()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            // Patterns of one sign are ordered as the magnitudes are.
            (false, false) => self.pattern.cmp(&other.pattern),
            (true, true) => other.pattern.cmp(&self.pattern),
        })
    }

    /// `fp.leq`.
    pub fn leq(&self, other: &Self) -> bool {
        self.compare(other).is_some_and(Ordering::is_le)
    }

    /// `fp.lt`.
    pub fn lt(&self, other: &Self) -> bool {
        self.compare(other).is_some_and(Ordering::is_lt)
    }

    /// `fp.geq`.
    pub fn geq(&self, other: &Self) -> bool {
        self.compare(other).is_some_and(Ordering::is_ge)
    }

    /// `fp.gt`.
    pub fn gt(&self, other: &Self) -> bool {
        self.compare(other).is_some_and(Ordering::is_gt)
    }

    /// `fp.eq`: IEEE 754's equality.
    pub fn ieee_eq(&self, other: &Self) -> bool {
        self.compare(other).is_some_and(Ordering::is_eq)
    }

    /// `fp.min`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for zeros of different signs, of which either may be the result.
    pub fn minimum(&self, other: &Self) -> Result<Self, NoValue> {
        self.choose(other, Ordering::is_le)
    }

    /// `fp.max`.
    ///
    /// # Errors
    ///
    /// As for [`Float::minimum`].
    pub fn maximum(&self, other: &Self) -> Result<Self, NoValue> {
        self.choose(other, Ordering::is_ge)
    }

    fn choose(&self, other: &Self, first: impl Fn(Ordering) -> bool) -> Result<Self, NoValue> {
        if self.is_zero() && other.is_zero() && self.sign() != other.sign() {
            return Err(NoValue::Unspecified);
        }
        Ok(match self.compare(other) {
            Some(order) if first(order) => self.clone(),
            None if other.is_nan() => self.clone(),
            _ => other.clone(),
        })
    }

    fn parts(&self) -> Parts {
        let negative = self.sign();
        let stored = self.format.sb - 1;
        let exponent = self.stored_exponent();
        if exponent == all_ones(self.format) {
            return if self.has_fraction() { Parts::NaN } else { Parts::Infinite(negative) };
        }
        let hidden = exponent != 0;
        let magnitude = match &self.pattern {
            Pattern::Small(bits) => UBig::from_u64(bits & ((1 << stored) - 1) | u64::from(hidden) << stored),
            Pattern::Large(bits) => {
                let mut fraction = bits.clone();
                fraction.clear_high_bits(stored as usize);
                if hidden {
                    fraction.set_bit(stored as usize);
                }
                fraction
            }
        };
        if magnitude.is_zero() {
            return Parts::Zero(negative);
        }
        // A subnormal number has the exponent of the least normal one, whose stored exponent is 1.
        let exponent = self.format.least_exponent() + exponent.max(1) as i64 - 1;
        Parts::Finite(Finite { negative, magnitude, exponent })
    }
}

/// The stored exponent of infinities and `NaN`.
const fn all_ones(format: Format) -> u64 {
    (1 << format.eb) - 1
}

/// As SMT-LIB writes it: `(fp #b0 #b01 #b1)`, `(_ NaN 2 2)`, `(_ +oo 2 2)`, `(_ -zero 2 2)`.
impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Format { eb, sb } = self.format;
        if self.is_nan() {
            return write!(f, "(_ NaN {eb} {sb})");
        }
        let sign = if self.sign() { '-' } else { '+' };
        if self.is_infinite() {
            return write!(f, "(_ {sign}oo {eb} {sb})");
        }
        if self.is_zero() {
            return write!(f, "(_ {sign}zero {eb} {sb})");
        }
        let fraction = self.to_bits().extract(sb - 2, 0).to_ubig();
        let (exponents, fractions) = (eb as usize, sb as usize - 1);
        write!(
            f,
            "(fp #b{} #b{:0exponents$b} #b{fraction:0fractions$b})",
            u8::from(self.sign()),
            self.stored_exponent()
        )
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
