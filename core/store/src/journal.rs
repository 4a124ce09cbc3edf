//! The form of the journal, and what is still good of one.
//!
//! A record is one line of JSON that text tools can read:
//!
//! ```text
//! {"check":"0f3c…","seq":12,"after":9,"kind":"observation","track":"single-query",…}
//! ```
//!
//! - `check`: the first 16 bytes, as 32 hexadecimal digits, of the BLAKE3 hash of everything in the line after
//!   `"check":"…",` (without the line's end), keyed by the hash of `store.json`, so that a line of another store does not
//!   pass;
//! - `seq`: the number of the line, from 0;
//! - `after`: the number of the last record that was on the disk for certain when this line was written.
//!
//! Records are written in batches, each of which is on the disk before the next is begun. If power fails, any part of the
//! last batch may be missing, also from its middle; nothing before it can be. So a bad line is what an interrupted
//! program leaves (a *torn tail*) only if no later line says by `after` that it was once whole, and if the file ends
//! without a line's end or has a part that was never written: zero bytes, which JSON text does not contain, at its
//! beginning or at the beginning of a sector. Everything else is damage, and is refused instead of dropped.

use std::io::{self, BufRead, BufReader, Read};

use blake3::Hash;

/// The longest line, in bytes. A plan with a million benchmarks is shorter.
pub const MAX_LINE: u64 = 1 << 30;

const OPEN: &[u8] = b"{\"check\":\"";
const HEX: usize = 32;
/// Where the part that is hashed begins.
const BODY: usize = OPEN.len() + HEX + 2;

fn check_of(key: &Hash, rest: &[u8]) -> [u8; HEX] {
    let hash = blake3::keyed_hash(key.as_bytes(), rest);
    let mut text = [0; HEX];
    text.copy_from_slice(&hash.to_hex().as_bytes()[..HEX]);
    text
}

/// Appends a line to `out`. `body` is a JSON object with at least one key.
pub fn write_line(out: &mut Vec<u8>, key: &Hash, seq: u64, after: u64, body: &[u8]) {
    let start = out.len();
    out.extend_from_slice(OPEN);
    out.resize(start + OPEN.len() + HEX, b'0');
    out.extend_from_slice(b"\",\"seq\":");
    out.extend_from_slice(seq.to_string().as_bytes());
    out.extend_from_slice(b",\"after\":");
    out.extend_from_slice(after.to_string().as_bytes());
    out.push(b',');
    out.extend_from_slice(body.get(1..).unwrap_or_default());
    let check = check_of(key, &out[start + BODY..]);
    out[start + OPEN.len()..start + OPEN.len() + HEX].copy_from_slice(&check);
    out.push(b'\n');
}

/// A line that is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number.
    pub seq: u64,
    /// The last record that was on the disk when it was written.
    pub after: u64,
    /// The record: a JSON object without its opening brace.
    pub rest: &'a [u8],
}

impl Line<'_> {
    /// The record as a JSON object.
    pub fn object(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.rest.len() + 1);
        out.push(b'{');
        out.extend_from_slice(self.rest);
        out
    }
}

/// Checks a line, given without its end.
///
/// # Errors
/// What is wrong with it.
pub fn read_line<'a>(line: &'a [u8], key: &Hash) -> Result<Line<'a>, &'static str> {
    let shape = "the line does not begin like a record";
    if line.len() < BODY || !line.starts_with(OPEN) || line[BODY - 2..BODY] != *b"\"," {
        return Err(shape);
    }
    let rest = &line[BODY..];
    if line[OPEN.len()..OPEN.len() + HEX] != check_of(key, rest) {
        return Err("the line does not have the content that was written (its check value differs)");
    }
    fn number<'a>(text: &'a [u8], name: &[u8]) -> Option<(u64, &'a [u8])> {
        let text = text.strip_prefix(name)?;
        let end = text.iter().position(|b| !b.is_ascii_digit())?;
        let value = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
        Some((value, text[end..].strip_prefix(b",")?))
    }
    let (seq, rest) = number(rest, b"\"seq\":").ok_or(shape)?;
    let (after, rest) = number(rest, b"\"after\":").ok_or(shape)?;
    Ok(Line { seq, after, rest })
}

/// What an interrupted program left at the end of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// What is wrong with it.
    pub cause: String,
}

/// Damage that no interruption can cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where it begins.
    pub offset: u64,
    /// What is wrong.
    pub cause: String,
    /// How many good records are before it.
    pub records: u64,
}

/// What is good of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// How many records.
    pub records: u64,
    /// The bytes that they have.
    pub bytes: u64,
    /// What is behind them.
    pub torn: Option<Torn>,
}

