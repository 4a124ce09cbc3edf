//! The store as a whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use crate::record::{Asked, Cell, Fidelity, FollowUp, Note, Record, Session, Soundness, Stage};
use crate::testing::{meta, observation, plan, plugin, run, verdict};
use crate::{Digest, OBJECT_BYTES, Progress, Reader, Store, StoreError, write_csv};

fn journal(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("journal.jsonl")).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Bytes that do not pack well.
fn noise(length: usize, mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// A store with some of everything.
fn filled(folder: &Path) -> Store {
    let store = Store::create(folder, &meta()).unwrap();
    let session = Session {
        when: "2026-07-01T12:00:00Z".into(),
        agon: "0.1.0".into(),
        host: json!({"cpus": 2}),
        plugins: vec![plugin("1")],
        descriptions: Vec::new(),
        tools: None,
        extra: json!(null),
    };
    let session = store.append(&Record::Session(session)).unwrap();
    let plan = plan("single-query", 2, 3);
    assert!(store.plan(&plan).unwrap());
    let texts = [&b"sat\n"[..], b"", &noise(5000, 1), b"unsat\n", b"\0\xff", &noise(OBJECT_BYTES + 17, 2)];
    for (number, printed) in texts.into_iter().enumerate() {
        let stdout = store.put(printed).unwrap();
        let mut seen = observation(&plan, number / 3, number % 3, stdout);
        seen.run.session = Some(session);
        let seq = store.append(&Record::Observation(seen.clone())).unwrap();
        store.append(&Record::Result(verdict(&seen, seq, "sat", "1"))).unwrap();
    }
    let note = Note {
        when: "2026-07-01T12:01:00Z".into(),
        about: "plugin-crash".into(),
        text: "signal 11".into(),
        track: Some("single-query".into()),
        entrant: None,
        benchmark: None,
        extra: json!(null),
    };
    store.append(&Record::Note(note)).unwrap();
    let follow_up = FollowUp {
        track: "single-query".into(),
        role: "core".into(),
        dedup_key: "k".into(),
        tool: "z3".into(),
        run: run(store.put(b"unsat\n").unwrap()),
        extra: json!(null),
    };
    store.append(&Record::FollowUp(follow_up)).unwrap();
    store
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stóre");
    filled(&path).close().unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.recovery().is_empty(), "{}", store.recovery());
    assert_eq!(store.tracks(), ["single-query"]);
    assert_eq!(*store.plan_of("single-query").unwrap(), plan("single-query", 2, 3));
    assert_eq!(store.progress("single-query"), Some(Progress { planned: 6, observed: 6, judged: 6 }));
    assert_eq!(store.progress("main"), None);
    let (seq, seen) = store.observation("single-query", "solvér-1", "QF_BV/β2.smt2").unwrap().unwrap();
    assert_eq!(store.output(&seen.run.stdout.digest).unwrap(), noise(OBJECT_BYTES + 17, 2));
    assert_eq!(store.output(&seen.run.stderr.digest).unwrap(), b"");
    let (_, said) = store.verdict("single-query", "solvér-1", "QF_BV/β2.smt2").unwrap().unwrap();
    assert_eq!(said, verdict(&seen, seq, "sat", "1"));
    assert_eq!(store.sessions().unwrap()[0].1.host, json!({"cpus": 2}));
    assert_eq!(store.notes().unwrap()[0].1.about, "plugin-crash");
    assert_eq!(store.follow_up("single-query", "core", "k", "z3").unwrap().unwrap().tool, "z3");
    assert!(store.follow_up("single-query", "core", "k", "cvc5").unwrap().is_none());
    assert_eq!(store.follow_ups("single-query", "core", "k").unwrap().len(), 1);
    // 6 different outputs, of which the empty one needs no place.
    assert_eq!(store.check().unwrap(), (store.check().unwrap().0, 5));
    // Every line is JSON, and short texts can be found by eye.
    let text = String::from_utf8(journal(&path)).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert!(text.contains(r#""place":{"text":"unsat\n"}"#), "{text}");
    assert_eq!(text.matches(r#""kind":"output""#).count(), 5);
}

#[test]
fn rows_and_their_table() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let rows: Vec<_> = store.results("single-query").map(Result::unwrap).collect();
    assert_eq!(rows.len(), 6);
    let names: Vec<(&str, &str)> = rows.iter().map(|r| (&*r.entrant().id, &*r.benchmark().id)).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(rows[0].text("nothing"), None);
    let columns = ["solver", "competing", "benchmark", "logic", "status", "answer", "wall_time", "cpu_time", "memory"];
    let mut out = Vec::new();
    write_csv(store.results("single-query").take(2), &columns.map(|c| (c, None)), &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "solver,competing,benchmark,logic,status,answer,wall_time,cpu_time,memory\n\
         solvér-0,no,QF_BV/β0.smt2,QF_BV,sat,sat,1.5,1.4,4096\n\
         solvér-0,no,QF_BV/β1.smt2,QF_BV,sat,sat,1.5,1.4,4096\n"
    );
    assert_eq!(store.results("main").count(), 0);
}

#[test]
fn judged_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let (old, new) = (plugin("1").hash, plugin("2").hash);
    assert!(store.unjudged("single-query", None).is_empty());
    assert_eq!(store.unjudged("single-query", Some(&new)).len(), 6);
    let plan = store.plan_of("single-query").unwrap();
    for (number, (e, b)) in store.unjudged("single-query", Some(&new)).into_iter().enumerate().take(4) {
        let (entrant, benchmark) = (&plan.entrants[e].id, &plan.benchmarks[b].id);
        let (seq, seen) = store.observation("single-query", entrant, benchmark).unwrap().unwrap();
        let mut said = verdict(&seen, seq, "sat", "2");
        match number {
            0 => {
                said.answer = "unknown".into();
                said.soundness = Soundness::Unverified;
            }
            1 => drop(said.columns.insert("certificate".into(), Cell::Word("verified".into()))),
            2 => said.stage = Stage::Concluded,
            _ => {}
        }
        store.append(&Record::Result(said)).unwrap();
    }
    let changes = store.changes("single-query", &old, &new).unwrap();
    let names: Vec<_> = changes.iter().map(|c| (c.new.benchmark.as_str(), c.differences.join(","))).collect();
    assert_eq!(
        names,
        [("QF_BV/β0.smt2", "answer,soundness".to_string()), ("QF_BV/β1.smt2", "certificate".to_string())]
    );
    assert_eq!(changes[0].old.answer, "sat");
    assert!(store.changes("single-query", &old, "no such plugin").unwrap().is_empty());
    assert_eq!(store.results("single-query").next().unwrap().unwrap().verdict.answer, "unknown");
    // The old plugin's verdict is the newest again; and so it is after opening.
    let (seq, seen) = store.observation("single-query", "solvér-0", "QF_BV/β0.smt2").unwrap().unwrap();
    store.append(&Record::Result(verdict(&seen, seq, "sat", "1"))).unwrap();
    for reader in [&*store, &Reader::open(folder.path()).unwrap()] {
        assert_eq!(reader.results("single-query").next().unwrap().unwrap().verdict.answer, "sat");
        assert_eq!(reader.changes("single-query", &old, &new).unwrap(), changes);
        assert_eq!(reader.unjudged("single-query", Some(&new)).len(), 2);
    }
}

#[test]
fn contradicting_records_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let before = journal(folder.path());
    let refused = |record: Record, said: &str| {
        let error = store.append(&record).unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }) && error.to_string().contains(said), "{error}");
    };
    let (seq, seen) = store.observation("single-query", "solvér-0", "QF_BV/β0.smt2").unwrap().unwrap();
    refused(Record::Observation(seen.clone()), "observed already");
    refused(Record::Observation(crate::record::Observation { track: "main".into(), ..seen.clone() }), "no plan");
    refused(Record::Observation(crate::record::Observation { entrant: "x".into(), ..seen.clone() }), "no entrant x");
    refused(
        Record::Observation(crate::record::Observation { benchmark: "x".into(), ..seen.clone() }),
        "no benchmark x",
    );
    refused(Record::Result(verdict(&seen, seq + 1, "sat", "1")), "not the observation");
    let done = store.follow_up("single-query", "core", "k", "z3").unwrap().unwrap();
    refused(Record::FollowUp(done.clone()), "done already");
    let mut lost = done;
    lost.tool = "other".into();
    lost.run.stdout.digest = Digest::of(b"never stored");
    refused(Record::FollowUp(lost), "not stored before");
    refused(Record::Plan(plan("main", 1, 1)), "by `plan`");
    let mut twice = plan("main", 2, 2);
    twice.benchmarks[1].id = twice.benchmarks[0].id.clone();
    assert!(store.plan(&twice).unwrap_err().to_string().contains("twice"));
    assert_eq!(journal(folder.path()), before);
    // Twice at once, of which none is on the disk yet.
    store.plan(&plan("main", 1, 1)).unwrap();
    let seen = observation(&plan("main", 1, 1), 0, 0, store.put(b"sat\n").unwrap());
    store.enqueue(&Record::Observation(seen.clone())).unwrap();
    refused(Record::Observation(seen), "observed already");
}

