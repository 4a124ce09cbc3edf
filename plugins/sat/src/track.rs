//! The track as a plugin: what it declares, and the way from the host's values to a verdict and back.

use std::io;

use agon_judging::{Answer, Run, Soundness, read_through};
use agon_sdk::output::Sink;
use agon_sdk::prelude::*;

use crate::answer::{self, Claim, Reading};
use crate::checker::{Outcome, outcome};
use crate::input::{At, Bytes, InputError};
use crate::judging::{
    self, Benchmarks, Certificate, Checked, Parameters, ProofArgument, Reason, Unjudged, check_benchmark, conclude,
    explain, judge,
};

/// The SAT track.
#[derive(Debug)]
pub struct Sat {
    parameters: Parameters,
}

/// The words for answers and statuses.
const ANSWERS: [&str; 3] = ["sat", "unsat", "unknown"];

/// The role of the tool that checks proofs.
const CHECKER: &str = "proof-checker";

/// The name under which a run's proof is collected.
const PROOF: &str = "proof";

impl Track for Sat {
    const ID: &'static str = "sat";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const VENDOR: &'static str = "Agon";
    type Params = Parameters;

    fn describe() -> Description {
        let defaults = serde_json::to_value(Parameters::default()).unwrap_or_default();
        let choice = |name: &str, words: &[&str], doc: &str| {
            Parameter::words(name, words.iter().copied(), doc).default(defaults[name].clone())
        };
        let text = |name: &str, doc: &str| Parameter::text(name, doc).default(defaults[name].clone());
        let certificates = &["required", "optional", "ignored"];
        let permissions = &["allow", "refuse"];
        let weights = &["count", "ignore"];
        Description::new("A DIMACS formula; answers by s and v lines.")
            .parameter(choice(
                "input",
                &["cnf", "aiger", "detect"],
                "What a benchmark is: a DIMACS formula, an AIGER circuit whose only output is to be true, or what its first \
                 byte says. Either may be compressed with gzip.",
            ))
            .parameter(choice(
                "benchmarks",
                &["check", "trust"],
                "Whether a benchmark is read before it is run, so that a faulty one is refused.",
            ))
            .parameter(choice(
                "decides",
                &["line", "exit-code", "both", "either"],
                "What makes an answer: the s line; the exit code (10 satisfiable, 20 unsatisfiable); both, which must say the \
                 same (qualification rounds of SAT-Race 2008); or the exit code where there is no s line.",
            ))
            .parameter(choice(
                "model",
                certificates,
                "Whether SATISFIABLE needs v lines with a model. The AIG track of SAT-Race 2008 requires no witness.",
            ))
            .parameter(choice(
                "proof",
                certificates,
                "Whether UNSATISFIABLE needs a proof. SAT-Race 2008 knows none.",
            ))
            .parameter(text("proof-limits", "The name of the edition's limits for the tool that checks proofs."))
            .parameter(text("proof-file", "The file in the run's folder that holds the proof."))
            .parameter(choice(
                "proof-argument",
                &["append", "none"],
                "Whether the proof's file name is the solver's last argument.",
            ))
            .parameter(choice(
                "partial-models",
                permissions,
                "Whether variables may be left out of a model; every clause then needs a true literal among those given.",
            ))
            .parameter(choice("repeated-literals", permissions, "Whether a model may give a literal twice."))
            .parameter(choice(
                "foreign-variables",
                permissions,
                "Whether a model may give variables that the benchmark does not have.",
            ))
            .parameter(choice(
                "latches",
                &["refuse", "zero"],
                "Whether a circuit with latches is refused, or its latches are 0, as in the first time frame.",
            ))
            .parameter(choice(
                "spaces",
                &["strict", "tolerate"],
                "Whether the two first characters of a line must be `s `, `v ` or `c `, or white space does not matter.",
            ))
            .parameter(choice(
                "after-time-limit",
                weights,
                "What the answer of a run that reached a limit of time is worth.",
            ))
            .parameter(choice(
                "after-memory-limit",
                weights,
                "What the answer of a run that reached its memory limit is worth.",
            ))
            .parameter(choice("after-crash", weights, "What an answer before a crash is worth."))
            .field(
                Field::words("answer", ANSWERS, "What the solver answered; unknown if it gave no answer.")
                    .needs(Fidelity::Columns),
            )
            .field(
                Field::words("status", ANSWERS, "The benchmark's status, as known when the run is judged.")
                    .needs(Fidelity::Columns),
            )
            .field(
                Field::words(
                    "certificate",
                    [Checked::Verified, Checked::Refuted, Checked::None].map(Checked::word),
                    "Whether the certificate was checked, and how it ended.",
                )
                .optional(),
            )
            .field(
                Field::words("claim", ANSWERS, "What the run claims, whether or not the rules let it count.").optional(),
            )
            .field(Field::words("reason", Reason::ALL.map(Reason::word), "Why the answer is what it is.").optional())
            .role(CHECKER, "Checks a proof of unsatisfiability: `CHECKER FORMULA PROOF`, as drat-trim.")
    }

