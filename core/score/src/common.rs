//! Columns that several views compute alike, computed once.
//!
//! The views of a track are mostly one set of steps with other limits: many of their columns are the same formula over
//! the same columns. Such a column is kept from the first view that needs it to the last. What it was computed from is
//! known by address: the columns that all views start from, and those that are kept themselves, stay where they are as
//! long as a [`Common`] lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_edition::model::{Action, Let, Step, View};
use agon_formula::Formula;
use agon_table::{Column, Table};
use rustc_hash::{FxHashMap, FxHashSet};

/// What makes a column out of others.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Recipe {
    /// Its value on every row.
    Formula(Formula),
    /// The names of the groups of these columns.
    Groups,
}

/// What a column is made from.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Input {
    /// A column at this address.
    Column(usize),
    /// The same value on every row, by its text.
    Constant(String),
}

/// A column that is there or will be: whoever comes first computes it under the lock.
type Place = Arc<Mutex<Option<Arc<Column>>>>;

#[derive(Default)]
struct Kept {
    /// The addresses of the columns that no view replaces.
    stable: FxHashSet<usize>,
    places: FxHashMap<(Recipe, Vec<Input>), Place>,
}

/// What views share.
#[derive(Default)]
pub(crate) struct Common {
    base: Table,
    /// The formulas of more than one view.
    repeated: FxHashSet<Formula>,
    kept: Mutex<Kept>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Common {
    /// For views that start from this table.
    pub fn new(base: &Table, views: &[&View]) -> Self {
        let mut met: FxHashMap<&Formula, usize> = FxHashMap::default();
        for (at, view) in views.iter().enumerate() {
            let steps = view.steps.iter().chain(view.rankings.values().flat_map(|r| &r.steps));
            for l in view.lets.iter().chain(steps.flat_map(formulas)) {
                let first = met.entry(&l.formula).or_insert(at);
                if *first != at {
                    // Seen in an earlier view; from here on it counts as repeated.
                    *first = usize::MAX;
                }
            }
        }
        let repeated = met.into_iter().filter(|(_, at)| *at == usize::MAX).map(|(f, _)| f.clone()).collect();
        let mut kept = Kept::default();
        for name in base.names() {
            if base.constant(name).is_none()
                && let Ok(column) = base.column(name)
            {
                kept.stable.insert(Arc::as_ptr(column) as usize);
            }
        }
        Self { base: base.clone(), repeated, kept: Mutex::new(kept) }
    }

    /// The column that `make` makes from the named columns of the table: an earlier one if the recipe and the columns
    /// are the same.
    pub fn column<E>(
        &self,
        recipe: Recipe,
        table: &Table,
        names: &[String],
        make: impl FnOnce() -> Result<Arc<Column>, E>,
    ) -> Result<Arc<Column>, E> {
        if let Recipe::Formula(formula) = &recipe
            && !self.repeated.contains(formula)
        {
            return make();
        }
        // A recipe without columns still depends on the number of rows, and a table with fewer was made by a view.
        if table.rows() != self.base.rows() {
            return make();
        }
        let inputs = names.iter().map(|name| match table.constant(name) {
            Some(value) => Some(Input::Constant(format!("{value:?}"))),
            None => Some(Input::Column(Arc::as_ptr(table.column(name).ok()?) as usize)),
        });
        let Some(inputs) = inputs.collect::<Option<Vec<Input>>>() else { return make() };
        let mut kept = lock(&self.kept);
        if inputs.iter().any(|input| matches!(input, Input::Column(address) if !kept.stable.contains(address))) {
            drop(kept);
            return make();
        }
        let place = kept.places.entry((recipe, inputs)).or_default().clone();
        drop(kept);
        let mut place = lock(&place);
        if let Some(column) = &*place {
            return Ok(column.clone());
        }
        let column = make()?;
        lock(&self.kept).stable.insert(Arc::as_ptr(&column) as usize);
        *place = Some(column.clone());
        Ok(column)
    }
}

fn formulas(step: &Step) -> Vec<&Let> {
    match &step.action {
        Action::Let(lets) | Action::Group(_, lets) => lets.iter().collect(),
        Action::Keep(l) | Action::Drop(l) => vec![l],
    }
}
