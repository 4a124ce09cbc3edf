//! Adjudications: what the organisers decided after the runs, as a dated and reasoned overlay. Raw results are never
//! rewritten.
//!
//! ```yaml
//! adjudication: smt-comp-2022
//! decisions:
//!   - date: 2022-08-05
//!     reason: a model was checked by hand
//!     by: [the organisers]
//!     status: sat
//!     benchmarks: [QF_NIA/a/b.smt2]
//!   - { date: 2022-08-06, reason: faulty declaration, remove: true, benchmarks: [LIA/x.smt2] }
//!   - { date: 2022-08-07, reason: reads earlier runs' files, disqualify: [some-entrant] }
//! ```

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_edition::Edition;
use agon_edition::diag::{Diagnostics, Source, closest};
use agon_edition::node::{Entry, Kind, Node, parse};
use agon_results::{Origins, read_csv_rows};
use agon_table::{Column, Dict, DictBuilder, Symbols, Table, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ScoreError;

/// A file larger than this is not a list of decisions.
const MAX_BYTES: u64 = 4 << 20;
/// The status word of a benchmark of which none is known.
const UNKNOWN: &str = "unknown";
/// How many single remarks are made before the rest is counted.
const MOST_NOTES: usize = 20;

/// A file of decisions, with the files that it names.
#[derive(Clone, Debug)]
pub struct Adjudication {
    /// The edition that it is about.
    pub adjudication: String,
    /// The decisions, in the order in which they were taken.
    pub decisions: Vec<Decision>,
    /// The CSV files that they name.
    pub files: Vec<PathBuf>,
    /// What was noticed while reading.
    pub notes: Vec<String>,
    /// Where the edition is named.
    spot: Spot,
}

/// Where something stands in an adjudication file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    file: Arc<str>,
    unit: &'static str,
    number: u64,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} {}", self.file, self.unit, self.number)
    }
}

/// A benchmark or an entrant that a decision names.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The status that is decided for it.
    pub status: Option<String>,
    /// Where it is named.
    pub spot: Spot,
}

/// One decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Where it stands.
    pub spot: Spot,
    /// When it was taken: year, month and day with hyphens.
    pub date: String,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub appellant: Option<String>,
    /// Who decided.
    pub by: Vec<String>,
    /// Who did not take part.
    pub recused: Vec<String>,
    /// Only this track; every one if none is said.
    pub track: Option<String>,
    /// Whether the benchmarks are removed from the results; else their status is decided.
    pub remove: bool,
    /// The benchmarks that it is about, those of its CSV file last.
    pub benchmarks: Vec<Named>,
    /// These entrants are listed, but compete no longer.
    pub disqualify: Vec<Named>,
    /// These entrants' results are removed.
    pub withdraw: Vec<Named>,
}

/// What a set of decisions did to a track's results.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// Statuses that changed: benchmark, from, to.
    pub statuses: Vec<(String, String, String)>,
    /// Benchmarks that were removed.
    pub removed: Vec<String>,
    /// Entrants that were disqualified or withdrawn.
    pub entrants: Vec<String>,
    /// What is worth a second look: decisions against the results' own statuses, decisions without effect.
    pub notes: Vec<String>,
}

