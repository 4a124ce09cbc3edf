//! The scrambler that numbers names as they are declared: its grammar, and what it changes.
//!
//! A name is replaced when it is read, by the number that it has at that moment. Scopes only take numbers back, not names:
//! what was declared once stays known.

use std::io::Write;

use crate::core::{annotation, name_of, text};
use crate::lexer::{Dialect, Token};
use crate::options::{Annotations, Mode, Options};
use crate::reader::{Halt, Reader, Top};
use crate::source::Source;
use crate::symbols::{Symbol, TooMany};
use crate::tree::{Numbered, Ref, Shape, What};
use crate::words::words;

words! {
    /// Reserved words first, then those that mean something.
    WORDS, _COUNT:
    AS = "as",
    UNDERSCORE = "_",
    LET = "let",
    BANG = "!",
    FORALL = "forall",
    EXISTS = "exists",
    SET_LOGIC = "set-logic",
    DECLARE_SORT = "declare-sort",
    DEFINE_SORT = "define-sort",
    DECLARE_FUN = "declare-fun",
    DEFINE_FUN = "define-fun",
    PUSH = "push",
    POP = "pop",
    ASSERT = "assert",
    CHECK_SAT = "check-sat",
    GET_ASSERTIONS = "get-assertions",
    GET_UNSAT_CORE = "get-unsat-core",
    GET_PROOF = "get-proof",
    SET_OPTION = "set-option",
    GET_INFO = "get-info",
    SET_INFO = "set-info",
    GET_ASSIGNMENT = "get-assignment",
    GET_MODEL = "get-model",
    GET_VALUE = "get-value",
    EXIT = "exit",
    AND = "and",
    OR = "or",
    XOR = "xor",
    DISTINCT = "distinct",
    EQUAL = "=",
    PLUS = "+",
    TIMES = "*",
    BVAND = "bvand",
    BVOR = "bvor",
    BVXOR = "bvxor",
    BVNAND = "bvnand",
    BVNOR = "bvnor",
    BVCOMP = "bvcomp",
    BVADD = "bvadd",
    BVMUL = "bvmul",
    LESS = "<",
    GREATER = ">",
    AT_MOST = "<=",
    AT_LEAST = ">=",
    BVSLT = "bvslt",
    BVSGT = "bvsgt",
    BVSLE = "bvsle",
    BVSGE = "bvsge",
    BVULT = "bvult",
    BVUGT = "bvugt",
    BVULE = "bvule",
    BVUGE = "bvuge",
    NAMED = ":named",
}

/// Frames.
const APPLICATION: u32 = 0;
const LET_BINDINGS: u32 = 1;
const LET_BODY: u32 = 2;
const QUANTIFIED: u32 = 3;
const ANNOTATED: u32 = 4;
const LIST: u32 = 5;

/// What a comparison is called when its arguments stand in the opposite order.
fn turned(function: Symbol) -> Option<Symbol> {
    Some(match function {
        LESS => GREATER,
        GREATER => LESS,
        AT_MOST => AT_LEAST,
        AT_LEAST => AT_MOST,
        BVSLT => BVSGT,
        BVSGT => BVSLT,
        BVSLE => BVSGE,
        BVSGE => BVSLE,
        BVULT => BVUGT,
        BVUGT => BVULT,
        BVULE => BVUGE,
        BVUGE => BVULE,
        _ => return None,
    })
}

/// The scrambler at work.
pub(crate) struct Numbering<'a, 'o> {
    pub(crate) reader: Reader<'a>,
    options: &'o Options,
    /// The number that the next name gets.
    next_number: u32,
    /// The numbers to go back to, and how many scopes go back to each.
    scopes: Vec<(u32, u64)>,
    /// Whether the logic is one of difference logic, as soon as it is asked for with `set-logic` as the first command.
    difference: Option<bool>,
    last_is_check: bool,
}

