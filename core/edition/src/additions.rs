//! Names that a file adds to what it is laid on, although it probably meant one that is there already.
//!
//! Laying one file on another adds what the lower one does not have. A misspelt name therefore is no error: it makes a
//! new element and leaves the old one as it was; a misspelt name that is removed removes nothing. Only names of the author's choice are looked at; a misspelt key of the
//! format is an error anyway.

use crate::diag::{Diagnostic, Diagnostics, distance};
use crate::node::{Entry, Kind, Node};
use crate::shape::Shape;

/// Warns of every element that `over` adds to `base` under a name that is like one of `base`.
pub(crate) fn check(base: &Node, over: &Node, shape: &Shape, out: &mut Diagnostics) {
    match (shape, &over.kind) {
        (Shape::Map(map) | Shape::Either(_, map), Kind::Map(entries)) => {
            for entry in entries {
                if let Some(key) = map.keys.iter().find(|k| k.name == entry.key)
                    && let Some(below) = base.get(&entry.key)
                {
                    check(below, &entry.value, &key.shape, out);
                }
            }
        }
        (Shape::Dict(what, value), Kind::Map(entries)) => {
            // Divisions, sections and words are like each other by their nature.
            let names = what.starts_with("names to ") || what.starts_with("columns to ");
            for entry in entries {
                match base.get(&entry.key) {
                    Some(below) => check(below, &entry.value, value, out),
                    None if names => stranger(entry, base, over, out),
                    None => {}
                }
            }
        }
        _ => {}
    }
}

fn stranger(entry: &Entry, base: &Node, over: &Node, out: &mut Diagnostics) {
    // Who says where a new element belongs knows that it is new.
    if entry.value.get("before").is_some() {
        return;
    }
    let near = base
        .entries()
        .iter()
        .take(1000)
        .filter(|e| over.get(&e.key).is_none())
        .filter_map(|e| likeness(&entry.key, &e.key).map(|d| (d, e.key.as_str())))
        .min();
    if let Some((_, near)) = near {
        let (message, help) = match entry.value.is_null() {
            true => (format!("there is no `{}` to remove", entry.key), format!("did you mean `{near}`?")),
            false => (
                format!("`{}` is new here: what this is laid on has no element of that name", entry.key),
                format!(
                    "did you mean `{near}`? If a new element is meant, say so with `before:`, or name it less alike"
                ),
            ),
        };
        out.push(Diagnostic::warning("edition/new-name", &entry.key_place, message).help(help));
    }
}

/// The edits between two names, if they are so few that one may be the other misspelt. Names that only differ in
/// numbers are a series.
fn likeness(word: &str, known: &str) -> Option<usize> {
    let (word, known) = (word.to_lowercase(), known.to_lowercase());
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let (m, n) = (word.chars().count(), known.chars().count());
    let most = if m.min(n) >= 8 { 2 } else { 1 };
    if m.min(n) < 4 || m.abs_diff(n) > most || (word != known && letters(&word) == letters(&known)) {
        return None;
    }
    Some(distance(&word, &known)).filter(|d| *d <= most)
}

#[cfg(test)]
mod tests {
    use super::likeness;

    #[test]
    fn alike() {
        assert_eq!(likeness("solved_rum", "solved_run"), Some(1));
        assert_eq!(likeness("Late", "late"), Some(0));
        assert_eq!(likeness("paralel", "parallel"), Some(1));
        assert_eq!(likeness("sat", "unsat"), None);
        assert_eq!(likeness("24s", "25s"), None);
        assert_eq!(likeness("round-1", "round-2"), None);
        assert_eq!(likeness("wall_time", "cpu_time"), None);
        assert_eq!(likeness("fast", "last"), Some(1));
    }
}
