//! The track as a host calls it: what it declares, plans and judges.

use agon_incremental::AGON_PLUGIN;
use agon_sdk::describe::ParameterType;
use agon_sdk::hosting::{Instance, Plugin};
use agon_sdk::values::{
    Benchmark, Blame, Condition, Framing, Job, Judgement, Limit, Observation, Place, Plan, ScriptEntry, Soundness,
    Status, StepKind, StepLog, StepOutcome, Value,
};

fn plugin() -> Plugin {
    Plugin::linked(&AGON_PLUGIN).expect("it is a plugin")
}

fn open(parameters: &str) -> Instance {
    plugin().open(parameters).expect("the parameters fit")
}

const SCRIPT: &str = "(set-logic QF_UF) ; a comment\n(set-info :status sat)\n(declare-const p Bool)\n(check-sat)\n(push 1)\n\
                      (assert (and p (not p)))\n(set-info :status unsat)\n(check-sat-assuming (p))\n(get-value (p))\n\
                      (pop 1)\n(check-sat)\n(exit)\n";

fn job() -> Job {
    Job::new(Benchmark::new("b", SCRIPT))
}

/// What is sent, in order: the text, what is accepted, and whether anything else ends the dialogue.
fn sent(plan: &Plan, text: &str) -> Vec<(String, String, bool)> {
    let accepted = |expect: &agon_sdk::values::Expect| {
        let words: Vec<_> = expect.accept.iter().map(|a| String::from_utf8_lossy(&a.0).into_owned()).collect();
        (words.join(" "), expect.stop_unless_accepted)
    };
    let mut all = Vec::new();
    for entry in &plan.steps[0].script {
        match entry {
            ScriptEntry::Send(bytes) => all.push((String::from_utf8_lossy(bytes).into_owned(), String::new(), false)),
            ScriptEntry::Expect(expect) => {
                let (words, stop) = accepted(expect);
                let last = all.last_mut().expect("something was sent");
                (last.1, last.2) = (words, stop);
            }
            ScriptEntry::Exchange(exchange) => {
                let (words, stop) = accepted(&exchange.expect);
                for Place { from, to } in exchange.pieces.iter() {
                    all.push((text[*from as usize..*to as usize].to_string(), words.clone(), stop));
                }
            }
        }
    }
    all
}

#[test]
fn the_committed_description_is_the_live_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/plugins/incremental.json");
    let live = plugin().description_json().to_string();
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &live).expect("the schema can be written");
    }
    let committed = std::fs::read_to_string(path).expect("the schema is there");
    assert_eq!(committed, live, "run the test with AGON_BLESS=1 to rewrite {path}");
}

