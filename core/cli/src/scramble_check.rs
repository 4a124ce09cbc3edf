//! `agon scramble --check`: whether a scrambled script has the same answers as the original.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agon_compete::setup;
use agon_execute::{CancelToken, FileContent, Helper, Job, JobFile, Machine, Options as RunnerOptions, Runner};
use agon_scramble::enumerate::models;
use agon_scramble::{Error, Mode, Options};
use anyhow::{Context as _, anyhow, bail};

use crate::Outcome;
use crate::args::ScrambleArgs;
use crate::print;

/// What one way to check came to.
enum Found {
    /// The answers are the same.
    Same,
    /// They are not.
    Differs,
    /// There are none to compare.
    Nothing,
}

pub fn run(args: &ScrambleArgs, options: &Options) -> anyhow::Result<Outcome> {
    let file = args.file.display();
    if options.mode == Mode::Unfold {
        bail!("--check compares one script with another, and the mode unfold makes several; check them one by one");
    }
    let mut options = options.clone();
    options.answers = false;
    let mut scrambled = Vec::new();
    match agon_scramble::scramble(args.file.as_path(), &options, &mut scrambled) {
        Ok(_) => {}
        Err(Error::Refused(refusal)) => bail!(
            "{file}, line {}, column {}: the official scrambler refuses the script ({}); there is nothing to check",
            refusal.line,
            refusal.column,
            refusal.message
        ),
        Err(error) => bail!("{file}: {error}"),
    }
    let original = std::fs::read(&args.file).with_context(|| format!("{file} cannot be read"))?;
    let mut text = format!("{file}: mode {}, seed {}\n", options.mode.word(), options.seed);
    let mut all = vec![by_enumeration(&original, &scrambled, &mut text)];
    for solver in solvers(args)? {
        all.push(by_solver(&solver, args, &scrambled, &mut text)?);
    }
    let differs = all.iter().any(|found| matches!(found, Found::Differs));
    let same = all.iter().filter(|found| matches!(found, Found::Same)).count();
    let _ = match (differs, same) {
        (true, _) => writeln!(text, "the scrambled script does not mean the same"),
        (false, 0) => writeln!(text, "nothing could be compared"),
        (false, 1) => writeln!(text, "the same answers, found in one way"),
        (false, ways) => writeln!(text, "the same answers, found in {ways} ways"),
    };
    print::out(&text);
    Ok(if differs || same == 0 { Outcome::Short } else { Outcome::Done })
}

fn by_enumeration(original: &[u8], scrambled: &[u8], text: &mut String) -> Found {
    let count = |script: &[u8]| models(&String::from_utf8_lossy(script));
    match (count(original), count(scrambled)) {
        (Ok(before), Ok(after)) if before == after => {
            let _ =
                writeln!(text, "  all assignments: the same number of models at each check-sat ({})", listed(&before));
            if before.is_empty() { Found::Nothing } else { Found::Same }
        }
        (Ok(before), Ok(after)) => {
            let _ = writeln!(text, "  all assignments: {} models before, {} after", listed(&before), listed(&after));
            Found::Differs
        }
        (Ok(_), Err(why)) => {
            let _ = writeln!(text, "  all assignments: the scrambled script cannot be tried: {}", why.0);
            Found::Differs
        }
        (Err(why), _) => {
            let _ = writeln!(text, "  all assignments: not tried: {}", why.0);
            Found::Nothing
        }
    }
}

fn listed(counts: &[u64]) -> String {
    counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// The solvers that were given, else those beside the current folder's sources.
fn solvers(args: &ScrambleArgs) -> anyhow::Result<Vec<PathBuf>> {
    if !args.solver.is_empty() {
        for solver in &args.solver {
            if !solver.is_file() {
                bail!("--solver {}: there is no such program", solver.display());
            }
        }
        return Ok(args.solver.clone());
    }
    let folder = Path::new(".solvers/bin");
    let known = ["z3", "cvc5", "yices-smt2", "bitwuzla"].map(|name| folder.join(name));
    Ok(known.into_iter().filter(|path| path.is_file()).collect())
}

fn by_solver(solver: &Path, args: &ScrambleArgs, scrambled: &[u8], text: &mut String) -> anyhow::Result<Found> {
    let time = setup::overrides(&[format!("wall={}", args.time)])?;
    let limit = setup::limits(&agon_edition::model::Limits::default(), &time)
        .map_err(|_| anyhow!("--time {}: write a time with its unit, such as 10s", args.time))?;
    let machine = Machine::probe().context("this machine cannot be looked at")?;
    let scratch = std::env::temp_dir().join("agon-scratch");
    let runner = Runner::new(&machine, RunnerOptions::new(scratch, Helper::this_program("__sandbox")))?;
    let cancel = CancelToken::new().context("no file descriptor is left")?;
    let program = std::path::absolute(solver).unwrap_or_else(|_| solver.to_path_buf());
    let answers = |content: FileContent| -> anyhow::Result<Vec<String>> {
        let mut job = Job::new(&program);
        job.arguments = vec![OsString::from("script.smt2")];
        job.files = vec![JobFile { name: "script.smt2".into(), content }];
        // A launcher finds what it launches beside its folder.
        let folder = program.parent().unwrap_or(Path::new("/"));
        job.readable = vec![if folder.ends_with("bin") { folder.parent().unwrap_or(folder) } else { folder }.into()];
        job.limits.wall = limit.whole("wall").map(std::time::Duration::from_nanos);
        let seen = runner.run(&job, &cancel)?;
        let out = seen.stdout.bytes()?;
        let out = String::from_utf8_lossy(&out);
        let lines = out.lines().map(str::trim).filter(|line| matches!(*line, "sat" | "unsat" | "unknown"));
        Ok(lines.map(str::to_string).collect())
    };
    let before = answers(FileContent::Path(args.file.clone()))?;
    let after = answers(FileContent::Bytes(scrambled.to_vec()))?;
    let _ = writeln!(text, "  {}: {} before, {} after", solver.display(), said(&before), said(&after));
    let decided = |answer: &str| answer != "unknown";
    let pairs: Vec<(&String, &String)> = before.iter().zip(&after).filter(|(a, b)| decided(a) && decided(b)).collect();
    Ok(if pairs.iter().any(|(a, b)| a != b) {
        Found::Differs
    } else if pairs.is_empty() || before.len() != after.len() {
        Found::Nothing
    } else {
        Found::Same
    })
}

fn said(answers: &[String]) -> String {
    if answers.is_empty() { "no answer".into() } else { answers.join(" ") }
}
