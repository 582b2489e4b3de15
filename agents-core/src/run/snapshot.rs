use super::node::StoredNode;
use crate::{
    Error, Json, error::ErrorKind, escalation::EscalationReceipt, model::Usage, observe::Step,
};
use serde::{Deserialize, Serialize};

/// A run that was put down: give it to [`Agent::resume`](crate::Agent::resume).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    pub(crate) version: u32,
    pub(crate) agent: String,
    pub(crate) run_id: String,
    pub(crate) input: Json,
    #[serde(default)]
    pub(crate) usage: Usage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) escalations: Vec<EscalationReceipt>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<Step>,
    pub(crate) root: StoredNode,
}

impl Snapshot {
    pub(crate) const VERSION: u32 = 1;

    /// The agent that was run.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The run's id.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// What the models had cost until then.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// A snapshot continues the agent it was taken of, and no other.
    pub(crate) fn check(&self, agent: &str) -> Result<(), Error> {
        let problem = if self.version != Self::VERSION {
            format!(
                "the stored run has format {}; this version reads format {}",
                self.version,
                Self::VERSION
            )
        } else if self.agent != agent {
            format!(
                "the stored run belongs to agent `{}`, not to `{agent}`",
                self.agent
            )
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Build, problem))
    }
}
