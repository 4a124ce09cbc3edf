//! How outputs of SAT solvers are read, and what runs are worth.

use agon_judging::Answer::{self, Sat, Unknown, Unsat};
use agon_judging::{Blame, Condition, Limit, Run, Soundness};
use agon_sat::answer::{Claim, Reader, Spaces, read, to_lines};
use agon_sat::checker::{Outcome, outcome};
use agon_sat::input::{Bytes, InputError};
use agon_sat::judging::{
    Certificate, Checked, Decides, Input, Latches, Parameters, Permission, Reason, Unjudged, Verdict, Weight,
    check_benchmark,
};
use agon_sat::{conclude, explain, judge};
use proptest::prelude::*;

fn claims(output: impl AsRef<[u8]>) -> Claim {
    read(output.as_ref(), false, Spaces::Strict).claim
}

fn tolerated(output: impl AsRef<[u8]>) -> Claim {
    read(output.as_ref(), false, Spaces::Tolerate).claim
}

#[test]
fn the_status_line() {
    for (text, answer) in [("SATISFIABLE", Sat), ("UNSATISFIABLE", Unsat), ("UNKNOWN", Unknown)] {
        for output in [
            format!("s {text}\n"),
            format!("s {text}"),
            format!("c x\ns {text}\nc y\n"),
            format!("v 1 -2 0\ns {text}\n"),
            format!("\n\ns {text}\n\n"),
            format!("WARNING\ns {text}\n"),
        ] {
            assert_eq!(claims(&output), Claim::One(answer), "{output:?}");
            assert_eq!(tolerated(&output), Claim::One(answer), "{output:?}");
        }
        for output in [format!("s {text}\r\n"), format!(" s {text}"), format!("s\t{text} \n"), format!("s  {text}")] {
            assert!(!matches!(claims(&output), Claim::One(_)), "{output:?}");
            assert_eq!(tolerated(&output), Claim::One(answer), "{output:?}");
        }
    }
    for output in [
        "s SATISFIABLE: file.cnf",
        "s satisfiable",
        "s SAT",
        "s INDETERMINATE",
        "s ",
        "s SATISFIABLES",
        "s UNKNOWN (TimeOut)",
        "s SATISFIABLE\0",
        "s NOT SATISFIABLE",
        "s UN SATISFIABLE",
        "s SATISFIABLE SATISFIABLE SATISFIABLE SATISFIABLE",
    ] {
        assert_eq!(claims(output), Claim::Invalid, "{output:?}");
        assert_eq!(tolerated(output), Claim::Invalid, "{output:?}");
    }
    for output in [
        "",
        "SATISFIABLE",
        "sat",
        "S SATISFIABLE",
        "sSATISFIABLE",
        "s",
        "c s SATISFIABLE",
        "\u{feff}s SATISFIABLE",
        "x s SATISFIABLE",
        "\0s SATISFIABLE",
        "c\rs SATISFIABLE",
    ] {
        assert_eq!(claims(output), Claim::None, "{output:?}");
    }
    for output in
        ["s SATISFIABLE\ns SATISFIABLE", "s SATISFIABLE\ns UNSATISFIABLE", "s UNKNOWN\ns UNSATISFIABLE", "s x\ns y"]
    {
        assert_eq!(claims(output), Claim::Several, "{output:?}");
    }
    let colours = "s \u{1b}[32mSATISFIABLE\u{1b}[0m";
    assert_eq!(claims(colours), Claim::Invalid);
    // At a cut, the line may go on; `UNKNOWN` claims nothing anyway.
    assert_eq!(read(b"s SATISFIABLE", true, Spaces::Strict).claim, Claim::Invalid);
    assert_eq!(read(b"s SATISFIABLE\n", true, Spaces::Strict).claim, Claim::One(Sat));
    assert_eq!(read(b"s UNKNOWN", true, Spaces::Strict).claim, Claim::One(Unknown));
}

