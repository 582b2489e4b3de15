//! Every control of every form in the control room. The test walks all pages, makes the list of the controls that it finds,
//! and uses each of them: so a new control is used as well, or the test fails.

use crate::{
    ENTER,
    driver::Browser,
    room::{booker, payer, until},
};
use agents::{
    AgentBuilder, Effects, PurposeKey,
    agent::ModelAgent,
    testing::{Script, ScriptedModel},
    tool::{FnTool, ToolSpec},
};
use agents_control::{ControlPlane, ModelProfile, Prices};
use agents_runtime::{
    Approval, DeliveryError, Notification, Principal, Progress, Runtime, SqliteStore, Subscriber,
    Told,
};
use agents_server::ControlRoom;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, request::Parts},
    middleware::{self, Next},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const ESCAPE: &str = "\u{e00c}";

/// Number of pages of one kind that are walked through.
const ALIKE: usize = 14;

/// Form that has reached the server: its path, its body and the status of the answer.
type Received = (String, String, u16);

/// Control room in which each control of each page is there.
struct Site {
    _tokio: tokio::runtime::Runtime,
    origin: String,
    received: Arc<Mutex<Vec<Received>>>,
}

/// An order has left the house.
#[derive(Serialize, Deserialize)]
struct OrderShipped {
    order: u32,
}

impl Notification for OrderShipped {
    const NAME: &'static str = "shop.order_shipped";
}

fn operator(_: &Parts) -> Option<Principal> {
    Some(Principal::operator())
}

/// Returns an agent that files a paper, with a tool that never ends.
fn filer(model: ScriptedModel, begun: &Arc<Semaphore>) -> ModelAgent<'static, String, String> {
    let begun = begun.clone();
    let schema = json!({"type": "object", "properties": {"paper": {"type": "string"}}});
    let spec = ToolSpec::new("file", "Files.", Effects::Writes, schema).version("1.0.0");
    let file = FnTool::with_spec(spec, move |_: Value, _| {
        begun.add_permits(1);
        async { std::future::pending::<Result<(), std::io::Error>>().await }
    });
    AgentBuilder::<String, String>::new("filer")
        .tool(file)
        .model(model)
        .build()
}

