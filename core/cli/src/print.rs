//! Writing to the terminal and to files: colours only where they belong, nothing half-written.

use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use agon_table::{shown, shown_lines};

/// Whether standard output takes colours.
pub fn colour_out() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether standard error takes colours.
pub fn colour_err() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether something could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints to standard output. A reader that went away is a normal end; anything else is remembered for the exit code.
pub fn out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(problem) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        && problem.kind() != std::io::ErrorKind::BrokenPipe
    {
        LOST.store(true, Ordering::Relaxed);
        error(&anyhow::anyhow!("standard output cannot be written: {problem}; make room, or write to a file with -o"));
    }
}

/// Whether something could not be printed.
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Prints a text for people to standard output: what a terminal would obey in it is spelled out.
pub fn say(text: &str) {
    out(&shown_lines(text));
}

/// The file that is written when a target is given: where a link leads, also if nothing is there yet.
pub fn target(path: &Path) -> PathBuf {
    // As many links in a row as the system follows.
    const MOST: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST {
        let Ok(link) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    path
}

/// Whether two paths lead to the same file, by whatever names.
fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Refuses a target that is one of the files that are read.
pub fn not_read<'a>(path: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    if inputs.into_iter().any(|input| same_file(path, input)) {
        anyhow::bail!("{} is one of the files that are read; give another file to write to", path.display());
    }
    Ok(())
}

/// Refuses a target that cannot be written: one of the files that are read, a folder or a device, a file that is
/// protected, or one in a folder that is not there or takes no files. Reading may take long, and what is wrong with the
/// target is known before.
pub fn writable<'a>(given: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    not_read(given, inputs)?;
    let path = given.display();
    let full = target(given);
    if let Ok(meta) = std::fs::metadata(&full) {
        if meta.is_dir() {
            anyhow::bail!("{path} is a directory; give the name of a file to write, in it for example");
        }
        if !meta.is_file() {
            anyhow::bail!("{path} is no regular file; give the name of a file to write");
        }
        // The file is replaced, for which the folder's permissions suffice; but who protects a file means it.
        let closed = std::fs::OpenOptions::new().append(true).open(&full).is_err();
        if closed || meta.permissions().readonly() {
            anyhow::bail!("{path} is write-protected; allow it (`chmod u+w`), or give another file to write to");
        }
    }
    let folder = full.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.exists() {
        anyhow::bail!(
            "{path} cannot be written: there is no directory {}; make it, or give another file",
            folder.display()
        );
    }
    if !folder.is_dir() {
        anyhow::bail!("{path} cannot be written: {} is not a directory; give another file", folder.display());
    }
    // The complete file is moved to its place from beside it.
    if let Err(problem) = tempfile::tempfile_in(folder) {
        anyhow::bail!("{path} cannot be written: {}", agon_results::write_problem(&problem, folder));
    }
    Ok(())
}

/// Prints to standard error; what a terminal would obey in the text is spelled out.
pub fn err(text: &str) {
    styled(&shown_lines(text));
}

/// Prints a text to standard error that has its colours, and is made for a terminal in all else.
pub fn styled(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints a note to standard error, as one line.
pub fn note(text: &str) {
    styled(&format!("note: {}\n", shown(text)));
}

/// Prints an error with its causes as one paragraph.
pub fn error(error: &anyhow::Error) {
    let (start, end) = if colour_err() { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if !parts.iter().any(|p| p.contains(&text)) {
            parts.push(text);
        }
    }
    styled(&format!("{start}error:{end} {}\n", shown(&parts.join(": "))));
}

/// Prints to standard output, or to a file: a temporary one beside it first, so that nothing half-written remains.
pub fn to(path: Option<&Path>, text: &str) -> anyhow::Result<()> {
    let Some(path) = path else {
        out(text);
        return Ok(());
    };
    Ok(agon_results::write_text(&target(path), text)?)
}
