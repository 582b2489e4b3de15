use agents::prelude::*;

struct Fixer;

#[agent(prompt = "You fix.", fixers = [Fixer])]
impl Fixer {
    /// Fixes.
    #[skill]
    async fn fix(&self, text: String) -> String;

    /// House style.
    #[knowledge]
    fn style(&self) -> &'static str {
        "tidy"
    }

    on_error!(match error {
        invalid_args(raw, _) => fix(raw),
    });
    on_escalation!(match escalation.severity {
        Low => escalate("too hard"),
    });
}

fn main() {}
