//! Plans of several steps, files that runs leave, and dialogues, through the sandbox into the store and back to the plugin.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use agon_compete::again;
use agon_compete::benchmarks::Benchmark;
use agon_compete::convert::hash_file;
use agon_compete::judging::{Judge, NoTools, Tools};
use agon_compete::race::{Outcome, Race, Rules, Runnable};
use agon_compete::scrambled::{ScrambleRules, Scrambler};
use agon_compete::tools::{Kit, Tool};
use agon_edition::model::{Doc, Scrambling};
use agon_execute::{CancelToken, Helper, Limits, Machine, Options, Runner, Slots};
use agon_host::Failure;
use agon_scramble::{Annotations, Mode, scramble};
use agon_sdk::values::{
    Accepted, Arg, Blame, Collect, Condition, Expect, Findings, FollowUp, FollowUpKind, Framing, Input, Job, Judgement,
    Limit, Observation, Plan, ScriptEntry, Soundness, Step, StepKind, StepOutcome, Transform, Validation, When,
};
use agon_store::record::{self, EditionText, FORMAT, Meta, PlanBenchmark, PlanEntrant, PluginId, Record, Session};
use agon_store::{Digest, Store};

/// A plugin with one plan, which keeps what it is shown.
struct Fixed {
    plan: Plan,
    seen: Mutex<Vec<Observation>>,
}

impl Judge for Fixed {
    fn identity(&self) -> PluginId {
        PluginId { id: "fixed".into(), version: "1".into(), hash: "0".into() }
    }

    fn prepare(&self, _: &Job) -> Result<Plan, Failure> {
        Ok(self.plan.clone())
    }

    fn judge(&self, _: &Job, observation: &Observation) -> Result<Judgement, Failure> {
        self.seen.lock().expect("nobody panicked").push(observation.clone());
        Ok(Judgement {
            answer: "unknown".into(),
            soundness: Soundness::NotApplicable,
            condition: Condition::Finished,
            blame: Blame::None,
            columns: Default::default(),
            artifacts: Vec::new(),
            follow_ups: Vec::new(),
            diagnostics: Vec::new(),
            evidence: Vec::new(),
        })
    }

    fn run_internal(&self, _: &str, _: &Job, _: &[Input]) -> Result<Findings, Failure> {
        Err(Failure::NoWorker("there are no operations".into()))
    }

    fn conclude(&self, _: &Job, _: &Observation, before: &Judgement, _: &[Validation]) -> Result<Judgement, Failure> {
        Ok(before.clone())
    }
}

/// One entrant, one benchmark, a store and a sandbox.
struct Arena {
    folder: tempfile::TempDir,
    rules: Rules,
    entrant: Runnable,
    benchmark: Benchmark,
    store: Store,
    scrambler: Scrambler,
    runner: Runner,
    slots: Slots,
    cancel: CancelToken,
}

impl Arena {
    /// With a shell script as the entrant.
    fn new(solver: &str, limits: &Limits) -> Self {
        Self::on("(check-sat)\n", ScrambleRules::default(), solver, limits)
    }

