use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> String {
        String::new()
    }

    /// Writes a file.
    #[tool(writes)]
    async fn write_file() {}
}

fn main() {}
