//! What is written is read to the same graph.

use std::collections::HashMap;
use std::path::PathBuf;

use agon_smtlib::{CommandKind, FunctionKind, Head, Options, Script, Session, Term, read};

/// What a term is beside its arguments.
fn describe(script: &Script, term: Term) -> String {
    let name = |s| script.symbols.text(s).into_owned();
    let sort = |s| script.sorts.text(s, &script.symbols);
    let fun = |f| {
        let function = script.function(f);
        let parameters: Vec<String> = function.parameters.iter().map(|s| sort(*s)).collect();
        format!("{} {parameters:?} {}", name(function.name), sort(function.result))
    };
    let head = match script.terms.head(term) {
        Head::Function(f) => format!("function {}", fun(f)),
        Head::FunctionAs(f, s) => format!("as {} {}", fun(f), sort(s)),
        Head::FunctionValue(f) => format!("value {}", fun(f)),
        Head::Variable(v) => format!("variable {} {} {}", name(v.name), sort(v.sort), v.level),
        Head::Numeral(s) => format!("numeral {}", name(s)),
        Head::Decimal(s) => format!("decimal {}", name(s)),
        Head::Hex(s) => format!("hex {}", name(s)),
        Head::Binary(s) => format!("binary {}", name(s)),
        Head::String(s) => format!("string {}", name(s)),
        Head::Case(c) => format!("case {:?}", c.map(fun)),
        Head::Annotated(list) => {
            let mut text = "annotated".to_string();
            for attribute in list {
                use agon_smtlib::Attribute as A;
                text += &match attribute {
                    A::Named(n) => format!(" named {}", name(*n)),
                    A::Pattern(count) => format!(" pattern {count}"),
                    A::NoPattern => " no-pattern".into(),
                    A::Other(k, v) => format!(" {} {:?}", name(*k), v.map(name)),
                };
            }
            text
        }
        Head::Indexed(q) => {
            let rest = if q.symbol().is_some() || q.function().is_some() { &q.indices[1..] } else { &q.indices[..] };
            format!(
                "{} {:?} {:?} {rest:?} {:?}",
                q.base.name(),
                q.symbol().map(name),
                q.function().map(fun),
                q.sort.map(sort)
            )
        }
        other => format!("{other:?}"),
    };
    format!("{head} : {}", sort(script.terms.sort(term)))
}

/// The terms of a script's commands.
fn roots(script: &Script) -> Vec<Term> {
    let mut roots = Vec::new();
    for command in &script.commands {
        let mut body = |f: &agon_smtlib::Fun| {
            if let FunctionKind::Defined { variables, body } = &script.function(*f).kind {
                roots.extend_from_slice(variables);
                roots.extend(*body);
            }
        };
        match &command.kind {
            CommandKind::DefineFun(f) | CommandKind::DefineFunRec(f) | CommandKind::DefineConst(f) => body(f),
            CommandKind::DefineFunsRec(list) => list.iter().for_each(body),
            CommandKind::Assert(term) => roots.push(*term),
            CommandKind::CheckSatAssuming(list) | CommandKind::GetValue(list) => roots.extend_from_slice(list),
            _ => {}
        }
    }
    roots
}

/// Numbers of the terms of the commands in a numbering that scripts share, and how many terms there are below them.
fn numbers(script: &Script, known: &mut HashMap<(String, Vec<usize>), usize>) -> (Vec<usize>, usize) {
    let roots = roots(script);
    let mut reached = vec![false; script.terms.len()];
    let mut waiting = roots.clone();
    while let Some(term) = waiting.pop() {
        if !std::mem::replace(&mut reached[term.index()], true) {
            waiting.extend_from_slice(script.terms.arguments(term));
        }
    }
    let mut of = vec![0; script.terms.len()];
    let mut count = 0;
    for term in script.terms.all().filter(|t| reached[t.index()]) {
        let arguments: Vec<usize> = script.terms.arguments(term).iter().map(|t| of[t.index()]).collect();
        let next = known.len();
        of[term.index()] = *known.entry((describe(script, term), arguments)).or_insert(next);
        count += 1;
    }
    (roots.iter().map(|t| of[t.index()]).collect(), count)
}

