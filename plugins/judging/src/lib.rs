//! What the shipped track plugins have in common: how a run ended, and how an answer stands to a known status.
//!
//! All of it is a function of what was observed. Nothing here reads a clock, opens a file or draws at random.

use agon_sdk::input::{Job, Observation, Reader};
use agon_sdk::output::Sink;
use agon_sdk::values::Fault;
pub use agon_sdk::values::{Blame, Condition, Limit, Soundness};
use serde::{Deserialize, Serialize};

/// What was observed of a run, its output streams apart. Times in nanoseconds, memory in bytes.
/// `None` means not known, or not limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The exit code, if the process ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// The limit at which the harness stopped it.
    pub stopped: Limit,
    /// Wall-clock time used.
    pub wall: Option<u64>,
    /// CPU time used by the process tree.
    pub cpu: Option<u64>,
    /// Most memory in use at one time.
    pub memory: Option<u64>,
    /// The wall-clock limit.
    pub wall_limit: Option<u64>,
    /// The CPU limit.
    pub cpu_limit: Option<u64>,
    /// The memory limit.
    pub memory_limit: Option<u64>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            exit: None,
            signal: None,
            stopped: Limit::None,
            wall: None,
            cpu: None,
            memory: None,
            wall_limit: None,
            cpu_limit: None,
            memory_limit: None,
        }
    }
}

impl Run {
    /// What was observed of a job.
    pub fn of(job: &Job<'_>, observation: &Observation<'_>) -> Self {
        Self {
            wall_limit: job.limits.wall_ns,
            cpu_limit: job.limits.cpu_ns,
            memory_limit: job.limits.memory_bytes,
            ..Self::without_limits(observation)
        }
    }

    /// What was observed of a tool whose limits are not known here.
    pub fn without_limits(observation: &Observation<'_>) -> Self {
        Self {
            exit: observation.exit,
            signal: observation.signal,
            stopped: observation.limit,
            wall: observation.wall_ns,
            cpu: observation.cpu_ns,
            memory: observation.peak_memory,
            ..Self::default()
        }
    }
}

/// Hands over all bytes of a reader, piece by piece.
///
/// # Errors
/// If reading fails, or the host asked to stop.
pub fn read_through(reader: Reader<'_>, sink: &Sink<'_>, mut take: impl FnMut(&[u8])) -> Result<(), Fault> {
    const PIECE: usize = 1 << 16;
    if let Some(whole) = reader.whole() {
        for piece in whole.chunks(PIECE) {
            sink.check_cancelled()?;
            take(piece);
        }
        return Ok(());
    }
    let (mut at, mut buffer) = (0_u64, vec![0; PIECE]);
    loop {
        sink.check_cancelled()?;
        let n = reader.read_at(at, &mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        take(&buffer[..n]);
        at += n as u64;
    }
}

/// A condition and what it was seen by, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// How the run ended.
    pub condition: Condition,
    /// The fact that decided, as one sentence.
    pub why: String,
}

/// Signals by which a process reports a fault of its own.
const FAULTS: [i32; 6] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV];
const SIGILL: i32 = 4;
const SIGTRAP: i32 = 5;
const SIGABRT: i32 = 6;
const SIGBUS: i32 = 7;
const SIGFPE: i32 = 8;
const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;

