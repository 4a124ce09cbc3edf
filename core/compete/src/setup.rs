//! From an edition, an entrants file and a list of benchmarks to a track that is ready to run: the plan for the store and
//! the rules for the runner.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_edition::model::{self, Track};
use agon_store::entrants::{Entrant, Entrants};
use agon_store::record::{Plan, PlanBenchmark, PlanEntrant, PluginId, Program};
use agon_table::{Dim, Exact, parse_quantity};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::CompeteError;
use crate::benchmarks::Benchmark;
use crate::convert::hash_file;
use crate::race::{Rules, Runnable};
use crate::scrambled::ScrambleRules;
use crate::tools::Tool;

/// A track that is ready to run.
#[derive(Debug)]
pub struct Ready {
    /// What is to be run, for the store.
    pub plan: Plan,
    /// How.
    pub rules: Rules,
    /// How benchmarks are scrambled.
    pub scramble: ScrambleRules,
    /// The entrants.
    pub entrants: Vec<Runnable>,
    /// The command lines that print versions: program and arguments, for those entrants that have one.
    pub versions: Vec<Option<(PathBuf, Vec<String>)>>,
    /// The benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// What checks answers.
    pub tools: Vec<Tool>,
    /// What an organiser should know.
    pub notes: Vec<String>,
}

/// What is given beside edition and benchmarks.
#[derive(Debug)]
pub struct Given<'a> {
    /// The entrants file.
    pub entrants: &'a Entrants,
    /// Limits in place of the edition's, by name.
    pub limits: &'a IndexMap<String, String>,
    /// The value of `PATH`, for programs that are named without a folder.
    pub path: Option<&'a OsStr>,
    /// Folders that no run may see: the store's and whatever has answers in it.
    pub hidden: &'a [PathBuf],
    /// Who judges.
    pub plugin: PluginId,
    /// The competition's seed.
    pub seed: Option<i64>,
}

/// Reads `wall=10s,memory=2GB` into names and values.
///
/// # Errors
/// If a part is no `NAME=VALUE`, or a name stands twice or is none of a limit.
pub fn overrides(texts: &[String]) -> Result<IndexMap<String, String>, CompeteError> {
    let known = || model::Limits::NAMES.map(|(name, _)| name).join(", ");
    let mut all = IndexMap::new();
    for part in texts.iter().flat_map(|t| t.split(',')).map(str::trim).filter(|p| !p.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(CompeteError::Input(format!("--limit {part}: write NAME=VALUE, such as wall=10s.")));
        };
        let (name, value) = (name.trim(), value.trim());
        if !model::Limits::NAMES.iter().any(|(known, _)| *known == name) {
            return Err(CompeteError::Input(format!(
                "--limit {part}: there is no limit `{name}` (there are: {}).",
                known()
            )));
        }
        if all.insert(name.to_string(), value.to_string()).is_some() {
            return Err(CompeteError::Input(format!("--limit: `{name}` is given twice. Give it once.")));
        }
    }
    Ok(all)
}

/// The limits of a track with others in their places.
///
/// # Errors
/// If a value has not the unit that its limit needs, or is not more than nothing.
pub fn limits(of: &model::Limits, overrides: &IndexMap<String, String>) -> Result<model::Limits, CompeteError> {
    let mut limits = of.clone();
    for (name, value) in overrides {
        let bad = |why: &str| CompeteError::Input(format!("--limit {name}={value}: {why}."));
        let dim = model::Limits::NAMES.iter().find(|(known, _)| known == name).map_or(Dim::NONE, |(_, dim)| *dim);
        if dim == Dim::NONE {
            let count = value.parse::<i64>().ok().filter(|n| *n >= 1);
            let count = count.ok_or_else(|| bad("write a whole number that is at least 1"))?;
            *(if name == "cores" { &mut limits.cores } else { &mut limits.processes }) = Some(count);
            continue;
        }
        let unit = if dim == Dim::TIME {
            "write a time with its unit, such as 10s or 20 min"
        } else {
            "write a size with its unit, such as 2GB or 512 MiB"
        };
        // A blank before the unit may be left out on a command line.
        let split = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
        let spaced = format!("{} {}", value[..split].trim(), &value[split..]);
        let (amount, found) = parse_quantity(&spaced).map_err(|_| bad(unit))?;
        if found != dim || amount <= Exact::ZERO {
            return Err(bad(unit));
        }
        limits.amounts.insert(name.clone(), (amount, dim));
    }
    Ok(limits)
}

/// What the sandbox is told.
fn enforced(limits: &model::Limits) -> agon_execute::Limits {
    let usual = agon_execute::Limits::default();
    agon_execute::Limits {
        wall: limits.whole("wall").map(Duration::from_nanos),
        cpu: limits.whole("cpu").map(Duration::from_nanos),
        memory: limits.whole("memory"),
        processes: limits.whole("processes").or(usual.processes),
        file_size: limits.whole("file-size").or(usual.file_size),
        disk: limits.whole("disk").or(usual.disk),
        output: limits.whole("output").or(usual.output),
    }
}

