//! Small scripts whose scrambled forms were worked out by hand, and every fault that the official scramblers have had.

use agon_scramble::enumerate::models;
use agon_scramble::{Annotations, Error, Mode, Naming, Options, scramble};

/// What is printed, and the message if the script is refused.
fn with(options: &Options, script: &str) -> (String, Option<String>) {
    let mut out = Vec::new();
    let said = match scramble(script.as_bytes(), options, &mut out) {
        Ok(_) => None,
        Err(Error::Refused(refusal) | Error::Beyond(refusal)) => Some(refusal.message),
        Err(other) => panic!("{other}"),
    };
    (String::from_utf8_lossy(&out).into_owned(), said)
}

fn run(mode: Mode, seed: u32, script: &str) -> String {
    let (out, said) = with(&Options::new(mode, seed), script);
    assert_eq!(said, None, "{script}");
    out
}

const SMALL: &str = "(set-logic QF_LIA)\n(set-info :status sat)\n(declare-fun a () Int)\n(declare-fun b () Int)\n\
                     (assert (< a b)) ; a remark\n(assert (not (= a b)))\n(check-sat)\n";

#[test]
fn a_small_script_with_permuted_names() {
    // From seed 1, random bits are 0, 1, 1, 1, 0, 1: `<` is not turned round, the arguments of `=` stay, `not` draws a bit for
    // nothing, the declarations stay, the assertions are exchanged, and so are the two numbers of names.
    assert_eq!(
        run(Mode::SingleQuery, 1, SMALL),
        "(set-option :print-success false)\n(set-logic QF_LIA)\n(declare-fun x2 () Int)\n(declare-fun x1 () Int)\n\
         (assert (not (= x2 x1)))\n(assert (< x2 x1))\n(check-sat)\n"
    );
    // From seed 2 they are 1, 1, 1, 1, 0, 1.
    assert_eq!(
        run(Mode::UnsatCore, 2, SMALL),
        "(set-option :print-success false)\n(set-option :produce-unsat-cores true)\n(set-logic QF_LIA)\n\
         (declare-fun x2 () Int)\n(declare-fun x1 () Int)\n(assert (! (not (= x2 x1)) :named smtcomp1))\n\
         (assert (! (> x1 x2) :named smtcomp2))\n(check-sat)\n(get-unsat-core)\n"
    );
}

#[test]
fn a_small_script_with_numbered_names() {
    assert_eq!(
        run(Mode::Main, 1, SMALL),
        "(set-logic QF_LIA)\n(declare-fun x1 () Int)\n(declare-fun x2 () Int)\n(assert (not (= x1 x2)))\n\
         (assert (< x1 x2))\n(check-sat)\n"
    );
    let traced = run(Mode::Application, 0, SMALL);
    assert_eq!(
        traced,
        "sat\n--- BENCHMARK BEGINS HERE ---\n(set-logic QF_LIA)\n(declare-fun a () Int)\n(declare-fun b () Int)\n\
         (assert (< a b))\n(assert (not (= a b)))\n(check-sat)\n"
    );
}

#[test]
fn what_each_mode_asks_for() {
    let script = "(set-logic QF_UF)(set-info :status sat)(assert true)(check-sat)(get-unsat-core)(exit)";
    let plain = "(set-option :print-success false)\n";
    let rest = "(set-logic QF_UF)\n(assert true)\n(check-sat)\n";
    assert_eq!(run(Mode::SingleQuery, 0, script), format!("{plain}{rest}(exit)\n"));
    assert_eq!(run(Mode::Plain, 0, script), format!("{plain}{rest}(exit)\n"));
    assert_eq!(
        run(Mode::ModelValidation, 0, script),
        format!("{plain}(set-option :produce-models true)\n{rest}(get-model)\n(exit)\n")
    );
    assert_eq!(
        run(Mode::Proof, 0, script),
        format!("{plain}(set-option :produce-proofs true)\n{rest}(get-proof)\n(exit)\n")
    );
    assert_eq!(run(Mode::Incremental, 0, script), format!("sat\n--- BENCHMARK BEGINS HERE ---\n{rest}(exit)\n"));
    let mut options = Options::new(Mode::Incremental, 0);
    options.answers = false;
    assert_eq!(with(&options, script), (format!("{rest}(exit)\n"), None));
}

