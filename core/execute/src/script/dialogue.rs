//! A dialogue in progress.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use super::scanner::{Scanner, trimmed};
use super::text::Text;
use super::{Answer, Exchange, Script, Step, StepLog, StepOutcome};
use crate::launcher::monotonic;

/// A piece up to this length is sent with its line feed in one write.
const SHORT: usize = 1 << 16;
/// A count of CPU time is taken again when it is older than this: nanoseconds.
const FRESH: u64 = 20_000;

/// What is to be done after a dialogue went on as far as it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait for the program.
    Wait,
    /// End the run, because an answer did not come in its time.
    Late,
    /// End the run, because the program goes on after the dialogue.
    Dismiss,
}

/// A dialogue in progress.
#[derive(Debug)]
pub(crate) struct Dialogue<'a> {
    script: &'a Script,
    next: usize,
    /// Bytes of the present [`Step::Send`] or piece already written.
    written: usize,
    /// When the present step began.
    began: Option<u64>,
    /// When the last step was over.
    over: Option<u64>,
    /// The program's standard input, until closed.
    input: Option<OwnedFd>,
    text: Option<Text<'a>>,
    /// Why the text could not be read.
    failed: Option<io::Error>,
    /// A short piece with its line feed.
    line: Vec<u8>,
    /// Output, of which the first `taken` bytes were answers or came before them.
    unread: Vec<u8>,
    taken: usize,
    scanner: Scanner,
    /// What is still to come for steps that were given up.
    owed: VecDeque<Answer>,
    ended: bool,
    /// Whether the last answer was an expression, which may end within a line.
    within_line: bool,
    /// When the last byte was written, and the CPU time then; nothing before the first.
    sent: Option<(u64, Option<u64>)>,
    /// The newest count of CPU time, and when it was taken.
    counted: Option<(u64, Option<u64>)>,
    tally: Tally,
    /// Times in nanoseconds of the monotonic clock; 0 for the start of the program.
    log: Vec<StepLog>,
}

/// What has come of the present exchange.
#[derive(Debug, Default)]
struct Tally {
    /// The present piece.
    piece: usize,
    /// When its last byte was written.
    asked: Option<u64>,
    /// When the first piece's last byte was written, and the CPU time then.
    first: Option<(u64, Option<u64>)>,
    answers: u64,
    refused: u64,
    waited: u64,
    /// The first answer that was not accepted, and of which piece it is.
    kept: Option<(u64, Vec<u8>)>,
    /// The last answer.
    last: Vec<u8>,
}

/// What became of bytes that were to be written.
enum Wrote {
    /// So many were.
    Some(usize),
    /// There is no room.
    Full,
    /// Nobody reads them any more; whether the program answers will be seen.
    Gone,
}

