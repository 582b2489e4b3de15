//! What can be said of a run as a whole: for whom it works and within which bounds, who is asked, and
//! who is told.

use super::{Agent, Run};
use crate::{
    Json,
    error::ErrorReceipt,
    model::Model,
    run::{Approver, Budget, Clock, Event, Snapshot, Tape, ToolEnvelope},
    secret::Secrets,
    tool::Scope,
};
use secrecy::SecretString;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl<A: Agent> Run<'_, A> {
    /// The model for agents that bring none of their own.
    pub fn model(mut self, model: impl Model) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }

    /// For whom the run works: a tenant's name, or a whole [`Scope`].
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.settings.scope = scope.into();
        self.root()
    }

    /// A secret that tools may ask for by name, before any that [`secrets`](Run::secrets) finds.
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.settings.secrets.insert(name.into(), value.into());
        self.root()
    }

    /// Ends the run when the token is triggered.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.settings.cancel = token;
        self.root()
    }

    /// Bounds the whole run: tokens, cost, time and depth are shared by all its agents; turns, tool calls
    /// and recursion belong to each, and the tighter of its own bound and this one counts.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = Some(budget);
        self.root()
    }

    /// Who is asked when a call needs approval. With nobody to ask, the answer is no.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self.root()
    }

    /// Is told everything that happens, as it happens. It should be quick: the run waits for it. A panic in it is
    /// logged, and the run goes on.
    pub fn on_event(mut self, subscriber: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.settings.subscriber = Some(Arc::new(subscriber));
        self.root()
    }

    /// Is told of every call once, when it is settled: the tool's name, the arguments as they ran,
    /// repairs included, and what came of it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder};
    /// # async fn run(agent: agents::agent::ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// let answer = agent.run("go").on_tool_use(|name, args, result| {
    ///     eprintln!("[{name}] args={args} result={result:?}");
    /// }).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_tool_use(
        mut self,
        hook: impl Fn(&str, &Json, Result<&Json, &ErrorReceipt>) + Send + Sync + 'static,
    ) -> Self {
        self.settings.tool_hook = Some(Arc::new(move |receipt: &ToolEnvelope| {
            if let Some(result) = receipt.result() {
                hook(&receipt.name, &receipt.input, result);
            }
        }));
        self.root()
    }

    /// Is given the run, to store, whenever a model has replied and whenever its calls are settled.
    pub fn on_checkpoint(mut self, keeper: impl Fn(Snapshot) + Send + Sync + 'static) -> Self {
        self.settings.keeper = Some(Arc::new(keeper));
        self.root()
    }

    /// Where the time and the run's id come from.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.settings.clock = Arc::new(clock);
        self.root()
    }

    /// Records the run, or replays one that was recorded: see `agents::record`.
    pub fn tape(mut self, tape: impl Tape) -> Self {
        self.settings.clock = tape.clock();
        self.settings.tape = Some(Arc::new(tape));
        self.root()
    }

    /// Reads arguments and answers strictly, whatever agents and tools say: nothing is repaired.
    pub fn strict(mut self) -> Self {
        self.settings.strict = true;
        self.root()
    }

    /// Writes prompts, answers and arguments into the `tracing` spans. Off unless asked for: they
    /// may hold what logs should not.
    pub fn record_content(mut self) -> Self {
        self.settings.record_content = true;
        self.root()
    }

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
