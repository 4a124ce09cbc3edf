//! What a plugin declares of itself: parameters, columns, operations. As JSON it is committed under `schemas/plugins/`,
//! so that editions can be checked without running anything.

use serde_json::{Map, Value as Json, json};

use crate::values::{Fault, Fidelity, Status, Value};

/// The type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldType {
    /// One of these words.
    Words(Vec<String>),
    /// Free text.
    Text,
    /// An exact number.
    Number,
    /// A time in nanoseconds.
    Time,
    /// A size in bytes.
    Memory,
    /// A truth value.
    Bool,
}

impl FieldType {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            FieldType::Words(_) => "words",
            FieldType::Text => "text",
            FieldType::Number => "number",
            FieldType::Time => "time",
            FieldType::Memory => "memory",
            FieldType::Bool => "bool",
        }
    }

    /// Whether a value may stand in a column of this type; if not, why.
    pub fn accepts(&self, value: &Value) -> Result<(), String> {
        let wrong = |given: &str| Err(format!("is declared as {}, and a {given} was given", self.word()));
        match (self, value) {
            (FieldType::Words(words), Value::Word(word) | Value::Text(word)) => {
                if words.contains(word) {
                    Ok(())
                } else {
                    Err(format!("takes the words {}, and {word:?} was given", words.join(", ")))
                }
            }
            (FieldType::Text, Value::Text(_) | Value::Word(_))
            | (FieldType::Number, Value::Int(_) | Value::UInt(_) | Value::Ratio(_))
            | (FieldType::Time, Value::Time(_))
            | (FieldType::Memory, Value::Memory(_))
            | (FieldType::Bool, Value::Flag(_)) => Ok(()),
            (_, Value::Int(_) | Value::UInt(_) | Value::Ratio(_)) => wrong("number"),
            (_, Value::Text(_) | Value::Word(_)) => wrong("text"),
            (_, Value::Time(_)) => wrong("time"),
            (_, Value::Memory(_)) => wrong("size"),
            (_, Value::Flag(_)) => wrong("truth value"),
        }
    }
}

/// A column. A name that ends in `*` stands for all names with that beginning, such as `kv.*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: FieldType,
    /// What it says.
    pub doc: String,
    /// Whether it may be left out. A family is always optional.
    pub optional: bool,
    /// The least that must be known of a run to tell its value.
    pub needs: Fidelity,
}

impl Field {
    /// A column of this type.
    pub fn new(name: &str, ty: FieldType, doc: &str) -> Self {
        Self { name: name.into(), ty, doc: doc.into(), optional: name.ends_with('*'), needs: Fidelity::Streams }
    }

    /// A column of words.
    pub fn words<T: Into<String>>(name: &str, words: impl IntoIterator<Item = T>, doc: &str) -> Self {
        Self::new(name, FieldType::Words(words.into_iter().map(Into::into).collect()), doc)
    }

    /// A column of numbers.
    pub fn number(name: &str, doc: &str) -> Self {
        Self::new(name, FieldType::Number, doc)
    }

    /// A column of free text.
    pub fn text(name: &str, doc: &str) -> Self {
        Self::new(name, FieldType::Text, doc)
    }

    /// A column of times.
    pub fn time(name: &str, doc: &str) -> Self {
        Self::new(name, FieldType::Time, doc)
    }

    /// A column of sizes in bytes.
    pub fn memory(name: &str, doc: &str) -> Self {
        Self::new(name, FieldType::Memory, doc)
    }

    /// A column of truth values.
    pub fn flag(name: &str, doc: &str) -> Self {
        Self::new(name, FieldType::Bool, doc)
    }

    /// It may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Says the least that must be known of a run to tell its value.
    #[must_use]
    pub fn needs(mut self, fidelity: Fidelity) -> Self {
        self.needs = fidelity;
        self
    }

    fn to_json(&self) -> Json {
        let mut out = Map::new();
        out.insert("type".into(), self.ty.word().into());
        if let FieldType::Words(words) = &self.ty {
            out.insert("words".into(), words.clone().into());
        }
        out.insert("doc".into(), self.doc.as_str().into());
        if self.optional {
            out.insert("optional".into(), true.into());
        }
        if self.needs != Fidelity::Streams {
            out.insert("needs".into(), self.needs.word().into());
        }
        Json::Object(out)
    }

