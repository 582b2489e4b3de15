use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> String {
        String::new()
    }

    on_error {
        invalid_arg(raw, _) => fix(raw),
        invalid_output(raw, _) => fix(raw),
        timeout(_) => retry(),
    }
}

fn main() {}
