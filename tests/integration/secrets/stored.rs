//! References to secrets in journals: whose they are, and which version.

use agents::{
    Agent, AgentBuilder, Code, Effects, Error,
    agent::ModelAgent,
    journal::MemoryJournal,
    secret::{SecretStore, SecretValue},
    testing::{Script, ScriptedModel},
    tool::{FnTool, Scope},
};
use serde_json::{Value, json};
use std::{
    io,
    sync::{Arc, Mutex},
};

/// Passwords with which the tool `log_in` has run.
type Used = Arc<Mutex<Vec<String>>>;

/// Returns an agent with a tool that looks its secret up, and one that takes it as an argument.
fn clerk(used: &Used) -> ModelAgent<'static, String, String> {
    let nothing = json!({"type": "object"});
    let open = FnTool::new(
        "open",
        "Opens.",
        Effects::Reads,
        nothing,
        |_, cx| async move {
            let version = cx.secret("crm").await?.version().map(str::to_owned);
            Ok::<_, agents::secret::SecretError>(version)
        },
    );
    let used = used.clone();
    let schema = json!({"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]});
    let log_in = FnTool::new(
        "log_in",
        "Logs in.",
        Effects::Reads,
        schema,
        move |args: Value, _| {
            let password = args["password"].as_str().unwrap().to_owned();
            used.lock().unwrap().push(password);
            async { Ok::<_, io::Error>("in") }
        },
    );
    AgentBuilder::<String, String>::new("clerk")
        .tool(open)
        .tool(log_in)
        .build()
}

/// Goes on with a run whose call was read and not yet executed. Returns the code of its error.
async fn resumed(
    agent: &ModelAgent<'static, String, String>,
    journal: &MemoryJournal,
    secrets: SecretStore,
) -> Result<Option<(Code, String)>, Error> {
    let entries = journal.entries();
    let mut read = entries.iter().enumerate();
    let read = read
        .rfind(|(_, entry)| entry.kind() == "read")
        .map(|(at, _)| at);
    let journal = MemoryJournal::of(entries[..=read.unwrap()].to_vec());
    let (model, _) = ScriptedModel::new([Script::text("done")]);
    let run = agent
        .run("go")
        .model(model)
        .scope(Scope::from("acme").user("ada"));
    let outcome = run.secrets(secrets).journal(journal).outcome().await?;
    let receipt = outcome.outputs.receipts().last().unwrap();
    Ok(receipt
        .error
        .as_ref()
        .map(|error| (error.code, error.message.clone())))
}

#[tokio::test]
async fn a_run_goes_on_with_the_secret_of_the_same_scope_and_version_or_with_none()
-> Result<(), Error> {
    let used = Used::default();
    let agent = clerk(&used);
    let old = || SecretValue::new("hunter/2").version("1");
    let secrets = SecretStore::new().user("acme", "ada", "crm", old());
    let (model, _) = ScriptedModel::new([
        Script::call("open", "{}"),
        Script::call("log_in", r#"{"password": "hunter/2"}"#),
        Script::text("done"),
    ]);
    let journal = MemoryJournal::new();
    let run = agent
        .run("go")
        .model(model)
        .scope(Scope::from("acme").user("ada"));
    let run = run.secrets(secrets.clone()).journal(journal.clone());
    let outcome = run.outcome().await?;
    let opened = outcome.outputs.receipts().next().unwrap();
    assert_eq!(opened.output.as_ref().unwrap().as_str(), r#""1""#);
    let mut facts = journal.entries().into_iter();
    assert!(!facts.any(|entry| entry.fact().contains("hunter")));

    assert_eq!(resumed(&agent, &journal, secrets.clone()).await?, None);
    // The earlier version is still known.
    let new = || SecretValue::new("hunter/3").version("2");
    let both = secrets.user("acme", "ada", "crm", new());
    assert_eq!(resumed(&agent, &journal, both).await?, None);
    assert_eq!(*used.lock().unwrap(), ["hunter/2"; 3]);

    let renewed = SecretStore::new().user("acme", "ada", "crm", new());
    // The secret of another scope is another secret, even if it has the same value.
    let of_org = SecretStore::new().org("acme", "crm", old());
    for secrets in [renewed, of_org, SecretStore::new()] {
        let (code, message) = resumed(&agent, &journal, secrets).await?.unwrap();
        assert_eq!(code, Code::AuthRequired);
        assert!(
            message.contains("the secret `crm` of the user (version `1`)"),
            "{message}"
        );
    }
    assert_eq!(used.lock().unwrap().len(), 3, "no other value was used");
    Ok(())
}
