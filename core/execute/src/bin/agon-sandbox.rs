//! The sandbox process as a program of its own, for tests and measurements of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon_execute::supervisor::main()
}
