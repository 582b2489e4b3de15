//! Undoing calls: a run calls a tool, and another run calls the tool that undoes it.

use agents::{
    Effects, Json,
    journal::MemoryJournal,
    prelude::*,
    run::{Approval, ToolEnvelope},
    testing::{Script, ScriptedModel},
    tool,
    tool::{IntoTool, Risk, SharedTool, undo_tool},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

/// The CRM refuses. It is no `std::error::Error`.
#[derive(Debug)]
struct CrmError(&'static str);

impl fmt::Display for CrmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The status of a lead, and the version of its row.
#[derive(Clone)]
struct Row {
    status: String,
    version: u64,
}

/// The state of a lead before a change, and its version after the change.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct StatusChange {
    previous: String,
    version: u64,
}

#[derive(Clone, Default)]
struct Crm {
    leads: Arc<Mutex<BTreeMap<u64, Row>>>,
    is_away: Arc<Mutex<bool>>,
}

impl Crm {
    fn of(lead: u64, status: &str) -> Crm {
        let crm = Crm::default();
        let row = Row {
            status: status.to_owned(),
            version: 1,
        };
        crm.leads.lock().unwrap().insert(lead, row);
        crm
    }

    fn status(&self, lead: u64) -> (String, u64) {
        let row = self.leads.lock().unwrap()[&lead].clone();
        (row.status, row.version)
    }

    async fn set(&self, lead: u64, status: &str) -> Result<StatusChange, CrmError> {
        tokio::task::yield_now().await;
        if *self.is_away.lock().unwrap() {
            return Err(CrmError("the CRM is away"));
        }
        let mut leads = self.leads.lock().unwrap();
        let row = leads.get_mut(&lead).ok_or(CrmError("no such lead"))?;
        let previous = std::mem::replace(&mut row.status, status.to_owned());
        row.version += 1;
        Ok(StatusChange {
            previous,
            version: row.version,
        })
    }

    fn is_at(&self, lead: u64, version: u64) -> bool {
        self.leads.lock().unwrap()[&lead].version == version
    }
}

tool! {
    /// Moves a lead to another status.
    #[tool(writes, risk = high, approval = always, effect_description = "move lead {lead_id} to {new_status:?}")]
    async fn update_lead_status(
        /// Id of the lead.
        #[serde(rename = "leadId")]
        lead_id: u64,
        /// Its new status.
        new_status: String,
        #[inject] crm: Crm,
    ) -> Result<StatusChange, CrmError> {
        crm.set(lead_id, &new_status).await
    }

    undo(change) => {
        if !crm.is_at(lead_id, change.version) {
            return Ok(conflict(format!("lead {lead_id} was changed since")));
        }
        crm.set(lead_id, &change.previous).await.map(|_| undone())
    },

    on_error { execution_error(Returned(_)) => throw("the tool's own arm") }
}

/// Moves a lead to another status.
#[tool(writes)]
async fn set_status(
    /// Id of the lead.
    lead_id: u64,
    /// Its new status.
    new_status: String,
    #[inject] crm: &Crm,
) -> Result<StatusChange, CrmError> {
    crm.set(lead_id, &new_status).await
}

undo!(SetStatus, |StatusChange { previous, version }| {
    if !self.crm.is_at(args.lead_id, version) {
        return conflict(format!("{} came too late", cx.tool()));
    }
    self.crm.set(args.lead_id, &previous).await?;
    Ok(())
});

/// Sends an email.
#[tool(writes, external, irreversible = "an email cannot be unsent")]
async fn send_email(
    /// To whom.
    to: String,
) -> usize {
    to.len()
}

fn clerk(tool: SharedTool, script: Vec<Script>) -> AgentBuilder<'static, String, String> {
    let (model, _) = ScriptedModel::new(script);
    AgentBuilder::<String, String>::new("clerk")
        .tool(tool)
        .model(model)
}

