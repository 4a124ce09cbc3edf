//! From the tree of an entrants file to the list. Everything that is wrong is reported, so nothing here ends at the first
//! error.

use agon_edition::diag::{Diagnostic, Diagnostics, closest};
use agon_edition::node::{Kind, Node, Place};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::{Configuration, Participation, Scope, Solver, Tool};

/// What an entrant's columns are called when they have keys of their own in the file.
const RESERVED: [&str; 5] = ["entrant", "solver", "competing", "team", "seed"];

const FILE_KEYS: &[&str] = &["entrants", "tools"];
const SOLVER_KEYS: &[&str] = &[
    "name",
    "team",
    "description",
    "competing",
    "seed",
    "version",
    "command",
    "readable",
    "configurations",
    "tracks",
    "divisions",
    "logics",
    "fields",
];
const TOOL_KEYS: &[&str] = &["name", "command", "readable"];
const CONFIGURATION_KEYS: &[&str] = &["description", "command", "arguments", "competing", "fields"];
const TRACK_KEYS: &[&str] = &["command", "configuration", "divisions", "logics"];

pub(super) fn suggest(name: &str, known: &[&str], these_are: &str) -> String {
    match closest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has none".into(),
        None => format!("{these_are} {}", known.join(", ")),
    }
}

fn error(out: &mut Diagnostics, code: &'static str, place: &Place, message: String, help: &str) {
    out.push(Diagnostic::error(code, place, message).help(help));
}

/// The first character of a block says where it is.
fn start_of(place: &Place) -> Place {
    let mut place = place.clone();
    place.span.end = place.span.end.min(place.span.start + 1);
    place
}

/// Checks that a node is a mapping with known keys.
fn mapping(node: &Node, what: &str, keys: &[&str], out: &mut Diagnostics) -> bool {
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!("{what} must be a mapping, but this is {}", node.what());
        error(out, "entrants/type", &node.place, message, &format!("its keys are {}", keys.join(", ")));
        return false;
    }
    for entry in node.entries() {
        if !keys.contains(&entry.key.as_str()) {
            let message = format!("{what} has no key `{}`", entry.key);
            let help = match closest(&entry.key, keys.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if keys == SOLVER_KEYS => {
                    format!("known keys: {}; what the edition asks for goes under `fields:`", keys.join(", "))
                }
                None => format!("known keys: {}", keys.join(", ")),
            };
            error(out, "entrants/unknown-key", &entry.key_place, message, &help);
        }
    }
    true
}

/// A text that is not empty.
fn text(node: &Node, what: &str, out: &mut Diagnostics) -> Option<String> {
    let value = match node.text() {
        Some(text) if !node.is_null() => text,
        _ => {
            let message = format!("{what} must be a text, but this is {}", node.what());
            error(out, "entrants/type", &node.place, message, "write a text; quotes make a text of anything");
            return None;
        }
    };
    if value.trim().is_empty() {
        error(out, "entrants/empty", &node.place, format!("{what} is empty"), "write a text, or leave the key out");
        return None;
    }
    Some(value.to_string())
}

/// A text that names something: on one line, without blanks at its ends.
fn check_name(name: &str, place: &Place, what: &str, out: &mut Diagnostics) {
    if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        let message = format!("{what} is empty, begins or ends with a blank, or has a control character");
        error(out, "entrants/name", place, message, "write a name on one line");
    }
}

fn flag(node: &Node, what: &str, out: &mut Diagnostics) -> Option<bool> {
    match &node.kind {
        Kind::Scalar { text, plain: true } if text == "true" => Some(true),
        Kind::Scalar { text, plain: true } if text == "false" => Some(false),
        _ => {
            let shown = node.text().map_or_else(|| node.what().to_string(), |t| format!("`{t}`"));
            let help = match node.text().map(str::to_lowercase).as_deref() {
                Some("yes" | "on" | "y" | "1" | "true") => "write `true`",
                Some("no" | "off" | "n" | "0" | "false") => "write `false`",
                _ => "write `true` or `false`",
            };
            error(out, "entrants/value", &node.place, format!("{what} must be true or false, not {shown}"), help);
            None
        }
    }
}

/// A list of the parts of a command line.
fn arguments(node: &Node, what: &str, out: &mut Diagnostics) -> Option<Vec<String>> {
    let Kind::List(items) = &node.kind else {
        let message = format!("{what} must be a list, but this is {}", node.what());
        let help = match node.text() {
            Some(t) if !node.is_null() => {
                let words: Vec<&str> = t.split_whitespace().collect();
                format!("no shell reads it: write its words as a list, such as [{}]", words.join(", "))
            }
            _ => "write the program and its arguments as a list, such as [./solver, --smt2]".into(),
        };
        error(out, "entrants/command", &node.place, message, &help);
        return None;
    };
    let mut list = Vec::new();
    let before = out.counts().0;
    for item in items {
        match item.text() {
            Some(text) if !item.is_null() && !text.contains('\0') => list.push(text.to_string()),
            // An empty argument in quotes is meant.
            Some("") if !item.is_null() => list.push(String::new()),
            _ => {
                let message = format!("{what} has a part that is {}", item.what());
                error(
                    out,
                    "entrants/command",
                    &item.place,
                    message,
                    "each part is a text; quotes make a text of anything",
                );
            }
        }
    }
    (out.counts().0 == before).then_some(list)
}

