//! What formulas are worth on a small table.

use std::sync::Arc;

use agon_table::{Column, Exact, Table, Type, Value};

use super::{formula, results, values};
use crate::{Scope, compile};

#[test]
fn scalars() {
    for (source, expected) in [
        ("n", "0 1 2 3 4 5 6 7 8"),
        ("n + 1 - 2 * 3", "-5 -4 -3 -2 -1 0 1 2 3"),
        ("n mod 3", "0 1 2 0 1 2 0 1 2"),
        ("-n mod 3", "0 2 1 0 2 1 0 2 1"),
        ("n / 4", "0 1/4 1/2 3/4 1 5/4 3/2 7/4 2"),
        ("6 / (n - 3) else -1", "-2 -3 -6 -1 6 3 2 3/2 6/5"),
        ("7 mod (n - 3) else 9", "-2 -1 0 9 0 1 1 3 2"),
        ("n ^ 2", "0 1 4 9 16 25 36 49 64"),
        ("n ^ -1 else 7", "7 1 1/2 1/3 1/4 1/5 1/6 1/7 1/8"),
        ("-n ^ 2", "0 -1 -4 -9 -16 -25 -36 -49 -64"),
        ("floor(wall / 1 min)", "0 21 0 0 0 0 20 20 0"),
        ("ceil(wall / 1 min)", "1 22 1 1 1 1 20 21 1"),
        ("round(n / 2)", "0 0 1 2 2 2 3 4 4"),
        ("round(n / 3, 0.5)", "0 1/2 1/2 1 3/2 3/2 2 5/2 5/2"),
        ("round(wall, 1 min) / 1 min", "0 22 0 0 0 0 20 20 0"),
        ("abs(n - 4)", "4 3 2 1 0 1 2 3 4"),
        ("min(n, 4, 7 - n)", "0 1 2 3 3 2 1 0 -1"),
        ("max(n, 4)", "4 4 4 4 4 5 6 7 8"),
        ("known and n > 2 or n == 0", "T F F T T T F F F"),
        ("not known == (n > 5)", "T T T T T T T T T"),
        ("known != true", "F F F F F F T T T"),
        ("answer == status", "T F T T T F T T F"),
        ("answer != sat", "F T F T T F T T F"),
        ("unsat == answer", "F F F T T F F F F"),
        ("answer in [sat, 'unsat']", "T F T T T T F F T"),
        ("n not in [1, n / 2, 8]", "F F T T T T T T F"),
        ("if(wall > 1200 s, 'late', answer)", "sat late sat unsat unsat sat unknown late sat"),
        ("case(n < 2, sat, n < 4, unsat, answer)", "sat sat unsat unsat unsat sat unknown unknown sat"),
        ("if(answer == if(n > 2, unsat, sat), 1, 0)", "1 0 1 1 1 0 0 0 0"),
        ("sqrt(r * 4 else 0) ^ 2 > 7.5", "F F F F F F F F T"),
        (
            "ln(n else -1)",
            "-1 0 0.6931471805599453 1.0986122886681098 1.3862943611198906 1.6094379124341003 1.791759469228055 1.9459101490553132 2.0794415416798357",
        ),
        ("floor(log2(n else 0))", "0 0 1 1 2 2 2 2 3"),
        ("log10(1000)", "3 3 3 3 3 3 3 3 3"),
        ("round(r)", "0 0 0 1 1 1 2 2 2"),
        ("r + n", "0 1.25 2.5 3.75 5 6.25 7.5 8.75 10"),
        ("if(known, r, n)", "0 0.25 0.5 0.75 1 1.25 6 7 8"),
        ("r / (r - 1) else 0", "-0 -0.3333333333333333 -1 -3 0 5 3 2.3333333333333335 2"),
        ("1 == 1", "T T T T T T T T T"),
    ] {
        assert_eq!(values(source), expected.replace("-0 ", "0 "), "{source}");
    }
}

