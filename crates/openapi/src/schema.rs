//! Schemas of a document as JSON Schema that stands alone.

use crate::{document::Document, wording};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Number of schemas beyond which references are kept, so that a schema that is used often is shown once.
const MOST_INLINED: usize = 300;

/// Deepest nesting of references that is followed; a deeper one is an error.
const DEEPEST: usize = 100;

/// Keys of a schema that are left out, since they say nothing to a model, or are no part of JSON Schema.
const DROPPED: [&str; 7] = [
    "xml",
    "externalDocs",
    "discriminator",
    "example",
    "deprecated",
    "nullable",
    "$schema",
];

/// Reader of the schemas of one operation. It replaces references by the schemas that they lead to, and keeps the
/// definitions for references that stay.
pub(crate) struct Schemas<'a> {
    document: &'a Document,
    /// References that are being followed, the outermost first, to notice a circle.
    within: Vec<String>,
    /// References that stay, each with the name of its definition: those of circles, or all of them.
    kept: BTreeMap<String, String>,
    keeps_all: bool,
    count: usize,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(document: &'a Document, keeps_all: bool) -> Self {
        Schemas {
            document,
            within: Vec::new(),
            kept: BTreeMap::new(),
            keeps_all,
            count: 0,
        }
    }

    /// Returns `true` if there are so many schemas that references should be kept.
    pub(crate) fn is_many(&self) -> bool {
        !self.keeps_all && self.count > MOST_INLINED
    }

    /// Returns the schema in a form that stands alone, except for references to [definitions](Self::definitions).
    pub(crate) fn inline(&mut self, schema: &Value) -> Result<Value, String> {
        self.count += 1;
        let Some(map) = schema.as_object() else {
            // A schema of 3.1 may be `true` or `false`.
            return Ok(schema.clone());
        };
        if self.is_many() {
            // The result is thrown away.
            return Ok(Value::Bool(true));
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            return self.follow(reference);
        }
        if self.within.len() > DEEPEST {
            return Err(wording::ref_circle(
                self.within.last().map_or("", String::as_str),
            ));
        }
        let mut made = Map::new();
        for (key, value) in map {
            let value = match key.as_str() {
                key if DROPPED.contains(&key) || key.starts_with("x-") => continue,
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                    self.each(value)?
                }
                "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.list(value)?,
                // Before 2020-12, the items of a list could have a schema each.
                "items" if value.is_array() => self.list(value)?,
                "items"
                | "not"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "contentSchema"
                | "additionalItems"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "if"
                | "then"
                | "else" => self.inline(value)?,
                "$defs" | "definitions" => continue,
                _ => value.clone(),
            };
            made.insert(key.clone(), value);
        }
        self.without_read_only(map, &mut made);
        if self.document.is_3_0 {
            of_3_0(map, &mut made);
        }
        Ok(Value::Object(made))
    }

    fn follow(&mut self, reference: &str) -> Result<Value, String> {
        let target = self.document.at(reference)?;
        if self.keeps_all || self.within.iter().any(|one| one == reference) {
            let name = self.keep(reference);
            return Ok(json!({"$ref": format!("#/$defs/{name}")}));
        }
        self.within.push(reference.to_owned());
        let made = self.inline(target);
        self.within.pop();
        made
    }

    /// Returns the name of the definition to which a reference that stays leads.
    fn keep(&mut self, reference: &str) -> String {
        if let Some(name) = self.kept.get(reference) {
            return name.clone();
        }
        let last = reference.rsplit('/').next().unwrap_or_default();
        let plain: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let mut name = plain.clone();
        let mut number = 1;
        while self.kept.values().any(|taken| *taken == name) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        self.kept.insert(reference.to_owned(), name.clone());
        name
    }

    /// Returns the definitions to which the references in the schemas so far lead.
    pub(crate) fn definitions(&mut self) -> Result<Map<String, Value>, String> {
        let mut made = Map::new();
        // A definition may need further ones.
        loop {
            let next = self.kept.iter().find(|(_, name)| !made.contains_key(*name));
            let Some((reference, name)) = next.map(|(a, b)| (a.clone(), b.clone())) else {
                return Ok(made);
            };
            let target = self.document.at(&reference)?;
            self.within.push(reference);
            let definition = self.inline(target);
            self.within.pop();
            made.insert(name, definition?);
        }
    }

    /// Makes each of these schemas of an object's properties stand alone. Properties that only the server sets are left
    /// out.
    fn each(&mut self, schemas: &Value) -> Result<Value, String> {
        let mut made = Map::new();
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            if schema["readOnly"] != true {
                made.insert(name.clone(), self.inline(schema)?);
            }
        }
        Ok(Value::Object(made))
    }

    fn list(&mut self, schemas: &Value) -> Result<Value, String> {
        let schemas = schemas.as_array().into_iter().flatten();
        schemas.map(|schema| self.inline(schema)).collect()
    }

    /// Removes properties that only the server sets from the list of required ones.
    fn without_read_only(&self, map: &Map<String, Value>, made: &mut Map<String, Value>) {
        let Some(required) = made.get_mut("required").and_then(Value::as_array_mut) else {
            return;
        };
        let properties = map.get("properties");
        required.retain(|name| {
            let property = properties.and_then(|all| all.get(name.as_str().unwrap_or_default()));
            property.is_none_or(|property| property["readOnly"] != true)
        });
        if required.is_empty() {
            made.remove("required");
        }
    }
}

