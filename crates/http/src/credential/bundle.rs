use super::wording;
use crate::{Address, Headers, Limits, Server, Words, get_json};
use agents_core::model::{ModelError, ModelErrorKind as Kind};
use http::header::{CONTENT_TYPE, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// An access token of OAuth 2.0, with what is needed to get the next one when it expires. `Debug` shows no token.
///
/// ```
/// use agents_http::Bundle;
/// use std::time::Duration;
///
/// let bundle = Bundle::new("at-1", "https://auth.example.com/token")
///     .refresh_token("rt-1")
///     .client("my-app", None)
///     .expires_in(Duration::from_secs(3_600));
/// assert!(!bundle.expires_within(Duration::from_secs(60)));
/// assert!(!format!("{bundle:?}").contains("at-1"));
/// // It is data: a store keeps it, encrypted.
/// let stored = serde_json::to_string(&bundle)?;
/// # let _ = stored;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// Time at which the access token expires, in seconds since 1970; `None` if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    token_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
}

impl Bundle {
    /// Creates a bundle of this access token. At `token_url`, the next one is asked for.
    pub fn new(access_token: impl Into<String>, token_url: impl Into<String>) -> Self {
        Bundle {
            access_token: access_token.into(),
            refresh_token: None,
            expires_at: None,
            token_url: token_url.into(),
            client_id: None,
            client_secret: None,
        }
    }

    /// Sets the refresh token, with which the next access token is asked for. Without one, the bundle cannot be
    /// refreshed.
    #[must_use]
    pub fn refresh_token(mut self, token: impl Into<String>) -> Self {
        self.refresh_token = Some(token.into());
        self
    }

    /// Sets the id of the OAuth client that asks for tokens, and its secret if it has one.
    #[must_use]
    pub fn client(mut self, id: impl Into<String>, secret: Option<String>) -> Self {
        self.client_id = Some(id.into());
        self.client_secret = secret;
        self
    }

    /// Sets for how long the access token is valid from now. Without such a time, the bundle takes the token to be
    /// valid for ever.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_at = Some(now().saturating_add(time.as_secs()));
        self
    }

    /// Returns the access token, which requests send.
    pub fn access_token(&self) -> &str {
        &self.access_token
    }

    /// Returns `true` if the access token has expired or expires within this time.
    pub fn expires_within(&self, time: Duration) -> bool {
        self.expires_at
            .is_some_and(|at| at <= now().saturating_add(time.as_secs()))
    }

    /// Asks the token URL for the next access token by the grant `refresh_token`, and returns the new bundle. If the
    /// server gives a new refresh token as well, the old one is worthless: the new bundle has to be stored. If the
    /// server does not say how long the new token is valid, the bundle takes it to be valid for ever.
    ///
    /// # Errors
    /// When the bundle has no refresh token, when the token URL is no address or is plain HTTP to another machine, or
    /// when the server cannot be reached or refuses.
    pub async fn refresh(&self, limits: &Limits) -> Result<Bundle, ModelError> {
        let setup = |why: String| ModelError::new(Kind::Setup, why);
        let Some(refresh_token) = &self.refresh_token else {
            return Err(setup(wording::NO_REFRESH_TOKEN.into()));
        };
        let address = Address::parse(&self.token_url, None)
            .map_err(|error| setup(wording::no_token_url(&error.why)))?;
        if !address.is_https() && !address.is_loopback() {
            return Err(setup(wording::plain_token_url(&address)));
        }
        let server = Server::new(address, &Headers::default());
        let server = server.map_err(|error| setup(error.to_string()))?;
        let endpoint = server
            .endpoint("")
            .map_err(|error| setup(error.to_string()))?;
        let mut form = field("grant_type", "refresh_token");
        form += &format!("&{}", field("refresh_token", refresh_token));
        if let Some(id) = &self.client_id {
            form += &format!("&{}", field("client_id", id));
        }
        if let Some(secret) = &self.client_secret {
            form += &format!("&{}", field("client_secret", secret));
        }
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        let call = server.post(&endpoint, form).header(CONTENT_TYPE, kind);
        let words = Words {
            model: "token",
            url: "the token URL",
            key: "sign in again",
        };
        let granted: Granted = get_json(call, limits, &words).await.map_err(|error| {
            let message = wording::not_refreshed(&error);
            let failed = ModelError::new(error.kind(), self.without_tokens(message));
            match error.status() {
                Some(status) => failed.with_status(status),
                None => failed,
            }
        })?;
        Ok(Bundle {
            access_token: granted.access_token,
            refresh_token: granted.refresh_token.or_else(|| self.refresh_token.clone()),
            expires_at: granted
                .expires_in
                .map(|seconds| now().saturating_add(seconds)),
            ..self.clone()
        })
    }

    /// Returns a message of the token server without the refresh token and the client secret that it may have repeated.
    fn without_tokens(&self, mut message: String) -> String {
        let tokens = [&self.refresh_token, &self.client_secret];
        for token in tokens.into_iter().flatten().filter(|one| !one.is_empty()) {
            message = message.replace(token, "***");
        }
        message
    }
}

/// Reply of a token server to a request for a new token, as it is read from JSON.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
}

fn field(name: &str, value: &str) -> String {
    format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle")
            .field("token_url", &self.token_url)
            .field("client_id", &self.client_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
