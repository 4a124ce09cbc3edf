//! `agon import`: the raw files of a year as one canonical file.

use agon_edition::Reading;
use agon_results::{write_csv, write_parquet};
use agon_score::input::{FINGERPRINT, fingerprint, read_forms};
use anyhow::bail;

use crate::Outcome;
use crate::args::ImportArgs;
use crate::edition::open;
use crate::known::Plugins;
use crate::print;

pub fn run(args: &ImportArgs) -> anyhow::Result<Outcome> {
    let (name, form) = match args.format.rsplit_once(':') {
        Some((name, form)) => (name, Some(form)),
        None => (args.format.as_str(), None),
    };
    // What cannot be written is said before anything is read.
    let editions = agon_edition::files(name);
    print::writable(&args.output, args.files.iter().chain(&editions))?;
    let parquet = match args.output.extension().and_then(|e| e.to_str()) {
        Some("parquet") => true,
        Some("csv") => false,
        _ => bail!("{}: the name of the file to write must end in .parquet or .csv; rename it", args.output.display()),
    };
    let (mut edition, _) = open(name, Reading::Rules, &Plugins::new(&args.places))?;
    let forms = std::mem::take(&mut edition.results);
    let kept: Vec<_> = match form {
        None => forms,
        Some(form) => {
            let known: Vec<String> = forms.iter().map(|f| f.name.clone()).collect();
            let kept: Vec<_> = forms.into_iter().filter(|f| f.name == form).collect();
            if kept.is_empty() {
                bail!("the edition {name} has no form `{form}` (it has: {})", known.join(", "));
            }
            kept
        }
    };
    let outcome = read_forms(&edition, &args.files, &kept)?;
    print::not_read(&args.output, &outcome.files)?;
    for note in &outcome.notes {
        print::note(note);
    }
    let mut tables = outcome.tables;
    let first = match tables.len() {
        1 => tables.remove(0),
        0 => bail!("the given files hold no results"),
        n => {
            let of = |t: &agon_score::input::FormTable| {
                format!("{} of the form {}", t.origins.files().join(", "), kept[t.form].name)
            };
            bail!(
                "the given files are of {n} forms ({}); import the files of one form at a time, with `{name}:FORM`",
                tables.iter().map(of).collect::<Vec<_>>().join("; ")
            )
        }
    };
    let form = &kept[first.form];
    // What is computed is computed again from the columns that are written.
    let mut table = first.table;
    for named in &form.computed {
        table.remove(&named.name);
    }
    let track = form.track.clone().unwrap_or_default();
    // By the form's name a later reading knows whose columns these are.
    let metadata = [
        ("mapping".to_string(), form.name.clone()),
        ("edition".to_string(), edition.name.clone()),
        (FINGERPRINT.to_string(), fingerprint(form)),
        ("track".to_string(), track),
    ];
    let target = print::target(&args.output);
    crate::signals::leave_nothing()?;
    if parquet {
        write_parquet(&table, &metadata, &target)?;
    } else {
        write_csv(&table, &target)?;
    }
    print::err(&format!("{} rows in the form {} written to {}\n", table.rows(), form.name, args.output.display()));
    Ok(Outcome::Done)
}
