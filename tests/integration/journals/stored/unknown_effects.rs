//! Executions whose effect a stored run does not know.

use super::*;

#[tokio::test]
async fn a_write_that_was_under_way_is_not_done_again_and_the_model_is_told() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    agent
        .run("go")
        .model(model(pays(2)))
        .journal(journal.clone())
        .await
        .unwrap();
    assert_eq!(ran.lock().unwrap().len(), 2);

    let cut = up_to(&journal, "begun", 2);
    let (rest, handle) = ScriptedModel::new([Script::text("I shall ask")]);
    let outcome = agent
        .run("go")
        .model(rest)
        .journal(cut)
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "I shall ask");
    assert_eq!(ran.lock().unwrap().len(), 2, "it does not run");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert!(receipts[1].attempts[0].effect_unknown);
    let told = format!("{:?}", handle.requests()[0].messages.last().unwrap());
    assert!(
        told.contains("the process ended while it ran, and whether it took effect is not known: find that out before calling it again"),
        "{told}"
    );
}

#[tokio::test]
async fn after_a_doubt_a_person_is_asked_about_each_further_call() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone())
        .await
        .unwrap();
    let again = || vec![Script::call("pay", r#"{"sum": 9}"#), Script::text("done")];

    let cut = up_to(&journal, "begun", 1);
    let run = agent.run("go").model(model(again())).journal(cut);
    let outcome = run.outcome().await.unwrap();
    let last = outcome.outputs.receipts().last().unwrap();
    assert_eq!(
        last.error.as_ref().unwrap().code,
        Code::PolicyDenied,
        "nobody is there to ask"
    );
    assert_eq!(ran.lock().unwrap().len(), 1);

    let cut = up_to(&journal, "begun", 1);
    let run = agent
        .run("go")
        .model(model(again()))
        .approver(yes)
        .journal(cut);
    run.await.unwrap();
    assert_eq!(ran.lock().unwrap().len(), 2);
}

/// The attempts that the intents in a journal name.
fn intents(journal: &MemoryJournal) -> Vec<u64> {
    let entries = journal.entries();
    let begun = entries.iter().filter(|entry| entry.kind() == "begun");
    let attempt = |entry: &Entry| {
        let fact: Value = serde_json::from_str(entry.fact()).unwrap();
        fact["call"]["fact"]["begun"]["intent"]["attempt"].as_u64()
    };
    begun.map(|entry| attempt(entry).unwrap()).collect()
}

/// Returns the number of each execution, and `true` if its effect is unknown.
fn attempts(receipt: &ToolEnvelope) -> Vec<(u32, bool)> {
    let attempts = receipt.attempts.iter();
    attempts
        .map(|one| (one.number, one.effect_unknown))
        .collect()
}

#[tokio::test]
async fn what_is_idempotent_is_repeated_with_its_key_and_at_most_three_times() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes).idempotent()));
    agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone())
        .await
        .unwrap();
    let mut cut = up_to(&journal, "begun", 1);
    for interrupted in 1..=3 {
        let rest = vec![Script::text("done")];
        let outcome = agent
            .run("go")
            .model(model(rest))
            .journal(cut.clone())
            .outcome()
            .await
            .unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap().clone();
        let lines = ran.lock().unwrap().clone();
        assert!(!lines.is_empty());
        assert!(
            lines.iter().all(|line| *line == lines[0]),
            "the same key: {lines:?}"
        );
        // Each execution has its number, in the journal before it runs and on the receipt.
        let told = attempts(&receipt);
        match interrupted {
            1 => assert_eq!(told, [(1, true), (2, false)]),
            2 => assert_eq!(told, [(1, true), (2, true), (3, false)]),
            _ => assert_eq!(told, [(1, true), (2, true), (3, true)]),
        }
        assert_eq!(
            (receipt.is_ok(), lines.len()),
            (interrupted < 3, 3.min(interrupted + 1))
        );
        let numbers: Vec<_> = (1..=lines.len() as u64).collect();
        assert_eq!(intents(&cut), numbers);
        if interrupted < 3 {
            cut = up_to(&cut, "begun", interrupted + 1);
        }
    }
}

