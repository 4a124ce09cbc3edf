//! Reads scripts and says how long it took: `script [-n REPEATS] [--logic] FILE...`. One line a file with `-v`.

use std::process::ExitCode;
use std::time::Instant;

use agon_smtlib::{Options, Session, Version};

#[expect(clippy::print_stdout, reason = "this program reports to the terminal")]
fn main() -> ExitCode {
    let mut repeats = 1_u32;
    let mut verbose = false;
    let mut options = Options::default();
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-n" => repeats = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "-v" => verbose = true,
            "--logic" => options.within_logic = true,
            "--standard" => options.standard_only = true,
            "--required" => options.logic_required = true,
            "--version" => {
                options.version = match arguments.next().as_deref() {
                    Some("2.0") => Some(Version::V2_0),
                    Some("2.5") => Some(Version::V2_5),
                    Some("2.6") => Some(Version::V2_6),
                    _ => Some(Version::V2_7),
                }
            }
            _ => files.push(argument),
        }
    }
    let (mut bytes, mut terms, mut failed) = (0, 0, 0);
    let start = Instant::now();
    for file in &files {
        for _ in 0..repeats {
            let Ok(text) = std::fs::read(file) else {
                println!("{file}: cannot be read");
                return ExitCode::from(2);
            };
            let mut session = Session::new(options);
            let outcome = session.read(&text);
            bytes += text.len();
            terms += session.script().terms.len();
            let script = session.script();
            match outcome {
                Err(problem) => {
                    failed += 1;
                    println!("{file}: {}: {problem}", problem.class.word());
                }
                Ok(()) if verbose => {
                    println!("{file}: {} terms of {} bytes", script.terms.len(), text.len());
                    for e in &script.extensions {
                        println!("{file}:   extension of {}: {}", e.of, e.what);
                    }
                    for p in &script.outside_logic {
                        println!("{file}:   {p}");
                    }
                }
                Ok(()) => {}
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = bytes as f64 / 1e6 / seconds;
    println!("{} files, {failed} refused, {bytes} bytes, {terms} terms, {seconds:.3} s, {rate:.1} MB/s", files.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
