//! Formulas: what is accepted, what is refused and where, and models against an exhaustive oracle.

use agon_sat::dimacs::{Formula, MAX_VARIABLE};
use agon_sat::input::{At, Bytes, InputError, Malformed};
use agon_sat::model::{Allowed, Check, check_formula};
use proptest::prelude::*;

const PLAIN: Allowed = Allowed { partial: true, repeated: false, foreign: false };

fn refused(text: &str) -> Malformed {
    match Formula::parse(text.as_bytes()) {
        Err(InputError::Malformed(m)) => m,
        other => panic!("{text:?} gives {other:?}"),
    }
}

fn parsed(text: &str) -> Formula {
    Formula::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

#[test]
fn what_is_accepted() {
    let two = Formula::new(2, vec![vec![1, -2], vec![2]]);
    for text in [
        "p cnf 2 2\n1 -2 0\n2 0\n",
        "c x\nc\n\np cnf 2 2\n1 -2 0 2 0",
        "p cnf 2 2\r\n1 -2 0\r\n2 0\r\n",
        " \t\np \t cnf  2\t2 \t\n\t1\n-2\n0\n\n2\n0\n",
        "p cnf 2 2\n1 c?\n".replace("c?", "\nc in a clause\n-2 0\n c indented\n2 0").as_str(),
        "p cnf 2 2\n1 -2 0\n2 0\n%\n0\n",
        "p cnf 2 2\n1 -2 0\n2 0\n%anything ( at all",
        "p cnf 2 2\n01 -2 0\n2 00\n",
    ] {
        assert_eq!(parsed(text), two, "{text:?}");
    }
    assert_eq!(parsed("p cnf 0 0"), Formula::new(0, vec![]));
    assert_eq!(parsed("p cnf 0 1\n0"), Formula::new(0, vec![vec![]]));
    assert_eq!(parsed("p cnf 1 1\n1 1 -1 0\n"), Formula::new(1, vec![vec![1, 1, -1]]));
}

#[test]
fn what_is_refused_and_where() {
    for (text, line, column, what) in [
        ("", 1, 1, "the end of the file"),
        ("c only\n", 2, 1, "the end of the file"),
        ("x", 1, 1, "`x`"),
        ("p\n", 1, 2, "a space after `p`"),
        ("pcnf 1 1\n", 1, 2, "a space after `p`"),
        ("p cnF 1 1\n", 1, 5, "`cnf`"),
        ("p cnf1 1\n", 1, 6, "a space after `cnf`"),
        ("p cnf -1 1\n", 1, 7, "number of variables"),
        ("p cnf 1\n", 1, 8, "a line end"),
        ("p cnf 1 1 x\n", 1, 11, "`x`"),
        ("p cnf 1073741824 0\n", 1, 17, "at most 1073741823"),
        ("p cnf 1 18446744073709551616\n", 1, 28, "too large"),
        ("p cnf 1 1\n1", 2, 2, "the 0 is missing"),
        ("p cnf 1 1\n2 0\n", 2, 1, "beyond the 1 variables"),
        ("p cnf 9 1\n99999999999999999999 0\n", 2, 2, "beyond the 9 variables"),
        ("p cnf 1 1\n-0\n", 2, 2, "a digit from 1 to 9"),
        ("p cnf 1 1\n- 1 0\n", 2, 2, "a digit from 1 to 9"),
        ("p cnf 1 1\n+1 0\n", 2, 1, "`+`"),
        ("p cnf 1 1\n1a 0\n", 2, 2, "a space after a literal"),
        ("p cnf 1 1\n1-1 0\n", 2, 2, "a space after a literal"),
        ("p cnf 1 1\n1 c 0\n", 2, 3, "a literal"),
        ("p cnf 1 1\n1\r0\n", 2, 3, "after a carriage return"),
        ("p cnf 1 2\n1 0\n", 3, 1, "promises 2 clauses, and there are 1"),
        ("p cnf 1 1\n1 0 1 0\n", 2, 5, "promises 1 clauses, and there are more"),
        ("p cnf 1 0\n0\n", 2, 1, "promises 0 clauses"),
        ("p cnf 1 2\n1 0\n%\n", 3, 1, "`%`"),
        ("p cnf 1 1\n1 0 %\n", 2, 5, "`%`"),
        ("p cnf 1 1\np cnf 1 1\n1 0\n", 2, 1, "`p`"),
        ("p cnf 1 1\n1 \0 0\n", 2, 3, "the byte 0"),
    ] {
        let m = refused(text);
        assert_eq!((m.line, m.column), (line, column), "{text:?}: {m}");
        assert!(m.what.contains(what), "{text:?}: {m}");
    }
    assert_eq!(MAX_VARIABLE, 1_073_741_823);
    // No memory for what is only promised.
    assert!(Formula::parse(b"p cnf 1073741823 18446744073709551615\n").is_err());
}

#[test]
fn compressed_formulas_are_unpacked() {
    use std::io::Write as _;
    let pack = |text: &[u8]| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(text).expect("to memory");
        gz.finish().expect("to memory")
    };
    let packed = pack(b"p cnf 1 1\n1 0\n");
    assert_eq!(Formula::parse(&packed).expect("it is read"), Formula::new(1, vec![vec![1]]));
    for cut in [3, packed.len() / 2, packed.len() - 1] {
        assert!(matches!(Formula::parse(&packed[..cut]), Err(InputError::Malformed(_))), "cut at {cut}");
    }
    let mut damaged = packed.clone();
    let middle = damaged.len() - 6;
    damaged[middle] ^= 1;
    assert!(matches!(Formula::parse(&damaged), Err(InputError::Malformed(_))));
}