/// An agent whose tool is idempotent and always fails, and that tries `most` times.
fn tries(ran: &Ran, most: u32) -> ModelAgent<'static, String, String> {
    let ran = ran.clone();
    let pay = FnTool::with_spec(
        spec(Effects::Writes).idempotent(),
        move |_, cx: ToolContext| {
            ran.lock().unwrap().push(cx.attempt().to_string());
            async { Err::<u32, _>(io::Error::other("the bank is shut")) }
        },
    );
    AgentBuilder::<String, String>::new("clerk")
        .tool(pay)
        .on_error(move |error, _| match error {
            CallError::Execution(_) => Some(
                retry::<Execution>()
                    .max_attempts(most)
                    .backoff(none())
                    .into(),
            ),
            _ => None,
        })
        .build()
}

#[tokio::test]
async fn interruptions_and_retries_together_are_no_more_than_a_retry_allows() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = tries(&ran, 2);
    let run = agent.run("go").model(model(pays(1)));
    run.journal(journal.clone()).await.unwrap();
    assert_eq!(*ran.lock().unwrap(), ["1", "2"]);
    for (begun, runs, told) in [
        // The first was interrupted: there is one more.
        (1, vec!["2"], [(1, true), (2, false)]),
        // The second was, and there is none.
        (2, vec![], [(1, false), (2, true)]),
    ] {
        ran.lock().unwrap().clear();
        let rest = model(vec![Script::text("done")]);
        let run = agent.run("go").model(rest);
        let run = run.journal(up_to(&journal, "begun", begun));
        let outcome = run.outcome().await.unwrap();
        assert_eq!(*ran.lock().unwrap(), runs);
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(attempts(receipt), told);
    }
}

/// The journal, as if it had been written so long ago.
fn ago(journal: &MemoryJournal, time: Duration) -> MemoryJournal {
    let entries = journal.entries().into_iter().map(|entry| {
        let mut entry = serde_json::to_value(entry).unwrap();
        let at = entry[1].as_u64().unwrap();
        entry[1] = json!(at - time.as_millis() as u64);
        serde_json::from_value(entry).unwrap()
    });
    MemoryJournal::of(entries.collect())
}

#[tokio::test]
async fn what_is_idempotent_for_a_time_is_repeated_within_it_alone() {
    let (ran, asked, journal) = (Ran::default(), Ran::default(), MemoryJournal::new());
    let spec = || spec(Effects::Writes).idempotent_for(hours(24));
    let agent = clerk(pay(&ran, spec()));
    let run = agent.run("go").model(model(pays(1)));
    run.journal(journal.clone()).await.unwrap();
    let cut = up_to(&journal, "begun", 1);
    for (passed, told) in [
        (hours(23), vec![(1, true), (2, false)]),
        (hours(25), vec![(1, true)]),
    ] {
        let rest = model(vec![Script::text("done")]);
        let run = agent.run("go").model(rest).journal(ago(&cut, passed));
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(attempts(receipt), told);
        assert_eq!(receipt.is_ok(), told.len() > 1);
    }
    assert_eq!(ran.lock().unwrap().len(), 2);

    // Later, whoever can find out what became of it is asked.
    let asks = asked.clone();
    let agent = clerk(pay(&ran, spec()).in_doubt(move |_, cx: ToolContext| {
        asks.lock().unwrap().push(cx.idempotency_key());
        async { Ok::<_, io::Error>(done("paid then")) }
    }));
    for (passed, output) in [(hours(23), "paid"), (hours(25), "paid then")] {
        let rest = model(vec![Script::text("done")]);
        let run = agent.run("go").model(rest).journal(ago(&cut, passed));
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        assert_eq!(
            receipt.output.as_ref().unwrap().to::<String>().unwrap(),
            output
        );
    }
    assert_eq!(
        (ran.lock().unwrap().len(), asked.lock().unwrap().len()),
        (3, 1)
    );
}

