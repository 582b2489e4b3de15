use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(writes)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(TimedOut(_)) => retry(),
        execution_error(_) => escalate("no"),
    }
}

fn main() {}
