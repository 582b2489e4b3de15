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
        execution_error(_) => reject("no"),
    }
}

fn main() {}
