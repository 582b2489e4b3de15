//! JSON Schema, reduced to the parts that reading needs.

mod compile;

use serde_json::Value;

use super::pattern::Pattern;

/// A JSON Schema, compiled once to read many texts.
///
/// It accepts the output of `schemars` (draft-07 with `definitions` and `$ref`) and the dialects of tool lists:
/// `"type": "dict"`, `"float"`, `"tuple"`, `"any"`. Unknown keywords are ignored, never enforced half-way.
///
/// ```
/// use agents_reader::Schema;
///
/// let schema = Schema::new(&serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
/// for text in ["{'n': '4'}", "```json\n{\"n\": 4,}\n```", "n = 4"] {
///     assert_eq!(schema.read(text).unwrap().json, r#"{"n":4}"#);
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Schema {
    shapes: Vec<Shape>,
    root: usize,
    /// `true` if it is uncertain to drop a key that the schema does not know.
    pub(super) doubts_unknown_keys: bool,
}

/// Part of a compiled schema, with its references and `allOf`s folded in.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) types: Types,
    /// Values that `enum` and `const` allow here; `None` if the schema has neither.
    pub(super) choices: Option<Vec<Value>>,
    pub(super) fields: Vec<Field>,
    pub(super) patterns: Vec<(Pattern, usize)>,
    /// Rule for keys of an object that are not among the fields.
    pub(super) rest: Rest,
    /// Indices of the schemas of a tuple's elements, in the order of the elements. Empty if there is no tuple.
    pub(super) first: Vec<usize>,
    /// Index of the schema for the elements after those of the tuple, or for all elements if there is no tuple.
    pub(super) items: Option<usize>,
    /// Indices of the alternatives of `anyOf` and `oneOf`, each with the rest of the schema folded in. If there are
    /// alternatives, all other parts of the shape but `types` are ignored.
    pub(super) branches: Vec<usize>,
    pub(super) limits: Option<Box<Limits>>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) shape: usize,
    pub(super) required: bool,
    /// Default value of the field in the schema, as JSON.
    pub(super) default: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Keep,
    Drop,
    /// Unknown keys are an error. They would be entries of a map, and such data may not be dropped.
    Refuse,
    Shape(usize),
}

/// Bounds that the schema sets for a number, a text, a list or an object.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
    pub(super) length: (Option<u64>, Option<u64>),
    pub(super) items: (Option<u64>, Option<u64>),
    pub(super) members: (Option<u64>, Option<u64>),
    pub(super) patterns: Vec<Pattern>,
}

/// Set of the JSON types that a schema allows, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    /// Numbers that are not whole.
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const ANY: Self = Self(127);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if all types of this set are in the other.
    pub(super) fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "null" | "none" => Self::NULL,
            "boolean" | "bool" => Self::BOOLEAN,
            "integer" | "int" | "long" => Self::INTEGER,
            "number" | "float" | "double" => Self::NUMBER,
            "string" | "str" | "char" => Self::STRING,
            "array" | "list" | "tuple" | "set" => Self::ARRAY,
            "object" | "dict" | "hashmap" | "map" => Self::OBJECT,
            _ => Self::ANY,
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::String(name) => Self::named(name),
            Value::Array(names) => Self(
                names
                    .iter()
                    .filter_map(Value::as_str)
                    .fold(0, |set, name| set | Self::named(name).0),
            ),
            _ => Self::ANY,
        }
    }

    /// Returns the types that a value of the schema has; a whole number may be written as a fraction.
    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the types by name, as a part of an error message.
    pub(super) fn describe(self) -> String {
        let names = [
            (Self::OBJECT, "an object"),
            (Self::ARRAY, "a list"),
            (Self::STRING, "a string"),
            (Self::FRACTION, "a number"),
            (Self::INTEGER, "an integer"),
            (Self::BOOLEAN, "true or false"),
            (Self::NULL, "null"),
        ];
        let mut text = String::new();
        for (ty, name) in names {
            if self.has(ty) && !(ty == Self::INTEGER && self.has(Self::FRACTION)) {
                text.push_str(if text.is_empty() { "" } else { " or " });
                text.push_str(name);
            }
        }
        text
    }
}

