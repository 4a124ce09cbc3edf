//! Comparison with published figures: every figure that both sides have, each difference named, and each known one
//! explained by the edition's ledger.

use std::path::Path;
use std::sync::Arc;

use agon_edition::Edition;
use agon_edition::diag::closest;
use agon_edition::model::{Figure, FigureSource, LedgerEntry, PublishedForm};
use agon_formula::{Scope, compile};
use agon_results::{CsvRow, CsvRows, read_csv_rows};
use agon_table::{Column, Dim, Exact, Table, Type, Value, parse_decimal, parse_exact};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::ScoreError;
use crate::engine::{Standings, TrackScores};
use crate::output::{Cell, cell};

/// One figure that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The line of the published file.
    pub line: u64,
    /// The standing that it is about: key columns and their values.
    pub key: IndexMap<String, String>,
    /// The form that the results were read by.
    pub form: String,
    /// The figure.
    pub column: String,
    /// As published.
    pub published: String,
    /// As computed; `None` if there is no such standing.
    pub computed: Option<String>,
    /// What explains it: the name of a ledger entry, or `deviations`.
    pub explained: Option<String>,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many figures both sides have.
    pub compared: usize,
    /// How many of these are equal.
    pub equal: usize,
    /// The others.
    pub differences: Vec<Difference>,
    /// Rows of the file about tracks that the results do not have, by track.
    pub without_results: IndexMap<String, usize>,
    /// Columns of the file that the edition maps but the scores do not have.
    pub not_computed: Vec<String>,
    /// What was noticed while reading the file.
    pub notes: Vec<String>,
}

impl Report {
    /// How many differences are explained.
    pub fn explained(&self) -> usize {
        self.differences.iter().filter(|d| d.explained.is_some()).count()
    }

    /// How many differences are not.
    pub fn unexplained(&self) -> usize {
        self.differences.len() - self.explained()
    }

    /// The closing line of `verify`.
    pub fn summary(&self) -> String {
        format!(
            "figures: {} compared, {} equal, {} explained, {} unexplained",
            self.compared,
            self.equal,
            self.explained(),
            self.unexplained()
        )
    }
}

/// What counts of the published file.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Key columns and the values that count.
    pub columns: Vec<(String, String)>,
}

/// A figure given as a formula, evaluated; `None` if the standings lack a column that it needs.
type Evaluated = Option<(Arc<Column>, Type)>;

/// One table of standings with the texts that its rows are found by.
struct Part<'a> {
    form: &'a str,
    track: &'a str,
    table: &'a str,
    view: &'a str,
    standings: &'a Standings,
    /// The columns beside division and logic that any table is by.
    further: &'a [&'a str],
}

impl Part<'_> {
    /// The cell of a figure's name at a row, if the standings have it.
    fn cell(&self, name: &str, row: usize) -> Option<Cell> {
        let table = &self.standings.table;
        let name = if name == "competitive" { "competing" } else { name };
        let column = table.column(name).ok()?;
        Some(cell(column, table.column_type(name), row, None))
    }

    fn text(&self, edition: &str, name: &str, row: usize) -> Option<String> {
        Some(match name {
            "edition" => edition.into(),
            "track" => self.track.into(),
            "table" => self.table.into(),
            "view" => self.view.into(),
            // A table that is not by this column has its groups in common for all of the column's values.
            _ if !self.standings.table.has(name) && self.further.contains(&name) => String::new(),
            _ => self.cell(name, row)?.exact_text(),
        })
    }
}

