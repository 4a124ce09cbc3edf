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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_results::read_csv_rows;
use agon_table::{Column, DictBuilder, Symbols, Table, Type};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use crate::ScoreError;

/// A file larger than this is not a list of decisions.
const MAX_BYTES: u64 = 4 << 20;

/// A file of decisions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// The edition that it is about.
    pub adjudication: String,
    /// The decisions, in the order in which they were taken.
    pub decisions: Vec<Decision>,
    /// Where the file lies; relative paths start there.
    #[serde(skip)]
    folder: PathBuf,
}

/// One decision.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// When it was taken.
    pub date: String,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    #[serde(default)]
    pub appellant: Option<String>,
    /// Who decided.
    #[serde(default)]
    pub by: Vec<String>,
    /// Who did not take part.
    #[serde(default)]
    pub recused: Vec<String>,
    /// Only this track; every one if none is said.
    #[serde(default)]
    pub track: Option<String>,
    /// The benchmarks' status is this.
    #[serde(default)]
    pub status: Option<String>,
    /// The benchmarks are removed from the results.
    #[serde(default)]
    pub remove: bool,
    /// The benchmarks that it is about.
    #[serde(default)]
    pub benchmarks: Vec<String>,
    /// A CSV file with the columns `benchmark` and, for decisions on a status, `status`: more benchmarks.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// These entrants are listed, but compete no longer.
    #[serde(default)]
    pub disqualify: Vec<String>,
    /// These entrants' results are removed.
    #[serde(default)]
    pub withdraw: Vec<String>,
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
}

impl Adjudication {
    /// Reads a file of decisions.
    ///
    /// # Errors
    /// If it cannot be read, or a decision lacks its date, its reason or its content.
    pub fn read(path: &Path) -> Result<Self, ScoreError> {
        let fail = |message: String| ScoreError::Adjudication(format!("{}: {message}", path.display()));
        let meta = std::fs::metadata(path).map_err(|e| fail(format!("{e}. Give the path of an adjudication file.")))?;
        if !meta.is_file() || meta.len() > MAX_BYTES {
            return Err(fail(format!(
                "this is not a file of at most {MAX_BYTES} bytes. Long lists of benchmarks belong in a CSV file (`file:`)."
            )));
        }
        let text =
            std::fs::read_to_string(path).map_err(|e| fail(format!("{e}. Give the path of an adjudication file.")))?;
        let mut this: Self = serde_yaml::from_str(&text).map_err(|e| {
            fail(format!("this is not an adjudication file: {e}. See `core/score/README.md` for its format."))
        })?;
        this.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        for (number, decision) in this.decisions.iter().enumerate() {
            let number = number + 1;
            if decision.reason.trim().is_empty() || decision.date.trim().is_empty() {
                return Err(fail(format!("decision {number} has no reason or no date. Every decision needs both.")));
            }
            let about = !decision.benchmarks.is_empty() || decision.file.is_some();
            let does = decision.status.is_some() || decision.remove;
            let names = !decision.disqualify.is_empty() || !decision.withdraw.is_empty();
            if about != does && !(about && decision.file.is_some()) {
                return Err(fail(format!(
                    "decision {number} says {} but not {}. Name both.",
                    if about { "which benchmarks" } else { "what happens" },
                    if about { "what happens to them (`status:` or `remove: true`)" } else { "to which benchmarks" },
                )));
            }
            if !about && !names {
                return Err(fail(format!(
                    "decision {number} decides nothing. Give it `status`, `remove`, `disqualify` or `withdraw`."
                )));
            }
            if decision.status.is_some() && decision.remove {
                return Err(fail(format!(
                    "decision {number} both removes benchmarks and changes their status. Use two decisions."
                )));
            }
        }
        Ok(this)
    }

