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
    let team = structure!(
        Lead.grants([Compile]).budget(tokens(10)).delegates(
            Coder.grants([Deploy]).confirm([Deploy]),
            Tester.grant([Compile]).budget(tokens(20)),
            Coder.grants(Compile),
            Missing.grants([Unknown]),
        )
    );
    let text: u32 = team.name();
}
