use crate::{budget::Budget, place::Placement};
use serde::Serialize;
use std::fmt;

/// Who asks whom in a team, and who may use what; [`Team::render`](super::Team::render) gives it.
///
/// Printed it is a tree; [`to_json`](Chart::to_json) and [`mermaid`](Chart::mermaid) give it to
/// programs and to pages.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::AgentBuilder;
/// use agents::team::Member;
///
/// let agent = |name: &'static str| AgentBuilder::<String, String>::new(name).build();
/// let chart = Member::new(agent("lead")).delegate(agent("coder")).build().render();
/// assert_eq!(chart.to_string(), "lead\n└─ coder\n");
/// assert_eq!(chart.to_json()["delegates"][0]["name"], "coder");
/// assert_eq!(chart.mermaid(), "graph TD\n    a0[\"lead\"]\n    a1[\"coder\"]\n    a0 --> a1\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chart {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    tools: Vec<String>,
    confirm: Vec<String>,
    budget: Budget,
    delegates: Vec<Chart>,
}

impl Chart {
    pub(super) fn of(placement: &Placement) -> Self {
        let inner = placement.inner();
        let (confirm, tools) = inner
            .tools()
            .map(str::to_owned)
            .partition(|tool| inner.confirms(tool));
        Chart {
            name: placement.name.clone(),
            description: placement.description.clone(),
            tools,
            confirm,
            budget: placement.bounds(),
            delegates: inner.below().map(Chart::of).collect(),
        }
    }

    /// The agent's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What others are told about it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The tools that it may use.
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// The tools whose calls a person has to approve, since its place says so.
    pub fn confirm(&self) -> &[String] {
        &self.confirm
    }

    /// Its bounds.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The agents below it; below one that is made of others, the teams among those.
    pub fn delegates(&self) -> &[Chart] {
        &self.delegates
    }

    /// The chart as JSON: for each agent its `name`, `description`, `tools`, `confirm`, `budget` and
    /// `delegates`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The chart as a Mermaid graph.
    pub fn mermaid(&self) -> String {
        let mut graph = String::from("graph TD\n");
        self.nodes(&mut graph, &mut 0);
        graph
    }

    /// Writes the agent and those below it; gives its number.
    fn nodes(&self, graph: &mut String, next: &mut usize) -> usize {
        let me = *next;
        *next += 1;
        let lines = [self.name.clone()].into_iter().chain(self.facts());
        let label: Vec<_> = lines.map(|line| escaped(&line)).collect();
        *graph += &format!("    a{me}[\"{}\"]\n", label.join("<br/>"));
        for below in &self.delegates {
            let below = below.nodes(graph, next);
            *graph += &format!("    a{me} --> a{below}\n");
        }
        me
    }

    /// What is said of the agent beside its name.
    fn facts(&self) -> impl Iterator<Item = String> {
        let list = |before: &str, items: Vec<String>| {
            (!items.is_empty()).then(|| format!("{before}{}", items.join(", ")))
        };
        let budget = self.budget.said().collect();
        [
            list("", self.tools.clone()),
            list("confirm ", self.confirm.clone()),
            list("at most ", budget),
        ]
        .into_iter()
        .flatten()
    }

    fn draw(&self, f: &mut fmt::Formatter<'_>, before: &str) -> fmt::Result {
        let facts: Vec<_> = self.facts().collect();
        let gap = if facts.is_empty() { "" } else { ": " };
        writeln!(f, "{}{gap}{}", self.name, facts.join(", "))?;
        for (i, below) in self.delegates.iter().enumerate() {
            let (corner, under) = match i + 1 == self.delegates.len() {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            write!(f, "{before}{corner}")?;
            below.draw(f, &format!("{before}{under}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, "")
    }
}

/// A name may hold what means something within a label.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '<' | '>' | '&' | '#' | ';' => safe += &format!("#{};", u32::from(letter)),
            other => safe.push(other),
        }
    }
    safe
}