    fn from_json(name: &str, json: &Json) -> Result<Self, String> {
        let ty = match text(json, "type")? {
            "words" => FieldType::Words(words(json, "words")?),
            "text" => FieldType::Text,
            "number" => FieldType::Number,
            "time" => FieldType::Time,
            "memory" => FieldType::Memory,
            "bool" => FieldType::Bool,
            other => return Err(format!("{other:?} is no type of a column")),
        };
        let needs = match json.get("needs") {
            None => Fidelity::Streams,
            Some(word) => word
                .as_str()
                .and_then(Fidelity::from_word)
                .ok_or_else(|| format!("`needs` is {word}; it takes columns, summary or streams"))?,
        };
        let optional = json.get("optional").and_then(Json::as_bool).unwrap_or(false) || name.ends_with('*');
        Ok(Self { name: name.into(), ty, doc: text(json, "doc")?.into(), optional, needs })
    }
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterType {
    /// One of these words.
    Words(Vec<String>),
    /// Free text.
    Text,
    /// A list of texts.
    Texts,
    /// An integer within these bounds, both included.
    Integer(i64, i64),
    /// A truth value.
    Bool,
}

/// A parameter, which editions set.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ParameterType,
    /// What it does.
    pub doc: String,
    /// Its value if it is not set; none: it must be set.
    pub default: Option<Json>,
}

impl Parameter {
    /// A parameter that must be set.
    pub fn new(name: &str, ty: ParameterType, doc: &str) -> Self {
        Self { name: name.into(), ty, doc: doc.into(), default: None }
    }

    /// A parameter that is one of these words.
    pub fn words<T: Into<String>>(name: &str, words: impl IntoIterator<Item = T>, doc: &str) -> Self {
        Self::new(name, ParameterType::Words(words.into_iter().map(Into::into).collect()), doc)
    }

    /// A parameter that is text.
    pub fn text(name: &str, doc: &str) -> Self {
        Self::new(name, ParameterType::Text, doc)
    }

    /// A parameter that is a list of texts.
    pub fn texts(name: &str, doc: &str) -> Self {
        Self::new(name, ParameterType::Texts, doc)
    }

    /// A parameter that is an integer within bounds.
    pub fn integer(name: &str, bounds: std::ops::RangeInclusive<i64>, doc: &str) -> Self {
        Self::new(name, ParameterType::Integer(*bounds.start(), *bounds.end()), doc)
    }

    /// A parameter that is true or false.
    pub fn flag(name: &str, doc: &str) -> Self {
        Self::new(name, ParameterType::Bool, doc)
    }

    /// Says the value if it is not set.
    #[must_use]
    pub fn default(mut self, value: impl Into<Json>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// Whether it takes this value; if not, why.
    pub fn accepts(&self, value: &Json) -> Result<(), String> {
        match (&self.ty, value) {
            (ParameterType::Words(words), Json::String(word)) if words.contains(word) => Ok(()),
            (ParameterType::Words(words), other) => Err(format!("takes the words {}, not {other}", words.join(", "))),
            (ParameterType::Text, Json::String(_)) | (ParameterType::Bool, Json::Bool(_)) => Ok(()),
            (ParameterType::Texts, Json::Array(items)) if items.iter().all(Json::is_string) => Ok(()),
            (ParameterType::Integer(from, to), Json::Number(n)) => match n.as_i64() {
                Some(n) if (*from..=*to).contains(&n) => Ok(()),
                _ => Err(format!("takes integers from {from} to {to}, not {n}")),
            },
            (ParameterType::Text, other) => Err(format!("takes text, not {other}")),
            (ParameterType::Texts, other) => Err(format!("takes a list of texts, not {other}")),
            (ParameterType::Bool, other) => Err(format!("takes true or false, not {other}")),
            (ParameterType::Integer(..), other) => Err(format!("takes an integer, not {other}")),
        }
    }

    fn to_json(&self) -> Json {
        let mut out = Map::new();
        match &self.ty {
            ParameterType::Words(words) => {
                out.insert("type".into(), "words".into());
                out.insert("words".into(), words.clone().into());
            }
            ParameterType::Text => drop(out.insert("type".into(), "text".into())),
            ParameterType::Texts => drop(out.insert("type".into(), "texts".into())),
            ParameterType::Bool => drop(out.insert("type".into(), "bool".into())),
            ParameterType::Integer(from, to) => {
                out.insert("type".into(), "integer".into());
                out.insert("from".into(), (*from).into());
                out.insert("to".into(), (*to).into());
            }
        }
        out.insert("doc".into(), self.doc.as_str().into());
        if let Some(default) = &self.default {
            out.insert("default".into(), default.clone());
        }
        Json::Object(out)
    }

    fn from_json(name: &str, json: &Json) -> Result<Self, String> {
        let bound = |key: &str, none: i64| json.get(key).map_or(Some(none), Json::as_i64);
        let ty = match text(json, "type")? {
            "words" => ParameterType::Words(words(json, "words")?),
            "text" => ParameterType::Text,
            "texts" => ParameterType::Texts,
            "bool" => ParameterType::Bool,
            "integer" => match (bound("from", i64::MIN), bound("to", i64::MAX)) {
                (Some(from), Some(to)) => ParameterType::Integer(from, to),
                _ => return Err("`from` and `to` are integers".into()),
            },
            other => return Err(format!("{other:?} is no type of a parameter")),
        };
        let parameter =
            Self { name: name.into(), ty, doc: text(json, "doc")?.into(), default: json.get("default").cloned() };
        if let Some(default) = &parameter.default {
            parameter.accepts(default).map_err(|why| format!("the default does not fit: it {why}"))?;
        }
        Ok(parameter)
    }
}

/// An operation that `run_internal` performs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// The columns of its findings.
    pub fields: Vec<Field>,
}

