//! Fields of a request that a program sets by their names.

use crate::wording;
use agents_core::model::{ModelError, ModelErrorKind as Kind};
use serde_json::{Map, Value};

/// Fields of a request's body that were set by their names, beside the fields that the client writes itself.
///
/// A client has a list of its own fields. Each item of the list is a pair: the name of a field, and words for what sets
/// this field. The name of a field within an object has a dot: `text.format`. A program cannot set the client's own
/// fields, but can set the other fields of such an object:
///
/// ```
/// use agents_http::Fields;
/// use serde_json::{Map, json};
///
/// let own = [("model", "`openai(..)`"), ("text.format", "the type of the answer")];
/// let mut fields = Fields::default();
/// fields.set_by_name("text".into(), json!({ "verbosity": "low" }), &own);
/// fields.set_by_name("service_tier".into(), "flex".into(), &own);
/// assert!(fields.check().is_ok());
/// // The object is written once, with what the client puts into it.
/// assert_eq!(fields.json(&["text"]), r#","service_tier":"flex""#);
/// let format = Map::from_iter([("format".to_owned(), json!({ "type": "json_schema" }))]);
/// let text = fields.joined("text", format);
/// assert_eq!(text, Some(json!({ "format": { "type": "json_schema" }, "verbosity": "low" })));
///
/// fields.set_by_name("text".into(), json!({ "format": {} }), &own);
/// let why = fields.check().unwrap_err().to_string();
/// assert!(why.starts_with("the field `text.format` of a request is set by the type of the answer"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Names and values, in the order in which the names were first set.
    set: Vec<(String, Value)>,
    /// Reason why the first field that was refused cannot be set; `None` if no field was refused.
    refused: Option<String>,
}

impl Fields {
    /// Sets a field by a method of the client; the last value for a name applies.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.held(name) {
            Some(held) => *held = value,
            None => self.set.push((name.to_owned(), value)),
        }
    }

    /// Sets a field for a program; the last value for a name applies. Fields of an object into which the client writes as
    /// well join those that were set before. A field of the client's `own` is not set, and [`check`](Self::check) says
    /// why.
    pub fn set_by_name(&mut self, name: String, value: Value, own: &[(&str, &str)]) {
        if let Some(why) = refusal(&name, &value, own) {
            self.refused.get_or_insert(why);
            return;
        }
        let is_shared = own.iter().any(|(path, _)| is_within(path, &name));
        match self.held(&name) {
            Some(held) if is_shared => join(held, value),
            Some(held) => *held = value,
            None => self.set.push((name, value)),
        }
    }

    /// Leaves a field out that was set before.
    pub fn remove(&mut self, name: &str) {
        self.set.retain(|(known, _)| known != name);
    }

    /// Returns the value that a field was set to; `None` if it was not set.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let mut set = self.set.iter();
        set.find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Returns the fields with their values, in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.set.iter().map(|(name, value)| (&**name, value))
    }

    /// Checks that no field was refused.
    ///
    /// # Errors
    /// With the kind [`Setup`](Kind::Setup), if a program has set a field that the client sets itself. The error names the
    /// field, and says what sets it.
    pub fn check(&self) -> Result<(), ModelError> {
        match &self.refused {
            Some(why) => Err(ModelError::new(Kind::Setup, why.clone())),
            None => Ok(()),
        }
    }

    /// Returns the JSON of the fields, each with a comma before it. Fields that are `null` are left out, and so are the
    /// fields named in `elsewhere`, which the client writes itself.
    pub fn json(&self, elsewhere: &[&str]) -> String {
        let mut json = String::new();
        for (name, value) in self.iter() {
            if !value.is_null() && !elsewhere.contains(&name) {
                json += &format!(",{}:{value}", Value::from(name));
            }
        }
        json
    }

    /// Returns an object into which the client writes as well: what the client writes, with the fields that were set, at
    /// every level. It is `None` if the object was set to `null`, or has no fields.
    pub fn joined(&self, name: &str, own: Map<String, Value>) -> Option<Value> {
        let mut object = Value::Object(own);
        match self.get(name) {
            Some(Value::Null) => return None,
            Some(set) => join(&mut object, set.clone()),
            None => {}
        }
        let is_empty = object.as_object().is_some_and(Map::is_empty);
        (!is_empty).then_some(object)
    }

    /// Returns the JSON of each tool that the server runs itself: the items of the field `tools`.
    ///
    /// # Errors
    /// With the kind [`Setup`](Kind::Setup), if the field is no list.
    pub fn server_tools(&self) -> Result<Vec<String>, ModelError> {
        match self.get("tools") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(tools)) => Ok(tools.iter().map(Value::to_string).collect()),
            Some(_) => Err(ModelError::new(Kind::Setup, wording::NO_LIST_OF_TOOLS)),
        }
    }

    fn held(&mut self, name: &str) -> Option<&mut Value> {
        let mut set = self.set.iter_mut();
        set.find_map(|(known, value)| (known == name).then_some(value))
    }
}

