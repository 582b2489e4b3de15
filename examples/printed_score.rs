//! Scores the reader of printed calls on model texts in JSON Lines files.
//!
//! ```text
//! cargo run --release --quiet --example printed_score -- FILE.jsonl… [--by FIELD] [--without VALUE…]
//! ```
//!
//! A case is right if the reader finds the same calls, by name and value, in the same order. A case without calls is
//! right if the reader finds none. `--show` prints the wrong ones.

#![allow(clippy::print_stdout)] // The result is printed.

#[allow(dead_code, reason = "each example uses a part of it")]
mod score;

use agents::reader::{
    self,
    printed::{self, Declared, PrintedCall},
};
use score::{Options, equal};
use serde_json::{Value, json};
use std::fmt;

fn main() {
    let options = Options::from_args("printed_score");
    options.score::<Score>(|case| is_right(case, options.show.is_some()));
}

#[derive(Default)]
struct Score {
    right: usize,
    wrong: usize,
}

impl score::Score for Score {
    type Case = bool;

    fn add(&mut self, right: &bool) {
        *(if *right {
            &mut self.right
        } else {
            &mut self.wrong
        }) += 1;
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Score { right, wrong } = self;
        write!(f, "{right} right, {wrong} wrong of {}", right + wrong)
    }
}

fn is_right(case: &Value, show: bool) -> bool {
    let no_schema = json!({});
    let tools: Vec<Declared<'_>> = case["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| {
            let tool = tool.get("function").unwrap_or(tool);
            let schema = tool.get("parameters").unwrap_or(&no_schema);
            Some(Declared {
                name: tool["name"].as_str()?,
                schema,
            })
        })
        .collect();
    let printed = printed::read(case["text"].as_str().unwrap_or_default(), &tools);
    let expected = case["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let same = printed.calls.len() == expected.len()
        && printed.calls.iter().zip(expected).all(|(call, expected)| {
            let tool = tools.iter().find(|tool| tool.name == call.name);
            let arguments = tool.and_then(|tool| arguments(call, tool.schema));
            expected["name"] == call.name.as_str()
                && arguments
                    .is_some_and(|arguments| equal(&arguments, &expected["arguments"], false))
        });
    if show && !same {
        println!("{}\n  text: {}", case["id"], case["text"]);
        for call in expected {
            println!("  expected: {call}");
        }
        for call in &printed.calls {
            println!(
                "  got:      {} {} ({})",
                call.name, call.arguments, call.syntax
            );
        }
    }
    same
}

/// Returns the arguments of a call as a value, repaired if they were damaged.
fn arguments(call: &PrintedCall, schema: &Value) -> Option<Value> {
    if call.is_valid {
        return serde_json::from_str(&call.arguments).ok();
    }
    let reading = reader::read(&call.arguments, schema).ok()?;
    serde_json::from_str(&reading.json).ok()
}
