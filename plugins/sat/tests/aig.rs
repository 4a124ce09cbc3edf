//! Circuits: what is accepted, what is refused, evaluation against an independent one, and both formats.

use agon_sat::aiger::{Circuit, Value, read};
use agon_sat::input::{Bytes, InputError, Malformed};
use agon_sat::model::{Allowed, Check, check_circuit};
use proptest::prelude::*;

const PLAIN: Allowed = Allowed { partial: true, repeated: false, foreign: false };

fn parse(text: &[u8]) -> Result<Circuit, InputError> {
    read(&mut Bytes::new(text)?)
}

fn parsed(text: &str) -> Circuit {
    parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

fn refused(text: &[u8]) -> Malformed {
    match parse(text) {
        Err(InputError::Malformed(m)) => m,
        other => panic!("{text:?} gives {other:?}"),
    }
}

const AND: &str = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n";

#[test]
fn a_circuit_is_evaluated() {
    let and = parsed(AND);
    use Value::{One, Open, Zero};
    for (left, right, output) in [
        (Zero, Zero, Zero),
        (One, One, One),
        (One, Zero, Zero),
        (Open, Zero, Zero),
        (Open, One, Open),
        (Open, Open, Open),
    ] {
        assert_eq!(and.evaluate(&[left, right]).of(and.outputs[0]), output);
    }
    assert_eq!(and.problem(), Ok(()));
    assert!(parsed("aag 1 1 0 2 0\n2\n2\n3\n").problem().is_err());
    assert!(parsed("aag 0 0 0 0 0\n").problem().is_err());
    let toggle = parsed("aag 1 0 1 1 0\n2 3\n2\n");
    assert!(toggle.problem().is_err());
    let frame = toggle.first_frame();
    assert_eq!(frame.problem(), Ok(()));
    assert_eq!(frame.evaluate(&[]).of(frame.outputs[0]), Zero);
}

#[test]
fn gates_in_any_order_symbols_and_comments() {
    for text in [
        "aag 5 2 0 1 3\n2\n4\n10\n10 7 9\n6 2 4\n8 3 5\n",
        "aag 5 2 0 1 3\n2\n4\n10\n6 2 4\n8 3 5\n10 7 9\ni0 a name\no0 x\ni1 c\nc\nanything\0 at all",
        "aag 9 2 0 1 3\n4\n2\n18\n8 3 5\n18 7 9\n6 2 4\nc",
    ] {
        let circuit = parsed(text);
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let value = |v| if v { Value::One } else { Value::Zero };
            let output = circuit.evaluate(&[value(a), value(b)]).of(circuit.outputs[0]);
            assert_eq!(output, value(a != b), "{text:?}");
        }
    }
    // A long chain, written backwards: no recursion.
    let n = 200_000_u32;
    let mut text = format!("aag {} 1 0 1 {n}\n2\n{}\n", n + 1, 2 * (n + 1));
    for gate in (2..=n + 1).rev() {
        text.push_str(&format!("{} {} {}\n", 2 * gate, 2 * gate - 2, 2 * gate - 2));
    }
    let chain = parsed(&text);
    assert_eq!(chain.evaluate(&[Value::One]).of(chain.outputs[0]), Value::One);
}

