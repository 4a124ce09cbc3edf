//! Polynomials with integer coefficients in one variable: division, greatest common divisors, Sturm's theorem, resultants.

use dashu_base::{BitTest, DivRem, Gcd, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};

use crate::{NoValue, Work};

/// The coefficients from the constant one on; the last is not zero, and the zero polynomial has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Poly(Vec<IBig>);

/// What an operation on numbers of so many bits costs.
pub(super) fn cost(bits: usize) -> u64 {
    1 + (bits as u64 / 64).saturating_mul(bits as u64 / 64 + 1)
}

impl Poly {
    pub(crate) fn new(mut coefficients: Vec<IBig>) -> Self {
        while coefficients.last().is_some_and(IBig::is_zero) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    pub(super) fn coefficients(&self) -> &[IBig] {
        &self.0
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The degree; 0 for zero.
    pub(crate) fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    pub(super) fn leading(&self) -> IBig {
        self.0.last().cloned().unwrap_or(IBig::ZERO)
    }

    /// Bits of the longest coefficient.
    pub(super) fn bits(&self) -> usize {
        self.0.iter().map(BitTest::bit_len).max().unwrap_or(0)
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let length = self.0.len().max(other.0.len());
        let at = |p: &Self, i: usize| p.0.get(i).cloned().unwrap_or(IBig::ZERO);
        Self::new((0..length).map(|i| at(self, i) + at(other, i)).collect())
    }

    pub(crate) fn scale(&self, factor: &IBig) -> Self {
        Self::new(self.0.iter().map(|c| c * factor).collect())
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self(Vec::new());
        }
        let mut product = vec![IBig::ZERO; self.0.len() + other.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                product[i + j] += a * b;
            }
        }
        Self::new(product)
    }

    pub(super) fn derivative(&self) -> Self {
        Self::new(self.0.iter().enumerate().skip(1).map(|(i, c)| c * IBig::from(i)).collect())
    }

    /// Divided by the greatest common divisor of the coefficients; the signs stay.
    pub(super) fn primitive(&self) -> Self {
        let mut divisor = UBig::ZERO;
        for coefficient in &self.0 {
            let magnitude = coefficient.unsigned_abs();
            divisor = if divisor.is_zero() {
                magnitude
            } else if magnitude.is_zero() {
                divisor
            } else {
                divisor.gcd(magnitude)
            };
            if divisor.is_one() {
                return self.clone();
            }
        }
        if divisor.is_zero() {
            return self.clone();
        }
        let divisor = IBig::from(divisor);
        Self(self.0.iter().map(|c| c / &divisor).collect())
    }

    /// Primitive and with a positive leading coefficient.
    pub(super) fn normal(&self) -> Self {
        let primitive = self.primitive();
        if primitive.leading().is_negative() { primitive.scale(&IBig::NEG_ONE) } else { primitive }
    }

    /// The remainder of a positive multiple of this polynomial; the divisor is not zero.
    fn remainder(&self, divisor: &Self, work: &mut Work) -> Result<Self, NoValue> {
        let leading = divisor.leading();
        let (factor, negative) = (IBig::from(leading.clone().unsigned_abs()), leading.is_negative());
        let mut rest = self.clone();
        while rest.0.len() >= divisor.0.len() {
            work.spend(rest.0.len() as u64 * cost(rest.bits().max(divisor.bits())))?;
            let shift = rest.0.len() - divisor.0.len();
            let top = if negative { -rest.leading() } else { rest.leading() };
            for coefficient in &mut rest.0 {
                *coefficient *= &factor;
            }
            for (i, c) in divisor.0.iter().enumerate() {
                rest.0[i + shift] -= &top * c;
            }
            // The first coefficient is zero now; others may be.
            rest = Self::new(rest.0);
        }
        Ok(rest)
    }