/// Leaves two executions in doubt: the process that has made them ends in the middle.
async fn leave_doubts(store: &SqliteStore) {
    let begun = Arc::new(Semaphore::new(0));
    let (model, _) = ScriptedModel::always(Script::call("file", r#"{"paper": "a deed"}"#));
    let runtime = Runtime::open(store.clone()).grace(Duration::ZERO);
    let agent = runtime.agent(filer(model, &begun));
    for _ in 0..2 {
        let run = agent.run("File it.").scope("acme");
        run.start().await.unwrap();
    }
    let stop = CancellationToken::new();
    let worker = tokio::spawn(runtime.work(stop.clone()));
    for _ in 0..2 {
        begun.acquire().await.unwrap().forget();
    }
    stop.cancel();
    worker.await.unwrap();
}

async fn open_site(received: Arc<Mutex<Vec<Received>>>) -> String {
    let store = SqliteStore::in_memory().await.unwrap();
    leave_doubts(&store).await;
    let (model, _) = ScriptedModel::always(Script::text("Oslo"));
    let control = ControlPlane::open(&store)
        .provider("p", move |_: &agents_control::Target<'_>| model.clone())
        .prices(Prices::default().model("p/*", 0.0, 1.0));
    for name in ["old", "new"] {
        let profile = ModelProfile::global(PurposeKey::AgentTurn).model("p", name);
        let activated = control.activate(profile.max_output_tokens(100));
        activated.by(&Principal::operator()).await.unwrap();
    }
    let off = |_: OrderShipped, _: Told| async { Err(DeliveryError::new("the printer is off")) };
    let runtime = Runtime::open(store)
        .control(&control)
        .grace(Duration::ZERO)
        .subscriber(Subscriber::new("invoices", off).retry_after([]));
    for order in 1..=2 {
        let published = runtime.publish(&OrderShipped { order }).scope("acme");
        published.await.unwrap();
    }
    let (model, _) = ScriptedModel::always(Script::text("I do not know."));
    runtime.agent(filer(model, &Arc::new(Semaphore::new(0))));
    let (payer, booker) = (runtime.agent(payer()), runtime.agent(booker()));
    tokio::spawn(runtime.clone().work(CancellationToken::new()));
    let client = runtime.as_client().clone();
    let grace = Principal::new("grace", "acme");
    for amount in 1..=14 {
        let args = json!({"amount": amount.to_string(), "to": "ACME"}).to_string();
        let run = payer.run(args).scope("acme").start().await.unwrap();
        let request = loop {
            if let Progress::Waiting(requests) = run.progress().await.unwrap()
                && let Some(request) = requests.into_iter().next()
            {
                break request;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        match amount {
            // Runs that are over, and some that are held.
            1 | 2 => {
                let approvals = client.approvals();
                let decided = approvals.decide(&request.id, Approval::Approve, &grace);
                decided.await.unwrap();
            }
            3 | 4 => client.pause(run.id(), &grace).await.unwrap(),
            _ => {}
        }
    }
    for _ in 0..4 {
        let run = booker.run("A flight.").scope("acme");
        run.start().await.unwrap();
    }
    let room = ControlRoom::of(&client).control(&control).agent("booker");
    let recorded = move |request: Request, next: Next| {
        let received = received.clone();
        async move { record(&received, request, next).await }
    };
    let app: Router = agents_server::router(room, operator).layer(middleware::from_fn(recorded));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    origin
}

/// Notes a form that reaches the server, and what the server answers.
async fn record(received: &Mutex<Vec<Received>>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let body = to_bytes(body, 1_000_000).await.unwrap();
    let text = String::from_utf8_lossy(&body).into_owned();
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let status = response.status().as_u16();
    received.lock().unwrap().push((path, text, status));
    response
}

impl Site {
    fn open() -> Site {
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let received = Arc::default();
        let origin = tokio.block_on(open_site(Arc::clone(&received)));
        Site {
            _tokio: tokio,
            origin,
            received,
        }
    }

    fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

/// Control of a page, with the place at which a script finds it again.
#[derive(Clone, Debug, Deserialize)]
struct Control {
    /// Method and action of its form, its element, its name and, of a button, its value.
    key: String,
    kind: String,
    name: String,
    value: String,
    /// Place among all elements that may be controls.
    at: usize,
}

const ALL: &str = "const all = [...document.querySelectorAll('main button, main input, main select, main textarea, main summary')];";

/// Lists the controls of the page. Ids and names in paths are stars.
const LIST: &str = "
    const path = (text) => text.replace(/^(\\/[a-z]+)\\/.+?(\\/(executions|calls)\\/.+)?$/, (_, first, rest, kind) => first + '/*' + (kind ? `/${kind}/*` : ''));
    return all.map((one, at) => {
        const form = one.form ?? one.closest('form');
        const isShown = !one.closest('[hidden]') && one.type !== 'hidden' && !one.disabled;
        if (!isShown || (!form && one.tagName !== 'SUMMARY')) return null;
        const action = form ? `${form.method} ${path(new URL(form.getAttribute('action'), location.href).pathname)}` : `page ${path(location.pathname)}`;
        const isButton = one.type === 'submit';
        const kind = isButton ? 'button' : one.tagName === 'SUMMARY' ? 'summary' : form.method === 'post' ? 'field' : 'search';
        const value = isButton ? one.value : '';
        const name = one.tagName === 'SUMMARY' ? one.closest('details').className : one.name;
        return {key: `${action} ${kind} ${name} ${value}`, kind: form?.method === 'get' && isButton ? 'show' : kind, name, value, at};
    }).filter((one) => one !== null);";

fn controls(browser: &Browser) -> Vec<Control> {
    let listed = until("the controls", || {
        let listed = browser.run(&format!("{ALL}{LIST}"));
        listed.is_array().then_some(listed)
    });
    serde_json::from_value(listed).unwrap()
}

/// Opens what hides a control, and gives it the focus.
fn focus(browser: &Browser, control: &Control) {
    let at = control.at;
    let script = format!(
        "{ALL} const one = all[{at}];
        for (let hides = one.parentElement.closest('details'); hides; hides = hides.parentElement.closest('details')) hides.open = true;
        one.focus(); return document.activeElement === one"
    );
    assert_eq!(browser.run(&script), true, "{control:?} takes no focus");
}

/// Fills what a form needs, and ticks a box if it is about those that are ticked.
fn fill(browser: &Browser, control: &Control) {
    let at = control.at;
    browser.run(&format!(
        "{ALL} const form = all[{at}].form;
        for (const one of form.elements) {{
            if (one.type === 'checkbox' && ![...form.elements].some((box) => box.checked)) one.checked = true;
            const isNeeded = one.required || one.inputMode === 'decimal' || one.name === 'output' || one.name.startsWith('argument.');
            if (isNeeded && one.matches('input[type=text], textarea') && one.value === '') one.value = '1';
        }}
        return 0"
    ));
}

/// Presses Enter and Escape in a field, which does nothing.
fn use_field(browser: &Browser, site: &Site, control: &Control, page: &str) {
    let before = site.count();
    browser.run("window.walked = true; return 0");
    focus(browser, control);
    browser.press(ENTER);
    browser.press(ESCAPE);
    // Long enough for a form to be sent.
    thread::sleep(Duration::from_millis(120));
    assert_eq!(
        browser.run("return window.walked === true"),
        true,
        "{control:?}: the page was left"
    );
    assert_eq!(browser.path(), page, "{control:?}");
    assert_eq!(site.count(), before, "{control:?}: a form was sent");
}

/// Presses a button that changes something, by the keyboard, and goes back.
fn use_button(browser: &Browser, site: &Site, control: &Control) {
    let before = site.count();
    fill(browser, control);
    focus(browser, control);
    browser.press(ENTER);
    until(&control.key, || (site.count() > before).then_some(()));
    let sent = site.received.lock().unwrap()[before..].to_vec();
    let [(path, body, status)] = &sent[..] else {
        panic!("{control:?} was sent more than once: {sent:?}");
    };
    assert_eq!(*status, 303, "{control:?}: {path} {body}");
    if !control.name.is_empty() {
        let pair = format!("{}={}", control.name, control.value);
        assert!(
            body.split('&').any(|one| one == pair),
            "{control:?}: {body}"
        );
    }
    until("the page behind it", || {
        let done = "return document.readyState === 'complete' && !document.querySelector('main[data-failed]')";
        (browser.run(done) == true).then_some(())
    });
    browser.back();
}

fn use_control(browser: &Browser, site: &Site, control: &Control, page: &str) {
    match &*control.kind {
        "field" => use_field(browser, site, control, page),
        "button" => use_button(browser, site, control),
        "summary" => {
            let at = control.at;
            let is_open = format!("{ALL} return all[{at}].parentElement.open");
            focus(browser, control);
            let before = browser.run(&is_open);
            browser.press(ENTER);
            until(&control.key, || {
                (browser.run(&is_open) != before).then_some(())
            });
            browser.press(ENTER);
        }
        // A search changes nothing: it shows its page.
        "show" => {
            browser.run("window.walked = true; return 0");
            focus(browser, control);
            browser.press(ENTER);
            until(&control.key, || {
                let shown = "return window.walked === undefined && document.readyState === 'complete' && !document.querySelector('main[data-failed]')";
                (browser.run(shown) == true).then_some(())
            });
            browser.back();
        }
        _ => focus(browser, control),
    }
}

/// Returns the addresses on the page that lead to other pages of the control room.
fn links(browser: &Browser) -> Vec<String> {
    let links = "return [...document.querySelectorAll('nav a, main a')]
        .filter((one) => one.origin === location.origin && !one.download && !one.pathname.startsWith('/api/'))
        .map((one) => one.pathname + one.search)";
    serde_json::from_value(browser.run(links)).unwrap_or_default()
}

/// Returns the kind of a page: its path without names and ids.
fn kind_of(address: &str) -> String {
    let (path, _) = address.split_once('?').unwrap_or((address, ""));
    let parts: Vec<_> = path.split('/').collect();
    let part = |(at, part): (usize, &&str)| match at {
        0 | 1 | 3 => (*part).to_owned(),
        _ => "*".to_owned(),
    };
    let parts: Vec<_> = parts.iter().enumerate().map(part).collect();
    parts.join("/")
}

fn walk(with_scripts: bool) {
    let Some(browser) = Browser::start(1200, 900, with_scripts) else {
        return;
    };
    let site = Site::open();
    until("the requests", || {
        browser.open(&format!("{}/approvals", site.origin));
        (browser.count(".question") == 4 && browser.count("#bulk") == 1).then_some(())
    });
    let (mut used, mut found) = (BTreeSet::new(), BTreeSet::new());
    let (mut seen, mut alike) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    let mut open = VecDeque::from(["/approvals".to_owned()]);
    while let Some(page) = open.pop_front() {
        browser.open(&format!("{}{page}", site.origin));
        for link in links(&browser) {
            let count = alike.entry(kind_of(&link)).or_default();
            if *count < ALIKE && seen.insert(link.clone()) {
                *count += 1;
                open.push_back(link);
            }
        }
        loop {
            let all = controls(&browser);
            found.extend(all.iter().map(|one| one.key.clone()));
            let Some(next) = all.into_iter().find(|one| !used.contains(&one.key)) else {
                break;
            };
            use_control(&browser, &site, &next, &page);
            used.insert(next.key);
            // A decision changes the page. A page that has just been loaded has everything in its place.
            browser.open(&format!("{}{page}", site.origin));
        }
    }
    assert_eq!(used, found);
    // Each form that the server takes was sent.
    let routes = include_str!("../../../src/router.rs").matches("post(pages::");
    let kinds: BTreeSet<_> = site
        .received
        .lock()
        .unwrap()
        .iter()
        .map(|(path, ..)| kind_of(path))
        .collect();
    assert_eq!(kinds.len(), routes.count(), "{kinds:#?}");
    println!("{} controls: {used:#?}", used.len());
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn every_control_of_every_page_is_used() {
    walk(true);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn every_control_of_every_page_is_used_without_javascript() {
    walk(false);
}
