//! The comparison with published figures: what counts as equal, what is a difference, what explains one.

use Answer::{Sat, Unknown, Unsat};
use SecondReading::{Published, Rules};
use agon_edition::{Edition, Reading};
use agon_engine_tests::{
    Folder, SMT_COMP_2014, SMT_COMP_2022, SecondReading, csv_of, edition, edition_file, load, run, runs_of, scores_of,
};
use agon_score::ScoreError;
use agon_score::engine::{Selection, TrackScores, score};
use agon_score::verify::{Difference, Report, Wanted, explain_by_deviations, verify};
use agon_second_reading::random::{Shape, competition_2014, competition_2022};
use agon_second_reading::{Answer, Row};

fn compare(name: &str, second: SecondReading, scores: TrackScores, csv: &str) -> Report {
    compare_with(edition(name, second), scores, csv)
}

fn compare_with(edition: &Edition, scores: TrackScores, csv: &str) -> Report {
    let folder = Folder::new();
    let file = folder.write("published.csv", csv);
    verify(edition, &[scores], &file, &Wanted::default()).expect("the file can be compared")
}

/// Standings only: shares of rankings do not end as decimals.
fn standings(name: &str, second: SecondReading, rows: &[Row]) -> TrackScores {
    let edition = edition(name, second);
    let runs = runs_of(edition, rows, None).expect("the rows can be read");
    score(edition, &runs, &Selection::default()).expect("the rows can be scored")
}

/// What the program prints, it finds equal; and every single cell that is changed is found.
#[test]
fn every_changed_figure_is_found() {
    let shape = Shape { divisions: 2, logics: 2, benchmarks: 5, entrants: 4 };
    for (name, rows) in [(SMT_COMP_2022, competition_2022(shape, 3)), (SMT_COMP_2014, competition_2014(shape, 3))] {
        for second in [Rules, Published] {
            let csv = csv_of(edition(name, second), standings(name, second, &rows));
            let same = compare(name, second, standings(name, second, &rows), &csv);
            let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
            // All columns but the six of the key, in all rows.
            let lines = csv.lines().count() - 1;
            assert_eq!((same.compared, same.equal), (lines * (header.len() - 6), lines * (header.len() - 6)));
            assert!(same.differences.is_empty() && same.not_computed.is_empty());
            let keys = ["track", "table", "division", "logic", "view", "solver"];
            for (at, column) in header.iter().enumerate().filter(|(_, c)| !keys.contains(c)) {
                let line = 1 + (at * 7) % lines;
                let changed: Vec<String> = csv
                    .lines()
                    .enumerate()
                    .map(|(number, text)| {
                        let mut cells: Vec<String> = text.split(',').map(str::to_owned).collect();
                        if number == line {
                            cells[at] = match cells[at].as_str() {
                                "yes" => "no".into(),
                                "no" => "yes".into(),
                                // A nanosecond more, or a billionth.
                                number if number.parse::<f64>().is_ok() => {
                                    let point = if number.contains('.') { "" } else { "." };
                                    format!("{number}{point}000000001")
                                }
                                text => format!("{text}x"),
                            };
                        }
                        cells.join(",")
                    })
                    .collect();
                let report = compare(name, second, standings(name, second, &rows), &changed.join("\n"));
                assert_eq!(report.differences.len(), 1, "{column}");
                assert_eq!(report.differences[0].column, *column);
                assert_eq!(report.differences[0].line, line as u64 + 1);
                assert_eq!((report.compared, report.equal), (same.compared, same.compared - 1));
            }
        }
    }
}

const FIGURES: &str = "edition,track,table,division,logic,score_kind,position,rank,solver,competitive,error,correct,\
                       time_rank,cpu_time,wall_time,timeout,solved,solved_sat,solved_unsat,unsolved,abstained,memout,\
                       winner\n";
/// The cells of the columns behind the time limit, none of which was published.
const NOTHING: &str = ",,,,,,,";

/// One published row about the solver p in the parallel score, which has one benchmark in 1.5 s of CPU time and 1 s of
/// wall-clock time.
fn published_row(cells: &str) -> Report {
    row_as_published(cells).expect("the file can be compared")
}

fn row_as_published(cells: &str) -> Result<Report, ScoreError> {
    let rows = [run("p", "a", Sat, Sat, 1_500, 1_000), run("q", "a", Sat, Unknown, 2_000, 2_000)];
    let edition = edition(SMT_COMP_2022, Published);
    let scores = scores_of(edition, &rows).expect("the rows can be scored");
    let folder = Folder::new();
    let file = folder.write("published.csv", &format!("{FIGURES}{cells}{NOTHING}\n"));
    verify(edition, &[scores], &file, &Wanted::default())
}

