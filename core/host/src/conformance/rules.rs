//! The checks. They run in a worker, on the plugin in that process.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_abi::{self as abi, AgonBenchmark, AgonObservation, AgonStr, field};
use agon_sdk::describe::ParameterType;
use agon_sdk::hosting::{self, Call, Instance, Plugin, Shape, raw, with_lent, with_shape};
use agon_sdk::values::{
    Arg, Artifact, Fault, FollowUp, FollowUpKind, Input, Judgement, Observation, Output, Source, Status, Validation,
    ValidationStatus,
};
use serde_json::{Map, Value as Json};

use super::Finding;
use super::corpus::{Case, Endless, cases, deep};
use super::state::State;

/// The checks with the rule that a crash in them breaks.
pub const CHECKS: &[(&str, u32)] = &[
    ("describe", 16),
    ("parameters", 13),
    ("corpus", 5),
    ("tables", 3),
    ("null", 3),
    ("panic", 5),
    ("borrowed", 1),
    ("threads", 7),
    ("determinism", 10),
    ("depth", 11),
    ("cancel", 12),
    ("state", 9),
    ("system", 8),
    ("memory", 1),
    ("reload", 8),
];

/// What goes wrong in a check: the rule, and what was seen.
type Broken = (u32, String);

/// Performs a check; the request is its name, a line feed, and the parameters or nothing.
pub fn run(request: &str, plugin: &Plugin, before: &State) -> Vec<Finding> {
    let (name, parameters) = request.split_once('\n').unwrap_or((request, ""));
    let rule = CHECKS.iter().find(|(n, _)| *n == name).map_or(3, |(_, rule)| *rule);
    let given = if parameters.is_empty() { fitting(plugin) } else { parameters.to_string() };
    let mut digest = None;
    let result = match name {
        "describe" => describe(plugin),
        "parameters" => check_parameters(plugin, &given),
        "corpus" => corpus(plugin, &given),
        "tables" => tables(plugin, &given),
        "null" => nulls(plugin, &given),
        "panic" => panics(plugin, &given),
        "borrowed" => borrowed(plugin, &given),
        "threads" => threads(plugin, &given),
        "determinism" => determinism(plugin, &given).map(|d| digest = Some(d)),
        "depth" => depth(plugin, &given),
        "cancel" => cancel(plugin, &given),
        "state" => state(plugin, &given, before),
        "system" => system(plugin, &given),
        "memory" => memory(plugin, &given),
        "reload" => reload(plugin, &given),
        other => Err((3, format!("there is no check `{other}`"))),
    };
    let mut out = match result {
        Ok(()) => vec![Finding { rule, check: name.into(), kept: true, detail: String::new() }],
        Err((rule, detail)) => vec![Finding { rule, check: name.into(), kept: false, detail }],
    };
    out.extend(digest.map(|d| Finding { rule, check: format!("digest {d}"), kept: true, detail: String::new() }));
    out
}

/// Parameters that fit what is declared: the defaults, and something for those without.
fn fitting(plugin: &Plugin) -> String {
    let mut out = Map::new();
    for parameter in plugin.description().parameters.iter().filter(|p| p.default.is_none()) {
        out.insert(parameter.name.clone(), value_for(&parameter.ty));
    }
    Json::Object(out).to_string()
}

fn value_for(ty: &ParameterType) -> Json {
    match ty {
        ParameterType::Words(words) => words.first().cloned().unwrap_or_default().into(),
        ParameterType::Text => "x".into(),
        ParameterType::Texts => Json::Array(Vec::new()),
        ParameterType::Integer(from, _) => (*from).into(),
        ParameterType::Bool => false.into(),
    }
}

fn open(plugin: &Plugin, parameters: &str) -> Result<Instance, Broken> {
    plugin.open(parameters).map_err(|fault| {
        (rule_of(&fault, 13), format!("a track with the parameters {parameters} cannot be opened: {fault}"))
    })
}

/// The rule that a message of the host's names.
pub(super) fn named(message: &str) -> Option<u32> {
    message.split("(rule ").nth(1).and_then(|rest| rest.split(')').next()).and_then(|n| n.parse().ok())
}

/// The rule that a fault breaks: the host's own messages end with it.
fn rule_of(fault: &Fault, otherwise: u32) -> u32 {
    named(&fault.message).unwrap_or(match fault.status {
        Status::Panic | Status::Internal => 5,
        Status::Contract => 16,
        Status::InvalidArgument => 3,
        _ => otherwise,
    })
}