impl Schema {
    /// Compiles a schema. `false` accepts no value; any other schema that is not an object accepts every value.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        compile::compile(schema)
    }

    /// Makes it an uncertain change to drop a key that the schema does not know, unless its value is `null` or empty.
    ///
    /// ```
    /// use agents_reader::Schema;
    /// use serde_json::json;
    ///
    /// let schema = Schema::new(&json!({"type": "object", "properties": {"cents": {"type": "integer"}}}));
    /// let schema = schema.doubt_unknown_keys();
    /// let is_uncertain = |text| schema.read(text).unwrap().changes.uncertain().is_some();
    /// assert!(is_uncertain(r#"{"cents": 5, "options": {"dry_run": true}}"#));
    /// assert!(!is_uncertain(r#"{"cents": 5, "options": {}}"#));
    /// ```
    #[must_use]
    pub fn doubt_unknown_keys(mut self) -> Self {
        self.doubts_unknown_keys = true;
        self
    }

    pub(super) fn root(&self) -> usize {
        self.root
    }

    pub(super) fn shape(&self, at: usize) -> &Shape {
        &self.shapes[at]
    }

    /// Returns true if any object of the schema has a field of this name.
    pub(super) fn has_field(&self, name: &str) -> bool {
        let mut fields = self.shapes.iter().flat_map(|shape| &shape.fields);
        fields.any(|field| field.name == name)
    }

    /// Returns the JSON types that the schema at this index allows, with the types of its branches.
    pub(super) fn types(&self, at: usize) -> Types {
        let shape = &self.shapes[at];
        let mut types = if shape.branches.is_empty() {
            shape.types
        } else {
            Types(0)
        };
        for &branch in &shape.branches {
            // A branch that refers to its own union adds nothing new.
            if branch != at {
                types.0 |= self.shapes[branch].types.0;
            }
        }
        types
    }
}

impl From<&Value> for Schema {
    fn from(schema: &Value) -> Self {
        Self::new(schema)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn s5_2_recursion_ends() {
        let schema = json!({
            "$ref": "#/definitions/Tree",
            "definitions": {
                "Tree": {"type": "object", "properties": {"left": {"$ref": "#/definitions/Tree"}, "right": {"anyOf": [{"$ref": "#/definitions/Tree"}, {"type": "null"}]}}},
                "Loop": {"$ref": "#/definitions/Loop"},
            },
        });
        let compiled = Schema::new(&schema);
        assert!(compiled.shapes.len() < 12);
        assert!(compiled.types(compiled.root()).within(Types::OBJECT));
        let mut schema = schema;
        schema["$ref"] = json!("#/definitions/Loop");
        assert_eq!(Schema::new(&schema).shape(0).types, Types::ANY);
    }

    #[test]
    fn duplicate_bounds_both_hold() {
        let schema = Schema::new(&json!({
            "allOf": [
                {"minimum": 5, "maxLength": 4, "pattern": "^a"},
                {"minimum": 3, "maximum": 9, "maxLength": 6, "pattern": "z$"},
            ],
        }));
        for (json, fits) in [
            ("5", true),
            ("4", false),
            ("10", false),
            (r#""az""#, true),
            (r#""abcdz""#, false),
            (r#""ab""#, false),
            (r#""bz""#, false),
        ] {
            assert_eq!(schema.fits(json).is_ok(), fits, "{json}");
        }
    }

    #[test]
    fn all_of_folds_and_unions_open() {
        let schema = json!({
            "properties": {"id": {"type": "integer"}}, "required": ["id"],
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                {"allOf": [{"type": "object", "properties": {"kind": {"const": "b"}}}, {"required": ["kind"]}]},
            ],
        });
        let compiled = Schema::new(&schema);
        let root = compiled.shape(compiled.root());
        assert_eq!(root.branches.len(), 2);
        for &branch in &root.branches {
            let branch = compiled.shape(branch);
            assert_eq!(
                branch.fields.iter().filter(|field| field.required).count(),
                2
            );
            assert_eq!(branch.rest, Rest::Drop);
        }
    }
}
