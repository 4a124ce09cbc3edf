//! Laws that hold for all formulas, tried on random ones.

use agon_table::{Column, Dim, Exact, Symbols, Table, Type, Value};
use proptest::prelude::*;

use super::oracle::Oracle;
use crate::ast::{BinOp, Clause, ClauseKind, Expr, Ident, Key, Kind};
use crate::parse::parse;
use crate::{Formula, Scope, compile, compile_order};

/// Decisions, from a list that can be shortened when a failure is made smaller. Behind its end every decision is 0,
/// the simplest.
struct Choices<'a> {
    left: &'a [u16],
}

impl Choices<'_> {
    fn pick(&mut self, below: usize) -> usize {
        match self.left.split_first() {
            Some((first, rest)) => {
                self.left = rest;
                usize::from(*first) % below
            }
            None => 0,
        }
    }

    fn of<'b>(&mut self, list: &[&'b str]) -> &'b str {
        list[self.pick(list.len())]
    }

    fn chance(&mut self, of: usize) -> bool {
        self.pick(of) == 1
    }
}

fn e(kind: Kind) -> Expr {
    Expr { span: 0..0, kind }
}

fn b(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

fn name(text: &str) -> Expr {
    e(Kind::Name(text.into()))
}

fn ident(text: &str) -> Ident {
    Ident { span: 0..0, name: text.into() }
}

fn number(text: &str, unit: Option<&str>) -> Expr {
    e(Kind::Number { text: text.into(), unit: unit.map(Into::into) })
}

fn call(name: &str, args: Vec<Expr>, clauses: Vec<ClauseKind>) -> Expr {
    let clauses = clauses.into_iter().map(|kind| Clause { span: 0..0, kind }).collect();
    e(Kind::Call { name: ident(name), args, clauses })
}

#[derive(Clone, Copy, PartialEq)]
enum Want {
    Bool,
    Word,
    Text,
    Number,
    Time,
}

const COLUMNS: [&str; 12] = ["p", "q", "v", "w", "c", "d", "i", "j", "big", "x", "t", "f"];
const WORDS: [&str; 3] = ["alpha", "beta", "gamma"];

fn random_table(c: &mut Choices<'_>) -> Table {
    let rows = c.pick(9);
    let mut t = Table::new(rows);
    let words = Type::words(WORDS);
    let reals = Type::Number { dim: Dim::NONE, real: true };
    for (column, ty) in COLUMNS.into_iter().zip([
        Type::TEXT,
        Type::TEXT,
        words.clone(),
        words,
        Type::Bool,
        Type::Bool,
        Type::NUMBER,
        Type::NUMBER,
        Type::NUMBER,
        Type::NUMBER,
        Type::TIME,
        reals,
    ]) {
        let mut each = |f: &mut dyn FnMut(&mut Choices<'_>) -> i64| -> Vec<i64> { (0..rows).map(|_| f(c)).collect() };
        let column_of = match column {
            "p" => Column::Symbol(Symbols::from_texts((0..rows).map(|_| c.of(&["b", "a", ""])))),
            "q" => Column::Symbol(Symbols::from_texts((0..rows).map(|_| c.of(&["a", "c"])))),
            "v" | "w" => Column::Symbol(Symbols::from_texts((0..rows).map(|_| c.of(&WORDS)))),
            "c" | "d" => Column::Bool((0..rows).map(|_| c.chance(2)).collect()),
            "big" => Column::Int(each(&mut |c| {
                let all = [0, 1, -1, i64::MAX, i64::MIN, 1 << 62, -(1 << 62), i64::MAX - 1];
                all[c.pick(all.len())]
            })),
            "x" => Column::Exact(
                (0..rows).map(|_| Exact::ratio(c.pick(9) as i128 - 4, c.pick(4) as i128 + 1).unwrap()).collect(),
            ),
            "t" => Column::Int(each(&mut |c| c.pick(5) as i64 * 500_000_000)),
            "f" => Column::Real((0..rows).map(|_| (c.pick(41) as f64 - 20.0) / 10.0 + 0.0).collect()),
            _ => Column::Int(each(&mut |c| c.pick(7) as i64 - 3)),
        };
        if rows > 0 && c.chance(4) {
            t.set_constant(column, ty, column_of.value(0));
        } else {
            t.set(column, ty, column_of).unwrap();
        }
    }
    t
}

/// A formula of the wanted type.
fn typed(c: &mut Choices<'_>, want: Want, depth: usize) -> Expr {
    if depth == 0 || c.pick(6) == 0 {
        return leaf(c, want);
    }
    let d = depth - 1;
    if c.pick(5) == 1 {
        return if c.chance(2) {
            call("if", vec![typed(c, Want::Bool, d), typed(c, want, d), typed(c, want, d)], vec![])
        } else {
            let mut args = Vec::new();
            for _ in 0..1 + c.pick(2) {
                args.push(typed(c, Want::Bool, d));
                args.push(typed(c, want, d));
            }
            args.push(typed(c, want, d));
            call("case", args, vec![])
        };
    }
    if c.pick(3) == 1 {
        return fold(c, want, d);
    }
    match want {
        Want::Bool => match c.pick(6) {
            0 => e(Kind::Not(b(typed(c, want, d)))),
            1 => binary(BinOp::And, typed(c, want, d), typed(c, want, d)),
            2 => binary(BinOp::Or, typed(c, want, d), typed(c, want, d)),
            3 => {
                let of = kind(c);
                let n = 1 + c.pick(3);
                let item = typed(c, of, d);
                let list = (0..n).map(|_| if c.chance(2) { leaf(c, of) } else { typed(c, of, d) }).collect();
                e(Kind::In { negated: c.chance(2), item: b(item), list })
            }
            4 => {
                let of = kind(c);
                let op = if c.chance(2) { BinOp::Ne } else { BinOp::Eq };
                binary(op, typed(c, of, d), typed(c, of, d))
            }
            _ => {
                let of = if c.chance(2) { Want::Time } else { Want::Number };
                let op = [BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge][c.pick(4)];
                binary(op, typed(c, of, d), typed(c, of, d))
            }
        },
        Want::Word | Want::Text => leaf(c, want),
        Want::Number | Want::Time => arithmetic(c, want, d),
    }
}

fn kind(c: &mut Choices<'_>) -> Want {
    [Want::Number, Want::Time, Want::Word, Want::Text, Want::Bool][c.pick(5)]
}

fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
    e(Kind::Binary { op, left: b(left), right: b(right), otherwise: None })
}

fn arithmetic(c: &mut Choices<'_>, want: Want, d: usize) -> Expr {
    let quotient = |c: &mut Choices<'_>, op, left, right: Expr| {
        let otherwise = (!right.nonzero_literal()).then(|| b(typed(c, want, d)));
        e(Kind::Binary { op, left: b(left), right: b(right), otherwise })
    };
    match c.pick(if want == Want::Number { 13 } else { 9 }) {
        0 => binary(BinOp::Add, typed(c, want, d), typed(c, want, d)),
        1 => binary(BinOp::Sub, typed(c, want, d), typed(c, want, d)),
        2 => binary(BinOp::Mul, typed(c, Want::Number, d), typed(c, want, d)),
        3 => {
            let (left, right) = (typed(c, want, d), typed(c, Want::Number, d));
            quotient(c, BinOp::Div, left, right)
        }
        4 => {
            let (left, right) = (typed(c, want, d), typed(c, want, d));
            quotient(c, BinOp::Mod, left, right)
        }
        5 => e(Kind::Neg(b(typed(c, want, d)))),
        6 => {
            let n = 2 + c.pick(2);
            call(c.of(&["min", "max"]), (0..n).map(|_| typed(c, want, d)).collect(), vec![])
        }
        7 => call("abs", vec![typed(c, want, d)], vec![]),
        8 => {
            let step = if want == Want::Time { number(c.of(&["0.3", "2"]), Some("s")) } else { number("0.25", None) };
            call("round", vec![typed(c, want, d), step], vec![])
        }
        9 => call(c.of(&["floor", "ceil", "round"]), vec![typed(c, want, d)], vec![]),
        10 => {
            let otherwise = typed(c, want, d);
            call(c.of(&["sqrt", "ln", "log10", "log2"]), vec![typed(c, want, d)], vec![ClauseKind::Else(otherwise)])
        }
        11 => {
            let base = typed(c, want, d);
            let exponent = c.pick(6) as i32 - 2;
            let otherwise = (exponent < 0 && !base.nonzero_literal()).then(|| b(typed(c, want, d)));
            e(Kind::Power { base: b(base), exponent, otherwise })
        }
        _ => {
            let (left, right) = (typed(c, Want::Time, d), typed(c, Want::Time, d));
            quotient(c, BinOp::Div, left, right)
        }
    }
}

