//! Which benchmarks a track is run on: a folder of them, a list of paths, or an index with what is known of each.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use agon_edition::model::Track;

use crate::{CompeteError, smt_header};

/// A benchmark as the plan knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benchmark {
    /// Its name in the results: the index's, or its path below the folder of the list.
    pub id: String,
    /// Where the file is.
    pub path: PathBuf,
    /// Its logic.
    pub logic: Option<String>,
    /// Its division.
    pub division: Option<String>,
    /// Its family.
    pub family: Option<String>,
    /// The expected answers, one for each check; empty if nothing is known.
    pub statuses: Vec<String>,
}

/// The benchmarks of a track, and what was left out.
#[derive(Clone, Debug, Default)]
pub struct Benchmarks {
    /// In the order of the list; of a folder, by path.
    pub list: Vec<Benchmark>,
    /// Files of a folder whose logic is in no division of the track, by logic.
    pub left_out: BTreeMap<String, usize>,
}

/// The columns of an index that mean something here. Others may stand beside them.
const COLUMNS: [&str; 6] = ["benchmark", "path", "logic", "division", "family", "status"];

/// A longer file is no list of benchmarks.
const MOST: u64 = 1 << 30;

/// Endings of file names that are taken for benchmarks when a folder is searched.
const ENDINGS: [&str; 4] = ["smt2", "cnf", "aag", "aig"];

/// Reads the benchmarks of `track` from a folder, a list of paths (one a line; blank lines and lines that begin with `#`
/// do not count), or a CSV index whose header line has a column `benchmark` or `path`.
///
/// Paths are relative to the folder, or to the folder of the list. What an index does not say of an SMT-LIB script, its
/// own header says: the logic and the statuses.
///
/// # Errors
/// If the list cannot be read, names a file that is not there or the same benchmark twice, or a benchmark of no
/// division. Only of a folder are files left out whose logic is none of the track's.
pub fn read(path: &Path, track: &Track) -> Result<Benchmarks, CompeteError> {
    let kind = fs::metadata(path).map_err(|e| CompeteError::io(path, "cannot be opened", &e))?;
    let from_folder = kind.is_dir();
    let mut list = if from_folder { folder(path)? } else { file(path)? };
    let mut left_out = BTreeMap::new();
    let mut kept = Vec::with_capacity(list.len());
    for (line, mut benchmark) in list.drain(..) {
        let place = |line: usize| if line == 0 { String::new() } else { format!(", line {line}") };
        if benchmark.path.extension().is_some_and(|e| e == "smt2")
            && (benchmark.logic.is_none() || benchmark.statuses.is_empty())
        {
            let input =
                File::open(&benchmark.path).map_err(|e| CompeteError::io(&benchmark.path, "cannot be opened", &e))?;
            let header = smt_header::read(BufReader::with_capacity(1 << 16, input))
                .map_err(|e| CompeteError::io(&benchmark.path, "cannot be read", &e))?;
            benchmark.logic = benchmark.logic.or(header.logic);
            if benchmark.statuses.is_empty() {
                benchmark.statuses = header.statuses;
            }
        }
        match division_of(track, &benchmark) {
            Ok(division) => benchmark.division = Some(division),
            Err(_) if from_folder => {
                *left_out.entry(benchmark.logic.unwrap_or_default()).or_insert(0) += 1;
                continue;
            }
            Err(problem) => {
                return Err(CompeteError::Input(format!(
                    "{}{}: the benchmark {} {problem}.",
                    path.display(),
                    place(line),
                    benchmark.id
                )));
            }
        }
        kept.push((line, benchmark));
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, benchmark) in &kept {
        if let Some(first) = seen.insert(&benchmark.id, *line) {
            return Err(CompeteError::Input(format!(
                "{}, lines {first} and {line}: the benchmark {} is listed twice. Keep one of the two lines.",
                path.display(),
                benchmark.id
            )));
        }
    }
    if kept.is_empty() {
        let hint = if left_out.is_empty() {
            "it names none".to_string()
        } else {
            let logics: Vec<&str> = left_out.keys().map(|l| if l.is_empty() { "(none)" } else { l }).collect();
            format!(
                "all {} files are of logics that are in no division of the track ({})",
                left_out.values().sum::<usize>(),
                logics.join(", ")
            )
        };
        return Err(CompeteError::Input(format!(
            "{}: there is no benchmark for the track {}: {hint}. Give a folder or a list with benchmarks of the track.",
            path.display(),
            track.name
        )));
    }
    Ok(Benchmarks { list: kept.into_iter().map(|(_, b)| b).collect(), left_out })
}

