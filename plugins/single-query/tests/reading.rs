//! How outputs are read: each trap under each parameter that governs it.

use agon_judging::Answer::{self, Sat, Unknown, Unsat};
use agon_single_query::judging::{Answers, OtherOutput, Parameters, Reading, Reason, Stream, Transcript, Weight};
use agon_single_query::read;
use agon_single_query::reading::{ByteOrderMark, Kind, Letters, LineRest, Spaces, Syntax, responses};
use proptest::prelude::*;

fn reading(output: &[u8], parameters: &Parameters) -> Reading {
    read(output, false, Stream::Stdout, parameters)
}

fn says(output: impl AsRef<[u8]>, parameters: &Parameters) -> (Option<Answer>, Reason) {
    let reading = reading(output.as_ref(), parameters);
    (reading.answer, reading.reason)
}

const GIVEN: Reason = Reason::Given;

fn with(change: impl FnOnce(&mut Parameters)) -> Parameters {
    let mut parameters = Parameters::default();
    change(&mut parameters);
    parameters
}

#[test]
fn the_three_words_are_answers() {
    for (word, answer) in [("sat", Sat), ("unsat", Unsat), ("unknown", Unknown)] {
        for end in ["", "\n", "\r\n", "\n\n", "\n(model)\n"] {
            assert_eq!(says(format!("{word}{end}"), &Parameters::default()), (Some(answer), GIVEN), "{word}{end:?}");
        }
    }
}

#[test]
fn a_word_inside_something_else_is_no_answer() {
    let skip = with(|p| p.other_output = OtherOutput::Skip);
    for output in [
        "satisfiable?",
        "satisfied",
        "satisfiable",
        "unsatisfiable",
        "(error \"expected unsat\")",
        "(error \"expected\nunsat\n\")",
        "(error \"a \"\"quoted\nsat\n\"\" word\")",
        "(error |a\nsat\n|)",
        "(error \"x\" ; sat\n sat\n)",
        "((sat))",
        "(sat)",
        "(\nsat\n)",
        "\"unsat\"",
        "\"a\nunsat\nb\"",
        "\"a \"\"\nunsat\n\"\" b\"",
        "|sat|",
        "'sat'",
        "possibly not sat",
        "answer: sat",
        "s SATISFIABLE",
        "sat unsat",
        "sat?",
        "sat.",
        "sat)",
        "success sat",
        "sat\0",
        "\0sat",
        "s\0at",
        "s at",
        "un\nsa\nt",
        "STAT: nb=0",
        "timeout",
        "sat1",
        "sat_",
        "\u{2003}sat",
        "\u{feff}sat",
        "(error \"x\") sat",
        "\"x\" sat",
        "; sat",
        "  ;sat",
        "success",
        "",
        "\n\n",
        "unsupported",
        "-sat",
        "progress 10%\rsat",
    ] {
        assert_eq!(reading(output.as_bytes(), &Parameters::default()).answer, None, "{output:?}");
        assert_eq!(reading(output.as_bytes(), &skip).answer, None, "{output:?} with other output skipped");
    }
}

#[test]
fn white_space_around_an_answer() {
    let strict = with(|p| p.spaces = Spaces::Strict);
    for output in [" sat", "\tsat", "sat ", "sat\t", "sat\r\n", "  \t sat \r\n", "\x0bsat\x0c", "sat ; why", "sat;why"]
    {
        assert_eq!(says(output, &Parameters::default()), (Some(Sat), GIVEN), "{output:?}");
        assert_eq!(says(output, &strict), (None, Reason::OtherOutput), "{output:?} strictly");
    }
    for output in ["sat", "sat\n", "\n\nsat\n"] {
        assert_eq!(says(output, &strict), (Some(Sat), GIVEN), "{output:?} strictly");
    }
    // A megabyte of spaces is still white space.
    let mut long = vec![b' '; 1 << 20];
    long.extend(b"unsat");
    long.extend(vec![b' '; 1 << 20]);
    assert_eq!(says(&long, &Parameters::default()), (Some(Unsat), GIVEN));
}

#[test]
fn upper_case_letters() {
    let any = with(|p| p.letters = Letters::Any);
    for (output, answer) in [("SAT", Sat), ("Unsat", Unsat), ("UNKNOWN", Unknown), ("sAt\r\n", Sat)] {
        assert_eq!(says(output, &Parameters::default()), (None, Reason::OtherOutput), "{output:?}");
        assert_eq!(says(output, &any), (Some(answer), GIVEN), "{output:?}");
    }
    assert_eq!(says("SATISFIABLE", &any).0, None);
}

