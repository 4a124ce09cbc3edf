//! The competition's seed: the edition's formula over the entrants' list and the number from outside.

use agon_edition::model::Seed;
use agon_formula::{Scope, compile};
use agon_table::{Column, Exact, Table, Type, Value, parse_decimal};

/// Why there is no seed.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The edition has no rule for it.
    #[error("the edition {0} says nothing about a seed. Add `seed:` to it.")]
    NoRule(String),
    /// The number from outside is not known.
    #[error("the seed needs {0}, which the edition does not record. Give it with --market VALUE.")]
    NoMarket(String),
    /// The number from outside is not a number.
    #[error("--market {text}: this {problem}. Give a decimal number, such as 14636.7563.")]
    Market {
        /// What was given.
        text: String,
        /// What is wrong.
        problem: String,
    },
    /// The list has no entrant.
    #[error("the entrants' list is empty. Give a file with one row for each entrant.")]
    Empty,
    /// The list lacks a column of the formula.
    #[error("the seed's formula needs the column `{0}`, which the entrants' list does not have. Add it to the list.")]
    Missing(String),
    /// The number from outside is below zero.
    #[error("{0} is {1}, but the value of an index is never negative. Give the opening value as it was published.")]
    NegativeMarket(String, String),
    /// An entrant that counts gave no number.
    #[error(
        "{place}: the entrant {entrant} counts for the seed, but has no `{column}`. Complete it, with 0 if the rules let \
         an entrant give none."
    )]
    Absent {
        /// Where it is listed.
        place: String,
        /// Its name.
        entrant: String,
        /// What is missing.
        column: String,
    },
    /// A number below zero.
    #[error(
        "{place}: `{column}` of the entrant {entrant} is {value}, but the numbers that a seed is made from are not \
         negative. Correct it."
    )]
    Negative {
        /// Where it is listed.
        place: String,
        /// Its name.
        entrant: String,
        /// The column.
        column: String,
        /// What it says.
        value: String,
    },
    /// The formula has no value, or not a whole number.
    #[error("the seed's formula `{formula}` {problem}")]
    Value {
        /// The formula.
        formula: String,
        /// What is wrong.
        problem: String,
    },
}

/// A seed and how it came about.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The seed.
    pub seed: i128,
    /// The formula.
    pub formula: String,
    /// The formula's aggregates with their values, in order.
    pub parts: Vec<(String, String)>,
    /// The number from outside, if the formula uses it.
    pub market: Option<String>,
    /// The columns that the formula reads, one row an entrant.
    pub entrants: Vec<Vec<(String, String)>>,
    /// What is worth a second look.
    pub notes: Vec<String>,
}

/// The entrants that a seed is made from.
#[derive(Clone, Debug, Default)]
pub struct Entrants {
    /// One entrant a row.
    pub table: Table,
    /// Where each row stands, for messages.
    pub places: Vec<String>,
    /// The cells that the list leaves empty, by row and column: the table has 0 in them.
    pub missing: Vec<(usize, String)>,
}

impl Entrants {
    fn place(&self, row: usize) -> String {
        self.places.get(row).cloned().unwrap_or_else(|| "the entrants' list".into())
    }

    fn name(&self, row: usize) -> String {
        let column = ["solver", "entrant"].into_iter().find_map(|name| self.table.column(name).ok());
        column.map_or_else(|| format!("number {}", row + 1), |column| text(&column.value(row)))
    }
}

/// Whether a row's number in a column counts: whether the formula has another value with another number there.
fn counts(rule: &Seed, table: &Table, row: usize, column: &str) -> bool {
    let with = |number: i64| {
        let mut values: Vec<Exact> = (0..table.rows())
            .map(|row| table.column(column).ok()?.value(row).as_exact().cloned())
            .collect::<Option<_>>()?;
        values[row] = Exact::from(number);
        let mut table = table.clone();
        table.set(column, Type::NUMBER, Column::from_exact(values)).ok()?;
        rule.formula.eval(&table).ok().map(|column| column.value(row))
    };
    with(0) != with(1)
}

