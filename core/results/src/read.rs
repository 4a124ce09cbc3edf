//! Reading: recognise every file, convert its rows, join, settle duplicates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_table::{Column, DictBuilder, Exact, Symbols, Table, Type};

use crate::assemble::{Assembly, Spans};
use crate::duplicates;
use crate::error::{ErrorKind, ResultsError, closest, shown};
use crate::input::{self, Input, Opened};
use crate::join::{self, Joined};
use crate::mapping::{Header, JoinFile, Mapping, Recognise};
use crate::origin::{JoinOrigins, Origins};
use crate::parquet_file::{self, ForeignFile};
use crate::split::Splitter;

/// What was read.
#[derive(Debug)]
pub struct ReadOutcome {
    /// For every mapping that recognised a file, its number among the given ones and the table of all its files.
    pub tables: Vec<(usize, Table)>,
    /// For every table where its rows came from.
    pub origins: Vec<Origins>,
    /// What became of each file.
    pub report: ReadReport,
}

/// What became of each file.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// The files that were read, in order; for an archive each member that was.
    pub files: Vec<FileReport>,
    /// For every archive the members that no mapping recognised.
    pub skipped: Vec<(PathBuf, Skipped)>,
}

/// Members of an archive that were not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// The names of the first ones.
    pub names: Vec<String>,
}

impl Skipped {
    const MOST_NAMES: usize = 5;

    pub(crate) fn add(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < Self::MOST_NAMES {
            self.names.push(name.to_string());
        }
    }
}

impl ReadReport {
    /// What somebody who trusts the figures should know about the files, a sentence each: bytes that nothing vouches
    /// for, and members of archives that were passed over.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut last: Option<&Path> = None;
        for file in self.files.iter().filter(|f| !f.checked) {
            let Some(container) = file.container else { continue };
            if last == Some(&*file.file) {
                continue;
            }
            last = Some(&file.file);
            let remedy = match container {
                "Parquet" => {
                    "compare the file with a published checksum, or write it with `agon import`, which adds one"
                }
                "tar" => "compress the archive, or compare it with a published checksum",
                _ => "compress it with a checksum (`zstd --check`, `xz`, `gzip`), or compare it with a published one",
            };
            let what = match container {
                "Parquet" => "no checksum over the whole file (Parquet of another program)".to_string(),
                other => format!("no checksum inside ({other})"),
            };
            notes.push(format!("{}: {what}: damage could go unnoticed; {remedy}", file.file.display()));
        }
        notes.extend(self.open_ends());
        for (file, skipped) in self.skipped.iter().filter(|(_, skipped)| skipped.count > 0) {
            let more = skipped.count - skipped.names.len() as u64;
            notes.push(format!(
                "{}: {} of its members {} not read, as no form recognises {}: {}{}",
                file.display(),
                skipped.count,
                if skipped.count == 1 { "was" } else { "were" },
                if skipped.count == 1 { "it" } else { "them" },
                skipped.names.iter().map(|n| n.escape_debug().to_string()).collect::<Vec<_>>().join(", "),
                if more > 0 { format!(" and {more} more") } else { String::new() },
            ));
        }
        notes
    }

    /// The files of which the last line may be a part only; the members of an archive with one remark.
    fn open_ends(&self) -> Vec<String> {
        let mut notes: Vec<(&Path, String, usize)> = Vec::new();
        for file in &self.files {
            let Some(row) = file.open_end else { continue };
            match notes.last_mut() {
                Some((last, _, more)) if *last == file.file && file.member.is_some() => *more += 1,
                _ => notes.push((&file.file, format!("{}, row {row}", shown(&file.file, file.member.as_deref())), 0)),
            }
        }
        let text = |(_, place, more): (_, String, usize)| match more {
            0 => open_end(&place),
            n => open_end(&format!("{place} (and in {n} more of its members)")),
        };
        notes.into_iter().map(text).collect()
    }
}

/// The remark on a text that ends without a line end: cut off inside its last field, it looks like any other.
fn open_end(place: &str) -> String {
    format!(
        "{place}: no line end follows the last row: if the file was cut off here, the row's last value is wrong; compare \
         the file with its origin, and end its last line"
    )
}

