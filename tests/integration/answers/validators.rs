//! Validators of answers.

use agents::{
    Agent, AgentBuilder, Budget, ErrorKind,
    journal::MemoryJournal,
    recovery::{CallError, InvalidOutput, fix},
    run::{Limit, RunContext},
    testing::{Script, ScriptedModel},
    tool::ReadError,
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

type Counter = AgentBuilder<'static, String, u32>;

fn counter(answers: impl IntoIterator<Item = &'static str>) -> (Counter, ScriptedModel) {
    let (model, handle) = ScriptedModel::new(answers.into_iter().map(Script::text));
    (AgentBuilder::new("counter").model(model), handle)
}

fn even(number: u32) -> Result<(), String> {
    match number.is_multiple_of(2) {
        true => Ok(()),
        false => Err(format!("{number} is odd")),
    }
}

#[tokio::test]
async fn an_answer_is_refused_with_the_reason() {
    let (counter, handle) = counter(["7", "8"]);
    let counter = counter.validate(even).build();
    assert_eq!(counter.run("?").await.unwrap(), 8);
    let told = handle.requests()[1].last().to_owned();
    assert!(
        told.starts_with("Your answer cannot be used: 7 is odd. Answer again"),
        "{told}"
    );
}

#[tokio::test]
async fn a_validator_may_name_the_field_wait_and_run_agents() {
    let (counter, handle) = counter(["7", "8"]);
    let judge = Arc::new(
        AgentBuilder::<u32, bool>::new("judge")
            .model(ScriptedModel::new(["false", "true"].map(Script::text)).0)
            .build(),
    );
    let counter = counter
        .validate(move |number| {
            let judge = judge.clone();
            async move {
                tokio::task::yield_now().await;
                assert!(RunContext::current().is_some());
                match judge.run(number).await {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(ReadError::new("eggs", "too few")),
                    Err(error) => Err(ReadError::new("", error.to_string())),
                }
            }
        })
        .build();
    let outcome = counter.run("?").outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), 8);
    assert_eq!(outcome.usage.requests, 4, "the judge is a part of the run");
    assert!(
        handle.requests()[1]
            .last()
            .contains("field `eggs`: too few")
    );
}

#[tokio::test]
async fn a_text_is_not_told_to_be_json() {
    let (model, handle) = ScriptedModel::new(["damn", "oh"].map(Script::text));
    let poet = AgentBuilder::<String, String>::new("poet")
        .model(model)
        .validate(|text: String| match text.contains("damn") {
            true => Err("no swearing"),
            false => Ok(()),
        })
        .build();
    assert_eq!(poet.run("?").await.unwrap(), "oh");
    assert_eq!(
        handle.requests()[1].last(),
        "Your answer cannot be used: no swearing. Answer again."
    );
}

#[tokio::test]
async fn a_refusal_goes_to_the_arm_and_its_text_is_validated_too() {
    let (counter, handle) = counter(["7", "8"]);
    let fixes = AtomicU32::new(0);
    let counter = counter
        .validate(even)
        .on_error(move |error, _| match error {
            // The first text is odd as well.
            CallError::InvalidOutput(raw, _) => {
                assert_eq!(&**raw, "7");
                let text = if fixes.fetch_add(1, SeqCst) == 0 {
                    "9"
                } else {
                    "10"
                };
                Some(fix::<InvalidOutput>(text).into())
            }
            _ => None,
        })
        .build();
    assert_eq!(counter.run("?").await.unwrap(), 8);
    assert_eq!(
        handle.count(),
        2,
        "the text of the arm was refused, so the model answers again"
    );
}

#[tokio::test]
async fn a_number_of_answers_is_a_limit() {
    let (counter, handle) = counter(["1", "3", "5", "6"]);
    let counter = counter
        .validate(even)
        .budget(Budget::new().max_answers(3))
        .build();
    let outcome = counter.run("?").outcome().await.unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    let said = error.to_string();
    assert!(
        said.contains("5 is odd") && said.ends_with(&Limit::Answers(3).to_string()),
        "{said}"
    );
    assert_eq!(handle.count(), 3);
}

#[tokio::test]
async fn a_validator_that_panics_fails_the_agent() {
    let (counter, _) = counter(["7"]);
    let counter = counter
        .validate(|_| -> Result<(), String> { panic!("no idea") })
        .build();
    let error = counter.run("?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(
        error.to_string().contains("a validator of agent `counter`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_verdict_is_not_asked_for_again_when_a_run_goes_on() {
    let asked = Arc::new(AtomicU32::new(0));
    let run = |journal: MemoryJournal| {
        let asked = asked.clone();
        async move {
            let (model, _) =
                ScriptedModel::from_fn(|request| match request.last().contains("odd") {
                    true => Script::text("8"),
                    false => Script::text("7"),
                });
            let counter: Counter = AgentBuilder::new("counter").model(model);
            let counter = counter.validate(move |number| {
                asked.fetch_add(1, SeqCst);
                even(number)
            });
            counter
                .build()
                .run("?")
                .journal(journal)
                .outcome()
                .await
                .unwrap()
                .result
                .unwrap()
        }
    };
    let journal = MemoryJournal::new();
    assert_eq!(run(journal.clone()).await, 8);
    assert_eq!(asked.load(SeqCst), 2);
    let entries = journal.entries();
    let read = |end: usize| {
        entries[..end]
            .iter()
            .filter(|entry| entry.fact().contains("\"read\""))
            .count()
    };
    for end in 1..=entries.len() {
        asked.store(0, SeqCst);
        assert_eq!(run(MemoryJournal::of(entries[..end].to_vec())).await, 8);
        let left = 2 - read(end);
        assert_eq!(
            asked.load(SeqCst),
            u32::try_from(left).unwrap(),
            "after {end} entries"
        );
    }
}
