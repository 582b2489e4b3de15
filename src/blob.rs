//! Storage for tool outputs that are too large for a receipt; [`agents_core::blob`] says how it
//! works.
//!
//! [`DirectoryBlobs`] keeps them as files.

pub use agents_core::blob::*;

mod directory;
pub use directory::DirectoryBlobs;
