//! Reading commands.

mod allow;
mod apply;
mod datatypes;
mod matching;
pub(crate) mod sort;
pub(crate) mod term;

use crate::builtin::Builtin;
use crate::intern::Symbol;
use crate::lexer::{Glance, Kind, Lexer, Strings, Token};
use crate::logic::Logic;
use crate::problem::{Class, Fault, Problem, shown};
use crate::script::{Command, CommandKind, Fun, Function, FunctionKind, Setting};
use crate::session::{Session, SortBound, Version};
use crate::sorts::Sort;
use crate::terms::{Head, Term};

type Found<T> = Result<T, Fault>;

/// The largest text that is read. Numbers of terms and symbols fit into 28 bits with it.
const TEXT_LIMIT: usize = 1 << 30;

/// The largest number of levels that `push` opens.
const LEVEL_LIMIT: u32 = 1 << 22;

/// Reads one text in a session.
pub(crate) struct Reader<'s, 't> {
    pub(crate) s: &'s mut Session,
    pub(crate) text: &'t [u8],
    pub(crate) lexer: Lexer<'t>,
    /// Offset of the command that is being read.
    pub(crate) start: usize,
}

/// A function's name, parameters and result, as a definition begins.
struct Signature {
    fun: Fun,
    place: usize,
    variables: Vec<(Symbol, Sort)>,
}

impl Reader<'_, '_> {
    /// The next token.
    #[inline]
    fn next(&mut self) -> Found<Token> {
        match self.lexer.next_token() {
            Ok(Some(token)) => Ok(token),
            Ok(None) => Err(Fault::new(Class::Syntax, self.start, "this command has no end: a `)` is missing")),
            Err(error) => Err(Fault::new(Class::Lexical, error.at, error.problem.to_string())),
        }
    }

    #[cold]
    fn unexpected(&self, token: Token, wanted: &str) -> Fault {
        let found = match token.kind {
            Kind::Symbol => match crate::session::is_reserved_word(token.bytes(self.text)) {
                true => format!("the reserved word {}", shown(token.bytes(self.text))),
                false => shown(token.bytes(self.text)),
            },
            _ => shown(token.bytes(self.text)),
        };
        Fault::new(Class::Syntax, token.start, format!("{wanted} is expected, not {found}"))
    }