#[test]
fn the_value_lines() {
    let model = |output: &str| read(output.as_bytes(), false, Spaces::Strict).model().map(<[i32]>::to_vec);
    assert_eq!(model("v 1 -2 3 0\n"), Some(vec![1, -2, 3]));
    assert_eq!(model("v 1\nc x\nv -2\ns SATISFIABLE\nv 3 \nv 0"), Some(vec![1, -2, 3]));
    assert_eq!(model("v  1\t -2  0 \n"), Some(vec![1, -2]));
    assert_eq!(model("v 0\n"), Some(vec![]));
    assert_eq!(model("v \nv 1 0\n"), Some(vec![1]));
    for output in [
        "",
        "v 1 2\n",
        "v 1 2 0 3\n",
        "v 1 0\nv 0\n",
        "v 1 x 0\n",
        "v 1 --2 0\n",
        "v 1 - 0\n",
        "v -0 0\n",
        "v 1,2 0\n",
        "v 1.0 0\n",
        "v 99999999999999999999 0\n",
        "v 2147483648 0\n",
        "v -2147483648 0\n",
        "v 1 0\r\n",
        "v 1 2-3 0\n",
        "v +1 0\n",
        "v1 0\n",
        "1 -2 0\n",
        "V 1 0\n",
    ] {
        assert_eq!(model(output), None, "{output:?}");
    }
    assert_eq!(model("v 2147483647 -2147483647 0\n"), Some(vec![i32::MAX, -i32::MAX]));
    assert_eq!(read(b"v 1 0\r\n", false, Spaces::Tolerate).model(), Some(&[1][..]));
    let reading = read(b"v 1 2\nv 3 x4 0\n", false, Spaces::Strict);
    let fault = reading.fault.expect("there is one");
    assert_eq!((fault.at.from, fault.at.to, fault.at.line), (10, 12, 2));
    // A number at a cut may go on.
    assert_eq!(read(b"v 1 0", true, Spaces::Strict).model(), None);
    assert_eq!(read(b"v 1 0\n", true, Spaces::Strict).model(), Some(&[1][..]));
    assert_eq!(read(&[b"v ", &[b'1'; 1 << 20][..], b" 0\n"].concat(), false, Spaces::Strict).model(), None);
}

const FORMULA: &str = "p cnf 3 3\n1 2 0\n-1 3 0\n-2 0\n";
const MODEL: &str = "v 1 -2 3 0\n";

fn exit(code: i32) -> Run {
    Run { exit: Some(code), wall: Some(5), cpu: Some(5), wall_limit: Some(10), cpu_limit: Some(10), ..Run::default() }
}

fn judged(run: &Run, output: &str, benchmark: &str, status: &str, p: &Parameters) -> Verdict {
    let reading = read(output.as_bytes(), run.stopped == Limit::Output, p.spaces);
    judge(run, &reading, || Bytes::new(benchmark.as_bytes()), &[status], p).expect("it is judged")
}

fn plain(code: i32, output: &str) -> (Answer, Checked, Condition, Reason) {
    let v = judged(&exit(code), output, FORMULA, "sat", &Parameters::default());
    (v.answer, v.certificate, v.condition, v.reason)
}

const SAT: &str = "s SATISFIABLE\n";
const UNSAT: &str = "s UNSATISFIABLE\n";

#[test]
fn a_model_is_checked() {
    use Checked::{None, Refuted, Verified};
    use Condition::{Finished, MalformedOutput};
    let of = |values: &str| plain(10, &format!("{SAT}{values}"));
    assert_eq!(of(MODEL), (Sat, Verified, Finished, Reason::Given));
    assert_eq!(of("v -1 -2 3 0\n"), (Sat, Refuted, Finished, Reason::Given));
    for improper in ["", "v 1 -2 3\n", "v 1 -2 3 -3 0\n", "v 1 -2 3 3 0\n", "v 1 -2 3 4 0\n", "v 1 0 0\n", "v x 0\n"] {
        assert_eq!(of(improper), (Unknown, None, MalformedOutput, Reason::NoModel), "{improper:?}");
        let optional = Parameters { model: Certificate::Optional, ..Parameters::default() };
        let v = judged(&exit(10), &format!("{SAT}{improper}"), FORMULA, "sat", &optional);
        assert_eq!((v.answer, v.certificate, v.condition), (Sat, None, Finished), "{improper:?}");
        assert_eq!(v.remarks.len(), 1);
    }
    let ignored = Parameters { model: Certificate::Ignored, ..Parameters::default() };
    let v = judged(&exit(10), &format!("{SAT}v -1 0\n"), FORMULA, "sat", &ignored);
    assert_eq!((v.answer, v.certificate), (Sat, None));
    let repeated = Parameters { repeated_literals: Permission::Allow, ..Parameters::default() };
    assert_eq!(judged(&exit(10), &format!("{SAT}v 1 -2 3 3 0\n"), FORMULA, "sat", &repeated).certificate, Verified);
    let whole = Parameters { partial_models: Permission::Refuse, ..Parameters::default() };
    let v = judged(&exit(10), &format!("{SAT}v 2 0\n"), "p cnf 3 1\n2 0\n", "sat", &whole);
    assert_eq!((v.answer, v.reason), (Unknown, Reason::NoModel));
}

