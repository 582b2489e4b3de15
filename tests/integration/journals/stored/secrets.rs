//! Secrets in stored facts.

use super::*;

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
        ended.fact().contains("s-\u{e000}1|run|crm\u{e001}"),
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
