//! From the merged tree to the model: names are bound, formulas compiled, and everything that does not fit is
//! reported. Nothing is guessed: an element with an error is left out, and the caller refuses the edition.

use std::collections::{BTreeSet, HashSet};

use agon_formula::{Formula, FormulaError, Scope, SortKey, compile, compile_order};
use agon_results::{
    ColumnRule, Duplicates, Header, Join, JoinFile, Kind as RawKind, Mapping, Recognise, Source as RawSource,
};
use agon_scramble::{Annotations, Mode};
use agon_table::{Dim, Exact, Type, Value, parse_decimal, parse_quantity};
use indexmap::IndexMap;
use regex::Regex;

use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::language::{RUN_FIELDS, STORE_FIELDS};
use crate::model::{
    Action, Constant, Deviation, Division, Doc, Edition, Entrants, Field, Figure, FigureSource, Form, Input,
    LedgerEntry, Let, Limits, Market, ParameterValue, PublishedForm, Ranking, Reading, Recognition, RulesDocument,
    RunOrder, RunRules, Scoring, Scrambling, ScriptRule, Scripts, Seed, Status, Step, TableRule, Track, Variable, View,
};
use crate::node::{Entry, Kind, Node, Place, overlay};
use crate::plugins::{self, Known};

/// Builds the model of a merged, shape-checked tree.
pub(crate) fn resolve(tree: &Node, reading: Reading, known: &Known<'_>, out: &mut Diagnostics) -> Edition {
    let mut resolver = Resolver {
        out,
        known,
        entrant_columns: Vec::new(),
        standing_scopes: Vec::new(),
        failed: IndexMap::new(),
        deviations: Vec::new(),
        constants: IndexMap::new(),
        varies: IndexMap::new(),
    };
    resolver.edition(tree, reading)
}

/// Reports every `before` that names nothing beside it: the element would silently stand last.
pub(crate) fn check_before(node: &Node, out: &mut Diagnostics) {
    // A view's own steps join the common ones of its scoring.
    let common: Vec<&str> =
        node.get("runs").map(Node::entries).unwrap_or_default().iter().map(|e| e.key.as_str()).collect();
    before(node, &common, out);
}

fn before(node: &Node, common: &[&str], out: &mut Diagnostics) {
    let entries = node.entries();
    for entry in entries {
        if let Some(before) = entry.value.get("before")
            && let Some(name) = before.text()
            && (name == entry.key || !(entries.iter().any(|e| e.key == name) || common.contains(&name)))
        {
            let known: Vec<&str> = entries.iter().map(|e| e.key.as_str()).filter(|k| *k != entry.key).collect();
            let message = format!("there is no `{name}` beside `{}`", entry.key);
            out.push(Diagnostic::error("edition/before", &before.place, message).help(suggest(name, &known)));
        }
        // What a deviation lays on the edition is checked where it lies.
        if entry.key == "scoring" {
            check_before(&entry.value, out);
        } else if entry.key != "instead" {
            before(&entry.value, if entry.key == "rankings" { &[] } else { common }, out);
        }
    }
    if let Kind::List(items) = &node.kind {
        items.iter().for_each(|item| before(item, common, out));
    }
}

/// Tracks may be like each other so many times in a row.
const MOST_LIKES: usize = 64;

/// Replaces `like: TRACK` by that track's content, with the track's own laid on it.
pub(crate) fn with_likes(tree: &Node, out: &mut Diagnostics) -> Node {
    let Some(tracks) = tree.get("tracks") else { return tree.clone() };
    if !tracks.entries().iter().any(|e| e.value.get("like").is_some()) {
        return tree.clone();
    }
    let mut likes = Likes {
        tracks: tracks.entries().iter().map(|e| (e.key.as_str(), &e.value)).collect(),
        blamed: HashSet::new(),
        too_long: false,
    };
    let mut resolved: Vec<Entry> = Vec::new();
    for entry in tracks.entries() {
        let mut chain = vec![entry.key.as_str()];
        let value = likes.resolve(&entry.value, &mut chain, out);
        resolved.push(Entry { value, ..entry.clone() });
    }
    let mut tree = tree.clone();
    if let Kind::Map(entries) = &mut tree.kind {
        for entry in entries {
            if entry.key == "tracks" {
                entry.value.kind = Kind::Map(std::mem::take(&mut resolved));
            }
        }
    }
    tree
}

struct Likes<'a> {
    tracks: IndexMap<&'a str, &'a Node>,
    /// Tracks of a circle that was reported.
    blamed: HashSet<&'a str>,
    /// Whether a row that is too long was reported: the tracks at its end would all be.
    too_long: bool,
}

impl<'a> Likes<'a> {
    fn resolve(&mut self, track: &'a Node, chain: &mut Vec<&'a str>, out: &mut Diagnostics) -> Node {
        let Some(like) = track.get("like").filter(|n| !n.is_null()) else { return track.clone() };
        let Some(name) = like.text() else { return track.clone() };
        let Some((&name, &base)) = self.tracks.get_key_value(name) else {
            let names: Vec<&str> = self.tracks.keys().copied().collect();
            let message = format!("there is no track `{name}`");
            out.push(Diagnostic::error("edition/unknown-track", &like.place, message).help(suggest(name, &names)));
            return track.clone();
        };
        if let Some(start) = chain.iter().position(|c| *c == name) {
            // Every track of the circle comes here; one report is enough.
            let circle = &chain[start..];
            if !circle.iter().any(|c| self.blamed.contains(c)) {
                let message = match circle {
                    [_] => format!("the track `{name}` is like itself"),
                    _ => format!("tracks are like each other in a circle: {} → {name}", circle.join(" → ")),
                };
                let help = "let one of them say everything itself";
                out.push(Diagnostic::error("edition/cycle", &like.place, message).help(help));
            }
            self.blamed.extend(circle);
            return track.clone();
        }
        if chain.len() >= MOST_LIKES {
            if std::mem::replace(&mut self.too_long, true) {
                return track.clone();
            }
            let message = format!("more than {MOST_LIKES} tracks are like one another in a row");
            let help = "let them be `like` the track at the bottom, or say everything themselves";
            out.push(Diagnostic::error("edition/too-long", &like.place, message).help(help));
            return track.clone();
        }
        chain.push(name);
        let base = self.resolve(base, chain, out);
        let mut merged = overlay(&base, track);
        if let Kind::Map(entries) = &mut merged.kind {
            entries.retain(|e| e.key != "like");
        }
        merged
    }
}

pub(crate) fn suggest(word: &str, known: &[&str]) -> String {
    match closest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "none is defined".into(),
        None if known.len() > 24 => format!("known: {}, … ({} in all)", known[..20].join(", "), known.len()),
        None => format!("known: {}", known.join(", ")),
    }
}

fn scripts(node: &Node) -> Scripts {
    let rules = node.get("rules").map(Node::entries).unwrap_or_default();
    let rules = rules.iter().filter(|e| !e.value.is_null()).map(|e| (e.key.clone(), script_rule(&e.value)));
    Scripts { doc: doc(node), version: text(node, "version"), rules: rules.collect() }
}

fn script_rule(node: &Node) -> ScriptRule {
    let number = |key| text(node, key).and_then(|n| n.parse().ok());
    ScriptRule {
        doc: doc(node),
        only: texts(node, "only"),
        commands: texts(node, "commands"),
        beginning: text(node, "beginning"),
        exactly: number("exactly"),
        at_least: number("at-least"),
        at_most: number("at-most"),
        arguments: texts(node, "arguments"),
        place: text(node, "place"),
        only_behind: texts(node, "only-behind"),
        after: texts(node, "after"),
        not_after: texts(node, "not-after"),
        followed_by: text(node, "followed-by"),
        arity: number("arity"),
        needs_datatypes: text(node, "needs-datatypes").as_deref() == Some("true"),
        terms: text(node, "terms"),
    }
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).filter(|n| !n.is_null()).and_then(Node::text).map(str::to_string)
}

fn texts(node: &Node, key: &str) -> Vec<String> {
    node.get(key).map(|n| n.items().iter().filter_map(Node::text).map(str::to_string).collect()).unwrap_or_default()
}

fn text_map(node: &Node, key: &str) -> IndexMap<String, String> {
    let entries = node.get(key).map(Node::entries).unwrap_or_default();
    entries.iter().map(|e| (e.key.clone(), e.value.text().unwrap_or_default().to_string())).collect()
}

fn cites(node: &Node) -> Vec<String> {
    split_cites(&text(node, "cite").unwrap_or_default())
}

/// `§7.1, §7.2.2` as two references.
pub(crate) fn split_cites(cite: &str) -> Vec<String> {
    cite.split(',').map(str::trim).filter(|c| !c.is_empty()).map(str::to_string).collect()
}

fn doc(node: &Node) -> Doc {
    Doc { title: text(node, "title"), says: text(node, "says"), cite: cites(node), deviation: None }
}

