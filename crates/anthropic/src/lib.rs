//! The Anthropic client of `agents`.
//!
//! ```no_run
//! # mod agents { pub use agents_core::*; pub use agents_anthropic::anthropic; }
//! use agents::anthropic;
//! use agents::model::{History, Message, Model, Request};
//!
//! # async fn run() -> Result<(), agents::model::ModelError> {
//! // The key is in ANTHROPIC_API_KEY.
//! let model = anthropic("claude-sonnet-5").max_tokens(2_000);
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
//! The results of the calls of one reply go back in one message, as the server requires. A conversation with tools is
//! [cached](PromptCache) by the server, so that each turn pays the full price for its new messages alone. If the answer
//! has a schema, the server holds the model to it, as far as the model and the schema allow.
//!
//! # Replies
//!
//! A reply comes in one document, or as a stream if the request has a sink (`Request::with_sink`). Both ways give the
//! same reply. Calls keep their arguments exactly as the model wrote them. A stream that ends before its end is an
//! error. Thinking and its signatures go back to the server unchanged and in their order, and so do the blocks of tools
//! that the server runs itself.
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
mod cache;
mod client;
mod config;
mod messages;
mod names;

pub use agents_http::{
    Bundle, BundleStore, Credential, Dialect, Keywords, MemoryBundles, OAuth, Objects, RawReply,
    References, StoreError,
};
pub use builder::anthropic;
pub use cache::PromptCache;
pub use client::Anthropic;
pub use messages::MessagesReply;
