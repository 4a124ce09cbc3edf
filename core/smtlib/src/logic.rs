//! What the name of a logic says.
//!
//! A name is `QF_` or nothing, then the theories, then the arithmetic: `QF_AUFBVLIA` is quantifier-free, with arrays,
//! uninterpreted functions, bit-vectors and linear integer arithmetic. `ALL` and `HORN` allow everything; `HO_` before a
//! name allows maps (2.7).

use crate::builtin::Theory;

/// What is allowed in arithmetic beyond the sorts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arithmetic {
    /// No arithmetic.
    #[default]
    None,
    /// Differences of two constants compared with a number.
    Difference,
    /// Linear.
    Linear,
    /// Everything.
    Nonlinear,
}

/// What a logic allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logic {
    /// Quantifiers.
    pub quantifiers: bool,
    /// Free sorts and function symbols.
    pub uninterpreted: bool,
    /// Free sorts, without functions (QF_AX).
    pub free_sorts: bool,
    /// Arrays.
    pub arrays: bool,
    /// Bit-vectors.
    pub bit_vectors: bool,
    /// Floating-point numbers.
    pub floating_point: bool,
    /// Datatypes.
    pub datatypes: bool,
    /// Strings and regular expressions.
    pub strings: bool,
    /// Integers.
    pub ints: bool,
    /// Reals.
    pub reals: bool,
    /// What arithmetic terms may be.
    pub arithmetic: Arithmetic,
    /// Transcendental functions (an extension: the `T` of `NRAT`).
    pub transcendental: bool,
    /// Maps and `lambda` (2.7).
    pub maps: bool,
    /// Whether everything is allowed: `ALL`, or no logic is known.
    pub all: bool,
}

impl Logic {
    /// Everything.
    pub const ALL: Self = Self {
        quantifiers: true,
        uninterpreted: true,
        free_sorts: true,
        arrays: true,
        bit_vectors: true,
        floating_point: true,
        datatypes: true,
        strings: true,
        ints: true,
        reals: true,
        arithmetic: Arithmetic::Nonlinear,
        transcendental: true,
        maps: true,
        all: true,
    };

    /// What a name says, if it says anything.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let mut rest = name;
        let mut take = |prefix: &[u8]| match rest.strip_prefix(prefix) {
            Some(behind) => {
                rest = behind;
                true
            }
            None => false,
        };
        let maps = take(b"HO_");
        let mut logic = Self { maps, quantifiers: !take(b"QF_"), ..Self::default() };
        if take(b"ALL") || take(b"HORN") {
            let (maps, quantifiers) = (logic.maps || logic.quantifiers, logic.quantifiers);
            logic = Self { maps, quantifiers, ..Self::ALL };
            return rest.is_empty().then_some(logic);
        }
        if take(b"CORE") {
            return rest.is_empty().then_some(logic);
        }
        if take(b"AX") {
            logic.arrays = true;
            logic.free_sorts = true;
        } else {
            logic.arrays = take(b"A");
        }
        logic.uninterpreted = take(b"UF");
        logic.free_sorts |= logic.uninterpreted;
        // The usual order; others occur in the wild.
        loop {
            let known = [
                (&b"BV"[..], &mut logic.bit_vectors),
                (b"FP", &mut logic.floating_point),
                (b"DT", &mut logic.datatypes),
                (b"S", &mut logic.strings),
            ];
            let mut found = false;
            for (word, flag) in known {
                if !*flag && take(word) {
                    *flag = true;
                    found = true;
                }
            }
            if !found {
                break;
            }
        }
        let (ints, reals, arithmetic) = if take(b"IDL") {
            (true, false, Arithmetic::Difference)
        } else if take(b"RDL") {
            (false, true, Arithmetic::Difference)
        } else {
            let linear = take(b"L");
            if linear || take(b"N") {
                let kind = if linear { Arithmetic::Linear } else { Arithmetic::Nonlinear };
                let (ints, reals) = (take(b"I"), take(b"R"));
                if !take(b"A") || !(ints || reals) {
                    return None;
                }
                logic.transcendental = take(b"T");
                (ints, reals, kind)
            } else {
                (false, false, Arithmetic::None)
            }
        };
        // The theory of strings has lengths and positions in it.
        logic.ints = ints || logic.strings;
        logic.reals = reals;
        logic.arithmetic = if logic.strings { arithmetic.max(Arithmetic::Linear) } else { arithmetic };
        let empty = logic == Self { quantifiers: logic.quantifiers, maps: logic.maps, ..Self::default() };
        (rest.is_empty() && !empty).then_some(logic)
    }

    /// Whether a theory's symbols may be used.
    #[inline]
    pub fn has(&self, theory: Theory) -> bool {
        match theory {
            Theory::Core => true,
            Theory::Arithmetic => self.ints || self.reals,
            Theory::Ints => self.ints,
            Theory::Reals => self.reals,
            Theory::RealsInts => self.ints && self.reals,
            Theory::Arrays => self.arrays,
            Theory::BitVectors => self.bit_vectors || self.floating_point,
            // The conversions of QF_BV's own abbreviations need no arithmetic beside them.
            Theory::BitVectorsInts => self.bit_vectors && self.ints,
            Theory::FloatingPoint => self.floating_point,
            Theory::Strings => self.strings,
            Theory::Datatypes => self.datatypes,
            Theory::Maps => self.maps,
            Theory::Extension(_) => false,
        }
    }

    /// Whether integers may stand where reals are expected (the sugar of the logics with both).
    pub fn is_mixed(&self) -> bool {
        self.ints && self.reals
    }

    /// Whether a numeral is a real number.
    pub fn numerals_are_real(&self) -> bool {
        !self.ints && (self.reals || self.floating_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_logics() {
        let of = |name: &str| Logic::parse(name.as_bytes());
        let bv = of("QF_AUFBVLIA").unwrap();
        assert!(bv.arrays && bv.uninterpreted && bv.bit_vectors && bv.ints && !bv.reals && !bv.quantifiers);
        assert_eq!(bv.arithmetic, Arithmetic::Linear);
        let x = of("QF_AX").unwrap();
        assert!(x.arrays && x.free_sorts && !x.uninterpreted);
        assert_eq!(of("QF_UFIDL").unwrap().arithmetic, Arithmetic::Difference);
        let all = of("AUFBVFPDTNIRA").unwrap();
        assert!(all.floating_point && all.datatypes && all.is_mixed() && all.quantifiers && !all.strings);
        assert!(of("QF_SLIA").unwrap().strings && of("QF_S").unwrap().ints);
        assert!(of("NRAT").unwrap().transcendental);
        assert!(of("HO_ALL").unwrap().maps && !of("QF_ALL").unwrap().quantifiers && of("ALL").unwrap().all);
        assert!(of("QF_LRA").unwrap().numerals_are_real() && !of("LIRA").unwrap().numerals_are_real());
        for unknown in ["", "QF_", "QF_FF", "AUFLIAFS", "QF_SEP_LIA", "UFC", "QF_EIA", "LA", "XYZ", "qf_bv"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }
}
