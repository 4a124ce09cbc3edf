//! Reading sorts.

use super::Reader;
use crate::builtin::Theory;
use crate::intern::Symbol;
use crate::lexer::{Kind, Token};
use crate::problem::{Class, Fault, shown};
use crate::session::{SortBound, word};
use crate::sorts::{Sort, SortKind, SortName};

type Found<T> = Result<T, Fault>;

#[derive(Clone)]
enum Head {
    Array,
    Map,
    Declared(SortName),
    Defined(Symbol),
}

struct Open {
    head: Head,
    base: usize,
    at: usize,
}

/// The theory that a sort without arguments is of.
fn builtin(name: &[u8]) -> Option<(Theory, Sort)> {
    Some(match name {
        b"Bool" => (Theory::Core, Sort::BOOL),
        b"Int" => (Theory::Ints, Sort::INT),
        b"Real" => (Theory::Reals, Sort::REAL),
        b"String" => (Theory::Strings, Sort::STRING),
        b"RegLan" => (Theory::Strings, Sort::REGLAN),
        b"RoundingMode" => (Theory::FloatingPoint, Sort::ROUNDING_MODE),
        _ => return None,
    })
}

/// The floating-point sorts that have a name.
fn float(name: &[u8]) -> Option<(u32, u32)> {
    Some(match name {
        b"Float16" => (5, 11),
        b"Float32" => (8, 24),
        b"Float64" => (11, 53),
        b"Float128" => (15, 113),
        _ => return None,
    })
}

/// The theory that has a sort of this name, if one has.
pub(crate) fn theory_of(name: &[u8]) -> Option<Theory> {
    match name {
        b"Array" => Some(Theory::Arrays),
        b"BitVec" => Some(Theory::BitVectors),
        b"FloatingPoint" => Some(Theory::FloatingPoint),
        b"->" => Some(Theory::Maps),
        _ if float(name).is_some() => Some(Theory::FloatingPoint),
        _ => builtin(name).map(|(theory, _)| theory),
    }
}

impl Reader<'_, '_> {
    /// The next sort.
    pub(super) fn sort(&mut self) -> Found<Sort> {
        let mut open: Vec<Open> = Vec::new();
        let mut values: Vec<Sort> = Vec::new();
        loop {
            let token = self.next()?;
            let sort = match token.kind {
                Kind::Symbol | Kind::Quoted => self.simple_sort(token)?,
                Kind::Open => {
                    let head = self.next()?;
                    if self.word(head) == Some(word::UNDERSCORE) {
                        self.indexed_sort()?
                    } else {
                        let head_of = self.sort_head(head)?;
                        open.push(Open { head: head_of, base: values.len(), at: head.start });
                        continue;
                    }
                }
                Kind::Close => match open.pop() {
                    Some(Open { head, base, at }) if values.len() > base => {
                        let sort = self.apply_sort(&head, &values[base..], at)?;
                        values.truncate(base);
                        sort
                    }
                    _ => return Err(self.unexpected(token, "a sort")),
                },
                _ => return Err(self.unexpected(token, "a sort")),
            };
            if open.is_empty() {
                return Ok(sort);
            }
            values.push(sort);
        }
    }

    fn simple_sort(&mut self, token: Token) -> Found<Sort> {
        let symbol = self.symbol_of(token, "a sort")?;
        let name = token.name(self.text);
        let at = token.start;
        match self.s.sort_bound.get(&symbol).cloned() {
            Some(SortBound::Parameter(sort)) => return Ok(sort),
            Some(SortBound::Declared(declared)) => return self.apply_sort(&Head::Declared(declared), &[], at),
            Some(SortBound::Defined(..)) => return self.apply_sort(&Head::Defined(symbol), &[], at),
            None => {}
        }
        if let Some((theory, sort)) = builtin(name) {
            self.allow_sort(theory, sort, at)?;
            return Ok(sort);
        }
        if let Some((e, s)) = float(name) {
            self.allow_sort(Theory::FloatingPoint, Sort::ROUNDING_MODE, at)?;
            return Ok(self.s.script.sorts.intern(SortKind::FloatingPoint(e, s)));
        }
        Err(self.unknown_sort(name, at))
    }