fn leaf(c: &mut Choices<'_>, want: Want) -> Expr {
    match want {
        Want::Bool => match c.pick(4) {
            0 => e(Kind::Bool(c.chance(2))),
            _ => name(c.of(&["c", "d"])),
        },
        Want::Word => match c.pick(4) {
            0 => e(Kind::Text(c.of(&WORDS).into())),
            1 => name(c.of(&WORDS)),
            _ => name(c.of(&["v", "w"])),
        },
        Want::Text => match c.pick(4) {
            0 => e(Kind::Text(c.of(&["a", "b", "", "it's"]).into())),
            _ => name(c.of(&["p", "q"])),
        },
        Want::Number => match c.pick(4) {
            0 => number(c.of(&["0", "1", "2", "0.5", "3", "1e3", "9223372036854775807", "0.1"]), None),
            _ => name(c.of(&["i", "j", "f", "x", "big"])),
        },
        Want::Time => match c.pick(3) {
            0 => number(c.of(&["1", "0", "1.5", "20"]), Some(c.of(&["s", "min", "ms"]))),
            _ => name("t"),
        },
    }
}

/// An aggregate of the wanted type.
fn fold(c: &mut Choices<'_>, want: Want, d: usize) -> Expr {
    let function = match want {
        Want::Bool => c.of(&["any", "all", "first", "nth", "only"]),
        Want::Word | Want::Text => c.of(&["first", "min", "max", "nth", "only"]),
        Want::Number if c.chance(3) => c.of(&["count", "distinct", "place"]),
        _ => c.of(&["sum", "min", "max", "mean", "median", "trimmed_mean", "first", "nth", "only"]),
    };
    let mut args = match function {
        "place" => vec![],
        "count" if c.chance(2) => vec![],
        "count" => vec![typed(c, Want::Bool, d)],
        "distinct" => {
            let of = kind(c);
            vec![typed(c, of, d)]
        }
        _ => vec![typed(c, want, d)],
    };
    match function {
        "nth" => args.insert(0, number(c.of(&["1", "2", "3"]), None)),
        "trimmed_mean" => args.push(number(c.of(&["0", "1", "2"]), None)),
        _ => {}
    }
    let mut clauses = Vec::new();
    if c.chance(3) {
        clauses.push(ClauseKind::Where(typed(c, Want::Bool, d)));
    }
    let group = ["p", "v", "c", "i", "x", "f"];
    let per: Vec<&str> = match c.pick(4) {
        0 => vec![],
        1 => vec![c.of(&group)],
        2 => vec![c.of(&group), c.of(&group)],
        _ => vec!["v"],
    };
    if c.chance(3) {
        let other = c.of(&["q", "w", "d", "j"]);
        clauses.push(ClauseKind::Other(ident(other)));
    }
    if c.chance(4) {
        clauses.push(ClauseKind::Once((0..=c.pick(2)).map(|_| ident(c.of(&["q", "w", "d", "j", "p"]))).collect()));
    }
    if matches!(function, "first" | "nth" | "place") {
        let keys = (0..=c.pick(2)).map(|_| {
            let of = kind(c);
            let expr = typed(c, of, d);
            Key { expr, descending: [None, Some(false), Some(true)][c.pick(3)] }
        });
        clauses.push(ClauseKind::By(keys.collect()));
    }
    if !per.is_empty() || c.chance(2) {
        clauses.push(ClauseKind::Per(per.into_iter().map(ident).collect()));
    }
    if !matches!(function, "sum" | "count" | "any" | "all" | "distinct" | "place") {
        clauses.push(ClauseKind::Else(typed(c, want, d)));
    }
    let turn = c.pick(clauses.len().max(1));
    clauses.rotate_left(turn);
    call(function, args, clauses)
}

