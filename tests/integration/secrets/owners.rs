//! Owners of secrets: user, then workspace, then organisation; and missing secrets.

use crate::world::scripted_agent;
use agents::{
    Agent, AgentBuilder, Code, ErrorKind, Outcome, ToolContext,
    run::EventKind,
    secret::{SecretError, SecretOwner, SecretScope, SecretStore, SecretValue, Secrets, resolve},
    testing::{Script, ScriptedModel},
    tool,
    tool::Scope,
};
use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// Returns the owner of its key, and the key's length.
#[tool(reads)]
async fn whose_key(cx: &ToolContext) -> Result<(SecretScope, usize), SecretError> {
    let secret = cx.secret("crm").await?;
    Ok((secret.scope(), secret.expose_secret().len()))
}

/// Needs a key, and fails with an unrelated error type.
#[tool(reads)]
async fn by_the_way(cx: &ToolContext) -> io::Result<String> {
    let key = cx.secret("crm").await?;
    Ok(format!("{}", key.expose_secret().len()))
}

/// Fails with added context, as `anyhow` does.
#[tool(reads)]
async fn with_context(cx: &ToolContext) -> anyhow::Result<String> {
    use anyhow::Context;
    cx.secret("crm").await.context("asking the CRM")?;
    Ok("asked".to_owned())
}

/// Asks for an optional key.
#[tool(reads)]
async fn without(cx: &ToolContext) -> Result<String, String> {
    match cx.find_secret("crm").await? {
        Some(_) => Ok("with".into()),
        None => Err("the server is down".into()),
    }
}

fn full_scope() -> Scope {
    Scope::from("acme").domain("sales").user("ada")
}

/// Creates a store with the secret for these owners, and with all secrets for another tenant.
fn store(present: [bool; 3]) -> SecretStore {
    let mut store = SecretStore::new()
        .org("other", "crm", "of the other tenant")
        .workspace("other", "sales", "crm", "of the other tenant")
        .user("other", "ada", "crm", "of the other tenant");
    let [user, workspace, org] = present;
    if user {
        store = store.user("acme", "ada", "crm", "u".repeat(10));
    }
    if workspace {
        store = store.workspace("acme", "sales", "crm", "w".repeat(20));
    }
    if org {
        store = store.org("acme", "crm", "o".repeat(30));
    }
    store
}

type Events = Arc<Mutex<Vec<EventKind>>>;

async fn call(tool: &str, scope: Scope, secrets: impl Secrets) -> (Outcome<String>, Events) {
    let agent = scripted_agent("clerk", [Script::call(tool, "{}"), Script::text("done")])
        .tool(WhoseKey)
        .tool(ByTheWay)
        .tool(WithContext)
        .tool(Without)
        .on_error(|error, _| match error {
            agents::recovery::CallError::Execution(_) => {
                let again: agents::recovery::Decision<agents::recovery::Execution> =
                    agents::recovery::retry().max_attempts(3);
                Some(again.into())
            }
            _ => None,
        })
        .build();
    let events = Events::default();
    let seen = events.clone();
    let outcome = agent
        .run("go")
        .scope(scope)
        .secrets(secrets)
        .on_event(move |event| seen.lock().unwrap().push(event.kind.clone()))
        .outcome()
        .await
        .unwrap();
    (outcome, events)
}

#[tokio::test]
async fn k1_all_eight_presences() {
    for bits in 0..8 {
        let present = [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0];
        let (outcome, events) = call("whose_key", full_scope(), store(present)).await;
        let receipt = outcome.outputs.receipts().next().unwrap();
        let resolved = events.lock().unwrap().iter().find_map(|kind| match kind {
            EventKind::SecretLookup {
                name,
                scope: Some(scope),
                fallback,
                ..
            } => Some((name.clone(), *scope, *fallback)),
            _ => None,
        });
        let expected = match present {
            [true, ..] => Some((SecretScope::User, 10)),
            [_, true, _] => Some((SecretScope::Workspace, 20)),
            [.., true] => Some((SecretScope::Org, 30)),
            _ => None,
        };
        match expected {
            Some((scope, length)) => {
                let output: (SecretScope, usize) = receipt.output.as_ref().unwrap().to().unwrap();
                assert_eq!(output, (scope, length), "{present:?}");
                let fallback = scope == SecretScope::Org;
                assert_eq!(
                    resolved,
                    Some(("crm".into(), scope, fallback)),
                    "{present:?}"
                );
            }
            None => {
                let error = receipt.error.as_ref().unwrap();
                assert_eq!(error.code, Code::AuthRequired);
                assert_eq!(receipt.attempts.len(), 1, "it is never retried");
                assert_eq!(resolved, None);
                assert!(events.lock().unwrap().iter().any(|kind| matches!(
                    kind,
                    EventKind::SecretLookup { name, scope: None, reason: Some(_), .. } if name == "crm"
                )));
            }
        }
    }
}

