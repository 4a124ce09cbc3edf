use proptest::prelude::*;

use super::*;

fn work() -> Work {
    Work::new(1 << 34)
}

fn rational(numerator: i64, denominator: u64) -> Real {
    Real::fraction(numerator.into(), denominator.into()).expect("no zero")
}

fn root(coefficients: &[i64], number: usize) -> Real {
    let coefficients = coefficients.iter().map(|c| IBig::from(*c)).collect();
    Real::root(coefficients, number, &mut work()).expect("there is one")
}

/// The positive square root.
fn sqrt(square: i64) -> Real {
    root(&[-square, 0, 1], 2)
}

#[test]
fn squares_of_roots_are_rational() {
    let w = &mut work();
    let two = sqrt(2);
    assert_eq!(two.mul(&two, w), Ok(rational(2, 1)));
    assert_eq!(sqrt(4), rational(2, 1));
    assert_eq!(two.add(&two, w), Ok(sqrt(8)));
    assert_eq!(two.mul(&sqrt(3), w), Ok(sqrt(6)));
    assert_eq!(two.sub(&two, w), Ok(Real::ZERO));
    assert_eq!(two.div(&sqrt(8), w), Ok(rational(1, 2)));
    assert_eq!(rational(2, 1).div(&two, w), Ok(two.clone()));
    assert_eq!(two.div(&Real::ZERO, w), Err(NoValue::Unspecified));
    assert_eq!(two.neg(w), Ok(root(&[-2, 0, 1], 1)));
    assert_eq!(two.to_int(), IBig::ONE);
    assert_eq!(two.neg(w).unwrap().to_int(), IBig::from(-2));
    assert!(!two.is_int());
}

#[test]
fn cubes_and_towers() {
    let w = &mut work();
    let third = root(&[-2, 0, 0, 1], 1);
    let square = third.mul(&third, w).unwrap();
    assert_eq!(square, root(&[-4, 0, 0, 1], 1));
    assert_eq!(square.mul(&third, w), Ok(rational(2, 1)));
    // (sqrt 2 + sqrt 3)^2 = 5 + 2 sqrt 6.
    let sum = sqrt(2).add(&sqrt(3), w).unwrap();
    let expected = rational(5, 1).add(&sqrt(24), w).unwrap();
    assert_eq!(sum.mul(&sum, w), Ok(expected));
    let mixed = sum.add(&third, w).unwrap();
    assert_eq!(mixed.sub(&third, w), Ok(sum));
    // The golden ratio's inverse is one less.
    let golden = root(&[-1, -1, 1], 2);
    assert_eq!(Real::ONE.div(&golden, w), golden.sub(&Real::ONE, w));
}

#[test]
fn a_root_does_not_depend_on_the_polynomial_that_gave_it() {
    // (x^2 - 2)(2x - 1)(x^4 + 5x + 1), roots in ascending order.
    let factors = [[-2i64, 0, 1, 0, 0].as_slice(), &[-1, 2], &[1, 5, 0, 0, 1]];
    let product = factors
        .iter()
        .fold(Poly::new(vec![IBig::ONE]), |p, f| p.mul(&Poly::new(f.iter().map(|c| IBig::from(*c)).collect())));
    let roots: Vec<Real> =
        (1..=5).map(|n| Real::root(product.coefficients().to_vec(), n, &mut work()).expect("there is one")).collect();
    assert!(roots.is_sorted());
    let quartic = root(&[1, 5, 0, 0, 1], 1);
    assert_eq!(roots[0], quartic);
    assert_eq!(roots[1], root(&[-2, 0, 1], 1));
    assert_eq!(roots[2], root(&[1, 5, 0, 0, 1], 2));
    assert_eq!(roots[3], rational(1, 2));
    assert_eq!(roots[4], sqrt(2));
    let six = Real::root(product.coefficients().to_vec(), 6, &mut work());
    assert_eq!(six, Err(NoValue::Unspecified));
    assert_eq!(Real::root(vec![], 1, &mut work()), Err(NoValue::Unspecified));
    assert_eq!(Real::root(vec![IBig::ONE], 1, &mut work()), Err(NoValue::Unspecified));
}

