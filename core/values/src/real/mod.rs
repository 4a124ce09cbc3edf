//! Exact real numbers: rational ones, and the irrational roots of polynomials that models of nonlinear problems have.

mod algebraic;
mod factor;
mod poly;
mod read;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use dashu_base::{BitTest, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::float::{Float, Format, Rounding};
use crate::{NoValue, Work, integer};
use algebraic::{Algebraic, Found};
pub(crate) use poly::Poly;

/// A real number, rational or algebraic.
///
/// `Ord` is the order of numbers. A fraction of which numerator and denominator fit one word each allocates nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Real(Repr);

/// One representation for each number: `Small` where it fits, and an irrational number's polynomial is irreducible.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// In lowest terms, with a positive denominator.
    Small(i64, u64),
    Large(Box<RBig>),
    Irrational(Arc<Algebraic>),
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Real {
    /// Zero.
    pub const ZERO: Self = Self(Repr::Small(0, 1));
    /// One.
    pub const ONE: Self = Self(Repr::Small(1, 1));

    /// From a fraction with a denominator other than zero.
    fn small(numerator: i128, denominator: u128) -> Self {
        let divisor = match (u64::try_from(numerator.unsigned_abs()), u64::try_from(denominator)) {
            (_, Ok(1)) => 1,
            (Ok(a), Ok(b)) => {
                let (mut a, mut b) = (a, b);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a.into()
            }
            _ => gcd(numerator.unsigned_abs(), denominator),
        };
        // The divisor is at most the denominator, and a magnitude of 2^127 has one only below that.
        let (n, d) = if divisor == 1 {
            (numerator, denominator)
        } else {
            let magnitude = numerator.unsigned_abs() / divisor;
            (if numerator < 0 { (magnitude as i128).wrapping_neg() } else { magnitude as i128 }, denominator / divisor)
        };
        match (i64::try_from(n), u64::try_from(d)) {
            (Ok(n), Ok(d)) => Self(Repr::Small(n, d)),
            _ => Self(Repr::Large(Box::new(RBig::from_parts(n.into(), d.into())))),
        }
    }

    /// A fraction; `None` if the denominator is zero.
    pub fn fraction(numerator: IBig, denominator: UBig) -> Option<Self> {
        (!denominator.is_zero()).then(|| Self::from(RBig::from_parts(numerator, denominator)))
    }

    /// A decimal of SMT-LIB, `12.50`, or a numeral; without a sign. `None` for any other text.
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return None;
        }
        let numerator = IBig::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
        Self::fraction(numerator, UBig::from(10u8).pow(fraction.len()))
    }

    /// The real root, counted from 1 for the least, of a polynomial whose coefficients are given from the constant on:
    /// z3's `root-obj`. Multiple roots count once.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] if there is no such root, [`NoValue::GaveUp`] at the limit.
    pub fn root(coefficients: Vec<IBig>, number: usize, work: &mut Work) -> Result<Self, NoValue> {
        let index = number.checked_sub(1).ok_or(NoValue::Unspecified)?;
        Found::root(&Poly::new(coefficients), index, work)?.map(Self::from).ok_or(NoValue::Unspecified)
    }

    /// The only root of a polynomial strictly between two fractions: cvc5's `real_algebraic_number`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] if there is none or more than one, [`NoValue::GaveUp`] at the limit.
    pub fn root_between(coefficients: Vec<IBig>, low: &RBig, high: &RBig, work: &mut Work) -> Result<Self, NoValue> {
        let found = Found::root_between(&Poly::new(coefficients), low, high, work)?;
        found.map(Self::from).ok_or(NoValue::Unspecified)
    }

    /// The number as a fraction, if it is rational.
    pub fn to_rational(&self) -> Option<RBig> {
        match &self.0 {
            Repr::Small(n, d) => Some(RBig::from_parts((*n).into(), (*d).into())),
            Repr::Large(number) => Some((**number).clone()),
            Repr::Irrational(_) => None,
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i8 {
        match &self.0 {
            Repr::Small(n, _) => n.signum() as i8,
            Repr::Large(number) => poly::sign(number.numerator()),
            Repr::Irrational(number) => {
                if number.is_negative() {
                    -1
                } else {
                    1
                }
            }
        }
    }

    /// `is_int`.
    pub fn is_int(&self) -> bool {
        match &self.0 {
            Repr::Small(_, d) => *d == 1,
            Repr::Large(number) => number.is_int(),
            Repr::Irrational(_) => false,
        }
    }

    /// `to_int`: the greatest integer that is not greater.
    pub fn to_int(&self) -> IBig {
        match &self.0 {
            // A denominator beyond the signed range exceeds every numerator.
            Repr::Small(n, d) => i64::try_from(*d).map_or(if *n < 0 { -1 } else { 0 }, |d| n.div_euclid(d)).into(),
            Repr::Large(number) => number.floor(),
            Repr::Irrational(number) => number.floor(),
        }
    }

    fn bits(&self) -> usize {
        match &self.0 {
            Repr::Small(..) => 0,
            Repr::Large(number) => number.numerator().bit_len() + number.denominator().bit_len(),
            Repr::Irrational(number) => number.poly().bits(),
        }
    }

    /// The work of an operation on two fractions.
    fn charge(&self, other: &Self, work: &mut Work) -> Result<(), NoValue> {
        work.spend(1 + (self.bits() + other.bits()) as u64 / 32)
    }

    /// `+`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] at the limit; so for the other operations.
    pub fn add(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        match (&self.0, &other.0) {
            (Repr::Small(a, b), Repr::Small(c, d)) => {
                let (b1, d1) = (i128::from(*b), i128::from(*d));
                let sum = (i128::from(*a) * d1).checked_add(i128::from(*c) * b1);
                if let Some(sum) = sum {
                    work.spend(1)?;
                    return Ok(Self::small(sum, u128::from(*b) * u128::from(*d)));
                }
            }
            (Repr::Irrational(a), Repr::Irrational(b)) => return Ok(a.plus(b, work)?.into()),
            _ => {}
        }
        match (self.to_rational(), other.to_rational()) {
            (Some(a), Some(b)) => {
                self.charge(other, work)?;
                Ok((a + b).into())
            }
            (Some(rational), None) => other.plus_rational(&rational, work),
            (None, Some(rational)) => self.plus_rational(&rational, work),
            // Both irrational: done above.
            (None, None) => Err(NoValue::GaveUp),
        }
    }

    fn plus_rational(&self, other: &RBig, work: &mut Work) -> Result<Self, NoValue> {
        match &self.0 {
            Repr::Irrational(_) if other.is_zero() => Ok(self.clone()),
            Repr::Irrational(number) => Ok(Self(Repr::Irrational(Arc::new(number.plus_rational(other, work)?)))),
            _ => Err(NoValue::GaveUp),
        }
    }

    /// `-` of one argument.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn neg(&self, work: &mut Work) -> Result<Self, NoValue> {
        match &self.0 {
            Repr::Small(n, d) => Ok(Self::small(-i128::from(*n), (*d).into())),
            Repr::Large(number) => Ok((-(**number).clone()).into()),
            Repr::Irrational(number) => Ok(Self(Repr::Irrational(Arc::new(number.negate(work)?)))),
        }
    }

    /// `-` of two arguments.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn sub(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        if self == other {
            return Ok(Self::ZERO);
        }
        self.add(&other.neg(work)?, work)
    }

    /// `*`.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn mul(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        match (&self.0, &other.0) {
            (Repr::Small(a, b), Repr::Small(c, d)) => {
                work.spend(1)?;
                return Ok(Self::small(i128::from(*a) * i128::from(*c), u128::from(*b) * u128::from(*d)));
            }
            (Repr::Irrational(a), Repr::Irrational(b)) => return Ok(a.times(b, work)?.into()),
            _ => {}
        }
        match (self.to_rational(), other.to_rational()) {
            (Some(a), Some(b)) => {
                self.charge(other, work)?;
                Ok((a * b).into())
            }
            (Some(rational), None) => other.times_rational(&rational, work),
            (None, Some(rational)) => self.times_rational(&rational, work),
            // Both irrational: done above.
            (None, None) => Err(NoValue::GaveUp),
        }
    }

    fn times_rational(&self, other: &RBig, work: &mut Work) -> Result<Self, NoValue> {
        match &self.0 {
            Repr::Irrational(_) if other.is_zero() => Ok(Self::ZERO),
            Repr::Irrational(_) if other.is_one() => Ok(self.clone()),
            Repr::Irrational(number) => Ok(Self(Repr::Irrational(Arc::new(number.times_rational(other, work)?)))),
            _ => Err(NoValue::GaveUp),
        }
    }

    /// `/`.
    ///
    /// # Errors
    ///
    /// [`NoValue::Unspecified`] for division by zero, [`NoValue::GaveUp`] at the limit.
    pub fn div(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        if other.sign() == 0 {
            return Err(NoValue::Unspecified);
        }
        let inverse = match &other.0 {
            Repr::Small(n, d) => {
                let sign = if *n < 0 { -1 } else { 1 };
                Self::small(i128::from(*d) * sign, n.unsigned_abs().into())
            }
            Repr::Large(number) => (RBig::ONE / &**number).into(),
            Repr::Irrational(_) if self == other => return Ok(Self::ONE),
            Repr::Irrational(number) => Self(Repr::Irrational(Arc::new(number.inverse(work)?))),
        };
        self.mul(&inverse, work)
    }

    /// `((_ to_fp eb sb) mode x)` of a real.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`].
    pub fn to_float(&self, format: Format, mode: Rounding, work: &mut Work) -> Result<Float, NoValue> {
        let Repr::Irrational(number) = &self.0 else {
            return Ok(Float::from_rational(format, mode, &self.to_rational().unwrap_or(RBig::ZERO)));
        };
        // An irrational number is no border between two results, so both ends of its interval agree in the end.
        let mut number = (**number).clone();
        let mut bits = format.sb() as usize + 8;
        loop {
            number.refine_within(bits, work)?;
            let (low, high) = number.interval();
            let (low, high) = (Float::from_rational(format, mode, &low), Float::from_rational(format, mode, &high));
            if low == high {
                return Ok(low);
            }
            bits *= 2;
        }
    }

    /// Lower and upper bounds less than `2^-bits` apart; equal for a rational number.
    pub fn bounds(&self, bits: usize) -> (RBig, RBig) {
        match &self.0 {
            Repr::Irrational(number) => {
                let mut number = (**number).clone();
                number.refine(bits + 1);
                number.interval()
            }
            _ => {
                let number = self.to_rational().unwrap_or(RBig::ZERO);
                (number.clone(), number)
            }
        }
    }
}

