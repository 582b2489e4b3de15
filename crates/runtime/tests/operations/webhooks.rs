//! Webhooks: a receiver on loopback that fails, hangs, and is told twice.

use crate::*;
use agents_runtime::{
    Approval, Deliver, DeliveryError, HttpDelivery, RuntimeErrorKind, Webhook, WebhookMessage,
    WebhookSecret,
};
use agents_store::DeliveryFilter;
use std::collections::{BTreeMap, VecDeque};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn secret() -> WebhookSecret {
    WebhookSecret::read(SECRET).unwrap()
}

/// Message as the receiver got it.
#[derive(Clone, Debug)]
struct Got {
    head: BTreeMap<String, String>,
    body: Value,
}

impl Got {
    fn id(&self) -> &str {
        &self.head["webhook-id"]
    }

    fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap()
    }
}

/// A receiver that gives these answers, one after the other, and 204 then. An empty answer is none at all.
struct Receiver {
    address: String,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    async fn start(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/agents", listener.local_addr().unwrap());
        let got = Arc::<Mutex<Vec<Got>>>::default();
        let answers = answers.iter().map(|one| (*one).to_owned());
        let answers = Arc::new(Mutex::new(answers.collect::<VecDeque<_>>()));
        let all = got.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (all, answers) = (all.clone(), answers.clone());
                tokio::spawn(async move {
                    while let Some(message) = read(&mut stream).await {
                        all.lock().unwrap().push(message);
                        let answer = answers.lock().unwrap().pop_front();
                        let answer = answer.unwrap_or_else(|| "204 No Content".to_owned());
                        if answer.is_empty() {
                            return std::future::pending().await;
                        }
                        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                });
            }
        });
        Receiver { address, got }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn webhook(&self) -> Webhook {
        let way = HttpDelivery::to(&self.address, secret()).unwrap();
        Webhook::new("desk", way.answers_within(Duration::from_millis(500)))
            .links_to("https://agents.example.com/")
            .retry_after([Duration::from_millis(50); 3])
    }
}

