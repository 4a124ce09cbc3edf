//! The meta-model of the file format: one description of every key serves the checker and the JSON Schema.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::diag::{Diagnostic, Diagnostics, closest};
use crate::node::{Kind, Node};

/// What may stand at a place.
pub(crate) enum Shape {
    /// Any text.
    Text,
    /// A word that other places refer to.
    Name,
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A whole number above 0.
    Count,
    /// A decimal number.
    Decimal,
    /// A number with a unit of time, or of memory.
    Quantity(&'static str),
    /// A formula.
    Formula,
    /// A sort key: a formula with `asc` or `desc`.
    Order,
    /// A regular expression.
    Regex,
    /// A reference to the rules text: `§7.2.1`, `§7.2 Sound Solver`, several separated by commas.
    Cite,
    /// A date, `2022-07-05`.
    Date,
    /// One of some words.
    Word(&'static [(&'static str, &'static str)]),
    /// A list; a single value stands for a list of one.
    List(&'static Shape),
    /// A mapping with keys of the author's choice.
    Dict(&'static str, &'static Shape),
    /// A mapping with fixed keys.
    Map(&'static MapShape),
    /// A short form (text or list), or a mapping with fixed keys.
    Either(&'static Shape, &'static MapShape),
    /// Any part of an edition: checked where it is laid on.
    Part,
}

/// A mapping with fixed keys.
pub(crate) struct MapShape {
    /// The name of the definition in the JSON Schema.
    pub name: &'static str,
    /// What it describes.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// One key.
pub(crate) struct Key {
    pub name: &'static str,
    pub doc: &'static str,
    pub shape: Shape,
    pub required: bool,
}

pub(crate) const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, doc, shape, required: false }
}

pub(crate) const fn must(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, doc, shape, required: true }
}

impl Shape {
    fn expects(&self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Name => "a name (letters, digits, `.`, `_`, `+`, `-`)".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::Int => "a whole number".into(),
            Self::Count => "a whole number above 0".into(),
            Self::Decimal => "a number".into(),
            Self::Quantity("time") => "a time with its unit, such as `20 min` or `1200 s`".into(),
            Self::Quantity(_) => "an amount of memory with its unit, such as `60 GB`".into(),
            Self::Formula => "a formula".into(),
            Self::Order => "a formula with `asc` or `desc`".into(),
            Self::Regex => "a regular expression".into(),
            Self::Cite => "a reference to the rules text, such as `§7.2.1`".into(),
            Self::Date => "a date, such as `2022-07-05`".into(),
            Self::Word(words) => {
                let words: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
                format!("one of {}", words.join(", "))
            }
            Self::List(_) => "a list".into(),
            Self::Dict(what, _) => format!("a mapping from {what}"),
            Self::Map(map) => format!("a mapping with the keys {}", map.key_names().join(", ")),
            Self::Either(short, map) => {
                format!("{}, or a mapping with the keys {}", short.expects(), map.key_names().join(", "))
            }
            Self::Part => "a part of an edition".into(),
        }
    }

    /// Checks a node against this shape and reports everything that does not fit.
    pub fn check(&self, node: &Node, at: &str, out: &mut Diagnostics) {
        let wrong = |out: &mut Diagnostics| {
            let message = format!("{at} must be {}, but this is {}", self.expects(), node.what());
            // A comma within braces ends a value: the rest of the formula became a key.
            let split =
                node.is_null() && matches!(self, Self::Formula | Self::Either(Self::Formula, _)) && at.contains(')');
            let help = match split {
                true => "a comma ends a value within braces: put the whole formula before it in quotes",
                false => "see the edition guide, editions/README.md",
            };
            out.push(Diagnostic::error("edition/type", &node.place, message).help(help));
        };
        let scalar = match &node.kind {
            Kind::Scalar { text, plain } if !node.is_null() || matches!(self, Self::Text | Self::Part) => {
                Some((text.as_str(), *plain))
            }
            _ => None,
        };
        match (self, scalar, &node.kind) {
            (Self::Part, ..) => {}
            (Self::List(item), ..) => {
                if let Kind::Map(_) = node.kind
                    && !matches!(item, Self::Map(_) | Self::Dict(..) | Self::Either(..))
                {
                    return wrong(out);
                }
                for item_node in node.items() {
                    item.check(item_node, at, out);
                }
            }
            (Self::Dict(_, value), _, Kind::Map(entries)) => {
                for entry in entries {
                    value.check(&entry.value, &format!("`{}`", entry.key), out);
                }
            }
            (Self::Dict(..), ..) if node.is_null() => {}
            (Self::Map(map) | Self::Either(_, map), _, Kind::Map(_)) => map.check(node, at, out),
            (Self::Either(short, _), ..) => {
                if matches!(node.kind, Kind::List(_)) && !matches!(short, Self::List(_)) {
                    return wrong(out);
                }
                short.check(node, at, out);
            }
            (Self::Map(_) | Self::Dict(..), ..) => wrong(out),
            (_, None, _) => wrong(out),
            (_, Some((text, plain)), _) => self.check_scalar(text, plain, node, at, out),
        }
    }

    fn check_scalar(&self, text: &str, plain: bool, node: &Node, at: &str, out: &mut Diagnostics) {
        let problem: Option<(String, Option<String>)> = match self {
            Self::Name => {
                let ok = text.chars().all(|c| c.is_alphanumeric() || "._+-".contains(c)) && !text.is_empty();
                (!ok).then(|| (format!("`{text}` is not a name"), None))
            }
            Self::Bool => (!plain || !matches!(text, "true" | "false")).then(|| {
                let meant = match text.to_lowercase().as_str() {
                    "yes" | "on" | "y" | "1" | "true" => Some("write `true`".to_string()),
                    "no" | "off" | "n" | "0" | "false" => Some("write `false`".to_string()),
                    _ => None,
                };
                (format!("`{text}` is not `true` or `false`"), meant)
            }),
            Self::Int => text.parse::<i64>().is_err().then(|| (format!("`{text}` is not a whole number"), None)),
            Self::Count => match text.parse::<i64>() {
                Err(_) => Some((format!("`{text}` is not a whole number"), None)),
                Ok(n) => (n < 1).then(|| (format!("`{text}` is not positive"), None)),
            },
            Self::Decimal => agon_table::parse_decimal(text).err().map(|e| (format!("`{text}` {e}"), None)),
            Self::Quantity(dimension) => match agon_table::parse_quantity(text) {
                Err(e) => Some((format!("`{text}` {e}"), None)),
                Ok((value, dim)) => {
                    let wanted = if *dimension == "time" { agon_table::Dim::TIME } else { agon_table::Dim::MEMORY };
                    if dim != wanted {
                        let example = if *dimension == "time" { "20 min" } else { "60 GB" };
                        Some((
                            format!("`{text}` is not {}", self.expects()),
                            Some(format!("write it like `{example}`")),
                        ))
                    } else if value.signum() <= 0 {
                        Some((format!("`{text}` is not positive"), None))
                    } else {
                        None
                    }
                }
            },
            Self::Regex => regex::Regex::new(text).err().map(|e| {
                let last = e.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
                (format!("`{text}` is not a regular expression: {last}"), None)
            }),
            Self::Cite => text
                .split(',')
                .any(|part| part.trim().is_empty())
                .then(|| (format!("`{text}` has an empty reference"), None)),
            Self::Date => {
                (!is_date(text)).then(|| (format!("`{text}` is not a date"), Some("write it like 2022-07-05".into())))
            }
            Self::Word(words) => (!words.iter().any(|(w, _)| *w == text)).then(|| {
                let near = closest(text, words.iter().map(|(w, _)| *w));
                let known: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
                let help =
                    near.map_or_else(|| format!("known: {}", known.join(", ")), |n| format!("did you mean `{n}`?"));
                (format!("{at} cannot be `{text}`"), Some(help))
            }),
            _ => None,
        };
        if let Some((message, help)) = problem {
            let help = help.unwrap_or_else(|| format!("{at} must be {}", self.expects()));
            out.push(Diagnostic::error("edition/value", &node.place, message).help(help));
        }
    }

    fn schema(&self, definitions: &mut JsonMap<String, Json>) -> Json {
        let text = || json!({"type": ["string", "number", "boolean"]});
        match self {
            Self::Text => json!({"type": ["string", "number", "boolean", "null"]}),
            Self::Name | Self::Decimal | Self::Formula | Self::Cite | Self::Order => text(),
            Self::Regex | Self::Quantity(_) => json!({"type": "string"}),
            Self::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Int => json!({"type": "integer"}),
            Self::Count => json!({"type": "integer", "minimum": 1}),
            Self::Word(words) => {
                let docs: Vec<Json> = words.iter().map(|(w, doc)| json!({"const": w, "description": doc})).collect();
                json!({"oneOf": docs})
            }
            Self::List(item) => {
                let item = item.schema(definitions);
                json!({"anyOf": [{"type": "array", "items": item}, item, {"type": "null"}]})
            }
            Self::Dict(_, value) => {
                let value = value.schema(definitions);
                json!({"type": ["object", "null"], "additionalProperties": {"anyOf": [value, {"type": "null"}]}})
            }
            Self::Map(map) => map.reference(definitions),
            Self::Either(short, map) => {
                let short = short.schema(definitions);
                json!({"anyOf": [short, map.reference(definitions)]})
            }
            Self::Part => json!(true),
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let digits = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_digit());
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return false;
    }
    let year: u32 = year.parse().unwrap_or(0);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match *month {
        "02" => 28 + u32::from(leap),
        "04" | "06" | "09" | "11" => 30,
        "01" | "03" | "05" | "07" | "08" | "10" | "12" => 31,
        _ => 0,
    };
    (1..=last).contains(&day.parse().unwrap_or(0))
}

impl MapShape {
    fn key_names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|k| k.name).collect()
    }

    fn check(&self, node: &Node, at: &str, out: &mut Diagnostics) {
        for entry in node.entries() {
            match self.keys.iter().find(|k| k.name == entry.key) {
                Some(key)
                    if entry.value.is_null()
                        && !matches!(key.shape, Shape::Text | Shape::List(_) | Shape::Dict(..) | Shape::Part) =>
                {
                    let message = format!("`{}` has no value", entry.key);
                    let help = format!("it must be {}", key.shape.expects());
                    out.push(Diagnostic::error("edition/no-value", &entry.key_place, message).help(help));
                }
                Some(key) => key.shape.check(&entry.value, &format!("`{}`", entry.key), out),
                None => {
                    let near = closest(&entry.key, self.key_names());
                    let help = near.map_or_else(
                        || format!("known keys: {}", self.key_names().join(", ")),
                        |n| format!("did you mean `{n}`?"),
                    );
                    let message = format!("{at} has no key `{}`", entry.key);
                    out.push(Diagnostic::error("edition/unknown-key", &entry.key_place, message).help(help));
                }
            }
        }
        for key in self.keys.iter().filter(|k| k.required) {
            if node.get(key.name).is_none() {
                let message = format!("{at} lacks the key `{}`", key.name);
                let help = format!("{} ({})", key.doc, key.shape.expects());
                // The first line of a block says enough about where it is.
                let mut place = node.place.clone();
                place.span.end = place.span.start.max(place.span.end.min(place.span.start + 1));
                out.push(Diagnostic::error("edition/missing-key", &place, message).help(help));
            }
        }
    }

    fn reference(&self, definitions: &mut JsonMap<String, Json>) -> Json {
        if !definitions.contains_key(self.name) {
            // Entered before its keys are visited, so that a recursive definition ends.
            definitions.insert(self.name.into(), Json::Null);
            let body = self.body(definitions);
            definitions.insert(self.name.into(), body);
        }
        json!({"$ref": format!("#/$defs/{}", self.name)})
    }

    fn body(&self, definitions: &mut JsonMap<String, Json>) -> Json {
        let mut properties = JsonMap::new();
        for key in self.keys {
            let mut schema = key.shape.schema(definitions);
            if !key.required {
                // Laid on another element, `null` removes the key.
                schema = json!({"anyOf": [schema, {"type": "null"}]});
            }
            if let Json::Object(object) = &mut schema {
                object.insert("description".into(), json!(key.doc));
            }
            properties.insert(key.name.into(), schema);
        }
        json!({
            "type": "object",
            "description": self.doc,
            "properties": properties,
            "additionalProperties": false,
        })
    }
}

/// The JSON Schema (draft 2020-12) of a file whose top level has this shape.
pub(crate) fn json_schema(top: &'static MapShape, id: &str, required: &[&str]) -> Json {
    let mut definitions = JsonMap::new();
    let mut body = top.body(&mut definitions);
    if let Json::Object(object) = &mut body {
        let mut all = JsonMap::new();
        all.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        all.insert("$id".into(), json!(id));
        all.insert("title".into(), json!(top.name));
        all.append(object);
        all.insert("required".into(), json!(required));
        all.insert("$defs".into(), Json::Object(definitions));
        return Json::Object(all);
    }
    body
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates() {
        for (text, ok) in [
            ("2022-07-05", true),
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("2022-7-5", false),
            ("2022-13-01", false),
        ] {
            assert_eq!(super::is_date(text), ok, "{text}");
        }
    }
}
