//! `agon bench`: what benchmarks say of themselves, and whether they are what a track asks for.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agon_smtlib::Summary;
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use serde_json::json;

use crate::Outcome;
use crate::args::{BenchCommand, Format};
use crate::known::Plugins;
use crate::print;

/// Runs a command.
pub fn run(command: BenchCommand) -> anyhow::Result<Outcome> {
    match command {
        BenchCommand::Index { folder, format, output } => index(&folder, format, output.as_deref()),
        BenchCommand::Lint { scripts, edition, track, places, format } => {
            crate::lint::run(&scripts, edition.as_deref().zip(track.as_deref()), &Plugins::new(&places), format)
        }
    }
}

/// A benchmark's row.
struct Row {
    path: PathBuf,
    bytes: u64,
    hash: String,
    summary: Summary,
}

/// All scripts below the folders, and the files themselves, in order.
pub fn scripts(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            if !path.is_file() {
                bail!("{}: there is no such file or folder; give a script, or a folder of them", path.display());
            }
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        let mut waiting = vec![path.clone()];
        while let Some(folder) = waiting.pop() {
            let entries = std::fs::read_dir(&folder)
                .with_context(|| format!("{} cannot be listed; allow it to be read", folder.display()))?;
            for entry in entries {
                let entry = entry.with_context(|| format!("{} cannot be listed", folder.display()))?;
                let path = entry.path();
                // A link to a folder may lead round in a circle.
                let linked = entry.file_type().is_ok_and(|t| t.is_symlink());
                if path.is_dir() && !linked {
                    waiting.push(path);
                } else if path.extension().is_some_and(|e| e == "smt2") && path.is_file() {
                    found.push(path);
                }
            }
        }
        if found.len() == before {
            bail!("{}: there is no script (*.smt2) in this folder or below it", path.display());
        }
        found[before..].sort();
    }
    Ok(found)
}

/// A bar on a terminal; nothing elsewhere.
pub fn progress(count: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what.to_string());
    bar
}

fn index(folder: &Path, format: Format, output: Option<&Path>) -> anyhow::Result<Outcome> {
    if !folder.is_dir() {
        bail!("{}: this is no folder; give the folder of the benchmarks", folder.display());
    }
    let files = scripts(&[folder.to_path_buf()])?;
    if let Some(output) = output {
        print::writable(output, files.iter())?;
    }
    let bar = progress(files.len(), "index");
    let rows: Vec<Row> = files
        .into_par_iter()
        .map(|path| {
            let text = std::fs::read(&path)
                .with_context(|| format!("{} cannot be read; allow it, or move it elsewhere", path.display()))?;
            let row = Row {
                bytes: text.len() as u64,
                hash: blake3::hash(&text).to_hex().to_string(),
                summary: Summary::of(&text),
                path,
            };
            bar.inc(1);
            Ok(row)
        })
        .collect::<anyhow::Result<_>>()?;
    bar.finish_and_clear();
    let text = written(&rows, folder, format, output)?;
    print::to(output, &text)?;
    let damaged: Vec<&Row> = rows.iter().filter(|r| r.summary.problem.is_some()).collect();
    for row in damaged.iter().take(10) {
        if let Some(problem) = &row.summary.problem {
            print::err(&format!("{}: {problem}; the rest of the script was counted\n", row.path.display()));
        }
    }
    if !damaged.is_empty() {
        print::err(&format!("{} of {} scripts are damaged: see the column `problem`\n", damaged.len(), rows.len()));
    }
    Ok(Outcome::Done)
}

const COLUMNS: [&str; 14] = [
    "benchmark",
    "path",
    "logic",
    "status",
    "category",
    "family",
    "assertions",
    "check_sats",
    "named",
    "patterns",
    "sorts",
    "bytes",
    "hash",
    "problem",
];

