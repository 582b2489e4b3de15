//! An agent whose conversation outgrows the window of its model, without and with `context = ..`.
//!
//! ```text
//! cargo run --example long_conversation                     a scripted model with a window of 2,000 tokens
//! cargo run --example long_conversation -- smollm2:135m     a model of a running Ollama, with that window
//! ```

use agents::{
    model::{ContextOverflow, Model, ModelError, Reply, Usage},
    ollama,
    prelude::*,
    run::{Event, EventKind},
    testing::{ReceivedRequest, Script, ScriptedModel},
};
use std::{env, sync::Arc};

/// Window of the model, in tokens.
const WINDOW: u32 = 2_000;

/// Reads a page of the report.
#[agents::tool(reads)]
async fn read_page(
    /// Number of the page, from 1 to 8.
    number: u32,
) -> String {
    format!("Page {number}: we sold {} anvils that month. ", 10 * number).repeat(30)
}

/// Sum up the conversation in a few sentences. Keep names, numbers and decisions.
#[agent]
async fn summariser(conversation: String) -> String;

/// You read a report of 8 pages, one page at a time, and answer a question about it.
#[agent(tools = [ReadPage])]
async fn forgetful(question: String) -> String;

/// You read a report of 8 pages, one page at a time, and answer a question about it.
#[agent(tools = [ReadPage], context = trim(at = 0.75, window = WINDOW))]
async fn trimming(question: String) -> String;

/// You read a report of 8 pages, one page at a time, and answer a question about it.
#[agent(tools = [ReadPage], context = compact(at = 0.75, window = WINDOW, by = Summariser))]
async fn compacting(question: String) -> String;

/// Returns a model that reads the pages one by one, and refuses a request that does not fit into its window, as the servers of
/// providers do.
fn scripted() -> ScriptedModel {
    let mut page = 0;
    let (model, _) = ScriptedModel::from_fn(move |asked| {
        let sent = tokens(asked);
        if sent > u64::from(WINDOW) {
            let overflow = ContextOverflow {
                sent: Some(sent),
                read: None,
                window: Some(WINDOW.into()),
            };
            let text = format!("prompt is too long: {sent} tokens > {WINDOW} maximum");
            return Script::Fail(ModelError::too_long(text, overflow).with_status(400));
        }
        if asked.prompt().starts_with("Sum up") {
            return counted(
                Script::text("Sales have grown by ten anvils each month."),
                sent,
            );
        }
        page += 1;
        counted(
            match page {
                ..=8 => Script::call("read_page", format!(r#"{{"number": {page}}}"#)),
                _ => Script::text("Sales grow."),
            },
            sent,
        )
    });
    model
}

fn tokens(asked: &ReceivedRequest) -> u64 {
    let bytes: usize = asked
        .messages
        .iter()
        .map(|message| message.text().len())
        .sum();
    (bytes / 4) as u64
}

/// Adds the count of the tokens to a reply.
fn counted(script: Script, input_tokens: u64) -> Script {
    let Script::Reply(reply) = script else {
        return script;
    };
    let usage = Usage {
        input_tokens,
        output_tokens: 20,
        ..Usage::default()
    };
    Script::Reply(Reply { usage, ..reply })
}

fn tell(event: &Event) {
    if let EventKind::Shortened {
        left_out,
        put,
        tokens,
        window,
    } = event.kind
    {
        println!(
            "  {tokens} tokens for a window of {window}: {left_out} messages are replaced by {put}"
        );
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let name = env::args().nth(1);
    let model = || -> Arc<dyn Model> {
        match &name {
            Some(name) => Arc::new(ollama(name).window(WINDOW).temperature(0.0)),
            None => Arc::new(scripted()),
        }
    };
    let question = "How do the sales develop?";
    println!("without `context`");
    match Forgetful.run(question).model(model()).await {
        Ok(answer) => println!("  {answer}"),
        Err(error) => println!("  {error}"),
    }
    println!("context = trim(at = 0.75)");
    let run = Trimming.run(question).model(model()).on_event(tell);
    let outcome = run.outcome().await?;
    println!(
        "  {} ({} receipts)",
        outcome.result?,
        outcome.outputs.receipts().count()
    );
    println!("context = compact(at = 0.75, by = Summariser)");
    let run = Compacting.run(question).model(model()).on_event(tell);
    let outcome = run.outcome().await?;
    let requests = outcome.usage.requests;
    println!(
        "  {} ({requests} requests, those for summaries included)",
        outcome.result?
    );
    Ok(())
}
