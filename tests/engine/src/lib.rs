//! What the tests of the scoring engine share: editions, results written and scored, places read off the scores, and
//! the comparison with the second reading of the rules.
//!
//! The engine is always given files in the form of the archived editions, as a user would give them, so that reading,
//! joining and scoring are tested together. Editions are read from the repository, not from the copies that the
//! program carries along; `AGON_TEST_EDITIONS` names another folder to read them from, which is how changed editions
//! are tried.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use agon_edition::{Edition, Reading};
use agon_score::ScoreError;
use agon_score::adjudication::Adjudication;
use agon_score::engine::{Selection, Standings, TrackScores, score};
use agon_score::input::{EntrantList, TrackRuns, runs};
use agon_score::output::{self, Filter};
use agon_second_reading::archive::{write_archive_2014, write_archive_2022};
use agon_second_reading::smt_comp_2014::Medal;
use agon_second_reading::{Answer, Condition, Ns, RankingRow, Row, SECOND, Standing, smt_comp_2014, smt_comp_2022};
use agon_table::{Exact, Value};
use indexmap::IndexMap;
use tempfile::TempDir;

pub use agon_second_reading::Reading as SecondReading;

/// Both readings of an edition.
pub const READINGS: [SecondReading; 2] = [SecondReading::Rules, SecondReading::Published];

/// The name of an edition.
pub const SMT_COMP_2014: &str = "smt-comp-2014";
/// The name of an edition.
pub const SMT_COMP_2022: &str = "smt-comp-2022";

/// The engine's reading that corresponds to one of the second reading.
#[must_use]
pub fn reading(second: SecondReading) -> Reading {
    match second {
        SecondReading::Rules => Reading::Rules,
        SecondReading::Published => Reading::Published,
    }
}

/// The file of an edition in the repository.
#[must_use]
pub fn edition_file(name: &str) -> PathBuf {
    let folder = std::env::var_os("AGON_TEST_EDITIONS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editions"), PathBuf::from);
    folder.join(format!("{name}.yaml"))
}

/// An edition from a file.
///
/// # Panics
/// If it has errors.
#[must_use]
pub fn load(path: &Path, reading: Reading) -> Edition {
    match agon_edition::load(&path.display().to_string(), reading) {
        Ok((edition, _)) => edition,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// An edition of the repository, read once for all tests of a program.
///
/// # Panics
/// If it has errors.
#[must_use]
pub fn edition(name: &str, second: SecondReading) -> &'static Edition {
    static EDITIONS: OnceLock<Mutex<BTreeMap<(String, SecondReading), &'static Edition>>> = OnceLock::new();
    let mut editions = EDITIONS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    editions
        .entry((name.to_owned(), second))
        .or_insert_with(|| Box::leak(Box::new(load(&edition_file(name), reading(second)))))
}

/// Where the archive of past competitions lies; it is not part of the repository.
#[must_use]
pub fn archive() -> PathBuf {
    let base = std::env::var_os("AGON_ARCHIVE").map_or_else(|| "../../../shared".into(), PathBuf::from);
    let base = base.canonicalize().unwrap_or(base);
    base.join("archive")
}

/// A temporary folder with files in it.
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// An empty folder.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// The path of a file in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file into the folder.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file in a temporary folder");
        path
    }
}

/// The entrants of some rows as a list of the edition of 2022.
#[must_use]
pub fn entrants_2022(rows: &[Row]) -> EntrantList {
    let mut by_key: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        by_key.insert(&row.entrant, row);
    }
    let texts = |row: &Row| {
        let competing = if row.competing { "true" } else { "false" };
        let cells = [
            ("solver", row.solver.as_str()),
            ("competing", competing),
            ("team", &row.team),
            ("config_single_query", &row.entrant),
        ];
        cells.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect::<IndexMap<_, _>>()
    };
    let rows = by_key.values().map(|row| texts(row)).collect();
    EntrantList { rows, origin: "the test".into(), strict: true, ..EntrantList::default() }
}

