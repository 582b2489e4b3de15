//! Secrets of a request, kept out of messages.

use crate::Server;
use http::HeaderValue;

/// Secrets of one request, such as its key, which no message may show: some servers repeat the key that they refuse.
///
/// [`Call::hidden`](crate::Call::hidden) makes it.
pub struct Hidden<'a> {
    pub(crate) server: &'a Server,
    /// Values of the headers that only this request has; the others are those of the server.
    pub(crate) own: Vec<HeaderValue>,
}

impl Hidden<'_> {
    /// Returns the text with `***` in the place of each secret.
    pub fn in_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in self.server.secrets().chain(&self.own) {
            let Ok(value) = value.to_str() else { continue };
            let bare = value.split_once(' ').map_or(value, |(_, bare)| bare);
            if bare.len() > 3 {
                text = text.replace(bare, "***");
            }
        }
        text
    }
}
