//! Exchanges: commands sent one by one, each when the one before has been answered, with programs that break every rule
//! of it. None of them keeps the runner waiting beyond the limits and the patience it is given.

mod common;

use std::io::Write;
use std::time::Duration;

use agon_execute::{Answer, Exchange, FileContent, Job, Limit, Observation, Script, Step, StepLog, StepOutcome};
use common::{Bench, KINDS, Kind, shell, text};

const COMMANDS: [&str; 4] = ["(set-logic QF_UF)", "(assert (= \"(\" |)|))", "(check-sat)", "(push 1)"];

/// The commands as one text, and an exchange of those named.
fn exchange(name: &str, which: &[usize], accept: Option<&[&str]>, go_on: bool) -> Step {
    let mut at = 0;
    let mut places = Vec::new();
    for command in COMMANDS {
        places.push(at..at + command.len() as u64);
        at += command.len() as u64 + 1;
    }
    Step::Exchange(Exchange {
        name: name.to_string(),
        pieces: which.iter().map(|&i| places[i].clone()).collect(),
        answer: Answer::Line,
        accept: accept.map(|all| all.iter().map(|one| one.as_bytes().to_vec()).collect()),
        go_on,
    })
}

fn whole() -> FileContent {
    FileContent::Bytes(COMMANDS.join("\n").into_bytes())
}

/// Two commands, a check, a command, and the end.
fn script() -> Script {
    Script {
        steps: vec![
            exchange("before", &[0, 1], Some(&["success"]), false),
            exchange("check", &[2], Some(&["sat", "unknown"]), false),
            exchange("after", &[3], Some(&["success"]), false),
            Step::Send(b"(exit)\n".to_vec()),
        ],
        text: Some(whole()),
        go_on: false,
        patience: Some(Duration::from_millis(300)),
    }
}

/// Holds the dialogue with a program of the shell, within two seconds.
fn held(bench: &Bench, program: &str, script: Script) -> Observation {
    let mut job = shell(program);
    job.limits.wall = Some(Duration::from_secs(2));
    job.limits.output = Some(1 << 20);
    job.script = Some(script);
    bench.run(&job)
}

fn summary(step: &StepLog) -> (&str, StepOutcome, u64, u64, String) {
    let response = String::from_utf8_lossy(&step.response).into_owned();
    (&step.name, step.outcome, step.answers, step.refused, response)
}

/// A well-behaved solver with something else in place of one of its answers.
fn solver(instead: &str, with: &str) -> String {
    let answer = |word: &str, usual: &str| {
        let what = if word == instead { with.to_string() } else { format!("echo {usual}") };
        format!("*{word}*) {what};; ")
    };
    format!(
        "while read -r line; do case \"$line\" in {}{}{}{}{}*) echo '(error \"what?\")';; esac; done",
        answer("set-logic", "success"),
        answer("assert", "success"),
        answer("check-sat", "sat"),
        answer("push", "success"),
        if instead == "exit" { format!("*exit*) {with};; ") } else { "*exit*) exit 0;; ".to_string() },
    )
}

#[test]
fn commands_are_sent_one_by_one() {
    for kind in KINDS {
        let bench = Bench::new(kind);
        // Whoever looks ahead sees one command, and nothing behind it until it has answered.
        let look = "$| = 1; while (sysread(STDIN, $got, 65536)) { vec($bits = '', 0, 1) = 1; \
                    $more = select($bits, undef, undef, 0.05); $lines = $got =~ tr/\\n//; \
                    print $more || $lines != 1 ? \"ahead\\n\" : \"success\\n\" }";
        let mut job = Job::new("/usr/bin/perl");
        job.arguments = vec!["-e".into(), look.into()];
        job.limits.wall = Some(Duration::from_secs(10));
        job.script = Some(Script { steps: vec![exchange("all", &[0, 1, 2, 3], None, false)], ..script() });
        let seen = bench.run(&job);
        assert_eq!(text(&seen.stdout), "success\n".repeat(4), "{kind:?} {seen:?}");
        let seen = held(&bench, &solver("", ""), script());
        let steps: Vec<_> = seen.steps.iter().map(summary).collect();
        let done = |name, answers, response: &str| (name, StepOutcome::Answered, answers, 0, response.to_string());
        assert_eq!(steps, [done("before", 2, "success"), done("check", 1, "sat"), done("after", 1, "success")]);
        assert_eq!((seen.exit, seen.limit, seen.dismissed), (Some(0), None, false), "{kind:?}");
        let mut last = 0;
        for step in &seen.steps {
            assert!(last <= step.sent_ns && step.sent_ns <= step.answered_ns, "{seen:?}");
            assert!(step.waited_ns > 0 && step.waited_ns <= step.answered_ns - step.sent_ns);
            assert!(step.sent_cpu_ns <= step.cpu_ns && step.cpu_ns <= Some(seen.cpu_ns + 5_000_000));
            assert_eq!(step.cpu_ns.is_some(), seen.mechanisms.cpu == "control group");
            last = step.answered_ns;
        }
    }
}

