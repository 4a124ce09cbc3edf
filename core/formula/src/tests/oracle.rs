//! A second reading of the language: slow, row by row, from the tree as it is written.
//!
//! It shares no code with the evaluator and follows the reference sentence by sentence: to know the value of an
//! aggregate on a row it looks at every row of the table.

use std::cmp::Ordering;

use agon_table::{Exact, Table, Type, Value, parse_quantity};

use crate::ast::{BinOp, ClauseKind, Expr, Key, Kind};

pub(super) struct Oracle<'a> {
    pub table: &'a Table,
}

fn real(x: f64) -> Value {
    Value::Real(x + 0.0)
}

fn to_real(value: Value) -> Value {
    match value {
        Value::Exact(e) => real(e.to_f64()),
        other => other,
    }
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Real(x) => *x,
        Value::Exact(e) => e.to_f64(),
        _ => panic!("not a number"),
    }
}

fn exact(value: &Value) -> Exact {
    match value {
        Value::Exact(e) => e.clone(),
        Value::Real(x) => Exact::from_f64(*x).expect("finite"),
        _ => panic!("not a number"),
    }
}

fn truth(value: &Value) -> bool {
    *value == Value::Bool(true)
}

impl Oracle<'_> {
    /// Whether the value is held as a real number.
    fn is_real(&self, e: &Expr) -> bool {
        let some = |e: &Option<Box<Expr>>| e.as_ref().is_some_and(|e| self.is_real(e));
        match &e.kind {
            Kind::Name(name) => matches!(self.table.column_type(name), Some(Type::Number { real: true, .. })),
            Kind::Neg(a) => self.is_real(a),
            Kind::Binary {
                op: BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod,
                left,
                right,
                otherwise,
            } => self.is_real(left) || self.is_real(right) || some(otherwise),
            Kind::Power { base, otherwise, .. } => self.is_real(base) || some(otherwise),
            Kind::Call { name, args, clauses } => match &*name.name {
                "if" | "case" => {
                    let last = args.len() - 1;
                    args.iter().enumerate().any(|(at, a)| (at % 2 == 1 || at == last) && self.is_real(a))
                }
                "sqrt" | "ln" | "log2" | "log10" => true,
                "count" | "any" | "all" | "distinct" | "place" | "floor" | "ceil" | "round" => false,
                _ => {
                    args.iter().any(|a| self.is_real(a))
                        || clauses.iter().any(|c| matches!(&c.kind, ClauseKind::Else(e) if self.is_real(e)))
                }
            },
            _ => false,
        }
    }

    pub fn eval(&self, e: &Expr, row: usize) -> Value {
        let real_node = self.is_real(e);
        let sub = |e: &Expr| {
            let value = self.eval(e, row);
            if real_node { to_real(value) } else { value }
        };
        let value = match &e.kind {
            Kind::Error => panic!("an error"),
            Kind::Number { text, unit } => {
                let text = format!("{text} {}", unit.as_deref().unwrap_or(""));
                Value::Exact(parse_quantity(&text).expect("a number").0)
            }
            Kind::Text(text) => Value::Symbol(text.as_str().into()),
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Name(name) => match self.table.column(name) {
                Ok(column) => column.value(row),
                Err(_) => Value::Symbol(name.as_str().into()),
            },
            Kind::Not(a) => Value::Bool(!truth(&sub(a))),
            Kind::Neg(a) => match sub(a) {
                Value::Real(x) => real(-x),
                other => Value::Exact(exact(&other).neg()),
            },
            Kind::Power { base, exponent, otherwise } => {
                let base = sub(base);
                if *exponent < 0 && exact(&base).is_zero() {
                    return sub(otherwise.as_ref().expect("an else"));
                }
                match base {
                    Value::Real(x) => {
                        // By repeated squaring, which is how real powers are defined.
                        let (mut result, mut square) = (1.0, x);
                        for bit in 0..31 {
                            if exponent.unsigned_abs() >> bit & 1 == 1 {
                                result *= square;
                            }
                            square *= square;
                        }
                        real(if *exponent < 0 { 1.0 / result } else { result })
                    }
                    other => Value::Exact(exact(&other).pow(*exponent).expect("not zero")),
                }
            }
            Kind::In { negated, item, list } => {
                let item_value = self.eval(item, row);
                let found = list.iter().any(|member| self.compare(item, &item_value, member, row) == Ordering::Equal);
                Value::Bool(found != *negated)
            }
            Kind::Binary { op, left, right, otherwise } => match op {
                BinOp::And => Value::Bool(truth(&sub(left)) & truth(&sub(right))),
                BinOp::Or => Value::Bool(truth(&sub(left)) | truth(&sub(right))),
                BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                    let order = self.compare(left, &self.eval(left, row), right, row);
                    Value::Bool(match op {
                        BinOp::Eq => order.is_eq(),
                        BinOp::Ne => order.is_ne(),
                        BinOp::Lt => order.is_lt(),
                        BinOp::Le => order.is_le(),
                        BinOp::Gt => order.is_gt(),
                        _ => order.is_ge(),
                    })
                }
                _ => {
                    let (a, b) = (sub(left), sub(right));
                    if matches!(op, BinOp::Div | BinOp::Mod) && exact(&b).is_zero() {
                        return sub(otherwise.as_ref().expect("an else"));
                    }
                    if real_node {
                        let (x, y) = (float(&a), float(&b));
                        return real(match op {
                            BinOp::Add => x + y,
                            BinOp::Sub => x - y,
                            BinOp::Mul => x * y,
                            BinOp::Div => x / y,
                            _ => {
                                let rest = x % y;
                                if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
                            }
                        });
                    }
                    let (x, y) = (exact(&a), exact(&b));
                    Value::Exact(match op {
                        BinOp::Add => x.add(&y),
                        BinOp::Sub => x.sub(&y),
                        BinOp::Mul => x.mul(&y),
                        BinOp::Div => x.div(&y).expect("not zero"),
                        _ => x.sub(&y.mul(&x.div(&y).expect("not zero").floor())),
                    })
                }
            },
            Kind::Call { name, args, .. } => match &*name.name {
                "if" | "case" => {
                    let mut rest = &args[..];
                    while let [condition, value, more @ ..] = rest {
                        if truth(&self.eval(condition, row)) {
                            return sub(value);
                        }
                        rest = more;
                    }
                    sub(&rest[0])
                }
                "min" | "max" if args.len() > 1 => {
                    let values = args.iter().map(sub);
                    let best = if name.name == "min" {
                        values.min_by(Value::total_cmp)
                    } else {
                        values.max_by(Value::total_cmp)
                    };
                    best.expect("several")
                }
                "abs" => match sub(&args[0]) {
                    Value::Real(x) => real(x.abs()),
                    other => {
                        let x = exact(&other);
                        Value::Exact(if x < Exact::ZERO { x.neg() } else { x })
                    }
                },
                "floor" => Value::Exact(exact(&self.eval(&args[0], row)).floor()),
                "ceil" => Value::Exact(exact(&self.eval(&args[0], row)).ceil()),
                "round" if args.len() == 1 => Value::Exact(exact(&self.eval(&args[0], row)).round()),
                "round" => {
                    let (x, step) = (exact(&self.eval(&args[0], row)), exact(&self.eval(&args[1], row)));
                    Value::Exact(x.div(&step).expect("a step").round().mul(&step))
                }
                "sqrt" | "ln" | "log2" | "log10" => self.real_function(e, row),
                _ => self.aggregate(e, row, real_node),
            },
        };
        if real_node { to_real(value) } else { value }
    }

    fn compare(&self, left: &Expr, a: &Value, right: &Expr, row: usize) -> Ordering {
        let b = self.eval(right, row);
        if a.clone().as_exact().is_some() != b.as_exact().is_some() || self.is_real(left) || self.is_real(right) {
            return float(a).total_cmp(&float(&b));
        }
        a.total_cmp(&b)
    }

    fn real_function(&self, e: &Expr, row: usize) -> Value {
        let Kind::Call { name, args, clauses } = &e.kind else { panic!("a call") };
        let x = float(&self.eval(&args[0], row));
        let inside = if name.name == "sqrt" { x >= 0.0 } else { x > 0.0 };
        if !inside {
            let otherwise = clauses.iter().find_map(|c| if let ClauseKind::Else(e) = &c.kind { Some(e) } else { None });
            return to_real(self.eval(otherwise.expect("an else"), row));
        }
        real(match &*name.name {
            "sqrt" => x.sqrt(),
            "ln" => crate::real::ln(x),
            "log2" => crate::real::log2(x),
            _ => crate::real::log10(x),
        })
    }

    fn aggregate(&self, e: &Expr, row: usize, real_node: bool) -> Value {
        let Kind::Call { name, args, clauses } = &e.kind else { panic!("a call") };
        let name = &*name.name;
        let (mut filter, mut other, mut once, mut by, mut per, mut otherwise) = (None, None, None, None, None, None);
        for clause in clauses {
            match &clause.kind {
                ClauseKind::Where(e) => filter = Some(e),
                ClauseKind::Other(c) => other = Some(c),
                ClauseKind::Once(c) => once = Some(c),
                ClauseKind::By(k) => by = Some(k),
                ClauseKind::Per(c) => per = Some(c),
                ClauseKind::Else(e) => otherwise = Some(e),
            }
        }
        let same = |column: &str, a: usize, b: usize| {
            let column = self.table.column(column).expect("a column");
            column.value(a).total_cmp(&column.value(b)).is_eq()
        };
        let value = match name {
            "nth" => Some(&args[1]),
            "count" | "place" => None,
            _ => Some(&args[0]),
        };
        let at = |e: &Expr, row: usize| {
            let value = self.eval(e, row);
            if real_node { to_real(value) } else { value }
        };
        let before = |a: usize, b: usize| -> Ordering { self.before(by.map_or(&[], |k| &k[..]), a, b) };
        let before_by_value = |a: &usize, b: &usize| {
            before(*a, *b).then_with(|| value.map_or(Ordering::Equal, |e| at(e, *a).total_cmp(&at(e, *b))))
        };
        let mut rows: Vec<usize> = (0..self.table.rows())
            .filter(|r| per.is_none_or(|p| p.iter().all(|c| same(&c.name, *r, row))))
            .filter(|r| filter.is_none_or(|f| truth(&self.eval(f, *r))))
            .filter(|r| name != "count" || args.is_empty() || truth(&self.eval(&args[0], *r)))
            .filter(|r| other.is_none_or(|c| !same(&c.name, *r, row)))
            .collect();
        rows.sort_by(before_by_value);
        if let Some(once) = once {
            let mut kept: Vec<usize> = Vec::new();
            for r in rows {
                if !kept.iter().any(|k| once.iter().all(|c| same(&c.name, *k, r))) {
                    kept.push(r);
                }
            }
            rows = kept;
        }
        let values: Vec<Value> = value.map_or(Vec::new(), |e| rows.iter().map(|r| at(e, *r)).collect());
        let mut sorted = values.clone();
        sorted.sort_by(Value::total_cmp);
        let number = |e: Exact| if real_node { real(e.to_f64()) } else { Value::Exact(e) };
        let sum = |values: &[Value]| values.iter().fold(Exact::ZERO, |sum, v| sum.add(&exact(v)));
        let mean = |values: &[Value]| sum(values).div(&Exact::from(values.len() as i64)).map(&number);
        let count = |n: usize| Some(Value::Exact(Exact::from(n as i64)));
        let n = sorted.len();
        let result = match name {
            "sum" => Some(number(sum(&values))),
            "count" => count(rows.len()),
            "any" => Some(Value::Bool(values.iter().any(truth))),
            "all" => Some(Value::Bool(values.iter().all(truth))),
            "min" => sorted.first().cloned(),
            "max" => sorted.last().cloned(),
            "mean" => mean(&values),
            "median" => {
                if n == 0 {
                    None
                } else {
                    mean(&[sorted[(n - 1) / 2].clone(), sorted[n / 2].clone()])
                }
            }
            "trimmed_mean" => {
                let k = exact(&self.eval(&args[1], row)).as_i64().expect("a count") as usize;
                if n < 2 * k + 1 { None } else { mean(&sorted[k..n - k]) }
            }
            "distinct" => {
                sorted.dedup_by(|a, b| a.total_cmp(b).is_eq());
                count(sorted.len())
            }
            "first" => values.first().cloned(),
            "nth" => {
                let k = exact(&self.eval(&args[0], row)).as_i64().expect("a count") as usize;
                values.get(k - 1).cloned()
            }
            "only" => match (sorted.first(), sorted.last()) {
                (Some(a), Some(b)) if a.total_cmp(b).is_eq() => Some(a.clone()),
                _ => None,
            },
            "place" => count(1 + rows.iter().filter(|r| before(**r, row).is_lt()).count()),
            other => panic!("no function {other}"),
        };
        result.unwrap_or_else(|| at(otherwise.expect("an else"), row))
    }

    fn before(&self, keys: &[Key], a: usize, b: usize) -> Ordering {
        for key in keys {
            let order = self.eval(&key.expr, a).total_cmp(&self.eval(&key.expr, b));
            if order.is_ne() {
                return if key.descending == Some(true) { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}
