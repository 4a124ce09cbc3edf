//! What a run of the incremental track is worth: answers counted, times added up, and how it ended.

use agon_judging::{Answer, Blame, Condition, Limit, Run, Soundness, ending};
use agon_sdk::values::StepOutcome;

use crate::parameters::{After, AfterUnknown, ErrorChannel, Parameters, UnknownStatus};
use crate::plan::{Class, accepts};

/// An entry of the host's log: a check, or commands before one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is about.
    pub class: Class,
    /// Its name in the log.
    pub label: String,
    /// Its position in the log.
    pub position: u32,
    /// How it ended.
    pub outcome: StepOutcome,
    /// Responses that came.
    pub answers: u64,
    /// Those of them that were not accepted, and output that nobody asked for.
    pub refused: u64,
    /// When the first command was sent, in nanoseconds from the start of the run.
    pub sent_ns: u64,
    /// Time between commands and responses.
    pub waited_ns: u64,
    /// CPU time from the first command to the last response.
    pub cpu_ns: Option<u64>,
    /// The beginning of the response that is kept.
    pub response: Vec<u8>,
}

/// What a response says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// An answer to a check.
    Answer(Answer),
    /// `(error …)`.
    Error,
    /// Anything else.
    Other,
}

impl Said {
    /// What these bytes say.
    pub fn of(response: &[u8]) -> Self {
        match response.trim_ascii() {
            b"sat" => Self::Answer(Answer::Sat),
            b"unsat" => Self::Answer(Answer::Unsat),
            b"unknown" => Self::Answer(Answer::Unknown),
            // Some say why.
            text if text.strip_prefix(b"unknown").is_some_and(|rest| rest.starts_with(b" (")) => {
                Self::Answer(Answer::Unknown)
            }
            text if text.strip_prefix(b"(").is_some_and(|list| list.trim_ascii_start().starts_with(b"error")) => {
                Self::Error
            }
            _ => Self::Other,
        }
    }

    /// The word for it in the table of checks.
    pub fn word(self) -> &'static str {
        match self {
            Self::Answer(answer) => answer.word(),
            Self::Error => "error",
            Self::Other => "other",
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The right answer.
    Right,
    /// The wrong one.
    Wrong,
    /// The answer unknown.
    Unknown,
    /// An answer of which it is not known whether it is right.
    Unjudged,
    /// A response that is no answer.
    Erroneous,
    /// None, though it was asked.
    Unanswered,
    /// It was not asked, or does not count any more.
    NotRun,
}

impl Outcome {
    /// The word for it in the table of checks.
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unknown => "unknown",
            Self::Unjudged => "unjudged",
            Self::Erroneous => "erroneous",
            Self::Unanswered => "unanswered",
            Self::NotRun => "not-run",
        }
    }
}

/// Where and why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// After the last check.
    Completed,
    /// At a wrong answer.
    WrongAnswer,
    /// At the answer unknown.
    UnknownAnswer,
    /// At a check whose right answer is not known.
    UnknownStatus,
    /// At an erroneous response.
    ErroneousResponse,
    /// The solver's output ended.
    NoAnswer,
    /// At a limit.
    Limit,
    /// Nothing counts, because of output on standard error.
    ErrorChannel,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Completed,
        Self::WrongAnswer,
        Self::UnknownAnswer,
        Self::UnknownStatus,
        Self::ErroneousResponse,
        Self::NoAnswer,
        Self::Limit,
        Self::ErrorChannel,
    ];

    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::WrongAnswer => "wrong-answer",
            Self::UnknownAnswer => "unknown-answer",
            Self::UnknownStatus => "unknown-status",
            Self::ErroneousResponse => "erroneous-response",
            Self::NoAnswer => "no-answer",
            Self::Limit => "limit",
            Self::ErrorChannel => "error-channel",
        }
    }
}

/// A check and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its entry's position in the log; none if it was not part of the dialogue.
    pub entry: Option<usize>,
    /// The right answer.
    pub expected: Answer,
    /// What came of it.
    pub outcome: Outcome,
    /// What was said.
    pub said: Option<Said>,
    /// Commands that were answered since the check before, and the time and CPU time that took.
    pub commands: (u64, u64, Option<u64>),
}

