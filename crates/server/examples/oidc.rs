//! People sign in with an OpenID Connect provider, and the control room knows who they are.
//!
//! ```text
//! OIDC_SECRET=.. oidc --listen 127.0.0.1:PORT --issuer URL --client ID --store sqlite:FILE
//! ```
//!
//! The provider has to know `http://127.0.0.1:PORT/callback` as an address of the client. Its ID tokens have two claims more
//! than usual: `tenant`, the organisation of the person, and `roles`, a list of roles. A provider elsewhere is asked by
//! HTTPS: add the feature `rustls` of `reqwest`. A server that is reached by HTTPS adds `; Secure` to its cookies.

use agents_runtime::{Principal, Runtime, SqliteStore};
use agents_server::Authenticator;
use async_trait::async_trait;
use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use openidconnect::{
    AdditionalClaims, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken,
    EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, IdTokenFields, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, StandardErrorResponse, StandardTokenResponse, TokenResponse,
    core::{
        CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType,
        CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreRevocableToken,
        CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
    },
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};
use tokio::net::TcpListener;

/// Cookie of somebody who is signed in.
const SESSION: &str = "session";
/// Cookie of somebody who is about to sign in.
const STATE: &str = "signing_in";
/// Time within which people sign in.
const PATIENCE: Duration = Duration::from_secs(600);

/// Claims beside the usual ones.
#[derive(Debug, Deserialize, Serialize)]
struct Claims {
    /// Organisation of the person.
    tenant: String,
    #[serde(default)]
    roles: Vec<String>,
}

impl AdditionalClaims for Claims {}

type Tokens = StandardTokenResponse<
    IdTokenFields<
        Claims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

/// Client of a provider whose ID tokens have our claims.
type Provider = Client<
    Claims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Visit of a person who is about to sign in.
struct SigningIn {
    nonce: Nonce,
    verifier: PkceCodeVerifier,
    until: Instant,
}

/// People who are signed in, and those who are about to.
#[derive(Default)]
struct People {
    signing_in: HashMap<String, SigningIn>,
    signed_in: HashMap<String, (Principal, Instant)>,
}

/// Sign-in with a provider. It is the authenticator of the control room.
#[derive(Clone)]
struct SignIn {
    provider: Arc<Provider>,
    http: reqwest::Client,
    people: Arc<Mutex<People>>,
}

#[async_trait]
impl Authenticator for SignIn {
    async fn principal(
        &self,
        request: &Parts,
    ) -> Result<Option<Principal>, Box<dyn Error + Send + Sync>> {
        let session = cookie(&request.headers, SESSION);
        let mut people = self.people();
        people
            .signed_in
            .retain(|_, (_, until)| *until > Instant::now());
        let found = session.and_then(|session| people.signed_in.get(session));
        Ok(found.map(|(principal, _)| principal.clone()))
    }

    fn sign_in(&self) -> Option<String> {
        Some("/login".into())
    }
}

impl SignIn {
    /// Asks the provider where it is and which keys it signs with.
    async fn discover(
        issuer: String,
        client: String,
        secret: Option<String>,
        callback: String,
    ) -> Result<Self, Box<dyn Error>> {
        // A provider that leads elsewhere is not followed.
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.timeout(Duration::from_secs(20)).build()?;
        let send = |request| send(http.clone(), request);
        let found = CoreProviderMetadata::discover_async(IssuerUrl::new(issuer)?, &send).await?;
        let (client, secret) = (ClientId::new(client), secret.map(ClientSecret::new));
        let provider = Client::from_provider_metadata(found, client, secret);
        Ok(SignIn {
            provider: Arc::new(provider.set_redirect_uri(RedirectUrl::new(callback)?)),
            http,
            people: Arc::default(),
        })
    }

    fn people(&self) -> MutexGuard<'_, People> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges the code of the provider for a token, and returns the principal that it is about.
    async fn exchange(
        &self,
        code: String,
        signing_in: SigningIn,
    ) -> Result<(Principal, Instant), Box<dyn Error>> {
        let send = |request| send(self.http.clone(), request);
        let exchange = self.provider.exchange_code(AuthorizationCode::new(code))?;
        let exchange = exchange.set_pkce_verifier(signing_in.verifier);
        let tokens = exchange.request_async(&send).await?;
        let token = tokens
            .id_token()
            .ok_or("the provider has sent no ID token")?;
        // Signature, issuer, audience, time and nonce.
        let claims = token.claims(&self.provider.id_token_verifier(), &signing_in.nonce)?;
        let Claims { tenant, roles } = claims.additional_claims();
        let principal = Principal::new(claims.subject().as_str(), tenant);
        let principal = roles.iter().fold(principal, Principal::role);
        let left = SystemTime::from(claims.expiration()).duration_since(SystemTime::now())?;
        Ok((principal, Instant::now() + left))
    }
}

