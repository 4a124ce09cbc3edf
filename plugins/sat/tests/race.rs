//! The benchmarks of the demonstration races are what their index files say.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use agon_sat::aiger::{self, Value};
use agon_sat::input::Bytes;
use agon_sat::judging::{Parameters, check_benchmark};

fn rows(set: &str) -> Vec<BTreeMap<String, String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/race").join(format!("{set}.csv"));
    let mut reader = csv::Reader::from_path(path).expect("the index is there");
    reader.deserialize().map(|row| row.expect("the index is well-formed")).collect()
}

fn open(row: &BTreeMap<String, String>) -> Bytes<'static> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/race").join(&row["path"]);
    Bytes::new(File::open(path).expect("the file is there")).expect("it begins")
}

#[test]
fn all_are_benchmarks_of_the_track() {
    for (set, count) in [("cnf", 28), ("aig", 6)] {
        let rows = rows(set);
        assert_eq!(rows.len(), count);
        for row in &rows {
            check_benchmark(open(row), &Parameters::default()).unwrap_or_else(|e| panic!("{}: {e}", row["path"]));
            assert!(["sat", "unsat"].contains(&row["status"].as_str()), "{}", row["path"]);
        }
        assert!(rows.iter().any(|r| r["status"] == "sat") && rows.iter().any(|r| r["status"] == "unsat"));
    }
}

#[test]
fn small_circuits_have_their_status() {
    let mut seen = 0;
    for row in rows("aig") {
        let circuit = aiger::read(&mut open(&row)).expect("it is read");
        let inputs = circuit.inputs.len();
        if inputs > 16 {
            continue;
        }
        let satisfiable = (0_u32..1 << inputs).any(|bits| {
            let values: Vec<Value> =
                (0..inputs).map(|n| if bits >> n & 1 == 1 { Value::One } else { Value::Zero }).collect();
            circuit.evaluate(&values).of(circuit.outputs[0]) == Value::One
        });
        assert_eq!(if satisfiable { "sat" } else { "unsat" }, row["status"], "{}", row["path"]);
        seen += 1;
    }
    assert_eq!(seen, 5);
}
