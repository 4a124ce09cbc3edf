//! The sort of a theory's function applied to arguments, or why there is none.

use crate::builtin::{Builtin, Rank, S};
use crate::intern::Symbols;
use crate::sorts::{Sort, SortKind, Sorts};
use crate::terms::{Term, Terms};

/// Why a function cannot be applied.
pub(crate) struct Misfit {
    /// Which argument does not fit, if one does not.
    pub(crate) argument: Option<usize>,
    /// What is expected and what was found.
    pub(crate) message: String,
}

impl S {
    fn sort(self) -> Sort {
        match self {
            Self::Bool => Sort::BOOL,
            Self::Int => Sort::INT,
            Self::Real => Sort::REAL,
            Self::Str => Sort::STRING,
            Self::Re => Sort::REGLAN,
            Self::Rm => Sort::ROUNDING_MODE,
        }
    }
}

/// The largest width of a bit-vector that is read. (A term such as `((_ repeat 4000000000) x)` would be well-sorted.)
pub(crate) const WIDTH_LIMIT: u64 = 1 << 31;

/// What is needed to find a sort.
pub(crate) struct Checker<'a> {
    pub(crate) sorts: &'a mut Sorts,
    pub(crate) terms: &'a Terms,
    pub(crate) symbols: &'a Symbols,
    pub(crate) builtin: Builtin,
    pub(crate) indices: &'a [u32],
    pub(crate) arguments: &'a [Term],
}

type Found = Result<Sort, Misfit>;

