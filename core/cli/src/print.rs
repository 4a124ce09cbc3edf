//! Writing to the terminal and to files: colours only where they belong, nothing half-written.

use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Refuses a target that cannot be written: one of the files that are read, a folder or a device, or a file in a folder
/// that is not there or takes no files. Reading may take long, and what is wrong with the target is known before.
pub fn writable<'a>(target: &Path, inputs: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let path = target.display();
    if let Ok(full) = target.canonicalize() {
        for input in inputs {
            if input.canonicalize().is_ok_and(|i| i == full) {
                anyhow::bail!("{path} is one of the files that are read; give another file to write to");
            }
        }
        if full.is_dir() {
            anyhow::bail!("{path} is a directory; give the name of a file to write, in it for example");
        }
        if !full.is_file() {
            anyhow::bail!("{path} is no regular file; give the name of a file to write");
        }
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
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

/// Prints to standard error.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
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
    err(&format!("{start}error:{end} {}\n", parts.join(": ")));
}

/// Prints to standard output, or to a file: a temporary one beside it first, so that nothing half-written remains.
pub fn to(target: Option<&Path>, text: &str) -> anyhow::Result<()> {
    let Some(path) = target else {
        out(text);
        return Ok(());
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What a link points to is replaced, not the link.
    let full = path.canonicalize();
    let path = full.as_deref().unwrap_or(path);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(folder);
    let mode = std::fs::metadata(path).map_or(0o644, |m| m.permissions().mode());
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().map_err(|e| {
        anyhow::anyhow!("{} cannot be written: {}", path.display(), agon_results::write_problem(&e, folder))
    })
}
