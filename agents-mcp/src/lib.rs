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

mod client;
mod server;

#[cfg(feature = "http")]
pub use client::http;
pub use client::{ListedTool, Mcp, McpError, McpErrorKind, Server, lazy, stdio};
#[cfg(feature = "http")]
pub use server::HttpService;
pub use server::{Handler, Serve, serve};

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../book/src/mcp.md")]
    struct Mcp;
}
