use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_arg(raw, _) => fix(raw.to_string()),
        invalid_output(raw, _) => fix(raw.to_string()),
        timeout(_) => retry(),
    }
}

fn main() {}