fn choices(n: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..n)
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Anything that can be written, well-typed or not.
fn wild(c: &mut Choices<'_>, depth: usize) -> Expr {
    if depth == 0 || c.pick(5) == 0 {
        return match c.pick(5) {
            0 => number(c.of(&["0", "12", "0.50", "1e-8", "3E+2"]), None),
            1 => number(c.of(&["0", "20"]), Some(c.of(&["s", "min", "GB", "d"]))),
            2 => e(Kind::Text(c.of(&["", "x y", "it's", "say \"so\"", "ü"]).into())),
            3 => e(Kind::Bool(c.chance(2))),
            _ => name(c.of(&["a", "b_1", "starexec-unknown", "min", "all", "other", "asc", "s"])),
        };
    }
    let d = depth - 1;
    match c.pick(7) {
        0 => e(Kind::Not(b(wild(c, d)))),
        1 => e(Kind::Neg(b(wild(c, d)))),
        2 => {
            let base = wild(c, d);
            let exponent = c.pick(9) as i32 - 4;
            let otherwise = (exponent < 0 && !base.nonzero_literal() && c.chance(2)).then(|| b(wild(c, d)));
            e(Kind::Power { base: b(base), exponent, otherwise })
        }
        3 => {
            let list = (0..=c.pick(3)).map(|_| wild(c, d)).collect();
            e(Kind::In { negated: c.chance(2), item: b(wild(c, d)), list })
        }
        4 => {
            let args = (0..c.pick(4)).map(|_| wild(c, d)).collect();
            let idents = |c: &mut Choices<'_>| (0..=c.pick(2)).map(|_| ident(c.of(&["a", "b", "k-l"]))).collect();
            let mut clauses = Vec::new();
            for which in 0..6 {
                if !c.chance(3) {
                    continue;
                }
                clauses.push(match which {
                    0 => ClauseKind::Where(wild(c, d)),
                    1 => ClauseKind::Other(ident("a")),
                    2 => ClauseKind::Once(idents(c)),
                    3 => ClauseKind::By(
                        (0..=c.pick(2))
                            .map(|_| Key { expr: wild(c, d), descending: [None, Some(false), Some(true)][c.pick(3)] })
                            .collect(),
                    ),
                    4 => ClauseKind::Per(if c.chance(3) { vec![] } else { idents(c) }),
                    _ => ClauseKind::Else(wild(c, d)),
                });
            }
            let turn = c.pick(clauses.len().max(1));
            clauses.rotate_left(turn);
            call(c.of(&["f", "sum", "min", "any", "if"]), args, clauses)
        }
        _ => {
            let all = [
                BinOp::Or,
                BinOp::And,
                BinOp::Eq,
                BinOp::Ne,
                BinOp::Lt,
                BinOp::Le,
                BinOp::Gt,
                BinOp::Ge,
                BinOp::Add,
                BinOp::Sub,
                BinOp::Mul,
                BinOp::Div,
                BinOp::Mod,
            ];
            let op = all[c.pick(all.len())];
            let (left, right) = (wild(c, d), wild(c, d));
            let otherwise = (matches!(op, BinOp::Div | BinOp::Mod) && !right.nonzero_literal() && c.chance(2))
                .then(|| b(wild(c, d)));
            e(Kind::Binary { op, left: b(left), right: b(right), otherwise })
        }
    }
}

