//! The command `agon`: arguments in, text and exit codes out. Everything else is in the libraries.
//!
//! Exit codes: 0 done, 1 a check or comparison fell short, 2 bad input or usage.

mod args;
mod bench;
mod compete;
mod edition;
mod entrants;
mod import;
mod known;
mod lint;
mod plugin;
mod print;
mod scoring;
mod scramble;
mod scramble_check;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};

/// Columns of millions of rows come and go; the system's allocator gives each one's pages back and asks for them again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a command came to.
enum Outcome {
    /// Done.
    Done,
    /// A check or comparison fell short.
    Short,
}

fn main() -> ExitCode {
    // A decoder that gives up on a damaged file is reported as damage to the file, once.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !agon_results::decoding() {
            report(panic);
        }
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(problem) => return explained(&problem),
    };
    if !matches!(cli.command, Command::Sandbox | Command::PluginHost) {
        signals::outlive_limits();
        bound_threads();
    }
    let result = match cli.command {
        Command::Edition(command) => edition::run(command),
        Command::Seed(args) => scoring::seed(&args),
        Command::Score(args) => scoring::score(&args),
        Command::Verify(args) => scoring::verify(&args),
        Command::Import(args) => import::run(&args),
        Command::Run(args) => compete::run(&args),
        Command::Judge(args) => compete::judge(&args),
        Command::Scramble(args) => scramble::run(&args),
        Command::Doctor(args) => compete::doctor(&args),
        Command::Sandbox => return compete::sandbox(),
        Command::Bench(command) => bench::run(command),
        Command::Plugin(command) => plugin::run(command),
        Command::PluginHost => plugin::serve(),
        Command::Completions { shell } => {
            use clap::CommandFactory as _;
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "agon", &mut script);
            print::out(&String::from_utf8_lossy(&script));
            Ok(Outcome::Done)
        }
    };
    match result {
        Ok(_) if print::lost() => ExitCode::from(2),
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Short) => ExitCode::from(1),
        Err(error) => {
            print::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Keeps a number of threads from the environment (`RAYON_NUM_THREADS`) within reason: each one costs memory, and a
/// hundred thousand of them stop the machine.
fn bound_threads() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    if let Some(threads) = bounded(asked.as_deref(), cores) {
        // If there are threads already, so be it.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
}

/// How many threads there are to be instead, if too many were asked for.
fn bounded(asked: Option<&str>, cores: usize) -> Option<usize> {
    const MOST: usize = 64;
    let most = cores.max(MOST);
    asked.and_then(|text| text.trim().parse::<usize>().ok()).filter(|asked| *asked > most).map(|_| most)
}

/// Prints what the parser of arguments has to say: help and version to standard output, mistakes to standard error.
fn explained(problem: &clap::Error) -> ExitCode {
    let text = problem.render();
    let plain = text.to_string();
    if problem.use_stderr() {
        // It repeats what was typed, which may be the name of a file that was made to deceive.
        let harmless = !plain.contains(|c| c != '\n' && agon_table::is_hidden(c));
        if harmless && print::colour_err() {
            print::styled(&text.ansi().to_string());
        } else {
            print::err(&plain);
        }
        return ExitCode::from(2);
    }
    print::out(&if print::colour_out() { text.ansi().to_string() } else { plain });
    if print::lost() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn threads() {
        assert_eq!(bounded(Some("100000"), 2), Some(64));
        assert_eq!(bounded(Some("100000"), 128), Some(128));
        assert_eq!(bounded(Some("8"), 2), None);
        assert_eq!((bounded(None, 2), bounded(Some("many"), 2)), (None, None));
    }
}
