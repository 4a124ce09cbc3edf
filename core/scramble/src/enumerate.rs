//! Answers of small scripts by trying all assignments.
//!
//! This reads scripts on its own, with nothing of the scramblers' grammars, so that it can say whether what they make of a
//! script means the same. A scrambled script has as many models as the original: its constants have other names, and
//! nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use crate::small::{Operation, Sort, Value, operation, rounding, special};

/// How many assignments are tried at most at a check-sat.
const MOST: u64 = 1 << 18;
/// How large a script is at most, and how deep.
const LARGEST: usize = 1 << 16;
const DEEPEST: usize = 100;

/// A script as parentheses and words.
#[derive(Clone, Debug)]
enum Part {
    Word(String),
    List(Vec<Part>),
}

impl Part {
    fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::List(_) => None,
        }
    }

    fn list(&self) -> Option<&[Part]> {
        match self {
            Self::List(list) => Some(list),
            Self::Word(_) => None,
        }
    }
}

/// What cannot be tried, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooHard(pub String);

fn hard<T>(why: impl Into<String>) -> Result<T, TooHard> {
    Err(TooHard(why.into()))
}

fn parts(text: &str) -> Result<Vec<Part>, TooHard> {
    if text.len() > LARGEST {
        return hard("it is too long");
    }
    let mut open: Vec<Vec<Part>> = vec![Vec::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' => {
                if open.len() > DEEPEST {
                    return hard("it is too deep");
                }
                open.push(Vec::new());
                1
            }
            ')' => {
                let done = open.pop().unwrap_or_default();
                match open.last_mut() {
                    Some(outer) => outer.push(Part::List(done)),
                    None => return hard("a parenthesis closes nothing"),
                }
                1
            }
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '|' | '"' => {
                let Some(end) = rest[1..].find(first) else { return hard("a quoted word has no end") };
                let inner = &rest[1..=end];
                // Bars make no difference to a symbol.
                let word = if first == '|' { inner.to_string() } else { format!("\"{inner}") };
                if let Some(list) = open.last_mut() {
                    list.push(Part::Word(word));
                }
                end + 2
            }
            blank if blank.is_whitespace() => blank.len_utf8(),
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "();|\"".contains(c)).unwrap_or(rest.len());
                if let Some(list) = open.last_mut() {
                    list.push(Part::Word(rest[..end].to_string()));
                }
                end
            }
        };
        rest = &rest[length..];
    }
    match (open.pop(), open.is_empty()) {
        (Some(all), true) => Ok(all),
        _ => hard("a parenthesis is not closed"),
    }
}

/// A term whose variables have numbers: places from the bottom of the assignment or from the frame of a definition.
#[derive(Debug)]
enum Term {
    Value(Value),
    /// A declared constant, by its number.
    Constant(usize),
    /// A bound variable, by its place above the frame.
    Bound(usize),
    Apply(Operation, Vec<u64>, Vec<Term>),
    Let(Vec<Term>, Box<Term>),
    Quantified(bool, Vec<Sort>, Box<Term>),
    /// A defined function.
    Call(Arc<Term>, Vec<Term>),
}

/// What a symbol means.
#[derive(Clone)]
enum Meaning {
    Constant(usize),
    Bound(usize),
    Defined(usize, Arc<Term>),
    Sort(Sort),
}

struct Script {
    meanings: HashMap<String, Meaning>,
    constants: Vec<Sort>,
    assertions: Vec<Arc<Term>>,
    /// What to go back to.
    levels: Vec<(HashMap<String, Meaning>, usize, usize)>,
    counts: Vec<u64>,
}

/// The number of assignments that satisfy what is asserted, at every check-sat.
///
/// # Errors
/// If the script has anything but Booleans, bit-vectors and small floating-point numbers, or too many assignments.
pub fn models(text: &str) -> Result<Vec<u64>, TooHard> {
    let mut script = Script {
        meanings: HashMap::new(),
        constants: Vec::new(),
        assertions: Vec::new(),
        levels: Vec::new(),
        counts: Vec::new(),
    };
    for command in parts(text)? {
        script.command(&command)?;
    }
    Ok(script.counts)
}

