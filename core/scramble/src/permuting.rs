//! The scrambler that permutes the numbers of names: its grammar, and what it changes.

use crate::chunked::Chunked;
use crate::lexer::{Dialect, Token};
use crate::options::{Mode, Options};
use crate::reader::{Halt, Reader, Top};
use crate::source::Source;
use crate::symbols::Symbol;
use crate::tree::{Ref, Shape, What};
use crate::words::words;

words! {
    /// Reserved words first, then those that mean something.
    WORDS, _COUNT:
    BANG = "!",
    UNDERSCORE = "_",
    AS = "as",
    EXISTS = "exists",
    FORALL = "forall",
    LET = "let",
    MATCH = "match",
    ASSERT = "assert",
    CHECK_SAT = "check-sat",
    DECLARE_CONST = "declare-const",
    DECLARE_DATATYPE = "declare-datatype",
    DECLARE_DATATYPES = "declare-datatypes",
    DECLARE_FUN = "declare-fun",
    DECLARE_SORT = "declare-sort",
    DEFINE_FUN = "define-fun",
    DEFINE_SORT = "define-sort",
    ECHO = "echo",
    EXIT = "exit",
    POP = "pop",
    PUSH = "push",
    RESET = "reset",
    SET_INFO = "set-info",
    SET_LOGIC = "set-logic",
    SET_OPTION = "set-option",
    GET_UNSAT_CORE = "get-unsat-core",
    PATTERN = ":pattern",
    NAMED = ":named",
    QID = ":qid",
    NO_PATTERN = ":no-pattern",
    SKOLEM_ID = ":skolemid",
    LABEL_POSITIVE = ":lblpos",
    LABEL_NEGATIVE = ":lblneg",
    WEIGHT = ":weight",
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
    FP_EQ = "fp.eq",
    FP_ADD = "fp.add",
    FP_MUL = "fp.mul",
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
    FP_LT = "fp.lt",
    FP_GT = "fp.gt",
    FP_LEQ = "fp.leq",
    FP_GEQ = "fp.geq",
    ZERO = "0",
    ONE = "1",
    PRODUCE_CORES = ":produce-unsat-cores",
    TRUE = "true",
    PRINT_SUCCESS = ":print-success",
    FALSE = "false",
}

/// Frames.
const APPLICATION: u32 = 0;
const LET_BINDINGS: u32 = 1;
const LET_BODY: u32 = 2;
const WHOLE: u32 = 3;
const ANNOTATED: u32 = 4;
const PATTERNS: u32 = 5;
const MATCHED: u32 = 6;
const CASES: u32 = 7;

/// What the theories of a logic make commutative or turn round.
#[derive(Clone, Copy, Debug)]
struct Theories {
    difference: bool,
    arithmetic: bool,
    bit_vectors: bool,
    floats: bool,
}

impl Theories {
    fn of(logic: &[u8]) -> Self {
        let has = |part: &str| memchr::memmem::find(logic, part.as_bytes()).is_some();
        Self {
            difference: has("IDL") || has("RDL"),
            arithmetic: has("IA") || has("RA"),
            bit_vectors: has("BV"),
            floats: has("FP"),
        }
    }

    /// From which argument on the order of a function's arguments does not matter.
    fn commutative(self, function: Symbol) -> Option<usize> {
        let from_first = match function {
            EQUAL => !self.difference,
            PLUS | TIMES => self.arithmetic,
            BVAND | BVOR | BVXOR | BVNAND | BVNOR | BVCOMP | BVADD | BVMUL => self.bit_vectors,
            FP_EQ => self.floats,
            // The first argument is the rounding mode.
            FP_ADD | FP_MUL if self.floats => return Some(1),
            _ => false,
        };
        from_first.then_some(0)
    }

    /// What a comparison is called when its arguments stand in the opposite order.
    fn turned(self, function: Symbol) -> Option<Symbol> {
        let (known, turned) = match function {
            LESS => (self.arithmetic, GREATER),
            GREATER => (self.arithmetic, LESS),
            AT_MOST => (self.arithmetic, AT_LEAST),
            AT_LEAST => (self.arithmetic, AT_MOST),
            BVSLT => (self.bit_vectors, BVSGT),
            BVSGT => (self.bit_vectors, BVSLT),
            BVSLE => (self.bit_vectors, BVSGE),
            BVSGE => (self.bit_vectors, BVSLE),
            BVULT => (self.bit_vectors, BVUGT),
            BVUGT => (self.bit_vectors, BVULT),
            BVULE => (self.bit_vectors, BVUGE),
            BVUGE => (self.bit_vectors, BVULE),
            FP_LT => (self.floats, FP_GT),
            FP_GT => (self.floats, FP_LT),
            FP_LEQ => (self.floats, FP_GEQ),
            FP_GEQ => (self.floats, FP_LEQ),
            _ => (false, function),
        };
        known.then_some(turned)
    }
}

