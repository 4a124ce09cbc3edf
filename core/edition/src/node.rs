//! YAML text to a tree that remembers where everything stands.
//!
//! Only the plain part of YAML is accepted: one document, mappings with text keys, sequences, scalars. Anchors,
//! aliases, tags and merge keys are refused, which also makes an exponential expansion impossible; depth, nodes and
//! size are bounded.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::diag::{Diagnostic, Diagnostics, Source};

/// A file larger than this is not an edition.
pub(crate) const MAX_BYTES: u64 = 8 << 20;
const MAX_NODES: usize = 500_000;
const MAX_DEPTH: usize = 64;

/// Where a node stands.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes.
    pub span: Range<usize>,
}

/// One node of the tree.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub place: Place,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A text; `plain` if it was written without quotes, so that `null`, `yes` and numbers mean what they say.
    Scalar {
        /// The text, unescaped.
        text: String,
        /// Whether it was written without quotes.
        plain: bool,
    },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Whether it is an explicit or implicit null.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true } if matches!(text.as_str(), "" | "null" | "~" | "Null" | "NULL"))
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; a scalar or mapping counts as a sequence of itself, null as an empty one.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ if self.is_null() => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// The value of a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|e| e.key == key).map(|e| &e.value)
    }

    /// What it is, in words.
    pub fn what(&self) -> &'static str {
        match &self.kind {
            _ if self.is_null() => "nothing",
            Kind::Scalar { .. } => "a text or number",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }

    /// The place of a part of this scalar's text: exact if the scalar is written on one line without escapes, else
    /// the whole scalar.
    pub fn part(&self, part: &Range<usize>) -> Place {
        let Kind::Scalar { text, .. } = &self.kind else { return self.place.clone() };
        let raw = &self.place.source.text[self.place.span.clone()];
        let start = if raw.starts_with(text.as_str()) {
            self.place.span.start
        } else if raw.len() > 1 && raw[1..].starts_with(text.as_str()) {
            self.place.span.start + 1
        } else {
            return self.place.clone();
        };
        let end = (start + part.end).min(start + text.len());
        Place { source: self.place.source.clone(), span: (start + part.start).min(end)..end }
    }
}

/// Reads one YAML document.
///
/// Returns `None`, with the reasons in `diagnostics`, if there is no tree to go on with. A repeated key is reported
/// and the first one kept.
pub fn parse(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Node> {
    let offsets = Offsets::new(&source.text);
    let mut builder = Builder { source, diagnostics, stack: Vec::new(), root: None, nodes: 0, ok: true };
    for item in Parser::new_from_str(&source.text) {
        match item {
            Ok((event, span)) => {
                let start = offsets.byte(span.start.index());
                let end = offsets.byte(span.end.index()).max(start);
                if !builder.event(event, start..end) {
                    return None;
                }
            }
            Err(error) => {
                let at = offsets.byte(error.marker().index());
                let place = Place { source: source.clone(), span: at..at };
                // The parser has a limit of its own, which brackets reach before it tells of the first of them.
                if error.info().contains("recursion limit") {
                    builder.too_deep(place.span);
                    return None;
                }
                builder.diagnostics.push(
                    Diagnostic::error("yaml/syntax", &place, format!("this is not YAML: {}", error.info()))
                        .help("check indentation, quotes and colons on this line and the one above it"),
                );
                return None;
            }
        }
    }
    let Builder { root, ok, .. } = builder;
    if root.is_none() && ok {
        let place = Place { source: source.clone(), span: 0..0 };
        diagnostics.push(Diagnostic::error("yaml/empty", &place, "the file is empty".into()));
    }
    root
}

/// Character offsets to byte offsets.
struct Offsets(Option<Vec<u32>>, usize);

impl Offsets {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None, text.len());
        }
        Self(Some(text.char_indices().map(|(byte, _)| byte as u32).collect()), text.len())
    }

    fn byte(&self, character: usize) -> usize {
        match &self.0 {
            None => character.min(self.1),
            Some(map) => map.get(character).map_or(self.1, |&b| b as usize),
        }
    }
}

struct Frame {
    node: Node,
    /// The key whose value comes next; without its text if that stood before and the value is dropped.
    key: Option<(Option<String>, Place)>,
    /// The keys of a mapping so far, with their lines.
    keys: HashMap<String, usize>,
}

struct Builder<'a> {
    source: &'a Arc<Source>,
    diagnostics: &'a mut Diagnostics,
    stack: Vec<Frame>,
    root: Option<Node>,
    nodes: usize,
    ok: bool,
}