/// Reads a request, and checks its signature.
async fn read(stream: &mut tokio::net::TcpStream) -> Option<Got> {
    let mut bytes = Vec::new();
    loop {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let lines = head
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(": "));
            let head: BTreeMap<_, _> = lines
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length: usize = head["content-length"].parse().unwrap();
            while bytes.len() < end + 4 + length {
                if stream.read_buf(&mut bytes).await.unwrap() == 0 {
                    return None;
                }
            }
            let body = &bytes[end + 4..];
            let [id, at, signed] = ["webhook-id", "webhook-timestamp", "webhook-signature"]
                .map(|name| head[name].as_str());
            secret()
                .verify(id, at, signed, body, Duration::from_secs(60))
                .unwrap();
            let body = serde_json::from_slice(body).unwrap();
            return Some(Got { head, body });
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

/// Starts a worker with this webhook, and returns when the store knows the webhook.
async fn known(place: &Place, runtime: &Runtime) -> Worker {
    let worker = Worker::start(runtime);
    // A webhook begins with the events that come.
    let claim = agents_store::DeliveryClaim {
        webhook: "desk".to_owned(),
        tenant: None,
        kinds: Vec::new(),
        time: LONG,
        limit: 1,
    };
    // The store belongs to the keyring, and not to whoever comes without one.
    place.client().audit().verify().await.unwrap();
    place.store.claim_deliveries(&claim).await.unwrap();
    worker
}

#[tokio::test(flavor = "multi_thread")]
async fn a8_requests_decisions_and_ends_are_told_with_signature_and_link() {
    everywhere("told", async |place| {
        let receiver = Receiver::start(&[]).await;
        let (runtime, _) = place.runtime([pays(1200), Script::text("Paid.")]);
        let runtime = runtime.webhook(receiver.webhook());
        let payer = payer_that_asks(&runtime, &Till::open(), NeedsApproval::Always);
        let _worker = known(place, &runtime).await;
        let run = start(&payer).await;
        let request = waiting(&run).await;
        // Decided by a process that knows of no webhook.
        let approvals = place.client().approvals();
        approvals
            .decide(&request.id, Approval::Approve, &grace())
            .await
            .unwrap();
        done(&run).await.result.unwrap();
        until("three messages come", async || receiver.got().len() >= 3).await;
        let mut got = receiver.got();
        got.sort_by_key(|one| one.id().rsplit_once('-').unwrap().1.parse::<u64>().unwrap());
        let kinds: Vec<_> = got.iter().map(Got::kind).collect();
        assert_eq!(
            kinds,
            ["approval.requested", "approval.approved", "run.ended"]
        );
        let data = &got[0].body["data"];
        assert_eq!(data["id"], request.id);
        assert_eq!(data["args_summary"], "cents: 1200, to: [email]");
        let url = format!("https://agents.example.com/approvals/{}", request.id);
        assert_eq!(data["url"], url);
        assert!(!got[0].body.to_string().contains("ada@example.com"));
        assert_eq!(got[1].body["data"]["decided_by"], "grace");
        let ended = &got[2].body["data"];
        assert_eq!(
            (&ended["status"], &ended["end"]),
            (&json!("done"), &json!("answered"))
        );
        let all = DeliveryFilter::default();
        until("none is left", async || {
            place.store.deliveries(&all).await.unwrap().is_empty()
        })
        .await;
        assert_eq!(receiver.got().len(), 3, "each once");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_not_taken_comes_again_with_its_id() {
    everywhere("again", async |place| {
        let elsewhere = Receiver::start(&[]).await;
        let moved = format!("307 Temporary Redirect\r\nlocation: {}", elsewhere.address);
        let receiver = Receiver::start(&["500 Oh", &moved]).await;
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        // A worker that knows no agent goes on with no run.
        let desk = place.runtime([]).0.webhook(receiver.webhook());
        let _worker = known(place, &desk).await;
        let run = start(&payer).await;
        place.client().pause(run.id(), &grace()).await.unwrap();
        until("it is taken", async || {
            desk.metrics().await.unwrap().worker.unwrap().delivered == 1
        })
        .await;
        let got = receiver.got();
        assert_eq!(got.len(), 3);
        assert!(got.iter().all(|one| one.id() == got[0].id()));
        assert_eq!(got[0].kind(), "run.held");
        assert_eq!(got[0].body["data"]["paused_by"], "grace");
        assert!(
            elsewhere.got().is_empty(),
            "only to the address that was set"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_or_answers_twice_keeps_no_message_back() {
    everywhere("hangs", async |place| {
        let twice = "204 No Content\r\ncontent-length: 0\r\n\r\nHTTP/1.1 500 Oh";
        let receiver = Receiver::start(&["", twice]).await;
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        let desk = place.runtime([]).0.webhook(receiver.webhook());
        let _worker = known(place, &desk).await;
        let client = place.client();
        for _ in 0..2 {
            let run = start(&payer).await;
            client.pause(run.id(), &grace()).await.unwrap();
            until("none is left", async || {
                let metrics = desk.metrics().await.unwrap();
                let all = place
                    .store
                    .deliveries(&DeliveryFilter::default())
                    .await
                    .unwrap();
                all.is_empty() && metrics.worker.unwrap().delivered > 0
            })
            .await;
        }
        until("both are taken", async || receiver.got().len() == 3).await;
        let got = receiver.got();
        assert_eq!(got[0].id(), got[1].id(), "after no answer");
        assert_ne!(got[1].id(), got[2].id());
        until("both are counted", async || {
            desk.metrics().await.unwrap().worker.unwrap().delivered == 2
        })
        .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_is_listed_and_can_be_sent_again() {
    everywhere("given-up", async |place| {
        let receiver = Receiver::start(&["500 Oh", "503 No", "500 Oh", "429 Slow"]).await;
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        // A worker that knows no agent goes on with no run.
        let desk = place.runtime([]).0.webhook(receiver.webhook());
        let _worker = known(place, &desk).await;
        let run = start(&payer).await;
        let client = place.client();
        client.pause(run.id(), &grace()).await.unwrap();
        let given_up = DeliveryFilter {
            given_up: Some(true),
            ..DeliveryFilter::default()
        };
        let operator = Principal::operator();
        let deliveries = client.deliveries();
        until("it is given up", async || {
            !deliveries
                .list(&given_up, &operator)
                .await
                .unwrap()
                .is_empty()
        })
        .await;
        let listed = deliveries
            .list(&given_up, &operator)
            .await
            .unwrap()
            .remove(0);
        assert_eq!((listed.attempts, listed.next_at), (4, None));
        assert!(listed.error.unwrap().contains("429"));
        assert_eq!(client.metrics(None).await.unwrap().store.given_up, 1);
        let refused = deliveries.send_again("desk", listed.event, &grace()).await;
        assert_eq!(refused.unwrap_err().kind(), RuntimeErrorKind::Forbidden);
        deliveries
            .send_again("desk", listed.event, &operator)
            .await
            .unwrap();
        until("it is taken", async || receiver.got().len() == 5).await;
        until("none is left", async || {
            place
                .store
                .deliveries(&DeliveryFilter::default())
                .await
                .unwrap()
                .is_empty()
        })
        .await;
    })
    .await;
}

/// Takes a message only after the worker that delivers it has ended.
struct Slow(Arc<Mutex<Vec<String>>>, Duration);

#[async_trait::async_trait]
impl Deliver for Slow {
    async fn deliver(&self, message: &WebhookMessage) -> Result<(), DeliveryError> {
        self.0.lock().unwrap().push(message.id.clone());
        tokio::time::sleep(self.1).await;
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_outlives_the_worker_that_was_to_tell_of_it() {
    everywhere("outlives", async |place| {
        let (runtime, _) = place.runtime([]);
        let payer = payer(&runtime, &Till::open());
        // The store knows the webhook, and no worker tells it of anything.
        let taken = Arc::<Mutex<Vec<String>>>::default();
        let way = Slow(taken.clone(), Duration::ZERO);
        let telling = place.runtime([]).0;
        let telling = telling.webhook(Webhook::new("desk", way).tenant("acme"));
        let worker = known(place, &telling).await;
        worker.stop().await;
        let run = start(&payer).await;
        place.client().pause(run.id(), &grace()).await.unwrap();
        let other = payer.run("Pay.").scope("other").start().await.unwrap();
        place
            .client()
            .pause(other.id(), &Principal::operator())
            .await
            .unwrap();
        let _worker = Worker::start(&telling);
        until("it is told", async || !taken.lock().unwrap().is_empty()).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let taken = taken.lock().unwrap().clone();
        assert_eq!(taken.len(), 1, "{taken:?}");
        assert!(taken[0].starts_with(run.id()), "not of another tenant");
    })
    .await;
}

#[test]
fn an_address_that_is_none_of_http_is_refused() {
    let without_tls = (!cfg!(feature = "webhooks-tls")).then_some("https://example.com/");
    let always = [
        "ftp://example.com/",
        "http://ada:secret@example.com/",
        "example.com",
        "",
    ];
    for wrong in always.into_iter().chain(without_tls) {
        let error = HttpDelivery::to(wrong, secret()).unwrap_err();
        assert_eq!(error.kind(), RuntimeErrorKind::Invalid, "{wrong}");
        assert!(!error.to_string().contains("secret@"), "{error}");
    }
    let way = HttpDelivery::to("http://127.0.0.1:1/?token=t0ken", secret()).unwrap();
    assert!(!format!("{way:?}").contains("t0ken"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_stopped_waits_for_no_receiver() {
    everywhere("unanswered", async |place| {
        let (runtime, _) = place.runtime([]);
        let taken = Arc::<Mutex<Vec<String>>>::default();
        let way = Slow(taken.clone(), Duration::from_secs(60));
        let runtime = runtime.webhook(Webhook::new("desk", way).tenant("acme"));
        let payer = payer(&runtime, &Till::open());
        let runtime = runtime.grace(Duration::from_millis(400));
        let worker = known(place, &runtime).await;
        start(&payer).await;
        until("a message", async || !taken.lock().unwrap().is_empty()).await;
        let stopped = std::time::Instant::now();
        worker.stop().await;
        assert!(stopped.elapsed() < Duration::from_secs(10));
    })
    .await;
}
