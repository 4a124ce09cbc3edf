//! An edition as the engine sees it: checked, resolved for one reading, every formula compiled.

use std::collections::BTreeSet;

use agon_formula::{Formula, Scope, SortKey};
use agon_results::Mapping;
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

/// What one run may use. Times in nanoseconds, memory in bytes.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Citation and sentence.
    pub doc: Doc,
    /// Limits by name: `wall`, `cpu`, `memory`, `disk`, `output`.
    pub amounts: IndexMap<String, (Exact, Dim)>,
    /// Processor cores.
    pub cores: Option<i64>,
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
    /// What the plugin is told.
    pub parameters: IndexMap<String, String>,
    /// Whether there is something to win.
    pub status: Status,
    /// How a benchmark reaches the solver.
    pub input: Option<String>,
    /// What one run may use.
    pub limits: Limits,
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
    /// Names with one value for the whole view.
    pub constants: IndexMap<String, (Type, Value)>,
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
}
