//! The functions of the theory Ints that are not plain arithmetic.

use dashu_base::{BitTest, DivRemEuclid, Signed};
use dashu_int::{IBig, UBig};

use crate::{NoValue, Work};

/// `div`: the quotient whose remainder is not negative.
///
/// # Errors
///
/// [`NoValue::Unspecified`] for division by zero.
pub fn div(dividend: &IBig, divisor: &IBig) -> Result<IBig, NoValue> {
    if divisor.is_zero() { Err(NoValue::Unspecified) } else { Ok(dividend.div_rem_euclid(divisor).0) }
}

/// `mod`: the remainder, from zero to the divisor's magnitude less one.
///
/// # Errors
///
/// [`NoValue::Unspecified`] for division by zero.
pub fn modulo(dividend: &IBig, divisor: &IBig) -> Result<IBig, NoValue> {
    if divisor.is_zero() { Err(NoValue::Unspecified) } else { Ok(dividend.div_rem_euclid(divisor).1.into()) }
}

/// `abs`.
pub fn abs(number: &IBig) -> IBig {
    if number.is_negative() { -number } else { number.clone() }
}

/// `(_ divisible divisor)`. The standard wants the divisor positive; of 0, only 0 is a multiple.
pub fn divisible(number: &IBig, divisor: &UBig) -> bool {
    if divisor.is_zero() {
        return number.is_zero();
    }
    number.div_rem_euclid(&IBig::from(divisor.clone())).1.is_zero()
}

/// `*`, within a limit: repeated squaring makes numbers that no memory holds.
///
/// # Errors
///
/// [`NoValue::GaveUp`].
pub fn mul(a: &IBig, b: &IBig, work: &mut Work) -> Result<IBig, NoValue> {
    let words = |n: &IBig| n.bit_len() as u64 / 64;
    work.spend(1 + words(a) + words(b))?;
    Ok(a * b)
}

/// `^` of some solvers: a power with a natural exponent.
///
/// # Errors
///
/// [`NoValue::Unspecified`] for a negative exponent, [`NoValue::GaveUp`] if the power is too long.
pub fn pow(base: &IBig, exponent: &IBig, work: &mut Work) -> Result<IBig, NoValue> {
    if exponent.is_negative() {
        return Err(NoValue::Unspecified);
    }
    if base.bit_len() <= 1 {
        // 0, 1 and -1, for which any exponent will do.
        let odd = exponent.bit(0);
        return Ok(if exponent.is_zero() || (base.is_negative() && !odd) { IBig::ONE } else { base.clone() });
    }
    let exponent = u64::try_from(exponent).map_err(|_| NoValue::GaveUp)?;
    work.spend((base.bit_len() as u64).saturating_mul(exponent) / 64)?;
    Ok(base.pow(usize::try_from(exponent).map_err(|_| NoValue::GaveUp)?))
}

/// The integer as SMT-LIB writes it: `5`, `(- 5)`.
pub fn write(number: &IBig, f: &mut impl std::fmt::Write) -> std::fmt::Result {
    if number.is_negative() { write!(f, "(- {})", abs(number)) } else { write!(f, "{number}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn division_is_euclidean(a in -60i64..60, b in -12i64..12) {
            let (x, y) = (IBig::from(a), IBig::from(b));
            if b == 0 {
                prop_assert_eq!(div(&x, &y), Err(NoValue::Unspecified));
                prop_assert_eq!(modulo(&x, &y), Err(NoValue::Unspecified));
            } else {
                prop_assert_eq!(div(&x, &y), Ok(IBig::from(a.div_euclid(b))));
                prop_assert_eq!(modulo(&x, &y), Ok(IBig::from(a.rem_euclid(b))));
            }
            if b > 0 {
                prop_assert_eq!(divisible(&x, &UBig::from(b as u64)), a % b == 0);
            }
            prop_assert_eq!(abs(&x), IBig::from(a.abs()));
            prop_assert_eq!(mul(&x, &y, &mut Work::new(9)), Ok(IBig::from(a * b)));
        }

        #[test]
        fn powers_are_products(base in -9i64..9, exponent in 0u32..12) {
            let power = pow(&base.into(), &exponent.into(), &mut Work::new(1000));
            prop_assert_eq!(power, Ok(IBig::from(base.pow(exponent))));
        }
    }

    #[test]
    fn what_grows_without_bound_is_given_up() {
        let mut work = Work::new(1 << 16);
        let mut number = IBig::from(3);
        while let Ok(square) = mul(&number, &number, &mut work) {
            number = square;
        }
        assert!(number.bit_len() < 1 << 23);
        let huge = IBig::from(10).pow(30);
        assert_eq!(pow(&IBig::from(2), &huge, &mut Work::new(1000)), Err(NoValue::GaveUp));
        assert_eq!(pow(&IBig::NEG_ONE, &huge, &mut Work::new(0)), Ok(IBig::ONE));
        assert_eq!(pow(&IBig::from(2), &IBig::NEG_ONE, &mut Work::new(1000)), Err(NoValue::Unspecified));
    }
}
