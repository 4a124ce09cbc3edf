//! Writing tables: as CSV, and the replacement of files as a whole.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agon_table::{Column, Dim, Table, Type};

use crate::error::{ErrorKind, ResultsError};
use crate::value::{print_exact, print_real};

/// What keeps a file from being written into a folder, and what to do about it, as a fragment.
pub fn write_problem(error: &std::io::Error, folder: &Path) -> String {
    use std::io::ErrorKind as Io;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.display();
    match error.kind() {
        Io::StorageFull => format!("the disk of {folder} is full; make room there, or write to another disk"),
        Io::QuotaExceeded => {
            format!("the quota on the disk of {folder} is used up; make room, or write to another disk")
        }
        Io::FileTooLarge => {
            format!(
                "the file would be larger than {folder} or the shell's limit (`ulimit -f`) allows; raise it, or write elsewhere"
            )
        }
        Io::PermissionDenied => {
            format!("files cannot be made in {folder} (permission denied); change its permissions, or write elsewhere")
        }
        Io::ReadOnlyFilesystem => format!("{folder} is on a read-only disk; write elsewhere"),
        Io::NotFound => format!("there is no directory {folder}; make it, or write elsewhere"),
        _ => format!("{error}; check {folder} and its disk, or write elsewhere"),
    }
}

/// The temporary files that there are now.
static PARTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn parts() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of what is being written. For a program that is about to end: who goes on writing fails.
pub fn abandon() {
    for path in parts().iter() {
        let _ = std::fs::remove_file(path);
    }
}

/// Keeps a temporary file in the list while it is there.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        parts().retain(|path| *path != self.0);
    }
}

/// Writes a file beside its place and moves it there when it is complete. Whatever goes wrong, the file that was there
/// before stays, and nothing else is left in the directory.
pub(crate) fn replace(
    path: &Path,
    write: &mut dyn FnMut(&mut (dyn Write + Send), &Path) -> Result<(), ErrorKind>,
) -> Result<(), ResultsError> {
    let fail = |kind| ResultsError::new(path, kind);
    if path.is_dir() {
        return Err(fail(ErrorKind::Target));
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |e: std::io::Error| fail(ErrorKind::Write(write_problem(&e, directory)));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".agon-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; a result is an ordinary file, as far as the user's mask allows.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // Under the lock, so that no file is there that is not listed.
    let (listed, mut file) = {
        let mut parts = parts();
        let file = builder.tempfile_in(directory).map_err(failed)?;
        parts.push(file.path().to_path_buf());
        let listed = Listed(file.path().to_path_buf());
        (listed, file)
    };
    {
        let mut out = BufWriter::with_capacity(1 << 17, file.as_file_mut());
        write(&mut out, directory).map_err(fail)?;
        out.flush().map_err(failed)?;
    }
    // A file that is replaced keeps its permissions.
    if let Ok(before) = std::fs::metadata(path) {
        file.as_file().set_permissions(before.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    drop(listed);
    Ok(())
}

/// Writes a text to a file, which appears as a whole or not at all.
///
/// # Errors
/// If the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), ResultsError> {
    replace(path, &mut |out, folder| {
        out.write_all(text.as_bytes()).map_err(|e| ErrorKind::Write(write_problem(&e, folder)))
    })
}

/// Writes a table as CSV to a file, which appears as a whole or not at all. See [`write_csv_to`] for the form.
///
/// # Errors
/// If the file cannot be written, or the table has no column.
pub fn write_csv(table: &Table, path: &Path) -> Result<(), ResultsError> {
    if table.names().next().is_none() {
        return Err(ResultsError::new(path, ErrorKind::Unwritable("it has no column".into())));
    }
    replace(path, &mut |out, folder| write_csv_to(table, out).map_err(|e| ErrorKind::Write(write_problem(&e, folder))))
}

/// Writes a table as CSV: the names of the columns, then the rows, with LF and without needless quotes.
///
/// Every value is written without loss. Times are in seconds and memory in bytes, as the shortest decimals that are
/// exact (a fraction that is no decimal as `1/3`); truth values are `yes` and `no`; real numbers have the fewest digits
/// that read back as the same number.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv_to(table: &Table, out: &mut dyn Write) -> std::io::Result<()> {
    let mut line = Vec::new();
    let columns: Vec<(&Type, &Column)> =
        table.schema().filter_map(|(name, ty)| table.column(name).ok().map(|column| (ty, &**column))).collect();
    let single = columns.len() == 1;
    for (at, name) in table.names().enumerate() {
        field(&mut line, at, name, single);
    }
    line.push(b'\n');
    out.write_all(&line)?;
    for row in 0..table.rows() {
        line.clear();
        for (at, (ty, column)) in columns.iter().enumerate() {
            let dim = match ty {
                Type::Number { dim, .. } => *dim,
                _ => Dim::NONE,
            };
            match column {
                Column::Symbol(s) => field(&mut line, at, s.get(row), single),
                Column::Bool(v) => field(&mut line, at, if v[row] { "yes" } else { "no" }, single),
                Column::Int(v) if dim.time == 1 => {
                    separate(&mut line, at);
                    seconds(&mut line, v[row]);
                }
                Column::Int(v) if dim.time == 0 => {
                    separate(&mut line, at);
                    write!(line, "{}", v[row])?;
                }
                Column::Int(v) => field(&mut line, at, &print_exact(&v[row].into(), dim), single),
                Column::Exact(v) => field(&mut line, at, &print_exact(&v[row], dim), single),
                Column::Real(v) => field(&mut line, at, &print_real(v[row], dim), single),
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn separate(line: &mut Vec<u8>, at: usize) {
    if at > 0 {
        line.push(b',');
    }
}

fn field(line: &mut Vec<u8>, at: usize, text: &str, single: bool) {
    separate(line, at);
    // An empty field on its own would be a blank line, which is no row at the end of a file.
    let quoted = text.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) || (single && text.is_empty());
    if !quoted {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// Nanoseconds as seconds.
fn seconds(line: &mut Vec<u8>, ns: i64) {
    let size = ns.unsigned_abs();
    let (whole, part) = (size / 1_000_000_000, size % 1_000_000_000);
    if ns < 0 {
        line.push(b'-');
    }
    // Writing to a vector cannot fail.
    let _ = write!(line, "{whole}");
    if part > 0 {
        let _ = write!(line, ".{part:09}");
        while line.last() == Some(&b'0') {
            line.pop();
        }
    }
}