fn assert_same(path: &str, a: &Script, b: &Script, written: &[u8]) {
    let text = || String::from_utf8_lossy(&written[..written.len().min(3000)]).into_owned();
    assert_eq!(a.commands.len(), b.commands.len(), "{path}");
    for (x, y) in a.commands.iter().zip(&b.commands) {
        assert_eq!(x.kind.name(), y.kind.name(), "{path}");
    }
    let mut known = HashMap::new();
    let (first, count) = numbers(a, &mut known);
    let (second, again) = numbers(b, &mut known);
    assert_eq!((first, count), (second, again), "{path}\n{}", text());
}

/// Writes a script and reads it again; the second text is the same as the first from then on.
fn round_trip(path: &str, text: &[u8]) {
    let Ok(script) = read(text, Options::default()) else { return };
    let mut written = Vec::new();
    script.write(&mut written);
    let again = match read(&written, Options::default()) {
        Ok(again) => again,
        Err(problem) => panic!("{path}: {problem}\n{}", String::from_utf8_lossy(&written)),
    };
    assert_same(path, &script, &again, &written);
}

#[test]
fn what_shares_and_what_shadows() {
    let scripts = [
        "(declare-fun x () Int)(assert (let ((y (+ x 1))) (= (* y y) (let ((x y)) (+ x x)))))",
        // A variable that is bound again where the outer one is used.
        "(assert (forall ((x Int)) (let ((y x)) (exists ((x Int)) (and (= x y) (= (+ x y) (+ x y)))))))",
        "(declare-fun x () Int)(assert (let ((y x)) (forall ((x Int)) (= x y))))",
        "(declare-fun f (Int) Int)(assert (let ((y (f 1))) (forall ((f Int)) (= f y (f f)))))",
        // A quantifier inside one of the same name, shared and not depending on it.
        "(assert (forall ((x Int)) (let ((q (forall ((x Int)) (> x (+ 0 1))))) (and (> x 0) (= q q) (=> q (exists ((z \
         Int)) (and q (= z x))))))))",
        "(assert (let ((q (forall ((x Int)) (> x 0)))) (and q (forall ((x Int)) (and q (< x 0))))))",
        "(declare-fun p (Int Int) Bool)(assert (forall ((x Int) (y Int)) (! (=> (p (+ x y) (+ x y)) (exists ((z Int)) \
         (p (+ x y) (+ z (+ x y))))) :pattern ((p x y) (p y x)) :pattern ((p x x)) :qid here :weight 3)))",
        // Named terms that are used where they are named.
        "(declare-fun p () Bool)(declare-fun g (Bool) Bool)(assert (and (! (or p (not p)) :named n) (g n) (g (g n)) (g \
         (g n))))(assert (! (g n) :named |a b|))(get-value (n |a b|))",
        "(declare-datatypes ((List 1)) ((par (X) ((nil) (cons (head X) (tail (List X)))))))(declare-fun l () (List \
         Int))(assert (= (match l ((nil (as nil (List Int))) ((cons h t) (cons h (cons h t))))) (cons 1 l) (as nil (List \
         Int))))(assert ((_ is cons) l))(assert (match l ((nil true) (x (= x l x)))))(assert (match l (((cons h _) (> h \
         0)) (_ false))))",
        "(declare-datatype T ((leaf) (|n o| (left T) (|let| T))))(declare-fun t () T)(assert (= (|let| t) (left t)))",
        "(define-fun-rec f ((x Int) (y Int)) Int (ite (= x y) (f (+ x y) (+ x y)) 0))(define-funs-rec ((a ((x Int)) Int) \
         (b ((x Int)) Int)) ((b (+ x 1)) (a x)))(define-const c Int (f 1 2))(assert (= c (a 2)))",
        "(set-info :smt-lib-version 2.0)(set-logic QF_S)(declare-fun s () String)(assert (= s \"a\\\"b\\\\c\"))(echo \
         \"\\\"\")",
        "(declare-fun s () String)(assert (str.in_re s (re.++ ((_ re.^ 3) (str.to_re \"\"\"\")) ((_ re.loop 1 2) \
         re.allchar))))(assert (= (_ char #x41) s))(echo \"\"\"\")",
        "(declare-fun f () Float32)(assert (= f (fp #b0 #x01 #b00000000000000000000000) (_ NaN 8 24) ((_ to_fp 8 24) RNE \
         0.5) ((_ to_fp 8 24) roundTowardZero f)))(assert (= (_ bv5 8) #x05 ((_ extract 7 0) #x0005)))",
        "(declare-fun a () (Array Int Real))(assert (= (store a 1 2.0) ((as const (Array Int Real)) 0.0)))(assert (= \
         (select a 0) 1 (+ 1 2.5)))(assert (= (ite true 1 2.0) (/ 1 3) (- 1)))",
        "(set-logic HO_ALL)(declare-fun f (Int Int) Int)(declare-const g (-> Int Int Int))(assert (= (@ f 1) (g 2) (lambda \
         ((x Int)) (+ x x))))(assert (= (_ f 1 2) ((f 1) 2)))",
        "(set-logic QF_UF)(declare-sort S 0)(declare-sort |P Q| 2)(define-sort R (X) (|P Q| X S))(declare-fun a () (R \
         Bool))(push 2)(declare-fun b () (R Bool))(assert (= a b))(check-sat-assuming ((= a a)))(pop 1)(reset)",
        "(declare-sort-parameter A)(declare-fun f (A A) Bool)(assert (forall ((x A)) (f x x)))(assert (f 1 2))",
        "(declare-fun l1 () Bool)(declare-fun l2_ () Bool)(assert (let ((x (and l1 l2_))) (or x (not x))))",
    ];
    for script in scripts {
        assert_eq!(read(script.as_bytes(), Options::default()).err().map(|p| p.to_string()), None, "{script}");
        round_trip(script, script.as_bytes());
    }
}