#[test]
fn numbers_grow_instead_of_wrapping() {
    assert_eq!(values("big + big").split(' ').next().unwrap(), "18446744073709551614");
    assert_eq!(values("-big").split(' ').nth(1).unwrap(), "9223372036854775808");
    assert_eq!(values("abs(big)").split(' ').nth(1).unwrap(), "9223372036854775808");
    assert_eq!(values("big * big - big * big"), "0 0 0 0 0 0 0 0 0");
    assert_eq!(values("big - 1 > big"), "F F F F F F F F F");
    assert_eq!(values("big - n - big"), "0 -1 -2 -3 -4 -5 -6 -7 -8");
    assert_eq!(values("sum(big per all)").split(' ').next().unwrap(), "27670116110564327425");
    assert_eq!(values("sum(big of other entrant per benchmark) + big - sum(big per benchmark)"), "0 0 0 0 0 0 0 0 0");
    assert!(matches!(&*formula("big * big / big ^ 2 else 0").eval(&results()).unwrap(), Column::Int(_)));
}

#[test]
fn aggregates() {
    for (source, expected) in [
        ("sum(n)", "36 36 36 36 36 36 36 36 36"),
        ("sum(n per benchmark)", "3 3 3 12 12 12 21 21 21"),
        ("sum(n where known per entrant)", "3 5 7 3 5 7 3 5 7"),
        ("sum(n of other entrant per benchmark)", "3 2 1 9 8 7 15 14 13"),
        ("sum(1)", "9 9 9 9 9 9 9 9 9"),
        ("count()", "9 9 9 9 9 9 9 9 9"),
        ("count(known per division)", "6 6 6 6 6 6 0 0 0"),
        ("count(known where n > 3 per division)", "2 2 2 2 2 2 0 0 0"),
        ("count(of other benchmark per division)", "3 3 3 3 3 3 0 0 0"),
        ("count(answer == sat once benchmark)", "3 3 3 3 3 3 3 3 3"),
        ("count(once benchmark per division)", "2 2 2 2 2 2 1 1 1"),
        ("any(answer == unsat per benchmark)", "F F F T T T F F F"),
        ("all(answer == sat where known per benchmark)", "F F F F F F T T T"),
        ("any(answer == unsat of other entrant per benchmark)", "F F F T T T F F F"),
        ("all(n > 0 of other entrant per benchmark)", "T F F T T T T T T"),
        ("min(n per benchmark)", "0 0 0 3 3 3 6 6 6"),
        ("max(n where answer == sat per benchmark else -1)", "2 2 2 5 5 5 8 8 8"),
        ("max(n of other entrant per benchmark else 0)", "2 2 1 5 5 4 8 8 7"),
        ("min(n of other benchmark per division else n)", "3 3 3 0 0 0 6 7 8"),
        ("max(r of other entrant per benchmark else 0)", "0.5 0.5 0.25 1.25 1.25 1 2 2 1.75"),
        ("min(answer per benchmark)", "sat sat sat sat sat sat sat sat sat"),
        ("max(entrant of other entrant else '')", "C C B C C B C C B"),
        ("mean(n per benchmark)", "1 1 1 4 4 4 7 7 7"),
        ("mean(n where answer != sat per benchmark else n)", "1 1 1 7/2 7/2 7/2 13/2 13/2 13/2"),
        ("mean(n of other entrant per benchmark else 0)", "3/2 1 1/2 9/2 4 7/2 15/2 7 13/2"),
        ("mean(r)", "1 1 1 1 1 1 1 1 1"),
        ("median(n)", "4 4 4 4 4 4 4 4 4"),
        ("median(n where n < 4 else 0)", "3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2"),
        ("trimmed_mean(n * n, 1 per benchmark else 0)", "1 1 1 16 16 16 49 49 49"),
        ("trimmed_mean(n, 2 per benchmark else -1)", "-1 -1 -1 -1 -1 -1 -1 -1 -1"),
        ("distinct(answer per benchmark)", "2 2 2 2 2 2 2 2 2"),
        ("distinct(n mod 2 per division)", "2 2 2 2 2 2 2 2 2"),
        ("first(entrant by wall per benchmark)", "A A A B B B C C C"),
        ("first(entrant by known desc, wall desc)", "B B B B B B B B B"),
        ("nth(2, wall / 1 s by wall per benchmark else 0)", "5 5 5 20 20 20 1200 1200 1200"),
        ("nth(4, n by n per benchmark else 0)", "0 0 0 0 0 0 0 0 0"),
        ("only(status per benchmark else unknown)", "sat sat sat unsat unsat unsat unknown unknown unknown"),
        ("only(answer per benchmark else 'mixed')", "mixed mixed mixed mixed mixed mixed mixed mixed mixed"),
        ("place(by wall per benchmark)", "1 3 2 2 1 3 2 3 1"),
        ("place(by n mod 3 desc)", "7 4 1 7 4 1 7 4 1"),
        ("place(by wall where answer != unknown per benchmark)", "1 3 2 2 1 3 2 2 1"),
        ("place(by wall of other entrant per benchmark)", "1 3 2 2 1 3 2 3 1"),
        ("sum(max(n per benchmark) once benchmark per division)", "7 7 7 7 7 7 8 8 8"),
        ("sum(n once benchmark)", "9 9 9 9 9 9 9 9 9"),
        ("sum(n of other entrant once benchmark)", "12 9 9 12 9 9 12 9 9"),
        ("max(sum(n per entrant) of other entrant else 0)", "15 15 12 15 15 12 15 15 12"),
    ] {
        assert_eq!(values(source), expected, "{source}");
    }
}

