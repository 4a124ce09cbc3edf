//! The track as a plugin: what it declares, and the way from the host's values to a verdict and back.

use agon_judging::{Answer, Run, read_through};
use agon_sdk::prelude::*;

use crate::judging::{self, Parameters, Reading, Reason, Transcript, explain, judge};

/// The single-query track.
#[derive(Debug)]
pub struct SingleQuery {
    parameters: Parameters,
}

/// The words for answers and statuses.
const ANSWERS: [&str; 3] = ["sat", "unsat", "unknown"];

impl Track for SingleQuery {
    const ID: &'static str = "single-query";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const VENDOR: &'static str = "Agon";
    type Params = Parameters;

    fn describe() -> Description {
        let defaults = serde_json::to_value(Parameters::default()).unwrap_or_default();
        let choice = |name: &str, words: &[&str], doc: &str| {
            Parameter::words(name, words.iter().copied(), doc).default(defaults[name].clone())
        };
        let weights = &["count", "ignore"];
        Description::new("One check-sat a benchmark; the answer is compared with the benchmark's status.")
            .parameter(choice(
                "answers",
                &["first", "last", "agreeing", "one"],
                "Which of several answers counts: the first, the last, the one that all are, or none unless it is the only one.",
            ))
            .parameter(choice(
                "after-error",
                weights,
                "What an answer after an (error …) is worth. Some solvers go on without the command that failed.",
            ))
            .parameter(choice(
                "other-output",
                &["decides", "skip"],
                "What a response before the answer does that is no answer, no error and not success: it stands in the \
                 answer's place (SMT-COMP 2022 §5.2 Post-Processor; 2014 §4.2 Aborts), or is passed over.",
            ))
            .parameter(choice(
                "error-channel",
                weights,
                "What an answer on standard error is worth. SMT-COMP 2022 §5.2 asks for it on standard output; §5.1 says that \
                 there is no distinction between the two.",
            ))
            .parameter(choice(
                "after-time-limit",
                weights,
                "What the answer of a run that reached a limit of time is worth. SMT-COMP 2014 §4.2: a time-out is unknown; \
                 2022 §7.1.2: a response is taken into consideration even then.",
            ))
            .parameter(choice(
                "after-memory-limit",
                weights,
                "What the answer of a run that reached its memory limit is worth.",
            ))
            .parameter(choice("after-crash", weights, "What an answer before a crash is worth."))
            .parameter(choice(
                "spaces",
                &["tolerate", "strict"],
                "What white space around an answer, or a comment after it, does.",
            ))
            .parameter(choice(
                "line-rest",
                &["refuse", "ignore"],
                "What other text after an answer on its line does. The post-processor of SMT-COMP 2022 ignores it.",
            ))
            .parameter(choice("letters", &["lower", "any"], "Whether upper-case letters make an answer."))
            .parameter(choice("byte-order-mark", &["refuse", "skip"], "What a byte-order mark before the first line does."))
            .field(
                Field::words("answer", ANSWERS, "What the solver answered; unknown if it gave no answer.")
                    .needs(Fidelity::Columns),
            )
            .field(
                Field::words("status", ANSWERS, "The benchmark's status, as known when the run is judged.")
                    .needs(Fidelity::Columns),
            )
            .field(
                Field::words("claim", ANSWERS, "What the output says, whether or not the rules let it count.").optional(),
            )
            .field(
                Field::words("reason", Reason::ALL.map(Reason::word), "Why the answer is what it is.").optional(),
            )
            .field(Field::number("answers", "Answers in the output, whether they count or not.").optional())
            .field(Field::number("errors", "Responses (error …) in the output.").optional())
    }

    fn open(parameters: Parameters) -> Result<Self, Fault> {
        Ok(Self { parameters })
    }

    fn judge(&self, job: &Job<'_>, observation: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
        let verdict = self.verdict(job, observation, out)?;
        out.word("status", verdict.status.word())?;
        out.word("claim", verdict.reading.answer.unwrap_or(Answer::Unknown).word())?;
        out.word("reason", verdict.reason.word())?;
        out.count("answers", verdict.reading.answers)?;
        out.count("errors", verdict.reading.errors)?;
        for e in &verdict.reading.evidence {
            out.evidence(stream(e.stream), e.at.from, e.at.to, &e.note)?;
        }
        for remark in &verdict.remarks {
            out.diagnostic(Level::Note, verdict.reason.word(), remark)?;
        }
        out.verdict(verdict.answer.word(), verdict.soundness, verdict.condition, verdict.blame)
    }

    fn explain(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        _judgement: &Judgement<'_>,
        _validations: &[Validation<'_>],
        out: &Explanation<'_>,
    ) -> Result<(), Fault> {
        let verdict = self.verdict(job, observation, out)?;
        for e in &verdict.reading.evidence {
            out.evidence(stream(e.stream), e.at.from, e.at.to, &e.note)?;
        }
        out.text(&explain(&verdict))
    }
}

impl SingleQuery {
    fn verdict(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        sink: &agon_sdk::output::Sink<'_>,
    ) -> Result<judging::Verdict, Fault> {
        let read = |reader: Reader<'_>, stream| {
            let mut transcript = Transcript::new(self.parameters, stream);
            read_through(reader, sink, |piece| transcript.read(piece))?;
            Ok::<_, Fault>(transcript.finish(reader.truncated()))
        };
        let stdout = match (observation.stdout, &observation.columns) {
            (Some(stdout), _) => read(stdout, judging::Stream::Stdout)?,
            (None, Some(columns)) => archived(columns.json()?.get("answer").and_then(|a| a.as_str()))?,
            (None, None) => return Err(needs_output()),
        };
        let stderr = observation.stderr.map(|stderr| read(stderr, judging::Stream::Stderr)).transpose()?;
        Ok(judge(&Run::of(job, observation), stdout, stderr, &job.benchmark.statuses, &self.parameters))
    }
}

/// The answer of an archived result, whose output is not kept.
fn archived(word: Option<&str>) -> Result<Reading, Fault> {
    let answer = word.and_then(Answer::of).ok_or_else(needs_output)?;
    let reason = Reason::Given;
    Ok(Reading { answer: Some(answer), reason, answers: 1, errors: 0, others: 0, evidence: Vec::new() })
}

fn needs_output() -> Fault {
    Fault::new(
        Status::InvalidArgument,
        "a run is judged by its standard output, and neither that nor an answer is known",
    )
    .hint("score archived results by their columns")
}

fn stream(stream: judging::Stream) -> Stream {
    match stream {
        judging::Stream::Stdout => Stream::Out,
        judging::Stream::Stderr => Stream::Errors,
    }
}

agon_sdk::export!(SingleQuery, linkable, describes = include_str!("../../../schemas/plugins/single-query.json"));
