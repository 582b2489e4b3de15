use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(raw) => fix(raw.to_string()),
        deserialization_error(_, _) => feedback("numbers are digits")
        execution_error(_) => escalate("it does not work"),
        execution_error(TimedOut(_)) => retry(),
    }
}

fn main() {}