/// Converts keywords that version 3.0 of OpenAPI spells differently into those of JSON Schema.
fn of_3_0(map: &Map<String, Value>, made: &mut Map<String, Value>) {
    if map.get("nullable") == Some(&Value::Bool(true)) {
        if let Some(Value::String(kind)) = made.get("type") {
            made.insert("type".to_owned(), json!([kind, "null"]));
        }
        if let Some(Value::Array(values)) = made.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        match made.get(exclusive) {
            Some(Value::Bool(true)) => {
                if let Some(value) = made.remove(bound) {
                    made.insert(exclusive.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => _ = made.remove(exclusive),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(schemas: Value, version: &str) -> Document {
        let document = json!({"openapi": version, "paths": {}, "components": {"schemas": schemas}});
        Document::read(&document.to_string()).unwrap()
    }

    #[test]
    fn references_are_inlined_and_circles_become_definitions() {
        let document = document(
            json!({
                "Name": {"type": "string", "example": "Rex"},
                "Node": {"type": "object", "properties": {"name": {"$ref": "#/components/schemas/Name"},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}},
            }),
            "3.1.0",
        );
        let mut schemas = Schemas::new(&document, false);
        let node = json!({"$ref": "#/components/schemas/Node"});
        let made = schemas.inline(&node).unwrap();
        assert_eq!(made["properties"]["name"], json!({"type": "string"}));
        assert_eq!(
            made["properties"]["children"]["items"],
            json!({"$ref": "#/$defs/Node"})
        );
        let definitions = schemas.definitions().unwrap();
        assert_eq!(
            definitions["Node"]["properties"]["children"]["items"],
            json!({"$ref": "#/$defs/Node"})
        );
        assert_eq!(definitions.len(), 1);
    }

    #[test]
    fn what_3_0_spells_otherwise_becomes_json_schema() {
        let document = document(json!({}), "3.0.3");
        let mut schemas = Schemas::new(&document, false);
        let made = |schemas: &mut Schemas<'_>, schema: Value| schemas.inline(&schema).unwrap();
        assert_eq!(
            made(
                &mut schemas,
                json!({"type": "integer", "nullable": true, "minimum": 1, "exclusiveMinimum": true})
            ),
            json!({"type": ["integer", "null"], "exclusiveMinimum": 1})
        );
        assert_eq!(
            made(
                &mut schemas,
                json!({"type": "object", "required": ["id", "name"], "properties": {
                    "id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "enum": ["a"], "nullable": true},
                }})
            ),
            json!({"type": "object", "required": ["name"], "properties": {"name": {"type": ["string", "null"], "enum": ["a", null]}}})
        );
    }

    #[test]
    fn references_are_followed_wherever_a_schema_may_stand() {
        let document = document(json!({"Name": {"type": "string"}}), "3.1.0");
        let name = json!({"$ref": "#/components/schemas/Name"});
        let schema = |name: &Value| {
            let mut schema = Map::new();
            for key in [
                "items",
                "not",
                "if",
                "then",
                "else",
                "contains",
                "propertyNames",
                "contentSchema",
                "additionalItems",
                "additionalProperties",
                "unevaluatedItems",
                "unevaluatedProperties",
            ] {
                schema.insert(key.to_owned(), name.clone());
            }
            for key in [
                "properties",
                "patternProperties",
                "dependentSchemas",
                "dependencies",
            ] {
                schema.insert(key.to_owned(), json!({"a": name}));
            }
            for key in ["allOf", "anyOf", "oneOf", "prefixItems"] {
                schema.insert(key.to_owned(), json!([name]));
            }
            Value::Object(schema)
        };
        let mut schemas = Schemas::new(&document, false);
        let made = schemas.inline(&schema(&name)).unwrap();
        assert_eq!(made, schema(&json!({"type": "string"})));
        let made = schemas.inline(&json!({"items": [name, true], "dependencies": {"a": ["b"]}}));
        let expected = json!({"items": [{"type": "string"}, true], "dependencies": {"a": ["b"]}});
        assert_eq!(made.unwrap(), expected);
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_named() {
        let document = document(json!({"A": {"$ref": "#/components/schemas/A"}}), "3.1.0");
        let mut schemas = Schemas::new(&document, false);
        let failed = |schemas: &mut Schemas<'_>, reference: &str| {
            schemas.inline(&json!({"$ref": reference})).unwrap_err()
        };
        assert_eq!(
            failed(&mut schemas, "#/components/schemas/B"),
            "`$ref` leads to `#/components/schemas/B`, which is not there"
        );
        assert!(failed(&mut schemas, "pets.json#/Pet").contains("in another document"));
    }
}