/// What a plugin declares of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Description {
    /// The plugin's id.
    pub plugin: String,
    /// Its version.
    pub version: String,
    /// What it judges.
    pub doc: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its columns. The column `answer`, if it is declared, is filled with the answer of the verdict.
    pub fields: Vec<Field>,
    /// The words that an answer can be.
    pub answers: Vec<String>,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// The names of its artifacts, with what they hold.
    pub artifacts: Vec<(String, String)>,
    /// The roles of the tools that its steps and follow-ups use, with what they do.
    pub roles: Vec<(String, String)>,
    /// The transformations that it asks for.
    pub transforms: Vec<String>,
}

impl Description {
    /// A description without columns; id and version are filled in by the SDK.
    pub fn new(doc: &str) -> Self {
        Self { doc: doc.into(), ..Self::default() }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a column. The words of a column `answer` are the answers, unless [`Description::answers`] says otherwise.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        if let FieldType::Words(words) = &field.ty
            && field.name == "answer"
            && self.answers.is_empty()
        {
            self.answers.clone_from(words);
        }
        self.fields.push(field);
        self
    }

    /// Says which words an answer can be.
    #[must_use]
    pub fn answers<T: Into<String>>(mut self, words: impl IntoIterator<Item = T>) -> Self {
        self.answers = words.into_iter().map(Into::into).collect();
        self
    }

    /// Adds an operation for `run_internal` with the columns of its findings.
    #[must_use]
    pub fn operation(mut self, name: &str, doc: &str, fields: impl IntoIterator<Item = Field>) -> Self {
        let fields = fields.into_iter().collect();
        self.operations.push(Operation { name: name.into(), doc: doc.into(), fields });
        self
    }

    /// Adds an artifact.
    #[must_use]
    pub fn artifact(mut self, name: &str, doc: &str) -> Self {
        self.artifacts.push((name.into(), doc.into()));
        self
    }

    /// Adds the role of a tool that steps or follow-ups use.
    #[must_use]
    pub fn role(mut self, name: &str, doc: &str) -> Self {
        self.roles.push((name.into(), doc.into()));
        self
    }

    /// Adds a transformation that `prepare` asks for.
    #[must_use]
    pub fn transform(mut self, name: &str) -> Self {
        self.transforms.push(name.into());
        self
    }

