use agents::prelude::*;

/// You look.
#[agent]
async fn clerk(what: String) -> String;

fn main() {
    let _ = Clerk.run("Look.").journal("run.jsonl");
}
