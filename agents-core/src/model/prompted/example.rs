use serde_json::{Map, Value};

/// Depth of nesting at which an example ends, since a schema may refer to itself.
const DEPTH: usize = 8;

/// Generates a value that follows a schema, as far as the schema determines it: its own example,
/// its default, its first choice, or a value of the right type.
///
/// Optional fields are left out; if all fields are optional, the first of them is kept.
#[cfg(test)]
pub(super) fn example_of(schema: &Value) -> Value {
    nth_example_of(schema, 0)
}

/// Generates a value that follows a schema, as `example_of` does; another `number` gives other values, where the
/// schema allows several.
pub(super) fn nth_example_of(schema: &Value, number: usize) -> Value {
    Maker {
        root: schema,
        number,
    }
    .make(schema, "text", DEPTH)
}

/// Returns `true` if a schema allows any text and says nothing about it.
pub(super) fn is_any_text(schema: &Value) -> bool {
    let schema = resolve(schema, schema);
    let said = schema.as_object().into_iter().flat_map(Map::keys);
    let says_nothing =
        |key: &String| ["$schema", "title", "description", "type"].contains(&key.as_str());
    schema.get("type").and_then(Value::as_str) == Some("string")
        && said.into_iter().all(says_nothing)
}

/// Follows references within `root` and returns the schema that they lead to; a schema without a
/// reference is returned itself.
pub(super) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut at = schema;
    for _ in 0..DEPTH {
        // schemars wraps a reference that has a description: `allOf: [{"$ref": ..}]`.
        let alone = at
            .get("allOf")
            .and_then(Value::as_array)
            .filter(|all| all.len() == 1);
        let inner = alone.map_or(at, |all| &all[0]);
        let Some(path) = inner.get("$ref").and_then(Value::as_str) else {
            return inner;
        };
        match path
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        {
            Some(target) => at = target,
            None => return at,
        }
    }
    at
}

struct Maker<'a> {
    root: &'a Value,
    number: usize,
}

