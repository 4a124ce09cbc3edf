//! Editions: the rules of one competition year as a YAML file, read like a compiler reads a program.
//!
//! The way of a file: text → tree with places ([`node`]) → what it `extends` laid under it → the deviations of the
//! wanted reading laid on it → checked against the format (`shape`, `language`) → resolved to the [`model`] with
//! every formula compiled. Everything that is wrong is a [`diag::Diagnostic`] with its place; a file with an error
//! gives no edition.
//!
//! This crate knows no competition; the shipped editions are data that it carries along.

mod additions;
pub mod coverage;
pub mod diag;
pub mod explain;
mod language;
mod load;
pub mod model;
pub mod node;
pub mod plugins;
mod resolve;
mod shape;

mod shipped {
    include!(concat!(env!("OUT_DIR"), "/shipped.rs"));
}

pub use load::{LoadError, check, check_with, files, load, load_with, shipped_editions, source_of};
pub use model::{Edition, Reading};
pub use resolve::carried;

/// The JSON Schema of edition files, as it is committed under `schemas/`.
pub fn json_schema() -> serde_json::Value {
    shape::json_schema(&language::EDITION, "edition.schema.json", &["edition"])
}

/// The merged tree of an edition as YAML, after `extends`, `like` and the deviations of its reading.
///
/// # Errors
/// If it cannot be written as YAML.
pub fn show(edition: &Edition) -> Result<String, serde_yaml::Error> {
    use node::Kind;
    fn value(node: &node::Node) -> serde_yaml::Value {
        match &node.kind {
            Kind::Scalar { text, plain: true } => {
                serde_yaml::from_str(text).unwrap_or_else(|_| serde_yaml::Value::String(text.clone()))
            }
            Kind::Scalar { text, .. } => serde_yaml::Value::String(text.clone()),
            Kind::List(items) => serde_yaml::Value::Sequence(items.iter().map(value).collect()),
            Kind::Map(entries) => {
                let pairs = entries.iter().map(|e| (serde_yaml::Value::String(e.key.clone()), value(&e.value)));
                serde_yaml::Value::Mapping(pairs.collect())
            }
        }
    }
    serde_yaml::to_string(&value(&edition.tree))
}
