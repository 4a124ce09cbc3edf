//! Reading and writing results in the form of the archived editions.
//!
//! The readers take the files as they are archived, compressed or not (by the ending of the name: `.zst`, `.xz`); the
//! writers write the same columns, uncompressed.

use crate::{Answer, Condition, Ns, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// What reading and writing returns.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The columns of `smt-comp-2022/results-single-query.csv`.
const COLUMNS_2022: [&str; 13] = [
    "benchmark_id",
    "benchmark",
    "division",
    "logic",
    "family",
    "solver",
    "solver_id",
    "configuration_id",
    "competing",
    "cpu_time",
    "wallclock_time",
    "result",
    "expected",
];

/// The columns of `smt-comp-2014/results-main.csv`.
const COLUMNS_2014: [&str; 13] = [
    "pair_id",
    "benchmark",
    "benchmark_id",
    "logic",
    "solver",
    "solver_id",
    "configuration",
    "configuration_id",
    "status",
    "cpu_time",
    "wall_time",
    "result",
    "expected",
];

/// One line of a CSV file, by column name.
pub type Line = BTreeMap<String, String>;

/// All lines of a CSV file.
///
/// # Errors
///
/// If the file cannot be opened, unpacked or parsed.
pub fn read_csv(path: &Path) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for_each_line(path, |line| {
        lines.push(line.clone());
        Ok(())
    })?;
    Ok(lines)
}

fn for_each_line(path: &Path, mut each: impl FnMut(&Line) -> Result<()>) -> Result<()> {
    let file = BufReader::new(File::open(path).map_err(|e| format!("{}: {e}", path.display()))?);
    let input: Box<dyn Read> = match path.extension().and_then(|e| e.to_str()) {
        Some("zst") => Box::new(zstd::Decoder::new(file)?),
        Some("xz") => Box::new(liblzma::read::XzDecoder::new(file)),
        _ => Box::new(file),
    };
    let mut reader = csv::Reader::from_reader(input);
    let headers = reader.headers()?.clone();
    for record in reader.records() {
        let record = record?;
        let mut line = Line::new();
        for (header, value) in headers.iter().zip(&record) {
            line.insert(header.to_owned(), value.to_owned());
        }
        each(&line)?;
    }
    Ok(())
}

/// Reads a time in seconds, with or without an exponent, as nanoseconds.
///
/// # Errors
///
/// If it is not a number of at least 0, or is finer than a nanosecond.
pub fn parse_time(text: &str) -> Result<Ns> {
    let bad = || format!("`{text}` is not a time in seconds, or is finer than a nanosecond");
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| bad())?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || digits.len() > 25 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad().into());
    }
    // The digits without the point are a whole number of units of 10^(exponent - decimals) seconds.
    let mut value: Ns = digits.parse()?;
    let mut power = exponent + 9 - i32::try_from(part.len())?;
    if power > 12 {
        return Err(bad().into());
    }
    while power > 0 {
        value *= 10;
        power -= 1;
    }
    while power < 0 && value != 0 {
        if value % 10 != 0 {
            return Err(bad().into());
        }
        value /= 10;
        power += 1;
    }
    Ok(value)
}

/// Writes nanoseconds as seconds, with at least one decimal and no more than are needed.
#[must_use]
pub fn format_time(time: Ns) -> String {
    let mut text = format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    while text.ends_with('0') && !text.ends_with(".0") {
        text.pop();
    }
    text
}

fn parse_answer(text: &str) -> Result<Answer> {
    match text {
        "sat" => Ok(Answer::Sat),
        "unsat" => Ok(Answer::Unsat),
        "starexec-unknown" => Ok(Answer::Unknown),
        _ => Err(format!("`{text}` is no answer").into()),
    }
}

fn format_answer(answer: Answer) -> &'static str {
    match answer {
        Answer::Sat => "sat",
        Answer::Unsat => "unsat",
        Answer::Unknown => "starexec-unknown",
    }
}

fn parse_condition(text: &str) -> Result<Condition> {
    match text {
        "complete" => Ok(Condition::Complete),
        "timeout (cpu)" => Ok(Condition::TimeoutCpu),
        "timeout (wallclock)" => Ok(Condition::TimeoutWall),
        "memout" => Ok(Condition::Memout),
        _ => Err(format!("`{text}` is no condition").into()),
    }
}

