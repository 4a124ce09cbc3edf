//! `agon bench`: each clause of the rules on benchmark scripts has a script that keeps it and one that does not; and the
//! index of a folder is a list of benchmarks.

use std::fs;
use std::path::Path;

use agon_tests::agon;

const OF_2012: &str = "tests/lint/scripts-2012.yaml";

const MAIN: &str = "(set-info :status sat)\n(set-logic QF_UF)\n(declare-sort S 0)\n(declare-fun a () S)\n(declare-fun f (S) S)\n(assert (= \
                    (f a) a))\n(check-sat)\n(exit)\n";
const TRACE: &str = "(set-option :print-success true)\n(set-logic QF_LIA)\n(declare-fun x () Int)\n(push 1)\n(assert (< x 1))\n(check-sat)\n\
                     (pop 1)\n(assert (> x 2))\n(check-sat)\n(exit)\n";
const CORE: &str = "(set-option :produce-unsat-cores true)\n(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert (! p :named \
                    one))\n(assert (not p))\n(check-sat)\n(get-unsat-core)\n(exit)\n";
const PROOF: &str = "(set-option :produce-proofs true)\n(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert p)\n(assert (not \
                     p))\n(check-sat)\n(get-proof)\n(exit)\n";

const SINGLE_2022: &str = "(set-option :print-success false)\n(set-info :status sat)\n(set-logic QF_UFDT)\n(declare-sort S 0)\n(define-sort R () S)\n\
                           (declare-datatype D ((d)))\n(declare-fun a () R)\n(define-fun b () R a)\n(assert (= a b))\n(check-sat)\n";
const CORE_2022: &str = "(set-option :print-success false)\n(set-option :produce-unsat-cores true)\n(set-logic QF_UF)\n(declare-fun p () \
                         Bool)\n(assert (! p :named one))\n(assert (not p))\n(check-sat)\n(get-unsat-core)\n(exit)\n";

/// What the command says of a script.
fn lint(folder: &Path, edition: &str, track: &str, script: &str) -> (i32, String) {
    let path = folder.join("a.smt2");
    fs::write(&path, script).expect("the temporary folder is writable");
    let path = path.to_str().expect("UTF-8");
    let output = agon(&["bench", "lint", path, "--edition", edition, "--track", track]);
    (output.status, output.stdout.replace(path, "a.smt2"))
}

/// A good script and its damaged variants: a part that is replaced, and what is said of it.
fn check(edition: &str, track: &str, good: &str, variants: &[(&str, &str, &str)]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(lint(folder.path(), edition, track, good), (0, String::new()), "{edition} {track}");
    for (part, instead, said) in variants {
        assert!(good.contains(part), "{part}");
        let (status, text) = lint(folder.path(), edition, track, &good.replacen(part, instead, 1));
        assert_eq!(status, 1, "{edition} {track}: {instead}");
        assert!(text.contains(said), "{edition} {track}: {instead}\n{said}\n{text}");
    }
}

/// Clauses 1, 2, 6, 7, 8 and the last one are the same in both years and for all tracks.
fn common(edition: &str, last: u32) {
    let commands = format!("a.smt2:4:1: the command `define-fun` is not allowed here [{last} commands");
    check(
        edition,
        "main",
        MAIN,
        &[
            ("(set-logic QF_UF)\n", "", "there must be 1 of `set-logic`, but there are 0 [1 set-logic"),
            (
                "(set-logic QF_UF)\n(declare-sort S 0)",
                "(declare-sort S 0)\n(set-logic QF_UF)",
                "a.smt2:3:1: `declare-sort` must not stand before `set-logic` [1 set-logic",
            ),
            ("(exit)\n", "", "there must be 1 of `exit`, but there are 0 [2 exit"),
            ("(check-sat)\n(exit)", "(exit)\n(check-sat)", "a.smt2:7:1: `exit` must be the last command [2 exit"),
            (
                "(check-sat)\n",
                "(check-sat)\n(check-sat)\n",
                "a.smt2:8:1: there must be no more than 1 of `check-sat`, but there are 2 [3 one check",
            ),
            ("(exit)", "(assert true)(exit)", "a.smt2:8:1: `assert` must not stand behind `check-sat` [3 asserts"),
            (
                "(declare-sort S 0)",
                "(declare-sort S 0)(set-info :status unsat)",
                "a.smt2:3:19: there must be no more than 1 of `(set-info :status ...)`, but there are 2 [6 status",
            ),
            (
                "(assert (= (f a) a))",
                "(assert (= 1 1))",
                "a.smt2:6:12: a numeral, which the logic QF_UF does not have [7 logic",
            ),
            (
                "(assert (= (f a) a))",
                "(assert (forall ((x S)) (= x a)))",
                "a.smt2:6:9: a quantifier, which the logic QF_UF does not have [7 logic",
            ),
            ("(assert (= (f a) a))", "(assert (= (g a) a))", "a.smt2:6:13: `g` is not declared [8 declarations"),
            ("(declare-fun f (S) S)", "(declare-fun a () S)", "a.smt2:5:14: `a` is declared already [8 declarations"),
            (
                "(declare-sort S 0)",
                "(declare-sort S 0)(declare-sort T 1)",
                "a.smt2:3:19: the sort that `declare-sort` declares must take 0 arguments, but takes 1 [8 sorts",
            ),
            ("(declare-fun a () S)", "(define-fun b () Bool true)(declare-fun a () S)", &commands),
        ],
    );
    check(
        edition,
        "application",
        TRACE,
        &[
            ("(push 1)", "(push 2)", "a.smt2:4:1: `push` must have the argument `1`, not `2` [4 levels"),
            ("(pop 1)", "(pop 1)(pop 1)", "a.smt2:7:8: `pop` of a level that no `push` has opened [flow"),
            ("(push 1)\n(assert (< x 1))", "(push 1)", "a.smt2:5:1: `assert` must stand before `check-sat` [4 checks"),
            ("(set-option :print-success true)\n", "", "there must be 1 of `set-option`, but there are 0 [5 option"),
            (
                ":print-success true",
                ":print-success false",
                "a.smt2:1:1: `set-option` must have the argument `:print-success true`, not `:print-success false` [5 option",
            ),
            ("(push 1)", "(get-unsat-core)(push 1)", "a.smt2:4:1: the command `get-unsat-core` is not allowed here"),
        ],
    );
}

