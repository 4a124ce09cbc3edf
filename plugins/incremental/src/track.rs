//! The track as a plugin: what it declares, and the way from the host's values to a verdict and back.

use agon_judging::{Answer, Run};
use agon_sdk::prelude::*;
use agon_sdk::values::{StepKind, StepOutcome};

use crate::judging::{self, Entry, Reason, explain, judge};
use crate::parameters::Parameters;
use crate::plan::{self, Class};
use crate::table::table;
use crate::trace::{Command, Trace};

/// The incremental track.
#[derive(Debug)]
pub struct Incremental {
    parameters: Parameters,
}

/// Bytes of a response that are looked at: none that counts is as long.
const RESPONSE: usize = 200;
/// The name of the artifact with the table of checks.
const CHECKS: &str = "checks";

impl Track for Incremental {
    const ID: &'static str = "incremental";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const VENDOR: &'static str = "Agon";
    type Params = Parameters;

    fn describe() -> Description {
        let defaults = serde_json::to_value(Parameters::default()).unwrap_or_default();
        let choice = |name: &str, words: &[&str], doc: &str| {
            Parameter::words(name, words.iter().copied(), doc).default(defaults[name].clone())
        };
        let ways = &["stop", "continue"];
        Description::new("A trace of commands that is sent to the solver one by one.")
            .answers(["all", "some", "none"])
            .parameter(choice(
                "responses",
                &["line", "expression"],
                "What a response is: a line that is not blank, as for the official trace executors, or an atom or list.",
            ))
            .parameter(choice(
                "after-wrong",
                ways,
                "What a wrong answer does. SMT-COMP 2012 §5: it ends the run; 2014 §6.1 has more than one in a run.",
            ))
            .parameter(choice(
                "after-unknown",
                &["stop", "continue", "shorten"],
                "What the answer unknown does. SMT-COMP 2012 §5: it ends the run. `shorten`: the run goes on, and ends one \
                 check earlier for every such answer, as with the trace executor of 2014.",
            ))
            .parameter(choice(
                "after-error",
                ways,
                "What an erroneous response does, and output that nobody asked for. SMT-COMP 2012 §5: an unexpected answer \
                 ends the run; 2014 §6.1 counts them. Where the run goes on after errors, the dialogue does after wrong and \
                 unknown answers too, and what follows does not count.",
            ))
            .parameter(choice(
                "unknown-status",
                &["stop", "ignore", "count"],
                "What is done at a check whose right answer is not known: the run ends before it, as with the trace \
                 executors since 2014; its answer is neither right nor wrong; or sat and unsat are right.",
            ))
            .parameter(choice(
                "unsupported",
                &["accept", "refuse"],
                "Whether `unsupported` is a response like `success`. SMT-LIB allows it; SMT-COMP 2012 §3.3 asks for success.",
            ))
            .parameter(choice(
                "error-channel",
                &["ignore", "remark", "void"],
                "What output on standard error does: nothing, a remark, or no right answer counts. SMT-COMP 2022 §5.3 \
                 forbids it; the trace executor drops it.",
            ))
            .parameter(
                Parameter::text(
                    "patience",
                    "How long a solver may go on after the last command, with ms or s; then it is ended, which is no limit.",
                )
                .default(defaults["patience"].clone()),
            )
            .field(Field::number("check_sats", "check-sat commands in the benchmark.").needs(Fidelity::Columns))
            .field(Field::number("correct_answers", "Right answers before the run ended.").needs(Fidelity::Columns))
            .field(Field::number("wrong_answers", "Wrong answers.").needs(Fidelity::Columns))
            .field(
                Field::number("erroneous_responses", "Erroneous responses to any command; wrong answers are among them.")
                    .optional(),
            )
            .field(
                Field::time("response_time", "Time taken to respond, over all commands.")
                    .optional(),
            )
            .field(Field::time("response_cpu_time", "CPU time taken to respond, over all commands.").optional())
            .field(Field::time("check_time", "Time taken to respond, over all check-sat commands.").optional())
            .field(Field::time("correct_time", "Time taken for the right answers.").optional())
            .field(Field::time("correct_cpu_time", "CPU time taken for the right answers.").optional())
            .field(Field::number("commands", "Commands that were answered, check-sat among them.").optional())
            .field(Field::number("unknown_answers", "Answers unknown.").optional())
            .field(
                Field::number("unjudged_answers", "Answers sat or unsat of which nobody knows whether they are right.")
                    .optional(),
            )
            .field(Field::flag("timed_out", "Whether a limit of time ended the run.").optional())
            .field(
                Field::words("reason", Reason::ALL.map(Reason::word), "Where and why the run ended.").optional(),
            )
            .artifact(CHECKS, "The table of checks: CSV with the answer, wall-clock and CPU time of each.")
    }