impl<'a, 'o> Numbering<'a, 'o> {
    pub(crate) fn new(source: Source<'a>, out: &'a mut dyn Write, options: &'o Options) -> Self {
        let dialect = Dialect { reserved: AND, old: true };
        Self {
            reader: Reader::new(source, out, WORDS, dialect, options.seed),
            options,
            next_number: 1,
            scopes: Vec::new(),
            difference: None,
            last_is_check: false,
        }
    }

    /// Reads and prints the whole script. When unfolding, the commands are left to be printed.
    pub(crate) fn run(&mut self) -> Result<(), Halt> {
        if let Some(core) = &self.options.core {
            core.tell(&mut self.reader.out)?;
        }
        let whole = self.options.mode == Mode::Unfold;
        loop {
            match self.command()? {
                Top::Stray(Token::End) => break,
                Top::Stray(Token::Close) => {}
                Top::Stray(_) => {
                    if self.reader.lexer.ended() {
                        break;
                    }
                }
                Top::Command => {
                    if !whole && self.last_is_check && self.reader.commands.len() > 0 {
                        self.print()?;
                    }
                }
            }
        }
        if whole {
            self.filter();
            return Ok(());
        }
        self.print()
    }

    fn filter(&mut self) {
        if let Some(core) = &self.options.core {
            let (assert, named) = (self.resolve(ASSERT), self.resolve(NAMED));
            crate::core::filter(&mut self.reader, core, assert, named);
        }
    }

    /// What stands for a word by now.
    fn resolve(&self, symbol: Symbol) -> Ref {
        let symbols = &self.reader.lexer.symbols;
        // Where nothing is scrambled, quoted symbols stay others than those without bars.
        let plain = if self.reader.random.is_none() { symbol } else { symbols.plain(symbol) };
        match symbols.name(plain) {
            0 if symbols.text(plain).is_empty() => Ref::EMPTY,
            0 => Ref::word(plain),
            name => Ref::from_bits(name),
        }
    }

    fn declare(&mut self, symbol: Symbol) -> Result<(), Halt> {
        let symbols = &mut self.reader.lexer.symbols;
        if self.reader.random.is_none() {
            symbols.set_name(symbol, Ref::word(symbol).bits());
            return Ok(());
        }
        let number = Ref::numbered(Numbered::X(self.next_number))?;
        self.next_number += 1;
        let plain = symbols.plain(symbol);
        symbols.set_name(plain, number.bits());
        Ok(())
    }

    fn enter(&mut self, times: u64) {
        match self.scopes.last_mut() {
            _ if times == 0 => {}
            Some((number, count)) if *number == self.next_number => *count += times,
            _ => self.scopes.push((self.next_number, times)),
        }
    }

    fn leave(&mut self, mut times: u64) -> Result<(), Halt> {
        while times > 0 {
            let Some((number, count)) = self.scopes.last_mut() else {
                return Err(Halt::refused("ERROR pop command over an empty stack"));
            };
            let these = times.min(*count);
            self.next_number = *number;
            *count -= these;
            times -= these;
            if *count == 0 {
                self.scopes.pop();
            }
        }
        Ok(())
    }

    fn add(&mut self, command: Symbol, parts: &[Ref]) -> Result<(), Halt> {
        let command = self.resolve(command);
        let from = self.reader.stack.len();
        self.reader.push(command);
        for part in parts {
            self.reader.push(*part);
        }
        let node = self.reader.tree.collect(Shape::List, &mut self.reader.stack, from)?;
        self.reader.commands.push(node.bits());
        self.last_is_check = command == Ref::word(CHECK_SAT);
        Ok(())
    }

    /// The next word, as it is printed by now.
    fn resolved(&mut self) -> Result<Ref, Halt> {
        let word = self.reader.word()?;
        Ok(self.resolve(word))
    }