    /// On a benchmark of one's own, scrambled by rules.
    fn on(text: &str, rules: ScrambleRules, solver: &str, limits: &Limits) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join("b.smt2");
        std::fs::write(&path, text).expect("the benchmark can be written");
        let plugin = PluginId { id: "fixed".into(), version: "1".into(), hash: "0".into() };
        let store = store(&folder.path().join("store"), &plugin, &path, text);
        let machine = Machine::probe().expect("the machine can be looked at");
        let options = Options::new(folder.path().join("scratch"), Helper::this_program(SANDBOX));
        let programs = folder.path().join("programs");
        std::fs::create_dir(&programs).expect("a folder");
        let arena = Self {
            rules: Rules {
                track: "main".into(),
                on_stdin: false,
                environment: Vec::new(),
                limits: *limits,
                cores: 1,
                check_limits: Vec::new(),
            },
            entrant: Runnable {
                id: "a".into(),
                program: programs.join("solver"),
                arguments: vec!["-q".into()],
                configuration: Vec::new(),
                readable: vec![programs],
            },
            benchmark: Benchmark {
                id: "b".into(),
                path,
                logic: None,
                division: None,
                family: None,
                statuses: Vec::new(),
            },
            store,
            scrambler: Scrambler::new(rules, folder.path()).expect("there is room for scrambled benchmarks"),
            runner: Runner::new(&machine, options).expect("a runner can be made"),
            slots: Slots::new(&machine, 1, 1, true).expect("a core can be shared"),
            cancel: CancelToken::new().expect("a token"),
            folder,
        };
        arena.program("solver", solver);
        arena
    }

    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.folder.path().join("programs").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).expect("the program can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        path
    }

    fn kit<'a>(&'a self, tools: &'a [Tool]) -> Kit<'a> {
        Kit {
            tools,
            limits: self.rules.limits,
            check_limits: &self.rules.check_limits,
            runner: &self.runner,
            slots: &self.slots,
            store: &self.store,
            cancel: &self.cancel,
        }
    }

    fn race(&self, judge: &dyn Judge) -> Outcome {
        let session = Session {
            when: agon_compete::now(),
            agon: "0".into(),
            host: serde_json::Value::Null,
            descriptions: Vec::new(),
            tools: None,
            plugins: vec![judge.identity()],
            extra: serde_json::Value::Null,
        };
        let session = self.store.append(&Record::Session(session)).expect("the session is recorded");
        let race = Race {
            rules: &self.rules,
            entrants: std::slice::from_ref(&self.entrant),
            benchmarks: std::slice::from_ref(&self.benchmark),
            judge,
            tools: &[],
            scrambler: Some(&self.scrambler),
            runner: &self.runner,
            slots: &self.slots,
            store: &self.store,
            session,
            cancel: &self.cancel,
        };
        race.run(&[(0, 0)], &|_| {}).expect("the store can be written")
    }
}

/// Runs a shell script as the one entrant, with a plan; what the plugin sees, and what is stored.
fn race(plan: Plan, solver: &str, limits: Limits) -> (Observation, record::Run) {
    let (outcome, mut seen, run) = race_once(plan, solver, limits);
    assert_eq!(outcome, Outcome { judged: 1, ..Outcome::default() });
    (seen.remove(0), run.expect("it was run"))
}

fn race_once(plan: Plan, solver: &str, limits: Limits) -> (Outcome, Vec<Observation>, Option<record::Run>) {
    race_on("(check-sat)\n", ScrambleRules::default(), plan, solver, limits)
}

/// The same on a benchmark of one's own, scrambled by rules.
fn race_on(
    script: &str,
    rules: ScrambleRules,
    plan: Plan,
    solver: &str,
    limits: Limits,
) -> (Outcome, Vec<Observation>, Option<record::Run>) {
    let arena = Arena::on(script, rules, solver, &limits);
    let judge = Fixed { plan, seen: Mutex::default() };
    let outcome = arena.race(&judge);
    let run = arena.store.observation("main", "a", "b").expect("the store can be read").map(|(_, stored)| stored.run);
    (outcome, judge.seen.into_inner().expect("nobody panicked"), run)
}

fn store(folder: &Path, plugin: &PluginId, benchmark: &Path, text: &str) -> Store {
    let meta = Meta {
        format: FORMAT,
        agon: "0".into(),
        created: agon_compete::now(),
        edition: EditionText::new("cup", "rules", "edition: cup\n"),
        seed: None,
        extra: serde_json::Value::Null,
    };
    let store = Store::open_or_create(folder, &meta).expect("a store can be made");
    let plan = record::Plan {
        track: "main".into(),
        plugin: plugin.clone(),
        parameters: serde_json::Value::Null,
        limits: serde_json::Value::Null,
        overrides: Default::default(),
        entrants: vec![PlanEntrant { id: "a".into(), solver: "a".into(), ..PlanEntrant::default() }],
        benchmarks: vec![PlanBenchmark {
            id: "b".into(),
            path: benchmark.display().to_string(),
            logic: None,
            division: None,
            family: None,
            statuses: Vec::new(),
            hash: Digest::of(text.as_bytes()),
            bytes: text.len() as u64,
        }],
        extra: serde_json::Value::Null,
    };
    store.plan(&plan).expect("the plan is recorded");
    store
}

fn limits() -> Limits {
    Limits { wall: Some(Duration::from_secs(10)), ..Limits::default() }
}

