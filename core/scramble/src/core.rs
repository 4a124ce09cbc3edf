//! Keeping of the named assertions those in an unsatisfiable core.

use crate::options::Core;
use crate::reader::Reader;
use crate::tree::{Numbered, Ref, Shape, What};

/// The name that the first annotation with one gives, in the order in which the official tools look: the last part of a
/// node before the others, the annotated term before its annotations. None if that name is a list.
pub(crate) fn name_of(reader: &Reader<'_>, root: Ref, named: Ref) -> Option<Ref> {
    let mut waiting = vec![root];
    while let Some(part) = waiting.pop() {
        let What::Node(node) = part.what() else { continue };
        let (shape, from, to) = reader.tree.open(node);
        if shape != Shape::Annotated {
            waiting.extend((from..to).map(|at| reader.tree.part(at)));
            continue;
        }
        if let Some(name) = annotation(reader, node, named) {
            return (!matches!(name.1.what(), What::Node(_))).then_some(name.1);
        }
        waiting.push(reader.tree.part(from));
    }
    None
}

/// The first annotation of a term that names it: its place among the term's parts and the name.
pub(crate) fn annotation(reader: &Reader<'_>, term: usize, named: Ref) -> Option<(usize, Ref)> {
    let (shape, from, to) = reader.tree.open(term);
    if shape != Shape::Annotated {
        return None;
    }
    (from + 1..to).find_map(|at| {
        let What::Node(attribute) = reader.tree.part(at).what() else { return None };
        (reader.tree.first(attribute) == Some(named)).then(|| (at, reader.tree.part(attribute + 2)))
    })
}

/// The text of a word.
pub(crate) fn text(reader: &Reader<'_>, word: Ref) -> Vec<u8> {
    match word.what() {
        What::Word(symbol) | What::Name(symbol) => reader.lexer.symbols.text(symbol).to_vec(),
        What::Numbered(Numbered::X(number)) => format!("x{number}").into_bytes(),
        What::Numbered(Numbered::Y(number)) => format!("y{number}").into_bytes(),
        What::Node(_) => Vec::new(),
    }
}

/// Takes away the assertions that have a name which is not in the core.
pub(crate) fn filter(reader: &mut Reader<'_>, core: &Core, assert: Ref, named: Ref) {
    let mut kept = 0;
    for at in 0..reader.commands.len() {
        let command = Ref::from_bits(reader.commands[at]);
        let is_assert = matches!(command.what(), What::Node(node) if reader.tree.first(node) == Some(assert));
        let name = if is_assert { name_of(reader, command, named) } else { None };
        if name.is_none_or(|name| core.0.contains(&text(reader, name))) {
            reader.commands[kept] = command.bits();
            kept += 1;
        }
    }
    reader.commands.truncate(kept);
}