#[test]
fn line_and_exit_code() {
    let p = |decides| Parameters { decides, model: Certificate::Ignored, ..Parameters::default() };
    let mismatch = (Unknown, Reason::ExitCode);
    let none = (Unknown, Reason::NoAnswer);
    for (code, output, both, line, by_code, either) in [
        (10, SAT, (Sat, Reason::Given), (Sat, Reason::Given), (Sat, Reason::Given), (Sat, Reason::Given)),
        (20, UNSAT, (Unsat, Reason::Given), (Unsat, Reason::Given), (Unsat, Reason::Given), (Unsat, Reason::Given)),
        (0, SAT, mismatch, (Sat, Reason::Given), none, (Sat, Reason::Given)),
        (20, SAT, mismatch, (Sat, Reason::Given), (Unsat, Reason::Given), mismatch),
        (10, "", mismatch, none, (Sat, Reason::Given), (Sat, Reason::Given)),
        (20, "SAT\n", mismatch, none, (Unsat, Reason::Given), (Unsat, Reason::Given)),
        (0, "s UNKNOWN\n", (Unknown, Reason::Given), (Unknown, Reason::Given), none, (Unknown, Reason::Given)),
        (10, "s UNKNOWN\n", mismatch, (Unknown, Reason::Given), (Sat, Reason::Given), (Unknown, Reason::Given)),
        (0, "", none, none, none, none),
        (1, "", none, none, none, none),
    ] {
        for (decides, expected) in
            [(Decides::Both, both), (Decides::Line, line), (Decides::ExitCode, by_code), (Decides::Either, either)]
        {
            let v = judged(&exit(code), output, FORMULA, "unknown", &p(decides));
            assert_eq!((v.answer, v.reason), expected, "{code} {output:?} {decides:?}");
        }
    }
    assert_eq!(plain(0, "").2, Condition::Finished);
    assert_eq!(plain(1, "").2, Condition::Crashed);
    assert_eq!(plain(0, "WARNING\n").2, Condition::MalformedOutput);
    assert_eq!(plain(20, SAT).2, Condition::MalformedOutput);
    assert_eq!(plain(10, "s SATISFIABLE\ns SATISFIABLE\n").3, Reason::SeveralLines);
    assert_eq!(plain(10, "s SAT\n").3, Reason::InvalidLine);
}

#[test]
fn soundness_and_the_status() {
    let p = Parameters::default();
    let sat = format!("{SAT}{MODEL}");
    let v = judged(&exit(10), &sat, FORMULA, "unknown", &p);
    assert_eq!((v.soundness, v.certificate, v.blame), (Soundness::Agrees, Checked::Verified, Blame::None));
    // A verified model is more than a status.
    let v = judged(&exit(10), &sat, FORMULA, "unsat", &p);
    assert_eq!((v.answer, v.status, v.soundness, v.blame), (Sat, Unsat, Soundness::Agrees, Blame::Benchmark));
    assert!(v.remarks.iter().any(|r| r.contains("status unsat is wrong")), "{:?}", v.remarks);
    let wrong = format!("{SAT}v -1 -2 3 0\n");
    for (status, soundness) in
        [("sat", Soundness::Agrees), ("unsat", Soundness::Contradicts), ("unknown", Soundness::Unverified)]
    {
        let v = judged(&exit(10), &wrong, FORMULA, status, &p);
        assert_eq!((v.soundness, v.certificate, v.blame), (soundness, Checked::Refuted, Blame::Entrant), "{status}");
    }
    let v = judged(&exit(20), UNSAT, FORMULA, "sat", &p);
    assert_eq!((v.answer, v.soundness), (Unsat, Soundness::Contradicts));
    let v = judged(&exit(20), &format!("{UNSAT}v 1 0\n"), FORMULA, "unsat", &p);
    assert_eq!((v.answer, v.remarks.len()), (Unsat, 1));
}

