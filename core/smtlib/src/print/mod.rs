//! Writing scripts and terms in the concrete syntax, so that reading gives the same graph again.
//!
//! A term that occurs twice is written once, in a `let`. Which `let` depends on the variables that are free in it: the one
//! around the whole, or around the body of the innermost quantifier that binds one of them. A variable whose name is bound
//! again further inside gets another name by a `let`, where it is needed there.

mod command;
mod free;

use rustc_hash::FxHashSet;

use crate::builtin::Builtin;
use crate::intern::Symbol;
use crate::lexer::Strings;
use crate::script::{FunctionKind, Script};
use crate::terms::{Attribute, Binder, Head, Qualified, Term};
use free::Free;

/// Writes a symbol, quoted if it must be.
pub(crate) fn write_symbol(name: &[u8], out: &mut Vec<u8>) {
    if crate::lexer::is_simple(name) && !crate::session::is_reserved_word(name) && name != b"lambda" {
        out.extend_from_slice(name);
    } else {
        out.push(b'|');
        out.extend_from_slice(name);
        out.push(b'|');
    }
}

/// What is still to be written.
enum Work {
    Term(Term),
    /// A term whose name is what it is being written for.
    Definition(Term),
    Bytes(&'static [u8]),
    Symbol(Symbol),
    Name(u32),
    /// The body of what binds variables, with the `let`s that belong there.
    Region(Term),
    /// Names that are valid no longer.
    Forget(Vec<Term>),
    /// So many `)`.
    Close(usize),
    Attribute(Symbol, Option<Symbol>),
}

/// Writes the terms and commands of a script.
pub struct Printer<'a> {
    script: &'a Script,
    strings: Strings,
    free: Free,
    /// Of each term: the last round in which it was seen, how many terms it is an argument of, and its name (0: none).
    round: u32,
    seen: Vec<u32>,
    uses: Vec<u32>,
    names: Vec<u32>,
    next_name: u32,
    /// What names begin with: no function and no variable of the script does.
    prefix: Vec<u8>,
    /// Variables and constants that need another name.
    aliases: FxHashSet<Term>,
    functions: FxHashSet<Symbol>,
    /// Whether names must come in the order of their terms, because a `:named` term is used in the same command.
    ordered: bool,
    /// How deep a term's own names are nested, where a group of names can be bound by one `let`.
    heights: Vec<u32>,
}

impl<'a> Printer<'a> {
    /// A printer for a script. String literals are written as in 2.6 (in a script that states version 2.0, as there).
    pub fn new(script: &'a Script) -> Self {
        let count = script.terms.len();
        let mut prefix = b"l".to_vec();
        let names = || script.functions.iter().map(|f| f.name).chain(script.terms.variable_names());
        let clash = |prefix: &[u8]| {
            names().any(|name| {
                let rest = script.symbols.bytes(name).strip_prefix(prefix);
                rest.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
            })
        };
        while clash(&prefix) {
            prefix.push(b'_');
        }
        Self {
            script,
            strings: script.version.map_or(Strings::Doubled, crate::session::Version::strings),
            free: Free::new(&script.terms),
            round: 0,
            seen: vec![0; count],
            uses: vec![0; count],
            names: vec![0; count],
            next_name: 0,
            prefix,
            aliases: FxHashSet::default(),
            functions: script.functions.iter().map(|f| f.name).collect(),
            ordered: false,
            heights: vec![0; count],
        }
    }

    /// Writes a term.
    pub fn term(&mut self, root: Term, out: &mut Vec<u8>) {
        let reached = self.survey(root);
        let mut work = Vec::new();
        let named = self.root_names(root, &reached);
        self.open_region(root, named, &mut work);
        while let Some(step) = work.pop() {
            match step {
                Work::Bytes(bytes) => out.extend_from_slice(bytes),
                Work::Symbol(symbol) => write_symbol(self.script.symbols.bytes(symbol), out),
                Work::Name(name) => self.write_name(name, out),
                Work::Close(count) => out.resize(out.len() + count, b')'),
                Work::Forget(terms) => terms.iter().for_each(|t| self.names[t.index()] = 0),
                Work::Attribute(keyword, value) => {
                    out.push(b' ');
                    out.extend_from_slice(self.script.symbols.bytes(keyword));
                    if let Some(value) = value {
                        out.push(b' ');
                        out.extend_from_slice(self.script.symbols.bytes(value));
                    }
                }
                Work::Region(binder) => {
                    let named = self.region_names(binder);
                    if let Some(&body) = self.script.terms.arguments(binder).last() {
                        self.open_region(body, named, &mut work);
                    }
                }
                Work::Term(term) => match self.names[term.index()] {
                    0 => self.expand(term, &mut work, out),
                    name => self.write_name(name, out),
                },
                Work::Definition(term) => self.expand(term, &mut work, out),
            }
        }
        self.aliases.clear();
    }

