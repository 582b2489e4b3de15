//! An organisation: its chart, and escalations from the coder past the code master to the head of the project. The
//! head settles them in four different ways.
//!
//! `cargo run --example organisation`
//!
//! No server is needed: one scripted model plays all agents, with one line of the script for each turn.

use agents::{
    console::print_line,
    prelude::*,
    testing::{Script, ScriptedModel},
};

tool! {
    /// Write a specification.
    #[tool(writes)]
    async fn create_spec(
        /// Complete text of the specification.
        text: String,
    ) -> String {
        format!("spec of {} words", text.split_whitespace().count())
    }
}

tool! {
    /// Search the specifications.
    #[tool(reads)]
    async fn search_spec(
        /// Words to search for.
        words: String,
    ) -> String {
        format!("nothing about {words}")
    }
}

tool! {
    /// Draw a diagram.
    #[tool(none)]
    async fn draw_uml(
        /// Subject of the diagram.
        what: String,
    ) -> String {
        format!("[{what}]")
    }
}

tool! {
    /// Write a file.
    #[tool(writes, idempotent)]
    async fn write_file(
        /// Path of the file.
        path: String,
        /// Complete content of the file.
        content: String,
    ) -> String {
        format!("{path}: {} bytes", content.len())
    }
}

tool! {
    /// Read a file.
    #[tool(reads)]
    async fn read_file(
        /// Path of the file.
        path: String,
    ) -> String {
        format!("the content of {path}")
    }
}

tool! {
    /// Compile a file.
    #[tool(none)]
    async fn compile(
        /// Path of the file.
        path: String,
    ) -> Result<String, String> {
        match path.as_str() {
            "main.rs" => Ok("compiles".into()),
            // Any other path is the severity of the failure, so that the example shows each case.
            bad => Err(bad.into()),
        }
    }

    on_error {
        execution_error(Returned(how)) => match how.as_str() {
            "typo" => escalate("the code has a typo", severity = Low),
            "design" => escalate("the design does not work out", severity = Medium),
            "half" => escalate("half of it cannot be built"),
            _ => escalate("the sources are gone", severity = Critical),
        },
    }
}

tool! {
    /// Run the tests.
    #[tool(none)]
    async fn run_tests() -> String {
        "all pass".into()
    }
}

tool! {
    /// Deploy the program to the customers.
    #[tool(writes, external)]
    async fn deploy() -> String {
        "live".into()
    }
}

/// You write specifications.
#[agent(tools = [CreateSpec, SearchSpec, DrawUml])]
async fn spec_master(task: String) -> String;

/// You draw diagrams.
#[agent(tools = [DrawUml])]
async fn uml_drawer(task: String) -> String;

// Without `on_escalation`, the coder's escalations pass through to the next agent.
/// You see to it that code is written, tested and deployed.
#[agent(tools = [WriteFile, Compile, ReadFile, RunTests, Deploy])]
async fn code_master(task: String) -> String;

/// You write code.
#[agent(tools = [WriteFile, Compile])]
async fn coder(task: String) -> String;

/// You test code.
#[agent(tools = [ReadFile, RunTests])]
async fn tester(task: String) -> String;

struct Project {
    customer: String,
    stronger: ScriptedModel,
}

#[agent(prompt = "You lead a project. Ask your people.")]
impl Project {
    /// Leads the project with its people.
    #[skill(when = |goal: &String| !goal.is_empty())]
    async fn lead(&self, goal: String) -> String;

    /// Asks the customer to accept less.
    #[skill]
    fn renegotiate(&self, goal: String) -> String {
        format!(
            "{} is asked whether less than {goal:?} would do",
            self.customer
        )
    }

    on_escalation!(match escalation.severity {
        Low => retry_with_model(self.stronger.clone()),
        Medium => reroute_to_skill(Self::renegotiate),
        High => return_partial_result(format!("built in part, because {}", escalation.reason)),
        Critical => escalate(escalation.reason, severity = Critical),
    });
}

/// Performs a run in which compiling `path` fails in the way that `path` names.
async fn run(path: &str) -> Result<(), Error> {
    let (stronger, _) = ScriptedModel::new([
        Script::call("compile", r#"{"path": "main.rs"}"#),
        Script::text("main.rs compiles"),
    ]);
    let project = Project {
        customer: "ACME".into(),
        stronger,
    };
    let team = structure!(
        project.budget(tokens(500_000).time(minutes(30))).delegates(
            SpecMaster
                .grants([CreateSpec, SearchSpec, DrawUml])
                .delegates(UmlDrawer.grants([DrawUml])),
            CodeMaster
                .grants([WriteFile, Compile, ReadFile, RunTests])
                .confirm([Deploy])
                .delegates(
                    Coder.grants([WriteFile, Compile]),
                    Tester.grants([ReadFile, RunTests]),
                ),
        )
    );
    if path == "typo" {
        print!("\n{}", team.render());
    }
    println!("\nCompiling ends with {path:?}.");
    let (model, _) = ScriptedModel::new([
        Script::call("code_master", r#"{"task": "build the parser"}"#),
        Script::call("coder", r#"{"task": "write the parser"}"#),
        Script::call("compile", format!(r#"{{"path": "{path}"}}"#)),
        // These replies are used only if a stronger model has helped the coder.
        Script::text("the coder says that it compiles"),
        Script::text("the parser is built"),
    ]);
    let outcome = team
        .run("a parser")
        .model(model)
        .on_event(print_line)
        .outcome()
        .await?;
    for receipt in &outcome.escalations {
        println!("climbed: {}", receipt.escalation.path.join(" ► "));
    }
    match outcome.result {
        Ok(answer) if outcome.partial => println!("= {answer} (partial)"),
        Ok(answer) => println!("= {answer}"),
        Err(error) => println!("= no answer ({}): {error}", error.kind()),
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("One scripted model plays all agents.");
    for path in ["typo", "design", "half", "gone"] {
        run(path).await?;
    }
    Ok(())
}