#[test]
fn blanks_around_answers_do_not_matter() {
    let bench = Bench::new(Kind::Best);
    for answer in ["printf '\\n \\n  sat \\t\\r\\n'", "printf s; sleep 0.1; printf 'at\\n\\n'"] {
        let seen = held(&bench, &solver("check-sat", answer), script());
        assert!(seen.steps.iter().all(|step| step.outcome == StepOutcome::Answered), "{answer}: {seen:?}");
        assert_eq!((seen.exit, seen.steps.len()), (Some(0), 3));
    }
}

#[test]
fn an_answer_that_is_not_accepted_ends_the_exchange_or_not() {
    let bench = Bench::new(Kind::Best);
    for (with, response) in [
        ("echo unsat", "unsat"),
        ("echo '(error \"a) b\")'", "(error \"a) b\")"),
        ("echo sat maybe", "sat maybe"),
        ("printf 'SAT\\n'", "SAT"),
    ] {
        let seen = held(&bench, &solver("check-sat", with), script());
        assert_eq!(seen.steps.len(), 2, "{with}");
        assert_eq!(summary(&seen.steps[1]), ("check", StepOutcome::Refused, 1, 1, response.to_string()));
        // Its input has ended, and so has it.
        assert_eq!((seen.exit, seen.limit, seen.dismissed), (Some(0), None, false));
    }
    let mut on = script();
    on.steps = vec![exchange("all", &[0, 1, 2, 3], Some(&["success"]), true)];
    let program =
        "n=0; while read -r line; do n=$((n+1)); [ $n = 2 ] || [ $n = 3 ] && echo \"no $n\" || echo success; done";
    let seen = held(&bench, program, on);
    assert_eq!(summary(&seen.steps[0]), ("all", StepOutcome::Answered, 4, 2, "no 2".to_string()));
    assert_eq!(seen.steps[0].kept, 1);
}

#[test]
fn answers_nobody_asked_for_are_not_taken_for_later_ones() {
    let bench = Bench::new(Kind::Best);
    // Twice, in one write.
    let seen = held(&bench, &solver("check-sat", "printf 'sat\\nsat\\n'"), script());
    assert_eq!(summary(&seen.steps[2]), ("after", StepOutcome::Refused, 0, 1, "sat".to_string()), "{seen:?}");
    // A part of a line behind the answer.
    let seen = held(&bench, &solver("assert", "printf 'success\\nsuc'"), script());
    assert_eq!(summary(&seen.steps[1]), ("check", StepOutcome::Refused, 0, 1, "suc".to_string()), "{seen:?}");
    // Before anything was asked: it is there or not when the first command is sent, but it is never its answer.
    let seen = held(&bench, &format!("echo welcome; {}", solver("", "")), script());
    let (name, outcome, _, refused, response) = summary(&seen.steps[0]);
    assert_eq!((name, outcome, refused, response.as_str()), ("before", StepOutcome::Refused, 1, "welcome"));
    // Who goes on takes what is there as one answer that is not accepted.
    let mut on = script();
    on.steps = vec![exchange("all", &[0, 1], Some(&["success"]), true)];
    let program = "read -r a; printf 'success\\nwhat\\n'; read -r b; echo success; read -r c";
    let seen = held(&bench, program, on);
    assert_eq!(summary(&seen.steps[0]), ("all", StepOutcome::Answered, 2, 1, "what".to_string()));
    // Comments are no answers where expressions are read.
    let mut expressions = script();
    for step in &mut expressions.steps {
        if let Step::Exchange(exchange) = step {
            exchange.answer = Answer::Expression;
        }
    }
    let seen = held(&bench, &solver("check-sat", "printf 'sat ; said (\\n; and more\\n'"), expressions);
    assert!(seen.steps.iter().all(|step| step.outcome == StepOutcome::Answered), "{seen:?}");
    assert_eq!(seen.steps.len(), 3);
}

