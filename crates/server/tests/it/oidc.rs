//! The example `oidc`, with an issuer on this machine: who is signed in, and which tokens are not trusted.

use crate::{
    built,
    program::{Answer, send},
    room::folder,
};
use axum::{
    Form, Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use openidconnect::{
    AdditionalClaims, Audience, EndUserEmail, IdToken, IdTokenClaims, IssuerUrl, JsonWebKeyId,
    Nonce, PkceCodeChallenge, PkceCodeVerifier, PrivateSigningKey, StandardClaims,
    SubjectIdentifier,
    core::{
        CoreGenderClaim, CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm, CoreRsaPrivateSigningKey,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, SystemTime},
};

/// Key of the issuer, which signs nothing but the tokens of this test.
const KEY: &str = include_str!("issuer.pem");
const SECRET: &str = "the secret of the client";

#[derive(Debug, Deserialize, Serialize)]
struct Claims {
    tenant: String,
    roles: Vec<String>,
}

impl AdditionalClaims for Claims {}

type Token =
    IdToken<Claims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

/// Fault of the next token.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Signature,
    Nonce,
    Audience,
    Issuer,
    Expired,
    NoToken,
}

/// Issuer on this machine, whose user Ada is signed in.
#[derive(Clone)]
struct Issuer {
    url: String,
    fault: Arc<Mutex<Fault>>,
    codes: Arc<Mutex<HashMap<String, Value>>>,
}

fn key() -> CoreRsaPrivateSigningKey {
    let id = JsonWebKeyId::new("key".into());
    CoreRsaPrivateSigningKey::from_pem(KEY, Some(id)).unwrap()
}

async fn discovery(State(issuer): State<Issuer>) -> Json<Value> {
    let url = &issuer.url;
    Json(json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }))
}

async fn keys() -> Json<CoreJsonWebKeySet> {
    Json(CoreJsonWebKeySet::new(vec![key().as_verification_key()]))
}

async fn authorize(State(issuer): State<Issuer>, Query(asked): Query<Value>) -> Response {
    let code = format!("code-{}", issuer.codes.lock().unwrap().len());
    let (callback, state) = (asked["redirect_uri"].as_str(), asked["state"].as_str());
    let address = format!("{}?code={code}&state={}", callback.unwrap(), state.unwrap());
    issuer.codes.lock().unwrap().insert(code, asked);
    Redirect::to(&address).into_response()
}

async fn token(
    State(issuer): State<Issuer>,
    headers: HeaderMap,
    Form(given): Form<HashMap<String, String>>,
) -> Response {
    let refused = || {
        (
            StatusCode::BAD_REQUEST,
            Json(json!({"error": "invalid_grant"})),
        )
    };
    let Some(asked) = issuer.codes.lock().unwrap().remove(&given["code"]) else {
        return refused().into_response();
    };
    let verifier = PkceCodeVerifier::new(given["code_verifier"].clone());
    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
    let is_known = headers[header::AUTHORIZATION]
        .to_str()
        .unwrap()
        .starts_with("Basic ");
    if asked["code_challenge"] != challenge.as_str() || !is_known {
        return refused().into_response();
    }
    let fault = *issuer.fault.lock().unwrap();
    let is = |one: Fault| fault == one;
    let now = SystemTime::now();
    let expires = match is(Fault::Expired) {
        true => now - Duration::from_secs(60),
        false => now + Duration::from_secs(600),
    };
    let audience = if is(Fault::Audience) {
        "somebody-else"
    } else {
        "room"
    };
    let url = if is(Fault::Issuer) {
        "http://127.0.0.1:1"
    } else {
        &*issuer.url
    };
    let nonce = if is(Fault::Nonce) {
        "other"
    } else {
        asked["nonce"].as_str().unwrap()
    };
    let claims = Claims {
        tenant: "acme".into(),
        roles: vec!["treasurer".into()],
    };
    let person = StandardClaims::new(SubjectIdentifier::new("ada".into()));
    let person = person.set_email(Some(EndUserEmail::new("ada@acme.example".into())));
    let claims = IdTokenClaims::new(
        IssuerUrl::new(url.into()).unwrap(),
        vec![Audience::new(audience.into())],
        expires.into(),
        now.into(),
        person,
        claims,
    );
    let claims = claims.set_nonce(Some(Nonce::new(nonce.into())));
    let alg = CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256;
    let token = Token::new(claims, &key(), alg, None, None)
        .unwrap()
        .to_string();
    let token = match is(Fault::Signature) {
        true => {
            let (rest, signature) = token.rsplit_once('.').unwrap();
            format!("{rest}.{}", signature.chars().rev().collect::<String>())
        }
        false => token,
    };
    let mut answer = json!({"access_token": "x", "token_type": "Bearer", "id_token": token});
    if is(Fault::NoToken) {
        answer.as_object_mut().unwrap().remove("id_token");
    }
    Json(answer).into_response()
}

impl Issuer {
    /// Starts the issuer on a thread of its own.
    fn start() -> Issuer {
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let issuer = Issuer {
                    url: format!("http://{}", listener.local_addr().unwrap()),
                    fault: Arc::new(Mutex::new(Fault::None)),
                    codes: Arc::default(),
                };
                tell.send(issuer.clone()).unwrap();
                let app = Router::new()
                    .route("/.well-known/openid-configuration", get(discovery))
                    .route("/keys", get(keys))
                    .route("/authorize", get(authorize))
                    .route("/token", axum::routing::post(token))
                    .with_state(issuer);
                axum::serve(listener, app).await.unwrap();
            });
        });
        told.recv().unwrap()
    }
}

