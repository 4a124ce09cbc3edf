//! Mutation testing of the edition files: each of these changes to a rule must be noticed.
//!
//! A change is one textual replacement in an edition; the changed edition is loaded, scores random competitions of fixed
//! seeds, and has to differ from the second reading somewhere. A change that nothing notices would mean that the random
//! competitions are too tame, or that the replaced text does nothing.

use agon_engine_tests::{
    Folder, READINGS, SMT_COMP_2014, SMT_COMP_2022, SecondReading, agree, edition_file, load, reading,
};
use agon_second_reading::Row;
use agon_second_reading::random::{Shape, competition_2014, competition_2022};

/// Where in the file, what stands there, and what is put in its place. The place is a text that comes before it, such
/// as the name of a step, so that the same formula elsewhere is left alone.
struct Mutant(&'static str, &'static str, &'static str);

const MUTANTS_2022: &[Mutant] = &[
    // What is known, wrong and unsound.
    Mutant("        answers:\n          cite: \"§7.1.2", "known and answer != status", "answer != status"),
    Mutant("        soundness:", "any(wrong per entrant, division)", "any(wrong per entrant)"),
    Mutant("        soundness:", "any(wrong per entrant, division)", "any(wrong per division)"),
    Mutant(
        "        disagreements:",
        "not known and any(answer == sat where not unsound",
        "known and any(answer == sat where not unsound",
    ),
    Mutant(
        "        disagreements:",
        "any(answer == sat where not unsound per benchmark)",
        "any(answer == sat per benchmark)",
    ),
    Mutant(
        "        disagreements:",
        "and any(answer == unsat where not unsound per benchmark)",
        "and any(answer == unsat per benchmark)",
    ),
    // Clocks.
    Mutant("        clocks:", "min(wall_time, limit)", "wall_time"),
    Mutant("        clocks:", "min(cpu_time, cpu_limit)", "cpu_time"),
    Mutant("        clocks:", "min(cpu_time, cpu_limit)", "min(cpu_time, limit)"),
    Mutant("        clocks:", "if(late, unknown, answer)", "answer"),
    // Instances.
    Mutant("        instances:\n", "status == sat or (not known and any(says == sat per benchmark))", "status == sat"),
    Mutant("        instances:\n", "status == sat or (not known and", "status == sat or (known and"),
    Mutant("        instances:\n", "any(says == unsat per benchmark)", "all(says == unsat per benchmark)"),
    Mutant("        instances:\n", "\"if(in_view, says, unknown)\"", "says"),
    Mutant("        instances:\n", "if(in_view, wall, 0 s)", "wall"),
    Mutant("        instances:\n", "if(in_view, cpu, 0 s)", "cpu"),
    // Verdicts and measures.
    Mutant("        verdicts:", "given != unknown and known and given != status", "known and given != status"),
    Mutant("        verdicts:", "(not known or given == status)", "given == status"),
    Mutant("      measures:", "count(wrong_run)", "count()"),
    Mutant("      measures:", "is: count(solved_run)", "is: count(in_view)"),
    Mutant("      measures:", "sum(cpu_counted)", "sum(cpu_counted where solved_run)"),
    Mutant("      measures:", "sum(wall_counted)", "max(wall_counted)"),
    Mutant("      counts:", "count(solved_run and given == sat)", "count(given == sat)"),
    Mutant("      counts:", "unsolved: count(in_view and not solved_run)", "unsolved: count(not solved_run)"),
    Mutant("      counts:", "abstained: distinct(benchmark per group)", "abstained: distinct(benchmark per division)"),
    // Winners.
    Mutant("        contested:", "distinct(team where competing) >= 2", "distinct(team) >= 2"),
    Mutant("        contested:", "distinct(team where competing) >= 2", "distinct(entrant where competing) >= 2"),
    Mutant("        contested:", "distinct(team where competing) >= 2", "distinct(team where competing) > 2"),
    Mutant("      winner:\n", "rank == 1 and correct > 0", "rank == 1"),
    Mutant("      winner:\n", "competing and contested and rank == 1", "competing and rank == 1"),
    Mutant("      winner:\n", "competing and contested and rank == 1", "contested and rank == 1"),
    Mutant("      winner:\n", "rank == 1 and correct > 0", "position == 1 and correct > 0"),
    // Views.
    Mutant("        sequential:\n", "late: cpu_time > cpu_limit", "late: cpu_time >= cpu_limit"),
    Mutant("        sequential:\n", "late: cpu_time > cpu_limit", "late: wall_time > cpu_limit"),
    Mutant("        sequential:\n", "cpu_limit: limit\n", "cpu_limit: 4 * limit\n"),
    Mutant("        sequential:\n", "correct desc, cpu_time asc", "correct asc, cpu_time asc"),
    Mutant("        sequential:\n", "correct desc, cpu_time asc", "correct desc, cpu_time desc"),
    Mutant("        sequential:\n", "correct desc, cpu_time asc", "correct desc, wall_time asc"),
    Mutant("        sequential:\n", "error asc, correct desc", "correct desc, error asc"),
    Mutant("        sequential:\n", "clock: \"'cpu'\"", "clock: \"'wall'\""),
    Mutant("        parallel:\n", "late: \"false\"", "late: wall_time > 1200 s"),
    Mutant("        parallel:\n", "wall_time asc, cpu_time asc", "wall_time asc"),
    Mutant("        parallel:\n", "wall_time asc, cpu_time asc", "wall_time desc, cpu_time asc"),
    Mutant("        24s:\n", "late: wall_time > limit", "late: wall_time >= limit"),
    Mutant("        24s:\n", "late: wall_time > limit", "late: \"false\""),
    Mutant("        24s:\n", "cpu_limit: limits.cores * limit", "cpu_limit: limit"),
    Mutant("        sat:\n", "instances: \"'sat'\"", "instances: \"'unsat'\""),
    // The biggest lead.
    Mutant(
        "        biggest-lead:",
        "keep: competing and contested and not experimental",
        "keep: contested and not experimental",
    ),
    Mutant(
        "        biggest-lead:",
        "keep: competing and contested and not experimental",
        "keep: competing and not experimental",
    ),
    Mutant("        biggest-lead:", "place(by position per division)", "place(by rank per division)"),
    Mutant("        biggest-lead:", "keep: place == 1 and correct > 0", "keep: place == 1"),
    Mutant("        biggest-lead:", "(correct + 1) / (second_correct + 1)", "correct / (second_correct + 1)"),
    Mutant("        biggest-lead:", "(second_time + 1 s) / (time + 1 s)", "(time + 1 s) / (second_time + 1 s)"),
    Mutant("        biggest-lead:", "[correctness_rank desc, time_rank desc]", "[correctness_rank desc]"),
    Mutant("        biggest-lead:", "winner: rank == 1", "winner: position == 1"),
    // The largest contribution.
    Mutant("        largest-contribution:", "pairs: count(competing per division)", "pairs: count(per division)"),
    Mutant("        largest-contribution:", "all_pairs: count(competing per all)", "all_pairs: count(per all)"),
    Mutant(
        "        largest-contribution:",
        "size: distinct(benchmark where in_view per division)",
        "size: distinct(benchmark per division)",
    ),
    Mutant("        largest-contribution:", "competitors: { keep: competing and", "competitors: { keep:"),
    Mutant(
        "        largest-contribution:",
        "not any(wrong_run per entrant, division)",
        "not any(wrong_run per entrant)",
    ),
    Mutant("        largest-contribution:", "not any(wrong_run per entrant, division)", "not wrong_run"),
    Mutant(
        "        largest-contribution:",
        "distinct(entrant per division) > 2",
        "distinct(entrant per division) >= 2",
    ),
    Mutant("        largest-contribution:", "distinct(entrant per division) > 2", "distinct(team per division) > 2"),
    Mutant("        largest-contribution:", "unsolved: if(considered, 1200 s, 0 s)", "unsolved: 1200 s"),
    Mutant("        largest-contribution:", "unsolved: if(considered, 1200 s, 0 s)", "unsolved: 0 s"),
    Mutant("        largest-contribution:", "max(n of other entrant per benchmark else 0)", "max(n per benchmark)"),
    Mutant(
        "        largest-contribution:",
        "best_t: min(t where solved_run per benchmark",
        "best_t: min(t per benchmark",
    ),
    Mutant(
        "        largest-contribution:",
        "rest_t: min(t where solved_run of other entrant",
        "rest_t: min(t of other entrant",
    ),
    Mutant(
        "        largest-contribution:",
        "vbs_n: sum(best_n once benchmark per division)",
        "vbs_n: sum(best_n per division)",
    ),
    Mutant("        largest-contribution:", "sum(best_t once benchmark per division)", "sum(best_t per division)"),
    Mutant(
        "        largest-contribution:",
        "+ (max(size) - distinct(benchmark where considered per division)) * 1200 s",
        "",
    ),
    Mutant("        largest-contribution:", "(lost_n / vbs_n else 0) * share", "(lost_n / vbs_n else 0)"),
    Mutant("        largest-contribution:", "lost_t / (vbs_t + lost_t)", "lost_t / vbs_t"),
    Mutant("        largest-contribution:", "entrant asc per division", "entrant desc per division"),
    // Deviations.
    Mutant("  unsound-anywhere:", "any(wrong per solver)", "\"any(wrong per solver, division)\""),
    Mutant("  removal-by-path:", "any(disputed per path)", "any(disputed per benchmark)"),
    Mutant("  late-answers:", "wall: if(late, limit, wall_time)", "wall: min(limit, wall_time)"),
    Mutant("  late-answers:", "cpu: if(late, limit, cpu_time)", "cpu: min(limit, cpu_time)"),
    Mutant(
        "  late-answers:",
        "sat: { let: { late: wall_time > limit } }",
        "sat: { let: { late: wall_time >= limit } }",
    ),
    Mutant("  errors-by-answer:", "opposite or (not in_view and not same)", "opposite"),
    Mutant("  errors-by-answer:", "given: if(same, says, unknown)", "given: if(same and in_view, says, unknown)"),
    Mutant("  order-of-the-script:", "cpu_time asc, wall_time asc, entrant asc", "cpu_time asc, entrant asc"),
    Mutant(
        "  order-of-the-script:",
        "cpu_time asc, wall_time asc, entrant asc",
        "cpu_time asc, wall_time asc, entrant desc",
    ),
    Mutant("  winner-without-tests:", "and correct > 0", ""),
    Mutant("  winner-without-tests:", "min(position where competing else 0)", "min(position)"),
    Mutant("  lead-of-the-script:", "distinct(solver per division) >= 2", "distinct(solver per division) >= 3"),
    Mutant("  contribution-of-the-script:", "\"max(n per division, path)\"", "max(n per benchmark)"),
    Mutant(
        "  contribution-of-the-script:",
        "of other entrant per division, path else 0 s",
        "of other entrant per division, path else 1200 s",
    ),
    Mutant("  contribution-of-the-script:", "solver desc per division", "solver asc per division"),
    Mutant("  contribution-of-the-script:", "sum(pairs per all)", "max(pairs per all)"),
    Mutant(
        "  contribution-of-the-script:",
        "t: if(n > 0, case(clock == 'cpu', cpu, wall), 1200 s)",
        "t: case(clock == 'cpu', cpu, wall)",
    ),
];

const MUTANTS_2014: &[Mutant] = &[
    Mutant(
        "        ends:",
        "timed_out: condition in ['cpu-limit', 'wall-limit']",
        "timed_out: condition in ['cpu-limit']",
    ),
    Mutant("        ends:", "or condition == 'memory-limit'", "or condition == 'crashed'"),
    Mutant("        answers:", "if(ended or late, unknown, answer)", "if(ended, unknown, answer)"),
    Mutant("        answers:", "if(ended or late, unknown, answer)", "if(late, unknown, answer)"),
    Mutant("        answers:", "status != unknown and says != status", "status != unknown and says == status"),
    Mutant("        times:", "cpu: min(cpu_time, limits.cpu)", "cpu: cpu_time"),
    Mutant("        times:", "wall: min(wall_time, wall_limit)", "wall: min(wall_time, 2400 s)"),
    Mutant("        times:", "counted: \"true\"", "counted: correct"),
    Mutant("      measures:", "is: count(error)", "is: count(error or ended)"),
    Mutant("      measures:", "sum(if(counted, cpu, 0 s))", "sum(if(correct, cpu, 0 s))"),
    Mutant("      measures:", "sum(if(counted, wall, 0 s))", "sum(if(counted, cpu, 0 s))"),
    Mutant("      counts:", "count(not correct and not error)", "count(not correct)"),
    Mutant("      counts:", "count(timed_out or late)", "count(timed_out)"),
    Mutant("      standings:", "distinct(team where competing)", "distinct(team)"),
    Mutant("      standings:", "solvers: { is: count(competing)", "solvers: { is: count()"),
    Mutant("      standings:", "log10(benchmarks else 0)", "log2(benchmarks else 0)"),
    Mutant("      winner:\n", "and solvers >= 2", ""),
    Mutant("      winner:\n", "competing and rank == 1", "rank == 1"),
    Mutant("        sequential:\n", "cpu_time asc", "cpu_time desc"),
    Mutant("        sequential:\n", "cpu_time asc", "wall_time asc"),
    Mutant("        parallel:\n", "late: wall_time > wall_limit", "late: wall_time >= wall_limit"),
    Mutant("        parallel:\n", "wall_limit: limits.wall / limits.cores", "wall_limit: limits.wall / 2"),
    Mutant("        parallel:\n", "error asc, correct desc", "correct desc, error asc"),
    Mutant("        medals-a:", "keep: competing and teams >= 2", "keep: competing"),
    Mutant("        medals-a:", "keep: competing and teams >= 2", "keep: teams >= 2"),
    Mutant("        medals-a:", "sum(error * weight)", "sum(error)"),
    Mutant("        medals-a:", "(correct / benchmarks else 0) ^ 2", "(correct / benchmarks else 0)"),
    Mutant("        medals-a:", "sum(cpu_time * weight)", "sum(cpu_time)"),
    Mutant("        medals-a:", "weighted_error asc, weighted_score desc", "weighted_score desc, weighted_error asc"),
    Mutant("        medals-a:", "weighted_score desc, weighted_time asc", "weighted_score desc"),
    Mutant("        medals-b:", "if(error == 0, weight", "if(error >= 0, weight"),
    Mutant("        medals-b:", "-(error * weight)", "error * weight"),
    Mutant("        medals-b:", "order: [weighted_score desc]", "order: [weighted_score asc]"),
    Mutant("  times-of-answers:", "counted: correct or error", "counted: correct"),
    Mutant(
        "  winner-of-one-team:",
        "position == min(position where competing else 0), rank",
        "rank == 1 and solvers >= 2, rank",
    ),
    Mutant("  winner-of-one-team:", "rank == 1 and solvers >= 2)", "rank == 1)"),
];

fn shape(seed: u64) -> Shape {
    let part = |by: u64, of: u64| usize::try_from((seed / by) % of).unwrap_or(0);
    Shape { divisions: 1 + part(1, 3), logics: 1 + part(3, 3), benchmarks: 3 + part(2, 7), entrants: 2 + part(1, 5) }
}

/// The competitions on which the edition and each of its mutants are compared with the second reading.
///
/// Every fifth has logics on which only solvers ran that do not compete, which is rare by itself.
fn competitions(name: &str) -> Vec<Vec<Row>> {
    let make = if name == SMT_COMP_2022 { competition_2022 } else { competition_2014 };
    let competition = |seed| {
        if seed % 5 > 0 || name == SMT_COMP_2014 {
            return make(shape(seed), seed);
        }
        let mut rows = make(Shape { divisions: 3, logics: 3, benchmarks: 4, entrants: 6 }, seed);
        rows.retain(|r| !r.competing || !["NIA", "AUFLIA", "FP"].contains(&r.logic.as_str()));
        rows
    };
    (0..250).map(competition).collect()
}

/// The text with one replacement: the first after the place.
fn mutate(text: &str, mutant: &Mutant) -> String {
    let Mutant(place, from, to) = mutant;
    // `tracks:` comes after the lists of sections, entrants and divisions, which repeat the same names.
    let tracks = text.find("\ntracks:").expect("an edition has tracks");
    let start = tracks + text[tracks..].find(place).unwrap_or_else(|| panic!("there is no `{place}`"));
    let at = start + text[start..].find(from).unwrap_or_else(|| panic!("there is no `{from}` after `{place}`"));
    // Far away, it is another rule's.
    assert!(at - start < 6_000, "`{from}` stands too far from `{place}`");
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

/// Why the mutant is dead, or nothing if it lives.
fn killed_by(folder: &Folder, name: &str, text: &str, competitions: &[Vec<Row>]) -> Option<String> {
    let path = folder.write(&format!("{name}.yaml"), text);
    let editions = READINGS.map(|second| (load(&path, reading(second)), second));
    competitions.iter().enumerate().find_map(|(seed, rows)| {
        editions.iter().find_map(|(edition, second)| {
            let differences = agree(edition, *second, rows).err()?;
            Some(format!("seed {seed}, {second:?}: {}", differences.lines().next().unwrap_or_default()))
        })
    })
}

fn check(name: &str, mutants: &[Mutant]) {
    let text = std::fs::read_to_string(edition_file(name)).expect("the edition can be read");
    let competitions = competitions(name);
    let folder = Folder::new();
    // The edition as it is agrees on the first of them; the other tests have it agree on many more.
    assert_eq!(killed_by(&folder, name, &text, &competitions[..20]), None);
    let mut survivors = Vec::new();
    for mutant in mutants {
        let changed = mutate(&text, mutant);
        let alive = std::panic::catch_unwind(|| killed_by(&folder, name, &changed, &competitions).is_none());
        if alive.as_ref().is_ok_and(|alive| !alive) {
            continue;
        }
        // A change that does not load would be caught by anything; it shows nothing about the tests.
        let what = if alive.is_ok() { "survives" } else { "does not load" };
        survivors.push(format!("{what}: `{}` for `{}` after `{}`", mutant.2, mutant.1, mutant.0.trim()));
    }
    assert!(survivors.is_empty(), "{} of {} mutants:\n{}", survivors.len(), mutants.len(), survivors.join("\n"));
}

#[test]
fn smt_comp_2022() {
    check(SMT_COMP_2022, MUTANTS_2022);
}

#[test]
fn smt_comp_2014() {
    check(SMT_COMP_2014, MUTANTS_2014);
}

/// Both readings are in the comparison: a change of a deviation alone is seen too.
#[test]
fn both_readings_are_compared() {
    assert!(READINGS.contains(&SecondReading::Rules) && READINGS.contains(&SecondReading::Published));
    assert!(MUTANTS_2022.len() + MUTANTS_2014.len() >= 25);
}
