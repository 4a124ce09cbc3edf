//! The values of SMT-LIB's theories, with the exact semantics of the standard's theory definitions.
//!
//! A model assigns values; a term under a model evaluates to one. This crate knows what each function of the standard's
//! theories gives for given values, and nothing of terms, scripts or solvers:
//!
//! * [`bits`]: FixedSizeBitVectors at any width, with the operators of version 2.7 and the usual extensions;
//! * [`float`]: FloatingPoint at any format, in all five rounding modes, each result rounded once;
//! * [`integer`] and [`real`]: Ints and Reals, with the irrational algebraic numbers that solvers print;
//! * [`text`] and [`regex`]: UnicodeStrings, with regular expressions by derivatives;
//! * [`value`]: all of these as one type, with arrays, datatypes and elements of declared sorts.
//!
//! Invariants that callers rely on:
//!
//! * Two values are equal as SMT-LIB's `=` understands it exactly if they are equal in Rust: every value has one
//!   representation. `NaN` equals itself, `+0` and `-0` of a format differ.
//! * A function that the standard does not determine for its arguments (division by zero in the reals, `fp.min` of two zeros
//!   of different signs) says so with [`NoValue::Unspecified`]: any value is allowed, and the model may give one.
//! * Nothing recurses over the size of a value, nothing panics, and what may take long or much memory draws from a
//!   [`Work`] and ends with [`NoValue::GaveUp`].

pub mod bits;
pub mod float;
pub mod integer;
pub mod real;
pub mod regex;
pub mod text;
pub mod value;

pub use bits::Bits;
pub use float::{Float, Format, Rounding};
pub use real::Real;
pub use regex::{Languages, Regex};
pub use text::Text;
pub use value::{Array, ArraySort, Data, Domain, Element, Entries, Heap, Names, Value, ValueId};

/// Why a function gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoValue {
    /// The standard leaves the result open for these arguments: any value of the sort is allowed, and a model says which.
    #[error("the standard leaves the value open")]
    Unspecified,
    /// The limit on work or size was reached first.
    #[error("the limit on work was reached")]
    GaveUp,
}

/// A limit on work: units left, a unit being about one operation on a machine word.
///
/// It is shared by all operations of an evaluation, so that many medium ones are limited as one large one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    left: u64,
}

impl Work {
    /// So many units.
    pub const fn new(units: u64) -> Self {
        Self { left: units }
    }

    /// What is left.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Uses up units.
    ///
    /// # Errors
    ///
    /// [`NoValue::GaveUp`] if there are not so many; then none are left.
    pub fn spend(&mut self, units: u64) -> Result<(), NoValue> {
        if let Some(left) = self.left.checked_sub(units) {
            self.left = left;
            return Ok(());
        }
        self.left = 0;
        Err(NoValue::GaveUp)
    }
}
