//! Bounds on what a run may use, and the sum of what it has paid.

mod cost;

pub use cost::Cost;
pub(crate) use cost::{Paid, Prices, nanos};

use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Upper bounds on what an agent or a run may use.
///
/// Turns, tool calls, identical calls and answers are counted for each agent by itself. Recursion is counted for each
/// agent, together with all agents below it. Of these, all but answers have default bounds. Tokens, cost, time and
/// depth are shared by an agent and all agents below it, and have no bound by default.
///
/// The names tell the two kinds apart: `max_turns`, `max_tool_calls`, `max_identical_calls`, `max_answers` and
/// `max_recursion` bound each agent of a run anew; `tokens`, `cost`, `time` and `depth` are totals.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Budget, minutes, tokens};
///
/// let careful = Budget::new().max_turns(3);
/// let whole_run = tokens(500_000).time(minutes(30));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identical_calls: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recursion: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<Duration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u32>,
}

impl Budget {
    /// Creates the default budget: 10 turns, 25 tool calls, 5 identical calls in a row and 25 steps of recursion;
    /// nothing else is bounded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the bounds without those on time and cost, which do not apply to a replay.
    #[cfg(feature = "recordings")]
    pub(crate) fn in_a_replay(self) -> Self {
        Budget {
            cost: None,
            time: None,
            ..self
        }
    }

    pub(crate) fn turns(&self) -> u32 {
        self.turns.unwrap_or(10)
    }

    pub(crate) fn tool_calls(&self) -> u32 {
        self.tool_calls.unwrap_or(25)
    }

    pub(crate) fn identical_calls(&self) -> u32 {
        self.identical_calls.unwrap_or(5)
    }

    pub(crate) fn answers(&self) -> Option<u32> {
        self.answers
    }

    pub(crate) fn recursion(&self) -> u32 {
        self.recursion.unwrap_or(25)
    }

    /// Returns this budget of an agent, tightened by the bounds that the run sets for each of its agents. The bounds
    /// that agents share (tokens, cost, time and depth) stay those of the agent.
    pub(crate) fn within(&self, run: &Budget) -> Budget {
        let tighter = |own: u32, run: Option<u32>| Some(run.map_or(own, |run| own.min(run)));
        Budget {
            turns: tighter(self.turns(), run.turns),
            tool_calls: tighter(self.tool_calls(), run.tool_calls),
            identical_calls: tighter(self.identical_calls(), run.identical_calls),
            answers: least(self.answers, run.answers),
            recursion: tighter(self.recursion(), run.recursion),
            ..self.clone()
        }
    }

    /// Returns the bound on recursion; `None` if the default applies, because no bound was set.
    pub(crate) fn own_recursion(&self) -> Option<u32> {
        self.recursion
    }

    /// Returns only the bounds that apply to each agent anew; the bounds that agents share are left out.
    pub(crate) fn bounds_of_each(&self) -> Budget {
        Budget {
            turns: self.turns,
            tool_calls: self.tool_calls,
            identical_calls: self.identical_calls,
            answers: self.answers,
            recursion: self.recursion,
            ..Budget::new()
        }
    }

    /// Returns the tighter of the two bounds of each kind; if only one of the two is set, that one. A kind that neither
    /// budget bounds stays unbounded.
    pub(crate) fn tighter(&self, other: &Budget) -> Budget {
        Budget {
            turns: least(self.turns, other.turns),
            tool_calls: least(self.tool_calls, other.tool_calls),
            identical_calls: least(self.identical_calls, other.identical_calls),
            answers: least(self.answers, other.answers),
            recursion: least(self.recursion, other.recursion),
            tokens: least(self.tokens, other.tokens),
            cost: least(self.cost, other.cost),
            time: least(self.time, other.time),
            depth: least(self.depth, other.depth),
        }
    }

    /// Returns the message about a bound on cost that is no valid amount; `None` if the budget has no such bound. `of`
    /// names what has the budget, for the message.
    pub(crate) fn defect(&self, of: &str) -> Option<String> {
        self.cost?.defect_as_bound(of)
    }