/// Makes a track ready to run.
///
/// # Errors
/// If a program is not there, no entrant takes part, the edition and the command line leave a run without a limit on its
/// time, or an entrant is run on nothing.
pub fn ready(track: &Track, benchmarks: Vec<Benchmark>, given: &Given<'_>) -> Result<Ready, CompeteError> {
    let limits = limits(&track.limits, given.limits)?;
    if limits.whole("wall").is_none() {
        return Err(CompeteError::Input(format!(
            "the track {} has no limit on wall-clock time, so that a run might never end. Give one, such as --limit wall=20min.",
            track.name
        )));
    }
    let mut notes = Vec::new();
    let scramble = ScrambleRules::new(track, given.seed)?;
    let mut environment = Vec::new();
    for (name, variable) in &track.run.environment {
        if let Some(text) = variable.text(&limits) {
            environment.push((name.clone(), text));
        }
    }
    let mut plan_benchmarks = Vec::with_capacity(benchmarks.len());
    for benchmark in &benchmarks {
        let (hash, bytes) =
            hash_file(&benchmark.path).map_err(|e| CompeteError::io(&benchmark.path, "cannot be read", &e))?;
        // Who judges later may be in another folder.
        let path = std::path::absolute(&benchmark.path).unwrap_or_else(|_| benchmark.path.clone());
        plan_benchmarks.push(PlanBenchmark {
            id: benchmark.id.clone(),
            path: path.to_string_lossy().into_owned(),
            logic: benchmark.logic.clone(),
            division: benchmark.division.clone(),
            family: benchmark.family.clone(),
            statuses: benchmark.statuses.clone(),
            hash,
            bytes,
        });
    }
    let (mut plan_entrants, mut runnables, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    let mut hashes: FxHashMap<PathBuf, Program> = FxHashMap::default();
    for entrant in given.entrants.of_track(&track.name) {
        let program = locate(&entrant.command, given.entrants, given.path)?;
        let left_out: Vec<u32> = (0_u32..)
            .zip(&benchmarks)
            .filter(|(_, b)| !entrant.scope.includes(b.division.as_deref(), b.logic.as_deref()))
            .map(|(at, _)| at)
            .collect();
        if left_out.len() == benchmarks.len() {
            notes.push(format!("{} is run on none of the benchmarks: none is of its divisions or logics", entrant.id));
        }
        let hashed = match hashes.get(&program) {
            Some(known) => known.clone(),
            None => {
                let (hash, bytes) =
                    hash_file(&program).map_err(|e| CompeteError::io(&program, "cannot be read", &e))?;
                let new = Program { path: program.to_string_lossy().into_owned(), hash, bytes };
                hashes.entry(program.clone()).or_insert(new).clone()
            }
        };
        versions.push(match &entrant.solver.version {
            Some(command) => Some((locate(command, given.entrants, given.path)?, command[1..].to_vec())),
            None => None,
        });
        runnables.push(Runnable {
            id: entrant.id.clone(),
            readable: readable(&program, &entrant.solver.readable, given.entrants, given.hidden),
            program,
            arguments: entrant.command[1..].iter().map(OsString::from).collect(),
            configuration: entrant.configuration.iter().map(ToString::to_string).collect(),
        });
        plan_entrants.push(planned(&entrant, hashed, left_out));
    }
    if plan_entrants.is_empty() {
        return Err(CompeteError::Input(format!(
            "{}: no entrant takes part in the track {}. Name the track under `tracks` of an entrant, or leave `tracks` out.",
            given.entrants.file, track.name
        )));
    }
    let tools = tools(given.entrants, given.path, given.hidden)?;
    let amounts: serde_json::Map<String, serde_json::Value> =
        limits.all().filter_map(|(name, ..)| Some((name.to_string(), limits.whole(name)?.into()))).collect();
    let parameters: serde_json::Map<String, serde_json::Value> =
        track.parameters.iter().map(|(name, value)| (name.clone(), value.json())).collect();
    let check_limits = check_limits(track);
    Ok(Ready {
        plan: Plan {
            track: track.name.clone(),
            plugin: given.plugin.clone(),
            parameters: parameters.into(),
            limits: amounts.into(),
            overrides: given.limits.clone(),
            entrants: plan_entrants,
            benchmarks: plan_benchmarks,
            extra: scramble.json(),
        },
        scramble,
        rules: Rules {
            track: track.name.clone(),
            on_stdin: track.input == Some(model::Input::Stdin),
            environment,
            limits: enforced(&limits),
            cores: limits.cores.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
            check_limits,
        },
        entrants: runnables,
        versions,
        benchmarks,
        tools,
        notes,
    })
}

/// The tools of an entrants file.
///
/// # Errors
/// If a program is not there or cannot be read.
pub fn tools(list: &Entrants, path: Option<&OsStr>, hidden: &[PathBuf]) -> Result<Vec<Tool>, CompeteError> {
    let mut tools = Vec::new();
    for tool in &list.tools {
        let program = locate(&tool.command, list, path)?;
        tools.push(Tool {
            role: tool.role.clone(),
            name: tool.name.clone(),
            readable: readable(&program, &tool.readable, list, hidden),
            content: hash_file(&program).map_err(|e| CompeteError::io(&program, "cannot be read", &e))?,
            program,
            arguments: tool.command[1..].to_vec(),
            fault: None,
        });
    }
    Ok(tools)
}

/// What the checks of a track may use, by their names.
pub fn check_limits(track: &Track) -> Vec<(String, agon_execute::Limits)> {
    track.checks.iter().map(|(name, (_, limits))| (name.clone(), enforced(limits))).collect()
}

/// What the runs of a stored plan could use: what the edition says of it may have changed since.
pub fn stored_limits(track: &Track, plan: &Plan) -> agon_execute::Limits {
    let mut limits = track.limits.clone();
    for (name, value) in plan.limits.as_object().into_iter().flatten() {
        if let Some(value) = value.as_u64() {
            limits.set(name, value);
        }
    }
    enforced(&limits)
}

impl Ready {
    /// Puts entrants and benchmarks into the order of the plan that a store has already, which says the same things in
    /// perhaps another order.
    pub fn in_order_of(&mut self, stored: &Plan) {
        let place: FxHashMap<&str, usize> =
            stored.entrants.iter().enumerate().map(|(n, e)| (e.id.as_str(), n)).collect();
        self.entrants.sort_by_key(|e| place.get(e.id.as_str()).copied());
        let place: FxHashMap<&str, usize> =
            stored.benchmarks.iter().enumerate().map(|(n, b)| (b.id.as_str(), n)).collect();
        self.benchmarks.sort_by_key(|b| place.get(b.id.as_str()).copied());
    }
}

fn planned(entrant: &Entrant<'_>, program: Program, left_out: Vec<u32>) -> PlanEntrant {
    PlanEntrant {
        id: entrant.id.clone(),
        solver: entrant.solver.name.clone(),
        configuration: entrant.configuration.map(str::to_string),
        competing: entrant.competing,
        command: entrant.command.clone(),
        programs: vec![program],
        version: None,
        left_out,
        fields: entrant.fields.clone(),
    }
}

/// The program of a command.
fn locate(command: &[String], list: &Entrants, path: Option<&OsStr>) -> Result<PathBuf, CompeteError> {
    let name = command.first().map_or("", String::as_str);
    list.program(name, path).map_err(|e| CompeteError::Input(e.to_string()))
}

/// What a program may read: its folder; if that is called `bin`, what is beside it as well; and what was declared. A
/// folder that has something hidden in it is not opened as a whole.
fn readable(program: &Path, declared: &[String], list: &Entrants, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let real = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
    let hides = |folder: &Path| hidden.iter().any(|h| h.starts_with(folder));
    for path in [program, &real] {
        let Some(folder) = path.parent() else { continue };
        let whole = if folder.ends_with("bin") { folder.parent().unwrap_or(folder) } else { folder };
        let best = [whole, folder].into_iter().find(|f| f.parent().is_some() && !hides(f));
        folders.push(best.unwrap_or(path).to_path_buf());
    }
    folders.extend(declared.iter().map(|d| {
        let path = list.folder.join(d);
        std::path::absolute(&path).unwrap_or(path)
    }));
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_command_line() {
        let texts = ["wall=10s, memory=2GB".to_string(), "cores=1".to_string()];
        let overrides = overrides(&texts).unwrap();
        let limits = limits(&model::Limits::default(), &overrides).unwrap();
        assert_eq!(limits.whole("wall"), Some(10_000_000_000));
        assert_eq!(limits.whole("memory"), Some(2_000_000_000));
        assert_eq!(limits.cores, Some(1));
        assert_eq!(enforced(&limits).wall, Some(Duration::from_secs(10)));
    }

    #[test]
    fn limits_that_are_none() {
        for text in ["wall", "wal=10s", "wall=10s,wall=20s"] {
            assert!(overrides(&[text.to_string()]).is_err(), "{text}");
        }
        for text in ["wall=10", "wall=10GB", "memory=5s", "cores=0", "cores=1.5", "wall=-3s", "wall=0s"] {
            let overrides = overrides(&[text.to_string()]).unwrap();
            assert!(limits(&model::Limits::default(), &overrides).is_err(), "{text}");
        }
    }
}
