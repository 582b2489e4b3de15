use agents::prelude::*;

struct Fixer;

#[agent(prompt = "You fix.")]
impl Fixer {
    /// Fixes.
    #[skill]
    async fn fix(&self, text: String) -> String;

    on_escalation!(match escalation.severity {
        Low => escalate("too hard"),
    });
}

fn main() {}
