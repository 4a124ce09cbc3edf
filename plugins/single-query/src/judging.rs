//! What a run of the single-query track is worth: answer, soundness, condition and blame.

use agon_judging::{Answer, Blame, Condition, Limit, Run, Soundness, ending, one_status, soundness};
use serde::{Deserialize, Serialize};

use crate::reading::{Kind, Reader, Response, Span, Syntax};

/// What an edition may choose. The defaults read an output as the 2022 rules and their post-processor do (§5.1 Output,
/// §5.2 Post-Processor), except that an answer must stand alone on its line, and that a time-out voids it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Parameters {
    /// Which of several answers counts.
    pub answers: Answers,
    /// What an answer after an `(error …)` is worth.
    pub after_error: Weight,
    /// What a response before the answer does that is none of the expected ones.
    pub other_output: OtherOutput,
    /// What an answer on standard error is worth.
    pub error_channel: Weight,
    /// What the answer of a run that reached a limit of time is worth.
    pub after_time_limit: Weight,
    /// What the answer of a run that reached its memory limit is worth.
    pub after_memory_limit: Weight,
    /// What an answer before a crash is worth.
    pub after_crash: Weight,
    /// White space around the answer.
    pub spaces: crate::reading::Spaces,
    /// Other text on the answer's line.
    pub line_rest: crate::reading::LineRest,
    /// Upper-case letters.
    pub letters: crate::reading::Letters,
    /// A byte-order mark before the first line.
    pub byte_order_mark: crate::reading::ByteOrderMark,
}

impl Default for Parameters {
    fn default() -> Self {
        let syntax = Syntax::default();
        Self {
            answers: Answers::First,
            after_error: Weight::Ignore,
            other_output: OtherOutput::Decides,
            error_channel: Weight::Ignore,
            after_time_limit: Weight::Ignore,
            after_memory_limit: Weight::Count,
            after_crash: Weight::Count,
            spaces: syntax.spaces,
            line_rest: syntax.line_rest,
            letters: syntax.letters,
            byte_order_mark: syntax.byte_order_mark,
        }
    }
}

impl Parameters {
    /// The part that says what an answer looks like.
    pub fn syntax(&self) -> Syntax {
        Syntax {
            spaces: self.spaces,
            line_rest: self.line_rest,
            letters: self.letters,
            byte_order_mark: self.byte_order_mark,
        }
    }
}

/// Which of several answers counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// The first one.
    First,
    /// The last one.
    Last,
    /// All, if they are the same; otherwise none.
    Agreeing,
    /// None, unless it is the only one.
    One,
}

/// Whether something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// It counts.
    Count,
    /// It is ignored.
    Ignore,
}

/// What a response does that is no answer, no error and not `success`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherOutput {
    /// It stands in the place of the answer: nothing after it counts.
    Decides,
    /// It is passed over.
    Skip,
}

/// Why the answer is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It was given.
    Given,
    /// There was no answer.
    NoAnswer,
    /// It came after an `(error …)`.
    AfterError,
    /// It came after a response of another kind.
    OtherOutput,
    /// There were several.
    SeveralAnswers,
    /// The output was cut, and the answer was at the cut.
    Cut,
    /// A limit of time was reached.
    TimeLimit,
    /// The memory limit was reached.
    MemoryLimit,
    /// The run crashed.
    Crash,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Given,
        Self::NoAnswer,
        Self::AfterError,
        Self::OtherOutput,
        Self::SeveralAnswers,
        Self::Cut,
        Self::TimeLimit,
        Self::MemoryLimit,
        Self::Crash,
    ];

    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::NoAnswer => "no-answer",
            Self::AfterError => "after-error",
            Self::OtherOutput => "other-output",
            Self::SeveralAnswers => "several-answers",
            Self::Cut => "cut",
            Self::TimeLimit => "time-limit",
            Self::MemoryLimit => "memory-limit",
            Self::Crash => "crash",
        }
    }
}

/// An output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A place in an output stream and what it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The stream.
    pub stream: Stream,
    /// The place.
    pub at: Span,
    /// What it shows, as one sentence.
    pub note: String,
}

/// What the output says, before it is asked how the run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The answer, if one counts.
    pub answer: Option<Answer>,
    /// Why it does, or why none does.
    pub reason: Reason,
    /// Answers in all, whether they count or not.
    pub answers: u64,
    /// Errors in all.
    pub errors: u64,
    /// Responses that are neither answers nor errors nor `success`.
    pub others: u64,
    /// The places that decided.
    pub evidence: Vec<Evidence>,
}

/// The judgement of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The answer that counts.
    pub answer: Answer,
    /// The benchmark's status.
    pub status: Answer,
    /// How the answer stands to the status.
    pub soundness: Soundness,
    /// How the run ended.
    pub condition: Condition,
    /// Whom it is to be laid to if the condition is not `finished`.
    pub blame: Blame,
    /// Why the answer is what it is.
    pub reason: Reason,
    /// What the output says by itself.
    pub reading: Reading,
    /// Remarks, as sentences.
    pub remarks: Vec<String>,
}

