//! Which sections of the rules text an edition implements, which it does not and why.

use indexmap::IndexMap;

use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::model::Edition;
use crate::node::{Kind, Node, Place};
use crate::resolve::split_cites;

/// What an edition does about one section of its rules text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// These elements cite it.
    Cited(Vec<String>),
    /// No element implements it, for this reason.
    NotModelled(String),
    /// Nothing is said about it.
    Unlisted,
}

/// Every section of the rules text with its heading and what the edition does about it.
pub fn coverage(edition: &Edition) -> Vec<(String, String, Coverage)> {
    let mut cited: IndexMap<String, Vec<String>> = IndexMap::new();
    walk(&edition.tree, &mut Vec::new(), &mut |path, cite, _| {
        let elements = cited.entry(cite.to_string()).or_default();
        if !elements.contains(&path.to_string()) {
            elements.push(path.to_string());
        }
    });
    edition
        .rules
        .sections
        .iter()
        .map(|(section, heading)| {
            let what = match (cited.shift_remove(section), edition.coverage.get(section)) {
                (Some(elements), _) => Coverage::Cited(elements),
                (None, Some(reason)) => Coverage::NotModelled(reason.clone()),
                (None, None) => Coverage::Unlisted,
            };
            (section.clone(), heading.clone(), what)
        })
        .collect()
}

/// Calls `f` with the path of every element that cites something, the citation, and its place.
fn walk(node: &Node, path: &mut Vec<String>, f: &mut dyn FnMut(&str, &str, &Place)) {
    match &node.kind {
        Kind::Map(entries) => {
            for entry in entries {
                if entry.key == "cite" {
                    for cite in split_cites(entry.value.text().unwrap_or_default()) {
                        f(&path.join("."), &cite, &entry.value.place);
                    }
                } else if !(path.is_empty() && entry.key == "deviations") {
                    // What a deviation replaces is cited where it stands.
                    path.push(entry.key.clone());
                    walk(&entry.value, path, f);
                    path.pop();
                }
            }
        }
        Kind::List(items) => {
            for (number, item) in items.iter().enumerate() {
                path.push((number + 1).to_string());
                walk(item, path, f);
                path.pop();
            }
        }
        Kind::Scalar { .. } => {}
    }
}

/// Reports citations and coverage entries of sections that the rules text does not have.
pub(crate) fn check_citations(edition: &Edition, out: &mut Diagnostics) {
    let sections = &edition.rules.sections;
    if sections.is_empty() {
        return;
    }
    let mut unknown = |cite: &str, place: &Place| {
        if cite.starts_with('§') && !sections.contains_key(cite) {
            let near = closest(cite, sections.keys().map(String::as_str));
            let help = near.map_or_else(
                || "sections are listed under `rules.sections`".to_string(),
                |n| format!("did you mean `{n}`?"),
            );
            let message = format!("the rules document has no section `{cite}`");
            out.push(Diagnostic::error("edition/unknown-section", place, message).help(help));
        }
    };
    walk(&edition.tree, &mut Vec::new(), &mut |_, cite, place| unknown(cite, place));
    for entry in edition.tree.get("coverage").map(Node::entries).unwrap_or_default() {
        unknown(&entry.key, &entry.key_place);
    }
}