impl Script {
    fn command(&mut self, command: &Part) -> Result<(), TooHard> {
        let Some([Part::Word(name), rest @ ..]) = command.list() else { return hard("something is no command") };
        match (name.as_str(), rest) {
            ("set-logic" | "set-info" | "set-option" | "echo" | "exit", _) => {}
            ("get-unsat-core" | "get-model" | "get-proof" | "get-info", _) => {}
            ("declare-fun", [Part::Word(name), Part::List(sorts), sort]) if sorts.is_empty() => {
                self.constant(name, sort)?;
            }
            ("declare-const", [Part::Word(name), sort]) => self.constant(name, sort)?,
            ("define-sort", [Part::Word(name), Part::List(none), sort]) if none.is_empty() => {
                let sort = self.sort(sort)?;
                self.meanings.insert(name.clone(), Meaning::Sort(sort));
            }
            ("define-fun", [Part::Word(name), Part::List(variables), _, body]) => {
                let mut inside = self.meanings.clone();
                for (place, variable) in variables.iter().enumerate() {
                    match variable.list() {
                        Some([Part::Word(variable), _]) => inside.insert(variable.clone(), Meaning::Bound(place)),
                        _ => return hard("a definition is malformed"),
                    };
                }
                let body = self.term(body, &inside, variables.len())?;
                self.meanings.insert(name.clone(), Meaning::Defined(variables.len(), Arc::new(body)));
            }
            ("assert", [term]) => {
                let meanings = self.meanings.clone();
                let term = self.term(term, &meanings, 0)?;
                self.assertions.push(Arc::new(term));
            }
            ("push" | "pop", [Part::Word(levels)]) => {
                let Ok(levels @ 0..=100) = levels.parse::<u32>() else { return hard("too many levels") };
                for _ in 0..levels {
                    if name == "push" {
                        self.levels.push((self.meanings.clone(), self.constants.len(), self.assertions.len()));
                    } else {
                        let Some((meanings, constants, assertions)) = self.levels.pop() else {
                            return hard("a level is left that there is not");
                        };
                        self.meanings = meanings;
                        self.constants.truncate(constants);
                        self.assertions.truncate(assertions);
                    }
                }
            }
            ("check-sat", []) => {
                let count = self.count()?;
                self.counts.push(count);
            }
            _ => return hard(format!("the command {name} is not tried")),
        }
        Ok(())
    }

    fn constant(&mut self, name: &str, sort: &Part) -> Result<(), TooHard> {
        let sort = self.sort(sort)?;
        self.meanings.insert(name.to_string(), Meaning::Constant(self.constants.len()));
        self.constants.push(sort);
        Ok(())
    }

    fn sort(&self, sort: &Part) -> Result<Sort, TooHard> {
        if let Some(word) = sort.word() {
            return match (word, self.meanings.get(word)) {
                (_, Some(Meaning::Sort(sort))) => Ok(*sort),
                ("Bool", None) => Ok(Sort::Bool),
                ("RoundingMode", None) => Ok(Sort::Rounding),
                ("Float16", None) => Ok(Sort::Float(5, 11)),
                _ => hard(format!("the sort {word} is not small")),
            };
        }
        let words: Vec<&str> = sort.list().unwrap_or_default().iter().filter_map(Part::word).collect();
        let number = |text: &str| text.parse::<u32>().unwrap_or(0);
        match words[..] {
            ["_", "BitVec", width] if (1..=16).contains(&number(width)) => Ok(Sort::Bits(number(width))),
            ["_", "FloatingPoint", e, s] if (2..=5).contains(&number(e)) && (2..=11).contains(&number(s)) => {
                Ok(Sort::Float(number(e), number(s)))
            }
            _ => hard("a sort is not small"),
        }
    }

