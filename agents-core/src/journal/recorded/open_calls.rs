//! Calls of a recorded run that are not settled, and what else the run needs in order to go on.

use super::Recorded;
use crate::journal::{Call, PlaceId, State, call::Stage};
use std::collections::BTreeSet;

/// Call that a stored run has begun and not settled. To go on, the run needs the same version of its tool.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::{FnTool, NeedsApproval, ToolSpec}};
/// use agents::journal::{MemoryJournal, Recorded};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::call("pay", "{}")]);
/// # let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, serde_json::json!({"type": "object"}));
/// # let spec = spec.version("1.2.0").approval(NeedsApproval::Always);
/// # let pay = FnTool::with_spec(spec, |_: serde_json::Value, _| async { Ok::<_, std::io::Error>("paid") });
/// # let payer = AgentBuilder::<String, String>::new("payer").tool(pay).model(model).build();
/// # let nobody = |_: agents::run::ApprovalRequest| std::future::pending::<agents::run::Approval>();
/// let journal = MemoryJournal::new();
/// payer.run("Pay the bill.").journal(journal.clone()).approver(nobody).until_waiting().await?;
///
/// let open = Recorded::of(journal.entries())?.open_calls();
/// assert_eq!((&*open[0].agent, &*open[0].tool), ("payer", "pay"));
/// assert_eq!(open[0].version.as_deref(), Some("1.2.0"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenCall {
    /// Name of the agent that made the call.
    pub agent: String,
    /// Name by which the agent's model knows the tool.
    pub tool: String,
    /// Version of the tool; `None` if the agent had no such tool.
    pub version: Option<String>,
    /// Is `true` if the [profile](crate::Agent::profile) of the agent that was run should list the tool, so that the
    /// code can be checked for the tool before the run goes on. A profile does not list the tools of agents that run in
    /// the body of a tool, or that repair a call or an answer.
    pub is_declared: bool,
}

impl Recorded {
    /// Returns the calls that were begun and are not settled, those of nested runs included; an empty list if the run
    /// has ended.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let mut open = Vec::new();
        for (nth, stored) in self.runs.iter().enumerate() {
            let state = &stored.state;
            if state.finished.is_some() || self.runs[0].state.finished.is_some() {
                continue;
            }
            for (place, id) in state.places.iter().zip(0..) {
                let calls = place.frame.iter().flat_map(|frame| frame.under_way());
                let calls = calls.filter(|call| is_open(call)).map(|call| OpenCall {
                    agent: place.agent.to_string(),
                    tool: call.call.name.clone(),
                    version: call.version().map(str::to_owned),
                    is_declared: nth == 0 && is_declared(state, id),
                });
                open.extend(calls);
            }
        }
        open
    }

    /// Returns the ids of the models that handlers gave to agents after escalations, and that these agents need in
    /// order to go on; an empty set if the run has ended.
    pub fn given_models(&self) -> BTreeSet<&str> {
        let is_over = self.runs[0].state.finished.is_some();
        let open = self
            .runs
            .iter()
            .filter(|stored| !is_over && stored.state.finished.is_none());
        let frames = open.flat_map(|stored| &stored.state.places);
        let given = frames
            .flat_map(|place| &place.frame)
            .flat_map(|frame| &frame.given);
        given.map(|given| &*given.model).collect()
    }

    /// Returns the digest of the type of the run's answer, with which the run was started; `None` if no model gives the
    /// answer. See [`Profile::answer_digest`](crate::agent::Profile::answer_digest).
    pub fn answer_digest(&self) -> Option<&str> {
        self.started().terms.answer.as_deref()
    }

    /// Returns the names of the policies of the run, which the run needs in order to go on.
    pub fn policies(&self) -> &[String] {
        &self.started().terms.policies
    }
}

fn is_open(call: &Call) -> bool {
    call.receipt.is_none() && !matches!(call.stage, Stage::New | Stage::EndsRun)
}

/// Returns `true` if the agent at this place is known to the profile of the agent that was run: itself, a part of it,
/// or a delegate.
fn is_declared(state: &State, id: PlaceId) -> bool {
    let mut at = state.place(id);
    while let Some(parent) = at.parent {
        let is_work = match at.call() {
            Some(seq) => !state
                .call_at(parent, seq)
                .is_some_and(|call| call.goes_on() && !matches!(call.stage, Stage::Repair(_))),
            None => at.is_of_an_answer(),
        };
        if is_work {
            return false;
        }
        at = state.place(parent);
    }
    true
}
