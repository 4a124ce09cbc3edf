//! A script as it was understood: its commands in order, its functions and sorts, its terms.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::intern::{Symbol, Symbols};
use crate::logic::Logic;
use crate::problem::Problem;
use crate::session::Version;
use crate::sorts::{Sort, SortName, Sorts};
use crate::terms::{Term, Terms};

/// A function or constant of a script.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fun(pub(crate) u32);

impl Fun {
    /// Its number, in the order of declaration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Fun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fun({})", self.0)
    }
}

/// A function or constant of a script. Two that have the same name (one after the other was popped) are two.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Symbol,
    /// The sorts of its arguments.
    pub parameters: Box<[Sort]>,
    /// The sort of its value.
    pub result: Sort,
    /// Where it comes from.
    pub kind: FunctionKind,
}

/// Where a function comes from.
#[derive(Clone, Debug)]
pub enum FunctionKind {
    /// `declare-fun` or `declare-const`
    Declared,
    /// `define-fun` and its relatives.
    Defined {
        /// Its parameters, as bound variables.
        variables: Box<[Term]>,
        /// Its value, in terms of them; `None` only while the definition is read.
        body: Option<Term>,
    },
    /// A term with `:named`.
    Named(Term),
    /// A constructor of a datatype.
    Constructor {
        /// The datatype.
        datatype: SortName,
        /// Its selectors, in order.
        selectors: Box<[Fun]>,
    },
    /// A selector of a datatype.
    Selector {
        /// The constructor.
        constructor: Fun,
        /// Which of its arguments it selects.
        index: u32,
    },
}

/// A sort constructor of a script.
#[derive(Clone, Debug)]
pub struct SortDeclaration {
    /// Its name.
    pub name: Symbol,
    /// How many arguments it takes.
    pub arity: u32,
    /// If it is a datatype: what it is made of.
    pub datatype: Option<Datatype>,
}

/// A datatype.
#[derive(Clone, Debug, Default)]
pub struct Datatype {
    /// The sort parameters of `par`.
    pub parameters: Box<[Sort]>,
    /// The constructors, in order.
    pub constructors: Vec<Fun>,
}

/// The value of an attribute, of an option or of an information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The keyword, with its colon.
    pub keyword: Symbol,
    /// The value as it was written, if there is one.
    pub value: Option<Symbol>,
}

/// A command and where it stands: `text[start..end]`.
#[derive(Clone, Debug)]
pub struct Command {
    /// What it says.
    pub kind: CommandKind,
    /// Offset of its `(`.
    pub start: usize,
    /// Offset behind its `)`.
    pub end: usize,
}

/// What a command says.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandKind {
    /// `(set-logic name)`
    SetLogic(Symbol),
    /// `(set-info :keyword value)`
    SetInfo(Setting),
    /// `(set-option :keyword value)`
    SetOption(Setting),
    /// `(declare-sort name arity)`
    DeclareSort(SortName),
    /// `(declare-sort-parameter name)`, 2.7
    DeclareSortParameter(Symbol),
    /// `(define-sort name (parameters) sort)`
    DefineSort(Symbol, Box<[Sort]>, Sort),
    /// `(declare-datatype name declaration)`
    DeclareDatatype(SortName),
    /// `(declare-datatypes ((name arity) ...) (declaration ...))`
    DeclareDatatypes(Box<[SortName]>),
    /// `(declare-fun name (sorts) sort)`
    DeclareFun(Fun),
    /// `(declare-const name sort)`
    DeclareConst(Fun),
    /// `(define-fun name ((variable sort) ...) sort term)`
    DefineFun(Fun),
    /// `(define-const name sort term)`
    DefineConst(Fun),
    /// `(define-fun-rec name ((variable sort) ...) sort term)`
    DefineFunRec(Fun),
    /// `(define-funs-rec ((name ((variable sort) ...) sort) ...) (term ...))`
    DefineFunsRec(Box<[Fun]>),
    /// `(assert term)`
    Assert(Term),
    /// `(check-sat)`
    CheckSat,
    /// `(check-sat-assuming (term ...))`
    CheckSatAssuming(Box<[Term]>),
    /// `(push n)`
    Push(u32),
    /// `(pop n)`
    Pop(u32),
    /// `(get-value (term ...))`
    GetValue(Box<[Term]>),
    /// `(get-info :keyword)`
    GetInfo(Symbol),
    /// `(get-option :keyword)`
    GetOption(Symbol),
    /// `(echo "text")`: the characters of the string
    Echo(Symbol),
    /// `(get-assertions)`
    GetAssertions,
    /// `(get-assignment)`
    GetAssignment,
    /// `(get-model)`
    GetModel,
    /// `(get-proof)`
    GetProof,
    /// `(get-unsat-assumptions)`
    GetUnsatAssumptions,
    /// `(get-unsat-core)`
    GetUnsatCore,
    /// `(reset)`
    Reset,
    /// `(reset-assertions)`
    ResetAssertions,
    /// `(exit)`
    Exit,
    /// A command of a solver, skipped: its name and its text.
    Extension(Symbol, Symbol),
}