    /// The quotient if the division by a nonzero polynomial leaves no remainder and no fraction.
    pub(super) fn divided(&self, divisor: &Self, work: &mut Work) -> Result<Option<Self>, NoValue> {
        if self.0.len() < divisor.0.len() {
            return Ok(None);
        }
        let leading = divisor.leading();
        let mut rest = self.0.clone();
        let mut quotient = vec![IBig::ZERO; self.0.len() - divisor.0.len() + 1];
        for shift in (0..quotient.len()).rev() {
            work.spend(divisor.0.len() as u64 * cost(self.bits()))?;
            let (digit, remainder) = (&rest[shift + divisor.0.len() - 1]).div_rem(&leading);
            if !remainder.is_zero() {
                return Ok(None);
            }
            for (i, c) in divisor.0.iter().enumerate() {
                rest[i + shift] -= &digit * c;
            }
            quotient[shift] = digit;
        }
        Ok(rest.iter().all(IBig::is_zero).then(|| Self::new(quotient)))
    }

    /// The greatest common divisor, in normal form.
    pub(super) fn gcd(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        let (mut a, mut b) = (self.normal(), other.normal());
        while !b.is_zero() {
            let rest = a.remainder(&b, work)?.normal();
            a = b;
            b = rest;
        }
        Ok(a)
    }

    /// The polynomial with the same roots, each once, in normal form.
    pub(super) fn square_free(&self, work: &mut Work) -> Result<Self, NoValue> {
        let normal = self.normal();
        let common = normal.gcd(&normal.derivative(), work)?;
        if common.degree() == 0 {
            return Ok(normal);
        }
        Ok(normal.divided(&common, work)?.unwrap_or(normal).normal())
    }

    /// The sign at a fraction: -1, 0 or 1. The denominator is positive.
    pub(super) fn sign_at(&self, numerator: &IBig, denominator: &UBig) -> i8 {
        let denominator = IBig::from(denominator.clone());
        let mut value = IBig::ZERO;
        let mut power = IBig::ONE;
        for coefficient in self.0.iter().rev() {
            value = value * numerator + coefficient * &power;
            power *= &denominator;
        }
        sign(&value)
    }

    /// An exponent of two above the magnitude of every root.
    pub(super) fn root_bound(&self) -> usize {
        // Cauchy: a root is at most 1 + max |c / leading|.
        let leading = self.leading().bit_len();
        (self.bits() + 1).saturating_sub(leading) + 1
    }

    /// The polynomial whose roots are those of this one, negated.
    pub(super) fn negated(&self) -> Self {
        Self(self.0.iter().enumerate().map(|(i, c)| if i % 2 == 1 { -c } else { c.clone() }).collect()).normal()
    }

    /// The polynomial whose roots are the inverses of this one's. Zero must not be a root.
    pub(super) fn inverted(&self) -> Self {
        Self::new(self.0.iter().rev().cloned().collect()).normal()
    }

    /// The polynomial whose roots are those of this one plus a fraction.
    pub(super) fn shifted(&self, numerator: &IBig, denominator: &UBig) -> Self {
        // d^n p((d y - a) / d), by Horner's scheme.
        let denominator = IBig::from(denominator.clone());
        let linear = Self::new(vec![-numerator, denominator.clone()]);
        let mut result = Self(Vec::new());
        let mut power = IBig::ONE;
        for coefficient in self.0.iter().rev() {
            result = result.mul(&linear).add(&Self::new(vec![coefficient * &power]));
            power *= &denominator;
        }
        result.normal()
    }

    /// The polynomial whose roots are those of this one times a fraction other than zero.
    pub(super) fn stretched(&self, numerator: &IBig, denominator: &UBig) -> Self {
        // a^n p(d y / a).
        let denominator = IBig::from(denominator.clone());
        let degree = self.degree();
        let terms = self.0.iter().enumerate();
        Self::new(terms.map(|(i, c)| c * denominator.pow(i) * numerator.pow(degree - i)).collect()).normal()
    }

