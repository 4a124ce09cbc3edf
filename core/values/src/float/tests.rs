//! Against a second, naive reading: all numbers of a small format as rationals, and of these the one that a mode picks.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::*;
use crate::Work;

fn formats() -> Vec<Format> {
    [(2, 2), (2, 3), (3, 2), (2, 5), (3, 3)].map(|(eb, sb)| Format::new(eb, sb).expect("it is one")).to_vec()
}

fn numbers(format: Format) -> Vec<Float> {
    let patterns = (0..1 << format.width()).map(|n| Float::from_bits(format, &Bits::from_u64(format.width(), n)));
    let mut numbers: Vec<Float> = patterns.collect();
    numbers.dedup();
    numbers
}

/// The value of a finite number by the definition of the format, from its fields.
fn value(number: &Float) -> RBig {
    let Format { eb, sb } = number.format();
    let bits = number.to_bits().to_u64().expect("the format is small");
    let fraction = (bits & ((1 << (sb - 1)) - 1)) as i64;
    let exponent = (bits >> (sb - 1) & ((1 << eb) - 1)) as i64;
    let bias = (1 << (eb - 1)) - 1;
    let (significand, power) =
        if exponent == 0 { (fraction, 1 - bias) } else { (fraction + (1 << (sb - 1)), exponent - bias) };
    let negative = bits >> (eb + sb - 1) == 1;
    let scale = power - (i64::from(sb) - 1);
    let magnitude = RBig::from(significand) * RBig::from(2).pow(scale as isize);
    if negative { -magnitude } else { magnitude }
}

/// The numbers of a format from zero to infinity, for which the next power of two stands.
fn table(format: Format) -> Vec<(RBig, Float)> {
    let mut table: Vec<(RBig, Float)> = numbers(format)
        .into_iter()
        .filter(|n| !n.is_nan() && !n.is_infinite() && !n.is_negative())
        .map(|n| (value(&n), n))
        .collect();
    table.sort();
    table.push((RBig::from(2).pow(1 << (format.eb() - 1)), Float::infinite(format, false)));
    table
}

/// Rounds by searching all finite numbers of the format.
fn naive(finite: &[(RBig, Float)], mode: Rounding, exact: &RBig) -> Float {
    let negative = *exact < RBig::ZERO;
    let magnitude = if negative { -exact.clone() } else { exact.clone() };
    let above = finite.iter().position(|(v, _)| *v >= magnitude).unwrap_or(finite.len() - 1);
    let picked = if finite[above].0 == magnitude && above + 1 < finite.len() {
        above
    } else if above + 1 == finite.len() && magnitude >= finite[above].0 {
        match mode {
            Rounding::Zero => above - 1,
            Rounding::Positive if negative => above - 1,
            Rounding::Negative if !negative => above - 1,
            _ => above,
        }
    } else {
        let (low, high) = (&finite[above - 1].0, &finite[above].0);
        let (down, up) = (&magnitude - low, high - &magnitude);
        let nearest = match mode {
            Rounding::Positive => !negative,
            Rounding::Negative => negative,
            Rounding::Zero => false,
            _ if down != up => up < down,
            Rounding::NearestAway => true,
            // Patterns alternate in their last bit, infinity's included.
            Rounding::NearestEven => !finite[above].1.to_bits().bit(0),
        };
        if nearest { above } else { above - 1 }
    };
    let result = finite[picked].1.clone();
    if negative { result.neg() } else { result }
}

fn is_finite(number: &Float) -> bool {
    !number.is_nan() && !number.is_infinite()
}

#[test]
fn sums_products_and_quotients_are_the_nearest_numbers() {
    for format in formats() {
        let table = table(format);
        let all: Vec<Float> = numbers(format).into_iter().filter(is_finite).collect();
        for mode in Rounding::ALL {
            for a in &all {
                for b in &all {
                    let (x, y) = (value(a), value(b));
                    let sum = &x + &y;
                    if sum != RBig::ZERO {
                        assert_eq!(a.add(mode, b), naive(&table, mode, &sum), "{a} + {b} {mode}");
                    }
                    let difference = &x - &y;
                    if difference != RBig::ZERO {
                        assert_eq!(a.sub(mode, b), naive(&table, mode, &difference), "{a} - {b} {mode}");
                    }
                    let product = &x * &y;
                    if product != RBig::ZERO {
                        assert_eq!(a.mul(mode, b), naive(&table, mode, &product), "{a} * {b} {mode}");
                    }
                    if x != RBig::ZERO && y != RBig::ZERO {
                        assert_eq!(a.div(mode, b), naive(&table, mode, &(&x / &y)), "{a} / {b} {mode}");
                    }
                }
            }
        }
    }
}

