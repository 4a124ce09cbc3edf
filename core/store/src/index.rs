//! What the journal says, in memory: where the record of each thing is.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::Digest;
use crate::journal::Line;
use crate::record::{Belongs, Output, Plan, PluginId, Record};

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loc {
    pub seq: u64,
    pub offset: u64,
    pub length: u64,
}

/// One entrant on one benchmark of a track, by their places in the plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PairId {
    pub track: u32,
    pub entrant: u32,
    pub benchmark: u32,
}

/// What is known of a pair.
#[derive(Debug)]
pub(crate) struct Pair {
    pub observation: Loc,
    /// The newest verdict of each plugin, the newest of all last.
    pub verdicts: Vec<(u16, Loc)>,
}

/// A follow-up's name: track, role, key, tool.
pub(crate) type FollowUpId = (u32, String, String, String);

/// What a record means for the index.
#[derive(Debug)]
pub(crate) enum Entry {
    Store,
    Session,
    Note,
    Plan(Arc<Plan>),
    Output(Output),
    Observation(PairId),
    Verdict { pair: PairId, plugin: String, observation: u64 },
    FollowUp(FollowUpId),
}

#[derive(Debug)]
pub(crate) struct Track {
    pub plan: Arc<Plan>,
    entrants: FxHashMap<String, u32>,
    benchmarks: FxHashMap<String, u32>,
    pub pairs: FxHashMap<(u32, u32), Pair>,
    /// How many pairs have a verdict.
    pub judged: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    pub tracks: IndexMap<String, Track>,
    pub outputs: FxHashMap<Digest, Output>,
    pub follow_ups: IndexMap<FollowUpId, Loc>,
    pub sessions: Vec<Loc>,
    pub notes: Vec<Loc>,
    /// Hashes of the plugins that judged.
    pub plugins: IndexSet<String>,
    /// The end of the last output in `outputs.zst`.
    pub pack_end: u64,
}

/// What of a line matters for the index.
#[derive(Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    track: Option<String>,
    #[serde(default)]
    entrant: Option<String>,
    #[serde(default)]
    benchmark: Option<String>,
    #[serde(default)]
    observation: Option<u64>,
    #[serde(default)]
    plugin: Option<PluginId>,
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    dedup_key: Option<String>,
    #[serde(default)]
    tool: Option<String>,
}

fn places<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<FxHashMap<String, u32>, String> {
    let mut map = FxHashMap::default();
    for (at, name) in names.enumerate() {
        let at = u32::try_from(at).map_err(|_| format!("there are too many {what}s"))?;
        if map.insert(name.clone(), at).is_some() {
            return Err(format!("the plan has the {what} {name} twice; give each a name of its own"));
        }
    }
    Ok(map)
}

impl Track {
    pub fn new(plan: Arc<Plan>) -> Result<Self, String> {
        let entrants = places("entrant", plan.entrants.iter().map(|e| &e.id))?;
        let benchmarks = places("benchmark", plan.benchmarks.iter().map(|b| &b.id))?;
        Ok(Self { plan, entrants, benchmarks, pairs: FxHashMap::default(), judged: 0 })
    }
}

impl Index {
    pub fn pair(&self, track: &str, entrant: &str, benchmark: &str) -> Result<PairId, String> {
        let (at, _, found) =
            self.tracks.get_full(track).ok_or_else(|| format!("there is no plan of the track {track}"))?;
        let entrant = found
            .entrants
            .get(entrant)
            .ok_or_else(|| format!("the plan of the track {track} has no entrant {entrant}"))?;
        let benchmark = found
            .benchmarks
            .get(benchmark)
            .ok_or_else(|| format!("the plan of the track {track} has no benchmark {benchmark}"))?;
        Ok(PairId { track: at as u32, entrant: *entrant, benchmark: *benchmark })
    }

    pub fn get(&self, pair: PairId) -> Option<&Pair> {
        let (_, track) = self.tracks.get_index(pair.track as usize)?;
        track.pairs.get(&(pair.entrant, pair.benchmark))
    }

    pub fn follow_up(&self, track: &str, role: &str, key: &str, tool: &str) -> Result<FollowUpId, String> {
        let at = self.tracks.get_index_of(track).ok_or_else(|| format!("there is no plan of the track {track}"))?;
        Ok((at as u32, role.into(), key.into(), tool.into()))
    }

    /// What a record that is to be written means.
    pub fn entry(&self, record: &Record) -> Result<Entry, String> {
        Ok(match record {
            Record::Store(_) => Entry::Store,
            Record::Session(_) => Entry::Session,
            Record::Note(_) => Entry::Note,
            Record::Plan(plan) => Entry::Plan(Arc::new(plan.clone())),
            Record::Output(output) => Entry::Output(output.clone()),
            Record::Observation(o) => Entry::Observation(self.pair(&o.track, &o.entrant, &o.benchmark)?),
            Record::Result(v) => {
                let pair = self.pair(&v.track, &v.entrant, &v.benchmark)?;
                Entry::Verdict { pair, plugin: v.plugin.hash.clone(), observation: v.observation }
            }
            Record::FollowUp(f) => Entry::FollowUp(self.follow_up(&f.track, &f.role, &f.dedup_key, &f.tool)?),
        })
    }