/// The tolerance is that of the printed digits: 0.001 s for times, no more; none for counts, places and words.
#[test]
fn tolerances() {
    let row = |cpu: &str, correct: &str, rank: &str| {
        let report = published_row(&format!(
            "2022,single-query,division,Arith,,parallel,1,{rank},p,yes,0,{correct},,{cpu},1.0,"
        ));
        // Key columns are no figures, and an empty cell was not published.
        assert_eq!(report.compared, 8);
        report.differences.len()
    };
    assert_eq!(row("1.5", "1", "1"), 0);
    assert_eq!(row("1.501", "1", "1"), 0);
    assert_eq!(row("1.499", "1", "1"), 0);
    assert_eq!(row("1.5010001", "1", "1"), 1);
    assert_eq!(row("1.4989999", "1", "1"), 1);
    assert_eq!(row("1.5", "1.00000001", "1"), 0);
    assert_eq!(row("1.5", "1.00000002", "1"), 1);
    assert_eq!(row("1.5", "0.99999998", "1"), 1);
    assert_eq!(row("1.5", "1", "2"), 1);
    assert_eq!(row("2", "2", "2"), 3);
    let report = published_row("2022,single-query,division,Arith,,parallel,1,1,p,yes,0,,,1.5,1.0,");
    assert_eq!((report.compared, report.equal), (7, 7), "an empty cell is no figure");
    // What is no number cannot be one that differs.
    let error = row_as_published("2022,single-query,division,Arith,,parallel,1,1,p,yes,0,one,,1.5,1.0,");
    assert!(error.expect_err("a word").to_string().contains("row 2, column `correct`"));
}

/// A row about nobody is a difference, not silence; one about a track without results is counted apart.
#[test]
fn rows_without_a_standing() {
    let report = published_row("2022,single-query,division,Arith,,parallel,3,3,nobody,yes,0,1,,1.5,1.0,");
    assert_eq!((report.compared, report.differences.len(), report.unexplained()), (1, 1, 1));
    assert_eq!((report.differences[0].column.as_str(), report.differences[0].computed.as_ref()), ("row", None));
    let report = published_row("2022,unsat-core,division,Arith,,parallel,1,1,p,yes,0,1,,1.5,1.0,");
    assert_eq!((report.compared, report.differences.len()), (0, 0));
    assert_eq!(report.without_results["unsat-core"], 1);
    // A track that the edition does not have can never be compared.
    let report = published_row("2022,single-qery,division,Arith,,parallel,1,1,p,yes,0,1,,1.5,1.0,");
    assert_eq!((report.compared, report.differences.len(), report.unexplained()), (1, 1, 1));
    assert_eq!(
        (report.differences[0].column.as_str(), report.differences[0].published.as_str()),
        ("track", "single-qery")
    );
    assert!(report.without_results.is_empty());
}

/// An entry of the ledger explains what it is about, and only as far as it holds.
#[test]
fn the_ledger_explains_no_more_than_it_says() {
    let row = |view: &str, cpu: &str| {
        let report = published_row(&format!("2022,single-query,division,Arith,,{view},1,1,p,yes,0,1,,{cpu},1.0,"));
        assert_eq!(report.differences.len(), 1, "{view} {cpu}");
        report.differences[0].explained.clone()
    };
    // Sequential CPU times may be published smaller than the archive has them, but not greater, and in no other view.
    assert_eq!(row("sequential", "1.4"), Some("sequential-cpu-times".into()));
    // Nor smaller by more than a tenth.
    assert_eq!(row("sequential", "1.2"), None);
    assert_eq!(row("sequential", "1.7"), None);
    assert_eq!(row("parallel", "1.4"), None);
    // No entry of it is about a text that is no number.
    let words = row_as_published("2022,single-query,division,Arith,,sequential,1,1,p,yes,0,1,,little,1.0,");
    assert!(words.is_err());
    // Another is about the places in two logics. A file that knows no logics has nothing to do with it.
    let rows = [run("p", "a", Sat, Sat, 1_500, 1_000), run("q", "a", Sat, Unknown, 2_000, 2_000)];
    let csv = "track,table,view,division,solver,position\nsingle-query,division,sequential,Arith,p,2\n";
    let report = compare(SMT_COMP_2022, Published, standings(SMT_COMP_2022, Published, &rows), csv);
    assert_eq!((report.differences.len(), report.unexplained()), (1, 1));
}

