use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(_) => escalate("it does not work"),
        execution_error(TimedOut(_)) => retry(),
        invalid_args(raw, _) if raw.is_empty() => feedback("send JSON"),
        invalid_args(_, _) => feedback("send something"),
    }
}

fn main() {}
