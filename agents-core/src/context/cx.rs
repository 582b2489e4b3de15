use super::{Earlier, Handover, Node, RepairScope, Root, Settings, Stopwatch, Within};
use crate::{
    Json,
    escalation::Inbox,
    journal::Fact,
    model::{Model, OfRun, Usage},
    place::{Placement, TeamPlace},
    run::{Cost, Limit, Timestamp},
    secret::{Masker, Secret, SecretError, resolve},
    shared::Shared,
    tool::Scope,
};
use async_trait::async_trait;
use std::{fmt, future::Future, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

tokio::task_local! {
    static CURRENT: RunContext;
}

/// Handle to a place in a run; [`Agent::run_in`](crate::Agent::run_in) takes it to run an agent
/// there, for instance in a spawned task.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Agent, Error, async_trait, run::RunContext};
///
/// /// Runs another agent in a task of its own, as a part of the same run.
/// struct Aside<A>(std::sync::Arc<A>);
///
/// #[async_trait]
/// impl<A: Agent + 'static> Agent for Aside<A> {
///     type In = A::In;
///     type Out = A::Out;
///
///     fn name(&self) -> &str {
///         "aside"
///     }
///
///     async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
///         let (agent, cx) = (self.0.clone(), cx.clone());
///         tokio::spawn(async move { agent.run_in(&cx, input).await })
///             .await
///             .map_err(|error| Error::new(agents::ErrorKind::Failed, error.to_string()))?
///     }
/// }
/// # use agents::{AgentBuilder, testing::{Script, ScriptedModel}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("42")]);
/// # let oracle = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let outcome = Aside(oracle.into()).run("?").outcome().await?;
/// assert_eq!(outcome.result?, 42);
/// assert_eq!(outcome.usage.requests, 1, "it was a part of this run");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RunContext {
    pub(crate) node: Arc<Node>,
    pub(crate) root: Shared<Root>,
    /// Call or answer of the agent within which this place is; `None` outside of calls and answers.
    pub(crate) within: Option<Within>,
    /// Model of the agent that runs here. It is for agents below that bring no model of their own.
    model: Option<Arc<dyn Model>>,
    /// Repair for which the agent here was asked; `None` if it is no repair agent.
    repair: Option<Shared<RepairScope>>,
    /// Innermost repair around this place, however deep the place is within it.
    enclosing_repair: Option<Shared<RepairScope>>,
    /// Innermost deadline that applies to this place, if there is one.
    watch: Option<Shared<Stopwatch>>,
    /// Inbox of the agents to which escalations raised here go.
    inbox: Option<Shared<Inbox>>,
    /// Is `true` if the topmost agent to which escalations raised here go was run by plain code, and not by another
    /// agent.
    from_code: bool,
    /// Is `true` if people's instructions to the run reach the agent here: it answers for the run, or is a part of the
    /// composition that was run.
    is_steered: bool,
    /// Place in a team of the agent that works here. It does not apply to agents that this agent runs.
    place: Option<TeamPlace>,
    /// Conversation that was handed to the agent here; `None` if none was.
    handover: Option<Shared<Handover>>,
    /// Conversation that the agent here hands to the agent that it runs next; `None` if there is none. In a hand-off
    /// the next agent also gets the place in a team of the agent here: see [`Handover::with_place`].
    handing: Option<Shared<Handover>>,
    /// `tracing` span of this place. Work of this place that goes on in another task, outside of any span, is put into
    /// it.
    span: Span,
}

impl RunContext {
    pub(crate) fn root(root: Shared<Root>) -> Self {
        let Settings { model, watch, .. } = &root.settings;
        Self {
            node: root.node.clone(),
            within: None,
            model: model.clone(),
            repair: None,
            enclosing_repair: None,
            inbox: None,
            from_code: false,
            is_steered: true,
            place: None,
            handover: None,
            handing: None,
            watch: watch.clone(),
            span: root.span(),
            root,
        }
    }

