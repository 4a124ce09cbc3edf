//! AIGER circuits, ASCII (`aag`) and binary (`aig`), in the format of 2007-10-12, which the AIG track of 2008 made
//! mandatory.
//!
//! A literal is twice a variable plus one if it is negated; 0 is false and 1 is true. Later headers (AIGER 1.9, with
//! bad-state and other properties) are refused. Reading allocates for what the file holds, never for what its header
//! promises; all passes are loops.

use std::collections::HashSet;

use crate::input::{Bytes, InputError};

/// The largest variable: its literals fit 32 bits, and it fits a signed literal of a `v` line.
pub const MAX_VARIABLE: u32 = (1 << 30) - 1;

/// A literal of a circuit's own numbering: twice the node plus the sign. Node 0 is the constant false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Literal(u32);

impl Literal {
    fn node(self) -> usize {
        (self.0 / 2) as usize
    }

    fn negated(self) -> bool {
        self.0 % 2 == 1
    }
}

/// A circuit. Its nodes are numbered anew: the constant, the inputs, the latches, then the gates, each after what it
/// depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// The largest variable of the file.
    pub maximum: u32,
    /// The inputs' variables in the file.
    pub inputs: Vec<u32>,
    /// The latches' variables in the file and next states.
    pub latches: Vec<(u32, Literal)>,
    /// The outputs.
    pub outputs: Vec<Literal>,
    gates: Vec<Gate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gate {
    variable: u32,
    left: Literal,
    right: Literal,
}

/// A value that may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// False.
    Zero,
    /// True.
    One,
    /// Not determined.
    Open,
}

impl Value {
    fn not(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Zero,
            Self::Open => Self::Open,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Zero, _) | (_, Self::Zero) => Self::Zero,
            (Self::One, Self::One) => Self::One,
            _ => Self::Open,
        }
    }
}

/// The values of all nodes.
#[derive(Debug, Clone)]
pub struct Values(Vec<Value>);

impl Values {
    /// The value of a literal.
    pub fn of(&self, literal: Literal) -> Value {
        let value = self.0[literal.node()];
        if literal.negated() { value.not() } else { value }
    }
}

impl Circuit {
    /// Whether it is a satisfiability problem: no latch and exactly one output. If not, the text says why.
    ///
    /// # Errors
    /// If it is none.
    pub fn problem(&self) -> Result<(), String> {
        match (self.latches.len(), self.outputs.len()) {
            (0, 1) => Ok(()),
            (0, outputs) => Err(format!("the circuit has {outputs} outputs, and a satisfiability problem has one")),
            (latches, _) => Err(format!("the circuit has {latches} latches, and a satisfiability problem has none")),
        }
    }

    /// Sets every latch to its initial value 0, which makes the first time frame a combinational circuit.
    #[must_use]
    pub fn first_frame(&self) -> Self {
        let (inputs, latches) = (self.inputs.len() as u32, self.latches.len() as u32);
        let rename = |literal: Literal| {
            let (node, sign) = (literal.0 / 2, literal.0 % 2);
            let node = match node {
                n if n <= inputs => n,
                n if n <= inputs + latches => 0,
                n => n - latches,
            };
            Literal(node * 2 + sign)
        };
        Self {
            maximum: self.maximum,
            inputs: self.inputs.clone(),
            latches: Vec::new(),
            outputs: self.outputs.iter().map(|o| rename(*o)).collect(),
            gates: self.gates.iter().map(|g| Gate { left: rename(g.left), right: rename(g.right), ..*g }).collect(),
        }
    }

    /// The values that follow from the inputs' values, given in their order; missing ones and latches are open.
    pub fn evaluate(&self, inputs: &[Value]) -> Values {
        let mut values = Values(Vec::with_capacity(1 + self.inputs.len() + self.latches.len() + self.gates.len()));
        values.0.push(Value::Zero);
        values.0.extend((0..self.inputs.len()).map(|n| inputs.get(n).copied().unwrap_or(Value::Open)));
        values.0.extend(self.latches.iter().map(|_| Value::Open));
        for gate in &self.gates {
            let value = values.of(gate.left).and(values.of(gate.right));
            values.0.push(value);
        }
        values
    }

    /// The gates' variables in the file with their values.
    pub fn gates<'a>(&'a self, values: &'a Values) -> impl Iterator<Item = (u32, Value)> + 'a {
        let first = 1 + self.inputs.len() + self.latches.len();
        self.gates.iter().zip(&values.0[first..]).map(|(gate, value)| (gate.variable, *value))
    }

    /// The number of gates.
    pub fn size(&self) -> usize {
        self.gates.len()
    }