#[test]
fn what_is_refused() {
    for (text, what) in [
        (&b""[..], "`aag` or `aig`"),
        (b"aaig 0 0 0 0 0\n", "`aag` or `aig`"),
        (b"aag 0 0 0 0\n", "a space"),
        (b"aag  0 0 0 0 0\n", "the largest variable"),
        (b"aag 00 0 0 0 0\n", "leading zero"),
        (b"aag 0 0 0 0 0 \n", "more than five numbers"),
        (b"aag 0 0 0 0 0 1\n", "more than five numbers"),
        (b"aag 0 0 0 0 0\r\n", "a carriage return"),
        (b"aag 0 0 0 0 0", "the end of the file"),
        (b"aag 1 2 0 0 0\n2\n4\n", "less than I + L + A"),
        (b"aag 99999999999999999999 0 0 0 0\n", "more than"),
        (b"aag 1 1 0 1 0\n2\n4\n", "more than 3"),
        (b"aag 1 1 0 0 0\n3\n", "even literal"),
        (b"aag 1 1 0 0 0\n0\n", "even literal"),
        (b"aag 2 1 0 1 0\n2\n4\n", "used but not defined"),
        (b"aag 2 2 0 0 0\n2\n2\n", "defined twice"),
        (b"aag 3 1 0 0 2\n2\n4 6 2\n6 4 2\n", "depends on itself"),
        (b"aag 2 1 0 0 1\n2\n4 4 2\n", "depends on itself"),
        (b"aag 2 1 0 0 1\n2\n4 2\n", "a space"),
        (b"aag 1 1 0 0 0\n2\ni1 x\n", "position 1 of 1"),
        (b"aag 1 1 0 0 0\n2\ni x\n", "a position"),
        (b"aag 1 1 0 0 0\n2\ni0\n", "a space"),
        (b"aag 1 1 0 0 0\n2\ni0 x", "a line end"),
        (b"aag 1 1 0 0 0\n2\ni0 x\ni0 y\n", "two symbols"),
        (b"aag 1 1 0 0 0\n2\ncomment\n", "after the `c`"),
        (b"aag 1 1 0 0 0\n2\n\n", "a symbol"),
        (b"aag 1 0 1 0 0\n2 3 0\n", "a line end"),
        (b"aig 2 1 0 0 0\n", "I + L + A = 1"),
        (b"aig 1 0 0 0 1\n\x00\x00", "the first difference 0"),
        (b"aig 1 0 0 0 1\n\x03\x00", "the first difference 3"),
        (b"aig 1 0 0 0 1\n\x02\x01", "the second difference 1"),
        (b"aig 1 0 0 0 1\n\x02", "ends within the gates"),
        (b"aig 1 0 0 0 1\n\xff\xff\xff\xff\xff\x01", "does not fit"),
        (b"aig 1 0 0 0 1\n\xff\xff\xff\xff\x1f", "does not fit"),
    ] {
        let m = refused(text);
        assert!(m.what.contains(what), "{:?}: {m}", String::from_utf8_lossy(text));
        assert!(m.line >= 1 && m.column >= 1);
    }
    // No memory for what is only promised.
    assert!(parse(b"aag 1073741823 1073741823 0 0 0\n").is_err());
    assert!(parse(b"aig 1073741823 0 0 0 1073741823\n").is_err());
}

#[test]
fn assignments_of_a_circuit() {
    let and = parsed(AND);
    assert_eq!(check_circuit(&and, &[1, 2], PLAIN), Check::Verified);
    assert_eq!(check_circuit(&and, &[1, 2, 3], PLAIN), Check::Verified, "with the gate's own value");
    assert!(matches!(check_circuit(&and, &[1, 2, -3], PLAIN), Check::Refuted(w) if w.contains("gate 3")));
    assert!(matches!(check_circuit(&and, &[1, -2], PLAIN), Check::Refuted(_)));
    assert!(matches!(check_circuit(&and, &[-1], PLAIN), Check::Refuted(_)), "whatever the other input is");
    assert!(matches!(check_circuit(&and, &[1], PLAIN), Check::Open(_)));
    assert!(matches!(check_circuit(&and, &[1], Allowed { partial: false, ..PLAIN }), Check::Improper(_)));
    assert!(matches!(check_circuit(&and, &[1, 2, 4], PLAIN), Check::Improper(_)));
    assert!(matches!(check_circuit(&and, &[1, -1, 2], PLAIN), Check::Improper(_)));
    // An input that is left out is tried as 0.
    let nor = parsed("aag 3 2 0 1 1\n2\n4\n6\n6 3 5\n");
    assert_eq!(check_circuit(&nor, &[-1], PLAIN), Check::Verified);
    assert_eq!(check_circuit(&nor, &[], PLAIN), Check::Verified);
    assert!(matches!(check_circuit(&parsed("aag 0 0 0 1 0\n0\n"), &[], PLAIN), Check::Refuted(_)));
    assert_eq!(check_circuit(&parsed("aag 0 0 0 1 0\n1\n"), &[], PLAIN), Check::Verified);
    assert!(matches!(check_circuit(&parsed("aag 1 0 1 1 0\n2 3\n2\n"), &[], PLAIN), Check::Open(_)));
}

