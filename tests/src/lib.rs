//! What the end-to-end tests share: the command itself, the places of files, golden texts.

pub mod cup;
pub mod summer;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// What a call of the command came to.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit code; -1 if a signal ended it.
    pub status: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said about it.
    pub stderr: String,
}

impl Output {
    /// The printed text of a call that has to succeed.
    ///
    /// # Panics
    /// If it did not.
    pub fn success(self) -> String {
        assert_eq!(self.status, 0, "{}{}", self.stdout, self.stderr);
        self.stdout
    }
}

/// The root of the workspace. The command runs there, so that paths in its messages are the same everywhere.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_path_buf()
}

/// The folder of the past competitions' rules and results: `AGON_ARCHIVE`, or `../shared` beside the workspace.
///
/// # Panics
/// If there is no such folder. Tests that call this are ignored unless asked for.
pub fn archive() -> PathBuf {
    let path = env::var_os("AGON_ARCHIVE").map_or_else(|| workspace().join("../shared"), PathBuf::from);
    assert!(path.is_dir(), "no archive at {}: set AGON_ARCHIVE", path.display());
    path
}

/// The path of the command, which is built first if it is not up to date.
///
/// # Panics
/// If it cannot be built.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(workspace());
        command.args(["build", "-q", "-p", "agon", "--locked", "--message-format=json-render-diagnostics"]);
        // The same target folder and profile as this test's, so that what is built already is used.
        let test = env::current_exe().expect("a running test has a path");
        if let Some(target) = test.ancestors().find(|folder| folder.join(".rustc_info.json").exists()) {
            command.arg("--target-dir").arg(target);
        }
        if test.components().any(|part| part.as_os_str() == "release") {
            command.arg("--release");
        }
        let output = command.output().expect("cargo can be started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).expect("cargo's messages are UTF-8");
        let executable = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["target"]["name"] == "agon")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from));
        executable.expect("cargo says where the command is")
    })
}

/// Runs the command in the root of the workspace.
///
/// # Panics
/// If it cannot be built or started, or prints something that is not UTF-8.
pub fn agon<S: AsRef<OsStr>>(args: &[S]) -> Output {
    let output = Command::new(binary())
        .args(args)
        .current_dir(workspace())
        .env("NO_COLOR", "1")
        .output()
        .expect("the command can be started");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("the command prints UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("the command prints UTF-8"),
    }
}

/// Compares a text with a committed one. With `AGON_BLESS=1` in the environment the committed one is replaced.
///
/// # Panics
/// If they differ, or the file cannot be read or written.
pub fn golden(file: &Path, actual: &str) {
    if env::var_os("AGON_BLESS").is_some_and(|v| v == "1") {
        fs::write(file, actual).expect("the golden file can be written");
        return;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    let line = expected.lines().zip(actual.lines()).take_while(|(e, a)| e == a).count();
    assert!(
        expected == actual,
        "{}, line {}: expected `{}`, found `{}`. If the new text is right, run the test with AGON_BLESS=1.",
        file.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("the end"),
        actual.lines().nth(line).unwrap_or("the end"),
    );
}

/// The edition files of the test competitions.
///
/// # Panics
/// If their folder cannot be listed.
pub fn test_editions() -> Vec<PathBuf> {
    let folder = workspace().join("tests/competitions");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the competitions can be listed")
        .flat_map(|entry| fs::read_dir(entry.expect("a folder has a name").path()).into_iter().flatten())
        .map(|entry| entry.expect("a file has a name").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .filter(|path| path.file_stem().is_none_or(|stem| stem != "adjudication"))
        .collect();
    files.sort();
    files
}