    fn open(parameters: Parameters) -> Result<Self, Fault> {
        for (name, text) in [("proof-limits", &parameters.proof_limits), ("proof-file", &parameters.proof_file)] {
            if text.is_empty() || text.contains(['/', '\0']) {
                return Err(Fault::new(Status::BadParameter, format!("`{name}` is a plain name, not {text:?}"))
                    .at(format!("/{name}")));
            }
        }
        Ok(Self { parameters })
    }

    fn prepare(&self, job: &Job<'_>, plan: &Plan<'_>) -> Result<(), Fault> {
        if self.parameters.benchmarks == Benchmarks::Check {
            let stop = || plan.is_cancelled();
            let checked = open(&job.benchmark, &stop).and_then(|bytes| check_benchmark(bytes, &self.parameters));
            match checked {
                Ok(()) => {}
                Err(InputError::Malformed(why)) => {
                    return Err(Fault::new(
                        Status::BadBenchmark,
                        format!("the benchmark {} is not one of this track: {why}", job.benchmark.name),
                    )
                    .hint("mend it or leave it out; `benchmarks: trust` runs it unread"));
                }
                Err(error) => return Err(unread(error)),
            }
        }
        if self.parameters.proof != Certificate::Ignored {
            let mut step = Step::solve();
            if self.parameters.proof_argument == ProofArgument::Append {
                step.argv.push(Arg::text(&self.parameters.proof_file));
            }
            plan.step(&step)?;
            plan.collect(PROOF, &self.parameters.proof_file)?;
        }
        Ok(())
    }

    fn judge(&self, job: &Job<'_>, observation: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
        let mut verdict = self.verdict(job, observation, out)?;
        if verdict.wants_proof {
            if observation.collected.iter().any(|file| file.name == PROOF) {
                out.follow_up(&FollowUp {
                    kind: FollowUpKind::External,
                    role: CHECKER.into(),
                    dedup_key: proof_key(job),
                    inputs: vec![("formula".into(), Arg::Original), (PROOF.into(), Arg::Collected(PROOF.into()))],
                    limits: Some(self.parameters.proof_limits.clone()),
                })?;
            } else {
                verdict = conclude(verdict, None, &self.parameters);
            }
        }
        for e in &verdict.evidence {
            out.evidence(Stream::Out, e.at.from, e.at.to, &e.note)?;
        }
        emit(&verdict, &verdict.remarks, out)
    }