    /// What a line that was read means.
    pub fn entry_of_line(&self, line: &Line<'_>, meta: &Digest) -> Result<Entry, String> {
        fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
            serde_json::from_slice(bytes).map_err(|e| format!("the record is not of the form that is known ({e})"))
        }
        let object = line.object();
        let head: Head = parse(&object)?;
        let lacks = |name: &str| format!("the record has no `{name}`");
        let text = |value: Option<String>, name: &str| value.ok_or_else(|| lacks(name));
        let whole = || parse::<Record>(&object);
        Ok(match head.kind.as_str() {
            "store" => match whole()? {
                Record::Store(Belongs { meta: found }) if found == *meta && line.seq == 0 => Entry::Store,
                _ => return Err("the record is about another store".into()),
            },
            "session" => Entry::Session,
            "note" => Entry::Note,
            "plan" | "output" => match whole()? {
                Record::Plan(plan) => Entry::Plan(Arc::new(plan)),
                Record::Output(output) => Entry::Output(output),
                _ => return Err(lacks("kind")),
            },
            "observation" => Entry::Observation(self.pair(
                &text(head.track, "track")?,
                &text(head.entrant, "entrant")?,
                &text(head.benchmark, "benchmark")?,
            )?),
            "result" => Entry::Verdict {
                pair: self.pair(
                    &text(head.track, "track")?,
                    &text(head.entrant, "entrant")?,
                    &text(head.benchmark, "benchmark")?,
                )?,
                plugin: head.plugin.ok_or_else(|| lacks("plugin"))?.hash,
                observation: head.observation.ok_or_else(|| lacks("observation"))?,
            },
            "follow-up" => Entry::FollowUp(self.follow_up(
                &text(head.track, "track")?,
                &text(head.role, "role")?,
                &text(head.dedup_key, "dedup_key")?,
                &head.tool.unwrap_or_default(),
            )?),
            other => return Err(format!("records of the kind `{other}` are not known; use a newer program")),
        })
    }

    /// Takes a record in.
    pub fn apply(&mut self, entry: Entry, loc: Loc) -> Result<(), String> {
        match entry {
            Entry::Store => {
                if loc.seq != 0 {
                    return Err("the journal begins a second time".into());
                }
            }
            Entry::Session => self.sessions.push(loc),
            Entry::Note => self.notes.push(loc),
            Entry::Plan(plan) => {
                let track = Track::new(plan)?;
                let name = track.plan.track.clone();
                if self.tracks.contains_key(&name) {
                    return Err(format!("the track {name} has a plan already"));
                }
                self.tracks.insert(name, track);
            }
            Entry::Output(output) => self.output(output)?,
            Entry::Observation(id) => {
                let track = self.track_mut(id)?;
                let pair = Pair { observation: loc, verdicts: Vec::new() };
                if track.pairs.insert((id.entrant, id.benchmark), pair).is_some() {
                    return Err("the run was observed twice".into());
                }
            }
            Entry::Verdict { pair: id, plugin, observation } => {
                let (at, _) = self.plugins.insert_full(plugin);
                let at = u16::try_from(at).map_err(|_| "more than 65536 plugins have judged")?;
                let track = self.track_mut(id)?;
                let pair = track.pairs.get_mut(&(id.entrant, id.benchmark));
                let Some(pair) = pair.filter(|p| p.observation.seq == observation) else {
                    return Err(format!(
                        "the verdict is about record {observation}, which is not the run's observation"
                    ));
                };
                let first = pair.verdicts.is_empty();
                pair.verdicts.retain(|(plugin, _)| *plugin != at);
                pair.verdicts.push((at, loc));
                track.judged += u64::from(first);
            }
            Entry::FollowUp(id) => {
                if self.follow_ups.insert(id, loc).is_some() {
                    return Err("the follow-up was done twice".into());
                }
            }
        }
        Ok(())
    }

    /// Takes an output in.
    pub fn output(&mut self, output: Output) -> Result<(), String> {
        if let crate::record::Place::Pack { offset, length } = output.place {
            if offset != self.pack_end {
                return Err(format!("the output {} does not begin where the one before it ends", output.digest));
            }
            self.pack_end = offset.checked_add(length).ok_or("an output has an impossible length")?;
        }
        if self.outputs.contains_key(&output.digest) {
            return Err(format!("the output {} is there already", output.digest));
        }
        self.outputs.insert(output.digest, output);
        Ok(())
    }

    fn track_mut(&mut self, id: PairId) -> Result<&mut Track, String> {
        let found = self.tracks.get_index_mut(id.track as usize);
        found.map(|(_, track)| track).ok_or_else(|| "there is no such track".into())
    }
}
