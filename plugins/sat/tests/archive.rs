//! Real formulas, circuits and solver outputs, each against its index.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use agon_judging::Answer;
use agon_judging::{Condition, Run, Soundness};
use agon_sat::aiger::{self, Circuit, Value};
use agon_sat::answer::{Claim, Spaces, read};
use agon_sat::checker::{Outcome, outcome};
use agon_sat::dimacs::{self, Formula};
use agon_sat::input::{Bytes, InputError};
use agon_sat::judge;
use agon_sat::judging::{Certificate, Checked, Decides, Parameters, Reason};
use agon_sat::model::{Allowed, Check, check_circuit, check_formula};

const PLAIN: Allowed = Allowed { partial: true, repeated: false, foreign: false };

fn archive() -> PathBuf {
    std::env::var_os("AGON_ARCHIVE").expect("AGON_ARCHIVE names the archive").into()
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("the index is there");
    reader.deserialize().map(|row| row.expect("the index is well-formed")).collect()
}

fn formula(path: &Path) -> Result<Formula, InputError> {
    let mut formula = Formula::default();
    dimacs::read(&mut Bytes::new(File::open(path).expect("the file is there"))?, &mut formula)?;
    Ok(formula)
}

fn circuit(path: &Path) -> Result<Circuit, InputError> {
    aiger::read(&mut Bytes::new(File::open(path).expect("the file is there"))?)
}