#[test]
fn every_declared_word_is_a_parameter_value() {
    for parameter in &plugin().description().parameters {
        let ParameterType::Words(words) = &parameter.ty else {
            assert_eq!(parameter.name, "patience");
            continue;
        };
        for word in words {
            let _ = open(&format!("{{\"{}\": \"{word}\"}}", parameter.name));
        }
    }
    let fault = plugin().open(r#"{"patience": "soon"}"#).expect_err("it is no time");
    assert_eq!((fault.status, fault.pointer.as_deref()), (Status::BadParameter, Some("/patience")));
}

#[test]
fn what_is_sent_and_what_is_accepted() {
    let plan = open("").prepare(&job()).expect("it is planned");
    let line = |text: &str, words: &str| (text.to_string(), words.to_string(), true);
    let option = line("(set-option :print-success true)\n", "success");
    let expected = [
        option.clone(),
        line("(set-logic QF_UF)", "success"),
        line("(declare-const p Bool)", "success"),
        line("(check-sat)", "sat"),
        line("(push 1)", "success"),
        line("(assert (and p (not p)))", "success"),
        line("(check-sat-assuming (p))", "unsat"),
        ("(get-value (p))".to_string(), String::new(), false),
        line("(pop 1)", "success"),
        line("(check-sat)", "sat unsat"),
        ("(exit)\n".to_string(), String::new(), false),
    ];
    assert_eq!(sent(&plan, SCRIPT), expected);
    assert_eq!(plan.steps[0].patience_ns, Some(1_000_000_000));
    // A question that is not answered by success ends a stretch of commands, and is read as an expression.
    let exchanges: Vec<_> = plan.steps[0]
        .script
        .iter()
        .filter_map(|entry| match entry {
            ScriptEntry::Exchange(exchange) => Some((exchange.pieces.len(), exchange.expect.framing)),
            _ => None,
        })
        .collect();
    use Framing::{Line, SExpression};
    assert_eq!(exchanges, [(2, Line), (1, Line), (2, Line), (1, Line), (1, SExpression), (1, Line), (1, Line)]);

    let on = open(
        r#"{"after-wrong": "continue", "after-unknown": "continue", "after-error": "continue", "unsupported": "accept",
            "unknown-status": "stop", "responses": "expression", "patience": "20 ms"}"#,
    );
    let plan = on.prepare(&job()).expect("it is planned");
    let line = |text: &str, words: &str| (text.to_string(), words.to_string(), false);
    let found = sent(&plan, SCRIPT);
    assert_eq!(found[1], line("(set-logic QF_UF)", "success unsupported"));
    assert_eq!(found[3], line("(check-sat)", "sat unsat unknown"));
    // The last check has no known answer, so that neither it nor what leads to it is sent.
    assert_eq!(found[found.len() - 2].0, "(get-value (p))");
    assert_eq!(plan.steps[0].patience_ns, Some(20_000_000));
}

#[test]
fn the_host_knows_the_answers_better_than_the_script() {
    let mut job = job();
    job.benchmark.statuses = ["unsat", "unknown", "sat"].map(str::to_string).to_vec();
    let found = sent(&open("").prepare(&job).expect("it is planned"), SCRIPT);
    let checks: Vec<_> = found.iter().filter(|s| s.0.starts_with("(check")).map(|s| s.1.as_str()).collect();
    assert_eq!(checks, ["unsat", "sat unsat", "sat"]);
    // Those before the script are the scrambler's, for this very text.
    let text = format!("sat\nsat\n--- BENCHMARK BEGINS HERE ---\n{SCRIPT}");
    job.benchmark.content = text.clone().into();
    let found = sent(&open("").prepare(&job).expect("it is planned"), &text);
    let checks: Vec<_> = found.iter().filter(|s| s.0.starts_with("(check")).map(|s| s.1.as_str()).collect();
    assert_eq!(checks, ["sat", "sat", "sat unsat"]);
    job.benchmark.content = SCRIPT.into();
    job.benchmark.statuses.pop();
    let fault = open("").prepare(&job).expect_err("there are three checks");
    assert_eq!((fault.status, fault.blame), (Status::BadBenchmark, Blame::Benchmark));
    assert!(fault.message.contains("3 check-sat commands, but 2"), "{fault}");
    let fault = open("").prepare(&Job::new(Benchmark::new("b", "(assert\n"))).expect_err("it is no script");
    assert_eq!(fault.status, Status::BadBenchmark);
}

/// The log of a dialogue: what came of each stretch and check. `answers` of a stretch that was refused are those before.
struct Log(Vec<StepLog>);

impl Log {
    fn new() -> Log {
        let command = StepLog {
            kind: StepKind::Command,
            outcome: StepOutcome::Done,
            step: "solve".into(),
            label: None,
            sent_ns: 0,
            answered_ns: 0,
            cpu_ns: Some(0),
            exit: Some(0),
            signal: None,
            limit: Limit::None,
            response: "".into(),
            errors: Some("".into()),
            answers: 0,
            refused: 0,
            waited_ns: 0,
            kept: 0,
        };
        Log(vec![command])
    }

