use agents::prelude::*;

struct Manager;

#[agent]
impl Manager {
    #[skill]
    async fn manage(&self, request: String) -> String;

    /// Changes itself.
    #[skill(wen = |_: &String| true)]
    fn change(&mut self, request: String) -> String {
        request
    }

    /// Needs nothing.
    #[skill]
    fn alone(request: String) -> String {
        request
    }

    /// Forgotten.
    async fn forgotten(&self, request: String) -> String;
}

fn main() {}
