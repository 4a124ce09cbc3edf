//! The track plugins that agon knows, and the hidden subcommand by which it serves as a worker for one.

use std::path::PathBuf;

use agon_abi::AgonPlugin;
use agon_host::{Search, worker};

use crate::Outcome;
use crate::args::PlaceArgs;

/// The tracks that are linked into this program.
pub static LINKED: &[&AgonPlugin] = &[&agon_single_query::AGON_PLUGIN, &agon_sat::AGON_PLUGIN];

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
