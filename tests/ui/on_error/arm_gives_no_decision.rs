use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        invalid_args(_, _) => "send JSON",
        deserialization_error(_, _) => {
            let _ = 3;
        }
        execution_error(_) => None::<String>?,
    }
}

fn main() {}
