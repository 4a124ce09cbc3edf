//! Runs one untrusted program in a sandbox, within limits, and measures it.
//!
//! [`Machine::probe`] finds out what the machine can do; a [`Runner`] runs a [`Job`] and gives an
//! [`Observation`], or a [`Fault`] if the host, not the program, is to blame; [`Slots`] shares cores out to
//! runs at the same time. The crate knows nothing of solvers, tracks or editions. How it works, what it
//! cannot do, and what it costs: `README.md`.

mod group;
mod job;
#[allow(unsafe_code)]
mod launcher;
mod layout;
mod machine;
mod observation;
mod run;
mod runner;
mod scratch;
mod script;
mod slots;
pub mod supervisor;
mod wire;

pub use group::{Groups, V2};
pub use job::{CancelToken, FileContent, Job, JobFile, Limits, Stdin};
pub use machine::{Core, Machine, Row, State};
pub use observation::{Captured, Fault, Limit, Mechanisms, MemoryUse, Observation};
pub use runner::{GroupChoice, Helper, Options, Runner, WorkFolder};
pub use script::{Answer, Exchange, Script, Step, StepLog, StepOutcome};
pub use slots::{SlotGuard, Slots, SlotsError};
