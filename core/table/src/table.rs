//! A table: named columns of the same length, with the partitions of its rows that formulas ask for.

use std::fmt;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::{Column, DictBuilder, Symbols, Type};

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

/// A partition of a table's rows: every row belongs to one group.
#[derive(Debug)]
pub struct Groups {
    /// The group of each row.
    pub ids: Vec<u32>,
    /// All ids are below this; some of the numbers below it may have no row.
    pub count: usize,
}

/// Partitions that were asked for, by the addresses of their columns. The columns are kept alive with the entry, so
/// an address stands for one column as long as the entry exists.
type GroupCache = Arc<Mutex<FxHashMap<Vec<usize>, (Vec<Arc<Column>>, Arc<Groups>)>>>;

/// Named, typed columns of one length. Cloning is cheap: columns and partitions are shared.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: usize,
    names: Vec<Arc<str>>,
    types: Vec<Type>,
    columns: Vec<Arc<Column>>,
    groups: GroupCache,
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
        match self.names.iter().position(|n| &**n == name) {
            Some(at) => {
                self.types[at] = ty;
                self.columns[at] = column;
            }
            None => {
                self.names.push(name.into());
                self.types.push(ty);
                self.columns.push(column);
            }
        }
        Ok(())
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
        let mut table = Self { rows: self.rows, groups: self.groups.clone(), ..Self::default() };
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
        Ok(&self.columns[self.index(name)?])
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
        let rows: Vec<u32> = mask.iter().enumerate().filter(|(_, m)| **m).map(|(row, _)| row as u32).collect();
        self.gather(&rows)
    }

    /// The rows with these numbers, in this order.
    #[must_use]
    pub fn gather(&self, rows: &[u32]) -> Self {
        Self {
            rows: rows.len(),
            names: self.names.clone(),
            types: self.types.clone(),
            columns: self.columns.iter().map(|c| Arc::new(c.gather(rows))).collect(),
            groups: GroupCache::default(),
        }
    }

    /// The partition of the rows by equality in the named columns; one group for all rows if none is named.
    ///
    /// # Errors
    /// If a column does not exist.
    ///
    /// # Panics
    /// If another thread panicked while it computed a partition of the same table.
    pub fn groups<S: AsRef<str>>(&self, names: &[S]) -> Result<Arc<Groups>, TableError> {
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            columns.push(self.columns[self.index(name.as_ref())?].clone());
        }
        let mut key: Vec<usize> = columns.iter().map(|c| Arc::as_ptr(c) as usize).collect();
        key.sort_unstable();
        key.dedup();
        if let Some((_, groups)) = self.groups.lock().expect("no panic under the lock").get(&key) {
            return Ok(groups.clone());
        }
        let mut result: Option<Groups> = None;
        for column in &columns {
            let one = single(column);
            result = Some(match result {
                None => one,
                Some(so_far) => combine(&so_far, &one),
            });
        }
        let groups = Arc::new(result.unwrap_or_else(|| Groups { ids: vec![0; self.rows], count: 1 }));
        self.groups.lock().expect("no panic under the lock").insert(key, (columns, groups.clone()));
        Ok(groups)
    }
}

fn single(column: &Column) -> Groups {
    fn intern<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Groups {
        let mut seen: FxHashMap<K, u32> = FxHashMap::default();
        let ids = keys
            .map(|key| {
                let next = seen.len() as u32;
                *seen.entry(key).or_insert(next)
            })
            .collect();
        Groups { ids, count: seen.len() }
    }
    match column {
        Column::Symbol(Symbols { codes, dict }) => Groups { ids: codes.clone(), count: dict.len() },
        Column::Bool(v) => Groups { ids: v.iter().map(|&b| u32::from(b)).collect(), count: 2 },
        Column::Int(v) => intern(v.iter()),
        Column::Exact(v) => intern(v.iter()),
        Column::Real(v) => intern(v.iter().map(|r| r.to_bits())),
    }
}

/// Products of group counts up to this are numbered through an array, larger ones through a hash map.
const DENSE: usize = 1 << 23;

fn combine(a: &Groups, b: &Groups) -> Groups {
    let keys = a.ids.iter().zip(&b.ids).map(|(&x, &y)| u64::from(x) * b.count as u64 + u64::from(y));
    if a.count.saturating_mul(b.count) <= DENSE {
        let mut number = vec![u32::MAX; a.count * b.count];
        let mut count = 0;
        let ids = keys
            .map(|key| {
                let slot = &mut number[key as usize];
                if *slot == u32::MAX {
                    *slot = count;
                    count += 1;
                }
                *slot
            })
            .collect();
        return Groups { ids, count: count as usize };
    }
    let mut seen: FxHashMap<u64, u32> = FxHashMap::default();
    let mut last = (u64::MAX, 0);
    let ids = keys
        .map(|key| {
            if key != last.0 {
                let next = seen.len() as u32;
                last = (key, *seen.entry(key).or_insert(next));
            }
            last.1
        })
        .collect();
    Groups { ids, count: seen.len() }
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
    use super::*;
    use crate::Value;

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
        assert_eq!(same(&["entrant"]).ids, [0, 1, 0, 1]);
        assert_eq!(same(&["entrant", "benchmark"]).count, 4);
        assert_eq!(same(&["n"]).ids, [0, 1, 2, 1]);
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
        assert_eq!(kept.groups(&["entrant"]).unwrap().ids, [0, 1]);
        let symbols = kept.column("benchmark").unwrap().as_symbols().unwrap().compact();
        assert_eq!(symbols.dict.len(), 2);
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
