//! The declared mapping: how the files of one form are read.
//!
//! A mapping is data. It is declared by the edition, decoded elsewhere, and only interpreted here; nothing in this
//! crate knows the columns or the words of any competition.

use agon_table::{Dim, Type};
use indexmap::IndexMap;
use regex::Regex;

/// How the files of one form are read.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// A name for messages, such as `smt-comp-2022/archive`.
    pub name: String,
    /// Where the names of the columns come from.
    pub header: Header,
    /// What separates the fields, usually a comma.
    pub delimiter: u8,
    /// Which files have this form.
    pub recognise: Recognise,
    /// The columns that the table gets, in this order.
    pub columns: Vec<ColumnRule>,
    /// Other files that add columns, after those.
    pub joins: Vec<Join>,
    /// The produced columns that together identify a row; none means that rows are not checked for duplicates.
    pub key: Vec<String>,
    /// What happens to rows with the same key.
    pub duplicates: Duplicates,
}

/// Where the names of the columns come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// The first line names them.
    Named,
    /// There is no such line; these are the names, in order.
    Fixed(Vec<String>),
}

/// What a file of a form looks like: every condition that is given has to hold.
///
/// The first line of a file is looked at, whether or not it is a header, so a form without a header can exclude the
/// files that have one by `without`.
#[derive(Clone, Debug, Default)]
pub struct Recognise {
    /// The first line has all of these fields.
    pub columns: Vec<String>,
    /// The first line has none of these fields.
    pub without: Vec<String>,
    /// The base name of the file, without `.gz`, `.xz` or `.zst`, matches this.
    pub file: Option<Regex>,
    /// The first line has this many fields. A form without a header line expects the number of its names by itself.
    pub fields: Option<usize>,
}

/// How one column of the table is produced.
///
/// The text of the source goes through `part`, then through `words`, then through `kind`. `empty` and `otherwise`
/// are produced texts: they go to `kind` directly.
#[derive(Clone, Debug)]
pub struct ColumnRule {
    /// The name of the produced column.
    pub name: String,
    /// Where its text comes from.
    pub source: Source,
    /// The part of the text that counts: the first capture group, or the whole match if the pattern has none.
    pub part: Option<Regex>,
    /// What kind of values the column has.
    pub kind: Kind,
    /// What the words of the file mean. A word that is not among them is an error, unless `otherwise` says what it
    /// means. For numbers, times and memory the words are exceptions: any other text is read as a number.
    pub words: Option<IndexMap<String, String>>,
    /// The produced text where `part` does not match, a word is unknown or a number is not one.
    pub otherwise: Option<String>,
    /// The produced text for an empty cell; without it an empty cell is an error.
    pub empty: Option<String>,
}

impl ColumnRule {
    /// The column `source` of the file, under the name `name`, without any exceptions.
    pub fn plain(name: &str, source: &str, kind: Kind) -> Self {
        Self {
            name: name.into(),
            source: Source::Column(source.into()),
            part: None,
            kind,
            words: None,
            otherwise: None,
            empty: None,
        }
    }
}

/// Where the text of a produced column comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A column of the file.
    Column(String),
    /// The base name of the file, or of the member of the archive, without `.gz`, `.xz` or `.zst`.
    FileName,
    /// The same for every row.
    Constant(String),
}

/// What kind of values a produced column has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Free text.
    Text,
    /// One of these words.
    Words(Vec<String>),
    /// `true`, `yes` or `1` against `false`, `no` or `0`.
    Bool,
    /// An exact number: a decimal, or a quotient of two whole numbers such as `1/3`.
    Number,
    /// A time.
    Time {
        /// How many nanoseconds the unit of the file has; 1,000,000,000 if the file counts seconds.
        unit_ns: i64,
        /// Whether a time may be negative.
        negative: bool,
    },
    /// An amount of memory.
    Memory {
        /// How many bytes the unit of the file has.
        unit_bytes: i64,
    },
    /// A number of any dimension in the unit in which it is printed, exact or real. Tables of scores need it.
    Quantity {
        /// The dimension.
        dim: Dim,
        /// Whether it is held as an `f64`.
        real: bool,
    },
}

