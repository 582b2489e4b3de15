use agents::prelude::*;

tool! {
    /// Pays.
    #[tool(writes)]
    async fn pay() -> std::io::Result<()> {
        Ok(())
    }

    on_error {
        invalid_args(_, _) => retry(max_attempts = 2),
        deserialization_error(_, _) => retry().or(sanitize(3)),
    }
}

fn main() {}
