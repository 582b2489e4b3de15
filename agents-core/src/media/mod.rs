//! Images, files and tables beside a text: in a user's message, and in the output of a tool.
//!
//! A [`Media`] or a [`Table`] is a field like any other. When a value is serialised for a model, [`collect`] takes the
//! media out of it and leaves a reference in their place.

mod attached;
mod collect;
mod content;
mod file;
mod table;

pub(crate) use attached::Attached;
#[doc(hidden)]
pub use collect::is_reference;
pub(crate) use collect::{Collected, collect};
pub use content::Content;
pub use file::Media;
pub use table::Table;
