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
        invalid_args(_, _) => escalte("no JSON", severity = Midium),
        execution_error(_) => retyr(max_attempts = 3),
    }
}

fn main() {}
