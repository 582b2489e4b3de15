use agents::{prelude::*, tool};

/// Reads a file.
#[tool(reads)]
async fn read_file() -> std::io::Result<String> {
    Ok(String::new())
}

struct Clerk;

#[agent(prompt = "You read.", tools = [ReadFile])]
impl Clerk {
    /// Reads.
    #[skill(tools = [ReedFile])]
    async fn read(&self, request: String) -> String;

    on_error!(ReadFiles, match error {
        execution_error(_) => throw("no"),
    });
}

fn main() {}
