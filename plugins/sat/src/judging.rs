//! What a run of the SAT track is worth: answer, soundness, certificate, condition and blame.

use agon_judging::{Answer, Blame, Condition, Run, Soundness, ending, one_status, soundness};
use serde::{Deserialize, Serialize};

use crate::aiger;
use crate::answer::{Claim, Reading, Spaces, Span};
use crate::checker::Outcome;
use crate::input::{Bytes, InputError};
use crate::model::{Allowed, Check, check_circuit, check_formula};

/// What an edition may choose. The defaults are the rules of SAT-Race 2008 for its CNF tracks: solver requirements of
/// the SAT Competitions, and the exit codes of its qualification rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Parameters {
    /// What a benchmark is.
    pub input: Input,
    /// Whether benchmarks are read before they are run.
    pub benchmarks: Benchmarks,
    /// What makes an answer.
    pub decides: Decides,
    /// Whether SATISFIABLE needs a model.
    pub model: Certificate,
    /// Whether UNSATISFIABLE needs a proof.
    pub proof: Certificate,
    /// The name of the edition's limits for the tool that checks proofs.
    pub proof_limits: String,
    /// The file in the run's folder that holds the proof.
    pub proof_file: String,
    /// How a solver learns that file's name.
    pub proof_argument: ProofArgument,
    /// Whether variables may be left out of a model.
    pub partial_models: Permission,
    /// Whether a literal may be given twice.
    pub repeated_literals: Permission,
    /// Whether a model may give variables that the benchmark does not have.
    pub foreign_variables: Permission,
    /// What latches of a circuit are.
    pub latches: Latches,
    /// White space within the lines that count.
    pub spaces: Spaces,
    /// What the answer of a run that reached a limit of time is worth.
    pub after_time_limit: Weight,
    /// What the answer of a run that reached its memory limit is worth.
    pub after_memory_limit: Weight,
    /// What an answer before a crash is worth.
    pub after_crash: Weight,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            input: Input::Detect,
            benchmarks: Benchmarks::Check,
            decides: Decides::Both,
            model: Certificate::Required,
            proof: Certificate::Ignored,
            proof_limits: "proof-checker".into(),
            proof_file: "proof".into(),
            proof_argument: ProofArgument::Append,
            partial_models: Permission::Allow,
            repeated_literals: Permission::Refuse,
            foreign_variables: Permission::Refuse,
            latches: Latches::Refuse,
            spaces: Spaces::Strict,
            after_time_limit: Weight::Ignore,
            after_memory_limit: Weight::Ignore,
            after_crash: Weight::Ignore,
        }
    }
}

impl Parameters {
    fn allowed(&self) -> Allowed {
        Allowed {
            partial: self.partial_models == Permission::Allow,
            repeated: self.repeated_literals == Permission::Allow,
            foreign: self.foreign_variables == Permission::Allow,
        }
    }
}

/// What a benchmark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// A DIMACS formula.
    Cnf,
    /// An AIGER circuit with one output, to be set to true.
    Aiger,
    /// A circuit if the file starts with `aag ` or `aig `, otherwise a formula.
    Detect,
}

/// Whether benchmarks are read before they are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Benchmarks {
    /// A faulty one is refused.
    Check,
    /// They are run as they are; a faulty one is noticed when a model is checked.
    Trust,
}

/// How a solver learns the name of the proof's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofArgument {
    /// It is its last argument.
    Append,
    /// Its command says it already.
    None,
}

/// What makes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decides {
    /// The `s` line.
    Line,
    /// The exit code: 10 for satisfiable, 20 for unsatisfiable.
    ExitCode,
    /// Both, and they must say the same.
    Both,
    /// The `s` line, or the exit code if there is none; they must not contradict each other.
    Either,
}

/// Whether a certificate is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificate {
    /// An answer without one does not count.
    Required,
    /// It is checked if it is there.
    Optional,
    /// It is not looked at.
    Ignored,
}

/// Whether something may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It may.
    Allow,
    /// It may not.
    Refuse,
}

/// What latches of a circuit are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Latches {
    /// A fault of the benchmark.
    Refuse,
    /// Constants: their initial value 0, as in the first time frame.
    Zero,
}

/// Whether something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// It counts.
    Count,
    /// It is ignored.
    Ignore,
}

/// How a certificate fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// It proves the answer.
    Verified,
    /// It does not.
    Refuted,
    /// There is none, or it was not checked.
    None,
}

impl Checked {
    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Refuted => "refuted",
            Self::None => "none",
        }
    }
}

