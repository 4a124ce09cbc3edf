//! The sorts, functions and constants of the theories of SMT-LIB, and of the best-known extensions.
//!
//! One table says name, theory and rank of each. Source: the theory declarations of SMT-LIB 2.7 (Core, Ints, Reals,
//! Reals_Ints, ArraysEx, FixedSizeBitVectors with the abbreviations of the logic QF_BV, FloatingPoint, Strings, HO-Core).

/// A theory, as far as a logic's name tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// Core, in every logic.
    Core,
    /// Ints, Reals, or both.
    Arithmetic,
    /// Integers alone: `div`, `mod`, `abs`, `divisible`.
    Ints,
    /// Reals alone: `/`.
    Reals,
    /// What needs both: `to_real`, `to_int`, `is_int`.
    RealsInts,
    /// ArraysEx.
    Arrays,
    /// FixedSizeBitVectors.
    BitVectors,
    /// Between bit-vectors and integers.
    BitVectorsInts,
    /// FloatingPoint.
    FloatingPoint,
    /// Strings.
    Strings,
    /// Datatypes.
    Datatypes,
    /// HO-Core (2.7).
    Maps,
    /// Of a solver, not of the standard.
    Extension(&'static str),
}

/// A sort without arguments, in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum S {
    Bool,
    Int,
    Real,
    Str,
    Re,
    Rm,
}

/// How the arguments' sorts make the sort of the term.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    /// So many arguments of these sorts.
    Fixed(&'static [S], S),
    /// Two or more of one sort, which is the term's too.
    Many(S),
    /// Two or more of one sort, and the term is of sort Bool.
    Chain(S),
    /// `- + *`: Int or Real.
    Arithmetic,
    /// `<=` and so on.
    Comparison,
    /// `= distinct`
    Equality,
    /// One bit-vector, and the term is like it.
    BvUnary,
    /// Two bit-vectors of one sort, and the term is like them.
    BvBinary,
    /// Two or more.
    BvMany,
    /// Two bit-vectors of one sort: Bool.
    BvPredicate,
    /// So many floating-point numbers of one sort, with a rounding mode before them or not.
    Float(bool, u8),
    /// Two or more floating-point numbers of one sort: Bool.
    FloatChain,
    /// One floating-point number: Bool.
    FloatTest,
    /// A rule of its own.
    Own,
}

macro_rules! builtins {
    ($($variant:ident $name:literal $theory:expr, $rank:expr;)*) => {
        /// A function or constant of a theory.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Builtin {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl Builtin {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in the concrete syntax.
            pub fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($name),*];
                NAMES[self as usize]
            }

            /// The theory it is of.
            pub fn theory(self) -> Theory {
                use Theory::*;
                const THEORIES: &[Theory] = &[$($theory),*];
                THEORIES[self as usize]
            }

            pub(crate) fn rank(self) -> Rank {
                use Rank::*;
                use S::{Bool, Int, Real, Str, Re};
                const RANKS: &[Rank] = &[$($rank),*];
                RANKS[self as usize]
            }
        }
    };
}

