//! Standings as text: CSV for programs, a table for people, JSON for both.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agon_edition::Edition;
use agon_table::{Column, Dim, Exact, Type, Value, shown};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::engine::{Standings, TrackScores};
use crate::{ScoreError, engine};

/// The counts that have a fixed place in the CSV form.
pub const COUNTS: [&str; 7] = ["solved", "solved_sat", "solved_unsat", "unsolved", "abstained", "timeout", "memout"];

/// Which rows are printed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only this division.
    pub division: Option<String>,
    /// Only this logic.
    pub logic: Option<String>,
}

/// One printed row: the fixed columns, and the rest by name.
#[derive(Clone, Debug)]
pub struct Row {
    /// The track.
    pub track: String,
    /// `division`, `logic`, or the name of a ranking.
    pub table: String,
    /// The view.
    pub view: String,
    /// The columns beside division and logic that the row's group has in common.
    pub by: Vec<String>,
    /// Everything else by column name, exact.
    pub cells: IndexMap<String, Cell>,
}

/// One printed value.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The value, in base units.
    pub value: Value,
    /// Its dimension, if it is a number.
    pub dim: Dim,
    /// Digits after the point in printed tables.
    pub decimals: Option<u32>,
}

impl Cell {
    /// The number in printed units (seconds, bytes, pure numbers).
    pub fn number(&self) -> Option<Exact> {
        let value = match &self.value {
            Value::Exact(e) => e.clone(),
            Value::Real(r) => Exact::from_f64(*r)?,
            _ => return None,
        };
        value.div(&self.dim.printed_unit())
    }

    /// For programs: decimals in full where they end, else to 12 places.
    pub fn exact_text(&self) -> String {
        match (&self.value, self.number()) {
            (_, Some(n)) => n.to_short_decimal(12),
            (value, None) => engine::show(value),
        }
    }

    /// For people: rounded as the edition says.
    pub fn text(&self) -> String {
        match (self.number(), self.decimals) {
            (Some(n), Some(places)) => n.to_decimal(places),
            (Some(n), None) if self.dim == Dim::TIME => n.to_decimal(3),
            (Some(n), None) if n.as_i128().is_none() => n.to_short_decimal(6),
            _ => self.exact_text(),
        }
    }
}

/// The cell of a table's column at a row.
pub(crate) fn cell(column: &Column, ty: Option<&Type>, row: usize, decimals: Option<u32>) -> Cell {
    let dim = match ty {
        Some(Type::Number { dim, .. }) => *dim,
        _ => Dim::NONE,
    };
    Cell { value: column.value(row), dim, decimals }
}

fn push_rows(
    out: &mut Vec<Row>,
    track: &str,
    table: &str,
    view: &str,
    standings: &Standings,
    filter: &Filter,
) -> Result<(), ScoreError> {
    let source = &standings.table;
    let mut columns: Vec<(&str, &str)> = vec![("division", "division"), ("logic", "logic")];
    columns.extend(standings.by.iter().map(|b| (b.as_str(), b.as_str())));
    columns.extend([("position", "position"), ("rank", "rank"), ("solver", "solver")]);
    if source.has("competing") {
        columns.push(("competitive", "competing"));
    }
    columns.extend(standings.measures.iter().map(|m| (m.as_str(), m.as_str())));
    let fixed = COUNTS.iter().copied().filter(|c| standings.counts.iter().any(|k| k == c));
    let further = standings.counts.iter().map(String::as_str).filter(|c| !COUNTS.contains(c));
    columns.extend(fixed.chain(further).map(|c| (c, c)));
    columns.push(("winner", "winner"));
    for row in 0..source.rows() {
        let mut cells = IndexMap::new();
        for (name, column) in &columns {
            let decimals = standings.decimals.get(*column).copied();
            cells.insert((*name).to_string(), cell(source.column(column)?, source.column_type(column), row, decimals));
        }
        let is = |name: &str, wanted: &Option<String>| {
            wanted.as_ref().is_none_or(|w| cells.get(name).is_some_and(|c| c.exact_text() == *w))
        };
        if is("division", &filter.division) && is("logic", &filter.logic) {
            out.push(Row {
                track: track.into(),
                table: table.into(),
                view: view.into(),
                by: standings.by.clone(),
                cells,
            });
        }
    }
    Ok(())
}

