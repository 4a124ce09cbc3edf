//! The program a runner starts for each sandbox: the runner's own program with a hidden subcommand, or
//! another one, that does nothing but call [`main`].

use std::process::ExitCode;

/// Serves as a sandbox process until the runner that started it is gone.
///
/// To be called first thing in a process of its own that has one thread; its standard input is the socket
/// the runner passes. Without one it ends at once with failure.
#[must_use]
pub fn main() -> ExitCode {
    crate::launcher::main()
}
