use agents::prelude::*;

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    on_escalation!(match escalation.severity {
        Lwo => inherit(),
        _ => throw("no"),
    });
}

fn main() {}
