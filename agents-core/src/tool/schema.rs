use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The JSON Schema (draft 7) of `T`, without the `$schema` key: models need the words for more
/// useful things.
///
/// ```
/// let schema = agents_core::tool::schema_of::<Vec<u32>>();
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