    /// A polynomial among whose roots are all sums of a root of each.
    pub(super) fn of_sums(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        interpolate(self.degree() * other.degree(), |point| {
            // p(z - y) as a polynomial in y.
            let linear = Self::new(vec![point.clone(), IBig::NEG_ONE]);
            let mut composed = Self(Vec::new());
            for coefficient in self.0.iter().rev() {
                composed = composed.mul(&linear).add(&Self::new(vec![coefficient.clone()]));
            }
            composed.resultant(other, work)
        })
    }

    /// A polynomial among whose roots are all products of a root of each. Zero must not be a root of this one.
    pub(super) fn of_products(&self, other: &Self, work: &mut Work) -> Result<Self, NoValue> {
        interpolate(self.degree() * other.degree(), |point| {
            // y^n p(z / y) as a polynomial in y, whose leading coefficient is p's constant one.
            let mut power = IBig::ONE;
            let mut coefficients = Vec::with_capacity(self.0.len());
            for coefficient in &self.0 {
                coefficients.push(coefficient * &power);
                power *= point;
            }
            coefficients.reverse();
            Self::new(coefficients).resultant(other, work)
        })
    }

    /// The determinant of Sylvester's matrix, by elimination without fractions.
    fn resultant(&self, other: &Self, work: &mut Work) -> Result<IBig, NoValue> {
        let (m, n) = (self.degree(), other.degree());
        let size = m + n;
        let mut rows = Vec::with_capacity(size);
        for (poly, count) in [(self, n), (other, m)] {
            for shift in 0..count {
                let mut row = vec![IBig::ZERO; size];
                for (i, c) in poly.0.iter().rev().enumerate() {
                    row[shift + i] = c.clone();
                }
                rows.push(row);
            }
        }
        let mut negative = false;
        let mut previous = IBig::ONE;
        for step in 0..size.saturating_sub(1) {
            let Some(pivot) = (step..size).find(|row| !rows[*row][step].is_zero()) else { return Ok(IBig::ZERO) };
            if pivot != step {
                rows.swap(pivot, step);
                negative = !negative;
            }
            let (head, tail) = rows.split_at_mut(step + 1);
            let top = &head[step];
            for row in tail {
                work.spend((size - step) as u64 * 3 * cost(top[step].bit_len()))?;
                for column in step + 1..size {
                    row[column] = (&top[step] * &row[column] - &row[step] * &top[column]) / &previous;
                }
                row[step] = IBig::ZERO;
            }
            previous = rows[step][step].clone();
        }
        let determinant = rows.last().and_then(|row| row.last()).cloned().unwrap_or(IBig::ONE);
        Ok(if negative { -determinant } else { determinant })
    }
}

/// A multiple of the polynomial of at most this degree with the given values at the integers from zero on.
fn interpolate(degree: usize, mut value: impl FnMut(&IBig) -> Result<IBig, NoValue>) -> Result<Poly, NoValue> {
    let mut differences = Vec::with_capacity(degree + 1);
    for point in 0..=degree {
        differences.push(value(&IBig::from(point))?);
    }
    // Newton's forward differences: sum of D^k f(0) z (z - 1) ... (z - k + 1) / k!.
    for order in 1..=degree {
        for i in (order..=degree).rev() {
            differences[i] = &differences[i] - &differences[i - 1];
        }
    }
    // Horner's scheme over k, times degree! in all.
    let mut result = Poly(Vec::new());
    let mut factor = IBig::ONE;
    for k in (0..=degree).rev() {
        result = result.mul(&Poly::new(vec![-IBig::from(k), IBig::ONE]));
        result = result.add(&Poly::new(vec![&differences[k] * &factor]));
        factor *= IBig::from(k.max(1));
    }
    Ok(result.normal())
}

/// -1, 0 or 1.
pub(super) fn sign(number: &IBig) -> i8 {
    if number.is_zero() {
        0
    } else if number.is_negative() {
        -1
    } else {
        1
    }
}

