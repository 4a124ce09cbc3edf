//! Compiles `exit_code.c` to a shared library, as its author would by hand.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let source = folder.join("exit_code.c");
    let headers = folder.join("../../schemas");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed={}", headers.join("agon_plugin.h").display());
    let library = out.join("libagon_exit_code.so");
    // What is written over while it is mapped would change under a running program.
    let _ = fs::remove_file(&library);
    let status = cc::Build::new()
        .get_compiler()
        .to_command()
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(&headers)
        .arg(&source)
        .status()
        .expect("there is a C compiler");
    assert!(status.success(), "{} does not compile", source.display());
    println!("cargo::rustc-env=AGON_EXIT_CODE_LIBRARY={}", library.display());
    // A second place that can be told in advance: that of Cargo's own libraries, `target/PROFILE`.
    if let Some(profile) = out.ancestors().nth(3) {
        let place = profile.join("libagon_exit_code.so");
        let new = profile.join(format!("libagon_exit_code.so.{}", std::process::id()));
        // Where it was removed, it is put there again; it is as old as its source, so as not to be taken for a change.
        let put = || -> io::Result<()> {
            fs::copy(&library, &new)?;
            fs::File::options().write(true).open(&new)?.set_modified(fs::metadata(&source)?.modified()?)?;
            fs::rename(&new, &place)
        };
        put().expect("the target folder is writable");
        println!("cargo::rerun-if-changed={}", place.display());
    }
}
