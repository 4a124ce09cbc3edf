//! Formulas in English, for those who read an edition's rules rather than its file.
//!
//! The phrases are exact: nothing of the formula is left out, and parentheses stay where leaving them out would allow
//! another reading. How rows and some names are called is the caller's choice.

use agon_table::{Dim, parse_quantity};

use crate::ast::{BinOp, Clause, ClauseKind, Expr, Ident, Kind, level};
use crate::error::listed;

/// How a formula is said.
#[derive(Clone, Copy)]
pub struct Voice<'a> {
    /// What one row is called: `run`.
    pub one: &'a str,
    /// What several rows are called: `runs`.
    pub many: &'a str,
    /// What a name is said as, if not as itself.
    pub names: &'a dyn Fn(&str) -> Option<String>,
}

impl Default for Voice<'_> {
    /// Rows are runs, and names are said as they are.
    fn default() -> Self {
        Self { one: "run", many: "runs", names: &|_| None }
    }
}

impl std::fmt::Debug for Voice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Voice({}, {})", self.one, self.many)
    }
}

impl Voice<'_> {
    fn name(&self, name: &str) -> String {
        (self.names)(name).unwrap_or_else(|| name.into())
    }
}

/// The formula as a phrase: a noun phrase for a value, a clause for a condition.
pub(crate) fn phrase(v: &Voice<'_>, e: &Expr) -> String {
    match &e.kind {
        Kind::Error => "?".into(),
        Kind::Number { text, unit: None } => text.clone(),
        Kind::Number { text, unit: Some(unit) } => quantity(text, unit),
        Kind::Text(text) if text.is_empty() => "the empty text".into(),
        Kind::Text(text) => format!("“{text}”"),
        Kind::Bool(b) => b.to_string(),
        Kind::Name(name) => v.name(name),
        Kind::Not(inner) => negated(v, inner),
        Kind::Neg(inner) => match &inner.kind {
            Kind::Number { .. } => format!("-{}", phrase(v, inner)),
            _ => format!("the negative of {}", tight(v, inner)),
        },
        Kind::Binary { op, left, right, otherwise } => binary(v, *op, left, right, otherwise.as_deref()),
        Kind::Power { base, exponent, otherwise } => {
            let base_text = tight(v, base);
            let text = match exponent {
                2 => format!("{base_text} squared"),
                -1 => format!("1 divided by {base_text}"),
                n => format!("{base_text} to the power {n}"),
            };
            match otherwise {
                Some(o) => format!("{text} ({} where {} is 0)", phrase(v, o), zero(v, base, "that")),
                None => text,
            }
        }
        Kind::In { negated, item, list } => {
            let words: Vec<String> = list.iter().map(|e| operand(v, e)).collect();
            match (negated, words.as_slice()) {
                (false, [one]) => format!("{} is {one}", operand(v, item)),
                (true, [one]) => format!("{} differs from {one}", operand(v, item)),
                (false, _) => format!("{} is {}", operand(v, item), listed(&words, "or")),
                (true, _) => format!("{} is none of {}", operand(v, item), listed(&words, "and")),
            }
        }
        Kind::Call { name, args, clauses } => call(v, &name.name, args, clauses),
    }
}

/// What is 0 where an `else` is needed: repeated only if it is short.
fn zero(v: &Voice<'_>, e: &Expr, otherwise: &str) -> String {
    match &e.kind {
        Kind::Name(_) => phrase(v, e),
        _ => otherwise.into(),
    }
}

/// Whether a mark stands in a phrase outside of parentheses.
fn outside(phrase: &str, mark: &str) -> bool {
    let mut depth = 0_i32;
    phrase.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && phrase[at..].starts_with(mark)
    })
}

/// A condition behind a word such as `where`: in parentheses if it has several parts.
fn clause(v: &Voice<'_>, e: &Expr) -> String {
    let text = phrase(v, e);
    let several = [", ", " and ", " or "].into_iter().any(|mark| outside(&text, mark));
    if several { format!("({text})") } else { text }
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
fn operand(v: &Voice<'_>, e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { .. } | Kind::In { .. } | Kind::Not(_) => format!("({})", phrase(v, e)),
        // What comes behind a call would be read as a part of it.
        Kind::Call { .. } => format!("({})", phrase(v, e)),
        _ => phrase(v, e),
    }
}

/// A phrase before or behind words that bind tightly.
fn tight(v: &Voice<'_>, e: &Expr) -> String {
    match e.level() {
        level::PRIMARY => operand(v, e),
        _ => format!("({})", phrase(v, e)),
    }
}

