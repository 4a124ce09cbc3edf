//! Why results cannot be scored.

use agon_formula::EvalError;
use agon_results::ResultsError;
use agon_table::TableError;

/// Why results cannot be scored. Every message names what to do.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// A file cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The results do not fit the edition, or each other.
    #[error("{0}")]
    Input(String),
    /// A formula has no value.
    #[error(
        "{element}: the formula `{source_text}` has no value: {message}. Correct the value, or let the formula say what it means"
    )]
    Formula {
        /// The element of the edition.
        element: String,
        /// The formula.
        source_text: String,
        /// Why.
        message: String,
    },
    /// A column is missing that a formula needs.
    #[error("{element} needs the column `{column}`, which these results do not have. Give results that have it{hint}")]
    Missing {
        /// The element of the edition.
        element: String,
        /// The column.
        column: String,
        /// Where else it could come from.
        hint: String,
    },
    /// An adjudication file is wrong.
    #[error("{0}")]
    Adjudication(String),
}

impl ScoreError {
    pub(crate) fn formula(element: &str, error: &EvalError) -> Self {
        Self::Formula { element: element.into(), source_text: error.source.clone(), message: error.message.clone() }
    }
}

impl From<TableError> for ScoreError {
    fn from(error: TableError) -> Self {
        Self::Input(error.to_string())
    }
}
