use agents::prelude::*;

struct Clerk;

#[agent(prompt = "You are a clerk.")]
impl Clerk {
    /// Answers.
    #[skill]
    async fn answer(&self, request: String) -> String;

    on_escalation!(Low => inherit(), _ => throw("no"));
}

fn main() {}
