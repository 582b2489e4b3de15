use crate::{evidence, reader::Schema};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// Returns the JSON Schema (draft 7) of `T`, without the keys `$schema` and `title` of its root.
///
/// ```
/// # use agents_core as agents;
/// let schema = agents::tool::schema_of::<Vec<u32>>();
/// assert_eq!(schema["type"], "array");
/// ```
pub fn schema_of<T: JsonSchema>() -> Value {
    schema_with_claims::<T>().0
}

/// Returns the JSON Schema of `T`, and the names of the tools of which a `T` may claim calls.
pub(crate) fn schema_with_claims<T: JsonSchema>() -> (Value, Vec<String>) {
    let mut schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    let claims = evidence::without_marks(&mut schema);
    (schema, claims)
}

/// Schema by which arguments or an answer are read, in the form for models and in the form for the reader.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// Schema in the form in which models see it: JSON.
    pub(crate) schema: &'a Value,
    /// Schema in the form in which the reader uses it: compiled.
    pub(crate) compiled: &'a Schema,
}

/// Returns `true` if a schema demands anything that reading a Rust type does not check, such as lengths.
pub(crate) fn constrained(schema: &Value) -> bool {
    const LIMITS: [&str; 9] = [
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
    ];
    match schema {
        Value::Object(members) => {
            LIMITS.iter().any(|limit| members.contains_key(*limit))
                || bounded(schema)
                || members.values().any(constrained)
        }
        Value::Array(items) => items.iter().any(constrained),
        _ => false,
    }
}

/// Returns `true` if a number has bounds in its schema that reading its Rust type does not check.
fn bounded(schema: &Value) -> bool {
    let own = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => (Some(0), Some(255)),
        Some("uint16") => (Some(0), Some(65_535)),
        Some("int8") => (Some(-128), Some(127)),
        Some("int16") => (Some(-32_768), Some(32_767)),
        Some(format) if format.starts_with("uint") => (Some(0), None),
        _ => (None, None),
    };
    let of_its_own = |key: &str, own: Option<i64>| match schema.get(key) {
        Some(limit) => limit.is_number() && limit.as_i64() != own,
        None => false,
    };
    of_its_own("minimum", own.0) || of_its_own("maximum", own.1)
}

/// Probe for the schema of a tool's result, which exists only if the result's type has one.
///
/// Generated code calls `(&Probe::<T>::NEW).output_schema()`. For a `T: JsonSchema` the compiler
/// finds the inherent method first. For any other type it takes the method of
/// [`NoSchema`](output_schema::NoSchema), which returns `None`.
// Public because generated code names it.
#[doc(hidden)]
pub mod output_schema {
    use super::{JsonSchema, Value, schema_of};
    use std::marker::PhantomData;

    /// Probe that asks the compiler whether `T` has a JSON Schema.
    pub struct Probe<T>(PhantomData<fn() -> T>);

    impl<T> Probe<T> {
        /// Probe that asks the compiler whether `T` has a JSON Schema.
        pub const NEW: Self = Probe(PhantomData);
    }

    impl<T: JsonSchema> Probe<T> {
        /// Returns the JSON Schema of `T`, which has one.
        pub fn output_schema(&self) -> Option<Value> {
            Some(schema_of::<T>())
        }
    }

    /// Fallback of [`Probe`] for a `T` that has no JSON Schema.
    pub trait NoSchema {
        /// Returns `None`: the type has no schema.
        fn output_schema(&self) -> Option<Value> {
            None
        }
    }

    impl<T> NoSchema for &Probe<T> {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn t6_c20_schemas_are_those_of_draft_07() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is used")]
        struct Order {
            item: Item,
            size: (u8, String),
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is used")]
        struct Item {
            name: String,
        }
        let schema = schema_of::<Order>();
        assert_eq!(
            schema["properties"]["item"],
            json!({"$ref": "#/definitions/Item"})
        );
        assert_eq!(schema["definitions"]["Item"]["type"], "object");
        // Later drafts have `$defs` and `prefixItems`.
        assert!(schema["properties"]["size"]["items"].is_array(), "{schema}");
        let text = schema.to_string();
        assert!(
            !text.contains("$defs") && !text.contains("prefixItems"),
            "{text}"
        );
    }
}
