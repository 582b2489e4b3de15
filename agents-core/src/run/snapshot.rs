use super::{Timestamp, state::State, terms::Terms};
use crate::{Error, Json, error::ErrorKind, model::Usage};
use serde::{Deserialize, Serialize};

/// A run in storable form; [`Agent::resume`](crate::Agent::resume) continues it.
///
/// It is data: what was done, and under which terms. A resumed run works for the same
/// [scope](crate::agent::Run::scope), and its budget and [`strict`](crate::agent::Run::strict) hold where nothing else is
/// said. What is code is not in it and has to be said again: models, tools, secrets, prices, an approver, a
/// cache, a blob store. A run that was under [rules](crate::agent::Run::policy) or
/// [limits](crate::agent::Run::rate_limits) is not resumed without as many; without a price nothing is asked
/// where cost is bounded; without an approver nobody says yes; a missing cache or blob store costs
/// only what it would have kept.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, Effects, run::Snapshot, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use serde_json::json;
/// # use std::sync::{Arc, Mutex};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let schema = json!({"type": "object"});
/// # let now = FnTool::new("now", "Tells the time.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("noon") });
/// # let agent = AgentBuilder::<String, String>::new("clock").tool(now).build();
/// # let (model, _) = ScriptedModel::new([Script::call("now", "{}"), Script::text("noon")]);
/// let stored = Arc::new(Mutex::new(Vec::new()));
/// let keep = stored.clone();
/// agent
///     .run("What time is it?")
///     .model(model)
///     .on_checkpoint(move |snapshot| keep.lock().unwrap().push(serde_json::to_string(&snapshot).unwrap()))
///     .await?;
///
/// // Another process, later: the run goes on behind the call that is settled.
/// let snapshot: Snapshot = serde_json::from_str(&stored.lock().unwrap()[1])?;
/// # let (model, _) = ScriptedModel::new([Script::text("It is noon")]);
/// assert_eq!(agent.resume(snapshot).model(model).await?, "It is noon");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    pub(crate) version: u32,
    pub(crate) agent: String,
    pub(crate) run_id: String,
    pub(crate) input: Json,
    #[serde(default)]
    pub(crate) terms: Terms,
    /// The place of the run among all traces, if somebody traced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began: Option<Timestamp>,
    #[serde(default)]
    pub(crate) state: State,
}

impl Snapshot {
    pub(crate) const VERSION: u32 = 3;

    /// Returns the name of the agent that was run.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the tokens and requests used up to then.
    pub fn usage(&self) -> Usage {
        self.state.usage
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
