//! Irrational numbers as solvers print them.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::{Poly, Real};
use crate::{NoValue, Work};

/// The highest power that is read: enough for any number that can be worked with.
const MAX_POWER: usize = 256;

/// What a text is cut into.
#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Open,
    Close,
    Word(&'a str),
}

/// The tokens of S-expressions without quoted parts.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' => {
                tokens.push(Token::Open);
                1
            }
            ')' => {
                tokens.push(Token::Close);
                1
            }
            _ => {
                let length = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len());
                tokens.push(Token::Word(&rest[..length]));
                length
            }
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// An application that is being read: its operator, and its arguments so far.
struct Open<'a> {
    operator: &'a str,
    arguments: Vec<Poly>,
}

impl Open<'_> {
    fn close(self) -> Option<Poly> {
        let Self { operator, arguments } = self;
        let minus = IBig::NEG_ONE;
        match (operator, arguments.as_slice()) {
            ("+", [_, ..]) => Some(arguments.iter().fold(Poly::new(Vec::new()), |a, b| a.add(b))),
            ("-", [only]) => Some(only.scale(&minus)),
            ("-", [first, rest @ ..]) => Some(rest.iter().fold(first.clone(), |a, b| a.add(&b.scale(&minus)))),
            ("*", [_, ..]) => {
                let mut product = Poly::new(vec![IBig::ONE]);
                for factor in &arguments {
                    if product.degree() + factor.degree() > MAX_POWER {
                        return None;
                    }
                    product = product.mul(factor);
                }
                Some(product)
            }
            ("^", [base, exponent]) if exponent.degree() == 0 => {
                let exponent = exponent.coefficients().first().map_or(Some(0), |e| usize::try_from(e).ok())?;
                if exponent > MAX_POWER || base.degree() * exponent > MAX_POWER {
                    return None;
                }
                Some((0..exponent).fold(Poly::new(vec![IBig::ONE]), |power, _| power.mul(base)))
            }
            _ => None,
        }
    }
}

/// The polynomial that an expression of `+ - * ^`, integers and one variable denotes, and how many tokens it has.
fn polynomial(tokens: &[Token<'_>]) -> Option<(Poly, usize)> {
    let mut stack: Vec<Open<'_>> = Vec::new();
    let mut variable = None;
    let mut position = 0;
    loop {
        let token = tokens.get(position)?;
        position += 1;
        let read = match token {
            Token::Open => {
                let Token::Word(operator) = tokens.get(position)? else { return None };
                position += 1;
                stack.push(Open { operator, arguments: Vec::new() });
                continue;
            }
            Token::Close => stack.pop()?.close()?,
            Token::Word(word) if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                // Decimals stand for integers here, as in `2.0`.
                let digits = word.strip_suffix(".0").unwrap_or(word);
                Poly::new(vec![digits.parse().ok()?])
            }
            Token::Word(word) => {
                if *variable.get_or_insert(*word) != *word {
                    return None;
                }
                Poly::new(vec![IBig::ZERO, IBig::ONE])
            }
        };
        match stack.last_mut() {
            Some(open) => open.arguments.push(read),
            None => return Some((read, position)),
        }
    }
}

/// A fraction as cvc5 prints it: `-3/4`, `2`.
fn fraction(text: &str) -> Option<RBig> {
    let (numerator, denominator) = text.trim().split_once('/').unwrap_or((text.trim(), "1"));
    let denominator: UBig = denominator.parse().ok()?;
    if denominator.is_zero() { None } else { Some(RBig::from_parts(numerator.parse().ok()?, denominator)) }
}

impl Real {
    /// z3's `(root-obj POLYNOMIAL NUMBER)`. `None` if the text is none.
    ///
    /// # Errors
    ///
    /// As [`Real::root`] has them.
    pub fn read_root_obj(text: &str, work: &mut Work) -> Option<Result<Self, NoValue>> {
        let tokens = tokens(text);
        let [Token::Open, Token::Word("root-obj"), rest @ ..] = tokens.as_slice() else { return None };
        let (poly, length) = polynomial(rest)?;
        let [Token::Word(number), Token::Close] = rest.get(length..)? else { return None };
        Some(Self::root(poly.coefficients().to_vec(), number.parse().ok()?, work))
    }

    /// cvc5's `(_ real_algebraic_number <1*x^2 + (-2), (741455/524288, 2965821/2097152)>)`, whole or only what stands
    /// between the angle brackets. `None` if the text is neither.
    ///
    /// # Errors
    ///
    /// As [`Real::root_between`] has them.
    pub fn read_algebraic_number(text: &str, work: &mut Work) -> Option<Result<Self, NoValue>> {
        let text = text.trim();
        let inner = match text.strip_prefix('(') {
            Some(rest) if rest.trim_start().starts_with('_') => {
                let rest = rest.trim_start().strip_prefix('_')?.trim_start().strip_prefix("real_algebraic_number")?;
                rest.trim().strip_suffix(')')?.trim()
            }
            _ => text,
        };
        let inner = match inner.strip_prefix('<') {
            Some(rest) => rest.strip_suffix('>')?,
            None => inner,
        };
        let (sum, interval) = inner.split_once(',')?;
        let (low, high) = interval.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
        let mut coefficients = Vec::new();
        // The sign of a term stands with its coefficient, in parentheses.
        for term in sum.split(" + ") {
            let (coefficient, power) = match term.split_once('*') {
                Some((coefficient, power)) => (coefficient, power.trim()),
                None if term.trim().starts_with('x') => ("1", term.trim()),
                None => (term, ""),
            };
            let coefficient = coefficient.trim();
            let bare = coefficient.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(coefficient);
            let coefficient: IBig = bare.trim().parse().ok()?;
            let power = match power {
                "" => 0,
                "x" => 1,
                _ => power.strip_prefix("x^")?.parse().ok().filter(|p| *p <= MAX_POWER)?,
            };
            if coefficients.len() <= power {
                coefficients.resize(power + 1, IBig::ZERO);
            }
            coefficients[power] += coefficient;
        }
        Some(Self::root_between(coefficients, &fraction(low)?, &fraction(high)?, work))
    }
}
