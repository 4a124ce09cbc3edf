//! The track as a host calls it.

use agon_sat::AGON_PLUGIN;
use agon_sdk::hosting::{Instance, Plugin};
use agon_sdk::values::{
    Arg, Benchmark, Blame, Condition, FollowUpKind, Input, Job, Judgement, Observation, Soundness, Status, Validation,
    ValidationStatus, Value,
};

fn plugin() -> Plugin {
    Plugin::linked(&AGON_PLUGIN).expect("it is a plugin")
}

fn open(parameters: &str) -> Instance {
    plugin().open(parameters).expect("the parameters fit")
}

const FORMULA: &str = "p cnf 3 3\n1 2 0\n-1 3 0\n-2 0\n";

fn job(formula: &str, status: &str) -> Job {
    let mut benchmark = Benchmark::new("b", formula);
    benchmark.statuses = vec![status.to_string()];
    Job::new(benchmark)
}

fn word(judgement: &Judgement, column: &str) -> String {
    judgement.columns[column].to_string()
}

#[test]
fn the_committed_description_is_the_live_one() {
    agon_plugin_testing::the_committed_description_is_the_live_one(&plugin());
}

#[test]
fn every_declared_word_is_a_parameter_value() {
    agon_plugin_testing::every_declared_word_is_a_parameter_value(&plugin(), &["a/b", ""]);
}

#[test]
fn a_model_is_checked_against_the_benchmark() {
    let track = open("");
    for (values, certificate, answer) in
        [("v 1 -2 3 0\n", "verified", "sat"), ("v -1 -2 3 0\n", "refuted", "sat"), ("v 1 -2 3\n", "none", "unknown")]
    {
        let observation = Observation::finished(10, format!("c x\ns SATISFIABLE\n{values}").as_str());
        let judgement = track.judge(&job(FORMULA, "sat"), &observation).expect("it is judged");
        assert_eq!((word(&judgement, "certificate").as_str(), judgement.answer.as_str()), (certificate, answer));
        assert_eq!(judgement.columns["claim"], Value::Word("sat".into()));
        let why = track.explain(&job(FORMULA, "sat"), &observation, &judgement, &[]).expect("it is explained");
        assert!(why.text.contains("line 2, bytes 4 to 17"), "{}", why.text);
    }
}

