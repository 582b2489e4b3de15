use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read() -> String {
    String::new()
}

/// You read.
#[agent(tools = [Read, Read])]
async fn reader(request: String) -> String;

/// Writes.
#[tool(writes)]
async fn w() -> std::io::Result<String> {
    Ok(String::new())
}

struct Writer;

#[agent(prompt = "You write.", tools = [W, W])]
impl Writer {
    /// Writes.
    #[skill]
    async fn write(&self, request: String) -> String;

    on_error!(match error {
        execution_error(_) => retry(),
    });
}

fn main() {}
