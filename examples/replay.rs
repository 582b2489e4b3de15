//! A run of last week on the code of today: what would it do otherwise?
//!
//! ```console
//! $ cargo run --example replay
//! ```

use agents::{
    journal::{MemoryJournal, Recorded},
    policy::confirm_tools,
    prelude::*,
    testing::{Script, ScriptedModel},
};

/// Refunds an order.
#[agents::tool(writes)]
async fn refund(
    /// Number of the order.
    order: String,
) -> String {
    println!("  {order} is refunded");
    format!("refund of {order}")
}

/// You refund orders.
#[agent(tools = [Refund])]
async fn refunds(request: String) -> String;

/// The same agent with other words.
mod tomorrow {
    use agents::prelude::*;

    /// You refund orders, and say that you are sorry.
    #[agent(tools = [super::Refund])]
    pub(super) async fn refunds(request: String) -> String;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("last week:");
    let (model, _) = ScriptedModel::new([
        Script::call("refund", r#"{"order": "A-17"}"#),
        Script::text("It is refunded."),
    ]);
    let journal = MemoryJournal::new();
    let run = Refunds.run("Refund my order A-17.").model(model);
    run.journal(journal.clone()).await?;
    let recorded = Recorded::of(journal.entries())?;

    println!("today, without a model, and without a refund:");
    let input = || recorded.input::<String>();
    Refunds.run(input()?).replay(&recorded).await?;
    println!("  the same");

    println!("with another prompt:");
    let differs = tomorrow::Refunds.run(input()?).replay(&recorded).await;
    println!("  {}", differs.expect_err("the prompt differs"));

    println!("with a rule that a person approves refunds:");
    let run = Refunds.run(input()?).policy(confirm_tools("refund"));
    let differs = run.replay(&recorded).await;
    println!("  {}", differs.expect_err("nobody has approved"));
    Ok(())
}
