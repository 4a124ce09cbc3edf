//! What runs are worth: limits, crashes, statuses, streams.

use agon_judging::Answer::{Sat, Unknown, Unsat};
use agon_judging::{Answer, Blame, Condition, Limit, Run, Soundness};
use agon_single_query::judging::{Parameters, Reason, Stream, Verdict, Weight};
use agon_single_query::{explain, judge, read};

fn run() -> Run {
    Run { exit: Some(0), wall: Some(5), cpu: Some(5), wall_limit: Some(10), cpu_limit: Some(10), ..Run::default() }
}

fn judged(run: &Run, stdout: &str, stderr: &str, status: &str, p: &Parameters) -> Verdict {
    let out = read(stdout.as_bytes(), run.stopped == Limit::Output, Stream::Stdout, p);
    let err = read(stderr.as_bytes(), false, Stream::Stderr, p);
    judge(run, out, Some(err), &[status], p)
}

fn plain(run: &Run, stdout: &str) -> (Answer, Condition, Blame, Reason) {
    let v = judged(run, stdout, "", "sat", &Parameters::default());
    (v.answer, v.condition, v.blame, v.reason)
}

#[test]
fn the_parts_of_a_verdict_are_independent() {
    for (output, status, answer, soundness) in [
        ("sat", "sat", Sat, Soundness::Agrees),
        ("sat", "unsat", Sat, Soundness::Contradicts),
        ("unsat", "sat", Unsat, Soundness::Contradicts),
        ("unsat", "unknown", Unsat, Soundness::Unverified),
        ("unknown", "sat", Unknown, Soundness::NotApplicable),
        ("", "sat", Unknown, Soundness::NotApplicable),
    ] {
        let v = judged(&run(), output, "", status, &Parameters::default());
        assert_eq!(
            (v.answer, v.soundness, v.condition, v.blame),
            (answer, soundness, Condition::Finished, Blame::None)
        );
        let crashed = Run { exit: None, signal: Some(11), ..run() };
        let v = judged(&crashed, output, "", status, &Parameters::default());
        assert_eq!((v.answer, v.soundness, v.condition), (answer, soundness, Condition::Crashed));
        assert_eq!(v.blame, Blame::Entrant);
    }
}

#[test]
fn an_answer_at_a_limit_of_time() {
    // 2014 and 2012, Timeouts: "A timeout scores the same as if the output is unknown". 2022 §7.1.2: a response is taken
    // into consideration even when the process "does not terminate within the time limit".
    let count = Parameters { after_time_limit: Weight::Count, ..Parameters::default() };
    for (run, condition) in [
        (Run { stopped: Limit::Wall, exit: None, signal: Some(9), ..run() }, Condition::WallLimit),
        (Run { stopped: Limit::Cpu, exit: None, signal: Some(9), ..run() }, Condition::CpuLimit),
        (Run { wall: Some(11), ..run() }, Condition::WallLimit),
        (Run { cpu: Some(11), ..run() }, Condition::CpuLimit),
    ] {
        assert_eq!(plain(&run, "sat\n"), (Unknown, condition, Blame::Entrant, Reason::TimeLimit));
        let v = judged(&run, "sat\n", "", "unsat", &Parameters::default());
        assert_eq!(v.soundness, Soundness::NotApplicable);
        assert_eq!(v.reading.answer, Some(Sat), "what was said stays on record");
        let v = judged(&run, "sat\n", "", "unsat", &count);
        assert_eq!((v.answer, v.soundness, v.condition), (Sat, Soundness::Contradicts, condition));
        assert_eq!(plain(&run, "").3, Reason::NoAnswer);
    }
}

#[test]
fn an_answer_before_a_crash() {
    // 2014 §4.2: solvers "which exit ... without reporting a result" aborted; this one has reported it.
    let ignore = Parameters { after_crash: Weight::Ignore, ..Parameters::default() };
    for signal in [6, 11] {
        let run = Run { exit: None, signal: Some(signal), ..run() };
        assert_eq!(plain(&run, "sat\n"), (Sat, Condition::Crashed, Blame::Entrant, Reason::Given));
        let v = judged(&run, "sat\n", "", "sat", &ignore);
        assert_eq!((v.answer, v.condition, v.reason), (Unknown, Condition::Crashed, Reason::Crash));
        assert_eq!(plain(&run, "").0, Unknown);
    }
}

#[test]
fn an_answer_at_the_memory_limit() {
    let run = Run { stopped: Limit::Memory, exit: None, signal: Some(9), ..run() };
    assert_eq!(plain(&run, "sat\n"), (Sat, Condition::MemoryLimit, Blame::Entrant, Reason::Given));
    let ignore = Parameters { after_memory_limit: Weight::Ignore, ..Parameters::default() };
    let v = judged(&run, "sat\n", "", "sat", &ignore);
    assert_eq!((v.answer, v.condition, v.reason), (Unknown, Condition::MemoryLimit, Reason::MemoryLimit));
}

