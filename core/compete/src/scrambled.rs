//! Benchmarks as solvers get them: scrambled, under neutral names.
//!
//! What a run was given is kept in the store, once for all runs that were given the same, so that it can be judged again
//! without scrambling anything. The run itself reads it from a temporary file, which stays while it is needed and a while
//! longer, as the next entrant often gets the same.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agon_edition::model::{Scrambling, Track};
use agon_scramble::{Error, LARGEST_SEED, Mode, Options};
use agon_store::record::Stream;
use agon_store::{Store, StoreError};
use indexmap::IndexMap;

use crate::CompeteError;
use crate::benchmarks::Benchmark;

/// How many files are kept that no run needs any more.
const KEPT: usize = 16;

/// How the names of the folders begin that temporary files are in.
const PREFIX: &str = "scrambled-";

/// How the benchmarks of a track are scrambled.
#[derive(Clone, Debug, Default)]
pub struct ScrambleRules {
    /// The competition's seed.
    pub seed: Option<u32>,
    /// What holds for every division that is not among the others.
    pub usual: Option<Scrambling>,
    /// What holds for single divisions.
    pub divisions: IndexMap<String, Option<Scrambling>>,
}

impl ScrambleRules {
    /// The rules of a track, with a seed.
    ///
    /// # Errors
    /// If benchmarks are to be scrambled and there is no seed, or none that the scramblers take, or a benchmark would
    /// become several.
    pub fn new(track: &Track, seed: Option<i64>) -> Result<Self, CompeteError> {
        let divisions: IndexMap<String, Option<Scrambling>> = track
            .divisions
            .iter()
            .filter_map(|(name, division)| Some((name.clone(), division.scramble.clone()?)))
            .collect();
        let rules = Self {
            seed: seed.and_then(|seed| u32::try_from(seed).ok()).filter(|seed| *seed <= LARGEST_SEED),
            usual: track.run.scramble.clone(),
            divisions,
        };
        if rules.all().next().is_some() && rules.seed.is_none() {
            let what = match seed {
                None => "there is none".to_string(),
                Some(seed) => format!("{seed} is none that the scramblers take"),
            };
            return Err(CompeteError::Input(format!(
                "the track {} has its benchmarks scrambled with the competition's seed, and {what}. Give one from 0 to \
                 {LARGEST_SEED} with --seed N; with 0, order and names stay as they are.",
                track.name
            )));
        }
        if rules.all().any(|scrambling| scrambling.mode == Mode::Unfold) {
            return Err(CompeteError::Input(format!(
                "the track {} has its benchmarks unfolded, which makes several of one. Do that first, with `agon scramble \
                 --mode unfold`, and give what it makes as benchmarks.",
                track.name
            )));
        }
        Ok(rules)
    }

    fn all(&self) -> impl Iterator<Item = &Scrambling> {
        self.usual.iter().chain(self.divisions.values().flatten())
    }

    /// What the scrambler is told of the benchmarks of a division; none if they are not scrambled.
    pub fn options(&self, division: Option<&str>) -> Option<Options> {
        let own = division.and_then(|name| self.divisions.get(name));
        let scrambling = own.unwrap_or(&self.usual).as_ref()?;
        Some(run_options(scrambling.options(self.seed?)))
    }

    /// As the plan records them.
    pub fn json(&self) -> serde_json::Value {
        let one = |scrambling: &Scrambling| scrambling_json(&scrambling.options(self.seed.unwrap_or(0)));
        let divisions: serde_json::Map<String, serde_json::Value> = self
            .divisions
            .iter()
            .map(|(name, own)| (name.clone(), own.as_ref().map_or(serde_json::Value::Null, one)))
            .collect();
        match (&self.usual, divisions.is_empty()) {
            (None, true) => serde_json::Value::Null,
            (usual, _) => serde_json::json!({ "scramble": {
                "seed": self.seed,
                "usual": usual.as_ref().map(one),
                "divisions": divisions,
            } }),
        }
    }
}

/// The expected answers are the host's to know, not the solver's.
fn run_options(mut options: Options) -> Options {
    options.answers = false;
    options
}

/// Options as runs and plans record them.
pub fn scrambling_json(options: &Options) -> serde_json::Value {
    serde_json::json!({
        "mode": options.mode.word(),
        "annotations": options.annotations.word(),
        "seed": options.seed,
    })
}

/// A scrambled benchmark.
#[derive(Debug)]
pub struct Scrambled {
    /// What it was made with.
    pub options: Options,
    /// What is in it, as the store knows it.
    pub content: Stream,
    file: tempfile::TempPath,
}

