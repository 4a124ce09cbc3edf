//! What the names of a script stand for while it is read, and reading itself.

use rustc_hash::FxHashMap;

use crate::builtin::{Builtin, OTHER_NAMES, Theory};
use crate::intern::{Symbol, Symbols};
use crate::lexer::{Lexer, Strings};
use crate::logic::Logic;
use crate::problem::{Class, Fault, Problem, shown};
use crate::read::Reader;
use crate::read::term::Frame;
use crate::script::{Extension, Fun, Function, Script};
use crate::sorts::{Sort, SortName, Sorts};
use crate::terms::{Attribute, Term, Terms};

/// A version of the SMT-LIB language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2.0: a string literal writes a quote as `\"`.
    V2_0,
    /// 2.5
    V2_5,
    /// 2.6
    V2_6,
    /// 2.7
    V2_7,
}

impl Version {
    /// How string literals are written in it.
    pub fn strings(self) -> Strings {
        if self == Self::V2_0 { Strings::Backslash } else { Strings::Doubled }
    }
}

/// How a script is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The version of the language. Without one, everything of every version is read, and string literals are those of the
    /// version that the script states (`(set-info :smt-lib-version 2.0)`).
    pub version: Option<Version>,
    /// Whether what is of a solver's own language is a problem. Else it is read as far as it is known, and noted in
    /// [`Script::extensions`].
    pub standard_only: bool,
    /// Whether leaving the declared logic is a problem. Else it is noted in [`Script::outside_logic`].
    pub within_logic: bool,
    /// Whether a script must declare its logic before the first command that needs it.
    pub logic_required: bool,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    Nothing,
    /// A variable of a `let`, a quantifier or a definition.
    Local(Term),
    Constant(Term),
    Function(Fun),
    Builtin(Builtin),
    /// Another name of a builtin: its place in the list.
    Other(u16),
}

/// What a sort's name stands for.
#[derive(Clone, Debug)]
pub(crate) enum SortBound {
    Declared(SortName),
    Defined(Box<[Sort]>, Sort),
    /// A parameter of a declaration, or one that is declared itself (2.7).
    Parameter(Sort),
}

pub(crate) enum Undo {
    Name(Symbol, Bound),
    Sort(Symbol, Option<SortBound>),
}

/// Words that are no symbols unless they are quoted. `lambda` is one since 2.7 only and is not treated as one.
const RESERVED: &[&str] = &[
    "_",
    "!",
    "as",
    "let",
    "exists",
    "forall",
    "match",
    "par",
    "BINARY",
    "DECIMAL",
    "HEXADECIMAL",
    "NUMERAL",
    "STRING",
    "assert",
    "check-sat",
    "check-sat-assuming",
    "declare-const",
    "declare-datatype",
    "declare-datatypes",
    "declare-fun",
    "declare-sort",
    "declare-sort-parameter",
    "define-const",
    "define-fun",
    "define-fun-rec",
    "define-funs-rec",
    "define-sort",
    "echo",
    "exit",
    "get-assertions",
    "get-assignment",
    "get-info",
    "get-model",
    "get-option",
    "get-proof",
    "get-unsat-assumptions",
    "get-unsat-core",
    "get-value",
    "pop",
    "push",
    "reset",
    "reset-assertions",
    "set-info",
    "set-logic",
    "set-option",
];

/// The numbers of the words that terms know.
pub(crate) mod word {
    use crate::intern::Symbol;

    pub(crate) const UNDERSCORE: Symbol = Symbol(0);
    pub(crate) const BANG: Symbol = Symbol(1);
    pub(crate) const AS: Symbol = Symbol(2);
    pub(crate) const LET: Symbol = Symbol(3);
    pub(crate) const EXISTS: Symbol = Symbol(4);
    pub(crate) const FORALL: Symbol = Symbol(5);
    pub(crate) const MATCH: Symbol = Symbol(6);
    pub(crate) const PAR: Symbol = Symbol(7);
    pub(crate) const LAMBDA: Symbol = Symbol(super::RESERVED.len() as u32);
}

