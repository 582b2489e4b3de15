//! Runs whose process ends, and the guarantees of their journals.

use agents::{
    Agent, AgentBuilder, Code, Effects, ErrorKind, Outcome, ToolContext,
    agent::ModelAgent,
    async_trait,
    journal::{Entry, FileJournal, Journal, JournalError, Key, MemoryJournal},
    policy::{confirm_writes, read_only},
    recovery::*,
    run::{Approval, ApprovalRequest, Stopped, ToolEnvelope, hours},
    testing::{Script, ScriptedModel},
    tool::{Approval as Asks, FnTool, InDoubt, ToolSpec, done, not_done},
};
use serde_json::{Value, json};
use std::{
    fs, io,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Arguments with which a tool has run.
type Ran = Arc<Mutex<Vec<String>>>;

fn spec(effects: Effects) -> ToolSpec {
    let schema =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    ToolSpec::new("pay", "Pays.", effects, schema)
}

fn pay(ran: &Ran, spec: ToolSpec) -> FnTool {
    let ran = ran.clone();
    FnTool::with_spec(spec, move |args: Value, cx: ToolContext| {
        let line = format!("{} {}", cx.idempotency_key(), args["sum"]);
        ran.lock().unwrap().push(line);
        async { Ok::<_, io::Error>("paid") }
    })
}

fn clerk(pay: FnTool) -> ModelAgent<'static, String, String> {
    AgentBuilder::<String, String>::new("clerk")
        .prompt("Pay.")
        .tool(pay)
        .build()
}

fn pays(times: usize) -> Vec<Script> {
    let calls = (1..=times).map(|sum| Script::call("pay", json!({ "sum": sum }).to_string()));
    calls.chain([Script::text("done")]).collect()
}

async fn yes(_: ApprovalRequest) -> Approval {
    Approval::Approve
}

/// The journal up to and with the nth entry of this kind, from 1.
fn up_to(journal: &MemoryJournal, kind: &str, nth: usize) -> MemoryJournal {
    let entries = journal.entries();
    let mut of_kind = entries.iter().filter(|entry| entry.kind() == kind);
    let last = of_kind.nth(nth - 1).expect("there are so many").seq() as usize;
    MemoryJournal::of(entries[..last].to_vec())
}

