//! Parquet: tables written by this crate come back exactly, other files go through a mapping like any text.
//!
//! A table is written as plain columns without null values that any Parquet reader understands; what Parquet has no
//! notion of (closed vocabularies, dimensions, exact fractions) is kept in the file's metadata, together with a
//! checksum of all pages, because Parquet itself protects nothing. Text columns are dictionary-encoded, and reading
//! takes their pages apart itself: the codes in a page become the codes of the column without ever becoming texts.

use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use agon_table::{Column, DictBuilder, Dim, Exact, Symbols, Table, Type};
use bytes::Bytes;
use flate2::Crc;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as SchemaType;
use rayon::prelude::*;
use serde_json::{Value as Json, json};

use crate::arrow_schema::{KEY, Meaning, meanings};
use crate::error::{ErrorKind, ResultsError};
use crate::split::{Made, Rows};
use crate::value::parse_exact;
use crate::write::{replace, write_problem};

/// Where the types of the columns are kept.
const SCHEMA: &str = "agon.schema";
/// Where the checksum of the file is kept.
const CHECKSUM: &str = "agon.checksum";
/// Rows in a row group.
const GROUP: usize = 1 << 20;

fn damaged(detail: impl ToString) -> ErrorKind {
    ErrorKind::Corrupt { layer: "Parquet", detail: detail.to_string() }
}

/// Counts and sums up what goes to a file.
struct Tally<'w> {
    inner: &'w mut (dyn Write + Send),
    sum: Arc<Mutex<Crc>>,
    failed: Arc<Mutex<Option<std::io::Error>>>,
}

impl Tally<'_> {
    fn note(&self, error: &std::io::Error) {
        if let Ok(mut failed) = self.failed.lock() {
            failed.get_or_insert_with(|| std::io::Error::new(error.kind(), error.to_string()));
        }
    }
}

impl Write for Tally<'_> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(buf).inspect_err(|e| self.note(e))?;
        if let Ok(mut sum) = self.sum.lock() {
            sum.update(&buf[..n]);
        }
        Ok(n)
    }

    // What was written may still lie in a buffer, so that a full disk shows only now.
    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush().inspect_err(|e| self.note(e))
    }
}

/// The type of a column, for the metadata.
fn describe(name: &str, ty: &Type, column: &Column) -> Json {
    let held = match column {
        Column::Bool(_) => "bool",
        Column::Symbol(_) => "text",
        Column::Int(_) => "int",
        Column::Exact(_) => "exact",
        Column::Real(_) => "real",
    };
    let mut result = json!({ "name": name, "held": held });
    match ty {
        Type::Bool => result["type"] = "bool".into(),
        Type::Symbol(None) => result["type"] = "text".into(),
        Type::Symbol(Some(words)) => {
            result["type"] = "words".into();
            result["words"] = words.iter().cloned().collect::<Vec<String>>().into();
        }
        Type::Number { dim, real } => {
            result["type"] = "number".into();
            result["time"] = dim.time.into();
            result["memory"] = dim.memory.into();
            result["real"] = (*real).into();
        }
    }
    result
}

/// The name, the type and the representation of a column.
fn described(json: &Json) -> Option<(String, Type, String)> {
    let text = |key: &str| json[key].as_str().map(String::from);
    let power = |key: &str| json[key].as_i64().and_then(|n| i8::try_from(n).ok());
    let ty = match text("type")?.as_str() {
        "bool" => Type::Bool,
        "text" => Type::TEXT,
        "words" => {
            let words: Option<Vec<String>> =
                json["words"].as_array()?.iter().map(|w| w.as_str().map(String::from)).collect();
            Type::words(words?)
        }
        "number" => {
            Type::Number { dim: Dim { time: power("time")?, memory: power("memory")? }, real: json["real"].as_bool()? }
        }
        _ => return None,
    };
    Some((text("name")?, ty, text("held")?))
}

/// The checksum of what is in the footer: the schema, the metadata and the number of rows.
fn footer_sum(schema: &str, metadata: &[(String, String)], rows: usize) -> u32 {
    let mut sum = Crc::new();
    let all = metadata.iter().flat_map(|(key, value)| [key.as_str(), value.as_str()]);
    for part in std::iter::once(schema).chain(all).chain([rows.to_string().as_str()]) {
        // The lengths keep apart what would otherwise run together.
        sum.update(&(part.len() as u64).to_le_bytes());
        sum.update(part.as_bytes());
    }
    sum.sum()
}