impl Adjudication {
    /// Reads a file of decisions, and the CSV files that it names.
    ///
    /// # Errors
    /// If a file cannot be read, or a decision lacks its date, its reason or its content; with the line.
    pub fn read(path: &Path) -> Result<Self, ScoreError> {
        let fail = |message: String| ScoreError::Adjudication(format!("{}: {message}", path.display()));
        let meta = std::fs::metadata(path).map_err(|e| fail(format!("{e}. Give the path of an adjudication file.")))?;
        if !meta.is_file() {
            return Err(fail("this is a directory, a pipe or a device. Give the path of an adjudication file.".into()));
        }
        if meta.len() > MAX_BYTES {
            return Err(fail(format!(
                "the file has more than {MAX_BYTES} bytes. Long lists of benchmarks belong in a CSV file (`file:`)."
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|e| {
            fail(format!("this is not an adjudication file: {e}. Give the path of a YAML file in UTF-8."))
        })?;
        let source = Arc::new(Source::new(path.display().to_string(), text));
        let mut diagnostics = Diagnostics::default();
        let root = parse(&source, &mut diagnostics);
        if let Some(problem) = diagnostics.iter().next() {
            let (line, _) = problem.source.line_column(problem.span.start);
            // Editions can take things over from each other, decisions cannot.
            let help = match problem.help.as_deref() {
                Some(help) if !help.contains("extends") => help,
                Some(_) => "write the value out",
                None => "correct the YAML",
            };
            return Err(ScoreError::Adjudication(format!(
                "{}, line {line}: this is not an adjudication file: {}; {help}. See `core/score/README.md` for its format.",
                path.display(),
                problem.message
            )));
        }
        let Some(root) = root else {
            return Err(fail("the file is empty. See `core/score/README.md` for its format.".into()));
        };
        let mut reader = Decoder {
            file: path.display().to_string().into(),
            folder: path.parent().unwrap_or(Path::new("")),
            files: Vec::new(),
            notes: Vec::new(),
        };
        reader.file(&root)
    }

    /// Whether the decisions can be about this edition.
    ///
    /// # Errors
    /// If the file names another edition, or a decision a track that the edition does not have.
    pub fn check(&self, edition: &Edition) -> Result<(), ScoreError> {
        if self.adjudication != edition.name {
            return Err(ScoreError::Adjudication(format!(
                "{}: the decisions are about the edition {}, but the edition {} is scored. Give the file that belongs to \
                 it or, if the decisions hold for both, name this one in a copy.",
                self.spot, self.adjudication, edition.name
            )));
        }
        for decision in &self.decisions {
            if let Some(track) = decision.track.as_ref().filter(|t| !edition.tracks.contains_key(*t)) {
                let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
                return Err(ScoreError::Adjudication(format!(
                    "{}: the edition {} has no track `{track}` (it has: {}). Correct `track:`.",
                    decision.spot,
                    edition.name,
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }
}

/// From the tree of a file to its decisions.
struct Decoder<'a> {
    file: Arc<str>,
    folder: &'a Path,
    /// The CSV files that were read, and what was noticed in them.
    files: Vec<PathBuf>,
    notes: Vec<String>,
}

const KEYS: [&str; 12] = [
    "date",
    "reason",
    "appellant",
    "by",
    "recused",
    "track",
    "status",
    "remove",
    "benchmarks",
    "file",
    "disqualify",
    "withdraw",
];

impl Decoder<'_> {
    fn spot(&self, node: &Node) -> Spot {
        let (line, _) = node.place.source.line_column(node.place.span.start);
        Spot { file: self.file.clone(), unit: "line", number: line as u64 }
    }

    fn fail<T>(&self, node: &Node, message: impl fmt::Display) -> Result<T, ScoreError> {
        Err(ScoreError::Adjudication(format!("{}: {message}", self.spot(node))))
    }

    fn map<'n>(&self, node: &'n Node, what: &str, known: &[&str]) -> Result<&'n [Entry], ScoreError> {
        let Kind::Map(entries) = &node.kind else {
            return self
                .fail(node, format_args!("{what} has the keys {}, but this is {}.", known.join(", "), node.what()));
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let near = closest(&entry.key, known.iter().copied());
                let (line, _) = entry.key_place.source.line_column(entry.key_place.span.start);
                return Err(ScoreError::Adjudication(format!(
                    "{}, line {line}: {what} has no key `{}`{}. Its keys are {}.",
                    self.file,
                    entry.key,
                    near.map_or(String::new(), |n| format!(" (did you mean `{n}`?)")),
                    known.join(", ")
                )));
            }
        }
        Ok(entries)
    }

    fn text(&self, node: &Node, key: &str) -> Result<String, ScoreError> {
        match node.text().map(str::trim) {
            Some(text) if !text.is_empty() && !node.is_null() => Ok(text.to_string()),
            _ => self.fail(node, format_args!("`{key}` is {}. Write a text.", empty_or(node))),
        }
    }

    fn texts(&self, node: &Node, key: &str) -> Result<Vec<(String, Spot)>, ScoreError> {
        let Kind::List(items) = &node.kind else {
            return self.fail(node, format_args!("`{key}` is {}. Write a list: `{key}: [ … ]`.", empty_or(node)));
        };
        if items.is_empty() {
            return self.fail(node, format_args!("`{key}` lists nothing. Name something, or leave it out."));
        }
        items.iter().map(|item| Ok((self.text(item, key)?, self.spot(item)))).collect()
    }

    fn names(&self, node: Option<&Node>, key: &str) -> Result<Vec<Named>, ScoreError> {
        let texts = node.map(|n| self.texts(n, key)).transpose()?.unwrap_or_default();
        Ok(texts.into_iter().map(|(name, spot)| Named { name, status: None, spot }).collect())
    }

    fn file(&mut self, root: &Node) -> Result<Adjudication, ScoreError> {
        self.map(root, "an adjudication file", &["adjudication", "decisions"])?;
        let Some(edition) = root.get("adjudication") else {
            return self.fail(root, "the file does not say which edition it is about. Add `adjudication: EDITION`.");
        };
        let Some(list) = root.get("decisions") else {
            return self.fail(root, "the file has no list of decisions. Add `decisions: [ … ]`, which may be empty.");
        };
        let Kind::List(items) = &list.kind else {
            return self
                .fail(list, format_args!("`decisions` is {}. Write a list, a dash before each.", empty_or(list)));
        };
        let mut decisions = Vec::new();
        for item in items {
            decisions.push(self.decision(item)?);
        }
        if decisions.is_empty() {
            self.notes
                .push(format!("{}: there is no decision in this file, so that it changes nothing", self.spot(list)));
        }
        Ok(Adjudication {
            adjudication: self.text(edition, "adjudication")?,
            decisions,
            files: std::mem::take(&mut self.files),
            notes: std::mem::take(&mut self.notes),
            spot: self.spot(edition),
        })
    }

    fn decision(&mut self, node: &Node) -> Result<Decision, ScoreError> {
        self.map(node, "a decision", &KEYS)?;
        for key in ["date", "reason"] {
            if node.get(key).is_none_or(|n| n.text().is_none_or(|t| t.trim().is_empty()) || n.is_null()) {
                let node = node.get(key).unwrap_or(node);
                return self
                    .fail(node, format_args!("the decision has no {key}. Every decision needs a date and a reason."));
            }
        }
        let text = |key: &str| node.get(key).map(|n| self.text(n, key)).transpose();
        let date = text("date")?.unwrap_or_default();
        if !is_date(&date) {
            let node = node.get("date").unwrap_or(node);
            return self.fail(node, format_args!("`{date}` is no date. Write year, month and day, as in 2022-08-05."));
        }
        let remove = match node.get("remove").map(|n| (n, n.text().unwrap_or_default())) {
            None | Some((_, "false")) => false,
            Some((_, "true")) => true,
            Some((node, _)) => return self.fail(node, "`remove` is neither `true` nor `false`."),
        };
        let status = text("status")?;
        let people = |key: &str| -> Result<Vec<String>, ScoreError> {
            Ok(self.names(node.get(key), key)?.into_iter().map(|n| n.name).collect())
        };
        let (reason, appellant, track) = (text("reason")?.unwrap_or_default(), text("appellant")?, text("track")?);
        let (by, recused) = (people("by")?, people("recused")?);
        let mut benchmarks = self.names(node.get("benchmarks"), "benchmarks")?;
        for benchmark in &mut benchmarks {
            benchmark.status.clone_from(&status);
        }
        if !benchmarks.is_empty() && status.is_none() && !remove {
            return self.fail(
                node,
                "the decision says which benchmarks but not what happens to them. Add `status:` or `remove: true`.",
            );
        }
        if let Some(file) = node.get("file") {
            let name = self.text(file, "file")?;
            benchmarks.extend(self.csv(file, &name, status.as_deref(), remove)?);
        }
        let decision = Decision {
            spot: self.spot(node),
            date,
            reason,
            appellant,
            by,
            recused,
            track,
            remove,
            benchmarks,
            disqualify: self.names(node.get("disqualify"), "disqualify")?,
            withdraw: self.names(node.get("withdraw"), "withdraw")?,
        };
        let about = node.get("benchmarks").is_some() || node.get("file").is_some();
        if !about && (status.is_some() || remove) {
            return self.fail(
                node,
                "the decision says what happens to benchmarks but not to which. Add `benchmarks:` or `file:`.",
            );
        }
        if !about && decision.disqualify.is_empty() && decision.withdraw.is_empty() {
            return self
                .fail(node, "the decision decides nothing. Give it `status`, `remove`, `disqualify` or `withdraw`.");
        }
        if status.is_some() && remove {
            return self
                .fail(node, "the decision both removes benchmarks and changes their status. Use two decisions.");
        }
        Ok(decision)
    }

    /// The benchmarks of a CSV file.
    fn csv(&mut self, node: &Node, name: &str, status: Option<&str>, remove: bool) -> Result<Vec<Named>, ScoreError> {
        let path = self.folder.join(name);
        let mut rows = read_csv_rows(&path, b',')?;
        self.notes.append(&mut rows.notes);
        let file: Arc<str> = path.display().to_string().into();
        let column = |name: &str| match rows.header.iter().filter(|h| *h == name).count() {
            0 | 1 => Ok(rows.header.iter().position(|h| h == name)),
            _ => {
                self.fail(node, format_args!("{file} has the column `{name}` twice. Rename or remove one of the two."))
            }
        };
        let Some(benchmark) = column("benchmark")? else {
            return self.fail(
                node,
                format_args!(
                    "{file} has no column `benchmark` (it has: {}). Rename the right one.",
                    rows.header.join(", ")
                ),
            );
        };
        let statuses = column("status")?;
        if statuses.is_none() && status.is_none() && !remove {
            return self.fail(
                node,
                format_args!("{file} has no column `status`, and the decision does not say what happens to its benchmarks. Add the column, or `status:` or `remove: true` here."),
            );
        }
        if statuses.is_some() && remove {
            return self.fail(
                node,
                format_args!(
                    "the decision removes the benchmarks of {file}, which has a column `status` for them. Drop the \
                     column, or `remove: true`."
                ),
            );
        }
        if rows.rows.is_empty() {
            return self.fail(
                node,
                format_args!("{file} has a header line, but names no benchmark. Complete it, or drop the decision."),
            );
        }
        let mut named = Vec::new();
        for row in &rows.rows {
            let spot = Spot { file: file.clone(), unit: "row", number: row.line };
            let own = statuses.map(|at| row.fields[at].as_str()).filter(|own| !own.trim().is_empty());
            if let (Some(status), Some(own)) = (status, own)
                && own != status
            {
                return Err(ScoreError::Adjudication(format!(
                    "{spot}: the status of {} is {own} here, but {status} by `status:` in {}. Correct one of the two, or \
                     drop the column or `status:`.",
                    row.fields[benchmark],
                    self.spot(node)
                )));
            }
            let status = match (remove, status, statuses) {
                (true, ..) => None,
                (false, Some(status), _) => Some(status.to_string()),
                (false, None, at) => at.map(|at| row.fields[at].clone()),
            };
            for (text, column) in [(Some(&row.fields[benchmark]), "benchmark"), (status.as_ref(), "status")] {
                if text.is_some_and(|t| t.trim().is_empty()) {
                    return Err(ScoreError::Adjudication(format!(
                        "{spot}: the cell `{column}` is empty. Complete it."
                    )));
                }
            }
            named.push(Named { name: row.fields[benchmark].clone(), status, spot });
        }
        self.files.push(path);
        Ok(named)
    }
}

fn empty_or(node: &Node) -> &'static str {
    if node.is_null() || node.text().is_some_and(|t| t.trim().is_empty()) { "empty" } else { node.what() }
}

/// Whether a text is a day of the calendar, as `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let form = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, b)| if at == 4 || at == 7 { *b == b'-' } else { b.is_ascii_digit() });
    if !form {
        return false;
    }
    let number = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Decisions being laid on the results of one track after the other.
///
/// A decision that says no track holds for every track that has its benchmarks and entrants. So whether it is about
/// anything at all is known when all tracks were seen.
#[derive(Debug)]
pub struct Progress<'a> {
    adjudication: &'a Adjudication,
    /// The tracks that were seen.
    tracks: Vec<String>,
    /// For every decision its benchmarks and entrants, in order, and whether a track had them.
    found: Vec<Vec<bool>>,
    /// Benchmarks that a track has, but without a column for a status.
    without_status: Option<String>,
    benchmarks: Vec<Arc<Dict>>,
    entrants: Vec<Arc<Dict>>,
}

/// What the decisions so far did to a track.
struct State {
    table: Table,
    benchmarks: Symbols,
    /// Benchmarks that had rows before any decision, and those that still have.
    had: Vec<bool>,
    has: Vec<bool>,
    removed: FxHashMap<u32, Spot>,
    decided: FxHashMap<u32, (String, Spot)>,
    effect: Effect,
    further: usize,
}

impl State {
    fn note(&mut self, note: String) {
        if self.effect.notes.len() < MOST_NOTES {
            self.effect.notes.push(note);
        } else {
            self.further += 1;
        }
    }