    /// A node whose first part is a word. An empty word is not printed, not even as an empty list.
    fn headed(&mut self, head: Ref, parts: &[Ref]) -> Result<Ref, Halt> {
        let from = self.reader.stack.len();
        if head != Ref::EMPTY {
            self.reader.push(head);
        }
        for part in parts {
            self.reader.push(*part);
        }
        Ok(self.reader.tree.collect(Shape::List, &mut self.reader.stack, from)?)
    }

    /// Reads one command.
    fn command(&mut self) -> Result<Top, Halt> {
        let token = self.reader.next()?;
        if token != Token::Open {
            return Ok(Top::Stray(token));
        }
        let Token::Reserved(command) = self.reader.next()? else { return Err(Halt::syntax()) };
        match command {
            SET_LOGIC => {
                let logic = self.reader.symbol()?;
                let logic = self.resolve(logic);
                self.reader.expect(Token::Close)?;
                self.add(command, &[logic])?;
            }
            DECLARE_SORT => {
                let symbol = self.reader.symbol()?;
                let arity = self.reader.numeral()?;
                self.reader.expect(Token::Close)?;
                self.declare(symbol)?;
                let parts = [self.resolve(symbol), self.resolve(arity)];
                self.add(command, &parts)?;
            }
            DEFINE_SORT => {
                let symbol = self.reader.symbol()?;
                let parameters = self.parameters()?;
                let sort = self.next_sort()?;
                self.reader.expect(Token::Close)?;
                self.declare(symbol)?;
                let parts = [self.resolve(symbol), parameters, sort];
                self.add(command, &parts)?;
                if parameters != Ref::EMPTY {
                    self.leave(1)?;
                }
            }
            DECLARE_FUN => {
                let symbol = self.reader.symbol()?;
                let sorts = self.sorts()?;
                let sort = self.next_sort()?;
                self.reader.expect(Token::Close)?;
                self.declare(symbol)?;
                let parts = [self.resolve(symbol), sorts, sort];
                self.add(command, &parts)?;
            }
            DEFINE_FUN => {
                let symbol = self.reader.symbol()?;
                self.reader.expect(Token::Open)?;
                let token = self.reader.next()?;
                // The scope of the variables is never left.
                let variables = if token == Token::Close { Ref::EMPTY } else { self.variables(token, false)? };
                let sort = self.next_sort()?;
                let term = self.next_term()?;
                self.reader.expect(Token::Close)?;
                self.declare(symbol)?;
                let parts = [self.resolve(symbol), variables, sort, term];
                self.add(command, &parts)?;
            }
            PUSH | POP => {
                let numeral = self.reader.numeral()?;
                self.reader.expect(Token::Close)?;
                let times = u64::try_from(self.reader.value(numeral)).unwrap_or(0);
                if command == PUSH {
                    self.enter(times);
                } else {
                    self.leave(times)?;
                }
                let parts = [self.resolve(numeral)];
                self.add(command, &parts)?;
            }
            ASSERT => {
                let term = self.next_term()?;
                self.reader.expect(Token::Close)?;
                self.add(command, &[term])?;
            }
            CHECK_SAT | GET_ASSERTIONS | GET_UNSAT_CORE | GET_PROOF | GET_ASSIGNMENT | EXIT => {
                self.reader.expect(Token::Close)?;
                self.add(command, &[])?;
            }
            SET_OPTION => {
                self.reader.expect(Token::Keyword)?;
                let option = self.resolved()?;
                let token = self.reader.next()?;
                if !is_value(token) {
                    return Err(Halt::syntax());
                }
                let value = self.resolved()?;
                self.reader.expect(Token::Close)?;
                self.add(command, &[option, value])?;
            }
            GET_INFO | SET_INFO => {
                self.reader.lexer.forget(true);
                self.reader.expect(Token::Keyword)?;
                if command == SET_INFO && !is_value(self.reader.next()?) {
                    return Err(Halt::syntax());
                }
                self.reader.expect(Token::Close)?;
                self.reader.lexer.forget(false);
            }
            GET_VALUE => {
                self.reader.expect(Token::Open)?;
                let from = self.reader.stack.len();
                let mut token = self.reader.next()?;
                let mut terms = Vec::new();
                loop {
                    terms.push(self.term(token)?);
                    token = self.reader.next()?;
                    if token == Token::Close {
                        break;
                    }
                }
                for term in terms {
                    self.reader.push(term);
                }
                let terms = self.reader.tree.collect(Shape::List, &mut self.reader.stack, from)?;
                self.reader.expect(Token::Close)?;
                self.add(command, &[terms])?;
            }
            _ => return Err(Halt::syntax()),
        }
        Ok(Top::Command)
    }

