use agents::tool;

/// Finds berths.
#[tool(reads)]
async fn berths(
    /// How many at most.
    #[serde(default = 10)]
    most: u32,
    /// How long the ship is.
    #[schemars(range(min = 1, mx = 400))]
    metres: u32,
    /// At which pier.
    #[serde(defualt)]
    #[schemars(titel = "Pier")]
    pier: String,
    /// How deep it is.
    #[default = 3]
    depth: u32,
    #[description = "Its name"]
    name: String,
) -> String {
    format!("{most} {metres} {pier} {depth} {name}")
}

fn main() {}
