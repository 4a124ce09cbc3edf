//! Times formulas on a table of the size of a whole competition: `cargo run --release -p agon-formula --example speed`.
//!
//! Prints nanoseconds a row, the best of several runs, with the partitions of the table already there.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::Instant;

use agon_formula::{Scope, compile};
use agon_table::{Column, Symbols, Table, Type};

const ROWS: usize = 658_873;

const FORMULAS: &[&str] = &[
    "if(wall > 1200 s, 0, if(answer != unknown and (status == unknown or answer == status), 1, 0))",
    "wall <= 1200 s and answer in [sat, unsat]",
    "wall > 1200 s",
    "answer != unknown",
    "answer == status",
    "if(wall > 1200 s, 0, correct)",
    "wall + cpu",
    "correct * 3 - 1",
    "floor(wall / 1 s)",
    "wall / cpu else 0",
    "log10(correct + 1 else 0)",
    "sum(correct per entrant, division)",
    "sum(correct where answer == sat per entrant, division)",
    "count(wall > 20 s per division)",
    "sum(if(correct > 0, wall, 2 * 1200 s) per entrant, division)",
    "max(correct of other entrant per division, benchmark else 0)",
    "sum(correct of other entrant per division, benchmark)",
    "min(wall where correct > 0 per benchmark else 1200 s)",
    "sum(max(correct per benchmark) once benchmark per division)",
    "mean(wall per entrant)",
    "median(wall per benchmark)",
    "first(entrant by wall per benchmark)",
    "place(by correct desc, wall per benchmark)",
    "distinct(benchmark where correct > 0 per division)",
];

fn table() -> Table {
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let words = ["sat", "unsat", "unknown"];
    let mut pick = |n: u64| -> Vec<u64> { (0..ROWS).map(|_| next(n)).collect() };
    let symbols =
        |name: &str, values: &[u64]| Column::Symbol(Symbols::from_texts(values.iter().map(|v| format!("{name}{v}"))));
    let answers = |values: &[u64]| Column::Symbol(Symbols::from_texts(values.iter().map(|v| words[*v as usize])));
    let ints = |values: Vec<u64>| Column::Int(values.into_iter().map(|v| v as i64).collect());
    // Rows come benchmark by benchmark, as result files have them.
    let benchmarks: Vec<u64> = (0..ROWS as u64).map(|row| row / 25).collect();
    let divisions: Vec<u64> = benchmarks.iter().map(|b| b % 20).collect();
    let mut t = Table::new(ROWS);
    let mut set = |name: &str, ty: Type, column: Column| t.set(name, ty, column).expect("the lengths agree");
    set("entrant", Type::TEXT, symbols("e", &pick(40)));
    set("benchmark", Type::TEXT, symbols("b", &benchmarks));
    set("division", Type::TEXT, symbols("d", &divisions));
    set("answer", Type::words(words), answers(&pick(3)));
    set("status", Type::words(words), answers(&pick(3)));
    set("wall", Type::TIME, ints(pick(1_500_000_000_000)));
    set("cpu", Type::TIME, ints(pick(1_500_000_000_000)));
    set("correct", Type::NUMBER, ints(pick(2)));
    t
}

fn main() {
    let table = table();
    let scope = Scope::of(&table);
    for source in FORMULAS {
        let formula = match compile(source, &scope) {
            Ok(formula) => formula,
            Err(errors) => {
                for error in errors {
                    println!("{source}: {error}");
                }
                continue;
            }
        };
        let mut best = f64::INFINITY;
        for _ in 0..7 {
            let start = Instant::now();
            let column = formula.eval(&table).expect("it has a value");
            best = best.min(start.elapsed().as_secs_f64());
            assert_eq!(column.len(), ROWS);
        }
        println!("{:8.2} ns/row  {source}", best * 1e9 / ROWS as f64);
    }
}
