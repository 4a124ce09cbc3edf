//! The words that the grammars know, with fixed numbers.

/// Makes a table of words and a constant for each one's number.
macro_rules! words {
    ($(#[$doc:meta])* $table:ident, $count:ident: $($name:ident = $text:literal,)*) => {
        $(#[$doc])*
        pub(crate) const $table: &[&str] = &[$($text),*];
        words!(@number $count 0; $($name)*);
    };
    (@number $count:ident $at:expr; $name:ident $($rest:ident)*) => {
        #[allow(dead_code)]
        pub(crate) const $name: $crate::symbols::Symbol = $at;
        words!(@number $count $at + 1; $($rest)*);
    };
    (@number $count:ident $at:expr;) => {
        #[allow(dead_code)]
        pub(crate) const $count: $crate::symbols::Symbol = $at;
    };
}
pub(crate) use words;
