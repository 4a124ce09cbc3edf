//! Reading a store.

use std::fs;
use std::io::{Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use blake3::Hash;
use rustc_hash::FxHashSet;

use crate::files::Growing;
use crate::index::{Index, Loc, Pair};
use crate::journal::{self, ScanError};
use crate::outputs::read;
use crate::record::{FORMAT, FollowUp, Meta, Note, Observation, Plan, Record, Session, Verdict};
use crate::rows::Rows;
use crate::{Digest, StoreError};

pub(crate) const META: &str = "store.json";
pub(crate) const JOURNAL: &str = "journal.jsonl";
pub(crate) const OUTPUTS: &str = "outputs.zst";

/// The reading side of a store.
#[derive(Debug)]
pub struct Reader {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) folder: PathBuf,
    pub(crate) meta: Meta,
    pub(crate) key: Hash,
    pub(crate) journal: Growing,
    pub(crate) outputs: Growing,
    pub(crate) index: RwLock<Index>,
}

/// How far a track is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Pairs that are to be run.
    pub planned: u64,
    /// Pairs that were run.
    pub observed: u64,
    /// Pairs that have a verdict.
    pub judged: u64,
}

/// A run about which two plugins say different things.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The newest verdict of the old plugin.
    pub old: Verdict,
    /// The newest verdict of the new plugin.
    pub new: Verdict,
    /// The names of what differs: `answer`, `soundness`, `condition`, `blame`, or columns.
    pub differences: Vec<String>,
}

fn read_meta(folder: &Path) -> Result<(Meta, Hash), StoreError> {
    let path = folder.join(META);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Err(StoreError::NotAStore { folder: folder.into() });
        }
        Err(e) => return Err(StoreError::io(&path, "it cannot be read", &e)),
    };
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    let unreadable = |e: serde_json::Error| {
        StoreError::damaged(&path, 0, format!("it cannot be understood ({e})"), "Put the original file back.")
    };
    let version: Version = serde_json::from_slice(&bytes).map_err(unreadable)?;
    if version.format > FORMAT {
        let what = format!("the store has the format {}", version.format);
        return Err(StoreError::TooNew { path, what, known: FORMAT });
    }
    let meta: Meta = serde_json::from_slice(&bytes).map_err(unreadable)?;
    Ok((meta, blake3::hash(&bytes)))
}

/// Whether the journal's first record says that it belongs to another `store.json`.
fn belongs_elsewhere(journal: &mut impl Read, key: &Hash) -> std::io::Result<bool> {
    let mut first = Vec::new();
    journal.take(4096).read_to_end(&mut first)?;
    let line = first.split(|&b| b == b'\n').next().unwrap_or_default();
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { return Ok(false) };
    let Some(Ok(named)) = value.get("meta").and_then(serde_json::Value::as_str).map(Hash::from_hex) else {
        return Ok(false);
    };
    // The line is whole, and about another file.
    Ok(named != *key && journal::read_line(line, &named).is_ok())
}

