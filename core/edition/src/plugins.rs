//! The columns and parameters that track plugins declare, read from their committed schemas.

use agon_table::{Dim, parse_quantity};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Field, ParameterValue};
use crate::node::Node;
use crate::resolve::{field_type, suggest};

/// A parameter that a plugin declares.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// What its values are.
    pub ty: ParameterType,
    /// Whether an edition must give it.
    pub required: bool,
    /// The value that it has where the edition says nothing.
    pub default: Option<ParameterValue>,
    /// What it does.
    pub doc: Option<String>,
}

/// What the values of a parameter are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text.
    Text,
    /// One of some words.
    Words(Vec<String>),
    /// A pure number.
    Number,
    /// A time.
    Time,
    /// An amount of memory.
    Memory,
    /// `true` or `false`.
    Flag,
}

/// The plugins whose schemas are known.
pub fn names() -> Vec<&'static str> {
    crate::shipped::PLUGINS.iter().map(|(name, _)| *name).collect()
}

fn schema(plugin: &str) -> Option<Json> {
    let (_, text) = crate::shipped::PLUGINS.iter().find(|(name, _)| *name == plugin)?;
    serde_json::from_str(text).ok()
}

fn words(of: &Json) -> Vec<String> {
    let words = of.get("words").and_then(Json::as_array);
    words.map(|words| words.iter().filter_map(Json::as_str).map(str::to_string).collect()).unwrap_or_default()
}

/// The columns that a plugin's results have beyond the common ones.
pub fn fields(plugin: &str) -> Option<IndexMap<String, Field>> {
    let schema = schema(plugin)?;
    let mut fields = IndexMap::new();
    for (name, field) in schema.get("fields")?.as_object()? {
        let ty = field_type(field.get("type")?.as_str()?, &words(field));
        let optional = field.get("optional").and_then(Json::as_bool).unwrap_or(false);
        let says = field.get("doc").and_then(Json::as_str).map(str::to_string);
        fields.insert(name.clone(), Field { ty, optional, otherwise: None, says });
    }
    Some(fields)
}

/// The parameters that a plugin declares, if its schema lists any.
pub fn parameters(plugin: &str) -> Option<IndexMap<String, Parameter>> {
    parameters_of(&schema(plugin)?)
}

/// The `parameters` of a plugin's schema: `{NAME: {type, words, doc, default, required}}`, where a type is one of
/// `text words number time memory flag`.
pub fn parameters_of(schema: &Json) -> Option<IndexMap<String, Parameter>> {
    let mut parameters = IndexMap::new();
    for (name, declared) in schema.get("parameters")?.as_object()? {
        let ty = match declared.get("type").and_then(Json::as_str)? {
            "words" => ParameterType::Words(words(declared)),
            "number" => ParameterType::Number,
            "time" => ParameterType::Time,
            "memory" => ParameterType::Memory,
            "flag" => ParameterType::Flag,
            _ => ParameterType::Text,
        };
        let default = match declared.get("default") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => ty.read(text).ok(),
            Some(other) => ty.read(&other.to_string()).ok(),
        };
        let required = declared.get("required").and_then(Json::as_bool).unwrap_or(false);
        let doc = declared.get("doc").and_then(Json::as_str).map(str::to_string);
        parameters.insert(name.clone(), Parameter { ty, required, default, doc });
    }
    Some(parameters)
}