#[test]
fn the_rounding_mode_stays_first() {
    let script = "(set-logic QF_FP)(declare-fun r () RoundingMode)(declare-fun x () (_ FloatingPoint 2 3))\
                  (declare-fun y () (_ FloatingPoint 2 3))(assert (fp.eq (fp.add r x y) (fp.mul RNE y x)))(check-sat)";
    let mut swapped = 0;
    for seed in 1..40 {
        let out = run(Mode::Plain, seed, script);
        assert!(out.contains("(fp.mul RNE x"), "{out}");
        let mode = out.lines().find_map(|line| line.strip_suffix(" () RoundingMode)")).unwrap();
        let mode = mode.strip_prefix("(declare-fun ").unwrap();
        assert!(out.contains(&format!("(fp.add {mode} x")), "{out}");
        swapped += u32::from(run(Mode::Plain, seed, &script.replace(" x y)", " #b0 #b1)")).contains("#b1 #b0)"));
    }
    assert!((5..35).contains(&swapped), "{swapped}");
}

#[test]
fn comparisons_of_three_are_turned_round_as_a_whole() {
    let script = "(set-logic QF_FP)(assert (fp.leq a x b))(assert (fp.lt a x b))(assert (fp.gt a b))";
    let (mut turned, mut left) = (0, 0);
    for seed in 1..60 {
        let out = run(Mode::Plain, seed, script);
        for (as_is, round) in
            [("(fp.leq a x b)", "(fp.geq b x a)"), ("(fp.lt a x b)", "(fp.gt b x a)"), ("(fp.gt a b)", "(fp.lt b a)")]
        {
            assert!(out.contains(as_is) != out.contains(round), "{out}");
            turned += u32::from(out.contains(round));
            left += u32::from(out.contains(as_is));
        }
    }
    assert!(turned > 50 && left > 50, "{turned} {left}");
    // Where names are numbered, it is the first two that are exchanged, as the official tool of those years did.
    let script = "(set-logic QF_LRA)(assert (<= a x b))";
    let all: Vec<String> = (1..60).map(|seed| run(Mode::Main, seed, script)).collect();
    assert!(all.iter().any(|out| out.contains("(>= x a b)")));
    assert!(all.iter().all(|out| out.contains("(>= x a b)") || out.contains("(<= a x b)")));
}

#[test]
fn what_is_commutative_depends_on_the_logic() {
    // The logic, and what is moved in it: permuted names, numbered names.
    let cases = [
        ("QF_UFIDL", "", "="),
        ("QF_IDL", "", ""),
        ("QF_RDL", "", ""),
        ("QF_UF", "=", "= + * < bvadd bvult"),
        ("ALL", "=", "= + * < bvadd bvult"),
        ("QF_LIA", "= + * <", "= + * < bvadd bvult"),
        ("QF_BV", "= bvadd bvult", "= + * < bvadd bvult"),
        ("QF_BVFPLRA", "= + * < bvadd bvult fp.eq fp.lt", "= + * < bvadd bvult"),
    ];
    for (logic, permuted, numbered) in cases {
        for (mode, moved) in [(Mode::Plain, permuted), (Mode::Main, numbered)] {
            let moved: Vec<&str> = moved.split(' ').filter(|_| !(logic == "QF_UFIDL" && mode == Mode::Main)).collect();
            for function in ["=", "+", "*", "<", "bvadd", "bvult", "fp.eq", "fp.lt", "-", "f"] {
                let script = format!("(set-logic {logic})(assert ({function} 1 2))");
                let changed = (1..30).any(|seed| !run(mode, seed, &script).contains(&format!("({function} 1 2)")));
                assert_eq!(changed, moved.contains(&function), "{logic} {mode:?} {function}");
            }
            // The core theory is always known.
            for function in ["and", "or", "xor", "distinct"] {
                let script = format!("(set-logic {logic})(assert ({function} 1 2))");
                assert!((1..30).any(|seed| run(mode, seed, &script).contains(&format!("({function} 2 1)"))));
            }
        }
    }
}

