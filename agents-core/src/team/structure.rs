use super::{Chart, Placed};
use crate::{Agent, Error, agent::Profile, context::RunContext, place::check};
use async_trait::async_trait;
use std::fmt;

/// An agent with its delegates, as one agent. The team has the name, the input and the output of its root.
///
/// [`Member::build`](super::Member::build) and `structure!` make one.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
/// use agents::team::Member;
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let agent = |name: &'static str| {
///     AgentBuilder::<String, String>::new(name)
///         .skill(Skill::native("work", "Works.", move |task: String| async move { Ok(format!("{name}: {task}")) }))
///         .build()
/// };
/// let team = Member::new(agent("lead")).delegate(agent("coder")).build();
/// team.check()?;
/// assert_eq!(team.name(), "lead");
/// assert_eq!(team.run("a parser, please").await?, "lead: a parser, please");
///
/// let team = Member::new(agent("lead")).delegate(agent("coder")).delegate(agent("coder")).build();
/// assert!(team.check().unwrap_err().message().contains("agent `coder` is placed twice"));
/// # Ok(())
/// # }
/// ```
pub struct Team<A> {
    root: Placed<A>,
    defects: Option<Error>,
}

impl<A> Team<A> {
    pub(super) fn of(root: Placed<A>) -> Self {
        // Before a run it is not known whether every agent has a model.
        let defects = check(&root.placement, true).err();
        Team { root, defects }
    }

    /// Checks that the team is put together correctly.
    ///
    /// Every run makes the same check before the first model is asked, and then also checks that every agent that
    /// needs a model has one. The model may come with the run, so it is not checked here.
    ///
    /// # Errors
    /// One error of the kind `Build` that names all defects, one per line, each with the path of the agent. Defects
    /// are, for instance:
    ///
    /// - grants beyond the parent's, an unknown tool, and a tool that is both granted and confirmed;
    /// - a tool without the confirmation with which an agent above has it;
    /// - two tools or delegates of one name;
    /// - an agent that is placed twice;
    /// - a budget above the parent's;
    /// - a skill without a tool that it needs;
    /// - a bound or a grant that would reach no agent;
    /// - defects of an agent by itself.
    pub fn check(&self) -> Result<(), Error> {
        match &self.defects {
            None => Ok(()),
            Some(defects) => Err(defects.clone()),
        }
    }

    /// Returns the organisation chart of the team, with its defects.
    pub fn render(&self) -> Chart {
        Chart::of(&self.root.placement)
    }
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A: Agent> Agent for Team<A> {
    type In = A::In;
    type Out = A::Out;

    fn name(&self) -> &str {
        self.root.name()
    }

    fn description(&self) -> &str {
        self.root.description()
    }

    fn profile(&self) -> Profile {
        self.root.profile()
    }

    async fn work(&self, cx: &RunContext, input: A::In) -> Result<A::Out, Error> {
        self.check()?;
        self.root.work(cx, input).await
    }
}

impl<A> fmt::Debug for Team<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("chart", &self.render())
            .field("defects", &self.defects)
            .finish()
    }
}