#[test]
fn a_check_can_be_cancelled() {
    let text = format!("p cnf 1 {0}\n{1}", 100_000, "1 0\n".repeat(100_000));
    let blocks = std::cell::Cell::new(0);
    let stop = || {
        blocks.set(blocks.get() + 1);
        blocks.get() > 2
    };
    let mut bytes = Bytes::with_cancel(text.as_bytes(), &stop).expect("it begins");
    assert!(matches!(check_formula(&mut bytes, &[1], PLAIN), Err(InputError::Cancelled)));
}

fn checked(formula: &Formula, literals: &[i32], allowed: Allowed) -> Check {
    let text = formula.to_dimacs();
    check_formula(&mut Bytes::new(text.as_bytes()).expect("from memory"), literals, allowed).expect("it is read")
}

#[test]
fn models() {
    let formula = parsed("c\np cnf 3 3\n1 2 0\n-1 3\n0\n-2 0\n");
    assert_eq!(checked(&formula, &[1, -2, 3], PLAIN), Check::Verified);
    let Check::Refuted(why) = checked(&formula, &[-1, -2, 3], PLAIN) else { panic!("it is wrong") };
    assert_eq!(why, "No literal of clause 1 (line 2: 1 2) is true.");
    // Partial models: a variable that is not given makes no literal true.
    assert_eq!(checked(&parsed("p cnf 3 1\n2 3 0\n"), &[2], PLAIN), Check::Verified);
    assert!(matches!(checked(&formula, &[1, -2], PLAIN), Check::Refuted(_)));
    assert!(matches!(checked(&formula, &[], PLAIN), Check::Refuted(_)));
    assert_eq!(checked(&Formula::new(5, vec![]), &[], PLAIN), Check::Verified);
    assert!(
        matches!(checked(&Formula::new(0, vec![vec![]]), &[], PLAIN), Check::Refuted(w) if w.contains("the empty clause"))
    );
    let complete = Allowed { partial: false, ..PLAIN };
    assert!(matches!(checked(&parsed("p cnf 3 1\n2 3 0\n"), &[2], complete), Check::Improper(_)));
    // Not an assignment.
    assert!(matches!(checked(&formula, &[1, -2, 3, -1], PLAIN), Check::Improper(w) if w.contains("Both 1 and -1")));
    assert!(matches!(checked(&formula, &[1, -2, 3, 1], PLAIN), Check::Improper(w) if w.contains("twice")));
    assert!(matches!(checked(&formula, &[1, -2, 3, 4], PLAIN), Check::Improper(w) if w.contains("beyond")));
    assert!(matches!(checked(&formula, &[1, -2, 3, i32::MAX], PLAIN), Check::Improper(_)));
    assert_eq!(checked(&formula, &[1, -2, 3, 3], Allowed { repeated: true, ..PLAIN }), Check::Verified);
    assert_eq!(checked(&formula, &[1, -2, 3, -i32::MAX], Allowed { foreign: true, ..PLAIN }), Check::Verified);
    // A long clause is shown in part.
    let long = Formula::new(20, vec![(1..=20).collect()]);
    assert!(matches!(checked(&long, &[-1], PLAIN), Check::Refuted(w) if w.contains("1 2 3 4 5 6 7 8 …")));
}

