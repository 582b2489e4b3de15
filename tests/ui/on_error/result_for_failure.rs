use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(Err(e)) if e.kind() == std::io::ErrorKind::NotFound => throw("gone"),
        execution_error(Ok(text)) => feedback(format!("{text}")),
    }
}

fn main() {}