/// A fault that a valid input may bring about, or what it breaks.
fn allowed(fault: &Fault, what: &str) -> Result<(), Broken> {
    match fault.status {
        Status::Panic | Status::Internal | Status::Contract | Status::InvalidArgument | Status::BadParameter => {
            Err((rule_of(fault, 13), format!("{what}: {fault}")))
        }
        _ => Ok(()),
    }
}

/// Takes a case through all functions of a track; the text tells everything that was emitted.
fn pipeline(track: &Instance, case: &Case) -> Result<String, Broken> {
    let mut told = String::new();
    let mut job = case.job.clone();
    // A transformation may be asked for before the rest; the host's is played by one that changes nothing.
    for _ in 0..3 {
        match track.prepare(&job) {
            Ok(plan) => {
                let _ = write!(told, "{plan:?} {};", hosting::last_emits());
                let again = plan.transforms.iter().any(|t| t.then_again);
                job.benchmark.applied.extend(plan.transforms.into_iter().map(|t| t.name));
                if let Some(text) = plan.text {
                    job.benchmark.original = Some(job.benchmark.content.clone());
                    job.benchmark.content = Source::bytes(text);
                }
                if !again {
                    break;
                }
            }
            Err(fault) => {
                allowed(&fault, &format!("prepare on {}", case.name))?;
                let _ = write!(told, "{fault};");
                break;
            }
        }
    }
    let judgement = match track.judge(&job, &case.observation) {
        Ok(judgement) => judgement,
        Err(fault) => {
            allowed(&fault, &format!("judge on {}", case.name))?;
            let _ = write!(told, "{fault};");
            return Ok(told);
        }
    };
    let _ = write!(told, "{judgement:?} {};", hosting::last_emits());
    let mut validations = Vec::new();
    for follow_up in &judgement.follow_ups {
        let mut validation = Validation {
            kind: follow_up.kind,
            status: ValidationStatus::NotRun,
            role: follow_up.role.clone(),
            dedup_key: follow_up.dedup_key.clone(),
            tool: None,
            observation: None,
        };
        match follow_up.kind {
            FollowUpKind::Internal => {
                let inputs = inputs_of(follow_up, case, &judgement);
                match track.run_internal(&follow_up.role, &job, &inputs) {
                    Ok(findings) => {
                        let _ = write!(told, "{findings:?} {};", hosting::last_emits());
                        validation.status = ValidationStatus::Done;
                        validation.observation = Some(findings.observation());
                    }
                    Err(fault) => {
                        allowed(&fault, &format!("run_internal on {}", case.name))?;
                        let _ = write!(told, "{fault};");
                        validation.status = ValidationStatus::Crashed;
                    }
                }
            }
            FollowUpKind::External => {
                validation.status = ValidationStatus::Done;
                validation.tool = Some("validator".into());
                validation.observation = Some(Observation::finished(0, "unsat\n"));
            }
        }
        validations.push(validation);
    }
    match track.conclude(&job, &case.observation, &judgement, &validations) {
        Ok(last) => {
            let _ = write!(told, "{last:?} {};", hosting::last_emits());
            match track.explain(&job, &case.observation, &last, &validations) {
                Ok(why) => {
                    let _ = write!(told, "{why:?} {};", hosting::last_emits());
                }
                Err(fault) => allowed(&fault, &format!("explain on {}", case.name))?,
            }
        }
        Err(fault) => {
            allowed(&fault, &format!("conclude on {}", case.name))?;
            let _ = write!(told, "{fault};");
        }
    }
    Ok(told)
}

/// The inputs of a follow-up, as a host gives them.
fn inputs_of(follow_up: &FollowUp, case: &Case, judgement: &Judgement) -> Vec<Input> {
    let artifact = |name: &str| judgement.artifacts.iter().find(|a: &&Artifact| a.name == name);
    follow_up
        .inputs
        .iter()
        .map(|(name, input)| {
            let content = match input {
                Arg::Text(bytes) => Source::bytes(bytes),
                Arg::Benchmark | Arg::Original => case.job.benchmark.content.clone(),
                Arg::Artifact(name) => artifact(name)
                    .and_then(|a| a.bytes(&case.job, &case.observation).ok())
                    .map_or_else(|| Source::bytes(""), Source::bytes),
                _ => Source::bytes(""),
            };
            Input { name: name.clone(), kind: String::new(), content }
        })
        .collect()
}

