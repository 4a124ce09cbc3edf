//! Power that fails at any instant, and disks that are full at any byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::files::trace::{self, Op};
use crate::record::Record;
use crate::testing::{meta, observation, plan, verdict};
use crate::{Digest, Reader, Store, StoreError};

/// A small generator (Knuth's multiplier, the high bits).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// What a run prints: short texts, middling ones, binary ones; the same more than once.
fn printed(number: usize) -> Vec<u8> {
    match number % 4 {
        0 => b"sat\n".to_vec(),
        1 => format!("unsat\n; {number}\n").into_bytes(),
        2 => (0..3000).map(|i| (i * number % 251) as u8).collect(),
        _ => format!("v {}\n", "1 -2 3 ".repeat(100 + number)).into_bytes(),
    }
}

/// Runs what is still to be run, several at a time; a mark in the trace says which record counts for certain.
fn work(store: &Store, folder: &Path, together: usize) -> Result<(), StoreError> {
    let plan = plan("main", 3, 8);
    store.plan(&plan)?;
    let mut last = 0;
    // Observed before an interruption, but not judged.
    for (e, b) in store.unjudged("main", None) {
        let found = store.observation("main", &plan.entrants[e].id, &plan.benchmarks[b].id)?;
        let (seq, seen) = found.expect("it was observed");
        last = store.enqueue(&Record::Result(verdict(&seen, seq, "sat", "1")))?;
    }
    for (done, (e, b)) in store.unobserved("main").into_iter().enumerate() {
        let stdout = store.put(&printed(e * 8 + b))?;
        let seen = observation(&plan, e, b, stdout);
        let seq = store.enqueue(&Record::Observation(seen.clone()))?;
        last = store.enqueue(&Record::Result(verdict(&seen, seq, "sat", "1")))?;
        if done % together == together - 1 {
            store.wait(last)?;
            trace::with(folder, |log| log.ops.push(Op::Mark(last)));
        }
    }
    store.wait(last)?;
    trace::with(folder, |log| log.ops.push(Op::Mark(last)));
    Ok(())
}

/// What a store says about every run, numbers of records apart.
fn outcome(store: &Reader) -> BTreeMap<(String, String), (Digest, String)> {
    let rows = store.results("main").map(|row| {
        let row = row.expect("a record that counts can be read");
        let key = (row.entrant().id.clone(), row.benchmark().id.clone());
        let printed = store.output(&row.observation.run.stdout.digest).expect("an output that counts can be read");
        (key, (Digest::of(&printed), row.verdict.answer))
    });
    rows.collect()
}

/// The files after the power failed: everything that was synced, and any part of what was written since, by sectors.
fn after_power_failure(ops: &[Op], draw: &mut Draw) -> BTreeMap<String, Vec<u8>> {
    const SECTOR: usize = 512;
    let mut disk: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut cache: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for op in ops {
        match op {
            Op::Write { file, offset, bytes } => {
                let content = cache.entry(file.clone()).or_default();
                let end = *offset as usize + bytes.len();
                content.resize(content.len().max(end), 0);
                content[*offset as usize..end].copy_from_slice(bytes);
            }
            Op::Sync { file } => drop(disk.insert(file.clone(), cache.get(file).cloned().unwrap_or_default())),
            Op::Cut { file, length } => {
                for content in [disk.get_mut(file), cache.get_mut(file)].into_iter().flatten() {
                    content.truncate(*length as usize);
                }
            }
            Op::Mark(_) => {}
        }
    }
    for (file, new) in cache {
        let old = disk.entry(file).or_default();
        // The file's length may or may not have reached the disk, and so may each sector.
        let length = old.len() + draw.below(new.len() - old.len() + 1);
        let length = if draw.below(3) == 0 { new.len() } else { length };
        let mut content = old.clone();
        content.resize(length, 0);
        let first = old.len() / SECTOR;
        for sector in first..length.div_ceil(SECTOR) {
            if draw.below(3) > 0 {
                let range = (sector * SECTOR).max(old.len())..((sector + 1) * SECTOR).min(length);
                content[range.clone()].copy_from_slice(&new[range]);
            }
        }
        *old = content;
    }
    disk
}

