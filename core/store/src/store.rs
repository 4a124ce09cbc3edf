//! Opening, reading and writing a store.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use blake3::Hash;
use rustc_hash::FxHashMap;

use crate::files::{is_part, sync_folder, write_whole};
use crate::index::{Entry, Loc, PairId};
use crate::journal::{MAX_LINE, Torn, write_line};
use crate::outputs::{NewObject, OBJECT_BYTES, compress, inline};
use crate::reader::{Inner, JOURNAL, META, OUTPUTS, Reader};
use crate::record::{Belongs, FORMAT, Meta, Output, Place, Plan, Record, Stream};
use crate::{Digest, StoreError};

const OBJECTS: &str = "objects";
const LOCK: &str = "lock";

/// How long to wait for the lock: processes that an ended runner started may need a moment to end, too.
const LOCK_PATIENCE: Duration = Duration::from_millis(1500);
/// Records that are not on the disk yet wait for it above this many bytes.
const MAX_PENDING: usize = 32 << 20;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicking thread held is consistent: every change is made in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store that is open for writing. One program at a time has it; its threads share it by reference.
///
/// Records are put on the disk by a thread of the store's own, as many at a time as have come together: [`append`]
/// waits for that, [`enqueue`] does not. After a failure nothing more is written: every later call gives the same error,
/// and what was not yet on the disk does not count.
///
/// [`append`]: Store::append
/// [`enqueue`]: Store::enqueue
#[derive(Debug)]
pub struct Store {
    reader: Reader,
    shared: Arc<Shared>,
    committer: Option<JoinHandle<()>>,
    recovery: Recovery,
    /// The end of `outputs.zst`; held while an output is written there.
    pack: Mutex<()>,
    _lock: File,
}

/// What an earlier program left behind when it was interrupted, and what was done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The incomplete end of the journal, which was cut off. It never counted.
    pub torn: Option<Torn>,
    /// Bytes of outputs that no record mentions, which were cut off.
    pub outputs: u64,
    /// Unfinished files, which were removed.
    pub files: u64,
}

impl Recovery {
    /// Whether there was anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl std::fmt::Display for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if let Some(torn) = &self.torn {
            parts.push(format!(
                "{JOURNAL}, byte {}: an incomplete end of {} bytes was cut off ({})",
                torn.offset, torn.bytes, torn.cause
            ));
        }
        if self.outputs > 0 {
            parts.push(format!("{OUTPUTS}: {} bytes that no record mentions were cut off", self.outputs));
        }
        if self.files > 0 {
            parts.push(format!("{OBJECTS}: {} unfinished files were removed", self.files));
        }
        write!(f, "{}", parts.join("; "))
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or the end has come.
    work: Condvar,
    /// Something was written, or failed.
    done: Condvar,
}

#[derive(Debug)]
struct State {
    pending: Vec<Pending>,
    pending_bytes: usize,
    /// Observations that are not on the disk yet.
    pending_pairs: FxHashMap<PairId, u64>,
    pending_follow_ups: Vec<crate::index::FollowUpId>,
    pending_plan: bool,
    outputs_dirty: bool,
    next_seq: u64,
    durable: u64,
    failed: Option<StoreError>,
    closing: bool,
}

#[derive(Debug)]
struct Pending {
    seq: u64,
    body: Vec<u8>,
    entry: Entry,
}

fn header(key: &Hash) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = Vec::new();
    let record = Record::Store(Belongs { meta: Digest(*key.as_bytes()) });
    write_line(&mut line, key, 0, 0, &serde_json::to_vec(&record)?);
    Ok(line)
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(LOCK);
    let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            StoreError::NotAStore { folder: folder.into() }
        } else {
            StoreError::io(&path, "it cannot be opened", &e)
        }
    })?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(32).read_to_string(&mut holder);
                let digits = holder.trim();
                let known = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                let holder = if known { format!(" (process {digits})") } else { String::new() };
                return Err(StoreError::Locked { folder: folder.into(), holder });
            }
            Err(TryLockError::Error(e)) => {
                return Err(StoreError::Io {
                    path,
                    doing: "it cannot be locked",
                    cause: e.to_string(),
                    remedy: "Use a folder on a file system that has locks (flock).",
                });
            }
        }
    }
    // Only for the message that another program gets; a full disk must not keep anybody from opening the store.
    let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    Ok(file)
}

