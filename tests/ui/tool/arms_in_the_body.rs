use agents::prelude::*;

tool! {
    /// Reads.
    #[tool(reads)]
    async fn read() -> Result<u32, String> {
        let lines = 1;

        on_error {
            execution_error(_) => retyr(max_attempts = 3),
        }

        Ok(lines)
    }
}

fn main() {
    let _ = Read;
}
