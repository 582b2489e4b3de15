use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args => feedback("send JSON"),
        error => throw("no"),
        execution_error(_) => retry(attempts = 3),
        _ => escalate("what is this?"),
    }
}

fn main() {}
