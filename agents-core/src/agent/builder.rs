use super::{Data, Skill, hand_off::Successor};
use crate::{
    Json,
    definition::{AgentDefinition, Answer, ContextPolicy, IntoPrompt, IntoVerdict, Validators},
    error::{AnyError, ErrorRecord},
    escalation::{Escalation, IntoResolution, SharedHandler, TakesOver},
    memory::Memory,
    model::{Model, PurposeKey},
    recovery::{CallError, ErrorContext, Fixer, Plan, RepairInput},
    run::{Budget, ToolEnvelope},
    tool::{IntoTool, ToolSet},
};
use schemars::JsonSchema;
use std::{borrow::Cow, fmt, sync::Arc};

/// Builder of an agent, without macros; `#[agent]` expands to calls of it.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::AgentBuilder;
/// use agents::run::Budget;
///
/// let namer = AgentBuilder::<String, Vec<String>>::new("namer")
///     .prompt("Suggest names for the project that is described to you.")
///     .budget(Budget::new().max_turns(3))
///     .build();
/// ```
#[must_use = "an agent is made by `.build()`"]
pub struct AgentBuilder<'a, I, O> {
    pub(super) agent: ModelAgent<'a, I, O>,
}

impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Starts an agent of this name, without a prompt, tools or a model of its own.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        AgentBuilder {
            agent: ModelAgent {
                definition: AgentDefinition::new(name.into()),
                skills: Vec::new(),
                memory: None,
                defects: Vec::new(),
                answer: Answer::new(),
                validators: Vec::new(),
                on_escalation: None,
                hand_offs: Vec::new(),
                input_name: None,
                repair_input: None,
            },
        }
    }

    /// Sets the description that callers of the agent are shown. By default, callers are shown the prompt if it is a
    /// text, and else the description of the skill if there is only one.
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.agent.definition.description = description.into();
        self
    }

    /// Sets the system prompt: a text, which may be lent, as `&self.prompt` is, or an async function that returns one.
    ///
    /// The function is called each time that the agent begins to work with its model, in a [`Chat`](super::Chat) for
    /// each message. Its text is a part of the run: a stored run that goes on does not call it again. It is called
    /// within the run, so it may run agents, and [`RunContext::current`](crate::run::RunContext::current) tells it for
    /// whom the run works. The agent's time limit bounds it. It may return `String`, or a `Result` with any error that
    /// can be displayed; an error ends the agent's work.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Error, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// # async fn opening_hours() -> Result<String, Error> { Ok("9 to 5".to_owned()) }
    /// # let (model, handle) = ScriptedModel::new([Script::text("At 5.")]);
    /// let desk = AgentBuilder::<String, String>::new("desk")
    ///     .prompt(|| async {
    ///         let hours = opening_hours().await?;
    ///         Ok::<_, Error>(format!("You answer guests. Today we are open from {hours}."))
    ///     })
    /// #     .model(model)
    ///     .build();
    /// desk.run("When do you close?").await?;
    /// # assert!(handle.requests()[0].prompt().contains("9 to 5"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prompt<K>(mut self, prompt: impl IntoPrompt<'a, K>) -> Self {
        self.agent.definition.prompt = prompt.into_prompt();
        self
    }

    /// Sets the name by which a model gives the agent its input, if the agent is a [delegate](crate::team); `input` by
    /// default. An input that is an object needs no name: its fields are the arguments.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, team::Member, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, _) = ScriptedModel::new([
    /// #     Script::call("researcher", r#"{"question": "Who?"}"#), Script::text("Ada."), Script::text("It was Ada."),
    /// # ]);
    /// let researcher = AgentBuilder::<String, String>::new("researcher").input_name("question").build();
    /// let lead = AgentBuilder::<String, String>::new("lead").build();
    /// // The model of `lead` calls `researcher` with `{"question": ".."}`.
    /// let team = Member::new(lead).delegate(researcher).build();
    /// # assert_eq!(team.run("Who was it?").model(model).await?, "It was Ada.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn input_name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.agent.input_name = Some(name.into());
        self
    }

    /// Sets the model that drives the agent. Without one, the caller's model is used, then the run's.
    pub fn model(mut self, model: impl Model) -> Self {
        self.agent.definition.model = Some(Arc::new(model));
        self
    }

    /// Sets the purpose of the agent's model, in place of a model: see [`PurposeKey`].
    ///
    /// In a run that knows [models for purposes](crate::agent::Run::purposes), the model for this purpose drives the
    /// agent. In any other run, the agent is one without a model of its own. A model that is set with
    /// [`model`](AgentBuilder::model) takes precedence.
    pub fn purpose(mut self, purpose: PurposeKey) -> Self {
        self.agent.definition.purpose = Some(purpose);
        self
    }

    /// Adds a tool that the agent's model may call, beside those that it has.
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.agent.definition.tools = self.agent.definition.tools.with(tool);
        self
    }

    /// Replaces the agent's tools with this set.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.agent.definition.tools = tools;
        self
    }

    /// Sets the agent's own budget; [`Budget::new`] by default. The budget of a run bounds the agent as well.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.agent.definition.budget = budget;
        self
    }

    /// Shortens the conversation before a request that would pass a share of the model's window: [`trim`](super::trim())
    /// leaves the older half out, and [`compact`](super::compact()) has an agent sum it up.
    ///
    /// Calls stay with their results, and the prompt, the user's last words and the last reply stay as they are. Receipts
    /// keep everything, so claims and known values of the run are checked as before. What is replaced is a part of the
    /// run, and [`EventKind::Shortened`](crate::run::EventKind::Shortened) tells of it. The size of the conversation is the
    /// count of the last reply, with an estimate of what was added: a token for every four bytes.
    ///
    /// If the model refuses a request because it is too long, the conversation is shortened once, if anything can be
    /// left out, and the model is asked once more.
    ///
    /// The size of the window is that of the model's [`Capabilities`](crate::model::Capabilities), or of
    /// [`ContextPolicy::window`](super::ContextPolicy::window). Without either, the first request is an error of the kind
    /// [`Build`](crate::ErrorKind::Build).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, agent::{compact, trim}};
    ///
    /// let reader = AgentBuilder::<String, String>::new("reader").context(trim().at(0.5)).build();
    /// let summariser = AgentBuilder::<String, String>::new("summariser")
    ///     .prompt("Sum up the conversation. Keep names, numbers and decisions.")
    ///     .build();
    /// let writer = AgentBuilder::<String, String>::new("writer").context(compact(summariser)).build();
    /// # let _ = (reader, writer);
    /// ```
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.agent.definition.context = Some(policy);
        self
    }

    /// Turns lenient reading off: arguments and answers are read as strict JSON, and the reader repairs nothing. Arms
    /// and repair agents are asked as usual.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, asked) = ScriptedModel::new([Script::text("Sure! `42`"), Script::text("42")]);
    /// let adder = AgentBuilder::<String, u32>::new("adder").strict().model(model).build();
    /// // An answer with words around it does not fit, so the model is asked again.
    /// assert_eq!(adder.run("17 + 25").await?, 42);
    /// # assert_eq!(asked.count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn strict(mut self) -> Self {
        self.agent.definition.strict = true;
        self
    }

    /// Refuses a call of this agent without a question if an equal call (same tool, same arguments) was denied before in
    /// the run. The model is told who denied it, and why. Otherwise a person is asked anew, and sees the
    /// [denial](crate::run::ApprovalReason::DeniedBefore). [`Run::refuse_denied`](crate::agent::Run::refuse_denied) does
    /// the same for all agents of a run, with an example.
    pub fn refuse_denied(mut self) -> Self {
        self.agent.definition.refuses_denied = true;
        self
    }

    /// Sets the agent's default error handler, `on_error!(match error { .. })`.
    ///
    /// The handler is asked about each failed call for which no other arms decide, unless the call was denied, and
    /// about final answers that do not fit.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, recovery::*};
    ///
    /// // Whatever tool it is: a failed execution is tried again, then explained to the model.
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .prompt("You look things up.")
    ///     .on_error(|error, _| match error {
    ///         CallError::Execution(_) => Some(retry::<Execution>().or(feedback("try another source")).into()),
    ///         _ => None, // the model is told
    ///     })
    ///     .build();
    /// ```
    pub fn on_error(
        mut self,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent.definition.arms.set_default(arms);
        self
    }

    /// Sets the error handler for one tool by name, `on_error!(Tool, match error { .. })`.
    ///
    /// This handler is asked before the tool's own handler. Several handlers for one tool are asked in the order in
    /// which they were set. `E` is the tool's error type.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, recovery::*};
    /// use std::io::{self, ErrorKind};
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .on_error_of::<io::Error>("read_file", |error, _| match error {
    ///         // The tool's own error, with its own type.
    ///         CallError::Execution(Failure::Returned(e)) if e.kind() == ErrorKind::NotFound => {
    ///             Some(feedback::<Execution>("list the folder first").into())
    ///         }
    ///         _ => None,
    ///     })
    ///     .build();
    /// ```
    pub fn on_error_of<E: 'static>(
        mut self,
        tool: &str,
        arms: impl Fn(CallError<'_, E>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent.definition.arms.add_for(tool, arms);
        self
    }

    /// Sets the default error handler of one skill, by name.
    ///
    /// This handler is asked while that skill is at work, after the tool's own handler and before the agent's default.
    /// The handler is also asked about final answers that do not fit. Several handlers for one skill are asked in the
    /// order in which they were set.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, agent::Skill, recovery::*};
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .skill(Skill::model("data_ops", "Works on files."))
    ///     .skill(Skill::model("small_talk", "Talks."))
    ///     .on_error_of_skill("data_ops", |error, _| match error {
    ///         CallError::Execution(_) => Some(retry::<Execution>().into()),
    ///         _ => None,
    ///     })
    ///     .build();
    /// ```
    pub fn on_error_of_skill(
        mut self,
        skill: impl Into<String>,
        arms: impl Fn(CallError<'_, AnyError>, &ErrorContext) -> Option<Plan> + Send + Sync + 'a,
    ) -> Self {
        self.agent.definition.arms.add_for_skill(skill.into(), arms);
        self
    }

    /// Registers a repair agent that only helper functions of the arms name, so that a resumed run can find the repair
    /// agent by its name.
    pub fn fixer(mut self, agent: impl Fixer) -> Self {
        self.agent.definition.fixers.push(Arc::new(agent));
        self
    }

    /// Sets the input of the agent if it takes a `String` and [repairs](Fixer) a call or an answer: the text that
    /// failed, or the report about it.
    ///
    /// By default, an agent that has skills, all of them with a body, is given the text, and any other agent the
    /// report.
    pub fn repair_input(mut self, input: RepairInput) -> Self {
        self.agent.repair_input = Some(input);
        self
    }

    /// Sets the handler for escalations that reach this agent: from its own tools, its answer and its repair agents,
    /// and from the agents below it.
    ///
    /// See [`escalation`](crate::escalation).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, Severity, escalation::*};
    ///
    /// let lead = AgentBuilder::<String, String>::new("lead")
    ///     .on_escalation(|escalation: Escalation| match escalation.severity {
    ///         Severity::Critical => throw(escalation.reason),
    ///         _ => return_partial_result(format!("without the figures: {}", escalation.reason)),
    ///     })
    ///     .build();
    /// ```
    pub fn on_escalation<R: IntoResolution<I, O>>(
        mut self,
        handler: impl Fn(Escalation) -> R + Send + Sync + 'a,
    ) -> Self {
        self.agent.on_escalation = Some(Arc::new(move |escalation| {
            handler(escalation).into_resolution()
        }));
        self
    }

    /// Adds a validator of the model's answer: a function, or an async function, that returns `Ok(())` or the reason
    /// why the answer is refused.
    ///
    /// A refused answer goes the same way as one that does not fit its type: to the agent's `invalid_output` arm, and
    /// then back to the model with the reason. [`Budget::max_answers`] bounds the number of answers. An answer that an
    /// arm or a repair agent gave is validated as well. The verdict is a part of the run: a stored run that goes on does
    /// not ask again. The validator may run agents, and the agent's time limit bounds it.
    ///
    /// A validator gets an answer of its own, and returns the reason as a `String`, a `&'static str`, or a
    /// [`ReadError`](crate::tool::ReadError) that names the field at fault.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([Script::text("12"), Script::text("7")]);
    /// let stock = 10;
    /// let packer = AgentBuilder::<String, u32>::new("packer")
    ///     .prompt("How many do we send?")
    ///     .validate(move |number| match number <= stock {
    ///         true => Ok(()),
    ///         false => Err(format!("there are only {stock}")),
    ///     })
    /// #   .model(model)
    ///     .build();
    /// assert_eq!(packer.run("Send a dozen, or what you have.").await?, 7);
    /// # assert!(handle.requests()[1].last().contains("there are only 10"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn validate<R, K>(mut self, validator: impl Fn(O) -> R + Send + Sync + 'a) -> Self
    where
        R: IntoVerdict<'a, K>,
    {
        let validator = move |answer| validator(answer).into_verdict();
        self.agent.validators.push(Arc::new(validator));
        self
    }

    /// Adds an agent to which the model may hand the conversation.
    ///
    /// The model gets a tool `hand_off_to_refunds` for an agent `refunds`. If it calls the tool, that agent sees the
    /// conversation with all calls and results so far, and answers in place of this one. It takes over the place in a
    /// team as well, with the grants and the delegates; a model of its own is not needed. In a [`Chat`](super::Chat),
    /// the next message goes to it, too.
    ///
    /// Within one run, an agent that has handed the conversation on does not get it back.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, handle) = ScriptedModel::new([
    /// #     Script::call("hand_off_to_refunds", r#"{"reason": "wants money back"}"#),
    /// #     Script::text("Your money is on its way."),
    /// #     Script::text("By Friday."),
    /// # ]);
    /// let refunds = AgentBuilder::<String, String>::new("refunds").prompt("You pay customers back.");
    /// let triage = AgentBuilder::<String, String>::new("triage")
    ///     .prompt("You find out what a customer wants.")
    ///     .hand_off(refunds.build())
    /// #   .model(model)
    ///     .build();
    ///
    /// let mut chat = triage.into_chat();
    /// assert_eq!(chat.send("My order never came, I want my money back.").await?, "Your money is on its way.");
    /// assert_eq!(chat.answering(), "refunds");
    /// assert_eq!(chat.send("When?").await?, "By Friday.");
    /// # assert_eq!(handle.requests()[2].prompt(), "You pay customers back.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn hand_off(mut self, agent: impl TakesOver<I, O>) -> Self {
        self.agent.hand_offs.push(agent.taking_over());
        self
    }

    /// Adds a skill; an agent without skills is driven by its model alone.
    ///
    /// [`Skill`] describes which of several skills answers an input.
    pub fn skill(mut self, skill: Skill<'a, I, O>) -> Self {
        self.agent.skills.push(skill);
        self
    }

    /// Gives the agent a memory that lasts from one run to the next.
    ///
    /// The model gets the tools `memory_read`, `memory_write` and `memory_search`, which reach only this agent's own
    /// entries. If the agent has skills, only skills that ask for it with [`Skill::with_memory`] get these tools.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, memory::{MemoryBank, Owner}};
    ///
    /// let bank = MemoryBank::new();
    /// bank.remember(&Owner::agent("clerk").scope("acme"), "ACME pays within 60 days.");
    /// // In a run with `.scope("acme")` it finds that, and adds what it learns.
    /// let clerk = AgentBuilder::<String, String>::new("clerk").memory(bank.clone()).build();
    /// ```
    pub fn memory(mut self, memory: impl Memory) -> Self {
        self.agent.memory = Some(Arc::new(memory));
        self
    }

    /// Builds the agent from the settings so far. A mistake among them is an error when a run of the agent starts.
    pub fn build(self) -> ModelAgent<'a, I, O> {
        self.agent.equipped()
    }
}

