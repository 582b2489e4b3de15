use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(
        /// Where it is.
        path: String,
    ) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }

    on_error {
        invalid_args(raw, _) => fixx(raw.to_string()),
        deserialization_error(_, _) => ask(agent = JsonFixer, retries = 2),
        execution_error(_) => reject("no"),
    }
}

/// You fix JSON.
#[agent]
async fn json_fixer(broken: String) -> String;

fn main() {}
