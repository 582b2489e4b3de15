//! Replays of stored runs with the code of a runtime: which of them would go otherwise, and from which fact on.

use crate::{
    Client, Principal, Runtime, RuntimeError, data::RunData, error::RuntimeErrorKind, wording,
};
use agents_core::journal::{Difference, Recorded};
use agents_store::{Run, RunFilter};
use serde::{Deserialize, Serialize};

/// Number of the format that this version writes.
const FORMAT: u32 = 1;

/// Replays of stored runs with the code of a runtime, by [`Runtime::replays`]. `agents check-deploy --journals` reads
/// them as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replays {
    /// Number of the format of the report.
    pub agents_replays: u32,
    /// Number of runs that were replayed.
    pub replayed: u64,
    /// Number of runs that were not replayed: they have not begun, are a part of a conversation, or are undos, direct
    /// calls or variations.
    pub skipped: u64,
    /// Runs that would go otherwise, or that cannot be replayed: the newest first, unless the filter says otherwise.
    pub changed: Vec<ChangedRun>,
}

/// Stored run that the code of a runtime would work otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedRun {
    /// Id of the run.
    pub run_id: String,
    /// Name of the agent of the run.
    pub agent_name: String,
    /// Tenant that the run works for.
    pub tenant_id: String,
    /// Number of the recorded fact that differs, from 1; `None` if the run cannot be replayed at all, or goes on where
    /// the recording breaks off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<u64>,
    /// Difference in a sentence without a full stop. It may quote texts of the run.
    pub what: String,
}

impl Replays {
    /// Reads a report from JSON.
    ///
    /// # Errors
    /// When the text is no such report, or has another format.
    pub fn read(json: &str) -> Result<Self, RuntimeError> {
        let read: Replays =
            serde_json::from_str(json).map_err(|error| wording::no_replays(&error))?;
        match read.agents_replays {
            FORMAT => Ok(read),
            other => Err(wording::replays_of_other_format(other, FORMAT)),
        }
    }
}

impl Client {
    /// Returns the journal of a run for a [replay](agents_core::agent::Run::replay), for instance in a test.
    ///
    /// In the journal, references stand for the values of secrets. Everything else is as it was: what users wrote, what
    /// models said, arguments and outputs.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Principal, Runtime, SqliteStore};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (model, _) = ScriptedModel::always(Script::text("Paid."));
    /// # let runtime = Runtime::open(SqliteStore::in_memory().await?).model(model);
    /// # let payer = runtime.agent(AgentBuilder::<String, String>::new("payer").build());
    /// payer.run("Pay the bills of October.").key("bills-2026-10").await?;
    /// # let run = payer.run("Pay the bills of October.").key("bills-2026-10").start().await?;
    /// let recorded = runtime.as_client().recording(run.id(), &Principal::operator()).await?;
    /// assert_eq!(recorded.agent(), "payer");
    /// assert_eq!(recorded.input::<String>()?, "Pay the bills of October.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such run for this principal, or the principal [may not see](Client::may_see_contents) the
    /// contents. When the run has not begun, is a part of a conversation, or is an undo, a direct call or a variation.
    /// When its keys are gone, or its contents were altered.
    pub async fn recording(&self, run: &str, by: &Principal) -> Result<Recorded, RuntimeError> {
        let run = self.visible(run, by).await?;
        if !self.may_see_contents(by) {
            return Err(wording::may_not_see_contents(by.id()));
        }
        self.for_a_replay(&run, &self.data_of(&run)?)
            .await?
            .map_err(|why| wording::not_to_replay(&run.id, why))
    }

    /// Returns the journal of a run, or the reason why the run is not replayed.
    async fn for_a_replay(
        &self,
        run: &Run,
        data: &RunData,
    ) -> Result<Result<Recorded, &'static str>, RuntimeError> {
        if run.conversation.is_some() {
            return Ok(Err(wording::OF_A_CONVERSATION));
        }
        if data.is_one_call() {
            return Ok(Err(wording::OF_NO_AGENT));
        }
        let recorded = self.recorded_of(run).await?;
        Ok(recorded.ok_or(wording::NOT_BEGUN))
    }
}

impl Runtime {
    /// Replays stored runs with the code of this runtime, and says which of them would go otherwise, and from which fact on.
    ///
    /// No model and no person is asked, no tool that reads or writes is run, and nothing is stored: see
    /// [`Run::replay`](agents_core::agent::Run::replay). The code of agents and rules does run. A run that is not over
    /// is replayed as far as it has come. At most [`limit`](RunFilter::limit) runs are taken, the newest ones unless
    /// the filter says otherwise.
    ///
    /// ```
    /// use agents::prelude::*;
    /// use agents_runtime::{Runtime, SqliteStore};
    /// use agents_store::RunFilter;
    ///
    /// /// You greet guests.
    /// #[agent]
    /// async fn greeter(name: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime = Runtime::open(SqliteStore::in_memory().await?);
    /// runtime.agent(Greeter);
    /// let replays = runtime.replays(&RunFilter { limit: 500, ..RunFilter::default() }).await?;
    /// println!("{}", serde_json::to_string(&replays)?);
    /// assert_eq!((replays.replayed, replays.changed.len()), (0, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the store fails. A run that cannot be read, or whose agent is not here, is one of those that would go otherwise.
    pub async fn replays(&self, filter: &RunFilter) -> Result<Replays, RuntimeError> {
        let mut replays = Replays {
            agents_replays: FORMAT,
            replayed: 0,
            skipped: 0,
            changed: Vec::new(),
        };
        for run in self.client.runs(filter).await? {
            let (fact, what) = match self.replay(&run).await {
                Ok(Some(Ok(()))) => {
                    replays.replayed += 1;
                    continue;
                }
                Ok(None) => {
                    replays.skipped += 1;
                    continue;
                }
                Ok(Some(Err(difference))) => {
                    replays.replayed += 1;
                    (difference.fact, difference.to_string())
                }
                Err(error) if matches!(error.kind(), RuntimeErrorKind::Store(_)) => {
                    return Err(error);
                }
                Err(error) => (None, error.to_string()),
            };
            replays.changed.push(ChangedRun {
                run_id: run.id,
                agent_name: run.agent,
                tenant_id: run.tenant,
                fact,
                what,
            });
        }
        Ok(replays)
    }

    /// Replays one run; `None` if it is none to replay.
    async fn replay(&self, run: &Run) -> Result<Option<Result<(), Difference>>, RuntimeError> {
        let data = self.client.data_of(run)?;
        let Ok(recorded) = self.client.for_a_replay(run, &data).await? else {
            return Ok(None);
        };
        let agent = self.shared.agent(&run.agent);
        let agent =
            agent.ok_or_else(|| wording::not_to_replay(&run.id, &wording::no_agent(&run.agent)))?;
        let replayed = agent.replay(data, &recorded, &self.settings).await;
        replayed
            .map(Some)
            .map_err(|error| wording::not_to_replay(&run.id, &error.to_string()))
    }
}
