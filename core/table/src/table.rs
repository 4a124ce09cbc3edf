//! A table: named columns of the same length, with the partitions of its rows that formulas ask for.
//!
//! Scoring drops rows from tables of a hundred columns' width and then looks at five of the columns. So a table that
//! keeps most of its rows only notes which ones: a column is gathered when it is asked for, and a partition is that of
//! the table before, gathered. A table that keeps few rows gathers them at once and holds on to nothing else.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use crate::{Column, DictBuilder, Symbols, Type, Value};

/// What was asked of a table and cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// There is no column of this name.
    NoColumn {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        have: Vec<String>,
    },
    /// The column has another number of rows than the table.
    Length {
        /// The column.
        name: String,
        /// Its rows.
        found: usize,
        /// The table's rows.
        expected: usize,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoColumn { name, have } => write!(f, "there is no column `{name}` (there are: {})", have.join(", ")),
            Self::Length { name, found, expected } => {
                write!(f, "column `{name}` has {found} rows where the table has {expected}")
            }
        }
    }
}

impl std::error::Error for TableError {}

/// The group of each row: a slice of numbers.
#[derive(Debug)]
pub struct Ids(Held);

#[derive(Debug)]
enum Held {
    Own(Vec<u32>),
    /// The codes of a text column are the groups of its texts.
    Codes(Arc<Column>),
}

impl Deref for Ids {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match &self.0 {
            Held::Own(ids) => ids,
            Held::Codes(column) => column.as_symbols().map_or(&[], |s| &s.codes),
        }
    }
}

impl From<Vec<u32>> for Ids {
    fn from(ids: Vec<u32>) -> Self {
        Self(Held::Own(ids))
    }
}

/// A partition of a table's rows: every row belongs to one group.
#[derive(Debug)]
pub struct Groups {
    /// The group of each row.
    pub ids: Ids,
    /// All ids are below this; some of the numbers below it may have no row.
    pub count: usize,
    firsts: OnceLock<Vec<u32>>,
}

impl Groups {
    fn new(ids: impl Into<Ids>, count: usize) -> Self {
        Self { ids: ids.into(), count, firsts: OnceLock::new() }
    }

    /// The first row of each group that has rows, in the order of the rows.
    pub fn firsts(&self) -> &[u32] {
        self.firsts.get_or_init(|| {
            let mut seen = vec![false; self.count];
            let ids = self.ids.iter().enumerate();
            ids.filter(|(_, id)| !std::mem::replace(&mut seen[**id as usize], true))
                .map(|(row, _)| row as u32)
                .collect()
        })
    }
}

/// Partitions that were asked for, by the addresses of their columns. The columns are kept alive with the entry, so
/// an address stands for one column as long as the entry exists.
type GroupCache = Arc<Mutex<FxHashMap<Vec<usize>, (Vec<Arc<Column>>, Arc<Groups>)>>>;

/// Rows of another table, in order.
type Picked = Arc<[u32]>;

/// A column of a table: there, or known well enough to be made when somebody asks for it.
#[derive(Debug)]
struct Slot {
    column: OnceLock<Arc<Column>>,
    source: Source,
}

/// What a column can be made from.
#[derive(Debug)]
enum Source {
    /// It was there from the start.
    Itself,
    /// Some rows of another.
    Rows(Arc<Column>, Picked),
    /// The same value on so many rows.
    Constant(Value, usize),
}

impl Slot {
    fn of(column: Arc<Column>) -> Arc<Self> {
        Arc::new(Self { column: column.into(), source: Source::Itself })
    }

    fn from(source: Source) -> Arc<Self> {
        Arc::new(Self { column: OnceLock::new(), source })
    }

    fn get(&self) -> &Arc<Column> {
        self.column.get_or_init(|| match &self.source {
            Source::Rows(column, rows) => Arc::new(column.gather(rows)),
            Source::Constant(value, rows) => Arc::new(Column::constant(value, *rows)),
            Source::Itself => Arc::default(),
        })
    }
}

/// Where a table that keeps most rows of another came from.
#[derive(Clone, Debug)]
struct Origin {
    /// The rows of the other table, in order.
    picked: Picked,
    /// How many rows the other table has.
    rows: usize,
    groups: GroupCache,
}

/// Named, typed columns of one length. Cloning is cheap: columns and partitions are shared.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: usize,
    names: Vec<Arc<str>>,
    types: Vec<Type>,
    columns: Vec<Arc<Slot>>,
    groups: GroupCache,
    origin: Option<Origin>,
}

