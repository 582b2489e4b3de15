//! Servers that want to know who asks: OAuth against an authorization server of this process.

use crate::agents_with_servers::{agent, told, tools};
use agents::{
    async_trait,
    prelude::*,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use agents_mcp::{self as mcp, Mcp, McpErrorKind, OAuth, TokenError, TokenStore};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

/// Adds two numbers.
#[agents::tool(none)]
async fn add(
    /// The first.
    a: i64,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

/// Authorization server, and the server that trusts it. Both are at one address.
#[derive(Clone, Default)]
struct Issuer(Arc<Mutex<Books>>);

#[derive(Default)]
struct Books {
    url: String,
    /// Tokens that are valid.
    valid: Vec<String>,
    /// Requests to the token endpoint.
    asked: Vec<BTreeMap<String, String>>,
    registered: u32,
    tokens: u32,
}

impl Issuer {
    async fn start() -> Issuer {
        let issuer = Issuer::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        issuer.books().url = format!("http://{}", listener.local_addr().unwrap());
        let guarded = Router::new()
            .nest_service("/mcp", mcp::serve().tool(Add).http())
            .layer(from_fn_with_state(issuer.clone(), check));
        let router = guarded
            // A place that only the challenge names.
            .route("/about/mcp", get(resource))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        issuer
    }

    fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }

    fn server(&self, oauth: OAuth) -> mcp::Server {
        let url = format!("{}/mcp", self.books().url);
        mcp::http(url).named("guarded").trust_hints().oauth(oauth)
    }

    /// Returns the grants for which tokens were given.
    fn grants(&self) -> Vec<String> {
        let books = self.books();
        let grants = books.asked.iter().map(|asked| asked["grant_type"].clone());
        grants.collect()
    }
}

fn values(text: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{text}")).unwrap();
    url.query_pairs().into_owned().collect()
}

fn answer(value: &Value) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        value.to_string(),
    )
        .into_response()
}

async fn check(State(issuer): State<Issuer>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|given| {
        given
            .to_str()
            .ok()?
            .strip_prefix("Bearer ")
            .map(str::to_owned)
    });
    let (is_valid, url) = {
        let books = issuer.books();
        let is_valid = given.is_some_and(|given| books.valid.contains(&given));
        (is_valid, books.url.clone())
    };
    if is_valid {
        return next.run(request).await;
    }
    let challenge = format!(r#"Bearer resource_metadata="{url}/about/mcp", scope="tools""#);
    (
        StatusCode::UNAUTHORIZED,
        [(header::WWW_AUTHENTICATE, challenge)],
    )
        .into_response()
}

async fn resource(State(issuer): State<Issuer>) -> Response {
    let url = issuer.books().url.clone();
    answer(&json!({"resource": format!("{url}/mcp"), "authorization_servers": [url]}))
}

async fn metadata(State(issuer): State<Issuer>) -> Response {
    let url = issuer.books().url.clone();
    answer(&json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    }))
}

async fn register(State(issuer): State<Issuer>, body: Body) -> Response {
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let asked: Value = serde_json::from_slice(&body).unwrap();
    issuer.books().registered += 1;
    answer(&json!({
        "client_id": "client-7", "client_secret": "client-sesame", "redirect_uris": asked["redirect_uris"],
    }))
}

async fn token(State(issuer): State<Issuer>, body: String) -> Response {
    let asked = values(&body);
    let mut books = issuer.books();
    let is_good = match asked["grant_type"].as_str() {
        "authorization_code" => asked["code"] == "code-1" && !asked["code_verifier"].is_empty(),
        _ => asked["refresh_token"].starts_with("refresh-"),
    };
    books.asked.push(asked);
    if !is_good {
        let error = json!({"error": "invalid_grant"}).to_string();
        return (StatusCode::BAD_REQUEST, error).into_response();
    }
    books.tokens += 1;
    let number = books.tokens;
    books.valid = vec![format!("access-{number}")];
    answer(&json!({
        "access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
        "token_type": "Bearer", "expires_in": 3600, "scope": "tools",
    }))
}

