//! Ill-sorted and ill-formed scripts: what is said, and where. And some that only look wrong.

use agon_smtlib::{Class, Options, Script, Sort, Version, read};

/// The class, line, column and message of the problem.
fn refused(script: &str) -> (Class, u64, u64, String) {
    let problem = read(script.as_bytes(), Options::default()).expect_err(script);
    (problem.class, problem.position.line, problem.position.column, problem.message)
}

fn check(cases: &[(&str, Class, u64, u64, &str)]) {
    for &(script, class, line, column, message) in cases {
        let found = refused(script);
        assert_eq!((found.0, found.1, found.2, found.3.as_str()), (class, line, column, message), "{script}");
    }
}

#[test]
fn sorts_that_do_not_fit() {
    use Class::Sort as S;
    check(&[
        ("(assert (not 1))", S, 1, 14, "argument 1 of `not` must be of sort Bool, but is of sort Int"),
        (
            "(assert\n (= 1 #b1))",
            S,
            2,
            7,
            "the arguments of `=` must be of one sort, but argument 1 is of sort Int and argument 2 of sort (_ BitVec 1)",
        ),
        ("(assert 1)", S, 1, 9, "an asserted term must be of sort Bool, but is of sort Int"),
        ("(assert (ite 1 true false))", S, 1, 14, "argument 1 of `ite` must be of sort Bool, but is of sort Int"),
        (
            "(assert (= (let ((x (bvadd #b1 #x1))) x) #b1))",
            S,
            1,
            32,
            "the arguments of `bvadd` must be of one sort, but argument 1 is of sort (_ BitVec 1) and argument 2 of sort (_ BitVec 4)",
        ),
        (
            "(assert (= ((_ extract 8 0) #xff) #b1))",
            S,
            1,
            12,
            "`(_ extract 8 0)` of a bit-vector of 8 bits: there is no bit 8",
        ),
        (
            "(assert (= ((_ extract 0 1) #xff) #b1))",
            S,
            1,
            12,
            "`(_ extract 0 1)`: the first index must not be less than the second",
        ),
        (
            "(declare-fun a () (Array Int Bool))(assert (select a true))",
            S,
            1,
            54,
            "argument 2 of `select` must be of sort Int, but is of sort Bool",
        ),
        (
            "(assert (fp.isNaN 1.0))",
            S,
            1,
            19,
            "argument 1 of `fp.isNaN` must be a floating-point number, but is of sort Real",
        ),
        (
            "(declare-fun f () Float32)(assert (fp.eq f (fp.add f f f)))",
            S,
            1,
            52,
            "argument 1 of `fp.add` must be of sort RoundingMode, but is of sort (_ FloatingPoint 8 24)",
        ),
        (
            "(assert (fp.isNaN ((_ to_fp 5 11) #x000000ff)))",
            S,
            1,
            35,
            "argument 1 of `to_fp` must be a bit-vector of 16 bits, but is of sort (_ BitVec 32)",
        ),
        (
            "(assert (str.in_re \"a\" \"b\"))",
            S,
            1,
            24,
            "argument 2 of `str.in_re` must be of sort RegLan, but is of sort String",
        ),
        ("(assert (< \"a\" \"b\"))", S, 1, 12, "argument 1 of `<` must be a number, but is of sort String"),
        (
            "(declare-fun f (Int Bool) Bool)(assert (f 1 2))",
            S,
            1,
            45,
            "argument 2 of `f` must be of sort Bool, but is of sort Int",
        ),
        ("(declare-fun f (Int) Bool)(set-logic QF_UF)(assert (f 1 2))", S, 1, 52, "`f` takes 1 argument, but has 2"),
        ("(define-fun f ((x Int)) Bool (+ x 1))", S, 1, 30, "the definition must be of sort Bool, but is of sort Int"),
        (
            "(declare-datatype D ((a (s Int)) (b)))(declare-fun d () D)(assert (match d (((a x) true))))",
            S,
            1,
            67,
            "this `match` has no case for the constructor `b`",
        ),
        (
            "(declare-datatype D ((a (s Int)) (b)))(declare-fun d () D)(assert (match d (((a x y) true) (b true))))",
            S,
            1,
            79,
            "the constructor `a` has 1 arguments, but the pattern 2",
        ),
        (
            "(declare-datatype D ((a (s D))))",
            S,
            1,
            19,
            "the datatype `D` has no value: every constructor needs one first",
        ),
        (
            "(declare-datatype L (par (X) ((nil) (cons (h X) (t (L X))))))(assert (= nil nil))",
            S,
            1,
            73,
            "nothing tells the sort of `nil` here: write `(as nil sort)`",
        ),
        ("(declare-fun x () (_ BitVec 0))", S, 1, 22, "there is no bit-vector of 0 bits: the width must be 1 or more"),
        ("(declare-sort S 1)(declare-fun x () S)", S, 1, 37, "the sort `S` takes 1 argument, but has 0"),
    ]);
}