/// Writes a table as a Parquet file, with metadata of the caller's: keys and values.
///
/// The file appears as a whole or not at all.
///
/// # Errors
/// If the file cannot be written, if a column's name is empty, or if a key begins with `agon.`.
pub fn write_parquet(table: &Table, metadata: &[(String, String)], path: &Path) -> Result<(), ResultsError> {
    if let Some((key, _)) = metadata.iter().find(|(key, _)| key.starts_with("agon.")) {
        let why = format!("the metadata key `{key}` is reserved");
        return Err(ResultsError::new(path, ErrorKind::Unwritable(why)));
    }
    replace(path, &mut |out, folder| {
        let failed = Arc::new(Mutex::new(None));
        encode(table, metadata, out, failed.clone()).map_err(|e| match failed.lock().ok().and_then(|mut f| f.take()) {
            Some(io) => ErrorKind::Write(write_problem(&io, folder)),
            None => ErrorKind::Unwritable(e.to_string()),
        })
    })
}

fn encode(
    table: &Table,
    metadata: &[(String, String)],
    out: &mut (dyn Write + Send),
    failed: Arc<Mutex<Option<std::io::Error>>>,
) -> Result<(), ParquetError> {
    let mut fields = Vec::new();
    let mut schema = Vec::new();
    let mut columns = Vec::new();
    for (name, ty) in table.schema() {
        let column = table.column(name).map_err(|e| ParquetError::General(e.to_string()))?;
        let (physical, logical) = match &**column {
            Column::Bool(_) => (Physical::BOOLEAN, None),
            Column::Symbol(_) | Column::Exact(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Column::Int(_) => (Physical::INT64, None),
            Column::Real(_) => (Physical::DOUBLE, None),
        };
        let field = SchemaType::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
        schema.push(describe(name, ty, column));
        columns.push(column.clone());
    }
    let root = SchemaType::group_type_builder("table").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_dictionary_enabled(true)
        // A column of texts keeps its dictionary however large it is, and its pages are large: both make reading
        // fast. Statistics and page indexes serve queries, of which there are none here.
        .set_dictionary_page_size_limit(1 << 30)
        .set_data_page_size_limit(1 << 20)
        .set_data_page_row_count_limit(GROUP)
        .set_write_batch_size(1 << 16)
        .set_max_row_group_row_count(Some(GROUP))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by("agon".into());
    let mut builder = properties;
    for (name, column) in table.names().zip(&columns) {
        if matches!(&**column, Column::Int(_) | Column::Real(_)) {
            builder = builder.set_column_dictionary_enabled(vec![name.to_string()].into(), false);
        }
    }
    let sum = Arc::new(Mutex::new(Crc::new()));
    let tally = Tally { inner: out, sum: sum.clone(), failed };
    let mut writer = SerializedFileWriter::new(tally, Arc::new(root), Arc::new(builder.build()))?;
    let mut start = 0;
    while start < table.rows() {
        let rows = start..(start + GROUP).min(table.rows());
        let mut group = writer.next_row_group()?;
        for column in &columns {
            let Some(mut out) = group.next_column()? else { break };
            match &**column {
                Column::Bool(v) => out.typed::<BoolType>().write_batch(&v[rows.clone()], None, None)?,
                Column::Int(v) => out.typed::<Int64Type>().write_batch(&v[rows.clone()], None, None)?,
                Column::Real(v) => out.typed::<DoubleType>().write_batch(&v[rows.clone()], None, None)?,
                Column::Exact(v) => {
                    let texts: Vec<ByteArray> =
                        v[rows.clone()].iter().map(|n| n.to_string().into_bytes().into()).collect();
                    out.typed::<ByteArrayType>().write_batch(&texts, None, None)?
                }
                Column::Symbol(s) => {
                    let dict: Vec<ByteArray> = s.dict.iter().map(|text| text.as_bytes().to_vec().into()).collect();
                    let mut written = 0;
                    for codes in s.codes[rows.clone()].chunks(1 << 16) {
                        let texts: Vec<ByteArray> = codes.iter().map(|&c| dict[c as usize].clone()).collect();
                        written += out.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                    }
                    written
                }
            };
            out.close()?;
        }
        group.close()?;
        start = rows.end;
    }
    writer.flush()?;
    let pages = writer.bytes_written();
    let schema = Json::from(schema).to_string();
    let page_sum = sum.lock().map(|s| s.sum()).unwrap_or_default();
    let checksum = format!("{pages} {page_sum:08x} {:08x}", footer_sum(&schema, metadata, table.rows()));
    for (key, value) in metadata {
        writer.append_key_value_metadata(KeyValue::new(key.clone(), value.clone()));
    }
    writer.append_key_value_metadata(KeyValue::new(SCHEMA.to_string(), schema));
    writer.append_key_value_metadata(KeyValue::new(CHECKSUM.to_string(), checksum));
    writer.close()?;
    Ok(())
}

/// What a Parquet file turned out to be.
pub(crate) enum Found {
    /// A table of ours, with the caller's metadata.
    Ours(Table, Vec<(String, String)>),
    /// Anything else.
    Foreign(ForeignFile),
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a decoder whose panics are caught and reported as damage to the file. A panic hook can ask
/// this and stay silent.
pub fn decoding() -> bool {
    DECODING.get()
}

/// Runs a decoder of someone else's on bytes that nothing vouches for. Should it panic, the file is damaged.
fn guarded<T>(f: impl FnOnce() -> Result<T, ErrorKind>) -> Result<T, ErrorKind> {
    quietly(f).unwrap_or_else(|| Err(damaged("its decoder gave up")))
}

/// Runs a decoder; nothing if it panics.
pub(crate) fn quietly<T>(f: impl FnOnce() -> T) -> Option<T> {
    let before = DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(f)).ok();
    DECODING.set(before);
    outcome
}

/// Opens a Parquet file.
pub(crate) fn open(path: &Path) -> Result<Found, ResultsError> {
    let bytes = Bytes::from(std::fs::read(path).map_err(|e| ResultsError::opening(path, &e))?);
    let fail = |kind| ResultsError::new(path, kind);
    if bytes.len() < 12 || !bytes.ends_with(b"PAR1") {
        return Err(fail(ErrorKind::Truncated { layer: "Parquet" }));
    }
    guarded(|| {
        let reader = SerializedFileReader::new(bytes.clone()).map_err(damaged)?;
        let pairs: Vec<(String, String)> = reader
            .metadata()
            .file_metadata()
            .key_value_metadata()
            .map(|all| all.iter().map(|kv| (kv.key.clone(), kv.value.clone().unwrap_or_default())).collect())
            .unwrap_or_default();
        let find = |key: &str| pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        match (find(SCHEMA), find(CHECKSUM)) {
            (Some(schema), Some(checksum)) => {
                let metadata: Vec<_> = pairs.iter().filter(|(k, _)| !k.starts_with("agon.")).cloned().collect();
                let table = ours(&bytes, &reader, schema, checksum, &metadata)?;
                Ok(Found::Ours(table, metadata))
            }
            (None, None) => ForeignFile::new(path, reader).map(Found::Foreign),
            _ => Err(damaged("half of the metadata is missing")),
        }
    })
    .map_err(fail)
}

/// Reads a table that [`write_parquet`] wrote, exactly as it was, with its metadata.
///
/// # Errors
/// If the file cannot be read, is damaged, or was written by something else.
pub fn read_parquet(path: &Path) -> Result<(Table, Vec<(String, String)>), ResultsError> {
    let metadata = std::fs::metadata(path).map_err(|e| ResultsError::opening(path, &e))?;
    if metadata.is_dir() {
        return Err(ResultsError::new(path, ErrorKind::Directory));
    }
    if metadata.len() == 0 {
        return Err(ResultsError::new(path, ErrorKind::Empty));
    }
    match open(path)? {
        Found::Ours(table, metadata) => Ok((table, metadata)),
        Found::Foreign(_) => {
            let why = "it was not written by this program, so a mapping has to say what its columns mean";
            Err(ResultsError::new(path, ErrorKind::Parquet(why.into())))
        }
    }
}

fn ours(
    bytes: &Bytes,
    reader: &SerializedFileReader<Bytes>,
    schema: &str,
    checksum: &str,
    metadata: &[(String, String)],
) -> Result<Table, ErrorKind> {
    let sums: Vec<&str> = checksum.split(' ').collect();
    let [pages, page_sum, meta_sum] = sums[..] else { return Err(damaged("its checksum is unreadable")) };
    let rows: usize = reader
        .metadata()
        .row_groups()
        .iter()
        .map(|g| usize::try_from(g.num_rows()).ok())
        .sum::<Option<usize>>()
        .ok_or_else(|| damaged("the number of rows"))?;
    let mut sum = Crc::new();
    let pages: usize = pages.parse().map_err(|_| damaged("its checksum is unreadable"))?;
    sum.update(bytes.get(..pages).ok_or_else(|| damaged("it is too short"))?);
    let wrong = |text: &str, sum: u32| u32::from_str_radix(text, 16) != Ok(sum);
    if wrong(page_sum, sum.sum()) || wrong(meta_sum, footer_sum(schema, metadata, rows)) {
        return Err(damaged("its checksum does not hold"));
    }
    let json: Json = serde_json::from_str(schema).map_err(damaged)?;
    let columns = json.as_array().ok_or_else(|| damaged("the schema is no list"))?;
    let mut table = Table::new(rows);
    if columns.len() != reader.metadata().file_metadata().schema_descr().num_columns() {
        return Err(damaged("the schema has another number of columns"));
    }
    let mut groups = Vec::new();
    for at in 0..reader.num_row_groups() {
        groups.push(reader.get_row_group(at).map_err(damaged)?);
    }
    let described: Vec<(String, Type, String)> = columns
        .iter()
        .map(|column| described(column).ok_or_else(|| damaged("the schema has an unknown column")))
        .collect::<Result<_, _>>()?;
    // Columns are decoded independently of each other.
    let decoded: Vec<Result<Column, ErrorKind>> =
        described.par_iter().enumerate().map(|(at, (_, _, held))| decode(&groups, at, held, rows)).collect();
    for ((name, ty, _), column) in described.into_iter().zip(decoded) {
        table.set(&name, ty, column?).map_err(damaged)?;
    }
    Ok(table)
}

fn decode(groups: &[Box<dyn RowGroupReader + '_>], at: usize, held: &str, rows: usize) -> Result<Column, ErrorKind> {
    Ok(match held {
        "bool" => Column::Bool(plain::<BoolType>(groups, at, rows)?),
        "int" => Column::Int(plain::<Int64Type>(groups, at, rows)?),
        "real" => Column::Real(plain::<DoubleType>(groups, at, rows)?),
        "text" => Column::Symbol(symbols(groups, at, rows)?),
        "exact" => {
            let symbols = symbols(groups, at, rows)?;
            let values: Result<Vec<Exact>, ErrorKind> = symbols.dict.iter().map(parse_exact).collect();
            let values = values?;
            Column::Exact(symbols.codes.iter().map(|&c| values[c as usize].clone()).collect())
        }
        _ => return Err(damaged("the schema has an unknown representation")),
    })
}

/// A column of numbers or truth values.
fn plain<T: DataType>(groups: &[Box<dyn RowGroupReader + '_>], at: usize, rows: usize) -> Result<Vec<T::T>, ErrorKind>
where
    T::T: Default,
{
    let mut values: Vec<T::T> = Vec::with_capacity(rows);
    for group in groups {
        if group.metadata().column(at).column_type() != T::get_physical_type() {
            return Err(damaged("a column has another type than the schema says"));
        }
        let reader = group.get_column_reader(at).map_err(damaged)?;
        let mut reader = parquet::column::reader::get_typed_column_reader::<T>(reader);
        let end = values.len() + usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while values.len() < end {
            let (n, ..) = reader.read_records(end - values.len(), None, None, &mut values).map_err(damaged)?;
            if n == 0 {
                return Err(damaged("a column is too short"));
            }
        }
    }
    Ok(values)
}

/// A column of texts.
fn symbols(groups: &[Box<dyn RowGroupReader + '_>], at: usize, rows: usize) -> Result<Symbols, ErrorKind> {
    let mut dict = DictBuilder::new();
    let mut codes: Vec<u32> = Vec::with_capacity(rows);
    for group in groups {
        let end = codes.len() + usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut pages = group.get_column_page_reader(at).map_err(damaged)?;
        text_pages(&mut *pages, &mut dict, &mut codes, end)?;
        if codes.len() != end {
            return Err(damaged("a column is too short"));
        }
    }
    Ok(Symbols { codes, dict: dict.finish() })
}

/// The texts of a `PLAIN` page: each after its length.
fn plain_texts<'p>(buf: &'p [u8], count: u32, mut each: impl FnMut(&'p str)) -> Result<(), ErrorKind> {
    let mut rest = buf;
    for _ in 0..count {
        let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("a page is too short"))?;
        let (text, tail) = tail
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or_else(|| damaged("a page is too short"))?;
        each(std::str::from_utf8(text).map_err(|_| damaged("a text is not UTF-8"))?);
        rest = tail;
    }
    Ok(())
}

fn text_pages(
    pages: &mut dyn PageReader,
    dict: &mut DictBuilder,
    codes: &mut Vec<u32>,
    end: usize,
) -> Result<(), ErrorKind> {
    use parquet::basic::Encoding;
    // For every code of the row group's dictionary the code of the column's. The first group's are the same.
    let mut map: Vec<u32> = Vec::new();
    let mut same = true;
    while let Some(page) = pages.get_next_page().map_err(damaged)? {
        match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                let texts = (num_values as usize).min(buf.len() / 4);
                dict.reserve(texts, buf.len() - 4 * texts);
                plain_texts(&buf, num_values, |text| map.push(dict.intern(text)))?;
                same = map.iter().enumerate().all(|(at, &code)| at == code as usize);
            }
            Page::DataPage { buf, num_values, encoding, .. } => {
                if codes.len() + num_values as usize > end {
                    return Err(damaged("a column is too long"));
                }
                match encoding {
                    Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                        let start = codes.len();
                        hybrid(&buf, num_values as usize, codes)?;
                        let new = &mut codes[start..];
                        if new.iter().fold(0, |most, &code| most.max(code)) as usize >= map.len() && !new.is_empty() {
                            return Err(damaged("a page names a text that the dictionary does not have"));
                        }
                        if !same {
                            for code in new {
                                *code = map[*code as usize];
                            }
                        }
                    }
                    Encoding::PLAIN => plain_texts(&buf, num_values, |text| codes.push(dict.intern(text)))?,
                    other => return Err(ErrorKind::Parquet(format!("it has the encoding {other}"))),
                }
            }
            Page::DataPageV2 { .. } => return Err(ErrorKind::Parquet("it has pages of version 2".into())),
        }
    }
    Ok(())
}

/// Decodes the codes of a page: the number of bits of a code, then runs, each of which either repeats one code or
/// holds groups of eight codes packed without gaps.
fn hybrid(page: &[u8], count: usize, codes: &mut Vec<u32>) -> Result<(), ErrorKind> {
    let short = || damaged("a page is too short");
    let (&width, mut rest) = page.split_first().ok_or_else(short)?;
    if width > 32 {
        return Err(damaged("a page has codes of more than 32 bits"));
    }
    let width = usize::from(width);
    let mask = ((1u64 << width) - 1) as u32;
    let end = codes.len() + count;
    while codes.len() < end {
        let mut header = 0u64;
        let mut shift = 0;
        loop {
            let (&byte, tail) = rest.split_first().ok_or_else(short)?;
            rest = tail;
            header |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            if shift > 56 {
                return Err(damaged("a run is too long"));
            }
        }
        let length = (header >> 1) as usize;
        let left = end - codes.len();
        if header & 1 == 0 {
            let (value, tail) = rest.split_at_checked(width.div_ceil(8)).ok_or_else(short)?;
            rest = tail;
            let code = value.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte));
            if length == 0 {
                return Err(damaged("a run is empty"));
            }
            codes.resize(codes.len() + length.min(left), code);
        } else {
            // The last group may be cut off where the values end.
            let bytes = length.checked_mul(width).ok_or_else(short)?;
            let n = length.saturating_mul(8).min(left);
            let taken = bytes.min(rest.len());
            if n == 0 || taken * 8 < n * width {
                return Err(short());
            }
            let packed = &rest[..taken];
            rest = &rest[taken..];
            unpack(packed, width, mask, n, codes);
        }
    }
    Ok(())
}

