//! Rewrites a schema so that it fits into a dialect.

use super::{Dialect, Keywords, Objects, Place, References, is_definitions, place};
use serde_json::{Map, Value, json};

impl Dialect {
    /// Rewrites the schema. Returns `false` if the dialect cannot say it.
    pub(super) fn fit_in_place(&self, schema: &mut Value) -> bool {
        let is_closed = self.objects != Objects::Open;
        let Some(schema) = schema.as_object_mut() else {
            // `true`: any value.
            if let Keywords::Only(_) = self.keywords {
                *schema = json!({});
            }
            return !is_closed;
        };
        if !self.fit_keywords(schema) || (is_closed && !self.close(schema)) {
            return false;
        }
        for (key, inner) in schema.iter_mut() {
            let fits = match (place(key), inner) {
                // A closed object has none.
                _ if is_closed && key == "additionalProperties" => true,
                (Place::Itself, Value::Bool(_)) if key != "items" => true,
                (Place::Values, Value::Object(schemas)) => {
                    schemas.values_mut().all(|schema| self.fit_in_place(schema))
                }
                (Place::Items, Value::Array(schemas)) => {
                    schemas.iter_mut().all(|schema| self.fit_in_place(schema))
                }
                // Before 2020-12, the items of a list could have a schema each.
                (Place::Itself, Value::Array(schemas)) if !self.lists_keywords() => {
                    schemas.iter_mut().all(|schema| self.fit_in_place(schema))
                }
                (Place::Itself, schema) => self.fit_in_place(schema),
                _ => true,
            };
            if !fits {
                return false;
            }
        }
        // A schema without any of these permits every value.
        !is_closed
            || ["type", "$ref", "anyOf", "enum", "const"]
                .iter()
                .any(|key| schema.contains_key(*key))
    }

    fn lists_keywords(&self) -> bool {
        matches!(self.keywords, Keywords::Only(_) | Keywords::Strictly(_))
    }

    fn knows(&self, key: &str) -> bool {
        match self.keywords {
            Keywords::All => true,
            Keywords::Without(unknown) => !unknown.contains(&key),
            Keywords::Only(known) | Keywords::Strictly(known) => known.contains(&key),
        }
    }

    fn fit_keywords(&self, schema: &mut Map<String, Value>) -> bool {
        if let Keywords::Strictly(_) = self.keywords {
            schema.remove("$schema");
            if !schema.keys().all(|key| self.knows(key)) {
                return false;
            }
        } else {
            self.replace(schema);
        }
        let is_alone = self.references != References::Kept;
        let leads_away = is_alone && schema.get("$ref").is_some_and(Value::is_string);
        schema.retain(|key, _| {
            self.knows(key) && (!leads_away || key == "$ref" || is_definitions(key))
        });
        let format = schema.get("format").and_then(Value::as_str);
        if let (Some(known), Some(format)) = (self.formats, format)
            && !known.contains(&format)
        {
            schema.remove("format");
        }
        true
    }

    /// Replaces keywords of a schema by others that say the same and that the server knows.
    fn replace(&self, schema: &mut Map<String, Value>) {
        let takes = |instead, key| !self.knows(key) && self.knows(instead);
        let has_renamed = takes("$defs", "definitions");
        if has_renamed && let Some(definitions) = schema.remove("definitions") {
            schema.entry("$defs").or_insert(definitions);
        }
        if takes("anyOf", "oneOf")
            && let Some(choices) = schema.remove("oneOf")
        {
            schema.entry("anyOf").or_insert(choices);
        }
        if takes("enum", "const")
            && let Some(only @ (Value::String(_) | Value::Number(_))) = schema.remove("const")
        {
            schema.entry("enum").or_insert_with(|| json!([only]));
        }
        if !self.knows("allOf")
            && let Some(Value::Array(mut all)) = schema.remove("allOf")
            && let [Value::Object(only)] = &mut all[..]
        {
            for (key, value) in std::mem::take(only) {
                schema.entry(key).or_insert(value);
            }
        }
        if has_renamed && let Some(Value::String(target)) = schema.get_mut("$ref") {
            *target = target.replacen("#/definitions/", "#/$defs/", 1);
        }
    }

    /// Forbids fields that the schema of an object does not name. Returns `false` if that is impossible, if a field is
    /// optional and may not be, or if an array lacks `items` and may not.
    fn close(&self, schema: &mut Map<String, Value>) -> bool {
        let of = schema.get("type").and_then(Value::as_str);
        if of == Some("array") {
            return self.any_items || schema.contains_key("items");
        }
        if of != Some("object") {
            return true;
        }
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else {
            // A map with any keys.
            return false;
        };
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.map_or(&[][..], Vec::as_slice);
        let mut names = fields.keys();
        let fits = self.objects == Objects::Closed
            || names.all(|field| required.iter().any(|name| name == field));
        let rest = schema.get("additionalProperties");
        let is_open = !matches!(rest, None | Some(Value::Bool(false)));
        schema.insert("additionalProperties".into(), false.into());
        fits && !is_open
    }
}
