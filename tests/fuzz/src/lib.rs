//! Mutated inputs for every format that is read: nothing may panic, and nothing damaged may pass for whole.
//!
//! An input is made from a seed of the corpus by a few random changes of bytes, lines and words; which ones follows
//! from the run's number alone, so that a finding is repeated by its number. No coverage guides the search, so that
//! the ordinary toolchain suffices.

mod journal;
mod script;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use agon_edition::Reading;
use agon_formula::{Scope, compile};
use agon_score::adjudication::Adjudication;
use agon_score::input::{FormTable, read_forms};
use agon_store::entrants::Entrants;
use agon_table::{Column, Symbols, Table, Type};

/// The formats.
pub const TARGETS: [&str; 14] = [
    "formula",
    "edition",
    "results",
    "packed",
    "adjudication",
    "published",
    "dimacs",
    "aiger",
    "sat-answer",
    "smt-answer",
    "journal",
    "entrants",
    "scramble",
    "script",
];

const EDITION: &str = include_str!("../../competitions/summer-cup/edition.yaml");
const RESULTS: &str = include_str!("../../competitions/summer-cup/results.csv");
const ADJUDICATION: &str = "adjudication: summer-cup\ndecisions:\n  - date: 2026-01-01\n    reason: a reason\n    status: \
                            sat\n    benchmarks: [QF_BV/hull/a.smt2]\n  - { date: 2026-01-02, reason: r, remove: true, \
                            benchmarks: [QF_BV/keel/c.smt2], by: [x], recused: [y] }\n  - { date: d, reason: r, \
                            disqualify: [Bittern] }\n";
const ENTRANTS: &str = "entrants:\n  - name: Auk\n    team: T\n    seed: 42\n    command: [./auk, -x]\n    version: [./auk, \
                        -V]\n    fields: { organiser: false }\n  - name: Brant\n    command: [brant]\n    \
                        configurations: { quick: { arguments: [-q] }, slow: { command: [b], competing: false } }\n    \
                        tracks: { main: , parallel: { configuration: quick } }\n";
const FORMULAS: [&str; 8] = [
    "sum(if(a > 1200 s, 2 * 1200 s, a) per b) / count() else 0 s",
    "not c and any(w == sat where not c per b) or w in [unsat, unknown]",
    "first(n by a desc, n asc of other b per w else 0) + max(n, 3) ^ 2",
    "case(n == 1, 10, n == 2, 7.5, n >= 3 and n <= 5, 2, 0)",
    "log10(count(c per b) else 0) * (n / (n + 1) else 0) ^ 2",
    "place(by n desc, a per b) == 1 and distinct(b per all) > 2",
    "round(a, 0.1 s) <= trimmed_mean(a, 1 per b else 1 min)",
    "-(3 mod 2) + floor(100 * 14636.7563) - sum(n once b) * 1e-3",
];

const SCRAMBLED: &str = "(set-logic QF_BV)\n(set-info :status sat)\n(declare-sort |s t| 0)\n(declare-fun a (|s t| (_ BitVec 8)) \
                      Bool)\n(declare-datatypes ((T 0)) (((leaf) (node (left T) (n Int)))))\n(define-fun f ((x Bool)) Bool (not \
                      x))\n(push 1)\n(assert (! (let ((y #x0f) (z true)) (and (bvult y (_ bv3 8)) (f z) (forall ((q Bool)) (! q \
                      :pattern ((f q)))))) :named n1)) ; remark\n(check-sat)\n(pop 1)\n(set-option :x \"a\"\"b\")\n(assert (match t \
                      ((leaf true) ((node l m) ((_ is leaf) l)))))\n(check-sat)\n(exit)\n";