    /// The JSON form, with a line break at its end.
    pub fn to_json(&self) -> String {
        let mut out = Map::new();
        out.insert("plugin".into(), self.plugin.as_str().into());
        out.insert("version".into(), self.version.as_str().into());
        out.insert("doc".into(), self.doc.as_str().into());
        let parameters = self.parameters.iter().map(|p| (p.name.clone(), p.to_json()));
        out.insert("parameters".into(), Json::Object(parameters.collect()));
        out.insert("fields".into(), fields_to_json(&self.fields));
        out.insert("answers".into(), self.answers.clone().into());
        if !self.operations.is_empty() {
            let operations = self
                .operations
                .iter()
                .map(|o| (o.name.clone(), json!({ "doc": o.doc, "fields": fields_to_json(&o.fields) })));
            out.insert("operations".into(), Json::Object(operations.collect()));
        }
        for (key, pairs) in [("artifacts", &self.artifacts), ("roles", &self.roles)] {
            if !pairs.is_empty() {
                let pairs = pairs.iter().map(|(name, doc)| (name.clone(), doc.as_str().into()));
                out.insert(key.into(), Json::Object(pairs.collect()));
            }
        }
        if !self.transforms.is_empty() {
            out.insert("transforms".into(), self.transforms.clone().into());
        }
        let mut text = serde_json::to_string_pretty(&Json::Object(out)).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads the JSON form; an error says what does not fit. Unknown keys are ignored.
    pub fn from_json(source: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(source).map_err(|e| format!("it is not JSON: {e}"))?;
        let mut out = Self::new(text(&json, "doc")?);
        out.plugin = text(&json, "plugin")?.into();
        out.version = text(&json, "version")?.into();
        for (name, parameter) in object(&json, "parameters")? {
            let parameter = Parameter::from_json(name, parameter).map_err(|e| format!("parameter `{name}`: {e}"))?;
            out.parameters.push(parameter);
        }
        out.fields = fields_from_json(&json)?;
        out.answers = words(&json, "answers")?;
        for (name, operation) in object(&json, "operations")? {
            let doc = text(operation, "doc").map_err(|e| format!("operation `{name}`: {e}"))?.into();
            let fields = fields_from_json(operation).map_err(|e| format!("operation `{name}`: {e}"))?;
            out.operations.push(Operation { name: name.clone(), doc, fields });
        }
        for (key, pairs) in [("artifacts", &mut out.artifacts), ("roles", &mut out.roles)] {
            for (name, doc) in object(&json, key)? {
                pairs.push((name.clone(), doc.as_str().unwrap_or_default().into()));
            }
        }
        if json.get("transforms").is_some() {
            out.transforms = words(&json, "transforms")?;
        }
        out.check()?;
        Ok(out)
    }

    /// What is wrong with the declarations.
    fn check(&self) -> Result<(), String> {
        for field in self.fields.iter().chain(self.operations.iter().flat_map(|o| &o.fields)) {
            let stem = field.name.strip_suffix('*').unwrap_or(&field.name);
            if stem.is_empty() || stem.contains('*') {
                return Err(format!("`{}` is no name of a column; `*` may only end a name", field.name));
            }
        }
        if self.answers.is_empty() {
            return Err("there are no `answers`; declare at least one word".into());
        }
        if let Some(field) = self.fields.iter().find(|f| f.name == "answer") {
            for word in &self.answers {
                field.ty.accepts(&Value::Word(word.clone())).map_err(|e| format!("the column `answer` {e}"))?;
            }
        }
        Ok(())
    }

    /// The column with this name, or the family that it belongs to.
    pub fn find(&self, name: &str) -> Option<&Field> {
        find(&self.fields, name)
    }

    /// Checks parameters against what is declared and fills in the defaults. `text` is a JSON object; empty text is an
    /// object without members.
    pub fn parameters_with_defaults(&self, source: &str) -> Result<Map<String, Json>, Fault> {
        let bad = |message: String| Fault::new(Status::BadParameter, message);
        let given = if source.is_empty() {
            Map::new()
        } else {
            match serde_json::from_str::<Json>(source) {
                Ok(Json::Object(map)) => map,
                Ok(_) => return Err(bad("the parameters are not an object".into()).at("")),
                Err(e) => return Err(bad(format!("the parameters are not JSON: {e}")).at("")),
            }
        };
        let mut out = Map::new();
        for parameter in &self.parameters {
            let pointer = format!("/{}", escape(&parameter.name));
            match given.get(&parameter.name).or(parameter.default.as_ref()) {
                Some(value) => {
                    if let Err(why) = parameter.accepts(value) {
                        return Err(bad(format!("`{}` {why}", parameter.name)).at(pointer));
                    }
                    out.insert(parameter.name.clone(), value.clone());
                }
                None => {
                    return Err(bad(format!("`{}` is not set: {}", parameter.name, parameter.doc)).at(pointer));
                }
            }
        }
        if let Some(name) = given.keys().find(|name| !out.contains_key(*name)) {
            let known = self.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
            let hint = if known.is_empty() { "there are no parameters".into() } else { format!("known are {known}") };
            return Err(bad(format!("there is no parameter `{name}`")).at(format!("/{}", escape(name))).hint(hint));
        }
        Ok(out)
    }
}

/// The column with this name among these, or the family that it belongs to.
pub fn find<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    fields.iter().find(|f| f.name == name).or_else(|| {
        fields
            .iter()
            .find(|f| f.name.strip_suffix('*').is_some_and(|stem| name.len() > stem.len() && name.starts_with(stem)))
    })
}