fn flag(node: &Node, key: &str) -> bool {
    text(node, key).is_some_and(|t| t == "true")
}

/// Where the formula of a slot stands: the slot itself, or its key `is`.
fn formula_node(node: &Node) -> &Node {
    node.get("is").unwrap_or(node)
}

/// The common columns of all runs.
pub(crate) fn common_fields() -> IndexMap<String, Field> {
    let mut fields = IndexMap::new();
    for (name, ty, optional, says) in RUN_FIELDS {
        let field = Field {
            ty: field_type(ty, &[]),
            optional: *optional,
            otherwise: None,
            empty: None,
            says: Some((*says).into()),
        };
        fields.insert((*name).to_string(), field);
    }
    fields
}

/// The type of a declared column: a type's name, or a vocabulary separated by spaces.
pub(crate) fn field_type(name: &str, words: &[String]) -> Type {
    match name {
        "text" => Type::TEXT,
        "bool" => Type::Bool,
        "number" => Type::NUMBER,
        "time" => Type::TIME,
        "memory" => Type::MEMORY,
        "words" => Type::words(words.iter().cloned()),
        list => Type::words(list.split(' ')),
    }
}

struct Resolver<'a> {
    out: &'a mut Diagnostics,
    /// What is known beside the text.
    known: &'a Known<'a>,
    /// The columns that an entrant determines.
    entrant_columns: Vec<String>,
    /// What formulas over the standings of each view may use.
    standing_scopes: Vec<Scope>,
    /// By track and view: the names whose formulas have mistakes. What uses them is not reported again.
    failed: IndexMap<(String, String), BTreeSet<String>>,
    /// The deviations that are on, with the places of what they lay on the edition.
    deviations: Vec<(String, Place)>,
    /// The constants that the last `let` defined.
    constants: IndexMap<String, Constant>,
    /// The columns that each computed one differs with from row to row, in terms of those that are not computed.
    varies: IndexMap<String, BTreeSet<String>>,
}

/// The columns that are the same for all rows that agree in `by`: these themselves, what is known of an entrant if
/// `entrant` is among them, what is known of a division if `division` or a finer column is.
pub fn carried<'a>(
    by: &[String],
    columns: impl Iterator<Item = &'a str>,
    entrant_columns: &[String],
) -> BTreeSet<String> {
    let has = |name: &str| by.iter().any(|b| b == name);
    columns
        .filter(|name| {
            has(name)
                || (has("entrant") && entrant_columns.iter().any(|c| c == name))
                || ((has("division") || has("logic") || has("benchmark"))
                    && matches!(*name, "division" | "experimental"))
                || (has("benchmark") && matches!(*name, "logic" | "family" | "status"))
        })
        .map(str::to_string)
        .collect()
}