/// Returns the address that the page leads to if a person clicks on "allow".
fn allowed(page: &str) -> String {
    let asked = values(page.split_once('?').unwrap().1);
    assert_eq!(
        (&*asked["response_type"], &*asked["code_challenge_method"]),
        ("code", "S256")
    );
    assert_eq!(asked["scope"], "tools");
    assert!(asked["resource"].ends_with("/mcp"), "{asked:?}");
    format!(
        "{}?code=code-1&state={}",
        asked["redirect_uri"], asked["state"]
    )
}

const SUM: (&str, &str) = ("guarded_add", r#"{"a": 1, "b": 1}"#);

async fn calls(server: mcp::Server) -> String {
    let said = told(&tools(server), &[SUM]).await.remove(0);
    let receipt: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    receipt["output"].to_string()
}

/// Store that another process could read as well.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<HashMap<(String, Scope), String>>>);

#[async_trait]
impl TokenStore for Shelf {
    async fn load(&self, server: &str, scope: &Scope) -> Result<Option<String>, TokenError> {
        let key = (server.to_owned(), scope.clone());
        Ok(self.0.lock().unwrap().get(&key).cloned())
    }

    async fn save(
        &self,
        server: &str,
        scope: &Scope,
        tokens: Option<String>,
    ) -> Result<(), TokenError> {
        let key = (server.to_owned(), scope.clone());
        let mut shelf = self.0.lock().unwrap();
        match tokens {
            Some(tokens) => _ = shelf.insert(key, tokens),
            None => _ = shelf.remove(&key),
        }
        Ok(())
    }
}

fn oauth() -> OAuth {
    OAuth::new("http://127.0.0.1:9/callback")
}

#[tokio::test]
async fn a_person_allows_us_once_and_the_tokens_are_kept_and_refreshed() {
    let (issuer, shelf) = (Issuer::start().await, Shelf::default());
    let visits = Arc::new(Mutex::new(0));
    let visited = visits.clone();
    let by_person = oauth().store(shelf.clone()).visits(move |page| {
        *visited.lock().unwrap() += 1;
        async move { Ok::<_, String>(allowed(&page)) }
    });
    let server = tools(issuer.server(by_person));
    assert!(told(&server, &[SUM]).await[0].contains(r#""output":2"#));
    // The server does not take the token any more: a refresh needs no person.
    issuer.books().valid.clear();
    assert!(told(&server, &[SUM]).await[0].contains(r#""output":2"#));
    assert_eq!((*visits.lock().unwrap(), issuer.books().registered), (1, 1));
    assert_eq!(issuer.grants(), ["authorization_code", "refresh_token"]);

    // Another process has the same store, and nobody who could be asked.
    issuer.books().valid.clear();
    let alone = issuer.server(oauth().store(shelf.clone()));
    assert_eq!(calls(alone).await, "2");
    assert_eq!(issuer.grants()[2..], ["refresh_token"]);
    assert_eq!(issuer.books().registered, 1);
    let stored = shelf.0.lock().unwrap().values().next().unwrap().clone();
    assert!(
        stored.contains("refresh-3") && stored.contains("client-sesame"),
        "{stored}"
    );
}

#[tokio::test]
async fn calls_that_are_refused_at_once_wait_for_one_visit() {
    let issuer = Issuer::start().await;
    let visits = Arc::new(Mutex::new(0));
    let visited = visits.clone();
    let by_person = oauth().visits(move |page| {
        *visited.lock().unwrap() += 1;
        async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok::<_, String>(allowed(&page))
        }
    });
    let server = tools(issuer.server(by_person));
    let (one, other) = tokio::join!(told(&server, &[SUM]), told(&server, &[SUM]));
    for said in [&one[0], &other[0]] {
        assert!(said.contains(r#""output":2"#), "{said}");
    }
    assert_eq!((*visits.lock().unwrap(), issuer.grants().len()), (1, 1));
}

#[tokio::test]
async fn what_a_server_has_asked_for_is_known_while_it_is_left_in_peace() {
    let issuer = Issuer::start().await;
    let scope = Scope::default();
    let server = tools(issuer.server(oauth()));
    for _ in 0..3 {
        let (model, _) = ScriptedModel::new([Script::text("done")]);
        let refused = agent(&server).run("go").model(model).await.unwrap_err();
        let refused = format!("{refused:#}");
        assert!(refused.contains("wants to know who asks"), "{refused}");
    }
    let resting = server.tools(&scope).await.unwrap_err();
    assert!(resting.to_string().contains("tried again in"), "{resting}");
    // The scope is in the challenge alone, and so is the place of the metadata.
    let page = server.authorization_url(&scope).await.unwrap();
    server.authorize(&scope, &allowed(&page)).await.unwrap();
    assert_eq!(server.tools(&scope).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_application_brings_the_person_to_the_page_and_back() {
    let issuer = Issuer::start().await;
    let (scope, other) = (Scope::default(), Scope::from("elsewhere"));
    let server = tools(issuer.server(oauth().client_name("Desk")));
    let refused = server.tools(&scope).await.unwrap_err();
    assert_eq!(refused.kind(), McpErrorKind::Unauthorized);
    assert!(
        refused.to_string().contains("`Mcp::authorization_url`"),
        "{refused}"
    );

    let page = server.authorization_url(&scope).await.unwrap();
    let forged = "http://127.0.0.1:9/callback?code=code-1&state=mine";
    for back in [forged, "http://127.0.0.1:9/callback?error=access_denied"] {
        server.authorization_url(&scope).await.unwrap();
        let error = server.authorize(&scope, back).await.unwrap_err();
        assert!(
            error.to_string().contains("cannot authorize us: "),
            "{error}"
        );
    }
    // The page that was opened first is not the one that was asked for last.
    server.authorization_url(&scope).await.unwrap();
    assert!(server.authorize(&scope, &allowed(&page)).await.is_err());
    assert_eq!(issuer.grants(), [""; 0]);

    let page = server.authorization_url(&scope).await.unwrap();
    server.authorize(&scope, &allowed(&page)).await.unwrap();
    assert_eq!(server.tools(&scope).await.unwrap().len(), 1);
    let twice = server.authorize(&scope, &allowed(&page)).await.unwrap_err();
    assert!(
        twice.to_string().contains("waits for no authorization"),
        "{twice}"
    );
    // Another scope is another identity.
    assert!(server.tools(&other).await.is_err());
}

#[tokio::test]
async fn tokens_in_memory_outlive_the_connections_of_their_scope() {
    let issuer = Issuer::start().await;
    let scope = Scope::default();
    let describes = issuer.clone();
    // Each description has a way to be authorized of its own.
    let server = Mcp::new(move |_| describes.server(oauth()));
    server.tools(&scope).await.unwrap_err();
    let page = server.authorization_url(&scope).await.unwrap();
    server.authorize(&scope, &allowed(&page)).await.unwrap();
    server.close();
    assert_eq!(server.tools(&scope).await.unwrap().len(), 1);
    assert_eq!(issuer.grants(), ["authorization_code"]);
}

#[tokio::test]
async fn a_server_without_oauth_says_what_it_needs() {
    let issuer = Issuer::start().await;
    let url = format!("{}/mcp", issuer.books().url);
    let bare = tools(mcp::http(&url).named("guarded"));
    let error = bare.tools(&Scope::default()).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unauthorized);
    assert!(
        error.to_string().contains("set a token with `.bearer(..)`"),
        "{error}"
    );
    let error = bare.authorization_url(&Scope::default()).await.unwrap_err();
    assert!(error.to_string().contains("has no `.oauth(..)`"), "{error}");
    issuer.books().valid.push("given".to_owned());
    assert_eq!(
        calls(
            mcp::http(url)
                .named("guarded")
                .trust_hints()
                .bearer("given")
        )
        .await,
        "2"
    );
}
