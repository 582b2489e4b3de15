use crate::reader::Schema;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// Returns the JSON Schema (draft 7) of `T`, without the `$schema` key.
///
/// ```
/// # use agents_core as agents;
/// let schema = agents::tool::schema_of::<Vec<u32>>();
/// assert_eq!(schema["type"], "array");
/// ```
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft07()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    schema
}

/// The schema that arguments or an answer are read by.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// As models see it.
    pub(crate) schema: &'a Value,
    /// As the reader uses it.
    pub(crate) compiled: &'a Schema,
}

/// Whether a schema demands anything that reading a type does not check.
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

/// Whether a number has bounds other than those of its own type, which are checked by reading it.
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

/// The schema of a tool's result, when its type has one.
///
/// Generated code asks `(&Probe::<T>::NEW).output_schema()`: the inherent method is found first
/// and exists only for a `T: JsonSchema`; otherwise the trait's answers `None`.
pub mod output_schema {
    use super::{JsonSchema, Value, schema_of};
    use std::marker::PhantomData;

    /// Asks whether `T` has a schema.
    pub struct Probe<T>(PhantomData<fn() -> T>);

    impl<T> Probe<T> {
        /// The question.
        pub const NEW: Self = Probe(PhantomData);
    }

    impl<T: JsonSchema> Probe<T> {
        /// The schema of `T`.
        pub fn output_schema(&self) -> Option<Value> {
            Some(schema_of::<T>())
        }
    }

    /// The answer for a `T` without a schema.
    pub trait NoSchema {
        /// None.
        fn output_schema(&self) -> Option<Value> {
            None
        }
    }

    impl<T> NoSchema for &Probe<T> {}
}