/// The judgement of a run. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The checks of the script, in order.
    pub checks: Vec<Check>,
    /// Right answers.
    pub correct: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Answers unknown.
    pub unknown: u64,
    /// Answers of which it is not known whether they are right.
    pub unjudged: u64,
    /// Erroneous responses to any command; wrong answers are among them.
    pub erroneous: u64,
    /// Commands that were answered, checks among them.
    pub commands: u64,
    /// Time until responses came, over all commands.
    pub response_ns: u64,
    /// CPU time meanwhile, if it was measured.
    pub response_cpu_ns: Option<u64>,
    /// The same over all checks.
    pub check_ns: u64,
    /// The same over the checks that were answered rightly.
    pub correct_ns: u64,
    /// CPU time meanwhile, if it was measured.
    pub correct_cpu_ns: Option<u64>,
    /// Where and why the run ended.
    pub reason: Reason,
    /// How it ended, apart from its answers.
    pub condition: Condition,
    /// Whom that is to be laid to.
    pub blame: Blame,
    /// The place in the log that decided, and what it shows.
    pub decided: Option<(usize, String)>,
    /// Remarks, as sentences.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Whether the answers are right.
    pub fn soundness(&self) -> Soundness {
        match (self.wrong, self.correct, self.unjudged) {
            (1.., ..) => Soundness::Contradicts,
            (0, 1.., _) => Soundness::Agrees,
            (0, 0, 1..) => Soundness::Unverified,
            (0, 0, 0) => Soundness::NotApplicable,
        }
    }

    /// How much was answered.
    pub fn answer(&self) -> &'static str {
        match self.correct + self.unjudged {
            0 => "none",
            n if n == self.checks.len() as u64 => "all",
            _ => "some",
        }
    }

    /// Whether a limit of time ended the run.
    pub fn timed_out(&self) -> bool {
        matches!(self.condition, Condition::CpuLimit | Condition::WallLimit)
    }
}

/// Adds what may be unknown.
fn sum(all: Option<u64>, one: Option<u64>) -> Option<u64> {
    Some(all? + one?)
}

/// Judges a run: `entries` are the log of its dialogue, `expected` the right answers, `dismissed` says that the host ended
/// the solver after the dialogue, `errors` how much it wrote on standard error.
pub fn judge(
    run: &Run,
    entries: &[Entry],
    expected: &[Answer],
    dismissed: bool,
    errors: u64,
    parameters: &Parameters,
) -> Verdict {
    let mut v = Verdict {
        checks: Vec::new(),
        correct: 0,
        wrong: 0,
        unknown: 0,
        unjudged: 0,
        erroneous: 0,
        commands: 0,
        response_ns: 0,
        response_cpu_ns: Some(0),
        check_ns: 0,
        correct_ns: 0,
        correct_cpu_ns: Some(0),
        reason: Reason::Completed,
        condition: Condition::Finished,
        blame: Blame::None,
        decided: None,
        remarks: Vec::new(),
    };
    let known = expected.iter().take_while(|status| **status != Answer::Unknown).count() as u64;
    let mut allowed = match parameters.unknown_status {
        UnknownStatus::Stop => known,
        _ => u64::MAX,
    };
    if parameters.after_unknown == AfterUnknown::Shorten {
        allowed = allowed.min(expected.len() as u64);
    }
    let mut before = (0, 0, Some(0));
    let mut over = false;
    for (at, entry) in entries.iter().enumerate() {
        let check = entry.class == Class::Check;
        let status = expected.get(v.checks.len()).copied().unwrap_or(Answer::Unknown);
        if entry.outcome == StepOutcome::NotRun && !over {
            // The run was over before the dialogue came to it.
            v.reason = if run.stopped == Limit::None { Reason::NoAnswer } else { Reason::Limit };
            over = true;
        }
        over |= check && v.checks.len() as u64 >= allowed;
        if over {
            if check {
                let entry = (entry.outcome != StepOutcome::NotRun).then_some(at);
                v.checks.push(Check {
                    entry,
                    expected: status,
                    outcome: Outcome::NotRun,
                    said: None,
                    commands: before,
                });
                before = (0, 0, Some(0));
            }
            continue;
        }
        v.commands += entry.answers;
        v.response_ns += entry.waited_ns;
        v.response_cpu_ns = sum(v.response_cpu_ns, entry.cpu_ns);
        let stop = if check {
            v.check_ns += entry.waited_ns;
            let stop = v.check(at, entry, status, parameters);
            if let Some(check) = v.checks.last_mut() {
                check.commands = std::mem::replace(&mut before, (0, 0, Some(0)));
                allowed -= u64::from(
                    check.outcome == Outcome::Unknown
                        && parameters.after_unknown == AfterUnknown::Shorten
                        && allowed > 0,
                );
            }
            stop
        } else {
            before = (before.0 + entry.answers, before.1 + entry.waited_ns, sum(before.2, entry.cpu_ns));
            let bad = match entry.class {
                Class::Print if entry.answers > 0 && Said::of(&entry.response) == Said::Error => entry.refused + 1,
                _ => entry.refused,
            };
            v.erroneous += bad;
            (bad > 0).then_some((Reason::ErroneousResponse, "is no expected response"))
        };
        let stop = stop.filter(|(reason, _)| match reason {
            Reason::WrongAnswer => parameters.after_wrong == After::Stop,
            Reason::UnknownAnswer => parameters.after_unknown == AfterUnknown::Stop,
            _ => parameters.after_error == After::Stop,
        });
        let ended = match entry.outcome {
            StepOutcome::Eof => Some((Reason::NoAnswer, "is all that came before the output ended")),
            StepOutcome::Limit => Some((Reason::Limit, "is all that came before the limit")),
            // The host ends the dialogue where the plan says so.
            StepOutcome::Stopped => Some((Reason::ErroneousResponse, "is no expected response")),
            _ => None,
        };
        if let Some((reason, what)) = stop.or(ended) {
            v.reason = reason;
            let shown = String::from_utf8_lossy(&entry.response).escape_debug().to_string();
            v.decided = Some((at, format!("`{shown}` {what} ({}).", entry.label)));
            over = true;
        }
    }
    // Checks that the dialogue left out.
    for status in expected.iter().skip(v.checks.len()) {
        let none = (0, 0, Some(0));
        v.checks.push(Check { entry: None, expected: *status, outcome: Outcome::NotRun, said: None, commands: none });
    }
    if v.reason == Reason::Completed && allowed < v.checks.len() as u64 {
        v.reason = if allowed < known { Reason::UnknownAnswer } else { Reason::UnknownStatus };
    }
    v.end(run, dismissed, errors, parameters);
    v
}

