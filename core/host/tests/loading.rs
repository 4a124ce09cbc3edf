//! Finding and loading libraries, with the plugin that is written in C.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agon_host::load::Candidate;
use agon_host::{Origin, Registry, Search};
use agon_sdk::values::{Benchmark, Blame, Condition, Job, Limit, Observation, Soundness, Value};

/// A folder of this test's own under Cargo's.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loading-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("it can be made");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    path
}

fn install(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::copy(agon_plugin_exit_code::LIBRARY, &path).expect("it can be copied");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    path
}

fn judged(exit: i32, expected: &str) -> (String, Soundness) {
    judged_by(Path::new(agon_plugin_exit_code::LIBRARY), exit, expected)
}

fn judged_by(library: &Path, exit: i32, expected: &str) -> (String, Soundness) {
    let candidate = Candidate::examine(library, false).expect("it is a plugin");
    let track = candidate.load().expect("it loads").open("{}").expect("the defaults do");
    let job = Job::new(Benchmark::new("b", "p cnf 0 0\n").expecting([expected]));
    let judgement = track.judge(&job, &Observation::finished(exit, "")).expect("it judges");
    assert_eq!(judgement.columns["exit_code"], Value::Int(exit.into()));
    (judgement.answer, judgement.soundness)
}

#[test]
fn the_plugin_in_c_judges() {
    assert_eq!(judged(10, "sat"), ("sat".into(), Soundness::Agrees));
    assert_eq!(judged(20, "sat"), ("unsat".into(), Soundness::Contradicts));
    assert_eq!(judged(20, "?"), ("unsat".into(), Soundness::Unverified));
    assert_eq!(judged(0, "sat"), ("unknown".into(), Soundness::NotApplicable));
}

/// What was compiled with the header of an earlier minor version runs in this host as it is. The header is that of the
/// first version, and stays.
#[test]
fn a_plugin_of_the_first_version_still_judges() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder("old");
    std::fs::copy(here.join("tests/headers/agon_plugin_1_0.h"), folder.join("agon_plugin.h")).expect("it is there");
    let library = folder.join("libagon_exit_code.so");
    let output = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"])
        // What the header does not have yet.
        .arg("-DAGON_DESCRIPTION(text)=static const char agon_description[] = text")
        .arg("-I")
        .arg(&folder)
        .arg("-o")
        .arg(&library)
        .arg(here.join("../../plugins/exit-code/exit_code.c"))
        .output()
        .expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::set_permissions(&library, PermissionsExt::from_mode(0o755)).expect("it is ours");
    for (exit, status) in [(10, "sat"), (20, "sat"), (20, "?"), (0, "sat")] {
        assert_eq!(judged_by(&library, exit, status), judged(exit, status));
    }
    let old = Candidate::examine(&library, false).expect("it is a plugin");
    assert_eq!(old.description, None);
    let new = Candidate::examine(Path::new(agon_plugin_exit_code::LIBRARY), false).expect("it is a plugin");
    let described = new.description.clone().expect("it says what it declares");
    assert_eq!(old.load().expect("it loads").description_json(), described);
}

