//! The incremental track (application track until 2018): a script whose commands are sent to the solver one by one, each
//! when the one before has been answered, with every answer timed.
//!
//! [`trace`] reads a benchmark as commands; [`plan`] makes of them the dialogue that the host holds; [`judging`] says what
//! came of it under an edition's [`Parameters`]. The host sends the commands from the benchmark itself and times them, so
//! that no plugin code runs inside a timed interval, and a script of any length is never in memory as a whole.
//!
//! # What the rules say, and their trace executors do
//!
//! The solver is sent `(set-option :print-success true)` first, then the script (2012 §3.3, 2014 §4.3, 2022 §5.1 and §5.3).
//! `set-info` commands are not sent: scrambled benchmarks have none (2022 §5.1), and they hold the expected answers.
//! Neither are comments. After the last command, `(exit)` is sent and no answer to it is waited for; who then goes on is
//! ended by the host after the patience, which counts as finishing.
//!
//! | | 2012 §5 | 2014 §6.1 | 2022 §7.1.3 |
//! |---|---|---|---|
//! | a wrong answer | ends the run: ⟨1,0,0⟩ | is one erroneous response | the run has one error and no right answers |
//! | unknown | ends the run | is no right answer | is no right answer |
//! | an erroneous response to another command | ends the run | is counted | ends the run, as the trace executor does |
//! | the time limit | ends the run, earlier answers count | the time is the limit | earlier answers count |
//!
//! The first column is the defaults. What is scored of it is said by the edition's formulas over the columns.

pub mod judging;
pub mod parameters;
pub mod plan;
mod table;
pub mod trace;
mod track;

pub use judging::{Verdict, explain, judge};
pub use parameters::Parameters;
pub use track::{AGON_PLUGIN, Incremental};
