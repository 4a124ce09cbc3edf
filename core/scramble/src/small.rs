//! Values of small sorts and the operations on them, as the SMT-LIB theories define them: for trying all assignments.

/// A small sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Bool,
    /// So many bits, at most 32.
    Bits(u32),
    /// Bits of the exponent and of the significand with its hidden bit, of which a double holds all sums and products.
    Float(u32, u32),
    Rounding,
}

/// A value of a small sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Bool(bool),
    Bits(u32, u64),
    /// The bits of IEEE 754; there is one NaN.
    Float(u32, u32, u64),
    Rounding(Rounding),
}

/// The rounding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    NearestAway,
    Up,
    Down,
    Zero,
}

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::Up, Rounding::Down, Rounding::Zero];

impl Sort {
    /// How many values there are.
    pub(crate) fn size(self) -> u64 {
        match self {
            Self::Bool => 2,
            Self::Bits(width) => 1 << width,
            // All patterns but those of NaN, which has one.
            Self::Float(exponent, significand) => {
                (1 << (exponent + significand)) - 2 * ((1 << (significand - 1)) - 1) + 1
            }
            Self::Rounding => 5,
        }
    }

    /// A value by its number.
    pub(crate) fn value(self, number: u64) -> Value {
        match self {
            Self::Bool => Value::Bool(number == 1),
            Self::Bits(width) => Value::Bits(width, number),
            Self::Float(exponent, significand) => {
                // Positive values up to infinity, negative ones, NaN.
                let half = infinity(exponent, significand) + 1;
                Value::Float(
                    exponent,
                    significand,
                    match number {
                        n if n < half => n,
                        n if n < 2 * half => (n - half) | 1 << (exponent + significand - 1),
                        _ => nan(exponent, significand),
                    },
                )
            }
            Self::Rounding => Value::Rounding(ROUNDINGS[number as usize]),
        }
    }
}

fn infinity(exponent: u32, significand: u32) -> u64 {
    ((1 << exponent) - 1) << (significand - 1)
}

pub(crate) fn nan(exponent: u32, significand: u32) -> u64 {
    infinity(exponent, significand) | 1
}

/// A float of three parts, with the one NaN for all.
pub(crate) fn float(exponent: u32, significand: u32, bits: u64) -> Value {
    let magnitude = bits & !(1 << (exponent + significand - 1));
    let bits = if magnitude > infinity(exponent, significand) { nan(exponent, significand) } else { bits };
    Value::Float(exponent, significand, bits)
}

/// The number that a float stands for; a double has room for it.
fn double(exponent: u32, significand: u32, bits: u64) -> f64 {
    let negative = bits >> (exponent + significand - 1) & 1 == 1;
    let magnitude = bits & !(1 << (exponent + significand - 1));
    let top = infinity(exponent, significand);
    let value = if magnitude > top {
        f64::NAN
    } else if magnitude == top {
        f64::INFINITY
    } else {
        let fraction = magnitude & ((1 << (significand - 1)) - 1);
        let field = (magnitude >> (significand - 1)) as i32;
        let bias = (1 << (exponent - 1)) - 1;
        let (hidden, power) = if field == 0 { (0, 1 - bias) } else { (1_u64 << (significand - 1), field - bias) };
        (hidden | fraction) as f64 * 2_f64.powi(power - (significand as i32 - 1))
    };
    if negative { -value } else { value }
}

