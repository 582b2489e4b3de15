//! Tokens in the store of the control plane: each is refreshed by one of many, at a token server on this machine.

use super::{activate, ask, prices, processes::TempFile, reply};
use agents_control::{
    Bundle, ControlPlane, ControlStore, Credentials, ModelProfile, PurposeKey::Scoring, SqliteStore,
};
use agents_core::{
    secret::{ExposeSecret, SecretOwner, Secrets},
    testing::{Script, ScriptedModel},
};
use agents_runtime::{FileKeyring, Keyring};
use agents_store::{CredentialKey, CredentialLease, Store};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant, SystemTime},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::sleep,
};

/// Token server. The refresh token `rt-1` gives `at-2` and `rt-2`, and so on; one that was used is refused.
struct Issuer {
    url: String,
    state: Arc<IssuerState>,
}

#[derive(Default)]
struct IssuerState {
    /// Refresh tokens that were sent.
    sent: Mutex<Vec<String>>,
    /// Number of the refresh token that is valid.
    valid: AtomicU64,
    /// Seconds for which an access token is valid.
    lasts: AtomicU64,
    /// Milliseconds until the answer.
    waits: AtomicU64,
    /// Status of all answers; 0 if it works.
    fails: AtomicU16,
}

impl Issuer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/token", listener.local_addr().unwrap());
        let state = Arc::new(IssuerState::default());
        state.valid.store(1, SeqCst);
        state.lasts.store(3_600, SeqCst);
        state.waits.store(100, SeqCst);
        let of_server = state.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(of_server.clone().serve(stream));
            }
        });
        Issuer { url, state }
    }

    fn sent(&self) -> Vec<String> {
        self.state.sent.lock().unwrap().clone()
    }

    /// Returns the first bundle, whose access token is valid for so long.
    fn bundle(&self, lasts: Duration) -> Bundle {
        Bundle::new("at-1", &*self.url)
            .refresh_token("rt-1")
            .client("app", None)
            .expires_in(lasts)
    }
}