impl<'a> Dialogue<'a> {
    /// # Errors
    /// If the script's text cannot be opened.
    pub(crate) fn new(script: &'a Script, input: OwnedFd) -> io::Result<Dialogue<'a>> {
        Ok(Dialogue {
            script,
            next: 0,
            written: 0,
            began: None,
            over: None,
            input: Some(input),
            text: script.text.as_ref().map(Text::open).transpose()?,
            failed: None,
            line: Vec::new(),
            unread: Vec::new(),
            taken: 0,
            scanner: Scanner::default(),
            owed: VecDeque::new(),
            ended: false,
            within_line: false,
            sent: None,
            counted: None,
            tally: Tally::default(),
            log: Vec::new(),
        })
    }

    /// The pipe to be watched for room, if something is to be written.
    pub(crate) fn wants_to_write(&self) -> Option<&OwnedFd> {
        match self.script.steps.get(self.next) {
            Some(Step::Send(_)) => self.input.as_ref(),
            Some(Step::Exchange(_)) if self.tally.asked.is_none() => self.input.as_ref(),
            _ => None,
        }
    }

    /// Whether an answer is waited for, and nothing else.
    pub(crate) fn listens(&self) -> bool {
        match self.script.steps.get(self.next) {
            Some(Step::Expect { .. }) => !self.ended,
            Some(Step::Exchange(_)) => self.tally.asked.is_some() && !self.ended,
            _ => false,
        }
    }

    /// Takes output of the program.
    pub(crate) fn output(&mut self, bytes: &[u8]) {
        if self.over.is_none() {
            if self.taken == self.unread.len() {
                self.unread.clear();
                self.taken = 0;
            } else if self.taken > self.unread.len() / 2 {
                self.unread.drain(..self.taken);
                self.taken = 0;
            }
            self.unread.extend_from_slice(bytes);
        }
    }

    /// The program's output has ended.
    pub(crate) fn output_ended(&mut self) {
        self.ended = true;
    }

    /// Why the text could not be read, if so.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// When the present step is to be given up, or the run to be ended after the last one.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let after = |began: u64, time: std::time::Duration| {
            began.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
        };
        match (self.script.steps.get(self.next), self.began) {
            (Some(Step::Expect { wall: Some(wall), .. }), Some(began)) => Some(after(began, *wall)),
            (None, _) => self.over.zip(self.script.patience).map(|(over, patience)| after(over, patience)),
            _ => None,
        }
    }

    /// Does what can be done now. `cpu` tells the CPU time used so far.
    pub(crate) fn advance(&mut self, cpu: impl Fn() -> Option<u64>) -> Next {
        let script = self.script;
        while let Some(step) = script.steps.get(self.next) {
            let over = match step {
                Step::Send(bytes) => {
                    if !self.send(bytes) {
                        return Next::Wait;
                    }
                    if !bytes.is_empty() {
                        self.sent = Some((monotonic(), cpu()));
                    }
                    false
                }
                Step::Close => {
                    self.input = None;
                    false
                }
                Step::Expect { name, answer, accept, .. } => {
                    self.began.get_or_insert_with(monotonic);
                    let Some(outcome) = self.expect(name, *answer, accept.as_deref(), &cpu) else {
                        return Next::Wait;
                    };
                    if outcome == StepOutcome::TimedOut && !script.go_on {
                        self.end();
                        return Next::Late;
                    }
                    matches!(outcome, StepOutcome::Refused | StepOutcome::Ended)
                }
                Step::Exchange(exchange) => {
                    self.began.get_or_insert_with(monotonic);
                    let Some(outcome) = self.exchange(exchange, &cpu) else {
                        return Next::Wait;
                    };
                    self.count(&cpu);
                    let (answered_ns, cpu_ns) = self.counted.unwrap_or_default();
                    let entry = self.entry(exchange, outcome, answered_ns, cpu_ns);
                    self.log.push(entry);
                    outcome != StepOutcome::Answered
                }
            };
            if over {
                self.next = script.steps.len();
            } else {
                self.next += 1;
            }
            self.written = 0;
            self.began = None;
        }
        if self.over.is_none() {
            self.end();
        }
        if self.deadline().is_some_and(|deadline| monotonic() >= deadline) { Next::Dismiss } else { Next::Wait }
    }

    /// There is nothing more to send or to wait for.
    fn end(&mut self) {
        self.next = self.script.steps.len();
        self.over.get_or_insert_with(monotonic);
        self.input = None;
        self.text = None;
        self.unread = Vec::new();
        self.taken = 0;
    }

    fn expect(
        &mut self,
        name: &str,
        answer: Answer,
        accept: Option<&[Vec<u8>]>,
        cpu: &impl Fn() -> Option<u64>,
    ) -> Option<StepOutcome> {
        let found = self.find(answer);
        let late = self.deadline().is_some_and(|deadline| monotonic() >= deadline);
        let (outcome, response) = match found {
            Some((from, to)) => {
                let response = &self.unread[from..to];
                (if fits(accept, response) { StepOutcome::Answered } else { StepOutcome::Refused }, response)
            }
            None if self.ended => (StepOutcome::Ended, &self.unread[self.taken..]),
            None if late => (StepOutcome::TimedOut, &self.unread[self.taken..]),
            None => return None,
        };
        let response = response.to_vec();
        if outcome == StepOutcome::TimedOut {
            self.owed.push_back(answer);
        }
        let (answered_ns, cpu_ns) = (monotonic(), cpu());
        let sent_ns = self.sent.map_or(0, |(at, _)| at);
        self.log.push(StepLog {
            name: name.to_string(),
            sent_ns,
            sent_cpu_ns: self.sent.map_or(Some(0), |(_, cpu)| cpu),
            answered_ns,
            cpu_ns,
            outcome,
            answers: u64::from(found.is_some()),
            refused: u64::from(outcome == StepOutcome::Refused),
            waited_ns: answered_ns.saturating_sub(sent_ns),
            kept: 0,
            response,
        });
        Some(outcome)
    }

    /// Sends and listens as long as it can be done at once; how the exchange ended, if it has.
    fn exchange(&mut self, exchange: &Exchange, cpu: &impl Fn() -> Option<u64>) -> Option<StepOutcome> {
        loop {
            let asked = match self.tally.asked {
                Some(asked) => asked,
                None => {
                    let Some(piece) = exchange.pieces.get(self.tally.piece) else {
                        return Some(StepOutcome::Answered);
                    };
                    if self.written == 0 && self.unasked(exchange.answer) && !exchange.go_on {
                        return Some(StepOutcome::Refused);
                    }
                    match self.send_piece(piece) {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(error) => {
                            self.failed = Some(error);
                            return Some(StepOutcome::Ended);
                        }
                    }
                    let now = monotonic();
                    self.tally.asked = Some(now);
                    if self.tally.first.is_none() {
                        if self.counted.is_none_or(|(at, _)| now > at + FRESH) {
                            self.count(cpu);
                        }
                        self.tally.first = Some((now, self.counted.and_then(|(_, cpu)| cpu)));
                    }
                    self.sent = self.tally.first.map(|(_, cpu)| (now, cpu));
                    now
                }
            };
            let Some((from, to)) = self.find(exchange.answer) else {
                if !self.ended {
                    return None;
                }
                self.tally.waited += monotonic().saturating_sub(asked);
                self.tally.last = self.unread[self.taken..].to_vec();
                return Some(StepOutcome::Ended);
            };
            let tally = &mut self.tally;
            tally.waited += monotonic().saturating_sub(asked);
            tally.answers += 1;
            let response = &self.unread[from..to];
            let fits = fits(exchange.accept.as_deref(), response);
            if !fits {
                tally.refused += 1;
                let piece = tally.piece as u64;
                tally.kept.get_or_insert_with(|| (piece, response.to_vec()));
            }
            tally.piece += 1;
            tally.asked = None;
            self.written = 0;
            if tally.piece == exchange.pieces.len() {
                tally.last.clear();
                tally.last.extend_from_slice(response);
            }
            if !fits && !exchange.go_on {
                return Some(StepOutcome::Refused);
            }
        }
    }

    /// Whether there is output before the present piece is sent. It is taken, and counts as not accepted.
    fn unasked(&mut self, answer: Answer) -> bool {
        let unread = &self.unread[self.taken..];
        if unread.is_empty() || unread.iter().all(u8::is_ascii_whitespace) {
            return false;
        }
        let response = match self.find(answer) {
            Some((from, to)) => &self.unread[from..to],
            None if self.scanner.begun() => {
                let rest = &self.unread[self.taken..];
                self.taken = self.unread.len();
                self.scanner = Scanner::default();
                rest
            }
            None => return false,
        };
        self.tally.refused += 1;
        let piece = self.tally.piece as u64;
        self.tally.kept.get_or_insert_with(|| (piece, response.to_vec()));
        true
    }

    fn count(&mut self, cpu: &impl Fn() -> Option<u64>) {
        self.counted = Some((monotonic(), cpu()));
    }

    /// The log's entry of the present exchange, of which nothing more comes.
    fn entry(&mut self, exchange: &Exchange, outcome: StepOutcome, answered_ns: u64, cpu_ns: Option<u64>) -> StepLog {
        let tally = std::mem::take(&mut self.tally);
        let last = (tally.answers.saturating_sub(u64::from(outcome == StepOutcome::Answered)), tally.last);
        // What ended the exchange is not what is kept if answers before it were not accepted.
        let (kept, response) = tally.kept.unwrap_or(last);
        let before = || self.sent.or(self.counted).unwrap_or((0, Some(0)));
        let (sent_ns, sent_cpu_ns) = tally.first.unwrap_or_else(before);
        StepLog {
            name: exchange.name.clone(),
            sent_ns,
            sent_cpu_ns,
            answered_ns,
            cpu_ns,
            outcome,
            answers: tally.answers,
            refused: tally.refused,
            waited_ns: tally.waited,
            kept,
            response,
        }
    }

    /// The answer to the present step, as a part of what is unread, if it is there. Answers that came too late for their
    /// steps are passed over: each question gets one answer, in order.
    fn find(&mut self, answer: Answer) -> Option<(usize, usize)> {
        loop {
            let late = self.owed.front().copied();
            let unread = &self.unread[self.taken..];
            let answer = late.unwrap_or(answer);
            let (mut from, to) = self.scanner.complete(unread, answer, self.ended)?;
            from += self.taken;
            let mut end = self.taken + to;
            self.taken = end;
            self.scanner = Scanner::default();
            if matches!(answer, Answer::Line | Answer::AnyLine) && end > from && self.unread[end - 1] == b'\n' {
                end -= 1;
            }
            // What is left of the line that an expression ends on is no line of its own.
            let rest = std::mem::replace(&mut self.within_line, answer == Answer::Expression);
            if rest && answer == Answer::AnyLine && trimmed(&self.unread[from..end]).is_empty() {
                continue;
            }
            if late.is_none() {
                return Some((from, end));
            }
            self.owed.pop_front();
        }
    }

    /// Writes what the pipe takes; whether all is written, or never will be.
    fn send(&mut self, bytes: &[u8]) -> bool {
        while self.written < bytes.len() {
            match write(self.input.as_ref(), &bytes[self.written..]) {
                Wrote::Some(count) => self.written += count,
                Wrote::Full => return false,
                Wrote::Gone => {
                    self.input = None;
                    return true;
                }
            }
        }
        true
    }

    /// Writes what the pipe takes of a piece and its line feed; whether all is written, or never will be.
    fn send_piece(&mut self, piece: &std::ops::Range<u64>) -> io::Result<bool> {
        let length = piece.end.saturating_sub(piece.start);
        while self.written as u64 <= length {
            let rest = piece.start + self.written as u64..piece.start + length;
            let text = self.text.as_mut().ok_or_else(|| io::Error::other("the dialogue has no text"))?;
            let bytes = text.bytes(&rest)?;
            let bytes = if bytes.len() as u64 == rest.end - rest.start && bytes.len() <= SHORT {
                self.line.clear();
                self.line.extend_from_slice(bytes);
                self.line.push(b'\n');
                &self.line
            } else {
                bytes
            };
            match write(self.input.as_ref(), bytes) {
                Wrote::Some(count) => self.written += count,
                Wrote::Full => return Ok(false),
                Wrote::Gone => {
                    self.input = None;
                    return Ok(true);
                }
            }
        }
        Ok(true)
    }

    /// The log, with times from the start of the program on. A step in progress when the run ended is logged
    /// as given up then; `cpu` is the CPU time used up to then.
    pub(crate) fn finish(mut self, started: u64, own_cpu: u64, ended: u64, cpu: Option<u64>) -> Vec<StepLog> {
        let script = self.script;
        match (script.steps.get(self.next), self.began) {
            (Some(Step::Expect { name, .. }), Some(_)) => {
                self.log.push(StepLog {
                    name: name.clone(),
                    sent_ns: self.sent.map_or(0, |(at, _)| at),
                    sent_cpu_ns: self.sent.map_or(Some(0), |(_, cpu)| cpu),
                    answered_ns: ended,
                    cpu_ns: cpu,
                    outcome: StepOutcome::TimedOut,
                    answers: 0,
                    refused: 0,
                    waited_ns: ended,
                    kept: 0,
                    response: self.unread.split_off(self.taken),
                });
            }
            (Some(Step::Exchange(exchange)), Some(_)) => {
                if let Some(asked) = self.tally.asked {
                    self.tally.waited += ended.saturating_sub(asked);
                }
                self.tally.last = self.unread.split_off(self.taken);
                let entry = self.entry(exchange, StepOutcome::TimedOut, ended, cpu);
                self.log.push(entry);
            }
            _ => {}
        }
        for step in &mut self.log {
            // Nobody writes after the program's end, though it may be read and noticed later.
            step.sent_ns = step.sent_ns.min(ended).saturating_sub(started);
            step.answered_ns = step.answered_ns.min(ended).saturating_sub(started).max(step.sent_ns);
            step.waited_ns = step.waited_ns.min(step.answered_ns - step.sent_ns);
            step.cpu_ns = step.cpu_ns.map(|cpu| cpu.saturating_sub(own_cpu));
            step.sent_cpu_ns = step.sent_cpu_ns.map(|cpu| cpu.saturating_sub(own_cpu));
        }
        self.log
    }
}

/// Whether an answer is among those accepted.
fn fits(accept: Option<&[Vec<u8>]>, response: &[u8]) -> bool {
    accept.is_none_or(|all| {
        let response = trimmed(response);
        all.iter().any(|one| trimmed(one) == response)
    })
}

/// Writes once.
fn write(input: Option<&OwnedFd>, bytes: &[u8]) -> Wrote {
    let Some(input) = input else {
        return Wrote::Gone;
    };
    loop {
        return match rustix::io::write(input, bytes) {
            Ok(count) => Wrote::Some(count),
            Err(rustix::io::Errno::INTR) => continue,
            Err(rustix::io::Errno::AGAIN) => Wrote::Full,
            Err(_) => Wrote::Gone,
        };
    }
}
