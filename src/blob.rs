//! Storage for tool outputs that are too large for a receipt; see [`agents_core::blob`] for how it
//! works.
//!
//! [`DirectoryBlobs`] stores them as files.

pub use agents_core::blob::*;

mod directory;
pub use directory::DirectoryBlobs;
