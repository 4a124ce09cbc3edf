//! A fixed sample of what the long run goes through.

use agon_fuzz::{Fuzzer, TARGETS};

#[test]
fn a_sample_of_every_target() {
    let fuzzer = Fuzzer::new();
    for target in TARGETS {
        let count = if matches!(target, "edition" | "journal") { 300 } else { 3000 };
        for number in 0..count {
            if let Err(finding) = fuzzer.run(target, number) {
                panic!("{finding}");
            }
        }
    }
}
