//! Irrational real algebraic numbers: an irreducible polynomial and which of its real roots is meant.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use dashu_base::{BitTest, DivEuclid, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::factor::factors;
use super::poly::{Poly, Sturm};
use crate::{NoValue, Work};

/// The greatest degree of a polynomial that is worked with.
const MAX_DEGREE: usize = 256;

/// An irrational number. It lies strictly between `floor` and `floor + 1`, both divided by two to the power of `bits`, and
/// is the only root of its polynomial there.
#[derive(Clone, Debug)]
pub(super) struct Algebraic {
    /// Irreducible, primitive, with a positive leading coefficient, of degree 2 at least.
    poly: Poly,
    /// How many real roots of the polynomial are smaller.
    index: usize,
    floor: IBig,
    bits: usize,
}

/// The polynomial and the index determine the number; the interval is only how well it is known.
impl PartialEq for Algebraic {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.poly == other.poly
    }
}

impl Eq for Algebraic {}

impl Hash for Algebraic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.poly, self.index).hash(state);
    }
}

impl Ord for Algebraic {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        if self.poly == other.poly {
            return self.index.cmp(&other.index);
        }
        // Different irreducible polynomials have no common root, so this ends.
        let (mut a, mut b) = (self.clone(), other.clone());
        loop {
            let bits = a.bits.max(b.bits);
            a.refine(bits);
            b.refine(bits);
            match a.floor.cmp(&b.floor) {
                // Both in one interval: look closer.
                Ordering::Equal => a.refine(2 * bits + 8),
                unequal => return unequal,
            }
        }
    }
}

impl PartialOrd for Algebraic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A real number that was found: rational or not.
pub(super) enum Found {
    Rational(RBig),
    Irrational(Algebraic),
}

/// A root of a polynomial, known by the half-open interval from `floor` to `floor + 1` over two to the power of `bits`,
/// whose upper end belongs to it.
struct Cell {
    floor: IBig,
    bits: usize,
}

fn power(bits: usize) -> UBig {
    UBig::ONE << bits
}

/// The cell of width at most one of the root that has so many smaller ones.
fn isolate(poly: &Poly, sturm: &Sturm, index: usize, work: &mut Work) -> Result<Cell, NoValue> {
    let bound = poly.root_bound();
    work.spend(bound as u64 / 64)?;
    let mut low = -IBig::from(power(bound));
    let mut high = IBig::from(power(bound));
    let mut bits = 0;
    loop {
        let narrow = &high - &low == IBig::ONE;
        if narrow {
            let scale = power(bits);
            let before = sturm.roots_up_to(&low, &scale, work)?;
            let after = sturm.roots_up_to(&high, &scale, work)?;
            if before == index && after == index + 1 {
                return Ok(Cell { floor: low, bits });
            }
            low <<= 1;
            high <<= 1;
            bits += 1;
        }
        let middle: IBig = (&low + &high).div_euclid(IBig::from(2));
        if sturm.roots_up_to(&middle, &power(bits), work)? > index {
            high = middle;
        } else {
            low = middle;
        }
    }
}

impl Cell {
    /// The fraction in the cell whose denominator divides `leading`, if the root is one.
    fn rational(&mut self, poly: &Poly, work: &mut Work) -> Result<Option<RBig>, NoValue> {
        // A rational root's denominator divides the leading coefficient: so narrow, only one multiple remains.
        let leading = poly.leading();
        self.refine(poly, leading.bit_len() + 1, work)?;
        let top: IBig = ((&self.floor + IBig::ONE) * &leading).div_euclid(IBig::from(power(self.bits)));
        let denominator = leading.clone().unsigned_abs();
        Ok((poly.sign_at(&top, &denominator) == 0 && {
            let low = &self.floor * &leading;
            &top << self.bits > low
        })
        .then(|| RBig::from_parts(top, denominator)))
    }

    /// Halves the cell until it is so many bits fine. The polynomial has no other root in it, and no multiple one.
    fn refine(&mut self, poly: &Poly, bits: usize, work: &mut Work) -> Result<(), NoValue> {
        if self.bits >= bits {
            return Ok(());
        }
        let mut at_high = poly.sign_at(&(&self.floor + IBig::ONE), &power(self.bits));
        while self.bits < bits {
            work.spend(1 + (poly.degree() * (self.bits + self.floor.bit_len() + poly.bits())) as u64 / 16)?;
            self.floor <<= 1;
            self.bits += 1;
            // The sign changes at the root only, so it is in the lower half, whose end belongs to it, unless it changes
            // after the middle or the root is the upper end.
            let at_middle = poly.sign_at(&(&self.floor + IBig::ONE), &power(self.bits));
            if at_high == 0 || at_middle == -at_high {
                self.floor += IBig::ONE;
            } else {
                at_high = at_middle;
            }
        }
        Ok(())
    }
}