    fn keep(&mut self, mask: &[bool], origins: &mut Origins) -> Result<(), ScoreError> {
        origins.keep(mask);
        self.table = self.table.keep(mask);
        self.benchmarks = text_column(&self.table, "benchmark")?;
        self.has = used(&self.benchmarks);
        Ok(())
    }
}

impl<'a> Progress<'a> {
    /// Before the first track.
    pub fn new(adjudication: &'a Adjudication) -> Self {
        let subjects = |d: &Decision| vec![false; d.benchmarks.len() + d.disqualify.len() + d.withdraw.len()];
        Self {
            adjudication,
            tracks: Vec::new(),
            found: adjudication.decisions.iter().map(subjects).collect(),
            without_status: None,
            benchmarks: Vec::new(),
            entrants: Vec::new(),
        }
    }

    fn fail<T>(&self, number: usize, spot: &Spot, message: impl fmt::Display) -> Result<T, ScoreError> {
        let date = &self.adjudication.decisions[number].date;
        Err(ScoreError::Adjudication(format!("{spot}: decision {} of {date}: {message}", number + 1)))
    }

    /// Applies the decisions to a track's results.
    ///
    /// # Errors
    /// If two decisions contradict each other, or a status is none of the track's.
    pub fn apply(&mut self, table: Table, origins: &mut Origins, track: &str) -> Result<(Table, Effect), ScoreError> {
        let benchmarks = text_column(&table, "benchmark")?;
        let had = used(&benchmarks);
        self.tracks.push(track.to_string());
        self.benchmarks.push(benchmarks.dict.clone());
        for name in ["solver", "entrant"] {
            self.entrants.push(text_column(&table, name)?.dict.clone());
        }
        let mut state = State {
            table,
            benchmarks,
            has: had.clone(),
            had,
            removed: FxHashMap::default(),
            decided: FxHashMap::default(),
            effect: Effect::default(),
            further: 0,
        };
        let whole = state.table.select(|name| name == "solver" || name == "entrant");
        let adjudication = self.adjudication;
        for (number, decision) in adjudication.decisions.iter().enumerate() {
            if decision.track.as_deref().is_some_and(|t| t != track) {
                continue;
            }
            if !decision.benchmarks.is_empty() {
                if decision.remove {
                    self.remove(number, decision, &mut state, origins)?;
                } else {
                    self.set_status(number, decision, &mut state, origins)?;
                }
            }
            let start = decision.benchmarks.len();
            self.exclude(number, start, &decision.disqualify, false, &mut state, origins, &whole)?;
            let start = start + decision.disqualify.len();
            self.exclude(number, start, &decision.withdraw, true, &mut state, origins, &whole)?;
        }
        if state.further > 0 {
            state.effect.notes.push(format!("{} further remarks on the adjudication", state.further));
        }
        Ok((state.table, state.effect))
    }

