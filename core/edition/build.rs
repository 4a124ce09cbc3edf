//! Puts the shipped editions and the plugins' column schemas into the library, so that the installed command needs
//! no files beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut code = String::new();
    for (name, dir, extension) in [("EDITIONS", "editions", "yaml"), ("PLUGINS", "schemas/plugins", "json")] {
        let _ = writeln!(code, "pub(crate) static {name}: &[(&str, &str)] = &[");
        for file in files(&root.join(dir), extension) {
            println!("cargo::rerun-if-changed={}", file.display());
            let file = file.canonicalize().expect("it was just listed");
            let stem = file.file_stem().and_then(|s| s.to_str()).expect("file names are plain");
            let _ = writeln!(code, "    ({stem:?}, include_str!({:?})),", file.to_str().expect("paths are UTF-8"));
        }
        code.push_str("];\n");
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("shipped.rs"), code).expect("the output folder is writable");
}
