//! Runs every contender on the same work over the wire of OpenAI's Chat Completions.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin chat [-- [ROUNDS] [CONTENDERS] [--write]]`
//!
//! Arguments such as `chat_hand chat_ours` select contenders by their programs; the default is all. `--write` writes
//! the figures into `results/` and the README.

use agents_bench::contest::{self, Contest};

const CONTENDERS: [&str; 5] = [
    "chat_hand",
    "chat_ours",
    "chat_autoagents",
    "chat_async_openai",
    "chat_rig",
];

fn main() {
    let contest = Contest::from_args(&CONTENDERS);
    let title = "CPU for a turn with a tool call, Chat Completions";
    let turns = contest::turns("chat", title, &contest, 19190);
    if contest.write {
        turns.write().expect("the results can be written");
    }
}
