use agents::prelude::*;

/// You read.
#[agent(budget(max_turns: 3, tokens = 5), tools: [ReadFile], strict)]
async fn reader(request: String) -> String;

tool! {
    /// Reads.
    #[tool(reads, timeout: std::time::Duration::from_secs(1))]
    #[example(path: "a.txt")]
    async fn read_file(
        /// Where it is.
        path: String,
    ) -> String {
        path
    }

    on_error {
        deserialization_error(_, _) => escalate("no", severity: High),
        execution_error(_) => throw("it does not read"),
    }
}

fn main() {
    let _ = (Reader, ReadFile);
}
