use agents::prelude::*;

tool! {
    /// Stores.
    #[tool(writes)]
    async fn store(
        /// Under what.
        key: String,
        #[inject] table: String,
    ) -> String {
        format!("{table} {key}")
    }

    in_doubt(key) => done(key),
}

fn main() {}
