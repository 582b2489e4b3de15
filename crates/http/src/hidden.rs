//! Secrets of a request, kept out of messages.

use crate::Server;
use http::HeaderValue;

/// Secrets of requests, such as a key, which no message may show: some servers repeat the key that they refuse.
///
/// [`Call::hidden`](crate::Call::hidden) returns those of one request, and [`Server::hidden`](crate::Server::hidden)
/// those of all requests to a server.
///
/// ```
/// use agents_http::{Address, Headers, Server, http::header::AUTHORIZATION};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Address::parse("http://localhost:8000/v1", None)?, &Headers::default())?;
/// let endpoint = server.endpoint("models")?;
/// let call = server.get(&endpoint).header(AUTHORIZATION, "Bearer hunter2".parse()?);
/// assert_eq!(call.hidden().in_text("there is no key hunter2"), "there is no key ***");
/// # Ok(())
/// # }
/// ```
pub struct Hidden<'a> {
    pub(crate) server: &'a Server,
    /// Values of the headers that only this request has; the others are those of the server.
    pub(crate) own: Vec<HeaderValue>,
}

impl Hidden<'_> {
    /// Returns the text with `***` in the place of each secret.
    pub fn in_text(&self, text: &str) -> String {
        let hide = |text: String, secret: &str| text.replace(secret, "***");
        self.secrets().fold(text.to_owned(), hide)
    }

    /// Returns the secrets: the values of the headers, without a first word such as `Bearer`. A value of up to three
    /// bytes counts as no secret.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let values = self.server.secrets().chain(&self.own);
        let values = values.filter_map(|value| value.to_str().ok());
        let bare = values.map(|value| value.split_once(' ').map_or(value, |(_, bare)| bare));
        bare.filter(|bare| bare.len() > 3)
    }
}