#[test]
fn a_program_that_dies_ends_the_dialogue_at_that_step() {
    let bench = Bench::new(Kind::Best);
    for (word, entries, answers) in [("set-logic", 1, 0), ("assert", 1, 1), ("check-sat", 2, 0), ("push", 3, 0)] {
        for death in ["exit 3", "kill -SEGV $$", "exec >&-; exit 3"] {
            let seen = held(&bench, &solver(word, death), script());
            assert_eq!(seen.steps.len(), entries, "{word} {death}: {seen:?}");
            let last = seen.steps.last().unwrap();
            assert_eq!((last.outcome, last.answers), (StepOutcome::Ended, answers), "{word} {death}: {seen:?}");
            assert_eq!(last.response, b"");
            assert!((seen.exit == Some(3)) != (seen.signal == Some(11)), "{seen:?}");
            assert_eq!((seen.limit, seen.dismissed), (None, false));
        }
    }
    // What it said before it ended is a line, as ever.
    let seen = held(&bench, &solver("check-sat", "printf sat; exit 3"), script());
    let ends: Vec<_> = seen.steps.iter().map(|step| step.outcome).collect();
    assert_eq!(ends, [StepOutcome::Answered, StepOutcome::Answered, StepOutcome::Ended]);
    // Dies at the exit, with a code of its own, or before it reads anything.
    let seen = held(&bench, &solver("exit", "exit 9"), script());
    assert_eq!((seen.exit, seen.steps.len()), (Some(9), 3));
    let seen = held(&bench, "exit 4", script());
    assert_eq!((seen.exit, seen.steps.len(), seen.steps[0].outcome), (Some(4), 1, StepOutcome::Ended));
}

#[test]
fn a_program_that_does_not_end_is_dismissed() {
    let bench = Bench::new(Kind::Best);
    for (program, entries) in [
        // Ignores the exit and the end of its input, with or without its output open.
        (solver("exit", "sleep 60"), 3),
        (solver("exit", "exec >&- 2>&-; sleep 60"), 3),
        (solver("exit", "trap '' TERM INT HUP; while :; do sleep 60; done"), 3),
        // Closes its output in the middle: there is nothing more to wait for.
        (solver("assert", "exec >&-; sleep 60"), 1),
        // Is told no more after an answer that is not accepted.
        (solver("check-sat", "echo no; sleep 60"), 2),
        // Says success to the exit, and stays.
        (solver("exit", "echo success; sleep 60"), 3),
    ] {
        let seen = held(&bench, &program, script());
        assert!(seen.dismissed, "{program}: {seen:?}");
        assert_eq!((seen.limit, seen.exit, seen.signal), (None, None, Some(9)), "{program}");
        assert_eq!(seen.steps.len(), entries, "{program}: {seen:?}");
    }
    // Without patience it is a limit that ends it.
    let seen = held(&bench, &solver("exit", "sleep 60"), Script { patience: None, ..script() });
    assert_eq!((seen.limit, seen.dismissed), (Some(Limit::Wall), false));
}

#[test]
fn a_program_that_keeps_silent_meets_its_limit() {
    let bench = Bench::new(Kind::Best);
    for (program, entries, response) in [
        // Never reads.
        ("sleep 60".to_string(), 1, ""),
        // Reads, and answers nothing; or a part of a line.
        (solver("check-sat", "sleep 60"), 2, ""),
        (solver("check-sat", "printf unsa; sleep 60"), 2, "unsa"),
        // Answers on standard error.
        (solver("check-sat", "echo sat >&2; sleep 60"), 2, ""),
        (solver("set-logic", "echo success >&2"), 1, ""),
        // Closes its input, and stays.
        (solver("check-sat", "exec <&-; sleep 60"), 2, ""),
    ] {
        let seen = held(&bench, &program, script());
        assert_eq!((seen.limit, seen.dismissed), (Some(Limit::Wall), false), "{program}: {seen:?}");
        assert_eq!(seen.steps.len(), entries, "{program}: {seen:?}");
        let last = seen.steps.last().unwrap();
        assert_eq!((last.outcome, last.answers), (StepOutcome::TimedOut, 0), "{program}");
        assert_eq!(String::from_utf8_lossy(&last.response), response, "{program}");
        assert!(last.waited_ns > 0, "{program}: {seen:?}");
    }
    // Time is also used up by work.
    let mut job = shell(&solver("check-sat", "while :; do :; done"));
    job.limits.cpu = Some(Duration::from_millis(300));
    job.limits.wall = Some(Duration::from_secs(20));
    job.script = Some(script());
    let seen = bench.run(&job);
    assert_eq!((seen.limit, seen.steps.len()), (Some(Limit::Cpu), 2), "{seen:?}");
}

