//! Chats with an agent in the browser: the plain page, an application made with Vercel's client package, and a run of
//! AG-UI's client.
//!
//! `npm ci --prefix crates/server/browser/vercel` fetches the client packages. Where they are missing, one line says so.

use crate::{
    driver::Browser,
    room::{booker, folder, until},
};
use agents_needs::Need;
use agents_runtime::{Approval, Client, Principal, Runtime, SqliteStore};
use agents_server::ControlRoom;
use axum::{
    Router,
    http::{header, request::Parts},
    response::Html,
    routing::get,
};
use serde_json::Value;
use std::{fs, path::Path, process::Command, sync::OnceLock};
use tokio_util::sync::CancellationToken;

/// Application and its package.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vercel");

/// Cookie by which Ada is known.
const COOKIE: [(header::HeaderName, &str); 1] = [(header::SET_COOKIE, "user=ada; Path=/")];

const ICON: &str = "<!doctype html><title>Ada</title><link rel=icon href='data:,'>";

const PAGE: &str = "<!doctype html><title>Chat</title><link rel=icon href='data:,'><div id=root></div>\
    <script type=module src=/app/chat.js></script><script type=module src=/app/ag-ui.js></script>";

/// Server with the agent `booker`, a control room in which a cookie says who somebody is, and an application.
struct App {
    tokio: tokio::runtime::Runtime,
    client: Client,
    origin: String,
}

fn signed_in(request: &Parts) -> Option<Principal> {
    let cookie = request.headers.get(header::COOKIE)?.to_str().ok()?;
    Some(Principal::new(cookie.strip_prefix("user=")?, "acme"))
}

/// Returns the scripts of the application; `None` if its packages are not on this machine, which is said.
fn scripts() -> Option<[String; 2]> {
    static BUILT: OnceLock<Option<[String; 2]>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Option<[String; 2]> {
    let esbuild = Path::new(PACKAGE).join("node_modules/.bin/esbuild");
    if !esbuild.exists() {
        Need::ChatClients.missing("there are no client packages");
        return None;
    }
    let folder = folder("vercel");
    let built = Command::new(esbuild)
        .args([
            "--minify",
            "chat.jsx",
            "ag-ui.js",
            "--bundle",
            "--format=esm",
            "--jsx=automatic",
            "--log-level=error",
        ])
        .arg(format!("--outdir={}", folder.display()))
        .current_dir(PACKAGE)
        .status();
    assert!(built.unwrap().success());
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let scripts = ["chat.js", "ag-ui.js"].map(read);
    let _ = fs::remove_dir_all(&folder);
    Some(scripts)
}

impl App {
    fn open(scripts: [String; 2]) -> App {
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let (client, origin) = tokio.block_on(async {
            let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap());
            runtime.agent(booker());
            let client = runtime.as_client().clone();
            let room = ControlRoom::of(&client).agent("booker");
            let script = |text: String| {
                get(async move || ([(header::CONTENT_TYPE, "text/javascript")], text))
            };
            let [chat, ag_ui] = scripts;
            let app = Router::new()
                .route("/app/ada", get(async || (COOKIE, Html(ICON))))
                .route("/app", get(async || Html(PAGE)))
                .route("/app/chat.js", script(chat))
                .route("/app/ag-ui.js", script(ag_ui))
                .merge(agents_server::router(room, signed_in));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let origin = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(async move { axum::serve(listener, app).await });
            tokio::spawn(runtime.work(CancellationToken::new()));
            (client, origin)
        });
        App {
            tokio,
            client,
            origin,
        }
    }

    /// Signs Ada in, and opens a page.
    fn show(&self, browser: &Browser, path: &str) {
        browser.open(&format!("{}/app/ada", self.origin));
        browser.open(&format!("{}{path}", self.origin));
    }

    /// Approves the call that waits, as somebody else than Ada.
    fn approve(&self) {
        let grace = Principal::new("grace", "acme");
        let approvals = self.client.approvals();
        let pending = until("the request", || {
            let pending = self.tokio.block_on(approvals.pending(&grace)).unwrap();
            pending.into_iter().find(|one| one.tool_name == "book")
        });
        let decided = approvals.decide(&pending.id, Approval::Approve, &grace);
        self.tokio.block_on(decided).unwrap();
    }
}

