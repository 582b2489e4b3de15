use agents::tool;

/// Pays.
#[tool(writes, approval = when(|args, cx| args.amout > 100 && cx.attempts() > 1))]
async fn pay(
    /// How much.
    amount: u32,
) {
    let _ = amount;
}

fn main() {}
