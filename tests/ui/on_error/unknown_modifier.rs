use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => escalate("no", sevrity = High),
        execution_error(_) => retry(attempts = 3, wait = exponential()).or(throw("no", severity = Low)),
    }
}

fn main() {}