/// A name that was looked up before it was declared keeps its text for good.
const LOOKED_UP: u32 = 1;

/// The scrambler at work.
pub(crate) struct Permuting<'a, 'o> {
    pub(crate) reader: Reader<'a>,
    options: &'o Options,
    theories: Option<Theories>,
    /// The number that the next new name gets; 0 is nobody's.
    next_name: u32,
    /// The numbers that names are printed with.
    printed: Chunked<u32>,
    /// The assertions that were named so far, for cores.
    named: u32,
    last_is_check: bool,
    /// How many assertions there were.
    asserts: u64,
}

impl<'a, 'o> Permuting<'a, 'o> {
    pub(crate) fn new(source: Source<'a>, out: &'a mut dyn std::io::Write, options: &'o Options) -> Self {
        let dialect = Dialect { reserved: AND, old: false };
        Self {
            reader: Reader::new(source, out, WORDS, dialect, options.seed),
            options,
            theories: None,
            next_name: 1,
            printed: Chunked::default(),
            named: 0,
            last_is_check: false,
            asserts: 0,
        }
    }

    /// Reads and prints the whole script. What is said to the errors in the end, if anything.
    pub(crate) fn run(&mut self) -> Result<Option<String>, Halt> {
        if let Some(core) = &self.options.core {
            core.tell(&mut self.reader.out)?;
        }
        if self.options.mode != Mode::Incremental && !self.options.count_asserts {
            self.reader.out.text(b"(set-option :print-success false)\n");
        }
        self.reader.out.text(match self.options.mode {
            Mode::UnsatCore => b"(set-option :produce-unsat-cores true)\n",
            Mode::ModelValidation => b"(set-option :produce-models true)\n",
            Mode::Proof => b"(set-option :produce-proofs true)\n",
            _ => b"",
        });
        loop {
            match self.command()? {
                Top::Stray(Token::End) => break,
                Top::Stray(Token::Close) => {}
                Top::Stray(_) => {
                    if self.reader.lexer.ended() {
                        break;
                    }
                }
                Top::Command if self.options.count_asserts => self.reader.clear(),
                Top::Command => {
                    if self.last_is_check && self.reader.commands.len() > 0 {
                        self.print()?;
                    }
                }
            }
        }
        if self.options.count_asserts {
            return Ok(Some(format!("; Number of assertions: {}", self.asserts)));
        }
        self.print()?;
        Ok(None)
    }

    fn add(&mut self, parts: &[Ref]) -> Result<(), Halt> {
        let node = self.reader.list(parts)?;
        self.reader.commands.push(node.bits());
        self.last_is_check = parts == [Ref::word(CHECK_SAT)];
        Ok(())
    }

    fn declare(&mut self, symbol: Symbol) -> Result<Ref, Halt> {
        let symbols = &mut self.reader.lexer.symbols;
        let plain = symbols.plain(symbol);
        if symbols.name(plain) == 0 {
            symbols.set_name(plain, self.next_name + LOOKED_UP);
            self.next_name += 1;
        }
        Ok(Ref::name(symbol))
    }

