use super::{Collected, Media};
use crate::hex::hex;
use serde::{Deserialize, Serialize};

/// Attachment of a call (an image, a file or a table that a tool returned), as a fact records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attached {
    /// URL of the content: that of the blob store, that which the tool gave, or `sha256:` with the digest, from which
    /// nothing can be fetched.
    pub(crate) url: String,
    /// Media type of the attachment, such as `image/png`.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// SHA-256 digest of the content in lower-case hexadecimal digits, and its size in bytes; absent if the bytes are
    /// not at hand, as for content at a URL that the tool gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<(String, u64)>,
    /// Image or file that the model gets; `None` for a table, whose rows are a part of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) media: Option<Media>,
}

impl Attached {
    /// Creates the attachment for content that was taken out of an output. `bytes` are those of the content, and `None`
    /// if they are not at hand, as for content at a URL that the tool gave. `kept_at` is the URL at which a blob store
    /// keeps the bytes; `None` if none does.
    pub(crate) fn new(collected: Collected, bytes: Option<&[u8]>, kept_at: Option<String>) -> Self {
        let Collected { media, is_table } = collected;
        let digest = bytes.map(|bytes| {
            let digest = hex(&hmac_sha256::Hash::hash(bytes));
            (digest, bytes.len() as u64)
        });
        let media_type = media.media_type().to_owned();
        let (url, media) = match (&digest, kept_at) {
            (Some((digest, _)), Some(url)) => {
                let media = media.stored(url.clone(), digest.clone());
                (url, media)
            }
            (Some((digest, _)), None) => (format!("sha256:{digest}"), media),
            (None, _) => (media.data_url().into_owned(), media),
        };
        Attached {
            url,
            media_type,
            digest,
            media: (!is_table).then_some(media),
        }
    }
}
