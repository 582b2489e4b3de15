//! Search for all errors of a document by its schema, not only the first.

use super::{
    MAX_DEPTH,
    coerce::{Coercer, work},
    error::ReadError,
    fit::{self, Misfit, equals, fit, type_of},
    keys::{Role, roles},
    schema::{Rest, Schema, Shape, Types},
    strictly,
    tape::{Kind, Tape},
};

/// All errors of a document that does not fit its schema.
#[derive(Debug)]
pub(crate) struct Misfits {
    /// Errors that are listed one by one, in the order of the schema.
    pub(crate) listed: Vec<ReadError>,
    /// Number of errors that were found beyond those in the list.
    pub(crate) more: usize,
}

impl Schema {
    /// Finds all errors of a document, and lists at most `most` of them; none if the document is not valid JSON. If
    /// `lenient`, errors that a lenient reading mends are left out; else unknown keys are. A value with several
    /// possible shapes is one error, unless its type and its constant fields tell which shape is meant.
    pub(crate) fn misfits(&self, json: &str, lenient: bool, most: usize) -> Misfits {
        let mut found = Misfits {
            listed: Vec::new(),
            more: 0,
        };
        if let Ok(Ok(tape)) = strictly(json) {
            let mut search = Search {
                schema: self,
                tape: &tape,
                lenient,
                most,
                budget: work(json.len()),
                depth: 0,
                found: &mut found,
            };
            search.value(0, self.root());
        }
        found
    }
}

struct Search<'a, 't> {
    schema: &'a Schema,
    tape: &'a Tape<'t>,
    lenient: bool,
    most: usize,
    budget: usize,
    /// Number of calls of [`Self::value`] that have not returned, which bounds the recursion: those of the document,
    /// and of alternatives within alternatives.
    depth: usize,
    found: &'a mut Misfits,
}

impl Search<'_, '_> {
    fn value(&mut self, at: usize, shape_at: usize) {
        if self.budget == 0 {
            return;
        }
        let Err(misfit) = fit(self.schema, self.tape, at, shape_at, &mut self.budget) else {
            return;
        };
        self.depth += 1;
        self.misfit(at, shape_at, misfit);
        self.depth -= 1;
    }

    fn misfit(&mut self, at: usize, shape_at: usize, misfit: Misfit) {
        let shape = self.schema.shape(shape_at);
        if let Some(branch) = self
            .intended_alternative(at, shape)
            .filter(|_| self.depth < 2 * MAX_DEPTH)
        {
            return self.value(at, branch);
        }
        let before = self.count();
        let is_whole = shape.branches.is_empty() && shape.choices.is_none();
        match self.tape.kind(at) {
            Kind::Object if is_whole && shape.types.has(Types::OBJECT) => self.object(at, shape_at),
            Kind::Array if is_whole && shape.types.has(Types::ARRAY) => self.list(at, shape),
            _ => {}
        }
        if self.count() == before {
            self.record_misfit(at, shape_at, misfit);
        }
    }

    fn object(&mut self, at: usize, shape_at: usize) {
        let (schema, tape) = (self.schema, self.tape);
        let shape = schema.shape(shape_at);
        let members: Vec<_> = tape.members(at).collect();
        let fields: Vec<Option<usize>> = match self.lenient {
            true => roles(schema, shape, tape, &members)
                .into_iter()
                .map(Role::field)
                .collect(),
            false => {
                let named = |&(key, _): &(usize, usize)| fit::field(shape, tape, key, 0);
                members.iter().map(named).collect()
            }
        };
        let mut values = vec![None; shape.fields.len()];
        for (&(_, value), field) in members.iter().zip(&fields) {
            if let Some(n) = *field {
                values[n].get_or_insert(value);
            }
        }
        for (n, (field, value)) in shape.fields.iter().zip(values).enumerate() {
            match value {
                // A lenient reading leaves this member out.
                Some(value)
                    if self.lenient && !field.required && tape.kind(value) == Kind::Null => {}
                Some(value) => self.value(value, field.shape),
                None if field.required => {
                    self.push(|| Misfit::missing(at, shape_at, n).refuse(schema, tape));
                }
                None => {}
            }
        }
        for (&(key, value), field) in members.iter().zip(&fields) {
            if field.is_none()
                && let Rest::Shape(shape) = fit::rest(shape, tape, key)
            {
                self.value(value, shape);
            }
        }
    }

    fn list(&mut self, at: usize, shape: &Shape) {
        for (n, child) in self.tape.children(at).enumerate() {
            if let Some(item) = shape.first.get(n).copied().or(shape.items) {
                self.value(child, item);
            }
        }
    }

