use agents::tool;

struct Clerk {
    root: String,
}

impl Clerk {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(
        &self,
        /// Where it is.
        path: String,
    ) -> String {
        format!("{}/{path}", self.root)
    }
}

fn main() {}
