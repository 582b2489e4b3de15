//! OpenAPI for `agents`: each operation of a document becomes a tool.
//!
//! ```
//! use agents::prelude::*;
//! use agents_openapi::Api;
//!
//! # fn main() -> Result<(), agents_openapi::ApiError> {
//! # let document = r#"{"openapi": "3.1.0", "paths": {"/pets/{id}": {"get": {"operationId": "getPet", "parameters": [
//! #     {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]}}}}"#;
//! let pets = Api::read(document)?
//!     .server("https://pets.example.com/v1")
//!     .only("getPet");
//! let clerk = AgentBuilder::<String, String>::new("clerk").tools(pets.tools()?).build();
//! # let _ = clerk;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! document ── operations, `$ref`s ──► Operation ── parameters, body, security ──► tool ── request ──► HttpTool ──► server
//! ```
//!
//! `GET` and `HEAD` read. Every other method writes outside of the organisation, so that its calls need approval.
//! Requests go through an [`HttpTool`](agents::http::HttpTool), which asks the server of the [`Api`] and no other host.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `tls` | HTTPS, by rustls | yes |
//! | `yaml` | documents in YAML | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod document;
mod error;
mod operation;
mod parameter;
mod request;
mod schema;
mod security;
mod tool;
mod wording;

pub use api::{Api, Unfit};
pub use error::{ApiError, CallError};

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/openapi.md")]
    struct OpenApi;
}
