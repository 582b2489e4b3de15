//! Authentication: who sends a request.

use agents_runtime::Principal;
use async_trait::async_trait;
use axum::http::request::Parts;
use std::error::Error;

/// Says who sends a request. The control room has no users of its own: an application knows them.
///
/// A function `Fn(&Parts) -> Option<Principal>` is an authenticator. One that has to ask somewhere else implements the
/// trait. The example `oidc` signs people in with an OpenID Connect provider.
///
/// ```
/// use agents_runtime::Principal;
/// use agents_server::Authenticator;
/// use async_trait::async_trait;
/// use axum::http::request::Parts;
/// use std::{collections::BTreeMap, error::Error};
///
/// /// The sessions of an application.
/// struct Sessions(tokio::sync::RwLock<BTreeMap<String, Principal>>);
///
/// #[async_trait]
/// impl Authenticator for Sessions {
///     async fn principal(&self, request: &Parts) -> Result<Option<Principal>, Box<dyn Error + Send + Sync>> {
///         let Some(cookie) = request.headers.get("cookie") else {
///             return Ok(None);
///         };
///         let session = cookie.to_str()?.strip_prefix("session=").unwrap_or_default();
///         Ok(self.0.read().await.get(session).cloned())
///     }
///
///     fn sign_in(&self) -> Option<String> {
///         Some("/login".into())
///     }
/// }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say who sends a request",
    label = "expected an authenticator",
    note = "a function is one: `fn signed_in(request: &axum::http::request::Parts) -> Option<Principal>`"
)]
pub trait Authenticator: Send + Sync + 'static {
    /// Returns the principal who sends the request; `None` if nobody is signed in.
    ///
    /// # Errors
    /// When it cannot be found out now. The request is then answered with status 503.
    async fn principal(
        &self,
        request: &Parts,
    ) -> Result<Option<Principal>, Box<dyn Error + Send + Sync>>;

    /// Returns the address where people sign in, if there is one. A page that nobody is signed in for leads there.
    fn sign_in(&self) -> Option<String> {
        None
    }
}

#[async_trait]
impl<F> Authenticator for F
where
    F: Fn(&Parts) -> Option<Principal> + Send + Sync + 'static,
{
    async fn principal(
        &self,
        request: &Parts,
    ) -> Result<Option<Principal>, Box<dyn Error + Send + Sync>> {
        Ok(self(request))
    }
}