#[test]
fn clauses_of_2012() {
    common(OF_2012, 11);
    check(
        OF_2012,
        "unsat-core",
        CORE,
        &[
            (
                "(set-option :produce-unsat-cores true)\n",
                "",
                "there must be 1 of `set-option`, but there are 0 [9 option",
            ),
            ("(get-unsat-core)\n", "", "a.smt2:6:1: `get-unsat-core` must follow `check-sat` [3 one check"),
            (
                "(assert (not p))",
                "(assert (not (! p :named two)))",
                "a.smt2:5:19: only asserted terms have names here [9 names",
            ),
        ],
    );
    check(
        OF_2012,
        "proof",
        PROOF,
        &[
            (
                ":produce-proofs true",
                ":produce-models true",
                "a.smt2:1:1: `set-option` must have the argument `:produce-proofs true`, not `:produce-models true` [10 option",
            ),
            ("(get-proof)\n", "", "there must be 1 of `get-proof`, but there are 0 [10 answer"),
        ],
    );
}

#[test]
fn clauses_of_2014() {
    common("smt-comp-2014", 9);
}

#[test]
fn clauses_of_2022() {
    let edition = "smt-comp-2022";
    check(
        edition,
        "single-query",
        SINGLE_2022,
        &[
            (
                ":print-success false",
                ":produce-models true",
                "a.smt2:1:1: `set-option` must have the argument `:print-success false`, not `:produce-models true` [set-option, §5.1 Input]",
            ),
            (
                "(set-logic QF_UFDT)\n(declare-sort S 0)",
                "(declare-sort S 0)\n(set-logic QF_UFDT)",
                "a.smt2:4:1: `declare-sort` must not stand before `set-logic` [set-logic, §5.1 Input]",
            ),
            (
                "(define-sort R () S)",
                "(define-sort R () S)(define-sort T (X) S)",
                "a.smt2:5:21: the sort that `define-sort` declares must take 0 arguments, but takes 1 [declare-sort, §5.1 Input]",
            ),
            (
                "QF_UFDT",
                "QF_UF",
                "a.smt2:6:1: `declare-datatype` needs a logic with datatypes [declare-datatypes, §5.1 Input]",
            ),
            ("(assert (= a b))", "(assert (= a c))", "a.smt2:9:14: `c` is not declared [declarations, §5.1 Input]"),
            (
                "(assert (= a b))",
                "(assert (exists ((x S)) (= x a)))",
                "a.smt2:9:9: a quantifier, which the logic QF_UFDT does not have [logic, §5.1 Input]",
            ),
            (
                "(assert (= a b))",
                "(assert (! (= a b) :named n))",
                "a.smt2:9:20: terms have no names here [named, §5.1 Input]",
            ),
            (
                "(check-sat)",
                "(check-sat)(check-sat)",
                "a.smt2:10:12: there must be no more than 1 of `check-sat`, but there are 2 [check-sat, §5.1 Input]",
            ),
            ("(check-sat)", "(exit)(check-sat)", "a.smt2:10:1: `exit` must be the last command [exit, §5.1 Input]"),
            (
                "(check-sat)",
                "(check-sat)(get-model)",
                "a.smt2:10:12: the command `get-model` is not allowed here [commands, §5.1 Input]",
            ),
            ("(= a b)", "(= a", "there must be 1 of `check-sat`"),
        ],
    );
    check(
        edition,
        "incremental",
        TRACE,
        &[
            (
                ":print-success true",
                ":print-success false",
                "a.smt2:1:1: `set-option` must have the argument `:print-success true`, not `:print-success false` [set-option, §5.1 Input]",
            ),
            ("(exit)\n", "", "there must be 1 of `exit`, but there are 0 [exit, §5.1 Input]"),
            ("(pop 1)", "(pop 2)", "a.smt2:7:1: `pop` must have the argument `1`, not `2` [levels, §5.1 Input]"),
        ],
    );
    check(
        edition,
        "unsat-core",
        CORE_2022,
        &[
            (
                "(set-option :print-success false)\n",
                "",
                "a.smt2:1:1: `set-option` must be the second command [produce-unsat-cores, §5.1 Input]",
            ),
            ("(get-unsat-core)\n", "", "a.smt2:7:1: `get-unsat-core` must follow `check-sat` [check-sat, §5.1 Input]"),
            (
                "(assert (not p))",
                "(assert (not (! p :named two)))",
                "a.smt2:6:19: only asserted terms have names here [named, §5.1 Input]",
            ),
        ],
    );
    let of = |option: &str, get: &str| {
        let bare = CORE_2022.replace("(! p :named one)", "p");
        bare.replace("produce-unsat-cores", option).replace("get-unsat-core", get)
    };
    let model = of("produce-models", "get-model");
    let said = "there must be 1 of `(set-option :produce-models ...)`, but there are 0 [produce-models, §5.1 Input]";
    check(
        edition,
        "model-validation",
        &model,
        &[
            ("(set-option :produce-models true)\n", "", said),
            (
                "(get-model)",
                "(get-model)(get-model)",
                "a.smt2:8:12: there must be no more than 1 of `get-model`, but there are 2 [get-model, §5.1 Input]",
            ),
        ],
    );
    let proof = of("produce-proofs", "get-proof");
    check(
        edition,
        "proof-exhibition",
        &proof,
        &[("get-proof", "get-model", "a.smt2:8:1: the command `get-model` is not allowed here [commands, §5.1 Input]")],
    );
}

