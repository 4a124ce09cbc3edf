//! From the text of a cell to a value.

use agon_table::{Dim, Exact, parse_decimal, parse_scaled};

use crate::error::ErrorKind;
use crate::mapping::{ColumnRule, Kind};

/// A produced value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Bool(bool),
    Int(i64),
    Exact(Exact),
    Real(f64),
}

/// The truth values, as the files of the field write them.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// An exact number: a decimal, or a quotient of two whole numbers.
pub(crate) fn parse_exact(text: &str) -> Result<Exact, ErrorKind> {
    let bad = || not_a_number(text, "a decimal number");
    match text.split_once('/') {
        None => parse_decimal(text).map_err(|_| bad()),
        Some((num, den)) => {
            let whole = |t: &str| {
                if t.is_empty() || !t.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) {
                    return Err(bad());
                }
                parse_decimal(t).map_err(|_| bad())
            };
            whole(num)?.div(&whole(den)?).ok_or_else(bad)
        }
    }
}

/// Says why a text is not a finite number.
fn not_a_number(text: &str, expected: &'static str) -> ErrorKind {
    let bare = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if matches!(bare.as_str(), "nan" | "inf" | "infinity") {
        ErrorKind::NotFinite { text: text.into() }
    } else if parse_decimal(text).is_ok() {
        ErrorKind::OutOfRange { text: text.into() }
    } else {
        ErrorKind::BadValue { text: text.into(), expected }
    }
}

/// A decimal in units of `unit` base units, rounded to whole base units, a half to even.
pub(crate) fn parse_units(text: &[u8], unit: Unit) -> Option<i64> {
    match unit {
        Unit::Power(scale) => parse_power(text, scale),
        Unit::Other(size) => {
            // Whole numbers are what such files hold; a finer one goes the long way.
            if text.len() <= 18 && !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
                let n = text.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'));
                return n.checked_mul(size);
            }
            let text = std::str::from_utf8(text).ok()?;
            parse_decimal(text).ok()?.mul(&Exact::from(size)).round().as_i64()
        }
    }
}

const POWERS: [i64; 19] = {
    let mut powers = [1i64; 19];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// The same as [`parse_scaled`], with a way for the common form: digits, perhaps a point among them, and no more of
/// either than surely fit.
#[inline]
fn parse_power(text: &[u8], scale: u32) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return parse_scaled(text, scale);
    }
    let mut value = 0i64;
    let mut at = 0;
    while at < text.len() {
        let digit = text[at].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    if at == text.len() {
        return value.checked_mul(POWERS[scale as usize]);
    }
    let point = at;
    if text[at] != b'.' || point == 0 || point + 1 == text.len() {
        return parse_scaled(text, scale);
    }
    at += 1;
    while at < text.len() {
        let digit = text[at].wrapping_sub(b'0');
        if digit > 9 {
            return parse_scaled(text, scale);
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    let places = text.len() - point - 1;
    if places > scale as usize {
        return parse_scaled(text, scale);
    }
    value.checked_mul(POWERS[scale as usize - places])
}

/// The size of the unit of a file in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A power of ten.
    Power(u32),
    /// Anything else.
    Other(i64),
}

impl Unit {
    pub(crate) fn new(size: i64) -> Self {
        match POWERS.iter().position(|&p| p == size) {
            // Beyond ten to the twelfth the fast form has no advantage, and its limits are simpler to see this way.
            Some(scale) if scale <= 12 => Self::Power(scale as u32),
            _ => Self::Other(size),
        }
    }
}

/// A time in nanoseconds.
pub(crate) fn parse_time(text: &str, unit: Unit, negative: bool) -> Result<i64, ErrorKind> {
    match parse_units(text.as_bytes(), unit) {
        // A negative time that rounds to zero is negative all the same, but minus zero is zero.
        Some(n) if n < 0 || (n == 0 && text.starts_with('-') && text.bytes().any(|b| matches!(b, b'1'..=b'9'))) => {
            if negative {
                Ok(n)
            } else {
                Err(ErrorKind::NegativeTime { text: text.into() })
            }
        }
        Some(n) => Ok(n),
        None => Err(not_a_number(text, "a time: a decimal number")),
    }
}

/// A real number written in its printed unit, which is the `power`-th power of a thousand million base units: the
/// exponent is shifted in the text, so that the number is rounded only once.
fn parse_real(text: &str, power: i8) -> Result<f64, ErrorKind> {
    // This form admits nothing that is not a decimal.
    let bad = || not_a_number(text, "a decimal number");
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().map_err(|_| bad())?),
        None => (text, 0),
    };
    let digits = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(bad());
    }
    let shifted = exponent.checked_add(9 * i32::from(power)).ok_or_else(bad)?;
    let value: f64 = format!("{mantissa}e{shifted}").parse().map_err(|_| bad())?;
    if value.is_finite() { Ok(value) } else { Err(ErrorKind::OutOfRange { text: text.into() }) }
}

