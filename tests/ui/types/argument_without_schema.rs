use agents::tool;

#[derive(serde::Deserialize)]
struct Place;

/// Goes.
#[tool(none)]
async fn go(
    /// Where to.
    to: Place,
) {
    let Place = to;
}

fn main() {}
