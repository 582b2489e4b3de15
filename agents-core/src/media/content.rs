use super::Media;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, ops::Deref};

/// Content of a message: a text, and images or files beside it.
///
/// Most messages are a text alone, which converts into content. Content derefs to its text.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::{Content, Media, Message};
///
/// let question = Message::User { content: "Why is the sky blue?".into() };
/// let chart = Media::url("image/png", "https://example.com/chart.png");
/// let content = Content::from("What does the chart show?").with(chart);
/// assert!(content.starts_with("What"));
/// assert_eq!(content.media.len(), 1);
/// # let _ = question;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// Text of the content, which stands before the images and files.
    pub text: String,
    /// Images and files, which follow the text in this order.
    pub media: Vec<Media>,
    /// Is `true` if the run itself has written the text, such as a refusal, and no user or tool.
    told: bool,
}

impl Content {
    /// Creates content from a text that the run itself tells a model.
    pub(crate) fn told(text: impl Into<String>) -> Self {
        Content {
            told: true,
            ..Content::from(text.into())
        }
    }

    /// Returns `true` if the run itself has written the text, and no user or tool.
    pub(crate) fn is_told(&self) -> bool {
        self.told
    }

    /// Adds an image or a file behind those that the content has already.
    #[must_use]
    pub fn with(mut self, media: Media) -> Self {
        self.media.push(media);
        self
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content {
            text,
            media: Vec::new(),
            told: false,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Deref for Content {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<str> for Content {
    fn eq(&self, text: &str) -> bool {
        self.media.is_empty() && self.text == text
    }
}

impl PartialEq<&str> for Content {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

/// Writes content as its text alone, unless it has images or files, or the run itself has written the text.
impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            text: &'a str,
            media: &'a [Media],
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            told: bool,
        }
        match (&self.media[..], self.told) {
            ([], false) => serializer.serialize_str(&self.text),
            (media, told) => Whole {
                text: &self.text,
                media,
                told,
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Text(String),
            Whole {
                text: String,
                media: Vec<Media>,
                #[serde(default)]
                told: bool,
            },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Text(text) => text.into(),
            Stored::Whole { text, media, told } => Content { text, media, told },
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::media::{Content, Media};
    use serde_json::json;

    #[test]
    fn content_without_media_is_stored_as_a_text() {
        let content = Content::from("hi");
        assert_eq!(serde_json::to_value(&content).unwrap(), json!("hi"));
        let dot = Media::bytes("image/gif", b"GIF89a").unwrap().named("dot");
        let page = Media::url("application/pdf", "https://example.com/a.pdf");
        let content = content.with(dot).with(page);
        let stored = serde_json::to_value(&content).unwrap();
        assert_eq!(
            stored,
            json!({ "text": "hi", "media": [
                { "type": "image/gif", "name": "dot", "base64": "R0lGODlh" },
                { "type": "application/pdf", "url": "https://example.com/a.pdf" },
            ] })
        );
        assert_eq!(serde_json::from_value::<Content>(stored).unwrap(), content);
    }
}
