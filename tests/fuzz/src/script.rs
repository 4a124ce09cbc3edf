//! SMT-LIB scripts: a refusal has a place, and what is read is written and read again to the same text.

use agon_smtlib::{Options, Session, Splitter, Strings, Version, items, read};

pub const SEEDS: [&str; 7] = [
    "(set-info :smt-lib-version 2.6)\n(set-logic QF_AUFLIA) ; a note (\n(set-info :status |sat (|)\n(declare-sort S 0)\n(declare-fun a () (Array Int S))\n(declare-fun f (S Int) S)\n(push 1)(assert (! (let ((x (select a 1)) (y (+ 1 2))) (= (f x y) (store a y x) (f x (- y)))) :named n))\n(check-sat)(pop 1)(get-unsat-core)\n(exit)\n",
    "(set-logic ALL)(declare-datatypes ((L 1) (T 0)) ((par (X) ((nil) (cons (hd X) (tl (L X))))) ((leaf) (node (sub (L T))))))(declare-const l (L Int))(assert (match l ((nil true) ((cons h t) (and (> h 0) ((_ is cons) t))))))(assert (= (as nil (L Int)) l))(define-fun-rec g ((x (L Int)) (y Int)) Int (match x ((nil y) ((cons h _) (g (tl x) (+ y h))))))(get-value ((g l 0)))",
    "(set-logic QF_BVFP)(declare-fun x () (_ BitVec 8))(declare-fun d () Float32)(assert (bvult ((_ extract 3 0) x) (bvadd #xf (_ bv3 4) #b0101)))(assert (fp.leq d (fp.add RNE d ((_ to_fp 8 24) RTZ x)) (_ +oo 8 24) (fp #b0 #x00 #b00000000000000000000001)))(check-sat-assuming ((not (fp.isNaN d)) true))",
    "(set-logic QF_SLIA)(declare-fun s () String)(assert (str.in_re (str.++ s \"a\"\"b\\u{41}\") (re.+ (re.union (re.range \"a\" \"z\") ((_ re.^ 3) re.allchar)))))(echo \"(\")(assert (= (str.len s) (str.to_int (_ char #x41)) 3))(minimize (str.len s))",
    "(set-option :global-declarations true)(declare-fun p (Int) Bool)(declare-fun x () Real)(assert (forall ((x Int) (y Int)) (! (exists ((x Int)) (=> (p x) (p y))) :pattern ((p x) (p y)) :weight 3 :no-pattern (p y))))(define-fun h ((a Real)) Real (+ a 1 (/ 2 3) x))(assert (>= (h 1) (ite (p 0) 1 2.5)))(reset-assertions)(reset)",
    "(set-logic HO_ALL)(declare-sort-parameter A)(declare-fun m (A A) A)(declare-const k (-> Int Int Bool))(assert (= (k 1) (@ k 2) (lambda ((z Int)) (< z (m 1 2)))))(assert (_ k 1 2))(define-sort P (X Y) (Array X (-> Y X)))(declare-const q (P Int Bool))",
    "(set-info :smt-lib-version 2.0)(set-logic QF_UF)(set-info :source \"a \\\" (\\\\\")(declare-fun |a b| () Bool)(declare-fun |let| (Bool Bool) Bool)(assert (|let| |a b| (xor |a b| true false)))(assert (let ((|a b| (not |a b|))) (distinct |a b| (let ((|a b| true)) |a b|))))",
];

pub const WORDS: [&str; 64] = [
    "(",
    ")",
    "((",
    "))",
    " ",
    "\n",
    "\r\n",
    "|",
    "\"",
    "\"\"",
    ";",
    "\\",
    "\0",
    "\u{feff}",
    "é",
    "let",
    "(let ((x ",
    "forall",
    "(forall ((x Int)) ",
    "(exists ((y Int) (x Bool)) ",
    "match",
    "(! ",
    " :named z",
    " :pattern (",
    "_",
    "(_ ",
    "(as ",
    "par",
    "lambda",
    "true",
    "false",
    "x",
    "y",
    "(not ",
    "(= ",
    "(+ ",
    "(- 1)",
    "-1",
    "0",
    "1",
    "2.0",
    "00",
    "1.",
    "#b",
    "#b1",
    "#xA",
    "#",
    ":k",
    "Int",
    "Real",
    "Bool",
    "(Array Int ",
    "(_ BitVec 4)",
    "(push 1)",
    "(pop 1)",
    "(check-sat)",
    "(exit)",
    "(reset)",
    "(assert ",
    "(declare-fun x () Int)",
    "(set-logic QF_LIA)",
    "99999999999999999999",
    "(declare-const x Bool)",
    "lambda",
];

/// One input.
pub fn one(input: &[u8]) -> Result<(), String> {
    let strict =
        Options { standard_only: true, within_logic: true, logic_required: true, version: Some(Version::V2_6) };
    for options in [Options::default(), strict] {
        let mut session = Session::new(options);
        let outcome = session.read(input);
        let problems = session.script().outside_logic.iter().chain(&session.script().flow);
        for problem in problems.chain(outcome.as_ref().err()) {
            if problem.message.trim().is_empty() || problem.at > input.len() || problem.position.line == 0 {
                return Err(format!("a problem without a place or a message: {problem:?}"));
            }
        }
        let script = session.into_script();
        let mut written = Vec::new();
        script.write(&mut written);
        // What was read before a problem is a script, too.
        let again = read(&written, Options { version: options.version, ..Options::default() })
            .map_err(|p| format!("what was written is not read: {p}\n{}", String::from_utf8_lossy(&written)))?;
        if again.terms.len() > script.terms.len() {
            return Err(format!("there are more terms than before\n{}", String::from_utf8_lossy(&written)));
        }
        let mut twice = Vec::new();
        again.write(&mut twice);
        if twice.len() != written.len() {
            return Err(format!(
                "written twice, it differs\n{}\n{}",
                String::from_utf8_lossy(&written),
                String::from_utf8_lossy(&twice)
            ));
        }
    }
    for strings in [Strings::Doubled, Strings::Backslash] {
        let whole: Vec<_> = items(input, strings).map(|i| i.map(|s| s.bytes(input).to_vec())).collect();
        let mut splitter = Splitter::new(strings);
        let mut pieces = Vec::new();
        for piece in input.chunks(5) {
            splitter.feed(piece);
            while let Some(item) = splitter.next_item() {
                pieces.push(item.map(|i| i.bytes.to_vec()));
            }
        }
        splitter.finish();
        while let Some(item) = splitter.next_item() {
            pieces.push(item.map(|i| i.bytes.to_vec()));
        }
        if whole != pieces {
            return Err("splitting in pieces differs".into());
        }
    }
    Ok(())
}
