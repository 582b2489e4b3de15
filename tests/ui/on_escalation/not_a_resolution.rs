use agents::prelude::*;

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill(when = |task: &String| task.len() > 3)]
    async fn lead(&self, task: String) -> String;

    /// Does it without a model.
    #[skill]
    fn by_hand(&self, task: String) -> String {
        task
    }

    fn helper(&self, task: String) -> String {
        task
    }

    on_escalation!(match escalation.severity {
        Low => retry(max_attempts = 2),
        Medium => reroute_to_skill(Self::helper),
        High => reroute_to_skill(Self::by_hnd),
        Critical => escalate(escalation.reason, severty = Critical),
    });

    on_escalation!(throw("twice"));
}

fn main() {}
