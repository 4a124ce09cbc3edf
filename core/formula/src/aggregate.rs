//! Aggregates: folds over groups of rows, broadcast back to the rows.
//!
//! The common folds are one pass over the rows with an accumulator for each group. `of other` is the total without the
//! own part where the fold can be undone, and the best beside the best of another where it picks. Everything else goes
//! through [`Cells::drive`], which lists the rows of each group in order.
//!
//! No result depends on the order of the rows: sums are exact or correctly rounded, and where a row is picked, rows
//! that are equal in the order are told apart by the value that is taken from them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use agon_table::{Column, Exact, Groups, Symbols, Type, Value, exact_sum, exact_sum_f64};
use rustc_hash::FxHashSet;

use crate::eval::{Fallback, Fault, Run, join};
use crate::ir::{Aggregate, Fold, Id, Op, normal};

/// No row.
const NONE: u32 = u32::MAX;

/// The value of an aggregate on every row.
pub(crate) fn column(run: &Run<'_>, id: Id, spec: &Aggregate) -> Result<Arc<Column>, Fault> {
    job(run, id, spec)?.compute().map(Arc::new)
}

/// The value of an aggregate on some rows. The folds that scores are made of are not spread over the other rows.
pub(crate) fn column_at(run: &Run<'_>, id: Id, spec: &Aggregate, rows: &[u32]) -> Result<Column, Fault> {
    let job = job(run, id, spec)?;
    if job.once.is_none() {
        let ids = &job.cells().ids;
        let cell = |row: &u32| ids[*row as usize] as usize;
        match (spec.fold, job.value.and_then(Column::as_int)) {
            (Fold::Count, _) => {
                let counts = job.count_cells(job.filter());
                return Ok(Column::Int(rows.iter().map(|row| counts[cell(row)]).collect()));
            }
            (Fold::Distinct, _) if job.other.is_none() => {
                let counts = job.distinct_cells()?;
                return Ok(Column::Int(rows.iter().map(|row| counts[cell(row)]).collect()));
            }
            (Fold::Sum, Some(values)) => {
                let sums = job.sum_cells(values);
                return Ok(Column::from_exact(rows.iter().map(|row| Exact::int(sums.get(cell(row)))).collect()));
            }
            // Without a filter every group has a row.
            (Fold::Min | Fold::Max, Some(values)) if job.other.is_none() && job.filter().is_none() => {
                let best = extremes(&job.groups, values, spec.fold == Fold::Max);
                return Ok(Column::Int(rows.iter().map(|row| best[cell(row)]).collect()));
            }
            _ => {}
        }
    }
    Ok(job.compute()?.gather(rows))
}

fn job<'a>(run: &'a Run<'a>, id: Id, spec: &'a Aggregate) -> Result<Job<'a>, Fault> {
    let table = run.table;
    let groups = |names: &[&str]| table.groups(names).map_err(|error| (id, error.to_string()));
    let per: Vec<&str> = spec.per.iter().map(|n| &**n).collect();
    let with = |more: &[Arc<str>]| {
        let mut names = per.clone();
        names.extend(more.iter().map(|n| &**n));
        groups(&names)
    };
    let mut job = Job {
        run,
        id,
        spec,
        groups: groups(&per)?,
        filter: spec.filter.and_then(|f| run.input(f).as_bool()).map(Cow::Borrowed),
        value: spec.value.map(|v| &**run.input(v)),
        other: None,
        once: None,
    };
    if !spec.once.is_empty() {
        job.once = Some(with(&spec.once)?);
    }
    if let Some(name) = &spec.other {
        let cells = if job.keeps_beside() { None } else { Some(with(std::slice::from_ref(name))?) };
        job.other = Some(Other { values: groups(&[name])?, cells });
    } else if let Some(once) = job.once.take() {
        // Without `of other` the rows that count are the same for all rows of a group.
        job.filter = Some(Cow::Owned(job.representatives(&once)));
    }
    Ok(job)
}

struct Other {
    values: Arc<Groups>,
    /// The groups, each parted by the column. A fold that keeps the best beside the best of another needs none.
    cells: Option<Arc<Groups>>,
}

struct Job<'a> {
    run: &'a Run<'a>,
    id: Id,
    spec: &'a Aggregate,
    groups: Arc<Groups>,
    filter: Option<Cow<'a, [bool]>>,
    value: Option<&'a Column>,
    other: Option<Other>,
    once: Option<Arc<Groups>>,
}