/// The rows of the scores, in the order of the edition: track, table, division, logic, view, position.
///
/// # Errors
/// If a table lacks a column that every table has.
pub fn rows(scores: &[TrackScores], filter: &Filter) -> Result<Vec<Row>, ScoreError> {
    let mut out = Vec::new();
    for track in scores {
        let tables: IndexSet<&String> = track.views.iter().flat_map(|v| v.tables.keys()).collect();
        for table in tables {
            let mut part = Vec::new();
            for view in &track.views {
                if let Some(standings) = view.tables.get(table) {
                    push_rows(&mut part, &track.track, table, &view.view, standings, filter)?;
                }
            }
            // Views side by side within a group: stable, so positions stay in order.
            let mut place: IndexMap<Vec<String>, usize> = IndexMap::new();
            let key = |row: &Row| -> Vec<String> {
                let names = ["division", "logic"].into_iter().chain(row.by.iter().map(String::as_str));
                names.map(|name| row.cells.get(name).map(Cell::exact_text).unwrap_or_default()).collect()
            };
            for row in &part {
                let next = place.len();
                place.entry(key(row)).or_insert(next);
            }
            part.sort_by_cached_key(|row| place[&key(row)]);
            out.append(&mut part);
        }
        let rankings: IndexSet<&String> = track.views.iter().flat_map(|v| v.rankings.keys()).collect();
        for ranking in rankings {
            for view in &track.views {
                if let Some(standings) = view.rankings.get(ranking) {
                    push_rows(&mut out, &track.track, ranking, &view.view, standings, filter)?;
                }
            }
        }
    }
    Ok(out)
}

/// The rows that receive a recognition, with the recognition's name in the column `recognition`.
///
/// # Errors
/// If a recognition needs a column that the scores lack.
pub fn recognitions(edition: &Edition, scores: &[TrackScores]) -> Result<Vec<Row>, ScoreError> {
    let mut out = Vec::new();
    for recognition in edition.recognitions.values() {
        for track in scores.iter().filter(|t| t.track == recognition.track) {
            for view in &track.views {
                let Some(filter) = recognition.filter.get(&view.view) else { continue };
                let from = view.tables.get(&recognition.from).or_else(|| view.rankings.get(&recognition.from));
                let Some(standings) = from else { continue };
                if filter.columns().iter().any(|c| !standings.table.has(c)) {
                    continue;
                }
                let element = format!("recognition `{}`", recognition.name);
                let column = filter.eval(&standings.table).map_err(|e| ScoreError::formula(&element, &e))?;
                let mask = column.as_bool().unwrap_or_default();
                let kept = Standings { table: standings.table.keep(mask), ..standings.clone() };
                let mut rows = Vec::new();
                push_rows(&mut rows, &track.track, &recognition.from, &view.view, &kept, &Filter::default())?;
                for mut row in rows {
                    let value = Value::Symbol(recognition.name.as_str().into());
                    row.cells.insert("recognition".into(), Cell { value, dim: Dim::NONE, decimals: None });
                    out.push(row);
                }
            }
        }
    }
    Ok(out)
}

const BEFORE: [&str; 10] =
    ["edition", "track", "table", "division", "logic", "view", "position", "rank", "solver", "competitive"];

/// All columns of some rows: the fixed ones, the measures, the counts, the winner.
fn header(rows: &[Row]) -> Vec<String> {
    let by = rows.iter().flat_map(|r| &r.by).filter(|b| !BEFORE.contains(&b.as_str()));
    // What makes a group stands together.
    let (group, rest) = BEFORE.split_at(BEFORE.iter().position(|c| *c == "view").unwrap_or_default());
    let fixed = |names: &[&str]| names.iter().map(|s| (*s).to_string()).collect::<Vec<_>>();
    let mut columns: IndexSet<String> = fixed(group).into_iter().chain(by.cloned()).chain(fixed(rest)).collect();
    let mut counts: BTreeSet<usize> = BTreeSet::new();
    let mut last: IndexSet<String> = IndexSet::new();
    let mut competitive = rows.is_empty();
    for row in rows {
        for name in row.cells.keys() {
            competitive |= name == "competitive";
            if let Some(at) = COUNTS.iter().position(|c| c == name) {
                counts.insert(at);
            } else if name == "winner" || name == "recognition" {
                last.insert(name.clone());
            } else {
                columns.insert(name.clone());
            }
        }
    }
    if !competitive {
        columns.shift_remove("competitive");
    }
    columns.into_iter().chain(counts.into_iter().map(|c| COUNTS[c].to_string())).chain(last).collect()
}

fn value_of(row: &Row, edition: &str, column: &str, text: impl Fn(&Cell) -> String) -> String {
    match column {
        "edition" => edition.into(),
        "track" => row.track.clone(),
        "table" => row.table.clone(),
        "view" => row.view.clone(),
        other => row.cells.get(other).map(text).unwrap_or_default(),
    }
}

/// A field of CSV, in quotes if it needs them.
pub fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

