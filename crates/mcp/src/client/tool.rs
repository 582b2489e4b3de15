//! A tool of a list, as a tool of ours.

use super::{
    Server,
    connection::{Failure, cause},
    digest, knowledge,
    link::Link,
    output,
};
use agents_core::{
    Effects,
    tool::{Category, FnTool, NeedsApproval, RemoteTool, Scope, ToolSpec},
};
use serde_json::Value;
use std::{fmt::Write, sync::Arc};

/// Number of the digest's digits that are in the version of a tool.
const DIGITS: usize = 12;

/// Returns the tool of an agent that calls this tool of a server. `server` says whether its hints are trusted, and
/// `link` leads to the server of a scope.
pub(super) fn of(
    listed: &RemoteTool,
    server: &Server,
    link: impl Fn(&Scope) -> Arc<Link> + Send + Sync + 'static,
) -> FnTool {
    let digest: Arc<str> = digest::of(listed).into();
    let spec = spec(listed, server, &digest);
    let name: Arc<str> = listed.name.as_str().into();
    let writes = spec.effects == Effects::Writes;
    let has_schema = spec.output_schema.is_some();
    let namespace = format!("mcp:{}", server.name());
    let tool = FnTool::with_causes(spec, move |args, cx| {
        let (name, digest) = (name.clone(), digest.clone());
        let link = link(cx.scope());
        async move {
            let (connection, listed) = link.find(&name, &digest).await.map_err(cause)?;
            let own_name = &listed.own_name;
            if knowledge::is_knowledge(&listed.tool) {
                let content =
                    link.asks(|connection| async move { connection.read(own_name).await });
                let content = content.await.map_err(cause)?;
                return Ok(output::read(content));
            }
            let args = match args {
                Value::Object(args) => args,
                _ => Default::default(),
            };
            let called = connection.call(own_name, args.clone(), has_schema).await;
            let failure = match called {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            let Failure::Answered(error) = &failure else {
                return Err(failure.cause(writes));
            };
            // A call that was refused for want of authorization had no effect.
            if !link.authorize(error).await.map_err(cause)? {
                return Err(failure.cause(writes));
            }
            let (connection, listed) = link.find(&name, &digest).await.map_err(cause)?;
            let called = connection.call(&listed.own_name, args, has_schema).await;
            called.map_err(|failure| failure.cause(writes))
        }
    });
    tool.cache_namespace(namespace)
}

/// Returns the specification of an agent's tool that calls this tool of a server. Unless something else is declared,
/// the tool writes outside of the organisation, so that its calls need approval.
fn spec(listed: &RemoteTool, server: &Server, digest: &str) -> ToolSpec {
    let RemoteTool {
        name,
        description,
        input_schema,
        output_schema,
        annotations,
    } = listed;
    let only_reads =
        knowledge::is_knowledge(listed) || server.reads.iter().any(|pattern| pattern.matches(name));
    let mut spec = if server.trusts_hints {
        listed.spec()
    } else {
        let description = match description.trim() {
            "" => name,
            _ => description,
        };
        let (name, description) = (name.clone(), description.clone());
        ToolSpec::undeclared(name, description, input_schema.clone())
            .output_schema(output_schema.clone())
    };
    if only_reads {
        spec.effects = Effects::Reads;
        spec.declared = true;
        spec.idempotent = true;
        spec.approval = NeedsApproval::Never;
    } else if annotations.destructive_hint == Some(true) && spec.effects == Effects::Writes {
        // What the server itself warns of, no policy of an agent may loosen.
        spec = spec.approval(NeedsApproval::Always);
    }
    spec.timeout = server.timeout;
    let mut version = String::from("mcp-");
    for digit in digest.chars().take(DIGITS) {
        _ = version.write_char(digit);
    }
    spec.version(version).category(Category::Api)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents_core::tool::Risk;
    use serde_json::json;

    fn spec_of(server: &Server, hints: Value) -> ToolSpec {
        let said =
            json!({"name": "x_get", "inputSchema": {"type": "object"}, "annotations": hints});
        let listed = serde_json::from_value(said).unwrap();
        spec(&listed, server, "0123456789abcdef")
    }

    fn kinds(spec: &ToolSpec) -> (Effects, bool, NeedsApproval) {
        (spec.effects, spec.external, spec.approval)
    }

    #[test]
    fn a_tool_writes_outside_and_asks_whatever_the_server_hints() {
        let gated = (Effects::Writes, true, NeedsApproval::Always);
        for hints in [
            json!({}),
            json!({"readOnlyHint": true, "openWorldHint": false, "idempotentHint": true}),
            json!({"destructiveHint": false}),
        ] {
            let spec = spec_of(&crate::stdio("x", [""; 0]), hints);
            assert_eq!(kinds(&spec), gated);
            assert!(!spec.idempotent && spec.risk_level() == Risk::High);
            assert_eq!(
                (&*spec.version, &*spec.description),
                ("mcp-0123456789ab", "x_get")
            );
        }
    }

    #[test]
    fn the_user_may_trust_the_hints_or_declare_what_only_reads() {
        let reads = (Effects::Reads, true, NeedsApproval::Never);
        let trusted = crate::stdio("x", [""; 0]).trust_hints();
        assert_eq!(
            kinds(&spec_of(&trusted, json!({"readOnlyHint": true}))),
            reads
        );
        let declared = crate::stdio("x", [""; 0]).reads("x_get*");
        assert_eq!(
            kinds(&spec_of(&declared, json!({"destructiveHint": true}))),
            reads
        );
        let other = crate::stdio("x", [""; 0]).reads("x_list");
        let gated = (Effects::Writes, true, NeedsApproval::Always);
        assert_eq!(kinds(&spec_of(&other, json!({}))), gated);
    }
}