impl Kind {
    /// The type of the produced column.
    pub fn column_type(&self) -> Type {
        match self {
            Self::Text => Type::TEXT,
            Self::Words(words) => Type::words(words.iter().cloned()),
            Self::Bool => Type::Bool,
            Self::Number => Type::NUMBER,
            Self::Time { .. } => Type::TIME,
            Self::Memory { .. } => Type::MEMORY,
            Self::Quantity { dim, real } => Type::Number { dim: *dim, real: *real },
        }
    }

    /// The kind that reads what [`write_csv`](crate::write_csv) writes for a column of this type.
    pub fn canonical(ty: &Type) -> Self {
        match ty {
            Type::Bool => Self::Bool,
            Type::Symbol(None) => Self::Text,
            Type::Symbol(Some(words)) => Self::Words(words.to_vec()),
            Type::Number { dim, real: false } if *dim == Dim::NONE => Self::Number,
            Type::Number { dim, real } => Self::Quantity { dim: *dim, real: *real },
        }
    }
}

/// Another file that adds columns to the rows of the results.
#[derive(Clone, Debug)]
pub struct Join {
    /// Which file.
    pub file: JoinFile,
    /// Where the names of its columns come from.
    pub header: Header,
    /// What separates its fields.
    pub delimiter: u8,
    /// What it looks like.
    pub recognise: Recognise,
    /// Which columns must agree: a column of the result file, or a produced text column, with a column of the joined
    /// file. A name that is both means the column of the result file.
    pub on: Vec<(String, String)>,
    /// The columns that it adds; their sources are columns of the joined file.
    pub columns: Vec<ColumnRule>,
    /// Whether rows of the results may have no row in the joined file. They are then read as if its cells were empty,
    /// so every column says what an empty cell means.
    pub optional: bool,
}

/// Where a joined file is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinFile {
    /// By this name, perhaps followed by `.gz`, `.xz` or `.zst`, in the directory of each result file.
    Beside(String),
    /// Among the given files, by what it looks like. Several such files are taken together.
    Given,
}

/// What happens to rows with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They are an error.
    Error,
    /// The first row counts, in the order of the files as given and of the rows in them. Only for archives whose own
    /// rules say that the first attempt counts; the result then depends on the order in which files are given.
    First,
    /// The last row counts, in the same order and with the same caution.
    Last,
    /// The row with the greatest or the least value counts; a tie is an error.
    Best {
        /// The produced number column.
        column: String,
        /// Whether the greatest value is the best.
        greatest: bool,
    },
    /// They count once if all their columns are equal, else they are an error.
    Identical,
}

impl Mapping {
    /// The mapping that reads what [`write_csv`](crate::write_csv) writes for a table with these columns.
    pub fn canonical<'a>(name: &str, schema: impl IntoIterator<Item = (&'a str, &'a Type)>) -> Self {
        let columns: Vec<ColumnRule> = schema
            .into_iter()
            .map(|(column, ty)| {
                let kind = Kind::canonical(ty);
                let empty = matches!(&kind, Kind::Text).then(String::new);
                ColumnRule { empty, ..ColumnRule::plain(column, column, kind) }
            })
            .map(|mut rule| {
                // A closed vocabulary may have the empty word.
                if matches!(&rule.kind, Kind::Words(words) if words.iter().any(String::is_empty)) {
                    rule.empty = Some(String::new());
                }
                rule
            })
            .collect();
        Self {
            name: name.into(),
            header: Header::Named,
            delimiter: b',',
            recognise: Recognise {
                columns: columns.iter().map(|c| c.name.clone()).collect(),
                fields: Some(columns.len()),
                ..Recognise::default()
            },
            columns,
            joins: Vec::new(),
            key: Vec::new(),
            duplicates: Duplicates::Error,
        }
    }

    /// The columns of the table that this mapping produces, in order.
    pub fn schema(&self) -> Vec<(&str, Type)> {
        self.rules().map(|rule| (rule.name.as_str(), rule.kind.column_type())).collect()
    }

    /// All rules, those of the joined files last.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &ColumnRule> {
        self.columns.iter().chain(self.joins.iter().flat_map(|j| &j.columns))
    }

    /// What contradicts itself in the mapping, if anything.
    pub fn flaw(&self) -> Option<String> {
        let mut names: Vec<&str> = self.rules().map(|r| r.name.as_str()).collect();
        if names.is_empty() {
            return Some("it produces no column".into());
        }
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|p| p[0] == p[1]) {
            return Some(format!("it produces column `{}` twice", pair[0]));
        }
        if let Some(flaw) = layout_flaw(&self.header, self.delimiter, &self.columns) {
            return Some(flaw);
        }
        for join in &self.joins {
            if let Some(flaw) = layout_flaw(&join.header, join.delimiter, &join.columns) {
                return Some(flaw);
            }
            if join.on.is_empty() {
                return Some("a joined file is joined on no column".into());
            }
            if join.optional
                && let Some(rule) = join.columns.iter().find(|r| r.empty.is_none())
            {
                return Some(format!(
                    "the joined column `{}` does not say what a row without a joined one has (`empty`)",
                    rule.name
                ));
            }
            if let Some(rule) = join.columns.iter().find(|r| !matches!(r.source, Source::Column(_))) {
                return Some(format!(
                    "the joined column `{}` does not come from a column of the joined file",
                    rule.name
                ));
            }
        }
        for rule in self.rules() {
            if let Some(flaw) = rule.flaw() {
                return Some(format!("column `{}` {flaw}", rule.name));
            }
        }
        let produced = |name: &str| self.rules().find(|r| r.name == name);
        if let Some(missing) = self.key.iter().find(|k| produced(k).is_none()) {
            return Some(format!("its key names `{missing}`, which it does not produce"));
        }
        if let Duplicates::Best { column, .. } = &self.duplicates {
            match produced(column) {
                Some(rule) if rule.kind.column_type().is_number() => {}
                Some(_) => return Some(format!("the best row is decided by `{column}`, which is not a number")),
                None => return Some(format!("the best row is decided by `{column}`, which it does not produce")),
            }
        }
        None
    }
}

