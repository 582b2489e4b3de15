use agents::prelude::*;

/// Counts.
#[agent]
fn counter(text: String) -> usize {
    text.len()
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => fix(agent = Counter, retries = 2),
        execution_error(_) => fix(3),
    }
}

fn main() {}