/// A number that a double holds exactly, rounded. `zero` is the sign of a result that is zero.
fn round(exponent: u32, significand: u32, mode: Rounding, exact: f64, zero: bool) -> Value {
    let sign = 1 << (exponent + significand - 1);
    if exact.is_nan() {
        return Value::Float(exponent, significand, nan(exponent, significand));
    }
    let top = infinity(exponent, significand);
    let negative = if exact == 0.0 { zero } else { exact < 0.0 };
    let with_sign = |magnitude: u64| Value::Float(exponent, significand, magnitude | if negative { sign } else { 0 });
    if exact == 0.0 {
        return with_sign(0);
    }
    if exact.is_infinite() {
        return with_sign(top);
    }
    let size = exact.abs();
    let bias = (1 << (exponent - 1)) - 1;
    // Subnormal numbers of the small format are normal ones of a double.
    let power = ((size.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let unit = 2_f64.powi(power - (significand as i32 - 1));
    let (whole, rest) = ((size / unit).floor(), size / unit - (size / unit).floor());
    let mut whole = whole as u64;
    let away = match mode {
        Rounding::NearestEven => rest > 0.5 || rest >= 0.5 && whole % 2 == 1,
        Rounding::NearestAway => rest >= 0.5,
        Rounding::Up => rest > 0.0 && !negative,
        Rounding::Down => rest > 0.0 && negative,
        Rounding::Zero => false,
    };
    whole += u64::from(away);
    // A carry out of the fraction goes to the exponent by itself, as the hidden bit is added to the field.
    let field = (power + bias - 1) as u64;
    let magnitude = (field << (significand - 1)) + whole;
    if magnitude < top {
        return with_sign(magnitude);
    }
    let to_infinity = match mode {
        Rounding::NearestEven | Rounding::NearestAway => true,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::Zero => false,
    };
    with_sign(if to_infinity { top } else { top - 1 })
}

/// An operation: from the numbers of an indexed identifier and the arguments to a value. None if they do not fit.
pub(crate) type Operation = fn(&[u64], &[Value]) -> Option<Value>;

fn bits2(arguments: &[Value], operation: fn(u32, u64, u64) -> u64) -> Option<Value> {
    let (first, rest) = arguments.split_first()?;
    let Value::Bits(width, mut sum) = *first else { return None };
    if rest.is_empty() {
        return None;
    }
    for other in rest {
        let Value::Bits(same, other) = *other else { return None };
        if same != width {
            return None;
        }
        sum = operation(width, sum, other) & mask(width);
    }
    Some(Value::Bits(width, sum))
}

fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

fn signed(width: u32, bits: u64) -> i64 {
    (bits << (64 - width)) as i64 >> (64 - width)
}

fn compare(arguments: &[Value], holds: fn(u32, u64, u64) -> bool) -> Option<Value> {
    let [Value::Bits(width, a), Value::Bits(same, b)] = *arguments else { return None };
    (width == same).then(|| Value::Bool(holds(width, a, b)))
}

/// A comparison of floats holds between all neighbours.
fn floats(arguments: &[Value], holds: fn(f64, f64) -> bool) -> Option<Value> {
    let mut all = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let Value::Float(exponent, significand, bits) = *argument else { return None };
        all.push(double(exponent, significand, bits));
    }
    (all.len() > 1).then(|| Value::Bool(all.windows(2).all(|pair| holds(pair[0], pair[1]))))
}

fn arithmetic(arguments: &[Value], operation: fn(f64, f64) -> f64, multiplies: bool, subtracts: bool) -> Option<Value> {
    let [Value::Rounding(mode), Value::Float(e, s, a), Value::Float(e2, s2, b)] = *arguments else { return None };
    if (e, s) != (e2, s2) {
        return None;
    }
    let sign = |bits: u64| bits >> (e + s - 1) & 1 == 1;
    let (negative, other) = (sign(a), sign(b) != subtracts);
    let zero = if multiplies {
        negative != other
    } else if negative == other {
        negative
    } else {
        mode == Rounding::Down
    };
    Some(round(e, s, mode, operation(double(e, s, a), double(e, s, b)), zero))
}

fn test(arguments: &[Value], holds: fn(f64, u64, bool) -> bool) -> Option<Value> {
    let [Value::Float(exponent, significand, bits)] = *arguments else { return None };
    let value = double(exponent, significand, bits);
    let field = bits >> (significand - 1) & mask(exponent);
    let negative = bits >> (exponent + significand - 1) & 1 == 1;
    Some(Value::Bool(holds(value, field, negative)))
}

fn logic(arguments: &[Value], start: bool, operation: fn(bool, bool) -> bool) -> Option<Value> {
    let mut sum = start;
    for argument in arguments {
        let Value::Bool(value) = *argument else { return None };
        sum = operation(sum, value);
    }
    Some(Value::Bool(sum))
}

/// The operation of a name.
pub(crate) fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "and" => |_, a| logic(a, true, |x, y| x && y),
        "or" => |_, a| logic(a, false, |x, y| x || y),
        "xor" => |_, a| logic(a, false, |x, y| x != y),
        "not" => |_, a| if let [Value::Bool(x)] = *a { Some(Value::Bool(!x)) } else { None },
        "=>" => |_, a| {
            let (last, before) = a.split_last()?;
            let (Value::Bool(last), Value::Bool(all)) = (*last, logic(before, true, |x, y| x && y)?) else {
                return None;
            };
            Some(Value::Bool(!all || last))
        },
        "=" => |_, a| Some(Value::Bool(a.windows(2).all(|pair| pair[0] == pair[1]))),
        "distinct" => |_, a| Some(Value::Bool(a.iter().enumerate().all(|(n, x)| !a[n + 1..].contains(x)))),
        "ite" => |_, a| match *a {
            [Value::Bool(condition), x, y] => Some(if condition { x } else { y }),
            _ => None,
        },
        "bvand" => |_, a| bits2(a, |_, x, y| x & y),
        "bvor" => |_, a| bits2(a, |_, x, y| x | y),
        "bvxor" => |_, a| bits2(a, |_, x, y| x ^ y),
        "bvnand" => |_, a| bits2(a, |_, x, y| !(x & y)),
        "bvnor" => |_, a| bits2(a, |_, x, y| !(x | y)),
        "bvxnor" => |_, a| bits2(a, |_, x, y| !(x ^ y)),
        "bvadd" => |_, a| bits2(a, |_, x, y| x.wrapping_add(y)),
        "bvsub" => |_, a| bits2(a, |_, x, y| x.wrapping_sub(y)),
        "bvmul" => |_, a| bits2(a, |_, x, y| x.wrapping_mul(y)),
        "bvudiv" => |_, a| bits2(a, |_, x, y| x.checked_div(y).unwrap_or(u64::MAX)),
        "bvurem" => |_, a| bits2(a, |_, x, y| x.checked_rem(y).unwrap_or(x)),
        "bvshl" => |_, a| bits2(a, |width, x, y| if y >= u64::from(width) { 0 } else { x << y }),
        "bvlshr" => |_, a| bits2(a, |width, x, y| if y >= u64::from(width) { 0 } else { x >> y }),
        "bvashr" => |_, a| bits2(a, |width, x, y| (signed(width, x) >> y.min(63)) as u64),
        "bvcomp" => |_, a| match *a {
            [Value::Bits(width, x), Value::Bits(same, y)] if width == same => Some(Value::Bits(1, u64::from(x == y))),
            _ => None,
        },
        "bvnot" => |_, a| if let [Value::Bits(w, x)] = *a { Some(Value::Bits(w, !x & mask(w))) } else { None },
        "bvneg" => |_, a| {
            if let [Value::Bits(w, x)] = *a { Some(Value::Bits(w, x.wrapping_neg() & mask(w))) } else { None }
        },
        "bvult" => |_, a| compare(a, |_, x, y| x < y),
        "bvule" => |_, a| compare(a, |_, x, y| x <= y),
        "bvugt" => |_, a| compare(a, |_, x, y| x > y),
        "bvuge" => |_, a| compare(a, |_, x, y| x >= y),
        "bvslt" => |_, a| compare(a, |w, x, y| signed(w, x) < signed(w, y)),
        "bvsle" => |_, a| compare(a, |w, x, y| signed(w, x) <= signed(w, y)),
        "bvsgt" => |_, a| compare(a, |w, x, y| signed(w, x) > signed(w, y)),
        "bvsge" => |_, a| compare(a, |w, x, y| signed(w, x) >= signed(w, y)),
        "concat" => |_, a| {
            let mut all = (0, 0);
            for value in a {
                let Value::Bits(width, bits) = *value else { return None };
                all = (all.0 + width, all.1 << width | bits);
            }
            (1..=32).contains(&all.0).then_some(Value::Bits(all.0, all.1))
        },
        "extract" => |n, a| match (n, a) {
            (&[high, low], &[Value::Bits(width, bits)]) if low <= high && high < u64::from(width) => {
                let wide = (high - low + 1) as u32;
                Some(Value::Bits(wide, bits >> low & mask(wide)))
            }
            _ => None,
        },
        "zero_extend" => |n, a| extend(n, a, |_, bits| bits),
        "sign_extend" => |n, a| extend(n, a, |width, bits| signed(width, bits) as u64),
        "rotate_left" => |n, a| rotate(n, a, true),
        "rotate_right" => |n, a| rotate(n, a, false),
        "fp" => |_, a| match *a {
            [Value::Bits(1, sign), Value::Bits(exponent, field), Value::Bits(width, fraction)]
                if exponent <= 5 && width <= 10 =>
            {
                Some(float(exponent, width + 1, sign << (exponent + width) | field << width | fraction))
            }
            _ => None,
        },
        #[expect(clippy::float_cmp, reason = "it is equality that is meant")]
        "fp.eq" => |_, a| floats(a, |x, y| x == y),
        "fp.lt" => |_, a| floats(a, |x, y| x < y),
        "fp.leq" => |_, a| floats(a, |x, y| x <= y),
        "fp.gt" => |_, a| floats(a, |x, y| x > y),
        "fp.geq" => |_, a| floats(a, |x, y| x >= y),
        "fp.add" => |_, a| arithmetic(a, |x, y| x + y, false, false),
        "fp.sub" => |_, a| arithmetic(a, |x, y| x - y, false, true),
        "fp.mul" => |_, a| arithmetic(a, |x, y| x * y, true, false),
        "fp.neg" => |_, a| match *a {
            [Value::Float(e, s, bits)] => Some(float(e, s, bits ^ 1 << (e + s - 1))),
            _ => None,
        },
        "fp.abs" => |_, a| match *a {
            [Value::Float(e, s, bits)] => Some(float(e, s, bits & !(1 << (e + s - 1)))),
            _ => None,
        },
        "fp.isNaN" => |_, a| test(a, |x, _, _| x.is_nan()),
        "fp.isInfinite" => |_, a| test(a, |x, _, _| x.is_infinite()),
        "fp.isZero" => |_, a| test(a, |x, _, _| x == 0.0),
        "fp.isNormal" => |_, a| test(a, |x, field, _| x.is_finite() && field != 0),
        "fp.isSubnormal" => |_, a| test(a, |x, field, _| x != 0.0 && field == 0),
        "fp.isNegative" => |_, a| test(a, |x, _, negative| !x.is_nan() && negative),
        "fp.isPositive" => |_, a| test(a, |x, _, negative| !x.is_nan() && !negative),
        _ => return None,
    })
}

