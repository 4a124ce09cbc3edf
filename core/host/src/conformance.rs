//! The conformance test: does a plugin keep the rules of the boundary? Each check runs in a fresh worker process, so
//! that a plugin which crashes or hangs fails one check, and the others tell what else there is.
//!
//! The numbers are those of [`RULES`]. What cannot be seen from outside is left to a reviewer: whether a plugin reads a
//! clock, and whether its version changes with its judgements.

mod corpus;
pub(crate) mod rules;
pub(crate) mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use agon_abi::AgonPlugin;
use serde::{Deserialize, Serialize};

use crate::discover::{Entry, Origin};
use crate::hosted::{Failure, Worker, Workers};
use crate::load::Candidate;
use crate::wire::{Forbidden, FromWorker, ToWorker};

/// The rules of the boundary, by number.
pub const RULES: [(u32, &str); 16] = [
    (1, "memory is freed by who allocated it, and no pointer is kept after the call; nothing leaks"),
    (2, "text is UTF-8 with a length; what a solver wrote is bytes"),
    (3, "only fixed-width integers, pointers and sized tables cross; null and unknown values are errors"),
    (4, "reserved fields are zero"),
    (5, "nothing unwinds out of a function, and no input crashes it"),
    (6, "after a panic the track is not used again"),
    (7, "functions are reentrant, and emit on the thread of their call, before it returns"),
    (8, "no processes, sockets, files or threads that outlive a call; the library can be loaded again"),
    (9, "the state of the process is not touched"),
    (10, "same inputs, same emits in the same order"),
    (11, "the depth of inputs costs no stack"),
    (12, "a long call asks whether it is cancelled"),
    (13, "an error is a status and one call of `fail`, with the pointer to a bad parameter"),
    (14, "nothing is printed: log lines go to the host"),
    (15, "numbers are integers or exact"),
    (16, "what is declared is what is emitted, and nothing else"),
];

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The number of the rule.
    pub rule: u32,
    /// The check.
    pub check: String,
    /// Whether the rule is kept, as far as the check sees.
    pub kept: bool,
    /// What was seen; empty if there is nothing to say.
    pub detail: String,
}

/// What the test found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The library, or the id of a linked track.
    pub plugin: String,
    /// Its id and version, if it could be read.
    pub identity: Option<(String, String)>,
    /// The findings, in the order of the checks.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether all rules are kept.
    pub fn passed(&self) -> bool {
        self.findings.iter().all(|f| f.kept)
    }

    /// The numbers of the rules that are broken.
    pub fn broken(&self) -> Vec<u32> {
        let mut rules: Vec<u32> = self.findings.iter().filter(|f| !f.kept).map(|f| f.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

/// How the test is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The workers. The program must be agon's.
    pub workers: Workers,
    /// The parameters with which tracks are opened; without them, defaults and what fits the declared types.
    pub parameters: Option<String>,
    /// Whether owners and modes are not looked at.
    pub trust_permissions: bool,
}

impl Options {
    /// With workers of this program.
    pub fn new(program: impl Into<std::path::PathBuf>) -> Self {
        let workers = Workers { call: Duration::from_secs(60), ..Workers::new(program) };
        Self { workers, parameters: None, trust_permissions: false }
    }
}

/// Tests a library.
pub fn check(path: &Path, options: &Options) -> Report {
    let mut report = Report { plugin: path.display().to_string(), identity: None, findings: Vec::new() };
    let candidate = match Candidate::examine(path, options.trust_permissions) {
        Ok(candidate) => candidate,
        Err(error) => {
            report.findings.push(Finding { rule: 3, check: "manifest".into(), kept: false, detail: error.0 });
            return report;
        }
    };
    report.findings.push(Finding { rule: 3, check: "manifest".into(), kept: true, detail: String::new() });
    let entry = Entry {
        id: candidate.manifest.id.clone(),
        version: candidate.manifest.version.clone(),
        vendor: candidate.manifest.vendor.clone(),
        abi: candidate.manifest.abi.clone(),
        origin: Origin::File(candidate.path.clone()),
        hashes: candidate.hashes.clone(),
        trusted_permissions: options.trust_permissions,
    };
    check_entry(&entry, options, report)
}

/// Tests a track that is linked into the program.
pub fn check_linked(descriptor: &'static AgonPlugin, options: &Options) -> Result<Report, crate::Error> {
    let plugin = crate::discover::linked_plugin(descriptor)?;
    let identity = plugin.identity();
    let entry = Entry {
        id: identity.id.clone(),
        version: identity.version.clone(),
        vendor: identity.vendor.clone(),
        abi: format!("{}.{}", identity.abi.0, identity.abi.1),
        origin: Origin::Linked,
        hashes: crate::discover::program_hashes()?,
        trusted_permissions: false,
    };
    let report = Report { plugin: entry.id.clone(), identity: None, findings: Vec::new() };
    Ok(check_entry(&entry, options, report))
}

fn check_entry(entry: &Entry, options: &Options, mut report: Report) -> Report {
    report.identity = Some((entry.id.clone(), entry.version.clone()));
    let code = entry.code();
    let mut printed: Option<String> = None;
    let mut digests = Vec::new();
    for (name, rule) in rules::CHECKS {
        // The emits are compared between two processes.
        let times = if *name == "determinism" { 2 } else { 1 };
        for _ in 0..times {
            let mut fail = |rule: u32, detail: String| {
                report.findings.push(Finding { rule, check: (*name).to_string(), kept: false, detail });
            };
            let mut worker = match Worker::start(&options.workers, &code, Forbidden::Allowed) {
                Ok(worker) => worker,
                Err(Failure::NoWorker(why)) => {
                    fail(rules::named(&why).unwrap_or(3), why);
                    return report;
                }
                Err(failure) => {
                    fail(5, format!("while it was loaded: {failure}"));
                    return report;
                }
            };
            let limit = options.workers.call;
            let request = format!("{name}\n{}", options.parameters.as_deref().unwrap_or(""));
            match worker.ask(ToWorker::Check(request), Instant::now() + limit, limit) {
                Ok(FromWorker::Checked(found)) => {
                    for finding in found {
                        match finding.check.strip_prefix("digest ") {
                            Some(digest) => digests.push(digest.to_string()),
                            None => report.findings.push(finding),
                        }
                    }
                }
                Ok(_) => fail(*rule, "the worker answered something else".into()),
                Err(Failure::Overdue { .. }) if *rule != 12 => {
                    fail(5, format!("the check did not end within {limit:?}"));
                }
                Err(failure) => fail(*rule, failure.to_string()),
            }
            let wrote = worker.end();
            // Who dies may say why.
            if wrote.bytes > 0 && report.findings.last().is_some_and(|f| f.kept) {
                printed.get_or_insert_with(|| {
                    format!("during `{name}` it wrote: {}", String::from_utf8_lossy(&wrote.last).trim())
                });
            }
        }
    }
    if let [first, second] = digests.as_slice() {
        report.findings.push(Finding {
            rule: 10,
            check: "two processes".into(),
            kept: first == second,
            detail: if first == second { String::new() } else { "two processes emit different things".into() },
        });
    }
    report.findings.push(Finding {
        rule: 14,
        check: "quiet".into(),
        kept: printed.is_none(),
        detail: printed.unwrap_or_default(),
    });
    report
}
