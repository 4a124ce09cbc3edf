//! The entrants file as the list that seeds and scores are computed with.

use std::path::Path;

use agon_edition::Edition;
use agon_edition::diag::Diagnostics;
use agon_score::input::EntrantList;
use agon_store::entrants::{Entrants, EntrantsError};
use anyhow::anyhow;

use crate::print;

/// Whether a list of entrants is an entrants file, not a table.
pub fn is_entrants_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "yaml" || e == "yml")
}

/// Reads an entrants file and checks it against the edition. Its errors are shown with their places.
pub fn open(edition: &Edition, path: &Path) -> anyhow::Result<Entrants> {
    let invalid = |found: &Diagnostics| {
        print::styled(&found.render(print::colour_err()));
        let (errors, _) = found.counts();
        let plural = if errors == 1 { "" } else { "s" };
        anyhow!("{} has {errors} error{plural}; correct the places shown above", path.display())
    };
    let entrants = match Entrants::read(path) {
        Ok(entrants) => entrants,
        Err(EntrantsError::Invalid(found)) => return Err(invalid(&found)),
        Err(other) => return Err(other.into()),
    };
    let tracks: Vec<&str> = edition.tracks.keys().map(String::as_str).collect();
    let fields: Vec<&str> = edition.entrants.fields.keys().map(String::as_str).collect();
    let found = entrants.check(&tracks, &fields);
    if found.has_errors() { Err(invalid(&found)) } else { Ok(entrants) }
}

/// The list for the seed's formula: one row for each solver.
pub fn for_seed(edition: &Edition, path: &Path) -> anyhow::Result<EntrantList> {
    let rows = open(edition, path)?.seed_rows();
    Ok(EntrantList { rows, origin: path.display().to_string(), strict: true, ..EntrantList::default() })
}

/// The list for scores: one row for each solver and configuration.
pub fn for_scores(edition: &Edition, path: &Path) -> anyhow::Result<EntrantList> {
    let keys: Vec<(&str, &str)> =
        edition.tracks.values().map(|track| (track.name.as_str(), track.entrant_key.as_str())).collect();
    let rows = open(edition, path)?.rows(&keys);
    Ok(EntrantList { rows, origin: path.display().to_string(), strict: true, ..EntrantList::default() })
}