    /// `( symbol* )`
    fn parameters(&mut self) -> Result<Ref, Halt> {
        self.reader.expect(Token::Open)?;
        let from = self.reader.stack.len();
        loop {
            match self.reader.next()? {
                Token::Symbol => {
                    let symbol = self.reader.word()?;
                    self.declare(symbol)?;
                    let name = self.resolve(symbol);
                    // The first one is outside of the scope.
                    if self.reader.stack.len() == from {
                        self.enter(1);
                    }
                    self.reader.push(name);
                }
                Token::Close if self.reader.stack.len() == from => return Ok(Ref::EMPTY),
                Token::Close => return Ok(self.reader.tree.collect(Shape::List, &mut self.reader.stack, from)?),
                _ => return Err(Halt::syntax()),
            }
        }
    }

    /// `( symbol sort )+ )` whose first token was read. They are in a new scope.
    fn variables(&mut self, token: Token, shuffled: bool) -> Result<Ref, Halt> {
        let mut token = token;
        self.reader.begin(LIST)?;
        let mut first = true;
        loop {
            match token {
                Token::Open => {
                    let symbol = self.reader.symbol()?;
                    let sort = self.next_sort()?;
                    self.reader.expect(Token::Close)?;
                    if first {
                        self.enter(1);
                    }
                    first = false;
                    self.declare(symbol)?;
                    let name = self.resolve(symbol);
                    let node = self.headed(name, &[sort])?;
                    self.reader.push(node);
                }
                // Quantified variables are shuffled only when the body has been read.
                Token::Close if shuffled => {
                    self.reader.become_kind(QUANTIFIED);
                    return Ok(Ref::EMPTY);
                }
                Token::Close => return self.reader.close(Shape::List),
                _ => return Err(Halt::syntax()),
            }
            token = self.reader.next()?;
        }
    }

    /// `( sort* )`
    fn sorts(&mut self) -> Result<Ref, Halt> {
        self.reader.expect(Token::Open)?;
        let mut token = self.reader.next()?;
        if token == Token::Close {
            return Ok(Ref::EMPTY);
        }
        self.reader.begin(LIST)?;
        while token != Token::Close {
            let sort = self.sort(token)?;
            self.reader.push(sort);
            token = self.reader.next()?;
        }
        self.reader.close(Shape::List)
    }

    fn next_sort(&mut self) -> Result<Ref, Halt> {
        let token = self.reader.next()?;
        self.sort(token)
    }

    fn sort(&mut self, token: Token) -> Result<Ref, Halt> {
        let outside = self.reader.innermost();
        let mut token = token;
        loop {
            let mut sort = match token {
                Token::Symbol => self.resolved()?,
                Token::Open => match self.reader.next()? {
                    Token::Reserved(UNDERSCORE) => {
                        let symbol = self.reader.symbol()?;
                        self.indexed(symbol)?
                    }
                    Token::Symbol => {
                        let constructor = self.resolved()?;
                        self.reader.begin(LIST)?;
                        if constructor != Ref::EMPTY {
                            self.reader.push(constructor);
                        }
                        token = self.reader.next()?;
                        continue;
                    }
                    _ => return Err(Halt::syntax()),
                },
                _ => return Err(Halt::syntax()),
            };
            loop {
                if self.reader.innermost() == outside {
                    return Ok(sort);
                }
                self.reader.push(sort);
                token = self.reader.next()?;
                if token != Token::Close {
                    break;
                }
                sort = self.reader.close(Shape::List)?;
            }
        }
    }