fn written(rows: &[Row], folder: &Path, format: Format, output: Option<&Path>) -> anyhow::Result<String> {
    // Where the list is written to a file, its paths are from the file's folder, as `agon run` reads them.
    let base = match output {
        Some(file) => {
            let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(parent.canonicalize().with_context(|| format!("there is no folder {}", parent.display()))?)
        }
        None => None,
    };
    let root = folder.canonicalize().with_context(|| format!("{} cannot be opened", folder.display()))?;
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let below = row.path.strip_prefix(folder).unwrap_or(&row.path);
        let full = root.join(below);
        let path = match &base {
            Some(base) => full.strip_prefix(base).unwrap_or(&full),
            None => below,
        };
        let s = &row.summary;
        let problem = s.problem.as_ref().map(ToString::to_string).unwrap_or_default();
        lines.push([
            below.display().to_string(),
            path.display().to_string(),
            s.logic.clone().unwrap_or_default(),
            s.statuses.join(" "),
            s.category.clone().unwrap_or_default(),
            family(below, s.logic.as_deref()),
            s.assertions.to_string(),
            s.check_sats.to_string(),
            s.named.to_string(),
            s.patterns.to_string(),
            s.sorts.to_string(),
            row.bytes.to_string(),
            row.hash.clone(),
            problem,
        ]);
    }
    Ok(match format {
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(COLUMNS)?;
            for line in &lines {
                writer.write_record(line)?;
            }
            String::from_utf8(writer.into_inner().map_err(|e| anyhow::anyhow!("{e}"))?)?
        }
        Format::Json => {
            let number = |text: &str| text.parse::<u64>().map_or(json!(null), |n| json!(n));
            let rows: Vec<serde_json::Value> = lines
                .iter()
                .map(|line| {
                    let cells = COLUMNS.iter().zip(line).map(|(name, cell)| {
                        let value = match *name {
                            "status" => json!(cell.split_whitespace().collect::<Vec<_>>()),
                            "assertions" | "check_sats" | "named" | "patterns" | "sorts" | "bytes" => number(cell),
                            _ if cell.is_empty() => json!(null),
                            _ => json!(cell),
                        };
                        ((*name).to_string(), value)
                    });
                    serde_json::Value::Object(cells.collect())
                })
                .collect();
            format!("{}\n", serde_json::to_string_pretty(&rows)?)
        }
        Format::Table => table(&lines),
    })
}

/// The columns that people look at, aligned.
fn table(lines: &[[String; 14]]) -> String {
    const SHOWN: [usize; 11] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    let cell = |text: &str| -> String {
        // What comes from a file must not reach a terminal raw, nor push everything else to the right.
        let clean: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        if clean.chars().count() > 60 { clean.chars().take(57).chain("...".chars()).collect() } else { clean }
    };
    let header = SHOWN.map(|c| COLUMNS[c].to_string());
    let rows: Vec<[String; 11]> = lines.iter().map(|line| SHOWN.map(|c| cell(&line[c]))).collect();
    let widths: Vec<usize> = (0..SHOWN.len())
        .map(|c| rows.iter().chain([&header]).map(|r| r[c].chars().count()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in [&header].into_iter().chain(&rows) {
        let mut text = String::new();
        for (at, cell) in row.iter().enumerate() {
            let width = widths[at];
            let _ = if at < 5 { write!(text, "{cell:<width$}  ") } else { write!(text, "{cell:>width$}  ") };
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

/// The folders between the logic's and the file: what the benchmark library calls a family.
fn family(below: &Path, logic: Option<&str>) -> String {
    let folders: Vec<String> = below
        .parent()
        .map(|p| p.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    let from = folders.iter().position(|f| Some(f.as_str()) == logic).map_or(0, |at| at + 1);
    folders[from..].join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_lie_below_the_logic() {
        let of = |path: &str| family(Path::new(path), Some("QF_BV"));
        assert_eq!(of("non-incremental/QF_BV/sage/app1/a.smt2"), "sage/app1");
        assert_eq!(of("QF_BV/a.smt2"), "");
        assert_eq!(of("a.smt2"), "");
        assert_eq!(of("hull/a.smt2"), "hull");
    }
}
