use agents::evidence::Done;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

struct Refund;

/// Refunds an order.
#[agents::tool(writes)]
async fn refund_order(
    /// Number of the order.
    order: String,
) -> String {
    order
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Reply {
    refund: Option<Done<Refund>>,
}

fn told(reply: Done<refund_order>) {
    drop(reply);
}

fn main() {}
