//! An edition as the engine sees it: checked, resolved for one reading, every formula compiled.

use std::collections::BTreeSet;

use agon_formula::{Formula, Scope, SortKey};
use agon_results::Mapping;
use agon_scramble::{Annotations, Mode};
use agon_table::{Dim, Exact, Type, Value};
use indexmap::IndexMap;

use crate::node::Node;

/// By which reading the rules are applied.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Reading {
    /// The text of the rules.
    #[default]
    Rules,
    /// What the year's own tools did: all deviations on.
    Published,
    /// Only these deviations on.
    With(BTreeSet<String>),
}

impl Reading {
    /// Whether the deviation of this name is on.
    pub fn includes(&self, deviation: &str) -> bool {
        match self {
            Self::Rules => false,
            Self::Published => true,
            Self::With(names) => names.contains(deviation),
        }
    }
}

/// How an element is called and where the rules say it.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    /// The name as people write it.
    pub title: Option<String>,
    /// The rule in one sentence.
    pub says: Option<String>,
    /// Sections of the rules text.
    pub cite: Vec<String>,
    /// The deviation of the reading that put the element there, or its formula.
    pub deviation: Option<String>,
}

/// A whole edition.
#[derive(Debug)]
pub struct Edition {
    /// Its name.
    pub name: String,
    /// Title and introduction.
    pub doc: Doc,
    /// The rules document.
    pub rules: RulesDocument,
    /// The reading it was resolved for.
    pub reading: Reading,
    /// The organisers.
    pub organisers: Vec<String>,
    /// The dates: date, event, citation.
    pub timeline: Vec<(String, String, Vec<String>)>,
    /// The competition's seed.
    pub seed: Option<Seed>,
    /// Who competes.
    pub entrants: Entrants,
    /// The tracks.
    pub tracks: IndexMap<String, Track>,
    /// Medals and other recognitions.
    pub recognitions: IndexMap<String, Recognition>,
    /// The forms of result files.
    pub results: Vec<Form>,
    /// The forms of files with published figures.
    pub published: Vec<PublishedForm>,
    /// What the year's own tools did instead of the rules.
    pub deviations: Vec<Deviation>,
    /// Known differences.
    pub ledger: Vec<LedgerEntry>,
    /// Sections that no element implements, and why.
    pub coverage: IndexMap<String, String>,
    /// The merged tree, after deviations.
    pub tree: Node,
}

/// The rules document.
#[derive(Clone, Debug, Default)]
pub struct RulesDocument {
    /// Its title.
    pub document: String,
    /// Its revision.
    pub revision: Option<String>,
    /// Where it can be had.
    pub url: Option<String>,
    /// Its sections: number and heading.
    pub sections: IndexMap<String, String>,
}

/// The competition's seed.
#[derive(Debug)]
pub struct Seed {
    /// Citation and sentence.
    pub doc: Doc,
    /// The seed over the entrants' list.
    pub formula: Formula,
    /// The generator that it starts.
    pub generator: Option<String>,
    /// The index: its name, and value and date if they are known.
    pub market: Option<Market>,
    /// The seed that was used.
    pub published: Option<i64>,
}

/// The number from outside.
#[derive(Clone, Debug)]
pub struct Market {
    /// Which index.
    pub name: String,
    /// Its opening value.
    pub opening: Option<Exact>,
    /// The day.
    pub date: Option<String>,
}

/// Who competes.
#[derive(Debug, Default)]
pub struct Entrants {
    /// Citation and sentence.
    pub doc: Doc,
    /// What is known of an entrant beyond the common columns.
    pub fields: IndexMap<String, Field>,
    /// The entrants that the edition lists; texts by column.
    pub list: Vec<IndexMap<String, String>>,
    /// How lists in files are read.
    pub forms: Vec<Form>,
}

/// A declared column.
#[derive(Clone, Debug)]
pub struct Field {
    /// What it holds.
    pub ty: Type,
    /// Whether archives may lack it.
    pub optional: bool,
    /// The column of the entrants' list that stands in where the list says nothing.
    pub otherwise: Option<String>,
    /// What the cell of a canonical result file holds for a run of a store of which the plugin says nothing.
    pub empty: Option<String>,
    /// What it means.
    pub says: Option<String>,
}

/// Whether there is something to win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Status {
    /// Winners are declared.
    #[default]
    Competitive,
    /// Run and listed.
    Exhibition,
    /// Run and listed for the first time.
    Experimental,
}