    fn open(parameters: Parameters) -> Result<Self, Fault> {
        if parameters.patience_ns().is_none() {
            let text =
                format!("the patience is a whole number with ms or s, as `500 ms`, not {:?}", parameters.patience);
            return Err(Fault::new(Status::BadParameter, text).at("/patience"));
        }
        Ok(Self { parameters })
    }

    fn prepare(&self, job: &Job<'_>, plan: &Plan<'_>) -> Result<(), Fault> {
        let (trace, statuses) = open(&job.benchmark)?;
        plan::emit(trace, statuses.as_deref(), &self.parameters, plan)
    }

    fn judge(&self, job: &Job<'_>, observation: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
        if let Some(archived) = archived(observation)? {
            for (name, value) in archived.columns {
                out.count(name, value)?;
            }
            let run = Run::of(job, observation);
            let condition = agon_judging::ending(&run).condition;
            let blame = if condition == Condition::Finished { Blame::None } else { Blame::Entrant };
            return out.verdict(archived.answer, archived.soundness, condition, blame);
        }
        let (verdict, entries) = self.verdict(job, observation)?;
        out.count("check_sats", verdict.checks.len() as u64)?;
        out.count("correct_answers", verdict.correct)?;
        out.count("wrong_answers", verdict.wrong)?;
        out.count("erroneous_responses", verdict.erroneous)?;
        out.count("unknown_answers", verdict.unknown)?;
        out.count("unjudged_answers", verdict.unjudged)?;
        out.count("commands", verdict.commands)?;
        out.time("response_time", verdict.response_ns)?;
        out.time("check_time", verdict.check_ns)?;
        out.time("correct_time", verdict.correct_ns)?;
        if let Some(cpu) = verdict.response_cpu_ns {
            out.time("response_cpu_time", cpu)?;
        }
        if let Some(cpu) = verdict.correct_cpu_ns {
            out.time("correct_cpu_time", cpu)?;
        }
        out.flag("timed_out", verdict.timed_out())?;
        out.word("reason", verdict.reason.word())?;
        for remark in &verdict.remarks {
            out.diagnostic(Level::Note, verdict.reason.word(), remark)?;
        }
        if let Some((at, why)) = &verdict.decided {
            out.evidence_of(&place(&entries, *at, why))?;
        }
        out.artifact(CHECKS, "csv", table(&verdict, &entries))?;
        out.verdict(verdict.answer(), verdict.soundness(), verdict.condition, verdict.blame)
    }

    fn explain(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        _judgement: &Judgement<'_>,
        _validations: &[Validation<'_>],
        out: &Explanation<'_>,
    ) -> Result<(), Fault> {
        if archived(observation)?.is_some() {
            return out.text("The result is known by its columns only.");
        }
        let (verdict, _) = self.verdict(job, observation)?;
        out.text(&explain(&verdict))
    }
}

impl Incremental {
    fn verdict(&self, job: &Job<'_>, observation: &Observation<'_>) -> Result<(judging::Verdict, Vec<Entry>), Fault> {
        let mut entries = Vec::new();
        let mut dismissed = false;
        for (position, step) in observation.steps.iter().enumerate() {
            let class = match (step.kind, step.label) {
                (StepKind::Command, _) => {
                    dismissed |= step.step == plan::SOLVE && step.outcome == StepOutcome::Stopped;
                    continue;
                }
                (StepKind::Expect, label) => label.and_then(Class::of),
            };
            let Some(class) = class else { continue };
            let mut response = vec![0; RESPONSE];
            let length = step.response.read_at(0, &mut response)?;
            response.truncate(length);
            entries.push(Entry {
                class,
                label: step.label.unwrap_or_default().to_string(),
                position: u32::try_from(position).unwrap_or(u32::MAX),
                outcome: step.outcome,
                answers: step.answers,
                refused: step.refused,
                sent_ns: step.sent_ns,
                waited_ns: step.waited_ns,
                cpu_ns: step.cpu_ns,
                response,
            });
        }
        let expected = expected(&job.benchmark)?;
        let errors = observation.stderr.and_then(|errors| errors.size()).unwrap_or(0);
        let run = Run::of(job, observation);
        Ok((judge(&run, &entries, &expected, dismissed, errors, &self.parameters), entries))
    }
}

fn place(entries: &[Entry], at: usize, note: &str) -> agon_sdk::values::Evidence {
    let entry = entries.get(at);
    agon_sdk::values::Evidence {
        stream: Stream::Step,
        step: entry.map_or(0, |entry| entry.position),
        from: 0,
        to: entry.map_or(0, |entry| entry.response.len() as u64),
        note: note.to_string(),
    }
}

type Opened<'a> = (Trace<Box<dyn std::io::Read + 'a>>, Option<Vec<Answer>>);