/// Writes rows in the form of the edition's archive and reads them with the engine.
///
/// # Errors
/// As the engine reports them.
///
/// # Panics
/// If a file cannot be written.
pub fn runs_of(edition: &Edition, rows: &[Row], adjudication: Option<&Adjudication>) -> Result<TrackRuns, ScoreError> {
    let folder = Folder::new();
    let results = folder.path("results.csv");
    let entrants = if edition.name == SMT_COMP_2014 {
        let solvers = folder.path("solvers.csv");
        write_archive_2014(rows, &results, &solvers).expect("the results can be written");
        EntrantList::read(edition, &solvers)?
    } else {
        write_archive_2022(rows, &results).expect("the results can be written");
        entrants_2022(rows)
    };
    let mut tracks = runs(edition, &[results], &entrants, adjudication)?;
    Ok(tracks.pop().expect("the results are of one track"))
}

/// Everything that the engine computes.
#[must_use]
pub fn everything() -> Selection {
    Selection { rankings: true, ..Selection::default() }
}

/// Scores rows with the engine, with all rankings.
///
/// # Errors
/// As the engine reports them.
pub fn scores_of(edition: &Edition, rows: &[Row]) -> Result<TrackScores, ScoreError> {
    score(edition, &runs_of(edition, rows, None)?, &everything())
}

/// The CSV that the program would print for some scores.
///
/// # Panics
/// If it cannot be printed.
#[must_use]
pub fn csv_of(edition: &Edition, scores: TrackScores) -> String {
    let rows = output::rows(&[scores], &Filter::default()).expect("rows of the scores");
    output::csv(&edition.name, &rows)
}

/// Scores files with the engine, with all rankings.
///
/// # Errors
/// As the engine reports them.
pub fn scores_of_files(edition: &Edition, files: &[PathBuf]) -> Result<Vec<TrackScores>, ScoreError> {
    let list = EntrantList::of_edition(edition);
    runs(edition, files, &list, None)?.iter().map(|track| score(edition, track, &everything())).collect()
}

/// One row of a table of scores.
#[derive(Clone, Debug)]
pub struct Place {
    /// The view.
    pub view: String,
    /// `division`, `logic`, or the name of a ranking.
    pub table: String,
    /// All columns, numbers in base units.
    pub cells: BTreeMap<String, Value>,
}

impl Place {
    /// A text.
    ///
    /// # Panics
    /// If there is no such text.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.cells.get(name) {
            Some(Value::Symbol(text)) => text,
            other => panic!("`{name}` is {other:?}, no text: {self:?}"),
        }
    }

    /// An exact number in base units: nanoseconds for a time.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn exact(&self, name: &str) -> Exact {
        match self.cells.get(name) {
            Some(Value::Exact(number)) => number.clone(),
            other => panic!("`{name}` is {other:?}, no exact number: {self:?}"),
        }
    }

    /// A whole number.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn int(&self, name: &str) -> i128 {
        self.exact(name).as_i128().unwrap_or_else(|| panic!("`{name}` is no whole number: {self:?}"))
    }

    /// A number that may be irrational.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        match self.cells.get(name) {
            Some(Value::Exact(number)) => number.to_f64(),
            Some(Value::Real(number)) => *number,
            other => panic!("`{name}` is {other:?}, no number: {self:?}"),
        }
    }

    /// A truth value.
    ///
    /// # Panics
    /// If there is no such truth value.
    #[must_use]
    pub fn yes(&self, name: &str) -> bool {
        match self.cells.get(name) {
            Some(Value::Bool(yes)) => *yes,
            other => panic!("`{name}` is {other:?}, no truth value: {self:?}"),
        }
    }
}

fn push_places(places: &mut Vec<Place>, view: &str, table: &str, standings: &Standings) {
    for row in 0..standings.table.rows() {
        let cell = |name: &str| {
            let column = standings.table.column(name).expect("the column was just named");
            (name.to_owned(), column.value(row))
        };
        let cells = standings.table.names().map(cell).collect();
        places.push(Place { view: view.to_owned(), table: table.to_owned(), cells });
    }
}