/// What one run may use. A limit that is not there is not set by the edition.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Citation and sentence.
    pub doc: Doc,
    /// Times in nanoseconds (`wall`, `cpu`) and amounts of storage in bytes (`memory`, `file-size`, `disk`, `output`).
    pub amounts: IndexMap<String, (Exact, Dim)>,
    /// Processor cores, at least 1.
    pub cores: Option<i64>,
    /// Processes and threads at a time, at least 1.
    pub processes: Option<i64>,
}

/// How a benchmark reaches the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The benchmark file is the first argument of the solver.
    Argument,
    /// The benchmark is the solver's standard input.
    Stdin,
    /// A trace executor sends the commands one by one.
    Trace,
}

/// The order in which benchmarks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// That of the list of benchmarks.
    #[default]
    Listed,
    /// One that the competition's seed decides, the same for every entrant.
    Shuffled,
}

/// How runs are prepared, beyond the limits.
#[derive(Clone, Debug, Default)]
pub struct RunRules {
    /// Citation and sentence.
    pub doc: Doc,
    /// Environment variables of the solver, in the order of the file.
    pub environment: IndexMap<String, Variable>,
    /// The order in which benchmarks are run.
    pub order: RunOrder,
    /// How benchmarks are scrambled; none if they are not.
    pub scramble: Option<Scrambling>,
}

/// How benchmarks are scrambled.
#[derive(Clone, Debug)]
pub struct Scrambling {
    /// Citation and sentence.
    pub doc: Doc,
    /// The mode.
    pub mode: Mode,
    /// Which annotations of terms stay.
    pub annotations: Annotations,
}

impl Scrambling {
    /// What the scrambler is told, with a seed.
    pub fn options(&self, seed: u32) -> agon_scramble::Options {
        let mut options = agon_scramble::Options::new(self.mode, seed);
        options.annotations = self.annotations;
        options
    }
}

/// The language of a track's benchmark scripts.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    /// Citation and sentence.
    pub doc: Doc,
    /// The version of SMT-LIB, if the track asks for one.
    pub version: Option<String>,
    /// What is asked of a script, by name, in the order of the file.
    pub rules: IndexMap<String, ScriptRule>,
}

/// What is asked of the commands or terms of a script. What is empty or `None` asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct ScriptRule {
    /// Citation and sentence.
    pub doc: Doc,
    /// There are no commands but these.
    pub only: Vec<String>,
    /// The commands that the rest is about.
    pub commands: Vec<String>,
    /// Of these, the ones whose arguments begin with this.
    pub beginning: Option<String>,
    /// How many there are.
    pub exactly: Option<u64>,
    /// How many there are at least.
    pub at_least: Option<u64>,
    /// How many there are at most.
    pub at_most: Option<u64>,
    /// What their arguments are, one of these.
    pub arguments: Vec<String>,
    /// Where each of them stands: `first`, `second` or `last`.
    pub place: Option<String>,
    /// What alone may stand before them.
    pub only_behind: Vec<String>,
    /// What must stand before each of them, one of these.
    pub after: Vec<String>,
    /// What must not stand before them.
    pub not_after: Vec<String>,
    /// The command that is next.
    pub followed_by: Option<String>,
    /// How many arguments the sorts take that they declare.
    pub arity: Option<u64>,
    /// Whether they need a logic with datatypes.
    pub needs_datatypes: bool,
    /// What is asked of the terms: `in-logic`, `declared`, `unnamed` or `named-assertions`.
    pub terms: Option<String>,
}

/// The value of an environment variable of the solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// The same text in every run.
    Text(String),
    /// A limit of the track.
    Limit {
        /// Its name among the limits: `wall`, `memory`, `cores`, …
        limit: String,
        /// The unit as it was written (`s`, `MiB`); none for a pure number.
        unit: Option<String>,
        /// The size of the unit: nanoseconds, bytes, or 1.
        size: Exact,
    },
}

/// The value of a parameter of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// A text, or one of the words of the parameter.
    Text(String),
    /// A pure number.
    Number(Exact),
    /// A time in nanoseconds.
    Time(Exact),
    /// An amount of memory in bytes.
    Memory(Exact),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    Texts(Vec<String>),
}

/// A division.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// Citation and sentence.
    pub doc: Doc,
    /// Its logics.
    pub logics: Vec<String>,
    /// Run and listed, but without a winner.
    pub experimental: bool,
    /// How its benchmarks are scrambled, if that differs from the track's other divisions.
    pub scramble: Option<Option<Scrambling>>,
}

