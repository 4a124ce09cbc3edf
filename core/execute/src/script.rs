//! Dialogues with a program: what is sent, what is waited for, and how long each step took.
//!
//! The runner holds the dialogue itself, over pipes, in the loop that also watches the limits: there is no
//! process between it and the program that could be slow, or die, in either's place.

use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::launcher::monotonic;

/// A dialogue. After the last step the program's standard input is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Whether to go on after an answer did not come in its time. An end of the output ends the dialogue in
    /// any case.
    pub go_on: bool,
}

/// A step of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Write these bytes to the program's standard input; done when the pipe has taken them all.
    Send(Vec<u8>),
    /// Wait for an answer on its standard output.
    Expect {
        /// What the step is called in the log.
        name: String,
        /// What makes an answer complete.
        answer: Answer,
        /// How long to wait, from the beginning of this step; the limits of the whole run hold anyway. When
        /// it has passed, the run is ended (limit: wall), unless the dialogue goes on.
        wall: Option<Duration>,
    },
    /// Close the program's standard input.
    Close,
}

/// The shape of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Up to the end of a line; empty lines before it are passed over.
    Line,
    /// An s-expression as in SMT-LIB: an atom, a string, a quoted symbol, or a balanced list; space and
    /// comments before it are passed over. An atom is complete when something follows it.
    Expression,
}

/// What was seen of one [`Step::Expect`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    /// The step's name.
    pub name: String,
    /// When the waiting began (all before it was sent), in nanoseconds from the start of the program.
    pub sent_ns: u64,
    /// When the answer was complete, or the waiting was given up.
    pub answered_ns: u64,
    /// CPU time of the whole tree up to then, from the start of the program; nothing without a control group
    /// to tell.
    pub cpu_ns: Option<u64>,
    /// How it ended.
    pub outcome: StepOutcome,
    /// The answer, or what there was of it.
    pub response: Vec<u8>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// An answer came.
    Answered,
    /// None came in time, or the run was ended meanwhile.
    TimedOut,
    /// The output ended first.
    Ended,
}

/// A dialogue in progress.
#[derive(Debug)]
pub(crate) struct Dialogue<'a> {
    script: &'a Script,
    next: usize,
    /// Bytes of the present [`Step::Send`] already written.
    written: usize,
    /// When the present step began.
    began: Option<u64>,
    /// The program's standard input, until closed.
    input: Option<OwnedFd>,
    /// Output not yet taken as an answer.
    unread: Vec<u8>,
    ended: bool,
    /// Times in nanoseconds of the monotonic clock.
    log: Vec<StepLog>,
}

impl<'a> Dialogue<'a> {
    pub(crate) fn new(script: &'a Script, input: OwnedFd) -> Dialogue<'a> {
        Dialogue {
            script,
            next: 0,
            written: 0,
            began: None,
            input: Some(input),
            unread: Vec::new(),
            ended: false,
            log: Vec::new(),
        }
    }

    /// The pipe to be watched for room, if something is to be written.
    pub(crate) fn wants_to_write(&self) -> Option<&OwnedFd> {
        match self.script.steps.get(self.next) {
            Some(Step::Send(_)) => self.input.as_ref(),
            _ => None,
        }
    }

    /// Takes output of the program.
    pub(crate) fn output(&mut self, bytes: &[u8]) {
        if self.next < self.script.steps.len() {
            self.unread.extend_from_slice(bytes);
        }
    }

    /// The program's output has ended.
    pub(crate) fn output_ended(&mut self) {
        self.ended = true;
    }

    /// When the present step is to be given up.
    pub(crate) fn deadline(&self) -> Option<u64> {
        match (self.script.steps.get(self.next), self.began) {
            (Some(Step::Expect { wall: Some(wall), .. }), Some(began)) => {
                Some(began.saturating_add(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX)))
            }
            _ => None,
        }
    }

    /// Does what can be done now. `cpu` tells the CPU time used so far. Whether the run is to be ended because
    /// an answer did not come in time.
    pub(crate) fn advance(&mut self, cpu: impl Fn() -> Option<u64>) -> bool {
        while let Some(step) = self.script.steps.get(self.next) {
            match step {
                Step::Send(bytes) => {
                    if !self.send(bytes) {
                        return false;
                    }
                }
                Step::Close => self.input = None,
                Step::Expect { name, answer, .. } => {
                    let began = *self.began.get_or_insert_with(monotonic);
                    let found = complete(&self.unread, *answer, self.ended);
                    let late = self.deadline().is_some_and(|deadline| monotonic() >= deadline);
                    let (outcome, response) = match found {
                        Some((from, to)) => {
                            let response = self.unread[from..to].to_vec();
                            self.unread.drain(..to);
                            (StepOutcome::Answered, response)
                        }
                        None if self.ended => (StepOutcome::Ended, std::mem::take(&mut self.unread)),
                        None if late => (StepOutcome::TimedOut, self.unread.clone()),
                        None => return false,
                    };
                    self.log.push(StepLog {
                        name: name.clone(),
                        sent_ns: began,
                        answered_ns: monotonic(),
                        cpu_ns: cpu(),
                        outcome,
                        response,
                    });
                    let over = outcome == StepOutcome::Ended || outcome == StepOutcome::TimedOut && !self.script.go_on;
                    if over {
                        self.next = self.script.steps.len();
                        self.input = None;
                        return outcome == StepOutcome::TimedOut;
                    }
                }
            }
            self.next += 1;
            self.written = 0;
            self.began = None;
        }
        self.input = None;
        self.unread = Vec::new();
        false
    }

