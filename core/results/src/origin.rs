//! Where the rows of a table came from, so that a message about a value can name its file and row long after reading.
//!
//! A range of rows is kept for each file, not a place for each row; only rows that were dropped since, and the rows of
//! joined files, are numbers of their own.

use std::fmt;

use crate::assemble::Spans;

/// Where the rows of a table came from.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    spans: Spans,
    /// The joined files: what they added, their rows, and which of these was joined to each row.
    joins: Vec<JoinOrigins>,
    /// The rows that were dropped, by their numbers before, in order.
    dropped: Vec<u32>,
}

/// The origins of the columns that one joined file added.
#[derive(Clone, Debug)]
pub(crate) struct JoinOrigins {
    pub columns: Vec<String>,
    pub spans: Spans,
    /// `u32::MAX` for rows that have these columns from their own file.
    pub rows: Vec<u32>,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file; a member of an archive in brackets after it.
    pub file: String,
    /// The line on which the row begins, counted from 1 (the row itself in a Parquet file).
    pub row: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.file, self.row)
    }
}

impl Origins {
    pub(crate) fn new(spans: Spans, joins: Vec<JoinOrigins>) -> Self {
        Self { spans, joins, dropped: Vec::new() }
    }

    /// Where the value of a column at a row of the table was read: in the file of the row, or in the one that was
    /// joined to it. A column that was computed stands where its row does.
    pub fn place(&self, row: usize, column: &str) -> Place {
        let row = self.before(row);
        let joined = self.joins.iter().find(|j| j.columns.iter().any(|c| c == column));
        let (file, row) = match joined.and_then(|j| Some((j, *j.rows.get(row).filter(|r| **r != u32::MAX)?))) {
            Some((join, row)) => join.spans.place(row as usize),
            None => self.spans.place(row),
        };
        Place { file, row }
    }

    /// The names of the files that the rows came from, in order.
    pub fn files(&self) -> Vec<String> {
        self.spans.files()
    }

    /// Follows the table when only the rows for which `mask` holds stay.
    pub fn keep(&mut self, mask: &[bool]) {
        if mask.iter().all(|&m| m) {
            return;
        }
        let now: Vec<u32> =
            mask.iter().enumerate().filter(|(_, m)| !**m).map(|(row, _)| self.before(row) as u32).collect();
        self.dropped.extend(now);
        self.dropped.sort_unstable();
    }

    /// The number that a row had before any was dropped.
    fn before(&self, row: usize) -> usize {
        // Among the dropped rows, those that lie before it: the k-th (from 0) does if at most `row` rows that stayed
        // are before the k-th.
        let (mut low, mut high) = (0, self.dropped.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.dropped[middle] as usize - middle <= row {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        row + low
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn whole() -> Origins {
        let mut spans = Spans::default();
        spans.whole(PathBuf::from("a.csv"), 0, 2);
        Origins { spans, ..Origins::default() }
    }

    proptest! {
        /// Rows keep their places however often others are dropped.
        #[test]
        fn rows_that_stay(masks in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..40), 0..4)) {
            let mut origins = whole();
            let mut rows: Vec<u64> = (0..40).collect();
            for mask in masks {
                let mask: Vec<bool> = (0..rows.len()).map(|at| mask.get(at).copied().unwrap_or(true)).collect();
                origins.keep(&mask);
                rows = rows.iter().zip(&mask).filter(|(_, m)| **m).map(|(r, _)| *r).collect();
                for (at, row) in rows.iter().enumerate() {
                    prop_assert_eq!(origins.place(at, "x"), Place { file: "a.csv".into(), row: row + 2 });
                }
            }
        }
    }

    #[test]
    fn joined_columns() {
        let mut origins = whole();
        let mut spans = Spans::default();
        spans.whole(PathBuf::from("b.csv"), 0, 2);
        origins.joins.push(JoinOrigins { columns: vec!["logic".into()], spans, rows: vec![5, u32::MAX, 7] });
        origins.keep(&[false, true, true]);
        assert_eq!(origins.place(0, "logic").to_string(), "a.csv, row 3");
        assert_eq!(origins.place(1, "logic").to_string(), "b.csv, row 9");
        assert_eq!(origins.place(1, "answer").to_string(), "a.csv, row 4");
        assert_eq!(origins.files(), ["a.csv"]);
    }
}
