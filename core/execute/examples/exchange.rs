//! What a command of an exchange costs with a program that answers at once: `exchange [COMMANDS] [BYTES] [PROGRAM]`,
//! where every tenth command is an exchange of its own. The program reads lines and answers each; `/bin/cat` does.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use agon_execute::{Answer, CancelToken, Exchange, FileContent, Helper, Job, Machine, Options, Runner, Script, Step};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    if std::env::args().nth(1).as_deref() == Some("__sandbox") {
        let _ = agon_execute::supervisor::main();
    }
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (commands, bytes) = (number(100_000)?, number(10)?);
    let program = arguments.next().unwrap_or_else(|| "/bin/cat".to_string());
    let folder = tempfile::tempdir()?;
    let machine = Machine::probe()?;
    let helper = Helper::this_program("__sandbox");
    let runner = Runner::new(&machine, Options::new(folder.path().join("scratch"), helper))?;
    let text = folder.path().join("text");
    let length = usize::try_from(bytes)?;
    std::fs::write(&text, format!("{}\n", "x".repeat(length)).repeat(usize::try_from(commands)?))?;
    let piece = |i: u64| i * (bytes + 1)..i * (bytes + 1) + bytes;
    let step = |from: u64, to: u64| {
        Step::Exchange(Exchange {
            name: String::new(),
            pieces: (from..to).map(piece).collect(),
            answer: Answer::Line,
            accept: None,
            go_on: false,
        })
    };
    let steps = (0..commands / 10).flat_map(|ten| [step(10 * ten, 10 * ten + 9), step(10 * ten + 9, 10 * ten + 10)]);
    let mut job = Job::new(program);
    job.cpus = std::env::var("CPUS").ok().into_iter().flat_map(|c| c.parse()).collect();
    job.limits.wall = Some(Duration::from_secs(600));
    job.limits.cpu = Some(Duration::from_secs(600));
    job.readable = vec!["/tmp".into()];
    job.script = Some(Script { steps: steps.collect(), text: Some(FileContent::Path(text)), ..Script::default() });
    let cancel = CancelToken::new()?;
    for _ in 0..5 {
        let start = Instant::now();
        let seen = runner.run(&job, &cancel)?;
        let took = start.elapsed();
        let answers: u64 = seen.steps.iter().map(|step| step.answers).sum();
        assert_eq!((answers, seen.exit), (commands / 10 * 10, Some(0)));
        let each = |time: Duration| time.as_secs_f64() * 1e6 / commands as f64;
        println!(
            "{:.3} µs a command by the clock, {:.3} µs of CPU in the program, {:.1} MB/s",
            each(took),
            each(Duration::from_nanos(seen.cpu_ns)),
            (commands * bytes) as f64 / took.as_secs_f64() / 1e6
        );
    }
    Ok(())
}
