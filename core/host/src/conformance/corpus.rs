//! Inputs of every kind: well-formed, odd, and hostile.

use std::io;
use std::sync::Arc;

use agon_sdk::values::{
    Benchmark, Fidelity, Job, Limit, Limits, Observation, Output, Participant, ReadAt, Source, StepKind, StepLog,
    StepOutcome,
};

/// A benchmark and what was observed on it.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is.
    pub name: String,
    /// The job.
    pub job: Job,
    /// The observation.
    pub observation: Observation,
}

/// The same bytes, but never at once.
struct Piecewise(Vec<u8>);

impl ReadAt for Piecewise {
    fn size(&self) -> Option<u64> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|o| self.0.get(o..)).unwrap_or_default();
        // Short reads are normal.
        let n = rest.len().min(buffer.len()).min(1000);
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// A pattern over and over: gigabytes that nobody has.
pub struct Endless {
    /// What is repeated.
    pub pattern: &'static [u8],
    /// How many bytes there are in all.
    pub size: u64,
}

impl ReadAt for Endless {
    fn size(&self) -> Option<u64> {
        Some(self.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let n = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        let start = usize::try_from(offset % self.pattern.len() as u64).unwrap_or(0);
        for (byte, at) in buffer[..n].iter_mut().zip(start..) {
            *byte = self.pattern[at % self.pattern.len()];
        }
        Ok(n)
    }
}

/// Bytes that cannot be read.
struct Unreadable;

impl ReadAt for Unreadable {
    fn size(&self) -> Option<u64> {
        Some(100)
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

const SMT: &str = "(set-info :status sat)\n(set-logic QF_UF)\n(declare-fun p () Bool)\n(assert (! p :named a))\n(check-sat)\n(exit)\n";
const CNF: &str = "c a formula\np cnf 2 2\n1 2 0\n-1 2 0\n";

fn job(content: &str, name: &str, statuses: &[&str]) -> Job {
    let mut benchmark = Benchmark::new(name, content).expecting(statuses.iter().copied());
    benchmark.logic = Some("QF_UF".into());
    benchmark.division = Some("QF_Equality".into());
    benchmark.family = Some("20240101-family".into());
    benchmark.properties = Some("{\"asserts\": 1}".into());
    Job {
        benchmark,
        participant: Participant { id: "solver".into(), configuration: vec!["default".into(), "--fast".into()] },
        limits: Limits {
            wall_ns: Some(1_200_000_000_000),
            cpu_ns: None,
            memory_bytes: Some(60_000_000_000),
            cores: Some(4),
        },
    }
}

/// An input that is a million levels deep.
pub fn deep() -> Vec<u8> {
    const DEPTH: usize = 1_000_000;
    [vec![b'('; DEPTH], b"x".to_vec(), vec![b')'; DEPTH]].concat()
}

/// The cases that every check uses.
pub fn cases() -> Vec<Case> {
    let jobs = [
        job(SMT, "family/one.smt2", &["sat"]),
        job(SMT, "family/two.smt2", &["unsat"]),
        job(CNF, "family/three.cnf", &["sat"]),
        job("", "", &[]),
        job(SMT, "family/four.smt2", &["sat", "unsat", "unknown"]),
        job(CNF, "family/five.cnf", &["\u{1F600}", ""]),
    ];
    let outputs: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", b"".to_vec()),
        ("sat", b"sat\n".to_vec()),
        ("unsat", b"unsat\n".to_vec()),
        ("unknown", b"unknown\n".to_vec()),
        ("sat without an end of line", b"sat".to_vec()),
        ("a carriage return", b"sat\r\n".to_vec()),
        ("a byte-order mark", b"\xef\xbb\xbfsat\n".to_vec()),
        ("two answers", b"sat\nunsat\n".to_vec()),
        ("an error", b"(error \"line 3: expected unsat\")\nsat\n".to_vec()),
        ("a model", b"sat\n(model (define-fun p () Bool true))\n".to_vec()),
        ("a core", b"unsat\n(a)\n".to_vec()),
        ("an open core", b"unsat\n(a".to_vec()),
        ("a DIMACS model", b"c hello\ns SATISFIABLE\nv 1 2 0\n".to_vec()),
        ("an open DIMACS model", b"s SATISFIABLE\nv 1".to_vec()),
        ("a DIMACS refutation", b"s UNSATISFIABLE\n".to_vec()),
        ("a huge literal", b"s SATISFIABLE\nv 99999999999999999999999999 -9223372036854775808 0\n".to_vec()),
        ("key and value", b"holds\nlemmas=12\ntime=0.5\n=\n".to_vec()),
        ("zero bytes", b"s\0at\n\0\0\0".to_vec()),
        ("no UTF-8", b"\xff\xfe\xc3(\xa0\n\x80sat\n".to_vec()),
        ("all bytes", (0..=255).collect()),
        ("a line of two megabytes", vec![b'x'; 2 << 20]),
        ("half a million lines", b"x\n".repeat(500_000)),
        ("open parentheses", vec![b'('; 100_000]),
        ("quotes", vec![b'"'; 100_001]),
        ("blanks", b" \t\r\n ".repeat(1000)),
    ];
    let mut cases = Vec::new();
    let mut add = |name: String, job: &Job, observation: Observation| {
        cases.push(Case { name, job: job.clone(), observation });
    };
    for (name, bytes) in &outputs {
        for (n, job) in jobs.iter().enumerate() {
            // Large outputs once.
            if bytes.len() > 10_000 && n > 0 {
                continue;
            }
            let exit = [0, 10, 20, 1][n % 4];
            add(format!("{name}, exit {exit}, on {:?}", job.benchmark.id), job, Observation::finished(exit, bytes));
        }
        let source = Source::Reader(Arc::new(Piecewise(bytes.clone())));
        let stdout = Output { source, truncated: true };
        let observation = Observation { stdout: Some(stdout), stderr: None, ..Observation::finished(10, "") };
        add(format!("{name}, in pieces and truncated"), &jobs[0], observation);
        let stderr = Some(Output::from(bytes));
        add(format!("{name}, on standard error"), &jobs[0], Observation { stderr, ..Observation::finished(0, "") });
    }
    for limit in Limit::ALL {
        let observation =
            Observation { limit: *limit, exit: None, signal: Some(9), ..Observation::finished(0, "sat\n") };
        add(format!("ended by the limit {limit}"), &jobs[0], observation);
    }
    for signal in [1, 6, 9, 11, 15, 64] {
        let observation = Observation { exit: None, signal: Some(signal), ..Observation::finished(0, "unsat\n") };
        add(format!("ended by signal {signal}"), &jobs[0], observation);
    }
    for exit in [-1, 1, 42, 127, 255, i32::MAX] {
        add(format!("exit code {exit}"), &jobs[2], Observation::finished(exit, "s UNSATISFIABLE\n"));
    }
    for fidelity in [Fidelity::Summary, Fidelity::Columns] {
        let observation = Observation {
            fidelity,
            stdout: None,
            stderr: None,
            wall_ns: None,
            cpu_ns: None,
            peak_memory: None,
            columns: Some("{\"answer\": \"sat\", \"wall\": 12, \"odd\": null}".into()),
            ..Observation::finished(0, "")
        };
        add(format!("known as {fidelity}"), &jobs[0], observation);
    }
    let step = |kind, outcome, label: Option<&str>, response: &[u8]| StepLog {
        kind,
        outcome,
        step: "solve".into(),
        label: label.map(str::to_string),
        sent_ns: 5,
        answered_ns: 9,
        cpu_ns: None,
        exit: None,
        signal: None,
        limit: Limit::None,
        response: Output::from(response),
        errors: Some(Output::from("")),
        answers: u64::from(outcome == StepOutcome::Done),
        refused: u64::from(outcome == StepOutcome::Stopped),
        waited_ns: 4,
        kept: 0,
    };
    let steps = vec![
        step(StepKind::Expect, StepOutcome::Done, Some("1"), b"sat"),
        step(StepKind::Expect, StepOutcome::Stopped, Some("2"), b"\xff"),
        step(StepKind::Expect, StepOutcome::Eof, Some(""), b""),
        step(StepKind::Command, StepOutcome::Limit, None, b"sat\n"),
        step(StepKind::Command, StepOutcome::NotRun, None, b""),
    ];
    add("steps".into(), &jobs[4], Observation { steps, ..Observation::finished(0, "sat\n") });
    let source = Source::Reader(Arc::new(Unreadable));
    let stdout = Some(Output { source, truncated: false });
    add("unreadable output".into(), &jobs[0], Observation { stdout, ..Observation::finished(0, "") });
    let mut unreadable = jobs[0].clone();
    unreadable.benchmark.content = Source::Reader(Arc::new(Unreadable));
    add("an unreadable benchmark".into(), &unreadable, Observation::finished(0, "sat\n"));
    let mut odd = jobs[2].clone();
    odd.benchmark.content = Source::bytes(b"p cnf -1 99999999999999999999\n1 x \0 0\n\xff");
    add("a malformed benchmark".into(), &odd, Observation::finished(10, "s SATISFIABLE\nv 1 0\n"));
    cases
}
