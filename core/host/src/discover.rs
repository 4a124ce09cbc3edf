//! Which plugins there are. Nothing of them is run.
//!
//! Places, in this order: files that the user named; folders of the user's configuration; folders of an environment
//! variable, unless the process has the privileges of somebody else; the folder of the installation; the tracks that
//! are linked into the program. The current folder is never searched. Two plugins of the same id that are not the same
//! file content are an error: silent shadowing would make two machines judge differently.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use agon_abi::AgonPlugin;
use agon_sdk::hosting::{Identity, Plugin};
use serde::{Deserialize, Serialize};

use crate::load::{Candidate, Hashes};
use crate::{Error, trust};

/// Where to look.
#[derive(Clone, Default)]
pub struct Search {
    /// Files that the user named; they win over all else, and may have the id of a linked track.
    pub files: Vec<PathBuf>,
    /// Folders of the user's configuration.
    pub folders: Vec<PathBuf>,
    /// The value of the environment variable: folders between colons. It is ignored with elevated privileges.
    pub environment: Option<OsString>,
    /// The program's path: plugins of the installation are in `../lib/agon/plugins` from its folder.
    pub program: Option<PathBuf>,
    /// Whether plugins are also looked for beside the program: for `target/` of Cargo.
    pub beside_program: bool,
    /// Whether owners and modes are not looked at, for containers. It is recorded.
    pub trust_permissions: bool,
    /// The tracks that are linked into the program.
    pub linked: &'static [&'static AgonPlugin],
}

/// Where a plugin's code is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// In the program.
    #[serde(rename = "linked")]
    Linked,
    /// In a file that came with the program.
    #[serde(rename = "installed")]
    Installed(PathBuf),
    /// In a file from elsewhere.
    #[serde(rename = "file")]
    File(PathBuf),
}

impl Origin {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::Linked => None,
            Origin::Installed(path) | Origin::File(path) => Some(path),
        }
    }
}

/// A plugin that was found. This is what results record of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name by which editions refer to it.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Who made it.
    pub vendor: String,
    /// The version of the ABI that it was built with.
    pub abi: String,
    /// Where its code is.
    pub origin: Origin,
    /// The hashes of the file with its code: of the program, for a linked one.
    pub hashes: Hashes,
    /// Whether owners and modes were not looked at.
    pub trusted_permissions: bool,
}

/// A file that looked like a plugin and was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Where.
    pub path: PathBuf,
    /// Why not.
    pub why: String,
}

/// The plugins that there are.
#[derive(Clone, Default)]
pub struct Registry {
    /// Those to be used, by id.
    pub entries: Vec<Entry>,
    /// What was found and not taken.
    pub passed: Vec<Passed>,
    /// The ids of the files that the user named.
    named: Vec<String>,
    linked: &'static [&'static AgonPlugin],
}

/// Whether a file's name is that of a plugin's library.
fn is_library(path: &Path) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("libagon_") && n.ends_with(".so"))
}

/// The hashes of the running program.
pub(crate) fn program_hashes() -> Result<Hashes, Error> {
    static HASHES: OnceLock<Result<Hashes, Error>> = OnceLock::new();
    HASHES
        .get_or_init(|| {
            std::fs::read("/proc/self/exe")
                .map(|bytes| Hashes::of(&bytes))
                .map_err(|e| Error(format!("/proc/self/exe, which is this program, cannot be read: {e}")))
        })
        .clone()
}

/// What the descriptor of a linked plugin says.
pub(crate) fn linked_plugin(descriptor: &'static AgonPlugin) -> Result<Plugin, Error> {
    Plugin::linked(descriptor).map_err(|refusal| Error(format!("a linked plugin is refused: {refusal}")))
}

impl Registry {
    /// Looks at all places.
    pub fn discover(search: &Search) -> Result<Self, Error> {
        let mut out = Self { linked: search.linked, ..Self::default() };
        for path in &search.files {
            let candidate = Candidate::examine(path, search.trust_permissions)?;
            let entry = entry(&candidate, Origin::File, search.trust_permissions);
            let id = entry.id.clone();
            out.take(entry, true)?;
            out.named.push(id);
        }
        for folder in &search.folders {
            out.folder(folder, search.trust_permissions, Origin::File)?;
        }
        if let Some(value) = &search.environment
            && !trust::elevated()
        {
            for folder in std::env::split_paths(value).filter(|p| !p.as_os_str().is_empty()) {
                out.folder(&folder, search.trust_permissions, Origin::File)?;
            }
        }
        let mut installed = Vec::new();
        if let Some(home) = search.program.as_deref().and_then(Path::parent) {
            installed.push(home.join("../lib/agon/plugins"));
            if search.beside_program {
                installed.push(home.to_path_buf());
            }
        }
        // What is linked comes before the same track as a file of the installation.
        for descriptor in search.linked {
            let identity = linked_plugin(descriptor)?.identity().clone();
            let hashes = program_hashes()?;
            out.take(linked_entry(identity, hashes), false)?;
        }
        for folder in installed {
            if folder.is_dir() {
                out.folder(&folder, search.trust_permissions, Origin::Installed)?;
            }
        }
        out.entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(out)
    }

