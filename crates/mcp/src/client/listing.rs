//! The list of a server's tools.

use super::{ListedResource, McpError, Server, digest, knowledge, names, wording};
use agents_core::tool::{Annotations, RemoteTool};
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
        ToolAnnotations,
    },
    service::{Peer, ServiceError},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of pages of one list that are read from a server.
const MOST_PAGES: usize = 100;

/// Largest size of what a server says of one tool, in bytes of JSON.
const LARGEST_TOOL: usize = 64 << 10;

/// Tool as a server lists it, with the name by which models know it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedTool {
    /// Tool, as the server describes it.
    pub tool: RemoteTool,
    /// Digest of all that the server says of the tool; see [`Server::pin`](super::Server::pin).
    pub digest: String,
    /// Name by which the server knows the tool. For a tool that reads a [resource](super::Server::knowledge), it is the URI.
    pub own_name: String,
}

/// Tools of a server, by the names by which models know them.
pub(super) type Listing = BTreeMap<String, ListedTool>;

/// Reader of the pages of a server's list, with the limits on their number and length.
pub(super) struct Pages<'a> {
    server: &'a Server,
    name: &'a str,
    /// Name of the kind of entries, in the plural, for errors.
    what: &'static str,
    /// Request for the next page; `None` after the last one.
    next: Option<PaginatedRequestParams>,
    seen: BTreeSet<String>,
    count: usize,
}

impl<'a> Pages<'a> {
    pub(super) fn new(server: &'a Server, name: &'a str, what: &'static str) -> Self {
        Pages {
            server,
            name,
            what,
            next: Some(PaginatedRequestParams::default()),
            seen: BTreeSet::new(),
            count: 0,
        }
    }

    /// Returns the request for the next page of the list; `None` after the last page.
    pub(super) fn next(&mut self) -> Option<PaginatedRequestParams> {
        self.next.take()
    }

    /// Counts a page with `count` entries, and keeps the request for the page after it.
    ///
    /// # Errors
    /// When the server lists more than is read, or lists in a circle.
    pub(super) fn read(&mut self, count: usize, next: Option<String>) -> Result<(), McpError> {
        let (server, what) = (self.name, self.what);
        self.count += count;
        let most = self.server.max_tools;
        if self.count > most {
            return Err(wording::lists_too_many(server, most, what));
        }
        let Some(next) = next else { return Ok(()) };
        if !self.seen.insert(next.clone()) {
            return Err(wording::lists_in_a_circle(server, what));
        }
        if self.seen.len() >= MOST_PAGES {
            return Err(wording::lists_on_too_many_pages(server, MOST_PAGES, what));
        }
        self.next = Some(PaginatedRequestParams::default().with_cursor(Some(next)));
        Ok(())
    }
}

/// Reads the whole list of the server's tools, page by page. A tool is left out, with a warning, if it is too large, if
/// its name for models is taken, or if it claims to read a resource.
pub(super) async fn read(
    peer: &Peer<RoleClient>,
    server: &Server,
    name: &str,
    failed: impl Fn(&ServiceError) -> McpError,
) -> Result<Listing, McpError> {
    let mut listing = Listing::new();
    let mut pages = Pages::new(server, name, "tools");
    while let Some(params) = pages.next() {
        let request = ListToolsRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        };
        let page = peer.send_request(ClientRequest::ListToolsRequest(request));
        let page = match page.await {
            Ok(ServerResult::ListToolsResult(page)) => page,
            Ok(_) => return Err(wording::not_a_list(name)),
            // A server may have resources and prompts alone.
            Err(ServiceError::McpError(said)) if said.code == ErrorCode::METHOD_NOT_FOUND => break,
            Err(error) => return Err(failed(&error)),
        };
        pages.read(page.tools.len(), page.next_cursor)?;
        for tool in page.tools {
            add(&mut listing, tool, name);
        }
    }
    Ok(listing)
}

/// Adds a tool for each resource that the description of the server offers as knowledge.
pub(super) fn add_knowledge(
    listing: &mut Listing,
    resources: Vec<ListedResource>,
    server: &Server,
    name: &str,
) {
    for resource in resources {
        if server
            .knowledge
            .iter()
            .any(|pattern| pattern.matches(&resource.uri))
        {
            let tool = knowledge::tool_of(name, &resource);
            insert(listing, tool, resource.uri, name);
        }
    }
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
    match knowledge::is_knowledge(&listed) {
        // Nothing that a server says of a tool makes knowledge of it.
        true => left_out(server, &own_name, wording::SAYS_IT_IS_A_RESOURCE),
        false => insert(listing, listed, own_name, server),
    }
}

fn insert(listing: &mut Listing, listed: RemoteTool, own_name: String, server: &str) {
    let size = serde_json::to_string(&listed).map_or(usize::MAX, |text| text.len());
    let unfit = if size > LARGEST_TOOL {
        wording::tool_too_large(size, LARGEST_TOOL)
    } else if let Some(other) = listing.get(&listed.name) {
        wording::name_taken(&listed.name, &other.own_name)
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
    left_out(server, &own_name, &unfit);
}

fn left_out(server: &str, own_name: &str, why: &str) {
    let tool: String = own_name.chars().take(100).collect();
    tracing::warn!(server, tool, "a tool of an MCP server is left out: {why}");
}

fn hints(hints: ToolAnnotations) -> Annotations {
    Annotations {
        read_only_hint: hints.read_only_hint,
        destructive_hint: hints.destructive_hint,
        idempotent_hint: hints.idempotent_hint,
        open_world_hint: hints.open_world_hint,
    }
}
