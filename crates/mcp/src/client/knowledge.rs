//! Resources of a server as knowledge: each resource is read by a tool without arguments.

use super::{
    ListedResource, names,
    wording::{self, READS_A_RESOURCE},
};
use agents_core::tool::{Annotations, RemoteTool};
use serde_json::json;

/// Returns the tool without arguments that reads this resource of the server.
pub(super) fn tool_of(server: &str, resource: &ListedResource) -> RemoteTool {
    let ListedResource {
        uri,
        name,
        description,
        ..
    } = resource;
    RemoteTool {
        name: names::of_tool(server, &format!("read_{name}")),
        description: wording::reads(name, uri, description.trim()),
        // A list that is stored with a run tells by the comment what the tool is.
        input_schema: json!({"type": "object", "properties": {}, "$comment": READS_A_RESOURCE}),
        output_schema: None,
        annotations: Annotations::default(),
    }
}

/// Returns `true` if the tool was made of a resource, which it reads.
pub(super) fn is_knowledge(tool: &RemoteTool) -> bool {
    tool.input_schema["$comment"] == READS_A_RESOURCE
}
