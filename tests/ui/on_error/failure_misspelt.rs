use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(Returnd(e)) => throw(e.to_string()),
        execution_error(Timeout) => throw("late"),
        execution_error(Panicked(_)) => escalate("sick", severity = Hihg),
    }
}

fn main() {}
