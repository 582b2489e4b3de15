use super::{
    Placed, Team,
    delegate::{DelegateTool, Entrusted},
};
use crate::{
    Agent,
    place::{Delegate, Placement},
    run::Budget,
    shared::Shared,
    tool::{Background, Pattern, ToolName},
};
use std::{borrow::Cow, fmt, sync::Arc};

/// Agent and its place in a team: its grants, its confirmations, its budget and its delegates; `structure!`
/// expands to it.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::AgentBuilder;
/// use agents::run::tokens;
/// use agents::team::Member;
/// use agents::tool::{Effects, FnTool};
///
/// let tool = |name: &str| {
///     let schema = serde_json::json!({ "type": "object", "properties": {} });
///     FnTool::new(name, "Works.", Effects::Writes, schema, |_, _| async { Ok::<_, std::io::Error>("done") })
/// };
/// let coder = AgentBuilder::<String, String>::new("coder").tool(tool("compile")).tool(tool("deploy")).build();
/// let lead = AgentBuilder::<String, String>::new("lead").prompt("You lead.").build();
///
/// let team = Member::new(lead)
///     .budget(tokens(500_000))
///     .delegate(Member::new(coder).grant_named("compile").confirm_named("deploy"))
///     .build();
/// assert!(team.check().is_ok());
/// assert_eq!(team.render().to_string(), "lead: at most 500000 tokens\n└─ coder: compile, confirm deploy\n");
/// ```
#[must_use = "a team is made by `.build()`"]
pub struct Member<A> {
    agent: A,
    placement: Placement,
}

impl<A: Agent> Member<A> {
    /// Places an agent with all its own tools and without delegates.
    pub fn new(agent: A) -> Self {
        let placement = unsaid(&agent);
        Member { agent, placement }
    }
}

/// Returns the [`Placement`] of an agent (its place in a team) without any settings: all its own tools, no limits and
/// no delegates.
fn unsaid(agent: &impl Agent) -> Placement {
    Placement {
        name: agent.name().to_owned(),
        description: agent.description().to_owned(),
        profile: agent.profile(),
        granted: None,
        confirmed: Vec::new(),
        budget: Budget::new(),
        background: None,
        delegates: Vec::new(),
    }
}

// No bound on `A`: the compiler reports a type that is not an agent once, at `new`.
impl<A> Member<A> {
    /// Grants a tool. With the first grant, the agent is limited to tools that are granted or confirmed.
    ///
    /// Grants also limit the agents below: none of them can be granted more.
    pub fn grant<T: ToolName>(self) -> Self {
        self.grant_named(T::NAME)
    }

