use agents::{on_error, tool};

/// Reads.
#[tool(reads)]
async fn read() -> Result<u32, String> {
    Ok(1)
}

on_error!(Read, match { execution_error(_) => retry() });
on_error!([Read], match error { execution_error(_) => retry() });
on_error!(Read, match error.kind() { execution_error(_) => retry() });
on_error!(Read, { execution_error(_) => retry() });

fn main() {}
