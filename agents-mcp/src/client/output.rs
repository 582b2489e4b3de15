//! Results of calls, as outputs of tools.

use agents_core::model::Content;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// Returns the output of a call: its structured content if it has any, else its text. Parts that are no text are named.
pub(super) fn of(result: CallToolResult) -> Result<Value, String> {
    let CallToolResult {
        content,
        structured_content,
        is_error,
        ..
    } = result;
    let text = || {
        let parts: Vec<_> = content.iter().map(part).collect();
        parts.join("\n")
    };
    match (is_error, structured_content) {
        (Some(true), structured) => Err(match (text(), structured) {
            (text, Some(structured)) if text.is_empty() => structured.to_string(),
            (text, _) if text.is_empty() => "it did not say why".to_owned(),
            (text, _) => text,
        }),
        (_, Some(structured)) => Ok(structured),
        (_, None) => Ok(Value::from(text())),
    }
}

/// Returns what was read of a resource as text. Images and files are named.
pub(super) fn text(content: &Content) -> String {
    let files = content.media.iter().map(|file| {
        let bytes = file.base64().map_or(0, |data| data.len() / 4 * 3);
        format!("[file, {}, {bytes} bytes]", file.media_type())
    });
    let text = (!content.text.is_empty()).then(|| content.text.clone());
    text.into_iter().chain(files).collect::<Vec<_>>().join("\n")
}

fn part(part: &ContentBlock) -> String {
    let file = |what: &str, kind: &str, data: &str| {
        // Four characters of Base64 are three bytes.
        format!("[{what}, {kind}, {} bytes]", data.len() / 4 * 3)
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
                let kind = mime_type.as_deref().unwrap_or("of unknown type");
                file(&format!("file {uri}"), kind, blob)
            }
            _ => "[a resource of an unknown kind]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.name, link.uri),
        _ => "[a part of an unknown kind]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn output(result: Value) -> Result<Value, String> {
        of(serde_json::from_value(result).unwrap())
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
        assert_eq!(output(silent), Err("it did not say why".to_owned()));
    }

    #[test]
    fn parts_that_are_no_text_are_named() {
        let parts = json!({"content": [
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAAAAAA", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "B"}},
            {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
        ]});
        let said = "[image, image/png, 3 bytes]\n[audio, audio/wav, 6 bytes]\n[resource a: file:///a.txt]\n\
                    file:///b.txt:\nB\n[file file:///c, of unknown type, 3 bytes]";
        assert_eq!(output(parts), Ok(json!(said)));
    }
}