/// The number of the first builtin's name.
const FIRST_BUILTIN: u32 = RESERVED.len() as u32 + 1;

/// The builtin that a symbol is the name of, whatever it stands for in the script.
#[inline]
pub(crate) fn builtin_named(symbol: Symbol) -> Option<Builtin> {
    Builtin::from_number(symbol.0.checked_sub(FIRST_BUILTIN)?)
}

/// Whether a symbol is a reserved word.
#[inline]
pub(crate) fn is_reserved(symbol: Symbol) -> bool {
    symbol.index() < RESERVED.len()
}

/// Whether a name must be quoted because it is a reserved word.
pub(crate) fn is_reserved_word(name: &[u8]) -> bool {
    RESERVED.iter().any(|w| w.as_bytes() == name)
}

/// Reads scripts: one, or several texts one after the other (a script, then the definitions of a model).
pub struct Session {
    pub(crate) script: Script,
    pub(crate) options: Options,
    pub(crate) strings: Strings,
    bound: Vec<Bound>,
    /// How many variables of a name are bound around where the reader is.
    binders: Vec<u32>,
    /// How many variables of any name are.
    pub(crate) open_binders: u32,
    pub(crate) sort_bound: FxHashMap<Symbol, SortBound>,
    pub(crate) locals: Vec<(Symbol, Bound, bool)>,
    undo: Vec<Undo>,
    levels: Vec<usize>,
    pub(crate) global_declarations: bool,
    pub(crate) logic_name: Option<Symbol>,
    pub(crate) exited: bool,
    pub(crate) frames: Vec<Frame>,
    pub(crate) values: Vec<Term>,
    pub(crate) names: Vec<(Symbol, usize)>,
    pub(crate) attributes: Vec<Attribute>,
}

impl Session {
    /// A session that has read nothing.
    pub fn new(options: Options) -> Self {
        let mut symbols = Symbols::new();
        for word in RESERVED.iter().chain(&["lambda"]) {
            symbols.intern(word.as_bytes());
        }
        let script = Script {
            symbols,
            sorts: Sorts::new(),
            terms: Terms::new(),
            functions: Vec::new(),
            sort_declarations: Vec::new(),
            commands: Vec::new(),
            logic: Logic::ALL,
            extensions: Vec::new(),
            outside_logic: Vec::new(),
            flow: Vec::new(),
            version: options.version,
            constants: FxHashMap::default(),
        };
        let strings = options.version.map_or(Strings::Doubled, Version::strings);
        let mut this = Self {
            script,
            options,
            strings,
            bound: Vec::new(),
            binders: Vec::new(),
            open_binders: 0,
            sort_bound: FxHashMap::default(),
            locals: Vec::new(),
            undo: Vec::new(),
            levels: Vec::new(),
            global_declarations: false,
            logic_name: None,
            exited: false,
            frames: Vec::new(),
            values: Vec::new(),
            names: Vec::new(),
            attributes: Vec::new(),
        };
        // Builtins directly behind the words: a symbol's number tells which one it names.
        for builtin in Builtin::ALL {
            this.script.symbols.intern(builtin.name().as_bytes());
        }
        this.reset();
        this
    }

    /// Reads the commands of a text and adds them to the script. After an error the commands before it are there.
    ///
    /// # Errors
    /// At the first problem.
    pub fn read(&mut self, text: &[u8]) -> Result<(), Problem> {
        self.frames.clear();
        self.values.clear();
        self.names.clear();
        self.attributes.clear();
        self.undo_locals(0);
        let lexer = Lexer::new(text, self.strings);
        Reader { s: self, text, lexer, start: 0 }.commands().map_err(|fault| fault.place(text))
    }

    /// The script.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The script, when all is read.
    pub fn into_script(self) -> Script {
        self.script
    }

