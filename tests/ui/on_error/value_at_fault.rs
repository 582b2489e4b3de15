use agents::prelude::*;

tool! {
    /// Reads.
    #[tool(reads)]
    async fn read(/** How many lines. */ lines: u32) -> u32 {
        lines
    }

    on_error {
        deserialization_error(value, _) => sanitize(value),
    }
}

fn main() {}
