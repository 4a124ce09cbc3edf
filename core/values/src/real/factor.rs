//! Irreducible factors of integer polynomials, by factors modulo one large prime.
//!
//! The prime exceeds twice every coefficient that a factor can have, so that factors modulo the prime are combined without
//! lifting (von zur Gathen and Gerhard, Modern Computer Algebra, chapters 14 and 15). Mersenne primes serve: they need no
//! search and no test.

use dashu_base::{BitTest, DivRem, Signed};
use dashu_int::fast_div::ConstDivisor;
use dashu_int::{IBig, UBig};

use super::poly::{Poly, cost};
use crate::{NoValue, Work};

/// Exponents of Mersenne primes.
const EXPONENTS: [usize; 14] = [61, 89, 107, 127, 521, 607, 1279, 2203, 2281, 3217, 4253, 4423, 9689, 9941];

/// Splits a square-free polynomial in normal form that has no rational root into its irreducible factors.
pub(super) fn factors(poly: &Poly, work: &mut Work) -> Result<Vec<Poly>, NoValue> {
    if poly.degree() < 4 {
        // A proper factor, or the other, would be linear.
        return Ok(vec![poly.clone()]);
    }
    let degree = poly.degree();
    // Mignotte: a factor's coefficients are at most 2^n |f|; times the leading coefficient, twice for the sign.
    let bits = 2 * degree + poly.bits() + poly.leading().bit_len() + 4;
    let mut modular = None;
    for exponent in EXPONENTS.into_iter().filter(|e| *e > bits) {
        let field = Field::new(exponent);
        let reduced = field.monic(&field.reduce(poly));
        if reduced.len() == degree + 1 && field.gcd(reduced.clone(), field.derivative(&reduced), work)?.len() == 1 {
            let parts = field.factors(reduced, work)?;
            modular = Some((field, parts));
            break;
        }
    }
    let (field, mut parts) = modular.ok_or(NoValue::GaveUp)?;
    let mut rest = poly.clone();
    let mut found = Vec::new();
    let mut size = 1;
    'sizes: while 2 * size <= parts.len() {
        let mut chosen: Vec<usize> = (0..size).collect();
        loop {
            work.spend((degree * degree) as u64 * cost(field.exponent))?;
            let mut product = vec![field.residue(&rest.leading())];
            for part in &chosen {
                product = field.mul(&product, &parts[*part]);
            }
            let candidate = field.lift(&product).normal();
            if let Some(quotient) = rest.divided(&candidate, work)? {
                found.push(candidate);
                rest = quotient;
                for part in chosen.iter().rev() {
                    parts.remove(*part);
                }
                continue 'sizes;
            }
            if !next_subset(&mut chosen, parts.len()) {
                break;
            }
        }
        size += 1;
    }
    if rest.degree() > 0 {
        found.push(rest.normal());
    }
    Ok(found)
}