    /// `numeral+ )` after an underscore and a symbol.
    fn indexed(&mut self, symbol: Symbol) -> Result<Ref, Halt> {
        let parts = [self.resolve(UNDERSCORE), self.resolve(symbol)];
        self.reader.begin(LIST)?;
        for part in parts {
            self.reader.push(part);
        }
        let mut indices = 0;
        loop {
            match self.reader.next()? {
                Token::Numeral => {}
                Token::Close if indices > 0 => return self.reader.close(Shape::List),
                _ => return Err(Halt::syntax()),
            }
            let index = self.resolved()?;
            self.reader.push(index);
            indices += 1;
        }
    }

    /// `identifier sort )` after `as`.
    fn qualified(&mut self) -> Result<Ref, Halt> {
        let identifier = match self.reader.next()? {
            Token::Symbol => self.resolved()?,
            Token::Open => {
                self.reader.expect(Token::Reserved(UNDERSCORE))?;
                let symbol = self.reader.symbol()?;
                self.indexed(symbol)?
            }
            _ => return Err(Halt::syntax()),
        };
        let sort = self.next_sort()?;
        self.reader.expect(Token::Close)?;
        let word = self.resolve(AS);
        self.headed(word, &[identifier, sort])
    }

    fn next_term(&mut self) -> Result<Ref, Halt> {
        let token = self.reader.next()?;
        self.term(token)
    }

