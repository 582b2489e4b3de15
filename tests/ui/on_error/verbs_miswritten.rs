use agents::prelude::*;

/// Repairs.
#[agent]
fn json_fixer(broken: String) -> String {
    broken
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> Result<String, String> {
        Ok(String::new())
    }

    on_error {
        execution_error(TimedOut) => retry { max_attempts: 3 },
        execution_error(Panicked(_)) => retry(max_attempts == 3),
        execution_error(Returned(e)) if e == "busy" => retry() || escalate("busy"),
        execution_error(Returned(e)) if e == "gone" => retry().or_else(escalate("gone")),
        execution_error(_) => escalate("no", severity: High),
        invalid_args(raw, _) => fix(agent = "JsonFixer", retries = 3).or(fix(raw.trim())),
        deserialization_error(_, _) => {
            feedback("later");
        }
    }
}

tool! {
    /// Writes a file.
    #[tool(writes)]
    async fn write_file() {}

    on_error {
        invalid_args(_, _) => fix(retries = 3),
        deserialization_error(_, _) => dbg!(escalate("no", severiti = Low)),
    }
}

fn main() {}