fn bytes(output: &agon_sdk::values::Output) -> String {
    String::from_utf8(output.source.read_all(u64::MAX).expect("it can be read")).expect("it is text")
}

fn send(text: &str) -> ScriptEntry {
    ScriptEntry::Send(text.as_bytes().to_vec())
}

fn expect(label: &str, framing: Framing) -> Expect {
    Expect { skip_blank: true, ..Expect::new(framing, label) }
}

fn only(label: &str, accept: &str) -> ScriptEntry {
    ScriptEntry::Expect(Expect {
        accept: vec![Accepted(accept.as_bytes().to_vec())],
        stop_unless_accepted: true,
        ..expect(label, Framing::Line)
    })
}

/// Kind, outcome, step, label, response.
fn log(seen: &Observation) -> Vec<(StepKind, StepOutcome, &str, &str, String)> {
    let entry = |s| {
        let s: &agon_sdk::values::StepLog = s;
        (s.kind, s.outcome, s.step.as_str(), s.label.as_deref().unwrap_or(""), bytes(&s.response))
    };
    seen.steps.iter().map(entry).collect()
}

const SOLVER: &str = "n=0\nwhile read -r line; do case $line in \
    *print-success*|*assert*) echo success;; \
    *check-sat*) n=$((n+1)); i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; [ $n = 3 ] && sleep 60; echo sat;; \
    *get-model*) echo '('; echo '  (define-fun x () Int 1))';; \
    esac; done; echo bye; exit 3\n";

fn dialogue(entries: Vec<ScriptEntry>) -> Plan {
    let mut step = Step::new("solve", [Arg::Command]);
    step.script = entries;
    // Beside a script the input does not count, whatever it is.
    step.input = Arg::OutputOf("nobody".into());
    Plan { steps: vec![step], ..Plan::default() }
}

fn a_dialogue_is_held_and_logged() {
    let plan = dialogue(vec![
        send("(set-option :print-success true)\n"),
        only("option", "success"),
        send("(check-sat)\n"),
        ScriptEntry::Expect(expect("first", Framing::Line)),
        send("(check-sat)\n(get-model)\n"),
        only("second", "sat"),
        ScriptEntry::Expect(expect("model", Framing::SExpression)),
        ScriptEntry::Expect(expect("end", Framing::Eof)),
    ]);
    let (seen, run) = race(plan, SOLVER, limits());
    let (done, expectation) = (StepOutcome::Done, StepKind::Expect);
    let text = |t: &str| t.to_string();
    let everything = "success\nsat\nsat\n(\n  (define-fun x () Int 1))\nbye\n";
    assert_eq!(
        log(&seen),
        [
            (StepKind::Command, done, "solve", "", text(everything)),
            (expectation, done, "solve", "option", text("success")),
            (expectation, done, "solve", "first", text("sat")),
            (expectation, done, "solve", "second", text("sat")),
            (expectation, done, "solve", "model", text("(\n  (define-fun x () Int 1))")),
            (expectation, done, "solve", "end", text("\nbye\n")),
        ]
    );
    assert_eq!((seen.exit, seen.limit), (Some(3), Limit::None));
    assert_eq!(bytes(seen.stdout.as_ref().expect("there is one")), everything);
    let steps = &seen.steps;
    assert_eq!((steps[0].sent_ns, Some(steps[0].answered_ns)), (0, seen.wall_ns));
    assert_eq!(steps[0].exit, Some(3));
    for (at, step) in steps.iter().enumerate().skip(1) {
        assert!(step.sent_ns <= step.answered_ns && step.answered_ns <= steps[0].answered_ns, "{at}: {steps:?}");
        assert!(at == 1 || step.answered_ns >= steps[at - 1].answered_ns, "{at}: {steps:?}");
    }
    // Asked for at once, so from the same time on.
    assert_eq!(steps[3].sent_ns, steps[4].sent_ns);
    assert!(steps[2].answered_ns <= steps[3].sent_ns);
    let cpu: Vec<Option<u64>> = steps.iter().map(|s| s.cpu_ns).collect();
    if let [Some(all), Some(_), Some(first), Some(second), ..] = cpu[..] {
        assert!(first > 0 && second > 0 && first + second <= all + 5_000_000, "{cpu:?}");
    }
    assert_eq!(run.steps.len(), 6);
}

