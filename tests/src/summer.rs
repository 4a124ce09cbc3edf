//! A small competition whose files tests spoil, and a folder to do that in.

use std::fs;

use tempfile::TempDir;

use crate::{agon, workspace};

/// A folder that goes away with the test.
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty one.
    ///
    /// # Panics
    /// If there is no room.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room for a folder"))
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Writes a file; returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).expect("the file can be written");
        path
    }

    /// The names of what lies in the folder.
    ///
    /// # Panics
    /// If it cannot be listed.
    pub fn content(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).expect("the folder can be listed");
        let mut names: Vec<String> =
            files.map(|f| f.expect("a file has a name").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A file of the competition.
pub fn cup(file: &str) -> String {
    workspace().join("tests/competitions/summer-cup").join(file).display().to_string()
}

/// The text of its edition.
///
/// # Panics
/// If it cannot be read.
pub fn edition() -> String {
    fs::read_to_string(cup("edition.yaml")).expect("the edition can be read")
}

/// The lines of the results, the header first.
///
/// # Panics
/// If they cannot be read.
pub fn results() -> Vec<String> {
    let text = fs::read_to_string(cup("results.csv")).expect("the results can be read");
    text.lines().map(str::to_string).collect()
}

/// Lines as a text.
pub fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// The message of a call that has to fail for its input, with the folder's name taken off the files.
///
/// # Panics
/// If it does not fail so, or says more than one paragraph.
pub fn refused(folder: &Folder, args: &[&str]) -> String {
    let output = agon(args);
    assert_eq!((output.status, output.stdout.as_str()), (2, ""), "{args:?}: {}", output.stderr);
    let text = output.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("{args:?}: {}", output.stderr));
    assert_eq!(text.matches('\n').count(), 1, "one paragraph: {text}");
    text.trim_end().replace(&folder.path(""), "")
}
