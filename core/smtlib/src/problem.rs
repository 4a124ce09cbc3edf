//! What is wrong with a script, and where.

use std::fmt;

use thiserror::Error;

use crate::position::Position;

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Not made of tokens.
    Lexical,
    /// Not of the grammar.
    Syntax,
    /// A symbol that is not declared, or declared again, or out of scope.
    Scope,
    /// Sorts that do not fit.
    Sort,
    /// Outside the declared logic.
    Logic,
    /// Commands in an order that is not allowed.
    Flow,
    /// Of a solver's own language.
    Extension,
    /// Larger than what is read.
    Limit,
}

impl Class {
    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lexical => "lexical",
            Self::Syntax => "syntax",
            Self::Scope => "scope",
            Self::Sort => "sort",
            Self::Logic => "logic",
            Self::Flow => "flow",
            Self::Extension => "extension",
            Self::Limit => "limit",
        }
    }
}

/// A problem of a script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Problem {
    /// Its kind.
    pub class: Class,
    /// Offset of the byte it is about.
    pub at: usize,
    /// The line and column of that byte.
    pub position: Position,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.message)
    }
}

/// A problem whose place is an offset: what is passed around inside, in one word.
#[derive(Debug)]
pub(crate) struct Fault(Box<(Class, usize, String)>);

impl Fault {
    #[cold]
    pub(crate) fn new(class: Class, at: usize, message: impl Into<String>) -> Self {
        Self(Box::new((class, at, message.into())))
    }

    pub(crate) fn place(self, text: &[u8]) -> Problem {
        let (class, at, message) = *self.0;
        // Names come from the script: nothing in them may reach a terminal raw.
        let message = message.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        Problem { class, at, position: Position::of(text, at), message }
    }
}

/// A name of a script in a message: cut if it is long.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if text.chars().count() > 80 {
        format!("`{}...`", text.chars().take(80).collect::<String>())
    } else {
        format!("`{text}`")
    }
}
