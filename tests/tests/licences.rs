//! What is linked may be used by anybody: every package of the build, outside this workspace, has a permissive licence
//! and comes from the public registry.

use std::process::Command;

use serde_json::Value as Json;

/// Licences that ask for no more than a notice.
const PERMISSIVE: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// What tests run as a tool and nothing links: it generates the C header. Its licence (MPL-2.0) asks for the sources of
/// changes to its own files, of which there are none.
const TOOLS: [&str; 1] = ["cbindgen"];

/// Whether an SPDX expression can be met by permissive licences alone: one of the alternatives, all of its parts.
fn permissive(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    expression.split(" AND ").all(|part| part.split(" OR ").any(|licence| PERMISSIVE.contains(&licence.trim())))
}

#[test]
fn every_linked_package_has_a_permissive_licence() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Json = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let mut seen = 0;
    for package in packages {
        let Some(source) = package["source"].as_str() else { continue };
        seen += 1;
        let name = package["name"].as_str().unwrap_or_default();
        assert!(source.starts_with("registry+"), "{name} comes from {source}, not from the public registry");
        let licence = package["license"].as_str().unwrap_or("none stated");
        assert!(permissive(licence) || TOOLS.contains(&name), "{name} has the licence {licence}");
    }
    // No package depends on a tool otherwise than for its tests.
    for package in packages {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let name = dependency["name"].as_str().unwrap_or_default();
            if TOOLS.contains(&name) {
                assert_eq!(dependency["kind"], "dev", "{} links {name}", package["name"]);
            }
        }
    }
    assert!(seen > 50, "only {seen} packages: the metadata was not understood");
}

#[test]
fn expressions() {
    assert!(permissive("MIT OR Apache-2.0") && permissive("MIT/Apache-2.0") && permissive("LGPL-2.1 OR MIT"));
    assert!(permissive("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!permissive("GPL-3.0") && !permissive("MIT AND LGPL-2.1") && !permissive("none stated"));
}