/// Why the answer is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It was given.
    Given,
    /// There was no answer.
    NoAnswer,
    /// The `s` line is none of the three.
    InvalidLine,
    /// There were several `s` lines.
    SeveralLines,
    /// Line and exit code do not say the same.
    ExitCode,
    /// The model is missing or no assignment.
    NoModel,
    /// The proof is missing or was not verified.
    NoProof,
    /// A limit of time was reached.
    TimeLimit,
    /// The memory limit was reached.
    MemoryLimit,
    /// The run crashed.
    Crash,
    /// The benchmark is not well-formed.
    Benchmark,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Given,
        Self::NoAnswer,
        Self::InvalidLine,
        Self::SeveralLines,
        Self::ExitCode,
        Self::NoModel,
        Self::NoProof,
        Self::TimeLimit,
        Self::MemoryLimit,
        Self::Crash,
        Self::Benchmark,
    ];

    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::NoAnswer => "no-answer",
            Self::InvalidLine => "invalid-line",
            Self::SeveralLines => "several-lines",
            Self::ExitCode => "exit-code",
            Self::NoModel => "no-model",
            Self::NoProof => "no-proof",
            Self::TimeLimit => "time-limit",
            Self::MemoryLimit => "memory-limit",
            Self::Crash => "crash",
            Self::Benchmark => "benchmark",
        }
    }
}

/// A place in standard output and what it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The place.
    pub at: Span,
    /// What it shows, as one sentence.
    pub note: String,
}

/// The judgement of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The answer that counts.
    pub answer: Answer,
    /// What the run claimed, whether it counts or not.
    pub claim: Answer,
    /// The benchmark's status.
    pub status: Answer,
    /// How the answer stands to what is known: the status, or a verified certificate.
    pub soundness: Soundness,
    /// How the certificate fared.
    pub certificate: Checked,
    /// How the run ended.
    pub condition: Condition,
    /// Whom it is to be laid to if something is wrong.
    pub blame: Blame,
    /// Why the answer is what it is.
    pub reason: Reason,
    /// Whether a proof has to be checked before the verdict stands.
    pub wants_proof: bool,
    /// The places that decided.
    pub evidence: Vec<Evidence>,
    /// Remarks, as sentences.
    pub remarks: Vec<String>,
}

/// The host asked to stop, or the benchmark could not be read.
#[derive(Debug)]
pub enum Unjudged {
    /// The host asked to stop.
    Cancelled,
    /// The benchmark could not be read.
    Io(std::io::Error),
}

/// Whether a benchmark is one of the track; done once, before it is run.
///
/// # Errors
/// If it is not well-formed, or no satisfiability problem; if it cannot be read; if the host asked to stop.
pub fn check_benchmark(bytes: Bytes<'_>, parameters: &Parameters) -> Result<(), InputError> {
    match check(bytes, &[], parameters)? {
        Ok(_) => Ok(()),
        Err(why) => Err(InputError::Malformed(crate::input::Malformed { line: 0, column: 0, what: why })),
    }
}

/// Checks a model. The inner error says why the benchmark is no problem of this track.
fn check(mut bytes: Bytes<'_>, literals: &[i32], parameters: &Parameters) -> Result<Result<Check, String>, InputError> {
    let circuit = match parameters.input {
        Input::Cnf => false,
        Input::Aiger => true,
        // No line of a formula starts so.
        Input::Detect => bytes.peek()? == Some(b'a'),
    };
    if !circuit {
        return check_formula(&mut bytes, literals, parameters.allowed()).map(Ok);
    }
    let mut circuit = aiger::read(&mut bytes)?;
    if parameters.latches == Latches::Zero {
        circuit = circuit.first_frame();
    }
    Ok(circuit.problem().map(|()| check_circuit(&circuit, literals, parameters.allowed())))
}

/// What a run claims: by its line and exit code, before certificate and limits are looked at.
fn claim(reading: &Reading, exit: Option<i32>, decides: Decides) -> Result<Answer, (Reason, &'static str)> {
    let code = match exit {
        Some(10) => Answer::Sat,
        Some(20) => Answer::Unsat,
        _ => Answer::Unknown,
    };
    if decides == Decides::ExitCode {
        return if code == Answer::Unknown {
            Err((Reason::NoAnswer, "The exit code is neither 10 nor 20."))
        } else {
            Ok(code)
        };
    }
    let line = match reading.claim {
        Claim::One(answer) => Some(answer),
        Claim::None => None,
        Claim::Invalid => return Err((Reason::InvalidLine, "The `s` line is none of the three that there may be.")),
        Claim::Several => return Err((Reason::SeveralLines, "There is more than one `s` line.")),
    };
    match (decides, line) {
        (Decides::Both, Some(line)) if line != code => {
            Err((Reason::ExitCode, "The `s` line and the exit code do not say the same."))
        }
        (Decides::Both, None) if code != Answer::Unknown => {
            Err((Reason::ExitCode, "The exit code claims an answer, and there is no `s` line."))
        }
        (Decides::Either, Some(line)) if line != code && line != Answer::Unknown && code != Answer::Unknown => {
            Err((Reason::ExitCode, "The `s` line and the exit code contradict each other."))
        }
        (Decides::Either, None) if code != Answer::Unknown => Ok(code),
        (_, Some(line)) => Ok(line),
        (_, None) => Err((Reason::NoAnswer, "There is no `s` line.")),
    }
}