#[test]
fn a_faulty_benchmark_is_refused_before_it_is_run() {
    let faulty = job("p cnf 3 4\n1 2 0\n", "sat");
    let fault = open("").prepare(&faulty).expect_err("a clause is missing");
    assert_eq!((fault.status, fault.blame), (Status::BadBenchmark, Blame::Benchmark));
    assert!(fault.message.contains("promises 4 clauses"), "{fault}");
    let trust = open(r#"{"benchmarks": "trust"}"#);
    assert_eq!(trust.prepare(&faulty).expect("it is run unread").steps, []);
    let observation = Observation::finished(10, "s SATISFIABLE\nv 1 0\n");
    let judgement = trust.judge(&faulty, &observation).expect("it is judged");
    assert_eq!((judgement.condition, judgement.blame), (Condition::HarnessFault, Blame::Benchmark));
    assert_eq!(judgement.answer, "unknown");
    assert_eq!(open("").prepare(&job(FORMULA, "sat")).expect("it is fine").steps, []);
    open(r#"{"input": "aiger"}"#).prepare(&job(FORMULA, "sat")).expect_err("it is no circuit");
    open("").prepare(&job("aag 1 1 0 1 0\n2\n2\n", "sat")).expect("it is a circuit");
}

fn with_proof(participant: &str) -> (Job, Observation) {
    let mut job = job("p cnf 1 2\n1 0\n-1 0\n", "unknown");
    job.participant.id = participant.into();
    let mut observation = Observation::finished(20, "s UNSATISFIABLE\n");
    observation.collected.push(Input { name: "proof".into(), kind: "file".into(), content: "0\n".into() });
    (job, observation)
}

#[test]
fn a_proof_is_checked_by_an_external_tool() {
    let track = open(r#"{"proof": "required", "proof-limits": "long", "proof-file": "p.drat"}"#);
    let (job, observation) = with_proof("x");
    let plan = track.prepare(&job).expect("it is prepared");
    assert_eq!(plan.steps[0].argv, [Arg::Command, Arg::Benchmark, Arg::text("p.drat")]);
    assert_eq!((plan.collect[0].name.as_str(), plan.collect[0].path.as_str()), ("proof", "p.drat"));

    let before = track.judge(&job, &observation).expect("it is judged");
    assert_eq!((before.answer.as_str(), before.soundness), ("unsat", Soundness::Unverified));
    let asked = &before.follow_ups[0];
    assert_eq!((asked.kind, asked.role.as_str()), (FollowUpKind::External, "proof-checker"));
    assert_eq!(asked.limits.as_deref(), Some("long"));
    let (_, other) = with_proof("y");
    let other_key = &track.judge(&with_proof("y").0, &other).expect("it is judged").follow_ups[0].dedup_key;
    assert_ne!(&asked.dedup_key, other_key, "another run has another proof");

    let said = |status, exit, text: &str| Validation {
        kind: FollowUpKind::External,
        status,
        role: "proof-checker".into(),
        dedup_key: asked.dedup_key.clone(),
        tool: None,
        observation: (status == ValidationStatus::Done).then(|| Observation::finished(exit, text)),
    };
    let right = said(ValidationStatus::Done, 0, "\rc x\n\rs VERIFIED\n");
    let wrong = said(ValidationStatus::Done, 1, "\rc x\ns NOT VERIFIED\n");
    let over = said(ValidationStatus::Limit, 0, "");
    let end = |validations: &[Validation]| {
        let after = track.conclude(&job, &observation, &before, validations).expect("it is concluded");
        let why = track.explain(&job, &observation, &after, validations).expect("it is explained");
        assert!(why.text.starts_with(&format!("Answer {} ", after.answer)), "{}", why.text);
        (after.answer.clone(), word(&after, "certificate"), after.soundness, after.blame)
    };
    let text = |t: &str| t.to_string();
    let verified = (text("unsat"), text("verified"), Soundness::Agrees, Blame::None);
    let open_end = |blame| (text("unknown"), text("none"), Soundness::NotApplicable, blame);
    assert_eq!(end(std::slice::from_ref(&right)), verified);
    assert_eq!(
        end(std::slice::from_ref(&wrong)),
        (text("unsat"), text("refuted"), Soundness::Unverified, Blame::Entrant)
    );
    assert_eq!(end(std::slice::from_ref(&over)), open_end(Blame::Host));
    assert_eq!(end(&[over.clone(), right.clone()]), verified);
    assert_eq!(end(&[right.clone(), wrong]), open_end(Blame::Host), "the checkers disagree");
    assert_eq!(end(&[]), open_end(Blame::Entrant));
    let foreign = Validation { dedup_key: other_key.clone(), ..right };
    assert_eq!(end(&[foreign]), open_end(Blame::Entrant), "another run's proof proves nothing here");

    let missing = Observation { collected: Vec::new(), ..observation };
    let judgement = track.judge(&job, &missing).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.follow_ups.len()), ("unknown", 0));
    let (job, observation) = with_proof("x");
    let judgement = open("").judge(&job, &observation).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.follow_ups.len()), ("unsat", 0), "no proof is asked for");
}

#[test]
fn an_archived_answer_needs_no_output() {
    let mut archived = Observation { stdout: None, stderr: None, ..Observation::finished(0, "") };
    archived.columns = Some(r#"{"answer": "sat", "certificate": "verified"}"#.into());
    let judgement = open("").judge(&job(FORMULA, "unknown"), &archived).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.soundness), ("sat", Soundness::Agrees));
    assert_eq!(word(&judgement, "certificate"), "verified");
    archived.columns = None;
    assert_eq!(
        open("").judge(&job(FORMULA, "sat"), &archived).expect_err("nothing is known").status,
        Status::InvalidArgument
    );
}

#[test]
fn a_long_check_can_be_left() {
    let track = open("");
    track.cancel().cancel();
    let observation = Observation::finished(10, "s SATISFIABLE\nv 1 -2 3 0\n");
    assert_eq!(
        track.judge(&job(FORMULA, "sat"), &observation).expect_err("it was cancelled").status,
        Status::Cancelled
    );
    assert_eq!(track.prepare(&job(FORMULA, "sat")).expect_err("it was cancelled").status, Status::Cancelled);
    track.cancel().reset();
    assert!(track.judge(&job(FORMULA, "sat"), &observation).is_ok());
}