fn unpack(packed: &[u8], width: usize, mask: u32, n: usize, codes: &mut Vec<u32>) {
    // Codes that can be had from an eight-byte word that lies within the page.
    let words = match packed.len().checked_sub(8) {
        Some(last) if width > 0 => ((last * 8 + 7) / width + 1).min(n),
        _ => 0,
    };
    codes.extend((0..words).map(|at| {
        let bit = at * width;
        let word = packed[bit / 8..].first_chunk::<8>().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        (word >> (bit % 8)) as u32 & mask
    }));
    codes.extend((words..n).map(|at| {
        let bit = at * width;
        let mut word = [0u8; 8];
        let tail = packed.get(bit / 8..).unwrap_or_default();
        let length = tail.len().min(8);
        word[..length].copy_from_slice(&tail[..length]);
        (u64::from_le_bytes(word) >> (bit % 8)) as u32 & mask
    }));
}

/// A Parquet file of someone else's.
pub(crate) struct ForeignFile {
    path: std::path::PathBuf,
    reader: SerializedFileReader<Bytes>,
    names: Vec<String>,
    /// What Arrow's metadata says of the columns, by name.
    meanings: Vec<(String, Meaning)>,
}

impl ForeignFile {
    fn new(path: &Path, reader: SerializedFileReader<Bytes>) -> Result<Self, ErrorKind> {
        let schema = reader.metadata().file_metadata().schema_descr();
        let names = schema.columns().iter().map(|c| c.path().string()).collect();
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let arrow = pairs.and_then(|all| all.iter().find(|pair| pair.key == KEY)?.value.as_deref());
        // A duration is a plain number to Parquet, so nothing may be concluded without what is written here.
        let unread =
            || ErrorKind::Parquet(format!("its metadata `{KEY}`, which says what its numbers mean, is unreadable"));
        let meanings = arrow.map_or(Ok(Vec::new()), |text| meanings(text).ok_or_else(unread))?;
        Ok(Self { path: path.to_path_buf(), reader, names, meanings })
    }