fn all(track: &Instance) -> Result<Vec<String>, Broken> {
    cases().iter().map(|case| pipeline(track, case)).collect()
}

/// What a track tells of these cases. Who tells something else the second time breaks rule 10 and not what a check looks
/// for.
fn steady(track: &Instance, cases: &[Case]) -> Result<Vec<String>, Broken> {
    let told = || cases.iter().map(|c| pipeline(track, c)).collect::<Result<Vec<_>, _>>();
    let first = told()?;
    compare("the second time", cases, &first, &told()?)?;
    Ok(first)
}

/// The small cases, for what is done many times.
fn small() -> Vec<Case> {
    let is_small = |c: &Case| {
        let sizes = [Some(&c.job.benchmark.content), c.observation.stdout.as_ref().map(|o| &o.source)];
        sizes.into_iter().flatten().all(|s| s.size().is_some_and(|n| n < 10_000))
    };
    cases().into_iter().filter(is_small).collect()
}

fn compare(what: &str, cases: &[Case], first: &[String], second: &[String]) -> Result<(), Broken> {
    match cases.iter().zip(first.iter().zip(second)).find(|(_, (a, b))| a != b) {
        None => Ok(()),
        Some((case, (a, b))) => {
            let at = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count().saturating_sub(40);
            let part = |s: &str| s.chars().skip(at).take(160).collect::<String>();
            Err((10, format!("{what}, on {}: first …{}…, then …{}…", case.name, part(a), part(b))))
        }
    }
}

// --- the checks -----------------------------------------------------------------------------------------------------

fn describe(plugin: &Plugin) -> Result<(), Broken> {
    // SAFETY: the table was checked when the plugin was loaded.
    let reserved = unsafe { field!(plugin.table(), AgonTrackTable, struct_size) }.unwrap_or(0);
    if reserved % 8 != 0 {
        return Err((3, format!("the table says that it has {reserved} bytes, which is no multiple of 8")));
    }
    for n in 0..100 {
        let text = plugin.describe().map_err(|fault| (rule_of(&fault, 16), fault.to_string()))?;
        if text != plugin.description_json() {
            return Err((10, format!("the description changed at call {}", n + 2)));
        }
    }
    let description = plugin.description();
    if description.doc.trim().is_empty() {
        return Err((16, "the description does not say what the track is".into()));
    }
    let undocumented = description.fields.iter().find(|f| f.doc.trim().is_empty()).map(|f| &f.name);
    let undocumented =
        undocumented.or(description.parameters.iter().find(|p| p.doc.trim().is_empty()).map(|p| &p.name));
    match undocumented {
        Some(name) => Err((16, format!("`{name}` is declared without saying what it is"))),
        None => Ok(()),
    }
}

fn check_parameters(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    open(plugin, given)?;
    let Ok(Json::Object(base)) = serde_json::from_str::<Json>(given) else {
        return Err((13, "the parameters are not a JSON object".into()));
    };
    let refused = |parameters: &Map<String, Json>, pointer: &str, what: &str| -> Result<(), Broken> {
        let text = Json::Object(parameters.clone()).to_string();
        match plugin.open(&text) {
            Ok(_) => Err((13, format!("{what} is accepted: {text}"))),
            Err(fault) if fault.status != Status::BadParameter => Err((
                rule_of(&fault, 13),
                format!("{what} should be the status {}, and is: {fault}", Status::BadParameter),
            )),
            Err(fault) if fault.pointer.as_deref() != Some(pointer) => {
                Err((13, format!("{what} should have the pointer {pointer:?}, and has {:?}: {fault}", fault.pointer)))
            }
            Err(_) => Ok(()),
        }
    };
    let mut unknown = base.clone();
    unknown.insert("no-such/parameter".into(), 1.into());
    refused(&unknown, "/no-such~1parameter", "an unknown parameter")?;
    for parameter in &plugin.description().parameters {
        let pointer = format!("/{}", parameter.name.replace('~', "~0").replace('/', "~1"));
        let wrong = match parameter.ty {
            ParameterType::Bool => Json::from("yes"),
            ParameterType::Integer(..) => Json::from("12"),
            ParameterType::Words(_) => Json::from("no such word"),
            ParameterType::Text | ParameterType::Texts => Json::from(12),
        };
        let mut changed = base.clone();
        changed.insert(parameter.name.clone(), wrong);
        refused(&changed, &pointer, "a parameter of another type")?;
        if parameter.default.is_none() {
            let mut less = base.clone();
            less.remove(&parameter.name);
            refused(&less, &pointer, "a missing parameter")?;
        }
    }
    Ok(())
}

