use agents::prelude::*;

/// Counts letters.
#[agent]
fn count(word: String) -> usize {
    word.len()
}

struct Lead;

#[agent(prompt = "You lead.")]
impl Lead {
    /// Leads.
    #[skill]
    async fn lead(&self, task: String) -> String;

    on_escalation!(reroute_to(Count));
}

fn main() {}
