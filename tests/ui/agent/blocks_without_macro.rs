use agents::prelude::*;

struct Clerk;

#[agent(prompt = "You read.")]
impl Clerk {
    /// Reads.
    #[skill]
    async fn read(&self, request: String) -> String;

    on_escalation {
        Low => inherit(),
    }
}

fn main() {}