#[test]
fn another_competition_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    filled(path).close().unwrap();
    assert!(Store::open_or_create(path, &meta()).unwrap().plan_of("single-query").is_some());
    let other = |change: &dyn Fn(&mut crate::record::Meta)| {
        let mut meta = meta();
        change(&mut meta);
        Store::open_or_create(path, &meta).unwrap_err().to_string()
    };
    let said = other(&|m| m.seed = Some(5));
    assert!(said.contains("the seed is 1057205781 in the store, but 5 is given"), "{said}");
    let said = other(&|m| m.edition.name = "winter-cup".into());
    assert!(said.contains("\"summer-cup\"") && said.contains("another folder"), "{said}");
    let said =
        other(&|m| m.edition = crate::record::EditionText::new("summer-cup", "rules", "edition: summer-cup\nx\n"));
    assert!(said.contains("line 2") && said.contains("`tracks: {}`") && said.contains("`x`"), "{said}");
    let store = Store::open(path).unwrap();
    assert!(!store.plan(&plan("single-query", 2, 3)).unwrap());
    let other = |change: &dyn Fn(&mut crate::record::Plan)| {
        let mut plan = plan("single-query", 2, 3);
        change(&mut plan);
        store.plan(&plan).map_err(|e| e.to_string())
    };
    // Another order and a newer plugin change no run.
    assert_eq!(other(&|p| p.benchmarks.reverse()), Ok(false));
    assert_eq!(other(&|p| p.plugin = plugin("2")), Ok(false));
    for (change, expected) in [
        (&(|p: &mut crate::record::Plan| p.entrants.truncate(1)) as &dyn Fn(&mut _), "not given: solvér-1"),
        (
            &|p: &mut crate::record::Plan| p.entrants[1].command.push("-x".into()),
            "but [\"./solver1\", \"-x\"] is given",
        ),
        (&|p: &mut crate::record::Plan| p.benchmarks[2].hash = Digest::of(b"new"), "β2.smt2 has another content"),
        (&|p: &mut crate::record::Plan| p.benchmarks[0].statuses.clear(), "another status"),
        (&|p: &mut crate::record::Plan| p.limits = json!({"wall": "5 s"}), "5 s"),
        (
            &|p: &mut crate::record::Plan| drop(p.overrides.insert("wall".into(), "5 s".into())),
            "none in the store, but wall=5 s",
        ),
        (
            &|p: &mut crate::record::Plan| p.benchmarks.push(plan("t", 1, 9).benchmarks[8].clone()),
            "does not have: QF_BV/β8",
        ),
    ] {
        let said = other(change).unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn folders_that_are_no_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let error = Store::open(path).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
    assert!(matches!(Reader::open(path.join("none")), Err(StoreError::NotAStore { .. })));
    assert_eq!(fs::read_dir(path).unwrap().count(), 0, "nothing is left behind");
    fs::write(path.join("thesis.tex"), "years of work").unwrap();
    let error = Store::open_or_create(path, &meta()).unwrap_err();
    assert!(matches!(&error, StoreError::NotEmpty { found, .. } if found == "thesis.tex"), "{error}");
    // Records without their description are not written over.
    let store = path.join("store");
    filled(&store).close().unwrap();
    let before = journal(&store);
    fs::remove_file(store.join("store.json")).unwrap();
    assert!(matches!(Store::open_or_create(&store, &meta()), Err(StoreError::NotEmpty { .. })));
    assert_eq!(journal(&store), before);
    // A description of another store does not pass, nor does one of a later format.
    let other = path.join("other");
    let mut another = meta();
    another.seed = None;
    drop(Store::create(&other, &another).unwrap());
    fs::copy(other.join("store.json"), store.join("store.json")).unwrap();
    assert!(matches!(Store::open(&store), Err(StoreError::MetaChanged { .. })));
    let text = fs::read_to_string(other.join("store.json")).unwrap().replace("\"format\": 1", "\"format\": 99");
    fs::write(other.join("store.json"), text).unwrap();
    let error = Reader::open(&other).unwrap_err().to_string();
    assert!(error.contains("format 99") && error.contains("newer program"), "{error}");
}

