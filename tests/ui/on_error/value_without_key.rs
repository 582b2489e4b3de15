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
        invalid_args(_, _) => fix_with(JsonFixer, 3).or(escalate("no", High)),
        deserialization_error(_, _) => fix(JsonFixer),
        execution_error(Returned(_)) => retry(3, exponential()),
        execution_error(_) => throw("no", "never"),
    }
}

fn main() {}