#[test]
fn a_byte_order_mark() {
    let skip = with(|p| p.byte_order_mark = ByteOrderMark::Skip);
    assert_eq!(says("\u{feff}sat\n", &Parameters::default()), (None, Reason::OtherOutput));
    assert_eq!(says("\u{feff}sat\n", &skip), (Some(Sat), GIVEN));
    assert_eq!(says("sat\n", &skip), (Some(Sat), GIVEN));
    assert_eq!(says("\n\u{feff}sat\n", &skip).0, None, "only at the start");
    assert_eq!(says("\u{feff}\u{feff}sat\n", &skip).0, None, "only one");
    assert_eq!(says(b"\xef\xbbsat\n", &skip).0, None, "half a mark");
    assert_eq!(says(b"\xef\xbb", &skip).0, None);
}

#[test]
fn other_text_on_the_line_of_the_answer() {
    let ignore = with(|p| p.line_rest = LineRest::Ignore);
    for output in ["sat 12 s", "sat?", "sat)", "sat unsat", "sat (model)", "sat\0", " sat\t\tx"] {
        assert_eq!(says(output, &Parameters::default()).0, None, "{output:?}");
        assert_eq!(says(output, &ignore), (Some(Sat), GIVEN), "{output:?}");
    }
    for output in ["satisfiable?", "sat1", "sat_x", "saturated", "possibly not sat", "SAT", "sat\u{e9}x"] {
        // The last: a byte above 127 is no letter of a word in the C locale, and a boundary.
        let answer = if output.ends_with('x') && !output.contains('_') { Some(Sat) } else { None };
        assert_eq!(says(output, &ignore).0, answer, "{output:?}");
    }
    assert_eq!(says(format!("{}\n", "a".repeat(1 << 20)), &ignore).0, None);
    assert_eq!(says(format!("sat {}\n", "a".repeat(1 << 20)), &ignore).0, Some(Sat));
    assert_eq!(says(format!("sat {}\n", "a".repeat(1 << 20)), &Parameters::default()).0, None);
}

#[test]
fn unknown_with_a_reason_is_unknown() {
    for output in ["unknown (TIMEOUT)", "unknown (INCOMPLETE)\n", "unknown(x)", "unknown incomplete quantifiers"] {
        assert_eq!(says(output, &Parameters::default()), (Some(Unknown), GIVEN), "{output:?}");
    }
    let long = format!("unknown ({})", "x".repeat(1 << 20));
    assert_eq!(says(long, &Parameters::default()), (Some(Unknown), GIVEN));
    assert_eq!(says("unknowns", &Parameters::default()).0, None);
    let strict = with(|p| p.spaces = Spaces::Strict);
    assert_eq!(says("unknown (x)", &strict).0, None);
}

#[test]
fn several_answers() {
    let first = Parameters::default();
    let last = with(|p| p.answers = Answers::Last);
    let agreeing = with(|p| p.answers = Answers::Agreeing);
    let one = with(|p| p.answers = Answers::One);
    let several = (None, Reason::SeveralAnswers);
    assert_eq!(says("sat\nunsat\n", &first), (Some(Sat), GIVEN));
    assert_eq!(says("sat\nunsat\n", &last), (Some(Unsat), GIVEN));
    assert_eq!(says("sat\nunsat\n", &agreeing), several);
    assert_eq!(says("sat\nunsat\n", &one), several);
    assert_eq!(says("sat\nsat\n", &first), (Some(Sat), GIVEN));
    assert_eq!(says("sat\nsat\n", &last), (Some(Sat), GIVEN));
    assert_eq!(says("sat\nsat\n", &agreeing), (Some(Sat), GIVEN));
    assert_eq!(says("sat\nsat\n", &one), several);
    assert_eq!(says("unknown\nsat\n", &first), (Some(Unknown), GIVEN));
    assert_eq!(says("unknown\nsat\n", &last), (Some(Sat), GIVEN));
    assert_eq!(says("unknown\nsat\n", &agreeing), several);
    for p in [first, last, agreeing, one] {
        assert_eq!(says("sat\n", &p), (Some(Sat), GIVEN));
        assert_eq!(says("sat\n(model\n(define-fun unsat () Bool true)\n)\n", &p), (Some(Sat), GIVEN));
        assert_eq!(reading(b"sat\nunsat\nsat\n", &p).answers, 3);
    }
    // An answer after an error is not one of several.
    assert_eq!(says("sat\n(error \"no model\")\nunsat\n", &one), (Some(Sat), GIVEN));
}

