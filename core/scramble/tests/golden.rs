//! The runs of the official scramblers in the archive, byte by byte.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agon_scramble::{Annotations, Core, Error, Files, Mode, Options, scramble, unfold};
use serde_json::Value;

fn archive() -> PathBuf {
    let root = std::env::var_os("AGON_ARCHIVE").map_or_else(|| PathBuf::from("../../../shared"), PathBuf::from);
    root.join("archive/scrambler")
}

/// Files in memory.
#[derive(Default)]
struct Kept(BTreeMap<String, Vec<u8>>, Arc<Mutex<Vec<u8>>>);

struct Part(Arc<Mutex<Vec<u8>>>);

impl Write for Part {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Files for Kept {
    fn create(&mut self, _: &str) -> io::Result<Box<dyn Write>> {
        Ok(Box::new(Part(self.1.clone())))
    }

    fn finish(&mut self, name: &str) -> io::Result<()> {
        let text = std::mem::take(&mut *self.1.lock().unwrap());
        self.0.insert(name.to_string(), text);
        Ok(())
    }
}

/// The text of the archive stands for bytes, one a character.
fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn options(case: &Value) -> Options {
    let seed = u32::try_from(case["seed"].as_u64().unwrap()).unwrap();
    let newer = case["tool"] == "2023";
    let plain = if newer { Mode::Plain } else { Mode::Main };
    let mode = case["mode"].as_str().unwrap();
    let mut options = Options::new(
        match mode {
            "application-2014" => Mode::Application,
            _ => Mode::from_word(mode).unwrap_or(plain),
        },
        seed,
    );
    match mode {
        "strip-annotations" => options.annotations = Annotations::Strip,
        "count-asserts" => options.count_asserts = true,
        "non-smtcomp" => options.non_smtcomp = true,
        "scramble-names" => options.scramble_named = true,
        "lift-names" => options.lift_named = true,
        "core" => options.core = Core::read(&mut &bytes(case["core_names"].as_str().unwrap())[..]).unwrap(),
        "keep-annotations" => {}
        known => assert_eq!(Mode::from_word(known).or(Some(Mode::Application)), Some(options.mode), "{known}"),
    }
    options
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn every_stored_run_is_the_same() {
    let folder = archive();
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).expect("the archive has the runs");
    let mut count = 0;
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let script = std::fs::read(folder.join(case["input"].as_str().unwrap())).unwrap();
        let options = options(&case);
        let mut out = Vec::new();
        let mut files = Kept::default();
        let result = if options.mode == Mode::Unfold {
            unfold(&script[..], &options, "U", &mut files, &mut out).map(|()| None)
        } else {
            scramble(&script[..], &options, &mut out)
        };
        let (exit, said) = match result {
            Ok(said) => (0, said),
            Err(Error::Refused(refusal)) => (1, Some(refusal.message)),
            Err(other) => panic!("{other}"),
        };
        let errors = said.map_or(String::new(), |said| format!("{said}\n"));
        let stored: BTreeMap<String, Vec<u8>> = case
            .get("files")
            .and_then(Value::as_object)
            .map(|all| all.iter().map(|(name, text)| (name.clone(), bytes(text.as_str().unwrap()))).collect())
            .unwrap_or_default();
        count += 1;
        if out != bytes(case["stdout"].as_str().unwrap())
            || exit != case["exit_code"].as_i64().unwrap()
            || errors.as_bytes() != bytes(case["stderr"].as_str().unwrap())
            || files.0 != stored
        {
            let what = format!("{} {} {} seed {}", case["tool"], case["mode"], case["input"], case["seed"]);
            wrong.push(format!(
                "{what}: {exit} {errors}{}\n--- is not {} {}\n{}",
                String::from_utf8_lossy(&out),
                case["exit_code"],
                case["stderr"],
                case["stdout"].as_str().unwrap()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ, first {}", wrong.len(), wrong[0]);
    assert_eq!(count, 709);
}
