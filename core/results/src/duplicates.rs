//! Rows with the same key.

use agon_table::{Column, Dim, Table, Value};
use rustc_hash::FxHashMap;

use crate::assemble::Spans;
use crate::error::{ErrorKind, ResultsError};
use crate::mapping::{Duplicates, Mapping};

/// A key column as small numbers.
struct Codes {
    codes: Vec<u32>,
    count: u64,
}

/// Settles duplicates as the mapping says; returns the rows that stay, or `None` if all do.
pub(crate) fn settle(mapping: &Mapping, table: &Table, spans: &Spans) -> Result<Option<Vec<u32>>, ResultsError> {
    if mapping.key.is_empty() || table.rows() < 2 {
        return Ok(None);
    }
    let mut keys = vec![0u64; table.rows()];
    let mut size = 1u64;
    for name in &mapping.key {
        let unlike = |e: agon_table::TableError| spans.error(0, ErrorKind::BadMapping(e.to_string()));
        let column = table.column(name).map_err(unlike)?;
        let other;
        let (codes, count): (&[u32], u64) = match &**column {
            Column::Symbol(s) => (&s.codes, s.dict.len() as u64),
            _ => {
                let groups = table.groups(&[name]).map_err(unlike)?;
                other = Codes { codes: groups.ids.to_vec(), count: groups.count as u64 };
                (&other.codes, other.count)
            }
        };
        match size.checked_mul(count.max(1)) {
            Some(product) => {
                for (key, &code) in keys.iter_mut().zip(codes) {
                    *key = *key * count + u64::from(code);
                }
                size = product;
            }
            None => {
                // Renumbered, the keys so far are fewer than the rows.
                let mut seen: FxHashMap<u64, u64> = FxHashMap::default();
                for key in &mut keys {
                    let next = seen.len() as u64;
                    *key = *seen.entry(*key).or_insert(next);
                }
                for (key, &code) in keys.iter_mut().zip(codes) {
                    *key = *key * count + u64::from(code);
                }
                size = (seen.len() as u64).saturating_mul(count);
            }
        }
    }
    let repeated = repeated(&keys, size);
    if repeated.is_empty() {
        return Ok(None);
    }
    // From here on things may be slow: duplicates are few, or an error.
    let mut groups: FxHashMap<u64, Vec<u32>> = repeated.iter().map(|&row| (keys[row as usize], Vec::new())).collect();
    for (row, key) in keys.iter().enumerate() {
        if let Some(rows) = groups.get_mut(key) {
            rows.push(row as u32);
        }
    }
    let mut dropped = vec![false; table.rows()];
    // In the order in which the repetitions occur, so that the message is about the first.
    for row in repeated {
        let Some(rows) = groups.remove(&keys[row as usize]) else { continue };
        let kept = keep(mapping, table, &rows).map_err(|(first, second, why)| {
            let key = mapping.key.iter().map(|name| (name.clone(), text(table, name, second as usize)));
            let (first_file, first_row) = spans.place(first as usize);
            spans.error(second as usize, ErrorKind::Duplicate { key: key.collect(), first_file, first_row, why })
        })?;
        for row in rows {
            dropped[row as usize] = row != kept;
        }
    }
    Ok(Some((0..table.rows() as u32).filter(|&row| !dropped[row as usize]).collect()))
}

/// The rows whose key occurred before.
fn repeated(keys: &[u64], size: u64) -> Vec<u32> {
    let mut repeated = Vec::new();
    // One bit for each possible key, if that is not much more than the rows take anyway.
    if size <= 256 * keys.len() as u64 {
        let mut seen = vec![0u64; (size / 64 + 1) as usize];
        for (row, &key) in keys.iter().enumerate() {
            let word = &mut seen[(key / 64) as usize];
            let bit = 1 << (key % 64);
            if *word & bit != 0 {
                repeated.push(row as u32);
            }
            *word |= bit;
        }
        return repeated;
    }
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    if sorted.windows(2).all(|pair| pair[0] != pair[1]) {
        return repeated;
    }
    let mut seen = rustc_hash::FxHashSet::default();
    for (row, &key) in keys.iter().enumerate() {
        if !seen.insert(key) {
            repeated.push(row as u32);
        }
    }
    repeated
}

/// The row that counts, or two rows between which nothing decides.
fn keep(mapping: &Mapping, table: &Table, rows: &[u32]) -> Result<u32, (u32, u32, &'static str)> {
    let (first, second) = (rows[0], rows[1]);
    match &mapping.duplicates {
        Duplicates::Error => Err((first, second, "the mapping allows one row for each key")),
        Duplicates::First => Ok(first),
        Duplicates::Last => Ok(rows[rows.len() - 1]),
        Duplicates::Identical => {
            for &row in &rows[1..] {
                let equal = table
                    .names()
                    .all(|name| table.column(name).is_ok_and(|column| equal(column, first as usize, row as usize)));
                if !equal {
                    return Err((first, row, "the rows are not identical"));
                }
            }
            Ok(first)
        }
        Duplicates::Best { column, greatest } => {
            let Ok(column) = table.column(column) else {
                return Err((first, second, "the deciding column is missing"));
            };
            let mut best = (first, column.value(first as usize));
            let mut tie = None;
            for &row in &rows[1..] {
                let value = column.value(row as usize);
                match (value.total_cmp(&best.1), greatest) {
                    (std::cmp::Ordering::Equal, _) => tie = Some((best.0, row)),
                    (std::cmp::Ordering::Greater, true) | (std::cmp::Ordering::Less, false) => {
                        best = (row, value);
                        tie = None;
                    }
                    _ => {}
                }
            }
            match tie {
                Some((a, b)) => Err((a, b, "both have the best value of the deciding column")),
                None => Ok(best.0),
            }
        }
    }
}

fn equal(column: &Column, a: usize, b: usize) -> bool {
    match column {
        Column::Symbol(s) => s.codes[a] == s.codes[b],
        Column::Real(v) => v[a].to_bits() == v[b].to_bits(),
        other => other.value(a) == other.value(b),
    }
}

fn text(table: &Table, name: &str, row: usize) -> String {
    match table.column(name).map(|c| c.value(row)) {
        Ok(Value::Symbol(text)) => text.to_string(),
        Ok(Value::Bool(b)) => if b { "yes" } else { "no" }.into(),
        Ok(Value::Exact(n)) => {
            let dim = match table.column_type(name) {
                Some(agon_table::Type::Number { dim, .. }) => *dim,
                _ => Dim::NONE,
            };
            crate::value::print_exact(&n, dim)
        }
        Ok(Value::Real(r)) => r.to_string(),
        Err(_) => String::new(),
    }
}
