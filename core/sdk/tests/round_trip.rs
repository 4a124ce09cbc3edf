//! A track that uses everything, called through its table as a host calls it.

use std::sync::Arc;

use agon_sdk::hosting::{Plugin, Shape, last_emits, with_shape};
use agon_sdk::prelude::*;
use agon_sdk::values::{self, Accepted, Exchange, Piece, Place, ReadAt, Source, StepKind, StepOutcome, Value};

#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Parameters {
    misbehave: String,
    depth: u64,
}

struct Everything(Parameters);

impl Track for Everything {
    const ID: &'static str = "everything";
    const VERSION: &'static str = "1.2.3";
    const VENDOR: &'static str = "Agon";
    type Params = Parameters;

    fn describe() -> Description {
        Description::new("Uses everything.")
            .parameter(Parameter::text("misbehave", "How.").default(""))
            .parameter(Parameter::integer("depth", 0..=9, "How deep.").default(3))
            .field(Field::words("answer", ["sat", "unsat", "unknown"], "The answer."))
            .field(Field::number("size", "A number."))
            .field(Field::number("share", "A ratio.").optional())
            .field(Field::time("slowest", "A time.").optional())
            .field(Field::memory("memory", "A size.").optional())
            .field(Field::flag("complete", "A truth value.").optional())
            .field(Field::text("kv.*", "What the checker said."))
            .field(Field::number("votes", "Validators that agree.").optional())
            .operation("evaluate", "Evaluates.", [Field::flag("right", "Whether it is.")])
            .artifact("model", "A model.")
            .role("validator", "Solves again.")
            .role("scribe", "Writes.")
            .transform("scramble")
    }

    fn open(parameters: Parameters) -> Result<Self, Fault> {
        if parameters.misbehave == "parameter" {
            return Err(Fault::new(Status::BadParameter, "not that").at("/misbehave").hint("leave it out"));
        }
        Ok(Self(parameters))
    }

    fn prepare(&self, job: &Job<'_>, plan: &Plan<'_>) -> Result<(), Fault> {
        if !job.benchmark.applied.contains(&"scramble") {
            return plan.transform_then_again("scramble", "incremental");
        }
        plan.text("(set-logic ")?;
        plan.text(job.benchmark.logic.unwrap_or("ALL"))?;
        plan.text(")\n")?;
        let mut solve = Step::new("solve", [Arg::Command, Arg::text("--in"), Arg::Benchmark]);
        let expect = Expect { timed: true, stop_unless_accepted: true, ..Expect::new(Framing::Line, "check 1") };
        solve.script = vec![
            ScriptEntry::Send(b"(check-sat)\n".to_vec()),
            ScriptEntry::Expect(Expect { accept: vec![Accepted(b"sat".to_vec())], ..expect.clone() }),
            ScriptEntry::Exchange(Exchange {
                pieces: [Place { from: 2, to: 7 }, Place { from: 7, to: 7 }].into(),
                expect,
            }),
        ];
        solve.patience_ns = Some(5);
        plan.step(&solve)?;
        let mut check = Step::new("check", [Arg::Tool("scribe".into()), Arg::OutputOf("solve".into())]);
        check.after = vec!["solve".into()];
        check.when = When::Ended;
        check.limits = Some("checking".into());
        check.input = Arg::Benchmark;
        plan.step(&check)?;
        plan.collect("proof", "out/proof.drat")
    }