impl Builder<'_> {
    fn refuse(&mut self, span: Range<usize>, code: &'static str, message: &str, help: &str) -> bool {
        let place = Place { source: self.source.clone(), span };
        self.diagnostics.push(Diagnostic::error(code, &place, message.into()).help(help));
        self.ok = false;
        false
    }

    /// Takes one event; false ends the reading.
    fn event(&mut self, event: Event<'_>, span: Range<usize>) -> bool {
        let tagged = match &event {
            Event::Alias(_) => true,
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                *anchor > 0
            }
            _ => false,
        };
        if tagged {
            let help = "write the value out, or use `like:` or `extends:`, which say what they take over";
            return self.refuse(
                span,
                "yaml/anchor",
                "anchors and aliases (`&`, `*`) are not used in these files",
                help,
            );
        }
        if let Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) =
            &event
        {
            let help = "leave the tag out; quotes make a text of anything";
            return self.refuse(span, "yaml/tag", "tags (`!name`) are not used in these files", help);
        }
        let place = Place { source: self.source.clone(), span: span.clone() };
        match event {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                let kind = Kind::Scalar { text: text.into_owned(), plain };
                return self.add(Node { kind, place });
            }
            Event::SequenceStart(..) => return self.open(Node { kind: Kind::List(Vec::new()), place }),
            Event::MappingStart(..) => return self.open(Node { kind: Kind::Map(Vec::new()), place }),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(mut frame) = self.stack.pop() {
                    frame.node.place.span.end = frame.node.place.span.end.max(span.end);
                    return self.put(frame.node);
                }
            }
            Event::DocumentStart(_) if self.root.is_some() => {
                let help = "keep one document a file; `extends:` joins files";
                return self.refuse(span, "yaml/documents", "a second document starts here", help);
            }
            _ => {}
        }
        true
    }

    fn too_deep(&mut self, span: Range<usize>) -> bool {
        let message = format!("values are nested more than {MAX_DEPTH} deep");
        self.refuse(span, "yaml/depth", &message, "no element of an edition is that deep; is a bracket not closed?")
    }

    fn count(&mut self, place: &Place) -> bool {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("the file has more than {MAX_NODES} values");
            return self.refuse(place.span.clone(), "yaml/size", &message, "split it, or move data into a CSV file");
        }
        true
    }

    fn open(&mut self, node: Node) -> bool {
        if self.stack.len() >= MAX_DEPTH {
            return self.too_deep(node.place.span);
        }
        if let Some(Frame { node: Node { kind: Kind::Map(_), .. }, key: None, .. }) = self.stack.last() {
            let help = "keys are texts; put the value after a key and a colon";
            return self.refuse(node.place.span, "yaml/key", "a key is a list or a mapping", help);
        }
        let ok = self.count(&node.place);
        self.stack.push(Frame { node, key: None, keys: HashMap::new() });
        ok
    }

    fn add(&mut self, node: Node) -> bool {
        if !self.count(&node.place) {
            return false;
        }
        if let Some(Frame { node: Node { kind: Kind::Map(_), .. }, key: key @ None, keys }) = self.stack.last_mut() {
            let Kind::Scalar { text, .. } = node.kind else { return true };
            if text == "<<" {
                let help = "use `like:` or `extends:`, which say what they take over";
                return self.refuse(
                    node.place.span,
                    "yaml/merge",
                    "merge keys (`<<`) are not used in these files",
                    help,
                );
            }
            if let Some(line) = keys.get(&text) {
                let message = format!("the key `{text}` stands twice in the same mapping");
                let diagnostic = Diagnostic::error("yaml/duplicate-key", &node.place, message)
                    .help(format!("it already stands on line {line}; keep one of the two"));
                self.diagnostics.push(diagnostic);
                self.ok = false;
            } else {
                let line = self.source.line(node.place.span.start);
                keys.insert(text.clone(), line);
                *key = Some((Some(text), node.place));
                return true;
            }
            *key = Some((None, node.place));
            return true;
        }
        self.put(node)
    }

    fn put(&mut self, value: Node) -> bool {
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some(frame) => match &mut frame.node.kind {
                Kind::List(items) => items.push(value),
                Kind::Map(entries) => {
                    if let Some((Some(key), key_place)) = frame.key.take() {
                        entries.push(Entry { key, key_place, value });
                    }
                }
                Kind::Scalar { .. } => {}
            },
        }
        true
    }
}

