use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => retry(max_attempts = 2),
        execution_error(_) => sanitize(3),
    }
}

fn main() {}
