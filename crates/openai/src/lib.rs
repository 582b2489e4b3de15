//! The OpenAI client of `agents`.
//!
//! ```no_run
//! # mod agents { pub use agents_core::*; pub use agents_openai::openai; }
//! use agents::model::{History, Message, Model, Request};
//! use agents::openai;
//!
//! # async fn run() -> Result<(), agents::model::ModelError> {
//! // The key is in OPENAI_API_KEY.
//! let model = openai("gpt-6-mini").temperature(0.0);
//!
//! let mut history = History::new();
//! history.push(Message::User { content: "Why is the sky blue?".into() });
//! let reply = model.chat(Request::new(&history)).await?;
//! println!("{} ({} tokens)", reply.content, reply.usage.tokens());
//! # Ok(())
//! # }
//! ```
//!
//! # Servers
//!
//! The client speaks Chat Completions, as most servers do. [`base_url`](OpenAi::base_url) names the server:
//!
//! ```
//! # mod agents { pub use agents_openai::openai; }
//! use agents::openai;
//!
//! let local = openai("qwen3-8b").base_url("http://localhost:8000/v1");
//! let routed = openai("deepseek/deepseek-v3").base_url("https://openrouter.ai/api/v1").api_key("sk-or-..");
//! ```
//!
//! The key in `OPENAI_API_KEY` goes to OpenAI, or to the server that `OPENAI_BASE_URL` names. It is not sent to a
//! server that the program names: give that server its own key with [`api_key`](OpenAi::api_key).
//!
//! OpenAI's newer protocol, Responses, is spoken after [`responses`](OpenAi::responses). With it, reasoning models keep
//! their reasoning between the calls of tools.
//!
//! # Replies
//!
//! A reply comes in one document, or as a stream if the request has a sink (`Request::with_sink`). Both ways give the
//! same reply. Calls keep their arguments exactly as the model wrote them. A stream that ends before its end is an
//! error. Reasoning goes back to the server with the calls that it led to, as some servers require.
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
mod chat;
mod client;
mod config;
mod json;
mod responses;
mod schema;

pub use agents_http::{
    Bundle, BundleStore, Credential, Dialect, Keywords, MemoryBundles, OAuth, Objects, RawReply,
    References, StoreError,
};
pub use builder::openai;
pub use chat::ChatReply;
pub use client::OpenAi;
pub use responses::ResponsesReply;