/// Judges a run. `benchmark` opens the benchmark, and is called only if there is a model to check.
///
/// # Errors
/// If the host asked to stop, or the benchmark could not be read; then nothing is known of the run.
pub fn judge<'a, S: AsRef<str>>(
    run: &Run,
    reading: &Reading,
    benchmark: impl FnOnce() -> Result<Bytes<'a>, InputError>,
    statuses: &[S],
    parameters: &Parameters,
) -> Result<Verdict, Unjudged> {
    let end = ending(run);
    let (status, remark) = one_status(statuses);
    let claimed = claim(reading, run.exit, parameters.decides);
    let mut v = Verdict {
        answer: Answer::Unknown,
        claim: claimed.unwrap_or(Answer::Unknown),
        status,
        soundness: Soundness::NotApplicable,
        certificate: Checked::None,
        condition: end.condition,
        blame: if end.condition == Condition::Finished { Blame::None } else { Blame::Entrant },
        reason: Reason::NoAnswer,
        wants_proof: false,
        evidence: Vec::new(),
        remarks: remark.into_iter().collect(),
    };
    v.show(reading.claim_at, "The `s` line.");
    v.show(reading.again_at, "A further `s` line.");
    if v.condition != Condition::Finished {
        v.remarks.push(end.why.clone());
    }

    // After a limit or a crash there is no exit code to compare with: that the run ended so is the reason then.
    if let Some(reason) = voided(v.condition, parameters) {
        if let (Claim::One(answer @ (Answer::Sat | Answer::Unsat)), _)
        | (_, Ok(answer @ (Answer::Sat | Answer::Unsat))) = (reading.claim, claimed)
        {
            v.claim = answer;
            v.reason = reason;
            v.remarks.push(format!("The answer {} does not count.", answer.word()));
        }
        return Ok(v);
    }
    let answer = match claimed {
        Ok(answer) => answer,
        Err((reason, why)) => {
            v.reason = reason;
            v.remarks.push(why.to_string());
            if v.condition == Condition::Finished {
                let aborted = run.exit.is_some_and(|code| ![0, 10, 20].contains(&code));
                if reason == Reason::NoAnswer && aborted {
                    v.remarks.push(end.why);
                    v.give(Condition::Crashed);
                } else if reason != Reason::NoAnswer || reading.others > 0 {
                    v.give(Condition::MalformedOutput);
                }
            }
            return Ok(v);
        }
    };
    v.answer = answer;
    v.reason = Reason::Given;
    v.soundness = soundness(answer, status);
    if answer != Answer::Sat && reading.values_at.is_some() {
        v.remarks.push("There are `v` lines without the answer SATISFIABLE; they are not looked at.".into());
    }
    if reading.others > 0 {
        v.show(reading.other_at, "This line starts with neither `c `, `s ` nor `v `.");
    }
    match answer {
        Answer::Unsat => v.wants_proof = parameters.proof != Certificate::Ignored,
        Answer::Sat if parameters.model != Certificate::Ignored => {
            judge_model(&mut v, reading, benchmark, parameters)?;
        }
        _ => {}
    }
    Ok(v)
}

/// Why an answer is void under this condition.
fn voided(condition: Condition, parameters: &Parameters) -> Option<Reason> {
    let (weight, reason) = match condition {
        Condition::CpuLimit | Condition::WallLimit => (parameters.after_time_limit, Reason::TimeLimit),
        Condition::MemoryLimit => (parameters.after_memory_limit, Reason::MemoryLimit),
        Condition::Crashed => (parameters.after_crash, Reason::Crash),
        _ => return None,
    };
    (weight == Weight::Ignore).then_some(reason)
}

