//! Declarations of datatypes.

use rustc_hash::FxHashSet;

use super::Reader;
use crate::intern::Symbol;
use crate::lexer::Kind;
use crate::problem::{Class, Fault, shown};
use crate::script::{Datatype, Fun, Function, FunctionKind, SortDeclaration};
use crate::session::{SortBound, word};
use crate::sorts::{Sort, SortKind, SortName};

type Found<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// A new sort constructor, which a name stands for from here on.
    pub(super) fn new_sort(&mut self, name: Symbol, arity: u32, at: usize) -> Found<SortName> {
        let declared = self.s.script.sorts.declare(name);
        self.s.script.sort_declarations.push(SortDeclaration { name, arity, datatype: None });
        self.s.bind_sort(name, SortBound::Declared(declared), at)?;
        Ok(declared)
    }

    /// `name declaration`; values of infinite depth exist unless it is `inductive`.
    pub(super) fn declare_datatype(&mut self, inductive: bool) -> Found<SortName> {
        let token = self.next()?;
        let name = self.symbol_of(token, "the name of the datatype")?;
        let list = self.expect(Kind::Open, "the declaration of the datatype, `((constructor ...) ...)`")?;
        // The number of parameters is needed before the declaration is read: it stands in `par`.
        let mark = self.lexer.offset();
        let arity = self.par_length()?;
        self.lexer.set_offset(mark);
        let declared = self.new_sort(name, arity, token.start)?;
        self.datatype(declared, list.start)?;
        if inductive {
            self.well_founded(&[declared], token.start)?;
        }
        Ok(declared)
    }

    /// How many parameters `par (x y)` has, if that comes next; 0 if not.
    fn par_length(&mut self) -> Found<u32> {
        let token = self.next()?;
        if self.word(token) != Some(word::PAR) {
            return Ok(0);
        }
        self.expect(Kind::Open, "a list of sort parameters, `(X ...)`")?;
        let mut count = 0;
        while !self.at_close()? {
            let token = self.next()?;
            self.symbol_of(token, "a sort parameter (a symbol)")?;
            count += 1;
        }
        Ok(count)
    }

    /// `((name arity) ...) (declaration ...)`
    pub(super) fn declare_datatypes(&mut self, inductive: bool) -> Found<Box<[SortName]>> {
        self.expect(Kind::Open, "a list of datatypes, `((name arity) ...)`")?;
        let mut names = Vec::new();
        let mut places = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close if !names.is_empty() => break,
                Kind::Open => {
                    let name = self.next()?;
                    let symbol = self.symbol_of(name, "the name of a datatype")?;
                    let arity = self.next()?;
                    if arity.kind != Kind::Numeral {
                        return Err(self.unexpected(arity, "the number of parameters of the datatype"));
                    }
                    let arity = self.index(arity)?;
                    self.expect(Kind::Close, "`)` behind the number of parameters")?;
                    names.push(self.new_sort(symbol, arity, name.start)?);
                    places.push(name.start);
                }
                Kind::Close | Kind::Symbol | Kind::Quoted => {
                    // `(declare-datatypes () ((List ...)))` and `(declare-datatypes (T) ((List ...)))`.
                    if token.kind == Kind::Close || self.symbol_of(token, "").is_ok() {
                        let message = "extension of z3 and cvc4: datatypes as they were written before SMT-LIB 2.6 (now \
                                       `((name arity) ...)` comes first)";
                        return Err(Fault::new(Class::Extension, token.start, message));
                    }
                    return Err(self.unexpected(token, "a datatype, `(name arity)`"));
                }
                _ => return Err(self.unexpected(token, "a datatype, `(name arity)`")),
            }
        }
        self.expect(Kind::Open, "a list of declarations, one for each datatype")?;
        for (&name, &place) in names.iter().zip(&places) {
            let list = self.expect(Kind::Open, "the declaration of a datatype")?;
            let mark = self.lexer.offset();
            let count = self.par_length()?;
            self.lexer.set_offset(mark);
            let arity = self.s.script.sort_declarations[name.0 as usize].arity;
            if count != arity {
                let message =
                    format!("the datatype has {arity} parameters by its arity, but {count} in its declaration");
                return Err(Fault::new(Class::Sort, place, message));
            }
            self.datatype(name, list.start)?;
        }
        self.expect(Kind::Close, "`)` behind the declarations, of which there is one for each datatype")?;
        if inductive {
            self.well_founded(&names, places[0])?;
        }
        Ok(names.into())
    }

    /// The declaration of a datatype behind its `(`.
    fn datatype(&mut self, name: SortName, at: usize) -> Found<()> {
        let mark = self.lexer.offset();
        let first = self.next()?;
        let mut parameters = Vec::new();
        let with_parameters = self.word(first) == Some(word::PAR);
        if with_parameters {
            let open = self.expect(Kind::Open, "a list of sort parameters, `(X ...)`")?;
            parameters = self.sort_parameters()?;
            if parameters.is_empty() {
                return Err(Fault::new(Class::Syntax, open.start, "`par` needs a sort parameter"));
            }
            self.expect(Kind::Open, "the constructors, `((constructor ...) ...)`")?;
        } else {
            self.lexer.set_offset(mark);
        }
        let sorts: Box<[Sort]> = parameters.iter().map(|(_, sort, _)| *sort).collect();
        self.s.script.sort_declarations[name.0 as usize].datatype =
            Some(Datatype { parameters: sorts.clone(), constructors: Vec::new() });
        let result = self.s.script.sorts.apply(name, &sorts);
        let read = self.constructors(name, result, at);
        self.restore_parameters(parameters);
        read?;
        if with_parameters {
            self.expect(Kind::Close, "`)` behind the constructors")?;
        }
        Ok(())
    }

    /// Constructors up to the `)` of their list.
    fn constructors(&mut self, name: SortName, result: Sort, at: usize) -> Found<()> {
        let mut count = 0;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close if count > 0 => return Ok(()),
                Kind::Open => {}
                Kind::Close => return Err(Fault::new(Class::Syntax, at, "a datatype needs a constructor")),
                _ => return Err(self.unexpected(token, "a constructor, `(name (selector sort) ...)`")),
            }
            count += 1;
            let token = self.next()?;
            let constructor = self.symbol_of(token, "the name of a constructor")?;
            let mut selectors: Vec<(Symbol, Sort, usize)> = Vec::new();
            while !self.at_close()? {
                self.expect(Kind::Open, "a selector, `(name sort)`")?;
                let selector = self.next()?;
                let symbol = self.symbol_of(selector, "the name of a selector")?;
                let sort = self.sort()?;
                self.expect(Kind::Close, "`)` behind the sort of a selector")?;
                selectors.push((symbol, sort, selector.start));
            }
            let fun = self.s.declare(
                Function {
                    name: constructor,
                    parameters: selectors.iter().map(|(_, sort, _)| *sort).collect(),
                    result,
                    kind: FunctionKind::Constructor { datatype: name, selectors: Box::default() },
                },
                token.start,
            )?;
            let mut funs: Vec<Fun> = Vec::new();
            for (index, &(symbol, sort, place)) in selectors.iter().enumerate() {
                let kind = FunctionKind::Selector { constructor: fun, index: index as u32 };
                let function = Function { name: symbol, parameters: Box::new([result]), result: sort, kind };
                funs.push(self.s.declare(function, place)?);
            }
            if let FunctionKind::Constructor { selectors, .. } = &mut self.s.script.functions[fun.index()].kind {
                *selectors = funs.into();
            }
            if let Some(datatype) = &mut self.s.script.sort_declarations[name.0 as usize].datatype {
                datatype.constructors.push(fun);
            }
        }
    }

    /// Whether each datatype has a value of finite depth: a constructor all of whose arguments have one.
    fn well_founded(&mut self, names: &[SortName], at: usize) -> Found<()> {
        let script = &self.s.script;
        let mut waiting: Vec<SortName> = names.to_vec();
        let mut empty: FxHashSet<SortName> = names.iter().copied().collect();
        loop {
            let before = waiting.len();
            waiting.retain(|name| {
                let Some(datatype) = &script.sort_declaration(*name).datatype else { return false };
                let inhabited = datatype.constructors.iter().any(|&constructor| {
                    script.function(constructor).parameters.iter().all(|&sort| match script.sorts.kind(sort) {
                        SortKind::Declared(other, _) => !empty.contains(&other),
                        // The elements of an array and the values of a map must exist, its indices need not.
                        SortKind::Array(_, to) | SortKind::Map(_, to) => match script.sorts.kind(to) {
                            SortKind::Declared(other, _) => !empty.contains(&other),
                            _ => true,
                        },
                        _ => true,
                    })
                });
                if inhabited {
                    empty.remove(name);
                }
                !inhabited
            });
            if waiting.len() == before {
                break;
            }
        }
        match waiting.first() {
            None => Ok(()),
            Some(name) => {
                let name = shown(script.symbols.bytes(script.sort_declaration(*name).name));
                Err(Fault::new(
                    Class::Sort,
                    at,
                    format!("the datatype {name} has no value: every constructor needs one first"),
                ))
            }
        }
    }
}
