use agents::prelude::*;

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    on_escalation!(match escalation.severity {
        Low | Medium => inherit(),
        High => throw("no"),
    });
}

fn main() {}
