//! Prompts that an async function writes: once for a conversation, within the run, and stored with it.

use crate::world::put_down_after;
use agents::{
    Agent, AgentBuilder, Error, ErrorKind, agent,
    journal::MemoryJournal,
    run::{Budget, RunContext},
    testing::{Script, ScriptedModel},
    tool,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

/// Looks around.
#[tool(none)]
async fn look() -> &'static str {
    "dark"
}

struct Desk {
    asked: Arc<AtomicU32>,
}

#[agent(prompt = || self.instructions(), tools = [Look], description = "Answers guests.")]
impl Desk {
    async fn answer(&self, question: String) -> String;

    async fn instructions(&self) -> Result<String, Error> {
        tokio::task::yield_now().await;
        let nth = self.asked.fetch_add(1, Relaxed) + 1;
        let cx = RunContext::current().expect("it is called within the run");
        let tenant = cx.scope().tenant_id();
        Ok(format!("You answer guests of {tenant}. Reading {nth}."))
    }
}

#[tokio::test]
async fn a_prompt_is_written_once_a_conversation_and_stored_with_the_run() {
    let asked = Arc::new(AtomicU32::new(0));
    let desk = Desk {
        asked: asked.clone(),
    };
    let script = || [Script::call("look", "{}"), Script::text("It is dark.")];
    let (model, handle) = ScriptedModel::new(script());
    let journal = MemoryJournal::new();
    let run = desk.run("Is it dark?").scope("acme").model(model);
    assert_eq!(run.journal(journal.clone()).await.unwrap(), "It is dark.");
    assert_eq!(asked.load(Relaxed), 1, "neither profile nor turn calls it");
    let prompt = "You answer guests of acme. Reading 1.";
    for request in handle.requests() {
        assert_eq!(request.prompt(), prompt);
    }

    // A run that goes on has the prompt that was stored.
    let [first, second] = script();
    for stored in [
        (put_down_after(&journal, "said", 1), vec![first, second]),
        (
            put_down_after(&journal, "settled", 1),
            vec![Script::text("It is dark.")],
        ),
    ] {
        let (put_down, script) = stored;
        let (model, handle) = ScriptedModel::new(script);
        let run = desk.run("Is it dark?").scope("acme").model(model);
        assert_eq!(
            run.journal(put_down.journal()).await.unwrap(),
            "It is dark."
        );
        assert_eq!(asked.load(Relaxed), 1);
        assert_eq!(handle.requests()[0].prompt(), prompt);
    }
    // Another run has a new one.
    let (model, handle) = ScriptedModel::new([Script::text("Yes.")]);
    desk.run("Is it dark?")
        .scope("zeta")
        .model(model)
        .await
        .unwrap();
    assert_eq!(
        handle.requests()[0].prompt(),
        "You answer guests of zeta. Reading 2."
    );
}

#[tokio::test]
async fn an_error_a_panic_and_the_time_limit_end_the_work_before_the_model_is_asked() {
    let (model, handle) = ScriptedModel::new([]);
    let fails = AgentBuilder::<String, String>::new("desk")
        .prompt(|| async { Err::<String, _>(Error::new(ErrorKind::Failed, "no hours today")) })
        .model(model.clone())
        .build();
    let error = fails.run("?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(
        format!("{error:#}").contains("the prompt of agent `desk`")
            && format!("{error:#}").contains("no hours today"),
        "{error:#}"
    );

    let panics = AgentBuilder::<String, String>::new("desk")
        .prompt(|| async {
            match std::hint::black_box(true) {
                true => panic!("out of ink"),
                false => "never",
            }
        })
        .model(model.clone())
        .build();
    let error = panics.run("?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(format!("{error:#}").contains("out of ink"), "{error:#}");

    let hangs = AgentBuilder::<String, String>::new("desk")
        .prompt(std::future::pending::<String>)
        .budget(Budget::new().time(Duration::from_millis(20)))
        .model(model)
        .build();
    let error = hangs.run("?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert_eq!(handle.count(), 0);
}
