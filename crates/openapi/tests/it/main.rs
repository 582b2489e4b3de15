//! Tests of documents, and of calls against a server of this process.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod calls;
mod documents;

/// A document of version 3.0 with what such documents have.
pub(crate) const PETS: &str = include_str!("petstore_3_0.json");
