//! Resources of a server as knowledge: tools without arguments, each of which reads one.

use super::{ListedResource, names};
use agents_core::tool::{Annotations, RemoteTool};
use serde_json::json;

/// Comment in the schema of a tool that reads a resource. A list that is stored with a run tells by it what the tool is.
const COMMENT: &str = "reads a resource of an MCP server";

/// Returns the tool that reads this resource of the server.
pub(super) fn tool_of(server: &str, resource: &ListedResource) -> RemoteTool {
    let ListedResource {
        uri,
        name,
        description,
        ..
    } = resource;
    let description = match description.trim() {
        "" => format!("Reads {name} ({uri})."),
        description => format!("Reads {name}: {description}"),
    };
    RemoteTool {
        name: names::of_tool(server, &format!("read_{name}")),
        description,
        input_schema: json!({"type": "object", "properties": {}, "$comment": COMMENT}),
        output_schema: None,
        annotations: Annotations::default(),
    }
}

/// Returns `true` if the tool reads a resource.
pub(super) fn is_knowledge(tool: &RemoteTool) -> bool {
    tool.input_schema["$comment"] == COMMENT
}