    /// The circuit in the ASCII format, numbered by its own nodes.
    pub fn to_ascii(&self) -> String {
        use std::fmt::Write as _;
        let (i, l, a) = (self.inputs.len(), self.latches.len(), self.gates.len());
        let mut text = format!("aag {} {i} {l} {} {a}\n", i + l + a, self.outputs.len());
        // Writing to a string cannot fail.
        for n in 1..=i {
            let _ = writeln!(text, "{}", 2 * n);
        }
        for (n, (_, next)) in self.latches.iter().enumerate() {
            let _ = writeln!(text, "{} {}", 2 * (1 + i + n), next.0);
        }
        for output in &self.outputs {
            let _ = writeln!(text, "{}", output.0);
        }
        for (n, gate) in self.gates.iter().enumerate() {
            let _ = writeln!(text, "{} {} {}", 2 * (1 + i + l + n), gate.left.0, gate.right.0);
        }
        text
    }

    /// The circuit in the binary format, numbered by its own nodes.
    pub fn to_binary(&self) -> Vec<u8> {
        let (i, l, a) = (self.inputs.len(), self.latches.len(), self.gates.len());
        let mut out = format!("aig {} {i} {l} {} {a}\n", i + l + a, self.outputs.len()).into_bytes();
        for literal in self.latches.iter().map(|(_, next)| next).chain(&self.outputs) {
            out.extend(format!("{}\n", literal.0).into_bytes());
        }
        for (n, gate) in self.gates.iter().enumerate() {
            let lhs = 2 * (1 + i + l + n) as u32;
            let (high, low) = (gate.left.0.max(gate.right.0), gate.left.0.min(gate.right.0));
            for mut delta in [lhs - high, high - low] {
                while delta >= 0x80 {
                    out.push((delta & 0x7f) as u8 | 0x80);
                    delta >>= 7;
                }
                out.push(delta as u8);
            }
        }
        out
    }
}

/// The numbers of the header.
#[derive(Debug, Clone, Copy)]
struct Header {
    binary: bool,
    maximum: u32,
    inputs: u32,
    latches: u32,
    outputs: u32,
    gates: u32,
}

/// Reads a circuit.
///
/// # Errors
/// If the file is not of the format, with line and column; if it cannot be read; if the host asked to stop.
pub fn read(bytes: &mut Bytes<'_>) -> Result<Circuit, InputError> {
    let header = header(bytes)?;
    let circuit = if header.binary { binary(bytes, header)? } else { ascii(bytes, header)? };
    symbols(bytes, header)?;
    Ok(circuit)
}

fn header(bytes: &mut Bytes<'_>) -> Result<Header, InputError> {
    let mut binary = false;
    for (n, allowed) in [&b"a"[..], b"ai", b"g"].into_iter().enumerate() {
        let Some(letter) = bytes.peek()?.filter(|b| allowed.contains(b)) else {
            return Err(bytes.expected("`aag` or `aig`"));
        };
        bytes.skip();
        binary |= n == 1 && letter == b'i';
    }
    let mut numbers = [0_u32; 5];
    for (number, what) in numbers.iter_mut().zip([
        "the largest variable M",
        "the number of inputs I",
        "the number of latches L",
        "the number of outputs O",
        "the number of gates A",
    ]) {
        space(bytes)?;
        *number = unsigned(bytes, MAX_VARIABLE, what)?;
    }
    if bytes.peek()? == Some(b' ') {
        return Err(bytes.wrong("the header has more than five numbers, which the format of 2007 does not have"));
    }
    line_end(bytes)?;
    let [maximum, inputs, latches, outputs, gates] = numbers;
    let sum = u64::from(inputs) + u64::from(latches) + u64::from(gates);
    if binary && u64::from(maximum) != sum {
        return Err(bytes.wrong(format!("M is {maximum}, and in the binary format it is I + L + A = {sum}")));
    }
    if u64::from(maximum) < sum {
        return Err(bytes.wrong(format!("M is {maximum}, less than I + L + A = {sum}")));
    }
    Ok(Header { binary, maximum, inputs, latches, outputs, gates })
}

fn space(bytes: &mut Bytes<'_>) -> Result<(), InputError> {
    if bytes.peek()? != Some(b' ') {
        return Err(bytes.expected("a space"));
    }
    bytes.skip();
    Ok(())
}

fn line_end(bytes: &mut Bytes<'_>) -> Result<(), InputError> {
    if bytes.peek()? != Some(b'\n') {
        return Err(bytes.expected("a line end"));
    }
    bytes.skip();
    Ok(())
}

