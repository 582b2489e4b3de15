//! The HTTP transport under the model clients of `agents`.
//!
//! A [`Server`] sends requests with a body of bytes, and gives responses whose [`Body`] arrives piece by piece. Time
//! and size are [limited](Limits). [`Lines`] and [`Events`] cut a stream into its frames. On top of that, [`ask`]
//! turns the response to a request into a reply, given the [`Format`] of the provider.
//!
//! # Proxies and TLS
//!
//! Connections are plain HTTP, or HTTPS with the feature `tls`. TLS uses rustls with the certificates that the
//! operating system trusts. With the feature `proxy`, connections go through the proxy that the environment names;
//! requests to this machine bypass it. Redirects are not followed.
//!
//! # Credentials
//!
//! A client may look its [`Credential`] up for each request, on behalf of the run that makes it: a secret, or a token of
//! OAuth that is refreshed in time. No organisation gets the credential of another.
//!
//! # Schemas
//!
//! Servers take different parts of JSON Schema. A [`Dialect`] says which, as data, and rewrites a schema.
//!
//! # Speed
//!
//! No connection has a task of its own: whoever waits for a response moves its bytes. Free connections are kept, and
//! shared by all clients of a tokio runtime.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `tls` | HTTPS, by rustls | no |
//! | `proxy` | proxies that the environment names, such as `HTTP_PROXY` | no |
//! | `testing` | the module `testing`: a server that sends what a test says, one that plays faults, recorded replies | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod body;
mod connection;
mod credential;
mod error;
mod fields;
mod frames;
mod headers;
mod hidden;
mod ids;
mod limits;
mod pool;
mod raw;
mod reply;
mod route;
mod schema;
mod server;
#[cfg(feature = "testing")]
pub mod testing;
mod wording;

pub use address::{Address, AddressError};
pub use body::Body;
pub use credential::{
    Bundle, BundleStore, Credential, KeyHeader, MemoryBundles, OAuth, StoreError,
};
pub use error::{TimeLimit, TransportError};
pub use fields::Fields;
pub use frames::{Event, Events, FrameTooLong, Lines};
pub use headers::Headers;
pub use hidden::Hidden;
pub use ids::CallIds;
pub use limits::Limits;
pub use raw::{RawHook, RawReply, request_id};
pub use reply::{
    Decoder, Ending, Format, Framing, Problem, Progress, Sink, Words, arguments_text, ask,
    error_text, excerpt, get_json, retry_after,
};
pub use schema::{Dialect, Keywords, Objects, References};
pub use server::{Call, Endpoint, Server};

/// Re-exports the crate `http`, whose types are part of this crate's interface.
pub use http;
