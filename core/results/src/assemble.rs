//! From rows of texts to typed columns, by the rules of a mapping.
//!
//! Every column of a file that some rule needs is interned once, and a rule is applied once to each distinct text,
//! however many rows there are. Times, memory and numbers without exceptions are converted row by row instead: their
//! texts hardly repeat.

use std::path::PathBuf;
use std::sync::Arc;

use agon_table::{Column, DictBuilder, Exact, Symbols, Type};

use crate::error::{ErrorKind, ResultsError, shown};
use crate::mapping::{ColumnRule, Kind, Source};
use crate::split::Rows;
use crate::value::{Cell, Unit, evaluate, parse_units};

/// Where some consecutive rows came from.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub file: PathBuf,
    pub member: Option<String>,
    pub first_row: usize,
    /// Rows of the table with the lines on which they begin: between them every row is one line.
    lines: Vec<(usize, u64)>,
}

impl Span {
    fn line(&self, row: usize) -> u64 {
        let at = self.lines.partition_point(|(r, _)| *r <= row);
        match at.checked_sub(1).map(|at| self.lines[at]) {
            Some((r, line)) => line + (row - r) as u64,
            None => 1,
        }
    }

    /// The same rows as part of a larger table.
    pub fn shifted(mut self, by: usize) -> Self {
        self.first_row += by;
        for (row, _) in &mut self.lines {
            *row += by;
        }
        self
    }
}

/// The origins of all rows of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(pub Vec<Span>);

impl Spans {
    /// A file that begins with this row.
    pub fn begin(&mut self, file: PathBuf, member: Option<String>, first_row: usize) {
        self.0.push(Span { file, member, first_row, lines: Vec::new() });
    }

    /// A file of which every row is one line, the first row being line `line`.
    pub fn whole(&mut self, file: PathBuf, first_row: usize, line: u64) {
        self.0.push(Span { file, member: None, first_row, lines: vec![(first_row, line)] });
    }

    fn note(&mut self, first_row: usize, rows: &Rows<'_>) {
        let Some(span) = self.0.last_mut() else { return };
        let count = if rows.one_line_each() { rows.count().min(1) } else { rows.count() };
        for at in 0..count {
            let (row, line) = (first_row + at, rows.line(at));
            if span.lines.is_empty() || span.line(row) != line {
                span.lines.push((row, line));
            }
        }
    }

    fn find(&self, row: usize) -> Option<&Span> {
        self.0[..self.0.partition_point(|s| s.first_row <= row)].last()
    }

    /// An error at a row of the table.
    pub fn error(&self, row: usize, kind: ErrorKind) -> ResultsError {
        match self.find(row) {
            Some(span) => ResultsError::new(&span.file, kind).member(span.member.as_deref()).at(span.line(row)),
            None => ResultsError::new(&PathBuf::new(), kind),
        }
    }

    /// The file and line of a row, for messages about another one.
    pub fn place(&self, row: usize) -> (String, u64) {
        match self.find(row) {
            Some(span) => (shown(&span.file, span.member.as_deref()), span.line(row)),
            None => (String::new(), 0),
        }
    }

    /// The names of the files, in order, each once.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for span in &self.0 {
            let name = shown(&span.file, span.member.as_deref());
            if !files.contains(&name) {
                files.push(name);
            }
        }
        files
    }
}

/// Texts become codes: by the order in which they came last time, then through a small cache, then by hashing.
#[derive(Default)]
pub(crate) struct Interner {
    dict: DictBuilder,
    pub codes: Vec<u32>,
    /// The code that followed each code the last time. Result files go round the same solvers for every benchmark,
    /// so this is nearly always right where the previous row's text is not.
    next: Vec<u32>,
    /// Codes by a cheap mix of a text's last bytes, plus one.
    cache: Vec<u32>,
}

const CACHE: usize = 1 << 10;

impl Interner {
    fn new() -> Self {
        Self { cache: vec![0; CACHE], ..Self::default() }
    }

    /// How many distinct texts.
    pub fn len(&self) -> usize {
        self.dict.len()
    }

    /// The text of a code.
    pub fn get(&self, code: u32) -> &str {
        self.dict.get(code)
    }