const DIMACS: &str = "c a formula\np cnf 4 5\n1 -2 0\n2 3\n-4 0\n-1 0 4 0\nc\n-3 2 1 0\n%\n0\n";
const AAG: &str = "aag 7 2 1 2 4\n2\n4\n6 13\n14\n3\n8 2 4\n10 3 5\n12 9 11\n14 12 6\ni0 left\no1 out\nc\nnote\n";
const AIG: &[u8] = b"aig 5 2 0 1 3\n10\n\x02\x02\x03\x02\x01\x02o0 x\n";
const SAT_ANSWER: &str = "c solving\nv 1 -2\ns SATISFIABLE\nv 3 -4 0\nc done\n";
const SMT_ANSWER: &str = "success\n; a note\n(error \"line 3: \"\"y\"\" is\nunsat\n\")\n sat\r\n(model\n  (define-fun |x )| () Int 1)\n)\nunknown (TIMEOUT)\n";
const ANSWER_WORDS: [&str; 32] = [
    "\n",
    " ",
    "\r\n",
    "\t",
    "\0",
    "\u{feff}",
    "sat",
    "unsat",
    "unknown",
    "success",
    "(error \"",
    "\")",
    "(",
    ")",
    "\"",
    "|",
    ";",
    "s SATISFIABLE",
    "s UNSATISFIABLE",
    "s UNKNOWN",
    "\ns ",
    "\nv ",
    "c ",
    " 0\n",
    "-",
    "1",
    "99999999999999999999",
    "p cnf ",
    "aag ",
    "%\n",
    "\u{1f}\u{8b}",
    "SAT",
];