    /// Makes a term of its text. `bound` places above the frame are taken. Its depth is bounded, as that of the text is.
    fn term(&self, part: &Part, meanings: &HashMap<String, Meaning>, bound: usize) -> Result<Term, TooHard> {
        let list = match part {
            Part::Word(word) => return symbol(word, meanings),
            Part::List(list) => list,
        };
        let terms = |parts: &[Part]| -> Result<Vec<Term>, TooHard> {
            parts.iter().map(|part| self.term(part, meanings, bound)).collect()
        };
        match list.as_slice() {
            [Part::Word(word), Part::List(bindings), body] if word == "let" => {
                let mut inside = meanings.clone();
                let mut values = Vec::new();
                for binding in bindings {
                    let Some([Part::Word(name), value]) = binding.list() else { return hard("a `let` is malformed") };
                    values.push(self.term(value, meanings, bound)?);
                    inside.insert(name.clone(), Meaning::Bound(bound + values.len() - 1));
                }
                let body = self.term(body, &inside, bound + values.len())?;
                Ok(Term::Let(values, Box::new(body)))
            }
            [Part::Word(word), Part::List(variables), body] if word == "forall" || word == "exists" => {
                let mut inside = meanings.clone();
                let mut sorts = Vec::new();
                for variable in variables {
                    let Some([Part::Word(name), sort]) = variable.list() else { return hard("a binder is malformed") };
                    inside.insert(name.clone(), Meaning::Bound(bound + sorts.len()));
                    sorts.push(self.sort(sort)?);
                }
                if sorts.iter().map(|sort| sort.size()).product::<u64>() > 1 << 8 {
                    return hard("a quantifier has too many values");
                }
                let body = self.term(body, &inside, bound + sorts.len())?;
                Ok(Term::Quantified(word == "forall", sorts, Box::new(body)))
            }
            [Part::Word(word), term, ..] if word == "!" => self.term(term, meanings, bound),
            [Part::Word(word), rest @ ..] if word == "_" => constant(rest),
            [Part::Word(word), rest @ ..] => {
                let arguments = terms(rest)?;
                if let Some(Meaning::Defined(arity, body)) = meanings.get(word) {
                    if *arity != arguments.len() {
                        return hard(format!("{word} has other arguments"));
                    }
                    return Ok(Term::Call(body.clone(), arguments));
                }
                match operation(word) {
                    Some(operation) if !meanings.contains_key(word) => {
                        Ok(Term::Apply(operation, Vec::new(), arguments))
                    }
                    _ => hard(format!("the function {word} is not tried")),
                }
            }
            [Part::List(head), rest @ ..] => match head.as_slice() {
                [Part::Word(mark), Part::Word(word), numbers @ ..] if mark == "_" => {
                    let numbers = numbers.iter().filter_map(|n| n.word()?.parse().ok()).collect();
                    match operation(word) {
                        Some(operation) => Ok(Term::Apply(operation, numbers, terms(rest)?)),
                        None => hard(format!("the function {word} is not tried")),
                    }
                }
                _ => hard("a function is not tried"),
            },
            [] => hard("an empty term"),
        }
    }

    fn count(&self) -> Result<u64, TooHard> {
        let mut total: u64 = 1;
        for sort in &self.constants {
            total = total.saturating_mul(sort.size());
        }
        if total > MOST {
            return hard(format!("{total} assignments are too many"));
        }
        let mut values: Vec<Value> = self.constants.iter().map(|sort| sort.value(0)).collect();
        let mut numbers = vec![0; values.len()];
        let mut count = 0;
        let mut places = Vec::new();
        for _ in 0..total {
            let mut all = true;
            for assertion in &self.assertions {
                places.clear();
                match eval(assertion, &values, &mut places, 0) {
                    Some(Value::Bool(true)) => {}
                    Some(Value::Bool(false)) => {
                        all = false;
                        break;
                    }
                    _ => return hard("an assertion has no truth value"),
                }
            }
            count += u64::from(all);
            for (at, number) in numbers.iter_mut().enumerate() {
                *number = (*number + 1) % self.constants[at].size();
                values[at] = self.constants[at].value(*number);
                if *number != 0 {
                    break;
                }
            }
        }
        Ok(count)
    }
}

fn symbol(word: &str, meanings: &HashMap<String, Meaning>) -> Result<Term, TooHard> {
    match meanings.get(word) {
        Some(Meaning::Constant(number)) => return Ok(Term::Constant(*number)),
        Some(Meaning::Bound(place)) => return Ok(Term::Bound(*place)),
        Some(Meaning::Defined(0, body)) => return Ok(Term::Call(body.clone(), Vec::new())),
        Some(_) => return hard(format!("{word} is no constant")),
        None => {}
    }
    let bits = |digits: &str, each: u32, radix: u32| {
        let width = digits.len() as u32 * each;
        let value = u64::from_str_radix(digits, radix).ok()?;
        (1..=32).contains(&width).then_some(Term::Value(Value::Bits(width, value)))
    };
    let value = match word {
        "true" => Some(Term::Value(Value::Bool(true))),
        "false" => Some(Term::Value(Value::Bool(false))),
        _ => match word.get(..2) {
            Some("#b") => bits(&word[2..], 1, 2),
            Some("#x") => bits(&word[2..], 4, 16),
            _ => rounding(word).map(|mode| Term::Value(Value::Rounding(mode))),
        },
    };
    value.map_or_else(|| hard(format!("{word} is not known")), Ok)
}