fn model(scripts: Vec<Script>) -> ScriptedModel {
    ScriptedModel::new(scripts).0
}

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
async fn an_intent_that_cannot_be_stored_has_no_effect() {
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

#[tokio::test]
async fn a_yes_is_stored_with_what_it_was_said_to() {
    let (ran, journal, asked) = (
        Ran::default(),
        MemoryJournal::new(),
        Arc::new(AtomicU32::new(0)),
    );
    let tool = || pay(&ran, spec(Effects::Writes).approval(Asks::Always));
    let person = |asked: &Arc<AtomicU32>| {
        let asked = asked.clone();
        move |_: ApprovalRequest| {
            asked.fetch_add(1, SeqCst);
            async { Approval::Approve.by("ada") }
        }
    };
    let agent = clerk(tool());
    let run = agent
        .run("go")
        .model(model(pays(1)))
        .approver(person(&asked));
    run.journal(journal.clone()).await.unwrap();
    assert_eq!(asked.load(SeqCst), 1);

    // The process ended between the approval and the intent.
    let cut = up_to(&journal, "decided", 1);
    ran.lock().unwrap().clear();
    let rest = model(vec![Script::text("done")]);
    let run = agent
        .run("go")
        .model(rest)
        .approver(person(&asked))
        .journal(cut.clone());
    let outcome = run.outcome().await.unwrap();
    assert_eq!((asked.load(SeqCst), ran.lock().unwrap().len()), (1, 1));
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.attempts[0].approved_by.as_deref(), Some("ada"));
    let begun = cut
        .entries()
        .into_iter()
        .find(|entry| entry.kind() == "begun")
        .unwrap();
    assert!(
        begun.fact().contains(r#""approved_by":"ada""#),
        "{}",
        begun.fact()
    );
}

#[tokio::test]
async fn one_yes_is_for_each_attempt_with_the_same_arguments() {
    let (seen, journal) = (Ran::default(), MemoryJournal::new());
    let log = seen.clone();
    let spec = || spec(Effects::Writes).approval(Asks::Always);
    let shut = FnTool::with_spec(spec().idempotent(), move |_, cx: ToolContext| {
        let first = cx.attempt() == 1;
        log.lock().unwrap().push(cx.is_approved().to_string());
        async move {
            match first {
                true => Err(io::Error::other("the bank is shut")),
                false => Ok("paid"),
            }
        }
    });
    let again = AgentBuilder::<String, String>::new("clerk")
        .tool(shut)
        .on_error(|error, _| match error {
            CallError::Execution(_) => Some(retry::<Execution>().backoff(none()).into()),
            _ => None,
        })
        .build();
    let ada = |_: ApprovalRequest| async { Approval::Approve.by("ada") };
    let run = again.run("go").model(model(pays(1))).approver(ada);
    let outcome = run.journal(journal.clone()).outcome().await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["true", "true"]);
    approved_by_ada(&outcome, &journal);

    // What an interrupted execution has not done is approved as well.
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let tool = pay(&ran, spec()).in_doubt(|_, cx: ToolContext| async move {
        assert!(cx.is_approved());
        Ok::<_, io::Error>(not_done::<String>())
    });
    let agent = clerk(tool);
    let run = agent.run("go").model(model(pays(1))).approver(ada);
    run.journal(journal.clone()).await.unwrap();
    let cut = up_to(&journal, "begun", 1);
    let rest = model(vec![Script::text("done")]);
    let run = agent.run("go").model(rest).journal(cut.clone());
    let outcome = run.outcome().await.unwrap();
    assert_eq!(ran.lock().unwrap().len(), 2);
    approved_by_ada(&outcome, &cut);
}

/// Both attempts of the one call are approved by ada, on the receipt and in the intents.
fn approved_by_ada(outcome: &Outcome<String>, journal: &MemoryJournal) {
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert!(receipt.is_ok());
    let by = receipt
        .attempts
        .iter()
        .map(|one| one.approved_by.as_deref());
    assert_eq!(by.collect::<Vec<_>>(), [Some("ada"), Some("ada")]);
    // She was asked once, and took her time once.
    let took = receipt.attempts.iter().map(|one| one.approval_s.is_some());
    assert_eq!(took.collect::<Vec<_>>(), [true, false]);
    let entries = journal.entries();
    let begun = entries.iter().filter(|entry| entry.kind() == "begun");
    let signed = |entry: &Entry| entry.fact().contains(r#""approved_by":"ada""#);
    assert_eq!(begun.map(signed).collect::<Vec<_>>(), [true, true]);
}

#[tokio::test]
async fn a_stricter_rule_holds_for_a_call_that_was_ready_to_run() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone())
        .await
        .unwrap();
    ran.lock().unwrap().clear();
    let cut = up_to(&journal, "read", 1);
    let rest = model(vec![Script::text("so be it")]);
    let no = |_: ApprovalRequest| async { Approval::deny("not today") };
    let run = agent
        .run("go")
        .model(rest)
        .policy(confirm_writes())
        .approver(no)
        .journal(cut);
    let outcome = run.outcome().await.unwrap();
    assert!(ran.lock().unwrap().is_empty());
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(
        receipt.error.as_ref().unwrap().message,
        "not approved: not today"
    );
}