/// Agent driven by a model, built with [`AgentBuilder`].
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::ModelAgent;
/// use agents::{Agent, AgentBuilder};
///
/// let clerk: ModelAgent<'_, String, String> = AgentBuilder::new("clerk").prompt("You file things.").build();
/// assert_eq!(clerk.name(), "clerk");
/// ```
pub struct ModelAgent<'a, I, O> {
    pub(crate) definition: AgentDefinition<'a>,
    pub(crate) skills: Vec<Skill<'a, I, O>>,
    pub(super) memory: Option<Arc<dyn Memory>>,
    /// Defects that were found while the agent was built. A run of the agent fails with them before it begins.
    pub(super) defects: Vec<String>,
    pub(crate) answer: Answer<O>,
    pub(super) validators: Validators<'a, O>,
    pub(crate) on_escalation: Option<SharedHandler<'a, I, O>>,
    /// Name of the input, for models that call the agent as a delegate.
    pub(super) input_name: Option<Cow<'static, str>>,
    /// Agents to which the agent's model can hand the conversation.
    pub(super) hand_offs: Vec<Successor<I, O>>,
    /// Input of the agent as a repair agent; `None` if it was not set.
    pub(super) repair_input: Option<RepairInput>,
}

/// Callbacks for what the agent uses, in every run of it. [`Run::on_event`](crate::agent::Run::on_event) reports the
/// same for a single run, among the other events.
///
/// Callbacks add up. A panic in a callback is logged, and the run goes on.
impl<'a, I: Data, O: Data + JsonSchema> AgentBuilder<'a, I, O> {
    /// Registers a callback for the choice of the skill that answers an input. The callback gets the name of the
    /// skill. The callback is not called for an agent whose only skill has no condition.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::AgentBuilder;
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .on_skill_chosen(|skill| println!("answers with {skill}"))
    ///     .on_knowledge_used(|name| println!("reads {name}"))
    ///     .build();
    /// ```
    pub fn on_skill_chosen(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.definition.hooks.skill.push(Arc::new(hook));
        self
    }

