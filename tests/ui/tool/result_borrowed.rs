use agents::tool;

/// Finds.
#[tool(none)]
async fn find() -> &str {
    "here"
}

/// Looks.
#[tool(none)]
async fn look() -> Result<Vec<&[u8]>, String> {
    Ok(Vec::new())
}

/// Seeks.
#[tool(none)]
async fn seek() -> Result<String, &str> {
    Err("nowhere")
}

/// Guesses.
#[tool(none)]
async fn guess(
    /// What.
    what: _,
) -> &'static str {
    "there"
}

/// Names.
#[tool(none)]
async fn name(cx: &agents::ToolContext) -> &str {
    cx.tool()
}

fn main() {}
