//! The whole of the archive's benchmarks: what is read, what is refused, and where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agon_smtlib::{Class, Options, Session, Version, items};

fn archive() -> PathBuf {
    let folder = std::env::var_os("AGON_ARCHIVE").map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    folder.join("benchmarks")
}

/// The rows of an index, as maps from column to cell.
fn index(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("index.csv")).expect("the archive has the index");
    let header = reader.headers().expect("a header").clone();
    let rows = reader.records().map(|r| r.expect("a row"));
    rows.map(|r| header.iter().map(String::from).zip(r.iter().map(String::from)).collect()).collect()
}

/// Standard scripts are read; what is refused has a place, and a solver's language is named.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn standard_scripts_are_read() {
    let folder = archive().join("smt2");
    let (mut standard, mut extended, mut refused) = (0, 0, 0);
    for row in index(&folder) {
        let path = &row["path"];
        let text = std::fs::read(folder.join(path)).expect("the file of the index");
        let mut session = Session::new(Options::default());
        let outcome = session.read(&text);
        let checker = row["dolmen"].rsplit(';').next().unwrap_or_default();
        // `reserved` is only about names that begin with `@` or a point.
        let is_standard = matches!(checker, "ok" | "reserved") && !row["kind"].ends_with("+ext");
        match outcome {
            Ok(()) => {
                let script = session.script();
                if !row["extension_commands"].is_empty() && script.flow.is_empty() {
                    assert!(!script.extensions.is_empty(), "{path}: the solver's commands are not named");
                    extended += 1;
                }
                let checks =
                    script.commands.iter().filter(|c| c.kind.name().is_some_and(|n| n.starts_with("check-sat")));
                if script.flow.is_empty() && row["extension_commands"].is_empty() {
                    assert_eq!(checks.count().to_string(), row["check_sat_count"], "{path}");
                    assert_eq!(script.assertions().count().to_string(), row["assertion_count"], "{path}");
                }
                standard += usize::from(is_standard);
            }
            Err(problem) => {
                assert!(!is_standard, "{path}: {problem}");
                assert!(problem.at <= text.len() && problem.position.line > 0, "{path}: {problem}");
                refused += 1;
            }
        }
    }
    assert!(standard > 600 && extended > 10, "{standard} standard scripts, {extended} extended, {refused} refused");
}

/// Scripts that the archive's index calls correct and that only the solver they were written for refuses. That solver is
/// right: a width of 0, an array of other elements than its sort says, a function of another sort, a constructor that
/// could be of any sort, a name that is not declared, a level that is not open, a sort of z3 alone.
const RIGHTLY_REFUSED: [(&str, Class); 8] = [
    ("cvc5/proj-issue786-match-shadow.smt2", Class::Sort),
    ("opensmt/error.smt2", Class::Scope),
    ("opensmt/pop.smt2", Class::Flow),
    ("z3test/bv0.smt2", Class::Sort),
    ("z3test/const_array_bug.smt2", Class::Extension),
    ("z3test/error.smt2", Class::Sort),
    ("z3test/rec.smt2", Class::Extension),
    ("z3test/t4.smt2", Class::Extension),
];

/// Every malformed script has the outcome that the index says.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn malformed_scripts_are_refused() {
    let folder = archive().join("malformed");
    let mut wrong = Vec::new();
    for row in index(&folder) {
        let path = &row["path"];
        let outcome = row["outcome"].as_str();
        let text = std::fs::read(folder.join(path)).expect("the file of the index");
        // The tests of one version's grammar are read in that version, all else with everything that any version has.
        let version = match path {
            p if p.contains("parsing-v2.6") => Some(Version::V2_6),
            p if p.contains("parsing-v2.7") => Some(Version::V2_7),
            _ => None,
        };
        let lenient = Options { version, standard_only: true, within_logic: true, logic_required: false };
        let strict = Options { logic_required: true, ..lenient };
        let read = |options| {
            let mut session = Session::new(options);
            (session.read(&text), session)
        };
        let (result, session) = read(strict);
        let place = |at: usize| at <= text.len();
        let fine = match outcome {
            "accept" => result.is_ok(),
            "accept-solver-error" => {
                let expected = RIGHTLY_REFUSED.iter().find(|(known, _)| known == path).map(|(_, class)| *class);
                read(lenient).0.err().map(|p| p.class) == expected
            }
            "reject-flow" | "reject-headers" => {
                let problems = match result {
                    Ok(()) => agon_smtlib::submission(session.script(), &text),
                    Err(problem) => vec![problem],
                };
                problems.iter().any(|p| p.class == Class::Flow)
            }
            _ => match result {
                Err(problem) => {
                    let lexical = outcome == "reject-lexical" && row["balanced"] == "yes";
                    assert!(place(problem.at), "{path}: {problem}");
                    !lexical || problem.class == Class::Lexical
                }
                Ok(()) => false,
            },
        };
        if !fine {
            let (result, _) = read(strict);
            wrong.push(format!("{path}: {outcome}, but {:?}", result.map_err(|p| p.to_string())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A reader of s-expressions refuses what is not balanced, and only that.
#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn unbalanced_scripts_do_not_split() {
    let folder = archive().join("malformed");
    let mut wrong = Vec::new();
    for row in index(&folder) {
        let text = std::fs::read(folder.join(&row["path"])).expect("the file of the index");
        let split = items(&text, agon_smtlib::Strings::Doubled)
            .all(|item| item.is_ok_and(|span| span.bytes(&text).starts_with(b"(")));
        if split && row["balanced"] == "no" && row["outcome"] != "reject-lexical" {
            wrong.push(row["path"].clone());
        }
        if !split && row["balanced"] == "yes" {
            wrong.push(row["path"].clone());
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