#[test]
fn limits_and_crashes() {
    let sat = format!("{SAT}{MODEL}");
    let count = Parameters {
        decides: Decides::Line,
        after_time_limit: Weight::Count,
        after_memory_limit: Weight::Count,
        after_crash: Weight::Count,
        ..Parameters::default()
    };
    for (run, condition, reason) in [
        (Run { stopped: Limit::Wall, exit: None, signal: Some(9), ..exit(0) }, Condition::WallLimit, Reason::TimeLimit),
        (Run { stopped: Limit::Cpu, exit: None, signal: Some(9), ..exit(0) }, Condition::CpuLimit, Reason::TimeLimit),
        (Run { cpu: Some(11), ..exit(10) }, Condition::CpuLimit, Reason::TimeLimit),
        (
            Run { stopped: Limit::Memory, exit: None, signal: Some(9), ..exit(0) },
            Condition::MemoryLimit,
            Reason::MemoryLimit,
        ),
        (Run { exit: None, signal: Some(11), ..exit(0) }, Condition::Crashed, Reason::Crash),
        (Run { exit: None, signal: Some(6), ..exit(0) }, Condition::Crashed, Reason::Crash),
    ] {
        let v = judged(&run, &sat, FORMULA, "sat", &Parameters::default());
        assert_eq!((v.answer, v.claim, v.condition, v.reason), (Unknown, Sat, condition, reason));
        assert_eq!((v.blame, v.soundness, v.certificate), (Blame::Entrant, Soundness::NotApplicable, Checked::None));
        let v = judged(&run, &sat, FORMULA, "sat", &count);
        assert_eq!((v.answer, v.certificate, v.condition), (Sat, Checked::Verified, condition));
        let v = judged(&run, "c nothing\n", FORMULA, "sat", &Parameters::default());
        assert_eq!((v.answer, v.condition, v.reason), (Unknown, condition, Reason::NoAnswer));
    }
}

#[test]
fn a_faulty_benchmark_is_not_the_entrants_fault() {
    let sat = format!("{SAT}{MODEL}");
    for benchmark in
        ["p cnf 3 4\n1 2 0\n", "", "aag 1 1 0 2 0\n2\n2\n2\n", "aag 1 0 1 1 0\n2 3\n2\n", "aag 1 1 0 1 0\n"]
    {
        let v = judged(&exit(10), &sat, benchmark, "sat", &Parameters::default());
        assert_eq!(
            (v.answer, v.condition, v.blame),
            (Unknown, Condition::HarnessFault, Blame::Benchmark),
            "{benchmark:?}"
        );
        let checked = check_benchmark(Bytes::new(benchmark.as_bytes()).expect("from memory"), &Parameters::default());
        assert!(checked.is_err(), "{benchmark:?}");
    }
    let zero = Parameters { latches: Latches::Zero, ..Parameters::default() };
    let latch = "aag 1 0 1 1 0\n2 3\n3\n";
    assert_eq!(judged(&exit(10), "s SATISFIABLE\nv 0\n", latch, "sat", &zero).certificate, Checked::Verified);
    let cnf = Parameters { input: Input::Cnf, ..Parameters::default() };
    assert_eq!(judged(&exit(10), &sat, latch, "sat", &cnf).blame, Blame::Benchmark);
    let aiger = Parameters { input: Input::Aiger, ..Parameters::default() };
    assert_eq!(judged(&exit(10), &sat, FORMULA, "sat", &aiger).blame, Blame::Benchmark);

    let reading = read(sat.as_bytes(), false, Spaces::Strict);
    let p = Parameters::default();
    let failed = judge(&exit(10), &reading, || Err(std::io::Error::other("gone").into()), &["sat"], &p);
    assert!(matches!(failed, Err(Unjudged::Io(_))));
    let cancelled = judge(&exit(10), &reading, || Err(InputError::Cancelled), &["sat"], &p);
    assert!(matches!(cancelled, Err(Unjudged::Cancelled)));
}

