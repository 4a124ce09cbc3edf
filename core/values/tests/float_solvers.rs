//! Floating point against solvers, on odd formats and on those of IEEE 754.

mod common;

use agon_values::{Bits, Float, Format, NoValue, Rounding, Work};
use common::{Random, confirm};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

const NAMES: [&str; 34] = [
    "fp.abs",
    "fp.neg",
    "fp.add",
    "fp.sub",
    "fp.mul",
    "fp.div",
    "fp.fma",
    "fp.sqrt",
    "fp.rem",
    "fp.roundToIntegral",
    "fp.min",
    "fp.max",
    "fp.leq",
    "fp.lt",
    "fp.geq",
    "fp.gt",
    "fp.eq",
    "=",
    "fp.isNormal",
    "fp.isSubnormal",
    "fp.isZero",
    "fp.isInfinite",
    "fp.isNaN",
    "fp.isNegative",
    "fp.isPositive",
    "to_fp bits",
    "to_fp float",
    "to_fp real",
    "to_fp signed",
    "to_fp_unsigned",
    "fp.to_ubv",
    "fp.to_sbv",
    "fp.to_real",
    "fp",
];

fn rational(number: &RBig) -> String {
    let magnitude = IBig::from(number.numerator().clone().into_parts().1);
    let quotient = format!("(/ {magnitude}.0 {}.0)", number.denominator());
    if *number < RBig::ZERO { format!("(- {quotient})") } else { quotient }
}

fn truth(term: String, holds: bool) -> String {
    if holds { term } else { format!("(not {term})") }
}

/// A term that holds if the operator gives what we say for these operands; `None` if the value is left open.
fn claim(name: &str, mode: Rounding, a: &Float, b: &Float, c: &Float, random: &mut Random) -> Option<String> {
    let format = a.format();
    let (eb, sb) = (format.eb(), format.sb());
    let unary = |result: Float| Some(format!("(= ({name} {a}) {result})"));
    let binary = |result: Float| Some(format!("(= ({name} {a} {b}) {result})"));
    let rounded = |result: Float| Some(format!("(= ({name} {mode} {a} {b}) {result})"));
    let compared = |holds: bool| Some(truth(format!("({name} {a} {b})"), holds));
    let classified = |holds: bool| Some(truth(format!("({name} {a})"), holds));
    let open = |result: Result<Float, NoValue>| result.ok();
    match name {
        "fp.abs" => unary(a.abs()),
        "fp.neg" => unary(a.neg()),
        "fp.add" => rounded(a.add(mode, b)),
        "fp.sub" => rounded(a.sub(mode, b)),
        "fp.mul" => rounded(a.mul(mode, b)),
        "fp.div" => rounded(a.div(mode, b)),
        "fp.fma" => Some(format!("(= (fp.fma {mode} {a} {b} {c}) {})", a.fma(mode, b, c))),
        "fp.sqrt" => Some(format!("(= (fp.sqrt {mode} {a}) {})", a.sqrt(mode))),
        "fp.roundToIntegral" => Some(format!("(= ({name} {mode} {a}) {})", a.round_to_integral(mode))),
        "fp.rem" => binary(a.rem(b)),
        "fp.min" => binary(open(a.minimum(b))?),
        "fp.max" => binary(open(a.maximum(b))?),
        "fp.leq" => compared(a.leq(b)),
        "fp.lt" => compared(a.lt(b)),
        "fp.geq" => compared(a.geq(b)),
        "fp.gt" => compared(a.gt(b)),
        "fp.eq" => compared(a.ieee_eq(b)),
        "=" => compared(a == b),
        "fp.isNormal" => classified(a.is_normal()),
        "fp.isSubnormal" => classified(a.is_subnormal()),
        "fp.isZero" => classified(a.is_zero()),
        "fp.isInfinite" => classified(a.is_infinite()),
        "fp.isNaN" => classified(a.is_nan()),
        "fp.isNegative" => classified(a.is_negative()),
        "fp.isPositive" => classified(a.is_positive()),
        "to_fp bits" => {
            let bits = random.bits(format.width());
            Some(format!("(= ((_ to_fp {eb} {sb}) {bits}) {})", Float::from_bits(format, &bits)))
        }
        "fp" => {
            let (sign, exponent, fraction) = (random.bits(1), random.bits(eb), random.bits(sb - 1));
            let result = Float::from_fields(&sign, &exponent, &fraction)?;
            Some(format!("(= (fp {sign} {exponent} {fraction}) {result})"))
        }
        "to_fp float" => {
            let sources = [format, Format::HALF, Format::SINGLE, Format::DOUBLE, Format::QUADRUPLE];
            let source = *random.pick(&sources);
            let number = random.float(source);
            let result = Float::from_float(format, mode, &number);
            Some(format!("(= ((_ to_fp {eb} {sb}) {mode} {number}) {result})"))
        }
        "to_fp real" => {
            let width = 1 + random.below(120) as u32;
            let length = 1 + random.below(120) as u32;
            let denominator = random.bits(length).to_ubig().max(UBig::ONE);
            let number = RBig::from_parts(random.bits(width).to_signed(), denominator);
            let result = Float::from_rational(format, mode, &number);
            Some(format!("(= ((_ to_fp {eb} {sb}) {mode} {}) {result})", rational(&number)))
        }
        "to_fp signed" | "to_fp_unsigned" => {
            let width = 1 + random.below(140) as u32;
            let bits = random.bits(width);
            let (operator, result) = if name == "to_fp_unsigned" {
                (name, Float::from_unsigned(format, mode, &bits))
            } else {
                ("to_fp", Float::from_signed(format, mode, &bits))
            };
            Some(format!("(= ((_ {operator} {eb} {sb}) {mode} {bits}) {result})"))
        }
        "fp.to_ubv" | "fp.to_sbv" => {
            let width = 1 + random.below(24) as u32;
            let result = if name == "fp.to_ubv" { a.to_ubv(mode, width) } else { a.to_sbv(mode, width) };
            Some(format!("(= ((_ {name} {width}) {mode} {a}) {})", result.ok()?))
        }
        "fp.to_real" => {
            let number = a.to_real(&mut Work::new(1000)).ok()?;
            // Solvers read long numbers in quadratic time.
            let short = number.numerator().clone().into_parts().1 < UBig::ONE << 300
                && *number.denominator() < UBig::ONE << 300;
            short.then(|| format!("(= (fp.to_real {a}) {})", rational(&number)))
        }
        _ => panic!("no operator {name}"),
    }
}