/// A track.
#[derive(Debug)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// Title, sentence, citation.
    pub doc: Doc,
    /// The plugin.
    pub plugin: Option<String>,
    /// What the edition tells the plugin. A parameter that is not here has the plugin's default.
    pub parameters: IndexMap<String, ParameterValue>,
    /// Whether there is something to win.
    pub status: Status,
    /// How a benchmark reaches the solver, if the edition says it.
    pub input: Option<Input>,
    /// What one run may use.
    pub limits: Limits,
    /// The limits that runs had in place of those in the text: the name, what the text says, and what they had.
    pub instead: Vec<(String, Option<u64>, u64)>,
    /// How the runs are prepared.
    pub run: RunRules,
    /// The language of the benchmark scripts, if the edition says it.
    pub scripts: Option<Scripts>,
    /// What is run afterwards to check answers.
    pub checks: IndexMap<String, (Doc, Limits)>,
    /// The divisions.
    pub divisions: IndexMap<String, Division>,
    /// All columns that results of the track may have.
    pub fields: IndexMap<String, Field>,
    /// The column of the entrants' list that names an entrant in the results.
    pub entrant_key: String,
    /// From runs to standings.
    pub scoring: Option<Scoring>,
}

/// From runs to standings.
#[derive(Debug)]
pub struct Scoring {
    /// Citation and sentence.
    pub doc: Doc,
    /// Steps taken once, before any view.
    pub prepare: Vec<Step>,
    /// The views.
    pub views: IndexMap<String, View>,
    /// The tables of standings.
    pub tables: IndexMap<String, TableRule>,
}

/// A table of standings.
#[derive(Clone, Debug)]
pub struct TableRule {
    /// Title and citation.
    pub doc: Doc,
    /// The columns that one ranking stands for.
    pub by: Vec<String>,
}

/// One way to score the same runs.
#[derive(Debug)]
pub struct View {
    /// Its name.
    pub name: String,
    /// Title, sentence, citation.
    pub doc: Doc,
    /// Columns that the view itself adds.
    pub lets: Vec<Let>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The score.
    pub measures: Vec<Let>,
    /// What is printed beside it.
    pub counts: Vec<Let>,
    /// Further columns of the standings.
    pub standings: Vec<Let>,
    /// How standings are compared.
    pub order: Vec<SortKey>,
    /// Who wins.
    pub winner: Option<Let>,
    /// The deviation of the reading that decides the order.
    pub order_deviation: Option<String>,
    /// Names with one value for the whole view.
    pub constants: IndexMap<String, (Type, Value)>,
    /// Those of them that the view's own `let` defines.
    pub defined: IndexMap<String, Constant>,
    /// Rankings across divisions.
    pub rankings: IndexMap<String, Ranking>,
}

/// A named formula.
#[derive(Clone)]
pub struct Let {
    /// The column that it makes.
    pub name: String,
    /// The formula.
    pub formula: Formula,
    /// Title, sentence, citation.
    pub doc: Doc,
    /// Digits after the point in printed tables.
    pub decimals: Option<u32>,
    /// Whether it is printed, if the edition says so. Counts are unless it says no; columns of the standings are not
    /// unless it says yes.
    pub print: Option<bool>,
}

impl std::fmt::Debug for Let {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.formula.source())
    }
}

/// One step over the rows of a table.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Sentence and citation.
    pub doc: Doc,
    /// What it does.
    pub action: Action,
    /// The names of its `let` that have one value for all rows; they make no columns.
    pub constants: IndexMap<String, Constant>,
}

/// A name with one value for all rows.
#[derive(Clone, Debug)]
pub struct Constant {
    /// What it is.
    pub ty: Type,
    /// Its value.
    pub value: Value,
    /// Title, sentence, citation.
    pub doc: Doc,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Columns are added.
    Let(Vec<Let>),
    /// Rows for which this holds stay.
    Keep(Let),
    /// Rows for which this holds go.
    Drop(Let),
    /// Columns are added, then one row stays for all that agree in some columns.
    Group(Vec<String>, Vec<Let>),
}

/// A ranking across divisions.
#[derive(Debug)]
pub struct Ranking {
    /// Its name.
    pub name: String,
    /// Title, sentence, citation.
    pub doc: Doc,
    /// `runs`, or a table of standings.
    pub from: String,
    /// From there to one row a place.
    pub steps: Vec<Step>,
    /// How rows are compared.
    pub order: Vec<SortKey>,
    /// The deviation of the reading that decides the order.
    pub order_deviation: Option<String>,
    /// The columns that are printed.
    pub values: Vec<Let>,
    /// Who wins it.
    pub winner: Option<Let>,
}