/// Waits until the first element that a selector finds has this text.
fn reads(browser: &Browser, selector: &str, text: &str) {
    until(selector, || {
        let found = browser.text(selector)?;
        found.contains(text).then_some(())
    });
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn an_application_made_with_vercels_package_chats_and_somebody_else_approves() {
    let Some(scripts) = scripts() else { return };
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let app = App::open(scripts);
    app.show(&browser, "/app?chat=c1");
    until("the form", || {
        (browser.count(".say input") == 1).then_some(())
    });
    browser.fill(".say input", "A flight.");
    browser.click(".say button");
    reads(&browser, ".question", "Window or aisle?");
    assert_eq!(browser.count("[data-tool=ask_user]"), 1);
    browser.fill(".question input", "12A");
    browser.click(".question button");
    reads(&browser, ".approval", "book: pending");
    // Ada is told that she may not approve it herself.
    reads(&browser, ".approval", "ada");
    // The arguments of the model were a text; they are shown as they ran.
    reads(&browser, "[data-tool=price]", "{\"row\":12} 120");
    assert_eq!(
        browser.count("[data-tool=book][data-state=approval-requested]"),
        1
    );
    assert_eq!(browser.count("main[data-status=streaming]"), 1);

    // The page is loaded again, and the answer under way goes on.
    app.show(&browser, "/app?chat=c1");
    reads(&browser, ".approval", "book: pending");
    app.approve();
    reads(&browser, ".assistant .text", "Booked: 12A.");
    until("the end", || {
        (browser.count("main[data-status=ready]") == 1).then_some(())
    });
    assert_eq!(browser.count(".assistant"), 1);
    assert_eq!(browser.count(".approval[data-status=pending]"), 0);
    assert_eq!(browser.count(".error"), 0);

    browser.fill(".say input", "Hello.");
    browser.click(".say button");
    reads(&browser, ".assistant:last-of-type .text", "You say: Hello.");
    assert_eq!(browser.complaints(), "[]");
}

#[test]
fn the_client_of_ag_ui_reads_a_run_to_its_end() {
    let Some(scripts) = scripts() else { return };
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let app = App::open(scripts);
    app.show(&browser, "/app?chat=c1");
    until("the client", || {
        (browser.run("return typeof window.runAgent") == "function").then_some(())
    });
    let run = "
        const answer = ({name, value}) => name === 'agents.question' && value.status === 'pending' && fetch(value.url, {
            method: 'POST',
            headers: {'content-type': 'application/json'},
            body: JSON.stringify({decision: 'answer', answer: '1C'}),
        });
        runAgent('t1', 'A flight.', answer).then((seen) => { window.seen = seen; }, (error) => { window.seen = String(error); });
        return 0";
    browser.run(run);
    app.approve();
    let seen = until("the end of the run", || {
        let seen = browser.run("return window.seen ?? null");
        (!seen.is_null()).then_some(seen)
    });
    let last = seen["messages"].as_array().and_then(|all| all.last());
    assert_eq!(
        last.unwrap_or(&Value::Null)["content"],
        "Booked: 1C.",
        "{seen}"
    );
    assert_eq!(seen["tokens"], 60);
    let custom = seen["custom"].as_array().unwrap();
    let states: Vec<_> = custom
        .iter()
        .filter(|one| one[0] == "agents.approval")
        .map(|one| one[1]["status"] == "pending")
        .collect();
    // Whoever is quick has decided before the request is told.
    assert!(matches!(states[..], [_, false]), "{seen}");
    let failed = "runAgent('t2', 'Fail.').then((seen) => done(seen.error))";
    let failed = browser.run_until_done(failed);
    assert!(
        failed
            .as_str()
            .is_some_and(|error| error.contains("sk-secret")),
        "{failed}"
    );
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn the_plain_chat_streams_and_asks_with_javascript_and_without() {
    for with_scripts in [true, false] {
        let Some(browser) = Browser::start(380, 800, with_scripts) else {
            return;
        };
        let app = App::open([String::new(), String::new()]);
        app.show(&browser, "/chat/booker");
        browser.fill("#say", "Hello.");
        browser.click(".say button");
        reads(&browser, ".talk .assistant", "You say: Hello.");
        browser.fill("#say", "A flight.");
        browser.click(".say button");
        reads(&browser, ".card .question", "Window or aisle?");
        browser.fill(".card input[name='argument.answer']", "1A");
        browser.click(".card button[value=answer]");
        let again = || {
            if !with_scripts {
                let path = browser.path();
                app.show(&browser, &path);
            }
        };
        until("the request", || {
            again();
            (browser.count(".card[data-tool=book]") == 1).then_some(())
        });
        assert_eq!(browser.count(".card button"), 0, "Ada may not approve it");
        app.approve();
        until("the answer", || {
            again();
            browser.source().contains("Booked: 1A.").then_some(())
        });
        if with_scripts {
            let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
            assert_eq!(browser.run(fits), true);
            assert_eq!(browser.complaints(), "[]");
        }
    }
}
