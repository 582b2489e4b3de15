/// Where.
struct Place;

/// Goes.
#[agents::tool(none)]
async fn go(
    /// Where to.
    to: Place,
    /// From where.
    from: Option<Place>,
) {
    let _ = (to, from);
}

fn main() {}