fn layout_flaw(header: &Header, delimiter: u8, rules: &[ColumnRule]) -> Option<String> {
    if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\n' | b'\r' | 0) {
        return Some("the delimiter must be an ASCII character that is neither a quote nor a line end".into());
    }
    if let Header::Fixed(names) = header {
        if names.is_empty() {
            return Some("it has neither a header line nor names for the columns".into());
        }
        for rule in rules {
            if let Source::Column(name) = &rule.source
                && !names.contains(name)
            {
                return Some(format!("column `{}` comes from `{name}`, which is not among the names", rule.name));
            }
        }
    }
    None
}

impl ColumnRule {
    fn flaw(&self) -> Option<String> {
        match self.kind {
            Kind::Time { unit_ns: unit, .. } | Kind::Memory { unit_bytes: unit } if unit <= 0 => {
                return Some("has a unit that is not positive".into());
            }
            _ => {}
        }
        let words = self.words.iter().flat_map(|w| w.values());
        for text in words.chain(&self.otherwise).chain(&self.empty) {
            match &self.kind {
                Kind::Words(known) if !known.contains(text) => {
                    return Some(format!("can become `{text}`, which is not one of its words ({})", known.join(", ")));
                }
                Kind::Bool if crate::value::parse_bool(text).is_none() => {
                    return Some(format!("can become `{text}`, which is neither yes nor no"));
                }
                _ => {}
            }
        }
        None
    }
}

impl Recognise {
    /// What a file of this form would need and this one lacks, if anything, as a fragment after the form's name.
    pub(crate) fn lacks(&self, header: &Header, first: &[String], file: &str) -> Option<String> {
        let missing: Vec<&str> = self.columns.iter().filter(|c| !first.contains(c)).map(String::as_str).collect();
        if !missing.is_empty() {
            return Some(format!(
                "wants the columns {} in the first line, but {} is not there",
                self.columns.join(", "),
                missing.join(", ")
            ));
        }
        if let Some(column) = self.without.iter().find(|c| first.contains(c)) {
            return Some(format!("wants no column {column}"));
        }
        if let Some(pattern) = &self.file
            && !pattern.is_match(file)
        {
            return Some(format!("wants a file name like {pattern}"));
        }
        let wanted = match header {
            Header::Fixed(names) => Some(names.len()),
            Header::Named => None,
        };
        if let Some(n) = self.fields.or(wanted)
            && first.len() != n
        {
            return Some(format!("wants {n} fields in the first line, not {}", first.len()));
        }
        None
    }
}
