//! What can be wrong with a formula, and the search for what its author may have meant.

use std::fmt;
use std::ops::Range;

/// A mistake in a formula, found when it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// A stable mnemonic, such as `formula/unknown-name`.
    pub code: &'static str,
    /// The bytes of the source that are at fault.
    pub span: Range<usize>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl FormulaError {
    pub(crate) fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), help: None }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}, bytes {}..{}]", self.message, self.code, self.span.start, self.span.end)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FormulaError {}

/// Why a formula that compiled has no value on a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// The formula.
    pub source: String,
    /// The bytes of the formula that are at fault.
    pub span: Range<usize>,
    /// What is wrong, as a lower-case fragment.
    pub message: String,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.source.get(self.span.clone()).unwrap_or(&self.source);
        write!(f, "{} in `{part}`", self.message)?;
        if part.len() < self.source.len() {
            write!(f, ", which is a part of the formula `{}`", self.source)?;
        }
        Ok(())
    }
}

impl std::error::Error for EvalError {}

/// The number of single-letter edits (insert, delete, replace, swap neighbours) between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The known word that is closest to `word`, if one is close enough to be what was meant. Among equally close ones the
/// first by bytes, so that messages do not depend on the order in which names were declared.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    // More names than any edition has: a bound for the time that a file with thousands of mistakes takes.
    for candidate in known.into_iter().take(500) {
        // Each letter more or less is an edit, and a limit allows a quarter of the shorter one.
        if candidate.len() > 64 || candidate.len().abs_diff(word.len()) > 1 + word.len() / 2 {
            continue;
        }
        let d = distance(&lower, &candidate.to_lowercase());
        let limit = 1 + lower.chars().count().min(candidate.chars().count()) / 4;
        // A word of which nothing is left is no suggestion.
        if d <= limit && d < candidate.chars().count().max(1) && best.is_none_or(|b| (d, candidate) < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean …?`, or else the list of what exists if it is short.
pub(crate) fn suggest<'a>(word: &str, what: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(found) = closest(word, known.clone()) {
        return Some(format!("did you mean `{found}`?"));
    }
    let names: Vec<&str> = known.into_iter().collect();
    match names.len() {
        0 => None,
        n if n <= 24 => Some(format!("the {what} are: {}", names.join(", "))),
        n => Some(format!("the first of the {n} {what} are: {}", names[..20].join(", "))),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed<S: AsRef<str>>(items: &[S], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().into(),
        [first @ .., end] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} {last} {}", first.join(", "), end.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_words() {
        let known = ["answer", "wall", "cpu", "entrant", "status"];
        assert_eq!(closest("anwser", known), Some("answer"));
        assert_eq!(closest("Wall", known), Some("wall"));
        assert_eq!(closest("entrants", known), Some("entrant"));
        assert_eq!(closest("zebra", known), None);
        assert_eq!(closest("x", known), None);
        assert_eq!(distance("abcd", "abdc"), 1);
    }
}
