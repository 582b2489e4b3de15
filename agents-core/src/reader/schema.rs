//! A JSON Schema, boiled down to what reading asks of it.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::pattern::Pattern;

/// A schema compiled once, to read with many times.
///
/// It takes what `schemars` writes (draft-07 with `definitions` and `$ref`) and
/// the dialects of tool lists: `"type": "dict"`, `"float"`, `"tuple"`, `"any"`.
/// Keywords it does not know are ignored, never enforced half-way.
#[derive(Debug, Clone)]
pub struct Schema {
    shapes: Vec<Shape>,
    root: usize,
}

/// One place in a schema, with its references and `allOf`s folded in.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) types: Types,
    /// `enum` and `const`.
    pub(super) choices: Option<Vec<Value>>,
    pub(super) fields: Vec<Field>,
    pub(super) patterns: Vec<(Pattern, usize)>,
    /// What becomes of keys that are not among the fields.
    pub(super) rest: Rest,
    /// Elements of a tuple, in order.
    pub(super) first: Vec<usize>,
    /// All other elements.
    pub(super) items: Option<usize>,
    /// `anyOf` and `oneOf`, each with the rest of the schema folded in. If there
    /// are any, nothing else in the shape counts.
    pub(super) branches: Vec<usize>,
    pub(super) limits: Option<Box<Limits>>,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) shape: usize,
    pub(super) required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Keep,
    Drop,
    Shape(usize),
}

/// Bounds, as far as they are given.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
    pub(super) length: (Option<u64>, Option<u64>),
    pub(super) items: (Option<u64>, Option<u64>),
    pub(super) members: (Option<u64>, Option<u64>),
    pub(super) pattern: Option<Pattern>,
}

/// A set of JSON types.
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
    const NUMBER: Self = Self(4 | 8);
    const ANY: Self = Self(127);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing else is allowed.
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

    /// The types by name, for a message.
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
    /// Compiles a schema. What is not an object counts as "anything".
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        let mut compiler = Compiler {
            document: schema,
            shapes: Vec::new(),
            known: HashMap::new(),
        };
        let root = compiler.compile(vec![Part { schema, unions: 0 }]);
        Self {
            shapes: compiler.shapes,
            root,
        }
    }

    pub(super) fn root(&self) -> usize {
        self.root
    }

    pub(super) fn shape(&self, at: usize) -> &Shape {
        &self.shapes[at]
    }

    /// The types allowed at a place, those of its branches included.
    pub(super) fn types(&self, at: usize) -> Types {
        let shape = &self.shapes[at];
        let mut types = if shape.branches.is_empty() {
            shape.types
        } else {
            Types(0)
        };
        for &branch in &shape.branches {
            // A branch that is its own union again adds nothing new.
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

/// One of several schemas that hold at the same place.
#[derive(Clone, Copy)]
struct Part<'a> {
    schema: &'a Value,
    /// Which of its unions were opened already: 1 `anyOf`, 2 `oneOf`.
    unions: u8,
}

struct Compiler<'a> {
    document: &'a Value,
    shapes: Vec<Shape>,
    /// Places already compiled, or being compiled: recursion ends here.
    known: HashMap<Vec<(usize, u8)>, usize>,
}

/// No sensible schema has more places; one that does is cut off as "anything".
const MOST_SHAPES: usize = 20_000;

impl<'a> Compiler<'a> {
    fn compile(&mut self, parts: Vec<Part<'a>>) -> usize {
        let mut flat = Vec::new();
        for part in parts {
            self.flatten(part, &mut flat, 0);
        }
        flat.retain(|part| asserts(part.schema));
        let mut key: Vec<_> = flat
            .iter()
            .map(|part| (std::ptr::from_ref(part.schema) as usize, part.unions))
            .collect();
        key.sort_unstable();
        key.dedup();
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let at = self.shapes.len();
        self.shapes.push(Shape {
            types: Types::ANY,
            choices: None,
            fields: Vec::new(),
            patterns: Vec::new(),
            rest: Rest::Keep,
            first: Vec::new(),
            items: None,
            branches: Vec::new(),
            limits: None,
        });
        self.known.insert(key, at);
        if at < MOST_SHAPES {
            let shape = self.shape(&flat, at);
            self.shapes[at] = shape;
        }
        at
    }

