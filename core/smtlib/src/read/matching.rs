//! The cases of `match`.

use super::Reader;
use super::term::Step;
use crate::intern::Symbol;
use crate::lexer::Kind;
use crate::problem::{Class, Fault, shown};
use crate::script::{Fun, FunctionKind};
use crate::session::{Bound, Version, word};
use crate::sorts::{Sort, SortKind};
use crate::terms::{Head, Op, Term};

type Found<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// The constructor that a name stands for here.
    fn constructor(&self, name: Symbol) -> Option<Fun> {
        let fun = match self.s.bound(name) {
            Bound::Function(fun) => fun,
            Bound::Constant(term) => match self.s.script.terms.head(term) {
                Head::Function(fun) => fun,
                _ => return None,
            },
            _ => return None,
        };
        matches!(self.s.script.function(fun).kind, FunctionKind::Constructor { .. }).then_some(fun)
    }

    /// The pattern of a case, behind its `(`; the value that is matched is the first of the frame. Variables are bound, and
    /// pushed behind a number that says which constructor it is: the place for the case that is being read.
    pub(super) fn case_pattern(&mut self, base: usize) -> Found<()> {
        let value = self.s.values[base];
        let sort = self.s.script.terms.sort(value);
        let token = self.next()?;
        let mark = self.s.locals.len() as u32;
        let first = self.s.values.len();
        let constructor = match token.kind {
            Kind::Open => {
                let name = self.next()?;
                let symbol = self.symbol_of(name, "a constructor")?;
                let Some(fun) = self.constructor(symbol) else {
                    let text = shown(name.name(self.text));
                    return Err(Fault::new(
                        Class::Scope,
                        name.start,
                        format!("{text} is no constructor of a datatype"),
                    ));
                };
                let parameters = self.fields(fun, sort, name.start)?;
                let mut variables: Vec<(Symbol, Sort)> = Vec::new();
                loop {
                    let token = self.next()?;
                    if token.kind == Kind::Close && !variables.is_empty() {
                        break;
                    }
                    let (place, wildcard) = (token.start, self.word(token) == Some(word::UNDERSCORE));
                    if wildcard && self.s.options.version.is_some_and(|v| v < Version::V2_7) {
                        return Err(self.unexpected(token, "a variable (`_` is one since 2.7 only)"));
                    }
                    let symbol = if wildcard {
                        word::UNDERSCORE
                    } else {
                        let symbol = self.symbol_of(token, "a variable of the pattern")?;
                        self.s.free_variable(symbol, place)?;
                        symbol
                    };
                    if !wildcard && variables.iter().any(|(n, _)| *n == symbol) {
                        let text = shown(token.name(self.text));
                        return Err(Fault::new(Class::Scope, place, format!("the variable {text} is bound twice")));
                    }
                    variables.push((symbol, parameters.get(variables.len()).copied().unwrap_or(Sort::BOOL)));
                }
                if variables.len() != parameters.len() {
                    let message = format!(
                        "the constructor {} has {} arguments, but the pattern {}",
                        shown(name.name(self.text)),
                        parameters.len(),
                        variables.len()
                    );
                    return Err(Fault::new(Class::Sort, name.start, message));
                }
                let terms = self.bind_variables(&variables);
                self.s.values.extend(terms);
                Some(fun)
            }
            _ if self.word(token) == Some(word::UNDERSCORE) => {
                if self.s.options.version.is_some_and(|v| v < Version::V2_7) {
                    return Err(self.unexpected(token, "a pattern (`_` is one since 2.7 only)"));
                }
                None
            }
            _ => {
                let symbol = self.symbol_of(token, "a pattern: a symbol, or a constructor with variables")?;
                match self.constructor(symbol) {
                    Some(fun) => {
                        if !self.fields(fun, sort, token.start)?.is_empty() {
                            let text = shown(token.name(self.text));
                            let message = format!(
                                "the constructor {text} has arguments: write `({} x ...)`",
                                text.trim_matches('`')
                            );
                            return Err(Fault::new(Class::Sort, token.start, message));
                        }
                        Some(fun)
                    }
                    None => {
                        self.s.free_variable(symbol, token.start)?;
                        let terms = self.bind_variables(&[(symbol, sort)]);
                        self.s.values.extend(terms);
                        None
                    }
                }
            }
        };
        // The case is a frame of its own, so that its values are known when it ends.
        self.s.names.push((Symbol(constructor.map_or(0, |f| f.0 + 1)), first));
        if let Some(frame) = self.s.frames.last_mut() {
            frame.step = Step::CaseBody(mark);
        }
        Ok(())
    }

    /// The sorts of a constructor's arguments, where its datatype is the sort that is matched.
    fn fields(&mut self, fun: Fun, sort: Sort, at: usize) -> Found<Vec<Sort>> {
        let script = &mut self.s.script;
        let (result, parameters) = (script.function(fun).result, script.function(fun).parameters.clone());
        let mut given = Vec::new();
        if !script.sorts.matches(result, sort, &mut given) {
            let (name, text) = (shown(script.name(fun)), script.sorts.text(sort, &script.symbols));
            let message = format!("{name} is no constructor of the sort {text}, which is matched here");
            return Err(Fault::new(Class::Sort, at, message));
        }
        Ok(parameters.iter().map(|&p| script.sorts.instantiate(p, &given)).collect())
    }

    /// The end of a case, and perhaps of the whole.
    pub(super) fn case_end(&mut self, value: Term, base: usize, mark: usize, at: usize) -> Found<Option<Term>> {
        self.expect(Kind::Close, "`)` behind the term of a case")?;
        self.s.undo_locals(mark);
        let Some((constructor, first)) = self.s.names.pop() else {
            return Err(Fault::new(Class::Syntax, at, "a case without a pattern"));
        };
        let op = Op::case(constructor.0.checked_sub(1).map(Fun));
        self.s.values.push(value);
        let sort = self.s.script.terms.sort(value);
        let case = self.s.script.terms.make(op, &self.s.values[first..], sort);
        self.s.values.truncate(first);
        self.s.values.push(case);
        let token = self.next()?;
        match token.kind {
            Kind::Open => {
                self.case_pattern(base)?;
                return Ok(None);
            }
            Kind::Close => {}
            _ => return Err(self.unexpected(token, "another case of `match` or `)`")),
        }
        self.expect(Kind::Close, "`)` behind the cases of `match`")?;
        self.s.frames.pop();
        let term = self.whole_match(base, at)?;
        self.s.values.truncate(base);
        Ok(Some(term))
    }

    fn whole_match(&mut self, base: usize, at: usize) -> Found<Term> {
        let script = &mut self.s.script;
        let (Some(&value), cases) = (self.s.values.get(base), &self.s.values[base + 1..]) else {
            return Err(Fault::new(Class::Syntax, at, "a `match` without a value"));
        };
        let sort = script.terms.sort(cases[0]);
        if let Some(other) = cases.iter().find(|c| script.terms.sort(**c) != sort) {
            let (a, b) = (
                script.sorts.text(sort, &script.symbols),
                script.sorts.text(script.terms.sort(*other), &script.symbols),
            );
            return Err(Fault::new(
                Class::Sort,
                at,
                format!("the cases of a `match` must be of one sort, not {a} and {b}"),
            ));
        }
        let matched = script.terms.sort(value);
        let datatype = match script.sorts.kind(matched) {
            SortKind::Declared(name, _) => script.sort_declaration(name).datatype.as_ref(),
            _ => None,
        };
        let Some(datatype) = datatype else {
            let text = script.sorts.text(matched, &script.symbols);
            return Err(Fault::new(
                Class::Sort,
                at,
                format!("`match` needs a value of a datatype, not of sort {text}"),
            ));
        };
        let heads: Vec<Option<Fun>> = cases
            .iter()
            .map(|&c| match script.terms.head(c) {
                Head::Case(constructor) => constructor,
                _ => None,
            })
            .collect();
        if !heads.contains(&None)
            && let Some(missing) = datatype.constructors.iter().find(|c| !heads.contains(&Some(**c)))
        {
            let name = shown(script.name(*missing));
            return Err(Fault::new(Class::Sort, at, format!("this `match` has no case for the constructor {name}")));
        }
        Ok(script.terms.make(Op::MATCH, &self.s.values[base..], sort))
    }
}
