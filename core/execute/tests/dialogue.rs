//! Dialogues: steps in order, each timed, with programs that answer, that do not, and that end.

mod common;

use std::time::Duration;

use agon_execute::{Answer, Job, Limit, Script, Step, StepOutcome};
use common::{Bench, KINDS, Kind, shell, text};

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

fn expect(name: &str, answer: Answer, milliseconds: u64) -> Step {
    Step::Expect { name: name.to_string(), answer, accept: None, wall: Some(Duration::from_millis(milliseconds)) }
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
            ..Script::default()
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
            assert!(step.sent_ns <= step.answered_ns && last <= step.answered_ns);
            last = step.answered_ns;
            if let Some(now) = step.cpu_ns {
                assert!(cpu <= now && now <= seen.cpu_ns + 5_000_000, "{seen:?}");
                cpu = now;
            }
        }
        // The second answer was asked for after the first had come, the third in one with the second.
        let [first, second, model] = &seen.steps[..] else { panic!("{seen:?}") };
        assert!(0 < first.sent_ns && first.answered_ns <= second.sent_ns && second.sent_ns == model.sent_ns);
        assert!(second.sent_cpu_ns >= first.cpu_ns && second.sent_cpu_ns <= second.cpu_ns);
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
        job.script = Some(Script { steps: steps.clone(), go_on, ..Script::default() });
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
        ..Script::default()
    });
    let seen = bench.run(&job);
    assert_eq!((seen.exit, seen.limit), (Some(3), None));
    assert_eq!(seen.steps.len(), 1);
    assert_eq!(seen.steps[0].outcome, StepOutcome::Ended);
    // The last answer has no end of line.
    job = shell("printf unsat");
    job.script = Some(Script { steps: vec![expect("1", Answer::Line, 5000)], go_on: false, ..Script::default() });
    let seen = bench.run(&job);
    assert_eq!(seen.steps[0].response, b"unsat");
    assert_eq!(seen.exit, Some(0));
    // Never reads, and there is more than a pipe holds.
    job = shell("sleep 60");
    job.limits.wall = Some(Duration::from_millis(500));
    job.script = Some(Script {
        steps: vec![Step::Send(vec![b' '; 1 << 21]), expect("1", Answer::Line, 100)],
        go_on: false,
        ..Script::default()
    });
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
        ..Script::default()
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
        ..Script::default()
    });
    let seen = bench.run(&job);
    let answers: Vec<&[u8]> = seen.steps.iter().map(|step| step.response.as_slice()).collect();
    assert_eq!(answers, [&b""[..], b"sat", b"unknown"], "{seen:?}");
    assert_eq!(seen.steps[0].outcome, StepOutcome::TimedOut);
}

#[test]
fn an_answer_that_is_not_accepted_ends_the_dialogue() {
    let bench = Bench::new(Kind::Best);
    let only = |name: &str, accept: &[&str]| Step::Expect {
        name: name.to_string(),
        answer: Answer::Line,
        accept: Some(accept.iter().map(|text| text.as_bytes().to_vec()).collect()),
        wall: None,
    };
    let mut job = shell("while read line; do echo \" $line\"; done; echo over; exit 5");
    job.script = Some(Script {
        steps: vec![
            send("sat\n"),
            only("1", &["unsat", "sat"]),
            send("unknown\n"),
            only("2", &["sat"]),
            send("sat\n"),
            only("3", &["sat"]),
        ],
        go_on: true,
        ..Script::default()
    });
    let seen = bench.run(&job);
    let steps: Vec<_> = seen.steps.iter().map(|step| (step.outcome, step.response.as_slice())).collect();
    assert_eq!(steps, [(StepOutcome::Answered, &b" sat"[..]), (StepOutcome::Refused, b" unknown")]);
    // Its input has ended, and it went on to its own end.
    assert_eq!((seen.exit, seen.limit), (Some(5), None));
    assert_eq!(text(&seen.stdout), " sat\n unknown\nover\n");
}

#[test]
fn lines_and_what_is_left() {
    let bench = Bench::new(Kind::Best);
    let step = |name: &str, answer| expect(name, answer, 5000);
    let mut job = shell("read a; echo \"($a)  \"; echo; echo last; cat; printf 'the\\nrest'");
    job.script = Some(Script {
        steps: vec![
            send("x\n"),
            step("1", Answer::Expression),
            step("2", Answer::AnyLine),
            step("3", Answer::AnyLine),
            send("more\n"),
            Step::Close,
            step("4", Answer::Rest),
            step("5", Answer::Line),
        ],
        go_on: false,
        ..Script::default()
    });
    let seen = bench.run(&job);
    let steps: Vec<_> = seen.steps.iter().map(|step| (step.outcome, step.response.as_slice())).collect();
    let expected: [(StepOutcome, &[u8]); 5] = [
        (StepOutcome::Answered, b"(x)"),
        (StepOutcome::Answered, b""),
        (StepOutcome::Answered, b"last"),
        (StepOutcome::Answered, b"more\nthe\nrest"),
        (StepOutcome::Ended, b""),
    ];
    assert_eq!(steps, expected);
    assert_eq!((seen.exit, seen.limit), (Some(0), None));
}