/// Compares scores with a published file.
///
/// # Errors
/// If the file cannot be read or no form of the edition recognises it.
pub fn verify(
    edition: &Edition,
    scores: &[TrackScores],
    published: &Path,
    wanted: &Wanted,
) -> Result<Report, ScoreError> {
    let rows = read_csv_rows(published, b',')?;
    let name = published.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if let Some(twice) = (1..rows.header.len()).find(|&at| rows.header[..at].contains(&rows.header[at])) {
        return Err(ScoreError::Input(format!(
            "{}: the column `{}` stands twice in the header line. Rename or remove one of the two.",
            published.display(),
            rows.header[twice]
        )));
    }
    let has = |column: &String| rows.header.iter().any(|h| h == column);
    let forms: Vec<&PublishedForm> = edition
        .published
        .iter()
        .filter(|f| {
            f.columns.iter().all(has) && !f.without.iter().any(has) && f.file.as_ref().is_none_or(|r| r.is_match(name))
        })
        .collect();
    let tables = || scores.iter().flat_map(|t| &t.views).flat_map(|v| v.tables.values());
    let mut further: Vec<&str> = tables().flat_map(|s| s.by.iter().map(String::as_str)).collect();
    further.sort_unstable();
    further.dedup();
    let canonical;
    let forms = if forms.is_empty() {
        canonical = [canonical_form(&rows, &further)];
        if !["track", "table", "division", "view", "solver"].iter().all(|c| rows.header.iter().any(|h| h == c)) {
            return Err(ScoreError::Input(format!(
                "{}: no form under `published` of the edition {} recognises this file (its columns: {}). Add a form \
                 that maps its columns, or name them as `agon score --format csv` does.",
                published.display(),
                edition.name,
                rows.header.join(", ")
            )));
        }
        canonical.iter().collect()
    } else {
        forms
    };
    let mut parts = Vec::new();
    for track in scores {
        for view in &track.views {
            for (table, standings) in view.tables.iter().chain(&view.rankings) {
                parts.push(Part {
                    form: &track.form,
                    track: &track.track,
                    table,
                    view: &view.view,
                    standings,
                    further: &further,
                });
            }
        }
    }
    let file = published.display().to_string();
    let mut report = Report { notes: rows.notes.clone(), ..Report::default() };
    for form in forms {
        check_columns(edition, form, &rows, &file)?;
        compare_form(edition, form, &file, &rows, &parts, wanted, &mut report)?;
    }
    for difference in &mut report.differences {
        difference.explained = edition.ledger.iter().find(|e| explains(e, difference)).map(|e| e.name.clone());
    }
    Ok(report)
}

/// A file whose columns have our names.
fn canonical_form(rows: &CsvRows, further: &[&str]) -> PublishedForm {
    let keys = ["track", "table", "division", "logic", "view", "solver"].into_iter().chain(further.iter().copied());
    let figure = |name: &String| Figure {
        name: name.clone(),
        source: FigureSource::Column(name.clone()),
        words: IndexMap::new(),
        otherwise: None,
        part: None,
        is: None,
        tolerance: Exact::ZERO,
        empty: None,
    };
    PublishedForm {
        name: "canonical".into(),
        columns: Vec::new(),
        without: Vec::new(),
        file: None,
        filter: IndexMap::new(),
        figures: rows.header.iter().map(figure).collect(),
        key: keys.filter(|k| rows.header.iter().any(|h| h == k)).map(str::to_string).collect(),
    }
}

/// The text of a figure in a row of the file, in our words; `None` if it was not published.
fn published_text(figure: &Figure, header: &[String], row: &[String]) -> Option<String> {
    let raw = match &figure.source {
        FigureSource::Constant(text) => return Some(text.clone()),
        FigureSource::Column(column) => row[header.iter().position(|h| h == column)?].clone(),
    };
    let raw = match &figure.part {
        Some(part) => {
            let found = part.captures(&raw)?;
            found.get(1).or_else(|| found.get(0))?.as_str().to_string()
        }
        None => raw,
    };
    if raw.is_empty() {
        return figure.empty.clone();
    }
    Some(match figure.words.get(&raw) {
        Some(word) => word.clone(),
        None => figure.otherwise.clone().unwrap_or(raw),
    })
}

/// A figure that is compared by the edition must be in the file: what is missing is not equal.
fn check_columns(edition: &Edition, form: &PublishedForm, rows: &CsvRows, file: &str) -> Result<(), ScoreError> {
    let figures = form.figures.iter().filter_map(|figure| match &figure.source {
        FigureSource::Column(column) => Some((column, "the figure", &figure.name)),
        FigureSource::Constant(_) => None,
    });
    let filters = form.filter.keys().map(|column| (column, "`where`, the column", column));
    for (column, what, name) in figures.chain(filters) {
        if rows.header.contains(column) {
            continue;
        }
        let near = closest(column, rows.header.iter().map(String::as_str));
        return Err(ScoreError::Input(format!(
            "{file}: there is no column `{column}`, from which the form `{}` under `published` of the edition {} takes \
             {what} `{name}`{}. Rename the right one of the file's columns ({}), or correct the form.",
            form.name,
            edition.name,
            near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)")),
            rows.header.join(", ")
        )));
    }
    Ok(())
}

/// A published figure that cannot be one of its kind is no difference to be explained, but a mistake in the file.
fn check_figure(figure: &Figure, text: &str, ours: &Cell, count: bool, place: &str) -> Result<(), ScoreError> {
    if ours.number().is_none() || ours.exact_text() == *text {
        return Ok(());
    }
    let column = match &figure.source {
        FigureSource::Column(column) => column,
        FigureSource::Constant(_) => &figure.name,
    };
    let problem = match parse_exact(text) {
        Err(_) => "is not a number",
        Ok(value) if value < Exact::ZERO && (count || ours.dim != Dim::NONE) => "is negative, which it cannot be",
        Ok(_) => return Ok(()),
    };
    Err(ScoreError::Input(format!(
        "{place}, column `{column}`: the figure `{}` is {}, which {problem}. Correct the cell or, if this text has a \
         meaning, map it in the form under `published` of the edition (`words`, `empty`, `part`).",
        figure.name,
        if text.is_empty() { "empty".into() } else { format!("`{text}`") },
    )))
}