impl Table {
    /// A table of `rows` rows without columns.
    pub fn new(rows: usize) -> Self {
        Self { rows, ..Self::default() }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|n| &**n)
    }

    /// Names and types, in order.
    pub fn schema(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.names.iter().map(|n| &**n).zip(&self.types)
    }

    /// Adds a column, or replaces the one of that name.
    ///
    /// # Errors
    /// If its length is not the table's.
    pub fn set(&mut self, name: &str, ty: Type, column: impl Into<Arc<Column>>) -> Result<(), TableError> {
        let column = column.into();
        if column.len() != self.rows {
            return Err(TableError::Length { name: name.into(), found: column.len(), expected: self.rows });
        }
        self.put(name, ty, Slot::of(column));
        Ok(())
    }

    /// Adds a column that has the same value on every row, or replaces the one of that name.
    pub fn set_constant(&mut self, name: &str, ty: Type, value: Value) {
        self.put(name, ty, Slot::from(Source::Constant(value, self.rows)));
    }

    fn put(&mut self, name: &str, ty: Type, slot: Arc<Slot>) {
        match self.names.iter().position(|n| &**n == name) {
            Some(at) => {
                self.types[at] = ty;
                self.columns[at] = slot;
            }
            None => {
                self.names.push(name.into());
                self.types.push(ty);
                self.columns.push(slot);
            }
        }
    }

    /// The value of a column that was set as a constant.
    pub fn constant(&self, name: &str) -> Option<&Value> {
        match &self.columns[self.index(name).ok()?].source {
            Source::Constant(value, _) => Some(value),
            _ => None,
        }
    }

    /// Removes a column if it is there.
    pub fn remove(&mut self, name: &str) {
        if let Some(at) = self.names.iter().position(|n| &**n == name) {
            self.names.remove(at);
            self.types.remove(at);
            self.columns.remove(at);
        }
    }

    /// The same rows with only the columns for which `wanted` holds.
    #[must_use]
    pub fn select(&self, mut wanted: impl FnMut(&str) -> bool) -> Self {
        let mut table =
            Self { rows: self.rows, groups: self.groups.clone(), origin: self.origin.clone(), ..Self::default() };
        for (at, name) in self.names.iter().enumerate() {
            if wanted(name) {
                table.names.push(name.clone());
                table.types.push(self.types[at].clone());
                table.columns.push(self.columns[at].clone());
            }
        }
        table
    }

    fn index(&self, name: &str) -> Result<usize, TableError> {
        self.names.iter().position(|n| &**n == name).ok_or_else(|| TableError::NoColumn {
            name: name.into(),
            have: self.names.iter().map(ToString::to_string).collect(),
        })
    }

    /// The column of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn column(&self, name: &str) -> Result<&Arc<Column>, TableError> {
        Ok(self.columns[self.index(name)?].get())
    }

    /// The type of the column of that name, if there is one.
    pub fn column_type(&self, name: &str) -> Option<&Type> {
        self.index(name).ok().map(|at| &self.types[at])
    }

    /// Whether there is a column of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| &**n == name)
    }

    /// The rows for which `mask` holds, in the same order.
    ///
    /// # Panics
    /// If the mask has another length than the table.
    #[must_use]
    pub fn keep(&self, mask: &[bool]) -> Self {
        assert_eq!(mask.len(), self.rows, "one truth value a row");
        if mask.iter().all(|&m| m) {
            return self.clone();
        }
        // Every row is written, and stays if the next one is written after it: no jump to mispredict.
        let mut rows = vec![0u32; self.rows + 1];
        let mut kept = 0;
        for (row, &m) in mask.iter().enumerate() {
            rows[kept] = row as u32;
            kept += usize::from(m);
        }
        self.gather(&rows[..kept])
    }

    /// The rows with these numbers, in this order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        let lazy = rows.len().saturating_mul(FEW) >= self.rows;
        let rows: Picked = rows.into();
        let mut table = Self {
            rows: rows.len(),
            names: self.names.clone(),
            types: self.types.clone(),
            columns: Vec::with_capacity(self.columns.len()),
            groups: GroupCache::default(),
            origin: None,
        };
        // The rows of what is itself only noted: once for each list of rows.
        let mut composed: Vec<(Picked, Picked)> = Vec::new();
        let mut through = |picked: &Picked| -> Picked {
            if let Some((_, both)) = composed.iter().find(|(known, _)| Arc::ptr_eq(known, picked)) {
                return both.clone();
            }
            let both: Picked = rows.iter().map(|&row| picked[row as usize]).collect();
            composed.push((picked.clone(), both.clone()));
            both
        };
        for slot in &self.columns {
            let (column, picked) = match (&slot.source, slot.column.get()) {
                (Source::Constant(value, _), _) => {
                    table.columns.push(Slot::from(Source::Constant(value.clone(), rows.len())));
                    continue;
                }
                (Source::Rows(column, picked), made) if lazy || made.is_none() => (column.clone(), through(picked)),
                _ => (slot.get().clone(), rows.clone()),
            };
            table.columns.push(if lazy {
                Slot::from(Source::Rows(column, picked))
            } else {
                Slot::of(Arc::new(column.gather(&picked)))
            });
        }
        if lazy {
            table.origin = Some(match &self.origin {
                Some(origin) => Origin { picked: through(&origin.picked), ..origin.clone() },
                None => Origin { picked: rows.clone(), rows: self.rows, groups: self.groups.clone() },
            });
        }
        table
    }

    /// The partition of the rows by equality in the named columns; one group for all rows if none is named.
    ///
    /// # Errors
    /// If a column does not exist.
    ///
    /// # Panics
    /// If another thread panicked while it computed a partition of the same table.
    pub fn groups<S: AsRef<str>>(&self, names: &[S]) -> Result<Arc<Groups>, TableError> {
        let mut slots = Vec::with_capacity(names.len());
        for name in names {
            slots.push(&self.columns[self.index(name.as_ref())?]);
        }
        if names.is_empty() {
            return Ok(partition(&self.groups, &[], self.rows));
        }
        if let Some(origin) = &self.origin {
            let sources: Option<Vec<Arc<Column>>> = slots
                .iter()
                .map(|slot| match &slot.source {
                    Source::Rows(column, picked) if Arc::ptr_eq(picked, &origin.picked) => Some(column.clone()),
                    _ => None,
                })
                .collect();
            if let Some(sources) = sources {
                // The partition of all rows serves every table that comes from them.
                let before = partition(&origin.groups, &sources, origin.rows);
                // The list of rows in the key tells the same column apart when it is one of this table's own.
                let mut key = addresses(&sources);
                key.push(origin.picked.as_ptr() as usize);
                return Ok(cached(&self.groups, key, &sources, || {
                    let ids: Vec<u32> = origin.picked.iter().map(|&row| before.ids[row as usize]).collect();
                    Arc::new(Groups::new(ids, before.count))
                }));
            }
        }
        let columns: Vec<Arc<Column>> = slots.into_iter().map(|slot| slot.get().clone()).collect();
        Ok(partition(&self.groups, &columns, self.rows))
    }
}

