//! MCP, the Model Context Protocol, for `agents`: the tools of any server for our agents, and our tools and agents for any
//! host.
//!
//! ```
//! use agents::prelude::*;
//! use agents_mcp::{self as mcp, Mcp};
//!
//! static GITHUB: Mcp = mcp::lazy(|_scope| mcp::stdio("github-mcp-server", ["stdio"]));
//!
//! /// Searches our own documents.
//! #[agents::tool(reads)]
//! async fn search(
//!     /// What for.
//!     query: String,
//! ) -> Vec<String> {
//!     vec![query]
//! }
//!
//! /// You analyse repositories.
//! #[agent(tools = [Search, ..GITHUB])]
//! async fn analyst(question: String) -> String;
//! # fn main() { let _ = Analyst; }
//! ```
//!
//! The server is connected at its first use, once for each scope. Its tools have names such as `github_search`; policies,
//! receipts, recovery and approvals work as with any other tool.
//!
//! ```no_run
//! # use agents::prelude::*;
//! # use agents_mcp as mcp;
//! # /// Searches our own documents.
//! # #[agents::tool(reads)]
//! # async fn search(
//! #     /// What for.
//! #     query: String,
//! # ) -> Vec<String> {
//! #     vec![query]
//! # }
//! # #[tokio::main]
//! # async fn main() -> std::io::Result<()> {
//! // Our tools and agents, for any MCP host that starts this program:
//! mcp::serve().tool(Search).stdio().await
//! # }
//! ```
//!
//! # Features
//!
//! | feature | adds | default |
//! |-|-|-|
//! | `http` | servers that are reached by streamable HTTP (`http`), and ours as a service of `tower` (`Serve::http`) | yes |
//! | `tls` | HTTPS for these servers, by rustls | no |
//! | `auth` | `OAuth`: authorization at these servers | no |

// On docs.rs every item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod client;
mod server;

pub use answer::Answer;

#[cfg(feature = "http")]
pub use client::http;
pub use client::{
    ListedPrompt, ListedResource, ListedTool, Mcp, McpError, McpErrorKind, PromptArgument,
    Question, Server, lazy, stdio,
};
#[cfg(feature = "auth")]
pub use client::{OAuth, TokenError, TokenStore};
#[cfg(feature = "http")]
pub use server::HttpService;
pub use server::{
    Arguments, Changes, Handler, Host, HostError, Messages, Prompt, Resource, Serve, Variables,
    serve,
};

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../book/src/mcp.md")]
    struct Mcp;
}
