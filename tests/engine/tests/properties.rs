//! What holds for every competition, whatever its results: on random competitions, for both editions in both readings.

use std::collections::BTreeMap;

use agon_edition::Edition;
use agon_engine_tests::{
    Place, READINGS, SMT_COMP_2014, SMT_COMP_2022, SecondReading, csv_of, edition, everything, places, runs_of,
    scores_of,
};
use agon_score::engine::{Selection, TrackScores, score};
use agon_second_reading::random::{Shape, competition_2014, competition_2022, shapes};
use agon_second_reading::{Answer, Condition, Row};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

fn config(cases: u32) -> Config {
    Config {
        cases,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(20_140_717),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A competition by its shape and seed, which is all that a failing test prints.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    shape: Shape,
    seed: u64,
    known_only: bool,
}

impl Case {
    fn rows(&self) -> Vec<Row> {
        let make = if self.name == SMT_COMP_2022 { competition_2022 } else { competition_2014 };
        let mut rows = make(self.shape, self.seed);
        if self.known_only {
            rows.retain(|r| r.expected != Answer::Unknown);
        }
        rows
    }
}

/// Competitions of both editions.
fn competitions() -> impl Strategy<Value = Case> {
    let name = prop_oneof![Just(SMT_COMP_2022), Just(SMT_COMP_2014)];
    (name, shapes(), any::<u64>().no_shrink()).prop_map(|(name, shape, seed)| Case {
        name,
        shape,
        seed,
        known_only: false,
    })
}

/// The same with known statuses only: no solver's answer then decides which benchmarks count.
fn competitions_of_known_status() -> impl Strategy<Value = Case> {
    competitions().prop_map(|case| Case { known_only: true, ..case })
}

fn scored(edition: &Edition, rows: &[Row]) -> Vec<Place> {
    places(&scores_of(edition, rows).expect("the rows can be scored"))
}

/// The tables of standings: rows by table, view, division and logic.
fn tables(places: &[Place]) -> BTreeMap<[&str; 4], Vec<&Place>> {
    let mut tables: BTreeMap<[&str; 4], Vec<&Place>> = BTreeMap::new();
    for place in places.iter().filter(|p| p.table == "division" || p.table == "logic") {
        let key = [place.table.as_str(), &place.view, place.text("division"), place.text("logic")];
        tables.entry(key).or_default().push(place);
    }
    tables
}

/// Whether `a` is strictly better than `b`, by the order that both rule documents give. The clock is the only thing
/// that the views differ in; `then` says whether the other clock breaks ties.
fn better(a: &Place, b: &Place, sequential: bool, then: bool) -> bool {
    let (first, second) = if sequential { ("cpu_time", "wall_time") } else { ("wall_time", "cpu_time") };
    let key = |p: &Place| {
        let second = if then { p.int(second) } else { 0 };
        (p.int("error"), -p.int("correct"), p.int(first), second)
    };
    key(a) < key(b)
}

fn shuffled(rows: &[Row], seed: u64) -> Vec<Row> {
    let mut rows = rows.to_vec();
    let mut state = seed | 1;
    for i in (1..rows.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.swap(i, usize::try_from(state >> 33).unwrap_or(0) % (i + 1));
    }
    rows
}

/// The places of an entrant: table and group to rank and position.
fn ranks<'a>(places: &'a [Place], entrant: &str) -> BTreeMap<[&'a str; 4], (i128, i128)> {
    let mut ranks = BTreeMap::new();
    for (key, rows) in tables(places) {
        for place in rows {
            if place.text("entrant") == entrant {
                ranks.insert(key, (place.int("rank"), place.int("position")));
            }
        }
    }
    ranks
}