builtins! {
    True "true" Core, Fixed(&[], Bool);
    False "false" Core, Fixed(&[], Bool);
    Not "not" Core, Fixed(&[Bool], Bool);
    Implies "=>" Core, Many(Bool);
    And "and" Core, Many(Bool);
    Or "or" Core, Many(Bool);
    Xor "xor" Core, Many(Bool);
    Equal "=" Core, Equality;
    Distinct "distinct" Core, Equality;
    Ite "ite" Core, Own;
    Minus "-" Arithmetic, Arithmetic;
    Plus "+" Arithmetic, Arithmetic;
    Times "*" Arithmetic, Arithmetic;
    LessEqual "<=" Arithmetic, Comparison;
    Less "<" Arithmetic, Comparison;
    GreaterEqual ">=" Arithmetic, Comparison;
    Greater ">" Arithmetic, Comparison;
    Divide "/" Reals, Many(Real);
    IntDiv "div" Ints, Many(Int);
    Mod "mod" Ints, Fixed(&[Int, Int], Int);
    Abs "abs" Ints, Own;
    Divisible "divisible" Ints, Own;
    ToReal "to_real" RealsInts, Fixed(&[Int], Real);
    ToInt "to_int" RealsInts, Fixed(&[Real], Int);
    IsInt "is_int" RealsInts, Fixed(&[Real], Bool);
    Select "select" Arrays, Own;
    Store "store" Arrays, Own;
    BvLiteral "bv" BitVectors, Own;
    Concat "concat" BitVectors, Own;
    Extract "extract" BitVectors, Own;
    BvNot "bvnot" BitVectors, BvUnary;
    BvNeg "bvneg" BitVectors, BvUnary;
    BvAnd "bvand" BitVectors, BvMany;
    BvOr "bvor" BitVectors, BvMany;
    BvAdd "bvadd" BitVectors, BvMany;
    BvMul "bvmul" BitVectors, BvMany;
    BvUdiv "bvudiv" BitVectors, BvBinary;
    BvUrem "bvurem" BitVectors, BvBinary;
    BvShl "bvshl" BitVectors, BvBinary;
    BvLshr "bvlshr" BitVectors, BvBinary;
    BvUlt "bvult" BitVectors, BvPredicate;
    BvNand "bvnand" BitVectors, BvBinary;
    BvNor "bvnor" BitVectors, BvBinary;
    BvXor "bvxor" BitVectors, BvMany;
    BvXnor "bvxnor" BitVectors, BvMany;
    BvComp "bvcomp" BitVectors, Own;
    BvSub "bvsub" BitVectors, BvBinary;
    BvSdiv "bvsdiv" BitVectors, BvBinary;
    BvSrem "bvsrem" BitVectors, BvBinary;
    BvSmod "bvsmod" BitVectors, BvBinary;
    BvAshr "bvashr" BitVectors, BvBinary;
    Repeat "repeat" BitVectors, Own;
    ZeroExtend "zero_extend" BitVectors, Own;
    SignExtend "sign_extend" BitVectors, Own;
    RotateLeft "rotate_left" BitVectors, Own;
    RotateRight "rotate_right" BitVectors, Own;
    BvUle "bvule" BitVectors, BvPredicate;
    BvUgt "bvugt" BitVectors, BvPredicate;
    BvUge "bvuge" BitVectors, BvPredicate;
    BvSlt "bvslt" BitVectors, BvPredicate;
    BvSle "bvsle" BitVectors, BvPredicate;
    BvSgt "bvsgt" BitVectors, BvPredicate;
    BvSge "bvsge" BitVectors, BvPredicate;
    BvNegO "bvnego" BitVectors, Own;
    BvUaddO "bvuaddo" BitVectors, BvPredicate;
    BvSaddO "bvsaddo" BitVectors, BvPredicate;
    BvUmulO "bvumulo" BitVectors, BvPredicate;
    BvSmulO "bvsmulo" BitVectors, BvPredicate;
    BvUsubO "bvusubo" BitVectors, BvPredicate;
    BvSsubO "bvssubo" BitVectors, BvPredicate;
    BvSdivO "bvsdivo" BitVectors, BvPredicate;
    UbvToInt "ubv_to_int" BitVectorsInts, Own;
    SbvToInt "sbv_to_int" BitVectorsInts, Own;
    IntToBv "int_to_bv" BitVectorsInts, Own;
    Bv2Nat "bv2nat" BitVectorsInts, Own;
    Nat2Bv "nat2bv" BitVectorsInts, Own;
    Int2Bv "int2bv" BitVectorsInts, Own;
    Rne "RNE" FloatingPoint, Fixed(&[], S::Rm);
    Rna "RNA" FloatingPoint, Fixed(&[], S::Rm);
    Rtp "RTP" FloatingPoint, Fixed(&[], S::Rm);
    Rtn "RTN" FloatingPoint, Fixed(&[], S::Rm);
    Rtz "RTZ" FloatingPoint, Fixed(&[], S::Rm);
    Fp "fp" FloatingPoint, Own;
    PlusInfinity "+oo" FloatingPoint, Own;
    MinusInfinity "-oo" FloatingPoint, Own;
    PlusZero "+zero" FloatingPoint, Own;
    MinusZero "-zero" FloatingPoint, Own;
    NaN "NaN" FloatingPoint, Own;
    FpAbs "fp.abs" FloatingPoint, Float(false, 1);
    FpNeg "fp.neg" FloatingPoint, Float(false, 1);
    FpAdd "fp.add" FloatingPoint, Float(true, 2);
    FpSub "fp.sub" FloatingPoint, Float(true, 2);
    FpMul "fp.mul" FloatingPoint, Float(true, 2);
    FpDiv "fp.div" FloatingPoint, Float(true, 2);
    FpFma "fp.fma" FloatingPoint, Float(true, 3);
    FpSqrt "fp.sqrt" FloatingPoint, Float(true, 1);
    FpRem "fp.rem" FloatingPoint, Float(false, 2);
    FpRoundToIntegral "fp.roundToIntegral" FloatingPoint, Float(true, 1);
    FpMin "fp.min" FloatingPoint, Float(false, 2);
    FpMax "fp.max" FloatingPoint, Float(false, 2);
    FpLeq "fp.leq" FloatingPoint, FloatChain;
    FpLt "fp.lt" FloatingPoint, FloatChain;
    FpGeq "fp.geq" FloatingPoint, FloatChain;
    FpGt "fp.gt" FloatingPoint, FloatChain;
    FpEq "fp.eq" FloatingPoint, FloatChain;
    FpIsNormal "fp.isNormal" FloatingPoint, FloatTest;
    FpIsSubnormal "fp.isSubnormal" FloatingPoint, FloatTest;
    FpIsZero "fp.isZero" FloatingPoint, FloatTest;
    FpIsInfinite "fp.isInfinite" FloatingPoint, FloatTest;
    FpIsNaN "fp.isNaN" FloatingPoint, FloatTest;
    FpIsNegative "fp.isNegative" FloatingPoint, FloatTest;
    FpIsPositive "fp.isPositive" FloatingPoint, FloatTest;
    ToFp "to_fp" FloatingPoint, Own;
    ToFpUnsigned "to_fp_unsigned" FloatingPoint, Own;
    FpToUbv "fp.to_ubv" FloatingPoint, Own;
    FpToSbv "fp.to_sbv" FloatingPoint, Own;
    FpToReal "fp.to_real" FloatingPoint, Own;
    FpToIeeeBv "fp.to_ieee_bv" Extension("z3"), Own;
    ToFpBv "to_fp_bv" Extension("bitwuzla"), Own;
    Char "char" Strings, Own;
    StrConcat "str.++" Strings, Many(Str);
    StrLen "str.len" Strings, Fixed(&[Str], Int);
    StrLess "str.<" Strings, Chain(Str);
    StrLessEqual "str.<=" Strings, Chain(Str);
    StrAt "str.at" Strings, Fixed(&[Str, Int], Str);
    StrSubstr "str.substr" Strings, Fixed(&[Str, Int, Int], Str);
    StrPrefixOf "str.prefixof" Strings, Fixed(&[Str, Str], Bool);
    StrSuffixOf "str.suffixof" Strings, Fixed(&[Str, Str], Bool);
    StrContains "str.contains" Strings, Fixed(&[Str, Str], Bool);
    StrIndexOf "str.indexof" Strings, Fixed(&[Str, Str, Int], Int);
    StrReplace "str.replace" Strings, Fixed(&[Str, Str, Str], Str);
    StrReplaceAll "str.replace_all" Strings, Fixed(&[Str, Str, Str], Str);
    StrReplaceRe "str.replace_re" Strings, Fixed(&[Str, Re, Str], Str);
    StrReplaceReAll "str.replace_re_all" Strings, Fixed(&[Str, Re, Str], Str);
    StrIsDigit "str.is_digit" Strings, Fixed(&[Str], Bool);
    StrToCode "str.to_code" Strings, Fixed(&[Str], Int);
    StrFromCode "str.from_code" Strings, Fixed(&[Int], Str);
    StrToInt "str.to_int" Strings, Fixed(&[Str], Int);
    StrFromInt "str.from_int" Strings, Fixed(&[Int], Str);
    StrToRe "str.to_re" Strings, Fixed(&[Str], Re);
    StrInRe "str.in_re" Strings, Fixed(&[Str, Re], Bool);
    ReNone "re.none" Strings, Fixed(&[], Re);
    ReAll "re.all" Strings, Fixed(&[], Re);
    ReAllChar "re.allchar" Strings, Fixed(&[], Re);
    ReConcat "re.++" Strings, Many(Re);
    ReUnion "re.union" Strings, Many(Re);
    ReInter "re.inter" Strings, Many(Re);
    ReStar "re.*" Strings, Fixed(&[Re], Re);
    ReComp "re.comp" Strings, Fixed(&[Re], Re);
    ReDiff "re.diff" Strings, Many(Re);
    RePlus "re.+" Strings, Fixed(&[Re], Re);
    ReOpt "re.opt" Strings, Fixed(&[Re], Re);
    ReRange "re.range" Strings, Fixed(&[Str, Str], Re);
    RePower "re.^" Strings, Own;
    ReLoop "re.loop" Strings, Own;
    StrRev "str.rev" Extension("cvc5"), Fixed(&[Str], Str);
    StrToLower "str.to_lower" Extension("cvc5"), Fixed(&[Str], Str);
    StrToUpper "str.to_upper" Extension("cvc5"), Fixed(&[Str], Str);
    StrUpdate "str.update" Extension("cvc5"), Fixed(&[Str, Int, Str], Str);
    StrIndexOfRe "str.indexof_re" Extension("cvc5"), Fixed(&[Str, Re, Int], Int);
    Apply "@" Maps, Own;
    Is "is" Datatypes, Own;
    Const "const" Extension("z3, cvc5 and others"), Own;
    AsArray "as-array" Extension("z3"), Own;
    AbstractValue "abstract value" Core, Own;
    BvRedOr "bvredor" Extension("z3, bitwuzla and cvc5"), Own;
    BvRedAnd "bvredand" Extension("z3, bitwuzla and cvc5"), Own;
    Power "^" Extension("z3 and cvc5"), Arithmetic;
    Iand "iand" Extension("cvc5"), Own;
    Pow2 "int.pow2" Extension("cvc5"), Fixed(&[Int], Int);
    Log2 "int.log2" Extension("cvc5"), Fixed(&[Int], Int);
    Pi "real.pi" Extension("cvc5"), Fixed(&[], Real);
    Exp "exp" Extension("cvc5 and dReal"), Fixed(&[Real], Real);
    Sin "sin" Extension("cvc5, z3 and dReal"), Fixed(&[Real], Real);
    Cos "cos" Extension("cvc5, z3 and dReal"), Fixed(&[Real], Real);
    Tan "tan" Extension("cvc5, z3 and dReal"), Fixed(&[Real], Real);
    ArcSin "arcsin" Extension("cvc5"), Fixed(&[Real], Real);
    ArcCos "arccos" Extension("cvc5"), Fixed(&[Real], Real);
    ArcTan "arctan" Extension("cvc5"), Fixed(&[Real], Real);
    Sqrt "sqrt" Extension("cvc5 and dReal"), Fixed(&[Real], Real);
}

