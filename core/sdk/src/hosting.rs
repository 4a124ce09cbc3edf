//! The host's half of the ABI: it checks a descriptor, turns owned values into tables, calls, and collects what is
//! emitted, which it checks against what the plugin declared. The host builds on it, and so do the tests of a plugin.

mod collect;
mod marshal;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use agon_abi::{self as abi, AgonHost, AgonPlugin, AgonStr, AgonTrackTable, field};

use crate::describe::Description;
use crate::values::{
    Explanation, Fault, Findings, Input, Job, Judgement, Level, Observation, Plan, Status, Validation,
};

pub use collect::{Call, last_emits, late_emits};
pub use marshal::{Shape, with_lent, with_shape};

/// Owned values as tables, for the conformance test, which calls with arguments that no host gives.
pub mod raw {
    pub use super::marshal::{with_doc, with_job, with_judgement, with_observation};
}

use collect::Collector;

/// Why a plugin is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// What the descriptor of a plugin says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// The name by which editions refer to it.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Who made it.
    pub vendor: String,
    /// The version of the ABI that it was built with.
    pub abi: (u32, u32),
    /// The least minor version of the host that it needs.
    pub min_host_minor: u32,
    /// The capabilities that the host must know.
    pub caps_required: u32,
    /// The capabilities that the host may use.
    pub caps_optional: u32,
}

/// A plugin whose code is in this process.
#[derive(Clone)]
pub struct Plugin {
    identity: Identity,
    table: *const AgonTrackTable,
    description: Arc<Description>,
    text: Arc<str>,
}

// SAFETY: the table is constant, and its functions may be called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Plugin {
    /// A plugin that is linked into this program.
    pub fn linked(descriptor: &'static AgonPlugin) -> Result<Self, Refusal> {
        // SAFETY: a reference is valid, and it is `'static`.
        unsafe { Self::at(descriptor) }
    }

    /// The plugin with this descriptor. What does not fit is refused, with both numbers where versions differ.
    ///
    /// # Safety
    /// The pointer is null, or points to a table that begins with its size and has that many bytes; it, its table and
    /// its code stay where they are until the process ends.
    pub unsafe fn at(descriptor: *const AgonPlugin) -> Result<Self, Refusal> {
        // SAFETY: passed on.
        let (identity, table) = unsafe { check(descriptor) }?;
        let mut plugin = Self { identity, table, description: Arc::new(Description::default()), text: Arc::from("") };
        let named = |what: String| Refusal(format!("the plugin `{}` {what}", plugin.identity.id));
        let text = plugin.describe().map_err(|fault| named(format!("cannot describe itself: {fault}")))?;
        let description =
            Description::from_json(&text).map_err(|why| named(format!("describes itself wrongly: {why}")))?;
        for (what, descriptor, described) in [
            ("id", &plugin.identity.id, &description.plugin),
            ("version", &plugin.identity.version, &description.version),
        ] {
            if descriptor != described {
                return Err(named(format!(
                    "has the {what} {descriptor:?} in its descriptor and {described:?} in its description"
                )));
            }
        }
        plugin.description = Arc::new(description);
        plugin.text = text.into();
        Ok(plugin)
    }

    /// What its descriptor says.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What it declares of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The same as the JSON text that it emitted.
    pub fn description_json(&self) -> &str {
        &self.text
    }

    /// Its table, for the conformance test.
    pub fn table(&self) -> *const AgonTrackTable {
        self.table
    }

    /// Asks it to describe itself once more.
    pub fn describe(&self) -> Result<String, Fault> {
        // SAFETY: the table was checked.
        let describe = unsafe { field!(self.table, AgonTrackTable, describe) }
            .flatten()
            .ok_or_else(|| Fault::new(Status::Contract, "there is no function `describe`"))?;
        let collector = Collector::new(Call::Describe, &self.description, &NEVER);
        // SAFETY: the sink lives until the call has returned.
        let status = unsafe { describe(collector.sink()) };
        let bytes = collector.finish(status)?.text;
        String::from_utf8(bytes).map_err(|_| Fault::new(Status::Contract, "the description is not UTF-8"))
    }

    /// Calls with a sink, for the conformance test.
    pub fn with_sink(&self, call: Call, f: impl FnOnce(*const abi::AgonSink) -> i32) -> Result<(), Fault> {
        let collector = Collector::new(call, &self.description, &NEVER);
        let status = f(collector.sink());
        collector.finish(status).map(drop)
    }

    /// Has the plugin panic within its guard, for the conformance test; none if it has no such interface.
    pub fn panic_on_purpose(&self) -> Option<Result<(), Fault>> {
        // SAFETY: the table was checked; an interface lives until the process ends.
        let panic = unsafe {
            let interface = field!(self.table, AgonTrackTable, interface).flatten()?;
            let found = interface(AgonStr::new(abi::AGON_INTERFACE_CONFORMANCE)).cast::<abi::AgonConformance>();
            field!(found, AgonConformance, panic).flatten()?
        };
        // SAFETY: the sink lives until the call has returned.
        Some(self.with_sink(Call::Describe, |sink| unsafe { panic(sink) }))
    }

    /// Makes a track for these parameters: a JSON object; empty text is one without members.
    pub fn open(&self, parameters: &str) -> Result<Instance, Fault> {
        let parameters = if parameters.is_empty() { "{}" } else { parameters };
        if !serde_json::from_str::<serde_json::Value>(parameters).is_ok_and(|p| p.is_object()) {
            return Err(Fault::new(Status::BadParameter, "the parameters are not a JSON object").at(""));
        }
        // SAFETY: the table was checked.
        let open = unsafe { field!(self.table, AgonTrackTable, open) }
            .flatten()
            .ok_or_else(|| Fault::new(Status::Contract, "there is no function `open`"))?;
        let collector = Collector::new(Call::Open, &self.description, &NEVER);
        let mut track = std::ptr::null_mut();
        let status = marshal::with_doc(Some(parameters), |doc| {
            // SAFETY: the host table lives until the process ends, the others until the call has returned.
            unsafe { open(host_table(&self.identity.id), doc, collector.sink(), &raw mut track) }
        });
        collector.finish(status)?;
        if track.is_null() {
            return Err(Fault::new(Status::Contract, "`open` succeeded and gave no track"));
        }
        Ok(Instance { plugin: self.clone(), track, cancel: Cancel::default(), poisoned: AtomicBool::new(false) })
    }
}

