//! Names that are of no standard but of a solver's own language, so that a problem can say whose they are.

/// Whose command this is.
pub(crate) fn command(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"minimize" | b"maximize" | b"assert-soft" | b"get-objectives" => "z3 and OptiMathSAT",
        b"eval" | b"simplify" | b"labels" | b"check-sat-using" | b"apply" | b"display" | b"help" | b"help-tactic"
        | b"declare-tactic" | b"get-user-tactics" | b"declare-map" | b"declare-rel" | b"declare-var" | b"rule"
        | b"query" | b"set-simplifier" | b"add-simplifier" | b"euf-project" | b"declare-type-var" => "z3",
        b"declare-heap"
        | b"declare-codatatype"
        | b"declare-codatatypes"
        | b"block-model"
        | b"block-model-values"
        | b"get-difficulty"
        | b"get-unsat-core-lemmas"
        | b"get-learned-literals"
        | b"get-qe"
        | b"get-qe-disjunct"
        | b"get-abduct"
        | b"get-abduct-next"
        | b"get-interpolant"
        | b"get-interpolant-next"
        | b"declare-pool"
        | b"get-timeout-core"
        | b"get-timeout-core-assuming"
        | b"find-synth"
        | b"declare-oracle-fun"
        | b"assume"
        | b"define-fun-syntax"
        | b"synth-fun"
        | b"check-synth"
        | b"include" => "cvc5",
        b"get-interpolants" => "SMTInterpol and OpenSMT",
        b"compute-interpolant" | b"allsat" | b"check-allsat" | b"get-allsat" => "MathSAT",
        b"export-cnf" | b"print-success" | b"model" => "other solvers",
        _ => return None,
    })
}

/// Whose function this is.
pub(crate) fn function(name: &[u8]) -> Option<&'static str> {
    const PREFIXES: &[(&[u8], &str)] = &[
        (b"set.", "cvc5"),
        (b"rel.", "cvc5"),
        (b"bag.", "cvc5"),
        (b"table.", "cvc5"),
        (b"tuple.", "cvc5"),
        (b"nullable.", "cvc5"),
        (b"ff.", "cvc5"),
        (b"sep.", "cvc5"),
        (b"@", "cvc5"),
        (b"seq.", "z3 and cvc5"),
        (b"int.", "cvc5"),
        (b"real.", "cvc5"),
        (b"fmf.", "cvc5"),
        (b"fp.", "solvers"),
        (b"str.", "solvers"),
        (b"re.", "solvers"),
        (b"bv2", "solvers"),
        (b"char.", "z3"),
    ];
    if let Some((_, of)) = PREFIXES.iter().find(|(p, _)| name.starts_with(p)) {
        return Some(of);
    }
    Some(match name {
        b"union" | b"intersection" | b"setminus" | b"member" | b"subset" | b"insert" | b"card" | b"complement"
        | b"singleton" | b"transpose" | b"tclosure" | b"join" | b"product" | b"eqrange" | b"witness" | b"sep"
        | b"wand" | b"pto" | b"bvite" | b"bvuaddo_overflow" | b"cot" | b"sec" | b"csc" | b"cosh" | b"sinh"
        | b"tanh" | b"bvmul_ext" | b"divisible_by" | b"choice" | b"tuple" | b"mkTuple" | b"tupSel" | b"univset"
        | b"emptyset" | b"nullable" | b"skolem" | b"**" => "cvc5",
        b"bvsmul_noovfl"
        | b"bvumul_noovfl"
        | b"bvsmul_noudfl"
        | b"bvsdiv_i"
        | b"bvudiv_i"
        | b"bvsrem_i"
        | b"bvurem_i"
        | b"bvsmod_i"
        | b"map"
        | b"ext_rotate_left"
        | b"ext_rotate_right"
        | b"subrange"
        | b"at-most"
        | b"at-least"
        | b"pble"
        | b"pbge"
        | b"pbeq"
        | b"default"
        | b"array-ext"
        | b"transitive-closure"
        | b"partial-order"
        | b"pi"
        | b"euler"
        | b"bit2bool"
        | b"bit2int"
        | b"is"
        | b"nand"
        | b"nor"
        | b"set-has-size"
        | b"mod0"
        | b"div0"
        | b"rem"
        | b"rem0"
        | b"asinh"
        | b"acosh"
        | b"atanh"
        | b"~" => "z3",
        b"bvinc" | b"bvdec" | b"bvroli" | b"bvrori" | b"bvrol" | b"bvror" | b"bvredxor" | b"bvcomp_ext" => {
            "bitwuzla and boolector"
        }
        _ => return None,
    })
}

/// Whose indexed function this is.
pub(crate) fn indexed(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"map"
        | b"at-most"
        | b"at-least"
        | b"pble"
        | b"pbge"
        | b"pbeq"
        | b"partial-order"
        | b"linear-order"
        | b"tree-order"
        | b"piecewise-linear-order"
        | b"bit2bool"
        | b"root-obj"
        | b"rotate_left" => "z3",
        b"update" | b"update_field" | b"bit" | b"tuple_select" | b"tuple.select" | b"divisible_by" | b"to_fp_real"
        | b"int_to_bv_ext" | b"bitOf" | b"@bit" => "cvc5",
        _ => return None,
    })
}

/// Whose sort this is.
pub(crate) fn sort(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"Set" | b"Relation" | b"Bag" | b"Table" | b"Tuple" | b"UnitTuple" | b"Nullable" | b"FiniteField" => "cvc5",
        b"Seq" => "z3 and cvc5",
        b"RegEx" | b"List" | b"Pair" | b"Unicode" | b"Char" | b"=>" | b"FiniteSet" => "z3",
        _ => return None,
    })
}
