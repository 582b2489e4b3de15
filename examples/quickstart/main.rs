//! A first look: an agent reads a file with a tool and gives a typed answer.
//!
//! `cargo run --example quickstart`
//!
//! The program asks the model that `AGENTS_MODEL` names, such as `anthropic:claude-sonnet-5` or
//! `openai:qwen3-8b@http://localhost:8000/v1` (default: `ollama:qwen3:4b`). If that is a model of Ollama without an
//! address, and no server answers at `OLLAMA_HOST`, or on this machine without that variable, the program takes the
//! replies from `recorded.jsonl`. That file is a real conversation with a model of 135 million parameters, recorded by
//! this program. The tool and the reading of the replies are live.
//!
//! `AGENTS_TOOLS=prompted` (or `constrained`) is for models without native tools. `AGENTS_RECORD=FILE` records the
//! conversation.

use agents::{
    Outcome,
    console::print_line,
    journal::{FileJournal, Key, recorded},
    model_named,
    ollama::ToolMode,
    prelude::*,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{env, sync::Arc};

tool! {
    /// Convert a temperature from Fahrenheit to Celsius.
    #[tool(none)]
    #[example(fahrenheit = 212)]
    async fn to_celsius(
        /// Degrees Fahrenheit.
        fahrenheit: f64,
    ) -> Result<f64, String> {
        let celsius = (fahrenheit - 32.0) / 1.8;
        match celsius < -273.15 {
            true => Err(format!("{fahrenheit} °F is below absolute zero")),
            false => Ok((celsius * 10.0).round() / 10.0),
        }
    }

    on_error {
        // The reader does not guess. This tool has a single field, so the only number in the text is the temperature,
        // whatever the model called it.
        invalid_args(raw, _) => fix(number_as("fahrenheit", raw)),
        deserialization_error(_, _) => fix(number_as("fahrenheit", cx.args()?.as_str())),
        execution_error(Returned(why)) => feedback(format!("{why}: ask for another temperature")),
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

struct Weatherman;

#[agent(
    prompt = "You answer questions about the weather.",
    tools = [ToCelsius],
    budget(max_turns = 6),
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

const QUESTION: &str = "It is 98 degrees Fahrenheit in Phoenix. How many degrees Celsius is that?";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = env::var("AGENTS_MODEL").unwrap_or_else(|_| "ollama:qwen3:4b".into());
    let (model, live): (Arc<dyn Model>, bool) = match name.strip_prefix("ollama:") {
        Some(name) if !name.contains('@') => {
            let model = ollama(name).temperature(0.9).seed(9).tools(tool_mode()?);
            let live = model.is_up().await;
            if !live {
                println!(
                    "No Ollama answers at {}: this is a recorded conversation with smollm2:135m; tools and reading are live.\n",
                    model.address()
                );
            }
            (Arc::new(model), live)
        }
        _ => (model_named(&name)?, true),
    };
    if live {
        println!("Asking {name}.\n");
    }
    println!("? {QUESTION}");
    let run = Weatherman.run(QUESTION).model(model).on_event(print_line);
    let run = match (live, env::var("AGENTS_RECORD")) {
        (true, Ok(path)) => run.journal(FileJournal::open(path, Key::none())?),
        (true, Err(_)) => run,
        (false, _) => {
            let recorded = recorded(include_str!("recorded.jsonl"), Key::none())?;
            run.override_model(recorded.model())
        }
    };
    show(&run.outcome().await?);
    Ok(())
}

fn show(outcome: &Outcome<Weather>) {
    match &outcome.result {
        Ok(Weather { celsius }) => println!("= {celsius} °C\n"),
        Err(error) => println!("= no answer ({}): {error}\n", error.kind()),
    }
    let receipts: Vec<_> = outcome.outputs.receipts().collect();
    let good = receipts.iter().filter(|receipt| receipt.is_ok()).count();
    let repaired = receipts
        .iter()
        .filter(|receipt| receipt.is_ok() && !receipt.repairs.is_empty())
        .count();
    let calls = match (receipts.len(), good, repaired) {
        (0, ..) => "no calls".to_owned(),
        (1, 0, _) => "1 call, failed".to_owned(),
        (1, _, 0) => "1 call, succeeded".to_owned(),
        (1, ..) => "1 call, succeeded, repaired".to_owned(),
        (calls, ..) => format!("{calls} calls, {good} succeeded, {repaired} repaired"),
    };
    let usage = outcome.usage;
    let requests = match usage.requests {
        1 => "1 request".to_owned(),
        requests => format!("{requests} requests"),
    };
    println!(
        "{calls}; {requests}, {} tokens read, {} written",
        usage.input_tokens, usage.output_tokens
    );
}

fn tool_mode() -> Result<ToolMode, String> {
    match env::var("AGENTS_TOOLS").as_deref() {
        Err(_) => Ok(ToolMode::Auto),
        Ok("native") => Ok(ToolMode::Native),
        Ok("prompted") => Ok(ToolMode::Prompted),
        Ok("constrained") => Ok(ToolMode::Constrained),
        Ok(other) => Err(format!(
            "AGENTS_TOOLS is `{other}`; expected `native`, `prompted` or `constrained`"
        )),
    }
}