fn a_dialogue_ends_at_what_is_not_accepted() {
    let plan =
        dialogue(vec![send("(check-sat)\n"), only("first", "unsat"), send("(check-sat)\n"), only("second", "sat")]);
    let (seen, run) = race(plan, SOLVER, limits());
    let outcomes: Vec<(StepOutcome, &str)> =
        seen.steps.iter().map(|s| (s.outcome, s.label.as_deref().unwrap_or(""))).collect();
    assert_eq!(outcomes, [(StepOutcome::Done, ""), (StepOutcome::Stopped, "first"), (StepOutcome::NotRun, "second")]);
    assert_eq!((bytes(&seen.steps[1].response).as_str(), bytes(&seen.steps[2].response).as_str()), ("sat", ""));
    assert_eq!((seen.exit, run.steps[2].answered_ns), (Some(3), None));
}

fn a_dialogue_ends_with_the_run() {
    // At the limit of the run.
    let check = |label: &str| [send("(check-sat)\n"), only(label, "sat")];
    let entries = ["1", "2", "3", "4"].map(check).concat();
    let limits = Limits { wall: Some(Duration::from_secs(2)), ..Limits::default() };
    let (seen, run) = race(dialogue(entries.clone()), SOLVER, limits);
    let outcomes: Vec<StepOutcome> = seen.steps.iter().map(|s| s.outcome).collect();
    use StepOutcome::{Done, Eof, Limit as Limited, NotRun};
    assert_eq!(outcomes, [Limited, Done, Done, Limited, NotRun]);
    assert_eq!((seen.limit, seen.steps[3].limit, seen.steps[4].limit), (Limit::Wall, Limit::Wall, Limit::None));
    assert_eq!(run.steps[3].answered_ns, None);
    // At the program's end.
    let (seen, _) =
        race(dialogue(entries), "read line; echo sat; read line; printf 'half an'; exit 1\n", self::limits());
    let outcomes: Vec<StepOutcome> = seen.steps.iter().map(|s| s.outcome).collect();
    assert_eq!(outcomes[..2], [Done, Done]);
    assert_eq!(bytes(&seen.steps[2].response), "half an");
    assert_eq!((outcomes[2], outcomes[3]), (StepOutcome::Stopped, NotRun));
    let (seen, _) = race(dialogue(check("1").to_vec()), "read line; exit 1\n", self::limits());
    assert_eq!((seen.steps[1].outcome, seen.exit), (Eof, Some(1)));
}

fn files_are_collected_and_handed_on() {
    let mut check =
        Step::new("check", [Arg::text("/bin/sh"), Arg::text("-c"), Arg::text("cat; cat \"$0\" \"$1\"; exit 7")]);
    check.argv.extend([Arg::Collected("proof".into()), Arg::OutputOf("solve".into())]);
    check.input = Arg::Collected("log".into());
    check.after = vec!["solve".into()];
    check.when = When::Ended;
    let mut never = Step::new("never", [Arg::text("/bin/sh"), Arg::text("-c"), Arg::text("echo reached")]);
    never.after = vec!["check".into()];
    let mut without = Step::new("without", [Arg::text("/bin/cat"), Arg::Collected("missing".into())]);
    without.after = vec!["check".into()];
    without.when = When::Ended;
    let collect = |name: &str, path: &str| Collect { name: name.into(), path: path.into() };
    let plan = Plan {
        steps: vec![Step::solve(), check, never, without],
        collect: vec![collect("proof", "out/p.drat"), collect("log", "log"), collect("missing", "link")],
        ..Plan::default()
    };
    let solver = "[ \"$1\" = -q ] && grep -q check-sat \"$2\" || exit 9\n\
                  mkdir out; echo proof >out/p.drat; echo log >log; ln -s log link; echo unsat; exit 20\n";
    let (seen, run) = race(plan.clone(), solver, limits());
    let command = StepKind::Command;
    let text = |t: &str| t.to_string();
    assert_eq!(
        log(&seen),
        [
            (command, StepOutcome::Done, "solve", "", text("unsat\n")),
            (command, StepOutcome::Done, "check", "", text("log\nproof\nunsat\n")),
            (command, StepOutcome::NotRun, "never", "", text("")),
            (command, StepOutcome::NotRun, "without", "", text("")),
        ]
    );
    assert_eq!((seen.steps[0].exit, seen.steps[1].exit, seen.exit), (Some(20), Some(7), Some(7)));
    assert_eq!(seen.steps[1].sent_ns, seen.steps[0].answered_ns);
    let files: Vec<(&str, Vec<u8>)> =
        seen.collected.iter().map(|f| (f.name.as_str(), f.content.read_all(100).expect("it can be read"))).collect();
    assert_eq!(files, [("proof", b"proof\n".to_vec()), ("log", b"log\n".to_vec())]);
    assert_eq!(run.collected.len(), 2);

    // Of a plan with the usual step too; what is cut off is kept, but not shown.
    let plan = Plan { collect: vec![collect("huge", "huge"), collect("proof", "proof")], ..Plan::default() };
    let limits = Limits { disk: Some(1 << 20), ..limits() };
    let (seen, run) = race(plan.clone(), "echo x >proof; truncate -s 1T huge\n", limits);
    assert_eq!((seen.collected.len(), seen.steps.len()), (0, 0));
    assert!(run.collected.iter().all(|f| f.content.truncated), "{run:?}");
    let (seen, run) = race(plan, "echo x >proof\n", limits);
    assert_eq!((seen.collected.len(), seen.collected[0].name.as_str(), run.collected.len()), (1, "proof", 1));
}

