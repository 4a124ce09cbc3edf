//! Columns from other files.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::assemble::{Assembly, Interner};
use crate::error::{ErrorKind, ResultsError};
use crate::mapping::{Join, JoinFile, Mapping};

/// The joined files of one rule of one mapping.
pub(crate) struct Joined {
    pub assembly: Assembly,
    /// The files, with their rows in the assembly.
    pub files: Vec<(PathBuf, std::ops::Range<usize>)>,
}

impl Joined {
    pub fn new(join: &Join) -> Self {
        let on: Vec<&str> = join.on.iter().map(|(_, column)| column.as_str()).collect();
        Self { assembly: Assembly::new(&join.columns, &on), files: Vec::new() }
    }

    /// Whether this file was read already.
    pub fn has(&self, file: &Path) -> bool {
        self.files.iter().any(|(f, _)| f == file)
    }
}

/// The file beside a result file, perhaps compressed.
pub(crate) fn beside(results: &Path, name: &str) -> Result<PathBuf, ResultsError> {
    let directory = results.parent().unwrap_or(Path::new(""));
    let found: Vec<PathBuf> = ["", ".gz", ".xz", ".zst"]
        .iter()
        .map(|suffix| directory.join(format!("{name}{suffix}")))
        .filter(|path| path.exists())
        .collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let wanted = format!("{} (or with .gz, .xz, .zst)", directory.join(name).display());
            Err(ResultsError::new(results, ErrorKind::NoJoinedFile { wanted }))
        }
        [one, other, ..] => {
            Err(ResultsError::new(one, ErrorKind::TwoJoinedFiles { other: other.display().to_string() }))
        }
    }
}

/// Rows by a key of several codes: each level numbers the pairs of the number so far and the next code.
struct Index {
    levels: Vec<FxHashMap<(u32, u32), u32>>,
    /// The row of each number of the last level.
    rows: Vec<u32>,
}

/// One side of a condition: a column of the result file, with the code of the joined column for each of its codes.
struct Side<'a> {
    name: &'a str,
    main: &'a Interner,
    texts: Vec<&'a str>,
    /// `u32::MAX` where the joined files do not have the text.
    joined: Vec<u32>,
}

fn key_of(joined: &Joined, on: &[(String, String)], row: usize) -> Vec<(String, String)> {
    on.iter()
        .filter_map(|(_, column)| {
            let interner = joined.assembly.raw(column)?;
            Some((column.clone(), interner.get(interner.codes[row]).to_string()))
        })
        .collect()
}

fn index(join: &Join, joined: &Joined, rows: std::ops::Range<usize>) -> Result<Index, ResultsError> {
    let columns: Vec<&Interner> = join.on.iter().filter_map(|(_, column)| joined.assembly.raw(column)).collect();
    let mut index = Index { levels: vec![FxHashMap::default(); columns.len()], rows: Vec::new() };
    for row in rows {
        let mut number = 0;
        let mut new = false;
        for (column, level) in columns.iter().zip(&mut index.levels) {
            let next = level.len() as u32;
            number = *level.entry((number, column.codes[row])).or_insert_with(|| {
                new = true;
                next
            });
        }
        if new {
            index.rows.push(row as u32);
        } else {
            let (first_file, first_row) = joined.assembly.spans.place(index.rows[number as usize] as usize);
            let key = key_of(joined, &join.on, row);
            return Err(joined.assembly.spans.error(row, ErrorKind::DuplicateJoinKey { key, first_file, first_row }));
        }
    }
    Ok(index)
}

/// For every row of the results the row of the joined files that fits it. In an optional join a row that none fits
/// gets the row behind the last one, and the caller has to append it.
pub(crate) fn rows(
    mapping: &Mapping,
    join: &Join,
    main: &Assembly,
    joined: &Joined,
    named_in_files: &dyn Fn(&str) -> bool,
) -> Result<Vec<u32>, ResultsError> {
    let mut sides = Vec::new();
    for (name, column) in &join.on {
        let (interner, texts) = if named_in_files(name) {
            let interner = main.raw(name);
            interner.map(|i| (i, (0..i.len() as u32).map(|c| i.get(c)).collect()))
        } else {
            main.produced_texts(name)
        }
        .ok_or_else(|| {
            let file = main.spans.0.first().map(|s| s.file.clone()).unwrap_or_default();
            let why = format!(
                "mapping `{}` joins on `{name}`, which is neither a column of the result file nor a produced text column",
                mapping.name
            );
            ResultsError::new(&file, ErrorKind::BadMapping(why))
        })?;
        let other = joined.assembly.raw(column);
        let code_of = |text: &str| other.and_then(|o| o.code(text)).unwrap_or(u32::MAX);
        let joined = texts.iter().map(|text| code_of(text)).collect();
        sides.push(Side { name, main: interner, texts, joined });
    }
    // The given files are one table; the file beside a result file is joined to the rows of that file only.
    let mut result = Vec::with_capacity(main.rows);
    let mut indexes: Vec<(std::ops::Range<usize>, Index)> = Vec::new();
    let starts: Vec<usize> = main.spans.0.iter().map(|s| s.first_row).collect();
    for (at, span) in main.spans.0.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(main.rows);
        let (range, file) = match &join.file {
            JoinFile::Given => (0..joined.assembly.rows, joined.files.first().map(|f| f.0.clone()).unwrap_or_default()),
            JoinFile::Beside(name) => {
                let file = beside(&span.file, name)?;
                let rows = joined.files.iter().find(|(f, _)| *f == file).map_or(0..0, |(_, rows)| rows.clone());
                (rows, file)
            }
        };
        let known = match indexes.iter().position(|(r, _)| *r == range) {
            Some(known) => known,
            None => {
                indexes.push((range.clone(), index(join, joined, range)?));
                indexes.len() - 1
            }
        };
        let missing = join.optional.then_some(joined.assembly.rows as u32);
        fit(&sides, &indexes[known].1, span.first_row..end, missing, &mut result).map_err(|row| {
            let key = sides.iter().map(|s| (s.name.to_string(), s.texts[s.main.codes[row] as usize].to_string()));
            let joined = file.display().to_string();
            main.spans.error(row, ErrorKind::NoJoinedRow { key: key.collect(), joined })
        })?;
    }
    Ok(result)
}

/// Appends the joined rows of some rows; the error is the row that has none, unless `missing` stands for it.
fn fit(
    sides: &[Side<'_>],
    index: &Index,
    rows: std::ops::Range<usize>,
    missing: Option<u32>,
    out: &mut Vec<u32>,
) -> Result<(), usize> {
    if let [side] = sides {
        // One condition: every text is looked up once.
        let level = &index.levels[0];
        let row_of = |code: &u32| level.get(&(0, *code)).map_or(u32::MAX, |n| index.rows[*n as usize]);
        let map: Vec<u32> = side.joined.iter().map(row_of).collect();
        for row in rows {
            match map[side.main.codes[row] as usize] {
                u32::MAX => out.push(missing.ok_or(row)?),
                found => out.push(found),
            }
        }
        return Ok(());
    }
    for row in rows {
        let number = sides.iter().zip(&index.levels).try_fold(0, |number, (side, level)| {
            let code = side.joined[side.main.codes[row] as usize];
            level.get(&(number, code)).copied()
        });
        out.push(number.map(|n| index.rows[n as usize]).or(missing).ok_or(row)?);
    }
    Ok(())
}
