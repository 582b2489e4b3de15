//! Agents of a runtime, found by their names.

use crate::{
    AgentManifest,
    data::RunData,
    decisions::{Decisions, StoredDecisions},
    journal::StoredJournal,
    runtime::Settings,
};
use agents_core::{
    Agent, Error, ErrorKind,
    agent::{Profile, Progress},
    async_trait,
    run::{Clock, SystemClock, Timestamp},
    tool::Scope,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Agent whose types are not known any more.
#[async_trait]
pub(crate) trait Registered: Send + Sync {
    /// Describes the agent as far as stored runs depend on it.
    fn manifest(&self) -> AgentManifest;

    /// Goes on with a run until it ends or waits.
    async fn go_on(&self, with: With) -> Result<Went, Error>;

    /// Describes the agent that works for this scope.
    fn profile(&self, scope: &Scope) -> Profile;
}

/// What a run goes on with.
pub(crate) struct With {
    pub(crate) id: String,
    pub(crate) data: RunData,
    pub(crate) journal: Arc<StoredJournal>,
    pub(crate) decisions: Arc<Decisions>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) cancel: CancellationToken,
}

/// State in which a run was left.
pub(crate) enum Went {
    /// The run is over, with this error if it has no answer.
    Done(Option<Error>),
    /// The run waits for decisions about the requests with these ids.
    Waiting(Vec<String>),
}

/// Agent that is made for the scope of each run.
pub(crate) struct MadeFor<F>(pub(crate) F);

/// Clock of the system, which gives the run its id.
struct OfRun(String);

impl Clock for OfRun {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn run_id(&self) -> String {
        self.0.clone()
    }
}

#[async_trait]
impl<A: Agent + 'static, F: Fn(&Scope) -> A + Send + Sync> Registered for MadeFor<F> {
    fn manifest(&self) -> AgentManifest {
        AgentManifest::of(&(self.0)(&Scope::default()).profile())
    }

    async fn go_on(&self, with: With) -> Result<Went, Error> {
        let input: A::In = with.data.input.to().map_err(|error| {
            let why = format!("the stored input is none of the agent's: {error}");
            Error::new(ErrorKind::Build, why)
        })?;
        let agent = (self.0)(&with.data.scope);
        go_on(&agent, input, with).await
    }

    fn profile(&self, scope: &Scope) -> Profile {
        (self.0)(scope).profile()
    }
}

/// Goes on with a run of this agent until it ends or waits.
pub(crate) async fn go_on<A: Agent>(agent: &A, input: A::In, with: With) -> Result<Went, Error> {
    let With {
        id,
        data,
        journal,
        decisions,
        settings,
        cancel,
    } = with;
    let mut run = agent
        .run(input)
        .scope(data.scope)
        .journal(journal)
        .approver(move |request| {
            agents_core::run::Approver::decide(&StoredDecisions(decisions.clone()), request)
        })
        .clock(OfRun(id))
        .cancel(cancel);
    if let Some(budget) = data.budget {
        run = run.budget(budget);
    }
    if let Some(model) = &settings.model {
        run = run.model(model.clone());
    }
    for model in &settings.known_models {
        run = run.known_model(model.clone());
    }
    for policy in &settings.policies {
        run = run.policy(policy.clone());
    }
    if let Some(secrets) = &settings.secrets {
        run = run.secrets(secrets.clone());
    }
    Ok(match run.until_waiting().await? {
        Progress::Done(outcome) => Went::Done(outcome.result.err()),
        Progress::Waiting(requests) => {
            Went::Waiting(requests.into_iter().map(|request| request.id).collect())
        }
    })
}
