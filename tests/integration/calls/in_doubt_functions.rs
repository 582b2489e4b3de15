//! The function `in_doubt` of a tool, which inquires about an interrupted execution, in both spellings.

use crate::observation::recovery_steps::Lines;
use agents::{
    in_doubt,
    journal::MemoryJournal,
    prelude::*,
    run::ToolEnvelope,
    testing::{Script, ScriptedModel},
    tool,
};
use agents_needs::watched_by;
use std::{
    fmt,
    sync::{Arc, Mutex},
};

const UNKNOWN: &str = "whether it took effect is not known";

/// A change of a lead, as the CRM has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct StatusChange {
    lead: u64,
    status: String,
}

/// The CRM cannot be reached. It is no `std::error::Error`.
#[derive(Debug)]
struct CrmError(&'static str);

impl fmt::Display for CrmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The CRM's report on the interrupted execution.
#[derive(Clone, Copy, Debug)]
enum Says {
    ItWas,
    ItWasNot,
    Nothing,
    Away,
}

/// A CRM that records the keys of its writes and of its inquiries.
#[derive(Clone)]
struct Crm {
    says: Says,
    written: Arc<Mutex<Vec<String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Crm {
    fn new(says: Says) -> Crm {
        Crm {
            says,
            written: Arc::default(),
            asked: Arc::default(),
        }
    }

    async fn set(&self, lead: u64, status: &str, key: String) -> Result<StatusChange, CrmError> {
        tokio::task::yield_now().await;
        self.written.lock().unwrap().push(key);
        let status = status.to_owned();
        Ok(StatusChange { lead, status })
    }

    async fn find(&self, lead: u64, key: String) -> Result<Option<StatusChange>, CrmError> {
        tokio::task::yield_now().await;
        self.asked.lock().unwrap().push(key);
        let status = "as found".to_owned();
        match self.says {
            Says::ItWas => Ok(Some(StatusChange { lead, status })),
            Says::ItWasNot | Says::Nothing => Ok(None),
            Says::Away => Err(CrmError("the CRM is away")),
        }
    }

    fn written(&self) -> Vec<String> {
        self.written.lock().unwrap().clone()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

tool! {
    /// Moves a lead to another status.
    #[tool(writes)]
    async fn update_lead_status(
        /// Id of the lead.
        lead_id: u64,
        /// Its new status.
        new_status: String,
        #[inject] crm: Crm,
        cx: &ToolContext,
    ) -> Result<StatusChange, CrmError> {
        crm.set(lead_id, &new_status, cx.idempotency_key()).await
    }

    in_doubt(key) => match crm.find(lead_id, key).await? {
        Some(change) => done(change),
        None if matches!(crm.says, Says::Nothing) => unknown(),
        None => not_done(),
    },

    on_error { execution_error(Returned(e)) => throw(e.to_string()) }
}

/// Moves a lead to another status.
#[tool(writes)]
async fn set_status(
    /// Id of the lead.
    lead_id: u64,
    /// Its new status.
    new_status: String,
    #[inject] crm: &Crm,
    call: &ToolContext,
) -> Result<StatusChange, CrmError> {
    crm.set(lead_id, &new_status, call.idempotency_key()).await
}

in_doubt!(SetStatus, |key| {
    assert_eq!(key, cx.idempotency_key());
    let Some(change) = self.crm.find(args.lead_id, key).await? else {
        return match self.crm.says {
            Says::Nothing => unknown(),
            _ => not_done(),
        };
    };
    done(change)
});

tool! {
    /// Moves a lead to another status, and returns a text.
    #[tool(writes)]
    async fn say_status(
        /// Id of the lead; the macro uses the name `args` as well.
        args: u64,
        /// Its new status.
        #[serde(rename = "self")]
        cx: Option<String>,
        #[inject] crm: &Crm,
        context: &ToolContext,
    ) -> String {
        let status = cx.unwrap_or_default();
        let change = crm.set(args, &status, context.idempotency_key()).await;
        change.map_or_else(|error| error.to_string(), |change| change.status)
    }

    in_doubt(key) => {
        // Errors of several types, none of them the tool's error type.
        let _: u32 = "7".parse()?;
        if matches!(crm.says, Says::Away) {
            Err(anyhow::anyhow!("nobody at home"))?;
        }
        let lead: Result<_, Box<dyn std::error::Error + Send + Sync>> = Ok(args);
        let found = crm.find(lead?, key).await?;
        match (found, cx) {
            (Some(change), None) => done(format!("{} of {}", change.status, context.tool())),
            (None, _) if matches!(crm.says, Says::ItWasNot) => not_done(),
            _ => unknown(),
        }
    }
}

/// Result of a run that was resumed after its process ended during a call.
struct Resumed {
    receipt: ToolEnvelope,
    /// Result of the call as the model got it.
    told: String,
    /// Idempotency key of the interrupted execution.
    key: String,
}

/// Runs a tool, drops all journal entries after the start of its execution, and resumes. Changes that were made before
/// are not in `crm`.
async fn resumed<T: Tool + Clone>(tool: impl Fn(Crm) -> T, arguments: &str, crm: &Crm) -> Resumed {
    let clerk = |tool: T, script: Vec<Script>| {
        let (model, handle) = ScriptedModel::new(script);
        let clerk = AgentBuilder::<String, String>::new("clerk");
        (clerk.tool(tool).model(model).build(), handle)
    };
    let before = Crm::new(Says::ItWas);
    let tool_name = tool(before.clone()).spec().name.to_string();
    let first = Script::call(&tool_name, arguments);
    let (agent, _) = clerk(tool(before.clone()), vec![first, Script::text("moved")]);
    let journal = MemoryJournal::new();
    agent.run("Go.").journal(journal.clone()).await.unwrap();
    assert!(before.asked().is_empty(), "nothing was in doubt");

    let entries = journal.entries();
    let begun = entries.iter().position(|entry| entry.kind() == "begun");
    let cut = MemoryJournal::of(entries[..=begun.unwrap()].to_vec());
    let (agent, handle) = clerk(tool(crm.clone()), vec![Script::text("moved")]);
    let outcome = agent.run("Go.").journal(cut).outcome().await.unwrap();
    assert_eq!(outcome.result.as_ref().unwrap(), "moved");
    let receipt = outcome.outputs.receipts().next().unwrap().clone();
    Resumed {
        receipt,
        told: handle.requests()[0].last().to_owned(),
        key: before.written().remove(0),
    }
}

const ARGUMENTS: &str = r#"{"lead_id": 7, "new_status": "won"}"#;

/// Runs a check with both spellings of the tool, on a resumed run each.
macro_rules! both {
    ($says:expr, |$resumed:ident, $crm:ident| $check:block) => {{
        let $crm = Crm::new($says);
        let $resumed = resumed(|crm| UpdateLeadStatus { crm }, ARGUMENTS, &$crm).await;
        $check
        let $crm = Crm::new($says);
        let $resumed = resumed(|crm| SetStatus { crm }, ARGUMENTS, &$crm).await;
        $check
    }};
}

tool! {
    /// Pays, with a key that the bank knows for a day.
    #[tool(writes, idempotent(for = hours(24)))]
    async fn pay_once(
        /// Amount to pay.
        amount: u32,
        #[inject] crm: Crm,
    ) -> u32 {
        let _ = crm;
        amount
    }

    in_doubt(key) => match crm.find(1, key).await? {
        Some(_) => done(amount),
        None => unknown(),
    },
}

#[test]
fn what_is_idempotent_for_a_time_may_be_asked_afterwards() {
    let tool = PayOnce {
        crm: Crm::new(Says::ItWas),
    };
    let spec = tool.spec();
    assert!(spec.idempotent);
    assert_eq!(spec.idempotent_for, Some(hours(24)));
}

#[tokio::test]
async fn what_was_done_is_the_output_of_the_call() {
    both!(Says::ItWas, |resumed, crm| {
        assert!(crm.written().is_empty(), "it did not run");
        assert_eq!(crm.asked(), [resumed.key]);
        assert!(resumed.receipt.is_ok());
        let output = resumed.receipt.output.unwrap();
        assert_eq!(output.as_str(), r#"{"lead":7,"status":"as found"}"#);
        assert!(resumed.told.contains("as found"), "{}", resumed.told);
    });
}

#[tokio::test]
async fn what_was_not_done_runs_again_with_the_same_key() {
    both!(Says::ItWasNot, |resumed, crm| {
        assert_eq!(crm.asked(), [&*resumed.key]);
        assert_eq!(crm.written(), [resumed.key]);
        let output = resumed.receipt.output.unwrap();
        assert_eq!(output.as_str(), r#"{"lead":7,"status":"won"}"#);
        assert!(!resumed.told.contains(UNKNOWN), "{}", resumed.told);
    });
}

#[tokio::test]
async fn what_cannot_be_told_may_have_taken_effect() {
    for says in [Says::Nothing, Says::Away] {
        both!(says, |resumed, crm| {
            assert!(crm.written().is_empty(), "{says:?}: it did not run");
            assert_eq!(crm.asked(), [resumed.key]);
            assert!(!resumed.receipt.is_ok());
            assert!(resumed.told.contains(UNKNOWN), "{}", resumed.told);
            // An error of `in_doubt` is not reported as the tool's error.
            assert!(!resumed.told.contains("away"), "{}", resumed.told);
        });
    }
}

#[tokio::test]
async fn names_of_the_macro_are_names_of_parameters_too() {
    let found = |says| async move {
        let crm = Crm::new(says);
        let tool = |crm| SayStatus { crm };
        let resumed = resumed(tool, r#"{"args": 7}"#, &crm).await;
        (resumed, crm.written().len())
    };
    let (resumed, writes) = found(Says::ItWas).await;
    let output = resumed.receipt.output.unwrap();
    assert_eq!(
        (output.as_str(), writes),
        (r#""as found of say_status""#, 0)
    );
    let (resumed, writes) = found(Says::ItWasNot).await;
    assert_eq!((resumed.receipt.is_ok(), writes), (true, 1));
    let (resumed, writes) = found(Says::Away).await;
    assert_eq!((resumed.receipt.is_ok(), writes), (false, 0));
    assert!(resumed.told.contains(UNKNOWN), "{}", resumed.told);
}

#[tokio::test]
async fn an_error_is_in_the_log_without_the_secrets_of_the_run() {
    tool! {
        /// Pays.
        #[tool(writes)]
        async fn pay(cx: &ToolContext) -> Result<u32, String> {
            let _ = cx;
            Ok(3)
        }

        in_doubt(_) => {
            let secret = cx.secret("bank").await?;
            Err(format!("{} is no longer valid", secret.expose_secret()))?
        }
    }

    let clerk = |script: Vec<Script>| {
        let (model, _) = ScriptedModel::new(script);
        let clerk = AgentBuilder::<String, String>::new("clerk");
        clerk.tool(Pay).model(model).build()
    };
    let journal = MemoryJournal::new();
    let agent = clerk(vec![Script::call("pay", "{}"), Script::text("paid")]);
    let run = agent.run("Go.").secret("bank", "hunter2-hunter2");
    run.journal(journal.clone()).await.unwrap();
    let entries = journal.entries();
    let begun = entries.iter().position(|entry| entry.kind() == "begun");
    let cut = MemoryJournal::of(entries[..=begun.unwrap()].to_vec());

    let lines = Lines::default();
    let _guard = watched_by(lines.clone());
    let agent = clerk(vec![Script::text("paid")]);
    let run = agent.run("Go.").secret("bank", "hunter2-hunter2");
    run.journal(cut).await.unwrap();
    assert_eq!(
        lines.of("it cannot be found out whether the interrupted execution took effect"),
        [
            "it cannot be found out whether the interrupted execution took effect; tool=pay error=[secret:bank] is no longer valid"
        ]
    );
}