fn compare_form(
    edition: &Edition,
    form: &PublishedForm,
    file: &str,
    rows: &CsvRows,
    parts: &[Part<'_>],
    wanted: &Wanted,
    report: &mut Report,
) -> Result<(), ScoreError> {
    let key_figures: Vec<&Figure> =
        form.key.iter().filter_map(|k| form.figures.iter().find(|f| f.name == *k)).collect();
    let mut index: FxHashMap<Vec<String>, (usize, usize)> = FxHashMap::default();
    for (number, part) in parts.iter().enumerate() {
        for row in 0..part.standings.table.rows() {
            let key: Option<Vec<String>> = form.key.iter().map(|k| part.text(&edition.name, k, row)).collect();
            if let Some(key) = key {
                // Several standings of one key: the figures are then about their group, and the same for all.
                index.entry(key).or_insert((number, row));
            }
        }
    }
    let mut computed: FxHashMap<(usize, &str), Evaluated> = FxHashMap::default();
    let mut seen: FxHashMap<Vec<String>, &CsvRow> = FxHashMap::default();
    let one_each = form.key.iter().any(|k| k == "solver" || k == "entrant");
    for csv_row in &rows.rows {
        let (line, row) = (csv_row.line, &csv_row.fields);
        let passes = form.filter.iter().all(|(column, values)| {
            rows.header.iter().position(|h| h == column).is_some_and(|at| values.contains(&row[at]))
        });
        if !passes {
            continue;
        }
        let key: Vec<String> =
            key_figures.iter().map(|f| published_text(f, &rows.header, row).unwrap_or_default()).collect();
        let named: IndexMap<String, String> = form.key.iter().cloned().zip(key.iter().cloned()).collect();
        // Rows about a group may say its figures again and again, if they differ in something else.
        match seen.get(&key) {
            Some(before) if one_each || before.fields == *row => {
                let about: Vec<String> =
                    named.iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| format!("{k} {v}")).collect();
                return Err(ScoreError::Input(format!(
                    "{file}, row {line}: the row is about the same standing as row {} ({}), so that its figures would \
                     count twice. Remove one of the two rows.",
                    before.line,
                    about.join(", ")
                )));
            }
            Some(_) => {}
            None => {
                seen.insert(key.clone(), csv_row);
            }
        }
        if wanted.columns.iter().any(|(column, value)| named.get(column).is_some_and(|v| v != value)) {
            continue;
        }
        let Some(&(number, standing)) = index.get(&key) else {
            let track = named.get("track").cloned();
            match track {
                // The results cannot say anything of another track of the edition.
                Some(track) if edition.tracks.contains_key(&track) && !parts.iter().any(|p| p.track == track) => {
                    *report.without_results.entry(track).or_default() += 1;
                }
                track => {
                    let known = track.as_ref().is_none_or(|t| edition.tracks.contains_key(t));
                    let (column, published) =
                        if known { ("row", "listed".into()) } else { ("track", track.unwrap_or_default()) };
                    report.compared += 1;
                    report.differences.push(Difference {
                        line,
                        key: named,
                        form: String::new(),
                        column: column.into(),
                        published,
                        computed: None,
                        explained: None,
                    });
                }
            }
            continue;
        };
        let part = &parts[number];
        for figure in form.figures.iter().filter(|f| !form.key.contains(&f.name)) {
            let Some(text) = published_text(figure, &rows.header, row) else { continue };
            let ours = match (&figure.is, figure.name.as_str()) {
                (None, "edition" | "track" | "table" | "view") => part
                    .text(&edition.name, &figure.name, standing)
                    .map(|t| Cell { value: Value::Symbol(t.into()), dim: Dim::NONE, decimals: None }),
                (None, name) => part.cell(name, standing),
                (Some(source), _) => {
                    let entry = computed.entry((number, figure.name.as_str()));
                    let column = match entry {
                        std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
                        std::collections::hash_map::Entry::Vacant(e) => {
                            e.insert(eval_figure(source, &part.standings.table, &figure.name, &form.name)?)
                        }
                    };
                    column.as_ref().map(|(column, ty)| cell(column, Some(ty), standing, None))
                }
            };
            let Some(ours) = ours else {
                if !report.not_computed.contains(&figure.name) {
                    report.not_computed.push(figure.name.clone());
                }
                continue;
            };
            let count =
                matches!(figure.name.as_str(), "position" | "rank") || part.standings.counts.contains(&figure.name);
            check_figure(figure, &text, &ours, count, &format!("{file}, row {line}"))?;
            report.compared += 1;
            if same(&text, &ours, &figure.tolerance) {
                report.equal += 1;
            } else {
                report.differences.push(Difference {
                    line,
                    key: named.clone(),
                    form: part.form.to_string(),
                    column: figure.name.clone(),
                    published: text,
                    computed: Some(ours.exact_text()),
                    explained: None,
                });
            }
        }
    }
    Ok(())
}

