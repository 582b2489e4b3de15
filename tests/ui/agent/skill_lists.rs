use agents::{prelude::*, tool};

/// Reads.
#[tool(reads)]
async fn read_file() -> String {
    String::new()
}

/// Deletes.
#[tool(writes)]
async fn delete_file() -> String {
    String::new()
}

struct Manager;

#[agent(prompt = "You manage.", tools = [ReadFile])]
impl Manager {
    /// Looks.
    #[skill(tools = [ReadFile, DeleteFile, ReadFile {}, ..many(), 3])]
    async fn look(&self, request: String) -> String;

    /// Answers by itself.
    #[skill(tools = [ReadFile])]
    fn alone(&self, request: String) -> String {
        request
    }

    /// Lists wrongly.
    #[skill(tools(ReadFile))]
    async fn wrongly(&self, request: String) -> String;
}

fn main() {}