fn format_condition(condition: Condition) -> &'static str {
    match condition {
        Condition::Complete => "complete",
        Condition::TimeoutCpu => "timeout (cpu)",
        Condition::TimeoutWall => "timeout (wallclock)",
        Condition::Memout => "memout",
    }
}

fn parse_yes(text: &str) -> Result<bool> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`{text}` is neither yes nor no").into()),
    }
}

fn format_yes(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn cell<'a>(line: &'a Line, column: &str) -> Result<&'a str> {
    line.get(column).map(String::as_str).ok_or_else(|| format!("there is no column `{column}`").into())
}

/// Reads the single query results of 2022, with the teams of the registration file if one is given.
///
/// The archive names no teams. A solver registered as a variant of another registered solver is of that solver's
/// team; every other solver is a team of its own.
///
/// # Errors
///
/// If a file cannot be read or does not have the archive's form.
pub fn read_archive_2022(results: &Path, solvers: Option<&Path>) -> Result<Vec<Row>> {
    let mut base: BTreeMap<String, String> = BTreeMap::new();
    if let Some(solvers) = solvers {
        for line in read_csv(solvers)? {
            base.insert(cell(&line, "solver")?.to_owned(), cell(&line, "variant_of")?.to_owned());
        }
    }
    let mut rows = Vec::new();
    for_each_line(results, |line| {
        let solver = cell(line, "solver")?;
        let team = match base.get(solver) {
            Some(variant_of) if base.contains_key(variant_of) => variant_of.clone(),
            _ => solver.to_owned(),
        };
        rows.push(Row {
            benchmark: cell(line, "benchmark")?.to_owned(),
            division: cell(line, "division")?.to_owned(),
            logic: cell(line, "logic")?.to_owned(),
            solver: solver.to_owned(),
            entrant: cell(line, "configuration_id")?.to_owned(),
            team,
            competing: parse_yes(cell(line, "competing")?)?,
            answer: parse_answer(cell(line, "result")?)?,
            expected: parse_answer(cell(line, "expected")?)?,
            condition: Condition::Complete,
            cpu: parse_time(cell(line, "cpu_time")?)?,
            wall: parse_time(cell(line, "wallclock_time")?)?,
        });
        Ok(())
    })?;
    Ok(rows)
}

/// Reads the main-track results of 2014.
///
/// # Errors
///
/// If a file cannot be read or does not have the archive's form.
pub fn read_archive_2014(results: &Path, solvers: &Path) -> Result<Vec<Row>> {
    let mut entrants: BTreeMap<(String, String), Line> = BTreeMap::new();
    for line in read_csv(solvers)? {
        let key = (cell(&line, "solver_id")?.to_owned(), cell(&line, "configuration_id")?.to_owned());
        entrants.insert(key, line);
    }
    let mut rows = Vec::new();
    for_each_line(results, |line| {
        let key = (cell(line, "solver_id")?.to_owned(), cell(line, "configuration_id")?.to_owned());
        let entrant = entrants.get(&key).ok_or_else(|| format!("{key:?} is not in the list of solvers"))?;
        let logic = cell(line, "logic")?;
        rows.push(Row {
            benchmark: cell(line, "benchmark")?.to_owned(),
            division: logic.to_owned(),
            logic: logic.to_owned(),
            solver: cell(entrant, "name")?.to_owned(),
            entrant: key.1,
            team: cell(entrant, "team")?.to_owned(),
            competing: parse_yes(cell(entrant, "competing")?)?,
            answer: parse_answer(cell(line, "result")?)?,
            expected: parse_answer(cell(line, "expected")?)?,
            condition: parse_condition(cell(line, "status")?)?,
            cpu: parse_time(cell(line, "cpu_time")?)?,
            wall: parse_time(cell(line, "wall_time")?)?,
        });
        Ok(())
    })?;
    Ok(rows)
}

/// Numbers for the distinct keys of something, in order, from `first`.
fn numbers<'a>(keys: impl Iterator<Item = &'a str>, first: u64) -> BTreeMap<&'a str, u64> {
    let distinct: BTreeSet<&str> = keys.collect();
    distinct.into_iter().zip(first..).collect()
}

