use super::{Collected, collect::push};
use crate::{Error, ErrorKind, hex::hex};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer};
use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

/// An image or a file, as bytes or by its URL: in the input of an agent, or in the output of a tool.
///
/// Bytes are kept and stored as base64, which is how servers take them. `Debug` does not show them. A model cannot give
/// media, so an agent that a model drives cannot return it, and a tool cannot take it as an argument.
///
/// ```
/// # use agents_core as agents;
/// use agents::model::Media;
///
/// let dot = Media::bytes("image/gif", b"GIF89a")?.named("dot.gif");
/// assert!(dot.is_image());
/// assert_eq!(dot.to_bytes().unwrap(), b"GIF89a");
/// assert_eq!(dot.data_url(), "data:image/gif;base64,R0lGODlh");
/// # Ok::<(), agents::Error>(())
/// ```
#[derive(Clone, PartialEq, Deserialize)]
pub struct Media {
    #[serde(rename = "type")]
    media_type: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(flatten)]
    source: Source,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Base64(Arc<str>),
    Url(String),
    Stored(Stored),
    /// A reference by its number to an attachment: the content was taken out of an output.
    Attachment(u32),
}

/// Image or file whose bytes a blob store keeps.
#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    url: String,
    sha256: String,
    /// Bytes as base64, once they are loaded; clones share them.
    #[serde(skip)]
    base64: Arc<OnceLock<Arc<str>>>,
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        (&self.url, &self.sha256) == (&other.url, &other.sha256)
    }
}

impl Media {
    /// Maximum number of bytes of one image or file: 20 MiB.
    pub const MAX_BYTES: usize = 20 << 20;

    /// Creates media of a type such as `image/png` or `application/pdf` from its bytes.
    ///
    /// # Errors
    /// When there are more bytes than [`MAX_BYTES`](Self::MAX_BYTES).
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
        Ok(Media::of_bytes(media_type.into(), bytes))
    }

    /// Creates a file from a text of any length.
    pub(super) fn of_text(media_type: &str, text: &str) -> Media {
        Media::of_bytes(media_type.to_owned(), text.as_bytes())
    }

    fn of_bytes(media_type: String, bytes: &[u8]) -> Media {
        Media {
            media_type,
            name: None,
            source: Source::Base64(STANDARD.encode(bytes).into()),
        }
    }

    /// Creates media of a type such as `image/png` from a URL, which the model's server fetches. Ollama fetches none,
    /// so its client refuses such media.
    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Media {
        Media {
            media_type: media_type.into(),
            name: None,
            source: Source::Url(url.into()),
        }
    }

    /// Sets the name of the image or file.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Media {
        self.name = Some(name.into());
        self
    }

    /// Returns the media type of the image or file, such as `image/png`.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Returns the name of the image or file, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns `true` if the media type is that of an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns the bytes as base64; `None` for media by URL, for a reference to an attachment, and for bytes in a blob
    /// store that are not loaded yet.
    pub fn base64(&self) -> Option<&str> {
        match &self.source {
            Source::Base64(text) => Some(text),
            Source::Stored(stored) => stored.base64.get().map(|text| &**text),
            Source::Url(_) | Source::Attachment(_) => None,
        }
    }

    /// Returns the bytes; `None` where [`base64`](Self::base64) returns `None`, and for media that was read from JSON
    /// with invalid base64.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.base64()?).ok()
    }

    /// Returns a URL for the content: a `data:` URL if the bytes are at hand, else the URL of the media or of its blob.
    /// A reference to an attachment has no URL, and gives `attachment:` with its number.
    pub fn data_url(&self) -> Cow<'_, str> {
        match (&self.source, self.base64()) {
            (_, Some(text)) => format!("data:{};base64,{text}", self.media_type).into(),
            (Source::Url(url) | Source::Stored(Stored { url, .. }), None) => url.into(),
            (Source::Attachment(number), None) => format!("attachment:{number}").into(),
            (Source::Base64(_), None) => Cow::Borrowed(""),
        }
    }

    /// Returns the same media, whose bytes a blob store keeps under this URL. Bytes that are loaded already are shared;
    /// they are not serialised.
    pub(super) fn stored(self, url: String, sha256: String) -> Media {
        let base64 = match &self.source {
            Source::Base64(text) => OnceLock::from(text.clone()),
            Source::Url(_) | Source::Stored(_) | Source::Attachment(_) => OnceLock::new(),
        };
        Media {
            source: Source::Stored(Stored {
                url,
                sha256,
                base64: Arc::new(base64),
            }),
            ..self
        }
    }

    /// Returns the URL in a blob store from which the bytes have to be loaded; `None` if that is not needed.
    pub(crate) fn to_load(&self) -> Option<&str> {
        match &self.source {
            Source::Stored(stored) if stored.base64.get().is_none() => Some(&stored.url),
            _ => None,
        }
    }

    /// Takes the bytes that a blob store returned for the content. Returns `false`, and takes none, if their digest is
    /// not that of the content. For media outside of a blob store it returns `true`, and takes none.
    pub(crate) fn load(&self, bytes: &[u8]) -> bool {
        let Source::Stored(stored) = &self.source else {
            return true;
        };
        let is_same = hex(&hmac_sha256::Hash::hash(bytes)) == stored.sha256;
        if is_same {
            stored.base64.get_or_init(|| STANDARD.encode(bytes).into());
        }
        is_same
    }

    /// Returns `true` for a reference to an attachment, which has neither bytes nor a URL.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self.source, Source::Attachment(_))
    }

    /// Returns words for the media in a message: its name in quotes, or else its type.
    pub(crate) fn described(&self) -> String {
        let what = if self.is_image() { "image" } else { "file" };
        match &self.name {
            Some(name) => format!("the {what} `{name}`"),
            None => format!("the {what} of type `{}`", self.media_type),
        }
    }
}

