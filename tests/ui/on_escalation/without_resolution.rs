use agents::prelude::*;

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    on_escalation!(match escalation.severity {
        Low => "try again",
        _ => escalate("no").severity("high"),
    });
}

fn main() {}
