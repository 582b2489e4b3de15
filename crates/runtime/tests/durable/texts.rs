//! Streamed text: written by a worker, read in any process, gone after a while, no part of the journal.

use crate::{
    office::{Worker, done},
    stores::{Place, each},
};
use agents::{
    AgentBuilder,
    agent::TextDelta,
    model::{Delta, Model, ModelError, Reply, Request, ToolCall},
    run::{Event, EventKind},
};
use agents_runtime::{AgentRef, Runtime, RuntimeError, Spoken};
use futures_util::{Stream, StreamExt};
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Reads text to its end, as a page would show it.
pub(crate) async fn page(text: impl Stream<Item = Result<TextDelta, RuntimeError>>) -> String {
    let mut text = pin!(text);
    let mut page = String::new();
    while let Some(delta) = text.next().await {
        match delta.unwrap() {
            TextDelta::Piece(piece) => page.push_str(&piece),
            TextDelta::Reset => page.clear(),
        }
    }
    page
}

/// Model that writes its words one by one: each needs a permit. A reply that ends with a word in brackets is a call.
#[derive(Clone)]
struct Writer {
    replies: Arc<Vec<&'static str>>,
    asked: Arc<AtomicUsize>,
    streamed: Arc<AtomicUsize>,
    permits: Arc<Semaphore>,
}

