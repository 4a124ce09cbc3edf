//! Dialogues: steps in order, each timed, with programs that answer, that do not, and that end.

mod common;

use std::time::Duration;

use agon_execute::{Answer, Job, Limit, Script, Step, StepOutcome};
use common::{Bench, KINDS, Kind, shell, text};

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

fn expect(name: &str, answer: Answer, milliseconds: u64) -> Step {
    Step::Expect { name: name.to_string(), answer, wall: Some(Duration::from_millis(milliseconds)) }
}

/// A program that answers `(check-sat)` after some work, and `(get-model)` with a list.
fn solver() -> Job {
    shell(
        "n=0; while read line; do case $line in \
         *check-sat*) n=$((n+1)); i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; [ $n = 3 ] && sleep 60; echo sat;; \
         *get-model*) echo '((define-fun'; sleep 0.05; echo ' x () Int 1))';; \
         *exit*) echo bye >&2; exit 4;; \
         esac; done; echo left",
    )
}

#[test]
fn answers_are_told_apart_and_timed() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        let mut job = solver();
        job.script = Some(Script {
            steps: vec![
                send("(assert true)\n(check-sat)\n"),
                expect("first", Answer::Expression, 5000),
                send("(check-sat)\n(get-model)\n"),
                expect("second", Answer::Line, 5000),
                expect("model", Answer::Expression, 5000),
                send("(exit)\n"),
            ],
            go_on: false,
        });
        let seen = bench.run(&job);
        assert_eq!((seen.exit, seen.limit), (Some(4), None), "{kind:?} {seen:?}");
        let answers: Vec<_> = seen
            .steps
            .iter()
            .map(|step| (step.name.as_str(), String::from_utf8_lossy(&step.response).into_owned()))
            .collect();
        assert_eq!(
            answers,
            [
                ("first", "sat".to_string()),
                ("second", "sat".to_string()),
                ("model", "((define-fun\n x () Int 1))".to_string())
            ]
        );
        let mut last = 0;
        let mut cpu = 0;
        for step in &seen.steps {
            assert_eq!(step.outcome, StepOutcome::Answered);
            assert!(last <= step.sent_ns && step.sent_ns <= step.answered_ns);
            last = step.answered_ns;
            if let Some(now) = step.cpu_ns {
                assert!(cpu <= now && now <= seen.cpu_ns + 5_000_000, "{seen:?}");
                cpu = now;
            }
        }
        assert_eq!(cpu > 0, seen.mechanisms.cpu == "control group");
        assert!(last <= seen.wall_ns);
        assert_eq!(text(&seen.stderr), "bye\n");
    }
}

#[test]
fn an_answer_that_does_not_come_ends_the_run_or_not() {
    let bench = Bench::new(Kind::Best);
    let steps = vec![
        send("(check-sat)\n(check-sat)\n"),
        expect("1", Answer::Line, 5000),
        expect("2", Answer::Line, 5000),
        send("(check-sat)\n"),
        expect("3", Answer::Line, 300),
        expect("4", Answer::Line, 100),
    ];
    for go_on in [false, true] {
        let mut job = solver();
        job.limits.wall = Some(Duration::from_secs(3));
        job.script = Some(Script { steps: steps.clone(), go_on });
        let seen = bench.run(&job);
        let outcomes: Vec<_> = seen.steps.iter().map(|step| step.outcome).collect();
        let mut expected = vec![StepOutcome::Answered, StepOutcome::Answered, StepOutcome::TimedOut];
        if go_on {
            expected.push(StepOutcome::TimedOut);
        }
        assert_eq!(outcomes, expected);
        assert_eq!(seen.limit, Some(Limit::Wall));
        assert_eq!(seen.wall_ns >= 3_000_000_000, go_on);
        assert!(seen.steps[2].answered_ns - seen.steps[2].sent_ns >= 300_000_000);
    }
}

#[test]
fn a_program_that_ends_or_reads_nothing_ends_the_dialogue() {
    let bench = Bench::new(Kind::Best);
    // Ends without an answer.
    let mut job = shell("exit 3");
    job.script = Some(Script {
        steps: vec![send("(check-sat)\n"), expect("1", Answer::Line, 5000), expect("2", Answer::Line, 1)],
        go_on: true,
    });
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(3), None));
    assert_eq!(seen.steps.len(), 1);
    assert_eq!(seen.steps[0].outcome, StepOutcome::Ended);
    // The last answer has no end of line.
    job = shell("printf unsat");
    job.script = Some(Script { steps: vec![expect("1", Answer::Line, 5000)], go_on: false });
    let seen = bench.run(&job);
    assert_eq!(seen.steps[0].response, b"unsat");
    assert_eq!(seen.exit, Some(0));
    // Never reads, and there is more than a pipe holds.
    job = shell("sleep 60");
    job.limits.wall = Some(Duration::from_millis(500));
    job.script =
        Some(Script { steps: vec![Step::Send(vec![b' '; 1 << 20]), expect("1", Answer::Line, 100)], go_on: false });
    let seen = bench.run(&job);
    assert_eq!(seen.limit, Some(Limit::Wall));
    assert_eq!(seen.steps, []);
    // Reads all of it, late, and answers much.
    job = shell("sleep 0.1; wc -c; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
    job.script = Some(Script {
        steps: vec![
            Step::Send(vec![b' '; 1 << 20]),
            Step::Close,
            expect("count", Answer::Line, 5000),
            expect("much", Answer::Line, 5000),
            expect("end", Answer::Expression, 5000),
        ],
        go_on: false,
    });
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(0), None));
    assert_eq!(seen.steps[0].response, b"1048576");
    assert_eq!(seen.steps[1].response.len(), 3_000_000);
    assert_eq!(seen.steps[2].response, b"end");
}

#[test]
fn a_late_answer_is_not_taken_for_a_later_one() {
    let bench = Bench::new(Kind::Best);
    let mut job = shell("read a; sleep 0.5; echo unsat; read b; echo sat; read c; echo unknown");
    job.script = Some(Script {
        steps: vec![
            send("1\n"),
            expect("1", Answer::Expression, 100),
            send("2\n"),
            expect("2", Answer::Line, 5000),
            send("3\n"),
            expect("3", Answer::Expression, 5000),
        ],
        go_on: true,
    });
    let seen = bench.run(&job);
    let answers: Vec<&[u8]> = seen.steps.iter().map(|step| step.response.as_slice()).collect();
    assert_eq!(answers, [&b""[..], b"sat", b"unknown"], "{seen:?}");
    assert_eq!(seen.steps[0].outcome, StepOutcome::TimedOut);
}
