//! From the runs of a track to its standings and rankings: the steps, measures and orders of the edition, executed.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{self, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

use agon_edition::carried;
use agon_edition::model::{Action, Edition, Let, Ranking, Step, Track, View};
use agon_formula::{EvalError, Formula, SortKey};
use agon_table::{Column, DictBuilder, Symbols, Table, Type, Value};
use indexmap::IndexMap;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::ScoreError;
use crate::common::{Common, Recipe};
use crate::input::{TrackRuns, faulty_row};

/// What to compute: everything by default.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these views.
    pub views: Vec<String>,
    /// Only these tables of standings and rankings. Empty: all tables of standings, and no ranking.
    pub tables: Vec<String>,
    /// All rankings too, whatever `tables` says.
    pub rankings: bool,
}

impl Selection {
    fn wants_view(&self, name: &str) -> bool {
        self.views.is_empty() || self.views.iter().any(|v| v == name)
    }
}

/// The scores of one track.
#[derive(Debug)]
pub struct TrackScores {
    /// The track's name.
    pub track: String,
    /// The form that its results were read by.
    pub form: String,
    /// Its views, in the order of the edition.
    pub views: Vec<ViewScores>,
}

/// The scores of one view of a track.
#[derive(Debug)]
pub struct ViewScores {
    /// The view's name.
    pub view: String,
    /// Tables of standings by name, in the order of the edition.
    pub tables: IndexMap<String, Standings>,
    /// Rankings by name.
    pub rankings: IndexMap<String, Standings>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// A table of standings, or a ranking: rows in order.
#[derive(Clone, Debug)]
pub struct Standings {
    /// One row a place. Always has `division`, `logic`, `entrant`, `solver`, `competing`, `position`, `rank` and
    /// `winner`; beside them the group's columns, measures, counts and the edition's own columns.
    pub table: Table,
    /// The columns beside division and logic whose values one group has in common, in order.
    pub by: Vec<String>,
    /// The names of the measures, or of a ranking's values, in order.
    pub measures: Vec<String>,
    /// The names of the counts that could be computed, in order.
    pub counts: Vec<String>,
    /// The measures' and counts' digits after the point in printed tables.
    pub decimals: IndexMap<String, u32>,
}

/// Scores one track.
///
/// # Errors
/// If a column is missing that a score needs, or a formula has no value.
pub fn score(edition: &Edition, runs: &TrackRuns, selection: &Selection) -> Result<TrackScores, ScoreError> {
    let track = &edition.tracks[&runs.track];
    let Some(scoring) = &track.scoring else {
        return Err(ScoreError::Input(format!("the edition {} does not score the track {}", edition.name, track.name)));
    };
    let mut engine = Engine {
        edition,
        track,
        raw: runs,
        entrant_columns: edition.entrants.columns(),
        left_out: Mutex::default(),
        common: Common::default(),
    };
    let mut notes = Vec::new();
    let mut base = runs.table.clone();
    for step in &scoring.prepare {
        base = engine.step(base, step, &mut notes)?;
    }
    let wanted: Vec<&View> = scoring.views.values().filter(|v| selection.wants_view(&v.name)).collect();
    engine.common = Common::new(&base, &wanted);
    // Views are independent of each other, save for what they keep for each other. Each holds columns of its own: two
    // at once keep two cores busy, more would take more memory. What they give is put in the order of the edition.
    let next = AtomicUsize::new(0);
    let lanes: Vec<Vec<(usize, Result<ViewScores, ScoreError>)>> = (0..2)
        .into_par_iter()
        .map(|_| {
            let mut done = Vec::new();
            while let at = next.fetch_add(1, atomic::Ordering::Relaxed)
                && let Some(view) = wanted.get(at)
            {
                done.push((at, engine.view(&base, view, selection, &notes)));
            }
            done
        })
        .collect();
    let mut scored: Vec<(usize, Result<ViewScores, ScoreError>)> = lanes.into_iter().flatten().collect();
    scored.sort_by_key(|(at, _)| *at);
    let views = scored.into_iter().map(|(_, view)| view).collect::<Result<Vec<ViewScores>, ScoreError>>()?;
    Ok(TrackScores { track: track.name.clone(), form: runs.form.clone(), views })
}

struct Engine<'a> {
    edition: &'a Edition,
    track: &'a Track,
    /// The runs as they were read, to find the row that a formula has no value for.
    raw: &'a TrackRuns,
    entrant_columns: Vec<String>,
    /// Columns that were left out, with the column of the results whose absence is the reason.
    left_out: Mutex<BTreeMap<String, String>>,
    common: Common,
}