impl CommandKind {
    /// The command's name; of a solver's command `None`.
    pub fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::SetLogic(_) => "set-logic",
            Self::SetInfo(_) => "set-info",
            Self::SetOption(_) => "set-option",
            Self::DeclareSort(_) => "declare-sort",
            Self::DeclareSortParameter(_) => "declare-sort-parameter",
            Self::DefineSort(..) => "define-sort",
            Self::DeclareDatatype(_) => "declare-datatype",
            Self::DeclareDatatypes(_) => "declare-datatypes",
            Self::DeclareFun(_) => "declare-fun",
            Self::DeclareConst(_) => "declare-const",
            Self::DefineFun(_) => "define-fun",
            Self::DefineConst(_) => "define-const",
            Self::DefineFunRec(_) => "define-fun-rec",
            Self::DefineFunsRec(_) => "define-funs-rec",
            Self::Assert(_) => "assert",
            Self::CheckSat => "check-sat",
            Self::CheckSatAssuming(_) => "check-sat-assuming",
            Self::Push(_) => "push",
            Self::Pop(_) => "pop",
            Self::GetValue(_) => "get-value",
            Self::GetInfo(_) => "get-info",
            Self::GetOption(_) => "get-option",
            Self::Echo(_) => "echo",
            Self::GetAssertions => "get-assertions",
            Self::GetAssignment => "get-assignment",
            Self::GetModel => "get-model",
            Self::GetProof => "get-proof",
            Self::GetUnsatAssumptions => "get-unsat-assumptions",
            Self::GetUnsatCore => "get-unsat-core",
            Self::Reset => "reset",
            Self::ResetAssertions => "reset-assertions",
            Self::Exit => "exit",
            Self::Extension(..) => return None,
        })
    }
}

/// Something of a solver's own language in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Whose, in words: `z3`, `cvc5 and others`.
    pub of: &'static str,
    /// What.
    pub what: String,
    /// Offset of its first byte.
    pub at: usize,
}

/// A script.
#[derive(Clone, Debug)]
pub struct Script {
    /// All symbols.
    pub symbols: Symbols,
    /// All sorts.
    pub sorts: Sorts,
    /// All terms.
    pub terms: Terms,
    /// All functions, in the order of their declaration; see [`Script::function`].
    pub functions: Vec<Function>,
    /// All sort constructors, in the order of their declaration; see [`Script::sort_declaration`].
    pub sort_declarations: Vec<SortDeclaration>,
    /// The commands, in order. What stands behind `exit` is not among them.
    pub commands: Vec<Command>,
    /// What the declared logic allows (after the last `reset`); everything, if none is declared.
    pub logic: Logic,
    /// What was used of solvers' own languages: one entry for each thing, at its first place.
    pub extensions: Vec<Extension>,
    /// Where the script leaves its logic: one entry for each reason, at its first place.
    pub outside_logic: Vec<Problem>,
    /// Commands that stand where the standard does not have them, but that solvers do not mind: a second `set-logic`, what
    /// stands behind `exit`.
    pub flow: Vec<Problem>,
    /// The version that it was read as, if one was asked for: then string literals are that version's, whatever the script
    /// states.
    pub version: Option<Version>,
    /// What each constant is as a term.
    pub(crate) constants: FxHashMap<Fun, Term>,
}

impl Script {
    /// A function of the script.
    pub fn function(&self, fun: Fun) -> &Function {
        &self.functions[fun.index()]
    }

    /// A sort constructor of the script.
    pub fn sort_declaration(&self, name: SortName) -> &SortDeclaration {
        &self.sort_declarations[name.0 as usize]
    }

    /// A function's name.
    pub fn name(&self, fun: Fun) -> &[u8] {
        self.symbols.bytes(self.function(fun).name)
    }

    /// The asserted terms, with the commands that assert them.
    pub fn assertions(&self) -> impl Iterator<Item = (&Command, Term)> {
        self.commands.iter().filter_map(|c| match c.kind {
            CommandKind::Assert(term) => Some((c, term)),
            _ => None,
        })
    }
}
