//! What an edition may choose.

use serde::{Deserialize, Serialize};

/// What an edition may choose. The defaults are the rules of 2012 (§3.3, §5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Parameters {
    /// What a response is.
    pub responses: Responses,
    /// What a wrong answer does.
    pub after_wrong: After,
    /// What the answer unknown does.
    pub after_unknown: AfterUnknown,
    /// What an erroneous response does.
    pub after_error: After,
    /// What is done at a check whose right answer is not known.
    pub unknown_status: UnknownStatus,
    /// Whether `unsupported` is a response like `success`.
    pub unsupported: Permission,
    /// What output on standard error does.
    pub error_channel: ErrorChannel,
    /// How long a solver may go on after the last command: a number with `ms` or `s`.
    pub patience: String,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            responses: Responses::Line,
            after_wrong: After::Stop,
            after_unknown: AfterUnknown::Stop,
            after_error: After::Stop,
            unknown_status: UnknownStatus::Ignore,
            unsupported: Permission::Refuse,
            error_channel: ErrorChannel::Ignore,
            patience: "1 s".into(),
        }
    }
}

impl Parameters {
    /// The patience in nanoseconds; none if it is no such time.
    pub fn patience_ns(&self) -> Option<u64> {
        let text = self.patience.trim();
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let unit: u64 = match unit.trim() {
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(unit).filter(|ns| *ns < u64::MAX / 4)
    }
}

/// What a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Responses {
    /// A line with something in it.
    Line,
    /// An atom or a balanced list.
    Expression,
}

/// Whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// It ends.
    Stop,
    /// It goes on.
    Continue,
}

/// Whether the run goes on after the answer unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterUnknown {
    /// It ends.
    Stop,
    /// It goes on.
    Continue,
    /// It goes on, and ends one check earlier for every such answer.
    Shorten,
}

/// What is done at a check whose right answer is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownStatus {
    /// The run ends before it.
    Stop,
    /// Its answer is neither right nor wrong.
    Ignore,
    /// Its answer is right, if it is sat or unsat.
    Count,
}

/// Whether something is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It is.
    Accept,
    /// It is not.
    Refuse,
}

/// What output on standard error does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorChannel {
    /// Nothing.
    Ignore,
    /// It is remarked.
    Remark,
    /// No answer of the run counts.
    Void,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patience_has_a_unit() {
        let ns = |text: &str| Parameters { patience: text.into(), ..Parameters::default() }.patience_ns();
        assert_eq!(ns("1 s"), Some(1_000_000_000));
        assert_eq!(ns("250ms"), Some(250_000_000));
        for odd in ["", "1", "s", "-1 s", "1.5 s", "1 min", "99999999999 s", "99999999999999999999 s"] {
            assert_eq!(ns(odd), None, "{odd}");
        }
    }
}