/// An operand of arithmetic: parentheses where the formula would need them.
fn term(v: &Voice<'_>, e: &Expr, least: u8) -> String {
    // Everybody knows that a product binds more than a sum, but not that a remainder does.
    if matches!(&e.kind, Kind::Binary { op: BinOp::Mod, .. }) {
        return format!("({})", phrase(v, e));
    }
    if e.level() < least { format!("({})", phrase(v, e)) } else { arithmetic_operand(v, e) }
}

fn arithmetic_operand(v: &Voice<'_>, e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { .. } => phrase(v, e),
        _ => operand(v, e),
    }
}

fn conditional(name: &str) -> bool {
    matches!(name, "if" | "case")
}

fn binary(v: &Voice<'_>, op: BinOp, left: &Expr, right: &Expr, otherwise: Option<&Expr>) -> String {
    match op {
        BinOp::And | BinOp::Or => {
            let mut parts = Vec::new();
            chain(v, op, left, &mut parts);
            parts.push(side(v, op, right));
            if parts.iter().all(|part| !part.trim_start_matches("not ").contains(' ')) {
                return listed(&parts, op.symbol());
            }
            let last = parts.pop().unwrap_or_default();
            format!("{}, {} {last}", parts.join(", "), op.symbol())
        }
        BinOp::Eq => {
            format!("{} {} {}", comparand(v, left), if truth(right) { "is" } else { "equals" }, comparand(v, right))
        }
        BinOp::Ne => format!("{} differs from {}", comparand(v, left), comparand(v, right)),
        BinOp::Lt => format!("{} is less than {}", comparand(v, left), comparand(v, right)),
        BinOp::Le => format!("{} is at most {}", comparand(v, left), comparand(v, right)),
        BinOp::Gt => format!("{} is more than {}", comparand(v, left), comparand(v, right)),
        BinOp::Ge => format!("{} is at least {}", comparand(v, left), comparand(v, right)),
        BinOp::Add => format!("{} plus {}", term(v, left, level::ADD), term(v, right, level::MUL)),
        BinOp::Sub => format!("{} minus {}", term(v, left, level::ADD), term(v, right, level::MUL)),
        BinOp::Mul => format!("{} times {}", term(v, left, level::MUL), term(v, right, level::NEG)),
        BinOp::Div | BinOp::Mod => {
            let (l, r) = (term(v, left, level::MUL), term(v, right, level::NEG));
            let text = if op == BinOp::Div { format!("{l} divided by {r}") } else { format!("{l} modulo {r}") };
            match otherwise {
                Some(o) => format!("{text} ({} where {} is 0)", phrase(v, o), zero(v, right, "the divisor")),
                None => text,
            }
        }
    }
}

/// A side of a comparison.
fn comparand(v: &Voice<'_>, e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { op, .. } if op.level() >= level::ADD => phrase(v, e),
        _ => operand(v, e),
    }
}

fn truth(e: &Expr) -> bool {
    matches!(e.kind, Kind::Bool(_))
}

/// The parts of `a and b and c`, or of the same with `or`.
fn chain(v: &Voice<'_>, op: BinOp, e: &Expr, parts: &mut Vec<String>) {
    match &e.kind {
        Kind::Binary { op: own, left, right, .. } if *own == op => {
            chain(v, op, left, parts);
            parts.push(side(v, op, right));
        }
        _ => parts.push(side(v, op, e)),
    }
}

/// A condition within `and` or `or`.
fn side(v: &Voice<'_>, op: BinOp, e: &Expr) -> String {
    match &e.kind {
        Kind::Binary { op: inner @ (BinOp::And | BinOp::Or), .. } if *inner != op => format!("({})", phrase(v, e)),
        Kind::Binary { op: inner, .. } if *inner == op => format!("({})", phrase(v, e)),
        Kind::In { list, .. } if list.len() > 1 => format!("({})", phrase(v, e)),
        Kind::Call { name, .. } if conditional(&name.name) => format!("({})", phrase(v, e)),
        Kind::Call { clauses, .. } if clauses.iter().any(|c| !matches!(c.kind, ClauseKind::Per(_))) => {
            format!("({})", phrase(v, e))
        }
        Kind::Not(inner) if matches!(&inner.kind, Kind::Call { clauses, .. } if clauses.iter().any(|c| !matches!(c.kind, ClauseKind::Per(_)))) =>
        {
            format!("({})", phrase(v, e))
        }
        _ => phrase(v, e),
    }
}

fn negated(v: &Voice<'_>, inner: &Expr) -> String {
    match &inner.kind {
        Kind::Name(name) => format!("not {}", v.name(name)),
        Kind::Call { name, args, clauses } if matches!(&*name.name, "any") && args.len() == 1 => {
            format!("{} for no {}{}", holds(v, &args[0]), v.one, with(v, clauses, None, None))
        }
        _ => format!("not ({})", phrase(v, inner)),
    }
}