#[test]
fn making_a_store_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    drop(Store::create(&whole, &meta()).unwrap());
    // Any of the files may be there, with some of their content; without `store.json` there is no store yet.
    for (name, content) in [
        ("lock", &b"12"[..]),
        ("journal.jsonl", b""),
        ("journal.jsonl", &journal(&whole)),
        (".part-x", b"{"),
        ("outputs.zst", b""),
    ] {
        let path = folder.path().join("half");
        fs::create_dir_all(path.join("objects")).unwrap();
        fs::write(path.join(name), content).unwrap();
        let mut meta = meta();
        meta.created = "later".into();
        drop(Store::create(&path, &meta).unwrap());
        assert_eq!(Reader::open(&path).unwrap().meta().created, "later");
        assert!(!path.join(".part-x").exists());
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn one_writer_and_many_readers() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    assert_eq!(Reader::open(folder.path()).unwrap().check().unwrap(), store.check().unwrap());
    drop(store);
    Store::open(folder.path()).unwrap();
}

#[test]
fn the_journal_is_cut_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    filled(&whole).close().unwrap();
    let bytes = journal(&whole);
    let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    copy(&whole, &cut);
    // Opening for writing cuts the rest off for good; an interesting part of all places is tried.
    for length in (0..=bytes.len()).rev() {
        fs::write(cut.join("journal.jsonl"), &bytes[..length]).unwrap();
        let records = ends.iter().filter(|&&e| e <= length).count();
        let reader = Reader::open(&cut);
        if records == 0 {
            // The first record was on the disk before there was a store.
            assert!(matches!(reader, Err(StoreError::Damaged { .. })));
            continue;
        }
        assert_eq!(reader.unwrap().check().map(|(n, _)| n).unwrap_or_default(), records as u64, "{length} bytes");
        if length % 16 == 0 || ends.contains(&length) || ends.contains(&(length + 1)) {
            fs::copy(whole.join("outputs.zst"), cut.join("outputs.zst")).unwrap();
            let store = Store::open(&cut).unwrap();
            let end = ends[records - 1];
            assert_eq!(store.recovery().torn.as_ref().map_or(0, |t| t.bytes), (length - end) as u64);
            drop(store);
            assert_eq!(journal(&cut), &bytes[..end]);
        }
    }
}