    /// Writes what the pipe takes; whether all is written, or never will be.
    fn send(&mut self, bytes: &[u8]) -> bool {
        while self.written < bytes.len() {
            let Some(input) = &self.input else {
                return true;
            };
            match rustix::io::write(input, &bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return false,
                // The program does not read any more; whether it answers will be seen.
                Err(_) => {
                    self.input = None;
                    return true;
                }
            }
        }
        true
    }

    /// The log, with times from the start of the program on. A step in progress when the run ended is logged
    /// as given up then.
    pub(crate) fn finish(mut self, started: u64, own_cpu: u64, ended: u64) -> Vec<StepLog> {
        if let (Some(Step::Expect { name, .. }), Some(began)) = (self.script.steps.get(self.next), self.began) {
            self.log.push(StepLog {
                name: name.clone(),
                sent_ns: began,
                answered_ns: ended.max(began),
                cpu_ns: None,
                outcome: StepOutcome::TimedOut,
                response: self.unread,
            });
        }
        for step in &mut self.log {
            step.sent_ns = step.sent_ns.saturating_sub(started);
            step.answered_ns = step.answered_ns.saturating_sub(started);
            step.cpu_ns = step.cpu_ns.map(|cpu| cpu.saturating_sub(own_cpu));
        }
        self.log
    }
}

/// Where a complete answer begins and ends in what came so far.
fn complete(bytes: &[u8], answer: Answer, ended: bool) -> Option<(usize, usize)> {
    match answer {
        Answer::Line => {
            let from = bytes.iter().position(|&byte| byte != b'\n' && byte != b'\r')?;
            let length = bytes[from..].iter().position(|&byte| byte == b'\n');
            match length {
                Some(length) => Some((from, from + length)),
                None => ended.then_some((from, bytes.len())),
            }
        }
        Answer::Expression => expression(bytes, ended),
    }
}

/// The first s-expression, by the lexical rules of SMT-LIB 2.6 (section 3.1).
fn expression(bytes: &[u8], ended: bool) -> Option<(usize, usize)> {
    let space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut at = 0;
    let mut from = None;
    let mut depth = 0_usize;
    while at < bytes.len() {
        let end = match bytes[at] {
            byte if space(byte) => {
                at += 1;
                continue;
            }
            b';' => {
                at += bytes[at..].iter().position(|&byte| byte == b'\n')? + 1;
                continue;
            }
            b'(' => {
                from.get_or_insert(at);
                depth += 1;
                at += 1;
                continue;
            }
            b')' => {
                from.get_or_insert(at);
                // A closing parenthesis alone is no expression; it is given as it is.
                depth = depth.saturating_sub(1);
                at + 1
            }
            b'|' => at + 2 + bytes[at + 1..].iter().position(|&byte| byte == b'|')?,
            b'"' => {
                // Two quotation marks inside a string stand for one.
                let mut end = at + 1;
                loop {
                    end += bytes[end..].iter().position(|&byte| byte == b'"')? + 1;
                    match bytes.get(end) {
                        Some(b'"') => end += 1,
                        Some(_) => break,
                        None if ended || depth > 0 => break,
                        None => return None,
                    }
                }
                end
            }
            _ => {
                let length = bytes[at..]
                    .iter()
                    .position(|&byte| space(byte) || matches!(byte, b'(' | b')' | b'"' | b'|' | b';'));
                match length {
                    Some(length) => at + length,
                    None if ended => bytes.len(),
                    None => return None,
                }
            }
        };
        let start = *from.get_or_insert(at);
        if depth == 0 {
            return Some((start, end));
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, ended: bool) -> Option<&str> {
        expression(text.as_bytes(), ended).map(|(from, to)| &text[from..to])
    }

    #[test]
    fn expressions_end_where_they_balance() {
        assert_eq!(first("sat\n", false), Some("sat"));
        assert_eq!(first(" ; said (\n unsat ", false), Some("unsat"));
        assert_eq!(first("sat", false), None);
        assert_eq!(first("sat", true), Some("sat"));
        assert_eq!(first("(a (b) c) d", false), Some("(a (b) c)"));
        assert_eq!(first("(error \"a \"\" ) ( b\")\n", false), Some("(error \"a \"\" ) ( b\")"));
        assert_eq!(first("(|)| x)", false), Some("(|)| x)"));
        assert_eq!(first("((a)", false), None);
        assert_eq!(first("((a)", true), None);
        assert_eq!(first("\"a\"\"", false), None);
        assert_eq!(first("\"a\" ", false), Some("\"a\""));
        assert_eq!(first(") x", false), Some(")"));
        assert_eq!(first("(a ; )\n)", false), Some("(a ; )\n)"));
        assert_eq!(first("", true), None);
    }

    #[test]
    fn lines_are_whole() {
        let line = |text: &str, ended| {
            complete(text.as_bytes(), Answer::Line, ended).map(|(from, to)| text[from..to].to_string())
        };
        assert_eq!(line("\n\r\nsat\nunsat", false).as_deref(), Some("sat"));
        assert_eq!(line("sat", false), None);
        assert_eq!(line("sat", true).as_deref(), Some("sat"));
        assert_eq!(line("\n\n", true), None);
    }
}