impl Engine<'_> {
    /// The first column that a formula needs and the table lacks.
    fn lacking(formula: &Formula, table: &Table) -> Option<String> {
        formula.columns().into_iter().find(|c| !table.has(c))
    }

    fn eval(&self, formula: &Formula, table: &Table, element: &str) -> Result<Arc<Column>, ScoreError> {
        self.complain(formula, table, element)?;
        self.common.column(Recipe::Formula(formula.clone()), table, &formula.columns(), || {
            formula.eval(table).map_err(|e| self.failed(formula, table, element, &e))
        })
    }

    /// The error for a formula without a value, with the place of the run that it has none for if a single one is to
    /// blame: steps drop rows and group them, so it is looked up among the rows that were read.
    fn failed(&self, formula: &Formula, table: &Table, element: &str, error: &EvalError) -> ScoreError {
        let place = || {
            let row = faulty_row(formula, table)?;
            let raw = &self.raw.table;
            let keys = ["entrant", "benchmark", "division"].into_iter().filter(|key| table.has(key) && raw.has(key));
            let keys: Vec<(&Arc<Column>, Value)> =
                keys.filter_map(|key| Some((raw.column(key).ok()?, table.column(key).ok()?.value(row)))).collect();
            let found = (0..raw.rows()).find(|&row| keys.iter().all(|(column, value)| column.value(row) == *value))?;
            let about: Vec<String> = keys.iter().map(|(_, value)| show(value)).collect();
            Some(match table.has("benchmark") {
                true => format!("{}: {element}", self.raw.origins.place(found, "")),
                // It is about several runs: whose they are is all that can be said.
                false => format!("{element}, for {}", about.join(", ")),
            })
        };
        ScoreError::formula(&place().unwrap_or_else(|| element.to_string()), error)
    }

    /// The column of the results that stands behind a missing one.
    fn root_of(&self, column: String) -> String {
        let left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.get(&column).cloned().unwrap_or(column)
    }

    /// An error if the table lacks a column that the formula needs.
    fn complain(&self, formula: &Formula, table: &Table, element: &str) -> Result<(), ScoreError> {
        if let Some(column) = Self::lacking(formula, table) {
            let column = self.root_of(column);
            let known = self.edition.entrants.fields.contains_key(&column);
            let hint = if known { ", or an entrants' list that says it (--solvers FILE)" } else { "" };
            return Err(ScoreError::Missing { element: element.into(), column, hint: hint.into() });
        }
        Ok(())
    }

    /// Adds columns. One whose formula needs a column that these results lack is left out: whatever needs it in turn
    /// is left out too, or says so if the score depends on it.
    fn lets(&self, table: &mut Table, lets: &[Let], element: &str, notes: &mut Vec<String>) -> Result<(), ScoreError> {
        for l in lets {
            if self.leaves_out(table, l, notes) {
                continue;
            }
            if let Some(value) = l.formula.constant_in(table) {
                table.set_constant(&l.name, l.formula.ty().clone(), value);
                continue;
            }
            let column = self.eval(&l.formula, table, &format!("`{}` of {element}", l.name))?;
            table.set(&l.name, l.formula.ty().clone(), column)?;
        }
        Ok(())
    }

    /// Whether a formula needs a column that these results lack. Then the table does not have its column either.
    fn leaves_out(&self, table: &mut Table, l: &Let, notes: &mut Vec<String>) -> bool {
        let Some(column) = Self::lacking(&l.formula, table) else { return false };
        let column = self.root_of(column);
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).insert(l.name.clone(), column.clone());
        table.remove(&l.name);
        note(notes, format!("`{}` is left out: these results have no `{column}`", l.name));
        true
    }

    fn step(&self, mut table: Table, step: &Step, notes: &mut Vec<String>) -> Result<Table, ScoreError> {
        let element = format!("step `{}` of the track {}", step.name, self.track.name);
        match &step.action {
            Action::Let(lets) => self.lets(&mut table, lets, &element, notes)?,
            Action::Keep(l) | Action::Drop(l) => {
                let column = self.eval(&l.formula, &table, &element)?;
                let mask = column.as_bool().unwrap_or_default();
                table = if matches!(step.action, Action::Keep(_)) {
                    table.keep(mask)
                } else {
                    table.keep(&mask.iter().map(|m| !m).collect::<Vec<bool>>())
                };
            }
            Action::Group(by, lets) => {
                let groups = table.groups(by)?;
                let rows = groups.firsts();
                // A column that no later one is computed from is computed for the rows that stay.
                let mut made = Vec::new();
                for (at, l) in lets.iter().enumerate() {
                    if lets[at + 1..].iter().any(|later| later.formula.columns().contains(&l.name)) {
                        self.lets(&mut table, std::slice::from_ref(l), &element, notes)?;
                    } else if !self.leaves_out(&mut table, l, notes) {
                        let element = format!("`{}` of {element}", l.name);
                        made.push((l, self.eval_rows(&l.formula, &table, rows, &element)?));
                    }
                }
                // Columns that differ within a group would show whichever row came first.
                let names: Vec<String> = table.names().map(str::to_string).collect();
                let kept = carried(by, names.iter().map(String::as_str), &self.entrant_columns);
                for name in &names {
                    if !kept.contains(name) && !lets.iter().any(|l| l.name == *name) {
                        table.remove(name);
                    }
                }
                table = table.gather(rows);
                for (l, column) in made {
                    table.set(&l.name, l.formula.ty().clone(), column)?;
                }
            }
        }
        Ok(table)
    }

    fn view(
        &self,
        base: &Table,
        view: &View,
        selection: &Selection,
        notes: &[String],
    ) -> Result<ViewScores, ScoreError> {
        let scoring = self.track.scoring.as_ref();
        let mut notes = notes.to_vec();
        let mut runs = base.clone();
        let element = format!("view `{}` of the track {}", view.name, self.track.name);
        self.lets(&mut runs, &view.lets, &element, &mut notes)?;
        for step in &view.steps {
            runs = self.step(runs, step, &mut notes)?;
        }
        let rules = scoring.map(|s| &s.tables);
        let rankings: Vec<&Ranking> =
            view.rankings.values().filter(|r| selection.rankings || selection.tables.contains(&r.name)).collect();
        let mut computed: IndexMap<String, Standings> = IndexMap::new();
        for (name, rule) in rules.into_iter().flatten() {
            let asked = selection.tables.is_empty() || selection.tables.contains(name);
            if asked || rankings.iter().any(|r| r.from == *name) {
                computed.insert(name.clone(), self.standings(&runs, view, name, &rule.by, &mut notes)?);
            }
        }
        let mut ranked = IndexMap::new();
        for ranking in rankings {
            let start = if ranking.from == "runs" { &runs } else { &computed[&ranking.from].table };
            match self.ranking(start, ranking, view) {
                Ok(standings) => {
                    ranked.insert(ranking.name.clone(), standings);
                }
                // Asked for by name, it must be there; among all, it may need what these results lack.
                Err(error @ ScoreError::Missing { .. }) if !selection.tables.contains(&ranking.name) => {
                    note(&mut notes, format!("the ranking `{}` is left out: {error}", ranking.name));
                }
                Err(error) => return Err(error),
            }
        }
        computed.retain(|name, _| selection.tables.is_empty() || selection.tables.contains(name));
        Ok(ViewScores { view: view.name.clone(), tables: computed, rankings: ranked, notes })
    }

    /// The names of a group, as one text column.
    fn group_column(table: &Table, by: &[String]) -> Result<Arc<Column>, ScoreError> {
        match by {
            [] => Ok(Arc::new(Column::constant(&Value::Symbol("".into()), table.rows()))),
            [one] => Ok(table.column(one)?.clone()),
            many => {
                let groups = table.groups(many)?;
                let mut dict = DictBuilder::new();
                let mut code_of = vec![u32::MAX; groups.count];
                let columns: Vec<Arc<Column>> =
                    many.iter().map(|n| table.column(n).cloned()).collect::<Result<_, _>>()?;
                let mut codes = Vec::with_capacity(table.rows());
                for (row, &id) in groups.ids.iter().enumerate() {
                    let slot = &mut code_of[id as usize];
                    if *slot == u32::MAX {
                        let parts: Vec<String> = columns.iter().map(|c| show(&c.value(row))).collect();
                        // No text has this separator, so that no two groups meet in one name.
                        *slot = dict.intern(&parts.join("\u{1f}"));
                    }
                    codes.push(*slot);
                }
                Ok(Arc::new(Column::Symbol(Symbols { codes, dict: dict.finish() })))
            }
        }
    }

    fn standings(
        &self,
        runs: &Table,
        view: &View,
        name: &str,
        by: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Standings, ScoreError> {
        let element = format!("table `{name}`, view `{}`, track {}", view.name, self.track.name);
        let mut runs = runs.clone();
        let group = self.common.column(Recipe::Groups, &runs, by, || Self::group_column(&runs, by))?;
        runs.set("group", Type::TEXT, group)?;
        let groups = runs.groups(&["group", "entrant"])?;
        let rows = groups.firsts();
        let mut table = Table::new(rows.len());
        let text = |t: &str| Column::constant(&Value::Symbol(t.into()), rows.len());
        table.set("table", Type::TEXT, text(name))?;
        let copy = |table: &mut Table, column: &str| -> Result<(), ScoreError> {
            if let (Ok(source), Some(ty)) = (runs.column(column), runs.column_type(column)) {
                table.set(column, ty.clone(), source.gather(rows))?;
            }
            Ok(())
        };
        copy(&mut table, "group")?;
        for column in ["division", "logic"] {
            table.set(column, Type::TEXT, text(""))?;
        }
        if by.iter().any(|b| b == "division" || b == "logic") {
            copy(&mut table, "division")?;
            copy(&mut table, "experimental")?;
        }
        for column in by.iter().chain(&self.entrant_columns) {
            copy(&mut table, column)?;
        }
        if !table.has("experimental") {
            table.set("experimental", Type::Bool, Column::Bool(vec![false; rows.len()]))?;
        }
        let mut result = Standings {
            table: Table::default(),
            by: Vec::new(),
            measures: Vec::new(),
            counts: Vec::new(),
            decimals: IndexMap::new(),
        };
        result.by.extend(by.iter().filter(|b| !matches!(b.as_str(), "division" | "logic")).cloned());
        // Together, since most of them count the same runs. Should one have a mistake, it is found one by one.
        let together: Vec<&Formula> = view.measures.iter().chain(&view.counts).map(|l| &l.formula).collect();
        let together: Vec<&Formula> = together.into_iter().filter(|f| Self::lacking(f, &runs).is_none()).collect();
        let columns = Formula::eval_all_at(&together, &runs, rows).unwrap_or_default();
        let known: FxHashMap<&Formula, Arc<Column>> = together.into_iter().zip(columns).collect();
        let value = |formula: &Formula, what: String| match known.get(formula) {
            Some(column) => Ok(column.clone()),
            None => self.eval_rows(formula, &runs, rows, &what),
        };
        for l in &view.measures {
            let column = value(&l.formula, format!("measure `{}`, {element}", l.name))?;
            table.set(&l.name, l.formula.ty().clone(), column)?;
            result.measures.push(l.name.clone());
            result.decimals.extend(l.decimals.map(|d| (l.name.clone(), d)));
        }
        for l in &view.counts {
            if let Some(column) = Self::lacking(&l.formula, &runs) {
                note(notes, format!("the count `{}` is left out: these results have no `{column}`", l.name));
                continue;
            }
            let column = value(&l.formula, format!("count `{}`, {element}", l.name))?;
            table.set(&l.name, l.formula.ty().clone(), column)?;
            if l.print != Some(false) {
                result.counts.push(l.name.clone());
            }
            result.decimals.extend(l.decimals.map(|d| (l.name.clone(), d)));
        }
        self.lets(&mut table, &view.standings, &element, notes)?;
        for l in view.standings.iter().filter(|l| l.print == Some(true) && table.has(&l.name)) {
            result.counts.push(l.name.clone());
            result.decimals.extend(l.decimals.map(|d| (l.name.clone(), d)));
        }
        self.place(&mut table, &view.order, &["group"], view.winner.as_ref(), &element)?;
        result.table = self.sorted(&table, by)?;
        Ok(result)
    }

    /// A formula over the runs, at some rows only.
    fn eval_rows(
        &self,
        formula: &Formula,
        runs: &Table,
        rows: &[u32],
        element: &str,
    ) -> Result<Arc<Column>, ScoreError> {
        self.complain(formula, runs, element)?;
        formula.eval_at(runs, rows).map_err(|e| self.failed(formula, runs, element, &e))
    }

    /// Adds `position`, `rank` and `winner`: the place in the order, 1 + the competing entrants strictly above, and
    /// who wins. Rows that the order leaves equal are listed by name, which decides no rank.
    fn place(
        &self,
        table: &mut Table,
        order: &[SortKey],
        groups: &[&str],
        winner: Option<&Let>,
        element: &str,
    ) -> Result<(), ScoreError> {
        let rows = table.rows();
        let mut keys: Vec<(Keys, bool)> = Vec::new();
        for key in order {
            let column = self.eval(&key.formula, table, &format!("order of {element}"))?;
            keys.push((Keys::of(&column), key.descending));
        }
        let mut ties: Vec<Keys> = Vec::new();
        for name in ["division", "logic", "entrant"] {
            if let Ok(column) = table.column(name) {
                ties.push(Keys::of(column));
            }
        }
        let groups = table.groups(groups)?;
        let better = |a: usize, b: usize| -> Ordering {
            for (key, descending) in &keys {
                let ordering = key.compare(a, b);
                if ordering != Ordering::Equal {
                    return if *descending { ordering.reverse() } else { ordering };
                }
            }
            Ordering::Equal
        };
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| {
            groups.ids[a].cmp(&groups.ids[b]).then_with(|| better(a, b)).then_with(|| {
                ties.iter().map(|k| k.compare(a, b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
            })
        });
        let competing = table.column("competing").ok().cloned();
        let competing = competing.as_ref().and_then(|c| c.as_bool());
        let (mut position, mut rank) = (vec![0i64; rows], vec![0i64; rows]);
        let mut start = 0;
        while start < rows {
            let group = groups.ids[order[start]];
            let mut end = start;
            // Competing entrants above the present block of equals, and those seen so far.
            let (mut above, mut seen) = (0, 0);
            while end < rows && groups.ids[order[end]] == group {
                let row = order[end];
                if end > start && better(order[end - 1], row) != Ordering::Equal {
                    above = seen;
                }
                position[row] = (end - start + 1) as i64;
                rank[row] = above + 1;
                seen += i64::from(competing.is_none_or(|c| c[row]));
                end += 1;
            }
            start = end;
        }
        table.set("position", Type::NUMBER, Column::Int(position))?;
        table.set("rank", Type::NUMBER, Column::Int(rank))?;
        let column = match winner {
            Some(l) => self.eval(&l.formula, table, &format!("winner of {element}"))?,
            None => Arc::new(Column::Bool(vec![false; rows])),
        };
        table.set("winner", Type::Bool, column)?;
        Ok(())
    }

    /// Rows in the order of the edition's divisions and logics, then by position.
    fn sorted(&self, table: &Table, by: &[String]) -> Result<Table, ScoreError> {
        let mut division_place: IndexMap<&str, usize> = IndexMap::new();
        let mut logic_place: IndexMap<&str, usize> = IndexMap::new();
        for (name, division) in &self.track.divisions {
            let next = division_place.len();
            division_place.insert(name, next);
            for logic in &division.logics {
                let next = logic_place.len();
                logic_place.insert(logic, next);
            }
        }
        let place = |column: &str, places: &IndexMap<&str, usize>| -> Result<Vec<(usize, String)>, ScoreError> {
            let column = table.column(column)?;
            Ok((0..table.rows())
                .map(|row| {
                    let name = show(&column.value(row));
                    (places.get(name.as_str()).copied().unwrap_or(usize::MAX), name)
                })
                .collect())
        };
        let divisions = place("division", &division_place)?;
        let logics = place("logic", &logic_place)?;
        let mut others: Vec<Keys> = Vec::new();
        for name in by.iter().filter(|b| *b != "division" && *b != "logic") {
            others.push(Keys::of(table.column(name)?));
        }
        let position = table.column("position")?.clone();
        let position = position.as_int().unwrap_or_default();
        let mut order: Vec<u32> = (0..table.rows() as u32).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            divisions[a]
                .cmp(&divisions[b])
                .then_with(|| logics[a].cmp(&logics[b]))
                .then_with(|| {
                    others.iter().map(|k| k.compare(a, b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
                })
                .then_with(|| position[a].cmp(&position[b]))
        });
        Ok(table.gather(&order))
    }

    fn ranking(&self, start: &Table, ranking: &Ranking, view: &View) -> Result<Standings, ScoreError> {
        // What is left out on the way shows in the end: a ranking that needs it says so.
        let notes = &mut Vec::new();
        let element = format!("ranking `{}`, view `{}`, track {}", ranking.name, view.name, self.track.name);
        let mut table = start.clone();
        for name in ["position", "rank", "winner"] {
            // The places of the division stay usable in the steps, but not as the ranking's own.
            if ranking.from == "runs" {
                table.remove(name);
            }
        }
        // Dropping rows copies every column, so only those that are still read come along.
        let needed = needed(ranking);
        table = table.select(|name| needed.contains(name) || self.entrant_columns.iter().any(|c| c == name));
        for step in &ranking.steps {
            table = self.step(table, step, notes)?;
        }
        self.place(&mut table, &ranking.order, &[], None, &element)?;
        let mut result = Standings {
            table: Table::default(),
            by: Vec::new(),
            measures: Vec::new(),
            counts: Vec::new(),
            decimals: IndexMap::new(),
        };
        // The values are computed before any is set, since a value may have the name of what it is computed from.
        let mut values = Vec::new();
        for l in &ranking.values {
            let column = self.eval(&l.formula, &table, &format!("`{}` of {element}", l.name))?;
            values.push((l, column));
        }
        let winner = match &ranking.winner {
            Some(l) => self.eval(&l.formula, &table, &format!("winner of {element}"))?,
            None => Arc::new(Column::Bool(vec![false; table.rows()])),
        };
        table.set("winner", Type::Bool, winner)?;
        for (l, column) in values {
            table.set(&l.name, l.formula.ty().clone(), column)?;
            result.measures.push(l.name.clone());
            result.decimals.extend(l.decimals.map(|d| (l.name.clone(), d)));
        }
        for name in ["division", "logic", "entrant", "solver"] {
            if !table.has(name) {
                let rows = table.rows();
                table.set(name, Type::TEXT, Column::constant(&Value::Symbol("".into()), rows))?;
            }
        }
        let position = table.column("position")?.clone();
        let position = position.as_int().unwrap_or_default();
        let mut order: Vec<u32> = (0..table.rows() as u32).collect();
        order.sort_by_key(|&row| position[row as usize]);
        result.table = table.gather(&order);
        Ok(result)
    }
}

/// The columns that a ranking reads, or may print.
fn needed(ranking: &Ranking) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = ["division", "logic", "experimental"].into_iter().map(str::to_string).collect();
    ranking.reads(&mut names);
    names
}

