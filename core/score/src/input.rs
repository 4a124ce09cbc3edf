//! The table of runs of a track: results joined with the entrants' list, the divisions and the adjudications, and
//! checked against each other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agon_edition::Edition;
use agon_edition::model::{Form, Scoring, Track};
use agon_results::{ColumnRule, Duplicates, ErrorKind, Header, Kind, Mapping, Recognise, column_names, read};
use agon_table::{Column, DictBuilder, Dim, Symbols, Table, Type};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ScoreError;
use crate::adjudication::{Adjudication, Effect};

/// The runs of one track, ready to be scored.
#[derive(Debug)]
pub struct TrackRuns {
    /// The track's name.
    pub track: String,
    /// The form that the results were read by.
    pub form: String,
    /// One row a run.
    pub table: Table,
    /// What adjudications changed.
    pub effect: Effect,
}

/// An entrants' list: texts by column, and where it comes from.
#[derive(Clone, Debug, Default)]
pub struct EntrantList {
    /// One entrant a row.
    pub rows: Vec<IndexMap<String, String>>,
    /// The file, or the edition.
    pub origin: String,
    /// Whether an entrant of the results that the list lacks is an error by itself: so it is for a list that was
    /// asked for, while the edition's own list need not know every solver of a hand-made file.
    pub strict: bool,
}

impl EntrantList {
    /// The list that the edition carries.
    pub fn of_edition(edition: &Edition) -> Self {
        let origin = format!("the edition {}", edition.name);
        Self { rows: edition.entrants.list.clone(), origin, strict: false }
    }

    /// A list from a file, read by the forms of the edition.
    ///
    /// # Errors
    /// If the file cannot be read by any of them.
    pub fn read(edition: &Edition, path: &std::path::Path) -> Result<Self, ScoreError> {
        let tables = read_forms(&[path.to_path_buf()], &edition.entrants.forms)?;
        let mut rows = Vec::new();
        for (_, table) in tables {
            for row in 0..table.rows() {
                let mut texts = IndexMap::new();
                for name in table.names() {
                    let text = cell_text(table.column(name)?, table.column_type(name), row);
                    texts.insert(name.to_string(), text);
                }
                rows.push(texts);
            }
        }
        Ok(Self { rows, origin: path.display().to_string(), strict: true })
    }
}

/// The entrants' list of the edition as a table: the columns that every entrant has a value in.
///
/// # Errors
/// If a value is not of its column's type.
pub fn entrant_table(edition: &Edition) -> Result<Table, ScoreError> {
    entrant_table_of(edition, &EntrantList::of_edition(edition))
}

/// A list of entrants as a table: the columns that every entrant has a value in.
///
/// # Errors
/// If a value is not of its column's type.
pub fn entrant_table_of(edition: &Edition, entrants: &EntrantList) -> Result<Table, ScoreError> {
    let list = &entrants.rows;
    let mut table = Table::new(list.len());
    let mut columns: Vec<(&str, Type)> =
        vec![("entrant", Type::TEXT), ("solver", Type::TEXT), ("competing", Type::Bool)];
    columns.extend(edition.entrants.fields.iter().map(|(name, field)| (name.as_str(), field.ty.clone())));
    for (name, ty) in columns {
        let texts: Vec<Option<&String>> = list.iter().map(|row| row.get(name)).collect();
        let bad = |text: &str, problem: &str| {
            ScoreError::Input(format!(
                "the entrants' list of {}: `{name}` is `{text}`, which {problem}",
                entrants.origin
            ))
        };
        let column = match &ty {
            // A number that was not given adds nothing to a sum.
            Type::Number { .. } if texts.iter().any(Option::is_some) => {
                let mut values = Vec::new();
                for text in texts {
                    let text = text.map_or("0", String::as_str);
                    values.push(agon_table::parse_decimal(text).map_err(|e| bad(text, &e.to_string()))?);
                }
                Column::from_exact(values)
            }
            Type::Number { .. } => continue,
            _ if texts.iter().any(Option::is_none) => continue,
            Type::Bool => {
                let mut values = Vec::new();
                for text in texts.into_iter().flatten() {
                    values.push(bool_of(text).ok_or_else(|| bad(text, "is neither `true` nor `false`"))?);
                }
                Column::Bool(values)
            }
            Type::Symbol(_) => Column::Symbol(Symbols::from_texts(texts.into_iter().flatten())),
        };
        table.set(name, ty, column)?;
    }
    Ok(table)
}

