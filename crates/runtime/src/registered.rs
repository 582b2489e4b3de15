//! Agents of a runtime, found by their names.

use crate::{
    AgentManifest,
    conversation::Talk,
    data::RunData,
    decisions::{Decisions, StoredDecisions},
    journal::StoredJournal,
    one_call::{AdmitsFixed, Given},
    settings::Settings,
    texts::Texts,
};
use agents_core::{
    Agent, Effects, Error, ErrorKind, Json, Outcome,
    agent::{Conversation, Data, Profile, Progress, Run},
    async_trait,
    journal::{Difference, MemoryJournal, Recorded},
    policy::{Action, Policy, Verdict, named},
    run::{AgentOutputs, Clock, RunContext, SystemClock, Timestamp},
    tool::Scope,
};
use futures_util::future::BoxFuture;
use std::{collections::BTreeSet, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Agent of a runtime whose input and output types are hidden, so that a worker can hold agents of all types.
#[async_trait]
pub(crate) trait Registered: Send + Sync {
    /// Describes the agent as far as stored runs depend on it.
    fn manifest(&self) -> AgentManifest;

    /// Goes on with a run until it ends or waits.
    async fn go_on(&self, with: With) -> Result<Went, Error>;

    /// Returns the profile of the agent as it is made for this scope: each scope may have an agent with other tools.
    fn profile(&self, scope: &Scope) -> Profile;

    /// Goes on with a variation of a run in memory, and returns its outcome. No tool writes there.
    async fn vary(
        &self,
        data: RunData,
        journal: MemoryJournal,
        settings: &Settings,
    ) -> Result<Varied, Error>;

    /// Replays a recorded run in memory, and says what differs. Nothing outside of the agent's code runs.
    async fn replay(
        &self,
        data: RunData,
        recorded: &Recorded,
        settings: &Settings,
    ) -> Result<Result<(), Difference>, Error>;
}

/// Data and settings with which a worker goes on with a run.
pub(crate) struct With {
    pub(crate) id: String,
    pub(crate) data: RunData,
    pub(crate) journal: Arc<StoredJournal>,
    pub(crate) decisions: Arc<Decisions>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) cancel: CancellationToken,
    /// Token that is cancelled when the run is to be put down; no effect begins from then on.
    pub(crate) pause: CancellationToken,
    /// Fencing token of the worker's lease on the run.
    pub(crate) fence: u64,
    /// Conversation to which the run belongs; `None` if it belongs to none.
    pub(crate) talk: Option<Talk>,
    /// Sender of streamed text; `None` if the run is not streamed.
    pub(crate) texts: Option<Arc<Texts>>,
    /// Secrets that the run is given in addition, by name.
    pub(crate) given: Given,
    /// Models with which people have released the run.
    pub(crate) models: BTreeSet<String>,
}

/// State of a run when a worker has gone on with it as far as possible.
pub(crate) enum Went {
    /// The run is over, with an answer or an error.
    Done {
        /// Error of the run; `None` if it has an answer.
        error: Option<Error>,
        /// Conversation after the run; `None` if the run belongs to none, or if its input did not fit the agent.
        said: Option<Box<Conversation>>,
    },
    /// The run waits for decisions about the requests with these ids.
    Waiting(Vec<String>),
}

/// Outcome of a variation of a run, in which a call has ended otherwise.
pub(crate) struct Varied {
    pub(crate) result: Result<(), Error>,
    pub(crate) outputs: AgentOutputs,
    pub(crate) partial: bool,
}

/// Agent of a runtime that is made anew for the scope of each run.
pub(crate) struct MadeFor<F>(pub(crate) F);

/// Clock of a run: the system's, with the run's stored id in place of a new one.
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
        let agent = (self.0)(&Scope::default());
        AgentManifest::of(agent.name(), &agent.profile())
    }

    async fn go_on(&self, with: With) -> Result<Went, Error> {
        let input: A::In = match with.data.input.to() {
            Ok(input) => input,
            Err(error) => {
                let why = crate::wording::not_the_agents_input(&error);
                let name = (self.0)(&with.data.scope).name().to_owned();
                return refuse(name, why, with).await;
            }
        };
        let agent = (self.0)(&with.data.scope);
        go_on(&agent, input, with).await
    }

    fn profile(&self, scope: &Scope) -> Profile {
        (self.0)(scope).profile()
    }

    async fn vary(
        &self,
        data: RunData,
        journal: MemoryJournal,
        settings: &Settings,
    ) -> Result<Varied, Error> {
        let agent = (self.0)(&data.scope);
        let run = agent
            .run(input_of::<A::In>(&data)?)
            .journal(journal)
            .confirm_repeats();
        let run = with_code(run, data, settings).policy(writes_nothing());
        let Outcome {
            result,
            outputs,
            partial,
            ..
        } = run.outcome().await?;
        Ok(Varied {
            // The answer itself is exact. Its text has no secrets.
            result: result.map(drop),
            outputs,
            partial,
        })
    }

    async fn replay(
        &self,
        data: RunData,
        recorded: &Recorded,
        settings: &Settings,
    ) -> Result<Result<(), Difference>, Error> {
        let agent = (self.0)(&data.scope);
        let run = agent.run(input_of::<A::In>(&data)?);
        Ok(with_code(run, data, settings).replay(recorded).await)
    }
}