#[test]
fn an_answer_after_an_error() {
    let count = with(|p| p.after_error = Weight::Count);
    let output = "(error \"line 3 column 13: unknown constant y\")\nsat\n";
    assert_eq!(says(output, &Parameters::default()), (None, Reason::AfterError));
    assert_eq!(says(output, &count), (Some(Sat), GIVEN));
    for error in
        ["(error)", "(error \"\")", "( error \"x\")", "(error\n\"x\")", "(error \"a\nb\")\n(error \"c\")", "(error|x|)"]
    {
        assert_eq!(says(format!("{error}\nunsat\n"), &Parameters::default()), (None, Reason::AfterError), "{error:?}");
        assert_eq!(says(format!("{error}\nunsat\n"), &count), (Some(Unsat), GIVEN), "{error:?}");
    }
    // Only this very symbol makes an error.
    for other in ["(errors \"x\")", "(:error \"x\")", "((error \"x\"))", "(Error \"x\")"] {
        assert_eq!(says(format!("{other}\nunsat\n"), &count), (None, Reason::OtherOutput), "{other:?}");
    }
    assert_eq!(says("(error \"x\")\n", &Parameters::default()), (None, Reason::NoAnswer));
    assert_eq!(says("(error \"never closed\nsat\n", &count).0, None);
    assert_eq!(reading(b"(error \"never closed\nsat\n", &count).errors, 1);
    assert_eq!(says("sat\n(error \"no model\")\n", &Parameters::default()), (Some(Sat), GIVEN));
}

#[test]
fn other_output_before_the_answer() {
    let skip = with(|p| p.other_output = OtherOutput::Skip);
    for other in ["WARNING: x", "timeout", "(:version \"1\")", "\"echo\"", "satisfiable?", "\u{feff}sat", "unsupported"]
    {
        assert_eq!(says(format!("{other}\nsat\n"), &Parameters::default()), (None, Reason::OtherOutput), "{other:?}");
        assert_eq!(says(format!("{other}\nsat\n"), &skip), (Some(Sat), GIVEN), "{other:?}");
    }
    for passed in ["success", "; a comment", "", "   ", "\t\r", "success\r", "  success  ", "success ; done"] {
        for p in [Parameters::default(), skip] {
            assert_eq!(says(format!("{passed}\n{passed}\nsat\n"), &p), (Some(Sat), GIVEN), "{passed:?}");
        }
    }
    assert_eq!(says("success!\nsat\n", &Parameters::default()), (None, Reason::OtherOutput));
    // What is never closed holds everything after it.
    for open in ["(", "\"", "(a \"b", "(a |b", "(error \"x"] {
        assert_eq!(says(format!("{open}\nsat\n"), &skip).0, None, "{open:?}");
    }
}

#[test]
fn echo_output_is_what_it_looks_like() {
    // z3 prints the string of an echo command bare. Nothing tells it from an answer: the first one counts. The rules
    // allow no echo in a benchmark (2022 §5.1).
    assert_eq!(says("unsat\nsat\n", &Parameters::default()), (Some(Unsat), GIVEN));
    // Quoted, as the standard has it, it is another response.
    assert_eq!(says("\"unsat\"\nsat\n", &Parameters::default()), (None, Reason::OtherOutput));
    let skip = with(|p| p.other_output = OtherOutput::Skip);
    assert_eq!(says("\"unsat\"\nsat\n", &skip), (Some(Sat), GIVEN));
}

#[test]
fn a_cut_output() {
    let p = Parameters::default();
    let cut = |output: &[u8]| {
        let reading = read(output, true, Stream::Stdout, &p);
        (reading.answer, reading.reason)
    };
    assert_eq!(cut(b"sat\n(model"), (Some(Sat), GIVEN));
    assert_eq!(cut(b"sat\n"), (Some(Sat), GIVEN));
    // It might have gone on to `satisfiable?`.
    assert_eq!(cut(b"sat"), (None, Reason::Cut));
    assert_eq!(cut(b"success\nunsat"), (None, Reason::Cut));
    assert_eq!(cut(b"uns"), (None, Reason::OtherOutput));
    assert_eq!(cut(b""), (None, Reason::NoAnswer));
    assert_eq!(cut(b"sat\nunsat"), (Some(Sat), GIVEN));
}

#[test]
fn garbage_and_floods() {
    let mut state = 1_u64;
    let mut garbage = Vec::new();
    while garbage.len() < 1 << 20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        garbage.extend(state.to_le_bytes());
    }
    assert_eq!(says(&garbage, &Parameters::default()), (None, Reason::OtherOutput));
    let _ = says(&garbage, &with(|p| p.other_output = OtherOutput::Skip));
    let mut line = vec![b'x'; 1 << 20];
    assert_eq!(says(&line, &Parameters::default()), (None, Reason::OtherOutput));
    line.extend(b"\nsat\n");
    assert_eq!(says(&line, &Parameters::default()), (None, Reason::OtherOutput));
    assert_eq!(says(&line, &with(|p| p.other_output = OtherOutput::Skip)), (Some(Sat), GIVEN));
    let mut comment = vec![b';'; 1 << 20];
    comment.extend(b"\nsat\n");
    assert_eq!(says(&comment, &Parameters::default()), (Some(Sat), GIVEN));
    let deep = [vec![b'('; 1 << 20], vec![b')'; 1 << 20], b"\nsat\n".to_vec()].concat();
    assert_eq!(says(&deep, &Parameters::default()), (None, Reason::OtherOutput));
    assert_eq!(says(&deep, &with(|p| p.other_output = OtherOutput::Skip)), (Some(Sat), GIVEN));
}