    /// Returns every bound that was set, as text for people.
    pub(crate) fn in_words(&self) -> impl Iterator<Item = String> {
        let count = |n: Option<u64>, what: &'static str| {
            n.map(|n| match n {
                1 => format!("1 {what}"),
                n => format!("{n} {what}s"),
            })
        };
        [
            count(self.turns.map(u64::from), "turn"),
            count(self.tool_calls.map(u64::from), "tool call"),
            count(self.identical_calls.map(u64::from), "identical call"),
            count(self.answers.map(u64::from), "answer"),
            count(self.recursion.map(u64::from), "step"),
            count(self.tokens, "token"),
            self.cost.map(|cost| format!("a cost of {cost}")),
            self.time.map(spoken),
            self.depth.map(|depth| format!("{depth} deep")),
        ]
        .into_iter()
        .flatten()
    }

    /// Sets how many turns an agent may take, each of which is a request to its model with the reply; 10 by default.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.turns = Some(turns);
        self
    }

    /// Sets how many tool calls an agent may make; 25 by default. A further call is refused, and ends the run after the
    /// other calls of its reply.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{Budget, run::{Limit, Stopped}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::always(Script::calls([("look", "{}"); 3]));
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// // The model asks for three calls at once, again and again.
    /// let outcome = agent.run("Look").budget(Budget::new().max_tool_calls(5)).outcome().await?;
    /// assert_eq!(outcome.stopped, Some(Stopped::Budget { agent: "watcher".into(), limit: Limit::ToolCalls(5) }));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Sets how many identical calls an agent may make in a row: the same tool with the same arguments and the same
    /// result, reply after reply; 5 by default. One more ends the run.
    ///
    /// From the third identical call on, the result tells the model that the call repeats itself. Identical calls of
    /// one reply count once. The calls of a tool that [polls](crate::tool::ToolSpec::polls) are not counted. Results
    /// are compared as the receipts have them, failures too; a result that was cut for its size equals no other.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{Budget, run::{Limit, Stopped}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, handle) = ScriptedModel::always(Script::call("look", "{}"));
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// // The model looks, sees the same, and looks again.
    /// let outcome = agent.run("Look").budget(Budget::new().max_identical_calls(3)).outcome().await?;
    /// assert_eq!(outcome.stopped, Some(Stopped::Budget { agent: "watcher".into(), limit: Limit::IdenticalCalls(3) }));
    /// assert_eq!(handle.count(), 4);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_identical_calls(mut self, calls: u32) -> Self {
        self.identical_calls = Some(calls);
        self
    }

    /// Sets how many answers an agent's model may give until one is accepted. If that many did not fit their type, or
    /// were refused by a [validator](crate::AgentBuilder::validate), the agent fails with an error of the kind
    /// [`InvalidOutput`](crate::ErrorKind::InvalidOutput).
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
    /// use agents::Budget;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (model, handle) = ScriptedModel::always(Script::text("A few."));
    /// # let counter = AgentBuilder::<String, u32>::new("counter").model(model).build();
    /// let run = counter.run("How many?").budget(Budget::new().max_answers(2));
    /// let error = run.await.unwrap_err().to_string();
    /// assert!(error.ends_with("2 answers are used up (`max_answers`)"), "{error}");
    /// # assert_eq!(handle.count(), 2);
    /// # }
    /// ```
    #[must_use]
    pub fn max_answers(mut self, answers: u32) -> Self {
        self.answers = Some(answers);
        self
    }

    /// Sets how many steps of recursion an agent may take; 25 by default. Each turn of a model is a step, and so is
    /// each round of tool calls. The steps of the agents below an agent count for that agent as well.
    ///
    /// This bound ends two agents that call each other.
    #[must_use]
    pub fn max_recursion(mut self, steps: u32) -> Self {
        self.recursion = Some(steps);
        self
    }

    /// Sets how many tokens may be read and written in total; no bound by default. Tokens of nested agents count as
    /// well.
    ///
    /// Once the bound is reached, no model is asked any more. Requests in progress at that time are counted too.
    /// The total thus exceeds the bound by at most one request for each agent that is at work at that moment.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::Budget;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::always(Script::call("look", "{}")); // 15 tokens each time
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// // Every request costs 15 tokens here; the one that reaches the bound is the last.
    /// let outcome = agent.run("Look").budget(Budget::new().tokens(40)).outcome().await?;
    /// assert_eq!(outcome.result.unwrap_err().kind(), agents::ErrorKind::Budget);
    /// assert_eq!(outcome.usage.tokens(), 45);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets how much the models may cost in total; no bound by default. Models of nested agents count as well.
    ///
    /// Once the bound is reached, no model is asked any more. As with [`tokens`](Budget::tokens), requests in progress
    /// at that time are paid. Under such a bound, every model needs a price ([`Run::price`](crate::agent::Run::price)),
    /// unless it [knows its cost](crate::Model::knows_cost). An amount that is negative, infinite or not a number is an
    /// error when the run starts.
    ///
    /// ```
    /// # use agents_core as agents;
    /// # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
    /// use agents::{Budget, run::Cost};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), agents::Error> {
    /// # let schema = serde_json::json!({"type": "object"});
    /// # let look = FnTool::new("look", "Looks.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("dark") });
    /// # let (model, _) = ScriptedModel::always(Script::call("look", "{}"));
    /// # let agent = AgentBuilder::<String, String>::new("watcher").tool(look).model(model).build();
    /// let run = agent.run("Look").price("scripted", 1.0, 2.0).budget(Budget::new().cost(0.00005));
    /// let outcome = run.outcome().await?; // 10 tokens read and 5 written in each turn: 0.00002
    /// assert_eq!(outcome.result.unwrap_err().kind(), agents::ErrorKind::Budget);
    /// assert_eq!(outcome.cost, Some(Cost::of(0.00006)));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cost(mut self, amount: impl Into<Cost>) -> Self {
        self.cost = Some(amount.into());
        self
    }

    /// Sets how long the work may take; no bound by default. The clock stops while a person is asked, and while a
    /// person has paused the run.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets how deep agents may be nested below the agent that has the budget; no bound by default. With a depth of 1,
    /// the agents that it runs may run no further agents.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = Some(depth);
        self
    }
}

