//! Whether an assignment satisfies a formula or sets a circuit's output.

use crate::aiger::{Circuit, Value};
use crate::dimacs::{self, Header, Sink};
use crate::input::{Bytes, InputError};

/// How the check of a certificate ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// It proves what was claimed.
    Verified,
    /// It does not. The text says where it fails.
    Refuted(String),
    /// It is not an assignment of this benchmark. The text says why.
    Improper(String),
    /// It leaves open what it should show. The text says how.
    Open(String),
}

/// What an assignment may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// Variables may be left out: a clause then needs a true literal among those given.
    pub partial: bool,
    /// A literal may be given twice.
    pub repeated: bool,
    /// Variables above the header's are passed over.
    pub foreign: bool,
}

/// The literals that are true, one bit each.
struct Assignment {
    bits: Vec<u64>,
}

impl Assignment {
    fn new(variables: u32) -> Self {
        Self { bits: vec![0; (variables as usize + 1).div_ceil(32)] }
    }

    fn place(literal: i32) -> (usize, u32) {
        let variable = literal.unsigned_abs();
        ((variable / 32) as usize, variable % 32 * 2 + u32::from(literal < 0))
    }

    #[inline]
    fn holds(&self, literal: i32) -> bool {
        let (word, bit) = Self::place(literal);
        self.bits[word] >> bit & 1 == 1
    }

    fn set(&mut self, literal: i32) {
        let (word, bit) = Self::place(literal);
        self.bits[word] |= 1 << bit;
    }

    /// Puts the literals in, if they are an assignment of variables up to `variables`.
    fn fill(&mut self, literals: &[i32], variables: u32, allowed: Allowed) -> Result<(), String> {
        let mut set = 0_u64;
        for &literal in literals {
            if literal.unsigned_abs() > variables {
                if allowed.foreign {
                    continue;
                }
                return Err(format!("The literal {literal} is beyond the benchmark's {variables} variables."));
            }
            if self.holds(-literal) {
                return Err(format!("Both {} and {literal} are given.", -literal));
            }
            if self.holds(literal) {
                if allowed.repeated {
                    continue;
                }
                return Err(format!("The literal {literal} is given twice."));
            }
            self.set(literal);
            set += 1;
        }
        if !allowed.partial && set < u64::from(variables) {
            return Err(format!("The model gives {set} of the benchmark's {variables} variables."));
        }
        Ok(())
    }
}

/// How many literals of a clause are shown.
const SHOWN: usize = 8;

struct Checker<'a> {
    literals: &'a [i32],
    allowed: Allowed,
    assignment: Assignment,
    improper: Option<String>,
    satisfied: bool,
    clause: Vec<i32>,
    count: u64,
    /// Number, line, first literals and whether there are more of the first clause that is not satisfied.
    failed: Option<(u64, u64, Vec<i32>)>,
}

impl Sink for Checker<'_> {
    fn header(&mut self, header: Header) {
        self.assignment = Assignment::new(header.variables);
        self.improper = self.assignment.fill(self.literals, header.variables, self.allowed).err();
    }

    #[inline]
    fn literal(&mut self, literal: i32) {
        self.satisfied |= self.assignment.holds(literal);
        if self.clause.len() <= SHOWN {
            self.clause.push(literal);
        }
    }

    #[inline]
    fn end(&mut self, line: u64) {
        self.count += 1;
        if !self.satisfied && self.failed.is_none() {
            self.failed = Some((self.count, line, std::mem::take(&mut self.clause)));
        }
        self.satisfied = false;
        self.clause.clear();
    }
}

/// Checks a model against a formula, which is read as a stream. A clause is satisfied if one of its literals is among
/// those given.
///
/// # Errors
/// If the formula cannot be read; then nothing is known of the model.
pub fn check_formula(formula: &mut Bytes<'_>, literals: &[i32], allowed: Allowed) -> Result<Check, InputError> {
    let mut checker = Checker {
        literals,
        allowed,
        assignment: Assignment::new(0),
        improper: None,
        satisfied: false,
        clause: Vec::new(),
        count: 0,
        failed: None,
    };
    dimacs::read(formula, &mut checker)?;
    Ok(match (checker.improper, checker.failed) {
        (Some(why), _) => Check::Improper(why),
        (None, Some((number, line, literals))) => {
            let mut shown: Vec<String> = literals.iter().take(SHOWN).map(ToString::to_string).collect();
            if literals.len() > SHOWN {
                shown.push("…".into());
            }
            let clause = if shown.is_empty() { "the empty clause".into() } else { shown.join(" ") };
            Check::Refuted(format!("No literal of clause {number} (line {line}: {clause}) is true."))
        }
        (None, None) => Check::Verified,
    })
}

/// Checks an assignment on a circuit: literal `v` or `-v` sets the variable of that number in the file, which is half the
/// AIGER literal. Inputs that are not set stay open; if the output depends on them, they are tried as 0, for one
/// completion that sets the output is enough. Values given to gates must be those that follow.
pub fn check_circuit(circuit: &Circuit, literals: &[i32], allowed: Allowed) -> Check {
    let mut assignment = Assignment::new(circuit.maximum);
    let everything = Allowed { partial: true, ..allowed };
    if let Err(why) = assignment.fill(literals, circuit.maximum, everything) {
        return Check::Improper(why);
    }
    let given = |variable: u32| {
        let literal = variable as i32;
        match (assignment.holds(literal), assignment.holds(-literal)) {
            (true, _) => Value::One,
            (_, true) => Value::Zero,
            _ => Value::Open,
        }
    };
    let mut inputs: Vec<Value> = circuit.inputs.iter().map(|v| given(*v)).collect();
    if !allowed.partial
        && let Some(open) = inputs.iter().position(|v| *v == Value::Open)
    {
        return Check::Improper(format!("The input {} has no value.", circuit.inputs[open]));
    }
    let mut values = circuit.evaluate(&inputs);
    let output = circuit.outputs[0];
    let completed = values.of(output) == Value::Open;
    if completed {
        for value in &mut inputs {
            if *value == Value::Open {
                *value = Value::Zero;
            }
        }
        values = circuit.evaluate(&inputs);
    }
    for (variable, value) in circuit.gates(&values) {
        let said = given(variable);
        if said != Value::Open && value != Value::Open && said != value {
            return Check::Refuted(format!("The gate {variable} has another value than it is given."));
        }
    }
    match (values.of(output), completed) {
        (Value::One, _) => Check::Verified,
        (Value::Zero, false) => Check::Refuted("The output is 0 under this assignment.".into()),
        (Value::Zero, true) => Check::Open("The inputs given leave the output open.".into()),
        (Value::Open, _) => Check::Open("The output depends on a latch.".into()),
    }
}