    /// Registers a callback for each time that the model is given knowledge of the agent. The callback gets the name
    /// of the knowledge.
    pub fn on_knowledge_used(mut self, hook: impl Fn(&str) + Send + Sync + 'a) -> Self {
        self.agent.definition.hooks.knowledge.push(Arc::new(hook));
        self
    }

    /// Registers a callback that gets every tool call of the agent once, when the call has ended: the tool's own name,
    /// the arguments as they ran (repairs included), and the result. A call that was refused has ended as well, and so
    /// has a call that was cut off. The callback is called in all runs of the agent. Look-ups of knowledge are left
    /// out.
    ///
    /// [`Run::on_tool_use`](crate::agent::Run::on_tool_use) does the same for a single run, with the calls of all its
    /// agents. When a run ends, the agent may still work in a spawned task of it. Only the callbacks of the run get
    /// the calls that are cut off then.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{Agent, AgentBuilder};
    /// use std::sync::Mutex;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let weather = FnTool::new("weather", "Tells the weather.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("rain") });
    /// # let (model, _) = ScriptedModel::new([Script::call("weather", r#"{"city": "Bergen",}"#), Script::text("Rain.")]);
    /// let log = Mutex::new(Vec::new());
    /// let guide = AgentBuilder::<String, String>::new("guide")
    ///     .tool(weather)
    ///     .model(model)
    ///     .on_tool_use(|tool, args, result| log.lock().unwrap().push(format!("{tool} {args}: {}", result.is_ok())))
    ///     .build();
    /// guide.run("Bergen?").await?;
    /// assert_eq!(*log.lock().unwrap(), [r#"weather {"city":"Bergen"}: true"#]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_tool_use(
        mut self,
        hook: impl Fn(&str, &Json, Result<&Json, &ErrorRecord>) + Send + Sync + 'a,
    ) -> Self {
        let hook = move |receipt: &ToolEnvelope| {
            if let Some(result) = receipt.result() {
                hook(&receipt.name, &receipt.input, result);
            }
        };
        self.agent.definition.hooks.tool.push(Arc::new(hook));
        self
    }
}

impl<I, O> fmt::Debug for AgentBuilder<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentBuilder").field(&self.agent).finish()
    }
}

impl<I, O> fmt::Debug for ModelAgent<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAgent")
            .field("name", &self.definition.name)
            .field("tools", &self.definition.tools)
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}
