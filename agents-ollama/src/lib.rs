//! The Ollama client of `agents`.
//!
//! A model is named as `ollama list` names it. The server is the one on this machine, or the one that `OLLAMA_HOST`
//! names:
//!
//! ```no_run
//! # mod agents { pub use agents_core::*; pub use agents_ollama::ollama; }
//! use agents::model::{History, Message, Model, Request};
//! use agents::ollama;
//!
//! # async fn run() -> Result<(), agents::model::ModelError> {
//! let model = ollama("qwen3:4b").temperature(0.0);
//!
//! let mut history = History::new();
//! history.push(Message::User { content: "Why is the sky blue?".into() });
//! let reply = model.chat(Request::new(&history)).await?;
//! println!("{} ({} tokens)", reply.content, reply.usage.tokens());
//! # Ok(())
//! # }
//! ```
//!
//! # Protocol
//!
//! The client speaks the native `/api/chat`. It never uses `/v1`, where Ollama ignores `num_ctx` and `think`. The
//! answer comes in one document, or line by line if the request has a sink (`Request::with_sink`). Both ways give the
//! same reply. Tool calls keep their arguments exactly as the model wrote them, down to the last digit.
//!
//! # Models without tools
//!
//! Ollama refuses a request with tools if the model has no template for them. The client remembers that for all
//! clients of the process. From then on it describes the tools in the prompt: see [`ToolMode::Auto`].
//! [`ToolMode::Constrained`] is for models too small to follow a format on their own.
//!
//! # The window
//!
//! Ollama leaves out the beginning of a conversation that does not fit into the model's window, and answers all the same.
//! The client has the server refuse such a request instead (`"truncate": false`, `"shift": false`). A server that is too
//! old for that tells how many tokens the model has read. If that is less than was sent, and what was sent is more than
//! the window, then the reply is an error, too. What was sent is estimated low, by the words of the messages. The window is
//! that of [`Ollama::window`], or the one that `/api/ps` tells. A reply to a cached prompt, of which some servers count a
//! part, is never taken for one to a prompt that was cut off.
//!
//! # Errors
//!
//! Every error says what to do about it. Examples are a missing server (`ollama serve`) or model (`ollama pull`), a
//! model that cannot think, a timeout ([`Ollama::timeout`]) and an answer that broke off. The client sends each
//! request once; [`.retry(3)`](agents_core::Model::retry) adds retries. Ollama sometimes cannot parse a model's tool
//! call (`error parsing tool call`). The client returns such a call as a malformed call instead of an error, so that
//! `on_error` can repair it.
//!
//! # Proxies and TLS
//!
//! The client connects over plain HTTP, or over HTTPS with the feature `tls`. TLS uses rustls with the certificates
//! that the operating system trusts. With `tls`, a client also reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
//! `NO_PROXY` at its first request, as curl reads them. Requests to this machine bypass the proxy. Redirects are not
//! followed: the error names their target.
//!
//! # Speed
//!
//! Messages encoded for one turn are copied into the request of the next, and replies are parsed from the received
//! bytes. A turn thus encodes only the messages that are new.
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `tls` | HTTPS, by rustls, and proxies that the environment names; an Ollama on this machine needs neither | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod body;
mod builder;
mod client;
mod config;
mod error;
mod host;
mod receive;
mod salvage;
mod settings;
mod tokens;
mod tool_support;
mod wire;

pub use agents_http::{
    Bundle, BundleStore, Credential, Dialect, Keywords, MemoryBundles, OAuth, Objects, RawReply,
    References, StoreError,
};
pub use builder::ollama;
pub use client::Ollama;
pub use settings::{KeepAlive, Think, ToolMode};