#[test]
fn difference_logic_is_not_noticed_after_an_option() {
    let swaps = |script: &str| (1..30).any(|seed| run(Mode::Main, seed, script).contains("(= 2 1)"));
    assert!(!swaps("(set-logic QF_IDL)(assert (= 1 2))"));
    assert!(swaps("(set-option :x 1)(set-logic QF_IDL)(assert (= 1 2))"));
}

#[test]
fn a_status_ends_where_its_command_does() {
    let script = "(set-logic QF_UF)\n(set-info :status sat)(check-sat)\n(set-info :status unsat) (check-sat) ; sat)\n";
    assert!(run(Mode::Incremental, 0, script).starts_with("sat\nunsat\n--- BENCHMARK"));
    // The older scripts took the rest of the line with it, and so it was published.
    assert!(run(Mode::Application, 0, script).starts_with("sat)(check-sat\nunsat) (check-sat) ; sat\n--- BENCHMARK"));
}

#[test]
fn shadowed_names() {
    // A symbol has one number, whatever it means where it stands.
    let script =
        "(set-logic QF_UF)(declare-fun x () Bool)(assert (let ((x (not x)) (y x)) (and x (not y))))(check-sat)";
    for seed in 0..20 {
        assert_eq!(models(&run(Mode::Plain, seed, script)), models(script), "{seed}");
    }
    // Where names are numbered, a name is new from its own binding on: the second binding has the first one's variable.
    let out = run(Mode::Main, 1, "(declare-fun x () Bool)(assert (let ((x (not x)) (y x)) y))");
    assert!(out.contains("(x2 (not x1))") && out.contains("(x3 x2)"), "{out}");
}

#[test]
fn numbers_of_names_repeat_when_a_scope_is_left() {
    let script = "(declare-fun a () Bool)(push 1)(declare-fun b () Bool)(pop 1)(declare-fun c () Bool)\
                  (assert (forall ((d Bool)) d))(declare-fun e () Bool)";
    assert_eq!(
        run(Mode::Main, 7, script),
        "(declare-fun x1 () Bool)\n(push 1)\n(declare-fun x2 () Bool)\n(pop 1)\n(declare-fun x2 () Bool)\n\
         (assert (forall ((x3 Bool)) x3))\n(declare-fun x3 () Bool)\n"
    );
}

#[test]
fn a_name_that_was_printed_before_its_declaration_keeps_its_text() {
    let script = "(set-logic QF_UF)(assert a)(check-sat)(declare-fun a () Bool)(declare-fun |b| () Bool)(assert (or a b))(check-sat)";
    let out = run(Mode::Plain, 3, script);
    assert!(out.contains("(declare-fun a () Bool)") && out.contains(" x"), "{out}");
    assert!(!out.contains('|'), "{out}");
}

#[test]
fn several_levels_at_once() {
    let script = "(set-logic QF_UF)(push 2)(pop 2)(push 0)(check-sat)";
    assert!(run(Mode::Plain, 0, script).contains("(push 1)\n(push 1)\n(pop 1)\n(pop 1)\n(check-sat)"));
    assert!(run(Mode::Main, 0, script).contains("(push 2)\n(pop 2)\n(push 0)\n"));
    let (out, said) = with(&Options::new(Mode::Main, 1), "(push 1)(check-sat)(pop 2)(check-sat)");
    assert_eq!(
        (out.as_str(), said.as_deref()),
        ("(push 1)\n(check-sat)\n", Some("ERROR pop command over an empty stack"))
    );
    // A number that is too large for the official tool is none at all.
    assert_eq!(run(Mode::Main, 0, "(push 99999999999999999999)(check-sat)").lines().count(), 2);
}

#[test]
fn annotations() {
    let script = "(set-logic UF)(assert (! (f a) :pattern ((f a))))(assert (! (g a) :named n))\
                  (assert (! (h a) :pattern ((h a)) :named n))(check-sat)";
    let keep = "(assert (! (f a) :pattern ((f a))))\n(assert (! (g a) :named n))\n(assert (! (h a) :pattern ((h a)) :named n))\n";
    let patterns = "(assert (! (f a) :pattern ((f a))))\n(assert (g a))\n(assert (h a))\n";
    let strip = "(assert (f a))\n(assert (g a))\n(assert (h a))\n";
    for (annotations, expected) in
        [(Annotations::Keep, keep), (Annotations::Patterns, patterns), (Annotations::Strip, strip)]
    {
        let mut options = Options::new(Mode::SingleQuery, 0);
        options.annotations = annotations;
        assert!(with(&options, script).0.contains(expected), "{annotations:?}");
    }
    // Where names are numbered, annotations stay if nothing is scrambled.
    let mut options = Options::new(Mode::Main, 0);
    options.annotations = Annotations::Strip;
    assert!(with(&options, script).0.contains(keep));
    options.seed = 1;
    assert!(!with(&options, script).0.contains('!'));
}

