//! The Gemini client of `agents`.
//!
//! ```no_run
//! # mod agents { pub use agents_core::*; pub use agents_gemini::gemini; }
//! use agents::gemini;
//! use agents::model::{History, Message, Model, Request};
//!
//! # async fn run() -> Result<(), agents::model::ModelError> {
//! // The key is in GEMINI_API_KEY.
//! let model = gemini("gemini-3-flash").temperature(0.0);
//!
//! let mut history = History::new();
//! history.push(Message::User { content: "Why is the sky blue?".into() });
//! let reply = model.chat(Request::new(&history)).await?;
//! println!("{} ({} tokens)", reply.content, reply.usage.tokens());
//! # Ok(())
//! # }
//! ```
//!
//! # Requests
//!
//! Gemini tells the results of calls apart by their order. The client therefore sends them in the order of the calls,
//! whatever the order in which the tools ended. If the answer has a schema, the server holds the model to it.
//!
//! # Replies
//!
//! A reply comes in one document, or as a stream if the request has a sink (`Request::with_sink`). Both ways give the
//! same reply. A stream that ends before its end is an error. Thought signatures go back to the server unchanged, on the
//! part that they came with.
//!
//! # Errors
//!
//! Every error says what to do about it, and shows no key. The client sends each request once;
//! [`.retry(3)`](agents_core::Model::retry) adds retries, which wait as long as the server asks, but at most a minute.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `tls` | HTTPS, by rustls, and proxies that the environment names; a server on this machine needs neither | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod client;
mod config;
mod content;
mod schema;

pub use agents_http::{
    Bundle, BundleStore, Credential, Dialect, Keywords, MemoryBundles, OAuth, Objects, RawReply,
    References, StoreError,
};
pub use builder::gemini;
pub use client::Gemini;
pub use content::ContentReply;
