//! Arguments as models write them.

mod foreign_types;
mod malformed;
mod replaced_text;
mod several_wrong_fields;
mod uncertain;
mod wrong_fields;
