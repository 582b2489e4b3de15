#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    unused_qualifications
)]
//! Undo functions are plain Rust.

use agents::{
    prelude::{tool as block, *},
    tool,
    tool::{IntoTool, Risk, undo_tool},
};
use std::fmt;

/// The status of a lead, which has no text of its own.
#[derive(Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub enum Status {
    /// Lead to whom nobody has spoken.
    New,
    /// Lead that has bought.
    Won,
}

/// Things that were changed.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct StatusChange {
    previous: Status,
    version: u64,
}

/// Why not.
#[derive(Debug)]
pub enum CrmError {
    /// The server is away.
    Away,
    /// Error: somebody was faster.
    Changed,
}

impl fmt::Display for CrmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server is away")
    }
}

/// A client.
#[derive(Clone)]
pub struct Crm;

impl Crm {
    async fn set(&self, _: u64, _: Status) -> Result<StatusChange, CrmError> {
        Err(CrmError::Away)
    }
    async fn restore(&self, _: u64, _: Status, _: u64) -> Result<tool::Undone, CrmError> {
        Err(CrmError::Changed)
    }
    async fn remove(&self, _: u64) -> Result<(), CrmError> {
        Ok(())
    }
}

block! {
    /// Moves a lead to another status.
    #[tool(writes, risk = high, approval = always, effect_description = "move lead {lead_id} to {new_status:?}")]
    pub async fn update_lead_status(
        /// Lead that is meant.
        lead_id: u64,
        /// Its new status.
        new_status: Status,
        #[inject] crm: Crm,
    ) -> Result<StatusChange, CrmError> {
        crm.set(lead_id, new_status).await
    }

    on_error { execution_error(_) => throw("no") }
    in_doubt(_) => unknown(),
    undo(change) => crm.restore(lead_id, change.previous, change.version).await,
}

block! {
    /// Adds a lead.
    #[tool(writes, effect_description = "add {{{for}}}")]
    pub async fn add_lead(
        /// Its name.
        #[serde(rename = "for")]
        r#for: String,
        #[inject] crm: &Crm,
        context: &ToolContext,
    ) -> Result<(u64, Option<u64>), CrmError> {
        let _ = (crm, context);
        Ok((r#for.len() as u64, None))
    }

    undo((id, merged)) => {
        if merged.is_some() {
            return conflict("the lead was merged");
        }
        let version: u64 = r#for.parse()?;
        if version == 0 {
            return Ok(undone());
        }
        match crm.restore(id, Status::New, version).await {
            Err(CrmError::Changed) => Ok(conflict(format!("{} was changed", context.call_id()))),
            other => other,
        }
    }
}

block! {
    /// Marks a lead.
    #[tool(writes)]
    pub async fn mark(
        /// Number of the one that is meant.
        id: u64,
        #[inject] crm: Crm,
    ) -> Unread {
        let _ = crm;
        Unread(id)
    }

    undo(_) => crm.remove(id).await,
}

block! {
    /// Waits for its author.
    #[tool(writes)]
    pub async fn not_yet() -> u32 {
        1
    }

    undo(_) => todo!(),
}

/// An output that nothing reads back.
#[derive(serde::Serialize)]
pub struct Unread(u64);

/// Sends an email.
#[tool(writes, external, irreversible = "an email cannot be unsent")]
pub async fn send_email(
    /// To whom.
    to: String,
) -> usize {
    to.len()
}

/// Changes a lead.
#[tool(writes)]
pub async fn change_lead(
    /// Number of the one that is meant.
    lead_id: u64,
    #[inject] crm: Crm,
) -> Result<StatusChange, CrmError> {
    crm.set(lead_id, Status::Won).await
}

undo!(ChangeLead, |change| async move {
    self.crm
        .restore(args.lead_id, change.previous, change.version)
        .await
});

/// Closes a lead.
#[tool(writes)]
pub async fn close_lead(
    /// Number of the one that is meant.
    lead_id: u64,
    #[inject] crm: Crm,
) -> Result<StatusChange, CrmError> {
    crm.set(lead_id, Status::Won).await
}

undo!(CloseLead, |StatusChange { previous, version }| {
    if cx.tool().is_empty() {
        return Ok(conflict("nobody asked"));
    }
    self.crm.restore(args.lead_id, previous, version).await?;
    Ok(())
});

pub(super) fn main() {
    let update = UpdateLeadStatus { crm: Crm }.into_tool();
    let undo = undo_tool(&update).expect("it has an undo");
    assert_eq!(undo.spec().risk_level(), Risk::High);
    assert_eq!(
        undo.spec().effect_description.as_deref(),
        Some("undo: move lead {args.lead_id} to {args.new_status}")
    );
    for tool in [
        AddLead { crm: Crm }.into_tool(),
        Mark { crm: Crm }.into_tool(),
        NotYet.into_tool(),
        ChangeLead { crm: Crm }.into_tool(),
        CloseLead { crm: Crm }.into_tool(),
    ] {
        assert!(undo_tool(&tool).is_some(), "{}", tool.spec().name);
    }
    let send = SendEmail.into_tool();
    assert!(undo_tool(&send).is_none());
    assert_eq!(
        send.spec().irreversible.as_deref(),
        Some("an email cannot be unsent")
    );
    assert_eq!(send.spec().risk_level(), Risk::High);
}
