use agents::prelude::*;

/// You write code.
#[agent]
async fn coder(task: String) -> String;

/// You lead.
#[agent]
async fn lead(goal: String) -> String;

fn main() {
    let _ = structure!(
        Lead.budget(max_turns = 3, tokens = 500)
            .delegates(Coder.budget(depth = 2))
    );
}