/// The places of interest of one stream, gathered while it is read.
#[derive(Debug, Default)]
struct Places {
    answers: u64,
    errors: u64,
    others: u64,
    /// The answers that nothing before them rules out.
    first: Option<(Answer, Response)>,
    last: Option<(Answer, Response)>,
    counted: u64,
    differ: Option<Response>,
    error: Option<Response>,
    other: Option<Response>,
    /// What rules out every later answer.
    barred: Option<(Reason, Response)>,
    /// The first answer that is ruled out.
    late: Option<(Answer, Response)>,
}

/// Reads one output stream under the parameters, a piece at a time.
#[derive(Debug)]
pub struct Transcript {
    parameters: Parameters,
    stream: Stream,
    reader: Reader,
    places: Places,
}

impl Transcript {
    /// At the start of a stream.
    pub fn new(parameters: Parameters, stream: Stream) -> Self {
        Self { parameters, stream, reader: Reader::new(parameters.syntax()), places: Places::default() }
    }

    /// Reads on.
    pub fn read(&mut self, piece: &[u8]) {
        let Self { parameters, reader, places, .. } = self;
        reader.read(piece, |response| places.take(parameters, response, false));
    }

    /// The stream has ended; `cut` says that it went on, but what followed was not kept.
    pub fn finish(mut self, cut: bool) -> Reading {
        let Self { parameters, reader, places, .. } = &mut self;
        let parameters = *parameters;
        let reader = std::mem::replace(reader, Reader::new(parameters.syntax()));
        reader.finish(|response| places.take(&parameters, response, cut));
        self.places.read(&parameters, self.stream)
    }
}

impl Places {
    fn take(&mut self, parameters: &Parameters, response: Response, cut: bool) {
        match response.kind {
            // What stands at the cut may be the beginning of something longer.
            Kind::Answer(_) | Kind::Success if cut && response.open => {
                self.bar(Reason::Cut, response);
            }
            Kind::Answer(answer) => {
                self.answers += 1;
                if self.barred.is_some() {
                    self.late.get_or_insert((answer, response));
                    return;
                }
                self.counted += 1;
                let (first, _) = *self.first.get_or_insert((answer, response));
                if first != answer {
                    self.differ.get_or_insert(response);
                }
                self.last = Some((answer, response));
            }
            Kind::Success => {}
            Kind::Error => {
                self.errors += 1;
                self.error.get_or_insert(response);
                if parameters.after_error == Weight::Ignore {
                    self.bar(Reason::AfterError, response);
                }
            }
            Kind::Other => {
                self.others += 1;
                self.other.get_or_insert(response);
                // After an answer, only a further answer is of interest: models, cores and statistics follow it.
                if parameters.other_output == OtherOutput::Decides && self.first.is_none() {
                    self.bar(Reason::OtherOutput, response);
                }
            }
        }
    }

    fn bar(&mut self, reason: Reason, response: Response) {
        self.barred.get_or_insert((reason, response));
    }

    fn read(self, parameters: &Parameters, stream: Stream) -> Reading {
        let mut evidence = Vec::new();
        let mut show = |response: Response, note: String| {
            let open = if response.open { " The output ends within it." } else { "" };
            evidence.push(Evidence { stream, at: response.at, note: format!("{note}{open}") });
        };
        let (answer, reason) = match (parameters.answers, self.first, self.last) {
            (_, None, _) | (_, _, None) => match self.barred {
                Some((reason, response)) if self.late.is_some() || reason != Reason::AfterError => {
                    show(response, format!("{} No answer after it counts.", barrier(reason)));
                    if let Some((late, response)) = self.late {
                        show(response, format!("The answer {} comes too late.", late.word()));
                    }
                    (None, reason)
                }
                Some((reason, response)) => {
                    show(response, barrier(reason).to_string());
                    (None, Reason::NoAnswer)
                }
                None => {
                    if let Some(response) = self.error {
                        show(response, barrier(Reason::AfterError).to_string());
                    }
                    (None, Reason::NoAnswer)
                }
            },
            (Answers::Agreeing, Some((first, at)), _) if self.differ.is_some() => {
                show(at, format!("The first answer is {}.", first.word()));
                if let Some(response) = self.differ {
                    show(response, "A later answer is another one, so that none counts.".into());
                }
                (None, Reason::SeveralAnswers)
            }
            (Answers::One, Some((first, at)), Some((_, later))) if self.counted > 1 => {
                show(at, format!("The first answer is {}.", first.word()));
                show(later, "There is a further answer, so that none counts.".into());
                (None, Reason::SeveralAnswers)
            }
            (Answers::Last, _, Some((last, at))) => {
                show(at, format!("The last answer is {}.", last.word()));
                (Some(last), Reason::Given)
            }
            (_, Some((first, at)), _) => {
                show(at, format!("The answer is {}.", first.word()));
                if let Some(response) = self.differ {
                    show(response, "A later answer is another one; the first counts.".into());
                }
                (Some(first), Reason::Given)
            }
        };
        Reading { answer, reason, answers: self.answers, errors: self.errors, others: self.others, evidence }
    }
}