/// All rows of all tables of standings and rankings.
#[must_use]
pub fn places(scores: &TrackScores) -> Vec<Place> {
    let mut places = Vec::new();
    for view in &scores.views {
        for (name, standings) in view.tables.iter().chain(&view.rankings) {
            push_places(&mut places, &view.view, name, standings);
        }
    }
    places
}

/// The rows of one table of one view, in order.
#[must_use]
pub fn table(scores: &TrackScores, view: &str, name: &str) -> Vec<Place> {
    places(scores).into_iter().filter(|p| p.view == view && p.table == name).collect()
}

/// The one row of a solver in the division table of a view; with several divisions, the first.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn place_of(scores: &TrackScores, view: &str, solver: &str) -> Place {
    let mut rows = table(scores, view, "division").into_iter();
    rows.find(|p| p.text("solver") == solver).unwrap_or_else(|| panic!("{solver} is not in the {view} table"))
}

/// What differs between two scorers, one line a difference.
#[derive(Debug, Default)]
pub struct Differences {
    /// How many values were compared.
    pub compared: usize,
    lines: Vec<String>,
    more: usize,
}

impl Differences {
    fn say(&mut self, line: String) {
        if self.lines.len() < 20 {
            self.lines.push(line);
        } else {
            self.more += 1;
        }
    }

    fn check<A: PartialEq + std::fmt::Display>(&mut self, place: &str, column: &str, engine: A, second: A) {
        self.compared += 1;
        if engine != second {
            self.say(format!("{place}: {column}: engine {engine}, second reading {second}"));
        }
    }

    fn close(&mut self, place: &str, column: &str, engine: f64, second: f64) {
        self.compared += 1;
        if (engine - second).abs() > 1e-9 * second.abs().max(1.0) {
            self.say(format!("{place}: {column}: engine {engine}, second reading {second}"));
        }
    }

    /// Whether both say the same.
    #[must_use]
    pub fn none(&self) -> bool {
        self.lines.is_empty()
    }

    /// The differences, if there are any.
    ///
    /// # Errors
    /// The differences.
    pub fn result(self) -> Result<usize, String> {
        if self.lines.is_empty() {
            return Ok(self.compared);
        }
        let mut text = self.lines.join("\n");
        if self.more > 0 {
            let _ = write!(text, "\n... and {} more", self.more);
        }
        Err(text)
    }
}

/// The counts of the tables that both editions print; an archive that lost how runs ended has no more.
const COUNTS_2022: [&str; 6] = ["unsolved", "abstained", "solved", "solved_sat", "solved_unsat", "benchmarks"];
const COUNTS_2014: [&str; 7] = ["unsolved", "solved", "solved_sat", "solved_unsat", "benchmarks", "timeout", "memout"];

fn count_of(standing: &Standing, name: &str) -> i128 {
    let count = match name {
        "unsolved" => standing.unsolved,
        "abstained" => standing.abstained,
        "solved" => standing.solved,
        "solved_sat" => standing.solved_sat,
        "solved_unsat" => standing.solved_unsat,
        "benchmarks" => standing.size,
        "timeout" => standing.timeout.unwrap_or(0),
        "memout" => standing.memout.unwrap_or(0),
        _ => unreachable!("there are no other counts"),
    };
    count.into()
}

/// The rows of a table by view, table, division, logic and position.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str, i128);

fn compare_standings(engine: &[Place], second: &[Standing], counts: &[&str], out: &mut Differences) {
    let mut theirs: BTreeMap<Key, &Place> = BTreeMap::new();
    for place in engine.iter().filter(|p| p.table == "division" || p.table == "logic") {
        let key = (
            place.view.as_str(),
            place.table.as_str(),
            place.text("division"),
            place.text("logic"),
            place.int("position"),
        );
        if theirs.insert(key, place).is_some() {
            out.say(format!("{key:?}: two rows of the engine have this position"));
        }
    }
    for mine in second {
        let key = (mine.view, mine.table, mine.division.as_str(), mine.logic.as_str(), i128::from(mine.position));
        let name = format!("{key:?}");
        let Some(place) = theirs.remove(&key) else {
            out.say(format!("{name}: the engine has no such row"));
            continue;
        };
        out.check(&name, "entrant", place.text("entrant"), &mine.entrant);
        out.check(&name, "solver", place.text("solver"), &mine.solver);
        out.check(&name, "competing", place.yes("competing"), mine.competing);
        out.check(&name, "rank", place.int("rank"), mine.rank.into());
        out.check(&name, "winner", place.yes("winner"), mine.winner);
        out.check(&name, "error", place.int("error"), mine.error.into());
        out.check(&name, "correct", place.int("correct"), mine.correct.into());
        out.check(&name, "cpu_time", place.int("cpu_time"), mine.cpu);
        out.check(&name, "wall_time", place.int("wall_time"), mine.wall);
        for count in counts {
            out.check(&name, count, place.int(count), count_of(mine, count));
        }
    }
    for key in theirs.keys() {
        out.say(format!("{key:?}: the second reading has no such row"));
    }
}