#[test]
fn products_and_summands_are_rounded_once() {
    let format = Format::new(2, 3).expect("it is one");
    let table = table(format);
    let all: Vec<Float> = numbers(format).into_iter().filter(is_finite).collect();
    for mode in Rounding::ALL {
        for a in &all {
            for b in &all {
                for c in &all {
                    let exact = value(a) * value(b) + value(c);
                    if exact != RBig::ZERO {
                        assert_eq!(a.fma(mode, b, c), naive(&table, mode, &exact), "{a} {b} {c} {mode}");
                    }
                }
            }
        }
    }
}

#[test]
fn roots_integers_remainders_and_reals_are_the_nearest_numbers() {
    for format in formats() {
        let table = table(format);
        let all: Vec<Float> = numbers(format).into_iter().filter(is_finite).collect();
        for a in &all {
            let x = value(a);
            assert_eq!(a.to_real(&mut Work::new(100)), Ok(x.clone()), "{a}");
            for mode in Rounding::ALL {
                assert_eq!(Float::from_rational(format, mode, &x).to_real(&mut Work::new(100)), Ok(x.clone()));
                if x > RBig::ZERO {
                    // A root lies where its square does: between the neighbours of the result.
                    let root = value(&a.sqrt(mode));
                    let below = value(&a.sqrt(Rounding::Zero));
                    let above = value(&a.sqrt(Rounding::Positive));
                    assert!(below.sqr() <= x && x <= above.sqr(), "{a}");
                    let toward = match mode {
                        Rounding::Positive => above.clone(),
                        Rounding::Negative | Rounding::Zero => below.clone(),
                        // The middle of neighbours is never a root, for it has one bit too many.
                        _ if ((&below + &above) / RBig::from(2)).sqr() < x => above.clone(),
                        _ => below.clone(),
                    };
                    assert_eq!(root, toward, "{a} {mode}");
                }
                let integer = match mode {
                    Rounding::Positive => x.ceil(),
                    Rounding::Negative => x.floor(),
                    Rounding::Zero => x.trunc(),
                    Rounding::NearestEven | Rounding::NearestAway => {
                        let low = x.floor();
                        let twice = (&x - RBig::from(low.clone())) * RBig::from(2);
                        let tie_up = if mode == Rounding::NearestAway { x > RBig::ZERO } else { &low % 2 != 0 };
                        if twice > RBig::ONE || (twice == RBig::ONE && tie_up) { low + IBig::ONE } else { low }
                    }
                };
                let rounded = a.round_to_integral(mode);
                if integer == IBig::ZERO {
                    assert_eq!(rounded, Float::zero(format, a.is_negative()), "{a} {mode}");
                } else {
                    assert_eq!(rounded, naive(&table, mode, &RBig::from(integer.clone())), "{a} {mode}");
                }
                assert_eq!(a.to_sbv(mode, 12).map(|b| b.to_signed()), Ok(integer.clone()), "{a} {mode}");
                let unsigned = a.to_ubv(mode, 12).map(|b| b.to_unsigned());
                let expected = if integer < IBig::ZERO { Err(NoValue::Unspecified) } else { Ok(integer) };
                assert_eq!(unsigned, expected, "{a} {mode}");
            }
            for b in &all {
                let y = value(b);
                if y == RBig::ZERO {
                    assert!(a.rem(b).is_nan());
                    continue;
                }
                let quotient = &x / &y;
                let low = quotient.floor();
                let twice = (&quotient - RBig::from(low.clone())) * RBig::from(2);
                let up = twice > RBig::ONE || (twice == RBig::ONE && &low % 2 != 0);
                let nearest = if up { low + IBig::ONE } else { low };
                let rest = &x - &y * RBig::from(nearest);
                if rest == RBig::ZERO {
                    assert_eq!(a.rem(b), Float::zero(format, a.is_negative()), "{a} {b}");
                } else {
                    assert_eq!(value(&a.rem(b)), rest, "{a} {b}");
                }
                assert_eq!(a.lt(b), x < y);
                assert_eq!(a.leq(b), x <= y);
                assert_eq!(a.ieee_eq(b), x == y);
            }
        }
    }
}