/// A number without leading zeros, at most `most`.
fn unsigned(bytes: &mut Bytes<'_>, most: u32, what: &str) -> Result<u32, InputError> {
    let Some(first) = bytes.peek()?.filter(u8::is_ascii_digit) else {
        return Err(bytes.expected(what));
    };
    bytes.skip();
    let mut value = u64::from(first - b'0');
    while let Some(digit) = bytes.peek()?.filter(u8::is_ascii_digit) {
        if value == 0 {
            return Err(bytes.wrong(format!("{what} has a leading zero")));
        }
        value = value * 10 + u64::from(digit - b'0');
        if value > u64::from(most) {
            return Err(bytes.wrong(format!("{what} is more than {most}")));
        }
        bytes.skip();
    }
    if value > u64::from(most) {
        return Err(bytes.wrong(format!("{what} is more than {most}")));
    }
    Ok(value as u32)
}

/// A literal of the file, at most that of the largest variable.
fn literal(bytes: &mut Bytes<'_>, header: Header, what: &str) -> Result<u32, InputError> {
    unsigned(bytes, 2 * header.maximum + 1, what)
}

/// The left-hand side of a definition: even and not constant.
fn defined(bytes: &mut Bytes<'_>, header: Header, what: &str) -> Result<u32, InputError> {
    let value = literal(bytes, header, what)?;
    if value < 2 || value % 2 == 1 {
        return Err(bytes.wrong(format!("{what} is {value}, and a definition has an even literal that is no constant")));
    }
    Ok(value / 2)
}

fn binary(bytes: &mut Bytes<'_>, header: Header) -> Result<Circuit, InputError> {
    let mut latches = Vec::new();
    for n in 0..header.latches {
        let next = literal(bytes, header, "a latch's next state")?;
        line_end(bytes)?;
        latches.push((header.inputs + 1 + n, Literal(next)));
    }
    let mut outputs = Vec::new();
    for _ in 0..header.outputs {
        outputs.push(Literal(literal(bytes, header, "an output")?));
        line_end(bytes)?;
    }
    let mut gates = Vec::new();
    for n in 0..header.gates {
        let variable = header.inputs + header.latches + 1 + n;
        let left = 2 * variable;
        let first = delta(bytes)?;
        if first == 0 || first > left {
            return Err(bytes.wrong(format!("the gate {variable} has the first difference {first}, not 1 to {left}")));
        }
        let high = left - first;
        let second = delta(bytes)?;
        if second > high {
            return Err(
                bytes.wrong(format!("the gate {variable} has the second difference {second}, more than {high}"))
            );
        }
        gates.push(Gate { variable, left: Literal(high), right: Literal(high - second) });
    }
    // In the binary format the numbering of the file is this one.
    Ok(Circuit { maximum: header.maximum, inputs: (1..=header.inputs).collect(), latches, outputs, gates })
}