impl From<RBig> for Real {
    fn from(number: RBig) -> Self {
        match (i64::try_from(number.numerator()), u64::try_from(number.denominator())) {
            (Ok(n), Ok(d)) => Self(Repr::Small(n, d)),
            _ => Self(Repr::Large(Box::new(number))),
        }
    }
}

/// `to_real`.
impl From<IBig> for Real {
    fn from(number: IBig) -> Self {
        i64::try_from(&number).map_or_else(|_| RBig::from(number).into(), |n| Self(Repr::Small(n, 1)))
    }
}

impl From<Found> for Real {
    fn from(found: Found) -> Self {
        match found {
            Found::Rational(number) => number.into(),
            Found::Irrational(number) => Self(Repr::Irrational(Arc::new(number))),
        }
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a, b), Repr::Small(c, d)) => {
                (i128::from(*a) * i128::from(*d)).cmp(&(i128::from(*c) * i128::from(*b)))
            }
            (Repr::Irrational(a), Repr::Irrational(b)) => a.cmp(b),
            (Repr::Irrational(a), _) => a.compare(&other.to_rational().unwrap_or(RBig::ZERO)),
            (_, Repr::Irrational(b)) => b.compare(&self.to_rational().unwrap_or(RBig::ZERO)).reverse(),
            _ => self.to_rational().cmp(&other.to_rational()),
        }
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As SMT-LIB writes it: `2.0`, `(- 2.0)`, `(/ 1.0 3.0)`, `(- (/ 1.0 3.0))`; irrational numbers as z3 does, `(root-obj
/// (+ (^ x 2) (- 2)) 2)`.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Repr::Irrational(number) = &self.0 {
            f.write_str("(root-obj (+")?;
            for (power, coefficient) in number.poly().coefficients().iter().enumerate().rev() {
                if coefficient.is_zero() {
                    continue;
                }
                f.write_str(" ")?;
                if power == 0 {
                    integer::write(coefficient, f)?;
                    continue;
                }
                let one = *coefficient == IBig::ONE;
                if !one {
                    f.write_str("(* ")?;
                    integer::write(coefficient, f)?;
                    f.write_str(" ")?;
                }
                if power == 1 {
                    f.write_str("x")?;
                } else {
                    write!(f, "(^ x {power})")?;
                }
                if !one {
                    f.write_str(")")?;
                }
            }
            return write!(f, ") {})", number.index() + 1);
        }
        let number = self.to_rational().unwrap_or(RBig::ZERO);
        let (numerator, denominator) = (number.numerator(), number.denominator());
        let negative = numerator.is_negative();
        if negative {
            f.write_str("(- ")?;
        }
        if denominator.is_one() {
            write!(f, "{}.0", numerator.unsigned_abs())?;
        } else {
            write!(f, "(/ {}.0 {denominator}.0)", numerator.unsigned_abs())?;
        }
        if negative { f.write_str(")") } else { Ok(()) }
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
