//! A poison event from its death to its replay: an agent asks, and a person says yes in the inbox. The model of the agent is
//! scripted; the tools, the store, the workers and the browser are real.

use crate::{
    axe::{findings, put, source},
    driver::Browser,
    reads,
    room::until,
};
use agents::{
    AgentBuilder,
    testing::{Script, ScriptedModel},
};
use agents_runtime::{
    AgentRef, AuditKind, Client, DeliveryError, Notification, Principal, Progress, Runtime,
    SqliteStore, Subscriber, Told, tools,
};
use agents_server::Server;
use agents_store::AuditFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering::SeqCst},
};
use tokio_util::sync::CancellationToken;

/// An order has left the house.
#[derive(Serialize, Deserialize)]
struct OrderShipped {
    order: u32,
    note: String,
}

impl Notification for OrderShipped {
    const NAME: &'static str = "shop.order_shipped";
}

/// Control room with an event that kills its subscriber's tries until the printer works.
struct Shop {
    tokio: tokio::runtime::Runtime,
    client: Client,
    operations: AgentRef<String, String>,
    url: String,
    works: Arc<AtomicBool>,
    taken: Arc<Mutex<Vec<u32>>>,
}

impl Shop {
    fn open() -> Shop {
        let (works, taken) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let invoices = subscriber(&works, &taken);
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let (runtime, server) = tokio.block_on(async {
            let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap());
            let runtime = runtime.subscriber(invoices);
            let server = Server::bind(runtime.as_client(), "127.0.0.1:0").await;
            let note = "</pre><script>document.title = 'planted'</script>\u{202e}".to_owned();
            let poison = OrderShipped { order: 7, note };
            let published = runtime.publish(&poison).scope("acme");
            published.await.unwrap();
            (runtime, server.unwrap())
        });
        // The model takes the id of the event from the list that the tool returns.
        let (model, _) = ScriptedModel::from_fn(|asked| match asked.results()[..] {
            [(_, told)] => match serde_json::from_str::<Value>(told) {
                Ok(listed) if listed.is_array() => {
                    let id = &listed[0]["event_id"];
                    let replay = json!({"event_id": id, "reason": "the printer is on"});
                    Script::call("replay_dlq_event", replay.to_string())
                }
                _ => Script::text(told),
            },
            _ => Script::call("list_dlq_events", r#"{"handler_name": "invoices"}"#),
        });
        let operations = AgentBuilder::<String, String>::new("operations").model(model);
        let operations = operations.tools(tools::operations(runtime.as_client()));
        let operations = runtime.agent(operations.build());
        let url = server.url().to_owned();
        let client = runtime.as_client().clone();
        tokio.spawn(server.run());
        tokio.spawn(runtime.work(CancellationToken::new()));
        Shop {
            tokio,
            client,
            operations,
            url,
            works,
            taken,
        }
    }

    fn at(&self, path: &str) -> String {
        let (origin, _) = self.url.split_once("/?").unwrap();
        format!("{origin}{path}")
    }

    /// Returns the reasons of the replays in the audit trail.
    fn replays(&self) -> Vec<String> {
        let filter = AuditFilter {
            kind: Some(AuditKind::Replayed),
            ..AuditFilter::default()
        };
        let audit = self.client.audit();
        let events = self.tokio.block_on(async { audit.events(&filter).await });
        let reasons = events.unwrap().into_iter().filter_map(|event| event.reason);
        reasons.collect()
    }
}

fn subscriber(works: &Arc<AtomicBool>, taken: &Arc<Mutex<Vec<u32>>>) -> Subscriber {
    let (works, taken) = (works.clone(), taken.clone());
    let take = move |shipped: OrderShipped, _: Told| {
        let is_taken = works.load(SeqCst);
        if is_taken {
            taken.lock().unwrap().push(shipped.order);
        }
        async move {
            match is_taken {
                true => Ok(()),
                false => Err(DeliveryError::new("the printer is off")),
            }
        }
    };
    Subscriber::new("invoices", take).retry_after([])
}

/// Checks the page that is open in four ways: wide and narrow, light and dark.
fn is_for_everybody(browser: &Browser, axe: Option<&str>) {
    for (width, is_dark) in [(1200, false), (1200, true), (380, true), (380, false)] {
        browser.show(width, is_dark);
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.run(fits), true, "{width}");
        if let Some(axe) = axe {
            put(browser, axe);
            assert_eq!(findings(browser), [""; 0], "{width}, dark: {is_dark}");
        }
    }
}

fn tell_the_story(browser: &Browser, check: impl Fn()) {
    let shop = Shop::open();
    until("the dead letter", || {
        browser.open(&shop.url);
        browser.click("nav a[href='/letters']");
        (browser.count("tr[data-letter]") == 1).then_some(())
    });
    check();
    browser.click("tr[data-letter] a");
    reads(browser, "the printer is off");
    reads(browser, "shop.order_shipped");
    assert_eq!(browser.count("#planted, main script"), 0);
    check();
    browser.click("nav a[href='/failures']");
    reads(browser, "FAILED of");
    check();
    browser.click(".card h2 a");
    reads(browser, "Failures, the newest first");
    browser.fill("#notes", "the printer is repaired today");
    browser.click("button[value=wait]");
    reads(browser, "data-cluster-status=\"wait\"");
    reads(browser, "the printer is repaired today");
    check();

    let ada = Principal::new("ada", "acme");
    let run = shop.operations.run("What has failed?").scope("acme");
    let run = run.by(&ada).start();
    let run = shop.tokio.block_on(run).unwrap();
    shop.works.store(true, SeqCst);
    until("the request", || {
        browser.open(&shop.at("/approvals"));
        browser.source().contains("replay the event").then_some(())
    });
    assert!(shop.taken.lock().unwrap().is_empty(), "nobody has said yes");
    assert_eq!(shop.replays(), [""; 0]);
    browser.click(".card button.approve");
    reads(browser, "One request was approved.");
    let answer = until("the answer", || {
        match shop.tokio.block_on(run.progress()).unwrap() {
            Progress::Done(outcome) => Some(outcome.result.unwrap()),
            _ => None,
        }
    });
    assert!(answer.contains("is replayed"), "{answer}");
    until("the invoice", || {
        let is_taken = !shop.taken.lock().unwrap().is_empty();
        is_taken.then_some(())
    });
    until("no dead letter", || {
        browser.open(&shop.at("/letters"));
        let source = browser.source();
        source.contains("There are no dead letters").then_some(())
    });
    assert_eq!(*shop.taken.lock().unwrap(), [7], "exactly once");
    assert_eq!(shop.replays(), ["the printer is on"]);
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn d4_d5_an_agent_asks_to_replay_a_poison_event_and_a_person_approves_it_in_the_inbox() {
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    let axe = source();
    tell_the_story(&browser, || is_for_everybody(&browser, axe.as_deref()));
    assert_eq!(browser.complaints(), "[]");
}

#[test]
#[ignore = "in full: scripts/test-all browser"]
fn d4_a_poison_event_is_replayed_without_javascript_on_a_small_screen() {
    let Some(browser) = Browser::start(380, 800, false) else {
        return;
    };
    tell_the_story(&browser, || {});
}