impl Resolver<'_> {
    fn error(&mut self, code: &'static str, place: &Place, message: String, help: impl Into<String>) {
        self.out.push(Diagnostic::error(code, place, message).help(help));
    }

    /// The deviation that the text at this place belongs to.
    fn deviation_at(&self, place: &Place) -> Option<String> {
        let within = |laid: &Place| {
            std::ptr::eq(&*laid.source, &*place.source)
                && laid.span.start <= place.span.start
                && place.span.end <= laid.span.end
        };
        self.deviations.iter().find(|(_, laid)| within(laid)).map(|(name, _)| name.clone())
    }

    /// What is said about an element, and whether a deviation put it there.
    fn doc_of(&self, node: &Node, place: &Place) -> Doc {
        Doc { deviation: self.deviation_at(place), ..doc(node) }
    }

    fn edition(&mut self, tree: &Node, reading: Reading) -> Edition {
        for entry in tree.get("deviations").map(Node::entries).unwrap_or_default() {
            if reading.includes(&entry.key)
                && let Some(instead) = entry.value.get("instead")
            {
                self.deviations.push((entry.key.clone(), instead.place.clone()));
            }
        }
        let rules = tree.get("rules").map(|n| RulesDocument {
            document: text(n, "document").unwrap_or_default(),
            revision: text(n, "revision"),
            url: text(n, "url"),
            sections: text_map(n, "sections"),
        });
        let entrants = self.entrants(tree);
        for (name, field) in &entrants.fields {
            if let Some(other) = &field.otherwise
                && entrant_scope(&entrants).columns.get(other) != Some(&field.ty)
            {
                let message = format!("`{name}` cannot fall back on `{other}`, which is no column of the same type");
                self.error("edition/unknown-column", &tree.place, message, "name a column of the entrants' list");
            }
        }
        self.entrant_columns = entrants.columns();
        let sets = tree.get("divisions");
        let mut tracks = IndexMap::new();
        for entry in tree.get("tracks").map(Node::entries).unwrap_or_default() {
            let track = self.track(entry, sets, &entrants);
            tracks.insert(entry.key.clone(), track);
        }
        let mut results = Vec::new();
        for entry in tree.get("results").map(Node::entries).unwrap_or_default() {
            results.extend(self.form(entry, &tracks, &entrants));
        }
        let mut recognitions = IndexMap::new();
        for entry in tree.get("recognitions").map(Node::entries).unwrap_or_default() {
            if let Some(recognition) = self.recognition(entry, &tracks) {
                recognitions.insert(entry.key.clone(), recognition);
            }
        }
        let published = tree.get("published").map(Node::entries).unwrap_or_default();
        let published: Vec<PublishedForm> = published.iter().map(|e| self.published(e)).collect();
        let ledger = tree.get("ledger").map(Node::entries).unwrap_or_default();
        let mut known: BTreeSet<&str> =
            published.iter().flat_map(|f: &PublishedForm| &f.key).map(String::as_str).collect();
        known.extend(["column", "form", "track", "table", "view", "division", "logic", "solver"]);
        for entry in ledger {
            for filter in entry.value.get("where").map(Node::entries).unwrap_or_default() {
                if !known.contains(filter.key.as_str()) {
                    let names: Vec<&str> = known.iter().copied().collect();
                    let message = format!("figures are not told apart by `{}`", filter.key);
                    self.error("edition/unknown-column", &filter.key_place, message, suggest(&filter.key, &names));
                }
            }
        }
        let ledger = ledger.iter().map(|e| self.ledger(e)).collect();
        let deviations = tree.get("deviations").map(Node::entries).unwrap_or_default();
        let deviations = deviations
            .iter()
            .map(|e| Deviation {
                name: e.key.clone(),
                doc: doc(&e.value),
                because: text(&e.value, "because").unwrap_or_default(),
                reference: text(&e.value, "reference").unwrap_or_default(),
                changes: paths(e.value.get("instead"), false),
                removes: paths(e.value.get("instead"), true),
            })
            .collect();
        let timeline = tree.get("timeline").map(Node::items).unwrap_or_default();
        let timeline = timeline
            .iter()
            .map(|n| (text(n, "date").unwrap_or_default(), text(n, "what").unwrap_or_default(), cites(n)))
            .collect();
        let seed = self.seed(tree, &entrants);
        Edition {
            name: text(tree, "edition").unwrap_or_default(),
            doc: doc(tree),
            rules: rules.unwrap_or_default(),
            reading,
            organisers: texts(tree, "organisers"),
            timeline,
            seed,
            entrants,
            tracks,
            recognitions,
            results,
            published,
            deviations,
            ledger,
            coverage: text_map(tree, "coverage"),
            tree: tree.clone(),
        }
    }

    fn fields(&mut self, node: Option<&Node>) -> IndexMap<String, Field> {
        let mut fields = IndexMap::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let value = &entry.value;
            let ty = value.text().map(str::to_string).or_else(|| text(value, "type")).unwrap_or_default();
            let words = texts(value, "words");
            if ty == "words" && words.is_empty() {
                let message = format!("the column `{}` is of words, but lists none", entry.key);
                self.error("edition/no-words", &entry.key_place, message, "list them under `words:`");
            }
            let field = Field {
                ty: field_type(&ty, &words),
                optional: flag(value, "optional"),
                otherwise: text(value, "otherwise"),
                empty: self.empty_cell(value, &ty, &words),
                says: text(value, "says"),
            };
            fields.insert(entry.key.clone(), field);
        }
        fields
    }

    /// The cell that `empty` of a column stands for, as result files have it.
    fn empty_cell(&mut self, column: &Node, ty: &str, words: &[String]) -> Option<String> {
        let node = column.get("empty")?;
        match plugins::ParameterType::of_column(ty, words).read(node.text()?) {
            Ok(ParameterValue::Text(text)) => Some(text),
            Ok(ParameterValue::Flag(flag)) => Some(if flag { "yes" } else { "no" }.into()),
            Ok(ParameterValue::Time(ns)) => ns.floor().as_i128().map(agon_table::format_seconds),
            Ok(ParameterValue::Number(n) | ParameterValue::Memory(n)) => Some(n.to_short_decimal(30)),
            Ok(ParameterValue::Texts(_)) => None,
            Err((problem, help)) => {
                self.error("edition/empty", &node.place.clone(), format!("`empty`: {problem}"), help);
                None
            }
        }
    }

    fn entrants(&mut self, tree: &Node) -> Entrants {
        let Some(node) = tree.get("entrants") else { return Entrants::default() };
        let fields = self.fields(node.get("fields"));
        let mut list: Vec<IndexMap<String, String>> = Vec::new();
        for item in node.get("list").map(Node::items).unwrap_or_default() {
            let row: IndexMap<String, String> = item
                .entries()
                .iter()
                .filter(|e| !e.value.is_null())
                .map(|e| (e.key.clone(), e.value.text().unwrap_or_default().to_string()))
                .collect();
            for entry in item.entries() {
                let known = ["entrant", "solver", "competing"];
                if !known.contains(&entry.key.as_str()) && !fields.contains_key(&entry.key) {
                    let names: Vec<&str> = known.into_iter().chain(fields.keys().map(String::as_str)).collect();
                    let message = format!("an entrant has no column `{}`", entry.key);
                    self.error("edition/unknown-column", &entry.key_place, message, suggest(&entry.key, &names));
                }
            }
            list.push(row);
        }
        let mut entrants = Entrants { doc: doc(node), fields, list, forms: Vec::new() };
        let mut forms = Vec::new();
        for entry in node.get("forms").map(Node::entries).unwrap_or_default() {
            let mut columns = entrant_scope(&entrants).columns;
            columns.insert("entrant".into(), Type::TEXT);
            forms.extend(self.form_with(entry, &columns, None));
        }
        entrants.forms = forms;
        entrants
    }

    fn seed(&mut self, tree: &Node, entrants: &Entrants) -> Option<Seed> {
        let node = tree.get("seed")?;
        let market = node.get("market").map(|m| Market {
            name: text(m, "name").unwrap_or_default(),
            opening: text(m, "opening").and_then(|t| parse_decimal(&t).ok()),
            date: text(m, "date"),
        });
        let mut scope = entrant_scope(entrants);
        scope.columns.insert("market".into(), Type::NUMBER);
        let formula = self.formula(node.get("formula")?, &scope)?;
        if *formula.ty() != Type::NUMBER {
            let place = &formula_node(node.get("formula")?).place;
            self.error(
                "edition/seed",
                place,
                format!("the seed must be a whole number, but this is {}", formula.ty()),
                "sum numbers",
            );
        }
        Some(Seed {
            doc: self.doc_of(node, &formula_node(node.get("formula")?).place),
            formula,
            generator: text(node, "generator"),
            market,
            published: text(node, "published").and_then(|t| t.parse().ok()),
        })
    }

    fn track(&mut self, entry: &Entry, sets: Option<&Node>, entrants: &Entrants) -> Track {
        let node = &entry.value;
        let mut fields = common_fields();
        let plugin = text(node, "plugin");
        let mut unknown_plugin = false;
        let mut declared = None;
        if let Some(name) = &plugin {
            let place = &node.get("plugin").map_or(&node.place, |n| &n.place).clone();
            match self.known.plugins.description(name) {
                Some(Ok(description)) => {
                    for (column, field) in plugins::fields_of(&description) {
                        if fields.contains_key(&column) || STORE_FIELDS.contains(&column.as_str()) {
                            let message = format!(
                                "the plugin `{name}` declares the column `{column}`, which the results of every track have"
                            );
                            let help = "the plugin's author has to give the column another name";
                            self.error("edition/plugin-column", place, message, help);
                        } else {
                            fields.insert(column, field);
                        }
                    }
                    declared = plugins::parameters_of(&description);
                }
                Some(Err(why)) => {
                    unknown_plugin = true;
                    let message = format!("what the plugin `{name}` declares cannot be told: {why}");
                    self.error("edition/plugin", place, message, "`agon plugin check FILE` tests a plugin's library");
                }
                // A plugin that is not there: the edition says its columns itself.
                None if node.get("fields").is_some() => {}
                None => {
                    let known = self.known.plugins.names();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    // The columns are those of the plugin that was meant, or nobody knows them.
                    let meant = closest(name, known.iter().copied()).and_then(|n| self.known.plugins.description(n));
                    match meant {
                        Some(Ok(description)) => fields.extend(plugins::fields_of(&description)),
                        _ => unknown_plugin = true,
                    }
                    let help = match closest(name, known.iter().copied()) {
                        Some(_) => suggest(name, &known),
                        None => format!(
                            "{}; the library of another one is named with `--plugin FILE`, or put into a plugin folder",
                            suggest(name, &known)
                        ),
                    };
                    self.error("edition/unknown-plugin", place, format!("there is no plugin `{name}`"), help);
                }
            }
        }
        for (name, field) in &entrants.fields {
            fields.entry(name.clone()).or_insert_with(|| Field { optional: true, ..field.clone() });
        }
        fields.extend(self.fields(node.get("fields")));
        let status = match text(node, "status").as_deref() {
            Some("exhibition") => Status::Exhibition,
            Some("experimental") => Status::Experimental,
            _ => Status::Competitive,
        };
        let mut limits = limits_of(node.get("limits"));
        let mut instead = Vec::new();
        for (name, had) in self.known.limits.get(&entry.key).into_iter().flatten() {
            let text = limits.whole(name);
            if text != Some(*had) && limits.set(name, *had) {
                instead.push((name.clone(), text, *had));
            }
        }
        let run = self.run_rules(node, &limits);
        let divisions = self.divisions(node, sets, &run);
        let parameters = match &plugin {
            Some(name) => plugins::check_parameters(name, declared.as_ref(), node, self.out),
            None => IndexMap::new(),
        };
        let checks = node.get("checks").map(Node::entries).unwrap_or_default();
        let checks =
            checks.iter().map(|e| (e.key.clone(), (doc(&e.value), limits_of(e.value.get("limits"))))).collect();
        let mut track = Track {
            name: entry.key.clone(),
            doc: doc(node),
            plugin,
            parameters,
            status,
            input: match text(node, "input").as_deref() {
                Some("argument") => Some(Input::Argument),
                Some("stdin") => Some(Input::Stdin),
                Some("trace") => Some(Input::Trace),
                _ => None,
            },
            run,
            scripts: node.get("scripts").filter(|n| !n.is_null()).map(scripts),
            limits,
            instead,
            checks,
            divisions,
            fields,
            entrant_key: text(node, "entrant-key").unwrap_or_else(|| "entrant".into()),
            scoring: None,
        };
        if let Some(scoring) = node.get("scoring") {
            track.scoring = Some(self.scoring(scoring, &track, unknown_plugin));
        }
        track
    }

    fn run_rules(&mut self, track: &Node, limits: &Limits) -> RunRules {
        let Some(node) = track.get("run") else { return RunRules::default() };
        let said = track.get("limits");
        let mut environment = IndexMap::new();
        for entry in node.get("environment").map(Node::entries).unwrap_or_default() {
            if entry.value.is_null() {
                continue;
            }
            let name = &entry.key;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
                let message = format!("`{name}` is not the name of an environment variable");
                let help = "such names have letters, digits and `_`, and do not begin with a digit";
                self.error("edition/value", &entry.key_place, message, help);
                continue;
            }
            let variable = match entry.value.text() {
                Some(source) => self.limit_in_unit(source, &entry.value.place, limits, said),
                None => text(&entry.value, "value").map(Variable::Text),
            };
            if let Some(variable) = variable {
                environment.insert(name.clone(), variable);
            }
        }
        RunRules {
            doc: doc(node),
            environment,
            order: if text(node, "order").as_deref() == Some("shuffled") {
                RunOrder::Shuffled
            } else {
                RunOrder::Listed
            },
            scramble: node.get("scramble").and_then(|scramble| self.scrambling(scramble, None)),
        }
    }

    /// How benchmarks are scrambled: a mode, or a mapping that may leave out what stands around it.
    fn scrambling(&mut self, node: &Node, around: Option<&Scrambling>) -> Option<Scrambling> {
        let word = node.text().map(str::to_string).or_else(|| text(node, "mode"));
        let mode = match word.as_deref() {
            Some("none") => return None,
            Some(word) => Mode::from_word(word)?,
            None => match around {
                Some(around) => around.mode,
                None => {
                    let message = "it is not said how benchmarks are scrambled".into();
                    self.error(
                        "edition/value",
                        &node.place,
                        message,
                        "add `mode:`; the track is not scrambled otherwise",
                    );
                    return None;
                }
            },
        };
        let usual = agon_scramble::Options::new(mode, 0).annotations;
        let said = text(node, "annotations").and_then(|word| Annotations::from_word(&word));
        let kept = around.filter(|around| around.mode == mode).map(|around| around.annotations);
        let scrambling = Scrambling { doc: doc(node), mode, annotations: said.or(kept).unwrap_or(usual) };
        if let Some(conflict) = scrambling.options(0).conflict() {
            self.error("edition/value", &node.place, conflict, "take another mode, or other annotations");
            return None;
        }
        Some(scrambling)
    }

    /// `limits.wall in s`, `limits.memory in MiB`, `limits.cores`.
    fn limit_in_unit(&mut self, source: &str, place: &Place, limits: &Limits, said: Option<&Node>) -> Option<Variable> {
        let words: Vec<&str> = source.split_whitespace().collect();
        let (name, unit) = match words.as_slice() {
            [name] => (*name, None),
            [name, "in", unit] => (*name, Some(*unit)),
            _ => ("", None),
        };
        let Some(limit) = name.strip_prefix("limits.") else {
            let help = "write it like `limits.wall in s`; a fixed text is written `{ value: TEXT }`";
            self.error("edition/value", place, format!("`{source}` is not a limit with its unit"), help);
            return None;
        };
        let Some((_, dim)) = Limits::NAMES.into_iter().find(|(n, _)| *n == limit) else {
            let known = Limits::NAMES.map(|(n, _)| n);
            self.error("edition/unknown-limit", place, format!("there is no limit `{limit}`"), suggest(limit, &known));
            return None;
        };
        let Some((amount, _)) = limits.get(limit) else {
            // A limit that cannot be read has been reported.
            if said.and_then(|n| n.get(limit)).is_some_and(|n| !n.is_null()) {
                return None;
            }
            let message = format!("the track has no limit `{limit}` that a solver could be told");
            let help = format!("add `{limit}:` to the track's `limits`, or remove the variable (`null`)");
            self.error("edition/unknown-limit", place, message, help);
            return None;
        };
        let example = match dim {
            Dim::TIME => "limits.wall in s",
            Dim::MEMORY => "limits.memory in MiB",
            _ => "limits.cores",
        };
        let size = match unit {
            None => Some((Exact::ONE, Dim::NONE)),
            Some(unit) => parse_quantity(&format!("1 {unit}")).ok(),
        };
        let Some((size, _)) = size.filter(|(_, unit_dim)| *unit_dim == dim) else {
            let message = match unit {
                None => format!("`{source}` lacks the unit in which the solver is told"),
                Some(unit) => format!("`{limit}` is not counted in `{unit}`"),
            };
            self.error("edition/unit", place, message, format!("write it like `{example}`"));
            return None;
        };
        if amount.div(&size).is_none_or(|units| units.floor().signum() <= 0) {
            let message = format!("in whole {} this limit is 0", unit.unwrap_or("units"));
            self.error("edition/unit", place, message, "take a smaller unit");
            return None;
        }
        Some(Variable::Limit { limit: limit.into(), unit: unit.map(str::to_string), size })
    }

    fn divisions(&mut self, track: &Node, sets: Option<&Node>, run: &RunRules) -> IndexMap<String, Division> {
        let mut divisions = IndexMap::new();
        let Some(node) = track.get("divisions") else { return divisions };
        let set = match &node.kind {
            Kind::Scalar { text, .. } => match sets.and_then(|s| s.get(text)) {
                Some(set) => set,
                None => {
                    let known: Vec<&str> =
                        sets.map(Node::entries).unwrap_or_default().iter().map(|e| e.key.as_str()).collect();
                    let message = format!("there is no set of divisions `{text}`");
                    self.error("edition/unknown-divisions", &node.place, message, suggest(text, &known));
                    return divisions;
                }
            },
            Kind::Map(_) => {
                crate::language::check_divisions(node, self.out);
                node
            }
            Kind::List(_) => {
                self.error(
                    "edition/type",
                    &node.place,
                    "`divisions` must be the name of a set, or a mapping from divisions to logics".into(),
                    "write `QF_UF: [QF_UF]` for a division of one logic",
                );
                return divisions;
            }
        };
        let mut owner: IndexMap<String, String> = IndexMap::new();
        for entry in set.entries() {
            let logics = match &entry.value.kind {
                Kind::Map(_) => texts(&entry.value, "logics"),
                _ => entry.value.items().iter().filter_map(Node::text).map(str::to_string).collect(),
            };
            for logic in &logics {
                if let Some(other) = owner.insert(logic.clone(), entry.key.clone()) {
                    let message = format!("the logic {logic} belongs to two divisions: {other} and {}", entry.key);
                    self.error("edition/two-divisions", &entry.key_place, message, "remove it from one of them");
                }
            }
            let scramble = entry.value.get("scramble").map(|scramble| self.scrambling(scramble, run.scramble.as_ref()));
            let division =
                Division { doc: doc(&entry.value), logics, experimental: flag(&entry.value, "experimental"), scramble };
            divisions.insert(entry.key.clone(), division);
        }
        divisions
    }

    fn formula(&mut self, node: &Node, scope: &Scope) -> Option<Formula> {
        // A formula that is not there has been reported with the shape.
        let node = formula_node(node);
        let source = node.text().filter(|_| !node.is_null())?;
        match compile(source, scope) {
            Ok(formula) => Some(formula),
            Err(errors) => {
                self.formula_errors(node, source, errors);
                None
            }
        }
    }

    fn formula_errors(&mut self, node: &Node, source: &str, errors: Vec<FormulaError>) {
        for error in errors {
            let place = node.part(&error.span);
            let mut message = error.message;
            let mut help = error.help;
            if let Some(limit) = source.get(error.span.clone()).and_then(|name| name.strip_prefix("limits."))
                && error.code == "formula/unknown-name"
            {
                (message, help) = match Limits::NAMES.iter().any(|(name, _)| *name == limit) {
                    true => (
                        format!("the track has no limit `{limit}`"),
                        Some(format!("add `{limit}:` to the track's `limits`, or write the value itself")),
                    ),
                    false => {
                        let known = Limits::NAMES.map(|(name, _)| name);
                        (format!("there is no limit `{limit}`"), Some(suggest(limit, &known)))
                    }
                };
            }
            if place.span == node.place.span && error.span != (0..source.len()) {
                // The scalar is folded or escaped: show the part in the message instead.
                let part = source.get(error.span).unwrap_or(source);
                message = format!("{message} (at `{part}`)");
            }
            let mut diagnostic = Diagnostic::error(error.code, &place, message);
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
            self.out.push(diagnostic);
        }
    }

    fn of_type(&mut self, node: &Node, scope: &Scope, ty: &Type, what: &str) -> Option<Formula> {
        let formula = self.formula(node, scope)?;
        if formula.ty() != ty {
            let message = format!("{what} must be {ty}, but this is {}", formula.ty());
            self.error(
                "edition/formula-type",
                &formula_node(node).place,
                message,
                "compare it with something, or correct it",
            );
            return None;
        }
        Some(formula)
    }

    fn named(&mut self, name: &str, node: &Node, formula: Formula) -> Let {
        let decimals = text(node, "decimals").and_then(|t| t.parse().ok());
        let print = text(node, "print").map(|t| t == "true");
        let doc = self.doc_of(node, &formula_node(node).place);
        Let { name: name.into(), formula, doc, decimals, print }
    }

    /// The columns that a formula's value differs with from row to row, in terms of those that are not computed.
    fn varies_with(&self, formula: &Formula) -> BTreeSet<String> {
        let own = |name: String| match self.varies.get(&name) {
            Some(known) => known.clone(),
            None => [name].into(),
        };
        formula.varies_with().into_iter().flat_map(own).collect()
    }

    /// A value of a group must be the same for all of its rows: else it would be that of whichever row came first. The
    /// rows are those that agree in `by`.
    fn folded(&mut self, name: &str, node: &Node, formula: &Formula, by: &[String], what: &str) {
        // A run is one row.
        if ["entrant", "benchmark"].iter().all(|key| by.iter().any(|b| b == key)) {
            return;
        }
        let varies = self.varies_with(formula);
        let same = carried(by, varies.iter().map(String::as_str), &self.entrant_columns);
        let Some(other) = varies.iter().find(|column| *column != "group" && !same.contains(*column)) else { return };
        let place = formula_node(node).place.clone();
        let message =
            format!("{what} `{name}` is not one value: it differs with the `{other}` of the runs that it is about");
        let fold = if *formula.ty() == Type::Bool { "count(…)` or `any(…)" } else { "sum(…)` or `max(…)" };
        let help = format!("fold the runs into one value, for example with `{fold}`");
        self.error("edition/not-folded", &place, message, help);
    }

    /// Compiles the formulas of a `let`, each one knowing those before it, and adds their names to the scope:
    /// constants as constants, the rest as columns.
    fn lets(&mut self, node: Option<&Node>, scope: &mut Scope, keep_constants: bool) -> Vec<Let> {
        let mut lets = Vec::new();
        self.constants.clear();
        scope.open |= opaque(node);
        for entry in node.map(Node::entries).unwrap_or_default() {
            scope.expect = None;
            match self.formula(&entry.value, scope) {
                Some(formula) => {
                    scope.unknown.remove(&entry.key);
                    let ty = formula.ty().clone();
                    match formula.constant() {
                        Some(value) if !keep_constants => {
                            // A constant word may be compared with any other word.
                            let ty = if matches!(ty, Type::Symbol(_)) { Type::TEXT } else { ty };
                            scope.columns.shift_remove(&entry.key);
                            let doc = self.doc_of(&entry.value, &formula_node(&entry.value).place);
                            let constant = Constant { ty: ty.clone(), value: value.clone(), doc };
                            self.constants.insert(entry.key.clone(), constant);
                            scope.constants.insert(entry.key.clone(), (ty, value));
                        }
                        _ => {
                            let varies = self.varies_with(&formula);
                            self.varies.insert(entry.key.clone(), varies);
                            scope.constants.shift_remove(&entry.key);
                            scope.columns.insert(entry.key.clone(), ty);
                            let named = self.named(&entry.key, &entry.value, formula);
                            lets.push(named);
                        }
                    }
                }
                None => {
                    // Nothing is known of it: what uses it is checked as far as that goes.
                    scope.columns.shift_remove(&entry.key);
                    scope.constants.shift_remove(&entry.key);
                    scope.unknown.insert(entry.key.clone());
                }
            }
        }
        lets
    }

    fn steps(&mut self, node: Option<&Node>, scope: &mut Scope) -> Vec<Step> {
        let mut steps = Vec::new();
        scope.open |= opaque(node);
        for entry in node.map(Node::entries).unwrap_or_default() {
            let node = &entry.value;
            self.constants.clear();
            scope.open |= opaque(Some(node));
            let has = |key: &str| node.get(key).is_some_and(|n| !n.is_null());
            let verbs: Vec<&str> = ["let", "keep", "drop"].into_iter().filter(|k| has(k)).collect();
            let action = if has("group") {
                if verbs.iter().any(|v| *v != "let") {
                    let help = "use two steps";
                    self.error(
                        "edition/step",
                        &entry.key_place,
                        "a step that groups cannot also keep or drop".into(),
                        help,
                    );
                    self.mistaken_step(node, scope);
                    continue;
                }
                let by = texts(node, "group");
                let mut ok = true;
                for (name, item) in by.iter().zip(node.get("group").map(Node::items).unwrap_or_default()) {
                    if scope.columns.contains_key(name) {
                        continue;
                    }
                    ok = false;
                    if !scope.open && !scope.unknown.contains(name) {
                        let known: Vec<&str> = scope.columns.keys().map(String::as_str).collect();
                        self.error(
                            "edition/unknown-column",
                            &item.place,
                            format!("there is no column `{name}`"),
                            suggest(name, &known),
                        );
                    }
                }
                scope.per = Some(by.iter().filter(|name| scope.columns.contains_key(*name)).cloned().collect());
                let lets = self.lets(node.get("let"), scope, true);
                scope.per = None;
                let entries = node.get("let").map(Node::entries).unwrap_or_default();
                for (l, entry) in lets.iter().filter_map(|l| Some((l, entries.iter().find(|e| e.key == l.name)?))) {
                    if ok && !scope.open {
                        self.folded(&l.name, &entry.value, &l.formula, &by, "the column");
                    }
                }
                if !ok {
                    // Which columns are left is not known; none is taken away.
                    continue;
                }
                let names = scope.columns.keys().chain(&scope.unknown).map(String::as_str);
                let kept = carried(&by, names, &self.entrant_columns);
                let made: BTreeSet<&str> =
                    node.get("let").map(Node::entries).unwrap_or_default().iter().map(|e| e.key.as_str()).collect();
                scope.columns.retain(|name, _| kept.contains(name) || made.contains(name.as_str()));
                scope.unknown.retain(|name| kept.contains(name) || made.contains(name.as_str()));
                Action::Group(by, lets)
            } else {
                match verbs.as_slice() {
                    ["let"] => Action::Let(self.lets(node.get("let"), scope, false)),
                    [verb @ ("keep" | "drop")] => {
                        let Some(slot) = node.get(verb) else { continue };
                        let Some(formula) = self.of_type(slot, scope, &Type::Bool, &format!("`{verb}`")) else {
                            continue;
                        };
                        let doc = self.doc_of(node, &formula_node(slot).place);
                        let named = Let { name: entry.key.clone(), formula, doc, decimals: None, print: None };
                        if *verb == "keep" { Action::Keep(named) } else { Action::Drop(named) }
                    }
                    [] => {
                        let help = "give it `let`, `keep`, `drop` or `group`";
                        self.error(
                            "edition/step",
                            &entry.key_place,
                            format!("the step `{}` does nothing", entry.key),
                            help,
                        );
                        continue;
                    }
                    many => {
                        let message = format!("the step `{}` has {}", entry.key, many.join(" and "));
                        self.error("edition/step", &entry.key_place, message, "a step does one thing; use two steps");
                        self.mistaken_step(node, scope);
                        continue;
                    }
                }
            };
            // A step that a deviation adds is all its own; of another one it is the formulas.
            let doc = self.doc_of(node, &entry.key_place);
            steps.push(Step { name: entry.key.clone(), doc, action, constants: std::mem::take(&mut self.constants) });
        }
        steps
    }

    /// Checks the formulas of a step that does too much, so that their mistakes are reported in the same go.
    fn mistaken_step(&mut self, node: &Node, scope: &mut Scope) {
        self.lets(node.get("let"), scope, false);
        for verb in ["keep", "drop"] {
            if let Some(slot) = node.get(verb).filter(|n| !n.is_null()) {
                self.of_type(slot, scope, &Type::Bool, &format!("`{verb}`"));
            }
        }
    }

    fn order(&mut self, node: Option<&Node>, scope: &Scope) -> Vec<SortKey> {
        let mut keys = Vec::new();
        for item in node.map(Node::items).unwrap_or_default() {
            let Some(source) = item.text() else { continue };
            match compile_order(source, scope) {
                Ok(key) => keys.push(key),
                Err(errors) => self.formula_errors(item, source, errors),
            }
        }
        keys
    }

    fn scoring(&mut self, node: &Node, track: &Track, unknown_plugin: bool) -> Scoring {
        let mut scope = track.scope();
        scope.open = unknown_plugin;
        for (name, amount, dim) in track.limits.all() {
            scope.constants.insert(format!("limits.{name}"), (Type::Number { dim, real: false }, Value::Exact(amount)));
        }
        let word = |w: &str| (Type::TEXT, Value::Symbol(w.into()));
        scope.constants.insert("track".into(), word(&track.name));
        self.varies.clear();
        let prepare = self.steps(node.get("prepare"), &mut scope);
        let mut tables = IndexMap::new();
        for entry in node.get("tables").map(Node::entries).unwrap_or_default() {
            let by = texts(&entry.value, "by");
            for name in &by {
                if !scope.columns.contains_key(name) && !scope.unknown.contains(name) && !scope.open {
                    let known: Vec<&str> = scope.columns.keys().map(String::as_str).collect();
                    let items = entry.value.get("by").map(Node::items).unwrap_or_default();
                    let place = items.iter().find(|i| i.text() == Some(name)).map_or(&entry.value.place, |i| &i.place);
                    self.error(
                        "edition/unknown-column",
                        place,
                        format!("there is no column `{name}`"),
                        suggest(name, &known),
                    );
                }
            }
            let doc = self.doc_of(&entry.value, &entry.key_place);
            tables.insert(entry.key.clone(), TableRule { doc, by });
        }
        if tables.is_empty() {
            tables.insert("division".into(), TableRule { doc: Doc::default(), by: vec!["division".into()] });
        }
        let mut views = IndexMap::new();
        let entries = node.get("views").map(Node::entries).unwrap_or_default();
        if entries.is_empty() {
            let help = "add one under `views`, for example `score: { order: [errors asc, correct desc] }`";
            self.error("edition/no-view", &node.place, format!("the track {} has no view", track.name), help);
        }
        for ranking in node.get("rankings").map(Node::entries).unwrap_or_default() {
            for item in ranking.value.get("views").map(Node::items).unwrap_or_default() {
                let name = item.text().unwrap_or_default();
                if !entries.iter().any(|e| e.key == name) {
                    let known: Vec<&str> = entries.iter().map(|e| e.key.as_str()).collect();
                    let message = format!("the track {} has no view `{name}`", track.name);
                    self.error("edition/unknown-view", &item.place, message, suggest(name, &known));
                }
            }
        }
        for entry in entries {
            let mut view_scope = scope.clone();
            view_scope.constants.insert("view".into(), word(&entry.key));
            let varies = self.varies.clone();
            let view = self.view(entry, node, track, view_scope, &tables);
            self.varies = varies;
            views.insert(entry.key.clone(), view);
        }
        Scoring { doc: doc(node), prepare, views, tables }
    }

    fn view(
        &mut self,
        entry: &Entry,
        scoring: &Node,
        track: &Track,
        mut scope: Scope,
        tables: &IndexMap<String, TableRule>,
    ) -> View {
        let node = &entry.value;
        let lets = self.lets(node.get("let"), &mut scope, false);
        let defined = std::mem::take(&mut self.constants);
        let merged = match (scoring.get("runs"), node.get("runs")) {
            (Some(common), Some(own)) => Some(overlay(common, own)),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        };
        let steps = self.steps(merged.as_ref(), &mut scope);
        // Measures fold the runs of one entrant in one group; `group` names the group in formulas.
        let mut run_scope = scope.clone();
        run_scope.columns.insert("group".into(), Type::TEXT);
        run_scope.per = Some(vec!["group".into(), "entrant".into()]);
        let mut measures = Vec::new();
        let mut counts = Vec::new();
        let mut failed: BTreeSet<String> = scope.unknown.clone();
        for (key, list) in [("measures", &mut measures), ("counts", &mut counts)] {
            for e in scoring.get(key).map(Node::entries).unwrap_or_default() {
                match self.formula(&e.value, &run_scope) {
                    Some(formula) => {
                        failed.remove(&e.key);
                        let what = if key == "measures" { "the measure" } else { "the count" };
                        for rule in tables.values().filter(|_| !run_scope.open) {
                            let by: Vec<String> =
                                rule.by.iter().map(String::as_str).chain(["entrant"]).map(str::to_string).collect();
                            self.folded(&e.key, &e.value, &formula, &by, what);
                        }
                        let named = self.named(&e.key, &e.value, formula);
                        list.push(named);
                    }
                    None => {
                        failed.insert(e.key.clone());
                    }
                }
            }
        }
        let mut standing_scope = Scope { constants: scope.constants.clone(), ..Scope::default() };
        for name in ["table", "group", "division", "logic", "entrant", "solver"] {
            standing_scope.columns.insert(name.into(), Type::TEXT);
        }
        for name in ["competing", "disqualified", "experimental"] {
            standing_scope.columns.insert(name.into(), Type::Bool);
        }
        for (name, field) in &track.fields {
            // What is known of an entrant stays known of its standing.
            if field.optional && !RUN_FIELDS.iter().any(|(n, ..)| n == name) {
                standing_scope.columns.insert(name.clone(), field.ty.clone());
            }
        }
        for rule in tables.values() {
            for column in &rule.by {
                if let Some(ty) = scope.columns.get(column) {
                    standing_scope.columns.insert(column.clone(), ty.clone());
                }
            }
        }
        for named in measures.iter().chain(&counts) {
            standing_scope.constants.shift_remove(&named.name);
            standing_scope.columns.insert(named.name.clone(), named.formula.ty().clone());
        }
        for name in &failed {
            standing_scope.columns.shift_remove(name);
            standing_scope.constants.shift_remove(name);
        }
        standing_scope.unknown = failed;
        standing_scope.open = opaque(scoring.get("measures")) || opaque(scoring.get("counts"));
        standing_scope.per = Some(vec!["group".into()]);
        let standings = self.lets(scoring.get("standings"), &mut standing_scope, true);
        let order_node = node.get("order").or_else(|| scoring.get("order"));
        if order_node.is_none() {
            let help = "add `order:` to the view or to the scoring, for example `[errors asc, correct desc]`";
            self.error("edition/no-order", &entry.key_place, format!("the view `{}` has no order", entry.key), help);
        }
        let order = self.order(order_node, &standing_scope);
        for name in ["position", "rank"] {
            standing_scope.columns.insert(name.into(), Type::NUMBER);
        }
        let winner = scoring.get("winner").and_then(|w| {
            let formula = self.of_type(w, &standing_scope, &Type::Bool, "`winner`")?;
            Some(self.named("winner", w, formula))
        });
        standing_scope.columns.insert("winner".into(), Type::Bool);
        self.standing_scopes.push(standing_scope.clone());
        let at = (track.name.clone(), entry.key.clone());
        self.failed.insert(at.clone(), standing_scope.unknown.clone());
        let mut rankings = IndexMap::new();
        for e in scoring.get("rankings").map(Node::entries).unwrap_or_default() {
            let only = texts(&e.value, "views");
            if !only.is_empty() && !only.contains(&entry.key) {
                continue;
            }
            if let Some(ranking) = self.ranking(e, &scope, &standing_scope, tables, &at) {
                rankings.insert(e.key.clone(), ranking);
            }
        }
        View {
            name: entry.key.clone(),
            doc: self.doc_of(node, &entry.key_place),
            order_deviation: order_node.and_then(|n| self.deviation_at(&n.place)),
            defined,
            lets,
            steps,
            measures,
            counts,
            standings,
            order,
            winner,
            constants: scope.constants,
            rankings,
        }
    }

    fn ranking(
        &mut self,
        entry: &Entry,
        runs: &Scope,
        standings: &Scope,
        tables: &IndexMap<String, TableRule>,
        at: &(String, String),
    ) -> Option<Ranking> {
        let node = &entry.value;
        let from = text(node, "from")?;
        let mut scope = match from.as_str() {
            "runs" => runs.clone(),
            table if tables.contains_key(table) => standings.clone(),
            other => {
                let known: Vec<&str> = std::iter::once("runs").chain(tables.keys().map(String::as_str)).collect();
                let place = &node.get("from").map_or(&node.place, |n| &n.place).clone();
                self.error(
                    "edition/unknown-table",
                    place,
                    format!("there is no table `{other}`"),
                    suggest(other, &known),
                );
                return None;
            }
        };
        scope.per = None;
        let steps = self.steps(node.get("steps"), &mut scope);
        let order = self.order(node.get("order"), &scope);
        for name in ["position", "rank"] {
            scope.columns.insert(name.into(), Type::NUMBER);
        }
        let mut values = Vec::new();
        for e in node.get("values").map(Node::entries).unwrap_or_default() {
            match self.formula(&e.value, &scope) {
                Some(formula) => {
                    let named = self.named(&e.key, &e.value, formula);
                    values.push(named);
                }
                None => {
                    self.failed.entry(at.clone()).or_default().insert(e.key.clone());
                }
            }
        }
        let winner = node.get("winner").and_then(|w| {
            let formula = self.of_type(w, &scope, &Type::Bool, "`winner`")?;
            Some(self.named("winner", w, formula))
        });
        Some(Ranking {
            name: entry.key.clone(),
            doc: self.doc_of(node, &entry.key_place),
            from,
            steps,
            order,
            order_deviation: node.get("order").and_then(|n| self.deviation_at(&n.place)),
            values,
            winner,
        })
    }

    fn recognition(&mut self, entry: &Entry, tracks: &IndexMap<String, Track>) -> Option<Recognition> {
        let node = &entry.value;
        let name = text(node, "track")?;
        let Some(scoring) = tracks.get(&name).and_then(|t| t.scoring.as_ref()) else {
            let known: Vec<&str> = tracks.keys().map(String::as_str).collect();
            let place = &node.get("track").map_or(&node.place, |n| &n.place).clone();
            self.error(
                "edition/unknown-track",
                place,
                format!("there is no track `{name}` with a scoring"),
                suggest(&name, &known),
            );
            return None;
        };
        let view = text(node, "view");
        if let Some(view) = &view
            && !scoring.views.contains_key(view)
        {
            let known: Vec<&str> = scoring.views.keys().map(String::as_str).collect();
            let place = &node.get("view").map_or(&node.place, |n| &n.place).clone();
            self.error(
                "edition/unknown-view",
                place,
                format!("the track {name} has no view `{view}`"),
                suggest(view, &known),
            );
            return None;
        }
        let from = text(node, "from")?;
        let mut filter = IndexMap::new();
        let mut found = false;
        for v in scoring.views.values().filter(|v| view.as_ref().is_none_or(|name| *name == v.name)) {
            let mut scope = Scope { constants: v.constants.clone(), ..Scope::default() };
            let mut add = |name: &str, ty: Type| {
                scope.constants.shift_remove(name);
                scope.columns.insert(name.into(), ty);
            };
            for name in ["table", "division", "logic", "entrant", "solver"] {
                add(name, Type::TEXT);
            }
            for name in ["competing", "winner", "experimental", "disqualified"] {
                add(name, Type::Bool);
            }
            for name in ["position", "rank"] {
                add(name, Type::NUMBER);
            }
            if let Some(ranking) = v.rankings.get(&from) {
                ranking.values.iter().for_each(|l| add(&l.name, l.formula.ty().clone()));
            } else if scoring.tables.contains_key(&from) {
                v.measures
                    .iter()
                    .chain(&v.counts)
                    .chain(&v.standings)
                    .for_each(|l| add(&l.name, l.formula.ty().clone()));
                for (name, field) in &tracks[&name].fields {
                    if field.optional && !RUN_FIELDS.iter().any(|(n, ..)| n == name) {
                        add(name, field.ty.clone());
                    }
                }
            } else {
                continue;
            }
            found = true;
            scope.unknown = self.failed.get(&(name.clone(), v.name.clone())).cloned().unwrap_or_default();
            scope.unknown.retain(|n| !scope.columns.contains_key(n));
            if let Some(formula) = node.get("where").and_then(|w| self.of_type(w, &scope, &Type::Bool, "`where`")) {
                filter.insert(v.name.clone(), formula);
            }
        }
        if !found {
            let mut known: Vec<&str> = scoring.tables.keys().map(String::as_str).collect();
            known.extend(scoring.views.values().flat_map(|v| v.rankings.keys()).map(String::as_str));
            known.sort_unstable();
            known.dedup();
            let place = &node.get("from").map_or(&node.place, |n| &n.place).clone();
            self.error("edition/unknown-table", place, format!("there is no table `{from}`"), suggest(&from, &known));
            return None;
        }
        Some(Recognition { name: entry.key.clone(), doc: doc(node), track: name, from, view, filter })
    }

    fn recognise(node: Option<&Node>) -> Recognise {
        let Some(node) = node else { return Recognise::default() };
        Recognise {
            columns: texts(node, "columns"),
            without: texts(node, "without"),
            file: text(node, "file").and_then(|t| Regex::new(&t).ok()),
            fields: text(node, "fields").and_then(|t| t.parse().ok()),
        }
    }

    fn form(&mut self, entry: &Entry, tracks: &IndexMap<String, Track>, entrants: &Entrants) -> Option<Form> {
        let node = &entry.value;
        let track =
            text(node, "track").or_else(|| (tracks.len() == 1).then(|| tracks.keys().next().cloned()).flatten());
        let Some(found) = track.as_ref().and_then(|t| tracks.get(t)) else {
            let known: Vec<&str> = tracks.keys().map(String::as_str).collect();
            let name = track.clone().unwrap_or_default();
            let place = node.get("track").map_or(&entry.key_place, |n| &n.place).clone();
            self.error(
                "edition/unknown-track",
                &place,
                format!("results need a track; there is no track `{name}`"),
                suggest(&name, &known),
            );
            return None;
        };
        let mut columns: IndexMap<String, Type> = found.fields.iter().map(|(n, f)| (n.clone(), f.ty.clone())).collect();
        columns.extend(entrant_scope(entrants).columns);
        self.form_with(entry, &columns, track)
    }

    fn form_with(&mut self, entry: &Entry, known: &IndexMap<String, Type>, track: Option<String>) -> Option<Form> {
        let node = &entry.value;
        let mut scope = Scope::default();
        let columns = self.columns(node.get("columns"), known, &mut scope);
        let mut joins = Vec::new();
        for e in node.get("join").map(Node::entries).unwrap_or_default() {
            let on = text_map(&e.value, "on").into_iter().collect();
            joins.push(Join {
                file: text(&e.value, "file").map_or(JoinFile::Given, JoinFile::Beside),
                header: header(&e.value),
                delimiter: b',',
                recognise: Self::recognise(e.value.get("recognise")),
                on,
                columns: self.columns(e.value.get("columns"), known, &mut scope),
                optional: flag(&e.value, "optional"),
            });
            if flag(&e.value, "optional") {
                for column in e.value.get("columns").map(Node::entries).unwrap_or_default() {
                    if column.value.get("empty").is_none_or(Node::is_null) && !column.value.is_null() {
                        let message =
                            format!("`{}` does not say what a row without one in the joined file has", column.key);
                        let help = "add `empty:` to the column, as for an empty cell";
                        self.error("edition/no-empty", &column.key_place, message, help);
                    }
                }
            }
        }
        let mut scope_after = scope.clone();
        let computed = self.lets(node.get("computed"), &mut scope_after, true);
        for named in &computed {
            if let Some(expected) = known.get(&named.name)
                && !same_kind(expected, named.formula.ty())
            {
                let message = format!("`{}` must be {expected}, but this is {}", named.name, named.formula.ty());
                self.error("edition/formula-type", &node.place, message, "correct the formula");
            }
        }
        let names: Vec<&String> = scope_after.columns.keys().collect();
        let mut key = texts(node, "key");
        if key.is_empty() && names.iter().any(|n| *n == "benchmark") {
            key = vec!["entrant".into(), "benchmark".into()];
        }
        for name in &key {
            if !scope.columns.contains_key(name) && !scope.unknown.contains(name) {
                let known: Vec<&str> = scope.columns.keys().map(String::as_str).collect();
                let place = node.get("key").map_or(&entry.key_place, |n| &n.place).clone();
                self.error(
                    "edition/unknown-column",
                    &place,
                    format!("the key has no column `{name}`"),
                    suggest(name, &known),
                );
            }
        }
        let duplicates = match node.get("duplicates") {
            None => Duplicates::Error,
            Some(n) => match n.text() {
                Some("identical") => Duplicates::Identical,
                Some("first") => Duplicates::First,
                Some("last") => Duplicates::Last,
                Some(_) => Duplicates::Error,
                None => Duplicates::Best { column: text(n, "best").unwrap_or_default(), greatest: !flag(n, "least") },
            },
        };
        let delimiter = match text(node, "delimiter").as_deref() {
            None => b',',
            Some("tab" | "\t") => b'\t',
            Some(t) if t.len() == 1 => t.as_bytes()[0],
            Some(t) => {
                let place = &node.get("delimiter").map_or(&node.place, |n| &n.place).clone();
                self.error(
                    "edition/value",
                    place,
                    format!("`{t}` is not one character"),
                    "write one character, or `tab`",
                );
                b','
            }
        };
        let mapping = Mapping {
            name: entry.key.clone(),
            header: header(node),
            delimiter,
            recognise: Self::recognise(node.get("recognise")),
            columns,
            joins,
            key,
            duplicates,
        };
        // What a part of the form has been blamed for is not said again of the whole.
        if let Some(flaw) = mapping.flaw()
            && !self.out.has_error_within(&node.place)
        {
            let message = format!("the form `{}` contradicts itself: {flaw}", entry.key);
            self.error("edition/form", &entry.key_place, message, "correct the column, or drop it");
        }
        let recognise = node.get("recognise");
        let says = |key: &str| recognise.and_then(|n| n.get(key)).is_some_and(|n| !n.items().is_empty());
        if recognise.is_some() && !["columns", "without", "file", "fields"].into_iter().any(says) {
            let message = format!("the form `{}` recognises every file", entry.key);
            self.error("edition/form", &entry.key_place, message, "name columns that its header line has");
        }
        Some(Form { name: entry.key.clone(), says: text(node, "says"), track, mapping, computed })
    }

    fn columns(&mut self, node: Option<&Node>, known: &IndexMap<String, Type>, scope: &mut Scope) -> Vec<ColumnRule> {
        let mut rules = Vec::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let value = &entry.value;
            let declared = text(value, "type");
            let ty = match (&declared, known.get(&entry.key)) {
                (Some(name), None) => field_type(name, &[]),
                (Some(name), Some(ty)) => {
                    let said = field_type(name, &[]);
                    if !same_kind(ty, &said) {
                        let message = format!("`{}` is {ty} everywhere else, but is declared {said} here", entry.key);
                        self.error("edition/type", &value.place, message, "drop `type:`");
                    }
                    ty.clone()
                }
                (None, Some(ty)) => ty.clone(),
                // A column that only `computed` or `join` uses.
                (None, None) => Type::TEXT,
            };
            let unit = text(value, "unit");
            let kind = self.raw_kind(value, &ty, unit.as_deref());
            let source = if flag(value, "file-name") {
                RawSource::FileName
            } else if let Some(constant) = text(value, "value") {
                RawSource::Constant(constant)
            } else if let Some(from) = value.text().map(str::to_string).or_else(|| text(value, "from")) {
                RawSource::Column(from)
            } else {
                let help = "give it `from: COLUMN`, `value: TEXT` or `file-name: true`";
                self.error(
                    "edition/column",
                    &entry.key_place,
                    format!("the column `{}` comes from nowhere", entry.key),
                    help,
                );
                scope.unknown.insert(entry.key.clone());
                continue;
            };
            let words = value.get("words").map(|_| text_map(value, "words"));
            if let (Type::Symbol(Some(vocabulary)), Some(words)) = (&ty, &words) {
                for (raw, word) in words {
                    if !vocabulary.contains(word) {
                        let place =
                            value.get("words").and_then(|w| w.get(raw)).map_or(&value.place, |n| &n.place).clone();
                        let names: Vec<&str> = vocabulary.iter().map(String::as_str).collect();
                        let message = format!("`{}` cannot be `{word}`", entry.key);
                        self.error("edition/unknown-word", &place, message, suggest(word, &names));
                    }
                }
            }
            if let Type::Symbol(Some(vocabulary)) = &ty {
                for key in ["otherwise", "empty"] {
                    if let Some(slot) = value.get(key)
                        && let Some(word) = slot.text()
                        && !vocabulary.iter().any(|w| w == word)
                    {
                        let names: Vec<&str> = vocabulary.iter().map(String::as_str).collect();
                        let message = format!("`{}` cannot be `{word}`", entry.key);
                        self.error("edition/unknown-word", &slot.place, message, suggest(word, &names));
                    }
                }
            }
            scope.columns.insert(entry.key.clone(), ty);
            rules.push(ColumnRule {
                name: entry.key.clone(),
                source,
                part: text(value, "part").and_then(|t| Regex::new(&t).ok()),
                kind,
                words,
                otherwise: text(value, "otherwise"),
                empty: value.get("empty").and_then(Node::text).map(str::to_string),
            });
        }
        rules
    }

    fn raw_kind(&mut self, node: &Node, ty: &Type, unit: Option<&str>) -> RawKind {
        let size = unit.and_then(|u| match parse_quantity(&format!("1 {u}")) {
            Ok((size, dim)) => Some((size.as_i64()?, dim)),
            Err(e) => {
                let place = &node.get("unit").map_or(&node.place, |n| &n.place).clone();
                self.error(
                    "edition/unit",
                    place,
                    format!("`1 {u}` {e}"),
                    "units of time: ns, us, ms, s, min, h, d; of memory: B, kB, MB, GB, KiB, MiB, GiB",
                );
                None
            }
        });
        let wrong = matches!((ty, size), (Type::Number { dim, .. }, Some((_, unit_dim))) if *dim != unit_dim);
        if wrong || (size.is_some() && !ty.is_number()) {
            let place = &node.get("unit").map_or(&node.place, |n| &n.place).clone();
            self.error(
                "edition/unit",
                place,
                format!("the column is {ty}, which has another unit"),
                "correct the unit or drop it",
            );
        }
        match ty {
            Type::Bool => RawKind::Bool,
            Type::Symbol(Some(words)) => RawKind::Words(words.to_vec()),
            Type::Symbol(None) => RawKind::Text,
            Type::Number { dim, .. } if *dim == Dim::TIME => {
                RawKind::Time { unit_ns: size.map_or(1_000_000_000, |(s, _)| s), negative: false }
            }
            Type::Number { dim, .. } if *dim == Dim::MEMORY => {
                RawKind::Memory { unit_bytes: size.map_or(1, |(s, _)| s) }
            }
            Type::Number { .. } => RawKind::Number,
        }
    }

    fn published(&mut self, entry: &Entry) -> PublishedForm {
        let node = &entry.value;
        let mut figures = Vec::new();
        for e in node.get("columns").map(Node::entries).unwrap_or_default() {
            let value = &e.value;
            let source = match (text(value, "value"), value.text().map(str::to_string).or_else(|| text(value, "from")))
            {
                (Some(constant), _) => FigureSource::Constant(constant),
                (None, Some(column)) => FigureSource::Column(column),
                (None, None) => FigureSource::Column(e.key.clone()),
            };
            let tolerance = match text(value, "tolerance") {
                None => Exact::ZERO,
                Some(t) => match parse_quantity(&t) {
                    Ok((amount, dim)) => amount.div(&dim.printed_unit()).unwrap_or(Exact::ZERO),
                    Err(problem) => {
                        let place = &value.get("tolerance").map_or(&value.place, |n| &n.place).clone();
                        self.error(
                            "edition/value",
                            place,
                            format!("`{t}` {problem}"),
                            "write a number or a time, such as `0.001 s`",
                        );
                        Exact::ZERO
                    }
                },
            };
            if let Some(node) = value.get("is")
                && let Some(source) = node.text()
            {
                // Standings of different tracks have different columns; one that the formula fits is enough.
                let tries: Vec<_> =
                    self.standing_scopes.iter().map(|scope| compile(source, scope).map(|_| ())).collect();
                // A formula that only depends on what has a mistake of its own has no mistakes in it.
                if !tries.is_empty() && tries.iter().all(|t| t.as_ref().is_err_and(|e| !e.is_empty())) {
                    let errors = tries.into_iter().find_map(Result::err).unwrap_or_default();
                    self.formula_errors(node, source, errors);
                }
            }
            figures.push(Figure {
                name: e.key.clone(),
                source,
                words: text_map(value, "words"),
                otherwise: text(value, "otherwise"),
                part: text(value, "part").and_then(|t| Regex::new(&t).ok()),
                is: text(value, "is"),
                tolerance,
                empty: value.get("empty").and_then(Node::text).map(str::to_string),
            });
        }
        let key = texts(node, "key");
        for name in &key {
            if !figures.iter().any(|f| f.name == *name) {
                let known: Vec<&str> = figures.iter().map(|f| f.name.as_str()).collect();
                let place = node.get("key").map_or(&node.place, |n| &n.place).clone();
                self.error(
                    "edition/unknown-column",
                    &place,
                    format!("the key has no column `{name}`"),
                    suggest(name, &known),
                );
            }
        }
        let recognise = Self::recognise(node.get("recognise"));
        PublishedForm {
            name: entry.key.clone(),
            columns: recognise.columns,
            without: recognise.without,
            file: recognise.file,
            filter: lists(node.get("where")),
            figures,
            key,
        }
    }

    fn ledger(&mut self, entry: &Entry) -> LedgerEntry {
        let node = &entry.value;
        let mut scope = Scope::default();
        scope.columns.insert("published".into(), Type::NUMBER);
        scope.columns.insert("computed".into(), Type::NUMBER);
        let holds = node.get("holds").and_then(|n| self.of_type(n, &scope, &Type::Bool, "`holds`"));
        LedgerEntry {
            name: entry.key.clone(),
            cause: text(node, "cause").unwrap_or_default(),
            reference: text(node, "reference").unwrap_or_default(),
            cite: cites(node),
            filter: lists(node.get("where")),
            holds,
        }
    }
}