/// A table that keeps at least one row in this many of another gathers columns only when they are asked for.
const FEW: usize = 8;

fn addresses(columns: &[Arc<Column>]) -> Vec<usize> {
    let mut key: Vec<usize> = columns.iter().map(|c| Arc::as_ptr(c) as usize).collect();
    key.sort_unstable();
    key.dedup();
    key
}

/// What the cache has under the key, or what is made for it. The lock is not held meanwhile: two threads may make the
/// same.
fn cached(
    cache: &GroupCache,
    key: Vec<usize>,
    columns: &[Arc<Column>],
    make: impl FnOnce() -> Arc<Groups>,
) -> Arc<Groups> {
    if let Some((_, groups)) = cache.lock().expect("no panic under the lock").get(&key) {
        return groups.clone();
    }
    let groups = make();
    let mut cache = cache.lock().expect("no panic under the lock");
    cache.entry(key).or_insert_with(|| (columns.to_vec(), groups)).1.clone()
}

fn partition(cache: &GroupCache, columns: &[Arc<Column>], rows: usize) -> Arc<Groups> {
    cached(cache, addresses(columns), columns, || match columns {
        [] => Arc::new(Groups::new(vec![0; rows], 1)),
        [one] => Arc::new(single(one)),
        [some @ .., last] => {
            let one = partition(cache, std::slice::from_ref(last), rows);
            combine(&partition(cache, some, rows), &one)
        }
    })
}