/// A small generator with a period that no run exhausts (Knuth's multiplier, the high bits).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// The input with this number.
fn mutate(seed: &[u8], number: u64, words: &[&str]) -> Vec<u8> {
    let mut draw = Draw(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = seed.to_vec();
    for _ in 0..1 + draw.below(6) {
        let at = draw.below(text.len() + 1);
        let end = (at + draw.below(40)).min(text.len());
        match draw.below(8) {
            0 if at < text.len() => text[at] ^= 1 << draw.below(8),
            1 if at < text.len() => text[at] = draw.below(256) as u8,
            2 => drop(text.drain(at..end)),
            3 => text.truncate(at),
            4 => {
                let part = text[at..end].to_vec();
                let to = draw.below(text.len() + 1);
                text.splice(to..to, part);
            }
            5 | 6 => {
                let word = words[draw.below(words.len())].as_bytes().to_vec();
                text.splice(at..at, word);
            }
            _ => {
                let word = words[draw.below(words.len())].as_bytes().to_vec();
                text.splice(at..end, word);
            }
        }
    }
    text
}

const WORDS: [&str; 40] = [
    "\n",
    "  ",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ",",
    "&a",
    "*a",
    "null",
    "let",
    "keep",
    "group",
    "where",
    " per ",
    " else ",
    "sum(",
    "(",
    ")",
    " and ",
    "sat",
    "1200 s",
    "1e400",
    "-1",
    "0",
    "99999999999999999999",
    "NaN",
    "inf",
    "é",
    "\u{feff}",
    "\r\n",
    "\0",
    "|",
    "extends: summer-cup",
    "like: main",
    "\"\"\"",
];

/// A table for formulas.
fn table() -> Table {
    let mut table = Table::new(5);
    let word = Column::Symbol(Symbols::from_texts(["sat", "unsat", "unknown", "sat", "sat"]));
    let columns = [
        ("a", Type::TIME, Column::Int(vec![0, 1, 1_200_000_000_000, i64::MAX, -5])),
        ("n", Type::NUMBER, Column::Int(vec![1, 2, 3, i64::MAX, i64::MIN])),
        ("c", Type::Bool, Column::Bool(vec![true, false, true, false, true])),
        ("b", Type::TEXT, Column::Symbol(Symbols::from_texts(["x", "y", "x", "y", "z"]))),
        ("w", Type::words(["sat", "unsat", "unknown"]), word),
    ];
    for (name, ty, column) in columns {
        table.set(name, ty, column).expect("five rows each");
    }
    table
}

/// A workplace for one target.
pub struct Fuzzer {
    folder: tempfile::TempDir,
    edition: agon_edition::Edition,
    table: Table,
    packed: Vec<(&'static str, Vec<u8>)>,
    whole: String,
    store: PathBuf,
    journal: Vec<u8>,
    records: Vec<String>,
}

impl Default for Fuzzer {
    fn default() -> Self {
        Self::new()
    }
}

impl Fuzzer {
    /// Sets up the corpus.
    ///
    /// # Panics
    /// If the corpus itself is not accepted.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("summer-cup.yaml");
        std::fs::write(&path, EDITION).expect("it can be written");
        let (edition, _) = agon_edition::load(path.to_str().expect("UTF-8"), Reading::Rules).expect("it is an edition");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(RESULTS.as_bytes()).expect("to memory");
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
        xz.write_all(RESULTS.as_bytes()).expect("to memory");
        let mut zst = zstd::Encoder::new(Vec::new(), 3).expect("to memory");
        zst.include_checksum(true).expect("it can");
        zst.write_all(RESULTS.as_bytes()).expect("to memory");
        let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default()));
        let mut header = tar::Header::new_gnu();
        header.set_size(RESULTS.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append_data(&mut header, "results.csv", RESULTS.as_bytes()).expect("to memory");
        let packed = vec![
            ("gz", gz.finish().expect("to memory")),
            ("xz", xz.finish().expect("to memory")),
            ("zst", zst.finish().expect("to memory")),
            ("tar.gz", tar.into_inner().and_then(flate2::write::GzEncoder::finish).expect("to memory")),
        ];
        let store = folder.path().join("store");
        let journal = journal::make(&store);
        let records = journal::records(&store).expect("the corpus is read");
        let mut this = Self { folder, edition, table: table(), packed, whole: String::new(), store, journal, records };
        let path = this.write("whole.csv", RESULTS.as_bytes());
        this.whole = this.read(&path).expect("the corpus is read");
        this
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("the temporary folder is writable");
        path
    }

    /// All rows of a results file as text, or the error.
    fn read(&self, path: &Path) -> Result<String, String> {
        let tables =
            read_forms(&self.edition, &[path.to_path_buf()], &self.edition.results).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        for FormTable { table, .. } in tables.tables {
            agon_results::write_csv_to(&table, &mut out).expect("to memory");
        }
        Ok(String::from_utf8(out).expect("what is written is UTF-8"))
    }

    /// Runs one input. The error says what is wrong and holds the input.
    ///
    /// # Errors
    /// If something panicked, an error has no message, or a damaged archive gave other rows.
    pub fn run(&self, target: &str, number: u64) -> Result<(), String> {
        let mut draw = Draw(number | 1);
        let seed: Vec<u8> = match target {
            "formula" => FORMULAS[draw.below(FORMULAS.len())].into(),
            "edition" => EDITION.into(),
            "adjudication" => ADJUDICATION.into(),
            "packed" => self.packed[draw.below(self.packed.len())].1.clone(),
            "dimacs" => DIMACS.into(),
            "aiger" => {
                if draw.below(2) == 0 {
                    AAG.into()
                } else {
                    AIG.into()
                }
            }
            "sat-answer" => SAT_ANSWER.into(),
            "smt-answer" => SMT_ANSWER.into(),
            "scramble" => SCRAMBLED.into(),
            "journal" => self.journal.clone(),
            "entrants" => ENTRANTS.into(),
            "script" => script::SEEDS[draw.below(script::SEEDS.len())].into(),
            _ => RESULTS.into(),
        };
        let words = match target {
            "dimacs" | "aiger" | "sat-answer" | "smt-answer" => &ANSWER_WORDS[..],
            "script" | "scramble" => &script::WORDS,
            _ => &WORDS,
        };
        let input = mutate(&seed, number, words);
        let outcome = catch_unwind(AssertUnwindSafe(|| self.one(target, &input)));
        let problem = match outcome {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(problem)) => problem,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
                    .unwrap_or_else(|| "a panic".into())
            }
        };
        Err(format!("{target} {number}: {problem}\n{}", String::from_utf8_lossy(&input)))
    }

    fn one(&self, target: &str, input: &[u8]) -> Result<(), String> {
        let said =
            |message: &str| if message.trim().is_empty() { Err("an error says nothing".to_string()) } else { Ok(()) };
        match target {
            "formula" => {
                let Ok(source) = std::str::from_utf8(input) else { return Ok(()) };
                match compile(source, &Scope::of(&self.table)) {
                    Ok(formula) => {
                        let _ = formula.english();
                        let again = compile(&formula.to_string(), &Scope::of(&self.table));
                        if again.is_err() {
                            return Err(format!("`{formula}` does not compile again"));
                        }
                        match formula.eval(&self.table) {
                            Ok(column) if column.len() != self.table.rows() => Err("a row is missing".into()),
                            Ok(_) => Ok(()),
                            Err(error) => said(&error.to_string()),
                        }
                    }
                    Err(errors) if errors.is_empty() => Err("no error is given".into()),
                    Err(errors) => errors.iter().try_for_each(|e| said(&e.message)),
                }
            }
            "edition" => {
                let path = self.write("fuzzed.yaml", input);
                match agon_edition::check(path.to_str().expect("UTF-8")) {
                    Ok((edition, diagnostics)) => {
                        let _ = diagnostics.render(false);
                        if edition.is_none() && !diagnostics.has_errors() {
                            Err("no edition and no error".into())
                        } else {
                            Ok(())
                        }
                    }
                    Err(error) => said(&error.to_string()),
                }
            }
            "results" => match self.read(&self.write("fuzzed.csv", input)) {
                Ok(_) => Ok(()),
                Err(message) => said(&message),
            },
            // The checksums stand in for what cannot be known otherwise.
            "packed" => match self.read(&self.write("fuzzed.csv", input)) {
                Ok(rows) if rows == self.whole => Ok(()),
                Ok(_) => Err("a damaged archive gave other rows".into()),
                Err(message) => said(&message),
            },
            "adjudication" => match Adjudication::read(&self.write("fuzzed.yaml", input)) {
                Ok(_) => Ok(()),
                Err(error) => said(&error.to_string()),
            },
            "dimacs" => dimacs(input),
            "aiger" => aiger(input),
            "sat-answer" => sat_answer(input),
            "smt-answer" => smt_answer(input),
            "scramble" => scramble(input),
            "script" => script::one(input),
            "journal" => journal::one(&self.store, input, &self.records),
            "entrants" => {
                let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
                match Entrants::parse("fuzzed.yaml", text, Path::new(".")) {
                    Ok(list) if list.solvers.iter().any(|s| s.name.trim().is_empty()) => Err("a name is empty".into()),
                    Ok(list) => {
                        let commands =
                            list.of_track("main").into_iter().all(|e| e.command.iter().any(|c| !c.is_empty()));
                        let _ = (list.rows(&[("main", "key")]), list.seed_rows(), list.check(&["main"], &[]));
                        if commands { Ok(()) } else { Err("an entrant has no command".into()) }
                    }
                    Err(error) => said(&error.to_string()),
                }
            }
            _ => match agon_results::read_csv_rows(&self.write("fuzzed.csv", input), b',') {
                Ok(rows) if rows.rows.iter().any(|r| r.fields.len() != rows.header.len()) => {
                    Err("a row has another number of fields than the header".into())
                }
                Ok(_) => Ok(()),
                Err(error) => said(&error.to_string()),
            },
        }
    }
}

