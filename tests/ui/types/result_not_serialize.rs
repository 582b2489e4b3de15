struct Place;

/// Finds.
#[agents::tool(none)]
async fn find() -> Place {
    Place
}

/// Finds again.
#[agents::tool(none)]
async fn find_again() -> std::io::Result<Place> {
    Ok(Place)
}

fn main() {}