/// `bv7 8`, `+oo 5 11`
fn constant(parts: &[Part]) -> Result<Term, TooHard> {
    let words: Vec<&str> = parts.iter().filter_map(Part::word).collect();
    let number = |text: &str| text.parse::<u32>().ok();
    let value = match words[..] {
        [value, width] => match (value.strip_prefix("bv").and_then(|v| v.parse::<u64>().ok()), number(width)) {
            (Some(value), Some(width @ 1..=32)) if value >> width == 0 => Some(Value::Bits(width, value)),
            _ => None,
        },
        [name, e, s] => match (number(e), number(s)) {
            (Some(e @ 2..=5), Some(s @ 2..=11)) => special(name, e, s),
            _ => None,
        },
        _ => None,
    };
    value.map_or_else(|| hard("a constant is not tried"), |value| Ok(Term::Value(value)))
}

fn eval(term: &Term, constants: &[Value], places: &mut Vec<Value>, frame: usize) -> Option<Value> {
    match term {
        Term::Value(value) => Some(*value),
        Term::Constant(number) => constants.get(*number).copied(),
        Term::Bound(place) => places.get(frame + place).copied(),
        Term::Apply(operation, numbers, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(eval(argument, constants, places, frame)?);
            }
            operation(numbers, &values)
        }
        Term::Let(values, body) => {
            let top = places.len();
            let mut new = Vec::with_capacity(values.len());
            for value in values {
                new.push(eval(value, constants, places, frame)?);
            }
            places.extend(new);
            let value = eval(body, constants, places, frame);
            places.truncate(top);
            value
        }
        Term::Quantified(all, sorts, body) => {
            let top = places.len();
            let total: u64 = sorts.iter().map(|sort| sort.size()).product();
            let mut holds = *all;
            for number in 0..total {
                let mut left = number;
                for sort in sorts {
                    places.push(sort.value(left % sort.size()));
                    left /= sort.size();
                }
                let value = eval(body, constants, places, frame);
                places.truncate(top);
                let Some(Value::Bool(value)) = value else { return None };
                if value != *all {
                    holds = value;
                    break;
                }
            }
            Some(Value::Bool(holds))
        }
        Term::Call(body, arguments) => {
            let top = places.len();
            let mut new = Vec::with_capacity(arguments.len());
            for argument in arguments {
                new.push(eval(argument, constants, places, frame)?);
            }
            places.extend(new);
            let value = eval(body, constants, places, top);
            places.truncate(top);
            value
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_by_hand() {
        // Two Booleans of which one holds at least: 3 of 4; with one of them false: 1.
        let text = "(set-logic QF_UF)(declare-fun a () Bool)(declare-const |b| Bool)(assert (or a b))(check-sat)(push 1)\
                    (assert (not b))(check-sat)(assert (let ((a b) (b a)) (and a (not b))))(check-sat)(pop 1)(check-sat)";
        assert_eq!(models(text), Ok(vec![3, 1, 0, 3]));
        let text = "(declare-fun x () (_ BitVec 3))(define-fun f ((y (_ BitVec 3)) (z (_ BitVec 3))) Bool (bvult y z))\
                    (assert (f #b101 x))(assert (exists ((y (_ BitVec 3))) (= x (bvadd y y))))(check-sat)";
        assert_eq!(models(text), Ok(vec![1]));
        // Of the four finite values of this sort on either side, only zero and -zero are equal and not the same.
        let text = "(declare-fun x () (_ FloatingPoint 2 2))(declare-fun y () (_ FloatingPoint 2 2))\
                    (assert (fp.eq x y))(assert (distinct x y))(check-sat)";
        assert_eq!(models(text), Ok(vec![2]));
    }

    #[test]
    fn what_is_not_tried() {
        for text in [
            "(declare-fun x () Int)",
            "(declare-fun f (Bool) Bool)",
            "(declare-fun x () (_ BitVec 40))",
            "(assert (g true))",
            "(check-sat",
            "(check-sat))",
            "(assert |a)",
            "(pop 1)",
            "(assert #b1)(check-sat)",
        ] {
            assert!(models(text).is_err(), "{text}");
        }
        assert!(models(&"(".repeat(1000)).is_err());
    }
}