/// Returns the reason why a program cannot set the field at this path to this value; `None` if it can.
fn refusal(path: &str, value: &Value, own: &[(&str, &str)]) -> Option<String> {
    if let Some((_, by)) = own.iter().find(|(field, _)| *field == path) {
        return Some(wording::own_field(path, by));
    }
    let (within, by) = own.iter().find(|(field, _)| is_within(field, path))?;
    match value {
        Value::Object(fields) => fields
            .iter()
            .find_map(|(key, value)| refusal(&format!("{path}.{key}"), value, own)),
        _ => Some(wording::no_object(path, within, by)),
    }
}

/// Returns `true` if the first path leads to a field within the object at the second one.
fn is_within(path: &str, object: &str) -> bool {
    let rest = path.strip_prefix(object);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Puts the fields of an object into another one, at every level. Any other value takes the place of the one that was
/// there.
fn join(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(&key) {
                    Some(held) => join(held, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (into, from) => *into = from,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    const OWN: [(&str, &str); 4] = [
        ("model", "`gemini(..)`"),
        ("generationConfig.temperature", "`.temperature(..)`"),
        (
            "generationConfig.thinkingConfig.thinkingLevel",
            "`.thinking_level(..)`",
        ),
        ("text.format", "the type of the answer"),
    ];

    fn set(fields: &[(&str, Value)]) -> Fields {
        let mut made = Fields::default();
        for (name, value) in fields {
            made.set_by_name((*name).to_owned(), value.clone(), &OWN);
        }
        made
    }

    #[test]
    fn a_field_of_the_client_is_refused_at_every_depth_with_a_remedy() {
        for (name, value, why) in [
            (
                "model",
                json!("m"),
                "the field `model` of a request is set by `gemini(..)`: leave out `.body(\"model\", ..)`",
            ),
            (
                "generationConfig",
                json!({ "topP": 0.9, "thinkingConfig": { "x": 1, "thinkingLevel": "low" } }),
                "the field `generationConfig.thinkingConfig.thinkingLevel` of a request is set by `.thinking_level(..)`: \
                 leave it out of `.body(\"generationConfig\", ..)`",
            ),
            (
                "generationConfig",
                json!({ "thinkingConfig": null }),
                "the field `generationConfig.thinkingConfig` of a request is an object, whose field \
                 `generationConfig.thinkingConfig.thinkingLevel` is set by `.thinking_level(..)`: give an object with \
                 its other fields in `.body(\"generationConfig\", ..)`",
            ),
            (
                "text",
                json!("low"),
                "the field `text` of a request is an object, whose field `text.format` is set by the type of the answer: \
                 give an object with its other fields in `.body(\"text\", ..)`",
            ),
        ] {
            let error = set(&[(name, value.clone())]).check().unwrap_err();
            assert_eq!(error.to_string(), why, "{name} {value}");
            assert_eq!(error.kind(), Kind::Setup);
        }
        // The first mistake is told, and nothing of it is sent.
        let fields = set(&[("model", json!(1)), ("text", json!(2))]);
        let why = fields.check().unwrap_err().to_string();
        assert!(why.contains("`model`"), "{why}");
        assert_eq!(fields.json(&[]), "");
    }

    #[test]
    fn fields_of_a_shared_object_join_and_others_replace() {
        let fields = set(&[
            ("text", json!({ "verbosity": "low", "a": { "b": 1 } })),
            ("metadata", json!({ "user": "ada" })),
            ("text", json!({ "verbosity": "high", "a": { "c": 2 } })),
            ("metadata", json!({ "team": "x" })),
            // Names that only look like those of the client.
            ("text.size", json!(1)),
            ("textual", json!({ "format": 1 })),
        ]);
        fields.check().unwrap();
        let joined = fields.joined("text", Map::new());
        let expected = json!({ "verbosity": "high", "a": { "b": 1, "c": 2 } });
        assert_eq!(joined, Some(expected));
        assert_eq!(
            fields.json(&["text"]),
            r#","metadata":{"team":"x"},"text.size":1,"textual":{"format":1}"#
        );
    }

    #[test]
    fn a_field_that_is_null_is_left_out_and_so_is_an_object_without_fields() {
        let fields = set(&[("stream_options", Value::Null), ("x", Value::Null)]);
        let own = Map::from_iter([("include_usage".to_owned(), json!(true))]);
        assert_eq!(fields.joined("stream_options", own.clone()), None);
        assert_eq!(fields.json(&[]), "");
        assert_eq!(fields.joined("text", Map::new()), None);
        assert_eq!(fields.joined("text", own.clone()), Some(own.into()));
    }

    #[test]
    fn tools_of_the_server_are_a_list() {
        let tools = set(&[("tools", json!([{ "type": "web_search" }]))]);
        assert_eq!(tools.server_tools().unwrap(), [r#"{"type":"web_search"}"#]);
        let error = set(&[("tools", json!({ "type": "web_search" }))]).server_tools();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("`.body(\"tools\", json!([..]))`"), "{error}");
    }
}
