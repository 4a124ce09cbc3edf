//! What plugins declare, for reading editions: of linked tracks what is shipped; of others what their libraries say,
//! or what they answer in a worker; of the plugins of a store what the store keeps.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use agon_edition::plugins::{Descriptions, Known, Shipped};
use agon_host::{Registry, Search, Workers};
use agon_store::Reader;
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::args::PlaceArgs;
use crate::plugin::{LINKED, search};
use crate::print;

/// The plugins that editions may name, and what a store says beside its edition.
pub struct Plugins<'a> {
    places: &'a PlaceArgs,
    stored: IndexMap<String, Json>,
    limits: IndexMap<String, IndexMap<String, u64>>,
    found: OnceCell<Result<Registry, String>>,
    asked: RefCell<BTreeMap<String, Result<Json, String>>>,
}

impl<'a> Plugins<'a> {
    /// The plugins in these places. They are looked for when an edition names one that is not linked.
    pub fn new(places: &'a PlaceArgs) -> Self {
        Self {
            places,
            stored: IndexMap::new(),
            limits: IndexMap::new(),
            found: OnceCell::new(),
            asked: RefCell::default(),
        }
    }

    /// The plugins that judged the runs of a store, as they were then, and the limits that the runs had; others as they
    /// are found in these places.
    pub fn of_store(places: &'a PlaceArgs, reader: &Reader) -> anyhow::Result<Self> {
        let mut plugins = Self::new(places);
        for (_, session) in reader.sessions()? {
            for (plugin, description) in session.plugins.into_iter().zip(session.descriptions) {
                plugins.stored.insert(plugin.id, description);
            }
        }
        for track in reader.tracks() {
            let Some(plan) = reader.plan_of(&track) else { continue };
            let limits = plan.limits.as_object().into_iter().flatten();
            let limits = limits.filter_map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect();
            plugins.limits.insert(track, limits);
        }
        Ok(plugins)
    }

    /// Where plugins are looked for.
    pub fn places(&self) -> &PlaceArgs {
        self.places
    }

    /// All of it, as the reader of editions takes it.
    pub fn known(&self) -> Known<'_> {
        Known { plugins: self, limits: &self.limits }
    }

    /// The plugins that are not linked. To tell what they declare, the program's own hash is not needed, nor whether a
    /// linked track has a rival.
    fn found(&self) -> &Result<Registry, String> {
        self.found.get_or_init(|| {
            Registry::discover(&Search { linked: &[], ..search(self.places) }).map_err(|error| error.to_string())
        })
    }

    fn is_linked(name: &str) -> bool {
        LINKED
            .iter()
            .any(|descriptor| agon_host::Plugin::linked(descriptor).is_ok_and(|plugin| plugin.identity().id == name))
    }

    /// What a plugin that is not linked declares; nothing if there is none of this name.
    fn ask(&self, name: &str) -> Option<Result<Json, String>> {
        let registry = match self.found() {
            Ok(registry) => registry,
            Err(error) => return Some(Err(error.clone())),
        };
        let entry = registry.entries.iter().find(|entry| entry.id == name)?;
        let described = std::env::current_exe().map_err(|e| e.to_string()).and_then(|program| {
            let text = registry.description(entry, &Workers::new(program)).map_err(|error| error.to_string())?;
            serde_json::from_str(&text).map_err(|e| format!("what it declares is not JSON: {e}"))
        });
        Some(described)
    }
}

impl Descriptions for Plugins<'_> {
    fn names(&self) -> Vec<String> {
        let mut names = Shipped.names();
        if let Ok(registry) = self.found() {
            names.extend(registry.entries.iter().map(|entry| entry.id.clone()));
        }
        names.sort();
        names.dedup();
        names
    }

    fn description(&self, name: &str) -> Option<Result<Json, String>> {
        if let Some(stored) = self.stored.get(name) {
            return Some(Ok(stored.clone()));
        }
        if self.places.plugin.is_empty() && Self::is_linked(name) {
            return Shipped.description(name);
        }
        if let Some(known) = self.asked.borrow().get(name) {
            return Some(known.clone());
        }
        let shipped = Shipped.description(name);
        let described = match (self.ask(name), shipped) {
            // Whoever reads a shipped edition's results is not kept from it by plugins that are about something else.
            (Some(Err(why)), Some(shipped)) if self.places.plugin.is_empty() => {
                print::err(&format!("note: the shipped description of the plugin {name} is used: {why}\n"));
                shipped
            }
            (Some(described), _) => described,
            (None, Some(shipped)) => shipped,
            (None, None) => {
                let passed = self.found().as_ref().map(|r| r.passed.as_slice()).unwrap_or_default();
                for passed in passed {
                    print::err(&format!("note: {} was passed over: {}\n", passed.path.display(), passed.why));
                }
                return None;
            }
        };
        self.asked.borrow_mut().insert(name.to_string(), described.clone());
        Some(described)
    }
}
