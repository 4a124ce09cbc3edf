//! What an external proof checker says.
//!
//! drat-trim prints `s VERIFIED` with exit code 0 or `s NOT VERIFIED` with exit code 1, the line after a carriage
//! return; rate prints the same without it; lrat-check prints `c VERIFIED` or `c NOT VERIFIED`. Both the line and the exit code must say
//! the same. A word elsewhere on a line is no verdict.

use agon_judging::{Condition, Run, ending};

/// The outcome of a proof check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The proof is right.
    Verified,
    /// The checker says that it is not.
    Refuted,
    /// The checker reached no verdict. The text says why.
    None(String),
}

/// Reads a checker's output and how it ended.
pub fn outcome(stdout: &[u8], run: &Run) -> Outcome {
    let (mut verified, mut refuted) = (false, false);
    for line in stdout.split(|b| *b == b'\n') {
        // A carriage return puts the cursor back: what follows it is the line that is seen.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.rsplit(|b| *b == b'\r').next().unwrap_or(line);
        match line.trim_ascii_end() {
            b"s VERIFIED" | b"c VERIFIED" => verified = true,
            b"s NOT VERIFIED" | b"c NOT VERIFIED" => refuted = true,
            _ => {}
        }
    }
    let end = ending(run);
    if end.condition != Condition::Finished {
        return Outcome::None(format!("The proof checker did not finish. {}", end.why));
    }
    match (verified, refuted, run.exit) {
        (true, false, Some(0)) => Outcome::Verified,
        (false, true, Some(code)) if code != 0 => Outcome::Refuted,
        (true, true, _) => Outcome::None("The proof checker says both VERIFIED and NOT VERIFIED.".into()),
        (false, false, _) => Outcome::None("The proof checker gave no verdict.".into()),
        (_, _, code) => {
            let code = code.map_or("none".to_string(), |c| c.to_string());
            Outcome::None(format!("The proof checker's verdict and its exit code ({code}) do not fit."))
        }
    }
}