    fn unknown_sort(&self, name: &[u8], at: usize) -> Fault {
        if let Some(of) = crate::extension::sort(name) {
            return Fault::new(Class::Extension, at, format!("extension of {of}: the sort {}", shown(name)));
        }
        let message = match name {
            b"Array" | b"->" => format!("the sort {} needs arguments", shown(name)),
            b"BitVec" | b"FloatingPoint" => format!("the sort {} needs indices", shown(name)),
            _ => format!("the sort {} is not declared", shown(name)),
        };
        Fault::new(Class::Scope, at, message)
    }

    fn sort_head(&mut self, token: Token) -> Found<Head> {
        let symbol = self.symbol_of(token, "the name of a sort, or `_`")?;
        let name = token.name(self.text);
        match self.s.sort_bound.get(&symbol) {
            Some(SortBound::Declared(declared)) => return Ok(Head::Declared(*declared)),
            Some(SortBound::Defined(..)) => return Ok(Head::Defined(symbol)),
            Some(SortBound::Parameter(_)) => {
                let message = format!("the sort {} takes no arguments", shown(name));
                return Err(Fault::new(Class::Sort, token.start, message));
            }
            None => {}
        }
        match name {
            b"Array" => {
                self.allow_sort(Theory::Arrays, Sort::BOOL, token.start)?;
                Ok(Head::Array)
            }
            b"->" => {
                self.allow_sort(Theory::Maps, Sort::BOOL, token.start)?;
                Ok(Head::Map)
            }
            _ => match theory_of(name) {
                Some(_) => {
                    let message = format!("the sort {} takes no arguments", shown(name));
                    Err(Fault::new(Class::Sort, token.start, message))
                }
                None => Err(self.unknown_sort(name, token.start)),
            },
        }
    }

    fn apply_sort(&mut self, head: &Head, arguments: &[Sort], at: usize) -> Found<Sort> {
        let count = arguments.len();
        let wrong = |name: &[u8], wanted: usize| {
            let message = format!(
                "the sort {} takes {wanted} argument{}, but has {count}",
                shown(name),
                if wanted == 1 { "" } else { "s" }
            );
            Err(Fault::new(Class::Sort, at, message))
        };
        let script = &mut self.s.script;
        match head {
            Head::Array => match *arguments {
                [from, to] => Ok(script.sorts.intern(SortKind::Array(from, to))),
                _ => wrong(b"Array", 2),
            },
            Head::Map => {
                let [from @ .., last] = arguments else { return wrong(b"->", 2) };
                if from.is_empty() {
                    return wrong(b"->", 2);
                }
                let mut sort = *last;
                for &from in from.iter().rev() {
                    sort = script.sorts.intern(SortKind::Map(from, sort));
                }
                Ok(sort)
            }
            Head::Declared(name) => {
                let declaration = &script.sort_declarations[name.0 as usize];
                if declaration.arity as usize != count {
                    return wrong(script.symbols.bytes(declaration.name), declaration.arity as usize);
                }
                Ok(script.sorts.apply(*name, arguments))
            }
            Head::Defined(symbol) => match self.s.sort_bound.get(symbol) {
                Some(SortBound::Defined(parameters, body)) => {
                    if parameters.len() != count {
                        return wrong(script.symbols.bytes(*symbol), parameters.len());
                    }
                    let given: Vec<(Sort, Sort)> = parameters.iter().copied().zip(arguments.iter().copied()).collect();
                    Ok(script.sorts.instantiate(*body, &given))
                }
                _ => Ok(Sort::BOOL),
            },
        }
    }