/// Inputs, and gates as pairs of literals over what comes before them.
fn circuits() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (0_usize..6, prop::collection::vec((any::<u32>(), any::<u32>()), 0..24)).prop_map(|(inputs, draws)| {
        let gates = draws.iter().enumerate().map(|(n, (a, b))| {
            let literals = 2 * (1 + inputs + n) as u32;
            (a % literals, b % literals)
        });
        (inputs, gates.collect())
    })
}

fn text(inputs: usize, gates: &[(u32, u32)], backwards: bool) -> String {
    let total = inputs + gates.len();
    let mut text = format!("aag {total} {inputs} 0 1 {}\n", gates.len());
    (1..=inputs).for_each(|n| text.push_str(&format!("{}\n", 2 * n)));
    text.push_str(&format!("{}\n", 2 * total + 1));
    let mut lines: Vec<String> =
        gates.iter().enumerate().map(|(n, (a, b))| format!("{} {a} {b}\n", 2 * (1 + inputs + n))).collect();
    if backwards {
        lines.reverse();
    }
    text + &lines.concat()
}

proptest! {
    #[test]
    fn evaluation_is_boolean((inputs, gates) in circuits(), backwards in any::<bool>()) {
        let circuit = parsed(&text(inputs, &gates, backwards));
        for bits in 0_u32..1 << inputs {
            let mut values = vec![false];
            values.extend((0..inputs).map(|n| bits >> n & 1 == 1));
            for (a, b) in &gates {
                let of = |l: &u32| values[(l / 2) as usize] != (l % 2 == 1);
                let value = of(a) && of(b);
                values.push(value);
            }
            let output = !values[values.len() - 1];
            let literals: Vec<i32> = (1..=inputs as i32).map(|n| if values[n as usize] { n } else { -n }).collect();
            let verdict = check_circuit(&circuit, &literals, PLAIN);
            prop_assert_eq!(verdict == Check::Verified, output);
            prop_assert_eq!(matches!(verdict, Check::Refuted(_)), !output);
            // With the first input left out, a verdict is still one about some completion.
            let part = literals.get(1..).unwrap_or_default();
            match check_circuit(&circuit, part, PLAIN) {
                Check::Refuted(_) => prop_assert!(!output),
                Check::Verified if inputs > 0 => {
                    let zero: Vec<i32> = std::iter::once(-1).chain(part.iter().copied()).collect();
                    prop_assert_eq!(check_circuit(&circuit, &zero, PLAIN), Check::Verified);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn both_formats_hold_the_same((inputs, gates) in circuits(), backwards in any::<bool>()) {
        let circuit = parsed(&text(inputs, &gates, backwards));
        let ascii = parsed(&circuit.to_ascii());
        let binary = parse(&circuit.to_binary()).expect("it is read");
        prop_assert_eq!(&ascii.to_ascii(), &circuit.to_ascii());
        prop_assert_eq!(ascii.inputs.len(), binary.inputs.len());
        for bits in 0_u32..1 << inputs {
            let values: Vec<Value> = (0..inputs).map(|n| if bits >> n & 1 == 1 { Value::One } else { Value::Zero }).collect();
            let output = circuit.evaluate(&values).of(circuit.outputs[0]);
            prop_assert_eq!(ascii.evaluate(&values).of(ascii.outputs[0]), output);
            prop_assert_eq!(binary.evaluate(&values).of(binary.outputs[0]), output);
        }
    }

    #[test]
    fn garbage_is_refused_with_a_place(tail in prop::collection::vec(prop::sample::select(b"0123456789 \n\x80\xffc".to_vec()), 0..60), binary in any::<bool>()) {
        let mut text = if binary { b"aig ".to_vec() } else { b"aag ".to_vec() };
        text.extend(tail);
        match parse(&text) {
            Ok(_) => {}
            Err(InputError::Malformed(m)) => prop_assert!(m.line >= 1 && m.column >= 1 && !m.what.is_empty()),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
