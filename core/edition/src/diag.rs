//! Diagnostics: what is wrong in a file, where, and what to do about it; with their renderings.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use agon_table::{is_hidden, shown};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::node::Place;

/// A file that diagnostics point into.
pub struct Source {
    /// Its name, as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
    lines: Vec<usize>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({})", self.name)
    }
}

impl Source {
    /// A file's name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, lines }
    }

    /// The line, from 1, of a byte.
    pub(crate) fn line(&self, byte: usize) -> usize {
        self.lines.partition_point(|&start| start <= byte).max(1)
    }

    /// Line and column, both from 1, of a byte; the column counts characters.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        let start = self.lines[line - 1];
        let byte = byte.min(self.text.len());
        (line, self.text.get(start..byte).map_or(0, |s| s.chars().count()) + 1)
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but probably does not say what its author means.
    Warning,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// A stable mnemonic, such as `edition/unknown-key`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub source: Arc<Source>,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, place: &Place, message: String) -> Self {
        let (source, span) = (place.source.clone(), place.span.clone());
        Self { code, severity: Severity::Error, source, span, message, help: None }
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, place: &Place, message: String) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message) }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// One line: `file:line:column: error[code]: message (help)`.
    pub fn line(&self) -> String {
        let (line, column) = self.source.line_column(self.span.start);
        let level = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = format!("{}:{line}:{column}: {level}[{}]: {}", self.source.name, self.code, self.message);
        if let Some(help) = &self.help {
            let _ = write!(out, " (help: {help})");
        }
        // What a file says is not for the terminal to obey.
        shown(&out).into_owned()
    }
}

/// All findings about a file and those that it extends.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    /// What has been found already: the file (by its place in memory), the bytes, the message.
    seen: HashSet<(usize, Range<usize>, String)>,
}

/// So many findings are printed; who has more is helped by the number of the rest.
pub const SHOWN: usize = 100;

impl Diagnostics {
    /// Adds a finding; the same finding at the same place is kept once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let file = Arc::as_ptr(&diagnostic.source) as usize;
        if self.seen.insert((file, diagnostic.span.clone(), diagnostic.message.clone())) {
            self.list.push(diagnostic);
        }
    }

    /// Adds all findings of another list.
    pub fn extend(&mut self, other: Self) {
        for diagnostic in other.list {
            self.push(diagnostic);
        }
    }

    /// The findings, in the order of their files and places.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether at least one is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many errors and warnings.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.list.iter().filter(|d| d.severity == Severity::Error).count();
        (errors, self.list.len() - errors)
    }

    /// Whether there is an error about the place or a part of it.
    pub(crate) fn has_error_within(&self, place: &Place) -> bool {
        let within = |d: &Diagnostic| {
            place.span.start <= d.span.start
                && d.span.end <= place.span.end
                && Arc::ptr_eq(&d.source, &place.source)
                && d.severity == Severity::Error
        };
        self.list.iter().any(within)
    }

    /// The findings that are printed, in their order, and how many errors and warnings are left out. Warnings give
    /// way to errors.
    pub fn shown(&self) -> (Vec<&Diagnostic>, (usize, usize)) {
        let (errors, warnings) = self.counts();
        let mut room = [errors.min(SHOWN), warnings.min(SHOWN - errors.min(SHOWN))];
        let left = (errors - room[0], warnings - room[1]);
        let shown = self.list.iter().filter(|d| {
            let room = &mut room[usize::from(d.severity == Severity::Warning)];
            let fits = *room > 0;
            *room -= usize::from(fits);
            fits
        });
        (shown.collect(), left)
    }

    /// One line about the findings that are not printed, if there are any.
    pub fn left_out(&self) -> Option<String> {
        let (_, (errors, warnings)) = self.shown();
        let count = |n: usize, word: &str| match n {
            0 => None,
            1 => Some(format!("1 more {word}")),
            n => Some(format!("{n} more {word}s")),
        };
        let parts: Vec<String> = [count(errors, "error"), count(warnings, "warning")].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("… and {}", parts.join(" and ")))
    }

    /// Puts the findings into the order of files and places.
    pub fn sort(&mut self) {
        self.list.sort_by(|a, b| {
            (&a.source.name, a.span.start, a.span.end).cmp(&(&b.source.name, b.span.start, b.span.end))
        });
    }

    /// All findings with excerpts, for people.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut out = String::new();
        for d in self.shown().0 {
            let level = match d.severity {
                Severity::Error => Level::ERROR,
                Severity::Warning => Level::WARNING,
            };
            let end = d.span.end.min(d.source.text.len());
            let span = d.span.start.min(end)..end;
            // A long block is shown by its first line.
            let first_line = d.source.text[span.clone()].find('\n').map_or(span.end, |at| span.start + at);
            let span = span.start..first_line.max(span.start);
            // The renderer sees to the excerpt itself.
            let (message, path) = (shown(&d.message), shown(&d.source.name));
            let help = d.help.as_deref().map(shown);
            let mut group = level
                .primary_title(&*message)
                .id(d.code)
                .element(Snippet::source(&d.source.text).path(&*path).annotation(AnnotationKind::Primary.span(span)));
            if let Some(help) = &help {
                group = group.element(Level::HELP.message(&**help));
            }
            // Colours are the renderer's own; of control characters in an excerpt it replaces most.
            let hidden = |c: char| !matches!(c, '\n' | '\u{1b}') && is_hidden(c);
            out.push_str(&renderer.render(&[group]).replace(hidden, "\u{fffd}"));
            out.push_str("\n\n");
        }
        if let Some(rest) = self.left_out() {
            out.push_str(&rest);
            out.push_str("\n\n");
        }
        out
    }
}

/// Among so many words is looked for one that may be meant: more than any edition has, and a bound for the time that a
/// file with thousands of mistakes takes.
const MOST: usize = 500;

/// The word of `known` that is closest to `word`, if one is close enough to be meant.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in known.into_iter().take(MOST) {
        let own = candidate.chars().count();
        let limit = 1 + own.min(length) / 3;
        let limit = best.map_or(limit, |(d, _)| limit.min(d.saturating_sub(1)));
        // Each letter more or less is an edit.
        if own.abs_diff(length) > limit {
            continue;
        }
        let d = distance(&lower, &candidate.to_lowercase());
        if d <= limit && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_lines() {
        let source = Arc::new(Source::new("f.yaml", "a: 1\nbé: two\n"));
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(10), (2, 5));
        let place = Place { source, span: 10..13 };
        let d = Diagnostic::error("x/y", &place, "is wrong".into()).help("do better");
        assert_eq!(d.line(), "f.yaml:2:5: error[x/y]: is wrong (help: do better)");
        let mut all = Diagnostics::default();
        all.push(d.clone());
        all.push(d);
        assert_eq!(all.counts(), (1, 0));
        let text = all.render(false);
        assert!(text.contains("f.yaml:2:5") && text.contains("do better"), "{text}");
    }

    #[test]
    fn suggestions() {
        assert_eq!(closest("answr", ["answer", "status"]), Some("answer"));
        assert_eq!(closest("staus", ["answer", "status"]), Some("status"));
        assert_eq!(closest("zzz", ["answer", "status"]), None);
        assert_eq!(closest("ab", ["ba", "ab", "abc"]), Some("ab"));
        for (a, b, d) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("abcd", "abdc", 1), ("ca", "abc", 3)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (d, d), "{a} {b}");
        }
    }
}
