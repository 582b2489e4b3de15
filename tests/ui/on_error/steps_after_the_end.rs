use agents::prelude::*;

/// Repairs.
#[agent]
fn json_fixer(broken: String) -> String {
    broken
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => fix(None).or(escalate("no")).or(feedback("send JSON")),
        deserialization_error(_, _) => escalate("no").severity(Low).or(throw("never")),
        execution_error(Returned(_)) => fix_with(JsonFixer).retries(0),
        execution_error(_) => retry().max_attempts(1),
    }
}

fn main() {}