/// Lays `over` on `base`: mappings are merged key by key, `null` removes a key, everything else is replaced. A text
/// laid on a mapping that has the key `is` replaces that key, so that a formula can be changed and its citation kept.
/// A mapping with `before: KEY` is inserted before that key of the mapping that it joins.
pub fn overlay(base: &Node, over: &Node) -> Node {
    match (&base.kind, &over.kind) {
        (Kind::Map(old), Kind::Map(new)) => {
            // The keys are looked up, not searched: a file may have thousands.
            let above: HashMap<&str, &Entry> = new.iter().map(|e| (e.key.as_str(), e)).collect();
            let below: HashSet<&str> = old.iter().map(|e| e.key.as_str()).collect();
            let mut entries: Vec<Entry> = Vec::with_capacity(old.len() + new.len());
            for entry in old {
                match above.get(entry.key.as_str()) {
                    None => entries.push(entry.clone()),
                    Some(over) if over.value.is_null() => {}
                    Some(over) => {
                        entries.push(Entry {
                            key: entry.key.clone(),
                            key_place: entry.key_place.clone(),
                            value: overlay(&entry.value, &over.value),
                        });
                    }
                }
            }
            for entry in new.iter().filter(|e| !e.value.is_null() && !below.contains(e.key.as_str())) {
                let before = entry.value.get("before").and_then(Node::text);
                let at = before.and_then(|b| entries.iter().position(|e| e.key == b));
                entries.insert(at.unwrap_or(entries.len()), entry.clone());
            }
            Node { kind: Kind::Map(entries), place: over.place.clone() }
        }
        (Kind::Map(old), Kind::Scalar { .. }) if old.iter().any(|e| e.key == "is") => {
            // Another formula needs another sentence; title and citation stay.
            let mut entries: Vec<Entry> = old.iter().filter(|e| e.key != "says").cloned().collect();
            for entry in &mut entries {
                if entry.key == "is" {
                    entry.value = over.clone();
                }
            }
            Node { kind: Kind::Map(entries), place: over.place.clone() }
        }
        _ => over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Option<Node>, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let source = Arc::new(Source::new("test.yaml", text));
        let node = parse(&source, &mut diagnostics);
        (node, diagnostics)
    }

    fn show(node: &Node) -> String {
        match &node.kind {
            Kind::Scalar { text, .. } => text.clone(),
            Kind::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
            Kind::Map(entries) => {
                let parts: Vec<String> = entries.iter().map(|e| format!("{}: {}", e.key, show(&e.value))).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    #[test]
    fn trees_and_places() {
        let (node, diagnostics) = read("a: § 1\nb: { c: [x, 'y z'], d: \"e\" }\n");
        let node = node.unwrap();
        assert!(diagnostics.is_empty());
        assert_eq!(show(&node), "{a: § 1, b: {c: [x, y z], d: e}}");
        let e = node.get("b").unwrap().get("d").unwrap();
        assert_eq!(&e.place.source.text[e.part(&(0..1)).span], "e");
        assert_eq!(e.place.source.line_column(e.place.span.start), (2, 24));
    }

    #[test]
    fn refused() {
        for (text, code) in [
            ("a: &x 1\nb: *x\n", "yaml/anchor"),
            ("a: !t 1\n", "yaml/tag"),
            ("a: 1\nb: 2\na: 3\n", "yaml/duplicate-key"),
            ("a: 1\n---\nb: 2\n", "yaml/documents"),
            ("", "yaml/empty"),
            ("a: [1, 2\n", "yaml/syntax"),
            ("a:\n\t- b\n", "yaml/syntax"),
            ("<<: {a: 1}\n", "yaml/merge"),
            ("? [a]\n: b\n", "yaml/key"),
        ] {
            let (_, diagnostics) = read(text);
            assert_eq!(diagnostics.iter().next().map(|d| d.code), Some(code), "{text:?}");
        }
        let (_, diagnostics) = read(&"[".repeat(200));
        assert_eq!(diagnostics.iter().next().map(|d| d.code), Some("yaml/depth"));
    }

    #[test]
    fn laying_one_on_the_other() {
        let merge = |a: &str, b: &str| show(&overlay(&read(a).0.unwrap(), &read(b).0.unwrap()));
        assert_eq!(merge("{a: 1, b: {c: 2, d: 3}}", "{b: {c: 4, d: null}, e: 5}"), "{a: 1, b: {c: 4}, e: 5}");
        assert_eq!(merge("{f: {is: x, cite: y}}", "{f: z}"), "{f: {is: z, cite: y}}");
        assert_eq!(merge("{a: {x: 1}, c: {x: 1}}", "{b: {before: c}}"), "{a: {x: 1}, b: {before: c}, c: {x: 1}}");
        assert_eq!(merge("{a: [1, 2]}", "{a: [3]}"), "{a: [3]}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "[a-c:{}\\[\\]\\-&*!'\"|> \n\t§#?,]{0,80}") {
            let (node, diagnostics) = read(&text);
            prop_assert!(node.is_some() || !diagnostics.is_empty());
        }
    }
}