/// Computes the seed.
///
/// # Errors
/// If the list lacks a column or a number that counts, a number is negative, the number from outside is missing, or the
/// result is not a whole number.
pub fn seed(rule: &Seed, list: &Entrants, market: Option<&str>) -> Result<Explained, SeedError> {
    let entrants = &list.table;
    if entrants.rows() == 0 {
        return Err(SeedError::Empty);
    }
    let mut table = entrants.clone();
    let columns = rule.formula.columns();
    let mut shown_market = None;
    if columns.iter().any(|c| c == "market") {
        let value = match market {
            Some(text) => parse_decimal(text.trim())
                .map_err(|e| SeedError::Market { text: text.into(), problem: e.to_string() })?,
            None => rule.market.as_ref().and_then(|m| m.opening.clone()).ok_or_else(|| {
                SeedError::NoMarket(rule.market.as_ref().map_or("the index".into(), |m| m.name.clone()))
            })?,
        };
        if value < Exact::ZERO {
            let name = rule.market.as_ref().map_or("the index".into(), |m| m.name.clone());
            return Err(SeedError::NegativeMarket(name, value.to_short_decimal(12)));
        }
        shown_market = Some(value.to_short_decimal(12));
        let rows = table.rows();
        let column = Column::constant(&Value::Exact(value), rows);
        table.set("market", Type::NUMBER, column).map_err(|e| problem(rule, e.to_string()))?;
    }
    if let Some(missing) = columns.iter().find(|c| !table.has(c)) {
        return Err(SeedError::Missing(missing.clone()));
    }
    let notes = check_numbers(rule, list, &table, &columns)?;
    let column = rule.formula.eval(&table).map_err(|e| problem(rule, e.message))?;
    let values: Vec<Value> = (0..column.len()).map(|row| column.value(row)).collect();
    if values.iter().any(|v| *v != values[0]) {
        return Err(problem(rule, "differs from entrant to entrant; fold the list, for example with `sum`".into()));
    }
    let whole = values[0].as_exact().and_then(Exact::as_i128);
    let Some(seed) = whole else {
        return Err(problem(rule, "is not a whole number; use `floor`".into()));
    };
    let mut rows = Vec::new();
    for row in 0..entrants.rows() {
        let mut cells = Vec::new();
        let names = columns.iter().map(String::as_str).filter(|c| *c != "market");
        for name in std::iter::once("solver").chain(names) {
            if let Ok(column) = entrants.column(name) {
                cells.push((name.to_string(), text(&column.value(row))));
            }
        }
        rows.push(cells);
    }
    let parts = aggregates(rule.formula.source())
        .into_iter()
        .filter_map(|part| {
            let formula = compile(part, &Scope::of(&table)).ok()?;
            let column = formula.eval(&table).ok()?;
            Some((part.to_string(), text(&column.value(0))))
        })
        .collect();
    Ok(Explained { seed, formula: rule.formula.source().into(), parts, market: shown_market, entrants: rows, notes })
}

/// Every number that counts must be there, and none is negative. Returns remarks on those that are 0.
fn check_numbers(rule: &Seed, list: &Entrants, table: &Table, columns: &[String]) -> Result<Vec<String>, SeedError> {
    let mut notes = Vec::new();
    for name in columns.iter().filter(|name| *name != "market") {
        let (Ok(column), Some(Type::Number { .. })) = (table.column(name), table.column_type(name)) else { continue };
        for row in 0..table.rows() {
            let value = column.value(row);
            let Some(number) = value.as_exact() else { continue };
            let (place, entrant, column) = (list.place(row), list.name(row), name.clone());
            if *number < Exact::ZERO {
                return Err(SeedError::Negative { place, entrant, column, value: text(&value) });
            }
            if *number != Exact::ZERO || !counts(rule, table, row, name) {
                continue;
            }
            if list.missing.iter().any(|(at, column)| *at == row && column == name) {
                return Err(SeedError::Absent { place, entrant, column });
            }
            notes.push(format!("{place}: the entrant {entrant} counts for the seed with 0 as its `{column}`"));
        }
    }
    Ok(notes)
}

fn problem(rule: &Seed, problem: String) -> SeedError {
    SeedError::Value { formula: rule.formula.source().into(), problem }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Symbol(s) => s.to_string(),
        Value::Exact(e) => e.to_short_decimal(12),
        Value::Real(r) => r.to_string(),
    }
}

/// The calls in a formula that are not inside another call.
fn aggregates(source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_alphabetic() {
            let start = at;
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            if bytes.get(at) == Some(&b'(') {
                let mut depth = 0;
                while at < bytes.len() {
                    match bytes[at] {
                        b'(' => depth += 1,
                        b')' => depth -= 1,
                        _ => {}
                    }
                    at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                found.push(&source[start..at]);
            }
        } else {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::aggregates;

    #[test]
    fn calls_of_a_formula() {
        let calls = aggregates("sum(seed where not organiser) mod 2^30 + floor(100 * market)");
        assert_eq!(calls, ["sum(seed where not organiser)", "floor(100 * market)"]);
    }
}