proptest! {
    #![proptest_config(config(120))]

    /// The order of the rows in a file shows nowhere, not in one byte.
    #[test]
    fn the_order_of_rows_does_not_matter(case in competitions(), seed in any::<u64>()) {
        let (name, rows) = (case.name, case.rows());
        for second in READINGS {
            let edition = edition(name, second);
            let of = |rows: &[Row]| csv_of(edition, scores_of(edition, rows).expect("the rows can be scored"));
            prop_assert_eq!(of(&rows), of(&shuffled(&rows, seed)));
        }
    }

    /// Views keep columns for each other; none shows in the other's scores.
    #[test]
    fn a_view_alone_is_what_it_is_among_others(case in competitions()) {
        let (name, rows) = (case.name, case.rows());
        for second in READINGS {
            let edition = edition(name, second);
            let runs = runs_of(edition, &rows, None).expect("the rows can be read");
            let all = score(edition, &runs, &everything()).expect("the rows can be scored");
            let (track, form) = (all.track, all.form);
            for view in all.views {
                let only = Selection { views: vec![view.view.clone()], ..everything() };
                let alone = score(edition, &runs, &only).expect("the rows can be scored");
                let among = TrackScores { track: track.clone(), form: form.clone(), views: vec![view] };
                prop_assert_eq!(csv_of(edition, alone), csv_of(edition, among));
            }
        }
    }

    /// A run that is given twice is an error, not a second point.
    #[test]
    fn no_run_counts_twice(case in competitions(), pick in any::<prop::sample::Index>()) {
        let (name, mut rows) = (case.name, case.rows());
        let row = rows[pick.index(rows.len())].clone();
        rows.push(row.clone());
        let error = runs_of(edition(name, SecondReading::Rules), &rows, None).expect_err("a run was given twice");
        prop_assert!(error.to_string().contains(&row.benchmark), "{}", error);
    }

    /// Positions number the rows; a rank is one more than the competing entrants strictly above; the order is that of
    /// the rules; counts add up.
    #[test]
    fn tables_are_in_order(case in competitions()) {
        let (name, rows) = (case.name, case.rows());
        for second in READINGS {
            let places = scored(edition(name, second), &rows);
            for (key, rows) in tables(&places) {
                let sequential = key[1] == "sequential";
                let then = name == SMT_COMP_2022 && (!sequential || second == SecondReading::Published);
                let above = |a: &Place, b: &Place| better(a, b, sequential, then);
                for (at, place) in rows.iter().enumerate() {
                    prop_assert_eq!(place.int("position"), at as i128 + 1, "{:?}", key);
                    let rank = place.int("rank");
                    prop_assert!(rank >= 1 && rank <= rows.len() as i128, "{:?}", key);
                    // As published in 2022 no place is shared: whoever is listed above is above.
                    let unshared = name == SMT_COMP_2022 && second == SecondReading::Published;
                    let count = rows
                        .iter()
                        .enumerate()
                        .filter(|(i, r)| r.yes("competing") && (above(r, place) || (unshared && *i < at)))
                        .count();
                    prop_assert_eq!(rank, count as i128 + 1, "{:?}", key);
                    if at > 0 {
                        prop_assert!(!above(place, rows[at - 1]), "{:?}", key);
                    }
                    prop_assert_eq!(place.int("solved"), place.int("solved_sat") + place.int("solved_unsat"));
                    prop_assert_eq!(place.int("solved"), place.int("correct"));
                    prop_assert!(place.int("solved") + place.int("unsolved") <= place.int("benchmarks"));
                }
                let keys: std::collections::BTreeSet<&str> = rows.iter().map(|p| p.text("entrant")).collect();
                prop_assert_eq!(keys.len(), rows.len());
            }
        }
    }

    /// A winner competes, has rank 1 and is the only one but for equal scores; and there is one wherever the rules
    /// want one.
    #[test]
    fn there_is_the_winner_that_the_rules_want(case in competitions()) {
        let (name, rows) = (case.name, case.rows());
        for second in READINGS {
            let places = scored(edition(name, second), &rows);
            for (key, rows) in tables(&places) {
                let competing: Vec<&&Place> = rows.iter().filter(|p| p.yes("competing")).collect();
                let teams: std::collections::BTreeSet<&str> = competing.iter().map(|p| p.text("team")).collect();
                let solved = competing.first().is_some_and(|p| p.int("correct") > 0);
                let shown = name == SMT_COMP_2022 || key[1] == "sequential";
                let wanted = match (name, second) {
                    (SMT_COMP_2022, SecondReading::Rules) => teams.len() >= 2 && solved,
                    (SMT_COMP_2022, SecondReading::Published) => solved,
                    (_, SecondReading::Published) if shown => !competing.is_empty(),
                    _ => competing.len() >= 2,
                };
                let winners: Vec<&&Place> = rows.iter().filter(|p| p.yes("winner")).collect();
                prop_assert_eq!(!winners.is_empty(), wanted, "{:?}", key);
                prop_assert!(winners.iter().all(|p| p.yes("competing") && p.int("rank") == 1), "{:?}", key);
                if let Some(first) = competing.first().filter(|_| wanted) {
                    prop_assert!(first.yes("winner"), "{:?}", key);
                }
                if second == SecondReading::Published && shown {
                    prop_assert!(winners.len() <= 1, "{:?}", key);
                }
            }
        }
    }

    /// By the rules a contribution is a number between 0 and 1. The time rank could be negative only where CPU time
    /// above 1200 s stood against the 1200 s of an unsolved benchmark; the sequential score bounds CPU time by 1200 s,
    /// and all other views compare wall-clock time.
    #[test]
    fn contributions_are_between_0_and_1(case in competitions()) {
        let case = Case { name: SMT_COMP_2022, ..case };
        let rows = case.rows();
        let places = scored(edition(SMT_COMP_2022, SecondReading::Rules), &rows);
        for place in places.iter().filter(|p| p.table == "largest-contribution") {
            for column in ["correct", "time_rank"] {
                let rank = place.exact(column);
                prop_assert!(rank.signum() >= 0 && rank <= agon_table::Exact::ONE, "{column} {rank}: {place:?}");
            }
        }
        // A lead is at least 1 where the next solver has no more errors than the winner.
        for place in places.iter().filter(|p| p.table == "biggest-lead") {
            let errors = |solver: &str| {
                let in_division = |p: &&Place| {
                    p.table == "division"
                        && p.view == place.view
                        && p.text("division") == place.text("division")
                        && p.text("solver") == solver
                };
                places.iter().find(in_division).map(|p| p.int("error"))
            };
            if errors(place.text("second")) == errors(place.text("solver")) {
                prop_assert!(place.exact("correct") >= agon_table::Exact::ONE, "{place:?}");
            }
        }
    }

    /// One more correct answer never lowers an entrant's place, all else being equal.
    #[test]
    fn a_correct_answer_does_no_harm(case in competitions(), pick in any::<prop::sample::Index>()) {
        let (name, mut rows) = (case.name, case.rows());
        let open: Vec<usize> = (0..rows.len())
            .filter(|&i| rows[i].answer == Answer::Unknown && rows[i].expected != Answer::Unknown)
            .collect();
        prop_assume!(!open.is_empty());
        let at = open[pick.index(open.len())];
        for second in READINGS {
            let edition = edition(name, second);
            let entrant = rows[at].entrant.clone();
            rows[at].answer = Answer::Unknown;
            let before = scored(edition, &rows);
            rows[at].answer = rows[at].expected;
            let after = scored(edition, &rows);
            let (before, after) = (ranks(&before, &entrant), ranks(&after, &entrant));
            for (key, (rank, position)) in after {
                if ["sequential", "parallel", "24s"].contains(&key[1]) {
                    let was = before[&key];
                    prop_assert!(rank <= was.0 && position <= was.1, "{key:?}: {was:?} became {rank}, {position}");
                }
            }
        }
    }

    /// One more error never raises it.
    #[test]
    fn an_error_does_no_good(
        case in competitions_of_known_status(),
        pick in any::<prop::sample::Index>(),
    ) {
        let (name, mut rows) = (case.name, case.rows());
        prop_assume!(!rows.is_empty());
        let at = pick.index(rows.len());
        let entrant = rows[at].entrant.clone();
        let (right, wrong) = match rows[at].expected {
            Answer::Sat => (Answer::Sat, Answer::Unsat),
            _ => (Answer::Unsat, Answer::Sat),
        };
        for second in READINGS {
            let edition = edition(name, second);
            for answer in [right, Answer::Unknown] {
                rows[at].answer = answer;
                let before = scored(edition, &rows);
                rows[at].answer = wrong;
                let after = scored(edition, &rows);
                let (before, after) = (ranks(&before, &entrant), ranks(&after, &entrant));
                for (key, (rank, position)) in after {
                    // As published in 2014 only answered runs cost time, but an error outweighs all of it.
                    if ["sequential", "parallel", "24s"].contains(&key[1]) {
                        let was = before[&key];
                        prop_assert!(rank >= was.0 && position >= was.1, "{key:?}: {was:?} became {rank}, {position}");
                    }
                }
            }
        }
    }

    /// Who does not compete moves nobody who does.
    #[test]
    fn guests_move_nobody(case in competitions_of_known_status(), pick in any::<prop::sample::Index>()) {
        let (name, rows) = (case.name, case.rows());
        let guests: std::collections::BTreeSet<&str> =
            rows.iter().filter(|r| !r.competing).map(|r| r.entrant.as_str()).collect();
        prop_assume!(!guests.is_empty());
        let guest = *pick.get(&guests.iter().copied().collect::<Vec<_>>());
        let without: Vec<Row> = rows.iter().filter(|r| r.entrant != guest).cloned().collect();
        prop_assume!(!without.is_empty());
        for second in READINGS {
            let edition = edition(name, second);
            let (with, without) = (scored(edition, &rows), scored(edition, &without));
            let of = |places: &[Place]| {
                let mut ranks = BTreeMap::new();
                for (key, rows) in tables(places) {
                    for place in rows.iter().filter(|p| p.yes("competing")) {
                        let key = (key.map(str::to_owned), place.text("entrant").to_owned());
                        ranks.insert(key, (place.int("rank"), place.yes("winner")));
                    }
                }
                ranks
            };
            prop_assert_eq!(of(&with), of(&without));
            let leads = |places: &[Place]| {
                let leads = places.iter().filter(|p| p.table == "biggest-lead");
                leads.map(|p| (p.view.clone(), p.text("solver").to_owned(), p.exact("correct"))).collect::<Vec<_>>()
            };
            prop_assert_eq!(leads(&with), leads(&without));
        }
    }

    /// The sat and unsat scores share out the instances of known status: together they are the parallel score.
    #[test]
    fn sat_and_unsat_scores_add_up(case in competitions_of_known_status()) {
        let (name, rows) = (case.name, case.rows());
        prop_assume!(name == SMT_COMP_2022 && !rows.is_empty());
        for second in READINGS {
            let places = scored(edition(name, second), &rows);
            let mut sums: BTreeMap<[&str; 4], [i128; 6]> = BTreeMap::new();
            for (key, rows) in tables(&places) {
                let sign = match key[1] {
                    "parallel" => -1,
                    "sat" | "unsat" => 1,
                    _ => continue,
                };
                for place in rows {
                    let key = [key[0], key[2], key[3], place.text("entrant")];
                    let sums = sums.entry(key).or_default();
                    for (sum, column) in sums.iter_mut().zip(["error", "correct", "solved_sat", "solved_unsat"]) {
                        *sum += sign * place.int(column);
                    }
                    if second == SecondReading::Rules {
                        sums[4] += sign * place.int("cpu_time");
                        sums[5] += sign * place.int("wall_time");
                    }
                }
            }
            prop_assert!(sums.values().all(|s| *s == [0; 6]), "{:?}", sums);
        }
    }
}

/// The conditions under which the properties say something occur: competitions have guests, equal scores and both
/// kinds of runs.
#[test]
fn the_properties_are_not_empty() {
    let shape = Shape { divisions: 3, logics: 2, benchmarks: 6, entrants: 5 };
    let (mut guests, mut stopped, mut shared) = (0, 0, 0);
    for seed in 0..40 {
        let rows = competition_2014(shape, seed);
        guests += usize::from(rows.iter().any(|r| !r.competing));
        stopped += usize::from(rows.iter().any(|r| r.condition != Condition::Complete));
        let places = scored(edition(SMT_COMP_2014, SecondReading::Rules), &rows);
        shared += usize::from(
            tables(&places)
                .values()
                .any(|rows| rows.windows(2).any(|w| w[0].yes("competing") && w[0].int("rank") == w[1].int("rank"))),
        );
    }
    assert!(guests > 10 && stopped > 10 && shared > 10, "{guests} {stopped} {shared}");
}
