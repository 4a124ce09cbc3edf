//! The track as a host calls it.

use agon_sdk::hosting::{Instance, Plugin};
use agon_sdk::values::{
    Benchmark, Blame, Condition, Job, Judgement, Limit, Observation, Output, Soundness, Status, Value,
};
use agon_single_query::AGON_PLUGIN;

fn plugin() -> Plugin {
    Plugin::linked(&AGON_PLUGIN).expect("it is a plugin")
}

fn open(parameters: &str) -> Instance {
    plugin().open(parameters).expect("the parameters fit")
}

fn job(status: &str) -> Job {
    let mut benchmark = Benchmark::new("b", "(check-sat)\n");
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
    agon_plugin_testing::every_declared_word_is_a_parameter_value(&plugin(), &["nonsense"]);
}

#[test]
fn a_run_is_judged_and_explained() {
    let track = open("");
    let observation = Observation::finished(0, "success\n sat\r\n");
    for (status, soundness) in
        [("sat", Soundness::Agrees), ("unsat", Soundness::Contradicts), ("unknown", Soundness::Unverified)]
    {
        let judgement = track.judge(&job(status), &observation).expect("it is judged");
        assert_eq!((judgement.answer.as_str(), judgement.soundness), ("sat", soundness));
        assert_eq!((judgement.condition, judgement.blame), (Condition::Finished, Blame::None));
        assert_eq!((word(&judgement, "answer"), word(&judgement, "status")), ("sat".into(), status.into()));
        assert_eq!((word(&judgement, "reason"), &judgement.columns["answers"]), ("given".into(), &Value::UInt(1)));
        assert_eq!((judgement.evidence[0].from, judgement.evidence[0].to), (9, 12));
        let why = track.explain(&job(status), &observation, &judgement, &[]).expect("it is explained");
        assert!(why.text.contains("line 2, bytes 9 to 12"), "{}", why.text);
        assert_eq!(why.evidence, judgement.evidence);
    }
}

#[test]
fn parameters_reach_the_judgement() {
    let observation = Observation::finished(1, "(error \"x\")\nsat\n");
    assert_eq!(open("").judge(&job("sat"), &observation).expect("it is judged").answer, "unknown");
    let count = open(r#"{"after-error": "count"}"#);
    assert_eq!(count.judge(&job("sat"), &observation).expect("it is judged").answer, "sat");
}

#[test]
fn limits_come_from_job_and_observation() {
    let mut job = job("sat");
    job.limits.wall_ns = Some(10);
    let late = Observation { wall_ns: Some(11), ..Observation::finished(0, "sat\n") };
    let judgement = open("").judge(&job, &late).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.condition), ("unknown", Condition::WallLimit));
    assert_eq!(word(&judgement, "claim"), "sat");
    let count = open(r#"{"after-time-limit": "count"}"#).judge(&job, &late).expect("it is judged");
    assert_eq!((count.answer.as_str(), count.condition), ("sat", Condition::WallLimit));
    let killed = Observation { exit: None, signal: Some(9), limit: Limit::Memory, ..Observation::finished(0, "") };
    let judgement = open("").judge(&job, &killed).expect("it is judged");
    assert_eq!((judgement.condition, judgement.blame), (Condition::MemoryLimit, Blame::Entrant));
}

#[test]
fn an_archived_answer_needs_no_output() {
    let mut archived = Observation { stdout: None, stderr: None, ..Observation::finished(0, "") };
    archived.columns = Some(r#"{"answer": "unsat"}"#.into());
    let judgement = open("").judge(&job("unsat"), &archived).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), judgement.soundness), ("unsat", Soundness::Agrees));
    archived.columns = None;
    let fault = open("").judge(&job("unsat"), &archived).expect_err("nothing is known");
    assert_eq!(fault.status, Status::InvalidArgument);
}

#[test]
fn a_cut_output_is_known_to_be_cut() {
    let mut output = Output::from("sat");
    output.truncated = true;
    let flood = Observation { limit: Limit::Output, ..Observation::finished(0, output) };
    let judgement = open("").judge(&job("sat"), &flood).expect("it is judged");
    assert_eq!((judgement.answer.as_str(), word(&judgement, "reason").as_str()), ("unknown", "cut"));
}

#[test]
fn a_long_output_can_be_left() {
    let track = open("");
    track.cancel().cancel();
    let fault = track.judge(&job("sat"), &Observation::finished(0, "sat\n")).expect_err("it was cancelled");
    assert_eq!(fault.status, Status::Cancelled);
    track.cancel().reset();
    assert!(track.judge(&job("sat"), &Observation::finished(0, "sat\n")).is_ok());
}
