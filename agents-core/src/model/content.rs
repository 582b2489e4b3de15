//! Text with images and files beside it.

use crate::{Error, ErrorKind};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

/// Content of a message: a text, and images or files beside it.
///
/// Most messages are a text alone, which converts into content. Where a text is expected, the content is its text.
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
    /// Text.
    pub text: String,
    /// Images and files, in their order behind the text.
    pub media: Vec<Media>,
}

impl Content {
    /// Adds an image or a file.
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

/// Content without media is stored as its text.
impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            text: &'a str,
            media: &'a [Media],
        }
        match &self.media[..] {
            [] => serializer.serialize_str(&self.text),
            media => Whole {
                text: &self.text,
                media,
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
            Whole { text: String, media: Vec<Media> },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Text(text) => text.into(),
            Stored::Whole { text, media } => Content { text, media },
        })
    }
}

/// An image or a file in a message, as bytes or by its URL.
///
/// Bytes are kept and stored as base64, which is how servers take them. `Debug` does not show them.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Media;
///
/// let dot = Media::bytes("image/gif", b"GIF89a")?.named("dot.gif");
/// assert!(dot.is_image());
/// assert_eq!(dot.base64(), Some("R0lGODlh"));
/// assert_eq!(dot.data_url(), "data:image/gif;base64,R0lGODlh");
/// # Ok::<(), agents::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    #[serde(rename = "type")]
    media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    source: Source,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Base64(Arc<str>),
    Url(String),
}

impl Media {
    /// Maximum number of bytes of one image or file: 20 MiB.
    pub const MAX_BYTES: usize = 20 << 20;

    /// Creates media of a type such as `image/png` or `application/pdf` from its bytes.
    ///
    /// # Errors
    /// When there are more than [`MAX_BYTES`](Self::MAX_BYTES).
    pub fn bytes(media_type: impl Into<String>, bytes: &[u8]) -> Result<Media, Error> {
        if bytes.len() > Media::MAX_BYTES {
            let message = format!(
                "an image or a file of {} bytes is too large for a message: the most is {} MiB; give its URL with \
                 `Media::url(..)`, or make it smaller",
                bytes.len(),
                Media::MAX_BYTES >> 20
            );
            return Err(Error::new(ErrorKind::Build, message));
        }
        Ok(Media {
            media_type: media_type.into(),
            name: None,
            source: Source::Base64(STANDARD.encode(bytes).into()),
        })
    }

    /// Creates media of a type such as `image/png` from a URL, which the model's server fetches.
    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Media {
        Media {
            media_type: media_type.into(),
            name: None,
            source: Source::Url(url.into()),
        }
    }

    /// Sets the name of the file.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Media {
        self.name = Some(name.into());
        self
    }

    /// Returns the type, such as `image/png`.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Returns the name of the file, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns `true` if the type is that of an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns the bytes as base64, or `None` if there is a URL instead.
    pub fn base64(&self) -> Option<&str> {
        match &self.source {
            Source::Base64(text) => Some(text),
            Source::Url(_) => None,
        }
    }

    /// Returns the URL, or a `data:` URL with the bytes.
    pub fn data_url(&self) -> Cow<'_, str> {
        match &self.source {
            Source::Base64(text) => format!("data:{};base64,{text}", self.media_type).into(),
            Source::Url(url) => url.into(),
        }
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({}", self.media_type)?;
        if let Some(name) = &self.name {
            write!(f, ", {name}")?;
        }
        match &self.source {
            Source::Base64(text) => write!(f, ", {} bytes of base64)", text.len()),
            Source::Url(url) => write!(f, ", {url})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Media};
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

    #[test]
    fn too_many_bytes_are_refused() {
        let bytes = vec![0; Media::MAX_BYTES + 1];
        let error = Media::bytes("image/png", &bytes).unwrap_err();
        assert!(error.to_string().contains("the most is 20 MiB"), "{error}");
        assert!(Media::bytes("image/png", &bytes[1..]).is_ok());
    }

    #[test]
    fn debug_does_not_show_the_bytes() {
        let dot = Media::bytes("image/gif", b"GIF89a").unwrap();
        assert_eq!(format!("{dot:?}"), "Media(image/gif, 8 bytes of base64)");
    }
}