fn files_outside_are_not_asked_for() {
    let collect = vec![Collect { name: "x".into(), path: "../x".into() }];
    let (outcome, seen, run) = race_once(Plan { collect, ..Plan::default() }, "echo sat\n", limits());
    assert_eq!((outcome, seen.len(), run), (Outcome { not_run: 1, ..Outcome::default() }, 0, None));
}

const SCRIPT: &str = "(set-logic QF_LIA)\n(set-info :status sat)\n(declare-fun a () Int)\n(declare-fun b () Int)\n\
                      (assert (< a b))\n(assert (not (= a b)))\n(check-sat)\n";

/// The script in a mode, without the answers that solvers must not see.
fn scrambled(mode: Mode, annotations: Annotations) -> String {
    let mut options = agon_scramble::Options::new(mode, 1);
    (options.annotations, options.answers) = (annotations, false);
    let mut out = Vec::new();
    scramble(SCRIPT.as_bytes(), &options, &mut out).expect("it is scrambled");
    String::from_utf8(out).expect("it is text")
}

fn scrambling(mode: Mode, annotations: Annotations) -> ScrambleRules {
    let usual = Some(Scrambling { doc: Doc::default(), mode, annotations });
    ScrambleRules { seed: Some(1), usual, ..ScrambleRules::default() }
}

fn solvers_get_scrambled_benchmarks() {
    for (mode, annotations) in [(Mode::Incremental, Annotations::Patterns), (Mode::Main, Annotations::Strip)] {
        let rules = scrambling(mode, annotations);
        let (outcome, seen, run) = race_on(SCRIPT, rules, Plan::default(), "cat \"$2\"\n", limits());
        assert_eq!(outcome, Outcome { judged: 1, ..Outcome::default() });
        let expected = scrambled(mode, annotations);
        assert_eq!(seen[0].stdout.as_ref().map(bytes).as_deref(), Some(expected.as_str()));
        let run = run.expect("it was run");
        assert_eq!(run.prepared, Some(Digest::of(expected.as_bytes())));
        assert_eq!(run.extra["scrambled"]["seed"], 1);
        assert_eq!(run.extra["scrambled"]["mode"], mode.word());
        assert_eq!(run.extra["scrambled"]["annotations"], annotations.word());
    }
}