fn extend(numbers: &[u64], arguments: &[Value], operation: fn(u32, u64) -> u64) -> Option<Value> {
    let (&[more], &[Value::Bits(width, bits)]) = (numbers, arguments) else { return None };
    let wide = width.checked_add(u32::try_from(more).ok()?).filter(|wide| *wide <= 32)?;
    Some(Value::Bits(wide, operation(width, bits) & mask(wide)))
}

fn rotate(numbers: &[u64], arguments: &[Value], left: bool) -> Option<Value> {
    let (&[by], &[Value::Bits(width, bits)]) = (numbers, arguments) else { return None };
    let by = by % u64::from(width);
    let by = if left { by } else { (u64::from(width) - by) % u64::from(width) };
    Some(Value::Bits(width, (bits << by | bits >> (u64::from(width) - by)) & mask(width)))
}

/// A rounding mode by one of its two names.
pub(crate) fn rounding(name: &str) -> Option<Rounding> {
    Some(match name {
        "RNE" | "roundNearestTiesToEven" => Rounding::NearestEven,
        "RNA" | "roundNearestTiesToAway" => Rounding::NearestAway,
        "RTP" | "roundTowardPositive" => Rounding::Up,
        "RTN" | "roundTowardNegative" => Rounding::Down,
        "RTZ" | "roundTowardZero" => Rounding::Zero,
        _ => return None,
    })
}

