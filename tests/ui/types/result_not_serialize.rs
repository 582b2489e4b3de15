use agents::tool;

struct Place;

/// Finds.
#[tool(none)]
async fn find() -> Place {
    Place
}

/// Finds again.
#[tool(none)]
async fn find_again() -> std::io::Result<Place> {
    Ok(Place)
}

fn main() {}