/// A tool that says of each interrupted execution that it had no effect.
fn forgets(ran: &Ran, asked: &Ran) -> FnTool {
    let asked = asked.clone();
    pay(ran, spec(Effects::Writes)).in_doubt(move |_, cx: ToolContext| {
        asked.lock().unwrap().push(cx.idempotency_key());
        async { Ok::<_, io::Error>(not_done::<String>()) }
    })
}

#[tokio::test]
async fn a_tool_that_ends_its_process_is_in_doubt_after_three_times_whatever_it_says() {
    let (ran, asked, journal) = (Ran::default(), Ran::default(), MemoryJournal::new());
    let agent = clerk(forgets(&ran, &asked));
    let run = agent.run("go").model(model(pays(1)));
    run.journal(journal.clone()).await.unwrap();
    let mut cut = up_to(&journal, "begun", 1);
    for interrupted in 1..=3 {
        let rest = model(vec![Script::text("done")]);
        let run = agent.run("go").model(rest).journal(cut.clone());
        let outcome = run.outcome().await.unwrap();
        let receipt = outcome.outputs.receipts().next().unwrap();
        match interrupted {
            1 => assert_eq!(attempts(receipt), [(1, false), (2, false)]),
            2 => assert_eq!(attempts(receipt), [(1, false), (2, false), (3, false)]),
            _ => assert_eq!(attempts(receipt), [(1, false), (2, false), (3, true)]),
        }
        assert_eq!(receipt.is_ok(), interrupted < 3);
        if interrupted < 3 {
            cut = up_to(&cut, "begun", interrupted + 1);
        }
    }
    assert_eq!(
        (ran.lock().unwrap().len(), asked.lock().unwrap().len()),
        (3, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_about_a_doubt_that_ends_its_process_is_asked_twice() {
    let (ran, asked, journal) = (Ran::default(), Ran::default(), MemoryJournal::new());
    let asks = asked.clone();
    let agent = clerk(
        pay(&ran, spec(Effects::Writes)).in_doubt(move |_, _: ToolContext| {
            asks.lock().unwrap().push(String::new());
            std::future::pending::<Result<InDoubt<String>, io::Error>>()
        }),
    );
    let run = agent.run("go").model(model(pays(1)));
    run.journal(journal.clone()).await.unwrap();
    let mut cut = up_to(&journal, "begun", 1);
    let outcome = loop {
        let rest = model(vec![Script::text("done")]);
        let run = agent.run("go").model(rest).journal(cut.clone()).outcome();
        // Before the time of the question is over.
        match tokio::time::timeout(Duration::from_secs(1), run).await {
            Ok(outcome) => break outcome.unwrap(),
            Err(_) => assert!(asked.lock().unwrap().len() < 5, "it is asked for ever"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        cut = MemoryJournal::of(cut.entries());
    };
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(attempts(receipt), [(1, true)]);
    assert_eq!(
        (ran.lock().unwrap().len(), asked.lock().unwrap().len()),
        (1, 2)
    );
}

#[tokio::test]
async fn s5_4_an_intent_that_cannot_be_stored_has_no_effect() {
    /// A journal that fails at the first intent.
    struct Full;

    #[async_trait]
    impl Journal for Full {
        async fn read(&self) -> Result<Vec<Entry>, JournalError> {
            Ok(Vec::new())
        }

        async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
            match entries.iter().any(|entry| entry.kind() == "begun") {
                true => Err(JournalError::new("no space left")),
                false => Ok(()),
            }
        }
    }

    let ran = Ran::default();
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let outcome = agent
        .run("go")
        .model(model(pays(1)))
        .journal(Full)
        .outcome()
        .await
        .unwrap();
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert_eq!(
        error.to_string(),
        "the journal cannot be written: no space left"
    );
    assert!(matches!(outcome.stopped, Some(Stopped::Journal { .. })));
    assert!(ran.lock().unwrap().is_empty());
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(attempts(receipt), []);
}

#[tokio::test]
async fn a_tool_that_the_end_of_the_run_kept_from_starting_had_no_effect() {
    /// A journal that cancels the run while it stores an intent.
    struct Slow(CancellationToken);

    #[async_trait]
    impl Journal for Slow {
        async fn read(&self) -> Result<Vec<Entry>, JournalError> {
            Ok(Vec::new())
        }

        async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
            if entries.iter().any(|entry| entry.kind() == "begun") {
                self.0.cancel();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        }
    }

    let (ran, cancel) = (Ran::default(), CancellationToken::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let run = agent
        .run("go")
        .model(model(pays(1)))
        .cancel(cancel.clone())
        .journal(Slow(cancel));
    let outcome = run.outcome().await.unwrap();
    assert!(matches!(outcome.stopped, Some(Stopped::Cancelled)));
    assert!(ran.lock().unwrap().is_empty());
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(attempts(receipt), []);
    let said = receipt.error.as_ref().unwrap().message.clone();
    assert!(!said.contains("effect"), "{said}");
}

/// An agent that pays, and whose office pays in a run of its own.
fn boss(ran: &Ran) -> ModelAgent<'static, String, String> {
    let inner = Arc::new(clerk(pay(ran, spec(Effects::Writes))));
    let schema = json!({"type": "object"});
    let office = FnTool::new(
        "office",
        "Pays there.",
        Effects::Reads,
        schema,
        move |_, _| {
            let inner = inner.clone();
            async move {
                let outcome = inner.run("inside").scope("acme").outcome().await;
                outcome
                    .unwrap()
                    .result
                    .map_err(|error| io::Error::other(error.to_string()))
            }
        },
    );
    AgentBuilder::<String, String>::new("boss")
        .tool(office)
        .tool(pay(ran, spec(Effects::Writes)))
        .build()
}

/// Goes on with nobody there to ask; the codes of the calls that failed.
async fn alone(ran: &Ran, script: Vec<Script>, cut: MemoryJournal) -> Vec<Code> {
    let agent = boss(ran);
    let run = agent.run("go").model(model(script)).journal(cut);
    let outcome = run.outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "all is done");
    let errors = outcome
        .outputs
        .receipts()
        .filter_map(|one| one.error.clone());
    errors.map(|error| error.code).collect()
}

#[tokio::test]
async fn a_doubt_counts_in_the_runs_within() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let pays = |sum: u32| Script::call("pay", json!({ "sum": sum }).to_string());
    let script = vec![pays(1), Script::text("all is done")];
    let run = boss(&ran);
    let run = run.run("go").model(model(script));
    run.journal(journal.clone()).await.unwrap();
    let rest = vec![
        Script::call("office", "{}"),
        pays(2),
        Script::text("inside is done"),
        Script::text("all is done"),
    ];
    let cut = up_to(&journal, "begun", 1);
    let failed = alone(&ran, rest, cut.clone()).await;
    assert_eq!(ran.lock().unwrap().len(), 1, "nobody was asked");
    assert_eq!(failed, [Code::Unknown], "of the call itself");
    let denied = |entry: &Entry| entry.fact().contains("the run has no approver");
    assert!(cut.entries().iter().any(denied));
}

#[tokio::test]
async fn a_doubt_in_a_run_within_counts_around_it() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let pays = |sum: u32| Script::call("pay", json!({ "sum": sum }).to_string());
    let script = vec![
        Script::call("office", "{}"),
        pays(1),
        Script::text("inside is done"),
        Script::text("all is done"),
    ];
    let agent = boss(&ran);
    let run = agent.run("go").model(model(script));
    run.journal(journal.clone()).await.unwrap();
    // The first is that of the office.
    let cut = up_to(&journal, "begun", 2);
    let rest = vec![
        Script::text("inside I shall ask"),
        pays(9),
        Script::text("all is done"),
    ];
    assert_eq!(alone(&ran, rest, cut.clone()).await, [Code::PolicyDenied]);
    assert_eq!(ran.lock().unwrap().len(), 1);

    // In another process as well, where the run within is over.
    let cut = up_to(&cut, "settled", 2);
    let rest = vec![pays(9), Script::text("all is done")];
    assert_eq!(alone(&ran, rest, cut).await, [Code::PolicyDenied]);
    assert_eq!(ran.lock().unwrap().len(), 1);
}
