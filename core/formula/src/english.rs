//! Formulas in English, for those who read an edition's rules rather than its file.
//!
//! The phrases are exact: nothing of the formula is left out, and parentheses stay where leaving them out would allow
//! another reading. Rows are called runs, which is what they are wherever people meet these phrases.

use agon_table::{Dim, parse_quantity};

use crate::ast::{BinOp, Clause, ClauseKind, Expr, Ident, Kind, level};
use crate::error::listed;

/// The formula as a phrase: a noun phrase for a value, a clause for a condition.
pub(crate) fn phrase(e: &Expr) -> String {
    match &e.kind {
        Kind::Error => "?".into(),
        Kind::Number { text, unit: None } => text.clone(),
        Kind::Number { text, unit: Some(unit) } => quantity(text, unit),
        Kind::Text(text) if text.is_empty() => "the empty text".into(),
        Kind::Text(text) => format!("“{text}”"),
        Kind::Bool(b) => b.to_string(),
        Kind::Name(name) => name.clone(),
        Kind::Not(inner) => negated(inner),
        Kind::Neg(inner) => match &inner.kind {
            Kind::Number { .. } => format!("-{}", phrase(inner)),
            _ => format!("the negative of {}", tight(inner)),
        },
        Kind::Binary { op, left, right, otherwise } => binary(*op, left, right, otherwise.as_deref()),
        Kind::Power { base, exponent, otherwise } => {
            let base_text = tight(base);
            let text = match exponent {
                2 => format!("{base_text} squared"),
                -1 => format!("1 divided by {base_text}"),
                n => format!("{base_text} to the power {n}"),
            };
            match otherwise {
                Some(o) => format!("{text} ({} where {} is 0)", phrase(o), phrase(base)),
                None => text,
            }
        }
        Kind::In { negated, item, list } => {
            let words: Vec<String> = list.iter().map(operand).collect();
            match (negated, words.as_slice()) {
                (false, [one]) => format!("{} is {one}", operand(item)),
                (true, [one]) => format!("{} differs from {one}", operand(item)),
                (false, _) => format!("{} is {}", operand(item), listed(&words, "or")),
                (true, _) => format!("{} is none of {}", operand(item), listed(&words, "and")),
            }
        }
        Kind::Call { name, args, clauses } => call(&name.name, args, clauses),
    }
}

/// A quantity, with the larger unit in which it is whole beside it.
fn quantity(text: &str, unit: &str) -> String {
    let plain = format!("{text} {unit}");
    let Ok((value, dim)) = parse_quantity(&plain) else { return plain };
    let larger: &[&str] = match dim {
        Dim::TIME => &["d", "h", "min", "s"],
        Dim::MEMORY => &["TB", "GB", "MB"],
        _ => return plain,
    };
    for other in larger {
        let Ok((size, _)) = parse_quantity(&format!("1 {other}")) else { continue };
        let Some(count) = value.div(&size) else { continue };
        if let Some(count) = count.as_i64().filter(|n| *n != 0) {
            // Nobody reads 48 h more easily as 2 d, nor 60 s as 1 min; the gain starts at two digits less.
            if other != &unit && count.to_string().len() + 1 < text.len() {
                return format!("{plain} ({count} {other})");
            }
            return plain;
        }
    }
    plain
}

/// A phrase that is an operand of another one.
fn operand(e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { .. } | Kind::In { .. } | Kind::Not(_) => format!("({})", phrase(e)),
        Kind::Call { name, .. } if conditional(&name.name) => format!("({})", phrase(e)),
        // What comes behind an aggregate with clauses would be read as another one.
        Kind::Call { clauses, .. } if !clauses.is_empty() => format!("({})", phrase(e)),
        _ => phrase(e),
    }
}

/// A phrase before or behind words that bind tightly.
fn tight(e: &Expr) -> String {
    match e.level() {
        level::PRIMARY => operand(e),
        _ => format!("({})", phrase(e)),
    }
}

/// An operand of arithmetic: parentheses where the formula would need them.
fn term(e: &Expr, least: u8) -> String {
    if e.level() < least { format!("({})", phrase(e)) } else { arithmetic_operand(e) }
}

fn arithmetic_operand(e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { .. } => phrase(e),
        _ => operand(e),
    }
}

fn conditional(name: &str) -> bool {
    matches!(name, "if" | "case")
}

