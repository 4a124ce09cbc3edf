//! Exact rational numbers: small ones in two machine words, larger ones in arbitrary precision.

use std::cmp::Ordering;
use std::fmt;

use dashu_int::IBig;
use dashu_ratio::RBig;

/// An exact rational number.
///
/// Kept in lowest terms with a positive denominator; the small form is used whenever the number fits it, so that two
/// equal numbers have the same representation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Exact(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small { num: i128, den: i128 },
    Big(Box<RBig>),
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    if a == 0 {
        return b;
    }
    if b == 0 {
        return a;
    }
    // Nearly all fractions fit one word, where the same steps cost a third.
    if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
        return gcd_word(x, y).into();
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        if b == 0 {
            return a << shift;
        }
    }
}

/// The greatest common divisor of two numbers other than zero.
fn gcd_word(mut a: u64, mut b: u64) -> u64 {
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.max(b));
        b -= a;
    }
    a << shift
}

impl Exact {
    /// Zero.
    pub const ZERO: Self = Self(Repr::Small { num: 0, den: 1 });
    /// One.
    pub const ONE: Self = Self(Repr::Small { num: 1, den: 1 });

    /// A whole number.
    pub const fn int(n: i128) -> Self {
        Self(Repr::Small { num: n, den: 1 })
    }

    /// `num / den`, or `None` if `den` is zero.
    pub fn ratio(num: i128, den: i128) -> Option<Self> {
        if den == 0 {
            return None;
        }
        let g = gcd(num.unsigned_abs(), den.unsigned_abs());
        // Only i128::MIN has no absolute value; it goes the long way.
        if num == i128::MIN || den == i128::MIN || g > i128::MAX as u128 {
            return Some(Self::from_big(RBig::from_parts_signed(IBig::from(num), IBig::from(den))));
        }
        let g = (g as i128).max(1);
        let (num, den) = (num / g, den / g);
        Some(Self(if den < 0 { Repr::Small { num: -num, den: -den } } else { Repr::Small { num, den } }))
    }

    fn from_big(big: RBig) -> Self {
        if let (Ok(num), Ok(den)) = (i128::try_from(big.numerator()), i128::try_from(big.denominator()))
            && num != i128::MIN
        {
            return Self(Repr::Small { num, den });
        }
        Self(Repr::Big(Box::new(big)))
    }

    fn to_big(&self) -> RBig {
        match &self.0 {
            Repr::Small { num, den } => RBig::from_parts_signed(IBig::from(*num), IBig::from(*den)),
            Repr::Big(big) => (**big).clone(),
        }
    }

    /// The number as numerator and denominator, if both are small.
    pub fn as_small(&self) -> Option<(i128, i128)> {
        match &self.0 {
            Repr::Small { num, den } => Some((*num, *den)),
            Repr::Big(_) => None,
        }
    }

    /// The number, if it is a whole number that fits.
    pub fn as_i128(&self) -> Option<i128> {
        match self.0 {
            Repr::Small { num, den: 1 } => Some(num),
            _ => None,
        }
    }