/// Returns the policy of a variation, which denies every tool that writes. The calls of delegates are judged
/// themselves.
fn writes_nothing() -> impl Policy {
    named("what_if", |action: &Action<'_>| match action {
        Action::Tool(call) if call.is_delegate => Verdict::Allow,
        Action::Tool(call) if call.spec.effects == Effects::Writes => {
            Verdict::deny(crate::wording::writes_in_a_variation(&call.spec.name))
        }
        Action::Tool(_) | Action::Model(_) => Verdict::Allow,
    })
}

/// Reads the stored input of a run into the agent's type; an error if it does not fit.
pub(crate) fn input_of<In: Data>(data: &RunData) -> Result<In, Error> {
    data.input.to().map_err(|error| {
        Error::new(
            ErrorKind::Build,
            crate::wording::not_the_agents_input(&error),
        )
    })
}

/// Agent that only fails, in place of one that does not take the run's input.
struct Refusing {
    name: String,
    why: String,
}

#[async_trait]
impl Agent for Refusing {
    type In = Json;
    type Out = Json;

    fn name(&self) -> &str {
        &self.name
    }

    async fn work(&self, _: &RunContext, _: Json) -> Result<Json, Error> {
        Err(Error::new(ErrorKind::InvalidInput, self.why.clone()))
    }
}

/// Ends a run whose input does not fit this agent. If the run has begun, or its input was checked when it was started,
/// the run is not ended but held: a worker that has the agent as it was then can go on with it. The work is on the
/// heap: runs that fit need no stack for it.
fn refuse(name: String, why: String, with: With) -> BoxFuture<'static, Result<Went, Error>> {
    Box::pin(async move {
        if !with.data.unchecked || with.journal.has_begun() {
            return Err(Error::new(ErrorKind::Build, why));
        }
        let agent = Refusing { name, why };
        let input = with.data.input.clone();
        until_waiting(agent.run(input), with).await
    })
}

/// Goes on with a run of this agent until it ends or waits, and returns its state.
pub(crate) async fn go_on<A: Agent>(
    agent: &A,
    input: A::In,
    mut with: With,
) -> Result<Went, Error> {
    let Some(Talk { before, shorten }) = with.talk.take() else {
        return until_waiting(agent.run(input), with).await;
    };
    let mut chat = agent.chat();
    if let Some(shorten) = shorten {
        chat = chat.shorten(shorten);
    }
    if let Some(before) = before {
        chat = chat.resume(before)?;
    }
    let went = until_waiting(chat.send(input), with).await?;
    Ok(match went {
        Went::Done { error, .. } => Went::Done {
            error,
            said: Some(Box::new(chat.snapshot())),
        },
        waiting => waiting,
    })
}

async fn until_waiting<A: Agent>(run: Run<'_, A>, with: With) -> Result<Went, Error> {
    let With {
        id,
        data,
        journal,
        decisions,
        settings,
        cancel,
        pause,
        fence,
        talk: _,
        texts,
        given,
        models,
    } = with;
    let mut run = run
        .journal(journal)
        .findings(decisions.findings.clone())
        .steering(&decisions.steering)
        .approver(StoredDecisions(decisions))
        .confirm_repeats()
        .clock(OfRun(id))
        .cancel(cancel)
        .no_effects_after(pause)
        .fence(fence);
    if let Some(texts) = texts {
        run = run.on_event(move |event| texts.on(event));
    }
    for (name, secret) in given {
        run = run.secret(name, secret);
    }
    let run =
        with_code(run, data, &settings).allow_model_change(move |_, now| models.contains(now));
    // On the heap, so that the futures around it stay small.
    Ok(match Box::pin(run.until_waiting()).await? {
        Progress::Done(outcome) => Went::Done {
            error: outcome.result.err(),
            said: None,
        },
        Progress::Waiting(requests) => {
            Went::Waiting(requests.into_iter().map(|request| request.id).collect())
        }
    })
}

/// Sets on a run what its data says, and the code that belongs to the runtime: models, policies, secrets.
fn with_code<'a, A: Agent>(run: Run<'a, A>, data: RunData, settings: &Settings) -> Run<'a, A> {
    let is_one_call = data.is_one_call();
    let mut run = run.scope(data.scope);
    if let Some(budget) = data.budget {
        run = run.budget(budget);
    }
    if let Some(model) = &settings.model {
        run = run.model(model.clone());
    }
    if let Some(purposes) = &settings.purposes {
        run = match is_one_call {
            true => run.purposes(AdmitsFixed(purposes.clone())),
            false => run.purposes(purposes.clone()),
        };
    }
    for model in &settings.known_models {
        run = run.known_model(model.clone());
    }
    for rule in settings.model_changes.iter().cloned() {
        run = run.allow_model_change(move |before, now| rule(before, now));
    }
    for policy in &settings.policies {
        run = run.policy(policy.clone());
    }
    match &settings.secrets {
        Some(secrets) => run.secrets(secrets.clone()),
        None => run,
    }
}
