//! Functions that leave the rationals.
//!
//! The logarithms of the system's library differ in the last bit from one system to the next, which could decide a
//! rank. These use only the basic operations of IEEE 754, so they give the same bits everywhere; they compute with
//! about 100 bits and round once.

/// An unevaluated sum of two doubles, the second much smaller than the first.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

/// ln 2.
const LN_2: Double = Double { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
/// 1 / ln 2.
const LOG2_E: Double = Double { high: std::f64::consts::LOG2_E, low: 2.035_527_374_093_103_3e-17 };
/// 1 / ln 10.
const LOG10_E: Double = Double { high: std::f64::consts::LOG10_E, low: 1.098_319_650_216_765e-17 };

/// Exact sum of two, the first not smaller.
fn quick_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

/// Exact sum.
fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let part = high - a;
    Double { high, low: (a - (high - part)) + (b - part) }
}

/// Exact product (Dekker 1971), for factors far from the ends of the range.
const fn product(a: f64, b: f64) -> Double {
    const fn halves(x: f64) -> (f64, f64) {
        let scaled = x * 134_217_729.0;
        let high = scaled - (scaled - x);
        (high, x - high)
    }
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    Double { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Double {
    const fn from(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    fn add(self, other: Self) -> Self {
        let s = sum(self.high, other.high);
        let t = sum(self.low, other.low);
        let s = quick_sum(s.high, s.low + t.high);
        quick_sum(s.high, s.low + t.low)
    }

    fn mul(self, other: Self) -> Self {
        let p = product(self.high, other.high);
        quick_sum(p.high, p.low + (self.high * other.low + self.low * other.high))
    }

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self.add(other.mul(Self::from(-first)));
        let second = rest.high / other.high;
        let rest = rest.add(other.mul(Self::from(-second)));
        let third = rest.high / other.high;
        quick_sum(first, second).add(Self::from(third))
    }
}

/// A positive finite number as `m · 2^e` with m between √½ and √2.
fn split(x: f64) -> (f64, i32) {
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * 18_014_398_509_481_984.0, -54) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        (mantissa / 2.0, exponent + 1 + shift)
    } else {
        (mantissa, exponent + shift)
    }
}

/// 1, 1/3, 1/5, …: with |s| < 0.172, the first power of s that is missing is below 2^-117.
static COEFFICIENTS: [Double; 23] = {
    let mut all = [Double::from(1.0); 23];
    let mut k = 1;
    while k < all.len() {
        let odd = (2 * k + 1) as f64;
        let high = 1.0 / odd;
        // The rest of the division is exact, and its quotient is the second half.
        let rest = product(high, -odd);
        all[k] = Double { high, low: (1.0 + rest.high + rest.low) / odd };
        k += 1;
    }
    all
};

/// The logarithm of a number between √½ and √2, by the series of the inverse hyperbolic tangent.
fn ln_near_one(m: f64) -> Double {
    let s = sum(m, -1.0).div(sum(m, 1.0));
    let square = s.mul(s);
    let mut series = Double::from(0.0);
    for coefficient in COEFFICIENTS.iter().rev() {
        series = series.mul(square).add(*coefficient);
    }
    let result = s.mul(series);
    Double { high: 2.0 * result.high, low: 2.0 * result.low }
}

/// The natural logarithm of a positive number.
pub(crate) fn ln(x: f64) -> f64 {
    let (m, e) = split(x);
    let result = LN_2.mul(Double::from(f64::from(e))).add(ln_near_one(m));
    result.high + result.low
}

/// The binary logarithm of a positive number.
pub(crate) fn log2(x: f64) -> f64 {
    let (m, e) = split(x);
    let result = Double::from(f64::from(e)).add(ln_near_one(m).mul(LOG2_E));
    result.high + result.low
}

/// The decimal logarithm of a positive number.
pub(crate) fn log10(x: f64) -> f64 {
    let (m, e) = split(x);
    let result = LN_2.mul(Double::from(f64::from(e))).add(ln_near_one(m)).mul(LOG10_E);
    result.high + result.low
}

/// The remainder of the division that rounds down, for a divisor other than zero.
pub(crate) fn modulo(x: f64, y: f64) -> f64 {
    let rest = x % y;
    let rest = if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest };
    rest + 0.0
}

/// The whole power by repeated squaring: unlike the library's, its steps are the same everywhere.
pub(crate) fn power(x: f64, exponent: i32) -> f64 {
    let mut base = x;
    let mut left = exponent.unsigned_abs();
    let mut result = 1.0;
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        left >>= 1;
        if left > 0 {
            base *= base;
        }
    }
    if exponent < 0 { 1.0 / result } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_values() {
        for k in -300..=300 {
            let ten: f64 = format!("1e{k}").parse().unwrap();
            if (0..=22).contains(&k) {
                assert_eq!(log10(ten).to_bits(), f64::from(k).to_bits(), "10^{k}");
            }
        }
        for k in -1074..=1023 {
            let x = if k < -1022 { f64::from_bits(1 << (k + 1074)) } else { 2f64.powi(k) };
            assert_eq!(log2(x).to_bits(), f64::from(k).to_bits(), "2^{k}");
        }
        assert_eq!(ln(1.0).to_bits(), 0);
    }

    #[test]
    fn modulo_has_the_sign_of_the_divisor() {
        assert_eq!(modulo(-7.0, 3.0).to_bits(), 2f64.to_bits());
        assert_eq!(modulo(7.0, -3.0).to_bits(), (-2f64).to_bits());
        assert_eq!(modulo(6.0, 3.0).to_bits(), 0);
        assert_eq!(power(2.0, -2).to_bits(), 0.25f64.to_bits());
    }

    proptest! {
        #[test]
        fn close_to_the_library(bits in 1u64..0x7ff0_0000_0000_0000) {
            let x = f64::from_bits(bits);
            for (ours, theirs) in [(ln(x), x.ln()), (log2(x), x.log2()), (log10(x), x.log10())] {
                prop_assert!((ours - theirs).abs() <= theirs.abs() * 4.5e-16, "{x}: {ours} {theirs}");
            }
        }
    }
}
