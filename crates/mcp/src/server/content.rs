//! Content of messages, resources and results, in the form of the protocol.

use agents_core::model::{Content, Media, Message};
use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::{ContentBlock, PromptMessage, ResourceContents, Role};

/// Returns content in the blocks of the protocol: the text, and each image and file, as a block of its own.
pub(super) fn blocks(content: &Content) -> Vec<ContentBlock> {
    let text = match content.text.as_str() {
        "" if !content.media.is_empty() => None,
        text => Some(ContentBlock::text(text)),
    };
    text.into_iter()
        .chain(content.media.iter().enumerate().map(block))
        .collect()
}

/// Returns an image, a sound or a file as a block of the protocol. A file without a name has the URI `attachment:1`,
/// with its number.
fn block((nth, media): (usize, &Media)) -> ContentBlock {
    let kind = media.media_type();
    let Some(data) = media.base64() else {
        return ContentBlock::text(media.data_url());
    };
    match kind.split('/').next() {
        Some("image") => ContentBlock::image(data, kind),
        Some("audio") => ContentBlock::audio(data, kind),
        _ => {
            let uri = match media.name() {
                Some(name) if name.contains(':') => name.to_owned(),
                Some(name) => format!("attachment:{name}"),
                None => format!("attachment:{}", nth + 1),
            };
            ContentBlock::resource(file(&uri, kind, data))
        }
    }
}

/// Returns a file as the contents of a resource: one whose type is that of a text as text, any other as Base64.
fn file(uri: &str, kind: &str, data: &str) -> ResourceContents {
    let is_text = kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml");
    let bytes = is_text.then(|| STANDARD.decode(data).ok()).flatten();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(data, uri),
    };
    contents.with_mime_type(kind)
}

/// Returns what a resource at this URI holds, in the form of the protocol: its text with this type, and its files with
/// their own.
pub(super) fn contents(
    uri: &str,
    media_type: Option<&str>,
    content: &Content,
) -> Vec<ResourceContents> {
    let text = match content.text.as_str() {
        "" if !content.media.is_empty() => None,
        text => {
            let kind = media_type.unwrap_or("text/plain");
            Some(ResourceContents::text(text, uri).with_mime_type(kind))
        }
    };
    let files = content.media.iter().map(|media| match media.base64() {
        Some(data) => file(uri, media.media_type(), data),
        None => ResourceContents::text(media.data_url(), uri),
    });
    text.into_iter().chain(files).collect()
}

/// Returns messages of a prompt in the form of the protocol; each block is a message of its own. The protocol has no
/// system prompts, so such a message comes from the user.
pub(super) fn messages(messages: &[Message]) -> Vec<PromptMessage> {
    let of = |role: Role, content: &Content| {
        let blocks = blocks(content).into_iter();
        blocks
            .map(|block| PromptMessage::new(role.clone(), block))
            .collect::<Vec<_>>()
    };
    let messages = messages.iter().flat_map(|message| match message {
        Message::Assistant { content, .. } => of(Role::Assistant, &content.as_str().into()),
        Message::System { content } => of(Role::User, &content.as_str().into()),
        Message::User { content } | Message::Tool { content, .. } => of(Role::User, content),
    });
    messages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown(content: &Content) -> Value {
        serde_json::to_value(blocks(content)).unwrap()
    }

    #[test]
    fn each_part_has_the_kind_of_its_type() {
        let media = |kind: &str| Media::bytes(kind, b"abc").unwrap();
        let content = Content::from("look")
            .with(media("image/png"))
            .with(media("audio/wav"))
            .with(media("text/plain").named("test://notes"))
            .with(media("application/pdf"));
        assert_eq!(
            shown(&content),
            json!([
                {"type": "text", "text": "look"},
                {"type": "image", "data": "YWJj", "mimeType": "image/png"},
                {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "test://notes", "mimeType": "text/plain", "text": "abc"}},
                {"type": "resource", "resource": {"uri": "attachment:4", "mimeType": "application/pdf", "blob": "YWJj"}},
            ])
        );
        assert_eq!(shown(&"".into()), json!([{"type": "text", "text": ""}]));
    }
}