#[test]
fn the_aig_track_needs_no_witness() {
    let and = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n";
    let aig = Parameters { input: Input::Aiger, model: Certificate::Optional, ..Parameters::default() };
    let of = |values: &str| {
        let v = judged(&exit(10), &format!("{SAT}{values}"), and, "sat", &aig);
        (v.answer, v.certificate)
    };
    assert_eq!(of(""), (Sat, Checked::None));
    assert_eq!(of("v 1 2 0\n"), (Sat, Checked::Verified));
    assert_eq!(of("v 1 -2 0\n"), (Sat, Checked::Refuted));
    assert_eq!(of("v 1 0\n"), (Sat, Checked::None));
    assert_eq!(judged(&exit(10), SAT, and, "sat", &Parameters::default()).answer, Unknown);
}

#[test]
fn proofs() {
    let fine = Run { exit: Some(0), ..Run::default() };
    let failed = Run { exit: Some(1), ..Run::default() };
    for (text, run, expected) in [
        ("\rc x\n\rs VERIFIED\n\rc time\n", &fine, Outcome::Verified),
        ("s VERIFIED\n", &fine, Outcome::Verified),
        ("s VERIFIED\r\n", &fine, Outcome::Verified),
        ("c VERIFIED\n", &fine, Outcome::Verified),
        ("\n s NOT VERIFIED\n".trim_start(), &failed, Outcome::Refuted),
        ("c NOT VERIFIED\n", &failed, Outcome::Refuted),
    ] {
        assert_eq!(outcome(text.as_bytes(), run), expected, "{text:?}");
    }
    for (text, run) in [
        ("s VERIFIED\n", &failed),
        ("s NOT VERIFIED\n", &fine),
        ("s VERIFIED\ns NOT VERIFIED\n", &fine),
        ("", &fine),
        ("c s VERIFIED\n", &fine),
        ("xs VERIFIED\n", &fine),
        ("s VERIFIED?\n", &fine),
        ("s NOT VERIFIED yet\n", &failed),
        ("s VERIFIED\n", &Run { signal: Some(11), ..Run::default() }),
        ("s VERIFIED\n", &Run { stopped: Limit::Wall, exit: Some(0), ..Run::default() }),
    ] {
        assert!(matches!(outcome(text.as_bytes(), run), Outcome::None(_)), "{text:?}");
    }

    let required = Parameters { proof: Certificate::Required, ..Parameters::default() };
    let optional = Parameters { proof: Certificate::Optional, ..Parameters::default() };
    let first = |p: &Parameters| judged(&exit(20), UNSAT, FORMULA, "unknown", p);
    assert!(!first(&Parameters::default()).wants_proof);
    assert!(!judged(&exit(10), &format!("{SAT}{MODEL}"), FORMULA, "sat", &required).wants_proof);
    for p in [&required, &optional] {
        assert!(first(p).wants_proof);
        let v = conclude(first(p), Some(&Outcome::Verified), p);
        assert_eq!((v.answer, v.certificate, v.soundness), (Unsat, Checked::Verified, Soundness::Agrees));
        let v = conclude(first(p), Some(&Outcome::Refuted), p);
        assert_eq!((v.answer, v.certificate, v.blame), (Unsat, Checked::Refuted, Blame::Entrant));
        let again = conclude(v.clone(), Some(&Outcome::Refuted), p);
        assert_eq!(again, v, "a verdict is concluded once");
    }
    let none = Outcome::None("The proof checker did not finish.".into());
    let v = conclude(first(&required), Some(&none), &required);
    assert_eq!((v.answer, v.reason, v.blame), (Unknown, Reason::NoProof, Blame::Host));
    assert_eq!(conclude(first(&required), None, &required).blame, Blame::Entrant);
    let v = conclude(first(&optional), Some(&none), &optional);
    assert_eq!((v.answer, v.certificate), (Unsat, Checked::None));
}

