//! From a file to a plugin in this process: the bytes that were hashed are those that are loaded.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::path::{Path, PathBuf};

use agon_abi::AgonPlugin;
use agon_sdk::describe::Description;
use agon_sdk::hosting::Plugin;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::Error;
use crate::manifest::{self, Manifest};
use crate::trust;

/// The hashes of a file, as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hashes {
    /// BLAKE3: by this files are compared.
    pub blake3: String,
    /// SHA-256: for the record.
    pub sha256: String,
}

impl Hashes {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let sha256 = sha2::Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        Self { blake3: blake3::hash(bytes).to_hex().to_string(), sha256 }
    }
}

/// A library of which the manifest was read; nothing of it was run.
#[derive(Debug)]
pub struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// Its hashes.
    pub hashes: Hashes,
    /// Its manifest.
    pub manifest: Manifest,
    /// What it declares of itself as JSON, if that can be read without running it; it fits the manifest.
    pub description: Option<String>,
    opened: trust::Opened,
}

/// The largest library that is looked at.
const MOST: u64 = 1 << 30;

impl Candidate {
    /// Opens, checks, hashes, and reads the manifest.
    pub fn examine(path: &Path, trust_permissions: bool) -> Result<Self, Error> {
        let mut opened = trust::open(path, trust_permissions)?;
        let wrong = |why: String| Error(format!("{} is not taken as a plugin: {why}", opened.path.display()));
        let mut bytes = Vec::new();
        (&opened.file).take(MOST + 1).read_to_end(&mut bytes).map_err(|e| wrong(format!("it cannot be read: {e}")))?;
        if bytes.len() as u64 > MOST {
            return Err(wrong(format!("it has more than {MOST} bytes")));
        }
        let manifest = manifest::read(&bytes).map_err(&wrong)?;
        let description = manifest::description(&bytes).map_err(&wrong)?;
        if let Some(text) = &description {
            let said = Description::from_json(text)
                .map_err(|why| wrong(format!("what its section {} declares is wrong: {why}", manifest::DESCRIPTION)))?;
            if (&said.plugin, &said.version) != (&manifest.id, &manifest.version) {
                return Err(wrong(format!(
                    "its manifest is that of {} {}, and its section {} that of {} {}",
                    manifest.id,
                    manifest.version,
                    manifest::DESCRIPTION,
                    said.plugin,
                    said.version
                )));
            }
        }
        opened.file.seek(SeekFrom::Start(0)).map_err(|e| wrong(format!("it cannot be read: {e}")))?;
        Ok(Self { path: opened.path.clone(), hashes: Hashes::of(&bytes), manifest, description, opened })
    }

    /// Loads it into this process, where it stays until the process ends. Its constructors run.
    pub fn load(self) -> Result<Plugin, Error> {
        let wrong = |why: String| Error(format!("the plugin {} cannot be loaded: {why}", self.path.display()));
        // The file is loaded through its descriptor. The loader knows libraries by the name that they were asked for
        // with, so the descriptor stays open: its number will not name another file.
        let name = format!("/proc/self/fd/{}", self.opened.file.as_raw_fd());
        // SAFETY: loading runs the constructors of the library; who named the file, or the folder it is in, has trusted
        // it with that.
        let library = unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| wrong(e.to_string()))?;
        let _ = self.opened.file.into_raw_fd();
        // SAFETY: the manifest says that the symbol is the descriptor; it is checked before anything of it is used. The
        // library is never unloaded.
        let plugin = unsafe {
            let symbol = library
                .get::<*const AgonPlugin>(self.manifest.symbol.as_str())
                .map_err(|e| wrong(format!("there is no symbol `{}`: {e}", self.manifest.symbol)))?;
            Plugin::at(*symbol)
        };
        std::mem::forget(library);
        let plugin = plugin.map_err(|refusal| wrong(refusal.to_string()))?;
        let identity = plugin.identity();
        let abi = format!("{}.{}", identity.abi.0, identity.abi.1);
        for (what, stated, found) in [
            ("id", &self.manifest.id, &identity.id),
            ("version", &self.manifest.version, &identity.version),
            ("vendor", &self.manifest.vendor, &identity.vendor),
            ("abi", &self.manifest.abi, &abi),
            ("min-host-minor", &self.manifest.min_host_minor.to_string(), &identity.min_host_minor.to_string()),
        ] {
            if stated != found {
                return Err(wrong(format!("its manifest has the {what} {stated:?}, and its descriptor {found:?}")));
            }
        }
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        if let Some(text) = &self.description
            && json(text) != json(plugin.description_json())
        {
            return Err(wrong(format!(
                "its section {} is out of date: `describe` declares something else (rule 16). Put the text that \
                 `agon plugin describe` prints there",
                manifest::DESCRIPTION
            )));
        }
        Ok(plugin)
    }
}