    fn term(&mut self, token: Token) -> Result<Ref, Halt> {
        let mut token = token;
        'term: loop {
            let mut value = match token {
                Token::Symbol | Token::Numeral | Token::Decimal | Token::Bits => self.resolved()?,
                Token::Open => match self.reader.next()? {
                    Token::Symbol => {
                        let function = self.resolved()?;
                        token = self.applied(function)?;
                        continue;
                    }
                    Token::Reserved(UNDERSCORE) => match self.reader.next()? {
                        Token::Symbol => {
                            let symbol = self.reader.word()?;
                            self.indexed(symbol)?
                        }
                        Token::BitVectorName => {
                            let name = self.resolved()?;
                            let width = self.reader.numeral()?;
                            self.reader.expect(Token::Close)?;
                            let (word, width) = (self.resolve(UNDERSCORE), self.resolve(width));
                            self.headed(word, &[name, width])?
                        }
                        _ => return Err(Halt::syntax()),
                    },
                    Token::Reserved(AS) => self.qualified()?,
                    Token::Open => {
                        let function = match self.reader.next()? {
                            Token::Reserved(UNDERSCORE) => {
                                let symbol = self.reader.symbol()?;
                                self.indexed(symbol)?
                            }
                            Token::Reserved(AS) => self.qualified()?,
                            _ => return Err(Halt::syntax()),
                        };
                        token = self.applied(function)?;
                        continue;
                    }
                    Token::Reserved(LET) => {
                        self.enter(1);
                        self.reader.expect(Token::Open)?;
                        self.reader.expect(Token::Open)?;
                        self.reader.begin(LET_BINDINGS)?;
                        let symbol = self.reader.symbol()?;
                        self.reader.push(Ref::word(symbol));
                        token = self.reader.next()?;
                        continue;
                    }
                    Token::Reserved(binder @ (FORALL | EXISTS)) => {
                        self.reader.expect(Token::Open)?;
                        self.reader.expect(Token::Open)?;
                        // Which of the two stands below the frame of the variables.
                        self.reader.push(Ref::word(binder));
                        self.variables(Token::Open, true)?;
                        token = self.reader.next()?;
                        continue;
                    }
                    Token::Reserved(BANG) => {
                        self.reader.begin(ANNOTATED)?;
                        token = self.reader.next()?;
                        continue;
                    }
                    _ => return Err(Halt::syntax()),
                },
                _ => return Err(Halt::syntax()),
            };
            loop {
                let Some((kind, from)) = self.reader.innermost() else { return Ok(value) };
                match kind {
                    APPLICATION => {
                        self.reader.push(value);
                        token = self.reader.next()?;
                        if token != Token::Close {
                            continue 'term;
                        }
                        value = self.application(from)?;
                    }
                    LET_BINDINGS => {
                        self.reader.expect(Token::Close)?;
                        let symbol = self.reader.stack.pop().unwrap_or(0);
                        // Known from here on, to the bindings that follow as well.
                        self.declare(symbol)?;
                        let name = self.resolve(symbol);
                        let binding = self.headed(name, &[value])?;
                        self.reader.push(binding);
                        match self.reader.next()? {
                            Token::Open => {
                                let symbol = self.reader.symbol()?;
                                self.reader.push(Ref::word(symbol));
                            }
                            Token::Close => self.reader.become_kind(LET_BODY),
                            _ => return Err(Halt::syntax()),
                        }
                        token = self.reader.next()?;
                        continue 'term;
                    }
                    LET_BODY | QUANTIFIED => {
                        self.reader.expect(Token::Close)?;
                        self.reader.shuffle_stack(from);
                        let bound = self.reader.close(Shape::List)?;
                        let binder = if kind == LET_BODY { LET } else { self.reader.stack.pop().unwrap_or(FORALL) };
                        let word = self.resolve(binder);
                        value = self.headed(word, &[bound, value])?;
                        self.leave(1)?;
                    }
                    _ => {
                        self.reader.push(value);
                        value = self.annotations(from)?;
                    }
                }
            }
        }
    }

    fn applied(&mut self, function: Ref) -> Result<Token, Halt> {
        self.reader.begin(APPLICATION)?;
        self.reader.push(function);
        self.reader.next()
    }

    /// Ends an application whose parts begin at a place of the stack.
    fn application(&mut self, from: usize) -> Result<Ref, Halt> {
        if self.reader.random.is_some() {
            let function = match Ref::from_bits(self.reader.stack[from]).what() {
                What::Word(symbol) => Some(symbol),
                _ => None,
            };
            let to = self.reader.stack.len();
            if function.is_some_and(|f| self.is_commutative(f)) {
                self.reader.shuffle_stack(from + 1);
            // Drawn for every other application, whether it can be turned round or not.
            } else if self.reader.random.as_mut().is_some_and(|random| random.below(2) == 1)
                && let Some(turned) = function.and_then(turned)
                && !self.is_difference()
            {
                if to - from < 3 {
                    return Err(Halt::Beyond(
                        "a comparison has a single argument, on which the official scrambler crashes".into(),
                    ));
                }
                self.reader.stack[from] = self.resolve(turned).bits();
                self.reader.stack.swap(from + 1, from + 2);
            }
        }
        self.reader.close(Shape::List)
    }

    fn is_commutative(&mut self, function: Symbol) -> bool {
        match function {
            AND | OR | XOR | DISTINCT => true,
            EQUAL | PLUS | TIMES | BVAND | BVOR | BVXOR | BVNAND | BVNOR | BVCOMP | BVADD | BVMUL => {
                !self.is_difference()
            }
            _ => {
                self.is_difference();
                false
            }
        }
    }

    /// Whether the script is one of difference logic, as far as that is noticed: when `set-logic` is the first command that
    /// has not been printed.
    fn is_difference(&mut self) -> bool {
        if self.difference.is_none() && self.reader.commands.len() > 0 {
            let command = Ref::from_bits(self.reader.commands[0]);
            if let What::Node(node) = command.what()
                && self.reader.tree.first(node) == Some(Ref::word(SET_LOGIC))
            {
                let logic = text(&self.reader, self.reader.tree.part(node + 2));
                self.difference = Some(matches!(&logic[..], b"QF_IDL" | b"QF_RDL" | b"QF_UFIDL"));
            }
        }
        self.difference == Some(true)
    }

    /// Annotations, after the annotated term: the whole term.
    fn annotations(&mut self, from: usize) -> Result<Ref, Halt> {
        loop {
            match self.reader.next()? {
                Token::Keyword => {
                    let keyword = self.resolved()?;
                    let token = self.reader.next()?;
                    let value = self.value(token)?;
                    let attribute = self.reader.tree.add(Shape::Bare, &[keyword, value])?;
                    self.reader.push(attribute);
                }
                Token::Close if self.reader.stack.len() - from >= 2 => {
                    return match self.resolve(BANG) {
                        word if word == Ref::word(BANG) => self.reader.close(Shape::Annotated),
                        // Somebody has declared the symbol `|!|`.
                        word => {
                            let parts: Vec<Ref> = (from..self.reader.stack.len())
                                .map(|at| Ref::from_bits(self.reader.stack[at]))
                                .collect();
                            self.reader.end();
                            self.headed(word, &parts)
                        }
                    };
                }
                _ => return Err(Halt::syntax()),
            }
        }
    }

    /// The value of an annotation: a word or a list.
    fn value(&mut self, token: Token) -> Result<Ref, Halt> {
        let outside = self.reader.innermost();
        let mut token = token;
        loop {
            let mut value = match token {
                _ if is_value(token) => self.resolved()?,
                Token::Open => {
                    self.reader.begin(LIST)?;
                    token = self.reader.next()?;
                    continue;
                }
                Token::Close if self.reader.innermost() != outside => self.reader.close(Shape::List)?,
                _ => return Err(Halt::syntax()),
            };
            loop {
                if self.reader.innermost() == outside {
                    return Ok(value);
                }
                self.reader.push(value);
                token = self.reader.next()?;
                if token != Token::Close {
                    break;
                }
                value = self.reader.close(Shape::List)?;
            }
        }
    }
}

