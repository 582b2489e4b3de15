//! The client: tools of MCP servers as tools of our agents.
//!
//! ```text
//! Mcp ── scope ──► Link ── connects, again if need be ──► Connection ── rmcp ──► the server
//!  │                                                        │
//!  └─ tools of a list: tool ── calls by way of the link ────┘
//! ```

mod connection;
mod description;
mod digest;
mod error;
mod handler;
#[cfg(feature = "http")]
mod http;
mod knowledge;
mod lent;
mod link;
mod listing;
mod media;
mod names;
#[cfg(feature = "auth")]
mod oauth;
mod offers;
mod output;
mod question;
mod source;
mod stdio;
mod tool;
mod wording;

pub use description::Server;
#[cfg(feature = "http")]
pub use description::http;
pub use description::stdio;
pub use error::{McpError, McpErrorKind};
pub use listing::ListedTool;
#[cfg(feature = "auth")]
pub use oauth::{OAuth, TokenError, TokenStore};
pub use offers::{ListedPrompt, ListedResource, PromptArgument};
pub use question::Question;
pub use source::{Mcp, lazy};
