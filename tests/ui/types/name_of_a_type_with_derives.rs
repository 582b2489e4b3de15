#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub lines: Vec<String>,
}

/// Orders goods.
#[agents::tool(writes)]
async fn order(
    /// What to order.
    lines: Vec<String>,
    #[inject] shop: String,
) -> String {
    shop + &lines.join(", ")
}

fn main() {
    let _ = Order { lines: Vec::new() };
}
