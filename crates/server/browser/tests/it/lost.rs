//! A page whose server or session is gone: it says so, keeps what is typed, and goes on when it can.

use crate::{
    ENTER,
    driver::Browser,
    reads,
    room::{Program, folder, ledger, payer, until},
};
use agents_runtime::{Principal, Runtime, SqliteStore};
use axum::{Router, extract::Request, http::request::Parts, routing::any};
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
use tokio_util::sync::CancellationToken;

const NOTE: &str = "return document.querySelector('.card input[name=note]')?.value ?? null";
const PRESSABLE: &str = "main form[method=post] button:enabled";

fn open(browser: &Browser, room: &Program) {
    until("the requests", || {
        browser.open(&room.url);
        (browser.count(".card") == 3).then_some(())
    });
}

/// Waits until the banner has this text.
fn says(browser: &Browser, text: &str) {
    until(text, || {
        let told = browser.text("#connection")?;
        told.contains(text).then_some(())
    });
}

fn is_well(browser: &Browser) {
    until("no banner", || {
        (browser.count("#connection[hidden]") == 1 && browser.count(PRESSABLE) > 0).then_some(())
    });
}

#[test]
fn a_page_that_has_lost_its_server_says_so_and_goes_on_after_a_restart() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let folder = folder("lost");
    let room = Program::start(&folder);
    let (_, port) = room.url.split_once("127.0.0.1:").unwrap();
    let port = port.split('/').next().unwrap().to_owned();
    open(&browser, &room);
    browser.fill(".card input[name=note]", "not yet");
    drop(room);
    says(&browser, "has not answered since");
    assert_eq!(browser.count(PRESSABLE), 0);
    assert_eq!(browser.run(NOTE), "not yet");
    // Pages that are not live say so as well, and nothing that is pressed is lost.
    let room = Program::start_at(&folder, &port);
    is_well(&browser);
    assert_eq!(browser.run(NOTE), "not yet");
    // The page was made by a server that is gone: its form still works, in the same session.
    browser.click(".card button.deny");
    reads(&browser, "One request was denied.");
    browser.click("nav a[href='/tools']");
    browser.click(".card[data-tool=pay] h2 a");
    browser.fill("[name='argument.to']", "Cantor");
    drop(room);
    // Nobody has noticed so far: the form is not sent into nothing.
    browser.run("document.querySelector('form.try button.approve').click(); return 0");
    says(&browser, "has not answered since");
    let to = "return document.querySelector(\"[name='argument.to']\").value";
    assert_eq!(browser.run(to), "Cantor");
    let _room = Program::start_at(&folder, &port);
    is_well(&browser);
    // A page that is loaded again has what was typed.
    browser.run("location.reload(); return 0");
    until("what was typed", || {
        (browser.run(to) == "Cantor").then_some(())
    });
    browser.fill("[name='argument.amount']", "3");
    browser.click("form.try button.approve");
    reads(&browser, "<dt>Id</dt>");
    // It was sent, so it is not there any more.
    browser.open(&format!("http://127.0.0.1:{port}/tools/office/pay/1.0.0"));
    assert_eq!(browser.run(to), "");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
fn a_page_whose_session_is_over_says_so_and_what_was_typed_is_there_after_the_next_sign_in() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let folder = folder("session");
    let room = Program::start(&folder);
    open(&browser, &room);
    browser.fill(".card input[name=note]", "wrong supplier");
    browser.forget();
    // At once, before the page has looked.
    browser.click(".card button.deny");
    says(&browser, "You are signed out.");
    assert_eq!(browser.count(PRESSABLE), 0);
    assert_eq!(browser.run(NOTE), "wrong supplier");
    browser.click("#connection a");
    reads(&browser, "nobody is signed in");
    browser.click("main a");
    reads(&browser, "nobody is signed in");
    browser.open(&room.url);
    until("what was typed", || {
        (browser.run(NOTE) == "wrong supplier").then_some(())
    });
    browser.run("document.querySelector('.card button.deny').focus(); return 0");
    browser.press(ENTER);
    reads(&browser, "One request was denied.");
    assert!(ledger(&folder, 0).is_empty());
    assert_eq!(browser.run(NOTE), "");
    // A page that waits says so by itself, and goes on when somebody has signed in elsewhere.
    browser.forget();
    says(&browser, "You are signed out.");
    let _ = fs::remove_dir_all(&folder);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn back_after_a_decision_shows_what_is_left() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let folder = folder("back");
    let room = Program::start(&folder);
    open(&browser, &room);
    browser.fill(".card input[name=note]", "twice");
    browser.click(".card button.deny");
    reads(&browser, "One request was denied.");
    browser.back();
    until("the other requests", || {
        (browser.path() == "/approvals" && browser.count(".card") == 2).then_some(())
    });
    assert_eq!(browser.run(NOTE), "");
    let _ = fs::remove_dir_all(&folder);
}

/// Returns who is signed in: everybody is Grace.
fn grace(_: &Parts) -> Option<Principal> {
    Some(Principal::new("grace", "acme"))
}

#[test]
fn forms_work_when_every_request_reaches_another_server() {
    for with_scripts in [true, false] {
        let Some(browser) = Browser::start(1200, 900, with_scripts) else {
            return;
        };
        let folder = folder(&format!("balanced-{with_scripts}"));
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let origin = tokio.block_on(async {
            let mut servers: Vec<Router> = Vec::new();
            for _ in 0..3 {
                let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
                let client = Runtime::client(store);
                servers.push(agents_server::router(&client, grace));
            }
            let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
            let runtime = Runtime::open(store);
            let agent = runtime.agent(payer());
            for amount in 1..=4 {
                let run = agent
                    .run(format!(r#"{{"amount": {amount}}}"#))
                    .scope("acme");
                run.start().await.unwrap();
            }
            tokio::spawn(runtime.work(CancellationToken::new()));
            // A balancer that sends each request to the next server.
            let next = Arc::new(AtomicUsize::new(0));
            let balanced = move |request: Request| {
                let server = servers[next.fetch_add(1, SeqCst) % servers.len()].clone();
                async move { tower::ServiceExt::oneshot(server, request).await.unwrap() }
            };
            let app = Router::new().fallback(any(balanced));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let origin = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(async move { axum::serve(listener, app).await });
            origin
        });
        until("the requests", || {
            browser.open(&format!("{origin}/approvals"));
            (browser.count(".card") == 4).then_some(())
        });
        for left in (0..4).rev() {
            browser.click(".card button.deny");
            reads(&browser, "One request was denied.");
            until("the others", || {
                (browser.count(".card") == left).then_some(())
            });
        }
        drop(tokio);
        let _ = fs::remove_dir_all(&folder);
    }
}
