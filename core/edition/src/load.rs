//! Finding, reading and merging edition files.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::additions;
use crate::coverage;
use crate::diag::{Diagnostic, Diagnostics, Source, closest};
use crate::language::EDITION;
use crate::model::{Edition, Reading};
use crate::node::{Entry, Kind, MAX_BYTES, Node, Place, overlay, parse};
use crate::plugins::{Known, Shipped};
use crate::resolve::{check_before, resolve, with_likes};
use crate::shape::Shape;

/// Why there is no edition.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No file and no shipped edition has this name.
    #[error("there is no edition `{name}`: no file of that name, and the shipped editions are {known}{hint}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
        /// The closest name, as a question.
        hint: String,
    },
    /// The file cannot be read.
    #[error("{path}: {cause}. {remedy}")]
    File {
        /// The file.
        path: String,
        /// Why.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// A deviation was named that the edition does not have.
    #[error("the edition {edition} has no deviation `{name}` (it has: {known})")]
    UnknownDeviation {
        /// The edition.
        edition: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The file has errors.
    #[error("{}", summary(.0))]
    Invalid(Diagnostics),
}

fn summary(diagnostics: &Diagnostics) -> String {
    let (errors, warnings) = diagnostics.counts();
    let mut lines: Vec<String> = diagnostics.shown().0.into_iter().map(Diagnostic::line).collect();
    lines.extend(diagnostics.left_out());
    format!("{errors} errors, {warnings} warnings\n{}", lines.join("\n"))
}

/// The names and texts of the editions that are shipped.
pub fn shipped_editions() -> impl Iterator<Item = (&'static str, &'static str)> {
    crate::shipped::EDITIONS.iter().copied()
}

/// The text of an edition: a file's if `name` is a path to one, else a shipped one's.
///
/// # Errors
/// If there is neither, or the file cannot be read.
pub fn source_of(name: &str) -> Result<Source, LoadError> {
    let path = Path::new(name);
    let looks_like_path = name.contains('/') || path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    if !looks_like_path && let Some((_, text)) = shipped_editions().find(|(n, _)| *n == name) {
        return Ok(Source::new(format!("{name}.yaml"), text));
    }
    let file = |path: &Path| -> Result<Source, LoadError> {
        let fail = |cause: String, remedy: &str| LoadError::File {
            path: path.display().to_string(),
            cause,
            remedy: remedy.into(),
        };
        let meta =
            std::fs::metadata(path).map_err(|e| fail(e.to_string(), "Give the path of an edition's YAML file."))?;
        if meta.is_dir() {
            return Err(fail(
                "this is a folder".into(),
                "Give the YAML file, or put an `edition.yaml` into the folder.",
            ));
        }
        // A pipe can be read once only and may never begin; a device may never end.
        if !meta.is_file() {
            let remedy = "Write its content to a file and give that: editions are read more than once.";
            return Err(fail("this is a pipe or a device, not a file".into(), remedy));
        }
        if meta.len() > MAX_BYTES {
            let cause = format!("the file has {} bytes, an edition has at most {MAX_BYTES}", meta.len());
            return Err(fail(cause, "Is this the right file?"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|e| fail(e.to_string(), "Check the file's permissions."))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            fail(format!("the text is not UTF-8 (byte {at})"), "Save the file as UTF-8.")
        })?;
        Ok(Source::new(path.display().to_string(), text.trim_start_matches('\u{feff}')))
    };
    if looks_like_path || path.exists() {
        let folder = path.join("edition.yaml");
        return if path.is_dir() && folder.is_file() { file(&folder) } else { file(path) };
    }
    let names: Vec<&str> = shipped_editions().map(|(n, _)| n).collect();
    let hint = closest(name, names.iter().copied()).map(|n| format!(". Did you mean `{n}`?")).unwrap_or_default();
    Err(LoadError::NotFound { name: name.into(), known: names.join(", "), hint })
}

/// The files that an edition is read from: its own and those that it extends, as far as they can be read. Shipped ones
/// are in the program.
pub fn files(name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(mut source) = source_of(name) else { return files };
    for _ in 0..=MOST_BASES {
        files.push(PathBuf::from(&source.name));
        let source_name = source.name.clone();
        let tree = parse(&Arc::new(source), &mut Diagnostics::default());
        let Some(base) =
            tree.as_ref().and_then(|t| t.get("extends")?.text()).and_then(|b| base_of(&source_name, b).ok())
        else {
            break;
        };
        source = base;
    }
    files
}

/// The edition that the one of this file extends. A name is a shipped edition; everything else is relative to the file
/// that says it.
fn base_of(file: &str, base: &str) -> Result<Source, LoadError> {
    if shipped_editions().any(|(name, _)| name == base) {
        return source_of(base);
    }
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    source_of(&folder.join(base).display().to_string())
}

/// Editions may extend one another so many times in a row.
const MOST_BASES: usize = 64;

/// An edition as one tree.
struct Merged {
    tree: Node,
    /// Whether all that it extends is in it. Without that nothing can be said about what is missing.
    whole: bool,
}

/// Reads an edition with all that it extends, as one tree.
fn tree_of(source: Source, chain: &mut Vec<String>, out: &mut Diagnostics) -> Result<Option<Merged>, LoadError> {
    let source = Arc::new(source);
    let Some(tree) = parse(&source, out) else { return Ok(None) };
    if !matches!(tree.kind, Kind::Map(_)) {
        let message = format!("an edition is a mapping, but this is {}", tree.what());
        out.push(Diagnostic::error("edition/type", &tree.place, message).help("start with `edition: NAME`"));
        return Ok(None);
    }
    let Some(extends) = tree.get("extends").filter(|n| !n.is_null()).cloned() else {
        return Ok(Some(Merged { tree, whole: true }));
    };
    // That it is no name is reported with the shape.
    let Some(base) = extends.text() else { return Ok(Some(Merged { tree, whole: false })) };
    chain.push(source.name.clone());
    let base_source = match base_of(&source.name, base) {
        Ok(s) => s,
        Err(error) => {
            out.push(Diagnostic::error("edition/extends", &extends.place, error.to_string()));
            return Ok(Some(Merged { tree, whole: false }));
        }
    };
    if let Some(start) = chain.iter().position(|c| same_file(c, &base_source.name)) {
        let mut circle = chain.split_off(start);
        circle.push(base_source.name);
        let message = format!("editions extend each other in a circle: {}", circle.join(" → "));
        out.push(Diagnostic::error("edition/cycle", &extends.place, message).help("let one of them stand alone"));
        return Ok(Some(Merged { tree, whole: false }));
    }
    if chain.len() > MOST_BASES {
        let message = format!("more than {MOST_BASES} editions extend one another in a row");
        let help = "merge some of them: `agon edition show` prints an edition with all that it extends as one file";
        out.push(Diagnostic::error("edition/too-long", &extends.place, message).help(help));
        return Ok(Some(Merged { tree, whole: false }));
    }
    let Some(base) = tree_of(base_source, chain, out)? else { return Ok(Some(Merged { tree, whole: false })) };
    additions::check(&liked(&base.tree), &tree, &Shape::Map(&EDITION), out);
    let mut merged = overlay(&base.tree, &tree);
    if let Kind::Map(entries) = &mut merged.kind {
        entries.retain(|e| e.key != "extends");
    }
    Ok(Some(Merged { tree: merged, whole: base.whole }))
}

fn same_file(a: &str, b: &str) -> bool {
    let full = |p: &str| PathBuf::from(p).canonicalize().unwrap_or_else(|_| PathBuf::from(p));
    a == b || full(a) == full(b)
}

/// Checks what can be checked of an edition without what it extends: the form of what it says itself.
fn check_alone(tree: &Node, out: &mut Diagnostics) {
    let mut found = Diagnostics::default();
    Shape::Map(&EDITION).check(tree, "an edition", &mut found);
    found.iter().filter(|d| d.code != "edition/missing-key").cloned().for_each(|d| out.push(d));
}

/// The tree with what its tracks take from each other, as far as they can.
fn liked(tree: &Node) -> Node {
    with_likes(tree, &mut Diagnostics::default())
}

/// Warns of names that deviations probably misspell. Each one is held against the edition with those before it, since
/// it may be about what they add.
fn check_deviation_names(tree: &Node, out: &mut Diagnostics) {
    let mut below = tree.clone();
    for entry in tree.get("deviations").map(Node::entries).unwrap_or_default() {
        if let Some(instead) = entry.value.get("instead") {
            additions::check(&liked(&below), instead, &Shape::Map(&EDITION), out);
            below = overlay(&below, instead);
        }
    }
}

/// Warns of what is allowed, but hardly meant.
fn advise(edition: &Edition, tree: &Node, out: &mut Diagnostics) {
    // A file that others extend may have only what they share.
    let parts = ["seed", "entrants", "divisions"].into_iter().any(|key| tree.get(key).is_some());
    let scored = edition.tracks.values().any(|t| t.scoring.is_some());
    if !scored && (!edition.tracks.is_empty() || !parts) {
        let place = tree.get("tracks").or_else(|| tree.get("edition")).map_or(&tree.place, |n| &n.place);
        let message = "no track of this edition has a scoring, so that there is nothing to score".to_string();
        let help = "add `tracks:` with a `scoring:`; editions that only others extend need none";
        out.push(Diagnostic::warning("edition/nothing-to-score", place, message).help(help));
    }
    if !edition.entrants.list.is_empty() || !edition.entrants.forms.is_empty() {
        return;
    }
    for form in &edition.results {
        let Some(scoring) = form.track.as_ref().and_then(|t| edition.tracks.get(t)?.scoring.as_ref()) else { continue };
        let reads = scoring.reads();
        let columns = form.mapping.schema().into_iter().map(|(name, _)| name);
        let mut columns = columns.chain(form.computed.iter().map(|l| l.name.as_str()));
        if !["competing", "rank"].iter().any(|name| reads.contains(*name)) || columns.any(|name| name == "competing") {
            continue;
        }
        let entries = tree.get("results").map(Node::entries).unwrap_or_default();
        if let Some(entry) = entries.iter().find(|e| e.key == form.name) {
            let message = format!("the form `{}` does not say who competes, and the rules ask for it", form.name);
            let help = "add `competing:` to its columns, for example `competing: { value: \"true\" }`, or list the entrants \
                        under `entrants`";
            out.push(Diagnostic::warning("edition/no-competing", &entry.key_place, message).help(help));
        }
    }
}

/// The tree with the deviations of a reading laid on it.
fn with_deviations(tree: &Node, reading: &Reading) -> Node {
    let mut result = tree.clone();
    for Entry { key, value, .. } in tree.get("deviations").map(Node::entries).unwrap_or_default() {
        if reading.includes(key)
            && let Some(instead) = value.get("instead")
        {
            result = overlay(&result, instead);
        }
    }
    result
}

fn build(tree: &Node, reading: Reading, known: &Known<'_>, out: &mut Diagnostics) -> Edition {
    let tree = with_likes(&with_deviations(tree, &reading), out);
    check_before(&tree, out);
    Shape::Map(&EDITION).check(&tree, "an edition", out);
    let edition = resolve(&tree, reading, known, out);
    coverage::check_citations(&edition, out);
    edition
}

/// Reads an edition for one reading. Warnings come with it; an edition with errors is not returned. It may name the
/// shipped plugins.
///
/// # Errors
/// If it cannot be found or read, names a deviation that it does not have, or has errors.
pub fn load(name: &str, reading: Reading) -> Result<(Edition, Diagnostics), LoadError> {
    load_with(name, reading, &Known::plugins(&Shipped))
}

/// Reads an edition as [`load`] does, with other plugins or other limits.
///
/// # Errors
/// As for [`load`].
pub fn load_with(name: &str, reading: Reading, known: &Known<'_>) -> Result<(Edition, Diagnostics), LoadError> {
    let mut out = Diagnostics::default();
    let tree = tree_of(source_of(name)?, &mut Vec::new(), &mut out)?;
    let Some(Merged { tree, whole }) = tree else { return Err(LoadError::Invalid(out)) };
    if !whole {
        check_alone(&tree, &mut out);
        out.sort();
        return Err(LoadError::Invalid(out));
    }
    if let Reading::With(names) = &reading {
        let known: Vec<&str> =
            tree.get("deviations").map(Node::entries).unwrap_or_default().iter().map(|e| e.key.as_str()).collect();
        if let Some(unknown) = names.iter().find(|n| !known.contains(&n.as_str())) {
            return Err(LoadError::UnknownDeviation {
                edition: name.into(),
                name: unknown.clone(),
                known: if known.is_empty() { "none".into() } else { known.join(", ") },
            });
        }
    }
    let edition = build(&tree, reading, known, &mut out);
    if !out.has_errors() {
        advise(&edition, &tree, &mut out);
    }
    out.sort();
    if out.has_errors() { Err(LoadError::Invalid(out)) } else { Ok((edition, out)) }
}

/// Checks an edition in every reading: by the rules, as published, and with each deviation alone.
///
/// # Errors
/// If it cannot be found or read; what is wrong in it is in the returned list.
pub fn check(name: &str) -> Result<(Option<Edition>, Diagnostics), LoadError> {
    check_with(name, &Known::plugins(&Shipped))
}

/// Checks an edition as [`check`] does, with other plugins or other limits.
///
/// # Errors
/// As for [`check`].
pub fn check_with(name: &str, known: &Known<'_>) -> Result<(Option<Edition>, Diagnostics), LoadError> {
    let mut out = Diagnostics::default();
    let source = source_of(name)?;
    let stem = Path::new(&source.name).file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_string();
    let Some(Merged { tree, whole }) = tree_of(source, &mut Vec::new(), &mut out)? else { return Ok((None, out)) };
    if !whole {
        check_alone(&tree, &mut out);
        out.sort();
        return Ok((None, out));
    }
    let names: Vec<String> =
        tree.get("deviations").map(Node::entries).unwrap_or_default().iter().map(|e| e.key.clone()).collect();
    // Without deviations, and with one alone, some of the readings are the same.
    let mut readings: Vec<Reading> = names.iter().map(|n| Reading::With([n.clone()].into())).collect();
    if readings.len() > 1 {
        readings.insert(0, Reading::Published);
    }
    check_deviation_names(&tree, &mut out);
    let edition = build(&tree, Reading::Rules, known, &mut out);
    for reading in readings {
        build(&tree, reading, known, &mut out);
    }
    if !out.has_errors() {
        advise(&edition, &tree, &mut out);
    }
    if !edition.name.is_empty()
        && edition.name != stem
        && stem != "edition"
        && let Some(node) = tree.get("edition")
    {
        let place: &Place = &node.place;
        let message = format!("the edition is named `{}`, its file `{stem}`", edition.name);
        out.push(
            Diagnostic::warning("edition/name", place, message)
                .help("give both the same name, so that commands find it"),
        );
    }
    out.sort();
    Ok((Some(edition), out))
}