/// A cell as text that reads back as the same value.
fn cell_text(column: &Column, ty: Option<&Type>, row: usize) -> String {
    match column {
        Column::Bool(v) => if v[row] { "true" } else { "false" }.into(),
        Column::Symbol(s) => s.get(row).into(),
        _ => {
            let unit = match ty {
                Some(Type::Number { dim, .. }) => dim.printed_unit(),
                _ => agon_table::Exact::ONE,
            };
            let value = column.value(row);
            let exact = value.as_exact().cloned().unwrap_or(agon_table::Exact::ZERO);
            exact.div(&unit).unwrap_or(exact).to_short_decimal(12)
        }
    }
}

/// Reads files by forms and adds the computed columns. One table a form that had files.
///
/// # Errors
/// If a file cannot be read, or a computed column has no value.
pub fn read_forms(files: &[PathBuf], forms: &[Form]) -> Result<Vec<(usize, Table)>, ScoreError> {
    let mappings: Vec<Mapping> = forms.iter().map(|f| f.mapping.clone()).collect();
    let outcome = read(files, &mappings)?;
    let mut tables = Vec::new();
    for (form, table) in outcome.tables {
        let mut table = table;
        for named in &forms[form].computed {
            let element = format!("computed column `{}` of the form {}", named.name, forms[form].name);
            let column = named.formula.eval(&table).map_err(|e| ScoreError::formula(&element, &e))?;
            table.set(&named.name, named.formula.ty().clone(), column)?;
        }
        tables.push((form, table));
    }
    Ok(tables)
}

/// Columns that are checked or printed whether or not a formula reads them.
const ALWAYS: [&str; 8] =
    ["entrant", "benchmark", "solver", "competing", "division", "logic", "status", "disqualified"];

/// Reads files whose columns have the names that the edition's tracks know, with times in seconds and memory in
/// bytes. The track is the one that was asked for, else the one that the file's column `track` names, else the only
/// one that knows all columns. `None` if no track does.
fn canonical(
    edition: &Edition,
    files: &[PathBuf],
    wanted: Option<&str>,
) -> Result<Option<Vec<(String, Table)>>, ScoreError> {
    let Some(first) = files.first() else { return Ok(None) };
    let Some(names) = column_names(first)? else { return Ok(None) };
    let has = |name: &str| names.iter().any(|n| n == name);
    if !has("benchmark") || !(has("entrant") || has("solver")) {
        return Ok(None);
    }
    let knows = |track: &&Track| {
        let known = |name: &String| {
            matches!(name.as_str(), "track" | "edition")
                || track.fields.contains_key(name)
                || edition.entrants.fields.contains_key(name)
        };
        wanted.is_none_or(|w| w == track.name) && names.iter().all(known)
    };
    let tracks: Vec<&Track> = edition.tracks.values().filter(knows).collect();
    let split = has("track") && wanted.is_none();
    let (Some(track), true) = (tracks.first(), tracks.len() == 1 || split) else { return Ok(None) };
    let mut columns = Vec::new();
    for name in names.iter().filter(|n| *n != "edition" && (split || *n != "track")) {
        let field = track.fields.get(name).or_else(|| edition.entrants.fields.get(name));
        let kind = match field.map(|f| &f.ty) {
            // Tracks of one file may have different vocabularies; formulas check theirs.
            None | Some(Type::Symbol(None)) => Kind::Text,
            Some(Type::Number { dim, .. }) if *dim == Dim::TIME => {
                Kind::Time { unit_ns: 1_000_000_000, negative: false }
            }
            Some(Type::Number { dim, .. }) if *dim == Dim::MEMORY => Kind::Memory { unit_bytes: 1 },
            Some(Type::Number { .. }) => Kind::Number,
            Some(Type::Bool) => Kind::Bool,
            Some(Type::Symbol(Some(words))) => Kind::Words(words.to_vec()),
        };
        columns.push(ColumnRule::plain(name, name, kind));
    }
    if !has("entrant") {
        columns.push(ColumnRule::plain("entrant", "solver", Kind::Text));
    }
    let mut key = vec!["entrant".to_string(), "benchmark".to_string()];
    key.extend(split.then(|| "track".to_string()));
    let mapping = Mapping {
        name: "canonical".into(),
        header: Header::Named,
        delimiter: b',',
        recognise: Recognise { columns: names.clone(), ..Recognise::default() },
        columns,
        joins: Vec::new(),
        key,
        duplicates: Duplicates::Error,
    };
    let mut outcome = read(files, &[mapping])?;
    let Some((_, table)) = outcome.tables.pop() else { return Ok(None) };
    if !split {
        return Ok(Some(vec![(track.name.clone(), table)]));
    }
    let column = table.column("track")?.clone();
    let Some(column) = column.as_symbols() else { return Ok(None) };
    let mut tables = Vec::new();
    for (code, name) in column.dict.iter().enumerate() {
        if !edition.tracks.contains_key(name) {
            let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
            return Err(ScoreError::Input(format!(
                "{}: the column `track` says {name}, but the edition {} has only the tracks {}. Correct the file.",
                first.display(),
                edition.name,
                known.join(", ")
            )));
        }
        let mask: Vec<bool> = column.codes.iter().map(|c| *c as usize == code).collect();
        tables.push((name.to_string(), table.keep(&mask)));
    }
    Ok(Some(tables))
}

