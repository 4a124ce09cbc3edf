use proptest::prelude::*;

use super::*;

/// A width and two numbers of it, often special ones.
fn operands(widths: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = (u32, u128, u128)> {
    let number = || prop_oneof![any::<u128>(), 0..4u128, (0..4u128).prop_map(|n| u128::MAX - n), 0..300u128];
    (widths, number(), number(), 0..6u8).prop_map(|(width, a, b, special)| {
        let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
        let a = if special == 0 { 1 << (width - 1) } else { a };
        let b = if special == 1 { 1 << (width - 1) } else { b };
        (width, a & mask, b & mask)
    })
}

fn bits(width: u32, number: u128) -> Bits {
    Bits::new(width, UBig::from(number))
}

fn number(bits: &Bits) -> u128 {
    u128::try_from(bits.to_ubig()).expect("it has at most 128 bits")
}

/// In two's complement.
fn signed_of(width: u32, number: u128) -> i128 {
    (number << (128 - width)) as i128 >> (128 - width)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn the_arithmetic_is_that_of_machine_words((width, a, b) in operands(1..=127)) {
        let (x, y) = (bits(width, a), bits(width, b));
        let mask = (1u128 << width) - 1;
        let (s, t) = (signed_of(width, a), signed_of(width, b));
        let is = |bits: Bits, expected: u128| prop_assert_eq_of(&bits, width, expected & mask);
        is(x.add(&y), a.wrapping_add(b))?;
        is(x.sub(&y), a.wrapping_sub(b))?;
        is(x.mul(&y), a.wrapping_mul(b))?;
        is(x.neg(), a.wrapping_neg())?;
        is(x.not(), !a)?;
        is(x.and(&y), a & b)?;
        is(x.or(&y), a | b)?;
        is(x.xor(&y), a ^ b)?;
        is(x.nand(&y), !(a & b))?;
        is(x.nor(&y), !(a | b))?;
        is(x.xnor(&y), !(a ^ b))?;
        is(x.udiv(&y), a.checked_div(b).unwrap_or(u128::MAX))?;
        is(x.urem(&y), a.checked_rem(b).unwrap_or(a))?;
        let quotient = if t == 0 { if s < 0 { 1 } else { -1 } } else { s / t };
        is(x.sdiv(&y), quotient as u128)?;
        is(x.srem(&y), (if t == 0 { s } else { s % t }) as u128)?;
        let modulus = if t == 0 { s } else { let r = s % t; if r != 0 && (r < 0) != (t < 0) { r + t } else { r } };
        is(x.smod(&y), modulus as u128)?;
        let far = b >= u128::from(width);
        is(x.shl(&y), if far { 0 } else { a << b })?;
        is(x.lshr(&y), if far { 0 } else { a >> b })?;
        is(x.ashr(&y), (if far { s >> 127 } else { s >> b }) as u128)?;
        prop_assert_eq!(x.ult(&y), a < b);
        prop_assert_eq!(x.ule(&y), a <= b);
        prop_assert_eq!(x.ugt(&y), a > b);
        prop_assert_eq!(x.uge(&y), a >= b);
        prop_assert_eq!(x.slt(&y), s < t);
        prop_assert_eq!(x.sle(&y), s <= t);
        prop_assert_eq!(x.sgt(&y), s > t);
        prop_assert_eq!(x.sge(&y), s >= t);
        prop_assert_eq!(x.comp(&y), Bits::bit_of(a == b));
        let fits = |n: i128| signed_of(width, n as u128) == n;
        prop_assert_eq!(x.nego(), !fits(-s));
        prop_assert_eq!(x.uaddo(&y), a + b > mask);
        prop_assert_eq!(x.saddo(&y), !fits(s + t));
        prop_assert_eq!(x.usubo(&y), a < b);
        prop_assert_eq!(x.ssubo(&y), s.checked_sub(t).is_none_or(|d| !fits(d)));
        prop_assert_eq!(x.umulo(&y), a.checked_mul(b).is_none_or(|p| p > mask));
        prop_assert_eq!(x.smulo(&y), s.checked_mul(t).is_none_or(|p| !fits(p)));
        prop_assert_eq!(x.sdivo(&y), t != 0 && !fits(s / t));
        prop_assert_eq!(x.to_signed(), IBig::from(s));
        prop_assert_eq!(x.to_unsigned(), IBig::from(a));
        prop_assert_eq!(Bits::from_int(width, &IBig::from(s)), x.clone());
        prop_assert_eq!(x.redor(), Bits::bit_of(a != 0));
        prop_assert_eq!(x.redand(), Bits::bit_of(a == mask));
        prop_assert_eq!(x.redxor(), Bits::bit_of(a.count_ones() % 2 == 1));
    }

    #[test]
    fn bits_are_moved_as_texts_are((width, a, _) in operands(1..=127), (other, b, _) in operands(1..=127), count in 0..300u32) {
        let (x, y) = (bits(width, a), bits(other, b));
        let text = |bits: &Bits| (0..bits.width()).rev().map(|i| if bits.bit(i) { '1' } else { '0' }).collect::<String>();
        let (s, t) = (text(&x), text(&y));
        prop_assert_eq!(Bits::from_binary(&s), Some(x.clone()));
        prop_assert_eq!(text(&x.concat(&y).unwrap()), format!("{s}{t}"));
        let turned = (count % width) as usize;
        prop_assert_eq!(text(&x.rotate_left(count)), format!("{}{}", &s[turned..], &s[..turned]));
        prop_assert_eq!(x.rotate_left(count).rotate_right(count), x.clone());
        prop_assert_eq!(x.rotate_left_by(&y), x.rotate_left((b % u128::from(width)) as u32));
        prop_assert_eq!(x.rotate_right_by(&y), x.rotate_right((b % u128::from(width)) as u32));
        prop_assert_eq!(text(&x.repeat(count % 8).unwrap()), s.repeat(count as usize % 8));
        let sign = if x.is_negative() { "1" } else { "0" };
        prop_assert_eq!(text(&x.sign_extend(count).unwrap()), format!("{}{s}", sign.repeat(count as usize)));
        prop_assert_eq!(text(&x.zero_extend(count).unwrap()), format!("{}{s}", "0".repeat(count as usize)));
        let (low, high) = ((a % u128::from(width)) as u32, width - 1);
        let high = low + count % (high - low + 1);
        let part = (width - 1 - high) as usize..(width - low) as usize;
        prop_assert_eq!(text(&x.extract(high, low)), &s[part]);
        let shown = x.to_string();
        let read = shown.strip_prefix("#x").map_or_else(
            || Bits::from_binary(shown.strip_prefix("#b").unwrap_or("")),
            Bits::from_hexadecimal,
        );
        prop_assert_eq!(read, Some(x));
    }

    #[test]
    fn wide_numbers_obey_the_laws(width in 1..400u32, words in prop::collection::vec(any::<u64>(), 14)) {
        let x = Bits::new(width, UBig::from_words(&words[..7]));
        let y = Bits::new(width, UBig::from_words(&words[7..]));
        prop_assert_eq!(x.add(&y).sub(&y), x.clone());
        prop_assert_eq!(x.neg(), x.not().add(&Bits::one(width)));
        prop_assert_eq!(x.udiv(&y).mul(&y).add(&x.urem(&y)), x.clone());
        prop_assert_eq!(x.sdiv(&y).mul(&y).add(&x.srem(&y)), x.clone());
        prop_assert_eq!(x.and(&y).not(), x.not().or(&y.not()));
        prop_assert_eq!(x.xor(&y).add(&x.and(&y).shl(&Bits::one(width))), x.add(&y));
        prop_assert_eq!(Bits::from_int(width, &x.to_signed()), x.clone());
        prop_assert_eq!(x.slt(&y), x.to_signed() < y.to_signed());
        prop_assert_eq!(x.umulo(&y), x.to_unsigned() * y.to_unsigned() != x.mul(&y).to_unsigned());
        prop_assert_eq!(x.smulo(&y), x.to_signed() * y.to_signed() != x.mul(&y).to_signed());
        prop_assert_eq!(x.saddo(&y), x.to_signed() + y.to_signed() != x.add(&y).to_signed());
        prop_assert_eq!(x.ssubo(&y), x.to_signed() - y.to_signed() != x.sub(&y).to_signed());
        prop_assert_eq!(x.uaddo(&y), x.to_unsigned() + y.to_unsigned() != x.add(&y).to_unsigned());
    }

    #[test]
    fn nothing_panics(width in 0..200u32, other in 0..200u32, words in prop::collection::vec(any::<u64>(), 8), i in any::<u32>(), j in any::<u32>()) {
        let x = Bits::new(width, UBig::from_words(&words[..4]));
        let y = Bits::new(other, UBig::from_words(&words[4..]));
        for f in [Bits::add, Bits::sub, Bits::mul, Bits::udiv, Bits::urem, Bits::sdiv, Bits::srem, Bits::smod, Bits::shl,
            Bits::lshr, Bits::ashr, Bits::and, Bits::or, Bits::xor, Bits::nand, Bits::nor, Bits::xnor, Bits::comp,
            Bits::rotate_left_by, Bits::rotate_right_by] {
            f(&x, &y);
        }
        for f in [Bits::ult, Bits::sle, Bits::uaddo, Bits::saddo, Bits::umulo, Bits::smulo, Bits::usubo, Bits::ssubo, Bits::sdivo] {
            f(&x, &y);
        }
        let _ = (x.not(), x.neg(), x.nego(), x.redor(), x.redand(), x.redxor(), x.to_signed(), x.to_string(), x.bit(i));
        let _ = (x.rotate_left(i), x.rotate_right(j), x.extract(i % 1000, j), x.extract(width, 0), x.concat(&y));
    }
}

fn prop_assert_eq_of(bits: &Bits, width: u32, expected: u128) -> Result<(), TestCaseError> {
    prop_assert_eq!(bits.width(), width);
    prop_assert_eq!(number(bits), expected);
    prop_assert_eq!(bits, &Bits::new(width, UBig::from(expected)));
    Ok(())
}

#[test]
fn widths_that_do_not_fit_are_refused() {
    let wide = Bits::zero(1 << 31);
    assert_eq!(wide.concat(&wide), None);
    assert_eq!(Bits::one(3).repeat(u32::MAX), None);
    assert_eq!(Bits::one(3).zero_extend(u32::MAX), None);
    assert_eq!(Bits::one(3).sign_extend(u32::MAX - 1), None);
    for text in ["", "012", "-1", "+1", "1_0"] {
        assert_eq!(Bits::from_binary(text), None, "{text}");
    }
    for text in ["", "g", "+f", "-1"] {
        assert_eq!(Bits::from_hexadecimal(text), None, "{text}");
    }
}
