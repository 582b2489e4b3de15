//! An agent that writes Python code, and runs it in a box: `cargo run -p agents-sandbox --example sandbox`.
//!
//! It needs Linux and bubblewrap (`apt-get install bubblewrap`). The model is a script.

use agents::{
    Effects,
    prelude::*,
    testing::{Script, ScriptedModel},
};
use agents_sandbox::{PythonTool, Sandbox};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::new().memory(64_000_000);
    let python = PythonTool::new(Effects::None, sandbox)?;
    let calculator = AgentBuilder::<String, String>::new("calculator")
        .tool(python)
        .build();

    let (model, handle) = ScriptedModel::new([
        Script::call("run_python", r#"{"code": "print(sum(range(101)))"}"#),
        Script::call("run_python", r#"{"code": "print(len('x' * 10**9))"}"#),
        Script::call(
            "run_python",
            r#"{"code": "print(open('/etc/shadow').read())"}"#,
        ),
        Script::text("It is 5050."),
    ]);
    let answer = calculator
        .run("What is 1 + 2 + .. + 100?")
        .model(model)
        .await?;
    for asked in &handle.requests()[1..] {
        println!("{}", asked.last());
    }
    println!("{answer}");
    Ok(())
}
