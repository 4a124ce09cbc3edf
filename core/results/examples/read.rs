//! Reads the archives of two competitions and prints how long that took. Give the directory of the archives, or set
//! `AGON_ARCHIVE`; without either, `/work/shared` is taken.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_results::{
    ColumnRule, Duplicates, Header, Join, JoinFile, Kind, Mapping, Recognise, Source, read, read_parquet, write_parquet,
};

fn words(words: &[&str]) -> Kind {
    Kind::Words(words.iter().map(ToString::to_string).collect())
}

fn answers() -> ColumnRule {
    let known = [("sat", "sat"), ("unsat", "unsat"), ("starexec-unknown", "unknown")];
    ColumnRule {
        words: Some(known.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()),
        ..ColumnRule::plain("answer", "result", words(&["sat", "unsat", "unknown"]))
    }
}

fn seconds() -> Kind {
    Kind::Time { unit_ns: 1_000_000_000, negative: false }
}

/// SMT-COMP 2022, as archived.
fn form_2022() -> Mapping {
    let family = regex::Regex::new("^[^/]*/([^/]*)").expect("a pattern");
    Mapping {
        name: "smt-comp-2022/archive".into(),
        header: Header::Named,
        delimiter: b',',
        recognise: Recognise { columns: vec!["wallclock_time".into(), "division".into()], ..Recognise::default() },
        columns: vec![
            ColumnRule::plain("entrant", "configuration_id", Kind::Text),
            ColumnRule::plain("name", "solver", Kind::Text),
            ColumnRule::plain("solver_id", "solver_id", Kind::Text),
            ColumnRule::plain("benchmark", "benchmark", Kind::Text),
            ColumnRule::plain("benchmark_id", "benchmark_id", Kind::Text),
            ColumnRule::plain("division", "division", Kind::Text),
            ColumnRule::plain("logic", "logic", Kind::Text),
            ColumnRule { part: Some(family), ..ColumnRule::plain("family", "benchmark", Kind::Text) },
            ColumnRule::plain("competing", "competing", Kind::Bool),
            ColumnRule::plain("cpu_time", "cpu_time", seconds()),
            ColumnRule::plain("wall_time", "wallclock_time", seconds()),
            answers(),
            ColumnRule { name: "expected".into(), source: Source::Column("expected".into()), ..answers() },
        ],
        joins: Vec::new(),
        key: vec!["entrant".into(), "benchmark".into()],
        duplicates: Duplicates::Error,
    }
}

/// SMT-COMP 2014, as archived.
fn form_2014() -> Mapping {
    let status = words(&["complete", "memout", "timeout (cpu)", "timeout (wallclock)"]);
    let on = |name: &str| (name.to_string(), name.to_string());
    Mapping {
        name: "smt-comp-2014/archive".into(),
        recognise: Recognise { columns: vec!["pair_id".into(), "status".into()], ..Recognise::default() },
        columns: vec![
            ColumnRule::plain("solver_id", "solver_id", Kind::Text),
            ColumnRule::plain("configuration_id", "configuration_id", Kind::Text),
            ColumnRule::plain("benchmark", "benchmark", Kind::Text),
            ColumnRule::plain("logic", "logic", Kind::Text),
            ColumnRule::plain("status", "status", status),
            ColumnRule::plain("cpu_time", "cpu_time", seconds()),
            ColumnRule::plain("wall_time", "wall_time", seconds()),
            answers(),
            ColumnRule { name: "expected".into(), source: Source::Column("expected".into()), ..answers() },
        ],
        joins: vec![Join {
            optional: false,
            file: JoinFile::Beside("solvers.csv".into()),
            header: Header::Named,
            delimiter: b',',
            recognise: Recognise::default(),
            on: vec![on("solver_id"), on("configuration_id")],
            columns: vec![
                ColumnRule::plain("entrant", "name", Kind::Text),
                ColumnRule::plain("competing", "competing", Kind::Bool),
            ],
        }],
        key: vec!["solver_id".into(), "configuration_id".into(), "benchmark".into()],
        ..form_2022()
    }
}

/// The CPU time of this process so far: unlike the elapsed time, it does not depend on what else the machine does.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let (wall, start) = (Instant::now(), cpu());
    let result = f();
    println!("{what}: {:.0?} CPU, {:.0?} elapsed", cpu() - start, wall.elapsed());
    result
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::args().nth(1).or_else(|| std::env::var("AGON_ARCHIVE").ok());
    let root = PathBuf::from(given.unwrap_or_else(|| "/work/shared".into())).join("archive");
    let forms = [form_2022(), form_2014()];
    let file_2022 = root.join("smt-comp-2022/results-single-query.csv.zst");
    let file_2014 = root.join("smt-comp-2014/results-main.csv.xz");
    for _ in 0..3 {
        timed("2022 decompressed only", || {
            let file = std::fs::File::open(&file_2022)?;
            std::io::copy(&mut zstd::stream::read::Decoder::new(file)?, &mut std::io::sink())
        })?;
        let outcome = timed("2022", || read(std::slice::from_ref(&file_2022), &forms))?;
        let table = &outcome.tables[0].1;
        println!("  {} rows, {} columns", table.rows(), table.names().count());
        let path = Path::new("/tmp").join(format!("agon-results-{}.parquet", std::process::id()));
        timed("2022 write Parquet", || write_parquet(table, &[], &path))?;
        println!("  {} bytes", std::fs::metadata(&path)?.len());
        let back = timed("2022 read Parquet", || read_parquet(&path))?;
        println!("  {} rows", back.0.rows());
        std::fs::remove_file(&path)?;
        let outcome = timed("2014", || read(std::slice::from_ref(&file_2014), &forms))?;
        println!("  {} rows, {} columns", outcome.tables[0].1.rows(), outcome.tables[0].1.names().count());
    }
    Ok(())
}