    /// Returns the only alternative (of `anyOf`) that a value can be meant for, by its type and its constant fields;
    /// `None` if none or several are possible.
    fn intended_alternative(&self, at: usize, shape: &Shape) -> Option<usize> {
        let (schema, tape) = (self.schema, self.tape);
        let agrees = |branch: usize| {
            let shape = schema.shape(branch);
            let mut members = tape.members(at);
            members.all(|(key, value)| {
                let field = fit::field(shape, tape, key, 0).map(|n| shape.fields[n].shape);
                let tags = field.and_then(|field| schema.shape(field).choices.as_deref());
                tags.is_none_or(|tags| tags.iter().any(|tag| equals(tape, value, tag)))
            })
        };
        let is_object = tape.kind(at) == Kind::Object;
        let mut alternatives = shape.branches.iter().copied().filter(|&branch| {
            schema.types(branch).has(type_of(tape, at)) && (!is_object || agrees(branch))
        });
        match (alternatives.next(), alternatives.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// Adds the error of a value that does not fit, in whose members or items no error was found. A strict search
    /// leaves unknown keys out, and a lenient search leaves out what a lenient reading mends.
    fn record_misfit(&mut self, at: usize, shape_at: usize, misfit: Misfit) {
        let (schema, tape) = (self.schema, self.tape);
        if !self.lenient {
            // A type that ignores unknown keys reads it.
            if !misfit.is_unknown_key() {
                self.push(|| misfit.refuse(schema, tape));
            }
            return;
        }
        let mut coercer = Coercer::new(schema, tape.text(at).len());
        if let Err(refusal) = coercer.value(tape, at, shape_at) {
            let below = refusal.path().to_owned();
            self.push(|| {
                let around = tape.path(at);
                let joint = match around.is_empty() || below.is_empty() || below.starts_with('[') {
                    true => "",
                    false => ".",
                };
                refusal.below(format!("{around}{joint}{below}"))
            });
        }
    }

    /// Adds an error to the list, or counts it if the list is full. Only listed errors are computed, since their place
    /// takes work.
    fn push(&mut self, refusal: impl FnOnce() -> ReadError) {
        match self.found.listed.len() < self.most {
            true => self.found.listed.push(refusal()),
            false => self.found.more += 1,
        }
    }

    fn count(&self) -> usize {
        self.found.listed.len() + self.found.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "nights": {"type": "integer", "minimum": 1},
                "class": {"enum": ["first", "second"]},
                "guests": {"type": "array", "items": {"$ref": "#/definitions/Guest"}},
                "pay": {"oneOf": [
                    {"type": "object", "properties": {"by": {"const": "card"}, "number": {"type": "string"}, "cvc": {"type": "integer"}}, "required": ["by", "number", "cvc"]},
                    {"type": "object", "properties": {"by": {"const": "cash"}, "note": {"type": "string"}}, "required": ["by", "note"]},
                ]},
                "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "required": ["city", "nights"],
            "definitions": {"Guest": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}},
        })
    }

    fn check(lenient: bool, arguments: Value, expected: &[&str]) {
        let found = Schema::new(&schema()).misfits(&arguments.to_string(), lenient, 9);
        let said: Vec<_> = found.listed.iter().map(ReadError::to_string).collect();
        assert_eq!(said, expected, "{arguments}");
        assert_eq!(found.more, 0);
    }

    #[test]
    fn errors_are_listed_in_schema_order() {
        for lenient in [false, true] {
            check(
                lenient,
                json!({
                    "sizes": {"a": 1, "b": {}},
                    "guests": [{"name": "A", "age": 1}, {"age": "old"}],
                    "class": "third",
                    "nights": 0,
                }),
                &[
                    "field `city`: required, and missing; add it",
                    "field `class`: expected one of \"first\", \"second\", got \"third\"",
                    "field `guests[1].age`: expected an integer, got \"old\"",
                    "field `guests[1].name`: required, and missing; add it",
                    "field `nights`: 0 is too small",
                    "field `sizes.b`: expected an integer, got an object",
                ],
            );
        }
    }

    #[test]
    fn tags_select_an_alternative() {
        check(
            false,
            json!({"city": "a", "nights": 1, "pay": {"by": "card", "cvc": "x"}}),
            &[
                "field `pay.cvc`: expected an integer, got \"x\"",
                "field `pay.number`: required, and missing; add it",
            ],
        );
        let found = Schema::new(&schema()).misfits(
            r#"{"city": "a", "nights": 1, "pay": {"number": 1}}"#,
            false,
            9,
        );
        assert_eq!(found.listed.len(), 1, "{found:?}");
        assert!(found.listed[0].path().starts_with("pay"), "{found:?}");
    }

    #[test]
    fn lenient_mode_omits_repairable_errors() {
        let arguments = json!({"City": "a", "nights": "2", "class": null, "more": 1, "guests": 7});
        check(
            true,
            arguments.clone(),
            &["field `guests`: expected an object, got 7"],
        );
        check(
            false,
            arguments,
            &[
                "field `city`: required, and missing; add it",
                "field `class`: expected one of \"first\", \"second\", got null",
                "field `guests`: expected a list, got 7",
                "field `nights`: expected an integer, got \"2\"",
            ],
        );
        check(true, json!({"City": "a", "nights": "2"}), &[]);
    }

    #[test]
    fn recursive_alternatives_end() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/definitions/One"}, "b": {"type": "integer"}},
            "definitions": {
                "One": {"anyOf": [{"$ref": "#/definitions/Two"}, {"type": "null"}]},
                "Two": {"oneOf": [{"$ref": "#/definitions/One"}, {"type": "null"}]},
            },
        });
        let found = Schema::new(&schema).misfits(r#"{"a": {}, "b": []}"#, false, 9);
        let paths: Vec<_> = found.listed.iter().map(ReadError::path).collect();
        assert!(matches!(paths[..], ["b"] | ["a", "b"]), "{paths:?}");
    }

    #[test]
    fn errors_beyond_the_limit_are_counted() {
        let sizes: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\": []")).collect();
        let text = format!(
            "{{\"city\": \"a\", \"nights\": 1, \"sizes\": {{{}}}}}",
            sizes.join(",")
        );
        let found = Schema::new(&schema()).misfits(&text, false, 3);
        assert_eq!((found.listed.len(), found.more), (3, 19_997));
        assert_eq!(found.listed[2].path(), "sizes.k2");
    }
}