/// Calls a tool once, with everything approved, and returns the receipt and the requests that were made for approval.
async fn called(
    tool: &SharedTool,
    arguments: &str,
    journal: MemoryJournal,
) -> (ToolEnvelope, Vec<Option<String>>) {
    let name = tool.spec().name.to_string();
    let script = vec![Script::call(&name, arguments), Script::text("Done.")];
    let agent = clerk(tool.clone(), script).build();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let run =
        agent
            .run("Go.")
            .journal(journal)
            .approver(move |request: agents::run::ApprovalRequest| {
                noted.lock().unwrap().push(request.effect_description);
                std::future::ready(Approval::Approve)
            });
    let outcome = run.outcome().await.unwrap();
    let receipt = outcome.outputs.receipts().next().unwrap().clone();
    let asked = asked.lock().unwrap().clone();
    (receipt, asked)
}

/// Returns the arguments of the undo of a call with this receipt.
fn undo_of(receipt: &ToolEnvelope) -> String {
    let output = receipt.output.as_ref().unwrap();
    format!(r#"{{"args": {}, "output": {output}}}"#, receipt.input)
}

fn output_of(receipt: &ToolEnvelope) -> Value {
    receipt
        .output
        .as_ref()
        .map(Json::to_value)
        .unwrap()
        .unwrap()
}

const ARGUMENTS: &str = r#"{"leadId": 7, "new_status": "won"}"#;

#[tokio::test]
async fn u4_an_undo_restores_what_the_call_had_changed() {
    let crm = Crm::of(7, "new");
    let tool = UpdateLeadStatus { crm: crm.clone() }.into_tool();
    let undo = undo_tool(&tool).unwrap();

    let (receipt, asked) = called(&tool, ARGUMENTS, MemoryJournal::new()).await;
    assert_eq!(crm.status(7), ("won".to_owned(), 2));
    assert_eq!(asked, [Some("move lead 7 to won".to_owned())]);

    let (undone, asked) = called(&undo, &undo_of(&receipt), MemoryJournal::new()).await;
    assert_eq!(output_of(&undone), json!({"undone": true}));
    assert_eq!(undone.name, "undo_update_lead_status");
    assert_eq!(crm.status(7), ("new".to_owned(), 3));
    assert_eq!(asked, [Some("undo: move lead 7 to won".to_owned())]);
}

#[tokio::test]
async fn a_change_since_is_a_conflict_and_nothing_is_changed() {
    let crm = Crm::of(7, "new");
    for (tool, arguments, what) in [
        (
            UpdateLeadStatus { crm: crm.clone() }.into_tool(),
            ARGUMENTS,
            "lead 7 was changed since",
        ),
        (
            SetStatus { crm: crm.clone() }.into_tool(),
            r#"{"lead_id": 7, "new_status": "won"}"#,
            "undo_set_status came too late",
        ),
    ] {
        let undo = undo_tool(&tool).unwrap();
        let (receipt, _) = called(&tool, arguments, MemoryJournal::new()).await;
        crm.set(7, "lost").await.unwrap();
        let before = crm.status(7);
        let (undone, _) = called(&undo, &undo_of(&receipt), MemoryJournal::new()).await;
        assert_eq!(output_of(&undone), json!({ "conflict": what }));
        assert_eq!(crm.status(7), before);
    }
}

#[tokio::test]
async fn an_error_of_an_undo_is_an_error_of_the_call_and_asks_no_arms_of_the_tool() {
    let crm = Crm::of(7, "new");
    let tool = UpdateLeadStatus { crm: crm.clone() }.into_tool();
    let (receipt, _) = called(&tool, ARGUMENTS, MemoryJournal::new()).await;
    *crm.is_away.lock().unwrap() = true;

    let undo = undo_tool(&tool).unwrap();
    let (undone, _) = called(&undo, &undo_of(&receipt), MemoryJournal::new()).await;

    let error = undone.error.unwrap();
    assert_eq!(error.message, "the CRM is away");
    assert_eq!(crm.status(7), ("won".to_owned(), 2));
}

#[tokio::test]
async fn an_undo_beside_the_function_is_found_by_the_tool() {
    let crm = Crm::of(7, "new");
    let tool = SetStatus { crm: crm.clone() }.into_tool();
    assert!(tool.spec().has_undo());
    let arguments = r#"{"lead_id": 7, "new_status": "won"}"#;
    let (receipt, _) = called(&tool, arguments, MemoryJournal::new()).await;

    let undo = undo_tool(&tool).unwrap();
    let (undone, asked) = called(&undo, &undo_of(&receipt), MemoryJournal::new()).await;

    assert_eq!(output_of(&undone), json!({"undone": true}));
    assert_eq!(crm.status(7).0, "new");
    assert!(asked.is_empty(), "nothing is asked about the tool either");
}

#[tokio::test]
async fn an_undo_is_read_strictly() {
    let crm = Crm::of(7, "won");
    let tool = SetStatus { crm: crm.clone() }.into_tool();
    let undo = undo_tool(&tool).unwrap();
    // `"7"` for an integer is read leniently in a call of the tool itself.
    let arguments = r#"{"args": {"lead_id": "7", "new_status": "won"}, "output": {"previous": "new", "version": 1}}"#;
    let (undone, _) = called(&undo, arguments, MemoryJournal::new()).await;
    let error = undone.error.unwrap();
    assert!(error.message.contains("lead_id"), "{}", error.message);
    assert_eq!(crm.status(7), ("won".to_owned(), 1));
}

#[tokio::test]
async fn an_interrupted_undo_is_in_doubt_and_does_not_run_again() {
    let crm = Crm::of(7, "new");
    let tool = UpdateLeadStatus { crm: crm.clone() }.into_tool();
    let undo = undo_tool(&tool).unwrap();
    let (receipt, _) = called(&tool, ARGUMENTS, MemoryJournal::new()).await;
    let journal = MemoryJournal::new();
    called(&undo, &undo_of(&receipt), journal.clone()).await;
    let after = crm.status(7);

    // As if the process had ended while the undo ran.
    let entries = journal.entries();
    let begun = entries.iter().position(|entry| entry.kind() == "begun");
    let cut = MemoryJournal::of(entries[..=begun.unwrap()].to_vec());
    let agent = clerk(undo, vec![Script::text("Done.")]).build();
    let outcome = agent.run("Go.").journal(cut).outcome().await.unwrap();

    let resumed = outcome.outputs.receipts().next().unwrap().clone();
    let error = resumed.error.unwrap().message;
    assert!(
        error.contains("whether it took effect is not known"),
        "{error}"
    );
    assert_eq!(crm.status(7), after, "it did not run again");
}

#[tokio::test]
async fn an_undo_that_ended_is_not_repeated_when_its_run_goes_on() {
    let crm = Crm::of(7, "new");
    let tool = UpdateLeadStatus { crm: crm.clone() }.into_tool();
    let undo = undo_tool(&tool).unwrap();
    let (receipt, _) = called(&tool, ARGUMENTS, MemoryJournal::new()).await;
    let journal = MemoryJournal::new();
    called(&undo, &undo_of(&receipt), journal.clone()).await;
    let after = crm.status(7);

    let entries = journal.entries();
    let ended = entries.iter().position(|entry| entry.kind() == "ended");
    let cut = MemoryJournal::of(entries[..=ended.unwrap()].to_vec());
    let agent = clerk(undo, vec![Script::text("Done.")]).build();
    let outcome = agent.run("Go.").journal(cut).outcome().await.unwrap();

    let resumed = outcome.outputs.receipts().next().unwrap().clone();
    assert_eq!(output_of(&resumed), json!({"undone": true}));
    assert_eq!(crm.status(7), after);
}

#[tokio::test]
async fn an_output_of_another_time_is_an_error_that_names_the_field() {
    let tool = UpdateLeadStatus {
        crm: Crm::of(7, "new"),
    }
    .into_tool();
    let undo = undo_tool(&tool).unwrap();
    let arguments = format!(r#"{{"args": {ARGUMENTS}, "output": {{"previous": "new"}}}}"#);
    let (undone, _) = called(&undo, &arguments, MemoryJournal::new()).await;
    let error = undone.error.unwrap().message;
    assert!(
        error.contains("the stored output does not fit") && error.contains("`version`"),
        "{error}"
    );
}

#[test]
fn what_is_irreversible_has_a_reason_a_risk_and_no_undo() {
    let tool = SendEmail.into_tool();
    assert!(undo_tool(&tool).is_none());
    let spec = tool.spec();
    assert_eq!(
        spec.irreversible.as_deref(),
        Some("an email cannot be unsent")
    );
    assert_eq!(
        (spec.effects, spec.risk_level()),
        (Effects::Writes, Risk::High)
    );
}
