//! Why a result file cannot be read, or a table not be written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The failure of one operation: where it happened, and what it was.
///
/// Its `Display` is one paragraph that names the place, the cause and the remedy.
#[derive(Debug, thiserror::Error)]
pub struct ResultsError {
    /// The file.
    pub file: PathBuf,
    /// The member of the archive, if the file is one.
    pub member: Option<String>,
    /// The line of the file on which the row begins, counted from 1 (the row itself in a Parquet file).
    pub row: Option<u64>,
    /// The column: the name in the file, or the produced name where no single column of the file is to blame.
    pub column: Option<String>,
    /// What is wrong.
    pub kind: Box<ErrorKind>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read.
    Io(String),
    /// The operating system refused to write.
    Write(String),
    /// There is no such file.
    NotFound,
    /// The path leads to a directory.
    Directory,
    /// The file to write is a directory.
    Target,
    /// The path leads to a pipe, a device or a socket.
    Special,
    /// The file holds nothing.
    Empty,
    /// The compressed stream or the archive ends too early.
    Truncated {
        /// Which layer: `gzip`, `xz`, `zstd`, `tar`, `Parquet`.
        layer: &'static str,
    },
    /// The compressed stream or the archive contradicts itself or its checksum.
    Corrupt {
        /// Which layer.
        layer: &'static str,
        /// What its decoder said.
        detail: String,
    },
    /// A limit of the reader was exceeded.
    Limit {
        /// What was exceeded.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A line is longer than a line may be.
    LongLine {
        /// The limit in bytes.
        limit: usize,
    },
    /// Some lines end in LF and others in CRLF.
    MixedLineEnds,
    /// A carriage return that does not end a line.
    StrayReturn,
    /// The text is not UTF-8.
    NotUtf8,
    /// The text holds a NUL byte.
    Nul,
    /// A quoted field is not closed, or something follows its closing quote, or a quote stands inside a plain field.
    Quotes(&'static str),
    /// A row has another number of fields than the header.
    FieldCount {
        /// The fields of the row.
        found: usize,
        /// The fields that it should have.
        expected: usize,
    },
    /// The header names a column twice.
    RepeatedColumn,
    /// The file lacks a column that the mapping needs.
    MissingColumn {
        /// The columns that there are.
        have: Vec<String>,
        /// The one with the most similar name.
        closest: Option<String>,
        /// The mapping that needs it.
        mapping: String,
    },
    /// A cell is empty and the mapping does not say what that means.
    EmptyCell,
    /// A word that the mapping does not know.
    UnknownWord {
        /// The text of the cell.
        text: String,
        /// The words that it may be.
        known: Vec<String>,
    },
    /// The part that the mapping takes out of the text is not there.
    NoPart {
        /// The text of the cell.
        text: String,
        /// The pattern.
        pattern: String,
    },
    /// The text is not a value of the kind that the mapping says.
    BadValue {
        /// The text of the cell.
        text: String,
        /// What was expected, as a fragment: `a decimal number`.
        expected: &'static str,
    },
    /// A negative time.
    NegativeTime {
        /// The text of the cell.
        text: String,
    },
    /// Not a number, or infinite.
    NotFinite {
        /// The text of the cell.
        text: String,
    },
    /// A number that does not fit the representation.
    OutOfRange {
        /// The text of the cell.
        text: String,
    },
    /// Two rows have the same key.
    Duplicate {
        /// The key: names and texts.
        key: Vec<(String, String)>,
        /// The earlier row's file.
        first_file: String,
        /// The earlier row's line.
        first_row: u64,
        /// Why the declared policy does not settle it.
        why: &'static str,
    },
    /// No row of the joined file fits a row of the results.
    NoJoinedRow {
        /// The key: names and texts.
        key: Vec<(String, String)>,
        /// The joined file.
        joined: String,
    },
    /// Two rows of a joined file have the same key.
    DuplicateJoinKey {
        /// The key: names and texts.
        key: Vec<(String, String)>,
        /// The earlier row's file.
        first_file: String,
        /// The earlier row's line.
        first_row: u64,
    },
    /// The joined file is not there.
    NoJoinedFile {
        /// What was looked for.
        wanted: String,
    },
    /// Two files can be the joined one.
    TwoJoinedFiles {
        /// The other.
        other: String,
    },
    /// No mapping recognises the file.
    NotRecognised {
        /// For every form, its name and what it wanted.
        wanted: Vec<(String, String)>,
    },
    /// Several mappings recognise the file.
    Ambiguous {
        /// Their names.
        mappings: Vec<String>,
    },
    /// Nothing but joined files was given.
    NoResults,
    /// Tables of the same mapping cannot be appended to each other.
    Unlike(String),
    /// The mapping contradicts itself.
    BadMapping(String),
    /// The Parquet file is compressed in a way that is not read.
    Codec {
        /// The name of the compression.
        codec: String,
    },
    /// The Parquet file holds something that is not read.
    Parquet(String),
    /// The table cannot be written in this form.
    Unwritable(String),
}

impl ErrorKind {
    /// A short stable name for scripts.
    pub fn mnemonic(&self) -> &'static str {
        match self {
            Self::Io(_) => "results/unreadable",
            Self::Write(_) => "results/write",
            Self::NotFound => "results/not-found",
            Self::Directory => "results/directory",
            Self::Target => "results/target",
            Self::Special => "results/special-file",
            Self::Empty => "results/empty-file",
            Self::Truncated { .. } => "results/truncated",
            Self::Corrupt { .. } => "results/corrupt",
            Self::Limit { .. } => "results/limit",
            Self::LongLine { .. } => "results/long-line",
            Self::MixedLineEnds => "results/mixed-line-ends",
            Self::StrayReturn => "results/stray-return",
            Self::NotUtf8 => "results/not-utf8",
            Self::Nul => "results/nul-byte",
            Self::Quotes(_) => "results/quotes",
            Self::FieldCount { .. } => "results/field-count",
            Self::RepeatedColumn => "results/repeated-column",
            Self::MissingColumn { .. } => "results/missing-column",
            Self::EmptyCell => "results/empty-cell",
            Self::UnknownWord { .. } => "results/unknown-word",
            Self::NoPart { .. } => "results/no-part",
            Self::BadValue { .. } => "results/bad-value",
            Self::NegativeTime { .. } => "results/negative-time",
            Self::NotFinite { .. } => "results/not-finite",
            Self::OutOfRange { .. } => "results/out-of-range",
            Self::Duplicate { .. } => "results/duplicate",
            Self::NoJoinedRow { .. } => "results/no-joined-row",
            Self::DuplicateJoinKey { .. } => "results/duplicate-join-key",
            Self::NoJoinedFile { .. } => "results/no-joined-file",
            Self::TwoJoinedFiles { .. } => "results/two-joined-files",
            Self::NotRecognised { .. } => "results/not-recognised",
            Self::Ambiguous { .. } => "results/ambiguous",
            Self::NoResults => "results/no-results",
            Self::Unlike(_) => "results/unlike-tables",
            Self::BadMapping(_) => "results/bad-mapping",
            Self::Codec { .. } => "results/parquet-codec",
            Self::Parquet(_) => "results/parquet",
            Self::Unwritable(_) => "results/unwritable",
        }
    }
}

/// Texts from files go into messages shortened and without control characters.
fn quote(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// At most a dozen names, the rest counted.
fn list(names: &[String]) -> String {
    const MOST: usize = 24;
    if names.is_empty() {
        return "none".into();
    }
    let mut text: Vec<String> = names.iter().take(MOST).map(|n| quote(n)).collect();
    if names.len() > MOST {
        text.push(format!("and {} more", names.len() - MOST));
    }
    text.join(", ")
}

fn pairs(key: &[(String, String)]) -> String {
    key.iter().map(|(name, text)| format!("{name} {}", quote(text))).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "cannot be read ({e}); check the path, the permissions and the disk"),
            Self::Write(e) => {
                write!(f, "cannot be written, and nothing was left behind: {e}")
            }
            Self::NotFound => f.write_str("there is no such file; check the path"),
            Self::Directory => f.write_str("this is a directory; name the files in it"),
            Self::Target => f.write_str("this is a directory; give the name of a file to write, in it for example"),
            Self::Special => f.write_str(
                "this is a pipe or a device, not a file; write its content to a file and give that (files are read more than once)",
            ),
            Self::Empty => f.write_str("the file is empty; fetch it again"),
            Self::Truncated { layer } => {
                write!(f, "the {layer} data ends too early, the file is incomplete; fetch or copy it again")
            }
            Self::Corrupt { layer, detail } => {
                write!(f, "the {layer} data is damaged ({detail}); fetch or copy the file again")
            }
            Self::Limit { what, limit } => {
                write!(f, "more than {limit} {what}, which is the limit; give the files one by one")
            }
            Self::LongLine { limit } => {
                write!(f, "the row is longer than {limit} bytes, which is the limit; this is not a table of results, or a quote is not closed")
            }
            Self::MixedLineEnds => {
                f.write_str("some lines end in LF and others in CRLF; two files may have been glued together, convert it to one kind")
            }
            Self::StrayReturn => {
                f.write_str("a carriage return stands inside a line; convert the line ends to LF, or quote the field")
            }
            Self::NotUtf8 => f.write_str("the text is not UTF-8; convert the file to UTF-8"),
            Self::Nul => f.write_str("the text holds a NUL byte; the file is damaged or not a text, fetch it again"),
            Self::Quotes(what) => write!(f, "{what}; quote the whole field and double the quotes inside it"),
            Self::FieldCount { found, expected } => {
                let more = if found > expected { "too many" } else { "too few" };
                write!(f, "the row has {found} fields where {expected} are expected, {more}; correct the row, or quote a field that holds the delimiter")
            }
            Self::RepeatedColumn => {
                f.write_str("the header names this column twice, so it is unclear which is meant; rename one of them")
            }
            Self::MissingColumn { have, closest, mapping } => {
                write!(f, "mapping `{mapping}` needs this column and the file does not have it (the file has: {})", list(have))?;
                match closest {
                    Some(name) => write!(f, "; if {} is meant, name that in the mapping", quote(name)),
                    None => f.write_str("; name the right column in the mapping, or use the mapping of this form"),
                }
            }
            Self::EmptyCell => {
                f.write_str("the cell is empty; complete it, or declare with `empty` what an empty cell means")
            }
            Self::UnknownWord { text, known } => {
                write!(f, "{} is not a known word (known: {}); correct it, or add the word to the mapping", quote(text), list(known))
            }
            Self::NoPart { text, pattern } => {
                write!(f, "{} does not match the pattern `{pattern}`; correct the text or the pattern, or declare `otherwise`", quote(text))
            }
            Self::BadValue { text, expected } => {
                write!(f, "{} is not {expected}; correct the cell, or declare in the mapping what it means", quote(text))
            }
            Self::NegativeTime { text } => {
                write!(f, "{} is a negative time; correct the cell, or declare with `words` what this text stands for", quote(text))
            }
            Self::NotFinite { text } => {
                write!(f, "{} is not a finite number; correct the cell, or declare in the mapping what it means", quote(text))
            }
            Self::OutOfRange { text } => {
                write!(f, "{} is out of range; correct the cell, or check the unit in the mapping", quote(text))
            }
            Self::Duplicate { key, first_file, first_row, why } => {
                write!(f, "the row repeats the key of row {first_row} of {first_file} ({}), and {why}; remove one of the rows, or declare how duplicates are settled", pairs(key))
            }
            Self::NoJoinedRow { key, joined } => {
                write!(f, "no row of {joined} fits this row ({}); add the row there, or check the columns that are joined on", pairs(key))
            }
            Self::DuplicateJoinKey { key, first_file, first_row } => {
                write!(f, "the row repeats the key of row {first_row} of {first_file} ({}), so it is unclear which of them is joined; remove one of the rows", pairs(key))
            }
            Self::NoJoinedFile { wanted } => {
                write!(f, "the results need a second file that is not there: {wanted}; put it there, or give it too")
            }
            Self::TwoJoinedFiles { other } => {
                write!(f, "both this file and {other} can be the joined one; remove one of them")
            }
            Self::NotRecognised { wanted } => {
                f.write_str("no mapping recognises the file")?;
                for (at, (name, what)) in wanted.iter().enumerate() {
                    write!(f, "{} `{name}` {what}", if at == 0 { ":" } else { ";" })?;
                }
                f.write_str("; check that it is a result file, or declare a mapping for its form")
            }
            Self::Ambiguous { mappings } => {
                write!(f, "several mappings recognise the file ({}); make their `recognise` rules exclude each other", list(mappings))
            }
            Self::NoResults => {
                f.write_str("none of the given files holds results, they only add columns; give the result files too")
            }
            Self::Unlike(why) => write!(f, "the file cannot be appended to the others of its mapping: {why}; read it alone"),
            Self::BadMapping(why) => write!(f, "the mapping is wrong: {why}; correct the mapping"),
            Self::Codec { codec } => {
                write!(f, "the Parquet file is compressed with {codec}, which is not read; write it again with zstd, snappy, gzip, lz4 or no compression, for example with DuckDB: COPY (FROM 'old.parquet') TO 'new.parquet' (COMPRESSION zstd)")
            }
            Self::Parquet(why) => write!(f, "the Parquet file cannot be read: {why}; write it again in a plainer form"),
            Self::Unwritable(why) => write!(f, "the table cannot be written: {why}; remove or rename the column"),
        }
    }
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.file, self.member.as_deref()))?;
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {}", quote(column))?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// A file, or a member of an archive, as messages name it.
pub(crate) fn shown(file: &Path, member: Option<&str>) -> String {
    match member {
        None => file.display().to_string(),
        Some(member) => format!("{} ({member})", file.display()),
    }
}

