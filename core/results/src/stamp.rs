//! What a Parquet file says about its making, without reading the table.

use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};

/// The metadata that was given to [`write_parquet`](crate::write_parquet) for this file, as its footer has it. Nothing
/// is said of files of another form or another program, or of damaged ones: reading them tells what is wrong.
///
/// The checksum is not verified: a conclusion that would end in an error should be confirmed by
/// [`read_parquet`](crate::read_parquet), since damage would be the better message.
pub fn parquet_metadata(path: &Path) -> Option<Vec<(String, String)>> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    if crate::input::read_full(&mut file, &mut magic).ok()? < 4 || magic != *b"PAR1" {
        return None;
    }
    let pairs = crate::parquet_file::quietly(|| {
        let reader = SerializedFileReader::new(file).ok()?;
        let all = reader.metadata().file_metadata().key_value_metadata()?;
        Some(all.iter().map(|kv| (kv.key.clone(), kv.value.clone().unwrap_or_default())).collect::<Vec<_>>())
    })??;
    let ours = pairs.iter().any(|(key, _)| key.starts_with("agon."));
    ours.then(|| pairs.into_iter().filter(|(key, _)| !key.starts_with("agon.")).collect())
}
