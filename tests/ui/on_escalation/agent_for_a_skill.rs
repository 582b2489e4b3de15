use agents::prelude::*;

/// You decide.
#[agent]
async fn captain(question: String) -> String;

struct Crew;

#[agent(prompt = "You sail.")]
impl Crew {
    /// Sails.
    #[skill]
    async fn sail(&self, question: String) -> String;

    on_escalation!(match escalation.severity {
        Low => reroute_to_skill(Captain),
        Medium => reroute_to(Self::sail),
        High => throw(escalation),
        Critical => escalate(escalation.severity, severity = Critical),
    });
}

fn main() {}
