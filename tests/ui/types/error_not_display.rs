use agents::tool;

struct Lost;

/// Finds.
#[tool(none)]
async fn find() -> Result<String, Lost> {
    Err(Lost)
}

fn main() {}
