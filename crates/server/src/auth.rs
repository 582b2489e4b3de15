//! Authentication: who sends a request.

use agents_runtime::Principal;
use async_trait::async_trait;
use axum::http::request::Parts;
use std::error::Error;

/// Says who sends a request. The control room has no users of its own: an application knows them.
///
/// [`router`](crate::router) takes an authenticator, and asks it about each request, so it should be quick. A function
/// `Fn(&Parts) -> Option<Principal>` is an authenticator. An authenticator that has to ask somewhere else implements
/// the trait. The example `oidc` signs people in with an OpenID Connect provider.
///
/// ```
/// use agents_runtime::Principal;
/// use agents_server::Authenticator;
/// use async_trait::async_trait;
/// use axum::http::request::Parts;
/// use std::{collections::BTreeMap, error::Error};
///
/// # #[derive(Default)]
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
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn Error>> {
/// # let client = agents_runtime::Runtime::client(agents_runtime::SqliteStore::in_memory().await?);
/// # let sessions = Sessions::default();
/// let app = agents_server::router(&client, sessions);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say who sends a request",
    label = "expected an authenticator",
    note = "a function is one: `fn signed_in(request: &axum::http::request::Parts) -> Option<Principal>`"
)]
pub trait Authenticator: Send + Sync + 'static {
    /// Returns the principal who sends the request; `None` if nobody is signed in. A request of nobody is answered with
    /// status 401, or is sent to the page to [sign in](Authenticator::sign_in).
    ///
    /// # Errors
    /// When it cannot be found out now who sends the request, for instance because the store of sessions is away. The
    /// request is answered with status 503, and with the text of the error.
    async fn principal(
        &self,
        request: &Parts,
    ) -> Result<Option<Principal>, Box<dyn Error + Send + Sync>>;

    /// Returns the address where people sign in; by default, there is none. Whoever asks for a page and is not signed
    /// in is redirected to the address. A request for JSON is refused with status 401 in any case.
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
