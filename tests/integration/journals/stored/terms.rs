//! Terms under which a stored run goes on: approvals, rules, versions of tools, time.

use super::*;

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
        "a stored call of `pay` is not settled; it was made of version 1.0.0, and now there is version 2.0.0"
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