fn judge_model<'a>(
    v: &mut Verdict,
    reading: &Reading,
    benchmark: impl FnOnce() -> Result<Bytes<'a>, InputError>,
    parameters: &Parameters,
) -> Result<(), Unjudged> {
    v.show(reading.values_at, "The model begins.");
    v.show(reading.closed_at, "The model ends.");
    let Some(literals) = reading.model() else {
        if let Some(fault) = &reading.fault {
            v.show(Some(fault.at), &fault.what);
        }
        v.remarks.push(match (&reading.fault, reading.values_at) {
            (Some(fault), _) => format!("The model is not well-formed. {}", fault.what),
            (None, Some(_)) => "The `v` lines do not end with 0.".to_string(),
            (None, None) => "There is no `v` line.".to_string(),
        });
        v.lacks_model(parameters);
        return Ok(());
    };
    let checked = benchmark().and_then(|bytes| check(bytes, literals, parameters));
    let fault = match checked {
        Ok(Ok(Check::Verified)) => {
            v.certificate = Checked::Verified;
            settle(v);
            return Ok(());
        }
        Ok(Ok(Check::Refuted(why))) => {
            v.certificate = Checked::Refuted;
            v.blame = Blame::Entrant;
            v.remarks.push(format!("The model is wrong. {why}"));
            return Ok(());
        }
        Ok(Ok(Check::Improper(why))) => {
            v.remarks.push(format!("The model is no assignment. {why}"));
            v.lacks_model(parameters);
            return Ok(());
        }
        Ok(Ok(Check::Open(why))) => {
            v.remarks.push(format!("The model shows nothing. {why}"));
            v.lacks_model(parameters);
            return Ok(());
        }
        Ok(Err(why)) => format!("The benchmark is no problem of this track: {why}."),
        Err(error @ InputError::Malformed(_)) => format!("The benchmark is not well-formed: {error}."),
        Err(InputError::Cancelled) => return Err(Unjudged::Cancelled),
        Err(InputError::Io(error)) => return Err(Unjudged::Io(error)),
    };
    // Who answers on such a file has read something else than it says: nothing follows for the entrant.
    v.remarks.push(fault);
    v.withdraw(Reason::Benchmark);
    v.condition = Condition::HarnessFault;
    v.blame = Blame::Benchmark;
    Ok(())
}

impl Verdict {
    fn show(&mut self, at: Option<Span>, note: &str) {
        if let Some(at) = at {
            self.evidence.push(Evidence { at, note: note.to_string() });
        }
    }

    /// Lays a condition to the entrant.
    fn give(&mut self, condition: Condition) {
        self.condition = condition;
        self.blame = Blame::Entrant;
    }

    /// The answer does not count.
    fn withdraw(&mut self, reason: Reason) {
        self.answer = Answer::Unknown;
        self.soundness = Soundness::NotApplicable;
        self.reason = reason;
    }

    /// There is no model that could be checked.
    fn lacks_model(&mut self, parameters: &Parameters) {
        if parameters.model == Certificate::Required {
            self.withdraw(Reason::NoModel);
            self.blame = Blame::Entrant;
            if self.condition == Condition::Finished {
                self.condition = Condition::MalformedOutput;
            }
        }
    }
}

/// What a verified certificate means: the answer is right, whatever the benchmark's status says.
fn settle(verdict: &mut Verdict) {
    if verdict.soundness == Soundness::Contradicts {
        verdict.blame = Blame::Benchmark;
        verdict.remarks.push(format!(
            "The certificate is verified, so the benchmark's status {} is wrong: mend it and judge again.",
            verdict.status.word()
        ));
    }
    verdict.soundness = Soundness::Agrees;
}

/// The verdict once the proof was checked, or could not be.
pub fn conclude(mut verdict: Verdict, proof: Option<&Outcome>, parameters: &Parameters) -> Verdict {
    if !verdict.wants_proof {
        return verdict;
    }
    verdict.wants_proof = false;
    let required = parameters.proof == Certificate::Required;
    match proof {
        Some(Outcome::Verified) => {
            verdict.certificate = Checked::Verified;
            settle(&mut verdict);
        }
        Some(Outcome::Refuted) => {
            verdict.certificate = Checked::Refuted;
            verdict.remarks.push("The proof checker refuted the proof.".into());
            verdict.blame = Blame::Entrant;
        }
        missing => {
            verdict.remarks.push(match missing {
                Some(Outcome::None(why)) => why.clone(),
                _ => "No proof was checked.".into(),
            });
            if required {
                verdict.withdraw(Reason::NoProof);
                // What the checker could not do within its limits is not the entrant's fault.
                verdict.blame = if missing.is_some() { Blame::Host } else { Blame::Entrant };
            }
        }
    }
    verdict
}

/// What is shown to a person who asks why, as plain text.
pub fn explain(verdict: &Verdict) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Answer {} ({}; the run claims {}), status {}: {}. Certificate {}, condition {}, blame {}.",
        verdict.answer.word(),
        verdict.reason.word(),
        verdict.claim.word(),
        verdict.status.word(),
        verdict.soundness.word(),
        verdict.certificate.word(),
        verdict.condition.word(),
        verdict.blame.word(),
    );
    for e in &verdict.evidence {
        let _ = writeln!(text, "standard output, line {}, bytes {} to {}: {}", e.at.line, e.at.from, e.at.to, e.note);
    }
    for remark in &verdict.remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}