fn corpus(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    all(&track)?;
    // Who emits after the end of a call does so from a thread, or into a sink that was kept.
    std::thread::sleep(Duration::from_millis(30));
    let track_again = all(&track).map(drop);
    late()?;
    track_again
}

fn late() -> Result<(), Broken> {
    match hosting::late_emits() {
        0 => Ok(()),
        n => Err((7, format!("{n} emits came after their call had returned"))),
    }
}

fn tables(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    let cases = small();
    let exact = steady(&track, &cases)?;
    let larger =
        with_shape(Shape::Larger(64), || cases.iter().map(|c| pipeline(&track, c)).collect::<Result<Vec<_>, _>>())
            .map_err(|(rule, why)| (rule, format!("with the larger tables of a newer host, {why}")))?;
    compare("with the larger tables of a newer host", &cases, &exact, &larger).map_err(|(_, why)| (3, why))?;
    for most in (0..200).step_by(8) {
        let track = open(plugin, given)?;
        for case in cases.iter().take(8) {
            // What comes of it is the plugin's choice, but that it looks no further than the size.
            let results = with_shape(Shape::AtMost(most), || {
                [track.prepare(&case.job).map(drop), track.judge(&case.job, &case.observation).map(drop)]
            });
            for fault in results.into_iter().filter_map(Result::err) {
                if fault.status == Status::Panic {
                    return Err((3, format!("with tables of {most} bytes: {fault}")));
                }
            }
        }
    }
    Ok(())
}

fn nulls(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    let cases = small();
    let case = cases.first().ok_or((3, "there are no cases".to_string()))?;
    use std::ptr::null;
    let refused = |what: &str, call: Call, f: &dyn Fn(*const abi::AgonSink) -> i32| -> Result<(), Broken> {
        match plugin.with_sink(call, f) {
            Ok(()) => Err((3, format!("{what} is accepted"))),
            Err(fault) if fault.status == Status::Panic => Err((3, format!("{what}: {fault}"))),
            Err(_) => Ok(()),
        }
    };
    let table = plugin.table();
    let broken = |fault: Fault| (3, fault.to_string());
    // SAFETY: the functions are the plugin's; null is what is tested, all else lives until the calls have returned.
    unsafe {
        let describe = field!(table, AgonTrackTable, describe).flatten().ok_or((3, "no `describe`".to_string()))?;
        let open = field!(table, AgonTrackTable, open).flatten().ok_or((3, "no `open`".to_string()))?;
        let judge = field!(table, AgonTrackTable, judge).flatten().ok_or((3, "no `judge`".to_string()))?;
        if describe(null()) == abi::AGON_OK {
            return Err((3, "`describe` without a sink is accepted".into()));
        }
        raw::with_doc(Some(given), |doc| {
            let host = hosting::host_table(&plugin.identity().id);
            refused("`open` without a place for the track", Call::Open, &|sink| {
                open(host, doc, sink, std::ptr::null_mut())
            })
        })?;
        raw::with_job(&case.job, |job| {
            raw::with_observation(&case.observation, |run| {
                refused("`judge` without a track", Call::Judge, &|s| judge(std::ptr::null_mut(), job, run, s))?;
                refused("`judge` without a job", Call::Judge, &|s| judge(track.raw(), null(), run, s))?;
                refused("`judge` without an observation", Call::Judge, &|s| judge(track.raw(), job, null(), s))?;
                if judge(track.raw(), job, run, null()) == abi::AGON_OK {
                    return Err((3, "`judge` without a sink is accepted".to_string()));
                }
                // Arrays that say they have elements and are null; whether they are looked at is the plugin's choice.
                let benchmark = field!(job, AgonJob, benchmark).unwrap_or(null());
                let mut odd: AgonBenchmark = benchmark.read();
                odd.statuses = null();
                odd.n_statuses = 3;
                odd.id = AgonStr { ptr: null(), len: 7 };
                let mut odd_job = job.read();
                odd_job.benchmark = &raw const odd;
                let mut odd_run: AgonObservation = run.read();
                odd_run.steps = null();
                odd_run.n_steps = u64::MAX;
                odd_run.fidelity = 77;
                odd_run.limit = 77;
                for result in [
                    plugin.with_sink(Call::Judge, |s| judge(track.raw(), &raw const odd_job, run, s)),
                    plugin.with_sink(Call::Judge, |s| judge(track.raw(), job, &raw const odd_run, s)),
                ] {
                    if let Err(fault) = result
                        && fault.status == Status::Panic
                    {
                        return Err((3, format!("`judge` with impossible arrays: {fault}")));
                    }
                }
                if let Some(prepare) = field!(table, AgonTrackTable, prepare).flatten() {
                    refused("`prepare` without a track", Call::Prepare, &|s| prepare(std::ptr::null_mut(), job, s))?;
                    refused("`prepare` without a job", Call::Prepare, &|s| prepare(track.raw(), null(), s))?;
                }
                if let Some(internal) = field!(table, AgonTrackTable, run_internal).flatten() {
                    let operation = AgonStr { ptr: null(), len: 3 };
                    refused("`run_internal` without an operation", Call::RunInternal, &|s| {
                        internal(track.raw(), operation, job, null(), 0, s)
                    })?;
                    refused("`run_internal` with null inputs", Call::RunInternal, &|s| {
                        internal(track.raw(), AgonStr::new("no such operation"), job, null(), 5, s)
                    })?;
                }
                if let Some(conclude) = field!(table, AgonTrackTable, conclude).flatten() {
                    refused("`conclude` without a judgement", Call::Conclude, &|s| {
                        conclude(track.raw(), job, null(), null(), 0, s)
                    })?;
                }
                if let Some(explain) = field!(table, AgonTrackTable, explain).flatten() {
                    refused("`explain` without a judgement", Call::Explain, &|s| {
                        explain(track.raw(), job, run, null(), null(), 0, s)
                    })?;
                }
                Ok(())
            })
        })
        .map_err(broken)?
        .map_err(broken)??;
        if let Some(interface) = field!(table, AgonTrackTable, interface).flatten() {
            for id in [AgonStr::new("no.such/1"), AgonStr { ptr: null(), len: 9 }, AgonStr::NONE] {
                if !interface(id).is_null() {
                    return Err((3, "an interface is given for a name that there is not".into()));
                }
            }
        }
    }
    // After all this the track still works.
    pipeline(&track, case).map(drop)
}