    /// The code of a benchmark that the track had at the start.
    fn code(&mut self, number: usize, at: usize, named: &Named, state: &State) -> Option<u32> {
        let code = state.benchmarks.dict.code(&named.name).filter(|c| state.had[*c as usize])?;
        self.found[number][at] = true;
        Some(code)
    }

    fn remove(
        &mut self,
        number: usize,
        decision: &Decision,
        state: &mut State,
        origins: &mut Origins,
    ) -> Result<(), ScoreError> {
        let mut codes: FxHashSet<u32> = FxHashSet::default();
        for (at, named) in decision.benchmarks.iter().enumerate() {
            let Some(code) = self.code(number, at, named, state) else { continue };
            if let Some(before) = state.removed.insert(code, named.spot.clone()) {
                state.note(format!("{}: {} is removed already by {before}", named.spot, named.name));
            } else if !state.has[code as usize] {
                state.note(format!("{}: {} has no results left to remove", named.spot, named.name));
            } else {
                codes.insert(code);
                state.effect.removed.push(named.name.clone());
            }
            if let Some((status, before)) = state.decided.get(&code) {
                let note = format!(
                    "{}: {} is removed, so that its status {status} by {before} has no effect",
                    named.spot, named.name
                );
                state.note(note);
            }
        }
        state.effect.removed.sort();
        let mask: Vec<bool> = state.benchmarks.codes.iter().map(|c| !codes.contains(c)).collect();
        state.keep(&mask, origins)
    }