    /// Reads one command.
    fn command(&mut self) -> Result<Top, Halt> {
        let token = self.reader.next()?;
        if token != Token::Open {
            return Ok(Top::Stray(token));
        }
        let Token::Reserved(command) = self.reader.next()? else { return Err(Halt::syntax()) };
        let word = Ref::word(command);
        match command {
            ASSERT => {
                let term = self.next_term()?;
                self.reader.expect(Token::Close)?;
                self.asserts += 1;
                self.add(&[word, term])?;
            }
            CHECK_SAT | EXIT => {
                self.reader.expect(Token::Close)?;
                self.add(&[word])?;
            }
            DECLARE_CONST => {
                let symbol = self.reader.symbol()?;
                let sort = self.next_sort()?;
                self.reader.expect(Token::Close)?;
                let name = self.declare(symbol)?;
                self.add(&[Ref::word(DECLARE_FUN), name, Ref::EMPTY, sort])?;
            }
            DECLARE_FUN => {
                let symbol = self.reader.symbol()?;
                let sorts = self.sorts()?;
                let sort = self.next_sort()?;
                self.reader.expect(Token::Close)?;
                let name = self.declare(symbol)?;
                self.add(&[word, name, sorts, sort])?;
            }
            DEFINE_FUN => {
                let symbol = self.reader.symbol()?;
                self.reader.expect(Token::Open)?;
                let token = self.reader.next()?;
                let variables = if token == Token::Close { Ref::EMPTY } else { self.variables(token)? };
                let sort = self.next_sort()?;
                let term = self.next_term()?;
                self.reader.expect(Token::Close)?;
                let name = self.declare(symbol)?;
                self.add(&[word, name, variables, sort, term])?;
            }
            DECLARE_SORT => {
                let symbol = self.reader.symbol()?;
                let arity = self.reader.numeral()?;
                self.reader.expect(Token::Close)?;
                if self.reader.value(arity) != 0 {
                    return Err(Halt::refused("ERROR: declare-sort with arity != 0"));
                }
                let name = self.declare(symbol)?;
                self.add(&[word, name, Ref::word(arity)])?;
            }
            DEFINE_SORT => {
                let symbol = self.reader.symbol()?;
                self.reader.expect(Token::Open)?;
                self.reader.expect(Token::Close)?;
                let sort = self.next_sort()?;
                self.reader.expect(Token::Close)?;
                let name = self.declare(symbol)?;
                self.add(&[word, name, Ref::EMPTY, sort])?;
            }
            DECLARE_DATATYPE => {
                let symbol = self.reader.symbol()?;
                self.reader.expect(Token::Open)?;
                let datatype = self.datatype()?;
                self.reader.expect(Token::Close)?;
                let name = self.declare(symbol)?;
                let sort = self.reader.list(&[name, Ref::word(ZERO)])?;
                let (sorts, datatypes) = (self.reader.list(&[sort])?, self.reader.list(&[datatype])?);
                self.add(&[Ref::word(DECLARE_DATATYPES), sorts, datatypes])?;
            }
            DECLARE_DATATYPES => {
                let sorts = self.several(Self::datatype_sort)?;
                let datatypes = self.several(Self::datatype)?;
                self.reader.expect(Token::Close)?;
                self.add(&[word, sorts, datatypes])?;
            }
            ECHO => {
                self.reader.expect(Token::Text)?;
                self.reader.expect(Token::Close)?;
            }
            PUSH | POP => {
                let numeral = self.reader.numeral()?;
                self.reader.expect(Token::Close)?;
                let times = self.reader.value(numeral);
                if times > MOST_LEVELS {
                    return Err(Halt::Beyond(format!(
                        "{times} levels at once are more than the {MOST_LEVELS} that are taken apart into single ones"
                    )));
                }
                for _ in 0..times {
                    self.add(&[word, Ref::word(ONE)])?;
                }
            }
            RESET => {
                self.reader.expect(Token::Close)?;
                if !self.options.non_smtcomp {
                    return Err(foreign("reset"));
                }
                self.add(&[word])?;
            }
            SET_INFO => self.skip_info()?,
            SET_LOGIC => {
                let logic = self.reader.symbol()?;
                self.reader.expect(Token::Close)?;
                if self.theories.is_some() {
                    return Err(Halt::refused("ERROR logic is already set"));
                }
                self.theories = Some(Theories::of(self.reader.lexer.symbols.text(logic)));
                self.add(&[word, Ref::word(logic)])?;
            }
            SET_OPTION => {
                self.reader.expect(Token::Keyword)?;
                let option = self.reader.word()?;
                let token = self.reader.next()?;
                let value = self.attribute_value(token)?;
                self.reader.expect(Token::Close)?;
                if self.options.non_smtcomp {
                    self.add(&[word, Ref::word(option), value])?;
                } else if ![(PRODUCE_CORES, Ref::word(TRUE)), (PRINT_SUCCESS, Ref::word(FALSE))]
                    .contains(&(option, value))
                {
                    return Err(foreign("set-option"));
                }
            }
            GET_UNSAT_CORE => self.reader.expect(Token::Close)?,
            _ => return Err(Halt::syntax()),
        }
        Ok(Top::Command)
    }

    /// What `set-info` says is not printed, so it is not kept.
    fn skip_info(&mut self) -> Result<(), Halt> {
        self.reader.lexer.forget(true);
        self.reader.expect(Token::Keyword)?;
        let mut depth: u64 = 0;
        let mut values: u64 = 0;
        loop {
            match self.reader.next()? {
                Token::Close if depth == 0 => break,
                _ if depth == 0 && values == 1 => return Err(Halt::syntax()),
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::Keyword if depth > 0 => {}
                Token::Symbol | Token::Numeral | Token::Decimal | Token::Bits | Token::Text => {}
                _ => return Err(Halt::syntax()),
            }
            values += u64::from(depth == 0);
        }
        self.reader.lexer.forget(false);
        Ok(())
    }