#[test]
fn flipped_bits_are_never_misread() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, bad) = (folder.path().join("whole"), folder.path().join("bad"));
    let store = filled(&whole);
    let outcome = |reader: &Reader| -> Result<Vec<(String, Digest)>, String> {
        let mut list = Vec::new();
        for row in reader.results("single-query") {
            let row = row.map_err(|e| e.to_string())?;
            let printed = reader.output(&row.observation.run.stdout.digest).map_err(|e| e.to_string())?;
            list.push((format!("{:?}", row.verdict), Digest::of(&printed)));
        }
        Ok(list)
    };
    let expected = outcome(&store).unwrap();
    store.close().unwrap();
    let object = walk(&whole.join("objects")).pop().unwrap().strip_prefix(&whole).unwrap().to_path_buf();
    let mut detected = 0;
    for (number, file) in ["store.json".into(), "journal.jsonl".into(), "outputs.zst".into(), object]
        .iter()
        .cycle()
        .take(1200)
        .enumerate()
    {
        let bytes = fs::read(whole.join(file)).unwrap();
        let place = noise(8, number as u64).iter().fold(0usize, |a, b| a * 131 + usize::from(*b)) % (bytes.len() * 8);
        if number == 0 {
            copy(&whole, &bad);
        }
        let mut changed = bytes.clone();
        changed[place / 8] ^= 1 << (place % 8);
        fs::write(bad.join(file), changed).unwrap();
        match Reader::open(&bad).map_err(|e| e.to_string()).and_then(|r| outcome(&r)) {
            Err(said) => {
                detected += 1;
                assert!(said.contains(bad.to_str().unwrap()), "{said}");
            }
            // The last line may look like one that was cut short; the rest is whole.
            Ok(found) => assert!(expected.starts_with(&found), "{}, bit {place}", file.display()),
        }
        fs::write(bad.join(file), bytes).unwrap();
    }
    assert!(detected > 1150, "only {detected}");
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn outputs_are_kept_once_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let store = Store::create(path, &meta()).unwrap();
    let long = noise(3 * OBJECT_BYTES, 3);
    for _ in 0..3 {
        assert_eq!(store.put(&long).unwrap().digest, Digest::of(&long));
        assert_eq!(store.put_from(&mut &long[..]).unwrap().digest, Digest::of(&long));
        assert_eq!(store.put_from(&mut &long[..3000]).unwrap().bytes, 3000);
        store.put(&long[..3000]).unwrap();
        store.put(b"sat\n").unwrap();
    }
    // Exactly at the borders, too.
    for length in [1, 255, 256, 257, OBJECT_BYTES - 1, OBJECT_BYTES, OBJECT_BYTES + 1] {
        let text = "a".repeat(length);
        let digest = store.put(text.as_bytes()).unwrap().digest;
        assert_eq!(store.put_from(&mut text.as_bytes()).unwrap().digest, digest);
        assert_eq!(store.output(&digest).unwrap(), text.as_bytes());
    }
    store.flush().unwrap();
    let reader = Reader::open(path).unwrap();
    assert_eq!(reader.check().unwrap().1, 10);
    assert_eq!(walk(&path.join("objects")).len(), 2);
    let mut out = Vec::new();
    assert_eq!(reader.output_to(&Digest::of(&long), &mut out).unwrap(), long.len() as u64);
    assert_eq!(out, long);
    let error = reader.output(&Digest::of(b"never")).unwrap_err();
    assert!(matches!(error, StoreError::NoOutput { .. }), "{error}");
    // All frames one behind the other are a zstd file.
    let all = zstd::decode_all(&fs::read(path.join("outputs.zst")).unwrap()[..]).unwrap();
    assert_eq!(all[..3000], long[..3000]);
    // What is damaged is not passed on.
    drop(store);
    let mut pack = fs::read(path.join("outputs.zst")).unwrap();
    pack[100] ^= 1;
    fs::write(path.join("outputs.zst"), &pack).unwrap();
    let error = reader.output(&Digest::of(&long[..3000])).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(reader.check().unwrap_err().len(), 1);
    fs::write(path.join("outputs.zst"), &pack[..pack.len() - 1]).unwrap();
    let error = Reader::open(path).unwrap_err().to_string();
    assert!(error.contains("outputs.zst") && error.contains("backup"), "{error}");
}

