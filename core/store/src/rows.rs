//! Results as rows, for scoring and for tables.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

use crate::index::Loc;
use crate::record::{Cell, Observation, Plan, PlanBenchmark, PlanEntrant, Verdict};
use crate::{Reader, StoreError};

/// One judged run: what was planned, what happened, what was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    plan: Arc<Plan>,
    entrant: usize,
    benchmark: usize,
    /// What happened.
    pub observation: Observation,
    /// The newest verdict on it.
    pub verdict: Verdict,
}

impl Row {
    /// The plan of the track.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The entrant.
    pub fn entrant(&self) -> &PlanEntrant {
        &self.plan.entrants[self.entrant]
    }

    /// The benchmark.
    pub fn benchmark(&self) -> &PlanBenchmark {
        &self.plan.benchmarks[self.benchmark]
    }

    /// The text that a canonical result file has in a column: times in seconds, memory in bytes, truth values as `yes`
    /// and `no`. `None` if there is no such column, or it has no value in this row.
    ///
    /// The columns are `track`, `entrant`, `benchmark`, `solver`, `competing`, `logic`, `division`, `family`, `status`,
    /// `wall_time`, `cpu_time`, `memory`, `answer`, `soundness`, `condition`, `blame`, those of the plugin, and the
    /// entrant's fields. `solver` is the name on result pages, which no two entrants share: the entrant's field of that
    /// name, else its id. A column of the plugin comes before `status` of the plan, which is there if the benchmark has
    /// one expected answer; the entrant's fields come last.
    pub fn text(&self, column: &str) -> Option<Cow<'_, str>> {
        let (entrant, benchmark) = (self.entrant(), self.benchmark());
        let (run, verdict) = (&self.observation.run, &self.verdict);
        let borrowed = |text: &'static str| Some(Cow::Borrowed(text));
        match column {
            "track" => Some(Cow::Borrowed(&self.plan.track)),
            "entrant" => Some(Cow::Borrowed(&entrant.id)),
            "benchmark" => Some(Cow::Borrowed(&benchmark.id)),
            "solver" => Some(Cow::Borrowed(entrant.fields.get("solver").unwrap_or(&entrant.id))),
            "competing" => borrowed(yes_or_no(entrant.competing)),
            "wall_time" => Some(Cow::Owned(seconds(run.wall_ns))),
            "cpu_time" => Some(Cow::Owned(seconds(run.cpu_ns))),
            "memory" => run.peak_memory.map(|bytes| Cow::Owned(bytes.to_string())),
            "answer" => Some(Cow::Borrowed(&verdict.answer)),
            "soundness" => borrowed(verdict.soundness.word()),
            "condition" => borrowed(verdict.condition.word()),
            "blame" => borrowed(verdict.blame.word()),
            _ => {
                if let Some(cell) = verdict.columns.get(column) {
                    return Some(cell.text());
                }
                let planned = match column {
                    "logic" => benchmark.logic.as_ref(),
                    "division" => benchmark.division.as_ref(),
                    "family" => benchmark.family.as_ref(),
                    "status" => match benchmark.statuses.as_slice() {
                        [one] => Some(one),
                        _ => None,
                    },
                    _ => entrant.fields.get(column),
                };
                planned.map(|text| Cow::Borrowed(text.as_str()))
            }
        }
    }
}

fn yes_or_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// Nanoseconds as seconds, exactly.
fn seconds(ns: u64) -> String {
    let (whole, part) = (ns / 1_000_000_000, ns % 1_000_000_000);
    if part == 0 {
        return whole.to_string();
    }
    format!("{whole}.{part:09}").trim_end_matches('0').to_string()
}

impl Cell {
    /// The text that a canonical result file has for it: times in seconds, memory in bytes, truth values as `yes` and
    /// `no`.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Int(value) => Cow::Owned(value.to_string()),
            Self::Uint(value) | Self::Memory(value) => Cow::Owned(value.to_string()),
            Self::Ratio(text) | Self::Word(text) | Self::Text(text) => Cow::Borrowed(text),
            Self::Bool(value) => Cow::Borrowed(yes_or_no(*value)),
            Self::Time(ns) => Cow::Owned(seconds(*ns)),
        }
    }
}

/// The results of a track, read from the disk one after the other.
pub struct Rows<'a> {
    reader: &'a Reader,
    plan: Option<Arc<Plan>>,
    list: std::vec::IntoIter<((u32, u32), Loc, Loc)>,
}

impl<'a> Rows<'a> {
    pub(crate) fn none(reader: &'a Reader) -> Self {
        Self { reader, plan: None, list: Vec::new().into_iter() }
    }

    pub(crate) fn new(reader: &'a Reader, plan: Arc<Plan>, mut list: Vec<((u32, u32), Loc, Loc)>) -> Self {
        list.sort_unstable_by_key(|(at, ..)| *at);
        Self { reader, plan: Some(plan), list: list.into_iter() }
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let ((entrant, benchmark), observation, verdict) = self.list.next()?;
        let plan = self.plan.clone()?;
        let row = || {
            Ok(Row {
                plan,
                entrant: entrant as usize,
                benchmark: benchmark as usize,
                observation: self.reader.observation_at(observation)?,
                verdict: self.reader.verdict_at(verdict)?,
            })
        };
        Some(row())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.list.size_hint()
    }
}

impl ExactSizeIterator for Rows<'_> {}

/// Writes rows as a canonical CSV file with these columns: the names, then the rows, with LF and without needless quotes.
/// What a row has no value for is what the column's second part says, or empty.
///
/// # Errors
/// If a row cannot be read, or `out` cannot be written.
pub fn write_csv(
    rows: impl IntoIterator<Item = Result<Row, StoreError>>,
    columns: &[(&str, Option<&str>)],
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    let fail = |e: &io::Error| StoreError::io(std::path::Path::new("the table of results"), "it cannot be written", e);
    let mut line = String::new();
    for (at, (name, _)) in columns.iter().enumerate() {
        field(&mut line, at, name, columns.len());
    }
    line.push('\n');
    out.write_all(line.as_bytes()).map_err(|e| fail(&e))?;
    for row in rows {
        let row = row?;
        line.clear();
        for (at, (name, empty)) in columns.iter().enumerate() {
            let text = row.text(name).unwrap_or_else(|| Cow::Borrowed(empty.unwrap_or_default()));
            field(&mut line, at, &text, columns.len());
        }
        line.push('\n');
        out.write_all(line.as_bytes()).map_err(|e| fail(&e))?;
    }
    Ok(())
}

fn field(line: &mut String, at: usize, text: &str, columns: usize) {
    if at > 0 {
        line.push(',');
    }
    // An empty field on its own would be a blank line, which is no row.
    if text.contains([',', '"', '\n', '\r']) || (columns == 1 && text.is_empty()) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(seconds(0), "0");
        assert_eq!(seconds(1), "0.000000001");
        assert_eq!(seconds(1_500_000_000), "1.5");
        assert_eq!(seconds(u64::MAX), "18446744073.709551615");
        assert_eq!(Cell::Time(20_000_000).text(), "0.02");
        assert_eq!(Cell::Bool(true).text(), "yes");
        assert_eq!(Cell::Int(-3).text(), "-3");
        assert_eq!(Cell::Ratio("1/3".into()).text(), "1/3");
    }

    #[test]
    fn quotes() {
        let mut line = String::new();
        for (at, text) in ["a", "b,c", "say \"x\"", ""].iter().enumerate() {
            field(&mut line, at, text, 4);
        }
        assert_eq!(line, "a,\"b,c\",\"say \"\"x\"\"\",");
    }
}
