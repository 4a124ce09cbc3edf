//! Outputs of real solvers, and those whose official reading is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_judging::{Answer, Condition, Limit, Run, Soundness};
use agon_single_query::judging::{OtherOutput, Parameters, Reason, Stream, Weight};
use agon_single_query::reading::LineRest;
use agon_single_query::{judge, read};

fn archive() -> PathBuf {
    std::env::var_os("AGON_ARCHIVE").expect("AGON_ARCHIVE names the archive").into()
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("the index is there");
    reader.deserialize().map(|row| row.expect("the index is well-formed")).collect()
}

/// What StarExec puts before each line (CPU and wall time), and its last line.
fn without_times(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.split_once('\t').map(|(_, rest)| rest));
    lines.filter(|rest| *rest != "EOF").map(|rest| format!("{rest}\n")).collect()
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn the_official_readings() {
    let folder = archive().join("benchmarks/answers");
    let mut seen = 0;
    for row in rows(&folder.join("index.csv")).iter().filter(|r| r["track"] == "single-query") {
        let text = std::fs::read_to_string(folder.join(&row["path"])).expect("the output is there");
        let output = without_times(&text);
        let expected = Answer::of(&row["expected"]).unwrap_or(Answer::Unknown);
        for line_rest in [LineRest::Refuse, LineRest::Ignore] {
            let p = Parameters { line_rest, ..Parameters::default() };
            let reading = read(output.as_bytes(), false, Stream::Stdout, &p);
            assert_eq!(reading.answer.unwrap_or(Answer::Unknown), expected, "{}", row["path"]);
        }
        seen += 1;
    }
    assert_eq!(seen, 15);
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn what_real_solvers_print() {
    let folder = archive().join("solver-outputs");
    let p = Parameters::default();
    let mut judged = 0;
    for row in rows(&folder.join("index.csv")) {
        let name = row["benchmark"].strip_suffix(".smt2").expect("an SMT-LIB file");
        let of = format!("{}/{}/{name}", row["solver"], row["kind"]);
        let output = std::fs::read(folder.join(format!("outputs/{of}.out"))).expect("the output is there");
        // Yices says `unsupported` to an option of the proof track before it answers. Only `success` is passed over by the
        // rules (2022 §5.1 Output) and their post-processor; this track's benchmarks have no such option.
        let unsupported = output.starts_with(b"unsupported\n");
        if unsupported {
            assert!(row["solver"].starts_with("yices") && row["kind"] == "proof", "{of}");
            let reading = read(&output, false, Stream::Stdout, &p);
            assert_eq!((reading.answer, reading.reason), (None, Reason::OtherOutput), "{of}");
        }
        let other_output = if unsupported { OtherOutput::Skip } else { p.other_output };
        let p = Parameters { other_output, ..p };
        let reading = read(&output, false, Stream::Stdout, &p);
        if row["kind"] == "incremental" {
            // No benchmark of this track, but each answer is found.
            assert_eq!(reading.answers as usize, row["answer"].split_whitespace().count(), "{of}");
            continue;
        }
        let exit: Option<i32> = row["exit"].parse().ok();
        let stopped = if row["exit"] == "timeout" { Limit::Wall } else { Limit::None };
        let run = Run {
            exit: exit.filter(|e| *e >= 0),
            signal: exit.filter(|e| *e < 0).map(|e| -e),
            stopped,
            ..Run::default()
        };
        let verdict = judge(&run, reading, None, &[&row["expected"]], &p);

        // The label `none` stands for no answer, and so does `unknown` for one that claims nothing.
        let label = Answer::of(&row["answer"]).unwrap_or(Answer::Unknown);
        // A right proof after the time limit: by the rules of 2014 it is no answer.
        let expected = if stopped == Limit::Wall { Answer::Unknown } else { label };
        assert_eq!(verdict.answer, expected, "{of}");
        assert_eq!(verdict.reading.answer.unwrap_or(Answer::Unknown), label, "{of}");
        let sound = if expected == Answer::Unknown { Soundness::NotApplicable } else { Soundness::Agrees };
        assert_eq!(verdict.soundness, sound, "{of}: no solver answered wrongly");
        let condition = match (row["exit"].as_str(), row["answer"].as_str()) {
            ("timeout", _) => Condition::WallLimit,
            ("-6" | "-11", _) => Condition::Crashed,
            // Aborted: it exits without a result, and not with 0.
            (code, "none") if code != "0" => Condition::Crashed,
            // It reports an error and exits with 0, as Yices does.
            (_, "none") => Condition::MalformedOutput,
            _ => Condition::Finished,
        };
        assert_eq!(verdict.condition, condition, "{of}");
        judged += 1;
    }
    assert!(judged > 600, "{judged}");
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn outputs_at_limits_and_of_malformed_input() {
    let folder = archive().join("solver-outputs");
    let rows = rows(&folder.join("limits.csv"));
    assert_eq!(rows.len(), 66);
    for row in rows {
        let output = std::fs::read(folder.join("outputs/limits").join(&row["output"])).expect("the output is there");
        let says = |p: &Parameters| {
            let reading = read(&output, false, Stream::Stdout, p);
            (reading.answer, reading.reason)
        };
        let (solver, case) = (row["solver"].as_str(), row["case"].as_str());
        let given = |answer| (Some(answer), Reason::Given);
        let none = (None, Reason::NoAnswer);
        let expected = match (solver, case) {
            // An echo of the word comes first. These three print it bare, which nothing tells from an answer; the rules
            // allow no echo. The others quote it, so that it is another response; or refuse the logic.
            ("z3-5.4.0" | "yices-2.6.5" | "oxiz-0.3.4", "quoting") => given(Answer::Unsat),
            ("cvc4-1.8" | "cvc5-1.0.3" | "cvc5-1.4.2", "quoting") => (None, Reason::OtherOutput),
            ("bitwuzla-0.9.1", "quoting") => none,
            // It goes on after the error with the failed assertion left out.
            ("z3-5.4.0", "undeclared") => (None, Reason::AfterError),
            (_, "undeclared" | "unbalanced" | "missing-file") => none,
            // The word `timeout` is no answer.
            ("z3-4.8.12" | "z3-5.4.0", "timeout") | ("z3-5.4.0", "sigXCPU") => (None, Reason::OtherOutput),
            // The program that ran out of its address space had answered before.
            ("bitwuzla-0.9.1", "ulimit-v") => given(Answer::Unsat),
            (_, "timeout-per" | "rlimit" | "soft-timeout") => given(Answer::Unknown),
            ("cvc4-1.8" | "yices-2.6.5" | "oxiz-0.3.4", "timeout") | ("oxiz-0.3.4", "timeout-normal") => {
                given(Answer::Unknown)
            }
            ("z3-5.4.0", "sigINT") => given(Answer::Unknown),
            _ => none,
        };
        assert_eq!(says(&Parameters::default()), expected, "{solver} {case}");

        let skip = Parameters { other_output: OtherOutput::Skip, ..Parameters::default() };
        if expected.1 == Reason::OtherOutput && case == "quoting" {
            assert_eq!(says(&skip), given(Answer::Sat), "{solver} {case}");
        }
        let count = Parameters { after_error: Weight::Count, ..Parameters::default() };
        if expected.1 == Reason::AfterError {
            assert_eq!(says(&count), given(Answer::Sat), "{solver} {case}");
        }
        // What stands on standard error is never an answer.
        let errors = folder.join("outputs/limits").join(&row["output"]).with_extension("err");
        if let Ok(text) = std::fs::read(errors) {
            assert_eq!(read(&text, false, Stream::Stderr, &skip).answer, None, "{solver} {case}");
        }
    }
}