    /// Grants tools by name, where `*` stands for any text: `"mcp_*"`.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, Effects, team::Member, tool::FnTool};
    ///
    /// let tool = |name: &str| {
    ///     let schema = serde_json::json!({"type": "object", "properties": {}});
    ///     FnTool::new(name, "Works.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("done") })
    /// };
    /// let coder = AgentBuilder::<String, String>::new("coder")
    ///     .tool(tool("mcp_read")).tool(tool("mcp_search")).tool(tool("shell")).build();
    /// // It has a shell, and none in this place.
    /// let team = Member::new(coder).grant_named("mcp_*").build();
    /// assert_eq!(team.render().to_string(), "coder: mcp_read, mcp_search\n");
    /// ```
    pub fn grant_named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        let granted = self.placement.granted.get_or_insert_default();
        granted.push(Pattern::new(name));
        self
    }

    /// Limits the agent to the tools that other calls grant or confirm.
    pub fn grant_nothing(mut self) -> Self {
        self.placement.granted.get_or_insert_default();
        self
    }

    /// Lets the agent use a tool whose calls a person has to approve. Unlike [`grant`](Member::grant), the call does
    /// not limit the agent to such tools.
    pub fn confirm<T: ToolName>(self) -> Self {
        self.confirm_named(T::NAME)
    }

    /// Requires approval for the calls of tools or delegates of these names, where `*` stands for any text. If grants
    /// limit the agent, the tools are granted as well.
    ///
    /// A delegate is confirmed for the agent's model and for its code: see
    /// [`delegate`](super::delegate()).
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, team::Member};
    ///
    /// // The lead may ask the deployer, and each time a person is asked first.
    /// let deployer = AgentBuilder::<String, String>::new("deployer").prompt("You deploy.").build();
    /// let lead = AgentBuilder::<String, String>::new("lead").prompt("You lead.").build();
    /// let team = Member::new(lead).confirm_named("deployer").delegate(deployer).build();
    /// assert!(team.check().is_ok());
    /// assert_eq!(team.render().to_string(), "lead: confirm deployer\n└─ deployer\n");
    /// ```
    pub fn confirm_named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.placement.confirmed.push(Pattern::new(name));
        self
    }

    /// Sets a budget in addition to the agent's own; of two bounds the tighter applies.
    ///
    /// Tokens, cost, time and depth are totals of the agent and everything below it.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, run::tokens, team::Member};
    ///
    /// let agent = |name: &'static str| AgentBuilder::<String, String>::new(name).prompt("You work.").build();
    /// // What the tester uses counts for both; it cannot use up what the others need.
    /// let team = Member::new(agent("lead")).budget(tokens(100_000))
    ///     .delegate(Member::new(agent("tester")).budget(tokens(20_000)))
    ///     .build();
    /// assert_eq!(team.render().to_string(), "lead: at most 100000 tokens\n└─ tester: at most 20000 tokens\n");
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.placement.budget = self.placement.budget.tighter(&budget);
        self
    }

    /// Lets the agent work in the background when the model of the agent above calls it: that model gets a ticket at once
    /// and goes on, and the result follows as a message.
    ///
    /// The agent above does not end before the result is there: if it has answered, it is told the result and asked again.
    /// If it fails or is stopped, the work is cancelled. Grants, approvals and budgets are those of any delegate.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, team::Member, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// let (reading, _) = ScriptedModel::new([Script::text("It is about a whale.")]);
    /// let reader = AgentBuilder::<String, String>::new("reader").model(reading).build();
    /// let (writing, handle) = ScriptedModel::new([
    ///     Script::call("reader", r#"{"input": "Moby Dick"}"#),
    ///     Script::text("The reader is at it."), // an answer before the result is there
    ///     Script::text("A book about a whale."),
    /// ]);
    /// let writer = AgentBuilder::<String, String>::new("writer").model(writing).build();
    /// let team = Member::new(writer).delegate(Member::new(reader).background()).build();
    /// assert_eq!(team.run("Write a review.").await?, "A book about a whale.");
    ///
    /// // The ticket is the result of the call, and the result of the work is a message.
    /// assert!(handle.requests()[1].last().contains("the ticket `reader-1`"));
    /// assert!(handle.requests()[2].last().ends_with("It is about a whale."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn background(mut self) -> Self {
        self.placement.background = Some(Background::BeforeAnswer);
        self
    }

    /// Lets the agent work in the background as [`background`](Member::background) does, until the agent above answers:
    /// the answer does not wait for the work, and what goes on then is cancelled.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Error, agent::Skill, team::Member, testing::{Script, ScriptedModel}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// let never = |_: String| std::future::pending::<Result<String, Error>>();
    /// let searcher = AgentBuilder::<String, String>::new("searcher").skill(Skill::native("search", "Searches.", never)).build();
    /// let (model, _) = ScriptedModel::new([
    ///     Script::call("searcher", r#"{"input": "older editions"}"#),
    ///     Script::text("I know enough."),
    /// ]);
    /// let writer = AgentBuilder::<String, String>::new("writer").model(model).build();
    /// let team = Member::new(writer).delegate(Member::new(searcher).background_until_answer()).build();
    /// let outcome = team.run("Write a review.").outcome().await?;
    /// let receipt = outcome.outputs.receipts().next().unwrap();
    /// assert!(receipt.error.as_ref().unwrap().message.starts_with("its agent has ended its work"));
    /// assert_eq!(outcome.result?, "I know enough.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn background_until_answer(mut self) -> Self {
        self.placement.background = Some(Background::UntilAnswer);
        self
    }

    /// Places an agent below this one, whose model is offered the agent as a tool.
    ///
    /// The tool has the agent's name, and its arguments are the agent's input: an object as it is, and anything else
    /// as `{"input": ..}`, or under the [name](crate::AgentBuilder::input_name) that the agent sets. When the time of
    /// the agent below is over, the call has failed. When the tokens or the cost of that agent are used up, the whole
    /// run ends.
    pub fn delegate<M>(mut self, member: M) -> Self
    where
        M: IntoMember,
        M::Agent: Entrusted<<M::Agent as Agent>::In>,
    {
        let tool = DelegateTool::new(member.into_member().placed());
        self.placement.delegates.push(Arc::new(tool));
        self
    }

    /// Places an agent below this one whose ability to be a delegate has been checked already.
    #[doc(hidden)]
    pub fn and_below(mut self, member: Member<Below>) -> Self {
        let Member { agent, placement } = member;
        self.placement.delegates.push((agent.0)(placement));
        self
    }

    fn placed(self) -> Placed<A> {
        Placed::new(self.agent, Shared::new(self.placement))
    }

    /// Builds the team with this agent at its root.
    pub fn build(self) -> Team<A> {
        Team::of(self.placed())
    }
}

impl<A> fmt::Debug for Member<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("agent", &self.placement.name)
            .finish_non_exhaustive()
    }
}

/// Agent that can be a delegate, with its types hidden.
///
/// Generated code checks that ability where the agent is written, and not at the end of its settings, so that a
/// compiler error points to the agent.
#[doc(hidden)]
pub struct Below(Box<dyn FnOnce(Placement) -> Arc<dyn Delegate>>);

impl Member<Below> {
    #[doc(hidden)]
    pub fn below<A: Agent + Entrusted<<A as Agent>::In>>(agent: A) -> Self {
        let placement = unsaid(&agent);
        let placed = |placement| -> Arc<dyn Delegate> {
            let placement = Shared::new(placement);
            Arc::new(DelegateTool::new(Placed::new(agent, placement)))
        };
        Member {
            agent: Below(Box::new(placed)),
            placement,
        }
    }
}

/// Conversion into a member of a team: from an agent, or from a [`Member`] with settings for its place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "expected an agent here",
    note = "a delegate is an agent such as `Coder`, or `Member::new(Coder)` with what it may use"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait IntoMember {
    /// Type of the agent that becomes the member.
    type Agent: Agent;

    /// Converts the agent into a member of a team.
    fn into_member(self) -> Member<Self::Agent>;
}

#[diagnostic::do_not_recommend]
impl<A: Agent> IntoMember for A {
    type Agent = A;

    fn into_member(self) -> Member<A> {
        Member::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A: Agent> IntoMember for Member<A> {
    type Agent = A;

    fn into_member(self) -> Member<A> {
        self
    }
}
