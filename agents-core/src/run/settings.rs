use super::Run;
use crate::{Agent, secret::Secrets};
use std::sync::Arc;

/// More to say about a run.
impl<A: Agent> Run<'_, A> {
    /// Who is asked for the secrets that tools want, for the [scope](Run::scope) of the run; see
    /// [`secret`](crate::secret).
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.settings.keeper_of_secrets = Some(Arc::new(secrets));
        self.root()
    }

    /// Where the run's trace can be looked at: with `{trace_id}` and `{run_id}` in it, this is the
    /// `traces_url` of the [outputs](crate::run::AgentOutputs).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::Agent;
    /// # async fn run(agent: agents::agent::ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// let run = agent.run("go").traces_url("https://traces.example.com/trace/{trace_id}");
    /// # run.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn traces_url(mut self, template: impl Into<Arc<str>>) -> Self {
        self.settings.traces_url = Some(template.into());
        self.root()
    }
}