impl Builtin {
    #[inline]
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// Whether its name stands for it wherever it is written alone. The others are names only with indices or `as`.
    pub(crate) fn is_plain(self) -> bool {
        use Builtin as B;
        !matches!(
            self,
            B::Divisible
                | B::BvLiteral
                | B::Extract
                | B::Repeat
                | B::ZeroExtend
                | B::SignExtend
                | B::RotateLeft
                | B::RotateRight
                | B::IntToBv
                | B::Nat2Bv
                | B::Int2Bv
                | B::PlusInfinity
                | B::MinusInfinity
                | B::PlusZero
                | B::MinusZero
                | B::NaN
                | B::ToFp
                | B::ToFpUnsigned
                | B::ToFpBv
                | B::FpToUbv
                | B::FpToSbv
                | B::Char
                | B::RePower
                | B::Is
                | B::Const
                | B::AsArray
                | B::AbstractValue
                | B::Iand
        )
    }

    /// How many numerals its indices are, if it has any.
    pub(crate) fn indices(self) -> Option<usize> {
        use Builtin as B;
        match self {
            B::Divisible
            | B::Repeat
            | B::ZeroExtend
            | B::SignExtend
            | B::RotateLeft
            | B::RotateRight
            | B::IntToBv
            | B::Nat2Bv
            | B::Int2Bv
            | B::FpToUbv
            | B::FpToSbv
            | B::RePower
            | B::Iand => Some(1),
            B::Extract
            | B::PlusInfinity
            | B::MinusInfinity
            | B::PlusZero
            | B::MinusZero
            | B::NaN
            | B::ToFp
            | B::ToFpUnsigned
            | B::ToFpBv
            | B::ReLoop => Some(2),
            _ => None,
        }
    }

