//! Settings of a run as a whole: its scope, its bounds, its models and secrets, its approver and its callbacks.

use super::{Agent, Run};
use crate::{
    Json,
    context::GivenJournal,
    error::ErrorRecord,
    journal::Journal,
    model::{Model, Purposes},
    run::{Approver, Budget, Clock, Event, Findings, Steering, ToolCallMetadata, ToolEnvelope},
    secret::{SecretValue, Secrets},
    tool::Scope,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl<A: Agent> Run<'_, A> {
    /// Sets the model that drives every agent of the run, instead of any model that an agent brings or is given. The
    /// setting is for tests, and for recorded replies: `journal::Recorded::model`, with the feature `recordings`.
    ///
    /// The model applies to delegates, repair agents and all parts of a composed agent, to the choice of a skill, and
    /// to the runs within this one. Among these runs, one with an `override_model` of its own has that model. An agent
    /// in a [spawned task](Agent::run) begins a run of its own, and keeps its model.
    ///
    /// A journal has the name of the model that was asked. A stored run that began with this model goes on with it, or
    /// with another `override_model`. Without an `override_model`, an agent that has begun goes on only with a model
    /// of the same name.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (dear, _) = ScriptedModel::new([]);
    /// # let (scripted, _) = ScriptedModel::new([Script::text("Ariadne")]);
    /// let namer = AgentBuilder::<String, String>::new("namer").model(dear).build();
    /// assert_eq!(namer.run("A maze solver").override_model(scripted).await?, "Ariadne");
    /// # Ok(())
    /// # }
    /// ```
    pub fn override_model(mut self, model: impl Model) -> Self {
        self.settings.override_model = Some(Arc::new(model));
        self.root()
    }

    /// Allows agents of a stored run to go on with another model than the one that has driven them, if the rule returns
    /// `true`. The rule gets the name of the model before and the name of the model now, each without its fallbacks. A
    /// change that no rule allows ends the run's work with [`ErrorKind::Replay`](crate::ErrorKind::Replay) before its next
    /// call is carried out, and the run can go on later.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, journal::MemoryJournal};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
    /// # let journal = MemoryJournal::new();
    /// let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
    /// let run = geographer.run("Norway").journal(journal);
    /// // `qwen3:4b` was taken out of service while runs waited.
    /// let run = run.allow_model_change(|before, now| (before, now) == ("ollama/qwen3:4b", "ollama/qwen3:8b"));
    /// assert_eq!(run.await?, "Oslo");
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_model_change(
        mut self,
        rule: impl Fn(&str, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.model_changes.push(Arc::new(rule));
        self.root()
    }

    /// Sets the model for agents that bring none of their own.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (scripted, _) = ScriptedModel::new([Script::text("Ariadne")]);
    /// // Built once, without a model: each run brings one, and so does each test.
    /// let namer = AgentBuilder::<String, String>::new("namer").prompt("Name the project.").build();
    /// assert_eq!(namer.run("A maze solver").model(scripted).await?, "Ariadne");
    /// # Ok(())
    /// # }
    /// ```
    pub fn model(mut self, model: impl Model) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }

    /// Sets the source of models for agents that name a [purpose](crate::PurposeKey) in place of a model, such as a
    /// control plane.
    pub fn purposes(mut self, purposes: impl Purposes) -> Self {
        self.settings.purposes = Some(Arc::new(purposes));
        self.root()
    }

    /// Adds a model that a stored run finds by its name when the run goes on. If an `on_escalation` handler gave that
    /// model before, the handler is not asked for it again.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, escalation::retry_with_model, journal::MemoryJournal};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (large, _) = ScriptedModel::new([]);
    /// # let (small, _) = ScriptedModel::new([Script::text("Oslo")]);
    /// # let journal = MemoryJournal::new();
    /// let spare = large.clone();
    /// let geographer = AgentBuilder::<String, String>::new("geographer")
    ///     .on_escalation(move |_| retry_with_model(spare.clone()))
    ///     .build();
    /// let run = geographer.run("Norway").model(small).known_model(large);
    /// assert_eq!(run.journal(journal).await?, "Oslo");
    /// # Ok(())
    /// # }
    /// ```
    pub fn known_model(mut self, model: impl Model) -> Self {
        self.settings.known_models.push(Arc::new(model));
        self.root()
    }

    /// Sets the scope for which the run works: the name of a tenant, or a whole [`Scope`]. By default, the tenant is
    /// `""`; a run within another run has the scope of that run.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, tool::Scope};
    /// # use agents::{Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::call("orders", "{}"), Script::text("none")]);
    /// let orders = FnTool::new("orders", "Lists orders.", Effects::Reads, json!({"type": "object"}), |_, cx| async move {
    ///     Ok::<_, std::io::Error>(format!("the orders of {}", cx.tenant_id())) // never what a model says
    /// });
    /// let clerk = AgentBuilder::<String, String>::new("clerk").tool(orders).model(model).build();
    ///
    /// let outcome = clerk.run("Any orders?").scope(Scope::from("acme").user("ada")).outcome().await?;
    /// let receipt = outcome.outputs.last_tool.unwrap();
    /// assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""the orders of acme""#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope(mut self, scope: impl Into<Scope>) -> Self {
        self.settings.scope = scope.into();
        self.root()
    }

    /// Adds a secret that tools may ask for by name. The secret takes precedence over one that
    /// [`secrets`](Run::secrets) finds.
    ///
    /// The first secret of the process installs a panic hook. The hook masks the messages of panics, and wraps the hook
    /// that was there: see [`secret`](crate::secret#the-panic-hook).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// # use serde_json::json;
    /// use agents::secret::SecretError;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::call("ask_crm", "{}"), Script::text("done")]);
    /// let ask_crm = FnTool::new("ask_crm", "Asks.", Effects::Reads, json!({"type": "object"}), |_, cx| async move {
    ///     let key = cx.secret("crm").await?;
    ///     Ok::<_, SecretError>(format!("asked with {}", key.expose_secret())) // a tool that talks too much
    /// });
    /// let clerk = AgentBuilder::<String, String>::new("clerk").tool(ask_crm).model(model).build();
    ///
    /// let outcome = clerk.run("Who is ACME?").secret("crm", "the-key-of-acme").outcome().await?;
    /// let receipt = outcome.outputs.last_tool.unwrap();
    /// assert_eq!(receipt.output.as_ref().unwrap().as_str(), r#""asked with [secret:crm]""#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<SecretValue>) -> Self {
        self.settings.secrets.insert(name.into(), value.into());
        self.root()
    }

    /// Adds a cancellation token: the run ends when the token is cancelled. If several tokens are added, any of them
    /// ends the run.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use tokio_util::sync::CancellationToken;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("too late")]);
    /// # let agent = AgentBuilder::<String, String>::new("writer").model(model).build();
    /// let token = CancellationToken::new();
    /// let run = agent.run("Write a novel").cancel(token.clone());
    /// token.cancel(); // mostly from another task: when the client hangs up
    /// assert_eq!(run.await.unwrap_err().kind(), agents::ErrorKind::Cancelled);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.settings.cancel.push(token);
        self.root()
    }

    /// Sets the handle with which people steer the run while it goes on: with instructions to the agents at work, and
    /// with pauses. The delegates of the agent pause with it. A [run of its own](Run) that goes on within a tool does not
    /// pause, and goes on to its end.
    ///
    /// See [`Steering`] for an example.
    pub fn steering(mut self, steering: &Steering) -> Self {
        self.settings.steering = Some(steering.clone());
        self.root()
    }

    /// Bounds the whole run.
    ///
    /// Tokens, cost, time and depth are shared by all its agents. Turns, tool calls, identical calls, answers and
    /// recursion are counted for each agent, and the tighter of its own bound and this one applies.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::run::{minutes, tokens};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::always(Script::call("look", "{}"));
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// // A model that never comes to an end.
    /// let bounds = tokens(50_000).time(minutes(2)).max_turns(4);
    /// let outcome = agent.run("What is there?").budget(bounds).outcome().await?;
    /// assert_eq!(outcome.result.unwrap_err().kind(), agents::ErrorKind::Budget);
    /// assert_eq!(outcome.usage.requests, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = Some(budget);
        self.root()
    }

    /// Sets the approver, which is asked when a call needs approval. Without an approver, of this run or of a run
    /// around it, such calls are denied, and the questions of [`Ask`](crate::tool::Ask) have no answer but their
    /// default. Only [`until_waiting`](Run::until_waiting) waits instead.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::{self, FnTool, ToolSpec}};
    /// use agents::{Code, run::{Approval, ApprovalRequest}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, serde_json::json!({"type": "object"}));
    /// # let pay = FnTool::with_spec(spec.approval(tool::NeedsApproval::Always), |_, _| async { Ok::<_, std::io::Error>("paid") });
    /// # let (model, _) = ScriptedModel::new([Script::call("pay", r#"{"amount": 900}"#), Script::text("not paid")]);
    /// # let agent = AgentBuilder::<String, String>::new("payer").tool(pay).model(model).build();
    /// let ask_accounting = |request: ApprovalRequest| async move {
    ///     Approval::deny(format!("no {} before the audit", request.tool_name))
    /// };
    /// let outcome = agent.run("Pay the bill").approver(ask_accounting).outcome().await?;
    /// let receipt = outcome.outputs.receipts().next().unwrap();
    /// assert_eq!(receipt.error.as_ref().unwrap().code, Code::PolicyDenied);
    /// assert!(receipt.attempts.is_empty(), "it never ran");
    /// # Ok(())
    /// # }
    /// ```
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self.root()
    }

    /// Registers a callback for every [`Event`] of the run, as it happens.
    ///
    /// The callback should be quick: the run waits for it. A panic in the callback is logged, and the run goes on. A
    /// [run of its own](Run) within this run has callbacks of its own.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::run::{Event, EventKind};
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # use std::sync::{Arc, Mutex};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("Good morning")]);
    /// # let agent = AgentBuilder::<String, String>::new("greeter").model(model).build();
    /// # let page = Arc::new(Mutex::new(String::new()));
    /// # let shown = page.clone();
    /// // The answer on the page, as it is written.
    /// let run = agent.run("Greet me").on_event(move |event: &Event| {
    ///     if let EventKind::Text(piece) = &event.kind {
    ///         shown.lock().unwrap().push_str(piece);
    ///     }
    /// });
    /// run.await?;
    /// assert_eq!(*page.lock().unwrap(), "Good morning");
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_event(mut self, subscriber: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.settings.subscribers.push(Arc::new(subscriber));
        self.root()
    }

    /// Registers a callback that gets every tool call of the run once, when the call has ended: the tool's own name,
    /// the arguments as they ran (repairs included), and the result. A call that was refused, or cut off by the end of
    /// its run or agent, has ended as well. Look-ups of [knowledge](crate::AgentBuilder::knowledge) are left out.
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
        hook: impl Fn(&str, &Json, Result<&Json, &ErrorRecord>) + Send + Sync + 'static,
    ) -> Self {
        let hook = move |receipt: &ToolEnvelope| {
            if let Some(result) = receipt.result() {
                hook(&receipt.name, &receipt.input, result);
            }
        };
        self.settings.tool_hooks.push(Arc::new(hook));
        self.root()
    }

    /// Registers a callback for usage and billing, which gets every receipt of the run once: also those of calls that
    /// were refused or cut off, of knowledge, and of agents below. With the receipt comes a summary of the call, with
    /// the tokens and the [cost](Run::price) of the models within it.
    ///
    /// The models that drive the agents themselves are in [`Outcome::usage`](crate::Outcome::usage) and
    /// [`Outcome::cost`](crate::Outcome::cost). A run of its own within this run passes its receipts to its own
    /// callbacks only; its cost is part of the call around it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// # use std::sync::{Arc, Mutex};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::new([Script::call("look", "{}"), Script::text("dark")]);
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// let bill = Arc::new(Mutex::new(Vec::new()));
    /// let lines = bill.clone();
    /// let run = agent.run("Look.").on_receipt(move |receipt, call| {
    ///     lines.lock().unwrap().push((receipt.call_id.clone(), call.tool_name.clone(), call.cost));
    /// });
    /// let outcome = run.outcome().await?;
    /// assert_eq!(bill.lock().unwrap().len(), outcome.outputs.receipts().count());
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_receipt(
        mut self,
        hook: impl Fn(&ToolEnvelope, &ToolCallMetadata) + Send + Sync + 'static,
    ) -> Self {
        self.settings.receipt_hooks.push(Arc::new(hook));
        self.root()
    }

    /// Stores the facts of the run in this journal, so that the run survives the end of its process.
    ///
    /// An empty journal starts the run. A journal that breaks off continues its run, for the same agent and the same
    /// input. A journal of a finished run returns its outcome, and nothing is asked or run. Code is not stored: set
    /// models, tools, secrets, prices, policies and an approver again. Models and policies are found by their names, so
    /// each policy needs [one of its own](crate::policy::named).
    ///
    /// A tool that writes runs only after the intent to run it is stored. If the process ends before the end of the
    /// execution is stored, that execution is *in doubt* when the run goes on:
    ///
    /// | the tool | what happens |
    /// |-|-|
    /// | does not write | it runs again, at most three times in all |
    /// | is `idempotent` | it runs again, with the same key; at most three times in all, or as often as a `retry` allows |
    /// | is [`idempotent_for`](crate::tool::ToolSpec::idempotent_for) a time | the same within that time |
    /// | has an [`in_doubt`](crate::tool::InDoubt) | that is asked |
    /// | is any other | the model is told that it may have taken effect, and a person is asked about every further call of that tool, in this run and in those around and within it |
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::journal::MemoryJournal;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([Script::text("4")]);
    /// # let adder = AgentBuilder::<String, u32>::new("adder").model(model).build();
    /// let journal = MemoryJournal::new();
    /// assert_eq!(adder.run("2 + 2").journal(journal.clone()).await?, 4);
    /// assert_eq!(adder.run("2 + 2").journal(journal.clone()).await?, 4); // as it was stored
    /// # assert_eq!(handle.requests().len(), 1);
    ///
    /// let error = adder.run("2 + 3").journal(journal).await.unwrap_err();
    /// assert_eq!(error.to_string(), "the journal belongs to a run with another input");
    /// # Ok(())
    /// # }
    /// ```
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.settings.journal = Some(GivenJournal::new(journal));
        self.root()
    }

    /// Sets the list of findings of people about calls in doubt. The run looks at the list while it goes on.
    ///
    /// The model is told of a finding about an earlier call of its own. Once there is a finding about each call in
    /// doubt of a tool, further calls of that tool need no approval because of the doubt.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, journal::MemoryJournal, run::{Finding, Findings}};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([Script::text("paid")]);
    /// # let payer = AgentBuilder::<String, String>::new("payer").model(model).build();
    /// # let journal = MemoryJournal::new();
    /// let findings = Findings::new();
    /// // Of the receipt's id, with `effect_unknown` in its last attempt:
    /// findings.add("7f3a", Finding::took_effect().by("grace"));
    /// payer.run("Pay.").journal(journal).findings(findings).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn findings(mut self, findings: Findings) -> Self {
        self.settings.findings = findings;
        self.root()
    }

    /// Begins no turn of an agent, no execution of a tool that writes, and none of an approved call, once this token is
    /// cancelled; they wait. Such executions that are under way end, with all that is a part of them. Whoever puts the run
    /// down cancels the token, and drops the run when no such execution is under way. A delegate counts only if its call
    /// was approved: it is a part of the run, and its own calls count.
    #[doc(hidden)]
    pub fn no_effects_after(mut self, token: CancellationToken) -> Self {
        self.settings.no_effects = Some(token);
        self.root()
    }

    /// Sets the clock that gives the run its timestamps and its id. A run within this one takes its time from the clock
    /// as well, unless that run has a clock of its own.
    ///
    /// The clock times everything that is stored, and decides when a wait between two attempts is over. Deadlines of
    /// this process are measured by the system clock, and so are the cache and the rate limiter in memory, which runs
    /// share.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.settings.clock = Arc::new(clock);
        self.settings.has_own_clock = true;
        self.root()
    }

    /// Turns lenient reading off for the whole run, whatever agents and tools declare: JSON with a trailing comma, or
    /// with a number in quotes, is an error then.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::Code;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    /// # let square = FnTool::new("square", "Squares.", Effects::None, schema, |_, _| async { Ok::<_, std::io::Error>(16) });
    /// # let (model, _) = ScriptedModel::new([Script::call("square", r#"{"n": "4",}"#), Script::text("16")]);
    /// # let agent = AgentBuilder::<String, String>::new("counter").tool(square).model(model).build();
    /// // For an evaluation that counts what a model does right by itself.
    /// let outcome = agent.run("The square of 4?").strict().outcome().await?; // it says {"n": "4",}
    /// let receipt = outcome.outputs.receipts().next().unwrap();
    /// assert_eq!(receipt.error.as_ref().unwrap().code, Code::ValidationError);
    /// # Ok(())
    /// # }
    /// ```
    pub fn strict(mut self) -> Self {
        self.settings.strict = true;
        self.root()
    }

    /// Has a person approve each call that has run before, whatever its outcome was: a call with the same arguments, of
    /// a tool that writes, is not idempotent and does not [poll](crate::tool::ToolSpec::polls). An earlier call of the
    /// same reply counts, too, if the server told the two apart by their ids; else the second one is not made at all, and
    /// the model is told how to make it. The request shows the earlier execution
    /// ([`ApprovalReason::Repeated`](crate::run::ApprovalReason::Repeated)). In a run without an approver, the call is
    /// denied.
    ///
    /// Without this setting, only executions that succeeded count. If the run has an approver, it is asked as well. If
    /// there is none, the call is not executed: the model is told the earlier result, and that it has to say in words of
    /// its own if it means the call twice.
    ///
    /// Executions in this run, in a run around it, and in any run within these count.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::run::{Approval, ApprovalRequest};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object", "properties": {"cents": {"type": "integer"}}});
    /// # let pay = FnTool::new("pay", "Pays.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("paid") });
    /// # let pays = || Script::call("pay", r#"{"cents": 900}"#);
    /// # let (model, _) = ScriptedModel::new([pays(), pays(), Script::text("paid once")]);
    /// # let agent = AgentBuilder::<String, String>::new("payer").tool(pay).model(model).build();
    /// let no = async |request: ApprovalRequest| Approval::deny(request.reasons[0].to_string());
    /// let outcome = agent.run("Pay 9 euros.").confirm_repeats().approver(no).outcome().await?; // it pays twice
    /// let second = outcome.outputs.receipts().nth(1).unwrap();
    /// assert!(second.error.as_ref().unwrap().message.contains("the same call has run before"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn confirm_repeats(mut self) -> Self {
        self.settings.confirms_repeats = true;
        self.root()
    }

    /// Refuses a call without a question if an equal call (same tool, same arguments) was denied before: in this run, in
    /// a run around it, or in any run within these. The model is told who denied it, and why. Without this setting, the
    /// approver is asked anew, and sees the denial
    /// ([`ApprovalReason::DeniedBefore`](crate::run::ApprovalReason::DeniedBefore)).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::{FnTool, NeedsApproval, ToolSpec}};
    /// use agents::run::{Approval, ApprovalRequest};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object", "properties": {"cents": {"type": "integer"}}});
    /// # let spec = ToolSpec::new("pay", "Pays.", Effects::Writes, schema).approval(NeedsApproval::Always);
    /// # let pay = FnTool::with_spec(spec, |_: serde_json::Value, _| async { Ok::<_, std::io::Error>("paid") });
    /// # let pays = || Script::call("pay", r#"{"cents": 900}"#);
    /// # let (model, _) = ScriptedModel::new([pays(), pays(), Script::text("not paid")]);
    /// # let agent = AgentBuilder::<String, String>::new("payer").tool(pay).model(model).build();
    /// let ada = async |_: ApprovalRequest| Approval::deny("no refund, fraud").by("ada");
    /// let outcome = agent.run("Pay 9 euros.").approver(ada).refuse_denied().outcome().await?; // it asks twice
    /// let second = outcome.outputs.receipts().nth(1).unwrap();
    /// assert!(second.error.as_ref().unwrap().message.contains("was denied before: no refund, fraud (by ada"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn refuse_denied(mut self) -> Self {
        self.settings.refuses_denied = true;
        self.root()
    }

    /// Includes prompts, answers and arguments in the `tracing` spans; off by default, since they
    /// may hold sensitive data.
    pub fn record_content(mut self) -> Self {
        self.settings.record_content = true;
        self.root()
    }

    /// Sets the store that is asked for the secrets of tools, on behalf of the run's [scope](Run::scope); see
    /// [`secret`](crate::secret).
    ///
    /// The first secret that the store gives in the process installs [a panic hook](crate::secret#the-panic-hook).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::secret::SecretStore;
    /// use agents::tool::Scope;
    /// # use agents::{Agent, agent::ModelAgent};
    /// # async fn run(clerk: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
    /// // Ada's own key where she has one, else the key of the whole organisation.
    /// let secrets = SecretStore::new()
    ///     .org("acme", "crm", "the key of all of acme")
    ///     .user("acme", "ada", "crm", "the key of ada");
    /// clerk.run("Who is our best customer?").scope(Scope::from("acme").user("ada")).secrets(secrets).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.settings.secret_store = Some(Arc::new(secrets));
        self.root()
    }

    /// Sets the fencing token of the lease under which this process works on the run. Tools hand it to systems that
    /// check it: see [`ToolContext::fence`](crate::ToolContext::fence). A durable runtime sets it.
    pub fn fence(mut self, token: u64) -> Self {
        self.settings.fence = Some(token);
        self.root()
    }

    /// Sets a URL template for the run's trace, with the placeholders `{trace_id}` and `{run_id}`. The filled-in URL is
    /// [`AgentOutputs::traces_url`](crate::run::AgentOutputs).
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
