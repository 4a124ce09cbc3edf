//! Runs many mutated inputs: `agon-fuzz COUNT [FIRST [TARGET...]]`.

use std::process::ExitCode;

use agon_fuzz::{Fuzzer, TARGETS};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this program reports to the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (count, first) = (number(0, 10_000), number(1, 0));
    let targets: Vec<&str> =
        if arguments.len() > 2 { arguments[2..].iter().map(String::as_str).collect() } else { TARGETS.to_vec() };
    // A panic is a finding, reported once with its input.
    std::panic::set_hook(Box::new(|_| {}));
    let fuzzer = Fuzzer::new();
    let mut findings = 0;
    for target in targets {
        for n in first..first + count {
            if let Err(finding) = fuzzer.run(target, n) {
                eprintln!("{finding}\n");
                findings += 1;
                if findings >= 20 {
                    return ExitCode::FAILURE;
                }
            }
        }
        println!("{target}: {count} inputs from {first}");
    }
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
