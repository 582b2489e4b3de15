//! The agent of a shop, which a test of the command line copies into a package of its own.

use agents::prelude::*;

/// Looks up an order.
#[agents::tool(reads)]
pub async fn find_order(
    /// Number of the order.
    order: String,
) -> String {
    format!("{order}: a lamp for ada@example.com")
}

/// Refunds an order.
#[agents::tool(writes)]
pub async fn refund(
    /// Number of the order.
    order: String,
) -> String {
    format!("refund of {order}")
}

/// You refund orders.
#[agent(tools = [FindOrder, Refund])]
pub async fn refunds(request: String) -> String;