#[test]
fn an_explanation_names_the_place() {
    let v = judged(&exit(10), &format!("c x\n{SAT}v 1\nv -2 y 0\n"), FORMULA, "sat", &Parameters::default());
    let text = explain(&v);
    for part in ["line 2, bytes 4 to 17: The `s` line.", "line 4, bytes 27 to 28: This is no literal.", "no-model"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn parameters_are_read_with_their_defaults() {
    assert_eq!(serde_json::from_str::<Parameters>("{}").expect("it is read"), Parameters::default());
    let given: Parameters =
        serde_json::from_str(r#"{"decides": "exit-code", "model": "optional"}"#).expect("it is read");
    assert_eq!((given.decides, given.model), (Decides::ExitCode, Certificate::Optional));
    for wrong in [r#"{"model": true}"#, r#"{"modle": "optional"}"#] {
        assert!(serde_json::from_str::<Parameters>(wrong).is_err(), "{wrong}");
    }
}

fn outputs() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "s ",
        "s SATISFIABLE\n",
        "s UNSATISFIABLE\n",
        "s UNKNOWN\n",
        "v ",
        "v 1 -2 3 0\n",
        "1",
        "-2",
        " ",
        "0",
        "\n",
        "c ",
        "\r",
        "\t",
        "x",
        "-",
        "SATISFIABLE",
        "\0",
        "9999999999",
        "s",
        "v",
    ]);
    prop_oneof![
        prop::collection::vec(piece, 0..24).prop_map(|p| p.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn models_are_written_and_read(literals in prop::collection::vec((1..i32::MAX, any::<bool>()), 0..40), width in 1_usize..90) {
        let literals: Vec<i32> = literals.into_iter().map(|(v, s)| if s { -v } else { v }).collect();
        let text = to_lines(&literals, width);
        let reading = read(text.as_bytes(), false, Spaces::Strict);
        prop_assert_eq!(reading.model(), Some(literals.as_slice()));
    }

    #[test]
    fn the_pieces_do_not_matter(output in outputs(), size in 1_usize..7) {
        for spaces in [Spaces::Strict, Spaces::Tolerate] {
            let mut reader = Reader::new(spaces);
            output.chunks(size).for_each(|piece| reader.read(piece));
            prop_assert_eq!(reader.finish(false), read(&output, false, spaces));
        }
    }

    #[test]
    fn an_answer_is_a_whole_line(output in outputs()) {
        let lines = || output.split(|b| *b == b'\n');
        let reading = read(&output, false, Spaces::Strict);
        let status = lines().filter(|l| l.starts_with(b"s ")).count();
        let answer = |word: &[u8]| lines().any(|l| l == [b"s ", word].concat());
        prop_assert_eq!(reading.claim == Claim::None, status == 0);
        prop_assert_eq!(reading.claim == Claim::Several, status > 1);
        if let Claim::One(claim) = reading.claim {
            let word: &[u8] = match claim { Sat => b"SATISFIABLE", Unsat => b"UNSATISFIABLE", Unknown => b"UNKNOWN" };
            prop_assert!(answer(word));
        }
    }

    #[test]
    fn no_output_earns_a_wrong_verdict(output in outputs(), code in prop::sample::select(vec![0, 10, 20, 1])) {
        let text = String::from_utf8_lossy(&output).into_owned();
        for decides in [Decides::Both, Decides::Line, Decides::Either, Decides::ExitCode] {
            let v = judged(&exit(code), &text, FORMULA, "sat", &Parameters { decides, ..Parameters::default() });
            // The formula has one model.
            if v.certificate == Checked::Verified {
                let literals = read(text.as_bytes(), false, Spaces::Strict).literals;
                prop_assert!([1, -2, 3].iter().all(|l| literals.contains(l)));
            }
            if v.answer == Sat {
                prop_assert!(v.certificate != Checked::None);
            }
            prop_assert_eq!(v.soundness == Soundness::NotApplicable, v.answer == Unknown);
        }
    }
}