    /// The names of the columns; a column inside another has a name with points.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Hands out the rows of some columns as texts.
    pub fn rows(
        &mut self,
        wanted: &[String],
        each: &mut dyn FnMut(Rows<'_>) -> Result<(), ResultsError>,
    ) -> Result<(), ResultsError> {
        // Rows at a time: little enough that their text stays in a processor's cache.
        const ROWS: usize = 4096;
        let fail = |kind| ResultsError::new(&self.path, kind);
        let mut places = Vec::new();
        for name in wanted {
            let at = self.names.iter().position(|n| n == name);
            let at = at.ok_or_else(|| fail(damaged("a column is missing")))?;
            self.check(at).map_err(fail)?;
            places.push(at);
        }
        let mut row = 1u64;
        for group in 0..self.reader.num_row_groups() {
            let (mut columns, total) = guarded(|| {
                let group = self.reader.get_row_group(group).map_err(damaged)?;
                let total = usize::try_from(group.metadata().num_rows()).map_err(damaged)?;
                let readers: Result<Vec<_>, _> = places.iter().map(|&at| group.get_column_reader(at)).collect();
                Ok((readers.map_err(damaged)?, total))
            })
            .map_err(fail)?;
            let mut done = 0;
            while done < total {
                let count = ROWS.min(total - done);
                let mut texts = Vec::with_capacity(columns.len());
                for (column, &at) in columns.iter_mut().zip(&places) {
                    let unsigned = matches!(
                        self.converted(at),
                        ConvertedType::UINT_8
                            | ConvertedType::UINT_16
                            | ConvertedType::UINT_32
                            | ConvertedType::UINT_64
                    );
                    texts.push(guarded(|| column_texts(column, count, unsigned)).map_err(fail)?);
                }
                // Without any column there is still the number of rows.
                let mut made = Made::new(texts.len().max(1), row);
                for at in 0..count {
                    for column in &texts {
                        made.field(&column[at]);
                    }
                    if texts.is_empty() {
                        made.field(b"");
                    }
                }
                if made.size() > u32::MAX as usize {
                    return Err(fail(ErrorKind::Limit { what: "bytes in some thousand rows", limit: u32::MAX.into() }));
                }
                each(made.rows())?;
                done += count;
                row += count as u64;
            }
        }
        Ok(())
    }

    fn converted(&self, at: usize) -> ConvertedType {
        self.reader.metadata().file_metadata().schema_descr().column(at).converted_type()
    }

    /// Whether a column is one of those that are read.
    fn check(&self, at: usize) -> Result<(), ErrorKind> {
        let column = self.reader.metadata().file_metadata().schema_descr().column(at);
        let simple = column.max_rep_level() == 0 && column.path().parts().len() == 1;
        let physical = matches!(
            column.physical_type(),
            Physical::BOOLEAN
                | Physical::INT32
                | Physical::INT64
                | Physical::FLOAT
                | Physical::DOUBLE
                | Physical::BYTE_ARRAY
        );
        // A date, a decimal or a time of day is a number with another meaning than the one that it seems to have.
        let meaning = !matches!(
            column.converted_type(),
            ConvertedType::DECIMAL
                | ConvertedType::DATE
                | ConvertedType::TIME_MILLIS
                | ConvertedType::TIME_MICROS
                | ConvertedType::TIMESTAMP_MILLIS
                | ConvertedType::TIMESTAMP_MICROS
                | ConvertedType::INTERVAL
                | ConvertedType::BSON
        ) && !matches!(
            column.logical_type_ref(),
            Some(
                LogicalType::Decimal { .. }
                    | LogicalType::Date
                    | LogicalType::Time { .. }
                    | LogicalType::Timestamp { .. }
            )
        );
        let name = &self.names[at];
        let unread = |group: &RowGroupMetaData| match group.columns().get(at)?.compression() {
            Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_)
            | Compression::LZ4
            | Compression::LZ4_RAW => None,
            other => Some(other.to_string()),
        };
        if let Some(codec) = self.reader.metadata().row_groups().iter().find_map(unread) {
            let codec = codec.split('(').next().unwrap_or_default().to_lowercase();
            return Err(ErrorKind::Codec { codec });
        }
        if let Some((_, Some(what))) = self.meanings.iter().find(|(column, _)| column == name) {
            return Err(ErrorKind::Parquet(format!(
                "column `{name}` is {what} of Arrow, of which Parquet holds a number in a unit of its own; make it a \
                 plain number in the unit that the mapping says"
            )));
        }
        if simple && physical && meaning {
            return Ok(());
        }
        Err(ErrorKind::Parquet(format!("column `{name}` is neither text nor a plain number nor a truth value")))
    }
}

