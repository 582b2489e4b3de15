use agents::{prelude::*, tool};

/// Reads a file.
#[tool(reads)]
async fn read_file(cx: ToolContext) -> String {
    cx.call_id().to_owned()
}

fn main() {}