/// For each cell of a partition what the fold gives, if it gives anything.
type Found<T> = Vec<Option<T>>;

/// Numbers whose order (and equality) is that of the column's values.
fn order_key(column: &Column, descending: bool) -> Cow<'_, [i64]> {
    let key: Cow<'_, [i64]> = match column {
        Column::Int(v) => Cow::Borrowed(v),
        Column::Bool(v) => v.iter().map(|b| i64::from(*b)).collect(),
        Column::Symbol(s) => {
            let keys = s.dict.sort_keys();
            s.codes.iter().map(|c| i64::from(keys[*c as usize])).collect()
        }
        Column::Real(v) => v
            .iter()
            .map(|x| {
                let bits = normal(*x).to_bits() as i64;
                // Negative numbers are ordered backwards by their bits.
                bits ^ (((bits >> 63) as u64) >> 1) as i64
            })
            .collect(),
        Column::Exact(v) => {
            let mut rows: Vec<u32> = (0..v.len() as u32).collect();
            rows.sort_unstable_by(|a, b| v[*a as usize].cmp(&v[*b as usize]));
            let mut key = vec![0; v.len()];
            let mut rank = 0;
            for (at, row) in rows.iter().enumerate() {
                if at > 0 && v[*row as usize] != v[rows[at - 1] as usize] {
                    rank += 1;
                }
                key[*row as usize] = rank;
            }
            Cow::Owned(key)
        }
    };
    if descending { key.iter().map(|k| !k).collect() } else { key }
}

/// Numbers whose equality is that of the column's values.
fn identity_key(column: &Column) -> Cow<'_, [i64]> {
    match column {
        Column::Symbol(s) => s.codes.iter().map(|c| i64::from(*c)).collect(),
        other => order_key(other, false),
    }
}

/// Compares rows by several keys.
struct Order<'a>(Vec<Cow<'a, [i64]>>);

impl Order<'_> {
    fn cmp(&self, a: u32, b: u32) -> Ordering {
        for key in &self.0 {
            match key[a as usize].cmp(&key[b as usize]) {
                Ordering::Equal => {}
                unequal => return unequal,
            }
        }
        Ordering::Equal
    }
}

/// The rows of each part of a partition, one part after the other.
struct Parts {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Parts {
    fn new(groups: &Groups, filter: Option<&[bool]>) -> Self {
        let mut starts = vec![0u32; groups.count + 1];
        let counts = |row: usize| filter.is_none_or(|f| f[row]);
        for (row, group) in groups.ids.iter().enumerate() {
            starts[*group as usize + 1] += u32::from(counts(row));
        }
        for at in 0..groups.count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[groups.count] as usize];
        for (row, group) in groups.ids.iter().enumerate() {
            if counts(row) {
                let at = &mut next[*group as usize];
                rows[*at as usize] = row as u32;
                *at += 1;
            }
        }
        Self { starts, rows }
    }

    fn range(&self, part: usize) -> std::ops::Range<usize> {
        self.starts[part] as usize..self.starts[part + 1] as usize
    }

    fn part(&self, part: usize) -> &[u32] {
        &self.rows[self.range(part)]
    }

    fn sort(&mut self, order: &Order<'_>) {
        for part in 0..self.starts.len() - 1 {
            let range = self.range(part);
            match order.0.as_slice() {
                [key] => self.rows[range].sort_unstable_by_key(|row| key[*row as usize]),
                _ => self.rows[range].sort_unstable_by(|a, b| order.cmp(*a, *b)),
            }
        }
    }
}

/// Sums of 64-bit numbers of which some may not fit 64 bits.
enum Sums {
    Small(Vec<i64>),
    Wide(Vec<i128>),
}