impl Maker<'_> {
    fn make(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        if depth == 0 {
            return Value::Null;
        }
        if let Some(given) = self.given(schema) {
            return given;
        }
        if let Some(inner) = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| self.choice(schema, key))
        {
            return self.make(inner, name, depth - 1);
        }
        match type_of(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "integer" => Value::from(self.integer(schema)),
            "number" => self.float(schema),
            "boolean" => Value::Bool(self.number.is_multiple_of(2)),
            "null" => Value::Null,
            _ => Value::String(self.string(schema, name)),
        }
    }

    /// Returns a value that the schema itself names: its constant, one of its examples or choices, or its default;
    /// `None` if it names none.
    fn given(&self, schema: &Value) -> Option<Value> {
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        for key in ["examples", "enum"] {
            let list = schema
                .get(key)
                .and_then(Value::as_array)
                .filter(|list| !list.is_empty());
            if let Some(list) = list {
                return Some(list[self.number % list.len()].clone());
            }
        }
        schema
            .get("default")
            .filter(|value| !value.is_null())
            .cloned()
    }

    /// Returns the first alternative of a union (such as `anyOf`) that is not `null`, or else the first one; `None` if
    /// the schema has no such union.
    fn choice<'s>(&self, schema: &'s Value, key: &str) -> Option<&'s Value> {
        let all = schema.get(key)?.as_array()?;
        all.iter()
            .find(|one| type_of(one) != "null")
            .or_else(|| all.first())
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema.get("required").and_then(Value::as_array);
        let wanted = |name: &str| match required {
            Some(list) if !list.is_empty() => list.iter().any(|entry| entry == name),
            // No field is required: the first one serves as an example.
            _ => true,
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let wanted = properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| wanted(name));
        let limit = if required.is_none_or(Vec::is_empty) {
            1
        } else {
            usize::MAX
        };
        let fields: Map<_, _> = wanted
            .take(limit)
            .map(|(name, inner)| (name.clone(), self.make(inner, name, depth - 1)))
            .collect();
        Value::Object(fields)
    }

    fn array(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let count = bound(schema, "minItems").map_or(1, |least| least.clamp(1.0, 4.0) as usize);
        match schema.get("items") {
            Some(Value::Array(each)) => each
                .iter()
                .map(|item| self.make(item, name, depth - 1))
                .collect(),
            Some(item) => (0..count)
                .map(|_| self.make(item, name, depth - 1))
                .collect(),
            None => Value::Array(Vec::new()),
        }
    }

    fn integer(&self, schema: &Value) -> i64 {
        let step = bound(schema, "multipleOf")
            .filter(|step| *step >= 1.0)
            .unwrap_or(1.0);
        let wish = [3.0_f64, 12.0][self.number % 2];
        let (least, most) = limits(schema, 1.0);
        let value = (wish.clamp(least.min(most), most) / step).ceil() * step;
        (if value > most { value - step } else { value }) as i64
    }

    fn float(&self, schema: &Value) -> Value {
        let wish = [20.5_f64, 1.5][self.number % 2];
        let (least, most) = limits(schema, 0.5);
        let value: f64 = wish.clamp(least.min(most), most);
        Value::from(value)
    }

    fn string(&self, schema: &Value, name: &str) -> String {
        let pair = match schema.get("format").and_then(Value::as_str) {
            Some("date") => ["2026-01-31", "2025-12-24"],
            Some("date-time") => ["2026-01-31T09:30:00Z", "2025-12-24T18:00:00Z"],
            Some("time") => ["09:30:00", "18:00:00"],
            Some("email") => ["ann@example.com", "bob@example.com"],
            Some("uri" | "url") => ["https://example.com/", "https://example.org/a"],
            Some("uuid") => [
                "0198f0e0-0000-7000-8000-000000000001",
                "0198f0e0-0000-7000-8000-000000000002",
            ],
            _ => return self.word(schema, name),
        };
        pair[self.number % 2].to_owned()
    }

    /// Returns a plausible word as the example of a text field of this name, within the limits of its length.
    fn word(&self, schema: &Value, name: &str) -> String {
        let is = |part: &str| name.to_ascii_lowercase().contains(part);
        let pair = if is("path") || is("file") {
            ["docs/notes.txt", "a.toml"]
        } else if is("dir") || is("folder") {
            ["docs", "src"]
        } else if is("city") || is("place") || is("location") {
            ["Oslo", "Lima"]
        } else {
            ["first", "second"]
        };
        let mut word = match pair {
            ["first", _] => format!("{} {name}", pair[self.number % 2]),
            _ => pair[self.number % 2].to_owned(),
        };
        let (least, most) = (
            bound(schema, "minLength").unwrap_or(0.0),
            bound(schema, "maxLength"),
        );
        while (word.chars().count() as f64) < least.min(256.0) {
            word.push('x');
        }
        match most.and_then(|most| word.char_indices().nth(most as usize)) {
            Some((end, _)) => word[..end].to_owned(),
            None => word,
        }
    }
}

/// Returns the type that a schema names, or the first of several types that is not `null`. If it names none, its other
/// keys decide, and without any the type is `string`.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str);
            names.find(|name| *name != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn bound(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

/// Returns the smallest and the largest number that a schema allows; an exclusive bound is `step` away, and a missing
/// bound is infinite.
fn limits(schema: &Value, step: f64) -> (f64, f64) {
    let least =
        bound(schema, "minimum").or_else(|| bound(schema, "exclusiveMinimum").map(|b| b + step));
    let most =
        bound(schema, "maximum").or_else(|| bound(schema, "exclusiveMaximum").map(|b| b - step));
    (
        least.unwrap_or(f64::NEG_INFINITY),
        most.unwrap_or(f64::INFINITY),
    )
}