/// Checks a descriptor field by field.
///
/// # Safety
/// As for [`Plugin::at`].
unsafe fn check(descriptor: *const AgonPlugin) -> Result<(Identity, *const AgonTrackTable), Refusal> {
    let refuse = |why: String| Err(Refusal(why));
    if descriptor.is_null() || !descriptor.is_aligned() {
        return refuse("the descriptor is null or misaligned".into());
    }
    // SAFETY: by the contract of this function.
    unsafe {
        let size = field!(descriptor, AgonPlugin, struct_size).unwrap_or(0);
        let magic = field!(descriptor, AgonPlugin, magic).unwrap_or(0);
        if magic != abi::AGON_MAGIC {
            return refuse(format!(
                "the descriptor's magic number is {magic:#018x}, and {:#018x} was expected: this is no descriptor of a plugin",
                abi::AGON_MAGIC
            ));
        }
        let major = field!(descriptor, AgonPlugin, abi_major).unwrap_or(0);
        if major != abi::AGON_ABI_MAJOR {
            return refuse(format!(
                "the plugin is built for ABI {major}, and this host has ABI {}; build it with the matching SDK or header",
                abi::AGON_ABI_MAJOR
            ));
        }
        let least = size_of::<AgonPlugin>() as u64;
        if size < least {
            return refuse(format!("the descriptor has {size} bytes, and ABI 1.0 has {least}"));
        }
        let needs = field!(descriptor, AgonPlugin, min_host_minor).unwrap_or(0);
        if needs > abi::AGON_ABI_MINOR {
            return refuse(format!(
                "the plugin needs a host with ABI {major}.{needs}, and this one has {major}.{}; use a newer host",
                abi::AGON_ABI_MINOR
            ));
        }
        let reserved = field!(descriptor, AgonPlugin, reserved).unwrap_or(0);
        if reserved != 0 {
            return refuse(format!("the reserved field of the descriptor is {reserved}, and must be 0 (rule 4)"));
        }
        let required = field!(descriptor, AgonPlugin, caps_required).unwrap_or(0);
        if required & !abi::AGON_CAP_KNOWN != 0 {
            return refuse(format!(
                "the plugin requires the capabilities {required:#x}, and this host knows {:#x}; use a newer host",
                abi::AGON_CAP_KNOWN
            ));
        }
        let text = |value: Option<AgonStr>, what: &str| -> Result<String, Refusal> {
            let value = value.unwrap_or(AgonStr::NONE);
            if value.len == 0 {
                return Ok(String::new());
            }
            if value.ptr.is_null() || value.len > 4096 {
                return Err(Refusal(format!("the descriptor's {what} is null, or longer than 4096 bytes")));
            }
            let bytes = std::slice::from_raw_parts(value.ptr, usize::try_from(value.len).unwrap_or(0));
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_string()),
                Err(_) => Err(Refusal(format!("the descriptor's {what} is not UTF-8"))),
            }
        };
        let identity = Identity {
            id: text(field!(descriptor, AgonPlugin, id), "id")?,
            version: text(field!(descriptor, AgonPlugin, version), "version")?,
            vendor: text(field!(descriptor, AgonPlugin, vendor), "vendor")?,
            abi: (major, field!(descriptor, AgonPlugin, abi_minor).unwrap_or(0)),
            min_host_minor: needs,
            caps_required: required,
            caps_optional: field!(descriptor, AgonPlugin, caps_optional).unwrap_or(0),
        };
        if !crate::export::is_id(&identity.id) {
            return refuse(format!(
                "{:?} is no id of a plugin: lower-case letters, digits, `-` and `.`, a letter first",
                identity.id
            ));
        }
        if identity.version.is_empty() {
            return refuse(format!("the plugin `{}` has no version", identity.id));
        }
        let table = field!(descriptor, AgonPlugin, track).unwrap_or(std::ptr::null());
        if table.is_null() || !table.is_aligned() {
            return refuse(format!("the table of the plugin `{}` is null or misaligned", identity.id));
        }
        for (name, there) in [
            ("describe", field!(table, AgonTrackTable, describe).flatten().is_some()),
            ("open", field!(table, AgonTrackTable, open).flatten().is_some()),
            ("close", field!(table, AgonTrackTable, close).flatten().is_some()),
            ("judge", field!(table, AgonTrackTable, judge).flatten().is_some()),
        ] {
            if !there {
                return refuse(format!(
                    "the table of the plugin `{}` has {} bytes and no function `{name}`, which is required",
                    identity.id,
                    field!(table, AgonTrackTable, struct_size).unwrap_or(0)
                ));
            }
        }
        Ok((identity, table))
    }
}

