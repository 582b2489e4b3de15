use agents::prelude::*;

tool! {
    /// Reads a file.
    #[tool(reads)]
    async fn read_file(
        /// Where it is.
        path,
        /// How many lines.
        lines: Option<u32> = None,
        /// Whether it is there.
        there: bool,
    ) -> String {
        format!("{path} {lines:?} {there}")
    }
}

fn main() {}
