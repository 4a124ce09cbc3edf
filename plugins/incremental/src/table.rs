//! The table of checks, an artifact of each run: CSV, one row a check, times in nanoseconds.

use std::fmt::Write as _;

use crate::judging::{Entry, Verdict};

/// The columns.
const HEADER: &str =
    "check,expected,response,outcome,sent_ns,wall_ns,cpu_ns,commands_before,commands_wall_ns,commands_cpu_ns\n";

/// The table of a run.
pub fn table(verdict: &Verdict, entries: &[Entry]) -> String {
    let mut text = String::from(HEADER);
    let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    for (index, check) in verdict.checks.iter().enumerate() {
        let entry = check.entry.and_then(|at| entries.get(at));
        let (commands, wall, cpu) = check.commands;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{commands},{wall},{}",
            index + 1,
            check.expected.word(),
            check.said.map_or("", |said| said.word()),
            check.outcome.word(),
            number(entry.map(|entry| entry.sent_ns)),
            number(entry.map(|entry| entry.waited_ns)),
            number(entry.and_then(|entry| entry.cpu_ns)),
            number(cpu),
        );
    }
    text
}