    fn entry(mut self, label: &str, outcome: StepOutcome, response: &str, counts: (u64, u64), waited_ns: u64) -> Log {
        self.0.push(StepLog {
            kind: StepKind::Expect,
            outcome,
            label: Some(label.into()),
            cpu_ns: Some(waited_ns / 2),
            exit: None,
            response: response.into(),
            errors: None,
            answers: counts.0,
            refused: counts.1,
            waited_ns,
            ..self.0[0].clone()
        });
        self
    }

    fn commands(self, count: u64) -> Log {
        self.entry("commands from line 1", StepOutcome::Done, "success", (count, 0), count)
    }

    fn check(self, response: &str, waited_ns: u64) -> Log {
        self.entry("check 1 at line 2", StepOutcome::Done, response, (1, 0), waited_ns)
    }

    fn refused(self, response: &str, waited_ns: u64) -> Log {
        self.entry("check 1 at line 2", StepOutcome::Stopped, response, (1, 1), waited_ns)
    }

    fn judged(self, statuses: &[&str], parameters: &str) -> Judgement {
        self.judged_with(statuses, parameters, |_| {})
    }

    fn judged_with(self, statuses: &[&str], parameters: &str, change: impl FnOnce(&mut Observation)) -> Judgement {
        let mut job = job();
        job.benchmark.statuses = statuses.iter().map(ToString::to_string).collect();
        let mut seen = Observation { steps: self.0, ..Observation::finished(0, "") };
        change(&mut seen);
        let track = open(parameters);
        let judgement = track.judge(&job, &seen).expect("it is judged");
        let why = track.explain(&job, &seen, &judgement, &[]).expect("it is explained");
        assert!(why.text.contains("checks answered rightly"), "{}", why.text);
        judgement
    }
}

fn number(judgement: &Judgement, column: &str) -> u64 {
    match &judgement.columns[column] {
        Value::UInt(n) | Value::Time(n) => *n,
        other => panic!("{column}: {other}"),
    }
}

/// check_sats, correct_answers, wrong_answers, erroneous_responses.
fn counts(judgement: &Judgement) -> [u64; 4] {
    ["check_sats", "correct_answers", "wrong_answers", "erroneous_responses"].map(|column| number(judgement, column))
}

fn reason(judgement: &Judgement) -> String {
    judgement.columns["reason"].to_string()
}

const ON: &str = r#"{"after-wrong": "continue", "after-unknown": "continue", "after-error": "continue"}"#;

#[test]
fn right_answers_are_counted_and_timed() {
    let log = Log::new().commands(3).check("sat", 100).commands(2).check(" unsat\r", 50);
    let judgement = log.judged(&["sat", "unsat"], "");
    assert_eq!(counts(&judgement), [2, 2, 0, 0]);
    assert_eq!((judgement.answer.as_str(), judgement.soundness), ("all", Soundness::Agrees));
    assert_eq!((judgement.condition, reason(&judgement).as_str()), (Condition::Finished, "completed"));
    let times = ["response_time", "response_cpu_time", "check_time", "correct_time", "correct_cpu_time", "commands"];
    assert_eq!(times.map(|column| number(&judgement, column)), [155, 77, 150, 150, 75, 7]);
    let table = judgement.artifacts[0].bytes(&job(), &Observation::finished(0, "")).expect("it is in memory");
    let table = String::from_utf8(table).expect("it is text");
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows[0].split(',').count(), 10);
    assert_eq!(rows[1..], ["1,sat,sat,right,0,100,50,3,3,1", "2,unsat,unsat,right,0,50,25,2,2,1"]);
}

#[test]
fn a_wrong_answer_ends_the_run_or_not() {
    let log = || Log::new().check("sat", 10).check("sat", 10).check("sat", 10);
    let statuses = ["sat", "unsat", "sat"];
    let judgement = log().judged(&statuses, "");
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([3, 1, 1, 1], "wrong-answer"));
    assert_eq!((judgement.soundness, judgement.condition), (Soundness::Contradicts, Condition::Finished));
    assert_eq!((judgement.evidence[0].step, judgement.evidence[0].to), (2, 3));
    let judgement = log().judged(&statuses, ON);
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([3, 2, 1, 1], "completed"));
}

