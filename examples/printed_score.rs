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
#[path = "score/calls.rs"]
mod calls;
#[allow(dead_code, reason = "each example uses a part of it")]
mod score;

use agents::reader::printed;
use score::Options;
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
    let tools = calls::declared(&case["tools"], &no_schema);
    let printed = printed::read(case["text"].as_str().unwrap_or_default(), &tools);
    let expected = case["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let same = calls::are_expected(&printed, &tools, expected);
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
