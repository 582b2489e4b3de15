/// Prints.
#[agents::tool(none)]
async fn print<'a, T: ToString>(
    /// What.
    what: T,
) -> String {
    what.to_string()
}

fn main() {}
