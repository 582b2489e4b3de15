//! The Ollama client of `agents`.
//!
//! A model is a name; the server is the one on this machine, or the one that `OLLAMA_HOST` names:
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
//! # What it speaks
//!
//! The native `/api/chat`, never `/v1`: there Ollama ignores `num_ctx` and `think`. The answer
//! comes whole, or line by line when somebody listens (`Request::with_sink`); both give the same
//! reply. Calls keep their arguments as the model wrote them, down to the last digit.
//!
//! # Models without tools
//!
//! A model that has no template for tools makes Ollama refuse the request. The client notices once,
//! for all clients of the process, and offers tools by prompt from then on: [`ToolMode::Auto`]. For models that are too small to
//! keep to a form there is [`ToolMode::Constrained`].
//!
//! # When it fails
//!
//! Every error says the way out: no server (`ollama serve`), no such model (`ollama pull`), a
//! model that cannot think, silence ([`Ollama::timeout`]), an answer that broke off. One request is
//! one request: who wants another one writes [`.retry(3)`](agents_core::Model::retry). A call that
//! Ollama could not read itself (`error parsing tool call`) is no error here: it is handed on as
//! the malformed call it is, for `on_error` to repair.
//!
//! # The way to the server
//!
//! Plain HTTP, or HTTPS with the feature `tls`: rustls, with the certificates that the operating system trusts.
//! `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are read as curl reads them, at the first request of a client;
//! a server on this machine is asked without a proxy. Redirects are not followed: the error names where to.
//!
//! # Speed
//!
//! What was encoded for one turn is not encoded again for the next, and replies are read from the
//! bytes they came in: the cost of a turn does not grow with the conversation.

mod answer;
mod body;
mod builder;
mod client;
mod config;
mod connection;
mod error;
mod host;
mod learned;
mod pool;
mod receive;
mod route;
mod salvage;
mod settings;
mod transport;
mod wire;

pub use builder::ollama;
pub use client::Ollama;
pub use settings::{KeepAlive, Think, ToolMode};
