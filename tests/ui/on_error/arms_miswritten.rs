use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> Result<String, String> {
        Ok(String::new())
    }

    on_error {
        ToolError::InvalidArgs(raw, _) => fix(raw.trim()),
        Execution(TimedOut(_)) => retry(),
        execution_error { failure } => throw(format!("{failure}")),
        deserialization_error(_, _) -> feedback("later"),
    }
}

tool! {
    /// Writes a file.
    #[tool(writes, idempotent)]
    async fn write_file() -> Result<String, String> {
        Ok(String::new())
    }

    on_error {
        execution_error(Returned(e)) when e == "busy" => retry(), escalate("busy"),
        execution_error(Returned(_)) => retry() if later(),
        invalid_args(_, _): fix("{}"),
    }
}

tool! {
    /// Lists files.
    #[tool(reads)]
    async fn list_files() -> Result<String, String> {
        Ok(String::new())
    }

    on_error {
        execution_error(_) retry(),
        invalid_args(_, _) => fix("{}"),
    }
}

fn main() {}
