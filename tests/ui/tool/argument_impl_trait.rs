use agents::tool;

/// Prints.
#[tool(none)]
async fn print(
    /// What.
    what: impl std::fmt::Display,
) -> impl serde::Serialize {
    what.to_string()
}

fn main() {}