    /// Whether all of its arguments are of its own sort and it is written with two or more of them.
    pub fn is_associative(self) -> bool {
        matches!(self.rank(), Rank::Many(_) | Rank::BvMany) || matches!(self, Self::Plus | Self::Times)
    }
}

/// Other names for the same: the long names of rounding modes, and names that solvers gave before the standard had one.
pub(crate) const OTHER_NAMES: &[(&str, Builtin, Option<&str>)] = &[
    ("roundNearestTiesToEven", Builtin::Rne, None),
    ("roundNearestTiesToAway", Builtin::Rna, None),
    ("roundTowardPositive", Builtin::Rtp, None),
    ("roundTowardNegative", Builtin::Rtn, None),
    ("roundTowardZero", Builtin::Rtz, None),
    ("implies", Builtin::Implies, Some("z3")),
    ("iff", Builtin::Equal, Some("z3")),
    ("if", Builtin::Ite, Some("z3")),
    ("str.in.re", Builtin::StrInRe, Some("z3 and cvc4")),
    ("str.to.re", Builtin::StrToRe, Some("z3 and cvc4")),
    ("str.to.int", Builtin::StrToInt, Some("z3 and cvc4")),
    ("int.to.str", Builtin::StrFromInt, Some("z3 and cvc4")),
    ("re.nostr", Builtin::ReNone, Some("z3 and cvc4")),
    ("re.complement", Builtin::ReComp, Some("z3")),
    ("asin", Builtin::ArcSin, Some("z3 and dReal")),
    ("acos", Builtin::ArcCos, Some("z3 and dReal")),
    ("atan", Builtin::ArcTan, Some("z3 and dReal")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = Builtin::ALL.iter().map(|b| b.name()).collect();
        names.extend(OTHER_NAMES.iter().map(|(n, ..)| *n));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for (number, builtin) in Builtin::ALL.iter().enumerate() {
            assert_eq!(Builtin::from_number(number as u32), Some(*builtin));
        }
    }
}
