//! What authors are told about their mistakes.

use super::results;
use crate::{Scope, compile};

/// Code, faulty text, message and help of every error of a formula.
fn complaints(source: &str) -> Vec<String> {
    let mut scope = Scope::of(&results());
    scope.constants.insert(
        "limit".into(),
        (agon_table::Type::TIME, agon_table::Value::Exact(agon_table::Exact::int(1_200_000_000_000))),
    );
    match compile(source, &scope) {
        Ok(_) => vec![],
        Err(errors) => errors
            .into_iter()
            .map(|e| {
                let part = &source[e.span];
                let code = e.code.strip_prefix("formula/").unwrap();
                format!("{code} `{part}`: {}{}", e.message, e.help.map_or(String::new(), |h| format!("; {h}")))
            })
            .collect(),
    }
}

#[test]
fn each_mistake_has_its_message() {
    for source in [
        // Names and words.
        "anwser == sat",
        "answer == stat",
        "sat == anwser",
        "entrant == CVC4 and foo",
        "n-wall",
        "sat",
        "answer == 'maybe'",
        "answer in [sat, unsatt]",
        "division == answer",
        "suum(n)",
        "avg(n)",
        "wall(3)",
        "True",
        "sum",
        // Spellings of other languages.
        "known && n > 1",
        "known || n = 1",
        "!known",
        "known AND n <> 1",
        "NOT known",
        "n => 1 and n =< 2 or n ** 2 % 3 == 0",
        "n ≤ 3",
        "known ? 1 : 0",
        "“x”",
        // Structure.
        "",
        "n +",
        "(n + 1",
        "n + 1)",
        "n 1",
        "2 n",
        "1 < n < 3",
        "n, wall",
        "answer == sat or unsat",
        "answer in (sat, unsat)",
        "'abc",
        ".5 * n",
        "1_000 * n",
        "x^y",
        "n^2^3",
        "n == not known",
        "min(n, ) + max(, n)",
        // Units.
        "wall > 1200 sec",
        "wall > 20 mins",
        "wall > 1200",
        "wall + 1",
        "if(known, wall, 0)",
        "floor(wall)",
        "round(wall)",
        "round(wall, n)",
        "wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall * wall",
        // Types.
        "known + 1",
        "sum(known)",
        "not n",
        "n and known",
        "answer < sat",
        "n == answer",
        "if(n, 1, 2)",
        "if(known, 1, answer)",
        "if(known, 1)",
        "min(known)",
        "count(n)",
        // Partial operations.
        "1 / n",
        "wall mod limit == 0 s and 3 mod n == 1",
        "n / 0",
        "n / 2 else 0",
        "wall / n else 0",
        "n ^ -1",
        "ln(n)",
        "sqrt(-1)",
        // Aggregates.
        "max(n where known)",
        "max(n of other entrant)",
        "first(answer by n where known)",
        "only(answer)",
        "trimmed_mean(n, 1)",
        "sum(n else 0)",
        "sum(n by entrant)",
        "sum(n, entrant, division)",
        "sum(n entrant)",
        "sum(n group by entrant)",
        "sum(n per benchmrk)",
        "sum(n per limit)",
        "sum(n per entrant per division)",
        "sum(n where known where n > 1)",
        "first(answer)",
        "nth(n, n by n else 0)",
        "max(n of other entrant per entrant else 0)",
        "if(known, 1, 2 per entrant)",
        "max(n, 1 per entrant)",
        "sum()",
        "sum(n per all, entrant)",
        "sum(n of entrant)",
        "count(where wall > 10 per)",
        "n per entrant",
        "min(n where n > n / limit else 0)",
        // Sizes.
        "(((2^1024)^1024)^1024)",
        "(n^1024)^1024",
        "1e400 * 1e400 * r",
        "1e999",
    ] {
        let found = complaints(source);
        assert!(!found.is_empty(), "{source} is accepted");
        let expected = EXPECTED.lines().skip_while(|l| *l != format!("» {source}")).skip(1);
        let expected: Vec<&str> = expected.take_while(|l| !l.starts_with('»')).collect();
        assert_eq!(found, expected, "» {source}\n{}", found.join("\n"));
    }
}

/// The messages in full; they are read before they are changed.
const EXPECTED: &str = include_str!("messages.txt");

#[test]
fn all_mistakes_are_found_at_once() {
    let found = complaints("if(anwser == sat, 1 / n, floor(wall)) + sum(known per benchmrk) && foo");
    assert_eq!(found.len(), 7, "{found:#?}");
}

#[test]
fn depth_and_length_are_limited() {
    let deep = |n: usize| format!("{}n{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(complaints(&deep(150)), Vec::<String>::new());
    let chain = |n: usize| vec!["n"; n].join(" + ");
    assert_eq!(complaints(&chain(150)), Vec::<String>::new());
    let calls = |n: usize| format!("{}n{}", "abs(".repeat(n), ")".repeat(n));
    assert_eq!(complaints(&calls(150)), Vec::<String>::new());
    for source in [
        deep(10_000),
        deep(250),
        chain(10_000),
        calls(10_000),
        format!("{}known", "not ".repeat(10_000)),
        format!("{}n", "-".repeat(10_000)),
        format!("{}n", "1 / ".repeat(10_000)),
        format!("1 / n else {}n", "-".repeat(10_000)),
        "if(known, ".repeat(5_000),
        "n in [".repeat(5_000),
        "sum(n where ".repeat(5_000),
    ] {
        let found = complaints(&source);
        assert!(found.iter().any(|e| e.starts_with("too-deep")), "{found:?}");
        assert!(found.len() < 4, "{found:?}");
    }
    assert!(complaints(&" ".repeat(70_000))[0].starts_with("too-long"));
}