    fn write_name(&self, name: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(name.to_string().as_bytes());
    }

    /// All terms below a root in the order of their numbers, with how often each is used.
    fn survey(&mut self, root: Term) -> Vec<Term> {
        self.round += 1;
        self.next_name = 0;
        let terms = &self.script.terms;
        let mut reached = vec![root];
        self.seen[root.index()] = self.round;
        self.uses[root.index()] = 1;
        let mut at = 0;
        while let Some(&term) = reached.get(at) {
            at += 1;
            for &argument in terms.arguments(term) {
                let slot = argument.index();
                if self.seen[slot] == self.round {
                    self.uses[slot] += 1;
                } else {
                    self.seen[slot] = self.round;
                    self.uses[slot] = 1;
                    reached.push(argument);
                }
            }
        }
        reached.sort_unstable();
        self.free.find(&reached, self.script);
        self.find_aliases(&reached);
        self.find_order(&reached);
        reached
    }

    /// Variables that are used where their name is bound again, and constants that have the name of a variable.
    fn find_aliases(&mut self, reached: &[Term]) {
        if self.free.is_closed() {
            return;
        }
        let terms = &self.script.terms;
        let mut hidden: FxHashSet<Symbol> = FxHashSet::default();
        for &term in reached {
            let variables = match terms.head(term) {
                Head::Binder(_) | Head::Case(_) => &terms.arguments(term)[..terms.arguments(term).len() - 1],
                _ => continue,
            };
            for &variable in variables {
                if let Head::Variable(v) = terms.head(variable) {
                    if self.functions.contains(&v.name) {
                        hidden.insert(v.name);
                    }
                    if v.level > 0 {
                        let free = self.free.variables_named(term, v.name, terms);
                        self.aliases.extend(free);
                    }
                }
            }
        }
        if !hidden.is_empty() {
            for &term in reached {
                if let Head::Function(fun) | Head::FunctionValue(fun) = terms.head(term)
                    && terms.arguments(term).is_empty()
                    && hidden.contains(&self.script.function(fun).name)
                {
                    self.aliases.insert(term);
                }
            }
        }
    }

    /// Whether a term's name (`:named`) is used below the same root.
    fn find_order(&mut self, reached: &[Term]) {
        let terms = &self.script.terms;
        self.ordered = reached.iter().any(|&term| match terms.head(term) {
            Head::Function(fun) => match self.script.function(fun).kind {
                FunctionKind::Named(named) => self.seen[named.index()] == self.round,
                _ => false,
            },
            _ => false,
        });
        if self.ordered {
            return;
        }
        for &term in reached {
            let arguments = terms.arguments(term);
            let height = arguments.iter().map(|a| self.heights[a.index()] + u32::from(self.wants_name(*a))).max();
            self.heights[term.index()] = height.unwrap_or(0);
        }
    }

    /// Whether a term is to be written as a name.
    fn wants_name(&self, term: Term) -> bool {
        if self.script.terms.arguments(term).is_empty() {
            return self.aliases.contains(&term);
        }
        match self.script.terms.head(term) {
            Head::Case(_) => false,
            Head::Annotated(list) if self.ordered && list.iter().any(|a| matches!(a, Attribute::Named(_))) => true,
            _ => self.uses[term.index()] > 1,
        }
    }

    fn root_names(&self, root: Term, reached: &[Term]) -> Vec<Term> {
        let named = |t: &&Term| **t != root && self.wants_name(**t) && self.free.within(**t, root);
        reached.iter().filter(named).copied().collect()
    }

