//! The columns and parameters that track plugins declare: of the shipped ones as they are committed, of others as whoever
//! reads an edition finds them.

use std::sync::LazyLock;

use agon_table::{Dim, Exact, parse_quantity};
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Field, ParameterValue};
use crate::node::{Kind, Node};
use crate::resolve::{field_type, suggest};

/// What plugins declare of themselves, as JSON: the form is that of the files under `schemas/plugins/`.
pub trait Descriptions {
    /// The plugins that there are, as far as that is known without much ado: to suggest a name.
    fn names(&self) -> Vec<String>;

    /// What a plugin declares; nothing if there is no such plugin; a sentence if there is one and it cannot be asked.
    fn description(&self, name: &str) -> Option<Result<Json, String>>;
}

/// What is known beside an edition's text when it is read.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The plugins that it may name.
    pub plugins: &'a dyn Descriptions,
    /// The limits that runs had in place of those in the text, by track and name: nanoseconds, bytes, or a count.
    pub limits: &'a IndexMap<String, IndexMap<String, u64>>,
}

static NO_LIMITS: LazyLock<IndexMap<String, IndexMap<String, u64>>> = LazyLock::new(IndexMap::new);

impl<'a> Known<'a> {
    /// These plugins, and the limits of the text.
    pub fn plugins(plugins: &'a dyn Descriptions) -> Self {
        Self { plugins, limits: &NO_LIMITS }
    }
}

/// The plugins whose descriptions are shipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shipped;

impl Descriptions for Shipped {
    fn names(&self) -> Vec<String> {
        crate::shipped::PLUGINS.iter().map(|(name, _)| (*name).to_string()).collect()
    }

    fn description(&self, name: &str) -> Option<Result<Json, String>> {
        let (_, text) = crate::shipped::PLUGINS.iter().find(|(known, _)| *known == name)?;
        Some(serde_json::from_str(text).map_err(|e| format!("its shipped description is no JSON: {e}")))
    }
}

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
    /// A whole number within these bounds, both included.
    Integer(i64, i64),
    /// A list of texts.
    Texts,
}

fn words(of: &Json) -> Vec<String> {
    let words = of.get("words").and_then(Json::as_array);
    words.map(|words| words.iter().filter_map(Json::as_str).map(str::to_string).collect()).unwrap_or_default()
}

/// The columns that a plugin's results have beyond the common ones, from its description. A name that ends in `*` stands
/// for columns that only the results know, and no formula can ask for them.
pub fn fields_of(description: &Json) -> IndexMap<String, Field> {
    let mut fields = IndexMap::new();
    let declared = description.get("fields").and_then(Json::as_object).into_iter().flatten();
    for (name, field) in declared.filter(|(name, _)| !name.ends_with('*')) {
        let Some(ty) = field.get("type").and_then(Json::as_str) else { continue };
        let ty = field_type(ty, &words(field));
        let optional = field.get("optional").and_then(Json::as_bool).unwrap_or(false);
        let says = field.get("doc").and_then(Json::as_str).map(str::to_string);
        fields.insert(name.clone(), Field { ty, optional, otherwise: None, empty: None, says });
    }
    fields
}

/// The `parameters` of a plugin's description, if it lists any: `{NAME: {type, words, from, to, doc, default, required}}`,
/// where a type is one of `text texts words number integer time memory flag bool`. A parameter without a default must be
/// given unless `required` says otherwise.
pub fn parameters_of(description: &Json) -> Option<IndexMap<String, Parameter>> {
    let mut parameters = IndexMap::new();
    for (name, declared) in description.get("parameters")?.as_object()? {
        let bound = |key: &str, none: i64| declared.get(key).and_then(Json::as_i64).unwrap_or(none);
        let ty = match declared.get("type").and_then(Json::as_str)? {
            "words" => ParameterType::Words(words(declared)),
            "number" => ParameterType::Number,
            "integer" => ParameterType::Integer(bound("from", i64::MIN), bound("to", i64::MAX)),
            "time" => ParameterType::Time,
            "memory" => ParameterType::Memory,
            "flag" | "bool" => ParameterType::Flag,
            "texts" => ParameterType::Texts,
            _ => ParameterType::Text,
        };
        let default = match declared.get("default") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => ty.read(text).ok(),
            Some(Json::Array(items)) => {
                Some(ParameterValue::Texts(items.iter().filter_map(Json::as_str).map(str::to_string).collect()))
            }
            Some(other) => ty.read(&other.to_string()).ok(),
        };
        let stated = declared.get("required").and_then(Json::as_bool);
        let required = stated.unwrap_or_else(|| declared.get("default").is_none_or(Json::is_null));
        let doc = declared.get("doc").and_then(Json::as_str).map(str::to_string);
        parameters.insert(name.clone(), Parameter { ty, required, default, doc });
    }
    Some(parameters)
}

