//! A run as its caller sees it: the settings before it begins, and the ways in which it ends.

mod call_settings;
mod driver;
#[cfg(feature = "recordings")]
mod replay;
mod settings;
mod stream;

pub use stream::{Partial, PartialStream, RunStream, TextDelta, TextFollower, TextStream};

use super::{Agent, held::Held};
use crate::agent::wording;
use crate::{
    Error, ErrorKind, Json,
    agent::prompt_of,
    context::{Exchange, Going, Origin, Root, RunContext, Settings, until_waiting},
    journal::{Stored, Terms},
    observe, panics,
    place::check_run,
    run::{ApprovalRequest, Outcome, Stop},
};
use driver::{steer, stored_outcome};
use futures_util::{FutureExt, future::BoxFuture};
use std::{fmt, future::IntoFuture, pin::pin};

/// Run of an agent that is about to start: configure it, then await it for the answer, or call
/// [`outcome`](Run::outcome) for all its results.
///
/// Dropping the future ends the run at once and frees everything. [`stream`](Run::stream) gives the events of the run, or
/// the text of its answer, as they come.
///
/// Callbacks, policies, prices and cancellation tokens add up: [`on_event`](Run::on_event),
/// [`on_tool_use`](Run::on_tool_use), [`on_receipt`](Run::on_receipt), [`policy`](Run::policy), [`price`](Run::price),
/// [`cancel`](Run::cancel), [`known_model`](Run::known_model), and [`secret`](Run::secret) by name. Every other
/// setting has one value, and the last call sets it: for instance the model, the scope, the budget, the approver, the
/// store of [`secrets`](Run::secrets), the clock and the [`journal`](Run::journal).
///
/// Inside a tool or another agent, an awaited run is a part of the run that goes on there. Any setting other than
/// `.model(..)`, or a call of `.outcome()`, makes it a run of its own, with its own budget, receipts and trace. Such a
/// run has the scope, the model, the models for purposes, the approver, the journal and the secrets of the run around it
/// unless others are set. The policies of the run around it apply as well, and so do its [strict](Run::strict) reading,
/// its [confirmation of repeats](Run::confirm_repeats) and its tighter limits on the time of tools and the size of
/// outputs and arguments. Its cost is charged to both runs. Its own budget and its own token end only this run. A throw
/// in it ends the run around it as well, and then this call never returns.
///
/// ```
/// # use agents_core as agents;
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// use agents::Budget;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("42"), Script::text("43")]);
/// # let oracle = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let answer = oracle.run("?").await?;
/// let outcome = oracle.run("And now?").scope("acme").budget(Budget::new().max_turns(3)).outcome().await?;
/// assert_eq!((answer, outcome.result?), (42, 43));
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing until it is awaited"]
pub struct Run<'a, A: Agent> {
    agent: Held<'a, A>,
    input: A::In,
    settings: Settings,
    /// Is `true` if a setting was made that only a run of its own can have, so that the run is not a part of the one
    /// around it.
    needs_own_run: bool,
}

/// State of a run that returns when it has to wait for people: see [`Run::until_waiting`].
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them for a run")]
pub enum Progress<T> {
    /// The run is over, with this outcome.
    Done(Outcome<T>),
    /// The run waits for decisions about these requests, in the order in which they were made.
    Waiting(Vec<ApprovalRequest>),
}

impl<'a, A: Agent> Run<'a, A> {
    pub(crate) fn new(agent: &'a A, input: A::In) -> Self {
        Run {
            agent: Held::Borrowed(agent),
            input,
            settings: Settings::default(),
            needs_own_run: false,
        }
    }