/// Sends a request to the provider.
async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let request = http.request(parts.method, parts.uri.to_string());
    let answer = request.headers(parts.headers).body(body).send().await?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut response = HttpResponse::new(answer.bytes().await?.to_vec());
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    Ok(response)
}

/// Leads to the provider.
async fn login(State(sign_in): State<SignIn>) -> Response {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let request = sign_in
        .provider
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
    let (url, state, nonce) = request.set_pkce_challenge(challenge).url();
    let until = Instant::now() + PATIENCE;
    let signing_in = SigningIn {
        nonce,
        verifier,
        until,
    };
    let mut people = sign_in.people();
    people
        .signing_in
        .retain(|_, one| one.until > Instant::now());
    people.signing_in.insert(state.secret().clone(), signing_in);
    drop(people);
    let cookie = set_cookie(STATE, state.secret(), PATIENCE);
    (cookie, Redirect::to(url.as_str())).into_response()
}

#[derive(Deserialize)]
struct Callback {
    code: String,
    state: String,
}

/// Takes the answer of the provider, which the browser brings.
async fn callback(
    State(sign_in): State<SignIn>,
    headers: HeaderMap,
    Query(Callback { code, state }): Query<Callback>,
) -> Response {
    // The browser that comes back is the one that went, and comes back once.
    let began = sign_in.people().signing_in.remove(&state);
    let is_own =
        |one: &SigningIn| one.until > Instant::now() && cookie(&headers, STATE) == Some(&state);
    let Some(began) = began.filter(is_own) else {
        return refused("you have begun to sign in elsewhere, or long ago; open /login again");
    };
    match sign_in.exchange(code, began).await {
        Ok(signed_in) => {
            let session = CsrfToken::new_random().into_secret();
            let cookie = set_cookie(SESSION, &session, signed_in.1 - Instant::now());
            sign_in.people().signed_in.insert(session, signed_in);
            (cookie, Redirect::to("/agents/")).into_response()
        }
        Err(error) => {
            eprintln!("somebody is not signed in: {error}");
            refused("the provider's answer cannot be trusted; open /login again")
        }
    }
}

fn refused(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, why).into_response()
}

fn set_cookie(name: &str, value: &str, time: Duration) -> [(header::HeaderName, String); 1] {
    let seconds = time.as_secs();
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax");
    [(header::SET_COOKIE, cookie)]
}

/// Returns the value of a cookie.
fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let all = all.filter_map(|cookies: &HeaderValue| cookies.to_str().ok());
    let mut pairs = all.flat_map(|cookies| cookies.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

#[derive(Default)]
struct Options {
    listen: Option<String>,
    issuer: Option<String>,
    client: Option<String>,
    store: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut options = Options::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match &*word {
            "--listen" => options.listen = words.next(),
            "--issuer" => options.issuer = words.next(),
            "--client" => options.client = words.next(),
            "--store" => options.store = words.next(),
            _ => break,
        }
    }
    match serve(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), Box<dyn Error>> {
    let listen = options.listen.ok_or("--listen is missing")?;
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    let sign_in = SignIn::discover(
        options.issuer.ok_or("--issuer is missing")?,
        options.client.ok_or("--client is missing")?,
        std::env::var("OIDC_SECRET").ok(),
        format!("http://{address}/callback"),
    );
    let sign_in = sign_in.await?;
    let store = options.store.ok_or("--store is missing")?;
    let file = store
        .strip_prefix("sqlite:")
        .ok_or("--store is not sqlite:FILE")?;
    let client = Runtime::client(SqliteStore::open(file).await?);
    let room = agents_server::router(&client, sign_in.clone());
    let app = Router::new()
        .route("/login", get(login))
        .route("/callback", get(callback))
        .with_state(sign_in)
        .nest("/agents", room);
    println!("listening on http://{address}/agents/");
    axum::serve(listener, app).await?;
    Ok(())
}