/// How a run ended.
///
/// What the harness says of a limit decides. Without a word from it, a run that used more than a limit has reached that
/// limit, whether or not it was stopped in time; so has one that SIGKILL, SIGTERM or SIGXCPU ended at a limit, or
/// SIGKILL or SIGTERM where no limit is known. Every other signal is a crash. An exit code 128 + N is a shell's way of
/// reporting signal N of its child.
pub fn ending(run: &Run) -> Ending {
    let say = |condition, why: String| Ending { condition, why };
    match run.stopped {
        Limit::Wall => return say(Condition::WallLimit, "The run was stopped at its wall-clock limit.".into()),
        Limit::Cpu => return say(Condition::CpuLimit, "The run was stopped at its limit of CPU time.".into()),
        Limit::Memory => return say(Condition::MemoryLimit, "The run was stopped at its memory limit.".into()),
        Limit::Output => {
            return say(Condition::MalformedOutput, "The run was stopped because it wrote too much output.".into());
        }
        Limit::Disk => {
            return say(Condition::Crashed, "The run was stopped because it filled its disk space.".into());
        }
        Limit::Processes => {
            return say(Condition::Crashed, "The run was stopped because it started too many processes.".into());
        }
        Limit::None => {}
    }
    let over = |used: Option<u64>, limit: Option<u64>| used.zip(limit).is_some_and(|(u, l)| u > l);
    if over(run.cpu, run.cpu_limit) {
        return say(Condition::CpuLimit, "The run used more CPU time than its limit.".into());
    }
    if over(run.wall, run.wall_limit) {
        return say(Condition::WallLimit, "The run took more wall-clock time than its limit.".into());
    }
    let at = |used: Option<u64>, limit: Option<u64>| used.zip(limit).is_some_and(|(u, l)| u >= l);
    let known = |used: Option<u64>, limit: Option<u64>| used.zip(limit).is_some();
    let (signal, how) = match (run.signal, run.exit) {
        (Some(n), _) => (Some(n), format!("Signal {n} ended the run")),
        (None, Some(code)) if (129..=192).contains(&code) && known_signal(code - 128) => {
            (Some(code - 128), format!("Exit code {code} reports that signal {} ended the run", code - 128))
        }
        _ => (None, String::new()),
    };
    match signal {
        Some(SIGXCPU | SIGKILL | SIGTERM) if at(run.cpu, run.cpu_limit) => {
            say(Condition::CpuLimit, format!("{how} at its limit of CPU time."))
        }
        Some(SIGKILL | SIGTERM) if at(run.wall, run.wall_limit) => {
            say(Condition::WallLimit, format!("{how} at its wall-clock limit."))
        }
        Some(SIGKILL | SIGTERM | SIGABRT) if at(run.memory, run.memory_limit) => {
            say(Condition::MemoryLimit, format!("{how} at its memory limit."))
        }
        Some(SIGKILL | SIGTERM) if !known(run.wall, run.wall_limit) && !known(run.cpu, run.cpu_limit) => {
            say(Condition::WallLimit, format!("{how}, as harnesses do at a limit; no limit is known."))
        }
        Some(_) => say(Condition::Crashed, format!("{how}; no limit explains it.")),
        None => say(Condition::Finished, format!("The run ended with exit code {}.", run.exit.unwrap_or(0))),
    }
}

fn known_signal(n: i32) -> bool {
    FAULTS.contains(&n) || [SIGKILL, SIGTERM, SIGXCPU].contains(&n)
}

/// An answer of a solver, and a status of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// Neither is claimed.
    Unknown,
}

impl Answer {
    /// The word for it in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sat => "sat",
            Self::Unsat => "unsat",
            Self::Unknown => "unknown",
        }
    }

    /// The answer with this word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Sat, Self::Unsat, Self::Unknown].into_iter().find(|a| a.word() == word)
    }
}

/// How an answer stands to a status.
pub fn soundness(answer: Answer, status: Answer) -> Soundness {
    match (answer, status) {
        (Answer::Unknown, _) => Soundness::NotApplicable,
        (_, Answer::Unknown) => Soundness::Unverified,
        (a, s) if a == s => Soundness::Agrees,
        _ => Soundness::Contradicts,
    }
}