/// A formula that is read is written and read to the same; an error has a place.
fn dimacs(input: &[u8]) -> Result<(), String> {
    use agon_sat::dimacs::Formula;
    match Formula::parse(input) {
        Ok(formula) => match Formula::parse(formula.to_dimacs().as_bytes()) {
            Ok(again) if again == formula => Ok(()),
            _ => Err("the formula is not read again as it was written".into()),
        },
        Err(error) => placed(&error),
    }
}

/// A circuit that is read is written in both formats and read to the same; an error has a place.
fn aiger(input: &[u8]) -> Result<(), String> {
    let read = |bytes: &[u8]| agon_sat::input::Bytes::new(bytes).and_then(|mut b| agon_sat::aiger::read(&mut b));
    let input = input.to_vec();
    match read(&input) {
        Ok(circuit) => {
            let (ascii, binary) = (circuit.to_ascii(), circuit.to_binary());
            let again = read(ascii.as_bytes()).map_err(|e| format!("what was written in ASCII: {e}"))?;
            let packed = read(&binary).map_err(|e| format!("what was written in binary: {e}"))?;
            if again.to_ascii() != ascii || packed.to_binary() != binary {
                return Err("the circuit is not read again as it was written".into());
            }
            let values = circuit.evaluate(&[]);
            if circuit.outputs.iter().zip(&again.outputs).any(|(a, b)| values.of(*a) != again.evaluate(&[]).of(*b)) {
                return Err("the circuit written has other outputs".into());
            }
            Ok(())
        }
        Err(error) => placed(&error),
    }
}