#[test]
fn numbers_of_solvers_are_read() {
    let w = &mut work();
    let read = |text: &str, w: &mut Work| Real::read_root_obj(text, w);
    assert_eq!(read("(root-obj (+ (^ x 2) (- 2)) 2)", w), Some(Ok(sqrt(2))));
    assert_eq!(read("(root-obj (+ (* 2 (^ x 2)) (- 1)) 1)", w), Some(Ok(root(&[-1, 0, 2], 1))));
    assert_eq!(read("(root-obj (+ (^ x 5) (* (- 1) x) 1) 1)", w), Some(Ok(root(&[1, -1, 0, 0, 0, 1], 1))));
    assert_eq!(read("(root-obj (+ (^ x 2) 2) 1)", w), Some(Err(NoValue::Unspecified)));
    for text in ["", "(", "(root-obj", "(root-obj x)", "(root-obj (+ x y) 1)", "(root-obj (^ x 9999999) 1)", "(+ x 1)"]
    {
        assert_eq!(read(text, w), None, "{text}");
    }
    let deep = format!("(root-obj {}x{} 1)", "(- ".repeat(200_000), ")".repeat(200_000));
    assert_eq!(read(&deep, w), Some(Ok(Real::ZERO)));
    let read = |text: &str, w: &mut Work| Real::read_algebraic_number(text, w);
    let two = "(_ real_algebraic_number <1*x^2 + (-2), (741455/524288, 2965821/2097152)>)";
    assert_eq!(read(two, w), Some(Ok(sqrt(2))));
    assert_eq!(read("<2*x^2 + (-1), (-3/4, -1/2)>", w), Some(Ok(root(&[-1, 0, 2], 1))));
    assert_eq!(read("<1*x^2 + (-2), (-3, 3)>", w), Some(Err(NoValue::Unspecified)));
    for text in ["", "<>", "<1*x^2 + , (1, 2)>", "<1*x^2, (1/0, 2)>", "(_ real_algebraic_number", "<1*y, (1, 2)>"] {
        assert_eq!(read(text, w), None, "{text}");
    }
    for number in [sqrt(2), root(&[1, -1, 0, 0, 0, 1], 1), root(&[-1, 0, 2], 1)] {
        assert_eq!(Real::read_root_obj(&number.to_string(), w), Some(Ok(number)));
    }
}

#[test]
fn what_is_too_hard_is_given_up() {
    let hard: Vec<IBig> = (0..200).map(|i| IBig::from(i * i % 17 - 5)).collect();
    assert_eq!(Real::root(hard, 1, &mut Work::new(100_000)), Err(NoValue::GaveUp));
    let a = root(&[1, 5, 0, 0, 0, 0, 0, 0, 0, 1], 1);
    assert_eq!(a.add(&sqrt(2), &mut Work::new(1000)), Err(NoValue::GaveUp));
    let mut number = rational(3, 2);
    let mut w = Work::new(1 << 16);
    while let Ok(square) = number.mul(&number, &mut w) {
        number = square;
    }
    assert_eq!(w.left(), 0);
}

#[test]
fn irrational_numbers_are_rounded() {
    let w = &mut work();
    let rounded = |number: &Real, mode, w: &mut Work| {
        f64::from_bits(number.to_float(Format::DOUBLE, mode, w).unwrap().to_bits().to_u64().unwrap())
    };
    let two = sqrt(2);
    assert_eq!(rounded(&two, Rounding::NearestEven, w).to_bits(), 2f64.sqrt().to_bits());
    assert_eq!(rounded(&two, Rounding::Zero, w).to_bits(), 2f64.sqrt().next_down().to_bits());
    assert_eq!(rounded(&two.neg(w).unwrap(), Rounding::Negative, w).to_bits(), (-(2f64.sqrt())).to_bits());
    let tiny = root(&[-2, 0, 1 << 62], 2);
    assert_eq!(rounded(&tiny, Rounding::NearestEven, w).to_bits(), (2f64 / (1u64 << 62) as f64).sqrt().to_bits());
}

