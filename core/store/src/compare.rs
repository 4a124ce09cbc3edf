//! Whether what is asked for is what a store was begun with.

use std::fmt::Debug;

use rustc_hash::FxHashMap;

use crate::record::{Meta, Plan, PlanBenchmark, PlanEntrant};

/// At most so many names are listed.
const LISTED: usize = 3;

fn names(list: &[&str]) -> String {
    let mut text = list.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if list.len() > LISTED {
        text.push_str(&format!(" and {} more", list.len() - LISTED));
    }
    text
}

fn shown(value: &impl Debug) -> String {
    match format!("{value:?}") {
        text if text == "None" => "none".into(),
        text => match text.strip_prefix("Some(").and_then(|t| t.strip_suffix(')')) {
            Some(inner) => inner.to_string(),
            None => text,
        },
    }
}

fn differ<T: PartialEq + Debug>(out: &mut Vec<String>, what: &str, stored: &T, given: &T) {
    if stored != given {
        out.push(format!("{what} is {} in the store, but {} is given", shown(stored), shown(given)));
    }
}

impl Meta {
    /// What another description says differently about the competition, one sentence each; none if it is the same
    /// competition. When, by which version and with which remarks it was made does not matter.
    pub fn differences(&self, given: &Self) -> Vec<String> {
        let mut out = Vec::new();
        differ(&mut out, "the edition", &self.edition.name, &given.edition.name);
        differ(&mut out, "the reading of the edition", &self.edition.reading, &given.edition.reading);
        if out.is_empty() && self.edition.hash != given.edition.hash {
            let (old, new) = (&self.edition.text, &given.edition.text);
            let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
            let line = |text: &str| text.lines().nth(same).map_or("the end".into(), |l| format!("`{}`", l.trim()));
            out.push(format!(
                "the edition {} was changed: line {} of its resolved text is {} in the store, but {} is given",
                self.edition.name,
                same + 1,
                line(old),
                line(new)
            ));
        }
        differ(&mut out, "the seed", &self.seed, &given.seed);
        out
    }
}

/// Compares two lists by the names of their items.
fn lists<'a, T>(
    out: &mut Vec<String>,
    what: (&str, &str),
    (stored, given): (&'a [T], &'a [T]),
    name: fn(&T) -> &str,
    differs: fn(&T, &T) -> Option<String>,
) {
    let by_name = |list: &'a [T]| list.iter().map(|item| (name(item), item)).collect::<FxHashMap<&str, &T>>();
    let (old, new) = (by_name(stored), by_name(given));
    let (one, many) = what;
    let noun = |n: usize| if n == 1 { one } else { many };
    let gone: Vec<&str> = stored.iter().map(name).filter(|n| !new.contains_key(n)).collect();
    let come: Vec<&str> = given.iter().map(name).filter(|n| !old.contains_key(n)).collect();
    if !gone.is_empty() {
        out.push(format!("{} {} of the store not given: {}", gone.len(), noun(gone.len()), names(&gone)));
    }
    if !come.is_empty() {
        out.push(format!("{} {} given that the store does not have: {}", come.len(), noun(come.len()), names(&come)));
    }
    let mut changed = Vec::new();
    for item in stored {
        if let Some(other) = new.get(name(item))
            && let Some(how) = differs(item, other)
        {
            changed.push(format!("{one} {} {how}", name(item)));
        }
    }
    if changed.len() > LISTED {
        let more = changed.len() - LISTED;
        changed.truncate(LISTED);
        changed.push(format!("{more} more {} changed", noun(more)));
    }
    out.append(&mut changed);
}

fn entrant(stored: &PlanEntrant, given: &PlanEntrant) -> Option<String> {
    let hashes = |e: &PlanEntrant| e.programs.iter().map(|p| p.hash).collect::<Vec<_>>();
    if stored.command != given.command {
        return Some(format!("has the command {:?} in the store, but {:?} is given", stored.command, given.command));
    }
    if hashes(stored) != hashes(given) {
        let pairs = stored.programs.iter().zip(&given.programs);
        let path = pairs.into_iter().find(|(a, b)| a.hash != b.hash).map_or("", |(_, b)| b.path.as_str());
        return Some(format!("has another program than in the store: the content of {path} has changed"));
    }
    for (what, differs) in [
        ("solver", stored.solver != given.solver),
        ("configuration", stored.configuration != given.configuration),
        ("competing", stored.competing != given.competing),
    ] {
        if differs {
            return Some(format!("has another `{what}` than in the store"));
        }
    }
    let fields = stored.fields.keys().chain(given.fields.keys());
    let field = fields.into_iter().find(|name| stored.fields.get(*name) != given.fields.get(*name));
    field.map(|name| format!("has another `{name}` than in the store"))
}

fn benchmark(stored: &PlanBenchmark, given: &PlanBenchmark) -> Option<String> {
    if stored.hash != given.hash {
        return Some("has another content than in the store".into());
    }
    for (what, differs) in [
        ("logic", stored.logic != given.logic),
        ("division", stored.division != given.division),
        ("family", stored.family != given.family),
        ("status", stored.statuses != given.statuses),
    ] {
        if differs {
            return Some(format!("has another {what} than in the store"));
        }
    }
    None
}

impl Plan {
    /// What another plan says differently about the runs of the track, one sentence each; none if the same runs are
    /// meant. The order of entrants and benchmarks, the places of the files, and the version of the plugin do not matter:
    /// what was run stays, and may be judged again.
    pub fn differences(&self, given: &Self) -> Vec<String> {
        let mut out = Vec::new();
        differ(&mut out, "the track", &self.track, &given.track);
        differ(&mut out, "the plugin", &self.plugin.id, &given.plugin.id);
        let json = |out: &mut Vec<String>, what: &str, stored: &serde_json::Value, given: &serde_json::Value| {
            if stored != given {
                out.push(format!("{what} are {stored} in the store, but {given} are given"));
            }
        };
        json(&mut out, "the plugin's parameters", &self.parameters, &given.parameters);
        json(&mut out, "the limits", &self.limits, &given.limits);
        if self.overrides != given.overrides {
            let text = |o: &indexmap::IndexMap<String, String>| {
                let list: Vec<String> = o.iter().map(|(k, v)| format!("{k}={v}")).collect();
                if list.is_empty() { "none".into() } else { list.join(",") }
            };
            let (old, new) = (text(&self.overrides), text(&given.overrides));
            out.push(format!("the limits given beside the edition's are {old} in the store, but {new} are given"));
        }
        lists(&mut out, ("entrant", "entrants"), (&self.entrants, &given.entrants), |e| &e.id, entrant);
        lists(&mut out, ("benchmark", "benchmarks"), (&self.benchmarks, &given.benchmarks), |b| &b.id, benchmark);
        out
    }
}