    /// The number, if it is a whole number that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_i128().and_then(|n| i64::try_from(n).ok())
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small { num: 0, .. })
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self.cmp(&Self::ZERO) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) = (&self.0, &other.0) {
            if b == d {
                if let Some(num) = a.checked_add(*c) {
                    if *b == 1 && num != i128::MIN {
                        return Self(Repr::Small { num, den: 1 });
                    }
                    return Self::ratio(num, *b).unwrap_or(Self::ZERO);
                }
            } else if let (Some(x), Some(y), Some(den)) = (a.checked_mul(*d), c.checked_mul(*b), b.checked_mul(*d))
                && let Some(num) = x.checked_add(y)
            {
                return Self::ratio(num, den).unwrap_or(Self::ZERO);
            }
        }
        Self::from_big(self.to_big() + other.to_big())
    }

    /// The number with the opposite sign.
    #[must_use]
    pub fn neg(&self) -> Self {
        match &self.0 {
            Repr::Small { num, den } if *num != i128::MIN => Self(Repr::Small { num: -*num, den: *den }),
            Repr::Small { .. } => Self::from_big(-self.to_big()),
            Repr::Big(big) => Self::from_big(-(**big).clone()),
        }
    }

    /// The difference.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    /// The product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) = (&self.0, &other.0)
            && let (Some(num), Some(den)) = (a.checked_mul(*c), b.checked_mul(*d))
            && num != i128::MIN
        {
            if den == 1 {
                return Self(Repr::Small { num, den });
            }
            return Self::ratio(num, den).unwrap_or(Self::ZERO);
        }
        Self::from_big(self.to_big() * other.to_big())
    }

    /// The quotient, or `None` if `other` is zero.
    pub fn div(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) = (&self.0, &other.0)
            && let (Some(num), Some(den)) = (a.checked_mul(*d), b.checked_mul(*c))
        {
            return Self::ratio(num, den);
        }
        Some(Self::from_big(self.to_big() / other.to_big()))
    }

    /// The greatest whole number that is not greater.
    #[must_use]
    pub fn floor(&self) -> Self {
        match &self.0 {
            Repr::Small { num, den } => Self::int(num.div_euclid(*den)),
            Repr::Big(big) => Self::from_big(RBig::from(big.floor())),
        }
    }

    /// The least whole number that is not less.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.neg().floor().neg()
    }

    /// The nearest whole number; a half goes to the even neighbour.
    #[must_use]
    pub fn round(&self) -> Self {
        let floor = self.floor();
        let rest = self.sub(&floor).add(&self.sub(&floor));
        match rest.cmp(&Self::ONE) {
            Ordering::Less => floor,
            Ordering::Greater => floor.add(&Self::ONE),
            Ordering::Equal => {
                let even = floor.div(&Self::int(2)).is_some_and(|h| h.floor() == h);
                if even { floor } else { floor.add(&Self::ONE) }
            }
        }
    }

    /// The remainder of the division that rounds down, with the sign of `other`; `None` if `other` is zero.
    pub fn modulo(&self, other: &Self) -> Option<Self> {
        let quotient = self.div(other)?.floor();
        Some(self.sub(&quotient.mul(other)))
    }

    /// The whole power, or `None` for a negative power of zero.
    pub fn pow(&self, exponent: i32) -> Option<Self> {
        let mut base = if exponent < 0 { Self::ONE.div(self)? } else { self.clone() };
        let mut left = exponent.unsigned_abs();
        let mut result = Self::ONE;
        while left > 0 {
            if left & 1 == 1 {
                result = result.mul(&base);
            }
            left >>= 1;
            if left > 0 {
                base = base.mul(&base);
            }
        }
        Some(result)
    }

    /// The nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            // Both exactly representable: one correctly rounded division.
            Repr::Small { num, den } if num.unsigned_abs() <= 1 << 53 && *den <= 1 << 53 => *num as f64 / *den as f64,
            Repr::Small { num, den: 1 } => *num as f64,
            _ => self.to_big().to_f64().value(),
        }
    }

    /// The exact value of a finite `f64`, or `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        RBig::try_from(value).ok().map(Self::from_big)
    }

    /// Decimal text with exactly `places` digits after the point; a half is rounded to the even neighbour.
    pub fn to_decimal(&self, places: u32) -> String {
        let (sign, digits) = match self.scaled(places) {
            Some(scaled) => (scaled < 0, scaled.unsigned_abs().to_string()),
            None => {
                let scale = Self::int(10).pow(places as i32).unwrap_or(Self::ONE);
                let text = match self.mul(&scale).round().0 {
                    Repr::Small { num, .. } => num.to_string(),
                    Repr::Big(big) => big.numerator().to_string(),
                };
                (text.starts_with('-'), text.trim_start_matches('-').to_string())
            }
        };
        let places = places as usize;
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        let sign = if sign { "-" } else { "" };
        if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
    }

    /// As many units of the last place as are nearest, a half to even, if 128 bits are enough on the way.
    fn scaled(&self, places: u32) -> Option<i128> {
        let Repr::Small { num, den } = self.0 else { return None };
        let num = num.checked_mul(10i128.checked_pow(places)?)?;
        let (floor, rest) = (num.div_euclid(den), num.rem_euclid(den));
        let up = match rest.cmp(&(den - rest)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => floor & 1 == 1,
        };
        Some(floor + i128::from(up))
    }

    /// The shortest decimal text if the number has a finite decimal expansion of at most `places` digits, else the
    /// expansion rounded to `places` digits. No trailing zeros.
    pub fn to_short_decimal(&self, places: u32) -> String {
        if let Repr::Small { num, den: 1 } = self.0 {
            return num.to_string();
        }
        let text = self.to_decimal(places);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small { num: a, den: b }, Repr::Small { num: c, den: d }) = (&self.0, &other.0) {
            if b == d {
                return a.cmp(c);
            }
            if let (Some(x), Some(y)) = (a.checked_mul(*d), c.checked_mul(*b)) {
                return x.cmp(&y);
            }
        }
        self.to_big().cmp(&other.to_big())
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small { num, den: 1 } => write!(f, "{num}"),
            Repr::Small { num, den } => write!(f, "{num}/{den}"),
            Repr::Big(big) => write!(f, "{big}"),
        }
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Exact {
    fn from(n: i64) -> Self {
        Self::int(n.into())
    }
}