    /// Gives the run a copy of its agent, so that the run no longer borrows it and may outlive the current function.
    ///
    /// The copy of an agent without fields costs nothing. The copy of an `Arc` of an agent shares the agent.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::{Agent, agent::RunStream};
    /// use std::sync::Arc;
    ///
    /// // The response of a web server: it outlives the function that made it.
    /// fn respond<A: Agent<In = String> + 'static>(agent: &Arc<A>, question: String) -> RunStream<'static, A::Out> {
    ///     agent.run(question).owned().stream()
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("noon")]);
    /// # let clock = Arc::new(AgentBuilder::<String, String>::new("clock").model(model).build());
    /// # assert_eq!(respond(&clock, "?".to_owned()).outcome().await?.result?, "noon");
    /// # Ok(())
    /// # }
    /// ```
    pub fn owned(self) -> Run<'static, A>
    where
        A: Clone,
    {
        Run {
            agent: self.agent.owned(),
            input: self.input,
            settings: self.settings,
            needs_own_run: self.needs_own_run,
        }
    }

    /// Makes the run one exchange of a conversation: it sees the messages before it.
    pub(crate) fn part_of(mut self, exchange: Exchange) -> Self {
        self.settings.exchange = Some(Box::new(exchange));
        self.root()
    }

    fn root(mut self) -> Self {
        self.needs_own_run = true;
        self
    }

    /// Runs the agent as a run of its own, in a boxed future, so that the future of a run within a run stays small.
    fn on_its_own(self) -> BoxFuture<'a, Result<Outcome<A::Out>, Error>> {
        Box::pin(self.outcome())
    }

    /// Runs to the end and returns the [`Outcome`]: the result, the receipts, the usage and the
    /// trace.
    ///
    /// The agent has a run of its own, also inside another run.
    ///
    /// # Errors
    /// Only when the run cannot start as it is configured; later errors are in [`Outcome::result`].
    pub fn outcome(
        self,
    ) -> impl Future<Output = Result<Outcome<A::Out>, Error>> + Send + use<'a, A> {
        // Not `async`: that would hold the run twice.
        self.go().map(|progress| match progress? {
            Progress::Done(outcome) => Ok(outcome),
            // Only a run with an activity ends when it waits.
            Progress::Waiting(_) => Err(Error::new(ErrorKind::Journal, wording::WAITS_FOR_PEOPLE)),
        })
    }

    /// Runs until the end, or until the run waits for people and nothing else in it moves. The run then ends in this
    /// process: it costs no task and no memory. Run it again with its journal when there are decisions.
    ///
    /// The approver is asked as in any run. A decision that the approver gives at once is taken. A decision that takes
    /// time is waited for only as long as something else in the run moves. Without an approver, each request waits.
    /// When the run goes on later, code between its agents runs again, as it does after the end of a process. A tool
    /// that writes and is not idempotent is never dropped while it runs.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}};
    /// # use agents::tool::{FnTool, NeedsApproval, ToolSpec};
    /// # use serde_json::json;
    /// use agents::{agent::Progress, journal::MemoryJournal, run::{Approval, ApprovalRequest}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = json!({"type": "object"});
    /// # let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    /// # let pay = FnTool::with_spec(spec, |_, _| async { Ok::<_, std::io::Error>("paid") });
    /// # let (model, _) = ScriptedModel::new([Script::call("pay", "{}"), Script::text("paid")]);
    /// # let payer = AgentBuilder::<String, String>::new("payer").tool(pay).model(model).build();
    /// let journal = MemoryJournal::new();
    /// let Progress::Waiting(requests) = payer.run("Pay.").journal(journal.clone()).until_waiting().await? else {
    ///     panic!("nothing may be paid before somebody decides");
    /// };
    /// assert_eq!(requests[0].tool_name, "pay");
    ///
    /// // Days later, in another process.
    /// let yes = |_: ApprovalRequest| async { Approval::Approve };
    /// let run = payer.run("Pay.").journal(journal).approver(yes);
    /// assert_eq!(run.await?, "paid");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the run cannot start as it is configured, has no journal, or is within another run. When the run has to
    /// wait, and its facts cannot be stored. Other errors are in [`Outcome::result`].
    pub async fn until_waiting(mut self) -> Result<Progress<A::Out>, Error> {
        if self.settings.journal.is_none() {
            return Err(Error::new(ErrorKind::Build, wording::WAITS_WITHOUT_JOURNAL));
        }
        if RunContext::current().is_some() {
            return Err(Error::new(ErrorKind::Build, wording::WAITS_WITHIN_A_RUN));
        }
        self.settings.activity = Some(Default::default());
        self.go().await
    }

    async fn go(self) -> Result<Progress<A::Out>, Error> {
        let Run {
            agent,
            input,
            mut settings,
            ..
        } = self;
        let agent = &*agent;
        let around = RunContext::current();
        if let Some(around) = &around {
            settings.inherit(around)?;
        }
        settings.hide()?;
        settings.executor.prices.check()?;
        let budget = settings.budget.as_ref();
        if let Some(defect) = budget.and_then(|budget| budget.defect("the run")) {
            return Err(Error::new(ErrorKind::Build, defect));
        }
        if settings.journal.is_some() || settings.writer.is_some() {
            Terms::can_be_kept(&settings)?;
        }
        if let Some(journal) = &settings.journal {
            settings.writer = Some(journal.open(&settings).await?);
        }
        let place = match &around {
            Some(around) => around.place_of(agent.name(), written(&input)?.as_str()),
            None => String::new(),
        };
        let past = settings
            .writer
            .as_ref()
            .and_then(|writer| match settings.journal {
                Some(_) => writer.stored(),
                None => writer.stored_at(&place),
            });
        let profile = panics::said_by(agent.name(), || agent.profile())?;
        if let Some(past) = &past {
            belongs(past, agent.name(), &written(&input)?)?;
            let terms = &past.started.terms;
            terms.fits(agent.name(), profile.answer.as_ref())?;
            terms.take_over(&mut settings)?;
            terms.check(&settings)?;
        }
        let past = past.map(Box::new);
        // A finished stored run needs no model any more.
        let has_model = past.is_some() || settings.model_for(settings.model.clone()).is_some();
        check_run(&profile, has_model)?;
        let origin = match settings.writer.is_some() {
            true => Some(Origin {
                agent: agent.name().to_owned(),
                input: written(&input)?,
                answer: profile.answer,
            }),
            false => None,
        };
        let said = prompt_of(&input).text;
        let root = Root::new(settings, agent.name(), place, past, origin, said);
        if let Some(outcome) = stored_outcome(&root) {
            if let Some(exchange) = &root.settings.exchange {
                exchange.settle(&root.node, &outcome);
            }
            root.close_journal().await;
            return Ok(Progress::Done(outcome));
        }
        // A stored run that is dropped goes on from its journal, and is settled then.
        let exchange = root.settings.exchange.as_ref();
        let unsettled = exchange
            .filter(|_| root.settings.writer.is_none())
            .map(|exchange| exchange.until_settled(&root.node));
        let own = root.settings.journal.as_ref();
        let writer = own.and(root.settings.writer.clone());
        let run = Going::on(writer, steer(agent, input, &root));
        let run = pin!(observe::observed(&root, agent.name(), run));
        // A run within another one is put down with it.
        let activity = root.settings.activity.as_ref();
        let activity = activity.filter(|_| around.is_none());
        let put_down = async || root.node.machine().put_down().await;
        let mut outcome = match until_waiting(activity, run, put_down).await {
            Ok(outcome) => outcome,
            Err(waiting) => {
                root.close_journal().await;
                #[cfg(any(test, feature = "testing"))]
                root.node.machine().check();
                let waiting = waiting.map_err(|error| {
                    Error::new(ErrorKind::Journal, error.to_string()).with_source(error)
                });
                return Ok(Progress::Waiting(waiting?));
            }
        };
        // The cost is charged before the end of the run is stored: after that, it is not charged again.
        if let Some(around) = &around {
            around.charge(outcome.usage, outcome.cost);
        }
        if let Err(error) = root.node.machine().store().await
            && outcome.result.is_ok()
        {
            outcome.result = Err(Error::new(ErrorKind::Journal, error.to_string()));
        }
        root.close_journal().await;
        #[cfg(any(test, feature = "testing"))]
        root.node.machine().check();
        if let Some(around) = around {
            // A difference from a recording is no failure that an agent could handle.
            if let Some(stop @ Stop::Diverged { .. }) = root.stopped() {
                match around.stop(stop).await {}
            }
            if let Err(error) = &outcome.result
                && error.kind() == ErrorKind::Thrown
            {
                match around.thrown(agent.name(), error).await {}
            }
        }
        match (unsettled, exchange) {
            (Some(unsettled), _) => unsettled.settle(&outcome),
            (None, Some(exchange)) => exchange.settle(&root.node, &outcome),
            (None, None) => {}
        }
        match outcome.result {
            Err(error) if error.kind() == ErrorKind::Build && outcome.usage.requests == 0 => {
                Err(error)
            }
            result => Ok(Progress::Done(Outcome { result, ..outcome })),
        }
    }
}

