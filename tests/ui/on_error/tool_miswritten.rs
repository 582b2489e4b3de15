use agents::{on_error, tool};

/// Reads.
#[tool(reads)]
async fn read() -> Result<u32, String> {
    Ok(1)
}

/// Writes.
#[tool(writes)]
async fn write(#[inject] root: String) -> Result<u32, String> {
    Err(root)
}

/// Counts.
#[tool(none)]
async fn count() -> Result<u32, String> {
    Ok(1)
}

/// Lists.
#[tool(none)]
async fn list() -> Result<u32, String> {
    Ok(1)
}

on_error!(read, match error { execution_error(_) => retry() });
on_error!(Write { root }, match error { execution_error(_) => throw("no") });
on_error!(Count::default(), match error { execution_error(_) => retry() });
on_error!(List, match error { execution_error(_) => retry() });
on_error!(List, match error { invalid_args(_, _) => throw("no") });

fn main() {}