impl ParameterType {
    /// The value that a text of an edition stands for.
    ///
    /// # Errors
    /// What is wrong with it, and a remedy.
    pub fn read(&self, text: &str) -> Result<ParameterValue, (String, String)> {
        let quantity = |dim: Dim, what: &str, example: &str| match parse_quantity(text) {
            Ok((value, own)) if own == dim => Ok(value),
            Ok(_) => Err((format!("`{text}` is not {what}"), format!("write it like `{example}`"))),
            Err(problem) => Err((format!("`{text}` {problem}"), format!("write it like `{example}`"))),
        };
        match self {
            Self::Text => Ok(ParameterValue::Text(text.into())),
            Self::Words(words) if words.iter().any(|w| w == text) => Ok(ParameterValue::Text(text.into())),
            Self::Words(words) => {
                let known: Vec<&str> = words.iter().map(String::as_str).collect();
                Err((format!("`{text}` is not a word of this parameter"), suggest(text, &known)))
            }
            Self::Number => quantity(Dim::NONE, "a pure number", "10").map(ParameterValue::Number),
            Self::Time => quantity(Dim::TIME, "a time with its unit", "10 s").map(ParameterValue::Time),
            Self::Memory => {
                quantity(Dim::MEMORY, "an amount of memory with its unit", "1 GB").map(ParameterValue::Memory)
            }
            Self::Flag => match text {
                "true" => Ok(ParameterValue::Flag(true)),
                "false" => Ok(ParameterValue::Flag(false)),
                _ => Err((format!("`{text}` is not `true` or `false`"), "write `true` or `false`".into())),
            },
        }
    }
}