impl Inner {
    pub(crate) fn open(folder: &Path, write: bool) -> Result<(Self, journal::Scan), StoreError> {
        let (meta, key) = read_meta(folder)?;
        let journal = Growing::open(folder.join(JOURNAL), write)?;
        let outputs = Growing::open(folder.join(OUTPUTS), write)?;
        let path = journal.path();
        let mut file = journal.reader()?;
        let io = |e: &std::io::Error| StoreError::io(path, "it cannot be read", e);
        if belongs_elsewhere(&mut file, &key).map_err(|e| io(&e))? {
            return Err(StoreError::MetaChanged { path: folder.join(META) });
        }
        file.rewind().map_err(|e| io(&e))?;
        // What is written meanwhile is not seen, so that a line that is just growing looks like one that was cut short.
        let file = file.take(journal.len()?);
        let mut index = Index::default();
        let digest = Digest(*key.as_bytes());
        let scan = journal::scan(file, &key, &mut |offset, length, line| {
            let entry = index.entry_of_line(line, &digest)?;
            index.apply(entry, Loc { seq: line.seq, offset, length })
        });
        let scan = scan.map_err(|error| match error {
            ScanError::Io(e) => io(&e),
            ScanError::Damaged(d) => StoreError::damaged(
                path,
                d.offset,
                format!("{}; no interruption can leave that behind, so the file was damaged or changed", d.cause),
                format!(
                    "Put the file back from a backup. Without one, `head -c {}` of it has the {} records before the \
                     damage; a run goes on from there and repeats what came after.",
                    d.offset, d.records
                ),
            ),
        })?;
        if scan.records == 0 {
            let cause = "the journal has lost its first record, which was on the disk before the store existed";
            return Err(StoreError::damaged(path, 0, cause, "Put the file back from a backup."));
        }
        let length = outputs.len()?;
        if length < index.pack_end {
            let cause = format!("the file ends here, but the journal mentions outputs up to byte {}", index.pack_end);
            return Err(StoreError::damaged(outputs.path(), length, cause, "Put the file back from a backup."));
        }
        Ok((Self { folder: folder.into(), meta, key, journal, outputs, index: RwLock::new(index) }, scan))
    }

    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, loc: Loc) -> Result<Record, StoreError> {
        let bytes = self.journal.read(loc.offset, loc.length)?;
        let bad = |cause: String| {
            let remedy = "If a run was stopped meanwhile, try again; else put the file back from a backup.";
            StoreError::damaged(self.journal.path(), loc.offset, cause, remedy)
        };
        let line = bytes.strip_suffix(b"\n").ok_or_else(|| bad("a record has lost its end".into()))?;
        let line = journal::read_line(line, &self.key).map_err(|cause| bad(cause.into()))?;
        if line.seq != loc.seq {
            return Err(bad(format!("here should be record {}, but this is record {}", loc.seq, line.seq)));
        }
        serde_json::from_slice(&line.object())
            .map_err(|e| bad(format!("the record is not of the form that is known ({e})")))
    }

    fn observation(&self, loc: Loc) -> Result<Observation, StoreError> {
        match self.record(loc)? {
            Record::Observation(o) => Ok(o),
            _ => Err(self.other_kind(loc)),
        }
    }

    fn verdict(&self, loc: Loc) -> Result<Verdict, StoreError> {
        match self.record(loc)? {
            Record::Result(v) => Ok(v),
            _ => Err(self.other_kind(loc)),
        }
    }

    fn other_kind(&self, loc: Loc) -> StoreError {
        let cause = "the record is of another kind than when it was indexed";
        StoreError::damaged(self.journal.path(), loc.offset, cause, "Open the store again.")
    }

    pub(crate) fn refused(&self, cause: String) -> StoreError {
        StoreError::Refused { folder: self.folder.clone(), cause }
    }
}

impl Reader {
    /// Opens a store for reading, also while another program writes to it: what is on the disk now is what is seen.
    ///
    /// # Errors
    /// If there is no store, or it is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let (inner, _) = Inner::open(folder.as_ref(), false)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// What the store is about.
    pub fn meta(&self) -> &Meta {
        &self.inner.meta
    }

    /// The tracks that have a plan, in the order in which they were begun.
    pub fn tracks(&self) -> Vec<String> {
        self.inner.index().tracks.keys().cloned().collect()
    }

    /// What is to be run in a track.
    pub fn plan_of(&self, track: &str) -> Option<Arc<Plan>> {
        self.inner.index().tracks.get(track).map(|t| t.plan.clone())
    }

    /// How far a track is.
    pub fn progress(&self, track: &str) -> Option<Progress> {
        let index = self.inner.index();
        let track = index.tracks.get(track)?;
        let benchmarks = track.plan.benchmarks.len() as u64;
        let planned = track.plan.entrants.iter().map(|e| benchmarks.saturating_sub(e.left_out.len() as u64)).sum();
        Some(Progress { planned, observed: track.pairs.len() as u64, judged: track.judged })
    }

    /// Whether a run was observed. False as well for what the plan does not have.
    pub fn is_observed(&self, track: &str, entrant: &str, benchmark: &str) -> bool {
        let index = self.inner.index();
        index.pair(track, entrant, benchmark).is_ok_and(|pair| index.get(pair).is_some())
    }

    /// The pairs of a plan whose run is still to come, as places in the plan's lists of entrants and benchmarks.
    pub fn unobserved(&self, track: &str) -> Vec<(usize, usize)> {
        self.missing(track, |pair| pair.is_none())
    }

    /// The pairs of a plan that were run but have no verdict, or none of the plugin with this hash.
    pub fn unjudged(&self, track: &str, plugin: Option<&str>) -> Vec<(usize, usize)> {
        let plugin = plugin.map(|hash| self.inner.index().plugins.get_index_of(hash));
        self.missing(track, |pair| {
            pair.is_some_and(|p| match plugin {
                None => p.verdicts.is_empty(),
                Some(plugin) => !p.verdicts.iter().any(|(at, _)| Some(usize::from(*at)) == plugin),
            })
        })
    }

