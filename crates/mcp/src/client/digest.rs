//! Digests of tools, by which a change of a description or a schema is noticed.

use agents_core::tool::RemoteTool;
use hmac_sha256::Hash;
use serde_json::Value;

/// Returns the digest of everything that a server says of a tool, as 64 hexadecimal digits. By it, a change of the tool
/// is noticed. The order of keys does not matter.
pub(super) fn of(tool: &RemoteTool) -> String {
    let said = serde_json::to_value(tool).unwrap_or_default();
    let mut text = String::new();
    write(&said, &mut text);
    let digest = Hash::hash(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a value as JSON with its keys in order. Values that were read from JSON are not nested deeply, so the
/// recursion is bounded.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in members {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(said: Value) -> RemoteTool {
        serde_json::from_value(said).unwrap()
    }

    #[test]
    fn a_digest_changes_with_what_is_said_and_not_with_the_order() {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}"#;
        let turned = r#"{"properties": {"b": {}, "a": {"type": "string"}}, "type": "object"}"#;
        let with = |schema: &str, description: &str| {
            let schema: Value = serde_json::from_str(schema).unwrap();
            of(&tool(
                json!({"name": "t", "description": description, "inputSchema": schema}),
            ))
        };
        assert_eq!(with(schema, "Reads."), with(turned, "Reads."));
        assert_ne!(with(schema, "Reads."), with(schema, "Reads!"));
        assert_ne!(with(schema, "Reads."), with("{}", "Reads."));
        let hinted = json!({"name": "t", "inputSchema": {}, "annotations": {"readOnlyHint": true}});
        let bare = json!({"name": "t", "inputSchema": {}});
        assert_ne!(of(&tool(hinted)), of(&tool(bare)));
    }
}