impl Store {
    /// Makes a store in an empty folder, or one that does not exist yet.
    ///
    /// # Errors
    /// If there is something in the folder, or it cannot be written.
    pub fn create(folder: impl AsRef<Path>, meta: &Meta) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, "the folder cannot be made", &e))?;
        let listing = |e: &std::io::Error| StoreError::io(folder, "the folder cannot be listed", e);
        let mut leftovers = Vec::new();
        for entry in fs::read_dir(folder).map_err(|e| listing(&e))? {
            let name = entry.map_err(|e| listing(&e))?.file_name().to_string_lossy().into_owned();
            if is_part(&name) {
                leftovers.push(name);
            } else if ![JOURNAL, OUTPUTS, OBJECTS, LOCK].contains(&name.as_str()) {
                return Err(StoreError::NotEmpty { folder: folder.into(), found: name });
            }
        }
        let held = lock(folder)?;
        // Under the lock: what is there was left by a program that was interrupted while it made this store, or it has
        // records and must not be touched.
        if folder.join(META).exists() {
            return Err(StoreError::NotEmpty { folder: folder.into(), found: META.into() });
        }
        let journal = folder.join(JOURNAL);
        let lines = fs::read(&journal).map_or(0, |bytes| bytes.iter().filter(|&&b| b == b'\n').count());
        if lines > 1 {
            return Err(StoreError::NotEmpty { folder: folder.into(), found: format!("{JOURNAL} with records") });
        }
        for name in leftovers {
            let _ = fs::remove_file(folder.join(name));
        }
        let mut meta = meta.clone();
        meta.format = FORMAT;
        let unwritable = |e: serde_json::Error| StoreError::Refused {
            folder: folder.into(),
            cause: format!("it cannot be written as JSON ({e})"),
        };
        let mut text = serde_json::to_vec_pretty(&meta).map_err(unwritable)?;
        text.push(b'\n');
        let key = blake3::hash(&text);
        write_whole(&journal, &header(&key).map_err(unwritable)?)?;
        write_whole(&folder.join(OUTPUTS), b"")?;
        let objects = folder.join(OBJECTS);
        match fs::create_dir(&objects) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::io(&objects, "the folder cannot be made", &e));
            }
            _ => {}
        }
        // With this file the folder is a store.
        write_whole(&folder.join(META), &text)?;
        if let Ok(full) = folder.canonicalize()
            && let Some(parent) = full.parent()
        {
            sync_folder(parent)?;
        }
        Self::open_locked(folder, held)
    }

    /// Opens a store for writing. An incomplete end that an interrupted program left is cut off.
    ///
    /// # Errors
    /// If there is no store, another program writes to it, or it is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        // Nothing is left behind in a folder that is no store.
        if !folder.join(META).exists() {
            return Err(StoreError::NotAStore { folder: folder.into() });
        }
        let held = lock(folder)?;
        Self::open_locked(folder, held)
    }

    /// Opens the store in a folder if there is one, else makes it.
    ///
    /// # Errors
    /// As [`Store::open`] and [`Store::create`]; if the store is about another edition or has another seed.
    pub fn open_or_create(folder: impl AsRef<Path>, meta: &Meta) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        match Self::open(folder) {
            Err(StoreError::NotAStore { .. }) => Self::create(folder, meta),
            Ok(store) => {
                let differences = store.meta().differences(meta);
                if differences.is_empty() {
                    Ok(store)
                } else {
                    Err(StoreError::Differs { folder: folder.into(), differences })
                }
            }
            Err(error) => Err(error),
        }
    }

    fn open_locked(folder: &Path, held: File) -> Result<Self, StoreError> {
        let (inner, scan) = Inner::open(folder, true)?;
        let mut recovery = Recovery { torn: scan.torn, ..Recovery::default() };
        if recovery.torn.is_some() {
            inner.journal.cut(scan.bytes)?;
        } else {
            // Records that another program wrote, but did not see on the disk, count from now on.
            inner.outputs.sync()?;
            inner.journal.sync()?;
        }
        let (length, end) = (inner.outputs.len()?, inner.index().pack_end);
        if length > end {
            recovery.outputs = length - end;
            inner.outputs.cut(end)?;
        }
        for entry in fs::read_dir(folder.join(OBJECTS)).into_iter().flatten().flatten() {
            if is_part(&entry.file_name().to_string_lossy()) && fs::remove_file(entry.path()).is_ok() {
                recovery.files += 1;
            }
        }
        let inner = Arc::new(inner);
        let state = State {
            pending: Vec::new(),
            pending_bytes: 0,
            pending_pairs: HashMap::default(),
            pending_follow_ups: Vec::new(),
            pending_plan: false,
            outputs_dirty: false,
            next_seq: scan.records,
            durable: scan.records - 1,
            failed: None,
            closing: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), work: Condvar::new(), done: Condvar::new() });
        let mut committer =
            Committer { inner: inner.clone(), shared: shared.clone(), end: scan.bytes, line: Vec::new() };
        let thread = std::thread::Builder::new()
            .name("store".into())
            .spawn(move || committer.run())
            .map_err(|e| StoreError::io(folder, "a thread cannot be started", &e))?;
        Ok(Self {
            reader: Reader { inner },
            shared,
            committer: Some(thread),
            recovery,
            pack: Mutex::new(()),
            _lock: held,
        })
    }

    /// What was found when the store was opened, and mended.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Sets what is to be run in a track, or checks that it is what was set before. Returns whether it is new.
    ///
    /// # Errors
    /// If the track has another plan, or the plan names something twice, or it cannot be written.
    pub fn plan(&self, plan: &Plan) -> Result<bool, StoreError> {
        if let Some(stored) = self.plan_of(&plan.track) {
            let differences = stored.differences(plan);
            return if differences.is_empty() {
                Ok(false)
            } else {
                Err(StoreError::Differs { folder: self.inner.folder.clone(), differences })
            };
        }
        crate::index::Track::new(Arc::new(plan.clone())).map_err(|cause| self.inner.refused(cause))?;
        let seq = self.push(&Record::Plan(plan.clone()))?;
        self.wait(seq)?;
        Ok(true)
    }

    /// Records something and waits until it is on the disk; returns the record's number.
    ///
    /// # Errors
    /// If it contradicts what is there, or cannot be written.
    pub fn append(&self, record: &Record) -> Result<u64, StoreError> {
        let seq = self.enqueue(record)?;
        self.wait(seq)?;
        Ok(seq)
    }

    /// Records something that will be on the disk soon; returns the record's number. Until [`Store::wait`] or
    /// [`Store::flush`] it does not count: a crash may lose it, together with everything that was recorded after it, and a
    /// failure is told by a later call.
    ///
    /// # Errors
    /// If it contradicts what is there, or something before could not be written.
    pub fn enqueue(&self, record: &Record) -> Result<u64, StoreError> {
        match record {
            Record::Store(_) | Record::Output(_) => {
                Err(self.inner.refused("the store itself writes records of this kind".into()))
            }
            Record::Plan(_) => Err(self.inner.refused("plans are set by `plan`".into())),
            _ => self.push(record),
        }
    }

    fn push(&self, record: &Record) -> Result<u64, StoreError> {
        let refused = |cause: String| self.inner.refused(cause);
        let body = serde_json::to_vec(record).map_err(|e| refused(format!("it cannot be written as JSON ({e})")))?;
        if body.len() as u64 + 256 > MAX_LINE {
            return Err(refused(format!("it has {} bytes, more than {MAX_LINE}", body.len())));
        }
        let mut state = locked(&self.shared.state);
        while state.pending_bytes > MAX_PENDING && state.failed.is_none() {
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let seq = state.next_seq;
        let entry = {
            let index = self.inner.index();
            let entry = index.entry(record).map_err(refused)?;
            let known = |digests: &mut dyn Iterator<Item = Digest>| {
                for digest in digests {
                    if digest != Digest::of(b"") && !index.outputs.contains_key(&digest) {
                        return Err(refused(format!("its output {digest} was not stored before")));
                    }
                }
                Ok(())
            };
            match (&entry, record) {
                (Entry::Plan(plan), _) if state.pending_plan || index.tracks.contains_key(&plan.track) => {
                    return Err(refused(format!("the track {} has a plan already", plan.track)));
                }
                (Entry::Observation(pair), Record::Observation(o)) => {
                    if state.pending_pairs.contains_key(pair) || index.get(*pair).is_some() {
                        return Err(refused(format!(
                            "the run of {} on {} in the track {} was observed already",
                            o.entrant, o.benchmark, o.track
                        )));
                    }
                    known(&mut o.run.outputs())?;
                }
                (Entry::Verdict { pair, observation, .. }, Record::Result(v)) => {
                    let seq = state.pending_pairs.get(pair).copied();
                    let seq = seq.or_else(|| index.get(*pair).map(|p| p.observation.seq));
                    if seq != Some(*observation) {
                        return Err(refused(format!(
                            "it judges record {observation}, which is not the observation of {} on {} in the track {}",
                            v.entrant, v.benchmark, v.track
                        )));
                    }
                    known(&mut v.artifacts.iter().map(|a| a.digest))?;
                }
                (Entry::FollowUp(id), Record::FollowUp(f)) => {
                    if state.pending_follow_ups.contains(id) || index.follow_ups.contains_key(id) {
                        return Err(refused(format!(
                            "the follow-up {} {} of the track {} was done already",
                            f.role, f.dedup_key, f.track
                        )));
                    }
                    known(&mut f.run.outputs())?;
                }
                _ => {}
            }
            entry
        };
        match &entry {
            Entry::Observation(pair) => drop(state.pending_pairs.insert(*pair, seq)),
            Entry::FollowUp(id) => state.pending_follow_ups.push(id.clone()),
            Entry::Plan(_) => state.pending_plan = true,
            Entry::Output(o) => state.outputs_dirty |= matches!(o.place, Place::Pack { .. }),
            _ => {}
        }
        state.next_seq += 1;
        state.pending_bytes += body.len();
        state.pending.push(Pending { seq, body, entry });
        drop(state);
        self.shared.work.notify_one();
        Ok(seq)
    }

    /// Waits until a record is on the disk.
    ///
    /// # Errors
    /// If it could not be written.
    pub fn wait(&self, seq: u64) -> Result<(), StoreError> {
        let mut state = locked(&self.shared.state);
        loop {
            if state.durable >= seq {
                return Ok(());
            }
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until everything that was recorded is on the disk.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn flush(&self) -> Result<(), StoreError> {
        let last = locked(&self.shared.state).next_seq - 1;
        self.wait(last)
    }

    /// Waits until everything is on the disk, and closes the store.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn close(self) -> Result<(), StoreError> {
        self.flush()
    }

    /// Keeps an output. It counts with the next record that counts: that one may refer to it at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<Stream, StoreError> {
        let digest = Digest::of(bytes);
        let stream = Stream { digest, bytes: bytes.len() as u64, truncated: false };
        if bytes.is_empty() || self.has_output(&digest) {
            return Ok(stream);
        }
        if bytes.len() > OBJECT_BYTES {
            let mut object = self.healthy().and_then(|()| NewObject::new(&self.inner.folder))?;
            bytes.chunks(1 << 20).try_for_each(|chunk| object.write(chunk)).map_err(|e| self.fail(e))?;
            return self.put_object(object);
        }
        let text = inline(bytes).map(str::to_string);
        let frame = match &text {
            Some(_) => Vec::new(),
            None => {
                compress(bytes).map_err(|e| StoreError::io(self.inner.outputs.path(), "it cannot be packed", &e))?
            }
        };
        // From the look whether it is there to the record that says so, nobody else adds an output.
        let guard = locked(&self.pack);
        if self.has_output(&digest) {
            return Ok(stream);
        }
        let place = match text {
            Some(text) => Place::Text(text),
            None => {
                self.healthy()?;
                let offset = self.inner.index().pack_end;
                self.inner.outputs.write(offset, &frame).map_err(|e| self.fail(e))?;
                Place::Pack { offset, length: frame.len() as u64 }
            }
        };
        self.mention(Output { digest, bytes: stream.bytes, place })?;
        drop(guard);
        Ok(stream)
    }

    /// Keeps an output that is read from somewhere, such as a long proof; it need not fit into memory.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn put_from(&self, from: &mut dyn Read) -> Result<Stream, StoreError> {
        let unread = |e: &std::io::Error| StoreError::Io {
            path: self.inner.folder.clone(),
            doing: "an output cannot be read from where it comes",
            cause: e.to_string(),
            remedy: "Give the same command again.",
        };
        let mut buffer = Vec::new();
        from.take(OBJECT_BYTES as u64 + 1).read_to_end(&mut buffer).map_err(|e| unread(&e))?;
        if buffer.len() <= OBJECT_BYTES {
            return self.put(&buffer);
        }
        let mut object = self.healthy().and_then(|()| NewObject::new(&self.inner.folder))?;
        loop {
            object.write(&buffer).map_err(|e| self.fail(e))?;
            buffer.resize(OBJECT_BYTES, 0);
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => buffer.truncate(n),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => buffer.clear(),
                Err(e) => return Err(unread(&e)),
            }
        }
        self.put_object(object)
    }

    fn put_object(&self, object: NewObject) -> Result<Stream, StoreError> {
        let guard = locked(&self.pack);
        let known = |digest: &Digest| self.inner.index().outputs.get(digest).cloned();
        let output = object.finish(known).map_err(|e| self.fail(e))?;
        let stream = Stream { digest: output.digest, bytes: output.bytes, truncated: false };
        if !self.has_output(&output.digest) {
            self.mention(output)?;
        }
        drop(guard);
        Ok(stream)
    }

    /// Writes the record of an output, which is in its place.
    fn mention(&self, output: Output) -> Result<(), StoreError> {
        self.push(&Record::Output(output.clone()))?;
        self.inner.index_mut().output(output).map_err(|cause| self.inner.refused(cause))
    }

    fn healthy(&self) -> Result<(), StoreError> {
        locked(&self.shared.state).failed.clone().map_or(Ok(()), Err)
    }

    /// Ends all writing.
    fn fail(&self, error: StoreError) -> StoreError {
        let mut state = locked(&self.shared.state);
        state.failed.get_or_insert_with(|| error.clone());
        drop(state);
        self.shared.work.notify_one();
        self.shared.done.notify_all();
        error
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        locked(&self.shared.state).closing = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.committer.take() {
            let _ = thread.join();
        }
    }
}

