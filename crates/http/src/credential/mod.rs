//! Credentials that are looked up for each request: a key in the secret store, or a token that is refreshed.

mod bundle;
mod oauth;
mod wording;

pub use bundle::Bundle;
pub use oauth::{BundleStore, MemoryBundles, OAuth, StoreError};

use crate::Call;
use agents_core::model::{ModelError, ModelErrorKind as Kind, Request};
use http::{HeaderName, HeaderValue};
use std::fmt;

/// Key or token of a client of a model, which is looked up for each request, on behalf of the run that makes the
/// request.
///
/// Clients take one with `.credential(..)`. A key that never changes is `.api_key(..)` instead.
///
/// ```
/// use agents_http::{Bundle, Credential, MemoryBundles, OAuth};
///
/// // The secret `anthropic` of the user, the workspace or the organisation for which the run works.
/// let key = Credential::secret("anthropic");
/// // A token for each organisation, which is refreshed when it is about to expire.
/// let bundles = MemoryBundles::new().with("acme", Bundle::new("at-1", "https://auth.example.com/token"));
/// let token = Credential::from(OAuth::new(bundles));
/// # let _ = (key, token);
/// ```
#[derive(Clone)]
pub struct Credential(Source);

#[derive(Clone)]
enum Source {
    Secret(String),
    OAuth(OAuth),
}

/// Form in which a provider takes a key: the header, and the text before the key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHeader {
    /// Name of the header, in lower case.
    pub name: &'static str,
    /// Text before the key in the header's value, such as `Bearer `.
    pub prefix: &'static str,
}

impl Credential {
    /// Creates a credential that is the secret of this name. It is looked for as a tool's secrets are: first that of
    /// the run, then of the user, of the workspace and of the organisation.
    pub fn secret(name: impl Into<String>) -> Self {
        Credential(Source::Secret(name.into()))
    }
}

impl KeyHeader {
    /// Header `Authorization`, with the word `Bearer` before the key.
    pub const BEARER: KeyHeader = KeyHeader {
        name: "authorization",
        prefix: "Bearer ",
    };
}

impl Call<'_> {
    /// Adds the credential of a client to a request, if the client has one. A token is sent as `Authorization: Bearer`,
    /// and a key in the header that the provider takes. The key that the client sends with all its requests is then
    /// left out.
    ///
    /// # Errors
    /// When the run has no such secret or the request is made outside of a run, when the organisation has no token,
    /// when the secret or the token cannot be looked up or refreshed, or when it has characters that no header can
    /// have.
    pub async fn authorized(
        self,
        credential: Option<&Credential>,
        request: &Request<'_>,
        key: KeyHeader,
    ) -> Result<Self, ModelError> {
        let Some(Credential(source)) = credential else {
            return Ok(self);
        };
        let (header, value) = match source {
            Source::Secret(secret) => {
                let found = request.secret(secret).await?;
                (key, found.expose_secret().to_owned())
            }
            Source::OAuth(oauth) => {
                let org = request.scope().map_or("", |scope| scope.tenant_id());
                (KeyHeader::BEARER, oauth.token(org).await?)
            }
        };
        let value = HeaderValue::from_str(&format!("{}{value}", header.prefix))
            .map_err(|_| ModelError::new(Kind::Setup, wording::NO_HEADER))?;
        let call = self.without(key.name);
        Ok(call.header(HeaderName::from_static(header.name), value))
    }
}

impl From<OAuth> for Credential {
    fn from(oauth: OAuth) -> Self {
        Credential(Source::OAuth(oauth))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Secret(name) => write!(f, "Credential(secret {name})"),
            Source::OAuth(_) => f.write_str("Credential(OAuth)"),
        }
    }
}
