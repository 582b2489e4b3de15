//! Compiler from a schema's text to its shapes.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Field, Limits, Rest, Schema, Shape, Types};
use crate::pattern::Pattern;

/// Compiles a JSON Schema, with its references, for reading.
pub(super) fn compile(schema: &Value) -> Schema {
    let mut compiler = Compiler {
        document: schema,
        shapes: Vec::new(),
        known: HashMap::new(),
    };
    let root = compiler.one(schema);
    Schema {
        shapes: compiler.shapes,
        root,
        doubts_unknown_keys: false,
    }
}

/// Schema that applies at a place, perhaps together with others (`allOf`, `$ref`).
#[derive(Clone, Copy)]
struct Part<'a> {
    schema: &'a Value,
    /// Unions of the schema whose branches are compiled already, as bits: 1 for `anyOf`, 2 for `oneOf`.
    unions: usize,
}

struct Compiler<'a> {
    document: &'a Value,
    shapes: Vec<Shape>,
    /// Index of each place of the schema that is compiled already, or being compiled: it is used where the place recurs.
    known: HashMap<Vec<(usize, usize)>, usize>,
}

/// Maximum number of places in a schema; further places accept anything.
const MAX_SHAPES: usize = 20_000;

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
        if at < MAX_SHAPES {
            let shape = self.shape(&flat, at);
            self.shapes[at] = shape;
        }
        at
    }

    /// Collects all schemas that apply at a place: the schema itself, the one that it refers to, and the members of its
    /// `allOf`, to a depth of 32.
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
        // A list of allowed values determines the types.
        if let Some(choices) = &shape.choices {
            let types = choices
                .iter()
                .fold(0, |set, value| set | Types::of_value(value).0);
            shape.types.0 &= types;
        }
        for (name, parts) in field_parts {
            let required = required.contains(&name);
            let default = parts.iter().find_map(|part| part.schema.get("default"));
            shape.fields.push(Field {
                name: name.into(),
                default: default.map(Value::to_string),
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
                    default: None,
                    required: true,
                });
            }
        }
        shape.rest = match closed {
            Some(Rest::Drop) if parts.iter().any(|part| is_map(part.schema)) => Rest::Refuse,
            // An empty list of properties does not forbid other keys.
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

    /// Compiles the branches of the first `anyOf` or `oneOf` that was not compiled yet; `None` if all are compiled.
    /// Each branch is compiled together with all schemas that apply at its place.
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

/// Returns true if the members of an object are the entries of a map. A map from numbers has a pattern for its keys. A
/// map from the variants of an enum has a closed list of optional members, all with the same schema.
fn is_map(schema: &Value) -> bool {
    let has_fields = schema.get("properties").and_then(Value::as_object);
    if has_fields.is_none_or(serde_json::Map::is_empty)
        && (schema.get("patternProperties").is_some() || schema.get("propertyNames").is_some())
    {
        return true;
    }
    let described = |member: &Value| {
        ["description", "default"]
            .iter()
            .any(|key| member.get(key).is_some())
    };
    let members = schema.get("properties").and_then(Value::as_object);
    let mut members = members.into_iter().flat_map(|members| members.values());
    let required = schema.get("required").and_then(Value::as_array);
    let closed = schema["additionalProperties"] == Value::Bool(false);
    let of_one_kind = match (members.next(), members.next()) {
        (Some(one), Some(two)) => {
            one == two && !described(one) && members.all(|other| other == one)
        }
        _ => false,
    };
    closed && of_one_kind && required.is_none_or(Vec::is_empty)
}

/// Returns true if a schema restricts values at all, and is not made of annotations only.
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

/// Returns the least and the greatest number of a format, as generated schemas have them for the integers of Rust; `None`
/// for any other format. Of 64 bits, the bounds are the nearest numbers of an `f64`.
fn integers(format: &str) -> Option<(f64, f64)> {
    let (bits, is_signed) = match format.strip_prefix("uint") {
        Some(bits) => (bits, false),
        None => (format.strip_prefix("int")?, true),
    };
    let bits = bits
        .parse::<i32>()
        .ok()
        .filter(|bits| [8, 16, 32, 64].contains(bits))?;
    Some(match is_signed {
        false => (0.0, 2_f64.powi(bits) - 1.0),
        true => (-2_f64.powi(bits - 1), 2_f64.powi(bits - 1) - 1.0),
    })
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
    let format = map.get("format").and_then(Value::as_str);
    let range = format.and_then(integers);
    if range.is_none() && !KEYS.iter().any(|&key| map.contains_key(key)) {
        return;
    }
    // If parts of an `allOf` give a bound twice, both hold.
    fn bound<T: PartialOrd>(current: &mut Option<T>, new: Option<T>, tighter: fn(&T, &T) -> bool) {
        if let Some(new) = new
            && current
                .as_ref()
                .is_none_or(|current| tighter(&new, current))
        {
            *current = Some(new);
        }
    }
    let limits = into.get_or_insert_default();
    let number = |name: &str| map.get(name).and_then(Value::as_f64);
    bound(&mut limits.minimum, number("minimum"), |a, b| a > b);
    bound(&mut limits.maximum, number("maximum"), |a, b| a < b);
    if let Some((least, most)) = range {
        bound(&mut limits.minimum, Some(least), |a, b| a > b);
        bound(&mut limits.maximum, Some(most), |a, b| a < b);
    }
    bound(&mut limits.above, number("exclusiveMinimum"), |a, b| a > b);
    bound(&mut limits.below, number("exclusiveMaximum"), |a, b| a < b);
    let count = |name: &str| map.get(name).and_then(Value::as_u64);
    for (name, (least, most)) in [
        ("Length", &mut limits.length),
        ("Items", &mut limits.items),
        ("Properties", &mut limits.members),
    ] {
        bound(least, count(&format!("min{name}")), |a, b| a > b);
        bound(most, count(&format!("max{name}")), |a, b| a < b);
    }
    let pattern = map.get("pattern").and_then(Value::as_str);
    limits.patterns.extend(pattern.and_then(Pattern::new));
}