/// Random claims of each operator, so many in all formats together.
fn random_claims(seed: u64, formats: &[Format], count: usize) -> Vec<(&'static str, Vec<String>)> {
    let mut random = Random::new(seed);
    let claims = NAMES.iter().map(|name| {
        let mut claims = Vec::with_capacity(count);
        while claims.len() < count {
            let format = formats[claims.len() % formats.len()];
            let [a, mut b, c] = [(); 3].map(|()| random.float(format));
            if random.chance(6) {
                // The same or a neighbour.
                b = Float::from_bits(format, &a.to_bits().add(&Bits::from_u64(format.width(), random.below(3))));
            }
            let mode = random.mode();
            claims.extend(claim(name, mode, &a, &b, &c, &mut random));
        }
        (*name, claims)
    });
    claims.collect()
}

fn confirm_all(solver: &str, claims: &[(&str, Vec<String>)]) {
    let faults: Vec<String> = claims
        .iter()
        .filter_map(|(name, claims)| {
            let wrong = common::refuted(solver, claims);
            let shown: Vec<&String> = wrong.iter().take(4).map(|i| &claims[*i]).collect();
            (!wrong.is_empty()).then(|| format!("{name}: {} of {}: {shown:#?}", wrong.len(), claims.len()))
        })
        .collect();
    assert!(faults.is_empty(), "{solver} differs:\n{}", faults.join("\n"));
}

fn format(eb: u32, sb: u32) -> Format {
    Format::new(eb, sb).expect("it is one")
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn all_numbers_of_the_format_2_3_as_z3_computes_them() {
    let small = format(2, 3);
    let numbers: Vec<Float> = (0..32).map(|bits| Float::from_bits(small, &Bits::from_u64(5, bits))).collect();
    let mut random = Random::new(1);
    for name in NAMES {
        if ["to_fp float", "to_fp real", "to_fp signed", "to_fp_unsigned", "fp.fma"].contains(&name) {
            continue;
        }
        let mut claims = Vec::new();
        for a in &numbers {
            for b in &numbers {
                for mode in Rounding::ALL {
                    claims.extend(claim(name, mode, a, b, a, &mut random));
                }
            }
        }
        claims.sort();
        claims.dedup();
        confirm("z3", name, &claims);
    }
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn random_numbers_of_odd_formats_as_z3_computes_them() {
    let formats = [format(2, 3), format(3, 5), format(5, 11), format(15, 113)];
    confirm_all("z3", &random_claims(2, &formats, count()));
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn random_numbers_of_usual_formats_as_bitwuzla_computes_them() {
    let formats = [Format::HALF, Format::SINGLE, Format::DOUBLE, Format::QUADRUPLE];
    let mut claims = random_claims(3, &formats, count() / 10);
    // It has no reals.
    claims.retain(|(name, _)| !["to_fp real", "fp.to_real"].contains(name));
    confirm_all("bitwuzla", &claims);
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn random_numbers_of_odd_formats_as_cvc5_computes_them() {
    let formats = [format(3, 5), format(4, 9), format(5, 11), format(8, 24)];
    confirm_all("cvc5 --fp-exp", &random_claims(4, &formats, count() / 10));
}

/// Cases of each operator: fewer for a quick look with `AGON_CASES`.
fn count() -> usize {
    std::env::var("AGON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000)
}
