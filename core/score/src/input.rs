//! The table of runs of a track: results joined with the entrants' list, the divisions and the adjudications, and
//! checked against each other.
//!
//! What contradicts something else is reported with the file and row where it stands, and with both places if two rows
//! contradict each other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agon_edition::diag::closest;
use agon_edition::model::{Form, Scoring, Track};
use agon_edition::{Edition, node::Node};
use agon_formula::Formula;
use agon_results::{
    ColumnRule, Duplicates, ErrorKind, Header, Kind, Mapping, Origins, Recognise, Source, column_names,
    parquet_metadata, read, read_parquet,
};
use agon_table::{Column, DictBuilder, Dim, Symbols, Table, Type, spelled, visible};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ScoreError;
use crate::adjudication::{Adjudication, Effect, Progress};

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
    /// The names of the files that the rows came from.
    pub files: Vec<String>,
    /// Where the rows stand.
    pub origins: Origins,
    /// What was noticed while joining: lists against results, names that are not what they seem.
    pub notes: Vec<String>,
}

/// An entrants' list: texts by column, and where it comes from.
#[derive(Clone, Debug, Default)]
pub struct EntrantList {
    /// One entrant a row.
    pub rows: Vec<IndexMap<String, String>>,
    /// Where each row stands, as messages say it; empty if nothing is known but the origin.
    pub places: Vec<String>,
    /// What the columns are called in the file, where that is known.
    pub columns: IndexMap<String, String>,
    /// What was noticed while reading.
    pub notes: Vec<String>,
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
        let items = edition.tree.get("entrants").and_then(|e| e.get("list")).map(Node::items).unwrap_or_default();
        let place = |node: &Node| {
            let (line, _) = node.place.source.line_column(node.place.span.start);
            format!("{}, line {line}", node.place.source.name)
        };
        let places = items.iter().map(place).collect();
        Self { rows: edition.entrants.list.clone(), places, origin, ..Self::default() }
    }

    /// A list from a file, read by the forms of the edition.
    ///
    /// # Errors
    /// If the file cannot be read by any of them.
    pub fn read(edition: &Edition, path: &std::path::Path) -> Result<Self, ScoreError> {
        let outcome = read_forms(edition, &[path.to_path_buf()], &edition.entrants.forms)?;
        let mut rows = Vec::new();
        let mut places = Vec::new();
        let mut columns = IndexMap::new();
        for FormTable { form, table, origins } in outcome.tables {
            for rule in &edition.entrants.forms[form].mapping.columns {
                if let Source::Column(name) = &rule.source {
                    columns.insert(rule.name.clone(), name.clone());
                }
            }
            for row in 0..table.rows() {
                places.push(origins.place(row, "").to_string());
                let mut texts = IndexMap::new();
                for name in table.names() {
                    let text = cell_text(table.column(name)?, table.column_type(name), row);
                    texts.insert(name.to_string(), text);
                }
                rows.push(texts);
            }
        }
        Ok(Self { rows, places, columns, notes: outcome.notes, origin: path.display().to_string(), strict: true })
    }

    /// Where a row stands.
    fn place(&self, row: usize) -> &str {
        self.places.get(row).unwrap_or(&self.origin)
    }
}

/// A list of entrants as a table.
#[derive(Clone, Debug, Default)]
pub struct EntrantTable {
    /// The columns that every entrant has a value in; numbers also if only some have one.
    pub table: Table,
    /// Where each row stands.
    pub places: Vec<String>,
    /// The numbers that the list leaves out, by row and column: they are 0 in the table.
    pub missing: Vec<(usize, String)>,
}

