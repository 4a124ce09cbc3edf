//! What running a program in a sandbox costs, against doing nothing but starting it. Both ways in turn, in
//! one sitting, so that the machine's load is the same for both.
//!
//! `overhead [RUNS] [soak]`: RUNS of each way per round (100); with `soak`, RUNS in the sandbox only, with
//! the runner's memory and open files shown on the way.
#![allow(clippy::print_stdout)]
#![allow(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agon_execute::{CancelToken, GroupChoice, Helper, Job, Machine, Options, Runner, WorkFolder};

/// The least that has to be done: vfork, exec, wait4.
fn bare(runs: u32) -> Duration {
    let program = c"/bin/true";
    let start = Instant::now();
    for _ in 0..runs {
        // SAFETY: the child does nothing but execute a program with fixed arguments or end; `vfork` halts
        // this process until then.
        #[allow(deprecated)]
        unsafe {
            let argv = [program.as_ptr(), std::ptr::null()];
            let env = [std::ptr::null()];
            let child = libc::vfork();
            if child == 0 {
                libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr());
                libc::_exit(127);
            }
            let mut status = 0;
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::wait4(child, &raw mut status, 0, &raw mut usage);
            assert_eq!(status, 0);
        }
    }
    start.elapsed()
}

fn sandboxed(runner: &Runner, runs: u32, cpus: &[u32]) -> Result<Duration, Box<dyn Error>> {
    let cancel = CancelToken::new()?;
    let mut job = Job::new("/bin/true");
    job.cpus = cpus.to_vec();
    job.limits.wall = Some(Duration::from_secs(10));
    job.limits.cpu = Some(Duration::from_secs(10));
    job.limits.memory = Some(1 << 30);
    let start = Instant::now();
    for _ in 0..runs {
        let seen = runner.run(&job, &cancel)?;
        assert_eq!((seen.exit, seen.limit), (Some(0), None));
    }
    Ok(start.elapsed())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Resident kibibytes and open descriptors of this process.
fn own() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0);
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    (resident, open)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "__sandbox") {
        return Ok(agon_execute::supervisor::main());
    }
    let runs = arguments.first().and_then(|word| word.parse().ok()).unwrap_or(100);
    let machine = Machine::probe()?;
    let folder = tempfile::tempdir()?;
    let options = Options::new(folder.path(), Helper::this_program("__sandbox"));
    let cpu = [machine.cores[0].cpu];

    if arguments.get(1).is_some_and(|word| word == "soak") {
        let runner = Runner::new(&machine, options)?;
        let mut done = 0;
        let step = (runs / 20).max(1);
        while done < runs {
            let took = sandboxed(&runner, step.min(runs - done), &cpu)?;
            done += step;
            let (resident, open) = own();
            println!(
                "{done} runs: {:.3} ms each, {resident} KiB resident, {open} descriptors",
                took.as_secs_f64() * 1e3 / f64::from(step)
            );
        }
        return Ok(ExitCode::SUCCESS);
    }

    let mut disk = options.clone();
    disk.work = WorkFolder::Disk;
    let mut loose = options.clone();
    loose.groups = GroupChoice::Off;
    let runners = [
        ("full isolation, pinned", Runner::new(&machine, options)?, &cpu[..]),
        ("the same, folder on disk", Runner::new(&machine, disk)?, &cpu[..]),
        ("without control groups", Runner::new(&machine, loose)?, &[][..]),
    ];
    println!("{:?}", runners[0].1.mechanisms());
    let mut ratios = vec![Vec::new(); runners.len()];
    let mut times = vec![Vec::new(); runners.len() + 1];
    for _ in 0..15 {
        let each = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(runs);
        let before = each(bare(runs));
        for (index, (_, runner, cpus)) in runners.iter().enumerate() {
            let time = each(sandboxed(runner, runs, cpus)?);
            times[index + 1].push(time);
            ratios[index].push(time / before);
        }
        times[0].push(before);
    }
    println!("vfork, exec, wait4: {:.3} ms", median(times[0].clone()));
    for (index, (name, _, _)) in runners.iter().enumerate() {
        println!("{name}: {:.3} ms, {:.2} times", median(times[index + 1].clone()), median(ratios[index].clone()));
    }
    Ok(ExitCode::SUCCESS)
}