/// One file that was read.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The given file.
    pub file: PathBuf,
    /// The member of the archive.
    pub member: Option<String>,
    /// The number of the mapping.
    pub mapping: usize,
    /// What the file was.
    pub role: FileRole,
    /// How many rows it has, before duplicates are settled.
    pub rows: usize,
    /// How many bytes of text it has, unpacked; for a Parquet file how many bytes it has.
    pub bytes: u64,
    /// Whether checksums would have shown any damage to its bytes.
    pub checked: bool,
    /// What the text is wrapped in: `gzip`, `xz`, `zstd`, `tar`, `Parquet`; nothing for a plain text.
    pub container: Option<&'static str>,
    /// The line on which the last row begins, if no line end follows it.
    pub open_end: Option<u64>,
}

/// What a file was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// Results in the form that the mapping declares.
    Results,
    /// Results as this crate writes them, with the produced columns.
    Canonical,
    /// A file that only adds columns.
    Joined,
}

/// One way in which a file can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Direct(usize),
    Canonical(usize),
    Join(usize, usize),
}

/// Consecutive rows of a mapping.
enum Part {
    /// Being read in this form; with the columns of the first file.
    Rows { form: Form, assembly: Box<Assembly>, names: Vec<String> },
    /// Read as a whole.
    Table { table: Table, spans: Spans },
}

struct Reader<'m> {
    mappings: &'m [Mapping],
    canonical: Vec<Mapping>,
    parts: Vec<Vec<Part>>,
    joined: Vec<Vec<Joined>>,
    report: ReadReport,
}

/// Reads result files.
///
/// Every file is recognised by its first line; the rows of all files of the same mapping become one table, in the
/// order of the files. The files may be compressed (gzip, xz, zstd) and members of a tar archive; Parquet files and
/// what [`write_csv`](crate::write_csv) wrote are read too.
///
/// # Errors
/// At the first thing that is wrong with any file. There is no partial result.
pub fn read(files: &[PathBuf], mappings: &[Mapping]) -> Result<ReadOutcome, ResultsError> {
    for mapping in mappings {
        if let Some(why) = mapping.flaw() {
            let why = format!("`{}`: {why}", mapping.name);
            let file = files.first().cloned().unwrap_or_default();
            return Err(ResultsError::new(&file, ErrorKind::BadMapping(why)));
        }
    }
    let mut reader = Reader {
        mappings,
        canonical: mappings.iter().map(canonical).collect(),
        parts: mappings.iter().map(|_| Vec::new()).collect(),
        joined: mappings.iter().map(|m| m.joins.iter().map(Joined::new).collect()).collect(),
        report: ReadReport::default(),
    };
    for file in files {
        match input::open(file)? {
            Opened::Text(mut input) => {
                reader.text(&mut input)?;
            }
            Opened::Tar(archive) => {
                let mut taken = 0u64;
                let skipped = input::members(archive, |member| {
                    let took = reader.text(member)?;
                    taken += u64::from(took);
                    Ok(took)
                })?;
                if taken == 0 {
                    let wanted =
                        vec![("tar".to_string(), format!("has {} members and none is recognised", skipped.count))];
                    return Err(ResultsError::new(file, ErrorKind::NotRecognised { wanted }));
                }
                reader.report.skipped.push((file.clone(), skipped));
            }
            Opened::Parquet => reader.parquet(file)?,
        }
    }
    reader.finish(files)
}

/// The mapping of the same columns in the form that [`write_csv`](crate::write_csv) writes.
fn canonical(mapping: &Mapping) -> Mapping {
    let schema = mapping.schema();
    let mut result = Mapping::canonical(&mapping.name, schema.iter().map(|(name, ty)| (*name, ty)));
    for (rule, original) in result.columns.iter_mut().zip(mapping.rules()) {
        // Nanoseconds are converted directly, as any other time is.
        if let crate::Kind::Time { .. } = original.kind {
            rule.kind = crate::Kind::Time { unit_ns: 1_000_000_000, negative: true };
        } else if let crate::Kind::Memory { .. } = original.kind {
            rule.kind = crate::Kind::Memory { unit_bytes: 1 };
        }
    }
    result
}