/// Asks calls to return.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

static NEVER: AtomicBool = AtomicBool::new(false);

impl Cancel {
    /// From now on, calls are asked to return.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Calls may go on again.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Whether calls are asked to return.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A track that is open.
pub struct Instance {
    plugin: Plugin,
    track: *mut c_void,
    cancel: Cancel,
    poisoned: AtomicBool,
}

// SAFETY: a track does not change, and its functions may be called from any thread, several at once.
unsafe impl Send for Instance {}
// SAFETY: as above.
unsafe impl Sync for Instance {}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the table was checked, the track came from `open`, and no call is under way.
        unsafe {
            if let Some(close) = field!(self.plugin.table, AgonTrackTable, close).flatten() {
                close(self.track);
            }
        }
    }
}

impl Instance {
    /// The plugin.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// By which its calls are asked to return.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The track, for the conformance test.
    pub fn raw(&self) -> *mut c_void {
        self.track
    }

    /// Whether a call ended with a panic or an internal fault: then all others are refused, and the track must be
    /// opened anew.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    fn collector(&self, call: Call) -> Result<Collector<'_>, Fault> {
        if self.is_poisoned() {
            return Err(Fault::new(
                Status::Internal,
                "an earlier call panicked or failed; the track must be opened anew",
            ));
        }
        Ok(Collector::new(call, &self.plugin.description, &self.cancel.0))
    }

    fn finish(&self, collector: Collector<'_>, status: i32) -> Result<collect::Collected, Fault> {
        if matches!(status, abi::AGON_PANIC | abi::AGON_INTERNAL) {
            self.poisoned.store(true, Ordering::Release);
        }
        collector.finish(status)
    }

    /// Asks how a benchmark is prepared and what is run.
    pub fn prepare(&self, job: &Job) -> Result<Plan, Fault> {
        // SAFETY: the table was checked.
        let Some(prepare) = unsafe { field!(self.plugin.table, AgonTrackTable, prepare) }.flatten() else {
            collect::nothing_emitted();
            return Ok(Plan::default());
        };
        let collector = self.collector(Call::Prepare)?;
        // SAFETY: the arguments live until the call has returned.
        let status = marshal::with_job(job, |job| unsafe { prepare(self.track, job, collector.sink()) })?;
        let out = self.finish(collector, status)?;
        Ok(Plan {
            text: out.has_text.then_some(out.text),
            steps: out.steps,
            transforms: out.transforms,
            collect: out.collect,
            diagnostics: out.diagnostics,
        })
    }

    /// Judges an observation.
    pub fn judge(&self, job: &Job, observation: &Observation) -> Result<Judgement, Fault> {
        // SAFETY: the table was checked.
        let judge = unsafe { field!(self.plugin.table, AgonTrackTable, judge) }
            .flatten()
            .ok_or_else(|| Fault::new(Status::Contract, "there is no function `judge`"))?;
        let collector = self.collector(Call::Judge)?;
        let status = marshal::with_job(job, |job| {
            marshal::with_observation(observation, |observation| {
                // SAFETY: the arguments live until the call has returned.
                unsafe { judge(self.track, job, observation, collector.sink()) }
            })
        })??;
        let out = self.finish(collector, status)?;
        let Some((answer, soundness, condition, blame)) = out.verdict else {
            return Err(Fault::new(Status::Contract, "`judge` ended without a verdict (rule 16)"));
        };
        let judgement = Judgement {
            answer,
            soundness,
            condition,
            blame,
            columns: out.columns,
            artifacts: out.artifacts,
            follow_ups: out.follow_ups,
            diagnostics: out.diagnostics,
            evidence: out.evidence,
        };
        if judgement.follow_ups.is_empty() {
            self.complete("judge", &judgement, observation.fidelity)?;
        }
        Ok(judgement)
    }

    /// All columns that are not optional must be there once nothing is left to check.
    fn complete(&self, call: &str, judgement: &Judgement, known: crate::values::Fidelity) -> Result<(), Fault> {
        let missing = self
            .plugin
            .description
            .fields
            .iter()
            .find(|f| !f.optional && f.needs.code() <= known.code() && !judgement.columns.contains_key(&f.name));
        match missing {
            None => Ok(()),
            Some(field) => Err(Fault::new(
                Status::Contract,
                format!(
                    "`{call}` ended without the column `{}`, which is not declared as optional (rule 16)",
                    field.name
                ),
            )),
        }
    }

    /// Performs an operation. It may need much memory and time: hosts call this in a worker.
    pub fn run_internal(&self, operation: &str, job: &Job, inputs: &[Input]) -> Result<Findings, Fault> {
        // SAFETY: the table was checked.
        let Some(run) = unsafe { field!(self.plugin.table, AgonTrackTable, run_internal) }.flatten() else {
            return Err(Fault::new(Status::Unsupported, format!("there is no operation `{operation}`")));
        };
        let collector = self.collector(Call::RunInternal)?.operation(operation);
        let status = marshal::with_job(job, |job| {
            marshal::with_inputs(inputs, |items, n| {
                // SAFETY: the arguments live until the call has returned.
                unsafe { run(self.track, AgonStr::new(operation), job, items, n, collector.sink()) }
            })
        })??;
        let out = self.finish(collector, status)?;
        Ok(Findings {
            text: out.text,
            columns: out.columns,
            artifacts: out.artifacts,
            diagnostics: out.diagnostics,
            evidence: out.evidence,
        })
    }

    /// Asks for the final verdict; `before` is what `judge` came to on this observation.
    pub fn conclude(
        &self,
        job: &Job,
        observation: &Observation,
        before: &Judgement,
        validations: &[Validation],
    ) -> Result<Judgement, Fault> {
        let mut after = Judgement { follow_ups: Vec::new(), ..before.clone() };
        // SAFETY: the table was checked.
        if let Some(conclude) = unsafe { field!(self.plugin.table, AgonTrackTable, conclude) }.flatten() {
            let collector = self.collector(Call::Conclude)?;
            let status = marshal::with_job(job, |raw_job| {
                marshal::with_judgement(before, job, observation, |judgement| {
                    marshal::with_validations(validations, |items, n| {
                        // SAFETY: the arguments live until the call has returned.
                        unsafe { conclude(self.track, raw_job, judgement, items, n, collector.sink()) }
                    })
                })
            })???;
            let out = self.finish(collector, status)?;
            if let Some((answer, soundness, condition, blame)) = out.verdict {
                after = Judgement { answer, soundness, condition, blame, ..after };
            }
            after.columns.extend(out.columns);
            after.artifacts.extend(out.artifacts);
            after.diagnostics.extend(out.diagnostics);
            after.evidence.extend(out.evidence);
        } else {
            collect::nothing_emitted();
        }
        self.complete("conclude", &after, observation.fidelity)?;
        Ok(after)
    }

    /// Asks why.
    pub fn explain(
        &self,
        job: &Job,
        observation: &Observation,
        judgement: &Judgement,
        validations: &[Validation],
    ) -> Result<Explanation, Fault> {
        // SAFETY: the table was checked.
        let Some(explain) = unsafe { field!(self.plugin.table, AgonTrackTable, explain) }.flatten() else {
            collect::nothing_emitted();
            return Ok(Explanation::default());
        };
        let collector = self.collector(Call::Explain)?;
        let status = marshal::with_job(job, |raw_job| {
            marshal::with_observation(observation, |raw_observation| {
                marshal::with_judgement(judgement, job, observation, |judgement| {
                    marshal::with_validations(validations, |items, n| {
                        // SAFETY: the arguments live until the call has returned.
                        unsafe { explain(self.track, raw_job, raw_observation, judgement, items, n, collector.sink()) }
                    })
                })
            })
        })????;
        let out = self.finish(collector, status)?;
        let text = String::from_utf8(out.text)
            .map_err(|_| Fault::new(Status::Contract, "the explanation is not UTF-8 (rule 2)"))?;
        Ok(Explanation { text, evidence: out.evidence, diagnostics: out.diagnostics })
    }
}

