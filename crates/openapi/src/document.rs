//! The document: its version, and the places to which its references lead.

use crate::{error::ApiError, wording};
use serde_json::{Map, Value};

/// Longest chain of references that is followed before it counts as a circle.
const LONGEST_CHAIN: usize = 50;

/// OpenAPI document that has been read.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
    /// Is `true` for version 3.0 of OpenAPI, whose schemas differ from JSON Schema.
    pub(crate) is_3_0: bool,
}

impl Document {
    /// Reads a document from its text, and checks its version.
    pub(crate) fn read(text: &str) -> Result<Self, ApiError> {
        let root = parse(text)?;
        let version = root["openapi"]
            .as_str()
            .ok_or_else(|| ApiError::new(wording::NO_VERSION))?;
        let is_3_0 = version.starts_with("3.0");
        if !is_3_0 && !version.starts_with("3.1") {
            return Err(ApiError::new(wording::other_version(version)));
        }
        if !root["paths"].is_object() {
            return Err(ApiError::new(wording::NO_PATHS));
        }
        Ok(Document { root, is_3_0 })
    }

    /// Returns the value under this key at the top of the document; `null` if it is missing.
    pub(crate) fn get(&self, key: &str) -> &Value {
        &self.root[key]
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.root["paths"].as_object().into_iter().flatten()
    }

    /// Returns the value itself, or, if it is a reference, the value to which the reference leads, through further
    /// references if need be.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..LONGEST_CHAIN {
            match value.get("$ref").and_then(Value::as_str) {
                Some(reference) => value = self.at(reference)?,
                None => return Ok(value),
            }
        }
        let reference = value["$ref"].as_str().unwrap_or_default();
        Err(wording::ref_circle(reference))
    }

    /// Returns the value in the document to which a reference such as `#/components/schemas/Pet` leads.
    pub(crate) fn at(&self, reference: &str) -> Result<&Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(wording::ref_outside(reference));
        };
        // A reference is a part of a URI, in which characters may be encoded.
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        let found = self.root.pointer(&pointer);
        found.ok_or_else(|| wording::ref_nowhere(reference))
    }

    /// Returns the value as an object, after its references were followed; an error if the value is no object.
    pub(crate) fn object<'a>(
        &'a self,
        value: &'a Value,
        place: &str,
    ) -> Result<&'a Map<String, Value>, String> {
        let value = self.resolve(value)?;
        value
            .as_object()
            .ok_or_else(|| wording::not_an_object(place))
    }
}

fn parse(text: &str) -> Result<Value, ApiError> {
    let error = match serde_json::from_str(text) {
        Ok(root) => return Ok(root),
        Err(error) => error,
    };
    #[cfg(feature = "yaml")]
    if !text.trim_start().starts_with('{') {
        let root = yaml_serde::from_str(text);
        return root.map_err(|error| ApiError::new(wording::not_yaml(&error)));
    }
    let message = wording::not_json(&error);
    #[cfg(not(feature = "yaml"))]
    let message = match text.trim_start().starts_with('{') {
        true => message,
        false => message + wording::YAML_IS_OFF,
    };
    Err(ApiError::new(message))
}