#[test]
fn names_and_grammar() {
    use Class::{Flow, Lexical, Scope, Syntax};
    check(&[
        ("(assert p)", Scope, 1, 9, "`p` is not declared"),
        ("(push 1)(declare-fun p () Bool)(pop 1)(assert p)", Scope, 1, 47, "`p` is not declared"),
        ("(declare-fun x () S)", Scope, 1, 19, "the sort `S` is not declared"),
        ("(declare-fun x () Int)(declare-fun x () Int)", Scope, 1, 36, "`x` is declared already"),
        ("(declare-fun and () Bool)", Scope, 1, 14, "`and` is a symbol of a theory and cannot be declared"),
        ("(assert (let ((x true) (x false)) x))", Scope, 1, 25, "`x` is bound twice in one `let`"),
        (
            "(assert (forall ((x Int)) (! (> x 0) :named n)))",
            Scope,
            1,
            27,
            "a term with a name must be closed, but the variable `x` is free in it",
        ),
        ("(assert let)", Syntax, 1, 9, "a term is expected, not the reserved word `let`"),
        ("(assert ())", Syntax, 1, 10, "a function, `let`, a quantifier, `match` or `!` is expected, not `)`"),
        ("(assert (not))", Syntax, 1, 13, "an argument is expected, not `)`"),
        ("(assert true\n(check-sat)", Syntax, 2, 1, "`)` at the end of the command is expected, not `(`"),
        ("(check-sat)\n(assert true", Syntax, 2, 1, "this command has no end: a `)` is missing"),
        ("check-sat", Syntax, 1, 1, "a command, `(name ...)`, is expected, not the reserved word `check-sat`"),
        ("(chek-sat)", Syntax, 1, 2, "the name of a command is expected, not `chek-sat`"),
        ("(assert (= 01 1))", Lexical, 1, 12, "a numeral cannot begin with a superfluous 0"),
        ("(pop 1)", Flow, 1, 1, "`pop` of a level that no `push` has opened"),
        ("(assert (seq.len 1))", Class::Extension, 1, 10, "extension of z3 and cvc5: the function `seq.len`"),
        (
            "(declare-datatypes () ((L nil)))",
            Class::Extension,
            1,
            21,
            "extension of z3 and cvc4: datatypes as they were written before SMT-LIB 2.6 (now `((name arity) ...)` comes first)",
        ),
        ("(push 99999999)", Class::Limit, 1, 7, "more than 4194304 levels are not opened"),
    ]);
}

#[test]
fn a_logic_decides_what_a_numeral_is() {
    let sort = |script: &str| {
        let script: Script = read(script.as_bytes(), Options::default()).expect(script);
        let (_, term) = script.assertions().next().expect("an assertion");
        script.terms.sort(script.terms.arguments(term)[0])
    };
    assert_eq!(sort("(set-logic QF_LRA)(assert (= 1 2))"), Sort::REAL);
    assert_eq!(sort("(set-logic QF_LIA)(assert (= 1 2))"), Sort::INT);
    assert_eq!(sort("(set-logic QF_LIRA)(assert (= 1 2))"), Sort::INT);
    assert_eq!(sort("(set-logic QF_LIRA)(assert (= 1 2.0))"), Sort::REAL);
    let problem = read(b"(set-logic QF_LIA)(declare-fun x () Real)(assert (= x x))", Options::default());
    assert_eq!(problem.expect("it is read").outside_logic.len(), 1);
}

