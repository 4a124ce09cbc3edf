use proptest::prelude::*;

use super::*;

fn text(literal: &str) -> Text {
    Text::from_literal(literal).expect("it is one")
}

fn work() -> Work {
    Work::new(1 << 20)
}

#[test]
fn escapes_are_those_of_the_standard() {
    let codes = |literal: &str| text(literal).codes().to_vec();
    assert_eq!(codes(r"\u{41}\u0042\u{00043}"), [0x41, 0x42, 0x43]);
    assert_eq!(codes(r"\u{2FFFF}\u{2ffff}"), [0x2ffff, 0x2ffff]);
    assert_eq!(codes(r"\ud800"), [0xd800]);
    for literal in [r"\u{30000}", r"\u{}", r"\u{000041}", r"\u{4g}", r"\u12", r"\u{12", r"\x41", r"\n", r"\\", "\\"] {
        assert_eq!(codes(literal), literal.chars().map(u32::from).collect::<Vec<_>>(), "{literal}");
    }
    // The second backslash begins a sequence, whatever stands before.
    assert_eq!(codes(r"\\u{41}"), [0x5c, 0x41]);
    assert_eq!(codes(r"\u\u{41}"), [0x5c, 0x75, 0x41]);
    assert_eq!(text("a\u{1F600}").to_string(), r#""a\u{1f600}""#);
    assert_eq!(Text::from_literal("\u{30000}"), None);
    assert_eq!(text("a\"\\b\n").to_string(), r#""a""\u{5c}b\u{a}""#);
}

#[test]
fn corners_are_as_the_standard_says() {
    let w = &mut work();
    let (empty, abc) = (Text::default(), text("abcabc"));
    let int = IBig::from;
    assert_eq!(abc.at(&int(6)), empty);
    assert_eq!(abc.at(&int(-1)), empty);
    assert_eq!(abc.at(&int(5)), text("c"));
    assert_eq!(abc.substr(&int(4), &int(9)), text("bc"));
    assert_eq!(abc.substr(&int(4), &int(0)), empty);
    assert_eq!(abc.substr(&int(4), &int(-1)), empty);
    assert_eq!(abc.substr(&int(-1), &int(2)), empty);
    assert_eq!(abc.substr(&int(0), &(IBig::ONE << 100)), abc);
    assert_eq!(abc.index_of(&text("c"), &int(3), w), Ok(int(5)));
    assert_eq!(abc.index_of(&text("c"), &int(6), w), Ok(int(-1)));
    assert_eq!(abc.index_of(&empty, &int(6), w), Ok(int(6)));
    assert_eq!(abc.index_of(&empty, &int(7), w), Ok(int(-1)));
    assert_eq!(abc.index_of(&empty, &int(-1), w), Ok(int(-1)));
    assert_eq!(abc.replace(&empty, &text("x"), w), Ok(text("xabcabc")));
    assert_eq!(abc.replace(&text("b"), &text("x"), w), Ok(text("axcabc")));
    assert_eq!(abc.replace_all(&text("b"), &text("bb"), w), Ok(text("abbcabbc")));
    assert_eq!(abc.replace_all(&empty, &text("x"), w), Ok(abc.clone()));
    assert_eq!(text("aaaaa").replace_all(&text("aa"), &text("b"), w), Ok(text("bba")));
    assert_eq!(empty.to_code(), int(-1));
    assert_eq!(Text::from_code(&int(0x30000)), empty);
    assert_eq!(Text::from_code(&int(-1)), empty);
    assert_eq!(empty.to_int(w), Ok(int(-1)));
    assert_eq!(text("007").to_int(w), Ok(int(7)));
    assert_eq!(text("-7").to_int(w), Ok(int(-1)));
    assert_eq!(Text::from_int(&int(-7)), empty);
    assert_eq!(Text::from_int(&int(70)), text("70"));
    assert!(text("7").is_digit() && !text("77").is_digit() && !text("٣").is_digit());
    assert!(empty < abc && text("ab") < text("b") && text("a") < text("ab"));
}

#[test]
fn doubling_without_end_is_given_up() {
    let w = &mut work();
    let mut long = text("ab");
    while let Ok(double) = Text::concat(&[&long, &long], w) {
        long = double;
    }
    assert!(long.len() < 1 << 20);
    assert_eq!(w.left(), 0);
}

proptest! {
    #[test]
    fn functions_are_those_of_rust_strings(s in "[ab]{0,12}", p in "[ab]{0,3}", by in "[abc]{0,3}", from in 0usize..14) {
        let w = &mut work();
        let (x, y, z) = (text(&s), text(&p), text(&by));
        prop_assert_eq!(x.contains(&y, w), Ok(s.contains(&p)));
        prop_assert_eq!(y.is_prefix_of(&x), s.starts_with(&p));
        prop_assert_eq!(y.is_suffix_of(&x), s.ends_with(&p));
        prop_assert_eq!(x.replace(&y, &z, w), Ok(text(&s.replacen(&p, &by, 1))));
        if !p.is_empty() {
            prop_assert_eq!(x.replace_all(&y, &z, w), Ok(text(&s.replace(&p, &by))));
        }
        let found = s.get(from..).and_then(|rest| rest.find(&p)).map_or(IBig::NEG_ONE, |i| IBig::from(i + from));
        prop_assert_eq!(x.index_of(&y, &IBig::from(from), w), Ok(found));
        prop_assert_eq!(Text::concat(&[&x, &y, &z], w), Ok(text(&format!("{s}{p}{by}"))));
    }

    #[test]
    fn what_is_written_is_read_again(codes in prop::collection::vec(prop_oneof![0..=MAX_CODE, 0x20..0x7fu32, Just(0x5c), Just(0x75), Just(0x7b)], 0..20)) {
        let text = Text::new(&codes).unwrap();
        let shown = text.to_string();
        let inner = shown[1..shown.len() - 1].replace("\"\"", "\"");
        prop_assert_eq!(Text::from_literal(&inner), Some(text));
    }

    #[test]
    fn no_literal_panics(literal in any::<String>()) {
        let _ = Text::from_literal(&literal);
        let _ = Text::from_literal(&literal.replace('a', "\\u"));
    }
}
