//! Search for keys that a schema does not know.

use super::{
    coerce::work,
    error::ReadError,
    fit::{self, Misfit},
    keys::is_empty,
    schema::{Rest, Schema},
    strictly,
    tape::{Kind, Tape},
};

impl Schema {
    /// Returns the error of the first key in a valid document that the schema does not know; `None` if there is no such
    /// key. A key whose value is `null` or empty does not count. Of several shapes that a value may have, the one with
    /// the fewest unknown keys counts.
    ///
    /// ```
    /// use agents_reader::Schema;
    /// use serde_json::json;
    ///
    /// let schema = Schema::new(&json!({"type": "object", "properties": {"cents": {"type": "integer"}}}));
    /// let unknown = |text| schema.unknown_key(text).map(|error| error.path().to_owned());
    /// assert_eq!(unknown(r#"{"cents": 5, "dry_run": true}"#).as_deref(), Some("dry_run"));
    /// assert_eq!(unknown(r#"{"cents": 5, "dry_run": null}"#), None);
    /// ```
    #[must_use]
    pub fn unknown_key(&self, json: &str) -> Option<ReadError> {
        let tape = strictly(json).ok()?.ok()?;
        let mut budget = work(json.len());
        let misfit = find(self, &tape, 0, self.root(), &mut budget)?;
        Some(misfit.refuse(self, &tape))
    }
}

fn find(
    schema: &Schema,
    tape: &Tape<'_>,
    at: usize,
    shape_at: usize,
    budget: &mut usize,
) -> Option<Misfit> {
    *budget = budget.checked_sub(1)?;
    let shape = schema.shape(shape_at);
    if !shape.branches.is_empty() {
        let mut unknown = None;
        for &branch in &shape.branches {
            if !schema.types(branch).has(fit::type_of(tape, at)) {
                continue;
            }
            unknown = find(schema, tape, at, branch, budget);
            unknown?;
        }
        return unknown;
    }
    match tape.kind(at) {
        Kind::Object => {
            tape.members(at)
                .find_map(|(key, value)| match fit::field(shape, tape, key, 0) {
                    Some(n) => find(schema, tape, value, shape.fields[n].shape, budget),
                    None => match fit::rest(shape, tape, key) {
                        Rest::Keep => None,
                        Rest::Shape(shape) => find(schema, tape, value, shape, budget),
                        Rest::Drop | Rest::Refuse if is_empty(tape, value) => None,
                        Rest::Drop | Rest::Refuse => Some(Misfit::unknown(key, shape_at)),
                    },
                })
        }
        Kind::Array => tape.children(at).enumerate().find_map(|(n, child)| {
            let item = shape.first.get(n).copied().or(shape.items)?;
            find(schema, tape, child, item, budget)
        }),
        _ => None,
    }
}