#[tokio::test]
async fn a_policy_is_known_by_its_name_and_not_by_their_number() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let run = agent.run("go").model(model(pays(1))).policy(read_only());
    run.journal(journal.clone()).await.unwrap();
    let cut = up_to(&journal, "replied", 1);
    let run = agent
        .run("go")
        .policy(confirm_writes())
        .journal(cut.clone());
    assert_eq!(
        run.await.unwrap_err().to_string(),
        "the stored run had the policy `read_only`, and this one has not; give it again with `.policy(..)`"
    );
    let rest = model(vec![Script::text("done")]);
    let run = agent
        .run("go")
        .model(rest)
        .policy(read_only())
        .policy(confirm_writes());
    run.journal(cut).await.unwrap();
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_stored_call_goes_on_with_the_version_of_the_tool_that_it_was_made_of() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone())
        .await
        .unwrap();
    let next = clerk(pay(&ran, spec(Effects::Writes).version("2.0.0")));
    let cut = up_to(&journal, "read", 1);
    let error = next
        .run("go")
        .model(model(vec![]))
        .journal(cut)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `clerk`: a stored call of `pay` is not settled; it was made of version 1.0.0, and now there is version 2.0.0"
    );
    assert_eq!(ran.lock().unwrap().len(), 1);

    // Another version may be used if no call is open.
    let cut = up_to(&journal, "settled", 1);
    let rest = model(vec![Script::text("done")]);
    next.run("go").model(rest).journal(cut).await.unwrap();
}

#[tokio::test]
async fn time_that_was_used_before_counts() {
    let slow = FnTool::new(
        "wait",
        "Waits.",
        Effects::Reads,
        json!({"type": "object"}),
        |_, _| async {
            tokio::time::sleep(Duration::from_millis(80)).await;
            Ok::<_, io::Error>("waited")
        },
    );
    let agent = AgentBuilder::<String, String>::new("waiter")
        .tool(slow)
        .build();
    let script = || {
        vec![
            Script::call("wait", "{}"),
            Script::call("wait", "{}"),
            Script::text("done"),
        ]
    };
    let budget = || agents::Budget::new().time(Duration::from_millis(220));
    let journal = MemoryJournal::new();
    let run = agent.run("go").model(model(script())).budget(budget());
    run.journal(journal.clone()).await.unwrap();
    // Three processes that each work for 80 ms and end before the second call does.
    let mut cut = up_to(&journal, "ended", 1);
    let mut waits = 0;
    let error = loop {
        let run = agent
            .run("go")
            .model(model((0..9).map(|_| Script::call("wait", "{}")).collect()));
        let run = run.budget(budget()).journal(cut.clone());
        match tokio::time::timeout(Duration::from_millis(120), run).await {
            Ok(result) => break result.unwrap_err(),
            Err(_) => {
                waits += 1;
                assert!(waits < 5, "it works for longer than it may");
                // The drop is stored a moment later.
                tokio::time::sleep(Duration::from_millis(20)).await;
                cut = MemoryJournal::of(cut.entries());
            }
        }
    };
    assert_eq!(error.kind(), ErrorKind::Budget);
}

