//! Credentials that are looked up for each request: a key in the secret store, or a token that is refreshed.

mod bundle;
mod oauth;
mod wording;

pub use bundle::Bundle;
pub use oauth::{BundleStore, MemoryBundles, OAuth, StoreError};

use crate::Call;
use agents_core::model::{ModelError, ModelErrorKind as Kind, Request};
use http::{
    HeaderName,
    header::{AUTHORIZATION, HeaderValue},
};
use std::fmt;

/// Credential of a client that is looked up for each request, on behalf of the run that makes the request.
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

/// Way in which a provider takes a key: the header, and the text before the key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHeader {
    /// Name of the header, in lower case.
    pub name: &'static str,
    /// Text before the key, such as `Bearer `.
    pub prefix: &'static str,
}

impl Credential {
    /// Creates a credential that is the secret of this name. It is found as a tool's secrets are: that of the run, of the
    /// user, of the workspace, of the organisation.
    pub fn secret(name: impl Into<String>) -> Self {
        Credential(Source::Secret(name.into()))
    }

    /// Adds the credential to a call. A token goes into `Authorization: Bearer`, and a key where the provider takes it.
    ///
    /// # Errors
    /// When the run has no such secret, when the organisation has no token, or when a token cannot be refreshed.
    pub async fn authorize<'c>(
        &self,
        call: Call<'c>,
        request: &Request<'_>,
        key: KeyHeader,
    ) -> Result<Call<'c>, ModelError> {
        let (name, value) = match &self.0 {
            Source::Secret(secret) => {
                let found = request.secret(secret).await?;
                let value = format!("{}{}", key.prefix, found.expose_secret());
                (HeaderName::from_static(key.name), value)
            }
            Source::OAuth(oauth) => {
                let org = request.scope().map_or("", |scope| scope.tenant_id());
                let token = oauth.token(org).await?;
                (AUTHORIZATION, format!("Bearer {token}"))
            }
        };
        let value = HeaderValue::from_str(&value)
            .map_err(|_| ModelError::new(Kind::Setup, wording::NO_HEADER))?;
        Ok(call.header(name, value))
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