/// A list of names under a key; `None` if there is no such key.
fn names(node: &Node, key: &str, out: &mut Diagnostics) -> Option<Vec<String>> {
    let found = node.get(key).filter(|n| !n.is_null())?;
    let Kind::List(items) = &found.kind else {
        let message = format!("`{key}` must be a list, but this is {}", found.what());
        error(out, "entrants/type", &found.place, message, &format!("write `{key}: [ONE, OTHER]`"));
        return None;
    };
    Some(items.iter().filter_map(|item| text(item, &format!("a part of `{key}`"), out)).collect())
}

fn scope(node: &Node, out: &mut Diagnostics) -> Scope {
    Scope { divisions: names(node, "divisions", out), logics: names(node, "logics", out) }
}

/// The tools that check answers, by role.
pub(super) fn tools(tree: &Node, out: &mut Diagnostics) -> Vec<Tool> {
    let mut list: Vec<Tool> = Vec::new();
    let Some(node) = tree.get("tools").filter(|n| !n.is_null()) else { return list };
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!("`tools` must be a mapping, but this is {}", node.what());
        error(out, "entrants/type", &node.place, message, "write `ROLE: [{ name: NAME, command: [program] }]`");
        return list;
    }
    for entry in node.entries() {
        check_name(&entry.key, &entry.key_place, "the role of a tool", out);
        let one = std::slice::from_ref(&entry.value);
        let items = if matches!(entry.value.kind, Kind::List(_)) { entry.value.items() } else { one };
        for item in items {
            if !mapping(item, "a tool", TOOL_KEYS, out) {
                continue;
            }
            let Some(found) = item.get("command") else {
                let message = "a tool has no `command`".to_string();
                error(
                    out,
                    "entrants/missing-key",
                    &start_of(&item.place),
                    message,
                    "add `command: [./program, argument]`",
                );
                continue;
            };
            let Some(command) = command(found, "the command", out) else { continue };
            let name = item.get("name").and_then(|n| text(n, "`name`", out));
            let name = name.unwrap_or_else(|| command[0].rsplit('/').next().unwrap_or_default().to_string());
            if list.iter().any(|t| t.role == entry.key && t.name == name) {
                let message = format!("there are two tools {name} for the role {}", entry.key);
                error(out, "entrants/duplicate-name", &item.place, message, "give each a `name` of its own");
            }
            let readable = names(item, "readable", out).unwrap_or_default();
            list.push(Tool { role: entry.key.clone(), name, command, readable });
        }
    }
    list
}

/// A command line: at least a program.
fn command(node: &Node, what: &str, out: &mut Diagnostics) -> Option<Vec<String>> {
    let list = arguments(node, what, out)?;
    match list.first() {
        Some(program) if !program.trim().is_empty() => Some(list),
        _ => {
            let message = format!("{what} has no program");
            error(out, "entrants/command", &node.place, message, "write the program first, such as [./solver, --smt2]");
            None
        }
    }
}

fn fields(node: &Node, places: &mut Vec<(String, Place)>, out: &mut Diagnostics) -> IndexMap<String, String> {
    let mut fields = IndexMap::new();
    if node.is_null() {
        return fields;
    }
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!("`fields` must be a mapping, but this is {}", node.what());
        error(out, "entrants/type", &node.place, message, "write `fields: { organiser: true }`");
        return fields;
    }
    for entry in node.entries() {
        if RESERVED.contains(&entry.key.as_str()) {
            let message = format!("`{}` is no field", entry.key);
            let help = match entry.key.as_str() {
                "entrant" | "solver" => "the solver's `name` gives it",
                _ => "it has a key of its own, beside `fields`",
            };
            error(out, "entrants/reserved-field", &entry.key_place, message, help);
        } else if let Some(value) = entry.value.text().filter(|_| !entry.value.is_null()) {
            fields.insert(entry.key.clone(), value.to_string());
            places.push((entry.key.clone(), entry.key_place.clone()));
        } else {
            let message = format!("the field `{}` must be one value, but this is {}", entry.key, entry.value.what());
            error(out, "entrants/type", &entry.value.place, message, "write a text, a number, `true` or `false`");
        }
    }
    fields
}

