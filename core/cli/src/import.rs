//! `agon import`: the raw files of a year as one canonical file.

use agon_edition::Reading;
use agon_results::{write_csv, write_parquet};
use agon_score::input::read_forms;
use agon_table::Table;
use anyhow::bail;

use crate::Outcome;
use crate::args::ImportArgs;
use crate::edition::open;
use crate::print;

pub fn run(args: &ImportArgs) -> anyhow::Result<Outcome> {
    let (name, form) = match args.format.rsplit_once(':') {
        Some((name, form)) => (name, Some(form)),
        None => (args.format.as_str(), None),
    };
    let (edition, _) = open(name, Reading::Rules)?;
    let kept: Vec<_> = match form {
        None => edition.results,
        Some(form) => {
            let known: Vec<String> = edition.results.iter().map(|f| f.name.clone()).collect();
            let kept: Vec<_> = edition.results.into_iter().filter(|f| f.name == form).collect();
            if kept.is_empty() {
                bail!("the edition {name} has no form `{form}` (it has: {})", known.join(", "));
            }
            kept
        }
    };
    let mut tables = read_forms(&args.files, &kept)?;
    let (form, table): (usize, Table) = match tables.len() {
        1 => tables.remove(0),
        0 => bail!("the given files hold no results"),
        n => bail!("the given files are of {n} forms; import the files of one form at a time, with `{name}:FORM`"),
    };
    let form = &kept[form];
    print::not_an_input(&args.output, args.files.iter())?;
    // What is computed is computed again from the columns that are written.
    let mut table = table;
    for named in &form.computed {
        table.remove(&named.name);
    }
    let track = form.track.clone().unwrap_or_default();
    // By the form's name a later reading knows whose columns these are.
    let metadata = [
        ("mapping".to_string(), form.name.clone()),
        ("edition".to_string(), edition.name.clone()),
        ("track".to_string(), track),
    ];
    match args.output.extension().and_then(|e| e.to_str()) {
        Some("parquet") => write_parquet(&table, &metadata, &args.output)?,
        Some("csv") => write_csv(&table, &args.output)?,
        _ => bail!("{}: the name must end in .parquet or .csv", args.output.display()),
    }
    print::err(&format!("{} rows in the form {} written to {}\n", table.rows(), form.name, args.output.display()));
    Ok(Outcome::Done)
}
