//! `agon plugin`: list, check, new; and the hidden subcommand by which agon serves as a worker.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agon_abi::AgonPlugin;
use agon_host::conformance::{Options, RULES, Report, check, check_linked};
use agon_host::{Origin, Registry, Search, Workers, template, worker};
use anyhow::{Context as _, bail};
use serde_json::json;

use crate::Outcome;
use crate::args::{Format, PlaceArgs, PluginCommand};
use crate::print;

/// The tracks that are linked into this program.
#[cfg(feature = "builtin-tracks")]
pub static LINKED: &[&AgonPlugin] =
    &[&agon_incremental::AGON_PLUGIN, &agon_single_query::AGON_PLUGIN, &agon_sat::AGON_PLUGIN];
/// None are linked into this program.
#[cfg(not(feature = "builtin-tracks"))]
pub static LINKED: &[&AgonPlugin] = &[];

/// Runs a command.
pub fn run(command: PluginCommand) -> anyhow::Result<Outcome> {
    match command {
        PluginCommand::List { places, format } => list(&places, format),
        PluginCommand::Check { file, parameters, trust_permissions, format } => {
            conformance(&file, parameters, trust_permissions, format)
        }
        PluginCommand::Describe { which, places } => describe(&which, places),
        PluginCommand::New { name, sdk } => new(&name, sdk),
    }
}

/// Serves as a worker, until the process that started this one goes away.
pub fn serve() -> anyhow::Result<Outcome> {
    worker::serve(LINKED)?;
    Ok(Outcome::Done)
}

/// Where plugins are looked for: the folder of the user's own data, AGON_PLUGIN_PATH, and what was given.
pub fn search(places: &PlaceArgs) -> Search {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    let folders = data.map(|data| data.join("agon/plugins")).into_iter().filter(|folder| folder.is_dir()).collect();
    Search {
        files: places.plugin.clone(),
        folders,
        environment: std::env::var_os("AGON_PLUGIN_PATH"),
        program: std::env::current_exe().ok(),
        beside_program: places.dev_plugins,
        trust_permissions: places.trust_permissions,
        linked: LINKED,
    }
}

fn list(places: &PlaceArgs, format: Format) -> anyhow::Result<Outcome> {
    let registry = Registry::discover(&search(places))?;
    for passed in &registry.passed {
        print::err(&format!("note: {} is left out: {}\n", passed.path.display(), passed.why));
    }
    let place = |origin: &Origin| match origin.path() {
        Some(path) => path.display().to_string(),
        None => "linked into agon".into(),
    };
    match format {
        Format::Json => print::out(&format!("{}\n", serde_json::to_string_pretty(&registry.entries)?)),
        Format::Csv => {
            let mut out = String::from("id,version,abi,vendor,place,blake3\n");
            for e in &registry.entries {
                let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
                let (vendor, place) = (quoted(&e.vendor), quoted(&place(&e.origin)));
                let _ = writeln!(out, "{},{},{},{vendor},{place},{}", e.id, e.version, e.abi, e.hashes.blake3);
            }
            print::out(&out);
        }
        Format::Table => {
            let id = registry.entries.iter().map(|e| e.id.len()).max().unwrap_or(0);
            let version = registry.entries.iter().map(|e| e.version.len()).max().unwrap_or(0);
            let mut out = String::new();
            for e in &registry.entries {
                let blake3: String = e.hashes.blake3.chars().take(12).collect();
                let place = place(&e.origin);
                let _ = writeln!(out, "{:id$}  {:version$}  ABI {}  {blake3}  {place}", e.id, e.version, e.abi);
            }
            if out.is_empty() {
                out.push_str("no plugins; `agon plugin new NAME` begins one\n");
            }
            print::say(&out);
        }
    }
    Ok(Outcome::Done)
}