    /// Forgets all declarations and the logic.
    pub(crate) fn reset(&mut self) {
        self.bound.clear();
        self.sort_bound.clear();
        self.undo.clear();
        self.levels.clear();
        self.global_declarations = false;
        self.logic_name = None;
        self.script.logic = Logic::ALL;
        for (number, &builtin) in Builtin::ALL.iter().enumerate() {
            if builtin.is_plain() {
                self.set(Symbol(FIRST_BUILTIN + number as u32), Bound::Builtin(builtin));
            }
        }
        for (number, (name, ..)) in OTHER_NAMES.iter().enumerate() {
            let symbol = self.script.symbols.intern(name.as_bytes());
            self.set(symbol, Bound::Other(number as u16));
        }
    }

    #[inline]
    pub(crate) fn bound(&self, symbol: Symbol) -> Bound {
        self.bound.get(symbol.index()).copied().unwrap_or(Bound::Nothing)
    }

    #[inline]
    fn set(&mut self, symbol: Symbol, bound: Bound) {
        let at = symbol.index();
        if at >= self.bound.len() {
            self.bound.resize(at + 1 + at / 2, Bound::Nothing);
        }
        self.bound[at] = bound;
    }

    /// Binds a local name to a term.
    #[inline]
    pub(crate) fn bind_local(&mut self, symbol: Symbol, term: Term, variable: bool) {
        self.locals.push((symbol, self.bound(symbol), variable));
        self.set(symbol, Bound::Local(term));
        if variable {
            let at = symbol.index();
            if at >= self.binders.len() {
                self.binders.resize(at + 1, 0);
            }
            self.binders[at] += 1;
            self.open_binders += 1;
        }
    }

    /// How many variables of a name are bound here.
    pub(crate) fn level(&self, symbol: Symbol) -> u32 {
        self.binders.get(symbol.index()).copied().unwrap_or(0)
    }

    /// Gives back the meaning of all local names but the first `mark`.
    #[inline]
    pub(crate) fn undo_locals(&mut self, mark: usize) {
        while self.locals.len() > mark {
            if let Some((symbol, bound, variable)) = self.locals.pop() {
                self.set(symbol, bound);
                if variable {
                    self.binders[symbol.index()] -= 1;
                    self.open_binders -= 1;
                }
            }
        }
    }

    /// Whether a name can be declared: why not.
    fn free(&self, symbol: Symbol, at: usize) -> Result<(), Fault> {
        let complain = |why: &str| {
            let name = shown(self.script.symbols.bytes(symbol));
            Err(Fault::new(Class::Scope, at, format!("{name} {why}")))
        };
        match self.bound(symbol) {
            Bound::Nothing | Bound::Local(_) => Ok(()),
            Bound::Constant(_) | Bound::Function(_) => complain("is declared already"),
            Bound::Builtin(builtin) => match builtin.theory() {
                Theory::Extension(_) => Ok(()),
                theory if self.script.logic.has(theory) => complain("is a symbol of a theory and cannot be declared"),
                _ => Ok(()),
            },
            Bound::Other(number) => match OTHER_NAMES[usize::from(number)] {
                (_, builtin, None) if self.script.logic.has(builtin.theory()) => {
                    complain("is a symbol of a theory and cannot be declared")
                }
                _ => Ok(()),
            },
        }
    }

    /// Whether a name can be a variable: why not. Symbols of a theory cannot.
    pub(crate) fn free_variable(&self, symbol: Symbol, at: usize) -> Result<(), Fault> {
        match self.bound(symbol) {
            Bound::Builtin(builtin) if builtin.theory() == Theory::Core => {
                let name = shown(self.script.symbols.bytes(symbol));
                Err(Fault::new(Class::Scope, at, format!("{name} is a symbol of a theory and cannot be a variable")))
            }
            _ => Ok(()),
        }
    }

    fn bind(&mut self, symbol: Symbol, bound: Bound) {
        if !self.levels.is_empty() && !self.global_declarations {
            self.undo.push(Undo::Name(symbol, self.bound(symbol)));
        }
        self.set(symbol, bound);
    }

    /// Declares a function.
    pub(crate) fn declare(&mut self, function: Function, at: usize) -> Result<Fun, Fault> {
        self.free(function.name, at)?;
        let fun = self.add_function(function);
        self.bind_function(fun);
        Ok(fun)
    }

