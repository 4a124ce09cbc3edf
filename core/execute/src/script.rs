//! Dialogues with a program: what is sent, what is waited for, and how long each step took.

use serde::{Deserialize, Serialize};

/// A dialogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A step of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Write these bytes to the program's standard input.
    Send(Vec<u8>),
}

/// What was seen of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    /// The step's name.
    pub name: String,
}
