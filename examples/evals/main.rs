//! An agent on eight cases, on recorded replies of a model of 135 million parameters.
//!
//! `cargo run --example evals -- [BEFORE.json] [--write NOW.json]`
//!
//! The program prints a table. With an earlier report it prints the difference as well, and its exit status says whether
//! a case got worse. The tool, its arms and the reading are live: change them, and run the program again.
//!
//! `AGENTS_MODEL=ollama:smollm2:135m` asks that model, and `AGENTS_RECORD=FOLDER` records it.
//! `AGENTS_TOOLS=prompted` is for models without native tools.

use agents::{
    evals::{Case, Eval, Report, Score, read_cases},
    model_named,
    ollama::ToolMode,
    prelude::*,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{env, path::Path, process::ExitCode, sync::Arc};

tool! {
    /// Convert a temperature from Fahrenheit to Celsius.
    #[tool(none)]
    #[example(fahrenheit = 212)]
    async fn to_celsius(
        /// Degrees Fahrenheit.
        fahrenheit: f64,
    ) -> f64 {
        ((fahrenheit - 32.0) / 1.8 * 10.0).round() / 10.0
    }

    on_error {
        // The only number in the text is the temperature, whatever the model called it.
        invalid_args(raw, _) => fix(number_as("fahrenheit", raw)),
        deserialization_error(_, _) => fix(number_as("fahrenheit", cx.args()?.as_str())),
    }
}

/// Returns `{"field": n}` if the text holds exactly one number.
fn number_as(field: &str, text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let mut numbers = text
        .split(|c| !is_part(c))
        .filter_map(|part| part.parse::<f64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(number), None) => Some(serde_json::json!({ field: number }).to_string()),
        _ => None,
    }
}

/// How warm it is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Weather {
    /// Degrees Celsius.
    celsius: f64,
}

#[derive(Clone)]
struct Weatherman;

#[agent(
    prompt = "You answer questions about the weather.",
    tools = [ToCelsius],
    budget(max_turns = 4),
)]
impl Weatherman {
    /// Answers a question.
    #[skill]
    async fn answer(&self, question: String) -> Weather;

    on_error!(match error {
        // A small model answers in a sentence. The only number in it is the answer.
        invalid_output(raw, _) => fix(number_as("celsius", raw)),
    });
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/evals");
    let cases: Vec<Case<String, f64>> = read_cases(folder.join("cases.jsonl"))?;
    let model = match env::var("AGENTS_MODEL") {
        Ok(name) => Some(named(&name)?),
        Err(_) => None,
    };

    let eval = Eval::new("celsius", &cases, |question| {
        let run = Weatherman.run(question);
        match &model {
            Some(model) => run.model(model.clone()),
            None => run,
        }
    });
    let eval = eval
        .predicate("right", |tried| {
            let wrong_by = (tried.output.celsius - tried.case.expected).abs();
            match wrong_by < 0.1 {
                true => Score::pass(),
                false => Score::fail(format!("wrong by {wrong_by:.1} °C")),
            }
        })
        .predicate("looked up", |tried| {
            tried.outcome.outputs.last_tool.is_some()
        })
        .at_once(1);
    let report = match (&model, env::var("AGENTS_RECORD")) {
        (None, _) => eval.replay(folder.join("recorded")).await,
        (Some(_), Ok(folder)) => eval.record(folder).await,
        (Some(_), Err(_)) => eval.await,
    };

    println!("{report}");
    let mut code = ExitCode::SUCCESS;
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--write" => report.write(arguments.next().ok_or("`--write` needs a file")?)?,
            before => {
                let diff = Report::read(before)?.diff(&report);
                println!("\n{diff}");
                code = diff.exit_code();
            }
        }
    }
    Ok(code)
}

fn named(name: &str) -> Result<Arc<dyn Model>, Box<dyn std::error::Error>> {
    let Some(name) = name.strip_prefix("ollama:") else {
        return Ok(model_named(name)?);
    };
    let tools = match env::var("AGENTS_TOOLS").as_deref() {
        Ok("prompted") => ToolMode::Prompted,
        _ => ToolMode::Auto,
    };
    Ok(Arc::new(ollama(name).temperature(0.0).seed(9).tools(tools)))
}