fn panics(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    let before = hosting::logged();
    match plugin.panic_on_purpose() {
        None => {}
        Some(Ok(())) => return Err((5, "a panic on purpose returns that all is well".into())),
        Some(Err(fault)) if fault.status != Status::Panic => {
            return Err((5, format!("a panic on purpose should be the status panic, and is: {fault}")));
        }
        Some(Err(_)) if hosting::logged() == before => {
            return Err((14, "a panic on purpose did not reach the host's log".into()));
        }
        Some(Err(_)) => {}
    }
    // It leaves what is open alone.
    small().iter().take(4).try_for_each(|case| pipeline(&track, case).map(drop))
}

fn borrowed(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    let cases = small();
    let first = steady(&track, &cases)?;
    // The inputs of a call are overwritten once it has returned, and stay where they were: what a plugin kept of them
    // is now something else.
    let second = with_lent(|| cases.iter().map(|c| pipeline(&track, c)).collect::<Result<Vec<_>, _>>())?;
    compare("after the inputs of earlier calls were overwritten", &cases, &first, &second).map_err(|(_, why)| (1, why))
}

fn threads(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    const THREADS: usize = 8;
    let track = open(plugin, given)?;
    let cases = small();
    let alone = steady(&track, &cases)?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|n| {
                let (track, cases, alone) = (&track, &cases, &alone);
                scope.spawn(move || -> Result<(), Broken> {
                    for round in 0..20 {
                        for k in 0..cases.len() {
                            // Each thread is somewhere else.
                            let k = (k + n * 7 + round) % cases.len();
                            let told = pipeline(track, &cases[k])?;
                            if told != alone[k] {
                                return Err((
                                    7,
                                    format!("with {THREADS} threads at once, {} is judged otherwise", cases[k].name),
                                ));
                            }
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| Err((7, "a thread panicked".into()))))
    })
}

fn determinism(plugin: &Plugin, given: &str) -> Result<String, Broken> {
    let track = open(plugin, given)?;
    let cases = cases();
    let first = all(&track)?;
    compare("the second time", &cases, &first, &all(&track)?)?;
    let mut backwards = cases.iter().rev().map(|c| pipeline(&track, c)).collect::<Result<Vec<_>, _>>()?;
    backwards.reverse();
    compare("in another order", &cases, &first, &backwards)?;
    let other = open(plugin, given)?;
    let on_thread = std::thread::scope(|scope| scope.spawn(|| all(&other)).join())
        .unwrap_or_else(|_| Err((10, "a thread panicked".into())))?;
    compare("in another track on another thread", &cases, &first, &on_thread)?;
    Ok(blake3::hash(first.join("\n").as_bytes()).to_hex().to_string())
}

/// On a thread with a small stack.
fn on_small_stack(f: impl FnOnce() -> Result<(), Broken> + Send) -> Result<(), Broken> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, f);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            _ => Err((11, "the thread did not end well".into())),
        }
    })
}

