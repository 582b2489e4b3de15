use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read() -> String {
    String::new()
}

/// You read.
#[agent(tools = [#[cfg(unix)] Read])]
async fn reader(request: String) -> String;

/// You write.
#[agent]
async fn writer(request: String) -> String;

/// Repairs.
#[agent]
fn fixer(broken: String) -> String {
    broken
}

struct Clerk;

#[agent(
    prompt = "You are a clerk.",
    tools = [Read],
    fixers = [#[cfg(unix)] Fixer],
    policies = [#[cfg(unix)] ("read", tool::ToolPolicy::new().confirm())],
)]
impl Clerk {
    /// Answers.
    #[skill(tools = [#[cfg(unix)] Read])]
    async fn answer(&self, request: String) -> String;
}

fn main() {
    let _ = structure!(Reader.delegates(#[cfg(unix)] Writer).grants([#[cfg(unix)] Read]));
}
