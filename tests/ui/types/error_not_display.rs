struct Lost;

/// Finds.
#[agents::tool(none)]
async fn find() -> Result<String, Lost> {
    Err(Lost)
}

fn main() {}