#[tokio::test]
async fn k2_the_organisation_s_is_no_fallback_where_nobody_narrower_was_asked() {
    let store = store([true, true, true]);
    let found = resolve(&store, &Scope::from("acme"), "crm").await.unwrap();
    assert!(!found.unwrap().is_fallback());
    let found = resolve(&store, &Scope::from("nobody"), "crm").await;
    assert!(found.unwrap().is_none());
}

#[tokio::test]
async fn k2_the_code_survives_any_error_type() {
    for tool in ["by_the_way", "with_context"] {
        let (outcome, _) = call(tool, full_scope(), SecretStore::new()).await;
        let receipt = outcome.outputs.receipts().next().unwrap();
        let error = receipt.error.as_ref().unwrap();
        assert_eq!(error.code, Code::AuthRequired, "{tool}: {}", error.message);
        assert_eq!(receipt.attempts.len(), 1, "{tool}");
    }
    let (outcome, _) = call("without", full_scope(), SecretStore::new()).await;
    let receipt = outcome.outputs.receipts().next().unwrap();
    assert_eq!(receipt.error.as_ref().unwrap().code, Code::Unknown);
    assert_eq!(receipt.attempts.len(), 3, "that has nothing to do with it");
}

/// A vault whose first request for a user's secret fails.
struct Vault(Arc<AtomicU32>);

#[agents::async_trait]
impl Secrets for Vault {
    async fn find(
        &self,
        owner: &SecretOwner,
        name: &str,
    ) -> Result<Option<SecretValue>, SecretError> {
        match owner {
            SecretOwner::User { .. } if self.0.fetch_add(1, SeqCst) == 0 => {
                Err(SecretError::unavailable(name, "the vault is sealed"))
            }
            SecretOwner::User { .. } => Ok(None),
            _ => Ok(Some("a key for many".into())),
        }
    }
}

#[tokio::test]
async fn a_vault_that_does_not_answer_is_not_passed_over() {
    let asked = Arc::default();
    let (outcome, _) = call("by_the_way", full_scope(), Vault(Arc::clone(&asked))).await;
    let receipt = outcome.outputs.receipts().next().unwrap();
    let first = receipt.attempts[0].error.as_ref().unwrap();
    assert_eq!(first.code, Code::ProviderError);
    assert!(first.message.contains("the vault is sealed"), "{first:?}");
    assert_eq!(receipt.attempts.len(), 2, "that may be retried");
    assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""14""#);
}

#[tokio::test]
async fn a_secret_of_the_run_comes_first_and_is_there_in_runs_within_it() {
    let store = store([true, true, true]);
    let ask = tool::FnTool::new(
        "ask_clerk",
        "Asks.",
        agents::Effects::None,
        serde_json::json!({"type": "object"}),
        |_, _| async {
            let clerk = AgentBuilder::<String, String>::new("clerk")
                .tool(WhoseKey)
                .build();
            let outcome = clerk.run("go").strict().outcome().await?;
            Ok::<_, agents::Error>(outcome.outputs.last_tool.unwrap().output.clone())
        },
    );
    let script = [
        Script::call("ask_clerk", "{}"),
        Script::call("whose_key", "{}"),
        Script::text("told"),
        Script::text("done"),
    ];
    let boss = scripted_agent("boss", script).tool(ask).build();
    let outcome = boss
        .run("go")
        .scope(full_scope())
        .secrets(store)
        .secret("crm", "of this run alone".to_owned())
        .outcome()
        .await
        .unwrap();
    let said = outcome.outputs.last_tool.unwrap().output.clone().unwrap();
    assert_eq!(said.as_str(), r#"["run",17]"#);
}

#[tokio::test]
async fn what_cannot_be_masked_is_not_used() {
    let agent = AgentBuilder::<String, String>::new("clerk").build();
    let (model, handle) = ScriptedModel::new([Script::text("hi")]);
    let run = agent.run("go").model(model).secret("pin", "123".to_owned());
    let error = run.outcome().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Build);
    assert_eq!(
        error.to_string(),
        "the secret `pin` has 3 characters; fewer than 4 cannot be masked, so it is not used"
    );
    assert_eq!(handle.count(), 0);
}
