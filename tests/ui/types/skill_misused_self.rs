use agents::prelude::*;

struct Manager;

#[agent(prompt = self.prompt, tools = [Nothing])]
impl Manager {
    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> String;

    /// Counts.
    #[skill(when = |n: &u32| *n > 3)]
    fn count(&self, request: String) -> String {
        request
    }
}

fn main() {}