/// Reads a track's `parameters` as a plugin declares them. What a plugin without declared parameters means by them is
/// its own business: they are texts.
pub(crate) fn check_parameters(
    plugin: &str,
    declared: Option<&IndexMap<String, Parameter>>,
    track: &Node,
    out: &mut Diagnostics,
) -> IndexMap<String, ParameterValue> {
    let mut values = IndexMap::new();
    let node = track.get("parameters");
    for entry in node.map(Node::entries).unwrap_or_default().iter().filter(|e| !e.value.is_null()) {
        // A list or mapping has been reported with the shape.
        let Some(text) = entry.value.text() else { continue };
        let ty = match declared {
            None => &ParameterType::Text,
            Some(parameters) => match parameters.get(&entry.key) {
                Some(parameter) => &parameter.ty,
                None => {
                    let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
                    let message = format!("the plugin `{plugin}` has no parameter `{}`", entry.key);
                    let help = suggest(&entry.key, &known);
                    out.push(Diagnostic::error("edition/unknown-parameter", &entry.key_place, message).help(help));
                    continue;
                }
            },
        };
        match ty.read(text) {
            Ok(value) => {
                values.insert(entry.key.clone(), value);
            }
            Err((problem, help)) => {
                let message = format!("the parameter `{}`: {problem}", entry.key);
                out.push(Diagnostic::error("edition/parameter", &entry.value.place, message).help(help));
            }
        }
    }
    for (name, parameter) in declared.into_iter().flatten().filter(|(_, p)| p.required && p.default.is_none()) {
        if node.and_then(|n| n.get(name)).is_none_or(Node::is_null) {
            let place = &track.get("plugin").unwrap_or(track).place;
            let message = format!("the plugin `{plugin}` needs the parameter `{name}`");
            let meaning =
                parameter.doc.as_deref().map(|d| format!(" ({})", d.trim_end_matches('.'))).unwrap_or_default();
            let help = format!("add `parameters: {{ {name}: … }}` to the track{meaning}");
            out.push(Diagnostic::error("edition/parameter", place, message).help(help));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_table::Exact;
    use serde_json::json;

    use super::*;
    use crate::diag::Source;
    use crate::node::parse;

    #[test]
    fn every_schema_can_be_read() {
        for name in names() {
            assert!(fields(name).is_some_and(|f| !f.is_empty()), "{name}");
            let declares = schema(name).is_some_and(|s| s.get("parameters").is_some());
            assert_eq!(parameters(name).is_some(), declares, "{name}");
            let wanted = |s: Json| s.get("parameters")?.as_object().map(|p| p.values().cloned().collect::<Vec<Json>>());
            let raw = schema(name).and_then(wanted).unwrap_or_default();
            for (declared, parameter) in raw.iter().zip(parameters(name).into_iter().flatten()) {
                assert_eq!(declared.get("default").is_some(), parameter.1.default.is_some(), "{name}: {}", parameter.0);
            }
        }
    }

    fn declared() -> IndexMap<String, Parameter> {
        let schema = json!({"parameters": {
            "after-error": {"type": "words", "words": ["ignore", "count"], "default": "ignore"},
            "grace": {"type": "time", "default": "1 s"},
            "lines": {"type": "number", "default": 3},
            "strict": {"type": "flag", "default": false},
            "size": {"type": "memory"},
            "name": {"type": "text", "required": true, "doc": "What it is called."},
        }});
        parameters_of(&schema).expect("it declares parameters")
    }

    fn read(track: &str) -> (IndexMap<String, ParameterValue>, Vec<String>) {
        let mut out = Diagnostics::default();
        let source = Arc::new(Source::new("e.yaml", track));
        let node = parse(&source, &mut out).expect("the track is YAML");
        let values = check_parameters("p", Some(&declared()), &node, &mut out);
        (values, out.iter().map(Diagnostic::line).collect())
    }

    #[test]
    fn parameters_of_a_schema() {
        let declared = declared();
        assert_eq!(declared["after-error"].default, Some(ParameterValue::Text("ignore".into())));
        assert_eq!(declared["grace"].default, Some(ParameterValue::Time(Exact::int(1_000_000_000))));
        assert_eq!(declared["lines"].default, Some(ParameterValue::Number(Exact::int(3))));
        assert_eq!(declared["strict"].default, Some(ParameterValue::Flag(false)));
        assert!(declared["size"].default.is_none() && declared["name"].required);
        assert!(parameters_of(&json!({"fields": {}})).is_none());
    }

    #[test]
    fn right_parameters() {
        let (values, said) = read(
            "plugin: p\nparameters: { after-error: count, grace: 500 ms, lines: 2.5, strict: true, size: 2 KiB, name: N }",
        );
        assert!(said.is_empty(), "{said:?}");
        let json: Vec<Json> = values.values().map(ParameterValue::json).collect();
        assert_eq!(json, [json!("count"), json!(500_000_000), json!("2.5"), json!(true), json!(2048), json!("N")]);
    }

    #[test]
    fn wrong_parameters() {
        let (values, said) = read(
            "plugin: p\nparameters: { after-eror: count, after-error: cuont, grace: 3, lines: 3 s, strict: yes, size: x }",
        );
        assert!(values.is_empty(), "{values:?}");
        let expected = [
            "e.yaml:2:15: error[edition/unknown-parameter]: the plugin `p` has no parameter `after-eror` (help: did you mean `after-error`?)",
            "e.yaml:2:47: error[edition/parameter]: the parameter `after-error`: `cuont` is not a word of this parameter (help: did you mean `count`?)",
            "e.yaml:2:61: error[edition/parameter]: the parameter `grace`: `3` is not a time with its unit (help: write it like `10 s`)",
            "e.yaml:2:71: error[edition/parameter]: the parameter `lines`: `3 s` is not a pure number (help: write it like `10`)",
            "e.yaml:2:84: error[edition/parameter]: the parameter `strict`: `yes` is not `true` or `false` (help: write `true` or `false`)",
            "e.yaml:2:95: error[edition/parameter]: the parameter `size`: `x` is not a decimal number (help: write it like `1 GB`)",
            "e.yaml:1:9: error[edition/parameter]: the plugin `p` needs the parameter `name` (help: add `parameters: { name: … }` to the track (What it is called))",
        ];
        assert_eq!(said, expected);
    }

    /// A plugin that is not known, or that declares nothing, takes what it is given.
    #[test]
    fn undeclared_parameters_are_texts() {
        let mut out = Diagnostics::default();
        let node = parse(&Arc::new(Source::new("e.yaml", "parameters: { a: 3 s, b: null }")), &mut out).expect("YAML");
        let values = check_parameters("p", None, &node, &mut out);
        assert_eq!(values.into_iter().collect::<Vec<_>>(), [("a".to_string(), ParameterValue::Text("3 s".into()))]);
        assert!(out.is_empty());
    }
}