/// Writes media as a whole, so that it can be read back. In an output for a model, only a reference is written.
impl Serialize for Media {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(rename = "type")]
            media_type: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<&'a str>,
            #[serde(flatten)]
            source: &'a Source,
        }
        let number = push(|| Collected {
            media: self.clone(),
            is_table: false,
        });
        let reference = number.map(Source::Attachment);
        Whole {
            media_type: &self.media_type,
            name: self.name(),
            source: reference.as_ref().unwrap_or(&self.source),
        }
        .serialize(serializer)
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Media({}", self.media_type)?;
        if let Some(name) = &self.name {
            write!(f, ", {name}")?;
        }
        match (&self.source, self.base64()) {
            (_, Some(text)) => write!(f, ", {} bytes of base64)", text.len()),
            (_, None) => write!(f, ", {})", self.data_url()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Media;
    use serde_json::json;

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

    #[test]
    fn stored_media_is_written_without_its_bytes_and_loaded_once() {
        let digest = crate::hex::hex(&hmac_sha256::Hash::hash(b"GIF89a"));
        let dot = Media::bytes("image/gif", b"GIF89a").unwrap();
        let stored = dot.stored("memory:a/1".into(), digest.clone());
        assert_eq!(
            (stored.to_load(), stored.base64()),
            (None, Some("R0lGODlh"))
        );
        let written = serde_json::to_value(&stored).unwrap();
        assert_eq!(
            written,
            json!({ "type": "image/gif", "stored": { "url": "memory:a/1", "sha256": digest } })
        );
        let read: Media = serde_json::from_value(written).unwrap();
        let clone = read.clone();
        assert_eq!((read.to_load(), read.base64()), (Some("memory:a/1"), None));
        assert!(!read.load(b"other") && read.to_load().is_some());
        assert!(read.load(b"GIF89a"));
        assert_eq!((clone.to_load(), clone.base64()), (None, Some("R0lGODlh")));
        assert_eq!(read, stored);
    }
}