#[tokio::test]
async fn a_secret_in_stored_arguments_is_a_reference_and_comes_back() {
    let (seen, journal) = (Ran::default(), MemoryJournal::new());
    let keep = seen.clone();
    let schema = json!({"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]});
    let login = FnTool::new(
        "login",
        "Logs in.",
        Effects::Reads,
        schema,
        move |args: Value, _| {
            keep.lock()
                .unwrap()
                .push(args["password"].as_str().unwrap().to_owned());
            async { Ok::<_, io::Error>("in") }
        },
    );
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(login)
        .build();
    let says = Script::call("login", r#"{"password": "hunter2 \"quoted\""}"#);
    let run = agent
        .run("go")
        .model(model(vec![says, Script::text("done")]));
    let run = run.secret("crm", "hunter2 \"quoted\"".to_owned());
    run.journal(journal.clone()).await.unwrap();
    let entries = journal.entries();
    assert!(entries.iter().any(|entry| entry.kind() == "read"));
    for entry in entries {
        assert!(!entry.fact().contains("hunter2"), "{}", entry.fact());
    }

    let again = |journal: &MemoryJournal| up_to(journal, "read", 1);
    let rest = || model(vec![Script::text("done")]);
    let run = agent
        .run("go")
        .model(rest())
        .secret("crm", "hunter2 \"quoted\"".to_owned());
    run.journal(again(&journal)).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        ["hunter2 \"quoted\"", "hunter2 \"quoted\""]
    );

    let run = agent.run("go").model(rest()).journal(again(&journal));
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::AuthRequired);
    assert_eq!(
        seen.lock().unwrap().len(),
        2,
        "it does not run with another value"
    );
}

#[tokio::test]
async fn a_cancelled_run_begins_no_tool() {
    let (ran, token) = (Ran::default(), CancellationToken::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let cancel = token.clone();
    let run = agent.run("go").model(model(pays(1))).cancel(token);
    let run = run.on_event(move |event| {
        if matches!(event.kind, agents::run::EventKind::CallStarted { .. }) {
            cancel.cancel();
        }
    });
    assert_eq!(run.await.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_run_of_its_own_in_a_tool_is_stored_with_the_run_around_it() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let inner = Arc::new(clerk(pay(
        &ran,
        spec(Effects::Writes).approval(Asks::Always),
    )));
    let office = FnTool::new(
        "office",
        "Pays there.",
        Effects::Reads,
        json!({"type": "object"}),
        move |_, _| {
            let inner = inner.clone();
            async move {
                let outcome = inner.run("inside").scope("acme").outcome().await.unwrap();
                outcome
                    .result
                    .map_err(|error| io::Error::other(error.to_string()))
            }
        },
    );
    let agent = AgentBuilder::<String, String>::new("boss")
        .tool(office)
        .build();
    let script = || {
        vec![
            Script::call("office", "{}"),
            Script::call("pay", r#"{"sum": 1}"#),
            Script::text("inside is done"),
            Script::text("all is done"),
        ]
    };
    let run = agent
        .run("go")
        .model(model(script()))
        .approver(yes)
        .journal(journal.clone());
    assert_eq!(run.await.unwrap(), "all is done");
    assert_eq!(
        ran.lock().unwrap().len(),
        1,
        "the approver of the run around decides"
    );

    // The process ended after the inner run had paid; the resumed run does not pay again.
    let cut = up_to(&journal, "ended", 1);
    let rest = model(script().into_iter().skip(2).collect());
    let run = agent.run("go").model(rest).approver(yes).journal(cut);
    assert_eq!(run.await.unwrap(), "all is done");
    assert_eq!(ran.lock().unwrap().len(), 1);
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

/// A file that is deleted at the end of the test.
struct Path(PathBuf);

impl Path {
    fn new(name: &str) -> Path {
        let name = format!("agents-stored-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&path);
        Path(path)
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const KEY: &[u8; 24] = b"nobody else knows of it.";

async fn in_file(path: &Path, times: usize) -> (Ran, ModelAgent<'static, String, String>) {
    let ran = Ran::default();
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    agent
        .run("go")
        .model(model(pays(times)))
        .journal(journal)
        .await
        .unwrap();
    (ran, agent)
}

#[tokio::test]
async fn a_line_that_breaks_off_is_cut_off_and_reported() {
    let path = Path::new("torn");
    in_file(&path, 3).await;
    let whole = fs::read(&path.0).unwrap();
    let lines: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    for end in [
        lines[1] + 1,
        lines[1] + 40,
        lines[2] - 1,
        lines[2] + 1,
        lines[3] + 9,
    ] {
        fs::write(&path.0, &whole[..end]).unwrap();
        let (ran, rest) = (Ran::default(), pays(3));
        let agent = clerk(pay(&ran, spec(Effects::Writes)));
        let journal = FileJournal::open(&path.0, KEY).unwrap();
        let kept = whole[..end]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap()
            + 1;
        assert_eq!(journal.cut(), (end - kept) as u64);
        let run = agent
            .run("go")
            .model(model(rest))
            .approver(yes)
            .journal(journal);
        run.await.unwrap();
        FileJournal::open(&path.0, KEY).expect("it is whole again");
    }
}

#[tokio::test]
async fn whatever_is_altered_removed_or_moved_is_refused_and_named() {
    let path = Path::new("altered");
    let (_, agent) = in_file(&path, 3).await;
    let whole = fs::read_to_string(&path.0).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let refused = |text: String, named: &str| {
        fs::write(&path.0, text).unwrap();
        let error = FileJournal::open(&path.0, KEY).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    };
    let sum = r#"\"sum\":2"#;
    let at = lines.iter().position(|line| line.contains(sum)).unwrap() + 1;
    let named = format!("line {at} was altered");
    refused(whole.replacen(sum, r#"\"sum\":9"#, 1), &named);
    refused(
        [lines[0], lines[2], lines[3]].concat(),
        "line 2 was altered, or lines before it are missing",
    );
    refused(
        [lines[0], lines[1], lines[3], lines[2]].concat(),
        "line 3 was altered",
    );
    refused(
        [lines[0], lines[1], lines[1], lines[2]].concat(),
        "line 3 was altered",
    );
    fs::write(&path.0, &whole).unwrap();
    let error = FileJournal::open(&path.0, b"another key, of somebody else").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 1 was altered, or the journal has another key")
    );
    let error = FileJournal::open(&path.0, Key::none()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the journal was written with a key; open it with that key")
    );
    // Without a key, anybody can write a matching digest; an entry that cannot follow is refused all the same.
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    let mut entries = journal.entries();
    entries.remove(3);
    let run = agent.run("go").journal(MemoryJournal::of(entries));
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert!(
        error.to_string().contains("entry 4 has the number 5"),
        "{error}"
    );
}

#[tokio::test]
async fn a_line_has_one_spelling() {
    let path = Path::new("spelling");
    in_file(&path, 1).await;
    let whole = fs::read_to_string(&path.0).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines.len() > 1, "{whole}");
    for at in 0..lines.len() {
        let line = lines[at];
        let inside = line.strip_suffix('}').unwrap();
        for other in [
            format!(r#"{inside},"approved":true}}"#),
            format!(r#"{{"note":"paid",{}"#, &line[1..]),
            format!("{line} "),
            format!(" {line}"),
            line.replacen(':', ": ", 1),
        ] {
            let mut changed: Vec<&str> = lines.clone();
            changed[at] = &other;
            fs::write(&path.0, changed.join("\n") + "\n").unwrap();
            let error = FileJournal::open(&path.0, KEY).unwrap_err().to_string();
            let named = format!("line {} was altered", at + 1);
            assert!(error.contains(&named), "{other}: {error}");
        }
    }
    fs::write(&path.0, &whole).unwrap();
    FileJournal::open(&path.0, KEY).unwrap();
}

/// The digest of a text that anybody can compute.
fn plain(text: &str) -> String {
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A short secret is kept as a reference: nothing beside it may tell whether a guess at it is right.
#[tokio::test]
async fn what_arguments_are_known_by_tells_nothing_of_them() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes).idempotent()));
    let run = agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone());
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap();
    let begun = journal
        .entries()
        .into_iter()
        .find(|entry| entry.kind() == "begun");
    let begun = begun.unwrap();
    let guess = plain(r#"{"sum":1}"#);
    assert!(!begun.fact().contains(&guess), "{}", begun.fact());
    assert!(
        !begun.fact().contains(&*receipt.call_id),
        "{}",
        begun.fact()
    );

    // Another run has other keys for the same; the same run has the same, in any process.
    let cut = up_to(&journal, "begun", 1);
    let run = agent
        .run("go")
        .model(model(vec![Script::text("done")]))
        .journal(cut);
    run.await.unwrap();
    let other = agent
        .run("go")
        .model(model(pays(1)))
        .journal(MemoryJournal::new());
    other.await.unwrap();
    let ran = ran.lock().unwrap();
    let key = |nth: usize| ran[nth].split([':', ' ']).nth(1).unwrap();
    assert_eq!(key(0), key(1));
    assert_ne!(key(0), key(2));
}

/// A run that was stored before its calls had keys of the run keeps the keys by which services know them.
#[tokio::test]
async fn a_run_that_was_stored_without_a_key_keeps_the_keys_of_its_calls() {
    let (ran, journal) = (Ran::default(), MemoryJournal::new());
    let agent = clerk(pay(&ran, spec(Effects::Writes).idempotent()));
    let run = agent
        .run("go")
        .model(model(pays(1)))
        .journal(journal.clone());
    let outcome = run.outcome().await.unwrap();
    let mut entries = up_to(&journal, "begun", 1).entries();
    let first = serde_json::to_string(&entries[0]).unwrap();
    let (before, after) = first.split_once(r#""key":""#).expect("the run has a key");
    let (_, after) = after.split_once(r#"","#).unwrap();
    entries[0] = serde_json::from_str(&format!("{before}{after}")).unwrap();
    let rest = model(vec![Script::text("done")]);
    let run = agent
        .run("go")
        .model(rest)
        .journal(MemoryJournal::of(entries));
    run.await.unwrap();
    let call_id = &outcome.outputs.receipts().next().unwrap().call_id;
    let expected = format!("{}:{call_id} 1", outcome.run_id);
    assert_eq!(ran.lock().unwrap()[1], expected);
}

/// An output has its secret as arguments have: by a reference, so that whoever undoes the call has the value.
#[tokio::test]
async fn a_secret_in_an_output_is_stored_as_a_reference_and_shown_by_its_name() {
    let secret = "hunter2 \"quoted\"";
    let schema = json!({"type": "object"});
    let log_in = FnTool::new(
        "log_in",
        "Logs in.",
        Effects::Reads,
        schema,
        move |_, _| async move {
            Ok::<_, io::Error>(json!({ "session": format!("s-{secret}"), "n": 1 }))
        },
    );
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(log_in)
        .build();
    let journal = MemoryJournal::new();
    let says = || vec![Script::call("log_in", "{}"), Script::text("done")];
    let run = agent
        .run("go")
        .model(model(says()))
        .secret("crm", secret.to_owned());
    let whole = run.journal(journal.clone()).outcome().await.unwrap();
    let shown = r#"{"session":"s-[secret:crm]","n":1}"#;
    let output = |outcome: &agents::Outcome<String>| {
        let receipt = outcome.outputs.receipts().next().unwrap();
        receipt.output.as_ref().unwrap().to_string()
    };
    let order = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(order(&output(&whole)), order(shown));
    let entries = journal.entries();
    let ended = entries
        .iter()
        .find(|entry| entry.kind() == "ended")
        .unwrap();
    assert!(
        ended.fact().contains("s-\u{e000}1[secret:crm]\u{e001}"),
        "{}",
        ended.fact()
    );
    assert!(
        entries
            .iter()
            .all(|entry| !entry.fact().contains("hunter2"))
    );

    for secrets in [Some(secret), None] {
        let (rest, handle) = ScriptedModel::new([Script::text("done")]);
        let run = agent
            .run("go")
            .model(rest)
            .journal(up_to(&journal, "ended", 1));
        let run = match secrets {
            Some(secret) => run.secret("crm", secret.to_owned()),
            None => run,
        };
        let outcome = run.outcome().await.unwrap();
        assert_eq!(order(&output(&outcome)), order(shown), "{secrets:?}");
        let told = handle.requests()[0].last().to_owned();
        assert_eq!(order(&told), order(shown), "{secrets:?}");
    }
}

#[tokio::test]
async fn one_process_at_a_time_has_a_journal() {
    let path = Path::new("in-use");
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    let error = FileJournal::open(&path.0, KEY).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(error.to_string().contains("open already"));
    drop(journal);
    FileJournal::open(&path.0, KEY).unwrap();
}

#[test]
fn what_is_no_journal_is_called_by_its_name() {
    let path = Path::new("other");
    for (text, named) in [
        (
            r#"{"version":2,"agent":"a","run_id":"x","input":1,"root":{}}"#,
            "this is a snapshot, which earlier versions stored (format 2)",
        ),
        (
            "{\"tape\":{\"format\":5,\"run_id\":\"x\"}}\n",
            "this is a recording, which earlier versions wrote",
        ),
        (
            "{\"agents_journal\":9,\"keyed\":false,\"digest\":\"\"}\n",
            "the journal has format 9; this version reads format 1",
        ),
        ("Dear diary\n", "this is no journal"),
    ] {
        fs::write(&path.0, text).unwrap();
        let error = FileJournal::open(&path.0, Key::none()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(
            fs::read_to_string(&path.0).unwrap(),
            text,
            "it is left alone"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_journal_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let path = Path::new("private");
    FileJournal::open(&path.0, KEY).unwrap();
    let mode = fs::metadata(&path.0).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_panic_whose_payload_panics_too_is_a_failure_of_the_call() {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("and again");
            }
        }
    }

    let bomb = FnTool::new(
        "bomb",
        "Goes off.",
        Effects::None,
        json!({"type": "object"}),
        |_, _| async {
            if true {
                std::panic::panic_any(Bomb)
            } else {
                Ok::<_, io::Error>(())
            }
        },
    );
    let agent = AgentBuilder::<String, String>::new("clerk")
        .tool(bomb)
        .build();
    let script = vec![Script::call("bomb", "{}"), Script::text("it went off")];
    let outcome = agent
        .run("go")
        .model(model(script))
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.result.unwrap(), "it went off");
    let receipt = outcome.outputs.receipts().next().unwrap();
    let error = receipt.error.as_ref().unwrap();
    assert_eq!(error.message, "it panicked: it did not say why");
}

#[tokio::test]
async fn a_run_that_is_dropped_gives_up_no_call_and_goes_on() {
    let runs = Arc::new(tokio::sync::Notify::new());
    let waits = |first: bool| {
        let runs = runs.clone();
        FnTool::with_spec(spec(Effects::Reads), move |_, _| {
            let runs = runs.clone();
            async move {
                runs.notify_one();
                match first {
                    true => std::future::pending().await,
                    false => Ok::<_, std::io::Error>("paid"),
                }
            }
        })
    };
    let team = |first: bool, script: Vec<Script>| {
        let boss = AgentBuilder::<String, String>::new("boss").model(model(script));
        agents::team::Member::new(boss.build())
            .delegate(
                AgentBuilder::<String, String>::new("clerk")
                    .tool(waits(first))
                    .build(),
            )
            .build()
    };
    let script = vec![
        Script::call("clerk", r#"{"input": "go"}"#),
        Script::call("pay", r#"{"sum": 1}"#),
    ];
    let journal = MemoryJournal::new();
    let agent = team(true, script);
    let run = agent.run("go").journal(journal.clone());
    tokio::select! {
        outcome = run.into_future() => panic!("{outcome:?}"),
        () = runs.notified() => {}
    }
    // A separate task stores the rest.
    let begun = || {
        journal
            .entries()
            .last()
            .is_some_and(|one| one.kind() == "begun")
    };
    for _ in 0..1000 {
        if begun() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let kinds: Vec<_> = journal
        .entries()
        .iter()
        .map(|one| one.kind().to_owned())
        .collect();
    assert_eq!(kinds.last().unwrap(), "begun", "{kinds:?}");

    let rest = vec![Script::text("it is paid"), Script::text("done")];
    let agent = team(false, rest);
    let outcome = agent.run("go").journal(journal).outcome().await.unwrap();
    assert_eq!(outcome.result.unwrap(), "done");
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    assert_eq!(receipts.len(), 2, "{receipts:?}");
    assert!(receipts.iter().all(|receipt| receipt.is_ok()));
}
