use agents::{prelude::*, tool};

/// Pays.
#[tool(writes)]
async fn pay() {}

/// You look.
#[agent]
async fn clerk(what: String) -> String;

/// You lead.
#[agent(tools = [Pay])]
async fn lead(what: String) -> String;

fn main() {
    let _ = Lead.delegates(Clerk);
    let _ = Lead.grants([Pay]);
}