fn names(columns: &[Ident]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    listed(&names, "and")
}

fn find<'a, T>(clauses: &'a [Clause], f: impl Fn(&'a ClauseKind) -> Option<T>) -> Option<T> {
    clauses.iter().find_map(|c| f(&c.kind))
}

/// The rows that an aggregate looks at, as an addition to its phrase; `lead` says what the addition hangs on if there
/// is one, `condition` is a further one that the rows satisfy.
fn with(v: &Voice<'_>, clauses: &[Clause], lead: Option<&str>, condition: Option<&Expr>) -> String {
    let mut text = String::new();
    let per = find(clauses, |c| if let ClauseKind::Per(p) = c { Some(p) } else { None });
    let other = find(clauses, |c| if let ClauseKind::Other(o) = c { Some(o) } else { None });
    let filter = find(clauses, |c| if let ClauseKind::Where(w) = c { Some(w) } else { None });
    let once = find(clauses, |c| if let ClauseKind::Once(o) = c { Some(o) } else { None });
    if let Some(lead) = lead
        && (per.is_some() || other.is_some() || filter.is_some())
    {
        text += &format!(" {lead} the {}", v.many);
    }
    let columns = per.filter(|p| !p.is_empty());
    match columns.map(Vec::as_slice) {
        Some([group]) if group.name == "group" => text += " of the group",
        Some(columns) => text += &format!(" with the same {}", names(columns)),
        None if per.is_some() => text += " of the whole table",
        None => {}
    }
    if let Some(column) = other {
        text += if columns.is_some() { " and" } else { " with" };
        text += &format!(" another {}", column.name);
    }
    match (condition, filter) {
        (None, None) => {}
        (Some(c), None) | (None, Some(c)) => text += &format!(" where {}", clause(v, c)),
        (Some(a), Some(b)) => text += &format!(" where ({} and {})", clause(v, b), clause(v, a)),
    }
    if let Some(columns) = once {
        text += &format!(", counting each {} once", names(columns));
    }
    text
}