/// The paths of what a deviation lays on the edition: of what it changes, or of what it removes.
fn paths(node: Option<&Node>, removed: bool) -> Vec<String> {
    fn walk(node: &Node, path: &mut Vec<String>, removed: bool, out: &mut Vec<String>) {
        let leaf = node.get("is").is_some() || !matches!(node.kind, Kind::Map(_));
        if leaf {
            if node.is_null() == removed {
                out.push(path.join("."));
            }
            return;
        }
        for entry in node.entries() {
            if matches!(entry.key.as_str(), "cite" | "says" | "title" | "before") {
                continue;
            }
            path.push(entry.key.clone());
            walk(&entry.value, path, removed, out);
            path.pop();
        }
    }
    let mut out = Vec::new();
    if let Some(node) = node {
        walk(node, &mut Vec::new(), removed, &mut out);
    }
    out
}

/// Whether something stands where a mapping with names belongs: which names it was meant to define is not known.
fn opaque(node: Option<&Node>) -> bool {
    node.is_some_and(|n| !n.is_null() && !matches!(n.kind, Kind::Map(_)))
}

fn lists(node: Option<&Node>) -> IndexMap<String, Vec<String>> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries
        .iter()
        .map(|e| (e.key.clone(), e.value.items().iter().filter_map(Node::text).map(str::to_string).collect()))
        .collect()
}

