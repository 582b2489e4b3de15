//! Resources and prompts of servers.

use super::media;
use agents_core::model::{Content, Message};
use rmcp::model::{GetPromptResult, Prompt, ReadResourceResult, Resource, Role};

/// Resource as a server lists it: a text or a file that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedResource {
    /// URI by which the server knows the resource.
    pub uri: String,
    /// Name of the resource, which is shown to people.
    pub name: String,
    /// Description of the resource; empty if the server gives none.
    pub description: String,
    /// Media type of the resource; `None` if the server does not say it.
    pub media_type: Option<String>,
}

impl From<Resource> for ListedResource {
    fn from(listed: Resource) -> Self {
        ListedResource {
            uri: listed.uri,
            name: listed.title.unwrap_or(listed.name),
            description: listed.description.unwrap_or_default(),
            media_type: listed.mime_type,
        }
    }
}

/// Prompt as a server lists it: a text that the server writes from a few arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedPrompt {
    /// Name by which the server knows the prompt.
    pub name: String,
    /// Description of the prompt; empty if the server gives none.
    pub description: String,
    /// Arguments that the prompt takes.
    pub arguments: Vec<PromptArgument>,
}

/// Argument that a prompt of a server takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Name of the argument, by which its value is given.
    pub name: String,
    /// Description of the argument; empty if the server gives none.
    pub description: String,
    /// Is `true` if the prompt cannot be written without this argument.
    pub is_required: bool,
}

impl From<Prompt> for ListedPrompt {
    fn from(listed: Prompt) -> Self {
        let arguments = listed.arguments.unwrap_or_default().into_iter();
        let arguments = arguments.map(|argument| PromptArgument {
            name: argument.name,
            description: argument.description.unwrap_or_default(),
            is_required: argument.required == Some(true),
        });
        ListedPrompt {
            name: listed.name,
            description: listed.description.unwrap_or_default(),
            arguments: arguments.collect(),
        }
    }
}

/// Returns the text and the files that a server has sent for a resource.
pub(super) fn content(read: &ReadResourceResult) -> Result<Content, String> {
    let mut content = Content::default();
    for part in &read.contents {
        media::add_resource(&mut content, part)?;
    }
    Ok(content)
}

/// Returns the messages of a prompt that a server has written. Parts that the same side says one after the other are
/// one message.
pub(super) fn messages(written: &GetPromptResult) -> Result<Vec<Message>, String> {
    let mut sides: Vec<(bool, Content)> = Vec::new();
    for message in &written.messages {
        let is_model = message.role == Role::Assistant;
        match sides.last_mut() {
            Some((side, content)) if *side == is_model => {
                media::add_block(content, &message.content)?;
            }
            _ => {
                let mut content = Content::default();
                media::add_block(&mut content, &message.content)?;
                sides.push((is_model, content));
            }
        }
    }
    let messages = sides.into_iter().map(|(is_model, content)| match is_model {
        true => Message::Assistant {
            content: content.text,
            thinking: None,
            calls: Vec::new(),
        },
        false => Message::User { content },
    });
    Ok(messages.collect())
}