/// The status of a benchmark with one check, and a remark if its statuses are not of that form.
pub fn one_status<S: AsRef<str>>(statuses: &[S]) -> (Answer, Option<String>) {
    match statuses {
        [] => (Answer::Unknown, None),
        [only] => match Answer::of(only.as_ref()) {
            Some(status) => (status, None),
            None => {
                let text = format!("The benchmark's status `{}` is none of sat, unsat and unknown.", only.as_ref());
                (Answer::Unknown, Some(text))
            }
        },
        several => {
            let text = format!("The benchmark has {} statuses where one check has one; none is used.", several.len());
            (Answer::Unknown, Some(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            exit: Some(0),
            wall: Some(5),
            cpu: Some(5),
            memory: Some(5),
            wall_limit: Some(10),
            cpu_limit: Some(10),
            memory_limit: Some(10),
            ..Run::default()
        }
    }

    fn ended(run: &Run) -> Condition {
        ending(run).condition
    }

    #[test]
    fn what_the_harness_says_decides() {
        for (stopped, condition) in [
            (Limit::Wall, Condition::WallLimit),
            (Limit::Cpu, Condition::CpuLimit),
            (Limit::Memory, Condition::MemoryLimit),
            (Limit::Output, Condition::MalformedOutput),
            (Limit::Disk, Condition::Crashed),
            (Limit::Processes, Condition::Crashed),
        ] {
            for signal in [None, Some(9), Some(15), Some(6), Some(11)] {
                assert_eq!(ended(&Run { stopped, signal, exit: None, ..run() }), condition, "{stopped:?} {signal:?}");
            }
        }
    }

    #[test]
    fn a_signal_is_a_crash_unless_a_limit_explains_it() {
        let signal = |n| Run { signal: Some(n), exit: None, ..run() };
        for n in [1, 2, 4, 6, 7, 8, 9, 11, 13, 15, 24, 64] {
            assert_eq!(ended(&signal(n)), Condition::Crashed, "signal {n}");
        }
        assert_eq!(ended(&Run { cpu: Some(10), ..signal(9) }), Condition::CpuLimit);
        assert_eq!(ended(&Run { cpu: Some(10), ..signal(24) }), Condition::CpuLimit);
        assert_eq!(ended(&Run { wall: Some(10), ..signal(15) }), Condition::WallLimit);
        assert_eq!(ended(&Run { memory: Some(10), ..signal(9) }), Condition::MemoryLimit);
        assert_eq!(ended(&Run { memory: Some(10), ..signal(6) }), Condition::MemoryLimit);
        assert_eq!(ended(&Run { memory: Some(10), ..signal(11) }), Condition::Crashed);
        assert_eq!(ended(&Run { wall: Some(10), ..signal(6) }), Condition::Crashed);
        assert_eq!(ended(&Run { wall_limit: None, wall: Some(10), ..signal(9) }), Condition::Crashed);
        let unknown = Run { wall_limit: None, cpu: None, ..signal(9) };
        assert_eq!(ended(&unknown), Condition::WallLimit);
        assert_eq!(ended(&Run { signal: Some(6), ..unknown }), Condition::Crashed);
    }

    #[test]
    fn a_shell_reports_signals_as_exit_codes() {
        let exit = |n| Run { exit: Some(n), ..run() };
        for n in [134, 139, 136, 132, 135, 137, 143] {
            assert_eq!(ended(&exit(n)), Condition::Crashed, "exit {n}");
        }
        for n in [0, 1, 10, 20, 101, 124, 127, 128, 140, 200, 255] {
            assert_eq!(ended(&exit(n)), Condition::Finished, "exit {n}");
        }
        assert_eq!(ended(&Run { cpu: Some(10), ..exit(137) }), Condition::CpuLimit);
    }

    #[test]
    fn more_than_the_limit_is_over_it_whoever_ended_the_run() {
        assert_eq!(ended(&Run { wall: Some(11), ..run() }), Condition::WallLimit);
        assert_eq!(ended(&Run { cpu: Some(11), ..run() }), Condition::CpuLimit);
        assert_eq!(ended(&Run { wall: Some(10), cpu: Some(10), memory: Some(10), ..run() }), Condition::Finished);
        assert_eq!(ended(&Run { wall: Some(11), wall_limit: None, ..run() }), Condition::Finished);
    }

    #[test]
    fn an_answer_stands_to_a_status() {
        use Answer::{Sat, Unknown, Unsat};
        assert_eq!(soundness(Sat, Sat), Soundness::Agrees);
        assert_eq!(soundness(Sat, Unsat), Soundness::Contradicts);
        assert_eq!(soundness(Unsat, Sat), Soundness::Contradicts);
        assert_eq!(soundness(Unsat, Unknown), Soundness::Unverified);
        assert_eq!(soundness(Unknown, Sat), Soundness::NotApplicable);
    }

    #[test]
    fn a_status_is_one_word() {
        assert_eq!(one_status::<&str>(&[]), (Answer::Unknown, None));
        assert_eq!(one_status(&["sat"]), (Answer::Sat, None));
        for odd in [&["SAT"][..], &["sat", "sat"], &["sat", "unsat"], &[""]] {
            let (status, remark) = one_status(odd);
            assert_eq!(status, Answer::Unknown, "{odd:?}");
            assert!(remark.is_some(), "{odd:?}");
        }
    }
}