impl Found {
    /// The real root of a polynomial, not zero, that has so many smaller ones; `None` if there are not so many.
    pub(super) fn root(poly: &Poly, index: usize, work: &mut Work) -> Result<Option<Self>, NoValue> {
        if poly.is_zero() || poly.degree() > MAX_DEGREE {
            return if poly.is_zero() { Ok(None) } else { Err(NoValue::GaveUp) };
        }
        let mut poly = poly.square_free(work)?;
        if poly.degree() == 0 {
            return Ok(None);
        }
        let mut sturm = Sturm::new(&poly, work)?;
        let count = sturm.roots();
        if index >= count {
            return Ok(None);
        }
        let mut cell = isolate(&poly, &sturm, index, work)?;
        if let Some(rational) = cell.rational(&poly, work)? {
            return Ok(Some(Self::Rational(rational)));
        }
        // Without the rational roots, what remains has no linear factor.
        let mut rest = poly.clone();
        for other in (0..count).filter(|i| *i != index) {
            let mut cell = isolate(&poly, &sturm, other, work)?;
            if let Some(root) = cell.rational(&poly, work)? {
                let linear = Poly::new(vec![-root.numerator(), root.denominator().clone().into()]);
                rest = rest.divided(&linear, work)?.map_or(rest, |quotient| quotient.normal());
            }
        }
        for factor in factors(&rest, work)? {
            let sturm_of_factor = Sturm::new(&factor, work)?;
            let scale = power(cell.bits);
            let before = sturm_of_factor.roots_up_to(&cell.floor, &scale, work)?;
            let after = sturm_of_factor.roots_up_to(&(&cell.floor + IBig::ONE), &scale, work)?;
            if after > before {
                (poly, sturm) = (factor, sturm_of_factor);
                break;
            }
        }
        let index = sturm.roots_up_to(&cell.floor, &power(cell.bits), work)?;
        Ok(Some(Self::Irrational(Algebraic { poly, index, floor: cell.floor, bits: cell.bits })))
    }

    /// The only root of a polynomial strictly between two fractions; `None` if there is none or another one.
    pub(super) fn root_between(poly: &Poly, low: &RBig, high: &RBig, work: &mut Work) -> Result<Option<Self>, NoValue> {
        if poly.is_zero() || poly.degree() > MAX_DEGREE {
            return if poly.is_zero() { Ok(None) } else { Err(NoValue::GaveUp) };
        }
        let poly = poly.square_free(work)?;
        if poly.degree() == 0 || low >= high {
            return Ok(None);
        }
        let sturm = Sturm::new(&poly, work)?;
        let before = sturm.roots_up_to(low.numerator(), low.denominator(), work)?;
        let mut after = sturm.roots_up_to(high.numerator(), high.denominator(), work)?;
        if poly.sign_at(high.numerator(), high.denominator()) == 0 {
            after -= 1;
        }
        if after == before + 1 { Self::root(&poly, before, work) } else { Ok(None) }
    }
}