// --- the host table -------------------------------------------------------------------------------------------------

/// Who gets the lines that plugins log: the plugin's id, the level, the line.
pub type Logger = Arc<dyn Fn(&str, Level, &str) + Send + Sync>;

static LOGGER: RwLock<Option<Logger>> = RwLock::new(None);

/// How many lines were logged, for the conformance test.
static LOGGED: AtomicU32 = AtomicU32::new(0);

/// Says who gets the lines that plugins log; without one they are dropped.
pub fn set_logger(logger: Option<Logger>) {
    if let Ok(mut place) = LOGGER.write() {
        *place = logger;
    }
}

/// How many lines plugins have logged in this process.
pub fn logged() -> u32 {
    LOGGED.load(Ordering::Acquire)
}

unsafe extern "C" fn log(ctx: *mut c_void, level: u32, message: AgonStr) {
    LOGGED.fetch_add(1, Ordering::AcqRel);
    // SAFETY: the context is the leaked id of the plugin, below.
    let id = unsafe { ctx.cast::<String>().cast_const().as_ref() }.map_or("", String::as_str);
    // SAFETY: the plugin vouches for its text during the call.
    let Some(bytes) = (unsafe { collect::borrowed(message.ptr, message.len) }) else { return };
    let level = Level::from_code(level).unwrap_or(Level::Warning);
    let logger = LOGGER.read().ok().and_then(|l| l.clone());
    if let Some(logger) = logger {
        let text = String::from_utf8_lossy(bytes);
        let call = std::panic::AssertUnwindSafe(|| logger(id, level, &text));
        drop(std::panic::catch_unwind(call));
    }
}

/// There are no optional interfaces of the host yet.
unsafe extern "C" fn interface(_ctx: *mut c_void, _id: AgonStr) -> *const c_void {
    std::ptr::null()
}

/// The host table for a plugin: one for each id, which lives until the process ends.
pub fn host_table(id: &str) -> *const AgonHost {
    struct Tables(BTreeMap<String, *const AgonHost>);
    // SAFETY: the tables are leaked and constant.
    unsafe impl Send for Tables {}
    // SAFETY: as above.
    unsafe impl Sync for Tables {}
    static TABLES: OnceLock<RwLock<Tables>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| RwLock::new(Tables(BTreeMap::new())));
    let mut tables = tables.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(table) = tables.0.get(id) {
        return *table;
    }
    let ctx = Box::into_raw(Box::new(id.to_string())).cast();
    let table: *const AgonHost = Box::into_raw(Box::new(AgonHost {
        struct_size: size_of::<AgonHost>() as u64,
        abi_major: abi::AGON_ABI_MAJOR,
        abi_minor: abi::AGON_ABI_MINOR,
        ctx,
        log: Some(log),
        interface: Some(interface),
    }));
    tables.0.insert(id.to_string(), table);
    table
}