#[test]
fn without_an_edition_the_standard_is_checked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.smt2"), MAIN).expect("it can be written");
    let path = folder.path().to_str().expect("UTF-8").to_string();
    assert_eq!(agon(&["bench", "lint", &path]).status, 0);
    fs::write(folder.path().join("b.smt2"), "(assert (= 1 true))\n(minimize 2)").expect("it can be written");
    let output = agon(&["bench", "lint", &path, "--format", "csv"]);
    assert_eq!(output.status, 1);
    assert!(output.stdout.contains("b.smt2,1,14,sort,,,"), "{}", output.stdout);
    assert!(output.stderr.contains("1 of 2 scripts are refused"), "{}", output.stderr);
    assert_eq!(agon(&["bench", "lint", &path, "--edition", "smt-comp-2022", "--track", "nowhere"]).status, 2);
    assert_eq!(agon(&["bench", "lint", "no/such/folder"]).status, 2);
}

#[test]
fn an_index_is_a_list_of_benchmarks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("scripts/QF_UF/hull")).expect("it can be made");
    fs::write(at("scripts/QF_UF/hull/a.smt2"), MAIN).expect("it can be written");
    fs::write(at("scripts/QF_UF/b.smt2"), "(set-logic QF_UF)(assert \"").expect("it can be written");
    let (scripts, list) = (at("scripts"), at("list.csv"));
    let (scripts, list) = (scripts.to_str().expect("UTF-8"), list.to_str().expect("UTF-8"));
    let output = agon(&["bench", "index", scripts, "--format", "csv", "-o", list]);
    assert_eq!((output.status, output.stdout.as_str()), (0, ""));
    assert!(output.stderr.contains("1 of 2 scripts are damaged"), "{}", output.stderr);
    let text = fs::read_to_string(list).expect("it was written");
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[1].starts_with("QF_UF/b.smt2,scripts/QF_UF/b.smt2,QF_UF,,,,0,0,0,0,0,26,"), "{}", rows[1]);
    assert!(
        rows[1].ends_with("line 1, column 26: the string literal that begins here has no end: a `\"\"` is missing\""),
        "{}",
        rows[1]
    );
    assert!(
        rows[2].starts_with("QF_UF/hull/a.smt2,scripts/QF_UF/hull/a.smt2,QF_UF,sat,,hull,1,1,0,0,1,"),
        "{}",
        rows[2]
    );
    let json = agon(&["bench", "index", scripts, "--format", "json"]).success();
    assert!(json.contains("\"status\": [\n      \"sat\"\n    ]"), "{json}");
    let table = agon(&["bench", "index", scripts]).success();
    assert!(table.lines().next().is_some_and(|l| l.starts_with("benchmark")), "{table}");
    // The list is what `agon run` takes; the run itself is refused only for the entrants, which come next.
    let store = at("store");
    let entrants = at("entrants.yaml");
    fs::write(&entrants, "entrants:\n  - { name: Auk, command: [/bin/echo, sat] }\n").expect("it can be written");
    let run = agon(&[
        "run",
        "tests/competitions/summer-cup/edition.yaml",
        "--track",
        "main",
        "--entrants",
        entrants.to_str().expect("UTF-8"),
        "--benchmarks",
        list,
        "--store",
        store.to_str().expect("UTF-8"),
    ]);
    // Its logic is in no division of that track, which shows that the list was read.
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("the benchmark QF_UF/b.smt2 has the logic QF_UF"), "{}", run.stderr);
}