/// Reads result files and prepares the runs of every track that they have results of.
///
/// # Errors
/// If a file cannot be read, or the results do not fit the edition or each other.
pub fn runs(
    edition: &Edition,
    files: &[PathBuf],
    entrants: &EntrantList,
    adjudication: Option<&Adjudication>,
) -> Result<Vec<TrackRuns>, ScoreError> {
    runs_of(edition, files, entrants, adjudication, None)
}

/// As [`runs`]. `track` is the one that was
/// asked for, if one was; it matters for files that do not say their track.
///
/// # Errors
/// If a file cannot be read, or the results do not fit the edition or each other.
pub fn runs_of(
    edition: &Edition,
    files: &[PathBuf],
    entrants: &EntrantList,
    adjudication: Option<&Adjudication>,
    track: Option<&str>,
) -> Result<Vec<TrackRuns>, ScoreError> {
    let mut by_track: IndexMap<String, (String, Table)> = IndexMap::new();
    let forms = match read_forms(files, &edition.results) {
        Ok(tables) => tables
            .into_iter()
            .map(|(form, table)| {
                (edition.results[form].track.clone().unwrap_or_default(), &*edition.results[form].name, table)
            })
            .collect(),
        // No form of the edition: then perhaps a file whose columns have the names of the track's own.
        Err(ScoreError::Results(error)) if matches!(*error.kind, ErrorKind::NotRecognised { .. }) => {
            match canonical(edition, files, track)? {
                Some(tables) => tables.into_iter().map(|(track, table)| (track, "canonical", table)).collect(),
                None => return Err(ScoreError::Results(error)),
            }
        }
        Err(error) => return Err(error),
    };
    let forms: Vec<(String, &str, Table)> = forms;
    for (track, form, table) in forms {
        if by_track.insert(track.clone(), (form.to_string(), table)).is_some() {
            return Err(ScoreError::Input(format!(
                "results of the track {track} were given in two forms (one of them {form}). Give the files of one form \
                 at a time; import one into the other's form first if both are needed."
            )));
        }
    }
    let mut result = Vec::new();
    // In the order of the edition, whatever the order of the files.
    for track in edition.tracks.values() {
        let Some((form, table)) = by_track.shift_remove(&track.name) else { continue };
        // Columns that no formula reads are not carried along.
        let mut reads = track.scoring.as_ref().map(Scoring::reads).unwrap_or_default();
        for recognition in edition.recognitions.values().filter(|r| r.track == track.name) {
            recognition.filter.values().for_each(|formula| reads.extend(formula.columns()));
        }
        let table = table.select(|name| ALWAYS.contains(&name) || reads.contains(name));
        let table = join_entrants(table, track, edition, entrants, &reads)?;
        let table = join_divisions(table, track)?;
        let (mut table, effect) = match adjudication {
            Some(a) => a.apply(table, &track.name)?,
            None => (table, Effect::default()),
        };
        if !table.has("disqualified") {
            let rows = table.rows();
            table.set("disqualified", Type::Bool, Column::Bool(vec![false; rows]))?;
        }
        if table.rows() == 0 {
            return Err(ScoreError::Input(format!(
                "there is no run of the track {} left to score: the files have no rows, or the adjudication removes all of \
                 them. Give files with results.",
                track.name
            )));
        }
        check_benchmarks(&table, track)?;
        check_names(&table, track, &edition.entrants.columns())?;
        result.push(TrackRuns { track: track.name.clone(), form, table, effect });
    }
    Ok(result)
}