fn a_plugin_may_ask_for_scrambling() {
    let transform = |name: &str, mode: &str| Plan {
        transforms: vec![Transform { name: name.into(), mode: mode.into(), then_again: false }],
        ..Plan::default()
    };
    let rules = || ScrambleRules { seed: Some(1), ..ScrambleRules::default() };
    let (_, seen, _) = race_on(SCRIPT, rules(), transform("scramble", "plain"), "cat \"$2\"\n", limits());
    assert_eq!(seen[0].stdout.as_ref().map(bytes), Some(scrambled(Mode::Plain, Annotations::Keep)));
    // What there is not is nobody's result.
    for (name, mode) in [("scramble", "sideways"), ("scramble", "unfold"), ("translate", "plain")] {
        let (outcome, seen, run) = race_on(SCRIPT, rules(), transform(name, mode), "cat \"$2\"\n", limits());
        assert_eq!((outcome.not_run, seen.len(), run), (1, 0, None), "{name} {mode}");
    }
}

fn what_the_scrambler_refuses_is_not_run() {
    let rules = scrambling(Mode::SingleQuery, Annotations::Patterns);
    let (outcome, _, run) = race_on("(check-sat)(reset)", rules, Plan::default(), "cat \"$2\"\n", limits());
    assert_eq!((outcome.not_run, run), (1, None));
}

/// A run on another text than the plan's is no run of the benchmark, and is made again once the text is back.
fn a_benchmark_that_changes_is_not_run() {
    let arena = Arena::new("sleep 0.5\necho sat\n", &limits());
    let judge = Fixed { plan: Plan::default(), seen: Mutex::default() };
    let path = arena.benchmark.path.clone();
    let refused = Outcome { not_run: 1, ..Outcome::default() };
    let is_run = || arena.store.is_observed("main", "a", "b");

    std::fs::write(&path, "(check-sat)(exit)\n").expect("it is ours");
    assert_eq!((arena.race(&judge), is_run()), (refused, false));
    // Changed while it is run, and then put back: what the solver has read nobody knows.
    std::fs::write(&path, "(check-sat)\n").expect("it is ours");
    let outcome = std::thread::scope(|scope| {
        let race = scope.spawn(|| arena.race(&judge));
        std::thread::sleep(Duration::from_millis(200));
        std::fs::write(&path, "(check-sat)(exit)\n").expect("it is ours");
        std::fs::write(&path, "(check-sat)\n").expect("it is ours");
        race.join().expect("it does not panic")
    });
    assert_eq!((outcome, is_run()), (refused, false));
    std::fs::remove_file(&path).expect("it is ours");
    assert_eq!((arena.race(&judge), is_run()), (refused, false));
    std::fs::write(&path, "(check-sat)\n").expect("it is ours");
    assert_eq!((arena.race(&judge), is_run()), (Outcome { judged: 1, ..Outcome::default() }, true));
    let notes = arena.store.notes().expect("they can be read");
    let said: Vec<&str> = notes.iter().map(|(_, note)| note.text.as_str()).collect();
    assert!(said[0].contains("another content") && said[2].contains("cannot be read"), "{said:?}");
    assert!(said[1].contains("was changed while it was run") || said[1].contains("another content"), "{said:?}");
}

/// The same plugin one version later, which wants every answer checked.
struct Newer;

impl Judge for Newer {
    fn identity(&self) -> PluginId {
        PluginId { id: "fixed".into(), version: "2".into(), hash: "1".into() }
    }

    fn prepare(&self, _: &Job) -> Result<Plan, Failure> {
        Ok(Plan::default())
    }

    fn judge(&self, _: &Job, _: &Observation) -> Result<Judgement, Failure> {
        Ok(Judgement {
            answer: "unknown".into(),
            soundness: Soundness::NotApplicable,
            condition: Condition::Finished,
            blame: Blame::None,
            columns: Default::default(),
            artifacts: Vec::new(),
            follow_ups: vec![FollowUp {
                kind: FollowUpKind::External,
                role: "checker".into(),
                dedup_key: "k".into(),
                inputs: vec![("answer".into(), Arg::OutputOf("solve".into()))],
                limits: None,
            }],
            diagnostics: Vec::new(),
            evidence: Vec::new(),
        })
    }

    fn run_internal(&self, _: &str, _: &Job, _: &[Input]) -> Result<Findings, Failure> {
        Err(Failure::NoWorker("there are no operations".into()))
    }

    fn conclude(
        &self,
        _: &Job,
        _: &Observation,
        before: &Judgement,
        validations: &[Validation],
    ) -> Result<Judgement, Failure> {
        let said = validations.iter().filter_map(|v| v.observation.as_ref()?.stdout.as_ref()).map(bytes);
        Ok(Judgement { answer: said.collect::<Vec<_>>().concat().trim().to_string(), ..before.clone() })
    }
}