impl ResultsError {
    /// An error without a place inside the file.
    pub(crate) fn new(file: &Path, kind: ErrorKind) -> Self {
        Self { file: file.to_path_buf(), member: None, row: None, column: None, kind: Box::new(kind) }
    }

    /// The same at a row.
    #[must_use]
    pub(crate) fn at(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The same in a column.
    #[must_use]
    pub(crate) fn column(mut self, name: &str) -> Self {
        self.column = Some(name.to_string());
        self
    }

    /// The same in a member of an archive.
    #[must_use]
    pub(crate) fn member(mut self, member: Option<&str>) -> Self {
        self.member = member.map(Into::into);
        self
    }

    /// From a failure to open or read a file.
    pub(crate) fn opening(file: &Path, error: &io::Error) -> Self {
        Self::new(
            file,
            match error.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::IsADirectory => ErrorKind::Directory,
                _ => ErrorKind::Io(error.to_string()),
            },
        )
    }
}

/// The name that is most like the wanted one, if any is reasonably like it.
pub(crate) fn closest(wanted: &str, have: &[String]) -> Option<String> {
    let limit = wanted.chars().count() / 2 + 1;
    have.iter()
        .map(|name| (distance(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name.clone())
}

/// How many letters have to be inserted, removed or replaced. Long names are compared by their beginning only, so a
/// damaged header cannot make this slow.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names() {
        let have = ["cpu_time".to_string(), "wallclock_time".into(), "result".into()];
        assert_eq!(closest("cpu time", &have).as_deref(), Some("cpu_time"));
        assert_eq!(closest("walltime", &have).as_deref(), Some("cpu_time"));
        assert_eq!(closest("benchmark", &have), None);
    }

    #[test]
    fn one_paragraph() {
        let error =
            ResultsError::new(Path::new("a.csv"), ErrorKind::BadValue { text: "x\ny".into(), expected: "a time" })
                .at(7)
                .column("cpu");
        let text = error.to_string();
        assert!(text.starts_with("a.csv, row 7, column `cpu`: `x\\ny` is not a time; "), "{text}");
        assert!(!text.contains('\n'));
        assert_eq!(error.kind.mnemonic(), "results/bad-value");
    }
}