/// Whether a token is a value of options and information.
fn is_value(token: Token) -> bool {
    matches!(token, Token::Numeral | Token::Decimal | Token::Symbol | Token::Text)
}

// Printing.
impl Numbering<'_, '_> {
    /// Prints the commands that are kept, scrambled, and forgets them.
    fn print(&mut self) -> Result<(), Halt> {
        self.filter();
        if self.reader.random.is_some() {
            self.reader.shuffle_commands(Ref::word(DECLARE_FUN));
            self.reader.shuffle_commands(Ref::word(ASSERT));
        }
        for at in 0..self.reader.commands.len() {
            let command = Ref::from_bits(self.reader.commands[at]);
            self.print_command(command)?;
        }
        self.reader.clear();
        Ok(())
    }

    /// Prints a command and an end of line.
    pub(crate) fn print_command(&mut self, command: Ref) -> Result<(), Halt> {
        let keep = self.options.annotations == Annotations::Keep;
        let assert = matches!(command.what(), What::Node(n) if self.reader.tree.first(n) == Some(Ref::word(ASSERT)));
        let mut lifted = None;
        if assert && keep && self.options.lift_named {
            lifted = name_of(&self.reader, command, Ref::word(NAMED));
            if let Some(name) = lifted
                && self.options.scramble_named
            {
                lifted = Some(self.name_of_annotation(name)?);
            }
        }
        match (lifted, command.what()) {
            (Some(name), What::Node(node)) => {
                self.reader.out.text(b"(assert (! ");
                let term = self.reader.tree.part(node + 2);
                self.part(term)?;
                self.reader.out.text(b" :named ");
                self.part(name)?;
                self.reader.out.text(b"))");
            }
            _ => self.part(command)?,
        }
        self.reader.out.byte(b'\n');
        Ok(self.reader.out.pass()?)
    }

