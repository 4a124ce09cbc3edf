//! Floating point against the processor and the C library: doubles and floats in the four rounding modes that they have.

mod common;

use std::io::Write as _;
use std::process::{Command, Stdio};

use agon_values::{Bits, Float, Format, NoValue, Rounding};
use common::Random;

/// In the order of the helper program.
const MODES: [Rounding; 4] = [Rounding::NearestEven, Rounding::Positive, Rounding::Negative, Rounding::Zero];

/// Random cases of each operator.
const CASES: usize = 100_000;

/// What the helper program gives for these records.
fn compute(records: &[[u64; 5]]) -> Vec<u64> {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let program = folder.path().join("hardware");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hardware.c");
    let compiled = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args(["-std=c99", "-O1", "-frounding-math", "-ffp-contract=off", "-fno-builtin", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-lm")
        .status()
        .expect("there is a C compiler, as for the rest of the workspace");
    assert!(compiled.success());
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the helper starts");
    let input: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("the helper ends");
    writer.join().expect("no panic").expect("the helper reads all");
    assert!(output.status.success());
    output.stdout.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn flags(bits: [bool; 5]) -> u64 {
    bits.iter().enumerate().map(|(i, bit)| u64::from(*bit) << i).sum()
}

/// A result: a number, compared as such so that all patterns of `NaN` are one, or a word.
#[derive(Debug, PartialEq)]
enum Outcome {
    Number(Float),
    Word(u64),
}

fn number(format: Format, pattern: u64) -> Float {
    Float::from_bits(format, &Bits::from_u64(format.width(), pattern))
}

/// What we compute; `None` if the standard leaves it open.
fn ours(operation: u64, format: Format, mode: Rounding, words: [u64; 3]) -> Option<Outcome> {
    let [a, b, c] = words.map(|w| number(format, w));
    let other = if format == Format::DOUBLE { Format::SINGLE } else { Format::DOUBLE };
    let integer = Bits::from_u64(64, words[0]);
    let open = |result: Result<Float, NoValue>| result.ok();
    Some(Outcome::Number(match operation {
        0 => a.add(mode, &b),
        1 => a.sub(mode, &b),
        2 => a.mul(mode, &b),
        3 => a.div(mode, &b),
        4 => a.fma(mode, &b, &c),
        5 => a.sqrt(mode),
        6 => a.rem(&b),
        7 => a.round_to_integral(mode),
        8 => open(a.minimum(&b))?,
        9 => open(a.maximum(&b))?,
        10 => return Some(Outcome::Word(flags([a.lt(&b), a.leq(&b), a.gt(&b), a.geq(&b), a.ieee_eq(&b)]))),
        11 => {
            let classes = [a.is_normal(), a.is_subnormal(), a.is_zero(), a.is_infinite(), a.is_nan()];
            return Some(Outcome::Word(flags(classes)));
        }
        12 => Float::from_float(other, mode, &a),
        13 => Float::from_signed(format, mode, &integer),
        14 => Float::from_unsigned(format, mode, &integer),
        15 => return Some(Outcome::Word(a.to_sbv(mode, 64).ok()?.to_u64()?)),
        16 => a.abs(),
        _ => a.neg(),
    }))
}

fn compare(format: Format, operation: u64) {
    let mut random = Random::new(operation);
    let offset = if format == Format::DOUBLE { 0 } else { 32 };
    let mut records = Vec::new();
    let mut expected = Vec::new();
    while records.len() < CASES {
        let mode = random.below(4) as usize;
        let mut words = [(); 3].map(|()| random.float(format).to_bits().to_u64().expect("it has at most 64 bits"));
        if random.chance(8) {
            words[1] = words[0] ^ random.below(4);
        }
        // One quiet `NaN`: of a signalling one, C's minimum is none.
        words = words.map(|w| number(format, w).to_bits().to_u64().expect("it has at most 64 bits"));
        if operation == 4 && random.chance(3) {
            // A summand that nearly cancels the product.
            let product = number(format, words[0]).mul(Rounding::Zero, &number(format, words[1])).neg();
            words[2] = product.to_bits().to_u64().expect("it has at most 64 bits");
        }
        if operation == 13 || operation == 14 {
            words[0] = random.bits(64).to_u64().expect("it has 64 bits");
        }
        if let Some(outcome) = ours(operation, format, MODES[mode], words) {
            records.push([operation + offset, mode as u64, words[0], words[1], words[2]]);
            expected.push(outcome);
        }
    }
    let target = match (operation, format) {
        (12, Format::DOUBLE) => Format::SINGLE,
        (12, _) => Format::DOUBLE,
        _ => format,
    };
    let results = compute(&records);
    assert_eq!(results.len(), records.len());
    for ((record, expected), result) in records.iter().zip(&expected).zip(&results) {
        let result = match expected {
            Outcome::Number(_) => Outcome::Number(number(target, *result)),
            Outcome::Word(_) => Outcome::Word(*result),
        };
        assert_eq!(*expected, result, "{format:?} {record:x?}");
    }
}

#[test]
fn doubles() {
    for operation in 0..18 {
        compare(Format::DOUBLE, operation);
    }
}

#[test]
fn floats() {
    for operation in 0..18 {
        compare(Format::SINGLE, operation);
    }
}
