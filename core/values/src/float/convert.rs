//! Conversions between formats, and to and from the other theories' numbers.

use dashu_base::{BitTest, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::{Finite, Float, Format, Parts, Rounding};
use crate::bits::Bits;
use crate::{NoValue, Work};

impl Float {
    /// `((_ to_fp eb sb) mode x)` of a floating-point number.
    pub fn from_float(format: Format, mode: Rounding, number: &Self) -> Self {
        match number.parts() {
            Parts::NaN => Self::nan(format),
            Parts::Infinite(negative) => Self::infinite(format, negative),
            Parts::Zero(negative) => Self::zero(format, negative),
            Parts::Finite(number) => Self::round(format, mode, &number, false),
        }
    }

    /// An integer, rounded; zero is `+0`.
    pub fn from_integer(format: Format, mode: Rounding, number: &IBig) -> Self {
        let magnitude = number.unsigned_abs();
        if magnitude.is_zero() {
            return Self::zero(format, false);
        }
        Self::round(format, mode, &Finite { negative: number.is_negative(), magnitude, exponent: 0 }, false)
    }

    /// `((_ to_fp eb sb) mode x)` of a bit-vector in two's complement.
    pub fn from_signed(format: Format, mode: Rounding, number: &Bits) -> Self {
        Self::from_integer(format, mode, &number.to_signed())
    }

    /// `((_ to_fp_unsigned eb sb) mode x)`.
    pub fn from_unsigned(format: Format, mode: Rounding, number: &Bits) -> Self {
        Self::from_integer(format, mode, &number.to_unsigned())
    }

    /// `((_ to_fp eb sb) mode x)` of a rational number; zero is `+0`.
    pub fn from_rational(format: Format, mode: Rounding, number: &RBig) -> Self {
        let dividend = number.numerator().unsigned_abs();
        if dividend.is_zero() {
            return Self::zero(format, false);
        }
        Self::quotient(format, mode, number.numerator().is_negative(), &dividend, number.denominator(), 0)
    }

    /// `((_ to_fp eb sb) mode m e)`, an extension of z3: a real times two to the power of an integer.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if the integer exceeds 62 bits.
    pub fn from_scaled(format: Format, mode: Rounding, number: &RBig, exponent: &IBig) -> Result<Self, NoValue> {
        let exponent = i64::try_from(exponent).ok().filter(|e| e.unsigned_abs() < 1 << 62).ok_or(NoValue::GaveUp)?;
        let dividend = number.numerator().unsigned_abs();
        if dividend.is_zero() {
            return Ok(Self::zero(format, false));
        }
        let negative = number.numerator().is_negative();
        Ok(Self::quotient(format, mode, negative, &dividend, number.denominator(), exponent))
    }

    /// The nearest integer in the sense of the mode, if it lies between the bounds.
    fn to_integer(&self, mode: Rounding, least: &IBig, greatest: &IBig) -> Result<IBig, NoValue> {
        match self.parts() {
            Parts::NaN | Parts::Infinite(_) => Err(NoValue::Unspecified),
            Parts::Zero(_) => Ok(IBig::ZERO),
            Parts::Finite(number) => {
                let bits = greatest.unsigned_abs().bit_len().max(least.unsigned_abs().bit_len());
                if number.exponent > 0 && number.exponent + number.magnitude.bit_len() as i64 > bits as i64 {
                    return Err(NoValue::Unspecified);
                }
                let magnitude = IBig::from(number.to_integer(mode));
                let integer = if number.negative { -magnitude } else { magnitude };
                if integer < *least || integer > *greatest { Err(NoValue::Unspecified) } else { Ok(integer) }
            }
        }
    }

    /// `((_ fp.to_ubv width) mode x)`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for `NaN`, infinities and what is no unsigned number of this width after rounding.
    pub fn to_ubv(&self, mode: Rounding, width: u32) -> Result<Bits, NoValue> {
        let greatest = UBig::ones(width as usize).into();
        Ok(Bits::from_int(width, &self.to_integer(mode, &IBig::ZERO, &greatest)?))
    }

    /// `((_ fp.to_sbv width) mode x)`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for `NaN`, infinities and what is no signed number of this width after rounding.
    pub fn to_sbv(&self, mode: Rounding, width: u32) -> Result<Bits, NoValue> {
        let half = IBig::from(UBig::ONE << width.saturating_sub(1) as usize);
        Ok(Bits::from_int(width, &self.to_integer(mode, &-&half, &(&half - IBig::ONE))?))
    }

    /// `fp.to_real`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for `NaN` and infinities, [`NoValue::GaveUp`] if the exponent is so large that the number
    /// has too many digits.
    pub fn to_real(&self, work: &mut Work) -> Result<RBig, NoValue> {
        match self.parts() {
            Parts::NaN | Parts::Infinite(_) => Err(NoValue::Unspecified),
            Parts::Zero(_) => Ok(RBig::ZERO),
            Parts::Finite(Finite { negative, magnitude, exponent }) => {
                work.spend(exponent.unsigned_abs() / 64)?;
                let shift = exponent.unsigned_abs() as usize;
                let (magnitude, denominator) =
                    if exponent >= 0 { (magnitude << shift, UBig::ONE) } else { (magnitude, UBig::ONE << shift) };
                let magnitude = IBig::from(magnitude);
                Ok(RBig::from_parts(if negative { -magnitude } else { magnitude }, denominator))
            }
        }
    }
}
