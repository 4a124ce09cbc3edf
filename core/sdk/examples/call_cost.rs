//! What a call of a plugin in this process costs: `cargo run --release -p agon-sdk --example call_cost`.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use agon_sdk::hosting::Plugin;
use agon_sdk::prelude::*;
use agon_sdk::values;

struct First;

#[derive(serde::Deserialize)]
struct Nothing {}

impl Track for First {
    const ID: &'static str = "first";
    const VERSION: &'static str = "1";
    type Params = Nothing;

    fn describe() -> Description {
        Description::new("The first line.")
            .field(Field::words("answer", ["sat", "unsat", "unknown"], "The answer."))
            .field(Field::words("status", ["sat", "unsat", "unknown"], "The status."))
    }

    fn open(_: Nothing) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn judge(&self, job: &Job<'_>, run: &Observation<'_>, out: &Verdict<'_>) -> Result<(), Fault> {
        let mut lines = run.stdout.unwrap_or(Reader::EMPTY).lines();
        let answer = match lines.next(16)? {
            Some(line) if line.bytes == b"sat" => "sat",
            _ => "unknown",
        };
        out.word("status", job.benchmark.statuses.first().copied().unwrap_or("unknown"))?;
        out.verdict(answer, Soundness::Agrees, Condition::of(run), Blame::of(run))
    }
}

agon_sdk::export!(First);

fn main() {
    const CALLS: u32 = 500_000;
    let track =
        Plugin::linked(&AGON_PLUGIN).and_then(|p| p.open("{}").map_err(|e| agon_sdk::hosting::Refusal(e.message)));
    let track = match track {
        Ok(track) => track,
        Err(refusal) => {
            println!("{refusal}");
            return;
        }
    };
    let job = values::Job::new(values::Benchmark::new("b", "(check-sat)").expecting(["sat"]));
    let run = values::Observation::finished(0, "sat\n");
    let begin = Instant::now();
    let right = (0..CALLS).filter(|_| track.judge(&job, &run).is_ok_and(|j| j.answer == "sat")).count();
    println!("{} ns a call, {right} of {CALLS} judged", begin.elapsed().as_nanos() / u128::from(CALLS));
}