impl Sums {
    fn new(groups: &Groups, values: &[i64], filter: Option<&[bool]>) -> Self {
        let mut sums = vec![0i64; groups.count];
        let mut over = 0i64;
        let mut add = |group: u32, x: i64| {
            let sum = &mut sums[group as usize];
            let next = sum.wrapping_add(x);
            over |= (*sum ^ next) & (x ^ next);
            *sum = next;
        };
        match filter {
            None => groups.ids.iter().zip(values).for_each(|(g, x)| add(*g, *x)),
            Some(f) => groups.ids.iter().zip(values).zip(f).for_each(|((g, x), f)| add(*g, *x & -i64::from(*f))),
        }
        if over >= 0 {
            return Self::Small(sums);
        }
        let mut sums = vec![0i128; groups.count];
        for (row, (group, x)) in groups.ids.iter().zip(values).enumerate() {
            if filter.is_none_or(|f| f[row]) {
                sums[*group as usize] += i128::from(*x);
            }
        }
        Self::Wide(sums)
    }

    fn get(&self, at: usize) -> i128 {
        match self {
            Self::Small(v) => v[at].into(),
            Self::Wide(v) => v[at],
        }
    }
}

fn counts(groups: &Groups, filter: Option<&[bool]>) -> Vec<i64> {
    let mut counts = vec![0; groups.count];
    match filter {
        None => groups.ids.iter().for_each(|g| counts[*g as usize] += 1),
        Some(f) => groups.ids.iter().zip(f).for_each(|(g, f)| counts[*g as usize] += i64::from(*f)),
    }
    counts
}

/// The greatest or the least number of each group.
fn extremes(groups: &Groups, values: &[i64], greatest: bool) -> Vec<i64> {
    fn fold(groups: &Groups, values: &[i64], start: i64, f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
        let mut cells = vec![start; groups.count];
        for (group, x) in groups.ids.iter().zip(values) {
            let cell = &mut cells[*group as usize];
            *cell = f(*cell, *x);
        }
        cells
    }
    if greatest { fold(groups, values, i64::MIN, i64::max) } else { fold(groups, values, i64::MAX, i64::min) }
}

/// For each group the row of the filter before which no other comes, or none.
fn leaders(groups: &Groups, filter: Option<&[bool]>, order: &Order<'_>) -> Vec<u32> {
    fn find(groups: &Groups, filter: Option<&[bool]>, before: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let mut best = vec![NONE; groups.count];
        for (row, group) in groups.ids.iter().enumerate() {
            if filter.is_none_or(|f| f[row]) {
                let best = &mut best[*group as usize];
                if *best == NONE || before(row as u32, *best) {
                    *best = row as u32;
                }
            }
        }
        best
    }
    match order.0.as_slice() {
        [key] => find(groups, filter, |a, b| key[a as usize] < key[b as usize]),
        _ => find(groups, filter, |a, b| order.cmp(a, b).is_lt()),
    }
}

fn spread<T: Copy>(groups: &Groups, cells: &[T]) -> Vec<T> {
    groups.ids.iter().map(|g| cells[*g as usize]).collect()
}

/// A value for each row, or one for all.
enum Pick<'a, T> {
    Many(&'a [T]),
    One(T),
}

impl<T: Clone> Pick<'_, T> {
    fn get(&self, row: usize) -> T {
        match self {
            Self::Many(v) => v[row].clone(),
            Self::One(x) => x.clone(),
        }
    }
}

fn int_fallback<'f>(fallback: Option<&'f Fallback<'_>>) -> Option<Pick<'f, i64>> {
    match fallback {
        None => Some(Pick::One(0)),
        Some(Fallback::Constant(value)) => value.as_exact().and_then(Exact::as_i64).map(Pick::One),
        Some(Fallback::Column(column)) => column.as_int().map(Pick::Many),
    }
}

fn exact_fallback(fallback: Option<&Fallback<'_>>, row: usize) -> Exact {
    match fallback.map(|f| f.value(row)) {
        Some(Value::Exact(e)) => e,
        _ => Exact::ZERO,
    }
}

fn real_fallback<'f>(fallback: Option<&'f Fallback<'_>>) -> Pick<'f, f64> {
    match fallback {
        Some(Fallback::Constant(Value::Real(x))) => Pick::One(*x),
        Some(Fallback::Column(Column::Real(v))) => Pick::Many(v),
        _ => Pick::One(0.0),
    }
}

/// The best of a group, and the best among the rows that differ from it in the column of `of other`.
#[derive(Clone)]
struct Best {
    key: i64,
    beside: i64,
    row: u32,
    row_beside: u32,
    who: u32,
}