/// The texts of the next rows; an absent value has the empty text.
fn column_texts(reader: &mut ColumnReader, count: usize, unsigned: bool) -> Result<Vec<Vec<u8>>, ErrorKind> {
    fn typed<T: DataType>(
        reader: &mut parquet::column::reader::ColumnReaderImpl<T>,
        count: usize,
        text: impl Fn(&T::T) -> Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, ErrorKind> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut records = 0;
        while records < count {
            let (n, ..) =
                reader.read_records(count - records, Some(&mut levels), None, &mut values).map_err(damaged)?;
            if n == 0 {
                return Err(damaged("a column is too short"));
            }
            records += n;
        }
        if values.len() == count {
            return Ok(values.iter().map(text).collect());
        }
        // A column at the top has one level: 0 where the value is absent.
        let mut values = values.iter();
        let texts = levels.iter().map(|&level| match level {
            0 => Some(Vec::new()),
            _ => values.next().map(&text),
        });
        let texts: Option<Vec<Vec<u8>>> = texts.collect();
        texts.filter(|t| t.len() == count).ok_or_else(|| damaged("a column is too short"))
    }
    let texts = match reader {
        ColumnReader::BoolColumnReader(r) => typed::<BoolType>(r, count, |v| v.to_string().into_bytes()),
        ColumnReader::Int32ColumnReader(r) => typed::<Int32Type>(r, count, |v| {
            if unsigned { (*v as u32).to_string() } else { v.to_string() }.into_bytes()
        }),
        ColumnReader::Int64ColumnReader(r) => typed::<Int64Type>(r, count, |v| {
            if unsigned { (*v as u64).to_string() } else { v.to_string() }.into_bytes()
        }),
        ColumnReader::FloatColumnReader(r) => typed::<FloatType>(r, count, |v| v.to_string().into_bytes()),
        ColumnReader::DoubleColumnReader(r) => typed::<DoubleType>(r, count, |v| v.to_string().into_bytes()),
        ColumnReader::ByteArrayColumnReader(r) => typed::<ByteArrayType>(r, count, |v| v.data().to_vec()),
        _ => return Err(ErrorKind::Parquet("a column has a type that is not read".into())),
    }?;
    // As strict as the splitter is with a text.
    if texts.iter().any(|t| std::str::from_utf8(t).is_err()) {
        return Err(ErrorKind::NotUtf8);
    }
    if texts.iter().any(|t| memchr::memchr(0, t).is_some()) {
        return Err(ErrorKind::Nul);
    }
    Ok(texts)
}
