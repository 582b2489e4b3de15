use agents::{prelude::*, tool};

/// Writes a file.
#[tool(writes)]
async fn write_file(/** Where. */ path: String) -> String {
    path
}

/// Compiles.
#[tool(none)]
async fn compile() -> String {
    "ok".into()
}

/// Deploys.
#[tool(writes)]
async fn deploy() -> String {
    "live".into()
}

/// You write code.
#[agent(tools = [WriteFile, Compile, Deploy])]
async fn coder(task: String) -> String;

/// You test code.
#[agent(tools = [Compile])]
async fn tester(task: String) -> String;

/// You lead.
#[agent(tools = [WriteFile, Compile, Deploy])]
async fn lead(goal: String) -> String;

fn main() {
    let _ = structure!(Lead.delegates(Coder.grants([Compile]).then(Tester)));
    let _ = structure!(Lead.delegates(Coder).boxed());
}