fn order(v: &Voice<'_>, clauses: &[Clause]) -> String {
    let keys = find(clauses, |c| if let ClauseKind::By(k) = c { Some(k) } else { None });
    let keys: Vec<String> = keys
        .into_iter()
        .flatten()
        .map(|k| {
            let direction = if k.descending == Some(true) { "greatest" } else { "least" };
            format!("{direction} {}", operand(v, &k.expr))
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

fn call(v: &Voice<'_>, name: &str, args: &[Expr], clauses: &[Clause]) -> String {
    let otherwise = find(clauses, |c| if let ClauseKind::Else(e) = c { Some(e) } else { None });
    let or = |text: String, when: &str| match otherwise {
        Some(e) => format!("{text} ({} {when})", phrase(v, e)),
        None => text,
    };
    let all = |e: &Expr| operand(v, e);
    let no_such = format!("if there is no such {}", v.one);
    let (one, many) = (v.one, v.many);
    match (name, args) {
        ("if", [c, a, b]) => format!("{} if {}, otherwise {}", branch(v, a), clause(v, c), branch(v, b)),
        ("case", [cases @ .., last]) => {
            let mut parts: Vec<String> = Vec::new();
            for pair in cases.chunks(2) {
                if let [condition, value] = pair {
                    parts.push(format!("{} if {}", branch(v, value), clause(v, condition)));
                }
            }
            format!("{}; otherwise {}", parts.join("; else "), branch(v, last))
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
        ("sum", [x]) => format!("the sum of {}{}", all(x), with(v, clauses, Some("over"), None)),
        ("mean" | "median", [x]) => {
            or(format!("the {name} of {}{}", all(x), with(v, clauses, Some("over"), None)), &no_such)
        }
        ("min", [x]) => or(format!("the least {}{}", all(x), with(v, clauses, Some("among"), None)), &no_such),
        ("max", [x]) => or(format!("the greatest {}{}", all(x), with(v, clauses, Some("among"), None)), &no_such),
        ("trimmed_mean", [x, k]) => or(
            format!(
                "the mean of {}{}, without the {} least and the {} greatest",
                all(x),
                with(v, clauses, Some("over"), None),
                all(k),
                all(k)
            ),
            "if there are too few",
        ),
        ("distinct", [x]) => {
            format!("the number of different values of {}{}", all(x), with(v, clauses, Some("among"), None))
        }
        ("count", []) => format!("the number of {many}{}", with(v, clauses, None, None)),
        ("count", [c]) => format!("the number of {many}{}", with(v, clauses, None, Some(c))),
        ("any", [c]) => format!("{} for some {one}{}", holds(v, c), with(v, clauses, None, None)),
        ("all", [c]) => format!("{} for every {one}{}", holds(v, c), with(v, clauses, None, None)),
        ("only", [x]) => or(
            format!("the one value of {}{}", all(x), with(v, clauses, Some("among"), None)),
            "if there is not just one",
        ),
        ("first", [x]) => or(
            format!(
                "{} of the {one}{} that comes first by {}",
                all(x),
                with(v, clauses, None, None),
                order(v, clauses)
            ),
            &no_such,
        ),
        ("nth", [k, x]) => or(
            format!(
                "{} of the {one}{} that comes {} by {}",
                all(x),
                with(v, clauses, None, None),
                ordinal(&phrase(v, k)),
                order(v, clauses)
            ),
            "if there are fewer",
        ),
        ("place", []) => format!("the place by {}{}", order(v, clauses), with(v, clauses, Some("among"), None)),
        _ => {
            let words: Vec<String> = args.iter().map(|e| phrase(v, e)).collect();
            format!("{name} of {}", listed(&words, "and"))
        }
    }
}

/// A condition as something that holds for a run.
fn holds(v: &Voice<'_>, c: &Expr) -> String {
    match &c.kind {
        Kind::Name(name) => format!("{} holds", v.name(name)),
        _ => format!("({}) holds", phrase(v, c)),
    }
}

/// The value of a choice; one choice inside another is set apart.
fn branch(v: &Voice<'_>, e: &Expr) -> String {
    match &e.kind {
        Kind::Call { name, .. } if conditional(&name.name) => format!("({})", phrase(v, e)),
        _ => phrase(v, e),
    }
}

#[cfg(test)]
mod tests {
    use super::{Voice, phrase};
    use crate::parse::parse;

    /// Rows and names are called as the caller wants.
    #[test]
    fn voices() {
        let names = |name: &str| (name == "limits.wall").then(|| "the limit".to_string());
        let voice = Voice { one: "entrant", many: "entrants", names: &names };
        for (source, expected) in [
            ("count(competing)", "the number of entrants where competing"),
            (
                "max(wall where wall > limits.wall else 0 s)",
                "the greatest wall among the entrants where wall is more than the limit (0 s if there is no such entrant)",
            ),
            ("not any(a per b)", "a holds for no entrant with the same b"),
        ] {
            let (tree, errors) = parse(source);
            assert_eq!(errors, [], "{source}");
            assert_eq!(phrase(&voice, &tree), expected, "{source}");
        }
    }

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
            ("(a or b) and c", "(a or b), and c"),
            ("answer in [sat, unsat]", "answer is sat or unsat"),
            ("answer not in [sat, 'x y', unsat]", "answer is none of sat, “x y” and unsat"),
            ("if(wall > 1200 s, 0, 1)", "0 if wall is more than 1200 s (20 min), otherwise 1"),
            (
                "if(solved, cpu, if(wrong, 10 s, 2 * limit))",
                "cpu if solved, otherwise (10 s if wrong, otherwise 2 times limit)",
            ),
            ("case(a, 1, b, 2, 3)", "1 if a; else 2 if b; otherwise 3"),
            ("(a + b) * c - d", "(a plus b) times c minus d"),
            ("a / b else 0", "a divided by b (0 where b is 0)"),
            ("a mod 7 + -x", "(a modulo 7) plus the negative of x"),
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
            ("count(solved)", "the number of runs where solved"),
            ("count(wall < 24 s per entrant)", "the number of runs with the same entrant where wall is less than 24 s"),
            ("count(where solved per division)", "the number of runs with the same division where solved"),
            (
                "first(entrant by correct desc, wall per division)",
                "entrant of the run with the same division that comes first by greatest correct, then by least wall",
            ),
            (
                "nth(2, correct by correct desc per division else 0)",
                "correct of the run with the same division that comes 2nd by greatest correct (0 if there are fewer)",
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
            ("sum(a) mod 7 + floor(b)", "((the sum of a) modulo 7) plus (b rounded down)"),
            (
                "count(a and b where not c per d) / n else 0",
                "(the number of runs with the same d where (not c and (a and b))) divided by n (0 where n is 0)",
            ),
            ("a and any(b where c per d)", "a, and (b holds for some run with the same d where c)"),
            ("distinct(a per group)", "the number of different values of a among the runs of the group"),
            ("if(a or b, 1, 2)", "1 if (a or b), otherwise 2"),
            ("a / (b + 1) else 0", "a divided by (b plus 1) (0 where the divisor is 0)"),
        ] {
            let (tree, errors) = parse(source);
            assert_eq!(errors, [], "{source}");
            assert_eq!(phrase(&Voice::default(), &tree), expected, "{source}");
        }
    }
}
