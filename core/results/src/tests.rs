//! Tests over whole files: what is read, and every way in which reading fails.

use std::io::Write;
use std::path::{Path, PathBuf};

use agon_table::{Column, Dim, Exact, Symbols, Table, Type};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::*;

struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut e = liblzma::write::XzEncoder::new(Vec::new(), 6);
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut e = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    e.include_checksum(true).unwrap();
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn mapping() -> Mapping {
    let answer = [("sat", "sat"), ("unsat", "unsat"), ("starexec-unknown", "unknown")];
    Mapping {
        name: "test".into(),
        header: Header::Named,
        delimiter: b',',
        recognise: Recognise { columns: vec!["solver".into(), "result".into()], ..Recognise::default() },
        columns: vec![
            ColumnRule::plain("entrant", "solver", Kind::Text),
            ColumnRule::plain("benchmark", "benchmark", Kind::Text),
            ColumnRule::plain("wall_time", "time", Kind::Time { unit_ns: 1_000_000_000, negative: false }),
            ColumnRule {
                words: Some(answer.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()),
                ..ColumnRule::plain(
                    "answer",
                    "result",
                    Kind::Words(vec!["sat".into(), "unsat".into(), "unknown".into()]),
                )
            },
        ],
        joins: Vec::new(),
        key: vec!["entrant".into(), "benchmark".into()],
        duplicates: Duplicates::Error,
    }
}

const HEADER: &str = "solver,benchmark,time,result\n";
const GOOD: &str = "solver,benchmark,time,result\na,x,1.5,sat\nb,x,0.25,unsat\na,y,3,starexec-unknown\nb,y,0,sat\n";

fn one(file: &Path, mapping: &Mapping) -> Result<Table, ResultsError> {
    let mut outcome = read(&[file.to_path_buf()], std::slice::from_ref(mapping))?;
    assert_eq!(outcome.tables.len(), 1);
    Ok(outcome.tables.remove(0).1)
}

/// The table as texts, one row after the other.
fn texts(table: &Table) -> Vec<Vec<String>> {
    let mut bytes = Vec::new();
    write_csv_to(table, &mut bytes).unwrap();
    let mut input = input::Input::over_bytes(&bytes);
    let rows = read::csv_rows(&mut input, b',').unwrap();
    rows.rows.into_iter().map(|r| r.fields).collect()
}

fn good_texts() -> Vec<Vec<String>> {
    let rows =
        [["a", "x", "1.5", "sat"], ["b", "x", "0.25", "unsat"], ["a", "y", "3", "unknown"], ["b", "y", "0", "sat"]];
    rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect()
}

/// The failure to read a text under the test mapping.
fn failure(text: impl AsRef<[u8]>) -> ResultsError {
    failure_with(text, &mapping())
}

fn failure_with(text: impl AsRef<[u8]>, mapping: &Mapping) -> ResultsError {
    let dir = Dir::new();
    one(&dir.file("r.csv", text), mapping).map(|t| texts(&t)).unwrap_err()
}

fn with(rows: &str) -> String {
    format!("{HEADER}{rows}")
}