    /// The code of a text, if it is there.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.dict.code(text)
    }

    fn slot(text: &[u8]) -> usize {
        let word = match text.last_chunk::<8>() {
            Some(tail) => u64::from_le_bytes(*tail),
            None => text.iter().fold(0, |word, &b| word << 8 | u64::from(b)),
        };
        // The length tells apart texts that end alike.
        let mixed = (word ^ (text.len() as u64).rotate_right(8)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 54) as usize
    }

    /// Appends the codes of some texts. They are UTF-8, which the splitter has seen to.
    fn push_all<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        let mut last: Option<(&[u8], u32)> = None;
        self.codes.reserve(texts.size_hint().0);
        for text in texts {
            if let Some((previous, code)) = last
                && previous == text
            {
                self.codes.push(code);
                continue;
            }
            let code = self.look_up(text, last.map(|(_, code)| code));
            last = Some((text, code));
            self.codes.push(code);
        }
    }

    #[inline]
    fn look_up(&mut self, text: &[u8], last: Option<u32>) -> u32 {
        let last = last.or_else(|| self.codes.last().copied());
        if let Some(last) = last {
            let guess = self.next[last as usize];
            if self.dict.get(guess).as_bytes() == text {
                return guess;
            }
        }
        let slot = Self::slot(text);
        let cached = self.cache[slot];
        let code = if cached > 0 && self.dict.get(cached - 1).as_bytes() == text {
            cached - 1
        } else {
            let code = self.dict.intern(&String::from_utf8_lossy(text));
            if code as usize == self.next.len() {
                self.next.push(code);
            }
            self.cache[slot] = code + 1;
            code
        };
        if let Some(last) = last {
            self.next[last as usize] = code;
        }
        code
    }

    fn push_repeated(&mut self, text: &str, rows: usize) {
        let last = self.codes.last().copied();
        let code = self.look_up(text.as_bytes(), last);
        self.codes.resize(self.codes.len() + rows, code);
    }
}

/// What a rule has produced so far.
enum Produced {
    /// The texts as they are: the interned column is the produced one.
    Same,
    /// For every code of the interned column a code of the produced one.
    Mapped { codes: Vec<u32>, dict: DictBuilder },
    /// For every code of the interned column a truth value.
    Bools(Vec<bool>),
    /// For every code of the interned column a number.
    Cells(Vec<Cell>),
    /// One number a row, in base units.
    Direct { unit: Unit, least: i64, values: Vec<i64> },
    /// One number a row, until one is not a whole number.
    Numbers { ints: Vec<i64>, exact: Option<Vec<Exact>> },
}

struct RuleState {
    rule: ColumnRule,
    raw: usize,
    produced: Produced,
}

struct RawColumn {
    source: Source,
    interner: Option<Interner>,
}

/// What a file has for each raw column.
pub(crate) struct Layout {
    /// The number of the field, or the text that every row has.
    places: Vec<Place>,
}

enum Place {
    Field(usize),
    Fixed(String),
}

/// The columns of one form, over all of its files.
pub(crate) struct Assembly {
    raws: Vec<RawColumn>,
    rules: Vec<RuleState>,
    pub rows: usize,
    pub spans: Spans,
}

impl Assembly {
    /// For these rules; `kept` names columns of the files whose texts are needed besides.
    pub fn new(rules: &[ColumnRule], kept: &[&str]) -> Self {
        let mut raws: Vec<RawColumn> = Vec::new();
        let mut find = |source: &Source| match raws.iter().position(|r| r.source == *source) {
            Some(at) => at,
            None => {
                raws.push(RawColumn { source: source.clone(), interner: None });
                raws.len() - 1
            }
        };
        let kept: Vec<usize> = kept.iter().map(|name| find(&Source::Column((*name).to_string()))).collect();
        let rules: Vec<RuleState> = rules
            .iter()
            .map(|rule| RuleState { rule: rule.clone(), raw: find(&rule.source), produced: Produced::of(rule) })
            .collect();
        let interned = rules
            .iter()
            .filter(|r| !matches!(r.produced, Produced::Direct { .. } | Produced::Numbers { .. }))
            .map(|r| r.raw)
            .chain(kept);
        for raw in interned {
            raws[raw].interner = Some(Interner::new());
        }
        Self { raws, rules, rows: 0, spans: Spans::default() }
    }

