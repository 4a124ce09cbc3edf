//! What the tests of the shipped track plugins have in common: the conformance test as a program, and the checks of what
//! a plugin declares.

// These are tests: they fail by panicking, and say what they do.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use agon_abi::AgonPlugin;
use agon_host::conformance::{Options, Report, check, check_linked};
use agon_host::worker;
use agon_sdk::describe::ParameterType;
use agon_sdk::hosting::Plugin;
use agon_sdk::values::Status;

/// The `main` of a test program that holds a plugin, linked and as the library of this name beside the program, to the
/// rules of the boundary. Workers are processes of this very program.
pub fn conformance(linked: &'static [&'static AgonPlugin], library: &str) -> ExitCode {
    let first = std::env::args().nth(1);
    match first.as_deref() {
        Some(worker::SUBCOMMAND) => {
            return match worker::serve(linked) {
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
    let Ok(this) = std::env::current_exe() else { return ExitCode::FAILURE };
    // In a container, the folder of the build may be writable by others.
    let options = Options { trust_permissions: true, ..Options::new(&this) };
    let mut well = passed(&check(&this.with_file_name(library), &options));
    for descriptor in linked {
        match check_linked(descriptor, &options) {
            Ok(report) => well &= passed(&report),
            Err(error) => {
                println!("{error}");
                well = false;
            }
        }
    }
    if well && !linked.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passed(report: &Report) -> bool {
    for finding in report.findings.iter().filter(|f| !f.kept) {
        println!("{}: rule {} ({}): {}", report.plugin, finding.rule, finding.check, finding.detail);
    }
    // A check that found nothing at all has looked at nothing.
    let well = report.passed() && report.findings.len() > 10;
    let result = if well { "ok" } else { "FAILED" };
    println!("test {} with {} findings ... {result}", report.plugin, report.findings.len());
    well
}

/// What a plugin declares is what is committed under `schemas/plugins`; with `AGON_BLESS` in the environment it is
/// written there.
///
/// # Panics
/// If it is not.
pub fn the_committed_description_is_the_live_one(plugin: &Plugin) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/plugins");
    let path = folder.join(format!("{}.json", plugin.identity().id));
    let live = plugin.description_json();
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(&path, live).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(committed, live, "run the test with AGON_BLESS=1 to rewrite {}", path.display());
}

/// Every word that a parameter declares opens a track, and these values are refused for every parameter, by its name.
///
/// # Panics
/// If they are not.
pub fn every_declared_word_is_a_parameter_value(plugin: &Plugin, wrong: &[&str]) {
    let parameters = &plugin.description().parameters;
    assert!(!parameters.is_empty() && !wrong.is_empty(), "there is nothing to look at");
    for parameter in parameters {
        let open = |value: &str| plugin.open(&format!("{{\"{}\": \"{value}\"}}", parameter.name));
        if let ParameterType::Words(words) = &parameter.ty {
            for word in words {
                assert!(open(word).is_ok(), "{}: {word}", parameter.name);
            }
        }
        for value in wrong {
            let fault = open(value).err().unwrap_or_else(|| panic!("{}: {value:?} is accepted", parameter.name));
            assert_eq!((fault.status, fault.pointer), (Status::BadParameter, Some(format!("/{}", parameter.name))));
        }
    }
}