    /// Follows references and opens `allOf`s.
    fn flatten(&self, part: Part<'a>, into: &mut Vec<Part<'a>>, depth: usize) {
        let Some(map) = part.schema.as_object().filter(|_| depth < 32) else {
            if part.schema == &Value::Bool(false) {
                into.push(part);
            }
            return;
        };
        into.push(part);
        let target = map
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| self.resolve(reference));
        let all = map
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for schema in target.into_iter().chain(all) {
            if !into.iter().any(|part| std::ptr::eq(part.schema, schema)) {
                self.flatten(Part { schema, unions: 0 }, into, depth + 1);
            }
        }
    }

    fn resolve(&self, reference: &str) -> Option<&'a Value> {
        self.document.pointer(reference.strip_prefix('#')?)
    }

    fn one(&mut self, schema: &'a Value) -> usize {
        self.compile(vec![Part { schema, unions: 0 }])
    }

    fn shape(&mut self, parts: &[Part<'a>], at: usize) -> Shape {
        if let Some(branches) = self.branches(parts) {
            let types = branches.iter().fold(0, |set, &branch| {
                if branch == at {
                    set
                } else {
                    set | self.shapes[branch].types.0
                }
            });
            return Shape {
                branches,
                types: Types(types),
                ..self.shapes[at].clone()
            };
        }
        let mut shape = self.shapes[at].clone();
        let mut closed = None;
        let mut items_parts = Vec::new();
        let mut field_parts: Vec<(&'a str, Vec<Part<'a>>)> = Vec::new();
        let mut required = Vec::new();
        for part in parts {
            let Some(map) = part.schema.as_object() else {
                shape.types = Types(0);
                continue;
            };
            if let Some(ty) = map.get("type") {
                let mut types = Types::of(ty);
                if map.get("nullable") == Some(&Value::Bool(true)) {
                    types.0 |= Types::NULL.0;
                }
                shape.types.0 &= types.0;
            }
            if let Some(choices) = choices(map) {
                match &mut shape.choices {
                    Some(held) => held.retain(|value| choices.contains(value)),
                    none => *none = Some(choices),
                }
            }
            for (name, schema) in map
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                match field_parts.iter_mut().find(|(held, _)| held == name) {
                    Some((_, parts)) => parts.push(Part { schema, unions: 0 }),
                    None => field_parts.push((name, vec![Part { schema, unions: 0 }])),
                }
            }
            if map.get("properties").is_some_and(Value::is_object) && closed.is_none() {
                closed = Some(Rest::Drop);
            }
            required.extend(
                map.get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str),
            );
            match map.get("additionalProperties") {
                Some(Value::Bool(true)) => closed = Some(Rest::Keep),
                Some(Value::Bool(false)) => closed = Some(Rest::Drop),
                Some(schema @ Value::Object(_)) => closed = Some(Rest::Shape(self.one(schema))),
                _ => {}
            }
            for (pattern, schema) in map
                .get("patternProperties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                if let Some(pattern) = Pattern::new(pattern) {
                    let schema = self.one(schema);
                    shape.patterns.push((pattern, schema));
                }
            }
            match (map.get("items"), map.get("prefixItems")) {
                (Some(Value::Array(first)), _) => {
                    shape.first = first.iter().map(|schema| self.one(schema)).collect();
                    items_parts.extend(map.get("additionalItems"));
                }
                (items, Some(Value::Array(first))) => {
                    shape.first = first.iter().map(|schema| self.one(schema)).collect();
                    items_parts.extend(items);
                }
                (Some(items), _) => items_parts.push(items),
                (None, _) => {}
            }
            limits(map, &mut shape.limits);
        }
        if !items_parts.is_empty() {
            shape.items = Some(
                self.compile(
                    items_parts
                        .into_iter()
                        .map(|schema| Part { schema, unions: 0 })
                        .collect(),
                ),
            );
        }
        for (name, parts) in field_parts {
            let required = required.contains(&name);
            shape.fields.push(Field {
                name: name.into(),
                shape: self.compile(parts),
                required,
            });
        }
        for name in required {
            if !shape.fields.iter().any(|field| field.name == name) {
                let shape_of = self.compile(Vec::new());
                shape.fields.push(Field {
                    name: name.into(),
                    shape: shape_of,
                    required: true,
                });
            }
        }
        shape.rest = match closed {
            // An empty list of properties says nothing about others.
            Some(Rest::Drop)
                if shape.fields.is_empty()
                    && !parts
                        .iter()
                        .any(|part| part.schema["additionalProperties"] == Value::Bool(false)) =>
            {
                Rest::Keep
            }
            Some(rest) => rest,
            None => Rest::Keep,
        };
        shape
    }

    /// Opens the first union that is still closed: each branch is compiled
    /// together with everything around it.
    fn branches(&mut self, parts: &[Part<'a>]) -> Option<Vec<usize>> {
        for (n, part) in parts.iter().enumerate() {
            for (bit, name) in [(1, "anyOf"), (2, "oneOf")] {
                let Some(Value::Array(branches)) =
                    part.schema.get(name).filter(|_| part.unions & bit == 0)
                else {
                    continue;
                };
                if branches.is_empty() {
                    continue;
                }
                let mut around = parts.to_vec();
                around[n].unions |= bit;
                return Some(
                    branches
                        .iter()
                        .map(|schema| {
                            let mut parts = around.clone();
                            parts.push(Part { schema, unions: 0 });
                            self.compile(parts)
                        })
                        .collect(),
                );
            }
        }
        None
    }
}

/// Whether a schema says anything at all about values.
fn asserts(schema: &Value) -> bool {
    const ANNOTATIONS: [&str; 12] = [
        "$ref",
        "allOf",
        "title",
        "description",
        "default",
        "examples",
        "definitions",
        "$defs",
        "$schema",
        "$id",
        "$comment",
        "format",
    ];
    schema
        .as_object()
        .is_none_or(|map| map.keys().any(|key| !ANNOTATIONS.contains(&key.as_str())))
}

fn choices(map: &Map<String, Value>) -> Option<Vec<Value>> {
    match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn limits(map: &Map<String, Value>, into: &mut Option<Box<Limits>>) {
    const KEYS: [&str; 11] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
    ];
    if !KEYS.iter().any(|&key| map.contains_key(key)) {
        return;
    }
    let limits = into.get_or_insert_default();
    let set = |name: &str, held: &mut Option<f64>| {
        *held = map.get(name).and_then(Value::as_f64).or(*held)
    };
    set("minimum", &mut limits.minimum);
    set("maximum", &mut limits.maximum);
    set("exclusiveMinimum", &mut limits.above);
    set("exclusiveMaximum", &mut limits.below);
    let set = |name: &str, held: &mut Option<u64>| {
        *held = map.get(name).and_then(Value::as_u64).or(*held)
    };
    set("minLength", &mut limits.length.0);
    set("maxLength", &mut limits.length.1);
    set("minItems", &mut limits.items.0);
    set("maxItems", &mut limits.items.1);
    set("minProperties", &mut limits.members.0);
    set("maxProperties", &mut limits.members.1);
    if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
        limits.pattern = Pattern::new(pattern);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recursion_ends() {
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
