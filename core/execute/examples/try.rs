//! Runs one command in a sandbox and shows what was seen of it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use agon_execute::{CancelToken, Helper, Job, Machine, Options, Runner};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("__sandbox") {
        std::process::exit(i32::from(agon_execute::supervisor::main() != ExitCode::SUCCESS));
    }
    let machine = Machine::probe()?;
    for row in machine.describe() {
        eprintln!("{:?} {}: {}", row.state, row.item, row.detail);
    }
    let folder = tempfile::tempdir()?;
    let runner = Runner::new(&machine, Options::new(folder.path(), Helper::this_program("__sandbox")))?;
    let mut arguments = std::env::args_os().skip(1);
    let mut job = Job::new(arguments.next().unwrap_or("/bin/true".into()));
    job.arguments = arguments.collect();
    job.limits.memory = Some(200 << 20);
    job.limits.cpu = Some(std::time::Duration::from_secs(10));
    let seen = runner.run(&job, &CancelToken::new()?)?;
    println!("{}", String::from_utf8_lossy(&seen.stdout.bytes()?));
    eprintln!("{}", String::from_utf8_lossy(&seen.stderr.bytes()?));
    eprintln!("{seen:?}");
    Ok(())
}
