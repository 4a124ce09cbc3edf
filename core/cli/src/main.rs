//! The command `agon`: arguments in, text and exit codes out. Everything else is in the libraries.
//!
//! Exit codes: 0 done, 1 a check or comparison fell short, 2 bad input or usage.

mod args;
mod compete;
mod edition;
mod entrants;
mod import;
mod known;
mod plugin;
mod print;
mod scoring;

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
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Edition(command) => edition::run(command),
        Command::Seed(args) => scoring::seed(&args),
        Command::Score(args) => scoring::score(&args),
        Command::Verify(args) => scoring::verify(&args),
        Command::Import(args) => import::run(&args),
        Command::Run(args) => compete::run(&args),
        Command::Judge(args) => compete::judge(&args),
        Command::Doctor(args) => compete::doctor(&args),
        Command::Sandbox => return compete::sandbox(),
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