/// Pieces of formulas, to try what nobody would write.
fn rubble() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "p",
        "i",
        "t",
        "v",
        "f",
        "1",
        "0",
        "2 s",
        "1e9",
        "'x'",
        "\"",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "mod",
        "and",
        "or",
        "not",
        "in",
        "==",
        "!=",
        "<",
        "<=",
        "=",
        "!",
        "&&",
        "if(",
        "sum(",
        "max(",
        "first(",
        "nth(",
        "round(",
        "ln(",
        "count(",
        "place(",
        "where",
        "of",
        "other",
        "once",
        "by",
        "per",
        "all",
        "else",
        "asc",
        "desc",
        "true",
        "alpha",
        "min",
        " ",
        "≤",
        "ü",
        "._",
        "trimmed_mean(",
        "case(",
        "only(",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..30).prop_map(|p| p.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn printing_and_parsing_are_inverse(data in choices(200)) {
        let tree = wild(&mut Choices { left: &data }, 5);
        let text = tree.to_string();
        let (again, errors) = parse(&text);
        prop_assert_eq!(&errors, &[], "{}", text);
        prop_assert_eq!(&again, &tree, "{}", text);
    }

    #[test]
    fn evaluation_agrees_with_the_literal_reading(table in choices(150), data in choices(150), other in choices(80), kind in 0usize..5, order in any::<u64>()) {
        let table = random_table(&mut Choices { left: &table });
        let want = [Want::Number, Want::Time, Want::Bool, Want::Word, Want::Text][kind];
        let tree = typed(&mut Choices { left: &data }, want, 4);
        let source = tree.to_string();
        let mut scope = Scope::of(&table);
        if want == Want::Word {
            scope.expect = Some(Type::words(WORDS));
        }
        let formula = match compile(&source, &scope) {
            Ok(formula) => formula,
            Err(errors) => {
                // Words that cannot meet are the one thing that the generator does not avoid.
                for error in errors {
                    let known = ["formula/unknown-word", "formula/unknown-name", "formula/overflow", "formula/too-large"];
                    prop_assert!(known.contains(&error.code), "{}: {}", source, error);
                }
                return Ok(());
            }
        };
        let Ok(column) = formula.eval(&table) else { return Ok(()) };
        prop_assert_eq!(column.len(), table.rows());
        let oracle = Oracle { table: &table };
        for row in 0..table.rows() {
            let (ours, theirs) = (column.value(row), oracle.eval(&tree, row));
            prop_assert!(equal(&ours, &theirs), "{}, row {}: {:?}, and literally {:?}", source, row, ours, theirs);
        }

        // The same rows in another order have the same values.
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        let mut state = order | 1;
        for i in (1..rows.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            rows.swap(i, (state >> 33) as usize % (i + 1));
        }
        let moved = formula.eval(&table.gather(&rows)).unwrap();
        for (at, row) in rows.iter().enumerate() {
            prop_assert!(equal(&moved.value(at), &column.value(*row as usize)), "{} depends on the order", source);
        }

        // At some rows only, it is what it is there.
        let some = &rows[..rows.len() / 2];
        let at_some = formula.eval_at(&table, some).unwrap();
        prop_assert_eq!(at_some.len(), some.len());
        for (at, row) in some.iter().enumerate() {
            prop_assert!(equal(&at_some.value(at), &column.value(*row as usize)), "{} at row {}", source, row);
        }

        // So it is in company, where parts are shared.
        let company = typed(&mut Choices { left: &other }, Want::Number, 3).to_string();
        if let Ok(company) = compile(&company, &Scope::of(&table))
            && let Ok(alone) = company.eval_at(&table, some)
        {
            let together = Formula::eval_all_at(&[&formula, &company, &formula], &table, some).unwrap();
            for (alone, together) in [&at_some, &alone, &at_some].into_iter().zip(&together) {
                prop_assert_eq!(together.len(), some.len());
                for at in 0..some.len() {
                    prop_assert!(equal(&together.value(at), &alone.value(at)), "{} beside {}", source, company);
                }
            }
        }

        // What is printed is the same formula.
        let again = compile(&formula.to_string(), &scope).unwrap();
        prop_assert_eq!(again.ty(), formula.ty());
        prop_assert!(!formula.english().is_empty());
    }

    #[test]
    fn nothing_panics(source in prop_oneof![rubble(), ".{0,60}", "[-a-z0-9 ()<>=!.,'\"^/*+]{0,60}"]) {
        let table = random_table(&mut Choices { left: &[5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] });
        let scope = Scope::of(&table);
        match compile(&source, &scope) {
            Ok(formula) => {
                formula.english();
                let _ = formula.eval(&table);
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(source.get(error.span.clone()).is_some(), "{error}");
                }
            }
        }
        let _ = compile_order(&source, &scope);
    }
}