#[test]
fn all_wrappings() {
    let dir = Dir::new();
    let good = GOOD.as_bytes();
    let (a, b) = good.split_at(40);
    let crlf = GOOD.replace('\n', "\r\n");
    let files = [
        dir.file("plain.csv", good),
        dir.file("no-end.csv", GOOD.trim_end()),
        dir.file("blank-end.csv", format!("{GOOD}\n")),
        dir.file("bom.csv", format!("\u{feff}{GOOD}")),
        dir.file("crlf.csv", &crlf),
        dir.file("crlf-no-end.csv", crlf.trim_end()),
        dir.file("crlf-blank.csv", format!("{crlf}\r\n")),
        dir.file("a.gz", gz(good)),
        dir.file("misnamed.csv", xz(good)),
        dir.file("a.zst", zst(good)),
        dir.file("frames.gz", [gz(a), gz(b)].concat()),
        dir.file("frames.xz", [xz(a), xz(b)].concat()),
        dir.file("frames.zst", [zst(a), zst(b)].concat()),
        dir.file("quoted.csv", GOOD.replace("a,", "\"a\",")),
        dir.file("t.tar", tar(&[("dir/readme.txt", b"hello"), ("dir/r.csv", good)])),
        dir.file("t.tar.xz", xz(&tar(&[("r.csv", good), ("binary", &[0, 1, 2, 255])]))),
        dir.file("t.tar.gz", gz(&tar(&[("r.csv", good)]))),
        dir.file("inner.tar", tar(&[("r.csv.xz", &xz(good)), ("deeper.tar", &tar(&[("r.csv", good)]))])),
    ];
    for file in files {
        match one(&file, &mapping()) {
            Ok(table) => assert_eq!(texts(&table), good_texts(), "{}", file.display()),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn reports() {
    let dir = Dir::new();
    let archive = dir.file("t.tar.xz", xz(&tar(&[("notes.txt", b"n"), ("d/r.csv", GOOD.as_bytes())])));
    let outcome = read(std::slice::from_ref(&archive), &[mapping()]).unwrap();
    let [file] = &outcome.report.files[..] else { panic!() };
    assert_eq!(
        (file.member.as_deref(), file.rows, file.bytes, file.role, file.checked),
        (Some("d/r.csv"), 4, GOOD.len() as u64, FileRole::Results, true)
    );
    assert_eq!(outcome.report.skipped, [(archive, Skipped { count: 1, names: vec!["notes.txt".into()] })]);
}

#[test]
fn files_are_appended_in_order() {
    let dir = Dir::new();
    let first = dir.file("1.csv", with("a,x,1,sat\n"));
    let second = dir.file("2.csv", "result,time,solver,benchmark\nunsat,2,b,x\n");
    let table = read(&[second.clone(), first.clone()], &[mapping()]).unwrap().tables.remove(0).1;
    assert_eq!(texts(&table)[0], ["b", "x", "2", "unsat"]);
    assert_eq!(texts(&table)[1], ["a", "x", "1", "sat"]);
    // What was written is read back and appended too.
    let canonical = dir.path("c.csv");
    let parquet = dir.path("c.parquet");
    let part = one(&dir.file("3.csv", with("c,x,1,sat\n")), &mapping()).unwrap();
    write_csv(&part, &canonical).unwrap();
    let part = one(&dir.file("4.csv", with("d,x,1,sat\n")), &mapping()).unwrap();
    write_parquet(&part, &[("mapping".into(), "test".into())], &parquet).unwrap();
    let table = read(&[canonical, first, parquet, second], &[mapping()]).unwrap().tables.remove(0).1;
    let entrants: Vec<String> = texts(&table).into_iter().map(|r| r[0].clone()).collect();
    assert_eq!(entrants, ["c", "a", "d", "b"]);
}

#[test]
fn forms_without_header() {
    let mut fixed = mapping();
    fixed.header = Header::Fixed(["solver", "benchmark", "time", "result"].map(String::from).to_vec());
    fixed.delimiter = b';';
    fixed.recognise = Recognise { file: Some(regex::Regex::new("^run").unwrap()), ..Recognise::default() };
    fixed.columns.push(ColumnRule {
        source: Source::FileName,
        part: Some(regex::Regex::new(r"run-(\d+)\.csv").unwrap()),
        ..ColumnRule::plain("run", "", Kind::Number)
    });
    fixed
        .columns
        .push(ColumnRule { source: Source::Constant("2014".into()), ..ColumnRule::plain("year", "", Kind::Text) });
    let dir = Dir::new();
    let file = dir.file("run-7.csv.gz", gz(b"a;x;1;sat\n"));
    assert_eq!(texts(&one(&file, &fixed).unwrap()), [["a", "x", "1", "sat", "7", "2014"]]);
    let other = dir.file("x.csv", b"a;x;1;sat\n");
    let text = one(&other, &fixed).unwrap_err().to_string();
    assert!(text.contains("wants a file name like ^run"), "{text}");
}

#[test]
fn rules() {
    let dir = Dir::new();
    let file = dir.file("r.csv", "solver,benchmark,time,result\n\"a,1\",ALIA/f/x,-,sat\nb,LIA/y,,unsat\n");
    let mut m = mapping();
    m.columns[1].part = Some(regex::Regex::new("^[^/]*").unwrap());
    m.columns[2].words = Some([("-".to_string(), "1200".to_string())].into_iter().collect());
    m.columns[2].empty = Some("7".into());
    m.columns.push(ColumnRule {
        part: Some(regex::Regex::new("^[^/]*/([^/]*)/").unwrap()),
        otherwise: Some("none".into()),
        ..ColumnRule::plain("family", "benchmark", Kind::Text)
    });
    m.columns.push(ColumnRule {
        words: Some(
            [("sat", "yes"), ("unsat", "no")].map(|(a, b)| (a.to_string(), b.to_string())).into_iter().collect(),
        ),
        ..ColumnRule::plain("is_sat", "result", Kind::Bool)
    });
    let rows = texts(&one(&file, &m).unwrap());
    assert_eq!(rows[0], ["a,1", "ALIA", "1200", "sat", "f", "yes"]);
    assert_eq!(rows[1], ["b", "LIA", "7", "unsat", "none", "no"]);
}

#[test]
fn numbers() {
    let dir = Dir::new();
    let file = dir.file("r.csv", "n,m,t\n1,2,1.5\n0.5,-3,2\n1/3,1e3,0\n");
    let m = Mapping {
        columns: vec![
            ColumnRule::plain("n", "n", Kind::Number),
            ColumnRule::plain("m", "m", Kind::Number),
            ColumnRule::plain("t", "t", Kind::Memory { unit_bytes: 1024 }),
        ],
        recognise: Recognise::default(),
        key: Vec::new(),
        ..mapping()
    };
    let table = one(&file, &m).unwrap();
    assert!(matches!(&**table.column("n").unwrap(), Column::Exact(v) if v[2] == Exact::ratio(1, 3).unwrap()));
    assert_eq!(table.column("m").unwrap().as_int(), Some(&[2, -3, 1000][..]));
    assert_eq!(table.column("t").unwrap().as_int(), Some(&[1536, 2048, 0][..]));
}

#[test]
fn faults_of_rows() {
    let long = "a".repeat(2 << 20);
    let cases: Vec<(String, u64, Option<&str>, &str, &str)> = vec![
        (with("a,x,1,sat\na,y,1,maybe\n"), 3, Some("result"), "results/unknown-word", "`starexec-unknown`"),
        (with("a,x,1,sat\nb,x,1,sat\na,x,2,unsat\n"), 4, None, "results/duplicate", "row 2 of"),
        (with("a,x,-1,sat\n"), 2, Some("time"), "results/negative-time", "`-1` is a negative time"),
        (with("a,x,NaN,sat\n"), 2, Some("time"), "results/not-finite", "`NaN`"),
        (with("a,x,inf,sat\n"), 2, Some("time"), "results/not-finite", "`inf`"),
        (with("a,x,1s,sat\n"), 2, Some("time"), "results/bad-value", "`1s` is not a time"),
        (with("a,x,99999999999999,sat\n"), 2, Some("time"), "results/out-of-range", "out of range"),
        (with("a,x,,sat\n"), 2, Some("time"), "results/empty-cell", "empty"),
        (with("a,x,1,sat\n,x,1,sat\n"), 3, Some("solver"), "results/empty-cell", "empty"),
        (with("a,x,1,\n"), 2, Some("result"), "results/empty-cell", "empty"),
        (with("a,x,1,sat\r\n"), 2, None, "results/mixed-line-ends", "LF"),
        (with("a,\"x\",1,sat\r\n"), 2, None, "results/mixed-line-ends", "LF"),
        (with("").replace('\n', "\r\n") + "a,x,1,sat\r\nb,x,1,sat\n", 3, None, "results/mixed-line-ends", "LF"),
        (with("a,x\ry,1,sat\n"), 2, None, "results/stray-return", "carriage return"),
        (with("a,x,1\n"), 2, None, "results/field-count", "3 fields where 4"),
        (with("a,x,1,sat\na,y,1,sat,more\n"), 3, None, "results/field-count", "too many"),
        (with("a,\"x\",1,sat\na,y,1,sat,more\n"), 3, None, "results/field-count", "too many"),
        (with("a,x,1,sat\n\nb,x,1,sat\n"), 3, None, "results/field-count", "1 fields"),
        (with("a,x\0,1,sat\n"), 2, None, "results/nul-byte", "NUL"),
        (with("\"a\",x\0,1,sat\n"), 2, None, "results/nul-byte", "NUL"),
        (with(&format!("a,x,1,sat\nb,{long},1,sat\n")), 3, None, "results/long-line", "1048576"),
        (with(&format!("a,x,1,sat\nb,\"{long}\",1,sat\n")), 3, None, "results/long-line", "1048576"),
        (with("a,x,1,sat\nb,\"open,1,sat\nc,x,1,sat\n"), 3, None, "results/quotes", "not closed"),
        (with("a,x\"y,1,sat\n"), 2, None, "results/quotes", "not quoted"),
        (with("a,\"x\"y,1,sat\n"), 2, None, "results/quotes", "closing quote"),
        // A quoted line end counts as a line of the file but not as a row.
        (with("a,\"x\ny\",1,sat\nb,x,1,maybe\n"), 4, Some("result"), "results/unknown-word", "maybe"),
    ];
    for (text, row, column, mnemonic, part) in cases {
        let error = failure(&text);
        let shown = error.to_string();
        let head: String = text.chars().take(80).collect();
        assert_eq!(
            (error.row, error.column.as_deref(), error.kind.mnemonic()),
            (Some(row), column, mnemonic),
            "{head}"
        );
        assert!(shown.contains(part) && shown.contains("r.csv") && shown.contains(&format!("row {row}")), "{shown}");
        assert!(!shown.contains('\n'), "{shown}");
        // The same fault is found far behind the first block, in the right row.
        let many: String = (0..30_000).map(|n| format!("s{n},long enough benchmark,1,sat\n")).collect();
        if mnemonic != "results/duplicate" && !text.starts_with("solver,benchmark,time,result\r") {
            let error = failure(text.replacen(HEADER, &with(&many), 1));
            assert_eq!((error.row, error.kind.mnemonic()), (Some(row + 30_000), mnemonic), "{head}");
        }
    }
    let error = failure([with("").as_bytes(), b"a,x\xff,1,sat\n"].concat());
    assert_eq!((error.row, error.kind.mnemonic()), (Some(2), "results/not-utf8"));
    let error = failure([with("").as_bytes(), b"a,\"x\xff\",1,sat\n"].concat());
    assert_eq!((error.row, error.kind.mnemonic()), (Some(2), "results/not-utf8"));
}

#[test]
fn huge_line() {
    let dir = Dir::new();
    // Two hundred megabytes in one line, of which only the beginning may ever be unpacked.
    let path = dir.path("huge.csv.zst");
    let mut out = zstd::stream::write::Encoder::new(std::fs::File::create(&path).unwrap(), 1).unwrap();
    out.write_all(GOOD.as_bytes()).unwrap();
    let block = vec![b'a'; 1 << 20];
    for _ in 0..200 {
        out.write_all(&block).unwrap();
    }
    out.finish().unwrap();
    let error = one(&path, &mapping()).unwrap_err();
    assert_eq!((error.row, error.kind.mnemonic()), (Some(6), "results/long-line"));
    let all = dir.file("all.csv", block.repeat(2));
    assert_eq!(one(&all, &mapping()).unwrap_err().kind.mnemonic(), "results/long-line");
}

#[test]
fn faults_of_files() {
    let dir = Dir::new();
    let kind = |path: &Path| one(path, &mapping()).unwrap_err().kind.mnemonic();
    assert_eq!(kind(dir.0.path()), "results/directory");
    assert_eq!(kind(&dir.path("nothing.csv")), "results/not-found");
    assert_eq!(kind(&dir.file("empty.csv", "")), "results/empty-file");
    assert_eq!(kind(&dir.file("empty.csv.xz", xz(b""))), "results/empty-file");
    assert_eq!(kind(&dir.file("bom.csv", "\u{feff}")), "results/empty-file");
    // A header without rows is a table without rows.
    assert_eq!(one(&dir.file("header.csv", HEADER), &mapping()).unwrap().rows(), 0);

    let other = dir.file("other.csv", "a,b\n1,2\n");
    let error = one(&other, &mapping()).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/not-recognised");
    assert!(error.to_string().contains("`test` wants the columns solver, result"), "{error}");

    let error =
        read(&[dir.file("g.csv", GOOD)], &[mapping(), Mapping { name: "twin".into(), ..mapping() }]).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/ambiguous");
    assert!(error.to_string().contains("`test`, `twin`"), "{error}");

    let error = failure("solver,benchmark,wall time,result\na,x,1,sat\n");
    assert_eq!((error.column.as_deref(), error.kind.mnemonic()), (Some("time"), "results/missing-column"));
    let text = error.to_string();
    assert!(text.contains("`wall time`") && text.contains("`benchmark`"), "{text}");
    let error = failure("solver,benchmark,time,tine,result\na,x,1,2,sat\n".replace("time", "tima"));
    assert!(error.to_string().contains("if `tima` is meant"), "{error}");
    let error = failure("solver,benchmark,time,time,result\na,x,1,2,sat\n");
    assert_eq!(error.kind.mnemonic(), "results/repeated-column");
    // Archives in which nothing is recognised.
    let error = one(&dir.file("t.tar", tar(&[("a.txt", b"text")])), &mapping()).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/not-recognised");
}

#[test]
fn faults_of_mappings() {
    let mut cases: Vec<(Mapping, &str)> = Vec::new();
    let mut m = mapping();
    m.key.push("nothing".into());
    cases.push((m, "`nothing`"));
    let mut m = mapping();
    m.columns[0].name = "benchmark".into();
    cases.push((m, "twice"));
    let mut m = mapping();
    m.columns[3].otherwise = Some("perhaps".into());
    cases.push((m, "`perhaps`"));
    let mut m = mapping();
    m.duplicates = Duplicates::Best { column: "answer".into(), greatest: true };
    cases.push((m, "not a number"));
    for (m, part) in cases {
        let error = failure_with(GOOD, &m);
        assert_eq!(error.kind.mnemonic(), "results/bad-mapping");
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// Enough rows for compressed data of some size.
fn big() -> String {
    let mut text = HEADER.to_string();
    for n in 0u32..2000 {
        text += &format!("s{},b{n},{}.{},sat\n", n % 7, n * 7919 % 1200, n * 104_729 % 100_000);
    }
    text
}

#[test]
fn truncated() {
    let dir = Dir::new();
    let big = big();
    for (name, bytes) in [
        ("t.gz", gz(big.as_bytes())),
        ("t.xz", xz(big.as_bytes())),
        ("t.zst", zst(big.as_bytes())),
        ("t.tar.gz", gz(&tar(&[("r.csv", big.as_bytes())]))),
        ("t.tar.zst", zst(&tar(&[("r.csv", big.as_bytes())]))),
    ] {
        let lengths = (1..60).chain((60..bytes.len()).step_by(371)).chain(bytes.len() - 60..bytes.len());
        for length in lengths {
            let error = one(&dir.file(name, &bytes[..length]), &mapping()).unwrap_err();
            if length > 20 {
                assert_eq!(error.kind.mnemonic(), "results/truncated", "{name} {length}: {error}");
            }
        }
    }
    let bytes = tar(&[("r.csv", GOOD.as_bytes()), ("s.csv", with("z,z,1,sat\n").as_bytes())]);
    for length in (512..bytes.len()).step_by(128) {
        let error = one(&dir.file("t.tar", &bytes[..length]), &mapping()).unwrap_err();
        assert_eq!(error.kind.mnemonic(), "results/truncated", "{length}: {error}");
    }
}

#[test]
fn flipped_bits() {
    let dir = Dir::new();
    let big = big();
    let whole = texts(&one(&dir.file("whole.csv", &big), &mapping()).unwrap());
    for (name, bytes) in [
        ("t.gz", gz(big.as_bytes())),
        ("t.xz", xz(big.as_bytes())),
        ("t.zst", zst(big.as_bytes())),
        ("t.tar.xz", xz(&tar(&[("r.csv", big.as_bytes())]))),
    ] {
        for at in (0..bytes.len()).step_by(bytes.len() / 150) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            // A few bits mean nothing, such as the time in a gzip header: then the table is the right one.
            match one(&dir.file(name, &damaged), &mapping()) {
                Ok(table) => assert!(at < 10 && texts(&table) == whole, "{name} {at}"),
                Err(e) => assert!(
                    at < 10 || matches!(*e.kind, ErrorKind::Corrupt { .. } | ErrorKind::Truncated { .. }),
                    "{name} {at}: {e}"
                ),
            }
        }
    }
    // A wrong byte under a valid frame: the checksum speaks before the unknown word does.
    let text = with("a,x,1,sat\nb,x,1,sat\n");
    let mut frame = zstd::stream::write::Encoder::new(Vec::new(), 0).unwrap();
    frame.include_checksum(true).unwrap();
    frame.write_all(text.as_bytes()).unwrap();
    let mut bytes = frame.finish().unwrap();
    let at = bytes.windows(3).position(|w| w == b"sat").unwrap();
    bytes[at] = b'c';
    let error = one(&dir.file("c.zst", bytes), &mapping()).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/corrupt", "{error}");
}

#[test]
fn duplicates() {
    let dir = Dir::new();
    let file = dir.file("r.csv", with("a,x,1,sat\nb,x,1,sat\na,x,2,unsat\na,x,0.5,unsat\n"));
    let rows = |duplicates: Duplicates| one(&file, &Mapping { duplicates, ..mapping() }).map(|t| texts(&t));
    let best = |greatest| Duplicates::Best { column: "wall_time".into(), greatest };
    assert_eq!(rows(Duplicates::First).unwrap()[0][2], "1");
    assert_eq!(rows(Duplicates::Last).unwrap()[1], ["a", "x", "0.5", "unsat"]);
    assert_eq!(rows(best(true)).unwrap()[1][2], "2");
    assert_eq!(rows(best(false)).unwrap()[1][2], "0.5");
    assert!(rows(Duplicates::Identical).unwrap_err().to_string().contains("not identical"));
    let error = rows(Duplicates::Error).unwrap_err();
    assert!(error.to_string().contains("entrant `a`, benchmark `x`"), "{error}");

    let file = dir.file("s.csv", with("a,x,1,sat\nb,x,1,sat\na,x,1,sat\n"));
    let rows = |duplicates: Duplicates| one(&file, &Mapping { duplicates, ..mapping() }).map(|t| texts(&t));
    assert_eq!(rows(Duplicates::Identical).unwrap().len(), 2);
    assert!(rows(best(true)).unwrap_err().to_string().contains("best value"));
    // Over two files, both are named.
    let more = dir.file("more.csv", with("c,x,1,sat\nb,x,1,sat\n"));
    let error = read(&[file, more], &[Mapping { key: mapping().key, ..mapping() }]).unwrap_err();
    assert_eq!(error.row, Some(4));
    let first = dir.file("first.csv", with("b,x,1,sat\n"));
    let error = read(&[first, dir.path("more.csv")], &[mapping()]).unwrap_err();
    let text = error.to_string();
    assert!(error.row == Some(3) && text.contains("more.csv, row 3") && text.contains("first.csv"), "{text}");
}

fn joined(file: JoinFile) -> Mapping {
    let mut m = mapping();
    m.joins.push(Join {
        optional: false,
        file,
        header: Header::Named,
        delimiter: b',',
        recognise: Recognise { columns: vec!["id".into(), "team".into()], ..Recognise::default() },
        on: vec![("solver".into(), "id".into())],
        columns: vec![
            ColumnRule::plain("team", "team", Kind::Text),
            ColumnRule::plain("competing", "competing", Kind::Bool),
        ],
    });
    m
}

const SOLVERS: &str = "id,team,competing\nb,beta,no\nc,gamma,no\na,alpha,yes\n";

#[test]
fn joins() {
    let dir = Dir::new();
    let results = dir.file("r.csv", GOOD);
    let beside = joined(JoinFile::Beside("solvers.csv".into()));
    let error = one(&results, &beside).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/no-joined-file");
    let solvers = dir.file("solvers.csv.xz", xz(SOLVERS.as_bytes()));
    let rows = texts(&one(&results, &beside).unwrap());
    assert_eq!(rows[0], ["a", "x", "1.5", "sat", "alpha", "yes"]);
    assert_eq!(rows[1], ["b", "x", "0.25", "unsat", "beta", "no"]);
    // Giving it as well changes nothing.
    let table = read(&[solvers.clone(), results.clone()], std::slice::from_ref(&beside)).unwrap().tables.remove(0).1;
    assert_eq!(texts(&table), rows);
    // The same through the given files, in any order.
    let given = joined(JoinFile::Given);
    for files in [[solvers.clone(), results.clone()], [results.clone(), solvers.clone()]] {
        let outcome = read(&files, std::slice::from_ref(&given)).unwrap();
        assert_eq!(texts(&outcome.tables[0].1), rows);
        assert_eq!(outcome.report.files.iter().filter(|f| f.role == FileRole::Joined).count(), 1);
    }
    // One file may serve several mappings.
    let mut others = joined(JoinFile::Given);
    others.recognise.columns.push("nothing".into());
    let outcome = read(&[solvers.clone(), results.clone()], &[others, given.clone()]).unwrap();
    assert_eq!(texts(&outcome.tables[0].1), rows);
    // The written table has the joined columns and needs the file no longer.
    let elsewhere = Dir::new();
    let canonical = elsewhere.path("c.csv");
    write_csv(&one(&results, &beside).unwrap(), &canonical).unwrap();
    assert_eq!(texts(&one(&canonical, &beside).unwrap()), rows);
    assert_eq!(read(&[solvers], std::slice::from_ref(&given)).unwrap_err().kind.mnemonic(), "results/no-results");
    assert_eq!(
        read(std::slice::from_ref(&results), std::slice::from_ref(&given)).unwrap_err().kind.mnemonic(),
        "results/no-joined-file"
    );

    let short = dir.file("short.csv", "id,team,competing\na,alpha,yes\n");
    let error = read(&[results.clone(), short], std::slice::from_ref(&given)).unwrap_err();
    assert_eq!((error.row, error.kind.mnemonic()), (Some(3), "results/no-joined-row"));
    assert!(error.to_string().contains("solver `b`"), "{error}");
    let double = dir.file("double.csv", format!("{SOLVERS}a,again,no\n"));
    let error = read(&[results.clone(), double], std::slice::from_ref(&given)).unwrap_err();
    assert_eq!((error.row, error.kind.mnemonic()), (Some(5), "results/duplicate-join-key"));
    assert!(error.to_string().contains("row 4 of"), "{error}");
    // Two conditions, one of them on a produced column.
    let mut two = given;
    two.joins[0].on.push(("answer".into(), "answer".into()));
    let file =
        dir.file("two.csv", "id,team,competing,answer\na,A,yes,sat\na,B,no,unknown\nb,C,no,unsat\nb,D,yes,sat\n");
    let outcome = read(&[results, file], &[two]).unwrap();
    let teams: Vec<String> = texts(&outcome.tables[0].1).into_iter().map(|r| r[4].clone()).collect();
    assert_eq!(teams, ["A", "C", "B", "D"]);
}

/// Rows without a row in an optional joined file have what its columns say of an empty cell, by one condition or two,
/// and whether the file lies beside the results or is given.
#[test]
fn optional_joins() {
    let dir = Dir::new();
    let results = dir.file("r.csv", GOOD);
    let optional = |file: JoinFile| {
        let mut m = joined(file);
        m.joins[0].optional = true;
        m.joins[0].columns[0].empty = Some("nobody".into());
        m.joins[0].columns[1].empty = Some("false".into());
        m.joins[0].columns.push(ColumnRule {
            empty: Some("2.5".into()),
            ..ColumnRule::plain("age", "age", Kind::Time { unit_ns: 1_000_000_000, negative: false })
        });
        m.joins[0]
            .columns
            .push(ColumnRule { empty: Some("1/3".into()), ..ColumnRule::plain("part", "part", Kind::Number) });
        m
    };
    let short = "id,team,competing,age,part\na,alpha,yes,7,2\n";
    let expected =
        [["a", "x", "1.5", "sat", "alpha", "yes", "7", "2"], ["b", "x", "0.25", "unsat", "nobody", "no", "2.5", "1/3"]];
    let given = dir.file("given.csv", short);
    let outcome = read(&[results.clone(), given.clone()], &[optional(JoinFile::Given)]).unwrap();
    assert_eq!(texts(&outcome.tables[0].1)[..2], expected);
    dir.file("solvers.csv", short);
    assert_eq!(texts(&one(&results, &optional(JoinFile::Beside("solvers.csv".into()))).unwrap())[..2], expected);
    // A file in which every row has one reads the same, and so does one without any row.
    let full = dir.file("full.csv", "id,team,competing,age,part\na,alpha,yes,7,2\nb,,,,\nc,,,,\n");
    let outcome = read(&[results.clone(), full], &[optional(JoinFile::Given)]).unwrap();
    assert_eq!(texts(&outcome.tables[0].1)[..2], expected);
    let none = dir.file("none.csv", "id,team,competing,age,part\n");
    let outcome = read(&[results.clone(), none], &[optional(JoinFile::Given)]).unwrap();
    assert!(texts(&outcome.tables[0].1).iter().all(|row| row[4..] == ["nobody", "no", "2.5", "1/3"]));
    // Two conditions, of which the first may hold alone.
    let mut two = optional(JoinFile::Given);
    two.joins[0].on.push(("answer".into(), "said".into()));
    let file = dir.file("two.csv", "id,team,competing,age,part,said\na,A,yes,7,2,sat\nb,B,no,7,2,sat\n");
    let outcome = read(&[results.clone(), file], &[two]).unwrap();
    assert_eq!(texts(&outcome.tables[0].1)[..2], [["a", "x", "1.5", "sat", "A", "yes", "7", "2"], expected[1]]);
    // A file that is not there is no optional row.
    let error = read(std::slice::from_ref(&results), &[optional(JoinFile::Given)]).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/no-joined-file");
    let mut silent = optional(JoinFile::Given);
    silent.joins[0].columns[1].empty = None;
    assert!(silent.flaw().is_some_and(|flaw| flaw.contains("`competing`") && flaw.contains("`empty`")));
    assert!(optional(JoinFile::Given).flaw().is_none());
}

#[test]
fn small_files() {
    let dir = Dir::new();
    let rows = read_csv_rows(&dir.file("s.csv.gz", gz(b"a,b\n1,\"x\ny\"\n2,z\n")), b',').unwrap();
    assert_eq!(rows.header, ["a", "b"]);
    assert_eq!(rows.rows[0].fields, ["1", "x\ny"]);
    assert_eq!((rows.rows[0].line, rows.rows[1].line), (2, 4));
    let error = read_csv_rows(&dir.file("t.csv", "a,b\n1\n"), b',').unwrap_err();
    assert_eq!((error.row, error.kind.mnemonic()), (Some(2), "results/field-count"));
}

#[test]
fn writing_leaves_nothing_behind() {
    let dir = Dir::new();
    let table = one(&dir.file("r.csv", GOOD), &mapping()).unwrap();
    let before = std::fs::read_dir(dir.0.path()).unwrap().count();
    assert!(write_csv(&table, &dir.path("missing/t.csv")).is_err());
    assert!(write_csv(&Table::new(3), &dir.path("t.csv")).is_err());
    assert!(write_csv(&table, dir.0.path()).is_err());
    assert!(write_parquet(&table, &[("agon.x".into(), String::new())], &dir.path("t.parquet")).is_err());
    let mut bad = Table::new(1);
    bad.set("n", Type::TEXT, Column::Symbol(Symbols::from_texts(["x"]))).unwrap();
    assert_eq!(std::fs::read_dir(dir.0.path()).unwrap().count(), before);
    write_csv(&table, &dir.path("t.csv")).unwrap();
    write_csv(&bad, &dir.path("t.csv")).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path("t.csv")).unwrap(), "n\nx\n");
}

#[test]
fn parquet_damage() {
    let dir = Dir::new();
    let table = one(&dir.file("r.csv", big()), &mapping()).unwrap();
    let path = dir.path("t.parquet");
    write_parquet(&table, &[("track".into(), "main".into())], &path).unwrap();
    let (back, metadata) = read_parquet(&path).unwrap();
    assert_eq!((texts(&back), metadata), (texts(&table), vec![("track".to_string(), "main".to_string())]));
    let bytes = std::fs::read(&path).unwrap();
    for length in (1..bytes.len()).step_by(97) {
        let error = read_parquet(&dir.file("cut.parquet", &bytes[..length])).unwrap_err();
        assert_eq!(error.kind.mnemonic(), "results/truncated", "{length}: {error}");
    }
    for at in (0..bytes.len()).step_by(41) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        match read_parquet(&dir.file("flip.parquet", &damaged)) {
            // Some of the footer is not used, such as the name of the program that wrote it.
            Ok((back, metadata)) => {
                assert!(texts(&back) == texts(&table) && metadata[0].1 == "main", "{at}");
            }
            Err(e) => drop(e.to_string()),
        }
    }
}

/// A file as other programs write it: with absent values, and seconds as binary fractions.
fn foreign(path: &Path) {
    foreign_with(path, parquet::basic::Compression::UNCOMPRESSED);
}

fn foreign_with(path: &Path, compression: parquet::basic::Compression) {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    let schema = "message m { required binary solver (UTF8); required int32 benchmark; optional double time; required binary result (UTF8); }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder().set_compression(compression).build();
    let properties = std::sync::Arc::new(properties);
    let mut writer = parquet::file::writer::SerializedFileWriter::new(file, schema, properties).unwrap();
    for at in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts = |a: &str, b: &str| [ByteArray::from(a.as_bytes().to_vec()), ByteArray::from(b.as_bytes().to_vec())];
        column.typed::<ByteArrayType>().write_batch(&texts("a", "b"), None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[7 + at, 7 + at], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[0.1], Some(&[1, 0]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts("sat", "unsat"), None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Compressed with what others use, or refused by the name of the compression: never called damaged.
#[test]
fn compressed_foreign_parquet() {
    use parquet::basic::Compression;
    let dir = Dir::new();
    let path = dir.path("f.parquet");
    let mut m = mapping();
    m.columns[2].empty = Some("1200".into());
    let all = [Compression::GZIP(Default::default()), Compression::LZ4, Compression::LZ4_RAW, Compression::SNAPPY];
    for compression in all {
        foreign_with(&path, compression);
        assert_eq!(texts(&one(&path, &m).unwrap())[3], ["b", "8", "1200", "unsat"], "{compression}");
    }
    // The place of the compression in the footer, after the path of the column: none becomes brotli.
    foreign(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    let place = b"\x19\x18\x06solver\x15\x00";
    let at = bytes.windows(place.len()).rposition(|w| w == place).unwrap();
    bytes[at + place.len() - 1] = 8;
    let error = one(&dir.file("brotli.parquet", &bytes), &m).unwrap_err();
    assert_eq!(error.kind.mnemonic(), "results/parquet-codec");
    assert!(error.to_string().contains("compressed with brotli") && error.to_string().contains("zstd"), "{error}");
    assert!(!decoding());
}

/// Bytes that nothing vouches for are named, as are members of archives that were passed over.
#[test]
fn notes() {
    let dir = Dir::new();
    let good = GOOD.as_bytes();
    let unchecked = zstd::stream::encode_all(good, 3).unwrap();
    // What a parallel compressor writes: an empty frame for its own use, then the content.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], &zst(good)[..]].concat();
    let path = dir.path("f.parquet");
    foreign(&path);
    let mut m = mapping();
    m.columns[2].empty = Some("1200".into());
    for (file, expected) in [
        (dir.file("plain.csv", good), None),
        (dir.file("a.gz", gz(good)), None),
        (dir.file("a.xz", xz(good)), None),
        (dir.file("a.zst", zst(good)), None),
        (dir.file("skip.zst", &skippable), None),
        (dir.file("b.zst", &unchecked), Some("b.zst: no checksum inside (zstd)")),
        (dir.file("skip2.zst", [&skippable[..11], &unchecked].concat()), Some("no checksum inside (zstd)")),
        (dir.file("a.tar", tar(&[("r.csv", good)])), Some("a.tar: no checksum inside (tar)")),
        (dir.file("b.tar.gz", gz(&tar(&[("r.csv", good)]))), None),
        (
            dir.file("c.tar.gz", gz(&tar(&[("r.csv", good), ("x/notes", b"n")]))),
            Some("1 of its members was not read, as no form recognises it: x/notes"),
        ),
        (path, Some("no checksum over the whole file")),
    ] {
        let outcome = read(std::slice::from_ref(&file), std::slice::from_ref(&m)).unwrap();
        let notes = outcome.report.notes();
        match expected {
            None => assert!(notes.is_empty(), "{notes:?}"),
            Some(text) => {
                let name = file.display().to_string();
                assert!(matches!(&notes[..], [n] if n.contains(text) && n.starts_with(&name)), "{text}: {notes:?}");
            }
        }
    }
    let many: Vec<String> = (0..9).map(|n| format!("n{n}.txt")).collect();
    let mut members: Vec<(&str, &[u8])> = many.iter().map(|n| (n.as_str(), &b"n"[..])).collect();
    members.push(("r.csv", good));
    let file = dir.file("many.tar.gz", gz(&tar(&members)));
    let notes = read(&[file], &[mapping()]).unwrap().report.notes();
    assert!(
        matches!(&notes[..], [n] if n.contains("9 of its members were not read") && n.ends_with("n4.txt and 4 more")),
        "{notes:?}"
    );
    // Results that lost their content are not the same as a file of another kind.
    let file = dir.file("lost.tar", tar(&[("r.csv", good), ("s.csv", b"")]));
    let error = read(&[file], &[mapping()]).unwrap_err();
    assert_eq!((error.member.as_deref(), error.kind.mnemonic()), (Some("s.csv"), "results/empty-file"));
}

/// Files are read more than once, and some have no end.
#[cfg(target_os = "linux")]
#[test]
fn devices_are_refused() {
    for path in ["/dev/zero", "/dev/null"] {
        let error = one(Path::new(path), &mapping()).unwrap_err();
        assert_eq!(error.kind.mnemonic(), "results/special-file", "{error}");
    }
}

/// Rows keep their places through joins, archives and settled duplicates.
#[test]
fn places() {
    let dir = Dir::new();
    let first = dir.file("1.csv", with("a,x,1,sat\na,x,1,sat\n\"b\",x,1,sat\n"));
    let second = dir.file("2.tar", tar(&[("deep/r.csv", with("a,y,1,sat\nb,y,1,sat\n").as_bytes())]));
    let third = dir.file("logics.csv", "name,logic\nx,QF_BV\ny,LIA\n");
    let mut m = mapping();
    m.duplicates = Duplicates::Identical;
    m.joins.push(Join {
        file: JoinFile::Given,
        header: Header::Named,
        delimiter: b',',
        recognise: Recognise { columns: vec!["name".into(), "logic".into()], ..Recognise::default() },
        optional: false,
        on: vec![("benchmark".into(), "name".into())],
        columns: vec![ColumnRule::plain("logic", "logic", Kind::Text)],
    });
    let outcome = read(&[first.clone(), second.clone(), third.clone()], &[m]).unwrap();
    let origins = &outcome.origins[0];
    let place = |row, column| origins.place(row, column).to_string();
    assert_eq!(outcome.tables[0].1.rows(), 4);
    assert_eq!(place(0, "answer"), format!("{}, row 2", first.display()));
    assert_eq!(place(1, "answer"), format!("{}, row 4", first.display()));
    assert_eq!(place(3, "answer"), format!("{} (deep/r.csv), row 3", second.display()));
    assert_eq!(place(3, "logic"), format!("{}, row 3", third.display()));
}

#[test]
fn foreign_parquet() {
    let dir = Dir::new();
    let path = dir.path("f.parquet");
    foreign(&path);
    let error = one(&path, &mapping()).unwrap_err();
    assert_eq!((error.row, error.kind.mnemonic()), (Some(2), "results/empty-cell"));
    assert!(read_parquet(&path).unwrap_err().to_string().contains("mapping"));
    let mut m = mapping();
    m.columns[2].empty = Some("1200".into());
    let rows = texts(&one(&path, &m).unwrap());
    assert_eq!(rows[0], ["a", "7", "0.1", "sat"]);
    assert_eq!(rows[3], ["b", "8", "1200", "unsat"]);
    let bytes = std::fs::read(&path).unwrap();
    for at in 4..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let _ = one(&dir.file("flip.parquet", &damaged), &m);
    }
}

fn number(dim: Dim, real: bool) -> Type {
    Type::Number { dim, real }
}

/// Any table: texts that need quotes, every type, any number of rows.
fn tables() -> impl Strategy<Value = Table> {
    let text = prop_oneof![
        "[a-c]{0,2}",
        "[\"',;\n\r\t é]{0,4}",
        Just("a \"quoted\" text, with\nlines".to_string()),
        any::<String>().prop_map(|s| s.replace('\0', "")),
    ];
    (0usize..20, 1usize..7)
        .prop_flat_map(move |(rows, columns)| {
            let texts = prop::collection::vec(text.clone(), rows);
            let column = prop_oneof![
                texts.prop_map(|t| (Type::TEXT, Column::Symbol(Symbols::from_texts(t)))),
                prop::collection::vec(prop_oneof![Just("sat"), Just("a,b"), Just("")], rows)
                    .prop_map(|t| (Type::words(["sat", "a,b", ""]), Column::Symbol(Symbols::from_texts(t)))),
                prop::collection::vec(any::<bool>(), rows).prop_map(|v| (Type::Bool, Column::Bool(v))),
                (
                    prop::collection::vec(any::<i64>(), rows),
                    prop_oneof![Just(Dim::NONE), Just(Dim::TIME), Just(Dim::MEMORY)]
                )
                    .prop_map(|(v, dim)| (number(dim, false), Column::Int(v))),
                (
                    prop::collection::vec((any::<i64>(), 1i64..1000), rows),
                    prop_oneof![Just(Dim::NONE), Just(Dim::TIME)]
                )
                    .prop_map(|(v, dim)| {
                        let v = v.into_iter().map(|(n, d)| Exact::ratio(n.into(), d.into()).unwrap()).collect();
                        (number(dim, false), Column::from_exact(v))
                    }),
                (prop::collection::vec(prop::num::f64::NORMAL, rows), prop_oneof![Just(Dim::NONE), Just(Dim::TIME)])
                    .prop_map(|(v, dim)| (number(dim, true), Column::Real(v))),
            ];
            (Just(rows), prop::collection::vec((column, text.clone()), columns))
        })
        .prop_map(|(rows, columns)| {
            let mut table = Table::new(rows);
            for (at, ((ty, column), name)) in columns.into_iter().enumerate() {
                table.set(&format!("{name}{at}"), ty, column).unwrap();
            }
            table
        })
}

fn assert_same(a: &Table, b: &Table) {
    assert_eq!(a.schema().collect::<Vec<_>>(), b.schema().collect::<Vec<_>>());
    assert_eq!(a.rows(), b.rows());
    for name in a.names() {
        for row in 0..a.rows() {
            assert_eq!(a.column(name).unwrap().value(row), b.column(name).unwrap().value(row), "{name} {row}");
        }
    }
}

proptest! {
    #[test]
    fn csv_round_trip(table in tables()) {
        let dir = Dir::new();
        let path = dir.path("t.csv");
        write_csv(&table, &path).unwrap();
        let back = one(&path, &Mapping::canonical("round trip", table.schema()));
        match back {
            Ok(back) => assert_same(&table, &back),
            Err(e) => prop_assert!(false, "{}", e),
        }
    }

    #[test]
    fn parquet_round_trip(table in tables(), key in "[a-z]{1,5}", value in any::<String>()) {
        let dir = Dir::new();
        let path = dir.path("t.parquet");
        let metadata = vec![(key, value)];
        write_parquet(&table, &metadata, &path).unwrap();
        match read_parquet(&path) {
            Ok((back, found)) => {
                assert_same(&table, &back);
                prop_assert_eq!(found, metadata);
            }
            Err(e) => prop_assert!(false, "{}", e),
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), prefix in 0usize..6) {
        let dir = Dir::new();
        let start: &[u8] = [&b""[..], b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PAR1", HEADER.as_bytes()][prefix];
        let _ = one(&dir.file("r", [start, &bytes].concat()), &mapping()).map_err(|e| e.to_string());
    }

    #[test]
    fn mutations_never_panic(at in 0usize..140, byte: u8, insert: bool, form in 0usize..5) {
        let dir = Dir::new();
        let good = GOOD.replace("a,x", "\"a\",\"x\"");
        let good = good.as_bytes();
        let mut bytes = match form {
            0 => good.to_vec(),
            1 => gz(good),
            2 => xz(good),
            3 => zst(good),
            _ => tar(&[("r.csv", good)]),
        };
        let at = at % bytes.len();
        if insert { bytes.insert(at, byte) } else { bytes[at] = byte }
        let _ = one(&dir.file("r", bytes), &mapping()).map_err(|e| e.to_string());
    }

    #[test]
    fn no_table_from_a_truncated_stream(cut in 1usize..200, rows in 1usize..200, form in 0usize..5) {
        let dir = Dir::new();
        let text: String = (0..rows).map(|n| format!("s{n},b,{n}.5,sat\n")).collect();
        let text = with(&text);
        let text = text.as_bytes();
        let bytes = match form {
            0 => gz(text),
            1 => xz(text),
            2 => zst(text),
            3 => gz(&tar(&[("r.csv", text)])),
            _ => [gz(text), gz(b"x,b,1,sat\n")].concat(),
        };
        let first_frame = gz(text).len();
        let length = bytes.len().saturating_sub(cut);
        // Whole frames are a whole file.
        prop_assume!(form != 4 || length != first_frame);
        prop_assert!(one(&dir.file("r", &bytes[..length]), &mapping()).is_err());
    }

    /// The splitter against a slow reading of the same rules.
    #[test]
    fn splitting(rows in prop::collection::vec(prop::collection::vec("[a\",\n\r é]{0,5}", 3), 1..30), crlf: bool, quoted in any::<u8>()) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = format!("a,b,c{end}");
        let mut line = 2;
        let mut lines = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            lines.push(line);
            let fields: Vec<String> = row.iter().map(|f| {
                let needed = f.contains(['"', ',', '\n', '\r']);
                if needed || quoted >> (at % 8) & 1 == 1 { format!("\"{}\"", f.replace('"', "\"\"")) } else { f.clone() }
            }).collect();
            let row = fields.join(",");
            line += 1 + row.matches('\n').count() as u64;
            text += &row;
            text += end;
        }
        let mut input = input::Input::over_bytes(text.as_bytes());
        let read = read::csv_rows(&mut input, b',').unwrap();
        let fields: Vec<Vec<String>> = read.rows.iter().map(|r| r.fields.clone()).collect();
        prop_assert_eq!(fields, rows);
        let found: Vec<u64> = read.rows.iter().map(|r| r.line).collect();
        prop_assert_eq!(found, lines);
    }
}

/// The directory of the archives.
fn archive() -> PathBuf {
    let root = std::env::var_os("AGON_ARCHIVE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    root.join("archive")
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn archive_2022() {
    let m = Mapping {
        recognise: Recognise { columns: vec!["wallclock_time".into()], ..Recognise::default() },
        columns: vec![
            ColumnRule::plain("entrant", "configuration_id", Kind::Text),
            ColumnRule::plain("benchmark", "benchmark", Kind::Text),
            ColumnRule::plain("wall_time", "wallclock_time", Kind::Time { unit_ns: 1_000_000_000, negative: false }),
        ],
        ..mapping()
    };
    let file = archive().join("smt-comp-2022/results-single-query.csv.zst");
    let outcome = read(&[file], &[m]).unwrap();
    let table = &outcome.tables[0].1;
    assert_eq!(table.rows(), 658_873);
    assert_eq!(table.column("entrant").unwrap().as_symbols().unwrap().dict.len(), 37);
    assert_eq!(table.column("benchmark").unwrap().as_symbols().unwrap().dict.len(), 93_791);
    assert!(outcome.report.files[0].checked);
    let dir = Dir::new();
    let path = dir.path("t.parquet");
    write_parquet(table, &[], &path).unwrap();
    assert_same(table, &read_parquet(&path).unwrap().0);
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn archive_2014() {
    let m = Mapping {
        recognise: Recognise { columns: vec!["pair_id".into()], ..Recognise::default() },
        columns: vec![
            ColumnRule::plain("solver_id", "solver_id", Kind::Text),
            ColumnRule::plain("configuration_id", "configuration_id", Kind::Text),
            ColumnRule::plain("benchmark", "benchmark", Kind::Text),
            ColumnRule::plain("wall_time", "wall_time", Kind::Time { unit_ns: 1_000_000_000, negative: false }),
        ],
        joins: vec![Join {
            optional: false,
            file: JoinFile::Beside("solvers.csv".into()),
            header: Header::Named,
            delimiter: b',',
            recognise: Recognise::default(),
            on: ["solver_id", "configuration_id"].map(|n| (n.to_string(), n.to_string())).to_vec(),
            columns: vec![ColumnRule::plain("entrant", "name", Kind::Text)],
        }],
        key: vec!["entrant".into(), "benchmark".into()],
        ..mapping()
    };
    let file = archive().join("smt-comp-2014/results-main.csv.xz");
    let table = one(&file, &m).unwrap();
    assert_eq!(table.rows(), 347_147);
}