fn compare_rankings(engine: &[Place], second: &[RankingRow], out: &mut Differences) {
    let names = ["biggest-lead", "largest-contribution"];
    let mut theirs: BTreeMap<(&str, &str, i128), &Place> = BTreeMap::new();
    for place in engine.iter().filter(|p| names.contains(&p.table.as_str())) {
        theirs.insert((&place.view, &place.table, place.int("position")), place);
    }
    for mine in second {
        let key = (mine.view, mine.table, i128::from(mine.position));
        let name = format!("{key:?}");
        let Some(place) = theirs.remove(&key) else {
            out.say(format!("{name}: the engine has no such row ({} of {})", mine.solver, mine.division));
            continue;
        };
        out.check(&name, "division", place.text("division"), &mine.division);
        out.check(&name, "entrant", place.text("entrant"), &mine.entrant);
        out.check(&name, "solver", place.text("solver"), &mine.solver);
        // Fractions in lowest terms are equal if and only if their texts are.
        out.check(&name, "correct", place.exact("correct").to_string(), mine.correctness.to_string());
        out.check(&name, "time_rank", place.exact("time_rank").to_string(), mine.time.to_string());
        out.check(&name, "winner", place.yes("winner"), mine.winner);
        if let Some(other) = &mine.second {
            out.check(&name, "second", place.text("second"), other);
        }
    }
    for (key, place) in theirs {
        let who = place.text("solver");
        out.say(format!("{key:?}: the second reading has no such row ({who} of {})", place.text("division")));
    }
}

fn compare_medals(engine: &[Place], second: &[Medal], out: &mut Differences) {
    for (table, metric) in [("medals-a", "A"), ("medals-b", "B")] {
        let theirs: Vec<&Place> = engine.iter().filter(|p| p.table == table).collect();
        let mine: Vec<&Medal> = second.iter().filter(|m| m.metric == metric).collect();
        out.check(table, "rows", theirs.len(), mine.len());
        for (place, medal) in theirs.into_iter().zip(mine) {
            let name = format!("{table}, position {}", medal.position);
            out.check(&name, "position", place.int("position"), medal.position.into());
            out.check(&name, "entrant", place.text("entrant"), &medal.entrant);
            out.check(&name, "solver", place.text("solver"), &medal.solver);
            out.close(&name, "weighted_score", place.real("weighted_score"), medal.score);
            if let Some(errors) = medal.errors {
                out.close(&name, "weighted_error", place.real("weighted_error"), errors);
            }
            if let Some(time) = medal.time {
                // A time in nanoseconds against one in seconds.
                out.close(&name, "weighted_time", place.real("weighted_time") / 1e9, time);
            }
        }
    }
}

/// The places of the engine against the second reading's scores of the same rows.
#[must_use]
pub fn compare_2022(places: &[Place], rows: &[Row], second: SecondReading) -> Differences {
    let (standings, rankings) = smt_comp_2022(rows, second, &[]);
    let mut out = Differences::default();
    compare_standings(places, &standings, &COUNTS_2022, &mut out);
    compare_rankings(places, &rankings, &mut out);
    out
}