/// Why a journal could not be read to its end.
#[derive(Debug)]
pub enum ScanError {
    /// It is damaged.
    Damaged(Damage),
    /// It cannot be read.
    Io(io::Error),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a line with its end; false at the end of the file.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Ok(reader.by_ref().take(MAX_LINE + 1).read_until(b'\n', line)? > 0)
}

/// Reads a journal from its first byte and gives every good record, with its place, to `record`; what that says against a
/// record counts as damage.
///
/// # Errors
/// If the journal is damaged or cannot be read.
pub fn scan(
    reader: impl Read,
    key: &Hash,
    record: &mut dyn FnMut(u64, u64, &Line<'_>) -> Result<(), String>,
) -> Result<Scan, ScanError> {
    let mut reader = BufReader::with_capacity(1 << 18, reader);
    let mut scan = Scan::default();
    let mut line = Vec::new();
    while next_line(&mut reader, &mut line)? {
        let complete = line.last() == Some(&b'\n');
        let read = if complete { read_line(&line[..line.len() - 1], key) } else { Err("the last line has no end") };
        let damage = |cause: String| ScanError::Damaged(Damage { offset: scan.bytes, cause, records: scan.records });
        match read {
            Ok(found) if found.seq != scan.records => {
                return Err(damage(format!(
                    "here should be record {}, but this is record {}",
                    scan.records, found.seq
                )));
            }
            Ok(found) => record(scan.bytes, line.len() as u64, &found).map_err(damage)?,
            Err(cause) => {
                let tail = tail(&mut reader, &mut line, key, &scan)?;
                if tail.vouched || (tail.ended && !tail.zeros) {
                    return Err(damage(cause.into()));
                }
                scan.torn = Some(Torn { offset: scan.bytes, bytes: tail.bytes, cause: cause.into() });
                return Ok(scan);
            }
        }
        scan.records += 1;
        scan.bytes += line.len() as u64;
    }
    Ok(scan)
}

/// What stands from a bad line on.
struct Tail {
    bytes: u64,
    /// A later line says that the bad one was once on the disk.
    vouched: bool,
    /// A part was never written.
    zeros: bool,
    /// The last line has its end.
    ended: bool,
}

/// Parts of a file reach the disk in multiples of this.
const SECTOR: u64 = 512;

fn tail(reader: &mut impl BufRead, line: &mut Vec<u8>, key: &Hash, good: &Scan) -> io::Result<Tail> {
    let mut tail = Tail { bytes: 0, vouched: false, zeros: line.first() == Some(&0), ended: true };
    loop {
        let start = good.bytes + tail.bytes;
        let to_sector = (start.next_multiple_of(SECTOR) - start) as usize;
        tail.zeros |= line.iter().skip(to_sector).step_by(SECTOR as usize).any(|&byte| byte == 0);
        tail.bytes += line.len() as u64;
        tail.ended = line.last() == Some(&b'\n');
        if let Some(text) = line.strip_suffix(b"\n")
            && let Ok(found) = read_line(text, key)
        {
            tail.vouched |= found.after >= good.records;
        }
        if !next_line(reader, line)? {
            return Ok(tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> Hash {
        blake3::hash(b"a store")
    }

    /// A journal of batches with the offsets where records end; record 0 is on the disk from the start.
    fn journal(batches: &[Vec<String>]) -> (Vec<u8>, Vec<usize>) {
        let (mut out, mut ends, mut seq) = (Vec::new(), Vec::new(), 0);
        for batch in batches {
            let after: u64 = if seq == 0 { 0 } else { seq - 1 };
            for text in batch {
                let body = serde_json::json!({ "kind": "note", "text": text }).to_string();
                write_line(&mut out, &key(), seq, after, body.as_bytes());
                ends.push(out.len());
                seq += 1;
            }
        }
        (out, ends)
    }

    fn records(bytes: &[u8]) -> Result<(Vec<String>, Scan), ScanError> {
        let mut seen = Vec::new();
        let scan = scan(bytes, &key(), &mut |_, _, line| {
            let value: serde_json::Value = serde_json::from_slice(&line.object()).map_err(|e| e.to_string())?;
            seen.push(value["text"].as_str().unwrap_or_default().to_string());
            Ok(())
        })?;
        Ok((seen, scan))
    }

    #[test]
    fn a_line_is_json() {
        let (bytes, _) = journal(&[vec!["é \"quoted\"\n".into()]]);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["seq"], 0);
        assert_eq!(value["text"], "é \"quoted\"\n");
        let line = std::str::from_utf8(&bytes).unwrap().trim_end();
        let rest = line.split_once("\",").unwrap().1;
        let hash = blake3::keyed_hash(key().as_bytes(), rest.as_bytes()).to_hex();
        assert_eq!(value["check"], hash.as_str()[..32]);
    }

    #[test]
    fn another_stores_line_does_not_pass() {
        let (bytes, _) = journal(&[vec!["a".into()]]);
        assert!(read_line(&bytes[..bytes.len() - 1], &key()).is_ok());
        assert!(read_line(&bytes[..bytes.len() - 1], &blake3::hash(b"another")).is_err());
    }

    #[test]
    fn lines_out_of_order_are_damage() {
        let (bytes, ends) = journal(&[vec!["a".into()], vec!["b".into()], vec!["c".into()]]);
        let without_b = [&bytes[..ends[0]], &bytes[ends[1]..]].concat();
        let twice_b = [&bytes[..ends[1]], &bytes[ends[0]..]].concat();
        for bad in [without_b, twice_b] {
            assert!(matches!(records(&bad), Err(ScanError::Damaged(_))));
        }
    }

    #[test]
    fn sectors_that_were_never_written() {
        let long = "x".repeat(1500);
        let batches = [vec!["a".into()], vec![long.clone(), "b".into(), long, "c".into()]];
        let (bytes, ends) = journal(&batches);
        for sector in 0..bytes.len() / 512 {
            let from = (sector * 512).max(ends[0]);
            let mut bad = bytes.clone();
            bad[from..(sector + 1) * 512].fill(0);
            let good = ends.iter().filter(|&&e| e <= from).count();
            let (seen, scan) = records(&bad).unwrap();
            assert_eq!(seen.len(), good, "sector {sector}");
            assert_eq!(scan.bytes, ends[good - 1] as u64);
            assert_eq!(scan.torn.unwrap().bytes, (bytes.len() - ends[good - 1]) as u64);
        }
        // The same holes before the last batch are damage: those records were once on the disk.
        let (bytes, ends) = journal(&[batches[0].clone(), batches[1].clone(), vec!["d".into()]]);
        let mut bad = bytes;
        bad[ends[0] + 40..ends[0] + 600].fill(0);
        assert!(matches!(records(&bad), Err(ScanError::Damaged(d)) if d.offset == ends[0] as u64 && d.records == 1));
    }

    proptest! {
        #[test]
        fn every_prefix_has_its_complete_records(batches in prop::collection::vec(
            prop::collection::vec(any::<String>(), 1..4), 1..4))
        {
            let (bytes, ends) = journal(&batches);
            let texts: Vec<&String> = batches.iter().flatten().collect();
            for length in 0..=bytes.len() {
                let (seen, scan) = records(&bytes[..length]).unwrap();
                let good = ends.iter().filter(|&&e| e <= length).count();
                prop_assert_eq!(seen.iter().collect::<Vec<_>>(), &texts[..good]);
                let end = if good == 0 { 0 } else { ends[good - 1] };
                prop_assert_eq!(scan.bytes, end as u64);
                prop_assert_eq!(scan.torn.map_or(0, |t| t.bytes), (length - end) as u64);
            }
        }

        #[test]
        fn a_flipped_bit_is_never_misread(
            batches in prop::collection::vec(prop::collection::vec(any::<String>(), 1..4), 1..5),
            at in any::<prop::sample::Index>(),
            bit in 0..8u32,
        ) {
            let (bytes, ends) = journal(&batches);
            let texts: Vec<&String> = batches.iter().flatten().collect();
            let mut bad = bytes.clone();
            let at = at.index(bad.len());
            bad[at] ^= 1 << bit;
            let before = ends.iter().filter(|&&e| e <= at).count();
            match records(&bad) {
                Err(ScanError::Damaged(damage)) => {
                    prop_assert_eq!(damage.records as usize, before);
                }
                Err(ScanError::Io(error)) => prop_assert!(false, "{}", error),
                // Only where the damage looks like an interruption, and only what no later line vouches for, is cut.
                Ok((seen, scan)) => {
                    prop_assert_eq!(seen.iter().collect::<Vec<_>>(), &texts[..before]);
                    prop_assert!(scan.torn.is_some());
                    prop_assert!(at == bytes.len() - 1 || (bad[at] == 0 && at % 512 == 0));
                }
            }
        }

        #[test]
        fn other_bytes_are_no_records(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok((seen, _)) = records(&bytes) {
                prop_assert!(seen.is_empty());
            }
        }
    }
}