#[test]
fn the_plugin_in_c_has_parameters() {
    let candidate = Candidate::examine(Path::new(agon_plugin_exit_code::LIBRARY), false).expect("it is a plugin");
    let plugin = candidate.load().expect("it loads");
    let job = Job::new(Benchmark::new("b", "").expecting(["SATISFIABLE"]));
    let track = plugin.open(r#"{"sat-status": "SATISFIABLE"}"#).expect("it opens");
    let judgement = track.judge(&job, &Observation::finished(10, "")).expect("it judges");
    assert_eq!(judgement.soundness, Soundness::Agrees);
    let killed = Observation { exit: None, limit: Limit::Cpu, ..Observation::finished(0, "") };
    let judgement = track.judge(&job, &killed).expect("it judges");
    assert_eq!((judgement.condition, judgement.blame), (Condition::CpuLimit, Blame::Entrant));
    for (given, pointer) in [
        ("{\"sat-status\": 1}", "/sat-status"),
        ("{\"x/y\": 1}", "/x~1y"),
        ("[]", ""),
        ("{\"unsat-status\":\"\"}", "/unsat-status"),
    ] {
        let fault = plugin.open(given).expect_err(given);
        assert_eq!(fault.pointer.as_deref(), Some(pointer), "{fault}");
    }
}

#[test]
fn plugins_are_found_in_folders() {
    let here = folder("found");
    let path = install(&here, "libagon_exit_code.so");
    install(&here, "other.so");
    std::fs::write(here.join("libagon_broken.so"), b"\x7fELF").expect("it can be written");
    let search = Search { folders: vec![here.clone()], ..Search::default() };
    let registry = Registry::discover(&search).expect("there are no two");
    let entry = registry.get("exit-code").expect("it is there");
    assert_eq!(entry.origin, Origin::File(path));
    assert_eq!((entry.hashes.blake3.len(), entry.hashes.sha256.len()), (64, 64));
    assert_eq!(registry.passed.len(), 1, "{:?}", registry.passed);
    assert!(registry.load(entry).is_ok());
    assert!(registry.get("nothing").expect_err("it is not there").0.contains("exit-code"));

    // The environment names the same folder: the same content twice is once.
    let search = Search { environment: Some(here.clone().into_os_string()), ..search };
    assert_eq!(Registry::discover(&search).expect("they are the same").entries.len(), 1);

    // Other content with the same id is an error.
    let there = folder("other");
    let changed = install(&there, "libagon_exit_code.so");
    let mut bytes = std::fs::read(&changed).expect("it is there");
    bytes.push(0);
    std::fs::write(&changed, bytes).expect("it is ours");
    let search = Search { folders: vec![here, there], environment: None, ..search };
    let error = Registry::discover(&search).err().expect("there are two");
    assert!(error.0.contains("two plugins `exit-code`"), "{error}");
    // The user may name the one to use.
    let search = Search { files: vec![changed.clone()], ..search };
    let registry = Registry::discover(&search).expect("one is named");
    assert_eq!(registry.get("exit-code").expect("it is there").origin, Origin::File(changed.clone()));

    // What changes between finding and loading is refused.
    std::fs::write(&changed, std::fs::read(agon_plugin_exit_code::LIBRARY).expect("it is there")).expect("it is ours");
    let entry = registry.get("exit-code").expect("it is there");
    assert!(registry.load(entry).expect_err("it has changed").0.contains("has changed"));
}

#[test]
fn what_others_can_write_is_refused() {
    let here = folder("modes");
    let path = install(&here, "libagon_exit_code.so");
    for mode in [0o775, 0o757, 0o4755, 0o2755] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
        let error = Candidate::examine(&path, false).expect_err("others can write it, or it is setuid");
        assert!(error.0.contains(&format!("mode {mode:o}")), "{error}");
    }
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    for mode in [0o775, 0o777, 0o1777] {
        std::fs::set_permissions(&here, PermissionsExt::from_mode(mode)).expect("it is ours");
        let search = Search { folders: vec![here.clone()], ..Search::default() };
        let registry = Registry::discover(&search).expect("there is none");
        assert!(registry.entries.is_empty() && registry.passed[0].why.contains("can be written by"));
        // A named file is taken from a folder with the sticky bit, such as /tmp: there, others cannot replace it.
        assert_eq!(Candidate::examine(&path, false).is_ok(), mode == 0o1777, "{mode:o}");
        assert!(Candidate::examine(&path, true).is_ok());
    }
}

#[test]
fn the_current_folder_is_no_place() {
    let here = folder("current");
    install(&here, "libagon_exit_code.so");
    for relative in ["", ".", "target"] {
        let search = Search { folders: vec![relative.into()], environment: Some(relative.into()), ..Search::default() };
        let registry = Registry::discover(&search).expect("there is none");
        assert!(registry.entries.is_empty());
        assert!(registry.passed.iter().all(|p| p.why.contains("relative")), "{:?}", registry.passed);
    }
}

#[test]
fn what_is_no_library_is_named() {
    let here = folder("strange");
    for (bytes, says) in [(&b""[..], "not an ELF library"), (b"hello", "not an ELF library")] {
        let path = here.join("libagon_x.so");
        std::fs::write(&path, bytes).expect("it can be written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("it is ours");
        let error = Candidate::examine(&path, false).expect_err("it is no plugin");
        assert!(error.0.contains(says), "{error}");
    }
    let error = Candidate::examine(&std::env::current_exe().expect("there is one"), false).expect_err("no plugin");
    assert!(error.0.contains("section"), "{error}");
    assert!(Candidate::examine(&here, false).is_err() && Candidate::examine(Path::new("/dev/zero"), true).is_err());
}

#[test]
fn only_the_descriptor_is_exported() {
    let output = std::process::Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=just-symbols", agon_plugin_exit_code::LIBRARY])
        .output()
        .expect("there are binutils");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "agon_plugin_v1");
}

#[test]
fn the_committed_schema_is_what_the_plugin_says() {
    let candidate = Candidate::examine(Path::new(agon_plugin_exit_code::LIBRARY), false).expect("it is a plugin");
    let plugin = candidate.load().expect("it loads");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/plugins/exit-code.json");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(&path, plugin.description_json()).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == plugin.description_json(), "{} is not current; AGON_BLESS=1 writes it", path.display());
    // It is written as the SDK would write it.
    assert_eq!(committed, plugin.description().to_json());
}