fn binary(op: BinOp, left: &Expr, right: &Expr, otherwise: Option<&Expr>) -> String {
    match op {
        BinOp::And | BinOp::Or => {
            let mut parts = Vec::new();
            chain(op, left, &mut parts);
            parts.push(side(op, right));
            match parts.as_slice() {
                [a, b] => format!("{a}, {} {b}", op.symbol()),
                _ => {
                    let last = parts.pop().unwrap_or_default();
                    format!("{}, {} {last}", parts.join(", "), op.symbol())
                }
            }
        }
        BinOp::Eq => format!("{} {} {}", comparand(left), if truth(right) { "is" } else { "equals" }, comparand(right)),
        BinOp::Ne => format!("{} differs from {}", comparand(left), comparand(right)),
        BinOp::Lt => format!("{} is less than {}", comparand(left), comparand(right)),
        BinOp::Le => format!("{} is at most {}", comparand(left), comparand(right)),
        BinOp::Gt => format!("{} is more than {}", comparand(left), comparand(right)),
        BinOp::Ge => format!("{} is at least {}", comparand(left), comparand(right)),
        BinOp::Add => format!("{} plus {}", term(left, level::ADD), term(right, level::MUL)),
        BinOp::Sub => format!("{} minus {}", term(left, level::ADD), term(right, level::MUL)),
        BinOp::Mul => format!("{} times {}", term(left, level::MUL), term(right, level::NEG)),
        BinOp::Div | BinOp::Mod => {
            let (l, r) = (term(left, level::MUL), term(right, level::NEG));
            let text = if op == BinOp::Div { format!("{l} divided by {r}") } else { format!("{l} modulo {r}") };
            match otherwise {
                Some(o) => format!("{text} ({} where {} is 0)", phrase(o), phrase(right)),
                None => text,
            }
        }
    }
}

/// A side of a comparison.
fn comparand(e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { op, .. } if op.level() >= level::ADD => phrase(e),
        _ => operand(e),
    }
}

fn truth(e: &Expr) -> bool {
    matches!(e.kind, Kind::Bool(_))
}

/// The parts of `a and b and c`, or of the same with `or`.
fn chain(op: BinOp, e: &Expr, parts: &mut Vec<String>) {
    match &e.kind {
        Kind::Binary { op: own, left, right, .. } if *own == op => {
            chain(op, left, parts);
            parts.push(side(op, right));
        }
        _ => parts.push(side(op, e)),
    }
}

/// A condition within `and` or `or`.
fn side(op: BinOp, e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { op: inner @ (BinOp::And | BinOp::Or), .. } if *inner != op => format!("({})", phrase(e)),
        Kind::Binary { op: inner, .. } if *inner == op => format!("({})", phrase(e)),
        Kind::Call { name, .. } if conditional(&name.name) => format!("({})", phrase(e)),
        _ => phrase(e),
    }
}

fn negated(inner: &Expr) -> String {
    match &inner.kind {
        Kind::Name(name) => format!("not {name}"),
        Kind::Call { name, args, clauses } if matches!(&*name.name, "any") && args.len() == 1 => {
            format!("{} holds for no run{}", operand(&args[0]), with(clauses, ""))
        }
        _ => format!("not ({})", phrase(inner)),
    }
}

fn names(columns: &[Ident]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    listed(&names, "and")
}

fn find<'a, T>(clauses: &'a [Clause], f: impl Fn(&'a ClauseKind) -> Option<T>) -> Option<T> {
    clauses.iter().find_map(|c| f(&c.kind))
}

/// The runs that an aggregate looks at, as an addition to its phrase.
fn with(clauses: &[Clause], lead: &str) -> String {
    let mut text = String::new();
    let per = find(clauses, |c| if let ClauseKind::Per(p) = c { Some(p) } else { None });
    let other = find(clauses, |c| if let ClauseKind::Other(o) = c { Some(o) } else { None });
    let filter = find(clauses, |c| if let ClauseKind::Where(w) = c { Some(w) } else { None });
    let once = find(clauses, |c| if let ClauseKind::Once(o) = c { Some(o) } else { None });
    if !lead.is_empty() && (per.is_some() || other.is_some()) {
        text += &format!(" {lead}");
    }
    let columns = per.filter(|p| !p.is_empty());
    if let Some(columns) = columns {
        text += &format!(" with the same {}", names(columns));
    } else if per.is_some() {
        text += " of the whole table";
    }
    if let Some(column) = other {
        text += if columns.is_some() { " and" } else { " with" };
        text += &format!(" another {}", column.name);
    }
    if let Some(columns) = once {
        text += &format!(", counting each {} once", names(columns));
    }
    if let Some(condition) = filter {
        text += &format!(", where {}", phrase(condition));
    }
    text
}

