//! Dialogues: from the script of a plugin's step to the one of the runner, and from the runner's log to the record's.
//!
//! A script says nothing of time; it is held within the limits of its run. Every expectation is timed, whether or not the
//! plugin marks it so. From `sent_ns`, when the last byte before it was written, to `answered_ns`, when the response was
//! complete, it includes the time in which the program reads what was sent; `cpu_ns` is the CPU time of all processes
//! between these two. An expectation that waits for the end of the output closes the program's input first, since
//! nothing can be answered after it. A response that is not accepted ends the script, not the program: its input ends,
//! and it is run to its own end or a limit.

use agon_execute::{Answer, Observation, Script, Step, StepLog, StepOutcome};
use agon_sdk::values::{self, Expect, Framing, ScriptEntry};
use agon_store::record::{self, LimitKind};
use agon_store::{Store, StoreError};

/// The script for the runner.
pub fn script(entries: &[ScriptEntry]) -> Script {
    let mut steps = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            ScriptEntry::Send(bytes) => steps.push(Step::Send(bytes.clone())),
            ScriptEntry::Expect(expect) => {
                if expect.framing == Framing::Eof {
                    steps.push(Step::Close);
                }
                steps.push(Step::Expect {
                    name: expect.label.clone(),
                    answer: match (expect.framing, expect.skip_blank) {
                        (Framing::Line, true) => Answer::Line,
                        (Framing::Line, false) => Answer::AnyLine,
                        (Framing::SExpression, _) => Answer::Expression,
                        (Framing::Eof, _) => Answer::Rest,
                    },
                    accept: expect
                        .stop_unless_accepted
                        .then(|| expect.accept.iter().map(|accepted| accepted.0.clone()).collect()),
                    wall: None,
                });
            }
        }
    }
    Script { steps, ..Script::default() }
}

/// The entries of a step's dialogue: one for each expectation, in order; those that were not reached say so. `seen` is
/// the run that the dialogue was part of, if it was run; `start_ns` is when the step began, from the start of the first one.
///
/// # Errors
/// If a response cannot be kept.
pub fn log(
    store: &Store,
    step: &values::Step,
    logged: &[StepLog],
    seen: Option<&Observation>,
    start_ns: u64,
) -> Result<Vec<record::Step>, StoreError> {
    let expected: Vec<&Expect> = step
        .script
        .iter()
        .filter_map(|entry| match entry {
            ScriptEntry::Expect(expect) => Some(expect),
            ScriptEntry::Send(_) => None,
        })
        .collect();
    let ended_ns = start_ns + seen.map_or(0, |seen| seen.wall_ns);
    let mut entries = Vec::with_capacity(expected.len());
    for (at, expect) in expected.iter().enumerate() {
        entries.push(match logged.get(at) {
            Some(one) => entry(store, step, one, seen, start_ns)?,
            None => not_run(&step.name, Some(&expect.label), ended_ns),
        });
    }
    Ok(entries)
}

fn entry(
    store: &Store,
    step: &values::Step,
    one: &StepLog,
    seen: Option<&Observation>,
    start_ns: u64,
) -> Result<record::Step, StoreError> {
    let outcome = match one.outcome {
        StepOutcome::Answered => values::StepOutcome::Done,
        StepOutcome::Refused => values::StepOutcome::Stopped,
        StepOutcome::Ended => values::StepOutcome::Eof,
        StepOutcome::TimedOut => values::StepOutcome::Limit,
    };
    let answered = matches!(one.outcome, StepOutcome::Answered | StepOutcome::Refused);
    let limited = one.outcome == StepOutcome::TimedOut;
    Ok(record::Step {
        name: step.name.clone(),
        label: Some(one.name.clone()),
        outcome: outcome.word().to_string(),
        sent_ns: start_ns + one.sent_ns,
        answered_ns: answered.then_some(start_ns + one.answered_ns),
        cpu_ns: one.cpu_ns.zip(one.sent_cpu_ns).map(|(end, begin)| end.saturating_sub(begin)),
        exit: None,
        signal: None,
        limit: match seen.and_then(|seen| seen.limit) {
            Some(limit) if limited => crate::race::limit(limit),
            _ => LimitKind::None,
        },
        response: record::Stream {
            truncated: limited && seen.is_some_and(|seen| seen.stdout.is_truncated()),
            ..store.put(&one.response)?
        },
        errors: None,
    })
}

/// The entry of a command, or of an expectation of its dialogue, that was not reached.
pub fn not_run(step: &str, label: Option<&str>, at_ns: u64) -> record::Step {
    record::Step {
        name: step.to_string(),
        label: label.map(str::to_string),
        outcome: values::StepOutcome::NotRun.word().to_string(),
        sent_ns: at_ns,
        answered_ns: None,
        cpu_ns: None,
        exit: None,
        signal: None,
        limit: LimitKind::None,
        response: record::Stream::empty(),
        errors: None,
    }
}