    /// A value of an option: a constant, a symbol or a list.
    fn attribute_value(&mut self, token: Token) -> Result<Ref, Halt> {
        let mut token = token;
        loop {
            let mut value = match token {
                Token::Symbol | Token::Numeral | Token::Decimal | Token::Bits | Token::Text => {
                    Ref::word(self.reader.word()?)
                }
                Token::Keyword if self.reader.innermost().is_some() => Ref::word(self.reader.word()?),
                Token::Open => {
                    self.reader.begin(WHOLE)?;
                    token = self.reader.next()?;
                    continue;
                }
                Token::Close if self.reader.innermost().is_some() => self.reader.close(Shape::List)?,
                _ => return Err(Halt::syntax()),
            };
            loop {
                if self.reader.innermost().is_none() {
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

    /// `( item+ )`, each beginning with a parenthesis that was read when `item` is called.
    fn several(&mut self, item: fn(&mut Self) -> Result<Ref, Halt>) -> Result<Ref, Halt> {
        self.reader.expect(Token::Open)?;
        self.reader.expect(Token::Open)?;
        self.reader.begin(WHOLE)?;
        loop {
            let one = item(self)?;
            self.reader.push(one);
            match self.reader.next()? {
                Token::Open => {}
                Token::Close => return self.reader.close(Shape::List),
                _ => return Err(Halt::syntax()),
            }
        }
    }

    /// `symbol arity )`
    fn datatype_sort(&mut self) -> Result<Ref, Halt> {
        let symbol = self.reader.symbol()?;
        let arity = self.reader.numeral()?;
        self.reader.expect(Token::Close)?;
        if self.reader.value(arity) != 0 {
            return Err(Halt::refused("ERROR: declare-datatypes contains a sort with arity != 0"));
        }
        let name = self.declare(symbol)?;
        self.reader.list(&[name, Ref::word(arity)])
    }

    /// `constructor+ )`
    fn datatype(&mut self) -> Result<Ref, Halt> {
        self.reader.expect(Token::Open)?;
        self.reader.begin(WHOLE)?;
        let (_, from) = self.reader.innermost().unwrap_or((WHOLE, 0));
        loop {
            let one = self.constructor()?;
            self.reader.push(one);
            match self.reader.next()? {
                Token::Open => {}
                Token::Close => {
                    self.reader.shuffle_stack(from);
                    return self.reader.close(Shape::List);
                }
                _ => return Err(Halt::syntax()),
            }
        }
    }

    /// `symbol ( symbol sort )* )`
    fn constructor(&mut self) -> Result<Ref, Halt> {
        let symbol = self.reader.symbol()?;
        self.reader.begin(WHOLE)?;
        self.reader.push(Ref::name(symbol));
        loop {
            match self.reader.next()? {
                Token::Open => {
                    let selector = self.reader.symbol()?;
                    let sort = self.next_sort()?;
                    self.reader.expect(Token::Close)?;
                    let name = self.declare(selector)?;
                    let node = self.reader.list(&[name, sort])?;
                    self.reader.push(node);
                }
                Token::Close => {
                    self.declare(symbol)?;
                    return self.reader.close(Shape::List);
                }
                _ => return Err(Halt::syntax()),
            }
        }
    }

    /// `( sort* )`
    fn sorts(&mut self) -> Result<Ref, Halt> {
        self.reader.expect(Token::Open)?;
        let mut token = self.reader.next()?;
        if token == Token::Close {
            return Ok(Ref::EMPTY);
        }
        self.reader.begin(WHOLE)?;
        while token != Token::Close {
            let sort = self.sort(token)?;
            self.reader.push(sort);
            token = self.reader.next()?;
        }
        self.reader.close(Shape::List)
    }

    /// `( symbol sort )+ )` whose first token was read.
    fn variables(&mut self, token: Token) -> Result<Ref, Halt> {
        let mut token = token;
        self.reader.begin(WHOLE)?;
        loop {
            match token {
                Token::Open => {
                    let symbol = self.reader.symbol()?;
                    let sort = self.next_sort()?;
                    self.reader.expect(Token::Close)?;
                    let name = self.declare(symbol)?;
                    let node = self.reader.list(&[name, sort])?;
                    self.reader.push(node);
                }
                Token::Close => return self.reader.close(Shape::List),
                _ => return Err(Halt::syntax()),
            }
            token = self.reader.next()?;
        }
    }

    /// `symbol index+ )` after an underscore.
    fn indexed(&mut self) -> Result<Ref, Halt> {
        let symbol = self.reader.symbol()?;
        self.reader.begin(WHOLE)?;
        self.reader.push(Ref::word(UNDERSCORE));
        // Nobody declares it: `is` in `(_ is c)` stays, whatever else is called so.
        self.reader.push(Ref::word(symbol));
        let mut indices = 0;
        loop {
            let index = match self.reader.next()? {
                Token::Numeral => Ref::word(self.reader.word()?),
                Token::Symbol => Ref::name(self.reader.word()?),
                Token::Close if indices > 0 => return self.reader.close(Shape::List),
                _ => return Err(Halt::syntax()),
            };
            self.reader.push(index);
            indices += 1;
        }
    }

    /// `identifier sort )` after `as`.
    fn qualified(&mut self) -> Result<Ref, Halt> {
        let identifier = match self.reader.next()? {
            Token::Symbol => Ref::name(self.reader.word()?),
            Token::Open => {
                self.reader.expect(Token::Reserved(UNDERSCORE))?;
                self.indexed()?
            }
            _ => return Err(Halt::syntax()),
        };
        let sort = self.next_sort()?;
        self.reader.expect(Token::Close)?;
        self.reader.list(&[Ref::word(AS), identifier, sort])
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
                Token::Symbol => Ref::name(self.reader.word()?),
                Token::Open => {
                    let constructor = match self.reader.next()? {
                        Token::Reserved(UNDERSCORE) => None,
                        Token::Symbol => Some(Ref::name(self.reader.word()?)),
                        Token::Open => {
                            self.reader.expect(Token::Reserved(UNDERSCORE))?;
                            Some(self.indexed()?)
                        }
                        _ => return Err(Halt::syntax()),
                    };
                    match constructor {
                        None => self.indexed()?,
                        Some(constructor) => {
                            self.reader.begin(WHOLE)?;
                            self.reader.push(constructor);
                            token = self.reader.next()?;
                            continue;
                        }
                    }
                }
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

    fn next_term(&mut self) -> Result<Ref, Halt> {
        let token = self.reader.next()?;
        self.term(token)
    }

    fn term(&mut self, token: Token) -> Result<Ref, Halt> {
        let mut token = token;
        'term: loop {
            let mut value = match token {
                Token::Symbol => Ref::name(self.reader.word()?),
                Token::Numeral | Token::Decimal | Token::Bits | Token::Text => Ref::word(self.reader.word()?),
                Token::Open => match self.reader.next()? {
                    Token::Symbol => {
                        let function = Ref::name(self.reader.word()?);
                        token = self.applied(function)?;
                        continue;
                    }
                    Token::Reserved(UNDERSCORE) => self.indexed()?,
                    Token::Reserved(AS) => self.qualified()?,
                    Token::Open => {
                        let function = match self.reader.next()? {
                            Token::Reserved(UNDERSCORE) => self.indexed()?,
                            Token::Reserved(AS) => self.qualified()?,
                            _ => return Err(Halt::syntax()),
                        };
                        token = self.applied(function)?;
                        continue;
                    }
                    Token::Reserved(LET) => {
                        self.reader.expect(Token::Open)?;
                        self.reader.expect(Token::Open)?;
                        self.reader.begin(LET_BINDINGS)?;
                        let symbol = self.reader.symbol()?;
                        self.reader.push(Ref::name(symbol));
                        token = self.reader.next()?;
                        continue;
                    }
                    Token::Reserved(binder @ (FORALL | EXISTS)) => {
                        self.reader.expect(Token::Open)?;
                        self.reader.begin(WHOLE)?;
                        self.reader.push(Ref::word(binder));
                        self.reader.expect(Token::Open)?;
                        let variables = self.variables(Token::Open)?;
                        self.reader.push(variables);
                        token = self.reader.next()?;
                        continue;
                    }
                    Token::Reserved(MATCH) => {
                        self.reader.begin(MATCHED)?;
                        self.reader.push(Ref::word(MATCH));
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
                self.reader.push(value);
                match kind {
                    APPLICATION => {
                        token = self.reader.next()?;
                        if token != Token::Close {
                            continue 'term;
                        }
                        value = self.application(from)?;
                    }
                    LET_BINDINGS => {
                        self.reader.expect(Token::Close)?;
                        match self.reader.next()? {
                            Token::Open => {
                                let symbol = self.reader.symbol()?;
                                self.reader.push(Ref::name(symbol));
                            }
                            Token::Close => self.bind(from)?,
                            _ => return Err(Halt::syntax()),
                        }
                        token = self.reader.next()?;
                        continue 'term;
                    }
                    LET_BODY => {
                        self.reader.expect(Token::Close)?;
                        let body = value;
                        self.reader.stack.pop();
                        self.reader.shuffle_stack(from);
                        let bindings = self.reader.close(Shape::List)?;
                        value = self.reader.list(&[Ref::word(LET), bindings, body])?;
                    }
                    WHOLE => {
                        self.reader.expect(Token::Close)?;
                        value = self.reader.close(Shape::List)?;
                    }
                    ANNOTATED | PATTERNS => match self.annotations()? {
                        Ok(term) => value = term,
                        Err(next) => {
                            token = next;
                            continue 'term;
                        }
                    },
                    MATCHED => {
                        self.reader.expect(Token::Open)?;
                        self.reader.expect(Token::Open)?;
                        self.reader.begin(CASES)?;
                        token = self.case()?;
                        continue 'term;
                    }
                    _ => {
                        self.reader.expect(Token::Close)?;
                        let at = self.reader.stack.len() - 2;
                        let case = self.reader.tree.collect(Shape::List, &mut self.reader.stack, at)?;
                        self.reader.push(case);
                        match self.reader.next()? {
                            Token::Open => {
                                token = self.case()?;
                                continue 'term;
                            }
                            Token::Close => {
                                self.reader.expect(Token::Close)?;
                                let cases = self.reader.close(Shape::List)?;
                                self.reader.push(cases);
                                value = self.reader.close(Shape::List)?;
                            }
                            _ => return Err(Halt::syntax()),
                        }
                    }
                }
            }
        }
    }

    /// Begins an application; the first token of its first argument.
    #[inline]
    fn applied(&mut self, function: Ref) -> Result<Token, Halt> {
        self.reader.begin(APPLICATION)?;
        self.reader.push(function);
        self.reader.next()
    }

    /// The function of an application as far as theories know it.
    fn function(&self, head: Ref) -> Option<Symbol> {
        match head.what() {
            What::Name(symbol) | What::Word(symbol) => Some(symbol),
            What::Numbered(_) => None,
            What::Node(node) => {
                let (_, from, _) = self.reader.tree.open(node);
                // `(as f s)` is f; `(_ f i)` is not.
                match (self.reader.tree.part(from) == Ref::word(AS)).then(|| self.reader.tree.part(from + 1).what()) {
                    Some(What::Name(symbol)) => Some(symbol),
                    _ => None,
                }
            }
        }
    }

    /// Ends an application whose parts begin at a place of the stack.
    fn application(&mut self, from: usize) -> Result<Ref, Halt> {
        let function = self.function(Ref::from_bits(self.reader.stack[from]));
        // The core theory is known before any logic.
        let core = function.is_some_and(|f| matches!(f, AND | OR | XOR | DISTINCT));
        let Some(theories) = self.theories.or(core.then(|| Theories::of(b""))) else {
            return Err(Halt::refused("ERROR logic has not been set"));
        };
        let skip = if core { Some(0) } else { function.and_then(|f| theories.commutative(f)) };
        if let Some(random) = &mut self.reader.random {
            let to = self.reader.stack.len();
            match skip {
                Some(skip) => {
                    let first = from + 1 + skip;
                    if first >= to {
                        return Err(Halt::Beyond(
                            "an operation with a rounding mode has no argument but that, on which the official scrambler \
                             crashes"
                                .into(),
                        ));
                    }
                    crate::reader::shuffle(&mut self.reader.random, &mut self.reader.stack, first, to);
                }
                None => {
                    // Drawn for every application, whether it can be turned round or not.
                    if random.below(2) == 1
                        && let Some(turned) = function.and_then(|f| theories.turned(f))
                    {
                        self.reader.stack[from] = Ref::word(turned).bits();
                        self.reader.stack.reverse(from + 1, to);
                    }
                }
            }
        }
        self.reader.close(Shape::List)
    }

    /// Ends the bindings of a `let`, which stand on the stack from a place on, symbol and term in turn. They become known
    /// together.
    fn bind(&mut self, from: usize) -> Result<(), Halt> {
        let to = self.reader.stack.len();
        let count = (to - from) / 2;
        for n in 0..count {
            let (name, term) = (self.reader.stack[from + 2 * n], self.reader.stack[from + 2 * n + 1]);
            let (name, term) = (Ref::from_bits(name), Ref::from_bits(term));
            if let What::Name(symbol) = name.what() {
                self.declare(symbol)?;
            }
            let node = self.reader.list(&[name, term])?;
            self.reader.stack[from + n] = node.bits();
        }
        self.reader.stack.truncate(from + count);
        self.reader.become_kind(LET_BODY);
        Ok(())
    }

    /// The pattern of a case, a parenthesis having been read; the first token of the case's term.
    fn case(&mut self) -> Result<Token, Halt> {
        let pattern = match self.reader.next()? {
            Token::Symbol => {
                let symbol = self.reader.word()?;
                self.declare(symbol)?
            }
            Token::Open => {
                let constructor = self.reader.symbol()?;
                self.reader.begin(WHOLE)?;
                self.reader.push(Ref::name(constructor));
                let mut token = self.reader.next()?;
                loop {
                    if token != Token::Symbol {
                        return Err(Halt::syntax());
                    }
                    let symbol = self.reader.word()?;
                    let variable = self.declare(symbol)?;
                    self.reader.push(variable);
                    token = self.reader.next()?;
                    if token == Token::Close {
                        break;
                    }
                }
                self.declare(constructor)?;
                self.reader.close(Shape::List)?
            }
            _ => return Err(Halt::syntax()),
        };
        self.reader.push(pattern);
        self.reader.next()
    }

    /// Annotations, after the annotated term or after a term of a pattern. Either the whole annotated term, or the first
    /// token of a further term in a pattern.
    fn annotations(&mut self) -> Result<Result<Ref, Token>, Halt> {
        if let Some((PATTERNS, from)) = self.reader.innermost() {
            let token = self.reader.next()?;
            if token != Token::Close {
                return Ok(Err(token));
            }
            let keyword = Ref::from_bits(self.reader.stack[from]);
            let terms = self.reader.tree.collect(Shape::List, &mut self.reader.stack, from + 1)?;
            self.reader.push(terms);
            let attribute = self.reader.close(Shape::Bare)?;
            if keyword == Ref::word(NO_PATTERN) {
                self.z3(":no-pattern")?;
            }
            self.reader.push(attribute);
        }
        loop {
            let token = self.reader.next()?;
            if token == Token::Close {
                let (_, from) = self.reader.innermost().unwrap_or((ANNOTATED, 0));
                if self.reader.stack.len() - from < 2 {
                    return Err(Halt::syntax());
                }
                return Ok(Ok(self.reader.close(Shape::Annotated)?));
            }
            let Token::Reserved(keyword) = token else { return Err(Halt::syntax()) };
            let value = match keyword {
                PATTERN | NO_PATTERN => {
                    self.reader.expect(Token::Open)?;
                    self.reader.begin(PATTERNS)?;
                    self.reader.push(Ref::word(keyword));
                    return Ok(Err(self.reader.next()?));
                }
                NAMED => Ref::word(self.reader.symbol()?),
                QID | SKOLEM_ID => {
                    let symbol = self.reader.symbol()?;
                    self.z3(WORDS[keyword as usize])?;
                    self.declare(symbol)?
                }
                LABEL_POSITIVE | LABEL_NEGATIVE => {
                    let symbol = self.reader.symbol()?;
                    self.z3(WORDS[keyword as usize])?;
                    Ref::word(symbol)
                }
                WEIGHT => {
                    let numeral = self.reader.numeral()?;
                    self.z3(":weight")?;
                    Ref::word(numeral)
                }
                _ => return Err(Halt::syntax()),
            };
            let attribute = self.reader.tree.add(Shape::Bare, &[Ref::word(keyword), value])?;
            self.reader.push(attribute);
        }
    }

    fn z3(&self, keyword: &str) -> Result<(), Halt> {
        if self.options.z3 {
            return Ok(());
        }
        Err(Halt::Refused(format!(
            "ERROR: Encountered z3-specific attribute: '{keyword}'. Maybe you want to re-run with '-support-z3 true'."
        )))
    }
}

/// How many levels a single command pushes or pops at most.
const MOST_LEVELS: i32 = 1 << 24;

fn foreign(command: &str) -> Halt {
    Halt::Refused(format!(
        "ERROR: Encountered non-SMT-COMP command: '{command}'. Maybe you want to re-run with '-support-non-smtcomp true'."
    ))
}

// Printing.
impl Permuting<'_, '_> {
    /// Prints the commands that are kept, scrambled, and forgets them.
    fn print(&mut self) -> Result<(), Halt> {
        if let Some(core) = &self.options.core {
            crate::core::filter(&mut self.reader, core, Ref::word(ASSERT), Ref::word(NAMED));
        }
        if self.reader.random.is_some() {
            self.reader.shuffle_commands(Ref::word(DECLARE_FUN));
            self.reader.shuffle_commands(Ref::word(ASSERT));
            self.permute();
        }
        for at in 0..self.reader.commands.len() {
            let command = Ref::from_bits(self.reader.commands[at]);
            let head = match command.what() {
                What::Node(node) => self.reader.tree.first(node),
                _ => None,
            };
            if head == Some(Ref::word(ASSERT)) && self.options.mode == Mode::UnsatCore {
                self.named += 1;
                self.reader.out.text(b"(assert (! ");
                if let What::Node(node) = command.what() {
                    let term = self.reader.tree.part(node + 2);
                    self.part(term)?;
                }
                self.reader.out.text(b" :named smtcomp");
                let digits = self.named.to_string();
                self.reader.out.text(digits.as_bytes());
                self.reader.out.text(b"))");
            } else {
                self.part(command)?;
            }
            if head == Some(Ref::word(CHECK_SAT)) {
                self.reader.out.text(match self.options.mode {
                    Mode::UnsatCore => b"\n(get-unsat-core)",
                    Mode::ModelValidation => b"\n(get-model)",
                    Mode::Proof => b"\n(get-proof)",
                    _ => b"",
                });
            }
            self.reader.out.byte(b'\n');
            self.reader.out.pass()?;
        }
        self.reader.clear();
        Ok(())
    }

    /// Gives numbers to the names that are new since the last time.
    fn permute(&mut self) {
        let Some(random) = &mut self.reader.random else { return };
        let old = self.printed.len().max(1);
        while self.printed.len() < self.next_name as usize {
            let number = self.printed.len() as u32;
            self.printed.push(number);
        }
        let all = self.printed.len();
        for at in old..all.saturating_sub(1) {
            let other = at + random.below(all - at);
            self.printed.swap(at, other);
        }
    }

    fn part(&mut self, part: Ref) -> Result<(), Halt> {
        use crate::options::Annotations;
        let reader = &mut self.reader;
        let floor = reader.printing.len();
        let (mut at, mut end, mut closing) = (0, 0, false);
        let mut part = part;
        loop {
            // What is printed next is `part`, then what stands from `at` to `end`.
            match part.what() {
                What::Word(symbol) => reader.out.text(reader.lexer.symbols.text(symbol)),
                What::Name(symbol) => {
                    let symbols = &mut reader.lexer.symbols;
                    let plain = symbols.plain(symbol);
                    match symbols.name(plain) {
                        _ if reader.random.is_none() => reader.out.text(symbols.text(symbol)),
                        0 => {
                            symbols.set_name(plain, LOOKED_UP);
                            reader.out.text(symbols.text(symbol));
                        }
                        LOOKED_UP => reader.out.text(symbols.text(symbol)),
                        name => reader.out.numbered(b'x', self.printed[(name - LOOKED_UP) as usize]),
                    }
                }
                What::Numbered(_) => {}
                What::Node(node) => {
                    let (shape, from, to) = reader.tree.open(node);
                    let mut first = from;
                    if shape == Shape::Annotated {
                        let keep = match self.options.annotations {
                            Annotations::Keep => true,
                            Annotations::Strip => false,
                            Annotations::Patterns => {
                                to - from == 2
                                    && match reader.tree.part(from + 1).what() {
                                        What::Node(attribute) => {
                                            reader.tree.first(attribute) == Some(Ref::word(PATTERN))
                                        }
                                        _ => false,
                                    }
                            }
                        };
                        if !keep {
                            part = reader.tree.part(from);
                            continue;
                        }
                        reader.out.text(b"(! ");
                    } else if shape == Shape::List {
                        reader.out.byte(b'(');
                    }
                    if first < to {
                        reader.printing.push(at as u32);
                        reader.printing.push((end as u32) << 1 | u32::from(closing));
                        part = reader.tree.part(first);
                        first += 1;
                        (at, end, closing) = (first, to, shape != Shape::Bare);
                        continue;
                    }
                    if shape != Shape::Bare {
                        reader.out.byte(b')');
                    }
                }
            }
            reader.out.pass()?;
            while at == end {
                if closing {
                    reader.out.byte(b')');
                }
                if reader.printing.len() == floor {
                    return Ok(());
                }
                let packed = reader.printing.pop().unwrap_or(0);
                at = reader.printing.pop().unwrap_or(0) as usize;
                (end, closing) = ((packed >> 1) as usize, packed & 1 == 1);
            }
            reader.out.byte(b' ');
            part = reader.tree.part(at);
            at += 1;
        }
    }
}
