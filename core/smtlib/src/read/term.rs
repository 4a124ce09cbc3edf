//! Reading terms without recursion: a stack of frames, one for each parenthesis that is open, and a stack of values.

use super::Reader;
use super::apply::Target;
use crate::builtin::{Builtin, OTHER_NAMES, Rank};
use crate::intern::Symbol;
use crate::lexer::{Glance, Kind, Token};
use crate::problem::{Class, Fault, shown};
use crate::script::FunctionKind;
use crate::session::{Bound, Version, is_reserved, word};
use crate::sorts::{Sort, SortKind};
use crate::terms::{Attribute, Binder, Op, Term, Variable};

/// What an open parenthesis waits for.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// More arguments, or the end.
    Arguments(Target),
    /// A term that is applied.
    Head,
    /// The term of a binding of `let`.
    LetBinding,
    /// The body of a `let`; the locals before it.
    LetBody(u32),
    /// The body of a quantifier; the locals before it.
    BinderBody(Binder, u32),
    /// The term of `!`, its attributes, the terms of a pattern or a term without parentheses; the attributes before it.
    Annotated(u32),
    Pattern(u32),
    NoPattern(u32),
    /// The value of `match`.
    MatchValue,
    /// The term of a case; the locals before it.
    CaseBody(u32),
}

/// An open parenthesis.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) step: Step,
    /// The values before it.
    pub(crate) base: u32,
    /// Its offset.
    pub(crate) at: u32,
}