/// By the rules a difference is explained by the deviations if, and only if, it vanishes with them.
#[test]
fn deviations_explain_what_they_remove() {
    let rows = [
        run("p", "a", Unsat, Sat, 5_000, 5_000),
        run("p", "b", Sat, Sat, 1_000, 1_000),
        run("q", "a", Unsat, Unsat, 1_000, 1_000),
        run("q", "b", Sat, Sat, 2_000, 2_000),
    ];
    // As published, p has its wrong sat in the sat score. Two figures are true in neither reading: a time of the same
    // row, and a count of another.
    let csv = format!(
        "{FIGURES}2022,single-query,division,Arith,,sat,2,2,p,yes,1,1,,6.0,66.0,{NOTHING}\n\
         2022,single-query,division,Arith,,parallel,1,1,q,yes,7,2,,3.0,3.0,{NOTHING}\n"
    );
    let of = |second| {
        let scores = scores_of(edition(SMT_COMP_2022, second), &rows).expect("the rows can be scored");
        compare(SMT_COMP_2022, second, scores, &csv)
    };
    let (mut rules, published) = (of(Rules), of(Published));
    let texts = |report: &Report| -> Vec<String> {
        let open = report.differences.iter().filter(|d| d.explained.is_none());
        open.map(|d| format!("line {}: {} {}", d.line, d.column, d.published)).collect()
    };
    assert_eq!(texts(&published), ["line 2: wall_time 66.0", "line 3: error 7"]);
    let before = rules.differences.len();
    assert!(before > 2 && rules.unexplained() == before);
    let alone: Vec<(String, Report)> = edition(SMT_COMP_2022, Rules)
        .deviations
        .iter()
        .map(|deviation| {
            let reading = Reading::With(std::iter::once(deviation.name.clone()).collect());
            let edition = load(&edition_file(SMT_COMP_2022), reading);
            let scores = scores_of(&edition, &rows).expect("the rows can be scored");
            (deviation.name.clone(), compare_with(&edition, scores, &csv))
        })
        .collect();
    explain_by_deviations(&mut rules, &published, &alone);
    // The one deviation that is needed is named, for each figure.
    let named = |line: u64| -> Vec<&str> {
        let all = rules.differences.iter().filter(|d| d.line == line).filter_map(|d| d.explained.as_deref());
        all.filter(|name| name.starts_with("deviations")).collect()
    };
    assert!(!named(2).is_empty() && named(2).iter().all(|n| *n == "deviations: errors-by-answer"), "{:?}", named(2));
    assert_eq!(rules.differences.len(), before);
    assert_eq!(texts(&rules), texts(&published));
    assert_eq!(
        rules.summary(),
        format!("figures: 16 compared, {} equal, {} explained, 2 unexplained", 16 - before, before - 2)
    );
}

/// Several forms may read one file, so that its lines come more than once: each figure is found by itself.
#[test]
fn figures_of_several_forms_are_told_apart() {
    let difference = |line: u64, view: &str, computed: &str| Difference {
        line,
        key: [("view".to_string(), view.to_string())].into_iter().collect(),
        form: "archive".into(),
        column: "correct".into(),
        published: "5".into(),
        computed: Some(computed.into()),
        explained: None,
    };
    let report = |differences: Vec<Difference>| Report { differences, ..Report::default() };
    // Two forms, each with the lines 2 and 9.
    let all =
        || vec![difference(2, "a", "4"), difference(9, "a", "4"), difference(2, "b", "4"), difference(9, "b", "4")];
    let mut rules = report(all());
    let mut published = all();
    published.remove(3);
    let mut changed = all();
    changed[3].computed = Some("6".into());
    let alone = [("idle".to_string(), report(all())), ("half".to_string(), report(changed))];
    explain_by_deviations(&mut rules, &report(published), &alone);
    let explained: Vec<Option<&str>> = rules.differences.iter().map(|d| d.explained.as_deref()).collect();
    assert_eq!(explained, [None, None, None, Some("deviations: half (together)")]);
}

/// Only the rows that are asked for count.
#[test]
fn a_part_of_the_file() {
    let rows = [run("p", "a", Sat, Sat, 1_500, 1_000), run("q", "a", Sat, Unknown, 2_000, 2_000)];
    let all = standings(SMT_COMP_2022, Rules, &rows);
    let csv = csv_of(edition(SMT_COMP_2022, Rules), all);
    let folder = Folder::new();
    let file = folder.write("published.csv", &csv);
    let scores = [standings(SMT_COMP_2022, Rules, &rows)];
    let wanted = Wanted { columns: vec![("view".into(), "24s".into()), ("table".into(), "logic".into())] };
    let report = verify(edition(SMT_COMP_2022, Rules), &scores, &file, &wanted).expect("the file can be compared");
    let columns = csv.lines().next().expect("a header").split(',').count() - 6;
    assert_eq!((report.compared, report.equal), (2 * columns, 2 * columns));
    let odd = folder.write("odd.csv", "who,what\np,1\n");
    let error = verify(edition(SMT_COMP_2022, Rules), &scores, &odd, &Wanted::default());
    assert!(error.expect_err("nothing recognises this").to_string().contains("odd.csv"));
}