/// A number in groups of seven bits, the least first, the top bit set in all but the last.
fn delta(bytes: &mut Bytes<'_>) -> Result<u32, InputError> {
    let mut value = 0_u32;
    for shift in (0..35).step_by(7) {
        let Some(byte) = bytes.next()? else {
            return Err(bytes.wrong("the file ends within the gates"));
        };
        let part = u32::from(byte & 0x7f);
        if shift == 28 && part > 0xf {
            break;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(bytes.wrong("a difference of two literals does not fit 32 bits"))
}

/// What defines a variable of an ASCII file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    variable: u32,
    /// Position among inputs, then latches, then gates.
    position: u32,
}

fn ascii(bytes: &mut Bytes<'_>, header: Header) -> Result<Circuit, InputError> {
    let mut definitions = Vec::new();
    let mut inputs = Vec::new();
    for _ in 0..header.inputs {
        let variable = defined(bytes, header, "an input")?;
        line_end(bytes)?;
        definitions.push(Definition { variable, position: definitions.len() as u32 });
        inputs.push(variable);
    }
    let mut latches = Vec::new();
    for _ in 0..header.latches {
        let variable = defined(bytes, header, "a latch")?;
        space(bytes)?;
        let next = literal(bytes, header, "a latch's next state")?;
        line_end(bytes)?;
        definitions.push(Definition { variable, position: definitions.len() as u32 });
        latches.push((variable, next));
    }
    let mut outputs = Vec::new();
    for _ in 0..header.outputs {
        outputs.push(literal(bytes, header, "an output")?);
        line_end(bytes)?;
    }
    let mut gates = Vec::new();
    for _ in 0..header.gates {
        let variable = defined(bytes, header, "a gate")?;
        space(bytes)?;
        let left = literal(bytes, header, "a gate's first operand")?;
        space(bytes)?;
        let right = literal(bytes, header, "a gate's second operand")?;
        line_end(bytes)?;
        definitions.push(Definition { variable, position: definitions.len() as u32 });
        gates.push((variable, left, right));
    }
    definitions.sort_unstable();
    if let Some(pair) = definitions.windows(2).find(|pair| pair[0].variable == pair[1].variable) {
        return Err(bytes.wrong(format!("the variable {} is defined twice", pair[0].variable)));
    }
    // The node of a literal before the gates are ordered: the constant, then definitions by position.
    let resolve = |bytes: &Bytes<'_>, literal: u32| -> Result<u32, InputError> {
        if literal < 2 {
            return Ok(literal);
        }
        match definitions.binary_search_by_key(&(literal / 2), |d| d.variable) {
            Ok(n) => Ok((definitions[n].position + 1) * 2 + literal % 2),
            Err(_) => Err(bytes.wrong(format!("the literal {literal} is used but not defined"))),
        }
    };
    let first = 1 + inputs.len() as u32 + latches.len() as u32;
    let mut operands = Vec::with_capacity(gates.len());
    for (_, left, right) in &gates {
        operands.push((resolve(bytes, *left)?, resolve(bytes, *right)?));
    }
    let order = order(&operands, first)
        .map_err(|gate| bytes.wrong(format!("the gate with variable {} depends on itself", gates[gate as usize].0)))?;
    let mut place = vec![0_u32; gates.len()];
    for (at, gate) in order.iter().enumerate() {
        place[*gate as usize] = at as u32;
    }
    let rename = |literal: u32| {
        let node = literal / 2;
        let node = if node >= first { first + place[(node - first) as usize] } else { node };
        Literal(node * 2 + literal % 2)
    };
    Ok(Circuit {
        maximum: header.maximum,
        inputs,
        latches: latches
            .into_iter()
            .map(|(variable, next)| Ok((variable, rename(resolve(bytes, next)?))))
            .collect::<Result<_, InputError>>()?,
        outputs: outputs.into_iter().map(|o| Ok(rename(resolve(bytes, o)?))).collect::<Result<_, InputError>>()?,
        gates: order
            .iter()
            .map(|gate| {
                let (left, right) = operands[*gate as usize];
                Gate { variable: gates[*gate as usize].0, left: rename(left), right: rename(right) }
            })
            .collect(),
    })
}

/// The gates, each after those it depends on. `first` is the node of gate 0. The error is a gate on a cycle.
fn order(operands: &[(u32, u32)], first: u32) -> Result<Vec<u32>, u32> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; operands.len()];
    let mut order = Vec::with_capacity(operands.len());
    let mut stack = Vec::new();
    for root in 0..operands.len() as u32 {
        stack.push(root);
        while let Some(&gate) = stack.last() {
            match state[gate as usize] {
                NEW => {
                    state[gate as usize] = OPEN;
                    let (left, right) = operands[gate as usize];
                    for literal in [left, right] {
                        let Some(below) = (literal / 2).checked_sub(first) else { continue };
                        match state[below as usize] {
                            NEW => stack.push(below),
                            OPEN => return Err(below),
                            _ => {}
                        }
                    }
                }
                OPEN => {
                    state[gate as usize] = DONE;
                    order.push(gate);
                    stack.pop();
                }
                _ => {
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

/// The symbol table and the comments, which end the file.
fn symbols(bytes: &mut Bytes<'_>, header: Header) -> Result<(), InputError> {
    let mut seen = HashSet::new();
    loop {
        let kind = match bytes.peek()? {
            None => return Ok(()),
            Some(kind @ (b'i' | b'l' | b'o')) => kind,
            Some(b'c') => {
                bytes.skip();
                // What follows is comment to the end of the file.
                return match bytes.peek()? {
                    None | Some(b'\n') => Ok(()),
                    _ => Err(bytes.expected("a line end after the `c` that begins the comments")),
                };
            }
            _ => return Err(bytes.expected("a symbol, a comment section or the end of the file")),
        };
        bytes.skip();
        let (count, what) = match kind {
            b'i' => (header.inputs, "inputs"),
            b'l' => (header.latches, "latches"),
            _ => (header.outputs, "outputs"),
        };
        let position = unsigned(bytes, u32::MAX, "a position")?;
        if position >= count {
            return Err(bytes.wrong(format!("there is a symbol for position {position} of {count} {what}")));
        }
        if !seen.insert((kind, position)) {
            return Err(bytes.wrong(format!("there are two symbols for position {position} of the {what}")));
        }
        space(bytes)?;
        bytes.skip_line()?;
        line_end(bytes)?;
    }
}