fn bool_of(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

fn join_entrants(
    mut table: Table,
    track: &Track,
    edition: &Edition,
    list: &EntrantList,
    reads: &BTreeSet<String>,
) -> Result<Table, ScoreError> {
    let entrant = table.column("entrant")?.clone();
    let Some(entrant) = entrant.as_symbols() else {
        return Err(ScoreError::Input("the column `entrant` is not text".into()));
    };
    let mut by_key: FxHashMap<&str, &IndexMap<String, String>> = FxHashMap::default();
    for row in &list.rows {
        let Some(key) = row.get(&track.entrant_key).filter(|k| !k.is_empty()) else { continue };
        if by_key.insert(key, row).is_some() {
            return Err(ScoreError::Input(format!(
                "{} lists the entrant {key} of the track {} twice. Keep one of the two rows.",
                list.origin, track.name
            )));
        }
    }
    // Only entrants that have rows count; a dictionary may be wider.
    let mut used = vec![false; entrant.dict.len()];
    for &code in &entrant.codes {
        used[code as usize] = true;
    }
    let rows: Vec<Option<&&IndexMap<String, String>>> =
        entrant.dict.iter().enumerate().map(|(c, name)| if used[c] { by_key.get(name) } else { None }).collect();
    let absent: Vec<&str> =
        (0..rows.len()).filter(|&c| used[c] && rows[c].is_none()).map(|c| entrant.dict.get(c as u32)).collect();
    if list.strict && !absent.is_empty() {
        return Err(ScoreError::Input(format!(
            "{} does not list {} of the track {}: {}. Add {} to the list (column `{}`), or give the list that belongs to \
             these results.",
            list.origin,
            if absent.len() == 1 { "this entrant" } else { "these entrants" },
            track.name,
            absent.join(", "),
            if absent.len() == 1 { "it" } else { "them" },
            track.entrant_key,
        )));
    }
    let mut names: Vec<(String, Type, Option<String>)> =
        vec![("solver".into(), Type::TEXT, None), ("competing".into(), Type::Bool, None)];
    for (name, field) in edition.entrants.fields.iter().filter(|(name, _)| reads.contains(*name)) {
        names.push((name.clone(), field.ty.clone(), field.otherwise.clone()));
    }
    for (name, ty, otherwise) in names {
        let text = |code: usize| -> Option<String> {
            let row = rows[code]?;
            row.get(&name).filter(|t| !t.is_empty()).cloned()
        };
        let own = table.column(&name).ok().cloned();
        let fallback = otherwise.as_deref().and_then(|o| table.column(o).ok().cloned());
        let texts: Vec<Option<String>> =
            (0..rows.len()).map(|c| if used[c] { text(c) } else { Some(String::new()) }).collect();
        let complete = texts.iter().all(Option::is_some);
        match &ty {
            Type::Bool => {
                let mut values: Vec<Option<bool>> = Vec::new();
                for (code, text) in texts.iter().enumerate() {
                    let value = match text {
                        Some(t) if used[code] => Some(bool_of(t).ok_or_else(|| {
                            ScoreError::Input(format!(
                                "{}: `{name}` of the entrant {} is `{t}`. Write `true` or `false`.",
                                list.origin,
                                entrant.dict.get(code as u32)
                            ))
                        })?),
                        Some(_) => Some(false),
                        None => None,
                    };
                    values.push(value);
                }
                if complete || own.is_some() || fallback.is_some() {
                    let other = own.or(fallback);
                    let other = other.as_ref().and_then(|c| c.as_bool());
                    let column: Vec<bool> = entrant
                        .codes
                        .iter()
                        .enumerate()
                        .map(|(row, &c)| values[c as usize].or_else(|| other.map(|o| o[row])).unwrap_or(false))
                        .collect();
                    table.set(&name, ty, Column::Bool(column))?;
                }
            }
            Type::Symbol(_) => {
                let other = own.or(fallback);
                if complete || other.is_some() {
                    let other = other.as_ref().and_then(|c| c.as_symbols());
                    let mut dict = DictBuilder::new();
                    let known: Vec<Option<u32>> = texts.iter().map(|t| t.as_ref().map(|t| dict.intern(t))).collect();
                    let other_codes: Option<Vec<u32>> = other.map(|o| o.dict.iter().map(|t| dict.intern(t)).collect());
                    let codes: Vec<u32> = entrant
                        .codes
                        .iter()
                        .enumerate()
                        .map(|(row, &c)| {
                            known[c as usize].unwrap_or_else(|| match (&other_codes, other) {
                                (Some(map), Some(o)) => map[o.codes[row] as usize],
                                _ => 0,
                            })
                        })
                        .collect();
                    let symbols = Symbols { codes, dict: dict.finish() }.compact();
                    table.set(&name, ty, Column::Symbol(symbols))?;
                }
            }
            Type::Number { dim, .. } => {
                if complete && own.is_none() {
                    let unit = dim.printed_unit();
                    let mut values = Vec::new();
                    for (code, text) in texts.iter().enumerate() {
                        let text = text.as_deref().unwrap_or_default();
                        let value = if used[code] {
                            agon_table::parse_decimal(text).map_err(|e| {
                                ScoreError::Input(format!(
                                    "{}: `{name}` of the entrant {}: `{text}` {e}. Correct the list.",
                                    list.origin,
                                    entrant.dict.get(code as u32)
                                ))
                            })?
                        } else {
                            agon_table::Exact::ZERO
                        };
                        values.push(value.mul(&unit));
                    }
                    let column = entrant.codes.iter().map(|&c| values[c as usize].clone()).collect();
                    table.set(&name, ty, Column::from_exact(column))?;
                }
            }
        }
    }
    for name in ["solver", "competing"] {
        if !table.has(name) {
            return Err(ScoreError::Input(format!(
                "these results name entrants by a key ({}, for example) and do not say their `{name}`, and {} does not list \
                 {}. Give the entrants' list with --solvers FILE.",
                entrant.codes.first().map_or("none", |&c| entrant.dict.get(c)),
                list.origin,
                absent.join(", "),
            )));
        }
    }
    Ok(table)
}

fn join_divisions(mut table: Table, track: &Track) -> Result<Table, ScoreError> {
    if let Ok(logic) = table.column("logic").cloned()
        && let Some(logic) = logic.as_symbols()
        && track.divisions.values().any(|d| !d.logics.is_empty())
    {
        let mut owner: FxHashMap<&str, &str> = FxHashMap::default();
        for (name, division) in &track.divisions {
            for l in &division.logics {
                owner.insert(l, name);
            }
        }
        let logic = logic.compact();
        let mut dict = DictBuilder::new();
        let mut codes = Vec::with_capacity(logic.dict.len());
        for name in logic.dict.iter() {
            let Some(division) = owner.get(name) else {
                return Err(ScoreError::Input(format!(
                    "the results have the logic {name}, which belongs to no division of the track {}. Add it to a \
                     division of the edition, or remove its rows by an adjudication.",
                    track.name
                )));
            };
            codes.push(dict.intern(division));
        }
        let by_logic = Symbols { codes: logic.codes.iter().map(|&c| codes[c as usize]).collect(), dict: dict.finish() };
        if let Ok(said) = table.column("division").cloned()
            && let Some(said) = said.as_symbols()
        {
            // Compared once for each pair of logic and division that occurs.
            let mut seen: FxHashMap<(u32, u32), usize> = FxHashMap::default();
            let mut last = None;
            for (row, pair) in said.codes.iter().zip(&by_logic.codes).enumerate() {
                if last != Some(pair) {
                    seen.entry((*pair.0, *pair.1)).or_insert(row);
                    last = Some(pair);
                }
            }
            let mut rows: Vec<usize> = seen.into_values().collect();
            rows.sort_unstable();
            for row in rows {
                if said.get(row) != by_logic.get(row) {
                    let benchmark = table.column("benchmark")?.value(row);
                    return Err(ScoreError::Input(format!(
                        "the benchmark {} is in two divisions: the results say {}, but its logic {} belongs to {} in the \
                         track {} of the edition. Correct whichever is wrong.",
                        text_of(&benchmark),
                        said.get(row),
                        logic.get(row),
                        by_logic.get(row),
                        track.name
                    )));
                }
            }
        }
        table.set("logic", Type::TEXT, Column::Symbol(logic))?;
        table.set("division", Type::TEXT, Column::Symbol(by_logic))?;
    }
    if !table.has("division") {
        let mut names = track.divisions.keys();
        let (Some(only), None) = (names.next(), names.next()) else {
            return Err(ScoreError::Input(format!(
                "the results of the track {} say neither the logic nor the division of a benchmark. Map one of them in \
                 the edition's `results`.",
                track.name
            )));
        };
        let rows = table.rows();
        table.set("division", Type::TEXT, Column::constant(&agon_table::Value::Symbol(only.as_str().into()), rows))?;
    }
    let division = table.column("division")?.clone();
    let Some(division) = division.as_symbols() else {
        return Err(ScoreError::Input("the column `division` is not text".into()));
    };
    let mut experimental = Vec::with_capacity(division.dict.len());
    let mut used = vec![false; division.dict.len()];
    for &c in &division.codes {
        used[c as usize] = true;
    }
    for (code, name) in division.dict.iter().enumerate() {
        match track.divisions.get(name) {
            Some(d) => experimental.push(d.experimental),
            None if track.divisions.is_empty() || !used[code] => experimental.push(false),
            None => {
                return Err(ScoreError::Input(format!(
                    "the results have the division {name}, which the track {} does not have. Its divisions are {}.",
                    track.name,
                    track.divisions.keys().cloned().collect::<Vec<_>>().join(", ")
                )));
            }
        }
    }
    let column = division.codes.iter().map(|&c| experimental[c as usize]).collect();
    table.set("experimental", Type::Bool, Column::Bool(column))?;
    Ok(table)
}

fn text_of(value: &agon_table::Value) -> String {
    match value {
        agon_table::Value::Symbol(s) => s.to_string(),
        other => format!("{other:?}"),
    }
}

/// A benchmark has one division, one logic, one status: rows that say otherwise contradict each other.
fn check_benchmarks(table: &Table, track: &Track) -> Result<(), ScoreError> {
    let benchmark = table.column("benchmark")?.clone();
    let Some(benchmark) = benchmark.as_symbols() else {
        return Err(ScoreError::Input("the column `benchmark` is not text".into()));
    };
    for (name, what) in [
        ("division", "is in two divisions"),
        ("logic", "is in two logics"),
        ("status", "has two statuses"),
        ("family", "is in two families"),
    ] {
        let Ok(column) = table.column(name) else { continue };
        let Some(column) = column.as_symbols() else { continue };
        let mut first: Vec<u32> = vec![u32::MAX; benchmark.dict.len()];
        for (&b, &c) in benchmark.codes.iter().zip(&column.codes) {
            let slot = &mut first[b as usize];
            if *slot == u32::MAX {
                *slot = c;
            } else if *slot != c {
                return Err(ScoreError::Input(format!(
                    "the benchmark {} of the track {} {what}: {} and {}. Correct the results, or decide it by an \
                     adjudication.",
                    benchmark.dict.get(b),
                    track.name,
                    column.dict.get(*slot),
                    column.dict.get(c)
                )));
            }
        }
    }
    Ok(())
}

/// What is known of an entrant is the same in all of its rows, and no two entrants have one name: they could not be
/// told apart on any page.
fn check_names(table: &Table, track: &Track, entrant_columns: &[String]) -> Result<(), ScoreError> {
    let entrants = table.groups(&["entrant"])?;
    let entrant = table.column("entrant")?.clone();
    for name in entrant_columns.iter().filter(|n| *n != "entrant" && table.has(n)) {
        let groups = table.groups(std::slice::from_ref(name))?;
        let mut first: Vec<u32> = vec![u32::MAX; entrants.count];
        for (row, (&e, &value)) in entrants.ids.iter().zip(&groups.ids).enumerate() {
            let slot = &mut first[e as usize];
            if *slot == u32::MAX {
                *slot = value;
            } else if *slot != value {
                return Err(ScoreError::Input(format!(
                    "track {}: the rows of the entrant {} say different things in the column `{name}` (one of them {}). \
                     Correct the results, or say it in the entrants' list (--solvers FILE).",
                    track.name,
                    text_of(&entrant.value(row)),
                    cell_text(table.column(name)?, table.column_type(name), row),
                )));
            }
        }
    }
    let solvers = table.groups(&["solver"])?;
    let mut owner: Vec<u32> = vec![u32::MAX; solvers.count];
    for (row, (&e, &s)) in entrants.ids.iter().zip(&solvers.ids).enumerate() {
        let owner = &mut owner[s as usize];
        if *owner == u32::MAX {
            *owner = e;
        } else if *owner != e {
            return Err(ScoreError::Input(format!(
                "track {}: two entrants have the name {}, one of them {}. Give each entrant a name of its own in the \
                 entrants' list.",
                track.name,
                text_of(&table.column("solver")?.value(row)),
                text_of(&entrant.value(row)),
            )));
        }
    }
    Ok(())
}