    /// Lets the name of a function that was added stand for it.
    pub(crate) fn bind_declared(&mut self, fun: Fun, at: usize) -> Result<(), Fault> {
        self.free(self.script.function(fun).name, at)?;
        self.bind_function(fun);
        Ok(())
    }

    pub(crate) fn add_function(&mut self, function: Function) -> Fun {
        let fun = Fun(self.script.functions.len() as u32);
        self.script.functions.push(function);
        fun
    }

    /// Lets a function's name stand for it.
    pub(crate) fn bind_function(&mut self, fun: Fun) {
        let function = self.script.function(fun);
        let (name, result) = (function.name, function.result);
        let constant = function.parameters.is_empty() && !self.script.sorts.is_open(result);
        let bound = if constant {
            let term = self.script.terms.leaf(crate::terms::Op::function(fun), result);
            self.script.constants.insert(fun, term);
            Bound::Constant(term)
        } else {
            Bound::Function(fun)
        };
        self.bind(name, bound);
    }

    /// Whether a sort's name can be declared, and declares it.
    pub(crate) fn bind_sort(&mut self, symbol: Symbol, bound: SortBound, at: usize) -> Result<(), Fault> {
        let theory = crate::read::sort::theory_of(self.script.symbols.bytes(symbol));
        if self.sort_bound.contains_key(&symbol) || theory.is_some_and(|t| self.script.logic.has(t)) {
            let name = shown(self.script.symbols.bytes(symbol));
            return Err(Fault::new(Class::Scope, at, format!("the sort {name} is declared already")));
        }
        self.rebind_sort(symbol, bound);
        Ok(())
    }

    pub(crate) fn rebind_sort(&mut self, symbol: Symbol, bound: SortBound) {
        let old = self.sort_bound.insert(symbol, bound);
        if !self.levels.is_empty() && !self.global_declarations {
            self.undo.push(Undo::Sort(symbol, old));
        }
    }

    pub(crate) fn restore_sort(&mut self, symbol: Symbol, old: Option<SortBound>) {
        match old {
            Some(bound) => self.sort_bound.insert(symbol, bound),
            None => self.sort_bound.remove(&symbol),
        };
    }

    /// Opens `count` levels.
    pub(crate) fn push(&mut self, count: u32) {
        // A level that nothing was declared on costs nothing: the number of levels is all that is needed.
        for _ in 0..count {
            self.levels.push(self.undo.len());
        }
    }

    /// Closes `count` levels; false if there are not so many.
    pub(crate) fn pop(&mut self, count: u32) -> bool {
        let Some(left) = self.levels.len().checked_sub(count as usize) else { return false };
        if count > 0 {
            self.undo_to(self.levels[left]);
            self.levels.truncate(left);
        }
        true
    }

    fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop() {
                Some(Undo::Name(symbol, bound)) => self.set(symbol, bound),
                Some(Undo::Sort(symbol, old)) => self.restore_sort(symbol, old),
                None => break,
            }
        }
    }

    /// `(reset-assertions)`: all levels, and all declarations unless they are global.
    pub(crate) fn reset_assertions(&mut self) {
        let (logic, name, global) = (self.script.logic, self.logic_name, self.global_declarations);
        if global {
            self.levels.clear();
            self.undo.clear();
        } else {
            self.reset();
            self.script.logic = logic;
            self.logic_name = name;
        }
    }

    /// Notes something of a solver's language, or refuses it.
    pub(crate) fn extension(&mut self, of: &'static str, what: String, at: usize) -> Result<(), Fault> {
        if self.options.standard_only {
            return Err(Fault::new(Class::Extension, at, format!("extension of {of}: {what}")));
        }
        if !self.script.extensions.iter().any(|e| e.what == what) {
            self.script.extensions.push(Extension { of, what, at });
        }
        Ok(())
    }
}

/// Reads a script.
///
/// # Errors
/// At the first problem.
pub fn read(text: &[u8], options: Options) -> Result<Script, Problem> {
    let mut session = Session::new(options);
    session.read(text)?;
    Ok(session.into_script())
}