#[test]
fn power_fails_at_any_instant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(Store::create(&path, &meta()).unwrap());
    let start: Vec<(String, Vec<u8>)> = ["store.json", "journal.jsonl", "outputs.zst"]
        .map(|name| (name.to_string(), fs::read(path.join(name)).unwrap()))
        .to_vec();
    trace::watch(&path, None);
    // What was on the disk when the store was made is there.
    trace::with(&path, |log| {
        for (file, bytes) in &start {
            log.ops.push(Op::Write { file: file.clone(), offset: 0, bytes: bytes.clone() });
            log.ops.push(Op::Sync { file: file.clone() });
        }
    });
    let store = Store::open(&path).unwrap();
    work(&store, &path, 5).unwrap();
    store.close().unwrap();
    let whole = outcome(&Reader::open(&path).unwrap());
    assert_eq!(whole.len(), 24);
    let ops = trace::with(&path, |log| std::mem::take(&mut log.ops)).unwrap();
    assert!(ops.iter().filter(|op| matches!(op, Op::Sync { file } if file == "journal.jsonl")).count() > 5);
    let mut draw = Draw(7);
    let mut torn = 0;
    for cut in start.len() * 2..=ops.len() {
        for _ in 0..12 {
            let again = folder.path().join("again");
            fs::create_dir_all(again.join("objects")).unwrap();
            for (file, bytes) in after_power_failure(&ops[..cut], &mut draw) {
                fs::write(again.join(file), bytes).unwrap();
            }
            let certain = ops[..cut].iter().rev().find_map(|op| match op {
                Op::Mark(seq) => Some(*seq),
                _ => None,
            });
            let store = Store::open(&again).unwrap_or_else(|e| panic!("after {cut} operations: {e}"));
            torn += usize::from(store.recovery().torn.is_some());
            let (records, _) = store.check().unwrap_or_else(|e| panic!("after {cut} operations: {e:?}"));
            assert!(records > certain.unwrap_or(0), "after {cut} operations {certain:?} counts, {records} are there");
            for (key, value) in outcome(&store) {
                assert_eq!(whole[&key], value);
            }
            // The same command again.
            work(&store, &again, 24).unwrap();
            assert_eq!(outcome(&store), whole);
            store.close().unwrap();
            fs::remove_dir_all(&again).unwrap();
        }
    }
    assert!(torn > 50, "only {torn} of the failures tore the journal");
}

#[test]
fn the_disk_is_full_at_any_byte() {
    let folder = tempfile::tempdir().unwrap();
    let undisturbed = folder.path().join("undisturbed");
    let store = Store::create(&undisturbed, &meta()).unwrap();
    work(&store, &undisturbed, 1).unwrap();
    let whole = outcome(&store);
    let total = fs::metadata(undisturbed.join("journal.jsonl")).unwrap().len()
        + fs::metadata(undisturbed.join("outputs.zst")).unwrap().len();
    let mut stopped_with = BTreeSet::new();
    let mut room = 0;
    while room < total {
        let path = folder.path().join(format!("full-{room}"));
        let store = Store::create(&path, &meta()).unwrap();
        trace::watch(&path, Some(room));
        let error = work(&store, &path, 2).unwrap_err();
        assert!(error.is_full() && error.to_string().contains("Make room"), "{error}");
        // It stays so until the store is opened again, and what counts can still be read.
        assert!(store.put(b"a new output").and_then(|_| store.flush()).unwrap_err().is_full());
        let before = outcome(&store);
        drop(store);
        let seen = outcome(&Reader::open(&path).unwrap());
        assert_eq!(seen, before, "with room for {room} bytes");
        stopped_with.insert(seen.len());
        trace::watch(&path, None);
        let store = Store::open(&path).unwrap();
        assert!(store.recovery().torn.is_none(), "what could not be written was taken away: {}", store.recovery());
        work(&store, &path, 1).unwrap();
        assert_eq!(outcome(&store), whole, "with room for {room} bytes");
        drop(store);
        fs::remove_dir_all(&path).unwrap();
        room += 397;
    }
    assert!(stopped_with.len() > 8, "{stopped_with:?}");
}