/// A medal or another recognition.
#[derive(Debug)]
pub struct Recognition {
    /// Its name.
    pub name: String,
    /// Title, sentence, citation.
    pub doc: Doc,
    /// The track.
    pub track: String,
    /// The table or ranking.
    pub from: String,
    /// The view; every one if none is said.
    pub view: Option<String>,
    /// Which rows receive it, by view: the same formula with each view's columns.
    pub filter: IndexMap<String, Formula>,
}

/// A form of result files or of entrants' lists.
#[derive(Debug)]
pub struct Form {
    /// Its name.
    pub name: String,
    /// What it is.
    pub says: Option<String>,
    /// The track of the results.
    pub track: Option<String>,
    /// How files are read.
    pub mapping: Mapping,
    /// Columns computed from the ones read.
    pub computed: Vec<Let>,
}

/// Where a published figure stands in its file.
#[derive(Clone, Debug)]
pub enum FigureSource {
    /// A column of the file.
    Column(String),
    /// The same text for every row.
    Constant(String),
}

/// A column of a file of published figures.
#[derive(Debug)]
pub struct Figure {
    /// Our name for it.
    pub name: String,
    /// Where the file has it.
    pub source: FigureSource,
    /// The file's words in our words.
    pub words: IndexMap<String, String>,
    /// What every other word means.
    pub otherwise: Option<String>,
    /// The part of the text that counts.
    pub part: Option<regex::Regex>,
    /// What it is compared with, over standings; by track, table and view, since these know different columns. The
    /// text is compiled where it is used.
    pub is: Option<String>,
    /// The largest difference that counts as equal, in printed units (seconds, bytes, pure numbers).
    pub tolerance: Exact,
    /// What an empty cell stands for.
    pub empty: Option<String>,
}

/// A form of files with published figures.
#[derive(Debug)]
pub struct PublishedForm {
    /// Its name.
    pub name: String,
    /// The header has all of these.
    pub columns: Vec<String>,
    /// The header has none of these.
    pub without: Vec<String>,
    /// The file's name matches.
    pub file: Option<regex::Regex>,
    /// Only rows with these values count.
    pub filter: IndexMap<String, Vec<String>>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The columns that say which standing a row is about.
    pub key: Vec<String>,
}

/// What the year's own tools did instead of a rule.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// Its name.
    pub name: String,
    /// Title and citation of the rule.
    pub doc: Doc,
    /// What was done instead.
    pub because: String,
    /// Where that can be seen.
    pub reference: String,
    /// The elements that it puts there or replaces, as paths such as `tracks.main.scoring.winner`.
    pub changes: Vec<String>,
    /// The elements that it removes.
    pub removes: Vec<String>,
}

/// A known difference.
#[derive(Debug)]
pub struct LedgerEntry {
    /// Its name.
    pub name: String,
    /// Why it differs.
    pub cause: String,
    /// Where that can be seen.
    pub reference: String,
    /// Citation.
    pub cite: Vec<String>,
    /// Which figures it is about: column to values.
    pub filter: IndexMap<String, Vec<String>>,
    /// What must hold for `published` and `computed`.
    pub holds: Option<Formula>,
}

impl Limits {
    /// The names of all limits that there can be, with what they limit: a time, an amount of storage, a pure number.
    pub const NAMES: [(&'static str, Dim); 8] = [
        ("wall", Dim::TIME),
        ("cpu", Dim::TIME),
        ("memory", Dim::MEMORY),
        ("cores", Dim::NONE),
        ("processes", Dim::NONE),
        ("file-size", Dim::MEMORY),
        ("disk", Dim::MEMORY),
        ("output", Dim::MEMORY),
    ];

    /// A limit by name: nanoseconds, bytes or a pure number.
    pub fn get(&self, name: &str) -> Option<(Exact, Dim)> {
        let count = match name {
            "cores" => self.cores,
            "processes" => self.processes,
            _ => return self.amounts.get(name).cloned(),
        };
        count.map(|n| (Exact::int(i128::from(n)), Dim::NONE))
    }

    /// A limit by name in whole nanoseconds, bytes or units, rounded down; none if there is no such limit.
    pub fn whole(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(|(amount, _)| u64::try_from(amount.floor().as_i128()?).ok())
    }

    /// Sets a limit: nanoseconds, bytes, or a count. Returns whether there is one of this name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let Ok(signed) = i64::try_from(value) else { return false };
        match (name, Self::NAMES.iter().find(|(known, _)| *known == name)) {
            ("cores", _) => self.cores = Some(signed),
            ("processes", _) => self.processes = Some(signed),
            (_, Some((_, dim))) => drop(self.amounts.insert(name.to_string(), (Exact::int(i128::from(signed)), *dim))),
            (_, None) => return false,
        }
        true
    }