#[test]
fn evidence_is_where_the_answer_stands() {
    let output = b"success\n; hm\n  unsat \r\n(proof)\n";
    let reading = reading(output, &Parameters::default());
    let at = reading.evidence[0].at;
    assert_eq!((at.from, at.to, at.line), (15, 20, 3));
    assert_eq!(&output[15..20], b"unsat");
    let output = b"(error \"a\nb\")\nsat\n";
    let reading = self::reading(output, &Parameters::default());
    let spans: Vec<_> = reading.evidence.iter().map(|e| &output[e.at.from as usize..e.at.to as usize]).collect();
    assert_eq!(spans, [&b"(error \"a\nb\")"[..], b"sat"]);
}

/// The official post-processor's reading (SMT-COMP/postprocessors, single-query-track), as its comments say it: lines
/// that are blank, `success` or a comment are dropped, the first other line decides by its first word.
///
fn post_processor(output: &[u8]) -> Option<Answer> {
    let space = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
    for line in output.split(|b| *b == b'\n') {
        let start = line.iter().position(|b| !space(b)).unwrap_or(line.len());
        let end = line.iter().rposition(|b| !space(b)).map_or(start, |e| e + 1);
        let text = &line[start..end];
        // A comment after `success` is dropped here too, as ours does: in SMT-LIB a comment is white space.
        let rest = text.strip_prefix(b"success").unwrap_or(text).trim_ascii_start();
        if rest.is_empty() || rest.starts_with(b";") {
            continue;
        }
        let end = text.iter().position(|b| !b.is_ascii_lowercase()).unwrap_or(text.len());
        let boundary = text.get(end).is_none_or(|b| !(b.is_ascii_alphanumeric() || *b == b'_'));
        return match &text[..end] {
            b"sat" if boundary => Some(Sat),
            b"unsat" if boundary => Some(Unsat),
            _ => None,
        };
    }
    None
}

fn outputs() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "sat",
        "unsat",
        "unknown",
        "success",
        "(error \"x\")",
        "(",
        ")",
        "\"",
        "|",
        ";",
        " ",
        "\t",
        "\r",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "x",
        "S",
        "satisfiable",
        "\0",
        "\u{feff}",
        "error",
        "(error ",
        "timeout",
        "_",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..24).prop_map(|p| p.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_pieces_do_not_matter(output in outputs(), size in 1_usize..7) {
        for p in [Parameters::default(), with(|p| p.byte_order_mark = ByteOrderMark::Skip)] {
            let mut transcript = Transcript::new(p, Stream::Stdout);
            output.chunks(size).for_each(|piece| transcript.read(piece));
            prop_assert_eq!(transcript.finish(false), reading(&output, &p));
        }
    }

    #[test]
    fn an_answer_is_a_line_that_says_so(output in outputs()) {
        for response in responses(&output, Syntax::default()) {
            let Kind::Answer(answer) = response.kind else { continue };
            let (from, to) = (response.at.from as usize, response.at.to as usize);
            let text = &output[from..to];
            prop_assert!(text == answer.word().as_bytes() || text.starts_with(b"unknown"));
            prop_assert!(output[..from].iter().rev().take_while(|b| **b != b'\n').all(|b| b.is_ascii_whitespace() || *b == 0x0b));
            let after: Vec<u8> = output[to..].iter().copied().take_while(|b| *b != b'\n' && *b != b';').collect();
            prop_assert!(after.iter().all(|b| b.is_ascii_whitespace() || *b == 0x0b));
        }
    }

    #[test]
    fn the_official_post_processor_agrees(output in outputs()) {
        // The reading that the 2022 rules name: the first line decides, its rest does not.
        let p = with(|p| p.line_rest = LineRest::Ignore);
        let ours = reading(&output, &p).answer.filter(|a| *a != Unknown);
        let theirs = post_processor(&output);
        // One difference is wanted: inside brackets or quotes a line is no line. There theirs reads the first line only,
        // which opens the bracket and is no answer, so that the two agree even so.
        prop_assert_eq!(ours, theirs);
        // Without the option, an answer is still never another one.
        if let Some(answer) = reading(&output, &Parameters::default()).answer.filter(|a| *a != Unknown) {
            prop_assert_eq!(Some(answer), theirs);
        }
    }
}
