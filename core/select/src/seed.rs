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
}

/// Computes the seed.
///
/// # Errors
/// If the list lacks a column, the number from outside is missing, or the result is not a whole number.
pub fn seed(rule: &Seed, entrants: &Table, market: Option<&str>) -> Result<Explained, SeedError> {
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
        shown_market = Some(value.to_short_decimal(12));
        let rows = table.rows();
        let column = Column::constant(&Value::Exact(value), rows);
        table.set("market", Type::NUMBER, column).map_err(|e| problem(rule, e.to_string()))?;
    }
    if let Some(missing) = columns.iter().find(|c| !table.has(c)) {
        return Err(SeedError::Missing(missing.clone()));
    }
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
    Ok(Explained { seed, formula: rule.formula.source().into(), parts, market: shown_market, entrants: rows })
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
