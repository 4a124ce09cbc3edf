//! What the declared logic allows: theories, quantifiers, free symbols, and the shape of arithmetic terms.
//!
//! Linear is a product in which at most one factor is not a number, and a division by a number. (The declarations of the
//! logics allow no `div`, `mod` and `abs` at all, and products with free constants only; the benchmark library has always
//! read them as said here.) Difference logic is what the declarations of QF_IDL and QF_RDL say.

use super::Reader;
use crate::builtin::{Builtin, Rank, Theory};
use crate::lexer::Kind;
use crate::logic::Arithmetic;
use crate::problem::{Class, Fault};
use crate::sorts::Sort;
use crate::terms::{Binder, Head, Term};

type Found<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// Notes that the script leaves its logic, or refuses it.
    #[cold]
    pub(super) fn outside(&mut self, at: usize, what: &str) -> Found<()> {
        let name = match self.s.logic_name {
            Some(name) => self.s.script.symbols.text(name).into_owned(),
            None => String::new(),
        };
        let fault = Fault::new(Class::Logic, at, format!("{what}, which the logic {name} does not have"));
        if self.s.options.within_logic {
            return Err(fault);
        }
        let problem = fault.place(self.text);
        if !self.s.script.outside_logic.iter().any(|p| p.message == problem.message) {
            self.s.script.outside_logic.push(problem);
        }
        Ok(())
    }

    /// Whether a builtin may be used here.
    #[inline]
    pub(super) fn allow(&mut self, builtin: Builtin, at: usize) -> Found<()> {
        let theory = builtin.theory();
        if let Theory::Extension(of) = theory {
            return self.s.extension(of, format!("the function `{}`", builtin.name()), at);
        }
        if self.s.script.logic.has(theory) { Ok(()) } else { self.outside(at, &format!("`{}`", builtin.name())) }
    }

    pub(super) fn allow_literal(&mut self, kind: Kind, at: usize) -> Found<()> {
        let logic = &self.s.script.logic;
        let (allowed, what) = match kind {
            Kind::Numeral => (logic.ints || logic.reals || logic.floating_point, "a numeral"),
            Kind::Decimal => (logic.reals || logic.floating_point, "a decimal"),
            Kind::String => (logic.strings, "a string literal"),
            _ => (logic.bit_vectors || logic.floating_point, "a bit-vector literal"),
        };
        if allowed { Ok(()) } else { self.outside(at, what) }
    }

    pub(super) fn allow_sort(&mut self, theory: Theory, sort: Sort, at: usize) -> Found<()> {
        let logic = &self.s.script.logic;
        if logic.has(theory) || (sort == Sort::REAL && logic.floating_point) {
            return Ok(());
        }
        let name = match (theory, sort) {
            (Theory::Arrays, _) => "the sort Array",
            (Theory::Maps, _) => "the sort ->",
            (Theory::BitVectors, _) => "the sort BitVec",
            (Theory::FloatingPoint, _) => "a sort of floating-point numbers",
            (Theory::Strings, _) => "a sort of strings",
            (_, Sort::REAL) => "the sort Real",
            _ => "the sort Int",
        };
        self.outside(at, name)
    }

    pub(super) fn allow_binder(&mut self, binder: Binder, at: usize) -> Found<()> {
        let logic = &self.s.script.logic;
        match binder {
            Binder::Lambda if !logic.maps => self.outside(at, "`lambda`"),
            Binder::Forall | Binder::Exists if !logic.quantifiers => self.outside(at, "a quantifier"),
            _ => Ok(()),
        }
    }

    /// A new application of a builtin.
    #[inline]
    pub(super) fn allow_application(&mut self, builtin: Builtin, base: usize, at: usize) -> Found<()> {
        self.allow(builtin, at)?;
        match self.s.script.logic.arithmetic {
            Arithmetic::Nonlinear => Ok(()),
            Arithmetic::None => Ok(()),
            Arithmetic::Linear => self.allow_linear(builtin, base, at),
            Arithmetic::Difference => self.allow_difference(builtin, base, at),
        }
    }

    /// Whether a term is a number: a literal, its negation, a quotient of such.
    fn is_number(&self, term: Term) -> bool {
        let terms = &self.s.script.terms;
        let mut waiting = vec![term];
        // Numbers are small terms; what is larger is none.
        for _ in 0..8 {
            let Some(next) = waiting.pop() else { return true };
            let next = terms.bare(next);
            match terms.head(next) {
                Head::Numeral(_) | Head::Decimal(_) => {}
                Head::Builtin(Builtin::Minus | Builtin::Divide | Builtin::ToReal | Builtin::Plus | Builtin::Times) => {
                    waiting.extend_from_slice(terms.arguments(next));
                }
                _ => return false,
            }
        }
        waiting.is_empty()
    }

    fn allow_linear(&mut self, builtin: Builtin, base: usize, at: usize) -> Found<()> {
        let what = match builtin {
            Builtin::Times => {
                let factors = self.s.values[base..].iter().filter(|&&t| !self.is_number(t)).count();
                (factors > 1).then_some("a product of two terms that are no numbers")
            }
            Builtin::Divide | Builtin::IntDiv | Builtin::Mod => {
                let number = self.s.values[base + 1..].iter().all(|&t| self.is_number(t));
                (!number).then_some("a division by a term that is no number")
            }
            _ => None,
        };
        what.map_or(Ok(()), |what| self.outside(at, what))
    }

    /// Whether a term is no arithmetic: a free constant, and in logics with functions what they give.
    fn is_atomic(&self, term: Term) -> bool {
        let terms = &self.s.script.terms;
        match terms.head(terms.bare(term)) {
            Head::Builtin(b) => !matches!(b.rank(), Rank::Arithmetic) && b != Builtin::Divide,
            Head::Numeral(_) | Head::Decimal(_) => false,
            _ => true,
        }
    }

    /// Whether a term is `(- x y)`, or (reals) a difference of sums of one constant each.
    fn is_difference(&self, term: Term) -> bool {
        let terms = &self.s.script.terms;
        let term = terms.bare(term);
        let &[x, y] = terms.arguments(term) else { return false };
        if terms.head(term) != Head::Builtin(Builtin::Minus) {
            return false;
        }
        if self.is_atomic(x) && self.is_atomic(y) {
            return true;
        }
        let sum = |t: Term| {
            let arguments = terms.arguments(t);
            (terms.head(t) == Head::Builtin(Builtin::Plus)
                && self.is_atomic(arguments[0])
                && arguments.iter().all(|a| *a == arguments[0]))
            .then_some(arguments.len())
        };
        terms.sort(term) == Sort::REAL && sum(x).is_some() && sum(x) == sum(y)
    }

    fn allow_difference(&mut self, builtin: Builtin, base: usize, at: usize) -> Found<()> {
        let values = &self.s.values[base..];
        let terms = &self.s.script.terms;
        if !matches!(builtin.rank(), Rank::Comparison | Rank::Equality)
            || !matches!(terms.sort(values[0]), Sort::INT | Sort::REAL)
        {
            return match builtin {
                Builtin::Times | Builtin::IntDiv | Builtin::Mod | Builtin::Abs => {
                    self.outside(at, &format!("`{}`", builtin.name()))
                }
                _ => Ok(()),
            };
        }
        let atoms = values.iter().all(|&t| self.is_atomic(t));
        let difference = match *values {
            [a, b] => (self.is_difference(a) && self.is_number(b)) || (self.is_number(a) && self.is_difference(b)),
            _ => false,
        };
        if atoms || difference {
            return Ok(());
        }
        self.outside(at, "an atom that is neither a comparison of two constants nor of their difference with a number")
    }
}