    fn conclude(
        &self,
        job: &Job<'_>,
        judgement: &Judgement<'_>,
        validations: &[Validation<'_>],
        out: &Verdict<'_>,
    ) -> Result<(), Fault> {
        let columns = judgement.columns.as_ref().map(agon_sdk::input::Doc::json).transpose()?;
        let column = |name: &str| columns.as_ref().and_then(|c| c.get(name)?.as_str()).and_then(Answer::of);
        let (Some(answer), Some(status)) = (Answer::of(judgement.answer), column("status")) else {
            return Err(Fault::new(Status::InvalidArgument, "the judgement has no answer, or no status"));
        };
        // What was said before stays as it is; only an answer that waits for its proof can change.
        if answer != Answer::Unsat || self.parameters.proof == Certificate::Ignored {
            return Ok(());
        }
        let before = judging::Verdict {
            answer,
            claim: column("claim").unwrap_or(answer),
            status,
            soundness: judgement.soundness,
            certificate: Checked::None,
            condition: judgement.condition,
            blame: judgement.blame,
            reason: Reason::Given,
            wants_proof: true,
            evidence: Vec::new(),
            remarks: Vec::new(),
        };
        let found = self.proof_outcome(job, validations, out)?;
        let after = conclude(before, found.as_ref(), &self.parameters);
        emit(&after, &after.remarks, out)
    }

    fn explain(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        _judgement: &Judgement<'_>,
        validations: &[Validation<'_>],
        out: &Explanation<'_>,
    ) -> Result<(), Fault> {
        let mut verdict = self.verdict(job, observation, out)?;
        let found = self.proof_outcome(job, validations, out)?;
        verdict = conclude(verdict, found.as_ref(), &self.parameters);
        for e in &verdict.evidence {
            out.evidence(Stream::Out, e.at.from, e.at.to, &e.note)?;
        }
        out.text(&explain(&verdict))
    }
}

impl Sat {
    fn verdict(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        sink: &Sink<'_>,
    ) -> Result<judging::Verdict, Fault> {
        let reading = match (observation.stdout, &observation.columns) {
            (Some(stdout), _) => {
                let mut reader = answer::Reader::new(self.parameters.spaces);
                read_through(stdout, sink, |piece| reader.read(piece))?;
                reader.finish(stdout.truncated())
            }
            (None, Some(columns)) => return self.archived(job, observation, &columns.json()?),
            (None, None) => return Err(needs_output()),
        };
        let stop = || sink.is_cancelled();
        let run = Run::of(job, observation);
        let judged = judge(&run, &reading, || open(&job.benchmark, &stop), &job.benchmark.statuses, &self.parameters);
        judged.map_err(|error| match error {
            Unjudged::Cancelled => unread(InputError::Cancelled),
            Unjudged::Io(error) => unread(InputError::Io(error)),
        })
    }

    /// The verdict on an archived result, whose output is not kept: its answer, and its certificate if that is known.
    fn archived(
        &self,
        job: &Job<'_>,
        observation: &Observation<'_>,
        columns: &serde_json::Value,
    ) -> Result<judging::Verdict, Fault> {
        let word = |name: &str| columns.get(name).and_then(|w| w.as_str());
        let answer = word("answer").and_then(Answer::of).ok_or_else(needs_output)?;
        let reading = Reading { claim: Claim::One(answer), ..answer::read(b"", false, self.parameters.spaces) };
        let trusting = Parameters {
            decides: judging::Decides::Line,
            model: Certificate::Ignored,
            proof: Certificate::Ignored,
            ..self.parameters.clone()
        };
        let none = || Err(InputError::Cancelled);
        let judged = judge(&Run::of(job, observation), &reading, none, &job.benchmark.statuses, &trusting);
        let mut verdict = judged.map_err(|_| needs_output())?;
        verdict.certificate = match word("certificate") {
            Some("verified") => Checked::Verified,
            Some("refuted") => Checked::Refuted,
            _ => Checked::None,
        };
        if verdict.certificate == Checked::Verified && verdict.answer != Answer::Unknown {
            verdict.soundness = Soundness::Agrees;
        }
        Ok(verdict)
    }

    /// What the proof checkers say together.
    fn proof_outcome(
        &self,
        job: &Job<'_>,
        validations: &[Validation<'_>],
        sink: &Sink<'_>,
    ) -> Result<Option<Outcome>, Fault> {
        let key = proof_key(job);
        let mut found: Option<Outcome> = None;
        for validation in validations {
            if validation.role != CHECKER || validation.dedup_key != key {
                continue;
            }
            let none = |text: &str| Outcome::None(text.to_string());
            let next = match (validation.status, &validation.observation) {
                (ValidationStatus::Done, Some(observation)) => {
                    let mut output = Vec::new();
                    // A verdict is a short line; a checker that floods its output has none.
                    let mut flood = false;
                    if let Some(stdout) = observation.stdout {
                        read_through(stdout, sink, |piece| {
                            flood |= output.len() > FLOOD;
                            if !flood {
                                output.extend_from_slice(piece);
                            }
                        })?;
                    }
                    if flood {
                        none("The proof checker's output is too long.")
                    } else {
                        outcome(&output, &Run::without_limits(observation))
                    }
                }
                (ValidationStatus::Done, None) => none("What the proof checker said is not kept."),
                (ValidationStatus::Limit, _) => none("The proof checker met its own limit."),
                (ValidationStatus::Crashed, _) => none("The proof checker crashed."),
                (ValidationStatus::NotRun, _) => none("The proof checker was not run."),
            };
            found = Some(match (found, next) {
                (None | Some(Outcome::None(_)), next) => next,
                (Some(before), next) if before == next => before,
                (Some(before), Outcome::None(_)) => before,
                _ => none("The proof checkers disagree."),
            });
        }
        Ok(found)
    }
}

/// More than the output of any proof checker, in bytes.
const FLOOD: usize = 1 << 26;

/// One proof belongs to one run.
fn proof_key(job: &Job<'_>) -> String {
    let mut key = format!("{:?} {:?}", job.benchmark.id, job.participant.id);
    for word in &job.participant.configuration {
        key.push_str(&format!(" {word:?}"));
    }
    key
}

fn open<'a>(benchmark: &Benchmark<'a>, stop: &'a dyn Fn() -> bool) -> Result<Bytes<'a>, InputError> {
    let content = benchmark.content;
    let read = move |offset, buffer: &mut [u8]| content.read_at(offset, buffer).map_err(io::Error::other);
    Bytes::with_cancel(At::new(read), stop)
}

fn unread(error: InputError) -> Fault {
    match error {
        InputError::Cancelled => Fault::new(Status::Cancelled, "cancelled by the host"),
        InputError::Io(error) => Fault::new(Status::ReadFailed, format!("the benchmark cannot be read: {error}")),
        InputError::Malformed(why) => Fault::new(Status::BadBenchmark, format!("the benchmark is faulty: {why}")),
    }
}

fn needs_output() -> Fault {
    Fault::new(
        Status::InvalidArgument,
        "a run is judged by its standard output, and neither that nor an answer is known",
    )
    .hint("score archived results by their columns")
}

fn emit(verdict: &judging::Verdict, remarks: &[String], out: &Verdict<'_>) -> Result<(), Fault> {
    out.word("status", verdict.status.word())?;
    out.word("certificate", verdict.certificate.word())?;
    out.word("claim", verdict.claim.word())?;
    out.word("reason", verdict.reason.word())?;
    for remark in remarks {
        out.diagnostic(Level::Note, verdict.reason.word(), remark)?;
    }
    out.verdict(verdict.answer.word(), verdict.soundness, verdict.condition, verdict.blame)
}

agon_sdk::export!(Sat, linkable, describes = include_str!("../../../schemas/plugins/sat.json"));