    /// All limits that are set, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Exact, Dim)> {
        Self::NAMES.into_iter().filter_map(|(name, _)| self.get(name).map(|(amount, dim)| (name, amount, dim)))
    }
}

impl Input {
    /// The word of the edition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Stdin => "stdin",
            Self::Trace => "trace",
        }
    }
}

impl Variable {
    /// The text that the solver finds under these limits: whole units, rounded down, so that a solver is never told
    /// more than it has. None if there is no such limit.
    pub fn text(&self, limits: &Limits) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Limit { limit, size, .. } => {
                let (amount, _) = limits.get(limit)?;
                amount.div(size).map(|units| units.floor().to_decimal(0))
            }
        }
    }
}

impl ParameterValue {
    /// The value as the plugin takes it: texts and words as strings, flags as booleans, whole numbers as numbers,
    /// times as nanoseconds and amounts of memory as bytes. A number that is not whole, or beyond 2^53, which some JSON
    /// readers round, is a string with its decimal form.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Texts(texts) => texts.clone().into(),
            Self::Number(n) | Self::Time(n) | Self::Memory(n) => {
                let safe = n.as_i64().filter(|n| n.unsigned_abs() <= 1 << 53);
                safe.map_or_else(|| n.to_short_decimal(30).into(), Into::into)
            }
        }
    }
}

impl Entrants {
    /// The columns that an entrant determines.
    pub fn columns(&self) -> Vec<String> {
        let common = ["entrant", "solver", "competing", "disqualified"];
        common.into_iter().map(str::to_string).chain(self.fields.keys().cloned()).collect()
    }
}

impl Step {
    /// The columns that the step reads.
    pub fn reads(&self, names: &mut BTreeSet<String>) {
        match &self.action {
            Action::Let(lets) => lets.iter().for_each(|l| names.extend(l.formula.columns())),
            Action::Keep(l) | Action::Drop(l) => names.extend(l.formula.columns()),
            Action::Group(by, lets) => {
                names.extend(by.iter().cloned());
                lets.iter().for_each(|l| names.extend(l.formula.columns()));
            }
        }
    }
}

impl Ranking {
    /// The columns that the ranking reads.
    pub fn reads(&self, names: &mut BTreeSet<String>) {
        self.steps.iter().for_each(|step| step.reads(names));
        self.order.iter().for_each(|key| names.extend(key.formula.columns()));
        self.values.iter().chain(&self.winner).for_each(|l| names.extend(l.formula.columns()));
    }
}

impl Scoring {
    /// The columns that any formula of the scoring reads, whether the runs have them or a step makes them.
    pub fn reads(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.prepare.iter().for_each(|step| step.reads(&mut names));
        for table in self.tables.values() {
            names.extend(table.by.iter().cloned());
        }
        for view in self.views.values() {
            view.steps.iter().for_each(|step| step.reads(&mut names));
            let lets = view.lets.iter().chain(&view.measures).chain(&view.counts).chain(&view.standings);
            lets.chain(&view.winner).for_each(|l| names.extend(l.formula.columns()));
            view.order.iter().for_each(|key| names.extend(key.formula.columns()));
            view.rankings.values().for_each(|ranking| ranking.reads(&mut names));
        }
        names
    }
}

impl Track {
    /// The names and types of all columns that formulas over the runs may use.
    pub fn scope(&self) -> Scope {
        let columns = self.fields.iter().map(|(name, field)| (name.clone(), field.ty.clone())).collect();
        Scope { columns, ..Scope::default() }
    }

    /// How the benchmarks of a division are scrambled; none if they are not.
    pub fn scrambling(&self, division: Option<&str>) -> Option<&Scrambling> {
        let own = division.and_then(|name| self.divisions.get(name)?.scramble.as_ref());
        own.unwrap_or(&self.run.scramble).as_ref()
    }
}
