use agents::tool;

/// Where.
struct Place;

/// Goes.
#[tool(none)]
async fn go(
    /// Where to.
    to: Place,
    /// From where.
    from: Option<Place>,
) {
    let _ = (to, from);
}

fn main() {}
