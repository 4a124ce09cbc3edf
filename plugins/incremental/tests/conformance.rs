//! The plugin keeps the rules of the boundary, linked and as a library. Workers are processes of this very program, so it
//! has its own `main`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use agon_host::conformance::{Options, Report, check, check_linked};
use agon_host::worker;
use agon_incremental::AGON_PLUGIN;

fn main() -> ExitCode {
    let first = std::env::args().nth(1);
    match first.as_deref() {
        Some(worker::SUBCOMMAND) => {
            return match worker::serve(const { &[&AGON_PLUGIN] }) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::from(2)
                }
            };
        }
        Some("--list") => {
            println!("conformance: test");
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let this = std::env::current_exe().expect("this program has a path");
    let library = this.with_file_name("libagon_incremental.so");
    // In a container, the folder of the build may be writable by others.
    let options = Options { trust_permissions: true, ..Options::new(&this) };
    let linked = check_linked(&AGON_PLUGIN, &options).expect("it is a plugin");
    if passed(&linked) & passed(&check(&library, &options)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passed(report: &Report) -> bool {
    for finding in report.findings.iter().filter(|f| !f.kept) {
        println!("{}: rule {} ({}): {}", report.plugin, finding.rule, finding.check, finding.detail);
    }
    println!(
        "test {} with {} findings ... {}",
        report.plugin,
        report.findings.len(),
        if report.passed() { "ok" } else { "FAILED" }
    );
    // A check that found nothing at all has looked at nothing.
    report.passed() && report.findings.len() > 10
}