fn formulas() -> impl Strategy<Value = Formula> {
    (0_u32..9).prop_flat_map(|variables| {
        let top = variables as i32;
        let literal = (1..=top.max(1), any::<bool>()).prop_map(|(v, s)| if s { -v } else { v });
        let width = if variables == 0 { 0..1 } else { 0..4 };
        prop::collection::vec(prop::collection::vec(literal, width), 0..14)
            .prop_map(move |clauses| Formula::new(variables, clauses))
    })
}

/// Every assignment of the variables.
fn assignments(variables: u32) -> impl Iterator<Item = Vec<i32>> {
    (0_u32..1 << variables)
        .map(move |bits| (1..=variables as i32).map(|v| if bits >> (v - 1) & 1 == 1 { v } else { -v }).collect())
}

fn satisfies(formula: &Formula, assignment: &[i32]) -> bool {
    formula.clauses.iter().all(|clause| clause.iter().any(|l| assignment.contains(l)))
}

proptest! {
    #[test]
    fn what_is_written_is_read(formula in formulas()) {
        prop_assert_eq!(Formula::parse(formula.to_dimacs().as_bytes()).expect("it is read"), formula);
    }

    #[test]
    fn layout_does_not_matter(formula in formulas(), gaps in prop::collection::vec(0_usize..6, 64)) {
        let mut text = format!("c {}\np cnf {} {}\n", gaps.len(), formula.variables, formula.clauses.len());
        let mut gaps = gaps.iter().cycle();
        for number in formula.clauses.iter().flat_map(|c| c.iter().chain(&[0])) {
            let gap = [" ", "\n", "\t ", "\r\n", "\nc 1 0 x\n", "  \n\n"][*gaps.next().expect("without end")];
            text.push_str(&format!("{number}{gap}"));
        }
        prop_assert_eq!(Formula::parse(text.as_bytes()).expect("it is read"), formula);
    }

    #[test]
    fn the_size_of_the_pieces_does_not_matter(formula in formulas(), size in 1_usize..9) {
        let text = formula.to_dimacs().into_bytes();
        let piecewise = At::new(|offset, buffer: &mut [u8]| {
            let rest = &text[(offset as usize).min(text.len())..];
            let n = rest.len().min(buffer.len()).min(size);
            buffer[..n].copy_from_slice(&rest[..n]);
            Ok(n)
        });
        let mut read = Formula::default();
        agon_sat::dimacs::read(&mut Bytes::new(piecewise).expect("it begins"), &mut read).expect("it is read");
        prop_assert_eq!(read, formula);
    }

    #[test]
    fn the_check_is_what_satisfaction_means(formula in formulas(), hide in any::<u8>()) {
        for assignment in assignments(formula.variables) {
            let verdict = checked(&formula, &assignment, PLAIN);
            prop_assert_eq!(verdict == Check::Verified, satisfies(&formula, &assignment));
            // A part of it: verified only if every completion satisfies the formula.
            let part: Vec<i32> = assignment.iter().copied().filter(|l| hide >> (l.unsigned_abs() % 8) & 1 == 0).collect();
            let verified = checked(&formula, &part, PLAIN) == Check::Verified;
            prop_assert_eq!(verified, satisfies(&formula, &part));
            if verified {
                prop_assert!(satisfies(&formula, &assignment));
            }
        }
    }

    #[test]
    fn garbage_is_refused_with_a_place(text in prop::collection::vec(prop::sample::select(b"pcnf 0123-\n\r\t%x".to_vec()), 0..60)) {
        match Formula::parse(&text) {
            Ok(formula) => prop_assert_eq!(Formula::parse(formula.to_dimacs().as_bytes()).expect("it is read"), formula),
            Err(InputError::Malformed(m)) => prop_assert!(m.line >= 1 && m.column >= 1 && !m.what.is_empty()),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