#[test]
fn huge_exponents_cost_nothing() {
    let format = Format::new(Format::MAX_EXPONENT_BITS, 5).expect("it is one");
    let greatest = Float::greatest(format, false);
    let least = Float::from_bits(format, &Bits::one(format.width()));
    let one = Float::from_integer(format, Rounding::NearestEven, &IBig::ONE);
    for mode in Rounding::ALL {
        let _ = (greatest.add(mode, &least), greatest.mul(mode, &greatest), least.mul(mode, &least), least.sqrt(mode));
        let _ = (greatest.fma(mode, &greatest, &least), least.fma(mode, &least, &greatest), greatest.div(mode, &least));
        let _ = (greatest.round_to_integral(mode), greatest.to_ubv(mode, 9), least.to_sbv(mode, 9));
        let _ = (Float::from_float(Format::HALF, mode, &greatest), Float::from_float(Format::HALF, mode, &least));
    }
    assert_eq!(greatest.rem(&one), Float::zero(format, false));
    assert_eq!(one.rem(&greatest), one);
    let three = Float::from_integer(format, Rounding::NearestEven, &IBig::from(3));
    // The greatest number is 31 times an odd power of two: 31 leaves 1, the power 2, which is nearest to 3.
    assert_eq!(greatest.rem(&three), one.neg());
    assert_eq!(greatest.to_real(&mut Work::new(1 << 20)), Err(NoValue::GaveUp));
}

#[test]
fn open_cases_are_said_to_be_open() {
    let (zero, minus) = (Float::zero(Format::HALF, false), Float::zero(Format::HALF, true));
    assert_eq!(zero.minimum(&minus), Err(NoValue::Unspecified));
    assert_eq!(minus.maximum(&zero), Err(NoValue::Unspecified));
    assert_eq!(minus.maximum(&minus), Ok(minus.clone()));
    let nan = Float::nan(Format::HALF);
    assert_eq!(nan.minimum(&minus), Ok(minus.clone()));
    assert_eq!(minus.minimum(&nan), Ok(minus.clone()));
    assert_eq!(nan.to_real(&mut Work::new(100)), Err(NoValue::Unspecified));
    assert_eq!(nan.to_ieee_bv(), Err(NoValue::Unspecified));
    assert_eq!(nan.to_ubv(Rounding::Zero, 8), Err(NoValue::Unspecified));
    assert_eq!(Float::infinite(Format::HALF, true).to_sbv(Rounding::Zero, 8), Err(NoValue::Unspecified));
    assert_eq!(nan, nan);
    assert_ne!(zero, minus);
    assert!(zero.ieee_eq(&minus) && !nan.ieee_eq(&nan));
}

#[test]
fn formats_and_fields_are_checked() {
    assert_eq!(Format::new(1, 5), None);
    assert_eq!(Format::new(5, 1), None);
    assert_eq!(Format::new(Format::MAX_EXPONENT_BITS + 1, 5), None);
    assert_eq!(Format::new(5, u32::MAX), None);
    assert_eq!(Float::from_fields(&Bits::one(2), &Bits::one(3), &Bits::one(3)), None);
    let nan = Float::from_fields(&Bits::one(1), &Bits::ones(3), &Bits::one(3)).expect("the widths are right");
    assert!(nan.is_nan() && !nan.is_negative() && !nan.is_positive());
    let wide = Format::new(15, 113).expect("it is one");
    assert_eq!(
        Float::greatest(wide, true).to_bits(),
        Bits::new(128, UBig::ones(128)).sub(&Bits::one(128).shl(&Bits::from_u64(128, 112)))
    );
}

#[test]
fn numbers_are_written_as_smt_lib_has_them() {
    let format = Format::new(3, 4).expect("it is one");
    let show = |n: u64| Float::from_bits(format, &Bits::from_u64(7, n)).to_string();
    assert_eq!(show(0b1_010_011), "(fp #b1 #b010 #b011)");
    assert_eq!(show(0b1_000_000), "(_ -zero 3 4)");
    assert_eq!(show(0b0_111_000), "(_ +oo 3 4)");
    assert_eq!(show(0b0_111_010), "(_ NaN 3 4)");
    assert_eq!(format.to_string(), "(_ FloatingPoint 3 4)");
    for mode in Rounding::ALL {
        assert_eq!(Rounding::from_name(&mode.to_string()), Some(mode));
    }
}
