//! The engine and the second reading score the same random competitions and must say the same in every column.
//!
//! The second reading shares no code with the engine and was written from the text of the rules alone. Competitions
//! are small, and full of the cases on which two scorers are likely to differ; a case that fails is named by its shape
//! and seed and is shrunk.

use agon_engine_tests::{
    READINGS, SMT_COMP_2014, SMT_COMP_2022, agree, archive, compare_2014, compare_2022, edition, everything, places,
};
use agon_score::engine::score;
use agon_score::input::{EntrantList, runs};
use agon_second_reading::archive::{read_archive_2014, read_archive_2022};
use agon_second_reading::random::{Shape, competition_2014, competition_2022, shapes};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

/// The same cases in every run: a failure is a fact about the code, not about the day.
fn config(cases: u32) -> Config {
    Config {
        cases,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(20_220_811),
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn smt_comp_2022(shape in shapes(), seed in any::<u64>().no_shrink()) {
        let rows = competition_2022(shape, seed);
        for second in READINGS {
            if let Err(differences) = agree(edition(SMT_COMP_2022, second), second, &rows) {
                prop_assert!(false, "{second:?}, {shape:?}, seed {seed}:\n{differences}");
            }
        }
    }

    #[test]
    fn smt_comp_2014(shape in shapes(), seed in any::<u64>().no_shrink()) {
        let rows = competition_2014(shape, seed);
        for second in READINGS {
            if let Err(differences) = agree(edition(SMT_COMP_2014, second), second, &rows) {
                prop_assert!(false, "{second:?}, {shape:?}, seed {seed}:\n{differences}");
            }
        }
    }
}

/// A competition of one entrant or one benchmark is where a group, a rest or a weight can be empty.
#[test]
fn the_smallest_competitions() {
    for seed in 0..60 {
        for (benchmarks, entrants) in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 2)] {
            let shape =
                Shape { divisions: 1 + usize::try_from(seed % 2).unwrap_or(0), logics: 2, benchmarks, entrants };
            for second in READINGS {
                let rows = competition_2022(shape, seed);
                if let Err(differences) = agree(edition(SMT_COMP_2022, second), second, &rows) {
                    panic!("2022, {second:?}, {shape:?}, seed {seed}:\n{differences}");
                }
                let rows = competition_2014(shape, seed);
                if let Err(differences) = agree(edition(SMT_COMP_2014, second), second, &rows) {
                    panic!("2014, {second:?}, {shape:?}, seed {seed}:\n{differences}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn the_archived_results_of_2022() {
    let folder = archive().join("smt-comp-2022");
    let results = folder.join("results-single-query.csv.zst");
    let mut rows = read_archive_2022(&results, Some(&folder.join("solvers.csv"))).expect("the archive can be read");
    // The registration names some bases of variants by numbers that appear nowhere else; the edition knows the teams.
    for row in &mut rows {
        let entrants = &edition(SMT_COMP_2022, READINGS[0]).entrants.list;
        if let Some(team) = entrants.iter().find(|e| e["solver"] == row.solver).and_then(|e| e.get("team")) {
            row.team.clone_from(team);
        }
    }
    for second in READINGS {
        let edition = edition(SMT_COMP_2022, second);
        let tracks = runs(edition, std::slice::from_ref(&results), &EntrantList::of_edition(edition), None);
        let tracks = tracks.expect("the engine can read the archive");
        let scores = score(edition, &tracks[0], &everything()).expect("the engine can score the archive");
        match compare_2022(&places(&scores), &rows, second).result() {
            Ok(compared) => assert!(compared > 30_000, "{compared} values"),
            Err(differences) => panic!("{second:?}:\n{differences}"),
        }
    }
}

#[test]
#[ignore = "needs the archive: set AGON_ARCHIVE"]
fn the_archived_results_of_2014() {
    let folder = archive().join("smt-comp-2014");
    let results = folder.join("results-main.csv.xz");
    let rows = read_archive_2014(&results, &folder.join("solvers.csv")).expect("the archive can be read");
    for second in READINGS {
        let edition = edition(SMT_COMP_2014, second);
        // Once with the list of the archive and once with the edition's own: they are the same entrants.
        let lists = [EntrantList::read(edition, &folder.join("solvers.csv")), Ok(EntrantList::of_edition(edition))];
        for list in lists {
            let tracks = runs(edition, std::slice::from_ref(&results), &list.expect("the list can be read"), None);
            let tracks = tracks.expect("the engine can read the archive");
            let scores = score(edition, &tracks[0], &everything()).expect("the engine can score the archive");
            match compare_2014(&places(&scores), &rows, second).result() {
                Ok(compared) => assert!(compared > 3_000, "{compared} values"),
                Err(differences) => panic!("{second:?}:\n{differences}"),
            }
        }
    }
}