#[test]
fn unknown_ends_the_run_or_not() {
    let log = || Log::new().check("sat", 10).check("unknown", 10).check("sat", 10).check("sat", 10);
    let statuses = ["sat", "sat", "sat", "sat"];
    let with = |words: &str| log().judged(&statuses, words);
    let judgement = with("");
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([4, 1, 0, 0], "unknown-answer"));
    assert_eq!(judgement.answer, "some");
    assert_eq!(counts(&with(r#"{"after-unknown": "continue"}"#)), [4, 3, 0, 0]);
    let judgement = with(r#"{"after-unknown": "shorten"}"#);
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([4, 2, 0, 0], "unknown-answer"));
    // A reason does not make it another answer.
    let judgement = Log::new().refused("unknown (TIMEOUT)", 5).judged(&["sat"], "");
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([1, 0, 0, 0], "unknown-answer"));
}

#[test]
fn a_check_without_a_known_answer() {
    let log = || Log::new().check("sat", 10).check("unsat", 10).check("sat", 10);
    let statuses = ["sat", "unknown", "sat"];
    let with = |words: &str| log().judged(&statuses, words);
    let judgement = with("");
    assert_eq!(counts(&judgement), [3, 2, 0, 0]);
    assert_eq!(number(&judgement, "unjudged_answers"), 1);
    assert_eq!(judgement.answer, "all");
    assert_eq!(counts(&with(r#"{"unknown-status": "count"}"#)), [3, 3, 0, 0]);
    let judgement = with(r#"{"unknown-status": "stop"}"#);
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([3, 1, 0, 0], "unknown-status"));
}

#[test]
fn erroneous_responses_end_the_run_or_are_counted() {
    let bad = "(error \"no \"\"such\"\" sort\")";
    let log = || {
        Log::new()
            .check("sat", 10)
            .entry("commands from line 3", StepOutcome::Done, bad, (5, 2), 10)
            .check("maybe", 10)
            .entry("print at line 9", StepOutcome::Done, bad, (1, 0), 1)
            .check("sat", 10)
    };
    let statuses = ["sat", "sat", "sat"];
    let judgement = log().judged(&statuses, "");
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([3, 1, 0, 2], "erroneous-response"));
    assert_eq!((judgement.condition, judgement.blame), (Condition::MalformedOutput, Blame::Entrant));
    let judgement = log().judged(&statuses, ON);
    assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([3, 2, 0, 4], "completed"));
    // What was there before the question is not its answer, even if it reads like one.
    for (outcome, counted) in [(StepOutcome::Stopped, (0, 1)), (StepOutcome::Done, (1, 1))] {
        let log = Log::new().check("sat", 1).entry("check 2 at line 3", outcome, "sat", counted, 5);
        let judgement = log.judged(&["sat", "sat"], ON);
        assert_eq!(counts(&judgement), [2, 1, 0, 1], "{outcome}");
    }
}

#[test]
fn earlier_answers_are_kept_however_the_run_ends() {
    let ends = |outcome, limit, exit, signal, counted| {
        let log = Log::new().check("sat", 10).entry("check 2 at line 4", outcome, "", counted, 90);
        let log = log.entry("check 3 at line 5", StepOutcome::NotRun, "", (0, 0), 0);
        log.judged_with(&["sat", "sat", "sat"], ON, |seen| (seen.limit, seen.exit, seen.signal) = (limit, exit, signal))
    };
    use StepOutcome::{Eof, Limit as Limited};
    for (judgement, condition, word, late) in [
        (ends(Limited, Limit::Wall, None, Some(9), (0, 0)), Condition::WallLimit, "limit", true),
        (ends(Limited, Limit::Cpu, None, Some(9), (0, 0)), Condition::CpuLimit, "limit", true),
        (ends(Limited, Limit::Memory, None, Some(9), (0, 0)), Condition::MemoryLimit, "limit", false),
        (ends(Eof, Limit::None, Some(0), None, (0, 0)), Condition::Crashed, "no-answer", false),
        (ends(Eof, Limit::None, None, Some(11), (0, 0)), Condition::Crashed, "no-answer", false),
    ] {
        assert_eq!(counts(&judgement), [3, 1, 0, 0]);
        assert_eq!((judgement.condition, reason(&judgement).as_str()), (condition, word));
        assert_eq!(judgement.columns["timed_out"], Value::Flag(late));
        // The time until nothing came is time to respond; it is not that of a right answer.
        assert_eq!((number(&judgement, "response_time"), number(&judgement, "correct_time")), (100, 10));
    }
}

#[test]
fn a_run_that_was_over_before_its_dialogue() {
    for (limit, word) in [(Limit::None, "no-answer"), (Limit::Memory, "limit")] {
        let log = Log::new().entry("commands :print-success", StepOutcome::NotRun, "", (0, 0), 0);
        let log = log.entry("check 1 at line 2", StepOutcome::NotRun, "", (0, 0), 0);
        let judgement = log.judged_with(&["sat"], "", |seen| seen.limit = limit);
        assert_eq!((counts(&judgement), reason(&judgement).as_str()), ([1, 0, 0, 0], word));
        assert_ne!(judgement.condition, Condition::Finished);
    }
}

#[test]
fn every_entry_of_a_plan_is_judged() {
    // A label that is of no class would be passed over.
    let plan = open("").prepare(&job()).expect("it is planned");
    for entry in &plan.steps[0].script {
        let label = match entry {
            ScriptEntry::Send(_) => continue,
            ScriptEntry::Expect(expect) => &expect.label,
            ScriptEntry::Exchange(exchange) => &exchange.expect.label,
        };
        assert!(agon_incremental::plan::Class::of(label).is_some(), "{label}");
    }
}

#[test]
fn a_solver_that_ignores_the_exit_has_finished() {
    let mut log = Log::new().check("sat", 10);
    log.0[0].outcome = StepOutcome::Stopped;
    let judgement = log.judged_with(&["sat"], "", |seen| (seen.exit, seen.signal) = (None, Some(9)));
    assert_eq!((judgement.condition, judgement.blame), (Condition::Finished, Blame::None));
    assert!(judgement.diagnostics[0].message.contains("went on"));
}

#[test]
fn output_on_standard_error() {
    let with = |word: &str| {
        let parameters = format!("{{\"error-channel\": \"{word}\"}}");
        Log::new().check("sat", 10).judged_with(&["sat"], &parameters, |seen| seen.stderr = Some("oops".into()))
    };
    assert_eq!((counts(&with("ignore")), with("ignore").diagnostics.len()), ([1, 1, 0, 0], 0));
    assert_eq!((counts(&with("remark")), with("remark").diagnostics.len()), ([1, 1, 0, 0], 1));
    let void = with("void");
    assert_eq!((counts(&void), reason(&void).as_str()), ([1, 0, 0, 0], "error-channel"));
}

#[test]
fn archived_counts_are_taken_over() {
    let mut archived = Observation { stdout: None, stderr: None, ..Observation::finished(0, "") };
    archived.columns = Some(r#"{"check_sats": 7, "correct_answers": 3, "wrong_answers": 0}"#.into());
    let judgement = open("").judge(&job(), &archived).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.soundness), ("some", Soundness::Agrees));
    assert_eq!(number(&judgement, "check_sats"), 7);
    archived.columns = None;
    let fault = open("").judge(&job(), &archived).expect_err("nothing is known");
    assert_eq!(fault.status, Status::Unsupported);
}