#[test]
fn the_scope_says_how_to_group() {
    let table = results();
    let mut scope = Scope::of(&table);
    scope.per = Some(vec!["benchmark".into()]);
    let first = |source: &str| compile(source, &scope).unwrap().eval(&table).unwrap().value(8);
    assert_eq!(first("sum(n)"), Value::Exact(21.into()));
    assert_eq!(first("sum(n per all)"), Value::Exact(36.into()));
    assert_eq!(compile("sum(n)", &scope).unwrap().columns(), ["benchmark", "n"]);

    scope.constants.insert("limit".into(), (Type::TIME, Value::Exact(1_200_000_000_000i64.into())));
    scope.constants.insert("favourite".into(), (Type::TEXT, Value::Symbol("B".into())));
    assert_eq!(
        compile("count(wall > limit and entrant == favourite per all)", &scope).unwrap().eval(&table).unwrap().value(0),
        Value::Exact(2.into())
    );
    assert_eq!(compile("limit / 1 min", &scope).unwrap().constant(), Some(Value::Exact(20.into())));
}

#[test]
fn words_are_found_through_what_is_expected() {
    let table = results();
    let mut scope = Scope::of(&table);
    scope.expect = Some(Type::words(["sat", "unsat", "unknown", "timeout"]));
    for source in ["timeout", "if(wall > 20 min, timeout, answer)", "case(n < 2, sat, n < 3, unsat, unknown)"] {
        compile(source, &scope).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    }
    for source in ["tiemout", "if(n > 1, 'gone', answer)", "entrant", "n", "known"] {
        assert!(compile(source, &scope).is_err(), "{source}");
    }
}

