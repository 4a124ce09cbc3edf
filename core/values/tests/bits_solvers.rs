//! Bit-vectors and integers against solvers, with division and remainder by zero and of negative numbers.

mod common;

use agon_values::{Bits, integer};
use common::{Random, confirm};
use dashu_int::IBig;

type Binary = (&'static str, fn(&Bits, &Bits) -> Bits);
type Relation = (&'static str, fn(&Bits, &Bits) -> bool);

const BINARY: [Binary; 19] = [
    ("bvadd", Bits::add),
    ("bvsub", Bits::sub),
    ("bvmul", Bits::mul),
    ("bvudiv", Bits::udiv),
    ("bvurem", Bits::urem),
    ("bvsdiv", Bits::sdiv),
    ("bvsrem", Bits::srem),
    ("bvsmod", Bits::smod),
    ("bvshl", Bits::shl),
    ("bvlshr", Bits::lshr),
    ("bvashr", Bits::ashr),
    ("bvand", Bits::and),
    ("bvor", Bits::or),
    ("bvxor", Bits::xor),
    ("bvnand", Bits::nand),
    ("bvnor", Bits::nor),
    ("bvxnor", Bits::xnor),
    ("bvcomp", Bits::comp),
    ("concat", |a, b| a.concat(b).expect("it fits")),
];

const RELATIONS: [Relation; 16] = [
    ("bvult", Bits::ult),
    ("bvule", Bits::ule),
    ("bvugt", Bits::ugt),
    ("bvuge", Bits::uge),
    ("bvslt", Bits::slt),
    ("bvsle", Bits::sle),
    ("bvsgt", Bits::sgt),
    ("bvsge", Bits::sge),
    ("=", |a, b| a == b),
    ("bvuaddo", Bits::uaddo),
    ("bvsaddo", Bits::saddo),
    ("bvumulo", Bits::umulo),
    ("bvsmulo", Bits::smulo),
    ("bvusubo", Bits::usubo),
    ("bvssubo", Bits::ssubo),
    ("bvsdivo", Bits::sdivo),
];

fn integer_term(number: &IBig) -> String {
    let mut text = String::new();
    integer::write(number, &mut text).expect("a text takes all");
    text
}

/// Claims about random bit-vectors, of every operator as often.
fn claims(seed: u64, count: usize, extensions: bool) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut claims = Vec::new();
    for _ in 0..count {
        let width = match random.below(4) {
            0 => 1 + random.below(8) as u32,
            1 => 60 + random.below(10) as u32,
            2 => 120 + random.below(20) as u32,
            _ => 1 + random.below(200) as u32,
        };
        let (a, mut b) = (random.bits(width), random.bits(width));
        if random.chance(4) {
            // An amount to shift by, or a small divisor.
            b = Bits::from_u64(width, random.below(2 * u64::from(width)));
        }
        for (name, function) in BINARY {
            claims.push(format!("(= ({name} {a} {b}) {})", function(&a, &b)));
        }
        for (name, relation) in RELATIONS {
            let term = format!("({name} {a} {b})");
            claims.push(if relation(&a, &b) { term } else { format!("(not {term})") });
        }
        let overflow = format!("(bvnego {a})");
        claims.push(if a.nego() { overflow } else { format!("(not {overflow})") });
        claims.push(format!("(= (bvnot {a}) {})", a.not()));
        claims.push(format!("(= (bvneg {a}) {})", a.neg()));
        let count = random.below(300) as u32;
        claims.push(format!("(= ((_ rotate_left {count}) {a}) {})", a.rotate_left(count)));
        claims.push(format!("(= ((_ rotate_right {count}) {a}) {})", a.rotate_right(count)));
        claims.push(format!("(= ((_ zero_extend {count}) {a}) {})", a.zero_extend(count).expect("it fits")));
        claims.push(format!("(= ((_ sign_extend {count}) {a}) {})", a.sign_extend(count).expect("it fits")));
        let times = 1 + count % 5;
        claims.push(format!("(= ((_ repeat {times}) {a}) {})", a.repeat(times).expect("it fits")));
        let low = random.below(width.into()) as u32;
        let high = low + random.below((width - low).into()) as u32;
        claims.push(format!("(= ((_ extract {high} {low}) {a}) {})", a.extract(high, low)));
        if extensions {
            claims.push(format!("(= (bvredor {a}) {})", a.redor()));
            claims.push(format!("(= (bvredand {a}) {})", a.redand()));
            claims.push(format!("(= (ubv_to_int {a}) {})", integer_term(&a.to_unsigned())));
            claims.push(format!("(= (sbv_to_int {a}) {})", integer_term(&a.to_signed())));
            let number = random.bits(1 + width).to_signed();
            let bits = Bits::from_int(width, &number);
            claims.push(format!("(= ((_ int_to_bv {width}) {}) {bits})", integer_term(&number)));
        }
    }
    claims
}

/// Cases of each operator: fewer for a quick look with `AGON_CASES`.
fn count() -> usize {
    std::env::var("AGON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn bit_vectors_as_z3_computes_them() {
    confirm("z3", "bit-vectors", &claims(1, count(), true));
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn bit_vectors_as_cvc5_computes_them() {
    confirm("cvc5", "bit-vectors", &claims(2, count() / 10, true));
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn bit_vectors_as_bitwuzla_computes_them() {
    confirm("bitwuzla", "bit-vectors", &claims(3, count() / 10, false));
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn rotations_by_a_bit_vector_as_z3_computes_them() {
    let mut random = Random::new(4);
    let claims: Vec<String> = (0..count())
        .map(|_| {
            let width = 1 + random.below(100) as u32;
            let (a, b) = (random.bits(width), random.bits(width));
            let (left, right) = (a.rotate_left_by(&b), a.rotate_right_by(&b));
            format!("(and (= (ext_rotate_left {a} {b}) {left}) (= (ext_rotate_right {a} {b}) {right}))")
        })
        .collect();
    confirm("z3", "rotations", &claims);
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn integers_as_solvers_compute_them() {
    let mut random = Random::new(5);
    let mut claims = Vec::new();
    let mut multiples = Vec::new();
    for _ in 0..count() {
        let (p, q) = (1 + random.below(130) as u32, 1 + random.below(90) as u32);
        let (a, b) = (random.bits(p).to_signed(), random.bits(q).to_signed());
        let (x, y) = (integer_term(&a), integer_term(&b));
        if let (Ok(quotient), Ok(rest)) = (integer::div(&a, &b), integer::modulo(&a, &b)) {
            claims.push(format!("(= (div {x} {y}) {})", integer_term(&quotient)));
            claims.push(format!("(= (mod {x} {y}) {})", integer_term(&rest)));
        }
        claims.push(format!("(= (abs {x}) {})", integer_term(&integer::abs(&a))));
        let divisor = 1 + random.below(40);
        let term = format!("((_ divisible {divisor}) {x})");
        multiples.push(if integer::divisible(&a, &divisor.into()) { term } else { format!("(not {term})") });
    }
    confirm("z3", "integers", &claims);
    // z3 does not know `divisible`.
    claims.extend(multiples);
    confirm("cvc5", "integers", &claims);
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn a_false_claim_is_found() {
    let claims = ["true", "(= #b01 #b01)", "(= (bvadd #b01 #b01) #b11)", "(bvult #b0 #b1)", "(str.< \"\" \"\")"];
    let claims = claims.map(String::from).to_vec();
    assert_eq!(common::refuted("z3", &claims), [2, 4]);
    assert_eq!(common::refuted("cvc5", &claims), [2, 4]);
}