/// The benchmark's commands, and the answers that the host expects; those before the script win.
fn open<'a>(benchmark: &Benchmark<'a>) -> Result<Opened<'a>, Fault> {
    let content = benchmark.content;
    let trace = Trace::new(|from| from_byte(content, from)).map_err(plan::fault)?;
    if trace.states_answers() || benchmark.statuses.is_empty() {
        return Ok((trace, None));
    }
    let statuses: Option<Vec<Answer>> = benchmark.statuses.iter().map(|word| Answer::of(word)).collect();
    let statuses = statuses.ok_or_else(|| {
        let words = benchmark.statuses.join(" ");
        Fault::new(Status::BadBenchmark, format!("the statuses `{words}` are not all sat, unsat or unknown"))
            .hint("correct them in the index")
    })?;
    Ok((trace, Some(statuses)))
}

/// The right answers of all checks.
fn expected(benchmark: &Benchmark<'_>) -> Result<Vec<Answer>, Fault> {
    let (mut trace, statuses) = open(benchmark)?;
    if let Some(statuses) = statuses {
        return Ok(statuses);
    }
    let mut found = Vec::new();
    while let Some(placed) = trace.next_command().map_err(plan::fault)? {
        if let Command::Check(answer) = placed.command {
            found.push(answer);
        }
    }
    Ok(found)
}

/// A reader that begins at a byte.
fn from_byte<'a>(content: Reader<'a>, from: u64) -> Box<dyn std::io::Read + 'a> {
    struct At<'a> {
        content: Reader<'a>,
        at: u64,
    }
    impl std::io::Read for At<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.content.read_at(self.at, buffer).map_err(|fault| std::io::Error::other(fault.message))?;
            self.at += count as u64;
            Ok(count)
        }
    }
    Box::new(At { content, at: from })
}

/// A result of which only the columns are left.
struct Archived {
    answer: &'static str,
    soundness: Soundness,
    columns: Vec<(&'static str, u64)>,
}

fn archived(observation: &Observation<'_>) -> Result<Option<Archived>, Fault> {
    if observation.stdout.is_some() {
        return Ok(None);
    }
    let needed = || {
        Fault::new(
            Status::Unsupported,
            "a run is judged by the log of its dialogue, and neither that nor its counts are known",
        )
        .hint("score archived results by their columns")
    };
    let columns = observation.columns.as_ref().ok_or_else(needed)?.json()?;
    let number = |name: &str| columns.get(name).and_then(serde_json::Value::as_u64).ok_or_else(needed);
    let (all, correct, wrong) = (number("check_sats")?, number("correct_answers")?, number("wrong_answers")?);
    Ok(Some(Archived {
        answer: match correct {
            0 => "none",
            n if n == all => "all",
            _ => "some",
        },
        soundness: match (wrong, correct) {
            (1.., _) => Soundness::Contradicts,
            (0, 1..) => Soundness::Agrees,
            (0, 0) => Soundness::NotApplicable,
        },
        columns: vec![("check_sats", all), ("correct_answers", correct), ("wrong_answers", wrong)],
    }))
}

agon_sdk::export!(Incremental, linkable);