type Found<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// The next term.
    pub(super) fn term(&mut self) -> Found<Term> {
        debug_assert!(self.s.frames.is_empty());
        'read: loop {
            let (glance, at) = self.lexer.glance();
            let mut value = match glance {
                Glance::Symbol => {
                    let symbol = self.s.script.symbols.intern(self.lexer.take_symbol(at));
                    match self.s.bound(symbol) {
                        Bound::Local(term) | Bound::Constant(term) => term,
                        bound => self.rare_leaf(symbol, false, bound, at)?,
                    }
                }
                Glance::Open => {
                    self.lexer.set_offset(at + 1);
                    match self.open(at)? {
                        Some(value) => value,
                        None => continue,
                    }
                }
                Glance::Close => {
                    self.lexer.set_offset(at + 1);
                    self.close(at)?
                }
                Glance::Other => match self.other()? {
                    Some(value) => value,
                    None => continue,
                },
            };
            loop {
                let Some(frame) = self.s.frames.last() else { return Ok(value) };
                if let Step::Arguments(_) = frame.step {
                    self.s.values.push(value);
                    continue 'read;
                }
                match self.deliver(value)? {
                    Some(whole) => value = whole,
                    None => continue 'read,
                }
            }
        }
    }

    fn push(&mut self, step: Step, at: usize) {
        let base = self.s.values.len() as u32;
        self.s.frames.push(Frame { step, base, at: at as u32 });
    }

    /// The symbol of a token that is one and is no reserved word.
    pub(super) fn symbol_of(&mut self, token: Token, what: &str) -> Found<Symbol> {
        if !token.is_symbol() {
            return Err(self.unexpected(token, what));
        }
        let symbol = self.s.script.symbols.intern(token.name(self.text));
        let lambda = symbol == word::LAMBDA && self.s.options.version == Some(Version::V2_7);
        if (is_reserved(symbol) || lambda) && token.kind == Kind::Symbol {
            return Err(self.unexpected(token, what));
        }
        Ok(symbol)
    }

    /// A term that does not begin with a simple symbol or a parenthesis, or what stands behind a comment.
    fn other(&mut self) -> Found<Option<Term>> {
        let token = self.next()?;
        match token.kind {
            Kind::Symbol | Kind::Quoted => {
                let quoted = token.kind == Kind::Quoted;
                let symbol = self.s.script.symbols.intern(token.name(self.text));
                match self.s.bound(symbol) {
                    Bound::Local(term) | Bound::Constant(term) => Ok(Some(term)),
                    bound => self.rare_leaf(symbol, quoted, bound, token.start).map(Some),
                }
            }
            Kind::Open => self.open(token.start),
            Kind::Close => self.close(token.start).map(Some),
            _ => self.literal(token).map(Some),
        }
    }

    fn rare_leaf(&mut self, symbol: Symbol, quoted: bool, bound: Bound, at: usize) -> Found<Term> {
        if is_reserved(symbol) && !quoted {
            self.lexer.set_offset(at);
            let token = self.next()?;
            return Err(self.unexpected(token, "a term"));
        }
        let builtin = match bound {
            Bound::Builtin(builtin) => builtin,
            Bound::Other(number) => self.other_name(number, at)?,
            Bound::Function(fun) => return self.function_value(fun, at),
            _ => {
                return match self.negative(symbol, at)? {
                    Some(term) => Ok(term),
                    None => Err(self.undeclared(symbol, at)),
                };
            }
        };
        match builtin.rank() {
            Rank::Fixed([], sort) => {
                self.allow(builtin, at)?;
                let sort = match sort {
                    crate::builtin::S::Bool => Sort::BOOL,
                    crate::builtin::S::Rm => Sort::ROUNDING_MODE,
                    crate::builtin::S::Re => Sort::REGLAN,
                    _ => Sort::REAL,
                };
                Ok(self.s.script.terms.leaf(Op::builtin(builtin), sort))
            }
            _ => Err(Fault::new(
                Class::Sort,
                at,
                format!("{} is a function and needs arguments", shown(self.s.script.symbols.bytes(symbol))),
            )),
        }
    }

    /// `-5` and `-0.5`, which solvers write and some read for `(- 5)`.
    fn negative(&mut self, symbol: Symbol, at: usize) -> Found<Option<Term>> {
        let Some(digits) = self.s.script.symbols.bytes(symbol).strip_prefix(b"-").map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        let mut lexer = crate::lexer::Lexer::new(&digits, self.s.strings);
        let kind = match lexer.next_token() {
            Ok(Some(token)) if token.end == digits.len() => token.kind,
            _ => return Ok(None),
        };
        if !matches!(kind, Kind::Numeral | Kind::Decimal) {
            return Ok(None);
        }
        self.s.extension("cvc5 and others", "a negative number without parentheses".into(), at)?;
        self.allow_literal(kind, at)?;
        let script = &mut self.s.script;
        let digits = script.symbols.intern(&digits);
        let (op, sort) = match kind {
            Kind::Decimal => (Op::decimal(digits), Sort::REAL),
            _ if script.logic.numerals_are_real() => (Op::real(digits), Sort::REAL),
            _ => (Op::int(digits), Sort::INT),
        };
        let number = script.terms.leaf(op, sort);
        Ok(Some(script.terms.make(Op::builtin(Builtin::Minus), &[number], sort)))
    }

    /// A name of the list of other names.
    pub(super) fn other_name(&mut self, number: u16, at: usize) -> Found<Builtin> {
        let (name, builtin, of) = OTHER_NAMES[usize::from(number)];
        if let Some(of) = of {
            self.s.extension(of, format!("the name `{name}` for `{}`", builtin.name()), at)?;
        }
        Ok(builtin)
    }

    fn literal(&mut self, token: Token) -> Found<Term> {
        let s = &mut *self.s;
        let bytes = token.bytes(self.text);
        let symbols = &mut s.script.symbols;
        let (op, sort) = match token.kind {
            Kind::Numeral => {
                let digits = symbols.intern(bytes);
                if s.script.logic.numerals_are_real() {
                    (Op::real(digits), Sort::REAL)
                } else {
                    (Op::int(digits), Sort::INT)
                }
            }
            Kind::Decimal => (Op::decimal(symbols.intern(bytes)), Sort::REAL),
            Kind::Hex => {
                let width = (bytes.len() as u32 - 2) * 4;
                (Op::hex(symbols.intern(&bytes[2..])), s.script.sorts.bit_vector(width))
            }
            Kind::Binary => {
                let width = bytes.len() as u32 - 2;
                (Op::binary(symbols.intern(&bytes[2..])), s.script.sorts.bit_vector(width))
            }
            Kind::String => {
                let text = token.string(self.text, s.strings);
                (Op::string(symbols.intern(&text)), Sort::STRING)
            }
            _ => return Err(self.unexpected(token, "a term")),
        };
        if let Ok(term) = self.s.script.terms.find(op, &[]) {
            return Ok(term);
        }
        self.allow_literal(token.kind, token.start)?;
        Ok(self.s.script.terms.leaf(op, sort))
    }

    /// Behind a `(` where a term is expected. Gives the term if it is over already.
    #[inline]
    fn open(&mut self, open: usize) -> Found<Option<Term>> {
        let (glance, at) = self.lexer.glance();
        if glance == Glance::Symbol {
            let symbol = self.s.script.symbols.intern(self.lexer.take_symbol(at));
            let target = match self.s.bound(symbol) {
                Bound::Builtin(builtin) => Target::Builtin(builtin),
                Bound::Function(fun) => Target::Function(fun),
                _ => {
                    self.lexer.set_offset(at);
                    return self.rare_open(open);
                }
            };
            self.push(Step::Arguments(target), open);
            return Ok(None);
        }
        self.rare_open(open)
    }

    fn rare_open(&mut self, open: usize) -> Found<Option<Term>> {
        let token = self.next()?;
        match token.kind {
            Kind::Symbol | Kind::Quoted => {
                let symbol = self.s.script.symbols.intern(token.name(self.text));
                let target = match self.s.bound(symbol) {
                    Bound::Builtin(builtin) => Target::Builtin(builtin),
                    Bound::Function(fun) => Target::Function(fun),
                    bound => {
                        if token.kind == Kind::Symbol && (is_reserved(symbol) || symbol == word::LAMBDA) {
                            return self.reserved(open, token, symbol);
                        }
                        match bound {
                            Bound::Local(term) => self.local_head(symbol, term),
                            Bound::Constant(term) => Target::Term(term),
                            Bound::Other(number) => Target::Builtin(self.other_name(number, token.start)?),
                            _ => match self.tester(symbol, token.start)? {
                                Some(target) => target,
                                None => return Err(self.undeclared(symbol, token.start)),
                            },
                        }
                    }
                };
                self.push(Step::Arguments(target), open);
                Ok(None)
            }
            Kind::Open => {
                let mark = self.lexer.offset();
                let inner = self.next()?;
                let step = match self.word(inner) {
                    Some(word::UNDERSCORE) => match self.indexed()? {
                        Some(target) => Step::Arguments(target),
                        None => {
                            // (_ f x) as a head: an application of a map.
                            self.lexer.set_offset(mark - 1);
                            Step::Head
                        }
                    },
                    Some(word::AS) => Step::Arguments(self.qualified()?),
                    _ => {
                        self.lexer.set_offset(mark - 1);
                        Step::Head
                    }
                };
                self.push(step, open);
                Ok(None)
            }
            _ => Err(self.unexpected(token, "a function, `let`, a quantifier, `match` or `!`")),
        }
    }

    /// What a name stands for as a function where it is also a variable: a variable is no function (unless it is a map), so
    /// that it does not hide one.
    fn local_head(&self, symbol: Symbol, term: Term) -> Target {
        let terms = &self.s.script.terms;
        if !matches!(self.s.script.sorts.kind(terms.sort(term)), SortKind::Map(..)) {
            let hidden = self.s.locals.iter().find(|(name, ..)| *name == symbol).map(|(_, bound, _)| *bound);
            match hidden {
                Some(Bound::Builtin(builtin)) => return Target::Builtin(builtin),
                Some(Bound::Function(fun)) => return Target::Function(fun),
                _ => {}
            }
        }
        Target::Term(term)
    }

    /// The number of a word, if the token is a simple symbol that the language knows.
    pub(super) fn word(&mut self, token: Token) -> Option<Symbol> {
        if token.kind != Kind::Symbol {
            return None;
        }
        let symbol = self.s.script.symbols.intern(token.bytes(self.text));
        (is_reserved(symbol) || symbol == word::LAMBDA).then_some(symbol)
    }

    fn reserved(&mut self, open: usize, token: Token, symbol: Symbol) -> Found<Option<Term>> {
        match symbol {
            word::LET => {
                self.expect(Kind::Open, "the list of bindings of `let`")?;
                self.push(Step::LetBinding, open);
                self.binding()?;
            }
            word::FORALL | word::EXISTS | word::LAMBDA => {
                let binder = match symbol {
                    word::FORALL => Binder::Forall,
                    word::EXISTS => Binder::Exists,
                    _ => Binder::Lambda,
                };
                self.allow_binder(binder, open)?;
                let mark = self.s.locals.len() as u32;
                let base = self.s.values.len() as u32;
                self.expect(Kind::Open, "a list of sorted variables, `((x Int) ...)`")?;
                let variables = self.sorted_variables()?;
                self.s.values.extend_from_slice(&variables);
                self.s.frames.push(Frame { step: Step::BinderBody(binder, mark), base, at: open as u32 });
            }
            word::MATCH => self.push(Step::MatchValue, open),
            word::BANG => {
                let mark = self.s.attributes.len() as u32;
                self.push(Step::Annotated(mark), open);
            }
            word::UNDERSCORE => {
                return match self.indexed()? {
                    Some(target) => self.apply(target, self.s.values.len(), open).map(Some),
                    None => {
                        self.push(Step::Head, open);
                        Ok(None)
                    }
                };
            }
            word::AS => {
                let target = self.qualified()?;
                return self.apply(target, self.s.values.len(), open).map(Some);
            }
            _ => return Err(self.unexpected(token, "a function, `let`, a quantifier, `match` or `!`")),
        }
        Ok(None)
    }

    /// Variables with sorts up to the `)` of their list, bound from here on. One at least.
    fn sorted_variables(&mut self) -> Found<Vec<Term>> {
        let mut found: Vec<(Symbol, Sort)> = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close if !found.is_empty() => break,
                Kind::Open => {
                    let name = self.next()?;
                    let symbol = self.symbol_of(name, "the name of a variable")?;
                    self.s.free_variable(symbol, name.start)?;
                    let sort = self.sort()?;
                    self.expect(Kind::Close, "`)` behind the sort of a variable")?;
                    if found.iter().any(|(n, _)| *n == symbol) {
                        let name_text = shown(self.s.script.symbols.bytes(symbol));
                        return Err(Fault::new(
                            Class::Scope,
                            name.start,
                            format!("the variable {name_text} is bound twice"),
                        ));
                    }
                    found.push((symbol, sort));
                }
                _ => return Err(self.unexpected(token, "a sorted variable, `(x Int)`")),
            }
        }
        Ok(self.bind_variables(&found))
    }

    /// Binds variables from here on.
    pub(super) fn bind_variables(&mut self, list: &[(Symbol, Sort)]) -> Vec<Term> {
        let mut terms = Vec::with_capacity(list.len());
        for &(name, sort) in list {
            let variable = Variable { name, sort, level: self.s.level(name) };
            let term = self.s.script.terms.variable(variable);
            self.s.bind_local(name, term, true);
            terms.push(term);
        }
        terms
    }

    /// The beginning of a binding of `let`: `(x`.
    fn binding(&mut self) -> Found<()> {
        self.expect(Kind::Open, "a binding of `let`, `(x term)`")?;
        let token = self.next()?;
        let symbol = self.symbol_of(token, "the name of a variable")?;
        self.s.free_variable(symbol, token.start)?;
        self.s.names.push((symbol, token.start));
        Ok(())
    }

    /// A `)` where a term is expected: the end of an application.
    #[inline]
    fn close(&mut self, close: usize) -> Found<Term> {
        let token = Token { kind: Kind::Close, start: close, end: close + 1 };
        let Some(&Frame { step: Step::Arguments(target), base, at }) = self.s.frames.last() else {
            return Err(self.unexpected(token, "a term"));
        };
        let base = base as usize;
        if self.s.values.len() == base {
            return Err(self.unexpected(token, "an argument"));
        }
        self.s.frames.pop();
        let term = self.apply(target, base, at as usize)?;
        self.s.values.truncate(base);
        Ok(term)
    }

    /// Gives a term to what waits for it; gives back what is whole with it.
    fn deliver(&mut self, value: Term) -> Found<Option<Term>> {
        let Some(&Frame { step, base, at }) = self.s.frames.last() else { return Ok(Some(value)) };
        let base = base as usize;
        match step {
            Step::Arguments(_) => {
                self.s.values.push(value);
                Ok(None)
            }
            Step::Head => {
                if let Some(frame) = self.s.frames.last_mut() {
                    frame.step = Step::Arguments(Target::Term(value));
                }
                Ok(None)
            }
            Step::LetBinding => {
                self.s.values.push(value);
                self.expect(Kind::Close, "`)` behind the term of a binding")?;
                let mark = self.lexer.offset();
                let token = self.next()?;
                match token.kind {
                    Kind::Open => {
                        self.lexer.set_offset(mark);
                        self.binding()?;
                    }
                    Kind::Close => self.bind_let(base)?,
                    _ => return Err(self.unexpected(token, "another binding of `let` or `)`")),
                }
                Ok(None)
            }
            Step::LetBody(mark) => {
                self.expect(Kind::Close, "`)` behind the body of `let`")?;
                self.s.undo_locals(mark as usize);
                self.s.frames.pop();
                Ok(Some(value))
            }
            Step::BinderBody(binder, mark) => {
                self.expect(Kind::Close, "`)` behind the body of a quantifier")?;
                self.s.undo_locals(mark as usize);
                self.s.frames.pop();
                self.s.values.push(value);
                let term = self.bind_body(binder, base, at as usize)?;
                self.s.values.truncate(base);
                Ok(Some(term))
            }
            Step::Annotated(mark) => {
                self.s.values.push(value);
                if matches!(self.attributes(base, mark, at as usize)?, Attributes::End) {
                    return self.annotated(base, mark).map(Some);
                }
                Ok(None)
            }
            Step::NoPattern(mark) => {
                self.s.values.push(value);
                self.s.attributes.push(Attribute::NoPattern);
                if let Some(frame) = self.s.frames.last_mut() {
                    frame.step = Step::Annotated(mark);
                }
                match self.attributes(base, mark, at as usize)? {
                    Attributes::End => self.annotated(base, mark).map(Some),
                    Attributes::Terms => Ok(None),
                }
            }
            Step::Pattern(mark) => {
                self.s.values.push(value);
                if let Some(Attribute::Pattern(count)) = self.s.attributes.last_mut() {
                    *count += 1;
                }
                let behind = self.lexer.offset();
                let token = self.next()?;
                if token.kind != Kind::Close {
                    self.lexer.set_offset(behind);
                    return Ok(None);
                }
                if let Some(frame) = self.s.frames.last_mut() {
                    frame.step = Step::Annotated(mark);
                }
                match self.attributes(base, mark, at as usize)? {
                    Attributes::End => self.annotated(base, mark).map(Some),
                    Attributes::Terms => Ok(None),
                }
            }
            Step::MatchValue => {
                self.s.values.push(value);
                self.expect(Kind::Open, "the list of cases of `match`")?;
                self.expect(Kind::Open, "a case of `match`, `(pattern term)`")?;
                self.case_pattern(base)?;
                Ok(None)
            }
            Step::CaseBody(mark) => self.case_end(value, base, mark as usize, at as usize),
        }
    }

    /// Binds what a `let` has read, all at once.
    fn bind_let(&mut self, base: usize) -> Found<()> {
        let count = self.s.values.len() - base;
        let first = self.s.names.len() - count;
        let mark = self.s.locals.len();
        for at in 0..count {
            let (symbol, place) = self.s.names[first + at];
            let value = self.s.values[base + at];
            // What this `let` bound already is among the last locals; only a name that is bound at all can be there.
            if let Bound::Local(_) = self.s.bound(symbol)
                && self.s.locals[mark..].iter().any(|(n, ..)| *n == symbol)
            {
                let name = shown(self.s.script.symbols.bytes(symbol));
                return Err(Fault::new(Class::Scope, place, format!("{name} is bound twice in one `let`")));
            }
            self.s.bind_local(symbol, value, false);
        }
        self.s.names.truncate(first);
        self.s.values.truncate(base);
        if let Some(frame) = self.s.frames.last_mut() {
            frame.step = Step::LetBody(mark as u32);
        }
        Ok(())
    }

    fn bind_body(&mut self, binder: Binder, base: usize, at: usize) -> Found<Term> {
        let script = &mut self.s.script;
        let op = Op::binder(binder);
        let arguments = &self.s.values[base..];
        if let Ok(term) = script.terms.find(op, arguments) {
            return Ok(term);
        }
        let (Some(&body), variables) = (arguments.last(), &arguments[..arguments.len() - 1]) else {
            return Err(Fault::new(Class::Syntax, at, "a quantifier without a body"));
        };
        let mut sort = script.terms.sort(body);
        if binder == Binder::Lambda {
            for variable in variables.iter().rev() {
                sort = script.sorts.intern(SortKind::Map(script.terms.sort(*variable), sort));
            }
        } else if sort != Sort::BOOL {
            let found = script.sorts.text(sort, &script.symbols);
            return Err(Fault::new(
                Class::Sort,
                at,
                format!("the body of a quantifier must be of sort Bool, but is of sort {found}"),
            ));
        }
        Ok(script.terms.make(op, arguments, sort))
    }

    /// Reads attributes from a keyword on, until terms come or the end.
    fn attributes(&mut self, base: usize, mark: u32, at: usize) -> Found<Attributes> {
        loop {
            let token = self.next()?;
            if token.kind == Kind::Close {
                if self.s.attributes.len() == mark as usize {
                    return Err(self.unexpected(token, "an attribute behind the term of `!`"));
                }
                return Ok(Attributes::End);
            }
            if token.kind != Kind::Keyword {
                return Err(self.unexpected(token, "an attribute (a keyword, with its value) or `)`"));
            }
            match token.bytes(self.text) {
                b":named" => {
                    let name = self.next()?;
                    let symbol = self.symbol_of(name, "a name behind `:named`")?;
                    let value = self.s.values[base];
                    if self.s.open_binders > 0
                        && let Some(variable) = self.free_variable_of(value)
                    {
                        let name_text = shown(self.s.script.symbols.bytes(variable));
                        return Err(Fault::new(
                            Class::Scope,
                            at,
                            format!("a term with a name must be closed, but the variable {name_text} is free in it"),
                        ));
                    }
                    let function = crate::script::Function {
                        name: symbol,
                        parameters: Box::default(),
                        result: self.s.script.terms.sort(value),
                        kind: FunctionKind::Named(value),
                    };
                    self.s.declare(function, name.start)?;
                    self.s.attributes.push(Attribute::Named(symbol));
                }
                b":pattern" => {
                    self.expect(Kind::Open, "the terms of a pattern, `(term ...)`")?;
                    self.s.attributes.push(Attribute::Pattern(0));
                    if let Some(frame) = self.s.frames.last_mut() {
                        frame.step = Step::Pattern(mark);
                    }
                    return Ok(Attributes::Terms);
                }
                b":no-pattern" => {
                    if let Some(frame) = self.s.frames.last_mut() {
                        frame.step = Step::NoPattern(mark);
                    }
                    return Ok(Attributes::Terms);
                }
                other => {
                    let keyword = self.s.script.symbols.intern(other);
                    let value = self.attribute_value()?;
                    self.s.attributes.push(Attribute::Other(keyword, value));
                }
            }
        }
    }

    fn annotated(&mut self, base: usize, mark: u32) -> Found<Term> {
        let attributes = self.s.attributes.split_off(mark as usize);
        self.s.frames.pop();
        let terms = &mut self.s.script.terms;
        let op = terms.annotated(attributes);
        let sort = terms.sort(self.s.values[base]);
        let term = terms.make(op, &self.s.values[base..], sort);
        self.s.values.truncate(base);
        Ok(term)
    }

    /// A variable that is bound around here and occurs in a term.
    fn free_variable_of(&self, term: Term) -> Option<Symbol> {
        let bound: std::collections::BTreeSet<Term> = self
            .s
            .locals
            .iter()
            .filter(|(.., variable)| *variable)
            .filter_map(|(symbol, ..)| match self.s.bound(*symbol) {
                Bound::Local(term) => Some(term),
                _ => None,
            })
            .collect();
        let terms = &self.s.script.terms;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut waiting = vec![term];
        while let Some(term) = waiting.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let crate::terms::Head::Variable(variable) = terms.head(term)
                && bound.contains(&term)
            {
                return Some(variable.name);
            }
            waiting.extend_from_slice(terms.arguments(term));
        }
        None
    }

    /// A builtin that needs arguments or none, at its first use in each sense, is checked against the logic.
    pub(super) fn undeclared(&self, symbol: Symbol, at: usize) -> Fault {
        let bytes = self.s.script.symbols.bytes(symbol);
        let name = shown(bytes);
        if let Some(of) = crate::extension::function(bytes) {
            return Fault::new(Class::Extension, at, format!("extension of {of}: the function {name}"));
        }
        if let Some(builtin) = crate::session::builtin_named(symbol) {
            if builtin.indices().is_some() {
                return Fault::new(Class::Syntax, at, format!("{name} needs indices: `(_ {} ...)`", builtin.name()));
            }
            return Fault::new(Class::Scope, at, format!("{name} cannot stand alone here"));
        }
        Fault::new(Class::Scope, at, format!("{name} is not declared"))
    }
}

enum Attributes {
    /// The `)` of the annotation was read.
    End,
    /// Terms come next.
    Terms,
}