#[test]
fn numbers_are_written_as_smt_lib_has_them() {
    let shown = [rational(2, 1), rational(-2, 1), rational(1, 3), rational(-1, 3), sqrt(2)].map(|n| n.to_string());
    assert_eq!(shown, ["2.0", "(- 2.0)", "(/ 1.0 3.0)", "(- (/ 1.0 3.0))", "(root-obj (+ (^ x 2) (- 2)) 2)"]);
    assert_eq!(Real::from_decimal("12.50"), Some(rational(25, 2)));
    for text in ["", ".", "1.", ".5", "-1.0", "1e5", "1.0.0"] {
        assert_eq!(Real::from_decimal(text), None, "{text}");
    }
}

/// A rational number, often at the limits of one word.
fn any_rational() -> impl Strategy<Value = RBig> {
    let numerator = prop_oneof![any::<i128>(), any::<i64>().prop_map(i128::from), -9..9i128, Just(i64::MIN.into())];
    let denominator = prop_oneof![1..9u128, 1..=u128::from(u64::MAX), Just(u64::MAX.into()), 1..u128::MAX];
    (numerator, denominator).prop_map(|(n, d)| RBig::from_parts(n.into(), d.into()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]
    #[test]
    fn fractions_are_computed_as_large_ones(a in any_rational(), b in any_rational()) {
        let w = &mut work();
        let (x, y) = (Real::from(a.clone()), Real::from(b.clone()));
        prop_assert_eq!(x.add(&y, w), Ok(Real::from(&a + &b)));
        prop_assert_eq!(x.sub(&y, w), Ok(Real::from(&a - &b)));
        prop_assert_eq!(x.mul(&y, w), Ok(Real::from(&a * &b)));
        if !b.is_zero() {
            prop_assert_eq!(x.div(&y, w), Ok(Real::from(&a / &b)));
        }
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(x.to_int(), a.floor());
        prop_assert_eq!(x.is_int(), a.is_int());
        prop_assert_eq!(x.sign(), if a > RBig::ZERO { 1 } else if a < RBig::ZERO { -1 } else { 0 });
        prop_assert_eq!(x.to_rational(), Some(a));
    }
}

/// A root of a small polynomial.
fn any_root() -> impl Strategy<Value = Real> {
    (prop::collection::vec(-9i64..9, 2..4), 1..3usize).prop_filter_map("no such root", |(coefficients, number)| {
        Real::root(coefficients.into_iter().map(IBig::from).collect(), number, &mut work()).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn algebraic_numbers_obey_the_laws_of_a_field(a in any_root(), b in any_root(), q in -4..5i64, d in 1..4u64) {
        let w = &mut work();
        let c = rational(q, d);
        let sum = a.add(&b, w).unwrap();
        prop_assert_eq!(&sum, &b.add(&a, w).unwrap());
        prop_assert_eq!(&sum.sub(&b, w).unwrap(), &a);
        let product = a.mul(&b, w).unwrap();
        prop_assert_eq!(&product, &b.mul(&a, w).unwrap());
        if b.sign() != 0 {
            prop_assert_eq!(&product.div(&b, w).unwrap(), &a);
        }
        let left = c.mul(&sum, w).unwrap();
        let right = c.mul(&a, w).unwrap().add(&c.mul(&b, w).unwrap(), w).unwrap();
        prop_assert_eq!(left, right);
        let difference = a.sub(&b, w).unwrap();
        prop_assert_eq!(a.cmp(&b) as i8, difference.sign());
        prop_assert_eq!(a.cmp(&c) as i8, a.sub(&c, w).unwrap().sign());
        prop_assert_eq!(product.sign(), a.sign() * b.sign());
        let (low, high) = sum.bounds(40);
        prop_assert!(Real::from(low) <= sum && sum <= Real::from(high));
        let floor = Real::from(sum.to_int());
        prop_assert!(floor <= sum && sum < floor.add(&Real::ONE, w).unwrap());
    }
}
