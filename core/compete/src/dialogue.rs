//! Dialogues: from the script of a plugin's step to the one of the runner, and from the runner's log to the record's.
//!
//! A script says nothing of time; it is held within the limits of its run. Every expectation is timed, whether or not the
//! plugin marks it so. From `sent_ns`, when the last byte before it was written, to `answered_ns`, when the response was
//! complete, it includes the time in which the program reads what was sent; `cpu_ns` is the CPU time of all processes
//! between these two. An expectation that waits for the end of the output closes the program's input first, since
//! nothing can be answered after it. A response that is not accepted ends the script, not the program: its input ends,
//! and it is run to its own end, a limit, or until the step's patience is over.

use std::collections::HashMap;
use std::time::Duration;

use agon_execute::{Answer, Exchange, FileContent, Observation, Script, Step, StepLog, StepOutcome};
use agon_sdk::values::{self, Expect, Framing, ScriptEntry};
use agon_store::record::{self, LimitKind};
use agon_store::{Store, StoreError};

/// The script for the runner. `benchmark` is what pieces are sent of.
pub fn script(step: &values::Step, benchmark: &FileContent) -> Script {
    let mut steps = Vec::with_capacity(step.script.len());
    let mut text = None;
    for entry in &step.script {
        match entry {
            ScriptEntry::Send(bytes) => steps.push(Step::Send(bytes.clone())),
            ScriptEntry::Expect(expect) => {
                if expect.framing == Framing::Eof {
                    steps.push(Step::Close);
                }
                steps.push(Step::Expect {
                    name: expect.label.clone(),
                    answer: answer(expect),
                    accept: expect.stop_unless_accepted.then(|| accepted(expect)),
                    wall: None,
                });
            }
            ScriptEntry::Exchange(exchange) => {
                let expect = &exchange.expect;
                text.get_or_insert_with(|| benchmark.clone());
                steps.push(Step::Exchange(Exchange {
                    name: expect.label.clone(),
                    pieces: exchange.pieces.iter().map(|piece| piece.from..piece.to).collect(),
                    answer: answer(expect),
                    accept: (expect.stop_unless_accepted || !expect.accept.is_empty()).then(|| accepted(expect)),
                    go_on: !expect.stop_unless_accepted,
                }));
            }
        }
    }
    Script { steps, text, go_on: false, patience: step.patience_ns.map(Duration::from_nanos) }
}

fn accepted(expect: &Expect) -> Vec<Vec<u8>> {
    expect.accept.iter().map(|accepted| accepted.0.clone()).collect()
}

fn answer(expect: &Expect) -> Answer {
    match (expect.framing, expect.skip_blank) {
        (Framing::Line, true) => Answer::Line,
        (Framing::Line, false) => Answer::AnyLine,
        (Framing::SExpression, _) => Answer::Expression,
        (Framing::Eof, _) => Answer::Rest,
    }
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
    let expected = step.script.iter().filter_map(|entry| match entry {
        ScriptEntry::Expect(expect) => Some((expect, false)),
        ScriptEntry::Exchange(exchange) => Some((&exchange.expect, true)),
        ScriptEntry::Send(_) => None,
    });
    let ended_ns = start_ns + seen.map_or(0, |seen| seen.wall_ns);
    let mut entries = Vec::with_capacity(step.script.len());
    // There are thousands of `sat`: each text is looked for in the store once.
    let mut kept: HashMap<&[u8], record::Stream> = HashMap::new();
    for (at, (expect, exchange)) in expected.enumerate() {
        entries.push(match logged.get(at) {
            Some(one) => {
                let response = match kept.get(one.response.as_slice()) {
                    Some(stream) => *stream,
                    None => *kept.entry(&one.response).or_insert(store.put(&one.response)?),
                };
                entry(step, one, exchange, response, seen, start_ns)
            }
            None => not_run(&step.name, Some(&expect.label), ended_ns),
        });
    }
    Ok(entries)
}

fn entry(
    step: &values::Step,
    one: &StepLog,
    exchange: bool,
    response: record::Stream,
    seen: Option<&Observation>,
    start_ns: u64,
) -> record::Step {
    let outcome = match one.outcome {
        StepOutcome::Answered => values::StepOutcome::Done,
        StepOutcome::Refused => values::StepOutcome::Stopped,
        StepOutcome::Ended => values::StepOutcome::Eof,
        StepOutcome::TimedOut => values::StepOutcome::Limit,
    };
    let answered = matches!(one.outcome, StepOutcome::Answered | StepOutcome::Refused);
    let limited = one.outcome == StepOutcome::TimedOut;
    record::Step {
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
            ..response
        },
        errors: None,
        exchange: exchange.then_some(record::Exchanged {
            answers: one.answers,
            refused: one.refused,
            waited_ns: one.waited_ns,
            kept: one.kept,
        }),
    }
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
        exchange: None,
    }
}