fn placed(error: &agon_sat::input::InputError) -> Result<(), String> {
    match error {
        agon_sat::input::InputError::Malformed(m) if m.what.is_empty() => Err("an error says nothing".into()),
        agon_sat::input::InputError::Malformed(_) => Ok(()),
        other => Err(format!("not an error of the format: {other}")),
    }
}

/// A claim is a line of its own; reading in pieces comes to the same; a model that is read is written and read again.
fn sat_answer(input: &[u8]) -> Result<(), String> {
    use agon_sat::answer::{Claim, Reader, Spaces, read, to_lines};
    for spaces in [Spaces::Strict, Spaces::Tolerate] {
        let whole = read(input, false, spaces);
        let mut pieces = Reader::new(spaces);
        input.chunks(3).for_each(|piece| pieces.read(piece));
        if pieces.finish(false) != whole {
            return Err("reading in pieces differs".into());
        }
        if let (Claim::One(_), Some(at)) = (whole.claim, whole.claim_at) {
            let line = input.get(at.from as usize..at.to as usize).unwrap_or_default();
            let word = line.trim_ascii().strip_prefix(b"s").unwrap_or_default().trim_ascii();
            if ![&b"SATISFIABLE"[..], b"UNSATISFIABLE", b"UNKNOWN"].contains(&word) && spaces == Spaces::Strict {
                return Err("a claim is not what its line says".into());
            }
        }
        if let Some(model) = whole.model() {
            let again = read(to_lines(model, 80).as_bytes(), false, Spaces::Strict);
            if again.model() != Some(model) {
                return Err("the model is not read again as it was written".into());
            }
        }
    }
    Ok(())
}

/// Whatever is accepted is scrambled to the same whenever it is read, and a refusal has a place.
fn scramble(input: &[u8]) -> Result<(), String> {
    use agon_scramble::{Error, Mode, Options, scramble};
    for (word, mode) in Mode::ALL.into_iter().filter(|(_, mode)| *mode != Mode::Unfold) {
        for seed in [0, 7] {
            let run = || {
                let mut out = Vec::new();
                let result = scramble(input, &Options::new(mode, seed), &mut out);
                (out, result)
            };
            let ((out, result), (again, _)) = (run(), run());
            if out != again {
                return Err(format!("{word} with seed {seed} gives something else the second time"));
            }
            if let Err(Error::Refused(refusal) | Error::Beyond(refusal)) = result
                && (refusal.line == 0 || refusal.column == 0 || refusal.message.is_empty())
            {
                return Err(format!("{word}: a refusal says nothing or has no place"));
            }
        }
    }
    let _ = agon_scramble::enumerate::models(&String::from_utf8_lossy(input));
    Ok(())
}

/// An answer is a line of its own; reading in pieces comes to the same.
fn smt_answer(input: &[u8]) -> Result<(), String> {
    use agon_single_query::judging::{OtherOutput, Parameters, Stream, Transcript, Weight};
    let lenient = Parameters { other_output: OtherOutput::Skip, after_error: Weight::Count, ..Parameters::default() };
    for parameters in [Parameters::default(), lenient] {
        let whole = agon_single_query::read(input, false, Stream::Stdout, &parameters);
        let mut pieces = Transcript::new(parameters, Stream::Stdout);
        input.chunks(3).for_each(|piece| pieces.read(piece));
        if pieces.finish(false) != whole {
            return Err("reading in pieces differs".into());
        }
        if let Some(answer) = whole.answer {
            let place = whole.evidence.iter().find(|e| e.note.contains("answer is")).map(|e| e.at);
            let text = place.and_then(|at| input.get(at.from as usize..at.to as usize)).unwrap_or_default();
            if !text.starts_with(answer.word().as_bytes()) {
                return Err(format!("the answer {} is not where it is said to be", answer.word()));
            }
        }
    }
    Ok(())
}
