//! Strings and regular expressions against solvers.

mod common;

use agon_values::{Languages, Regex, Text, Work, integer};
use common::{Random, confirm};
use dashu_int::IBig;

fn text(random: &mut Random, most: u64) -> Text {
    let alphabet = if random.chance(4) { "01a\"\\" } else { "ab" };
    let alphabet: Vec<u32> = alphabet.chars().map(u32::from).chain(random.chance(9).then_some(0x2ffff)).collect();
    let length = random.below(most + 1);
    Text::new(&(0..length).map(|_| *random.pick(&alphabet)).collect::<Vec<_>>()).expect("all are code points")
}

fn term(number: &IBig) -> String {
    let mut text = String::new();
    integer::write(number, &mut text).expect("a text takes all");
    text
}

fn truth(term: String, holds: bool) -> String {
    if holds { term } else { format!("(not {term})") }
}

/// A random expression, as a term and as ours.
fn regex(random: &mut Random, depth: u32, l: &mut Languages, w: &mut Work) -> (String, Regex) {
    if depth == 0 || random.chance(6) {
        return match random.below(5) {
            0 => ("re.allchar".into(), Languages::ALL_CHAR),
            1 => ("re.all".into(), Languages::ALL),
            2 => ("(re.range \"a\" \"b\")".into(), {
                let (a, b) = (Text::new(&[0x61]).expect("it is one"), Text::new(&[0x62]).expect("it is one"));
                l.range(&a, &b)
            }),
            _ => {
                let literal = text(random, 2);
                (format!("(str.to_re {literal})"), l.literal(&literal))
            }
        };
    }
    let (s, a) = regex(random, depth - 1, l, w);
    let (t, b) = regex(random, depth - 1, l, w);
    let least = random.below(3);
    let most = least + random.below(3);
    match random.below(10) {
        0 | 1 => (format!("(re.++ {s} {t})"), l.concat(a, b, w).expect("it is small")),
        2 | 3 => (format!("(re.union {s} {t})"), l.union(&[a, b], w).expect("it is small")),
        4 => (format!("(re.inter {s} {t})"), l.inter(&[a, b], w).expect("it is small")),
        5 => (format!("(re.diff {s} {t})"), l.difference(a, b, w).expect("it is small")),
        6 => (format!("(re.comp {s})"), l.complement(a)),
        7 => (format!("(re.* {s})"), l.star(a)),
        8 => (format!("((_ re.loop {least} {most}) {s})"), l.repeat(a, least, most)),
        _ => (format!("((_ re.^ {least}) {s})"), l.power(a, least)),
    }
}

fn claims(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let r = &mut random;
    let mut claims = Vec::new();
    for _ in 0..count {
        let w = &mut Work::new(1 << 30);
        let (s, p, by) = (text(r, 8), text(r, 2), text(r, 2));
        let (i, n) = (IBig::from(r.below(12)) - IBig::from(2), IBig::from(r.below(8)) - IBig::from(2));
        let (it, nt) = (term(&i), term(&n));
        claims.push(format!("(= (str.++ {s} {p}) {})", Text::concat(&[&s, &p], w).expect("it is short")));
        claims.push(format!("(= (str.len {s}) {})", s.len()));
        claims.push(truth(format!("(str.< {s} {p})"), s < p));
        claims.push(truth(format!("(str.<= {s} {p})"), s <= p));
        claims.push(format!("(= (str.at {s} {it}) {})", s.at(&i)));
        claims.push(format!("(= (str.substr {s} {it} {nt}) {})", s.substr(&i, &n)));
        claims.push(truth(format!("(str.prefixof {p} {s})"), p.is_prefix_of(&s)));
        claims.push(truth(format!("(str.suffixof {p} {s})"), p.is_suffix_of(&s)));
        claims.push(truth(format!("(str.contains {s} {p})"), s.contains(&p, w).expect("it is short")));
        let index = s.index_of(&p, &i, w).expect("it is short");
        claims.push(format!("(= (str.indexof {s} {p} {it}) {})", term(&index)));
        claims.push(format!("(= (str.replace {s} {p} {by}) {})", s.replace(&p, &by, w).expect("it is short")));
        claims.push(format!("(= (str.replace_all {s} {p} {by}) {})", s.replace_all(&p, &by, w).expect("it is short")));
        claims.push(truth(format!("(str.is_digit {p})"), p.is_digit()));
        claims.push(format!("(= (str.to_code {p}) {})", term(&p.to_code())));
        let code = IBig::from(r.below(0x40000));
        claims.push(format!("(= (str.from_code {code}) {})", Text::from_code(&code)));
        claims.push(format!("(= (str.to_int {p}) {})", term(&p.to_int(w).expect("it is short"))));
        claims.push(format!("(= (str.from_int {it}) {})", Text::from_int(&i)));
        let mut l = Languages::new();
        let (expression, ours) = regex(r, 3, &mut l, w);
        let matches = l.matches(ours, &s, w).expect("it is small");
        claims.push(truth(format!("(str.in_re {s} {expression})"), matches));
    }
    claims
}

/// Claims of each operator: fewer for a quick look with `AGON_CASES`.
fn count() -> usize {
    std::env::var("AGON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn strings_as_z3_computes_them() {
    confirm("z3", "strings", &claims(1, count()));
}

#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn strings_as_cvc5_computes_them() {
    confirm("cvc5 --strings-exp", "strings", &claims(2, count()));
}

/// z3 does not compute these.
#[test]
#[ignore = "needs solvers: run .ci/solvers"]
fn replaced_matches_as_cvc5_computes_them() {
    let mut random = Random::new(3);
    let claims: Vec<String> = (0..count())
        .map(|_| {
            let (mut l, mut w) = (Languages::new(), Work::new(1 << 30));
            let (s, by) = (text(&mut random, 8), text(&mut random, 2));
            let (expression, ours) = regex(&mut random, 3, &mut l, &mut w);
            let one = l.replace(&s, ours, &by, &mut w).expect("it is small");
            let all = l.replace_all(&s, ours, &by, &mut w).expect("it is small");
            format!(
                "(and (= (str.replace_re {s} {expression} {by}) {one}) (= (str.replace_re_all {s} {expression} {by}) {all}))"
            )
        })
        .collect();
    confirm("cvc5 --strings-exp", "replaced matches", &claims);
}
