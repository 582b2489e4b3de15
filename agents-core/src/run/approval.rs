use super::{Cx, Stopwatch};
use crate::{
    Json,
    panics::{guarded, guarded_while},
    tool::Effects,
};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// A call that waits for somebody's word.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest};
///
/// async fn small_sums(request: ApprovalRequest) -> Approval {
///     let args = request.args.to_value().unwrap_or_default();
///     match args["amount"].as_u64() {
///         Some(amount) if amount <= 100 => Approval::Approve,
///         _ => Approval::Revise { note: "at most 100 at once".into() },
///     }
/// }
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// agent.run("Pay the bills.").approver(small_sums).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The agent that wants to call.
    pub agent_name: String,
    /// The tool it wants to call.
    pub tool_name: String,
    /// The arguments as they would run.
    pub args: Json,
    /// What the tool does to the world.
    pub effects: Effects,
    /// The id in the call's receipt; where code runs a delegate, its place in the run.
    pub call_id: String,
}

/// The word.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest};
///
/// async fn at_the_till(request: ApprovalRequest) -> Approval {
///     let args = request.args.to_value().unwrap_or_default();
///     match args["amount"].as_u64() {
///         Some(..=100) => Approval::Approve,
///         Some(..=1_000) => Approval::Revise { note: "pay in parts of 100".into() }, // the model tries again
///         _ => Approval::deny("sums like this are for people"),
///     }
/// }
/// # let _ = at_the_till;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Do it.
    Approve,
    /// Don't; the model is told why.
    Deny {
        /// Why.
        reason: String,
    },
    /// Not like this; the model is told what to change and may ask again.
    Revise {
        /// What to change.
        note: String,
    },
}

impl Approval {
    /// Denies, for this reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Approval::Deny {
            reason: reason.into(),
        }
    }
}

/// Somebody who decides: an async function of the request, for one.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Approval, ApprovalRequest, Approver};
///
/// async fn office_hours(request: ApprovalRequest) -> Approval {
///     if request.tool_name == "send_mail" { Approval::deny("not at night") } else { Approval::Approve }
/// }
/// fn takes(_: impl Approver) {}
/// takes(office_hours);
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Decides.
    fn decide(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval>;
}

impl<F, Fut> Approver for F
where
    F: Fn(ApprovalRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Approval> + Send + 'static,
{
    fn decide(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval> {
        Box::pin(self(request))
    }
}

impl Cx {
    /// Asks whoever decides; with nobody to ask, the answer is no.
    pub(crate) async fn ask(&self, request: ApprovalRequest) -> Approval {
        let Some(approver) = &self.root.settings.approver else {
            return Approval::deny("nobody is there to approve; give the run an `.approver(..)`");
        };
        // People may take their time: what is finished by then is stored.
        self.root.checkpoint();
        let _still = self.watch().map(Stopwatch::stand_still);
        let decided = async { guarded_while(guarded(|| approver.decide(request))?).await };
        // No word is no.
        decided.await.unwrap_or_else(|panic: String| {
            Approval::deny(format!("whoever was asked panicked: {panic}"))
        })
    }
}
