//! Bit-vectors of any width: the theory FixedSizeBitVectors of version 2.7 and the extensions that solvers share.
//!
//! Functions are named as in the standard, without the prefix `bv`. Those of two arguments expect equal widths, which a
//! type checker sees to; the result has the width of the first, and a second of another width is read modulo that.

use std::cmp::Ordering;
use std::fmt;

use dashu_base::{BitTest, DivRem, Signed};
use dashu_int::{IBig, UBig};

/// A bit-vector: a width, and the unsigned number that the bits denote.
///
/// Up to 64 bits nothing is allocated.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits {
    width: u32,
    pattern: Pattern,
}

/// The bits as an unsigned number below two to the power of the width: `Small` exactly if that is at most 64.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Pattern {
    Small(u64),
    Large(UBig),
}

/// The ones of a width of at most 64.
const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Bits {
    /// The number modulo two to the power of the width.
    pub fn new(width: u32, mut number: UBig) -> Self {
        if width <= 64 {
            let low = number.as_words().first().copied().unwrap_or(0);
            return Self::from_u64(width, low);
        }
        number.clear_high_bits(width as usize);
        Self { width, pattern: Pattern::Large(number) }
    }

    /// The number modulo two to the power of the width.
    pub fn from_u64(width: u32, number: u64) -> Self {
        let pattern =
            if width <= 64 { Pattern::Small(number & mask(width)) } else { Pattern::Large(UBig::from_u64(number)) };
        Self { width, pattern }
    }

    /// `(_ int_to_bv width)`, once `int2bv` and `nat2bv`: the number modulo two to the power of the width, also if negative.
    pub fn from_int(width: u32, number: &IBig) -> Self {
        let magnitude = Self::new(width, number.clone().into_parts().1);
        if number.is_negative() { magnitude.neg() } else { magnitude }
    }

    /// The bits written in `#b`'s digits; `None` if there are none or others.
    pub fn from_binary(digits: &str) -> Option<Self> {
        let width = u32::try_from(digits.len()).ok()?;
        if width == 0 || !digits.bytes().all(|b| matches!(b, b'0' | b'1')) {
            return None;
        }
        if width <= 64 {
            return Some(Self::from_u64(width, u64::from_str_radix(digits, 2).ok()?));
        }
        Some(Self::new(width, UBig::from_str_radix(digits, 2).ok()?))
    }

    /// The bits written in `#x`'s digits, four each; `None` if there are none or others.
    pub fn from_hexadecimal(digits: &str) -> Option<Self> {
        let width = u32::try_from(digits.len()).ok()?.checked_mul(4)?;
        if width == 0 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        if width <= 64 {
            return Some(Self::from_u64(width, u64::from_str_radix(digits, 16).ok()?));
        }
        Some(Self::new(width, UBig::from_str_radix(digits, 16).ok()?))
    }

    /// All bits zero.
    pub fn zero(width: u32) -> Self {
        Self::from_u64(width, 0)
    }

    /// The number one.
    pub fn one(width: u32) -> Self {
        Self::from_u64(width, 1)
    }

    /// All bits one.
    pub fn ones(width: u32) -> Self {
        if width <= 64 { Self::from_u64(width, u64::MAX) } else { Self::new(width, UBig::ones(width as usize)) }
    }

    /// Only the most significant bit is one: the least signed number.
    pub fn least(width: u32) -> Self {
        if width <= 64 {
            let bit = width.checked_sub(1).map_or(0, |w| 1 << w);
            return Self::from_u64(width, bit);
        }
        Self::new(width, UBig::ONE << (width as usize - 1))
    }

    /// A single bit.
    pub fn bit_of(bit: bool) -> Self {
        Self::from_u64(1, bit.into())
    }

    /// The number of bits.
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// The unsigned number, if the width is at most 64.
    pub const fn to_u64(&self) -> Option<u64> {
        match self.pattern {
            Pattern::Small(number) => Some(number),
            Pattern::Large(_) => None,
        }
    }

    /// The unsigned number.
    pub fn to_ubig(&self) -> UBig {
        match &self.pattern {
            Pattern::Small(number) => UBig::from_u64(*number),
            Pattern::Large(number) => number.clone(),
        }
    }

    /// `ubv_to_int`, once `bv2nat`.
    pub fn to_unsigned(&self) -> IBig {
        self.to_ubig().into()
    }

    /// `sbv_to_int`: the number in two's complement.
    pub fn to_signed(&self) -> IBig {
        match &self.pattern {
            Pattern::Small(number) => signed(self.width, *number).into(),
            Pattern::Large(number) if self.is_negative() => {
                IBig::from(number.clone()) - IBig::from(UBig::ONE << self.width as usize)
            }
            Pattern::Large(number) => number.clone().into(),
        }
    }

    /// Whether the bit of this position (0 is the least significant) is one; beyond the width none is.
    pub fn bit(&self, position: u32) -> bool {
        match &self.pattern {
            Pattern::Small(number) => position < 64 && number >> position & 1 == 1,
            Pattern::Large(number) => number.bit(position as usize),
        }
    }

    /// Whether the most significant bit is one.
    pub fn is_negative(&self) -> bool {
        self.width > 0 && self.bit(self.width - 1)
    }

    /// Whether all bits are zero.
    pub fn is_zero(&self) -> bool {
        match &self.pattern {
            Pattern::Small(number) => *number == 0,
            Pattern::Large(number) => number.is_zero(),
        }
    }

    fn is_ones(&self) -> bool {
        *self == Self::ones(self.width)
    }

    /// Applies one of two functions and keeps the bits of this width.
    fn zip(&self, other: &Self, small: impl Fn(u64, u64) -> u64, large: impl Fn(&UBig, &UBig) -> UBig) -> Self {
        match (&self.pattern, &other.pattern) {
            (Pattern::Small(a), Pattern::Small(b)) if self.width == other.width => {
                Self { width: self.width, pattern: Pattern::Small(small(*a, *b) & mask(self.width)) }
            }
            (Pattern::Large(a), Pattern::Large(b)) if self.width == other.width => Self::new(self.width, large(a, b)),
            _ => self.zip(&Self::new(self.width, other.to_ubig()), small, large),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (&self.pattern, &other.pattern) {
            (Pattern::Small(a), Pattern::Small(b)) => a.cmp(b),
            (Pattern::Large(a), Pattern::Large(b)) => a.cmp(b),
            _ => self.to_ubig().cmp(&other.to_ubig()),
        }
    }

    fn compare_signed(&self, other: &Self) -> Ordering {
        other.is_negative().cmp(&self.is_negative()).then_with(|| self.compare(other))
    }

    /// The number as a count of positions, if it is below the width.
    fn amount(&self, width: u32) -> Option<u32> {
        let amount = match &self.pattern {
            Pattern::Small(number) => u32::try_from(*number).ok()?,
            Pattern::Large(number) => u32::try_from(number).ok()?,
        };
        (amount < width).then_some(amount)
    }

    /// `bvnot`.
    pub fn not(&self) -> Self {
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(self.width, !number),
            Pattern::Large(number) => Self::new(self.width, UBig::ones(self.width as usize) - number),
        }
    }

    /// `bvneg`.
    pub fn neg(&self) -> Self {
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(self.width, number.wrapping_neg()),
            Pattern::Large(number) if number.is_zero() => self.clone(),
            Pattern::Large(number) => Self::new(self.width, (UBig::ONE << self.width as usize) - number),
        }
    }

    /// `bvand`.
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b, |a, b| a & b)
    }

    /// `bvor`.
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b, |a, b| a | b)
    }

    /// `bvxor`.
    pub fn xor(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a ^ b, |a, b| a ^ b)
    }

    /// `bvnand`.
    pub fn nand(&self, other: &Self) -> Self {
        self.and(other).not()
    }

    /// `bvnor`.
    pub fn nor(&self, other: &Self) -> Self {
        self.or(other).not()
    }

    /// `bvxnor`.
    pub fn xnor(&self, other: &Self) -> Self {
        self.xor(other).not()
    }

    /// `bvcomp`: the bit that says whether both are equal.
    pub fn comp(&self, other: &Self) -> Self {
        Self::bit_of(self.compare(other).is_eq())
    }

    /// `bvadd`.
    pub fn add(&self, other: &Self) -> Self {
        self.zip(other, u64::wrapping_add, |a, b| a + b)
    }

    /// `bvsub`.
    pub fn sub(&self, other: &Self) -> Self {
        let width = self.width as usize;
        self.zip(other, u64::wrapping_sub, |a, b| if a >= b { a - b } else { (UBig::ONE << width) + a - b })
    }

    /// `bvmul`.
    pub fn mul(&self, other: &Self) -> Self {
        self.zip(other, u64::wrapping_mul, |a, b| a * b)
    }

    /// `bvudiv`: all ones if the divisor is zero.
    pub fn udiv(&self, other: &Self) -> Self {
        let width = self.width as usize;
        self.zip(
            other,
            |a, b| a.checked_div(b).unwrap_or(u64::MAX),
            |a, b| if b.is_zero() { UBig::ones(width) } else { a / b },
        )
    }

    /// `bvurem`: the first argument if the divisor is zero.
    pub fn urem(&self, other: &Self) -> Self {
        self.zip(
            other,
            |a, b| a.checked_rem(b).unwrap_or(a),
            |a, b| if b.is_zero() { a.clone() } else { a.div_rem(b).1 },
        )
    }

    fn magnitude(&self) -> Self {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    fn negate_if(self, negate: bool) -> Self {
        if negate { self.neg() } else { self }
    }

    /// `bvsdiv`: truncates; if the divisor is zero, 1 for a negative first argument and else -1.
    pub fn sdiv(&self, other: &Self) -> Self {
        let quotient = self.magnitude().udiv(&other.magnitude());
        quotient.negate_if(self.is_negative() != other.is_negative())
    }

    /// `bvsrem`: the remainder with the sign of the first argument, and that itself if the divisor is zero.
    pub fn srem(&self, other: &Self) -> Self {
        self.magnitude().urem(&other.magnitude()).negate_if(self.is_negative())
    }

    /// `bvsmod`: the remainder with the sign of the second argument; the first argument if the divisor is zero.
    pub fn smod(&self, other: &Self) -> Self {
        let rest = self.magnitude().urem(&other.magnitude());
        if rest.is_zero() {
            return rest;
        }
        match (self.is_negative(), other.is_negative()) {
            (false, false) => rest,
            (true, false) => rest.neg().add(other),
            (false, true) => rest.add(other),
            (true, true) => rest.neg(),
        }
    }

    /// `bvshl`.
    pub fn shl(&self, other: &Self) -> Self {
        let Some(amount) = other.amount(self.width) else { return Self::zero(self.width) };
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(self.width, number << amount),
            Pattern::Large(number) => Self::new(self.width, number << amount as usize),
        }
    }

    /// `bvlshr`.
    pub fn lshr(&self, other: &Self) -> Self {
        let Some(amount) = other.amount(self.width) else { return Self::zero(self.width) };
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(self.width, number >> amount),
            Pattern::Large(number) => Self::new(self.width, number >> amount as usize),
        }
    }

    /// `bvashr`.
    pub fn ashr(&self, other: &Self) -> Self {
        if self.is_negative() { self.not().lshr(other).not() } else { self.lshr(other) }
    }

    /// `(_ rotate_left count)`.
    pub fn rotate_left(&self, count: u32) -> Self {
        if self.width == 0 {
            return self.clone();
        }
        let count = count % self.width;
        if count == 0 {
            return self.clone();
        }
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(self.width, number << count | number >> (self.width - count)),
            Pattern::Large(number) => {
                Self::new(self.width, (number << count as usize) | (number >> (self.width - count) as usize))
            }
        }
    }

    /// `(_ rotate_right count)`.
    pub fn rotate_right(&self, count: u32) -> Self {
        if self.width == 0 { self.clone() } else { self.rotate_left(self.width - count % self.width) }
    }

    /// The number modulo the width.
    fn rotation(&self, width: u32) -> u32 {
        let width = width.max(1);
        match &self.pattern {
            Pattern::Small(number) => (number % u64::from(width)) as u32,
            Pattern::Large(number) => number % width,
        }
    }

    /// `ext_rotate_left` of z3, `bvrol` of Bitwuzla: rotates by the number that the second argument denotes.
    pub fn rotate_left_by(&self, other: &Self) -> Self {
        self.rotate_left(other.rotation(self.width))
    }

    /// `ext_rotate_right` of z3, `bvror` of Bitwuzla.
    pub fn rotate_right_by(&self, other: &Self) -> Self {
        self.rotate_right(other.rotation(self.width))
    }

    /// `concat`: this argument's bits are the more significant ones. `None` if the width exceeds 32 bits.
    pub fn concat(&self, low: &Self) -> Option<Self> {
        let width = self.width.checked_add(low.width)?;
        if let (Some(high), Some(low_bits)) = (self.to_u64(), low.to_u64())
            && width <= 64
        {
            // A high part of no bits is the only one that is shifted by 64.
            return Some(Self::from_u64(width, high.checked_shl(low.width).unwrap_or(0) | low_bits));
        }
        Some(Self::new(width, (self.to_ubig() << low.width as usize) | low.to_ubig()))
    }

    /// `(_ extract high low)`: the bits from position `low` to `high`, both included; zeros beyond the width.
    pub fn extract(&self, high: u32, low: u32) -> Self {
        let width = if high < low { 0 } else { (high - low).saturating_add(1) };
        match &self.pattern {
            Pattern::Small(number) => Self::from_u64(width, number.checked_shr(low).unwrap_or(0)),
            Pattern::Large(number) => Self::new(width, number >> low as usize),
        }
    }

    /// `(_ repeat count)`. `None` if the width exceeds 32 bits.
    pub fn repeat(&self, count: u32) -> Option<Self> {
        self.width.checked_mul(count)?;
        // By doubling: the bits of `power` are those of this value, two to the power of the step times.
        let mut result = Self::zero(0);
        let mut power = self.clone();
        let mut rest = count;
        while rest > 0 {
            if rest & 1 == 1 {
                result = result.concat(&power)?;
            }
            rest >>= 1;
            if rest > 0 {
                power = power.concat(&power)?;
            }
        }
        Some(result)
    }

    /// `(_ zero_extend count)`. `None` if the width exceeds 32 bits.
    pub fn zero_extend(&self, count: u32) -> Option<Self> {
        let width = self.width.checked_add(count)?;
        Some(match &self.pattern {
            Pattern::Small(number) => Self::from_u64(width, *number),
            Pattern::Large(number) => Self::new(width, number.clone()),
        })
    }

    /// `(_ sign_extend count)`. `None` if the width exceeds 32 bits.
    pub fn sign_extend(&self, count: u32) -> Option<Self> {
        if self.is_negative() { Some(self.not().zero_extend(count)?.not()) } else { self.zero_extend(count) }
    }

    /// `bvult`.
    pub fn ult(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }

    /// `bvule`.
    pub fn ule(&self, other: &Self) -> bool {
        self.compare(other).is_le()
    }

    /// `bvugt`.
    pub fn ugt(&self, other: &Self) -> bool {
        self.compare(other).is_gt()
    }

    /// `bvuge`.
    pub fn uge(&self, other: &Self) -> bool {
        self.compare(other).is_ge()
    }

    /// `bvslt`.
    pub fn slt(&self, other: &Self) -> bool {
        self.compare_signed(other).is_lt()
    }

    /// `bvsle`.
    pub fn sle(&self, other: &Self) -> bool {
        self.compare_signed(other).is_le()
    }

    /// `bvsgt`.
    pub fn sgt(&self, other: &Self) -> bool {
        self.compare_signed(other).is_gt()
    }

    /// `bvsge`.
    pub fn sge(&self, other: &Self) -> bool {
        self.compare_signed(other).is_ge()
    }

    /// `bvnego`: whether the negation overflows, that is whether this is the least signed number.
    pub fn nego(&self) -> bool {
        self.width > 0 && *self == Self::least(self.width)
    }

    /// `bvuaddo`.
    pub fn uaddo(&self, other: &Self) -> bool {
        self.add(other).ult(self)
    }

    /// `bvsaddo`.
    pub fn saddo(&self, other: &Self) -> bool {
        let sum = self.add(other);
        self.is_negative() == other.is_negative() && sum.is_negative() != self.is_negative()
    }

    /// `bvumulo`.
    pub fn umulo(&self, other: &Self) -> bool {
        match (&self.pattern, &other.pattern) {
            (Pattern::Small(a), Pattern::Small(b)) => a.checked_mul(*b).is_none_or(|p| p > mask(self.width)),
            _ => (self.to_ubig() * other.to_ubig()).bit_len() > self.width as usize,
        }
    }

    /// `bvsmulo`.
    pub fn smulo(&self, other: &Self) -> bool {
        match (&self.pattern, &other.pattern) {
            (Pattern::Small(a), Pattern::Small(b)) => {
                let (a, b) = (signed(self.width, *a), signed(other.width, *b));
                a.checked_mul(b).is_none_or(|p| signed(self.width, p as u64) != p)
            }
            _ => {
                let product = self.to_signed() * other.to_signed();
                Self::from_int(self.width, &product).to_signed() != product
            }
        }
    }

    /// `bvusubo`.
    pub fn usubo(&self, other: &Self) -> bool {
        self.ult(other)
    }

    /// `bvssubo`.
    pub fn ssubo(&self, other: &Self) -> bool {
        let difference = self.sub(other);
        self.is_negative() != other.is_negative() && difference.is_negative() != self.is_negative()
    }

    /// `bvsdivo`: whether the least signed number is divided by -1.
    pub fn sdivo(&self, other: &Self) -> bool {
        self.nego() && other.is_ones()
    }

    /// `bvredor`: the bit that says whether any bit is one.
    pub fn redor(&self) -> Self {
        Self::bit_of(!self.is_zero())
    }

    /// `bvredand`: the bit that says whether all bits are one.
    pub fn redand(&self) -> Self {
        Self::bit_of(self.is_ones())
    }

    /// `bvredxor`: the bit that says whether the number of ones is odd.
    pub fn redxor(&self) -> Self {
        let ones = match &self.pattern {
            Pattern::Small(number) => number.count_ones() as usize,
            Pattern::Large(number) => number.count_ones(),
        };
        Self::bit_of(ones % 2 == 1)
    }

    pub(crate) fn into_pattern(self) -> Pattern {
        self.pattern
    }

    pub(crate) const fn from_pattern(width: u32, pattern: Pattern) -> Self {
        Self { width, pattern }
    }
}

/// The number in two's complement of a width of at most 64.
const fn signed(width: u32, number: u64) -> i64 {
    if width == 0 {
        return 0;
    }
    let unused = 64 - width;
    (number << unused) as i64 >> unused
}

/// As a constant of SMT-LIB: `#x` with four bits a digit where the width allows it, else `#b`.
impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.width == 0 {
            // There is no constant for it; the prefix alone is a clear sign in a message.
            return f.write_str("#b");
        }
        if self.width.is_multiple_of(4) {
            let digits = self.width as usize / 4;
            return match &self.pattern {
                Pattern::Small(number) => write!(f, "#x{number:0digits$x}"),
                Pattern::Large(number) => write!(f, "#x{number:0digits$x}"),
            };
        }
        let digits = self.width as usize;
        match &self.pattern {
            Pattern::Small(number) => write!(f, "#b{number:0digits$b}"),
            Pattern::Large(number) => write!(f, "#b{number:0digits$b}"),
        }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