#[test]
fn eight_threads_write_and_one_reads() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &meta()).unwrap();
    let plan = plan("main", 8, 60);
    store.plan(&plan).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for e in 0..8 {
            let (store, plan) = (&store, &plan);
            scope.spawn(move || {
                for b in 0..60 {
                    // Most outputs are other threads' as well.
                    let stdout = store.put(&noise(40 * (b + e / 7), b as u64)).unwrap();
                    let seen = observation(plan, e, b, stdout);
                    let seq = store.enqueue(&Record::Observation(seen.clone())).unwrap();
                    let seq = store.enqueue(&Record::Result(verdict(&seen, seq, "sat", "1"))).unwrap();
                    if b % 8 == 0 {
                        store.wait(seq).unwrap();
                    }
                }
            });
        }
        let (path, done) = (folder.path(), &done);
        let reading = scope.spawn(move || {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let reader = Reader::open(path).unwrap();
                let rows: Vec<_> = reader.results("main").map(Result::unwrap).collect();
                for row in &rows {
                    reader.output(&row.observation.run.stdout.digest).unwrap();
                }
                assert!(rows.len() >= last);
                last = rows.len();
            }
            last
        });
        let writing = std::thread::Builder::new();
        let store = &store;
        writing
            .spawn_scoped(scope, move || {
                while store.progress("main").unwrap().judged < 480 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                done.store(true, Ordering::Relaxed);
            })
            .unwrap();
        reading.join().unwrap();
    });
    store.flush().unwrap();
    let reader = Reader::open(folder.path()).unwrap();
    assert_eq!(reader.progress("main"), Some(Progress { planned: 480, observed: 480, judged: 480 }));
    // Seven threads print the same 59 outputs (and an empty one), the eighth 60 of its own.
    assert_eq!(reader.check().unwrap().1, 59 + 60);
}