/// Checks that a stored journal is that of a run of this agent with this input; the error says what differs.
fn belongs(stored: &Stored, agent: &str, input: &Json) -> Result<(), Error> {
    let started = &stored.started;
    let refused = |why: String| Err(Error::new(ErrorKind::Journal, why));
    if started.agent != agent {
        return refused(wording::journal_of_another(&started.agent, agent));
    }
    if started.input != *input {
        return refused(wording::JOURNAL_OF_OTHER_INPUT.to_owned());
    }
    Ok(())
}

fn written<I: serde::Serialize>(input: &I) -> Result<Json, Error> {
    Json::of(input).map_err(|error| Error::new(ErrorKind::Build, wording::input_not_stored(&error)))
}

impl<'a, A: Agent> IntoFuture for Run<'a, A> {
    type Output = Result<A::Out, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            match (RunContext::current(), self.needs_own_run) {
                (Some(cx), false) => {
                    // Plain code is above the agent that it runs, and gets the escalations of that agent.
                    let cx = cx.under_code();
                    let cx = match self.settings.model {
                        Some(model) => cx.with_model(model),
                        None => cx,
                    };
                    self.agent.run_in(&cx, self.input).await
                }
                _ => self.on_its_own().await?.result,
            }
        })
    }
}

impl<A: Agent> fmt::Debug for Run<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("agent", &self.agent.name())
            .finish_non_exhaustive()
    }
}
