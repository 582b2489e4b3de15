//! Results of calls, as outputs of tools.
//!
//! Images and files become attachments of the call. Other parts that are no text are named.

use super::{McpError, McpErrorKind, media, wording};
use agents_core::model::{Content, Media};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Serialize;
use serde_json::Value;

/// Output of a server's tool, in the form in which a run stores it.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Output {
    /// Structured content, or a text, without files.
    Plain(Value),
    /// Images and files, with the text or structured content that came beside them.
    WithFiles {
        #[serde(skip_serializing_if = "Option::is_none")]
        structured: Option<Value>,
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
        files: Vec<Media>,
    },
}

/// Returns the output of a call: its structured content, or else its text. If the call has images or files, the output
/// has them, the text and the structured content. If the tool declares a schema for its output and sends structured
/// content, the output is that alone.
///
/// # Errors
/// When the server says that the call has failed. [`McpErrorKind::Protocol`] if it sends a part that cannot be read:
/// then the call may have taken effect.
pub(super) fn of(
    server: &str,
    result: CallToolResult,
    has_schema: bool,
) -> Result<Output, McpError> {
    let CallToolResult {
        content,
        structured_content,
        is_error,
        ..
    } = result;
    let failed = |said: String| McpError::new(McpErrorKind::Failed, said);
    let unreadable = |why: String| wording::unreadable(server, &why);
    let text = || {
        let parts: Vec<_> = content.iter().map(part).collect();
        parts.join("\n")
    };
    match (is_error, structured_content) {
        (Some(true), structured) => Err(match (text(), structured) {
            (text, Some(structured)) if text.is_empty() => failed(structured.to_string()),
            (text, _) if text.is_empty() => wording::fails_silently(server),
            (text, _) => failed(text),
        }),
        (_, Some(structured)) if has_schema => Ok(Output::Plain(structured)),
        (_, structured) => {
            let mut shown = Content::default();
            for block in &content {
                match block {
                    ContentBlock::Image(_) | ContentBlock::Audio(_) => {
                        media::add_block(&mut shown, block).map_err(unreadable)?;
                    }
                    ContentBlock::Resource(resource)
                        if matches!(
                            resource.resource,
                            ResourceContents::BlobResourceContents { .. }
                        ) =>
                    {
                        media::add_block(&mut shown, block).map_err(unreadable)?;
                    }
                    other => media::add_text(&mut shown, &part(other)),
                }
            }
            Ok(with_files(structured, shown))
        }
    }
}

fn with_files(structured: Option<Value>, content: Content) -> Output {
    match (content.media.is_empty(), structured) {
        (true, Some(structured)) => Output::Plain(structured),
        (true, None) => Output::Plain(Value::from(content.text)),
        (false, structured) => Output::WithFiles {
            structured,
            text: content.text,
            files: content.media,
        },
    }
}

/// Returns the output of a tool that reads a resource.
pub(super) fn read(content: Content) -> Output {
    with_files(None, content)
}

fn part(part: &ContentBlock) -> String {
    let file = |what: &str, kind: &str, data: &str| {
        // Four characters of Base64 are three bytes.
        wording::file(what, kind, data.len() / 4 * 3)
    };
    match part {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => file("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => file("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.as_deref().unwrap_or(wording::UNKNOWN_TYPE);
                file(&format!("file {uri}"), kind, blob)
            }
            _ => format!("[{}]", wording::UNKNOWN_RESOURCE),
        },
        ContentBlock::ResourceLink(link) => wording::link(&link.name, &link.uri),
        _ => format!("[{}]", wording::UNKNOWN_PART),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn output(result: Value) -> Result<Value, String> {
        let output = of("x", serde_json::from_value(result).unwrap(), false);
        let output = output.map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(output).unwrap())
    }

    #[test]
    fn structured_content_comes_before_text() {
        let text = json!({"type": "text", "text": "21 degrees"});
        let both = json!({"content": [text], "structuredContent": {"degrees": 21}});
        assert_eq!(output(both), Ok(json!({"degrees": 21})));
        let texts = json!({"content": [text, {"type": "text", "text": "dry"}]});
        assert_eq!(output(texts), Ok(json!("21 degrees\ndry")));
        assert_eq!(output(json!({"content": []})), Ok(json!("")));
    }

    #[test]
    fn an_error_says_what_the_server_says() {
        let text = json!({"type": "text", "text": "no such city"});
        let failed = json!({"content": [text], "isError": true});
        assert_eq!(output(failed), Err("no such city".to_owned()));
        let silent = json!({"content": [], "isError": true});
        let why = output(silent).unwrap_err();
        assert!(
            why.starts_with("the MCP server `x` says that the call has failed"),
            "{why}"
        );
    }

    #[test]
    fn images_and_files_are_beside_the_text() {
        let parts = json!({"content": [
            {"type": "text", "text": "Look:"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "B"}},
            {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
        ]});
        // Outside of a run, the bytes are in the JSON.
        assert_eq!(
            output(parts),
            Ok(
                json!({"text": "Look:\n[resource a: file:///a.txt]\nfile:///b.txt:\nB", "files": [
                    {"type": "image/png", "base64": "AAAA"},
                    {"type": "audio/wav", "base64": "AAAAAAAA"},
                    {"type": "application/octet-stream", "name": "file:///c", "base64": "AAAA"},
                ]})
            )
        );
        let image = json!({"type": "image", "data": "no base64!", "mimeType": "image/png"});
        let broken = serde_json::from_value(json!({"content": [image]})).unwrap();
        let broken = of("x", broken, false).unwrap_err();
        assert_eq!(broken.kind(), McpErrorKind::Protocol);
        assert!(
            broken.to_string().starts_with(
                "the MCP server `x` sends what cannot be read: a part of type image/png is not Base64"
            ),
            "{broken}"
        );
    }

    #[test]
    fn a_tool_with_a_schema_gives_what_follows_it() {
        let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        let both = json!({"content": [image], "structuredContent": {"degrees": 21}});
        let read = || serde_json::from_value(both.clone()).unwrap();
        let alone = of("x", read(), true).unwrap();
        assert_eq!(alone, Output::Plain(json!({"degrees": 21})));
        let Ok(Output::WithFiles {
            structured, files, ..
        }) = of("x", read(), false)
        else {
            panic!("it has a file")
        };
        assert_eq!((structured, files.len()), (Some(json!({"degrees": 21})), 1));
    }
}