/// Every script of the archive that is read.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn all_benchmarks() {
    let folder = std::env::var_os("AGON_ARCHIVE").map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    let mut waiting = vec![folder.join("benchmarks/smt2"), folder.join("benchmarks/malformed")];
    let mut count = 0;
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("the archive has the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == "smt2") {
                round_trip(&path.display().to_string(), &std::fs::read(&path).expect("a file"));
                count += 1;
            }
        }
    }
    assert!(count > 1300, "{count} scripts");
}

/// A million levels of each kind of nesting are read, written and dropped on the stack of a test.
#[test]
fn a_million_levels() {
    const DEPTH: usize = 1_000_000;
    let nest = |head: &str, open: &str, core: &str, close: &str| {
        format!("{head}(assert {}{core}{})(check-sat)", open.repeat(DEPTH), close.repeat(DEPTH)).into_bytes()
    };
    let texts = [
        nest("(declare-fun p () Bool)", "(not ", "p", ")"),
        nest("(declare-fun p () Bool)", "(let ((x p)) ", "p", ")"),
        nest("(declare-fun p (Int) Bool)", "(forall ((x Int)) ", "(p x)", ")"),
        nest("(declare-fun p () Bool)", "(! ", "p", " :a b)"),
        nest("(declare-fun p () Bool)", "(let ((x ", "p", ")) (not x))"),
        nest("(declare-fun p () Bool)(declare-fun a () Int)", "(= a (ite ", "p", " 1 2))"),
    ];
    for text in texts {
        let mut session = Session::new(Options::default());
        session.read(&text).unwrap();
        let script = session.into_script();
        let mut written = Vec::new();
        script.write(&mut written);
        let again = read(&written, Options::default()).unwrap();
        assert_eq!(script.terms.len(), again.terms.len());
    }
    let sorts = format!("(declare-fun a () {}Int{})", "(Array Int ".repeat(DEPTH), ")".repeat(DEPTH));
    let script = read(sorts.as_bytes(), Options::default()).unwrap();
    let mut written = Vec::new();
    script.write(&mut written);
    assert_eq!(written, format!("{sorts}\n").into_bytes());
    for unfinished in ["(assert ".to_string() + &"(not ".repeat(DEPTH), "(a".repeat(DEPTH)] {
        assert!(read(unfinished.as_bytes(), Options::default()).is_err());
    }
}
