//! From a trace to the dialogue that the host holds.

use std::io::Read;

use agon_judging::Answer;
use agon_sdk::output::Plan;
use agon_sdk::values::{Accepted, Arg, Exchange, Expect, Fault, Framing, Place, ScriptEntry, Status, Step};

use crate::parameters::{After, AfterUnknown, Parameters, Permission, Responses, UnknownStatus};
use crate::trace::{Command, Placed, Trace, TraceError};

/// The name of the solver's step.
pub const SOLVE: &str = "solve";
/// What the solver is sent first.
const PRINT_SUCCESS: &[u8] = b"(set-option :print-success true)\n";
/// What it is sent last.
const EXIT: &[u8] = b"(exit)\n";
/// Commands of one entry of the log, at most.
const STRETCH: usize = 4096;

/// What an entry of the log is about; its label begins with the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Commands that are answered by `success`.
    Commands,
    /// A command that is answered by what it asks for.
    Print,
    /// A check.
    Check,
}

impl Class {
    fn word(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Print => "print",
            Self::Check => "check",
        }
    }

    /// The class of an entry with this label.
    pub fn of(label: &str) -> Option<Self> {
        let word = label.split(' ').next()?;
        [Self::Commands, Self::Print, Self::Check].into_iter().find(|class| class.word() == word)
    }
}

/// Emits the dialogue. `statuses` are the answers that the host expects, if it knows any; those before the script win.
///
/// # Errors
/// If the benchmark is no trace, or has another number of checks than there are statuses.
pub fn emit<R: Read>(
    mut trace: Trace<R>,
    statuses: Option<&[Answer]>,
    parameters: &Parameters,
    plan: &Plan<'_>,
) -> Result<(), Fault> {
    let mut step = Step::new(SOLVE, [Arg::Command]);
    step.patience_ns = parameters.patience_ns();
    plan.step(&step)?;
    let script = Script { parameters, plan };
    script.print_success()?;
    let mut stretch: Vec<Place> = Vec::new();
    let mut first_line = 0;
    let flush = |stretch: &mut Vec<Place>, line: u64| script.commands(stretch, line);
    let mut checks = 0;
    let mut over = false;
    let mut number = 0_u64;
    while let Some(placed) = trace.next_command().map_err(fault)? {
        number += 1;
        if number.is_multiple_of(1024) {
            plan.check_cancelled()?;
        }
        let Placed { command, from, to, line } = placed;
        if let Command::Check(stated) = command {
            checks += 1;
            let expected = match statuses {
                Some(statuses) => statuses.get(checks - 1).copied().unwrap_or(Answer::Unknown),
                None => stated,
            };
            over |= expected == Answer::Unknown && parameters.unknown_status == UnknownStatus::Stop;
            if !over {
                flush(&mut stretch, first_line)?;
                script.check(Place { from, to }, checks, line, expected)?;
            }
            continue;
        }
        if over {
            continue;
        }
        if command == Command::Print {
            flush(&mut stretch, first_line)?;
            script.print(Place { from, to }, line)?;
            continue;
        }
        if stretch.is_empty() {
            first_line = line;
        }
        stretch.push(Place { from, to });
        if stretch.len() == STRETCH || command == Command::Reset {
            flush(&mut stretch, first_line)?;
        }
        if command == Command::Reset {
            script.print_success()?;
        }
    }
    // Nobody is asked anything after the last check that counts.
    if let Some(statuses) = statuses
        && statuses.len() != checks
    {
        let text = format!(
            "the script has {checks} check-sat commands, but {} expected answers are stated for it",
            statuses.len()
        );
        return Err(Fault::new(Status::BadBenchmark, text)
            .hint("state one for each check-sat in the index, or none, so that the script's own count"));
    }
    plan.script(&ScriptEntry::Send(EXIT.to_vec()))
}

/// Why a benchmark is no trace, for the host.
pub fn fault(error: TraceError) -> Fault {
    match error {
        TraceError::Read(error) => Fault::new(Status::ReadFailed, format!("the benchmark cannot be read: {error}")),
        TraceError::Script(why) => {
            Fault::new(Status::BadBenchmark, format!("the benchmark is no SMT-LIB script: {why}"))
                .hint("correct it or leave it out")
        }
    }
}

/// Whether the dialogue goes on after this answer to a check.
pub fn accepts(parameters: &Parameters, answer: Answer, expected: Answer) -> bool {
    match answer {
        Answer::Unknown => parameters.after_unknown != AfterUnknown::Stop,
        claim => parameters.after_wrong == After::Continue || expected == Answer::Unknown || claim == expected,
    }
}

struct Script<'a> {
    parameters: &'a Parameters,
    plan: &'a Plan<'a>,
}

impl Script<'_> {
    fn expect(&self, label: String, words: &[&str], stop: bool) -> Expect {
        let framing = match self.parameters.responses {
            Responses::Line => Framing::Line,
            Responses::Expression => Framing::SExpression,
        };
        Expect {
            skip_blank: true,
            accept: words.iter().map(|word| Accepted(word.as_bytes().to_vec())).collect(),
            stop_unless_accepted: stop,
            ..Expect::new(framing, label)
        }
    }

    fn success(&self, label: String) -> Expect {
        let words: &[&str] = match self.parameters.unsupported {
            Permission::Accept => &["success", "unsupported"],
            Permission::Refuse => &["success"],
        };
        self.expect(label, words, self.parameters.after_error == After::Stop)
    }

    fn print_success(&self) -> Result<(), Fault> {
        self.plan.script(&ScriptEntry::Send(PRINT_SUCCESS.to_vec()))?;
        let label = format!("{} :print-success", Class::Commands.word());
        self.plan.script(&ScriptEntry::Expect(self.success(label)))
    }

    fn commands(&self, stretch: &mut Vec<Place>, line: u64) -> Result<(), Fault> {
        if stretch.is_empty() {
            return Ok(());
        }
        let expect = self.success(format!("{} from line {line}", Class::Commands.word()));
        self.plan.script(&ScriptEntry::Exchange(Exchange { pieces: stretch.as_slice().into(), expect }))?;
        stretch.clear();
        Ok(())
    }

    fn print(&self, place: Place, line: u64) -> Result<(), Fault> {
        let label = format!("{} at line {line}", Class::Print.word());
        // What is asked for is a list more often than a line.
        let expect = Expect { framing: Framing::SExpression, ..self.expect(label, &[], false) };
        self.plan.script(&ScriptEntry::Exchange(Exchange { pieces: [place].into(), expect }))
    }

    fn check(&self, place: Place, number: usize, line: u64, expected: Answer) -> Result<(), Fault> {
        let parameters = self.parameters;
        let answers = [Answer::Sat, Answer::Unsat, Answer::Unknown].into_iter();
        let words: Vec<&str> =
            answers.filter(|answer| accepts(parameters, *answer, expected)).map(Answer::word).collect();
        let label = format!("{} {number} at line {line}", Class::Check.word());
        let stop = parameters.after_error == After::Stop;
        let expect = Expect { timed: true, ..self.expect(label, &words, stop) };
        self.plan.script(&ScriptEntry::Exchange(Exchange { pieces: [place].into(), expect }))
    }
}