fn depth(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let track = open(plugin, given)?;
    let deep = deep();
    let base = small().into_iter().next().ok_or((11, "there are no cases".to_string()))?;
    let mut cases = Vec::new();
    for prefix in ["", "sat\n", "unsat\n", "s SATISFIABLE\nv "] {
        let output = [prefix.as_bytes(), &deep].concat();
        let mut case = Case { name: format!("a million parentheses after {prefix:?}"), ..base.clone() };
        case.observation = Observation::finished(0, output);
        cases.push(case);
    }
    let mut case = Case { name: "a benchmark of a million parentheses".into(), ..base };
    case.job.benchmark.content = Source::bytes([b"(assert ", deep.as_slice(), b")\n(check-sat)\n"].concat());
    case.observation = Observation::finished(0, "sat\n(model)\n");
    cases.push(case);
    on_small_stack(|| cases.iter().try_for_each(|case| pipeline(&track, case).map(drop)))
}

fn cancel(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    /// A cancelled call may take this long on a busy machine; the rule asks for milliseconds.
    const PATIENCE: Duration = Duration::from_secs(3);
    let track = open(plugin, given)?;
    let base = small().into_iter().next().ok_or((12, "there are no cases".to_string()))?;
    let size = 1 << 40;
    for pattern in [&b"c nothing yet\n"[..], b"; nothing yet\n", b" \n", b"v 1\n", b"x"] {
        let endless = || Source::Reader(Arc::new(Endless { pattern, size }));
        let mut output = base.clone();
        output.observation.stdout = Some(Output { source: endless(), truncated: false });
        let mut benchmark = base.clone();
        benchmark.job.benchmark.content = endless();
        for (what, case) in [("an output", &output), ("a benchmark", &benchmark)] {
            track.cancel().reset();
            let cancel = track.cancel().clone();
            let asked = std::thread::scope(|scope| -> Result<Option<Duration>, Broken> {
                let (stop, stopped) = std::sync::mpsc::channel::<()>();
                let waiting = scope.spawn(move || {
                    // Whoever is done before is not asked.
                    match stopped.recv_timeout(Duration::from_millis(50)) {
                        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                            cancel.cancel();
                            Some(Instant::now())
                        }
                        _ => None,
                    }
                });
                let told = pipeline(&track, case);
                let end = Instant::now();
                let _ = stop.send(());
                told?;
                Ok(waiting.join().ok().flatten().map(|begin| end.saturating_duration_since(begin)))
            })?;
            if let Some(took) = asked
                && took > PATIENCE
            {
                return Err((12, format!("on {what} without an end a cancelled call went on for {took:?}")));
            }
        }
    }
    track.cancel().reset();
    pipeline(&track, &base).map(drop)
}

fn state(plugin: &Plugin, given: &str, before: &State) -> Result<(), Broken> {
    let loaded = State::now();
    let changed = before.changes(&loaded);
    if !changed.is_empty() {
        return Err((9, format!("loading it changes {}", changed.join(", "))));
    }
    let track = open(plugin, given)?;
    for case in &small() {
        pipeline(&track, case)?;
        let changed = loaded.changes(&State::now());
        if !changed.is_empty() {
            return Err((9, format!("judging {} changes {}", case.name, changed.join(", "))));
        }
    }
    drop(track);
    let mut after = State::now();
    // A thread that was told to end may need a moment.
    let patience = Instant::now() + Duration::from_secs(1);
    while !before.left(&after).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(10));
        after = State::now();
    }
    let changed = loaded.changes(&after);
    if !changed.is_empty() {
        return Err((9, format!("closing a track changes {}", changed.join(", "))));
    }
    let left = before.left(&after);
    if !left.is_empty() {
        return Err((8, format!("after all calls there are left: {}", left.join(", "))));
    }
    Ok(())
}

