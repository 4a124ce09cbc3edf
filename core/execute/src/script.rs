//! Dialogues with a program: what is sent, what is waited for, and how long each step took.
//!
//! The runner holds the dialogue itself, over pipes, in the loop that also watches the limits: there is no
//! process between it and the program that could be slow, or die, in either's place.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::launcher::monotonic;

/// A dialogue. After the last step the program's standard input is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Whether to go on after an answer did not come in its time. When it comes later, it is passed over, so
    /// that it is not taken for the answer to a later step. An end of the output ends the dialogue in any
    /// case.
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
        /// The answers that are accepted, compared without the blanks around them; any is if there are none. Another
        /// one ends the dialogue: the program's standard input is closed, and its run goes on to its own end.
        accept: Option<Vec<Vec<u8>>>,
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
    /// Up to the end of a line; lines of blanks (space, tab, carriage return) before it are passed over.
    Line,
    /// Up to the end of a line, whatever is in it.
    AnyLine,
    /// An s-expression as in SMT-LIB: an atom, a string, a quoted symbol, or a balanced list; space and
    /// comments before it are passed over. An atom is complete when something follows it.
    Expression,
    /// All up to the end of the output. A program that waits for the end of its input needs [`Step::Close`] before.
    Rest,
}

/// What was seen of one [`Step::Expect`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    /// The step's name.
    pub name: String,
    /// When the last byte before it was written, in nanoseconds from the start of the program; 0 if nothing was. Two
    /// answers to one [`Step::Send`] have the same.
    pub sent_ns: u64,
    /// CPU time of the whole tree up to then; see [`StepLog::cpu_ns`].
    pub sent_cpu_ns: Option<u64>,
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
    /// An answer came that is none of those accepted.
    Refused,
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
    /// Times in nanoseconds of the monotonic clock; 0 for the start of the program.
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
            taken: 0,
            scanner: Scanner::default(),
            owed: VecDeque::new(),
            ended: false,
            within_line: false,
            sent: None,
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
                    if !bytes.is_empty() {
                        self.sent = Some((monotonic(), cpu()));
                    }
                }
                Step::Close => self.input = None,
                Step::Expect { name, answer, accept, .. } => {
                    self.began.get_or_insert_with(monotonic);
                    let found = self.find(*answer);
                    let late = self.deadline().is_some_and(|deadline| monotonic() >= deadline);
                    let unread = &self.unread[self.taken..];
                    let fits = |response: &[u8]| {
                        accept.as_ref().is_none_or(|all| all.iter().any(|one| trimmed(one) == trimmed(response)))
                    };
                    let (outcome, response) = match found {
                        Some(response) if fits(&response) => (StepOutcome::Answered, response),
                        Some(response) => (StepOutcome::Refused, response),
                        None if self.ended => (StepOutcome::Ended, unread.to_vec()),
                        None if late => (StepOutcome::TimedOut, unread.to_vec()),
                        None => return false,
                    };
                    if outcome == StepOutcome::TimedOut {
                        self.owed.push_back(*answer);
                    }
                    self.log.push(StepLog {
                        name: name.clone(),
                        sent_ns: self.sent.map_or(0, |(at, _)| at),
                        sent_cpu_ns: self.sent.map_or(Some(0), |(_, cpu)| cpu),
                        answered_ns: monotonic(),
                        cpu_ns: cpu(),
                        outcome,
                        response,
                    });
                    let over = match outcome {
                        StepOutcome::Answered => false,
                        StepOutcome::TimedOut => !self.script.go_on,
                        StepOutcome::Refused | StepOutcome::Ended => true,
                    };
                    if over {
                        self.next = self.script.steps.len();
                        self.input = None;
                        self.unread = Vec::new();
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
        self.taken = 0;
        false
    }

    /// The answer to the present step, if it is there. Answers that came too late for their steps are passed
    /// over: each question gets one answer, in order.
    fn find(&mut self, answer: Answer) -> Option<Vec<u8>> {
        loop {
            let late = self.owed.front().copied();
            let unread = &self.unread[self.taken..];
            let answer = late.unwrap_or(answer);
            let (from, to) = self.scanner.complete(unread, answer, self.ended)?;
            let mut response = unread[from..to].to_vec();
            if matches!(answer, Answer::Line | Answer::AnyLine) && response.last() == Some(&b'\n') {
                response.pop();
            }
            self.taken += to;
            self.scanner = Scanner::default();
            // What is left of the line that an expression ends on is no line of its own.
            let rest = std::mem::replace(&mut self.within_line, answer == Answer::Expression);
            let remainder = rest && answer == Answer::AnyLine && trimmed(&response).is_empty();
            if self.taken > self.unread.len() / 2 {
                self.unread.drain(..self.taken);
                self.taken = 0;
            }
            if remainder {
                continue;
            }
            if late.is_none() {
                return Some(response);
            }
            self.owed.pop_front();
        }
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
        if let (Some(Step::Expect { name, .. }), Some(_)) = (self.script.steps.get(self.next), self.began) {
            self.log.push(StepLog {
                name: name.clone(),
                sent_ns: self.sent.map_or(0, |(at, _)| at),
                sent_cpu_ns: self.sent.map_or(Some(0), |(_, cpu)| cpu),
                answered_ns: ended,
                cpu_ns: None,
                outcome: StepOutcome::TimedOut,
                response: self.unread.split_off(self.taken),
            });
        }
        for step in &mut self.log {
            // Nobody writes after the program's end, though it may be read and noticed later.
            step.sent_ns = step.sent_ns.min(ended).saturating_sub(started);
            step.answered_ns = step.answered_ns.min(ended).saturating_sub(started);
            step.cpu_ns = step.cpu_ns.map(|cpu| cpu.saturating_sub(own_cpu));
            step.sent_cpu_ns = step.sent_cpu_ns.map(|cpu| cpu.saturating_sub(own_cpu));
        }
        self.log
    }
}

