//! The list of a server's tools.

use super::{McpError, McpErrorKind, Server, digest, names};
use agents_core::tool::{Annotations, RemoteTool};
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
        ToolAnnotations,
    },
    service::Peer,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of pages that are read of one list.
const MOST_PAGES: usize = 100;

/// Largest size of what a server says of one tool, in bytes of JSON.
const LARGEST_TOOL: usize = 64 << 10;

/// Tool as a server lists it, under the name by which models know it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedTool {
    /// What the server says of the tool.
    pub tool: RemoteTool,
    /// Digest of all that the server says of the tool; see [`Server::pin`](super::Server::pin).
    pub digest: String,
    /// Name by which the server knows the tool.
    pub own_name: String,
}

/// Tools of a server, by the names by which models know them.
pub(super) type Listing = BTreeMap<String, ListedTool>;

/// Reads the whole list of the server, page by page. A tool that models could not use is left out, with a warning.
pub(super) async fn read(
    peer: &Peer<RoleClient>,
    server: &Server,
    name: &str,
) -> Result<Listing, McpError> {
    let wrong = |why: String| {
        McpError::new(
            McpErrorKind::Protocol,
            format!("the MCP server `{name}` {why}"),
        )
    };
    let mut listing = Listing::new();
    let mut cursor = None;
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for _ in 0..MOST_PAGES {
        let request = ListToolsRequest {
            method: Default::default(),
            params: Some(PaginatedRequestParams::default().with_cursor(cursor.take())),
            extensions: Default::default(),
        };
        let page = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await
            .map_err(|error| wrong(format!("does not list its tools: {error}")))?;
        let ServerResult::ListToolsResult(page) = page else {
            return Err(wrong("answers `tools/list` with something else".into()));
        };
        for tool in page.tools {
            count += 1;
            if count > server.max_tools {
                let most = server.max_tools;
                return Err(wrong(format!(
                    "lists more than {most} tools; allow more with `.max_tools(..)` if that is right"
                )));
            }
            add(&mut listing, tool, name);
        }
        match page.next_cursor {
            None => return Ok(listing),
            Some(next) if !seen.insert(next.clone()) => {
                return Err(wrong("lists its tools in a circle".into()));
            }
            Some(next) => cursor = Some(next),
        }
    }
    Err(wrong(format!(
        "lists its tools on more than {MOST_PAGES} pages"
    )))
}

fn add(listing: &mut Listing, tool: Tool, server: &str) {
    let own_name = tool.name.to_string();
    let listed = RemoteTool {
        name: names::of_tool(server, &own_name),
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: Value::Object((*tool.input_schema).clone()),
        output_schema: tool
            .output_schema
            .map(|schema| Value::Object((*schema).clone())),
        annotations: tool.annotations.map(hints).unwrap_or_default(),
    };
    let size = serde_json::to_string(&listed).map_or(usize::MAX, |text| text.len());
    let unfit = if size > LARGEST_TOOL {
        format!("its description and schemas have {size} bytes, and {LARGEST_TOOL} are read")
    } else if let Some(other) = listing.get(&listed.name) {
        format!("`{}` has its name, `{}`", other.own_name, listed.name)
    } else {
        let digest = digest::of(&listed);
        let name = listed.name.clone();
        let listed = ListedTool {
            tool: listed,
            digest,
            own_name,
        };
        listing.insert(name, listed);
        return;
    };
    let tool: String = own_name.chars().take(100).collect();
    tracing::warn!(server, tool, "a tool of an MCP server is left out: {unfit}");
}

fn hints(hints: ToolAnnotations) -> Annotations {
    Annotations {
        read_only_hint: hints.read_only_hint,
        destructive_hint: hints.destructive_hint,
        idempotent_hint: hints.idempotent_hint,
        open_world_hint: hints.open_world_hint,
    }
}
