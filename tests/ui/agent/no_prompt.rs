use agents::prelude::*;

struct Manager;

#[agent(budget(max_turns = 3))]
impl Manager {
    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> String;

    /// Plans.
    #[skill]
    async fn plan(&self, request: String) -> String;
}

struct Clerk;

/// You are a clerk.
#[agent]
impl Clerk {
    /// Files.
    #[skill]
    async fn file(&self, request: String) -> String;

    /// Finds.
    #[skill]
    async fn find(&self, request: String) -> String;
}

struct Porter;

#[agent]
impl Porter {
    async fn carry(&self, request: String) -> String;
}

fn main() {}
