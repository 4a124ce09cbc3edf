//! Units: decimal numbers with an optional unit, as people write them in an edition and in result files.

use std::fmt;

use crate::Exact;

/// A dimension: powers of time and of memory. The base units are the nanosecond and the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Dim {
    /// The power of time.
    pub time: i8,
    /// The power of memory.
    pub memory: i8,
}

impl Dim {
    /// A pure number.
    pub const NONE: Self = Self { time: 0, memory: 0 };
    /// A time.
    pub const TIME: Self = Self { time: 1, memory: 0 };
    /// An amount of memory.
    pub const MEMORY: Self = Self { time: 0, memory: 1 };

    /// The dimension of a product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self { time: self.time.saturating_add(other.time), memory: self.memory.saturating_add(other.memory) }
    }

    /// The dimension of a quotient.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self { time: self.time.saturating_sub(other.time), memory: self.memory.saturating_sub(other.memory) }
    }

    /// How many base units one printed unit (second, byte) has.
    pub fn printed_unit(self) -> Exact {
        Exact::int(1_000_000_000).pow(self.time.into()).unwrap_or(Exact::ONE)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (power, unit) in [(self.time, "s"), (self.memory, "bytes")] {
            match power {
                0 => {}
                1 => parts.push(unit.to_string()),
                n => parts.push(format!("{unit}^{n}")),
            }
        }
        if parts.is_empty() { f.write_str("1") } else { f.write_str(&parts.join("·")) }
    }
}

/// Why a text is not a quantity. The message is a fragment that reads well after the quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError(pub String);

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

/// The units that a quantity may carry, with their size in base units. Decimal prefixes are powers of ten; the binary
/// ones are spelt as such.
const UNITS: &[(&str, Dim, i128)] = &[
    ("ns", Dim::TIME, 1),
    ("us", Dim::TIME, 1_000),
    ("ms", Dim::TIME, 1_000_000),
    ("s", Dim::TIME, 1_000_000_000),
    ("min", Dim::TIME, 60_000_000_000),
    ("h", Dim::TIME, 3_600_000_000_000),
    ("d", Dim::TIME, 86_400_000_000_000),
    ("B", Dim::MEMORY, 1),
    ("kB", Dim::MEMORY, 1_000),
    ("MB", Dim::MEMORY, 1_000_000),
    ("GB", Dim::MEMORY, 1_000_000_000),
    ("TB", Dim::MEMORY, 1_000_000_000_000),
    ("KiB", Dim::MEMORY, 1 << 10),
    ("MiB", Dim::MEMORY, 1 << 20),
    ("GiB", Dim::MEMORY, 1 << 30),
    ("TiB", Dim::MEMORY, 1 << 40),
];

/// The size and dimension of a unit, by name.
pub(crate) fn unit(name: &str) -> Option<(Dim, i128)> {
    UNITS.iter().find(|(n, ..)| *n == name).map(|(_, dim, size)| (*dim, *size))
}

/// An exact decimal number: `12`, `-0.5`, `1e3`, `3.25E-2`. No infinities, no NaN, no digit separators.
///
/// # Errors
/// Says what is wrong with the text, as a fragment.
pub fn parse_decimal(text: &str) -> Result<Exact, QuantityError> {
    let bad = || QuantityError("is not a decimal number".into());
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let exponent: i32 = text[at + 1..].parse().map_err(|_| bad())?;
            (&text[..at], exponent)
        }
        None => (text, 0),
    };
    if !(-400..=400).contains(&exponent) || mantissa.len() > 400 {
        return Err(QuantityError("is out of range".into()));
    }
    let (negative, digits) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, &mantissa[1..]),
        Some(b'+') => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    if digits.is_empty() || part.is_empty() || !whole.bytes().chain(part.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let ten = Exact::int(10);
    let mut value = Exact::ZERO;
    for chunk in [whole, part] {
        for digit in chunk.bytes() {
            value = value.mul(&ten).add(&Exact::int((digit - b'0').into()));
        }
    }
    let scale = exponent - part.len() as i32;
    let value = value.mul(&ten.pow(scale).unwrap_or(Exact::ONE));
    Ok(if negative { value.neg() } else { value })
}

/// An exact number: a decimal one, or a quotient of two such as `7/3`.
///
/// # Errors
/// Says what is wrong with the text, as a fragment.
pub fn parse_exact(text: &str) -> Result<Exact, QuantityError> {
    let Some((above, below)) = text.split_once('/') else { return parse_decimal(text) };
    let quotient = parse_decimal(above)?.div(&parse_decimal(below)?);
    quotient.ok_or_else(|| QuantityError("divides by 0".into()))
}

