use agents::prelude::*;

struct Clerk;

#[agent(prompt = "You are a clerk.")]
impl Clerk {
    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;

    /// Answers without a model.
    #[skill(when = |request| request.is_empty())]
    fn by_hand(&self, request: String) -> String {
        request
    }

    on_escalation!(match escalation {
        Low => reroute_to_skill(self.by_hand(request)),
        Medium => reroute_to_skill(self.by_hand),
        High => reroute_to_skill(Self::by_hand()),
        Critical => escalate("no", severity: Critical),
    });
}

struct Deputy;

#[agent(prompt = "You are a deputy.")]
impl Deputy {
    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;

    on_escalation!(match severity {
        Low => inherit(),
        _ => throw("no"),
    });
}

fn main() {}