/// Returns a time in words, for people: in minutes if it is a whole number of minutes, from one minute on.
fn spoken(time: Duration) -> String {
    let (minutes, rest) = (time.as_secs() / 60, time.as_secs() % 60);
    match minutes > 0 && rest == 0 && time.subsec_nanos() == 0 {
        true => format!("{minutes} min"),
        false => format!("{time:?}"),
    }
}

/// Returns the smaller of two values, or the only one that is set.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Creates a budget that bounds the tokens.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Budget, minutes, tokens};
///
/// assert_eq!(tokens(500_000).time(minutes(30)), Budget::new().tokens(500_000).time(minutes(30)));
/// ```
pub fn tokens(tokens: u64) -> Budget {
    Budget::new().tokens(tokens)
}

/// Creates a duration of this many minutes.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Budget, minutes};
/// use std::time::Duration;
///
/// assert_eq!(Budget::new().time(minutes(5)), Budget::new().time(Duration::from_secs(300)));
/// ```
pub fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes.saturating_mul(60))
}

/// Creates a duration of this many hours.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{hours, minutes};
///
/// assert_eq!(hours(2), minutes(120));
/// ```
pub fn hours(hours: u64) -> Duration {
    minutes(hours.saturating_mul(60))
}

/// The bound of a [`Budget`] that was reached, with its value.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::Limit;
///
/// assert_eq!(Limit::Turns(3).to_string(), "3 turns are used up (`max_turns`)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Bound on the turns of one agent, that is, on its requests to a model: this many were made.
    Turns(u32),
    /// Bound on the tool calls of one agent.
    ToolCalls(u32),
    /// Bound on the calls of an agent in a row that have the same tool, the same arguments and the same result.
    IdenticalCalls(u32),
    /// Bound on the answers of an agent's model that were not accepted.
    Answers(u32),
    /// Bound on turns and rounds of tool calls, those of nested agents included.
    Recursion(u32),
    /// Bound on the tokens that models read and write.
    Tokens(u64),
    /// Bound on the cost of the models.
    Cost(Cost),
    /// Bound on the working time, without the time in which people were waited for.
    Time(Duration),
    /// Bound on the depth to which agents are nested in each other.
    Depth(u32),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Turns(1) => f.write_str("1 turn is used up (`max_turns`)"),
            Limit::Turns(n) => write!(f, "{n} turns are used up (`max_turns`)"),
            Limit::ToolCalls(1) => f.write_str("1 tool call is used up (`max_tool_calls`)"),
            Limit::ToolCalls(n) => write!(f, "{n} tool calls are used up (`max_tool_calls`)"),
            Limit::IdenticalCalls(1) => {
                f.write_str("1 identical call in a row is used up (`max_identical_calls`)")
            }
            Limit::IdenticalCalls(n) => {
                write!(
                    f,
                    "{n} identical calls in a row are used up (`max_identical_calls`)"
                )
            }
            Limit::Answers(1) => f.write_str("1 answer is used up (`max_answers`)"),
            Limit::Answers(n) => write!(f, "{n} answers are used up (`max_answers`)"),
            Limit::Recursion(1) => f.write_str("1 step of recursion is used up (`max_recursion`)"),
            Limit::Recursion(n) => {
                write!(f, "{n} steps of recursion are used up (`max_recursion`)")
            }
            Limit::Tokens(n) => write!(f, "{n} tokens are used up (`tokens`)"),
            Limit::Cost(cost) => write!(f, "a cost of {cost} is used up (`cost`)"),
            Limit::Time(time) => write!(f, "{time:?} are over (`time`)"),
            Limit::Depth(n) => write!(f, "agents are nested {n} deep (`depth`)"),
        }
    }
}