    /// Behind `(_`.
    fn indexed_sort(&mut self) -> Found<Sort> {
        let token = self.next()?;
        self.symbol_of(token, "the name of a sort")?;
        let name = token.name(self.text);
        let at = token.start;
        let mut numbers = Vec::new();
        loop {
            let index = self.next()?;
            match index.kind {
                Kind::Close if !numbers.is_empty() => break,
                Kind::Numeral if matches!(name, b"BitVec" | b"FloatingPoint") => numbers.push(self.index(index)?),
                Kind::Numeral => numbers.push(0),
                Kind::Symbol | Kind::Quoted | Kind::Hex => {
                    self.symbol_or_hex(index)?;
                    numbers.push(u32::MAX);
                }
                _ => return Err(self.unexpected(index, "an index of a sort")),
            }
        }
        match (name, &numbers[..]) {
            (b"BitVec", &[width]) => {
                if width == 0 || u64::from(width) > crate::check::WIDTH_LIMIT {
                    let message = format!("there is no bit-vector of {width} bits: the width must be 1 or more");
                    return Err(Fault::new(Class::Sort, at, message));
                }
                self.allow_sort(Theory::BitVectors, Sort::BOOL, at)?;
                Ok(self.s.script.sorts.bit_vector(width))
            }
            (b"FloatingPoint", &[e, s]) => {
                if e < 2 || s < 2 || u64::from(e) + u64::from(s) > crate::check::WIDTH_LIMIT {
                    let message = format!("there is no sort (_ FloatingPoint {e} {s}): both numbers must be 2 or more");
                    return Err(Fault::new(Class::Sort, at, message));
                }
                self.allow_sort(Theory::FloatingPoint, Sort::BOOL, at)?;
                Ok(self.s.script.sorts.intern(SortKind::FloatingPoint(e, s)))
            }
            (b"BitVec" | b"FloatingPoint", _) => {
                Err(Fault::new(Class::Sort, at, format!("the sort {} has another number of indices", shown(name))))
            }
            _ => Err(self.unknown_sort(name, at)),
        }
    }

    fn symbol_or_hex(&mut self, token: Token) -> Found<()> {
        if token.kind != Kind::Hex {
            self.symbol_of(token, "an index of a sort")?;
        }
        Ok(())
    }

    /// Sorts up to the `)` of their list, whose `(` comes next.
    pub(super) fn sort_list(&mut self) -> Found<Vec<Sort>> {
        self.expect(Kind::Open, "a list of sorts, `(sort ...)`")?;
        let mut sorts = Vec::new();
        while !self.at_close()? {
            sorts.push(self.sort()?);
        }
        Ok(sorts)
    }

    /// Symbols up to the `)` of their list, as sort parameters that are bound until they are restored.
    pub(super) fn sort_parameters(&mut self) -> Found<Vec<(Symbol, Sort, Option<SortBound>)>> {
        let mut parameters: Vec<(Symbol, Sort, Option<SortBound>)> = Vec::new();
        while !self.at_close()? {
            let token = self.next()?;
            let symbol = self.symbol_of(token, "a sort parameter (a symbol) or `)`")?;
            if parameters.iter().any(|(s, ..)| *s == symbol) {
                let name = shown(token.name(self.text));
                self.restore_parameters(parameters);
                return Err(Fault::new(Class::Scope, token.start, format!("the sort parameter {name} is bound twice")));
            }
            let sort = self.s.script.sorts.intern(SortKind::Parameter(symbol));
            let old = self.s.sort_bound.insert(symbol, SortBound::Parameter(sort));
            parameters.push((symbol, sort, old));
        }
        Ok(parameters)
    }

    pub(super) fn restore_parameters(&mut self, parameters: Vec<(Symbol, Sort, Option<SortBound>)>) {
        for (symbol, _, old) in parameters.into_iter().rev() {
            self.s.restore_sort(symbol, old);
        }
    }
}
