//! The plugin keeps the rules of the boundary, linked and as a library.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon_plugin_testing::conformance(const { &[&agon_sat::AGON_PLUGIN] }, "libagon_sat.so")
}