fn note(notes: &mut Vec<String>, text: String) {
    let set: BTreeSet<&str> = notes.iter().map(String::as_str).collect();
    if !set.contains(text.as_str()) {
        notes.push(text);
    }
}

/// A value as text; numbers in base units.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Bool(b) => if *b { "yes" } else { "no" }.into(),
        Value::Symbol(s) => s.to_string(),
        Value::Exact(e) => e.to_short_decimal(12),
        Value::Real(r) => r.to_string(),
    }
}

/// A column made ready for comparisons of rows.
pub(crate) enum Keys {
    Ints(Vec<i64>),
    Column(Arc<Column>),
}

impl Keys {
    pub(crate) fn of(column: &Arc<Column>) -> Self {
        match &**column {
            Column::Int(v) => Self::Ints(v.clone()),
            Column::Bool(v) => Self::Ints(v.iter().map(|&b| i64::from(b)).collect()),
            Column::Symbol(s) => {
                let keys = s.dict.sort_keys();
                Self::Ints(s.codes.iter().map(|&c| keys[c as usize].into()).collect())
            }
            _ => Self::Column(column.clone()),
        }
    }

    pub(crate) fn compare(&self, a: usize, b: usize) -> Ordering {
        match self {
            Self::Ints(v) => v[a].cmp(&v[b]),
            Self::Column(c) => c.value(a).total_cmp(&c.value(b)),
        }
    }
}