    /// Returns the context of the code that is running; `None` outside of a run. A task that code of a run has spawned
    /// is outside, except within an agent that [`run_in`](crate::Agent::run_in) runs there.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.root.run_id
    }

    /// Returns the scope for which the run works: organisation, workspace and user.
    pub fn scope(&self) -> &Scope {
        &self.root.settings.scope
    }

    /// Returns the time left before the agent here, a call around it or a run around it is stopped; `None` if nothing
    /// is bounded in time.
    ///
    /// The clock stops while a person is asked, and while an agent waits in a [pause](crate::run::Steering::pause).
    pub fn time_left(&self) -> Option<Duration> {
        self.watch.as_ref().map(|watch| watch.left())
    }

    /// Returns the masker of the run's secrets, for text that you log or store yourself.
    pub fn masker(&self) -> &Arc<Masker> {
        &self.root.settings.masker
    }

    /// Looks for a secret by its name. A secret that is found is masked from now on.
    pub(crate) async fn secret(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        let settings = &self.root.settings;
        let secret = match (settings.secrets.get(name), &settings.secret_store) {
            (Some(given), _) => Some(Secret::of_run(given.clone())),
            (None, Some(keeper)) => resolve(&**keeper, &settings.scope, name).await?,
            (None, None) => None,
        };
        if let Some(secret) = &secret {
            secret.hide(name, &settings.masker)?;
        }
        Ok(secret)
    }

    /// Returns the place below this one for another run of `agent` with this input. The same agent with the same input
    /// gets a new place each time.
    pub(crate) fn agent_child(&self, agent: &str, input: &str) -> Self {
        Self {
            node: self.here().agent_child(agent, input),
            within: None,
            place: self.place.clone().filter(|_| self.hands_place_on()),
            handover: self.handing.clone(),
            handing: None,
            ..self.clone()
        }
    }

    /// Returns this place for an agent that takes over the conversation. That agent also takes over the place in a team
    /// if [`Handover::with_place`] is `true`.
    pub(crate) fn handing(&self, handover: Handover) -> Self {
        Self {
            handing: Some(Shared::new(handover)),
            ..self.clone()
        }
    }

    fn hands_place_on(&self) -> bool {
        let handing = self.handing.as_ref();
        handing.is_some_and(|handover| handover.with_place)
    }

    /// Returns this place for an agent that answers for the agent here, such as the last agent of a chain: that agent
    /// gets the conversation.
    #[cfg(feature = "compose")]
    pub(crate) fn speaking(&self) -> Self {
        let by = self.handover().map(|handover| handover.by.clone());
        let earlier = Earlier {
            // Whoever gets it may hand it on, but is not the agent to which it was handed.
            handed_to: Vec::new(),
            ..self.earlier()
        };
        self.handing(Handover {
            earlier,
            by: by.unwrap_or_default(),
            with_place: false,
        })
    }

    /// Returns the conversation that was handed to the agent here; `None` if none was.
    pub(crate) fn handover(&self) -> Option<&Handover> {
        self.handover.as_deref()
    }

    /// Opens a place for a nested run (a run of its own) of `agent` here, and returns its path: another path each time.
    pub(crate) fn place_of(&self, agent: &str, input: &str) -> String {
        format!("{}/run", self.agent_child(agent, input).node.path())
    }

    /// Returns the place for work within the call `seq`, such as the tool's, in the round `attempt`.
    pub(crate) fn in_call(&self, seq: u32, attempt: u32) -> Self {
        self.inside(Within::Call(seq, attempt))
    }

    /// Returns the place for work on the answer of one turn, such as its repair.
    pub(crate) fn in_answer(&self, turn: u32) -> Self {
        self.inside(Within::Answer(turn))
    }

    fn inside(&self, within: Within) -> Self {
        Self {
            within: Some(within),
            repair: None,
            is_steered: false,
            ..self.clone()
        }
    }

    pub(crate) fn here(&self) -> Arc<Node> {
        match self.within {
            Some(within) => self.node.inside(within),
            None => self.node.clone(),
        }
    }

    /// Returns this place for an agent with a place in a team. `allowed` is the time of the call, if a call asks the
    /// agent.
    pub(crate) fn placed(&self, placement: &Shared<Placement>, allowed: Option<Duration>) -> Self {
        let place = match &self.place {
            None => TeamPlace {
                placement: placement.clone(),
                allowed,
            },
            Some(outer) => TeamPlace {
                placement: Shared::new(placement.within(&outer.placement)),
                allowed: outer.allowed.or(allowed),
            },
        };
        Self {
            place: Some(place),
            ..self.clone()
        }
    }

    /// Returns the place in a team of the agent that works here, if it has one.
    pub(crate) fn place(&self) -> Option<&TeamPlace> {
        self.place.as_ref()
    }

    /// Returns this place for an agent that is driven by `model`.
    pub(crate) fn with_model(&self, model: Arc<dyn Model>) -> Self {
        Self {
            model: Some(model),
            ..self.clone()
        }
    }

    /// Returns this place within a deadline, if `watch` holds one.
    pub(crate) fn timed(&self, watch: Option<&Shared<Stopwatch>>) -> Self {
        self.driven(None, watch)
    }

    /// Returns this place for an agent, driven by the agent's own model and within its own time where these are given.
    pub(crate) fn driven(
        &self,
        model: Option<&Arc<dyn Model>>,
        watch: Option<&Shared<Stopwatch>>,
    ) -> Self {
        let mut here = self.clone();
        if let Some(model) = model {
            here.model = Some(model.clone());
        }
        if let Some(watch) = watch {
            here.watch = Some(watch.clone());
        }
        here
    }

    /// Returns this place for one execution of a tool, with its deadline and its span.
    pub(crate) fn executing(&self, watch: &Shared<Stopwatch>, span: &Span) -> Self {
        let mut here = self.clone();
        here.watch = Some(watch.clone());
        here.span = span.clone();
        here
    }

    /// Returns this place for an agent whose escalations from below arrive in this inbox.
    pub(crate) fn at(&self, inbox: &Shared<Inbox>) -> Self {
        Self {
            inbox: Some(inbox.clone()),
            ..self.clone()
        }
    }

    /// Returns the inbox of the agent that works here.
    pub(crate) fn inbox(&self) -> Option<&Shared<Inbox>> {
        self.inbox.as_ref()
    }

    /// Returns this place for an agent that plain code runs, so that its escalations end at that code.
    pub(crate) fn under_code(&self) -> Self {
        Self {
            inbox: None,
            from_code: true,
            is_steered: false,
            ..self.clone()
        }
    }

    pub(crate) fn is_from_code(&self) -> bool {
        self.from_code
    }

    /// Returns `true` if people's instructions to the run reach the agent here. They reach no agent within a call or a
    /// repair, and none that code runs.
    pub(crate) fn is_steered(&self) -> bool {
        self.is_steered
    }

    /// Returns a place beside this one, for work that begins anew and does not continue what went on here.
    pub(crate) fn beside(&self, what: &str) -> Self {
        Self {
            node: self.node.beside(what),
            within: None,
            ..self.clone()
        }
    }

    /// Returns `true` if an agent that ran within the call here gave a partial result.
    pub(crate) fn is_partial(&self) -> bool {
        self.within
            .and_then(|within| self.node.known(within))
            .is_some_and(|known| known.is_partial())
    }

    /// Carries out `work` here, within `time` if that is given. If the time runs out, the agent's bound on time is
    /// passed: the run or the repair around this place ends, and the call never returns. The time stands still while a
    /// person is asked, and while the work waits in a pause.
    pub(crate) async fn within<T>(
        &self,
        time: Option<Duration>,
        work: impl AsyncFnOnce(&Self) -> T,
    ) -> T {
        let Some(time) = time else {
            return work(self).await;
        };
        let watch = Stopwatch::start(self.node.left_of(time), self.watch.clone());
        let here = self.timed(Some(&watch));
        tokio::select! {
            biased;
            result = work(&here) => result,
            () = watch.expired() => match self.exceed(self.node.passed(Limit::Time(time))).await {},
        }
    }

    /// Returns the innermost deadline that applies to this place, if there is one.
    pub(crate) fn watch(&self) -> Option<&Shared<Stopwatch>> {
        self.watch.as_ref()
    }

    /// Waits for ever if the run is about to be put down, so that nothing begins here. The time of the agents above does
    /// not count meanwhile: the run goes on later. A part of an effect that is under way does not wait, because the run
    /// waits for that effect.
    pub(crate) async fn until_put_down(&self) {
        let settings = &self.root.settings;
        let token = settings.no_effects.as_ref();
        let mut around = self.watch().into_iter().chain(&settings.watch);
        let is_wanted = token.is_some_and(CancellationToken::is_cancelled);
        if is_wanted && !around.any(|watch| watch.is_of_an_effect()) {
            let _still = self.watch().map(Shared::stand_still);
            // Whoever puts the run down waits until the ends of effects are stored.
            self.node.machine().flush();
            std::future::pending().await
        }
    }

    /// Returns this place for a repair agent that works on this repair.
    pub(crate) fn repairing(&self, scope: &Shared<RepairScope>) -> Self {
        Self {
            repair: Some(scope.clone()),
            enclosing_repair: Some(scope.clone()),
            ..self.under_code()
        }
    }

    /// Returns the repair that the agent here was asked for, if it is a repair agent.
    pub(crate) fn repair(&self) -> Option<&Shared<RepairScope>> {
        self.repair.as_ref()
    }

    /// Returns the innermost repair within which this place is; `None` outside of repairs.
    pub(crate) fn enclosing_repair(&self) -> Option<&Shared<RepairScope>> {
        self.enclosing_repair.as_ref()
    }

    pub(crate) fn model(&self) -> Option<&Arc<dyn Model>> {
        self.model.as_ref()
    }

    /// Returns the conversation that the agent here continues: the one that was handed to it, or that of the chat if it
    /// is the agent of the run; empty in any other case.
    pub(crate) fn earlier(&self) -> Earlier {
        if let Some(handover) = &self.handover {
            return handover.earlier.clone();
        }
        let exchange = self.root.settings.exchange.as_ref();
        match exchange.filter(|_| self.node.continues(&self.root.node)) {
            Some(exchange) => exchange.earlier(),
            None => Earlier::default(),
        }
    }

    /// Creates the scope of a repair that begins here; `None` if too many repairs are nested already.
    pub(crate) fn repair_scope(&self) -> Option<Shared<RepairScope>> {
        RepairScope::within(self.enclosing_repair.clone(), self.node.level() + 1)
    }

    /// Returns `true` if it is not known whether an earlier execution of this tool took effect, in this run, in the
    /// runs around it or in the runs within them.
    pub(crate) fn is_in_doubt(&self, tool: &str) -> bool {
        let settings = &self.root.settings;
        settings.past.is_in_doubt(tool, &settings.findings)
    }

    /// Records what people have found out about calls of this run that are in doubt.
    pub(crate) fn find_out(&self) {
        let findings = &self.root.settings.findings;
        if findings.is_empty() {
            return;
        }
        for call in self.node.calls_in_doubt() {
            if let Some(finding) = findings.of(&call) {
                self.node.add(Fact::FoundOut { call, finding });
            }
        }
    }

    /// Adds the usage and the cost of a nested run (a run of its own) that went on here to this run's.
    pub(crate) fn charge(&self, usage: Usage, cost: Option<Cost>) {
        self.here().add(Fact::Charged { usage, cost });
    }

    /// Returns the number of tokens that models have used within this place.
    pub(crate) fn spent(&self) -> u64 {
        self.here().spent()
    }

    pub(crate) fn result(&self) -> Option<Json> {
        self.node.result()
    }

    pub(crate) fn finish(&self, result: Json) {
        self.node.add(Fact::Done { result });
    }

    /// Returns the current time by the clock of the run.
    pub(crate) fn now(&self) -> Timestamp {
        self.root.settings.clock.now()
    }

    /// Returns the round of the call around this place, for data that has to differ between rounds; 0 outside of a
    /// call.
    pub(crate) fn round(&self) -> u32 {
        match self.within {
            Some(Within::Call(_, round)) => round,
            _ => 0,
        }
    }

    /// Runs `work` here, so that agents which it runs find this place by themselves. If the current task is in no span,
    /// the work is put into this place's span, so that a run stays one trace.
    pub(crate) fn enter<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        let span = match Span::current().is_none() {
            true => self.span.clone(),
            false => Span::none(),
        };
        // Not `async`: that would hold `work` twice.
        CURRENT.scope(self, work).instrument(span)
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("run_id", &self.run_id())
            .field("path", &self.node.path().to_string())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl OfRun for RunContext {
    fn of_id(&self) -> &str {
        self.run_id()
    }

    fn of_scope(&self) -> &Scope {
        self.scope()
    }

    async fn find(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        self.secret(name).await
    }
}
