use crate::{
    budget::Budget,
    place::{Found, OwnTool, Placement, Profile, found},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Organisation chart of a team: which agent delegates to which, and which tools each agent may
/// use; [`Team::render`](super::Team::render) returns it.
///
/// Its `Display` text is a tree; [`to_json`](Chart::to_json) and [`mermaid`](Chart::mermaid) return
/// the chart for programs and for web pages. A defect at a place is marked with `!` in the tree.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    tools: Vec<String>,
    confirm: Vec<String>,
    budget: Budget,
    /// Is `true` if the agent works in the background when the agent above calls it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    background: bool,
    /// Defects that the check of the team found at the agent's place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    defects: Vec<String>,
    delegates: Vec<Chart>,
}

impl Chart {
    pub(super) fn of(root: &Placement) -> Self {
        // Before a run it is not known whether every agent has a model.
        let mut found = found(root, true).into_iter();
        Chart::at(root, &mut Vec::new(), &mut found)
    }

    /// Returns the chart of an agent that is no team. If it is made of other agents, the teams among them are below it.
    fn of_one(name: &str, profile: &Profile) -> Self {
        let tools = profile.tools.iter().map(|tool| tool.name().to_owned());
        let defects = profile.defects.iter().map(|defect| defect.text.clone());
        Chart {
            name: name.to_owned(),
            description: String::new(),
            tools: tools.collect(),
            confirm: Vec::new(),
            budget: profile.budget.clone(),
            background: false,
            defects: defects.collect(),
            delegates: profile.teams.iter().map(|team| Chart::of(team)).collect(),
        }
    }

    /// Returns the chart of a place in a team and of all places below it. `found` has the defects of the places in the
    /// same order.
    fn at<'t>(
        placement: &'t Placement,
        above: &mut Vec<&'t Placement>,
        found: &mut impl Iterator<Item = Found>,
    ) -> Self {
        let inner = placement.inner();
        // No agent has a tool that an agent above it is not granted, even if its own place grants
        // the tool.
        let is_had = |tool: &&OwnTool| tool.innate() || above.iter().all(|up| up.has(tool));
        let (mut confirm, tools): (Vec<_>, _) = inner
            .usable()
            .filter(is_had)
            .map(|tool| tool.name().to_owned())
            .partition(|tool| inner.confirms(tool));
        let delegates = inner.delegate_names();
        confirm.extend(delegates.filter(|delegate| inner.confirms(delegate)));
        let defects = found.next().map(|found| found.defects);
        above.push(inner);
        let below: Vec<_> = inner.below().collect();
        let delegates = below.into_iter().map(|one| Chart::at(one, above, found));
        let delegates = delegates.collect();
        above.pop();
        Chart {
            name: placement.name.clone(),
            description: placement.description.clone(),
            tools,
            confirm,
            budget: placement.bounds(),
            background: placement.background.is_some(),
            defects: defects.unwrap_or_default(),
            delegates,
        }
    }

    /// Returns the name of the agent at the top of the chart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the agent at the top of the chart.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the names of the tools for which the agent's place demands no approval: its own, as far as its place and
    /// all places above grant them. A tool itself may demand approval. [`confirm`](Chart::confirm) returns the others.
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Returns the names of the tools and delegates whose calls need approval because of the agent's place.
    pub fn confirm(&self) -> &[String] {
        &self.confirm
    }

    /// Returns the agent's budget, tightened by that of its place.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns `true` if the agent works in the background when the agent above calls it.
    pub fn is_in_background(&self) -> bool {
        self.background
    }

    /// Returns the bounds of the agent's budget that were set, each in words for people: `10 turns`.
    pub fn bounds(&self) -> Vec<String> {
        self.budget.in_words().collect()
    }

    /// Returns the defects at the agent's place; a team with any defect does not run. See
    /// [`Team::check`](super::Team::check).
    pub fn defects(&self) -> &[String] {
        &self.defects
    }

    /// Returns the charts of the agents directly below. For a composite, they are the charts of the teams among its
    /// parts.
    pub fn delegates(&self) -> &[Chart] {
        &self.delegates
    }

    /// Returns the chart as JSON: for each agent its `name`, `tools`, `confirm`, `budget` and `delegates`, its
    /// `description` and its `defects` if there are any, and `background` if the agent works in the background.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the chart as a Mermaid graph.
    pub fn mermaid(&self) -> String {
        let mut graph = String::from("graph TD\n");
        self.nodes(&mut graph, &mut 0);
        graph
    }

    /// Writes the nodes of the agent and of all agents below it into a Mermaid graph. Returns the number of the agent's
    /// node.
    fn nodes(&self, graph: &mut String, next: &mut usize) -> usize {
        let me = *next;
        *next += 1;
        let defects = self.defects.iter().map(|defect| format!("! {defect}"));
        let lines = [self.name.clone()].into_iter();
        let lines = lines.chain(self.facts()).chain(defects);
        let label: Vec<_> = lines.map(|line| escaped(&line)).collect();
        *graph += &format!("    a{me}[\"{}\"]\n", label.join("<br/>"));
        for below in &self.delegates {
            let below = below.nodes(graph, next);
            *graph += &format!("    a{me} --> a{below}\n");
        }
        me
    }

    /// Returns the facts that a drawing shows with the agent's name: its tools for which its place demands no approval,
    /// its tools and delegates for which it does, the bounds of its budget, and whether the agent works in the
    /// background. A fact that is empty is left out.
    fn facts(&self) -> impl Iterator<Item = String> {
        let list = |before: &str, items: Vec<String>| {
            (!items.is_empty()).then(|| format!("{before}{}", items.join(", ")))
        };
        [
            list("", self.tools.clone()),
            list("confirm ", self.confirm.clone()),
            list("at most ", self.bounds()),
            self.background.then(|| "in the background".to_owned()),
        ]
        .into_iter()
        .flatten()
    }

    fn draw(&self, f: &mut fmt::Formatter<'_>, before: &str) -> fmt::Result {
        let facts: Vec<_> = self.facts().collect();
        let gap = if facts.is_empty() { "" } else { ": " };
        writeln!(f, "{}{gap}{}", self.name, facts.join(", "))?;
        let beside = if self.delegates.is_empty() {
            "   "
        } else {
            "│  "
        };
        for defect in &self.defects {
            writeln!(f, "{before}{beside}! {defect}")?;
        }
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

impl Profile {
    /// Returns the organisation chart of an agent with this profile and this name: that of its team, or one place.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::{Agent, agent::AgentBuilder};
    ///
    /// let clerk = AgentBuilder::<String, String>::new("clerk").build();
    /// assert_eq!(clerk.profile().chart(clerk.name()).to_string(), "clerk\n");
    /// ```
    pub fn chart(&self, name: &str) -> Chart {
        match &self.team {
            Some(root) => Chart::of(root),
            None => Chart::of_one(name, self),
        }
    }
}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, "")
    }
}

/// Escapes characters of a text that have a meaning in a label of Mermaid.
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