/// Sturm's sequence of a polynomial without multiple roots.
pub(super) struct Sturm(Vec<Poly>);

impl Sturm {
    pub(super) fn new(poly: &Poly, work: &mut Work) -> Result<Self, NoValue> {
        let mut sequence = vec![poly.clone(), poly.derivative().primitive()];
        while let [.., a, b] = sequence.as_slice() {
            if b.degree() == 0 {
                break;
            }
            let next = a.remainder(b, work)?.primitive().scale(&IBig::NEG_ONE);
            if next.is_zero() {
                break;
            }
            sequence.push(next);
        }
        Ok(Self(sequence))
    }

    fn variations(signs: impl Iterator<Item = i8>) -> usize {
        let mut last = 0;
        let mut count = 0;
        for sign in signs.filter(|s| *s != 0) {
            if last == -sign {
                count += 1;
            }
            last = sign;
        }
        count
    }

    /// The number of roots that are at most a fraction.
    pub(super) fn roots_up_to(&self, numerator: &IBig, denominator: &UBig, work: &mut Work) -> Result<usize, NoValue> {
        let degree = self.0[0].degree();
        let bits = self.0[0].bits() + degree * (numerator.bit_len() + denominator.bit_len());
        work.spend((degree * degree) as u64 * cost(bits))?;
        let at_low = Self::variations(self.0.iter().map(|p| {
            let sign = sign(&p.leading());
            if p.degree() % 2 == 1 { -sign } else { sign }
        }));
        Ok(at_low - Self::variations(self.0.iter().map(|p| p.sign_at(numerator, denominator))).min(at_low))
    }

    /// The number of all real roots.
    pub(super) fn roots(&self) -> usize {
        let at_low = Self::variations(self.0.iter().map(|p| {
            let sign = sign(&p.leading());
            if p.degree() % 2 == 1 { -sign } else { sign }
        }));
        at_low - Self::variations(self.0.iter().map(|p| sign(&p.leading()))).min(at_low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(coefficients: &[i64]) -> Poly {
        Poly::new(coefficients.iter().map(|c| IBig::from(*c)).collect())
    }

    #[test]
    fn resultants_vanish_at_sums_and_products() {
        let work = &mut Work::new(1 << 30);
        let (two, three) = (poly(&[-2, 0, 1]), poly(&[-3, 0, 1]));
        assert_eq!(two.of_sums(&three, work), Ok(poly(&[1, 0, -10, 0, 1])));
        assert_eq!(two.of_products(&three, work), Ok(poly(&[36, 0, -12, 0, 1])));
        assert_eq!(two.shifted(&IBig::ONE, &UBig::from(2u8)), poly(&[-7, -4, 4]));
        assert_eq!(two.stretched(&IBig::from(3), &UBig::from(2u8)), poly(&[-9, 0, 2]));
        assert_eq!(poly(&[-2, 1, 3]).inverted(), poly(&[-3, -1, 2]));
        assert_eq!(poly(&[-2, 1, 3]).negated(), poly(&[-2, -1, 3]));
    }

    #[test]
    fn roots_are_counted() {
        let work = &mut Work::new(1 << 30);
        // (x - 1)^2 (x + 2) (x^2 + 1), made square-free.
        let product = poly(&[1, -2, 1]).mul(&poly(&[2, 1])).mul(&poly(&[1, 0, 1]));
        let simple = product.square_free(work).unwrap();
        assert_eq!(simple, poly(&[-2, 1, 1]).mul(&poly(&[1, 0, 1])));
        let sturm = Sturm::new(&simple, work).unwrap();
        assert_eq!(sturm.roots(), 2);
        let up_to = |n: i64, work: &mut Work| sturm.roots_up_to(&IBig::from(n), &UBig::ONE, work).unwrap();
        assert_eq!([-3, -2, 0, 1, 9].map(|n| up_to(n, work)), [0, 1, 1, 2, 2]);
    }
}