fn single(column: &Arc<Column>) -> Groups {
    fn intern<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Groups {
        let mut seen: FxHashMap<K, u32> = FxHashMap::default();
        let ids: Vec<u32> = keys
            .map(|key| {
                let next = seen.len() as u32;
                *seen.entry(key).or_insert(next)
            })
            .collect();
        Groups::new(ids, seen.len())
    }
    match &**column {
        Column::Symbol(Symbols { dict, .. }) => Groups::new(Ids(Held::Codes(column.clone())), dict.len()),
        Column::Bool(v) => Groups::new(v.iter().map(|&b| u32::from(b)).collect::<Vec<u32>>(), 2),
        Column::Int(v) => intern(v.iter()),
        Column::Exact(v) => intern(v.iter()),
        Column::Real(v) => intern(v.iter().map(|r| r.to_bits())),
    }
}

/// Whether rows of one group of `fine` are always in one group of `coarse`, as benchmarks are in divisions. Where it
/// is not so, that shows within a few rows.
fn refines(fine: &Groups, coarse: &Groups) -> bool {
    let mut owner = vec![u32::MAX; fine.count];
    fine.ids.iter().zip(coarse.ids.iter()).all(|(&x, &y)| {
        let slot = &mut owner[x as usize];
        if *slot == u32::MAX {
            *slot = y;
        }
        *slot == y
    })
}

/// Products of group counts up to this are numbered through an array of all pairs, which then stays in the caches.
const DENSE: usize = 1 << 20;

