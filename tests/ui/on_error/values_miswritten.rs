use agents::prelude::*;

tool! {
    /// Reads.
    #[tool(reads)]
    async fn read() -> Result<u32, String> {
        Ok(1)
    }

    on_error {
        invalid_args(_, _) => escalate("nobody can read this", severity = "Low"),
        deserialization_error(_, _) => escalate("it does not fit", severity = 2),
        execution_error(_) => retry(max_attempts = 2, backoff = 250),
    }
}

fn main() {}