#[test]
fn empty_tables_and_missing_columns() {
    let mut empty = Table::new(0);
    let full = results();
    for (name, ty) in full.schema() {
        empty.set(name, ty.clone(), full.column(name).unwrap().gather(&[])).unwrap();
    }
    for source in ["n + 1", "sum(n per entrant)", "place(by n)", "max(n of other entrant else 0)", "first(answer by n)"]
    {
        assert_eq!(formula(source).eval(&empty).unwrap().len(), 0, "{source}");
    }
    let error = formula("1 + n").eval(&Table::new(3)).unwrap_err();
    assert_eq!((error.span.clone(), &*error.message), (4..5, "there is no column `n` (there are: )"));
    assert_eq!(
        error.to_string(),
        "there is no column `n` (there are: ) in `n`, which is a part of the formula `1 + n`"
    );
    let mut other = Table::new(1);
    other.set("n", Type::Bool, Column::Bool(vec![true])).unwrap();
    assert!(formula("n").eval(&other).is_err());
}

#[test]
fn a_real_that_leaves_its_range_is_an_error() {
    let error = formula("1 + (r + 1) ^ 1000 * (r + 1) ^ 1000").eval(&results()).unwrap_err();
    assert_eq!(error.message, "a real number left the range that can be represented");
    assert!(compile("1e300 * 1e300 * r", &Scope::of(&results())).is_err());
}

#[test]
fn partitions_are_shared_between_formulas() {
    let table = results();
    let before = table.groups(&["entrant", "division"]).unwrap();
    formula("sum(n per division, entrant)").eval(&table).unwrap();
    assert!(Arc::ptr_eq(&before, &table.groups(&["division", "entrant"]).unwrap()));
}

#[test]
fn blocks_leave_no_seams() {
    // Several blocks and a part of one; one number in the middle leaves the fast form.
    let n = 5000;
    let mut table = Table::new(n);
    let values: Vec<i64> = (0..n as i64).map(|i| if i == 2500 { i64::MAX } else { i }).collect();
    table.set("n", Type::NUMBER, Column::Int(values.clone())).unwrap();
    let texts = (0..n).map(|i| format!("t{}", i % 7));
    table.set("text", Type::TEXT, Column::Symbol(agon_table::Symbols::from_texts(texts))).unwrap();
    let scope = Scope::of(&table);
    let eval = |source: &str| compile(source, &scope).unwrap().eval(&table).unwrap();
    let doubled = eval("n * 2 + 1");
    for (row, value) in values.iter().enumerate() {
        let exact = Exact::from(*value);
        assert_eq!(eval_at(&doubled, row), exact.add(&exact).add(&Exact::ONE));
        if row > 10 && !(2040..2060).contains(&row) && !(2490..2510).contains(&row) {
            continue;
        }
        assert_eq!(eval_at(&eval("sum(n * 2 per n)"), row), exact.add(&exact));
        let third = format!("t{}", row % 7);
        let word = eval("if(text in ['t1', 't2'], 'first', if(text == 't3', 'x', text))").value(row);
        let expected = match row % 7 {
            1 | 2 => "first",
            3 => "x",
            _ => &third,
        };
        assert_eq!(word, Value::Symbol(expected.into()));
    }
}

fn eval_at(column: &Column, row: usize) -> Exact {
    column.value(row).as_exact().unwrap().clone()
}

#[test]
fn the_examples_of_the_reference_compile() {
    let mut scope = Scope::default();
    let answers = Type::words(["sat", "unsat", "unknown"]);
    for (name, ty) in [
        ("entrant", Type::TEXT),
        ("benchmark", Type::TEXT),
        ("family", Type::TEXT),
        ("division", Type::TEXT),
        ("answer", answers.clone()),
        ("status", answers),
        ("wall", Type::TIME),
        ("cpu", Type::TIME),
        ("correct", Type::NUMBER),
        ("seed", Type::NUMBER),
    ] {
        scope.columns.insert(name.into(), ty);
    }
    let mut examples = 0;
    for block in include_str!("../../README.md").split("```formula\n").skip(1) {
        for source in block.split("```").next().unwrap().lines() {
            compile(source, &scope).unwrap_or_else(|e| panic!("{source}: {e:?}"));
            examples += 1;
        }
    }
    assert!(examples > 15);
}