    /// The columns of a file that are needed.
    pub fn wanted(&self) -> impl Iterator<Item = &str> {
        self.raws.iter().filter_map(|r| match &r.source {
            Source::Column(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Where a file with these columns has what is needed; or the name of a column and whether it is there twice.
    pub fn layout(&self, names: &[String], base: &str) -> Result<Layout, (String, bool)> {
        let mut places = Vec::with_capacity(self.raws.len());
        for raw in &self.raws {
            places.push(match &raw.source {
                Source::FileName => Place::Fixed(base.to_string()),
                Source::Constant(text) => Place::Fixed(text.clone()),
                Source::Column(name) => {
                    let mut found = names.iter().enumerate().filter(|(_, n)| *n == name);
                    match (found.next(), found.next()) {
                        (Some((at, _)), None) => Place::Field(at),
                        (None, _) => return Err((name.clone(), false)),
                        (Some(_), Some(_)) => return Err((name.clone(), true)),
                    }
                }
            });
        }
        Ok(Layout { places })
    }

    /// Appends rows.
    pub fn push(&mut self, rows: &Rows<'_>, layout: &Layout) -> Result<(), ResultsError> {
        let first_row = self.rows;
        self.spans.note(first_row, rows);
        // The earliest row with a fault, so that the message does not depend on the order of the rules.
        let mut fault: Option<(usize, String, ErrorKind)> = None;
        let mut note = |row: usize, column: &dyn Fn() -> String, kind: ErrorKind| {
            if fault.as_ref().is_none_or(|(first, ..)| row < *first) {
                fault = Some((row, column(), kind));
            }
        };
        for (at, raw) in self.raws.iter_mut().enumerate() {
            let place = &layout.places[at];
            if let Some(interner) = &mut raw.interner {
                let known = interner.len();
                match place {
                    Place::Field(field) => interner.push_all(rows.column(*field)),
                    Place::Fixed(text) => interner.push_repeated(text, rows.count()),
                }
                if interner.len() == known {
                    continue;
                }
                for state in self.rules.iter_mut().filter(|s| s.raw == at) {
                    for code in known..interner.len() {
                        if let Err(kind) = state.produced.learn(&state.rule, interner.get(code as u32)) {
                            let row = interner.codes[first_row..].iter().position(|&c| c as usize == code);
                            note(row.unwrap_or(0), &|| named(&state.rule), kind);
                            break;
                        }
                    }
                }
            }
        }
        for state in &mut self.rules {
            let Place::Field(field) = layout.places[state.raw] else { continue };
            if let Err((row, kind)) = state.produced.convert(&state.rule, rows.column(field)) {
                note(row, &|| named(&state.rule), kind);
            }
        }
        self.rows += rows.count();
        match fault {
            None => Ok(()),
            Some((row, column, kind)) => Err(self.spans.error(first_row + row, kind).column(&column)),
        }
    }

    /// Appends a row whose cells are all empty, for rows of results that no row of a joined file fits.
    pub fn push_empty(&mut self) -> Result<(), ErrorKind> {
        for (at, raw) in self.raws.iter_mut().enumerate() {
            let Some(interner) = &mut raw.interner else { continue };
            let known = interner.len();
            interner.push_all(std::iter::once(&b""[..]));
            if interner.len() > known {
                for state in self.rules.iter_mut().filter(|s| s.raw == at) {
                    state.produced.learn(&state.rule, "")?;
                }
            }
        }
        for state in &mut self.rules {
            state.produced.convert(&state.rule, std::iter::once(&b""[..])).map_err(|(_, kind)| kind)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// The interned column of the file that is called so.
    pub fn raw(&self, name: &str) -> Option<&Interner> {
        self.raws.iter().find(|r| matches!(&r.source, Source::Column(n) if n == name)).and_then(|r| r.interner.as_ref())
    }

    /// The interned column that a produced text column comes from, with the produced text of each of its codes.
    pub fn produced_texts(&self, name: &str) -> Option<(&Interner, Vec<&str>)> {
        let state = self.rules.iter().find(|s| s.rule.name == name)?;
        let interner = self.raws[state.raw].interner.as_ref()?;
        let texts = (0..interner.len() as u32).map(|code| match &state.produced {
            Produced::Same => Some(interner.get(code)),
            Produced::Mapped { codes, dict } => Some(dict.get(codes[code as usize])),
            _ => None,
        });
        Some((interner, texts.collect::<Option<Vec<&str>>>()?))
    }

    /// The finished columns.
    pub fn finish(self) -> Vec<(String, Type, Arc<Column>)> {
        let Self { mut raws, rules, .. } = self;
        // An interned column goes to its last user, and the others copy.
        let mut users = vec![0usize; raws.len()];
        for state in &rules {
            users[state.raw] += 1;
        }
        let mut same: Vec<Option<Arc<Column>>> = vec![None; raws.len()];
        // The columns that stay as they are first: all of them share one.
        for state in &rules {
            if matches!(state.produced, Produced::Same) && same[state.raw].is_none() {
                let others = rules.iter().any(|s| s.raw == state.raw && !matches!(s.produced, Produced::Same));
                if let Some(interner) = raws[state.raw].interner.as_mut() {
                    let mut codes = if others { interner.codes.clone() } else { std::mem::take(&mut interner.codes) };
                    codes.shrink_to_fit();
                    let dict = std::mem::take(&mut interner.dict).finish();
                    same[state.raw] = Some(Arc::new(Column::Symbol(Symbols { codes, dict })));
                }
            }
        }
        let mut columns = Vec::with_capacity(rules.len());
        for state in rules {
            users[state.raw] -= 1;
            let mut codes = || match raws[state.raw].interner.as_mut() {
                Some(i) if users[state.raw] == 0 => std::mem::take(&mut i.codes),
                Some(i) => i.codes.clone(),
                None => Vec::new(),
            };
            let column = match state.produced {
                Produced::Same => match &same[state.raw] {
                    Some(column) => column.clone(),
                    None => Arc::new(Column::Symbol(Symbols::from_texts([""; 0]))),
                },
                Produced::Mapped { codes: map, dict } => {
                    let mut codes = codes();
                    for code in &mut codes {
                        *code = map[*code as usize];
                    }
                    codes.shrink_to_fit();
                    Arc::new(Column::Symbol(Symbols { codes, dict: dict.finish() }))
                }
                Produced::Bools(map) => Arc::new(Column::Bool(codes().into_iter().map(|c| map[c as usize]).collect())),
                Produced::Cells(map) => Arc::new(cells(&codes(), &map, &state.rule.kind)),
                Produced::Direct { mut values, .. } => {
                    values.shrink_to_fit();
                    Arc::new(Column::Int(values))
                }
                Produced::Numbers { mut ints, exact } => Arc::new(match exact {
                    Some(values) => Column::from_exact(values),
                    None => {
                        ints.shrink_to_fit();
                        Column::Int(ints)
                    }
                }),
            };
            columns.push((state.rule.name, state.rule.kind.column_type(), column));
        }
        columns
    }
}

/// How messages name the column of a rule: by the file's name if it has one.
fn named(rule: &ColumnRule) -> String {
    match &rule.source {
        Source::Column(name) => name.clone(),
        _ => rule.name.clone(),
    }
}

fn cells(codes: &[u32], map: &[Cell], kind: &Kind) -> Column {
    if matches!(kind, Kind::Quantity { real: true, .. }) {
        let real = |cell: &Cell| match cell {
            Cell::Real(r) => *r,
            Cell::Int(n) => *n as f64,
            _ => 0.0,
        };
        return Column::Real(codes.iter().map(|&c| real(&map[c as usize])).collect());
    }
    let int = |cell: &Cell| match cell {
        Cell::Int(n) => Some(*n),
        _ => None,
    };
    if let Some(ints) = codes.iter().map(|&c| int(&map[c as usize])).collect() {
        return Column::Int(ints);
    }
    let exact = |cell: &Cell| match cell {
        Cell::Int(n) => Exact::from(*n),
        Cell::Exact(n) => n.clone(),
        _ => Exact::ZERO,
    };
    // An unused exception may be the only one that is not whole, so the fast form is still possible.
    Column::from_exact(codes.iter().map(|&c| exact(&map[c as usize])).collect())
}

impl Produced {
    fn of(rule: &ColumnRule) -> Self {
        let from_file = matches!(rule.source, Source::Column(_));
        // A word that is a number itself has to be looked for before the text is read as a number.
        let odd_word = rule.words.as_ref().is_some_and(|words| {
            words.keys().any(|word| parse_units(word.as_bytes(), Unit::Power(0)).is_some() || word.contains('/'))
        });
        let direct = from_file && rule.part.is_none() && !odd_word;
        match &rule.kind {
            Kind::Text | Kind::Words(_) => {
                let plain = rule.part.is_none() && rule.words.is_none() && rule.otherwise.is_none();
                if plain && rule.empty.as_ref().is_none_or(String::is_empty) {
                    Self::Same
                } else {
                    Self::Mapped { codes: Vec::new(), dict: DictBuilder::new() }
                }
            }
            Kind::Bool => Self::Bools(Vec::new()),
            Kind::Time { unit_ns, negative } if direct => Self::Direct {
                unit: Unit::new(*unit_ns),
                least: if *negative { i64::MIN } else { 0 },
                values: Vec::new(),
            },
            Kind::Memory { unit_bytes } if direct => {
                Self::Direct { unit: Unit::new(*unit_bytes), least: 0, values: Vec::new() }
            }
            Kind::Number if direct => Self::Numbers { ints: Vec::new(), exact: None },
            Kind::Number | Kind::Time { .. } | Kind::Memory { .. } | Kind::Quantity { .. } => Self::Cells(Vec::new()),
        }
    }

    /// Takes the next distinct text of the interned column.
    fn learn(&mut self, rule: &ColumnRule, text: &str) -> Result<(), ErrorKind> {
        match self {
            // The common case of many distinct texts: nothing but emptiness can be wrong with them.
            Self::Same if rule.kind == Kind::Text => {
                if text.is_empty() && rule.empty.is_none() {
                    Err(ErrorKind::EmptyCell)
                } else {
                    Ok(())
                }
            }
            Self::Same => evaluate(rule, text).map(|_| ()),
            Self::Mapped { codes, dict } => {
                if let Cell::Text(text) = evaluate(rule, text)? {
                    codes.push(dict.intern(&text));
                }
                Ok(())
            }
            Self::Bools(values) => {
                values.push(evaluate(rule, text)? == Cell::Bool(true));
                Ok(())
            }
            Self::Cells(values) => {
                values.push(evaluate(rule, text)?);
                Ok(())
            }
            Self::Direct { .. } | Self::Numbers { .. } => Ok(()),
        }
    }

    /// Converts texts row by row, if that is how this rule works. The error names the row among the given ones.
    fn convert<'t>(
        &mut self,
        rule: &ColumnRule,
        texts: impl Iterator<Item = &'t [u8]>,
    ) -> Result<(), (usize, ErrorKind)> {
        match self {
            Self::Direct { unit, least, values } => {
                values.reserve(texts.size_hint().0);
                for (row, text) in texts.enumerate() {
                    let value = match parse_units(text, *unit) {
                        // Zero may be a negative number that was rounded, which the slow way looks into.
                        Some(n) if n > 0 || (n >= *least && text.first() != Some(&b'-')) => n,
                        _ => match evaluate(rule, &String::from_utf8_lossy(text)) {
                            Ok(Cell::Int(n)) => n,
                            Ok(_) => {
                                return Err((
                                    row,
                                    ErrorKind::OutOfRange { text: String::from_utf8_lossy(text).into() },
                                ));
                            }
                            Err(kind) => return Err((row, kind)),
                        },
                    };
                    values.push(value);
                }
            }
            Self::Numbers { ints, exact } => {
                for (row, text) in texts.enumerate() {
                    let whole = text.len() <= 18 && !text.is_empty() && text.iter().all(u8::is_ascii_digit);
                    let n = if whole {
                        Cell::Int(text.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
                    } else {
                        evaluate(rule, &String::from_utf8_lossy(text)).map_err(|kind| (row, kind))?
                    };
                    match (n, exact.as_mut()) {
                        (Cell::Int(n), None) => ints.push(n),
                        (Cell::Int(n), Some(values)) => values.push(Exact::from(n)),
                        (Cell::Exact(n), None) => {
                            let mut values: Vec<Exact> = std::mem::take(ints).into_iter().map(Exact::from).collect();
                            values.push(n);
                            *exact = Some(values);
                        }
                        (Cell::Exact(n), Some(values)) => values.push(n),
                        (Cell::Text(_) | Cell::Bool(_) | Cell::Real(_), _) => {
                            return Err((row, ErrorKind::OutOfRange { text: String::from_utf8_lossy(text).into() }));
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