impl Checker<'_> {
    #[inline]
    fn sort(&self, at: usize) -> Sort {
        self.terms.sort(self.arguments[at])
    }

    fn text(&self, sort: Sort) -> String {
        self.sorts.text(sort, self.symbols)
    }

    #[cold]
    fn expected(&self, at: usize, what: &str) -> Misfit {
        let found = self.text(self.sort(at));
        Misfit {
            argument: Some(at),
            message: format!("argument {} of `{}` must be {what}, but is of sort {found}", at + 1, self.builtin.name()),
        }
    }

    #[cold]
    fn unlike(&self, first: usize, at: usize) -> Misfit {
        let (a, b) = (self.text(self.sort(first)), self.text(self.sort(at)));
        Misfit {
            argument: Some(at),
            message: format!(
                "the arguments of `{}` must be of one sort, but argument {} is of sort {a} and argument {} of sort {b}",
                self.builtin.name(),
                first + 1,
                at + 1
            ),
        }
    }

    #[cold]
    fn count(&self, wanted: &str) -> Misfit {
        let found = self.arguments.len();
        Misfit { argument: None, message: format!("`{}` takes {wanted}, but has {found}", self.builtin.name()) }
    }

    #[cold]
    fn wrong(&self, message: impl Into<String>) -> Misfit {
        Misfit { argument: None, message: message.into() }
    }

    fn exactly(&self, count: usize) -> Result<(), Misfit> {
        if self.arguments.len() == count {
            Ok(())
        } else {
            Err(self.count(&format!("{count} argument{}", if count == 1 { "" } else { "s" })))
        }
    }

    #[inline]
    fn at_least(&self, count: usize) -> Result<(), Misfit> {
        if self.arguments.len() >= count {
            Ok(())
        } else {
            Err(self.count(&format!("{count} or more argument{}", if count == 1 { "" } else { "s" })))
        }
    }

    #[inline]
    fn need(&self, at: usize, sort: Sort) -> Result<(), Misfit> {
        if self.sort(at) == sort { Ok(()) } else { Err(self.expected(at, &format!("of sort {}", self.text(sort)))) }
    }

    #[inline]
    fn all_alike(&self) -> Result<(), Misfit> {
        let first = self.sort(0);
        match self.arguments.iter().position(|&a| self.terms.sort(a) != first) {
            None => Ok(()),
            Some(at) => Err(self.unlike(0, at)),
        }
    }

    #[inline]
    fn width(&self, at: usize) -> Result<u32, Misfit> {
        match self.sorts.kind(self.sort(at)) {
            SortKind::BitVec(width) => Ok(width),
            _ => Err(self.expected(at, "a bit-vector")),
        }
    }

    fn float(&self, at: usize) -> Result<(u32, u32), Misfit> {
        match self.sorts.kind(self.sort(at)) {
            SortKind::FloatingPoint(e, s) => Ok((e, s)),
            _ => Err(self.expected(at, "a floating-point number")),
        }
    }

    fn bit_vector(&mut self, width: u64) -> Found {
        match u32::try_from(width) {
            Ok(narrow) if width > 0 && width <= WIDTH_LIMIT => Ok(self.sorts.bit_vector(narrow)),
            _ => {
                Err(self
                    .wrong(format!("`{}` makes a bit-vector of {width} bits, which is not read", self.builtin.name())))
            }
        }
    }

    /// The sort of the term.
    #[inline]
    pub(crate) fn sort_of(&mut self) -> Found {
        match self.builtin.rank() {
            Rank::Fixed(parameters, result) => {
                self.exactly(parameters.len())?;
                for (at, parameter) in parameters.iter().enumerate() {
                    self.need(at, parameter.sort())?;
                }
                Ok(result.sort())
            }
            Rank::Many(sort) => {
                self.at_least(2)?;
                (0..self.arguments.len()).try_for_each(|at| self.need(at, sort.sort()))?;
                Ok(sort.sort())
            }
            Rank::Chain(sort) => {
                self.at_least(2)?;
                (0..self.arguments.len()).try_for_each(|at| self.need(at, sort.sort()))?;
                Ok(Sort::BOOL)
            }
            Rank::Arithmetic => {
                self.at_least(if self.builtin == Builtin::Minus { 1 } else { 2 })?;
                self.number(0)?;
                self.all_alike()?;
                Ok(self.sort(0))
            }
            Rank::Comparison => {
                self.at_least(2)?;
                self.number(0)?;
                self.all_alike()?;
                Ok(Sort::BOOL)
            }
            Rank::Equality => {
                self.at_least(2)?;
                self.all_alike()?;
                Ok(Sort::BOOL)
            }
            Rank::BvUnary => {
                self.exactly(1)?;
                self.width(0)?;
                Ok(self.sort(0))
            }
            Rank::BvBinary | Rank::BvMany | Rank::BvPredicate => {
                if matches!(self.builtin.rank(), Rank::BvMany) { self.at_least(2) } else { self.exactly(2) }?;
                self.width(0)?;
                self.all_alike()?;
                Ok(if matches!(self.builtin.rank(), Rank::BvPredicate) { Sort::BOOL } else { self.sort(0) })
            }
            Rank::Float(rounded, count) => {
                let first = usize::from(rounded);
                self.exactly(first + usize::from(count))?;
                if rounded {
                    self.need(0, Sort::ROUNDING_MODE)?;
                }
                self.float(first)?;
                for at in first + 1..self.arguments.len() {
                    if self.sort(at) != self.sort(first) {
                        return Err(self.unlike(first, at));
                    }
                }
                Ok(self.sort(first))
            }
            Rank::FloatChain => {
                self.at_least(2)?;
                self.float(0)?;
                self.all_alike()?;
                Ok(Sort::BOOL)
            }
            Rank::FloatTest => {
                self.exactly(1)?;
                self.float(0)?;
                Ok(Sort::BOOL)
            }
            Rank::Own => self.own(),
        }
    }

    fn number(&self, at: usize) -> Result<(), Misfit> {
        match self.sort(at) {
            Sort::INT | Sort::REAL => Ok(()),
            _ => Err(self.expected(at, "a number")),
        }
    }

    fn own(&mut self) -> Found {
        use Builtin as B;
        let index = |at: usize| u64::from(self.indices.get(at).copied().unwrap_or(0));
        let (i, j) = (index(0), index(1));
        match self.builtin {
            B::Ite => {
                self.exactly(3)?;
                self.need(0, Sort::BOOL)?;
                if self.sort(1) == self.sort(2) { Ok(self.sort(1)) } else { Err(self.unlike(1, 2)) }
            }
            // Reals have no `abs` in the standard, but solvers agree on what it is.
            B::Abs => {
                self.exactly(1)?;
                self.number(0)?;
                Ok(self.sort(0))
            }
            B::Divisible => {
                self.exactly(1)?;
                self.need(0, Sort::INT)?;
                Ok(Sort::BOOL)
            }
            B::Select => {
                self.exactly(2)?;
                let SortKind::Array(from, to) = self.sorts.kind(self.sort(0)) else {
                    return Err(self.expected(0, "an array"));
                };
                self.need(1, from)?;
                Ok(to)
            }
            B::Store => {
                self.exactly(3)?;
                let SortKind::Array(from, to) = self.sorts.kind(self.sort(0)) else {
                    return Err(self.expected(0, "an array"));
                };
                self.need(1, from)?;
                self.need(2, to)?;
                Ok(self.sort(0))
            }
            B::Concat => {
                self.at_least(2)?;
                let mut width = 0;
                for at in 0..self.arguments.len() {
                    width += u64::from(self.width(at)?);
                }
                self.bit_vector(width)
            }
            B::Extract => {
                self.exactly(1)?;
                let width = self.width(0)?;
                if j > i {
                    return Err(
                        self.wrong(format!("`(_ extract {i} {j})`: the first index must not be less than the second"))
                    );
                }
                if i >= u64::from(width) {
                    return Err(self
                        .wrong(format!("`(_ extract {i} {j})` of a bit-vector of {width} bits: there is no bit {i}")));
                }
                self.bit_vector(i - j + 1)
            }
            B::Repeat => {
                self.exactly(1)?;
                let width = u64::from(self.width(0)?);
                if i == 0 {
                    return Err(self.wrong("`(_ repeat 0)`: the index must be 1 or more"));
                }
                self.bit_vector(i.saturating_mul(width))
            }
            B::ZeroExtend | B::SignExtend => {
                self.exactly(1)?;
                let width = u64::from(self.width(0)?);
                self.bit_vector(width + i)
            }
            B::RotateLeft | B::RotateRight => {
                self.exactly(1)?;
                self.width(0)?;
                Ok(self.sort(0))
            }
            B::BvComp => {
                self.exactly(2)?;
                self.width(0)?;
                self.all_alike()?;
                self.bit_vector(1)
            }
            B::BvNegO | B::UbvToInt | B::SbvToInt | B::Bv2Nat => {
                self.exactly(1)?;
                self.width(0)?;
                Ok(if self.builtin == B::BvNegO { Sort::BOOL } else { Sort::INT })
            }
            B::BvRedOr | B::BvRedAnd => {
                self.exactly(1)?;
                self.width(0)?;
                self.bit_vector(1)
            }
            B::IntToBv | B::Nat2Bv | B::Int2Bv => {
                self.exactly(1)?;
                self.need(0, Sort::INT)?;
                self.bit_vector(i)
            }
            B::Iand => {
                self.exactly(2)?;
                self.need(0, Sort::INT)?;
                self.need(1, Sort::INT)?;
                Ok(Sort::INT)
            }
            B::Fp => {
                self.exactly(3)?;
                if self.width(0)? != 1 {
                    return Err(self.expected(0, "a bit-vector of 1 bit"));
                }
                let (exponent, significand) = (self.width(1)?, self.width(2)?);
                self.float_sort(u64::from(exponent), u64::from(significand) + 1)
            }
            B::PlusInfinity | B::MinusInfinity | B::PlusZero | B::MinusZero | B::NaN => {
                self.exactly(0)?;
                self.float_sort(i, j)
            }
            B::ToFp | B::ToFpUnsigned | B::ToFpBv => self.conversion(i, j),
            B::FpToUbv | B::FpToSbv => {
                self.exactly(2)?;
                self.need(0, Sort::ROUNDING_MODE)?;
                self.float(1)?;
                self.bit_vector(i)
            }
            B::FpToReal => {
                self.exactly(1)?;
                self.float(0)?;
                Ok(Sort::REAL)
            }
            B::FpToIeeeBv => {
                self.exactly(1)?;
                let (e, s) = self.float(0)?;
                self.bit_vector(u64::from(e) + u64::from(s))
            }
            B::RePower => {
                self.exactly(1)?;
                self.need(0, Sort::REGLAN)?;
                Ok(Sort::REGLAN)
            }
            B::ReLoop if self.indices.is_empty() => {
                // Before 2.6: (re.loop r 1 3).
                if !matches!(self.arguments.len(), 2 | 3) {
                    return Err(self.count("a regular expression and one or two numerals"));
                }
                self.need(0, Sort::REGLAN)?;
                (1..self.arguments.len()).try_for_each(|at| self.need(at, Sort::INT))?;
                Ok(Sort::REGLAN)
            }
            B::ReLoop => {
                self.exactly(1)?;
                self.need(0, Sort::REGLAN)?;
                Ok(Sort::REGLAN)
            }
            // The others are made where they are read.
            _ => Err(self.wrong(format!("`{}` cannot be applied like this", self.builtin.name()))),
        }
    }

    fn float_sort(&mut self, exponent: u64, significand: u64) -> Found {
        match (u32::try_from(exponent), u32::try_from(significand)) {
            (Ok(e), Ok(s)) if e > 1 && s > 1 && exponent + significand <= WIDTH_LIMIT => {
                Ok(self.sorts.intern(SortKind::FloatingPoint(e, s)))
            }
            _ => Err(self.wrong(format!(
                "there is no sort (_ FloatingPoint {exponent} {significand}): both numbers must be 2 or more"
            ))),
        }
    }

    fn conversion(&mut self, exponent: u64, significand: u64) -> Found {
        let unsigned = self.builtin == Builtin::ToFpUnsigned;
        let result = self.float_sort(exponent, significand)?;
        match self.arguments.len() {
            1 if !unsigned => {
                let width = self.width(0)?;
                if u64::from(width) != exponent + significand {
                    return Err(self.expected(0, &format!("a bit-vector of {} bits", exponent + significand)));
                }
            }
            2 if self.builtin != Builtin::ToFpBv => {
                self.need(0, Sort::ROUNDING_MODE)?;
                match (self.sorts.kind(self.sort(1)), unsigned) {
                    (SortKind::BitVec(_), _) | (SortKind::FloatingPoint(..) | SortKind::Real, false) => {}
                    (_, true) => return Err(self.expected(1, "a bit-vector")),
                    (_, false) => return Err(self.expected(1, "a floating-point number, a real or a bit-vector")),
                }
            }
            _ if unsigned => return Err(self.count("a rounding mode and a bit-vector")),
            _ => return Err(self.count("1 or 2 arguments")),
        }
        Ok(result)
    }
}