fn combine(a: &Arc<Groups>, b: &Arc<Groups>) -> Arc<Groups> {
    let (fine, coarse) = if a.count >= b.count { (a, b) } else { (b, a) };
    if refines(fine, coarse) {
        return fine.clone();
    }
    let mut count = 0;
    let mut ids = vec![0u32; fine.ids.len()];
    if fine.count.saturating_mul(coarse.count) <= DENSE {
        let mut number = vec![u32::MAX; fine.count * coarse.count];
        for ((id, &x), &y) in ids.iter_mut().zip(fine.ids.iter()).zip(coarse.ids.iter()) {
            let slot = &mut number[x as usize * coarse.count + y as usize];
            if *slot == u32::MAX {
                *slot = count;
                count += 1;
            }
            *id = *slot;
        }
        return Arc::new(Groups::new(ids, count as usize));
    }
    // One coarse group after the other: then what the fine groups of the present one are called is one array.
    let mut ends = vec![0u32; coarse.count];
    coarse.ids.iter().for_each(|&y| ends[y as usize] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut rows = vec![0u32; ids.len()];
    for (row, &y) in coarse.ids.iter().enumerate() {
        let end = &mut ends[y as usize];
        rows[*end as usize] = row as u32;
        *end += 1;
    }
    // For each fine group the coarse one that it was last met in, and its number there.
    let mut met = vec![(u32::MAX, 0); fine.count];
    let mut start = 0;
    for (y, &end) in ends.iter().enumerate() {
        for &row in &rows[start as usize..end as usize] {
            let slot = &mut met[fine.ids[row as usize] as usize];
            if slot.0 != y as u32 {
                *slot = (y as u32, count);
                count += 1;
            }
            ids[row as usize] = slot.1;
        }
        start = end;
    }
    Arc::new(Groups::new(ids, count as usize))
}

impl Symbols {
    /// The same texts with the unused ones dropped from the dictionary.
    #[must_use]
    pub fn compact(&self) -> Self {
        let mut dict = DictBuilder::new();
        let mut map = vec![u32::MAX; self.dict.len()];
        let codes = self
            .codes
            .iter()
            .map(|&c| {
                let slot = &mut map[c as usize];
                if *slot == u32::MAX {
                    *slot = dict.intern(self.dict.get(c));
                }
                *slot
            })
            .collect();
        Self { codes, dict: dict.finish() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table() -> Table {
        let mut t = Table::new(4);
        t.set("entrant", Type::TEXT, Column::Symbol(Symbols::from_texts(["a", "b", "a", "b"]))).unwrap();
        t.set("benchmark", Type::TEXT, Column::Symbol(Symbols::from_texts(["x", "x", "y", "y"]))).unwrap();
        t.set("n", Type::NUMBER, Column::Int(vec![1, 2, 3, 2])).unwrap();
        t
    }

    #[test]
    fn partitions() {
        let t = table();
        let same = |names: &[&str]| t.groups(names).unwrap();
        assert_eq!(same(&["entrant"]).ids[..], [0, 1, 0, 1]);
        assert_eq!(same(&["entrant", "benchmark"]).count, 4);
        assert_eq!(same(&["n"]).ids[..], [0, 1, 2, 1]);
        assert_eq!(same(&["n", "entrant"]).count, 3);
        assert_eq!(same(&[]).count, 1);
        assert!(Arc::ptr_eq(&same(&["benchmark", "entrant"]), &same(&["entrant", "benchmark"])));
        assert!(t.groups(&["nothing"]).is_err());
    }

    #[test]
    fn keeping_rows() {
        let t = table();
        let kept = t.keep(&[true, false, false, true]);
        assert_eq!(kept.rows(), 2);
        assert_eq!(kept.column("n").unwrap().value(1), Value::Exact(2.into()));
        assert_eq!(kept.groups(&["entrant"]).unwrap().ids[..], [0, 1]);
        let symbols = kept.column("benchmark").unwrap().as_symbols().unwrap().compact();
        assert_eq!(symbols.dict.len(), 2);
    }

    #[test]
    fn rows_are_gathered_when_asked_for() {
        let mut t = table();
        t.groups(&["entrant"]).unwrap();
        // The same column before and after a change of the order of rows is two columns.
        let entrant = t.column("entrant").unwrap().clone();
        let mut turned = t.gather(&[1, 0, 2, 3]);
        assert_eq!(turned.groups(&["entrant"]).unwrap().ids[..], [1, 0, 0, 1]);
        turned.set("before", Type::TEXT, entrant).unwrap();
        assert_eq!(turned.groups(&["before"]).unwrap().ids[..], [0, 1, 0, 1]);
        assert_eq!(turned.groups(&["before", "entrant"]).unwrap().count, 4);
        // Rows of rows, of columns that were looked at between and of others.
        turned.set("m", Type::NUMBER, Column::Int(vec![10, 11, 12, 13])).unwrap();
        turned.column("n").unwrap();
        for rows in [vec![3, 1, 0], vec![]] {
            let twice = turned.gather(&rows);
            t = twice.gather(&(0..rows.len() as u32).collect::<Vec<u32>>());
            let n: Vec<i64> = rows.iter().map(|&row| [2, 1, 3, 2][row as usize]).collect();
            let m: Vec<i64> = rows.iter().map(|&row| i64::from(10 + row)).collect();
            for t in [&twice, &t] {
                assert_eq!(t.column("n").unwrap().as_int(), Some(&n[..]));
                assert_eq!(t.column("m").unwrap().as_int(), Some(&m[..]));
                assert_eq!(t.groups(&["entrant", "n"]).unwrap().ids.len(), rows.len());
            }
        }
    }

    proptest! {
        #[test]
        fn partitions_are_equality(
            rows in prop::collection::vec((0u32..4, 0u32..6, 0i64..3), 1..40),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
            again in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
            within: bool,
        ) {
            let mut t = Table::new(rows.len());
            let text = |f: &dyn Fn(&(u32, u32, i64)) -> u32| {
                Column::Symbol(Symbols::from_texts(rows.iter().map(|r| f(r).to_string())))
            };
            t.set("a", Type::TEXT, text(&|r| r.0)).unwrap();
            // Within `a` or across it.
            t.set("b", Type::TEXT, text(&|r| if within { r.0 * 10 + r.1 } else { r.1 })).unwrap();
            t.set("c", Type::NUMBER, Column::Int(rows.iter().map(|r| r.2).collect())).unwrap();
            let mut check = vec![t.clone()];
            for list in [picks, again] {
                let last = check[check.len() - 1].clone();
                if last.rows() > 0 {
                    let list: Vec<u32> = list.iter().map(|i| i.index(last.rows()) as u32).collect();
                    check.push(last.gather(&list));
                }
            }
            for t in check {
                for names in [&["a"][..], &["b"], &["a", "b"], &["b", "a", "c"], &["c", "a"]] {
                    let groups = t.groups(names).unwrap();
                    prop_assert_eq!(groups.ids.len(), t.rows());
                    let value = |row: usize| names.iter().map(|n| t.column(n).unwrap().value(row)).collect::<Vec<_>>();
                    for x in 0..t.rows() {
                        prop_assert!((groups.ids[x] as usize) < groups.count);
                        for y in 0..x {
                            prop_assert_eq!(groups.ids[x] == groups.ids[y], value(x) == value(y));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_are_checked() {
        let mut t = table();
        assert!(t.set("m", Type::NUMBER, Column::Int(vec![1])).is_err());
        t.set("n", Type::Bool, Column::Bool(vec![true; 4])).unwrap();
        assert_eq!(t.names().count(), 3);
        t.remove("n");
        assert!(!t.has("n"));
    }
}