/// A number with an optional unit (`20 min`, `1500s`, `60 GB`, `0.5`), in base units, with its dimension.
///
/// # Errors
/// Says what is wrong with the text, as a fragment that names the units that exist.
pub fn parse_quantity(text: &str) -> Result<(Exact, Dim), QuantityError> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[at + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let after_exponent = matches!(c, '-' | '+') && (at == 0 || text[..at].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || c == '.' || exponent || after_exponent)
        })
        .map_or(text.len(), |(at, _)| at);
    let number = parse_decimal(&text[..end])?;
    let name = text[end..].trim_start();
    if name.is_empty() {
        return Ok((number, Dim::NONE));
    }
    match unit(name) {
        Some((dim, size)) => Ok((number.mul(&Exact::int(size)), dim)),
        None => {
            let names: Vec<&str> = UNITS.iter().map(|(n, ..)| *n).collect();
            Err(QuantityError(format!("has the unknown unit `{name}` (known: {})", names.join(", "))))
        }
    }
}

/// Parses a plain decimal byte string into an integer number of `10^-scale` units, rounding a finer value to the
/// nearest (a half to even); `None` if it is not a plain finite decimal or does not fit. Made for result files: with
/// `scale` 9, seconds become nanoseconds.
pub fn parse_scaled(text: &[u8], scale: u32) -> Option<i64> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    let mut places: Option<u32> = None;
    let mut seen = false;
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                seen = true;
                if let Some(p) = &mut places {
                    if *p == scale {
                        return slow_scaled(text, scale);
                    }
                    *p += 1;
                }
                value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
            }
            b'.' if places.is_none() && at + 1 < digits.len() => places = Some(0),
            _ => return slow_scaled(text, scale),
        }
    }
    if !seen {
        return None;
    }
    let missing = scale - places.unwrap_or(0);
    let value = value.checked_mul(10i64.checked_pow(missing)?)?;
    Some(if negative { -value } else { value })
}

/// The rare forms: more digits than the scale keeps, or an exponent.
#[cold]
fn slow_scaled(text: &[u8], scale: u32) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let value = parse_decimal(text).ok()?;
    value.mul(&Exact::int(10).pow(scale as i32)?).round().as_i64()
}

/// Seconds with three decimals from nanoseconds, a half rounded to even.
pub fn format_seconds(nanoseconds: i128) -> String {
    Exact::ratio(nanoseconds, 1_000_000_000).unwrap_or(Exact::ZERO).to_decimal(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients() {
        assert_eq!(parse_exact("7/2").unwrap(), parse_decimal("3.5").unwrap());
        assert_eq!(parse_exact("-1/4").unwrap(), parse_decimal("-0.25").unwrap());
        assert_eq!(parse_exact("12").unwrap(), Exact::int(12));
        for text in ["1/0", "1/", "/2", "1/2/3", "a/b", ""] {
            assert!(parse_exact(text).is_err(), "{text}");
        }
    }
    use proptest::prelude::*;

    #[test]
    fn quantities() {
        let ns = |n| Ok((Exact::int(n), Dim::TIME));
        assert_eq!(parse_quantity("20 min"), ns(1_200_000_000_000));
        assert_eq!(parse_quantity("1500s"), ns(1_500_000_000_000));
        assert_eq!(parse_quantity("0.5 ms"), ns(500_000));
        assert_eq!(parse_quantity("1e3 s"), ns(1_000_000_000_000));
        assert_eq!(parse_quantity("60 GB"), Ok((Exact::int(60_000_000_000), Dim::MEMORY)));
        assert_eq!(parse_quantity("-2.5"), Ok((Exact::ratio(-5, 2).unwrap(), Dim::NONE)));
        for bad in ["", "min", "20 mins", "1 2 s", "1..2", "--1", "nan", "inf", "1_000", "1e", "1e999"] {
            assert!(parse_quantity(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn scaled_decimals() {
        for (text, value) in [
            ("0.0114919", Some(11_491_900)),
            ("1200.0", Some(1_200_000_000_000)),
            ("7", Some(7_000_000_000)),
            ("-0.25", Some(-250_000_000)),
            ("1e-3", Some(1_000_000)),
            ("0.1234567895", Some(123_456_790)),
            ("0.1234567885", Some(123_456_788)),
            (".5", Some(500_000_000)),
            ("", None),
            (".", None),
            ("5.", None),
            ("nan", None),
            ("inf", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_scaled(text.as_bytes(), 9), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn scaled_agrees_with_exact(whole in 0i64..1_000_000_000, part in 0u32..1_000_000_000, places in 0usize..14, negative: bool) {
            let digits = format!("{part:09}00000");
            let text = format!("{}{whole}.{}", if negative { "-" } else { "" }, &digits[..places.max(1)]);
            let exact = parse_decimal(&text).unwrap().mul(&Exact::int(1_000_000_000)).round();
            prop_assert_eq!(parse_scaled(text.as_bytes(), 9), exact.as_i64());
        }

        #[test]
        fn never_panics(text in ".{0,20}") {
            let _ = parse_quantity(&text);
            let _ = parse_decimal(&text);
            let _ = parse_scaled(text.as_bytes(), 9);
        }
    }
}