fn system(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    let cases = small();
    // The filter holds for the thread that sets it and for those that it starts; a forbidden call ends the process.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> Result<(), Broken> {
            crate::sandbox::filter(crate::sandbox::Denied::Kills, true)
                .map_err(|why| (8, format!("calls of the system cannot be watched: {why}")))?;
            let track = open(plugin, given)?;
            cases.iter().try_for_each(|case| pipeline(&track, case).map(drop))
        });
        thread.join().unwrap_or_else(|_| Err((8, "the thread panicked".into())))
    })
}

fn memory(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    /// What may be kept by allocators and caches.
    const MOST: u64 = 8 << 20;
    /// After so many calls a leak of half a kilobyte a call is seen.
    const CALLS: usize = 20_000;
    let cases: Vec<Case> = small().into_iter().step_by(5).collect();
    let round = |calls: usize, until: Instant| -> Result<usize, Broken> {
        let track = open(plugin, given)?;
        let mut done = 0;
        while done < calls && (done < 100 || Instant::now() < until) {
            pipeline(&track, &cases[done % cases.len()])?;
            done += 1;
        }
        for _ in 0..done.div_ceil(10) {
            open(plugin, given)?;
        }
        Ok(done)
    };
    // Twice before, so that what is made once is there.
    round(1000, Instant::now() + Duration::from_secs(3))?;
    round(1000, Instant::now() + Duration::from_secs(3))?;
    let before = crate::worker::resident();
    let done = round(CALLS, Instant::now() + Duration::from_secs(12))?;
    let grown = crate::worker::resident().saturating_sub(before);
    if grown > MOST {
        return Err((1, format!("after {done} rounds of calls it holds {} KiB more", grown >> 10)));
    }
    Ok(())
}

fn reload(plugin: &Plugin, given: &str) -> Result<(), Broken> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // The library of this plugin is where its table is.
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|e| (8, e.to_string()))?;
    let address = plugin.table() as usize;
    let mut library = None;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let range = words.next().and_then(|r| r.split_once('-'));
        let Some((from, to)) = range else { continue };
        let inside = matches!(
            (usize::from_str_radix(from, 16), usize::from_str_radix(to, 16)),
            (Ok(from), Ok(to)) if (from..to).contains(&address)
        );
        if inside {
            library = words.nth(4).map(str::to_string);
        }
    }
    let Some(path) = library.filter(|p| p.contains(".so")) else { return Ok(()) };
    // A copy under another name is another library to the loader, which can be taken away again.
    let bytes = std::fs::read(&path).map_err(|e| (8, format!("{path}: {e}")))?;
    let symbol = crate::manifest::read(&bytes).map_err(|why| (3, why))?.symbol;
    let case = small().into_iter().next().ok_or((8, "there are no cases".to_string()))?;
    let mut told: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..10 {
        let copy = memory_file(&bytes).map_err(|e| (8, format!("no copy can be made: {e}")))?;
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&copy));
        // SAFETY: it is the library that is loaded already; its constructors run once more. The track is closed before
        // the library goes.
        unsafe {
            let library = Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL).map_err(|e| (8, e.to_string()))?;
            let descriptor = library
                .get::<*const abi::AgonPlugin>(symbol.as_str())
                .map_err(|e| (3, e.to_string()))
                .map(|symbol| *symbol)?;
            let again = Plugin::at(descriptor).map_err(|refusal| (8, refusal.to_string()))?;
            let track = open(&again, given)?;
            *told.entry(pipeline(&track, &case)?).or_insert(0) += 1;
            drop(track);
            library.close().map_err(|e| (8, e.to_string()))?;
        }
    }
    if told.len() == 1 { Ok(()) } else { Err((10, "loaded again, it judges otherwise".into())) }
}

/// A file in memory with these bytes.
fn memory_file(bytes: &[u8]) -> std::io::Result<std::fs::File> {
    use std::io::Write as _;
    use std::os::fd::FromRawFd as _;
    // SAFETY: the name is text with an end; the descriptor is new and ours.
    let mut file = unsafe {
        let fd = libc::memfd_create(c"agon-plugin".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        std::fs::File::from_raw_fd(fd)
    };
    file.write_all(bytes)?;
    Ok(file)
}