// ---------------------------------------------------------------------------------------------- kill -9, full disks

/// This test again as a process of its own, which does what `STORE_CHILD` says.
fn child(what: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::in_another_process", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("STORE_CHILD", what).env("STORE_FOLDER", folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn runs(store: &Store, benchmarks: usize) -> Result<(), StoreError> {
    let plan = plan("main", 4, benchmarks);
    store.plan(&plan)?;
    for (e, b) in store.unjudged("main", None) {
        let found = store.observation("main", &plan.entrants[e].id, &plan.benchmarks[b].id)?;
        let (seq, seen) = found.expect("it was observed");
        store.enqueue(&Record::Result(verdict(&seen, seq, "sat", "1")))?;
    }
    for (e, b) in store.unobserved("main") {
        let stdout = store.put(&noise(b * 37 % 1500, (e * b) as u64))?;
        let stderr = store.put(&noise(if b % 25 == 0 { OBJECT_BYTES + b } else { 0 }, b as u64))?;
        let mut seen = observation(&plan, e, b, stdout);
        seen.run.stderr = stderr;
        let seq = store.enqueue(&Record::Observation(seen.clone()))?;
        store.enqueue(&Record::Result(verdict(&seen, seq, "sat", "1")))?;
        if b % 3 == 0 {
            store.flush()?;
        }
    }
    store.flush()
}

fn outcome(folder: &Path) -> Vec<(String, String, Digest, Digest)> {
    let reader = Reader::open(folder).unwrap();
    reader.check().unwrap();
    let rows = reader.results("main").map(Result::unwrap);
    rows.map(|r| {
        let run = &r.observation.run;
        (r.entrant().id.clone(), r.benchmark().id.clone(), run.stdout.digest, run.stderr.digest)
    })
    .collect()
}