impl Job<'_> {
    fn filter(&self) -> Option<&[bool]> {
        self.filter.as_deref()
    }

    /// The partition that the results belong to.
    fn cells(&self) -> &Groups {
        self.other.as_ref().and_then(|o| o.cells.as_deref()).unwrap_or(&self.groups)
    }

    /// Whether the fold picks a row and keeps, for `of other`, the best of another beside it.
    fn keeps_beside(&self) -> bool {
        matches!(self.spec.fold, Fold::Min | Fold::Max | Fold::Nth(0)) && self.once.is_none()
    }

    /// The order of the rows: by the keys, then by the value.
    fn order(&self) -> Order<'_> {
        let keys = self.spec.by.iter().map(|(key, descending)| order_key(self.run.input(*key), *descending));
        // Rows that agree in all keys also agree in the value if it is one of them.
        let keyed = self.spec.by.iter().any(|(key, _)| Some(*key) == self.spec.value);
        Order(keys.chain(self.value.filter(|_| !keyed).map(|v| order_key(v, false))).collect())
    }

    /// For `once`: of the rows that agree, the first in the order.
    fn representatives(&self, once: &Groups) -> Vec<bool> {
        let best = leaders(once, self.filter(), &self.order());
        let mut chosen = vec![false; once.ids.len()];
        for row in best {
            if row != NONE {
                chosen[row as usize] = true;
            }
        }
        chosen
    }

    /// Folds the rows of every cell, listed in order if the fold looks at it.
    fn drive<T>(&self, sorted: bool, mut f: impl FnMut(usize, &[u32]) -> T) -> Vec<T> {
        let mut parts = Parts::new(&self.groups, self.filter());
        if sorted || self.once.is_some() {
            parts.sort(&self.order());
        }
        let Some(other) = &self.other else {
            return (0..self.groups.count).map(|group| f(group, parts.part(group))).collect();
        };
        let cells = self.cells();
        let mut member = vec![NONE; cells.count];
        for (row, cell) in cells.ids.iter().enumerate() {
            member[*cell as usize] = row as u32;
        }
        // When a class of `once` was last met, by the number of the cell.
        let mut met: Vec<u32> = self.once.as_ref().map_or(Vec::new(), |once| vec![NONE; once.count]);
        let mut rows = Vec::new();
        let mut results = Vec::with_capacity(cells.count);
        for (cell, member) in member.into_iter().enumerate() {
            rows.clear();
            if member != NONE {
                let own = other.values.ids[member as usize];
                let all = parts.part(self.groups.ids[member as usize] as usize);
                rows.extend(all.iter().copied().filter(|row| {
                    other.values.ids[*row as usize] != own
                        && self.once.as_ref().is_none_or(|once| {
                            let met = &mut met[once.ids[*row as usize] as usize];
                            std::mem::replace(met, cell as u32) != cell as u32
                        })
                }));
            }
            results.push(f(cell, &rows));
        }
        results
    }

    fn compute(&self) -> Result<Column, Fault> {
        let undoable = self.once.is_none();
        let ints = self.value.and_then(Column::as_int);
        let bools = self.value.and_then(Column::as_bool);
        match self.spec.fold {
            Fold::Count if undoable => Ok(Column::Int(spread(self.cells(), &self.count_cells(self.filter())))),
            Fold::Count => Ok(Column::Int(spread(self.cells(), &self.drive(false, |_, rows| rows.len() as i64)))),
            Fold::Any | Fold::All => {
                let bools = bools.unwrap_or_default();
                let wanted = self.spec.fold == Fold::Any;
                let cells: Vec<bool> = if undoable {
                    // Some row with the value that decides.
                    let deciding: Vec<bool> = match self.filter() {
                        None if wanted => Vec::new(),
                        None => bools.iter().map(|b| !b).collect(),
                        Some(f) => bools.iter().zip(f).map(|(b, f)| (*b == wanted) & *f).collect(),
                    };
                    let deciding = if deciding.is_empty() { bools } else { &deciding };
                    self.count_cells(Some(deciding)).into_iter().map(|n| (n > 0) == wanted).collect()
                } else {
                    self.drive(false, |_, rows| rows.iter().any(|r| bools[*r as usize] == wanted) == wanted)
                };
                Ok(Column::Bool(spread(self.cells(), &cells)))
            }
            Fold::Sum => match ints {
                Some(values) if undoable => Ok(self.sum_ints(values)),
                _ => self.numbers(false, |job, rows| Some(job.sum(rows))),
            },
            Fold::Mean => match ints {
                Some(values) if undoable => self.mean_ints(values),
                _ => self.numbers(false, Job::mean),
            },
            Fold::Median => self.numbers(true, |job, rows| {
                let middle = (rows.len().max(1) - 1) / 2..rows.len() / 2 + 1;
                job.mean(rows.get(middle)?)
            }),
            Fold::TrimmedMean(k) => self.numbers(true, |job, rows| job.mean(rows.get(k..rows.len().checked_sub(k)?)?)),
            Fold::Min | Fold::Max => self.extreme(self.spec.fold == Fold::Max),
            Fold::Nth(0) if self.keeps_beside() => self.first(),
            Fold::Nth(n) => {
                let cells = self.drive(true, |_, rows| rows.get(n).copied().unwrap_or(NONE));
                self.rows(|row| cells[self.cells().ids[row] as usize])
            }
            Fold::Only => {
                let key = self.value.map(identity_key).unwrap_or_default();
                let cells = self.drive(false, |_, rows| match rows.split_first() {
                    Some((first, rest)) if rest.iter().all(|r| key[*r as usize] == key[*first as usize]) => *first,
                    _ => NONE,
                });
                self.rows(|row| cells[self.cells().ids[row] as usize])
            }
            Fold::Distinct => {
                let cells = if self.other.is_none() {
                    self.distinct_cells()?
                } else {
                    let key = self.value.map(identity_key).unwrap_or_default();
                    let mut seen: FxHashSet<i64> = FxHashSet::default();
                    self.drive(false, |_, rows| {
                        seen.clear();
                        rows.iter().filter(|row| seen.insert(key[**row as usize])).count() as i64
                    })
                };
                Ok(Column::Int(spread(self.cells(), &cells)))
            }
            Fold::Place => Ok(self.place()),
        }
    }

    /// How many rows of the filter each cell has, or, with `of other`, how many the rest of its group has.
    /// For each group how many different values it has. The values of a column are told apart by the table's own
    /// partition, which it keeps for the next formula.
    fn distinct_cells(&self) -> Result<Vec<i64>, Fault> {
        let mut count = vec![0; self.groups.count];
        let value = self.spec.value.map(|id| &self.run.nodes[id].op);
        if let Some(Op::Column(name)) = value {
            let mut names: Vec<&str> = self.spec.per.iter().map(|n| &**n).collect();
            names.push(name);
            let pairs = self.run.table.groups(&names).map_err(|error| (self.id, error.to_string()))?;
            let mut seen = vec![false; pairs.count];
            for (row, (group, pair)) in self.groups.ids.iter().zip(pairs.ids.iter()).enumerate() {
                if self.filter().is_none_or(|f| f[row]) && !std::mem::replace(&mut seen[*pair as usize], true) {
                    count[*group as usize] += 1;
                }
            }
            return Ok(count);
        }
        let key = self.value.map(identity_key).unwrap_or_default();
        let mut seen: FxHashSet<(u32, i64)> = FxHashSet::default();
        for (row, group) in self.groups.ids.iter().enumerate() {
            if self.filter().is_none_or(|f| f[row]) && seen.insert((*group, key[row])) {
                count[*group as usize] += 1;
            }
        }
        Ok(count)
    }

    fn count_cells(&self, filter: Option<&[bool]>) -> Vec<i64> {
        let own = counts(self.cells(), filter);
        if self.other.is_none() {
            return own;
        }
        let mut total = vec![0; self.groups.count];
        let mut rest = own.clone();
        self.each_cell(|cell, group| total[group] += own[cell]);
        self.each_cell(|cell, group| rest[cell] = total[group] - own[cell]);
        rest
    }

    /// Calls `f` once for each cell that has rows, with its group.
    fn each_cell(&self, mut f: impl FnMut(usize, usize)) {
        let cells = self.cells();
        let mut met = vec![false; cells.count];
        for (cell, group) in cells.ids.iter().zip(self.groups.ids.iter()) {
            if !std::mem::replace(&mut met[*cell as usize], true) {
                f(*cell as usize, *group as usize);
            }
        }
    }

    /// The sums of the cells, or of the rests of their groups.
    fn sum_cells(&self, values: &[i64]) -> Sums {
        let own = Sums::new(self.cells(), values, self.filter());
        if self.other.is_none() {
            return own;
        }
        let mut total = vec![0i128; self.groups.count];
        let mut rest = vec![0i128; self.cells().count];
        self.each_cell(|cell, group| total[group] += own.get(cell));
        self.each_cell(|cell, group| rest[cell] = total[group] - own.get(cell));
        match rest.iter().map(|x| i64::try_from(*x).ok()).collect() {
            Some(small) => Sums::Small(small),
            None => Sums::Wide(rest),
        }
    }

    fn sum_ints(&self, values: &[i64]) -> Column {
        match self.sum_cells(values) {
            Sums::Small(sums) => Column::Int(spread(self.cells(), &sums)),
            Sums::Wide(sums) => {
                Column::from_exact(self.cells().ids.iter().map(|c| Exact::int(sums[*c as usize])).collect())
            }
        }
    }

    fn mean_ints(&self, values: &[i64]) -> Result<Column, Fault> {
        let sums = self.sum_cells(values);
        let counts = self.count_cells(self.filter());
        let means = counts.iter().enumerate().map(|(at, n)| Exact::ratio(sums.get(at), (*n).into())).collect();
        Ok(self.exact_result(means))
    }

    fn exact(&self, row: u32) -> Exact {
        match self.value {
            Some(Column::Int(v)) => Exact::from(v[row as usize]),
            Some(Column::Exact(v)) => v[row as usize].clone(),
            _ => Exact::ZERO,
        }
    }

    fn reals(&self) -> Option<&[f64]> {
        match self.value {
            Some(Column::Real(v)) => Some(v),
            _ => None,
        }
    }

    fn sum(&self, rows: &[u32]) -> Value {
        match self.reals() {
            None => Value::Exact(rows.iter().fold(Exact::ZERO, |sum, row| sum.add(&self.exact(*row)))),
            Some(values) if moderate(values, rows) => {
                Value::Real(exact_sum_f64(rows.iter().map(|row| values[*row as usize])))
            }
            Some(values) => Value::Real(careful_sum(values, rows).to_f64()),
        }
    }

    fn mean(&self, rows: &[u32]) -> Option<Value> {
        let n = Exact::from(rows.len() as i64);
        match self.reals() {
            None => rows.iter().fold(Exact::ZERO, |sum, row| sum.add(&self.exact(*row))).div(&n).map(Value::Exact),
            Some(values) => {
                let sum = if moderate(values, rows) {
                    exact_sum(rows.iter().map(|row| values[*row as usize]))
                } else {
                    careful_sum(values, rows)
                };
                sum.div(&n).map(|mean| Value::Real(mean.to_f64()))
            }
        }
    }

    /// A column of numbers, exact or real as the node's type says.
    fn numbers(&self, sorted: bool, mut f: impl FnMut(&Self, &[u32]) -> Option<Value>) -> Result<Column, Fault> {
        let found: Found<Value> = self.drive(sorted, |_, rows| f(self, rows));
        let real = matches!(self.run.nodes[self.id].ty, Type::Number { real: true, .. });
        if !real {
            let exact = |value: Option<Value>| match value {
                Some(Value::Exact(e)) => Some(e),
                _ => None,
            };
            return Ok(self.exact_result(found.into_iter().map(exact).collect()));
        }
        let mut cells: Found<f64> = Vec::with_capacity(found.len());
        for value in found {
            cells.push(match value {
                Some(Value::Real(x)) if x.is_finite() => Some(normal(x)),
                Some(_) => return Err((self.id, "a real number left the range that can be represented".into())),
                None => None,
            });
        }
        let fallback = self.spec.otherwise.map(|o| self.run.fallback(o));
        let otherwise = real_fallback(fallback.as_ref());
        let ids = &self.cells().ids;
        let values = ids.iter().enumerate();
        Ok(Column::Real(values.map(|(row, c)| cells[*c as usize].unwrap_or_else(|| otherwise.get(row))).collect()))
    }

    fn exact_result(&self, cells: Found<Exact>) -> Column {
        let fallback = self.spec.otherwise.map(|o| self.run.fallback(o));
        let ids = &self.cells().ids;
        let whole: Option<Vec<Option<i64>>> = cells
            .iter()
            .map(|cell| match cell {
                None => Some(None),
                Some(e) => e.as_i64().map(Some),
            })
            .collect();
        if let (Some(whole), Some(otherwise)) = (whole, int_fallback(fallback.as_ref())) {
            let values = ids.iter().enumerate();
            return Column::Int(
                values.map(|(row, c)| whole[*c as usize].unwrap_or_else(|| otherwise.get(row))).collect(),
            );
        }
        let value = |(row, c): (usize, &u32)| match &cells[*c as usize] {
            Some(e) => e.clone(),
            None => exact_fallback(fallback.as_ref(), row),
        };
        Column::from_exact(ids.iter().enumerate().map(value).collect())
    }

    /// The values of the rows that `chosen` gives for each row, or the fallback.
    fn rows(&self, chosen: impl Fn(usize) -> u32) -> Result<Column, Fault> {
        let n = self.run.table.rows();
        let fallback = self.spec.otherwise.map(|o| self.run.fallback(o));
        let fallback = fallback.as_ref();
        let pick = |row: usize| match chosen(row) {
            NONE => None,
            found => Some(found as usize),
        };
        let Some(value) = self.value else { return Ok(Column::Int(vec![0; n])) };
        Ok(match value {
            Column::Bool(v) => {
                let otherwise = |row| matches!(fallback.map(|f| f.value(row)), Some(Value::Bool(true)));
                Column::Bool((0..n).map(|row| pick(row).map_or_else(|| otherwise(row), |r| v[r])).collect())
            }
            Column::Symbol(s) => {
                let one;
                let other = match fallback {
                    None => None,
                    Some(Fallback::Column(column)) => column.as_symbols().map(|o| (&o.dict, Pick::Many(&o.codes[..]))),
                    Some(Fallback::Constant(constant)) => {
                        one = Column::constant(constant, 1);
                        one.as_symbols().map(|o| (&o.dict, Pick::One(0)))
                    }
                };
                let (dict, map) = match &other {
                    Some((dict, _)) => join(&s.dict, dict),
                    None => (s.dict.clone(), None),
                };
                let otherwise = |row| {
                    let code = other.as_ref().map_or(0, |(_, codes)| codes.get(row));
                    map.as_ref().map_or(code, |map| map[code as usize])
                };
                let codes = (0..n).map(|row| pick(row).map_or_else(|| otherwise(row), |r| s.codes[r])).collect();
                Column::Symbol(Symbols { codes, dict })
            }
            Column::Real(v) => {
                let otherwise = real_fallback(fallback);
                Column::Real((0..n).map(|row| pick(row).map_or_else(|| otherwise.get(row), |r| v[r])).collect())
            }
            Column::Int(v) => match int_fallback(fallback) {
                Some(otherwise) => {
                    Column::Int((0..n).map(|row| pick(row).map_or_else(|| otherwise.get(row), |r| v[r])).collect())
                }
                None => {
                    let value = |row| pick(row).map_or_else(|| exact_fallback(fallback, row), |r| Exact::from(v[r]));
                    Column::from_exact((0..n).map(value).collect())
                }
            },
            Column::Exact(v) => {
                let value = |row| pick(row).map_or_else(|| exact_fallback(fallback, row), |r| v[r].clone());
                Column::from_exact((0..n).map(value).collect())
            }
        })
    }

    fn extreme(&self, greatest: bool) -> Result<Column, Fault> {
        let Some(value) = self.value else { return Ok(Column::Int(Vec::new())) };
        if self.once.is_some() {
            let cells = self.drive(true, |_, rows| {
                // The least of each class count, so the greatest is the last of them.
                let row = if greatest { rows.last() } else { rows.first() };
                row.copied().unwrap_or(NONE)
            });
            return self.rows(|row| cells[self.cells().ids[row] as usize]);
        }
        if let (Column::Int(values), None, None) = (value, &self.other, self.filter()) {
            // Every row has a row in its group: itself.
            return Ok(Column::Int(spread(&self.groups, &extremes(&self.groups, values, greatest))));
        }
        let key = order_key(value, false);
        match (greatest, self.filter()) {
            (false, None) => self.best(&key, |a, b| a < b, |_| true),
            (true, None) => self.best(&key, |a, b| a > b, |_| true),
            (false, Some(f)) => self.best(&key, |a, b| a < b, |row| f[row]),
            (true, Some(f)) => self.best(&key, |a, b| a > b, |row| f[row]),
        }
    }

    fn best(
        &self,
        key: &[i64],
        better: impl Fn(i64, i64) -> bool,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Column, Fault> {
        let ids: &[u32] = &self.groups.ids;
        let none = Best { key: 0, beside: 0, row: NONE, row_beside: NONE, who: NONE };
        let mut best = vec![none; self.groups.count];
        let whos = self.other.as_ref().map(|o| &o.values.ids[..]);
        for (row, (group, key)) in ids.iter().zip(key).enumerate() {
            if !counts(row) {
                continue;
            }
            let best = &mut best[*group as usize];
            let who = whos.map_or(0, |w| w[row]);
            if best.row == NONE {
                (best.key, best.row, best.who) = (*key, row as u32, who);
            } else if who == best.who {
                if better(*key, best.key) {
                    (best.key, best.row) = (*key, row as u32);
                }
            } else if better(*key, best.key) {
                (best.beside, best.row_beside) = (best.key, best.row);
                (best.key, best.row, best.who) = (*key, row as u32, who);
            } else if best.row_beside == NONE || better(*key, best.beside) {
                (best.beside, best.row_beside) = (*key, row as u32);
            }
        }
        let found = |row: usize| {
            let best = &best[ids[row] as usize];
            match whos {
                Some(whos) if whos[row] == best.who => (best.beside, best.row_beside),
                _ => (best.key, best.row),
            }
        };
        // The key of a whole number is the number itself.
        if let Some(Column::Int(_)) = self.value {
            let fallback = self.spec.otherwise.map(|o| self.run.fallback(o));
            match int_fallback(fallback.as_ref()) {
                Some(Pick::One(otherwise)) => {
                    let value = |row| match found(row) {
                        (_, NONE) => otherwise,
                        (key, _) => key,
                    };
                    return Ok(Column::Int((0..ids.len()).map(value).collect()));
                }
                Some(Pick::Many(otherwise)) => {
                    let value = |row| match found(row) {
                        (_, NONE) => otherwise[row],
                        (key, _) => key,
                    };
                    return Ok(Column::Int((0..ids.len()).map(value).collect()));
                }
                None => {}
            }
        }
        self.rows(|row| found(row).1)
    }

    /// The first row in the order.
    fn first(&self) -> Result<Column, Fault> {
        let order = self.order();
        let before = |row: u32, best: u32| best == NONE || order.cmp(row, best).is_lt();
        let ids: &[u32] = &self.groups.ids;
        let Some(other) = &self.other else {
            let best = leaders(&self.groups, self.filter(), &order);
            return self.rows(|row| best[ids[row] as usize]);
        };
        let whos: &[u32] = &other.values.ids;
        let who = |row: u32| whos[row as usize];
        let mut best = vec![NONE; self.groups.count];
        let mut beside = best.clone();
        for (row, group) in ids.iter().enumerate() {
            if !self.filter().is_none_or(|f| f[row]) {
                continue;
            }
            let row = row as u32;
            let (best, beside) = (&mut best[*group as usize], &mut beside[*group as usize]);
            if before(row, *best) {
                if *best != NONE && who(*best) != who(row) {
                    *beside = *best;
                }
                *best = row;
            } else if who(*best) != who(row) && before(row, *beside) {
                *beside = row;
            }
        }
        self.rows(|row| {
            let group = ids[row] as usize;
            let best = best[group];
            if best != NONE && who(best) == whos[row] { beside[group] } else { best }
        })
    }

    /// 1 + the number of rows of the group that come strictly before each row.
    fn place(&self) -> Column {
        let order = self.order();
        let members = Parts::new(self.cells(), None);
        let mut places = vec![0i64; self.run.table.rows()];
        self.drive(true, |cell, rows| {
            for row in members.part(cell) {
                places[*row as usize] = 1 + rows.partition_point(|r| order.cmp(*r, *row).is_lt()) as i64;
            }
        });
        Column::Int(places)
    }
}

/// Whether no partial sum can leave the range of `f64`.
fn moderate(values: &[f64], rows: &[u32]) -> bool {
    rows.iter().all(|row| values[*row as usize].abs() < 1e290)
}

fn careful_sum(values: &[f64], rows: &[u32]) -> Exact {
    rows.iter().filter_map(|row| Exact::from_f64(values[*row as usize])).fold(Exact::ZERO, |sum, x| sum.add(&x))
}
