//! A skill named as text is one of the agent's as well: a typo would be found out when it is too late.

use agents::prelude::*;

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Does the work.
    #[skill(when = |task: &String| !task.is_empty())]
    async fn lead(&self, task: String) -> String;

    /// Does it without a model.
    #[skill]
    fn by_hand(&self, task: String) -> String {
        task
    }

    on_escalation!(match escalation.severity {
        Low => reroute_to_skill("by_hand"),
        Medium => reroute_to_skill("by_hnad"),
        High => reroute_to_skill("manual fallback"),
        Critical => inherit(),
    });
}

fn main() {}
