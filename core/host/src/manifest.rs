//! What a library says of itself in its sections `.agon` and `.agon.describe`, read without running anything of it.

use object::{Object as _, ObjectSection as _};
use serde::{Deserialize, Serialize};

/// The facts in the manifest; the descriptor must say the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of the manifest: 1.
    #[serde(rename = "agon-plugin")]
    pub form: u32,
    /// The name by which editions refer to the plugin.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Who made it.
    #[serde(default)]
    pub vendor: String,
    /// The symbol of its descriptor.
    #[serde(default = "default_symbol")]
    pub symbol: String,
    /// The version of the ABI that it was built with: `major.minor`.
    pub abi: String,
    /// The least minor version of the host that it needs.
    #[serde(rename = "min-host-minor", default)]
    pub min_host_minor: u32,
}

fn default_symbol() -> String {
    format!("agon_plugin_v{}", agon_abi::AGON_ABI_MAJOR)
}

/// The name of the section.
pub const SECTION: &str = ".agon";

/// The name of the section that may hold what the plugin declares: the JSON text of its `describe`.
pub const DESCRIPTION: &str = ".agon.describe";

/// Reads what a library declares, if it says so where that can be read without running anything of it.
pub fn description(library: &[u8]) -> Result<Option<String>, String> {
    let file = object::File::parse(library).map_err(|e| format!("it is not an ELF library: {e}"))?;
    let Some(section) = file.section_by_name(DESCRIPTION) else { return Ok(None) };
    let data = section.data().map_err(|e| format!("its section {DESCRIPTION} cannot be read: {e}"))?;
    let mut texts = data.split(|b| *b == 0).filter(|text| !text.is_empty());
    let text = texts.next().ok_or_else(|| format!("its section {DESCRIPTION} is empty"))?;
    if texts.next().is_some() {
        return Err(format!("its section {DESCRIPTION} has more than one text: it links another plugin"));
    }
    let text = std::str::from_utf8(text).map_err(|_| format!("its section {DESCRIPTION} is not UTF-8"))?;
    Ok(Some(text.to_string()))
}

/// Reads the manifest of a library; an error says why there is none.
pub fn read(library: &[u8]) -> Result<Manifest, String> {
    let file = object::File::parse(library).map_err(|e| format!("it is not an ELF library: {e}"))?;
    let native = match std::env::consts::ARCH {
        "x86_64" => object::Architecture::X86_64,
        "aarch64" => object::Architecture::Aarch64,
        other => return Err(format!("plugins cannot be loaded on the architecture {other}")),
    };
    if file.architecture() != native {
        return Err(format!("it is built for {:?}, and this is {native:?}", file.architecture()));
    }
    if file.kind() != object::ObjectKind::Dynamic {
        return Err("it is no shared library".into());
    }
    let section = file
        .section_by_name(SECTION)
        .ok_or_else(|| format!("it has no section {SECTION}, so it is no plugin, or one without a manifest"))?;
    let data = section.data().map_err(|e| format!("its section {SECTION} cannot be read: {e}"))?;
    let mut texts = data.split(|b| *b == 0).filter(|text| !text.is_empty());
    let text = texts.next().ok_or_else(|| format!("its section {SECTION} is empty"))?;
    if texts.next().is_some() {
        return Err(format!("its section {SECTION} has more than one manifest: it links another plugin"));
    }
    let manifest: Manifest =
        serde_json::from_slice(text).map_err(|e| format!("the manifest in its section {SECTION} is wrong: {e}"))?;
    if manifest.form != 1 {
        return Err(format!("its manifest has form {}, and this host knows form 1", manifest.form));
    }
    let major = manifest.abi.split('.').next().and_then(|m| m.parse::<u32>().ok());
    if major != Some(agon_abi::AGON_ABI_MAJOR) {
        return Err(format!(
            "it is built for ABI {}, and this host has ABI {}.{}",
            manifest.abi,
            agon_abi::AGON_ABI_MAJOR,
            agon_abi::AGON_ABI_MINOR
        ));
    }
    if manifest.min_host_minor > agon_abi::AGON_ABI_MINOR {
        return Err(format!(
            "it needs a host with ABI {}.{}, and this one has {}.{}",
            agon_abi::AGON_ABI_MAJOR,
            manifest.min_host_minor,
            agon_abi::AGON_ABI_MAJOR,
            agon_abi::AGON_ABI_MINOR
        ));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if !manifest.symbol.starts_with(&default_symbol()) || !manifest.symbol.bytes().all(plain) {
        return Err(format!(
            "its manifest names the symbol {:?}; it begins with {}",
            manifest.symbol,
            default_symbol()
        ));
    }
    Ok(manifest)
}