    /// The terms that get a name in the body of a binder: those that depend on its variables and on none that are bound
    /// further inside.
    fn region_names(&mut self, binder: Term) -> Vec<Term> {
        let terms = &self.script.terms;
        let Some(&body) = terms.arguments(binder).last() else { return Vec::new() };
        let mut found = Vec::new();
        let mut visited = FxHashSet::default();
        let mut waiting = vec![body];
        while let Some(term) = waiting.pop() {
            if !self.free.depends(term, binder, terms) || !visited.insert(term) {
                continue;
            }
            if term != body && self.wants_name(term) && self.free.within(term, body) {
                found.push(term);
            }
            waiting.extend_from_slice(terms.arguments(term));
        }
        found.sort_unstable();
        found
    }

    /// What is to be written for a term with the names that are bound around it.
    fn open_region(&mut self, body: Term, named: Vec<Term>, work: &mut Vec<Work>) {
        // A body that is known further outside has a name already.
        let whole = if self.names[body.index()] == 0 { Work::Definition(body) } else { Work::Term(body) };
        if named.is_empty() {
            work.push(whole);
            return;
        }
        let mut groups: Vec<Vec<Term>> = Vec::new();
        if self.ordered {
            groups.extend(named.iter().map(|t| vec![*t]));
        } else {
            let mut sorted = named.clone();
            sorted.sort_by_key(|t| self.heights[t.index()]);
            for term in sorted {
                match groups.last_mut() {
                    Some(group) if self.heights[group[0].index()] == self.heights[term.index()] => group.push(term),
                    _ => groups.push(vec![term]),
                }
            }
        }
        work.push(Work::Forget(named));
        work.push(Work::Close(groups.len()));
        work.push(whole);
        // What is written last is pushed first.
        for group in groups.iter().rev() {
            work.push(Work::Bytes(b") "));
            for (at, &term) in group.iter().enumerate().rev() {
                self.next_name += 1;
                self.names[term.index()] = self.next_name;
                work.push(Work::Bytes(b")"));
                work.push(Work::Definition(term));
                work.push(Work::Bytes(b" "));
                work.push(Work::Name(self.next_name));
                work.push(Work::Bytes(if at == 0 { b"(" } else { b" (" }));
            }
            work.push(Work::Bytes(b"(let ("));
        }
    }

