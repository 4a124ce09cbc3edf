//! The C header is generated from the crate, committed, and compiles as C11 and C++17 without a warning. With
//! AGON_BLESS=1 it is written anew.

#![allow(clippy::print_stderr)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `AgonStepLog` is `agon_step_log`.
fn c_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn assertions() -> String {
    let mut out = String::from("\n/* The sizes of the tables in this version. */\n#ifdef __cplusplus\n");
    for (macro_name, next) in [("static_assert", "#else\n"), ("_Static_assert", "#endif\n")] {
        for (name, size) in agon_abi::SIZES {
            let name = c_name(name);
            let _ = writeln!(out, "{macro_name}(sizeof({name}) == {size}, \"{name} has {size} bytes\");");
        }
        out.push_str(next);
    }
    out
}

fn generated() -> String {
    let rename: HashMap<String, String> =
        agon_abi::SIZES.iter().map(|(name, _)| ((*name).to_string(), c_name(name))).collect();
    let include = agon_abi::SIZES.iter().map(|(name, _)| (*name).to_string()).collect();
    let end = include_str!("../src/header_end.h");
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        style: cbindgen::Style::Both,
        include_guard: Some("AGON_PLUGIN_H".into()),
        header: Some(include_str!("../src/header_begin.h").trim_end().to_string()),
        trailer: Some(format!("{end}{}", assertions())),
        no_includes: true,
        sys_includes: vec!["stddef.h".into(), "stdint.h".into()],
        tab_width: 2,
        line_length: 120,
        documentation_style: cbindgen::DocumentationStyle::C99,
        export: cbindgen::ExportConfig { include, rename, ..Default::default() },
        ..Default::default()
    };
    let mut out = Vec::new();
    cbindgen::Builder::new()
        .with_src(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"))
        .with_config(config)
        .generate()
        .expect("the crate can be read")
        .write(&mut out);
    String::from_utf8(out).expect("it is text")
}

#[test]
fn the_committed_header_is_current() {
    let path = root().join("schemas/agon_plugin.h");
    let generated = generated();
    for (name, _) in agon_abi::SIZES {
        assert!(generated.contains(&format!("}} {};", c_name(name))), "{name} is not in the header");
    }
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "{} is not current; AGON_BLESS=1 writes it", path.display());
}

#[test]
fn it_compiles_as_c_and_as_cpp() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    std::fs::write(folder.path().join("agon_plugin.h"), generated()).expect("it can be written");
    for (compiler, name, standard) in [("cc", "check.c", "-std=c11"), ("c++", "check.cpp", "-std=c++17")] {
        let source = folder.path().join(name);
        let text = "#include \"agon_plugin.h\"\n\
            AGON_MANIFEST(\"check\", \"1.0\", \"\");\n\
            AGON_DESCRIPTION(\"{}\");\n\
            uint64_t size(const agon_limits *limits);\n\
            uint64_t size(const agon_limits *limits) { return AGON_HAS(limits, cores) ? AGON_STR(\"ab\").len : 0; }\n";
        std::fs::write(&source, text).expect("it can be written");
        let output = Command::new(compiler)
            .args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "-o"])
            .arg(folder.path().join("check.o"))
            .arg(&source)
            .output();
        match output {
            Ok(output) => assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr)),
            // The machines of the project have both; one without a C++ compiler checks the C side.
            Err(e) if compiler == "c++" => eprintln!("left out: {compiler}: {e}"),
            Err(e) => panic!("{compiler}: {e}; install a C compiler"),
        }
    }
}