    /// The number of a name of an annotation.
    fn name_of_annotation(&mut self, name: Ref) -> Result<Ref, Halt> {
        let text = text(&self.reader, name);
        let symbols = &mut self.reader.lexer.symbols;
        let symbol = symbols.intern(&text).map_err(|TooMany| Halt::from(TooMany))?;
        let known = symbols.name(symbol);
        if known != 0 {
            return Ok(Ref::from_bits(known));
        }
        let number = Ref::numbered(Numbered::Y(self.next_number))?;
        self.next_number += 1;
        symbols.set_name(symbol, number.bits());
        Ok(number)
    }

    fn part(&mut self, part: Ref) -> Result<(), Halt> {
        let floor = self.reader.printing.len();
        let keep = self.options.annotations == Annotations::Keep;
        let strip = self.reader.random.is_some() && !keep;
        let named = Ref::word(NAMED);
        let (lift, rename) = (keep && self.options.lift_named, keep && self.options.scramble_named);
        let (mut at, mut end, mut closing) = (0, 0, false);
        let mut part = part;
        loop {
            match part.what() {
                What::Word(symbol) | What::Name(symbol) => {
                    self.reader.out.text(self.reader.lexer.symbols.text(symbol));
                }
                What::Numbered(Numbered::X(number)) => self.reader.out.numbered(b'x', number),
                What::Numbered(Numbered::Y(number)) => self.reader.out.numbered(b'y', number),
                What::Node(mut node) => {
                    if strip && self.reader.tree.open(node).0 == Shape::Annotated {
                        part = self.reader.tree.part(node + 1);
                        continue;
                    }
                    if lift && let Some((place, _)) = annotation(&self.reader, node, named) {
                        let (_, from, to) = self.reader.tree.open(node);
                        if to - from == 2 {
                            // What is inside is printed as it is, even if it has a name as well.
                            match self.reader.tree.part(from).what() {
                                What::Node(inner) => node = inner,
                                _ => {
                                    part = self.reader.tree.part(from);
                                    continue;
                                }
                            }
                        } else {
                            self.reader.tree.remove(node, place);
                        }
                    }
                    if rename && let Some((place, name)) = annotation(&self.reader, node, named) {
                        if matches!(name.what(), What::Node(_)) {
                            return Err(Halt::Beyond(
                                "a name of an annotation is a list, for which there is no number".into(),
                            ));
                        }
                        let name = self.name_of_annotation(name)?;
                        if let What::Node(attribute) = self.reader.tree.part(place).what() {
                            self.reader.tree.replace(attribute + 2, name);
                        }
                    }
                    let (shape, from, to) = self.reader.tree.open(node);
                    match shape {
                        Shape::Annotated => self.reader.out.text(b"(! "),
                        Shape::List => self.reader.out.byte(b'('),
                        Shape::Bare => {}
                    }
                    if from < to {
                        self.reader.printing.push(at as u32);
                        self.reader.printing.push((end as u32) << 1 | u32::from(closing));
                        part = self.reader.tree.part(from);
                        (at, end, closing) = (from + 1, to, shape != Shape::Bare);
                        continue;
                    }
                    if shape != Shape::Bare {
                        self.reader.out.byte(b')');
                    }
                }
            }
            self.reader.out.pass()?;
            while at == end {
                if closing {
                    self.reader.out.byte(b')');
                }
                if self.reader.printing.len() == floor {
                    return Ok(());
                }
                let packed = self.reader.printing.pop().unwrap_or(0);
                at = self.reader.printing.pop().unwrap_or(0) as usize;
                (end, closing) = ((packed >> 1) as usize, packed & 1 == 1);
            }
            self.reader.out.byte(b' ');
            part = self.reader.tree.part(at);
            at += 1;
        }
    }
}
