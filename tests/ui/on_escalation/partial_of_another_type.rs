use agents::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Summary {
    text: String,
}

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> Summary;

    on_escalation!(return_partial_result(format!("no: {}", escalation.reason)));
}

fn main() {}