    fn set_status(
        &mut self,
        number: usize,
        decision: &Decision,
        state: &mut State,
        origins: &Origins,
    ) -> Result<(), ScoreError> {
        let (Ok(column), Some(ty)) =
            (state.table.column("status").cloned(), state.table.column_type("status").cloned())
        else {
            self.without_status = self.tracks.last().cloned();
            return Ok(());
        };
        let Some(status) = column.as_symbols() else {
            return Err(ScoreError::Input("the column `status` is not text".into()));
        };
        let mut dict = DictBuilder::new();
        for text in status.dict.iter() {
            dict.intern(text);
        }
        let mut new_codes: FxHashMap<u32, (u32, &Named)> = FxHashMap::default();
        for (at, named) in decision.benchmarks.iter().enumerate() {
            let Some(code) = self.code(number, at, named, state) else { continue };
            let Some(word) = &named.status else { continue };
            if let Type::Symbol(Some(words)) = &ty
                && !words.contains(word)
            {
                let message = format_args!("`{word}` is not a status (known: {}). Correct it.", words.join(", "));
                return self.fail(number, &named.spot, message);
            }
            if let Some(before) = state.removed.get(&code) {
                let note = format!(
                    "{}: {} is removed already by {before}, so that its status has no effect",
                    named.spot, named.name
                );
                state.note(note);
                continue;
            }
            if !state.has[code as usize] {
                state.note(format!(
                    "{}: {} has no results left, so that its status has no effect",
                    named.spot, named.name
                ));
                continue;
            }
            match state.decided.get(&code) {
                Some((other, before)) if other != word => {
                    let message = format_args!(
                        "the status of {} is {word} here and {other} in {before}. Keep the decision that holds, and give \
                         its reason there.",
                        named.name
                    );
                    return self.fail(number, &named.spot, message);
                }
                Some((_, before)) => {
                    let note = format!("{}: the status of {} is decided already by {before}", named.spot, named.name);
                    state.note(note);
                }
                None => {
                    state.decided.insert(code, (word.clone(), named.spot.clone()));
                }
            }
            new_codes.insert(code, (dict.intern(word), named));
        }
        let dict = dict.finish();
        let mut changed: FxHashSet<u32> = FxHashSet::default();
        let mut changes: Vec<(String, String, String)> = Vec::new();
        let mut overrides: Vec<String> = Vec::new();
        let mut result = Vec::with_capacity(state.table.rows());
        for (row, (&benchmark, &old)) in state.benchmarks.codes.iter().zip(&status.codes).enumerate() {
            let Some(&(new, named)) = new_codes.get(&benchmark) else {
                result.push(old);
                continue;
            };
            if new != old && changed.insert(benchmark) {
                let (from, to) = (dict.get(old), dict.get(new));
                changes.push((named.name.clone(), from.into(), to.into()));
                // An unknown status that is decided is what adjudications are for; a known one is worth a look.
                if from != UNKNOWN && !from.is_empty() {
                    overrides.push(format!(
                        "{}: {} has the status {from} in {}, and {to} by this decision",
                        named.spot,
                        named.name,
                        origins.place(row, "status")
                    ));
                }
            }
            result.push(new);
        }
        let same = new_codes.len() - changed.len();
        if same > 0 {
            state.note(format!(
                "{}: decision {}: {same} of its benchmarks {} the decided status in the results already",
                decision.spot,
                number + 1,
                if same == 1 { "has" } else { "have" }
            ));
        }
        for note in overrides {
            state.note(note);
        }
        changes.sort();
        state.effect.statuses.extend(changes);
        state.table.set("status", ty, Column::Symbol(Symbols { codes: result, dict }))?;
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one step of `apply`")]
    fn exclude(
        &mut self,
        number: usize,
        start: usize,
        names: &[Named],
        withdraw: bool,
        state: &mut State,
        origins: &mut Origins,
        whole: &Table,
    ) -> Result<(), ScoreError> {
        if names.is_empty() {
            return Ok(());
        }
        let mut hit: Vec<bool> = vec![false; state.table.rows()];
        let competing = state.table.column("competing")?.clone();
        let competing = competing.as_bool().unwrap_or_default();
        for (at, named) in names.iter().enumerate() {
            let entrants = Self::entrants(&state.table, &named.name)?;
            let [by_solver, by_key] = &entrants;
            if !by_solver.is_empty() && !by_key.is_empty() && by_solver != by_key {
                let message = format_args!(
                    "`{}` is the name of one entrant and the key of another. Rename one of them in the entrants' list \
                     (--solvers FILE).",
                    named.name
                );
                return self.fail(number, &named.spot, message);
            }
            let all: FxHashSet<u32> = by_solver.union(by_key).copied().collect();
            if all.is_empty() {
                let before = Self::entrants(whole, &named.name)?;
                if before.iter().any(|set| !set.is_empty()) {
                    self.found[number][start + at] = true;
                    state.note(format!(
                        "{}: {} has no results left, so that this has no effect",
                        named.spot, named.name
                    ));
                }
                continue;
            }
            self.found[number][start + at] = true;
            let entrant = text_column(&state.table, "entrant")?;
            let mut competes = false;
            for ((row, hit), code) in hit.iter_mut().enumerate().zip(&entrant.codes) {
                if all.contains(code) {
                    *hit = true;
                    competes |= competing.get(row).copied().unwrap_or_default();
                }
            }
            if !withdraw && !competes {
                state.note(format!("{}: {} does not compete anyhow", named.spot, named.name));
            }
            if !state.effect.entrants.contains(&named.name) {
                state.effect.entrants.push(named.name.clone());
            }
        }
        if withdraw {
            return state.keep(&hit.iter().map(|h| !h).collect::<Vec<bool>>(), origins);
        }
        let competing: Vec<bool> = competing.iter().zip(&hit).map(|(c, h)| *c && !h).collect();
        let before = state.table.column("disqualified").ok().and_then(|c| c.as_bool().map(<[bool]>::to_vec));
        let hit = before.map_or(hit.clone(), |b| b.iter().zip(&hit).map(|(a, b)| *a || *b).collect());
        state.table.set("competing", Type::Bool, Column::Bool(competing))?;
        state.table.set("disqualified", Type::Bool, Column::Bool(hit))?;
        Ok(())
    }

    /// The entrants that have rows and are called so by their names, and those that are by their keys.
    fn entrants(table: &Table, name: &str) -> Result<[FxHashSet<u32>; 2], ScoreError> {
        let entrant = text_column(table, "entrant")?;
        let solver = text_column(table, "solver")?;
        let mut sets = [FxHashSet::default(), FxHashSet::default()];
        for (set, symbols) in sets.iter_mut().zip([&solver, &entrant]) {
            let Some(code) = symbols.dict.code(name) else { continue };
            set.extend(symbols.codes.iter().zip(&entrant.codes).filter(|(c, _)| **c == code).map(|(_, e)| *e));
        }
        Ok(sets)
    }

    /// After the last track: what no track had. Returns what is worth a remark.
    ///
    /// # Errors
    /// If a decision names a benchmark or an entrant that no track has to which it applies: a typing error must not
    /// pass for a decision.
    pub fn finish(self) -> Result<Vec<String>, ScoreError> {
        let mut notes = Vec::new();
        for (number, decision) in self.adjudication.decisions.iter().enumerate() {
            if let Some(track) = decision.track.as_ref().filter(|t| !self.tracks.contains(t)) {
                notes.push(format!(
                    "{}: decision {} is about the track {track}, of which there are no results here",
                    decision.spot,
                    number + 1
                ));
                continue;
            }
            let subjects = decision.benchmarks.iter().chain(&decision.disqualify).chain(&decision.withdraw);
            if let Some((at, named)) = subjects.enumerate().find(|(at, _)| !self.found[number][*at]) {
                let is_benchmark = at < decision.benchmarks.len();
                let (what, dicts) =
                    if is_benchmark { ("benchmark", &self.benchmarks) } else { ("entrant", &self.entrants) };
                if let Some(track) = self.without_status.as_ref().filter(|_| is_benchmark && !decision.remove)
                    && dicts.iter().any(|d| d.code(&named.name).is_some())
                {
                    let message = format_args!(
                        "the results of the track {track} have no column `status` that {} could be given one in. Drop the \
                         decision, or give results with statuses.",
                        named.name
                    );
                    return self.fail(number, &named.spot, message);
                }
                let near = closest(&named.name, dicts.iter().flat_map(|d| d.iter()));
                let message = format_args!(
                    "the results have no {what} `{}`{}. Correct the name or drop it; if it is about a track whose results \
                     are not given, say so with `track:`.",
                    named.name,
                    near.map_or(String::new(), |n| format!(" (did you mean `{n}`?)")),
                );
                return self.fail(number, &named.spot, message);
            }
        }
        Ok(notes)
    }
}

/// Which texts of a column's dictionary occur in its rows.
fn used(symbols: &Symbols) -> Vec<bool> {
    let mut used = vec![false; symbols.dict.len()];
    for &code in &symbols.codes {
        used[code as usize] = true;
    }
    used
}

fn text_column(table: &Table, name: &str) -> Result<Symbols, ScoreError> {
    match &**table.column(name)? {
        Column::Symbol(symbols) => Ok(symbols.clone()),
        _ => Err(ScoreError::Input(format!("the column `{name}` is not text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for good in ["2022-08-05", "2024-02-29", "2000-02-29", "2022-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "yesterday",
            "2022-13-01",
            "2022-00-10",
            "2022-04-31",
            "2023-02-29",
            "1900-02-29",
            "2022-8-5",
            "05.08.2022",
            "2022-08-05T10",
            "2022-08-0\u{665}",
            "",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }
}
