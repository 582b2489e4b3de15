use agents::prelude::*;

struct Manager;

#[agent(budget(max_turns = 3))]
impl Manager {
    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> String;
}

struct Clerk;

/// You are a clerk.
#[agent]
impl Clerk {
    /// Files.
    #[skill]
    async fn file(&self, request: String) -> String;
}

fn main() {}