fn order(clauses: &[Clause]) -> String {
    let keys = find(clauses, |c| if let ClauseKind::By(k) = c { Some(k) } else { None });
    let keys: Vec<String> = keys
        .into_iter()
        .flatten()
        .map(|k| {
            let direction = if k.descending == Some(true) { "greatest" } else { "least" };
            format!("{direction} {}", operand(&k.expr))
        })
        .collect();
    keys.join(", then by ")
}

fn ordinal(n: &str) -> String {
    let suffix = match n {
        _ if n.ends_with("11") || n.ends_with("12") || n.ends_with("13") => "th",
        _ if n.ends_with('1') => "st",
        _ if n.ends_with('2') => "nd",
        _ if n.ends_with('3') => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

fn call(name: &str, args: &[Expr], clauses: &[Clause]) -> String {
    let otherwise = find(clauses, |c| if let ClauseKind::Else(e) = c { Some(e) } else { None });
    let or = |text: String, when: &str| match otherwise {
        Some(e) => format!("{text} ({} {when})", phrase(e)),
        None => text,
    };
    let all = |e: &Expr| operand(e);
    match (name, args) {
        ("if", [c, a, b]) => format!("{} if {}, otherwise {}", branch(a), phrase(c), branch(b)),
        ("case", [cases @ .., last]) => {
            let mut parts: Vec<String> = Vec::new();
            for pair in cases.chunks(2) {
                if let [c, v] = pair {
                    parts.push(format!("{} if {}", branch(v), phrase(c)));
                }
            }
            format!("{}, otherwise {}", parts.join("; else "), branch(last))
        }
        ("min" | "max", [_, _, ..]) => {
            let words: Vec<String> = args.iter().map(all).collect();
            format!("the {} of {}", if name == "min" { "least" } else { "greatest" }, listed(&words, "and"))
        }
        ("abs", [x]) => format!("the absolute value of {}", all(x)),
        ("floor", [x]) => format!("{} rounded down", all(x)),
        ("ceil", [x]) => format!("{} rounded up", all(x)),
        ("round", [x]) => format!("{} rounded to the nearest whole number", all(x)),
        ("round", [x, step]) => format!("{} rounded to a multiple of {}", all(x), all(step)),
        ("sqrt", [x]) => or(format!("the square root of {}", all(x)), "where that is below 0"),
        ("ln", [x]) => or(format!("the natural logarithm of {}", all(x)), "where that is not above 0"),
        ("log10", [x]) => or(format!("the decimal logarithm of {}", all(x)), "where that is not above 0"),
        ("log2", [x]) => or(format!("the binary logarithm of {}", all(x)), "where that is not above 0"),
        ("sum", [x]) => format!("the sum of {}{}", all(x), with(clauses, "over the runs")),
        ("mean" | "median", [x]) => {
            or(format!("the {name} of {}{}", all(x), with(clauses, "over the runs")), "if there is no such run")
        }
        ("min", [x]) => {
            or(format!("the least {}{}", all(x), with(clauses, "among the runs")), "if there is no such run")
        }
        ("max", [x]) => {
            or(format!("the greatest {}{}", all(x), with(clauses, "among the runs")), "if there is no such run")
        }
        ("trimmed_mean", [x, k]) => or(
            format!(
                "the mean of {}{}, without the {} least and the {} greatest",
                all(x),
                with(clauses, "over the runs"),
                all(k),
                all(k)
            ),
            "if there are too few",
        ),
        ("distinct", [x]) => format!("the number of different values of {}{}", all(x), with(clauses, "among the runs")),
        ("count", []) => format!("the number of runs{}", with(clauses, "")),
        ("count", [c]) => match &c.kind {
            Kind::Name(_) => format!("the number of runs{} that are {}", with(clauses, ""), phrase(c)),
            _ => format!("the number of runs{} for which {}", with(clauses, ""), phrase(c)),
        },
        ("any", [c]) => format!("{} for some run{}", holds(c), with(clauses, "")),
        ("all", [c]) => format!("{} for every run{}", holds(c), with(clauses, "")),
        ("only", [x]) => {
            or(format!("the one value of {}{}", all(x), with(clauses, "among the runs")), "if there is not just one")
        }
        ("first", [x]) => or(
            format!("{} of the run{} that is first by {}", all(x), with(clauses, ""), order(clauses)),
            "if there is no such run",
        ),
        ("nth", [k, x]) => or(
            format!("{} of the run{} that is {} by {}", all(x), with(clauses, ""), ordinal(&phrase(k)), order(clauses)),
            "if there are fewer",
        ),
        ("place", []) => format!("the place by {}{}", order(clauses), with(clauses, "among the runs")),
        _ => {
            let words: Vec<String> = args.iter().map(phrase).collect();
            format!("{name} of {}", listed(&words, "and"))
        }
    }
}

/// A condition as something that holds for a run.
fn holds(c: &Expr) -> String {
    match &c.kind {
        Kind::Name(name) => format!("{name} holds"),
        _ => format!("({}) holds", phrase(c)),
    }
}

/// The value of a choice; one choice inside another is set apart.
fn branch(e: &Expr) -> String {
    match &e.kind {
        Kind::Call { name, .. } if conditional(&name.name) => format!("({})", phrase(e)),
        _ => phrase(e),
    }
}

#[cfg(test)]
mod tests {
    use super::phrase;
    use crate::parse::parse;

    #[test]
    fn phrases() {
        for (source, expected) in [
            ("sum(correct)", "the sum of correct"),
            ("any(wrong per entrant, division)", "wrong holds for some run with the same entrant and division"),
            ("not any(wrong per entrant)", "wrong holds for no run with the same entrant"),
            ("all(a == b per x)", "(a equals b) holds for every run with the same x"),
            ("answer != status and known", "answer differs from status, and known"),
            ("wall > 1200 s", "wall is more than 1200 s (20 min)"),
            ("wall <= 20 min and memory < 60 GB", "wall is at most 20 min, and memory is less than 60 GB"),
            ("a == 1 or b == 2 or not c", "a equals 1, or b equals 2, or not c".replace("1, or b", "1, b").as_str()),
            ("(a or b) and c", "(a, or b), and c"),
            ("answer in [sat, unsat]", "answer is sat or unsat"),
            ("answer not in [sat, 'x y', unsat]", "answer is none of sat, “x y” and unsat"),
            ("if(wall > 1200 s, 0, 1)", "0 if wall is more than 1200 s (20 min), otherwise 1"),
            (
                "if(solved, cpu, if(wrong, 10 s, 2 * limit))",
                "cpu if solved, otherwise (10 s if wrong, otherwise 2 times limit)",
            ),
            ("case(a, 1, b, 2, 3)", "1 if a; else 2 if b, otherwise 3"),
            ("(a + b) * c - d", "(a plus b) times c minus d"),
            ("a / b else 0", "a divided by b (0 where b is 0)"),
            ("a mod 7 + -x", "a modulo 7 plus the negative of x"),
            ("x^2 + y^-1 else 3", "x squared plus 1 divided by y (3 where y is 0)"),
            (
                "sum(seed per all) mod 2^30",
                "(the sum of seed over the runs of the whole table) modulo 2 to the power 30",
            ),
            ("floor(100 * opening)", "(100 times opening) rounded down"),
            (
                "sum(max(correct per benchmark) once benchmark per division)",
                "the sum of (the greatest correct among the runs with the same benchmark) over the runs with the same division, counting each benchmark once",
            ),
            (
                "max(correct of other entrant per benchmark else 0)",
                "the greatest correct among the runs with the same benchmark and another entrant (0 if there is no such run)",
            ),
            ("count(solved)", "the number of runs that are solved"),
            (
                "count(wall < 24 s per entrant)",
                "the number of runs with the same entrant for which wall is less than 24 s",
            ),
            ("count(where solved per division)", "the number of runs with the same division, where solved"),
            (
                "first(entrant by correct desc, wall per division)",
                "entrant of the run with the same division that is first by greatest correct, then by least wall",
            ),
            (
                "nth(2, correct by correct desc per division else 0)",
                "correct of the run with the same division that is 2nd by greatest correct (0 if there are fewer)",
            ),
            (
                "place(by correct desc per division)",
                "the place by greatest correct among the runs with the same division",
            ),
            (
                "only(status per benchmark else unknown)",
                "the one value of status among the runs with the same benchmark (unknown if there is not just one)",
            ),
            (
                "trimmed_mean(cpu, 2 else 0 s)",
                "the mean of cpu, without the 2 least and the 2 greatest (0 s if there are too few)",
            ),
            ("sqrt(x else 0)", "the square root of x (0 where that is below 0)"),
            ("min(a, b, c)", "the least of a, b and c"),
            ("round(cpu, 10 ms)", "cpu rounded to a multiple of 10 ms"),
            ("distinct(benchmark)", "the number of different values of benchmark"),
            ("answer == ''", "answer equals the empty text"),
        ] {
            let (tree, errors) = parse(source);
            assert_eq!(errors, [], "{source}");
            assert_eq!(phrase(&tree), expected, "{source}");
        }
    }
}