/// The value of a produced text.
fn decode(kind: &Kind, text: &str) -> Result<Cell, ErrorKind> {
    match kind {
        Kind::Text => Ok(Cell::Text(text.into())),
        Kind::Words(words) => {
            if words.iter().any(|w| w == text) {
                Ok(Cell::Text(text.into()))
            } else {
                Err(ErrorKind::UnknownWord { text: text.into(), known: words.clone() })
            }
        }
        Kind::Bool => parse_bool(text).map(Cell::Bool).ok_or_else(|| ErrorKind::UnknownWord {
            text: text.into(),
            known: ["true", "yes", "1", "false", "no", "0"].map(String::from).to_vec(),
        }),
        Kind::Number => parse_exact(text).map(exact_cell),
        Kind::Time { unit_ns, negative } => parse_time(text, Unit::new(*unit_ns), *negative).map(Cell::Int),
        Kind::Memory { unit_bytes } => match parse_units(text.as_bytes(), Unit::new(*unit_bytes)) {
            Some(n) if n >= 0 => Ok(Cell::Int(n)),
            Some(_) => Err(ErrorKind::BadValue { text: text.into(), expected: "an amount of memory" }),
            None => Err(not_a_number(text, "an amount of memory: a decimal number")),
        },
        Kind::Quantity { dim, real: false } => parse_exact(text).map(|n| exact_cell(n.mul(&dim.printed_unit()))),
        Kind::Quantity { dim, real: true } => parse_real(text, dim.time).map(Cell::Real),
    }
}

fn exact_cell(n: Exact) -> Cell {
    match n.as_i64() {
        Some(i) => Cell::Int(i),
        None => Cell::Exact(n),
    }
}

/// The value of a cell under a rule. Called once for each distinct text of a column, or for the rare texts that the
/// fast ways do not take.
pub(crate) fn evaluate(rule: &ColumnRule, text: &str) -> Result<Cell, ErrorKind> {
    if text.is_empty() {
        return match &rule.empty {
            Some(produced) => decode(&rule.kind, produced),
            None => Err(ErrorKind::EmptyCell),
        };
    }
    let part = match &rule.part {
        None => text,
        Some(pattern) => match pattern.captures(text).and_then(|c| c.get(usize::from(c.len() > 1))) {
            Some(found) => found.as_str(),
            None => {
                return match &rule.otherwise {
                    Some(produced) => decode(&rule.kind, produced),
                    None => Err(ErrorKind::NoPart { text: text.into(), pattern: pattern.as_str().into() }),
                };
            }
        },
    };
    let exceptions_only =
        matches!(rule.kind, Kind::Number | Kind::Time { .. } | Kind::Memory { .. } | Kind::Quantity { .. });
    let outcome = match &rule.words {
        None => decode(&rule.kind, part),
        Some(words) => match words.get(part) {
            Some(produced) => return decode(&rule.kind, produced),
            None if exceptions_only => decode(&rule.kind, part),
            None => Err(ErrorKind::UnknownWord { text: part.into(), known: words.keys().cloned().collect() }),
        },
    };
    match (outcome, &rule.otherwise) {
        // A negative time is a number: it is not excused by what is said about texts that are none.
        (Err(error), Some(produced)) if !matches!(error, ErrorKind::NegativeTime { .. }) => {
            decode(&rule.kind, produced).map_err(|_| error)
        }
        (outcome, _) => outcome,
    }
}

/// A dimension's number in its printed unit, exactly: a decimal if it is one, else a quotient.
pub(crate) fn print_exact(n: &Exact, dim: Dim) -> String {
    let n = n.div(&dim.printed_unit()).unwrap_or(Exact::ZERO);
    if n.as_i128().is_some() {
        return n.to_string();
    }
    let short = n.to_short_decimal(40);
    if parse_decimal(&short).is_ok_and(|back| back == n) { short } else { n.to_string() }
}

/// The shortest text of a real number in its printed unit that reads back as the same number.
pub(crate) fn print_real(value: f64, dim: Dim) -> String {
    if dim.time == 0 || !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}", exponent - 9 * i32::from(dim.time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fast_form_agrees(text in "-?[0-9]{0,12}(\\.[0-9]{0,12})?(e-?[0-9])?", scale in 0u32..=12) {
            prop_assert_eq!(parse_power(text.as_bytes(), scale), parse_scaled(text.as_bytes(), scale));
        }

        #[test]
        fn reals_come_back(value in proptest::num::f64::NORMAL | proptest::num::f64::ZERO, time in -2i8..=2) {
            let dim = Dim { time, memory: 0 };
            let text = print_real(value, dim);
            prop_assert_eq!(parse_real(&text, time).ok(), Some(value), "{}", text);
        }

        #[test]
        fn exact_numbers_come_back(num in any::<i64>(), den in 1i64.., time in -1i8..=2) {
            let n = Exact::ratio(num.into(), den.into()).unwrap();
            let dim = Dim { time, memory: 0 };
            let text = print_exact(&n, dim);
            prop_assert_eq!(parse_exact(&text).unwrap().mul(&dim.printed_unit()), n);
        }
    }

    #[test]
    fn times() {
        let s = Unit::new(1_000_000_000);
        assert_eq!(parse_time("1.5", s, false), Ok(1_500_000_000));
        assert_eq!(parse_time("-0.0", s, false), Ok(0));
        assert!(matches!(parse_time("-1", s, false), Err(ErrorKind::NegativeTime { .. })));
        assert!(matches!(parse_time("-1e-12", s, false), Err(ErrorKind::NegativeTime { .. })));
        assert!(matches!(parse_time("NaN", s, false), Err(ErrorKind::NotFinite { .. })));
        assert!(matches!(parse_time("-inf", s, true), Err(ErrorKind::NotFinite { .. })));
        assert!(matches!(parse_time("99999999999999", s, true), Err(ErrorKind::OutOfRange { .. })));
        assert_eq!(parse_time("1.5", Unit::new(60_000_000_000), false), Ok(90_000_000_000));
        assert_eq!(parse_units(b"3", Unit::new(1024)), Some(3072));
    }
}