fn header(node: &Node) -> Header {
    match node.get("header") {
        Some(_) => Header::Fixed(texts(node, "header")),
        None => Header::Named,
    }
}

/// Whether two types hold the same kind of value; vocabularies are not compared.
fn same_kind(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Symbol(_), Type::Symbol(_)) => true,
        (Type::Number { dim: x, .. }, Type::Number { dim: y, .. }) => x == y,
        _ => a == b,
    }
}

/// The columns of the entrants' list.
pub(crate) fn entrant_scope(entrants: &Entrants) -> Scope {
    let mut scope = Scope::default();
    scope.columns.insert("entrant".into(), Type::TEXT);
    scope.columns.insert("solver".into(), Type::TEXT);
    scope.columns.insert("competing".into(), Type::Bool);
    for (name, field) in &entrants.fields {
        scope.columns.insert(name.clone(), field.ty.clone());
    }
    scope
}

fn limits_of(node: Option<&Node>) -> Limits {
    let Some(node) = node else { return Limits::default() };
    let mut amounts = IndexMap::new();
    for (name, dim) in Limits::NAMES {
        if dim != Dim::NONE
            && let Some(amount) = text(node, name).and_then(|t| parse_quantity(&t).ok())
        {
            amounts.insert(name.to_string(), amount);
        }
    }
    let count = |name: &str| text(node, name).and_then(|t| t.parse().ok());
    Limits { doc: doc(node), amounts, cores: count("cores"), processes: count("processes") }
}