    fn judge(&self, job: &Job<'_>, run: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
        match self.0.misbehave.as_str() {
            "column" => return out.number("undeclared", 1),
            "type" => return out.word("size", "big"),
            "word" => return out.verdict("maybe", Soundness::Agrees, Condition::Finished, Blame::None),
            "no verdict" => return out.number("size", 1),
            "no column" => return out.verdict("sat", Soundness::Agrees, Condition::Finished, Blame::None),
            "panic" => panic!("as {}", "asked"),
            "ratio" => return out.ratio("share", "1e9"),
            "go on" => {
                let _ = out.number("undeclared", 1);
                out.number("size", 1).expect_err("nothing is taken after a refusal");
                return Ok(());
            }
            "artifact" => return out.artifact("other", "x", "y"),
            "operation" => return out.internal("other", "k", []),
            "role" => {
                return out.follow_up(&FollowUp {
                    kind: FollowUpKind::External,
                    role: "stranger".into(),
                    dedup_key: String::new(),
                    inputs: vec![],
                    limits: None,
                });
            }
            _ => {}
        }
        let stdout = run.stdout.unwrap_or(Reader::EMPTY);
        let mut lines = stdout.lines();
        let first = lines.next(64)?.map(|l| (l.bytes.to_vec(), l.from, l.to)).unwrap_or_default();
        let answer = if first.0 == b"sat" { "sat" } else { "unknown" };
        out.verdict(answer, Soundness::Unverified, Condition::of(run), Blame::of(run))?;
        out.count("size", job.benchmark.content.read_all(1 << 30)?.len() as u64)?;
        out.number("size", i64::try_from(self.0.depth).unwrap_or(0))?;
        out.ratio("share", "1/3")?;
        // The host states 40 ns for three responses, of which the last was not accepted.
        let log = |s: &agon_sdk::input::StepLog<'_>| (s.answers, s.refused, s.waited_ns, s.kept);
        if run.steps.iter().any(|s| log(s) != (3, 1, 40, 2)) {
            return Err(Fault::new(Status::Internal, "the log is another"));
        }
        out.time("slowest", run.steps.iter().map(|s| s.answered_ns - s.sent_ns).max().unwrap_or(0))?;
        out.memory("memory", run.peak_memory.unwrap_or(0))?;
        out.flag("complete", !stdout.truncated())?;
        out.string("kv.lemmas", "12")?;
        out.evidence(Stream::Out, first.1, first.2, "the answer")?;
        let pieces = [Piece::Bytes(b"; ".to_vec()), Piece::Copy { stream: Stream::Out, step: 0, from: 4, to: 9 }];
        out.artifact_of("model", "smt-lib", &pieces)?;
        out.diagnostic(Level::Note, "first", "a remark")?;
        out.internal("evaluate", "model", [("model", Arg::Artifact("model".into()))])?;
        out.follow_up(&FollowUp {
            kind: FollowUpKind::External,
            role: "validator".into(),
            dedup_key: "core".into(),
            inputs: vec![("benchmark".into(), Arg::Benchmark)],
            limits: Some("validation".into()),
        })
    }