/// Finite numbers that do not overlap and have the same sum as the given ones (Shewchuk 1997).
fn partials<I: IntoIterator<Item = f64>>(values: I) -> Vec<f64> {
    let mut partials: Vec<f64> = Vec::new();
    for mut x in values {
        let mut kept = 0;
        for i in 0..partials.len() {
            let mut y = partials[i];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    partials
}

/// The correctly rounded sum of finite numbers: the same for every order of the same numbers.
///
/// Keeps the running sum as an unevaluated sum of numbers that do not overlap, then rounds once.
pub fn exact_sum_f64<I: IntoIterator<Item = f64>>(values: I) -> f64 {
    // Round the exact value once; summing the partials from the small end could round twice.
    match partials(values).as_slice() {
        [] => 0.0,
        [one] => *one,
        many => {
            let sum = many.iter().filter_map(|p| Exact::from_f64(*p)).fold(Exact::ZERO, |a, b| a.add(&b));
            sum.to_f64()
        }
    }
}

/// The sum of finite numbers without any rounding, for those who go on computing with it.
pub fn exact_sum<I: IntoIterator<Item = f64>>(values: I) -> Exact {
    partials(values).into_iter().filter_map(Exact::from_f64).fold(Exact::ZERO, |a, b| a.add(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn e(n: i128, d: i128) -> Exact {
        Exact::ratio(n, d).unwrap()
    }

    #[test]
    fn arithmetic_is_exact_where_floats_are_not() {
        let third = e(1, 3);
        assert_eq!(third.add(&third).add(&third), Exact::ONE);
        assert_eq!(e(1, 10).add(&e(2, 10)), e(3, 10));
        assert_eq!(e(2, -4), e(-1, 2));
        assert_eq!(Exact::ONE.div(&Exact::ZERO), None);
    }

    #[test]
    fn overflow_goes_to_the_big_form_and_comes_back() {
        let big = Exact::int(i128::MAX);
        let sum = big.add(&big);
        assert_eq!(sum.as_i128(), None);
        assert!(sum > big);
        assert_eq!(sum.sub(&big), big);
        assert_eq!(big.mul(&big).div(&big), Some(big.clone()));
        assert_eq!(Exact::int(i128::MIN).neg().neg().add(&Exact::ONE), Exact::int(i128::MIN + 1));
    }

    #[test]
    fn rounding_goes_to_even() {
        for (n, d, rounded) in
            [(1, 2, 0), (3, 2, 2), (5, 2, 2), (-1, 2, 0), (-3, 2, -2), (7, 3, 2), (8, 3, 3), (-7, 3, -2)]
        {
            assert_eq!(e(n, d).round(), Exact::int(rounded), "{n}/{d}");
        }
        assert_eq!(e(-7, 2).floor(), Exact::int(-4));
        assert_eq!(e(-7, 2).ceil(), Exact::int(-3));
        assert_eq!(Exact::int(-7).modulo(&Exact::int(3)), Some(Exact::int(2)));
    }

    #[test]
    fn decimals() {
        assert_eq!(e(1, 3).to_decimal(3), "0.333");
        assert_eq!(e(-1, 1000).to_decimal(2), "0.00");
        assert_eq!(e(-5, 2).to_decimal(3), "-2.500");
        assert_eq!(e(12345, 100).to_short_decimal(9), "123.45");
        assert_eq!(Exact::int(100).to_short_decimal(3), "100");
        assert_eq!(Exact::int(7).to_decimal(0), "7");
    }

    proptest! {
        #[test]
        fn field_laws(a in -1000i128..1000, b in 1i128..1000, c in -1000i128..1000, d in 1i128..1000) {
            let (x, y) = (e(a, b), e(c, d));
            prop_assert_eq!(x.add(&y), y.add(&x));
            prop_assert_eq!(x.add(&y).sub(&y), x.clone());
            prop_assert_eq!(x.mul(&y), y.mul(&x));
            if c != 0 {
                prop_assert_eq!(x.mul(&y).div(&y), Some(x.clone()));
            }
            prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
            prop_assert!(x.floor() <= x && x <= x.ceil());
        }

        #[test]
        fn small_and_big_agree(a in any::<i64>(), b in any::<i64>(), c in any::<i64>(), d in 1i64..) {
            let big = Exact::int(i128::MAX);
            let (x, y) = (Exact::from(a), e(b.into(), d.into()));
            // Through the big form and back.
            let there = x.mul(&big).add(&y.mul(&big)).div(&big).unwrap();
            prop_assert_eq!(there, x.add(&y));
            let z = Exact::from(c);
            prop_assert_eq!(x.mul(&big).cmp(&z.mul(&big)), a.cmp(&c));
        }

        #[test]
        fn float_sums_do_not_depend_on_order(mut xs in prop::collection::vec(-1e12f64..1e12, 0..40), seed in any::<u64>()) {
            let forward = exact_sum_f64(xs.iter().copied());
            let n = xs.len();
            let mut state = seed;
            for i in (1..n).rev() {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                xs.swap(i, (state >> 33) as usize % (i + 1));
            }
            prop_assert_eq!(forward.to_bits(), exact_sum_f64(xs).to_bits());
        }
    }
}