    fn missing(&self, track: &str, wanted: impl Fn(Option<&Pair>) -> bool) -> Vec<(usize, usize)> {
        let index = self.inner.index();
        let Some(track) = index.tracks.get(track) else { return Vec::new() };
        let mut list = Vec::new();
        for (entrant, planned) in track.plan.entrants.iter().enumerate() {
            let left_out: FxHashSet<u32> = planned.left_out.iter().copied().collect();
            for benchmark in 0..track.plan.benchmarks.len() {
                if left_out.contains(&(benchmark as u32)) {
                    continue;
                }
                if wanted(track.pairs.get(&(entrant as u32, benchmark as u32))) {
                    list.push((entrant, benchmark));
                }
            }
        }
        list
    }

    /// The observation of a run and its record's number.
    ///
    /// # Errors
    /// If the plan has no such pair, or the record cannot be read.
    pub fn observation(
        &self,
        track: &str,
        entrant: &str,
        benchmark: &str,
    ) -> Result<Option<(u64, Observation)>, StoreError> {
        let loc = self.pair(track, entrant, benchmark, |pair| Some(pair.observation))?;
        loc.map(|loc| Ok((loc.seq, self.inner.observation(loc)?))).transpose()
    }

    /// The newest verdict on a run, and its record's number.
    ///
    /// # Errors
    /// If the plan has no such pair, or the record cannot be read.
    pub fn verdict(&self, track: &str, entrant: &str, benchmark: &str) -> Result<Option<(u64, Verdict)>, StoreError> {
        let loc = self.pair(track, entrant, benchmark, |pair| pair.verdicts.last().map(|(_, loc)| *loc))?;
        loc.map(|loc| Ok((loc.seq, self.inner.verdict(loc)?))).transpose()
    }

    fn pair(
        &self,
        track: &str,
        entrant: &str,
        benchmark: &str,
        what: impl Fn(&Pair) -> Option<Loc>,
    ) -> Result<Option<Loc>, StoreError> {
        let index = self.inner.index();
        let pair = index.pair(track, entrant, benchmark).map_err(|cause| StoreError::Refused {
            folder: self.inner.folder.clone(),
            cause: format!("there is none: {cause}"),
        })?;
        Ok(index.get(pair).and_then(what))
    }

