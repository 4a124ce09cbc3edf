//! Tests of the language as a whole.

mod evaluation;
mod messages;
mod oracle;
mod random;
mod unknown;

use agon_table::{Column, Exact, Symbols, Table, Type, Value};

use crate::{Formula, Scope, compile};

/// Three entrants on three benchmarks of two divisions.
fn results() -> Table {
    let mut t = Table::new(9);
    let symbols = |texts: [&str; 9]| Column::Symbol(Symbols::from_texts(texts));
    t.set("entrant", Type::TEXT, symbols(["A", "B", "C", "A", "B", "C", "A", "B", "C"])).unwrap();
    t.set("benchmark", Type::TEXT, symbols(["x", "x", "x", "y", "y", "y", "z", "z", "z"])).unwrap();
    t.set("division", Type::words(["BV", "LIA"]), symbols(["BV", "BV", "BV", "BV", "BV", "BV", "LIA", "LIA", "LIA"]))
        .unwrap();
    let answers = Type::words(["sat", "unsat", "unknown"]);
    t.set(
        "answer",
        answers.clone(),
        symbols(["sat", "unknown", "sat", "unsat", "unsat", "sat", "unknown", "unknown", "sat"]),
    )
    .unwrap();
    t.set(
        "status",
        answers,
        symbols(["sat", "sat", "sat", "unsat", "unsat", "unsat", "unknown", "unknown", "unknown"]),
    )
    .unwrap();
    let s = 1_000_000_000;
    let wall = [1, 1300, 5, 20, 10, 30, 1200, 1201, 7].map(|n| n * s).to_vec();
    t.set("wall", Type::TIME, Column::Int(wall)).unwrap();
    t.set("n", Type::NUMBER, Column::Int((0..9).collect())).unwrap();
    t.set("known", Type::Bool, Column::Bool(vec![true, true, true, true, true, true, false, false, false])).unwrap();
    t.set("big", Type::NUMBER, Column::Int(vec![i64::MAX, i64::MIN, 1, i64::MAX, 0, -1, i64::MAX, i64::MAX, 5]))
        .unwrap();
    t.set(
        "r",
        Type::Number { dim: agon_table::Dim::NONE, real: true },
        Column::Real((0..9).map(|i| f64::from(i) / 4.0).collect()),
    )
    .unwrap();
    t
}

fn formula(source: &str) -> Formula {
    match compile(source, &Scope::of(&results())) {
        Ok(formula) => formula,
        Err(errors) => panic!("{source}: {}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

/// The values of a formula on the table above, as text.
fn values(source: &str) -> String {
    let column = formula(source).eval(&results()).unwrap();
    let texts: Vec<String> = (0..column.len())
        .map(|row| match column.value(row) {
            Value::Bool(b) => if b { "T" } else { "F" }.into(),
            Value::Symbol(s) => s.to_string(),
            Value::Exact(e) => e.to_string(),
            Value::Real(r) => format!("{r}"),
        })
        .collect();
    texts.join(" ")
}

#[test]
fn the_parts_of_the_interface() {
    let f = formula("sum(n where known per division) + 1");
    assert_eq!(f.columns(), ["division", "known", "n"]);
    assert_eq!(f.ty(), &Type::NUMBER);
    assert_eq!(f.constant(), None);
    assert_eq!(formula("2 ^ 10 + 1 / 4").constant(), Some(Value::Exact(Exact::ratio(4097, 4).unwrap())));
    assert_eq!(formula("if(1 < 2, 'a', 'b')").constant(), Some(Value::Symbol("a".into())));
    let table = results();
    assert!(std::sync::Arc::ptr_eq(&formula("wall").eval(&table).unwrap(), table.column("wall").unwrap()));
    assert_eq!(formula("((n))+1").to_string(), "n + 1");

    let key = crate::compile_order(" n desc ", &Scope::of(&table)).unwrap();
    assert!(key.descending);
    assert_eq!(key.formula.source(), " n");
    assert!(!crate::compile_order("n", &Scope::of(&table)).unwrap().descending);
    assert!(crate::compile_order("n down", &Scope::of(&table)).is_err());

    fn shared<T: Send + Sync + Clone>() {}
    shared::<Formula>();
}
