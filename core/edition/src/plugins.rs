//! The columns that track plugins declare, read from their committed schemas.

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::model::Field;
use crate::resolve::field_type;

/// The plugins whose schemas are known.
pub fn names() -> Vec<&'static str> {
    crate::shipped::PLUGINS.iter().map(|(name, _)| *name).collect()
}

/// The columns that a plugin's results have beyond the common ones.
pub fn fields(plugin: &str) -> Option<IndexMap<String, Field>> {
    let (_, text) = crate::shipped::PLUGINS.iter().find(|(name, _)| *name == plugin)?;
    let schema: Json = serde_json::from_str(text).ok()?;
    let mut fields = IndexMap::new();
    for (name, field) in schema.get("fields")?.as_object()? {
        let words: Vec<String> = field
            .get("words")
            .and_then(Json::as_array)
            .map(|words| words.iter().filter_map(Json::as_str).map(str::to_string).collect())
            .unwrap_or_default();
        let ty = field_type(field.get("type")?.as_str()?, &words);
        let optional = field.get("optional").and_then(Json::as_bool).unwrap_or(false);
        let says = field.get("doc").and_then(Json::as_str).map(str::to_string);
        fields.insert(name.clone(), Field { ty, optional, otherwise: None, says });
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_schema_can_be_read() {
        for name in super::names() {
            assert!(super::fields(name).is_some_and(|f| !f.is_empty()), "{name}");
        }
    }
}