/// The example in a process of its own, which is killed when this value goes.
struct Program {
    child: Child,
    address: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the name of the folder of a program with this issuer. Tests run side by side.
fn own_folder(issuer: &Issuer) -> String {
    let port = issuer.url.rsplit(':').next().unwrap_or_default();
    format!("oidc-{}", port.trim_end_matches('/'))
}

impl Program {
    fn start(issuer: &Issuer) -> Program {
        let folder = folder(&own_folder(issuer));
        let name = format!("oidc{}", std::env::consts::EXE_SUFFIX);
        let mut child = Command::new(built::EXAMPLES.join(name))
            .args([
                "--listen",
                "127.0.0.1:0",
                "--client",
                "room",
                "--issuer",
                &issuer.url,
            ])
            .arg("--store")
            .arg(format!("sqlite:{}", folder.join("room.db").display()))
            .env("OIDC_SECRET", SECRET)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on http://").unwrap();
        let address = address.trim().strip_suffix("/agents/").unwrap().to_owned();
        Program { child, address }
    }
}

/// Browser that keeps its cookies and follows nothing by itself.
#[derive(Default)]
struct Visitor {
    cookies: HashMap<String, String>,
}

impl Visitor {
    fn get(&mut self, url: &str) -> Answer {
        let (address, path) = url
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let pairs = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let cookies = pairs.collect::<Vec<_>>().join("; ");
        let head = format!("GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        let answer = send(address, &format!("{head}cookie: {cookies}\r\n\r\n"));
        for line in answer.1.lines() {
            if let Some(cookie) = line.strip_prefix("set-cookie: ") {
                let (name, rest) = cookie.split_once('=').unwrap();
                let value = rest.split(';').next().unwrap();
                self.cookies.insert(name.to_owned(), value.to_owned());
                assert!(
                    cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
                    "{cookie}"
                );
            }
        }
        answer
    }

    /// Begins to sign in, and returns the address of the callback with which the issuer sends the browser back.
    fn begin(&mut self, room: &Program) -> String {
        let page = format!("http://{}/agents/approvals", room.address);
        let Answer(status, head, _) = self.get(&page);
        assert_eq!((status, location(&head)), (303, "/login"));
        let Answer(_, head, _) = self.get(&format!("http://{}/login", room.address));
        let asked = location(&head).to_owned();
        assert!(asked.contains("code_challenge_method=S256") && asked.contains("nonce="));
        let Answer(_, head, _) = self.get(&asked);
        location(&head).to_owned()
    }
}

fn location(head: &str) -> &str {
    let found = head
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    found.unwrap_or_else(|| panic!("{head}"))
}

#[test]
fn somebody_signs_in_with_a_provider_and_is_a_principal_with_tenant_and_roles() {
    let issuer = Issuer::start();
    let room = Program::start(&issuer);
    let mut ada = Visitor::default();
    let callback = ada.begin(&room);
    let Answer(status, head, body) = ada.get(&callback);
    assert_eq!((status, location(&head)), (303, "/agents/"), "{body}");
    let Answer(status, _, page) = ada.get(&format!("http://{}/agents/approvals", room.address));
    assert_eq!(status, 200);
    assert!(page.contains("Signed in as <b>ada</b>"), "{page}");
    // A tenant's principal verifies no trail: she is no operator.
    let Answer(_, _, page) = ada.get(&format!("http://{}/agents/audit", room.address));
    assert!(!page.contains("Verify the whole trail"), "{page}");
    // The code counts once, and a stranger has no session.
    assert_eq!(ada.get(&callback).0, 403);
    let mut eve = Visitor::default();
    eve.cookies.insert("session".into(), "guessed".into());
    assert_eq!(
        eve.get(&format!("http://{}/agents/approvals", room.address))
            .0,
        303
    );
    assert_eq!(
        eve.get(&format!("http://{}/agents/api/runs", room.address))
            .0,
        401
    );
}

#[test]
fn answers_that_cannot_be_trusted_sign_nobody_in() {
    let issuer = Issuer::start();
    let room = Program::start(&issuer);
    for fault in [
        Fault::Signature,
        Fault::Nonce,
        Fault::Audience,
        Fault::Issuer,
        Fault::Expired,
        Fault::NoToken,
    ] {
        *issuer.fault.lock().unwrap() = fault;
        let mut ada = Visitor::default();
        let callback = ada.begin(&room);
        let Answer(status, _, body) = ada.get(&callback);
        assert_eq!(status, 403, "{fault:?}: {body}");
        assert!(!ada.cookies.contains_key("session"), "{fault:?}");
    }
    *issuer.fault.lock().unwrap() = Fault::None;
    // A link that somebody else has begun signs nobody in.
    let mut eve = Visitor::default();
    let of_eve = eve.begin(&room);
    let mut ada = Visitor::default();
    ada.begin(&room);
    assert_eq!(ada.get(&of_eve).0, 403);
    assert_eq!(eve.get(&of_eve).0, 403, "it was used");
    let _ = fs::remove_dir_all(folder(&own_folder(&issuer)));
}