/// Writes rows in the form of `results-single-query.csv` of 2022. The condition of a run and the teams are lost.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_archive_2022(rows: &[Row], path: &Path) -> Result<()> {
    let benchmark_ids = numbers(rows.iter().map(|r| r.benchmark.as_str()), 14_696_511);
    let solver_ids = numbers(rows.iter().map(|r| r.entrant.as_str()), 39_001);
    let mut writer = csv::Writer::from_path(path)?;
    writer.write_record(COLUMNS_2022)?;
    for row in rows {
        // The family is the directory between the logic and the file name.
        let family = row.path_without_logic().rsplit_once('/').map_or("", |(family, _)| family);
        writer.write_record([
            &benchmark_ids[row.benchmark.as_str()].to_string(),
            &row.benchmark,
            &row.division,
            &row.logic,
            family,
            &row.solver,
            &solver_ids[row.entrant.as_str()].to_string(),
            &row.entrant,
            format_yes(row.competing),
            &format_time(row.cpu),
            &format_time(row.wall),
            format_answer(row.answer),
            format_answer(row.expected),
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// Writes the solvers of some rows in the form of `solvers.csv` of 2022.
///
/// The first solver of each team, by name, is registered by itself and the others as its variants.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_solvers_2022(rows: &[Row], path: &Path) -> Result<()> {
    let solver_ids = numbers(rows.iter().map(|r| r.entrant.as_str()), 39_001);
    let mut solvers: BTreeMap<&str, &Row> = BTreeMap::new();
    let mut logics: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        solvers.insert(&row.solver, row);
        logics.entry(&row.solver).or_default().insert(&row.logic);
    }
    let mut first_of_team: BTreeMap<&str, &str> = BTreeMap::new();
    let mut writer = csv::Writer::from_path(path)?;
    writer.write_record([
        "solver_id",
        "solver",
        "competing",
        "variant_of",
        "wrapper_of",
        "derived_from",
        "seed",
        "config_single_query",
        "config_incremental",
        "config_model_validation",
        "config_unsat_core",
        "config_proof_exhibition",
        "logics_single_query",
        "logics_incremental",
        "logics_model_validation",
        "logics_unsat_core",
        "logics_proof_exhibition",
    ])?;
    for (solver, row) in &solvers {
        let first = *first_of_team.entry(&row.team).or_insert(solver);
        let variant_of = if first == *solver { "" } else { first };
        let entered: Vec<&str> = logics[solver].iter().copied().collect();
        writer.write_record([
            &solver_ids[row.entrant.as_str()].to_string(),
            *solver,
            format_yes(row.competing),
            variant_of,
            "",
            "",
            "0",
            &row.entrant,
            "",
            "",
            "",
            "",
            &entered.join(";"),
            "",
            "",
            "",
            "",
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// Writes rows in the form of `results-main.csv` and `solvers.csv` of 2014.
///
/// The entrants of one team share a solver identifier and differ in the configuration, as some did in 2014.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write_archive_2014(rows: &[Row], results: &Path, solvers: &Path) -> Result<()> {
    let benchmark_ids = numbers(rows.iter().map(|r| r.benchmark.as_str()), 830_001);
    let team_ids = numbers(rows.iter().map(|r| r.team.as_str()), 1_001);
    let mut writer = csv::Writer::from_path(results)?;
    writer.write_record(COLUMNS_2014)?;
    for (pair_id, row) in (20_483_840_u64..).zip(rows) {
        writer.write_record([
            &pair_id.to_string(),
            &row.benchmark,
            &benchmark_ids[row.benchmark.as_str()].to_string(),
            &row.logic,
            &exported_name(row),
            &team_ids[row.team.as_str()].to_string(),
            &exported_configuration(row),
            &row.entrant,
            format_condition(row.condition),
            &format_time(row.cpu),
            &format_time(row.wall),
            format_answer(row.answer),
            format_answer(row.expected),
        ])?;
    }
    writer.flush()?;

    let mut entrants: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        entrants.insert(&row.entrant, row);
    }
    let mut writer = csv::Writer::from_path(solvers)?;
    writer.write_record(["solver", "solver_id", "configuration", "configuration_id", "name", "competing", "team"])?;
    for row in entrants.values() {
        writer.write_record([
            &exported_name(row),
            &team_ids[row.team.as_str()].to_string(),
            &exported_configuration(row),
            &row.entrant,
            &row.solver,
            format_yes(row.competing),
            &row.team,
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// A solver's name in the job export of 2014: entrants of one team are configurations of one solver.
fn exported_name(row: &Row) -> String {
    format!("{} 2014", row.team)
}

fn exported_configuration(row: &Row) -> String {
    format!("configuration-{}", row.entrant)
}
