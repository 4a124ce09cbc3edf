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
//! - [`read()`] and [`Session`]: a script as a [`Script`]: its commands, and its terms as a graph ([`Terms`]) in which equal
//!   terms are one node, each with its sort. A [`Problem`] has a place and says what is expected and what was found.
//! - [`lint::lint`]: whether a script keeps to the rules of a competition's track, which are data.
//! - [`Summary`]: what an index of benchmarks says of a script.
//! - [`Printer`]: scripts and terms in the concrete syntax again.
//! - [`Logic`]: what a logic's name says. Where a script leaves its logic is noted in [`Script::outside_logic`], what it
//!   uses of a solver's own language in [`Script::extensions`].
//!
//! Nothing here recurses over the depth of the input, prints, or panics on any input.

mod builtin;
mod check;
mod extension;
mod intern;
pub mod lexer;
pub mod lint;
mod logic;
pub mod position;
mod print;
mod problem;
mod read;
mod script;
mod session;
mod sorts;
pub mod split;
mod submission;
mod summary;
mod terms;

pub use builtin::{Builtin, Theory};
pub use intern::{Symbol, Symbols};
pub use lexer::{Kind, LexError, Lexer, Strings, Token};
pub use logic::{Arithmetic, Logic};
pub use position::Position;
pub use print::Printer;
pub use problem::{Class, Problem};
pub use script::{
    Command, CommandKind, Datatype, Extension, Fun, Function, FunctionKind, Script, Setting, SortDeclaration,
};
pub use session::{Options, Session, Version, read};
pub use sorts::{Sort, SortArguments, SortKind, SortName, Sorts};
pub use split::{Item, SplitError, Splitter, items};
pub use submission::submission;
pub use summary::Summary;
pub use terms::{Attribute, Binder, Head, Op, Qualified, Term, Terms, Variable};