impl Writer {
    fn new(replies: &[&'static str], permits: usize) -> Self {
        Writer {
            replies: Arc::new(replies.to_vec()),
            asked: Arc::default(),
            streamed: Arc::default(),
            permits: Arc::new(Semaphore::new(permits)),
        }
    }
}

#[agents::async_trait]
impl Model for Writer {
    fn id(&self) -> &str {
        "writer"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        let nth = self.asked.fetch_add(1, SeqCst);
        let text = self.replies[nth.min(self.replies.len() - 1)];
        let (text, call) = match text.split_once(" [") {
            Some((text, tool)) => (text, Some(tool.trim_end_matches(']'))),
            None => (text, None),
        };
        for word in text.split_inclusive(' ') {
            self.permits.acquire().await.unwrap().forget();
            if let Some(sink) = request.sink() {
                self.streamed.fetch_add(1, SeqCst);
                sink(Delta::Text(word));
            }
        }
        // The last word does not wait for whoever reads it.
        self.permits.acquire().await.unwrap().forget();
        Ok(Reply {
            content: text.to_owned(),
            calls: call
                .into_iter()
                .map(|tool| ToolCall {
                    id: String::new(),
                    name: tool.to_owned(),
                    arguments: "{}".to_owned(),
                })
                .collect(),
            ..Reply::default()
        })
    }
}

async fn writer_on(
    place: &Place,
    model: &Writer,
    lease: Duration,
) -> (Runtime, AgentRef<String, String>) {
    let runtime = place.runtime().await.model(model.clone()).lease(lease);
    let schema = serde_json::json!({"type": "object"});
    let look = agents::tool::FnTool::new(
        "look",
        "Looks.",
        agents::Effects::Reads,
        schema,
        |_, _| async { Ok::<_, std::io::Error>("dark") },
    );
    let agent = AgentBuilder::<String, String>::new("writer").tool(look);
    let agent = runtime.agent(agent.build());
    (runtime, agent)
}

const LEASE: Duration = Duration::from_secs(30);

/// Reads until this text is shown.
async fn shows(
    text: &mut (impl Stream<Item = Result<TextDelta, RuntimeError>> + Unpin),
    page: &mut String,
    wanted: &str,
) -> usize {
    let mut resets = 0;
    let read = async {
        while page != wanted {
            match text.next().await.expect("the text goes on").unwrap() {
                TextDelta::Piece(piece) => page.push_str(&piece),
                TextDelta::Reset => {
                    page.clear();
                    resets += 1;
                }
            }
        }
    };
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    read.unwrap_or_else(|_| panic!("`{page}` does not become `{wanted}`"));
    resets
}

#[tokio::test]
async fn d1_text_is_read_in_another_process_while_it_is_written() {
    each(async |place| {
        let model = Writer::new(&["Let me look. [look]", "It is dark in there."], 0);
        let (runtime, writer) = writer_on(place, &model, LEASE).await;
        let run = writer
            .run("What is there?")
            .streamed()
            .start()
            .await
            .unwrap();
        let _worker = Worker::start(&runtime);
        let client = place.client().await;
        let mut text = Box::pin(client.events(run.id()).text());
        let mut page = String::new();
        model.permits.add_permits(2);
        assert_eq!(shows(&mut text, &mut page, "Let me ").await, 0);
        // The words before a call are not the answer.
        model.permits.add_permits(2 + 2);
        assert_eq!(shows(&mut text, &mut page, "It is ").await, 1);

        // A reader whose connection breaks, in a process that is started again, gets all that was written so far.
        drop((text, client));
        let client = place.client().await;
        let mut text = Box::pin(client.events(run.id()).text());
        let mut page = String::new();
        shows(&mut text, &mut page, "It is ").await;
        // A page that shows the run as it is ends there.
        let so_far = super::texts::page(client.events(run.id()).so_far().text()).await;
        assert_eq!(so_far, "It is ");
        model.permits.add_permits(100);
        shows(&mut text, &mut page, "It is dark in there.").await;
        assert!(text.next().await.is_none());
        assert_eq!(done(&run).await.result.unwrap(), "It is dark in there.");
        // Later as well, as long as the text is kept.
        let all = super::texts::page(client.events(run.id()).text()).await;
        assert_eq!(all, "It is dark in there.");
    })
    .await;
}

#[tokio::test]
async fn a_request_that_is_repeated_by_another_worker_begins_its_text_anew() {
    each(async |place| {
        let model = Writer::new(&["The answer was lost.", "The answer is 42."], 0);
        let (runtime, writer) = writer_on(place, &model, Duration::from_millis(400)).await;
        let run = writer.run("?").streamed().start().await.unwrap();
        let first = tokio::spawn(runtime.clone().work(CancellationToken::new()));
        let client = place.client().await;
        let mut text = Box::pin(client.events(run.id()).text());
        let mut page = String::new();
        model.permits.add_permits(3);
        shows(&mut text, &mut page, "The answer was ").await;
        // The worker is gone in the middle.
        first.abort();
        let _ = first.await;
        let (second, _) = writer_on(place, &model, LEASE).await;
        let _worker = Worker::start(&second);
        while model.asked.load(SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        model.permits.add_permits(2);
        assert_eq!(
            shows(&mut text, &mut page, "The answer ").await,
            1,
            "one reset"
        );
        model.permits.add_permits(100);
        shows(&mut text, &mut page, "The answer is 42.").await;
        done(&run).await.result.unwrap();
        // Whoever reads it all later finds nothing of the first try.
        let text: Vec<_> = client.events(run.id()).text().collect().await;
        assert!(
            text.iter().all(|delta| match delta {
                Ok(TextDelta::Piece(piece)) => !piece.contains("was"),
                _ => true,
            }),
            "{text:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn text_is_stored_only_where_somebody_asked_for_it_and_is_encrypted() {
    each(async |place| {
        let model = Writer::new(&["Perfectly plain words."], 100);
        let (runtime, writer) = writer_on(place, &model, LEASE).await;
        let worker = Worker::start(&runtime);
        let run = writer.run("?").start().await.unwrap();
        done(&run).await;
        assert_eq!(
            model.streamed.load(SeqCst),
            0,
            "the model is asked for no stream"
        );
        assert_eq!(page(run.events().text()).await, "");
        let streamed = writer.run("?").streamed().start().await.unwrap();
        done(&streamed).await;
        assert_eq!(
            page(streamed.events().text()).await,
            "Perfectly plain words."
        );
        worker.stop().await;
        let bytes = place.bytes();
        assert!(!bytes.windows(9).any(|found| found == b"Perfectly"));
        // The journals are the same, except for times and ids.
        let facts = async |id: &str| {
            let recorded = place.client().await.recorded(id).await.unwrap().unwrap();
            recorded.events().len()
        };
        assert_eq!(facts(run.id()).await, facts(streamed.id()).await);
    })
    .await;
}

#[tokio::test]
async fn d1_a_conversation_is_followed_from_message_to_message() {
    each(async |place| {
        let model = Writer::new(&["An old answer.", "The first one.", "The second one."], 4);
        let (runtime, writer) = writer_on(place, &model, LEASE).await;
        let _worker = Worker::start(&runtime);
        let chat = writer.chat("42").scope("acme");
        done(&chat.send("zero").streamed().start().await.unwrap()).await;
        let client = place.client().await;
        let conversation = client.conversation("acme", "42");
        let mut text = Box::pin(conversation.text());
        // Nothing of what is over.
        let early = tokio::time::timeout(Duration::from_millis(300), text.next()).await;
        assert!(early.is_err(), "{early:?}");
        let first = chat.send("one").streamed().start().await.unwrap();
        let second = chat.send("two").streamed().start().await.unwrap();
        model.permits.add_permits(100);
        let mut pages = vec![(String::new(), String::new())];
        while pages.len() < 3 {
            let (run, page) = pages.last_mut().unwrap();
            match text.next().await.unwrap().unwrap() {
                Spoken::Text {
                    run: of,
                    delta: TextDelta::Piece(piece),
                } => {
                    *run = of;
                    page.push_str(&piece);
                }
                Spoken::Text {
                    delta: TextDelta::Reset,
                    ..
                } => page.clear(),
                Spoken::Over { run: of } => {
                    assert_eq!(of, *run);
                    pages.push(Default::default());
                }
            }
        }
        pages.pop();
        let expected = [
            (first.id(), "The first one."),
            (second.id(), "The second one."),
        ];
        assert_eq!(
            pages,
            expected.map(|(run, page)| (run.to_owned(), page.to_owned()))
        );

        // A reader that comes in the middle of an answer.
        model.permits.forget_permits(100);
        let third = chat.send("three").streamed().start().await.unwrap();
        model.permits.add_permits(2);
        let mut text = Box::pin(place.client().await.conversation("acme", "42").text());
        let mut page = String::new();
        while page != "The second " {
            match text.next().await.unwrap().unwrap() {
                Spoken::Text {
                    run,
                    delta: TextDelta::Piece(piece),
                } => {
                    assert_eq!(run, third.id());
                    page.push_str(&piece);
                }
                other => panic!("{other:?}"),
            }
        }
        model.permits.add_permits(100);
        done(&third).await;
    })
    .await;
}

/// Returns `true` if the events are the same, apart from pieces of text and from requests that come again.
fn whole(events: &[Event]) -> Vec<u64> {
    let mut numbers: Vec<u64> = Vec::new();
    for event in events {
        let is_text = matches!(event.kind, EventKind::Text(_) | EventKind::Thinking(_));
        let comes_again =
            matches!(event.kind, EventKind::ModelRequested { .. }) && numbers.contains(&event.seq);
        if !is_text && !comes_again {
            numbers.push(event.seq);
        }
    }
    numbers
}

#[tokio::test]
async fn a_stream_that_is_cut_and_resumed_anywhere_gives_every_event_once() {
    each(async |place| {
        let model = Writer::new(
            &[
                "Let me look. [look]",
                "Once more. [look]",
                "It is dark in there.",
            ],
            100,
        );
        let (runtime, writer) = writer_on(place, &model, LEASE).await;
        let run = writer.run("?").streamed().start().await.unwrap();
        let client = place.client().await;
        let live = async |with_text: bool, most: u64| {
            let (mut read, mut seed) = (Vec::<Event>::new(), most);
            loop {
                let after = read.last().map_or(0, |event| event.seq);
                let events = client.events(run.id()).after(after);
                let events = match with_text {
                    true => events.with_text(),
                    false => events,
                };
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let piece = events
                    .stream()
                    .take(1 + (seed >> 33) as usize % most as usize);
                let before = read.len();
                read.extend(piece.map(Result::unwrap).collect::<Vec<_>>().await);
                let is_over = |event: &Event| matches!(event.kind, EventKind::RunEnded { .. });
                if read.last().is_some_and(is_over) || read.len() == before {
                    return read;
                }
            }
        };
        let _worker = Worker::start(&runtime);
        let (plain, with_text) = tokio::join!(live(false, 3), live(true, 9));
        let all: Vec<_> = run.events().stream().map(Result::unwrap).collect().await;
        let numbers: Vec<_> = (1..=all.len() as u64).collect();
        assert_eq!(whole(&all), numbers);
        assert_eq!(
            plain.iter().map(|event| event.seq).collect::<Vec<_>>(),
            numbers
        );
        assert_eq!(whole(&with_text), numbers);

        // At every number, with and without text.
        let kinds = |events: &[Event]| -> Vec<_> {
            events
                .iter()
                .map(|event| (event.seq, format!("{:?}", event.kind)))
                .collect()
        };
        for cut in 0..=all.len() {
            let after = cut as u64;
            let rest: Vec<_> = run
                .events()
                .after(after)
                .stream()
                .map(Result::unwrap)
                .collect()
                .await;
            assert_eq!(kinds(&rest), kinds(&all[cut..]), "behind {cut}");
            let with_text = run.events().after(after).with_text().stream();
            let with_text: Vec<_> = with_text.map(Result::unwrap).collect().await;
            let again: Vec<_> = whole(&with_text)
                .into_iter()
                .filter(|seq| *seq > after)
                .collect();
            assert_eq!(again, numbers[cut..], "behind {cut}");
            assert!(with_text.iter().all(|event| event.seq > after
                || matches!(
                    event.kind,
                    EventKind::ModelRequested { .. } | EventKind::Text(_)
                )));
        }
    })
    .await;
}

#[tokio::test]
async fn text_of_a_call_comes_before_its_reply_and_behind_its_request() {
    each(async |place| {
        let model = Writer::new(&["Let me look. [look]", "It is dark in there."], 100);
        let (runtime, writer) = writer_on(place, &model, LEASE).await;
        let run = writer.run("?").streamed().start().await.unwrap();
        let _worker = Worker::start(&runtime);
        done(&run).await;
        let events = run.events().with_text().stream().map(Result::unwrap);
        let events: Vec<_> = events.collect().await;
        let mut words = String::new();
        for event in &events {
            match &event.kind {
                EventKind::ModelRequested { turn, .. } => words.push_str(&format!("<{turn}>")),
                EventKind::Text(piece) => words.push_str(piece),
                EventKind::ModelReplied { .. } => words.push('|'),
                _ => {}
            }
        }
        assert_eq!(words, "<1>Let me look.|<2>It is dark in there.|");
    })
    .await;
}
