//! The values that every part of Agon computes with: typed columns, exact numbers, units and symbols.
//!
//! Invariants that the rest of the engine relies on:
//!
//! * A time is an integer number of nanoseconds, an amount of memory an integer number of bytes. Neither is ever a
//!   binary fraction, so that sums do not depend on their order.
//! * A quotient of such numbers is an exact fraction ([`Exact`]). Only functions that leave the rationals
//!   (logarithms, roots) make an `f64`, and sums of those are correctly rounded, hence independent of order too.
//! * A text column is dictionary-encoded ([`Symbols`]): equality of codes is equality of texts.
//!
//! This crate knows no file format, no formula and no competition.

mod column;
mod exact;
mod quantity;
mod table;
mod text;

pub use column::{Column, Dict, DictBuilder, Symbols, Value};
pub use exact::{Exact, exact_sum, exact_sum_f64};
pub use quantity::{Dim, QuantityError, format_seconds, parse_decimal, parse_exact, parse_quantity, parse_scaled};
pub use table::{Groups, Table, TableError};
pub use text::{is_hidden, shown, shown_lines, spelled, visible};

/// The type of a column or of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A word or a text. `Some(words)` is a closed vocabulary (sorted, without repetitions), `None` is free text.
    Symbol(Option<std::sync::Arc<[String]>>),
    /// A number with a dimension; `real` if it may be irrational (held as `f64`), else exact.
    Number {
        /// The dimension: a pure number, a time, an amount of memory, or a product of powers of these.
        dim: Dim,
        /// Whether it is held as a correctly rounded `f64`.
        real: bool,
    },
}

impl Type {
    /// A pure exact number.
    pub const NUMBER: Self = Self::Number { dim: Dim::NONE, real: false };
    /// A time.
    pub const TIME: Self = Self::Number { dim: Dim::TIME, real: false };
    /// An amount of memory.
    pub const MEMORY: Self = Self::Number { dim: Dim::MEMORY, real: false };
    /// Free text.
    pub const TEXT: Self = Self::Symbol(None);

    /// A closed vocabulary.
    pub fn words<I: IntoIterator<Item = S>, S: Into<String>>(words: I) -> Self {
        let mut words: Vec<String> = words.into_iter().map(Into::into).collect();
        words.sort();
        words.dedup();
        Self::Symbol(Some(words.into()))
    }

    /// Whether this is a number of any dimension.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number { .. })
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Symbol(None) => f.write_str("text"),
            Self::Symbol(Some(words)) => write!(f, "one of {}", words.join(", ")),
            Self::Number { dim, .. } if *dim == Dim::NONE => f.write_str("a number"),
            Self::Number { dim, .. } if *dim == Dim::TIME => f.write_str("a time"),
            Self::Number { dim, .. } if *dim == Dim::MEMORY => f.write_str("an amount of memory"),
            Self::Number { dim, .. } => write!(f, "a number in {dim}"),
        }
    }
}
