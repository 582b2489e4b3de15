//! A team for tests of failures: a shop with a baker as its delegate.

use agents::{
    Agent, Outcome,
    journal::Recorded,
    prelude::*,
    team::Team,
    testing::{Script, ScriptedModel},
};
use std::{fmt, time::Duration};

#[derive(Debug)]
pub(crate) enum Trouble {
    Smoke,
    Gas,
    Mouse,
    Crumbs,
    Flour,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is {self:?}")
    }
}

tool! {
    /// Bake something.
    #[tool(writes, timeout = Duration::from_secs(60))]
    pub(crate) async fn bake(
        /// Kind of bread.
        what: String,
        /// Number of pieces.
        #[serde(default)] count: Option<u32>,
    ) -> Result<String, Trouble> {
        match what.as_str() {
            "smoke" => Err(Trouble::Smoke),
            "gas" => Err(Trouble::Gas),
            "mouse" => Err(Trouble::Mouse),
            "crumbs" => Err(Trouble::Crumbs),
            "flour" => Err(Trouble::Flour),
            "stone" => std::future::pending().await,
            _ => Ok(format!("{} of {what}", count.unwrap_or(1))),
        }
    }

    on_error {
        execution_error(Returned(trouble)) => match trouble {
            Trouble::Smoke => throw("call the fire brigade"),
            Trouble::Gas => escalate("it smells of gas", severity = Critical),
            Trouble::Mouse => escalate("a mouse is in it", severity = Medium),
            Trouble::Crumbs => escalate("only crumbs are left"),
            Trouble::Flour => escalate("the flour is wet", severity = Low),
        },
    }
}

/// You bake.
#[agent(tools = [Bake])]
pub(crate) async fn baker(wish: String) -> String;

/// A shop with a stronger model for escalations.
pub(crate) struct Shop {
    stronger: ScriptedModel,
}

#[agent(prompt = "You sell.")]
impl Shop {
    /// Has it baked.
    #[skill]
    async fn sell(&self, wish: String) -> String;

    /// Has it brought.
    #[skill(when = |_: &String| false)]
    fn buy(&self, wish: String) -> String {
        format!("bought: {wish}")
    }

    on_escalation!(match escalation.severity {
        Low => retry_with_model(self.stronger.clone()),
        Medium => reroute_to_skill(Self::buy),
        High => return_partial_result(format!("no more: {}", escalation.reason)),
        Critical => inherit(),
    });
}

impl Shop {
    pub(crate) fn new(stronger: impl IntoIterator<Item = Script>) -> Shop {
        let (stronger, _) = ScriptedModel::new(stronger);
        Shop { stronger }
    }
}

pub(crate) fn bakery() -> Team<Shop> {
    structure!(Shop::new([Script::text("baked by another")]).delegates(Baker))
}

/// Returns a script in which the shop asks the baker, who bakes all of these in one reply.
pub(crate) fn baking(things: &[&str]) -> Vec<Script> {
    let arguments = things.iter().map(|what| format!(r#"{{"what": "{what}"}}"#));
    vec![
        Script::call("baker", r#"{"input": "bread"}"#),
        Script::calls(arguments.map(|arguments| ("bake", arguments))),
        Script::text("baked"),
        Script::text("sold"),
    ]
}

/// Runs an agent with this script, and returns its outcome and its recording.
pub(crate) async fn run<A>(agent: A, script: Vec<Script>) -> (Outcome<String>, Recorded)
where
    A: Agent<In = String, Out = String>,
{
    let (model, _) = ScriptedModel::new(script);
    crate::world::recorded(agent.run("bread").model(model)).await
}