/// A model, or `None` if there is none: the plainest search that there is, with unit propagation. `Err` if it takes long.
fn search(formula: &Formula) -> Result<Option<Vec<i32>>, ()> {
    let mut values = vec![0_i8; formula.variables as usize + 1];
    let of = |values: &[i8], l: i32| values[l.unsigned_abs() as usize] * if l < 0 { -1 } else { 1 };
    // The trail, and for each decision where it stands in the trail.
    let (mut trail, mut decisions): (Vec<i32>, Vec<usize>) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let mut conflict = false;
        loop {
            let mut unit = None;
            for clause in &formula.clauses {
                if clause.iter().any(|l| of(&values, *l) > 0) {
                    continue;
                }
                let mut free: Vec<i32> = clause.iter().copied().filter(|l| of(&values, *l) == 0).collect();
                free.dedup();
                match free.as_slice() {
                    [] => conflict = true,
                    [only] => unit = Some(*only),
                    _ => continue,
                }
                break;
            }
            match unit {
                Some(l) if !conflict => {
                    values[l.unsigned_abs() as usize] = if l < 0 { -1 } else { 1 };
                    trail.push(l);
                }
                _ => break,
            }
        }
        let next = if conflict {
            let Some(at) = decisions.pop() else { return Ok(None) };
            let decision = trail[at];
            for l in trail.drain(at..) {
                values[l.unsigned_abs() as usize] = 0;
            }
            -decision
        } else {
            let open = formula.clauses.iter().find(|c| c.iter().all(|l| of(&values, *l) <= 0));
            let Some(l) = open.and_then(|c| c.iter().copied().find(|l| of(&values, *l) == 0)) else {
                return Ok(Some(trail));
            };
            decisions.push(trail.len());
            l
        };
        values[next.unsigned_abs() as usize] = if next < 0 { -1 } else { 1 };
        trail.push(next);
    }
    Err(())
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn every_formula_is_read_as_its_index_says() {
    let folder = archive().join("benchmarks/cnf");
    let (mut read, mut solved) = (0, 0);
    for row in rows(&folder.join("index.csv")) {
        let path = folder.join(&row["file"]);
        let formula = formula(&path).unwrap_or_else(|e| panic!("{}: {e}", row["file"]));
        assert_eq!(formula.variables.to_string(), row["variables"], "{}", row["file"]);
        assert_eq!(formula.clauses.len().to_string(), row["clauses"], "{}", row["file"]);
        read += 1;
        if formula.clauses.len() > 700 {
            continue;
        }
        let Ok(found) = search(&formula) else { continue };
        assert_eq!(if found.is_some() { "sat" } else { "unsat" }, row["status"], "{}", row["file"]);
        solved += 1;
        if let Some(mut model) = found {
            let check = |model: &[i32]| {
                let file = File::open(&path).expect("the file is there");
                check_formula(&mut Bytes::new(file).expect("it begins"), model, PLAIN).expect("it is read")
            };
            assert_eq!(check(&model), Check::Verified, "{}", row["file"]);
            // Turning literals round one by one makes a clause false before long, or every clause has another true literal.
            for n in 0..model.len() {
                model[n] = -model[n];
                let satisfied = formula.clauses.iter().all(|c| c.iter().any(|l| model.contains(l)));
                assert_eq!(check(&model) == Check::Verified, satisfied, "{} {n}", row["file"]);
                model[n] = -model[n];
            }
        }
    }
    assert_eq!(read, 109);
    assert!(solved > 60, "{solved}");
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn faulty_formulas_have_the_outcome_of_their_index() {
    let folder = archive().join("benchmarks/cnf-malformed");
    let rows = rows(&folder.join("index.csv"));
    assert_eq!(rows.len(), 37);
    for row in rows {
        let accepted = match row["source_expectation"].as_str() {
            "accepted" | "error only when pedantic" | "extra spaces and line breaks in the header" => true,
            "always an error"
            | "error unless relaxed"
            | "header promises more clauses than the file has"
            | "literal above the header maximum" => false,
            text if text.starts_with("SATLIB original") => true,
            other => panic!("{other}"),
        };
        match formula(&folder.join(&row["file"])) {
            Ok(_) => assert!(accepted, "{} is accepted", row["file"]),
            Err(InputError::Malformed(m)) => {
                assert!(!accepted, "{}: {m}", row["file"]);
                assert!(m.line >= 1 && m.column >= 1, "{}: {m}", row["file"]);
            }
            Err(other) => panic!("{}: {other}", row["file"]),
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn every_circuit_is_read_as_its_index_says() {
    let folder = archive().join("benchmarks/aig");
    let rows = rows(&folder.join("index.csv"));
    assert_eq!(rows.len(), 27);
    for row in rows {
        let name = &row["file"];
        let header = std::fs::read(folder.join(name)).expect("the file is there");
        let header = header.split(|b| *b == b'\n').next().unwrap_or_default();
        if header.split(|b| *b == b' ').count() > 6 {
            // A header of AIGER 1.9, later than the format that the rules name: refused, and no problem by the index either.
            assert!(matches!(circuit(&folder.join(name)), Err(InputError::Malformed(m)) if m.line == 1), "{name}");
            assert_eq!(row["sat_problem"], "no", "{name}");
            continue;
        }
        let circuit = circuit(&folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let numbers = [
            u64::from(circuit.maximum),
            circuit.inputs.len() as u64,
            circuit.latches.len() as u64,
            circuit.outputs.len() as u64,
            circuit.size() as u64,
        ];
        assert_eq!(numbers.map(|n| n.to_string()), ["M", "I", "L", "O", "A"].map(|c| row[c].clone()), "{name}");
        assert_eq!(circuit.problem().is_ok(), row["sat_problem"] == "yes", "{name}");
        if circuit.problem().is_err() {
            continue;
        }
        // All assignments of a small circuit; of a large one a sample, which no unsatisfiable one may pass.
        let inputs = circuit.inputs.len();
        let all = inputs <= 8;
        let mut state = 1_u64;
        let mut satisfied = false;
        for number in 0..if all { 1_u64 << inputs } else { 300 } {
            let values: Vec<Value> = (0..inputs)
                .map(|n| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let bit = if all { number >> n & 1 } else { state >> 63 };
                    if bit == 1 { Value::One } else { Value::Zero }
                })
                .collect();
            let output = circuit.evaluate(&values).of(circuit.outputs[0]) == Value::One;
            let sign = |v: &Value, n: u32| if *v == Value::One { n as i32 } else { -(n as i32) };
            let literals: Vec<i32> = values.iter().zip(&circuit.inputs).map(|(v, n)| sign(v, *n)).collect();
            assert_eq!(check_circuit(&circuit, &literals, PLAIN) == Check::Verified, output, "{name}");
            satisfied |= output;
        }
        assert!(!satisfied || row["status"] == "sat", "{name}");
        assert!(!all || satisfied == (row["status"] == "sat"), "{name}");
        // The other format holds the same circuit.
        let again =
            aiger::read(&mut Bytes::new(circuit.to_binary().as_slice()).expect("from memory")).expect("it is read");
        assert_eq!(again.to_binary(), circuit.to_binary(), "{name}");
        if name.ends_with(".aig") {
            assert_eq!(
                std::fs::read(folder.join(name)).map(|f| f.starts_with(&circuit.to_binary())).ok(),
                Some(true),
                "{name}"
            );
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn faulty_circuits_are_refused() {
    let folder = archive().join("benchmarks/aig-malformed");
    let rows = rows(&folder.join("index.csv"));
    assert_eq!(rows.len(), 20);
    for row in rows {
        match circuit(&folder.join(&row["file"])) {
            Err(InputError::Malformed(m)) => assert!(m.line >= 1 && m.column >= 1, "{}: {m}", row["file"]),
            other => panic!("{} ({}) gives {other:?}", row["file"], row["defect"]),
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn outputs_of_real_solvers() {
    let folder = archive().join("solver-outputs/sat");
    let exits = std::fs::read_to_string(folder.join("exits.txt")).expect("it is there");
    let mut seen = 0;
    for line in exits.lines() {
        let [instance, solver, code] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let output = std::fs::read(folder.join(format!("{instance}.{solver}.out"))).expect("it is there");
        let reading = read(&output, false, Spaces::Strict);
        let run = Run { exit: code.parse().ok(), ..Run::default() };
        let benchmark = folder.join(format!("{instance}.cnf"));
        let of = |p: &Parameters| {
            let open = || Bytes::new(File::open(&benchmark).expect("it is there"));
            let status = if instance == "php55" { "sat" } else { "unsat" };
            judge(&run, &reading, open, &[status], p).expect("it is judged")
        };
        let v = of(&Parameters::default());
        let (answer, certificate) =
            if instance == "php55" { (Answer::Sat, Checked::Verified) } else { (Answer::Unsat, Checked::None) };
        if solver.starts_with("minisat") {
            // It prints `SATISFIABLE` without `s ` and writes the model to a file: only its exit code conforms.
            assert_eq!(reading.claim, Claim::None);
            assert_eq!(
                (v.answer, v.reason, v.condition),
                (Answer::Unknown, Reason::ExitCode, Condition::MalformedOutput)
            );
            let lenient =
                Parameters { decides: Decides::ExitCode, model: Certificate::Optional, ..Parameters::default() };
            assert_eq!((of(&lenient).answer, of(&lenient).certificate), (answer, Checked::None));
        } else {
            assert_eq!((v.answer, v.certificate, v.condition), (answer, certificate, Condition::Finished), "{line}");
            assert_eq!(v.soundness, Soundness::Agrees, "{line}");
            // Clasp and cryptominisat print comment lines without a space, or none at all.
            assert_eq!(v.remarks, Vec::<String>::new(), "{line}");
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn outputs_of_proof_checkers() {
    let folder = archive().join("solver-outputs/sat");
    let checks = std::fs::read_to_string(folder.join("checks.txt")).expect("it is there");
    let mut seen = 0;
    for line in checks.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(name), Some(code), Some(text)) = (words.next(), words.next(), words.next()) else { panic!("{line}") };
        let suffix = if name.ends_with(".lrat") { "-check.out" } else { ".drat-trim.out" };
        let path = folder.join(format!("{name}{suffix}"));
        let path = if path.exists() {
            path
        } else {
            folder.join(format!("{}.lrat-check.out", name.trim_end_matches(".lrat")))
        };
        let output = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let run = Run { exit: code.parse().ok(), ..Run::default() };
        let expected = if code == "0" { Outcome::Verified } else { Outcome::Refuted };
        assert_eq!(outcome(&output, &run), expected, "{line}");
        assert!(text.contains(if code == "0" { "VERIFIED" } else { "" }), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 16);
}
