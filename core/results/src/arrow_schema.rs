//! The types that a writer by way of Arrow gave the columns of a Parquet file, where Parquet itself has no word for
//! them: a duration is a plain number there, and only this metadata tells its meaning.
//!
//! The metadata is a FlatBuffers message (Arrow's `Schema.fbs` and `Message.fbs`). Of it only names and types of the
//! columns at the top are read, with every offset checked: the crates that read all of it bring Arrow's arrays along.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The key of the metadata.
pub(crate) const KEY: &str = "ARROW:schema";

/// More columns no table has; an upper bound for damaged metadata.
const MOST: usize = 100_000;

/// What kind of value a column holds that is a number with a meaning of its own; nothing for plain values.
pub(crate) type Meaning = Option<&'static str>;

/// A table of a FlatBuffers message, by its place.
#[derive(Clone, Copy)]
struct At(usize);

struct Message<'a>(&'a [u8]);

impl Message<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn number(&self, at: usize) -> Option<usize> {
        self.bytes::<4>(at).map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Where an offset leads that stands here.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(self.number(at)?).filter(|to| *to < self.0.len())
    }

    /// Where a field of a table stands; nothing if it has its default.
    fn field(&self, table: At, number: usize) -> Option<usize> {
        let back = i32::from_le_bytes(self.bytes(table.0)?);
        let vtable = usize::try_from(i64::try_from(table.0).ok()? - i64::from(back)).ok()?;
        let size = usize::from(u16::from_le_bytes(self.bytes(vtable)?));
        let slot = 4 + 2 * number;
        if slot + 2 > size {
            return None;
        }
        match u16::from_le_bytes(self.bytes(vtable + slot)?) {
            0 => None,
            offset => Some(table.0 + usize::from(offset)),
        }
    }

    fn table(&self, table: At, number: usize) -> Option<At> {
        self.follow(self.field(table, number)?).map(At)
    }

    fn byte(&self, table: At, number: usize) -> Option<u8> {
        self.bytes::<1>(self.field(table, number)?).map(|[byte]| byte)
    }

    fn text(&self, table: At, number: usize) -> Option<&str> {
        let at = self.follow(self.field(table, number)?)?;
        let length = self.number(at)?;
        std::str::from_utf8(self.0.get(at + 4..(at + 4).checked_add(length)?)?).ok()
    }
}

/// The columns at the top with their meanings, or nothing if the metadata is unreadable.
pub(crate) fn meanings(metadata: &str) -> Option<Vec<(String, Meaning)>> {
    // Some writers leave the padding out.
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(metadata.trim()).ok()?;
    // A length, in newer files after a mark.
    let start = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = Message(bytes.get(start..)?);
    let root = At(message.follow(0)?);
    let (header_type, header) = (1, 2);
    let schema = 1;
    if message.byte(root, header_type)? != schema {
        return None;
    }
    let fields = message.table(message.table(root, header)?, 1)?;
    let count = message.number(fields.0)?;
    if count > MOST {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    for number in 0..count {
        let field = At(message.follow(fields.0 + 4 + 4 * number)?);
        let name = message.text(field, 0).unwrap_or_default().to_string();
        let meaning = match message.byte(field, 2)? {
            7 => Some("a decimal"),
            8 => Some("a date"),
            9 => Some("a time of day"),
            10 => Some("a point in time"),
            11 => Some("an interval"),
            18 => Some("a duration"),
            _ => None,
        };
        found.push((name, meaning));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use base64::prelude::BASE64_STANDARD;
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use proptest::prelude::*;

    use super::*;
    use crate::ErrorKind;
    use crate::parquet_file::{Found, open};

    /// As pyarrow writes it for the columns name (text), n (integer), x (double) and wall (duration in nanoseconds).
    const WRITTEN: &str = "/////wgBAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAACsAAAAZAAAADQAAAAEAAAAdP///wAAARIQAAAAGAAAAAQAAAAAAAAABAAAAHdhbGwAAAAA2v///wAAAwCg////AAABAxAAAAAYAAAABAAAAAAAAAABAAAAeAAGAAgABgAGAAAAAAACAMz///8AAAECEAAAABwAAAAEAAAAAAAAAAEAAABuAAAACAAMAAgABwAIAAAAAAAAAUAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAHAAAAAQAAAAAAAAABAAAAG5hbWUAAAAABAAEAAQAAAA=";

    #[test]
    fn columns_of_a_real_writer() {
        let found = meanings(WRITTEN).expect("it can be read");
        let found: Vec<(&str, Meaning)> = found.iter().map(|(name, meaning)| (name.as_str(), *meaning)).collect();
        assert_eq!(found, [("name", None), ("n", None), ("x", None), ("wall", Some("a duration"))]);
        assert!(meanings("").is_none() && meanings("no base 64!").is_none() && meanings("AAAA").is_none());
    }

    proptest! {
        /// Damaged metadata gives nothing or something, but no panic.
        #[test]
        fn damage(at in 0usize..264, bits in any::<u8>(), end in 0usize..272) {
            let mut bytes = BASE64_STANDARD.decode(WRITTEN).expect("base 64");
            let at = at.min(bytes.len() - 1);
            bytes[at] ^= bits;
            let _ = meanings(&BASE64_STANDARD.encode(&bytes));
            bytes.truncate(end);
            let _ = meanings(&BASE64_STANDARD.encode(&bytes));
        }
    }

    /// A file with a column of numbers and one of texts.
    fn write(path: &Path, metadata: Option<&str>, text: &str) {
        let schema = "message m { required int64 wall; required binary name (UTF8); }";
        let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).expect("a schema"));
        let pairs = metadata.map(|text| vec![KeyValue::new(KEY.to_string(), text.to_string())]);
        let properties = Arc::new(WriterProperties::builder().set_key_value_metadata(pairs).build());
        let file = std::fs::File::create(path).expect("a file");
        let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let mut column = group.next_column().expect("a column").expect("a column");
        column.typed::<Int64Type>().write_batch(&[1_500_000_000], None, None).expect("a value");
        column.close().expect("a column");
        let mut column = group.next_column().expect("a column").expect("a column");
        let text = ByteArray::from(text.as_bytes().to_vec());
        column.typed::<ByteArrayType>().write_batch(&[text], None, None).expect("a value");
        column.close().expect("a column");
        group.close().expect("a group");
        writer.close().expect("a file");
    }

    fn rows(path: &Path, column: &str) -> Result<(), ErrorKind> {
        match open(path).map_err(|e| *e.kind)? {
            Found::Foreign(mut file) => file.rows(&[column.to_string()], &mut |_| Ok(())).map_err(|e| *e.kind),
            Found::Ours(..) => panic!("it is not ours"),
        }
    }

    #[test]
    fn numbers_with_a_meaning_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f.parquet");
        write(&path, None, "a");
        assert_eq!(rows(&path, "wall"), Ok(()));
        write(&path, Some(WRITTEN), "a");
        let error = rows(&path, "wall").expect_err("it is a duration").to_string();
        assert!(error.contains("column `wall` is a duration of Arrow") && error.contains("plain number"), "{error}");
        // Another column of the same file can be read.
        assert_eq!(rows(&path, "name"), Ok(()));
        write(&path, Some("AAAA"), "a");
        assert!(rows(&path, "wall").expect_err("unreadable").to_string().contains("unreadable"));
        write(&path, None, "a\0b");
        assert_eq!(rows(&path, "name"), Err(ErrorKind::Nul));
    }
}