#[test]
fn a_flood_meets_its_limit() {
    let bench = Bench::new(Kind::Best);
    for program in [
        solver("check-sat", "while :; do echo sat; done"),
        solver("check-sat", "exec cat /dev/zero"),
        solver("check-sat", "exec cat /dev/zero >&2"),
        "while :; do echo success; done".to_string(),
    ] {
        let seen = held(&bench, &program, script());
        assert!(seen.limit == Some(Limit::Output) || seen.dismissed, "{program}: {seen:?}");
        assert!(seen.stdout.len() + seen.stderr.len() <= 1 << 20);
    }
}

#[test]
fn long_texts_are_sent_from_a_file() {
    let bench = Bench::new(Kind::Best);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut pieces = Vec::new();
    let mut at = 0;
    for length in [10, 70_000, 300_000, 3, 1_000_000] {
        let piece = format!("({})", "x".repeat(length - 2));
        file.write_all(b" ; skipped\n").unwrap();
        file.write_all(piece.as_bytes()).unwrap();
        at += 11;
        pieces.push(at..at + length as u64);
        at += length as u64;
    }
    let step = |pieces: &[std::ops::Range<u64>]| {
        Step::Exchange(Exchange {
            name: "all".to_string(),
            pieces: pieces.into(),
            answer: Answer::Line,
            accept: None,
            go_on: false,
        })
    };
    let path = file.path().to_path_buf();
    let mut job = shell("while read -r line; do echo ${#line}; done");
    job.limits.wall = Some(Duration::from_secs(60));
    let script = |pieces: &[_]| Script {
        steps: vec![step(pieces)],
        text: Some(FileContent::Path(path.clone())),
        ..Script::default()
    };
    job.script = Some(script(&pieces));
    let seen = bench.run(&job);
    assert_eq!(text(&seen.stdout), "10\n70000\n300000\n3\n1000000\n");
    assert_eq!((seen.steps[0].answers, seen.exit), (5, Some(0)));
    // A text that is shorter than it was is a fault of the machine, not of the program.
    let beyond = at..at + 5;
    job.script = Some(script(&[pieces[0].clone(), beyond]));
    let fault = bench.fault(&job);
    assert!(fault.contains("it has changed"), "{fault}");
    job.script = Some(Script { text: None, ..script(&pieces) });
    assert!(bench.fault(&job).contains("no text"));
}

#[test]
fn many_answers_in_a_row() {
    let bench = Bench::new(Kind::Best);
    let mut job = Job::new("/bin/cat");
    job.limits.wall = Some(Duration::from_secs(60));
    let text = "(assert x)\n".repeat(20_000);
    let pieces = (0..20_000_u64).map(|i| i * 11..i * 11 + 10).collect();
    job.script = Some(Script {
        steps: vec![Step::Exchange(Exchange {
            name: "all".to_string(),
            pieces,
            answer: Answer::Expression,
            accept: Some(vec![b"(assert x)".to_vec()]),
            go_on: false,
        })],
        text: Some(FileContent::Bytes(text.clone().into_bytes())),
        ..Script::default()
    });
    let seen = bench.run(&job);
    let step = &seen.steps[0];
    assert_eq!((step.outcome, step.answers, step.refused), (StepOutcome::Answered, 20_000, 0));
    assert_eq!(seen.stdout.bytes().unwrap(), text.into_bytes());
    assert!(step.waited_ns <= step.answered_ns - step.sent_ns);
}