/// A check that nobody asked for when the runs were made is made when they are judged again, or decides nothing.
fn a_new_check_is_made_or_leaves_the_verdict() {
    let arena = Arena::new("echo sat\n", &limits());
    let judge = Fixed { plan: Plan::default(), seen: Mutex::default() };
    assert_eq!(arena.race(&judge), Outcome { judged: 1, ..Outcome::default() });
    let plan = arena.store.plan_of("main").expect("there is one");
    let answer = || arena.store.verdict("main", "a", "b").expect("it can be read").expect("there is one").1.answer;
    let again = |tools: &dyn Tools| again::judge(&arena.store, &plan, &Newer, tools, false).expect("it is judged");
    assert_eq!(answer(), "unknown");

    let without = again(&NoTools);
    assert_eq!((without.judged, without.failed.len(), answer().as_str()), (0, 1, "unknown"));
    assert!(without.failed[0].contains("the check checker, which was never made"), "{:?}", without.failed);
    let notes = arena.store.notes().expect("they can be read");
    assert!(notes.iter().any(|(_, note)| note.text.contains("checker")), "{notes:?}");

    let checker = arena.program("checker", "echo \"checked $(cat \"$1\")\"\n");
    let tool = |name: &str, program: &Path| Tool {
        role: "checker".into(),
        name: name.into(),
        content: hash_file(program).expect("it is there"),
        program: program.into(),
        arguments: Vec::new(),
        readable: vec![program.parent().expect("it is in a folder").into()],
        fault: None,
    };
    let tools = [tool("first", &checker)];
    let kit = arena.kit(&tools);
    let checked = again(&kit);
    assert_eq!((checked.judged, checked.changed.len(), answer().as_str()), (1, 1, "checked sat"));
    // What was said once needs no tool any more.
    let known = again::judge(&arena.store, &plan, &Newer, &NoTools, true).expect("it is judged");
    assert_eq!((known.judged, known.changed.len(), answer().as_str()), (1, 0, "checked sat"));

    // As a session records it, and as it is found again.
    let recorded = tools[0].recorded();
    assert_eq!(Tool::of_record(&recorded).fault, None);
    std::fs::write(&checker, "#!/bin/sh\necho yes\n").expect("it can be written");
    let replaced = Tool::of_record(&recorded).fault.expect("it was replaced");
    assert!(replaced.contains("another program"), "{replaced}");
    std::fs::remove_file(&checker).expect("it can be removed");
    let gone = Tool::of_record(&recorded).fault.expect("it is gone");
    assert!(gone.contains("cannot be run any more"), "{gone}");
}

const SANDBOX: &str = "__sandbox";

// As a test program does.
#[allow(clippy::print_stdout)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == SANDBOX) {
        return agon_execute::supervisor::main();
    }
    if arguments.iter().any(|argument| argument == "--list" || argument == "--ignored") {
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 10] = [
        ("a_dialogue_is_held_and_logged", a_dialogue_is_held_and_logged),
        ("a_dialogue_ends_at_what_is_not_accepted", a_dialogue_ends_at_what_is_not_accepted),
        ("a_dialogue_ends_with_the_run", a_dialogue_ends_with_the_run),
        ("files_are_collected_and_handed_on", files_are_collected_and_handed_on),
        ("files_outside_are_not_asked_for", files_outside_are_not_asked_for),
        ("solvers_get_scrambled_benchmarks", solvers_get_scrambled_benchmarks),
        ("a_plugin_may_ask_for_scrambling", a_plugin_may_ask_for_scrambling),
        ("what_the_scrambler_refuses_is_not_run", what_the_scrambler_refuses_is_not_run),
        ("a_benchmark_that_changes_is_not_run", a_benchmark_that_changes_is_not_run),
        ("a_new_check_is_made_or_leaves_the_verdict", a_new_check_is_made_or_leaves_the_verdict),
    ];
    let chosen: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    for (name, test) in tests {
        if chosen.is_empty() || chosen.iter().any(|part| name.contains(part.as_str())) {
            println!("test {name}");
            test();
        }
    }
    ExitCode::SUCCESS
}
