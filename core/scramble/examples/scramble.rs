//! Scrambles a script as `agon scramble` does, in a process of its own: for measuring.
//!
//! `scramble MODE SEED FILE`

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use agon_scramble::{Error, Mode, Options, scramble};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, mode, seed, file] = &arguments[..] else { return ExitCode::from(2) };
    let (Some(mode), Ok(seed)) = (Mode::from_word(mode), seed.parse()) else { return ExitCode::from(2) };
    let stdout = std::io::stdout();
    match scramble(Path::new(file), &Options::new(mode, seed), &mut stdout.lock()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(Error::Refused(refusal)) => {
            let _ = writeln!(std::io::stderr(), "{}", refusal.message);
            ExitCode::from(1)
        }
        Err(other) => {
            let _ = writeln!(std::io::stderr(), "error: {file}: {other}");
            ExitCode::from(2)
        }
    }
}
