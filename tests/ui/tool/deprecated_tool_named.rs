#![deny(deprecated)]

use agents::{prelude::*, tool};

tool! {
    /// Reads a file.
    #[tool(reads, deprecated = "use read_file 2")]
    async fn read_old(
        /// Where it is.
        path: String,
        #[inject] root: String,
    ) -> Result<String, std::io::Error> {
        Ok(root + &path)
    }

    on_error {
        invalid_args(_, _) => throw("no"),
    }
}

/// Lists a folder.
#[tool(reads, deprecated = "use list 2", version = "1.0.0")]
async fn list() -> String {
    String::new()
}

/// Works.
#[agent(tools = [ReadOld { root: String::new() }, List])]
async fn worker(task: String) -> String;

fn main() {
    let _ = Worker;
    let _ = AgentBuilder::<String, String>::new("other").tool(List);
}