impl Scrambled {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

/// Why a benchmark cannot be scrambled.
#[derive(Debug)]
pub enum Unscrambled {
    /// The benchmark's or the machine's fault: a sentence.
    Fault(String),
    /// The store's.
    Store(StoreError),
}

/// Scrambles benchmarks as runs need them.
#[derive(Debug)]
pub struct Scrambler {
    /// The rules.
    pub rules: ScrambleRules,
    folder: tempfile::TempDir,
    recent: Mutex<VecDeque<(PathBuf, Arc<Scrambled>)>>,
    /// Held on the folder for as long as somebody uses it: a program that was killed holds none.
    _lock: File,
}

/// Removes the folders of programs that were killed.
fn remove_left(base: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(base)?.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Some(folder) = File::open(entry.path()).ok().filter(|_| ours) else {
            continue;
        };
        if folder.try_lock().is_ok() {
            // Another program may remove it at the same time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

impl Scrambler {
    /// A scrambler with a folder of its own for temporary files, below `base`.
    ///
    /// # Errors
    /// If there cannot be such a folder.
    pub fn new(rules: ScrambleRules, base: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(base)?;
        remove_left(base)?;
        let (folder, lock) = loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(base)?;
            let lock = File::open(folder.path())?;
            lock.lock()?;
            // Who looked for what is left may have been faster, and has removed it.
            if folder.path().exists() {
                break (folder, lock);
            }
        };
        Ok(Self { rules, folder, recent: Mutex::default(), _lock: lock })
    }

    /// The benchmark as the rules have it scrambled; none if they do not.
    ///
    /// # Errors
    /// If it cannot be scrambled.
    pub fn by_rules(&self, benchmark: &Benchmark, store: &Store) -> Result<Option<Arc<Scrambled>>, Unscrambled> {
        match self.rules.options(benchmark.division.as_deref()) {
            Some(options) => self.with(&options, benchmark, store).map(Some),
            None => Ok(None),
        }
    }

    /// The benchmark scrambled in a mode that a plugin asks for.
    ///
    /// # Errors
    /// If it cannot be scrambled, or there is no such mode or no seed.
    pub fn by_mode(&self, word: &str, benchmark: &Benchmark, store: &Store) -> Result<Arc<Scrambled>, Unscrambled> {
        let mode = Mode::from_word(word).filter(|mode| *mode != Mode::Unfold);
        let mode = mode.ok_or_else(|| {
            Unscrambled::Fault(format!(
                "the plugin asks for the benchmark to be scrambled in the mode {word}, which there is not"
            ))
        })?;
        let seed = self.rules.seed.ok_or_else(|| {
            Unscrambled::Fault(
                "the plugin asks for the benchmark to be scrambled, and there is no seed; give one with --seed N"
                    .into(),
            )
        })?;
        self.with(&run_options(Options::new(mode, seed)), benchmark, store)
    }

    fn with(&self, options: &Options, benchmark: &Benchmark, store: &Store) -> Result<Arc<Scrambled>, Unscrambled> {
        let known = |recent: &VecDeque<(PathBuf, Arc<Scrambled>)>| {
            let found = recent.iter().find(|(path, one)| *path == benchmark.path && one.options == *options);
            found.map(|(_, one)| one.clone())
        };
        if let Some(one) = known(&self.recent.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(one);
        }
        // Two threads may make the same; what they make is the same.
        let one = Arc::new(self.make(options, benchmark, store)?);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_front((benchmark.path.clone(), one.clone()));
        recent.truncate(KEPT);
        Ok(one)
    }

    fn make(&self, options: &Options, benchmark: &Benchmark, store: &Store) -> Result<Scrambled, Unscrambled> {
        let place = benchmark.path.display();
        let io = |e: std::io::Error| {
            Unscrambled::Fault(format!("a temporary file in {} cannot be used: {e}", self.folder.path().display()))
        };
        let mut file = tempfile::NamedTempFile::new_in(self.folder.path()).map_err(io)?;
        let mut out = BufWriter::with_capacity(1 << 16, file.as_file_mut());
        agon_scramble::scramble(benchmark.path.as_path(), options, &mut out).map_err(|error| {
            Unscrambled::Fault(match error {
                Error::Refused(refusal) => format!(
                    "{place}, line {}, column {}: the official scrambler refuses the benchmark ({}), so no solver can get it \
                     as the edition says; take it out of the list",
                    refusal.line, refusal.column, refusal.message
                ),
                other => format!("{place}: {other}"),
            })
        })?;
        out.flush().map_err(io)?;
        drop(out);
        file.as_file_mut().rewind().map_err(io)?;
        let content = store.put_from(file.as_file_mut()).map_err(Unscrambled::Store)?;
        Ok(Scrambled { options: options.clone(), content, file: file.into_temp_path() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_programs_are_removed_and_no_others() {
        let base = tempfile::tempdir().expect("there is room for a folder");
        let left = base.path().join("scrambled-left");
        std::fs::create_dir(&left).expect("a folder");
        std::fs::write(left.join("b.smt2"), "(check-sat)").expect("a file");
        let other = base.path().join("other");
        std::fs::create_dir(&other).expect("a folder");
        let one = Scrambler::new(ScrambleRules::default(), base.path()).expect("there is room");
        assert!(!left.exists() && other.exists() && one.folder.path().exists());
        let _two = Scrambler::new(ScrambleRules::default(), base.path()).expect("there is room");
        assert!(one.folder.path().exists());
    }
}