impl ParameterType {
    /// The type of the values of a column.
    pub(crate) fn of_column(name: &str, words: &[String]) -> Self {
        match name {
            "words" => Self::Words(words.to_vec()),
            "number" => Self::Number,
            "time" => Self::Time,
            "memory" => Self::Memory,
            "bool" => Self::Flag,
            _ => Self::Text,
        }
    }

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
            Self::Integer(from, to) => match text.parse::<i64>() {
                Ok(n) if (*from..=*to).contains(&n) => Ok(ParameterValue::Number(Exact::int(i128::from(n)))),
                _ => {
                    let bounds = match (*from, *to) {
                        (i64::MIN, i64::MAX) => "a whole number".to_string(),
                        (from, i64::MAX) => format!("a whole number that is at least {from}"),
                        (i64::MIN, to) => format!("a whole number that is at most {to}"),
                        (from, to) => format!("a whole number from {from} to {to}"),
                    };
                    Err((format!("`{text}` is not {bounds}"), format!("write {bounds}")))
                }
            },
            // As everywhere in an edition, a single value stands for a list of one.
            Self::Texts => Ok(ParameterValue::Texts(vec![text.into()])),
        }
    }
}

impl ParameterType {
    fn read_list(&self, items: &[Node]) -> Result<ParameterValue, (String, String)> {
        if *self != Self::Texts {
            return Err(("a list is not a value of this parameter".into(), "write a single value".into()));
        }
        let texts: Option<Vec<String>> = items.iter().map(|item| item.text().map(str::to_string)).collect();
        texts.map(ParameterValue::Texts).ok_or_else(|| {
            ("the list holds something that is no text".into(), "write a list of texts, such as `[a, b]`".into())
        })
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
        let read = match (&entry.value.kind, entry.value.text()) {
            (Kind::List(items), _) => ty.read_list(items),
            (_, Some(text)) => ty.read(text),
            // A mapping has been reported with the shape.
            (_, None) => continue,
        };
        match read {
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
        for name in Shipped.names() {
            let schema = Shipped.description(&name).expect("it is shipped").expect("it is JSON");
            assert!(!fields_of(&schema).is_empty(), "{name}");
            assert_eq!(parameters_of(&schema).is_some(), schema.get("parameters").is_some(), "{name}");
            let raw = schema.get("parameters").and_then(Json::as_object).into_iter().flatten().map(|(_, p)| p);
            for (declared, parameter) in raw.zip(parameters_of(&schema).into_iter().flatten()) {
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
            "size": {"type": "memory", "required": false},
            "depth": {"type": "integer", "from": 1, "to": 9, "default": 3},
            "eager": {"type": "bool", "default": true},
            "flags": {"type": "texts", "default": ["-a"]},
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
        assert!(declared["size"].default.is_none() && !declared["size"].required && declared["name"].required);
        assert_eq!(declared["depth"].default, Some(ParameterValue::Number(Exact::int(3))));
        assert_eq!(declared["eager"].default, Some(ParameterValue::Flag(true)));
        assert_eq!(declared["flags"].default, Some(ParameterValue::Texts(vec!["-a".into()])));
        // As plugins say it of themselves: what has no default must be given.
        let own = parameters_of(&json!({"parameters": {"a": {"type": "text", "doc": ""}}})).expect("there are some");
        assert!(own["a"].required);
        assert!(parameters_of(&json!({"fields": {}})).is_none());
    }

    #[test]
    fn right_parameters() {
        let (values, said) = read(
            "plugin: p\nparameters: { after-error: count, grace: 500 ms, lines: 2.5, strict: true, size: 2 KiB, name: N, depth: 9, eager: false, flags: [-x, 3] }",
        );
        assert!(said.is_empty(), "{said:?}");
        let json: Vec<Json> = values.values().map(ParameterValue::json).collect();
        assert_eq!(
            json,
            [
                json!("count"),
                json!(500_000_000),
                json!("2.5"),
                json!(true),
                json!(2048),
                json!("N"),
                json!(9),
                json!(false),
                json!(["-x", "3"])
            ]
        );
    }

    #[test]
    fn wrong_parameters() {
        let (values, said) = read(
            "plugin: p\nparameters: { after-eror: count, after-error: cuont, grace: 3, lines: 3 s, strict: yes, size: x, depth: 10, eager: 1 }",
        );
        assert!(values.is_empty(), "{values:?}");
        let expected = [
            "e.yaml:2:15: error[edition/unknown-parameter]: the plugin `p` has no parameter `after-eror` (help: did you mean `after-error`?)",
            "e.yaml:2:47: error[edition/parameter]: the parameter `after-error`: `cuont` is not a word of this parameter (help: did you mean `count`?)",
            "e.yaml:2:61: error[edition/parameter]: the parameter `grace`: `3` is not a time with its unit (help: write it like `10 s`)",
            "e.yaml:2:71: error[edition/parameter]: the parameter `lines`: `3 s` is not a pure number (help: write it like `10`)",
            "e.yaml:2:84: error[edition/parameter]: the parameter `strict`: `yes` is not `true` or `false` (help: write `true` or `false`)",
            "e.yaml:2:95: error[edition/parameter]: the parameter `size`: `x` is not a decimal number (help: write it like `1 GB`)",
            "e.yaml:2:105: error[edition/parameter]: the parameter `depth`: `10` is not a whole number from 1 to 9 (help: write a whole number from 1 to 9)",
            "e.yaml:2:116: error[edition/parameter]: the parameter `eager`: `1` is not `true` or `false` (help: write `true` or `false`)",
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