/// A name within a JSON pointer (RFC 6901).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn fields_to_json(fields: &[Field]) -> Json {
    Json::Object(fields.iter().map(|f| (f.name.clone(), f.to_json())).collect())
}

fn fields_from_json(json: &Json) -> Result<Vec<Field>, String> {
    object(json, "fields")?
        .iter()
        .map(|(name, field)| Field::from_json(name, field).map_err(|e| format!("column `{name}`: {e}")))
        .collect()
}

fn text<'a>(json: &'a Json, key: &str) -> Result<&'a str, String> {
    json.get(key).and_then(Json::as_str).ok_or_else(|| format!("`{key}` is missing, or is not text"))
}

fn words(json: &Json, key: &str) -> Result<Vec<String>, String> {
    json.get(key)
        .and_then(Json::as_array)
        .and_then(|words| words.iter().map(|w| w.as_str().map(str::to_string)).collect())
        .ok_or_else(|| format!("`{key}` is missing, or is not a list of words"))
}

fn object<'a>(json: &'a Json, key: &str) -> Result<&'a Map<String, Json>, String> {
    static EMPTY: std::sync::OnceLock<Map<String, Json>> = std::sync::OnceLock::new();
    match json.get(key) {
        None => Ok(EMPTY.get_or_init(Map::new)),
        Some(value) => value.as_object().ok_or_else(|| format!("`{key}` is not an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Description {
        let mut description = Description::new("An example.")
            .parameter(Parameter::words("mode", ["a", "b"], "How.").default("a"))
            .parameter(Parameter::integer("n", 0..=9, "How many."))
            .field(Field::words("answer", ["sat", "unsat"], "The answer."))
            .field(Field::number("size", "The size.").optional())
            .field(Field::text("kv.*", "What the checker said."))
            .operation("check", "Checks.", [Field::flag("right", "Whether it is.").needs(Fidelity::Summary)])
            .artifact("model", "A model.")
            .role("checker", "Checks proofs.")
            .transform("scramble");
        description.plugin = "example".into();
        description.version = "1.0.0".into();
        description
    }

    #[test]
    fn json_and_back() {
        assert_eq!(Description::from_json(&example().to_json()), Ok(example()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let json = example().to_json();
        for (from, to, says) in [
            ("\"number\"", "\"float\"", "column `size`: \"float\" is no type of a column"),
            ("\"integer\"", "\"real\"", "parameter `n`: \"real\" is no type of a parameter"),
            ("\"default\": \"a\"", "\"default\": \"c\"", "the default does not fit"),
            ("kv.*", "k*v.*", "`k*v.*` is no name of a column"),
            ("\"answers\": [\n    \"sat\",", "\"answers\": [\n    \"maybe\",", "column `answer`"),
        ] {
            let broken = json.replacen(from, to, 1);
            assert_ne!(broken, json, "{from} is there");
            let error = Description::from_json(&broken).expect_err("it is wrong");
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn parameters() {
        let description = example();
        let ok = description.parameters_with_defaults(r#"{"n": 3}"#).expect("it fits");
        assert_eq!(Json::Object(ok), json!({ "mode": "a", "n": 3 }));
        for (given, pointer) in [
            ("{}", "/n"),
            (r#"{"n": 10}"#, "/n"),
            (r#"{"n":1,"mode":"c"}"#, "/mode"),
            (r#"{"n":1,"x/y":0}"#, "/x~1y"),
            ("[]", ""),
            ("{", ""),
        ] {
            let fault = description.parameters_with_defaults(given).expect_err(given);
            assert_eq!((fault.status, fault.pointer.as_deref()), (Status::BadParameter, Some(pointer)), "{given}");
        }
    }

    #[test]
    fn families() {
        let description = example();
        assert_eq!(description.find("kv.lemmas").map(|f| f.name.as_str()), Some("kv.*"));
        assert!(description.find("kv.").is_none() && description.find("k").is_none());
    }
}