/// CSV, one row a standing, with a header line.
pub fn csv(edition: &str, rows: &[Row]) -> String {
    let columns = header(rows);
    let mut out = columns.join(",");
    out.push('\n');
    for row in rows {
        let fields: Vec<String> =
            columns.iter().map(|c| quoted(&value_of(row, edition, c, Cell::exact_text))).collect();
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// JSON: an array of objects with the columns of the CSV form; whole numbers and truth values as such, other numbers
/// as decimal text, so that no reader rounds them.
pub fn json(edition: &str, rows: &[Row]) -> String {
    let columns = header(rows);
    let list: Vec<Json> = rows
        .iter()
        .map(|row| {
            let mut object = JsonMap::new();
            for name in &columns {
                let fixed = match name.as_str() {
                    "edition" => Some(edition),
                    "track" => Some(&*row.track),
                    "table" => Some(&*row.table),
                    "view" => Some(&*row.view),
                    _ => None,
                };
                if let Some(text) = fixed {
                    object.insert(name.clone(), json!(text));
                    continue;
                }
                let Some(cell) = row.cells.get(name) else { continue };
                let value = match (&cell.value, cell.number()) {
                    (Value::Bool(b), _) => json!(b),
                    (_, Some(n)) => match n.as_i64() {
                        Some(i) => json!(i),
                        None => json!(cell.exact_text()),
                    },
                    _ => json!(cell.exact_text()),
                };
                object.insert(name.clone(), value);
            }
            Json::Object(object)
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&Json::Array(list)).unwrap_or_default();
    text.push('\n');
    text
}

/// Tables for people: one block for each group and view, winners marked, numbers aligned.
pub fn table(rows: &[Row], title: &str, colour: bool) -> String {
    let (bold, plain) = if colour { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let mut out = format!("{bold}{}{plain}\n", shown(title));
    let key = |row: &Row| {
        let text = |n: &str| row.cells.get(n).map(Cell::text).unwrap_or_default();
        if row.cells.contains_key("recognition") {
            (row.track.clone(), row.table.clone(), String::new(), String::new(), String::new())
        } else if !row.by.is_empty() {
            // The further columns of the group go with the division: all of them make the heading.
            let further = row.by.iter().map(|b| format!("{b} {}", text(b)));
            let group = Some(text("division")).filter(|d| !d.is_empty()).into_iter().chain(further);
            let group = group.collect::<Vec<_>>().join(" · ");
            (row.track.clone(), row.table.clone(), group, text("logic"), row.view.clone())
        } else if COUNTS.iter().any(|c| row.cells.contains_key(*c)) || row.table == "division" || row.table == "logic" {
            (row.track.clone(), row.table.clone(), text("division"), text("logic"), row.view.clone())
        } else {
            // A ranking runs across divisions.
            (row.track.clone(), row.table.clone(), String::new(), String::new(), row.view.clone())
        }
    };
    let mut start = 0;
    while start < rows.len() {
        let this = key(&rows[start]);
        let mut end = start;
        while end < rows.len() && key(&rows[end]) == this {
            end += 1;
        }
        let block = &rows[start..end];
        start = end;
        let (track, table, division, logic, view) = this;
        let mut parts = vec![track];
        parts.extend([division, logic].into_iter().filter(|p| !p.is_empty()));
        if table != "division" && table != "logic" {
            parts.push(table);
        }
        parts.extend((!view.is_empty()).then_some(view));
        let _ = writeln!(out, "\n{bold}{}{plain}", shown(&parts.join(" · ")));
        let printed = |name: &str| match name {
            "division" => block.iter().any(|r| r.cells["division"].text() != block[0].cells["division"].text()),
            // Recognitions of all views stand in one block.
            "view" => block.iter().any(|r| r.view != block[0].view),
            "edition" | "track" | "table" | "logic" | "winner" | "competitive" | "rank" => false,
            // In the heading, unless it is about several groups.
            by if block[0].by.iter().any(|b| b == by) => block[0].cells.contains_key("recognition"),
            _ => true,
        };
        let columns: Vec<String> = header(block).into_iter().filter(|c| printed(c)).collect();
        let mut lines: Vec<Vec<String>> =
            vec![columns.iter().map(|c| if c == "position" { "#".into() } else { c.replace('_', " ") }).collect()];
        for row in block {
            let yes = |n: &str| matches!(row.cells.get(n).map(|c| &c.value), Some(Value::Bool(true)));
            let line = columns
                .iter()
                .map(|c| {
                    let text = shown(&value_of(row, "", c, Cell::text)).into_owned();
                    match c.as_str() {
                        "solver" if yes("winner") => format!("{text} *"),
                        "solver" if row.cells.contains_key("competitive") && !yes("competitive") => format!("[{text}]"),
                        _ => text,
                    }
                })
                .collect();
            lines.push(line);
        }
        let widths: Vec<usize> =
            (0..columns.len()).map(|c| lines.iter().map(|l| l[c].chars().count()).max().unwrap_or(0)).collect();
        let numeric: Vec<bool> = columns
            .iter()
            .map(|c| {
                c == "position" || block.iter().any(|r| r.cells.get(c).is_some_and(|cell| cell.number().is_some()))
            })
            .collect();
        for line in &lines {
            let cells: Vec<String> = line
                .iter()
                .enumerate()
                .map(|(c, text)| {
                    let pad = " ".repeat(widths[c] - text.chars().count());
                    if numeric[c] { format!("{pad}{text}") } else { format!("{text}{pad}") }
                })
                .collect();
            let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
        }
    }
    if rows.is_empty() {
        out.push_str("\nno rows\n");
    } else {
        out.push_str("\n* winner   [ ] not competing\n");
    }
    out
}