impl IssuerState {
    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let mut request = Vec::new();
        let body = loop {
            let mut part = [0; 4_096];
            match stream.read(&mut part).await {
                Ok(0) | Err(_) => return,
                Ok(count) => request.extend(&part[..count]),
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.unwrap().parse().unwrap() {
                break body.to_owned();
            }
        };
        let mut fields = body.split('&');
        let token = fields.find_map(|field| field.strip_prefix("refresh_token="));
        let token = token.unwrap().replace("%2D", "-");
        self.sent.lock().unwrap().push(token.clone());
        sleep(Duration::from_millis(self.waits.load(SeqCst))).await;
        let valid = self.valid.load(SeqCst);
        let (status, body) = match self.fails.load(SeqCst) {
            0 if token == format!("rt-{valid}") => {
                let next = valid + 1;
                self.valid.store(next, SeqCst);
                let lasts = self.lasts.load(SeqCst);
                let body = format!(
                    r#"{{"access_token":"at-{next}","refresh_token":"rt-{next}","expires_in":{lasts}}}"#
                );
                (200, body)
            }
            0 => (400, r#"{"error":"invalid_grant"}"#.to_owned()),
            status => (status, r#"{"error":"down"}"#.to_owned()),
        };
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

fn acme() -> SecretOwner {
    SecretOwner::Org {
        org_id: "acme".to_owned(),
    }
}

fn shop() -> SecretOwner {
    SecretOwner::Workspace {
        org_id: "acme".to_owned(),
        domain_id: "shop".to_owned(),
    }
}

/// Row of the credential `oauth` of acme.
fn row() -> CredentialKey {
    CredentialKey {
        org_id: "acme".to_owned(),
        domain_id: String::new(),
        name: "oauth".to_owned(),
    }
}

fn keys(file: &TempFile) -> FileKeyring {
    FileKeyring::open(format!("{}.keys", file.0.display())).unwrap()
}

async fn found(credentials: &Credentials, owner: &SecretOwner) -> Result<String, String> {
    match credentials.find(owner, "oauth").await {
        Ok(Some(value)) => Ok(value.text().expose_secret().to_owned()),
        Ok(None) => Ok("none".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Creates the control plane of one process, and the keys with which its models are asked.
fn plane<S: ControlStore + Clone>(
    store: &S,
    keys: FileKeyring,
) -> (ControlPlane, Arc<Mutex<Vec<String>>>) {
    let used = Arc::new(Mutex::new(Vec::new()));
    let note = used.clone();
    let control = ControlPlane::open(store)
        .provider("p", move |target| {
            let key = target.key.map_or("none", |key| key.expose_secret());
            let (key, note) = (key.to_owned(), note.clone());
            let answer = Script::with(move |_| {
                note.lock().unwrap().push(key.clone());
                reply(1, 1)
            });
            ScriptedModel::always(answer).0
        })
        .prices(prices())
        .secrets(Credentials::open(store, keys));
    (control, used)
}

/// Checks that 8 tasks in two control planes refresh a token once.
async fn refreshed_once<S: ControlStore + Clone>(stores: [&S; 2], file: &TempFile) {
    let issuer = Issuer::start().await;
    let credentials = Credentials::open(stores[0], keys(file));
    let expired = issuer.bundle(Duration::ZERO);
    credentials.put(&acme(), "oauth", expired).await.unwrap();
    let planes = stores.map(|store| plane(store, keys(file)));
    let profile = ModelProfile::org("acme", Scoring)
        .model("p", "m")
        .credential("oauth");
    activate(&planes[0].0, super::scoring()).await;
    activate(&planes[0].0, profile).await;
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let model = planes[task % 2].0.model(Scoring, "acme");
        tasks.spawn(async move { ask(&model).await.unwrap() });
    }
    tasks.join_all().await;
    assert_eq!(issuer.sent(), ["rt-1"]);
    for (_, used) in &planes {
        assert_eq!(*used.lock().unwrap(), ["at-2"; 4]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l24_of_two_planes_on_sqlite_one_refreshes_a_token() {
    let file = TempFile::new("tokens");
    let stores = [
        SqliteStore::open(&file.0).await.unwrap(),
        SqliteStore::open(&file.0).await.unwrap(),
    ];
    refreshed_once([&stores[0], &stores[1]], &file).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn l24_of_two_planes_on_postgresql_one_refreshes_a_token() {
    let Some(server) = agents_needs::postgres::Server::shared() else {
        return;
    };
    let file = TempFile::new("tokens-postgres");
    let database = server.database().await;
    let connect = || agents_control::PostgresStore::connect(database.address());
    let stores = [connect().await.unwrap(), connect().await.unwrap()];
    refreshed_once([&stores[0], &stores[1]], &file).await;
}

/// Creates the credentials of two processes on one file, with a bundle.
async fn pair(file: &TempFile, bundle: Bundle) -> (SqliteStore, [Credentials; 2]) {
    let stores = [
        SqliteStore::open(&file.0).await.unwrap(),
        SqliteStore::open(&file.0).await.unwrap(),
    ];
    let pair = [0, 1].map(|at: usize| Credentials::open(&stores[at], keys(file)));
    pair[0].put(&acme(), "oauth", bundle).await.unwrap();
    let [store, _] = stores;
    (store, pair)
}

#[tokio::test(flavor = "multi_thread")]
async fn l24_a_refresh_token_that_was_replaced_is_never_sent_again() {
    let (file, issuer) = (TempFile::new("rotated"), Issuer::start().await);
    // Each access token has expired when it is given, so that each request refreshes.
    issuer.state.lasts.store(0, SeqCst);
    issuer.state.waits.store(5, SeqCst);
    let (_, pair) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let credentials = pair[task % 2].clone();
        tasks.spawn(async move {
            for _ in 0..3 {
                found(&credentials, &acme()).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let expect: Vec<_> = (1..=24).map(|number| format!("rt-{number}")).collect();
    assert_eq!(issuer.sent(), expect);
}

#[tokio::test]
async fn a_token_server_that_fails_leaves_the_bundle_and_is_not_asked_by_all() {
    let (file, issuer) = (TempFile::new("failing"), Issuer::start().await);
    issuer.state.fails.store(503, SeqCst);
    let (_, [one, other]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    for _ in 0..3 {
        let error = found(&one, &acme()).await.unwrap_err();
        assert!(
            error.contains("`oauth`") && error.contains("503"),
            "{error}"
        );
        assert!(!error.contains("rt-1"), "{error}");
    }
    assert_eq!(issuer.sent(), ["rt-1"], "it is asked once in five seconds");
    // Another process finds the bundle as it was, and nobody in its way.
    issuer.state.fails.store(0, SeqCst);
    assert_eq!(found(&other, &acme()).await.unwrap(), "at-2");
    assert_eq!(issuer.sent(), ["rt-1", "rt-1"]);
    // The first one finds the new token, in spite of its failure.
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-2");
}

#[tokio::test]
async fn a_refused_refresh_token_is_an_error_and_a_new_bundle_ends_it() {
    let (file, issuer) = (TempFile::new("refused"), Issuer::start().await);
    issuer.state.valid.store(7, SeqCst);
    let (_, [one, _]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let error = found(&one, &acme()).await.unwrap_err();
    assert!(error.contains("invalid_grant"), "{error}");
    let bundle = issuer.bundle(Duration::ZERO).refresh_token("rt-7");
    one.put(&acme(), "oauth", bundle).await.unwrap();
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-8");
}

#[tokio::test]
async fn requests_go_on_with_a_token_that_is_valid_while_another_process_refreshes_it() {
    let (file, issuer) = (TempFile::new("valid"), Issuer::start().await);
    let (store, [one, _]) = pair(&file, issuer.bundle(Duration::from_secs(30))).await;
    let version = store.credential(&row()).await.unwrap().unwrap().version;
    let lease = |time| CredentialLease {
        version: version.clone(),
        holder: "another process".to_owned(),
        time,
    };
    let long = lease(Duration::from_secs(60));
    store.lease_credential(&row(), &long).await.unwrap();
    let begun = Instant::now();
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-1");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(issuer.sent(), [""; 0]);
    // A server that fails is no reason to stop either.
    store
        .release_credential(&row(), "another process")
        .await
        .unwrap();
    issuer.state.fails.store(500, SeqCst);
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-1");
    assert_eq!(issuer.sent(), ["rt-1"]);
}

#[tokio::test]
async fn a_process_that_dies_with_the_lease_holds_others_up_until_it_ends() {
    let (file, issuer) = (TempFile::new("dead"), Issuer::start().await);
    let (store, [one, _]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let version = store.credential(&row()).await.unwrap().unwrap().version;
    let time = Duration::from_millis(700);
    let dead = CredentialLease {
        version,
        holder: "dead".to_owned(),
        time,
    };
    store.lease_credential(&row(), &dead).await.unwrap();
    let begun = Instant::now();
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-2");
    assert!(begun.elapsed() >= time, "{:?}", begun.elapsed());
    assert_eq!(issuer.sent(), ["rt-1"]);
}

#[tokio::test]
async fn a_refresh_ends_even_if_nobody_waits_for_it() {
    let (file, issuer) = (TempFile::new("cut"), Issuer::start().await);
    let (_, [one, other]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let waited = tokio::time::timeout(Duration::from_millis(50), found(&one, &acme())).await;
    assert!(waited.is_err());
    assert_eq!(found(&other, &acme()).await.unwrap(), "at-2");
    assert_eq!(issuer.sent(), ["rt-1"]);
}

#[tokio::test]
async fn what_an_operator_stores_during_a_refresh_wins() {
    let (file, issuer) = (TempFile::new("replaced"), Issuer::start().await);
    issuer.state.waits.store(300, SeqCst);
    let (_, [one, other]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let asked = tokio::spawn(async move { found(&one, &acme()).await });
    while issuer.sent().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    other.put(&acme(), "oauth", "a key").await.unwrap();
    assert_eq!(asked.await.unwrap().unwrap(), "a key");
    assert_eq!(found(&other, &acme()).await.unwrap(), "a key");
}

#[tokio::test]
async fn a_new_token_that_cannot_be_stored_is_kept_and_stored_later() {
    let (file, issuer) = (TempFile::new("unsaved"), Issuer::start().await);
    let (_, [one, other]) = pair(&file, issuer.bundle(Duration::ZERO)).await;
    let database = rusqlite::Connection::open(&file.0).unwrap();
    let broken = "CREATE TRIGGER broken BEFORE UPDATE OF contents ON llm_credentials
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    database.execute_batch(broken).unwrap();
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-2");
    database.execute_batch("DROP TRIGGER broken").unwrap();
    // It is not refreshed again, and the other process finds it from now on.
    assert_eq!(found(&one, &acme()).await.unwrap(), "at-2");
    assert_eq!(found(&other, &acme()).await.unwrap(), "at-2");
    assert_eq!(issuer.sent(), ["rt-1"]);
}

#[tokio::test]
async fn credentials_are_encrypted_and_go_with_their_tenant() {
    let file = TempFile::new("encrypted");
    let bundle =
        Bundle::new("access-token-1", "http://127.0.0.1:1/token").refresh_token("refresh-token-1");
    let (store, [one, other]) = pair(&file, bundle).await;
    one.put(&shop(), "oauth", "the key of the shop")
        .await
        .unwrap();
    assert_eq!(found(&other, &acme()).await.unwrap(), "access-token-1");
    assert_eq!(found(&other, &shop()).await.unwrap(), "the key of the shop");
    // A user has none, and those of another tenant are not found.
    let user = SecretOwner::User {
        org_id: "acme".to_owned(),
        user_id: "ada".to_owned(),
    };
    let globex = SecretOwner::Org {
        org_id: "globex".to_owned(),
    };
    for owner in [&user, &globex] {
        assert_eq!(found(&one, owner).await.unwrap(), "none");
    }
    let error = one.put(&user, "oauth", "a key").await.unwrap_err();
    assert!(error.to_string().contains("one of a user"), "{error}");
    for end in ["", "-wal"] {
        let bytes = std::fs::read(format!("{}{end}", file.0.display())).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for secret in ["access-token-1", "refresh-token-1", "the key of the shop"] {
            assert!(!text.contains(secret), "{end} has {secret}");
        }
    }
    // A row is read only as the credential that it is.
    let moved = store.credential(&row()).await.unwrap().unwrap();
    let at_globex = CredentialKey {
        org_id: "globex".to_owned(),
        ..row()
    };
    store.put_credential(&at_globex, &moved).await.unwrap();
    let error = found(&one, &globex).await.unwrap_err();
    assert!(error.contains("cannot be decrypted"), "{error}");
    assert!(one.remove(&shop(), "oauth").await.unwrap());
    assert_eq!(found(&other, &shop()).await.unwrap(), "none");
    store
        .audit_with(&agents_store::AuditKey::new([0; 32]))
        .await
        .unwrap();
    store.erase_tenant("acme", "ada").await.unwrap();
    assert_eq!(found(&one, &acme()).await.unwrap(), "none");
}

/// A file that is not read is one whose contents may be anything.
#[tokio::test]
async fn l24_requests_do_not_read_the_keyring_and_go_by_what_has_changed_in_it() {
    let file = TempFile::new("keyring");
    let path = format!("{}.keys", file.0.display());
    let store = SqliteStore::open(&file.0).await.unwrap();
    let credentials = Credentials::open(&store, keys(&file));
    credentials.put(&acme(), "oauth", "first").await.unwrap();
    let write = |contents: &[u8]| {
        std::fs::write(&path, contents).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    };
    let whole = std::fs::read(&path).unwrap();
    write(&whole);
    assert_eq!(found(&credentials, &acme()).await.unwrap(), "first");
    write(&vec![b' '; whole.len()]);
    for _ in 0..20 {
        assert_eq!(found(&credentials, &acme()).await.unwrap(), "first");
    }
    // Another process gives the tenant a new key, and stores a credential with it.
    write(&whole);
    let other = keys(&file);
    other.rotate("acme").unwrap();
    assert_eq!(found(&credentials, &acme()).await.unwrap(), "first");
    let of_other = Credentials::open(&store, other);
    of_other.put(&acme(), "oauth", "second").await.unwrap();
    assert_eq!(found(&credentials, &acme()).await.unwrap(), "second");
    keys(&file).erase("acme").unwrap();
    let error = found(&credentials, &acme()).await.unwrap_err();
    assert!(error.contains("erased"), "{error}");
}
