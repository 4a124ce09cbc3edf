//! What a run can do, sees and gets, with the isolation this machine has and with less.

mod common;

use common::{Bench, KINDS, shell, text};

#[test]
fn a_program_runs() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let seen = bench.run(&shell("echo out; echo err >&2; exit 3"));
        assert_eq!(seen.exit, Some(3), "{kind:?} {seen:?}");
        assert_eq!(text(&seen.stdout), "out\n");
        assert_eq!(text(&seen.stderr), "err\n");
        assert_eq!(seen.limit, None);
        eprintln!("{kind:?} {seen:#?}");
    }
}