pub(super) fn solvers(tree: &Node, out: &mut Diagnostics) -> Vec<Solver> {
    if !mapping(tree, "an entrants file", FILE_KEYS, out) {
        return Vec::new();
    }
    let Some(list) = tree.get("entrants") else {
        let message = "the file has no `entrants`".to_string();
        error(out, "entrants/missing-key", &start_of(&tree.place), message, "begin with `entrants:`");
        return Vec::new();
    };
    let Kind::List(items) = &list.kind else {
        let message = format!("`entrants` must be a list, but this is {}", list.what());
        error(out, "entrants/type", &list.place, message, "begin each entrant with `- name: NAME`");
        return Vec::new();
    };
    if items.is_empty() {
        error(out, "entrants/empty", &list.place, "the list has no entrant".into(), "begin with `- name: NAME`");
    }
    let mut solvers: Vec<Solver> = Vec::new();
    let mut seen: FxHashMap<String, Place> = FxHashMap::default();
    for item in items {
        let Some(solver) = solver(item, out) else { continue };
        // A solver without configurations has its own name as id.
        let ids = solver.entrants(None).into_iter().map(|e| e.id).chain([solver.name.clone()]);
        let mut ids: Vec<String> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            if let Some(first) = seen.get(&id) {
                let (line, _) = first.source.line_column(first.span.start);
                let message = format!("there are two entrants with the name `{id}`");
                let help = format!("the other one is on line {line}; give each a name of its own");
                error(out, "entrants/duplicate-name", &solver.place, message, &help);
            } else {
                seen.insert(id, solver.place.clone());
            }
        }
        solvers.push(solver);
    }
    solvers
}

fn solver(node: &Node, out: &mut Diagnostics) -> Option<Solver> {
    if !mapping(node, "an entrant", SOLVER_KEYS, out) {
        return None;
    }
    let Some(name_node) = node.get("name") else {
        let message = "an entrant has no `name`".to_string();
        error(out, "entrants/missing-key", &start_of(&node.place), message, "add `name: NAME`");
        return None;
    };
    let name = text(name_node, "`name`", out)?;
    check_name(&name, &name_node.place, "the name", out);
    let words = |key: &str, out: &mut Diagnostics| {
        node.get(key).filter(|n| !n.is_null()).and_then(|n| text(n, &format!("`{key}`"), out))
    };
    let mut solver = Solver {
        name,
        team: words("team", out),
        description: words("description", out),
        competing: node.get("competing").and_then(|n| flag(n, "`competing`", out)).unwrap_or(true),
        seed: node.get("seed").filter(|n| !n.is_null()).and_then(|n| seed(n, out)),
        version: node.get("version").filter(|n| !n.is_null()).and_then(|n| command(n, "the version command", out)),
        fields: IndexMap::new(),
        command: node.get("command").and_then(|n| command(n, "the command", out)),
        readable: names(node, "readable", out).unwrap_or_default(),
        configurations: IndexMap::new(),
        tracks: None,
        scope: scope(node, out),
        place: name_node.place.clone(),
        field_places: Vec::new(),
    };
    if let Some(found) = node.get("fields") {
        solver.fields = fields(found, &mut solver.field_places, out);
    }
    if let Some(found) = node.get("configurations").filter(|n| !n.is_null()) {
        solver.configurations = configurations(found, &mut solver.field_places, out);
    }
    if let Some(found) = node.get("tracks") {
        solver.tracks = tracks(found, &solver.configurations, out);
    }
    check_commands(&solver, node, out);
    Some(solver)
}

fn seed(node: &Node, out: &mut Diagnostics) -> Option<i64> {
    let value = node.text().and_then(|t| t.parse::<i64>().ok()).filter(|n| *n >= 0);
    if value.is_none() {
        let shown = node.text().map_or_else(|| node.what().to_string(), |t| format!("`{t}`"));
        let message = format!("the seed must be a whole number that is not negative, not {shown}");
        error(out, "entrants/value", &node.place, message, "write a number such as 4711");
    }
    value
}

fn configurations(
    node: &Node,
    places: &mut Vec<(String, Place)>,
    out: &mut Diagnostics,
) -> IndexMap<String, Configuration> {
    let mut list = IndexMap::new();
    if !matches!(node.kind, Kind::Map(_)) {
        let message = format!("`configurations` must be a mapping, but this is {}", node.what());
        error(out, "entrants/type", &node.place, message, "write `NAME: { arguments: [--fast] }` for each");
        return list;
    }
    for entry in node.entries() {
        check_name(&entry.key, &entry.key_place, "the name of a configuration", out);
        let mut configuration = Configuration::default();
        let found = &entry.value;
        if !found.is_null() && mapping(found, "a configuration", CONFIGURATION_KEYS, out) {
            configuration.description =
                found.get("description").filter(|n| !n.is_null()).and_then(|n| text(n, "`description`", out));
            configuration.command = found.get("command").and_then(|n| command(n, "the command", out));
            configuration.arguments =
                found.get("arguments").and_then(|n| arguments(n, "`arguments`", out)).unwrap_or_default();
            configuration.competing = found.get("competing").and_then(|n| flag(n, "`competing`", out));
            if let Some(found) = found.get("fields") {
                configuration.fields = fields(found, places, out);
            }
        }
        list.insert(entry.key.clone(), configuration);
    }
    list
}