#[test]
fn what_only_some_logics_have() {
    let outside = |script: &str| {
        let script = read(script.as_bytes(), Options::default()).expect(script);
        script.outside_logic.iter().map(|p| (p.position.column, p.message.clone())).collect::<Vec<_>>()
    };
    for fine in [
        "(set-logic QF_LIA)(declare-fun x () Int)(assert (< (* 2 x) (* x (- 3)) (div x 2)))",
        "(set-logic QF_LRA)(declare-fun x () Real)(assert (< (* (/ 1 3) (+ x x)) (/ x 2)))",
        "(set-logic QF_IDL)(declare-fun x () Int)(declare-fun y () Int)(assert (and (< (- x y) 3) (>= x y) (= (- x y) (- 4)) (distinct x y)))",
        "(set-logic QF_RDL)(declare-fun x () Real)(declare-fun y () Real)(assert (and (< (- (+ x x) (+ y y)) 3) (< (- x y) (/ (- 1) 2))))",
        "(set-logic QF_UF)(declare-sort Int 0)(declare-fun select (Int) Int)(declare-fun x () Int)(assert (= x (select x)))",
    ] {
        assert_eq!(outside(fine), [], "{fine}");
    }
    for (script, column, message) in [
        (
            "(set-logic QF_LIA)(declare-fun x () Int)(assert (< (* x x) 0))",
            52,
            "a product of two terms that are no numbers, which the logic QF_LIA does not have",
        ),
        (
            "(set-logic QF_LIA)(declare-fun x () Int)(assert (< (div 1 x) 0))",
            52,
            "a division by a term that is no number, which the logic QF_LIA does not have",
        ),
        (
            "(set-logic QF_IDL)(declare-fun x () Int)(assert (< (+ x x) 0))",
            49,
            "an atom that is neither a comparison of two constants nor of their difference with a number, which the logic QF_IDL does not have",
        ),
        (
            "(set-logic QF_LIA)(assert (forall ((x Int)) (> x 0)))",
            27,
            "a quantifier, which the logic QF_LIA does not have",
        ),
        (
            "(set-logic QF_LIA)(declare-fun a () (Array Int Int))",
            38,
            "the sort Array, which the logic QF_LIA does not have",
        ),
        (
            "(set-logic QF_BV)(declare-fun f (Bool) Bool)",
            31,
            "a free function with arguments, which the logic QF_BV does not have",
        ),
        ("(set-logic QF_BV)(declare-sort S 0)", 32, "a free sort, which the logic QF_BV does not have"),
        ("(set-logic QF_UF)(declare-datatype D ((d)))", 19, "a datatype, which the logic QF_UF does not have"),
        ("(set-logic QF_BV)(assert (str.< \"a\" \"b\"))", 33, "a string literal, which the logic QF_BV does not have"),
    ] {
        let found = outside(script);
        assert!(found.contains(&(column, message.to_string())), "{script}: {found:?}");
    }
}

#[test]
fn versions_differ() {
    let reads = |script: &str, version| read(script.as_bytes(), Options { version, ..Options::default() }).is_ok();
    let wildcard =
        "(declare-datatype D ((a (s Int)) (b)))(declare-fun d () D)(assert (match d (((a _) true) (_ false))))";
    assert!(reads(wildcard, None) && reads(wildcard, Some(Version::V2_7)) && !reads(wildcard, Some(Version::V2_6)));
    let general = "(declare-fun p () Bool)(check-sat-assuming ((or p p)))";
    assert!(reads(general, None) && reads(general, Some(Version::V2_7)) && !reads(general, Some(Version::V2_6)));
    let escaped = r#"(echo "a\"b")"#;
    assert!(reads(escaped, Some(Version::V2_0)) && !reads(escaped, Some(Version::V2_6)) && !reads(escaped, None));
    assert!(reads(&format!("(set-info :smt-lib-version 2.0){escaped}"), None));
}