#[test]
fn an_exit_without_a_result_is_an_abort() {
    let failed = Run { exit: Some(1), ..run() };
    assert_eq!(plain(&failed, ""), (Unknown, Condition::Crashed, Blame::Entrant, Reason::NoAnswer));
    assert_eq!(plain(&failed, "(error \"x\")\n").1, Condition::Crashed);
    assert_eq!(plain(&failed, "unknown\n").1, Condition::Finished);
    assert_eq!(plain(&failed, "sat\n"), (Sat, Condition::Finished, Blame::None, Reason::Given));
    assert_eq!(plain(&run(), ""), (Unknown, Condition::Finished, Blame::None, Reason::NoAnswer));
    assert_eq!(plain(&run(), "success\n; x\n").1, Condition::Finished);
    for output in ["hello\n", "(error \"x\")\n", "satisfiable?\n", "(error \"x\")\nsat\n", "\u{feff}sat\n"] {
        assert_eq!(plain(&run(), output).1, Condition::MalformedOutput, "{output:?}");
        assert_eq!(plain(&run(), output).2, Blame::Entrant, "{output:?}");
    }
}

#[test]
fn a_flood_is_cut() {
    let flood = Run { stopped: Limit::Output, exit: None, signal: Some(9), ..run() };
    assert_eq!(plain(&flood, "sat\n(((").0, Sat);
    assert_eq!(plain(&flood, "sat").0, Unknown);
    assert_eq!(plain(&flood, "sat\n").1, Condition::MalformedOutput);
}

#[test]
fn standard_error() {
    // 2022 §5.2: "report on its standard output channel". §5.1: "there is no distinction between output and error channel".
    let count = Parameters { error_channel: Weight::Count, ..Parameters::default() };
    let v = judged(&run(), "", "sat\n", "sat", &Parameters::default());
    assert_eq!((v.answer, v.condition), (Unknown, Condition::Finished));
    assert!(v.remarks.iter().any(|r| r.contains("Standard error says sat")), "{:?}", v.remarks);
    let v = judged(&run(), "", "sat\n", "unsat", &count);
    assert_eq!((v.answer, v.soundness), (Sat, Soundness::Contradicts));
    assert_eq!(v.reading.evidence[0].stream, Stream::Stderr);
    let v = judged(&run(), "sat\n", "unsat\n", "sat", &Parameters::default());
    assert_eq!(v.answer, Sat);
    let v = judged(&run(), "sat\n", "unsat\n", "sat", &count);
    assert_eq!((v.answer, v.reason, v.condition), (Unknown, Reason::SeveralAnswers, Condition::MalformedOutput));
    let v = judged(&run(), "sat\n", "sat\nwarning\n", "sat", &count);
    assert_eq!(v.answer, Sat);
}

#[test]
fn a_status_that_is_not_one_word_is_no_status() {
    let p = Parameters::default();
    let reading = read(b"sat", false, Stream::Stdout, &p);
    let v = judge(&run(), reading.clone(), None, &["unsat", "unsat"], &p);
    assert_eq!((v.status, v.soundness), (Unknown, Soundness::Unverified));
    assert_eq!(v.remarks.len(), 1);
    let v = judge::<&str>(&run(), reading, None, &[], &p);
    assert_eq!((v.status, v.soundness, v.remarks.len()), (Unknown, Soundness::Unverified, 0));
}

#[test]
fn an_explanation_names_the_place() {
    let late = Run { stopped: Limit::Wall, exit: None, signal: Some(9), ..run() };
    let text = explain(&judged(&late, "success\n sat\n", "", "sat", &Parameters::default()));
    for part in ["line 2, bytes 9 to 12: The answer is sat.", "does not count", "Condition wall-limit"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let text = explain(&judged(&run(), "(error \"x\")\nsat\n", "", "sat", &Parameters::default()));
    for part in ["line 1, bytes 0 to 11: The solver reports an error.", "line 2, bytes 12 to 15", "after-error"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn parameters_are_read_with_their_defaults() {
    let given: Parameters = serde_json::from_str(r#"{"after-error": "count", "answers": "last"}"#).expect("it is read");
    assert_eq!(given.after_error, Weight::Count);
    assert_eq!(given.after_crash, Weight::Count);
    assert_eq!(serde_json::from_str::<Parameters>("{}").expect("it is read"), Parameters::default());
    for wrong in [r#"{"after-errors": "count"}"#, r#"{"after-error": "yes"}"#, r#"{"after-error": true}"#] {
        assert!(serde_json::from_str::<Parameters>(wrong).is_err(), "{wrong}");
    }
}
