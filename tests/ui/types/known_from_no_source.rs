use agents::evidence::{Known, User};

struct Orders;

/// Refunds an order.
#[agents::tool(writes)]
async fn refund_order(
    /// Number of the order.
    order: Known<String, (User, Orders)>,
    /// Number of the customer.
    customer: Known<String, String>,
) -> String {
    format!("{order} of {customer}")
}

fn main() {}
