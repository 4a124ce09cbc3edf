//! The tools that check answers: as an entrants file names them, as a session records them, and how they are run.

use std::ffi::OsString;
use std::path::PathBuf;

use agon_execute::{CancelToken, FileContent, Job as Run, JobFile, Limits, Runner, Slots};
use agon_sdk::values::{self, Source};
use agon_store::record::{self, LimitKind, Program, SessionTool};
use agon_store::{Digest, Store};

use crate::convert::hash_file;
use crate::judging::{ToolFault, Tools};
use crate::race::limit;

/// A tool that checks answers.
#[derive(Clone, Debug)]
pub struct Tool {
    /// What it is for.
    pub role: String,
    /// Its name.
    pub name: String,
    /// The program's path.
    pub program: PathBuf,
    /// The hash of its content, and its size.
    pub content: (Digest, u64),
    /// Its arguments. `{NAME}` stands for the path of the input of that name; inputs that are not mentioned follow in
    /// their order.
    pub arguments: Vec<String>,
    /// Folders and files beside the program's own that it reads.
    pub readable: Vec<PathBuf>,
    /// Why it cannot be run here, if that is so: a sentence.
    pub fault: Option<String>,
}

impl Tool {
    /// As it is written down.
    pub fn recorded(&self) -> SessionTool {
        SessionTool {
            role: self.role.clone(),
            name: self.name.clone(),
            program: Program {
                path: self.program.to_string_lossy().into_owned(),
                hash: self.content.0,
                bytes: self.content.1,
            },
            arguments: self.arguments.clone(),
            readable: self.readable.iter().map(|p| p.to_string_lossy().into_owned()).collect(),
        }
    }

    /// As it was written down; it can be run if its program is still what it was.
    pub fn of_record(tool: &SessionTool) -> Self {
        let path = PathBuf::from(&tool.program.path);
        let fault = match hash_file(&path) {
            Ok((hash, _)) if hash == tool.program.hash => None,
            Ok(_) => Some(format!(
                "the tool {} for the role {} is another program than when the store was written: {}",
                tool.name, tool.role, tool.program.path
            )),
            Err(e) => Some(format!(
                "the tool {} for the role {} cannot be run any more: {}: {e}",
                tool.name, tool.role, tool.program.path
            )),
        };
        Self {
            role: tool.role.clone(),
            name: tool.name.clone(),
            program: path,
            content: (tool.program.hash, tool.program.bytes),
            arguments: tool.arguments.clone(),
            readable: tool.readable.iter().map(PathBuf::from).collect(),
            fault: fault.map(|text| format!("{text}. Put it back, or name tools with --entrants FILE")),
        }
    }
}

/// What a check may use, by its name: the run's own limits if none are said for it.
pub(crate) fn limits_of(of_runs: &Limits, of_checks: &[(String, Limits)], name: &str) -> Limits {
    of_checks.iter().find(|(n, _)| n == name).map_or(*of_runs, |(_, limits)| *limits)
}

/// Tools with all that is needed to run them.
pub struct Kit<'a> {
    /// The tools.
    pub tools: &'a [Tool],
    /// What a run may use.
    pub limits: Limits,
    /// What a check may use, by its name.
    pub check_limits: &'a [(String, Limits)],
    /// The sandbox.
    pub runner: &'a Runner,
    /// The places.
    pub slots: &'a Slots,
    /// Where outputs go.
    pub store: &'a Store,
    /// Ends all runs.
    pub cancel: &'a CancelToken,
}

impl Tools for Kit<'_> {
    fn of_role(&self, role: &str) -> Vec<String> {
        self.tools.iter().filter(|t| t.role == role).map(|t| t.name.clone()).collect()
    }

    fn run(
        &self,
        role: &str,
        tool: &str,
        inputs: &[values::Input],
        limits: Option<&str>,
    ) -> Result<record::Run, ToolFault> {
        let host = |text: String| ToolFault::Host(text);
        let tool = self.tools.iter().find(|t| t.role == role && t.name == tool);
        let tool = tool.ok_or_else(|| host(format!("there is no tool for the role {role}")))?;
        if let Some(fault) = &tool.fault {
            return Err(host(fault.clone()));
        }
        let mut run = Run::new(&tool.program);
        run.readable.clone_from(&tool.readable);
        run.limits = limits_of(&self.limits, self.check_limits, limits.unwrap_or(role));
        let mut rest: Vec<OsString> = Vec::new();
        let mut words: Vec<String> = tool.arguments.clone();
        for input in inputs {
            let content = match &input.content {
                Source::File(path) => FileContent::Path(path.as_ref().clone()),
                other => FileContent::Bytes(
                    other
                        .read_all(u64::MAX)
                        .map_err(|e| host(format!("the input {} cannot be read: {e}", input.name)))?,
                ),
            };
            let mark = format!("{{{}}}", input.name);
            if words.iter().any(|w| w.contains(&mark)) {
                words.iter_mut().for_each(|w| *w = w.replace(&mark, &input.name));
            } else {
                rest.push(OsString::from(&input.name));
            }
            run.files.push(JobFile { name: OsString::from(&input.name), content });
        }
        if let Some(word) = words.iter().find(|w| w.starts_with('{') && w.ends_with('}')) {
            let names: Vec<String> = inputs.iter().map(|i| format!("{{{}}}", i.name)).collect();
            return Err(host(format!(
                "the command of the tool {} has the word {word}, but the role {role} has no such input (it has: {}); \
                 correct it under `tools` of the entrants file",
                tool.name,
                names.join(", ")
            )));
        }
        run.arguments = words.into_iter().map(OsString::from).chain(rest).collect();
        let place = self.slots.acquire();
        run.cpus = place.cpus().to_vec();
        let seen = self.runner.run(&run, self.cancel).map_err(|fault| host(fault.to_string()))?;
        let out = seen.stdout.bytes().map_err(|e| host(e.to_string()))?;
        record(self.store, &run, &seen, &out)
    }
}

/// A run as it is written down.
pub(crate) fn record(
    store: &Store,
    run: &Run,
    seen: &agon_execute::Observation,
    out: &[u8],
) -> Result<record::Run, ToolFault> {
    let errors = seen.stderr.bytes().map_err(|e| ToolFault::Host(format!("an output cannot be read back: {e}")))?;
    let mut command = vec![run.program.to_string_lossy().into_owned()];
    command.extend(run.arguments.iter().map(|a| a.to_string_lossy().into_owned()));
    let stdout = record::Stream { truncated: seen.stdout.is_truncated(), ..store.put(out)? };
    let stderr = record::Stream { truncated: seen.stderr.is_truncated(), ..store.put(&errors)? };
    Ok(record::Run {
        fidelity: record::Fidelity::Streams,
        command,
        exit: seen.exit,
        signal: seen.signal,
        limit: seen.limit.map_or(LimitKind::None, limit),
        wall_ns: seen.wall_ns,
        cpu_ns: seen.cpu_ns,
        peak_memory: Some(seen.peak_memory),
        stdout,
        stderr,
        steps: Vec::new(),
        collected: Vec::new(),
        prepared: None,
        started: None,
        session: None,
        extra: serde_json::json!({
            "cpu_user_ns": seen.cpu_user_ns,
            "cpu_system_ns": seen.cpu_system_ns,
            "cpus": seen.cpus,
            "stragglers": seen.stragglers,
            "mechanisms": seen.mechanisms,
        }),
    })
}
