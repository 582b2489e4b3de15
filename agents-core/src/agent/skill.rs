use crate::{Error, definition::AgentDefinition, model::PurposeKey, tool::Pattern};
use futures_util::future::BoxFuture;
use std::{borrow::Cow, fmt, sync::Arc};

type Body<'a, I, O> = Arc<dyn Fn(I) -> BoxFuture<'a, Result<O, Error>> + Send + Sync + 'a>;
type When<'a, I> = Arc<dyn Fn(&I) -> bool + Send + Sync + 'a>;

/// Way in which an agent can answer an input: with a function, or with its model.
///
/// The first skill whose condition is true answers. If no condition is true, the only skill without a condition
/// answers. If several skills have no condition, the model chooses among them by their names and descriptions before
/// the work, in one or two turns of its own. If all skills have a condition and none is true, the run fails with an
/// error of the kind [`InvalidInput`](crate::ErrorKind::InvalidInput).
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, Skill};
///
/// let clerk = AgentBuilder::<String, String>::new("clerk")
///     .prompt("You are a clerk.")
///     .skill(Skill::native("greet", "Greets.", |name: String| async move { Ok(format!("hello, {name}")) })
///         .when(|name| name.len() < 20))
///     .skill(Skill::model("look_up", "Looks up a customer.").tools(["crm_*"]))
///     .skill(Skill::model("write", "Writes a letter.").tools(["print"]))
///     .build();
/// ```
pub struct Skill<'a, I, O> {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    when: Option<When<'a, I>>,
    body: Option<Body<'a, I, O>>,
    tools: Option<Vec<Pattern>>,
    pub(super) purpose: Option<PurposeKey>,
    pub(super) memory: bool,
    /// Definition by which the model carries out this skill; `None` if it is the agent's.
    pub(super) definition: Option<AgentDefinition<'a>>,
}

impl<'a, I, O> Skill<'a, I, O> {
    /// Creates a skill that the agent's model carries out.
    pub fn model(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Skill {
            name: name.into(),
            description: description.into(),
            when: None,
            body: None,
            tools: None,
            purpose: None,
            memory: false,
            definition: None,
        }
    }

    /// Creates a skill that the function `body` carries out, without a model.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, Error, ErrorKind, agent::Skill};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// // What code can answer needs no model.
    /// let sum = Skill::native("sum", "Adds the numbers of a line.", |line: String| async move {
    ///     let numbers = line.split_whitespace().map(str::parse::<i64>);
    ///     numbers.sum::<Result<i64, _>>().map_err(|error| Error::new(ErrorKind::Failed, error.to_string()))
    /// });
    /// let adder = AgentBuilder::<String, i64>::new("adder").skill(sum).build();
    /// assert_eq!(adder.run("1 2 39").await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn native<F, Fut>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        body: F,
    ) -> Self
    where
        F: Fn(I) -> Fut + Send + Sync + 'a,
        Fut: Future<Output = Result<O, Error>> + Send + 'a,
    {
        let body: Body<'a, I, O> = Arc::new(move |input| Box::pin(body(input)));
        Skill {
            name: name.into(),
            description: description.into(),
            when: None,
            body: Some(body),
            tools: None,
            purpose: None,
            memory: false,
            definition: None,
        }
    }

    /// Restricts the skill to inputs for which `when` returns `true`. Skills with a condition are tried first, in
    /// order.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, AgentBuilder, agent::Skill};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let (model, asked) = ScriptedModel::new([Script::text("From 900 euros.")]);
    /// // A greeting needs no model; everything else gets one.
    /// let greet = Skill::native("greet", "Greets.", |_| async { Ok("Good morning.".to_owned()) });
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .skill(greet.when(|said: &String| said.starts_with("Hello")))
    ///     .skill(Skill::model("answer", "Answers questions."))
    ///     .model(model)
    ///     .build();
    /// assert_eq!(clerk.run("Hello!").await?, "Good morning.");
    /// # assert_eq!(asked.count(), 0);
    /// assert_eq!(clerk.run("What does a lathe cost?").await?, "From 900 euros.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn when(mut self, when: impl Fn(&I) -> bool + Send + Sync + 'a) -> Self {
        self.when = Some(Arc::new(when));
        self
    }

    /// Restricts the skill to these tools, by name or [`Pattern`]. By default, a skill has all tools of the agent.
    ///
    /// Any other tool does not exist for this skill: the model is not told of it, and a call of it is refused. Listing
    /// again adds to the list. In a [team](crate::team) the list applies to the agent's delegates as well, by the names
    /// under which the model is offered them.
    ///
    /// Every name and pattern in the list has to match one of the agent's tools and delegates. A skill with a list has
    /// to be one that the model carries out. Otherwise a run of the agent fails before it begins.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, agent::Skill};
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .prompt("You are a clerk.")
    ///     // .tool(..): many of them
    ///     .skill(Skill::model("look_up", "Looks up a customer.").tools(["crm_get_*", "crm_search"]))
    ///     .skill(Skill::model("change", "Changes a customer's data.").tools(["crm_*"]))
    ///     .build();
    /// ```
    #[must_use]
    pub fn tools<P: Into<Pattern>>(mut self, tools: impl IntoIterator<Item = P>) -> Self {
        self.tools
            .get_or_insert_default()
            .extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets the purpose of the skill's model: see [`PurposeKey`]. By default, a skill has the model or the purpose of its
    /// agent.
    ///
    /// For the turns of the skill, its purpose wins over the model and the purpose of the agent. The agent's own stay for
    /// all other turns, the one that chooses a skill included. In a run that knows no
    /// [models for purposes](crate::agent::Run::purposes), the skill is one without a model of its own: the caller's
    /// model drives it, then the run's. A skill with a purpose has to be one that the model carries out. Otherwise a run
    /// of the agent fails before it begins.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{AgentBuilder, PurposeKey, agent::Skill};
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk")
    ///     .prompt("You are a clerk.")
    ///     .purpose(PurposeKey::AgentTurn)
    ///     .skill(Skill::model("rate", "Rates a customer.").purpose(PurposeKey::Scoring))
    ///     .skill(Skill::model("write", "Writes a letter."))
    ///     .build();
    /// ```
    #[must_use]
    pub fn purpose(mut self, purpose: PurposeKey) -> Self {
        self.purpose = Some(purpose);
        self
    }

    /// Gives the skill the agent's memory tools; see [`AgentBuilder::memory`].
    ///
    /// [`AgentBuilder::memory`]: super::AgentBuilder::memory
    #[must_use]
    pub fn with_memory(mut self) -> Self {
        self.memory = true;
        self
    }

    /// Returns the name by which the model chooses the skill.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the skill's description: the text by which a model chooses among the skills of an agent.
    pub fn description(&self) -> &str {
        &self.description
    }

    pub(crate) fn body(&self) -> Option<&Body<'a, I, O>> {
        self.body.as_ref()
    }

    pub(super) fn listed(&self) -> Option<&[Pattern]> {
        self.tools.as_deref()
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.when.is_some()
    }

    pub(crate) fn wants(&self, input: &I) -> bool {
        self.when.as_ref().is_some_and(|when| when(input))
    }
}

impl<I, O> fmt::Debug for Skill<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("name", &self.name)
            .field("native", &self.body.is_some())
            .finish()
    }
}
