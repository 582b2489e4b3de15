//! Chats whose worker is killed in the middle of a text.

use crate::{
    chat_frontends::{Stream, ag_ui, chat, messages, parts},
    house::House,
    room::folder,
};
use agents::{
    AgentBuilder, async_trait,
    model::{Delta, Model, ModelError, Reply, Request},
};
use agents_runtime::{Roles, Runtime, SqliteStore};
use agents_server::ControlRoom;
use serde_json::json;
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Begin of the story, which a worker writes before it hangs.
const BEGIN: &str = "Once upon ";
/// The whole story, which another worker writes.
const STORY: &str = "Once upon a time.";
/// Variable by which the process of a worker is told its folder, and whether it hangs.
const CHILD: &str = "AGENTS_TEST_NOVELIST";

/// Model that tells a story, and may hang in the middle of it.
struct Novelist {
    hangs: bool,
}

#[async_trait]
impl Model for Novelist {
    fn id(&self) -> &str {
        "novelist"
    }

    async fn chat(&self, request: Request<'_>) -> Result<Reply, ModelError> {
        if let Some(sink) = request.sink() {
            sink(Delta::Thinking("A tale."));
            sink(Delta::Text(BEGIN));
            if self.hangs {
                std::future::pending::<()>().await;
            }
            sink(Delta::Text(&STORY[BEGIN.len()..]));
        }
        Ok(Reply {
            content: STORY.into(),
            ..Reply::default()
        })
    }
}

async fn runtime(folder: &Path) -> Runtime {
    let store = SqliteStore::open(folder.join("room.db")).await.unwrap();
    Runtime::open(store)
        .roles(Roles::new())
        .lease(Duration::from_millis(400))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that another test kills"]
async fn a_novelist_in_a_process_of_its_own() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let (hangs, folder) = child.split_once('|').unwrap();
    let model = Novelist {
        hangs: hangs == "hangs",
    };
    let runtime = runtime(Path::new(folder)).await.model(model);
    runtime.agent(AgentBuilder::<String, String>::new("novelist").build());
    runtime.work(CancellationToken::new()).await;
}

/// Worker in a process of its own, which is killed when this value goes.
struct Worker(Child);

impl Worker {
    fn start(folder: &Path, how: &str) -> Worker {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "killed_chats::a_novelist_in_a_process_of_its_own",
            ])
            .env(CHILD, format!("{how}|{}", folder.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Worker(child.unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // On Unix, with SIGKILL.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_text_whose_worker_is_killed_is_told_again_by_another_worker_and_stands_once() {
    let folder = folder("killed-chats");
    // The server does no work of its own.
    let runtime = runtime(&folder).await;
    let room = ControlRoom::of(runtime.as_client()).agent("novelist");
    let house = House::with(runtime, room);
    let who = "acme/ada";
    let (sdk, ag) = ("/api/ui/novelist/chat", "/api/ui/novelist/ag-ui");
    let words = json!([{"id": "m1", "role": "user", "content": "A story."}]);

    let first = Worker::start(&folder, "hangs");
    let mut chat_stream = Stream::post(&house, who, sdk, &chat("c1", "m1", "A story.")).await;
    let mut run_stream = Stream::post(&house, who, ag, &ag_ui("t1", &words)).await;
    let begun = chat_stream.until("text-delta").await;
    assert_eq!(begun["delta"], BEGIN);
    let begun = run_stream.until("TEXT_MESSAGE_CONTENT").await;
    assert_eq!(begun["delta"], BEGIN);
    drop(first);
    let second = Worker::start(&folder, "writes");

    let expected = [
        ("reasoning", "A tale.", false),
        ("text", BEGIN, true),
        ("reasoning", "A tale.", false),
        ("text", STORY, false),
    ];
    let expected = expected
        .map(|(what, text, is_superseded)| (what.to_owned(), text.to_owned(), is_superseded));
    let heard = chat_stream.rest().await;
    assert_eq!(parts(&heard), expected, "{heard:#?}");
    let heard = run_stream.rest().await;
    assert_eq!(messages(&heard), expected, "{heard:#?}");

    // Whoever comes later is told the answer once.
    let said = house.get(who, &format!("{sdk}/c1")).await.json();
    let text = |at: usize| said[at]["parts"][0]["text"].clone();
    assert_eq!((text(0), text(1)), (json!("A story."), json!(STORY)));
    assert_eq!(said.as_array().unwrap().len(), 2, "{said}");
    let again = Stream::post(&house, who, sdk, &chat("c1", "m1", "A story.")).await;
    let again = parts(&again.rest().await);
    let answers: Vec<_> = again
        .iter()
        .filter(|(what, _, old)| what == "text" && !old)
        .collect();
    assert_eq!(answers.len(), 1, "{again:?}");
    assert_eq!(answers[0].1, STORY);
    drop(second);
    drop(house);
    let _ = fs::remove_dir_all(&folder);
}