/// A special float: `(_ +oo e s)` and the like.
pub(crate) fn special(name: &str, exponent: u32, significand: u32) -> Option<Value> {
    let sign = 1 << (exponent + significand - 1);
    let bits = match name {
        "+zero" => 0,
        "-zero" => sign,
        "+oo" => infinity(exponent, significand),
        "-oo" => infinity(exponent, significand) | sign,
        "NaN" => nan(exponent, significand),
        _ => return None,
    };
    Some(Value::Float(exponent, significand, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_floats_of_a_sort_are_different() {
        let sort = Sort::Float(3, 4);
        let all: Vec<Value> = (0..sort.size()).map(|n| sort.value(n)).collect();
        for (n, value) in all.iter().enumerate() {
            assert!(!all[n + 1..].contains(value), "{value:?}");
        }
        // 2^7 patterns, of which 2 * 7 are NaN.
        assert_eq!(all.len(), 128 - 14 + 1);
    }

    #[test]
    fn half_precision_agrees_with_single_precision_where_both_are_exact() {
        // 5 and 11 bits are half precision; single precision is rounded to it by hand-known values.
        let add = operation("fp.add").unwrap();
        let half = |bits| Value::Float(5, 11, bits);
        let near = Value::Rounding(Rounding::NearestEven);
        // 1 + 1 = 2, 1 + 2^-11 = 1 (a tie goes to even), towards plus infinity it is the next number.
        assert_eq!(add(&[], &[near, half(0x3c00), half(0x3c00)]), Some(half(0x4000)));
        assert_eq!(add(&[], &[near, half(0x3c00), half(0x1000)]), Some(half(0x3c00)));
        assert_eq!(add(&[], &[Value::Rounding(Rounding::Up), half(0x3c00), half(0x1000)]), Some(half(0x3c01)));
        // The largest number twice is infinity, or stays the largest towards zero.
        assert_eq!(add(&[], &[near, half(0x7bff), half(0x7bff)]), Some(half(0x7c00)));
        assert_eq!(add(&[], &[Value::Rounding(Rounding::Zero), half(0x7bff), half(0x7bff)]), Some(half(0x7bff)));
        // Infinity minus infinity is NaN; a sum that is zero is negative only downwards.
        assert_eq!(add(&[], &[near, half(0x7c00), half(0xfc00)]), Some(half(0x7c01)));
        assert_eq!(add(&[], &[near, half(0x3c00), half(0xbc00)]), Some(half(0)));
        assert_eq!(add(&[], &[Value::Rounding(Rounding::Down), half(0x3c00), half(0xbc00)]), Some(half(0x8000)));
        let multiply = operation("fp.mul").unwrap();
        // Half of the smallest number is a tie, which goes to zero.
        assert_eq!(multiply(&[], &[near, half(0x0001), half(0x3800)]), Some(half(0)));
        assert_eq!(multiply(&[], &[near, half(0x0003), half(0x3800)]), Some(half(2)));
    }

    #[test]
    fn bit_vectors_by_hand() {
        let run = |name: &str, numbers: &[u64], arguments: &[Value]| operation(name).unwrap()(numbers, arguments);
        let b = |bits| Value::Bits(4, bits);
        assert_eq!(run("bvadd", &[], &[b(9), b(9), b(1)]), Some(b(3)));
        assert_eq!(run("bvslt", &[], &[b(8), b(7)]), Some(Value::Bool(true)));
        assert_eq!(run("bvudiv", &[], &[b(8), b(0)]), Some(b(15)));
        assert_eq!(run("bvashr", &[], &[b(8), b(9)]), Some(b(15)));
        assert_eq!(run("extract", &[2, 1], &[b(4)]), Some(Value::Bits(2, 2)));
        assert_eq!(run("rotate_left", &[5], &[b(9)]), Some(b(3)));
        assert_eq!(run("rotate_right", &[0], &[b(9)]), Some(b(9)));
        assert_eq!(run("sign_extend", &[2], &[b(8)]), Some(Value::Bits(6, 0b11_1000)));
        assert_eq!(run("bvadd", &[], &[b(1), Value::Bits(3, 1)]), None);
    }
}