/// A list of entrants as a table.
///
/// # Errors
/// If a value is not of its column's type.
pub fn entrant_table(edition: &Edition, entrants: &EntrantList) -> Result<EntrantTable, ScoreError> {
    let list = &entrants.rows;
    let mut table = Table::new(list.len());
    let mut missing = Vec::new();
    let mut columns: Vec<(&str, Type)> =
        vec![("entrant", Type::TEXT), ("solver", Type::TEXT), ("competing", Type::Bool)];
    columns.extend(edition.entrants.fields.iter().map(|(name, field)| (name.as_str(), field.ty.clone())));
    for (name, ty) in columns {
        let texts: Vec<Option<&String>> = list.iter().map(|row| row.get(name)).collect();
        let bad = |row: usize, text: &str, problem: &str| {
            ScoreError::Input(format!(
                "{}: `{name}` of an entrant is `{text}`, which {problem}. Correct it.",
                entrants.place(row)
            ))
        };
        let column = match &ty {
            // Who reads the column decides whether a number that was not given is an error.
            Type::Number { .. } if texts.iter().any(Option::is_some) => {
                let mut values = Vec::new();
                for (row, text) in texts.into_iter().enumerate() {
                    if text.is_none() {
                        missing.push((row, name.to_string()));
                    }
                    let text = text.map_or("0", String::as_str);
                    values.push(agon_table::parse_decimal(text).map_err(|e| bad(row, text, &e.to_string()))?);
                }
                Column::from_exact(values)
            }
            Type::Number { .. } => continue,
            _ if texts.iter().any(Option::is_none) => continue,
            Type::Bool => {
                let mut values = Vec::new();
                for (row, text) in texts.into_iter().flatten().enumerate() {
                    values.push(bool_of(text).ok_or_else(|| bad(row, text, "is neither `true` nor `false`"))?);
                }
                Column::Bool(values)
            }
            Type::Symbol(_) => Column::Symbol(Symbols::from_texts(texts.into_iter().flatten())),
        };
        table.set(name, ty, column)?;
    }
    let places = (0..list.len()).map(|row| entrants.place(row).to_string()).collect();
    Ok(EntrantTable { table, places, missing })
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

/// The rows of the files of one form.
#[derive(Clone, Debug)]
pub struct FormTable {
    /// The number of the form.
    pub form: usize,
    /// One row a row of the files.
    pub table: Table,
    /// Where the rows stand.
    pub origins: Origins,
}

/// What was read by forms.
#[derive(Clone, Debug, Default)]
pub struct FormTables {
    /// One table a form that had files.
    pub tables: Vec<FormTable>,
    /// What was noticed: files that nothing protects from damage, members of archives that were passed over.
    pub notes: Vec<String>,
    /// All files that were read, those that were joined too.
    pub files: Vec<PathBuf>,
}

/// A short text that changes when a form reads anything in another way. `agon import` writes it into Parquet files.
pub fn fingerprint(form: &Form) -> String {
    // FNV-1a: it tells apart, it need not resist anyone.
    let text = format!("{:?} {:?}", form.track, form.mapping);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// The key of the metadata of a Parquet file under which the fingerprint of its form stands.
pub const FINGERPRINT: &str = "form";

/// Imported files hold what a form made of the raw ones at that time. If the form is another one now, they are stale.
fn check_imports(edition: &Edition, files: &[PathBuf], forms: &[Form]) -> Result<(), ScoreError> {
    for file in files {
        let Some(metadata) = parquet_metadata(file) else { continue };
        let find = |key: &str| metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let Some(of) = find("edition") else { continue };
        let name = find("mapping").unwrap_or_default();
        let now = forms.iter().find(|f| f.name == name).map(fingerprint);
        if now.is_some() && now.as_deref() == find(FINGERPRINT) {
            continue;
        }
        // Damage to the metadata would be the better message.
        read_parquet(file)?;
        let path = file.display();
        let cause = if of != edition.name {
            format!("was imported for the edition {of}, but is given for the edition {}", edition.name)
        } else if now.is_none() {
            format!(
                "was imported by the form `{name}` of the edition {of}, which the edition {} does not have now",
                edition.name
            )
        } else {
            format!(
                "was imported by an older state of the edition {of}: its form `{name}` was {} and is {} in the edition {} now",
                find(FINGERPRINT).unwrap_or("not recorded"),
                now.unwrap_or_default(),
                edition.name
            )
        };
        return Err(ScoreError::Input(format!(
            "{path}: this file {cause}. Import the raw files again (`agon import {} RAW... -o {path}`), or give the raw \
             files.",
            edition.name
        )));
    }
    Ok(())
}

/// The first row for which a formula has no value; nothing if that is not due to a single row.
pub(crate) fn faulty_row(formula: &Formula, table: &Table) -> Option<usize> {
    let fails = |rows: std::ops::Range<usize>| {
        let rows: Vec<u32> = rows.map(|row| row as u32).collect();
        formula.eval(&table.gather(&rows)).is_err()
    };
    let (mut low, mut high) = (0, table.rows());
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if fails(low..middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    (low < high && fails(low..high)).then_some(low)
}

/// Reads files by forms and adds the computed columns.
///
/// # Errors
/// If a file cannot be read, a computed column has no value, or a Parquet file was imported by another form than the
/// one of that name here.
pub fn read_forms(edition: &Edition, files: &[PathBuf], forms: &[Form]) -> Result<FormTables, ScoreError> {
    check_imports(edition, files, forms)?;
    let mappings: Vec<Mapping> = forms.iter().map(|f| f.mapping.clone()).collect();
    let outcome = read(files, &mappings)?;
    let mut tables = Vec::new();
    let notes = outcome.report.notes();
    let files = outcome.report.files.iter().map(|f| f.file.clone()).collect();
    for ((form, mut table), origins) in outcome.tables.into_iter().zip(outcome.origins) {
        for named in &forms[form].computed {
            let element = format!("computed column `{}` of the form {}", named.name, forms[form].name);
            let column = named.formula.eval(&table).map_err(|e| match faulty_row(&named.formula, &table) {
                Some(row) => ScoreError::formula(&format!("{}: {element}", origins.place(row, "")), &e),
                None => ScoreError::formula(&element, &e),
            })?;
            table.set(&named.name, named.formula.ty().clone(), column)?;
        }
        tables.push(FormTable { form, table, origins });
    }
    Ok(FormTables { tables, notes, files })
}

/// Columns that are checked or printed whether or not a formula reads them.
const ALWAYS: [&str; 8] =
    ["entrant", "benchmark", "solver", "competing", "division", "logic", "status", "disqualified"];

/// Reads files whose columns have the names that the edition's tracks know, with times in seconds and memory in
/// bytes. The track is the one that was asked for, else the one that the file's column `track` names, else the only
/// one that knows all columns. `None` if no track does.
fn canonical(edition: &Edition, files: &[PathBuf], wanted: Option<&str>) -> Result<Option<Results>, ScoreError> {
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
    let (Some((_, table)), Some(origins)) = (outcome.tables.pop(), outcome.origins.pop()) else { return Ok(None) };
    let notes = outcome.report.notes();
    let part =
        |track: &str, table, origins| TrackTable { track: track.into(), form: "canonical".into(), table, origins };
    if !split {
        return Ok(Some(Results { tables: vec![part(&track.name, table, origins)], notes, files: files.to_vec() }));
    }
    let column = table.column("track")?.clone();
    let Some(column) = column.as_symbols() else { return Ok(None) };
    let mut tables = Vec::new();
    for (code, name) in column.dict.iter().enumerate() {
        let mask: Vec<bool> = column.codes.iter().map(|c| *c as usize == code).collect();
        let Some(row) = mask.iter().position(|m| *m) else { continue };
        if !edition.tracks.contains_key(name) {
            let known: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
            return Err(ScoreError::Input(format!(
                "{}: the column `track` says {name}, but the edition {} has only the tracks {}. Correct the row.",
                origins.place(row, "track"),
                edition.name,
                known.join(", ")
            )));
        }
        let mut origins = origins.clone();
        origins.keep(&mask);
        tables.push(part(name, table.keep(&mask), origins));
    }
    Ok(Some(Results { tables, notes, files: files.to_vec() }))
}

/// What result files hold, by track, before it is joined with anything.
#[derive(Debug, Default)]
pub struct Results {
    tables: Vec<TrackTable>,
    /// What was noticed while reading.
    pub notes: Vec<String>,
    /// All files that were read, those that were joined too.
    pub files: Vec<PathBuf>,
}

impl Results {
    /// The same results, to be joined once more. The columns are shared, but not the partitions that a table remembers:
    /// those of one join would be kept as long as any other.
    ///
    /// # Errors
    /// None that tables as they were read can have.
    pub fn again(&self) -> Result<Self, ScoreError> {
        let mut tables = Vec::new();
        for part in &self.tables {
            let mut table = Table::new(part.table.rows());
            for (name, ty) in part.table.schema() {
                table.set(name, ty.clone(), part.table.column(name)?.clone())?;
            }
            let (track, form, origins) = (part.track.clone(), part.form.clone(), part.origins.clone());
            tables.push(TrackTable { track, form, table, origins });
        }
        Ok(Self { tables, notes: self.notes.clone(), files: self.files.clone() })
    }
}

#[derive(Debug)]
struct TrackTable {
    track: String,
    form: String,
    table: Table,
    origins: Origins,
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
    join(edition, read_results(edition, files, None)?, entrants, adjudication)
}

/// Reads result files. `track` is the one that was asked for, if one was; it matters for files that do not say their
/// track.
///
/// # Errors
/// If a file cannot be read, or a track's results were given in two forms.
pub fn read_results(edition: &Edition, files: &[PathBuf], track: Option<&str>) -> Result<Results, ScoreError> {
    let mut results = match read_forms(edition, files, &edition.results) {
        Ok(outcome) => {
            let table = |t: FormTable| {
                let form = &edition.results[t.form];
                let track = form.track.clone().unwrap_or_default();
                TrackTable { track, form: form.name.clone(), table: t.table, origins: t.origins }
            };
            let tables = outcome.tables.into_iter().map(table).collect();
            Results { tables, notes: outcome.notes, files: outcome.files }
        }
        // No form of the edition: then perhaps a file whose columns have the names of the track's own.
        Err(ScoreError::Results(error)) if matches!(*error.kind, ErrorKind::NotRecognised { .. }) => {
            canonical(edition, files, track)?.ok_or(ScoreError::Results(error))?
        }
        Err(error) => return Err(error),
    };
    for (at, second) in results.tables.iter().enumerate() {
        if let Some(first) = results.tables[..at].iter().find(|t| t.track == second.track) {
            return Err(ScoreError::Input(format!(
                "results of the track {} were given in two forms: {} in the form {}, {} in the form {}. Give the files \
                 of one form at a time.",
                first.track,
                first.origins.files().join(", "),
                first.form,
                second.origins.files().join(", "),
                second.form
            )));
        }
    }
    // In the order of the edition, whatever the order of the files.
    let place = |t: &TrackTable| edition.tracks.get_index_of(&t.track).unwrap_or(usize::MAX);
    results.tables.sort_by_key(place);
    Ok(results)
}

/// Joins results with the entrants' list, the divisions and the adjudications.
///
/// # Errors
/// If these do not fit each other.
pub fn join(
    edition: &Edition,
    results: Results,
    entrants: &EntrantList,
    adjudication: Option<&Adjudication>,
) -> Result<Vec<TrackRuns>, ScoreError> {
    let mut result = Vec::new();
    let mut progress = adjudication.map(Progress::new);
    for TrackTable { track, form, table, mut origins } in results.tables {
        let Some(track) = edition.tracks.get(&track) else { continue };
        // Columns that no formula reads are not carried along.
        let mut reads = track.scoring.as_ref().map(Scoring::reads).unwrap_or_default();
        for recognition in edition.recognitions.values().filter(|r| r.track == track.name) {
            recognition.filter.values().for_each(|formula| reads.extend(formula.columns()));
        }
        let table = table.select(|name| ALWAYS.contains(&name) || reads.contains(name));
        let mut notes = Notes::default();
        let table = join_entrants(table, &origins, track, edition, entrants, &reads, &mut notes)?;
        let table = join_divisions(table, &origins, track, edition)?;
        check_spelling(&table, &origins, track, &mut notes)?;
        let (mut table, effect) = match &mut progress {
            Some(progress) => progress.apply(table, &mut origins, &track.name)?,
            None => (table, Effect::default()),
        };
        if !table.has("disqualified") {
            let rows = table.rows();
            table.set("disqualified", Type::Bool, Column::Bool(vec![false; rows]))?;
        }
        if table.rows() == 0 {
            return Err(ScoreError::Input(format!(
                "{}: there is no run of the track {} left to score: {}. Give files with results.",
                origins.files().join(", "),
                track.name,
                match adjudication {
                    Some(_) => "the files have no rows, or the adjudication removes all of them",
                    None => "the files have a header line, but no rows",
                }
            )));
        }
        check_benchmarks(&table, &origins, track)?;
        check_names(&table, &origins, track, edition, entrants)?;
        let (files, notes) = (origins.files(), notes.finish());
        result.push(TrackRuns { track: track.name.clone(), form, table, effect, files, origins, notes });
    }
    if let Some(progress) = progress {
        let notes = progress.finish()?;
        if let Some(last) = result.last_mut() {
            last.effect.notes.extend(notes);
        }
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
    origins: &Origins,
    track: &Track,
    edition: &Edition,
    list: &EntrantList,
    reads: &BTreeSet<String>,
    notes: &mut Notes,
) -> Result<Table, ScoreError> {
    let entrant = table.column("entrant")?.clone();
    let Some(entrant) = entrant.as_symbols() else {
        return Err(ScoreError::Input("the column `entrant` is not text".into()));
    };
    let mut by_key: FxHashMap<&str, usize> = FxHashMap::default();
    let mut by_name: FxHashMap<&str, (usize, &str)> = FxHashMap::default();
    for (at, row) in list.rows.iter().enumerate() {
        let Some(key) = row.get(&track.entrant_key).filter(|k| !k.is_empty()) else { continue };
        // Whether or not both have results: on a page they could not be told apart.
        if let Some(name) = row.get("solver").filter(|name| !name.is_empty())
            && let Some((before, other)) = by_name.insert(name, (at, key))
            && other != key
        {
            return Err(ScoreError::Input(format!(
                "{}: the entrant {key} of the track {} has the name {name}, which the entrant {other} has too ({}). Give \
                 each entrant a name of its own.",
                list.place(at),
                track.name,
                list.place(before)
            )));
        }
        if let Some(before) = by_key.insert(key, at) {
            return Err(ScoreError::Input(format!(
                "{}: the entrant {key} of the track {} is listed twice, here and in {}. Keep one of the two rows.",
                list.place(at),
                track.name,
                list.place(before)
            )));
        }
    }
    // Only entrants that have rows count; a dictionary may be wider.
    let mut used = vec![false; entrant.dict.len()];
    for &code in &entrant.codes {
        used[code as usize] = true;
    }
    let rows: Vec<Option<usize>> =
        entrant.dict.iter().enumerate().map(|(c, name)| by_key.get(name).copied().filter(|_| used[c])).collect();
    let absent: Vec<&str> =
        (0..rows.len()).filter(|&c| used[c] && rows[c].is_none()).map(|c| entrant.dict.get(c as u32)).collect();
    let first_row = |name: &str| entrant.dict.code(name).and_then(|c| entrant.codes.iter().position(|&e| e == c));
    let place_of = |name: &str| origins.place(first_row(name).unwrap_or(0), "entrant");
    if list.strict
        && let Some(first) = absent.first()
    {
        let others = match absent.len() {
            1 => String::new(),
            n => format!(" ({} more are missing: {})", n - 1, shortened(&absent[1..])),
        };
        let seen = |name: &str| visible(name).unwrap_or_else(|| name.to_string());
        let alike = by_key.iter().find(|(key, _)| seen(key) == seen(first));
        let alike = alike.map_or(String::new(), |(key, at)| {
            format!(
                ", where only `{}` looks like it ({}), against `{}` here",
                spelled(key),
                list.place(*at),
                spelled(first)
            )
        });
        return Err(ScoreError::Input(format!(
            "{}: the entrant {first} of the track {} is not in the list {}{alike}{others}. Add it to the list (column `{}`), \
             or give the list that belongs to these results.",
            place_of(first),
            track.name,
            list.origin,
            list.columns.get(&track.entrant_key).unwrap_or(&track.entrant_key),
        )));
    }
    let mut names: Vec<(String, Type, Option<String>)> =
        vec![("solver".into(), Type::TEXT, None), ("competing".into(), Type::Bool, None)];
    for (name, field) in edition.entrants.fields.iter().filter(|(name, _)| reads.contains(*name)) {
        names.push((name.clone(), field.ty.clone(), field.otherwise.clone()));
    }
    for (name, ty, otherwise) in names {
        let text = |code: usize| -> Option<String> {
            let row = &list.rows[rows[code]?];
            row.get(&name).filter(|t| !t.is_empty()).cloned()
        };
        let own = table.column(&name).ok().cloned();
        let fallback = otherwise.as_deref().and_then(|o| table.column(o).ok().cloned());
        let texts: Vec<Option<String>> =
            (0..rows.len()).map(|c| if used[c] { text(c) } else { Some(String::new()) }).collect();
        let complete = texts.iter().all(Option::is_some);
        // The list goes before the results; where they disagree, that is said once for an entrant.
        let disagree = |code: usize, said: &str, row: usize, results: &str| {
            format!(
                "{}: `{name}` of the entrant {} is {said} by the list, but {results} in {}; the list holds",
                rows[code].map_or(&*list.origin, |at| list.place(at)),
                entrant.dict.get(code as u32),
                origins.place(row, &name)
            )
        };
        let mut told = vec![!list.strict; rows.len()];
        match &ty {
            Type::Bool => {
                let mut values: Vec<Option<bool>> = Vec::new();
                for (code, text) in texts.iter().enumerate() {
                    let value = match text {
                        Some(t) if used[code] => Some(bool_of(t).ok_or_else(|| {
                            ScoreError::Input(format!(
                                "{}: `{name}` of the entrant {} is `{t}`. Write `true` or `false`.",
                                rows[code].map_or(&*list.origin, |at| list.place(at)),
                                entrant.dict.get(code as u32)
                            ))
                        })?),
                        Some(_) => Some(false),
                        None => None,
                    };
                    values.push(value);
                }
                if let Some(own) = own.as_ref().and_then(|c| c.as_bool()) {
                    let word = |b: bool| if b { "true" } else { "false" };
                    for (row, (&code, &results)) in entrant.codes.iter().zip(own).enumerate() {
                        let code = code as usize;
                        if let Some(said) = values[code].filter(|said| *said != results && !told[code]) {
                            told[code] = true;
                            notes.add(disagree(code, word(said), row, word(results)));
                        }
                    }
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
                if let Some(own) = own.as_ref().and_then(|c| c.as_symbols()) {
                    for (row, (&code, &results)) in entrant.codes.iter().zip(&own.codes).enumerate() {
                        let code = code as usize;
                        let said = texts[code].as_deref().filter(|_| !told[code]);
                        if let Some(said) = said.filter(|said| *said != own.dict.get(results)) {
                            told[code] = true;
                            notes.add(disagree(code, said, row, self::said(own.dict.get(results))));
                        }
                    }
                }
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
                if complete {
                    let unit = dim.printed_unit();
                    let mut values = Vec::new();
                    for (code, text) in texts.iter().enumerate() {
                        let text = text.as_deref().unwrap_or_default();
                        let value = if used[code] {
                            agon_table::parse_decimal(text).map_err(|e| {
                                ScoreError::Input(format!(
                                    "{}: `{name}` of the entrant {}: `{text}` {e}. Correct the list.",
                                    rows[code].map_or(&*list.origin, |at| list.place(at)),
                                    entrant.dict.get(code as u32)
                                ))
                            })?
                        } else {
                            agon_table::Exact::ZERO
                        };
                        values.push(value.mul(&unit));
                    }
                    for (row, &code) in own.iter().flat_map(|_| entrant.codes.iter().enumerate()) {
                        let code = code as usize;
                        let Some(own) = own.as_ref().filter(|_| !told[code]) else { continue };
                        if own.value(row).as_exact() != Some(&values[code]) {
                            told[code] = true;
                            let results = cell_text(own, Some(&ty), row);
                            notes.add(disagree(code, texts[code].as_deref().unwrap_or_default(), row, &results));
                        }
                    }
                    let column = entrant.codes.iter().map(|&c| values[c as usize].clone()).collect();
                    table.set(&name, ty, Column::from_exact(column))?;
                }
            }
        }
    }
    for name in ["solver", "competing"] {
        if table.has(name) {
            continue;
        }
        // Either the list lacks an entrant, or an entrant in it lacks this.
        if let Some(first) = absent.first() {
            return Err(ScoreError::Input(format!(
                "{}: the results name the entrant {first} by a key and do not say its `{name}`, and {} does not list it \
                 (missing in all: {}). Give the entrants' list with --solvers FILE.",
                place_of(first),
                list.origin,
                shortened(&absent),
            )));
        }
        let lacks = |code: &usize| rows[*code].is_some_and(|at| list.rows[at].get(name).is_none_or(String::is_empty));
        if let Some(code) = (0..rows.len()).filter(|&c| used[c]).find(lacks) {
            return Err(ScoreError::Input(format!(
                "{}: the row of the entrant {} has no `{name}`, and the results do not say it either. Complete the row.",
                rows[code].map_or(&*list.origin, |at| list.place(at)),
                entrant.dict.get(code as u32),
            )));
        }
        return Err(ScoreError::Input(format!(
            "{}: the results have no rows and do not say the `{name}` of an entrant. Give files with results.",
            origins.files().join(", ")
        )));
    }
    Ok(table)
}

fn join_divisions(mut table: Table, origins: &Origins, track: &Track, edition: &Edition) -> Result<Table, ScoreError> {
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
        let unknown: Vec<bool> = logic.dict.iter().map(|name| !owner.contains_key(name)).collect();
        if let Some(row) = logic.codes.iter().position(|&c| unknown[c as usize]) {
            let name = logic.get(row);
            let mut known: Vec<&str> = owner.keys().copied().collect();
            known.sort_unstable();
            return Err(ScoreError::Input(format!(
                "{}: the logic {} belongs to no division of the track {} of the edition {}{}. Correct the row or, if \
                 the logic is right, add it to a division of the track in the edition's file or in one that extends it.",
                origins.place(row, "logic"),
                spelled(name),
                track.name,
                edition.name,
                closest(name, known).map_or(String::new(), |near| format!(" (did you mean {near}?)")),
            )));
        }
        let codes: Vec<u32> =
            logic.dict.iter().map(|name| dict.intern(owner.get(name).copied().unwrap_or_default())).collect();
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
                    let (place, other) = (origins.place(row, "division"), origins.place(row, "logic"));
                    return Err(ScoreError::Input(format!(
                        "{place}: the benchmark {} is in two divisions: the row says {}, but its logic {}{} belongs to {} \
                         in the track {} of the edition {}. Correct the division or the logic of the row.",
                        text_of(&benchmark),
                        said.get(row),
                        logic.get(row),
                        if place == other { String::new() } else { format!(" ({other})") },
                        by_logic.get(row),
                        track.name,
                        edition.name
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
                "{}: the results of the track {} say neither the logic nor the division of a benchmark. Give files with a \
                 column `logic` or `division`, or map one of them in the form under `results` of the edition's file.",
                origins.files().join(", "),
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
    if !track.divisions.is_empty() {
        let unknown: Vec<bool> = division.dict.iter().map(|name| !track.divisions.contains_key(name)).collect();
        if let Some(row) = division.codes.iter().position(|&c| unknown[c as usize]) {
            let known: Vec<&str> = track.divisions.keys().map(String::as_str).collect();
            return Err(ScoreError::Input(format!(
                "{}: the track {} of the edition {} has no division {} (it has: {}). Correct the row or, if the division \
                 is right, add it to the track in the edition's file or in one that extends it.",
                origins.place(row, "division"),
                track.name,
                edition.name,
                spelled(division.get(row)),
                shortened(&known)
            )));
        }
    }
    let experimental: Vec<bool> =
        division.dict.iter().map(|name| track.divisions.get(name).is_some_and(|d| d.experimental)).collect();
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

/// Some names, the rest counted.
fn shortened(names: &[&str]) -> String {
    const MOST: usize = 20;
    let mut text = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

/// A benchmark has one division, one logic, one status: rows that say otherwise contradict each other.
fn check_benchmarks(table: &Table, origins: &Origins, track: &Track) -> Result<(), ScoreError> {
    let benchmark = table.column("benchmark")?.clone();
    let Some(benchmark) = benchmark.as_symbols() else {
        return Err(ScoreError::Input("the column `benchmark` is not text".into()));
    };
    let removal = "or remove the benchmark by an adjudication (`remove: true`)";
    for (name, what, decision) in [
        ("division", "is in two divisions", removal),
        ("logic", "is in two logics", removal),
        ("status", "has two statuses", "or decide the status by an adjudication (`status:`)"),
        ("family", "is in two families", removal),
    ] {
        let Ok(column) = table.column(name) else { continue };
        let Some(column) = column.as_symbols() else { continue };
        let mut first: Vec<u32> = vec![u32::MAX; benchmark.dict.len()];
        for (row, (&b, &c)) in benchmark.codes.iter().zip(&column.codes).enumerate() {
            let slot = &mut first[b as usize];
            if *slot == u32::MAX {
                *slot = c;
            } else if *slot != c {
                let before = benchmark.codes.iter().position(|&other| other == b).unwrap_or(row);
                return Err(ScoreError::Input(format!(
                    "{}: the benchmark {} of the track {} {what}: {} here, but {} in {}. Correct one of the two rows, \
                     {decision}.",
                    origins.place(row, name),
                    benchmark.dict.get(b),
                    track.name,
                    said(column.dict.get(c)),
                    said(column.dict.get(*slot)),
                    origins.place(before, name),
                )));
            }
        }
    }
    Ok(())
}

/// A text of a message, also where there is none.
fn said(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

/// Remarks, the first ones in full and the rest counted.
#[derive(Debug, Default)]
struct Notes {
    list: Vec<String>,
    further: usize,
}

impl Notes {
    const MOST: usize = 20;

    fn add(&mut self, note: String) {
        if self.list.len() < Self::MOST {
            self.list.push(note);
        } else {
            self.further += 1;
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.further > 0 {
            self.list.push(format!("{} further remarks on names and lists", self.further));
        }
        self.list
    }
}

/// Names are compared letter by letter, so one with a blank at its end, or with a character that takes no room, is
/// another entrant or benchmark. Two that look alike are an error, one alone is worth a remark.
fn check_spelling(table: &Table, origins: &Origins, track: &Track, notes: &mut Notes) -> Result<(), ScoreError> {
    for name in ["entrant", "solver", "benchmark", "division", "logic", "family"] {
        let Some(symbols) = table.column(name).ok().and_then(|c| c.as_symbols()) else { continue };
        let odd: Vec<(u32, String)> =
            symbols.dict.iter().enumerate().filter_map(|(code, text)| Some((code as u32, visible(text)?))).collect();
        if odd.is_empty() {
            continue;
        }
        // A dictionary may be wider than its column.
        let mut rows: FxHashMap<u32, usize> = FxHashMap::default();
        for (row, &code) in symbols.codes.iter().enumerate() {
            rows.entry(code).or_insert(row);
        }
        let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
        let mut alone: Vec<(usize, &str)> = Vec::new();
        for (code, looks) in &odd {
            let Some(&row) = rows.get(code) else { continue };
            let text = symbols.dict.get(*code);
            let plain = symbols.dict.code(looks).filter(|c| rows.contains_key(c));
            if let Some(other) = plain.or_else(|| seen.insert(looks, *code)) {
                return Err(ScoreError::Input(format!(
                    "{}: the {name} `{}` of the track {} looks like `{}` in {}, but is another text. If one is meant, \
                     correct the row; else give them names that can be told apart.",
                    origins.place(row, name),
                    spelled(text),
                    track.name,
                    spelled(symbols.dict.get(other)),
                    origins.place(rows[&other], name)
                )));
            }
            alone.push((row, text));
        }
        if let Some((row, text)) = alone.iter().min() {
            let more = match alone.len() - 1 {
                0 => String::new(),
                n => format!(", as {n} more have"),
            };
            notes.add(format!(
                "{}: the {name} `{}` has characters that nobody sees, or blanks where none are expected{more}; correct \
                 it if they are not meant",
                origins.place(*row, name),
                spelled(text)
            ));
        }
    }
    Ok(())
}

/// What is known of an entrant is the same in all of its rows, and no two entrants have one name: they could not be
/// told apart on any page.
fn check_names(
    table: &Table,
    origins: &Origins,
    track: &Track,
    edition: &Edition,
    list: &EntrantList,
) -> Result<(), ScoreError> {
    let entrants = table.groups(&["entrant"])?;
    let entrant = table.column("entrant")?.clone();
    let of = |row: usize| text_of(&entrant.value(row));
    for name in edition.entrants.columns().iter().filter(|n| *n != "entrant" && table.has(n)) {
        let groups = table.groups(std::slice::from_ref(name))?;
        let mut first: Vec<u32> = vec![u32::MAX; entrants.count];
        for (row, (&e, &value)) in entrants.ids.iter().zip(groups.ids.iter()).enumerate() {
            let slot = &mut first[e as usize];
            if *slot == u32::MAX {
                *slot = value;
            } else if *slot != value {
                let before = entrants.ids.iter().position(|&other| other == e).unwrap_or(row);
                let cell = |row| Ok::<_, ScoreError>(cell_text(table.column(name)?, table.column_type(name), row));
                // Whether an entrant was disqualified is no column of its list.
                let listed = name == "solver" || name == "competing" || edition.entrants.fields.contains_key(name);
                return Err(ScoreError::Input(format!(
                    "{}: `{name}` of the entrant {} of the track {} is {} here, but {} in {}. Correct one of the two \
                     rows{}.",
                    origins.place(row, name),
                    of(row),
                    track.name,
                    said(&cell(row)?),
                    said(&cell(before)?),
                    origins.place(before, name),
                    if listed { ", or say it in the entrants' list (--solvers FILE), which goes before" } else { "" },
                )));
            }
        }
    }
    let solvers = table.groups(&["solver"])?;
    let mut owner: Vec<u32> = vec![u32::MAX; solvers.count];
    for (row, (&e, &s)) in entrants.ids.iter().zip(solvers.ids.iter()).enumerate() {
        let owner = &mut owner[s as usize];
        if *owner == u32::MAX {
            *owner = e;
        } else if *owner != e {
            let before = solvers.ids.iter().position(|&other| other == s).unwrap_or(row);
            // The name stands in the list or, if that says nothing, in the results.
            let place = |row: usize| {
                let listed = list.rows.iter().position(|r| {
                    r.get(&track.entrant_key) == Some(&of(row)) && r.get("solver").is_some_and(|n| !n.is_empty())
                });
                listed.map_or_else(|| origins.place(row, "solver").to_string(), |at| list.place(at).to_string())
            };
            return Err(ScoreError::Input(format!(
                "{}: the entrant {} of the track {} has the name {}, which the entrant {} has too ({}). Give each \
                 entrant a name of its own, in these rows or in an entrants' list (--solvers FILE).",
                place(row),
                of(row),
                track.name,
                text_of(&table.column("solver")?.value(row)),
                of(before),
                place(before),
            )));
        }
    }
    Ok(())
}