    fn run_internal(
        &self,
        operation: &str,
        _: &Job<'_>,
        inputs: &[Input<'_>],
        out: &Findings<'_>,
    ) -> Result<(), Fault> {
        assert_eq!(operation, "evaluate");
        out.text(inputs[0].content.read_all(100)?)?;
        out.flag("right", inputs[0].name == "model")
    }

    fn conclude(
        &self,
        _: &Job<'_>,
        judgement: &Judgement<'_>,
        validations: &[Validation<'_>],
        out: &Verdict<'_>,
    ) -> Result<(), Fault> {
        let right = validations.iter().filter(|v| {
            let columns = v.observation.as_ref().and_then(|o| o.columns);
            columns.is_some_and(|c| c.json().is_ok_and(|j| j["right"] == true))
        });
        out.count("votes", right.count() as u64)?;
        out.verdict(judgement.answer, Soundness::Agrees, judgement.condition, judgement.blame)
    }

    fn explain(
        &self,
        _: &Job<'_>,
        _: &Observation<'_>,
        judgement: &Judgement<'_>,
        _: &[Validation<'_>],
        out: &Explanation<'_>,
    ) -> Result<(), Fault> {
        out.text(&format!("It answered {}.", judgement.answer))?;
        out.evidence(Stream::Out, 0, 3, "there")
    }
}

agon_sdk::export!(Everything);

/// Bytes that are never in memory as a whole.
struct Zeroes(u64);

impl ReadAt for Zeroes {
    fn size(&self) -> Option<u64> {
        Some(self.0)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = usize::try_from(self.0.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        buffer[..n].fill(b'0');
        Ok(n)
    }
}

fn job() -> values::Job {
    let mut job = values::Job::new(values::Benchmark::new("b", "(check-sat)").expecting(["sat", "unsat"]));
    job.benchmark.logic = Some("QF_BV".into());
    job
}

fn observation() -> values::Observation {
    let step = values::StepLog {
        kind: StepKind::Expect,
        outcome: StepOutcome::Done,
        step: "solve".into(),
        label: Some("check 1".into()),
        sent_ns: 10,
        answered_ns: 52,
        cpu_ns: None,
        exit: None,
        signal: None,
        limit: Limit::None,
        response: "sat".into(),
        errors: None,
        answers: 3,
        refused: 1,
        waited_ns: 40,
        kept: 2,
    };
    values::Observation { peak_memory: Some(77), steps: vec![step], ..values::Observation::finished(0, "sat\nmodel\n") }
}

fn plugin() -> Plugin {
    Plugin::linked(&AGON_PLUGIN).expect("it is a plugin")
}

#[test]
fn all_of_it() {
    let track = plugin().open("").expect("the defaults do");
    let mut job = job();
    let plan = track.prepare(&job).expect("it prepares");
    assert!(plan.transforms[0].then_again && plan.text.is_none());
    job.benchmark.applied.push("scramble".into());
    let plan = track.prepare(&job).expect("it prepares");
    assert_eq!(plan.text.as_deref(), Some(&b"(set-logic QF_BV)\n"[..]));
    assert_eq!(plan.steps.len(), 2);
    let ScriptEntry::Exchange(exchange) = &plan.steps[0].script[2] else { panic!("{:?}", plan.steps) };
    assert_eq!(*exchange.pieces, [Place { from: 2, to: 7 }, Place { from: 7, to: 7 }]);
    assert!(exchange.expect.timed && exchange.expect.label == "check 1" && exchange.expect.accept.is_empty());
    assert_eq!((plan.steps[0].patience_ns, plan.steps[1].patience_ns), (Some(5), None));
    let ScriptEntry::Expect(expect) = &plan.steps[0].script[1] else { panic!("{:?}", plan.steps) };
    assert!(expect.timed && expect.stop_unless_accepted && expect.accept == [Accepted(b"sat".to_vec())]);
    assert_eq!(plan.steps[1].argv, [Arg::Tool("scribe".into()), Arg::OutputOf("solve".into())]);
    assert_eq!((plan.steps[1].when, plan.steps[1].limits.as_deref()), (When::Ended, Some("checking")));

    let run = observation();
    let judgement = track.judge(&job, &run).expect("it judges");
    assert_eq!(judgement.columns["size"], Value::Int(3));
    assert_eq!(judgement.columns["slowest"], Value::Time(42));
    assert_eq!(judgement.columns["memory"], Value::Memory(77));
    assert_eq!(judgement.columns["answer"], Value::Word("sat".into()));
    assert_eq!(judgement.columns["kv.lemmas"], Value::Text("12".into()));
    assert_eq!(judgement.artifacts[0].bytes(&job, &run).expect("in memory"), b"; model");
    assert_eq!(judgement.follow_ups.len(), 2);

    let input = values::Input { name: "model".into(), kind: "smt-lib".into(), content: Source::bytes("(model)") };
    let findings = track.run_internal("evaluate", &job, &[input]).expect("it evaluates");
    assert_eq!((findings.text.as_slice(), &findings.columns["right"]), (&b"(model)"[..], &Value::Flag(true)));
    let validation = values::Validation {
        kind: FollowUpKind::Internal,
        status: ValidationStatus::Done,
        role: "evaluate".into(),
        dedup_key: "model".into(),
        tool: None,
        observation: Some(findings.observation()),
    };
    let missing = values::Validation { status: ValidationStatus::Crashed, observation: None, ..validation.clone() };
    let validations = [validation.clone(), missing, validation];
    let last = track.conclude(&job, &run, &judgement, &validations).expect("it concludes");
    assert_eq!((last.soundness, &last.columns["votes"]), (Soundness::Agrees, &Value::UInt(2)));
    assert_eq!(last.columns["size"], Value::Int(3));
    let why = track.explain(&job, &run, &last, &validations).expect("it explains");
    assert_eq!((why.text.as_str(), why.evidence.len()), ("It answered sat.", 1));
}

#[test]
fn misbehaviour_is_named() {
    for (how, status, says) in [
        ("column", Status::Contract, "the column `undeclared`, which is not declared"),
        ("type", Status::Contract, "the column `size`, which is declared as number, and a text was given"),
        ("word", Status::Contract, "the answer \"maybe\", which is not declared"),
        ("no verdict", Status::Contract, "without a verdict"),
        ("no column", Status::Contract, "without the column `size`"),
        ("panic", Status::Panic, "as asked"),
        ("ratio", Status::Contract, "\"1e9\" for the column `share`"),
        ("go on", Status::Contract, "undeclared"),
        ("artifact", Status::Contract, "the artifact `other`"),
        ("operation", Status::Contract, "the operation `other`"),
        ("role", Status::Contract, "the role `stranger`"),
    ] {
        let track = plugin().open(&format!("{{\"misbehave\": {how:?}}}")).expect("it opens");
        let fault = track.judge(&job(), &observation()).expect_err(how);
        assert_eq!(fault.status, status, "{fault}");
        assert!(fault.message.contains(says), "{fault}");
        assert_eq!(track.is_poisoned(), how == "panic");
    }
    let fault = plugin().open(r#"{"misbehave": "parameter"}"#).expect_err("it says no");
    assert_eq!(fault.to_string(), "bad-parameter: not that (at /misbehave); leave it out");
    assert_eq!(plugin().open(r#"{"depth": 10}"#).expect_err("too deep").pointer.as_deref(), Some("/depth"));
}

#[test]
fn a_poisoned_track_does_nothing_more() {
    let track = plugin().open(r#"{"misbehave": "panic"}"#).expect("it opens");
    let first = track.judge(&job(), &observation()).expect_err("it panics");
    assert!(first.message.contains("round_trip.rs"), "the place is named: {first}");
    let second = track.judge(&job(), &observation()).expect_err("it is poisoned");
    assert_eq!(second.status, Status::Internal);
}

#[test]
fn older_and_newer_hosts() {
    let track = plugin().open("{}").expect("it opens");
    let exact = track.judge(&job(), &observation()).expect("it judges");
    let emits = last_emits();
    let larger = with_shape(Shape::Larger(64), || track.judge(&job(), &observation())).expect("it judges");
    assert_eq!((&exact, emits), (&larger, last_emits()));
    for most in 0..160 {
        // Whatever comes of it, what is beyond the size is not looked at: it would crash.
        let _ = with_shape(Shape::AtMost(most), || track.judge(&job(), &observation()));
    }
}

#[test]
fn what_is_too_large_for_memory_is_read_in_parts() {
    let track = plugin().open("{}").expect("it opens");
    let mut run = observation();
    let many = 300 << 20;
    run.stdout = Some(values::Output { source: Source::Reader(Arc::new(Zeroes(many))), truncated: true });
    let judgement = track.judge(&job(), &run).expect("it judges");
    assert_eq!(judgement.evidence[0].to, many);
    assert_eq!(judgement.columns["complete"], Value::Flag(false));
}

#[test]
fn values_can_be_written_and_read() {
    let track = plugin().open("{}").expect("it opens");
    let (job, run) = (job(), observation());
    let judgement = track.judge(&job, &run).expect("it judges");
    let text = serde_json::to_string(&(&job, &run, &judgement)).expect("it is JSON");
    let back: (values::Job, values::Observation, values::Judgement) = serde_json::from_str(&text).expect("it is read");
    assert_eq!(back, (job, run, judgement));
}