/// The division that a benchmark belongs to: the one that is stated, else that of its logic, else the track's only one
/// if that asks for no logic.
fn division_of(track: &Track, benchmark: &Benchmark) -> Result<String, String> {
    let known = || track.divisions.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(division) = &benchmark.division {
        return match track.divisions.get(division) {
            Some(_) => Ok(division.clone()),
            None => Err(format!(
                "is said to be of the division {division}, which the track does not have (it has: {})",
                known()
            )),
        };
    }
    if let Some(logic) = &benchmark.logic
        && let Some((name, _)) = track.divisions.iter().find(|(_, d)| d.logics.contains(logic))
    {
        return Ok(name.clone());
    }
    let open: Vec<&String> = track.divisions.iter().filter(|(_, d)| d.logics.is_empty()).map(|(n, _)| n).collect();
    match (open.as_slice(), &benchmark.logic) {
        ([only], _) if track.divisions.len() == 1 => Ok((*only).clone()),
        (_, Some(logic)) => Err(format!(
            "has the logic {logic}, which is in no division of the track (divisions: {}). Remove it from the list, or say \
             its division in a column `division`",
            known()
        )),
        (_, None) => {
            Err("states no logic, so its division is not known. Say it in a column `division` or `logic`".into())
        }
    }
}

fn folder(root: &Path) -> Result<Vec<(usize, Benchmark)>, CompeteError> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| CompeteError::io(&folder, "cannot be listed", &e))?;
        for entry in entries {
            let entry = entry.map_err(|e| CompeteError::io(&folder, "cannot be listed", &e))?;
            let path = entry.path();
            let kind = fs::metadata(&path).map_err(|e| CompeteError::io(&path, "cannot be opened", &e))?;
            // A link to a folder may lead round in a circle; benchmarks behind one have to be listed.
            let linked = entry.file_type().is_ok_and(|t| t.is_symlink());
            if kind.is_dir() && !linked {
                waiting.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| Ok((0, plain(id_below(&path, root), path)))).collect()
}

fn id_below(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

fn plain(id: String, path: PathBuf) -> Benchmark {
    Benchmark { id, path, logic: None, division: None, family: None, statuses: Vec::new() }
}

fn file(path: &Path) -> Result<Vec<(usize, Benchmark)>, CompeteError> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut text))
        .map_err(|e| CompeteError::io(path, "cannot be read", &e))?;
    if text.len() as u64 > MOST {
        return Err(CompeteError::Input(format!(
            "{}: a list of benchmarks has at most {MOST} bytes. Give a list of paths, a CSV index, or a folder.",
            path.display()
        )));
    }
    let text = String::from_utf8(text).map_err(|e| {
        CompeteError::Input(format!(
            "{}: byte {} is not UTF-8. Give a list of paths, a CSV index, or a folder.",
            path.display(),
            e.utf8_error().valid_up_to()
        ))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let root = path.parent().unwrap_or(Path::new("."));
    let first = text.lines().next().unwrap_or_default();
    let header: Vec<&str> = first.split(',').map(|c| c.trim().trim_matches('"')).collect();
    let rows = if header.contains(&"benchmark") || header.contains(&"path") {
        index(path, text, root)?
    } else {
        let lines = text.lines().enumerate().map(|(n, l)| (n + 1, l.trim()));
        lines
            .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
            .map(|(n, l)| (n, plain(l.to_string(), root.join(l))))
            .collect()
    };
    for (line, benchmark) in &rows {
        if !benchmark.path.is_file() {
            return Err(CompeteError::Input(format!(
                "{}, line {line}: there is no file {}. Paths are relative to the folder of the list; correct the path or \
                 remove the line.",
                path.display(),
                benchmark.path.display()
            )));
        }
    }
    Ok(rows)
}

fn index(path: &Path, text: &str, root: &Path) -> Result<Vec<(usize, Benchmark)>, CompeteError> {
    let complain =
        |line: u64, problem: String| CompeteError::Input(format!("{}, line {line}: {problem}", path.display()));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| complain(1, format!("{e}. Correct the header line.")))?.clone();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for (column, name) in header.iter().enumerate() {
        if let Some(known) = COLUMNS.iter().find(|known| **known == name)
            && at.insert(known, column).is_some()
        {
            return Err(complain(1, format!("the column `{name}` stands there twice. Keep one of them.")));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            complain(line, format!("{e}. Every row needs the {} columns of the header.", header.len()))
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |name: &str| at.get(name).and_then(|&c| record.get(c)).filter(|t| !t.is_empty()).map(str::to_string);
        let file = cell("path").or_else(|| cell("benchmark"));
        let Some(file) = file else {
            return Err(complain(line, "neither `benchmark` nor `path` says which file this row is about.".into()));
        };
        let id = cell("benchmark").unwrap_or_else(|| file.clone());
        let mut statuses = Vec::new();
        for word in cell("status").iter().flat_map(|s| s.split_whitespace()) {
            match word {
                "sat" | "unsat" | "unknown" => statuses.push(word.to_string()),
                _ => {
                    return Err(complain(
                        line,
                        format!(
                            "the status `{word}` is none of sat, unsat and unknown. Several are separated by blanks."
                        ),
                    ));
                }
            }
        }
        let benchmark = Benchmark {
            id,
            path: root.join(file),
            logic: cell("logic"),
            division: cell("division"),
            family: cell("family"),
            statuses,
        };
        rows.push((usize::try_from(line).unwrap_or(usize::MAX), benchmark));
    }
    Ok(rows)
}