/// A figure given as a formula over the standings; `None` if these lack a column that it needs.
fn eval_figure(source: &str, table: &Table, figure: &str, form: &str) -> Result<Evaluated, ScoreError> {
    let mut scope = Scope::of(table);
    scope.per = Some(vec!["group".into()]).filter(|_| table.has("group"));
    let element = format!("figure `{figure}` of the form {form}");
    let formula = compile(source, &scope).map_err(|errors| {
        let message = errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("; ");
        ScoreError::Formula { element: element.clone(), source_text: source.into(), message }
    })?;
    let column = formula.eval(table).map_err(|e| ScoreError::formula(&element, &e))?;
    Ok(Some((column, formula.ty().clone())))
}

fn same(published: &str, ours: &Cell, tolerance: &Exact) -> bool {
    // What is printed is what it is, also where the decimals of a fraction do not end.
    if ours.exact_text() == published {
        return true;
    }
    match ours.number() {
        Some(number) => match parse_exact(published) {
            Ok(value) => {
                let difference = if value > number { value.sub(&number) } else { number.sub(&value) };
                difference <= *tolerance
            }
            Err(_) => false,
        },
        None => false,
    }
}

/// Whether a ledger entry is about a difference and holds for it.
fn explains(entry: &LedgerEntry, difference: &Difference) -> bool {
    let about = entry.filter.iter().all(|(column, values)| {
        let value = match column.as_str() {
            "column" => Some(&difference.column),
            "form" => Some(&difference.form),
            _ => difference.key.get(column),
        };
        value.is_some_and(|v| values.contains(v))
    });
    if !about {
        return false;
    }
    let Some(holds) = &entry.holds else { return true };
    let numbers = (parse_exact(&difference.published), difference.computed.as_deref().map(parse_decimal));
    let (Ok(published), Some(Ok(computed))) = numbers else { return false };
    let mut table = Table::new(1);
    let set = |table: &mut Table, name: &str, value: Exact| {
        table.set(name, Type::NUMBER, Column::from_exact(vec![value])).is_ok()
    };
    set(&mut table, "published", published)
        && set(&mut table, "computed", computed)
        && holds.eval(&table).is_ok_and(|c| c.as_bool() == Some(&[true]))
}

/// Marks the differences of a report by the rules that vanish when the deviations are on: these explain them. `alone`
/// has the report for each deviation on by itself: of these the ones are named with which a figure is the published
/// one or, if several are needed together, those with which it changes at all.
pub fn explain_by_deviations(rules: &mut Report, published: &Report, alone: &[(String, Report)]) {
    // A file may be read by several forms, so that its lines come more than once.
    type Figures<'a> = FxHashMap<(u64, &'a str, Vec<&'a str>), &'a Difference>;
    fn figure(difference: &Difference) -> (u64, &str, Vec<&str>) {
        let key = difference.key.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect();
        (difference.line, &difference.column, key)
    }
    fn figures(report: &Report) -> Figures<'_> {
        let mut figures = Figures::default();
        for difference in &report.differences {
            figures.entry(figure(difference)).or_insert(difference);
        }
        figures
    }
    let published = figures(published);
    let alone: Vec<(&str, Figures<'_>)> = alone.iter().map(|(name, report)| (name.as_str(), figures(report))).collect();
    for difference in &mut rules.differences {
        if difference.explained.is_some() {
            continue;
        }
        let at = figure(difference);
        if let Some(other) = published.get(&at) {
            let explained = other.explained.clone();
            difference.explained = explained;
            continue;
        }
        let mut enough = Vec::new();
        let mut change = Vec::new();
        for (name, differences) in &alone {
            match differences.get(&at) {
                None => enough.push(*name),
                Some(other) if other.computed != difference.computed => change.push(*name),
                Some(_) => {}
            }
        }
        difference.explained = Some(match (enough.is_empty(), change.is_empty()) {
            (false, _) => format!("deviations: {}", enough.join(" or ")),
            (true, false) => format!("deviations: {} (together)", change.join(" + ")),
            (true, true) => "deviations (several together)".into(),
        });
    }
}