fn conformance(
    file: &Path,
    parameters: Option<String>,
    trust_permissions: bool,
    format: Format,
) -> anyhow::Result<Outcome> {
    let program =
        std::env::current_exe().context("the path of agon itself cannot be told, which starts its workers")?;
    if let Some(text) = &parameters
        && !serde_json::from_str::<serde_json::Value>(text).is_ok_and(|v| v.is_object())
    {
        bail!("--parameters takes a JSON object such as '{{\"name\": \"value\"}}', not {text:?}");
    }
    let options = Options { parameters, trust_permissions, ..Options::new(program) };
    let id = file.to_str().unwrap_or_default();
    let linked = LINKED
        .iter()
        .find(|descriptor| agon_host::Plugin::linked(descriptor).is_ok_and(|plugin| plugin.identity().id == id));
    let report = match linked {
        Some(descriptor) => check_linked(descriptor, &options)?,
        None if !file.exists() => {
            bail!(
                "{} is not there; give the path of a plugin's library, such as target/release/libagon_NAME.so",
                file.display()
            )
        }
        None => check(file, &options),
    };
    match format {
        Format::Json => {
            let rules: serde_json::Map<String, serde_json::Value> =
                RULES.iter().map(|(number, text)| (number.to_string(), (*text).into())).collect();
            let json = json!({ "passed": report.passed(), "report": report, "rules": rules });
            print::out(&format!("{}\n", serde_json::to_string_pretty(&json)?));
        }
        Format::Csv => {
            let mut out = String::from("rule,check,kept,detail\n");
            for f in &report.findings {
                let _ = writeln!(out, "{},{},{},\"{}\"", f.rule, f.check, f.kept, f.detail.replace('"', "\"\""));
            }
            print::out(&out);
        }
        Format::Table => print::say(&table(&report)),
    }
    Ok(if report.passed() { Outcome::Done } else { Outcome::Short })
}

/// A name with a dot or a slash is a library's, all else a plugin's.
fn describe(plugin: &Path, mut places: PlaceArgs) -> anyhow::Result<Outcome> {
    let program =
        std::env::current_exe().context("the path of agon itself cannot be told, which starts its workers")?;
    let id = plugin.to_str().filter(|id| !id.contains('/') && !id.ends_with(".so"));
    if id.is_none() {
        places.plugin.push(plugin.to_path_buf());
    }
    let registry = Registry::discover(&search(&places))?;
    let entry = match id {
        Some(id) => registry.get(id)?,
        None => {
            let path = plugin.canonicalize().unwrap_or_else(|_| plugin.to_path_buf());
            let found = registry.entries.iter().find(|e| e.origin.path() == Some(&path));
            found.with_context(|| format!("{} is not among the plugins that were found", plugin.display()))?
        }
    };
    print::out(&registry.description(entry, &Workers::new(program))?);
    Ok(Outcome::Done)
}

fn table(report: &Report) -> String {
    let mut out = String::new();
    if let Some((id, version)) = &report.identity {
        let _ = writeln!(out, "{id} {version}  {}", report.plugin);
    }
    for f in &report.findings {
        let result = if f.kept { "kept" } else { "BROKEN" };
        let _ = writeln!(out, "  {:14} rule {:>2}  {result}", f.check, f.rule);
        if !f.kept {
            let rule = RULES.iter().find(|(number, _)| *number == f.rule).map_or("", |(_, text)| text);
            let _ = writeln!(out, "    {}\n    the rule: {rule}", f.detail);
        }
    }
    let broken = report.broken();
    if broken.is_empty() {
        out.push_str("all rules are kept, as far as a test can see\n");
    } else {
        let numbers = broken.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "broken rules: {numbers}");
    }
    out
}

fn new(name: &str, sdk: Option<PathBuf>) -> anyhow::Result<Outcome> {
    let Some(sdk) = sdk.or_else(template::own_sdk) else {
        bail!(
            "the sources that agon was built from are not there any more; give the folder of agon-sdk with --sdk PATH"
        );
    };
    template::write(name, Path::new(name), &sdk)?;
    let library = name.replace('-', "_");
    print::out(&format!(
        "{name} is written. Next:\n\n  cd {name}\n  cargo test\n  cargo build --release\n  agon plugin check \
         target/release/libagon_{library}.so\n"
    ));
    Ok(Outcome::Done)
}