    fn folder(&mut self, folder: &Path, trust: bool, origin: fn(PathBuf) -> Origin) -> Result<(), Error> {
        let checked = if trust && folder.is_absolute() { Ok(folder.to_path_buf()) } else { trust::folder(folder) };
        let listed = checked.and_then(|folder| {
            let names = std::fs::read_dir(&folder)
                .map_err(|e| Error(format!("the plugin folder {} cannot be listed: {e}", folder.display())))?;
            let mut paths: Vec<PathBuf> = names.flatten().map(|entry| entry.path()).filter(|p| is_library(p)).collect();
            paths.sort();
            Ok(paths)
        });
        let paths = match listed {
            Ok(paths) => paths,
            Err(error) => {
                self.passed.push(Passed { path: folder.to_path_buf(), why: error.to_string() });
                return Ok(());
            }
        };
        for path in paths {
            match Candidate::examine(&path, trust) {
                Ok(candidate) => self.take(entry(&candidate, origin, trust), false)?,
                Err(error) => self.passed.push(Passed { path, why: error.to_string() }),
            }
        }
        Ok(())
    }

    /// Adds a plugin. The user's own file wins over a linked track; a file of the installation with the id and version
    /// of a linked track is that track; the same content twice is once; all else is an error.
    fn take(&mut self, new: Entry, named: bool) -> Result<(), Error> {
        let Some(before) = self.entries.iter().find(|e| e.id == new.id) else {
            self.entries.push(new);
            return Ok(());
        };
        let place = |e: &Entry| match e.origin.path() {
            Some(path) => path.display().to_string(),
            None => "this program".into(),
        };
        let (old_place, new_place) = (place(before), place(&new));
        let same = before.hashes == new.hashes;
        let by_name = self.named.contains(&new.id);
        let shipped = before.origin == Origin::Linked
            && matches!(new.origin, Origin::Installed(_))
            && before.version == new.version;
        if same || shipped || (by_name && !named) {
            let why = if same {
                format!("the same as {old_place}")
            } else if shipped {
                format!("the track `{}` {} is linked into this program, which is used", new.id, new.version)
            } else {
                format!("{old_place} was named for `{}`", new.id)
            };
            let path = new.origin.path().map(Path::to_path_buf).unwrap_or_else(|| PathBuf::from("this program"));
            self.passed.push(Passed { path, why });
            return Ok(());
        }
        Err(Error(format!(
            "there are two plugins `{}`: {} in {old_place} (BLAKE3 {}) and {} in {new_place} (BLAKE3 {}); which of them \
             judges must not depend on the machine: remove one, or name the one to use with --plugin FILE",
            new.id, before.version, before.hashes.blake3, new.version, new.hashes.blake3
        )))
    }

    /// The plugin with this id.
    pub fn get(&self, id: &str) -> Result<&Entry, Error> {
        self.entries.iter().find(|e| e.id == id).ok_or_else(|| {
            let known = self.entries.iter().map(|e| e.id.as_str()).collect::<Vec<_>>().join(", ");
            let passed: String =
                self.passed.iter().map(|p| format!("; {} was passed over: {}", p.path.display(), p.why)).collect();
            Error(format!(
                "there is no plugin `{id}`; there are: {known}{passed}. Put its library into a plugin folder, or name it \
                 with --plugin FILE"
            ))
        })
    }

    /// Loads a plugin into this process; the file must still be the one that was found.
    pub fn load(&self, entry: &Entry) -> Result<Plugin, Error> {
        match &entry.origin {
            Origin::Linked => {
                for descriptor in self.linked {
                    let plugin = linked_plugin(descriptor)?;
                    if plugin.identity().id == entry.id {
                        return Ok(plugin);
                    }
                }
                Err(Error(format!("the track `{}` is not linked into this program", entry.id)))
            }
            Origin::Installed(path) | Origin::File(path) => {
                let candidate = Candidate::examine(path, entry.trusted_permissions)?;
                if candidate.hashes != entry.hashes {
                    return Err(Error(format!(
                        "the plugin {} has changed since it was found (BLAKE3 {}, then {}); start again",
                        path.display(),
                        entry.hashes.blake3,
                        candidate.hashes.blake3
                    )));
                }
                candidate.load()
            }
        }
    }
}

fn entry(candidate: &Candidate, origin: fn(PathBuf) -> Origin, trusted_permissions: bool) -> Entry {
    Entry {
        id: candidate.manifest.id.clone(),
        version: candidate.manifest.version.clone(),
        vendor: candidate.manifest.vendor.clone(),
        abi: candidate.manifest.abi.clone(),
        origin: origin(candidate.path.clone()),
        hashes: candidate.hashes.clone(),
        trusted_permissions,
    }
}

fn linked_entry(identity: Identity, hashes: Hashes) -> Entry {
    Entry {
        id: identity.id,
        version: identity.version,
        vendor: identity.vendor,
        abi: format!("{}.{}", identity.abi.0, identity.abi.1),
        origin: Origin::Linked,
        hashes,
        trusted_permissions: false,
    }
}
