//! What an agent that is a function would have of its own, if it were a struct.

use crate::{
    ast::{Element, Entry, Value},
    diag::Errors,
    messages,
    syntax::written,
};
use syn::{
    Expr, ExprField,
    visit::{self, Visit},
};

/// `tools = [Look { pool: self.pool.clone() }]` on a function: what names a field is reported, and left out.
pub(crate) fn without_fields(entries: &mut Vec<Entry>, errors: &Errors) {
    let mut keeps = |value: &Expr| {
        let mut own = OwnField(None);
        own.visit_expr(value);
        if let Some(field) = &own.0 {
            errors.at(field, messages::field_of_a_function(written(field)));
        }
        own.0.is_none()
    };
    entries.retain_mut(|entry| match &mut entry.value {
        Value::Nothing => true,
        Value::Is(value) => keeps(value),
        Value::List(elements) => {
            elements.retain(|element| {
                let (Element::One(value) | Element::Spread(_, value)) = element;
                keeps(value)
            });
            true
        }
        Value::Group(values) => {
            values.retain(&mut keeps);
            true
        }
    });
}

/// The first field of `self`.
struct OwnField(Option<ExprField>);

impl<'ast> Visit<'ast> for OwnField {
    fn visit_expr_field(&mut self, field: &'ast ExprField) {
        if matches!(&*field.base, Expr::Path(base) if base.path.is_ident("self")) {
            self.0.get_or_insert_with(|| field.clone());
        }
        visit::visit_expr_field(self, field);
    }
}