#[test]
fn refusals() {
    let cases = [
        (
            "(set-logic QF_UF)(check-sat)(reset)",
            "ERROR: Encountered non-SMT-COMP command: 'reset'. Maybe you want to re-run with '-support-non-smtcomp true'.",
            true,
        ),
        (
            "(set-option :produce-models true)",
            "ERROR: Encountered non-SMT-COMP command: 'set-option'. Maybe you want to re-run with '-support-non-smtcomp true'.",
            true,
        ),
        ("(assert (f a))", "ERROR logic has not been set", true),
        ("(set-logic QF_UF)(set-logic QF_UF)", "ERROR logic is already set", true),
        ("(declare-sort s 1)", "ERROR: declare-sort with arity != 0", true),
        ("(declare-datatypes ((s 2)) (((c))))", "ERROR: declare-datatypes contains a sort with arity != 0", true),
        (
            "(assert (! a :weight 3))",
            "ERROR: Encountered z3-specific attribute: ':weight'. Maybe you want to re-run with '-support-z3 true'.",
            true,
        ),
        ("(assert a", "ERROR: syntax error", true),
        ("(assert ())", "ERROR: syntax error", true),
        ("(assert (f))", "ERROR: syntax error", true),
        ("(assert (let () a))", "ERROR: syntax error", true),
        ("(assert (! a))", "ERROR: syntax error", true),
        ("(assert let)", "ERROR: syntax error", true),
        ("(push)", "ERROR: syntax error", true),
        ("(frob)", "ERROR: syntax error", true),
        ("(declare-const c Bool)", "ERROR: syntax error", false),
        ("(set-info :a (b))", "ERROR: syntax error", false),
        ("(assert bv1)", "ERROR: syntax error", false),
        ("(get-model)", "ERROR: syntax error", false),
    ];
    for (script, message, permuting) in cases {
        let mode = if permuting { Mode::Plain } else { Mode::Main };
        for seed in [0, 5] {
            assert_eq!(with(&Options::new(mode, seed), script).1.as_deref(), Some(message), "{script}");
        }
    }
    // What was printed before stays, and the place is known.
    let mut out = Vec::new();
    let error = scramble(
        b"(set-logic QF_UF)\n(check-sat)\n  (assert (f\n".as_slice(),
        &Options::new(Mode::Incremental, 0),
        &mut out,
    );
    let Err(Error::Refused(refusal)) = error else { panic!() };
    assert_eq!((refusal.line, refusal.column), (4, 1));
    assert_eq!(out, b"--- BENCHMARK BEGINS HERE ---\n(set-logic QF_UF)\n(check-sat)\n");
}

#[test]
fn what_is_no_token_or_no_command() {
    // Characters of no token are printed when they are read, before the commands that wait for a check-sat.
    let out = run(Mode::Incremental, 0, "(set-logic QF_UF)\n' {(assert a)}(check-sat)");
    assert_eq!(out, "--- BENCHMARK BEGINS HERE ---\n'{}(set-logic QF_UF)\n(assert a)\n(check-sat)\n");
    // Words outside of commands are passed over. Behind the last parenthesis, only the first one is looked at.
    assert_eq!(run(Mode::Main, 0, "a ) :b 1 (check-sat) c (exit) d ("), "(check-sat)\n(exit)\n");
    let (_, said) = with(&Options::new(Mode::Main, 0), "(check-sat) (");
    assert_eq!(said.as_deref(), Some("ERROR: syntax error"));
    // A comment without an end of line is none: its semicolon is printed, and its first word passed over.
    assert_eq!(run(Mode::Main, 0, "(check-sat)(exit); the end"), "(check-sat)\n;(exit)\n");
    assert_eq!(run(Mode::Main, 0, ""), "");
    assert_eq!(run(Mode::Main, 0, "\"(check-sat)"), "");
}

