//! Signals that would end the program in the middle of writing a file.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Makes a file that reaches the shell's limit (`ulimit -f`) an error of the write, not the end of the program.
pub fn outlive_limits() {
    // Nobody looks at the flag: that the signal has a handler is enough. Programs that are started do not inherit it.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// From now on an interrupt takes the file away that is being written, and then ends the program as it would have.
///
/// # Errors
/// If the system does not allow it.
pub fn leave_nothing() -> anyhow::Result<()> {
    let ignored = ignored();
    let ours = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let mut signals = Signals::new(ours).context("interrupts cannot be handled")?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                agon_results::abandon();
                let _ = emulate_default_handler(signal);
            }
        })
        .context("interrupts cannot be handled")?;
    Ok(())
}

/// The signals that the program was started to ignore, as `nohup` does: a handler would undo that.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
