use agents::tool;

use std::sync::Arc;

/// Searches.
#[tool(reads)]
async fn search(
    #[inject(pool)] pool: Arc<String>,
    #[inject] #[serde(default)] limit: usize,
    #[inject] name: &str,
    #[inject] any: &dyn std::any::Any,
    /// What for.
    #[clap(long)]
    words: String,
) -> String {
    format!("{pool} {limit} {name} {words} {}", any.is::<u8>())
}

fn main() {}
