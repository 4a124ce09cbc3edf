//! The crate that an author of a plugin begins with: it builds, its tests pass, and it keeps all rules.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Error;

/// The files, with `@NAME@`, `@LIB@` and `@SDK@` for what differs.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    ("src/lib.rs", include_str!("../template/lib.rs.in")),
    ("tests/judging.rs", include_str!("../template/judging.rs.in")),
    ("README.md", include_str!("../template/README.md.in")),
];

/// The SDK in the sources that this program was built from, if they are still there.
pub fn own_sdk() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk");
    path.canonicalize().ok().filter(|p| p.join("Cargo.toml").is_file())
}

/// Writes a new crate into `folder`, which must not exist. `sdk` is the folder of the crate `agon-sdk`.
pub fn write(name: &str, folder: &Path, sdk: &Path) -> Result<(), Error> {
    if !agon_sdk::is_id(name) || name.contains('.') || name.ends_with('-') {
        return Err(Error(format!(
            "{name:?} is no name for a plugin: lower-case letters, digits and `-`, a letter first, such as `my-track`"
        )));
    }
    if fs::symlink_metadata(folder).is_ok() {
        return Err(Error(format!("{} is already there; choose another name, or remove it", folder.display())));
    }
    let sdk = sdk
        .canonicalize()
        .ok()
        .filter(|p| fs::read_to_string(p.join("Cargo.toml")).is_ok_and(|t| t.contains("name = \"agon-sdk\"")))
        .ok_or_else(|| {
            Error(format!(
                "{} is not the folder of the crate agon-sdk; give it with --sdk PATH (core/sdk in Agon's sources)",
                sdk.display()
            ))
        })?;
    let sdk_text = sdk
        .to_str()
        .filter(|s| !s.contains(['"', '\\']) && !s.chars().any(char::is_control))
        .ok_or_else(|| Error(format!("{} cannot be written into a Cargo.toml; move the sources", sdk.display())))?;
    let parent = match folder.parent().filter(|p| !p.as_os_str().is_empty()) {
        Some(parent) => parent,
        None => Path::new("."),
    };
    let wrong = |e: std::io::Error| {
        Error(format!("{} cannot be written: {e}; check that its folder exists and is writable", folder.display()))
    };
    // All of it or nothing: it is written beside its place, and then named.
    let place = tempfile::Builder::new().prefix(".agon-plugin-").tempdir_in(parent).map_err(wrong)?;
    for (file, text) in FILES {
        let path = place.path().join(file);
        if let Some(inner) = path.parent() {
            fs::create_dir_all(inner).map_err(wrong)?;
        }
        let text = text.replace("@NAME@", name).replace("@LIB@", &name.replace('-', "_")).replace("@SDK@", sdk_text);
        fs::write(&path, text).map_err(wrong)?;
    }
    fs::write(place.path().join(".gitignore"), "/target\n").map_err(wrong)?;
    // The versions with which Agon itself was built are there already, so that no network is needed.
    if let Ok(lock) = fs::read(sdk.join("../../Cargo.lock")) {
        fs::write(place.path().join("Cargo.lock"), lock).map_err(wrong)?;
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).map_err(wrong)?;
    fs::rename(place.path(), folder).map_err(wrong)?;
    // The folder has its name now; there is nothing to clean up.
    let _ = place.keep();
    Ok(())
}