fn tracks(
    node: &Node,
    configurations: &IndexMap<String, Configuration>,
    out: &mut Diagnostics,
) -> Option<IndexMap<String, Participation>> {
    let mut list = IndexMap::new();
    match &node.kind {
        // Names alone.
        Kind::List(items) => {
            for item in items {
                let Some(name) = text(item, "a track", out) else { continue };
                let part = Participation {
                    command: None,
                    configurations: Vec::new(),
                    scope: Scope::default(),
                    place: item.place.clone(),
                };
                if list.insert(name.clone(), part).is_some() {
                    let message = format!("the track `{name}` stands twice in the list");
                    error(out, "entrants/duplicate-name", &item.place, message, "keep one of the two");
                }
            }
        }
        Kind::Map(entries) => {
            for entry in entries {
                let mut part = Participation {
                    command: None,
                    configurations: Vec::new(),
                    scope: Scope::default(),
                    place: entry.key_place.clone(),
                };
                let found = &entry.value;
                if !found.is_null() && mapping(found, "an entrant's track", TRACK_KEYS, out) {
                    part.command = found.get("command").and_then(|n| command(n, "the command", out));
                    part.scope = scope(found, out);
                    for name in found.get("configuration").map(Node::items).unwrap_or_default() {
                        let Some(text) = text(name, "a configuration", out) else { continue };
                        if !configurations.contains_key(&text) {
                            let known: Vec<&str> = configurations.keys().map(String::as_str).collect();
                            let message = format!("the entrant has no configuration `{text}`");
                            let help = suggest(&text, &known, "its configurations are");
                            error(out, "entrants/unknown-configuration", &name.place, message, &help);
                        }
                        part.configurations.push(text);
                    }
                }
                list.insert(entry.key.clone(), part);
            }
        }
        _ => {
            let message = format!("`tracks` must be a list or a mapping, but this is {}", node.what());
            error(
                out,
                "entrants/type",
                &node.place,
                message,
                "write [single-query], or leave it out to take part in all",
            );
            return None;
        }
    }
    if list.is_empty() && out.counts().0 == 0 {
        let help = "name a track, or leave the key out to take part in all";
        error(out, "entrants/empty", &node.place, "`tracks` names no track".into(), help);
    }
    Some(list)
}

/// Every entrant has a command in each of its tracks, and no two configurations have the same.
fn check_commands(solver: &Solver, node: &Node, out: &mut Diagnostics) {
    let wrong = ["command", "configurations", "tracks"].iter().filter_map(|key| node.get(key));
    // What was refused above has no command to check.
    if wrong.into_iter().any(|n| {
        let inside = |d: &Diagnostic| n.place.span.start <= d.span.start && d.span.start <= n.place.span.end;
        out.iter().any(inside)
    }) {
        return;
    }
    let tracks: Vec<Option<&str>> = match &solver.tracks {
        Some(tracks) => tracks.keys().map(|name| Some(name.as_str())).collect(),
        None => vec![None],
    };
    for track in tracks {
        let place = match track.and_then(|t| solver.tracks.as_ref()?.get(t)) {
            Some(part) => &part.place,
            None => &solver.place,
        };
        let within = track.map_or(String::new(), |t| format!(" in the track {t}"));
        let entrants = solver.entrants(track);
        let mut commands: FxHashMap<&[String], &str> = FxHashMap::default();
        for entrant in &entrants {
            let own = entrant.configuration.and_then(|c| solver.configurations.get(c));
            let of_track = track.and_then(|t| solver.tracks.as_ref()?.get(t)).and_then(|p| p.command.as_ref());
            if of_track.is_none() && own.and_then(|c| c.command.as_ref()).is_none() && solver.command.is_none() {
                let message = format!("{} has no command{within}", entrant.id);
                error(out, "entrants/no-command", place, message, "add `command: [./program, argument]`");
            } else if let Some(other) = commands.insert(&entrant.command, &entrant.id) {
                let message = format!("{other} and {} have the same command{within}", entrant.id);
                let help = "give one of them other `arguments`, or say with `configuration: NAME` which takes part";
                error(out, "entrants/same-command", place, message, help);
            }
        }
    }
}