    /// Applies the decisions to a track's results.
    ///
    /// # Errors
    /// If a decision names a benchmark, entrant or status that the results do not have: a typing error would
    /// otherwise pass for a decision.
    pub fn apply(&self, table: Table, track: &str) -> Result<(Table, Effect), ScoreError> {
        let mut table = table;
        let mut effect = Effect::default();
        for (number, decision) in self.decisions.iter().enumerate() {
            if decision.track.as_deref().is_some_and(|t| t != track) {
                continue;
            }
            let fail = |message: String| {
                Err(ScoreError::Adjudication(format!(
                    "adjudication of {}, decision {}: {message}",
                    decision.date,
                    number + 1
                )))
            };
            let mut decided: Vec<(String, Option<String>)> =
                decision.benchmarks.iter().map(|b| (b.clone(), decision.status.clone())).collect();
            if let Some(file) = &decision.file {
                let rows = read_csv_rows(&self.folder.join(file), b',')?;
                let column = |name: &str| rows.header.iter().position(|h| h == name);
                let Some(benchmark) = column("benchmark") else {
                    return fail(format!("{} has no column `benchmark`.", file.display()));
                };
                let status = column("status");
                for row in &rows.rows {
                    let status = decision.status.clone().or_else(|| status.map(|s| row.fields[s].clone()));
                    decided.push((row.fields[benchmark].clone(), status));
                }
            }
            if !decided.is_empty() {
                let benchmarks = text_column(&table, "benchmark")?;
                let mut codes: BTreeMap<u32, Option<String>> = BTreeMap::new();
                for (name, status) in decided {
                    let Some(code) = benchmarks.dict.code(&name) else {
                        return fail(format!("the results have no benchmark `{name}`. Correct the name, or drop it."));
                    };
                    codes.insert(code, status);
                }
                if decision.remove {
                    let mask: Vec<bool> = benchmarks.codes.iter().map(|c| !codes.contains_key(c)).collect();
                    let mut names: Vec<String> = codes.keys().map(|c| benchmarks.dict.get(*c).to_string()).collect();
                    names.sort();
                    effect.removed.extend(names);
                    table = table.keep(&mask);
                } else {
                    table = match set_status(&table, &benchmarks, &codes, &mut effect) {
                        Ok(table) => table,
                        Err(message) => return fail(message),
                    };
                }
            }
            for (names, withdraw) in [(&decision.disqualify, false), (&decision.withdraw, true)] {
                if names.is_empty() {
                    continue;
                }
                let solver = text_column(&table, "solver")?;
                let entrant = text_column(&table, "entrant")?;
                let mut hit: Vec<bool> = vec![false; table.rows()];
                for name in names {
                    let codes: FxHashSet<(bool, u32)> =
                        [(true, solver.dict.code(name)), (false, entrant.dict.code(name))]
                            .into_iter()
                            .filter_map(|(is_solver, code)| code.map(|c| (is_solver, c)))
                            .collect();
                    if codes.is_empty() {
                        return fail(format!("the results have no entrant `{name}`. Correct the name, or drop it."));
                    }
                    for (row, hit) in hit.iter_mut().enumerate() {
                        *hit |=
                            codes.contains(&(true, solver.codes[row])) || codes.contains(&(false, entrant.codes[row]));
                    }
                    effect.entrants.push(name.clone());
                }
                if withdraw {
                    table = table.keep(&hit.iter().map(|h| !h).collect::<Vec<bool>>());
                } else {
                    let competing = table.column("competing")?.clone();
                    let competing: Vec<bool> =
                        competing.as_bool().unwrap_or_default().iter().zip(&hit).map(|(c, h)| *c && !h).collect();
                    let before = table.column("disqualified").ok().and_then(|c| c.as_bool().map(<[bool]>::to_vec));
                    let hit = before.map_or(hit.clone(), |b| b.iter().zip(&hit).map(|(a, b)| *a || *b).collect());
                    table.set("competing", Type::Bool, Column::Bool(competing))?;
                    table.set("disqualified", Type::Bool, Column::Bool(hit))?;
                }
            }
        }
        Ok((table, effect))
    }
}

fn text_column(table: &Table, name: &str) -> Result<Symbols, ScoreError> {
    match &**table.column(name)? {
        Column::Symbol(symbols) => Ok(symbols.clone()),
        _ => Err(ScoreError::Input(format!("the column `{name}` is not text"))),
    }
}

fn set_status(
    table: &Table,
    benchmarks: &Symbols,
    codes: &BTreeMap<u32, Option<String>>,
    effect: &mut Effect,
) -> Result<Table, String> {
    let ty = table.column_type("status").cloned().ok_or("the results have no column `status`.")?;
    let column = table.column("status").map_err(|e| e.to_string())?;
    let status = column.as_symbols().ok_or("the column `status` is not text.")?;
    let mut dict = DictBuilder::new();
    for text in status.dict.iter() {
        dict.intern(text);
    }
    let mut new_codes: FxHashMap<u32, u32> = FxHashMap::default();
    for (benchmark, word) in codes {
        let Some(word) = word else {
            return Err(format!("no status is given for `{}`. Add `status:`.", benchmarks.dict.get(*benchmark)));
        };
        if let Type::Symbol(Some(words)) = &ty
            && !words.contains(word)
        {
            return Err(format!("`{word}` is not a status (known: {}).", words.join(", ")));
        }
        new_codes.insert(*benchmark, dict.intern(word));
    }
    let mut changed: FxHashSet<u32> = FxHashSet::default();
    let mut changes: Vec<(String, String, String)> = Vec::new();
    let mut result = Vec::with_capacity(table.rows());
    for (&benchmark, &old) in benchmarks.codes.iter().zip(&status.codes) {
        let new = new_codes.get(&benchmark).copied().unwrap_or(old);
        if new != old && changed.insert(benchmark) {
            changes.push((benchmarks.dict.get(benchmark).into(), status.dict.get(old).into(), dict.get(new).into()));
        }
        result.push(new);
    }
    changes.sort();
    effect.statuses.extend(changes);
    let mut table = table.clone();
    let column = Column::Symbol(Symbols { codes: result, dict: dict.finish() });
    table.set("status", ty, column).map_err(|e| e.to_string())?;
    Ok(table)
}