    /// Writes the beginning of a term and leaves the rest to be done.
    fn expand(&mut self, term: Term, work: &mut Vec<Work>, out: &mut Vec<u8>) {
        let script = self.script;
        let terms = &script.terms;
        let arguments = terms.arguments(term);
        let symbol = |symbol: Symbol, out: &mut Vec<u8>| write_symbol(script.symbols.bytes(symbol), out);
        let application = !arguments.is_empty();
        match terms.head(term) {
            Head::Numeral(s) | Head::Decimal(s) => out.extend_from_slice(script.symbols.bytes(s)),
            Head::Hex(s) => {
                out.extend_from_slice(b"#x");
                out.extend_from_slice(script.symbols.bytes(s));
            }
            Head::Binary(s) => {
                out.extend_from_slice(b"#b");
                out.extend_from_slice(script.symbols.bytes(s));
            }
            Head::String(s) => write_string(script.symbols.bytes(s), self.strings, out),
            Head::Variable(variable) if script.symbols.bytes(variable.name) == b"_" => out.push(b'_'),
            Head::Variable(variable) => symbol(variable.name, out),
            Head::Binder(binder) => {
                out.extend_from_slice(match binder {
                    Binder::Forall => b"(forall (",
                    Binder::Exists => b"(exists (",
                    Binder::Lambda => b"(lambda (",
                });
                for (at, &variable) in arguments[..arguments.len() - 1].iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"(" } else { b" (" });
                    if let Head::Variable(v) = terms.head(variable) {
                        symbol(v.name, out);
                    }
                    out.push(b' ');
                    script.sorts.write(terms.sort(variable), &script.symbols, out);
                    out.push(b')');
                }
                out.extend_from_slice(b") ");
                work.extend([Work::Close(1), Work::Region(term)]);
            }
            Head::Case(constructor) => {
                let variables = &arguments[..arguments.len() - 1];
                out.push(b'(');
                let list = constructor.is_some() && !variables.is_empty();
                if list {
                    out.push(b'(');
                }
                if let Some(fun) = constructor {
                    write_symbol(script.name(fun), out);
                } else if variables.is_empty() {
                    out.push(b'_');
                }
                for (at, &variable) in variables.iter().enumerate() {
                    if at > 0 || list {
                        out.push(b' ');
                    }
                    if let Head::Variable(v) = terms.head(variable) {
                        match script.symbols.bytes(v.name) {
                            b"_" => out.push(b'_'),
                            _ => symbol(v.name, out),
                        }
                    }
                }
                out.extend_from_slice(if list { b") " } else { b" " });
                work.extend([Work::Close(1), Work::Region(term)]);
            }
            Head::Match => {
                out.extend_from_slice(b"(match ");
                work.push(Work::Close(2));
                for (at, &case) in arguments[1..].iter().enumerate().rev() {
                    work.push(Work::Term(case));
                    work.push(Work::Bytes(if at == 0 { b" (" } else { b" " }));
                }
                work.push(Work::Term(arguments[0]));
            }
            Head::Annotated(attributes) => {
                out.extend_from_slice(b"(! ");
                work.push(Work::Close(1));
                let mut left = arguments.len();
                for attribute in attributes.iter().rev() {
                    match *attribute {
                        Attribute::Named(name) => work.extend([Work::Symbol(name), Work::Bytes(b" :named ")]),
                        Attribute::Other(keyword, value) => work.push(Work::Attribute(keyword, value)),
                        Attribute::NoPattern => {
                            left -= 1;
                            work.extend([Work::Term(arguments[left]), Work::Bytes(b" :no-pattern ")]);
                        }
                        Attribute::Pattern(count) => {
                            work.push(Work::Bytes(b")"));
                            for number in (0..count as usize).rev() {
                                left -= 1;
                                work.push(Work::Term(arguments[left]));
                                if number > 0 {
                                    work.push(Work::Bytes(b" "));
                                }
                            }
                            work.push(Work::Bytes(b" :pattern ("));
                        }
                    }
                }
                work.push(Work::Term(arguments[0]));
            }
            head => {
                if application {
                    out.push(b'(');
                    work.push(Work::Close(1));
                    for &argument in arguments.iter().rev() {
                        work.extend([Work::Term(argument), Work::Bytes(b" ")]);
                    }
                }
                match head {
                    Head::Builtin(builtin) => out.extend_from_slice(builtin.name().as_bytes()),
                    Head::Indexed(qualified) => self.write_qualified(qualified, out),
                    Head::FunctionAs(fun, sort) => {
                        out.extend_from_slice(b"(as ");
                        write_symbol(script.name(fun), out);
                        out.push(b' ');
                        script.sorts.write(sort, &script.symbols, out);
                        out.push(b')');
                    }
                    Head::Function(fun) | Head::FunctionValue(fun) => write_symbol(script.name(fun), out),
                    _ => {}
                }
            }
        }
    }

    fn write_qualified(&self, head: &Qualified, out: &mut Vec<u8>) {
        let script = self.script;
        let text = head.symbol().map_or(&b""[..], |s| script.symbols.bytes(s));
        let function = |out: &mut Vec<u8>| head.function().iter().for_each(|f| write_symbol(script.name(*f), out));
        let sort = |out: &mut Vec<u8>| {
            out.push(b' ');
            if let Some(sort) = head.sort {
                script.sorts.write(sort, &script.symbols, out);
            }
        };
        match head.base {
            Builtin::BvLiteral => {
                out.extend_from_slice(b"(_ bv");
                out.extend_from_slice(text);
                out.extend_from_slice(format!(" {}", head.indices[1]).as_bytes());
            }
            Builtin::Char => {
                out.extend_from_slice(b"(_ char #x");
                out.extend_from_slice(text);
            }
            Builtin::Is => {
                out.extend_from_slice(b"(_ is ");
                function(out);
            }
            Builtin::AsArray => {
                out.extend_from_slice(b"(_ as-array ");
                function(out);
            }
            Builtin::AbstractValue => {
                out.extend_from_slice(b"(as ");
                write_symbol(text, out);
                sort(out);
            }
            Builtin::Const => {
                out.extend_from_slice(b"(as const");
                sort(out);
            }
            base => {
                out.extend_from_slice(b"(_ ");
                out.extend_from_slice(base.name().as_bytes());
                for index in &head.indices {
                    out.extend_from_slice(format!(" {index}").as_bytes());
                }
            }
        }
        out.push(b')');
    }
}

fn write_string(text: &[u8], strings: Strings, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match (byte, strings) {
            (b'"', Strings::Doubled) => out.push(b'"'),
            (b'"' | b'\\', Strings::Backslash) => out.push(b'\\'),
            _ => {}
        }
        out.push(byte);
    }
    out.push(b'"');
}