impl Algebraic {
    pub(super) fn poly(&self) -> &Poly {
        &self.poly
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Halves the interval until it is so many bits fine.
    pub(super) fn refine(&mut self, bits: usize) {
        let Some(extra) = bits.checked_sub(self.bits).filter(|extra| *extra > 0) else { return };
        let at_low = self.poly.sign_at(&self.floor, &power(self.bits));
        for _ in 0..extra {
            self.floor <<= 1;
            self.bits += 1;
            let middle = &self.floor + IBig::ONE;
            if self.poly.sign_at(&middle, &power(self.bits)) == at_low {
                self.floor = middle;
            }
        }
    }

    /// The same within a limit.
    pub(super) fn refine_within(&mut self, bits: usize, work: &mut Work) -> Result<(), NoValue> {
        let length = (bits + self.floor.bit_len() + self.poly.bits()) as u64;
        let steps = bits.saturating_sub(self.bits) as u64;
        work.spend(steps.saturating_mul(1 + length / 16 * self.poly.degree() as u64))?;
        self.refine(bits);
        Ok(())
    }

    /// The fractions between which the number lies.
    pub(super) fn interval(&self) -> (RBig, RBig) {
        let scale = power(self.bits);
        (RBig::from_parts(self.floor.clone(), scale.clone()), RBig::from_parts(&self.floor + IBig::ONE, scale))
    }

    pub(super) fn floor(&self) -> IBig {
        // The interval is within one unit, since `bits` is not negative.
        self.floor.clone() >> self.bits
    }

    pub(super) fn is_negative(&self) -> bool {
        self.floor.is_negative()
    }

    pub(super) fn compare(&self, other: &RBig) -> Ordering {
        let mut number = self.clone();
        loop {
            let (low, high) = number.interval();
            if high <= *other {
                return Ordering::Less;
            }
            if low >= *other {
                return Ordering::Greater;
            }
            number.refine(2 * number.bits + 4);
        }
    }

    /// A number of the same degree, of which an irreducible polynomial and a map of the interval are known.
    fn mapped(&self, poly: Poly, map: impl Fn(&Self) -> (RBig, RBig), work: &mut Work) -> Result<Self, NoValue> {
        let sturm = Sturm::new(&poly, work)?;
        let mut source = self.clone();
        loop {
            let (low, high) = map(&source);
            let before = sturm.roots_up_to(low.numerator(), low.denominator(), work)?;
            let after = sturm.roots_up_to(high.numerator(), high.denominator(), work)?;
            if after == before + 1 {
                let cell = isolate(&poly, &sturm, before, work)?;
                return Ok(Self { poly, index: before, floor: cell.floor, bits: cell.bits });
            }
            source.refine_within(2 * source.bits + 8, work)?;
        }
    }

    pub(super) fn negate(&self, work: &mut Work) -> Result<Self, NoValue> {
        self.mapped(
            self.poly.negated(),
            |number| {
                let (low, high) = number.interval();
                (-high, -low)
            },
            work,
        )
    }

    pub(super) fn inverse(&self, work: &mut Work) -> Result<Self, NoValue> {
        let mut number = self.clone();
        // Away from zero, so that the interval has an image.
        while number.floor.is_zero() || number.floor == IBig::NEG_ONE {
            number.refine_within(2 * number.bits + 8, work)?;
        }
        number.mapped(
            self.poly.inverted(),
            |number| {
                let (low, high) = number.interval();
                (RBig::ONE / high, RBig::ONE / low)
            },
            work,
        )
    }

    pub(super) fn plus_rational(&self, other: &RBig, work: &mut Work) -> Result<Self, NoValue> {
        let poly = self.poly.shifted(other.numerator(), other.denominator());
        self.mapped(
            poly,
            |number| {
                let (low, high) = number.interval();
                (low + other, high + other)
            },
            work,
        )
    }

    /// Times a fraction other than zero.
    pub(super) fn times_rational(&self, other: &RBig, work: &mut Work) -> Result<Self, NoValue> {
        let poly = self.poly.stretched(other.numerator(), other.denominator());
        self.mapped(
            poly,
            |number| {
                let (low, high) = number.interval();
                let (low, high) = (low * other, high * other);
                if low < high { (low, high) } else { (high, low) }
            },
            work,
        )
    }

    /// A root of `poly` that a function of two intervals closes in on.
    fn closing_in(
        &self,
        other: &Self,
        poly: &Poly,
        map: impl Fn((RBig, RBig), (RBig, RBig)) -> (RBig, RBig),
        work: &mut Work,
    ) -> Result<Found, NoValue> {
        let poly = poly.square_free(work)?;
        let sturm = Sturm::new(&poly, work)?;
        let (mut a, mut b) = (self.clone(), other.clone());
        loop {
            let (low, high) = map(a.interval(), b.interval());
            let before = sturm.roots_up_to(low.numerator(), low.denominator(), work)?;
            let after = sturm.roots_up_to(high.numerator(), high.denominator(), work)?;
            if after == before + 1 {
                return Found::root(&poly, before, work)?.ok_or(NoValue::GaveUp);
            }
            let bits = 2 * a.bits.max(b.bits) + 4;
            a.refine_within(bits, work)?;
            b.refine_within(bits, work)?;
        }
    }

    fn check_degrees(&self, other: &Self) -> Result<(), NoValue> {
        if self.poly.degree() * other.poly.degree() > MAX_DEGREE { Err(NoValue::GaveUp) } else { Ok(()) }
    }

    pub(super) fn plus(&self, other: &Self, work: &mut Work) -> Result<Found, NoValue> {
        self.check_degrees(other)?;
        let poly = self.poly.of_sums(&other.poly, work)?;
        self.closing_in(other, &poly, |(a, b), (c, d)| (a + c, b + d), work)
    }

    pub(super) fn times(&self, other: &Self, work: &mut Work) -> Result<Found, NoValue> {
        self.check_degrees(other)?;
        let poly = self.poly.of_products(&other.poly, work)?;
        let map = |(a, b): (RBig, RBig), (c, d): (RBig, RBig)| {
            let corners = [&a * &c, &a * &d, &b * &c, &b * &d];
            let least = corners.iter().min().cloned().unwrap_or(RBig::ZERO);
            let greatest = corners.into_iter().max().unwrap_or(RBig::ZERO);
            (least, greatest)
        };
        self.closing_in(other, &poly, map, work)
    }
}
