//! Images and files that a server sends.

use super::wording;
use agents_core::model::{Content, Media};
use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::{ContentBlock, ResourceContents};

/// Returns an image or a file that a server sent as Base64. The error says why it cannot be read.
pub(super) fn decoded(kind: &str, data: &str) -> Result<Media, String> {
    let bytes = STANDARD.decode(data);
    let bytes = bytes.map_err(|error| wording::not_base64(kind, &error))?;
    Media::bytes(kind, &bytes).map_err(|error| error.to_string())
}

/// Adds a text to the content, on a line of its own.
pub(super) fn add_text(content: &mut Content, text: &str) {
    if !content.text.is_empty() {
        content.text.push('\n');
    }
    content.text.push_str(text);
}

/// Adds what a resource of a server holds to the content: a text or a file.
pub(super) fn add_resource(
    content: &mut Content,
    resource: &ResourceContents,
) -> Result<(), String> {
    match resource {
        ResourceContents::TextResourceContents { text, .. } => add_text(content, text),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
            content.media.push(decoded(kind, blob)?.named(uri));
        }
        _ => return Err(wording::UNKNOWN_RESOURCE.to_owned()),
    }
    Ok(())
}

/// Adds a block of a server's message or result to the content: text, media, a resource or a link. Fails with the reason if
/// the block cannot be read.
pub(super) fn add_block(content: &mut Content, block: &ContentBlock) -> Result<(), String> {
    match block {
        ContentBlock::Text(text) => add_text(content, &text.text),
        ContentBlock::Image(image) => content.media.push(decoded(&image.mime_type, &image.data)?),
        ContentBlock::Audio(audio) => content.media.push(decoded(&audio.mime_type, &audio.data)?),
        ContentBlock::Resource(resource) => add_resource(content, &resource.resource)?,
        ContentBlock::ResourceLink(link) => {
            add_text(content, &wording::link(&link.name, &link.uri));
        }
        _ => return Err(wording::UNKNOWN_PART.to_owned()),
    }
    Ok(())
}