/// The next subset of the same size in lexicographic order.
fn next_subset(chosen: &mut [usize], of: usize) -> bool {
    let size = chosen.len();
    for i in (0..size).rev() {
        if chosen[i] + size - i < of {
            chosen[i] += 1;
            for j in i + 1..size {
                chosen[j] = chosen[j - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// Polynomials modulo a Mersenne prime: coefficients from the constant one on, the last not zero.
struct Field {
    exponent: usize,
    prime: UBig,
    divisor: ConstDivisor,
}

type Residues = Vec<UBig>;

fn trim(poly: &mut Residues) {
    while poly.last().is_some_and(UBig::is_zero) {
        poly.pop();
    }
}

impl Field {
    fn new(exponent: usize) -> Self {
        let prime = UBig::ones(exponent);
        Self { exponent, divisor: ConstDivisor::new(prime.clone()), prime }
    }

    /// Modulo a Mersenne prime, bits above the exponent are added to those below.
    fn fold(&self, number: UBig) -> UBig {
        if number.bit_len() <= self.exponent {
            return if number == self.prime { UBig::ZERO } else { number };
        }
        let (low, high) = number.split_bits(self.exponent);
        let sum = low + high;
        if sum.bit_len() > self.exponent {
            sum.div_rem(&self.prime).1
        } else if sum == self.prime {
            UBig::ZERO
        } else {
            sum
        }
    }

    fn residue(&self, number: &IBig) -> UBig {
        let rest = number.clone().into_parts().1.div_rem(&self.prime).1;
        if number.is_negative() && !rest.is_zero() { &self.prime - rest } else { rest }
    }

    fn reduce(&self, poly: &Poly) -> Residues {
        let mut residues: Residues = poly.coefficients().iter().map(|c| self.residue(c)).collect();
        trim(&mut residues);
        residues
    }

    /// The coefficients nearest to zero.
    fn lift(&self, poly: &[UBig]) -> Poly {
        let half = &self.prime >> 1;
        let lifted = poly.iter().map(|c| {
            let number = IBig::from(c.clone());
            if *c > half { number - IBig::from(self.prime.clone()) } else { number }
        });
        Poly::new(lifted.collect())
    }

    fn inverse(&self, number: &UBig) -> UBig {
        // Zero has none; callers ask for leading coefficients only.
        self.divisor.reduce(number.clone()).inv().map_or(UBig::ZERO, |inverse| inverse.residue())
    }

    fn monic(&self, poly: &[UBig]) -> Residues {
        let Some(leading) = poly.last() else { return Vec::new() };
        let inverse = self.inverse(leading);
        poly.iter().map(|c| self.fold(c * &inverse)).collect()
    }

    fn derivative(&self, poly: &[UBig]) -> Residues {
        let mut derivative = poly.iter().enumerate().skip(1).map(|(i, c)| self.fold(c * UBig::from(i))).collect();
        trim(&mut derivative);
        derivative
    }

    fn mul(&self, a: &[UBig], b: &[UBig]) -> Residues {
        if a.is_empty() || b.is_empty() {
            return Vec::new();
        }
        let mut product = vec![UBig::ZERO; a.len() + b.len() - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                product[i + j] += x * y;
            }
        }
        let mut product = product.into_iter().map(|c| self.fold(c)).collect();
        trim(&mut product);
        product
    }

    fn sub(&self, a: &[UBig], b: &[UBig]) -> Residues {
        let zero = UBig::ZERO;
        let mut difference = (0..a.len().max(b.len()))
            .map(|i| {
                let (x, y) = (a.get(i).unwrap_or(&zero), b.get(i).unwrap_or(&zero));
                if x >= y { x - y } else { x + &self.prime - y }
            })
            .collect();
        trim(&mut difference);
        difference
    }

    /// Quotient and remainder by a monic polynomial.
    fn div_rem(&self, mut a: Residues, b: &[UBig]) -> (Residues, Residues) {
        if a.len() < b.len() {
            return (Vec::new(), a);
        }
        let mut quotient = vec![UBig::ZERO; a.len() - b.len() + 1];
        for shift in (0..quotient.len()).rev() {
            let digit = std::mem::take(&mut a[shift + b.len() - 1]);
            if digit.is_zero() {
                continue;
            }
            for (i, c) in b[..b.len() - 1].iter().enumerate() {
                let product = self.fold(&digit * c);
                let place = &mut a[i + shift];
                *place = if *place >= product { &*place - product } else { &*place + &self.prime - product };
            }
            quotient[shift] = digit;
        }
        a.truncate(b.len() - 1);
        trim(&mut a);
        (quotient, a)
    }

    /// The monic greatest common divisor.
    fn gcd(&self, a: Residues, b: Residues, work: &mut Work) -> Result<Residues, NoValue> {
        let (mut a, mut b) = (self.monic(&a), self.monic(&b));
        while !b.is_empty() {
            work.spend((a.len() * b.len()) as u64 * cost(self.exponent))?;
            let rest = self.div_rem(a, &b).1;
            a = b;
            b = self.monic(&rest);
        }
        Ok(a)
    }

    /// A polynomial to the power of 2^count - 1 modulo a monic one.
    fn power(&self, base: &[UBig], count: usize, modulus: &[UBig], work: &mut Work) -> Result<Residues, NoValue> {
        let mut result = vec![UBig::ONE];
        for _ in 0..count {
            work.spend(4 * (modulus.len() * modulus.len()) as u64 * cost(self.exponent))?;
            result = self.div_rem(self.mul(&result, &result), modulus).1;
            result = self.div_rem(self.mul(&result, base), modulus).1;
        }
        Ok(result)
    }

    /// The monic irreducible factors of a monic square-free polynomial: first by degree, then by chance.
    fn factors(&self, poly: Residues, work: &mut Work) -> Result<Vec<Residues>, NoValue> {
        let mut found = Vec::new();
        let mut rest = poly;
        let x = vec![UBig::ZERO, UBig::ONE];
        let mut frobenius = x.clone();
        let mut degree = 1;
        while rest.len() > 2 * degree {
            frobenius = self.power(&frobenius, self.exponent, &rest, work)?;
            let product = self.gcd(rest.clone(), self.sub(&frobenius, &x), work)?;
            if product.len() > 1 {
                rest = self.div_rem(rest, &product).0;
                frobenius = self.div_rem(frobenius, &rest).1;
                self.split(product, degree, &mut found, work)?;
            }
            degree += 1;
        }
        if rest.len() > 1 {
            found.push(rest);
        }
        Ok(found)
    }

    /// Splits a product of irreducible polynomials of one degree (Cantor and Zassenhaus).
    fn split(&self, poly: Residues, degree: usize, found: &mut Vec<Residues>, work: &mut Work) -> Result<(), NoValue> {
        let mut parts = vec![poly];
        let mut seed = 1u64;
        while let Some(part) = parts.pop() {
            if part.len() == degree + 1 {
                found.push(part);
                continue;
            }
            // Some polynomial; which one decides only how long it takes.
            let mut base: Residues = (1..part.len())
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    UBig::from(seed >> 8)
                })
                .collect();
            trim(&mut base);
            // To the power of (p^d - 1) / 2 = (1 + p + ... + p^(d-1)) (p - 1) / 2.
            let mut norm = base.clone();
            let mut conjugate = base;
            for _ in 1..degree {
                conjugate = self.power(&conjugate, self.exponent, &part, work)?;
                norm = self.div_rem(self.mul(&norm, &conjugate), &part).1;
            }
            let root = self.power(&norm, self.exponent - 1, &part, work)?;
            let divisor = self.gcd(part.clone(), self.sub(&root, &[UBig::ONE]), work)?;
            if divisor.len() > 1 && divisor.len() < part.len() {
                parts.push(self.div_rem(part, &divisor).0);
                parts.push(divisor);
            } else {
                parts.push(part);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn poly(coefficients: &[i64]) -> Poly {
        Poly::new(coefficients.iter().map(|c| IBig::from(*c)).collect())
    }

    fn sorted(mut polys: Vec<Poly>) -> Vec<Poly> {
        polys.sort();
        polys
    }

    #[test]
    fn known_polynomials_split_as_known() {
        let work = &mut Work::new(1 << 32);
        // Irreducible, though it splits modulo every prime.
        let tenth = poly(&[1, 0, -10, 0, 1]);
        assert_eq!(factors(&tenth, work), Ok(vec![tenth.clone()]));
        let (a, b) = (poly(&[-2, 0, 1]), poly(&[1, 0, 0, 0, 5]));
        assert_eq!(sorted(factors(&a.mul(&b), work).unwrap()), sorted(vec![a.clone(), b.clone()]));
        let all = a.mul(&b).mul(&tenth).mul(&poly(&[7, 1, -3, 2]));
        assert_eq!(sorted(factors(&all, work).unwrap()), sorted(vec![a, b, tenth, poly(&[7, 1, -3, 2])]));
        assert_eq!(factors(&poly(&[1, 0, -10, 0, 1]), &mut Work::new(100)), Err(NoValue::GaveUp));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_product_of_the_factors_is_the_polynomial(a in prop::collection::vec(-50i64..50, 3..5), b in prop::collection::vec(-50i64..50, 3..5)) {
            let work = &mut Work::new(1 << 34);
            let product = poly(&a).mul(&poly(&b));
            prop_assume!(product.degree() > 3);
            let simple = product.square_free(work).unwrap();
            let parts = factors(&simple, work).unwrap();
            let back = parts.iter().fold(poly(&[1]), |p, q| p.mul(q));
            prop_assert_eq!(back, simple.clone());
            if simple.degree() == poly(&a).degree() + poly(&b).degree() {
                prop_assert!(parts.len() >= 2);
            }
        }
    }
}