impl Deref for Store {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

/// Puts records on the disk.
struct Committer {
    inner: Arc<Inner>,
    shared: Arc<Shared>,
    /// The end of the journal.
    end: u64,
    line: Vec<u8>,
}

impl Drop for Committer {
    fn drop(&mut self) {
        // Nobody may wait for ever for a thread that is gone.
        let mut state = locked(&self.shared.state);
        if !state.closing || std::thread::panicking() {
            state.failed.get_or_insert_with(|| StoreError::Io {
                path: self.inner.journal.path().to_path_buf(),
                doing: "it cannot be written",
                cause: "the thread that writes has ended".into(),
                remedy: "Give the same command again.",
            });
        }
        drop(state);
        self.shared.done.notify_all();
    }
}

impl Committer {
    fn run(&mut self) {
        let mut state = locked(&self.shared.state);
        loop {
            // What was recorded before a failure elsewhere is still good; a failure here ends the loop.
            if state.pending.is_empty() {
                if state.closing {
                    return;
                }
                state = self.shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let batch = std::mem::take(&mut state.pending);
            let dirty = std::mem::take(&mut state.outputs_dirty);
            let after = state.durable;
            state.pending_bytes = 0;
            drop(state);
            let last = batch.last().map_or(after, |p| p.seq);
            let outcome = self.write(batch, after, dirty);
            state = locked(&self.shared.state);
            match outcome {
                Ok(()) => {
                    state.durable = last;
                    state.pending_pairs.retain(|_, seq| *seq > last);
                    // Rare enough to be kept until nothing is on its way.
                    if state.pending.is_empty() {
                        state.pending_follow_ups.clear();
                        state.pending_plan = false;
                    }
                    self.shared.done.notify_all();
                }
                Err(error) => {
                    state.failed = Some(error);
                    state.pending.clear();
                    self.shared.done.notify_all();
                    return;
                }
            }
        }
    }

    fn write(&mut self, batch: Vec<Pending>, after: u64, dirty: bool) -> Result<(), StoreError> {
        self.line.clear();
        let mut entries = Vec::with_capacity(batch.len());
        for pending in batch {
            let start = self.line.len() as u64;
            write_line(&mut self.line, &self.inner.key, pending.seq, after, &pending.body);
            let length = self.line.len() as u64 - start;
            entries.push((pending.entry, Loc { seq: pending.seq, offset: self.end + start, length }));
        }
        // No record may be on the disk before the outputs that it mentions.
        if dirty {
            self.inner.outputs.sync()?;
        }
        let written = self.inner.journal.write(self.end, &self.line).and_then(|()| self.inner.journal.sync());
        if let Err(error) = written {
            // What does not count should not be there; if it cannot be removed, the next opening does it.
            let _ = self.inner.journal.cut(self.end);
            return Err(error);
        }
        self.end += self.line.len() as u64;
        self.line.shrink_to(1 << 20);
        let mut index = self.inner.index_mut();
        for (entry, loc) in entries {
            if !matches!(entry, Entry::Output(_)) {
                index.apply(entry, loc).map_err(|cause| self.inner.refused(cause))?;
            }
        }
        Ok(())
    }
}