/// The places of the engine against the second reading's scores of the same rows.
#[must_use]
pub fn compare_2014(places: &[Place], rows: &[Row], second: SecondReading) -> Differences {
    let (standings, medals) = smt_comp_2014(rows, second);
    let mut out = Differences::default();
    compare_standings(places, &standings, &COUNTS_2014, &mut out);
    compare_medals(places, &medals, &mut out);
    out
}

/// Scores rows with the engine and compares all with the second reading.
///
/// # Errors
/// The differences, or why the engine does not score the rows.
pub fn agree(edition: &Edition, second: SecondReading, rows: &[Row]) -> Result<usize, String> {
    let scores = scores_of(edition, rows).map_err(|e| e.to_string())?;
    let places = places(&scores);
    let differences = if edition.name == SMT_COMP_2014 {
        compare_2014(&places, rows, second)
    } else {
        compare_2022(&places, rows, second)
    };
    differences.result()
}

/// A run of a solver on a benchmark of the logic LIA, which belongs to the division Arith. The key and the team follow
/// from the solver's name; times are in milliseconds.
#[must_use]
pub fn run(solver: &str, benchmark: &str, expected: Answer, answer: Answer, cpu_ms: Ns, wall_ms: Ns) -> Row {
    let number = solver.bytes().fold(0_u64, |sum, byte| sum * 7 + u64::from(byte)) % 90_000;
    Row {
        benchmark: format!("LIA/family/{benchmark}.smt2"),
        division: "Arith".into(),
        logic: "LIA".into(),
        solver: solver.into(),
        entrant: (600_000 + number).to_string(),
        team: format!("team of {solver}"),
        competing: true,
        answer,
        expected,
        condition: Condition::Complete,
        cpu: cpu_ms * (SECOND / 1000),
        wall: wall_ms * (SECOND / 1000),
    }
}

/// Results of the tracks of 2022 other than the single-query track, of which no raw data are left: an edition that
/// reads them from CSV files with our own names for the columns.
///
/// The track is told by the columns that only its results have.
///
/// # Panics
/// If the edition has errors.
#[must_use]
pub fn other_tracks_of_2022(second: SecondReading) -> Edition {
    const COMMON: &str = "entrant: solver, solver: solver, competing: competing, benchmark: benchmark, \
                          logic: { from: benchmark, part: \"^([^/]+)/\" }, cpu_time: cpu_time, wall_time: wall_time";
    let tracks = [
        ("incremental", vec!["check_sats", "correct_answers", "wrong_answers"]),
        ("unsat-core", vec!["answer", "asserted", "core_size", "core", "votes_sat", "votes_unsat"]),
        ("model-validation", vec!["answer", "status", "model"]),
        ("proof-exhibition", vec!["answer", "status", "proof"]),
    ];
    let mut text = format!(
        "edition: other-tracks\nextends: {}\nresults:\n",
        edition_file(SMT_COMP_2022).canonicalize().expect("the edition is there").display()
    );
    for (track, own) in tracks {
        let columns: Vec<String> = own.iter().map(|c| format!("{c}: {c}")).collect();
        let _ = writeln!(
            text,
            "  test-{track}:\n    track: {track}\n    recognise: {{ columns: [solver, competing, benchmark, cpu_time, \
             wall_time, {}] }}\n    columns: {{ {COMMON}, {} }}",
            own.join(", "),
            columns.join(", ")
        );
    }
    let folder = Folder::new();
    load(&folder.write("other-tracks.yaml", &text), reading(second))
}

/// Scores a text of comma-separated values with an edition.
///
/// # Errors
/// As the engine reports them.
///
/// # Panics
/// If the text holds the results of more than one track.
pub fn scores_of_text(edition: &Edition, csv: &str) -> Result<TrackScores, ScoreError> {
    let folder = Folder::new();
    let mut scores = scores_of_files(edition, &[folder.write("results.csv", csv)])?;
    assert_eq!(scores.len(), 1, "results of one track");
    Ok(scores.remove(0))
}

/// An edition from its text.
///
/// # Panics
/// If it has errors.
#[must_use]
pub fn edition_of_text(text: &str, reading: Reading) -> Edition {
    load(&Folder::new().write("edition.yaml", text), reading)
}
