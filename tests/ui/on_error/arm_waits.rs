use agents::prelude::*;

async fn ask(text: &str) -> String {
    text.to_owned()
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(
        /// Where it is.
        path: String,
    ) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }

    on_error {
        invalid_args(raw, _) => fix(ask(raw).await),
    }
}

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn list_files() -> std::io::Result<String> {
        Ok(String::new())
    }

    on_error {
        execution_error(failure) => {
            let said = ask(&failure.to_string()).await;
            feedback(said)
        }
    }
}

fn main() {}