    #[inline]
    fn expect(&mut self, kind: Kind, what: &str) -> Found<Token> {
        let (glance, at) = self.lexer.glance();
        if matches!((glance, kind), (Glance::Open, Kind::Open) | (Glance::Close, Kind::Close)) {
            self.lexer.set_offset(at + 1);
            return Ok(Token { kind, start: at, end: at + 1 });
        }
        let token = self.next()?;
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, what)) }
    }

    /// Takes a `)` if it comes next.
    fn at_close(&mut self) -> Found<bool> {
        let mark = self.lexer.offset();
        let close = self.next()?.kind == Kind::Close;
        if !close {
            self.lexer.set_offset(mark);
        }
        Ok(close)
    }

    /// The offset of an argument of the application whose `(` is at `at`.
    fn argument_place(&self, at: usize, number: usize) -> usize {
        let mut lexer = Lexer::new(self.text, self.lexer.strings());
        lexer.set_offset(at + 1);
        let mut depth = 0_usize;
        // The head comes first.
        let mut seen = 0;
        while let Ok(Some(token)) = lexer.next_token() {
            if token.kind == Kind::Close {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                continue;
            }
            if depth == 0 {
                if seen == number + 1 {
                    return token.start;
                }
                seen += 1;
            }
            if token.kind == Kind::Open {
                depth += 1;
            }
        }
        at
    }

    /// All commands of the text.
    pub(crate) fn commands(mut self) -> Found<()> {
        if self.text.len() > TEXT_LIMIT {
            return Err(Fault::new(Class::Limit, 0, "scripts of more than 1 GiB are not read"));
        }
        loop {
            let token = match self.lexer.next_token() {
                Ok(Some(token)) => token,
                Ok(None) => return Ok(()),
                Err(error) => return Err(Fault::new(Class::Lexical, error.at, error.problem.to_string())),
            };
            self.start = token.start;
            if token.kind != Kind::Open {
                return Err(self.unexpected(token, "a command, `(name ...)`,"));
            }
            if self.s.exited {
                let problem = Fault::new(Class::Flow, token.start, "a command behind `exit`").place(self.text);
                self.s.script.flow.push(problem);
                return self.rest(token);
            }
            let kind = self.command()?;
            let end = self.lexer.offset();
            self.s.script.commands.push(Command { kind, start: token.start, end });
        }
    }

    /// What stands behind `exit` is never obeyed, but must be balanced.
    fn rest(&mut self, first: Token) -> Found<()> {
        let mut depth = 1_u64;
        self.start = first.start;
        loop {
            match self.lexer.next_token() {
                Ok(Some(token)) => match token.kind {
                    Kind::Open => {
                        if depth == 0 {
                            self.start = token.start;
                        }
                        depth += 1;
                    }
                    Kind::Close if depth == 0 => return Err(self.unexpected(token, "a command, `(name ...)`,")),
                    Kind::Close => depth -= 1,
                    _ if depth == 0 => return Err(self.unexpected(token, "a command, `(name ...)`,")),
                    _ => {}
                },
                Ok(None) if depth == 0 => return Ok(()),
                Ok(None) => {
                    return Err(Fault::new(Class::Syntax, self.start, "this command has no end: a `)` is missing"));
                }
                Err(error) => return Err(Fault::new(Class::Lexical, error.at, error.problem.to_string())),
            }
        }
    }

    /// A command behind its `(`.
    fn command(&mut self) -> Found<CommandKind> {
        let token = self.next()?;
        if token.kind != Kind::Symbol {
            return Err(self.unexpected(token, "the name of a command"));
        }
        let name = token.bytes(self.text);
        let kind = match name {
            b"assert" => {
                self.needs_logic(token)?;
                let term = self.bool_term("an asserted term")?;
                CommandKind::Assert(term)
            }
            b"declare-fun" => {
                self.needs_logic(token)?;
                CommandKind::DeclareFun(self.declare_fun(true)?)
            }
            b"declare-const" => {
                self.needs_logic(token)?;
                CommandKind::DeclareConst(self.declare_fun(false)?)
            }
            b"define-fun" => {
                self.needs_logic(token)?;
                CommandKind::DefineFun(self.define_fun(false)?)
            }
            b"define-fun-rec" => {
                self.needs_logic(token)?;
                CommandKind::DefineFunRec(self.define_fun(true)?)
            }
            b"define-funs-rec" => {
                self.needs_logic(token)?;
                CommandKind::DefineFunsRec(self.define_funs_rec()?)
            }
            b"define-const" => {
                self.needs_logic(token)?;
                CommandKind::DefineConst(self.define_const()?)
            }
            b"check-sat" => {
                self.needs_logic(token)?;
                if !self.at_close()? {
                    let place = self.lexer.offset();
                    self.s.extension("z3", "`check-sat` with arguments".into(), place)?;
                    while !self.at_close()? {
                        self.bool_term("an assumption")?;
                    }
                }
                return Ok(CommandKind::CheckSat);
            }
            b"check-sat-assuming" => {
                self.needs_logic(token)?;
                self.expect(Kind::Open, "a list of assumptions, `(literal ...)`")?;
                let mut terms = Vec::new();
                while !self.at_close()? {
                    let at = self.lexer.offset();
                    let term = self.bool_term("an assumption")?;
                    self.literal_only(term, at)?;
                    terms.push(term);
                }
                CommandKind::CheckSatAssuming(terms.into())
            }
            b"push" => CommandKind::Push(self.levels(token)?),
            b"pop" => {
                let count = self.levels(token)?;
                if !self.s.pop(count) {
                    return Err(Fault::new(Class::Flow, self.start, "`pop` of a level that no `push` has opened"));
                }
                CommandKind::Pop(count)
            }
            b"set-logic" => self.set_logic(token)?,
            b"set-info" => {
                let setting = self.setting()?;
                let keyword = self.s.script.symbols.bytes(setting.keyword);
                let value = setting.value.map(|v| self.s.script.symbols.bytes(v));
                if keyword == b":smt-lib-version" && self.s.options.version.is_none() {
                    let strings = if value == Some(b"2.0") { Strings::Backslash } else { Strings::Doubled };
                    self.s.strings = strings;
                    self.lexer.set_strings(strings);
                }
                CommandKind::SetInfo(setting)
            }
            b"set-option" => {
                let setting = self.setting()?;
                let keyword = self.s.script.symbols.bytes(setting.keyword);
                let value = setting.value.map(|v| self.s.script.symbols.bytes(v));
                if keyword == b":global-declarations" {
                    self.s.global_declarations = value == Some(b"true");
                }
                CommandKind::SetOption(setting)
            }
            b"get-info" => CommandKind::GetInfo(self.keyword()?),
            b"get-option" => CommandKind::GetOption(self.keyword()?),
            b"declare-sort" => {
                self.needs_logic(token)?;
                self.declare_sort()?
            }
            b"declare-sort-parameter" => {
                let name = self.next()?;
                let symbol = self.symbol_of(name, "the name of a sort parameter")?;
                let sort = self.s.script.sorts.intern(crate::sorts::SortKind::Parameter(symbol));
                self.s.bind_sort(symbol, SortBound::Parameter(sort), name.start)?;
                CommandKind::DeclareSortParameter(symbol)
            }
            b"define-sort" => {
                self.needs_logic(token)?;
                let name = self.next()?;
                let symbol = self.symbol_of(name, "the name of a sort")?;
                self.expect(Kind::Open, "a list of sort parameters, `(X ...)`")?;
                let parameters = self.sort_parameters()?;
                let sorts: Box<[Sort]> = parameters.iter().map(|(_, sort, _)| *sort).collect();
                let body = self.sort();
                self.restore_parameters(parameters);
                let body = body?;
                self.s.bind_sort(symbol, SortBound::Defined(sorts.clone(), body), name.start)?;
                CommandKind::DefineSort(symbol, sorts, body)
            }
            b"declare-datatype" => {
                self.datatypes_allowed(token)?;
                CommandKind::DeclareDatatype(self.declare_datatype(true)?)
            }
            b"declare-datatypes" => {
                self.datatypes_allowed(token)?;
                CommandKind::DeclareDatatypes(self.declare_datatypes(true)?)
            }
            b"echo" => {
                let text = self.expect(Kind::String, "a string literal")?;
                let text = text.string(self.text, self.s.strings).into_owned();
                CommandKind::Echo(self.s.script.symbols.intern(&text))
            }
            b"get-value" => {
                let open = self.expect(Kind::Open, "a list of terms, `(term ...)`")?;
                let mut terms = Vec::new();
                while !self.at_close()? {
                    terms.push(self.term()?);
                }
                if terms.is_empty() {
                    return Err(Fault::new(Class::Syntax, open.start, "`get-value` needs a term"));
                }
                CommandKind::GetValue(terms.into())
            }
            b"get-assertions" => CommandKind::GetAssertions,
            b"get-assignment" => CommandKind::GetAssignment,
            b"get-model" => CommandKind::GetModel,
            b"get-proof" => CommandKind::GetProof,
            b"get-unsat-assumptions" => CommandKind::GetUnsatAssumptions,
            b"get-unsat-core" => CommandKind::GetUnsatCore,
            b"reset" => {
                self.s.reset();
                CommandKind::Reset
            }
            b"reset-assertions" => {
                self.s.reset_assertions();
                CommandKind::ResetAssertions
            }
            b"exit" => {
                self.s.exited = true;
                CommandKind::Exit
            }
            _ => match crate::extension::command(name) {
                Some(of) => {
                    self.s.extension(of, format!("the command {}", shown(name)), token.start)?;
                    match name {
                        // Read as datatypes, so that what they declare is known.
                        b"declare-codatatype" => drop(self.declare_datatype(false)?),
                        b"declare-codatatypes" => drop(self.declare_datatypes(false)?),
                        _ => {}
                    }
                    return self.skip_command(token);
                }
                None => return Err(self.unexpected(token, "the name of a command")),
            },
        };
        self.expect(Kind::Close, "`)` at the end of the command")?;
        Ok(kind)
    }

    /// Skips the rest of a command that is not of the standard.
    fn skip_command(&mut self, name: Token) -> Found<CommandKind> {
        let mut depth = 0_u64;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => break,
                Kind::Close => depth -= 1,
                _ => {}
            }
        }
        let symbols = &mut self.s.script.symbols;
        let text = symbols.intern(&self.text[self.start..self.lexer.offset()]);
        Ok(CommandKind::Extension(symbols.intern(name.bytes(self.text)), text))
    }

    fn needs_logic(&self, token: Token) -> Found<()> {
        if self.s.options.logic_required && self.s.logic_name.is_none() {
            let name = shown(token.bytes(self.text));
            return Err(Fault::new(Class::Flow, self.start, format!("{name} must stand behind `set-logic`")));
        }
        Ok(())
    }

    fn set_logic(&mut self, token: Token) -> Found<CommandKind> {
        let name = self.next()?;
        let symbol = self.symbol_of(name, "the name of a logic")?;
        if self.s.logic_name.is_some() {
            let problem =
                Fault::new(Class::Flow, token.start, "a second `set-logic`; this one counts").place(self.text);
            self.s.script.flow.push(problem);
            self.s.script.logic = Logic::ALL;
        }
        self.s.logic_name = Some(symbol);
        match Logic::parse(name.name(self.text)) {
            Some(logic) => self.s.script.logic = logic,
            None => {
                let text = shown(name.name(self.text));
                let message = format!("the logic {text} is not known; everything is taken to be in it");
                let problem: Problem = Fault::new(Class::Logic, name.start, message).place(self.text);
                self.s.script.outside_logic.push(problem);
            }
        }
        Ok(CommandKind::SetLogic(symbol))
    }

    /// The numeral of `push` and `pop`.
    fn levels(&mut self, command: Token) -> Found<u32> {
        let mark = self.lexer.offset();
        let token = self.next()?;
        let count = match token.kind {
            Kind::Numeral => self.index(token)?,
            Kind::Close => {
                let what = format!("`{}` without a numeral", String::from_utf8_lossy(command.bytes(self.text)));
                self.s.extension("z3, cvc5 and others", what, command.start)?;
                self.lexer.set_offset(mark);
                1
            }
            _ => return Err(self.unexpected(token, "a numeral")),
        };
        if command.bytes(self.text) == b"push" {
            if count > LEVEL_LIMIT {
                return Err(Fault::new(
                    Class::Limit,
                    token.start,
                    format!("more than {LEVEL_LIMIT} levels are not opened"),
                ));
            }
            self.s.push(count);
        }
        Ok(count)
    }

    fn bool_term(&mut self, what: &str) -> Found<Term> {
        let mark = self.lexer.offset();
        let term = self.term()?;
        let sort = self.s.script.terms.sort(term);
        if sort == Sort::BOOL {
            return Ok(term);
        }
        self.lexer.set_offset(mark);
        let at = self.next().map_or(mark, |t| t.start);
        let found = self.s.script.sorts.text(sort, &self.s.script.symbols);
        Err(Fault::new(Class::Sort, at, format!("{what} must be of sort Bool, but is of sort {found}")))
    }

    /// Until 2.7, an assumption is a symbol or its negation. Solvers never insisted: a script is held to it only where its
    /// version is asked for.
    fn literal_only(&self, term: Term, at: usize) -> Found<()> {
        if self.s.options.version.is_none_or(|v| v >= Version::V2_7) {
            return Ok(());
        }
        let terms = &self.s.script.terms;
        let atom = match terms.head(term) {
            Head::Builtin(Builtin::Not) => terms.arguments(term)[0],
            _ => term,
        };
        if terms.arguments(atom).is_empty() {
            return Ok(());
        }
        Err(Fault::new(
            Class::Syntax,
            at,
            "an assumption must be a symbol or its negation (other terms since 2.7 only)",
        ))
    }

    fn keyword(&mut self) -> Found<Symbol> {
        let token = self.expect(Kind::Keyword, "a keyword")?;
        Ok(self.s.script.symbols.intern(token.bytes(self.text)))
    }

    fn setting(&mut self) -> Found<Setting> {
        let keyword = self.keyword()?;
        Ok(Setting { keyword, value: self.attribute_value()? })
    }

    /// The value of an attribute as it stands, if one comes next.
    fn attribute_value(&mut self) -> Found<Option<Symbol>> {
        let mark = self.lexer.offset();
        let token = self.next()?;
        match token.kind {
            Kind::Close | Kind::Keyword => {
                self.lexer.set_offset(mark);
                return Ok(None);
            }
            Kind::Symbol => {
                self.symbol_of(token, "a value (a literal, a symbol or a list), another attribute or `)`")?;
            }
            Kind::Open => {
                let mut depth = 1_u64;
                while depth > 0 {
                    match self.next()?.kind {
                        Kind::Open => depth += 1,
                        Kind::Close => depth -= 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(Some(self.s.script.symbols.intern(&self.text[token.start..self.lexer.offset()])))
    }

    fn datatypes_allowed(&mut self, token: Token) -> Found<()> {
        self.needs_logic(token)?;
        if self.s.script.logic.datatypes { Ok(()) } else { self.outside(token.start, "a datatype") }
    }

    fn declare_sort(&mut self) -> Found<CommandKind> {
        let name = self.next()?;
        let symbol = self.symbol_of(name, "the name of a sort")?;
        let mark = self.lexer.offset();
        let token = self.next()?;
        let arity = match token.kind {
            Kind::Numeral => self.index(token)?,
            Kind::Close => {
                self.s.extension("z3 and cvc5", "`declare-sort` without a numeral".into(), token.start)?;
                self.lexer.set_offset(mark);
                0
            }
            _ => return Err(self.unexpected(token, "a numeral")),
        };
        if !self.s.script.logic.free_sorts {
            self.outside(name.start, "a free sort")?;
        }
        Ok(CommandKind::DeclareSort(self.new_sort(symbol, arity, name.start)?))
    }

    fn declare_fun(&mut self, with_parameters: bool) -> Found<Fun> {
        let token = self.next()?;
        let name = self.symbol_of(token, "the name of a function")?;
        let parameters: Box<[Sort]> = if with_parameters { self.sort_list()?.into() } else { Box::default() };
        let result = self.sort()?;
        if !parameters.is_empty() && !self.s.script.logic.uninterpreted {
            self.outside(token.start, "a free function with arguments")?;
        }
        self.s.declare(Function { name, parameters, result, kind: FunctionKind::Declared }, token.start)
    }

    /// `name ((variable sort) ...) sort`; the function is not bound yet.
    fn signature(&mut self) -> Found<Signature> {
        let token = self.next()?;
        let name = self.symbol_of(token, "the name of a function")?;
        self.expect(Kind::Open, "a list of parameters, `((x Int) ...)`")?;
        let mut variables: Vec<(Symbol, Sort)> = Vec::new();
        while !self.at_close()? {
            self.expect(Kind::Open, "a parameter, `(x Int)`")?;
            let variable = self.next()?;
            let symbol = self.symbol_of(variable, "the name of a parameter")?;
            self.s.free_variable(symbol, variable.start)?;
            let sort = self.sort()?;
            self.expect(Kind::Close, "`)` behind the sort of a parameter")?;
            if variables.iter().any(|(n, _)| *n == symbol) {
                let text = shown(variable.name(self.text));
                return Err(Fault::new(Class::Scope, variable.start, format!("the parameter {text} is bound twice")));
            }
            variables.push((symbol, sort));
        }
        let result = self.sort()?;
        let parameters = variables.iter().map(|(_, sort)| *sort).collect();
        let kind = FunctionKind::Defined { variables: Box::default(), body: None };
        let fun = self.s.add_function(Function { name, parameters, result, kind });
        Ok(Signature { fun, place: token.start, variables })
    }

    /// The body of a definition.
    fn body(&mut self, signature: &Signature) -> Found<()> {
        let mark = self.s.locals.len();
        let variables = self.bind_variables(&signature.variables);
        let behind = self.lexer.offset();
        let body = self.term();
        self.s.undo_locals(mark);
        let mut body = body?;
        let wanted = self.s.script.function(signature.fun).result;
        let found = self.s.script.terms.sort(body);
        if wanted == Sort::REAL && found == Sort::INT && self.s.script.logic.is_mixed() {
            body = self.as_real(body);
        } else if wanted != found {
            self.lexer.set_offset(behind);
            let at = self.next().map_or(behind, |t| t.start);
            let sorts = &self.s.script.sorts;
            let (wanted, found) =
                (sorts.text(wanted, &self.s.script.symbols), sorts.text(found, &self.s.script.symbols));
            let message = format!("the definition must be of sort {wanted}, but is of sort {found}");
            return Err(Fault::new(Class::Sort, at, message));
        }
        self.s.script.functions[signature.fun.index()].kind =
            FunctionKind::Defined { variables: variables.into(), body: Some(body) };
        Ok(())
    }

    fn define_fun(&mut self, recursive: bool) -> Found<Fun> {
        let signature = self.signature()?;
        if recursive {
            self.s.bind_declared(signature.fun, signature.place)?;
            self.body(&signature)?;
        } else {
            self.body(&signature)?;
            self.s.bind_declared(signature.fun, signature.place)?;
        }
        Ok(signature.fun)
    }

    fn define_const(&mut self) -> Found<Fun> {
        let token = self.next()?;
        let name = self.symbol_of(token, "the name of a constant")?;
        let result = self.sort()?;
        let kind = FunctionKind::Defined { variables: Box::default(), body: None };
        let fun = self.s.add_function(Function { name, parameters: Box::default(), result, kind });
        let signature = Signature { fun, place: token.start, variables: Vec::new() };
        self.body(&signature)?;
        self.s.bind_declared(fun, token.start)?;
        Ok(fun)
    }

    fn define_funs_rec(&mut self) -> Found<Box<[Fun]>> {
        self.expect(Kind::Open, "a list of functions, `((name ((x Int) ...) sort) ...)`")?;
        let mut signatures = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Close if !signatures.is_empty() => break,
                Kind::Open => {
                    let signature = self.signature()?;
                    self.expect(Kind::Close, "`)` behind the sort of a function")?;
                    self.s.bind_declared(signature.fun, signature.place)?;
                    signatures.push(signature);
                }
                _ => return Err(self.unexpected(token, "a function, `(name ((x Int) ...) sort)`")),
            }
        }
        self.expect(Kind::Open, "a list of terms, one for each function")?;
        for signature in &signatures {
            self.body(signature)?;
        }
        self.expect(Kind::Close, "`)` behind the terms, of which there is one for each function")?;
        Ok(signatures.iter().map(|s| s.fun).collect())
    }
}