    /// The follow-up with this name, if it was done.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn follow_up(&self, track: &str, role: &str, key: &str, tool: &str) -> Result<Option<FollowUp>, StoreError> {
        let index = self.inner.index();
        let loc = index.follow_up(track, role, key, tool).ok().and_then(|id| index.follow_ups.get(&id).copied());
        drop(index);
        loc.map(|loc| match self.inner.record(loc)? {
            Record::FollowUp(f) => Ok(f),
            _ => Err(self.inner.other_kind(loc)),
        })
        .transpose()
    }

    /// All follow-ups of a track for a role and key: those of all tools, by the names of the tools.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn follow_ups(&self, track: &str, role: &str, key: &str) -> Result<Vec<FollowUp>, StoreError> {
        let index = self.inner.index();
        let Some(at) = index.tracks.get_index_of(track) else { return Ok(Vec::new()) };
        let mut found: Vec<(String, Loc)> = index
            .follow_ups
            .iter()
            .filter(|((t, r, k, _), _)| *t as usize == at && r == role && k == key)
            .map(|((_, _, _, tool), loc)| (tool.clone(), *loc))
            .collect();
        drop(index);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
            .into_iter()
            .map(|(_, loc)| match self.inner.record(loc)? {
                Record::FollowUp(f) => Ok(f),
                _ => Err(self.inner.other_kind(loc)),
            })
            .collect()
    }

    /// The programs that wrote to the store, the first one first, with their records' numbers.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn sessions(&self) -> Result<Vec<(u64, Session)>, StoreError> {
        let list = self.inner.index().sessions.clone();
        list.into_iter()
            .map(|loc| match self.inner.record(loc)? {
                Record::Session(s) => Ok((loc.seq, s)),
                _ => Err(self.inner.other_kind(loc)),
            })
            .collect()
    }

    /// What went wrong, the oldest first, with the records' numbers.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn notes(&self) -> Result<Vec<(u64, Note)>, StoreError> {
        let list = self.inner.index().notes.clone();
        list.into_iter()
            .map(|loc| match self.inner.record(loc)? {
                Record::Note(n) => Ok((loc.seq, n)),
                _ => Err(self.inner.other_kind(loc)),
            })
            .collect()
    }

    /// The newest result of every judged run of a track, in the order of the plan: by entrant, then by benchmark.
    pub fn results(&self, track: &str) -> Rows<'_> {
        let index = self.inner.index();
        let Some(found) = index.tracks.get(track) else { return Rows::none(self) };
        let pairs = found.pairs.iter();
        let pairs = pairs.filter_map(|(&at, pair)| Some((at, pair.observation, pair.verdicts.last()?.1)));
        Rows::new(self, found.plan.clone(), pairs.collect())
    }

    /// The runs of a track about which two plugins, given by their hashes, say different things; in the order of the
    /// plan. Runs that one of the two did not judge are left out.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub fn changes(&self, track: &str, old: &str, new: &str) -> Result<Vec<Change>, StoreError> {
        let mut list = Vec::new();
        {
            let index = self.inner.index();
            let plugins = (index.plugins.get_index_of(old), index.plugins.get_index_of(new));
            let (Some(found), (Some(old), Some(new))) = (index.tracks.get(track), plugins) else {
                return Ok(Vec::new());
            };
            let of = |pair: &Pair, plugin: usize| {
                pair.verdicts.iter().find(|(at, _)| usize::from(*at) == plugin).map(|(_, loc)| *loc)
            };
            list.extend(found.pairs.iter().filter_map(|(at, pair)| Some((*at, of(pair, old)?, of(pair, new)?))));
        }
        list.sort_unstable_by_key(|(at, ..)| *at);
        let mut changes = Vec::new();
        for (_, old, new) in list {
            let (old, new) = (self.inner.verdict(old)?, self.inner.verdict(new)?);
            let differences = old.differences(&new);
            if !differences.is_empty() {
                changes.push(Change { old, new, differences });
            }
        }
        Ok(changes)
    }

    /// Whether an output is there.
    pub fn has_output(&self, digest: &Digest) -> bool {
        *digest == Digest::of(b"") || self.inner.index().outputs.contains_key(digest)
    }

    /// An output, checked.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn output(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        self.output_to(digest, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes an output to `out` and returns its size. It is checked on the way: after an error, what was written must
    /// not be used.
    ///
    /// # Errors
    /// If there is none, it is damaged, or `out` cannot be written.
    pub fn output_to(&self, digest: &Digest, out: &mut dyn Write) -> Result<u64, StoreError> {
        if *digest == Digest::of(b"") {
            return Ok(0);
        }
        let output = self.inner.index().outputs.get(digest).cloned();
        let output =
            output.ok_or_else(|| StoreError::NoOutput { folder: self.inner.folder.clone(), digest: *digest })?;
        read(&self.inner.folder, &self.inner.outputs, &output, out)
    }

    /// Reads everything and returns the number of records and outputs, or everything that is wrong.
    ///
    /// # Errors
    /// One for each record or output that is damaged.
    pub fn check(&self) -> Result<(u64, u64), Vec<StoreError>> {
        let mut errors = Vec::new();
        let mut records = 0;
        let file = self.inner.journal.len().and_then(|length| Ok(self.inner.journal.reader()?.take(length)));
        let scan = file.map_err(|e| vec![e]).map(|file| {
            journal::scan(file, &self.inner.key, &mut |offset, _, line| {
                records += 1;
                if let Err(e) = serde_json::from_slice::<Record>(&line.object()) {
                    let cause = format!("the record is not of the form that is known ({e})");
                    errors.push(StoreError::damaged(self.inner.journal.path(), offset, cause, "Use a newer program."));
                }
                Ok(())
            })
        })?;
        match scan {
            Ok(_) => {}
            Err(ScanError::Io(e)) => errors.push(StoreError::io(self.inner.journal.path(), "it cannot be read", &e)),
            Err(ScanError::Damaged(d)) => errors.push(StoreError::damaged(
                self.inner.journal.path(),
                d.offset,
                d.cause,
                "Put the file back from a backup.",
            )),
        }
        let mut digests: Vec<Digest> = self.inner.index().outputs.keys().copied().collect();
        digests.sort_unstable();
        for digest in &digests {
            if let Err(error) = self.output_to(digest, &mut std::io::sink()) {
                errors.push(error);
            }
        }
        if errors.is_empty() { Ok((records, digests.len() as u64)) } else { Err(errors) }
    }

    pub(crate) fn observation_at(&self, loc: Loc) -> Result<Observation, StoreError> {
        self.inner.observation(loc)
    }

    pub(crate) fn verdict_at(&self, loc: Loc) -> Result<Verdict, StoreError> {
        self.inner.verdict(loc)
    }
}
