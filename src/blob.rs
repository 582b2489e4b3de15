//! Where outputs go that are too large for a receipt; see [`agents_core::blob`] for how.
//!
//! [`DirectoryBlobs`] keeps them as files.

pub use agents_core::blob::*;

mod directory;
pub use directory::DirectoryBlobs;