#[test]
#[ignore = "a part of other tests, which start it"]
fn in_another_process() {
    let (Some(what), Some(folder)) = (std::env::var_os("STORE_CHILD"), std::env::var_os("STORE_FOLDER")) else {
        return;
    };
    let folder = PathBuf::from(folder);
    match what.to_str() {
        Some("run") => runs(&Store::open_or_create(&folder, &meta()).unwrap(), 100).unwrap(),
        Some("full") => {
            let error = Store::open_or_create(&folder, &meta()).and_then(|s| runs(&s, 100)).unwrap_err();
            assert!(error.is_full(), "{error}");
            // What was recorded can be read without room for anything more, and even be written to again.
            let before = outcome(&folder);
            assert!(Store::open(&folder).unwrap().recovery().torn.is_none());
            assert_eq!(outcome(&folder), before);
            assert!(!before.is_empty());
            // Room again: the ballast was put there by the test.
            fs::remove_file(folder.parent().unwrap().join("ballast")).unwrap();
            runs(&Store::open_or_create(&folder, &meta()).unwrap(), 100).unwrap();
            assert_eq!(outcome(&folder).len(), 400);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn killed_at_any_instant() {
    let folder = tempfile::tempdir().unwrap();
    let undisturbed = folder.path().join("undisturbed");
    runs(&Store::create(&undisturbed, &meta()).unwrap(), 100).unwrap();
    let expected = outcome(&undisturbed);
    assert_eq!(expected.len(), 400);
    let path = folder.path().join("store");
    let (mut kills, mut inside, mut last) = (0, 0, 0);
    let mut patience = 0;
    loop {
        let mut process = child("run", &path).spawn().unwrap();
        // Longer and longer until it gets through, at instants of no pattern.
        patience += 2 + u64::from(noise(1, kills)[0]) / 30;
        std::thread::sleep(Duration::from_millis(patience));
        let finished = process.try_wait().unwrap().is_some();
        // SIGKILL.
        process.kill().unwrap();
        let output = process.wait_with_output().unwrap();
        if finished {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            break;
        }
        kills += 1;
        if path.join("store.json").exists() {
            let done = outcome(&path);
            assert!(done.len() >= last, "what was recorded is lost");
            inside += usize::from(done.len() > last && done.len() < 400);
            last = done.len();
        }
        assert!(kills < 500, "it never gets through");
    }
    assert!(inside >= 3, "only {inside} of {kills} kills came in the midst of the work");
    assert_eq!(outcome(&path), expected);
    // No pair twice.
    let text = String::from_utf8(journal(&path)).unwrap();
    assert_eq!(text.matches(r#""kind":"observation""#).count(), 400);
    assert_eq!(text.matches(r#""kind":"result""#).count(), 400);
}

#[test]
fn a_full_disk() {
    // A file system of eight megabytes, most of them taken, in a namespace of its own.
    let folder = tempfile::tempdir().unwrap();
    let mount = folder.path().join("disk");
    fs::create_dir(&mount).unwrap();
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(&mount);
        command
    };
    let allowed = namespace("mount -t tmpfs -o size=2m none \"$1\"").output();
    if !allowed.as_ref().is_ok_and(|o| o.status.success()) {
        let why = allowed.map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stderr).into_owned());
        // The same is tested without a file system of its own in `crash`.
        let mut out = std::io::stderr();
        let _ =
            std::io::Write::write_all(&mut out, format!("skipped: no file system can be mounted ({why})\n").as_bytes());
        return;
    }
    let inner = child("full", &mount.join("store"));
    let script =
        "mount -t tmpfs -o size=8m none \"$1\" && head -c 5500000 /dev/zero > \"$1/ballast\" && shift && exec \"$@\"";
    let mut command = namespace(script);
    command.arg(inner.get_program()).args(inner.get_args());
    command.env("STORE_CHILD", "full").env("STORE_FOLDER", mount.join("store"));
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Names and texts of any kind go through the files unchanged.
    #[test]
    fn any_text_survives(
        texts in prop::collection::vec(any::<String>(), 6),
        printed in prop::collection::vec(any::<u8>(), 0..700),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = plan(&texts[0], 1, 1);
        plan.entrants[0].id.clone_from(&texts[1]);
        plan.benchmarks[0].id.clone_from(&texts[2]);
        plan.extra = json!({ &*texts[3]: [texts[4], -1, 1u64 << 63, null] });
        let store = Store::create(folder.path(), &meta()).unwrap();
        store.plan(&plan).unwrap();
        let mut seen = observation(&plan, 0, 0, store.put(&printed).unwrap());
        seen.run.command.clone_from(&texts);
        seen.run.fidelity = Fidelity::Summary;
        let seq = store.append(&Record::Observation(seen.clone())).unwrap();
        let mut said = verdict(&seen, seq, &texts[3], "1");
        said.columns.insert(texts[4].clone(), Cell::Text(texts[5].clone()));
        said.follow_ups.push(Asked { kind: "internal".into(), role: texts[5].clone(), dedup_key: texts[1].clone(), inputs: json!(texts) });
        store.append(&Record::Result(said.clone())).unwrap();
        drop(store);
        let reader = Reader::open(folder.path()).unwrap();
        prop_assert_eq!(&*reader.plan_of(&texts[0]).unwrap(), &plan);
        let row = reader.results(&texts[0]).next().unwrap().unwrap();
        prop_assert_eq!(row.observation, seen.clone());
        prop_assert_eq!(row.verdict, said);
        prop_assert_eq!(reader.output(&seen.run.stdout.digest).unwrap(), printed);
    }
}