impl Reader<'_> {
    /// The header and the recogniser of a form.
    fn look(&self, form: Form) -> (&Header, u8, &Recognise) {
        match form {
            Form::Direct(m) => {
                let mapping = &self.mappings[m];
                (&mapping.header, mapping.delimiter, &mapping.recognise)
            }
            Form::Canonical(m) => {
                let mapping = &self.canonical[m];
                (&mapping.header, mapping.delimiter, &mapping.recognise)
            }
            Form::Join(m, j) => {
                let join = &self.mappings[m].joins[j];
                (&join.header, join.delimiter, &join.recognise)
            }
        }
    }

    fn forms(&self) -> Vec<Form> {
        let all = 0..self.mappings.len();
        all.clone()
            .map(Form::Direct)
            .chain(all.clone().flat_map(|m| (0..self.mappings[m].joins.len()).map(move |j| Form::Join(m, j))))
            .chain(all.map(Form::Canonical))
            .collect()
    }

    /// The forms that a file has. `first` gives the first line as split by a delimiter.
    fn recognise(
        &self,
        base: &str,
        mut first: impl FnMut(u8) -> Result<Vec<String>, ErrorKind>,
    ) -> Result<Vec<Form>, ErrorKind> {
        let mut found = Vec::new();
        let mut wanted = Vec::new();
        let mut trouble = None;
        for form in self.forms() {
            let (header, delimiter, recognise) = self.look(form);
            // A file beside the results goes by its name; it does no harm to give it too.
            if let Form::Join(m, j) = form
                && let JoinFile::Beside(name) = &self.mappings[m].joins[j].file
                && name != base
            {
                continue;
            }
            let lacks = match first(delimiter) {
                Ok(fields) => recognise.lacks(header, &fields, base),
                Err(kind) => {
                    let text = kind.to_string();
                    trouble.get_or_insert(kind);
                    Some(format!("cannot split the first line: {text}"))
                }
            };
            match (lacks, form) {
                (None, _) => found.push(form),
                (Some(what), Form::Direct(m)) => wanted.push((self.mappings[m].name.clone(), what)),
                (Some(what), Form::Join(m, _)) => {
                    wanted.push((format!("{} (joined file)", self.mappings[m].name), what));
                }
                (Some(_), Form::Canonical(_)) => {}
            }
        }
        // A form that the mapping declares goes before the one that its table would be written in, and among tables
        // that are written alike it does not matter which one this is.
        let direct = |m: usize| found.contains(&Form::Direct(m));
        let mut kept: Vec<Form> = Vec::new();
        for form in &found {
            let superseded = match *form {
                Form::Canonical(m) => {
                    direct(m)
                        || kept.iter().any(|k| {
                            matches!(*k, Form::Canonical(other)
                                if alike(&self.canonical[other], &self.canonical[m]))
                        })
                }
                _ => false,
            };
            if !superseded {
                kept.push(*form);
            }
        }
        // The same joined file may serve several mappings.
        let only_joins = kept.iter().all(|f| matches!(f, Form::Join(..)));
        match kept.len() {
            0 => Err(trouble.unwrap_or(ErrorKind::NotRecognised { wanted })),
            1 => Ok(kept),
            _ if only_joins => Ok(kept),
            _ => Err(ErrorKind::Ambiguous { mappings: kept.iter().map(|f| self.name(*f)).collect() }),
        }
    }

    fn name(&self, form: Form) -> String {
        match form {
            Form::Direct(m) => self.mappings[m].name.clone(),
            Form::Canonical(m) => format!("{} (as written)", self.mappings[m].name),
            Form::Join(m, _) => format!("{} (joined file)", self.mappings[m].name),
        }
    }

    /// Reads a text; returns whether any mapping recognised it. Only a member of an archive may be left aside.
    fn text(&mut self, input: &mut Input<'_>) -> Result<bool, ResultsError> {
        let outcome = self.text_unverified(input);
        if let Err(error) = &outcome
            && !matches!(
                *error.kind,
                ErrorKind::Io(_) | ErrorKind::Truncated { .. } | ErrorKind::Corrupt { .. } | ErrorKind::Limit { .. }
            )
            && error.file == input.file
        {
            // A damaged file often shows as a wrong word first: the damage is the better message.
            input.verify_rest()?;
        }
        outcome
    }

    fn text_unverified(&mut self, input: &mut Input<'_>) -> Result<bool, ResultsError> {
        let base = input.base.clone();
        let member = input.member.is_some();
        let mut splitter = Splitter::new(input);
        let mut fatal = None;
        let outcome = self.recognise(&base, |delimiter| {
            splitter.first_line(delimiter).map_err(|e| {
                let kind = (*e.kind).clone();
                fatal.get_or_insert(e);
                kind
            })
        });
        let forms = match outcome {
            Ok(forms) => forms,
            Err(kind) => {
                let broken = matches!(kind, ErrorKind::Truncated { .. } | ErrorKind::Corrupt { .. } | ErrorKind::Io(_));
                // A member called a CSV file is meant to be read: to pass it over would lose results without a word.
                if member && !broken && !matches!(kind, ErrorKind::Ambiguous { .. }) && !base.ends_with(".csv") {
                    return Ok(false);
                }
                return Err(match fatal {
                    Some(error) if *error.kind == kind => error,
                    _ => splitter.input.error(kind),
                });
            }
        };
        if let [form @ (Form::Direct(_) | Form::Canonical(_))] = forms[..] {
            self.results(splitter, form)?;
        } else {
            self.given_join(splitter, &forms)?;
        }
        Ok(true)
    }

    /// The mapping of a form of results.
    fn mapping(&self, form: Form) -> (usize, &Mapping) {
        match form {
            Form::Direct(m) | Form::Join(m, _) => (m, &self.mappings[m]),
            Form::Canonical(m) => (m, &self.canonical[m]),
        }
    }

    /// The assembly that the next file of this form goes to.
    fn part(&mut self, form: Form, names: &[String]) -> &mut Assembly {
        let (m, mapping) = self.mapping(form);
        let current = matches!(self.parts[m].last(), Some(Part::Rows { form: last, .. }) if *last == form);
        if !current {
            let kept: Vec<&str> = match form {
                Form::Direct(_) => mapping
                    .joins
                    .iter()
                    .flat_map(|j| &j.on)
                    .map(|(name, _)| name.as_str())
                    .filter(|name| names.iter().any(|n| n == name))
                    .collect(),
                _ => Vec::new(),
            };
            let assembly = Box::new(Assembly::new(&mapping.columns, &kept));
            self.parts[m].push(Part::Rows { form, assembly, names: names.to_vec() });
        }
        match self.parts[m].last_mut() {
            Some(Part::Rows { assembly, .. }) => assembly,
            // The part was pushed just now.
            _ => unreachable!("the last part is being read"),
        }
    }

    fn results(&mut self, mut splitter: Splitter<'_, '_>, form: Form) -> Result<(), ResultsError> {
        let (m, mapping) = self.mapping(form);
        let (delimiter, header, name) = (mapping.delimiter, mapping.header.clone(), mapping.name.clone());
        let names = names(&mut splitter, &header, delimiter)?;
        let assembly = self.part(form, &names);
        let before = assembly.rows;
        rows(assembly, &mut splitter, &name, &names, delimiter, header == Header::Named)?;
        let last = assembly.spans.place(assembly.rows.saturating_sub(1)).1;
        let rows = assembly.rows - before;
        let role = if matches!(form, Form::Canonical(_)) { FileRole::Canonical } else { FileRole::Results };
        let input = splitter.input;
        self.report.files.push(FileReport {
            file: input.file.clone(),
            member: input.member.clone(),
            mapping: m,
            role,
            rows,
            bytes: input.bytes,
            checked: input.checked,
            container: input.container(),
            open_end: input.open_end.then_some(if rows > 0 { last } else { 1 }),
        });
        Ok(())
    }

    /// Reads a joined file that was given, for all mappings that want it. Its text is read for the first and opened
    /// again for the others.
    fn given_join(&mut self, splitter: Splitter<'_, '_>, forms: &[Form]) -> Result<(), ResultsError> {
        let (file, member) = (splitter.input.file.clone(), splitter.input.member.is_some());
        let mut first = Some(splitter);
        for form in forms {
            let Form::Join(m, j) = *form else { continue };
            // The file beside the results is read when it is needed.
            if matches!(self.mappings[m].joins[j].file, JoinFile::Beside(_)) {
                continue;
            }
            if let Some(splitter) = first.take() {
                self.join_rows(splitter, m, j)?;
                continue;
            }
            match input::open(&file)? {
                Opened::Text(mut input) if !member => self.join_rows(Splitter::new(&mut input), m, j)?,
                _ => {
                    let why =
                        "one member of an archive is joined for several mappings; unpack it and give it as a file";
                    return Err(ResultsError::new(&file, ErrorKind::BadMapping(why.into())));
                }
            }
        }
        Ok(())
    }

    fn join_rows(&mut self, mut splitter: Splitter<'_, '_>, m: usize, j: usize) -> Result<(), ResultsError> {
        let mapping = &self.mappings[m];
        let join = &mapping.joins[j];
        let names = names(&mut splitter, &join.header, join.delimiter)?;
        let joined = &mut self.joined[m][j];
        let before = joined.assembly.rows;
        let named = join.header == Header::Named;
        rows(&mut joined.assembly, &mut splitter, &mapping.name, &names, join.delimiter, named)?;
        let range = before..joined.assembly.rows;
        let last = joined.assembly.spans.place(range.end.saturating_sub(1)).1;
        let input = splitter.input;
        joined.files.push((input.file.clone(), range.clone()));
        self.report.files.push(FileReport {
            file: input.file.clone(),
            member: input.member.clone(),
            mapping: m,
            role: FileRole::Joined,
            rows: range.len(),
            bytes: input.bytes,
            checked: input.checked,
            container: input.container(),
            open_end: input.open_end.then_some(if range.is_empty() { 1 } else { last }),
        });
        Ok(())
    }

    fn parquet(&mut self, file: &Path) -> Result<(), ResultsError> {
        let bytes = std::fs::metadata(file).map_or(0, |m| m.len());
        let report = |mapping, role, rows, checked| FileReport {
            file: file.to_path_buf(),
            member: None,
            mapping,
            role,
            rows,
            bytes,
            checked,
            container: Some("Parquet"),
            open_end: None,
        };
        let mut foreign = match parquet_file::open(file)? {
            parquet_file::Found::Ours(table, metadata) => {
                let m = self.whose(file, &table, &metadata)?;
                let mut spans = Spans::default();
                spans.whole(file.to_path_buf(), 0, 1);
                self.report.files.push(report(m, FileRole::Canonical, table.rows(), true));
                self.parts[m].push(Part::Table { table, spans });
                return Ok(());
            }
            parquet_file::Found::Foreign(foreign) => foreign,
        };
        let base = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let names = foreign.names().to_vec();
        let forms = self.recognise(&base, |_| Ok(names.clone())).map_err(|kind| ResultsError::new(file, kind))?;
        let form = match forms[..] {
            [form @ (Form::Direct(_) | Form::Canonical(_))] => form,
            [Form::Join(m, j)] if self.mappings[m].joins[j].file == JoinFile::Given => {
                let name = self.mappings[m].name.clone();
                let joined = &mut self.joined[m][j];
                let before = joined.assembly.rows;
                foreign_rows(&mut joined.assembly, &mut foreign, file, &name)?;
                let range = before..joined.assembly.rows;
                joined.files.push((file.to_path_buf(), range.clone()));
                self.report.files.push(report(m, FileRole::Joined, range.len(), false));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let (m, mapping) = self.mapping(form);
        let name = mapping.name.clone();
        let assembly = self.part(form, &names);
        let before = assembly.rows;
        foreign_rows(assembly, &mut foreign, file, &name)?;
        let rows = assembly.rows - before;
        self.report.files.push(report(m, FileRole::Results, rows, false));
        Ok(())
    }

    /// The mapping whose table this is: the one that its metadata names, else the one that produces such a table.
    fn whose(&self, file: &Path, table: &Table, metadata: &[(String, String)]) -> Result<usize, ResultsError> {
        let fits = |m: &usize| {
            let schema = self.mappings[*m].schema();
            schema.len() == table.names().count() && schema.iter().all(|(name, ty)| table.column_type(name) == Some(ty))
        };
        let named = metadata.iter().find(|(key, _)| key == "mapping").map(|(_, name)| name);
        if let Some(m) = (0..self.mappings.len()).find(|m| named == Some(&self.mappings[*m].name)) {
            if fits(&m) {
                return Ok(m);
            }
            let why = format!("it was written for mapping `{}`, which has other columns by now", self.mappings[m].name);
            return Err(ResultsError::new(file, ErrorKind::Unlike(why)));
        }
        (0..self.mappings.len()).find(fits).ok_or_else(|| {
            let describe = |schema: &mut dyn Iterator<Item = (&str, &Type)>| {
                schema.map(|(name, ty)| format!("{name} ({ty})")).collect::<Vec<_>>().join(", ")
            };
            let have = describe(&mut table.schema());
            let wanted = self.mappings.iter().map(|m| {
                let schema = m.schema();
                let columns = describe(&mut schema.iter().map(|(name, ty)| (*name, ty)));
                (m.name.clone(), format!("produces {columns}, but the file has {have}"))
            });
            ResultsError::new(file, ErrorKind::NotRecognised { wanted: wanted.collect() })
        })
    }

    fn finish(mut self, files: &[PathBuf]) -> Result<ReadOutcome, ResultsError> {
        let mut tables = Vec::new();
        let mut origins = Vec::new();
        let all = std::mem::take(&mut self.parts);
        for (m, parts) in all.into_iter().enumerate() {
            if parts.is_empty() {
                continue;
            }
            self.beside(m, &parts)?;
            let mapping = &self.mappings[m];
            // Joined columns are finished once, however many parts there are.
            let direct = parts.iter().any(|p| matches!(p, Part::Rows { form: Form::Direct(_), .. }));
            let mut fits: Vec<Vec<Vec<u32>>> = Vec::new();
            if direct {
                for (j, join) in mapping.joins.iter().enumerate() {
                    let joined = &self.joined[m][j];
                    if joined.files.is_empty() {
                        let file = files.first().cloned().unwrap_or_default();
                        let what = join.recognise.columns.join(", ");
                        let wanted = format!("a file with the columns {what} among the given ones");
                        return Err(ResultsError::new(&file, ErrorKind::NoJoinedFile { wanted }));
                    }
                    let mut of_parts = Vec::new();
                    for part in &parts {
                        of_parts.push(match part {
                            Part::Rows { form: Form::Direct(_), assembly, names } => {
                                let named = |name: &str| names.iter().any(|n| n == name);
                                join::rows(mapping, join, assembly, joined, &named)?
                            }
                            _ => Vec::new(),
                        });
                    }
                    fits.push(of_parts);
                }
            }
            let mut joins = Vec::new();
            let mut joined = Vec::new();
            for (join, mut j) in mapping.joins.iter().zip(std::mem::take(&mut self.joined[m])) {
                if direct && join.optional {
                    // What a row without a joined one has.
                    let file = j.files.first().map(|f| f.0.clone()).unwrap_or_default();
                    j.assembly.push_empty().map_err(|kind| ResultsError::new(&file, kind))?;
                }
                let spans = j.assembly.spans.clone();
                let columns = j.assembly.finish();
                let names = columns.iter().map(|(name, ..)| name.clone()).collect();
                joins.push(JoinOrigins { columns: names, spans, rows: Vec::new() });
                joined.push(columns);
            }
            let mut whole: Option<(Table, Spans)> = None;
            for (at, part) in parts.into_iter().enumerate() {
                let (table, spans) = match part {
                    Part::Table { table, spans } => (table, spans),
                    Part::Rows { form, assembly, .. } => {
                        let spans = assembly.spans.clone();
                        let mut table = Table::new(assembly.rows);
                        for (name, ty, column) in assembly.finish() {
                            set(&mut table, &name, ty, column, &spans)?;
                        }
                        if matches!(form, Form::Direct(_)) {
                            let before = whole.as_ref().map_or(0, |(table, _)| table.rows());
                            for ((columns, rows), join) in joined.iter().zip(&mut fits).zip(&mut joins) {
                                let rows = std::mem::take(&mut rows[at]);
                                for (name, ty, column) in columns {
                                    set(&mut table, name, ty.clone(), Arc::new(column.gather(&rows)), &spans)?;
                                }
                                if before == 0 {
                                    join.rows = rows;
                                } else {
                                    join.rows.resize(before, u32::MAX);
                                    join.rows.extend(rows);
                                }
                            }
                        }
                        (table, spans)
                    }
                };
                whole = Some(match whole {
                    None => (table, spans),
                    Some(before) => append(before, (table, spans))?,
                });
            }
            let Some((table, spans)) = whole else { continue };
            let settled = duplicates::settle(mapping, &table, &spans)?;
            let mut origin = Origins::new(spans, joins);
            let table = match settled {
                None => table,
                Some(rows) => {
                    let mut mask = vec![false; table.rows()];
                    for &row in &rows {
                        mask[row as usize] = true;
                    }
                    origin.keep(&mask);
                    table.gather(&rows)
                }
            };
            tables.push((m, table));
            origins.push(origin);
        }
        if tables.is_empty() {
            return Err(ResultsError::new(&files.first().cloned().unwrap_or_default(), ErrorKind::NoResults));
        }
        Ok(ReadOutcome { tables, origins, report: self.report })
    }

    /// Reads the files beside the result files.
    fn beside(&mut self, m: usize, parts: &[Part]) -> Result<(), ResultsError> {
        for j in 0..self.mappings[m].joins.len() {
            let JoinFile::Beside(name) = &self.mappings[m].joins[j].file else { continue };
            for part in parts {
                let Part::Rows { form: Form::Direct(_), assembly, .. } = part else { continue };
                for span in &assembly.spans.0 {
                    let file = join::beside(&span.file, name)?;
                    if self.joined[m][j].has(&file) {
                        continue;
                    }
                    let Opened::Text(mut input) = input::open(&file)? else {
                        let wanted = vec![(self.name(Form::Join(m, j)), "is a single text".to_string())];
                        return Err(ResultsError::new(&file, ErrorKind::NotRecognised { wanted }));
                    };
                    let join = &self.mappings[m].joins[j];
                    let mut splitter = Splitter::new(&mut input);
                    let first = splitter.first_line(join.delimiter)?;
                    let base = splitter.input.base.clone();
                    if let Some(lacks) = join.recognise.lacks(&join.header, &first, &base) {
                        let wanted = vec![(self.name(Form::Join(m, j)), lacks)];
                        return Err(splitter.input.error(ErrorKind::NotRecognised { wanted }));
                    }
                    if let Err(error) = self.join_rows(splitter, m, j) {
                        input.verify_rest()?;
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

fn set(table: &mut Table, name: &str, ty: Type, column: Arc<Column>, spans: &Spans) -> Result<(), ResultsError> {
    table.set(name, ty, column).map_err(|e| spans.error(0, ErrorKind::BadMapping(e.to_string())))
}

/// Whether two mappings read the same columns in the same way.
fn alike(a: &Mapping, b: &Mapping) -> bool {
    let columns = |m: &Mapping| {
        let mut columns: Vec<(String, String)> =
            m.schema().into_iter().map(|(name, ty)| (name.to_string(), format!("{ty:?}"))).collect();
        columns.sort();
        columns
    };
    columns(a) == columns(b)
}

/// The names of the columns of a file.
fn names(splitter: &mut Splitter<'_, '_>, header: &Header, delimiter: u8) -> Result<Vec<String>, ResultsError> {
    match header {
        Header::Named => splitter.first_line(delimiter),
        Header::Fixed(names) => Ok(names.clone()),
    }
}

/// The error for a column that is not there, or there twice.
fn no_column(mapping: &str, names: &[String], (column, twice): (String, bool)) -> (String, ErrorKind) {
    let kind = if twice {
        ErrorKind::RepeatedColumn
    } else {
        let closest = closest(&column, names);
        ErrorKind::MissingColumn { have: names.to_vec(), closest, mapping: mapping.into() }
    };
    (column, kind)
}

/// Reads all rows of a text.
fn rows(
    assembly: &mut Assembly,
    splitter: &mut Splitter<'_, '_>,
    mapping: &str,
    names: &[String],
    delimiter: u8,
    skip_first: bool,
) -> Result<(), ResultsError> {
    let layout = assembly.layout(names, &splitter.input.base).map_err(|missing| {
        let (column, kind) = no_column(mapping, names, missing);
        splitter.input.error(kind).at(1).column(&column)
    })?;
    assembly.spans.begin(splitter.input.file.clone(), splitter.input.member.clone(), assembly.rows);
    splitter.begin(delimiter, names.len(), skip_first);
    while let Some(rows) = splitter.next_rows()? {
        assembly.push(&rows, &layout)?;
    }
    Ok(())
}

fn foreign_rows(
    assembly: &mut Assembly,
    foreign: &mut ForeignFile,
    file: &Path,
    mapping: &str,
) -> Result<(), ResultsError> {
    let wanted: Vec<String> = assembly.wanted().map(Into::into).collect();
    let all = foreign.names().to_vec();
    let base = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let fail = |missing| {
        let (column, kind) = no_column(mapping, &all, missing);
        ResultsError::new(file, kind).column(&column)
    };
    assembly.layout(&all, &base).map_err(fail)?;
    let layout = assembly.layout(&wanted, &base).map_err(fail)?;
    assembly.spans.begin(file.to_path_buf(), None, assembly.rows);
    foreign.rows(&wanted, &mut |rows| assembly.push(&rows, &layout))
}

/// One table after the other. Their columns must have the same names and types.
fn append(before: (Table, Spans), after: (Table, Spans)) -> Result<(Table, Spans), ResultsError> {
    let (first, mut spans) = before;
    let (second, more) = after;
    let unlike = |why: String| more.error(0, ErrorKind::Unlike(why));
    let mut table = Table::new(first.rows() + second.rows());
    for (name, ty) in first.schema() {
        let (Ok(a), Ok(b)) = (first.column(name), second.column(name)) else {
            return Err(unlike(format!("it has no column `{name}`")));
        };
        if second.column_type(name) != Some(ty) {
            return Err(unlike(format!("its column `{name}` has another type")));
        }
        let column = match (&**a, &**b) {
            (Column::Bool(a), Column::Bool(b)) => Column::Bool([a.as_slice(), b].concat()),
            (Column::Int(a), Column::Int(b)) => Column::Int([a.as_slice(), b].concat()),
            (Column::Real(a), Column::Real(b)) => Column::Real([a.as_slice(), b].concat()),
            (Column::Symbol(a), Column::Symbol(b)) => {
                let mut dict = DictBuilder::new();
                let mut codes = Vec::with_capacity(a.codes.len() + b.codes.len());
                for symbols in [a, b] {
                    let map: Vec<u32> = symbols.dict.iter().map(|text| dict.intern(text)).collect();
                    codes.extend(symbols.codes.iter().map(|&c| map[c as usize]));
                }
                Column::Symbol(Symbols { codes, dict: dict.finish() })
            }
            (a, b) => {
                let exact = |c: &Column| -> Option<Vec<Exact>> {
                    (0..c.len()).map(|row| c.value(row).as_exact().cloned()).collect()
                };
                match (exact(a), exact(b)) {
                    (Some(a), Some(b)) => Column::from_exact([a, b].concat()),
                    _ => return Err(unlike(format!("its column `{name}` is held in another way"))),
                }
            }
        };
        set(&mut table, name, ty.clone(), Arc::new(column), &more)?;
    }
    if second.names().count() != first.names().count() {
        return Err(unlike("it has more columns".into()));
    }
    let by = first.rows();
    spans.0.extend(more.0.into_iter().map(|span| span.shifted(by)));
    Ok((table, spans))
}

/// A small file as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvRows {
    /// The first line.
    pub header: Vec<String>,
    /// The other rows.
    pub rows: Vec<CsvRow>,
    /// What somebody who trusts the values should know about the file.
    pub notes: Vec<String>,
}

/// One row of a small file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvRow {
    /// The line on which it begins.
    pub line: u64,
    /// Its fields, as many as the header has.
    pub fields: Vec<String>,
}

/// The names of the columns of one file, as its header line or its Parquet schema gives them; none for an archive.
///
/// # Errors
/// If the file cannot be read so far.
pub fn column_names(file: &Path) -> Result<Option<Vec<String>>, ResultsError> {
    match input::open(file)? {
        Opened::Text(mut input) => Splitter::new(&mut input).first_line(b',').map(Some),
        Opened::Tar(_) => Ok(None),
        Opened::Parquet => match parquet_file::open(file)? {
            parquet_file::Found::Ours(table, _) => Ok(Some(table.names().map(str::to_string).collect())),
            parquet_file::Found::Foreign(foreign) => Ok(Some(foreign.names().to_vec())),
        },
    }
}

/// Reads a small file whole: lists of solvers, published figures. The same forms and the same strictness as [`read`],
/// but no archives and no mapping.
///
/// # Errors
/// At the first thing that is wrong with the file.
pub fn read_csv_rows(file: &Path, delimiter: u8) -> Result<CsvRows, ResultsError> {
    let Opened::Text(mut input) = input::open(file)? else {
        let wanted = vec![("CSV".to_string(), "is a single text".to_string())];
        return Err(ResultsError::new(file, ErrorKind::NotRecognised { wanted }));
    };
    let outcome = csv_rows(&mut input, delimiter);
    if outcome.is_err() {
        input.verify_rest()?;
    }
    outcome
}

pub(crate) fn csv_rows(input: &mut Input<'_>, delimiter: u8) -> Result<CsvRows, ResultsError> {
    let mut splitter = Splitter::new(input);
    let header = splitter.first_line(delimiter)?;
    splitter.begin(delimiter, header.len(), true);
    let mut result = CsvRows { header, rows: Vec::new(), notes: Vec::new() };
    while let Some(rows) = splitter.next_rows()? {
        let mut columns: Vec<_> = (0..result.header.len()).map(|at| rows.column(at)).collect();
        for row in 0..rows.count() {
            let fields = columns
                .iter_mut()
                .map(|c| c.next().map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default());
            result.rows.push(CsvRow { line: rows.line(row), fields: fields.collect() });
        }
    }
    if input.open_end {
        let file = shown(&input.file, input.member.as_deref());
        result.notes.push(open_end(&format!("{file}, row {}", result.rows.last().map_or(1, |row| row.line))));
    }
    Ok(result)
}