/// Reads on where it stopped, so that an answer that comes in many pieces is looked at once.
#[derive(Debug, Default)]
struct Scanner {
    at: usize,
    from: Option<usize>,
    depth: usize,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Comment,
    Atom,
    Symbol,
    String,
    /// After a quotation mark inside a string: the end, unless another one follows.
    Quote,
}

impl Scanner {
    /// Where the first complete answer begins and ends in what came so far. `ended`: no more will come.
    fn complete(&mut self, bytes: &[u8], answer: Answer, ended: bool) -> Option<(usize, usize)> {
        match answer {
            Answer::Line => self.line(bytes, false, ended),
            Answer::AnyLine => self.line(bytes, true, ended),
            Answer::Expression => self.expression(bytes, ended),
            Answer::Rest => ended.then_some((0, bytes.len())),
        }
    }

    /// `from` is where the line begins that is looked at, once something of it came.
    fn line(&mut self, bytes: &[u8], blank: bool, ended: bool) -> Option<(usize, usize)> {
        let whole = |from: usize, to: usize| blank || !trimmed(&bytes[from..to]).is_empty();
        while let Some(&byte) = bytes.get(self.at) {
            let from = *self.from.get_or_insert(self.at);
            if byte == b'\n' {
                if whole(from, self.at) {
                    return Some((from, self.at + 1));
                }
                self.from = None;
            }
            self.at += 1;
        }
        self.from.filter(|&from| ended && whole(from, bytes.len())).map(|from| (from, bytes.len()))
    }

    /// The first s-expression, by the lexical rules of SMT-LIB 2.6 (section 3.1).
    fn expression(&mut self, bytes: &[u8], ended: bool) -> Option<(usize, usize)> {
        while let Some(&byte) = bytes.get(self.at) {
            let mut over = false;
            match self.state {
                State::Comment => {
                    if byte == b'\n' {
                        self.state = State::Between;
                    }
                }
                State::Symbol => {
                    if byte == b'|' {
                        self.state = State::Between;
                        over = true;
                    }
                }
                State::String => {
                    if byte == b'"' {
                        self.state = State::Quote;
                    }
                }
                State::Quote if byte == b'"' => self.state = State::String,
                State::Atom if !delimits(byte) => {}
                State::Quote | State::Atom => {
                    self.state = State::Between;
                    if self.depth == 0 {
                        return Some((self.from?, self.at));
                    }
                    // The byte itself is still to be looked at.
                    continue;
                }
                State::Between => {
                    if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';') {
                        self.from.get_or_insert(self.at);
                    }
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' => {}
                        b';' => self.state = State::Comment,
                        b'(' => self.depth += 1,
                        b')' => {
                            // A closing parenthesis alone is no expression; it is given as it is.
                            self.depth = self.depth.saturating_sub(1);
                            over = true;
                        }
                        b'|' => self.state = State::Symbol,
                        b'"' => self.state = State::String,
                        _ => self.state = State::Atom,
                    }
                }
            }
            self.at += 1;
            if over && self.depth == 0 {
                return Some((self.from?, self.at));
            }
        }
        let whole = self.depth == 0 && matches!(self.state, State::Atom | State::Quote);
        self.from.filter(|_| ended && whole).map(|from| (from, bytes.len()))
    }
}

/// Bytes without the blanks around them.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

/// Whether a byte ends an atom.
fn delimits(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b'"' | b'|' | b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, ended: bool) -> Option<&str> {
        let whole = Scanner::default().expression(text.as_bytes(), ended);
        // In pieces of any size it is the same.
        let mut scanner = Scanner::default();
        let pieces =
            (0..=text.len()).find_map(|end| scanner.expression(&text.as_bytes()[..end], ended && end == text.len()));
        assert_eq!(whole, pieces, "{text}");
        whole.map(|(from, to)| &text[from..to])
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
        fn first(text: &str, answer: Answer, ended: bool) -> Option<&str> {
            let found = Scanner::default().complete(text.as_bytes(), answer, ended);
            // In pieces of any size it is the same.
            let mut scanner = Scanner::default();
            let pieces = (0..=text.len())
                .find_map(|end| scanner.complete(&text.as_bytes()[..end], answer, ended && end == text.len()));
            assert_eq!(found, pieces, "{text}");
            found.map(|(from, to)| &text[from..to])
        }
        for (text, line, any) in [
            ("\n \r\nsat\nunsat", Some("sat\n"), Some("\n")),
            (" \tsat \n", Some(" \tsat \n"), Some(" \tsat \n")),
            ("sat", None, None),
            ("\n\n", None, Some("\n")),
            ("", None, None),
        ] {
            assert_eq!((first(text, Answer::Line, false), first(text, Answer::AnyLine, false)), (line, any), "{text}");
        }
        for answer in [Answer::Line, Answer::AnyLine] {
            assert_eq!(first("sat", answer, true), Some("sat"));
            assert_eq!(first("", answer, true), None);
        }
        assert_eq!(first(" ", Answer::Line, true), None);
        assert_eq!((first("a\nb", Answer::Rest, false), first("a\nb", Answer::Rest, true)), (None, Some("a\nb")));
        assert_eq!(first("", Answer::Rest, true), Some(""));
    }
}
