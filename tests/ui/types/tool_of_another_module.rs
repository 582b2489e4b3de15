use agents::prelude::*;

mod files {
    use agents::tool;

    /// Reads a file.
    #[tool(reads)]
    pub async fn read_file(
        /// Where it is.
        path: String,
    ) -> String {
        path
    }
}

/// You read.
#[agent(tools = [ReadFile])]
async fn reader(request: String) -> String;

fn main() {}
