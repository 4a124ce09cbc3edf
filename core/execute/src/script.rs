//! Dialogues with a program: what is sent, what is waited for, and how long each step took.
//!
//! The runner holds the dialogue itself, over pipes, in the loop that also watches the limits: there is no
//! process between it and the program that could be slow, or die, in either's place.

mod dialogue;
mod scanner;
mod text;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::job::FileContent;

pub(crate) use dialogue::{Dialogue, Next};

/// A dialogue. After the last step the program's standard input is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What [`Exchange::pieces`] are pieces of. It is read as the dialogue goes on: no more than a window of it is in
    /// memory.
    pub text: Option<FileContent>,
    /// Whether to go on after an answer did not come in its time. When it comes later, it is passed over, so
    /// that it is not taken for the answer to a later step. An end of the output ends the dialogue in any
    /// case.
    pub go_on: bool,
    /// How long the program may go on after the dialogue has ended, however it did; then it is ended, which is no limit
    /// ([`Observation::dismissed`](crate::Observation::dismissed)). Without it, it is run to its own end or a limit.
    pub patience: Option<Duration>,
}

/// A step of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Send pieces of a text, each of which is to be answered before the next is sent.
    Exchange(Exchange),
    /// Close the program's standard input.
    Close,
}

/// Pieces of a text that are sent one by one. The log has one entry for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What the step is called in the log.
    pub name: String,
    /// The pieces, as bytes of [`Script::text`]. Behind each a line feed is sent.
    pub pieces: Arc<[Range<u64>]>,
    /// What makes an answer complete.
    pub answer: Answer,
    /// The answers that are accepted, compared without the blanks around them; any is if there are none. Output that is
    /// there before a piece is sent is no answer to it, and never accepted.
    pub accept: Option<Vec<Vec<u8>>>,
    /// Whether to go on after an answer that is not accepted; else it ends the dialogue.
    pub go_on: bool,
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

/// What was seen of one [`Step::Expect`] or [`Step::Exchange`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    /// The step's name.
    pub name: String,
    /// When the last byte before it was written, in nanoseconds from the start of the program; 0 if nothing was. Two
    /// answers to one [`Step::Send`] have the same. Of an exchange: the last byte of its first piece.
    pub sent_ns: u64,
    /// CPU time of the whole tree up to then; see [`StepLog::cpu_ns`].
    pub sent_cpu_ns: Option<u64>,
    /// When the answer was complete, the last one of an exchange, or the waiting was given up.
    pub answered_ns: u64,
    /// CPU time of the whole tree up to then, from the start of the program; nothing without a control group
    /// to tell.
    pub cpu_ns: Option<u64>,
    /// How it ended.
    pub outcome: StepOutcome,
    /// How many answers came.
    pub answers: u64,
    /// How many of them are none of those accepted.
    pub refused: u64,
    /// The time between the last byte of a piece and its answer, added up over all pieces; what was waited for an answer
    /// that did not come is part of it.
    pub waited_ns: u64,
    /// Which answer is kept, counted from 0: the first that was not accepted, else the last.
    pub kept: u64,
    /// That answer, or what there was of it.
    pub response: Vec<u8>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// An answer came; to all pieces of an exchange.
    Answered,
    /// An answer came that is none of those accepted, and the dialogue ended.
    Refused,
    /// None came in time, or the run was ended meanwhile.
    TimedOut,
    /// The output ended first.
    Ended,
}
