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

fn main() {}