fn barrier(reason: Reason) -> &'static str {
    match reason {
        Reason::AfterError => "The solver reports an error.",
        Reason::Cut => "The output was cut here, so that this may be the beginning of something longer.",
        _ => "This is neither an answer nor `success` nor a comment.",
    }
}

/// Reads a stream that is at hand as a whole.
pub fn read(output: &[u8], cut: bool, stream: Stream, parameters: &Parameters) -> Reading {
    let mut transcript = Transcript::new(*parameters, stream);
    transcript.read(output);
    transcript.finish(cut)
}

/// Judges a run. `stderr` is what standard error says; it is looked at only if the edition lets it count, and then only
/// if standard output has no answer: which of two answers on two streams came first is not known.
pub fn judge<S: AsRef<str>>(
    run: &Run,
    stdout: Reading,
    stderr: Option<Reading>,
    statuses: &[S],
    parameters: &Parameters,
) -> Verdict {
    let mut remarks = Vec::new();
    let mut reading = stdout;
    if let Some(errors) = stderr {
        let counts = parameters.error_channel == Weight::Count;
        match (reading.answer, errors.answer) {
            (None, Some(answer)) if counts && reading.reason != Reason::SeveralAnswers => {
                remarks.push(format!("The answer {} was given on standard error.", answer.word()));
                reading = errors;
            }
            (Some(first), Some(second)) if counts && first != second => {
                remarks.push(format!("Standard error says {}, standard output another answer.", second.word()));
                reading.evidence.extend(errors.evidence);
                reading.answer = None;
                reading.reason = Reason::SeveralAnswers;
            }
            (None, Some(answer)) => {
                remarks.push(format!("Standard error says {}; only standard output counts.", answer.word()));
            }
            _ => {}
        }
    }

    let end = ending(run);
    let (status, remark) = one_status(statuses);
    remarks.extend(remark);
    let voided = match end.condition {
        Condition::CpuLimit | Condition::WallLimit if parameters.after_time_limit == Weight::Ignore => {
            Some(Reason::TimeLimit)
        }
        Condition::MemoryLimit if parameters.after_memory_limit == Weight::Ignore => Some(Reason::MemoryLimit),
        Condition::Crashed if parameters.after_crash == Weight::Ignore => Some(Reason::Crash),
        _ => None,
    };
    let (answer, reason) = match (reading.answer, voided) {
        (Some(answer), Some(why)) if answer != Answer::Unknown => {
            remarks.push(format!("The answer {} does not count: {}", answer.word(), end.why));
            (Answer::Unknown, why)
        }
        (Some(answer), _) => (answer, reading.reason),
        (None, _) => (Answer::Unknown, reading.reason),
    };
    let mut condition = end.condition;
    if condition == Condition::Finished && reading.answer.is_none() {
        // "Solvers that exit before the time limit without reporting a result ... will be considered to have aborted"
        // (2022 §5.1 Output; 2014 and 2012 §4.2 Aborts and unparsable output).
        if run.exit.is_some_and(|code| code != 0) {
            condition = Condition::Crashed;
            remarks.push(format!("No answer counts. {}", end.why));
        } else if reading.errors + reading.others + reading.answers > 0 || reading.reason == Reason::Cut {
            condition = Condition::MalformedOutput;
        }
    } else if condition != Condition::Finished {
        remarks.push(end.why);
    }
    if condition == Condition::MalformedOutput && run.stopped == Limit::Output && reading.answer.is_some() {
        remarks.push("The answer stands before the place where the output was cut.".into());
    }
    if reading.answers > 1 {
        remarks.push(format!("The output holds {} answers to one check-sat.", reading.answers));
    }
    let blame = if condition == Condition::Finished { Blame::None } else { Blame::Entrant };
    Verdict { answer, status, soundness: soundness(answer, status), condition, blame, reason, reading, remarks }
}

/// What is shown to a person who asks why, as plain text.
pub fn explain(verdict: &Verdict) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let claim = verdict.reading.answer.map_or("none", Answer::word);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Answer {} ({}; the output says {claim}), status {}: {}. Condition {}, blame {}.",
        verdict.answer.word(),
        verdict.reason.word(),
        verdict.status.word(),
        verdict.soundness.word(),
        verdict.condition.word(),
        verdict.blame.word(),
    );
    for e in &verdict.reading.evidence {
        let stream = if e.stream == Stream::Stdout { "standard output" } else { "standard error" };
        let _ = writeln!(text, "{stream}, line {}, bytes {} to {}: {}", e.at.line, e.at.from, e.at.to, e.note);
    }
    for remark in &verdict.remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}