#[test]
fn tokens_are_the_longest_that_there_are() {
    let script = "(set-logic QF_UF)(assert (f 1.5 1.5.5 01 #b01 #xaF |a b| || \"a\"\"(\" a->b))(check-sat)";
    assert!(run(Mode::Plain, 0, script).contains("(assert (f 1.5 1.5.5 01 #b01 #xaF |a b| || \"a\"\"(\" a->b))"));
    // A constant ends with its last digit; what follows is another token.
    assert!(run(Mode::Plain, 0, "(set-logic QF_UF)(assert (f #b012 #xfg))").contains("(f #b01 2 #xf g)"));
    // The older scanner takes the marks away from literals, and the bars from what it does not know.
    let out = run(Mode::Main, 0, "(set-option :x \"say \\\"a\\\" (b)\")(set-option :y |c d|)");
    assert_eq!(out, "(set-option :x say \"a\" (b))\n(set-option :y |c d|)\n");
    assert_eq!(run(Mode::Main, 4, "(assert |c d|)"), "(assert c d)\n");
}

#[test]
fn datatypes_and_matches() {
    let script = "(set-logic QF_DT)(declare-datatype N ((z) (s (p N))))(declare-const n N)\
                  (assert (match n ((z true) ((s m) (= m (as z N))))))(assert ((_ is s) n))(check-sat)";
    assert_eq!(
        run(Mode::Incremental, 0, script),
        "--- BENCHMARK BEGINS HERE ---\n(set-logic QF_DT)\n(declare-datatypes ((N 0)) (((z) (s (p N)))))\n\
         (declare-fun n () N)\n(assert (match n ((z true) ((s m) (= m (as z N))))))\n(assert ((_ is s) n))\n(check-sat)\n"
    );
    // The tester is not renamed, the constructor in it is.
    let out = run(Mode::Incremental, 9, script);
    assert!(out.contains("((_ is x") && !out.contains("(s "), "{out}");
}

#[test]
fn terms_of_a_million_levels() {
    let depth = 1_000_000;
    let deep = |open: &str, inner: &str| format!("{}{inner}{}", open.repeat(depth), ")".repeat(depth));
    let terms = [
        deep("(not ", "a"),
        deep("(and a ", "a"),
        format!("{}a{}", "(let ((b a)) ".repeat(depth), ")".repeat(depth)),
        format!("{}a{}", "(let ((b ".repeat(depth), ")) b)".repeat(depth)),
        format!("{}a{}", "(! ".repeat(depth), " :named n)".repeat(depth)),
        format!("(forall ((x {})) a)", deep("(Array Int ", "Int")),
    ];
    for term in &terms {
        let script = format!("(set-logic QF_UF)(declare-fun a () Bool)(assert {term})(check-sat)");
        for mode in [Mode::UnsatCore, Mode::Main] {
            let mut options = Options::new(mode, 1);
            options.lift_named = mode.naming() == Naming::Numbering;
            let (out, said) = with(&options, &script);
            assert_eq!(said, None);
            assert!(out.contains("(check-sat)\n"), "{mode:?}");
        }
    }
    let values = format!("(assert (! a :x {}))", deep("(b ", "c"));
    assert!(run(Mode::Main, 1, &values).contains("(b (b "));
    let option = format!("(set-option :x {})(set-info :x {})", deep("(b ", "c"), deep("(b ", "c"));
    let mut options = Options::new(Mode::Plain, 1);
    options.non_smtcomp = true;
    assert_eq!(with(&options, &option).1, None);
}

#[test]
fn operations_on_which_the_official_tools_crash() {
    let (_, said) = with(&Options::new(Mode::Plain, 1), "(set-logic QF_FP)(assert (fp.add RNE))");
    assert!(said.unwrap().contains("crashes"));
    assert_eq!(with(&Options::new(Mode::Plain, 0), "(set-logic QF_FP)(assert (fp.add RNE))").1, None);
    let all = (1..9).map(|seed| with(&Options::new(Mode::Main, seed), "(assert (< a))").1).collect::<Vec<_>>();
    assert!(all.iter().any(Option::is_some) && all.iter().any(Option::is_none));
}