impl Verdict {
    /// Counts a check; why the run might end at it.
    fn check(
        &mut self,
        at: usize,
        entry: &Entry,
        expected: Answer,
        parameters: &Parameters,
    ) -> Option<(Reason, &'static str)> {
        let said = Said::of(&entry.response);
        // Of what was not accepted the first is kept; where that would have been accepted, it was not asked for.
        let asked = |said| matches!(said, Said::Answer(answer) if accepts(parameters, answer, expected));
        let unasked = entry.refused > entry.answers || (entry.refused > 0 && asked(said));
        let (outcome, stop) = match said {
            // What was there before the question is no answer to it.
            _ if unasked => (Outcome::Erroneous, Some((Reason::ErroneousResponse, "was there before the question"))),
            _ if entry.answers == 0 => (Outcome::Unanswered, None),
            Said::Answer(Answer::Unknown) => {
                self.unknown += 1;
                (Outcome::Unknown, Some((Reason::UnknownAnswer, "is the answer")))
            }
            Said::Answer(answer) if expected == Answer::Unknown => {
                if parameters.unknown_status == UnknownStatus::Count {
                    (Outcome::Right, None)
                } else {
                    self.unjudged += u64::from(answer != Answer::Unknown);
                    (Outcome::Unjudged, None)
                }
            }
            Said::Answer(answer) if answer == expected => (Outcome::Right, None),
            Said::Answer(_) => {
                self.wrong += 1;
                self.erroneous += 1;
                (Outcome::Wrong, Some((Reason::WrongAnswer, "is the wrong answer")))
            }
            Said::Error | Said::Other => {
                (Outcome::Erroneous, Some((Reason::ErroneousResponse, "is no answer to a check-sat")))
            }
        };
        self.erroneous += if outcome == Outcome::Erroneous { entry.refused.max(1) } else { 0 };
        if outcome == Outcome::Right {
            self.correct += 1;
            self.correct_ns += entry.waited_ns;
            self.correct_cpu_ns = sum(self.correct_cpu_ns, entry.cpu_ns);
        }
        let said = (entry.answers > 0).then_some(said);
        self.checks.push(Check { entry: Some(at), expected, outcome, said, commands: (0, 0, Some(0)) });
        stop
    }

    /// Says how the run ended.
    fn end(&mut self, run: &Run, dismissed: bool, errors: u64, parameters: &Parameters) {
        let end = ending(run);
        // Whom the host ended after the dialogue has not crashed.
        self.condition = if dismissed { Condition::Finished } else { end.condition };
        if dismissed {
            self.remarks.push("The solver went on after its input had ended, and was ended by the host.".into());
        } else if self.condition != Condition::Finished {
            self.remarks.push(end.why.clone());
        }
        if self.condition == Condition::Finished {
            match self.reason {
                Reason::ErroneousResponse => self.condition = Condition::MalformedOutput,
                Reason::NoAnswer => {
                    self.condition = Condition::Crashed;
                    self.remarks.push(format!("The solver's output ended before its answer. {}", end.why));
                }
                _ => {}
            }
        }
        if errors > 0 && parameters.error_channel != ErrorChannel::Ignore {
            self.remarks.push(format!("The solver wrote {errors} bytes on standard error."));
            if parameters.error_channel == ErrorChannel::Void {
                self.remarks.push(format!("Therefore none of its {} right answers counts.", self.correct));
                self.correct = 0;
                self.correct_ns = 0;
                self.correct_cpu_ns = Some(0);
                self.reason = Reason::ErrorChannel;
                if self.condition == Condition::Finished {
                    self.condition = Condition::MalformedOutput;
                }
            }
        }
        self.blame = if self.condition == Condition::Finished { Blame::None } else { Blame::Entrant };
    }
}

/// What is shown to a person who asks why, as plain text.
pub fn explain(verdict: &Verdict) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} of {} checks answered rightly, {} wrongly, {} with unknown; {} erroneous responses. Ended: {}. Condition {}, \
         blame {}.",
        verdict.correct,
        verdict.checks.len(),
        verdict.wrong,
        verdict.unknown,
        verdict.erroneous,
        verdict.reason.word(),
        verdict.condition.word(),
        verdict.blame.word(),
    );
    if let Some((_, why)) = &verdict.decided {
        let _ = writeln!(text, "{why}");
    }
    for remark in &verdict.remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}
