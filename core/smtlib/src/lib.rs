//! SMT-LIB: the language of benchmarks and of solvers' answers.
//!
//! From the outside in:
//!
//! - [`lexer`]: tokens as places in a byte slice. `Lexer::new(text, Strings::Doubled)` is an iterator of
//!   `Result<Token, LexError>`; nothing is copied. `Strings` says how a string literal writes a quote: twice since 2.5,
//!   with a backslash in 2.0.
//! - [`split`]: the commands of a script, or the responses of a solver, as balanced s-expressions. `items(text, strings)`
//!   for a text in memory, [`Splitter`] for pieces as they arrive, [`split::Reader`] for any reader.
//! - [`position`]: line and column of an offset, computed when an error is shown.
//!
//! Nothing here recurses over the depth of the input, prints, or panics on any input.

pub mod lexer;
pub mod position;
pub mod split;

pub use lexer::{Kind, LexError, Lexer, Strings, Token};
pub use position::Position;
pub use split::{Item, SplitError, Splitter, items};
